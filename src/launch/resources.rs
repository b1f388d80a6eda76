//! Textures, surfaces and samplers of a launch, made on its device.

use super::{Arg, LaunchSpec, Resource, TexelMemory};
use warpsmith_interp::{Buffer, Device, Fault, Handle, Program};

/// What has been made of the resources of a launch.
#[derive(Default)]
pub(super) struct Resources {
    /// For each argument that is one, the handle, and its texels.
    pub args: Vec<Option<(Handle, Option<Buffer>)>>,
    /// The texels of each binding.
    pub bindings: Vec<Option<Buffer>>,
    /// For each of `handles`, the handle and its texels.
    pub handles: Vec<(Handle, Option<Buffer>)>,
}

impl Resources {
    /// Makes all of them; `buffers` are those of the arguments.
    pub fn new(
        device: &mut Device,
        program: &Program,
        spec: &LaunchSpec,
        buffers: &[Vec<Buffer>],
    ) -> Result<Resources, Fault> {
        let mut made = Resources::default();
        // Memory of their own comes first, so that others can be in it.
        for arg in &spec.args {
            let texels = match arg {
                Arg::Resource(resource) => own_memory(device, resource)?,
                _ => None,
            };
            made.args.push(texels.map(|texels| (Handle::NULL, Some(texels))));
        }
        for (_, resource) in &spec.bindings {
            let texels = own_memory(device, resource)?;
            made.bindings.push(texels);
        }
        for (i, arg) in spec.args.iter().enumerate() {
            if let Arg::Resource(resource) = arg {
                let own = made.args[i].and_then(|(_, texels)| texels);
                let texels = own.or_else(|| made.memory(spec, buffers, resource));
                let handle = create(device, resource, texels, None)
                    .map_err(|fault| of(fault, &format!("argument {i}")))?;
                made.args[i] = Some((handle, texels));
            }
        }
        for (i, (name, resource)) in spec.bindings.iter().enumerate() {
            let texels = made.bindings[i].or_else(|| made.memory(spec, buffers, resource));
            let initial = program.reference(name).map(|reference| &reference.initial);
            let handle = create(device, resource, texels, initial)
                .map_err(|fault| of(fault, &format!("binding `{name}`")))?;
            device.bind(program, name, handle)?;
            made.bindings[i] = texels;
        }
        for (i, spec_of) in spec.handles.iter().enumerate() {
            let own = own_memory(device, &spec_of.resource)?;
            let texels = own.or_else(|| made.memory(spec, buffers, &spec_of.resource));
            let handle = create(device, &spec_of.resource, texels, None)
                .map_err(|fault| of(fault, &format!("handle {i}")))?;
            made.handles.push((handle, texels));
        }
        Ok(made)
    }

    /// The memory of another that texels are in.
    fn memory(&self, spec: &LaunchSpec, buffers: &[Vec<Buffer>], resource: &Resource) -> Option<Buffer> {
        match &resource.texels()?.memory {
            TexelMemory::Bytes(_) | TexelMemory::Unwritten => None,
            TexelMemory::OfArgument(index) => {
                let of_buffer = buffers.get(*index).and_then(|own| own.first()).copied();
                of_buffer.or_else(|| self.args.get(*index).copied().flatten().and_then(|(_, texels)| texels))
            }
            TexelMemory::OfBinding(name) => {
                let index = spec.bindings.iter().position(|(known, _)| known == name)?;
                self.bindings.get(index).copied().flatten()
            }
        }
    }
}

/// Memory for texels that are in their own.
fn own_memory(device: &mut Device, resource: &Resource) -> Result<Option<Buffer>, Fault> {
    let Some(texels) = resource.texels() else { return Ok(None) };
    Ok(match &texels.memory {
        TexelMemory::Bytes(bytes) => Some(device.upload(bytes)?),
        TexelMemory::Unwritten => Some(device.alloc_unwritten(texels.image.bytes().into())?),
        TexelMemory::OfArgument(_) | TexelMemory::OfBinding(_) => None,
    })
}

fn create(
    device: &mut Device,
    resource: &Resource,
    texels: Option<Buffer>,
    initial: Option<&warpsmith_interp::texture::Initial>,
) -> Result<Handle, Fault> {
    let memory = || texels.ok_or_else(|| super::execute::bad_launch("the memory of texels".into()));
    match resource {
        Resource::Texture(of, reading) => {
            device.create_texture(memory()?, &of.image, &reading.sampler(initial))
        }
        Resource::Surface(of) => device.create_surface(memory()?, &of.image),
        Resource::Sampler(reading) => Ok(device.create_sampler(&reading.sampler(initial))),
    }
}

/// The fault with what it is about.
fn of(mut fault: Fault, what: &str) -> Fault {
    fault.message = format!("{what}: {}", fault.message);
    fault
}
