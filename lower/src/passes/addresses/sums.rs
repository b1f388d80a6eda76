//! Sums of a block as polynomials of values. One whose terms cancel, as `i % n - 1 + i / n * n`, is what is left of them; and one that differs from
//! an earlier one by a value or a constant is that one and the difference: the neighbours `(i - 1) * m + j * n + k` and `(i - 1) * m + (j + 1) * n + k`
//! of a stencil. Sums that take one operation stay.

use super::{Uses, insert_before};
use crate::passes::polynomial::Polynomial;
use crate::passes::replace_with;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value};

/// Operations that a sum is expanded through.
const MAX_OPERATIONS: u32 = 24;
/// Earlier sums with the same products that one is compared with.
const MAX_EARLIER: usize = 8;

/// Rewrites the sums of all blocks, and says how many.
pub(super) fn run(func: &mut Function, uses: &Uses) -> u32 {
    let mut changes = 0;
    for block in func.layout.blocks().collect::<Vec<Block>>() {
        let Some(last) = last_to_shorten(func, block, uses) else { continue };
        let mut earlier: FxHashMap<Polynomial, SmallVec<[Member; MAX_EARLIER]>> = FxHashMap::default();
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst).filter(|_| inst != last);
            let Some((value, ty)) = uses.root(func, inst, is_sum) else { continue };
            let mut sum = Expansion {
                func,
                block,
                uses,
                exact: func.dfg.no_signed_wrap(inst),
                left: MAX_OPERATIONS,
                own: 0,
            };
            let Some(polynomial) = sum.of(value, true) else { continue };
            let (own, exact) = (sum.own, sum.exact);
            let member = Member { value, polynomial: polynomial.settled(ty), exact };
            let products = member.polynomial.products();
            let like = earlier.entry(products).or_default();
            let nothing = Member { value, polynomial: Polynomial::default(), exact: true };
            let shorter = |before: &Member| {
                let rest = member.polynomial.clone().plus(&before.polynomial, -1)?.settled(ty);
                let to_sum = !before.polynomial.0.is_empty();
                // An equal one may be promised what this one is not.
                let promises = func.dfg.def_inst(before.value).is_some_and(|inst| func.dfg.promised(inst));
                // Where a sum might wrap, what is known of its terms may still show that it does not, and an address has them as they are.
                let fits =
                    if rest.0.is_empty() { exact || !promises } else { !to_sum || exact && before.exact };
                Rest::of(&rest).filter(|rest| fits && rest.operations(to_sum) < own)
            };
            // A term that others need stays in the sum: the constants of both may be offsets of one address.
            let found = match shorter(&nothing).filter(|_| own > 1) {
                Some(rest) => Some((None, rest)),
                None => like.iter().rev().find_map(|before| Some((Some(before), shorter(before)?))),
            };
            if let Some((before, rest)) = found {
                let exact = exact && before.is_none_or(|before| before.exact);
                let base = before.map(|before| before.value);
                if rest.add_to(func, inst, base, ty, exact) {
                    changes += 1;
                }
            }
            if like.len() == MAX_EARLIER {
                like.remove(0);
            }
            like.push(member);
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    changes
}

/// The last sum of a block that another operation is part of: where there is none, nothing gets shorter.
fn last_to_shorten(func: &Function, block: Block, uses: &Uses) -> Option<Inst> {
    let is_part = |value: &Value| {
        let value = func.dfg.resolve(*value);
        let op = func.dfg.def_data(value).map(InstData::opcode);
        uses[value].0 == 1 && matches!(op, Some(op) if is_sum(op) || op == Opcode::Imul)
    };
    let is_long =
        |&inst: &Inst| uses.root(func, inst, is_sum).is_some() && func.dfg.args(inst).iter().any(is_part);
    func.layout.insts(block).rfind(is_long)
}

fn is_sum(op: Opcode) -> bool {
    matches!(op, Opcode::Iadd | Opcode::Isub)
}

struct Member {
    value: Value,
    polynomial: Polynomial,
    /// Whether nothing in it wraps.
    exact: bool,
}

