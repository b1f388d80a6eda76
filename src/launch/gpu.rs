//! A launch on the GPU at hand.

use super::execute::bad_launch;
use super::texture::HANDLE_BYTES;
use super::{Arg, Global, HandleSpec, LaunchSpec, Reading, Resource, TensorMapSpec, TensorMemory};
use super::{TexelMemory, Texels, Traversal};
use std::fmt;
use warpsmith_gpu::{
    Array, Error, Gpu, Launch, Linear, Memory, Module, Optimization, Shape, TensorMap, Texture,
};
use warpsmith_interp::Fault;
use warpsmith_interp::cuda::{
    ADDRESS_MODES, ELEMENT_TYPES, FILLS, FILTERS, FORMATS, INTERLEAVES, NORMALIZED_COORDINATES, PROMOTIONS,
    READ_AS_INTEGER, SRGB, SWIZZLES,
};
use warpsmith_interp::texture::{Comparison, Format, Image, ReadMode};

/// What a launch on a GPU left behind: what [`super::Execution`] has of one on the engine.
#[derive(Clone, PartialEq, Debug)]
pub struct OnGpu {
    /// For each argument the content of its buffer or surface; `None` for values.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The content of each variable that the launch names in `globals`.
    pub globals: Vec<(String, Vec<u8>)>,
    /// The content of each buffer of the launch's `memory`.
    pub memory: Vec<(String, Vec<u8>)>,
    /// For each of the launch's `handles` the texels of its surface.
    pub handles: Vec<Option<Vec<u8>>>,
}

