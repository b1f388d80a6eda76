//! Instructions: a compact enum with one variant a shape, longer lists in pools of the function.

use crate::attr::Attr;
use crate::entities::{Block, FuncId, GlobalId, JumpTable, Path, PtxRef, StackSlot, Value};
use crate::ops::{FloatCC, IntCC, Opcode};
use crate::ptx::Sreg;
use crate::types::Type;
use cranelift_entity::{EntityList, ListPool, PrimaryMap};

/// A list of values in the pool of a [`DataFlowGraph`](crate::DataFlowGraph).
pub type ValueList = EntityList<Value>;

/// The pool that holds [`ValueList`]s.
pub type ValuePool = ListPool<Value>;

/// A branch target with the arguments for its parameters.
#[derive(Clone, Debug)]
pub struct BlockCall {
    /// The target.
    pub block: Block,
    /// One value a parameter.
    pub args: ValueList,
}

impl BlockCall {
    /// A target with arguments.
    pub fn new(block: Block, args: &[Value], pool: &mut ValuePool) -> Self {
        BlockCall { block, args: ValueList::from_slice(args, pool) }
    }

    /// The arguments.
    #[inline]
    pub fn args<'a>(&self, pool: &'a ValuePool) -> &'a [Value] {
        self.args.as_slice(pool)
    }
}

/// How a `load` or `store` accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct MemFlags {
    /// Executed exactly as written, never merged or removed.
    pub volatile: bool,
    /// (Loads.) No thread writes the memory while the kernel runs.
    pub invariant: bool,
    /// Log2 of the alignment plus one; 0 denotes the natural alignment of the type.
    align: u8,
}

impl MemFlags {
    /// A plain access at the type's natural alignment.
    pub const PLAIN: MemFlags = MemFlags { volatile: false, invariant: false, align: 0 };

    /// The access with an alignment that the address is known to have. `None` unless it is a power of two up to 2^31.
    pub const fn with_align(self, bytes: u32) -> Option<MemFlags> {
        if !bytes.is_power_of_two() {
            return None;
        }
        Some(MemFlags { align: bytes.trailing_zeros() as u8 + 1, ..self })
    }

    /// The alignment as written.
    pub const fn explicit_align(self) -> Option<u32> {
        if self.align == 0 { None } else { Some(1 << (self.align - 1)) }
    }

    /// The alignment of an access of this type: as written, else the type's size rounded up to a power of two.
    pub const fn align(self, ty: Type) -> u32 {
        match (self.explicit_align(), ty.bytes()) {
            (Some(align), _) => align,
            (None, Some(bytes)) => bytes.next_power_of_two(),
            (None, None) => 1,
        }
    }
}

/// The targets of a `switch`.
#[derive(Clone, Debug)]
pub struct JumpTableData {
    /// Where values without a case go.
    pub default: BlockCall,
    /// The cases as written, each value in the form of [`Type::normalize`].
    pub cases: Vec<(i64, BlockCall)>,
}

