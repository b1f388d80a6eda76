//! Division by constants as multiplication: quotients of 32 and 64 bits by the high half of a product and shifts (Granlund and Montgomery), remainders
//! by what the quotient leaves. What is known of a dividend makes its multiplier shorter: often no shift is left. That is also the remainder of any other division whose quotient is computed: ptxas shares little between the two.
//!
//! ptxas divides by a constant as by anything else, with a reciprocal and two corrections. Constant powers of two, read as unsigned, are shifts and masks
//! by a rule before this; other powers of two here ([`powers`]).

mod around;
mod powers;

use super::insert_before;
use crate::analysis::{Range, Ranges};
use crate::pass::{Changes, Context};
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, IntCC, Opcode, Type, Value};

/// The pass `divide`: division by constants. Until it runs, a remainder is seen to be below its divisor.
pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let changes = by_constants(func, cx);
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// The pass `remainders`: division by other powers of two, remainders of what is less than twice the divisor, and remainders beside quotients, which sums of indices take apart: `i % n + i / n * n` is `i`.
pub(super) fn by_variables(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let mut changes = powers::run(func, cx) + around::run(func, cx);
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    changes += beside_quotients(func, cx);
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// The remainder of a division whose quotient is computed too is what that leaves.
fn beside_quotients(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    // In the order of dominance: of each division the quotient that was seen last.
    let tree = cx.analyses.get::<DominatorTree>(func);
    let mut divisions: Vec<(Block, Inst)> = Vec::new();
    for &block in tree.preorder() {
        let insts = func.layout.insts(block).map(|inst| (block, inst));
        divisions.extend(insts.filter(|&(_, inst)| division(func, inst).is_some()));
    }
    let mut quotients: FxHashMap<(bool, Value, Value), (Block, Value)> = FxHashMap::default();
    let mut changes = 0;
    for (block, inst) in divisions {
        let Some((signed, remainder, x, by)) = division(func, inst) else { continue };
        let key = (signed, x, by);
        let Some(result) = func.dfg.first_result(inst) else { continue };
        if !remainder {
            quotients.insert(key, (block, result));
            continue;
        }
        let known = quotients.get(&key).filter(|(at, _)| tree.dominates(*at, block)).map(|known| known.1);
        let Some(quotient) = known.or_else(|| quotient_behind(func, block, inst)) else { continue };
        quotients.insert(key, (block, quotient));
        let ty = func.dfg.ty(x);
        let promised = func.dfg.nonzero_divisor(inst);
        let mut code = Code { func, before: inst, ty };
        let product = code.binary(Opcode::Imul, quotient, by);
        let rest = code.binary(Opcode::Isub, x, product);
        if promised {
            // The product is between 0 and the dividend.
            for made in [product, rest].map(|value| func.dfg.def_inst(value)).into_iter().flatten() {
                func.dfg.set_promised(made, signed);
            }
            super::replace_with(func, inst, rest);
            changes += 1;
            continue;
        }
        // Nothing is left of a division by 0 but ones.
        let (zero, ones) = (code.constant(0), code.constant(-1));
        let compare = InstData::IntCompare { cond: IntCC::Eq, args: [by, zero] };
        let none = insert_before(func, inst, compare, Type::I1);
        let select = InstData::Ternary { op: Opcode::Select, args: [none, ones, rest] };
        let result = insert_before(func, inst, select, ty);
        super::replace_with(func, inst, result);
        changes += 1;
    }
    changes
}

/// Whether a division of 16 bits or more by what is not constant is signed, and whether it gives the remainder.
fn division(func: &Function, inst: Inst) -> Option<(bool, bool, Value, Value)> {
    let InstData::Binary { op, args: [x, by] } = func.dfg[inst] else { return None };
    let (signed, remainder) = match op {
        Opcode::Udiv => (false, false),
        Opcode::Urem => (false, true),
        Opcode::Sdiv => (true, false),
        Opcode::Srem => (true, true),
        _ => return None,
    };
    let [x, by] = [x, by].map(|value| func.dfg.resolve(value));
    let fits =
        matches!(func.dfg.ty(x), Type::I16 | Type::I32 | Type::I64) && func.dfg.int_const(by).is_none();
    fits.then_some((signed, remainder, x, by))
}

/// The quotient that a block computes behind a remainder, moved in front of it.
fn quotient_behind(func: &mut Function, block: Block, remainder: Inst) -> Option<Value> {
    let (signed, _, x, by) = division(func, remainder)?;
    let mut next = func.layout.next_inst(remainder);
    for _ in 0..MAX_BEHIND {
        let inst = next.filter(|&inst| func.layout.block_of(inst) == Some(block))?;
        if division(func, inst) == Some((signed, false, x, by)) {
            func.layout.remove_inst(inst);
            func.layout.insert_inst_before(inst, remainder);
            return func.dfg.first_result(inst);
        }
        next = func.layout.next_inst(inst);
    }
    None
}

/// Instructions behind a remainder among which its quotient is looked for.
const MAX_BEHIND: usize = 64;

fn by_constants(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    let mut found: Vec<(Block, Inst)> = Vec::new();
    for block in func.layout.blocks() {
        let divides = |&inst: &Inst| by_constant(func, inst).is_some();
        found.extend(func.layout.insts(block).filter(divides).map(|inst| (block, inst)));
    }
    if found.is_empty() {
        return 0;
    }
    let ranges = cx.analyses.get::<Ranges>(func);
    let mut changes = 0;
    for (block, inst) in found {
        let Some((op, x, by)) = by_constant(func, inst) else { continue };
        let ty = func.dfg.ty(x);
        let range = ranges.at(func, x, block).unwrap_or(Range::all(ty.bits()));
        let mut code = Code { func, before: inst, ty };
        let quotient = match op {
            Opcode::Udiv | Opcode::Urem => code.unsigned(x, by, range),
            Opcode::Sdiv | Opcode::Srem => code.signed(x, by, range),
            _ => None,
        };
        let Some(quotient) = quotient else { continue };
        let result = match op {
            Opcode::Urem | Opcode::Srem => {
                let by = code.constant(by);
                let product = code.binary(Opcode::Imul, quotient, by);
                code.binary(Opcode::Isub, x, product)
            }
            _ => quotient,
        };
        cx.log.remark(func, Some(inst), "multiplied", true, || "divides by a constant".into());
        super::replace_with(func, inst, result);
        changes += 1;
    }
    changes
}

/// The operation, the dividend and the divisor of a division of 32 or 64 bits by a constant.
fn by_constant(func: &Function, inst: Inst) -> Option<(Opcode, Value, i64)> {
    let InstData::Binary { op, args: [x, by] } = func.dfg[inst] else { return None };
    let divides = matches!(op, Opcode::Udiv | Opcode::Urem | Opcode::Sdiv | Opcode::Srem);
    if !divides || !matches!(func.dfg.ty(x), Type::I32 | Type::I64) {
        return None;
    }
    Some((op, x, func.dfg.int_const(by)?))
}

struct Code<'f> {
    func: &'f mut Function,
    before: Inst,
    ty: Type,
}

