//! A kernel on the engine: what it computes and how many instructions it takes.

use crate::corpus::{Argument, Fill, Kernel};
use warpsmith::{Device, Launch, Program, ptx};

/// The bytes of each buffer: what every launch of the corpus stays in.
const BYTES: usize = 128 << 10;

/// What a launch did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Instructions executed by an average thread.
    pub instructions: f64,
    /// The outputs, one after the other.
    pub bytes: Vec<u8>,
}

pub fn run(text: &str, kernel: &Kernel) -> Result<Outcome, String> {
    let module = ptx::ValidatedModule::parse(text).map_err(|errors| errors.to_string())?;
    let program = Program::load(&module).map_err(|errors| errors.to_string())?;
    let mut device = Device::new();
    let fault = |fault| format!("{fault}");
    let mut launch = Launch::new(&*kernel.name).grid([kernel.grid, 1, 1]).block(kernel.block);
    let mut outputs = Vec::new();
    for argument in &kernel.args {
        launch = match *argument {
            Argument::Input(seed) => launch.arg(device.upload(&input(kernel.fill, seed)).map_err(fault)?),
            Argument::Output => {
                let output = device.upload(&vec![0u8; BYTES]).map_err(fault)?;
                outputs.push(output);
                launch.arg(output)
            }
            Argument::Int(value) => launch.arg(value),
            Argument::Long(value) => launch.arg(value),
            Argument::Float(value) => launch.arg(value),
            Argument::Double(value) => launch.arg(value),
        };
    }
    let stats = device.launch(&program, &launch).map_err(fault)?;
    let mut bytes = Vec::new();
    for output in outputs {
        bytes.extend(device.download::<u8>(output).map_err(fault)?);
    }
    Ok(Outcome { instructions: stats.thread_instructions as f64 / stats.threads as f64, bytes })
}

fn input(fill: Fill, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // The low bits of a congruence have short periods.
        state ^ state >> 15
    };
    (0..BYTES as u32 / 4)
        .flat_map(|n| match fill {
            Fill::F32 => ((next() >> 8) as f32 / (1 << 23) as f32 - 1.0).to_bits().to_le_bytes(),
            // Two numbers between 1/64 and 2.
            Fill::F16 => ((next() & 0x1fff_1fff).wrapping_add(0x2000_2000)).to_le_bytes(),
            Fill::Bits => next().to_le_bytes(),
            Fill::Ascending => n.to_le_bytes(),
        })
        .collect()
}
