//! What an operation gives for constant operands: the IR's own meaning, exactly. Where a float result would be NaN there is no
//! answer, since targets differ in its bits.

use warpsmith_ir::{FloatCC, Function, Inst, InstData, IntCC, Opcode, Type, Value};

/// A constant of up to 64 bits: integers in the form of [`Type::normalize`], floats as their bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// An integer.
    Int(i64),
    /// The bits of a float.
    Float(u64),
}

/// What an instruction gives when its operands are the constants that `constant` knows of.
pub fn instruction(
    func: &Function,
    inst: Inst,
    constant: impl Fn(Value) -> Option<Constant>,
) -> Option<Constant> {
    let boolean = |value: bool| Constant::Int(value.into());
    let dfg = &func.dfg;
    match dfg[inst] {
        InstData::IntConst { value } => {
            let small = dfg.ty(dfg.first_result(inst)?).bits() <= 64;
            small.then_some(Constant::Int(value))
        }
        InstData::FloatConst { bits } => Some(Constant::Float(bits)),
        InstData::Unary { op, arg } => {
            let (from, operand) = (dfg.ty(arg), constant(arg)?);
            let same_type = match operand {
                Constant::Int(value) => int_unary(op, from, value).map(Constant::Int),
                Constant::Float(bits) => float_unary(op, from, bits).map(Constant::Float),
            };
            same_type.or_else(|| convert(op, from, dfg.ty(dfg.first_result(inst)?), operand))
        }
        InstData::Binary { op, args: [a, b] } => match (constant(a)?, constant(b)?) {
            (Constant::Int(x), Constant::Int(y)) => int_binary(op, dfg.ty(a), x, y).map(Constant::Int),
            (Constant::Float(x), Constant::Float(y)) => {
                float_binary(op, dfg.ty(a), x, y).map(Constant::Float)
            }
            _ => None,
        },
        InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] } => match constant(cond)? {
            Constant::Int(0) => constant(no),
            _ => constant(yes),
        },
        InstData::Ternary { args: [a, b, c], .. } => match (constant(a)?, constant(b)?, constant(c)?) {
            (Constant::Float(x), Constant::Float(y), Constant::Float(z)) => {
                fma(dfg.ty(a), x, y, z).map(Constant::Float)
            }
            _ => None,
        },
        InstData::IntCompare { cond, args: [a, b] } => match (constant(a)?, constant(b)?) {
            (Constant::Int(x), Constant::Int(y)) => Some(boolean(int_compare(cond, dfg.ty(a), x, y))),
            _ => None,
        },
        InstData::FloatCompare { cond, args: [a, b] } => match (constant(a)?, constant(b)?) {
            (Constant::Float(x), Constant::Float(y)) => float_compare(cond, dfg.ty(a), x, y).map(boolean),
            _ => None,
        },
        _ => None,
    }
}

/// The low bits of an integer, as many as its type has.
fn unsigned(ty: Type, value: i64) -> u64 {
    match ty.bits() {
        64.. => value as u64,
        bits => value as u64 & ((1 << bits) - 1),
    }
}

/// An integer operation of two operands of a type; the amount of a shift is an `i32`.
pub fn int_binary(op: Opcode, ty: Type, a: i64, b: i64) -> Option<i64> {
    use Opcode::*;
    let bits = ty.bits();
    let (x, y) = (unsigned(ty, a), unsigned(ty, b));
    let amount = b as u32;
    let value = match op {
        Iadd => a.wrapping_add(b),
        Isub => a.wrapping_sub(b),
        Imul => a.wrapping_mul(b),
        Umulhi => ((u128::from(x) * u128::from(y)) >> bits) as i64,
        Smulhi => ((i128::from(a) * i128::from(b)) >> bits) as i64,
        Sdiv | Udiv | Srem | Urem if b == 0 => -1,
        Sdiv => a.wrapping_div(b),
        Udiv => (x / y) as i64,
        Srem => a.wrapping_rem(b),
        Urem => (x % y) as i64,
        Smin => a.min(b),
        Smax => a.max(b),
        Umin => x.min(y) as i64,
        Umax => x.max(y) as i64,
        Band => a & b,
        Bor => a | b,
        Bxor => a ^ b,
        Shl => x.checked_shl(amount).filter(|_| amount < bits).unwrap_or(0) as i64,
        Lshr => x.checked_shr(amount).filter(|_| amount < bits).unwrap_or(0) as i64,
        Ashr => a >> amount.min(63),
        Rotl | Rotr => {
            let by = if op == Rotl { amount % bits } else { (bits - amount % bits) % bits };
            let low = if by == 0 { 0 } else { x >> (bits - by) };
            (x << by | low) as i64
        }
        _ => return None,
    };
    Some(ty.normalize(value))
}

