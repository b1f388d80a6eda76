//! Bytes with references, as `gimli` writes them and as `.section` takes them.

use gimli::SectionId;
use gimli::write::{Address, EndianVec, Result, Writer};
use std::mem;
use warpsmith_base::FxHashMap;
use warpsmith_ptx::{Data, DataValue, Item, Module, Section, Symbol};

/// A reference in the bytes of a section.
#[derive(Clone, Copy, Debug)]
struct Reference {
    at: usize,
    bits: u8,
    to: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Target {
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

    pub(super) fn from(&self, at: usize) -> &[u8] {
        self.bytes.slice().get(at..).unwrap_or_default()
    }

    /// What stands between two places refers to, each with its place.
    pub(super) fn references(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, Target)> {
        let first = self.references.partition_point(|reference| reference.at < from);
        let references = self.references[first..].iter().take_while(move |reference| reference.at < to);
        references.map(|reference| (reference.at, reference.to))
    }

    /// Puts what stands between two places of another section at the end.
    pub(super) fn append(&mut self, other: &Bytes, from: usize, to: usize) -> Result<()> {
        let moved = self.len();
        let first = other.references.partition_point(|reference| reference.at < from);
        let references = other.references[first..].iter().take_while(|reference| reference.at < to);
        self.references
            .extend(references.map(|reference| Reference { at: reference.at - from + moved, ..*reference }));
        self.bytes.write(other.bytes.slice().get(from..to).unwrap_or_default())
    }

    /// What has moved in another section is referred to where it is now.
    pub(super) fn redirect(&mut self, section: SectionId, moved: &FxHashMap<usize, usize>) {
        for reference in &mut self.references {
            if let Target::Section(of, offset) = &mut reference.to
                && *of == section
            {
                *offset = moved.get(offset).copied().unwrap_or(*offset);
            }
        }
    }

    /// The pieces of the section's text. `symbols` has what symbols are called.
    pub(super) fn pieces(&self, tree: &mut Module, packer: &mut Packer, symbols: &[Symbol]) -> Vec<Data> {
        let mut pieces = Vec::with_capacity(3 * self.references.len());
        let bytes = self.bytes.slice();
        let mut from = 0;
        for reference in &self.references {
            packer.plain(tree, &bytes[from..reference.at], &mut pieces);
            let (name, offset) = match reference.to {
                Target::Symbol(index, addend) => (symbols[index], addend),
                Target::Section(id, offset) => (tree.name(id.name()), offset as i64),
            };
            let values = tree.value_list(&[DataValue::Address { name, offset }]);
            pieces.push(Data::Values { bits: reference.bits, values });
            from = reference.at + usize::from(reference.bits / 8);
        }
        packer.plain(tree, &bytes[from..], &mut pieces);
        pieces
    }
}

/// Writes bytes without references in as few characters as they can be written with: four bytes in one `.b32` are shorter than in a `.b8`,
/// but a directive costs a line. DWARF's fields are not aligned, so neither are these.
#[derive(Default)]
pub(super) struct Packer {
    /// How the shortest text goes on from each byte, and from the end.
    ways: Vec<Way>,
    values: Vec<DataValue>,
}

/// The width to go on with, as its index in [`WIDTHS`] in two bits, for each width of the value before.
type Way = u8;

/// Bytes that are laid out together, which bounds the memory that it takes.
const MOST_AT_ONCE: usize = 1 << 12;

/// Bytes of a value in each of the directives.
const WIDTHS: [usize; 4] = [1, 2, 4, 8];

/// Of a larger number in a `.b64`, ptxas (12.9 to 13.5) keeps 32 bits.
const MOST_OF_64: u64 = i32::MAX as u64;

/// What cannot be.
const NEVER: u32 = u32::MAX / 4;

impl Packer {
    pub(super) fn plain(&mut self, tree: &mut Module, bytes: &[u8], pieces: &mut Vec<Data>) {
        // Single bytes in a row, which are one piece however they were laid out.
        let mut run = 0..0;
        for (base, part) in (0..).step_by(MOST_AT_ONCE).zip(bytes.chunks(MOST_AT_ONCE)) {
            self.measure(part);
            // In front of the first value there is no list to go on with; a byte's is as short as any, and a run of bytes does not need one.
            let (mut at, mut index) = (0, self.next(0, 0));
            while at < part.len() {
                let (first, width) = (at, WIDTHS[index]);
                let mut next = index;
                while next == index && at < part.len() {
                    at += width;
                    next = self.next(at, index);
                }
                if width == 1 {
                    let start = if run.is_empty() { base + first } else { run.start };
                    run = start..base + at;
                } else {
                    single_bytes(tree, &bytes[mem::take(&mut run)], pieces);
                    self.lines(tree, &part[first..at], width, pieces);
                }
                index = next;
            }
        }
        single_bytes(tree, &bytes[run], pieces);
    }

    /// The index of the width that follows at a byte on a value of a width.
    fn next(&self, at: usize, before: usize) -> usize {
        usize::from(self.ways[at] >> (2 * before) & 3)
    }

    /// Values of one width in lines of 32 bytes, like those of single bytes.
    fn lines(&mut self, tree: &mut Module, run: &[u8], width: usize, pieces: &mut Vec<Data>) {
        for line in run.chunks(32) {
            self.values.clear();
            let mut at = 0;
            while at < line.len() {
                self.values.push(DataValue::Int(little_endian(&line[at..at + width])));
                at += width;
            }
            pieces.push(Data::Values { bits: width as u8 * 8, values: tree.value_list(&self.values) });
        }
    }

