//! Which thread of a warp holds which element of a matrix (PTX ISA 9.0, 9.7.14.4 to 9.7.14.6), as formulas.
//!
//! A lane is called by `g = lane / 4` and `t = lane % 4`. A register of 32 bits holds `w` elements, the first in its lowest bits; one of 64 bits holds
//! an f64. One formula covers every shape but `.m8n8k4` with f16. The fragments of `wmma`, which the manual leaves open, are those that an H100
//! was seen to load and store: several tiles of the same formula, one after the other; `.m8n32k16` is the transposed product `B^T * A^T`.

/// Which matrix a fragment is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Rows of the product, and what is added up.
    A,
    /// What is added up, and columns of the product.
    B,
    /// Rows and columns of the product.
    Accumulator,
}

/// A matrix of which each lane of a warp holds a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fragment {
    /// Which matrix.
    pub role: Role,
    /// Rows of A, columns of B, rows of an accumulator: a multiple of 8.
    pub side: usize,
    /// The other side: products of A and B, columns of an accumulator.
    pub other: usize,
    /// Elements in a register.
    pub per_register: usize,
    /// The product is computed transposed: A is held as B would be, B as A, and accumulators by columns.
    pub transposed: bool,
}

/// True of the shape of `wmma` that is computed transposed.
pub const fn is_transposed([m, n, _]: [usize; 3]) -> bool {
    m < n
}

/// The row and column of an element of A, B or an accumulator; of B, rows are what is added up.
pub type Place = [usize; 2];

impl Fragment {
    /// How many registers hold the matrix, none of them twice.
    pub const fn registers(&self) -> usize {
        self.side * self.other / 32 / self.per_register
    }

    /// The first row of A, or column of B, of which a register of lane 0 holds a part, and the first of what is added up.
    ///
    /// Two tiles of eight rows of A share their registers of products, as `.m16n8` has them; of B each tile of eight columns has its own.
    pub(super) const fn tile(&self, register: usize) -> [usize; 2] {
        let of_sixteen = matches!(self.role, Role::A) != self.transposed && self.side > 8;
        let tiles = if of_sixteen { 2 } else { 1 };
        let deep = self.other / (4 * self.per_register);
        let registers = tiles * if deep == 0 { 1 } else { deep };
        let (block, within) = (register / registers, register % registers);
        [8 * (block * tiles + within % tiles), 4 * (within / tiles) * self.per_register]
    }

    /// The element in part `part` of register `register` of a lane.
    pub const fn place(&self, lane: usize, register: usize, part: usize) -> Place {
        let (g, t) = (lane / 4, lane % 4);
        match self.role {
            Role::A | Role::B => {
                let [line, k] = self.tile(register);
                let (line, k) = (line + g, k + t * self.per_register + part);
                if matches!(self.role, Role::A) { [line, k] } else { [k, line] }
            }
            Role::Accumulator => {
                // Two elements side by side in each tile of 8 x 8.
                let element = register * self.per_register + part;
                let (tile, tiles) = (element / 2, if self.transposed { self.other } else { self.side } / 8);
                let [line, other] = [g + 8 * (tile % tiles), 8 * (tile / tiles) + 2 * t + element % 2];
                if self.transposed { [other, line] } else { [line, other] }
            }
        }
    }

    /// Rows and columns of the matrix.
    pub const fn sides(&self) -> Place {
        match self.role {
            Role::A | Role::Accumulator => [self.side, self.other],
            Role::B => [self.other, self.side],
        }
    }

    /// For every register, lane and part, in this order, the number of the element in the matrix, row by row.
    pub fn map(&self) -> Map {
        let columns = self.sides()[1];
        map(self.registers(), self.per_register, |lane, register, part| {
            let [row, column] = self.place(lane, register, part);
            row * columns + column
        })
    }
}

/// Places of elements: see [`Fragment::map`].
pub type Map = Box<[u16]>;

fn map(registers: usize, parts: usize, place: impl Fn(usize, usize, usize) -> usize) -> Map {
    let places = (0..registers).flat_map(|r| (0..32).flat_map(move |l| (0..parts).map(move |p| (r, l, p))));
    places.map(|(register, lane, part)| place(lane, register, part) as u16).collect()
}

