//! All that the library knows: devices, and the tables of everything that clients hold handles of.

use crate::array::{Array, Mipmap};
use crate::context::Context;
use crate::error::{Code, Error};
use crate::event::Event;
use crate::ffi::{Pointer, exit};
use crate::graph::{Exec, Graph};
use crate::handles::Table;
use crate::kernel::{Callable, Library, Module};
use crate::link::LinkState;
use crate::memory::Memory;
use crate::pool::Pool;
use crate::reference::Reference;
use crate::settings::Settings;
use crate::stream::Stream;
use crate::user_object::UserObject;
use crate::virtual_memory::{Physical, Virtual};
use crate::watch::Watch;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use warpsmith::Device;
use warpsmith::interp::Machine;
use warpsmith_base::FxHashMap;

/// The version of CUDA whose driver this one is like.
pub const VERSION: i32 = 13000;

/// The library when it is initialised.
#[derive(Debug)]
pub struct Driver {
    /// What the user has asked for.
    pub settings: Settings,
    /// The machines of the devices.
    pub machines: Vec<Arc<Machine>>,
    /// Who watches launches.
    pub watch: Watch,
    state: Mutex<State>,
}

/// The primary context of a device.
#[derive(Debug, Default)]
pub struct Primary {
    /// Its handle, which it keeps.
    pub handle: Option<u64>,
    /// How often it is retained.
    pub count: u64,
    /// How it is to be made.
    pub flags: u32,
}

/// What changes.
pub struct State {
    /// The memory of all devices, and what runs there.
    pub device: Device,
    /// Allocations.
    pub memory: Memory,
    /// Contexts.
    pub contexts: Table<Context>,
    /// Primary contexts, by device.
    pub primaries: Vec<Primary>,
    /// Modules.
    pub modules: Table<Module>,
    /// Libraries.
    pub libraries: Table<Library>,
    /// Functions and kernels.
    pub functions: Table<Callable>,
    /// Streams.
    pub streams: Table<Stream>,
    /// Events.
    pub events: Table<Event>,
    /// Graphs.
    pub graphs: Table<Graph>,
    /// Graphs that can be launched.
    pub execs: Table<Exec>,
    /// The graphs of nodes.
    pub nodes: FxHashMap<u64, Weak<Graph>>,
    /// The last handle of a node.
    pub last_node: u64,
    /// Links that go on.
    pub links: Table<LinkState>,
    /// Memory pools.
    pub pools: Table<Pool>,
    /// The pools of devices: the default one, and the current one.
    pub device_pools: Vec<[u64; 2]>,
    /// Objects of clients that graphs hold.
    pub user_objects: Table<UserObject>,
    /// Pages that clients have made.
    pub physical: Table<Physical>,
    /// The addresses that they have reserved.
    pub virtual_memory: Virtual,
    /// Arrays.
    pub arrays: Table<Array>,
    /// Arrays with levels.
    pub mipmaps: Table<Mipmap>,
    /// Texture and surface references.
    pub references: Table<Reference>,
    /// Textures and surfaces, by the handles that kernels know.
    pub objects: FxHashMap<u64, crate::api::texture::Object>,
    /// The last number of a stream or capture.
    pub last_number: u64,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("memory", &self.memory).finish_non_exhaustive()
    }
}

static DRIVER: OnceLock<Result<Driver, Error>> = OnceLock::new();
static INITIALISED: AtomicBool = AtomicBool::new(false);

/// Initialises the library.
pub fn initialise() -> Result<(), Error> {
    let driver = DRIVER.get_or_init(Driver::new).as_ref().map_err(Clone::clone)?;
    if driver.settings.devices.is_empty() {
        return Err(Error::new(Code::NO_DEVICE, "no device is visible"));
    }
    INITIALISED.store(true, Ordering::Release);
    Ok(())
}

/// The library; an error if it was not initialised.
pub fn driver() -> Result<&'static Driver, Error> {
    match DRIVER.get() {
        Some(Ok(driver)) if INITIALISED.load(Ordering::Acquire) => Ok(driver),
        _ => Err(Error::new(Code::NOT_INITIALIZED, "cuInit was not called")),
    }
}

extern "C" fn finish() {
    if let Ok(driver) = driver() {
        driver.watch.finish();
    }
}

/// What kernels print goes to standard output at once.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().lock().flush()
    }
}

