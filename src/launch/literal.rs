//! Values of PTX scalar types written in JSON: numbers, bit patterns, and made-up data.

use super::describe;
use serde_json::Value;
use warpsmith_interp::SplitMix64;
use warpsmith_isa::{ScalarType, TypeClass};

/// True for types whose values can be written and stored: whole bytes, and not an opaque reference.
pub fn has_values(ty: ScalarType) -> bool {
    container_bytes(ty).is_some()
}

/// The bytes a value takes; the 4- and 6-bit floats take a byte each, as PTX registers hold them padded.
fn container_bytes(ty: ScalarType) -> Option<usize> {
    match ty.class() {
        TypeClass::Pred | TypeClass::Opaque => None,
        TypeClass::Float => Some(ty.bits().div_ceil(8) as usize),
        _ => ty.bytes().map(|n| n as usize),
    }
}

/// The little-endian bytes of `value` as a `ty`.
///
/// Integers are numbers in the type's range; floats are numbers (rounded to nearest even), `"nan"`, `"inf"` or `"-inf"`; any
/// type takes its bits as `"0x..."`.
pub fn encode(ty: ScalarType, value: &Value) -> Result<Vec<u8>, String> {
    let bytes = container_bytes(ty).ok_or_else(|| format!("values of type {ty} cannot be written"))?;
    let bits = match value {
        Value::String(text) if text.starts_with("0x") || text.starts_with("0X") => {
            let digits = &text[2..];
            let bits = u128::from_str_radix(digits, 16)
                .map_err(|_| format!("`{text}` is not a bit pattern of at most 32 hexadecimal digits"))?;
            if ty.bits() < 128 && bits >> ty.bits() != 0 {
                return Err(format!("`{text}` has more than the {} bits of a {ty}", ty.bits()));
            }
            bits
        }
        _ if ty.is_float() => {
            let number = match value {
                Value::Number(n) => n.as_f64(),
                Value::String(text) => match text.as_str() {
                    "nan" => Some(f64::NAN),
                    "inf" => Some(f64::INFINITY),
                    "-inf" => Some(f64::NEG_INFINITY),
                    _ => None,
                },
                _ => None,
            };
            let number = number.ok_or_else(|| {
                format!(
                    "expected a number, \"nan\", \"inf\", \"-inf\" or \"0x..\" bits, found {}",
                    describe(value)
                )
            })?;
            float_bits(ty, number)
                .ok_or_else(|| format!("values of type {ty} are written as \"0x..\" bits"))?
                .into()
        }
        Value::Number(n) if ty.class() != TypeClass::Packed => {
            let n = n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from)).ok_or_else(|| {
                format!("{n} is not a whole number of at most 64 bits; write wider values as \"0x..\"")
            })?;
            let bits = ty.bits().min(64);
            let low = if ty.class() == TypeClass::Unsigned { 0 } else { -(1i128 << (bits - 1)) };
            let high = (1i128 << if ty.is_signed() { bits - 1 } else { bits }) - 1;
            if !(low..=high).contains(&n) {
                return Err(format!("{n} is not in the range of {ty}, {low} to {high}"));
            }
            n as u128
        }
        other => {
            return Err(format!("expected a number or \"0x..\" bits for {ty}, found {}", describe(other)));
        }
    };
    Ok(bits.to_le_bytes()[..bytes].to_vec())
}

/// The value at the front of `bytes` as JSON that [`encode`] takes back.
pub fn decode(ty: ScalarType, bytes: &[u8]) -> Value {
    let mut wide = [0; 16];
    wide[..bytes.len().min(16)].copy_from_slice(&bytes[..bytes.len().min(16)]);
    let bits = u128::from_le_bytes(wide);
    let unused = 128 - ty.bits();
    let number = match ty {
        ScalarType::F32 => {
            float_value(f32::from_bits(bits as u32).into(), |v| (v as f32).to_bits() == bits as u32)
        }
        ScalarType::F64 => float_value(f64::from_bits(bits as u64), |v| v.to_bits() == bits as u64),
        _ if ty.is_integer() && ty.bits() <= 64 => {
            let signed = ((bits << unused) as i128) >> unused;
            Some(if ty.is_signed() {
                (signed as i64).into()
            } else {
                ((bits as u64) & (u64::MAX >> (64 - ty.bits()))).into()
            })
        }
        _ => None,
    };
    number.unwrap_or_else(|| format!("0x{bits:0width$x}", width = ty.bits().div_ceil(4) as usize).into())
}

