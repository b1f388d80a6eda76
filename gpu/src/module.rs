//! PTX that the driver assembles, and launches of its kernels.

use crate::driver::{
    Attribute, CLUSTER, COOPERATIVE, Config, Handle, JIT_LEVEL, JIT_LOG, JIT_LOG_BYTES, LARGE_CLUSTERS,
    MAX_DYNAMIC_SHARED, NOT_READY,
};
use crate::error::Error;
use crate::gpu::{Gpu, Owned};
use std::ffi::{CString, c_int, c_void};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};
use warpsmith_isa::limits;

/// Bytes of what the driver's compiler says.
const LOG_BYTES: usize = 8 << 10;

/// How hard the driver's compiler works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Optimization {
    /// As `ptxas -O0`.
    None,
    /// As `ptxas -O3`, its default.
    #[default]
    Full,
}

/// A launch of a kernel.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Launch {
    /// The kernel's name.
    pub entry: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// All blocks are resident together.
    pub cooperative: bool,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The bytes of each parameter: as many as it has in the kernel's signature.
    pub params: Vec<Vec<u8>>,
    /// When to give up on a kernel that does not end.
    pub timeout: Duration,
}

impl Launch {
    /// A launch without parameters.
    pub fn new(entry: impl Into<String>, grid: [u32; 3], block: [u32; 3]) -> Launch {
        Launch {
            entry: entry.into(),
            grid,
            block,
            cluster: None,
            cooperative: false,
            dynamic_shared: 0,
            params: Vec::new(),
            timeout: Duration::from_secs(20),
        }
    }
}

/// A loaded module, unloaded when it is dropped.
pub struct Module<'g> {
    gpu: &'g Gpu,
    module: Owned<'g>,
}

impl Gpu {
    /// Assembles PTX and loads it.
    pub fn load(&self, ptx: &str, optimization: Optimization) -> Result<Module<'_>, Error> {
        let call = "cuModuleLoadDataEx";
        let text = CString::new(ptx).map_err(|_| Error::own(call, "the text has a zero byte"))?;
        let mut log = vec![0u8; LOG_BYTES];
        let level: usize = match optimization {
            Optimization::None => 0,
            Optimization::Full => 4,
        };
        let options: [c_int; 3] = [JIT_LOG, JIT_LOG_BYTES, JIT_LEVEL];
        // Numbers are passed as pointers.
        let values = [log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void, level as *mut c_void];
        let mut handle = null_mut();
        // SAFETY: the text ends with a zero, as the driver wants PTX; there is a value for each option; the log has as many bytes as its
        // option says; the out-parameter is valid for writes.
        let loaded = unsafe {
            (self.functions.load_module)(
                &mut handle,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_ptr(),
                values.as_ptr(),
            )
        };
        if let Err(mut error) = self.check(call, loaded) {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            let said = String::from_utf8_lossy(&log[..end]);
            if !said.trim().is_empty() {
                error.message += &format!(": {}", said.trim());
            }
            return Err(error);
        }
        // SAFETY: the module was loaded, and this is the only owner.
        let module = unsafe { Owned::new(self, handle, self.functions.unload_module) };
        Ok(Module { gpu: self, module })
    }
}

