//! Operations on floats that round in a direction, flush subnormals, saturate, or are approximations: in exact arithmetic, whatever the
//! format, and by the models of PTX's approximate instructions.

use super::convert::float_kind;
use crate::float_mode::{FastMath, FloatMode, FloatRounding};
use crate::{Opcode, Type};
use warpsmith_semantics::lanes::{LaneFn, scalar};
use warpsmith_semantics::value::convert::{Cvt, Kind};
use warpsmith_semantics::value::half::{self, BF16, F16, Half};
use warpsmith_semantics::value::soft::{Format, Real};
use warpsmith_semantics::value::{Rounding, approx, single};
use warpsmith_semantics::{Plan, Width};

fn rounding(mode: FloatMode, default: Rounding) -> Rounding {
    match mode.rounding {
        None => default,
        Some(FloatRounding::Nearest) => Rounding::Nearest,
        Some(FloatRounding::Zero) => Rounding::Zero,
        Some(FloatRounding::Down) => Rounding::Down,
        Some(FloatRounding::Up) => Rounding::Up,
    }
}

/// The plan of an operation from a type to a type. `None` where the mode has no meaning.
#[expect(clippy::wildcard_enum_match_arm, reason = "the verifier refuses modes of other operations")]
pub(super) fn plan(op: Opcode, mode: FloatMode, from: Type, to: Type) -> Option<Plan> {
    if mode.fast.contains(FastMath::AFN)
        && let Some(function) = approximation(op, mode.ftz, float_kind(from))
    {
        return Some(Plan::simple(function));
    }
    if op == Opcode::Fptrunc && to == Type::UE8M0 && mode.rounding == Some(FloatRounding::Up) {
        return super::narrow::power_rounded_up(from);
    }
    if super::narrow::concerns(&[from], to) {
        return super::narrow::operation(op, from, to);
    }
    if mode.exact().computes_plainly() {
        return super::operation(op, &[from, from, from], to);
    }
    match op {
        Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv | Opcode::Fma | Opcode::Fsqrt => {
            let constant = Code { op, mode, kind: float_kind(from)? }.number()?;
            let operands = op.info().operands.len();
            let function = match (operands, from.bits() > 32) {
                (1, false) => scalar(|a: u32, code: u64| run(code, [a.into(), 0, 0]) as u32),
                (1, true) => scalar(|a: u64, code: u64| run(code, [a, 0, 0])),
                (2, false) => scalar(|a: u32, b: u32, code: u64| run(code, [a.into(), b.into(), 0]) as u32),
                (2, true) => scalar(|a: u64, b: u64, code: u64| run(code, [a, b, 0])),
                (_, false) => scalar(|a: u32, b: u32, c: u32, code: u64| {
                    run(code, [a.into(), b.into(), c.into()]) as u32
                }),
                (_, true) => scalar(|a: u64, b: u64, c: u64, code: u64| run(code, [a, b, c])),
            };
            Some(Plan::with_constants(function, &[constant]))
        }
        // What is left of `ftz` is on `f32`.
        Opcode::Fmin => Some(Plan::simple(scalar(|a: u32, b: u32| single::min::<true>(false, a, b)))),
        Opcode::Fmax => Some(Plan::simple(scalar(|a: u32, b: u32| single::max::<true>(false, a, b)))),
        Opcode::Fminimum => Some(Plan::simple(scalar(|a: u32, b: u32| single::min::<true>(true, a, b)))),
        Opcode::Fmaximum => Some(Plan::simple(scalar(|a: u32, b: u32| single::max::<true>(true, a, b)))),
        Opcode::Fneg => Some(Plan::simple(scalar(|a: u32| single::neg::<true>(a)))),
        Opcode::Fabs => Some(Plan::simple(scalar(|a: u32| single::abs::<true>(a)))),
        Opcode::Fptrunc => {
            let nearest = Cvt::new(float_kind(to)?, float_kind(from)?);
            let cvt = Cvt { rounding: rounding(mode, Rounding::Nearest), ..nearest };
            Some(super::convert::by_code(from.bits() > 32, to.bits() > 32, cvt))
        }
        Opcode::Sitofp | Opcode::Uitofp => from_integer(op == Opcode::Sitofp, mode, from, to),
        Opcode::Fptosi | Opcode::Fptoui => to_integer(op == Opcode::Fptosi, mode, from, to),
        _ => None,
    }
}

