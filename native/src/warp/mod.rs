//! Regions of the engine's programs as code for whole warps.
//!
//! A block of a region becomes loops over four lanes at a time: what a loop reads is loaded, what it computes stays in the host's vector registers, and
//! what it has written is stored at its end. Between the loops the engine executes what is not compiled, stores among it. Loads are part of the loop that uses
//! them where their addresses follow a rule, and the engine has checked all of them before; others it makes before the loop. Blocks branch to each other as long as all lanes go the same way, or part for a few operations and meet again.
//!
//! - `plan`: which arithmetic is compiled, and as what; `recipe`: a region, as far as its code depends on it, and `parts`: a block of it;
//! - `emit`: blocks, branches, and when the loop of the engine is to decide; `chunk`: the loop over the lanes; `compute`: its arithmetic,
//!   `fetch`: its loads; `uniform`: what is computed and looked up once for all lanes before it;
//! - `trace`: blocks, sides of branches among them, that are one loop over lanes; `follow`: its code, and what it counts; `orbit`: loops whose values stay
//!   in the host's registers from round to round.

mod chunk;
mod compute;
mod emit;
mod fetch;
mod follow;
pub mod measure;
mod orbit;
mod parts;
mod plan;
mod recipe;
mod trace;
mod uniform;

use crate::host::Code;
use crate::unit::internal;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{Linkage, Module as _};
use recipe::Recipe;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
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

/// Gives a program a maker of machine code: launches have it compile what they execute often, or all, as [`Machine::native`] says.
///
/// Results, statistics and faults are those of the interpreter. On hosts without machine code nothing changes, and the answer is the error `N0001`.
///
/// [`Machine::native`]: warpsmith_interp::Machine
pub fn attach(program: &mut Program) -> Result<(), Box<Diagnostic>> {
    give(program, false)
}

fn give(program: &mut Program, all: bool) -> Result<(), Box<Diagnostic>> {
    // An error here is one of the host.
    Code::new(&[])?;
    program.set_tier(Arc::new(Compiler { fused_multiply: has_fused_multiply(), settings: SETTINGS, all }));
    Ok(())
}

/// Compiles all regions of a program, and has the engine execute them so: [`attach`], and no waiting for what is hot, nor leaving out what is likely to
/// gain nothing.
pub fn accelerate(program: &mut Program) -> Result<Accelerated, Box<Diagnostic>> {
    give(program, true)?;
    program.compile_regions();
    let (regions, operations) = program.compiled_regions();
    Ok(Accelerated { regions, operations })
}

fn has_fused_multiply() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

#[derive(Debug)]
struct Compiler {
    fused_multiply: bool,
    settings: measure::Settings,
    /// Also what is likely to gain nothing.
    all: bool,
}

/// Code that is only executed any more.
struct Finished(#[expect(dead_code, reason = "code lives as long as its owner")] Code);

// SAFETY: finished code does not change.
unsafe impl Send for Finished {}
// SAFETY: as above.
unsafe impl Sync for Finished {}

type Cached = HashMap<(Recipe, measure::Settings), (RegionCode, Arc<Finished>)>;

/// Code by what it was made of: a region that two programs have, or one program that is loaded twice, is compiled once in a process.
static CACHE: OnceLock<Mutex<Cached>> = OnceLock::new();
/// When so many regions are kept, all are forgotten; programs that use them go on doing so.
const KEPT: usize = 4096;

/// Fewer operations than this in a region gain nothing.
const LEAST: usize = 3;

/// A region that loads and has fewer operations than this in a loop over lanes, on average, is not faster than the interpreter.
const DENSE: usize = 3;

// SAFETY: `emit` makes code that does what `recipe` says of each operation, with the registers that the program's builder has checked, and `Finished`
// owns it.
unsafe impl Tier for Compiler {
    fn compile(&self, program: &Program, region: &Region<'_>) -> Result<Option<CompiledRegion>, String> {
        let (recipe, operations) = recipe::recipe(program, region, self.fused_multiply);
        let dense = !recipe.has_batches() || operations >= DENSE * recipe.loops();
        if operations < LEAST || !(self.all || dense) {
            return Ok(None);
        }
        let groups = recipe.groups.clone();
        let cache = CACHE.get_or_init(Mutex::default);
        let key = (recipe, self.settings);
        let known = cache.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let (code, owner) = match known {
            Some(known) => known,
            None => {
                let made = compile_with(&key.0, self.settings).map_err(|error| error.message)?;
                let made = (made.code, made.owner);
                let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
                if cache.len() >= KEPT {
                    cache.clear();
                }
                cache.insert(key, made.clone());
                made
            }
        };
        Ok(Some(CompiledRegion { code, groups, operations, owner }))
    }
}

/// How regions are compiled: what is measured in `docs/native.md`.
const SETTINGS: measure::Settings = measure::SETTINGS[1];

/// The code of a region, and what was made on the way.
struct Made {
    code: RegionCode,
    owner: Arc<Finished>,
    bytes: usize,
    /// Instructions of Cranelift, and how long it took to make them.
    instructions: usize,
    building: Duration,
}

fn compile_with(recipe: &Recipe, settings: measure::Settings) -> Result<Made, Box<Diagnostic>> {
    let error = |e: &dyn std::fmt::Debug| internal("a region", format!("{e:?}"));
    let mut code = Code::of_regions(settings)?;
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
