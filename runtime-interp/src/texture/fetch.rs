//! What a fetch gives: coordinates, texels, weights and numbers together.
//!
//! A fetch that reads one texel in each lane gives what that texel holds, bit for bit. Others blend: the sums are exact, and rounded once, to what
//! the format is blended in (16 bits for integers, a half for halves).

// Loops over lanes index several arrays at once, and are to become vector instructions.
#![allow(clippy::needless_range_loop)]

use super::axis::{self, Axis, BORDER, ONE, Rule};
use super::blend::Blend;
use super::format::to_half;
use super::level::{self, Detail, Levels};
use super::sampler::{AddressMode, Filter, Sampler};
use super::{Image, Lanes, Taps, Texels, cube};
use smallvec::SmallVec;

/// The coordinates of a fetch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinates {
    /// As the sampler says; of a cube, directions.
    Floats([Lanes<f32>; 3]),
    /// Texels.
    Texels([Lanes<i32>; 3]),
}

/// What a fetch asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// The lanes that ask. The others get what they may.
    pub lanes: u32,
    pub at: Coordinates,
    /// A cube is asked.
    pub cube: bool,
    /// The layer of an array, or the cube of an array of cubes.
    pub layer: Option<Lanes<u32>>,
    /// The sample, which must be one that the image has.
    pub sample: Option<Lanes<u32>>,
    pub detail: Detail,
    /// Distances in texels.
    pub offset: Option<[Lanes<i32>; 3]>,
    /// What depths are compared with.
    pub compare: Option<Lanes<f32>>,
}

/// A float, as bits, rounded to a half.
pub(crate) fn half(bits: u32) -> u32 {
    to_half(f32::from_bits(bits))
}

/// What was fetched.
pub(crate) struct Fetched {
    /// The four components, as bits.
    pub values: [Lanes<u32>; 4],
    /// They are floats.
    pub floats: bool,
}

/// Texels of 32 lanes, one in each, and how much each counts.
pub(super) struct Tap {
    pub offsets: Lanes<u32>,
    /// The lanes that read the border instead.
    pub border: u32,
    pub factor: Lanes<f64>,
}

/// The level that each lane reads.
struct LevelLanes {
    size: [Lanes<u32>; 3],
    offset: Lanes<u32>,
    row_bytes: Lanes<u32>,
    layer_bytes: Lanes<u32>,
}

/// The texels at coordinates, filtered.
#[inline(always)]
pub(crate) fn fetch(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    memory: &impl Texels,
    taps: &mut dyn Taps,
) -> Fetched {
    Fetch::new(image, sampler, request, memory, taps).fetch()
}

/// One component of each of the four texels that a bilinear fetch would blend, counter-clockwise from the lower left.
#[inline(always)]
pub(crate) fn gather(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    component: usize,
    memory: &impl Texels,
    taps: &mut dyn Taps,
) -> Fetched {
    Fetch::new(image, sampler, request, memory, taps).gather(component)
}

/// A fetch.
pub(super) struct Fetch<'a, M> {
    pub image: &'a Image,
    pub sampler: &'a Sampler,
    pub request: &'a Request,
    pub memory: &'a M,
    pub taps: &'a mut dyn Taps,
    /// Results are floats.
    pub floats: bool,
}

impl<'a, M: Texels> Fetch<'a, M> {
    #[inline(always)]
    fn new(
        image: &'a Image,
        sampler: &'a Sampler,
        request: &'a Request,
        memory: &'a M,
        taps: &'a mut dyn Taps,
    ) -> Self {
        let floats = sampler.gives_floats(image.format().ty) || request.compare.is_some();
        Fetch { image, sampler, request, memory, taps, floats }
    }

    /// True if coordinates go from 0 to 1.
    fn normalized(&self) -> bool {
        self.request.cube || self.sampler.normalized && !self.sampler.force_unnormalized
    }

