//! `tests/real/src/algorithms.cu`: sorts, sums, trees on the heap, locks, calls of all kinds, 128-bit numbers, the mathematical library.

use super::*;

/// The same kernel as nvcc compiled it for several targets, called with input, output and further arguments.
fn on_all<T: Plain>(shape: Launch, input: Given, bytes: u64, rest: Vec<Given>, check: impl Fn(&[T])) {
    let mut given = vec![input, Given::Zeros(bytes)];
    given.extend(rest);
    for build in BUILDS {
        run(build, shape.clone(), &given, 1, &check);
    }
}

const BUILDS: [&str; 3] = ["nvcc/algorithms.sm_75", "nvcc/algorithms.sm_90", "nvcc/algorithms.sm_80.O0"];

#[test]
fn blocks_sum_sort_and_count() {
    let input: Vec<i32> = noise(384).map(|v| v % 100).collect();
    let sums: Vec<i32> = input
        .chunks(128)
        .flat_map(|block| {
            block.iter().scan(0, |sum, v| {
                *sum += v;
                Some(*sum)
            })
        })
        .collect();
    on_all(shape("running_sums", 3, 128), buffer(&input), 384 * 4, vec![], |out: &[i32]| {
        assert_eq!(out, sums)
    });
    let input = words(512);
    on_all(shape("radix_sort", 1, 128), buffer(&input), 2048, vec![], |out: &[i32]| {
        assert_eq!(out, sorted(&input));
    });
    let few = &input[..256];
    let bitonic = shape("bitonic_sort", 1, 256).dynamic_shared(1024);
    on_all(bitonic, buffer(few), 1024, vec![], |out: &[i32]| assert_eq!(out, sorted(few)));
    let bytes: Vec<u8> = noise(512).map(|v| (v >> 9) as u8).collect();
    let count = |byte: usize| bytes.iter().filter(|b| usize::from(**b) == byte).count() as i32;
    let counts: Vec<i32> = (0..256).map(count).collect();
    on_all(shape("histogram", 1, 128), buffer(&bytes), 1024, vec![], |out: &[i32]| assert_eq!(out, counts));
}

#[test]
fn the_last_block_adds_what_all_have_left() {
    let input: Vec<i32> = noise(3000).map(|v| v % 1000).collect();
    let sum = input.iter().sum::<i32>();
    // As in the programming guide, there is a fence before the counter is read and none after: the right sum, and a data race.
    for build in BUILDS {
        let given = [buffer(&input), Given::Zeros(4), Given::Zeros(28), Given::Value(3000i32.into())];
        let shape = shape("sum_of_all", 7, 128);
        let report = run_and_report(build, shape, &given, 1, |out: &[i32]| assert_eq!(out, [sum]));
        let findings: Vec<&str> = report.lines().filter(|line| line.contains(": error[")).collect();
        assert!(!findings.is_empty());
        assert!(
            findings.iter().all(|f| f.contains(": error[W0301]: a read races with a write in global")),
            "{report}"
        );
    }
}

#[test]
fn threads_sort_with_trees_on_the_heap() {
    let input = words(32 * 40);
    let expected: Vec<i32> = input.chunks(40).flat_map(sorted).collect();
    let rest = vec![Given::Value(40i32.into())];
    on_all(shape("tree_sort", 1, 32), buffer(&input), 32 * 40 * 4, rest, |out: &[i32]| {
        assert_eq!(out, expected)
    });
}

#[test]
fn locks_and_barriers_made_of_atomics_come_to_an_end() {
    let none = || Given::Zeros(4);
    on_all(shape("counted_under_a_lock", 4, 64), none(), 4, vec![none()], |out: &[i32]| {
        assert_eq!(out, [256])
    });
    let blocks: Vec<i32> = (0..8).collect();
    let tripled: Vec<i32> = (0..64).map(|i| i % 8 * 3).collect();
    let rest = vec![none(), Given::Zeros(32)];
    on_all(shape("all_blocks_meet", 8, 32), buffer(&blocks), 256, rest, |out: &[i32]| {
        assert_eq!(out, tripled)
    });
    on_all(shape("halves_by_compare_and_swap", 2, 64), none(), 4, vec![], |out: &[u16]| {
        assert_eq!(out, [128 * 12, 0]);
    });
}

