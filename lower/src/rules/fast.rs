//! The rules that flags of operations on floats allow, in front of legalisation, which makes use of the flags that are left and drops them.

use super::engine::{self, Facts, Index};
use super::known::KnownBits;
use super::matching;
use crate::fold::Constant;
use cranelift_entity::SecondaryMap;
use std::borrow::Cow;
use warpsmith_ir::{Attr, FastMath, Function, Inst, InstData, Module, Opcode, Traits};

/// Sweeps over a function; rules make operations smaller, so that few are needed.
const MAX_SWEEPS: u32 = 3;

/// The module with the rules applied that the flags of its operations allow.
pub fn fast_math(mut module: Cow<'_, Module>) -> Cow<'_, Module> {
    if module.functions.values().any(has_flags) {
        module.to_mut().functions.values_mut().filter(|func| has_flags(func)).for_each(function);
    }
    module
}

fn has_flags(func: &Function) -> bool {
    let mut insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    insts.any(|inst| allows_more(func, inst))
}

fn allows_more(func: &Function, inst: Inst) -> bool {
    matches!(&func.dfg[inst], InstData::List { attr: Attr::Float(mode), .. } if mode.fast != FastMath::NONE)
}

fn function(func: &mut Function) {
    let order: Vec<_> = func.layout.blocks().collect();
    for _ in 0..MAX_SWEEPS {
        let mut uses: SecondaryMap<_, u8> = SecondaryMap::new();
        for &block in &order {
            for inst in func.layout.insts(block) {
                for value in func.dfg.uses(inst) {
                    let uses = &mut uses[func.dfg.resolve(value)];
                    *uses = uses.saturating_add(1);
                }
            }
        }
        let mut known = KnownBits::default();
        let mut changed = false;
        for &block in &order {
            let mut next = func.layout.first_inst(block);
            while let Some(inst) = next {
                next = func.layout.next_inst(inst);
                if !allows_more(func, inst) {
                    continue;
                }
                func.dfg.resolve_uses(inst);
                constants_last(func, inst);
                let mut facts = Facts { known: &mut known, uses: &uses, demanded: None };
                if let Some(rewrite) = engine::find(&Index::FAST, &func.dfg, inst, &mut facts) {
                    rewrite.commit(func, inst, |_| {});
                    changed = true;
                }
            }
        }
        func.dfg.resolve_aliases();
        if !changed {
            break;
        }
    }
}

/// Rules have the constants of commutative operations on the right.
fn constants_last(func: &mut Function, inst: Inst) {
    let op = func.dfg.opcode(inst);
    if !op.traits().contains(Traits::COMMUTATIVE) && op != Opcode::Fma {
        return;
    }
    let is_constant = |n: usize| {
        let arg = func.dfg.args(inst).get(n).copied();
        matches!(arg.and_then(|arg| matching::constant(&func.dfg, arg)), Some(Constant::Float(_)))
    };
    if is_constant(0) && !is_constant(1) {
        func.dfg.args_mut(inst).swap(0, 1);
    }
}
