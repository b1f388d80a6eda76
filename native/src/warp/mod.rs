//! Regions of the engine's programs as code for whole warps.
//!
//! A block of a region becomes loops over four lanes at a time: what a loop reads is loaded, what it computes stays in the host's vector registers, and
//! what it has written is stored at its end. Between the loops the engine executes what is not compiled, stores among it. Loads are part of the loop that uses
//! them where their addresses follow a rule, and the engine has checked all of them before; others it makes before the loop. Blocks branch to each other as long as all lanes go the same way, or part for a few operations and meet again.
//!
//! - `plan`: which arithmetic is compiled, and as what; `recipe`: a region, as far as its code depends on it, and `parts`: a block of it;
//! - `emit`: blocks, branches, and when the loop of the engine is to decide; `chunk`: the loop over the lanes; `compute`: its arithmetic,
//!   `fetch`: its loads; `uniform`: what is computed and looked up once for all lanes before it; `lines`: which addresses follow a pattern that is known,
//!   `pattern` and `even`: the code of accesses at them;
//! - `trace`: blocks, sides of branches among them, that are one loop over lanes; `follow`: its code, and what it counts; `orbit`: loops whose values stay
//!   in the host's registers from round to round.

mod chunk;
mod compute;
mod emit;
mod even;
mod fetch;
mod follow;
mod lines;
pub mod measure;
mod orbit;
mod parts;
mod pattern;
mod plan;
mod recipe;
mod trace;
mod uniform;

use crate::host::{self, Code};
use crate::unit::internal;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{Linkage, Module as _};
use recipe::Recipe;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use warpsmith_base::FxHashMap;
use warpsmith_diag::Diagnostic;
use warpsmith_interp::engine::{CompiledRegion, Program, Region, RegionCode, Tier};

/// What code a program was given.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Accelerated {
    /// Regions that are compiled.
    pub regions: usize,
    /// Operations that are machine code in them; the engine executes the others, when the code asks for it.
    pub operations: usize,
}

/// Compiles the regions of programs, and keeps their code: a region that several programs have, or a program that is loaded twice, is compiled once
/// for all programs that share a compiler. Clones share it; its code lives as long as a clone or a program that uses it.
#[derive(Clone)]
pub struct RegionCompiler(Arc<Shared>);

struct Shared {
    settings: measure::Settings,
    /// Found when the first region is compiled: that takes longer than a small launch.
    isa: OnceLock<OwnedTargetIsa>,
    fused_multiply: bool,
    /// Code by what it was made of.
    made: Mutex<FxHashMap<Recipe, (RegionCode, Arc<Finished>)>>,
}

impl RegionCompiler {
    /// A compiler for this host that has compiled nothing yet. The error `N0001` on hosts without machine code.
    pub fn new() -> Result<RegionCompiler, Box<Diagnostic>> {
        RegionCompiler::with(RegisterAllocation::Backtracking)
    }

    /// [`RegionCompiler::new`] with this way to assign registers.
    pub fn with(allocation: RegisterAllocation) -> Result<RegionCompiler, Box<Diagnostic>> {
        RegionCompiler::with_settings(allocation.settings())
    }

    fn with_settings(settings: measure::Settings) -> Result<RegionCompiler, Box<Diagnostic>> {
        host::check_supported()?;
        let (isa, fused_multiply) = (OnceLock::new(), has_fused_multiply());
        Ok(RegionCompiler(Arc::new(Shared { settings, isa, fused_multiply, made: Mutex::default() })))
    }

    /// Attaches the compiler to a program: launches have it compile what they execute often, or all, as [`Machine::native`] says. Results, statistics
    /// and faults are those of the interpreter.
    ///
    /// [`Machine::native`]: warpsmith_interp::Machine
    pub fn attach(&self, program: &mut Program) {
        program.set_tier(Arc::new(Attached { compiler: self.clone(), all: false }));
    }

    /// Attaches the compiler to a program and compiles all its regions now, those too that are likely to gain nothing.
    pub fn accelerate(&self, program: &mut Program) -> Accelerated {
        program.set_tier(Arc::new(Attached { compiler: self.clone(), all: true }));
        program.compile_regions();
        let (regions, operations) = program.compiled_regions();
        Accelerated { regions, operations }
    }
}

impl std::fmt::Debug for RegionCompiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegionCompiler").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl Shared {
    fn isa(&self) -> Result<&OwnedTargetIsa, Box<Diagnostic>> {
        match self.isa.get() {
            Some(isa) => Ok(isa),
            None => {
                let isa = host::isa(self.settings)?;
                Ok(self.isa.get_or_init(|| isa))
            }
        }
    }
}

