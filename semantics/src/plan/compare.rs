//! `setp set selp slct testp` (manual 9.7.6, 9.7.7 and 9.7.3.1).

use super::types::{Bits, Number};
use super::{Plan, Slot, Step, Written};
use crate::lanes::{LaneFn, scalar, vector};
use crate::register::Width;
use crate::value::compare::{Comparison, Property, slct_single};
use crate::value::half::{BF16, F16};
use crate::value::packed::{mask2_16, mask4_8, split_16};
use smallvec::{SmallVec, smallvec};
use warpsmith_isa::{BoolOp, Instruction, Mod, NumberClass};

/// A closure with the comparison as the constant `$c`, so that it is one machine comparison; `None` for one that integers do not have.
macro_rules! integer_comparison {
    ($cmp:expr, $t:ty) => {
        integer_comparison!($cmp, |C| |a: $t, b: $t| C.apply(a, b))
    };
    ($cmp:expr, |$c:ident| $closure:expr) => {{
        macro_rules! at {
            ($variant:ident) => {{
                const $c: Comparison = Comparison::$variant;
                vector($closure)
            }};
        }
        match $cmp {
            Comparison::Eq => at!(Eq),
            Comparison::Ne => at!(Ne),
            Comparison::Lt => at!(Lt),
            Comparison::Le => at!(Le),
            Comparison::Gt => at!(Gt),
            Comparison::Ge => at!(Ge),
            Comparison::Equ
            | Comparison::Neu
            | Comparison::Ltu
            | Comparison::Leu
            | Comparison::Gtu
            | Comparison::Geu
            | Comparison::Num
            | Comparison::Nan => return None,
        }
    }};
}

macro_rules! float_comparison {
    ($cmp:expr, $t:ty, |$c:ident, $a:ident, $b:ident| $body:expr) => {
        float_comparison!(
            $cmp, $t, |$c, $a, $b| $body, Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num Nan
        )
    };
    ($cmp:expr, $t:ty, |$c:ident, $a:ident, $b:ident| $body:expr, $($variant:ident)*) => {
        match $cmp {
            $(Comparison::$variant => {
                const $c: Comparison = Comparison::$variant;
                vector(|$a: $t, $b: $t| $body)
            })*
        }
    };
}

/// The comparison of a type as a function to one predicate, or to two for packed types.
fn comparison(cmp: Comparison, number: Number, ftz: bool) -> Option<LaneFn> {
    Some(match number {
        Number::Unsigned(Bits::B16) => integer_comparison!(cmp, u16),
        Number::Unsigned(Bits::B32) => integer_comparison!(cmp, u32),
        Number::Unsigned(Bits::B64) => integer_comparison!(cmp, u64),
        Number::Signed(Bits::B16) => integer_comparison!(cmp, i16),
        Number::Signed(Bits::B32) => integer_comparison!(cmp, i32),
        Number::Signed(Bits::B64) => integer_comparison!(cmp, i64),
        Number::F32 if ftz => float_comparison!(cmp, u32, |C, a, b| C.single::<true>(a, b)),
        Number::F32 => float_comparison!(cmp, f32, |C, a, b| C.apply(a, b)),
        Number::F64 => float_comparison!(cmp, f64, |C, a, b| C.apply(a, b)),
        Number::F16 if ftz => float_comparison!(cmp, u16, |C, a, b| C.half::<F16>(true, a, b)),
        Number::F16 => float_comparison!(cmp, u16, |C, a, b| C.half::<F16>(false, a, b)),
        Number::BF16 => float_comparison!(cmp, u16, |C, a, b| C.half::<BF16>(false, a, b)),
        Number::F16x2 if ftz => float_comparison!(cmp, u32, |C, a, b| {
            let ([a0, a1], [b0, b1]) = (split_16(a), split_16(b));
            (C.half::<F16>(true, a0, b0), C.half::<F16>(true, a1, b1))
        }),
        Number::F16x2 => float_comparison!(cmp, u32, |C, a, b| {
            let ([a0, a1], [b0, b1]) = (split_16(a), split_16(b));
            (C.half::<F16>(false, a0, b0), C.half::<F16>(false, a1, b1))
        }),
        Number::BF16x2 => float_comparison!(cmp, u32, |C, a, b| {
            let ([a0, a1], [b0, b1]) = (split_16(a), split_16(b));
            (C.half::<BF16>(false, a0, b0), C.half::<BF16>(false, a1, b1))
        }),
        Number::Pred
        | Number::PackedUnsigned
        | Number::PackedSigned
        | Number::UnsignedBytes
        | Number::SignedBytes
        | Number::F32x2
        | Number::Other => {
            return None;
        }
    })
}

