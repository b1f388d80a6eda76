//! What a copy of a box does, element by element and with the manual's tables of swizzles.

use super::{ElementType, Fill, POISON, SplitMix64, Swizzle, Tensor};

/// Bytes of shared memory that the kernels have.
pub const SHARED: usize = 32 << 10;

/// A tensor of whole bytes, and a box in it.
#[derive(Clone, Debug)]
pub struct Case {
    pub element: ElementType,
    pub dims: Vec<u64>,
    pub strides: Vec<u64>,
    pub box_dim: Vec<u32>,
    pub steps: Vec<u32>,
    pub swizzle: Swizzle,
    pub fill: Fill,
    pub coordinates: Vec<i32>,
    /// Where the tile lies in shared memory.
    pub offset: u32,
}

impl Case {
    /// One that keeps all rules and fits; its number decides rank and element size.
    pub fn random(random: &mut SplitMix64, n: usize) -> Case {
        const TYPES: [ElementType; 8] = [
            ElementType::U8,
            ElementType::F16,
            ElementType::U32,
            ElementType::F64,
            ElementType::BF16,
            ElementType::S64,
            ElementType::U16,
            ElementType::F32,
        ];
        let mut below = |n: u64| random.next() % n;
        let rank = if n.is_multiple_of(8) { 1 } else { 1 + n % 8 % 5 };
        let element = TYPES[below(8) as usize];
        let size = u64::from(element.bits() / 8);
        let swizzle = Swizzle::ALL[below(8) as usize];
        let span: u64 = match swizzle {
            Swizzle::None => 512,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B96 => 96,
            _ => 128,
        };
        let inner = (16 * (1 + below(span / 16))).min(256 * size);
        let mut box_dim = vec![(inner / size) as u32];
        // Some boxes are within their tensors.
        let whole = below(3) == 0;
        let within = |b: u64, other: u64, more: u64| if whole { b + more } else { other };
        let (other, more) = (1 + below(2 * inner / size), below(4));
        let (mut dims, mut strides) = (vec![within(inner / size, other, more)], Vec::new());
        let mut steps = vec![1];
        let mut tile = inner;
        for _ in 1..rank {
            let most = (SHARED as u64 / 2 / tile).clamp(1, if rank > 3 { 4 } else { 12 });
            let step = 1 + below(3);
            let n = 1 + below(most);
            steps.push(step as u32);
            // Not a whole number of steps, sometimes.
            let more = if n > 1 { below(step) } else { 0 };
            box_dim.push((n * step - more) as u32);
            tile *= (n * step - more).div_ceil(step);
            let stride = match strides.last() {
                None => (dims[0] * size).next_multiple_of(16) + 16 * below(3),
                Some(last) => last * dims[dims.len() - 1] + 16 * below(2),
            };
            strides.push(stride);
            let (other, more) = (1 + below(8), below(4));
            dims.push(within(n * step, other, more));
        }
        let mut coordinate = |(d, b): (&u64, &u32)| {
            if whole {
                return below(d - u64::from(*b) + 1) as i32;
            }
            below(d + 4) as i32 - 2 - i32::from(below(3) == 0) * (*b as i32 / 2)
        };
        let mut coordinates: Vec<i32> = dims.iter().zip(&box_dim).map(&mut coordinate).collect();
        // A box starts at a multiple of 16 bytes.
        coordinates[0] -= coordinates[0].rem_euclid(16 / size as i32);
        let fill = if element.is_float() && below(2) == 0 { Fill::Nan } else { Fill::Zero };
        let offset = 128 * below(16) as u32;
        Case { element, dims, strides, box_dim, steps, swizzle, fill, coordinates, offset }
    }

    pub fn tensor(&self, address: u64) -> Tensor {
        Tensor {
            element_strides: self.steps.clone(),
            swizzle: self.swizzle,
            oob_fill: self.fill,
            ..Tensor::new(self.element, address, &self.dims, &self.strides)
        }
    }

    fn size(&self) -> usize {
        self.element.bits() as usize / 8
    }

    /// Bytes of the tensor.
    pub fn bytes(&self) -> usize {
        let last: u64 = self.strides.iter().zip(&self.dims[1..]).map(|(s, d)| s * (d - 1)).sum();
        last as usize + self.dims[0] as usize * self.size()
    }

    pub fn data(&self, random: &mut SplitMix64) -> Vec<u8> {
        (0..self.bytes())
            .map(|_| (random.next() as u8).saturating_sub(1))
            .map(|b| if b == POISON { 0 } else { b })
            .collect()
    }

