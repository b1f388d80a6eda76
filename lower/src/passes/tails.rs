//! What all ways to a block end with is done once, in it: `if (c) p[i] = a + b; else p[i] = a - b;` stores once, after which the ways are small enough to
//! become selections. Threads that parted do it together, and no way becomes longer.
//!
//! Where the ways differ in an operand, the block gets that as a parameter: as many at most as the results that it no longer gets, and for a store its
//! value: `c ? a[i] : b[i]` is one load, of one of two addresses. Convergent operations stay: those of two blocks are two.
//!
//! Where only some of the ways end alike, as behind `if (i >= n) return;`, they meet in a block of their own first.

use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstBuilder, InstData, Opcode, Type, Value};

/// Ways to a block that end alike.
const MAX_WAYS: usize = 4;
/// Ways to a block that are compared.
const MAX_JOINED: usize = 16;
/// Instructions that one block takes over.
const MAX_SUNK: usize = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let cfg = cx.analyses.get::<Cfg>(func);
    let mut order: SecondaryMap<Block, u32> = SecondaryMap::new();
    cfg.reverse_postorder().iter().zip(0..).for_each(|(&block, n)| order[block] = n);
    let (mut changes, mut made) = (0, 0);
    let mut moved: EntitySet<Value> = EntitySet::new();
    for &block in cfg.reverse_postorder() {
        let preds = cfg.predecessors(block);
        // Not what the rounds of a loop end with: that is not what it starts with.
        let joins = |&pred: &Block| {
            order[pred] < order[block]
                && func.terminator(pred).is_some_and(|end| matches!(func.dfg[end], InstData::Jump { .. }))
        };
        let mut ways: SmallVec<[Block; MAX_WAYS]> =
            preds.iter().copied().filter(joins).take(MAX_JOINED).collect();
        while let Some(alike) = ending_alike(func, &ways, block) {
            ways.retain(|way| !alike.contains(way));
            let at = if alike.len() == preds.len() {
                block
            } else {
                made += 1;
                met_in_front(func, &alike, block)
            };
            for _ in 0..MAX_SUNK {
                let Some(tail) = Tail::of(func, &alike, at) else { break };
                moved.extend(tail.insts.iter().filter_map(|&inst| func.dfg.first_result(inst)));
                tail.sink(func, at);
                changes += 1;
            }
        }
    }
    if changes > 0 {
        if func.debug.is_some() {
            super::sink::unbind(func, &cx.analyses.get::<DominatorTree>(func), &moved);
        }
        func.dfg.resolve_aliases();
    }
    if made > 0 { Changes::to_all(changes) } else { Changes::to_instructions(changes) }
}

/// Some ways to a block that end with the same, two or more.
fn ending_alike(func: &Function, ways: &[Block], block: Block) -> Option<SmallVec<[Block; MAX_WAYS]>> {
    (0..ways.len()).find_map(|n| {
        let mut alike: SmallVec<[Block; MAX_WAYS]> = SmallVec::new();
        for &way in &ways[n..] {
            alike.push(way);
            if alike.len() > MAX_WAYS || alike.len() > 1 && Tail::of(func, &alike, block).is_none() {
                alike.pop();
            }
        }
        (alike.len() > 1).then_some(alike)
    })
}

/// Sends ways to a block through a new one.
fn met_in_front(func: &mut Function, ways: &[Block], block: Block) -> Block {
    let between = func.dfg.make_block();
    let types: SmallVec<[Type; 4]> =
        func.dfg.block_params(block).iter().map(|&param| func.dfg.ty(param)).collect();
    let passed: SmallVec<[Value; 4]> =
        types.into_iter().map(|ty| func.dfg.append_block_param(between, ty)).collect();
    func.layout.insert_block_after(between, ways[ways.len() - 1]);
    for jump in ways.iter().filter_map(|&way| func.terminator(way)).collect::<SmallVec<[Inst; MAX_WAYS]>>() {
        func.dfg.for_each_target_mut(jump, |call, _| call.block = between);
    }
    func.at_end(between).jump(block, &passed);
    between
}

/// An operand of what the ways end with.
enum Operand {
    /// The same on all ways.
    Same(Value),
    /// A constant, which each way has for itself.
    Constant(i64, Type),
    /// A parameter that the block has.
    Known(Value),
    /// What each way has, to be given as a parameter.
    Differs(SmallVec<[Value; MAX_WAYS]>),
}

/// What all ways to a block end with.
struct Tail {
    insts: SmallVec<[Inst; MAX_WAYS]>,
    jumps: SmallVec<[Inst; MAX_WAYS]>,
    operands: SmallVec<[Operand; 3]>,
    /// Which parameters of the block are the result.
    given: SmallVec<[usize; 2]>,
}

