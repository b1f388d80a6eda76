//! Recursion that is a loop: a function that returns what it is called with again jumps to its start instead.
//!
//! What the call gives may be changed on its way back by an operation of integers that does not care how it is grouped (`n * factorial(n - 1)`). That is
//! done on the way there, to one more parameter of the loop, which starts with the number that changes nothing.
//!
//! A function whose memory on the stack is used stays as it is, since each of its calls has its own.

use super::insert_before;
use crate::pass::{ModuleContext, ModulePass};
use warpsmith_ir::{
    Block, BlockCall, FuncId, FuncKind, Function, Inst, InstData, Module, Opcode, Type, Value, ValueList,
};

pub(super) struct Recursion;

impl ModulePass for Recursion {
    fn name(&self) -> &'static str {
        "recursion"
    }

    fn summary(&self) -> &'static str {
        "make loops of functions that end with a call of themselves"
    }

    fn run(&self, module: &mut Module, _: &ModuleContext) -> u32 {
        let functions = module.functions.iter_mut();
        functions.map(|(id, func)| if func.kind == FuncKind::Func { make_loop(func, id) } else { 0 }).sum()
    }
}

/// A call at the end of a block, of which the function returns what it gives, or that and another value.
struct Tail {
    block: Block,
    call: Inst,
    /// The operation that is done to what the call gives, and its other operand.
    then: Option<(Opcode, Value)>,
}

/// Makes jumps of calls. Returns of how many.
fn make_loop(func: &mut Function, id: FuncId) -> u32 {
    let Some(entry) = func.layout.entry() else { return 0 };
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let mut tails: Vec<Tail> = blocks.iter().filter_map(|&block| Tail::of(func, id, block)).collect();
    let by_value = func.params.iter().any(|param| param.byval.is_some());
    if tails.is_empty() || by_value || has_memory(func) {
        return 0;
    }
    // One operation for all; calls followed by another one stay.
    let op = tails.iter().find_map(|tail| tail.then).map(|(op, _)| op);
    tails.retain(|tail| tail.then.is_none_or(|(own, _)| Some(own) == op));
    let start = func.dfg.make_block();
    let params: Vec<Type> = func.dfg.block_params(entry).iter().map(|&param| func.dfg.ty(param)).collect();
    let mut args: Vec<Value> = params.iter().map(|&ty| func.dfg.append_block_param(start, ty)).collect();
    func.layout.append_block(start);
    let order: Vec<Block> = std::iter::once(start).chain(blocks.iter().copied()).collect();
    func.layout.reorder_blocks(&order);
    let sum = op.zip(func.ret.first().copied()).map(|(op, ty)| {
        let neutral = func.dfg.make_inst(InstData::IntConst { value: neutral(op) }, &[ty]);
        func.layout.append_inst(neutral, start);
        args.extend(func.dfg.first_result(neutral));
        func.dfg.append_block_param(entry, ty)
    });
    append_jump(func, start, entry, &args);
    for tail in &tails {
        go_on(func, entry, tail, sum);
    }
    if let (Some(op), Some(sum)) = (op, sum) {
        let tails: Vec<Block> = tails.iter().map(|tail| tail.block).collect();
        for block in blocks.into_iter().filter(|block| !tails.contains(block)) {
            return_with(func, block, op, sum);
        }
    }
    tails.len() as u32
}

/// Replaces a call by a jump to the start.
fn go_on(func: &mut Function, entry: Block, tail: &Tail, sum: Option<Value>) {
    let InstData::Call { args, .. } = &func.dfg[tail.call] else { return };
    let mut args: Vec<Value> = args.as_slice(&func.dfg.pool).to_vec();
    let Some(end) = func.terminator(tail.block) else { return };
    // What is done to what the call gives is between them.
    while let Some(inst) = func.layout.next_inst(tail.call).filter(|&inst| inst != end) {
        func.layout.remove_inst(inst);
    }
    if let Some(sum) = sum {
        args.push(match tail.then {
            Some((op, with)) => {
                let ty = func.dfg.ty(sum);
                insert_before(func, end, InstData::Binary { op, args: [sum, with] }, ty)
            }
            None => sum,
        });
    }
    func.layout.remove_inst(tail.call);
    func.layout.remove_inst(end);
    let jump = append_jump(func, tail.block, entry, &args);
    func.spans[jump] = func.spans[tail.call];
    func.inst_locs[jump] = func.inst_locs[tail.call];
}

