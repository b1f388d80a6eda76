//! How `ldmatrix`, `stmatrix` and `movmatrix` move bits between the lanes of a warp (PTX ISA 9.0, 9.7.14.5.15 to 9.7.14.5.17).
//!
//! In memory a matrix is lines of 16 bytes. A lane reads or writes one line, as four words; what is here moves words of lines to the registers that
//! the manual gives to lanes, or back.

use warpsmith_isa::{Instruction, Mod, Operation, ScalarType};

/// How lines and registers correspond.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// `.m8n8.b16`: line R of matrix j is lane `8j + R`'s.
    Words {
        /// `.trans`
        transposed: bool,
    },
    /// `.m16n16.b8.trans`: line R of matrix j is lane `16j + R`'s.
    Bytes16,
    /// `.m8n16.b8x16`: as [`Shape::Words`], bytes of lines that were expanded.
    Bytes8,
    /// `stmatrix .m16n8.b8.trans`: line R of matrix j is column R.
    Columns,
}

/// How packed elements of lines are expanded to bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Packed {
    /// Not at all.
    No,
    /// `.b6x16_p32`: 16 elements of 6 bits, and 4 bytes of padding.
    Six,
    /// `.b4x16_p64`: 16 elements of 4 bits, and 8 bytes of padding.
    Four,
    /// `.s8.s4`: as [`Packed::Four`], with the sign extended.
    FourSigned,
}

/// A movement of matrices within a warp.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Exchange {
    /// Lines to registers.
    Load {
        /// The shape of the matrices.
        shape: Shape,
        /// What lines hold.
        packed: Packed,
        /// How many matrices.
        count: usize,
    },
    /// Registers to lines.
    Store {
        /// The shape of the matrices.
        shape: Shape,
        /// How many matrices.
        count: usize,
    },
    /// `movmatrix`: registers to registers.
    Transpose,
}

/// One register of a warp.
pub type Lanes = [u32; 32];

impl Exchange {
    /// What an instruction moves; `None` for another instruction, and for a count that only ptxas takes.
    pub fn of(i: &Instruction) -> Option<Exchange> {
        let transposed = i.has(Mod::Trans);
        let count = match i.repeat() {
            count @ (1 | 2 | 4) => count as usize,
            _ => return None,
        };
        let packed = match (i.has(Mod::B6x16P32), i.has(Mod::B4x16P64)) {
            (true, _) => Packed::Six,
            (_, true) => Packed::Four,
            (false, false) if i.types().eq([ScalarType::S8, ScalarType::S4]) => Packed::FourSigned,
            (false, false) => Packed::No,
        };
        let shape = || {
            Some(if i.has(Mod::M8n8) {
                Shape::Words { transposed }
            } else if i.has(Mod::M16n16) {
                Shape::Bytes16
            } else if i.has(Mod::M8n16) {
                Shape::Bytes8
            } else if i.has(Mod::M16n8) {
                Shape::Columns
            } else {
                return None;
            })
        };
        Some(if i.operation() == Operation::Ldmatrix {
            Exchange::Load { shape: shape()?, packed, count }
        } else if i.operation() == Operation::Stmatrix {
            Exchange::Store { shape: shape()?, count }
        } else if i.operation() == Operation::Movmatrix {
            Exchange::Transpose
        } else {
            return None;
        })
    }

    /// The lanes that read or write a line, from lane 0 on.
    pub const fn lines(self) -> usize {
        match self {
            Exchange::Load { shape: Shape::Bytes16, count, .. } => 16 * count,
            Exchange::Load { count, .. } | Exchange::Store { count, .. } => 8 * count,
            Exchange::Transpose => 0,
        }
    }

    /// Bytes of a line that mean something.
    pub const fn line_bytes(self) -> usize {
        match self {
            Exchange::Load { packed: Packed::Six, .. } => 12,
            Exchange::Load { packed: Packed::Four | Packed::FourSigned, .. } => 8,
            Exchange::Load { .. } | Exchange::Store { .. } | Exchange::Transpose => 16,
        }
    }

    /// How many registers a lane gives and gets.
    pub const fn registers(self) -> [usize; 2] {
        match self {
            Exchange::Load { shape: Shape::Bytes16, count, .. } => [4, 2 * count],
            Exchange::Load { count, .. } => [4, count],
            Exchange::Store { count, .. } => [count, 4],
            Exchange::Transpose => [1, 1],
        }
    }

