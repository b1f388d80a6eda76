//! The verifier: says whether a module keeps the rules of the IR, and if not, lists everything that breaks them.
//!
//! Symbols
//! - Names of functions and globals are unique and not empty.
//!
//! Types
//! - A struct or array holds types that were there before it, so never itself, and is nested at most 64 deep.
//! - Its alignment is a power of two, its size less than 2^63.
//! - A value consists of at most 4,096 scalars and vectors; what is larger stays in memory.
//!
//! Globals
//! - They are in `global`, `const` or `shared` memory; their elements have a memory form; arrays are not empty.
//! - An initialiser fits the size; the addresses in it are of symbols of the module, and lie apart. Shared memory and what another module defines have none.
//! - Textures and surfaces are named by table-derived operations only.
//! - Only shared memory of another "module" (`extern`, given by the launch) has a dynamic extent.
//!
//! Functions
//! - A kernel returns nothing.
//! - Parameters of kernels have a memory form; those that are pointers point to memory that the host or the launch can name.
//! - What is passed by value has at least one byte and an alignment that is a power of two.
//! - Only kernels have launch attributes; their sizes are at least 1 and blocks have at most 1024 threads.
//! - Parameters of kernels, stack slots, constants and the shared variables that a kernel reaches take no more than there is.
//! - What another module defines has no body, everything else has one.
//!
//! References
//! - Values, blocks, stack slots, functions, globals and source files that instructions name exist.
//!
//! Control flow
//! - The entry block has the function's parameters and is not a branch's target.
//! - Every block ends in its only terminator.
//! - Branches go to blocks of the function, with one argument of the right type for each parameter.
//! - Cases of a switch are distinct values of the operand's type.
//! - `ret` returns what the function says.
//!
//! Values
//! - A use is dominated by its definition. In unreachable blocks it is enough that the definition exists.
//! - No value denotes another one ([`DataFlowGraph::replace_value`](crate::DataFlowGraph::replace_value)) any more.
//!
//! Types
//! - Operands and results have the types that the operation's row in the table says.
//! - Constants fit their types and are in the one form that denotes their bits.
//! - Lanes are within the vector, paths within the struct or array.
//!
//! Memory
//! - Constant and parameter memory is not written.
//! - An address space cast has the generic space on exactly one side.
//! - Alignments are powers of two.
//!
//! Calls
//! - The callee is a function, not a kernel; arguments and results are those of its signature.
//!
//! Table-derived operations
//! - The tables have a form for the mnemonic, the operands and the results, for the module's target (any target, if it has none).
//! - An address is in the state space that the mnemonic names.
//! - Control flow is the IR's own: no operation that branches, calls or returns.
//!
//! Debug information
//! - What it names exists; members are within their types; a type is a part of itself only behind a pointer.
//! - Scopes form a tree whose root is the function; a location's scope is one of its function.
//! - A variable is bound to a value that is defined on every way to the binding, or that nothing computes any more.
//!
//! What the IR has a type or operation for, but no lowering yet, is refused by name (`I0390`), so that nothing fails later on.

mod debug;
mod flow;
mod globals;
mod ids;
mod inst;
mod limits;
#[allow(clippy::wildcard_enum_match_arm, reason = "parts of operands, not operations")]
mod ptx;
mod signature;
mod specific;
mod types;

use crate::entities::{Block, Inst, Value};
use crate::function::{Function, Linkage, LoopHint};
use crate::module::{Module, Symbol};
use crate::parallel;
use crate::parse::Read;
use crate::print::FunctionDisplay;
use crate::types::Type;
use std::cell::OnceCell;
use std::rc::Rc;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics, Origin, Span};
use warpsmith_isa::Mnemonic;