impl Module<'_> {
    fn name(&self, call: &'static str, name: &str) -> Result<CString, Error> {
        CString::new(name).map_err(|_| Error::own(call, format!("a name with a zero byte: {name:?}")))
    }

    /// The address of a variable in global or constant memory, and its bytes.
    fn variable(&self, name: &str) -> Result<(u64, usize), Error> {
        let call = "cuModuleGetGlobal";
        let text = self.name(call, name)?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; the name ends with a zero; out-parameters are valid for writes.
        let found = unsafe {
            (self.gpu.functions.get_variable)(&mut address, &mut bytes, self.module.handle, text.as_ptr())
        };
        self.gpu.check(call, found)?;
        Ok((address, bytes))
    }

    /// What a variable holds.
    pub fn read_variable(&self, name: &str) -> Result<Vec<u8>, Error> {
        let (address, bytes) = self.variable(name)?;
        self.gpu.read(address, bytes)
    }

    /// Writes a variable, from its first byte on.
    pub fn write_variable(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let (address, room) = self.variable(name)?;
        if bytes.len() > room {
            let message = format!("{} bytes for `{name}`, which has {room}", bytes.len());
            return Err(Error::own("cuModuleGetGlobal", message));
        }
        self.gpu.write(address, bytes)
    }

    /// Launches a kernel and waits until it has ended.
    ///
    /// Parameters that are not the kernel's, and accesses out of bounds, are what the driver makes of them: at best an error, and the context is
    /// lost. Run the launch on the engine first, which checks both.
    pub fn launch(&self, launch: &Launch) -> Result<(), Error> {
        let functions = &self.gpu.functions;
        let call = "cuModuleGetFunction";
        let entry = self.name(call, &launch.entry)?;
        let mut function: Handle = null_mut();
        // SAFETY: the module is loaded; the name ends with a zero; the out-parameter is valid for writes.
        let found = unsafe { (functions.get_function)(&mut function, self.module.handle, entry.as_ptr()) };
        self.gpu.check(call, found)?;
        let mut attributes = Vec::new();
        let mut attribute = |id: c_int, first: [u32; 3]| {
            let mut value = [0; 16];
            value[..3].copy_from_slice(&first);
            attributes.push(Attribute { id, padding: [0; 4], value });
        };
        if let Some(cluster) = launch.cluster {
            attribute(CLUSTER, cluster);
        }
        if launch.cooperative {
            attribute(COOPERATIVE, [1, 0, 0]);
        }
        // Each parameter at an address that suits any type.
        let mut params: Vec<Vec<u128>> = launch.params.iter().map(|bytes| aligned(bytes)).collect();
        let mut pointers: Vec<*mut c_void> =
            params.iter_mut().map(|words| words.as_mut_ptr().cast::<c_void>()).collect();
        let config = Config {
            grid: launch.grid,
            block: launch.block,
            shared: launch.dynamic_shared,
            stream: null_mut(),
            attributes: if attributes.is_empty() { null() } else { attributes.as_ptr() },
            count: attributes.len() as u32,
        };
        // SAFETY: the function belongs to a loaded module; there is a pointer for each parameter that the caller gives, and all that the
        // pointers name outlives the call, which copies it.
        unsafe {
            if u64::from(launch.dynamic_shared) > limits::STATIC_SHARED_BYTES {
                let bytes = launch.dynamic_shared as c_int;
                let set = (functions.set_attribute)(function, MAX_DYNAMIC_SHARED, bytes);
                self.gpu.check("cuFuncSetAttribute", set)?;
            }
            if launch
                .cluster
                .is_some_and(|cluster| cluster.iter().product::<u32>() > limits::PORTABLE_CLUSTER_BLOCKS)
            {
                self.gpu
                    .check("cuFuncSetAttribute", (functions.set_attribute)(function, LARGE_CLUSTERS, 1))?;
            }
            let launched = (functions.launch)(&config, function, pointers.as_mut_ptr(), null_mut());
            self.gpu.check("cuLaunchKernelEx", launched)?;
        }
        self.gpu.wait(launch.timeout)
    }
}

/// Bytes at an address that suits any type, and zeros behind them.
fn aligned(bytes: &[u8]) -> Vec<u128> {
    let mut words = vec![0u128; bytes.len().div_ceil(16).max(1)];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks(16)) {
        *word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte));
    }
    words
}

impl Gpu {
    /// Waits until all launches have ended.
    fn wait(&self, timeout: Duration) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            // SAFETY: the null handle is the default stream.
            let status = unsafe { (self.functions.stream_query)(null_mut()) };
            if status != NOT_READY {
                return self.check("cuStreamQuery", status);
            }
            if start.elapsed() > timeout {
                let message = format!("the kernel did not end in {} s", timeout.as_secs_f64());
                return Err(Error::own("cuStreamQuery", message));
            }
            if start.elapsed() > Duration::from_millis(1) {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }
}
