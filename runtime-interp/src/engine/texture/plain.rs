//! Fetches by all lanes of a warp from one texture of the common kind.

use super::{Guest, words};
use crate::engine::context::Context;
use crate::engine::lanes::{Lane, Level};
use crate::engine::run::Issue;
use crate::engine::texture_op::{FetchOp, shape};
use crate::engine::values::uniform64;
use crate::memory::window;
use crate::texture::Plain;
use crate::texture::object::Object;

impl Context<'_> {
    /// The handle that a value names: itself, or what the opaque variable at that address is bound to, whose name is returned too.
    pub(super) fn resolve(&self, value: u64) -> (u64, Option<&str>) {
        if window::object_at(value).is_none()
            && let Some(variable) = self.program.reference_at(value, self.globals)
            && let Some((memory, at, 8..)) = self.global_at(value)
        {
            let mut bytes = [0; 8];
            memory.load_relaxed(at, &mut bytes);
            return (u64::from_le_bytes(bytes), Some(&variable.name));
        }
        (value, None)
    }

    /// Fetches, and says so; otherwise the general path is to fetch, or to find out what is wrong.
    pub(super) fn fetch_plainly(&self, level: Level, issue: Issue<'_>, op: &FetchOp) -> bool {
        match level {
            // SAFETY: the host has the level.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { self.fetch_plainly_avx512(issue, op) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { self.fetch_plainly_avx2(issue, op) },
            _ => self.fetch_plainly_here(issue, op),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn fetch_plainly_avx512(&self, issue: Issue<'_>, op: &FetchOp) -> bool {
        self.fetch_plainly_here(issue, op)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn fetch_plainly_avx2(&self, issue: Issue<'_>, op: &FetchOp) -> bool {
        self.fetch_plainly_here(issue, op)
    }

    #[inline(always)]
    fn fetch_plainly_here(&self, issue: Issue<'_>, op: &FetchOp) -> bool {
        let Some((plain, guest)) = self.plain_texture(issue, op) else { return false };
        let dims = plain.dims();
        let mut at = [[0; 32]; 2];
        for (at, r) in at.iter_mut().zip(&op.coordinates).take(dims) {
            *at = words(issue.frame, *r);
        }
        let values = match op.integers {
            true => plain.at_texels(&at, &guest),
            false => plain.fetch(&at, &guest),
        };
        for (r, values) in op.dst.iter().zip(&values) {
            if let Some(r) = *r {
                // SAFETY: destinations of operations were checked when the program was built.
                unsafe { u32::set(issue.frame, r, issue.mask, values) }
            }
        }
        true
    }

    /// The texture that all lanes name, and its memory; `None` if there is anything particular about it.
    #[inline(always)]
    fn plain_texture(&self, issue: Issue<'_>, op: &FetchOp) -> Option<(&Plain, Guest<'_>)> {
        let named = uniform64(issue.frame, op.texture, issue.mask)?;
        let index = window::object_at(named).or_else(|| window::object_at(self.resolve(named).0))?;
        let Object::Texture { image, address, plain: Some(plain), .. } = self.objects.get(index)? else {
            return None;
        };
        let (dims, ..) = shape(op.geometry)?;
        let (memory, at, rest) = self.global_at(*address)?;
        let bytes = image.bytes();
        (dims == plain.dims() && u64::from(bytes) <= rest).then(|| (plain, Guest::new(memory, at, bytes)))
    }
}