impl Driver {
    fn new() -> Result<Driver, Error> {
        let settings =
            Settings::from_environment().inspect_err(|error| crate::log::always(&error.to_string()))?;
        let machines: Vec<_> = settings.devices.iter().map(|device| Arc::new(device.machine())).collect();
        let mut machine = Machine::default();
        machine.global_memory = u64::MAX >> 1;
        let mut device = Device::mapped(machine);
        device.set_output(Stdout);
        let watch = Watch::new(&settings);
        if !exit::at_exit(finish) {
            crate::log::always("the report will be incomplete: the C library takes no more exit functions");
        }
        let mut pools = Table::new(9, "memory pool", Code::INVALID_VALUE);
        let device_pools = (0..settings.devices.len()).map(|device| [pools.add(Pool::new(device, 0)); 2]);
        let device_pools = device_pools.collect();
        let state = State {
            device,
            memory: Memory::new(&settings),
            contexts: Table::new(1, "context", Code::INVALID_CONTEXT),
            primaries: settings.devices.iter().map(|_| Primary::default()).collect(),
            modules: Table::new(2, "module", Code::INVALID_HANDLE),
            libraries: Table::new(3, "library", Code::INVALID_HANDLE),
            functions: Table::new(4, "function", Code::INVALID_HANDLE),
            streams: Table::new(5, "stream", Code::INVALID_HANDLE),
            events: Table::new(6, "event", Code::INVALID_HANDLE),
            graphs: Table::new(7, "graph", Code::INVALID_VALUE),
            execs: Table::new(8, "executable graph", Code::INVALID_VALUE),
            nodes: FxHashMap::default(),
            last_node: 0x575a << 32,
            links: Table::new(11, "link", Code::INVALID_HANDLE),
            pools,
            device_pools,
            user_objects: Table::new(12, "user object", Code::INVALID_VALUE),
            physical: Table::new(15, "allocation", Code::INVALID_VALUE),
            virtual_memory: Virtual::default(),
            arrays: Table::new(13, "array", Code::INVALID_HANDLE),
            mipmaps: Table::new(14, "mipmapped array", Code::INVALID_HANDLE),
            references: Table::new(16, "texture or surface reference", Code::INVALID_VALUE),
            objects: FxHashMap::default(),
            last_number: 2,
        };
        Ok(Driver { settings, machines, watch, state: Mutex::new(state) })
    }

    /// The state. It is not held while kernels run, or functions of clients.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a device that a client names.
    pub fn device(&self, number: i32) -> Result<usize, Error> {
        let index = usize::try_from(number).ok().filter(|index| *index < self.settings.devices.len());
        index.ok_or_else(|| Error::new(Code::INVALID_DEVICE, format!("unknown device {number}")))
    }
}

impl State {
    /// A number that no stream, capture or graph has.
    pub fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// A context more.
    pub fn add_context(&mut self, handle: Option<u64>, device: usize, flags: u32, version: u32) -> u64 {
        let primary = handle.is_some();
        let handle = handle.unwrap_or_else(|| self.contexts.reserve());
        let stream = self.number();
        self.contexts.put(handle, Arc::new(Context::new(handle, device, flags, primary, version, stream)));
        handle
    }

    /// A context less, with all that it owns.
    pub fn remove_context(&mut self, handle: u64) -> Result<(), Error> {
        self.contexts.remove(handle)?;
        self.streams.take(|stream| stream.context == handle);
        self.events.take(|event| event.context == handle);
        for module in self.modules.take(|module| module.context == handle) {
            self.unload(&module);
        }
        self.functions.take(|callable| callable.context() == Some(handle));
        let gone = self.memory.of_context(handle);
        self.arrays.take(|array| gone.contains(&array.address));
        self.mipmaps.take(|mipmap| gone.contains(&mipmap.address));
        let left: Vec<u64> = self.mipmaps.iter().map(|(mipmap, _)| mipmap).collect();
        self.arrays.take(|array| array.level_of.is_some_and(|mipmap| !left.contains(&mipmap)));
        for address in gone {
            self.free_now(address)?;
        }
        Ok(())
    }

    /// Takes the variables of a module that is gone off the device.
    pub fn unload(&mut self, module: &Module) {
        self.device.unload(&module.program);
        for reference in module.references.handles() {
            // Each is there once.
            drop(self.references.remove(reference));
        }
    }

    /// Gives an allocation back at once.
    pub fn free_now(&mut self, address: u64) -> Result<(), Error> {
        let graph = self.memory.at(address).and_then(|allocation| allocation.graph.as_ref()?.upgrade());
        if let Some(memory) = graph {
            return memory.free();
        }
        let allocation = self.memory.remove(address)?;
        if let Some(pool) = allocation.pool
            && let Ok(pool) = self.pools.get(pool)
        {
            pool.give_back(allocation.bytes);
        }
        let found = self.device.containing(address).filter(|(buffer, _)| buffer.address() == address);
        match found {
            Some((buffer, _)) => Ok(self.device.free(buffer)?),
            None => Ok(()),
        }
    }

    /// The memory from an address on, which must be the device's.
    pub fn span(&self, address: u64, bytes: usize) -> Result<warpsmith::interp::Span, Error> {
        let outside =
            || Error::value(format!("{bytes} bytes at {address:#x}, which are not in memory of a device"));
        let (buffer, _) = self.device.containing(address).ok_or_else(outside)?;
        let part = buffer.slice(address - buffer.address(), bytes as u64).ok_or_else(|| {
            let (start, len) = (buffer.address(), buffer.len());
            Error::value(format!(
                "{bytes} bytes at {address:#x} of an allocation of {len} bytes at {start:#x}"
            ))
        })?;
        Ok(self.device.span(part)?)
    }

    /// As [`State::span`], of memory that may be the client's own; of that, only the address is known.
    pub fn any(&self, pointer: Pointer, bytes: usize) -> Result<Option<warpsmith::interp::Span>, Error> {
        if pointer.is_null() {
            return Err(Error::value("a null pointer where memory is expected"));
        }
        match self.device.containing(pointer.address()) {
            Some(_) => self.span(pointer.address(), bytes).map(Some),
            None => Ok(None),
        }
    }
}
