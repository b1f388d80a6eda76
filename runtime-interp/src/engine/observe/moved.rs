//! Which operations only move bytes: for observers that follow values byte by byte.
//!
//! A lane function is opaque, and pure. So it is tried: a result byte that equals one and the same argument byte for many
//! arguments is a copy of it, and one that never changes is a constant. The arguments are drawn so that comparisons, saturation and shifts
//! by amounts show their behaviour: random numbers, small ones, extremes, and those of the other operands.

use super::super::file::{Cell, Frame, RegisterFile};
use super::super::lanes::{Lane, Operands};
use super::super::op::Op;
use super::super::program::Program;
use super::super::random::Random;
use super::super::reg::{Reg, Width};
use smallvec::SmallVec;

/// Where a byte of a result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteSource {
    /// It is a byte of an argument.
    Argument {
        /// Which argument.
        index: u8,
        /// Which of its bytes.
        byte: u8,
    },
    /// It is the same whatever the arguments are.
    Constant,
    /// It is computed.
    Computed,
}

/// Where the bytes of an operation's results come from, from the least significant on.
pub type MovedBytes = SmallVec<[ByteSource; 8]>;

/// How often 32 arguments are tried.
const ROUNDS: usize = 8;

/// The registers of a trial.
struct Trial<'a> {
    file: RegisterFile,
    rows: u32,
    constants: &'a [Cell],
}

impl Trial<'_> {
    fn allocate(&mut self, width: Width) -> Reg {
        let row = self.rows;
        self.rows += width.words().div_ceil(32);
        self.file.reserve(0, self.rows);
        Reg::frame(row * 32, width)
    }

    fn frame(&mut self) -> Frame {
        self.file.frame(0, self.rows, self.constants)
    }

    fn set(&mut self, r: Reg, values: &[u128; 32]) {
        let frame = self.frame();
        // SAFETY: the register was allocated in the frame, or is a constant of the program's, and has the width it says.
        unsafe {
            match r.width() {
                Width::Pred => bool::set(frame, r, u32::MAX, &values.map(|v| v & 1 != 0)),
                Width::W32 => u32::set(frame, r, u32::MAX, &values.map(|v| v as u32)),
                Width::W64 => u64::set(frame, r, u32::MAX, &values.map(|v| v as u64)),
                Width::W128 => u128::set(frame, r, u32::MAX, values),
            }
        }
    }

    fn get(&mut self, r: Reg) -> [u128; 32] {
        let frame = self.frame();
        // SAFETY: as in `set`.
        std::array::from_fn(|lane| unsafe {
            match r.width() {
                Width::Pred => u128::from(bool::get(frame, r, lane)),
                Width::W32 => u128::from(u32::get(frame, r, lane)),
                Width::W64 => u128::from(u64::get(frame, r, lane)),
                Width::W128 => u128::get(frame, r, lane),
            }
        })
    }
}

/// An argument for a trial.
fn draw(random: &mut Random, bits: u32, others: &[u128]) -> u128 {
    let whole = (0..4).fold(0u128, |v, _| v << 32 | u128::from(random.next() as u32));
    let value = match random.below(12) {
        0 => 0,
        1 => u128::MAX,
        2 => u128::from(random.below(70)),
        3 => 1 << (bits - 1),
        4 => (1 << (bits - 1)) - 1,
        5 => 1 << random.below(bits),
        6 | 7 if !others.is_empty() => {
            let other = others[random.below(others.len() as u32) as usize];
            other.wrapping_add(u128::from(random.below(3))).wrapping_sub(1)
        }
        _ => whole,
    };
    value & (u128::MAX >> (128 - bits))
}