/// A JSON number, unless its text would not bring the bits back (NaN, infinities).
fn float_value(value: f64, survives: impl Fn(f64) -> bool) -> Option<Value> {
    serde_json::Number::from_f64(value).filter(|n| n.as_f64().is_some_and(survives)).map(Value::Number)
}

/// Bits of exponent and mantissa of a float format below 32 bits, and what its largest exponent means; `None` for the scale formats, which
/// have no sign.
fn small_format(ty: ScalarType) -> Option<(i32, i32, Special)> {
    use ScalarType::*;
    Some(match ty {
        TF32 => (8, 10, Special::Ieee),
        F16 => (5, 10, Special::Ieee),
        BF16 => (8, 7, Special::Ieee),
        E5M2 => (5, 2, Special::Ieee),
        E4M3 => (4, 3, Special::NanOnly),
        E2M3 => (2, 3, Special::None),
        E3M2 => (3, 2, Special::None),
        E2M1 => (2, 1, Special::None),
        _ => return None,
    })
}

/// Rounds to the nearest value of a float format, ties to even; `None` for what is not a float, and for the scale formats.
fn float_bits(ty: ScalarType, value: f64) -> Option<u64> {
    match ty {
        ScalarType::F64 => return Some(value.to_bits()),
        ScalarType::F32 => return Some((value as f32).to_bits().into()),
        _ => {}
    }
    let (exponent_bits, mantissa_bits, kind) = small_format(ty)?;
    let bits = u64::from(small_float(value, exponent_bits, mantissa_bits, kind));
    Some(if ty == ScalarType::TF32 { bits << 13 } else { bits })
}

/// The value of a float of these bits; `None` for what is not a float, and for the scale formats.
pub fn number(ty: ScalarType, bits: u64) -> Option<f64> {
    match ty {
        ScalarType::F64 => return Some(f64::from_bits(bits)),
        // A tf32 is an f32 whose low bits say nothing.
        ScalarType::F32 | ScalarType::TF32 => return Some(f32::from_bits(bits as u32).into()),
        _ => {}
    }
    let (exponent_bits, mantissa_bits, special) = small_format(ty)?;
    let (field, mantissa) =
        ((bits >> mantissa_bits) as i32 & ((1 << exponent_bits) - 1), bits & ((1 << mantissa_bits) - 1));
    let largest = field == (1 << exponent_bits) - 1;
    let magnitude = match special {
        Special::Ieee if largest && mantissa == 0 => f64::INFINITY,
        Special::Ieee if largest => f64::NAN,
        Special::NanOnly if largest && mantissa == (1 << mantissa_bits) - 1 => f64::NAN,
        Special::Ieee | Special::NanOnly | Special::None => {
            let hidden = if field == 0 { 0 } else { 1 << mantissa_bits };
            let bias = (1 << (exponent_bits - 1)) - 1;
            (mantissa | hidden) as f64 * 2f64.powi(field.max(1) - bias - mantissa_bits)
        }
    };
    Some(if bits >> (exponent_bits + mantissa_bits) & 1 == 0 { magnitude } else { -magnitude })
}

/// What the largest exponent of a format means.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// Infinities and NaNs.
    Ieee,
    /// Ordinary values, and a NaN in place of the largest.
    NanOnly,
    /// Ordinary values only; NaN becomes the largest.
    None,
}

