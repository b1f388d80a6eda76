//! From a launch description to what the buffers hold afterwards.

use super::resources::Resources;
use super::texture::HANDLE_BYTES;
use super::{Arg, Global, HandleSpec, LaunchSpec, Resource, TensorMapSpec, TensorMemory};
use std::io::Write;
use warpsmith_interp::observe::Observer;
use warpsmith_interp::{self as interp, Buffer, Device, Fault, FaultCode, Handle, Launch, Program, Stats};

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
    let placed = Placed::new(&mut device, program, spec)?;
    for arg in placed.args(&mut device)? {
        launch = launch.arg(arg);
    }
    placed.write_globals(&mut device, program)?;
    let stats = if observer.is_active() {
        device.launch_observed(program, &launch, observer)?
    } else {
        device.launch(program, &launch)?
    };
    placed.execution(&mut device, program, &stats)
}

/// What a launch has on its device.
struct Placed<'a> {
    spec: &'a LaunchSpec,
    /// For each argument its buffer, or the buffers of a multicast address.
    buffers: Vec<Vec<Buffer>>,
    /// The buffers of the launch's `memory`.
    memory: Vec<(&'a str, Buffer)>,
    resources: Resources,
}

impl<'a> Placed<'a> {
    fn new(device: &mut Device, program: &Program, spec: &'a LaunchSpec) -> Result<Placed<'a>, Fault> {
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
        let resources = Resources::new(device, program, spec, &buffers)?;
        Ok(Placed { spec, buffers, memory, resources })
    }

    /// The buffer of an argument.
    fn buffer(&self, index: usize) -> Option<&Buffer> {
        self.buffers.get(index)?.first()
    }

    /// What the kernel gets, after handles that lie in buffers are written there.
    fn args(&self, device: &mut Device) -> Result<Vec<interp::Arg>, Fault> {
        // By argument and byte.
        let mut in_values: Vec<(usize, u64, Handle)> = Vec::new();
        for (HandleSpec { arg, at, .. }, (handle, _)) in self.spec.handles.iter().zip(&self.resources.handles)
        {
            match self.buffer(*arg) {
                Some(buffer) => {
                    let place = buffer.slice(*at, HANDLE_BYTES);
                    let place =
                        place.ok_or_else(|| bad_launch(format!("a handle at {at} of argument {arg}")))?;
                    device.write(place, &handle.value().to_le_bytes())?;
                }
                None => in_values.push((*arg, *at, *handle)),
            }
        }
        let mut args = Vec::with_capacity(self.spec.args.len());
        for (i, arg) in self.spec.args.iter().enumerate() {
            args.extend(match arg {
                Arg::Value(bytes) => {
                    let mut bytes = bytes.clone();
                    for (_, at, handle) in in_values.iter().filter(|(arg, ..)| *arg == i) {
                        if let Some(place) = bytes.get_mut(*at as usize..).and_then(|b| b.first_chunk_mut()) {
                            *place = handle.value().to_le_bytes();
                        }
                    }
                    Some(interp::Arg::bytes(bytes))
                }
                Arg::Resource(_) => {
                    let made = self.resources.args.get(i).copied().flatten();
                    let (handle, _) =
                        made.ok_or_else(|| bad_launch(format!("the handle of argument {i}")))?;
                    Some(handle.into())
                }
                Arg::Multicast(_) => Some(device.multicast(&self.buffers[i])?.into()),
                Arg::TensorMap(map) => Some(self.tensor_map(map)?),
                Arg::Buffer { .. } | Arg::SameAs(_) => self.buffer(i).map(|buffer| (*buffer).into()),
            });
        }
        Ok(args)
    }

    /// A tensor map may be of the buffer of a later argument.
    fn tensor_map(&self, map: &TensorMapSpec) -> Result<interp::Arg, Fault> {
        let of = match &map.of {
            TensorMemory::Argument(index) => self.buffer(*index),
            TensorMemory::Named(name) => self.memory.iter().find(|(n, _)| n == name).map(|(_, b)| b),
        };
        let of = of.ok_or_else(|| bad_launch(format!("the memory {:?} of a tensor map", map.of)))?;
        Ok(map.encode(of.address()).map_err(|error| bad_launch(error.to_string()))?.into())
    }

    fn write_globals(&self, device: &mut Device, program: &Program) -> Result<(), Fault> {
        for Global { name, content } in &self.spec.globals {
            match content {
                Some(Arg::Value(bytes) | Arg::Buffer { bytes, .. }) => {
                    device.write_variable(program, name, bytes)?
                }
                Some(Arg::SameAs(index)) => {
                    if let Some(buffer) = self.buffer(*index) {
                        device.write_variable(program, name, &buffer.address().to_le_bytes())?;
                    }
                }
                Some(Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_)) | None => {}
            }
        }
        Ok(())
    }

    /// What the launch left behind.
    fn execution(&self, device: &mut Device, program: &Program, stats: &Stats) -> Result<Execution, Fault> {
        let (spec, resources) = (self.spec, &self.resources);
        let content = |own: &Vec<Buffer>| -> Result<Option<Vec<u8>>, Fault> {
            let parts: Vec<Vec<u8>> =
                own.iter().map(|buffer| device.read(*buffer)).collect::<Result<_, _>>()?;
            Ok((!own.is_empty()).then(|| parts.concat()))
        };
        let mut buffers: Vec<Option<Vec<u8>>> = self.buffers.iter().map(content).collect::<Result<_, _>>()?;
        let texels = |resource: &Resource, texels: Option<Buffer>| -> Result<Option<Vec<u8>>, Fault> {
            let (Resource::Surface(of), Some(texels)) = (resource, texels) else { return Ok(None) };
            texels.slice(0, of.image.bytes().into()).map(|part| device.read(part)).transpose()
        };
        for (i, arg) in spec.args.iter().enumerate() {
            if let (Arg::Resource(resource), Some((_, memory))) = (arg, resources.args[i]) {
                buffers[i] = texels(resource, memory)?;
            }
        }
        let mut bindings = Vec::new();
        for ((name, resource), memory) in spec.bindings.iter().zip(&resources.bindings) {
            bindings.extend(texels(resource, *memory)?.map(|bytes| (name.clone(), bytes)));
        }
        let handles = spec.handles.iter().zip(&resources.handles);
        let handles =
            handles.map(|(spec, (_, memory))| texels(&spec.resource, *memory)).collect::<Result<_, _>>()?;
        let global =
            |global: &Global| Ok((global.name.clone(), device.read_variable(program, &global.name)?));
        let globals = spec.globals.iter().map(global).collect::<Result<_, Fault>>()?;
        let named = |(name, buffer): &(&str, Buffer)| Ok(((*name).to_owned(), device.read(*buffer)?));
        let memory = self.memory.iter().map(named).collect::<Result<_, Fault>>()?;
        Ok(Execution {
            buffers,
            globals,
            memory,
            bindings,
            handles,
            thread_instructions: stats.thread_instructions,
            seconds: stats.seconds,
        })
    }
}

pub(super) fn bad_launch(message: String) -> Fault {
    Fault::new(FaultCode::BadLaunch, message)
}
