//! Every code that a diagnostic can have, with its explanation: what `warpsmith explain` prints and `docs/codes.md` holds.

use warpsmith_diag::Codes;

/// The codes by topic, in the order of the page.
pub const TOPICS: &[(&str, Codes)] = &[
    ("PTX text and modules", warpsmith_ptx::codes::ALL),
    ("Instructions, of PTX and of the IR alike", warpsmith_isa::codes::ALL),
    ("IR text and functions", warpsmith_ir::codes::ALL),
    ("The math library", warpsmith_math::codes::ALL),
    ("Compilation, loading, the command", ALL),
    ("Faults of a launch", warpsmith_interp::FaultCode::EXPLANATIONS),
    #[cfg(feature = "llvm")]
    ("LLVM bitcode", warpsmith_llvm::codes::ALL),
    #[cfg(feature = "native")]
    ("Machine code of the host", warpsmith_native::codes::ALL),
    #[cfg(feature = "watch")]
    ("Findings of checkers that watch a kernel run", warpsmith_watch::codes::ALL),
];

/// Every code and the lines of its explanation, in the order of the page.
pub fn all() -> impl Iterator<Item = &'static warpsmith_diag::Code> {
    TOPICS.iter().flat_map(|(_, codes)| codes.iter())
}

/// The explanation of a code, if there is such a code. Upper and lower case are the same.
pub fn explain(code: &str) -> Option<String> {
    let (_, lines) = all().find(|(known, _)| known.eq_ignore_ascii_case(code))?;
    let trimmed: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    Some(trimmed.join("\n"))
}

warpsmith_diag::codes! {
    /// The file cannot be read.
    UNREADABLE = "C0001";
    /// The compiler cannot be set up as the command line asks.
    SETUP = "C0002";
    /// There is no target to compile for, or a version of PTX that does not know it.
    TARGET = "E0001";
    /// The target has no such operation in any version of PTX.
    ///
    /// The message names the operation, at its place in the source, and the lowest target that has it.
    OPERATION = "E0002";
    /// An operation needs a later version of PTX than the one asked for.
    ///
    /// Without `--ptx` the lowest version that has everything is chosen.
    PTX_VERSION = "E0003";
    /// The compiler wrote PTX that the validator refuses, or whose text reads back as something else: a mistake of the compiler.
    ///
    /// Nothing is returned that is not valid; the text is read back with `--verify-each`. Please report it with the module; the message has the validator's reason and its code.
    INVALID_OUTPUT = "E0004";
    /// The debug information is larger than its format can hold.
    DEBUG_INFORMATION = "E0005";
    /// A target that no code is generated for.
    ///
    /// Code generation starts at sm_20, the first with generic addresses.
    OLD_TARGET = "L0001";
    /// An operation that selection has no code for.
    SELECTION = "L0002";
    /// A pass broke the module: a mistake of the compiler, found by `--verify-each`, or when code was made of it.
    ///
    /// Please report it with the module; `--verify-each` names the pass, and `--bisect-limit` the function, too.
    BROKEN = "L0003";
    /// The engine cannot execute an instruction or directive of the module, which it names.
    ///
    /// The text may be valid PTX: `warpsmith check` shows whether it is. Nothing is approximated in silence.
    LOAD = "X0001";
    /// The module has no kernel of the name that is to be run.
    ///
    /// The names of its kernels are listed. A `.func` cannot be launched, and C++ compilers write mangled names.
    UNKNOWN_KERNEL = "X0002";
}
