//! Values as registers.

use crate::engine::lanes::portable as vector;
use crate::engine::{FunctionBuilder, Reg, Width};
use smallvec::{SmallVec, smallvec};
use warpsmith_ir::{Type, TypeTable};

/// The registers of a value.
pub(super) type Regs = SmallVec<[Reg; 2]>;

/// The widths of the registers that hold a value of a type: those of a struct or array are those of its parts, in order.
pub(super) fn shape(types: &TypeTable, ty: Type) -> Result<SmallVec<[Width; 2]>, String> {
    if !ty.is_aggregate() {
        return plain(ty);
    }
    let mut all = SmallVec::new();
    for (part, _) in types.parts_of(ty) {
        all.extend(plain(part)?);
    }
    Ok(all)
}

/// The widths of the registers that hold a scalar or vector.
fn plain(ty: Type) -> Result<SmallVec<[Width; 2]>, String> {
    let element = ty.element_type().bits();
    if element == 1 {
        return Ok(SmallVec::from_elem(Width::Pred, ty.lanes() as usize));
    }
    if element == 0 {
        return Err(format!("a value of type {ty}"));
    }
    if !ty.is_vector() {
        return Ok(smallvec![Width::for_bits(element)]);
    }
    if element >= 32 {
        return Ok(SmallVec::from_elem(Width::for_bits(element), ty.lanes() as usize));
    }
    if 32 % element != 0 {
        return Err(format!("vectors of {}, whose elements do not fill 32-bit words", ty.element()));
    }
    Ok(SmallVec::from_elem(Width::W32, ty.bits().div_ceil(32) as usize))
}

/// Where an element of a vector lies: which register, the bit it starts at, and whether it is the whole register.
pub(super) fn element(ty: Type, lane: u32) -> (usize, u32, bool) {
    let bits = ty.element_type().bits();
    if bits >= 32 || bits == 1 {
        (lane as usize, 0, true)
    } else {
        ((lane * bits / 32) as usize, lane * bits % 32, false)
    }
}

/// The width of a register that holds one element alone.
pub(super) fn element_width(ty: Type) -> Width {
    match ty.element_type().bits() {
        1 => Width::Pred,
        bits => Width::for_bits(bits.max(1)),
    }
}

/// The mask of an element of fewer than 32 bits.
pub(super) fn element_mask(ty: Type) -> u32 {
    u32::MAX >> (32 - ty.element_type().bits().min(32))
}

/// Puts a small element into a word.
pub(super) fn insert_bits(
    body: &mut FunctionBuilder<'_>,
    word: Reg,
    element: Reg,
    shift: u32,
    mask: u32,
) -> Reg {
    let d = body.reg(Width::W32);
    let [shift, mask] = [shift, mask].map(|x| body.constant(x.into(), Width::W32));
    let function = vector(|word: u32, element: u32, shift: u32, mask: u32| {
        word & !(mask << shift) | (element & mask) << shift
    });
    body.lanes(function, &[d], &[word, element, shift, mask]);
    d
}

/// Takes a small element out of a word.
pub(super) fn extract_bits(body: &mut FunctionBuilder<'_>, d: Reg, word: Reg, shift: u32, mask: u32) {
    let [shift, mask] = [shift, mask].map(|x| body.constant(x.into(), Width::W32));
    body.lanes(vector(|word: u32, shift: u32, mask: u32| word >> shift & mask), &[d], &[word, shift, mask]);
}

/// The value's bits as 32-bit words, the lowest first.
pub(super) fn to_words(body: &mut FunctionBuilder<'_>, regs: &[Reg]) -> Vec<Reg> {
    let mut words = Vec::new();
    for r in regs {
        let mut part = |function| {
            let d = body.reg(Width::W32);
            body.lanes(function, &[d], &[*r]);
            words.push(d);
        };
        match r.width() {
            // One of a struct; the bits of a vector of them are packed by the caller.
            Width::Pred => part(vector(|a: bool| u32::from(a))),
            Width::W32 => words.push(*r),
            Width::W64 => {
                part(vector(|a: u64| a as u32));
                part(vector(|a: u64| (a >> 32) as u32));
            }
            Width::W128 => {
                part(vector(|a: u128| a as u32));
                part(vector(|a: u128| (a >> 32) as u32));
                part(vector(|a: u128| (a >> 64) as u32));
                part(vector(|a: u128| (a >> 96) as u32));
            }
        }
    }
    words
}

/// Fills registers with 32-bit words, the lowest first; missing ones are zero.
pub(super) fn from_words(body: &mut FunctionBuilder<'_>, regs: &[Reg], words: &[Reg]) {
    let mut words = words.iter().copied().chain(std::iter::repeat(Reg::ZERO));
    let mut next = || words.next().unwrap_or(Reg::ZERO);
    for r in regs {
        match r.width() {
            Width::Pred => body.lanes(vector(|a: u32| a != 0), &[*r], &[next()]),
            Width::W32 => body.copy(*r, next()),
            Width::W64 => {
                let join = vector(|low: u32, high: u32| u64::from(low) | u64::from(high) << 32);
                body.lanes(join, &[*r], &[next(), next()]);
            }
            Width::W128 => {
                let join = vector(|a: u32, b: u32, c: u32, d: u32| {
                    u128::from(a) | u128::from(b) << 32 | u128::from(c) << 64 | u128::from(d) << 96
                });
                body.lanes(join, &[*r], &[next(), next(), next(), next()]);
            }
        }
    }
}

/// True if two types lie in registers alike, so that a value of one is a value of the other.
pub(super) fn same_registers(a: Type, b: Type) -> bool {
    // A scalar of fewer than 32 bits keeps zeros above it, as does a vector's last word.
    matches!((plain(a), plain(b)), (Ok(x), Ok(y)) if x == y) && a.bits() == b.bits()
}
