//! Programs that nvcc and Triton compiled give what they should, under many schedules: sorts, sums, trees on the heap, locks, calls of all
//! kinds, 128-bit numbers, the mathematical library, and Triton's kernels. Their sources are in `tests/real/src`.

use warpsmith_interp::{Arg, Buffer, Device, Launch, Plain, Program};
use warpsmith_ptx::ValidatedModule;

/// An argument of a kernel.
enum Given {
    /// A buffer with these bytes.
    Bytes(Vec<u8>),
    /// A buffer of so many zeros.
    Zeros(u64),
    Value(Arg),
}

fn buffer<T: Plain>(values: &[T]) -> Given {
    let mut bytes = Vec::new();
    values.iter().for_each(|v| v.put(&mut bytes));
    Given::Bytes(bytes)
}

/// Runs a kernel of a module of `tests/real` in the device's own order and with seeds; `check` sees the buffer of argument `out` each time.
fn run<T: Plain>(module: &str, shape: Launch, given: &[Given], out: usize, check: impl Fn(&[T])) {
    let path = format!("{}/../tests/real/{module}.ptx", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("the module is part of the repository");
    let tree = ValidatedModule::parse(&source).expect("the module is valid");
    let program = Program::load_entry(&tree, &source, &shape.entry)
        .unwrap_or_else(|errors| panic!("{module}, {}: {errors:#?}", shape.entry));
    for seed in [None, Some(1), Some(2), Some(3)] {
        let mut device = Device::new();
        let mut launch = shape.clone();
        launch.seed = seed;
        let mut result: Option<Buffer> = None;
        for (index, given) in given.iter().enumerate() {
            let buffer = match given {
                Given::Bytes(bytes) => device.upload(bytes),
                Given::Zeros(bytes) => device.alloc(*bytes),
                Given::Value(arg) => {
                    launch = launch.arg(arg.clone());
                    continue;
                }
            };
            let buffer = buffer.expect("there is room");
            result = if index == out { Some(buffer) } else { result };
            launch = launch.arg(buffer);
        }
        if let Err(fault) = device.launch(&program, &launch) {
            panic!("{module}, {}, seed {seed:?}: {fault}", shape.entry);
        }
        println!("{module}, {}, seed {seed:?}", shape.entry);
        check(&device.download(result.expect("the result is a buffer")).expect("the buffer is there"));
    }
}

/// The same kernel as nvcc compiled it for several targets, called with input, output and further arguments.
fn on_all<T: Plain>(shape: Launch, input: Given, bytes: u64, rest: Vec<Given>, check: impl Fn(&[T])) {
    let mut given = vec![input, Given::Zeros(bytes)];
    given.extend(rest);
    for build in ["nvcc/algorithms.sm_75", "nvcc/algorithms.sm_90", "nvcc/algorithms.sm_80.O0"] {
        run(build, shape.clone(), &given, 1, &check);
    }
}

fn shape(entry: &str, grid: u32, block: u32) -> Launch {
    Launch::new(entry).grid([grid, 1, 1]).block([block, 1, 1])
}

fn noise(n: u32) -> impl Iterator<Item = i32> {
    (0..n).map(|i| (i.wrapping_mul(2_654_435_761) ^ i << 7) as i32)
}

fn words(n: u32) -> Vec<i32> {
    noise(n).collect()
}

/// Numbers from -scale to scale.
fn fractions(n: u32, scale: f64) -> Vec<f64> {
    noise(n).map(|v| f64::from(v) / f64::from(i32::MAX) * scale).collect()
}

fn sorted<T: Ord + Clone>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort();
    values
}

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
    let rest = vec![Given::Zeros(28), Given::Value(3000i32.into())];
    on_all(shape("sum_of_all", 7, 128), buffer(&input), 4, rest, |out: &[i32]| {
        assert_eq!(out, [input.iter().sum::<i32>()]);
    });
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

