//! From a launch description to what the buffers hold afterwards.

use super::resources::Resources;
use super::texture::HANDLE_BYTES;
use super::{Arg, Global, HandleSpec, LaunchSpec, Resource, TensorMemory};
use std::io::Write;
use warpsmith_interp::observe::Observer;
use warpsmith_interp::{self as interp, Buffer, Device, Fault, FaultCode, Handle, Launch, Program};

/// What a launch left behind.
#[derive(Clone, Debug)]
pub struct Execution {
    /// For each argument the content of its buffer or surface, or of the buffers of a multicast address one after the other; `None` for values.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The content of each variable that the launch names in `globals`, in its order.
    pub globals: Vec<(String, Vec<u8>)>,
    /// The content of each buffer of the launch's `memory`, in its order.
    pub memory: Vec<(String, Vec<u8>)>,
    /// For each name of the launch's `bindings` that a surface is bound to, its texels.
    pub bindings: Vec<(String, Vec<u8>)>,
    /// For each of the launch's `handles` the texels of its surface; `None` for textures and samplers.
    pub handles: Vec<Option<Vec<u8>>>,
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
    let mut kernels = program.kernels();
    let entry = match (kernels.next(), kernels.next()) {
        (Some(only), None) if spec.entry.is_empty() => only,
        _ => spec.entry.as_str(),
    };
    let mut launch = Launch::new(entry).grid(spec.grid).block(spec.block);
    launch.cluster = spec.cluster;
    launch.cooperative = spec.cooperative;
    launch.dynamic_shared = spec.dynamic_shared;
    (launch.schedule, launch.seed, launch.poison) = (spec.schedule, spec.seed, spec.poison);
    launch.arithmetic = spec.arithmetic;
    if let Some(steps) = spec.steps {
        launch.limits.steps = steps;
        launch.limits.block_steps = steps;
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
                Arg::Value(_) | Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_) => None,
            });
        }
        buffers.push(own);
    }
    let mut memory: Vec<(&str, Buffer)> = Vec::with_capacity(spec.memory.len());
    for (name, arg) in &spec.memory {
        if let Arg::Buffer { bytes, .. } = arg {
            memory.push((name, device.upload(bytes)?));
        }
    }
    let resources = Resources::new(&mut device, program, spec, &buffers)?;
    let mut values: Vec<(usize, u64, Handle)> = Vec::new();
    for (HandleSpec { arg, at, .. }, (handle, _)) in spec.handles.iter().zip(&resources.handles) {
        match buffers.get(*arg).and_then(|own| own.first()) {
            Some(buffer) => {
                let place = buffer.slice(*at, HANDLE_BYTES);
                let place = place.ok_or_else(|| bad_launch(format!("a handle at {at} of argument {arg}")))?;
                device.write(place, &handle.value().to_le_bytes())?;
            }
            None => values.push((*arg, *at, *handle)),
        }
    }
    // A tensor map may be of the buffer of a later argument.
    for (i, (arg, own)) in spec.args.iter().zip(&buffers).enumerate() {
        launch = match (arg, own.first()) {
            (Arg::Value(bytes), _) => {
                let mut bytes = bytes.clone();
                for (_, at, handle) in values.iter().filter(|(arg, ..)| *arg == i) {
                    if let Some(place) = bytes.get_mut(*at as usize..).and_then(|b| b.first_chunk_mut()) {
                        *place = handle.value().to_le_bytes();
                    }
                }
                launch.arg(interp::Arg::bytes(bytes))
            }
            (Arg::Resource(_), _) => {
                let made = resources.args.get(i).copied().flatten();
                let (handle, _) = made.ok_or_else(|| bad_launch(format!("the handle of argument {i}")))?;
                launch.arg(handle)
            }
            (Arg::Multicast(_), _) => launch.arg(device.multicast(own)?),
            (Arg::TensorMap(map), _) => {
                let of = match &map.of {
                    TensorMemory::Argument(index) => buffers.get(*index).and_then(|own| own.first()),
                    TensorMemory::Named(name) => memory.iter().find(|(n, _)| n == name).map(|(_, b)| b),
                };
                let of = of.ok_or_else(|| bad_launch(format!("the memory {:?} of a tensor map", map.of)))?;
                launch.arg(map.encode(of.address()).map_err(|error| bad_launch(error.to_string()))?)
            }
            (Arg::Buffer { .. } | Arg::SameAs(_), Some(buffer)) => launch.arg(*buffer),
            (Arg::Buffer { .. } | Arg::SameAs(_), None) => launch,
        };
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
            Some(Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_)) | None => {}
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
    let mut contents: Vec<Option<Vec<u8>>> = buffers.iter().map(content).collect::<Result<_, _>>()?;
    let texels = |resource: &Resource, texels: Option<Buffer>| -> Result<Option<Vec<u8>>, Fault> {
        let (Resource::Surface(of), Some(texels)) = (resource, texels) else { return Ok(None) };
        texels.slice(0, of.image.bytes().into()).map(|part| device.read(part)).transpose()
    };
    for (i, arg) in spec.args.iter().enumerate() {
        if let (Arg::Resource(resource), Some((_, memory))) = (arg, resources.args[i]) {
            contents[i] = texels(resource, memory)?;
        }
    }
    let mut bindings = Vec::new();
    for ((name, resource), memory) in spec.bindings.iter().zip(&resources.bindings) {
        bindings.extend(texels(resource, *memory)?.map(|bytes| (name.clone(), bytes)));
    }
    let of_handles = spec.handles.iter().zip(&resources.handles);
    let handles =
        of_handles.map(|(spec, (_, memory))| texels(&spec.resource, *memory)).collect::<Result<_, _>>()?;
    let global = |global: &Global| Ok((global.name.clone(), device.read_variable(program, &global.name)?));
    let globals = spec.globals.iter().map(global).collect::<Result<_, Fault>>()?;
    let named = |(name, buffer): &(&str, Buffer)| Ok(((*name).to_owned(), device.read(*buffer)?));
    let memory = memory.iter().map(named).collect::<Result<_, Fault>>()?;
    Ok(Execution {
        buffers: contents,
        globals,
        memory,
        bindings,
        handles,
        thread_instructions: stats.thread_instructions,
        seconds: stats.seconds,
    })
}

pub(super) fn bad_launch(message: String) -> Fault {
    Fault::new(FaultCode::BadLaunch, message)
}
