//! The body of a function: blocks of instructions.

use super::constants::{Constant, ConstantKind};
use super::metadata::Metadata;
use super::ops::{BinaryOp, CastOp, FastMath, Ordering, Predicate, RmwOp};
use super::types::TypeId;
use super::{Module, ValueId};
use crate::error::{Error, Result};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use warpsmith_base::FxHashMap;

/// A part of one of the lists of a [`Body`]: what an instruction has any number of.
#[derive(Clone, Copy, Debug)]
pub struct List {
    start: u32,
    len: u32,
}

impl List {
    /// What has been added to a list since it had so many.
    pub(super) fn since<T>(start: usize, list: &[T]) -> List {
        List { start: start as u32, len: (list.len() - start) as u32 }
    }

    fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.start as usize..(self.start + self.len) as usize).unwrap_or_default()
    }
}

/// A body. Instructions are of one size, and what they have any number of lies in lists that all share: so it is read, walked over and given up
/// without memory for each.
#[derive(Clone, Default, Debug)]
pub struct Body {
    /// The values before those of the function.
    pub first_value: u32,
    /// How many parameters: their values come first.
    pub num_params: u32,
    /// The constants of the function, whose values follow.
    pub constants: Vec<Constant>,
    /// The instructions, block by block.
    pub insts: Vec<Inst>,
    /// The instructions of each block.
    pub blocks: Vec<Range<u32>>,
    /// The types of the values of the function.
    pub types: Vec<TypeId>,
    /// The instruction of each value that follows the constants.
    pub results: Vec<u32>,
    /// Indices of addresses, and arguments of calls.
    pub(super) values: Vec<ValueId>,
    /// Cases of switches, and where phis come from: a value and a block. Clauses of landing pads: a value and a kind.
    pub(super) edges: Vec<(ValueId, u32)>,
    /// Paths into aggregates.
    pub(super) paths: Vec<u64>,
    /// Types of the arguments of calls.
    pub(super) arg_types: Vec<TypeId>,
    /// Names of values and of blocks, where the file has them.
    pub names: FxHashMap<ValueId, String>,
    /// Names of blocks.
    pub block_names: FxHashMap<u32, String>,
    /// Attachments of metadata: instruction, kind, number of the metadata.
    pub attachments: Vec<(u32, u64, u64)>,
    /// Attachments of metadata to the function itself: kind, number of the metadata.
    pub function_attachments: Vec<(u64, u64)>,
    /// Where variables of the source are, in the order of the instructions.
    pub debug_records: Vec<DebugRecord>,
    /// Metadata of the function, behind that of the module.
    pub metadata: Vec<Metadata>,
}

impl Body {
    /// The indices of an address.
    pub fn indices(&self, list: List) -> &[ValueId] {
        list.of(&self.values)
    }

    /// The cases of a switch, where a phi comes from, the targets of an indirect branch, or the clauses of a landing pad.
    pub fn edges(&self, list: List) -> &[(ValueId, u32)] {
        list.of(&self.edges)
    }

    /// A path into an aggregate.
    pub fn path(&self, list: List) -> &[u64] {
        list.of(&self.paths)
    }

    /// The arguments of a call. Those of type `metadata` are numbers of metadata, those of type `label` blocks.
    pub fn args(&self, call: &Call) -> &[ValueId] {
        call.args.of(&self.values)
    }

    /// The types of the arguments of a call.
    pub fn arg_types(&self, call: &Call) -> &[TypeId] {
        call.arg_types.of(&self.arg_types)
    }

    /// Forgets everything, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.constants.clear();
        self.insts.clear();
        self.blocks.clear();
        self.types.clear();
        self.results.clear();
        self.values.clear();
        self.edges.clear();
        self.paths.clear();
        self.arg_types.clear();
        self.names.clear();
        self.block_names.clear();
        self.attachments.clear();
        self.function_attachments.clear();
        self.debug_records.clear();
        self.metadata.clear();
    }

    /// The instruction that a value is the result of.
    pub fn definition(&self, value: ValueId) -> Option<&Inst> {
        let before = self.first_value as usize + self.num_params as usize + self.constants.len();
        let inst = self.results.get((value.0 as usize).checked_sub(before)?)?;
        self.insts.get(*inst as usize)
    }

    /// The metadata of a kind that is attached to instructions: the instruction, and the number of the metadata.
    pub fn attached(&self, kind: &str, module: &Module<'_>) -> impl Iterator<Item = (u32, u64)> {
        let kind = if self.attachments.is_empty() { None } else { module.metadata.kind(kind) };
        let of_kind = self.attachments.iter().filter(move |(_, of, _)| Some(*of) == kind);
        of_kind.map(|(inst, _, node)| (*inst, *node))
    }
}

