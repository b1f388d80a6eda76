//! The codes of the diagnostics of this crate. A code never changes its meaning; the hundreds group them by topic.

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])* pub const $name: &str = $code;)*

        /// What a code stands for, in one line.
        pub fn explain(code: &str) -> Option<&'static str> {
            match code {
                $($code => Some(concat!($($doc),*).trim_ascii()),)*
                _ => None,
            }
        }

        #[cfg(test)]
        pub(crate) const ALL: &[&str] = &[$($code),*];
    };
}

codes! {
    /// A character outside of ASCII; PTX has none, not even in comments.
    NON_ASCII = "P0001";
    /// A character that begins no token.
    BAD_BYTE = "P0002";
    /// A string without its closing quote.
    OPEN_STRING = "P0003";
    /// A comment without its end.
    OPEN_COMMENT = "P0004";
    /// An integer or decimal literal that does not fit.
    OVERFLOW = "P0005";
    /// A text of four gigabytes or more.
    TOO_LARGE = "P0006";
    /// So many errors that the rest of the text is not read.
    TOO_MANY = "P0007";

    /// Something else was expected here.
    SYNTAX = "P0101";
    /// A brace without its partner.
    UNBALANCED = "P0102";
    /// Expressions, lists or scopes nested too deeply.
    TOO_DEEP = "P0103";
    /// A directive that ptxas no longer takes.
    DEPRECATED = "P0104";
    /// A value out of the range of its data directive.
    DATA_RANGE = "P0105";

    /// Operands of a constant expression whose types do not go together.
    CONST_TYPE = "P0201";
    /// A constant expression that divides by zero.
    CONST_DIV = "P0202";
    /// A cast other than to `.s64` and `.u64`.
    CONST_CAST = "P0203";
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_unique_and_explained() {
        let unique: std::collections::HashSet<_> = super::ALL.iter().collect();
        assert_eq!(unique.len(), super::ALL.len());
        assert!(super::ALL.iter().all(|code| super::explain(code).is_some_and(|text| text.ends_with('.'))));
        assert_eq!(super::explain("P9999"), None);
    }
}
