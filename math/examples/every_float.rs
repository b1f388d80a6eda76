//! The greatest error of functions of one `f32`, over all 2^32 operands: `cargo run --release -p warpsmith-math --example every_float [FUNCTION..]`.
//!
//! Each function is compiled to machine code of the host, which computes the bits that the engine does, and compared with a function of `f64` whose own
//! error is a 2^-28th of a unit. All cores work on one function. Exit status 1 if a function is further off than it promises.

#[path = "../tests/common/reference.rs"]
mod reference;
#[path = "../tests/common/ulp.rs"]
mod ulp;

use reference::{excluded, reference, singles};
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use warpsmith_ir::{Module, Type};
use warpsmith_math::{Function, define};
use warpsmith_native::{Arg, Kernel};

/// Operands of a launch, one after the other.
const CHUNK: u64 = 1 << 18;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let all = singles();
    if let Some(name) = names.iter().find(|name| !all.iter().any(|function| function.name() == **name)) {
        eprintln!("`{name}` is not one of the functions of one `f32` that have a reference");
        return ExitCode::from(2);
    }
    let mut held = true;
    for function in all.into_iter().filter(|f| names.is_empty() || names.iter().any(|name| name == f.name()))
    {
        let start = Instant::now();
        match worst(function) {
            Ok((distance, operand)) => {
                let promised = function.ulp().unwrap_or(0);
                held &= distance <= promised.into();
                let at = f32::from_bits(operand);
                let seconds = start.elapsed().as_secs();
                println!(
                    "{}: {distance} of {promised}, at {at:e} (0x{operand:08x}), {seconds} s",
                    function.name()
                );
            }
            Err(error) => {
                eprintln!("{}: {error}", function.name());
                held = false;
            }
        }
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A kernel of one thread that computes so many operands, counted up from the bits of the first.
fn kernel(function: Function) -> Result<Module, Box<dyn Error>> {
    let symbol = function.symbol();
    let mut module = Module::parse(format!(
        "func extern @{symbol}(%x: f32) -> f32\n\
         kernel @k(%first: i32, %count: i32, %to: ptr<global>) {{\nentry:\n  jump head(0)\n\
         head(%n: i32):\n  %bits = iadd %first, %n\n  %x = bitcast.f32 %bits\n  %y = call @{symbol}(%x)\n  \
         %p = index %to, %n, 4\n  store %y, %p\n  %next = iadd %n, 1\n  %more = icmp ult %next, %count\n  \
         brif %more, head(%next), done\ndone:\n  ret\n}}\n"
    ))?;
    define(&mut module)?;
    Ok(module)
}

/// The greatest distance in units of the last place, and the bits of an operand that has it.
fn worst(function: Function) -> Result<(u64, u32), Box<dyn Error>> {
    let kernel = Kernel::compile(&kernel(function)?, "k")?;
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..threads).map(|_| scope.spawn(|| part(function, &kernel, &next))).collect();
        let parts =
            jobs.into_iter().map(|job| job.join().unwrap_or_else(|_| Err("a thread panicked".into())));
        parts.collect::<Result<Vec<_>, _>>()
    })?;
    Ok(found.into_iter().max_by_key(|(distance, _)| *distance).unwrap_or_default())
}

/// The worst of the operands that this thread takes, a chunk at a time.
fn part(function: Function, kernel: &Kernel, next: &AtomicU64) -> Result<(u64, u32), String> {
    let reference = reference(function.name()).ok_or("there is no reference")?;
    let mut worst = (0, 0);
    let mut args = [Arg::Value(Vec::new()), Arg::Value(Vec::new()), Arg::Buffer(vec![0; CHUNK as usize * 4])];
    loop {
        let first = next.fetch_add(CHUNK, Ordering::Relaxed);
        if first >= 1 << 32 {
            return Ok(worst);
        }
        args[0] = Arg::Value((first as u32).to_le_bytes().to_vec());
        args[1] = Arg::Value((CHUNK as u32).to_le_bytes().to_vec());
        kernel.launch([1; 3], [1; 3], &mut args).map_err(|fault| fault.to_string())?;
        let Arg::Buffer(results) = &args[2] else { return Err("the results are gone".into()) };
        for (n, result) in results.chunks_exact(4).enumerate() {
            let operand = first as u32 + n as u32;
            let x = f64::from(f32::from_bits(operand));
            let expected = (reference(x) as f32).to_bits();
            let bits = result.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            if bits == expected || excluded(function.name(), x) {
                continue;
            }
            let distance = ulp::distance(Type::F32, bits.into(), expected.into());
            if distance > worst.0 {
                worst = (distance, operand);
            }
        }
    }
}