/// The four products of `.m8n8k4` with f16, one after the other: which of them a lane belongs to, and its elements (9.7.14.5.1).
pub fn quads(role: Role, by_columns: bool, per_register: usize) -> Map {
    let registers = match role {
        Role::A | Role::B => 2,
        Role::Accumulator => 8 / per_register,
    };
    map(registers, per_register, |lane, register, part| {
        let (quad, low, upper) = (lane % 16 / 4, lane % 4, lane / 16);
        let i = register * per_register + part;
        match (role, by_columns) {
            (Role::A, false) => quad * 32 + (low + 4 * upper) * 4 + i,
            (Role::A, true) => quad * 32 + (i % 4 + 4 * upper) * 4 + low,
            (Role::B, false) => quad * 32 + low * 8 + i + 4 * upper,
            (Role::B, true) => quad * 32 + i * 8 + low + 4 * upper,
            (Role::Accumulator, _) if per_register == 2 => quad * 64 + (low + 4 * upper) * 8 + i,
            (Role::Accumulator, _) => {
                let (row, column) = ((low & 1) + (i & 2) + 4 * upper, (i & 4) + (low & 2) + (i & 1));
                quad * 64 + row * 8 + column
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_bijective(map: &[u16], elements: usize) {
        let mut seen = vec![false; elements];
        for place in map {
            assert!(!std::mem::replace(&mut seen[usize::from(*place)], true), "{place} twice");
        }
        assert!(seen.iter().all(|s| *s));
    }

    #[test]
    fn every_element_is_held_once() {
        for (side, other) in [(8, 16), (16, 16), (16, 8), (32, 16), (16, 256), (8, 128)] {
            for per_register in [1, 2, 4, 8, 32] {
                for role in [Role::A, Role::B] {
                    for transposed in [false, true] {
                        let fragment = Fragment { role, side, other, per_register, transposed };
                        if other % (4 * per_register) == 0 {
                            is_bijective(&fragment.map(), side * other);
                        }
                    }
                }
            }
            for per_register in [1, 2] {
                for transposed in [false, true] {
                    let fragment =
                        Fragment { role: Role::Accumulator, side, other, per_register, transposed };
                    is_bijective(&fragment.map(), side * other);
                }
            }
        }
        for by_columns in [false, true] {
            is_bijective(&quads(Role::A, by_columns, 2), 128);
            is_bijective(&quads(Role::B, by_columns, 2), 128);
        }
        is_bijective(&quads(Role::Accumulator, false, 1), 256);
        is_bijective(&quads(Role::Accumulator, false, 2), 256);
    }

    #[test]
    fn elements_are_where_the_manual_draws_them() {
        // Figures of 9.7.14.5.8: a0 to a7 and c0 to c3 of thread 5 of `.m16n8k16` with f16; b0 to b3.
        let a = Fragment { role: Role::A, side: 16, other: 16, per_register: 2, transposed: false };
        let places: Vec<Place> = (0..8).map(|i| a.place(5, i / 2, i % 2)).collect();
        assert_eq!(places, [[1, 2], [1, 3], [9, 2], [9, 3], [1, 10], [1, 11], [9, 10], [9, 11]]);
        let b = Fragment { role: Role::B, side: 8, other: 16, per_register: 2, transposed: false };
        let places: Vec<Place> = (0..4).map(|i| b.place(5, i / 2, i % 2)).collect();
        assert_eq!(places, [[2, 1], [3, 1], [10, 1], [11, 1]]);
        let c = Fragment { role: Role::Accumulator, side: 16, other: 8, per_register: 1, transposed: false };
        let places: Vec<Place> = (0..4).map(|i| c.place(5, i, 0)).collect();
        assert_eq!(places, [[1, 2], [1, 3], [9, 2], [9, 3]]);
    }

    #[test]
    fn fragments_of_wmma_are_those_of_an_h100() {
        let places = |role, side, other, per_register, transposed| {
            let f = Fragment { role, side, other, per_register, transposed };
            (0..f.registers()).map(|register| f.place(5, register, 0)).collect::<Vec<_>>()
        };
        // A of `.m32n8k16` and B of `.m8n32k16`, of 16 bits.
        let a = [[1, 2], [9, 2], [1, 10], [9, 10], [17, 2], [25, 2], [17, 10], [25, 10]];
        assert_eq!(places(Role::A, 32, 16, 2, false), a);
        assert_eq!(places(Role::B, 32, 16, 2, true), a.map(|[row, column]| [column, row]));
        // B of `.m16n16k16` and A of `.m8n32k16`.
        assert_eq!(places(Role::B, 16, 16, 2, false), [[2, 1], [10, 1], [2, 9], [10, 9]]);
        assert_eq!(places(Role::A, 8, 16, 2, true), [[1, 2], [1, 10]]);
        // Accumulators of `.m16n16k16` and `.m8n32k16`.
        let c = [[1, 2], [1, 3], [9, 2], [9, 3], [1, 10], [1, 11], [9, 10], [9, 11]];
        assert_eq!(places(Role::Accumulator, 16, 16, 1, false), c);
        let c = [[2, 1], [3, 1], [2, 9], [3, 9], [2, 17], [3, 17], [2, 25], [3, 25]];
        assert_eq!(places(Role::Accumulator, 8, 32, 1, true), c);
    }
}
