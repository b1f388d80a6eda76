//! What handles denote: textures, samplers and surfaces (PTX ISA 9.0, 5.3).

use super::{AddressMode, Filter, Image, Plain, Sampler};
use warpsmith_isa::ScalarType;

/// The kinds of opaque variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReferenceKind {
    /// `.texref`
    Texture,
    /// `.samplerref`
    Sampler,
    /// `.surfref`
    Surface,
}

impl ReferenceKind {
    /// Of a type of variables.
    #[expect(clippy::wildcard_enum_match_arm, reason = "opaque types are three")]
    pub const fn of_type(ty: ScalarType) -> Option<ReferenceKind> {
        match ty {
            ScalarType::Texref => Some(ReferenceKind::Texture),
            ScalarType::Samplerref => Some(ReferenceKind::Sampler),
            ScalarType::Surfref => Some(ReferenceKind::Surface),
            _ => None,
        }
    }

    /// As messages say it.
    pub const fn name(self) -> &'static str {
        match self {
            ReferenceKind::Texture => "texture",
            ReferenceKind::Sampler => "sampler",
            ReferenceKind::Surface => "surface",
        }
    }
}

/// What the initial value of an opaque variable says of reading (PTX ISA 9.0, tables 10 and 11). Sizes and formats are those of what is bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Initial {
    /// `normalized_coords`
    pub normalized: Option<bool>,
    /// `force_unnormalized_coords`
    pub force_unnormalized: Option<bool>,
    /// `filter_mode`
    pub filter: Option<Filter>,
    /// `addr_mode_0` to `addr_mode_2`
    pub address: [Option<AddressMode>; 3],
}

impl Initial {
    /// A sampler with what is said, and defaults.
    pub fn sampler(&self) -> Sampler {
        let default = Sampler::default();
        Sampler {
            normalized: self.normalized.unwrap_or(default.normalized),
            force_unnormalized: self.force_unnormalized.unwrap_or(default.force_unnormalized),
            filter: self.filter.unwrap_or(default.filter),
            address: self.address.map(|mode| mode.unwrap_or(AddressMode::Clamp)),
            ..default
        }
    }

    /// True if nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Initial::default()
    }
}

/// What a handle denotes.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    /// Texels at an address, and how they are read.
    Texture { image: Image, address: u64, sampler: Sampler, plain: Option<Plain> },
    /// Texels at an address.
    Surface { image: Image, address: u64 },
    /// How texels are read.
    Sampler(Sampler),
}

impl Object {
    /// A texture.
    pub fn texture(image: &Image, address: u64, sampler: &Sampler) -> Object {
        let plain = Plain::of(image, sampler);
        Object::Texture { image: image.clone(), address, sampler: sampler.clone(), plain }
    }

    pub fn kind(&self) -> ReferenceKind {
        match self {
            Object::Texture { .. } => ReferenceKind::Texture,
            Object::Surface { .. } => ReferenceKind::Surface,
            Object::Sampler(_) => ReferenceKind::Sampler,
        }
    }

    /// The texels and where they are.
    pub fn image(&self) -> Option<(&Image, u64)> {
        match self {
            Object::Texture { image, address, .. } | Object::Surface { image, address } => {
                Some((image, *address))
            }
            Object::Sampler(_) => None,
        }
    }

    pub fn sampler(&self) -> Option<&Sampler> {
        match self {
            Object::Texture { sampler, .. } | Object::Sampler(sampler) => Some(sampler),
            Object::Surface { .. } => None,
        }
    }
}