/// An instruction. Results are not part of it: [`DataFlowGraph::results`](crate::DataFlowGraph::results).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum InstData {
    /// `iconst.T value`; the value is in the form of [`Type::normalize`].
    IntConst { value: i64 },
    /// `fconst.T`: the bits of the value, zero-extended.
    FloatConst { bits: u64 },
    /// [`Shape::Unary`](crate::Shape::Unary) and [`Shape::Convert`](crate::Shape::Convert).
    Unary { op: Opcode, arg: Value },
    /// Two operands.
    Binary { op: Opcode, args: [Value; 2] },
    /// Three operands: `select`, `fma`.
    Ternary { op: Opcode, args: [Value; 3] },
    /// `icmp`
    IntCompare { cond: IntCC, args: [Value; 2] },
    /// `fcmp`
    FloatCompare { cond: FloatCC, args: [Value; 2] },
    /// `load.T ptr + offset`
    Load { flags: MemFlags, offset: i32, ptr: Value },
    /// `store value, ptr + offset`; operands are `[value, ptr]`.
    Store { flags: MemFlags, offset: i32, args: [Value; 2] },
    /// `index ptr, i, scale`; operands are `[ptr, i]`.
    Index { scale: i32, args: [Value; 2] },
    /// `stack_addr slot + offset`
    StackAddr { slot: StackSlot, offset: i32 },
    /// `global_addr @global + offset`
    GlobalAddr { global: GlobalId, offset: i32 },
    /// `func_addr @func`
    FuncAddr { func: FuncId },
    /// `vec a, b, ...`
    Vec { args: ValueList },
    /// `extract vector, lane`
    Extract { lane: u8, arg: Value },
    /// `insert vector, element, lane`
    Insert { lane: u8, args: [Value; 2] },
    /// `zero.T`
    Zero,
    /// `aggregate.T a, b, ...`
    Aggregate { args: ValueList },
    /// `extract_value.T aggregate, path`
    ExtractValue { path: Path, arg: Value },
    /// `insert_value aggregate, part, path`; operands are `[aggregate, part]`.
    InsertValue { path: Path, args: [Value; 2] },
    /// `memcpy to, from, size`, `memmove to, from, size`, `memset to, byte, size`. The alignment in `flags` is that of the address that is written to,
    /// that in `source` of the one that is read, if one is.
    MemBlock { op: Opcode, flags: MemFlags, source: MemFlags, args: [Value; 3] },
    /// `sreg.name`
    Sreg { reg: Sreg },
    /// `call @callee(args)`
    Call { callee: FuncId, args: ValueList },
    /// `call_indirect callee(args)`; operands are `[callee, args..]`.
    CallIndirect { args: ValueList },
    /// `ptx.mnemonic operands`: the values among the operands, in order, are `args`.
    Ptx { data: PtxRef, args: ValueList },
    /// `jump block(args)`
    Jump { dest: BlockCall },
    /// `brif cond, then(args), else(args)`
    Brif { cond: Value, dests: [BlockCall; 2] },
    /// `switch value, default(args), [case: block(args), ...]`
    Switch { arg: Value, table: JumpTable },
    /// `ret` or `ret value`
    Return { args: ValueList },
    /// `trap`
    Trap,
    /// [`Shape::List`](crate::Shape::List): what is regular but for an [`Attr`], a fourth operand or a second result.
    List { op: Opcode, attr: Attr, args: ValueList },
}

/// The jump tables of a function.
type JumpTables = PrimaryMap<JumpTable, JumpTableData>;

impl InstData {
    /// An integer constant by its bits, those above the type's width cut off.
    pub fn int_const(ty: Type, bits: u128) -> InstData {
        let unused = 128u32.saturating_sub(ty.bits()).min(127);
        let value = (bits << unused) as i128 >> unused;
        match i64::try_from(value) {
            Ok(value) => InstData::IntConst { value: ty.normalize(value) },
            Err(_) => {
                let bits = bits << unused >> unused;
                InstData::List { op: Opcode::Iconst, attr: Attr::Wide(bits.into()), args: ValueList::new() }
            }
        }
    }

    /// True for what leads on to other blocks.
    #[inline]
    pub(crate) fn is_branch(&self) -> bool {
        matches!(self, InstData::Jump { .. } | InstData::Brif { .. } | InstData::Switch { .. })
    }

