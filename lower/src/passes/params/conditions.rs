//! Parameters that are 0 or 1 and of which nothing is asked but that, as flags of C and C++ are: they become conditions, which a branch takes as they are.
//! Outside of loops they may be used as numbers, which they become again there.

use crate::analysis::{Cfg, Loops};
use crate::passes::{insert_before, replace_with};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, Opcode, Type, Value, ValueDef};

/// Flags that are given to other flags, in a row.
const MAX_STEPS: u32 = 8;

/// Choices of choices between flags.
const MAX_CHOICES: u32 = 3;

/// What an edge gives for a flag.
#[derive(Clone, Copy)]
enum Given {
    Constant(bool),
    Condition(Value),
    /// Another flag, if it is one.
    Param(Value),
    /// `select`, by a condition, of two that are given.
    Choice(Inst),
}

/// A parameter that may be a flag, with its place.
type Param = (Block, usize, Value);

/// The flags, and what is done with them.
struct Flags {
    all: EntitySet<Value>,
    /// The results of choices that are given to flags, and the choices.
    choices: EntitySet<Value>,
    chosen: Vec<Inst>,
}

/// Makes conditions of flags, and says of how many.
pub(super) fn run(func: &mut Function, cfg: &Cfg, loops: &Loops) -> u32 {
    let mut params: Vec<Param> = Vec::new();
    for &block in cfg.reverse_postorder().iter().skip(1) {
        for (n, &param) in func.dfg.block_params(block).iter().enumerate() {
            let ty = func.dfg.ty(param);
            if ty.is_int()
                && (2..=64).contains(&ty.bits())
                && all_given(func, cfg, (block, n, param), &|_| true)
            {
                params.push((block, n, param));
            }
        }
    }
    if params.is_empty() {
        return 0;
    }
    let mut in_loop: SecondaryMap<Block, bool> = SecondaryMap::new();
    loops.iter().flat_map(|found| found.blocks).for_each(|&block| in_loop[block] = true);
    if !params.iter().any(|(block, _, _)| in_loop[*block]) {
        // A number that is made of a condition once is as good as one that was made of it before.
        cfg.reverse_postorder().iter().for_each(|&block| in_loop[block] = true);
    }
    let Some(flags) = flags_of(func, cfg, &in_loop, &mut params) else { return 0 };
    let numbers = used_as_numbers(func, cfg, &flags);
    for &(block, n, param) in &params {
        let edges: SmallVec<[(Block, usize); 4]> = cfg.edges(block).collect();
        for (pred, side) in edges {
            let (Some(branch), Some(given)) = (func.terminator(pred), given(func, pred, side, n)) else {
                continue;
            };
            let arg = condition(func, given, branch);
            func.dfg.change_target(branch, side, |call, pool| {
                call.args.as_mut_slice(pool)[n] = arg;
            });
        }
        func.dfg.set_ty(param, Type::I1);
    }
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 16]>>() {
            match question(func, inst, &flags.all) {
                Some((flag, true)) => replace_with(func, inst, flag),
                Some((flag, false)) => {
                    func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Bnot, arg: flag });
                }
                None if is_choice(func, inst, &flags.choices) => func.layout.remove_inst(inst),
                None => {}
            }
        }
    }
    for (inst, n, flag, ty) in numbers {
        let number = insert_before(func, inst, InstData::Unary { op: Opcode::Zext, arg: flag }, ty);
        func.dfg.args_mut(inst)[n] = number;
    }
    params.len() as u32
}

/// The condition that a flag is given as, in front of a branch.
fn condition(func: &mut Function, given: Given, branch: Inst) -> Value {
    match given {
        Given::Constant(holds) => {
            let value = Type::I1.normalize(holds.into());
            insert_before(func, branch, InstData::IntConst { value }, Type::I1)
        }
        Given::Condition(value) | Given::Param(value) => value,
        Given::Choice(inst) => {
            let args = func.dfg.args(inst);
            let (by, chosen) = (args[0], [args[1], args[2]]);
            let [a, b] = chosen.map(|value| match value_given(func, value, 0) {
                Some(given) => condition(func, given, branch),
                None => value,
            });
            insert_before(func, branch, InstData::Ternary { op: Opcode::Select, args: [by, a, b] }, Type::I1)
        }
    }
}

/// Where flags are used as numbers: by which instruction, as which operand, and the type of the number.
fn used_as_numbers(func: &Function, cfg: &Cfg, flags: &Flags) -> Vec<(Inst, usize, Value, Type)> {
    let insts = cfg.reverse_postorder().iter().flat_map(|&block| func.layout.insts(block));
    let others = insts
        .filter(|&inst| question(func, inst, &flags.all).is_none() && !is_choice(func, inst, &flags.choices));
    let operands = others.flat_map(|inst| {
        func.dfg.args(inst).iter().enumerate().map(move |(n, &arg)| (inst, n, func.dfg.resolve(arg)))
    });
    operands
        .filter(|&(_, _, arg)| flags.all.contains(arg))
        .map(|(inst, n, flag)| (inst, n, flag, func.dfg.ty(flag)))
        .collect()
}