#[test]
fn calls_of_all_kinds() {
    fn ackermann(m: i32, n: i32) -> i32 {
        match (m, n) {
            (0, _) => n + 1,
            (_, 0) => ackermann(m - 1, 1),
            _ => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    let input: Vec<i32> = (0..64).map(|t| t * 7 % 23).collect();
    let expected: Vec<i32> = (0..64)
        .zip(&input)
        .flat_map(|(t, &k)| {
            let (mut values, mut scale, mut tag) = ([1, 2, 3, 4, 5], 10.0, 7i8);
            for k in [t, k] {
                values[k as usize % 5] += k;
                scale *= 1.5;
                tag ^= k as i8;
            }
            let mixed = values.iter().fold(0i32, |mixed, v| mixed.wrapping_mul(31).wrapping_add(*v));
            [
                [t + k, t * k, t - k][t as usize % 3],
                if t & 1 == 1 { t * 3 } else { t - 1000 },
                ackermann(t % 3, t % 7),
                mixed.wrapping_add(scale as i32).wrapping_add(tag.into()),
            ]
        })
        .collect();
    on_all(shape("calls", 1, 64), buffer(&input), 64 * 16, vec![], |out: &[i32]| assert_eq!(out, expected));
}

#[test]
fn loops_switches_and_local_arrays() {
    let digits = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
    let bubble = |t: usize| {
        let a = sorted(&(0..32).map(|i| digits[(i + t) & 15] * i as i32).collect::<Vec<_>>());
        a[t % 32] * 1000 + a[31 - t % 32]
    };
    let expected: Vec<i32> = (0..64).map(bubble).collect();
    let none = || Given::Zeros(4);
    on_all(shape("bubble_sort", 1, 64), none(), 256, vec![], |out: &[i32]| assert_eq!(out, expected));
    let switch = |t: i32| {
        let mut x = 0i32;
        for i in 0..40 {
            match (t * i + i) % 9 {
                0 => x = x.wrapping_add(1),
                1 => x = x.wrapping_mul(3),
                2 => x = (x ^ 0x55).wrapping_sub(7),
                3 => x = x.wrapping_sub(7),
                4 if x & 1 != 0 => {}
                4 => x /= 3,
                5 => x = !x,
                6 => x = x.wrapping_add(i),
                7 if x > 1_000_000 => return x,
                _ => x = x.wrapping_mul(5).wrapping_add(1),
            }
        }
        x
    };
    let expected: Vec<i32> = (0..64).map(switch).collect();
    on_all(shape("switches", 1, 64), none(), 256, vec![], |out: &[i32]| assert_eq!(out, expected));
}

#[test]
fn numbers_of_128_bits() {
    let mut input: Vec<u64> =
        noise(256).map(|v| (v as u64) << 32 | u64::from(v as u32 ^ 0x5bd1_e995)).collect();
    input.iter_mut().skip(3).step_by(7).for_each(|v| *v >>= 41);
    input.iter_mut().skip(2).step_by(16).for_each(|v| *v = 0);
    let expected: Vec<u64> = input
        .chunks(4)
        .zip(0u32..)
        .flat_map(|(v, t)| {
            let (x, y) =
                (u128::from(v[0]) << 64 | u128::from(v[1]), u128::from(v[2]) << 64 | u128::from(v[3]));
            [x / y, x % y, x.wrapping_mul(y), x >> (t + 20)].map(|v| [(v >> 64) as u64, v as u64]).concat()
        })
        .collect();
    on_all(shape("wide_numbers", 1, 64), buffer(&input), 64 * 64, vec![], |out: &[u64]| {
        assert_eq!(out, expected)
    });
}

/// What CUDA's library promises is a few units in the last place; the host's is as good.
#[test]
fn the_mathematical_library() {
    let functions: [fn(f64) -> f64; 16] = [
        f64::sin,
        f64::cos,
        f64::tan,
        f64::exp,
        |v| v.abs().ln(),
        |v| v.abs().powf(1.7),
        |v| v.abs().sqrt(),
        f64::cbrt,
        f64::tanh,
        f64::atan,
        f64::exp2,
        |v| v.abs().log2(),
        |v| v % 0.75,
        |v| v.hypot(3.0),
        |v| v / 3.7,
        f64::round_ties_even,
    ];
    let near = |input: &[f64], out: &[f64], epsilon: f64, functions: &[fn(f64) -> f64]| {
        for (v, results) in input.iter().zip(out.chunks(16)) {
            for (i, (f, found)) in functions.iter().zip(results).enumerate() {
                let expected = f(*v);
                let error = (found - expected).abs() / expected.abs().max(1e-3);
                assert!(
                    *found == expected || error < epsilon,
                    "function {i} of {v}: {found}, not {expected}"
                );
            }
        }
    };
    let input = fractions(64, 60.0);
    on_all(shape("functions_f64", 1, 64), buffer(&input), 64 * 128, vec![], |out: &[f64]| {
        near(&input, out, 1e-14, &functions);
    });
    let single: Vec<f32> = input.iter().map(|v| *v as f32).collect();
    let mut functions = functions;
    // Constants of the source have single precision too.
    functions[5] = |v| v.abs().powf(f64::from(1.7f32));
    functions[14] = |v| v / f64::from(3.7f32);
    let input: Vec<f64> = single.iter().copied().map(f64::from).collect();
    on_all(shape("functions_f32", 1, 64), buffer(&single), 64 * 64, vec![], |out: &[f32]| {
        let out: Vec<f64> = out.iter().copied().map(f64::from).collect();
        near(&input, &out, 1e-6, &functions);
    });
}