    /// The targets of a terminator in order: those before the cases, then the cases. None for others.
    #[inline]
    pub(crate) fn targets<'a>(&'a self, tables: &'a JumpTables) -> (&'a [BlockCall], &'a [(i64, BlockCall)]) {
        match self {
            InstData::Jump { dest } => (std::slice::from_ref(dest), &[]),
            InstData::Brif { dests, .. } => (dests, &[]),
            // A table that does not exist is the verifier's to report.
            InstData::Switch { table, .. } => tables
                .get(*table)
                .map_or((&[], &[]), |table| (std::slice::from_ref(&table.default), &table.cases)),
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::Index { .. }
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Vec { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::Zero
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::Sreg { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Ptx { .. }
            | InstData::Return { .. }
            | InstData::List { .. }
            | InstData::Trap => (&[], &[]),
        }
    }

    /// [`InstData::targets`], to be changed.
    pub(crate) fn targets_mut<'a>(
        &'a mut self,
        tables: &'a mut JumpTables,
    ) -> (&'a mut [BlockCall], &'a mut [(i64, BlockCall)]) {
        match self {
            InstData::Jump { dest } => (std::slice::from_mut(dest), &mut []),
            InstData::Brif { dests, .. } => (dests, &mut []),
            InstData::Switch { table, .. } => match tables.get_mut(*table) {
                Some(table) => (std::slice::from_mut(&mut table.default), &mut table.cases),
                None => (&mut [], &mut []),
            },
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::Index { .. }
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Vec { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::Zero
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::Sreg { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Ptx { .. }
            | InstData::Return { .. }
            | InstData::List { .. }
            | InstData::Trap => (&mut [], &mut []),
        }
    }

    /// The operation.
    #[inline]
    pub fn opcode(&self) -> Opcode {
        match *self {
            InstData::Unary { op, .. }
            | InstData::Binary { op, .. }
            | InstData::Ternary { op, .. }
            | InstData::List { op, .. }
            | InstData::MemBlock { op, .. } => op,
            InstData::IntConst { .. } => Opcode::Iconst,
            InstData::FloatConst { .. } => Opcode::Fconst,
            InstData::IntCompare { .. } => Opcode::Icmp,
            InstData::FloatCompare { .. } => Opcode::Fcmp,
            InstData::Load { .. } => Opcode::Load,
            InstData::Store { .. } => Opcode::Store,
            InstData::Index { .. } => Opcode::Index,
            InstData::StackAddr { .. } => Opcode::StackAddr,
            InstData::GlobalAddr { .. } => Opcode::GlobalAddr,
            InstData::FuncAddr { .. } => Opcode::FuncAddr,
            InstData::Vec { .. } => Opcode::Vec,
            InstData::Extract { .. } => Opcode::Extract,
            InstData::Insert { .. } => Opcode::Insert,
            InstData::Zero => Opcode::Zero,
            InstData::Aggregate { .. } => Opcode::Aggregate,
            InstData::ExtractValue { .. } => Opcode::ExtractValue,
            InstData::InsertValue { .. } => Opcode::InsertValue,
            InstData::Sreg { .. } => Opcode::Sreg,
            InstData::Call { .. } => Opcode::Call,
            InstData::CallIndirect { .. } => Opcode::CallIndirect,
            InstData::Ptx { .. } => Opcode::Ptx,
            InstData::Jump { .. } => Opcode::Jump,
            InstData::Brif { .. } => Opcode::Brif,
            InstData::Switch { .. } => Opcode::Switch,
            InstData::Return { .. } => Opcode::Ret,
            InstData::Trap => Opcode::Trap,
        }
    }

    /// The operands, without the arguments of branch targets.
    #[inline]
    pub fn args<'a>(&'a self, pool: &'a ValuePool) -> &'a [Value] {
        match self {
            InstData::Unary { arg, .. }
            | InstData::Extract { arg, .. }
            | InstData::ExtractValue { arg, .. }
            | InstData::Load { ptr: arg, .. }
            | InstData::Brif { cond: arg, .. }
            | InstData::Switch { arg, .. } => std::slice::from_ref(arg),
            InstData::Binary { args, .. }
            | InstData::IntCompare { args, .. }
            | InstData::FloatCompare { args, .. }
            | InstData::Store { args, .. }
            | InstData::Index { args, .. }
            | InstData::Insert { args, .. }
            | InstData::InsertValue { args, .. } => args,
            InstData::Ternary { args, .. } | InstData::MemBlock { args, .. } => args,
            InstData::Vec { args }
            | InstData::Aggregate { args }
            | InstData::Call { args, .. }
            | InstData::CallIndirect { args }
            | InstData::Ptx { args, .. }
            | InstData::List { args, .. }
            | InstData::Return { args } => args.as_slice(pool),
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Zero
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Sreg { .. }
            | InstData::Jump { .. }
            | InstData::Trap => &[],
        }
    }

    /// The operands, to be changed.
    #[inline]
    pub fn args_mut<'a>(&'a mut self, pool: &'a mut ValuePool) -> &'a mut [Value] {
        match self {
            InstData::Unary { arg, .. }
            | InstData::Extract { arg, .. }
            | InstData::ExtractValue { arg, .. }
            | InstData::Load { ptr: arg, .. }
            | InstData::Brif { cond: arg, .. }
            | InstData::Switch { arg, .. } => std::slice::from_mut(arg),
            InstData::Binary { args, .. }
            | InstData::IntCompare { args, .. }
            | InstData::FloatCompare { args, .. }
            | InstData::Store { args, .. }
            | InstData::Index { args, .. }
            | InstData::Insert { args, .. }
            | InstData::InsertValue { args, .. } => args,
            InstData::Ternary { args, .. } | InstData::MemBlock { args, .. } => args,
            InstData::Vec { args }
            | InstData::Aggregate { args }
            | InstData::Call { args, .. }
            | InstData::CallIndirect { args }
            | InstData::Ptx { args, .. }
            | InstData::List { args, .. }
            | InstData::Return { args } => args.as_mut_slice(pool),
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Zero
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Sreg { .. }
            | InstData::Jump { .. }
            | InstData::Trap => &mut [],
        }
    }
}
