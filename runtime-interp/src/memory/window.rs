//! The generic address space: which addresses are windows to another state space (PTX ISA 9.0, 5.1 and 6.4.1.1).
//!
//! Global memory lies where no window is, above 32 GiB, so that a pointer cut to 32 bits never hits by accident.

use warpsmith_isa::StateSpace;

/// The size of each window.
pub const SIZE: u64 = 1 << 40;
const SHARED: u64 = 0x0001_0000_0000_0000;
const LOCAL: u64 = 0x0002_0000_0000_0000;
const CONST: u64 = 0x0003_0000_0000_0000;
const PARAM: u64 = 0x0004_0000_0000_0000;
const CODE: u64 = 0x0005_0000_0000_0000;
/// Multicast addresses, which only `multimem` instructions can use.
pub const MULTICAST: u64 = 0x0006_0000_0000_0000;
/// Handles of textures, samplers and surfaces: no address of anything.
const OBJECTS: u64 = 0x0007_0000_0000_0000;
/// Handles lie so far apart.
const OBJECT_STEP: u64 = 32;
/// Where global memory ends: the first window.
pub const GLOBAL_END: u64 = SHARED;
/// Where global memory starts.
pub const GLOBAL: u64 = 0x0000_7000_0000_0000;

/// The start of a space's window; zero for global memory, which is its own; `None` for spaces without addresses.
pub const fn base(space: StateSpace) -> Option<u64> {
    match space {
        StateSpace::Global | StateSpace::Generic => Some(0),
        StateSpace::Shared => Some(SHARED),
        StateSpace::Local => Some(LOCAL),
        StateSpace::Const => Some(CONST),
        StateSpace::Param => Some(PARAM),
        StateSpace::Reg | StateSpace::Sreg | StateSpace::Tex => None,
    }
}

/// The space that a generic address is in, and the address there.
#[inline]
pub const fn classify(address: u64) -> (StateSpace, u64) {
    let offset = address & (SIZE - 1);
    match address & !(SIZE - 1) {
        SHARED => (StateSpace::Shared, offset),
        LOCAL => (StateSpace::Local, offset),
        CONST => (StateSpace::Const, offset),
        PARAM => (StateSpace::Param, offset),
        _ => (StateSpace::Global, address),
    }
}

/// The space of an address and its offset there; a generic address says itself which space it is in.
#[inline]
pub fn locate(space: StateSpace, address: u64) -> (StateSpace, u64) {
    if space == StateSpace::Generic { classify(address) } else { (space, address) }
}

/// True for an address in no window.
#[inline]
pub const fn is_global(address: u64) -> bool {
    matches!(classify(address).0, StateSpace::Global)
}

/// The address of a function.
pub const fn code_address(function: u32) -> u64 {
    CODE + function as u64 * 16
}

/// The inverse of [`code_address`].
pub const fn function_at(address: u64) -> Option<u32> {
    if address & !(SIZE - 1) == CODE && address & 15 == 0 {
        Some(((address - CODE) / 16) as u32)
    } else {
        None
    }
}

/// The handle of an object by its number.
pub const fn object_handle(index: usize) -> u64 {
    OBJECTS + (index as u64 + 1) * OBJECT_STEP
}

/// The inverse of [`object_handle`].
#[inline]
pub const fn object_at(handle: u64) -> Option<usize> {
    let offset = handle.wrapping_sub(OBJECTS);
    if offset < SIZE && offset.is_multiple_of(OBJECT_STEP) && offset > 0 {
        Some((offset / OBJECT_STEP - 1) as usize)
    } else {
        None
    }
}

/// The part of the shared window that one block of a cluster has. Addresses in the first part are those of the executing block;
/// part `r + 1` is the memory of block `r`, as seen from all blocks of the cluster.
const MEMBER_BITS: u32 = 26;
/// The most bytes of shared memory a block of a cluster can have.
pub const MEMBER_SIZE: u64 = 1 << MEMBER_BITS;
/// The most blocks of a cluster: shared addresses may have 32 bits.
pub const MEMBERS: u32 = (1 << (32 - MEMBER_BITS)) - 1;
const MEMBER: u64 = !(MEMBER_SIZE - 1) & 0xffff_ffff;

/// The block of the cluster that an address in shared space names, if it names one, and the offset in that block's memory.
#[inline]
pub const fn member(address: u64) -> (Option<usize>, u64) {
    match (address & MEMBER) >> MEMBER_BITS {
        0 => (None, address),
        part => (Some(part as usize - 1), address & !MEMBER),
    }
}

/// The address of the same place in the memory of block `rank`, for an address in shared space or a generic one.
#[inline]
pub const fn in_member(address: u64, rank: u32) -> u64 {
    let part = if rank < MEMBERS { rank + 1 } else { MEMBERS };
    address & !MEMBER | (part as u64) << MEMBER_BITS
}
