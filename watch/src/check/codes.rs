//! The codes of findings: `W01` memory, `W02` initialisation, `W03` races, `W04` synchronisation. A code never changes its meaning.

warpsmith_diag::codes! {
    /// An access to memory that no allocation holds.
    ///
    /// The report names the nearest allocation and the distance: a few bytes past its end are an index one too large or a missing check of the
    /// bounds; far away it is a wrong base, a null pointer, or an index in bytes that should be one in elements.
    OUT_OF_BOUNDS = "W0101";
    /// An access to memory that was freed.
    ///
    /// By the kernel itself with `free`, or by the host. The report says where it was allocated and where it was freed. Shared memory is freed when its
    /// block exits, whatever other blocks of the cluster still want of it.
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
    /// An access whose address was computed from one variable hits what lies beside it.
    ///
    /// Variables of one state space are neighbours in one memory, so nothing stops an index that is too large. How they are laid out is not the
    /// program's to know: the access is wrong even where it does no harm today.
    OVERRUN = "W0109";
    /// A branch depends on a value that was never written.
    ///
    /// Which way the thread goes is left to chance. The report says where the value comes from: a register that no instruction has written in this thread,
    /// or bytes of memory that nobody has stored to.
    UNDEFINED_BRANCH = "W0201";
    /// An address is computed from a value that was never written.
    UNDEFINED_ADDRESS = "W0202";
    /// A value that was never written is stored where the host will read it.
    ///
    /// Copies within the kernel's own memory are not a mistake and are followed; the host's buffers are where the value gets out.
    UNDEFINED_RESULT = "W0203";
    /// A value that was never written decides what happens to other threads or to memory.
    ///
    /// It is the operand of a barrier, a member mask, or how much memory is asked for.
    UNDEFINED_OPERAND = "W0204";
    /// An atomic operation updates memory that was never written.
    ///
    /// The new value depends on the old one, which is left to chance: the counter, the bin of the histogram or the lock has no first value. An exchange
    /// needs none. Store the first value before, and let a barrier follow where other threads update it.
    UNDEFINED_ACCUMULATOR = "W0205";
    /// Two threads access the same bytes, one of them writes, and nothing orders the two.
    ///
    /// What the reader gets, or which value stays, is left to chance. Of stores to shared memory that write what an earlier one has written nothing is reported, as
    /// of lanes that write the same: where there is less data than threads, compilers have several of them store it. Barriers order (`bar.sync` a block, `bar.warp.sync` a warp, `barrier.cluster` a
    /// cluster), and so does what one thread releases and another acquires. Shuffles and votes order no memory.
    DATA_RACE = "W0301";
    /// Threads of a warp write different values to the same bytes with one instruction.
    ///
    /// Which value stays is left open. Where all write the same value nothing is reported: the model calls it a race all the same, but the result is as
    /// intended on every GPU. A sum over the lanes of a warp may differ in its last bit from lane to lane, if its first addition is fused with a
    /// multiplication; Triton compiles such sums.
    SAME_WRITE = "W0302";
    /// Bytes of an asynchronous copy, store or reduction are accessed by a thread that has not waited for it.
    ///
    /// What it reads and writes, it does at any time until its completion is observed: by `wait_group` of the issuing thread, and a barrier for others,
    /// or by a test of its mbarrier object.
    ASYNC_RACE = "W0303";
    /// A bulk operation accesses what threads have written, and no proxy fence lies between.
    ///
    /// Bulk operations go through the async proxy, which sees ordinary stores only past a `fence.proxy.async` of the storing thread.
    /// A fence that names a state space is one for that space alone.
    /// The word that `tcgen05.alloc` writes is an ordinary store too (9.7.16.7.1), but it is not reported: Triton has copies overwrite it past a
    /// barrier alone.
    PROXY_RACE = "W0304";
    /// Two strong operations on the same bytes, of which one has too narrow a scope.
    ///
    /// `.cta` orders within the block only; threads of other blocks need `.cluster`, `.gpu` or `.sys`.
    SCOPE_RACE = "W0305";
    /// Two strong operations that overlap in part: of different sizes.
    ///
    /// Strong operations are atomic to each other only where they access exactly the same bytes.
    MIXED_SIZE_RACE = "W0306";
    /// A texture fetch, an `ld.global.nc` or an `ldu` reads what the same launch has written.
    ///
    /// They go through a cache that stores of the launch do not update, so that a fetch may give the old texel or the new one, whatever barriers and
    /// fences lie between. Read by `suld` or a plain `ld` what the launch writes, or fetch in the next launch.
    STALE_FETCH = "W0307";
    /// A block accesses the shared memory of another one of its cluster, which may have exited by then.
    ///
    /// Shared memory lasts as long as its block. Let the block meet the others, by `barrier.cluster.arrive` and `barrier.cluster.wait`, before it exits, or
    /// wait for an mbarrier object on which they arrive when they are done.
    BLOCK_GONE = "W0308";
    /// Threads of a warp reach an `.aligned` barrier by different instructions, or go past it and exit while others wait there.
    ///
    /// `bar.sync` and `barrier.aligned` demand that all threads of the warp execute the same one; one that names no number of threads demands that of all
    /// threads of the block. In code where threads may have gone different ways, use `barrier` without `.aligned`, or bring them together first.
    /// The barrier of the cluster waits for those only that have not exited, so there it is a warning.
    DIVERGENT_BARRIER = "W0401";
    /// A barrier is used in a way that its operands or its state do not allow.
    ///
    /// It does not exist, the number of threads is not a multiple of the warp size, or different numbers are given at once; or arrivals and waits at the
    /// barrier of the cluster do not alternate.
    BAD_BARRIER = "W0402";
    /// A barrier is used again before it is complete, or for a reduction and without one, or for two reductions, at once.
    ///
    /// The second arrival of a warp counts as that of another one, and the barrier completes too early.
    BARRIER_REUSE = "W0403";
    /// A block ends with threads arrived at a barrier that is not complete.
    ///
    /// The number of threads that the barrier expects is too large, or some have not come. The last arrival of a producer that nobody waits
    /// for is harmless.
    BARRIER_INCOMPLETE = "W0404";
    /// A member mask names lanes that have exited, and that should have executed the instruction.
    ///
    /// The manual has `bar.warp.sync` and `elect.sync` wait for all threads of the mask; shuffles, votes, matches and reductions wait for those that have not
    /// exited, so lanes that return early may be named by these, but not lanes that have gone past the instruction and executed what follows it. A GPU
    /// waits for the lanes that are left in all of them, so that it is mostly harmless. Lanes past the end of the block are not threads, and may be named.
    MEMBERS_GONE = "W0405";
    /// The mask of a `.sync` instruction does not name the thread that executes it.
    BAD_MASK = "W0406";
    /// A shuffle reads a lane that does not take part in it: it is not named by the mask, has exited, or does not exist.
    ///
    /// What it gives is unspecified. A result that nobody uses is harmless.
    SHUFFLE_SOURCE = "W0407";
    /// A warp-level operation without `.sync` is executed by a part of the warp.
    ///
    /// After threads have gone different ways nothing promises that they are together again, and which take part is left to chance. Use the `.sync` form
    /// with the mask of those that shall.
    NOT_CONVERGED = "W0408";
    /// An mbarrier object is misused: used before it was made, made twice, with more arrivals than a phase has, or phases that nobody has waited for.
    ///
    /// Or it is tested with a state that another object has returned, or that is older than the last phase.
    MBARRIER_MISUSE = "W0409";
    /// The bytes that an mbarrier object expects are not those that came.
    BYTES_MISMATCH = "W0410";
    /// A thread exits with asynchronous operations that it has not waited for.
    ///
    /// A block's shared memory may be given to another when its threads have exited, so the copy may read or write what is not its own.
    NEVER_WAITED = "W0411";
    /// Threads wait for each other, and none can go on.
    ///
    /// The report says who waits where, and for whom or what.
    DEADLOCK = "W0412";
    /// A register that a product of a warpgroup uses is read or written before the warp has waited for the product.
    ///
    /// `wgmma.mma_async` goes on after its instruction: until `wgmma.wait_group` has waited for its group, its accumulators hold anything, and its
    /// registers of A must stay as they are. Products of one shape may use the same accumulators one after the other.
    REGISTER_IN_FLIGHT = "W0413";
    /// A product of a warpgroup starts without the `wgmma.fence` that orders it behind other accesses to its registers.
    ///
    /// The first product needs one, and every product whose accumulators or registers of A were accessed by other instructions since the last.
    MISSING_WGMMA_FENCE = "W0414";
    /// Tensor memory is accessed while an operation that was not waited for is under way in it.
    ///
    /// `tcgen05.st` and `tcgen05.ld` are complete at `tcgen05.wait`; `mma`, `cp` and `shift` when the mbarrier object of a `tcgen05.commit` says so.
    TENSOR_MEMORY_IN_FLIGHT = "W0415";
    /// A block ends with tensor memory that nobody has freed.
    ///
    /// A kernel must free what it has allocated with `tcgen05.dealloc` before it ends: other blocks of the multiprocessor wait for it.
    TENSOR_MEMORY_LEFT = "W0416";
    /// `setmaxnreg` is not executed by all warps of a warpgroup alike, or asks for a change in the other direction than it says.
    ///
    /// The four warps of a warpgroup execute the same `setmaxnreg`, or equal ones; `.dec` to no more registers than they own, `.inc` to no fewer. Anything else is
    /// undefined. Choose the role of a warp by its warpgroup, `%tid.x / 128`, not by its own number.
    REGISTER_COUNT = "W0417";
    /// Tensor memory is allocated, freed or accessed in a way that the manual does not allow.
    ///
    /// Columns are freed that are not allocated, or not as many as were; their number is not a power of two from 32 to 512; a block allocates after
    /// it has given up its permit; or a warp accesses columns that are not allocated, or lanes that are another warp's.
    TENSOR_MEMORY_MISUSE = "W0418";
}
