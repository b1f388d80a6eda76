//! Bytes with references, as `gimli` writes them and as `.section` takes them.

use gimli::SectionId;
use gimli::write::{Address, EndianVec, Result, Writer};
use warpsmith_ptx::{Data, DataValue, Item, Module, Section, Symbol};

/// A reference in the bytes of a section.
#[derive(Clone, Copy, Debug)]
struct Reference {
    at: usize,
    bits: u8,
    to: Target,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    /// A label or variable, and bytes behind it.
    Symbol(usize, i64),
    /// Another section, and bytes behind its start.
    Section(SectionId, usize),
}

/// A section that is being written.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    bytes: EndianVec<gimli::LittleEndian>,
    references: Vec<Reference>,
}

impl Bytes {
    pub(super) fn new() -> Self {
        Bytes { bytes: EndianVec::new(gimli::LittleEndian), references: Vec::new() }
    }

    /// The pieces of the section's text. `symbols` has what symbols are called.
    pub(super) fn pieces(&self, tree: &mut Module, symbols: &[Symbol]) -> Vec<Data> {
        let mut pieces = Vec::new();
        let mut from = 0;
        let bytes = self.bytes.slice();
        for reference in &self.references {
            if reference.at > from {
                pieces.push(Data::Bytes(tree.byte_list(&bytes[from..reference.at])));
            }
            let (name, offset) = match reference.to {
                Target::Symbol(index, addend) => (symbols[index], addend),
                Target::Section(id, offset) => (tree.name(id.name()), offset as i64),
            };
            let values = tree.value_list(&[DataValue::Address { name, offset }]);
            pieces.push(Data::Values { bits: reference.bits, values });
            from = reference.at + usize::from(reference.bits / 8);
        }
        if from < bytes.len() {
            pieces.push(Data::Bytes(tree.byte_list(&bytes[from..])));
        }
        pieces
    }
}

/// Puts a section at the end of the module.
pub(super) fn push(tree: &mut Module, name: &str, pieces: &[Data]) {
    let (name, data) = (tree.name(name), tree.data_list(pieces));
    tree.push_item(Item::Section(Section { name, data }));
}

impl Writer for Bytes {
    type Endian = gimli::LittleEndian;

    fn endian(&self) -> Self::Endian {
        gimli::LittleEndian
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.write(bytes)
    }

    fn write_at(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.bytes.write_at(offset, bytes)
    }

    fn write_address(&mut self, address: Address, size: u8) -> Result<()> {
        match address {
            Address::Constant(value) => self.write_udata(value, size),
            Address::Symbol { symbol, addend } => {
                let at = self.len();
                self.references.push(Reference { at, bits: size * 8, to: Target::Symbol(symbol, addend) });
                self.write_udata(0, size)
            }
        }
    }

    fn write_offset(&mut self, value: usize, section: SectionId, size: u8) -> Result<()> {
        // The line table is ptxas's, and begins where its section does.
        let value = if section == SectionId::DebugLine { 0 } else { value };
        let at = self.len();
        self.references.push(Reference { at, bits: size * 8, to: Target::Section(section, value) });
        self.write_udata(value as u64, size)
    }
}
