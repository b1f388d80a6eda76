//! Bytes with references, as `gimli` writes them and as `.section` takes them.

use gimli::SectionId;
use gimli::write::{Address, EndianVec, Result, Writer};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
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
    pub(super) fn redirect(&mut self, section: SectionId, moved: &HashMap<usize, usize, FxBuildHasher>) {
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
    /// What writing from each byte to the end takes, and a few places behind it, where nothing can end.
    best: Vec<Step>,
    values: Vec<DataValue>,
}

/// What writing from a byte to the end takes, by the width of the value before.
#[derive(Clone, Copy)]
struct Step {
    /// Characters.
    cost: [u32; WIDTHS.len()],
    /// The width to go on with.
    index: [u8; WIDTHS.len()],
}

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
        for part in bytes.chunks(MOST_AT_ONCE) {
            self.measure(part);
            // In front of the first value there is no list to go on with; a byte's is as short as any, and a run of bytes does not need one.
            let (mut at, mut index) = (0, usize::from(self.best[0].index[0]));
            while at < part.len() {
                let (first, width) = (at, WIDTHS[index]);
                let mut next = index;
                while next == index && at < part.len() {
                    at += width;
                    next = usize::from(self.best[at].index[index]);
                }
                let run = &part[first..at];
                if width == 1 {
                    pieces.push(Data::Bytes(tree.byte_list(run)));
                } else {
                    // Lines of 32 bytes, like those of single bytes.
                    for line in run.chunks(32) {
                        self.values.clear();
                        let values = line.chunks(width).map(|value| DataValue::Int(little_endian(value)));
                        self.values.extend(values);
                        let values = tree.value_list(&self.values);
                        pieces.push(Data::Values { bits: width as u8 * 8, values });
                    }
                }
                index = next;
            }
        }
    }

    /// Finds the shortest text from each byte to the end. Written out for the four widths: it is done for every byte of debug information.
    fn measure(&mut self, bytes: &[u8]) {
        const AT_END: Step = Step { cost: [0; WIDTHS.len()], index: [0; WIDTHS.len()] };
        const BEHIND: Step = Step { cost: [NEVER; WIDTHS.len()], ..AT_END };
        let best = &mut self.best;
        best.clear();
        best.resize(bytes.len() + 9, BEHIND);
        best[bytes.len()] = AT_END;
        // The eight bytes from here on, the first one lowest.
        let mut window = 0u64;
        for at in (0..bytes.len()).rev() {
            window = window << 8 | u64::from(bytes[at]);
            let of_64 = if window > MOST_OF_64 { NEVER } else { digits(window as u32) };
            // Characters if a value of each width comes next, without what separates it from what is before.
            let cost = [
                digits(u32::from(window as u8)) + best[at + 1].cost[0],
                digits(u32::from(window as u16)) + best[at + 2].cost[1],
                digits(window as u32) + best[at + 4].cost[2],
                of_64 + best[at + 8].cost[3],
            ];
            // A line takes `.b8 ` or `.b64 `, and its end.
            let mut line = (cost[0] + 5, 0);
            for (index, cost) in (0..).zip(cost).skip(1) {
                if cost + 6 < line.0 {
                    line = (cost + 6, index);
                }
            }
            let mut step = Step { cost: [line.0; WIDTHS.len()], index: [line.1; WIDTHS.len()] };
            // Another value of the line takes a comma.
            for (index, cost) in cost.into_iter().enumerate() {
                if cost < line.0 {
                    (step.cost[index], step.index[index]) = (cost + 1, index as u8);
                }
            }
            best[at] = step;
        }
    }
}

/// The digits of a number.
fn digits(value: u32) -> u32 {
    const POWERS: [u32; 9] =
        [10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    // 1233 / 4096 is a little more than the logarithm of 2 to the base 10.
    let guess = ((32 - (value | 1).leading_zeros()) * 1233) >> 12;
    let power = POWERS.get((guess as usize).wrapping_sub(1)).copied().unwrap_or(0);
    if guess == 0 || value >= power { guess + 1 } else { guess }
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
    }
}
