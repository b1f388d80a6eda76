//! Tensor maps: descriptions of memory for tensor copies.

use crate::error::Error;
use crate::ffi::{In, Out, Pointer, api};
use warpsmith::interp::cuda::{ELEMENT_TYPES, FILLS, INTERLEAVES, PROMOTIONS, SWIZZLES, WIDE_MODES};
use warpsmith::interp::{Tensor, TensorMap};

fn of<T: Copy>(list: &[T], number: u32, what: &str) -> Result<T, Error> {
    list.get(number as usize)
        .copied()
        .ok_or_else(|| Error::value(format!("{number} is not a valid {what} of a tensor map")))
}

/// What all kinds of maps say of a tensor.
struct Parts {
    data_type: u32,
    rank: u32,
    address: Pointer,
    sizes: In<u64>,
    strides: In<u64>,
    steps: In<u32>,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
}

impl Parts {
    fn tensor(self) -> Result<Tensor, Error> {
        let rank = self.rank as usize;
        if !(1..=5).contains(&rank) {
            return Err(Error::value(format!("a tensor of {rank} dimensions")));
        }
        let data_type = of(&ELEMENT_TYPES, self.data_type, "type")?;
        let strides = self.strides.list(rank - 1)?;
        let mut tensor = Tensor::new(data_type, self.address.address(), &self.sizes.list(rank)?, &strides);
        tensor.element_strides = self.steps.list(rank)?;
        tensor.interleave = of(&INTERLEAVES, self.interleave, "layout")?;
        tensor.swizzle = of(&SWIZZLES, self.swizzle, "swizzle")?;
        tensor.l2_promotion = of(&PROMOTIONS, self.promotion, "promotion")?;
        tensor.oob_fill = of(&FILLS, self.fill, "fill")?;
        Ok(tensor)
    }
}

fn give(
    answer: Out<[u8; 128]>,
    map: Result<TensorMap, warpsmith::interp::TensorMapError>,
) -> Result<(), Error> {
    answer.set(*map.map_err(|error| Error::value(error.to_string()))?.bytes())
}

api! {
    fn cuTensorMapEncodeTiled(
        map: Out<[u8; 128]>,
        data_type: u32,
        rank: u32,
        address: Pointer,
        sizes: In<u64>,
        strides: In<u64>,
        boxes: In<u32>,
        steps: In<u32>,
        interleave: u32,
        swizzle: u32,
        promotion: u32,
        fill: u32,
    ) {
        map.check()?;
        let parts =
            Parts { data_type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill };
        let tensor = parts.tensor()?;
        give(map, tensor.encode_tiled(&boxes.list(rank as usize)?))
    }

    fn cuTensorMapEncodeIm2col(
        map: Out<[u8; 128]>,
        data_type: u32,
        rank: u32,
        address: Pointer,
        sizes: In<u64>,
        strides: In<u64>,
        lower: In<i32>,
        upper: In<i32>,
        channels: u32,
        pixels: u32,
        steps: In<u32>,
        interleave: u32,
        swizzle: u32,
        promotion: u32,
        fill: u32,
    ) {
        map.check()?;
        let parts =
            Parts { data_type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill };
        let tensor = parts.tensor()?;
        let corners = (rank as usize).saturating_sub(2);
        let (lower, upper) = (lower.list(corners)?, upper.list(corners)?);
        give(map, tensor.encode_im2col(&lower, &upper, channels, pixels))
    }

    fn cuTensorMapEncodeIm2colWide(
        map: Out<[u8; 128]>,
        data_type: u32,
        rank: u32,
        address: Pointer,
        sizes: In<u64>,
        strides: In<u64>,
        lower: i32,
        upper: i32,
        channels: u32,
        pixels: u32,
        steps: In<u32>,
        interleave: u32,
        mode: u32,
        swizzle: u32,
        promotion: u32,
        fill: u32,
    ) {
        map.check()?;
        let parts =
            Parts { data_type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill };
        let tensor = parts.tensor()?;
        give(map, tensor.encode_im2col_wide(of(&WIDE_MODES, mode, "mode")?, lower, upper, channels, pixels))
    }
}