/// Why a GPU gave no result.
#[derive(Clone, PartialEq, Debug)]
pub enum GpuError {
    /// The launch has something that is not done on GPUs, in a sentence.
    Unsupported(String),
    /// The launch does not fit together.
    Launch(Fault),
    /// The driver refused, or the kernel went wrong: see [`Error::is_fault`].
    Driver(Error),
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuError::Unsupported(what) => write!(f, "{what} on a GPU are not supported"),
            GpuError::Launch(fault) => fault.fmt(f),
            GpuError::Driver(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GpuError {}

impl From<Error> for GpuError {
    fn from(error: Error) -> Self {
        GpuError::Driver(error)
    }
}

impl From<Fault> for GpuError {
    fn from(fault: Fault) -> Self {
        GpuError::Launch(fault)
    }
}

/// Runs a kernel of PTX on a GPU, in fresh memory.
///
/// The engine checks what a GPU does not: run the launch there first. After an error of a kernel the GPU has to be reset ([`Gpu::reset`]).
pub fn execute_on_gpu(
    gpu: &Gpu,
    ptx: &str,
    spec: &LaunchSpec,
    optimization: Optimization,
) -> Result<OnGpu, GpuError> {
    let unsupported = |what: &str| Err(GpuError::Unsupported(what.to_owned()));
    if spec.entry.is_empty() {
        return unsupported("launches that do not name their kernel");
    }
    if !spec.bindings.is_empty() {
        return unsupported("textures that are bound to a name");
    }
    if spec.poison.is_some() || spec.schedule.is_some() || spec.seed.is_some() {
        return unsupported("poison, schedules and seeds");
    }
    let module = gpu.load(ptx, optimization)?;
    let memory = Placed::new(gpu, spec)?;
    // Arrays first, as objects borrow them.
    let of_args = spec.args.iter().map(|arg| match arg {
        Arg::Resource(resource) => Some(resource),
        _ => None,
    });
    let resources: Vec<Option<&Resource>> =
        of_args.chain(spec.handles.iter().map(|handle| Some(&handle.resource))).collect();
    let arrays: Vec<Option<Array<'_>>> =
        resources.iter().map(|of| of.map_or(Ok(None), |of| array(gpu, of))).collect::<Result<_, _>>()?;
    let mut objects: Vec<Option<Texture<'_>>> = Vec::new();
    for (resource, array) in resources.iter().zip(&arrays) {
        objects.push(match resource {
            None => None,
            Some(resource) => Some(object(gpu, resource, array.as_ref(), &arrays, &memory.buffers)?),
        });
    }
    let (of_args, of_handles) = objects.split_at(spec.args.len());
    let mut params = memory.params(gpu, of_args)?;
    memory.write_handles(of_handles, &mut params)?;
    memory.write_globals(&module)?;
    let mut launch = Launch::new(spec.entry.as_str(), spec.grid, spec.block);
    launch.cluster = spec.cluster;
    launch.cooperative = spec.cooperative;
    launch.dynamic_shared = spec.dynamic_shared;
    launch.params = params;
    module.launch(&launch)?;
    let texels = |(resource, array): (&Option<&Resource>, &Option<Array<'_>>)| match (resource, array) {
        (Some(Resource::Surface(_)), Some(array)) => array.read().map(Some),
        _ => Ok(None),
    };
    let surfaces: Vec<Option<Vec<u8>>> =
        resources.iter().zip(&arrays).map(texels).collect::<Result<_, _>>()?;
    memory.left(&module, &surfaces)
}

/// The memory of a launch on the GPU.
struct Placed<'a, 'g> {
    spec: &'a LaunchSpec,
    /// For each argument that is a buffer.
    buffers: Vec<Option<Memory<'g>>>,
    /// The buffers of the launch's `memory`.
    named: Vec<(&'a str, Memory<'g>)>,
}

impl<'a, 'g> Placed<'a, 'g> {
    fn new(gpu: &'g Gpu, spec: &'a LaunchSpec) -> Result<Placed<'a, 'g>, GpuError> {
        let mut buffers = Vec::with_capacity(spec.args.len());
        for arg in &spec.args {
            buffers.push(match arg {
                Arg::Buffer { bytes, .. } => Some(gpu.upload(bytes)?),
                Arg::Value(_) | Arg::SameAs(_) | Arg::TensorMap(_) | Arg::Resource(_) => None,
                Arg::Multicast(_) => {
                    let what = "multicast addresses, which need several GPUs,".to_owned();
                    return Err(GpuError::Unsupported(what));
                }
            });
        }
        let mut named = Vec::with_capacity(spec.memory.len());
        for (name, arg) in &spec.memory {
            if let Arg::Buffer { bytes, .. } = arg {
                named.push((name.as_str(), gpu.upload(bytes)?));
            }
        }
        Ok(Placed { spec, buffers, named })
    }

    /// The memory of an argument that is a buffer, or the same as an earlier one.
    fn buffer(&self, index: usize) -> Option<&Memory<'g>> {
        match self.spec.args.get(index)? {
            // An argument is the same as an earlier one only.
            Arg::SameAs(earlier) if *earlier < index => self.buffer(*earlier),
            _ => self.buffers.get(index)?.as_ref(),
        }
    }

    /// The bytes of each argument; of one that is a texture or surface, its object.
    fn params(&self, gpu: &Gpu, objects: &[Option<Texture<'_>>]) -> Result<Vec<Vec<u8>>, GpuError> {
        let address = |of: Option<&Memory<'_>>| of.map_or(0, Memory::address).to_le_bytes().to_vec();
        let mut params = Vec::with_capacity(self.spec.args.len());
        for (i, (arg, object)) in self.spec.args.iter().zip(objects).enumerate() {
            params.push(match arg {
                Arg::Value(bytes) => bytes.clone(),
                Arg::Buffer { .. } | Arg::SameAs(_) => address(self.buffer(i)),
                Arg::TensorMap(map) => {
                    let of = match &map.of {
                        TensorMemory::Argument(index) => self.buffer(*index),
                        TensorMemory::Named(name) => {
                            self.named.iter().find(|(n, _)| n == name).map(|(_, m)| m)
                        }
                    };
                    let of =
                        of.ok_or_else(|| bad_launch(format!("the memory {:?} of a tensor map", map.of)))?;
                    gpu.tensor_map(&tensor_map(map, of.address())?)?.to_vec()
                }
                Arg::Resource(_) => object.as_ref().map_or(0, Texture::handle).to_le_bytes().to_vec(),
                Arg::Multicast(_) => Vec::new(),
            });
        }
        Ok(params)
    }

    /// Writes the launch's handles into buffers and arguments.
    fn write_handles(&self, objects: &[Option<Texture<'_>>], params: &mut [Vec<u8>]) -> Result<(), GpuError> {
        for (HandleSpec { arg, at, .. }, object) in self.spec.handles.iter().zip(objects) {
            let bytes = object.as_ref().map_or(0, Texture::handle).to_le_bytes();
            let (at, out) = (*at as usize, || bad_launch(format!("a handle at {at} of argument {arg}")));
            match self.buffers.get(*arg).and_then(Option::as_ref) {
                Some(buffer) => buffer.write(at, &bytes)?,
                None => {
                    let place =
                        params.get_mut(*arg).and_then(|bytes| bytes.get_mut(at..at + HANDLE_BYTES as usize));
                    place.ok_or_else(out)?.copy_from_slice(&bytes);
                }
            }
        }
        Ok(())
    }

    fn write_globals(&self, module: &Module<'_>) -> Result<(), GpuError> {
        for Global { name, content } in &self.spec.globals {
            match content {
                Some(Arg::Value(bytes) | Arg::Buffer { bytes, .. }) => module.write_variable(name, bytes)?,
                Some(Arg::SameAs(index)) => {
                    let address = self.buffer(*index).map_or(0, Memory::address);
                    module.write_variable(name, &address.to_le_bytes())?;
                }
                Some(Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_)) | None => {}
            }
        }
        Ok(())
    }

    /// What is there after the launch; `surfaces` are the texels of arguments and then of handles.
    fn left(&self, module: &Module<'_>, surfaces: &[Option<Vec<u8>>]) -> Result<OnGpu, GpuError> {
        let mut buffers = Vec::with_capacity(self.spec.args.len());
        for (i, arg) in self.spec.args.iter().enumerate() {
            buffers.push(match arg {
                Arg::Buffer { .. } | Arg::SameAs(_) => self.buffer(i).map(Memory::read).transpose()?,
                Arg::Resource(_) => surfaces[i].clone(),
                Arg::Value(_) | Arg::Multicast(_) | Arg::TensorMap(_) => None,
            });
        }
        let variable = |global: &Global| Ok((global.name.clone(), module.read_variable(&global.name)?));
        let named = |(name, memory): &(&str, Memory<'_>)| Ok(((*name).to_owned(), memory.read()?));
        Ok(OnGpu {
            buffers,
            globals: self.spec.globals.iter().map(variable).collect::<Result<_, Error>>()?,
            memory: self.named.iter().map(named).collect::<Result<_, Error>>()?,
            handles: surfaces[self.spec.args.len()..].to_vec(),
        })
    }
}

/// The number of a name in a list of the driver's.
fn number<T: PartialEq>(list: &[T], of: &T, what: &str) -> Result<u32, GpuError> {
    let found = list.iter().position(|known| known == of);
    found.map(|at| at as u32).ok_or_else(|| GpuError::Unsupported(what.to_owned()))
}

fn tensor_map(map: &TensorMapSpec, start: u64) -> Result<TensorMap, GpuError> {
    let tensor = &map.tensor;
    let steps = if tensor.element_strides.is_empty() {
        vec![1; tensor.global_dim.len()]
    } else {
        tensor.element_strides.clone()
    };
    Ok(TensorMap {
        data_type: number(&ELEMENT_TYPES, &tensor.data_type, "such elements of tensor maps")?,
        address: start.wrapping_add(tensor.global_address),
        sizes: tensor.global_dim.clone(),
        strides: tensor.global_strides.clone(),
        element_strides: steps,
        interleave: number(&INTERLEAVES, &tensor.interleave, "such layouts")?,
        swizzle: number(&SWIZZLES, &tensor.swizzle, "such swizzles")?,
        promotion: number(&PROMOTIONS, &tensor.l2_promotion, "such promotions")?,
        fill: number(&FILLS, &tensor.oob_fill, "such fills")?,
        traversal: match &map.traversal {
            Traversal::Box(sizes) => warpsmith_gpu::Traversal::Box(sizes.clone()),
            Traversal::Im2col { wide: Some(_), .. } => {
                return Err(GpuError::Unsupported("tensor maps of pixels of rows alone".into()));
            }
            Traversal::Im2col { lower, upper, channels, pixels, wide: None } => {
                let (lower, upper) = (lower.clone(), upper.clone());
                warpsmith_gpu::Traversal::Im2col { lower, upper, channels: *channels, pixels: *pixels }
            }
        },
    })
}

fn format(format: Format) -> Result<u32, GpuError> {
    let found = FORMATS.iter().find(|(_, ty)| *ty == format.ty);
    found.map(|(number, _)| *number).ok_or_else(|| GpuError::Unsupported("such texels".into()))
}

fn shape(image: &Image, surface: bool) -> Result<Shape, GpuError> {
    if image.samples().is_some() {
        return Err(GpuError::Unsupported("textures of several samples".into()));
    }
    Ok(Shape {
        format: format(image.format())?,
        channels: image.format().channels,
        texel: image.format().bytes() as usize,
        dims: image.dims(),
        size: image.size().map(|size| size.max(1)),
        layers: image.layers(),
        cube: image.is_cube(),
        levels: image.mipmap(),
        surface,
    })
}

/// The array of a resource that has texels of its own.
fn array<'g>(gpu: &'g Gpu, resource: &Resource) -> Result<Option<Array<'g>>, GpuError> {
    let surface = matches!(resource, Resource::Surface(_));
    let Some(Texels { image, memory }) = resource.texels() else { return Ok(None) };
    Ok(match memory {
        TexelMemory::Bytes(bytes) => Some(gpu.array(&shape(image, surface)?, bytes)?),
        TexelMemory::Unwritten => Some(gpu.array(&shape(image, surface)?, &vec![0; image.bytes() as usize])?),
        TexelMemory::OfArgument(_) | TexelMemory::OfBinding(_) => None,
    })
}

fn object<'g>(
    gpu: &'g Gpu,
    resource: &Resource,
    own: Option<&'g Array<'g>>,
    arrays: &'g [Option<Array<'g>>],
    buffers: &[Option<Memory<'_>>],
) -> Result<Texture<'g>, GpuError> {
    let (texels, reading) = match resource {
        Resource::Sampler(_) => return Err(GpuError::Unsupported("samplers apart from textures".into())),
        Resource::Texture(texels, reading) => (texels, Some(reading)),
        Resource::Surface(texels) => (texels, None),
    };
    let of_other = || match &texels.memory {
        TexelMemory::OfArgument(index) => arrays.get(*index).and_then(Option::as_ref),
        TexelMemory::Bytes(_) | TexelMemory::Unwritten | TexelMemory::OfBinding(_) => None,
    };
    let Some(reading) = reading else {
        let array = own.or_else(of_other);
        let array = array.ok_or_else(|| GpuError::Unsupported("surfaces of ordinary memory".into()))?;
        return Ok(Texture::surface(gpu, array)?);
    };
    let how = self::reading(reading, &texels.image)?;
    if let Some(array) = own.or_else(of_other) {
        return Ok(Texture::of_array(gpu, array, &how)?);
    }
    let memory = match &texels.memory {
        TexelMemory::OfArgument(index) => buffers.get(*index).and_then(Option::as_ref),
        TexelMemory::Bytes(_) | TexelMemory::Unwritten | TexelMemory::OfBinding(_) => None,
    };
    let memory = memory.ok_or_else(|| bad_launch("the memory of texels".into()))?;
    if texels.image.dims() != 1 {
        return Err(GpuError::Unsupported("textures of rows of ordinary memory".into()));
    }
    let linear = Linear {
        address: memory.address(),
        format: format(texels.image.format())?,
        channels: texels.image.format().channels,
        bytes: texels.image.bytes().into(),
    };
    Ok(Texture::of_memory(gpu, linear, &how)?)
}

