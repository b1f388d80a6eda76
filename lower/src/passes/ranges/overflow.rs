//! Whether sums, differences and products wrap, as checks for it are written: by their signs and their upper halves.

use crate::analysis::{Range, exact, width};
use warpsmith_ir::{Function, InstData, IntCC, Opcode, Value};

/// The answer of a comparison that asks whether something wraps, which it does not.
pub(super) fn answer(
    func: &Function,
    cond: IntCC,
    [a, b]: [Value; 2],
    of: impl Fn(Value) -> Option<Range>,
) -> Option<bool> {
    let dfg = &func.dfg;
    let operands = |value: Value, wanted: Opcode| match *dfg.def_data(value)? {
        InstData::Binary { op, args } if op == wanted => Some(args.map(|arg| dfg.resolve(arg))),
        _ => None,
    };
    let (a, b) = (dfg.resolve(a), dfg.resolve(b));
    let bits = width(dfg.ty(a))?;
    let fits = |op: Opcode, x: Value, y: Value| {
        let exact = exact(op, of(x)?, of(y)?)?;
        Range::all(bits).contains(exact).then_some(())
    };
    match cond {
        // A sum of two numbers that are not negative is not less than either, as unsigned.
        IntCC::Ult | IntCC::Uge | IntCC::Ugt | IntCC::Ule => {
            let (sum, part) = if matches!(cond, IntCC::Ult | IntCC::Uge) { (a, b) } else { (b, a) };
            let [x, y] = operands(sum, Opcode::Iadd).filter(|parts| parts.contains(&part))?;
            let natural = of(x)?.is_natural() && of(y)?.is_natural();
            natural.then_some(matches!(cond, IntCC::Uge | IntCC::Ule))
        }
        // The sign of a sum is not that of both summands; that of a difference not the minuend's, where the signs differ.
        IntCC::Slt | IntCC::Sge if dfg.int_const(b) == Some(0) => {
            let [one, other] = operands(a, Opcode::Band)?;
            let (one, other) = (operands(one, Opcode::Bxor)?, operands(other, Opcode::Bxor)?);
            let wraps = |[x, s]: [Value; 2], other: [Value; 2]| {
                let is = |pair: [Value; 2], p: Value, q: Value| pair == [p, q] || pair == [q, p];
                if let Some([p, q]) = operands(s, Opcode::Iadd) {
                    let y = if x == p { q } else { p };
                    return (is([p, q], x, y) && is(other, y, s)).then(|| fits(Opcode::Iadd, x, y))?;
                }
                let [p, y] = operands(s, Opcode::Isub)?;
                (p == x && is(other, x, y)).then(|| fits(Opcode::Isub, x, y))?
            };
            let swapped = |[x, y]: [Value; 2]| [y, x];
            [(one, other), (swapped(one), other), (other, one), (swapped(other), one)]
                .into_iter()
                .find_map(|(one, other)| wraps(one, other))?;
            Some(cond == IntCC::Sge)
        }
        // The upper half of a product is but the sign of the lower one.
        IntCC::Eq | IntCC::Ne => {
            let product = |high: Value, sign: Value| {
                let [x, y] = operands(high, Opcode::Smulhi)?;
                let [low, by] = operands(sign, Opcode::Ashr)?;
                let is_sign = dfg.int_const(by) == Some(i64::from(bits) - 1);
                let [p, q] = operands(low, Opcode::Imul).filter(|_| is_sign)?;
                ([p, q] == [x, y] || [q, p] == [x, y]).then(|| fits(Opcode::Imul, x, y))?
            };
            product(a, b).or_else(|| product(b, a))?;
            Some(cond == IntCC::Eq)
        }
        IntCC::Slt | IntCC::Sge | IntCC::Sle | IntCC::Sgt => None,
    }
}