impl Program {
    /// Where the bytes of the first result of a computation come from, as found by trying it; `None` for operations of other
    /// kinds and for results that are predicates.
    pub fn moved_bytes(&self, pc: u32) -> Option<MovedBytes> {
        let Op::Lanes(function, operands) = &self.code.get(pc as usize)?.op else { return None };
        let signature = function.signature();
        let width = *signature.dst.first()?;
        if width == Width::Pred {
            return None;
        }
        let mut trial = Trial { file: RegisterFile::new(), rows: 0, constants: &self.constants };
        let mut own = Operands { dst: [Reg::ZERO; 2], src: [Reg::ZERO; 4] };
        for (r, w) in own.dst.iter_mut().zip(signature.dst) {
            *r = trial.allocate(*w);
        }
        for ((r, given), w) in own.src.iter_mut().zip(operands.src).zip(signature.src) {
            *r = if given.is_constant() { given } else { trial.allocate(*w) };
        }
        let count = signature.src.len();
        let bytes = width.bits() as usize / 8;
        // What is still possible for each byte of the result.
        let mut moves: Vec<Vec<(u8, u8)>> = vec![Vec::new(); bytes];
        for possible in &mut moves {
            for (index, r) in own.src[..count].iter().enumerate().filter(|(_, r)| !r.is_constant()) {
                possible.extend((0..(r.width().bits() / 8) as u8).map(|byte| (index as u8, byte)));
            }
        }
        let mut constant: Vec<Option<u8>> = Vec::new();
        let mut changes = vec![false; bytes];
        let mut random = Random::new(0x5eed);
        for _ in 0..ROUNDS {
            let mut arguments = [[0u128; 32]; 4];
            for i in 0..count {
                if own.src[i].is_constant() {
                    arguments[i] = trial.get(own.src[i]);
                }
            }
            for lane in 0..32 {
                for i in (0..count).filter(|i| !own.src[*i].is_constant()) {
                    let others: SmallVec<[u128; 4]> =
                        (0..count).filter(|o| *o != i).map(|o| arguments[o][lane]).collect();
                    arguments[i][lane] = draw(&mut random, own.src[i].width().bits(), &others);
                }
            }
            for i in (0..count).filter(|i| !own.src[*i].is_constant()) {
                trial.set(own.src[i], &arguments[i]);
            }
            let frame = trial.frame();
            // SAFETY: the operands were allocated in the frame with the widths of the signature, or are constants that were checked
            // when the program was built.
            unsafe { function.run(frame, &own, u32::MAX) }
            let results = trial.get(own.dst[0]);
            for (lane, result) in results.iter().enumerate() {
                for byte in 0..bytes {
                    let value = (result >> (8 * byte)) as u8;
                    moves[byte].retain(|&(i, b)| (arguments[usize::from(i)][lane] >> (8 * b)) as u8 == value);
                    match constant.get(byte) {
                        Some(first) => changes[byte] |= *first != Some(value),
                        None => constant.push(Some(value)),
                    }
                }
            }
        }
        let source = |(byte, possible): (usize, &Vec<(u8, u8)>)| match possible.first() {
            _ if !changes[byte] => ByteSource::Constant,
            Some(&(index, byte)) => ByteSource::Argument { index, byte },
            None => ByteSource::Computed,
        };
        Some(moves.iter().enumerate().map(source).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSource::{Argument, Computed, Constant};
    use super::*;
    use crate::engine::lanes::{LaneFn, vector};
    use crate::engine::{FunctionKind, ProgramBuilder};

    /// The sources of a function whose last arguments are constants.
    fn sources(f: LaneFn, constants: &[u128]) -> Vec<ByteSource> {
        let mut builder = ProgramBuilder::new();
        let kernel = builder.declare("k", FunctionKind::kernel([]));
        let mut body = builder.body(kernel);
        let dst: Vec<Reg> = f.signature().dst.iter().map(|w| body.reg(*w)).collect();
        let widths = f.signature().src;
        let variables = widths.len() - constants.len();
        let mut src: Vec<Reg> = widths[..variables].iter().map(|w| body.reg(*w)).collect();
        src.extend(constants.iter().zip(&widths[variables..]).map(|(c, w)| body.constant(*c, *w)));
        body.lanes(f, &dst, &src);
        body.ret();
        body.finish();
        builder.finish().unwrap().moved_bytes(0).unwrap().to_vec()
    }

    fn argument(index: u8, byte: u8) -> ByteSource {
        Argument { index, byte }
    }

    #[test]
    fn moves_are_told_from_computations() {
        let pack = sources(vector(|a: u32, b: u32| u64::from(b) << 32 | u64::from(a)), &[]);
        assert_eq!(
            pack[..5],
            [0, 1, 2, 3].map(|b| argument(0, b)).into_iter().chain([argument(1, 0)]).collect::<Vec<_>>()
        );
        assert_eq!(sources(vector(|a: u64| (a >> 32) as u32), &[]), [4, 5, 6, 7].map(|b| argument(0, b)));
        assert_eq!(
            sources(vector(|a: u8| u32::from(a)), &[]),
            [argument(0, 0), Constant, Constant, Constant]
        );
        assert_eq!(
            sources(vector(|a: i8| i32::from(a)), &[]),
            [argument(0, 0), Computed, Computed, Computed]
        );
        let shift = vector(|a: u32, n: u32| a.checked_shl(n).unwrap_or(0));
        assert_eq!(sources(shift, &[8]), [Constant, argument(0, 0), argument(0, 1), argument(0, 2)]);
        assert_eq!(sources(shift, &[4]), [Computed; 4]);
        assert_eq!(sources(shift, &[]), [Computed; 4]);
        assert_eq!(
            sources(vector(|a: u32, b: u32| a & b), &[0x00ff_0ff0]),
            [Computed, Computed, argument(0, 2), Constant]
        );
    }

    #[test]
    fn comparisons_are_computations() {
        for f in [
            vector(|a: u32, b: u32| if a == b { u32::MAX } else { 0 }),
            vector(|a: u32, b: u32| a.min(b)),
            vector(|a: i32, b: i32| a.max(b)),
            vector(|a: f32, b: f32| a + b),
            vector(|a: u32, b: u32| a.saturating_add(b)),
        ] {
            assert_eq!(sources(f, &[]), [Computed; 4], "{f:?}");
            let with = sources(f, &[1_000_000]);
            assert!(with[..2].iter().all(|s| *s == Computed), "{f:?} {with:?}");
        }
        let count = sources(vector(|a: u32| a.leading_zeros()), &[]);
        assert_eq!(count, [Computed, Constant, Constant, Constant]);
    }
}
