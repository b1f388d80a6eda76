//! Integers of odd widths and of 128 bits, and the operations that PTX does not have at each width: one function of 128-bit words each, given
//! the width. Operands have zeros above their bits, and so have results.

use crate::classes::{Class, IntBinary, IntUnary, Overflow, Ternary};
use crate::{IntCC, Opcode, Type};
use warpsmith_semantics::lanes::{LaneFn, scalar};
use warpsmith_semantics::value::Rounding;
use warpsmith_semantics::value::convert::Kind;
use warpsmith_semantics::value::half::{BF16, F16, Half};
use warpsmith_semantics::value::soft::{Format, Real};
use warpsmith_semantics::{Plan, Width};

/// All bits of a width.
const fn ones(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

/// The bits as a signed number.
const fn signed(bits: u32, a: u128) -> i128 {
    (a << (128 - bits)) as i128 >> (128 - bits)
}

const fn is_negative(bits: u32, a: u128) -> bool {
    a >> (bits - 1) & 1 != 0
}

/// The least signed number, which is also the one whose only bit is the sign.
const fn min_signed(bits: u32) -> u128 {
    1 << (bits - 1)
}

/// The nearest signed number of the width.
fn clamped(bits: u32, a: i128) -> u128 {
    a.clamp(signed(bits, min_signed(bits)), (ones(bits) >> 1) as i128) as u128
}

/// The product, upper and lower half.
fn product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let [(a1, a0), (b1, b0)] = [a, b].map(|x| (x >> 64, x & LOW));
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let other = a0 * b1 + (middle & LOW);
    (a1 * b1 + (middle >> 64) + (other >> 64), a.wrapping_mul(b))
}

/// The upper half of a product of a width.
fn high(bits: u32, a: u128, b: u128) -> u128 {
    let (upper, lower) = product(a, b);
    if bits == 128 { upper } else { (upper << (128 - bits) | lower >> bits) & ones(bits) }
}

fn signed_high(bits: u32, a: u128, b: u128) -> u128 {
    let less = |x: u128, y: u128| if is_negative(bits, x) { y } else { 0 };
    high(bits, a, b).wrapping_sub(less(a, b)).wrapping_sub(less(b, a)) & ones(bits)
}

fn shl(bits: u32, a: u128, n: u128) -> u128 {
    if n >= u128::from(bits) { 0 } else { a << n & ones(bits) }
}

fn lshr(bits: u32, a: u128, n: u128) -> u128 {
    if n >= u128::from(bits) { 0 } else { a >> n }
}

fn ashr(bits: u32, a: u128, n: u128) -> u128 {
    (signed(bits, a) >> n.min(127)) as u128 & ones(bits)
}

/// An operation of one integer.
fn unary(op: IntUnary, bits: u32, a: u128) -> u128 {
    let unused = 128 - bits;
    let result = match op {
        IntUnary::Ineg => a.wrapping_neg(),
        IntUnary::Iabs => signed(bits, a).unsigned_abs(),
        IntUnary::Bnot => !a,
        IntUnary::Popcnt => a.count_ones().into(),
        // Total: in lanes that are not active there may be anything above the bits.
        IntUnary::Clz => (a << unused).leading_zeros().min(bits).into(),
        IntUnary::Ctz => a.trailing_zeros().min(bits).into(),
        IntUnary::Bitrev => a.reverse_bits() >> unused,
        IntUnary::Bswap => a.swap_bytes() >> unused,
    };
    // Counts are numbers of the type: that of a width like `i2` may not fit it.
    result & ones(bits)
}

