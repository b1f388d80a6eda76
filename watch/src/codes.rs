//! The codes of findings: `W01` memory, `W02` initialisation, `W03` races, `W04` synchronisation. A code never changes its meaning.

warpsmith_isa::codes! {
    /// An access to memory that no allocation holds.
    ///
    /// The report names the nearest allocation and the distance: a few bytes past its end are an index one too large or a missing check of the
    /// bounds; far away it is a wrong base, a null pointer, or an index in bytes that should be one in elements.
    OUT_OF_BOUNDS = "W0101";
    /// An access to memory that was freed.
    ///
    /// By the kernel itself with `free`, or by the host. The report says where it was allocated and where it was freed.
    USE_AFTER_FREE = "W0102";
    /// Memory is freed that is not allocated: freed already, or never.
    BAD_FREE = "W0103";
    /// Memory of the kernel's `malloc` that nobody has freed when the launch ends.
    ///
    /// It stays allocated from launch to launch until a kernel frees it. A kernel that hands memory to a later one is right to leave it.
    LEAK = "W0104";
    /// An access to an address that is not a multiple of its size.
    ///
    /// The size is that of all elements together for `.v2` and `.v4`. A pointer to smaller elements is cast, or an offset is odd.
    MISALIGNED = "W0105";
    /// An address of one state space is used in another.
    ///
    /// `ld.shared` and the like take addresses in the space's own window; a generic pointer must go through `cvta.to`, once, and to the space that it
    /// points to. `cvta.to.shared` of a pointer to global memory gives an address that means nothing.
    WRONG_SPACE = "W0106";
    /// A write to constant memory or to the kernel's parameters, which are read-only.
    READ_ONLY = "W0107";
    /// Calls nest too deep, or `alloca` asks for more than there is: the thread has no more stack.
    STACK_OVERFLOW = "W0108";
    /// A branch depends on a value that was never written.
    ///
    /// Which way the thread goes is left to chance. The report says where the value comes from: a register that no instruction has written in this thread,
    /// or bytes of memory that nobody has stored to.
    UNDEFINED_BRANCH = "W0201";
    /// An address is computed from a value that was never written.
    UNDEFINED_ADDRESS = "W0202";
    /// A value that was never written is stored where the host will read it.
    ///
    /// Copies within the kernel's own memory are no mistake and are followed; the host's buffers are where the value gets out.
    UNDEFINED_RESULT = "W0203";
    /// A value that was never written decides what an operation on several threads does, or how much memory is asked for: the operand of a barrier,
    /// a member mask, a size.
    UNDEFINED_OPERAND = "W0204";
}