/// Says where a variable of the source is from an instruction on. The numbers are those of metadata.
#[derive(Clone, Copy, Debug)]
pub struct DebugRecord {
    /// The instruction that it stands in front of.
    pub inst: u32,
    /// The place in the source, which says where the variable was inlined.
    pub loc: u64,
    /// The variable.
    pub variable: u64,
    /// What the location has to be put through.
    pub expression: u64,
    /// The variable's value, or its address.
    pub location: Location,
    /// It is the address.
    pub is_address: bool,
}

/// A value that a debug record names.
#[derive(Clone, Copy, Debug)]
pub enum Location {
    /// By metadata that holds it.
    Metadata(u64),
    /// Itself.
    Value(ValueId),
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// What it does.
    pub kind: InstKind,
    /// The type of the result.
    pub ty: TypeId,
    /// Its value, if it has a result.
    pub value: Option<ValueId>,
    /// The place in the source: line, column, scope and place of the call that was inlined, as numbers of metadata plus one.
    pub loc: Option<[u32; 4]>,
    /// The byte of the file that its record starts in.
    pub offset: u64,
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The alignment in bytes.
    pub align: Option<u64>,
    /// It happens as often and in the order as written.
    pub volatile: bool,
    /// Its order, [`Ordering::NotAtomic`] for plain ones.
    pub ordering: Ordering,
    /// The scope, in [`super::Module::scopes`]: 0 is one thread, 1 the system.
    pub scope: u64,
}

/// A call. [`Body::args`] and [`Body::arg_types`] have its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// What is called.
    pub callee: ValueId,
    /// The type of what is called.
    pub signature: TypeId,
    pub(super) args: List,
    pub(super) arg_types: List,
    /// The calling convention.
    pub convention: u16,
    /// The attributes of the call.
    pub attributes: u32,
    /// It must be a jump: `musttail`.
    pub must_tail: bool,
    /// It may be one: `tail`.
    pub tail: bool,
    /// Fast-math flags.
    pub flags: FastMath,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum InstKind {
    Fneg {
        flags: FastMath,
        x: ValueId,
    },
    /// `flags` are those of the record: overflow, exact, disjoint or fast-math.
    Binary {
        op: BinaryOp,
        flags: u64,
        x: ValueId,
        y: ValueId,
    },
    Cast {
        op: CastOp,
        flags: u64,
        x: ValueId,
    },
    Gep {
        source: TypeId,
        flags: u64,
        base: ValueId,
        indices: List,
    },
    Select {
        cond: ValueId,
        x: ValueId,
        y: ValueId,
        flags: FastMath,
    },
    ExtractElement {
        vector: ValueId,
        index: ValueId,
    },
    InsertElement {
        vector: ValueId,
        element: ValueId,
        index: ValueId,
    },
    ShuffleVector {
        x: ValueId,
        y: ValueId,
        mask: ValueId,
    },
    Compare {
        predicate: Predicate,
        flags: u64,
        x: ValueId,
        y: ValueId,
    },
    Return(Option<ValueId>),
    Br(u32),
    CondBr {
        cond: ValueId,
        then: u32,
        otherwise: u32,
    },
    Switch {
        value: ValueId,
        default: u32,
        cases: List,
    },
    /// A branch to a block whose address has been taken. The targets are edges of the address.
    IndirectBr {
        address: ValueId,
        targets: List,
    },
    Unreachable,
    Phi {
        incoming: List,
        flags: FastMath,
    },
    Alloca {
        ty: TypeId,
        count: ValueId,
        align: Option<u64>,
    },
    Load {
        ptr: ValueId,
        access: Access,
    },
    Store {
        ptr: ValueId,
        value: ValueId,
        access: Access,
    },
    ExtractValue {
        aggregate: ValueId,
        indices: List,
    },
    InsertValue {
        aggregate: ValueId,
        value: ValueId,
        indices: List,
    },
    Call(Call),
    /// A call, and where it goes on: at `normal` when the callee returns, at `unwind` when it throws.
    Invoke {
        call: Call,
        normal: u32,
        unwind: u32,
    },
    /// What an exception that is thrown here may be caught as. The edges are values with a kind: 0 what is caught, 1 a list of what may pass.
    LandingPad {
        cleanup: bool,
        clauses: List,
    },
    /// Throws on what a landing pad was given.
    Resume(ValueId),
    Fence {
        ordering: Ordering,
        scope: u64,
    },
    CmpXchg {
        ptr: ValueId,
        expected: ValueId,
        new: ValueId,
        access: Access,
        failure: Ordering,
        weak: bool,
    },
    AtomicRmw {
        op: RmwOp,
        ptr: ValueId,
        value: ValueId,
        access: Access,
    },
    Freeze(ValueId),
    VaArg {
        list: ValueId,
    },
}

impl InstKind {
    /// True for what ends a block.
    pub const fn is_terminator(&self) -> bool {
        matches!(
            self,
            InstKind::Return(_)
                | InstKind::Br(_)
                | InstKind::CondBr { .. }
                | InstKind::Switch { .. }
                | InstKind::IndirectBr { .. }
                | InstKind::Unreachable
                | InstKind::Invoke { .. }
                | InstKind::Resume(_)
        )
    }
}