/// An operation of two integers, or of one and an amount.
fn binary(op: IntBinary, bits: u32, a: u128, b: u128) -> u128 {
    let all = ones(bits);
    let (x, y) = (signed(bits, a), signed(bits, b & all));
    let modulo = |n: u128| (n % u128::from(bits)) as u32;
    let rotated = |left: u32| if left == 0 { a } else { a << left | a >> (bits - left) };
    let result = match op {
        IntBinary::Iadd => a.wrapping_add(b),
        IntBinary::Isub => a.wrapping_sub(b),
        IntBinary::Imul => a.wrapping_mul(b),
        IntBinary::Umulhi => high(bits, a, b),
        IntBinary::Smulhi => signed_high(bits, a, b),
        IntBinary::Sdiv if b == 0 => all,
        IntBinary::Sdiv => x.wrapping_div(y) as u128,
        IntBinary::Udiv => a.checked_div(b).unwrap_or(all),
        IntBinary::Srem if b == 0 => all,
        IntBinary::Srem => x.wrapping_rem(y) as u128,
        IntBinary::Urem => a.checked_rem(b).unwrap_or(all),
        IntBinary::Smin => x.min(y) as u128,
        IntBinary::Smax => x.max(y) as u128,
        IntBinary::Umin => a.min(b),
        IntBinary::Umax => a.max(b),
        IntBinary::Band => a & b,
        IntBinary::Bor => a | b,
        IntBinary::Bxor => a ^ b,
        IntBinary::Shl => shl(bits, a, b),
        IntBinary::Lshr => lshr(bits, a, b),
        IntBinary::Ashr => ashr(bits, a, b),
        IntBinary::Rotl => rotated(modulo(b)),
        IntBinary::Rotr => rotated((bits - modulo(b)) % bits),
        IntBinary::UaddSat => a.checked_add(b).map_or(all, |sum| sum.min(all)),
        IntBinary::SaddSat => clamped(bits, x.saturating_add(y)),
        IntBinary::UsubSat => a.saturating_sub(b),
        IntBinary::SsubSat => clamped(bits, x.saturating_sub(y)),
        IntBinary::UshlSat => {
            let shifted = shl(bits, a, b);
            if lshr(bits, shifted, b) == a { shifted } else { all }
        }
        IntBinary::SshlSat => {
            let shifted = shl(bits, a, b);
            let limit = if is_negative(bits, a) { min_signed(bits) } else { all >> 1 };
            // Everything is shifted out by the width and more.
            let kept = b < u128::from(bits) && ashr(bits, shifted, b) == a;
            if kept || a == 0 { shifted } else { limit }
        }
    };
    result & all
}

/// An operation of three operands; `None` for those that are not of integers.
fn ternary(op: Ternary, bits: u32, a: u128, b: u128, c: u128) -> Option<u128> {
    let n = (c % u128::from(bits)) as u32;
    let result = match op {
        Ternary::Fshl if n == 0 => a,
        Ternary::Fshl => a << n | b >> (bits - n),
        Ternary::Fshr if n == 0 => b,
        Ternary::Fshr => a << (bits - n) | b >> n,
        Ternary::Ubfx => lshr(bits, a, b & 0xff) & field(0, c as u32),
        Ternary::Sbfx => {
            let (at, length) = (b as u32 & 0xff, c as u32 & 0xff);
            if length == 0 {
                0
            } else {
                let last = (at + length - 1).min(bits - 1);
                let up = shl(bits, a, (bits - 1 - last).into());
                ashr(bits, up, (at + (bits - 1 - last)).into())
            }
        }
        Ternary::Select | Ternary::Fma => return None,
    };
    Some(result & ones(bits))
}

/// The bits of a field: position and length modulo 256.
fn field(at: u32, length: u32) -> u128 {
    let (at, length) = (at & 0xff, length & 0xff);
    let low = if length >= 128 { u128::MAX } else { (1 << length) - 1 };
    if at >= 128 { 0 } else { low << at }
}

/// `bfi`, of which bits above the width of the type are for the caller to clear.
pub(super) fn insert(a: u128, b: u128, at: u32, length: u32) -> u128 {
    let field = field(at, length);
    let moved = if at & 0xff >= 128 { 0 } else { b << (at & 0xff) };
    a & !field | moved & field
}

/// What wraps, and whether it does.
fn overflow(op: Overflow, bits: u32, a: u128, b: u128) -> (u128, bool) {
    let all = ones(bits);
    let (x, y) = (signed(bits, a), signed(bits, b));
    let fits =
        |exact: Option<i128>, wrapped: u128| exact.is_none_or(|exact| signed(bits, wrapped & all) != exact);
    match op {
        Overflow::UaddOverflow => {
            let sum = a.wrapping_add(b) & all;
            (sum, sum < a)
        }
        Overflow::SaddOverflow => (a.wrapping_add(b) & all, fits(x.checked_add(y), a.wrapping_add(b))),
        Overflow::UsubOverflow => (a.wrapping_sub(b) & all, a < b),
        Overflow::SsubOverflow => (a.wrapping_sub(b) & all, fits(x.checked_sub(y), a.wrapping_sub(b))),
        Overflow::UmulOverflow => (a.wrapping_mul(b) & all, high(bits, a, b) != 0),
        Overflow::SmulOverflow => {
            let low = a.wrapping_mul(b) & all;
            (low, signed_high(bits, a, b) != ashr(bits, low, 127))
        }
    }
}

