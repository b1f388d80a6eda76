//! What each instruction of a module was resolved to.
//!
//! Statements of one mnemonic are nearly all the same instruction, so a statement needs but the place of its own among those of its mnemonic.

use crate::tree::*;
use smallvec::SmallVec;
use warpsmith_isa::Instruction;

/// No place: not an instruction, or not resolved.
const NONE: u16 = u16::MAX;

/// The resolved instructions of a module, by statement.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Resolutions {
    /// By mnemonic, what statements with it were resolved to, in the order met. Optional operands and overloads make the difference.
    instructions: Vec<SmallVec<[Instruction; 1]>>,
    /// By statement from `start` on, the place among those of its mnemonic.
    places: Vec<u16>,
    start: usize,
}

impl Resolutions {
    /// Without any instruction yet, for statements from `start` on.
    pub(super) fn new(mnemonics: usize, start: usize) -> Self {
        Resolutions { instructions: vec![SmallVec::new(); mnemonics], places: Vec::new(), start }
    }

    /// Records what a statement was resolved to, and says which place that has among the instructions of its mnemonic, if there was one left.
    pub(super) fn record(
        &mut self,
        stmt: Id<Stmt>,
        mnemonic: MnemonicId,
        instruction: Instruction,
    ) -> Option<u16> {
        let place = place_of(&mut self.instructions[mnemonic.index()], instruction);
        if let Some(index) = stmt.index().checked_sub(self.start) {
            self.set(index, place);
        }
        (place != NONE).then_some(place)
    }

    /// Records that a statement was resolved to what another with its mnemonic was.
    pub(super) fn repeat(&mut self, stmt: Id<Stmt>, place: u16) {
        if let Some(index) = stmt.index().checked_sub(self.start) {
            self.set(index, place);
        }
    }

    /// The instruction at a place among those of its mnemonic.
    pub(super) fn of_mnemonic(&self, mnemonic: MnemonicId, place: u16) -> Option<&Instruction> {
        self.instructions.get(mnemonic.index())?.get(usize::from(place))
    }

    fn set(&mut self, index: usize, place: u16) {
        if index >= self.places.len() {
            self.places.resize(index + 1, NONE);
        }
        self.places[index] = place;
    }

    pub(super) fn get(&self, stmt: Id<Stmt>, mnemonic: MnemonicId) -> Option<&Instruction> {
        let place = *self.places.get(stmt.index().checked_sub(self.start)?)?;
        self.of_mnemonic(mnemonic, place)
    }

    /// The resolutions of two passes over one module, each of which saw statements that the other did not.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only instructions are resolved")]
    pub(super) fn join(mut self, other: Resolutions, module: &Module) -> Resolutions {
        // Where both passes met the instructions of a mnemonic in the same order, which is the rule, places need no translation.
        let mut moved = false;
        let mut translated: Vec<SmallVec<[u16; 1]>> = Vec::with_capacity(other.instructions.len());
        for (ours, theirs) in self.instructions.iter_mut().zip(&other.instructions) {
            let places: SmallVec<[u16; 1]> = theirs.iter().map(|one| place_of(ours, *one)).collect();
            moved |= places.iter().enumerate().any(|(theirs, ours)| theirs != usize::from(*ours));
            translated.push(places);
        }
        for (index, place) in other.places.into_iter().enumerate().filter(|(_, place)| *place != NONE) {
            let stmt = other.start + index;
            let ours = match module.stmts[stmt] {
                Stmt::Inst(inst) if moved => translated[inst.mnemonic.index()][usize::from(place)],
                _ => place,
            };
            if let Some(index) = stmt.checked_sub(self.start) {
                self.set(index, ours);
            }
        }
        self
    }
}

/// The place of an instruction among those of its mnemonic, after adding it if it is new.
fn place_of(known: &mut SmallVec<[Instruction; 1]>, instruction: Instruction) -> u16 {
    let place = known.iter().position(|one| *one == instruction).unwrap_or_else(|| {
        known.push(instruction);
        known.len() - 1
    });
    // A mnemonic has as many as its forms have ways to leave operands out: a few dozen.
    u16::try_from(place).unwrap_or(NONE)
}