impl Code<'_> {
    fn constant(&mut self, value: i64) -> Value {
        insert_before(self.func, self.before, InstData::IntConst { value: self.ty.normalize(value) }, self.ty)
    }

    fn binary(&mut self, op: Opcode, a: Value, b: Value) -> Value {
        insert_before(self.func, self.before, InstData::Binary { op, args: [a, b] }, self.ty)
    }

    fn shift(&mut self, op: Opcode, x: Value, by: u32) -> Value {
        if by == 0 {
            return x;
        }
        let by = InstData::IntConst { value: by.into() };
        let by = insert_before(self.func, self.before, by, Type::I32);
        self.binary(op, x, by)
    }

    fn unsigned(&mut self, x: Value, by: i64, range: Range) -> Option<Value> {
        let bits = self.ty.bits();
        let mask = u64::MAX >> (64 - bits);
        let greatest = if range.is_natural() { range.high as u64 } else { mask };
        let Unsigned { before, multiplier, add, after } = Unsigned::of(by as u64 & mask, bits, greatest)?;
        let x = self.shift(Opcode::Lshr, x, before);
        let multiplier = self.constant(multiplier as i64);
        let high = self.binary(Opcode::Umulhi, x, multiplier);
        if !add {
            return Some(self.shift(Opcode::Lshr, high, after));
        }
        // The multiplier has one bit more: (x + high) / 2 without the carry.
        let rest = self.binary(Opcode::Isub, x, high);
        let half = self.shift(Opcode::Lshr, rest, 1);
        let sum = self.binary(Opcode::Iadd, half, high);
        Some(self.shift(Opcode::Lshr, sum, after - 1))
    }

    fn signed(&mut self, x: Value, by: i64, range: Range) -> Option<Value> {
        let bits = self.ty.bits();
        if matches!(by, -1..=1) {
            return None;
        }
        let size = by.unsigned_abs();
        if size.is_power_of_two() {
            if size.trailing_zeros() + 1 >= bits {
                return None;
            }
            // Toward zero: those below it are moved up by the divisor less one.
            let power = size.trailing_zeros();
            let sign = if power == 1 { x } else { self.shift(Opcode::Ashr, x, bits - 1) };
            let more = self.shift(Opcode::Lshr, sign, bits - power);
            let moved = self.binary(Opcode::Iadd, x, more);
            let quotient = self.shift(Opcode::Ashr, moved, power);
            return Some(if by < 0 { self.minus(quotient) } else { quotient });
        }
        let greatest = range.low.unsigned_abs().max(range.high.unsigned_abs()) as u64;
        let Signed { multiplier, after } = Signed::of(size, bits, greatest);
        let constant = self.constant(multiplier as i64);
        let mut high = self.binary(Opcode::Smulhi, x, constant);
        // A multiplier of all bits was read as negative.
        if multiplier >> (bits - 1) & 1 == 1 {
            high = self.binary(Opcode::Iadd, high, x);
        }
        let quotient = self.shift(Opcode::Ashr, high, after);
        // One more below zero.
        let sign = self.shift(Opcode::Lshr, x, bits - 1);
        let quotient = self.binary(Opcode::Iadd, quotient, sign);
        Some(if by < 0 { self.minus(quotient) } else { quotient })
    }

    fn minus(&mut self, x: Value) -> Value {
        insert_before(self.func, self.before, InstData::Unary { op: Opcode::Ineg, arg: x }, self.ty)
    }
}

