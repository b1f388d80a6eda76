//! What `txq` and `suq` answer (PTX ISA 9.0, 9.7.10.5 and 9.7.11.4).

use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::{lane32, lane64, lanes_of};
use crate::fault::FaultCode;
use crate::texture::{AddressMode, Filter, Image, ReadMode, ReferenceKind, Sampler};
use warpsmith_isa::TextureQuery;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    pub(super) fn query(
        &mut self,
        issue: Issue<'_>,
        object: Reg,
        kind: ReferenceKind,
        query: TextureQuery,
        level: Option<Reg>,
        dst: Option<Reg>,
    ) -> Fallible<()> {
        let mut answers = [0; 32];
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let handle = lane64(issue.frame, object, lane);
            let object = self.object(one, handle, kind)?;
            let level = level.map_or(0, |r| lane32(issue.frame, r, lane));
            let levels = object.image().map_or(1, |(image, _)| image.levels().len() as u32);
            if level >= levels {
                let message = format!("level {level} of a texture with {levels} levels");
                return Err(self.fault(one, FaultCode::BadOperand, message));
            }
            let answer = object
                .image()
                .and_then(|(image, _)| of_image(image, object.sampler(), query, level as usize))
                .or_else(|| of_sampler(object.sampler()?, query));
            answers[lane] = answer.ok_or_else(|| {
                let found = object.kind().name();
                self.bad_texture(
                    one,
                    format!("the handle {handle:#x} is that of a {found}, which has no such property"),
                )
            })?;
        }
        super::set(issue, dst, &answers);
        Ok(())
    }
}

/// An answer that the texels give; `None` if it is a question about a sampler.
fn of_image(image: &Image, sampler: Option<&Sampler>, query: TextureQuery, level: usize) -> Option<u32> {
    let size = image.levels().get(level)?.size;
    let format = image.format();
    Some(match query {
        TextureQuery::Width => size[0],
        TextureQuery::Height => size[1],
        TextureQuery::Depth => size[2],
        TextureQuery::ChannelDataType => {
            format.ty.opencl(sampler.is_some_and(|s| s.read == ReadMode::NormalizedFloat))
        }
        TextureQuery::ChannelOrder => format.opencl_order(),
        TextureQuery::ArraySize => match (image.layers(), image.is_cube()) {
            (Some(6), true) | (None, _) => 0,
            (Some(n), true) => n / 6,
            (Some(n), false) => n,
        },
        TextureQuery::NumMipmapLevels => image.mipmap().unwrap_or(0),
        TextureQuery::NumSamples => image.samples().unwrap_or(0),
        TextureQuery::MemoryLayout => u32::from(image.is_linear()),
        TextureQuery::NormalizedCoords
        | TextureQuery::ForceUnnormalizedCoords
        | TextureQuery::FilterMode
        | TextureQuery::AddressMode0
        | TextureQuery::AddressMode1
        | TextureQuery::AddressMode2 => return None,
    })
}

/// An answer that a sampler gives.
fn of_sampler(sampler: &Sampler, query: TextureQuery) -> Option<u32> {
    let mode =
        |dim: usize| AddressMode::ALL.iter().position(|m| *m == sampler.address[dim]).map(|i| i as u32);
    match query {
        TextureQuery::NormalizedCoords => Some(sampler.normalized.into()),
        TextureQuery::ForceUnnormalizedCoords => Some(sampler.force_unnormalized.into()),
        TextureQuery::FilterMode => Some(u32::from(sampler.filter == Filter::Linear)),
        TextureQuery::AddressMode0 => mode(0),
        TextureQuery::AddressMode1 => mode(1),
        TextureQuery::AddressMode2 => mode(2),
        TextureQuery::Width
        | TextureQuery::Height
        | TextureQuery::Depth
        | TextureQuery::ChannelDataType
        | TextureQuery::ChannelOrder
        | TextureQuery::ArraySize
        | TextureQuery::NumMipmapLevels
        | TextureQuery::NumSamples
        | TextureQuery::MemoryLayout => None,
    }
}
