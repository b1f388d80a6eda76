//! What each operation does with values: where undefinedness goes from, where it goes to, and where it decides something.

use warpsmith_interp::Program;
use warpsmith_interp::engine::{AsyncOp, MatrixOp, Reg, TextureOp, Width};
use warpsmith_interp::observe::{Operation, OperationKind};
use warpsmith_isa::{CancelQuery, Reduction};

/// A register as its shadow sees it: one mask of lanes for each byte of it, or one for a predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    /// The word of the frame where it starts, which is the place of its first mask too.
    pub word: u32,
    /// How many masks; none for a constant, which is always defined.
    pub masks: u32,
}

impl Slot {
    pub fn new(r: Reg) -> Slot {
        let masks = if r.width() == Width::Pred { 1 } else { r.width().bits() / 8 };
        r.word().map_or(Slot { word: 0, masks: 0 }, |word| Slot { word, masks })
    }
}

/// What is decided by operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decides {
    Branch,
    Address,
    Operand,
}

/// What becomes of the values that an operation reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// They are in the results.
    Compute,
    /// The results are defined, or follow later from what memory holds or other lanes give.
    Define,
    /// They are in the results of other lanes.
    Matrix,
    /// Nothing is written, or only when all lanes are there.
    Nothing,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub act: Act,
    pub decides: Decides,
    /// An atomic operation whose new value does not depend on the old one.
    pub overwrites: bool,
    /// What it stores to is undefined from then on.
    pub discards: bool,
    /// It asks whose block a request has cancelled, which nothing says if there is none.
    pub asks_cancelled: bool,
    /// The guard's predicate.
    pub guard: Option<u32>,
    /// Where its operands start: those that decide, those that carry values, and those that are written.
    first: u32,
    counts: [u8; 3],
}

/// The operations of a program.
#[derive(Default)]
pub(super) struct Flows {
    flows: Vec<Flow>,
    slots: Vec<Slot>,
}

impl Flows {
    pub fn new(program: &Program) -> Flows {
        let mut flows = Flows::default();
        for pc in 0..program.operations() {
            if let Some(operation) = program.operation(pc) {
                // An operation of the IR's core does not say, and is not suspected.
                let reduction = program.instruction(pc).map(|i| i.reduction());
                let overwrites = reduction.is_none_or(|r| r == Some(Reduction::Exchange));
                flows.push(&operation, overwrites);
                let query = program.instruction(pc).and_then(|i| i.cancel_query());
                if let (Some(flow), Some(query)) = (flows.flows.last_mut(), query) {
                    flow.asks_cancelled = query != CancelQuery::IsCanceled;
                }
            }
        }
        flows
    }

