//! Fetches from textures, queries, and accesses to surfaces (PTX ISA 9.0, 9.7.10 and 9.7.11).
//!
//! What a fetch computes, `crate::texture` says. Here are handles, geometry, memory, and the events of observers: each texel that is read is an
//! access of global memory.

mod memory;
mod plain;
mod query;
mod surface;

use crate::engine::context::Context;
use crate::engine::file::Frame;
use crate::engine::lanes::{Lane, Level};
use crate::engine::observe::{AccessKind, Addresses};
use crate::engine::op::Access;
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::texture_op::{DetailOp, FetchOp, FetchResult, TextureOp, shape};
use crate::engine::values::{lane64, lanes_of, lanes_where};
use crate::fault::{Fault, FaultCode};
use crate::memory::window;
use crate::texture::fetch::{Coordinates, Fetched, Request, fetch, gather, half};
use crate::texture::level::Detail;
use crate::texture::object::Object;
use crate::texture::{Filter, Image, Lanes, ReferenceKind, Sampler, Taps};
use memory::Guest;
use warpsmith_isa::{Geometry, StateSpace};

impl<'a, const WATCHED: bool> Runner<'a, WATCHED> {
    /// Executes the operation.
    #[inline(never)]
    pub fn texture(&mut self, issue: Issue<'_>, op: &TextureOp) -> Fallible<()> {
        if issue.mask == 0 {
            return Ok(());
        }
        match op {
            TextureOp::Fetch(op) => self.fetch_texels(issue, op),
            TextureOp::Surface(op) => self.surface(issue, op),
            TextureOp::Query { object, kind, query, level, dst } => {
                self.query(issue, *object, *kind, *query, *level, *dst)
            }
            TextureOp::IsOfType { object, kind, dst } => {
                if let Some(dst) = dst {
                    let is = |lane: usize| self.kind_of(lane64(issue.frame, *object, lane)) == Some(*kind);
                    let holding = std::array::from_fn(|lane| issue.mask >> lane & 1 != 0 && is(lane));
                    // SAFETY: destinations of operations were checked when the program was built.
                    unsafe { bool::set(issue.frame, *dst, issue.mask, &holding) }
                }
                Ok(())
            }
        }
    }

    /// Fetches for the lanes that name the same texture and sampler together.
    fn fetch_texels(&mut self, issue: Issue<'_>, op: &FetchOp) -> Fallible<()> {
        self.note_access(AccessKind::Load, StateSpace::Global);
        if op.plain && !(WATCHED && self.interest.accesses) && self.cx.fetch_plainly(self.level, issue, op) {
            return Ok(());
        }
        let request = self.request(issue, op);
        let mut left = issue.mask;
        let mut values = [[0; 32]; 4];
        let mut floats = 0;
        while left != 0 {
            let lane = left.trailing_zeros() as usize & 31;
            let texture = lane64(issue.frame, op.texture, lane);
            let sampler = op.sampler.map(|r| lane64(issue.frame, r, lane));
            let same = |lane: usize| {
                lane64(issue.frame, op.texture, lane) == texture
                    && op.sampler.is_none_or(|r| Some(lane64(issue.frame, r, lane)) == sampler)
            };
            let lanes = lanes_where(left, same);
            left &= !lanes;
            let fetched = self.fetch_group(issue.only(lanes), op, &request, texture, sampler)?;
            floats |= if fetched.floats { lanes } else { 0 };
            if lanes == issue.mask {
                values = fetched.values;
                break;
            }
            for lane in lanes_of(lanes) {
                for (value, fetched) in values.iter_mut().zip(&fetched.values) {
                    value[lane] = fetched[lane];
                }
            }
        }
        match op.result {
            FetchResult::Words => {
                for (r, value) in op.dst.iter().zip(&values) {
                    set(issue, *r, value);
                }
            }
            FetchResult::Halves => {
                for (r, value) in op.dst.iter().zip(&halves(&values, floats)) {
                    set(issue, *r, value);
                }
            }
            FetchResult::Pairs => {
                let [x, y, z, w] = halves(&values, floats);
                for (r, [low, high]) in op.dst.iter().zip([[x, y], [z, w]]) {
                    set(issue, *r, &std::array::from_fn(|i| low[i] & 0xffff | high[i] << 16));
                }
            }
        }
        if let Some(r) = op.resident {
            // SAFETY: destinations of operations were checked when the program was built.
            unsafe { bool::set(issue.frame, r, issue.mask, &[true; 32]) }
        }
        Ok(())
    }