/// The comparison and the Boolean operator of a `set` or `setp`.
fn operators(i: &Instruction) -> Option<(Comparison, Option<LaneFn>)> {
    let combine = i.bool_op().map(|op| match op {
        BoolOp::And => vector(|t: bool, c: bool| t & c),
        BoolOp::Or => vector(|t: bool, c: bool| t | c),
        BoolOp::Xor => vector(|t: bool, c: bool| t ^ c),
    });
    Some((i.comparison()?.into(), combine))
}

const SOURCES: [Slot; 2] = [Slot::Src(0), Slot::Src(1)];

pub(crate) fn setp(i: &Instruction, _: &Written) -> Option<Plan> {
    let (cmp, combine) = operators(i)?;
    let function = comparison(cmp, Number::of(i.ty()?), i.has(Mod::Ftz))?;
    let pair = function.signature().dst.len() == 2;
    let (p, q) = (Slot::Temp(0, Width::Pred), Slot::Temp(1, Width::Pred));
    let not = vector(|t: bool| !t);
    let mut steps: SmallVec<[Step; 1]> = smallvec![];
    match (combine, pair) {
        (None, true) => return Some(Plan::simple(function)),
        (None, false) => {
            // `p` is the comparison, `q` its complement.
            steps.push(Step::new(function, &[Slot::Dst(0)], &SOURCES));
            steps.push(Step::new(not, &[Slot::Dst(1)], &[Slot::Dst(0)]));
        }
        (Some(combine), pair) => {
            if pair {
                steps.push(Step::new(function, &[p, q], &SOURCES));
            } else {
                steps.push(Step::new(function, &[p], &SOURCES));
                steps.push(Step::new(not, &[q], &[p]));
            }
            steps.push(Step::new(combine, &[Slot::Dst(0)], &[p, Slot::Src(2)]));
            steps.push(Step::new(combine, &[Slot::Dst(1)], &[q, Slot::Src(2)]));
        }
    }
    Some(Plan::of(steps))
}

/// What `set` writes for true, as the bits of its destination type.
fn true_value(number: Number) -> Option<u64> {
    Some(match number {
        Number::Unsigned(Bits::B16) | Number::Signed(Bits::B16) => 0xffff,
        Number::Unsigned(Bits::B32) | Number::Signed(Bits::B32) => 0xffff_ffff,
        Number::F32 => 0x3f80_0000,
        Number::F16 => 0x3c00,
        Number::BF16 => 0x3f80,
        Number::F16x2 => 0x3c00_3c00,
        Number::BF16x2 => 0x3f80_3f80,
        Number::Unsigned(Bits::B64)
        | Number::Signed(Bits::B64)
        | Number::Pred
        | Number::PackedUnsigned
        | Number::PackedSigned
        | Number::UnsignedBytes
        | Number::SignedBytes
        | Number::F64
        | Number::F32x2
        | Number::Other => return None,
    })
}

/// A closure that compares the lanes of packed integers.
macro_rules! packed_comparison {
    ($cmp:expr, $mask:ident, $u:ty as $t:ty) => {
        integer_comparison!($cmp, |C| |a: u32, b: u32| $mask(a, b, |a: $u, b: $u| C.apply(a as $t, b as $t)))
    };
}

/// `set` of packed integers: all ones in the lanes that it is true for.
fn packed_set(cmp: Comparison, number: Number) -> Option<LaneFn> {
    Some(match number {
        Number::UnsignedBytes => packed_comparison!(cmp, mask4_8, u8 as u8),
        Number::SignedBytes => packed_comparison!(cmp, mask4_8, u8 as i8),
        Number::PackedUnsigned => packed_comparison!(cmp, mask2_16, u16 as u16),
        Number::PackedSigned => packed_comparison!(cmp, mask2_16, u16 as i16),
        Number::Pred
        | Number::Unsigned(_)
        | Number::Signed(_)
        | Number::F16
        | Number::BF16
        | Number::F16x2
        | Number::BF16x2
        | Number::F32
        | Number::F64
        | Number::F32x2
        | Number::Other => return None,
    })
}

