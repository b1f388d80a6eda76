//! Arithmetic on floats.

use super::Mods;
use crate::reference::float::Format;
use rustc_apfloat::Round;
use std::cmp::Ordering;
use warpsmith_isa::{Mod, Opcode};

/// The result of an operation on numbers of one format, `.ftz`, `.sat` and `.relu` applied.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not described here is said so")]
pub(super) fn float(op: Opcode, m: &Mods, format: Format, a: &[u128]) -> Option<u128> {
    let ftz = m.has(Mod::Ftz);
    let a: Vec<u128> = a.iter().map(|v| if ftz { format.flushed(*v) } else { *v }).collect();
    let arg = |n: usize| a.get(n).copied().unwrap_or(0);
    let negative = |v: u128| v ^ format.sign();
    let result = match op {
        Opcode::Add => format.add(arg(0), arg(1), m.round()),
        Opcode::Sub => format.add(arg(0), negative(arg(1)), m.round()),
        Opcode::Mul => format.mul(arg(0), arg(1), m.round()),
        Opcode::Fma | Opcode::Mad => format.fma(arg(0), arg(1), arg(2), m.round()),
        Opcode::Div => format.div(arg(0), arg(1), m.round()),
        Opcode::Abs | Opcode::Neg if format.is_nan(arg(0)) => format.nan(),
        Opcode::Abs => arg(0) & !format.sign(),
        Opcode::Neg => negative(arg(0)),
        Opcode::Min | Opcode::Max => {
            let (greater, nan) = (op == Opcode::Max, m.has(Mod::NaN));
            let xorsign = m.has(Mod::Xorsign);
            let signless = m.has(Mod::Abs);
            let value = |v: u128| if signless { v & !format.sign() } else { v };
            if a.len() > 2 || (signless && !xorsign) {
                // Of three: in versions after what this knows of signs.
                return None;
            }
            let result = format.extreme(value(arg(0)), value(arg(1)), greater, nan);
            match xorsign && !format.is_nan(result) {
                true => result | ((arg(0) ^ arg(1)) & format.sign()),
                false => result,
            }
        }
        _ => return None,
    };
    let result = if ftz && (format.is_subnormal(result) || is_tiny(op, format, m.round(), &a, result)) {
        result & format.sign()
    } else {
        result
    };
    let result = match m.has(Mod::Sat) {
        true if format.is_nan(result) => 0,
        true => {
            let below = format.extreme(result, format.one(), false, false);
            if below & format.sign() != 0 { 0 } else { below }
        }
        false => result,
    };
    Some(match m.has(Mod::Relu) {
        true if format.is_nan(result) => format.nan(),
        true if result & format.sign() != 0 => 0,
        _ => result,
    })
}

/// True for a result that is the least normal number, and would be less if the exponent had no bound: hardware flushes it (`docs/engine.md`).
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not described here is said so")]
fn is_tiny(op: Opcode, format: Format, round: Round, a: &[u128], result: u128) -> bool {
    // The same, 2^32 or 2^8 times as large: the factor goes to the operand with the lesser exponent.
    let (least, large) = match format {
        Format::F32 => (0x0080_0000, 0x4f80_0000),
        Format::F16 => (0x0400, 0x5c00),
        Format::BF16 | Format::F64 => return false,
    };
    if result & !format.sign() != least {
        return false;
    }
    let times = |v: u128| format.mul(v, large, Round::NearestTiesToEven);
    let arg = |n: usize| a.get(n).copied().unwrap_or(0);
    let magnitude = |v: u128| v & !format.sign();
    let (x, y) = if magnitude(arg(0)) < magnitude(arg(1)) { (arg(0), arg(1)) } else { (arg(1), arg(0)) };
    let scaled = match op {
        Opcode::Add => format.add(times(arg(0)), times(arg(1)), round),
        Opcode::Sub => format.add(times(arg(0)), times(arg(1)) ^ format.sign(), round),
        Opcode::Mul => format.mul(times(x), y, round),
        Opcode::Fma | Opcode::Mad => format.fma(times(x), y, times(arg(2)), round),
        Opcode::Div => format.div(arg(0), format.div(arg(1), large, round), round),
        _ => return false,
    };
    matches!(format.compare(magnitude(scaled), times(least)), Some(Ordering::Less))
}
