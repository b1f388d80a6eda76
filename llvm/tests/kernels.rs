//! What clang wrote is imported, compiled at every level and run: the IR's own meaning and the PTX, beside the values that the source asks
//! for.

use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_interp::{Arg, Device, Launch, Limits, Program};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

/// The files of a source: without optimisation, optimised, and what clang gives its optimiser.
const KERNELS: &[(&str, &[u8])] = &[
    ("kernels.O0", include_bytes!("corpus/kernels.O0.bc")),
    ("kernels.O3", include_bytes!("corpus/kernels.O3.bc")),
    ("kernels.raw", include_bytes!("corpus/kernels.raw.bc")),
];
const FEATURES: &[(&str, &[u8])] = &[
    ("features.O0", include_bytes!("corpus/features.O0.bc")),
    ("features.O3", include_bytes!("corpus/features.O3.bc")),
];

/// The module as programs: the IR's meaning, and the PTX of each level.
fn programs(name: &str, bytes: &[u8], kernel: &str) -> Vec<(String, Program)> {
    let module = Module::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let options = Options::new().with_target(Target::sm(80)).with_exports(vec![kernel.to_owned()]);
    let module = import(vec![(name.to_owned(), module)], &options).unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{name}: {}", errors.join("\n"))
    });
    if let Err(errors) = warpsmith_ir::verify(&module) {
        panic!("{name}: {errors}\n{module}");
    }
    let meaning = Program::from_ir(&module).unwrap_or_else(|errors| panic!("{name}: {errors}\n{module}"));
    let mut all = vec![(format!("{name}, meaning"), meaning)];
    for level in OptLevel::ALL {
        let compiled = Compiler::new(Target::sm(80)).with_opt_level(level).compile(&module);
        let compiled = compiled.unwrap_or_else(|errors| panic!("{name} at {level:?}: {errors}\n{module}"));
        let program =
            Program::load(&compiled.module).unwrap_or_else(|errors| panic!("{name} at {level:?}: {errors}"));
        all.push((format!("{name} at {level:?}"), program));
    }
    all
}

/// Runs a kernel of every file, at every level.
fn everywhere(files: &[(&str, &[u8])], kernel: &str, mut run: impl FnMut(&str, &Program, &mut Device)) {
    for (name, bytes) in files {
        for (how, program) in programs(name, bytes, kernel) {
            run(&how, &program, &mut Device::new());
        }
    }
}

#[test]
fn saxpy() {
    everywhere(KERNELS, "saxpy", |how, program, device| {
        let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
        let y: Vec<f32> = (0..100).map(|i| 100.0 - i as f32).collect();
        let (dx, dy) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
        let launch =
            Launch::new("saxpy").grid([2, 1, 1]).block([64, 1, 1]).arg(100i32).arg(2.0f32).arg(dx).arg(dy);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.0 * x + y).collect();
        assert_eq!(device.download::<f32>(dy).unwrap(), expected, "{how}");
    });
}

#[test]
fn sums_in_shared_memory() {
    everywhere(KERNELS, "reduce", |how, program, device| {
        let data: Vec<i32> = (0..1000).map(|i| i * 7 - 300).collect();
        let (input, output) = (device.upload(&data).unwrap(), device.upload(&[0i32]).unwrap());
        let launch = Launch::new("reduce").block([256, 1, 1]).arg(input).arg(output).arg(1000i32);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(device.download::<i32>(output).unwrap(), [data.iter().sum::<i32>()], "{how}");
    });
}

#[test]
fn constant_memory() {
    everywhere(KERNELS, "polynomial", |how, program, device| {
        let x: Vec<f32> = vec![0.0, 1.0, 2.0, -3.0];
        let (input, output) = (device.upload(&x).unwrap(), device.upload(&[0f32; 4]).unwrap());
        let launch = Launch::new("polynomial").block([4, 1, 1]).arg(input).arg(output).arg(4i32);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let expected: Vec<f32> = x.iter().map(|x| ((0.5 * x - 1.0) * x + 2.0) * x + 0.25).collect();
        assert_eq!(device.download::<f32>(output).unwrap(), expected, "{how}");
    });
}

