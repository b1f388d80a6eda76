//! Descriptions of launches, their checks, and their statistics.

use crate::device::{Buffer, Handle, Limits, Machine};
use crate::engine::{Function, KernelAttributes, Program, Schedule};
use crate::fault::Fault;
use crate::memory::window;
use warpsmith_ir::spelling::user_name;
use warpsmith_isa::limits;
use warpsmith_semantics::matrix::Arithmetic;

/// An argument of a kernel: the bytes of its parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arg(Vec<u8>);

impl Arg {
    /// A by-value parameter of any size.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Arg {
        Arg(bytes.into())
    }
}

impl From<Buffer> for Arg {
    fn from(buffer: Buffer) -> Arg {
        Arg(buffer.address().to_le_bytes().to_vec())
    }
}

impl From<Handle> for Arg {
    fn from(handle: Handle) -> Arg {
        Arg(handle.value().to_le_bytes().to_vec())
    }
}

macro_rules! args {
    ($($t:ty)*) => {$(
        impl From<$t> for Arg {
            fn from(value: $t) -> Arg {
                Arg(value.to_le_bytes().to_vec())
            }
        }
    )*};
}
args!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

/// What to launch, and how: made as `Launch::new("kernel").grid([8, 1, 1]).block([256, 1, 1]).arg(buffer).arg(7u32)`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Launch {
    /// The kernel's name.
    pub entry: String,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// All blocks are resident together, so that they may wait for each other (a barrier of the whole grid): the launch fails if the
    /// machine has no room for them.
    pub cooperative: bool,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// The arguments, in order.
    pub args: Vec<Arg>,
    /// In place of `args`, all parameters as they lie in parameter space, in the layout of [`KernelParam::offset`](crate::engine::KernelParam::offset).
    pub packed: Option<Vec<u8>>,
    /// What it may use.
    pub limits: Limits,
    /// With a schedule or a seed, the launch runs on one host thread, and the order in which threads take turns is a function
    /// of both: the same give the same run. With neither, blocks run on all cores and warps take turns in a fixed order.
    pub schedule: Option<Schedule>,
    /// What a schedule decides by; a seed alone asks for [`Schedule::Random`].
    pub seed: Option<u64>,
    /// Host threads to use; all of the rayon pool if absent.
    pub workers: Option<usize>,
    /// What every byte of shared memory, local memory and memory from `malloc` is before the kernel writes it; zero if absent. A GPU
    /// leaves there what other kernels wrote: with [`Launch::POISON`] a kernel that relies on zeros shows it.
    pub poison: Option<u8>,
    /// The arithmetic of matrix instructions; that of the module's target if absent.
    pub arithmetic: Option<Arithmetic>,
}

impl Launch {
    /// One block of one thread, no arguments.
    pub fn new(entry: impl Into<String>) -> Self {
        Launch {
            entry: entry.into(),
            grid: [1; 3],
            block: [1; 3],
            cluster: None,
            cooperative: false,
            dynamic_shared: 0,
            args: Vec::new(),
            packed: None,
            limits: Limits::default(),
            schedule: None,
            seed: None,
            workers: None,
            poison: None,
            arithmetic: None,
        }
    }

    /// The byte to poison memory with, unless there is a reason for another: repeated, it is a NaN of every floating-point type, -1 as an
    /// integer, and no address.
    pub const POISON: u8 = 0xff;

    /// Sets the number of blocks.
    pub fn grid(mut self, grid: [u32; 3]) -> Self {
        self.grid = grid;
        self
    }

    /// Sets the number of threads of a block.
    pub fn block(mut self, block: [u32; 3]) -> Self {
        self.block = block;
        self
    }

    /// Sets the number of blocks of a cluster.
    pub fn cluster(mut self, cluster: [u32; 3]) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Makes all blocks resident together.
    pub fn cooperative(mut self) -> Self {
        self.cooperative = true;
        self
    }

