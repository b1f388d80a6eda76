//! What instructions compute, from the manual's descriptions, one value at a time. A modifier that nothing here asks about makes the instruction
//! unsupported: it cannot be ignored by mistake.

mod compare;
mod convert;
mod float;
mod integer;

use crate::reference::float::Format;
use compare::{set, setp};
use convert::cvt;
use float::float;
use integer::{integer, nth_set};
use rustc_apfloat::Round;
use std::cell::Cell;
use std::cmp::Ordering;
use warpsmith_isa::{Mnemonic, Mod, Opcode, ScalarType};

/// The results of an instruction: of most one, of `setp` and the like two.
pub(super) type Results = [u128; 2];

/// The modifiers, and which of them have been asked about.
struct Mods<'m> {
    mods: &'m [Mod],
    asked: Cell<u32>,
}

impl Mods<'_> {
    fn has(&self, modifier: Mod) -> bool {
        match self.mods.iter().position(|m| *m == modifier) {
            Some(place) => {
                self.asked.set(self.asked.get() | 1 << place);
                true
            }
            None => false,
        }
    }

    /// The n-th type that is named.
    fn ty(&self, n: usize) -> Option<ScalarType> {
        let mut types = self.mods.iter().enumerate().filter(|(_, m)| m.scalar().is_some());
        let (place, modifier) = types.nth(n)?;
        self.asked.set(self.asked.get() | 1 << place);
        modifier.scalar()
    }

    fn all_asked(&self) -> bool {
        self.asked.get().count_ones() as usize == self.mods.len()
    }

    fn round(&self) -> Round {
        match () {
            () if self.has(Mod::Rz) => Round::TowardZero,
            () if self.has(Mod::Rm) => Round::TowardNegative,
            () if self.has(Mod::Rp) => Round::TowardPositive,
            () => {
                self.has(Mod::Rn);
                Round::NearestTiesToEven
            }
        }
    }

    fn comparison(&self) -> Option<Mod> {
        use Mod::*;
        let all = [Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan];
        // The first: `.hi` and `.lo` are not comparisons where they stand in an opcode.
        all.into_iter().find(|m| self.has(*m))
    }
}

/// Low bits of a value.
pub(super) fn low(value: u128, bits: u32) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}

/// The value of low bits with a sign.
pub(super) fn signed(value: u128, bits: u32) -> i128 {
    let shift = 128 - bits.min(128);
    ((value << shift) as i128) >> shift
}

/// The number that an integer type reads in some bits.
fn number(value: u128, ty: ScalarType) -> i128 {
    if ty.is_signed() { signed(value, ty.bits()) } else { low(value, ty.bits()) as i128 }
}

/// The least and the greatest number of an integer type.
fn range(ty: ScalarType) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn clamp(value: i128, ty: ScalarType) -> u128 {
    let (least, greatest) = range(ty);
    low(value.clamp(least, greatest) as u128, ty.bits())
}