#[test]
fn structs_as_parameters() {
    everywhere(KERNELS, "pairs", |how, program, device| {
        // Two pairs: key, weight, tag, padding.
        let pair = |key: i64, weight: f32, tag: u8| {
            let mut bytes = key.to_le_bytes().to_vec();
            bytes.extend(weight.to_le_bytes());
            bytes.extend([tag, 0, 0, 0]);
            bytes
        };
        let input = [pair(5, 1.5, 7), pair(-9, 4.5, 250)].concat();
        let (from, to) = (device.upload(&input).unwrap(), device.upload(&[0u8; 32]).unwrap());
        let seed = pair(3, 2.5, 10);
        let launch = Launch::new("pairs").block([2, 1, 1]).arg(from).arg(to).arg(2i32).arg(Arg::bytes(seed));
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let out = device.download::<u8>(to).unwrap();
        let expected = [pair(5 ^ (3 << 3), 2.5, 17), pair(-9 ^ (3 << 3), 4.5, 4)];
        for (n, expected) in expected.iter().enumerate() {
            assert_eq!(out[n * 16..n * 16 + 13], expected[..13], "{how}, pair {n}");
        }
    });
}

#[test]
fn atomics_of_cuda() {
    everywhere(KERNELS, "histogram", |how, program, device| {
        let data: Vec<u8> = (0..96).map(|i| (i * i % 8) as u8).collect();
        let (input, bins) = (device.upload(&data).unwrap(), device.upload(&[0u32; 8]).unwrap());
        let launch =
            Launch::new("histogram").grid([3, 1, 1]).block([32, 1, 1]).arg(input).arg(bins).arg(96i32);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let expected: Vec<u32> =
            (0..8).map(|bin| data.iter().filter(|v| **v == bin).count() as u32).collect();
        assert_eq!(device.download::<u32>(bins).unwrap(), expected, "{how}");
    });
}

#[test]
fn shuffles() {
    everywhere(KERNELS, "warp_sum", |how, program, device| {
        let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
        let (input, output) = (device.upload(&x).unwrap(), device.upload(&[0f32; 2]).unwrap());
        let launch = Launch::new("warp_sum").block([64, 1, 1]).arg(input).arg(output);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(device.download::<f32>(output).unwrap(), [496.0, 1520.0], "{how}");
    });
}

#[test]
fn switches() {
    everywhere(KERNELS, "dispatch", |how, program, device| {
        let ops = [0i32, 1, 2, 3, 3, 7, 100, 55];
        let a = [5i32, 5, -6, 100, 7, 3, 255, 1];
        let b = [9i32, 9, 7, -7, 0, 33, 8, 1];
        let mut buffer = |data: &[i32]| device.upload(data).unwrap();
        let (dops, da, db, out) = (buffer(&ops), buffer(&a), buffer(&b), buffer(&[0; 8]));
        let launch = Launch::new("dispatch").block([8, 1, 1]).arg(dops).arg(da).arg(db).arg(out).arg(8i32);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(device.download::<i32>(out).unwrap(), [14, -4, -42, -14, -1, 6, 8 + 28, 0], "{how}");
    });
}

/// Runs a kernel on one buffer of 64-bit words.
fn words(kernel: &str, input: &[u64]) -> Vec<(String, Vec<u64>)> {
    let mut all = Vec::new();
    everywhere(FEATURES, kernel, |how, program, device| {
        let buffer = device.upload(input).unwrap();
        let launch = Launch::new(kernel).block([1, 1, 1]).arg(buffer);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        all.push((how.to_owned(), device.download::<u64>(buffer).unwrap()));
    });
    all
}

#[test]
fn bit_fields() {
    let mut input = vec![37, 0x1f_ffff_ffff, 0x12345, 3];
    input.resize(8, 0);
    // b: 37 bits, a: 5, c: 22, d: 3 with a sign.
    let a = 37 & 31;
    let b = (0x1f_ffff_ffffu64 + a) & ((1 << 37) - 1);
    let c = (0x12345 ^ (b >> 7)) & ((1 << 22) - 1);
    for (how, out) in words("bits", &input) {
        assert_eq!(out[4..8], [a, b, c, 1], "{how}");
    }
}

