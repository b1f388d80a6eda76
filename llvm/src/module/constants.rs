//! Constants, of a module and of a function.

use super::ValueId;
use super::ops::{BinaryOp, CastOp, Predicate};
use super::types::{Type, TypeId, Types};
use crate::bitstream::{Block, Record};
use crate::error::{Error, Result};

/// A constant and its type.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The type.
    pub ty: TypeId,
    /// The value.
    pub kind: ConstantKind,
    /// The byte of the file that its record starts in.
    pub offset: u64,
}

/// What a constant is.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ConstantKind {
    /// Zero, of any type.
    Null,
    Undef,
    Poison,
    /// The bits of an integer of at most 64 bits, sign-extended.
    Integer(i64),
    /// The words of a wider integer, the lowest first.
    Wide(Vec<u64>),
    /// The bits of a float, in as many words as it needs.
    Float(Vec<u64>),
    /// The parts of a struct, array or vector.
    Aggregate(Vec<ValueId>),
    /// An array of bytes.
    String(Vec<u8>),
    /// The elements of an array or vector of integers or floats, by their bits.
    Data(Vec<u64>),
    Binary {
        op: BinaryOp,
        args: [ValueId; 2],
    },
    Cast {
        op: CastOp,
        arg: ValueId,
    },
    Gep {
        source: TypeId,
        base: ValueId,
        indices: Vec<ValueId>,
    },
    Select([ValueId; 3]),
    Compare {
        predicate: Predicate,
        args: [ValueId; 2],
    },
    InlineAsm(Box<InlineAsm>),
    /// The address of a block of a function.
    BlockAddress {
        function: ValueId,
        block: u32,
    },
    /// Others that are named and refused.
    Other(&'static str),
}

/// `call asm`: a text with operands.
#[derive(Clone, Debug)]
pub struct InlineAsm {
    /// The type of the call.
    pub ty: Option<TypeId>,
    /// It has effects besides its results.
    pub side_effect: bool,
    /// The stack must be aligned.
    pub align_stack: bool,
    /// The text, with `$0` for operands.
    pub text: String,
    /// The constraints, separated by commas.
    pub constraints: String,
}

