//! The values that a rule is tried with: all of them where they are few, else edge cases and random ones.

use crate::instance::{Instance, Variable, float_bits, mask};
use warpsmith_ir::Type;

/// Where there are more than are all tried, so many are, some of which the conditions refuse.
const SAMPLES: u64 = 1000;

/// Without `WARPSMITH_PROOF`: all of three variables of 4 bits, or of one and a half of 8.
pub const EXHAUSTIVE: u32 = 12;

pub struct Points<'a> {
    instance: &'a Instance,
    point: Vec<u128>,
    /// How many values each variable takes, where all are tried.
    exhaustive: Option<Vec<u128>>,
    left: u64,
    state: u64,
    started: bool,
}

/// Where the random numbers of a rule begin, which does not depend on the lines around it: FNV-1a of its name.
fn seed(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl<'a> Points<'a> {
    /// All values of the variables together, or a sample where they are more than two to that power.
    pub fn new(instance: &'a Instance, limit: u32) -> Points<'a> {
        let sizes: Vec<u128> =
            instance.variables.iter().map(|(variable, ty)| size(instance, *variable, *ty)).collect();
        let all = sizes.iter().try_fold(1u128, |all, size| all.checked_mul(*size));
        let exhaustive = all.is_some_and(|all| all <= 1 << limit).then_some(sizes);
        Points {
            instance,
            point: vec![0; instance.variables.len()],
            exhaustive,
            left: SAMPLES << limit.saturating_sub(EXHAUSTIVE).min(16),
            state: seed(instance.rule.name),
            started: false,
        }
    }

    pub fn next(&mut self) -> Option<&[u128]> {
        if let Some(sizes) = &self.exhaustive {
            if self.started {
                let mut place = 0;
                loop {
                    let value = self.point.get_mut(place)?;
                    *value += 1;
                    if *value < sizes[place] {
                        break;
                    }
                    *value = 0;
                    place += 1;
                }
            }
            self.started = true;
            return Some(&self.point);
        }
        self.left = self.left.checked_sub(1)?;
        for n in 0..self.point.len() {
            self.point[n] = self.value(n);
        }
        Some(&self.point)
    }

    fn random(&mut self) -> u64 {
        // xorshift*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.random() >> 16) % n
    }

    fn value(&mut self, n: usize) -> u128 {
        let (variable, ty) = self.instance.variables[n];
        match variable {
            Variable::Value(_) | Variable::Constant(_) => {
                let others: Vec<u128> = (0..n)
                    .filter(|&other| self.instance.variables[other].1 == ty)
                    .map(|other| self.point[other])
                    .collect();
                // Conditions often tie one number to another.
                if !others.is_empty() && self.below(3) == 0 {
                    let other = others[self.below(others.len() as u64) as usize];
                    let near = match self.below(8) {
                        0 => other,
                        1 => other.wrapping_add(1),
                        2 => other.wrapping_sub(1),
                        3 => !other,
                        4 => other.wrapping_neg(),
                        5 => u128::from(ty.bits()).wrapping_sub(other),
                        6 => other << self.below(8),
                        _ => other >> self.below(8),
                    };
                    return near & mask(ty);
                }
                if ty.is_float() { self.float(ty) } else { self.integer(ty) }
            }
            // What is known is true of the value, which stands in front where it is an operand; of others most guesses are wrong.
            Variable::Zeros(of) | Variable::Ones(of) => {
                let value = self.instance.numbered(of, &self.point).unwrap_or(0);
                let truth = if matches!(variable, Variable::Zeros(_)) { !value } else { value } & mask(ty);
                match self.below(4) {
                    0 => truth & u128::from(self.random()),
                    1 => {
                        // The upper bits or the lower ones, as ranges and alignments give.
                        let at = self.below(u64::from(ty.bits()) + 1) as u32;
                        let upper = mask(ty) & !(1u128 << at).wrapping_sub(1);
                        if self.below(2) == 0 { truth & upper } else { truth & !upper }
                    }
                    _ => truth,
                }
            }
            Variable::Demanded => self.integer(ty),
        }
    }

    fn integer(&mut self, ty: Type) -> u128 {
        let bits = ty.bits();
        let at = self.below(bits.into()) as u32;
        let value = match self.below(10) {
            0 => u128::from(self.below(4)),
            1 => u128::from(self.below(4)).wrapping_neg(),
            2 => 1 << at,
            3 => (1 << at) - 1,
            4 => !((1 << at) - 1),
            5 => (1 << (bits - 1)) ^ u128::from(self.below(2)).wrapping_neg(),
            6 => u128::from(self.below(2 * u64::from(bits).max(36))),
            7 => u128::from(self.random()) >> self.below(64),
            8 => [31, 32, 33, 63, 64, 65, 8, 16, 24, 255, 256][self.below(11) as usize],
            _ => u128::from(self.random()),
        };
        value & mask(ty)
    }

    fn float(&mut self, ty: Type) -> u128 {
        let (mantissa, bits) = match ty {
            Type::F16 => (10, 16),
            Type::BF16 => (7, 16),
            Type::F32 => (23, 32),
            // The lower half of a `tf32` is no part of its value.
            Type::TF32 => return self.float(Type::F32) & !0x1fff,
            Type::F64 => (52, 64),
            _ => return u128::from(self.random()) & mask(ty),
        };
        let sign = u128::from(self.below(2)) << (bits - 1);
        let exponents = (1u128 << (bits - 1 - mantissa)) - 1;
        let fraction = u128::from(self.random()) & ((1 << mantissa) - 1);
        match self.below(8) {
            0 => sign,
            1 => sign | exponents << mantissa,
            // NaNs, quiet and not.
            2 => sign | exponents << mantissa | fraction.max(1),
            // Subnormal numbers.
            3 => sign | fraction,
            4 => sign | 1u128 << self.below(mantissa as u64),
            5 => {
                let numbers = [1.0, 2.0, 0.5, 3.0, 4.0, 10.0, 1.5, 0.1, 255.0, 0.25];
                sign | float_bits(ty, numbers[self.below(10) as usize])
            }
            // Near one, where sums and products stay in the middle.
            6 => sign | (exponents / 2 - 3 + u128::from(self.below(7))) << mantissa | fraction,
            _ => u128::from(self.random()) & mask(ty),
        }
    }
}

/// How many values a variable takes: an amount of a shift is tried a little beyond the width.
fn size(instance: &Instance, variable: Variable, ty: Type) -> u128 {
    let narrow = instance.variables.iter().map(|(_, ty)| ty.bits()).filter(|bits| *bits != 32).max();
    match (ty.bits(), narrow) {
        (32, Some(narrow @ ..=8)) if matches!(variable, Variable::Constant(_) | Variable::Value(_)) => {
            u128::from(2 * narrow + 2)
        }
        (bits @ ..=16, _) => 1 << bits,
        _ => u128::MAX,
    }
}
