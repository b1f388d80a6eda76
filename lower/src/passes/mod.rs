//! The passes, one a file. Each takes a verified function or module, leaves a verified one, and returns what it changed.
//!
//! Laws for all of them:
//! - a convergent operation is neither duplicated nor moved, nor is its block made to depend on more branches; only loops as a whole are copied
//!   with those in them;
//! - an instruction that stays keeps its source location, and a value its name; what replaces an instruction takes them over;
//! - no pass recurses over the function, and none takes more than about linear time in its size.

#[allow(clippy::wildcard_enum_match_arm, reason = "what is not a sum is a term")]
mod addresses;
#[deny(clippy::wildcard_enum_match_arm)]
mod aggregates;
#[allow(clippy::wildcard_enum_match_arm, reason = "what does not move bytes is a word of its own")]
mod bytes;
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "of what is neither a load nor a store only the effect counts"
)]
mod carry;
mod cfg;
#[allow(clippy::wildcard_enum_match_arm, reason = "an address starts at what is not a step of one")]
mod chosen;
mod conjoin;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not an address of a variable is not looked at")]
mod constants;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is rounded in any other way is rounded by itself")]
mod contract;
mod copied;
mod copy;
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "what is not a sum or product of a counter is not looked at"
)]
mod counters;
mod dce;
mod decided;
#[allow(clippy::wildcard_enum_match_arm, reason = "only divisions are of interest")]
mod divide;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not a product of bytes is a term like others")]
mod dots;
#[allow(clippy::wildcard_enum_match_arm, reason = "only loads and stores are of interest")]
mod dse;
#[allow(clippy::wildcard_enum_match_arm, reason = "the traits describe the rest")]
mod effects;
#[allow(clippy::wildcard_enum_match_arm, reason = "only loads and stores are of interest")]
mod forward;
mod globaldce;
#[allow(clippy::wildcard_enum_match_arm, reason = "only loads and stores access memory")]
mod gvn;
#[allow(clippy::wildcard_enum_match_arm, reason = "nothing else takes halves")]
mod half;
#[allow(clippy::wildcard_enum_match_arm, reason = "words are at hand of what moves them only")]
mod halves;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not looked at stays where it is")]
mod hoist;
mod ifconvert;
mod inline;
mod latches;
#[allow(clippy::wildcard_enum_match_arm, reason = "loads apart, traits say what moves")]
mod licm;
#[allow(clippy::wildcard_enum_match_arm, reason = "only loads and stores of slots become values")]
mod mem2reg;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not an address of a variable is not looked at")]
mod merge;
#[allow(clippy::wildcard_enum_match_arm, reason = "only masks and shifts are of interest")]
mod narrow;
mod near;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pointer that is used in any other way may be null")]
mod nulls;
#[allow(clippy::wildcard_enum_match_arm, reason = "only loads and stores are of interest")]
mod pack;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not computed in pairs is put together")]
mod pairs;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is computed in other ways is not compared")]
mod params;
#[allow(clippy::wildcard_enum_match_arm, reason = "a loop that is not understood stays as it is")]
mod partial;
mod place;
mod polynomial;
mod promote;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not computed may be any number")]
mod ranges;
#[allow(clippy::wildcard_enum_match_arm, reason = "what passes no pointer on writes nothing through one")]
mod readonly;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not a sum is a term")]
mod reassociate;
#[allow(clippy::wildcard_enum_match_arm, reason = "what does more than return or call stays as it is")]
mod recursion;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not a multiple of an index is not looked at")]
mod remat;
#[allow(clippy::wildcard_enum_match_arm, reason = "a loop that is not understood stays as it is")]
mod rotate;
mod sccp;
#[allow(clippy::wildcard_enum_match_arm, reason = "what no rule simplifies stays as it is")]
mod simplify;
mod sink;
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "an address that is used in any other way is left in memory"
)]
mod slots;
mod spaces;
mod ssa;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not a product of a counter is not looked at")]
mod strides;
#[allow(clippy::wildcard_enum_match_arm, reason = "a slot whose address is used in any other way stays one")]
mod tables;
#[allow(clippy::wildcard_enum_match_arm, reason = "only arithmetic and stores move")]
mod tails;
mod thread;
mod traps;
#[allow(clippy::wildcard_enum_match_arm, reason = "a loop that is not understood stays as it is")]
mod unroll;
#[allow(clippy::wildcard_enum_match_arm, reason = "only branches of two ways are taken in front of a loop")]
mod unswitch;
mod wide;
#[allow(clippy::wildcard_enum_match_arm, reason = "only loads and stores access slots")]
mod widths;
#[allow(clippy::wildcard_enum_match_arm, reason = "only loads and stores of two words are of interest")]
mod words;

