//! `.im2col` and its like, against lists of pixels.

use super::*;
use warpsmith_interp::Im2colWide;

/// An image of `dims` pixels (width, height, ..., images) of 8 channels of 16 bits; channel `c` of pixel `p` is `8 p + c + 1`.
struct Images {
    dims: Vec<usize>,
}

impl Images {
    fn data(&self) -> Vec<u8> {
        let pixels: usize = self.dims.iter().product();
        (0..pixels * 8).flat_map(|i| (i as u16 + 1).to_le_bytes()).collect()
    }

    fn tensor(&self, address: u64, steps: &[u32]) -> Tensor {
        let mut dims = vec![8];
        let mut strides = Vec::new();
        let mut stride = 16;
        for n in &self.dims {
            strides.push(stride);
            stride *= *n as u64;
            dims.push(*n as u64);
        }
        let element_strides = std::iter::once(1).chain(steps.iter().copied()).collect();
        Tensor { element_strides, ..Tensor::new(ElementType::U16, address, &dims, &strides) }
    }

    /// The bytes of pixels, zeros for those outside.
    fn pixels(&self, pixels: &[Vec<i64>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for pixel in pixels {
            let inside = pixel.iter().zip(&self.dims).all(|(x, n)| (0..*n as i64).contains(x));
            let number = pixel.iter().zip(&self.dims).rev().fold(0, |at, (x, n)| at * *n as i64 + x);
            for c in 0..8 {
                let value = if inside { number * 8 + c + 1 } else { 0 };
                bytes.extend((value as u16).to_le_bytes());
            }
        }
        bytes
    }

    fn case(&self, coordinates: &[i32]) -> Case {
        Case {
            element: ElementType::U16,
            dims: Vec::new(),
            strides: Vec::new(),
            box_dim: Vec::new(),
            steps: Vec::new(),
            swizzle: Swizzle::None,
            fill: Fill::Zero,
            coordinates: std::iter::once(0).chain(coordinates.iter().copied()).collect(),
            offset: 0,
        }
    }
}

/// All pixels of all images from one on, in the order in which a box is walked.
fn walk(images: std::ops::Range<i64>, axes: &[(std::ops::RangeInclusive<i64>, usize)]) -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> = images.map(|n| vec![n]).collect();
    for (range, step) in axes.iter().rev() {
        let axis: Vec<i64> = range.clone().step_by(*step).collect();
        all = all
            .iter()
            .flat_map(|outer| axis.iter().map(|x| std::iter::once(*x).chain(outer.iter().copied()).collect()))
            .collect();
    }
    all
}