    #[inline(always)]
    fn fetch(mut self) -> Fetched {
        let request = self.request;
        let (at, face) = self.on_faces();
        let levels = self.levels();
        let texels = matches!(at, Coordinates::Texels(_));
        let linear = self.sampler.filter == Filter::Linear && self.floats && !texels;
        let blends_levels = levels.as_ref().is_some_and(|levels| {
            self.floats && (0..32).any(|i| request.lanes >> i & 1 != 0 && levels.weight[i] != 0)
        });
        let first = levels.as_ref().map(|levels| &levels.first);
        if !linear && !blends_levels {
            let level = self.level(first);
            let tap = self.nearest(&level, &at, face.as_ref());
            return self.plain(&tap);
        }
        let mut passes: SmallVec<[(LevelLanes, Option<Lanes<i32>>); 2]> = SmallVec::new();
        match levels {
            Some(levels) if blends_levels => {
                passes.push((self.level(Some(&levels.first)), Some(levels.weight.map(|w| ONE - w))));
                passes.push((self.level(Some(&levels.second)), Some(levels.weight)));
            }
            _ => passes.push((self.level(first), None)),
        }
        let mut blend = Blend::new(self.image.format().channels as usize);
        for (level, weight) in &passes {
            let mut taps: SmallVec<[Tap; 8]> = if linear {
                self.linear(level, &at, face.as_ref())
            } else {
                let nearest = self.nearest(level, &at, face.as_ref());
                std::iter::once(nearest).collect()
            };
            for tap in &mut taps {
                if let Some(weight) = weight {
                    for i in 0..32 {
                        tap.factor[i] *= f64::from(weight[i]) * (1.0 / f64::from(ONE));
                    }
                }
                self.add(&mut blend, tap);
            }
        }
        let halved = linear && self.image.dims() == 1 && self.image.layers().is_none();
        if halved && self.sampler.address[0] == AddressMode::Border {
            blend.mix(self.sampler.border.map(|b| b * self.unit()));
        }
        self.rounded(&blend)
    }

    #[inline(always)]
    fn gather(mut self, component: usize) -> Fetched {
        let (at, face) = self.on_faces();
        let level = self.level(None);
        let taps = self.linear(&level, &at, face.as_ref());
        let mut values = [[0; 32]; 4];
        for (value, tap) in values.iter_mut().zip([2, 3, 1, 0]) {
            if let Some(tap) = taps.get(tap) {
                *value = self.plain(tap).values[component & 3];
            }
        }
        Fetched { values, floats: self.floats }
    }

    /// Coordinates on the faces of a cube, and which.
    fn on_faces(&self) -> (Coordinates, Option<Lanes<u32>>) {
        match (&self.request.at, self.request.cube) {
            (Coordinates::Floats(directions), true) => {
                let on = cube::project(directions);
                (Coordinates::Floats([on.s, on.t, [0.0; 32]]), Some(on.face))
            }
            (at, _) => (*at, None),
        }
    }

    /// The levels to read, if not all lanes read the base.
    fn levels(&self) -> Option<Levels> {
        if self.image.levels().len() == 1 {
            return None;
        }
        let detail = match (&self.request.detail, &self.request.at) {
            (Detail::Base, _) => return None,
            (Detail::Level(level), _) => *level,
            (Detail::Integer(level), _) => level.map(|l| l as f32),
            (Detail::Gradient(gradients), Coordinates::Floats(directions)) if self.request.cube => {
                let on_face = [0, 1].map(|i| cube::gradient(directions, &gradients[i]));
                level::of_gradients(self.image, true, 2, &on_face)
            }
            (Detail::Gradient(gradients), _) => {
                let dims = self.image.dims() as usize;
                level::of_gradients(self.image, self.normalized(), dims, gradients)
            }
        };
        Some(level::levels(self.image, self.sampler, &detail))
    }

    /// The level of each lane; the base without one.
    #[inline(always)]
    fn level(&self, levels: Option<&Lanes<u32>>) -> LevelLanes {
        let all = self.image.levels();
        let Some(levels) = levels else {
            let base = &all[0];
            return LevelLanes {
                size: base.size.map(|n| [n; 32]),
                offset: [base.offset; 32],
                row_bytes: [base.row_bytes; 32],
                layer_bytes: [base.layer_bytes; 32],
            };
        };
        let of = |i: usize| &all[(levels[i] as usize).min(all.len() - 1)];
        LevelLanes {
            size: std::array::from_fn(|d| std::array::from_fn(|i| of(i).size[d])),
            offset: std::array::from_fn(|i| of(i).offset),
            row_bytes: std::array::from_fn(|i| of(i).row_bytes),
            layer_bytes: std::array::from_fn(|i| of(i).layer_bytes),
        }
    }

    fn rule(&self, dim: usize) -> Rule {
        Rule { mode: self.sampler.address[dim], normalized: self.normalized() }
    }

    fn offset(&self, dim: usize) -> Option<&Lanes<i32>> {
        self.request.offset.as_ref().map(|offset| &offset[dim])
    }

