//! Parameters that are 0 or 1 and of which nothing is asked but that, as flags of C and C++ are: they become conditions, which a branch takes as they are.

use crate::analysis::Cfg;
use crate::passes::{insert_before, replace_with};
use cranelift_entity::EntitySet;
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, Opcode, Type, Value, ValueDef};

/// Flags that are given to other flags, in a row.
const MAX_STEPS: u32 = 8;

/// What an edge gives for a flag.
#[derive(Clone, Copy)]
enum Given {
    Constant(bool),
    Condition(Value),
    /// Another flag, if it is one.
    Param(Value),
}

/// A parameter that may be a flag, with its place.
type Param = (Block, usize, Value);

/// Makes conditions of flags, and says of how many.
pub(super) fn run(func: &mut Function, cfg: &Cfg) -> u32 {
    let mut params: Vec<Param> = Vec::new();
    for &block in cfg.reverse_postorder().iter().skip(1) {
        for (n, &param) in func.dfg.block_params(block).iter().enumerate() {
            let ty = func.dfg.ty(param);
            if ty.is_int()
                && (2..=64).contains(&ty.bits())
                && all_given(func, cfg, (block, n, param), |_| true)
            {
                params.push((block, n, param));
            }
        }
    }
    let Some(flags) = flags_of(func, cfg, &mut params) else { return 0 };
    for &(block, n, param) in &params {
        let edges: SmallVec<[(Block, usize); 4]> = cfg.edges(block).collect();
        for (pred, side) in edges {
            let (Some(branch), Some(given)) = (func.terminator(pred), given(func, pred, side, n)) else {
                continue;
            };
            let arg = match given {
                Given::Constant(holds) => {
                    let value = Type::I1.normalize(holds.into());
                    insert_before(func, branch, InstData::IntConst { value }, Type::I1)
                }
                Given::Condition(value) | Given::Param(value) => value,
            };
            func.dfg.change_target(branch, side, |call, pool| {
                call.args.as_mut_slice(pool)[n] = arg;
            });
        }
        func.dfg.set_ty(param, Type::I1);
    }
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 16]>>() {
            match question(func, inst, &flags) {
                Some((flag, true)) => replace_with(func, inst, flag),
                Some((flag, false)) => {
                    func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Bnot, arg: flag });
                }
                None => {}
            }
        }
    }
    params.len() as u32
}

/// Leaves of parameters those that are flags, and says which these are.
fn flags_of(func: &Function, cfg: &Cfg, params: &mut Vec<Param>) -> Option<EntitySet<Value>> {
    for _ in 0..MAX_STEPS {
        if params.is_empty() {
            return None;
        }
        let mut flags: EntitySet<Value> = EntitySet::with_capacity(func.dfg.num_values());
        flags.extend(params.iter().map(|(_, _, param)| *param));
        let mut asked: EntitySet<Value> = EntitySet::new();
        let mut used: EntitySet<Value> = EntitySet::new();
        for &block in cfg.reverse_postorder() {
            for inst in func.layout.insts(block) {
                match question(func, inst, &flags) {
                    Some((flag, _)) => _ = asked.insert(flag),
                    None => used.extend(
                        func.dfg
                            .args(inst)
                            .iter()
                            .map(|&arg| func.dfg.resolve(arg))
                            .filter(|&arg| flags.contains(arg)),
                    ),
                }
                for (param, arg) in func.dfg.targets(inst).flat_map(|call| func.dfg.given(call)) {
                    let arg = func.dfg.resolve(arg);
                    if flags.contains(arg) && !flags.contains(param) {
                        used.insert(arg);
                    }
                }
            }
        }
        let count = params.len();
        params.retain(|&param| {
            !used.contains(param.2) && all_given(func, cfg, param, |other| flags.contains(other))
        });
        if params.len() == count {
            return (!asked.is_empty()).then_some(flags);
        }
    }
    None
}

/// Whether all edges give a parameter 0, 1, a condition or another parameter that may be a flag.
fn all_given(func: &Function, cfg: &Cfg, (block, n, param): Param, is_flag: impl Fn(Value) -> bool) -> bool {
    let ty = func.dfg.ty(param);
    cfg.edges(block).all(|(pred, side)| match given(func, pred, side, n) {
        Some(Given::Param(other)) => func.dfg.ty(other) == ty && is_flag(other),
        Some(Given::Constant(_) | Given::Condition(_)) => true,
        None => false,
    })
}

fn given(func: &Function, pred: Block, side: usize, n: usize) -> Option<Given> {
    let arg = func.dfg.target(func.terminator(pred)?, side)?.args(&func.dfg.pool).get(n).copied()?;
    let arg = func.dfg.resolve(arg);
    if let Some(constant) = func.dfg.int_const(arg) {
        return (constant == 0 || constant == 1).then_some(Given::Constant(constant == 1));
    }
    match func.dfg.def(arg) {
        ValueDef::Param(block, _) => (func.layout.entry() != Some(block)).then_some(Given::Param(arg)),
        ValueDef::Result(inst, _) => match func.dfg[inst] {
            InstData::Unary { op: Opcode::Zext, arg } if func.dfg.ty(arg) == Type::I1 => {
                Some(Given::Condition(func.dfg.resolve(arg)))
            }
            _ => None,
        },
        ValueDef::Alias(_) | ValueDef::Detached => None,
    }
}

/// The flag that an instruction asks about, and whether its result is the flag or the opposite.
fn question(func: &Function, inst: Inst, flags: &EntitySet<Value>) -> Option<(Value, bool)> {
    let flag = |value: Value| Some(func.dfg.resolve(value)).filter(|&value| flags.contains(value));
    match func.dfg[inst] {
        InstData::Unary { op: Opcode::Trunc, arg } => {
            let is_condition =
                func.dfg.first_result(inst).is_some_and(|result| func.dfg.ty(result) == Type::I1);
            Some((flag(arg).filter(|_| is_condition)?, true))
        }
        InstData::IntCompare { cond: cond @ (IntCC::Eq | IntCC::Ne), args: [a, b] } => {
            let holds = match func.dfg.int_const(b)? {
                0 => cond == IntCC::Ne,
                1 => cond == IntCC::Eq,
                _ => return None,
            };
            Some((flag(a)?, holds))
        }
        _ => None,
    }
}