fn compare(cond: IntCC, bits: u32, a: u128, b: u128) -> bool {
    cond.holds([signed(bits, a), signed(bits, b)], [a, b])
}

// As functions of lanes: what the operation is, and at which width, is a constant among the operands.

fn code(what: u64, bits: u32) -> u64 {
    what << 8 | u64::from(bits)
}

fn opcode(code: u64) -> Opcode {
    Opcode::ALL[(code >> 8) as usize]
}

fn bits(code: u64) -> u32 {
    code as u32 & 0xff
}

fn run_unary(code: u64, a: u128) -> u128 {
    let Class::IntUnary(op) = opcode(code).class() else { return 0 };
    unary(op, bits(code), a)
}

fn run_binary(code: u64, a: u128, b: u128) -> u128 {
    let Class::IntBinary(op) = opcode(code).class() else { return 0 };
    binary(op, bits(code), a, b)
}

fn run_ternary(code: u64, a: u128, b: u128, c: u128) -> u128 {
    let Class::Ternary(op) = opcode(code).class() else { return 0 };
    ternary(op, bits(code), a, b, c).unwrap_or(0)
}

fn run_overflow(code: u64, a: u128, b: u128) -> (u128, bool) {
    let Class::Overflow(op) = opcode(code).class() else { return (0, false) };
    overflow(op, bits(code), a, b)
}

fn run_compare(code: u64, a: u128, b: u128) -> bool {
    IntCC::ALL.get((code >> 8) as usize).is_some_and(|cond| compare(*cond, bits(code), a, b))
}

fn run_resize(code: u64, a: u128) -> u128 {
    let (to, from) = ((code >> 9) as u32 & 0xff, bits(code));
    let wide = if code >> 8 & 1 != 0 { signed(from, a) as u128 } else { a };
    wide & ones(to)
}

/// A lane function for each width of register.
macro_rules! by_width {
    ($width:expr, $r:ident => $function:expr) => {
        match $width {
            Width::W32 => {
                type $r = u32;
                $function
            }
            Width::W64 => {
                type $r = u64;
                $function
            }
            Width::W128 => {
                type $r = u128;
                $function
            }
            Width::Pred => return None,
        }
    };
}

/// The register of an integer other than `i1`.
fn register(ty: Type) -> Option<Width> {
    (ty.is_int() && ty.bits() > 1).then(|| Width::for_bits(ty.bits()))
}

fn with_code(function: LaneFn, op: Opcode, ty: Type) -> Plan {
    // The opcodes are numbered in the order of `Opcode::ALL`.
    Plan::with_constants(function, &[code(op as u64, ty.bits())])
}

/// An operation of [`Class::IntUnary`], [`Class::IntBinary`] or [`Class::Ternary`] on integers of a type.
pub(super) fn operation(op: Opcode, ty: Type) -> Option<Plan> {
    let width = register(ty)?;
    let amount = op.info().operands.get(1) == Some(&crate::OperandRule::Amount);
    let function = match op.class() {
        Class::IntUnary(_) => by_width!(width, R => scalar(|a: R, code: u64| run_unary(code, a.into()) as R)),
        Class::IntBinary(_) if amount => {
            by_width!(width, R => scalar(|a: R, n: u32, code: u64| run_binary(code, a.into(), n.into()) as R))
        }
        Class::IntBinary(_) => {
            by_width!(width, R => scalar(|a: R, b: R, code: u64| run_binary(code, a.into(), b.into()) as R))
        }
        Class::Ternary(_) if amount => by_width!(width, R => scalar(|a: R, at: u32, length: u32, code: u64| {
            run_ternary(code, a.into(), at.into(), length.into()) as R
        })),
        Class::Ternary(_) => by_width!(width, R => scalar(|a: R, b: R, n: u32, code: u64| {
            run_ternary(code, a.into(), b.into(), n.into()) as R
        })),
        Class::FloatUnary(_)
        | Class::FloatBinary(_)
        | Class::PointerUnary(_)
        | Class::PointerBinary(_)
        | Class::Conversion(_)
        | Class::Overflow(_)
        | Class::List(_)
        | Class::Alone => return None,
    };
    Some(with_code(function, op, ty))
}

