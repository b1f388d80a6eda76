//! Selected code: PTX instructions over virtual registers, in SSA form with block parameters.
//!
//! This is the contract between selection, which makes it, and `warpsmith-emit`, which gives its virtual registers names,
//! turns block parameters into moves and writes the PTX tree. Everything is flat: a function owns one arena of instructions,
//! one of operands and one of block arguments, and blocks hold ranges of them.

mod print;

use crate::abi::Passing;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use std::ops::Range;
use warpsmith_ir as ir;
use warpsmith_isa::{Mnemonic, ScalarType};

/// A virtual register, defined exactly once: by an instruction, or as a block parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VReg(u32);
entity_impl!(VReg, "v");

/// A basic block of selected code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(u32);
entity_impl!(Block, "block");

/// What a register can hold. PTX registers are declared by size: `.b32` serves integers and floats alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum RegClass {
    /// `.pred`
    Pred,
    /// `.b16`
    B16,
    /// `.b32`
    B32,
    /// `.b64`
    B64,
    /// `.b128`
    B128,
    /// `.b8`, which only instructions that take nothing else have.
    B8,
}

impl RegClass {
    /// Every class, in the order in which registers are declared.
    pub const ALL: [RegClass; RegClass::COUNT] =
        [RegClass::Pred, RegClass::B16, RegClass::B32, RegClass::B64, RegClass::B128, RegClass::B8];

    /// How many there are.
    pub const COUNT: usize = 6;

    /// The type that registers of the class are declared with.
    pub const fn scalar(self) -> ScalarType {
        match self {
            RegClass::Pred => ScalarType::Pred,
            RegClass::B8 => ScalarType::B8,
            RegClass::B16 => ScalarType::B16,
            RegClass::B32 => ScalarType::B32,
            RegClass::B64 => ScalarType::B64,
            RegClass::B128 => ScalarType::B128,
        }
    }

    /// The smallest class that holds `bits` bits of data.
    pub const fn for_bits(bits: u32) -> RegClass {
        match bits {
            0..=16 => RegClass::B16,
            17..=32 => RegClass::B32,
            33..=64 => RegClass::B64,
            _ => RegClass::B128,
        }
    }

    /// The size of the data, 1 for a predicate.
    pub const fn bits(self) -> u32 {
        self.scalar().bits()
    }
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// A register: of 64 bits, or of 32 that are an address in shared memory.
    Reg(VReg),
    /// A variable of the module.
    Global(ir::GlobalId),
    /// A function of the module.
    Func(ir::FuncId),
    /// A parameter of the function itself.
    Param(u32),
    /// The function's return value.
    Return,
    /// The `.local` array of a stack slot.
    Stack(ir::StackSlot),
    /// The `.local` copy of a parameter that is passed by value and whose address is taken.
    Copy(u32),
    /// No base: the offset is the address.
    Absolute,
}

/// One operand of an instruction. Composite operands are a header followed by their parts, so that a list of operands is flat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    /// The register that the instruction writes.
    Def(VReg),
    /// A register that the instruction reads.
    Use(VReg),
    /// The negation of a predicate.
    Not(VReg),
    /// The arithmetic negation of a register.
    Neg(VReg),
    /// A part of a register: `r.h1`.
    Part(VReg, ir::Part),
    /// The register that the instruction writes, by a part of it.
    DefPart(VReg, ir::Part),
    /// A register that the instruction reads and then writes. It must have no other reader of what it held before.
    Update(VReg),
    /// An integer literal.
    Int(i64),
    /// The bits of an `.f32` literal.
    F32(u32),
    /// The bits of an `.f64` literal.
    F64(u64),
    /// A special register.
    Special(ir::Sreg),
    /// `[base + offset]`
    Addr(Base, i64),
    /// The address of a variable, plus an offset, as a value.
    Symbol(Base, i64),
    /// `{a, b, ...}`: the next `n` operands.
    Vector(u8),
    /// `[a, b, ...]`: the next `n` operands, vectors counting as one.
    Bracket(u8),
    /// `d|p`: the next two operands.
    Pair,
    /// `_`
    Sink,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    /// One PTX instruction.
    Ptx(Mnemonic),
    /// A call with its parameter passing, which one of [`Function::prototypes`] describes. Operands: the registers of the result (`Def`),
    /// then those of the arguments (`Use`), one for each of [`Passing::accesses`].
    Call(ir::FuncId, u32),
    /// A call, with its parameter passing, of a function whose address is in a register, the last operand. The index is one of [`Function::prototypes`].
    CallIndirect(u32),
    /// Nothing: its operand, a `Def`, may hold any number.
    Unset,
}