/// How a number is divided by a constant, both without sign.
struct Unsigned {
    /// The number is shifted right before.
    before: u32,
    multiplier: u64,
    /// The multiplier has another bit above those of the type.
    add: bool,
    /// The high half of the product is shifted right.
    after: u32,
}

impl Unsigned {
    /// For numbers up to the greatest. `None` for 0 and powers of two.
    fn of(by: u64, bits: u32, greatest: u64) -> Option<Unsigned> {
        if by == 0 || by.is_power_of_two() {
            return None;
        }
        if bits == 64 && by >> 63 == 1 {
            // Quotients of 0 and 1, which a rule makes a comparison of.
            return None;
        }
        let (multiplier, after) = multiplier(by, bits, greatest);
        if multiplier >> bits == 0 {
            return Some(Unsigned { before: 0, multiplier: multiplier as u64, add: false, after });
        }
        let twos = by.trailing_zeros();
        if twos > 0 {
            let (multiplier, after) = self::multiplier(by >> twos, bits, greatest >> twos);
            if multiplier >> bits == 0 {
                return Some(Unsigned { before: twos, multiplier: multiplier as u64, add: false, after });
            }
        }
        let mask = u64::MAX >> (64 - bits);
        Some(Unsigned { before: 0, multiplier: multiplier as u64 & mask, add: true, after })
    }
}