    /// Finds the shortest text from each byte to the end. Written out for the four widths, with no more of the costs than is looked at
    /// again: it is done for every byte of debug information.
    fn measure(&mut self, bytes: &[u8]) {
        self.ways.clear();
        self.ways.resize(bytes.len() + 1, 0);
        // Characters from a byte to the end behind a value of each width, for as many bytes as the width has: the entry of a byte is that
        // of the byte so far behind it, until it is written over.
        let (mut of_8, mut of_16, mut of_32, mut of_64) = (0, [NEVER; 2], [NEVER; 4], [NEVER; 8]);
        of_16[bytes.len() % 2] = 0;
        of_32[bytes.len() % 4] = 0;
        of_64[bytes.len() % 8] = 0;
        // The eight bytes from here on, the first one lowest.
        let mut window = 0u64;
        let mut at = bytes.len();
        while at > 0 {
            at -= 1;
            window = window << 8 | u64::from(bytes[at]);
            // Characters if a value of each width comes next, without what separates it from what is before.
            let in_8 = digits_of_byte(window as u8) + of_8;
            let in_16 = digits(u32::from(window as u16)) + of_16[at % 2];
            let in_32 = digits(window as u32) + of_32[at % 4];
            // Few numbers of eight bytes can be written as one.
            let in_64 = if window > MOST_OF_64 { NEVER } else { digits(window as u32) + of_64[at % 8] };
            // A line takes `.b8 ` or `.b64 `, and its end.
            let (mut line, mut width) = (in_8 + 5, 0);
            if in_16 + 6 < line {
                (line, width) = (in_16 + 6, 1);
            }
            if in_32 + 6 < line {
                (line, width) = (in_32 + 6, 2);
            }
            if in_64 + 6 < line {
                (line, width) = (in_64 + 6, 3);
            }
            // Another value of the line takes a comma.
            let mut way: Way = 0;
            of_8 = go_on(in_8, 0, line, width, &mut way);
            of_16[at % 2] = go_on(in_16, 1, line, width, &mut way);
            of_32[at % 4] = go_on(in_32, 2, line, width, &mut way);
            of_64[at % 8] = match in_64 {
                NEVER => {
                    way |= width << 6;
                    line
                }
                in_64 => go_on(in_64, 3, line, width, &mut way),
            };
            self.ways[at] = way;
        }
    }
}

/// What the rest takes behind a value of a width: with another of that width, or with a line of the best one.
#[inline(always)]
fn go_on(same: u32, index: u8, line: u32, best: u8, way: &mut Way) -> u32 {
    let (cost, next) = if same < line { (same + 1, index) } else { (line, best) };
    *way |= next << (2 * index);
    cost
}

/// The digits of a byte.
#[inline(always)]
fn digits_of_byte(value: u8) -> u32 {
    1 + u32::from(value > 9) + u32::from(value > 99)
}

/// The digits of a number: those of the power of 2 below it, and one more from the power of 10 on that is between two powers of 2.
#[inline(always)]
fn digits(value: u32) -> u32 {
    /// The digits in the upper half, so much lower that a number from the power of 10 on carries into it.
    const OF_POWERS_OF_2: [u64; 32] = {
        let mut table = [0; 32];
        let (mut bit, mut digits, mut ten) = (0, 1u64, 10u64);
        while bit < 32 {
            table[bit] = if ten >> bit == 1 { ((digits + 1) << 32) - ten } else { digits << 32 };
            if ten >> bit == 1 {
                (digits, ten) = (digits + 1, ten * 10);
            }
            bit += 1;
        }
        table
    };
    ((u64::from(value) + OF_POWERS_OF_2[(value | 1).ilog2() as usize % 32]) >> 32) as u32
}

fn little_endian(bytes: &[u8]) -> u64 {
    let (mut value, mut at) = (0, bytes.len());
    while at > 0 {
        at -= 1;
        value = value << 8 | u64::from(bytes[at]);
    }
    value
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

/// Bytes as a piece of their own, if there are any.
fn single_bytes(tree: &mut Module, run: &[u8], pieces: &mut Vec<Data>) {
    if !run.is_empty() {
        pieces.push(Data::Bytes(tree.byte_list(run)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written is what was meant, and no shorter text of one directive a line exists than that of each width alone.
    #[test]
    fn bytes_are_what_they_were() {
        let mut tree = Module::default();
        let mut packer = Packer::default();
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 16
        };
        for length in (0..200).chain([4095, 4096, 4097, 9000]) {
            let zeros = random() % 4;
            let bytes: Vec<u8> =
                (0..length).map(|_| if random() % 4 < zeros { 0 } else { random() as u8 }).collect();
            let mut pieces = Vec::new();
            packer.plain(&mut tree, &bytes, &mut pieces);
            let mut written = Vec::new();
            // As the parser has them, neighbouring bytes are one piece.
            let bytes_in_a_row = |pair: &[Data]| matches!(pair, [Data::Bytes(_), Data::Bytes(_)]);
            assert!(!pieces.windows(2).any(bytes_in_a_row), "{length}");
            for piece in pieces {
                match piece {
                    Data::Bytes(list) => written.extend_from_slice(&tree[list]),
                    Data::Values { bits, values } => {
                        for value in &tree[values] {
                            let DataValue::Int(value) = *value else { panic!("no reference was written") };
                            assert!(bits < 64 || value <= MOST_OF_64);
                            written.extend_from_slice(&value.to_le_bytes()[..usize::from(bits / 8)]);
                        }
                    }
                    Data::Label(_) => panic!("no label was written"),
                }
            }
            assert_eq!(written, bytes);
        }
        for power in 0..10 {
            let value = 10u32.pow(power);
            assert_eq!((digits(value), digits(value - 1)), (power + 1, power.max(1)));
        }
        assert_eq!(digits(u32::MAX), 10);
        for value in 0..=u8::MAX {
            assert_eq!(digits_of_byte(value), digits(value.into()));
        }
    }
}