fn reading(reading: &Reading, image: &Image) -> Result<warpsmith_gpu::Reading, GpuError> {
    let sampler = reading.sampler(None);
    if sampler.compare != Comparison::LessEqual || sampler.force_unnormalized {
        return Err(GpuError::Unsupported("comparisons of depths".into()));
    }
    let mut flags = 0;
    if sampler.normalized {
        flags |= NORMALIZED_COORDINATES;
    }
    if image.format().ty.is_integer() && sampler.read == ReadMode::Element {
        flags |= READ_AS_INTEGER;
    }
    if sampler.srgb {
        flags |= SRGB;
    }
    let mut address = [0; 3];
    for (own, mode) in address.iter_mut().zip(&sampler.address) {
        *own = number(&ADDRESS_MODES, mode, "such address modes of textures")?;
    }
    // A border of integers that are read as such is given in their bits.
    let whole = flags & READ_AS_INTEGER != 0;
    let border = sampler.border.map(|n| if whole { f32::from_bits(n as i64 as u32) } else { n as f32 });
    Ok(warpsmith_gpu::Reading {
        address,
        filter: number(&FILTERS, &sampler.filter, "such filters")?,
        mip_filter: number(&FILTERS, &sampler.mip_filter, "such filters")?,
        flags,
        bias: sampler.lod.bias,
        levels: [sampler.lod.min, sampler.lod.max.min(1000.0)],
        border,
    })
}