    /// What all lanes ask for, whatever the texture.
    fn request(&self, issue: Issue<'_>, op: &FetchOp) -> Request {
        let frame = issue.frame;
        let (_, layer, sample) = shape(op.geometry).unwrap_or_default();
        let mut operands = op.coordinates.iter();
        let mut take = |there: bool| there.then(|| operands.next().map(|r| words(frame, *r))).flatten();
        // `{index, sample, x, y}`
        let (layer, sample) = (take(layer), take(sample));
        let mut at = [[0; 32]; 3];
        for (at, r) in at.iter_mut().zip(operands) {
            *at = words(frame, *r);
        }
        let vector = |registers: &[Reg]| {
            let mut vector = [[0.0; 32]; 3];
            for (element, r) in vector.iter_mut().zip(registers) {
                *element = numbers(frame, *r);
            }
            vector
        };
        Request {
            lanes: issue.mask,
            at: match op.integers {
                true => Coordinates::Texels(at.map(|a| a.map(|v| v as i32))),
                false => Coordinates::Floats(at.map(|a| a.map(f32::from_bits))),
            },
            cube: matches!(op.geometry, Geometry::Cube | Geometry::Acube),
            layer,
            sample,
            detail: match &op.detail {
                DetailOp::Base => Detail::Base,
                DetailOp::Level(r) if op.integers => Detail::Integer(words(frame, *r).map(|v| v as i32)),
                DetailOp::Level(r) => Detail::Level(numbers(frame, *r)),
                DetailOp::Gradient([dx, dy]) => Detail::Gradient([vector(dx), vector(dy)]),
            },
            offset: (!op.offset.is_empty()).then(|| {
                let mut offset = [[0; 32]; 3];
                for (offset, r) in offset.iter_mut().zip(&op.offset) {
                    *offset = words(frame, *r).map(|v| v as i32);
                }
                offset
            }),
            compare: op.compare.map(|r| numbers(frame, r)),
        }
    }

