//! A and B of a product, in shared memory.

use super::super::cells::unpack;
use crate::memory::bytes::Bytes;
use warpsmith_isa::PackedElements;
use warpsmith_semantics::matrix::{Descriptor, Major, Packing, TensorProduct};

/// Bytes that a swizzle leaves together.
pub(super) const UNIT: u32 = 16;

/// A or B in the shared memory of a block: lines of so many containers along K.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    pub descriptor: &'a Descriptor,
    pub major: Major,
    /// The first line.
    pub first: u32,
    pub lines: u32,
    /// Containers along K, and the elements in each.
    pub depth: u32,
    pub per_container: u32,
    /// Bytes of a container.
    pub size: u32,
    /// How narrow elements that get a container each are packed.
    pub packed: Option<PackedElements>,
}

impl<'a> Tile<'a> {
    /// The part of A (side 0) or B that a block holds.
    pub fn of(product: &TensorProduct, descriptor: &'a Descriptor, side: usize, first: u32) -> Tile<'a> {
        let [per_container, size] = product.container();
        let depth = [product.kept(), product.shape[2]][side] / per_container;
        let packed = match (product.packing, product.types[side].bits()) {
            (Packing::Bytes, 4) => Some(PackedElements::B4x16P64),
            (Packing::Bytes, 6) => Some(PackedElements::B6x16P32),
            (Packing::Bytes | Packing::Tight, _) => None,
        };
        Tile {
            descriptor,
            major: product.major[side],
            first,
            lines: product.sides()[side] as u32,
            depth: depth as u32,
            per_container: per_container as u32,
            size: size as u32,
            packed,
        }
    }

    /// The addresses of all units of 16 bytes, with the line, counted from the first, and the place along K of the first container of each.
    pub fn units(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let Tile { descriptor, major, first, lines, depth, size, .. } = *self;
        let per_unit = UNIT / size;
        let (outer, along) = match major {
            Major::K => (lines, depth),
            Major::Mn => (depth, lines),
        };
        // Neighbours along lines that do not begin with a unit share their first one with what comes before.
        let skew = if major == Major::Mn { first % per_unit } else { 0 };
        (0..outer).flat_map(move |i| {
            (0..(along + skew).div_ceil(per_unit)).map(move |unit| {
                let j = (unit * per_unit).wrapping_sub(skew);
                let (line, k) = match major {
                    Major::K => (i, j),
                    Major::Mn => (j, i),
                };
                (descriptor.address(major, first.wrapping_add(line), k * size, size), line, k)
            })
        })
    }

    /// The lines with a unit of which a question is answered yes.
    pub fn lines_where(&self, mut is: impl FnMut(u32) -> bool) -> Vec<bool> {
        let mut lines = vec![false; self.lines as usize];
        for (at, line, _) in self.units() {
            if is(at) {
                let count = if self.major == Major::Mn { UNIT / self.size } else { 1 };
                for i in 0..count {
                    if let Some(flag) = lines.get_mut(line.wrapping_add(i) as usize) {
                        *flag = true;
                    }
                }
            }
        }
        lines
    }

    /// Reads the elements, line by line, as containers of their own.
    pub fn read(&self, memory: &Bytes) -> Vec<u32> {
        let mut out = vec![0; (self.lines * self.depth) as usize];
        for (at, line, k) in self.units() {
            let mut bytes = [0; UNIT as usize];
            memory.load_relaxed(at as usize, &mut bytes);
            for (n, element) in unpack(bytes, self.packed).chunks_exact(self.size as usize).enumerate() {
                let (line, k) = match self.major {
                    Major::K => (line, k + n as u32),
                    Major::Mn => (line.wrapping_add(n as u32), k),
                };
                if line < self.lines
                    && k < self.depth
                    && let Some(out) = out.get_mut((line * self.depth + k) as usize)
                {
                    *out = element.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                }
            }
        }
        split(out, self.per_container)
    }
}

/// Takes the elements out of containers that hold two of four bits each, from the low bits on.
pub(super) fn split(containers: Vec<u32>, per_container: u32) -> Vec<u32> {
    match per_container {
        1 => containers,
        count => {
            let bits = 8 / count;
            let element = |byte: u32, i: u32| byte >> (i * bits) & ((1 << bits) - 1);
            containers.iter().flat_map(|byte| (0..count).map(move |i| element(*byte, i))).collect()
        }
    }
}
