//! Comparison and selection (PTX ISA 9.0, 9.7.6 and 9.7.7).

use super::half::Half;
use super::{double, single};
use warpsmith_isa as isa;

/// A comparison operator of `set` and `setp`. `lo ls hi hs` are `lt le gt ge` on unsigned operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// `eq`
    Eq,
    /// `ne`
    Ne,
    /// `lt`, `lo`
    Lt,
    /// `le`, `ls`
    Le,
    /// `gt`, `hi`
    Gt,
    /// `ge`, `hs`
    Ge,
    /// `equ`: equal or unordered.
    Equ,
    /// `neu`
    Neu,
    /// `ltu`
    Ltu,
    /// `leu`
    Leu,
    /// `gtu`
    Gtu,
    /// `geu`
    Geu,
    /// `num`: both operands are numbers.
    Num,
    /// `nan`: an operand is NaN.
    Nan,
}

impl From<isa::Comparison> for Comparison {
    fn from(comparison: isa::Comparison) -> Comparison {
        match comparison {
            isa::Comparison::Eq => Comparison::Eq,
            isa::Comparison::Ne => Comparison::Ne,
            isa::Comparison::Lt | isa::Comparison::Lo => Comparison::Lt,
            isa::Comparison::Le | isa::Comparison::Ls => Comparison::Le,
            isa::Comparison::Gt | isa::Comparison::Hi => Comparison::Gt,
            isa::Comparison::Ge | isa::Comparison::Hs => Comparison::Ge,
            isa::Comparison::Equ => Comparison::Equ,
            isa::Comparison::Neu => Comparison::Neu,
            isa::Comparison::Ltu => Comparison::Ltu,
            isa::Comparison::Leu => Comparison::Leu,
            isa::Comparison::Gtu => Comparison::Gtu,
            isa::Comparison::Geu => Comparison::Geu,
            isa::Comparison::Num => Comparison::Num,
            isa::Comparison::Nan => Comparison::Nan,
        }
    }
}

impl Comparison {
    /// Compares numbers of any ordered type. Every operator is a plain expression over `<` and `==`, so that a loop over
    /// lanes with a constant operator vectorises.
    #[inline(always)]
    pub fn apply<T: PartialOrd + Copy>(self, a: T, b: T) -> bool {
        #[allow(clippy::eq_op)] // a value differs from itself exactly if it is NaN
        let unordered = || (a != a) | (b != b);
        match self {
            Comparison::Eq => a == b,
            // `ne` is ordered: false for NaN, unlike the host's operator.
            Comparison::Ne => (a < b) | (a > b),
            Comparison::Lt => a < b,
            Comparison::Le => a <= b,
            Comparison::Gt => a > b,
            Comparison::Ge => a >= b,
            Comparison::Equ => (a == b) | unordered(),
            Comparison::Neu => a != b,
            Comparison::Ltu => (a < b) | unordered(),
            Comparison::Leu => (a <= b) | unordered(),
            Comparison::Gtu => (a > b) | unordered(),
            Comparison::Geu => (a >= b) | unordered(),
            Comparison::Num => !unordered(),
            Comparison::Nan => unordered(),
        }
    }

    /// `setp` on f32 bits.
    #[inline(always)]
    pub fn single<const FTZ: bool>(self, a: u32, b: u32) -> bool {
        let (a, b) = if FTZ { (single::flush(a), single::flush(b)) } else { (a, b) };
        self.apply(f32::from_bits(a), f32::from_bits(b))
    }

    /// `setp` on f64 bits.
    #[inline(always)]
    pub fn double(self, a: u64, b: u64) -> bool {
        self.apply(f64::from_bits(a), f64::from_bits(b))
    }

    /// `setp` on f16 or bf16 bits.
    #[inline(always)]
    pub fn half<H: Half>(self, ftz: bool, a: u16, b: u16) -> bool {
        let (a, b) = if ftz { (H::flush(a), H::flush(b)) } else { (a, b) };
        self.apply(H::widen(a), H::widen(b))
    }
}

/// `slct` with an f32 selector: true if the first operand is taken. NaN takes the second, -0 the first.
#[inline(always)]
pub fn slct_single<const FTZ: bool>(selector: u32) -> bool {
    f32::from_bits(if FTZ { single::flush(selector) } else { selector }) >= 0.0
}

/// A property that `testp` asks for. Zeros are normal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    /// `.finite`
    Finite,
    /// `.infinite`
    Infinite,
    /// `.number`
    Number,
    /// `.notanumber`
    NotANumber,
    /// `.normal`
    Normal,
    /// `.subnormal`
    Subnormal,
}