    /// Calls a function with the offset in the tensor of each element of the box, none for those outside, in order.
    fn each(&self, mut f: impl FnMut(Option<usize>)) {
        let rank = self.dims.len();
        let mut index = vec![0u32; rank];
        'elements: loop {
            let mut offset = Some(0);
            for (i, n) in index.iter().enumerate() {
                let x = i64::from(self.coordinates[i]) + i64::from(*n);
                let stride = if i == 0 { self.size() as i64 } else { self.strides[i - 1] as i64 };
                offset = offset.filter(|_| x >= 0 && x < self.dims[i] as i64).map(|o: i64| o + x * stride);
            }
            f(offset.map(|o| o as usize));
            for (i, n) in index.iter_mut().enumerate() {
                *n += self.steps[i];
                if *n < self.box_dim[i] {
                    continue 'elements;
                }
                *n = 0;
            }
            return;
        }
    }

    /// The dense tile, and whether any of it is outside of the tensor.
    pub fn tile(&self, data: &[u8]) -> (Vec<u8>, bool) {
        let (mut tile, mut outside) = (Vec::new(), false);
        let size = self.size();
        let fill: Vec<u8> = match self.fill {
            Fill::Zero => vec![0; size],
            Fill::Nan => [0xf7, 0x7f].repeat(4)[..size].to_vec(),
        };
        self.each(|at| match at {
            Some(at) => tile.extend_from_slice(&data[at..at + size]),
            None => {
                outside = true;
                tile.extend_from_slice(&fill);
            }
        });
        (tile, outside)
    }

    /// Which unit of 16 bytes of a line is stored in place `unit`: the tables of section 5.5.7.
    fn unit(&self, line: usize, unit: usize) -> usize {
        const IDENTITY: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
        let table: &[[usize; 8]] = match self.swizzle {
            Swizzle::None => &[IDENTITY],
            Swizzle::B32 | Swizzle::B96 => &[IDENTITY, [1, 0, 3, 2, 5, 4, 7, 6]],
            Swizzle::B64 => {
                &[IDENTITY, [1, 0, 3, 2, 5, 4, 7, 6], [2, 3, 0, 1, 6, 7, 4, 5], [3, 2, 1, 0, 7, 6, 5, 4]]
            }
            Swizzle::B128 => &[
                IDENTITY,
                [1, 0, 3, 2, 5, 4, 7, 6],
                [2, 3, 0, 1, 6, 7, 4, 5],
                [3, 2, 1, 0, 7, 6, 5, 4],
                [4, 5, 6, 7, 0, 1, 2, 3],
                [5, 4, 7, 6, 1, 0, 3, 2],
                [6, 7, 4, 5, 2, 3, 0, 1],
                [7, 6, 5, 4, 3, 2, 1, 0],
            ],
            Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 => {
                &[IDENTITY, [2, 3, 0, 1, 6, 7, 4, 5], [4, 5, 6, 7, 0, 1, 2, 3], [6, 7, 4, 5, 2, 3, 0, 1]]
            }
            Swizzle::B128Atom64 => &[IDENTITY, [4, 5, 6, 7, 0, 1, 2, 3]],
        };
        table[line % table.len()][unit]
    }

    /// For each place in shared memory of the tile, the byte of the dense tile that is there.
    fn places(&self, bytes: usize) -> Vec<(usize, usize)> {
        let first = self.offset as usize / 128;
        let mut places = Vec::new();
        for line in first..first + bytes.div_ceil(128) {
            for at in 0..128 {
                let mut within = at % 16;
                if self.swizzle == Swizzle::B128Atom32Flip8 && line % 2 == 1 {
                    within ^= 8;
                }
                let from = (line - first) * 128 + self.unit(line, at / 16) * 16 + within;
                if from < bytes {
                    places.push((line * 128 + at, from));
                }
            }
        }
        places
    }

    /// Shared memory after a load of the tile.
    pub fn shared(&self, tile: &[u8]) -> Vec<u8> {
        let mut shared = vec![POISON; SHARED];
        self.places(tile.len()).iter().for_each(|(at, from)| shared[*at] = tile[*from]);
        shared
    }

    /// The dense tile that shared memory holds.
    pub fn dense(&self, shared: &[u8], bytes: usize) -> Vec<u8> {
        let mut tile = vec![0; bytes];
        self.places(bytes).iter().for_each(|(at, from)| tile[*from] = shared[*at]);
        tile
    }

    /// The tensor with a dense tile in it.
    pub fn put(&self, data: &[u8], tile: &[u8]) -> Vec<u8> {
        let (mut data, size, mut next) = (data.to_vec(), self.size(), 0);
        self.each(|at| {
            if let Some(at) = at {
                data[at..at + size].copy_from_slice(&tile[next..next + size]);
            }
            next += size;
        });
        data
    }

    /// The tensor after a store from shared memory.
    pub fn stored(&self, data: &[u8], shared: &[u8]) -> Vec<u8> {
        let (tile, _) = self.tile(data);
        self.put(data, &self.dense(shared, tile.len()))
    }
}