/// An integer operation of one operand of a type.
pub fn int_unary(op: Opcode, ty: Type, a: i64) -> Option<i64> {
    use Opcode::*;
    let x = unsigned(ty, a);
    let unused = 64 - ty.bits();
    let value = match op {
        Ineg => a.wrapping_neg(),
        Iabs => a.wrapping_abs(),
        Bnot => !a,
        Popcnt => x.count_ones().into(),
        Clz => i64::from(x.leading_zeros() - unused),
        Ctz => x.trailing_zeros().min(ty.bits()).into(),
        Bitrev => (x.reverse_bits() >> unused) as i64,
        _ => return None,
    };
    Some(ty.normalize(value))
}

/// `icmp` of two integers of a type. An `i1` that is read as signed is 0 or -1.
pub fn int_compare(cond: IntCC, ty: Type, a: i64, b: i64) -> bool {
    let signed = |value: i64| if ty == Type::I1 { -value } else { value };
    let (x, y) = (unsigned(ty, a), unsigned(ty, b));
    let (a, b) = (signed(a), signed(b));
    match cond {
        IntCC::Eq => a == b,
        IntCC::Ne => a != b,
        IntCC::Slt => a < b,
        IntCC::Sle => a <= b,
        IntCC::Sgt => a > b,
        IntCC::Sge => a >= b,
        IntCC::Ult => x < y,
        IntCC::Ule => x <= y,
        IntCC::Ugt => x > y,
        IntCC::Uge => x >= y,
    }
}

