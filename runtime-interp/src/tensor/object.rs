//! The 128 bytes of a tensor map, in an encoding of ours.
//!
//! | Bytes | What |
//! |---|---|
//! | 0..4 | the tag |
//! | 4..11 | mode, dimensions less one, element type, interleave, swizzle mode, swizzle atomicity, fill: codes |
//! | 11 | the class of memory of the address: 1 for a large allocation |
//! | 12..22 | element strides, 16 bits each |
//! | 22..32 | sizes of the box, 16 bits each |
//! | 32..40 | global address |
//! | 40..80 | sizes, 64 bits each |
//! | 80..112 | strides of the dimensions 1 to 4, 64 bits each |
//! | 112..124 | lower and upper corners, 16 bits each |
//! | 124..128 | channels per pixel, pixels per column |
//!
//! Kernels make maps from 128 zero bytes by replacing field after field (9.7.9.26), so zeros count as a map whose fields are all unset. A map is
//! checked as a whole where it is used: until then a kernel may replace its fields in any order.

use super::{ElementType, Fill, Im2colWide, Interleave, Swizzle, rules};
use crate::Arg;
use std::fmt;
use warpsmith_isa::{AllocationClass, TensormapField};

/// A tensor map: an argument of a kernel (`.param .align 128 .b8 map[128]`), or what is uploaded to a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TensorMap([u8; 128]);

impl TensorMap {
    /// Its bytes.
    pub const fn bytes(&self) -> &[u8; 128] {
        &self.0
    }
}

impl fmt::Debug for TensorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match decode(&self.0) {
            Ok(descriptor) => descriptor.fmt(f),
            Err(error) => write!(f, "TensorMap({error})"),
        }
    }
}

impl From<TensorMap> for Arg {
    fn from(map: TensorMap) -> Arg {
        Arg::bytes(map.0)
    }
}

impl From<&TensorMap> for Arg {
    fn from(map: &TensorMap) -> Arg {
        Arg::bytes(map.0)
    }
}

/// A field of a tensor map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Field {
    Object,
    Rank,
    GlobalAddress,
    GlobalDim,
    GlobalStride,
    BoxDim,
    ElementStride,
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    SwizzleAtomicity,
    FillMode,
    LowerCorner,
    UpperCorner,
    ChannelsPerPixel,
    PixelsPerColumn,
}

impl Field {
    /// As messages write it: the names of `tensormap.replace`.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Object => "tensor map",
            Field::Rank => "rank",
            Field::GlobalAddress => "global_address",
            Field::GlobalDim => "global_dim",
            Field::GlobalStride => "global_stride",
            Field::BoxDim => "box_dim",
            Field::ElementStride => "element_stride",
            Field::ElementType => "elemtype",
            Field::InterleaveLayout => "interleave_layout",
            Field::SwizzleMode => "swizzle_mode",
            Field::SwizzleAtomicity => "swizzle_atomicity",
            Field::FillMode => "fill_mode",
            Field::LowerCorner => "lower_corner",
            Field::UpperCorner => "upper_corner",
            Field::ChannelsPerPixel => "channels_per_pixel",
            Field::PixelsPerColumn => "pixels_per_column",
        }
    }
}

/// What is wrong with a tensor map: a field, and the rule that it breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorMapError {
    /// The field.
    pub field: Field,
    /// The dimension, of a field that has a value for each; of corners, the width being 0.
    pub ordinal: Option<usize>,
    /// What it is, and what it must be: a sentence whose subject is the field.
    pub rule: String,
}

impl TensorMapError {
    pub(super) fn of(field: Field, rule: impl Into<String>) -> TensorMapError {
        TensorMapError { field, ordinal: None, rule: rule.into() }
    }

    pub(super) fn at(field: Field, ordinal: usize, rule: impl Into<String>) -> TensorMapError {
        TensorMapError { field, ordinal: Some(ordinal), rule: rule.into() }
    }
}

impl fmt::Display for TensorMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.field, self.ordinal) {
            (Field::Object, _) => write!(f, "the tensor map {}", self.rule),
            (field, None) => write!(f, "`{}` {}", field.name(), self.rule),
            (field, Some(i)) => write!(f, "`{}[{i}]` {}", field.name(), self.rule),
        }
    }
}

impl std::error::Error for TensorMapError {}

/// What a tensor map says. Dimensions beyond the rank mean nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Descriptor {
    pub address: u64,
    pub rank: usize,
    pub element: ElementType,
    pub dims: [u64; 5],
    /// Bytes from one element to the next, in the dimensions 1 and up.
    pub strides: [u64; 4],
    pub steps: [u32; 5],
    pub interleave: Interleave,
    pub swizzle: Swizzle,
    pub fill: Fill,
    pub traversal: Traversal,
}