impl Property {
    /// `testp.f32`.
    #[inline(always)]
    pub fn single(self, a: u32) -> bool {
        let value = f32::from_bits(a);
        self.of(value.is_nan(), value.is_infinite(), single::flush(a) != a)
    }

    /// `testp.f64`.
    #[inline(always)]
    pub fn double(self, a: u64) -> bool {
        let value = f64::from_bits(a);
        self.of(value.is_nan(), value.is_infinite(), double::flush(a) != a)
    }

    #[inline(always)]
    fn of(self, nan: bool, infinite: bool, subnormal: bool) -> bool {
        match self {
            Property::Finite => !nan & !infinite,
            Property::Infinite => infinite,
            Property::Number => !nan,
            Property::NotANumber => nan,
            Property::Normal => !nan & !infinite & !subnormal,
            Property::Subnormal => subnormal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::half::{BF16, F16};
    use std::cmp::Ordering;

    const ALL: [(Comparison, &str); 14] = [
        (Comparison::Eq, "eq"),
        (Comparison::Ne, "ne"),
        (Comparison::Lt, "lt"),
        (Comparison::Le, "le"),
        (Comparison::Gt, "gt"),
        (Comparison::Ge, "ge"),
        (Comparison::Equ, "equ"),
        (Comparison::Neu, "neu"),
        (Comparison::Ltu, "ltu"),
        (Comparison::Leu, "leu"),
        (Comparison::Gtu, "gtu"),
        (Comparison::Geu, "geu"),
        (Comparison::Num, "num"),
        (Comparison::Nan, "nan"),
    ];

    /// The operator's truth table, by name: less, equal, greater, unordered.
    fn table(name: &str, ordering: Option<Ordering>) -> bool {
        let (less, equal, greater, unordered) = match name.trim_end_matches('u') {
            "eq" => (false, true, false, false),
            "ne" => (true, false, true, false),
            "lt" => (true, false, false, false),
            "le" => (true, true, false, false),
            "gt" => (false, false, true, false),
            "ge" => (false, true, true, false),
            "num" => (true, true, true, false),
            "nan" => (false, false, false, true),
            other => panic!("{other}"),
        };
        match ordering {
            Some(Ordering::Less) => less,
            Some(Ordering::Equal) => equal,
            Some(Ordering::Greater) => greater,
            None => unordered || name.ends_with('u'),
        }
    }

    #[test]
    fn every_operator_on_every_kind_of_operand() {
        let values = [0.0f32, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, -1e-40];
        for (op, name) in ALL {
            let modifier = isa::Mod::from_text(name).unwrap();
            assert_eq!(isa::Comparison::of(modifier).map(Comparison::from), Some(op));
            for a in values {
                for b in values {
                    let expected = table(name, a.partial_cmp(&b));
                    assert_eq!(op.single::<false>(a.to_bits(), b.to_bits()), expected, "{name} {a} {b}");
                    assert_eq!(op.double((a as f64).to_bits(), (b as f64).to_bits()), expected);
                    let flushed = |x: f32| if x.is_subnormal() { 0.0 * x } else { x };
                    let expected = table(name, flushed(a).partial_cmp(&flushed(b)));
                    assert_eq!(op.single::<true>(a.to_bits(), b.to_bits()), expected, "{name}.ftz {a} {b}");
                }
            }
        }
    }

    #[test]
    fn half_comparisons_see_the_values() {
        for (a, b, ordering) in [
            (0x3c00u16, 0x4000, Ordering::Less),
            (0x0001, 0x8001, Ordering::Greater),
            (0, 0x8000, Ordering::Equal),
        ] {
            for (op, name) in ALL {
                assert_eq!(op.half::<F16>(false, a, b), table(name, Some(ordering)));
                assert_eq!(op.half::<BF16>(false, a, b), table(name, Some(ordering)));
                assert_eq!(op.half::<F16>(false, a, 0x7e00), table(name, None));
            }
        }
        assert!(Comparison::Eq.half::<F16>(true, 0x0001, 0x8001));
    }

    #[test]
    fn properties_partition_the_numbers() {
        for bits in [
            0u32,
            0x8000_0000,
            1,
            0x807f_ffff,
            0x0080_0000,
            0x3f80_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7f80_0001,
            0xffff_ffff,
        ] {
            let is = |p: Property| p.single(bits);
            let kinds = [
                is(Property::NotANumber),
                is(Property::Infinite),
                is(Property::Normal),
                is(Property::Subnormal),
            ];
            assert_eq!(kinds.iter().filter(|k| **k).count(), 1, "{bits:#x}");
            assert_eq!(is(Property::Number), !is(Property::NotANumber));
            assert_eq!(is(Property::Finite), is(Property::Normal) || is(Property::Subnormal));
        }
    }
}
