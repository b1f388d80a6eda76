//! OpenCL's built-in functions: what `corpus/opencl.cl` leaves, by clang without optimisation and with it, as the IR means it and as PTX of every level.

mod images;
mod lanes;

use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

/// Every way to run the kernels, with a name for it.
fn programs() -> Vec<(String, Program)> {
    programs_of([include_bytes!("../corpus/opencl.O0.bc"), include_bytes!("../corpus/opencl.O3.bc")])
}

fn programs_of(files: [&[u8]; 2]) -> Vec<(String, Program)> {
    let mut all = Vec::new();
    for (level, bytes) in ["O0", "O3"].into_iter().zip(files) {
        let module = Module::read(bytes).unwrap();
        // Nothing is left undefined.
        let options = Options::new().with_target(Target::sm(80)).with_closed(true);
        let module = import(vec![("opencl.bc".to_owned(), module)], &options)
            .unwrap_or_else(|errors| panic!("{errors:?}"));
        warpsmith_ir::verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
        all.push((format!("{level}, meaning"), Program::from_ir(&module).unwrap()));
        for opt in OptLevel::ALL {
            let compiled = Compiler::new(Target::sm(80)).with_opt_level(opt).compile(&module).unwrap();
            all.push((format!("{level}, {opt:?}"), Program::load(&compiled.module).unwrap()));
        }
    }
    all
}

/// Compares what a buffer holds from an element on, and says which it was.
fn same<T: PartialEq + std::fmt::Debug>(how: &str, what: &str, found: &[T], at: usize, expected: &[T]) {
    assert_eq!(&found[at..at + expected.len()], expected, "{how}: {what}[{at}]");
}

#[test]
fn work_items() {
    for (how, program) in programs() {
        let mut device = Device::new();
        let out = device.upload(&[1u32; 33]).unwrap();
        // Groups of 4 by 2 items, 2 by 2 of them.
        let launch = Launch::new("work_items").grid([2, 2, 1]).block([4, 2, 1]).dynamic_shared(32);
        let launch = launch.arg(out).arg(0u64);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let found = device.download::<u32>(out).unwrap();
        for (y, x) in (0..4).flat_map(|y| (0..8).map(move |x| (y, x))) {
            let (group_x, group_y, local) = (x / 4, y / 2, x % 4 + y % 2 * 4);
            // The item that is as far from the end of the group.
            let other = 7 - local;
            let id = group_x * 4 + other % 4 + (group_y * 2 + other / 4) * 8;
            let expected = id * 3 + 1000 * group_y + 20000 + 200000 + 2 * 1_000_000 + 10_000_000;
            assert_eq!(found[1 + x as usize + y as usize * 8], expected, "{how}: {x}, {y}");
        }
    }
}

