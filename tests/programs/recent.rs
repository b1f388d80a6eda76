//! What compilers of today make, of `tests/real/src/{sorts,launches,runtime}.cu`: collectives of CUB, copies of cooperative groups and libcu++, what
//! NVRTC makes of a program's text.

use super::*;

const SORTS: &str = "recent/nvcc.sorts.sm_90";
const LAUNCHES: [&str; 2] = ["recent/nvcc.launches.sm_90.lineinfo", "recent/nvcc.launches.sm_107a"];
const RUNTIME: [&str; 2] = ["recent/nvrtc.runtime.sm_90", "recent/nvrtc.runtime.sm_107a"];

#[test]
fn collectives_of_cub() {
    let input = words(256);
    let both: Vec<i32> = input.chunks(128).flat_map(sorted).collect();
    run(SORTS, shape("sort_blocks", 2, 64), &[buffer(&input)], 0, |out: &[i32]| assert_eq!(out, both));
    let few: Vec<i32> = noise(96).map(|v| v % 1000).collect();
    let sums: Vec<i32> = few
        .iter()
        .scan(0, |sum, v| {
            *sum += v;
            Some(*sum)
        })
        .collect();
    let given = || [buffer(&few), Given::Zeros(96 * 4), Given::Zeros(4)];
    run(SORTS, shape("scan_block", 1, 96), &given(), 1, |out: &[i32]| assert_eq!(out, sums));
    run(SORTS, shape("scan_block", 1, 96), &given(), 2, |out: &[i32]| assert_eq!(out, [sums[95]]));
    let floats: Vec<f32> = noise(128).map(|v| (v % 1000) as f32 / 8.0).collect();
    let largest = floats.iter().copied().fold(f32::MIN, f32::max);
    let given = [buffer(&floats), Given::Zeros(4)];
    run(SORTS, shape("largest", 1, 128), &given, 1, |out: &[f32]| assert_eq!(out, [largest]));
    let keys: Vec<u32> = words(64).iter().map(|v| *v as u32).collect();
    let mut ordered = keys.clone();
    ordered.sort_unstable();
    run(SORTS, shape("sort_warp", 1, 32), &[buffer(&keys)], 0, |out: &[u32]| assert_eq!(out, ordered));
}

#[test]
fn copies_of_libraries() {
    let input: Vec<i32> = (0..256).collect();
    let given = [buffer(&input), Given::Zeros(1024)];
    for module in LAUNCHES {
        let reversed: Vec<i32> = (0..64).flat_map(|i| (0..4).map(move |j| (63 - i) * 4 + j)).collect();
        run(module, shape("staged", 1, 64), &given, 1, |out: &[i32]| assert_eq!(out, reversed));
        let reversed: Vec<i32> = (0..128).rev().collect();
        run(module, shape("copied", 1, 128), &given, 1, |out: &[i32]| assert_eq!(out[..128], reversed));
        let reversed: Vec<i32> = (0..256).rev().collect();
        run(module, shape("bulk", 1, 256), &given, 1, |out: &[i32]| assert_eq!(out, reversed));
        let swapped: Vec<i32> = (32..64).chain(0..32).collect();
        let pairs = shape("swapped", 2, 32).cluster([2, 1, 1]);
        run(module, pairs, &[buffer(&input[..64])], 0, |out: &[i32]| assert_eq!(out, swapped));
        let sum = [buffer(&input[..64]), Given::Zeros(4)];
        run(module, shape("second", 1, 64), &sum, 1, |out: &[i32]| assert_eq!(out, [63 * 32]));
    }
}

#[test]
fn what_is_compiled_while_a_program_runs() {
    let x: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let sum: f32 = x.iter().map(|v| v * v).sum();
    for module in RUNTIME {
        let given = [Given::Value(2f32.into()), buffer(&x), buffer(&x), Given::Value(300i32.into())];
        run(module, shape("axpy", 3, 128), &given, 2, |out: &[f32]| {
            assert!(out.iter().zip(&x).all(|(out, x)| *out == 3.0 * x));
        });
        let given = [buffer(&x), Given::Zeros(4), Given::Value(300i32.into())];
        run(module, shape("norms", 1, 256), &given, 1, |out: &[f32]| {
            assert!((out[0] - sum.sqrt()).abs() < 0.01, "{out:?}");
        });
        let bytes: Vec<u8> = (0..200).collect();
        let given = [buffer(&bytes), Given::Value(200i32.into()), Given::Zeros(256)];
        run(module, shape("count", 2, 64), &given, 2, |out: &[u32]| {
            assert!(
                (0..64).all(|i| out[i] == bytes.iter().filter(|b| (**b & 63) as usize == i).count() as u32)
            );
        });
        let t: Vec<f64> = (0..32).map(|i| i as f64 * 100.0).collect();
        let given = [buffer(&t), Given::Zeros(256), Given::Zeros(128)];
        run(module, shape("waves", 1, 32), &given, 1, |out: &[f64]| {
            assert!(out.iter().zip(&t).all(|(out, t)| (out - (t.sin() + (-t).exp())).abs() < 1e-12));
        });
    }
}
