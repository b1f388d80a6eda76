//! Descriptions of memory for tensor copies.

use crate::error::Error;
use crate::gpu::Gpu;
use std::ffi::c_void;

/// A tensor in memory, in the numbers of the driver's enumerations.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct TensorMap {
    /// `CUtensorMapDataType`
    pub data_type: u32,
    pub address: u64,
    /// Elements of each dimension, innermost first.
    pub sizes: Vec<u64>,
    /// Bytes from one element to the next, of all dimensions but the first.
    pub strides: Vec<u64>,
    pub element_strides: Vec<u32>,
    /// `CUtensorMapInterleave`
    pub interleave: u32,
    /// `CUtensorMapSwizzle`
    pub swizzle: u32,
    /// `CUtensorMapL2promotion`
    pub promotion: u32,
    /// `CUtensorMapFloatOOBfill`
    pub fill: u32,
    pub traversal: Traversal,
}

/// Which elements a copy takes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Traversal {
    /// A box: its sizes, innermost first.
    Box(Vec<u32>),
    /// Pixels.
    Im2col { lower: Vec<i32>, upper: Vec<i32>, channels: u32, pixels: u32 },
}

/// The object, where the driver wants it.
#[repr(align(64))]
struct Object([u8; 128]);

impl Gpu {
    /// The object of 128 bytes that a kernel takes for the tensor.
    pub fn tensor_map(&self, map: &TensorMap) -> Result<[u8; 128], Error> {
        let (rank, call) = (map.sizes.len(), "cuTensorMapEncode");
        let dims = map.element_strides.len() == rank && map.strides.len() + 1 == rank && rank <= 5;
        let corners = rank.saturating_sub(2);
        let traversal = match &map.traversal {
            Traversal::Box(sizes) => sizes.len() == rank,
            Traversal::Im2col { lower, upper, .. } => lower.len() == corners && upper.len() == corners,
        };
        if !dims || !traversal {
            return Err(Error::own(call, format!("lists that are not of {rank} dimensions")));
        }
        let mut object = Object([0; 128]);
        let place = object.0.as_mut_ptr().cast::<c_void>();
        let functions = &self.functions;
        // SAFETY: the lists have as many numbers as the rank says, which was looked at; the object has its size and alignment.
        let made = unsafe {
            match &map.traversal {
                Traversal::Box(sizes) => (functions.encode_tiled)(
                    place,
                    map.data_type,
                    rank as u32,
                    map.address,
                    map.sizes.as_ptr(),
                    map.strides.as_ptr(),
                    sizes.as_ptr(),
                    map.element_strides.as_ptr(),
                    map.interleave,
                    map.swizzle,
                    map.promotion,
                    map.fill,
                ),
                Traversal::Im2col { lower, upper, channels, pixels } => (functions.encode_im2col)(
                    place,
                    map.data_type,
                    rank as u32,
                    map.address,
                    map.sizes.as_ptr(),
                    map.strides.as_ptr(),
                    lower.as_ptr(),
                    upper.as_ptr(),
                    *channels,
                    *pixels,
                    map.element_strides.as_ptr(),
                    map.interleave,
                    map.swizzle,
                    map.promotion,
                    map.fill,
                ),
            }
        };
        self.check(call, made)?;
        Ok(object.0)
    }
}
