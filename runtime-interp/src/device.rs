//! The library's face: a device with memory, programs to launch on it, and what comes of a launch.

use crate::engine::observe::Observer;
use crate::engine::{Cell, Identity, Level, Program, Reference};
use crate::fault::{Fault, FaultCode};
use crate::launch::{Launch, Stats};
use crate::memory::bytes::Bytes;
use crate::memory::global::Global;
use crate::memory::heap::Heap;
use crate::memory::window;
use crate::output::Sink;
use crate::prepared::Prepared;
use crate::texture::object::Object;
use crate::texture::{Image, ReferenceKind, Sampler};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith_diag::nearest;
use warpsmith_isa::{StateSpace, limits};

/// The machine that kernels believe they run on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Machine {
    /// Number of multiprocessors: `%nsmid`.
    pub sms: u32,
    /// Warps that fit one of them: `%nwarpid`.
    pub warps_per_sm: u32,
    /// Which multiprocessor a block runs on: `%smid`.
    pub placement: Placement,
    /// The rate of `%clock` in MHz, by which `%globaltimer` counts nanoseconds. A warp instruction is one tick.
    pub clock_mhz: u32,
    /// `%envreg0` to `%envreg31`.
    pub environment: [u32; 32],
    /// The most blocks that one of them holds.
    pub blocks_per_sm: u32,
    /// Bytes of global memory.
    pub global_memory: u64,
    /// The most shared memory a block can have, static and dynamic, and all blocks of a multiprocessor together.
    pub shared_memory: u64,
    /// The most blocks of a cluster.
    pub cluster_blocks: u32,
    /// Bytes that kernels can have from `malloc` at a time.
    pub heap: u64,
    /// Bytes of the buffer for what a kernel prints. When it is full, the oldest text is lost.
    pub print_buffer: u64,
    /// The highest instruction set of the host that launches use, if the host has it. Results do not depend on it.
    pub level: Level,
    /// When machine code is made of programs that have a maker of some (`Program::set_tier`). Results do not depend on it.
    pub native: NativeCode,
}

/// When launches make machine code of the host, of programs that have a maker of some.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum NativeCode {
    /// Of what is executed often.
    #[default]
    Auto,
    /// Of all of a program, before its first launch.
    Always,
    /// Never, and what there is of it is not used.
    Off,
}

impl Default for Machine {
    /// The sizes of an sm_90 device, with a part of its memory.
    fn default() -> Self {
        Machine {
            sms: 132,
            warps_per_sm: 64,
            blocks_per_sm: 32,
            placement: Placement::default(),
            clock_mhz: 1980,
            environment: [0; 32],
            global_memory: 16 << 30,
            shared_memory: limits::BLOCK_SHARED_BYTES,
            cluster_blocks: limits::CLUSTER_BLOCKS,
            heap: 8 << 20,
            print_buffer: 1 << 20,
            level: Level::Avx512,
            native: NativeCode::default(),
        }
    }
}

impl Machine {
    /// The multiprocessor of a block of so many warps, by its number in the grid.
    pub(crate) fn sm_of(&self, block: u64, warps: u32) -> u32 {
        let sms = u64::from(self.sms.max(1));
        let resident = u64::from((self.warps_per_sm / warps.max(1)).max(1));
        let sm = match self.placement {
            Placement::Spread => block % sms,
            Placement::Packed => block / resident % sms,
        };
        sm as u32
    }

    /// How many blocks of so many warps and bytes of shared memory the machine holds at a time; one at least.
    pub(crate) fn room(&self, warps: u32, shared: u64) -> u64 {
        let by_warps = self.warps_per_sm / warps.max(1);
        let by_memory = self.shared_memory / shared.max(1);
        let of_sm = u64::from(by_warps.min(self.blocks_per_sm)).min(by_memory);
        (of_sm * u64::from(self.sms)).max(1)
    }

    pub(crate) fn nanoseconds(&self, ticks: u64) -> u64 {
        (u128::from(ticks) * 1000 / u128::from(self.clock_mhz.max(1))) as u64
    }
}

