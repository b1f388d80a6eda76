//! Random modules give what the IR's own meaning gives, in every byte: the interpreter and the compiled code share neither a definition of an
//! operation, but for those that `Kernel::shared` names, nor a way to execute.

use arbitrary::Unstructured;
use warpsmith_interp::{Arg as LaunchArg, Device, Launch, Program};
use warpsmith_ir::Module;
use warpsmith_native::{Arg, Kernel};
use warpsmith_smith::ir::{Config, module};
use warpsmith_smith::{BYTES_PER_THREAD, INPUT_BYTES};

const THREADS: u32 = 40;

/// The scalars of the kernel's parameters.
const SCALARS: (i64, f32, f64) = (-0x1234_5678_9abc, 1.5e-3, -7.25e9);

fn input(seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..INPUT_BYTES).map(|_| next()).collect()
}

fn interpreted(module: &Module, input: &[u8]) -> Vec<u8> {
    let program = Program::from_ir(module).expect("generated modules have a meaning");
    let mut device = Device::new();
    let out = device.upload(&vec![0u8; (THREADS * BYTES_PER_THREAD) as usize]).unwrap();
    let data = device.upload(input).unwrap();
    let (x, f, d) = SCALARS;
    let args: [LaunchArg; 6] = [out.into(), THREADS.into(), data.into(), x.into(), f.into(), d.into()];
    let launch = Launch::new("k").grid([2, 1, 1]).block([32, 1, 1]);
    let launch = args.into_iter().fold(launch, Launch::arg);
    device.launch(&program, &launch).expect("generated kernels have no fault");
    device.read(out).unwrap()
}

fn compiled(kernel: &Kernel, input: &[u8]) -> Vec<u8> {
    let (x, f, d) = SCALARS;
    let mut args = [
        Arg::Buffer(vec![0; (THREADS * BYTES_PER_THREAD) as usize]),
        Arg::Value(THREADS.to_le_bytes().to_vec()),
        Arg::Buffer(input.to_vec()),
        Arg::Value(x.to_le_bytes().to_vec()),
        Arg::Value(f.to_le_bytes().to_vec()),
        Arg::Value(d.to_le_bytes().to_vec()),
    ];
    kernel.launch([2, 1, 1], [32, 1, 1], &mut args).expect("generated kernels have no fault");
    match args {
        [Arg::Buffer(out), ..] => out,
        _ => unreachable!("the first argument is a buffer"),
    }
}

fn agrees(u: &mut Unstructured, config: &Config) -> arbitrary::Result<()> {
    let module = module(u, config)?;
    let input = input(u.arbitrary()?);
    let kernel = match Kernel::compile(&module, "k") {
        Ok(kernel) => kernel,
        // What is not compiled says so by its code; anything else is a mistake.
        Err(errors) if errors.iter().all(|error| error.code == warpsmith_native::codes::OPERATION) => {
            return Ok(());
        }
        Err(errors) => panic!("{errors}\n{module}"),
    };
    let (expected, found) = (interpreted(&module, &input), compiled(&kernel, &input));
    if let Some(at) = expected.iter().zip(&found).position(|(a, b)| a != b) {
        let thread = at / BYTES_PER_THREAD as usize;
        panic!(
            "byte {} of thread {thread}: the IR means {:#04x}, the code gives {:#04x}\n{module}",
            at % BYTES_PER_THREAD as usize,
            expected[at],
            found[at]
        );
    }
    Ok(())
}

#[test]
fn random_modules_give_what_the_ir_means() {
    arbtest::arbtest(|u| agrees(u, &Config::default())).budget_ms(3000);
}

#[test]
fn integers_of_every_width() {
    let mut config = Config::default();
    (config.floats, config.halves, config.calls, config.ptx) = (false, false, false, false);
    arbtest::arbtest(|u| agrees(u, &config)).budget_ms(2000);
}