    /// Sets the bytes of dynamic shared memory.
    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<Arg>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets all parameters at once, as they lie in parameter space.
    pub fn packed(mut self, parameters: impl Into<Vec<u8>>) -> Self {
        self.packed = Some(parameters.into());
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the schedule.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = Some(schedule);
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the number of host threads.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the byte that shared memory, local memory and memory from `malloc` is full of before the kernel writes it.
    pub fn poison(mut self, byte: u8) -> Self {
        self.poison = Some(byte);
        self
    }

    /// Sets the arithmetic of matrix instructions: another architecture's, or exact sums.
    pub fn arithmetic(mut self, arithmetic: Arithmetic) -> Self {
        self.arithmetic = Some(arithmetic);
        self
    }

    /// Finds the kernel and checks the shape of the launch against the machine and the kernel's directives.
    pub(crate) fn check(&self, program: &Program, machine: &Machine) -> Result<u32, Fault> {
        let Some(kernel) = program.kernel_number(&self.entry) else {
            let names: Vec<_> = program.kernels().map(user_name).collect();
            let known = if names.is_empty() { "it has none".into() } else { names.join(", ") };
            return Err(Fault::launch(format!(
                "the module has no kernel `{}` (kernels: {known})",
                self.entry
            )));
        };
        let within = |what: &str, value: [u32; 3], max: [u32; 3]| {
            (0..3).find(|&i| value[i] == 0 || value[i] > max[i]).map_or(Ok(()), |i| {
                let axis = ["x", "y", "z"][i];
                Err(Fault::launch(format!("{what}.{axis} is {}; it must be from 1 to {}", value[i], max[i])))
            })
        };
        within("grid", self.grid, limits::GRID)?;
        within("block", self.block, limits::BLOCK)?;
        let threads: u32 = self.block.iter().product();
        if threads > limits::BLOCK_THREADS {
            let most = limits::BLOCK_THREADS;
            return Err(Fault::launch(format!("a block of {threads} threads; the most is {most}")));
        }
        let own = program.functions[kernel].kernel.as_ref().map_or(0, |k| k.shared.bytes);
        let shared = own.saturating_add(u64::from(self.dynamic_shared));
        if shared > machine.shared_memory {
            let most = machine.shared_memory;
            return Err(Fault::launch(format!(
                "a block with {shared} bytes of shared memory; the most is {most}"
            )));
        }
        let attributes =
            program.functions[kernel].kernel.as_ref().map(|k| k.attributes.clone()).unwrap_or_default();
        self.check_directives(&attributes, threads, shared, machine)?;
        let kernel = kernel as u32;
        let blocks: u64 = self.blocks(Some(&attributes)).iter().map(|n| u64::from(*n)).product();
        let room = self.room(program, kernel, machine);
        if self.cooperative && blocks > room {
            return Err(Fault::launch(format!(
                "a cooperative launch of {blocks} blocks; the machine has room for {room} of them at a time"
            )));
        }
        Ok(kernel)
    }

    /// How many blocks of the launch the machine holds at a time.
    pub(crate) fn room(&self, program: &Program, kernel: u32, machine: &Machine) -> u64 {
        let own = program.functions[kernel as usize].kernel.as_ref().map_or(0, |k| k.shared.bytes);
        let shared = own.saturating_add(u64::from(self.dynamic_shared));
        machine.room(self.block.iter().product::<u32>().div_ceil(32), shared)
    }

    fn check_directives(
        &self,
        attributes: &KernelAttributes,
        threads: u32,
        shared: u64,
        machine: &Machine,
    ) -> Result<(), Fault> {
        if let Some(required) = attributes.required_block.filter(|r| *r != self.block) {
            let message = format!(
                "kernel `{}` requires blocks of {required:?} threads (`.reqntid`), the launch has blocks of {:?}",
                self.entry, self.block
            );
            return Err(Fault::launch(message));
        }
        if let Some(most) = attributes.max_threads.filter(|m| threads > *m) {
            return Err(Fault::launch(format!(
                "kernel `{}` takes blocks of at most {most} threads (`.maxntid`), the launch has blocks of {threads}",
                self.entry
            )));
        }
        if attributes.explicit_cluster && self.cluster.or(attributes.required_cluster).is_none() {
            return Err(Fault::launch("a launch without a cluster for a kernel with .explicitcluster"));
        }
        let cluster = match (self.cluster, attributes.required_cluster) {
            (Some(given), Some(required)) if given != required => {
                let message =
                    format!("a cluster of {given:?} for a kernel with .reqnctapercluster {required:?}");
                return Err(Fault::launch(message));
            }
            (given, required) => given.or(required).unwrap_or([1; 3]),
        };
        let blocks = cluster.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
        if blocks == 0 || blocks > u64::from(machine.cluster_blocks) {
            let most = machine.cluster_blocks;
            return Err(Fault::launch(format!(
                "a cluster of {cluster:?} blocks; from 1 to {most} are possible"
            )));
        }
        if let Some(most) = attributes.max_cluster.filter(|m| blocks > u64::from(*m)) {
            let message = format!("a cluster of {blocks} blocks for a kernel with .maxclusterrank {most}");
            return Err(Fault::launch(message));
        }
        let most = window::MEMBER_SIZE;
        if blocks > u64::from(window::MEMBERS) || blocks > 1 && shared > most {
            return Err(Fault::launch(format!(
                "a cluster of {blocks} blocks with {shared} bytes of shared memory; the most is {} of {most}",
                window::MEMBERS
            )));
        }
        let grid = self.blocks(Some(attributes));
        if grid.iter().zip(limits::GRID).any(|(n, most)| *n > most) {
            return Err(Fault::launch(format!("a grid of {:?} clusters of {cluster:?}", self.grid)));
        }
        if (0..3).any(|i| !grid[i].is_multiple_of(cluster[i])) {
            return Err(Fault::launch(format!(
                "a grid of {:?} blocks is not whole clusters of {cluster:?}",
                self.grid
            )));
        }
        Ok(())
    }

    /// Blocks of the grid; a kernel with `.blocksareclusters` is launched with a number of clusters.
    pub(crate) fn blocks(&self, attributes: Option<&KernelAttributes>) -> [u32; 3] {
        match attributes.filter(|a| a.blocks_are_clusters).and_then(|a| a.required_cluster) {
            Some(shape) => std::array::from_fn(|i| self.grid[i].saturating_mul(shape[i])),
            None => self.grid,
        }
    }

    /// Lays out the arguments in the parameter space of the kernel.
    pub(crate) fn parameters(&self, kernel: &Function) -> Result<Vec<u8>, Fault> {
        let params = kernel.kernel.as_ref().map_or(&[][..], |k| &k.params);
        let size = params.iter().map(|p| p.offset as usize + p.bytes as usize).max().unwrap_or(0);
        if let Some(packed) = &self.packed {
            if packed.len() == size {
                return Ok(packed.clone());
            }
            let have = packed.len();
            return Err(Fault::launch(format!(
                "kernel `{}` takes {size} bytes of parameters, {have} are given",
                self.entry
            )));
        }
        if params.len() != self.args.len() {
            let (want, have) = (params.len(), self.args.len());
            // The first that is missing is what the caller has to look up.
            let next = params.get(have).map_or(String::new(), |param| {
                format!("; argument {have} is `{}` of {} bytes", param.name, param.bytes)
            });
            let are = if have == 1 { "is" } else { "are" };
            return Err(Fault::launch(format!(
                "kernel `{}` takes {want} arguments, {have} {are} given{next}",
                self.entry
            )));
        }
        let mut bytes = vec![0; size];
        for (i, (param, arg)) in params.iter().zip(&self.args).enumerate() {
            if arg.0.len() != param.bytes as usize {
                let (name, want, have) = (&param.name, param.bytes, arg.0.len());
                return Err(Fault::launch(format!(
                    "argument {i} (`{name}`) is {want} bytes, {have} are given"
                )));
            }
            bytes[param.offset as usize..][..arg.0.len()].copy_from_slice(&arg.0);
        }
        Ok(bytes)
    }
}

/// What a launch has done.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// Instructions executed by warps: statements of the source, however many operations of the engine each is.
    pub warp_instructions: u64,
    /// Instructions executed by threads: a warp instruction counts once for each thread that it was issued to.
    pub thread_instructions: u64,
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads of the grid.
    pub threads: u64,
    /// Calls of `vprintf`.
    pub printed_calls: u64,
    /// Bytes that `vprintf` printed.
    pub printed_bytes: u64,
    /// Bytes of what was printed that were lost because the buffer was full.
    pub lost_bytes: u64,
    /// Time in the engine.
    pub seconds: f64,
}
