//! What comes of terms that are not finite numbers.

use super::{Product, Workspace, formats};
use crate::matrix::element::{Accumulator, Class, classify};

impl Product<'_> {
    /// What comes of an element whose terms are not all finite numbers; `None` if they are.
    #[cold]
    pub(in crate::matrix) fn special(
        &self,
        row: usize,
        column: usize,
        range: std::ops::Range<usize>,
        (ty, c): (Accumulator, u32),
    ) -> Option<u32> {
        let [_, n, k] = self.shape;
        let [of_a, of_b] = formats(self.types);
        let mut seen = [false; 2];
        let mut nan = false;
        match classify(ty.format(), c) {
            Class::Nan => nan = true,
            Class::Infinity(negative) => seen[usize::from(negative)] = true,
            Class::Zero | Class::Finite(_) => {}
        }
        if let Some(s) = &self.scales {
            let used = range.start * s.blocks / k..(range.end * s.blocks).div_ceil(k);
            nan |= s.a[row * s.blocks..][used.clone()].iter().any(|bits| s.ty.is_nan(*bits));
            nan |= s.b[column * s.blocks..][used].iter().any(|bits| s.ty.is_nan(*bits));
        }
        for i in range {
            let x = classify(of_a, self.a[row * k + i]);
            let y = classify(of_b, self.b[self.rows.of(row, i, k) * n + column]);
            match (x, y) {
                (Class::Nan, _)
                | (_, Class::Nan)
                | (Class::Infinity(_), Class::Zero)
                | (Class::Zero, Class::Infinity(_)) => nan = true,
                (Class::Infinity(p), Class::Infinity(q) | Class::Finite(q))
                | (Class::Finite(p), Class::Infinity(q)) => seen[usize::from(p ^ q)] = true,
                (Class::Zero | Class::Finite(_), Class::Zero | Class::Finite(_)) => {}
            }
        }
        let format = self.accumulators[1].format();
        let infinity = format.infinity().unwrap_or(format.max()) as u32;
        match seen {
            _ if nan => format.nan().map(|bits| bits as u32),
            [true, true] => format.nan().map(|bits| bits as u32),
            [true, false] => Some(infinity),
            [false, true] => Some(infinity | format.sign() as u32),
            [false, false] => None,
        }
    }

    /// The element of D if its terms are not all finite numbers, over all products.
    pub(in crate::matrix) fn special_of_all(&self, row: usize, column: usize, c: u32) -> Option<u32> {
        self.special(row, column, 0..self.shape[2], (self.accumulators[0], c))
    }

    #[cold]
    pub(super) fn find_specials(&self, workspace: &mut Workspace) {
        let [m, n, k] = self.shape;
        let [of_a, of_b] = formats(self.types);
        let special = |format, bits: u32| matches!(classify(format, bits), Class::Nan | Class::Infinity(_));
        for (row, flag) in workspace.special_rows.iter_mut().enumerate().take(m) {
            *flag = self.a[row * k..][..k].iter().any(|bits| special(of_a, *bits));
        }
        for (at, _) in self.b.iter().enumerate().filter(|(_, bits)| special(of_b, **bits)) {
            workspace.special_columns[at % n] = true;
        }
    }
}