/// What an instruction computes from the values of its sources; `carry` is the flag of extended arithmetic. `None` for what is not described here.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not described here is said so")]
pub(super) fn compute(mnemonic: &Mnemonic, a: &[u128], carry: &mut bool) -> Option<Results> {
    let m = Mods { mods: mnemonic.mods(), asked: Cell::new(0) };
    let arg = |n: usize| a.get(n).copied().unwrap_or(0);
    let one = |value: u128| [value, 0];
    let found = match mnemonic.opcode() {
        Opcode::Testp => one(testp(&m, arg(0))?),
        Opcode::Selp => {
            m.ty(0)?;
            one(if arg(2) != 0 { arg(0) } else { arg(1) })
        }
        Opcode::Slct => {
            m.ty(0)?;
            let chooser = m.ty(1)?;
            let first = match chooser {
                ScalarType::S32 => signed(arg(2), 32) >= 0,
                ScalarType::F32 => {
                    let c =
                        if m.has(Mod::Ftz) { Format::F32.flushed(low(arg(2), 32)) } else { low(arg(2), 32) };
                    // A NaN is not greater or equal; minus zero is.
                    matches!(Format::F32.compare(c, 0), Some(Ordering::Greater | Ordering::Equal))
                }
                _ => return None,
            };
            one(if first { arg(0) } else { arg(1) })
        }
        Opcode::Setp => setp(&m, a)?,
        Opcode::Set => one(set(&m, a)?),
        Opcode::Cvt => one(cvt(&m, arg(0))?),
        Opcode::And => {
            m.ty(0)?;
            one(arg(0) & arg(1))
        }
        Opcode::Or => {
            m.ty(0)?;
            one(arg(0) | arg(1))
        }
        Opcode::Xor => {
            m.ty(0)?;
            one(arg(0) ^ arg(1))
        }
        Opcode::Not => {
            let bits = m.ty(0)?.bits();
            one(low(!arg(0), bits))
        }
        Opcode::Cnot => {
            let bits = m.ty(0)?.bits();
            one(u128::from(low(arg(0), bits) == 0))
        }
        Opcode::Lop3 => lop3(&m, a)?,
        Opcode::Shl => {
            let bits = m.ty(0)?.bits();
            let by = low(arg(1), 32).min(127) as u32;
            one(if by >= bits { 0 } else { low(low(arg(0), bits) << by, bits) })
        }
        Opcode::Shr => {
            let ty = m.ty(0)?;
            let by = low(arg(1), 32).min(ty.bits().into()) as u32;
            one(low((number(arg(0), ty) >> by.min(127)) as u128, ty.bits()))
        }
        Opcode::ShfL | Opcode::ShfR => {
            m.ty(0)?;
            let amount = low(arg(2), 32);
            let by = if m.has(Mod::Wrap) {
                amount & 31
            } else {
                m.has(Mod::Clamp);
                amount.min(32)
            };
            let both = (low(arg(1), 32) << 32) | low(arg(0), 32);
            let left = mnemonic.opcode() == Opcode::ShfL;
            one(low(if left { (both << by) >> 32 } else { both >> by }, 32))
        }
        Opcode::Prmt => one(prmt(&m, arg(0), arg(1), arg(2))?),
        Opcode::Popc => {
            let bits = m.ty(0)?.bits();
            one(low(arg(0), bits).count_ones().into())
        }
        Opcode::Clz => {
            let bits = m.ty(0)?.bits();
            one((low(arg(0), bits).leading_zeros() - (128 - bits)).into())
        }
        Opcode::Brev => {
            let bits = m.ty(0)?.bits();
            one(low(arg(0), bits).reverse_bits() >> (128 - bits))
        }
        Opcode::Bfind => {
            let ty = m.ty(0)?;
            let bits = ty.bits();
            let value = if ty.is_signed() && signed(arg(0), bits) < 0 { !arg(0) } else { arg(0) };
            let value = low(value, bits);
            let shift = m.has(Mod::Shiftamt);
            one(match value {
                0 => 0xffff_ffff,
                value => {
                    let highest = 127 - value.leading_zeros();
                    u128::from(if shift { bits - 1 - highest } else { highest })
                }
            })
        }
        Opcode::Bfe => {
            let ty = m.ty(0)?;
            one(bfe(arg(0), ty, field(arg(1), ty.bits()), field(arg(2), ty.bits())))
        }
        Opcode::Bfi => {
            let bits = m.ty(0)?.bits();
            let (position, length) = (field(arg(2), bits), field(arg(3), bits));
            let mut result = low(arg(1), bits);
            for i in 0..length.min(bits) {
                let at = position.saturating_add(i);
                if at < bits {
                    result = (result & !(1 << at)) | ((arg(0) >> i & 1) << at);
                }
            }
            one(result)
        }
        Opcode::Szext => {
            let ty = m.ty(0)?;
            let wrap = m.has(Mod::Wrap);
            m.has(Mod::Clamp);
            let width = low(arg(1), 32);
            let width = if wrap { width & 31 } else { width.min(32) } as u32;
            one(match width {
                0 => 0,
                width if ty.is_signed() => low(signed(arg(0), width) as u128, 32),
                width => low(arg(0), width),
            })
        }
        Opcode::Bmsk => {
            m.ty(0)?;
            let wrap = m.has(Mod::Wrap);
            m.has(Mod::Clamp);
            let (from, width) = (low(arg(0), 32), low(arg(1), 32));
            let (from, width) = if wrap { (from & 31, width & 31) } else { (from.min(32), width.min(32)) };
            let ones = low(u128::MAX, width as u32);
            one(low(ones << from, 32))
        }
        Opcode::Fns => {
            m.ty(0)?;
            one(nth_set(low(arg(0), 32), low(arg(1), 32), signed(low(arg(2), 32), 32)))
        }
        Opcode::Dp4a => {
            let (first, second) = (m.ty(0)?, m.ty(1)?);
            let byte = |value: u128, ty: ScalarType, n: u32| -> i128 {
                let byte = low(value >> (8 * n), 8);
                if ty.is_signed() { signed(byte, 8) } else { byte as i128 }
            };
            let sum: i128 = (0..4).map(|n| byte(arg(0), first, n) * byte(arg(1), second, n)).sum();
            one(low((sum + arg(2) as i128) as u128, 32))
        }
        Opcode::Dp2aLo | Opcode::Dp2aHi => {
            let (first, second) = (m.ty(0)?, m.ty(1)?);
            let high = if mnemonic.opcode() == Opcode::Dp2aHi { 2 } else { 0 };
            let part = |value: u128, bits: u32, ty: ScalarType| -> i128 {
                if ty.is_signed() { signed(low(value, bits), bits) } else { low(value, bits) as i128 }
            };
            let sum: i128 = (0..2)
                .map(|n| part(arg(0) >> (16 * n), 16, first) * part(arg(1) >> (8 * (n + high)), 8, second))
                .sum();
            one(low((sum + arg(2) as i128) as u128, 32))
        }
        Opcode::Copysign => {
            let format = Format::of(m.ty(0)?)?;
            one((arg(1) & (format.sign() - 1)) | (arg(0) & format.sign()))
        }
        Opcode::Rcp | Opcode::Sqrt => {
            let ty = m.ty(0)?;
            let format = Format::of(ty)?;
            let round = m.round();
            let ftz = m.has(Mod::Ftz);
            let source = if ftz { format.flushed(low(arg(0), ty.bits())) } else { low(arg(0), ty.bits()) };
            let result = if mnemonic.opcode() == Opcode::Rcp {
                format.div(format.one(), source, round)
            } else {
                format.sqrt(source, round)?
            };
            one(if ftz { format.flushed(result) } else { result })
        }
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::MulLo
        | Opcode::MulHi
        | Opcode::MulWide
        | Opcode::Mad
        | Opcode::MadLo
        | Opcode::MadHi
        | Opcode::MadWide
        | Opcode::Mul24Lo
        | Opcode::Mul24Hi
        | Opcode::Mad24Lo
        | Opcode::Mad24Hi
        | Opcode::Fma
        | Opcode::Div
        | Opcode::Rem
        | Opcode::Sad
        | Opcode::Abs
        | Opcode::Neg
        | Opcode::Min
        | Opcode::Max
        | Opcode::Addc
        | Opcode::Subc
        | Opcode::MadcLo
        | Opcode::MadcHi => one(arithmetic(mnemonic.opcode(), &m, a, carry)?),
        _ => return None,
    };
    m.all_asked().then_some(found)
}

