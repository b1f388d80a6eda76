//! What nvcc makes of `cuda::barrier`, `cuda::pipeline`, cooperative groups and clusters.

use super::*;

/// A kernel with an input and an output buffer and further arguments.
fn gives(module: &str, shape: Launch, input: &[u32], rest: &[Arg], expected: &[u32]) {
    let mut given = vec![buffer(input), Given::Zeros(4 * expected.len() as u64)];
    given.extend(rest.iter().cloned().map(Given::Value));
    run(&format!("nvcc/{module}"), shape, &given, 1, |out: &[u32]| assert_eq!(out, expected));
}

fn noise(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 8).collect()
}

fn sum(values: &[u32]) -> u32 {
    values.iter().fold(0, |sum, v| sum.wrapping_add(*v))
}

/// The weighted sum over tiles of 128 words, at a place of each.
fn weighted(input: &[u32], place: usize) -> u32 {
    let terms = input.chunks_exact(128).zip(1..).map(|(tile, weight)| tile[place].wrapping_mul(weight));
    sum(&terms.collect::<Vec<u32>>())
}

const TARGETS: [&str; 3] = ["pipelines.sm_80", "pipelines.sm_90", "pipelines.sm_120"];

#[test]
fn barriers_of_the_library() {
    let input = noise(1024);
    let expected: Vec<u32> = input.chunks(256).map(sum).collect();
    for module in TARGETS {
        gives(module, shape("barrier_sum", 4, 256), &input, &[], &expected);
    }
}

#[test]
fn pipelines_of_the_library() {
    let input = noise(9 * 128);
    let across: Vec<u32> = (0..128).map(|t| weighted(&input, t ^ 5)).collect();
    let own: Vec<u32> = (0..128).map(|t| weighted(&input, t)).collect();
    for module in TARGETS {
        gives(module, shape("pipeline_sum", 1, 128), &input, &[9u32.into()], &across);
        gives(module, shape("thread_pipeline", 1, 128), &input, &[9u32.into()], &own);
    }
}

#[test]
fn copies_of_groups() {
    let input = noise(3 * 500);
    let expected: Vec<u32> =
        input.chunks(500).flat_map(|c| c.iter().rev().map(|v| v.wrapping_add(1))).collect();
    for module in TARGETS {
        gives(module, shape("group_copy", 3, 96).dynamic_shared(2000), &input, &[500u32.into()], &expected);
    }
}

#[test]
fn clusters_share_a_histogram() {
    let input: Vec<u32> = noise(3000).iter().map(|v| v % 128).collect();
    let mut expected = vec![0u32; 128];
    input.iter().for_each(|v| expected[*v as usize] += 1);
    for module in ["clusters.sm_90", "clusters.sm_100a"] {
        let launch = shape("cluster_histogram", 4, 64).cluster([4, 1, 1]).dynamic_shared(128);
        gives(module, launch, &input, &[3000u32.into(), 32u32.into()], &expected);
    }
}

#[test]
fn clusters_pass_tiles_around() {
    let input = noise(256);
    let expected: Vec<u32> = (0..256).map(|i| input[(i + 192) % 256].wrapping_mul(10)).collect();
    for module in ["clusters.sm_90", "clusters.sm_100a"] {
        gives(module, shape("cluster_ring", 4, 64), &input, &[], &expected);
    }
}

#[test]
fn bulk_copies_in_and_out() {
    let input: Vec<u32> = (0..512).map(|i| (i as f32).to_bits()).collect();
    let expected: Vec<u32> = (0..512).map(|i| (i as f32 * 2.5).to_bits()).collect();
    for module in ["clusters.sm_90", "clusters.sm_100a"] {
        gives(module, shape("bulk_scale", 2, 256), &input, &[2.5f32.into()], &expected);
    }
}
