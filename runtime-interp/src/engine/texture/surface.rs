//! `suld sust sured` (PTX ISA 9.0, 9.7.11).

// Loops over lanes index several arrays at once, and are to become vector instructions.
#![allow(clippy::needless_range_loop)]

use super::memory::Places;
use super::{Guest, words};
use crate::engine::context::Context;
use crate::engine::lanes::{Lane, Level};
use crate::engine::observe::{AccessKind, Addresses, BadAccess, Verdict};
use crate::engine::op::{Access, Order, Scope};
use crate::engine::reg::{Reg, Width};
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::texture_op::{SurfaceAction, SurfaceOp, shape};
use crate::engine::values::{lane64, lanes_of, lanes_where, put, uniform64};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::{Bytes, Concurrent, Element, Mode};
use crate::texture::object::Object;
use crate::texture::{ChannelType, Image, Lanes, ReferenceKind, formatted};
use warpsmith_isa::{Geometry, OutOfRange, StateSpace};

/// Where the lanes' data are.
struct Found {
    offsets: Lanes<u32>,
    /// The lanes whose data are in the surface, after clamping.
    inside: u32,
}

impl<'a, const WATCHED: bool> Runner<'a, WATCHED> {
    /// Accesses surfaces.
    pub(super) fn surface(&mut self, issue: Issue<'_>, op: &SurfaceOp) -> Fallible<()> {
        match self.level {
            // SAFETY: the host has the level, or one that has all of it.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Avx2 => unsafe { self.surface_avx2(issue, op) },
            _ => self.surface_here(issue, op),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn surface_avx2(&mut self, issue: Issue<'_>, op: &SurfaceOp) -> Fallible<()> {
        self.surface_here(issue, op)
    }

    /// Accesses surfaces, for the lanes that name the same one together.
    #[inline(always)]
    fn surface_here(&mut self, issue: Issue<'_>, op: &SurfaceOp) -> Fallible<()> {
        let kind = match &op.action {
            SurfaceAction::Load(_) => AccessKind::Load,
            SurfaceAction::Store(_) => AccessKind::Store,
            SurfaceAction::Reduce { .. } => AccessKind::Atomic,
        };
        self.note_access(kind, StateSpace::Global);
        if kind == AccessKind::Atomic {
            self.changes += 1;
        }
        let mut left = issue.mask;
        while left != 0 {
            let (handle, lanes) = match uniform64(issue.frame, op.surface, left) {
                Some(handle) => (handle, left),
                None => {
                    let handle = lane64(issue.frame, op.surface, left.trailing_zeros() as usize & 31);
                    (handle, lanes_where(left, |lane| lane64(issue.frame, op.surface, lane) == handle))
                }
            };
            left &= !lanes;
            self.surface_group(issue.only(lanes), op, kind, handle)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn surface_group(
        &mut self,
        issue: Issue<'_>,
        op: &SurfaceOp,
        kind: AccessKind,
        handle: u64,
    ) -> Fallible<()> {
        let cx: &'a Context<'a> = self.cx;
        let object = self.object(issue, handle, ReferenceKind::Surface)?;
        let Object::Surface { image, address } = object else {
            let found = object.kind().name();
            return Err(self.bad_texture(
                issue,
                format!("the handle {handle:#x} is that of a {found}, not of a surface"),
            ));
        };
        let address = *address;
        let (dims, layer, _) = shape(op.geometry).unwrap_or_default();
        if image.dims() as usize != dims || image.layers().is_some() != layer || op.geometry == Geometry::Cube
        {
            let message =
                format!("the surface is {}, which this instruction cannot access", image.describe());
            return Err(self.bad_texture(issue, message));
        }
        let Some((memory, start, _)) =
            cx.global_at(address).filter(|(_, _, rest)| u64::from(image.bytes()) <= *rest)
        else {
            return Err(self.bad_texture(issue, "the memory of the surface was freed".into()));
        };
        let count = match &op.action {
            SurfaceAction::Load(dst) => dst.len(),
            SurfaceAction::Store(src) => src.len(),
            SurfaceAction::Reduce { .. } => 1,
        };
        // What is converted is a whole texel.
        let size = if op.formatted { image.format().bytes() } else { u32::from(op.bytes) * count as u32 };
        self.check_format(issue, op, image)?;
        let found = self.locate(issue, op, image, size, address, kind)?;
        if WATCHED && self.interest.accesses && found.inside != 0 {
            let format = image.format();
            let (element, count) = match &op.action {
                SurfaceAction::Store(_) if op.formatted => (format.ty.bytes(), format.channels as usize),
                SurfaceAction::Load(_) | SurfaceAction::Store(_) | SurfaceAction::Reduce { .. } => {
                    (u32::from(op.bytes), count)
                }
            };
            let access = Access { count: count as u8, ..Access::unsigned(StateSpace::Global, element as u8) };
            let order = if kind == AccessKind::Atomic { Order::Relaxed } else { Order::Weak };
            let access = access.ordered(order, Scope::Gpu);
            let addresses = found.offsets.map(|offset| address + u64::from(offset));
            let at = self.at(issue.only(found.inside));
            self.observer.access(&at, kind, &access, StateSpace::Global, Addresses::Each(&addresses));
        }
        let guest = Guest::new(memory, start, image.bytes());
        match &op.action {
            SurfaceAction::Load(dst) => load(issue, op, &guest, &found, size, dst),
            SurfaceAction::Store(src) if op.formatted => store_formatted(issue, image, &guest, &found, src),
            SurfaceAction::Store(src) => store(issue, op, &guest, &found, size, src),
            SurfaceAction::Reduce { value, functions, signed } => {
                let [unsigned_fn, signed_fn] = *functions;
                let f = if signed.unwrap_or(image.format().ty.is_signed()) { signed_fn } else { unsigned_fn };
                reduce(issue, op, (memory, start), &found, *value, f);
            }
        }
        Ok(())
    }

    /// Reductions of texels need texels of integers of their size.
    fn check_format(&self, issue: Issue<'_>, op: &SurfaceOp, image: &Image) -> Fallible<()> {
        let format = image.format();
        let reduces = matches!(op.action, SurfaceAction::Reduce { .. }) && op.formatted;
        let integers = matches!(format.ty, ChannelType::U32 | ChannelType::S32);
        if !reduces || integers && format.bytes() == u32::from(op.bytes) {
            return Ok(());
        }
        let (ty, channels, bits) = (format.ty.name(), format.channels, op.bytes * 8);
        let message =
            format!("a reduction of integers of {bits} bits in a surface of {channels} channels of {ty}");
        Err(self.bad_texture(issue, message))
    }

    /// Where the lanes' data are; coordinates outside are clamped, passed over, or a fault.
    #[inline(always)]
    fn locate(
        &mut self,
        issue: Issue<'_>,
        op: &SurfaceOp,
        image: &Image,
        size: u32,
        address: u64,
        kind: AccessKind,
    ) -> Fallible<Found> {
        let level = image.levels()[0];
        let texel = image.format().bytes();
        let (unit, row) = (if op.formatted { texel } else { 1 }, level.row_bytes);
        // For each coordinate the largest at which all of the data is inside, or below zero if there is none, and how far apart two places are.
        // Sizes of texels are powers of two.
        let last = (i64::from(row) - i64::from(size)) >> unit.trailing_zeros();
        let x = (last.max(-1) as i32, unit);
        let y = (level.size[1] as i32 - 1, row);
        let z = (level.size[2] as i32 - 1, row.wrapping_mul(level.size[1]));
        let layer = image.layers().map(|layers| (layers as i32 - 1, level.layer_bytes));
        let axes = layer.into_iter().chain([x, y, z].into_iter().take(image.dims() as usize));
        let mut offsets = [level.offset; 32];
        let mut outside = 0u32;
        for (r, (last, step)) in op.coordinates.iter().zip(axes) {
            let at = words(issue.frame, *r);
            let mut bits = 0;
            for i in 0..32 {
                let inside = (at[i] as i32).min(last).max(0) as u32;
                bits |= u32::from(inside != at[i] || last < 0) << i;
                offsets[i] = offsets[i].wrapping_add(inside.wrapping_mul(step));
            }
            outside |= bits;
        }
        outside &= issue.mask;
        let never = last < 0;
        let mut inside = issue.mask;
        if outside != 0 && (op.outside == OutOfRange::Zero || op.outside == OutOfRange::Trap || never) {
            inside &= !outside;
        }
        let mut misaligned = 0;
        let mask = if op.formatted { 0 } else { size - 1 };
        for i in 0..32 {
            misaligned |= u32::from(offsets[i] & mask != 0) << i;
        }
        let nowhere = never && op.outside == OutOfRange::Clamp;
        if outside != 0 && (op.outside == OutOfRange::Trap || nowhere) {
            self.outside(issue.only(outside), op, image, size, address, kind)?;
        }
        // What was clamped may have come to lie across units.
        let misaligned = misaligned & inside;
        if misaligned & !outside != 0 {
            let issue = issue.only(misaligned & !outside);
            let lane = issue.mask.trailing_zeros() as usize & 31;
            let message = format!(
                "{size} bytes of a surface at x = {} bytes, which is not a multiple of {size}",
                op.coordinates.get(usize::from(layer.is_some())).map_or(0, |r| words(issue.frame, *r)[lane])
            );
            return Err(self.fault(issue, FaultCode::Misaligned, message));
        }
        if misaligned != 0 {
            offsets = offsets.map(|offset| offset & !mask);
        }
        Ok(Found { offsets, inside })
    }

    /// The fault of lanes whose data are not in the surface, unless an observer lets it pass.
    #[cold]
    #[inline(never)]
    fn outside(
        &mut self,
        issue: Issue<'_>,
        op: &SurfaceOp,
        image: &Image,
        size: u32,
        address: u64,
        kind: AccessKind,
    ) -> Fallible<()> {
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let fault = self.outside_fault(one, op, image, size);
            if WATCHED {
                let at = self.at(one);
                let access = Access::unsigned(StateSpace::Global, op.bytes);
                let end = address + u64::from(image.bytes());
                let (bytes, stack_end) = (size.into(), issue.stack_end);
                let bad = BadAccess {
                    kind,
                    access: &access,
                    space: StateSpace::Global,
                    address: end,
                    bytes,
                    stack_end,
                };
                if self.observer.fault(&at, &fault, Some(&bad)) == Verdict::Skip {
                    continue;
                }
            }
            return Err(fault);
        }
        Ok(())
    }

    fn outside_fault(&self, issue: Issue<'_>, op: &SurfaceOp, image: &Image, size: u32) -> Box<Fault> {
        let lane = issue.mask.trailing_zeros() as usize & 31;
        let names: &[&str] = if image.layers().is_some() { &["layer", "x", "y"] } else { &["x", "y", "z"] };
        let place = names.iter().zip(&op.coordinates).map(|(name, r)| {
            let unit = if *name == "x" && !op.formatted { " bytes" } else { "" };
            format!("{name} = {}{unit}", words(issue.frame, *r)[lane] as i32)
        });
        let place = place.collect::<Vec<_>>().join(", ");
        let width = u64::from(image.size()[0]) * u64::from(image.format().bytes());
        let message = format!(
            "an access of {size} bytes at {place} of a surface, which is outside: it is {}, {width} bytes wide",
            image.describe()
        );
        self.fault(issue, FaultCode::OutOfBounds, message)
    }
}

/// Loads elements; lanes outside get zeros.
#[inline(always)]
fn load(issue: Issue<'_>, op: &SurfaceOp, guest: &Guest<'_>, found: &Found, size: u32, dst: &[Option<Reg>]) {
    // A row may be shorter than an access; then every lane is outside.
    if found.inside == 0 {
        for r in dst.iter().flatten() {
            put(issue.frame, *r, issue.mask, &[0; 32]);
        }
        return;
    }
    let places = guest.places(size, &found.offsets);
    for (n, r) in dst.iter().enumerate() {
        let Some(r) = *r else { continue };
        let at = n * usize::from(op.bytes);
        // SAFETY: the places are those of `size` bytes within the image, aligned to them, of which each element is a part.
        let mut values = unsafe {
            match op.bytes {
                1 => elements::<u8>(&places, at).map(u64::from),
                2 => elements::<u16>(&places, at).map(u64::from),
                4 if r.width() == Width::W32 => {
                    let mut values = elements::<u32>(&places, at);
                    for (i, value) in values.iter_mut().enumerate() {
                        *value &= (found.inside >> i & 1).wrapping_neg();
                    }
                    u32::set(issue.frame, r, issue.mask, &values);
                    continue;
                }
                4 => elements::<u32>(&places, at).map(u64::from),
                _ => elements::<u64>(&places, at),
            }
        };
        for (i, value) in values.iter_mut().enumerate() {
            *value &= u64::from(found.inside >> i & 1).wrapping_neg();
        }
        put(issue.frame, r, issue.mask, &values);
    }
}

/// An element of each lane, so many bytes past its place.
///
/// # Safety
/// There is one, aligned to its size.
#[inline(always)]
unsafe fn elements<T: Element>(places: &Places, at: usize) -> Lanes<T> {
    let mut values = [T::default(); 32];
    for (i, value) in values.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *value = unsafe { Concurrent::load(places.of(i).wrapping_add(at)) };
    }
    values
}

/// Stores elements in the lanes inside.
#[inline(always)]
fn store(issue: Issue<'_>, op: &SurfaceOp, guest: &Guest<'_>, found: &Found, size: u32, src: &[Reg]) {
    if found.inside == 0 {
        return;
    }
    let places = guest.places(size, &found.offsets);
    for (n, r) in src.iter().enumerate() {
        let at = n * usize::from(op.bytes);
        // SAFETY: as in `load`.
        unsafe {
            if op.bytes == 4 && r.width() == Width::W32 && found.inside == u32::MAX {
                let values = words(issue.frame, *r);
                for (i, value) in values.into_iter().enumerate() {
                    Concurrent::store(places.of(i).wrapping_add(at), value);
                }
                continue;
            }
            for i in lanes_of(found.inside) {
                let place = places.of(i).wrapping_add(at);
                let value = lane64(issue.frame, *r, i);
                match op.bytes {
                    1 => Concurrent::store(place, value as u8),
                    2 => Concurrent::store(place, value as u16),
                    4 => Concurrent::store(place, value as u32),
                    _ => Concurrent::store(place, value),
                }
            }
        }
    }
}

/// Converts values to texels, and stores those in the lanes inside. Channels without a value become zero.
fn store_formatted(issue: Issue<'_>, image: &Image, guest: &Guest<'_>, found: &Found, src: &[Reg]) {
    let format = image.format();
    let places = guest.places(format.bytes(), &found.offsets);
    for i in lanes_of(found.inside) {
        let place = places.of(i);
        for c in 0..format.channels {
            let value = src.get(c as usize).map_or(0, |r| lane64(issue.frame, *r, i) as u32);
            let place = place.wrapping_add((c * format.ty.bytes()) as usize);
            let bits = formatted(format.ty, value);
            // SAFETY: the place is that of a texel within the image.
            unsafe {
                match format.ty.bytes() {
                    1 => Concurrent::store(place, bits as u8),
                    2 => Concurrent::store(place, bits as u16),
                    _ => Concurrent::store(place, bits),
                }
            }
        }
    }
}

/// Updates elements in the lanes inside.
fn reduce(
    issue: Issue<'_>,
    op: &SurfaceOp,
    (memory, start): (&Bytes, usize),
    found: &Found,
    value: Reg,
    f: fn(u64, u64) -> u64,
) {
    for i in lanes_of(found.inside) {
        let value = lane64(issue.frame, value, i);
        memory.update(start + found.offsets[i] as usize, op.bytes.into(), |old| f(old, value));
    }
}