fn testp(m: &Mods, a: u128) -> Option<u128> {
    let format = Format::of(m.ty(0)?)?;
    let a = low(a, format.bits());
    let (nan, infinite, subnormal) = (format.is_nan(a), format.is_infinite(a), format.is_subnormal(a));
    let holds = match () {
        () if m.has(Mod::Finite) => !nan && !infinite,
        () if m.has(Mod::Infinite) => infinite,
        () if m.has(Mod::Number) => !nan,
        () if m.has(Mod::Notanumber) => nan,
        () if m.has(Mod::Normal) => !nan && !infinite && !subnormal && !format.is_zero(a),
        () if m.has(Mod::Subnormal) => subnormal,
        () => return None,
    };
    Some(holds.into())
}

/// What counts of a position or a length: the low 8 bits, as the manual has it, of 32-bit values; all 32 of 64-bit values, as hardware does
/// (`docs/engine.md`).
fn field(operand: u128, bits: u32) -> u32 {
    low(operand, if bits == 64 { 32 } else { 8 }) as u32
}

fn bfe(value: u128, ty: ScalarType, position: u32, length: u32) -> u128 {
    let bits = ty.bits();
    let value = low(value, bits);
    let sign_at = position.saturating_add(length).saturating_sub(1).min(bits - 1);
    let sign = if !ty.is_signed() || length == 0 { 0 } else { value >> sign_at & 1 };
    let mut result = 0;
    for i in 0..bits {
        let at = position.saturating_add(i);
        let bit = if i < length && at < bits { value >> at & 1 } else { sign };
        result |= bit << i;
    }
    result
}