/// What an operation of integers gives at any width from 1 to 128 bits: operands have zeros above the width, and so has the result. `None` for
/// operations that are not of integers alone, comparisons and conversions among them.
///
/// [`plan`](super::plan) computes the same, on registers.
pub fn integer(op: Opcode, bits: u32, operands: &[u128]) -> Option<u128> {
    match (op.class(), operands) {
        (Class::IntUnary(op), &[a]) => Some(unary(op, bits, a)),
        (Class::IntBinary(op), &[a, b]) => Some(binary(op, bits, a, b)),
        (Class::Ternary(op), &[a, b, c]) => ternary(op, bits, a, b, c),
        (
            Class::IntUnary(_)
            | Class::IntBinary(_)
            | Class::Ternary(_)
            | Class::FloatUnary(_)
            | Class::FloatBinary(_)
            | Class::PointerUnary(_)
            | Class::PointerBinary(_)
            | Class::Conversion(_)
            | Class::Overflow(_)
            | Class::List(_)
            | Class::Alone,
            _,
        ) => None,
    }
}

/// How integers of a width compare, as [`integer`] computes.
pub fn compare_integers(cond: IntCC, bits: u32, a: u128, b: u128) -> bool {
    compare(cond, bits, a, b)
}

/// The operations that say whether they wrapped.
pub(super) fn overflowing(op: Overflow, ty: Type) -> Option<Plan> {
    let function = by_width!(register(ty)?, R => scalar(|a: R, b: R, code: u64| -> (R, bool) {
        let (low, wrapped) = run_overflow(code, a.into(), b.into());
        (low as R, wrapped)
    }));
    Some(with_code(function, op.into(), ty))
}

/// `bfi` on a register of a width.
pub fn bit_field_insert(width: Width) -> Option<LaneFn> {
    Some(
        by_width!(width, R => scalar(|a: R, b: R, at: u32, length: u32| insert(a.into(), b.into(), at, length) as R)),
    )
}

/// The bits of an integer type kept, those above cleared.
pub fn keep(ty: Type) -> Option<Plan> {
    resize(ty, ty, false)
}

/// `icmp`
pub(super) fn comparison(cond: IntCC, ty: Type) -> Option<Plan> {
    let function =
        by_width!(register(ty)?, R => scalar(|a: R, b: R, code: u64| run_compare(code, a.into(), b.into())));
    Some(Plan::with_constants(function, &[code(cond as u64, ty.bits())]))
}

/// `trunc`, `zext` and `sext` between integers other than `i1`.
pub(super) fn resize(from: Type, to: Type, sign: bool) -> Option<Plan> {
    let (source, result) = (register(from)?, register(to)?);
    let function = by_width!(source, A => by_width!(result, R => scalar(|a: A, code: u64| run_resize(code, a.into()) as R)));
    let constant = u64::from(from.bits()) | u64::from(sign) << 8 | u64::from(to.bits()) << 9;
    Some(Plan::with_constants(function, &[constant]))
}

/// The format of a float in exact arithmetic.
fn format(kind: Kind) -> Option<Format> {
    match kind {
        Kind::F16 => Some(Format::F16),
        Kind::Bf16 => Some(Format::BF16),
        Kind::F32 => Some(Format::F32),
        Kind::F64 => Some(Format::F64),
        Kind::Tf32 | Kind::Unsigned(_) | Kind::Signed(_) => None,
    }
}

/// The kinds of floats that [`from_integer`] and [`to_integer`] know, by number.
const KINDS: [Kind; 4] = [Kind::F16, Kind::Bf16, Kind::F32, Kind::F64];

fn kind_number(kind: Kind) -> Option<u64> {
    KINDS.iter().position(|known| *known == kind).map(|n| n as u64)
}

fn run_to_float(code: u64, a: u128) -> u64 {
    let (from, sign) = (bits(code), code >> 8 & 1 != 0);
    let negative = sign && is_negative(from, a);
    let magnitude = if negative { signed(from, a).unsigned_abs() } else { a };
    let format = KINDS.get((code >> 9) as usize).and_then(|kind| format(*kind));
    let real = Real::from_integer(negative, magnitude);
    format.zip(real).map_or(0, |(format, real)| real.round(format, Rounding::Nearest))
}

