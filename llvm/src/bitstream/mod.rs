//! LLVM's bitstream container: blocks of records, whose fields are packed by abbreviations that the file defines.
//!
//! A block says how long it is, so that a reader skips what it does not want without looking at it: [`Block::next`] gives a block inside
//! another one as a [`Block`] of its own, to be read now, later or never. No length of the file is trusted: memory is reserved for what
//! has been read only.

mod cursor;

use crate::error::{Error, Result};
pub use cursor::Cursor;
use std::sync::Arc;
use warpsmith_base::FxHashMap;

/// One field of an abbreviation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Char6,
}

/// What a record that an abbreviation packs ends with, behind its fields of one number each.
#[derive(Clone, Copy, Debug)]
enum Tail {
    Nothing,
    /// As many of a field as a length says.
    Array(Field),
    /// Bytes, aligned to 32 bits.
    Blob,
}

/// How a record is packed.
#[derive(Clone, Debug)]
struct Abbreviation {
    /// The first is the code, if there is one; else it is the first of the array.
    fields: Vec<Field>,
    tail: Tail,
}

/// The abbreviations that blocks of each kind start with, from the block of kind 0.
type BlockInfo = FxHashMap<u32, Arc<Vec<Abbreviation>>>;

/// A record: a code and numbers.
#[derive(Clone, Default, Debug)]
pub struct Record<'a> {
    /// The byte of the file that it starts in.
    pub offset: u64,
    /// What it is, in the numbering of its block.
    pub code: u32,
    /// The numbers behind the code.
    pub ops: Vec<u64>,
    /// The bytes of a blob, which is the last field of a record that has one.
    pub blob: Option<&'a [u8]>,
}

/// What stands next in a block.
pub enum Entry<'a> {
    /// A block, whose content has been skipped here.
    Block(Block<'a>),
    /// The record is in the buffer that was given.
    Record,
}

/// What stands in a block where no record begins.
enum Other<'a> {
    End,
    Block(Block<'a>),
    Abbreviations,
}

/// A block, and how far it has been read.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// What it holds, in the numbering of LLVM's `BitcodeCommon`.
    pub id: u32,
    cursor: Cursor<'a>,
    /// Bits of the number in front of each entry.
    width: u32,
    /// The abbreviations of all blocks of its kind, and behind them those that it defines itself.
    inherited: Option<Arc<Vec<Abbreviation>>>,
    own: Vec<Abbreviation>,
    info: Arc<BlockInfo>,
}

const END_BLOCK: u64 = 0;
const ENTER_BLOCK: u64 = 1;
const DEFINE_ABBREVIATION: u64 = 2;
const UNABBREVIATED: u64 = 3;
/// The block that defines abbreviations for blocks of other kinds.
const BLOCK_INFO: u32 = 0;
/// Its record that names the kind.
const SET_BLOCK: u32 = 1;

