//! From a launch description to what the buffers hold afterwards.

use super::{Arg, Global, LaunchSpec};
use std::io::Write;
use warpsmith_interp::observe::Observer;
use warpsmith_interp::{self as interp, Buffer, Device, Fault, Launch, Program};

/// What a launch left behind.
#[derive(Clone, Debug)]
pub struct Execution {
    /// For each argument the content of its buffer, or of those of a multicast address one after the other; `None` for values.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The content of each variable that the launch names in `globals`, in its order.
    pub globals: Vec<(String, Vec<u8>)>,
    /// Instructions executed, summed over threads.
    pub thread_instructions: u64,
    /// Time in the engine.
    pub seconds: f64,
}

/// Runs a kernel of `program` on a fresh device.
///
/// ```
/// # use warpsmith::{Program, launch::{LaunchSpec, execute}};
/// # fn example(program: &Program) -> Result<(), Box<dyn std::error::Error>> {
/// let launch = r#"{"entry": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "args": [{"buffer_zero": 128}]}"#;
/// let launch = LaunchSpec::parse(launch).map_err(|errors| errors[0].clone())?;
/// println!("{:?}", execute(program, &launch)?.buffers[0]);
/// # Ok(())
/// # }
/// ```
pub fn execute(program: &Program, spec: &LaunchSpec) -> Result<Execution, Fault> {
    launch(Device::new(), program, spec, &mut ())
}

/// Runs a kernel on a fresh device; what it prints goes to `output` when it has ended, be it with a fault.
pub fn execute_with_output(
    program: &Program,
    spec: &LaunchSpec,
    output: impl Write + Send + 'static,
) -> Result<Execution, Fault> {
    execute_observed(program, spec, output, &mut ())
}

/// Runs a kernel on a fresh device and one host thread watched by an observer; what it prints goes to `output`.
pub fn execute_observed(
    program: &Program,
    spec: &LaunchSpec,
    output: impl Write + Send + 'static,
    observer: &mut dyn Observer,
) -> Result<Execution, Fault> {
    let mut device = Device::new();
    device.set_output(output);
    launch(device, program, spec, observer)
}

fn launch(
    mut device: Device,
    program: &Program,
    spec: &LaunchSpec,
    observer: &mut dyn Observer,
) -> Result<Execution, Fault> {
    let mut launch = Launch::new(spec.entry.as_str()).grid(spec.grid).block(spec.block);
    launch.cluster = spec.cluster;
    launch.cooperative = spec.cooperative;
    launch.dynamic_shared = spec.dynamic_shared;
    (launch.schedule, launch.seed, launch.poison) = (spec.schedule, spec.seed, spec.poison);
    if let Some(steps) = spec.steps {
        launch.limits.steps = steps;
        launch.limits.block_steps = steps;
        launch.limits.blocks = launch.limits.blocks.max(steps);
    }
    let mut buffers: Vec<Vec<Buffer>> = Vec::with_capacity(spec.args.len());
    for arg in &spec.args {
        let behind = match arg {
            Arg::Multicast(args) => args.as_slice(),
            arg => std::slice::from_ref(arg),
        };
        let mut own = Vec::with_capacity(behind.len());
        for arg in behind {
            own.extend(match arg {
                Arg::Buffer { bytes, .. } => Some(device.upload(bytes)?),
                Arg::SameAs(index) => buffers.get(*index).and_then(|of| of.first().copied()),
                Arg::Value(_) | Arg::Multicast(_) => None,
            });
        }
        launch = match (arg, own.first()) {
            (Arg::Value(bytes), _) => launch.arg(interp::Arg::bytes(bytes.as_slice())),
            (Arg::Multicast(_), _) => launch.arg(device.multicast(&own)?),
            (_, Some(buffer)) => launch.arg(*buffer),
            (_, None) => launch,
        };
        buffers.push(own);
    }
    for Global { name, content } in &spec.globals {
        match content {
            Some(Arg::Value(bytes) | Arg::Buffer { bytes, .. }) => {
                device.write_variable(program, name, bytes)?
            }
            Some(Arg::SameAs(index)) => {
                if let Some(buffer) = buffers.get(*index).and_then(|of| of.first()) {
                    device.write_variable(program, name, &buffer.address().to_le_bytes())?;
                }
            }
            Some(Arg::Multicast(_)) | None => {}
        }
    }
    let stats = if observer.is_active() {
        device.launch_observed(program, &launch, observer)?
    } else {
        device.launch(program, &launch)?
    };
    let content = |own: &Vec<Buffer>| -> Result<Option<Vec<u8>>, Fault> {
        let parts: Vec<Vec<u8>> = own.iter().map(|buffer| device.read(*buffer)).collect::<Result<_, _>>()?;
        Ok((!own.is_empty()).then(|| parts.concat()))
    };
    let buffers = buffers.iter().map(content).collect::<Result<_, _>>()?;
    let global = |global: &Global| Ok((global.name.clone(), device.read_variable(program, &global.name)?));
    let globals = spec.globals.iter().map(global).collect::<Result<_, Fault>>()?;
    Ok(Execution { buffers, globals, thread_instructions: stats.thread_instructions, seconds: stats.seconds })
}
