//! Descriptors with wrong bits: every pattern of up to three bits off a legal one is legal by the manual's tables, or refused by the name of a field
//! that has one of these bits.

use warpsmith_isa::{MmaKind, ScaleVector};
use warpsmith_semantics::matrix::{BadDescriptor, Descriptor, TensorForm};

/// The number that a text begins with, and the rest of it.
fn number(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    Some((digits.parse().ok()?, rest))
}

/// The bits that a message speaks of: `bit 5`, `bits 9:7`, `bits 53 to 60`, `bits 14 and 15`.
fn named(message: &str) -> Vec<u32> {
    let range = |(at, word): (usize, &str)| {
        let (first, rest) = number(message[at + word.len()..].trim_start_matches('s').trim_start())?;
        let ends = [":", " to ", " and "].map(|between| rest.strip_prefix(between).and_then(number));
        let last = ends.into_iter().flatten().next().map_or(first, |(last, _)| last);
        Some(first.min(last)..=first.max(last))
    };
    message.match_indices("bit").filter_map(range).flatten().collect()
}

/// Up to three bits of so many, as a number.
fn patterns(width: u32) -> impl Iterator<Item = u64> {
    let bit = move |n: u32| if n == width { 0 } else { 1u64 << n };
    (0..=width)
        .flat_map(move |a| (a..=width).flat_map(move |b| (b..=width).map(move |c| bit(a) | bit(b) | bit(c))))
}

#[track_caller]
fn names_one_of(bits: u64, error: &BadDescriptor) {
    let message = error.to_string();
    assert!(named(&message).iter().any(|bit| bits >> bit & 1 != 0), "{bits:#x}: {message}");
}

fn field(bits: u64, high: u32, low: u32) -> u64 {
    bits >> low & (u64::MAX >> (63 - (high - low)))
}

#[test]
fn matrices_in_shared_memory() {
    // 9.7.15.5.1.2.2: what is not among the fields is zero. The offset is within the pattern.
    let of_warpgroup = |d: u64| {
        let lines = [1, 8, 4, 2][field(d, 63, 62) as usize];
        let reserved = [(15, 14), (31, 30), (48, 46), (61, 52)];
        reserved.iter().all(|(high, low)| field(d, *high, *low) == 0) && field(d, 51, 49) < lines
    };
    // Table 42, and an absolute address (9.7.16.3.1.2) where lines have 48 bytes.
    let of_tensor_core = |d: u64, long: bool| {
        let lines = [1, 4, 8, 0, 4, 0, 2, 0][field(d, 63, 61) as usize];
        let reserved = [(15, 14), (31, 30), (60, 53)];
        let absolute = field(d, 52, 52) != 0;
        reserved.iter().all(|(high, low)| field(d, *high, *low) == 0)
            && field(d, 48, 46) == 1
            && field(d, 51, 49) < lines
            && (!absolute || long && field(d, 63, 61) == 2 && field(d, 51, 49) == 0)
    };
    let (mut legal, mut illegal) = (0, 0);
    let mut compare = |found: Result<Descriptor, BadDescriptor>, expected: bool, bits: u64, d: u64| {
        assert_eq!(found.is_ok(), expected, "{d:#x}: {found:?}");
        match found {
            Ok(_) => legal += 1,
            Err(error) => {
                names_one_of(bits, &error);
                illegal += 1;
            }
        }
    };
    let common = 0x40 | 8 << 16 | 16 << 32;
    for bits in patterns(64) {
        for swizzle in 0..4u64 {
            let d = (common | swizzle << 62) ^ bits;
            compare(Descriptor::of_warpgroup(d), of_warpgroup(d), bits, d);
        }
        for (swizzle, long) in [(0, false), (1, false), (2, false), (4, false), (6, false), (2, true)] {
            let d = (common | 1 << 46 | swizzle << 61) ^ bits;
            compare(Descriptor::of_tensor_core(d, long), of_tensor_core(d, long), bits, d);
        }
    }
    assert!(legal > 100_000 && illegal > 100_000, "{legal} and {illegal}");
}

#[test]
fn instructions_of_tensor_memory() {
    use MmaKind::{F8f6f4, F16, I8, Mxf4, Mxf4nvf4, Mxf8f6f4, Tf32};
    use ScaleVector::{Block16, Block32, X1, X2, X4};
    let plain = [(F16, 1 << 4), (Tf32, 1 << 4 | 2 << 7 | 2 << 10), (F8f6f4, 1 << 4), (I8, 2 << 4)];
    let mut cases: Vec<(TensorForm, u64)> = Vec::new();
    let form = |kind, scales| TensorForm {
        kind,
        scales,
        sparse: false,
        stationary: false,
        pair: false,
        shifted: false,
    };
    for (kind, types) in plain {
        for (stationary, pair) in [(false, false), (true, false), (false, true)] {
            cases.push((TensorForm { stationary, pair, ..form(kind, None) }, types));
        }
    }
    let nibbles = 1 << 23 | 1 << 7 | 1 << 10;
    for (kind, scales, types) in [
        (Mxf8f6f4, None, 1 << 23),
        (Mxf8f6f4, Some(X1), 1 << 23),
        (Mxf4, None, nibbles),
        (Mxf4, Some(X2), nibbles),
        (Mxf4, Some(Block32), nibbles),
        (Mxf4nvf4, Some(X2), nibbles),
        (Mxf4nvf4, Some(X4), nibbles),
        (Mxf4nvf4, Some(Block16), nibbles),
    ] {
        cases.extend([false, true].map(|pair| (TensorForm { pair, ..form(kind, scales) }, types)));
    }
    let (mut legal, mut illegal) = (0, 0);
    for (dense, types) in cases {
        for sparse in [false, true] {
            let form = TensorForm { sparse, ..dense };
            let rows = if form.pair { 256 } else { 128 };
            let base = types | u64::from(sparse) << 2 | (64 / 8) << 17 | (rows / 16) << 24;
            form.decode(base as u32).unwrap_or_else(|error| panic!("{form:?}: {error}"));
            for bits in patterns(32) {
                match form.decode((base ^ bits) as u32) {
                    Ok(_) => legal += 1,
                    Err(error) => {
                        // Of types that do not go together one is named by its bits, the other is "that of A".
                        let of_a = error.why.contains("that of A") && field(bits, 9, 7) != 0;
                        // Which types of D there are depends on those of A.
                        let of_d = error.field.starts_with("type of D") && field(bits, 12, 7) != 0;
                        if !of_a && !of_d {
                            names_one_of(bits, &error);
                        }
                        illegal += 1;
                    }
                }
            }
        }
    }
    assert!(legal > 10_000 && illegal > 100_000, "{legal} and {illegal}");
}
