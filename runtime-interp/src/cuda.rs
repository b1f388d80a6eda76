//! The numbers that CUDA's driver API has for what tensor maps and textures are made of (`cuda.h`, CUDA Driver API reference manual).
//!
//! Where a list has no numbers of its own, a name's place in it is its number.

use crate::tensor::{ElementType, Fill, Im2colWide, Interleave, L2Promotion, Swizzle};
use crate::texture::{AddressMode, ChannelType, Filter};

/// `CUtensorMapDataType`
pub const ELEMENT_TYPES: [ElementType; 16] = [
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::S32,
    ElementType::U64,
    ElementType::S64,
    ElementType::F16,
    ElementType::F32,
    ElementType::F64,
    ElementType::BF16,
    ElementType::F32Ftz,
    ElementType::TF32,
    ElementType::TF32Ftz,
    ElementType::B4x16,
    ElementType::B4x16P64,
    ElementType::B6x16P32,
];

/// `CUtensorMapInterleave`
pub const INTERLEAVES: [Interleave; 3] = [Interleave::None, Interleave::B16, Interleave::B32];

/// `CUtensorMapSwizzle`
pub const SWIZZLES: [Swizzle; 7] = [
    Swizzle::None,
    Swizzle::B32,
    Swizzle::B64,
    Swizzle::B128,
    Swizzle::B128Atom32,
    Swizzle::B128Atom32Flip8,
    Swizzle::B128Atom64,
];

/// `CUtensorMapL2promotion`
pub const PROMOTIONS: [L2Promotion; 4] =
    [L2Promotion::None, L2Promotion::B64, L2Promotion::B128, L2Promotion::B256];

/// `CUtensorMapFloatOOBfill`
pub const FILLS: [Fill; 2] = [Fill::Zero, Fill::Nan];

/// `CUtensorMapIm2ColWideMode`
pub const WIDE_MODES: [Im2colWide; 2] = [Im2colWide::W, Im2colWide::W128];

/// `CUaddress_mode`
pub const ADDRESS_MODES: [AddressMode; 4] =
    [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];

/// `CUfilter_mode`
pub const FILTERS: [Filter; 2] = [Filter::Nearest, Filter::Linear];

/// `CUarray_format`, where the engine has it.
pub const FORMATS: [(u32, ChannelType); 8] = [
    (0x01, ChannelType::U8),
    (0x02, ChannelType::U16),
    (0x03, ChannelType::U32),
    (0x08, ChannelType::S8),
    (0x09, ChannelType::S16),
    (0x0a, ChannelType::S32),
    (0x10, ChannelType::F16),
    (0x20, ChannelType::F32),
];

/// `CUresourceViewFormat`: after `CU_RES_VIEW_FORMAT_NONE`, for each of these one, two and four channels; then come compressed blocks.
pub const VIEW_FORMATS: [ChannelType; 8] = [
    ChannelType::U8,
    ChannelType::S8,
    ChannelType::U16,
    ChannelType::S16,
    ChannelType::U32,
    ChannelType::S32,
    ChannelType::F16,
    ChannelType::F32,
];

/// `CU_TRSF_READ_AS_INTEGER`: texels of whole numbers are read as such, and not as fractions.
pub const READ_AS_INTEGER: u32 = 1;
/// `CU_TRSF_NORMALIZED_COORDINATES`
pub const NORMALIZED_COORDINATES: u32 = 2;
/// `CU_TRSF_SRGB`
pub const SRGB: u32 = 16;
