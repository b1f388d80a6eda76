//! Where a thread is: indices and sizes.

use crate::ptx;

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident $text:literal $host:expr;)*) => {
        $(ptx! {
            $(#[$doc])*
            pub fn $name() -> u32 = $text else { $host };
        })*
    };
}

registers! {
    /// The thread's place in its block, x.
    index_x "mov.u32 {}, %tid.x;" crate::host::place().thread[0];
    /// The thread's place in its block, y.
    index_y "mov.u32 {}, %tid.y;" crate::host::place().thread[1];
    /// The thread's place in its block, z.
    index_z "mov.u32 {}, %tid.z;" crate::host::place().thread[2];
    /// The block's place in the grid, x.
    block_x "mov.u32 {}, %ctaid.x;" crate::host::place().block[0];
    /// The block's place in the grid, y.
    block_y "mov.u32 {}, %ctaid.y;" crate::host::place().block[1];
    /// The block's place in the grid, z.
    block_z "mov.u32 {}, %ctaid.z;" crate::host::place().block[2];
    /// Threads of a block, x.
    block_size_x "mov.u32 {}, %ntid.x;" crate::host::place().block_size[0];
    /// Threads of a block, y.
    block_size_y "mov.u32 {}, %ntid.y;" crate::host::place().block_size[1];
    /// Threads of a block, z.
    block_size_z "mov.u32 {}, %ntid.z;" crate::host::place().block_size[2];
    /// Blocks of the grid, x.
    grid_size_x "mov.u32 {}, %nctaid.x;" crate::host::place().grid_size[0];
    /// Blocks of the grid, y.
    grid_size_y "mov.u32 {}, %nctaid.y;" crate::host::place().grid_size[1];
    /// Blocks of the grid, z.
    grid_size_z "mov.u32 {}, %nctaid.z;" crate::host::place().grid_size[2];
    /// The thread's place in its warp.
    lane "mov.u32 {}, %laneid;" crate::host::place().lane();
}

/// The thread's place among all threads of the grid, along x.
#[inline(always)]
pub fn index() -> usize {
    block_x() as usize * block_size_x() as usize + index_x() as usize
}

/// Threads of the grid along x: the step of a loop in which the grid strides over more elements than it has threads.
#[inline(always)]
pub fn grid_stride() -> usize {
    grid_size_x() as usize * block_size_x() as usize
}
