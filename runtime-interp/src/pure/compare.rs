//! `setp set selp slct testp`.

use super::{Name, Plan, Slot, Step};
use crate::engine::Width;
use crate::engine::lanes::{LaneFn, scalar, vector};
use crate::semantics::compare::{Comparison, Property, slct_single};
use crate::semantics::half::{BF16, F16};
use crate::semantics::packed::split_16;
use smallvec::{SmallVec, smallvec};
use warpsmith_isa::ScalarType::{self, *};

/// A closure with the comparison as a constant, so that it is one machine comparison.
macro_rules! by_comparison {
    ($cmp:expr, [$($variant:ident)*], $c:ident => $body:expr) => {
        match $cmp {
            $(Comparison::$variant => { const $c: Comparison = Comparison::$variant; $body })*
            #[allow(unreachable_patterns)]
            _ => return None,
        }
    };
}

macro_rules! integer_comparison {
    ($cmp:expr, $t:ty) => {
        by_comparison!($cmp, [Eq Ne Lt Le Gt Ge], C => vector(|a: $t, b: $t| C.apply(a, b)))
    };
}

macro_rules! float_comparison {
    ($cmp:expr, $t:ty, |$c:ident, $a:ident, $b:ident| $body:expr) => {
        by_comparison!($cmp, [Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num Nan], $c => vector(|$a: $t, $b: $t| $body))
    };
}

/// The comparison of a type as a function to one predicate, or to two for packed types.
fn comparison(cmp: Comparison, ty: ScalarType, ftz: bool) -> Option<LaneFn> {
    Some(match ty {
        B16 | U16 => integer_comparison!(cmp, u16),
        B32 | U32 => integer_comparison!(cmp, u32),
        B64 | U64 => integer_comparison!(cmp, u64),
        S16 => integer_comparison!(cmp, i16),
        S32 => integer_comparison!(cmp, i32),
        S64 => integer_comparison!(cmp, i64),
        F32 if ftz => float_comparison!(cmp, u32, |C, a, b| C.single::<true>(a, b)),
        F32 => float_comparison!(cmp, f32, |C, a, b| C.apply(a, b)),
        F64 => float_comparison!(cmp, f64, |C, a, b| C.apply(a, b)),
        ScalarType::F16 if ftz => float_comparison!(cmp, u16, |C, a, b| C.half::<F16>(true, a, b)),
        ScalarType::F16 => float_comparison!(cmp, u16, |C, a, b| C.half::<F16>(false, a, b)),
        ScalarType::BF16 => float_comparison!(cmp, u16, |C, a, b| C.half::<BF16>(false, a, b)),
        F16x2 if ftz => float_comparison!(cmp, u32, |C, a, b| {
            let ([a0, a1], [b0, b1]) = (split_16(a), split_16(b));
            (C.half::<F16>(true, a0, b0), C.half::<F16>(true, a1, b1))
        }),
        F16x2 => float_comparison!(cmp, u32, |C, a, b| {
            let ([a0, a1], [b0, b1]) = (split_16(a), split_16(b));
            (C.half::<F16>(false, a0, b0), C.half::<F16>(false, a1, b1))
        }),
        BF16x2 => float_comparison!(cmp, u32, |C, a, b| {
            let ([a0, a1], [b0, b1]) = (split_16(a), split_16(b));
            (C.half::<BF16>(false, a0, b0), C.half::<BF16>(false, a1, b1))
        }),
        _ => return None,
    })
}

pub(super) fn plan(name: &Name) -> Option<Plan> {
    match name.op {
        "setp" => setp(name),
        "set" => set(name),
        "selp" => select(name.ty()?).map(Plan::simple),
        "slct" => slct(name),
        "testp" => testp(name),
        _ => None,
    }
}

/// The comparison and the Boolean operator of a `set` or `setp`.
fn operators(name: &Name) -> Option<(Comparison, Option<LaneFn>)> {
    let cmp = name.mods.iter().find_map(|m| Comparison::from_name(m.text()))?;
    let combine = name.mods.iter().find_map(|m| {
        Some(match m.text() {
            "and" => vector(|t: bool, c: bool| t & c),
            "or" => vector(|t: bool, c: bool| t | c),
            "xor" => vector(|t: bool, c: bool| t ^ c),
            _ => return None,
        })
    });
    Some((cmp, combine))
}

fn sources() -> SmallVec<[Slot; 4]> {
    smallvec![Slot::Src(0), Slot::Src(1)]
}

