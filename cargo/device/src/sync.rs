//! Barriers, fences, and the end of a program.

use crate::ptx;

ptx! {
    /// Waits until all threads of the block are here: CUDA's `__syncthreads`. Threads that have ended are not waited for.
    ///
    /// It may be reached from different places of the program: rustc copies code into the branches of an `if`, and copies of a barrier are one.
    pub fn barrier() = "barrier.sync 0;" else { crate::host::barrier() };

    /// Waits until the lanes of `mask` are here: CUDA's `__syncwarp`.
    pub fn warp_barrier(mask: u32) = "bar.warp.sync {mask};" else { crate::host::exchange(mask, 0); };

    /// What this thread wrote before is seen by the threads of the block that see what it writes after.
    pub fn fence_block() = "fence.acq_rel.cta;" else { core::sync::atomic::fence(core::sync::atomic::Ordering::AcqRel) };

    /// What this thread wrote before is seen by the threads of the GPU that see what it writes after.
    pub fn fence_device() = "fence.acq_rel.gpu;" else { core::sync::atomic::fence(core::sync::atomic::Ordering::AcqRel) };

    /// What this thread wrote before is seen by all GPUs and the host where they see what it writes after.
    pub fn fence_system() = "fence.acq_rel.sys;" else { core::sync::atomic::fence(core::sync::atomic::Ordering::AcqRel) };

    /// Stops the program with an error.
    pub fn trap() = "trap;" else { panic!("trap") };
}
