//! The block in front of both loops, which decides which of them begins.

use super::super::insert_before;
use super::{Counter, Plan, Step};
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, Opcode, Type, Value};

/// Steps that are only known when the program runs are below this, so that several of them do not wrap.
const MAX_STEP: i64 = 1 << 24;

/// The block in front of both loops.
pub(super) struct Guard {
    pub block: Block,
    pub params: Vec<Value>,
    /// What the unrolled loop compares the next counters with.
    pub limits: SmallVec<[Value; 1]>,
    /// Whether the unrolled loop can run; `None` if it always does.
    pub cond: Option<Value>,
    pub end: Inst,
}

impl Plan {
    /// Makes the block in front of both loops, which computes the limit of the unrolled one.
    pub(super) fn guard(&self, func: &mut Function, at: Block) -> Guard {
        let block = func.dfg.make_block();
        func.layout.insert_block_after(block, at);
        let params: Vec<Value> = func
            .dfg
            .block_params(self.header)
            .to_vec()
            .into_iter()
            .map(|param| func.dfg.append_block_param(block, func.dfg.ty(param)))
            .collect();
        let end = func.dfg.make_inst(InstData::Trap, &[]);
        func.layout.append_inst(end, block);
        func.inst_locs[end] =
            func.terminator(self.before).map(|inst| func.inst_locs[inst]).unwrap_or_default();
        let (mut limits, mut conds) = (SmallVec::new(), None);
        for counter in &self.counters {
            let (limit, cond) = counter.reach(func, end, params[counter.param], self.rounds, self.exact);
            limits.push(limit);
            conds = both(func, end, conds, cond);
        }
        Guard { block, params, limits, cond: conds, end }
    }
}

impl Counter {
    /// What the next counter is compared with after so many rounds in one, and whether they can run from a start.
    fn reach(
        &self,
        func: &mut Function,
        end: Inst,
        start: Value,
        rounds: usize,
        exact: bool,
    ) -> (Value, Option<Value>) {
        let (bound, fits) = self.narrow_bound(func, end, start);
        let (limit, cond) = match self.step {
            _ if exact => (bound, None),
            Step::Constant(step) if self.cond == IntCC::Ne => {
                last_multiple(func, end, [start, bound], step, rounds as i64)
            }
            Step::Constant(_) | Step::Value(_) => self.limit(func, end, [start, bound], rounds as i64 - 1),
        };
        (limit, both(func, end, fits, cond))
    }

    /// The bound in the type of the counter, and whether it is a number of that type, where its own is wider.
    fn narrow_bound(&self, func: &mut Function, end: Inst, start: Value) -> (Value, Option<Value>) {
        let Some(op) = self.widened else { return (self.bound, None) };
        let (narrow, wide) = (func.dfg.ty(start), func.dfg.ty(self.bound));
        let bound = insert_before(func, end, InstData::Unary { op: Opcode::Trunc, arg: self.bound }, narrow);
        let again = insert_before(func, end, InstData::Unary { op, arg: bound }, wide);
        let fits = InstData::IntCompare { cond: IntCC::Eq, args: [again, self.bound] };
        (bound, Some(insert_before(func, end, fits, Type::I1)))
    }

    /// The bound less the steps between the rounds in one, and whether the loop can run to it from a start.
    fn limit(
        &self,
        func: &mut Function,
        end: Inst,
        [start, bound]: [Value; 2],
        between: i64,
    ) -> (Value, Option<Value>) {
        let ty = func.dfg.ty(bound);
        let binary =
            |func: &mut Function, op, args| insert_before(func, end, InstData::Binary { op, args }, ty);
        let compare = |func: &mut Function, cond, args| {
            insert_before(func, end, InstData::IntCompare { cond, args }, Type::I1)
        };
        let mut known = None;
        let limit = match self.step {
            Step::Constant(step) => {
                let back = constant(func, end, distance(ty), step.wrapping_mul(between).wrapping_neg());
                binary(func, sum(ty), [bound, back])
            }
            Step::Value(step) => {
                // From 1 to the most.
                let one = constant(func, end, ty, -1);
                let less = binary(func, Opcode::Iadd, [step, one]);
                let most = constant(func, end, ty, MAX_STEP);
                known = Some(compare(func, IntCC::Ult, [less, most]));
                let between = constant(func, end, ty, between);
                let ahead = binary(func, Opcode::Imul, [step, between]);
                binary(func, Opcode::Isub, [bound, ahead])
            }
        };
        // The limit lies before the bound if it has not wrapped.
        let before = match self.cond {
            IntCC::Slt | IntCC::Sle => IntCC::Slt,
            IntCC::Sgt | IntCC::Sge => IntCC::Sgt,
            IntCC::Ugt | IntCC::Uge => IntCC::Ugt,
            IntCC::Ult | IntCC::Ule | IntCC::Eq | IntCC::Ne => IntCC::Ult,
        };
        let safe = compare(func, before, [limit, bound]);
        let enough = compare(func, self.cond, [start, limit]);
        let cond = both(func, end, Some(safe), Some(enough));
        (limit, both(func, end, cond, known))
    }
}

/// Where a loop that counts to its bound by a fixed step is after the most rounds that can be done several at a time, and whether there are any.
/// Distances are unsigned, so that it does not matter where the counter wraps; one that the step does not divide leads past the bound as it did.
fn last_multiple(
    func: &mut Function,
    end: Inst,
    [start, bound]: [Value; 2],
    step: i64,
    rounds: i64,
) -> (Value, Option<Value>) {
    let ty = func.dfg.ty(bound);
    let distance = distance(ty);
    let binary =
        |func: &mut Function, op, args, ty| insert_before(func, end, InstData::Binary { op, args }, ty);
    let number = |func: &mut Function, value| match ty.is_ptr() {
        true => insert_before(func, end, InstData::Unary { op: Opcode::Ptrtoint, arg: value }, distance),
        false => value,
    };
    let (from, to) = (number(func, start), number(func, bound));
    let ends = if step > 0 { [to, from] } else { [from, to] };
    let left = binary(func, Opcode::Isub, ends, distance);
    let rounds = constant(func, end, distance, rounds * step.abs());
    let rest = binary(func, Opcode::Urem, [left, rounds], distance);
    let limit = if step > 0 {
        let zero = constant(func, end, distance, 0);
        let back = binary(func, Opcode::Isub, [zero, rest], distance);
        binary(func, sum(ty), [bound, back], ty)
    } else {
        binary(func, sum(ty), [bound, rest], ty)
    };
    let enough = InstData::IntCompare { cond: IntCC::Uge, args: [left, rounds] };
    (limit, Some(insert_before(func, end, enough, Type::I1)))
}

/// What adds a distance to a counter, which may be an address.
pub(super) fn sum(ty: Type) -> Opcode {
    if ty.is_ptr() { Opcode::Ptradd } else { Opcode::Iadd }
}

/// The type of distances between counters.
pub(super) fn distance(ty: Type) -> Type {
    if ty.is_ptr() { Type::I64 } else { ty }
}

/// Two conditions that must hold both, where there are two.
fn both(func: &mut Function, before: Inst, a: Option<Value>, b: Option<Value>) -> Option<Value> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let and = InstData::Binary { op: Opcode::Band, args: [a, b] };
            Some(insert_before(func, before, and, Type::I1))
        }
        (a, b) => a.or(b),
    }
}

fn constant(func: &mut Function, before: Inst, ty: Type, value: i64) -> Value {
    insert_before(func, before, InstData::IntConst { value: ty.normalize(value) }, ty)
}