#[test]
fn integers_of_128_bits() {
    let cases = [
        [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0x8000_0000_0000_0001, 0x0f0f_0f0f_0f0f_0f0f],
        [0, 64, 0, 0],
        [u64::MAX, u64::MAX - 63, u64::MAX, 65],
    ];
    for case in cases {
        let mut input = case.to_vec();
        input.resize(16, 0);
        let a = u128::from(case[0]) << 64 | u128::from(case[1]);
        let b = u128::from(case[2]) << 64 | u128::from(case[3]);
        let shifts = a >> (case[3] & 127) ^ b << (case[1] & 127);
        let signed = a.cast_signed() >> (case[2] & 127);
        let mut expected = Vec::new();
        for value in [a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), shifts] {
            expected.extend([(value >> 64) as u64, value as u64]);
        }
        expected.extend([u64::from(a < b), u64::from(a.cast_signed() < b.cast_signed())]);
        expected.extend([(signed >> 64) as u64, signed as u64]);
        for (how, out) in words("wide", &input) {
            assert_eq!(out[4..], expected, "{how}: {case:x?}");
        }
    }
}

#[test]
fn vectors() {
    everywhere(FEATURES, "vectors", |how, program, device| {
        let (a, b) = ([1i32, -2, 3, 4], [10i32, 20, -30, 40]);
        let mut ints = [a, b].concat();
        ints.resize(16, 0);
        ints[15] = 6;
        let floats = [1.0f32, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let (p, f) = (device.upload(&ints).unwrap(), device.upload(&floats).unwrap());
        let launch = Launch::new("vectors").block([1, 1, 1]).arg(p).arg(f);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let mut c: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a * b + a.max(b)).collect();
        c.reverse();
        let out = device.download::<i32>(p).unwrap();
        assert_eq!(out[8..12], c, "{how}");
        assert_eq!(out[12], a[2], "{how}");
        assert_eq!(device.download::<f32>(f).unwrap()[4..7], [5.0, 5.0, 8.0], "{how}");
    });
}

#[test]
fn atomics_of_c() {
    everywhere(FEATURES, "atomics", |how, program, device| {
        let (p, q, s) = (
            device.upload(&[1i32; 9]).unwrap(),
            device.upload(&[5u64, 0]).unwrap(),
            device.upload(&[7i16, 0]).unwrap(),
        );
        let launch = Launch::new("atomics").block([1, 1, 1]).arg(p).arg(q).arg(s);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let nand = !(11 & 3);
        assert_eq!(device.download::<i32>(p).unwrap(), [nand, 1, 6, 1, 9, 0, 11, 11, nand], "{how}");
        assert_eq!(device.download::<u64>(q).unwrap(), [77, 5], "{how}");
        assert_eq!(device.download::<i16>(s).unwrap(), [10, 7], "{how}");
    });
}

#[test]
fn aggregates() {
    everywhere(FEATURES, "aggregates", |how, program, device| {
        let bits = 1.5f32.to_bits().cast_signed();
        let p = device.upload(&[9, bits, 0, 0, 0, 0]).unwrap();
        let launch = Launch::new("aggregates").block([1, 1, 1]).arg(p);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let out = device.download::<i32>(p).unwrap();
        assert_eq!(out[2..], [9, bits + 0x1_0000, i32::from(b'c') + i32::from(b'e'), 1], "{how}");
    });
}

#[test]
fn checked_arithmetic() {
    for (x, y, a, b) in [(i32::MAX, 1, 3u64, 5u64), (-70_000, 70_000, u64::MAX, 2), (6, 7, 1 << 40, 1 << 30)]
    {
        everywhere(FEATURES, "checked", |how, program, device| {
            let (p, q) = (
                device.upload(&[x, y, 0, 0, 0, 0]).unwrap(),
                device.upload(&[a, b, 0, 0, 0, 0, 0, 0]).unwrap(),
            );
            let launch = Launch::new("checked").block([1, 1, 1]).arg(p).arg(q);
            device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
            let (sum, product) = (x.overflowing_add(y), x.overflowing_mul(y));
            let expected = [x, y, sum.1.into(), sum.0, product.1.into(), product.0];
            assert_eq!(device.download::<i32>(p).unwrap(), expected, "{how}");
            let (less, product) = (a.overflowing_sub(b), a.overflowing_mul(b));
            let swapped = [a.swap_bytes(), b.rotate_left(a as u32 & 63)];
            let expected = [a, b, less.1.into(), less.0, product.1.into(), product.0, swapped[0], swapped[1]];
            assert_eq!(device.download::<u64>(q).unwrap(), expected, "{how}");
        });
    }
}

const MORE: &[(&str, &[u8])] =
    &[("more.O0", include_bytes!("corpus/more.O0.bc")), ("more.O3", include_bytes!("corpus/more.O3.bc"))];

