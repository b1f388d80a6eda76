//! The codes of the diagnostics of this crate.

warpsmith_diag::codes! {
    /// A file of LLVM bitcode is damaged or truncated.
    ///
    /// The container (blocks, records, abbreviations) cannot be read at the byte that the message names.
    CONTAINER = "B0001";
    /// A record of LLVM bitcode makes no sense.
    ///
    /// The container is whole; what the record at the byte of the message says contradicts the rest of the module: a number of a value, type or
    /// block that does not exist, an operand of a wrong type.
    RECORD = "B0002";
    /// A construct of LLVM that is not supported.
    ///
    /// It is named with the function that has it. `docs/llvm.md` lists what is refused.
    UNSUPPORTED = "B0003";
    /// Modules that cannot be linked.
    ///
    /// Two strong definitions of a symbol, or a symbol that nothing defines, with those who use it.
    LINK = "B0004";
}