/// How blocks are put on multiprocessors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Placement {
    /// One block to each in turn.
    #[default]
    Spread,
    /// As many to the first as its warps allow, then to the next.
    Packed,
}

/// Bounds on what a launch may use, so that no kernel can hold the host.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Instructions that all threads together may execute.
    pub steps: u64,
    /// Instructions that the warps of one block may execute.
    pub block_steps: u64,
    /// Blocks that a grid may have.
    pub blocks: u64,
    /// Bytes that calls and local variables of one thread may take, registers of suspended functions included.
    pub stack: u64,
}

impl Default for Limits {
    /// Generous for kernels that end, and seconds for one that does not.
    fn default() -> Self {
        Limits { steps: 1 << 44, block_steps: 1 << 30, blocks: 1 << 24, stack: 256 << 10 }
    }
}

/// A range of global memory: a plain handle, valid for the device that gave it until it is freed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    address: u64,
    bytes: u64,
}

impl Buffer {
    pub(crate) fn new(address: u64, bytes: u64) -> Buffer {
        Buffer { address, bytes }
    }

    /// The address a kernel sees.
    pub fn address(self) -> u64 {
        self.address
    }

    /// The size in bytes.
    pub fn len(self) -> u64 {
        self.bytes
    }

    /// True for a buffer of no bytes.
    pub fn is_empty(self) -> bool {
        self.bytes == 0
    }

    /// The part from `offset` on, `bytes` long; `None` if it does not fit.
    pub fn slice(self, offset: u64, bytes: u64) -> Option<Buffer> {
        let fits = offset <= self.bytes && bytes <= self.bytes - offset;
        fits.then(|| Buffer { address: self.address + offset, bytes })
    }
}

/// Images start at multiples of this (PTX ISA 9.0, 9.7.10.3).
const TEXEL_ALIGN: u64 = 16;

/// The handle of a texture, sampler or surface: a plain value, valid for the device that gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handle(u64);

impl Handle {
    /// The handle of nothing.
    pub const NULL: Handle = Handle(0);

    /// What a kernel sees, as a value of 64 bits.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// Plain numbers that buffers can be filled with and read as.
pub trait Plain: Copy + 'static {
    /// Appends the little-endian bytes.
    fn put(self, bytes: &mut Vec<u8>);
    /// Reads the value from exactly its bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl Plain for $t {
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$t>()];
                own.copy_from_slice(bytes);
                <$t>::from_le_bytes(own)
            }
        }
    )*};
}
plain!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

/// What a program has on a device: its variables, and its constants with their addresses.
pub(crate) struct Instance {
    globals: u64,
    constants: Arc<Vec<Cell>>,
    /// The kernel whose addresses of shared variables are among the constants.
    kernel: Option<u32>,
    constant: Bytes,
    /// Where the constant variables are in global memory, on a device whose addresses are those of the host.
    constant_address: Option<u64>,
}