#[test]
fn integers() {
    let x = [5, -7, 1 << 30, i32::MIN];
    let y = [3, -20, 0x4000_0001, -1];
    let z = [100, -4, 77, i32::MAX];
    let (b, c): ([u8; 3], [i64; 3]) = ([200, 77, 3], [-9_000_000_000_000_000_000, 1_234_567_890_123, 55]);
    let s = [-300i16, 200, -5];
    let of = |f: &dyn Fn(i32, i32, i32) -> i32| [0, 1, 2, 3].map(|n| f(x[n], y[n], z[n]));
    let wide = |x: i32| i64::from(x);
    let narrow = |x: i64| x.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let ints = [
        of(&|x, y, z| x.max(y).min(y.max(z))),
        of(&|x, y, z| x.max(y) ^ y.min(z)),
        of(&|x, y, _| x.abs_diff(y) as i32),
        of(&|x, y, z| ((x & 0xfff) * (y & 0xfff)).wrapping_add(z).wrapping_add((x & 0xff) * (y & 0xff))),
        of(&|x, y, _| x.rotate_left(y as u32 & 31)),
        of(&|x, y, _| (x.count_ones() + 100 * y.leading_zeros()) as i32),
        of(&|x, y, _| ((wide(x) * wide(y)) >> 32) as i32),
        of(&|x, y, z| x.saturating_add(y) ^ z.saturating_sub(y)),
        of(&|x, y, z| ((wide(x) + wide(y)) >> 1) as i32 ^ ((wide(y) + wide(z) + 1) >> 1) as i32),
        of(&|x, y, z| narrow(wide(x) * wide(y) + wide(z))),
        of(&|x, y, z| if z < 0 { y } else { x }),
        of(&|x, y, z| x & !z | y & z),
        // Some of x are negative, not all of y are, and no low bit is a sign.
        [1; 4],
        of(&|x, y, _| x.max(3) ^ y.min(-3)),
        [i32::MAX, 5, i32::MAX, 5],
        [x[3] ^ y[3], x[2] ^ x[0], x[1] ^ y[0], x[0] ^ x[3]],
    ];
    for (how, program) in programs() {
        let mut device = Device::new();
        let mut all = vec![[0i32; 4]; 19];
        all[..3].copy_from_slice(&[x, y, z]);
        let a = device.upload(&all.concat()).unwrap();
        let mut bytes = [0u8; 14];
        bytes[..3].copy_from_slice(&b);
        let bytes = device.upload(&bytes).unwrap();
        let mut longs = [0i64; 10];
        longs[..3].copy_from_slice(&c);
        let longs = device.upload(&longs).unwrap();
        let pairs = device.upload(&[0u32, 0, 0xffff_fff0, 5, 0, 0]).unwrap();
        let mut shorts = [0i16; 7];
        shorts[..3].copy_from_slice(&s);
        let shorts = device.upload(&shorts).unwrap();
        let launch = Launch::new("integers").block([1, 1, 1]);
        let launch = launch.arg(a).arg(bytes).arg(longs).arg(pairs).arg(shorts);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let found = device.download::<i32>(a).unwrap();
        for (n, expected) in ints.iter().enumerate() {
            same(&how, "a", &found, (n + 3) * 4, expected);
        }
        let high = |x: i64, y: i64| ((i128::from(x) * i128::from(y)) >> 64) as i64;
        let sum = i128::from(c[0]) * i128::from(c[1]) + i128::from(c[2]);
        let clamped = sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let unsigned = ((c[0] as u64 as u128 * c[1] as u64 as u128) >> 64) as i64;
        let conversions = i64::MAX ^ 2 ^ (3 << 8) ^ i64::from(-3 << 16) ^ -2;
        let longs = device.download::<i64>(longs).unwrap();
        let expected = [
            c[0].abs(),
            high(c[0], c[1]) + c[2],
            unsigned,
            200 - i64::from(s[0]),
            clamped,
            ((i128::from(c[0]) + i128::from(c[1]) + 1) >> 1) as i64,
            conversions,
        ];
        same(&how, "c", &longs, 3, &expected);
        let bits = 200u8.count_ones() as u8 + (77u8 >> 3).leading_zeros() as u8;
        let expected = [255, 200, 60, 0, 100, 200u8.rotate_left(3), 138, 255, 123, bits, 77];
        same(&how, "b", &device.download::<u8>(bytes).unwrap(), 3, &expected);
        let pairs = device.download::<u32>(pairs).unwrap();
        same(&how, "d", &pairs, 4, &[200 << 16 | 3, 2 << 16 | 0xffff]);
        let shorts = device.download::<i16>(shorts).unwrap();
        same(&how, "s", &shorts, 3, &[-256 | 5, i16::MIN, -100, i16::MAX]);
    }
}

