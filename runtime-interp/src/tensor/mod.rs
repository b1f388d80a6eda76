//! Tensor maps (PTX ISA 9.0, 5.5.8): objects of 128 bytes that describe a tensor in global memory and how copies traverse it.
//!
//! [`TensorMap`] is the object, [`Tensor`] makes one, with the checks of the driver's `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col`
//! and `cuTensorMapEncodeIm2colWide`. Its bytes are an encoding of ours (`object`): hardware's is not documented, and programs change maps
//! by `tensormap.replace` alone. Which bytes a copy moves, `tile` says.
//!
//! Arrays go from the innermost dimension outwards; strides are bytes, and the innermost dimension has none.

mod layout;
mod object;
mod rules;
pub(crate) mod tile;

pub(crate) use layout::{Run, runs};
pub(crate) use object::{CLASS, Descriptor, Override, Traversal, decode, replace};
pub use object::{Field, TensorMap, TensorMapError};

/// Defines an enum of things with names and codes.
macro_rules! named {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $text:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[doc = $vdoc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// As launch descriptions and messages write it.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }

            /// The one with a name.
            pub fn from_name(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|v| v.name() == name)
            }
        }
    };
}
pub(crate) use named;

named! {
    /// The types of a tensor's elements, in the order of the codes of `tensormap.replace` (9.7.9.26, table 33).
    ElementType {
        /// 8 bits.
        U8 = "u8",
        /// 16 bits.
        U16 = "u16",
        /// 32 bits.
        U32 = "u32",
        /// 32 bits, with a sign.
        S32 = "s32",
        /// 64 bits.
        U64 = "u64",
        /// 64 bits, with a sign.
        S64 = "s64",
        /// Half precision.
        F16 = "f16",
        /// Single precision.
        F32 = "f32",
        /// Single precision, whose subnormals become zero.
        F32Ftz = "f32.ftz",
        /// Double precision.
        F64 = "f64",
        /// bfloat16
        BF16 = "bf16",
        /// Single precision, rounded to tf32.
        TF32 = "tf32",
        /// Single precision, rounded to tf32, whose subnormals become zero.
        TF32Ftz = "tf32.ftz",
        /// 4 bits, packed in global and shared memory.
        B4x16 = "b4x16",
        /// 4 bits, packed in global memory; in shared memory sixteen of them take 16 bytes, of which 8 are padding.
        B4x16P64 = "b4x16_p64",
        /// 6 bits, packed in global memory; in shared memory sixteen take 16 bytes, of which 4 are padding. Copied to global memory,
        /// it is `.b6p2x16`: each element has a byte there, of which 2 bits are padding.
        B6x16P32 = "b6x16_p32",
    }
}

named! {
    /// How channels lie in global memory (5.5.6).
    Interleave {
        /// All channels of a pixel in a row.
        None = "none",
        /// In slices of 16 bytes.
        B16 = "16B",
        /// In slices of 32 bytes.
        B32 = "32B",
    }
}

named! {
    /// How lines of shared memory are permuted (5.5.7).
    Swizzle {
        /// Not at all.
        None = "none",
        /// Units of 16 bytes in spans of 32.
        B32 = "32B",
        /// Units of 16 bytes in spans of 64.
        B64 = "64B",
        /// Units of 16 bytes in spans of 32, for rows of up to 96 bytes.
        B96 = "96B",
        /// Units of 16 bytes in spans of 128.
        B128 = "128B",
        /// Units of 32 bytes in spans of 128.
        B128Atom32 = "128B_atom_32B",
        /// Units of 32 bytes in spans of 128, with the halves of every 16 bytes exchanged in every other line.
        B128Atom32Flip8 = "128B_atom_32B_flip_8B",
        /// Units of 64 bytes in spans of 128.
        B128Atom64 = "128B_atom_64B",
    }
}

named! {
    /// What denotes elements outside of the tensor (5.5.3.3).
    Fill {
        /// Zeros.
        Zero = "zero",
        /// The NaN that `fma.oob` looks for.
        Nan = "nan",
    }
}

