//! Addresses from round to round: whether a load of the next round reads what a store of this one writes, `out[i] = out[i - 1] + a[i]`, and that load's
//! address in the first round.
//!
//! Both indices are polynomials of values, modulo the powers of two that their types wrap at. In the next round each parameter of the loop is what this one gives it.

use crate::passes::insert_before;
use crate::passes::polynomial::{Polynomial, Term};
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};

/// How deep an index is looked into.
const MAX_DEPTH: u32 = 8;

/// A loop with one way round.
pub(super) struct Rounds<'f> {
    pub(super) func: &'f Function,
    pub(super) header: Block,
    pub(super) latch: Block,
}

impl Rounds<'_> {
    /// Whether a load reads in the next round what a store writes in this one. Values `outside` the loop do not change.
    pub(super) fn meet(&self, load: Inst, store: Inst, outside: &impl Fn(Value) -> bool) -> bool {
        let (InstData::Load { ptr: from, offset: behind, .. }, InstData::Store { args: [_, to], offset, .. }) =
            (&self.func.dfg[load], &self.func.dfg[store])
        else {
            return false;
        };
        let (Some(from), Some(to)) = (self.element(*from), self.element(*to)) else { return false };
        let between = i64::from(*behind) - i64::from(*offset);
        if from.base != to.base
            || from.scale != to.scale
            || from.ty != to.ty
            || from.extended != to.extended
            || !outside(from.base)
            || between % i64::from(from.scale) != 0
        {
            return false;
        }
        let next = self.polynomial(from.index, Some(outside), MAX_DEPTH);
        let this = self.polynomial(to.index, None::<&fn(Value) -> bool>, MAX_DEPTH);
        let (Some(mut next), Some(this)) = (next, this) else { return false };
        next.add(Term::new(), between / i64::from(from.scale));
        next.settled(from.ty) == this.settled(from.ty)
    }

    /// An address as an element behind a base.
    fn element(&self, ptr: Value) -> Option<Element> {
        let dfg = &self.func.dfg;
        let &InstData::Index { scale, args: [base, index] } = dfg.def_data(dfg.resolve(ptr))? else {
            return None;
        };
        let mut index = dfg.resolve(index);
        let mut extended = None;
        if let Some(&InstData::Unary { op: op @ (Opcode::Sext | Opcode::Zext), arg }) = dfg.def_data(index) {
            (index, extended) = (dfg.resolve(arg), Some(op));
        }
        let ty = dfg.ty(index);
        (scale != 0 && matches!(ty, Type::I32 | Type::I64)).then(|| Element {
            base: dfg.resolve(base),
            scale,
            index,
            ty,
            extended,
        })
    }

    /// A value as a sum of products; with `outside` what it is in the next round.
    fn polynomial(
        &self,
        value: Value,
        outside: Option<&impl Fn(Value) -> bool>,
        depth: u32,
    ) -> Option<Polynomial> {
        let dfg = &self.func.dfg;
        let value = dfg.resolve(value);
        let depth = depth.checked_sub(1)?;
        if let (Some(_), ValueDef::Param(block, n)) = (outside, dfg.def(value))
            && block == self.header
        {
            return self.polynomial(self.given(n as usize)?, None::<&fn(Value) -> bool>, depth);
        }
        let of = |value: Value| self.polynomial(value, outside, depth);
        match dfg.def_data(value) {
            Some(&InstData::IntConst { value }) => Some(Polynomial::constant(value)),
            Some(&InstData::Binary { op: Opcode::Iadd, args: [a, b] }) => of(a)?.plus(&of(b)?, 1),
            Some(&InstData::Binary { op: Opcode::Isub, args: [a, b] }) => of(a)?.plus(&of(b)?, -1),
            Some(&InstData::Binary { op: Opcode::Imul, args: [a, b] }) => of(a)?.times(&of(b)?),
            Some(&InstData::Binary { op: Opcode::Shl, args: [a, by] }) => {
                let by = dfg.int_const(by).filter(|by| (0..31).contains(by))?;
                of(a)?.times(&Polynomial::constant(1 << by))
            }
            _ => outside.is_none_or(|outside| outside(value)).then(|| Polynomial::value(value)),
        }
    }

    /// What the way round gives the n-th parameter.
    fn given(&self, n: usize) -> Option<Value> {
        let dfg = &self.func.dfg;
        let branch = self.func.terminator(self.latch)?;
        let mut calls = dfg.targets(branch).filter(|call| call.block == self.header);
        match (calls.next(), calls.next()) {
            (Some(call), None) => call.args(&dfg.pool).get(n).copied(),
            _ => None,
        }
    }
}

struct Element {
    base: Value,
    scale: i32,
    index: Value,
    ty: Type,
    /// How the index is extended, if it is.
    extended: Option<Opcode>,
}

/// What a value of the loop is in the first round, computed in front of the loop.
pub(super) struct First<'f> {
    pub(super) func: &'f mut Function,
    pub(super) header: Block,
    /// The jump that leads into the loop.
    pub(super) entry: Inst,
    pub(super) made: FxHashMap<Value, Value>,
}

impl First<'_> {
    /// `None` if it is computed by more than sums and products of what the loop is given.
    pub(super) fn of(
        &mut self,
        value: Value,
        outside: &impl Fn(&Function, Value) -> bool,
        depth: u32,
    ) -> Option<Value> {
        let value = self.func.dfg.resolve(value);
        if outside(self.func, value) {
            return Some(value);
        }
        if let Some(&made) = self.made.get(&value) {
            return Some(made);
        }
        let depth = depth.checked_sub(1)?;
        if let ValueDef::Param(block, n) = self.func.dfg.def(value) {
            let call = self.func.dfg.target(self.entry, 0).filter(|_| block == self.header)?;
            return call.args(&self.func.dfg.pool).get(n as usize).copied();
        }
        let ty = self.func.dfg.ty(value);
        let data = match *self.func.dfg.def_data(value)? {
            InstData::IntConst { value } => InstData::IntConst { value },
            InstData::Binary {
                op: op @ (Opcode::Iadd | Opcode::Isub | Opcode::Imul | Opcode::Shl),
                args: [a, b],
            } => {
                let args = [self.of(a, outside, depth)?, self.of(b, outside, depth)?];
                InstData::Binary { op, args }
            }
            InstData::Unary { op: op @ (Opcode::Sext | Opcode::Zext), arg } => {
                InstData::Unary { op, arg: self.of(arg, outside, depth)? }
            }
            InstData::Index { scale, args: [base, index] } => {
                let args = [self.of(base, outside, depth)?, self.of(index, outside, depth)?];
                InstData::Index { scale, args }
            }
            _ => return None,
        };
        let promised = self.func.dfg.def_inst(value).is_some_and(|inst| self.func.dfg.promised(inst));
        let made = insert_before(self.func, self.entry, data, ty);
        // What the first round computes is promised to it, too.
        if let Some(inst) = self.func.dfg.def_inst(made) {
            self.func.dfg.set_promised(inst, promised);
        }
        self.made.insert(value, made);
        Some(made)
    }
}

/// How deep an address is computed again.
pub(super) const MAX_COPIED: u32 = MAX_DEPTH + 2;