/// PTX's approximate instruction for an operation.
fn approximation(op: Opcode, ftz: bool, kind: Option<Kind>) -> Option<LaneFn> {
    macro_rules! single {
        (|$($a:ident),*| $f:ident) => {
            if ftz { scalar(|$($a: u32),*| approx::$f::<true>($($a),*)) } else { scalar(|$($a: u32),*| approx::$f::<false>($($a),*)) }
        };
    }
    /// The operands flushed where PTX's function has no flag of its own.
    fn flushed(ftz: bool, a: u32) -> u32 {
        if ftz { single::flush(a) } else { a }
    }
    macro_rules! flushing {
        ($f:ident) => {
            match ftz {
                true => scalar(|a: u32| flushed(true, approx::$f(flushed(true, a)))),
                false => scalar(|a: u32| approx::$f(a)),
            }
        };
    }
    /// Of a half by way of `f32`.
    macro_rules! by_single {
        ($h:ident, $kind:expr, $f:expr) => {
            scalar(|a: u16| Cvt::new($kind, Kind::F32).apply(u64::from($f($h::widen(a).to_bits()))) as u16)
        };
    }
    macro_rules! halves {
        ($f:expr) => {
            match kind? {
                Kind::F16 => by_single!(F16, Kind::F16, $f),
                _ => by_single!(BF16, Kind::Bf16, $f),
            }
        };
    }
    Some(match (kind?, op) {
        (Kind::F32, Opcode::Fdiv) => single!(|a, b| div),
        (Kind::F32, Opcode::Fsqrt) => single!(|a| sqrt),
        (Kind::F32, Opcode::Frsqrt) => single!(|a| rsqrt),
        (Kind::F32, Opcode::Frcp) => single!(|a| rcp),
        (Kind::F32, Opcode::Flog2) => single!(|a| lg2),
        (Kind::F32, Opcode::Fexp2) => single!(|a| ex2),
        (Kind::F32, Opcode::Fsin) => flushing!(sin),
        (Kind::F32, Opcode::Fcos) => flushing!(cos),
        (Kind::F32, Opcode::Ftanh) => scalar(|a: u32| approx::tanh(a)),
        (Kind::F64, Opcode::Frsqrt) => scalar(|a: u64| approx::rsqrt_f64(a)),
        (Kind::F64, Opcode::Frcp) => scalar(|a: u64| approx::rcp_f64(a)),
        (Kind::F16 | Kind::Bf16, Opcode::Frsqrt) => halves!(approx::rsqrt::<false>),
        (Kind::F16 | Kind::Bf16, Opcode::Frcp) => halves!(approx::rcp::<false>),
        (Kind::F16 | Kind::Bf16, Opcode::Flog2) => halves!(approx::lg2::<false>),
        (Kind::F16 | Kind::Bf16, Opcode::Fexp2) => halves!(approx::ex2::<false>),
        (Kind::F16 | Kind::Bf16, Opcode::Fsin) => halves!(approx::sin),
        (Kind::F16 | Kind::Bf16, Opcode::Fcos) => halves!(approx::cos),
        (Kind::F16 | Kind::Bf16, Opcode::Ftanh) => halves!(approx::tanh),
        _ => return None,
    })
}

/// An operation of [`run`] as a number.
struct Code {
    op: Opcode,
    mode: FloatMode,
    kind: Kind,
}

const KINDS: [Kind; 4] = [Kind::F16, Kind::Bf16, Kind::F32, Kind::F64];

impl Code {
    fn number(&self) -> Option<u64> {
        let kind = KINDS.iter().position(|kind| *kind == self.kind)? as u64;
        let rounding = FloatRounding::ALL.iter().position(|known| Some(*known) == self.mode.rounding);
        let rounding = rounding.unwrap_or(0) as u64;
        let flags = u64::from(self.mode.ftz) | u64::from(self.mode.sat) << 1;
        Some((self.op as u64) << 8 | kind << 6 | rounding << 4 | flags)
    }

    fn of(number: u64) -> Code {
        let mode = FloatMode {
            rounding: FloatRounding::ALL.get((number >> 4 & 3) as usize).copied(),
            ftz: number & 1 != 0,
            sat: number & 2 != 0,
            fast: FastMath::NONE,
        };
        Code { op: Opcode::ALL[(number >> 8) as usize], mode, kind: KINDS[(number >> 6 & 3) as usize] }
    }
}

/// Arithmetic on the bits of a format.
fn run(code: u64, [a, b, c]: [u64; 3]) -> u64 {
    let Code { op, mode, kind } = Code::of(code);
    let format = match kind {
        Kind::F16 => Format::F16,
        Kind::Bf16 => Format::BF16,
        Kind::F64 => Format::F64,
        _ => Format::F32,
    };
    let (rounding, flush) = (rounding(mode, Rounding::Nearest), mode.ftz);
    // Subnormal operands are zeros too (9.7.3), those of every format with `.ftz`.
    let [a, b, c] = [a, b, c].map(|operand| if flush { format.flush(operand) } else { operand });
    #[expect(clippy::wildcard_enum_match_arm, reason = "`plan` lets these by only")]
    let result = match op {
        Opcode::Fadd => format.add(a, b, rounding, flush),
        Opcode::Fsub => format.add(a, b ^ format.sign(), rounding, flush),
        Opcode::Fmul => format.mul(a, b, rounding, flush),
        Opcode::Fdiv => format.div(a, b, rounding, flush),
        Opcode::Fma => format.fma(a, b, c, rounding, flush),
        // The root of a normal number is none that is flushed.
        _ => format.sqrt(a, rounding),
    };
    let result = result.or(format.nan()).unwrap_or(0);
    match (mode.sat, kind) {
        (false, _) => result,
        (true, Kind::F16) => half::saturate::<F16>(result as u16).into(),
        (true, _) => single::saturate(result as u32).into(),
    }
}

