//! How a texture is read.

use super::{ChannelType, Format};
use crate::tensor::named;

named! {
    /// What a fetch between texels gives, and one between levels.
    Filter {
        /// The nearest.
        Nearest = "nearest",
        /// Both neighbours, by their distances.
        Linear = "linear",
    }
}

named! {
    /// What coordinates outside of the texture mean, in the order of the numbers that `txq` gives (PTX ISA 9.0, 9.7.10.5).
    AddressMode {
        /// The texture repeats. Clamps where coordinates are not normalised.
        Wrap = "wrap",
        /// The texture repeats, every other time reversed. Clamps where coordinates are not normalised.
        Mirror = "mirror",
        /// The coordinate is clamped to the texture, at whose edge half of the border is mixed in.
        ClampOgl = "clamp_ogl",
        /// The texel at the edge.
        Clamp = "clamp",
        /// The colour of the border.
        Border = "border",
    }
}

named! {
    /// What a read of an integer texture gives.
    ReadMode {
        /// The integers.
        Element = "element",
        /// Numbers from 0, or -1, to 1.
        NormalizedFloat = "normalized_float",
    }
}

named! {
    /// How the value of an instruction is compared with that of a texel of a depth texture.
    Comparison {
        /// Never true.
        Never = "never",
        /// Less than the texel.
        Less = "less",
        /// Equal to the texel.
        Equal = "equal",
        /// Less than the texel or equal.
        LessEqual = "less_equal",
        /// Greater than the texel.
        Greater = "greater",
        /// Not equal to the texel.
        NotEqual = "not_equal",
        /// Greater than the texel or equal.
        GreaterEqual = "greater_equal",
        /// Always true.
        Always = "always",
    }
}

impl Comparison {
    pub(super) fn holds(self, value: f32, texel: f32) -> bool {
        match self {
            Comparison::Never => false,
            Comparison::Less => value < texel,
            Comparison::Equal => value == texel,
            Comparison::LessEqual => value <= texel,
            Comparison::Greater => value > texel,
            Comparison::NotEqual => value != texel,
            Comparison::GreaterEqual => value >= texel,
            Comparison::Always => true,
        }
    }
}

/// Which levels of a mipmap are used.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelRange {
    /// The finest.
    pub min: f32,
    /// The coarsest.
    pub max: f32,
    /// What is added before.
    pub bias: f32,
}

impl Default for LevelRange {
    /// All of them.
    fn default() -> Self {
        LevelRange { min: 0.0, max: f32::INFINITY, bias: 0.0 }
    }
}

/// How a texture is read.
#[derive(Clone, PartialEq, Debug)]
pub struct Sampler {
    /// Coordinates go from 0 to 1, not to the size.
    pub normalized: bool,
    /// Coordinates are not normalised, whatever the texture says: of a sampler in independent mode.
    pub force_unnormalized: bool,
    /// Between texels.
    pub filter: Filter,
    /// Between levels of a mipmap.
    pub mip_filter: Filter,
    /// Outside, in each dimension.
    pub address: [AddressMode; 3],
    /// What integers are read as.
    pub read: ReadMode,
    /// The border, in units of the result: as integers for textures of integers that are read as such.
    pub border: [f64; 4],
    /// Red, green and blue are stored as sRGB.
    pub srgb: bool,
    /// How depths are compared.
    pub compare: Comparison,
    /// The levels.
    pub lod: LevelRange,
}

impl Default for Sampler {
    /// Not normalised, nearest, clamped, elements, a border of zeros.
    fn default() -> Self {
        Sampler {
            normalized: false,
            force_unnormalized: false,
            filter: Filter::Nearest,
            mip_filter: Filter::Nearest,
            address: [AddressMode::Clamp; 3],
            read: ReadMode::Element,
            border: [0.0; 4],
            srgb: false,
            compare: Comparison::LessEqual,
            lod: LevelRange::default(),
        }
    }
}

impl Sampler {
    /// What is wrong with it for texels of a format, as the name of its field and the reason.
    pub fn check(&self, format: Format) -> Result<(), (&'static str, String)> {
        let ty = format.ty;
        if self.read == ReadMode::NormalizedFloat && ty.is_integer() && !ty.can_be_normalized() {
            let message =
                format!("integers of 8 and 16 bits can be read as normalized_float, not {}", ty.name());
            return Err(("read", message));
        }
        if self.filter == Filter::Linear && !self.gives_floats(ty) {
            let message =
                format!("{} read as integers cannot be filtered: read them as normalized_float", ty.name());
            return Err(("filter", message));
        }
        if self.srgb && !(ty == ChannelType::U8 && self.read == ReadMode::NormalizedFloat) {
            return Err(("srgb", "sRGB is for u8 that is read as normalized_float".into()));
        }
        Ok(())
    }

    /// True if reads of a type give floats.
    pub const fn gives_floats(&self, ty: ChannelType) -> bool {
        !ty.is_integer() || matches!(self.read, ReadMode::NormalizedFloat)
    }
}
