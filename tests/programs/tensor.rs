//! Copies by tensor map of nvcc's and Triton's kernels.

use super::*;
use warpsmith::interp::{ElementType, Swizzle};

/// Rows of `width` elements, in boxes of `box_dim`.
fn map<T: Plain>(
    values: &[T],
    element: ElementType,
    width: u64,
    swizzle: Swizzle,
    box_dim: [u32; 2],
) -> Given {
    let Given::Bytes(bytes) = buffer(values) else { unreachable!("a buffer has bytes") };
    let size = u64::from(element.bits() / 8);
    let tensor =
        Tensor { swizzle, ..Tensor::new(element, 0, &[width, values.len() as u64 / width], &[width * size]) };
    Given::Map { bytes, tensor, box_dim: box_dim.to_vec() }
}

#[test]
fn tiles_of_the_programming_guide() {
    let given = words(64 * 32);
    let mut expected = given.clone();
    for (i, row) in (0..256).map(|i| (i, 8 + i / 16)) {
        let at = row * 64 + 32 + i % 16;
        expected[at] = expected[at].wrapping_add(i as i32);
    }
    for target in ["sm_90", "sm_100a.lineinfo"] {
        let arguments = vec![
            map(&given, ElementType::S32, 64, Swizzle::None, [16, 16]),
            Given::Value(32i32.into()),
            Given::Value(8i32.into()),
        ];
        let shape = shape("_Z6tensor14CUtensorMap_stii", 1, 256);
        run(&format!("nvcc/hopper.{target}"), shape, &arguments, 0, |out: &[i32]| assert_eq!(out, expected));
    }
}
