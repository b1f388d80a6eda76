//! Numbers as text, in the formats of `print` and `x`, and the formats of floats.

use super::types::{SHOWN, Type};
use std::fmt::Write;
use warpsmith_isa::{ScalarType, TypeClass};

/// So many equal elements in a row are shown as one.
const REPEATS: usize = 10;

/// Joins texts with commas; many equal ones in a row become one.
pub fn repeated(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<String> = texts.collect();
    let runs = texts.chunk_by(|a, b| a == b).flat_map(|run| {
        if run.len() >= REPEATS {
            vec![format!("{} <repeats {} times>", run[0], run.len())]
        } else {
            run.to_vec()
        }
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// An array of characters, as gdb writes it: without the zero at its end, and runs of equal ones apart.
pub(super) fn characters(bytes: &[u8]) -> String {
    let shown = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    let more = if shown.len() > SHOWN { "..." } else { "" };
    let one = |byte: u8| match byte {
        0x80.. => format!("\\{byte:03o}"),
        byte => {
            let marked = quoted(&char::from(byte).to_string(), '"');
            marked[1..marked.len() - 1].to_owned()
        }
    };
    let (mut parts, mut text) = (Vec::new(), String::new());
    for run in shown[..shown.len().min(SHOWN)].chunk_by(|a, b| a == b) {
        if run.len() < REPEATS {
            run.iter().for_each(|byte| text += &one(*byte));
            continue;
        }
        if !text.is_empty() {
            parts.push(format!("\"{}\"", std::mem::take(&mut text)));
        }
        parts.push(format!("'{}' <repeats {} times>", one(run[0]), run.len()));
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(format!("\"{text}\""));
    }
    parts.join(", ") + more
}

/// The bits that a type has room for.
#[expect(clippy::wildcard_enum_match_arm, reason = "other types have a size alone")]
pub fn mask(bits: u128, ty: &Type) -> u128 {
    let width = match ty.plain() {
        Type::Scalar(ty) | Type::Base(_, ty, _) => ty.bits(),
        ty => (ty.bytes() * 8).min(128) as u32,
    };
    if width >= 128 { bits } else { bits & ((1 << width) - 1) }
}

/// Untyped bits and packed values are read as signed: small numbers are what registers mostly hold.
pub(super) fn integer(ty: ScalarType, bits: u128) -> i128 {
    let bits = mask(bits, &Type::Scalar(ty));
    let signed = !matches!(ty.class(), TypeClass::Unsigned | TypeClass::Pred);
    let unused = 128 - ty.bits().clamp(1, 128);
    if signed { ((bits << unused) as i128) >> unused } else { bits as i128 }
}

pub(super) fn scalar(ty: ScalarType, bits: u128, format: Option<char>) -> String {
    let bits = mask(bits, &Type::Scalar(ty));
    let width = ty.bits();
    match format {
        Some('x') => format!("{bits:#x}"),
        Some('z') => format!("0x{bits:0digits$x}", digits = width.div_ceil(4) as usize),
        Some('a') => format!("{bits:#x}"),
        Some('o') => format!("0{bits:o}"),
        Some('t') => format!("{bits:b}"),
        Some('u') => bits.to_string(),
        Some('d') => {
            let unused = 128 - width.clamp(1, 128);
            (((bits << unused) as i128) >> unused).to_string()
        }
        Some('c') => {
            let byte = bits as u8;
            format!("{} {}", byte as i8, quoted(&char::from(byte).to_string(), '\''))
        }
        Some('f') if !ty.is_float() => {
            let as_float = match width {
                16 => ScalarType::F16,
                32 => ScalarType::F32,
                64 => ScalarType::F64,
                _ => return integer(ty, bits).to_string(),
            };
            scalar(as_float, bits, None)
        }
        _ if ty == ScalarType::Pred => (bits != 0).to_string(),
        _ => match packed(ty) {
            Some((of, count)) => {
                let each = (0..count).map(|i| scalar(of, bits >> (i * of.bits()), None));
                format!("{{{}}}", repeated(each))
            }
            None => match float(ty, bits) {
                Some(value) => shown_float(ty, value),
                None if ty.is_float() => format!("0x{bits:0digits$x}", digits = width.div_ceil(4) as usize),
                None => integer(ty, bits).to_string(),
            },
        },
    }
}

/// The elements of a packed type.
fn packed(ty: ScalarType) -> Option<(ScalarType, u32)> {
    if ty.class() != TypeClass::Packed {
        return None;
    }
    let (of, count) = ty.name().rsplit_once('x')?;
    let of = ScalarType::from_name(of)?;
    // Formats below a byte are padded; those are shown as bits.
    let count = count.parse().ok()?;
    (of.bits() * count == ty.bits()).then_some((of, count))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other floats are shown as those of 32 bits")]
fn shown_float(ty: ScalarType, value: f64) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.into();
    }
    let (small, large) = (value.abs() < 1e-5 && value != 0.0, value.abs() >= 1e17);
    match ty {
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.into(),
        ScalarType::F64 if small || large => format!("{value:e}"),
        ScalarType::F64 => value.to_string(),
        _ if small || large => format!("{:e}", value as f32),
        _ => (value as f32).to_string(),
    }
}

/// The value of a float of the formats that are also C's or common in machine learning.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are not floats, or packed")]
pub(super) fn float(ty: ScalarType, bits: u128) -> Option<f64> {
    Some(match ty {
        ScalarType::F64 => f64::from_bits(bits as u64),
        ScalarType::F32 | ScalarType::TF32 => f32::from_bits(bits as u32).into(),
        ScalarType::BF16 => f32::from_bits((bits as u32) << 16).into(),
        ScalarType::F16 => small_float(bits as u32, 5, 10),
        ScalarType::E5M2 => small_float(bits as u32, 5, 2),
        _ => return None,
    })
}

/// A float with the layout of IEEE 754 and few bits.
fn small_float(bits: u32, exponent_bits: u32, mantissa_bits: u32) -> f64 {
    let mantissa = f64::from(bits & ((1 << mantissa_bits) - 1)) / f64::from(1 << mantissa_bits);
    let exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = match exponent {
        0 => mantissa * f64::from(1 - bias).exp2(),
        e if e == (1 << exponent_bits) - 1 => {
            if mantissa == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        e => (1.0 + mantissa) * f64::from(e as i32 - bias).exp2(),
    };
    let negative = bits >> (exponent_bits + mantissa_bits) & 1 != 0;
    if negative { -magnitude } else { magnitude }
}

/// The bits of the nearest value of a format; for those of 16 bits by way of f32.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are not floats, or packed")]
pub(super) fn from_float(ty: ScalarType, value: f64) -> Option<u128> {
    Some(match ty {
        ScalarType::F64 => value.to_bits().into(),
        ScalarType::F32 | ScalarType::TF32 => (value as f32).to_bits().into(),
        // Few enough to look at all of them.
        ScalarType::F16 | ScalarType::BF16 | ScalarType::E5M2 => {
            let distance = |bits: &u128| {
                float(ty, *bits).map_or(f64::INFINITY, |v| if v == value { 0.0 } else { (v - value).abs() })
            };
            let all = 0..1u128 << ty.bits();
            if value.is_nan() {
                return all.into_iter().find(|bits| float(ty, *bits).is_some_and(f64::is_nan));
            }
            all.filter(|bits| {
                float(ty, *bits)
                    .is_some_and(|v| !v.is_nan() && v.is_sign_negative() == value.is_sign_negative())
            })
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))?
        }
        _ => return None,
    })
}

pub(super) fn quoted(text: &str, mark: char) -> String {
    let mut quoted = String::from(mark);
    for c in text.chars() {
        match c {
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\0' => quoted += "\\000",
            c if c == mark || c == '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => _ = write!(quoted, "\\{:03o}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push(mark);
    quoted
}
