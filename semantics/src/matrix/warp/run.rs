//! A warp's product, from registers to registers.

use super::{Inputs, Scaling, WarpProduct, parts};
use crate::lanes::Level;
use crate::matrix::element::{Family, Packing};
use crate::matrix::exchange::Lanes;
use crate::matrix::float::{Product, Scales, Workspace};
use crate::matrix::integer::{IntegerProduct, multiply_double};
use crate::matrix::rule::{Arithmetic, ByWay, Rule};
use crate::matrix::sparse::{BadMetadata, Partners};
use crate::matrix::stepwise;
use crate::matrix::unpack::{self, Unpack};

/// Room to multiply in, which can be used again.
#[derive(Debug, Default)]
pub struct WarpWorkspace {
    a: Vec<u32>,
    b: Vec<u32>,
    d: Vec<u32>,
    doubles: [Vec<u64>; 3],
    rows: Vec<u16>,
    scales: [Vec<u8>; 2],
    floats: Workspace,
}

impl WarpProduct {
    /// Multiplies: gives the registers of D.
    pub fn run(
        &self,
        arithmetic: Arithmetic,
        level: Level,
        workspace: &mut WarpWorkspace,
        inputs: &Inputs,
        out: &mut Vec<Lanes>,
    ) -> Result<(), BadMetadata> {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 if Level::Avx2.is_available() => {
                // SAFETY: the host has just said that it has these features.
                unsafe { self.run_avx2(arithmetic, level, workspace, inputs, out) }
            }
            Level::Baseline | Level::Avx2 | Level::Avx512 => {
                self.run_here(arithmetic, level, workspace, inputs, out)
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_avx2(
        &self,
        arithmetic: Arithmetic,
        level: Level,
        workspace: &mut WarpWorkspace,
        inputs: &Inputs,
        out: &mut Vec<Lanes>,
    ) -> Result<(), BadMetadata> {
        self.run_here(arithmetic, level, workspace, inputs, out)
    }

    #[inline(always)]
    fn run_here(
        &self,
        arithmetic: Arithmetic,
        level: Level,
        workspace: &mut WarpWorkspace,
        inputs: &Inputs,
        out: &mut Vec<Lanes>,
    ) -> Result<(), BadMetadata> {
        out.clear();
        out.resize(self.registers[3] * if self.is_double() { 2 } else { 1 }, [0; 32]);
        if self.is_double() {
            self.doubles(workspace, inputs, out);
            return Ok(());
        }
        let [m, n, k] = self.shape;
        let (kept, of_b) = (self.depth(), self.depth_of_b());
        let WarpWorkspace { a, b, d, rows, scales, floats, .. } = workspace;
        let rows = match self.sparsity {
            None => Partners::Same,
            Some(sparsity) => {
                rows.clear();
                let width = self.packing.stride(self.types[0]);
                sparsity.rows(width, k, inputs.selector, &inputs.metadata, rows)?;
                Partners::Each(rows)
            }
        };
        let integer = matches!(self.types[0].family(), Family::Integer { .. } | Family::Bit);
        self.gather(0, inputs, m * kept, a);
        self.gather(1, inputs, n * of_b, b);
        self.accumulate(&inputs.matrices[2], d);
        if integer {
            let shape = [m, n, kept];
            let saturate = self.saturate;
            IntegerProduct { shape, kind: self.kind, saturate, a, b, rows }.run(level, d);
            self.deliver(d, out);
            return Ok(());
        }
        if let Some(scaling) = self.scaling {
            self.scales(scaling, inputs, scales);
        }
        let [scales_of_a, scales_of_b] = scales;
        let grouped = self.scaling.is_some() && self.packing == Packing::Tight;
        let rule = match arithmetic {
            Arithmetic::Hardware(architecture) => {
                Some(Rule::of(architecture, self.unit, self.types[0], grouped))
            }
            Arithmetic::Ideal => None,
        };
        for batch in 0..self.batch {
            let product = Product {
                shape: [m, n, kept],
                types: self.types,
                accumulators: self.accumulators,
                rule,
                a: &a[batch * m * kept..][..m * kept],
                b: &b[batch * n * of_b..][..n * of_b],
                rows,
                scales: self.scaling.map(|s| Scales {
                    ty: s.ty,
                    blocks: s.blocks,
                    a: scales_of_a,
                    b: scales_of_b,
                }),
            };
            let d = &mut d[batch * m * n..][..m * n];
            match rule.map_or(ByWay::Direct, |rule| rule.by_way) {
                ByWay::Direct => product.run(level, floats, d),
                ByWay::Halves => stepwise::halves(&product, level, floats, d),
                ByWay::Fused => stepwise::fused(&product, d),
            }
        }
        self.deliver(d, out);
        Ok(())
    }

    /// The elements of A or B, row by row.
    #[inline(always)]
    fn gather(&self, which: usize, inputs: &Inputs, elements: usize, out: &mut Vec<u32>) {
        out.clear();
        out.resize(self.batch * elements, 0);
        let element = self.types[which];
        let unpack = Unpack::new(element, self.packing, self.negate[which]);
        let from = &inputs.matrices[which];
        if let Some(containers) = &inputs.elements[which] {
            out.iter_mut().zip(containers).for_each(|(out, container)| *out = unpack.element(*container));
        } else if let Some(fragments) = &self.fragments {
            match parts(element, self.packing) {
                1 => unpack::gather::<1, 4>(&fragments[which], from, unpack, out),
                2 => unpack::gather::<2, 8>(&fragments[which], from, unpack, out),
                4 => unpack::gather::<4, 16>(&fragments[which], from, unpack, out),
                _ => unpack::gather::<8, 32>(&fragments[which], from, unpack, out),
            }
        } else {
            for (places, word) in self.maps[which].chunks_exact(2).zip(from.iter().flatten()) {
                for (part, place) in places.iter().enumerate() {
                    if let Some(out) = out.get_mut(usize::from(*place)) {
                        *out = unpack.element(word >> (16 * part));
                    }
                }
            }
        }
    }

    /// The elements of C, row by row.
    #[inline(always)]
    fn accumulate(&self, registers: &[Lanes], out: &mut Vec<u32>) {
        let [m, n, _] = self.shape;
        out.clear();
        out.resize(self.batch * m * n, 0);
        if let Some([_, _, c, _]) = &self.fragments {
            return unpack::accumulate(c, registers, out);
        }
        let parts = self.accumulators[0].per_register();
        for (places, word) in self.maps[2].chunks_exact(parts).zip(registers.iter().flatten()) {
            for (part, place) in places.iter().enumerate() {
                let bits = if parts == 2 { word >> (16 * part) & 0xffff } else { *word };
                if let Some(out) = out.get_mut(usize::from(*place)) {
                    *out = bits;
                }
            }
        }
    }

    /// The registers of D.
    #[inline(always)]
    fn deliver(&self, d: &[u32], out: &mut [Lanes]) {
        if let Some([_, _, _, of_d]) = &self.fragments {
            return unpack::deliver(of_d, d, out);
        }
        let parts = self.accumulators[1].per_register();
        for (places, word) in self.maps[3].chunks_exact(parts).zip(out.iter_mut().flatten()) {
            let element = |part: usize| d.get(usize::from(places[part])).copied().unwrap_or(0);
            *word = if parts == 2 { element(0) & 0xffff | element(1) << 16 } else { element(0) };
        }
    }

    /// The scales of rows and columns (9.7.14.3): those of row g are in the even one of a pair of lanes, those of row g + 8 in the odd one.
    fn scales(&self, scaling: Scaling, inputs: &Inputs, out: &mut [Vec<u8>; 2]) {
        let [m, n, _] = self.shape;
        for (side, lines) in [m, n].into_iter().enumerate() {
            let [byte, thread] = inputs.scale_selectors[side];
            out[side].clear();
            for line in 0..lines {
                let lane = if side == 0 {
                    4 * (line % 8) + 2 * (thread % 2) + line / 8
                } else {
                    4 * line + thread % 4
                };
                let bytes = inputs.scales[side][lane % 32].to_le_bytes();
                out[side].extend((0..scaling.blocks).map(|block| bytes[(byte + block) % 4]));
            }
        }
    }

    /// Multiplies elements of f64, which are pairs of words.
    fn doubles(&self, workspace: &mut WarpWorkspace, inputs: &Inputs, out: &mut [Lanes]) {
        let [m, n, k] = self.shape;
        let [a, b, d] = &mut workspace.doubles;
        for (which, (elements, matrix)) in [m * k, n * k, m * n].into_iter().zip([a, b, d]).enumerate() {
            matrix.clear();
            matrix.resize(elements, 0);
            let pairs = inputs.matrices[which].chunks_exact(2);
            let values = pairs.flat_map(|pair| {
                (0..32).map(move |lane| u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32)
            });
            for (place, value) in self.maps[which].iter().zip(values) {
                if let Some(out) = matrix.get_mut(usize::from(*place)) {
                    *out = value;
                }
            }
        }
        let [a, b, d] = &mut workspace.doubles;
        multiply_double(self.shape, self.rounding, a, b, d);
        for (at, place) in self.maps[3].iter().enumerate() {
            let value = d.get(usize::from(*place)).copied().unwrap_or(0);
            out[at / 32 * 2][at % 32] = value as u32;
            out[at / 32 * 2 + 1][at % 32] = (value >> 32) as u32;
        }
    }
}
