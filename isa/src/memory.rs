//! Layout of memory: what an element takes, and what lies behind what. Variables of a state space and parameters of a kernel lie in the order of
//! their declarations, each at the next multiple of its alignment (manual 5.1.6.1, 5.4.5).

use crate::ScalarType;

/// The bytes of an element: a scalar, or a vector of `lanes` of them.
pub const fn element_bytes(ty: ScalarType, lanes: u8) -> u64 {
    ty.bits().div_ceil(8) as u64 * lanes as u64
}

/// The alignment of a variable that says none: that of its elements.
///
/// ```
/// use warpsmith_isa::{ScalarType, memory::natural_align};
/// assert_eq!((natural_align(ScalarType::F32, 1), natural_align(ScalarType::F32, 4)), (4, 16));
/// ```
pub const fn natural_align(ty: ScalarType, lanes: u8) -> u32 {
    ty.bits().div_ceil(8).next_power_of_two() * lanes as u32
}

/// Things that lie one behind the other, each at a multiple of its alignment.
///
/// ```
/// let mut params = warpsmith_isa::memory::Layout::default();
/// assert_eq!((params.place(4, 4), params.place(8, 8), params.place(1, 1)), (0, 8, 16));
/// assert_eq!(params.bytes(), 17);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Layout {
    end: u64,
}

impl Layout {
    /// Places so many bytes at the next multiple of an alignment, 0 meaning 1, and gives their offset. Saturates where no memory could hold them.
    pub fn place(&mut self, bytes: u64, align: u64) -> u64 {
        let offset = self.end.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX);
        self.end = offset.saturating_add(bytes);
        offset
    }

    /// The bytes up to the end of the last thing.
    pub fn bytes(self) -> u64 {
        self.end
    }
}