/// [`RegionCompiler::attach`] with a compiler of its own. Where the host has no machine code, the program is left as it is and the error is `N0001`.
pub fn attach(program: &mut Program) -> Result<(), Box<Diagnostic>> {
    RegionCompiler::new()?.attach(program);
    Ok(())
}

/// [`RegionCompiler::accelerate`] with a compiler of its own.
pub fn accelerate(program: &mut Program) -> Result<Accelerated, Box<Diagnostic>> {
    Ok(RegionCompiler::new()?.accelerate(program))
}

/// How Cranelift assigns registers to the values of a region.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RegisterAllocation {
    /// The faster code.
    #[default]
    Backtracking,
    /// Slower code in little more than half the time: for what is executed once.
    SinglePass,
}

impl RegisterAllocation {
    /// Both.
    pub const ALL: [RegisterAllocation; 2] =
        [RegisterAllocation::Backtracking, RegisterAllocation::SinglePass];

    /// What is measured in `docs/native.md`.
    const fn settings(self) -> measure::Settings {
        match self {
            RegisterAllocation::Backtracking => measure::SETTINGS[1],
            RegisterAllocation::SinglePass => measure::SETTINGS[3],
        }
    }
}

fn has_fused_multiply() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// The compiler as a program has it.
#[derive(Debug)]
struct Attached {
    compiler: RegionCompiler,
    /// Also what is likely to gain nothing.
    all: bool,
}

