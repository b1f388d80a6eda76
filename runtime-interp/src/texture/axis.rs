//! From a coordinate to texels and weights, in one dimension and 32 lanes.

use super::Lanes;
use super::sampler::AddressMode;

/// The index of a texel of the border.
pub(super) const BORDER: i32 = -1;

/// Weights are integers, of which those of a fetch sum to this.
pub(super) const ONE: i32 = 256;

/// The largest coordinate that differs from larger ones.
const FAR: f32 = 1_073_741_824.0;

/// The texels along one axis: the lower, the upper, and the weight of the upper.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub low: Lanes<i32>,
    pub high: Lanes<i32>,
    pub weight: Lanes<i32>,
}

/// How coordinates of an axis are meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub mode: AddressMode,
    pub normalized: bool,
}

impl Rule {
    /// The mode that holds: repetitions need normalised coordinates.
    fn mode(self) -> AddressMode {
        let repeats = matches!(self.mode, AddressMode::Wrap | AddressMode::Mirror);
        if repeats && !self.normalized { AddressMode::Clamp } else { self.mode }
    }
}

/// Evaluates with each mode as a constant, so that loops are compiled for it. No closure, which would be compiled apart from its caller and for another
/// instruction set.
macro_rules! with_mode {
    ($mode:ident => $body:expr) => {
        match $mode {
            AddressMode::Wrap => with_mode!(@ $mode Wrap $body),
            AddressMode::Mirror => with_mode!(@ $mode Mirror $body),
            AddressMode::ClampOgl => with_mode!(@ $mode ClampOgl $body),
            AddressMode::Clamp => with_mode!(@ $mode Clamp $body),
            AddressMode::Border => with_mode!(@ $mode Border $body),
        }
    };
    (@ $mode:ident $constant:ident $body:expr) => {{
        let $mode = AddressMode::$constant;
        $body
    }};
}

/// What a float without a fraction is as an integer; it is at most [`FAR`] from zero.
#[inline(always)]
fn whole(x: f32) -> i32 {
    debug_assert!(x.abs() <= FAR);
    // SAFETY: coordinates and weights are limited before, by `texels`. A conversion that saturates is not made of vectors, and was half of the time
    // of a fetch.
    unsafe { x.to_int_unchecked() }
}

/// Coordinates in texels, folded into the texture where it repeats.
#[inline(always)]
fn texels(rule: Rule, x: &Lanes<f32>, sizes: &Lanes<u32>, offset: Option<&Lanes<i32>>) -> Lanes<f32> {
    let mut u = [0.0; 32];
    let mut scale = [1.0; 32];
    if rule.normalized {
        for i in 0..32 {
            scale[i] = sizes[i] as f32;
        }
    }
    match rule.mode() {
        AddressMode::Wrap => {
            for i in 0..32 {
                u[i] = (x[i] - x[i].floor()) * scale[i];
            }
        }
        AddressMode::Mirror => {
            for i in 0..32 {
                // The offset is one of texels as they would be without an end.
                let moved = match offset {
                    Some(offset) => (f64::from(x[i]) + f64::from(offset[i]) / f64::from(sizes[i])) as f32,
                    None => x[i],
                };
                let period = moved.floor();
                let rest = moved - period;
                let reversed = period * 0.5 != (period * 0.5).floor();
                u[i] = (if reversed { 1.0 - rest } else { rest }) * scale[i];
            }
        }
        AddressMode::Clamp | AddressMode::Border => {
            for i in 0..32 {
                u[i] = x[i] * scale[i];
            }
        }
        AddressMode::ClampOgl => {
            for i in 0..32 {
                let moved = match offset {
                    Some(offset) => (f64::from(x[i] * scale[i]) + f64::from(offset[i])) as f32,
                    None => x[i] * scale[i],
                };
                u[i] = moved.max(0.0).min(sizes[i] as f32);
            }
        }
    }
    for u in &mut u {
        // No number is 0.
        let number = if u.is_nan() { 0.0 } else { *u };
        *u = number.clamp(-FAR, FAR);
    }
    u
}