fn small_float(value: f64, exponent_bits: i32, mantissa_bits: i32, special: Special) -> u32 {
    let sign = u32::from(value.is_sign_negative()) << (exponent_bits + mantissa_bits);
    let ones = (1u32 << (exponent_bits + mantissa_bits)) - 1;
    let infinity = ones ^ ((1 << mantissa_bits) - 1);
    let (overflow, nan) = match special {
        Special::Ieee => (infinity, infinity | 1 << (mantissa_bits - 1)),
        Special::NanOnly => (ones, ones),
        Special::None => (ones, ones),
    };
    if value.is_nan() {
        return nan;
    }
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return sign;
    }
    if magnitude.is_infinite() {
        return sign | overflow;
    }
    // Exponents of f64 subnormals lie far below every small format: they round to zero through the same path.
    let exponent = (((magnitude.to_bits() >> 52) as i32) - 1023).max(1 - bias);
    let quantum = f64::powi(2.0, exponent - mantissa_bits);
    let steps = (magnitude / quantum).round_ties_even() as u64;
    // `steps` carries the hidden bit, so adding it to the exponent field rounds up into the next exponent by itself.
    let field = ((exponent + bias - 1) as u64) << mantissa_bits;
    sign | (field + steps).min(u64::from(overflow)) as u32
}

/// `count` values from `start` (0) in steps of `step` (1); integers wrap.
pub fn iota(
    ty: ScalarType,
    count: u64,
    start: Option<&Value>,
    step: Option<&Value>,
) -> Result<Vec<u8>, (&'static str, String)> {
    let bytes = container_bytes(ty).unwrap_or(1);
    let mut data = Vec::with_capacity(count as usize * bytes);
    if ty.is_float() {
        let number = |key, value: Option<&Value>, default| match value.map(|v| v.as_f64().ok_or(v)) {
            None => Ok(default),
            Some(Ok(n)) => Ok(n),
            Some(Err(v)) => Err((key, format!("expected a number, found {}", describe(v)))),
        };
        let (start, step) = (number("start", start, 0.0)?, number("step", step, 1.0)?);
        for i in 0..count {
            let bits = float_bits(ty, start + i as f64 * step)
                .ok_or_else(|| ("buffer_type", format!("numbers cannot be made up for {ty}")))?;
            data.extend_from_slice(&bits.to_le_bytes()[..bytes]);
        }
    } else {
        let number = |key, value: Option<&Value>, default| match value.map(|v| v.as_i64().ok_or(v)) {
            None => Ok(default),
            Some(Ok(n)) => Ok(n),
            Some(Err(v)) => Err((key, format!("expected a whole number, found {}", describe(v)))),
        };
        let (start, step) = (i128::from(number("start", start, 0)?), i128::from(number("step", step, 1)?));
        for i in 0..count {
            data.extend_from_slice(&(start + i as i128 * step).to_le_bytes()[..bytes]);
        }
    }
    Ok(data)
}

