//! Copies by tensor map of nvcc's and Triton's kernels.

use super::*;
use warpsmith::interp::{ElementType, Swizzle};

/// Rows of `width` elements, in boxes of `box_dim`.
pub(super) fn map<T: Plain>(
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

/// Triton's products of tiles by tensor map: with `mma` on sm_120, `wgmma` on sm_90, `tcgen05` on sm_100.
#[test]
fn tiles_of_triton_are_multiplied() {
    let (n, depth) = (128, 192);
    // Whole numbers, which f16 holds and whose sums it holds, too.
    let bits = |value: i32| -> u16 {
        let single = (value as f32).to_bits();
        let bits =
            single >> 16 & 0x8000 | (((single >> 23 & 0xff).wrapping_sub(112)) << 10) | single >> 13 & 0x3ff;
        if value == 0 { 0 } else { bits as u16 }
    };
    let value = |i: usize, j: usize| ((i * 7 + j * 5 + i * j) % 5) as i32 - 2;
    let of_a: Vec<u16> = (0..n * depth).map(|at| bits(value(at / depth, at % depth))).collect();
    let of_b: Vec<u16> = (0..depth * n).map(|at| bits(value(at / n + 3, at % n))).collect();
    let expected: Vec<u16> = (0..n * n)
        .map(|at| bits((0..depth).map(|k| value(at / n, k) * value(k + 3, at % n)).sum()))
        .collect();
    let half =
        |values: &[u16], width: usize| map(values, ElementType::F16, width as u64, Swizzle::B128, [64, 64]);
    for module in
        ["triton/blocks.sm_90", "triton/blocks.sm_100", "triton/blocks.sm_120", "recent/triton.blocks.sm_100"]
    {
        let mut given = Vec::new();
        for (values, rows, width) in [(&of_a, n, depth), (&of_b, depth, n), (&vec![0; n * n], n, n)] {
            given.push(half(values, width));
            given.extend([rows, width].map(|size| Given::Value((size as i32).into())));
            given.extend([width, 1].map(|stride| Given::Value((stride as i64).into())));
        }
        given.extend([Given::Value((depth as i32).into()), Given::Zeros(16), Given::Zeros(16)]);
        let shape = Launch::new("blocks").grid([2, 2, 1]).block([128, 1, 1]).dynamic_shared(65536);
        run(module, shape, &given, 10, |out: &[u16]| assert_eq!(out, expected));
    }
}
