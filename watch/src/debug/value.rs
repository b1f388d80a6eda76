//! Values with types, and how they are shown.

use crate::dwarf::{self, Composite};
use std::fmt::Write;
use std::sync::Arc;
use warpsmith_interp::engine::Reg;
use warpsmith_isa::{ScalarType, StateSpace, TypeClass};

/// The elements that are shown of an array.
const SHOWN: usize = 200;
/// So many equal elements in a row are shown as one.
const REPEATS: usize = 10;

/// What the bits of a value mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A number, or a predicate.
    Scalar(ScalarType),
    /// Elements one after the other in memory.
    Array(Box<Type>, u64),
    /// An address in a space, and what is there.
    Pointer(StateSpace, Box<Type>),
    /// Three numbers: `threadIdx` and the like.
    Dim3,
    /// A structure or union of the source.
    Struct(Arc<Composite>),
    /// Names for numbers of so many bytes.
    Enum(Arc<str>, u64, Arc<[(String, i64)]>),
}

impl Type {
    /// An integer literal.
    pub const INT: Type = Type::Scalar(ScalarType::S32);

    /// A type of the source, as DWARF describes it.
    pub fn of_source(ty: &dwarf::Type) -> Type {
        let bytes = |size: u64| Type::Array(Box::new(Type::Scalar(ScalarType::U8)), size);
        match ty {
            dwarf::Type::Base(_, size, encoding) => {
                const BOOLEAN: u8 = 2;
                const FLOAT: u8 = 4;
                let signed = matches!(encoding, 5 | 6);
                let scalar = match (*encoding, *size) {
                    (BOOLEAN, 1) => ScalarType::U8,
                    (FLOAT, 2) => ScalarType::F16,
                    (FLOAT, 4) => ScalarType::F32,
                    (FLOAT, 8) => ScalarType::F64,
                    (_, 1) if signed => ScalarType::S8,
                    (_, 2) if signed => ScalarType::S16,
                    (_, 4) if signed => ScalarType::S32,
                    (_, 8) if signed => ScalarType::S64,
                    (_, 1) => ScalarType::U8,
                    (_, 2) => ScalarType::U16,
                    (_, 4) => ScalarType::U32,
                    (_, 8) => ScalarType::U64,
                    (_, size) => return bytes(size),
                };
                Type::Scalar(scalar)
            }
            dwarf::Type::Pointer(space, to) => {
                let to = to.as_ref().map_or(Type::Scalar(ScalarType::B8), |to| Type::of_source(to));
                Type::Pointer(*space, Box::new(to))
            }
            dwarf::Type::Composite(of) => Type::Struct(of.clone()),
            dwarf::Type::Around(of) => of.composite().map_or_else(|| bytes(0), Type::Struct),
            dwarf::Type::Array(of, count) => Type::Array(Box::new(Type::of_source(of)), *count),
            dwarf::Type::Enum(name, size, names) => Type::Enum(name.clone(), *size, names.clone()),
            dwarf::Type::Unknown => bytes(0),
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> u64 {
        match self {
            Type::Struct(of) => of.size,
            Type::Enum(_, size, _) => *size,
            Type::Scalar(ty) => u64::from(ty.bits().div_ceil(8)),
            Type::Array(of, count) => of.bytes().saturating_mul(*count),
            Type::Pointer(..) => 8,
            Type::Dim3 => 12,
        }
    }

    /// As `ptype` and casts write it.
    pub fn name(&self) -> String {
        match self {
            Type::Scalar(ty) => ty.name().to_owned(),
            Type::Array(of, count) => {
                // Dimensions are written from the outermost in.
                let (mut inner, mut dims) = (of, format!("[{count}]"));
                while let Type::Array(of, count) = &**inner {
                    put!(dims, "[{count}]");
                    inner = of;
                }
                format!("{} {dims}", inner.name())
            }
            Type::Pointer(StateSpace::Generic, to) => format!("{} *", to.name()),
            Type::Pointer(space, to) => format!("@{} {} *", space.name(), to.name()),
            Type::Dim3 => "uint3".into(),
            Type::Struct(of) => of.name.clone(),
            Type::Enum(name, ..) => format!("enum {name}"),
        }
    }

    /// As `ptype` describes it: structures with their members, enumerations with their names.
    pub fn description(&self) -> String {
        match self {
            Type::Struct(of) => {
                let mut text = format!("{} {{\n", of.name);
                let members = of.members();
                for (name, ty, _, bits) in members.iter().take(SHOWN) {
                    let bits = bits.map_or_else(String::new, |(_, width)| format!(" : {width}"));
                    putln!(text, "    {}{bits};", declared(ty, name));
                }
                if members.len() > SHOWN {
                    putln!(text, "    ... {} more", members.len() - SHOWN);
                }
                text + "}"
            }
            Type::Enum(name, _, names) => {
                let mut next = 0;
                let shown = names.iter().take(SHOWN).map(|(name, value)| {
                    let plain = *value == next;
                    next = value.wrapping_add(1);
                    if plain { name.clone() } else { format!("{name} = {value}") }
                });
                let shown: Vec<String> = shown.collect();
                let more = if names.len() > SHOWN { ", ..." } else { "" };
                format!("enum {name} {{{}{more}}}", shown.join(", "))
            }
            Type::Pointer(StateSpace::Generic, to) => format!("{} *", to.description()),
            Type::Pointer(space, to) => format!("@{} {} *", space.name(), to.description()),
            Type::Array(of, count) => {
                let (mut inner, mut dims) = (of, format!("[{count}]"));
                while let Type::Array(of, count) = &**inner {
                    put!(dims, "[{count}]");
                    inner = of;
                }
                format!("{} {dims}", inner.description())
            }
            Type::Scalar(_) | Type::Dim3 => self.name(),
        }
    }

    /// The type of a name in C or PTX.
    pub fn named(name: &str) -> Option<ScalarType> {
        use ScalarType::*;
        Some(match name.trim_start_matches('.') {
            "char" | "int8_t" => S8,
            "uchar" | "uint8_t" => U8,
            "short" | "int16_t" => S16,
            "ushort" | "uint16_t" => U16,
            "int" | "int32_t" => S32,
            "uint" | "unsigned" | "uint32_t" => U32,
            "long" | "int64_t" => S64,
            "ulong" | "uint64_t" | "size_t" => U64,
            "half" | "__half" => F16,
            "float" => F32,
            "double" => F64,
            "bool" => Pred,
            name => ScalarType::from_name(name).filter(|ty| ty.class() != TypeClass::Opaque)?,
        })
    }
}

/// A member as C declares it.
fn declared(ty: &dwarf::Type, name: &str) -> String {
    let (mut inner, mut dims) = (ty, String::new());
    while let dwarf::Type::Array(of, count) = inner {
        put!(dims, "[{count}]");
        inner = of;
    }
    let text = inner.to_string();
    let blank = if text.ends_with('*') { "" } else { " " };
    format!("{text}{blank}{name}{dims}")
}

/// Where a value can be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// In memory.
    Memory(StateSpace, u64),
    /// In a register of the selected frame.
    Register(Reg),
}

/// A value: its bits, low byte first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    pub ty: Type,
    pub bytes: Vec<u8>,
    pub at: Option<Location>,
}