    /// The layers of the image that lanes read, those out of range as the last.
    #[inline(always)]
    fn layers(&self, face: Option<&Lanes<u32>>) -> Option<Lanes<u32>> {
        let count = self.image.layers()?;
        match (face, &self.request.layer) {
            (Some(face), layer) => Some(std::array::from_fn(|i| {
                let cube = layer.as_ref().map_or(0, |layer| layer[i]);
                cube.min(count / 6 - 1) * 6 + face[i]
            })),
            (None, Some(layer)) => Some(layer.map(|n| n.min(count - 1))),
            (None, None) => None,
        }
    }

    /// Texels in one tap.
    #[inline(always)]
    fn tap(
        &self,
        level: &LevelLanes,
        [x, y, z]: [Option<&Lanes<i32>>; 3],
        layer: Option<&Lanes<u32>>,
        factor: Lanes<f64>,
    ) -> Tap {
        let bytes = self.image.format().bytes();
        let samples = self.image.samples().unwrap_or(1);
        let mut offsets = level.offset;
        let mut outside = [false; 32];
        if let Some(x) = x {
            for i in 0..32 {
                offsets[i] = offsets[i].wrapping_add((x[i] as u32).wrapping_mul(samples * bytes));
                outside[i] = x[i] == BORDER;
            }
        }
        for (index, dim) in [(y, 1), (z, 2)] {
            let Some(index) = index else { continue };
            for i in 0..32 {
                let rows = if dim == 1 { 1 } else { level.size[1][i] };
                let step = rows.wrapping_mul(level.row_bytes[i]);
                offsets[i] = offsets[i].wrapping_add((index[i] as u32).wrapping_mul(step));
                outside[i] |= index[i] == BORDER;
            }
        }
        if let Some(sample) = &self.request.sample {
            for i in 0..32 {
                offsets[i] = offsets[i].wrapping_add(sample[i].min(samples - 1) * bytes);
            }
        }
        for i in 0..32 {
            let layer = layer.map_or(0, |layer| layer[i]) * level.layer_bytes[i];
            offsets[i] = if outside[i] { 0 } else { offsets[i].wrapping_add(layer) };
        }
        let border = (0..32).fold(0, |mask, i| mask | u32::from(outside[i]) << i);
        Tap { offsets, border, factor }
    }

    #[inline(always)]
    fn nearest(&self, level: &LevelLanes, at: &Coordinates, face: Option<&Lanes<u32>>) -> Tap {
        let dims = self.image.dims() as usize;
        let mut index = [[0; 32]; 3];
        for (d, index) in index.iter_mut().enumerate().take(dims) {
            *index = match at {
                Coordinates::Floats(at) if face.is_some() => {
                    let rule = Rule { mode: AddressMode::Clamp, normalized: true };
                    axis::nearest(rule, &at[d], &level.size[d], None)
                }
                Coordinates::Floats(at) => {
                    axis::nearest(self.rule(d), &at[d], &level.size[d], self.offset(d))
                }
                Coordinates::Texels(at) => {
                    axis::integer(self.sampler.address[d], &at[d], &level.size[d], self.offset(d))
                }
            };
        }
        let layer = self.layers(face);
        let axes = std::array::from_fn(|d| (d < dims).then_some(&index[d]));
        self.tap(level, axes, layer.as_ref(), [1.0; 32])
    }