impl<'a> Block<'a> {
    /// The stream as a block around all others. `data` begins with the magic number `BC C0 DE`; `base` is where in its file it lies.
    pub fn top(data: &'a [u8], base: u64) -> Result<Block<'a>> {
        if !data.starts_with(b"BC\xC0\xDE") {
            return Err(Error::container(base, "no LLVM bitcode: the magic number `BC C0 DE` is missing"));
        }
        let cursor = Cursor::new(data, base).from_bit(32);
        Ok(Block { id: u32::MAX, cursor, width: 2, inherited: None, own: Vec::new(), info: Arc::default() })
    }

    /// The byte of the file at which the next entry starts.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// The next entry, or `None` at the end of the block.
    pub fn next(&mut self, record: &mut Record<'a>) -> Result<Option<Entry<'a>>> {
        loop {
            if self.id == u32::MAX && self.cursor.remaining() < 32 {
                return Ok(None);
            }
            let offset = self.cursor.offset();
            let number = self.cursor.read(self.width)?;
            if number >= UNABBREVIATED {
                record.offset = offset;
                self.record(number, record)?;
                return Ok(Some(Entry::Record));
            }
            match self.other(number, offset)? {
                Other::End => return Ok(None),
                Other::Block(block) => return Ok(Some(Entry::Block(block))),
                Other::Abbreviations => {}
            }
        }
    }

    /// What stands behind a number that begins no record.
    #[inline(never)]
    fn other(&mut self, number: u64, offset: u64) -> Result<Other<'a>> {
        Ok(match number {
            END_BLOCK if self.id == u32::MAX => {
                return Err(Error::container(offset, "a block ends where none was entered"));
            }
            END_BLOCK => Other::End,
            ENTER_BLOCK => {
                let block = self.enter(offset)?;
                if block.id == BLOCK_INFO {
                    self.read_info(block)?;
                    return Ok(Other::Abbreviations);
                }
                Other::Block(block)
            }
            // The last one: higher numbers begin records.
            DEFINE_ABBREVIATION.. => {
                self.own.push(define(&mut self.cursor)?);
                Other::Abbreviations
            }
        })
    }

    /// Reads the record of an abbreviation. The place in the stream is kept here until the record has been read, not in the block.
    fn record(&mut self, number: u64, record: &mut Record<'a>) -> Result<()> {
        let mut cursor = self.cursor.clone();
        record.blob = None;
        record.ops.clear();
        let code = if number == UNABBREVIATED {
            let code = cursor.groups(6);
            let count = cursor.groups(6);
            cursor.expect(count, 6)?;
            record.ops.extend((0..count as usize).map(|_| cursor.groups(6)));
            code
        } else {
            let inherited = self.inherited.as_deref().map_or(&[][..], Vec::as_slice);
            let n = (number - UNABBREVIATED - 1) as usize;
            let abbreviation = inherited.get(n).or_else(|| self.own.get(n.checked_sub(inherited.len())?));
            let Some(abbreviation) = abbreviation else {
                let message = format!("abbreviation {number} is not defined in a block of kind {}", self.id);
                return Err(Error::container(record.offset, message));
            };
            read_abbreviated(&mut cursor, abbreviation, record)?
        };
        cursor.check(record.offset)?;
        self.cursor = cursor;
        record.code = u32::try_from(code)
            .map_err(|_| Error::container(record.offset, format!("{code} is not a code of a record")))?;
        Ok(())
    }

    /// The bits that are left.
    pub(crate) fn remaining(&self) -> u64 {
        self.cursor.remaining()
    }

    /// The next record, blocks inside this one left out.
    pub fn next_record(&mut self, record: &mut Record<'a>) -> Result<bool> {
        loop {
            match self.next(record)? {
                Some(Entry::Record) => return Ok(true),
                Some(Entry::Block(_)) => {}
                None => return Ok(false),
            }
        }
    }

    /// The block that starts here; this one goes on behind it.
    fn enter(&mut self, offset: u64) -> Result<Block<'a>> {
        let id = self.cursor.vbr(8)?;
        let width = self.cursor.vbr(4)?;
        self.cursor.align()?;
        let words = self.cursor.read(32)?;
        let id = u32::try_from(id).ok().filter(|id| *id != u32::MAX);
        let (Some(id), true) = (id, (2..=32).contains(&width)) else {
            return Err(Error::container(offset, "a block of impossible kind or abbreviation width"));
        };
        let Some(cursor) = self.cursor.split(words.saturating_mul(32)) else {
            let left = self.cursor.remaining() / 8;
            let message =
                format!("a block of {} bytes where {left} are left: the file is truncated", words * 4);
            return Err(Error::container(offset, message));
        };
        let inherited = self.info.get(&id).cloned();
        Ok(Block {
            id,
            cursor,
            width: width as u32,
            inherited,
            own: Vec::new(),
            info: Arc::clone(&self.info),
        })
    }

    /// Reads the block that defines abbreviations for others.
    fn read_info(&mut self, mut block: Block<'a>) -> Result<()> {
        let mut info = BlockInfo::clone(&self.info);
        let mut current: Option<u32> = None;
        let mut record = Record::default();
        loop {
            let offset = block.cursor.offset();
            match block.cursor.read(block.width)? {
                END_BLOCK => break,
                DEFINE_ABBREVIATION => {
                    let abbreviation = define(&mut block.cursor)?;
                    let Some(current) = current else {
                        return Err(Error::container(offset, "an abbreviation for no kind of block"));
                    };
                    Arc::make_mut(info.entry(current).or_default()).push(abbreviation);
                }
                UNABBREVIATED => {
                    record.offset = offset;
                    block.record(UNABBREVIATED, &mut record)?;
                    if record.code == SET_BLOCK {
                        current = record.ops.first().and_then(|id| u32::try_from(*id).ok());
                    }
                }
                _ => {
                    return Err(Error::container(
                        offset,
                        "what is not a record in the block of abbreviations",
                    ));
                }
            }
        }
        self.info = Arc::new(info);
        Ok(())
    }
}