impl Body {
    /// The blocks that a terminator goes to. What only an exception reaches is not among them: nothing on a GPU unwinds.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction goes to blocks")]
    pub fn successors(&self, inst: &Inst) -> SmallVec<[u32; 2]> {
        match &inst.kind {
            InstKind::Br(block) => smallvec![*block],
            InstKind::CondBr { then, otherwise, .. } => smallvec![*then, *otherwise],
            InstKind::Switch { default, cases, .. } => {
                [*default].into_iter().chain(self.edges(*cases).iter().map(|(_, block)| *block)).collect()
            }
            InstKind::IndirectBr { targets, .. } => {
                self.edges(*targets).iter().map(|(_, block)| *block).collect()
            }
            InstKind::Invoke { normal, .. } => smallvec![*normal],
            _ => SmallVec::new(),
        }
    }

    /// The values an instruction uses, those of type `metadata` and `label` left out.
    pub fn operands(&self, inst: &Inst, mut each: impl FnMut(ValueId)) {
        match &inst.kind {
            InstKind::Fneg { x, .. }
            | InstKind::Cast { x, .. }
            | InstKind::Freeze(x)
            | InstKind::Resume(x) => each(*x),
            InstKind::Binary { x, y, .. } | InstKind::Compare { x, y, .. } => {
                [*x, *y].into_iter().for_each(each)
            }
            InstKind::Gep { base, indices, .. } => {
                each(*base);
                self.indices(*indices).iter().for_each(|index| each(*index));
            }
            InstKind::Select { cond, x, y, .. } => [*cond, *x, *y].into_iter().for_each(each),
            InstKind::ExtractElement { vector, index } => [*vector, *index].into_iter().for_each(each),
            InstKind::InsertElement { vector, element, index } => {
                [*vector, *element, *index].into_iter().for_each(each);
            }
            InstKind::ShuffleVector { x, y, mask } => [*x, *y, *mask].into_iter().for_each(each),
            InstKind::Return(value) => value.iter().for_each(|value| each(*value)),
            InstKind::Br(_) | InstKind::Unreachable | InstKind::Fence { .. } => {}
            InstKind::CondBr { cond, .. } => each(*cond),
            InstKind::IndirectBr { address, .. } => each(*address),
            InstKind::Switch { value, cases, .. } => {
                each(*value);
                self.edges(*cases).iter().for_each(|(case, _)| each(*case));
            }
            InstKind::Phi { incoming, .. } => {
                self.edges(*incoming).iter().for_each(|(value, _)| each(*value));
            }
            InstKind::Alloca { count, .. } => each(*count),
            InstKind::Load { ptr, .. } => each(*ptr),
            InstKind::Store { ptr, value, .. } | InstKind::AtomicRmw { ptr, value, .. } => {
                [*ptr, *value].into_iter().for_each(each);
            }
            InstKind::ExtractValue { aggregate, .. } => each(*aggregate),
            InstKind::InsertValue { aggregate, value, .. } => [*aggregate, *value].into_iter().for_each(each),
            InstKind::LandingPad { clauses, .. } => {
                self.edges(*clauses).iter().for_each(|(value, _)| each(*value));
            }
            InstKind::Call(call) | InstKind::Invoke { call, .. } => {
                each(call.callee);
                self.args(call).iter().for_each(|arg| each(*arg));
            }
            InstKind::CmpXchg { ptr, expected, new, .. } => {
                [*ptr, *expected, *new].into_iter().for_each(each)
            }
            InstKind::VaArg { list } => each(*list),
        }
    }
}

/// An error if a constant names a value that does not exist.
pub(super) fn check_constant(constant: &Constant, count: u32) -> Result<()> {
    let mut bad = None;
    let mut check = |values: &[ValueId]| bad = bad.or(values.iter().find(|value| value.0 >= count).copied());
    match &constant.kind {
        ConstantKind::Aggregate(parts) => check(parts),
        ConstantKind::Binary { args, .. } | ConstantKind::Compare { args, .. } => check(args),
        ConstantKind::Cast { arg, .. } => check(&[*arg]),
        ConstantKind::Gep { base, indices, .. } => {
            check(&[*base]);
            check(indices);
        }
        ConstantKind::Select(args) => check(args),
        ConstantKind::BlockAddress { function, .. } => check(&[*function]),
        ConstantKind::Null
        | ConstantKind::Undef
        | ConstantKind::Poison
        | ConstantKind::Integer(_)
        | ConstantKind::Wide(_)
        | ConstantKind::Float(_)
        | ConstantKind::String(_)
        | ConstantKind::Data(_)
        | ConstantKind::InlineAsm(_)
        | ConstantKind::Other(_) => {}
    }
    match bad {
        Some(value) => Err(Error::record(
            constant.offset,
            format!("a constant is made of value {}, which does not exist", value.0),
        )),
        None => Ok(()),
    }
}