named! {
    /// What the driver's interface asks of the level-2 cache, and what means nothing here.
    L2Promotion {
        /// Nothing.
        None = "none",
        /// 64 bytes.
        B64 = "64B",
        /// 128 bytes.
        B128 = "128B",
        /// 256 bytes.
        B256 = "256B",
    }
}

impl ElementType {
    /// Bits of an element in global memory.
    pub const fn bits(self) -> u32 {
        match self {
            ElementType::B4x16 | ElementType::B4x16P64 => 4,
            ElementType::B6x16P32 => 6,
            ElementType::U8 => 8,
            ElementType::U16 | ElementType::F16 | ElementType::BF16 => 16,
            ElementType::U32
            | ElementType::S32
            | ElementType::F32
            | ElementType::F32Ftz
            | ElementType::TF32
            | ElementType::TF32Ftz => 32,
            ElementType::U64 | ElementType::S64 | ElementType::F64 => 64,
        }
    }

    /// True for types that have padding in shared memory.
    pub const fn is_padded(self) -> bool {
        matches!(self, ElementType::B4x16P64 | ElementType::B6x16P32)
    }

    /// Bits of an element in shared memory.
    pub const fn shared_bits(self) -> u32 {
        if self.is_padded() { 8 } else { self.bits() }
    }

    /// True for types that have a NaN.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            ElementType::F16
                | ElementType::F32
                | ElementType::F32Ftz
                | ElementType::F64
                | ElementType::BF16
                | ElementType::TF32
                | ElementType::TF32Ftz
        )
    }
}

impl Interleave {
    /// Bytes of a slice of channels.
    pub const fn slice(self) -> Option<u32> {
        match self {
            Interleave::None => None,
            Interleave::B16 => Some(16),
            Interleave::B32 => Some(32),
        }
    }
}

/// A tensor in global memory, to be described to tensor copies.
///
/// ```
/// use warpsmith_interp::{ElementType, Swizzle, Tensor};
/// // 64 rows of 128 halves, copied in boxes of 8 rows of 64.
/// let tensor = Tensor { swizzle: Swizzle::B128, ..Tensor::new(ElementType::F16, 0x7000_0000_0000, &[128, 64], &[256]) };
/// let map = tensor.encode_tiled(&[64, 8]).unwrap();
/// assert_eq!(map.bytes().len(), 128);
/// let wide = tensor.encode_tiled(&[128, 8]).unwrap_err();
/// assert_eq!(wide.to_string(), "`box_dim[0]` is 128 elements, 256 bytes; with swizzle 128B it must be at most 128 bytes");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    /// Of its elements.
    pub data_type: ElementType,
    /// Where it starts.
    pub global_address: u64,
    /// Elements in each dimension.
    pub global_dim: Vec<u64>,
    /// Bytes from one element to the next, in each dimension but the first.
    pub global_strides: Vec<u64>,
    /// Every how many elements are copied, in each dimension; all of them if empty.
    pub element_strides: Vec<u32>,
    /// How channels lie in memory.
    pub interleave: Interleave,
    /// How lines of shared memory are permuted.
    pub swizzle: Swizzle,
    /// Means nothing here.
    pub l2_promotion: L2Promotion,
    /// What denotes elements outside of the tensor.
    pub oob_fill: Fill,
}

/// How a map for `.im2col::w` and one for `.im2col::w::128` differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Im2colWide {
    /// The map says how many pixels are copied.
    W,
    /// There are 128.
    W128,
}

impl Tensor {
    /// A tensor without interleaving, swizzle and steps, and zeros outside.
    pub fn new(
        data_type: ElementType,
        global_address: u64,
        global_dim: &[u64],
        global_strides: &[u64],
    ) -> Self {
        Tensor {
            data_type,
            global_address,
            global_dim: global_dim.to_vec(),
            global_strides: global_strides.to_vec(),
            element_strides: Vec::new(),
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            l2_promotion: L2Promotion::None,
            oob_fill: Fill::Zero,
        }
    }

