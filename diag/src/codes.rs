//! The codes of diagnostics: stable names, each with an explanation.

/// A code and the lines that explain it. The first line is a short form of the whole explanation.
pub type Code = (&'static str, &'static [&'static str]);

/// All codes of one crate.
pub type Codes = &'static [Code];

/// Defines codes as constants, and `ALL`, the table of their explanations. The doc comment of a code is its explanation; its first line is the
/// short form.
///
/// ```
/// mod codes {
///     warpsmith_diag::codes! {
///         /// The text is empty.
///         EMPTY = "T0001";
///     }
/// }
/// assert_eq!(codes::EMPTY, "T0001");
/// assert_eq!(codes::ALL, [("T0001", &[" The text is empty."][..])]);
/// ```
#[macro_export]
macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])* pub const $name: &str = $code;)*

        /// Every code of this table and its explanation, line by line; the first line is the short form.
        pub const ALL: $crate::Codes = &[$(($code, &[$($doc),*])),*];
    };
}
