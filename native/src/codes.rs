//! The codes of what is not compiled.

warpsmith_diag::codes! {
    /// There is no machine code for this host.
    ///
    /// Modules are compiled to machine code on x86-64 and aarch64. Elsewhere they are interpreted.
    HOST = "N0001";
    /// An operation that is not compiled to machine code of the host, which the message names.
    ///
    /// Threads of a module that is compiled so run one after another: what lanes and blocks do together, the system and the clocks are left to
    /// the engine. `docs/native.md` lists the operations.
    OPERATION = "N0002";
    /// The module has no function, or no kernel, of the name.
    UNKNOWN = "N0003";
    /// A function is called from Rust with other types than it has.
    SIGNATURE = "N0004";
    /// Code that is larger than its memory, or a frame that is larger than a stack.
    SIZE = "N0005";
}