    /// A map for copies of boxes: `cuTensorMapEncodeTiled`.
    pub fn encode_tiled(&self, box_dim: &[u32]) -> Result<TensorMap, TensorMapError> {
        let traversal = Traversal::Tile(self.per_dimension(Field::BoxDim, box_dim, 0)?);
        self.encode(traversal)
    }

    /// A map for copies of pixels: `cuTensorMapEncodeIm2col`. The corners are those of the dimensions between channels and images, width
    /// first: the lower one counts from the first pixel, the upper one from the last.
    pub fn encode_im2col(
        &self,
        lower_corner: &[i32],
        upper_corner: &[i32],
        channels_per_pixel: u32,
        pixels_per_column: u32,
    ) -> Result<TensorMap, TensorMapError> {
        let spatial = self.global_dim.len().saturating_sub(2);
        let corner = |field: Field, corner: &[i32]| {
            let mut all = [0; 3];
            if corner.len() != spatial || spatial > all.len() {
                let dims = self.global_dim.len();
                let rule =
                    format!("has {} elements; a tensor of {dims} dimensions needs {spatial}", corner.len());
                return Err(TensorMapError::of(field, rule));
            }
            all[..spatial].copy_from_slice(corner);
            Ok(all)
        };
        self.encode(Traversal::Im2col {
            lower: corner(Field::LowerCorner, lower_corner)?,
            upper: corner(Field::UpperCorner, upper_corner)?,
            channels: channels_per_pixel,
            pixels: pixels_per_column,
            wide: None,
        })
    }

    /// A map for copies of pixels of rows: `cuTensorMapEncodeIm2colWide`.
    pub fn encode_im2col_wide(
        &self,
        mode: Im2colWide,
        lower_corner_width: i32,
        upper_corner_width: i32,
        channels_per_pixel: u32,
        pixels_per_column: u32,
    ) -> Result<TensorMap, TensorMapError> {
        self.encode(Traversal::Im2col {
            lower: [lower_corner_width, 0, 0],
            upper: [upper_corner_width, 0, 0],
            channels: channels_per_pixel,
            pixels: pixels_per_column,
            wide: Some(mode),
        })
    }

    fn per_dimension<T: Copy>(
        &self,
        field: Field,
        values: &[T],
        default: T,
    ) -> Result<[T; 5], TensorMapError> {
        let dims = self.global_dim.len();
        let mut all = [default; 5];
        if values.len() != dims || dims > all.len() {
            let rule = format!("has {} elements; a tensor of {dims} dimensions needs {dims}", values.len());
            return Err(TensorMapError::of(field, rule));
        }
        all[..dims].copy_from_slice(values);
        Ok(all)
    }

    fn encode(&self, traversal: Traversal) -> Result<TensorMap, TensorMapError> {
        let rank = self.global_dim.len();
        if !(1..=5).contains(&rank) {
            return Err(TensorMapError::of(Field::Rank, format!("is {rank}; it must be from 1 to 5")));
        }
        let mut strides = [0; 4];
        if self.global_strides.len() != rank - 1 {
            let rule = format!(
                "has {} elements; a tensor of {rank} dimensions needs {}, since the innermost dimension has none",
                self.global_strides.len(),
                rank - 1
            );
            return Err(TensorMapError::of(Field::GlobalStride, rule));
        }
        strides[..rank - 1].copy_from_slice(&self.global_strides);
        let steps = if self.element_strides.is_empty() {
            [1; 5]
        } else {
            self.per_dimension(Field::ElementStride, &self.element_strides, 1)?
        };
        let descriptor = Descriptor {
            address: self.global_address,
            rank,
            element: self.data_type,
            dims: self.per_dimension(Field::GlobalDim, &self.global_dim, 1)?,
            strides,
            steps,
            interleave: self.interleave,
            swizzle: self.swizzle,
            fill: self.oob_fill,
            traversal,
        };
        rules::check(&descriptor)?;
        Ok(object::encode(&descriptor))
    }
}