/// Whether an offset is added to the numbers of texels. Where the mode changes the coordinate itself, `texels` adds it before: offsets are applied to coordinates
/// (PTX ISA 9.7.10.3).
#[inline(always)]
const fn moves_texels(mode: AddressMode) -> bool {
    match mode {
        AddressMode::Wrap | AddressMode::Clamp | AddressMode::Border => true,
        AddressMode::Mirror | AddressMode::ClampOgl => false,
    }
}

/// The texel with an index that may be outside.
#[inline(always)]
fn resolve(mode: AddressMode, linear: bool, offset: bool, index: i32, size: i32) -> i32 {
    match mode {
        AddressMode::Wrap if offset => index.rem_euclid(size),
        AddressMode::Wrap => {
            let index = if index < 0 { index + size } else { index };
            let index = if index >= size { index - size } else { index };
            index.max(0).min(size - 1)
        }
        AddressMode::Border => inside(index, size),
        AddressMode::ClampOgl if linear => inside(index, size),
        AddressMode::Mirror | AddressMode::Clamp | AddressMode::ClampOgl => index.max(0).min(size - 1),
    }
}

#[inline(always)]
fn inside(index: i32, size: i32) -> i32 {
    if (index as u32) < size as u32 { index } else { BORDER }
}

/// The two texels that a coordinate is between, as the guide's formulas say; the weight is rounded to a multiple of 1/256.
#[inline(always)]
pub(super) fn linear(rule: Rule, x: &Lanes<f32>, sizes: &Lanes<u32>, offset: Option<&Lanes<i32>>) -> Axis {
    let u = texels(rule, x, sizes, offset);
    let mode = rule.mode();
    let mut axis = Axis { low: [0; 32], high: [0; 32], weight: [0; 32] };
    let mut floors = [0; 32];
    for i in 0..32 {
        let at = u[i] - 0.5;
        let floor = at.floor();
        axis.weight[i] = whole(((at - floor) * ONE as f32 + 0.5).floor());
        floors[i] = whole(floor);
    }
    let moves = offset.filter(|_| moves_texels(mode));
    if let Some(offset) = moves {
        for i in 0..32 {
            floors[i] += offset[i];
        }
    }
    with_mode!(mode => {
        for i in 0..32 {
            axis.low[i] = resolve(mode, true, moves.is_some(), floors[i], sizes[i] as i32);
            axis.high[i] = resolve(mode, true, moves.is_some(), floors[i] + 1, sizes[i] as i32);
        }
    });
    axis
}

/// The texel that a coordinate is in.
#[inline(always)]
pub(super) fn nearest(
    rule: Rule,
    x: &Lanes<f32>,
    sizes: &Lanes<u32>,
    offset: Option<&Lanes<i32>>,
) -> Lanes<i32> {
    let u = texels(rule, x, sizes, offset);
    let mode = rule.mode();
    let mut index = [0; 32];
    for i in 0..32 {
        index[i] = whole(u[i].floor());
    }
    let moves = offset.filter(|_| moves_texels(mode));
    if let Some(offset) = moves {
        for i in 0..32 {
            index[i] += offset[i];
        }
    }
    with_mode!(mode => {
        for i in 0..32 {
            index[i] = resolve(mode, false, moves.is_some(), index[i], sizes[i] as i32);
        }
    });
    index
}

/// The texel with a number.
#[inline(always)]
pub(super) fn integer(
    mode: AddressMode,
    x: &Lanes<i32>,
    sizes: &Lanes<u32>,
    offset: Option<&Lanes<i32>>,
) -> Lanes<i32> {
    let mode = Rule { mode, normalized: false }.mode();
    let mut index = *x;
    if let Some(offset) = offset {
        for i in 0..32 {
            index[i] = index[i].saturating_add(offset[i]);
        }
    }
    with_mode!(mode => {
        for i in 0..32 {
            index[i] = resolve(mode, false, false, index[i], sizes[i] as i32);
        }
    });
    index
}
