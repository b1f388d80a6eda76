//! Division of 128 bits, which is made of words: quotients and remainders of operands whose words are at the edges, where a digit is guessed one or
//! two too large, with and without a sign, by values and by constants.

use std::fmt::Write;
use warpsmith::{Compiler, Device, Launch, OptLevel, Program, Target};

/// Words at the edges of what a digit can be guessed from.
const WORDS: [u64; 16] = [
    0,
    1,
    2,
    10,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_ffff_ffff,
    0x8000_0001_0000_0000,
    0xffff_fffe_ffff_ffff,
    0xffff_ffff_0000_0000,
    u64::MAX,
];

const THREADS: u32 = 256;

/// Dividends and divisors: all pairs of edges, and random ones of random lengths.
fn operands() -> Vec<(u128, u128)> {
    let edges: Vec<u128> =
        WORDS.iter().flat_map(|&high| WORDS.map(|low| u128::from(high) << 64 | u128::from(low))).collect();
    let mut pairs: Vec<(u128, u128)> =
        edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let mut wide = || (u128::from(next()) << 64 | u128::from(next())) >> (next() >> 57);
    for _ in 0..60_000 {
        let (y, q) = (wide(), wide());
        // Next to a multiple, where a quotient changes.
        let near = y.wrapping_mul(q).wrapping_add(u128::from(next_small(y, q))).wrapping_sub(1);
        pairs.extend([(wide(), y), (near, y)]);
    }
    pairs
}

/// 0, 1 or 2.
fn next_small(a: u128, b: u128) -> u8 {
    ((a ^ b.rotate_left(7)) % 3) as u8
}

/// What the IR says: all ones by zero, and no overflow.
fn meant(x: u128, y: u128) -> [u128; 4] {
    let (sx, sy) = (x as i128, y as i128);
    match y {
        0 => [u128::MAX; 4],
        _ => [x / y, x % y, sx.wrapping_div(sy) as u128, sx.wrapping_rem(sy) as u128],
    }
}

/// Runs the only kernel of a text on the operands, and compares what it leaves for each with what is meant.
fn check(text: &str, given: &[(u128, u128)], level: OptLevel) {
    let module = warpsmith::ir::parse_module(text).unwrap_or_else(|errors| panic!("{errors}"));
    let compiled = Compiler::new(Target::sm(90))
        .with_opt_level(level)
        .compile(&module)
        .unwrap_or_else(|e| panic!("{e}"));
    let program = Program::load(&compiled.module).unwrap_or_else(|errors| panic!("{errors}"));
    let input: Vec<u8> =
        given.iter().flat_map(|&(x, y)| [x, y]).flat_map(|number| number.to_le_bytes()).collect();
    let mut device = Device::new();
    let mut go = || {
        let (input, out) = (device.upload(&input)?, device.upload(&vec![0u8; given.len() * 64])?);
        let blocks = (given.len() as u32).div_ceil(THREADS);
        let launch = Launch::new("k").grid([blocks, 1, 1]).block([THREADS, 1, 1]);
        device.launch(&program, &launch.arg(input).arg(out).arg(given.len() as u32))?;
        device.read(out)
    };
    let found = go().unwrap_or_else(|fault| panic!("{fault}"));
    for (&(x, y), found) in given.iter().zip(found.chunks(64)) {
        for (n, (bytes, meant)) in found.chunks(16).zip(meant(x, y)).enumerate() {
            let result = bytes.iter().rev().fold(0u128, |all, &byte| all << 8 | u128::from(byte));
            let op = ["udiv", "urem", "sdiv", "srem"][n];
            assert_eq!(result, meant, "{op} {x:#x}, {y:#x} at {level}");
        }
    }
}

/// A kernel that divides what a thread loads by what an instruction makes.
fn kernel(divisor: &str) -> String {
    let mut text = String::from(
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {\nentry:\n  %t = sreg.tid.x\n  %b = sreg.ctaid.x\n  %d = sreg.ntid.x\n",
    );
    text += "  %first = imul %b, %d\n  %at = iadd %first, %t\n  %inside = icmp ult %at, %n\n  brif %inside, body, out\nbody:\n";
    text += "  %from = index %in, %at, 32\n  %x = load.i128 %from\n";
    writeln!(text, "  %y = {divisor}\n  %to = index %out, %at, 64").expect("a string takes all");
    for (n, op) in ["udiv", "urem", "sdiv", "srem"].into_iter().enumerate() {
        writeln!(text, "  %r{n} = {op} %x, %y\n  store %r{n}, %to + {}", 16 * n).expect("a string takes all");
    }
    text + "  jump out\nout:\n  ret\n}\n"
}

#[test]
fn quotients_of_values() {
    let given = operands();
    for level in [OptLevel::O0, OptLevel::O2] {
        check(&kernel("load.i128 %from + 16"), &given, level);
    }
}

#[test]
fn quotients_by_constants() {
    let given = operands();
    for by in [
        1i64,
        2,
        3,
        7,
        10,
        16,
        100,
        255,
        1 << 32,
        (1 << 32) + 1,
        1_000_000_007,
        1 << 62,
        i64::MAX,
        -1,
        -10,
        -16,
        i64::MIN,
    ] {
        let given: Vec<(u128, u128)> =
            given.iter().step_by(7).map(|&(x, _)| (x, i128::from(by) as u128)).collect();
        check(&kernel(&format!("iconst.i128 {by}")), &given, OptLevel::O2);
    }
}