/// Checks a module. The error lists everything that is wrong with it, in the order of the text where there is one.
pub fn verify(module: &Module) -> Result<(), Diagnostics> {
    let mut errors = Vec::new();
    symbols(module, &mut errors);
    for global in module.globals.values() {
        globals::verify(module, global, &mut errors);
    }
    globals::circles(module, &mut errors);
    limits::constants(module, &mut errors);
    types::table(module, &mut errors);
    // What a broken type takes is not known: nothing that has one is looked at.
    if errors.iter().any(|error| error.code == types::BROKEN) {
        return Err(module.diagnostics(errors));
    }
    debug::module(module, &mut errors);
    let functions: Vec<&Function> = module.functions.values().collect();
    let threads = parallel::pays(module.functions.values());
    let share = if threads { parallel::share(functions.len()) } else { usize::MAX };
    // What a thread has learnt of table-derived operations is good for all functions that it takes at a time.
    let found = parallel::map(functions.chunks(share).collect(), threads, |functions| {
        let (mut errors, mut operations) = (Vec::new(), FxHashMap::default());
        for func in functions {
            let mut verifier = Verifier { module, func, errors, operations, display: OnceCell::new() };
            verifier.function();
            Verifier { errors, operations, .. } = verifier;
        }
        errors
    });
    errors.extend(found.into_iter().flatten());
    limits::shared(module, &mut errors);
    if errors.is_empty() {
        return Ok(());
    }
    errors.sort_by_key(|error| error.span.start);
    Err(module.diagnostics(errors))
}

/// What is wrong with the parts of a module that could be read, beside some that could not.
pub(crate) fn readable(module: &Module, read: &Read) -> Vec<Diagnostic> {
    let (mut errors, mut operations) = (Vec::new(), FxHashMap::default());
    types::table(module, &mut errors);
    if errors.iter().any(|error| error.code == types::BROKEN) {
        return errors;
    }
    for global in read.globals.iter().filter_map(|id| module.globals.get(*id)) {
        globals::verify(module, global, &mut errors);
    }
    let whole = read.functions.iter().map(|id| (*id, true));
    for (id, is_whole) in whole.chain(read.parts.iter().map(|id| (*id, false))) {
        let Some(func) = module.functions.get(id) else { continue };
        let mut verifier = Verifier { module, func, errors, operations, display: OnceCell::new() };
        match is_whole {
            true => verifier.function(),
            false => verifier.part_of_function(),
        }
        Verifier { errors, operations, .. } = verifier;
    }
    errors
}

fn symbols(module: &Module, errors: &mut Vec<Diagnostic>) {
    for &symbol in &module.order {
        let named = match symbol {
            Symbol::Func(id) => module.functions.get(id).map(|func| (&func.name, func.span)),
            Symbol::Global(id) => module.globals.get(id).map(|global| (&global.name, global.span)),
        };
        let Some((name, span)) = named else {
            let message = format!("the order of the module has {symbol:?}, which does not exist");
            errors.push(Diagnostic::error("I0424", Span::NONE, message));
            continue;
        };
        match module.symbol(name) {
            Some(owner) if owner == symbol => {}
            Some(_) => errors.push(Diagnostic::error("I0301", span, format!("`@{name}` is defined twice"))),
            None => {
                let message = format!("`@{name}` was renamed after it was added to the module");
                errors.push(Diagnostic::error("I0301", span, message));
            }
        }
        if name.is_empty() {
            let message = "a function or global has no name".to_string();
            errors.push(
                Diagnostic::error("I0302", span, message).note("any text of at least one character will do"),
            );
        }
    }
}

/// Checks one function.
struct Verifier<'a> {
    module: &'a Module,
    func: &'a Function,
    errors: Vec<Diagnostic>,
    /// Table-derived operations met so far.
    operations: FxHashMap<Mnemonic, Rc<ptx::Operation>>,
    /// The names, for messages.
    display: OnceCell<FunctionDisplay<'a>>,
}

