//! The passes, one a file. Each takes a verified function, leaves a verified one, and returns how much it changed.
//!
//! Laws for all of them:
//! - a convergent operation is neither duplicated nor moved, nor is its block made to depend on more branches;
//! - an instruction that stays keeps its source location, and a value its name; what replaces an instruction takes them over;
//! - no pass recurses over the function, and none takes more than about linear time in its size.

mod cfg;
mod dce;
mod gvn;
mod licm;
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "an address that is used in any other way is left in memory"
)]
mod mem2reg;
mod sccp;
#[allow(clippy::wildcard_enum_match_arm, reason = "what no rule simplifies stays as it is")]
mod simplify;

use warpsmith_ir::{Function, Inst, InstData, Type, Value};

/// A pass.
pub struct Pass {
    /// The name in the text of a pipeline.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    pub(crate) run: fn(&mut Function) -> u32,
}

/// All passes, by name.
pub static PASSES: &[Pass] = &[
    pass("cfg", "decide constant branches, merge and remove blocks", cfg::run),
    pass("dce", "remove instructions and block parameters without effect", dce::run),
    pass("gvn", "compute equal values once; forward stores to loads in a block", gvn::run),
    pass("licm", "move pure operations that do not change in a loop before it", licm::run),
    pass("mem2reg", "turn stack slots whose address stays local into values", mem2reg::run),
    pass("sccp", "find constants through branches and loops together", sccp::run),
    pass("simplify", "fold constants and rewrite by algebraic rules", simplify::run),
];

const fn pass(name: &'static str, summary: &'static str, run: fn(&mut Function) -> u32) -> Pass {
    Pass { name, summary, run }
}

/// Puts a new instruction in front of another, at the same place of the source, and returns its result.
pub(crate) fn insert_before(func: &mut Function, before: Inst, data: InstData, ty: Type) -> Value {
    let inst = func.dfg.make_inst(data, &[ty]);
    func.layout.insert_inst_before(inst, before);
    func.spans[inst] = func.spans[before];
    func.inst_locs[inst] = func.inst_locs[before];
    func.dfg.first_result(inst).expect("made with one result")
}

/// Makes every use of an instruction's result use another value, and takes the instruction out.
pub(crate) fn replace_with(func: &mut Function, inst: Inst, by: Value) {
    if let Some(result) = func.dfg.first_result(inst) {
        take_over_name(func, result, by);
        func.dfg.replace_value(result, by);
    }
    func.layout.remove_inst(inst);
}

/// A value without a name gets the one of the value it replaces.
pub(crate) fn take_over_name(func: &mut Function, from: Value, to: Value) {
    if func.names.get(to).is_none()
        && let Some(name) = func.names.get(from).map(str::to_string)
    {
        func.names.set(to, &name);
    }
}