#[test]
fn division_of_128_bits() {
    for case in
        [[1u64 << 40, 77, 0, 3 << 50], [u64::MAX, 5, 0x8000_0000_0000_0000, 9], [0, 1000, 0, 7], [9, 9, 1, 0]]
    {
        let mut input = case.to_vec();
        input.resize(12, 0);
        let a = u128::from(case[0]) << 64 | u128::from(case[1]);
        let b = u128::from(case[2]) << 64 | u128::from(case[3]);
        let (sa, sb) = (a.cast_signed(), b.cast_signed());
        let mut expected = Vec::new();
        for value in [a / b, a % b, (sa / sb).cast_unsigned(), (sa % sb).cast_unsigned()] {
            expected.extend([(value >> 64) as u64, value as u64]);
        }
        everywhere(MORE, "divide", |how, program, device| {
            let p = device.upload(&input).unwrap();
            device
                .launch(program, &Launch::new("divide").block([1, 1, 1]).arg(p))
                .unwrap_or_else(|f| panic!("{how}: {f}"));
            assert_eq!(device.download::<u64>(p).unwrap()[4..], expected, "{how}: {case:x?}");
        });
    }
}

#[test]
fn wide_integers_and_floats() {
    for (high, low, float) in [
        (0u64, 12345u64, 3.75e30f64),
        (1 << 60, 0xffff, 1.0),
        (u64::MAX, u64::MAX, 2e18),
        (3, (1 << 63) + 1, 0.5),
    ] {
        let value = u128::from(high) << 64 | u128::from(low);
        everywhere(MORE, "convert", |how, program, device| {
            let p = device.upload(&[high, low, 0, 0, 0, 0]).unwrap();
            let d = device.upload(&[float, 0.0, 0.0, 0.0]).unwrap();
            let launch = Launch::new("convert").block([1, 1, 1]).arg(p).arg(d);
            device.launch(program, &launch).unwrap_or_else(|f| panic!("{how}: {f}"));
            let floats = device.download::<f64>(d).unwrap();
            assert_eq!(
                floats[1..],
                [value as f64, value.cast_signed() as f64, f64::from(value as f32)],
                "{how}: {value:x}"
            );
            let (b, c) = (float as u128, (-float as i128).cast_unsigned());
            let words = [(b >> 64) as u64, b as u64, (c >> 64) as u64, c as u64];
            assert_eq!(device.download::<u64>(p).unwrap()[2..], words, "{how}: {float}");
        });
    }
}

#[test]
fn remainders_of_floats() {
    for (x, y) in [(10.5f64, 3.0f64), (-1e300, 7e-3), (5e-324, 3e-310), (1.0, f64::INFINITY), (-8.0, 4.0)] {
        everywhere(MORE, "remainders", |how, program, device| {
            let d = device.upload(&[x, y, 0.0]).unwrap();
            let f = device.upload(&[x as f32, y as f32, 0.0]).unwrap();
            let launch = Launch::new("remainders").block([1, 1, 1]).arg(d).arg(f);
            device.launch(program, &launch).unwrap_or_else(|f| panic!("{how}: {f}"));
            assert_eq!(
                device.download::<f64>(d).unwrap()[2].to_bits(),
                (x % y).to_bits(),
                "{how}: {x} % {y}"
            );
            let (expected, found) = (x as f32 % y as f32, device.download::<f32>(f).unwrap()[2]);
            assert!(
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                "{how}: {x} % {y}"
            );
        });
    }
}

#[test]
fn variable_arguments() {
    everywhere(MORE, "variadic", |how, program, device| {
        let p = device.upload(&[40i32, 0]).unwrap();
        device
            .launch(program, &Launch::new("variadic").block([1, 1, 1]).arg(p))
            .unwrap_or_else(|f| panic!("{how}: {f}"));
        assert_eq!(device.download::<i32>(p).unwrap()[1], 40 + 2 + 7 + 30, "{how}");
    });
}

#[test]
fn inline_assembly() {
    for (x, y) in [(5i32, 9i32), (9, 5)] {
        everywhere(MORE, "assembly", |how, program, device| {
            let (p, q) =
                (device.upload(&[x, y, 0, 0, 0, 0, 0]).unwrap(), device.upload(&[1u64 << 40]).unwrap());
            let launch = Launch::new("assembly").block([1, 1, 1]).arg(p).arg(q);
            device.launch(program, &launch).unwrap_or_else(|f| panic!("{how}: {f}"));
            let least = if x < y { x + 100 } else { y };
            let mut n = x;
            while {
                n += 3;
                n < 20
            } {}
            assert_eq!(device.download::<i32>(p).unwrap()[2..], [least, x * y, n, 0, 42], "{how}");
            assert_eq!(device.download::<u64>(q).unwrap(), [(1 << 40) + x as u64 * 7], "{how}");
        });
    }
}