/// `count` values from SplitMix64 seeded with `seed`: integers uniform in `range` (default: all bit patterns), floats uniform in
/// `range` (default: 0 up to 1).
///
/// A float is `low + (x >> 40) / 2^24 * (high - low)` computed in f64 and rounded once; an integer is `low + x % (high - low + 1)`,
/// so that any language reproduces the data in three lines.
pub fn random(
    ty: ScalarType,
    count: u64,
    seed: u64,
    range: Option<&Value>,
) -> Result<Vec<u8>, (&'static str, String)> {
    let bytes = container_bytes(ty).unwrap_or(1);
    let bad = |expected: &str| ("range", format!("expected [low, high], {expected}"));
    let pair = match range {
        None => None,
        Some(value) => match value.as_array().map(Vec::as_slice) {
            Some([low, high]) => Some((low, high)),
            _ => return Err(bad("two numbers")),
        },
    };
    let mut random = SplitMix64::new(seed);
    let mut data = Vec::with_capacity(count as usize * bytes);
    if ty.is_float() {
        let (low, high) = match pair {
            None => (0.0, 1.0),
            Some((low, high)) => low.as_f64().zip(high.as_f64()).ok_or_else(|| bad("two numbers"))?,
        };
        for _ in 0..count {
            let value = low + (random.next() >> 40) as f64 / (1u64 << 24) as f64 * (high - low);
            let bits = float_bits(ty, value)
                .ok_or_else(|| ("buffer_type", format!("numbers cannot be made up for {ty}")))?;
            data.extend_from_slice(&bits.to_le_bytes()[..bytes]);
        }
    } else if let Some((low, high)) = pair {
        let (low, high) = low.as_i64().zip(high.as_i64()).ok_or_else(|| bad("two whole numbers"))?;
        let span = (i128::from(high) - i128::from(low)).checked_add(1).filter(|span| *span > 0);
        let span = span.ok_or_else(|| bad("low not above high"))?;
        for _ in 0..count {
            let value = i128::from(low) + i128::from(random.next()) % span;
            data.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
    } else {
        for _ in 0..count {
            let (low, high) = (random.next(), if bytes > 8 { random.next() } else { 0 });
            data.extend_from_slice(&(u128::from(high) << 64 | u128::from(low)).to_le_bytes()[..bytes]);
        }
    }
    Ok(data)
}

/// `count` integers from SplitMix64 seeded with `seed`, about half of them at an edge: the whole of it, or each of its halves, quarters and so on down
/// to its bytes, is 0, 1, -1, the least or the greatest signed number, a power of two or a number below 32. What goes wrong for few operands goes
/// wrong for these.
pub fn edges(ty: ScalarType, count: u64, seed: u64) -> Result<Vec<u8>, (&'static str, String)> {
    let bytes = container_bytes(ty).unwrap_or(1);
    if ty.is_float() {
        return Err(("edges", format!("integers have edges, and {ty} is none")));
    }
    let mut random = SplitMix64::new(seed);
    let mut data = Vec::with_capacity(count as usize * bytes);
    for _ in 0..count {
        let mut element = u128::from(random.next()) << 64 | u128::from(random.next());
        if random.next().is_multiple_of(2) {
            let bits = (8 * bytes as u32) >> (random.next() % u64::from(bytes.ilog2() + 1));
            let number = match random.next() % 7 {
                0 => 0,
                1 => 1,
                2 => u128::MAX,
                3 => 1 << (bits - 1),
                4 => (1 << (bits - 1)) - 1,
                5 => 1 << (random.next() % u64::from(bits)),
                _ => u128::from(random.next() % 32),
            };
            let number = number & (u128::MAX >> (128 - bits));
            element = (0..128 / bits).fold(0, |element, part| element | number << (part * bits));
        }
        data.extend_from_slice(&element.to_le_bytes()[..bytes]);
    }
    Ok(data)
}

/// The bytes of pairs of hexadecimal digits; spaces between pairs are allowed.
pub fn bytes_from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let digit = |b: u8| (b as char).to_digit(16);
    if let Some(position) = digits.iter().position(|&b| digit(b).is_none()) {
        return Err(format!("digit {} is not hexadecimal", position + 1));
    }
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{} hexadecimal digits are not a whole number of bytes", digits.len()));
    }
    Ok(digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |n, &b| n << 4 | digit(b).unwrap_or(0) as u8))
        .collect())
}