pub(crate) use aggregates::{is_needed, legalize};
pub(crate) use contract::NAME as CONTRACT;
use mem2reg::zero;

use crate::pass::{Changes, Context, Pass, Passes};
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Opcode, Scalar, Type, Value, ValueList};

/// A pass of this folder.
struct Standard {
    name: &'static str,
    summary: &'static str,
    run: fn(&mut Function, &mut Context<'_>) -> Changes,
    copies_loops: bool,
}

impl Pass for Standard {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn copies_loops(&self) -> bool {
        self.copies_loops
    }

    fn may_be_skipped(&self) -> bool {
        true
    }

    fn run(&self, func: &mut Function, cx: &mut Context<'_>) -> Changes {
        (self.run)(func, cx)
    }
}

/// All passes.
pub(crate) fn standard() -> Passes {
    let pass = |name, summary, run| Standard { name, summary, run, copies_loops: false };
    let unroll = pass("unroll", "copy the blocks of loops whose rounds are known and few", unroll::run);
    let partial = pass("partial", "put several rounds of a counted loop in one", partial::run);
    let unswitch =
        pass("unswitch", "decide what is the same in all rounds in front of a loop", unswitch::run);
    Passes::default()
        .with(pass("addresses", "write indices as sums whose products are shared", addresses::run))
        .with_module(aggregates::Aggregates)
        .with(pass("bytes", "put bytes of words in order by one instruction", bytes::run))
        .with(pass("carry", "keep what a loop loads and stores at one address in a value", carry::run))
        .with(pass("cfg", "decide constant branches, merge and remove blocks", cfg::run))
        .with(pass("conjoin", "decide once by two conditions that lead to the same place", conjoin::run))
        .with_module(constants::Constants)
        .with(pass(contract::NAME, "round products and sums once that may be", contract::run))
        .with(pass("counters", "count by addresses in loops that stay loops", counters::run))
        .with(pass("dce", "remove instructions and block parameters without effect", dce::run))
        .with(pass("divide", "multiply instead of dividing by constants", divide::run))
        .with(pass("dots", "multiply and add bytes of words four at a time", dots::run))
        .with(pass("dse", "remove stores that nothing reads", dse::run))
        .with_module(effects::Effects)
        .with(pass("forward", "load what a store or another load is known to have left", forward::run))
        .with_module(globaldce::GlobalDce)
        .with(pass("gvn", "compute equal values once; forward stores to loads in a block", gvn::run))
        .with(pass("halves", "choose the words of integers of 64 bits by themselves", halves::run))
        .with(pass("hoist", "do what both sides of a branch begin with in front of it", hoist::run))
        .with_module(inline::Inliner)
        .with(pass("latches", "count and test at the end of rounds", latches::run))
        .with(pass("licm", "move what does not change in a loop before it", licm::run))
        .with(pass("mem2reg", "turn stack slots whose address stays local into values", mem2reg::run))
        .with_module(merge::Merge)
        .with(pass("ifconvert", "compute both sides of small branches and select", ifconvert::run))
        .with(pass("thread", "lead edges past branches that they decide", thread::run))
        .with(pass("traps", "trap in one place, and check several conditions at once", traps::run))
        .with(pass("narrow", "load the one byte, half or word that is used", narrow::run))
        .with(pass("nulls", "access variables through pointers to them that may be null", nulls::run))
        .with(pass("pack", "access neighbours in memory as vectors", pack::run))
        .with(pass("pairs", "compute two floats that become halves of a word at once", pairs::run))
        .with(pass("ranges", "use between which numbers values lie", ranges::run))
        .with(pass("readonly", "mark loads of memory that nothing writes", readonly::run))
        .with(pass("reassociate", "add first what does not change in a loop", reassociate::run))
        .with_module(recursion::Recursion)
        .with(pass(
            "remainders",
            "take what a quotient leaves, and divide by powers of two",
            divide::by_variables,
        ))
        .with(pass("remat", "compute addresses behind loops there, from their indices", remat::run))
        .with(pass("params", "keep one of block parameters that are always equal", params::run))
        .with(Standard { copies_loops: true, ..partial })
        .with(pass("place", "put loops in one piece, and blocks before what they go on to", place::run))
        .with(pass("promote", "keep parts of stack slots in values in loops", promote::run))
        .with(pass("rotate", "decide at the end of loops, not at their start", rotate::run))
        .with(pass("sccp", "find constants through branches and loops together", sccp::run))
        .with(pass("strides", "count by addresses that are a counter times a stride", strides::run))
        .with(pass("simplify", "fold constants and rewrite by algebraic rules", simplify::run))
        .with(pass("sink", "compute on the ways that need it, not in front of them", sink::run))
        .with_module(tables::Tables)
        .with(pass("tails", "do what all ways to a block end with once, in it", tails::run))
        .with(pass("spaces", "find the state space that generic pointers point into", spaces::run))
        .with(Standard { copies_loops: true, ..unroll })
        .with(Standard { copies_loops: true, ..unswitch })
        .with(pass("words", "access words held as integers of 64 bits as vectors", words::run))
}

/// Makes the operands of an instruction, without the arguments of branch targets, the values that they denote.
pub(crate) fn resolve_args(func: &mut Function, inst: Inst) {
    if func.dfg.args(inst).iter().all(|value| func.dfg.resolve(*value) == *value) {
        return;
    }
    for n in 0..func.dfg.args(inst).len() {
        let value = func.dfg.args(inst)[n];
        let resolved = func.dfg.resolve(value);
        if resolved != value {
            func.dfg.args_mut(inst)[n] = resolved;
        }
    }
}

/// Whether the bits of one type can be those of another.
pub(super) fn castable(a: Type, b: Type) -> bool {
    a == b || a.bits() == b.bits()
}

/// The bits of a value as another type of its size, computed before an instruction.
pub(super) fn cast(func: &mut Function, before: Inst, value: Value, ty: Type) -> Value {
    let from = func.dfg.ty(value);
    let mut unary = |op, arg, ty| insert_before(func, before, InstData::Unary { op, arg }, ty);
    if from == ty {
        value
    } else if from.is_ptr() {
        let bits = unary(Opcode::Ptrtoint, value, Type::I64);
        cast(func, before, bits, ty)
    } else if !ty.is_ptr() {
        unary(Opcode::Bitcast, value, ty)
    } else if from == Type::I64 {
        unary(Opcode::Inttoptr, value, ty)
    } else {
        let bits = unary(Opcode::Bitcast, value, Type::I64);
        cast(func, before, bits, ty)
    }
}

/// Makes a block in front of a header, with parameters like the header's, and leads edges of some blocks there. It has no terminator yet.
fn in_front(func: &mut Function, header: Block, entries: &[Block]) -> (Block, Vec<Value>) {
    let made = func.dfg.make_block();
    let at = func.layout.prev_block(header).unwrap_or(header);
    func.layout.insert_block_after(made, at);
    let params: Vec<Value> = func.dfg.block_params(header).to_vec();
    let given = params.iter().map(|&param| func.dfg.append_block_param(made, func.dfg.ty(param))).collect();
    entries.iter().for_each(|&block| unroll::redirect(func, block, header, made));
    (made, given)
}

/// Puts a new instruction in front of another, at the same place of the source, and returns its result.
pub(crate) fn insert_before(func: &mut Function, before: Inst, data: InstData, ty: Type) -> Value {
    let inst = func.dfg.make_inst(data, &[ty]);
    func.layout.insert_inst_before(inst, before);
    func.spans[inst] = func.spans[before];
    func.inst_locs[inst] = func.inst_locs[before];
    func.dfg.first_result(inst).expect("made with one result")
}

/// Two numbers of 16 bits side by side, the first one below: a word, to be made of a vector that is put in front of an instruction.
pub(crate) fn join_halves(func: &mut Function, before: Inst, halves: [Value; 2]) -> InstData {
    let args = ValueList::from_slice(&halves, &mut func.dfg.pool);
    let ty = Type::vector(Scalar::I16, 2).unwrap_or(Type::INVALID);
    let pair = insert_before(func, before, InstData::Vec { args }, ty);
    InstData::Unary { op: Opcode::Bitcast, arg: pair }
}

/// Puts a block on an edge; the jump that it ends with.
pub(crate) fn part_edge(func: &mut Function, from: Block, to: Block) -> Option<Inst> {
    let branch = func.terminator(from)?;
    let between = func.dfg.make_block();
    func.layout.insert_block_after(between, from);
    let mut out = None;
    func.dfg.for_each_target_mut(branch, |call, _| {
        if call.block == to && out.is_none() {
            let lead = BlockCall { block: between, args: ValueList::new() };
            out = Some(std::mem::replace(call, lead));
        }
    });
    let jump = func.dfg.make_inst(InstData::Jump { dest: out? }, &[]);
    func.layout.append_inst(jump, between);
    func.spans[jump] = func.spans[branch];
    func.inst_locs[jump] = func.inst_locs[branch];
    Some(jump)
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
