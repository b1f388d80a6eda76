//! Whether the generic pointers that a kernel reads from memory are all of global memory.
//!
//! Shared, local and parameter memory is gone when a kernel ends, so an address there that a kernel reads was written by it. Where it writes none
//! and no variable begins with one, what it reads is what the host or an earlier kernel wrote: addresses of global memory, which those of
//! `cudaMalloc` and of `cudaGetSymbolAddress` are. Constant memory stays, and another kernel of the module may have written where a variable of it is: in
//! a module with such variables nothing is said.

use super::{Space, Spaces, accessed_by};
use crate::analysis::Cfg;
use crate::pass::{Context, Signature};
use cranelift_entity::PrimaryMap;
use warpsmith_ir::{
    FuncId, FuncKind, Function, Global, Inst, InstData, Linkage, Opcode, SYSTEM_FUNCTIONS, Symbol, Type,
    Value,
};
use warpsmith_isa::{Opcode as Ptx, StateSpace};

/// Whether it is worth asking: a kernel that reads pointers, in a module without constant memory whose variables begin with none but those to global memory.
pub(super) fn may_be_global(func: &Function, cfg: &Cfg, cx: &Context<'_>) -> bool {
    let mut insts = cfg.reverse_postorder().iter().flat_map(|&block| func.layout.insts(block));
    func.kind == FuncKind::Kernel
        && !cx.globals.values().any(|global| has_others(global, cx))
        && insts.any(|inst| {
            func.dfg
                .first_result(inst)
                .is_some_and(|result| func.dfg.ty(result) == Type::PTR && is_loaded(func, result))
        })
}

/// Whether a generic pointer is read from memory, as it is or as a number.
pub(super) fn is_loaded(func: &Function, pointer: Value) -> bool {
    match func.dfg.def_data(pointer) {
        Some(InstData::Load { .. } | InstData::List { op: Opcode::AtomicLoad | Opcode::AtomicRmw, .. }) => {
            true
        }
        Some(&InstData::Unary { op: Opcode::Inttoptr, arg }) => {
            matches!(func.dfg.def_data(arg), Some(InstData::Load { .. }))
        }
        _ => false,
    }
}

/// Whether a variable is in constant memory, or may begin with an address of something outside of global memory: nobody knows what another module's does.
fn has_others(global: &Global, cx: &Context<'_>) -> bool {
    let is_other = |target: Symbol| match target {
        Symbol::Global(target) => cx.globals[target].space != StateSpace::Global,
        Symbol::Func(_) => false,
    };
    let is_constant = global.space == StateSpace::Const && global.handle.is_none();
    let is_elsewhere = global.linkage == Linkage::Extern && global.space == StateSpace::Global;
    is_constant || is_elsewhere || global.relocs.iter().any(|reloc| reloc.generic && is_other(reloc.target))
}

/// Whether a kernel may write the address of something outside of global memory, or have it written.
pub(super) fn writes_others(func: &Function, cfg: &Cfg, spaces: &Spaces, cx: &Context<'_>) -> bool {
    let mut insts = cfg.reverse_postorder().iter().flat_map(|&block| func.layout.insts(block));
    insts.any(|inst| {
        makes_others(func, inst, cx.signatures)
            || func.dfg.args(inst).iter().enumerate().any(|(n, &arg)| {
                func.dfg.ty(arg) == Type::PTR
                    && !matches!(spaces[arg], Space::Null | Space::One(Type::PTR_GLOBAL))
                    && !keeps(func, inst, n, cx.signatures)
            })
    })
}

/// Whether an instruction may write such an address by itself, or make one of something else than a pointer.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else makes a generic address but from a pointer")]
fn makes_others(func: &Function, inst: Inst, signatures: &PrimaryMap<FuncId, Signature>) -> bool {
    match &func.dfg[inst] {
        InstData::Call { callee, .. } => !is_system(&signatures[*callee]),
        InstData::CallIndirect { .. } => true,
        InstData::Ptx { data, .. } => {
            matches!(func.dfg.ptx[*data].mnemonic().opcode(), Ptx::Mapa | Ptx::Cvta)
        }
        _ => false,
    }
}

/// Whether an instruction leaves its n-th operand, a pointer, where it is: it accesses memory there, compares it, or makes another pointer of it, which is
/// looked at itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "whatever else is given a pointer may write it")]
fn keeps(func: &Function, inst: Inst, n: usize, signatures: &PrimaryMap<FuncId, Signature>) -> bool {
    match &func.dfg[inst] {
        InstData::Load { .. } | InstData::IntCompare { .. } | InstData::MemBlock { .. } => true,
        InstData::Index { .. } | InstData::Ternary { op: Opcode::Select, .. } => true,
        InstData::Binary { op: Opcode::Ptradd, .. } | InstData::Unary { op: Opcode::Addrspacecast, .. } => {
            true
        }
        InstData::Jump { .. } | InstData::Brif { .. } | InstData::Switch { .. } => true,
        InstData::Store { .. } | InstData::List { op: Opcode::AtomicStore, .. } => n == 1,
        InstData::List { op: Opcode::AtomicLoad | Opcode::AtomicRmw | Opcode::Cmpxchg, .. } => n == 0,
        InstData::Ptx { data, .. } => {
            let data = &func.dfg.ptx[*data];
            let only_asks = matches!(data.mnemonic().opcode(), Ptx::Isspacep | Ptx::CvtaTo);
            only_asks || accessed_by(data) == Some(n)
        }
        InstData::Call { callee, .. } => is_system(&signatures[*callee]),
        _ => false,
    }
}

/// Whether a function is the driver's, which keep no pointer that they are given.
fn is_system(callee: &Signature) -> bool {
    callee.linkage == Linkage::Extern && SYSTEM_FUNCTIONS.contains(&callee.name.as_str())
}
