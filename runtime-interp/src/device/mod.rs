//! The library's face: a device with memory, programs to launch on it, and what comes of a launch.

mod buffer;
mod instance;
mod machine;
mod texture;

pub use buffer::{Buffer, Plain};
pub(crate) use instance::Instance;
pub use machine::{Limits, Machine, NativeCode, Placement};
pub use texture::Handle;

use crate::engine::observe::Observer;
use crate::engine::{Identity, Program};
use crate::fault::{Fault, FaultCode};
use crate::launch::{Launch, Stats};
use crate::memory::bytes::Bytes;
use crate::memory::global::Global;
use crate::memory::heap::Heap;
use crate::output::Sink;
use crate::prepared::Prepared;
use crate::texture::object::Object;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith_base::FxHashMap;

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
    /// memory of the host that was passed to [`Device::adopt`].
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
        T::put_all(values, &mut bytes);
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
