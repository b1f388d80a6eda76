//! Loads of memory that nothing writes while a kernel runs: through a parameter that is `noalias`, of a kernel that writes nothing through it. They
//! go through the cache for such (`ld.global.nc`), and do not wait for stores.

use crate::analysis::{Effect, Object, Pointers};
use crate::pass::{Changes, Context};
use warpsmith_ir::{FuncKind, Function, Inst, InstData, Type};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let promised = |n: usize| func.params[n].attrs.noalias && func.params[n].ty.is_ptr();
    if func.kind != FuncKind::Kernel || !(0..func.params.len()).any(promised) {
        return Changes::NONE;
    }
    let pointers = cx.analyses.get::<Pointers>(func);
    let mut kept: Vec<bool> = (0..func.params.len()).map(promised).collect();
    let insts: Vec<Inst> = func.layout.blocks().flat_map(|block| func.layout.insts(block)).collect();
    for &inst in &insts {
        for written in written(func, &pointers, inst) {
            match written {
                Object::Param(n) => kept.get_mut(n as usize).into_iter().for_each(|kept| *kept = false),
                Object::Unknown | Object::Unseen => return Changes::NONE,
                Object::Slot(_) | Object::Global(_) => {}
            }
        }
    }
    let mut changes = 0;
    for inst in insts {
        let InstData::Load { mut flags, offset, ptr } = func.dfg[inst] else { continue };
        if let Object::Param(n) = pointers.of(ptr).object
            && kept.get(n as usize) == Some(&true)
            && func.dfg.ty(ptr) == Type::PTR_GLOBAL
            && !flags.volatile
            && !flags.invariant
        {
            flags.invariant = true;
            func.dfg.replace_inst(inst, InstData::Load { flags, offset, ptr });
            changes += 1;
        }
    }
    Changes::to_instructions(changes)
}

/// What an instruction may write, or pass on to others who may.
fn written(func: &Function, pointers: &Pointers, inst: Inst) -> Vec<Object> {
    let dfg = &func.dfg;
    let object = |value| pointers.of(value).object;
    let pointers_among = |args: &[warpsmith_ir::Value]| -> Vec<Object> {
        args.iter().filter(|arg| dfg.ty(**arg).is_ptr()).map(|&arg| object(arg)).collect()
    };
    match &dfg[inst] {
        &InstData::Store { args: [value, ptr], .. } => {
            let mut all = vec![object(ptr)];
            all.extend(pointers_among(&[value]));
            all
        }
        // Where the address goes from there nobody knows.
        InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::Unary { op: warpsmith_ir::Opcode::Ptrtoint, .. }
        | InstData::MemBlock { .. }
        | InstData::List { .. }
        | InstData::Ptx { .. } => match pointers.effect(func, inst) {
            Effect::None if !matches!(dfg[inst], InstData::Unary { .. } | InstData::Ptx { .. }) => Vec::new(),
            Effect::None | Effect::Reads(_) | Effect::Writes(_) | Effect::ReadsAll | Effect::All => {
                pointers_among(dfg.args(inst))
            }
        },
        _ => Vec::new(),
    }
}