/// The value of an `f32` or `f64` in a format that holds both.
fn number(ty: Type, bits: u64) -> Option<f64> {
    match ty {
        Type::F32 => Some(f32::from_bits(bits as u32).into()),
        Type::F64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// Rounds to a type. NaN has no one form.
fn rounded(ty: Type, value: f64) -> Option<u64> {
    match ty {
        _ if value.is_nan() => None,
        Type::F32 => Some((value as f32).to_bits().into()),
        Type::F64 => Some(value.to_bits()),
        _ => None,
    }
}

/// A float operation of two operands. Sum, difference, product and quotient of two `f32` in `f64` round once more without harm.
pub fn float_binary(op: Opcode, ty: Type, a: u64, b: u64) -> Option<u64> {
    use Opcode::*;
    let (x, y) = (number(ty, a)?, number(ty, b)?);
    let value = match op {
        Fadd => x + y,
        Fsub => x - y,
        Fmul => x * y,
        Fdiv => x / y,
        Fmin | Fmax if x.is_nan() || y.is_nan() => return None,
        // -0 is less than +0.
        Fmin | Fmax if x == y => {
            let take_first = x.is_sign_negative() == (op == Fmin);
            return Some(if take_first { a } else { b });
        }
        Fmin => x.min(y),
        Fmax => x.max(y),
        Fcopysign => x.copysign(y),
        _ => return None,
    };
    rounded(ty, value)
}

/// A float operation of one operand.
pub fn float_unary(op: Opcode, ty: Type, a: u64) -> Option<u64> {
    use Opcode::*;
    let sign = 1u64 << (ty.bits() - 1);
    let x = match op {
        Fneg => return Some(a ^ sign),
        Fabs => return Some(a & !sign),
        _ => number(ty, a)?,
    };
    let value = match op {
        Fsqrt if ty == Type::F32 => f64::from((x as f32).sqrt()),
        Fsqrt => x.sqrt(),
        Ffloor => x.floor(),
        Fceil => x.ceil(),
        Ftrunc => x.trunc(),
        Fnearest => x.round_ties_even(),
        _ => return None,
    };
    rounded(ty, value)
}

/// `fma`, rounded once.
pub fn fma(ty: Type, a: u64, b: u64, c: u64) -> Option<u64> {
    let value = match ty {
        Type::F32 => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            f64::from(a.mul_add(b, c))
        }
        Type::F64 => number(ty, a)?.mul_add(number(ty, b)?, number(ty, c)?),
        _ => return None,
    };
    rounded(ty, value)
}

/// `fcmp` of two floats.
pub fn float_compare(cond: FloatCC, ty: Type, a: u64, b: u64) -> Option<bool> {
    let order = number(ty, a)?.partial_cmp(&number(ty, b)?);
    let (less, equal, greater) = match order {
        Some(order) => (order.is_lt(), order.is_eq(), order.is_gt()),
        None => (false, false, false),
    };
    let unordered = order.is_none();
    Some(match cond {
        FloatCC::Eq => equal,
        FloatCC::Ne => less || greater,
        FloatCC::Lt => less,
        FloatCC::Le => less || equal,
        FloatCC::Gt => greater,
        FloatCC::Ge => greater || equal,
        FloatCC::Equ => equal || unordered,
        FloatCC::Neu => !equal,
        FloatCC::Ltu => less || unordered,
        FloatCC::Leu => !greater,
        FloatCC::Gtu => greater || unordered,
        FloatCC::Geu => !less,
        FloatCC::Num => !unordered,
        FloatCC::Nan => unordered,
    })
}

/// A conversion from one type to another.
pub fn convert(op: Opcode, from: Type, to: Type, constant: Constant) -> Option<Constant> {
    use Opcode::*;
    if to.bits() > 64 || to.is_vector() || from.bits() > 64 || from.is_vector() {
        return None;
    }
    let int = |value: i64| Some(Constant::Int(to.normalize(value)));
    match (op, constant) {
        (Trunc, Constant::Int(value)) => int(value),
        (Sext, Constant::Int(value)) if from == Type::I1 => int(-value),
        (Sext, Constant::Int(value)) => int(value),
        (Zext, Constant::Int(value)) => int(unsigned(from, value) as i64),
        (Sitofp, Constant::Int(value)) => float_of_int(to, value.into()),
        (Uitofp, Constant::Int(value)) => float_of_int(to, unsigned(from, value).into()),
        (Fptosi | Fptoui, Constant::Float(bits)) => {
            let value = number(from, bits)?;
            let (min, max) = range(to, op == Fptosi);
            // `as` rounds toward zero, clamps, and makes 0 of NaN.
            int((value as i128).clamp(min, max) as i64)
        }
        (Fptrunc, Constant::Float(bits)) => rounded(to, number(from, bits)?).map(Constant::Float),
        (Fpext, Constant::Float(bits)) => rounded(to, number(from, bits)?).map(Constant::Float),
        (Bitcast, Constant::Int(value)) if to.is_float() => Some(Constant::Float(unsigned(from, value))),
        (Bitcast, Constant::Float(bits)) if to.is_int() => int(bits as i64),
        _ => None,
    }
}

fn float_of_int(to: Type, value: i128) -> Option<Constant> {
    match to {
        Type::F32 => Some(Constant::Float((value as f32).to_bits().into())),
        Type::F64 => Some(Constant::Float((value as f64).to_bits())),
        _ => None,
    }
}

fn range(ty: Type, signed: bool) -> (i128, i128) {
    let bits = ty.bits();
    if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Opcode::*;

    #[test]
    fn narrow_integers_wrap_and_clamp() {
        assert_eq!(int_binary(Iadd, Type::I8, 127, 1), Some(-128));
        assert_eq!(int_binary(Udiv, Type::I8, -1, 2), Some(127));
        assert_eq!(int_binary(Sdiv, Type::I8, -128, -1), Some(-128));
        assert_eq!(int_binary(Sdiv, Type::I64, i64::MIN, -1), Some(i64::MIN));
        assert_eq!(int_binary(Udiv, Type::I32, 5, 0), Some(-1));
        assert_eq!(int_binary(Urem, Type::I32, 5, 0), Some(-1));
        assert_eq!(int_binary(Srem, Type::I16, -5, 0), Some(-1));
        assert_eq!(int_binary(Umulhi, Type::I8, -1, -1), Some(-2));
        assert_eq!(int_binary(Smulhi, Type::I16, -32768, -32768), Some(16384));
        assert_eq!(int_binary(Shl, Type::I8, 1, 8), Some(0));
        assert_eq!(int_binary(Lshr, Type::I64, -1, 64), Some(0));
        assert_eq!(int_binary(Ashr, Type::I32, -8, 100), Some(-1));
        assert_eq!(int_binary(Shl, Type::I32, 1, -1), Some(0));
        assert_eq!(int_binary(Rotl, Type::I8, 0x41, 9), Some(-126));
        assert_eq!(int_binary(Rotr, Type::I64, 1, 64), Some(1));
        assert_eq!(int_binary(Rotr, Type::I32, 1, 1), Some(i64::from(i32::MIN)));
    }

    #[test]
    fn counts_know_the_width() {
        assert_eq!(int_unary(Clz, Type::I8, 1), Some(7));
        assert_eq!(int_unary(Clz, Type::I64, 0), Some(64));
        assert_eq!(int_unary(Ctz, Type::I16, 0), Some(16));
        assert_eq!(int_unary(Bitrev, Type::I8, 1), Some(-128));
        assert_eq!(int_unary(Popcnt, Type::I8, -1), Some(8));
        assert_eq!(int_unary(Iabs, Type::I32, i64::from(i32::MIN)), Some(i64::from(i32::MIN)));
    }

    #[test]
    fn one_bit_is_minus_one_when_signed() {
        assert!(int_compare(IntCC::Slt, Type::I1, 1, 0));
        assert!(int_compare(IntCC::Ult, Type::I1, 0, 1));
        assert_eq!(convert(Sext, Type::I1, Type::I32, Constant::Int(1)), Some(Constant::Int(-1)));
        assert_eq!(convert(Zext, Type::I8, Type::I32, Constant::Int(-1)), Some(Constant::Int(255)));
    }

    #[test]
    fn floats_fold_as_they_run() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(float_binary(Fadd, Type::F32, bits(0.1), bits(0.2)), Some(bits(0.1 + 0.2)));
        assert_eq!(float_binary(Fdiv, Type::F32, bits(0.0), bits(0.0)), None);
        assert_eq!(float_binary(Fmin, Type::F32, bits(0.0), bits(-0.0)), Some(bits(-0.0)));
        assert_eq!(float_binary(Fmax, Type::F32, bits(-0.0), bits(0.0)), Some(bits(0.0)));
        let odd = 1.0 + f32::EPSILON;
        assert_eq!(fma(Type::F32, bits(odd), bits(odd), bits(-1.0)), Some(bits(odd.mul_add(odd, -1.0))));
        let to_int = |op, to, x: f32| convert(op, Type::F32, to, Constant::Float(bits(x)));
        assert_eq!(to_int(Fptosi, Type::I8, 300.0), Some(Constant::Int(127)));
        assert_eq!(to_int(Fptoui, Type::I32, -1.5), Some(Constant::Int(0)));
        assert_eq!(to_int(Fptoui, Type::I64, 1e30), Some(Constant::Int(-1)));
        assert_eq!(to_int(Fptosi, Type::I32, f32::NAN), Some(Constant::Int(0)));
        assert_eq!(float_compare(FloatCC::Neu, Type::F32, bits(f32::NAN), bits(1.0)), Some(true));
        assert_eq!(float_compare(FloatCC::Ne, Type::F32, bits(f32::NAN), bits(1.0)), Some(false));
    }
}
