//! Location expressions, as compilers for PTX write them.

use super::assemble::Sections;

/// Where a variable is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a register of the PTX, by its name.
    Register(String),
    /// Behind the address in a register.
    Behind(String, i64),
    /// In memory with a name, so many bytes from its start.
    Symbol(String, i64),
    /// It is a constant.
    Constant(i64),
    /// In pieces of so many bytes, some of which are nowhere.
    Pieces(Vec<(Option<Place>, u64)>),
}

impl Place {
    /// Reads an expression.
    pub(super) fn read(mut bytes: &[u8], sections: &Sections) -> Result<Place, String> {
        let mut pieces = Vec::new();
        let mut place: Option<Place> = None;
        while let Some((&op, rest)) = bytes.split_first() {
            bytes = rest;
            let short = || "the expression is cut off".to_owned();
            match op {
                // DW_OP_addr
                0x03 => {
                    let (address, rest) = bytes.split_first_chunk().ok_or_else(short)?;
                    bytes = rest;
                    let address = u64::from_le_bytes(*address);
                    let (symbol, offset) = sections.symbol(address).ok_or("an address without a name")?;
                    place = Some(Place::Symbol(symbol.to_owned(), offset));
                }
                // DW_OP_plus_uconst
                0x23 => {
                    let by = unsigned(&mut bytes).and_then(|by| i64::try_from(by).ok()).ok_or_else(short)?;
                    match &mut place {
                        Some(Place::Symbol(_, offset) | Place::Behind(_, offset)) => {
                            *offset = offset.wrapping_add(by);
                        }
                        _ => return Err("a sum without an address".into()),
                    }
                }
                // DW_OP_regx
                0x90 => place = Some(Place::Register(register(unsigned(&mut bytes).ok_or_else(short)?)?)),
                // DW_OP_bregx
                0x92 => {
                    let name = register(unsigned(&mut bytes).ok_or_else(short)?)?;
                    place = Some(Place::Behind(name, signed(&mut bytes).ok_or_else(short)?));
                }
                // DW_OP_lit0 to DW_OP_lit31
                0x30..=0x4f => place = Some(Place::Constant(i64::from(op - 0x30))),
                // DW_OP_const1u to DW_OP_const8s: of 1, 2, 4 and 8 bytes, unsigned and signed in turn
                0x08..=0x0f => {
                    let size = 1usize << ((op - 0x08) >> 1);
                    let (number, rest) = bytes.split_at_checked(size).ok_or_else(short)?;
                    bytes = rest;
                    let value = number.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
                    let unused = 64 - 8 * size as u32;
                    let signed = op & 1 == 1;
                    let extended = if signed { ((value << unused) as i64) >> unused } else { value as i64 };
                    place = Some(Place::Constant(extended));
                }
                // DW_OP_constu, DW_OP_consts
                0x10 => place = Some(Place::Constant(unsigned(&mut bytes).ok_or_else(short)? as i64)),
                0x11 => place = Some(Place::Constant(signed(&mut bytes).ok_or_else(short)?)),
                // DW_OP_piece
                0x93 => pieces.push((place.take(), unsigned(&mut bytes).ok_or_else(short)?)),
                // DW_OP_nop, DW_OP_stack_value
                0x96 | 0x9f => {}
                op => return Err(format!("DWARF operation {op:#x} is not understood")),
            }
        }
        match (place, pieces.is_empty()) {
            (_, false) => Ok(Place::Pieces(pieces)),
            (Some(place), true) => Ok(place),
            (None, true) => Err("the expression is empty".into()),
        }
    }
}

/// The name that a number denotes: its bytes, the highest first.
fn register(number: u64) -> Result<String, String> {
    let bytes: Vec<u8> = number.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    match String::from_utf8(bytes) {
        Ok(name) if name.starts_with('%') => Ok(name),
        _ => Err(format!("register {number:#x} has no name")),
    }
}

/// LEB128.
pub(super) fn unsigned(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if shift < 64 {
            value |= u64::from(byte & 0x7f) << shift;
        }
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let before = bytes.len();
    let value = unsigned(bytes)?;
    let bits = 7 * (before - bytes.len());
    let unused = 64u32.saturating_sub(u32::try_from(bits).ok()?);
    Some(((value << unused) as i64) >> unused)
}