fn prmt(m: &Mods, a: u128, b: u128, c: u128) -> Option<u128> {
    m.ty(0)?;
    let bytes = |n: u128| low((low(b, 32) << 32 | low(a, 32)) >> (8 * (n & 7)), 8);
    let k = c & 3;
    let of = |order: [u128; 4]| order.iter().enumerate().fold(0, |d, (n, &byte)| d | bytes(byte) << (8 * n));
    Some(match () {
        () if m.has(Mod::F4e) => of([k, k + 1, k + 2, k + 3]),
        () if m.has(Mod::B4e) => of([k, (k + 7) % 8, (k + 6) % 8, (k + 5) % 8]),
        () if m.has(Mod::Rc8) => of([k, k, k, k]),
        () if m.has(Mod::Ecl) => of([k, k.max(1), k.max(2), 3]),
        () if m.has(Mod::Ecr) => of([0, k.min(1), k.min(2), k]),
        () if m.has(Mod::Rc16) => {
            let half = (k & 1) * 2;
            of([half, half + 1, half, half + 1])
        }
        () => (0..4).fold(0, |d, n| {
            let selector = c >> (4 * n) & 15;
            let byte = bytes(selector & 7);
            let byte = if selector & 8 == 0 {
                byte
            } else if byte & 0x80 == 0 {
                0
            } else {
                0xff
            };
            d | byte << (8 * n)
        }),
    })
}

fn lop3(m: &Mods, a: &[u128]) -> Option<Results> {
    m.ty(0)?;
    let [x, y, z, table] = [a.first()?, a.get(1)?, a.get(2)?, a.get(3)?].map(|v| *v);
    let mut result = 0;
    for bit in 0..32 {
        let index = (x >> bit & 1) << 2 | (y >> bit & 1) << 1 | (z >> bit & 1);
        result |= (table >> index & 1) << bit;
    }
    let predicate = a.get(4).copied().unwrap_or(0);
    let any = u128::from(result != 0);
    let second = match () {
        () if m.has(Mod::Or) => any | predicate,
        () if m.has(Mod::And) => any & predicate,
        () => 0,
    };
    Some([result, second])
}

/// The lanes that a packed type has.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not packed has no elements")]
fn lane_type(ty: ScalarType) -> Option<ScalarType> {
    match ty {
        ScalarType::F16x2 => Some(ScalarType::F16),
        ScalarType::BF16x2 => Some(ScalarType::BF16),
        ScalarType::F32x2 => Some(ScalarType::F32),
        ScalarType::U16x2 => Some(ScalarType::U16),
        ScalarType::S16x2 => Some(ScalarType::S16),
        _ => None,
    }
}

fn arithmetic(op: Opcode, m: &Mods, a: &[u128], carry: &mut bool) -> Option<u128> {
    let ty = m.ty(0)?;
    if let Some(lane) = lane_type(ty) {
        let bits = lane.bits();
        let mut result = 0;
        for n in 0..ty.bits() / bits {
            let lanes: Vec<u128> = a.iter().map(|value| low(value >> (n * bits), bits)).collect();
            let value = match Format::of(lane) {
                Some(format) => float(op, m, format, &lanes)?,
                None => integer(op, m, lane, &lanes, carry)?,
            };
            result |= low(value, bits) << (n * bits);
        }
        return Some(result);
    }
    match Format::of(ty) {
        // Two types: mixed precision, which has its own rules.
        Some(_) if m.ty(1).is_some() => None,
        Some(format) => {
            let a: Vec<u128> = a.iter().map(|value| low(*value, format.bits())).collect();
            float(op, m, format, &a)
        }
        None if ty.is_integer() => integer(op, m, ty, a, carry),
        None => None,
    }
}
