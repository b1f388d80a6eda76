//! Video instructions (PTX ISA 9.0, 9.7.18). The parts that operands select (`a.b0`, `d.h1`) and their signs are not in the
//! mnemonic: [`plan`](super::plan) takes whole operands, [`selected`] those that a decoder found written.

use super::{Name, Plan};
use crate::engine::lanes::{LaneFn, scalar};
use crate::semantics::compare::Comparison;
use crate::semantics::video::{Mad, Operation, Part, Scalar, Second, Simd};
use warpsmith_isa::Mnemonic;

/// What stands at the operands of a video instruction besides their names.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Selection<'a> {
    /// The part of the destination, or the mask: `b2`, `h1`, `b310`.
    pub d: Option<&'a str>,
    /// The part of the first source, or its lanes: `b2`, `h32`, `b7654`.
    pub a: Option<&'a str>,
    /// The part of the second source, or its lanes.
    pub b: Option<&'a str>,
    /// `-a`, `-b`, `-c`
    pub negated: [bool; 3],
}

/// The plan of a video instruction of two or three `sources`; `None` if it is none, or has no such parts.
pub fn selected(mnemonic: &Mnemonic, sources: usize, selection: &Selection<'_>) -> Option<Plan> {
    find(&Name::new(mnemonic, sources), selection)
}

pub(super) fn plan(name: &Name) -> Option<Plan> {
    find(name, &Selection::default())
}

fn find(name: &Name, selection: &Selection<'_>) -> Option<Plan> {
    let elements = match name.op.as_bytes().last()? {
        b'2' => Some(2),
        b'4' => Some(4),
        _ => None,
    };
    let (function, code) = match elements {
        Some(elements) => {
            let function = scalar(|a: u32, b: u32, c: u32, code: u64| Simd::from_code(code).apply(a, b, c));
            (function, simd(name, selection, elements)?.code())
        }
        None if name.op == "vmad" => {
            let function = scalar(|a: u32, b: u32, c: u32, code: u64| Mad::from_code(code).apply(a, b, c));
            (function, mad(name, selection)?.code())
        }
        None => (scalar_function(name.sources)?, single(name, selection)?.code()),
    };
    let plan = Plan::with_constants(function, &[code]);
    (plan.sources().len() == name.sources).then_some(plan)
}

fn scalar_function(sources: usize) -> Option<LaneFn> {
    Some(match sources {
        2 => scalar(|a: u32, b: u32, code: u64| Scalar::from_code(code).apply(a, b, 0)),
        3 => scalar(|a: u32, b: u32, c: u32, code: u64| Scalar::from_code(code).apply(a, b, c)),
        _ => return None,
    })
}

fn operation(name: &Name) -> Option<Operation> {
    let wrap = name.has("wrap");
    Some(match name.op.trim_end_matches(['2', '4']) {
        "vadd" => Operation::Add,
        "vsub" => Operation::Sub,
        "vabsdiff" => Operation::AbsDiff,
        "vmin" => Operation::Min,
        "vmax" => Operation::Max,
        "vavrg" => Operation::Average,
        "vshl" => Operation::Shl { wrap },
        "vshr" => Operation::Shr { wrap },
        "vset" => Operation::Set(name.mods.iter().find_map(|m| Comparison::from_name(m.text()))?),
        _ => return None,
    })
}

/// Whether the destination and the two sources are signed. A comparison names no destination type: it is `.u32`.
fn signs(name: &Name) -> Option<[bool; 3]> {
    match name.types[..] {
        [a, b] => Some([false, a.is_signed(), b.is_signed()]),
        [d, a, b] => Some([d.is_signed(), a.is_signed(), b.is_signed()]),
        _ => None,
    }
}

fn part(selector: Option<&str>) -> Option<Part> {
    Some(match selector {
        None => Part::WORD,
        Some("b0") => Part::byte(0),
        Some("b1") => Part::byte(1),
        Some("b2") => Part::byte(2),
        Some("b3") => Part::byte(3),
        Some("h0") => Part::half(0),
        Some("h1") => Part::half(1),
        Some(_) => return None,
    })
}

fn single(name: &Name, selection: &Selection<'_>) -> Option<Scalar> {
    let [signed, a, b] = signs(name)?;
    let second = match selection.d {
        Some(_) => Second::Merge(part(selection.d)?),
        None if name.has("add") => Second::Add,
        None if name.has("min") => Second::Min,
        None if name.has("max") => Second::Max,
        None => Second::None,
    };
    let (a, b) = ((a, part(selection.a)?), (b, part(selection.b)?));
    Some(Scalar { operation: operation(name)?, signed, a, b, sat: name.has("sat"), second })
}