/// `sitofp` and `uitofp`: rounded to nearest.
pub(super) fn from_integer(from: Type, to: Kind, wide: bool, sign: bool) -> Option<Plan> {
    let constant = u64::from(from.bits()) | u64::from(sign) << 8 | kind_number(to)? << 9;
    let function = match wide {
        true => by_width!(register(from)?, A => scalar(|a: A, code: u64| run_to_float(code, a.into()))),
        false => {
            by_width!(register(from)?, A => scalar(|a: A, code: u64| run_to_float(code, a.into()) as u32))
        }
    };
    Some(Plan::with_constants(function, &[constant]))
}

fn run_to_integer(code: u64, a: u64) -> u128 {
    let (to, sign) = (bits(code), code >> 8 & 1 != 0);
    let value = match KINDS.get((code >> 9) as usize) {
        Some(Kind::F16) => F16::widen(a as u16).into(),
        Some(Kind::Bf16) => BF16::widen(a as u16).into(),
        Some(Kind::F32) => f32::from_bits(a as u32).into(),
        _ => f64::from_bits(a),
    };
    // The host's conversion rounds toward zero, saturates, and makes NaN zero.
    if sign { clamped(to, value as i128) & ones(to) } else { (value as u128).min(ones(to)) }
}

/// `fptosi` and `fptoui`.
pub(super) fn to_integer(from: Kind, wide: bool, to: Type, sign: bool) -> Option<Plan> {
    let constant = u64::from(to.bits()) | u64::from(sign) << 8 | kind_number(from)? << 9;
    let function = match wide {
        true => by_width!(register(to)?, R => scalar(|a: u64, code: u64| run_to_integer(code, a) as R)),
        false => {
            by_width!(register(to)?, R => scalar(|a: u32, code: u64| run_to_integer(code, a.into()) as R))
        }
    };
    Some(Plan::with_constants(function, &[constant]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operations at 8 bits against the host's, whose widths are its own.
    #[test]
    fn eight_bits_are_the_hosts() {
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let (x, y) = (a as i8, b as i8);
                let at = |op| binary(op, 8, a.into(), b.into()) as u8;
                assert_eq!(at(IntBinary::UaddSat), a.saturating_add(b));
                assert_eq!(at(IntBinary::SaddSat), x.saturating_add(y) as u8);
                assert_eq!(at(IntBinary::UsubSat), a.saturating_sub(b));
                assert_eq!(at(IntBinary::SsubSat), x.saturating_sub(y) as u8);
                assert_eq!(at(IntBinary::Umulhi), ((u16::from(a) * u16::from(b)) >> 8) as u8);
                assert_eq!(at(IntBinary::Smulhi), ((i16::from(x) * i16::from(y)) >> 8) as u8);
                assert_eq!(at(IntBinary::Rotl), a.rotate_left(b.into()));
                assert_eq!(at(IntBinary::Rotr), a.rotate_right(b.into()));
                let wraps = |op| {
                    let (low, wrapped) = overflow(op, 8, a.into(), b.into());
                    (low as u8, wrapped)
                };
                assert_eq!(wraps(Overflow::UaddOverflow), a.overflowing_add(b));
                assert_eq!(wraps(Overflow::UsubOverflow), a.overflowing_sub(b));
                assert_eq!(wraps(Overflow::UmulOverflow), a.overflowing_mul(b));
                let signed = |(low, wrapped): (i8, bool)| (low as u8, wrapped);
                assert_eq!(wraps(Overflow::SaddOverflow), signed(x.overflowing_add(y)));
                assert_eq!(wraps(Overflow::SsubOverflow), signed(x.overflowing_sub(y)));
                assert_eq!(wraps(Overflow::SmulOverflow), signed(x.overflowing_mul(y)));
                let wide = i16::from(x) << b.min(8);
                let saturated = if x == 0 { 0 } else { wide.clamp(-128, 127) as u8 };
                if b <= 8 {
                    assert_eq!(at(IntBinary::SshlSat), saturated, "{x} << {b}");
                }
            }
        }
    }

    #[test]
    fn upper_halves_of_128_bits() {
        let a = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210u128;
        // (2^128 - 1)^2 = 2^256 - 2^129 + 1
        assert_eq!(product(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
        assert_eq!(product(a, 1 << 100), (a >> 28, a << 100));
        assert_eq!(signed_high(128, a, u128::MAX), u128::MAX);
        assert_eq!(binary(IntBinary::Smulhi, 100, 1 << 99, 1 << 99), 1 << 98);
    }
}