/// Which elements a copy takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Traversal {
    /// A box of so many elements.
    Tile([u32; 5]),
    /// Channels of pixels; the corners of width, height and depth.
    Im2col { lower: [i32; 3], upper: [i32; 3], channels: u32, pixels: u32, wide: Option<Im2colWide> },
}

const TAG: [u8; 4] = *b"WTM1";

const MODE: usize = 4;
const RANK: usize = 5;
const ELEMENT: usize = 6;
const INTERLEAVE: usize = 7;
const SWIZZLE: usize = 8;
const ATOMICITY: usize = 9;
const FILL: usize = 10;
pub(crate) const CLASS: usize = 11;
const STEPS: usize = 12;
const BOX: usize = 22;
const ADDRESS: usize = 32;
const DIMS: usize = 40;
const STRIDES: usize = 80;
const CORNERS: usize = 112;
const COLUMN: usize = 124;

/// The codes of table 33: swizzle mode and atomicity.
const fn swizzle_codes(swizzle: Swizzle) -> [u8; 2] {
    match swizzle {
        Swizzle::None => [0, 0],
        Swizzle::B32 => [1, 0],
        Swizzle::B64 => [2, 0],
        Swizzle::B128 => [3, 0],
        Swizzle::B128Atom32 => [3, 1],
        Swizzle::B128Atom32Flip8 => [3, 2],
        Swizzle::B128Atom64 => [3, 3],
        Swizzle::B96 => [4, 0],
    }
}