fn from_integer(sign: bool, mode: FloatMode, from: Type, to: Type) -> Option<Plan> {
    // Both values are exact, however results are rounded.
    if from == Type::I1 {
        return super::convert::from_integer(from, to, sign);
    }
    let kind = KINDS.iter().position(|kind| Some(*kind) == float_kind(to))? as u64;
    let direction =
        FloatRounding::ALL.iter().position(|known| Some(*known) == mode.rounding).unwrap_or(0) as u64;
    let constant = u64::from(from.bits()) | u64::from(sign) << 8 | kind << 9 | direction << 12;
    fn convert(code: u64, a: u128) -> u64 {
        let bits = code as u32 & 0xff;
        let value = (a << (128 - bits)) as i128 >> (128 - bits);
        let negative = code >> 8 & 1 != 0 && value < 0;
        let magnitude = if negative { value.unsigned_abs() } else { a };
        let format = match KINDS[(code >> 9 & 3) as usize] {
            Kind::F16 => Format::F16,
            Kind::Bf16 => Format::BF16,
            Kind::F64 => Format::F64,
            _ => Format::F32,
        };
        let rounding =
            rounding(FloatMode::rounded(FloatRounding::ALL[(code >> 12 & 3) as usize]), Rounding::Nearest);
        Real::from_integer(negative, magnitude).map_or(0, |real| real.round(format, rounding))
    }
    let function = match (Width::for_bits(from.bits()), to.bits() > 32) {
        (Width::W32, false) => scalar(|a: u32, code: u64| convert(code, a.into()) as u32),
        (Width::W32, true) => scalar(|a: u32, code: u64| convert(code, a.into())),
        (Width::W64, false) => scalar(|a: u64, code: u64| convert(code, a.into()) as u32),
        (Width::W64, true) => scalar(|a: u64, code: u64| convert(code, a.into())),
        (Width::W128, false) => scalar(|a: u128, code: u64| convert(code, a) as u32),
        (Width::W128, true) => scalar(|a: u128, code: u64| convert(code, a)),
        (Width::Pred, _) => return None,
    };
    (from.bits() > 1).then(|| Plan::with_constants(function, &[constant]))
}

/// To an integral value in the direction first, then as the plain conversion.
fn to_integer(sign: bool, mode: FloatMode, from: Type, to: Type) -> Option<Plan> {
    let kind = KINDS.iter().position(|kind| Some(*kind) == float_kind(from))? as u64;
    let direction =
        FloatRounding::ALL.iter().position(|known| Some(*known) == mode.rounding).unwrap_or(1) as u64;
    let constant = u64::from(to.bits()) | u64::from(sign) << 8 | kind << 9 | direction << 12;
    fn convert(code: u64, a: u64) -> u128 {
        let (bits, sign) = (code as u32 & 0xff, code >> 8 & 1 != 0);
        let value = match KINDS[(code >> 9 & 3) as usize] {
            Kind::F16 => F16::widen(a as u16).into(),
            Kind::Bf16 => BF16::widen(a as u16).into(),
            Kind::F32 => f32::from_bits(a as u32).into(),
            _ => f64::from_bits(a),
        };
        let value = match FloatRounding::ALL[(code >> 12 & 3) as usize] {
            FloatRounding::Nearest => value.round_ties_even(),
            FloatRounding::Zero => value,
            FloatRounding::Down => value.floor(),
            FloatRounding::Up => value.ceil(),
        };
        let ones = u128::MAX >> (128 - bits);
        match sign {
            true => (value as i128).clamp(!((ones >> 1) as i128), (ones >> 1) as i128) as u128 & ones,
            false => (value as u128).min(ones),
        }
    }
    let function = match (from.bits() > 32, Width::for_bits(to.bits())) {
        (false, Width::W32) => scalar(|a: u32, code: u64| convert(code, a.into()) as u32),
        (false, Width::W64) => scalar(|a: u32, code: u64| convert(code, a.into()) as u64),
        (false, Width::W128) => scalar(|a: u32, code: u64| convert(code, a.into())),
        (true, Width::W32) => scalar(|a: u64, code: u64| convert(code, a) as u32),
        (true, Width::W64) => scalar(|a: u64, code: u64| convert(code, a) as u64),
        (true, Width::W128) => scalar(|a: u64, code: u64| convert(code, a)),
        (_, Width::Pred) => return None,
    };
    Some(Plan::with_constants(function, &[constant]))
}
