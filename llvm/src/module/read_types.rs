//! The block of types.

use super::types::{Type, TypeId, Types};
use crate::bitstream::{Block, Record};
use crate::error::{Error, Result};

/// Reads the block of types.
#[expect(clippy::wildcard_enum_match_arm, reason = "what names no other type names none that is missing")]
pub(super) fn read(mut block: Block<'_>, types: &mut Types) -> Result<()> {
    let mut record = Record::default();
    let mut name: Option<String> = None;
    while block.next_record(&mut record)? {
        let ops = &record.ops;
        let offset = record.offset;
        let wrong =
            || Error::record(offset, format!("a type of code {} with {} fields", record.code, ops.len()));
        let id = |n: usize| match ops.get(n).map(|id| u32::try_from(*id)) {
            Some(Ok(id)) => Ok(TypeId(id)),
            Some(Err(_)) | None => Err(wrong()),
        };
        let ids = |from: usize| (from..ops.len()).map(id).collect::<Result<Vec<TypeId>>>();
        let number = |n: usize| ops.get(n).copied().ok_or_else(wrong);
        let ty = match record.code {
            1 => continue,
            2 => Type::Void,
            3 => Type::Float,
            4 => Type::Double,
            5 => Type::Label,
            6 => Type::Opaque(name.take().unwrap_or_default()),
            7 => match number(0)? {
                bits @ 1..=0x80_0000 => Type::Integer(bits as u32),
                _ => return Err(wrong()),
            },
            8 => Type::Pointer {
                pointee: Some(id(0)?),
                space: u32::try_from(ops.get(1).copied().unwrap_or(0)).map_err(|_| wrong())?,
            },
            10 => Type::Half,
            11 => Type::Array { len: number(0)?, element: id(1)? },
            12 if ops.get(2) == Some(&1) => Type::Other("a scalable vector"),
            12 => match u32::try_from(number(0)?) {
                Ok(len @ 1..) => Type::Vector { len, element: id(1)? },
                _ => return Err(wrong()),
            },
            13 => Type::X86Fp80,
            14 => Type::Fp128,
            15 => Type::PpcFp128,
            16 => Type::Metadata,
            17 => Type::Other("x86_mmx"),
            18 => Type::Struct { packed: number(0)? != 0, fields: ids(1)?, name: None },
            19 => {
                name = Some(text(ops));
                continue;
            }
            20 => Type::Struct {
                packed: number(0)? != 0,
                fields: ids(1)?,
                name: Some(name.take().unwrap_or_default()),
            },
            21 => Type::Function { varargs: number(0)? != 0, ret: id(1)?, params: ids(2)? },
            22 => Type::Token,
            23 => Type::BFloat,
            24 => Type::Other("x86_amx"),
            25 => Type::Pointer { pointee: None, space: u32::try_from(number(0)?).map_err(|_| wrong())? },
            26 => {
                name = None;
                Type::Other("a target extension type")
            }
            code => return Err(Error::record(offset, format!("no type has the code {code}"))),
        };
        types.push(ty, offset)?;
    }
    for n in 0..types.len() as u32 {
        let part = match types.get(TypeId(n)) {
            Type::Function { ret, params, .. } => params.iter().chain([ret]).find(|id| !types.has(**id)),
            Type::Pointer { pointee: Some(pointee), .. } => Some(pointee).filter(|id| !types.has(**id)),
            _ => None,
        };
        if let Some(part) = part {
            return Err(Error::record(
                block.offset(),
                format!("type {n} is made of type {}, which does not exist", part.0),
            ));
        }
    }
    Ok(())
}

/// Fields that are characters.
pub(super) fn text(ops: &[u64]) -> String {
    let bytes: Vec<u8> = ops.iter().map(|op| *op as u8).collect();
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