    /// Fetches from one texture by one sampler.
    fn fetch_group(
        &mut self,
        issue: Issue<'_>,
        op: &FetchOp,
        request: &Request,
        texture: u64,
        sampler: Option<u64>,
    ) -> Fallible<Fetched> {
        let cx: &'a Context<'a> = self.cx;
        let object = self.object(issue, texture, ReferenceKind::Texture)?;
        let Object::Texture { image, address, sampler: own, .. } = object else {
            return Err(self.bad_texture(
                issue,
                format!("the handle {texture:#x} is that of a {}, not of a texture", object.kind().name()),
            ));
        };
        let joined;
        let sampler = match sampler {
            None => own,
            Some(handle) => {
                let object = self.object(issue, handle, ReferenceKind::Sampler)?;
                let Some(sampler) = object.sampler() else {
                    return Err(self.bad_texture(
                        issue,
                        format!("the handle {handle:#x} is that of a surface, which has no sampler"),
                    ));
                };
                // What a texture says of its own, a sampler leaves: how integers are read, and whether coordinates are normalised.
                joined = Sampler {
                    normalized: own.normalized,
                    read: own.read,
                    srgb: own.srgb,
                    compare: own.compare,
                    ..sampler.clone()
                };
                &joined
            }
        };
        self.check_geometry(issue, op, image)?;
        if sampler.filter == Filter::Linear
            && request.compare.is_none()
            && !sampler.gives_floats(image.format().ty)
            && !op.integers
            && op.gather.is_none()
        {
            let ty = image.format().ty.name();
            let message = format!(
                "linear filtering of {ty} that is read as integers: read it as normalized_float, or filter by nearest"
            );
            return Err(self.bad_texture(issue, message));
        }
        self.check_operands(issue, op, request, image)?;
        let bytes = u64::from(image.bytes());
        let Some((memory, at, rest)) = cx.global_at(*address).filter(|(_, _, rest)| bytes <= *rest) else {
            return Err(self.bad_texture(issue, "the memory of the texture was freed".into()));
        };
        debug_assert!(bytes <= rest);
        let guest = Guest::new(memory, at, image.bytes());
        let request = Request { lanes: issue.mask, ..*request };
        if WATCHED && self.interest.accesses {
            let mut read = Recorder(Vec::new());
            let fetched = fetch_here(image, sampler, &request, op.gather, &guest, &mut read);
            let format = image.format();
            let access = Access::unsigned(StateSpace::Global, format.ty.bytes() as u8);
            let access = Access { count: format.channels as u8, ..access };
            for (lanes, offsets) in read.0 {
                let addresses = offsets.map(|offset| address + u64::from(offset));
                let at = self.at(issue.only(lanes));
                self.observer.access(
                    &at,
                    AccessKind::Load,
                    &access,
                    StateSpace::Global,
                    Addresses::Each(&addresses),
                );
            }
            return Ok(fetched);
        }
        Ok(match self.level {
            // What is left to this path is taken texel by texel, and gains nothing from wider registers.
            // SAFETY: the host has the level, or one that has all of it.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Avx2 => unsafe { fetch_avx2(image, sampler, &request, op.gather, &guest) },
            _ => fetch_baseline(image, sampler, &request, op.gather, &guest),
        })
    }

    /// The texture must be what the instruction takes it for.
    fn check_geometry(&self, issue: Issue<'_>, op: &FetchOp, image: &Image) -> Fallible<()> {
        let array = image.layers().is_some();
        let plain = !image.is_cube() && image.samples().is_none_or(|n| n == 1);
        let fits = match op.geometry {
            Geometry::N1d => image.dims() == 1 && !array,
            Geometry::N2d => image.dims() == 2 && !array && plain,
            Geometry::N3d => image.dims() == 3,
            Geometry::A1d => image.dims() == 1 && array,
            // A cube is an array of its faces.
            Geometry::A2d => image.dims() == 2 && array && image.samples().is_none_or(|n| n == 1),
            Geometry::Cube | Geometry::Acube => image.is_cube(),
            Geometry::N2dms => image.dims() == 2 && !array && image.samples().is_some(),
            Geometry::A2dms => image.dims() == 2 && array && image.samples().is_some(),
            Geometry::N4d | Geometry::N5d => false,
        };
        if fits {
            return Ok(());
        }
        Err(self.bad_texture(
            issue,
            format!("the texture is {}, which this instruction cannot fetch from", image.describe()),
        ))
    }

    /// Offsets and samples must be in range.
    fn check_operands(
        &self,
        issue: Issue<'_>,
        op: &FetchOp,
        request: &Request,
        image: &Image,
    ) -> Fallible<()> {
        let bad =
            |lanes: u32, message: String| Err(self.fault(issue.only(lanes), FaultCode::BadOperand, message));
        for offset in request.offset.iter().flatten().take(op.offset.len()) {
            let wrong = lanes_where(issue.mask, |lane| !(-8..8).contains(&offset[lane]));
            if wrong != 0 {
                let value = offset[wrong.trailing_zeros() as usize & 31];
                return bad(wrong, format!("an offset of {value} texels; it must be from -8 to 7"));
            }
        }
        if let (Some(sample), Some(samples)) = (&request.sample, image.samples()) {
            let wrong = lanes_where(issue.mask, |lane| sample[lane] >= samples);
            if wrong != 0 {
                let value = sample[wrong.trailing_zeros() as usize & 31];
                return bad(wrong, format!("sample {value} of a texture with {samples} samples"));
            }
        }
        Ok(())
    }