#[test]
fn odd_widths_and_blocks_of_memory() {
    everywhere(MORE, "oddities", |how, program, device| {
        let (x, y) = (123_456i32, 77i32);
        let (p, f) =
            (device.upload(&[x, y, 0, 0, 0, 0, 0]).unwrap(), device.upload(&[-2.5f32, 0.0, 0.0]).unwrap());
        let launch = Launch::new("oddities").block([1, 1, 1]).arg(p).arg(f);
        device.launch(program, &launch).unwrap_or_else(|f| panic!("{how}: {f}"));
        let product = i64::from(x) * i64::from(y) + 12345;
        // To 21 bits of 121: what was shifted out above is gone.
        let wide = ((i128::from(x) << 107 >> 7) + i128::from(y)) >> 98;
        let counts = (x as u64).leading_zeros() + y.trailing_zeros() + (x as u64).count_ones();
        let out = device.download::<i32>(p).unwrap();
        assert_eq!(out[2..6], [(product >> 5) as i32, (x + 5) & 7, wide as i32, counts as i32], "{how}");
        assert_eq!(out[6], 9 + 77 + 77, "{how}");
        assert_eq!(device.download::<f32>(f).unwrap()[1..], [-3.0 + -3.0 + -2.0 + -2.0, 4.0], "{how}");
    });
}

/// Programs of csmith: what the kernel stores is what the program printed on the host, compiled by gcc.
#[test]
fn random_programs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/csmith");
    // More of them, which `make.sh` there makes.
    let folder = std::env::var_os("WARPSMITH_CSMITH").map_or(folder, Into::into);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|it| it == "bc")).collect();
    assert!(paths.len() > 2, "{} programs", paths.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            random_program(path);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    println!("{} modules of csmith leave what gcc's programs printed", paths.len());
}

fn random_program(path: &std::path::Path) {
    let name = path.file_stem().unwrap().to_string_lossy();
    let expected = u32::from_str_radix(name.rsplit_once('-').unwrap().1, 16).unwrap();
    let bytes = std::fs::read(path).unwrap();
    for (how, program) in programs(&name, &bytes, "kernel") {
        // The IR's meaning gives each variable memory of its own, as no compiler does.
        let mut limits = Limits::default();
        limits.stack = 4 << 20;
        let mut device = Device::new();
        let out = device.upload(&[0u32]).unwrap();
        let launch = Launch::new("kernel").block([1, 1, 1]).limits(limits).arg(out);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(device.download::<u32>(out).unwrap(), [expected], "{how}");
    }
}

const TABLES: &[(&str, &[u8])] = &[
    ("tables.O0", include_bytes!("corpus/tables.O0.bc")),
    ("tables.O3", include_bytes!("corpus/tables.O3.bc")),
];

#[test]
fn initialisers_that_hold_addresses() {
    everywhere(TABLES, "tables", |how, program, device| {
        let p = device.upload(&[7i32, 3, 1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        device
            .launch(program, &Launch::new("tables").block([1, 1, 1]).arg(p))
            .unwrap_or_else(|f| panic!("{how}: {f}"));
        let letters = [b'e', b'n', b'w'].map(i32::from);
        let expected = [7, 3, 1, 10, 4, 21, letters[0], letters[1], letters[2], 47];
        assert_eq!(device.download::<i32>(p).unwrap(), expected, "{how}");
    });
}

const ASSEMBLY: &[(&str, &[u8])] = &[
    ("assembly.O0", include_bytes!("corpus/assembly.O0.bc")),
    ("assembly.O3", include_bytes!("corpus/assembly.O3.bc")),
];

#[test]
fn assembly_that_names_variables() {
    everywhere(ASSEMBLY, "assembly", |how, program, device| {
        let p = device.upload(&[42u32, 6, 0, 0, 0, 0, 0]).unwrap();
        device
            .launch(program, &Launch::new("assembly").block([1, 1, 1]).arg(p))
            .unwrap_or_else(|f| panic!("{how}: {f}"));
        assert_eq!(device.download::<u32>(p).unwrap(), [42, 6, 42, 7, 5, 32, 5], "{how}");
    });
}
