//! What an observer sees of registers.

use super::super::file::{Cell, Frame};
use super::super::lanes::Lane;
use super::super::op::FuncId;
use super::super::reg::{Reg, Width};
use super::FrameView;
use std::marker::PhantomData;

/// The registers of the running function, and the program's constants.
pub struct Registers<'a> {
    frame: Frame,
    /// Words that a frame register and a constant may reach.
    words: [u64; 2],
    place: FrameView,
    function: FuncId,
    lifetime: PhantomData<&'a Cell>,
}

impl<'a> Registers<'a> {
    /// The caller has made `frame` for a frame of this size, over these constants.
    pub(in crate::engine) fn new(
        frame: Frame,
        constants: &'a [Cell],
        place: FrameView,
        function: FuncId,
    ) -> Registers<'a> {
        let words = [u64::from(place.rows) * 32, constants.len() as u64 * 32];
        Registers { frame, words, place, function, lifetime: PhantomData }
    }

    /// Where the frame lies.
    pub fn place(&self) -> FrameView {
        self.place
    }

    /// The running function.
    pub fn function(&self) -> FuncId {
        self.function
    }

    /// The bits of one lane of a register, those of a predicate as 0 or 1; zero for a register that is none of the function's.
    pub fn get(&self, r: Reg, lane: usize) -> u128 {
        let words = self.words[usize::from(r.is_constant())];
        if lane >= 32 || u64::from(r.offset()) + u64::from(r.width().words()) > words {
            return 0;
        }
        // SAFETY: the register lies within the frame or the constants, as was just checked, and rows start at multiples of 32 words
        // or hold predicates, which are read as words.
        unsafe {
            match r.width() {
                Width::Pred => u128::from(self.frame.pred(r) >> lane & 1),
                Width::W32 => u128::from(u32::get(self.frame, r, lane)),
                Width::W64 => u128::from(u64::get(self.frame, r, lane)),
                Width::W128 => u128::get(self.frame, r, lane),
            }
        }
    }

    /// The lanes in which a predicate is true.
    pub fn predicate(&self, r: Reg) -> u32 {
        if r.width() != Width::Pred && r != Reg::ZERO {
            return 0;
        }
        (0..32).fold(0, |mask, lane| mask | (self.get(r, lane) as u32 & 1) << lane)
    }
}