/// Reads a block of constants; the number of the first one follows the values that are there.
#[expect(clippy::wildcard_enum_match_arm, reason = "a constant of another type is refused by name")]
pub(super) fn read<'a>(
    mut block: Block<'a>,
    record: &mut Record<'a>,
    types: &mut Types,
    out: &mut Vec<Constant>,
) -> Result<()> {
    let mut ty = TypeId(u32::MAX);
    while block.next_record(record)? {
        let (ops, offset) = (&record.ops, record.offset);
        let wrong = |what: &str| Error::record(offset, format!("a constant {what}"));
        if record.code == 1 {
            ty = ops
                .first()
                .and_then(|id| u32::try_from(*id).ok())
                .map(TypeId)
                .filter(|id| types.has(*id))
                .ok_or_else(|| wrong("of a type that does not exist"))?;
            continue;
        }
        if !types.has(ty) {
            return Err(wrong("before any type was set"));
        }
        let number = |n: usize| ops.get(n).copied().ok_or_else(|| wrong("that is cut off"));
        let id = |n: usize| {
            let id = number(n)?;
            u32::try_from(id).map(ValueId).map_err(|_| wrong("that names no value"))
        };
        let type_at = |n: usize| {
            let id = number(n)?;
            let id = u32::try_from(id).ok().map(TypeId).filter(|id| types.has(*id));
            id.ok_or_else(|| wrong("of a type that does not exist"))
        };
        let kind = match record.code {
            2 => ConstantKind::Null,
            3 => ConstantKind::Undef,
            4 => match types.get(ty) {
                Type::Integer(_) => ConstantKind::Integer(signed(number(0)?)),
                // A splat of an integer, as LLVM 22 writes vectors of one.
                Type::Vector { .. } => ConstantKind::Data(vec![signed(number(0)?) as u64]),
                _ => return Err(wrong("integer of another type")),
            },
            5 if !matches!(types.get(ty), Type::Integer(_)) => return Err(wrong("integer of another type")),
            5 => ConstantKind::Wide(ops.iter().map(|word| signed(*word) as u64).collect()),
            6 if matches!(types.get(ty), Type::Integer(_) | Type::Pointer { .. }) => {
                return Err(wrong("float of another type"));
            }
            6 if !ops.is_empty() => {
                let bits = types.bits(ty)?;
                if bits < 64 && ops[0] >> bits != 0 {
                    return Err(wrong("float of more bits than its type has"));
                }
                ConstantKind::Float(ops.clone())
            }
            7 => ConstantKind::Aggregate((0..ops.len()).map(id).collect::<Result<_>>()?),
            8 => ConstantKind::String(ops.iter().map(|op| *op as u8).collect()),
            9 => ConstantKind::String(ops.iter().map(|op| *op as u8).chain([0]).collect()),
            10 => {
                let op =
                    BinaryOp::of(number(0)?, types, ty).ok_or_else(|| wrong("of an unknown operation"))?;
                ConstantKind::Binary { op, args: [id(1)?, id(2)?] }
            }
            11 => {
                let op = CastOp::of(number(0)?).ok_or_else(|| wrong("of an unknown cast"))?;
                ConstantKind::Cast { op, arg: id(2)? }
            }
            12 | 20 | 24 | 31 | 32 => {
                let mut at = 0;
                let mut source = None;
                if record.code >= 24 || ops.len() % 2 == 1 {
                    source = Some(type_at(0)?);
                    at = 1;
                }
                if record.code >= 24 {
                    at += 1;
                }
                if record.code == 31 {
                    let words = usize::try_from(number(at)?.div_ceil(64)).unwrap_or(usize::MAX);
                    // The bounds of a range are one number each up to 64 bits; wider ones say how many words they have.
                    at = if words <= 1 {
                        at + 3
                    } else {
                        return Err(wrong("with a range of more than 64 bits"));
                    };
                }
                let mut operands = Vec::new();
                while at + 1 < ops.len() {
                    operands.push(id(at + 1)?);
                    at += 2;
                }
                let Some((base, indices)) = operands.split_first() else {
                    return Err(wrong("address of nothing"));
                };
                let source = match source {
                    Some(source) => source,
                    None => match types.get(type_at(0)?) {
                        Type::Pointer { pointee: Some(pointee), .. } => *pointee,
                        _ => return Err(wrong("address in an unknown type")),
                    },
                };
                ConstantKind::Gep { source, base: *base, indices: indices.to_vec() }
            }
            13 => ConstantKind::Select([id(0)?, id(1)?, id(2)?]),
            17 => {
                let predicate = Predicate::of(number(3)?).ok_or_else(|| wrong("of an unknown comparison"))?;
                ConstantKind::Compare { predicate, args: [id(1)?, id(2)?] }
            }
            22 => ConstantKind::Data(ops.clone()),
            26 => ConstantKind::Poison,
            18 | 23 | 28 | 30 => {
                let mut at = 0;
                let mut of_type = None;
                if record.code == 30 {
                    of_type = Some(type_at(0)?);
                    at = 1;
                }
                let flags = number(at)?;
                let mut rest = ops.get(at + 1..).unwrap_or_default();
                let mut take = || -> Result<String> {
                    let (len, tail) = rest.split_first().ok_or_else(|| wrong("that is cut off"))?;
                    let len = usize::try_from(*len).unwrap_or(usize::MAX);
                    let (chars, tail) = tail.split_at_checked(len).ok_or_else(|| wrong("that is cut off"))?;
                    rest = tail;
                    Ok(super::read_types::text(chars))
                };
                let (text, constraints) = (take()?, take()?);
                if of_type.is_none()
                    && let Type::Pointer { pointee, .. } = types.get(ty)
                {
                    of_type = *pointee;
                }
                ConstantKind::InlineAsm(Box::new(InlineAsm {
                    ty: of_type,
                    side_effect: flags & 1 != 0,
                    align_stack: flags & 2 != 0,
                    text,
                    constraints,
                }))
            }
            14..=16 | 19 => ConstantKind::Other("a constant operation on a vector"),
            21 => ConstantKind::BlockAddress {
                function: id(1)?,
                block: u32::try_from(number(2)?).map_err(|_| wrong("address of no block"))?,
            },
            25 => ConstantKind::Other("a constant negation"),
            27 => ConstantKind::Other("dso_local_equivalent"),
            29 => ConstantKind::Other("no_cfi"),
            33 => ConstantKind::Other("ptrauth"),
            code => return Err(Error::record(offset, format!("no constant has the code {code}"))),
        };
        out.push(Constant { ty, kind, offset });
    }
    Ok(())
}

/// A number whose lowest bit is its sign.
pub(crate) fn signed(value: u64) -> i64 {
    match (value & 1, value >> 1) {
        (0, magnitude) => magnitude as i64,
        // There is no negative zero: it denotes the lowest number.
        (_, 0) => i64::MIN,
        (_, magnitude) => (magnitude as i64).wrapping_neg(),
    }
}