/// Runs a kernel of Triton, which has two more parameters that nothing reads, as compiled for every target.
fn triton<T: Plain>(
    targets: &[u32],
    entry: &str,
    grid: u32,
    mut given: Vec<Given>,
    out: usize,
    check: impl Fn(&[T]),
) {
    given.extend([Given::Zeros(16), Given::Zeros(16)]);
    for target in targets {
        let module = format!("triton/{entry}.sm_{target}");
        run(&module, shape(entry, grid, 128).dynamic_shared(4096), &given, out, &check);
    }
}

const ALL: &[u32] = &[75, 80, 90, 100, 120];

#[test]
fn kernels_of_triton() {
    let (n, single) = (1500, |v: Vec<f64>| v.into_iter().map(|v| v as f32).collect::<Vec<f32>>());
    let (x, y) = (single(fractions(n, 9.0)), single(fractions(2 * n, 5.0).split_off(n as usize)));
    let sums: Vec<f32> = x.iter().zip(&y).map(|(a, b)| a + b).collect();
    let count = || Given::Value((n as i32).into());
    let given = vec![buffer(&x), buffer(&y), Given::Zeros(u64::from(n) * 4), count()];
    triton(ALL, "add", 2, given, 2, |out: &[f32]| assert_eq!(out, sums));

    let (rows, width) = (5, 300);
    let size = || Given::Value((width as i32).into());
    let softmax: Vec<f64> = x
        .chunks(width)
        .flat_map(|row| {
            let most = row.iter().copied().fold(f32::MIN, f32::max);
            let powers: Vec<f64> = row.iter().map(|v| f64::from(v - most).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(move |v| v / sum)
        })
        .collect();
    let given = vec![Given::Zeros(u64::from(n) * 4), buffer(&x), size(), size()];
    triton(ALL, "softmax", rows, given, 0, |out: &[f32]| {
        for (found, expected) in out.iter().zip(&softmax) {
            assert!((f64::from(*found) - expected).abs() < 4e-6 * expected, "{found}, not {expected}");
        }
    });

    let keys: Vec<i32> = noise(600).map(|v| v & 0xf_ffff).collect();
    let mut counts = vec![0; 64];
    keys.iter().for_each(|key| counts[(key & 63) as usize] += 1);
    // The largest index of each remainder; the kernel counts past the end of the keys there.
    counts.extend(760..768);
    let given = vec![buffer(&keys), Given::Zeros(72 * 4), Given::Value(600i32.into())];
    triton(ALL, "histogram", 3, given, 1, |out: &[i32]| assert_eq!(out, counts));

    // Each sorted running sum plus a random number from 0 to 1.
    let mut sums: Vec<f64> = x[..128]
        .iter()
        .scan(0.0, |sum, v| {
            *sum += f64::from(*v);
            Some(*sum)
        })
        .collect();
    sums.sort_by(f64::total_cmp);
    triton(ALL, "scan", 1, vec![buffer(&x[..128]), Given::Zeros(512)], 1, |out: &[f32]| {
        for (found, sum) in out.iter().zip(&sums) {
            assert!((-1e-3..1.001).contains(&(f64::from(*found) - sum)), "{found} for {sum}");
        }
    });

    let narrow: Vec<u16> = x.iter().map(|v| (v.to_bits() >> 16) as u16).collect();
    let weights = single(fractions(width as u32, 2.0));
    let value = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
    let normal: Vec<f64> = narrow
        .chunks(200)
        .take(3)
        .flat_map(|row| {
            let mean = row.iter().map(|v| value(*v)).sum::<f64>() / 200.0;
            let variance = row.iter().map(|v| (value(*v) - mean).powi(2)).sum::<f64>() / 200.0;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            row.iter().zip(&weights).map(move |(v, w)| (value(*v) - mean) * scale * f64::from(*w))
        })
        .collect();
    let given = vec![
        buffer(&narrow),
        buffer(&weights),
        Given::Zeros(3 * 200 * 2),
        Given::Value(200i32.into()),
        Given::Value(1e-5f32.into()),
    ];
    triton(ALL, "layernorm", 3, given, 2, |out: &[u16]| {
        for (found, expected) in out.iter().zip(&normal) {
            let error = (value(*found) - expected).abs();
            assert!(error <= expected.abs() * 2f64.powi(-8) + 1e-5, "{}, not {expected}", value(*found));
        }
    });
}
