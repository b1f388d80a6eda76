//! Memory as the reference interpreter has it: one range of addresses for what all threads see, windows for what a block or a thread has.

use super::Stop;
use warpsmith_isa::StateSpace;

/// Where variables in `.global` and `.const` begin.
pub(super) const GLOBALS: u64 = 0x1000_0000;
/// Where buffers begin, each far from the next.
pub(super) const BUFFERS: u64 = 0x10_0000_0000;
/// The distance from a buffer to the next.
pub(super) const STRIDE: u64 = 0x1_0000_0000;
/// Generic addresses of shared memory.
pub(super) const SHARED: u64 = 0x7000_0000_0000;
/// Generic addresses of local memory.
pub(super) const LOCAL: u64 = 0x7100_0000_0000;
/// Addresses of functions.
pub(super) const FUNCTIONS: u64 = 0x7200_0000_0000;

/// What all threads see.
#[derive(Clone, Debug, Default)]
pub(super) struct Global {
    pub variables: Vec<u8>,
    pub buffers: Vec<Vec<u8>>,
    /// How many places for buffers are left free before the first.
    pub first: u64,
}

impl Global {
    fn find(&mut self, at: u64) -> Option<(&mut Vec<u8>, usize)> {
        if at >= BUFFERS {
            let n = ((at - BUFFERS) / STRIDE).checked_sub(self.first)? as usize;
            let offset = ((at - BUFFERS) % STRIDE) as usize;
            return self.buffers.get_mut(n).map(|buffer| (buffer, offset));
        }
        Some((&mut self.variables, at.checked_sub(GLOBALS)? as usize))
    }
}

/// What one thread can reach.
pub(super) struct View<'a> {
    pub global: &'a mut Global,
    pub shared: &'a mut Vec<u8>,
    pub local: &'a mut Vec<u8>,
}

impl View<'_> {
    fn bytes(&mut self, space: StateSpace, at: u64, len: usize) -> Result<&mut [u8], Stop> {
        let fault = || Stop::Fault(format!("an access of {len} bytes at {at:#x} in .{}", space.name()));
        let (memory, offset) = match space {
            StateSpace::Shared => (&mut *self.shared, at as usize),
            StateSpace::Local => (&mut *self.local, at as usize),
            StateSpace::Generic if (SHARED..LOCAL).contains(&at) => {
                (&mut *self.shared, (at - SHARED) as usize)
            }
            StateSpace::Generic if (LOCAL..FUNCTIONS).contains(&at) => {
                (&mut *self.local, (at - LOCAL) as usize)
            }
            StateSpace::Generic | StateSpace::Global | StateSpace::Const => {
                self.global.find(at).ok_or_else(fault)?
            }
            StateSpace::Reg | StateSpace::Sreg | StateSpace::Param | StateSpace::Tex => return Err(fault()),
        };
        if len > 0 && !at.is_multiple_of(len.next_power_of_two() as u64) {
            return Err(Stop::Fault(format!("a misaligned access of {len} bytes at {at:#x}")));
        }
        memory.get_mut(offset..).and_then(|m| m.get_mut(..len)).ok_or_else(fault)
    }

    /// Reads so many elements of so many bytes; all of them are aligned together.
    pub fn read(&mut self, space: StateSpace, at: u64, size: usize, count: usize) -> Result<Vec<u128>, Stop> {
        let bytes = self.bytes(space, at, size * count)?;
        Ok(bytes.chunks(size).map(number).collect())
    }

    /// Writes elements.
    pub fn write(&mut self, space: StateSpace, at: u64, size: usize, values: &[u128]) -> Result<(), Stop> {
        let bytes = self.bytes(space, at, size * values.len())?;
        for (place, value) in bytes.chunks_mut(size).zip(values) {
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
        Ok(())
    }
}

/// The number that bytes are, the lowest first.
pub(super) fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}
