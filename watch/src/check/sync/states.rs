//! The states that arrivals at mbarrier objects return, and which phases they denote.
//!
//! A state itself does not say: an object knows the parity of its phase only, so a state of long ago looks like one of the last phase. It is known as long as it stays
//! in the register that the arrival has written.

use warpsmith_base::FxHashMap;
use warpsmith_interp::Program;
use warpsmith_interp::engine::{AsyncOp, MbarrierAction, MbarrierOp, Reg};
use warpsmith_interp::observe::{At, OperationKind};

/// A register of one function: the function's number, and the word of its frame.
type Place = (usize, u32);

/// The phase of one object, counted from its making.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub rank: usize,
    pub offset: usize,
    pub phase: u64,
}

/// Which operations make states and test them.
#[derive(Default)]
pub(super) struct States {
    /// For an operation that makes or tests a state, its register, which nothing but arrivals writes.
    places: FxHashMap<u32, Place>,
    /// What the registers hold: of a block, warp and lane.
    held: FxHashMap<([u32; 3], u32, u32, Place), State>,
}

/// The register in which an operation returns a state, or gets one.
fn register(op: &MbarrierOp) -> Option<Reg> {
    match op.action {
        MbarrierAction::Arrive { .. } => op.dst,
        MbarrierAction::Test { parity: false, .. } => op.operand,
        MbarrierAction::Test { parity: true, .. }
        | MbarrierAction::Init
        | MbarrierAction::CheckLayout
        | MbarrierAction::Invalidate
        | MbarrierAction::ExpectTx
        | MbarrierAction::CompleteTx => None,
    }
}

impl States {
    pub fn of(program: &Program) -> States {
        let mut states = States::default();
        for (number, function) in program.functions().enumerate() {
            // The arrivals and tests of each word, unless something else writes it, too.
            let mut words: FxHashMap<u32, Option<Vec<u32>>> = FxHashMap::default();
            for pc in program.code(function) {
                let Some(operation) = program.operation(pc) else { continue };
                let used = if let OperationKind::Async(AsyncOp::Mbarrier(op)) = operation.kind {
                    register(op)
                } else {
                    None
                };
                let used = used.and_then(|r| r.word());
                if let Some(list) =
                    used.and_then(|word| words.entry(word).or_insert_with(|| Some(Vec::new())).as_mut())
                {
                    list.push(pc);
                }
                for word in
                    operation.writes.iter().filter_map(|r| r.word()).filter(|word| Some(*word) != used)
                {
                    words.insert(word, None);
                }
            }
            let known = words.into_iter().filter_map(|(word, pcs)| Some((word, pcs?)));
            states
                .places
                .extend(known.flat_map(|(word, pcs)| pcs.into_iter().map(move |pc| (pc, (number, word)))));
        }
        states
    }

    /// A lane has arrived, and holds the state.
    pub fn arrived(&mut self, at: &At<'_>, state: State) {
        if let Some(place) = self.places.get(&at.pc) {
            self.held.insert((at.block, at.warp, at.mask.trailing_zeros(), *place), state);
        }
    }

    /// The state that a lane tests, if it is known.
    pub fn tested(&self, at: &At<'_>) -> Option<State> {
        let place = self.places.get(&at.pc)?;
        self.held.get(&(at.block, at.warp, at.mask.trailing_zeros(), *place)).copied()
    }

    /// A block has ended.
    pub fn forget(&mut self, block: [u32; 3]) {
        self.held.retain(|(of, ..), _| *of != block);
    }
}
