//! Which levels of a mipmap a fetch reads (PTX ISA 9.0, 9.7.10.2).

use super::axis::ONE;
use super::sampler::{Filter, Sampler};
use super::{Image, Lanes};

/// The two levels that a fetch reads, and the weight of the second.
#[derive(Clone, Copy)]
pub(super) struct Levels {
    pub first: Lanes<u32>,
    pub second: Lanes<u32>,
    pub weight: Lanes<i32>,
}

/// How a fetch says its level.
#[derive(Clone, Copy, Debug)]
// There is one at a time, on the stack.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Detail {
    /// The base.
    Base,
    /// By its number, which may have a fraction.
    Level(Lanes<f32>),
    /// By its number, as an integer.
    Integer(Lanes<i32>),
    /// By how the coordinates change from pixel to pixel, in x and in y; in units of the coordinates.
    Gradient([[Lanes<f32>; 3]; 2]),
}

/// The level of detail of gradients: by the longer of the two, in texels of the base.
pub(super) fn of_gradients(
    image: &Image,
    normalized: bool,
    dims: usize,
    gradients: &[[Lanes<f32>; 3]; 2],
) -> Lanes<f32> {
    let size = image.size();
    std::array::from_fn(|lane| {
        let length = |g: &[Lanes<f32>; 3]| {
            let squares = (0..dims).map(|d| {
                let scale = if normalized { f64::from(size[d]) } else { 1.0 };
                let texels = f64::from(g[d][lane]) * scale;
                texels * texels
            });
            squares.sum::<f64>().sqrt()
        };
        length(&gradients[0]).max(length(&gradients[1])).log2() as f32
    })
}

/// The levels for a level of detail, after bias and clamping.
pub(super) fn levels(image: &Image, sampler: &Sampler, detail: &Lanes<f32>) -> Levels {
    let last = image.levels().len() as u32 - 1;
    let mut found = Levels { first: [0; 32], second: [0; 32], weight: [0; 32] };
    for (i, &detail) in detail.iter().enumerate() {
        let detail = if detail.is_nan() { f32::NEG_INFINITY } else { detail + sampler.lod.bias };
        let detail = detail.max(sampler.lod.min).min(sampler.lod.max).max(0.0).min(last as f32);
        match sampler.mip_filter {
            Filter::Nearest => {
                let level = ((detail + 0.5).floor() as u32).min(last);
                (found.first[i], found.second[i]) = (level, level);
            }
            Filter::Linear => {
                let level = detail.floor();
                found.first[i] = level as u32;
                found.second[i] = (level as u32 + 1).min(last);
                found.weight[i] = ((detail - level) * ONE as f32 + 0.5) as i32;
            }
        }
    }
    found
}