fn setp(name: &Name) -> Option<Plan> {
    let ty = name.ty()?;
    let (cmp, combine) = operators(name)?;
    let function = comparison(cmp, ty, name.has("ftz"))?;
    let pair = function.signature().dst.len() == 2;
    let (p, q) = (Slot::Temp(0, Width::Pred), Slot::Temp(1, Width::Pred));
    let not = vector(|t: bool| !t);
    let mut steps: SmallVec<[Step; 1]> = smallvec![];
    match (combine, pair) {
        (None, true) => return Some(Plan::simple(function)),
        (None, false) => {
            // `p` is the comparison, `q` its complement.
            steps.push(Step { function, dst: smallvec![Slot::Dst(0)], src: sources() });
            steps.push(Step { function: not, dst: smallvec![Slot::Dst(1)], src: smallvec![Slot::Dst(0)] });
        }
        (Some(combine), pair) => {
            let mut both = |t: Slot, d: u8| {
                steps.push(Step {
                    function: combine,
                    dst: smallvec![Slot::Dst(d)],
                    src: smallvec![t, Slot::Src(2)],
                });
            };
            both(p, 0);
            both(q, 1);
            let compare = if pair {
                smallvec![Step { function, dst: smallvec![p, q], src: sources() }]
            } else {
                smallvec![
                    Step { function, dst: smallvec![p], src: sources() },
                    Step { function: not, dst: smallvec![q], src: smallvec![p] },
                ]
            };
            let compare: SmallVec<[Step; 2]> = compare;
            steps.insert_many(0, compare);
        }
    }
    Some(Plan::of(steps))
}

/// What `set` writes for true, as the bits of its destination type.
fn true_value(ty: ScalarType) -> Option<u64> {
    Some(match ty {
        U16 | S16 => 0xffff,
        U32 | S32 => 0xffff_ffff,
        F32 => 0x3f80_0000,
        ScalarType::F16 => 0x3c00,
        ScalarType::BF16 => 0x3f80,
        F16x2 => 0x3c00_3c00,
        BF16x2 => 0x3f80_3f80,
        _ => return None,
    })
}

fn set(name: &Name) -> Option<Plan> {
    let (to, from) = (name.ty()?, *name.types.get(1)?);
    let (cmp, combine) = operators(name)?;
    let function = comparison(cmp, from, name.has("ftz"))?;
    let value = Slot::Constant(true_value(to)?, Width::W32);
    let tests: &[Slot] = &[Slot::Temp(0, Width::Pred), Slot::Temp(1, Width::Pred)];
    let tests = &tests[..function.signature().dst.len()];
    let mut steps: SmallVec<[Step; 1]> =
        smallvec![Step { function, dst: tests.iter().copied().collect(), src: sources() }];
    if let Some(combine) = combine {
        steps.extend(tests.iter().map(|t| Step {
            function: combine,
            dst: smallvec![*t],
            src: smallvec![*t, Slot::Src(2)],
        }));
    }
    steps.push(match tests {
        [t] => Step {
            function: vector(|t: bool, value: u32| if t { value } else { 0 }),
            dst: smallvec![Slot::Dst(0)],
            src: smallvec![*t, value],
        },
        [t0, t1] => Step {
            function: vector(|t0: bool, t1: bool, value: u32| {
                value & (if t0 { 0xffff } else { 0 } | if t1 { 0xffff_0000 } else { 0 })
            }),
            dst: smallvec![Slot::Dst(0)],
            src: smallvec![*t0, *t1, value],
        },
        _ => return None,
    });
    Some(Plan::of(steps))
}

/// `selp`: a choice by a predicate at the type's width.
fn select(ty: ScalarType) -> Option<LaneFn> {
    Some(match ty.bits() {
        1..=32 => vector(|a: u32, b: u32, p: bool| if p { a } else { b }),
        64 => vector(|a: u64, b: u64, p: bool| if p { a } else { b }),
        _ => return None,
    })
}

fn slct(name: &Name) -> Option<Plan> {
    let (to, from) = (name.ty()?, *name.types.get(1)?);
    let test = match from {
        S32 => vector(|c: i32| c >= 0),
        F32 if name.has("ftz") => vector(slct_single::<true>),
        F32 => vector(slct_single::<false>),
        _ => return None,
    };
    let p = Slot::Temp(0, Width::Pred);
    Some(Plan::of(smallvec![
        Step { function: test, dst: smallvec![p], src: smallvec![Slot::Src(2)] },
        Step {
            function: select(to)?,
            dst: smallvec![Slot::Dst(0)],
            src: smallvec![Slot::Src(0), Slot::Src(1), p]
        },
    ]))
}

fn testp(name: &Name) -> Option<Plan> {
    macro_rules! of {
        ($property:ident) => {
            match name.ty()? {
                F32 => scalar(|a: u32| Property::$property.single(a)),
                F64 => scalar(|a: u64| Property::$property.double(a)),
                _ => return None,
            }
        };
    }
    Some(Plan::simple(
        match name.mods.iter().map(|m| m.text()).find(|t| !t.starts_with('f') || *t == "finite")? {
            "finite" => of!(Finite),
            "infinite" => of!(Infinite),
            "number" => of!(Number),
            "notanumber" => of!(NotANumber),
            "normal" => of!(Normal),
            "subnormal" => of!(Subnormal),
            _ => return None,
        },
    ))
}