fn put(bytes: &mut [u8; 128], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn half(bytes: &[u8; 128], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8; 128], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// A number of 32 bits in a field of 16: what does not fit is beyond every rule.
fn short(value: u64) -> [u8; 2] {
    u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes()
}

/// The object of a description that keeps the rules.
pub(super) fn encode(d: &Descriptor) -> TensorMap {
    let mut b = [0; 128];
    put(&mut b, 0, &TAG);
    b[RANK] = d.rank as u8 - 1;
    b[ELEMENT] = d.element as u8;
    b[INTERLEAVE] = d.interleave as u8;
    put(&mut b, SWIZZLE, &swizzle_codes(d.swizzle));
    b[FILL] = d.fill as u8;
    put(&mut b, ADDRESS, &d.address.to_le_bytes());
    for i in 0..5 {
        put(&mut b, STEPS + 2 * i, &short(d.steps[i].into()));
        put(&mut b, DIMS + 8 * i, &d.dims[i].to_le_bytes());
    }
    for (i, stride) in d.strides.iter().enumerate() {
        put(&mut b, STRIDES + 8 * i, &stride.to_le_bytes());
    }
    match &d.traversal {
        Traversal::Tile(sizes) => {
            for (i, n) in sizes.iter().enumerate() {
                put(&mut b, BOX + 2 * i, &short((*n).into()));
            }
        }
        Traversal::Im2col { lower, upper, channels, pixels, wide } => {
            b[MODE] = match wide {
                None => 1,
                Some(Im2colWide::W) => 2,
                Some(Im2colWide::W128) => 3,
            };
            for (i, corner) in lower.iter().chain(upper).enumerate() {
                put(&mut b, CORNERS + 2 * i, &(*corner as i16).to_le_bytes());
            }
            put(&mut b, COLUMN, &short((*channels).into()));
            put(&mut b, COLUMN + 2, &short((*pixels).into()));
        }
    }
    TensorMap(b)
}

/// What the bytes describe, if they are a map and it keeps the rules.
pub(crate) fn decode(b: &[u8; 128]) -> Result<Descriptor, TensorMapError> {
    if *b == [0; 128] {
        return Err(TensorMapError::of(Field::Object, "is 128 zero bytes: nobody has made it"));
    }
    if b[..4] != TAG {
        let rule = "is none: these 128 bytes were made neither by the launch nor by `tensormap.replace`";
        return Err(TensorMapError::of(Field::Object, rule));
    }
    fn code<T: Copy>(all: &[T], code: u8, field: Field) -> Result<T, TensorMapError> {
        let unknown = || TensorMapError::of(field, format!("has the code {code}, which means nothing"));
        all.get(usize::from(code)).copied().ok_or_else(unknown)
    }
    let swizzle = Swizzle::ALL.iter().copied().find(|s| swizzle_codes(*s) == [b[SWIZZLE], b[ATOMICITY]]);
    let Some(swizzle) = swizzle else {
        let rule = format!(
            "has the code {}, which is for swizzle mode 3 (128B) only; the mode is {}",
            b[ATOMICITY], b[SWIZZLE]
        );
        return Err(TensorMapError::of(Field::SwizzleAtomicity, rule));
    };
    let traversal = match b[MODE] {
        0 => Traversal::Tile(std::array::from_fn(|i| half(b, BOX + 2 * i).into())),
        mode => Traversal::Im2col {
            lower: std::array::from_fn(|i| (half(b, CORNERS + 2 * i) as i16).into()),
            upper: std::array::from_fn(|i| (half(b, CORNERS + 6 + 2 * i) as i16).into()),
            channels: half(b, COLUMN).into(),
            pixels: half(b, COLUMN + 2).into(),
            wide: match mode {
                1 => None,
                2 => Some(Im2colWide::W),
                _ => Some(Im2colWide::W128),
            },
        },
    };
    let descriptor = Descriptor {
        address: word(b, ADDRESS),
        rank: usize::from(b[RANK]) + 1,
        element: code(ElementType::ALL, b[ELEMENT], Field::ElementType)?,
        dims: std::array::from_fn(|i| word(b, DIMS + 8 * i)),
        strides: std::array::from_fn(|i| word(b, STRIDES + 8 * i)),
        steps: std::array::from_fn(|i| half(b, STEPS + 2 * i).into()),
        interleave: code(Interleave::ALL, b[INTERLEAVE], Field::InterleaveLayout)?,
        swizzle,
        fill: code(Fill::ALL, b[FILL], Field::FillMode)?,
        traversal,
    };
    rules::check(&descriptor)?;
    Ok(descriptor)
}

/// What a copy says in place of fields of the map (PTX ISA 9.4, 9.7.10.28.5).
pub(crate) struct Override {
    /// `global_address`
    pub address: u64,
    /// `global_dim` of all dimensions, and `global_stride` of those above the first.
    pub dims: Option<([u64; 5], [u64; 4])>,
}

impl Descriptor {
    /// The description with some fields replaced, if it keeps the rules.
    pub fn with(self, new: &Override) -> Result<Descriptor, TensorMapError> {
        let mut changed = Descriptor { address: new.address, ..self };
        if let Some((dims, strides)) = new.dims {
            (changed.dims, changed.strides) = (dims, strides);
        }
        rules::check(&changed)?;
        Ok(changed)
    }
}

/// `tensormap.replace.tile` (9.7.9.26): sets a field, of the dimension `ordinal` where it has one for each. A new address is in the class of memory
/// that the instruction names: without a name it is not large, whatever it was.
pub(crate) fn replace(
    b: &mut [u8; 128],
    field: TensormapField,
    ordinal: usize,
    value: u64,
    class: Option<AllocationClass>,
) -> Result<(), TensorMapError> {
    if *b == [0; 128] {
        put(b, 0, &TAG);
    }
    if b[..4] != TAG {
        let rule = "is none: these 128 bytes are neither zeros nor a map that the launch or `tensormap.replace` made";
        return Err(TensorMapError::of(Field::Object, rule));
    }
    if b[MODE] != 0 {
        return Err(TensorMapError::of(Field::Object, "is in im2col mode, and `.tile` is written"));
    }
    let within = |field: Field, most: usize| {
        if ordinal < most {
            return Ok(ordinal);
        }
        let rule = format!("does not exist: the last one is {}", most - 1);
        Err(TensorMapError::at(field, ordinal, rule))
    };
    let byte = u8::try_from(value).unwrap_or(u8::MAX);
    match field {
        TensormapField::GlobalAddress => {
            put(b, ADDRESS, &value.to_le_bytes());
            b[CLASS] = match class {
                Some(AllocationClass::Large) => 1,
                Some(AllocationClass::Same) => b[CLASS],
                Some(AllocationClass::Small) | None => 0,
            };
        }
        TensormapField::Rank => b[RANK] = byte,
        TensormapField::BoxDim => put(b, BOX + 2 * within(Field::BoxDim, 5)?, &short(value)),
        TensormapField::GlobalDim => put(b, DIMS + 8 * within(Field::GlobalDim, 5)?, &value.to_le_bytes()),
        TensormapField::GlobalStride => {
            put(b, STRIDES + 8 * within(Field::GlobalStride, 4)?, &value.to_le_bytes());
        }
        TensormapField::ElementStride => put(b, STEPS + 2 * within(Field::ElementStride, 5)?, &short(value)),
        TensormapField::ElementType => b[ELEMENT] = byte,
        TensormapField::InterleaveLayout => b[INTERLEAVE] = byte,
        TensormapField::SwizzleMode => b[SWIZZLE] = byte,
        TensormapField::FillMode => b[FILL] = byte,
        TensormapField::SwizzleAtomicity => b[ATOMICITY] = byte,
    }
    Ok(())
}
