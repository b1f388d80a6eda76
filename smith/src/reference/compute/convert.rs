//! `cvt`.

use super::{Mods, clamp, low, number, range};
use crate::reference::float::Format;
use rustc_apfloat::Round;
use warpsmith_isa::Mod;

pub(super) fn cvt(m: &Mods, a: u128) -> Option<u128> {
    let (to, from) = (m.ty(0)?, m.ty(1)?);
    if m.ty(2).is_some() {
        return None;
    }
    let (sat, ftz) = (m.has(Mod::Sat), m.has(Mod::Ftz));
    let integral = [
        (Mod::Rni, Round::NearestTiesToEven),
        (Mod::Rzi, Round::TowardZero),
        (Mod::Rmi, Round::TowardNegative),
        (Mod::Rpi, Round::TowardPositive),
    ];
    let integral = integral.into_iter().find(|(modifier, _)| m.has(*modifier)).map(|(_, round)| round);
    let round = m.round();
    match (Format::of(from), Format::of(to)) {
        (None, None) if from.is_integer() && to.is_integer() => {
            let value = number(a, from);
            Some(if sat { clamp(value, to) } else { low(value as u128, to.bits()) })
        }
        (None, Some(format)) if from.is_integer() => {
            let result = format.of_int(number(a, from), round);
            Some(if sat { saturated(format, result) } else { result })
        }
        (Some(format), None) if to.is_integer() => {
            let a = low(a, format.bits());
            let a = if ftz && format == Format::F32 { format.flushed(a) } else { a };
            if format.is_nan(a) {
                let zero = format != Format::F64 && to.bits() != 64;
                return Some(if zero { 0 } else { 1 << (to.bits() - 1) });
            }
            let whole = format.round_to_integral(a, integral?);
            let (least, greatest) = range(to);
            let quad = format.exact(whole);
            let bound = |value: i128| {
                use rustc_apfloat::Float;
                rustc_apfloat::ieee::Quad::from_i128(value).value
            };
            let value = match () {
                () if quad < bound(least) => least,
                () if quad > bound(greatest) => greatest,
                () => {
                    use rustc_apfloat::Float;
                    let mut exact = true;
                    quad.to_i128_r(128, Round::TowardZero, &mut exact).value
                }
            };
            Some(low(value as u128, to.bits()))
        }
        (Some(source), Some(format)) => {
            let a = low(a, source.bits());
            // To f16 the operand is not flushed, whatever the manual says (`docs/engine.md`).
            let a = if ftz && source == Format::F32 && format != Format::F16 { source.flushed(a) } else { a };
            let a = match integral {
                Some(round) => source.round_to_integral(a, round),
                None => a,
            };
            let result = if source == format && !source.is_nan(a) {
                a
            } else {
                format.rounded(source.exact(a), round)
            };
            let result = if ftz && format == Format::F32 { format.flushed(result) } else { result };
            Some(if sat { saturated(format, result) } else { result })
        }
        _ => None,
    }
}

/// Between zero and one; zero for NaN.
pub(super) fn saturated(format: Format, value: u128) -> u128 {
    if format.is_nan(value) {
        return 0;
    }
    let below = format.extreme(value, format.one(), false, false);
    if below & format.sign() != 0 { 0 } else { below }
}