/// Code that is only executed any more.
struct Finished(#[expect(dead_code, reason = "code lives as long as its owner")] Code);

// SAFETY: finished code does not change.
unsafe impl Send for Finished {}
// SAFETY: as above.
unsafe impl Sync for Finished {}

/// A compiler that keeps the code of this many regions drops it all; programs that use it still own it.
const KEPT: usize = 4096;

/// Fewer operations than this in a region gain nothing.
const LEAST: usize = 3;

/// A region that loads and has fewer operations than this in a loop over lanes, on average, is not faster than the interpreter.
const DENSE: usize = 3;

// SAFETY: `emit` makes code that does what `recipe` says of each operation, with the registers that the program's builder has checked, and `Finished`
// owns it.
unsafe impl Tier for Attached {
    fn compile(&self, program: &Program, region: &Region<'_>) -> Result<Option<CompiledRegion>, String> {
        let shared = &*self.compiler.0;
        let (recipe, operations) = recipe::recipe(program, region, shared.fused_multiply);
        let dense = !recipe.has_batches() || operations >= DENSE * recipe.loops();
        if operations < LEAST || !(self.all || dense) {
            return Ok(None);
        }
        let (groups, patterns, windows) = (recipe.groups.clone(), recipe.patterns.clone(), recipe.windows);
        let sides = recipe.sides.clone();
        let cache = || shared.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cache().get(&recipe).cloned();
        let (code, owner) = match known {
            Some(known) => known,
            None => {
                let made = shared.isa().and_then(|isa| compile_with(&recipe, isa));
                let made = made.map_err(|error| error.message)?;
                let made = (made.code, made.owner);
                let mut cache = cache();
                if cache.len() >= KEPT {
                    cache.clear();
                }
                cache.insert(recipe, made.clone());
                made
            }
        };
        Ok(Some(CompiledRegion { code, groups, patterns, windows, sides, operations, owner }))
    }
}

/// The code of a region, and what was made on the way.
struct Made {
    code: RegionCode,
    owner: Arc<Finished>,
    bytes: usize,
    /// Instructions of Cranelift, and how long it took to make them.
    instructions: usize,
    building: Duration,
}

fn compile_with(recipe: &Recipe, isa: &OwnedTargetIsa) -> Result<Made, Box<Diagnostic>> {
    let error = |e: &dyn std::fmt::Debug| internal("a region", format!("{e:?}"));
    let mut code = Code::of_regions(isa.clone());
    let (mut builder, mut context) = (FunctionBuilderContext::new(), code.make_context());
    let mut signature = code.make_signature();
    emit::signature(&mut signature);
    let id = code.declare_function("region", Linkage::Local, &signature).map_err(|e| error(&e))?;
    context.func.signature = signature;
    let config = code.target_config();
    let begin = Instant::now();
    emit::region(FunctionBuilder::new(&mut context.func, &mut builder), recipe, config);
    let (building, instructions) = (begin.elapsed(), context.func.dfg.num_insts());
    code.define_function(id, &mut context).map_err(|e| error(&e))?;
    let bytes = context.compiled_code().map_or(0, |code| code.code_buffer().len());
    code.finalize_definitions().map_err(|e| error(&e))?;
    let entry = code.get_finalized_function(id);
    // SAFETY: the function was compiled with the signature of `RegionCode`.
    let entry = unsafe { std::mem::transmute::<*const u8, RegionCode>(entry) };
    Ok(Made { code: entry, owner: Arc::new(Finished(code)), bytes, instructions, building })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use warpsmith_interp::engine::RegionState;
    use warpsmith_interp::{Device, Launch, Program};
    use warpsmith_ptx::ValidatedModule;

    /// Makes code that takes its time at first.
    #[derive(Debug)]
    struct Slow(Attached);

    static QUICK: OnceLock<RegionCode> = OnceLock::new();
    static IS_SLOW: AtomicBool = AtomicBool::new(true);

    unsafe extern "C" fn slow(state: *mut RegionState) -> u64 {
        if IS_SLOW.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(3));
        }
        // SAFETY: it is called as that code would be.
        unsafe { QUICK.get().unwrap()(state) }
    }

    // SAFETY: it does what the code does that it calls.
    unsafe impl Tier for Slow {
        fn compile(&self, program: &Program, region: &Region<'_>) -> Result<Option<CompiledRegion>, String> {
            let made = self.0.compile(program, region)?;
            Ok(made.map(|made| {
                assert_eq!(
                    *QUICK.get_or_init(|| made.code) as usize,
                    made.code as usize,
                    "one region is hot"
                );
                CompiledRegion { code: slow, ..made }
            }))
        }
    }

    /// What gains nothing is interpreted again, and tried again much later; what was on trial changes no result.
    #[test]
    fn slow_code_is_dropped() {
        let body = "mad.lo.u32 %a, %a, 3, 1; shr.u32 %b, %a, 3; xor.b32 %a, %a, %b; mad.lo.u32 %a, %a, 5, 7; shr.u32 %b, %a, 9; xor.b32 %a, %a, %b; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 30000; @%q bra again;";
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b32 %a, %b, %i; .reg .b64 %p; .reg .pred %q;\n\
             ld.param.u64 %p, [p]; mov.u32 %a, %tid.x; mad.wide.u32 %p, %a, 4, %p; mov.u32 %i, 0;\nagain: {body}\nst.global.u32 [%p], %a; ret;\n}}\n"
        );
        let module = ValidatedModule::parse(&text).unwrap();
        let plain = Program::load(&module).unwrap();
        let mut program = plain.clone();
        let compiler = RegionCompiler::new().unwrap();
        program.set_tier(Arc::new(Slow(Attached { compiler, all: false })));
        let run = |program: &Program| {
            let mut device = Device::new();
            let out = device.alloc(4 * 64).unwrap();
            let launch = Launch::new("k").block([64, 1, 1]).workers(1).arg(out);
            let stats = device.launch(program, &launch).unwrap();
            (stats.warp_instructions, stats.thread_instructions, device.read(out).unwrap())
        };
        let expected = run(&plain);
        let mut launches = 0;
        let mut run_until = |until: &dyn Fn() -> bool| {
            while !until() && launches < 2000 {
                assert_eq!(run(&program), expected);
                launches += 1;
            }
            launches
        };
        let first = run_until(&|| program.dropped_regions() > 0);
        assert!(QUICK.get().is_some(), "it was compiled");
        assert_eq!((program.dropped_regions(), program.compiled_regions()), (1, (0, 0)));
        IS_SLOW.store(false, Ordering::Relaxed);
        let second = run_until(&|| program.compiled_regions().0 > 0);
        assert_eq!((program.dropped_regions(), program.compiled_regions().0), (0, 1), "it is tried again");
        assert!(second > 8 * first, "launches until then: {first}, {second}");
    }

    #[test]
    fn shared_by_programs() {
        let body = "mad.lo.u32 %a, %a, 3, 1; shr.u32 %b, %a, 3; xor.b32 %a, %a, %b; mad.lo.u32 %a, %a, 5, 7;";
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b32 %a, %b; .reg .b64 %p;\n\
             ld.param.u64 %p, [p]; mov.u32 %a, %tid.x; {body} st.global.u32 [%p], %a; ret;\n}}\n"
        );
        let module = ValidatedModule::parse(&text).unwrap();
        let compiler = RegionCompiler::new().unwrap();
        let [one, two] = [(); 2].map(|()| compiler.accelerate(&mut Program::load(&module).unwrap()));
        assert!(one.regions > 0);
        assert_eq!(one, two);
        assert_eq!(compiler.0.made.lock().unwrap().len(), one.regions, "compiled once for both");
    }
}