impl Tail {
    fn of(func: &Function, preds: &[Block], block: Block) -> Option<Tail> {
        let mut insts: SmallVec<[Inst; MAX_WAYS]> = SmallVec::new();
        let mut jumps: SmallVec<[Inst; MAX_WAYS]> = SmallVec::new();
        let mut args: SmallVec<[SmallVec<[Value; 8]>; MAX_WAYS]> = SmallVec::new();
        for &pred in preds {
            let jump = func.terminator(pred)?;
            let is_constant =
                |inst| matches!(func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. });
            insts.push(func.layout.insts(pred).rev().skip(1).find(|&inst| !is_constant(inst))?);
            jumps.push(jump);
            let call = func.dfg.targets(jump).next()?;
            args.push(call.args(&func.dfg.pool).iter().map(|&arg| func.dfg.resolve(arg)).collect());
        }
        let &first = insts.first()?;
        if !insts.iter().all(|&inst| alike(func, first, inst)) {
            return None;
        }
        let is_store = matches!(func.dfg[first], InstData::Store { .. });
        let places = |n: usize| -> SmallVec<[usize; 2]> {
            let result = func.dfg.first_result(insts[n]);
            (0..args[n].len()).filter(|&at| result == Some(args[n][at])).collect()
        };
        let given = places(0);
        if given.is_empty() != is_store || (1..insts.len()).any(|n| places(n) != given) {
            return None;
        }
        let params = func.dfg.block_params(block);
        let mut operands: SmallVec<[Operand; 3]> = SmallVec::new();
        let mut added = 0;
        for n in 0..func.dfg.args(first).len() {
            let values: SmallVec<[Value; MAX_WAYS]> =
                insts.iter().map(|&inst| func.dfg.resolve(func.dfg.args(inst)[n])).collect();
            let ty = func.dfg.ty(values[0]);
            let constant = func.dfg.int_const(values[0]).filter(|_| ty.bits() <= 64);
            let known = (0..params.len())
                .find(|&at| args.iter().zip(&values).all(|(args, value)| args[at] == *value));
            operands.push(if values.iter().all(|value| *value == values[0]) {
                Operand::Same(values[0])
            } else if let Some(constant) =
                constant.filter(|_| values.iter().all(|&value| func.dfg.int_const(value) == constant))
            {
                Operand::Constant(constant, ty)
            } else if let Some(at) = known {
                Operand::Known(params[at])
            } else if ty == Type::I1 || ty.is_vector() || ty.is_aggregate() || is_store && n > 0 {
                return None;
            } else {
                added += 1;
                Operand::Differs(values)
            });
        }
        (added <= given.len().max(usize::from(is_store))).then_some(Tail { insts, jumps, operands, given })
    }

    fn sink(self, func: &mut Function, block: Block) {
        let kept = self.insts[0];
        let promised = self.insts.iter().all(|&inst| func.dfg.promised(inst));
        self.insts.iter().for_each(|&inst| func.layout.remove_inst(inst));
        func.layout.prepend_inst(kept, block);
        func.dfg.set_promised(kept, promised);
        for (n, operand) in self.operands.into_iter().enumerate() {
            func.dfg.args_mut(kept)[n] = match operand {
                Operand::Same(value) | Operand::Known(value) => value,
                Operand::Constant(value, ty) => {
                    let made = func.dfg.make_inst(InstData::IntConst { value }, &[ty]);
                    func.layout.prepend_inst(made, block);
                    func.dfg.results(made).first()
                }
                Operand::Differs(values) => {
                    let param = func.dfg.append_block_param(block, func.dfg.ty(values[0]));
                    for (&jump, value) in self.jumps.iter().zip(values) {
                        func.dfg.for_each_target_mut(jump, |call, pool| _ = call.args.push(value, pool));
                    }
                    param
                }
            };
        }
        let Some(result) = func.dfg.first_result(kept) else { return };
        for &n in self.given.iter().rev() {
            let param = func.dfg.block_params(block)[n];
            super::take_over_name(func, param, result);
            func.dfg.remove_block_param(block, n);
            func.dfg.replace_value(param, result);
            for &jump in &self.jumps {
                func.dfg.for_each_target_mut(jump, |call, pool| call.args.remove(n, pool));
            }
        }
    }
}

/// Whether two instructions do the same, with operands of the same types.
fn alike(func: &Function, a: Inst, b: Inst) -> bool {
    let same = match (&func.dfg[a], &func.dfg[b]) {
        (InstData::Unary { op: a, .. }, InstData::Unary { op: b, .. }) => a == b && computes(*a),
        (InstData::Binary { op: a, .. }, InstData::Binary { op: b, .. })
        | (InstData::Ternary { op: a, .. }, InstData::Ternary { op: b, .. }) => a == b,
        (InstData::IntCompare { cond: a, .. }, InstData::IntCompare { cond: b, .. }) => a == b,
        (InstData::FloatCompare { cond: a, .. }, InstData::FloatCompare { cond: b, .. }) => a == b,
        (
            InstData::Store { flags: a, offset: from_a, .. },
            InstData::Store { flags: b, offset: from_b, .. },
        )
        | (
            InstData::Load { flags: a, offset: from_a, .. },
            InstData::Load { flags: b, offset: from_b, .. },
        ) => a == b && from_a == from_b && !a.volatile,
        _ => false,
    };
    let types = |inst: Inst| func.dfg.args(inst).iter().map(|&arg| func.dfg.ty(arg));
    let result = |inst: Inst| func.dfg.first_result(inst).map(|value| func.dfg.ty(value));
    same && types(a).eq(types(b)) && result(a) == result(b)
}

/// Whether an operation computes something: what only gives its operand another type is better seen where it is.
fn computes(op: Opcode) -> bool {
    !matches!(op, Opcode::Bitcast | Opcode::Ptrtoint | Opcode::Inttoptr | Opcode::Addrspacecast)
}
