//! Video instructions (manual 9.7.18). The parts that operands select (`a.b0`, `d.h1`) and their signs are not in the mnemonic:
//! they are the [`Selection`].

use super::{Plan, Written, sources};
use crate::lanes::{LaneFn, scalar};
use crate::value::compare::Comparison;
use crate::value::video::{Mad, Operation, Part, Scalar, Second, Simd};
use warpsmith_isa::{self as isa, Instruction, Mod, OutOfRange, Reduction, VideoScale};

/// The part of a register that a video operand names: a byte, a half, or one for each place of a packed operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Selector {
    /// 8 or 16.
    bits: u8,
    /// The digits, the highest place first.
    digits: [u8; 4],
    len: u8,
}

impl Selector {
    /// The selector of a text without its dot: `b2`, `h10`, `b7654`.
    pub fn from_name(name: &str) -> Option<Selector> {
        let (letter, rest) = name.as_bytes().split_first()?;
        let bits = match letter {
            b'b' => 8,
            b'h' => 16,
            _ => return None,
        };
        if rest.is_empty() || rest.len() > 4 || !rest.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let digits = std::array::from_fn(|i| rest.get(i).map_or(0, |d| d - b'0'));
        Some(Selector { bits, digits, len: rest.len() as u8 })
    }

    /// The digits, the lowest place first.
    fn digits(&self) -> impl ExactSizeIterator<Item = u8> + '_ {
        self.digits[..self.len.into()].iter().rev().copied()
    }
}

/// What stands at the operands of a video instruction besides their names.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Selection {
    /// The part of the destination, or the mask: `b2`, `h1`, `b310`.
    pub d: Option<Selector>,
    /// The part of the first source, or its lanes: `b2`, `h32`, `b7654`.
    pub a: Option<Selector>,
    /// The part or the lanes of the second source.
    pub b: Option<Selector>,
    /// `-a`, `-b`, `-c`
    pub negated: [bool; 3],
}

/// One of the instructions on whole registers, bytes or halves.
fn scalar_plan(i: &Instruction, written: &Written, operation: Operation) -> Option<Plan> {
    let function: LaneFn = match sources(i) {
        2 => scalar(|a: u32, b: u32, code: u64| Scalar::from_code(code).apply(a, b, 0)),
        3 => scalar(|a: u32, b: u32, c: u32, code: u64| Scalar::from_code(code).apply(a, b, c)),
        _ => return None,
    };
    Some(Plan::with_constants(function, &[single(i, &written.selection, operation)?.code()]))
}

/// One of the packed instructions.
fn simd_plan(i: &Instruction, written: &Written, elements: usize, operation: Operation) -> Option<Plan> {
    let function = scalar(|a: u32, b: u32, c: u32, code: u64| Simd::from_code(code).apply(a, b, c));
    Some(Plan::with_constants(function, &[simd(i, &written.selection, elements, operation)?.code()]))
}

macro_rules! planners {
    ($($scalar:ident $two:ident $four:ident $operation:ident;)*) => {$(
        planners!(@scalar $scalar $operation);
        planners!(@simd $two 2 $operation);
        planners!(@simd $four 4 $operation);
    )*};
    (@scalar none $operation:ident) => {};
    (@scalar $name:ident $operation:ident) => {
        pub(crate) fn $name(i: &Instruction, written: &Written) -> Option<Plan> {
            scalar_plan(i, written, Operation::$operation)
        }
    };
    (@simd $name:ident $elements:literal $operation:ident) => {
        pub(crate) fn $name(i: &Instruction, written: &Written) -> Option<Plan> {
            simd_plan(i, written, $elements, Operation::$operation)
        }
    };
}
planners! {
    vadd vadd2 vadd4 Add;
    vsub vsub2 vsub4 Sub;
    vabsdiff vabsdiff2 vabsdiff4 AbsDiff;
    vmin vmin2 vmin4 Min;
    vmax vmax2 vmax4 Max;
    none vavrg2 vavrg4 Average;
}

/// Whether the amount of a shift wraps; it is clamped else.
fn wraps(i: &Instruction) -> Option<bool> {
    match i.out_of_range() {
        Some(OutOfRange::Wrap) => Some(true),
        Some(OutOfRange::Clamp) | None => Some(false),
        Some(OutOfRange::Trap | OutOfRange::Zero) => None,
    }
}

pub(crate) fn vshl(i: &Instruction, written: &Written) -> Option<Plan> {
    scalar_plan(i, written, Operation::Shl { wrap: wraps(i)? })
}

pub(crate) fn vshr(i: &Instruction, written: &Written) -> Option<Plan> {
    scalar_plan(i, written, Operation::Shr { wrap: wraps(i)? })
}