fn mad(name: &Name, selection: &Selection<'_>) -> Option<Mad> {
    let [_, a, b] = signs(name)?;
    let [not_a, not_b, negate_addend] = selection.negated;
    let scale = if name.has("shr7") {
        7
    } else if name.has("shr15") {
        15
    } else {
        0
    };
    Some(Mad {
        a: (a, part(selection.a)?),
        b: (b, part(selection.b)?),
        negate_product: not_a != not_b,
        negate_addend,
        plus_one: name.has("po"),
        sat: name.has("sat"),
        scale,
    })
}

fn simd(name: &Name, selection: &Selection<'_>, elements: usize) -> Option<Simd> {
    let [signed, a_signed, b_signed] = signs(name)?;
    let (letter, default_a, default_b) =
        if elements == 2 { ('h', "h10", "h32") } else { ('b', "b3210", "b7654") };
    // The digits say which element each place takes, the highest place first.
    let digits = |selector: &str| -> Option<Vec<u8>> {
        let digits = selector.strip_prefix(letter)?.bytes().rev();
        digits.map(|d| d.is_ascii_digit().then(|| d - b'0')).collect()
    };
    let select = |selector: Option<&str>, default: &str| -> Option<[u8; 4]> {
        let digits = digits(selector.unwrap_or(default))?;
        let fits = digits.len() == elements && digits.iter().all(|d| usize::from(*d) < 2 * elements);
        fits.then(|| std::array::from_fn(|i| digits.get(i).copied().unwrap_or(0)))
    };
    let chosen = digits(selection.d.unwrap_or(default_a))?;
    Some(Simd {
        operation: operation(name)?,
        bits: 32 / elements as u32,
        signed,
        a_signed,
        b_signed,
        a_select: select(selection.a, default_a)?,
        b_select: select(selection.b, default_b)?,
        mask: std::array::from_fn(|i| chosen.contains(&(i as u8))),
        sat: name.has("sat"),
        accumulate: name.has("add"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_faithful() {
        let text = "vadd vsub.sat vabsdiff.add vmin.min vmax.max vshl.wrap vshr.clamp vset.ge";
        for (i, op) in text.split(' ').enumerate() {
            let (op, mods) = op.split_once('.').map_or((op, String::new()), |(o, m)| (o, format!(".{m}")));
            let types = if op == "vset" { ".s32.u32" } else { ".s32.u32.u32" };
            let mnemonic = Mnemonic::parse(&format!("{op}{types}{mods}")).unwrap();
            let parts = ["b0", "b1", "b2", "b3", "h0", "h1"];
            let selection = Selection {
                d: None,
                a: Some(parts[i % 6]),
                b: Some(parts[(i + 3) % 6]),
                negated: [false; 3],
            };
            let known = single(&Name::new(&mnemonic, 3), &selection).unwrap();
            assert_eq!(Scalar::from_code(known.code()), known);
            let merged =
                single(&Name::new(&mnemonic, 3), &Selection { d: Some(parts[5 - i % 6]), ..selection })
                    .unwrap();
            assert_eq!(Scalar::from_code(merged.code()), merged);
        }
        let mnemonic = Mnemonic::parse("vmad.s32.s32.u32.sat.shr15").unwrap();
        let selection = Selection { a: Some("h1"), b: Some("b3"), negated: [true, false, false], d: None };
        let known = mad(&Name::new(&mnemonic, 3), &selection).unwrap();
        assert_eq!((Mad::from_code(known.code()), known.scale, known.negate_product), (known, 15, true));
        let mnemonic = Mnemonic::parse("vset4.s32.u32.gt.add").unwrap();
        let selection =
            Selection { d: Some("b320"), a: Some("b7650"), b: Some("b0123"), ..Default::default() };
        let known = simd(&Name::new(&mnemonic, 3), &selection, 4).unwrap();
        assert_eq!(Simd::from_code(known.code()), known);
        assert_eq!((known.a_select, known.b_select), ([0, 5, 6, 7], [3, 2, 1, 0]));
        assert_eq!(known.mask, [true, false, true, true]);
    }

    #[test]
    fn parts_that_do_not_exist_have_no_plan() {
        let plan = |name: &str, d, a| {
            selected(&Mnemonic::parse(name).unwrap(), 3, &Selection { d, a, ..Default::default() }).is_some()
        };
        assert!(plan("vadd2.s32.s32.s32", Some("h1"), Some("h33")));
        assert!(!plan("vadd2.s32.s32.s32", None, Some("h44")));
        assert!(!plan("vadd2.s32.s32.s32", None, Some("b3210")));
        assert!(!plan("vadd4.s32.s32.s32", Some("b0"), Some("b321")));
        assert!(!plan("vadd.s32.s32.s32", Some("h2"), None));
    }
}
