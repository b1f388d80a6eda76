//! Addresses from round to round: whether a load of the next round reads what a store of this one writes, `out[i] = out[i - 1] + a[i]`, and that load's
//! address in the first round.
//!
//! Both indices are polynomials of values, modulo the powers of two that their types wrap at. In the next round each parameter of the loop is what this one gives it.

use crate::passes::insert_before;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};

/// Terms of an index, and factors of each.
const MAX_TERMS: usize = 8;
const MAX_FACTORS: usize = 3;
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

type Term = SmallVec<[Value; MAX_FACTORS]>;

/// A sum of products of values, each with a number, in order.
#[derive(Clone, PartialEq, Eq, Default)]
struct Polynomial(SmallVec<[(Term, i64); 4]>);

impl Polynomial {
    fn constant(number: i64) -> Polynomial {
        Polynomial([(Term::new(), number)].into_iter().collect())
    }

    fn value(value: Value) -> Polynomial {
        Polynomial([(Term::from_slice(&[value]), 1)].into_iter().collect())
    }

    fn add(&mut self, term: Term, number: i64) {
        match self.0.iter_mut().find(|(own, _)| *own == term) {
            Some((_, own)) => *own = own.wrapping_add(number),
            None => self.0.push((term, number)),
        }
    }

    fn plus(mut self, other: &Polynomial, sign: i64) -> Option<Polynomial> {
        for (term, number) in &other.0 {
            self.add(term.clone(), number.wrapping_mul(sign));
        }
        (self.0.len() <= MAX_TERMS).then_some(self)
    }

    fn times(self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (a, m) in &self.0 {
            for (b, n) in &other.0 {
                let mut term: Term = a.iter().chain(b).copied().collect();
                term.sort_unstable();
                if term.len() > MAX_FACTORS {
                    return None;
                }
                product.add(term, m.wrapping_mul(*n));
            }
        }
        (product.0.len() <= MAX_TERMS).then_some(product)
    }

    /// With numbers as a type has them, without those of 0, in order.
    fn settled(mut self, ty: Type) -> Polynomial {
        self.0.iter_mut().for_each(|(_, number)| *number = ty.normalize(*number));
        self.0.retain(|(_, number)| *number != 0);
        self.0.sort_unstable();
        self
    }
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
        let data = match self.func.dfg.def_data(value)? {
            &InstData::IntConst { value } => InstData::IntConst { value },
            &InstData::Binary {
                op: op @ (Opcode::Iadd | Opcode::Isub | Opcode::Imul | Opcode::Shl),
                args: [a, b],
            } => {
                let args = [self.of(a, outside, depth)?, self.of(b, outside, depth)?];
                InstData::Binary { op, args }
            }
            &InstData::Unary { op: op @ (Opcode::Sext | Opcode::Zext), arg } => {
                InstData::Unary { op, arg: self.of(arg, outside, depth)? }
            }
            &InstData::Index { scale, args: [base, index] } => {
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