impl<'a> Verifier<'a> {
    fn display(&self) -> &FunctionDisplay<'a> {
        self.display.get_or_init(|| FunctionDisplay::new(Some(self.module), self.func))
    }

    /// An error about the function as a whole.
    #[cold]
    fn error(&mut self, code: &'static str, message: String) -> &mut Diagnostic {
        self.push(Diagnostic::error(code, self.func.span, message).origin(Origin::of(&self.func.name)))
    }

    /// An error about an instruction. Without a place in a text, the instruction itself says where.
    #[cold]
    fn inst_error(&mut self, inst: Inst, code: &'static str, message: String) -> &mut Diagnostic {
        let span = self.func.spans[inst];
        let origin = self.module.origin(self.func, inst);
        let mut error = Diagnostic::error(code, span, message);
        if span.is_none() {
            let block =
                self.func.layout.block_of(inst).map_or("?".into(), |block| self.display().block(block));
            let place = origin.place.as_ref().map_or(String::new(), |place| format!(", made for {place}"));
            let text = self.display().inst(inst);
            error = error.note(format!("in `@{}`, {block}: {text}{place}", self.func.name));
        }
        self.push(error.origin(origin))
    }

    /// An error about a block.
    #[cold]
    fn block_error(&mut self, block: Block, code: &'static str, message: String) -> &mut Diagnostic {
        let span = self.func.block_spans[block];
        let mut error = Diagnostic::error(code, span, message);
        if span.is_none() {
            error = error.note(format!("in `@{}`", self.func.name));
        }
        self.push(error.origin(Origin::of(&self.func.name)))
    }

    fn push(&mut self, error: Diagnostic) -> &mut Diagnostic {
        self.errors.push(error);
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    /// `%name` for messages.
    fn name(&self, value: Value) -> String {
        self.display().value(value)
    }

    /// Where a value is defined, and in words.
    fn definition(&self, value: Value) -> (Span, String) {
        let name = self.name(value);
        let func = self.func;
        match func.dfg.def(value) {
            crate::ValueDef::Result(inst, _) => (func.spans[inst], format!("{name} is defined here")),
            crate::ValueDef::Param(block, _) if Some(block) == func.layout.entry() => {
                (func.span, format!("{name} is a parameter of this function"))
            }
            crate::ValueDef::Param(block, _) => {
                (func.block_spans[block], format!("{name} is a parameter of this block"))
            }
            crate::ValueDef::Alias(_) | crate::ValueDef::Detached => {
                (Span::NONE, format!("{name} has no definition"))
            }
        }
    }

    fn function(&mut self) {
        self.signature();
        self.parameter_sizes();
        self.attributes();
        let func = self.func;
        self.stack_slots();
        self.stack_size();
        let none = |block: &Block| func.loop_hints[*block] == Some(LoopHint::Unroll(0));
        if let Some(block) = func.layout.blocks().find(none) {
            let message = format!("{} asks for 0 rounds in one", self.display().block(block));
            let note = "`unroll 4` makes one round of four, `unroll full` leaves no loop, `unroll enable` none whose rounds are known, `nounroll` leaves it as it is";
            self.block_error(block, "I0324", message).notes.push(note.into());
        }
        if let Some(target) = func.alias {
            return self.alias(target);
        }
        match (func.is_declaration(), func.linkage == Linkage::Extern) {
            (true, false) => {
                self.error("I0325", format!("`@{}` has no body", func.name));
            }
            (false, true) => {
                self.error("I0325", format!("`@{}` is defined in another module and here too", func.name));
                self.checked_body();
            }
            (true, true) => {}
            (false, false) => self.checked_body(),
        }
    }

    /// The body, if everything that it names exists.
    fn checked_body(&mut self) {
        if self.ids() {
            self.body();
            self.debug_info();
        }
    }

    /// What is wrong with a function that has lines which could not be read: with its signature, and with instructions by themselves, where
    /// the types of all that they name are known.
    fn part_of_function(&mut self) {
        self.signature();
        self.parameter_sizes();
        self.attributes();
        self.stack_slots();
        let before = self.errors.len();
        if !self.ids() {
            // What is missing was in those lines.
            self.errors.truncate(before);
            return;
        }
        let func = self.func;
        for block in func.layout.blocks() {
            for inst in func.layout.insts(block) {
                let mut values = func.dfg.uses(inst).chain(func.dfg.results(inst));
                if values.all(|value| !func.dfg.ty(value).is_invalid()) {
                    self.inst(inst);
                }
            }
        }
    }
}

impl Verifier<'_> {
    /// `i32, f32`, or `nothing`.
    fn list(&self, types: &[Type]) -> String {
        match types {
            [] => "nothing".into(),
            _ => {
                let shown = types.iter().map(|&ty| self.module.types.display(ty).to_string());
                shown.collect::<Vec<_>>().join(", ")
            }
        }
    }
}
