//! Values with types, and how they are shown.

pub use super::numbers::{mask, repeated};
pub use super::types::Type;

use super::numbers::{characters, float, from_float, integer, quoted, scalar};
use super::types::{Kind, SHOWN};
use crate::dwarf::{Case, Member};
use warpsmith_interp::engine::Reg;
use warpsmith_isa::{ScalarType, StateSpace, TypeClass};

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

/// The text at an address of a space, in quotes; `None` where none can be read.
pub type Texts<'a> = &'a mut dyn FnMut(StateSpace, u64) -> Option<String>;

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
        self.ty.scalar().filter(|ty| ty.is_float()).and_then(|ty| float(ty, self.bits()))
    }

    /// The value as an integer; a float is cut.
    pub fn as_int(&self) -> Result<i128, String> {
        match self.ty.plain() {
            Type::Scalar(ty) | Type::Base(_, ty, _) if ty.is_float() => {
                let value =
                    float(*ty, self.bits()).ok_or_else(|| format!("a value of type {ty} has no number"))?;
                Ok(value as i128)
            }
            Type::Scalar(ty) | Type::Base(_, ty, _) => Ok(integer(*ty, self.bits())),
            Type::Pointer(..) | Type::Reference(..) | Type::Function(..) => Ok(self.bits() as i128),
            Type::Enum(_, size, names) => {
                // Its numbers are signed if one that has a name is.
                let bits = mask(self.bits(), &self.ty);
                if names.iter().all(|(_, value)| *value >= 0) {
                    return Ok(bits as i128);
                }
                let unused = 128 - (8 * size).clamp(8, 128) as u32;
                Ok(((self.bits() << unused) as i128) >> unused)
            }
            Type::Array(..)
            | Type::Void
            | Type::Dim3
            | Type::Struct(_)
            | Type::Typedef(..)
            | Type::Qualified(..) => Err(format!("a value of type {} is not a number", self.ty.name())),
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
        let bits = match to.plain() {
            Type::Scalar(ScalarType::Pred) | Type::Base(_, _, Kind::Boolean) => u128::from(self.is_true()?),
            Type::Scalar(ty) | Type::Base(_, ty, _) if ty.is_float() => {
                let value = match self.as_float() {
                    Some(value) => value,
                    None => self.as_int()? as f64,
                };
                from_float(*ty, value).ok_or_else(|| format!("a number cannot be converted to {ty}"))?
            }
            Type::Scalar(_) | Type::Base(..) | Type::Pointer(..) | Type::Enum(..) => self.as_int()? as u128,
            Type::Array(..)
            | Type::Reference(..)
            | Type::Void
            | Type::Dim3
            | Type::Struct(_)
            | Type::Function(..)
            | Type::Typedef(..)
            | Type::Qualified(..) => {
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

    /// A member of a structure, with its place where the structure is in memory. Of an enumeration with data, also one of what it holds.
    pub fn member(&self, name: &str) -> Option<Value> {
        let Type::Struct(of) = self.ty.plain() else { return None };
        match of.find(name) {
            Some(member) => self.part(&member),
            None => {
                let case = self.case()?;
                let held = self.part(&case.member)?;
                if case.member.name == name { Some(held) } else { held.member(name) }
            }
        }
    }

    /// What an enumeration with data holds.
    pub fn case(&self) -> Option<&Case> {
        let Type::Struct(of) = self.ty.plain() else { return None };
        let variants = of.variants()?;
        let number = match &variants.discriminant {
            Some(member) => Some(mask(self.part(member)?.bits(), &Type::of_source(&member.ty))),
            None => None,
        };
        let is = |case: &&Case| match (case.value, &variants.discriminant) {
            (Some(value), Some(member)) => Some(mask(value as u128, &Type::of_source(&member.ty))) == number,
            (Some(_) | None, _) => false,
        };
        let other = || variants.cases.iter().find(|case| case.value.is_none());
        variants.cases.iter().find(is).or_else(other)
    }

    /// A part of a structure, with its place where the structure is in memory.
    pub fn part(&self, member: &Member) -> Option<Value> {
        let Member { ty, offset, bits, .. } = member;
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
        let signed = whole.ty.scalar().is_some_and(|ty| ty.class() == TypeClass::Signed);
        let shifted = field << unused;
        let bits = if signed { (shifted as i128 >> unused) as u128 } else { shifted >> unused };
        Some(Value::new(whole.ty, bits))
    }

    /// The text of the value in a format; of a pointer to characters its address alone.
    pub fn show(&self, format: Option<char>) -> String {
        self.show_with(format, &mut |_, _| None)
    }

    /// The text of the value in a format, with the texts that it points to.
    pub fn show_with(&self, format: Option<char>, texts: Texts<'_>) -> String {
        match self.ty.plain() {
            Type::Array(of, count) => {
                if let (Some(ScalarType::B8 | ScalarType::S8 | ScalarType::U8), Some('s')) =
                    (of.scalar(), format)
                {
                    let text: Vec<u8> = self.bytes.iter().copied().take_while(|b| *b != 0).collect();
                    return quoted(&String::from_utf8_lossy(&text), '"');
                }
                if let (Type::Base(_, ty, Kind::Character), None) = (of.plain(), format)
                    && ty.bits() == 8
                {
                    return characters(&self.bytes);
                }
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                let have = (self.bytes.len() as u64).checked_div(of.bytes()).unwrap_or(0) as usize;
                let shown = count.min(have).min(SHOWN);
                let mut text = repeated((0..shown).map(|i| self.element(of, i).show_with(format, texts)));
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
            Type::Pointer(space, to) if to.is_character() && matches!(format, None | Some('s')) => {
                let (of, shown) = (self.ty.name(), self.bits());
                match (texts(*space, shown as u64), format) {
                    (Some(text), None) => format!("{shown:#x} {text}"),
                    (Some(text), Some(_)) => text,
                    (None, _) => format!("({of}) {shown:#x}"),
                }
            }
            Type::Pointer(space, to) if format.is_none() => {
                let (of, shown) = (self.ty.name(), self.bits());
                match (to.plain(), space) {
                    // Addresses of code are lines of the PTX.
                    (Type::Function(_, Some(name)), _) => format!("({of}) {shown} <{name}>"),
                    _ => format!("({of}) {shown:#x}"),
                }
            }
            Type::Function(signature, name) => {
                let of = Type::Function(signature.clone(), None).name();
                let name = name.as_ref().map_or_else(String::new, |name| format!(" <{name}>"));
                format!("{{{of}}} {}{name}", self.bits())
            }
            Type::Pointer(..) => scalar(ScalarType::U64, self.bits(), format),
            Type::Reference(..) => format!("@{:#x}", self.bits()),
            Type::Struct(of) => {
                if let Some(case) = self.case() {
                    let held = self.part(&case.member);
                    let data = held
                        .filter(|held| !held.is_empty())
                        .map(|held| format!(" {}", held.show_with(format, texts)));
                    return format!("{}{}", case.member.name, data.unwrap_or_default());
                }
                let shown = |member: &Member| {
                    let value = match self.part(member) {
                        Some(value) => value.show_with(format, texts),
                        None => "<unavailable>".into(),
                    };
                    match member.shown() {
                        name if name.is_empty() => value,
                        name => format!("{name} = {value}"),
                    }
                };
                let members: Vec<String> = of.members().iter().take(SHOWN).map(shown).collect();
                format!("{{{}{}}}", members.join(", "), if of.members().len() > SHOWN { ", ..." } else { "" })
            }
            Type::Enum(_, size, names) => {
                let number = self.as_int().unwrap_or(0);
                match names
                    .iter()
                    .find(|(_, value)| mask(*value as u128, &self.ty) == mask(number as u128, &self.ty))
                    .filter(|_| format.is_none())
                {
                    Some((name, _)) => name.clone(),
                    None => {
                        let ty = if *size == 8 { ScalarType::S64 } else { ScalarType::S32 };
                        scalar(ty, number as u128, format)
                    }
                }
            }
            Type::Base(_, ty, Kind::Boolean) if format.is_none() && self.bits() <= 1 => {
                (mask(self.bits(), &Type::Scalar(*ty)) == 1).to_string()
            }
            Type::Base(_, ty, Kind::Character) if format.is_none() => {
                let number = integer(*ty, self.bits());
                let character = match ty.bits() {
                    8 => Some(char::from(number as u8)),
                    _ => u32::try_from(number).ok().and_then(char::from_u32),
                };
                character.map_or_else(
                    || number.to_string(),
                    |character| format!("{number} {}", quoted(&character.to_string(), '\'')),
                )
            }
            Type::Scalar(ty) | Type::Base(_, ty, _) => scalar(*ty, self.bits(), format),
            Type::Void => "void".into(),
            Type::Typedef(..) | Type::Qualified(..) => String::new(),
        }
    }

    /// True of a structure without members.
    fn is_empty(&self) -> bool {
        matches!(self.ty.plain(), Type::Struct(of) if of.members().is_empty() && of.variants().is_none())
    }
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
    fn characters_are_text() {
        assert_eq!(characters(b"abc\0\0"), r#""abc\000""#);
        assert_eq!(characters(b"a\"\xff"), r#""a\"\377""#);
        assert_eq!(characters(b"\0"), r#""""#);
        assert_eq!(characters(&[b"abc", &[0u8; 13][..]].concat()), r#""abc", '\000' <repeats 12 times>"#);
        assert!(characters(&[b'x'; 300]).ends_with("<repeats 200 times>..."));
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