impl Value {
    pub fn new(ty: Type, bits: u128) -> Value {
        let bytes = bits.to_le_bytes()[..(ty.bytes() as usize).min(16)].to_vec();
        Value { ty, bytes, at: None }
    }

    pub fn int(value: i128) -> Value {
        let ty = if i32::try_from(value).is_ok() { ScalarType::S32 } else { ScalarType::S64 };
        Value::new(Type::Scalar(ty), value as u128)
    }

    pub fn boolean(value: bool) -> Value {
        Value::int(value.into())
    }

    pub fn double(value: f64) -> Value {
        Value::new(Type::Scalar(ScalarType::F64), value.to_bits().into())
    }

    /// The first 128 bits.
    pub fn bits(&self) -> u128 {
        let mut wide = [0; 16];
        let len = self.bytes.len().min(16);
        wide[..len].copy_from_slice(&self.bytes[..len]);
        u128::from_le_bytes(wide)
    }

    /// The value of a float.
    pub fn as_float(&self) -> Option<f64> {
        match &self.ty {
            Type::Scalar(ty) if ty.is_float() => float(*ty, self.bits()),
            _ => None,
        }
    }

    /// The value as an integer; a float is cut.
    pub fn as_int(&self) -> Result<i128, String> {
        match &self.ty {
            Type::Scalar(ty) if ty.is_float() => {
                let value =
                    float(*ty, self.bits()).ok_or_else(|| format!("a value of type {ty} has no number"))?;
                Ok(value as i128)
            }
            Type::Scalar(ty) => Ok(integer(*ty, self.bits())),
            Type::Pointer(..) => Ok(self.bits() as i128),
            Type::Enum(_, size, _) => {
                let unused = 128 - (8 * size).clamp(8, 128) as u32;
                Ok(((self.bits() << unused) as i128) >> unused)
            }
            Type::Array(..) | Type::Dim3 | Type::Struct(_) => {
                Err(format!("a value of type {} is not a number", self.ty.name()))
            }
        }
    }