/// Has a return give what it did and the sum.
fn return_with(func: &mut Function, block: Block, op: Opcode, sum: Value) {
    let Some(end) = func.terminator(block) else { return };
    let InstData::Return { args } = &func.dfg[end] else { return };
    let Some(&value) = args.as_slice(&func.dfg.pool).first() else { return };
    let ty = func.dfg.ty(sum);
    let all = insert_before(func, end, InstData::Binary { op, args: [sum, value] }, ty);
    let args = ValueList::from_slice(&[all], &mut func.dfg.pool);
    func.dfg.replace_inst(end, InstData::Return { args });
}

fn append_jump(func: &mut Function, from: Block, to: Block, args: &[Value]) -> Inst {
    let args = ValueList::from_slice(args, &mut func.dfg.pool);
    let jump = func.dfg.make_inst(InstData::Jump { dest: BlockCall { block: to, args } }, &[]);
    func.layout.append_inst(jump, from);
    jump
}

fn has_memory(func: &Function) -> bool {
    let mut insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    insts.any(|inst| matches!(func.dfg[inst], InstData::StackAddr { .. }))
}

impl Tail {
    fn of(func: &Function, id: FuncId, block: Block) -> Option<Tail> {
        let returned = returned(func, block)?;
        let end = func.terminator(block)?;
        let mut insts = func.layout.insts(block).rev().filter(|&inst| inst != end);
        let last = insts.next()?;
        let is_call = |inst: Inst| matches!(func.dfg[inst], InstData::Call { callee, .. } if callee == id);
        if is_call(last) {
            let results = func.dfg.results(last).into_iter();
            return returned.iter().copied().eq(results).then_some(Tail { block, call: last, then: None });
        }
        // An operation of what the call gives and something else.
        let call = insts.next().filter(|&inst| is_call(inst))?;
        let InstData::Binary { op, args: [a, b] } = func.dfg[last] else { return None };
        let given = func.dfg.first_result(call)?;
        let (a, b) = (func.dfg.resolve(a), func.dfg.resolve(b));
        let with = if a == given { b } else { a };
        let fits = (a == given) != (b == given) && is_groupless(op) && is_number(func.dfg.ty(given));
        let alone = returned.len() == 1
            && func.dfg.results(call).len() == 1
            && func.dfg.first_result(last) == Some(returned[0]);
        (fits && alone).then_some(Tail { block, call, then: Some((op, with)) })
    }
}

/// What a function returns behind a block, itself or by a jump to one that does nothing else.
fn returned(func: &Function, block: Block) -> Option<Vec<Value>> {
    let end = func.terminator(block)?;
    match &func.dfg[end] {
        InstData::Return { args } => {
            Some(args.as_slice(&func.dfg.pool).iter().map(|&value| func.dfg.resolve(value)).collect())
        }
        InstData::Jump { dest } => {
            let end = func.terminator(dest.block)?;
            let InstData::Return { args } = &func.dfg[end] else { return None };
            if func.layout.first_inst(dest.block) != Some(end) {
                return None;
            }
            let params = func.dfg.block_params(dest.block);
            let given = dest.args.as_slice(&func.dfg.pool);
            let value = |&value: &Value| {
                let value = func.dfg.resolve(value);
                let n = params.iter().position(|&param| param == value);
                func.dfg.resolve(n.and_then(|n| given.get(n).copied()).unwrap_or(value))
            };
            Some(args.as_slice(&func.dfg.pool).iter().map(value).collect())
        }
        _ => None,
    }
}

fn is_number(ty: Type) -> bool {
    ty.is_int() && !ty.is_vector()
}

/// Whether it does not matter in which order an operation is done to many numbers.
fn is_groupless(op: Opcode) -> bool {
    matches!(op, Opcode::Iadd | Opcode::Imul | Opcode::Band | Opcode::Bor | Opcode::Bxor)
}

/// The number that an operation leaves others as they are with.
fn neutral(op: Opcode) -> i64 {
    match op {
        Opcode::Imul => 1,
        Opcode::Band => -1,
        _ => 0,
    }
}
