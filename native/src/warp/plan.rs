//! Which arithmetic is compiled, and as what.

use cranelift_codegen::ir::condcodes::{FloatCC as Fc, IntCC as Cc};
use warpsmith_interp::engine::{Program, RunStep, Width};
use warpsmith_isa::{Comparison, Instruction, Mod, Operation, OutOfRange, Rounding, ScalarType};

/// What is computed, as far as the types of registers and the modifiers do not say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Plan {
    Move,
    Add,
    Sub,
    Multiply,
    MultiplyAdd,
    /// The product of 32 bits in 64, with an addend or without, of signed numbers or not.
    Widen {
        signed: bool,
        add: bool,
    },
    And,
    Or,
    Xor,
    Not,
    ShiftLeft(u32),
    ShiftRight {
        by: u32,
        signed: bool,
    },
    FunnelLeft(u32),
    FunnelRight(u32),
    Logic(u8),
    Permute(u32),
    Least {
        signed: bool,
    },
    Greatest {
        signed: bool,
    },
    Compare(Cc),
    CompareFloat(Fc),
    Choose,
    /// 32 bits to 64.
    Extend {
        signed: bool,
    },
    /// 64 bits to 32.
    Cut,
    /// 32 bits to `f32`.
    FromInteger {
        signed: bool,
    },
    AddFloat,
    SubFloat,
    MultiplyFloat,
    Fused,
}

impl Plan {
    /// It takes floats.
    pub fn is_float(self) -> bool {
        self.compares_floats()
            || matches!(self, Plan::AddFloat | Plan::SubFloat | Plan::MultiplyFloat | Plan::Fused)
    }

    /// It gives a predicate of floats.
    pub fn compares_floats(self) -> bool {
        matches!(self, Plan::CompareFloat(_))
    }
}

/// True if no modifier says more than the type, the comparison and what holds without one: `.relu`, `.ftz`, a second type and whatever tables have
/// tomorrow stay with the interpreter.
fn is_plain(i: &Instruction) -> bool {
    let types = if i.operation() == Operation::Cvt { 2 } else { 1 };
    let usual = |modifier: Mod| {
        modifier.scalar().is_some()
            || Comparison::of(modifier).is_some()
            || Rounding::of(modifier) == Some(Rounding::Nearest)
            || OutOfRange::of(modifier) == Some(OutOfRange::Wrap)
    };
    i.types().count() == types && i.mods().all(usual)
}

