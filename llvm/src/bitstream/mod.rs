//! LLVM's bitstream container: blocks of records, whose fields are packed by abbreviations that the file defines.
//!
//! A block says how long it is, so that a reader skips what it does not want without looking at it: [`Block::next`] gives a block inside
//! another one as a [`Block`] of its own, to be read now, later or never. No length of the file is trusted: memory is reserved for what
//! has been read only.

mod cursor;

use crate::error::{Error, Result};
pub use cursor::Cursor;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// One field of an abbreviation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Char6,
    /// As many of the next field as a length says.
    Array,
    /// Bytes, aligned to 32 bits.
    Blob,
}

/// How a record is packed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Abbreviation {
    fields: Vec<Field>,
}

/// The abbreviations that blocks of each kind start with, from the block of kind 0.
type BlockInfo = FxHashMap<u32, Vec<Arc<Abbreviation>>>;

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

/// A block, and how far it has been read.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// What it holds, in the numbering of LLVM's `BitcodeCommon`.
    pub id: u32,
    cursor: Cursor<'a>,
    /// Bits of the number in front of each entry.
    width: u32,
    abbreviations: Vec<Arc<Abbreviation>>,
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
        Ok(Block { id: u32::MAX, cursor, width: 2, abbreviations: Vec::new(), info: Arc::default() })
    }

    /// The byte of the file at which the next entry starts.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// The next entry, or `None` at the end of the block.
    pub fn next(&mut self, record: &mut Record<'a>) -> Result<Option<Entry<'a>>> {
        loop {
            let top = self.id == u32::MAX;
            if top && self.cursor.remaining() < 32 {
                return Ok(None);
            }
            let offset = self.cursor.offset();
            match self.cursor.read(self.width)? {
                END_BLOCK if top => {
                    return Err(Error::container(offset, "a block ends where none was entered"));
                }
                END_BLOCK => return Ok(None),
                ENTER_BLOCK => {
                    let block = self.enter(offset)?;
                    if block.id == BLOCK_INFO {
                        self.read_info(block)?;
                        continue;
                    }
                    return Ok(Some(Entry::Block(block)));
                }
                DEFINE_ABBREVIATION => {
                    let abbreviation = define(&mut self.cursor)?;
                    self.abbreviations.push(Arc::new(abbreviation));
                }
                UNABBREVIATED => {
                    record.offset = offset;
                    record.blob = None;
                    record.ops.clear();
                    record.code = self.code()?;
                    self.cursor.numbers(&mut record.ops)?;
                    return Ok(Some(Entry::Record));
                }
                number => {
                    let abbreviation = usize::try_from(number - 4).ok();
                    let Some(abbreviation) = abbreviation.and_then(|n| self.abbreviations.get(n)) else {
                        let message =
                            format!("abbreviation {number} is not defined in a block of kind {}", self.id);
                        return Err(Error::container(offset, message));
                    };
                    record.offset = offset;
                    read_abbreviated(&mut self.cursor, abbreviation, record)?;
                    return Ok(Some(Entry::Record));
                }
            }
        }
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

    fn code(&mut self) -> Result<u32> {
        let offset = self.cursor.offset();
        let code = self.cursor.vbr(6)?;
        u32::try_from(code).map_err(|_| Error::container(offset, format!("{code} is no code of a record")))
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
        let abbreviations = self.info.get(&id).cloned().unwrap_or_default();
        Ok(Block { id, cursor, width: width as u32, abbreviations, info: Arc::clone(&self.info) })
    }

    /// Reads the block that defines abbreviations for others.
    fn read_info(&mut self, mut block: Block<'a>) -> Result<()> {
        let mut info = BlockInfo::clone(&self.info);
        let mut current: Option<u32> = None;
        let mut record = Record::default();
        block.abbreviations.clear();
        loop {
            let offset = block.cursor.offset();
            match block.cursor.read(block.width)? {
                END_BLOCK => break,
                DEFINE_ABBREVIATION => {
                    let abbreviation = define(&mut block.cursor)?;
                    let Some(current) = current else {
                        return Err(Error::container(offset, "an abbreviation for no kind of block"));
                    };
                    info.entry(current).or_default().push(Arc::new(abbreviation));
                }
                UNABBREVIATED => {
                    let code = block.code()?;
                    record.ops.clear();
                    block.cursor.numbers(&mut record.ops)?;
                    if code == SET_BLOCK {
                        current = record.ops.first().and_then(|id| u32::try_from(*id).ok());
                    }
                }
                _ => return Err(Error::container(offset, "what is no record in the block of abbreviations")),
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
    let count = cursor.vbr(5)?;
    cursor.expect(count, 2)?;
    let mut fields: Vec<Field> = Vec::new();
    for _ in 0..count {
        if cursor.read(1)? == 1 {
            fields.push(Field::Literal(cursor.vbr(8)?));
            continue;
        }
        let encoding = cursor.read(3)?;
        fields.push(match encoding {
            1 | 2 => {
                let width = cursor.vbr(5)?;
                match (encoding, width) {
                    // Both mean zero to LLVM.
                    (_, 0) => Field::Literal(0),
                    (1, 1..=64) => Field::Fixed(width as u32),
                    (_, 2..=32) => Field::Vbr(width as u32),
                    _ => return Err(wrong("a field that is too wide")),
                }
            }
            3 => Field::Array,
            4 => Field::Char6,
            5 => Field::Blob,
            _ => return Err(wrong("an unknown encoding")),
        });
    }
    let scalar = |field: &Field| !matches!(field, Field::Array | Field::Blob);
    let ends_well = match fields.as_slice() {
        [] => return Err(wrong("no fields")),
        [first @ .., Field::Array, element] => first.iter().all(scalar) && scalar(element),
        [first @ .., Field::Blob] => first.iter().all(scalar),
        all => all.iter().all(scalar),
    };
    if ends_well { Ok(Abbreviation { fields }) } else { Err(wrong("an array or a blob that is not its end")) }
}

fn read_abbreviated<'a>(
    cursor: &mut Cursor<'a>,
    abbreviation: &Abbreviation,
    record: &mut Record<'a>,
) -> Result<()> {
    record.ops.clear();
    record.blob = None;
    let mut code = None;
    let mut fields = abbreviation.fields.iter();
    while let Some(field) = fields.next() {
        match field {
            Field::Array => {
                let Some(&element) = fields.next() else { break };
                let count = cursor.vbr(6)?;
                cursor
                    .expect(count, if matches!(element, Field::Literal(_)) { 1 } else { width(element) })?;
                let mut count = count;
                if code.is_none() && count > 0 {
                    code = Some(scalar(cursor, element)?);
                    count -= 1;
                }
                record.ops.reserve(count as usize);
                for _ in 0..count {
                    record.ops.push(scalar(cursor, element)?);
                }
            }
            Field::Blob => {
                let len = cursor.vbr(6)?;
                cursor.align()?;
                record.blob = Some(cursor.bytes(len)?);
                cursor.align()?;
            }
            &field => {
                let value = scalar(cursor, field)?;
                if code.is_none() { code = Some(value) } else { record.ops.push(value) }
            }
        }
    }
    match code.map(u32::try_from) {
        Some(Ok(code)) => record.code = code,
        Some(Err(_)) | None => return Err(Error::container(record.offset, "a record without a code")),
    }
    Ok(())
}

/// The fewest bits that a field takes.
fn width(field: Field) -> u32 {
    match field {
        Field::Fixed(width) | Field::Vbr(width) => width,
        Field::Char6 => 6,
        Field::Literal(_) | Field::Array | Field::Blob => 0,
    }
}

#[inline(always)]
fn scalar(cursor: &mut Cursor<'_>, field: Field) -> Result<u64> {
    match field {
        Field::Literal(value) => Ok(value),
        Field::Fixed(width) => cursor.read(width),
        Field::Vbr(width) => cursor.vbr(width),
        Field::Char6 => {
            const CHARS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
            Ok(CHARS[cursor.read(6)? as usize].into())
        }
        // `define` lets them stand nowhere else than where `read_abbreviated` looks for them.
        Field::Array | Field::Blob => Err(Error::container(cursor.offset(), "an array inside an array")),
    }
}