    pub fn is_true(&self) -> Result<bool, String> {
        match self.as_float() {
            Some(value) => Ok(value != 0.0),
            None => self.as_int().map(|value| value != 0),
        }
    }

    /// Converted as an assignment converts.
    pub fn cast(&self, to: &Type) -> Result<Value, String> {
        let bits = match to {
            Type::Scalar(ScalarType::Pred) => u128::from(self.is_true()?),
            Type::Scalar(ty) if ty.is_float() => {
                let value = match self.as_float() {
                    Some(value) => value,
                    None => self.as_int()? as f64,
                };
                from_float(*ty, value).ok_or_else(|| format!("a number cannot be converted to {ty}"))?
            }
            Type::Scalar(_) | Type::Pointer(..) | Type::Enum(..) => self.as_int()? as u128,
            Type::Array(..) | Type::Dim3 | Type::Struct(_) => {
                return Err(format!("Invalid cast to {}.", to.name()));
            }
        };
        Ok(Value::new(to.clone(), mask(bits, to)))
    }

    /// The element of an array, with its place where the array is in memory.
    pub fn element(&self, of: &Type, index: usize) -> Value {
        let size = of.bytes() as usize;
        let bytes = self.bytes.get(index * size..(index + 1) * size).unwrap_or_default().to_vec();
        let at = match self.at {
            Some(Location::Memory(space, address)) => {
                Some(Location::Memory(space, address.wrapping_add((index * size) as u64)))
            }
            Some(Location::Register(_)) | None => None,
        };
        Value { ty: of.clone(), bytes, at }
    }

    /// A member of a structure, with its place where the structure is in memory.
    pub fn member(&self, name: &str) -> Option<Value> {
        let Type::Struct(of) = &self.ty else { return None };
        let (_, ty, offset, bits) = of.members().iter().find(|(known, ..)| known == name)?;
        let ty = Type::of_source(ty);
        let start = usize::try_from(*offset).ok()?;
        let bytes = self.bytes.get(start..start.checked_add(usize::try_from(ty.bytes()).ok()?)?)?.to_vec();
        let at = match self.at {
            Some(Location::Memory(space, address)) => {
                Some(Location::Memory(space, address.wrapping_add(*offset)))
            }
            _ => None,
        };
        let whole = Value { ty, bytes, at };
        let Some((lowest, width)) = *bits else { return Some(whole) };
        // A bit field cannot be changed alone.
        let field = whole.bits().checked_shr(lowest)?;
        let unused = 128u32.checked_sub(width).filter(|unused| *unused < 128)?;
        let signed = matches!(&whole.ty, Type::Scalar(ty) if ty.class() == TypeClass::Signed);
        let shifted = field << unused;
        let bits = if signed { (shifted as i128 >> unused) as u128 } else { shifted >> unused };
        Some(Value::new(whole.ty, bits))
    }

    /// The text of the value in a format.
    pub fn show(&self, format: Option<char>) -> String {
        match &self.ty {
            Type::Array(of, count) => {
                if let (Type::Scalar(ScalarType::B8 | ScalarType::S8 | ScalarType::U8), Some('s')) =
                    (&**of, format)
                {
                    let text: Vec<u8> = self.bytes.iter().copied().take_while(|b| *b != 0).collect();
                    return quoted(&String::from_utf8_lossy(&text), '"');
                }
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                let have = (self.bytes.len() as u64).checked_div(of.bytes()).unwrap_or(0) as usize;
                let shown = count.min(have).min(SHOWN);
                let mut text = repeated((0..shown).map(|i| self.element(of, i).show(format)));
                if shown < count {
                    text += "...";
                }
                format!("{{{text}}}")
            }
            Type::Dim3 => {
                let part = |i: usize| Value {
                    ty: Type::INT,
                    bytes: self.bytes[4 * i..4 * i + 4].to_vec(),
                    at: None,
                };
                let [x, y, z] = [0, 1, 2].map(|i| part(i).show(format));
                format!("{{x = {x}, y = {y}, z = {z}}}")
            }
            Type::Pointer(space, to) if format.is_none() => {
                format!("({}) {:#x}", Type::Pointer(*space, to.clone()).name(), self.bits())
            }
            Type::Pointer(..) => scalar(ScalarType::U64, self.bits(), format),
            Type::Struct(of) => {
                let member = |(name, ..): &(String, _, _, _)| {
                    let shown =
                        self.member(name).map_or_else(|| "<unavailable>".into(), |value| value.show(format));
                    format!("{name} = {shown}")
                };
                let shown: Vec<String> = of.members().iter().take(SHOWN).map(member).collect();
                format!("{{{}{}}}", shown.join(", "), if of.members().len() > SHOWN { ", ..." } else { "" })
            }
            Type::Enum(_, size, names) => {
                let number = self.as_int().unwrap_or(0);
                match names
                    .iter()
                    .find(|(_, value)| i128::from(*value) == number)
                    .filter(|_| format.is_none())
                {
                    Some((name, _)) => name.clone(),
                    None => {
                        let ty = if *size == 8 { ScalarType::S64 } else { ScalarType::S32 };
                        scalar(ty, number as u128, format)
                    }
                }
            }
            Type::Scalar(ty) => scalar(*ty, self.bits(), format),
        }
    }
}

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

