//! Metadata: strings, values and nodes by number, and named lists of nodes.

use super::ValueId;
use super::read_types::text;
use super::types::TypeId;
use crate::bitstream::{Block, Cursor, Record};
use crate::error::{Error, Result};
use warpsmith_base::FxHashMap;

/// The codes of the records that nodes of debug information are.
#[allow(missing_docs)]
pub mod code {
    pub const LOCATION: u32 = 7;
    pub const SUBRANGE: u32 = 13;
    pub const ENUMERATOR: u32 = 14;
    pub const BASIC_TYPE: u32 = 15;
    pub const FILE: u32 = 16;
    pub const DERIVED_TYPE: u32 = 17;
    pub const COMPOSITE_TYPE: u32 = 18;
    pub const SUBROUTINE_TYPE: u32 = 19;
    pub const COMPILE_UNIT: u32 = 20;
    pub const SUBPROGRAM: u32 = 21;
    pub const LEXICAL_BLOCK: u32 = 22;
    pub const LEXICAL_BLOCK_FILE: u32 = 23;
    pub const LOCAL_VARIABLE: u32 = 28;
    pub const EXPRESSION: u32 = 29;
}

/// A piece of metadata.
#[derive(Clone, PartialEq, Debug)]
pub enum Metadata {
    /// A text.
    String(String),
    /// A constant, or a value of a function.
    Value(TypeId, ValueId),
    /// A tuple of others; 0 denotes nothing, a number n for metadata n - 1.
    Tuple(Vec<u64>),
    /// A node of debug information: the code of its record and its fields.
    Node(u32, Vec<u64>),
}

/// All metadata of a module, or of a function behind that of its module.
#[derive(Clone, Default, Debug)]
pub struct MetadataList {
    /// By number.
    pub all: Vec<Metadata>,
    /// The named lists.
    pub named: FxHashMap<String, Vec<u64>>,
    /// The kinds of attachments: number and name.
    pub kinds: Vec<(u64, String)>,
}

impl MetadataList {
    /// The metadata that a field of a tuple names.
    pub fn field(&self, field: u64) -> Option<&Metadata> {
        self.all.get(usize::try_from(field.checked_sub(1)?).ok()?)
    }

    /// The text that a field names.
    pub fn text(&self, field: u64) -> Option<&str> {
        match self.field(field)? {
            Metadata::String(text) => Some(text),
            Metadata::Value(..) | Metadata::Tuple(_) | Metadata::Node(..) => None,
        }
    }

    /// The kind of attachments of a name.
    pub fn kind(&self, name: &str) -> Option<u64> {
        self.kinds.iter().find(|(_, known)| *known == name).map(|(number, _)| *number)
    }

    pub(super) fn read_kinds(&mut self, mut block: Block<'_>) -> Result<()> {
        let mut record = Record::default();
        while block.next_record(&mut record)? {
            if let (6, Some((number, name))) = (record.code, record.ops.split_first()) {
                self.kinds.push((*number, text(name)));
            }
        }
        Ok(())
    }

    pub(super) fn read(&mut self, mut block: Block<'_>) -> Result<()> {
        let mut record = Record::default();
        let mut name = None;
        while block.next_record(&mut record)? {
            let ops = &record.ops;
            let id = |n: usize| ops.get(n).and_then(|op| u32::try_from(*op).ok());
            let wrong =
                || Error::record(record.offset, format!("metadata of code {} that is cut off", record.code));
            match record.code {
                1 => self.all.push(Metadata::String(text(ops))),
                2 => {
                    let (Some(ty), Some(value)) = (id(0), id(1)) else { return Err(wrong()) };
                    self.all.push(Metadata::Value(TypeId(ty), ValueId(value)));
                }
                3 | 5 => self.all.push(Metadata::Tuple(ops.clone())),
                4 => name = Some(text(ops)),
                6 => {
                    let (number, name) = ops.split_first().ok_or_else(wrong)?;
                    self.kinds.push((*number, text(name)));
                }
                10 => {
                    if let Some(name) = name.take() {
                        self.named.insert(name, ops.iter().map(|op| op.saturating_add(1)).collect());
                    }
                }
                35 => self.read_strings(&record)?,
                // Attachments of globals, and where in the file nodes are.
                36 | 38 | 39 => {}
                code => self.all.push(Metadata::Node(code, ops.clone())),
            }
        }
        Ok(())
    }

    fn read_strings(&mut self, record: &Record<'_>) -> Result<()> {
        let wrong = || Error::record(record.offset, "strings of metadata that are cut off");
        let (&[count, start], Some(blob)) = (record.ops.as_slice(), record.blob) else { return Err(wrong()) };
        let start = usize::try_from(start).map_err(|_| wrong())?;
        let (lengths, mut chars) = blob.split_at_checked(start).ok_or_else(wrong)?;
        let mut lengths = Cursor::new(lengths, record.offset);
        lengths.expect(count, 6)?;
        for _ in 0..count {
            let len = usize::try_from(lengths.vbr(6)?).map_err(|_| wrong())?;
            let (one, rest) = chars.split_at_checked(len).ok_or_else(wrong)?;
            self.all.push(Metadata::String(String::from_utf8_lossy(one).into_owned()));
            chars = rest;
        }
        Ok(())
    }
}