/// A sum that is expanded.
struct Expansion<'f> {
    func: &'f Function,
    block: Block,
    uses: &'f Uses,
    /// Whether the sum is promised not to wrap: it is expanded through what is, too.
    exact: bool,
    /// Operations that it may still be expanded through.
    left: u32,
    /// Operations of the block that nothing else needs.
    own: u32,
}

impl Expansion<'_> {
    /// A value as a polynomial; `alone` if nothing but the sum needs it.
    fn of(&mut self, value: Value, alone: bool) -> Option<Polynomial> {
        let dfg = &self.func.dfg;
        let value = dfg.resolve(value);
        let data = dfg.def_data(value);
        if let Some(&InstData::IntConst { value }) = data {
            return Some(Polynomial::constant(value));
        }
        let (
            Some(inst),
            Some(&InstData::Binary { op: op @ (Opcode::Iadd | Opcode::Isub | Opcode::Imul), args: [a, b] }),
        ) = (dfg.def_inst(value), data)
        else {
            return Some(Polynomial::value(value));
        };
        let promised = dfg.no_signed_wrap(inst);
        if !promised && self.exact {
            // What wraps is a number like any other.
            return Some(Polynomial::value(value));
        }
        self.left = self.left.checked_sub(1)?;
        let alone = alone && self.func.layout.block_of(inst) == Some(self.block);
        self.own += u32::from(alone);
        let [a, b] = [a, b].map(|arg| (arg, alone && self.uses[dfg.resolve(arg)].0 == 1));
        let (a, b) = (self.of(a.0, a.1)?, self.of(b.0, b.1)?);
        match op {
            Opcode::Imul => a.times(&b),
            Opcode::Isub => a.plus(&b, -1),
            _ => a.plus(&b, 1),
        }
    }
}

/// A difference of two sums.
struct Rest {
    /// A value that is added, or taken away.
    value: Option<(Value, bool)>,
    constant: i64,
}

impl Rest {
    /// `None` for products, and for more than one value.
    fn of(polynomial: &Polynomial) -> Option<Rest> {
        let mut rest = Rest { value: None, constant: 0 };
        for (term, number) in &polynomial.0 {
            match (&term[..], *number) {
                ([], number) => rest.constant = number,
                (&[value], number @ (1 | -1)) if rest.value.is_none() => {
                    rest.value = Some((value, number > 0))
                }
                _ => return None,
            }
        }
        Some(rest)
    }

    /// Of those that it takes to add it, one less where there is nothing to add it to.
    fn operations(&self, to_sum: bool) -> u32 {
        u32::from(self.value.is_some() && to_sum) + u32::from(self.constant != 0)
    }

    /// Adds it to an earlier sum, or to nothing, in place of an instruction. False if it cannot be written.
    fn add_to(self, func: &mut Function, inst: Inst, base: Option<Value>, ty: Type, exact: bool) -> bool {
        let mut sum = base;
        if let Some((value, plus)) = self.value {
            sum = match (sum, plus) {
                (Some(sum), plus) => {
                    let op = if plus { Opcode::Iadd } else { Opcode::Isub };
                    Some(promised(func, inst, op, [sum, value], ty, exact && self.constant == 0))
                }
                (None, true) => Some(value),
                (None, false) => return false,
            };
        }
        let constant =
            |func: &mut Function| insert_before(func, inst, InstData::IntConst { value: self.constant }, ty);
        let sum = match sum {
            None => constant(func),
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => {
                let by = constant(func);
                promised(
                    func,
                    inst,
                    Opcode::Iadd,
                    [sum, by],
                    ty,
                    exact && self.value.is_none_or(|_| base.is_none()),
                )
            }
        };
        replace_with(func, inst, sum);
        true
    }
}

/// A sum in front of an instruction, which is promised not to wrap or not.
fn promised(func: &mut Function, before: Inst, op: Opcode, args: [Value; 2], ty: Type, exact: bool) -> Value {
    let value = insert_before(func, before, InstData::Binary { op, args }, ty);
    if let Some(inst) = func.dfg.def_inst(value) {
        func.dfg.set_promised(inst, exact);
    }
    value
}