/// Two lower-case hexadecimal digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]])
        .map(char::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bits(ty: ScalarType, value: Value) -> u128 {
        let mut wide = [0; 16];
        let bytes = encode(ty, &value).unwrap();
        wide[..bytes.len()].copy_from_slice(&bytes);
        u128::from_le_bytes(wide)
    }

    #[test]
    fn floats_round_to_nearest_even() {
        use ScalarType::*;
        for (ty, value, expected) in [
            (F16, 1.0, 0x3c00),
            (F16, 65504.0, 0x7bff),
            (F16, 65520.0, 0x7c00),
            (F16, 6e-8, 0x0001),
            (F16, -0.5, 0xb800),
            (F16, 1.0 + 1.0 / 2048.0, 0x3c00),
            (F16, 1.0 + 3.0 / 2048.0, 0x3c02),
            (BF16, 1.0, 0x3f80),
            (TF32, 1.0, 0x3f80_0000),
            (E4M3, 448.0, 0x7e),
            (E4M3, -1.0, 0xb8),
            (E5M2, 57344.0, 0x7b),
            (E2M1, 6.0, 0x7),
            (E2M1, 100.0, 0x7),
            (E2M3, 7.5, 0x1f),
            (E3M2, 28.0, 0x1f),
        ] {
            assert_eq!(bits(ty, json!(value)), expected, "{value} as {ty}");
        }
        assert_eq!(bits(F16, json!("nan")), 0x7e00);
        assert_eq!(bits(F32, json!("-inf")), 0xff80_0000);
    }

    #[test]
    fn integers_keep_to_their_range() {
        use ScalarType::*;
        assert_eq!(bits(S8, json!(-128)), 0x80);
        assert_eq!(bits(B32, json!(-1)), 0xffff_ffff);
        assert_eq!(bits(U64, json!(u64::MAX)), u64::MAX.into());
        assert_eq!(bits(B128, json!("0x10000000000000000")), 1 << 64);
        for (ty, value) in
            [(U8, json!(-1)), (S8, json!(128)), (U32, json!(1.5)), (U8, json!("0x100")), (F16x2, json!(1))]
        {
            assert!(encode(ty, &value).is_err(), "{value} as {ty}");
        }
    }

    #[test]
    fn decode_brings_back_what_encode_took() {
        use ScalarType::*;
        for (ty, value) in [
            (S32, json!(-7)),
            (U64, json!(u64::MAX)),
            (F32, json!(0.1f32)),
            (F32, json!("0x7fc00000")),
            (F16, json!("0x3c00")),
            (B64, json!("0x0000000000000001")),
        ] {
            assert_eq!(decode(ty, &encode(ty, &value).unwrap()), value);
        }
    }

    #[test]
    fn generated_data_is_reproducible() {
        assert_eq!(random(ScalarType::U64, 1, 0, None).unwrap(), 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
        let ranged = random(ScalarType::S32, 1000, 3, Some(&json!([-2, 2]))).unwrap();
        assert!(ranged.chunks(4).all(|c| (-2..=2).contains(&i32::from_le_bytes([c[0], c[1], c[2], c[3]]))));
        assert!(random(ScalarType::S32, 1, 0, Some(&json!([2, -2]))).is_err());
        let words = edges(ScalarType::U64, 4096, 5).unwrap();
        let words = || words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        for edge in [0, 1, u64::MAX, 1 << 63, u64::MAX >> 1, 0x8080_8080_8080_8080, 31, 0x7fff_ffff_7fff_ffff]
        {
            assert!(words().any(|word| word == edge), "{edge:#x} is not among them");
        }
        assert!(words().filter(|word| word.count_ones().abs_diff(32) < 16).count() > 1500, "noise");
        assert!(edges(ScalarType::F32, 1, 0).is_err());
        assert_eq!(iota(ScalarType::U8, 3, Some(&json!(255)), None).unwrap(), [255, 0, 1]);
        assert_eq!(iota(ScalarType::F32, 2, None, Some(&json!(0.5))).unwrap(), [0, 0, 0, 0, 0, 0, 0, 63]);
    }

    #[test]
    fn numbers_of_small_floats_come_back() {
        use ScalarType::*;
        for ty in [F16, BF16, E5M2, E4M3, E2M3, E3M2, E2M1] {
            for bits in 0..1u64 << ty.bits() {
                let value = number(ty, bits).expect("a float has a value");
                assert!(value.is_nan() || float_bits(ty, value) == Some(bits), "{ty} {bits:#x}: {value}");
            }
        }
        assert_eq!((number(E4M3, 0x7e), number(F16, 1)), (Some(448.0), Some(2f64.powi(-24))));
        assert_eq!((number(TF32, 0x3fc0_0000), number(UE8M0, 127), number(U8, 1)), (Some(1.5), None, None));
    }
}