/// A simulated GPU.
///
/// ```
/// # use warpsmith_interp::engine::{lanes, Access, Address, FunctionKind, ProgramBuilder, Special, Width};
/// # use warpsmith_isa::StateSpace;
/// use warpsmith_interp::{Device, Launch};
/// # let mut program = ProgramBuilder::new();
/// # let kernel = program.declare("iota", FunctionKind::kernel([("out", 8, 8)]));
/// # let mut body = program.body(kernel);
/// # let (out, tid, address) = (body.reg(Width::W64), body.reg(Width::W32), body.reg(Width::W64));
/// # body.load(Access::unsigned(StateSpace::Param, 8), &[out], Address::Absolute(0));
/// # body.special(tid, Special::TidX);
/// # body.lanes(lanes::vector(|base: u64, i: u32| base + 4 * u64::from(i)), &[address], &[out, tid]);
/// # body.store(Access::unsigned(StateSpace::Global, 4), &[tid], Address::Reg(address, 0));
/// # body.finish();
/// # let program = program.finish().unwrap();
/// // `program` holds a kernel that stores each thread's number.
/// let mut device = Device::new();
/// let out = device.upload(&[0u32; 64])?;
/// let stats = device.launch(&program, &Launch::new("iota").block([64, 1, 1]).arg(out))?;
/// assert_eq!(device.download::<u32>(out)?, (0..64).collect::<Vec<u32>>());
/// assert_eq!(stats.threads, 64);
///
/// // A kernel that oversteps its buffer is stopped, and says where.
/// let small = device.upload(&[0u32; 32])?;
/// let fault = device.launch(&program, &Launch::new("iota").block([64, 1, 1]).arg(small)).unwrap_err();
/// assert_eq!(fault.code.name(), "out_of_bounds");
/// assert_eq!(fault.thread, Some([32, 0, 0]));
/// # Ok::<(), warpsmith_interp::Fault>(())
/// ```
pub struct Device {
    // What a launch uses is shared with it, so that the device can go on while it runs.
    machine: Arc<Machine>,
    global: Arc<Global>,
    instances: FxHashMap<Identity, Instance>,
    heap: Option<Arc<Heap>>,
    objects: Arc<Vec<Object>>,
    sink: Arc<Mutex<Sink>>,
    launches: u64,
}

impl Default for Device {
    fn default() -> Self {
        Device::new()
    }
}

impl Device {
    /// A device with the default [`Machine`].
    pub fn new() -> Self {
        Device::with_machine(Machine::default())
    }

    /// A device of a chosen kind.
    pub fn with_machine(machine: Machine) -> Self {
        let global = Global::new(machine.global_memory);
        Device::with_memory(machine, global)
    }

    /// A device of a chosen kind whose addresses are those of the host: a pointer of a kernel is one of the host, and the other way round, for
    /// memory of the host that [`Device::adopt`] was told of.
    #[cfg(feature = "mapped")]
    pub fn mapped(machine: Machine) -> Self {
        let global = Global::mapped(machine.global_memory);
        Device::with_memory(machine, global)
    }

    fn with_memory(machine: Machine, global: Global) -> Self {
        Device {
            machine: Arc::new(machine),
            global: Arc::new(global),
            instances: FxHashMap::default(),
            heap: None,
            objects: Arc::default(),
            sink: Arc::new(Mutex::new(Sink::Kept(VecDeque::new()))),
            launches: 0,
        }
    }

    /// Sends what kernels print to `sink` when a launch ends, in the order of blocks, and within a block as its threads ran.
    /// Until then a device keeps the text for [`Device::take_output`].
    pub fn set_output(&mut self, sink: impl Write + Send + 'static) {
        self.sink = Arc::new(Mutex::new(Sink::Host(Box::new(sink))));
    }

    /// What kernels have printed since the last call, at most the last [`Machine::print_buffer`] bytes; nothing if the
    /// output has gone to a sink.
    pub fn take_output(&mut self) -> Vec<u8> {
        match &mut *self.sink.lock().unwrap_or_else(PoisonError::into_inner) {
            Sink::Kept(kept) => std::mem::take(kept).into(),
            Sink::Host(_) => Vec::new(),
        }
    }