    fn push(&mut self, operation: &Operation<'_>, overwrites: bool) {
        let Operation { reads, writes, guard, .. } = operation;
        // How many of the reads decide, and from where on they carry values.
        let (act, decides, deciding, values) = match &operation.kind {
            OperationKind::Compute => (Act::Compute, Decides::Operand, 0, 0),
            OperationKind::Load(_)
            | OperationKind::Store(_)
            | OperationKind::Atomic(_)
            | OperationKind::Async(AsyncOp::Multimem(_) | AsyncOp::Discard { .. }) => {
                (Act::Define, Decides::Address, 1, 1)
            }
            OperationKind::Collective(c) => {
                let mask = usize::from(c.mask.is_some());
                (Act::Nothing, Decides::Operand, mask, mask)
            }
            // A reduction of predicates gives the thread what its own is worth.
            OperationKind::Barrier(b) => {
                let own = 1 + usize::from(b.count.is_some());
                (Act::Compute, Decides::Operand, own, own)
            }
            // What describes a product decides; what matrices hold is followed when the lanes have come together.
            OperationKind::Matrix(op) => {
                let described = match op {
                    MatrixOp::Multiply(op) => {
                        usize::from(op.metadata.is_some()) + 6 * usize::from(op.scales.is_some())
                    }
                    MatrixOp::Converge
                    | MatrixOp::Exchange { .. }
                    | MatrixOp::Warpgroup(_)
                    | MatrixOp::WarpgroupFence
                    | MatrixOp::WarpgroupCommit
                    | MatrixOp::WarpgroupWait(_)
                    | MatrixOp::RegisterCount { .. } => 0,
                };
                (Act::Matrix, Decides::Operand, described, described)
            }
            // What names texels decides; what is stored does not.
            OperationKind::Texture(op) => {
                let deciding = match op {
                    TextureOp::Surface(op) => 1 + op.coordinates.len(),
                    TextureOp::Fetch(_) | TextureOp::Query { .. } | TextureOp::IsOfType { .. } => reads.len(),
                };
                (Act::Define, Decides::Address, deciding, deciding)
            }
            OperationKind::Switch { .. } => (Act::Nothing, Decides::Branch, 1, 1),
            OperationKind::Call(_) => (Act::Nothing, Decides::Address, reads.len(), reads.len()),
            OperationKind::System(_) | OperationKind::Stack(_) | OperationKind::Async(_) => {
                (Act::Define, Decides::Operand, reads.len(), reads.len())
            }
            OperationKind::Special(_) | OperationKind::ActiveMask | OperationKind::StackAddress => {
                (Act::Define, Decides::Operand, 0, 0)
            }
            OperationKind::Branch { .. }
            | OperationKind::Return
            | OperationKind::Exit
            | OperationKind::Trap
            | OperationKind::Fence(_)
            | OperationKind::Yield
            | OperationKind::Nothing => (Act::Nothing, Decides::Operand, 0, 0),
        };
        let first = self.slots.len() as u32;
        // The values of an asynchronous store are looked at when it is issued.
        let deciding = reads.iter().take(deciding).copied().filter(|r| !is_value(&operation.kind, *r));
        let parts: [Vec<Slot>; 3] = [
            deciding.map(Slot::new).filter(|s| s.masks > 0).collect(),
            reads.iter().skip(values).map(|r| Slot::new(*r)).collect(),
            writes.iter().map(|r| Slot::new(*r)).collect(),
        ];
        let counts = [0, 1, 2].map(|i| parts[i].len().min(255) as u8);
        parts.iter().zip(counts).for_each(|(part, n)| self.slots.extend(&part[..usize::from(n)]));
        let guard = guard.and_then(|g| g.pred.word());
        let discards = matches!(operation.kind, OperationKind::Async(AsyncOp::Discard { .. }));
        self.flows.push(Flow {
            act,
            decides,
            overwrites,
            discards,
            asks_cancelled: false,
            guard,
            first,
            counts,
        });
    }

    pub fn get(&self, pc: u32) -> Option<Flow> {
        self.flows.get(pc as usize).copied()
    }

    /// The operands that decide.
    #[inline]
    pub fn deciding(&self, flow: &Flow) -> &[Slot] {
        self.part(flow, 0)
    }

    /// The operands that carry values; of a store and the like, its elements.
    #[inline]
    pub fn values(&self, flow: &Flow) -> &[Slot] {
        self.part(flow, 1)
    }

    /// The operands that are written.
    #[inline]
    pub fn written(&self, flow: &Flow) -> &[Slot] {
        self.part(flow, 2)
    }

    #[inline]
    fn part(&self, flow: &Flow, part: usize) -> &[Slot] {
        let before: usize = flow.counts[..part].iter().map(|n| usize::from(*n)).sum();
        let start = flow.first as usize + before;
        self.slots.get(start..start + usize::from(flow.counts[part])).unwrap_or_default()
    }
}

/// True for a value that an asynchronous operation stores.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else reads registers later")]
fn is_value(kind: &OperationKind<'_>, r: Reg) -> bool {
    use warpsmith_interp::engine::{TransferOp, TransferSource};
    match kind {
        OperationKind::Async(AsyncOp::Transfer(TransferOp {
            from: TransferSource::Values { values, .. },
            ..
        })) => values.contains(&r),
        _ => false,
    }
}
