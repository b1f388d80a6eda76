//! What compiled code is called with: limits, memory and the position of the thread. Compiled code reads and writes the fields by the offsets
//! below.

use std::mem::offset_of;

/// How compiled functions are called: context, arguments, results. Each scalar takes two cells of 64 bits; the answer is 0, or the number of the
/// site of a fault plus one.
pub(crate) type Entry = unsafe extern "C" fn(*mut Context, *const u64, *mut u64) -> u32;

/// Cells of a scalar among arguments and results.
pub(crate) const CELLS: usize = 2;

/// A piece of memory that the guest can access.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub base: *mut u8,
    pub len: u64,
}

/// An address of the guest is the number of its region plus one, and an offset of so many bits. The null address is in none.
pub(crate) const OFFSET_BITS: u32 = 40;

/// Where the addresses of functions begin: in no region.
pub(crate) const FUNCTIONS: u64 = 0x7fff << 48;

/// The special registers that a thread reads, in the order of [`Context::registers`].
pub(crate) const REGISTERS: usize = 14;

#[repr(C)]
pub(crate) struct Context {
    /// Rounds of loops and calls that may still be executed.
    pub fuel: i64,
    /// Calls that may still be nested.
    pub depth: i64,
    /// Bytes of the local region that are in use.
    pub local: u64,
    /// Bytes of the local region.
    pub local_len: u64,
    pub regions: *const Region,
    pub region_count: u64,
    /// The address of an access at fault.
    pub address: u64,
    /// `%tid`, `%ntid`, `%ctaid`, `%nctaid`, `%laneid`, `%warpid`.
    pub registers: [u32; REGISTERS],
}

impl Context {
    pub const FUEL: i32 = offset_of!(Context, fuel) as i32;
    pub const DEPTH: i32 = offset_of!(Context, depth) as i32;
    pub const LOCAL: i32 = offset_of!(Context, local) as i32;
    pub const LOCAL_LEN: i32 = offset_of!(Context, local_len) as i32;
    pub const REGIONS: i32 = offset_of!(Context, regions) as i32;
    pub const REGION_COUNT: i32 = offset_of!(Context, region_count) as i32;
    pub const ADDRESS: i32 = offset_of!(Context, address) as i32;
    pub const REGISTERS: i32 = offset_of!(Context, registers) as i32;
}

/// The guest's address of a place in a region.
pub(crate) const fn address(region: usize, offset: u64) -> u64 {
    (region as u64 + 1) << OFFSET_BITS | offset
}

/// The region of local memory, and where the others begin.
pub(crate) const LOCAL_REGION: usize = 0;
