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
                plain(tree, &bytes[from..reference.at], &mut pieces);
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
            plain(tree, &bytes[from..], &mut pieces);
        }
        pieces
    }
}

/// Bytes without references, in as few characters as they can be written with: four bytes in one `.b32` are shorter than in a `.b8`, but
/// a directive costs a line. DWARF's fields are not aligned, so neither are these.
pub(super) fn plain(tree: &mut Module, bytes: &[u8], pieces: &mut Vec<Data>) {
    for part in bytes.chunks(MOST_AT_ONCE) {
        let mut at = 0;
        for (width, count) in shortest(part) {
            let run = &part[at..at + width * count];
            at += run.len();
            if width == 1 {
                pieces.push(Data::Bytes(tree.byte_list(run)));
                continue;
            }
            // Lines of 32 bytes, like those of single bytes.
            for line in run.chunks(32) {
                let values = line.chunks(width).map(|value| DataValue::Int(little_endian(value)));
                let values = tree.value_list(&values.collect::<Vec<_>>());
                pieces.push(Data::Values { bits: width as u8 * 8, values });
            }
        }
    }
}

/// Bytes that are laid out together, which bounds the memory that it takes.
const MOST_AT_ONCE: usize = 1 << 12;

/// Bytes of a value in each of the directives.
const WIDTHS: [usize; 4] = [1, 2, 4, 8];

/// Of a larger number in a `.b64`, ptxas (12.9 to 13.5) keeps 32 bits.
const MOST_OF_64: u64 = i32::MAX as u64;

/// Runs of values of one width, as `(bytes, values)`, whose text is the shortest.
fn shortest(bytes: &[u8]) -> Vec<(usize, usize)> {
    // Characters from each byte to the end, and the width to go on with there, where the value before had each of the widths.
    let mut best = vec![[(0u32, 0usize); WIDTHS.len()]; bytes.len() + 1];
    for at in (0..bytes.len()).rev() {
        let mut options = [(u32::MAX, 0); WIDTHS.len()];
        for (index, width) in WIDTHS.iter().enumerate() {
            let Some(value) = bytes.get(at..at + width) else { break };
            if little_endian(value) > MOST_OF_64 && *width == 8 {
                continue;
            }
            let digits = little_endian(value).checked_ilog10().unwrap_or(0) + 1;
            options[index] = (digits + best[at + width][index].0, index);
        }
        for (before, slot) in best[at].iter_mut().enumerate() {
            // Another value of the list, or another line: `.b8 ` or `.b64 `, and its end.
            let with_lead = options.iter().map(|&(cost, index)| {
                let lead = if index == before { 1 } else { 5 + u32::from(index > 0) };
                (cost.saturating_add(lead), index)
            });
            *slot = with_lead.min().unwrap_or_default();
        }
    }
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let (mut at, mut before) = (0, None);
    while at < bytes.len() {
        // In front of the first value there is no list to go on with; a byte's is as short as any, and a run of bytes does not need one.
        let index = best[at][before.unwrap_or(0)].1;
        match runs.last_mut() {
            Some((width, count)) if *width == WIDTHS[index] => *count += 1,
            _ => runs.push((WIDTHS[index], 1)),
        }
        at += WIDTHS[index];
        before = Some(index);
    }
    runs
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
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
