//! Every core operation on every type that its row of the table allows: the IR's own meaning is that of the text emitted for it, without
//! optimisation and with it. `tests/ptxas.rs` assembles the same kernels.

mod kernels;

use kernels::{OPERANDS, STEP, THREADS, Unit};
use warpsmith::ir::{self, Scalar, Type};
use warpsmith::{Compiler, Device, Launch, OptLevel, Program, Target};

/// Operands for each thread: per element numbers at the edges of its width or format, numbers next to them, and random ones.
fn operands(ty: Type) -> Vec<u8> {
    let element = ty.element();
    let bits = Type::scalar(element).bits();
    let mut state = 0x2545_f491_4f6c_dd1du64.wrapping_mul(u64::from(bits) + 3);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (u128::from(state) << 64 | u128::from(state.rotate_left(29))) ^ u128::from(state >> 17)
    };
    let (ones, top) = (u128::MAX >> (128 - bits), 1u128 << (bits - 1));
    let mut edges = vec![0, 1, ones, top, top - 1, top | 1, 2 & ones, 5 & ones, u128::from(bits) & ones];
    // Exponents at which formats begin, end, and lose their fractions.
    let (fraction, bias) = match element {
        Scalar::F16 => (10, 15u128),
        Scalar::BF16 => (7, 127),
        Scalar::F32 | Scalar::TF32 => (23, 127),
        Scalar::F64 => (52, 1023),
        Scalar::E4M3 => (3, 7),
        Scalar::E5M2 => (2, 15),
        Scalar::E3M2 => (2, 3),
        Scalar::E2M3 => (3, 1),
        Scalar::E2M1 => (1, 1),
        // Every power of two is at an edge of f32 or between them.
        Scalar::UE8M0
        | Scalar::Invalid
        | Scalar::I1
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::I128
        | Scalar::Odd(_)
        | Scalar::Ptr
        | Scalar::PtrGlobal
        | Scalar::PtrShared
        | Scalar::PtrLocal
        | Scalar::PtrConst
        | Scalar::PtrParam => (0, 0),
    };
    if fraction > 0 {
        let of = |exponent: u128, low: u128| exponent << fraction | low;
        edges.extend([
            of(bias, 0),
            of(bias - 1, 0),
            of(bias, 1),
            of(2 * bias, (1 << fraction) - 1),
            of(1, 0),
        ]);
        edges.extend([
            of(2 * bias + 1, 0) & ones,
            of(bias + 1, 1 << (fraction - 1)) | top,
            of(bias, 0) | top,
        ]);
        edges.extend([
            of(bias + 5, 1),
            of((bias + 31).min(2 * bias), 3),
            of((bias + 63).min(2 * bias), 1) | top,
        ]);
    }
    let mut bytes = vec![0u8; (THREADS * OPERANDS * STEP) as usize];
    for place in bytes.chunks_mut(STEP as usize) {
        // The bits of all elements, one behind the other.
        let mut at = 0;
        while at + bits as usize <= place.len() * 8 {
            let random = next();
            let value = match (random >> 100) % 4 {
                0 | 1 => edges[(random >> 64) as usize % edges.len()],
                2 => edges[(random >> 64) as usize % edges.len()] ^ (random & 3),
                _ => random,
            } & ones;
            // What is above an integer of an odd width is there, and does not count.
            let padded = if ty.is_vector() { bits as usize } else { bits.next_multiple_of(8) as usize };
            for bit in 0..bits as usize {
                place[(at + bit) / 8] |= ((value >> bit & 1) as u8) << ((at + bit) % 8);
            }
            at += padded;
        }
    }
    bytes
}

/// What a kernel leaves, or the fault.
fn run(program: &Program, n: usize, input: &[u8]) -> Result<Vec<u8>, String> {
    let go = |device: &mut Device| {
        let out = device.upload(&vec![0u8; (THREADS * STEP * 2) as usize])?;
        let input = device.upload(input)?;
        device.launch(program, &Launch::new(format!("k{n}")).block([THREADS, 1, 1]).arg(out).arg(input))?;
        device.read(out)
    };
    go(&mut Device::new()).map_err(|fault| fault.to_string())
}

/// What of a unit is not as the IR means it.
fn differences(unit: &Unit, wrong: &mut Vec<String>) {
    let module = match ir::parse_module(unit.text.as_str()) {
        Ok(module) => module,
        Err(errors) => return wrong.push(format!("{}: {errors}", unit.ty)),
    };
    let meant = Program::from_ir(&module).unwrap_or_else(|errors| panic!("{}: {errors}", unit.ty));
    let input = operands(unit.ty);
    let expected: Vec<_> = (0..unit.names.len()).map(|n| run(&meant, n, &input)).collect();
    // Without packed forms and with them.
    for (target, level) in [("sm_90", OptLevel::O0), ("sm_100a", OptLevel::O2)] {
        let target: Target = target.parse().expect("a target of the tables");
        let compiled = match Compiler::new(target).with_opt_level(level).compile(&module) {
            Ok(compiled) => compiled,
            Err(errors) => {
                wrong.push(format!("{} for {target}: {errors}", unit.ty));
                continue;
            }
        };
        let program =
            Program::load(&compiled.module).unwrap_or_else(|errors| panic!("{}: {errors}", unit.ty));
        for (n, (name, expected)) in unit.names.iter().zip(&expected).enumerate() {
            let found = run(&program, n, &input);
            match (expected, &found) {
                (Ok(expected), Ok(found)) => {
                    let Some(at) = expected.iter().zip(found).position(|(a, b)| a != b) else { continue };
                    let row = at / STEP as usize * STEP as usize;
                    let shown = |of: &[u8]| {
                        of[row..row + 32].iter().rev().map(|b| format!("{b:02x}")).collect::<String>()
                    };
                    let thread = row / (2 * STEP) as usize;
                    let given: Vec<String> = (0..OPERANDS as usize)
                        .map(|n| (thread * OPERANDS as usize + n) * STEP as usize)
                        .map(|at| input[at..at + 32].iter().rev().map(|b| format!("{b:02x}")).collect())
                        .collect();
                    wrong.push(format!(
                        "{name} at {level}, byte {} of thread {thread}:\n  of     {}\n  meant  {}\n  found  {}",
                        at - row,
                        given.join("\n         "),
                        shown(expected),
                        shown(found)
                    ));
                }
                _ if *expected == found => {}
                _ => wrong.push(format!(
                    "{name} at {level}: {:?}, not {:?}",
                    found.err(),
                    expected.as_ref().err()
                )),
            }
        }
    }
}

fn all(units: impl Iterator<Item = Unit>, at_least: usize) {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    // One type alone, by its name.
    let only = std::env::var("WARPSMITH_TYPE").ok();
    for unit in units.filter(|unit| only.as_ref().is_none_or(|only| unit.ty.to_string() == *only)) {
        tried += unit.names.len();
        differences(&unit, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(only.is_some() || tried >= at_least, "{tried} kernels");
}

#[test]
fn every_operation_on_every_type() {
    all(kernels::types().into_iter().map(kernels::operations), 12_000);
}

#[test]
fn every_atomic_access_to_every_type() {
    all(kernels::ATOMIC.into_iter().map(kernels::atomics), 350);
}

#[test]
fn lanes_exchange_values_of_every_type() {
    all(kernels::exchanges(), 1000);
}
