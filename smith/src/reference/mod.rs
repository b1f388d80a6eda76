//! A plain interpreter of PTX, one thread at a time, straight from the manual: small, slow, and sharing no code with the engine but the parser's tree
//! and the names of instructions. It finds what a thing means by itself: names by its own walk through scopes, arithmetic in plain integers of 128 bits
//! and by `rustc_apfloat`, control by a program counter for each thread.
//!
//! It does not know all of PTX. What it does not know it refuses by name ([`Stop::Unsupported`]); [`executes`] says so beforehand.

mod compute;
mod float;
mod load;
mod memory;
mod thread;
mod together;

use load::{Func, Loaded};
use memory::{BUFFERS, Global, STRIDE, View};
use thread::{State, Thread};
use warpsmith_base::FxHashMap;
use warpsmith_isa::{Mnemonic, Mod, Opcode, ScalarType};
use warpsmith_ptx::Module;

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// Its bytes.
    Value(Vec<u8>),
    /// A buffer of global memory with this content; the parameter is its address.
    Buffer(Vec<u8>),
}

/// A launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The name of the kernel.
    pub entry: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// One for each parameter.
    pub args: Vec<Arg>,
    /// The most instructions of all threads together.
    pub steps: u64,
    /// Buffers at other addresses, other bits in registers and memory that nothing has written, and other results of divisions by zero.
    pub other_rubbish: bool,
}

impl Launch {
    const fn rubbish(&self) -> u8 {
        if self.other_rubbish { 0x5a } else { 0 }
    }
}

/// What a launch left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The content of each argument that is a buffer.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The content of the variables in `.global` and `.const`.
    pub variables: FxHashMap<String, Vec<u8>>,
    /// Instructions executed.
    pub steps: u64,
}

/// Why a launch did not end well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// What the reference does not know.
    Unsupported(String),
    /// The program does what it must not.
    Fault(String),
    /// The limit of instructions is used up.
    Steps,
    /// All threads wait.
    Deadlock,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Unsupported(what) => write!(f, "the reference interpreter does not know {what}"),
            Stop::Fault(what) => f.write_str(what),
            Stop::Steps => f.write_str("the limit of instructions is reached"),
            Stop::Deadlock => f.write_str("all threads wait"),
        }
    }
}

impl std::error::Error for Stop {}

/// True for an instruction that the reference executes, whatever its operands.
#[expect(clippy::wildcard_enum_match_arm, reason = "all else computes, or is not described")]
pub fn executes(mnemonic: &Mnemonic) -> bool {
    match mnemonic.opcode() {
        Opcode::Ld | Opcode::Ldu | Opcode::St => thread::access(mnemonic).is_some(),
        Opcode::Atom | Opcode::Red => thread::access(mnemonic).is_some() && thread::is_known_atomic(mnemonic),
        _ => compute::compute(mnemonic, &[0; 6], &mut false).is_some(),
    }
}

/// True if what a launch leaves depends on neither of addresses, what nothing has written and what is divided by zero. An error if the reference cannot decide it.
pub fn is_defined(module: &Module, launch: &Launch) -> Result<bool, Stop> {
    let one = run(module, launch)?;
    let other = run(module, &Launch { other_rubbish: !launch.other_rubbish, ..launch.clone() });
    Ok(other.is_ok_and(|other| other.buffers == one.buffers && other.variables == one.variables))
}

/// Runs a kernel of a valid module.
pub fn run(module: &Module, launch: &Launch) -> Result<Outcome, Stop> {
    let loaded = load::load(module)?;
    let kernel = loaded.funcs.iter().position(|f| f.entry && f.name == launch.entry);
    let Some(kernel) = kernel else { return Err(Stop::Unsupported(format!("the kernel {}", launch.entry))) };
    let first = u64::from(launch.other_rubbish) * 3;
    let mut global = Global { variables: loaded.globals.clone(), buffers: Vec::new(), first };
    let mut params = Vec::new();
    for arg in &launch.args {
        params.push(match arg {
            Arg::Value(bytes) => bytes.clone(),
            Arg::Buffer(bytes) => {
                global.buffers.push(bytes.clone());
                (BUFFERS + STRIDE * (global.buffers.len() as u64 - 1 + global.first)).to_le_bytes().to_vec()
            }
        });
    }
    let mut steps = 0;
    let [gx, gy, gz] = launch.grid;
    for z in 0..gz {
        for y in 0..gy {
            for x in 0..gx {
                let mut block = Block::new(&loaded, kernel, launch, [x, y, z], &params);
                block.run(&mut global, &mut steps)?;
            }
        }
    }
    let mut buffers = global.buffers.into_iter();
    let buffers = launch.args.iter().map(|arg| match arg {
        Arg::Value(_) => None,
        Arg::Buffer(_) => buffers.next(),
    });
    let buffers: Vec<Option<Vec<u8>>> = buffers.collect();
    let variables = loaded.variables.iter().filter_map(|(name, &(at, len))| {
        Some((name.clone(), global.variables.get(at as usize..at as usize + len)?.to_vec()))
    });
    Ok(Outcome { buffers, variables: variables.collect(), steps })
}

/// A block of threads.
struct Block<'p> {
    loaded: &'p Loaded,
    launch: &'p Launch,
    index: [u32; 3],
    shared: Vec<u8>,
    threads: Vec<Thread>,
}

impl<'p> Block<'p> {
    fn new(
        loaded: &'p Loaded,
        kernel: usize,
        launch: &'p Launch,
        index: [u32; 3],
        params: &[Vec<u8>],
    ) -> Self {
        let [bx, by, bz] = launch.block;
        let mut threads = Vec::new();
        for z in 0..bz {
            for y in 0..by {
                for x in 0..bx {
                    let func: &Func = &loaded.funcs[kernel];
                    threads.push(Thread::new(kernel, func, [x, y, z], params, launch.rubbish()));
                }
            }
        }
        let shared = vec![launch.rubbish(); loaded.shared_bytes as usize];
        Block { loaded, launch, index, shared, threads }
    }

    fn run(&mut self, global: &mut Global, steps: &mut u64) -> Result<(), Stop> {
        loop {
            let mut moved = false;
            for n in 0..self.threads.len() {
                let thread = &mut self.threads[n];
                if thread.state != State::Ready {
                    continue;
                }
                moved = true;
                let mut local = std::mem::take(&mut thread.local);
                let mut view = View { global: &mut *global, shared: &mut self.shared, local: &mut local };
                let place =
                    thread::Place { lane: n % 32, warp: n / 32, index: self.index, launch: self.launch };
                while thread.state == State::Ready {
                    *steps += 1;
                    if *steps > self.launch.steps {
                        return Err(Stop::Steps);
                    }
                    thread.step(self.loaded, &mut view, &place)?;
                }
                thread.local = local;
            }
            if self.threads.iter().all(|thread| thread.state == State::Done) {
                return Ok(());
            }
            moved |= self.release_warps()?;
            moved |= self.release_barriers()?;
            if !moved {
                return Err(Stop::Deadlock);
            }
        }
    }
}

/// The bits of a type in a register or in memory.
fn bits_of(ty: ScalarType) -> usize {
    ty.bits() as usize
}

/// True where one of these is written.
fn any(mnemonic: &Mnemonic, mods: &[Mod]) -> bool {
    mods.iter().any(|m| mnemonic.has(*m))
}