/// An instruction: what it does, its operands and the IR instruction it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// First operand in [`Function::operands`].
    pub first: u32,
    /// Number of operands, headers included.
    pub len: u32,
    /// Where it comes from, for diagnostics and line tables.
    pub origin: Option<ir::Inst>,
}

/// A transfer of control with the values of the target's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The block that runs next.
    pub target: Block,
    /// First argument in [`Function::args`].
    first: u32,
    len: u32,
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Terminator {
    /// Always to one block.
    Jump(Edge),
    /// To `taken` when the predicate (negated if so marked) holds.
    Branch {
        /// The predicate.
        condition: VReg,
        /// Whether its negation decides.
        negated: bool,
        /// Where to when it holds.
        taken: Edge,
        /// Where to otherwise.
        otherwise: Edge,
        /// Whether all threads that come here together go on together.
        uniform: bool,
    },
    /// `brx.idx`: to `targets[index]`; the index is known to be in range.
    Table {
        /// A 32-bit register.
        index: VReg,
        /// First target in [`Function::tables`].
        first: u32,
        /// Number of targets.
        len: u32,
        /// Whether all threads that come here together go on together.
        uniform: bool,
    },
    /// Return; a return value has been stored before.
    Return,
    /// The thread ends with a trap.
    Trap,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// Parameters, a range of [`Function::args`].
    params: Range<u32>,
    /// Instructions, a range of [`Function::insts`].
    pub insts: Range<u32>,
    /// The end, and the IR instruction it comes from.
    pub terminator: Terminator,
    /// The IR instruction that the terminator comes from.
    pub origin: Option<ir::Inst>,
    /// The block is the head of a loop that is to stay one.
    pub nounroll: bool,
}

/// Where a variable of the source is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DebugPlace {
    /// In registers that follow each other, the low part first.
    Registers {
        /// The first of them.
        first: VReg,
        /// How many.
        count: u32,
    },
    /// In a register of 32 bits, with 32 zeros above it.
    LowWord(VReg),
    /// In memory, so many bytes behind the address in a register.
    Memory(VReg, i32),
    /// In memory with a name, so many bytes from its start.
    Symbol(Base, i32),
    /// A constant: its bits.
    Constant(i64),
    /// Nowhere.
    OptimizedOut,
}

/// From here on, a variable of the source is somewhere else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DebugRecord {
    /// The instruction before which it stands, in [`Function::insts`]; the end of the block's range for the terminator.
    pub before: u32,
    /// The variable, and the piece of it.
    pub binding: ir::BindingId,
    /// Where.
    pub place: DebugPlace,
}

/// A selected function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The IR function.
    pub id: ir::FuncId,
    /// Classes of the virtual registers.
    pub vregs: PrimaryMap<VReg, RegClass>,
    /// Blocks, in no particular order.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The order in which blocks are laid out; the first is the entry.
    pub layout: Vec<Block>,
    /// Arena of instructions.
    pub insts: Vec<Inst>,
    /// Arena of operands.
    pub operands: Vec<Operand>,
    /// Arena of block parameters and edge arguments.
    pub args: Vec<VReg>,
    /// Arena of the targets of [`Terminator::Table`].
    pub tables: Vec<Edge>,
    /// Whether it multiplies in the background: a move of accumulators would read what is not there yet.
    pub background: bool,
    /// Virtual registers that no other may share a register with: what goes on in the background reads them, nobody sees how long.
    pub apart: Vec<VReg>,
    /// How calls pass what they pass.
    pub prototypes: Vec<Prototype>,
    /// What is known of the variables of the source, in order.
    pub records: SecondaryMap<Block, Vec<DebugRecord>>,
}

/// How a function passes its parameters and its result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Prototype {
    /// The parameters.
    pub params: Vec<Passing>,
    /// The result.
    pub ret: Option<Passing>,
}

/// The selected functions of a module, in the IR's order; declarations have none.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Bodies.
    pub functions: Vec<Function>,
}