#[test]
fn pixels_walk_through_the_box() {
    // Width, height and images; corners; steps; where it starts; offsets.
    type Example = (Vec<usize>, Vec<i32>, Vec<i32>, Vec<u32>, Vec<i32>, [u16; 3], u32);
    let examples: Vec<Example> = vec![
        // A 4 x 4 image, whole, and padded on two sides.
        (vec![4, 4, 1], vec![0, 0], vec![0, 0], vec![1, 1, 1], vec![0, 0, 0], [0; 3], 16),
        (vec![4, 4, 1], vec![-1, -1], vec![-1, -1], vec![1, 1, 1], vec![-1, -1, 0], [0; 3], 16),
        // From the middle of a row, over the end of an image, with the offsets of a filter.
        (vec![5, 4, 3], vec![-1, -1], vec![-1, -1], vec![1, 1, 1], vec![2, 1, 0], [2, 1, 0], 40),
        // Steps of two, and on past the last image.
        (vec![9, 8, 2], vec![-1, -1], vec![-1, -1], vec![2, 2, 1], vec![1, 3, 0], [1, 1, 0], 48),
        // Three dimensions, and one.
        (
            vec![3, 3, 2, 2],
            vec![-1, 0, -1],
            vec![0, -1, 0],
            vec![1, 2, 1, 1],
            vec![0, 0, 0, 0],
            [1, 0, 1],
            30,
        ),
        (vec![7, 3], vec![-2], vec![1], vec![3, 1], vec![1, 1], [1, 0, 0], 12),
    ];
    for (dims, lower, upper, steps, start, offsets, pixels) in examples {
        let images = Images { dims: dims.clone() };
        let spatial = dims.len() - 1;
        let axes: Vec<_> = (0..spatial)
            .map(|i| {
                let low = i64::from(lower[i]) + i64::from(offsets[i]);
                let high = dims[i] as i64 - 1 + i64::from(upper[i]) + i64::from(offsets[i]);
                (low..=high, steps[i] as usize)
            })
            .collect();
        let first: Vec<i64> = (0..=spatial)
            .map(|i| i64::from(start[i]) + if i < spatial { i64::from(offsets[i]) } else { 0 })
            .collect();
        let all = walk(i64::from(start[spatial])..20, &axes);
        let at = all.iter().position(|p| *p == first).expect("the start is on the walk");
        let expected = images.pixels(&all[at..at + pixels as usize]);
        let case = images.case(&start);
        let info: Vec<String> = (0..spatial).map(|i| format!("%o{i}")).collect();
        let program = load_kernel(&case, ".im2col", &format!(", {{{}}}", info.join(", ")));
        let map = |address| images.tensor(address, &steps).encode_im2col(&lower, &upper, 8, pixels).unwrap();
        let found = load_tile(&program, &case, &images.data(), (expected.len(), offsets), map).unwrap();
        assert_eq!(found[..expected.len()], expected, "{dims:?} {lower:?} {upper:?} {steps:?} {start:?}");
        assert!(found[expected.len()..].iter().all(|b| *b == POISON));
    }
}

#[test]
fn pixels_are_stored_within_the_images() {
    let images = Images { dims: vec![4, 3, 2] };
    let case = images.case(&[2, 1, 0]);
    let program = store_kernel(&case, STORE_TENSOR, ".im2col_no_offs");
    let map = |address| images.tensor(address, &[1, 1, 1]).encode_im2col(&[0, 0], &[0, 0], 8, 30).unwrap();
    let shared: Vec<u8> = (0..SHARED).map(|i| (i % 249) as u8).collect();
    let data = images.data();
    let found = store_tile(&program, &case, &data, &shared, map).unwrap();
    let mut expected = data.clone();
    let first = (4 + 2) * 16;
    let rest = data.len() - first;
    expected[first..].copy_from_slice(&shared[..rest]);
    assert_eq!(found, expected);
}

#[test]
fn rows_of_pixels_have_a_halo() {
    let images = Images { dims: vec![11, 4, 40] };
    let (halo, offset) = (2u16, 1u16);
    let case = images.case(&[3, 2, 5]);
    for (mode, name, count, every) in
        [(Im2colWide::W, ".im2col::w", 24u32, 24), (Im2colWide::W128, ".im2col::w::128", 128, 32)]
    {
        let mut expected = Vec::new();
        // Along the width within the box, from image to image.
        let (mut x, mut n) = (3 + 1, 5);
        for i in 1..=count {
            expected.push(vec![x, 2, n]);
            if i % every == 0 {
                expected.extend((1..=i64::from(halo)).map(|h| vec![x + h, 2, n]));
            }
            (x, n) = if x + 1 > 10 - 1 + 1 { (-1 + 1, n + 1) } else { (x + 1, n) };
        }
        let expected = images.pixels(&expected);
        let program = load_kernel(&case, name, ", {%o0, %o1}");
        let map = |address| {
            let tensor = Tensor { swizzle: Swizzle::B64, ..images.tensor(address, &[1, 1, 1]) };
            tensor.encode_im2col_wide(mode, -1, -1, 8, count).unwrap()
        };
        let found =
            load_tile(&program, &case, &images.data(), (expected.len(), [halo, offset, 0]), map).unwrap();
        let case = Case { swizzle: Swizzle::B64, ..case.clone() };
        assert_eq!(case.dense(&found, expected.len()), expected, "{name}");
    }
}