/// Leaves of parameters those that are flags, and says which these are.
fn flags_of(
    func: &Function,
    cfg: &Cfg,
    in_loop: &SecondaryMap<Block, bool>,
    params: &mut Vec<Param>,
) -> Option<Flags> {
    for _ in 0..MAX_STEPS {
        if params.is_empty() {
            return None;
        }
        let mut all: EntitySet<Value> = EntitySet::with_capacity(func.dfg.num_values());
        all.extend(params.iter().map(|(_, _, param)| *param));
        let mut flags = Flags { all, choices: EntitySet::new(), chosen: Vec::new() };
        for &(block, n, _) in params.iter() {
            for (pred, side) in cfg.edges(block) {
                flags.add_choices(func, given(func, pred, side, n));
            }
        }
        let (used, asked) = uses(func, cfg, in_loop, &flags);
        let count = params.len();
        params.retain(|&param| {
            let is_flag = |value: Value| {
                (flags.all.contains(value) || flags.choices.contains(value)) && !used.contains(value)
            };
            !used.contains(param.2) && all_given(func, cfg, param, &is_flag)
        });
        if params.len() == count {
            return asked.then_some(flags);
        }
    }
    None
}

/// The flags and choices that are used as numbers where that is not done, and whether anything is asked of flags.
fn uses(
    func: &Function,
    cfg: &Cfg,
    in_loop: &SecondaryMap<Block, bool>,
    flags: &Flags,
) -> (EntitySet<Value>, bool) {
    let mut used: EntitySet<Value> = EntitySet::new();
    let mut asked = false;
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block) {
            let args = || func.dfg.args(inst).iter().map(|&arg| func.dfg.resolve(arg));
            if question(func, inst, &flags.all).is_some() {
                asked = true;
            } else if is_choice(func, inst, &flags.choices) {
                asked |= in_loop[block];
            } else {
                used.extend(
                    args().filter(|&arg| {
                        flags.choices.contains(arg) || flags.all.contains(arg) && in_loop[block]
                    }),
                );
            }
            for (param, arg) in func.dfg.targets(inst).flat_map(|call| func.dfg.given(call)) {
                let arg = func.dfg.resolve(arg);
                if (flags.all.contains(arg) || flags.choices.contains(arg)) && !flags.all.contains(param) {
                    used.insert(arg);
                }
            }
        }
    }
    // What a choice that stays is between stays too.
    for _ in 0..=MAX_CHOICES {
        for &inst in &flags.chosen {
            if func.dfg.first_result(inst).is_some_and(|result| used.contains(result)) {
                used.extend(func.dfg.args(inst).iter().skip(1).map(|&arg| func.dfg.resolve(arg)));
            }
        }
    }
    (used, asked)
}

fn is_choice(func: &Function, inst: Inst, choices: &EntitySet<Value>) -> bool {
    func.dfg.first_result(inst).is_some_and(|result| choices.contains(result))
}

impl Flags {
    /// Notes what is chosen by `select` in what is given.
    fn add_choices(&mut self, func: &Function, given: Option<Given>) {
        if let Some(Given::Choice(inst)) = given
            && let Some(result) = func.dfg.first_result(inst)
            && self.choices.insert(result)
        {
            self.chosen.push(inst);
            for &value in func.dfg.args(inst).iter().skip(1) {
                self.add_choices(func, value_given(func, value, 0));
            }
        }
    }
}

/// Whether all edges give a parameter 0, 1, a condition, another parameter that may be a flag, or a choice of these.
fn all_given(func: &Function, cfg: &Cfg, (block, n, param): Param, is_flag: &impl Fn(Value) -> bool) -> bool {
    let ty = func.dfg.ty(param);
    cfg.edges(block).all(|(pred, side)| is_given(func, given(func, pred, side, n), ty, is_flag))
}

fn is_given(func: &Function, given: Option<Given>, ty: Type, is_flag: &impl Fn(Value) -> bool) -> bool {
    match given {
        Some(Given::Param(other)) => func.dfg.ty(other) == ty && is_flag(other),
        Some(Given::Choice(inst)) => {
            func.dfg.first_result(inst).is_some_and(is_flag)
                && func
                    .dfg
                    .args(inst)
                    .iter()
                    .skip(1)
                    .all(|&value| is_given(func, value_given(func, value, 0), ty, is_flag))
        }
        Some(Given::Constant(_) | Given::Condition(_)) => true,
        None => false,
    }
}

fn given(func: &Function, pred: Block, side: usize, n: usize) -> Option<Given> {
    let arg = func.dfg.target(func.terminator(pred)?, side)?.args(&func.dfg.pool).get(n).copied()?;
    value_given(func, arg, 0)
}

fn value_given(func: &Function, value: Value, depth: u32) -> Option<Given> {
    let value = func.dfg.resolve(value);
    if let Some(constant) = func.dfg.int_const(value) {
        return (constant == 0 || constant == 1).then_some(Given::Constant(constant == 1));
    }
    match func.dfg.def(value) {
        ValueDef::Param(block, _) => (func.layout.entry() != Some(block)).then_some(Given::Param(value)),
        ValueDef::Result(inst, _) => match func.dfg[inst] {
            InstData::Unary { op: Opcode::Zext, arg } if func.dfg.ty(arg) == Type::I1 => {
                Some(Given::Condition(func.dfg.resolve(arg)))
            }
            InstData::Ternary { op: Opcode::Select, args: [by, a, b] } => {
                let given = func.dfg.ty(by) == Type::I1
                    && depth < MAX_CHOICES
                    && [a, b].iter().all(|&value| value_given(func, value, depth + 1).is_some());
                given.then_some(Given::Choice(inst))
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