    /// The texels that a filtered fetch blends: of 2 dimensions (low, low), (high, low), (low, high), (high, high).
    #[inline(always)]
    fn linear(&self, level: &LevelLanes, at: &Coordinates, face: Option<&Lanes<u32>>) -> SmallVec<[Tap; 8]> {
        let Coordinates::Floats(at) = at else { return SmallVec::new() };
        if let Some(face) = face {
            return self.across_faces(level, at, face);
        }
        let axis = |d: usize| axis::linear(self.rule(d), &at[d], &level.size[d], self.offset(d));
        let layer = self.layers(None);
        let layer = layer.as_ref();
        const PART: f64 = 1.0 / ONE as f64;
        let mut taps = SmallVec::new();
        let x = axis(0);
        if self.image.dims() == 1 {
            taps.push(self.tap(
                level,
                [Some(&x.low), None, None],
                layer,
                x.weight.map(|w| f64::from(ONE - w) * PART),
            ));
            taps.push(self.tap(
                level,
                [Some(&x.high), None, None],
                layer,
                x.weight.map(|w| f64::from(w) * PART),
            ));
            return taps;
        }
        let y = axis(1);
        if self.image.dims() == 2 {
            let weights = bilinear(&x, &y);
            for (k, weight) in weights.iter().enumerate() {
                let (x, y) = (side(&x, k & 1), side(&y, k >> 1));
                taps.push(self.tap(
                    level,
                    [Some(x), Some(y), None],
                    layer,
                    weight.map(|w| f64::from(w) * PART),
                ));
            }
            return taps;
        }
        let z = axis(2);
        for k in 0..8 {
            let weight = |axis: &Axis, side: usize, i: usize| {
                f64::from(if side == 0 { ONE - axis.weight[i] } else { axis.weight[i] }) * PART
            };
            let factor: Lanes<f64> = std::array::from_fn(|i| {
                weight(&x, k & 1, i) * weight(&y, k >> 1 & 1, i) * weight(&z, k >> 2, i)
            });
            let axes = [Some(side(&x, k & 1)), Some(side(&y, k >> 1 & 1)), Some(side(&z, k >> 2))];
            taps.push(self.tap(level, axes, layer, factor));
        }
        taps
    }

    /// The texels of a face and its neighbours. Where three faces meet, the three texels there share the weight of the missing one.
    fn across_faces(
        &self,
        level: &LevelLanes,
        at: &[Lanes<f32>; 3],
        face: &Lanes<u32>,
    ) -> SmallVec<[Tap; 8]> {
        let mut index = [[[0; 32]; 2]; 4];
        let mut faces = [[0; 32]; 4];
        let mut factor = [[0.0; 32]; 4];
        let mut axes = [0, 1]
            .map(|d| Axis { low: [0; 32], high: [0; 32], weight: [0; 32] }.between(&at[d], &level.size[d]));
        for axis in &mut axes {
            axis.high = axis.low.map(|low| low + 1);
        }
        let [x, y] = &axes;
        let weights = bilinear(x, y);
        for i in 0..32 {
            let size = level.size[0][i] as i32;
            let mut missing = None;
            for k in 0..4 {
                let (u, v) = (side(x, k & 1)[i], side(y, k >> 1)[i]);
                let found = cube::texel(face[i], u, v, size);
                if found.is_none() {
                    missing = Some(k);
                }
                let clamp = |c: i32| c.clamp(0, size - 1);
                let (face, u, v) = found.unwrap_or((face[i], clamp(u), clamp(v)));
                (faces[k][i], index[k][0][i], index[k][1][i]) = (face, u, v);
                factor[k][i] = f64::from(weights[k][i]) / f64::from(ONE);
            }
            if let Some(missing) = missing {
                let share = std::mem::take(&mut factor[missing][i]) / 3.0;
                for (k, factor) in factor.iter_mut().enumerate() {
                    factor[i] += if k == missing { 0.0 } else { share };
                }
            }
        }
        let tap = |k: usize| {
            let layer = self.layers(Some(&faces[k]));
            self.tap(level, [Some(&index[k][0]), Some(&index[k][1]), None], layer.as_ref(), factor[k])
        };
        (0..4).map(tap).collect()
    }
}

impl Axis {
    /// The lower texel and the weight of the upper, without regard to where the face ends.
    fn between(mut self, x: &Lanes<f32>, sizes: &Lanes<u32>) -> Axis {
        for i in 0..32 {
            let at = x[i] * sizes[i] as f32 - 0.5;
            let floor = at.floor();
            self.low[i] = floor as i32;
            self.weight[i] = ((at - floor) * ONE as f32 + 0.5) as i32;
        }
        self
    }
}

/// The lower texels, or the upper.
#[inline(always)]
pub(super) fn side(axis: &Axis, upper: usize) -> &Lanes<i32> {
    if upper == 0 { &axis.low } else { &axis.high }
}

/// The weights of four texels: integers that sum to [`ONE`].
#[inline(always)]
pub(super) fn bilinear(x: &Axis, y: &Axis) -> [Lanes<i32>; 4] {
    let mut weights = [[0; 32]; 4];
    for i in 0..32 {
        let (a, b) = (x.weight[i], y.weight[i]);
        let both = (a * b + ONE / 2) / ONE;
        weights[0][i] = ONE - a - b + both;
        weights[1][i] = a - both;
        weights[2][i] = b - both;
        weights[3][i] = both;
    }
    weights
}