    /// Bytes that kernels hold from `malloc`. They stay allocated until a kernel frees them.
    pub fn heap_used(&self) -> u64 {
        self.heap.as_ref().map_or(0, |heap| heap.used())
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Bytes of global memory in use.
    pub fn used_memory(&self) -> u64 {
        self.global.used()
    }

    /// Allocates zeroed memory, aligned to 256 bytes.
    pub fn alloc(&mut self, bytes: u64) -> Result<Buffer, Fault> {
        let address = self.memory().allocate(bytes).ok_or_else(|| self.no_room(bytes))?;
        Ok(Buffer { address, bytes })
    }

    /// As [`Device::alloc`], of memory that a checker takes for never written: its zeros are no one's.
    pub fn alloc_unwritten(&mut self, bytes: u64) -> Result<Buffer, Fault> {
        let address = self.memory().allocate_unwritten(bytes).ok_or_else(|| self.no_room(bytes))?;
        Ok(Buffer { address, bytes })
    }

    /// The table of allocations, to change it: a launch that goes on keeps the one that it began with.
    pub(crate) fn memory(&mut self) -> &mut Global {
        Arc::make_mut(&mut self.global)
    }

    pub(crate) fn global(&self) -> &Global {
        &self.global
    }

    fn no_room(&self, bytes: u64) -> Fault {
        let free = self.machine.global_memory.saturating_sub(self.global.used());
        let message = format!("no room for {bytes} bytes of global memory ({free} are free)");
        Fault::new(FaultCode::OutOfMemory, message)
    }

    /// Allocates a buffer with these values.
    pub fn upload<T: Plain>(&mut self, values: &[T]) -> Result<Buffer, Fault> {
        let buffer = self.alloc(size_of_val(values) as u64)?;
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|v| v.put(&mut bytes));
        self.write(buffer, &bytes)?;
        Ok(buffer)
    }

    /// Frees a buffer that [`Device::alloc`] or [`Device::upload`] gave.
    pub fn free(&mut self, buffer: Buffer) -> Result<(), Fault> {
        let is_buffer = self.global.starting_at(buffer.address).is_some_and(|a| !a.variables && !a.heap);
        if is_buffer && self.memory().free(buffer.address) {
            return Ok(());
        }
        Err(Fault::new(
            FaultCode::OutOfBounds,
            format!("{:#x} is not the address of an allocation", buffer.address),
        ))
    }

    /// Copies bytes to the start of a buffer.
    pub fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<(), Fault> {
        let Some(part) = buffer.slice(0, bytes.len() as u64) else {
            let message = format!("write of {} bytes to a buffer of {}", bytes.len(), buffer.bytes);
            return Err(Fault::new(FaultCode::OutOfBounds, message));
        };
        let (block, offset) = self.find(part)?;
        block.write(offset, bytes);
        Ok(())
    }

    /// The bytes of a buffer.
    pub fn read(&self, buffer: Buffer) -> Result<Vec<u8>, Fault> {
        let (block, offset) = self.find(buffer)?;
        let mut bytes = vec![0; buffer.bytes as usize];
        block.read(offset, &mut bytes);
        Ok(bytes)
    }

    /// The values of a buffer; bytes past the last whole value are left out.
    pub fn download<T: Plain>(&self, buffer: Buffer) -> Result<Vec<T>, Fault> {
        Ok(self.read(buffer)?.chunks_exact(size_of::<T>()).map(T::get).collect())
    }

    /// A range of multicast addresses for buffers of equal size, as several devices would give their parts of a multicast
    /// object: what a kernel does there with a `multimem` instruction, it does in all of them. The handle has no memory of its own:
    /// it can be an argument of a launch, and neither read nor freed.
    ///
    /// ```
    /// use warpsmith_interp::{Device, Launch, Program};
    /// use warpsmith_ptx::ValidatedModule;
    /// let source = "
    /// .version 8.1
    /// .target sm_90
    /// .address_size 64
    /// .visible .entry sum(.param .u64 all, .param .u64 out) {
    ///     .reg .b32 %r<2>;
    ///     .reg .b64 %rd<3>;
    ///     ld.param.u64 %rd0, [all];
    ///     ld.param.u64 %rd1, [out];
    ///     multimem.ld_reduce.global.add.u32 %r0, [%rd0];
    ///     st.global.u32 [%rd1], %r0;
    ///     ret;
    /// }";
    /// let module = ValidatedModule::parse(source).unwrap();
    /// let program = Program::load(&module).unwrap();
    /// let mut device = Device::new();
    /// let replicas = [device.upload(&[10u32])?, device.upload(&[20u32])?, device.upload(&[12u32])?];
    /// let (all, out) = (device.multicast(&replicas)?, device.upload(&[0u32])?);
    /// device.launch(&program, &Launch::new("sum").arg(all).arg(out))?;
    /// assert_eq!(device.download::<u32>(out)?, [42]);
    /// # Ok::<(), warpsmith_interp::Fault>(())
    /// ```
    pub fn multicast(&mut self, buffers: &[Buffer]) -> Result<Buffer, Fault> {
        let Some(first) = buffers.first() else {
            return Err(Fault::new(FaultCode::BadOperand, "a multicast address needs at least one buffer"));
        };
        if let Some(odd) = buffers.iter().find(|b| b.bytes != first.bytes) {
            let message = format!("multicast to buffers of {} and of {} bytes", first.bytes, odd.bytes);
            return Err(Fault::new(FaultCode::BadOperand, message));
        }
        for buffer in buffers {
            self.find(*buffer)?;
        }
        let addresses = buffers.iter().map(|b| b.address).collect();
        let address = self.memory().multicast(addresses, first.bytes);
        let none = || Fault::new(FaultCode::OutOfMemory, "no more multicast addresses");
        Ok(Buffer { address: address.ok_or_else(none)?, bytes: first.bytes })
    }

