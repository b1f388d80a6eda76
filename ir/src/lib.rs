//! Typed SSA for GPU kernels: entities, builder, text form, verifier. `docs/ir.md` is the specification.
//!
//! - [`Module`], [`Function`], [`DataFlowGraph`], [`Layout`], [`InstData`]: the data. References are small indices
//!   ([`Value`], [`Block`], [`Inst`], ...); blocks take parameters, there are no phis.
//! - [`Opcode`] and [`OpInfo`]: the core operations, one table; [`PtxData`] and [`Sreg`]: operations derived from the ISA tables.
//!   [`Class`] groups the operations by operands, for exhaustive tables.
//! - [`FunctionBuilder`] and [`InstBuilder`]: building, with variables that become SSA values. Passes create instructions with
//!   [`Function::at_end`], [`Function::before`] and [`Function::replace`].
//! - [`parse`] and `Display`: the text form. [`verify`]: all errors of a module.
//! - [`c_layout`]: structs, unions and bit fields with C's layout.
//! - [`debug`]: types, scopes and variables of the source, for debuggers.
//! - [`DominatorTree`]: the dominators of blocks.
//!
//! ```
//! let text = "func @square(%x: i32) -> i32 {\nentry:\n  %r = imul %x, %x\n  ret %r\n}\n";
//! let module = warpsmith_ir::parse_module(text).unwrap();
//! warpsmith_ir::verify(&module).unwrap();
//! assert_eq!(module.to_string(), text);
//!
//! // Every error has a code, a position and often a hint.
//! let errors = warpsmith_ir::parse_module("func @f() {\nentry:\n  retn\n}\n").unwrap_err();
//! assert_eq!(errors[0].notes, ["did you mean `ret`?"]);
//! ```

#![forbid(unsafe_code)]
// The table of operations is sorted into classes a row at a time.
#![recursion_limit = "512"]
#![deny(clippy::wildcard_enum_match_arm)]

pub mod aggregate;
mod arg;
mod attr;
mod builder;
pub mod c_layout;
mod classes;
pub mod codes;
mod compact;
pub mod debug;
mod dfg;
mod domtree;
mod effects;
mod entities;
mod float_mode;
mod format;
mod function;
mod ins;
mod inst;
mod layout;
mod lexer;
mod literal;
pub mod meaning;
mod module;
mod names;
mod ops;
pub mod parallel;
mod parse;
mod print;
pub mod printf;
mod ptx;
pub mod same;
#[cfg(feature = "sample")]
pub mod sample;
pub mod spelling;
mod symbols;
mod types;
mod verify;
mod words;

pub use aggregate::TypeTable;
pub use arg::{AddressBase, PtxArg, PtxArgs, at, at_offset, braces, bracket, negative, not, part, tensor};
pub use attr::{Attr, AttrKind, Promise};
pub use builder::{Cases, FuncIns, FunctionBuilder, ReadBeforeSet};
pub use classes::{
    Class, Conversion, FloatBinary, FloatUnary, IntBinary, IntUnary, ListOp, Overflow, PointerBinary,
    PointerUnary, Ternary,
};
pub use compact::Compacted;
pub use cranelift_entity::{self as entity, EntityRef};
pub use dfg::{DataFlowGraph, Results, ValueDef};
pub use domtree::DominatorTree;
pub use effects::{AtomicOp, MemoryMode, MemoryOrder, MemoryScope, ShuffleKind, VoteKind};
pub use entities::{
    AggregateId, BindingId, Block, DebugTypeId, DebugVar, FileId, FuncId, GlobalId, Inst, JumpTable, Loc,
    Path, PtxRef, ScopeId, StackSlot, SubprogramId, UnitId, Value, Variable,
};
pub use float_mode::{FastMath, FloatMode, FloatRounding};
pub use format::format;
pub use function::{
    Attrs, FuncKind, Function, Inline, Linkage, LocData, LoopHint, Param, ParamAttrs, StackSlotData,
};
pub use ins::{Ins, InstBuilder, Replace};
pub use inst::{BlockCall, InstData, JumpTableData, MemFlags, ValueList, ValuePool};
pub use layout::Layout;
pub use module::{Extent, FileStamp, Global, Module, Reloc, Symbol};
pub use names::{Named, Names};
pub use ops::{FloatCC, IntCC, OpInfo, Opcode, OperandRule, ResultRule, Shape, Traits, TypeSet};
pub use parse::{Parsed, parse, parse_module};
pub use print::FunctionDisplay;
pub use ptx::{
    Destination, Part, PtxData, PtxOperand, PtxSpans, ResultTypes, Sreg, accumulators, control_flow,
    destinations, takes_byte_registers,
};
pub use symbols::SYSTEM_FUNCTIONS;
pub use types::{OddWidth, Scalar, Type};
pub use verify::verify;
pub use warpsmith_isa::{Mnemonic, mnemonic};