/// The bits that a type has room for.
pub fn mask(bits: u128, ty: &Type) -> u128 {
    let width = match ty {
        Type::Scalar(ty) => ty.bits(),
        ty => (ty.bytes() * 8).min(128) as u32,
    };
    if width >= 128 { bits } else { bits & ((1 << width) - 1) }
}

/// Untyped bits and packed values are read as signed: small numbers are what registers mostly hold.
fn integer(ty: ScalarType, bits: u128) -> i128 {
    let bits = mask(bits, &Type::Scalar(ty));
    let signed = !matches!(ty.class(), TypeClass::Unsigned | TypeClass::Pred);
    let unused = 128 - ty.bits().clamp(1, 128);
    if signed { ((bits << unused) as i128) >> unused } else { bits as i128 }
}

fn scalar(ty: ScalarType, bits: u128, format: Option<char>) -> String {
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
fn float(ty: ScalarType, bits: u128) -> Option<f64> {
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
fn from_float(ty: ScalarType, value: f64) -> Option<u128> {
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

fn quoted(text: &str, mark: char) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn show(ty: ScalarType, bits: u128, format: Option<char>) -> String {
        Value::new(Type::Scalar(ty), bits).show(format)
    }

    #[test]
    fn formats() {
        use ScalarType::*;
        assert_eq!(show(B32, 0xffff_ffff, None), "-1");
        assert_eq!(show(U32, 0xffff_ffff, None), "4294967295");
        assert_eq!(show(S8, 0xff, Some('u')), "255");
        assert_eq!(show(U8, 0x41, Some('c')), "65 'A'");
        assert_eq!(show(U32, 10, Some('t')), "1010");
        assert_eq!(show(U16, 10, Some('z')), "0x000a");
        assert_eq!(show(B32, 0x3fc0_0000, Some('f')), "1.5");
        assert_eq!(show(F32, 0x3fc0_0000, Some('x')), "0x3fc00000");
        assert_eq!(show(F16, 0x3e00, None), "1.5");
        assert_eq!(show(F16x2, 0xc000_3e00, None), "{1.5, -2}");
        assert_eq!(show(Pred, 1, None), "true");
        assert_eq!(show(F32, 0x7f80_0000, None), "inf");
        assert_eq!(show(UE8M0, 0x7f, None), "0x7f");
    }

    #[test]
    fn conversions() {
        let to = |ty| Type::Scalar(ty);
        assert_eq!(Value::double(1.5).cast(&to(ScalarType::F16)).unwrap().bits(), 0x3e00);
        assert_eq!(Value::double(-0.0).cast(&to(ScalarType::BF16)).unwrap().bits(), 0x8000);
        assert_eq!(Value::double(f64::INFINITY).cast(&to(ScalarType::F16)).unwrap().bits(), 0x7c00);
        assert_eq!(Value::int(-1).cast(&to(ScalarType::U16)).unwrap().bits(), 0xffff);
        assert_eq!(Value::int(3).cast(&to(ScalarType::F32)).unwrap().show(None), "3");
        assert_eq!(Value::double(-2.9).cast(&to(ScalarType::S32)).unwrap().show(None), "-2");
        assert!(Value::int(1).cast(&Type::Dim3).is_err());
    }

    #[test]
    fn arrays_are_folded() {
        let words: Vec<u8> = [1u32, 2].iter().chain(&[7; 12]).flat_map(|w| w.to_le_bytes()).collect();
        let ty = Type::Array(Box::new(Type::Scalar(ScalarType::U32)), 14);
        let value = Value { ty, bytes: words, at: None };
        assert_eq!(value.show(None), "{1, 2, 7 <repeats 12 times>}");
        assert_eq!(value.ty.name(), "u32 [14]");
    }
}