impl Function {
    /// An empty function.
    pub fn new(id: ir::FuncId) -> Self {
        Function {
            id,
            vregs: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            insts: Vec::new(),
            operands: Vec::new(),
            args: Vec::new(),
            tables: Vec::new(),
            background: false,
            apart: Vec::new(),
            prototypes: Vec::new(),
            records: SecondaryMap::new(),
        }
    }

    /// Makes room for so many blocks, and for what so many instructions usually are.
    pub fn reserve(&mut self, blocks: usize, insts: usize) {
        self.blocks.reserve(blocks);
        self.layout.reserve(blocks);
        self.args.reserve(2 * blocks);
        self.vregs.reserve(insts);
        self.insts.reserve(insts);
        self.operands.reserve(3 * insts);
    }

    /// Adds a block that ends in a trap until its terminator is set.
    pub fn add_block(&mut self, params: &[VReg]) -> Block {
        let params = self.add_args(params);
        let terminator = Terminator::Trap;
        self.blocks.push(BlockData { params, insts: 0..0, terminator, origin: None, nounroll: false })
    }

    /// Makes an edge.
    pub fn edge(&mut self, target: Block, args: &[VReg]) -> Edge {
        let range = self.add_args(args);
        Edge { target, first: range.start, len: range.end - range.start }
    }

    fn add_args(&mut self, args: &[VReg]) -> Range<u32> {
        let start = self.args.len() as u32;
        self.args.extend_from_slice(args);
        start..self.args.len() as u32
    }

    /// The parameters of a block.
    pub fn params(&self, block: Block) -> &[VReg] {
        let range = &self.blocks[block].params;
        &self.args[range.start as usize..range.end as usize]
    }

    /// The arguments of an edge, one for each parameter of its target.
    pub fn edge_args(&self, edge: Edge) -> &[VReg] {
        &self.args[edge.first as usize..][..edge.len as usize]
    }

    /// The instructions of a block.
    pub fn block_insts(&self, block: Block) -> &[Inst] {
        let range = &self.blocks[block].insts;
        &self.insts[range.start as usize..range.end as usize]
    }

    /// The operands of an instruction, headers included.
    pub fn inst_operands(&self, inst: &Inst) -> &[Operand] {
        &self.operands[inst.first as usize..][..inst.len as usize]
    }

    /// The edges out of a block, in the order of the terminator.
    pub fn successors(&self, block: Block) -> impl Iterator<Item = Edge> + '_ {
        let (pair, table): ([Option<Edge>; 2], &[Edge]) = match self.blocks[block].terminator {
            Terminator::Jump(edge) => ([Some(edge), None], &[]),
            Terminator::Branch { taken, otherwise, .. } => ([Some(taken), Some(otherwise)], &[]),
            Terminator::Table { first, len, .. } => {
                ([None, None], &self.tables[first as usize..][..len as usize])
            }
            Terminator::Return | Terminator::Trap => ([None, None], &[]),
        };
        pair.into_iter().flatten().chain(table.iter().copied())
    }
}

impl Operand {
    /// The register that is read, if one is.
    pub fn used(self) -> Option<VReg> {
        match self {
            Operand::Use(v)
            | Operand::Not(v)
            | Operand::Neg(v)
            | Operand::Part(v, _)
            | Operand::Update(v)
            | Operand::Addr(Base::Reg(v), _) => Some(v),
            Operand::Def(_)
            | Operand::DefPart(..)
            | Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Addr(..)
            | Operand::Symbol(..)
            | Operand::Vector(_)
            | Operand::Bracket(_)
            | Operand::Pair
            | Operand::Sink => None,
        }
    }

    /// The register that is written, if one is.
    pub fn defined(self) -> Option<VReg> {
        match self {
            Operand::Def(v) | Operand::DefPart(v, _) => Some(v),
            Operand::Use(_)
            | Operand::Not(_)
            | Operand::Neg(_)
            | Operand::Part(..)
            | Operand::Update(_)
            | Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Addr(..)
            | Operand::Symbol(..)
            | Operand::Vector(_)
            | Operand::Bracket(_)
            | Operand::Pair
            | Operand::Sink => None,
        }
    }
}

impl Terminator {
    /// The register that decides where to go.
    pub fn used(self) -> Option<VReg> {
        match self {
            Terminator::Branch { condition, .. } => Some(condition),
            Terminator::Table { index, .. } => Some(index),
            Terminator::Jump(_) | Terminator::Return | Terminator::Trap => None,
        }
    }
}