#[test]
fn floats() {
    let x = [1.5f32, -2.25, 3.0, -0.5];
    let y = [2.0f32, -3.5, 5.0, 0.25];
    let z = [4.0f32, 0.5, -1.0, 8.0];
    let of = |f: &dyn Fn(f32, f32, f32) -> f32| [0, 1, 2, 3].map(|n| f(x[n], y[n], z[n]));
    let smooth = |x: f32, y: f32| {
        let t = ((y - x) / 2.0).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let magnitude = |x: f32, y: f32| if x.abs() >= y.abs() { x } else { y };
    let smaller = |x: f32, y: f32| if x.abs() <= y.abs() { x } else { y };
    let cross = |x: [f32; 4], y: [f32; 4]| {
        [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0], 0.0]
    };
    let (first, second) = (cross(x, y), cross(x, z));
    let memory: [f32; 8] = [0.0, 0.0, 0.0, 7.0, 11.0, 12.0, 13.0, 14.0];
    let frexp = |y: f32| {
        let e = y.abs().log2().floor() as i32 + 1;
        y / 2f32.powi(e) + e as f32 * 16.0
    };
    let expected = [
        of(&|x, y, _| x.max(-1.0).min(y)),
        of(&|x, y, _| x.max(y).min(y + 4.0)),
        of(&|x, y, _| x + (y - x) * 0.25),
        of(&|x, y, _| if y < x { 0.0 } else { 1.0 } + 2.0 * smooth(x, y)),
        of(&|x, y, z| x.signum() + x.max(0.5) * y.min(z)),
        of(&|x, y, z| x * y + z),
        [0, 1, 2, 3].map(|n| first[n] + second[n]),
        of(&|x, _, _| x - x.floor() + x.floor() * 16.0),
        of(&|_, y, _| frexp(y)),
        of(&|x, _, _| x.fract() - x.trunc()),
        [0, 1, 2, 3].map(|n| x[n] * 8.0 + y[n] * [2.0, 4.0, 8.0, 16.0][n]),
        of(&|x, y, _| if x > y { y } else { x }),
        of(&|x, y, z| magnitude(x, y) - smaller(y, z)),
        of(&|x, y, z| {
            x.max(0.0) + y.min(z) + x.abs() + y.floor() * x.ceil() + z.trunc()
                - x.round_ties_even()
                - x.round()
        }),
        [0, 1, 2, 3].map(|n| {
            let power = [x[0] * x[0], x[1] * x[1] * x[1], x[2], 1.0][n];
            power + x[n].copysign(y[n]) + (x[n] - y[n]).max(0.0) + y[n] % 2.0
        }),
        [11.0, 12.0, 13.0, 14.0],
        [7.0, 11.0, 12.0, -1.0],
    ];
    for (how, program) in programs() {
        let mut device = Device::new();
        let mut all = [0f32; 28];
        all[..8].copy_from_slice(&memory);
        let a = device.upload(&all).unwrap();
        let mut all = vec![[0f32; 4]; 20];
        all[..3].copy_from_slice(&[x, y, z]);
        let b = device.upload(&all.concat()).unwrap();
        let d = device.upload(&[-2.25f64, 16.5, 0.0]).unwrap();
        let n = device.upload(&[42i32; 10]).unwrap();
        let launch = Launch::new("floats").block([1, 1, 1]).arg(a).arg(b).arg(d).arg(n);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let found = device.download::<f32>(b).unwrap();
        for (n, expected) in expected.iter().enumerate() {
            same(&how, "b", &found, (n + 3) * 4, expected);
        }
        let found = device.download::<f32>(a).unwrap();
        let dot: f32 = of(&|x, y, _| x * y).iter().sum();
        same(&how, "a", &found, 0, &[dot, 7.5, 2.0 + 7.0, 0.6]);
        same(&how, "a", &found, 12, &[12.0, 13.0, 14.0, 15.0]);
        same(&how, "a", &found, 21, &[-2.25]);
        same(&how, "a", &found, 26, &[x.iter().sum()]);
        let (p, q) = (-2.25f64, 16.5);
        let sum = p + (p + (q - p) * 0.5) + 1.5 + 7.0 + 42.0 + (p * q + 1.0) + p;
        same(&how, "d", &device.download::<f64>(d).unwrap(), 2, &[sum]);
        let classes = 2 + 4 + 8 + 16 + 32 + 64 + 128;
        same(&how, "n", &device.download::<i32>(n).unwrap(), 1, &[classes, 1, 1 - 4, 1 + 2, 5, 1, 1, 1, 1]);
    }
}