/// How an operation is compiled. `None` if it is not.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not here stays with the interpreter")]
pub(super) fn plan(program: &Program, step: &RunStep<'_>, fused_multiply: bool) -> Option<Plan> {
    use Width::{Pred, W32, W64};
    let i = step.instruction;
    if !is_plain(i) {
        return None;
    }
    let ty = i.ty()?;
    let widths: Vec<Width> = step.src[..step.sources].iter().map(|r| r.width()).collect();
    let to = step.dst.width();
    let same = |count: usize| widths == vec![to; count] && matches!(to, W32 | W64) && ty.bits() == to.bits();
    let predicates = |count: usize| to == Pred && widths == vec![Pred; count];
    let constant = |n: usize| program.small_constant(step.src[n]);
    let integer = matches!(
        ty,
        ScalarType::U32
            | ScalarType::S32
            | ScalarType::U64
            | ScalarType::S64
            | ScalarType::B32
            | ScalarType::B64
    );
    let signed = matches!(ty, ScalarType::S32 | ScalarType::S64);
    let float = matches!(ty, ScalarType::F32 | ScalarType::F64);
    Some(match i.operation() {
        Operation::Mov if same(1) => Plan::Move,
        Operation::AddInteger if integer && same(2) => Plan::Add,
        Operation::SubInteger if integer && same(2) => Plan::Sub,
        Operation::MulLo if integer && same(2) => Plan::Multiply,
        Operation::MadLoInteger if integer && same(3) => Plan::MultiplyAdd,
        Operation::MulWide if integer && ty.bits() == 32 && to == W64 && widths == [W32, W32] => {
            Plan::Widen { signed, add: false }
        }
        Operation::MadWide if integer && ty.bits() == 32 && to == W64 && widths == [W32, W32, W64] => {
            Plan::Widen { signed, add: true }
        }
        Operation::And if same(2) || predicates(2) => Plan::And,
        Operation::Or if same(2) || predicates(2) => Plan::Or,
        Operation::Xor if same(2) || predicates(2) => Plan::Xor,
        Operation::Not if same(1) || predicates(1) => Plan::Not,
        Operation::Mov if predicates(1) => Plan::Move,
        Operation::Shl if widths == [to, W32] && ty.bits() == to.bits() => Plan::ShiftLeft(constant(1)?),
        Operation::Shr if widths == [to, W32] && ty.bits() == to.bits() => {
            Plan::ShiftRight { by: constant(1)?, signed }
        }
        Operation::ShfL if same(3) => Plan::FunnelLeft(constant(2)? & 31),
        Operation::ShfR if same(3) => Plan::FunnelRight(constant(2)? & 31),
        Operation::Lop3 if same(4) => Plan::Logic(constant(3)? as u8),
        Operation::Prmt if same(3) => {
            let selectors = constant(2)?;
            if selectors & 0x8888 != 0 {
                return None;
            }
            Plan::Permute(selectors)
        }
        Operation::MinInteger if integer && same(2) && to == W32 => Plan::Least { signed },
        Operation::MaxInteger if integer && same(2) && to == W32 => Plan::Greatest { signed },
        Operation::Setp if to == Pred && (widths == [W32, W32] || widths == [W64, W64]) => {
            if ty.bits() != widths[0].bits() {
                return None;
            }
            let comparison = i.comparison()?;
            if float {
                Plan::CompareFloat(float_condition(comparison)?)
            } else {
                Plan::Compare(condition(comparison, ty)?)
            }
        }
        Operation::Selp if widths == [to, to, Pred] && ty.bits() == to.bits() => Plan::Choose,
        Operation::Cvt => {
            let types: Vec<ScalarType> = i.types().collect();
            match types[..] {
                [ScalarType::U64 | ScalarType::S64, from @ (ScalarType::U32 | ScalarType::S32)]
                    if to == W64 && widths == [W32] =>
                {
                    Plan::Extend { signed: from == ScalarType::S32 }
                }
                [ScalarType::U32 | ScalarType::S32, ScalarType::U64 | ScalarType::S64]
                    if to == W32 && widths == [W64] =>
                {
                    Plan::Cut
                }
                [ScalarType::F32, from @ (ScalarType::U32 | ScalarType::S32)]
                    if to == W32 && widths == [W32] =>
                {
                    Plan::FromInteger { signed: from == ScalarType::S32 }
                }
                _ => return None,
            }
        }
        Operation::AddFloat if float && same(2) => Plan::AddFloat,
        Operation::SubFloat if float && same(2) => Plan::SubFloat,
        Operation::MulFloat if float && same(2) => Plan::MultiplyFloat,
        Operation::FmaFloat if float && same(3) && fused_multiply => Plan::Fused,
        _ => return None,
    })
}

fn condition(comparison: Comparison, ty: ScalarType) -> Option<Cc> {
    let signed = matches!(ty, ScalarType::S32 | ScalarType::S64);
    let pick = |of_signed, of_unsigned| if signed { of_signed } else { of_unsigned };
    Some(match comparison {
        Comparison::Eq => Cc::Equal,
        Comparison::Ne => Cc::NotEqual,
        Comparison::Lt | Comparison::Lo => pick(Cc::SignedLessThan, Cc::UnsignedLessThan),
        Comparison::Le | Comparison::Ls => pick(Cc::SignedLessThanOrEqual, Cc::UnsignedLessThanOrEqual),
        Comparison::Gt | Comparison::Hi => pick(Cc::SignedGreaterThan, Cc::UnsignedGreaterThan),
        Comparison::Ge | Comparison::Hs => pick(Cc::SignedGreaterThanOrEqual, Cc::UnsignedGreaterThanOrEqual),
        Comparison::Equ
        | Comparison::Neu
        | Comparison::Ltu
        | Comparison::Leu
        | Comparison::Gtu
        | Comparison::Geu
        | Comparison::Num
        | Comparison::Nan => return None,
    })
}

fn float_condition(comparison: Comparison) -> Option<Fc> {
    Some(match comparison {
        Comparison::Eq => Fc::Equal,
        Comparison::Lt => Fc::LessThan,
        Comparison::Le => Fc::LessThanOrEqual,
        Comparison::Gt => Fc::GreaterThan,
        Comparison::Ge => Fc::GreaterThanOrEqual,
        Comparison::Neu => Fc::NotEqual,
        Comparison::Num => Fc::Ordered,
        Comparison::Nan => Fc::Unordered,
        Comparison::Ne
        | Comparison::Equ
        | Comparison::Ltu
        | Comparison::Leu
        | Comparison::Gtu
        | Comparison::Geu
        | Comparison::Lo
        | Comparison::Ls
        | Comparison::Hi
        | Comparison::Hs => return None,
    })
}
