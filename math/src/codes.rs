//! The codes of the diagnostics of this crate.

warpsmith_diag::codes! {
    /// A function of the math library is declared with other types than it has.
    ///
    /// The types follow from the name: `ws_pow_f32` takes two `f32` and returns one. Declare it as the note shows, or give a function of your
    /// own another name.
    DECLARATION = "M0001";
}