/// The multiplier that divides numbers up to the greatest, with the least shift of the high half of the product.
///
/// The multiplier is the divisor's reciprocal times `2^(bits + after)`, rounded up. The error that makes, times the greatest number, has to be less than
/// that power: then no quotient comes to the next integer.
fn multiplier(by: u64, bits: u32, greatest: u64) -> (u128, u32) {
    let mut after = 0;
    loop {
        let power = 1u128 << (bits + after);
        let multiplier = power / u128::from(by) + 1;
        let error = multiplier * u128::from(by) - power;
        if error * u128::from(greatest) < power {
            return (multiplier, after);
        }
        after += 1;
    }
}

/// How a number with a sign is divided by a positive constant.
struct Signed {
    multiplier: u64,
    after: u32,
}

impl Signed {
    /// For numbers of at most that size, and a divisor that is neither 1 nor a power of two.
    fn of(by: u64, bits: u32, greatest: u64) -> Signed {
        let (multiplier, after) = multiplier(by, bits, greatest);
        Signed { multiplier: multiplier as u64 & (u64::MAX >> (64 - bits)), after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quotient as the code computes it, at any width, of a number up to the greatest.
    fn unsigned(x: u64, by: u64, bits: u32, greatest: u64) -> Option<u64> {
        let mask = u64::MAX >> (64 - bits);
        let Unsigned { before, multiplier, add, after } = Unsigned::of(by, bits, greatest)?;
        let x = x >> before;
        let high = ((u128::from(x) * u128::from(multiplier)) >> bits) as u64;
        Some(match add {
            false => high >> after,
            true => ((x.wrapping_sub(high) & mask) >> 1).wrapping_add(high) >> (after - 1),
        })
    }

    fn signed(x: i64, by: u64, bits: u32, greatest: u64) -> i64 {
        let extend = |x: i64| x << (64 - bits) >> (64 - bits);
        let Signed { multiplier, after } = Signed::of(by, bits, greatest);
        let as_read = extend(multiplier as i64);
        let mut high = ((i128::from(x) * i128::from(as_read)) >> bits) as i64;
        if as_read < 0 {
            high = extend(high.wrapping_add(x));
        }
        (high >> after) + i64::from(x < 0)
    }

    #[test]
    fn all_quotients_of_8_bits() {
        for by in 1..=255u64 {
            for greatest in 0..=255u64 {
                for x in 0..=greatest {
                    if let Some(quotient) = unsigned(x, by, 8, greatest) {
                        assert_eq!(quotient, x / by, "{x} / {by}, up to {greatest}");
                    }
                }
            }
        }
        for by in (3..=127u64).filter(|by| !by.is_power_of_two()) {
            for greatest in 0..=128u64 {
                for x in -(greatest as i64)..=greatest.min(127) as i64 {
                    assert_eq!(signed(x, by, 8, greatest), x / by as i64, "{x} / {by}, up to {greatest}");
                }
            }
        }
    }

    #[test]
    fn quotients_of_32_and_64_bits() {
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> (state & 63)
        };
        for bits in [32, 64] {
            let mask = u64::MAX >> (64 - bits);
            let extend = |x: u64| (x as i64) << (64 - bits) >> (64 - bits);
            for _ in 0..200_000 {
                let by = random() & mask;
                let near = |x: u64| [x, x.wrapping_sub(1), x.wrapping_add(1)];
                let numbers = [random(), u64::MAX, 0, 1 << (bits - 1), by, by.wrapping_mul(random())];
                let more = random() & mask;
                for x in numbers.into_iter().flat_map(near).map(|x| x & mask) {
                    for greatest in [x, x | more, mask] {
                        if let Some(quotient) = unsigned(x, by, bits, greatest) {
                            assert_eq!(quotient, x / by, "{x} / {by} of {bits} bits, up to {greatest}");
                        }
                    }
                    let size = extend(by).unsigned_abs() & (mask >> 1);
                    if size > 2 && !size.is_power_of_two() {
                        let x = extend(x);
                        for greatest in [x.unsigned_abs(), 1 << (bits - 1)] {
                            let quotient = signed(x, size, bits, greatest);
                            assert_eq!(
                                quotient,
                                x / size as i64,
                                "{x} / {size} of {bits} bits, up to {greatest}"
                            );
                        }
                    }
                }
            }
        }
    }
}