fn comparison(i: &Instruction) -> Option<Operation> {
    Some(Operation::Set(Comparison::from(i.comparison()?)))
}

pub(crate) fn vset(i: &Instruction, written: &Written) -> Option<Plan> {
    scalar_plan(i, written, comparison(i)?)
}

pub(crate) fn vset2(i: &Instruction, written: &Written) -> Option<Plan> {
    simd_plan(i, written, 2, comparison(i)?)
}

pub(crate) fn vset4(i: &Instruction, written: &Written) -> Option<Plan> {
    simd_plan(i, written, 4, comparison(i)?)
}

pub(crate) fn vmad(i: &Instruction, written: &Written) -> Option<Plan> {
    let function = scalar(|a: u32, b: u32, c: u32, code: u64| Mad::from_code(code).apply(a, b, c));
    Some(Plan::with_constants(function, &[mad(i, &written.selection)?.code()]))
}

/// Whether the destination and the two sources are signed. A comparison names no destination type: it is `.u32`.
fn signs(i: &Instruction) -> Option<[bool; 3]> {
    let mut types = i.types().map(isa::ScalarType::is_signed);
    match [types.next(), types.next(), types.next()] {
        [Some(a), Some(b), None] => Some([false, a, b]),
        [Some(d), Some(a), Some(b)] => Some([d, a, b]),
        _ => None,
    }
}

fn part(selector: Option<Selector>) -> Option<Part> {
    let Some(selector) = selector else { return Some(Part::WORD) };
    let mut digits = selector.digits();
    match (selector.bits, digits.next(), digits.next()) {
        (8, Some(index @ 0..=3), None) => Some(Part::byte(index.into())),
        (16, Some(index @ 0..=1), None) => Some(Part::half(index.into())),
        _ => None,
    }
}

fn single(i: &Instruction, selection: &Selection, operation: Operation) -> Option<Scalar> {
    let [signed, a, b] = signs(i)?;
    let second = match (selection.d, i.reduction()) {
        (Some(_), _) => Second::Merge(part(selection.d)?),
        (None, None) => Second::None,
        (None, Some(Reduction::Add)) => Second::Add,
        (None, Some(Reduction::Min)) => Second::Min,
        (None, Some(Reduction::Max)) => Second::Max,
        (None, Some(_)) => return None,
    };
    let (a, b) = ((a, part(selection.a)?), (b, part(selection.b)?));
    Some(Scalar { operation, signed, a, b, sat: i.has(Mod::Sat), second })
}

fn mad(i: &Instruction, selection: &Selection) -> Option<Mad> {
    let [_, a, b] = signs(i)?;
    let [not_a, not_b, negate_addend] = selection.negated;
    let scale = match i.video_scale() {
        None => 0,
        Some(VideoScale::Right7) => 7,
        Some(VideoScale::Right15) => 15,
    };
    Some(Mad {
        a: (a, part(selection.a)?),
        b: (b, part(selection.b)?),
        negate_product: not_a != not_b,
        negate_addend,
        plus_one: i.has(Mod::Po),
        sat: i.has(Mod::Sat),
        scale,
    })
}

fn simd(i: &Instruction, selection: &Selection, elements: usize, operation: Operation) -> Option<Simd> {
    let [signed, a_signed, b_signed] = signs(i)?;
    let bits = 32 / elements as u8;
    let ascending = |from: u8| -> [u8; 4] { std::array::from_fn(|place| from + place as u8) };
    // The digits say which element each place takes.
    let select = |selector: Option<Selector>, default: u8| -> Option<[u8; 4]> {
        let Some(selector) = selector else { return Some(ascending(default)) };
        let digits = selector.digits();
        let fits = selector.bits == bits && digits.len() == elements;
        let mut places = [0; 4];
        for (place, digit) in places.iter_mut().zip(digits) {
            *place = digit;
        }
        (fits && places.iter().all(|digit| usize::from(*digit) < 2 * elements)).then_some(places)
    };
    let mask = match selection.d {
        None => [true; 4],
        Some(selector) if selector.bits == bits => {
            std::array::from_fn(|place| selector.digits().any(|digit| usize::from(digit) == place))
        }
        Some(_) => return None,
    };
    Some(Simd {
        operation,
        bits: bits.into(),
        signed,
        a_signed,
        b_signed,
        a_select: select(selection.a, 0)?,
        b_select: select(selection.b, elements as u8)?,
        mask,
        sat: i.has(Mod::Sat),
        accumulate: i.reduction() == Some(Reduction::Add),
    })
}