    /// A texture of texels in a buffer, which may be that of other textures and surfaces too.
    ///
    /// ```
    /// use warpsmith_interp::texture::{ChannelType, Filter, Format, Image, Sampler};
    /// use warpsmith_interp::{Device, Launch, Program};
    /// use warpsmith_ptx::ValidatedModule;
    /// let source = "
    /// .version 7.0
    /// .target sm_80
    /// .address_size 64
    /// .visible .entry at(.param .u64 texture, .param .f32 x, .param .u64 out) {
    ///     .reg .f32 %f<5>;
    ///     .reg .b64 %rd<2>;
    ///     ld.param.u64 %rd0, [texture];
    ///     ld.param.f32 %f0, [x];
    ///     tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd0, {%f0}];
    ///     ld.param.u64 %rd1, [out];
    ///     st.global.f32 [%rd1], %f1;
    ///     ret;
    /// }";
    /// let program = Program::load(&ValidatedModule::parse(source)?)?;
    /// let mut device = Device::new();
    /// let texels = device.upload(&[0f32, 10.0, 20.0, 30.0])?;
    /// let image = Image::new(Format { ty: ChannelType::F32, channels: 1 }, &[4], None)?;
    /// let sampler = Sampler { filter: Filter::Linear, ..Sampler::default() };
    /// let texture = device.create_texture(texels, &image, &sampler)?;
    /// let out = device.upload(&[0f32])?;
    /// device.launch(&program, &Launch::new("at").arg(texture).arg(2.25f32).arg(out))?;
    /// assert_eq!(device.download::<f32>(out)?, [17.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_texture(
        &mut self,
        texels: Buffer,
        image: &Image,
        sampler: &Sampler,
    ) -> Result<Handle, Fault> {
        if let Err((field, message)) = sampler.check(image.format()) {
            return Err(Fault::new(FaultCode::BadTexture, format!("{field}: {message}")));
        }
        let address = self.texels(texels, image)?;
        Ok(self.create(Object::texture(image, address, sampler)))
    }

    /// A surface of texels in a buffer, which may be that of other textures and surfaces too. It has no levels beyond the base, and no samples.
    pub fn create_surface(&mut self, texels: Buffer, image: &Image) -> Result<Handle, Fault> {
        if image.samples().is_some() {
            return Err(Fault::new(FaultCode::BadTexture, "the texels of a surface have one sample"));
        }
        let address = self.texels(texels, image)?;
        Ok(self.create(Object::Surface { image: image.clone(), address }))
    }

    /// A sampler, for independent mode.
    pub fn create_sampler(&mut self, sampler: &Sampler) -> Handle {
        self.create(Object::Sampler(sampler.clone()))
    }

    /// Binds a `.texref`, `.samplerref` or `.surfref` of a program to an object, for all launches to come. A `.samplerref` may be bound to a
    /// texture, whose sampler it is then.
    pub fn bind(&mut self, program: &Program, name: &str, handle: Handle) -> Result<(), Fault> {
        let Some(reference) = program.reference(name) else {
            let names: Vec<&str> = program
                .variables
                .iter()
                .filter(|p| p.variable.reference.is_some())
                .map(|p| p.variable.name.as_str())
                .collect();
            let known = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
            return Err(Fault::launch(format!(
                "the module has no texture, sampler or surface `{name}` (references: {known})"
            )));
        };
        let found = window::object_at(handle.0).and_then(|i| self.objects.get(i)).map(Object::kind);
        let fits = match reference.kind {
            ReferenceKind::Sampler => matches!(found, Some(ReferenceKind::Sampler | ReferenceKind::Texture)),
            kind => found == Some(kind),
        };
        if !fits {
            let (wanted, found) =
                (reference.kind.name(), found.map_or("foreign handle", ReferenceKind::name));
            return Err(Fault::launch(format!(
                "`{name}` is a {wanted} reference, which a {found} cannot be bound to"
            )));
        }
        self.write_variable(program, name, &handle.0.to_le_bytes())
    }

    fn create(&mut self, object: Object) -> Handle {
        Arc::make_mut(&mut self.objects).push(object);
        Handle(window::object_handle(self.objects.len() - 1))
    }

    /// The address of an image in a buffer, which must hold it.
    fn texels(&self, texels: Buffer, image: &Image) -> Result<u64, Fault> {
        self.find(texels)?;
        let bytes = u64::from(image.bytes());
        if texels.bytes < bytes {
            let message = format!("{} bytes for an image of {bytes} ({})", texels.bytes, image.describe());
            return Err(Fault::new(FaultCode::BadTexture, message));
        }
        if !texels.address.is_multiple_of(TEXEL_ALIGN) {
            let message = format!("texels at {:#x}, which is no multiple of {TEXEL_ALIGN}", texels.address);
            return Err(Fault::new(FaultCode::Misaligned, message));
        }
        Ok(texels.address)
    }

    pub(crate) fn find(&self, buffer: Buffer) -> Result<(&Bytes, usize), Fault> {
        let allocation = self.global.get(self.global.find(buffer.address));
        let holds = |start: u64, len: u64| {
            let offset = buffer.address - start;
            offset <= len && buffer.bytes <= len - offset
        };
        match allocation.filter(|a| !a.dead && holds(a.start, a.len)) {
            Some(a) => Ok((&a.bytes, (buffer.address - a.start) as usize)),
            None => {
                let place = self.global.describe(buffer.address, buffer.bytes);
                Err(Fault::new(FaultCode::OutOfBounds, format!("buffer at {:#x}: {place}", buffer.address)))
            }
        }
    }

    /// A global variable of a program, which keeps its value from launch to launch; `None` if it has none of that name. Where addresses are
    /// those of the host, constant variables are found too.
    pub fn variable(&mut self, program: &Program, name: &str) -> Result<Option<Buffer>, Fault> {
        let instance = self.instance(program)?;
        let (globals, constants) = (instance.globals, instance.constant_address);
        let start = |space| match space {
            StateSpace::Global => Some(globals),
            StateSpace::Const => constants,
            _ => None,
        };
        let mut variables = program.variables.iter().filter(|p| p.variable.name == name);
        Ok(variables.find_map(|p| {
            let address = start(p.variable.space)? + p.offset;
            Some(Buffer { address, bytes: p.variable.bytes })
        }))
    }

    /// Copies bytes to the start of a `.global` or `.const` variable of a program, as `cudaMemcpyToSymbol` does; the rest of it stays as it is.
    ///
    /// ```
    /// use warpsmith_interp::{Device, Launch, Program};
    /// use warpsmith_ptx::ValidatedModule;
    /// let source = "
    /// .version 7.0
    /// .target sm_80
    /// .address_size 64
    /// .const .u32 factor;
    /// .global .u32 product;
    /// .visible .entry scale(.param .u32 n) {
    ///     .reg .b32 %r<3>;
    ///     ld.param.u32 %r0, [n];
    ///     ld.const.u32 %r1, [factor];
    ///     mul.lo.u32 %r2, %r0, %r1;
    ///     st.global.u32 [product], %r2;
    ///     ret;
    /// }";
    /// let program = Program::load(&ValidatedModule::parse(source)?)?;
    /// let mut device = Device::new();
    /// device.write_variable(&program, "factor", &6u32.to_le_bytes())?;
    /// device.launch(&program, &Launch::new("scale").arg(7u32))?;
    /// assert_eq!(device.read_variable(&program, "product")?, 42u32.to_le_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_variable(&mut self, program: &Program, name: &str, bytes: &[u8]) -> Result<(), Fault> {
        let (memory, offset, size) = self.variable_memory(program, name)?;
        if bytes.len() as u64 > size {
            let message = format!("{} bytes for the variable `{name}`, which has {size}", bytes.len());
            return Err(Fault::launch(message));
        }
        memory.write(offset, bytes);
        Ok(())
    }

    /// The bytes of a `.global` or `.const` variable of a program, as `cudaMemcpyFromSymbol` gives them: what the last launch left there, or the
    /// initial value.
    pub fn read_variable(&mut self, program: &Program, name: &str) -> Result<Vec<u8>, Fault> {
        let (memory, offset, size) = self.variable_memory(program, name)?;
        let mut bytes = vec![0; size as usize];
        memory.read(offset, &mut bytes);
        Ok(bytes)
    }

    /// Where a variable of a module lies, and its size.
    fn variable_memory(&mut self, program: &Program, name: &str) -> Result<(&Bytes, usize, u64), Fault> {
        self.instance(program)?;
        let kept = |space| matches!(space, StateSpace::Global | StateSpace::Const);
        let variables = || program.variables.iter().filter(|p| kept(p.variable.space));
        let Some(found) = variables().find(|p| p.variable.name == name) else {
            let names: Vec<&str> = variables().map(|p| p.variable.name.as_str()).collect();
            let near = nearest(name, names.iter().copied());
            let hint = match (near, names.len()) {
                (Some(near), _) => format!("; did you mean `{near}`?"),
                (None, 0) => " (it has none)".into(),
                (None, 1..=8) => format!(" (variables: {})", names.join(", ")),
                (None, count) => format!(" ({count} others)"),
            };
            return Err(Fault::launch(format!("the module has no variable `{name}`{hint}")));
        };
        let gone = || Fault::new(FaultCode::OutOfMemory, "the program is gone");
        let instance = self.instances.get(&program.identity).ok_or_else(gone)?;
        let size = found.variable.bytes;
        if found.variable.space == StateSpace::Const {
            return Ok((&instance.constant, found.offset as usize, size));
        }
        let block = self.global.starting_at(instance.globals).ok_or_else(gone)?;
        Ok((&block.bytes, found.offset as usize, size))
    }

    /// Forgets a program and frees its variables.
    pub fn unload(&mut self, program: &Program) {
        if let Some(instance) = self.instances.remove(&program.identity) {
            self.memory().free(instance.globals);
            if let Some(constants) = instance.constant_address {
                self.memory().free(constants);
            }
        }
    }

    pub(crate) fn instance(&mut self, program: &Program) -> Result<&Instance, Fault> {
        let id = &program.identity;
        if !self.instances.contains_key(id) {
            // Whole words, as a driver's pages are: an atomic of 8 or 16 bits on the last variable is a `cas` of the word around it.
            let bytes = program.global_bytes.next_multiple_of(4);
            let globals = self.memory().allocate_variables(bytes);
            let globals = globals.ok_or_else(|| self.no_room(bytes))?;
            let no_memory = || Fault::new(FaultCode::OutOfMemory, "no room for the program's variables");
            let (mut constant_address, mut constant) = (None, None);
            if self.global.is_mapped() && program.const_bytes > 0 {
                constant_address = self.memory().allocate_variables(program.const_bytes);
                constant = constant_address.and_then(|at| Some(self.global.starting_at(at)?.bytes.clone()));
            }
            let constant = constant.or_else(|| Bytes::zeroed(program.const_bytes as usize));
            let constant = constant.ok_or_else(no_memory)?;
            let block = self.global.starting_at(globals).ok_or_else(no_memory)?;
            program.initialise(StateSpace::Global, globals, &block.bytes);
            program.initialise(StateSpace::Const, globals, &constant);
            let constants = Arc::new(program.resolve_constants(globals));
            // A sampler that the module describes needs no other.
            let mut samplers = Vec::new();
            for placed in &program.variables {
                if let Some(Reference { kind: ReferenceKind::Sampler, initial }) = &placed.variable.reference
                    && !initial.is_empty()
                {
                    samplers.push((placed.offset as usize, Object::Sampler(initial.sampler())));
                }
            }
            for (offset, sampler) in samplers {
                let handle = window::object_handle(self.objects.len());
                Arc::make_mut(&mut self.objects).push(sampler);
                block.bytes.write(offset, &handle.to_le_bytes());
            }
            self.instances.insert(
                id.clone(),
                Instance { globals, constants, kernel: None, constant, constant_address },
            );
        }
        self.instances.get(id).ok_or_else(|| Fault::new(FaultCode::OutOfMemory, "the program is gone"))
    }

    /// Runs a kernel to its end. Memory keeps what a faulting kernel has written before it was stopped.
    pub fn launch(&mut self, program: &Program, launch: &Launch) -> Result<Stats, Fault> {
        self.prepare(program, launch)?.run()
    }

    /// Runs a kernel under the eyes of an observer, on the calling thread.
    pub fn launch_observed(
        &mut self,
        program: &Program,
        launch: &Launch,
        observer: &mut dyn Observer,
    ) -> Result<Stats, Fault> {
        self.prepare(program, launch)?.run_observed(observer)
    }

    /// Checks a launch and takes what it needs, so that it can run while the device does something else: several at a time, each with the memory
    /// that was allocated when it was prepared. What is freed meanwhile it keeps until it ends.
    pub fn prepare<'p>(&mut self, program: &'p Program, launch: &'p Launch) -> Result<Prepared<'p>, Fault> {
        let machine = Arc::clone(&self.machine);
        self.prepare_on(&machine, program, launch)
    }

    /// As [`Device::prepare`], for a launch that believes to run on another machine with this memory: one of several devices of a host.
    pub fn prepare_on<'p>(
        &mut self,
        machine: &Arc<Machine>,
        program: &'p Program,
        launch: &'p Launch,
    ) -> Result<Prepared<'p>, Fault> {
        let kernel = launch.check(program, machine)?;
        let params = launch.parameters(&program.functions[kernel as usize])?;
        let params = Bytes::copied(&params)
            .ok_or_else(|| Fault::new(FaultCode::OutOfMemory, "no memory for parameters"))?;
        self.instance(program)?;
        if program.uses_heap && self.heap.is_none() {
            let bytes = Heap::extent(self.machine.heap);
            let start = bytes.and_then(|bytes| self.memory().allocate_heap(bytes));
            let start =
                start.ok_or_else(|| Fault::new(FaultCode::OutOfMemory, "no room for the heap of kernels"))?;
            self.heap = Some(Arc::new(Heap::new(start, self.machine.heap)));
        }
        self.launches += 1;
        let Some(instance) = self.instances.get_mut(&program.identity) else {
            return Err(Fault::new(FaultCode::OutOfMemory, "the program is gone"));
        };
        if instance.kernel.replace(kernel) != Some(kernel) {
            program.place_shared(kernel, Arc::make_mut(&mut instance.constants).as_mut_slice());
        }
        Ok(Prepared {
            program,
            launch,
            kernel,
            params,
            constants: Arc::clone(&instance.constants),
            constant: instance.constant.clone(),
            globals: instance.globals,
            machine: Arc::clone(machine),
            global: Arc::clone(&self.global),
            heap: self.heap.clone(),
            objects: Arc::clone(&self.objects),
            sink: Arc::clone(&self.sink),
            number: self.launches,
        })
    }
}