#[test]
fn atomics() {
    for (how, program) in programs() {
        let mut device = Device::new();
        let p = device.upload(&[0i32, 0, -100, 0, 0, -1, 0, 0, 0, 0]).unwrap();
        let (u, f) = (device.upload(&[77u32]).unwrap(), device.upload(&[1.25f32, 0.0]).unwrap());
        let q = device.upload(&[0i64]).unwrap();
        let launch = Launch::new("atomics").block([8, 1, 1]).dynamic_shared(4).arg(p).arg(u).arg(f);
        let launch = launch.arg(0u64).arg(q);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let found = device.download::<i32>(p).unwrap();
        same(&how, "p", &found, 0, &[24, -16, 4, 255, 0, !255, 32, -8, 9, 8]);
        same(&how, "u", &device.download::<u32>(u).unwrap(), 0, &[0]);
        same(&how, "f", &device.download::<f32>(f).unwrap(), 0, &[2.5, 1.25]);
    }
}

#[test]
fn printf() {
    for (how, program) in programs() {
        let mut device = Device::new();
        let launch = Launch::new("prints").block([1, 1, 1]).arg(7i32);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(String::from_utf8_lossy(&device.take_output()), "7 and text and 1.500000\n", "{how}");
    }
}

#[test]
fn quotients_roots_and_signs() {
    let x = [2.0f32, -1.0, 27.0, -8.0, 0.3, -2.5, 100.7, -0.0];
    let quotient = |x: f64, y: f64| (x / y).round_ties_even();
    let low = |quotient: f64| (quotient.abs() as i32 & 127) * if quotient < 0.0 { -1 } else { 1 };
    let exact = 1e30f32 as u128;
    let nearest = (exact + 1) / 3;
    for (how, program) in programs() {
        let mut device = Device::new();
        let mut all = [0f32; 30];
        all[..8].copy_from_slice(&x);
        let a = device.upload(&all).unwrap();
        let d = device.upload(&[10f64, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let n = device.upload(&[0i32; 20]).unwrap();
        let launch = Launch::new("special").block([1, 1, 1]).arg(a).arg(d).arg(n);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let found = device.download::<f32>(a).unwrap();
        let quotients = x.map(|x| quotient(x.into(), 0.75));
        let rest = |n: usize| (f64::from(x[n]) - quotients[n] * 0.75) as f32;
        same(&how, "a", &found, 8, &[0, 1, 2, 3, 4, 5, 6, 7].map(rest));
        same(&how, "a", &found, 16, &x.map(|x| f64::from(x).cbrt() as f32));
        assert!(found[23].is_sign_negative() && found[26].is_sign_negative(), "{how}: roots of -0");
        same(&how, "a", &found, 24, &[0.5]);
        assert!(found[25].is_nan() && found[26] == 0.0 && found[27].is_nan(), "{how}: {found:?}");
        same(&how, "a", &found, 28, &[(exact as i128 - 3 * nearest as i128) as f32, 1.0]);
        let n = device.download::<i32>(n).unwrap();
        same(&how, "n", &n, 0, &quotients.map(low));
        same(&how, "n", &n, 8, &[1, 1, 1, 1, 1, -1, 1, -1, (nearest & 127) as i32, -4, -100, 1]);
        let found = device.download::<f64>(d).unwrap();
        for (n, expected) in [(1, 10f64.cbrt()), (2, 10f64.powf(-1.0 / 17.0)), (4, 0.860_047_015_376_481)] {
            assert!((found[n] / expected - 1.0).abs() < 1e-15, "{how}: d[{n}]: {}, not {expected}", found[n]);
        }
        same(&how, "d", &found, 3, &[0.1f64.mul_add(-100.0, 10.0)]);
    }
}

#[test]
fn copies_by_a_group() {
    let count = 5;
    for (how, program) in programs() {
        let mut device = Device::new();
        let vectors: Vec<f32> = (0..count).flat_map(|n| [n as f32, n as f32 + 0.5, -n as f32, 0.0]).collect();
        let g = device.upload(&vectors).unwrap();
        let s = device.upload(&(0..10).map(|n| n * 7).collect::<Vec<i16>>()).unwrap();
        let launch = Launch::new("copies").block([count as u32, 1, 1]).dynamic_shared(96).arg(g).arg(0u64);
        let launch = launch.arg(s).arg(80u64).arg(count);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let found = device.download::<f32>(g).unwrap();
        for n in 0..count as usize {
            let from = vectors[(4 - n) * 4..].iter().map(|x| x + 1.0).collect::<Vec<_>>();
            same(&how, "g", &found, n * 4, &from[..3]);
        }
        let expected =
            (0..10).map(|n| if n % 2 == 0 { n * 7 } else { (n - 1) * 7 + 100 }).collect::<Vec<i16>>();
        same(&how, "s", &device.download::<i16>(s).unwrap(), 0, &expected);
    }
}

#[test]
fn atomic_objects() {
    let files: [&[u8]; 2] =
        [include_bytes!("../corpus/opencl2.O0.bc"), include_bytes!("../corpus/opencl2.O3.bc")];
    for (how, program) in programs_of(files) {
        let mut device = Device::new();
        let i = device.upload(&[0i32, 0, -100, 50, 0, 0, -1, 0]).unwrap();
        let (u, l) = (device.upload(&[0u32, 100]).unwrap(), device.upload(&[0i64]).unwrap());
        let f = device.upload(&[1.0f32, 0.5, 0.0, 3.0]).unwrap();
        let (flag, out) = (device.upload(&[0i32]).unwrap(), device.upload(&[0i32; 16]).unwrap());
        let launch = Launch::new("objects").block([8, 1, 1]).dynamic_shared(4).arg(i).arg(u).arg(l).arg(f);
        let launch = launch.arg(0u64).arg(flag).arg(out);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        same(&how, "i", &device.download::<i32>(i).unwrap(), 0, &[24, -16, 4, -7, 255, 0, !255, 1]);
        same(&how, "u", &device.download::<u32>(u).unwrap(), 0, &[u32::MAX, 2]);
        same(&how, "l", &device.download::<i64>(l).unwrap(), 0, &[8 << 32]);
        same(&how, "f", &device.download::<f32>(f).unwrap(), 0, &[5.0, 2.5, 0.5, 7.0]);
        let expected = [8, 0, 8, 1, 8, 9, 9, 6, 0, 1, 0, 1, 3, 0, 0, 0];
        same(&how, "out", &device.download::<i32>(out).unwrap(), 0, &expected);
    }
}

const GROUPS: [&[u8]; 2] =
    [include_bytes!("../corpus/opencl3.O0.bc"), include_bytes!("../corpus/opencl3.O3.bc")];

/// What `opencl3.cl` is given: numbers of both signs.
fn numbers(items: usize) -> Vec<i32> {
    (0..items as i32).map(|i| i * 37 % 101 - 50).collect()
}

/// Runs a kernel on one group, and gives the 16 words of each item.
fn of_group(how: &str, program: &Program, kernel: &str, block: [u32; 3], x: &[i32]) -> Vec<[i32; 16]> {
    let mut device = Device::new();
    let data = device.upload(x).unwrap();
    let out = device.upload(&vec![0i32; x.len() * 16]).unwrap();
    let launch = Launch::new(kernel).block(block).arg(data).arg(out);
    device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
    let words = device.download::<i32>(out).unwrap();
    words.chunks(16).map(|item| item.try_into().unwrap()).collect()
}

fn unsigned_max(x: &[i32]) -> i32 {
    x.iter().map(|x| x.cast_unsigned()).max().unwrap().cast_signed()
}

/// Groups of one sub-group that is not full, of full ones, and of several of which the last is not.
const BLOCKS: [[u32; 3]; 4] = [[8, 3, 1], [32, 2, 1], [20, 2, 2], [64, 16, 1]];

#[test]
fn sub_groups() {
    for (how, program) in programs_of(GROUPS) {
        for block in BLOCKS {
            let items = block.iter().product::<u32>() as usize;
            let x = numbers(items);
            let found = of_group(&how, &program, "sub_groups", block, &x);
            for (i, found) in found.iter().enumerate() {
                let first = i / 32 * 32;
                let all = &x[first..items.min(first + 32)];
                let lane = i - first;
                let (before, up_to) = (&all[..lane], &all[..=lane]);
                let max = |x: &[i32]| *x.iter().max().unwrap();
                let min = |x: &[i32]| *x.iter().min().unwrap();
                let expected = [
                    lane as i32,
                    all.len() as i32,
                    32,
                    (i / 32) as i32,
                    items.div_ceil(32) as i32,
                    all.iter().sum(),
                    min(all),
                    unsigned_max(all),
                    up_to.iter().sum(),
                    before.iter().sum(),
                    before.iter().copied().max().unwrap_or(i32::MIN),
                    min(up_to),
                    all.iter().all(|x| *x > -90).into(),
                    all.contains(&x[3]).into(),
                    all[5],
                    all.iter().sum::<i32>() + max(up_to) + min(all),
                ];
                assert_eq!(*found, expected, "{how}, {block:?}: item {i}");
            }
        }
    }
}

#[test]
fn groups() {
    for (how, program) in programs_of(GROUPS) {
        for block in BLOCKS {
            let items = block.iter().product::<u32>() as usize;
            let x = numbers(items);
            let found = of_group(&how, &program, "groups", block, &x);
            let (max, min) = (*x.iter().max().unwrap(), *x.iter().min().unwrap());
            for (i, found) in found.iter().enumerate() {
                let (before, up_to) = (&x[..i], &x[..=i]);
                let sum: i32 = x.iter().sum();
                let expected = [
                    sum,
                    min,
                    unsigned_max(&x),
                    up_to.iter().sum(),
                    before.iter().sum(),
                    *up_to.iter().max().unwrap(),
                    before.iter().copied().min().unwrap_or(i32::MAX),
                    1,
                    1,
                    1,
                    0,
                    x[block[0] as usize * 2 - 1],
                    up_to.iter().sum(),
                    before.iter().sum(),
                    max,
                    sum + 2 * items as i32,
                ];
                assert_eq!(*found, expected, "{how}, {block:?}: item {i}");
            }
        }
    }
}

#[test]
fn generic_pointers_and_their_spaces() {
    for (how, program) in programs_of(GROUPS) {
        // Which space, and what the memory there holds after that.
        for (which, expected) in [(0u32, [17, 0]), (1, [2, 18]), (2, [4, 19])] {
            let mut device = Device::new();
            let out = device.upload(&[0i32; 2]).unwrap();
            // The null pointer of group memory is 0, where that begins: this one is elsewhere.
            let launch = Launch::new("spaces").block([1, 1, 1]).dynamic_shared(32);
            device
                .launch(&program, &launch.arg(out).arg(16u64).arg(which))
                .unwrap_or_else(|f| panic!("{how}: {f}"));
            assert_eq!(device.download::<i32>(out).unwrap(), expected, "{how}: {which}");
        }
    }
}

#[test]
fn tangents() {
    for (how, program) in programs_of(GROUPS) {
        let cases = [(0.25, 1.0), (-0.25, -1.0), (0.5, f64::INFINITY), (1.5, f64::NEG_INFINITY), (3.0, 0.0)];
        for (x, expected) in cases {
            let mut device = Device::new();
            let (d, f) = (device.upload(&[x, 0.0f64]).unwrap(), device.upload(&[x as f32, 0.0]).unwrap());
            let launch = Launch::new("tangents").block([1, 1, 1]).arg(d).arg(f);
            device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
            let (d, f) = (device.download::<f64>(d).unwrap()[1], device.download::<f32>(f).unwrap()[1]);
            assert!(d == expected || (d - expected).abs() < 1e-15, "{how}: {x}: {d}");
            assert!(f64::from(f) == expected || (f64::from(f) - expected).abs() < 1e-6, "{how}: {x}: {f}");
        }
    }
}

#[test]
fn the_body_of_a_kernel_is_in_the_kernel() {
    let module = Module::read(include_bytes!("../corpus/images.O3.bc")).unwrap();
    let options = Options::new().with_target(Target::sm(80));
    let module = import(vec![("images.bc".to_owned(), module)], &options).unwrap();
    let compiled = Compiler::new(Target::sm(80)).with_opt_level(OptLevel::O2).compile(&module).unwrap();
    assert!(!compiled.text.contains("__clang_ocl_kern_imp"), "{}", compiled.text);
}
