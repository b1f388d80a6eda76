//! A small C for kernels, compiled and run: structs, functions, loops, arrays, shared memory, `printf`, `assert`, the C library's functions
//! of `float`. What comes out knows the lines of the program.
//!
//!     cargo run --example minic                   # squares.c on 0, 1, .. 63
//!     cargo run --example minic -- FILE KERNEL    # another kernel (int* data, int n)
//!
//! `compile/` is the front end; `tests/minic.rs` compares random programs with what they should compute.

mod compile;

use warpsmith::{Compiler, Device, Launch, Program, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (name, source) = match args.next() {
        Some(path) => (path.clone(), std::fs::read_to_string(path)?),
        None => ("squares.c".to_owned(), include_str!("squares.c").to_owned()),
    };
    let module = compile::compile(&name, &source)?;
    let compiled = Compiler::new(Target::sm(80)).compile(&module)?;
    println!("{}", compiled.text);

    let mut device = Device::new();
    let data = device.upload(&(0..64).collect::<Vec<i32>>())?;
    let kernel = args.next().unwrap_or("squares".to_owned());
    let launch = Launch::new(kernel).block([64, 1, 1]).arg(data).arg(64i32);
    device.launch(&Program::load(&compiled.module)?, &launch)?;
    print!("{}", String::from_utf8_lossy(&device.take_output()));
    println!("{:?}", device.download::<i32>(data)?);
    Ok(())
}
