//! Comparisons: `setp` and `set`.

use super::{Mods, Results, lane_type, low, number};
use crate::reference::float::Format;
use warpsmith_isa::{Mod, ScalarType, TypeClass};

/// Whether a comparison holds between values of a type.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other modifier compares")]
pub(super) fn compares(comparison: Mod, ty: ScalarType, a: u128, b: u128, ftz: bool) -> Option<bool> {
    use Mod::*;
    if let Some(format) = Format::of(ty) {
        let flush = |v: u128| if ftz { format.flushed(low(v, format.bits())) } else { low(v, format.bits()) };
        let order = format.compare(flush(a), flush(b));
        return Some(match (comparison, order) {
            (Num, order) => order.is_some(),
            (Nan, order) => order.is_none(),
            (Eq | Ne | Lt | Le | Gt | Ge, None) => false,
            (Equ | Neu | Ltu | Leu | Gtu | Geu, None) => true,
            (Eq | Equ, Some(order)) => order.is_eq(),
            (Ne | Neu, Some(order)) => order.is_ne(),
            (Lt | Ltu, Some(order)) => order.is_lt(),
            (Le | Leu, Some(order)) => order.is_le(),
            (Gt | Gtu, Some(order)) => order.is_gt(),
            (Ge | Geu, Some(order)) => order.is_ge(),
            _ => return None,
        });
    }
    if matches!(ty.class(), TypeClass::Packed | TypeClass::Float | TypeClass::Opaque) {
        return None;
    }
    let order = number(a, ty).cmp(&number(b, ty));
    Some(match comparison {
        Eq => order.is_eq(),
        Ne => order.is_ne(),
        Lt | Lo => order.is_lt(),
        Le | Ls => order.is_le(),
        Gt | Hi => order.is_gt(),
        Ge | Hs => order.is_ge(),
        _ => return None,
    })
}

pub(super) fn combine(m: &Mods, holds: bool, c: bool) -> bool {
    match () {
        () if m.has(Mod::And) => holds & c,
        () if m.has(Mod::Or) => holds | c,
        () if m.has(Mod::Xor) => holds ^ c,
        () => holds,
    }
}

pub(super) fn setp(m: &Mods, a: &[u128]) -> Option<Results> {
    let ty = m.ty(0)?;
    if matches!(ty.class(), TypeClass::Packed) {
        return packed_setp(m, ty, a);
    }
    let holds = compares(m.comparison()?, ty, *a.first()?, *a.get(1)?, m.has(Mod::Ftz))?;
    let c = a.get(2).copied().unwrap_or(0) != 0;
    Some([combine(m, holds, c).into(), combine(m, !holds, c).into()])
}

pub(super) fn packed_setp(m: &Mods, ty: ScalarType, a: &[u128]) -> Option<Results> {
    let lane = lane_type(ty)?;
    let (comparison, ftz) = (m.comparison()?, m.has(Mod::Ftz));
    let c = a.get(2).copied().unwrap_or(0) != 0;
    let bits = lane.bits();
    let of = |n: u32| {
        Some(combine(
            m,
            compares(comparison, lane, *a.first()? >> (n * bits), *a.get(1)? >> (n * bits), ftz)?,
            c,
        ))
    };
    Some([of(0)?.into(), of(1)?.into()])
}

pub(super) fn set(m: &Mods, a: &[u128]) -> Option<u128> {
    let (to, from) = (m.ty(0)?, m.ty(1)?);
    let holds = compares(m.comparison()?, from, *a.first()?, *a.get(1)?, m.has(Mod::Ftz))?;
    let holds = combine(m, holds, a.get(2).copied().unwrap_or(0) != 0);
    Some(match Format::of(to) {
        _ if !holds => 0,
        Some(format) => format.one(),
        None if to.is_integer() && to.bits() <= 32 => low(u128::MAX, to.bits()),
        None => return None,
    })
}