/// Reads the definition of an abbreviation.
fn define(cursor: &mut Cursor<'_>) -> Result<Abbreviation> {
    let offset = cursor.offset();
    let wrong = |what: &str| Error::container(offset, format!("an abbreviation with {what}"));
    let mut count = cursor.vbr(5)?;
    cursor.expect(count, 2)?;
    let mut fields = Vec::with_capacity(count as usize);
    let mut tail = Tail::Nothing;
    while count > 0 {
        count -= 1;
        let last = match one_field(cursor, offset)? {
            Defined::Scalar(field) => {
                fields.push(field);
                continue;
            }
            Defined::Array if count == 1 => match one_field(cursor, offset)? {
                Defined::Scalar(element) => Some(Tail::Array(element)),
                Defined::Array | Defined::Blob => None,
            },
            Defined::Blob if count == 0 => Some(Tail::Blob),
            Defined::Array | Defined::Blob => None,
        };
        tail = last.ok_or_else(|| wrong("an array or a blob that is not its end"))?;
        break;
    }
    if fields.is_empty() && matches!(tail, Tail::Nothing) {
        return Err(wrong("no fields"));
    }
    Ok(Abbreviation { fields, tail })
}

/// What the definition of an abbreviation lists.
enum Defined {
    Scalar(Field),
    /// As many of what follows as a length says.
    Array,
    Blob,
}

/// One of what the abbreviation lists that is defined at a byte of the file.
fn one_field(cursor: &mut Cursor<'_>, offset: u64) -> Result<Defined> {
    let wrong = |what: &str| Error::container(offset, format!("an abbreviation with {what}"));
    if cursor.read(1)? == 1 {
        return Ok(Defined::Scalar(Field::Literal(cursor.vbr(8)?)));
    }
    let encoding = cursor.read(3)?;
    Ok(match encoding {
        1 | 2 => {
            let width = cursor.vbr(5)?;
            Defined::Scalar(match (encoding, width) {
                // Both mean zero to LLVM.
                (_, 0) => Field::Literal(0),
                (1, 1..=64) => Field::Fixed(width as u32),
                (_, 2..=32) => Field::Vbr(width as u32),
                _ => return Err(wrong("a field that is too wide")),
            })
        }
        3 => Defined::Array,
        4 => Defined::Scalar(Field::Char6),
        5 => Defined::Blob,
        _ => return Err(wrong("an unknown encoding")),
    })
}

/// Reads the fields of a record, and returns its code.
#[inline(always)]
fn read_abbreviated<'a>(
    cursor: &mut Cursor<'a>,
    abbreviation: &Abbreviation,
    record: &mut Record<'a>,
) -> Result<u64> {
    record.ops.clear();
    record.blob = None;
    let mut fields = abbreviation.fields.iter();
    let mut code = fields.next().map(|field| scalar(cursor, *field));
    record.ops.extend(fields.map(|field| scalar(cursor, *field)));
    match abbreviation.tail {
        Tail::Nothing => {}
        Tail::Array(element) => {
            let mut count = cursor.groups(6);
            cursor.expect(count, element.width().max(1))?;
            if code.is_none() && count > 0 {
                code = Some(scalar(cursor, element));
                count -= 1;
            }
            let count = 0..count as usize;
            match element {
                Field::Literal(value) => record.ops.extend(count.map(|_| value)),
                Field::Fixed(width) => record.ops.extend(count.map(|_| cursor.bits(width))),
                Field::Vbr(width) => record.ops.extend(count.map(|_| cursor.groups(width))),
                Field::Char6 => record.ops.extend(count.map(|_| char6(cursor))),
            }
        }
        Tail::Blob => {
            let len = cursor.groups(6);
            cursor.align()?;
            record.blob = Some(cursor.bytes(len)?);
            cursor.align()?;
        }
    }
    code.ok_or_else(|| Error::container(record.offset, "a record without a code"))
}

impl Field {
    /// The fewest bits that it takes.
    fn width(self) -> u32 {
        match self {
            Field::Fixed(width) | Field::Vbr(width) => width,
            Field::Char6 => 6,
            Field::Literal(_) => 0,
        }
    }
}

#[inline(always)]
fn scalar(cursor: &mut Cursor<'_>, field: Field) -> u64 {
    match field {
        Field::Literal(value) => value,
        Field::Fixed(width) => cursor.bits(width),
        Field::Vbr(width) => cursor.groups(width),
        Field::Char6 => char6(cursor),
    }
}

#[inline(always)]
fn char6(cursor: &mut Cursor<'_>) -> u64 {
    const CHARS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    CHARS[(cursor.bits(6) & 63) as usize].into()
}
