//! What operations do besides computing: what an engine must do for them.

/// What an operation does besides computing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Moves between registers, and takes addresses and special registers: what a decoder knows of names.
    Move,
    /// Goes to a label.
    Branch,
    /// Goes to one of a list of labels.
    BranchIndirect,
    /// Calls a function.
    Call,
    /// Returns from a function.
    Return,
    /// Ends the thread.
    Exit,
    /// Ends the launch with a fault.
    Trap,
    /// Lets other threads run.
    Yield,
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
    /// Fills memory.
    Fill,
    /// Updates memory and gives the old value.
    Atomic,
    /// Updates memory.
    Reduce,
    /// Writes memory of the cluster, later.
    StoreAsync,
    /// Updates memory of the cluster, later.
    ReduceAsync,
    /// Orders memory accesses.
    Fence(FenceKind),
    /// Copies 4, 8 or 16 bytes to shared memory, later.
    Copy,
    /// Copies many bytes, later.
    BulkCopy,
    /// Puts what was started into a group.
    CommitGroup(CopyGroup),
    /// Waits for groups.
    WaitGroup(CopyGroup),
    /// Waits for all copies.
    WaitAll,
    /// Arrives at an mbarrier object when the thread's copies are complete.
    ArriveOnCopies,
    /// An operation on an mbarrier object.
    Mbarrier(MbarrierAction),
    /// The count of pending arrivals in the state of an mbarrier object.
    PendingCount,
    /// Reduces the values of all replicas of a multicast address.
    MulticastLoad,
    /// Writes all replicas of a multicast address.
    MulticastStore,
    /// Updates all replicas of a multicast address.
    MulticastReduce,
    /// The shared address of another block of the cluster.
    MapAddress,
    /// The block that a shared address belongs to.
    RankOfAddress,
    /// A generic address, of one in a state space.
    ToGeneric,
    /// An address in a state space, of a generic one.
    ToSpace,
    /// Whether a generic address is in a state space.
    IsInSpace,
    /// A policy of the cache, which does nothing.
    CachePolicy,
    /// Reads another lane's value.
    Shuffle,
    /// Combines predicates of the lanes.
    Vote,
    /// Compares values of the lanes.
    Match,
    /// Reduces values of the lanes.
    ReduceLanes,
    /// Chooses a lane.
    Elect,
    /// The lanes that execute.
    ActiveMask,
    /// A barrier of a warp.
    WarpBarrier,
    /// A barrier of a block.
    BlockBarrier {
        /// Predicates are reduced.
        reduces: bool,
    },
    /// Arrives at the barrier of the cluster.
    ClusterArrive,
    /// Waits at the barrier of the cluster.
    ClusterWait,
    /// Asks for the cancellation of a cluster that has not started.
    TryCancel,
    /// Takes the answer to such a request apart.
    QueryCancel,
    /// A product of matrices that the lanes of a warp hold.
    Multiply,
    /// Starts a product of a warpgroup.
    MultiplyAsync,
    /// Orders accesses to registers and products of a warpgroup.
    ProductFence,
    /// Puts products of a warpgroup into a group.
    ProductCommit,
    /// Waits for groups of products.
    ProductWait,
    /// Each lane reads its part of a matrix.
    LoadFragment,
    /// Each lane writes its part of a matrix.
    StoreFragment,
    /// Lanes read lines of matrices, and get parts of them.
    LoadLines,
    /// Lanes give parts of matrices, and write lines of them.
    StoreLines,
    /// Transposes a matrix that the lanes of a warp hold.
    TransposeLanes,
    /// Copies a tensor map, and is a fence.
    CopyTensorMap,
    /// A copy or reduction that a tensor map describes.
    TensorCopy,
    /// A prefetch that a tensor map describes.
    TensorPrefetch,
    /// Sets a field of a tensor map.
    ReplaceTensorMapField,
    /// Asks what a tensor map says of its memory.
    QueryTensorMap,
    /// Allocates tensor memory, or moves between it and registers.
    TensorMemory(TensorMemoryAction),
    /// Fetches from a texture, or asks of a texture, sampler or surface, or reaches the memory of a surface.
    Texture(TextureAction),
    /// Waits for grids that are complete when the launch begins.
    GridDependency,
    /// Takes memory of the stack.
    StackAllocate,
    /// The top of the stack.
    StackSave,
    /// Lowers the stack.
    StackRestore,
    /// Changes how many registers each thread of the warp owns.
    RegisterCount {
        /// They become more, else fewer.
        increases: bool,
    },
    /// Marks a place in a trace.
    Mark,
    /// A hint: to caches, to a profiler.
    Hint,
    /// What memory holds becomes indeterminate.
    Discard,
}

/// Where an order of accesses is meant for all, or between proxies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FenceKind {
    /// `membar`: sequentially consistent.
    Membar,
    /// `fence`
    Fence,
    /// Between proxies: a fence too, since the engine has one view of memory.
    Proxy,
}

/// The groups that a thread commits asynchronous copies to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyGroup {
    /// `cp.async`
    Plain,
    /// `cp.async.bulk`
    Bulk,
}

/// What is done to tensor memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorMemoryAction {
    /// `alloc`
    Allocate,
    /// `dealloc`
    Deallocate,
    /// `relinquish_alloc_permit`
    Relinquish,
    /// `ld`
    Load {
        /// The values of a thread are reduced, too.
        reduces: bool,
    },
    /// `st`
    Store,
    /// `cp`
    Copy,
    /// `shift`
    Shift,
    /// `mma`, with `.sp` and `.ws`
    Multiply,
    /// `commit`
    Commit,
    /// `wait::ld`
    WaitLoads,
    /// `wait::st`
    WaitStores,
    /// `fence`
    Fence,
}

/// What is done with a texture, sampler or surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextureAction {
    /// `tex`
    Fetch,
    /// `tld4`
    Gather,
    /// `txq suq`
    Query,
    /// `istypep`
    IsOfType,
    /// `suld`
    Load,
    /// `sust`
    Store,
    /// `sured`
    Reduce,
}

/// What is done to an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MbarrierAction {
    /// `init`
    Init,
    /// `check_layout`
    CheckLayout,
    /// `inval`
    Invalidate,
    /// `expect_tx`
    ExpectTx,
    /// `complete_tx`
    CompleteTx,
    /// `arrive`, `arrive_drop`
    Arrive {
        /// The expected count is lowered too.
        drop: bool,
        /// Bytes are expected too.
        expect_tx: bool,
        /// The phase must not complete.
        no_complete: bool,
    },
    /// `test_wait`, `try_wait`
    Test {
        /// The phase is named by its parity, not by a state.
        parity: bool,
        /// It may wait.
        blocking: bool,
    },
}
