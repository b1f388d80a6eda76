//! Integer arithmetic, with carries.

use super::{Mods, clamp, low, number, signed};
use warpsmith_isa::{Mod, Opcode, ScalarType};

#[expect(clippy::wildcard_enum_match_arm, reason = "what is not described here is said so")]
pub(super) fn integer(op: Opcode, m: &Mods, ty: ScalarType, a: &[u128], carry: &mut bool) -> Option<u128> {
    let bits = ty.bits();
    let arg = |n: usize| a.get(n).copied().unwrap_or(0);
    let value = |n: usize| number(arg(n), ty);
    let raw = |n: usize| low(arg(n), bits);
    let (cc, sat, relu) = (m.has(Mod::Cc), m.has(Mod::Sat), m.has(Mod::Relu));
    let came = u128::from(*carry);
    if relu && !matches!(op, Opcode::Min | Opcode::Max) {
        return None;
    }
    if sat && (cc || op == Opcode::MadcHi) {
        return None;
    }
    let mut leaves = |carries: bool| {
        if cc {
            *carry = carries;
        }
    };
    // A product of numbers of 64 bits fits; its halves are those of the type's width.
    let product = |x: i128, y: i128| x.wrapping_mul(y);
    let high = |p: i128| (p >> bits) as u128;
    // Of the low 24 bits, 48 bits: the high instruction gives bits 16 to 47.
    let product24 = || {
        let part =
            |n: usize| if ty.is_signed() { signed(low(arg(n), 24), 24) } else { low(arg(n), 24) as i128 };
        part(0) * part(1)
    };
    let result: i128 = match op {
        Opcode::Add => {
            leaves((raw(0) + raw(1)) >> bits != 0);
            value(0) + value(1)
        }
        Opcode::Addc => {
            leaves((raw(0) + raw(1) + came) >> bits != 0);
            value(0) + value(1) + came as i128
        }
        // The flag is the carry of `a + !b + 1`, as hardware has it (`docs/engine.md`).
        Opcode::Sub => {
            leaves(raw(0) >= raw(1));
            value(0) - value(1)
        }
        Opcode::Subc => {
            let borrow = 1 - came;
            leaves(raw(0) >= raw(1) + borrow);
            value(0) - value(1) - borrow as i128
        }
        Opcode::MulLo => product(value(0), value(1)),
        Opcode::MulHi => high(product(value(0), value(1))) as i128,
        Opcode::MulWide => {
            return Some(low((value(0) * value(1)) as u128, 2 * bits));
        }
        Opcode::MadWide => {
            return Some(low((value(0) * value(1)).wrapping_add(arg(2) as i128) as u128, 2 * bits));
        }
        Opcode::MadLo => {
            let part = low(product(value(0), value(1)) as u128, bits);
            leaves((part + raw(2)) >> bits != 0);
            product(value(0), value(1)).wrapping_add(value(2))
        }
        Opcode::MadHi => {
            let part = low(high(product(value(0), value(1))), bits);
            leaves((part + raw(2)) >> bits != 0);
            number(part, ty) + value(2)
        }
        Opcode::MadcLo | Opcode::MadcHi => {
            let all = product(value(0), value(1));
            let part = low(if op == Opcode::MadcLo { all as u128 } else { high(all) }, bits);
            leaves((part + raw(2) + came) >> bits != 0);
            number(part, ty) + value(2) + came as i128
        }
        Opcode::Mul24Lo => product24(),
        Opcode::Mul24Hi => product24() >> 16,
        Opcode::Mad24Lo => product24() + value(2),
        Opcode::Mad24Hi => {
            let part = number((product24() >> 16) as u128, ty);
            part + value(2)
        }
        Opcode::Div if value(1) == 0 => return Some(low(u128::MAX, bits)),
        Opcode::Div => value(0) / value(1),
        Opcode::Rem if value(1) == 0 => value(0),
        Opcode::Rem => value(0) % value(1),
        Opcode::Sad => value(2) + (value(0) - value(1)).abs(),
        Opcode::Abs => value(0).abs(),
        Opcode::Neg => -value(0),
        Opcode::Min => value(0).min(value(1)),
        Opcode::Max => value(0).max(value(1)),
        _ => return None,
    };
    let result = if relu { result.max(0) } else { result };
    Some(if sat { clamp(result, ty) } else { low(result as u128, bits) })
}

/// The bit that is the n-th of those set in 32, counted from a bit on, that bit too; downward for negative ones. 9.7.1.18 has it as a loop.
pub(super) fn nth_set(mask: u128, base: u128, offset: i128) -> u128 {
    const NONE: u128 = 0xffff_ffff;
    // Hardware has no positive counterpart to count with here.
    if offset == i32::MIN.into() {
        return 0;
    }
    let is_set = |bit: &u128| mask >> bit & 1 != 0;
    let (up, down) = (base..32, (0..=base.min(31)).rev());
    let found = match offset {
        _ if base > 31 => None,
        0 => Some(base).filter(is_set),
        1.. => up.filter(is_set).nth(offset as usize - 1),
        _ => down.filter(is_set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(NONE)
}