    /// Moves bits. What no lane gives is zero.
    pub fn run(self, from: &[Lanes], to: &mut [Lanes]) {
        to.iter_mut().for_each(|register| *register = [0; 32]);
        match self {
            // Nearly all there are: whole words move, or halves.
            Exchange::Load { shape: Shape::Words { transposed }, packed: Packed::No, .. } => {
                let Some(from) = from.first_chunk::<4>() else { return };
                for (j, out) in to.iter_mut().enumerate().take(4) {
                    for (lane, out) in out.iter_mut().enumerate() {
                        let (g, t) = (lane / 4, lane % 4);
                        *out = if transposed {
                            halves(&from[g / 2], 8 * j + 2 * t, g % 2)
                        } else {
                            from[t][8 * j + g]
                        };
                    }
                }
            }
            Exchange::Store { shape: Shape::Words { transposed }, .. } => {
                let Some(to) = to.first_chunk_mut::<4>() else { return };
                for (j, values) in from.iter().enumerate().take(4) {
                    for line in 0..8 {
                        for (word, to) in to.iter_mut().enumerate() {
                            to[8 * j + line] = if transposed {
                                // Element [line][column] is half line % 2 of lane 4 * column + line / 2.
                                let element = |column: usize| {
                                    values[4 * column + line / 2] >> (16 * (line % 2)) & 0xffff
                                };
                                element(2 * word) | element(2 * word + 1) << 16
                            } else {
                                values[4 * line + word]
                            };
                        }
                    }
                }
            }
            Exchange::Load { shape, packed, .. } => {
                let lines: Vec<[u8; 16]> = (0..32).map(|lane| line(packed, from, lane)).collect();
                for (register, out) in to.iter_mut().enumerate() {
                    for (lane, out) in out.iter_mut().enumerate() {
                        let bytes = [0, 1, 2, 3].map(|byte| {
                            let (line, place) = shape.source(register, lane, byte);
                            lines[line % 32][place]
                        });
                        *out = u32::from_le_bytes(bytes);
                    }
                }
            }
            Exchange::Store { shape, .. } => {
                for (register, values) in from.iter().enumerate() {
                    for (lane, value) in values.iter().enumerate() {
                        for (byte, bits) in value.to_le_bytes().into_iter().enumerate() {
                            let (line, place) = shape.source(register, lane, byte);
                            if let Some(word) = to.get_mut(place / 4) {
                                word[line % 32] |= u32::from(bits) << (8 * (place % 4));
                            }
                        }
                    }
                }
            }
            Exchange::Transpose => {
                let (Some(from), Some(to)) = (from.first(), to.first_mut()) else { return };
                // Element [row][column] is the half column % 2 of lane 4 * row + column / 2.
                let element =
                    |row: usize, column: usize| from[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
                for (lane, out) in to.iter_mut().enumerate() {
                    let (g, t) = (lane / 4, lane % 4);
                    *out = element(2 * t, g) | element(2 * t + 1, g) << 16;
                }
            }
        }
    }
}

/// The same half of two words side by side.
fn halves(words: &Lanes, first: usize, which: usize) -> u32 {
    let half = |at: usize| words[at % 32] >> (16 * which) & 0xffff;
    half(first) | half(first + 1) << 16
}

impl Shape {
    /// The line, and the byte in it, that byte `byte` of a lane's register denotes.
    const fn source(self, register: usize, lane: usize, byte: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4);
        match self {
            Shape::Words { transposed: false } => (8 * register + g, 4 * t + byte),
            Shape::Words { transposed: true } => (8 * register + 2 * t + byte / 2, 2 * g + byte % 2),
            Shape::Bytes8 => (8 * register + g, 4 * t + byte),
            Shape::Bytes16 => (16 * (register / 2) + 4 * t + byte, g + 8 * (register % 2)),
            Shape::Columns => (8 * register + 2 * t + byte % 2, g + 8 * (byte / 2)),
        }
    }
}

/// A lane's line with its elements in bytes.
fn line(packed: Packed, from: &[Lanes], lane: usize) -> [u8; 16] {
    let bits = from.iter().take(4).rev().fold(0u128, |bits, word| bits << 32 | u128::from(word[lane]));
    match packed {
        Packed::No => bits.to_le_bytes(),
        Packed::Six => std::array::from_fn(|i| (bits >> (6 * i)) as u8 & 0x3f),
        Packed::Four => std::array::from_fn(|i| (bits >> (4 * i)) as u8 & 0xf),
        Packed::FourSigned => std::array::from_fn(|i| (((bits >> (4 * i)) as i8) << 4 >> 4) as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole words and halves move as the bytes do that the manual draws.
    #[test]
    fn words_move_as_their_bytes_do() {
        let source: Vec<Lanes> = (0..4u32)
            .map(|r| std::array::from_fn(|lane| (r << 16 | lane as u32).wrapping_mul(0x9e37_79b9)))
            .collect();
        for (transposed, count) in [(false, 1), (false, 2), (false, 4), (true, 1), (true, 2), (true, 4)] {
            let shape = Shape::Words { transposed };
            let mut loaded = vec![[0; 32]; count];
            Exchange::Load { shape, packed: Packed::No, count }.run(&source, &mut loaded);
            let mut stored = vec![[0; 32]; 4];
            Exchange::Store { shape, count }.run(&source[..count], &mut stored);
            for (register, lane, byte) in (0..count * 128).map(|at| (at / 128, at / 4 % 32, at % 4)) {
                let (line, place) = shape.source(register, lane, byte);
                let of = |words: &[Lanes], register: usize, lane: usize, byte: usize| {
                    words[register][lane].to_le_bytes()[byte]
                };
                let found = of(&loaded, register, lane, byte);
                assert_eq!(
                    found,
                    of(&source, place / 4, line, place % 4),
                    "{transposed} {register} {lane} {byte}"
                );
                let found = of(&stored, place / 4, line, place % 4);
                assert_eq!(found, of(&source, register, lane, byte), "{transposed} {register} {lane} {byte}");
            }
        }
    }
}