    /// What a value denotes, if it is a handle or the address of an opaque variable.
    fn kind_of(&self, value: u64) -> Option<ReferenceKind> {
        if let Some(index) = window::object_at(value) {
            return self.cx.objects.get(index).map(Object::kind);
        }
        let variable = self.cx.program.reference_at(value, self.cx.globals)?;
        variable.reference.as_ref().map(|reference| reference.kind)
    }

    /// The object that a value names; `kind` is what is expected, for messages.
    fn object(&self, issue: Issue<'_>, value: u64, kind: ReferenceKind) -> Fallible<&'a Object> {
        let cx: &'a Context<'a> = self.cx;
        let (handle, of) = cx.resolve(value);
        let found = window::object_at(handle).and_then(|index| cx.objects.get(index));
        found.ok_or_else(|| {
            let kind = kind.name();
            let message = match of {
                Some(name) if handle == 0 => {
                    format!(
                        "the {kind} reference `{name}` is bound to nothing: a launch binds it by its name"
                    )
                }
                Some(name) => format!("the {kind} reference `{name}` was overwritten"),
                None if handle == 0 => format!("the {kind} handle is null"),
                None => format!("{handle:#x} is not a handle of a {kind}"),
            };
            self.bad_texture(issue, message)
        })
    }

    #[cold]
    fn bad_texture(&self, issue: Issue<'_>, message: String) -> Box<Fault> {
        self.fault(issue, FaultCode::BadTexture, message)
    }
}

/// Notes which texels are read.
struct Recorder(Vec<(u32, Lanes<u32>)>);

impl Taps for Recorder {
    fn read(&mut self, lanes: u32, offsets: &Lanes<u32>) {
        if lanes != 0 {
            self.0.push((lanes, *offsets));
        }
    }
}

#[inline(always)]
fn fetch_here(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    component: Option<u8>,
    guest: &Guest<'_>,
    taps: &mut dyn Taps,
) -> Fetched {
    match component {
        None => fetch(image, sampler, request, guest, taps),
        Some(component) => gather(image, sampler, request, component.into(), guest, taps),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn fetch_avx2(i: &Image, s: &Sampler, r: &Request, c: Option<u8>, g: &Guest<'_>) -> Fetched {
    fetch_here(i, s, r, c, g, &mut ())
}

#[inline(never)]
fn fetch_baseline(i: &Image, s: &Sampler, r: &Request, c: Option<u8>, g: &Guest<'_>) -> Fetched {
    fetch_here(i, s, r, c, g, &mut ())
}

/// The lanes of a 32-bit register.
#[inline(always)]
fn words(frame: Frame, r: Reg) -> Lanes<u32> {
    // SAFETY: registers of operations and their widths were checked when the program was built.
    unsafe { (*frame.row::<u32>(r)).0 }
}

/// The lanes of a 32-bit register, as floats.
fn numbers(frame: Frame, r: Reg) -> Lanes<f32> {
    words(frame, r).map(f32::from_bits)
}

/// Sets the lanes of a 32-bit register that execute.
fn set(issue: Issue<'_>, r: Option<Reg>, values: &Lanes<u32>) {
    if let Some(r) = r {
        // SAFETY: destinations of operations were checked when the program was built.
        unsafe { u32::set(issue.frame, r, issue.mask, values) }
    }
}

/// Floats as halves, and the low halves of integers.
fn halves(values: &[Lanes<u32>; 4], floats: u32) -> [Lanes<u32>; 4] {
    values.map(|value| {
        std::array::from_fn(|i| if floats >> i & 1 != 0 { half(value[i]) } else { value[i] & 0xffff })
    })
}
