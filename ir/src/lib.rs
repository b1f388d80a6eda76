//! Typed SSA for GPU kernels: entities, builder, text form, verifier.

mod builder;
mod dfg;
mod domtree;
mod entities;
mod function;
#[cfg(any(test, feature = "arbitrary"))]
pub mod generate;
mod ins;
mod inst;
mod layout;
mod lexer;
mod literal;
mod module;
mod names;
mod ops;
mod parse;
mod print;
mod ptx;
#[cfg(test)]
mod same;
mod suggest;
mod types;
mod verify;

pub use builder::{FuncIns, FunctionBuilder};
pub use cranelift_entity::{self as entity, EntityRef};
pub use dfg::{DataFlowGraph, Results, ValueDef};
pub use domtree::DominatorTree;
pub use entities::{
    Block, FileId, FuncId, GlobalId, Inst, JumpTable, Loc, PtxRef, StackSlot, Value, Variable,
};
pub use function::{Attrs, FuncKind, Function, Linkage, LocData, Param, StackSlotData};
pub use ins::{Ins, InstBuilder, Replace};
pub use inst::{BlockCall, InstData, JumpTableData, MemFlags, ValueList, ValuePool};
pub use layout::Layout;
pub use module::{Extent, Global, Module, Symbol};
pub use names::{Named, Names};
pub use ops::{FloatCC, IntCC, OpInfo, Opcode, OperandRule, ResultRule, Shape, Traits, TypeSet};
pub use parse::{Parsed, parse, parse_module};
pub use print::FunctionDisplay;
pub use ptx::{PtxData, PtxOperand, ResultTypes, Sreg};
pub use types::{Scalar, Type};
pub use verify::verify;
pub use warpsmith_isa::Mnemonic;
pub use warpsmith_isa::diagnostic::{Diagnostic, LineIndex, Severity, Span};