pub(crate) fn set(i: &Instruction, _: &Written) -> Option<Plan> {
    if i.types().count() == 1 {
        return packed_set(i.comparison()?.into(), Number::of(i.ty()?)).map(Plan::simple);
    }
    let mut types = i.types().map(Number::of);
    let (to, from) = (types.next()?, types.next()?);
    let (cmp, combine) = operators(i)?;
    let function = comparison(cmp, from, i.has(Mod::Ftz))?;
    let value = Slot::Constant(true_value(to)?, Width::W32);
    let tests: &[Slot] = &[Slot::Temp(0, Width::Pred), Slot::Temp(1, Width::Pred)];
    let tests = &tests[..function.signature().dst.len()];
    let mut steps: SmallVec<[Step; 1]> = smallvec![Step::new(function, tests, &SOURCES)];
    if let Some(combine) = combine {
        steps.extend(tests.iter().map(|t| Step::new(combine, &[*t], &[*t, Slot::Src(2)])));
    }
    steps.push(match *tests {
        [t] => {
            let choose = vector(|t: bool, value: u32| if t { value } else { 0 });
            Step::new(choose, &[Slot::Dst(0)], &[t, value])
        }
        [t0, t1] => {
            let choose = vector(|t0: bool, t1: bool, value: u32| {
                value & (if t0 { 0xffff } else { 0 } | if t1 { 0xffff_0000 } else { 0 })
            });
            Step::new(choose, &[Slot::Dst(0)], &[t0, t1, value])
        }
        _ => return None,
    });
    Some(Plan::of(steps))
}

/// A choice by a predicate at the type's width.
fn select(i: &Instruction) -> Option<LaneFn> {
    Some(match i.ty()?.bits() {
        1..=32 => vector(|a: u32, b: u32, p: bool| if p { a } else { b }),
        64 => vector(|a: u64, b: u64, p: bool| if p { a } else { b }),
        _ => return None,
    })
}

pub(crate) fn selp(i: &Instruction, _: &Written) -> Option<Plan> {
    select(i).map(Plan::simple)
}

pub(crate) fn slct(i: &Instruction, _: &Written) -> Option<Plan> {
    let test = match Number::of(i.types().nth(1)?) {
        Number::Signed(Bits::B32) => vector(|c: i32| c >= 0),
        Number::F32 if i.has(Mod::Ftz) => vector(slct_single::<true>),
        Number::F32 => vector(slct_single::<false>),
        Number::Pred
        | Number::Unsigned(_)
        | Number::Signed(Bits::B16 | Bits::B64)
        | Number::PackedUnsigned
        | Number::PackedSigned
        | Number::UnsignedBytes
        | Number::SignedBytes
        | Number::F16
        | Number::BF16
        | Number::F16x2
        | Number::BF16x2
        | Number::F64
        | Number::F32x2
        | Number::Other => return None,
    };
    let p = Slot::Temp(0, Width::Pred);
    Some(Plan::of(smallvec![
        Step::new(test, &[p], &[Slot::Src(2)]),
        Step::new(select(i)?, &[Slot::Dst(0)], &[Slot::Src(0), Slot::Src(1), p]),
    ]))
}

pub(crate) fn testp(i: &Instruction, _: &Written) -> Option<Plan> {
    let double = match i.ty()?.bits() {
        32 => false,
        64 => true,
        _ => return None,
    };
    macro_rules! of {
        ($property:ident) => {
            if double {
                scalar(|a: u64| Property::$property.double(a))
            } else {
                scalar(|a: u32| Property::$property.single(a))
            }
        };
    }
    Some(Plan::simple(match i.number_class()? {
        NumberClass::Finite => of!(Finite),
        NumberClass::Infinite => of!(Infinite),
        NumberClass::Number => of!(Number),
        NumberClass::NotANumber => of!(NotANumber),
        NumberClass::Normal => of!(Normal),
        NumberClass::Subnormal => of!(Subnormal),
    }))
}
