//! Building a function front to back: blocks, instructions, and variables that become SSA values.
//!
//! Variables follow Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013): a use looks for
//! the definition in its block, then in the predecessors; where several meet, or where predecessors may still be added (the
//! block is not *sealed*), it makes a block parameter. Parameters that turn out to be one value in every predecessor are
//! removed at the end (`redundant.rs`). Look-ups are loops, not recursion, so that long chains of blocks do not exhaust the stack.

mod control;
mod home;
mod ins;
mod member;
mod program;
mod redundant;
mod sync;
mod variables;

pub use control::Cases;
use home::Home;
pub use ins::FuncIns;

use crate::dfg::Results;
use crate::entities::{Block, FuncId, Inst, Loc, StackSlot, Value, Variable};
use crate::function::{Function, LocData, StackSlotData};
use crate::ins::InstBuilder;
use crate::inst::InstData;
use crate::module::Module;
use crate::names::Named;
use crate::types::Type;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics, Origin, Place, Span};

/// Builds the body of a function of a module.
///
/// ```
/// use warpsmith_ir::*;
/// // The sum of the numbers below n.
/// let mut module = Module::new();
/// let n = Param::new(Type::I32);
/// let id = module.add_function(Function::new("sum", FuncKind::Func, vec![n], vec![Type::I32]));
/// let mut b = FunctionBuilder::new(&mut module, id);
/// let entry = b.entry_block();
/// let (head, body, done) = (b.create_block(), b.create_block(), b.create_block());
/// let n = b.block_params(entry)[0];
/// let (i, sum) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
/// let zero = b.ins().iconst(Type::I32, 0);
/// b.def_var(i, zero);
/// b.def_var(sum, zero);
/// b.ins().jump(head, &[]);
///
/// b.switch_to_block(head);
/// let at = b.use_var(i);
/// let more = b.ins().icmp(IntCC::Slt, at, n);
/// b.ins().brif(more, body, &[], done, &[]);
///
/// b.switch_to_block(body);
/// b.seal_block(body);
/// let (old, at) = (b.use_var(sum), b.use_var(i));
/// let new = b.ins().iadd(old, at);
/// b.def_var(sum, new);
/// let one = b.ins().iconst(Type::I32, 1);
/// let next = b.ins().iadd(at, one);
/// b.def_var(i, next);
/// b.ins().jump(head, &[]);
/// b.seal_block(head);
///
/// b.switch_to_block(done);
/// b.seal_block(done);
/// let result = b.use_var(sum);
/// b.ins().ret(&[result]);
/// b.finalize().unwrap();
/// verify(&module).unwrap();
/// ```
///
/// No use of it panics. Values, blocks and variables of another function, functions of another module and the like are reported by
/// [`FunctionBuilder::finalize`]; until then something without a type takes their place. Functions and globals may be added to the module
/// while a body is built.
pub struct FunctionBuilder<'m> {
    home: Home<'m>,
    block: Option<Block>,
    /// The same block, if it is known to take another instruction: noted, so that this is not found out for each.
    open: Option<Block>,
    loc: PackedOption<Loc>,
    locs: FxHashMap<LocData, Loc>,
    variables: PrimaryMap<Variable, Type>,
    /// The value of a variable at the end of a block, as far as the block has been built.
    definitions: FxHashMap<(Variable, Block), Value>,
    blocks: SecondaryMap<Block, BlockState>,
    phis: Vec<Phi>,
    unset: Vec<ReadBeforeSet>,
    errors: Vec<Diagnostic>,
}

/// A variable that a path from the entry reads before it is set: its value there is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadBeforeSet {
    /// The variable, as [`FunctionBuilder::declare_var`] returned it.
    pub variable: Variable,
    /// The user's place of the first [`FunctionBuilder::use_var`] that such a path leads to, if one was set.
    pub loc: Option<LocData>,
}

#[derive(Clone, Default)]
struct BlockState {
    sealed: bool,
    /// Each predecessor once.
    predecessors: SmallVec<[Block; 2]>,
    /// Parameters made before the block was sealed, which wait for their incoming values.
    waiting: Vec<usize>,
}

/// A block parameter that a variable needs.
struct Phi {
    block: Block,
    variable: Variable,
    value: Value,
    incoming: SmallVec<[Value; 2]>,
    /// The user's place of the read that asked for it.
    loc: PackedOption<Loc>,
}

impl<'m> FunctionBuilder<'m> {
    /// Begins the body of a function that has none.
    pub fn new(module: &'m mut Module, id: FuncId) -> Self {
        let (home, refused) = Home::in_module(module, id);
        Self::at(home, refused)
    }

    /// Begins the body of a function that has none, apart from its module: [`FunctionBuilder::finish`] returns it. Bodies of one module can so be
    /// built on several threads. What they call and refer to is added to the module before.
    ///
    /// ```
    /// use warpsmith_ir::*;
    /// let mut module = Module::new();
    /// let ids: Vec<FuncId> = (0..4)
    ///     .map(|n| module.add_function(Function::new(format!("f{n}"), FuncKind::Func, vec![], vec![Type::I32])))
    ///     .collect();
    /// let bodies: Vec<Function> = std::thread::scope(|scope| {
    ///     let module = &module;
    ///     let build = |id: FuncId| move || {
    ///         let mut b = FunctionBuilder::detached(module, id);
    ///         b.entry_block();
    ///         let n = b.ins().iconst(Type::I32, id.as_u32().into());
    ///         b.ins().ret(&[n]);
    ///         b.finish().unwrap().0
    ///     };
    ///     let threads: Vec<_> = ids.iter().map(|id| scope.spawn(build(*id))).collect();
    ///     threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    /// });
    /// for (id, body) in ids.into_iter().zip(bodies) {
    ///     module.functions[id] = body;
    /// }
    /// verify(&module).unwrap();
    /// ```
    pub fn detached(module: &'m Module, id: FuncId) -> Self {
        let (home, refused) = Home::detached(module, id);
        Self::at(home, refused)
    }

    fn at(home: Home<'m>, refused: Option<String>) -> Self {
        let errors = refused.map(|message| Diagnostic::error("I0036", Span::NONE, message));
        FunctionBuilder {
            home,
            block: None,
            open: None,
            loc: None.into(),
            locs: FxHashMap::default(),
            variables: PrimaryMap::new(),
            definitions: FxHashMap::default(),
            blocks: SecondaryMap::new(),
            phis: Vec::new(),
            unset: Vec::new(),
            errors: errors.into_iter().collect(),
        }
    }

    /// The function, as far as it is built.
    #[inline]
    pub fn func(&self) -> &Function {
        self.home.func()
    }

    /// The function, to be changed past the builder. Branches added this way are not seen by variables.
    #[inline]
    pub fn func_mut(&mut self) -> &mut Function {
        self.open = None;
        self.home.func_mut()
    }

    /// Promises that a sum, a difference or a product, read as signed, does not wrap (`iadd nsw`), that a divisor is not 0 (`udiv nz`), or that
    /// one of floats may be rounded once together with another (`fadd contract`).
    pub fn promise(&mut self, value: Value) {
        let func = self.home.func_mut();
        if let Some(inst) = func.dfg.def_inst(value) {
            func.dfg.set_promised(inst, true);
        }
    }

    /// The module.
    pub fn module(&self) -> &Module {
        self.home.module()
    }

    /// Makes the entry block, whose parameters are the function's, and goes on at its end.
    pub fn entry_block(&mut self) -> Block {
        if let Some(block) = self.func().layout.entry() {
            self.misuse("I0036", format!("the entry block is there already: it is {block}"));
            self.switch_to_block(block);
            return block;
        }
        let block = self.func_mut().make_entry();
        self.seal_block(block);
        self.switch_to_block(block);
        block
    }

    /// Makes a block. It takes its place in the function when the builder first switches to it.
    pub fn create_block(&mut self) -> Block {
        self.home.func_mut().dfg.make_block()
    }

    /// Goes on at the end of a block.
    pub fn switch_to_block(&mut self, block: Block) {
        self.open = None;
        if !self.has_block(block) {
            self.block = None;
            return;
        }
        self.func_mut().layout.append_block(block);
        self.block = Some(block);
    }

    /// The block that is being built.
    pub fn current_block(&self) -> Option<Block> {
        self.block
    }

    /// True if there is no block to add instructions to: none was switched to, or it has its terminator.
    #[inline]
    pub fn is_filled(&self) -> bool {
        self.open.is_none() && self.block.is_none_or(|block| self.func().is_terminated(block))
    }

    /// Adds a parameter to a block.
    pub fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        if !self.has_block(block) {
            return self.func_mut().dfg.make_detached_param(ty);
        }
        self.func_mut().dfg.append_block_param(block, ty)
    }

    /// The parameters of a block that were added explicitly.
    pub fn block_params(&self, block: Block) -> &[Value] {
        self.func().dfg.block_params(block)
    }

    /// Reserves memory for the time of a call.
    pub fn create_stack_slot(&mut self, size: u32, align: u32) -> StackSlot {
        self.home.func_mut().stack_slots.push(StackSlotData { size, align })
    }

    /// Names a value, block or stack slot in the text form. Names need not be unique.
    pub fn set_name(&mut self, entity: impl Named, name: &str) {
        if entity.exists(self.func()) {
            self.func_mut().names.set(entity, name);
        } else {
            self.misuse("I0035", format!("`{name}` names what the function does not have"));
        }
    }

    /// The user's source place of the instructions made from now on.
    pub fn set_loc(&mut self, place: Option<LocData>) {
        let loc = place.map(|place| match self.locs.get(&place) {
            Some(loc) => *loc,
            None => {
                let loc = self.home.func_mut().locs.push(place);
                self.locs.insert(place, loc);
                loc
            }
        });
        self.loc = loc.into();
    }

    /// Makes room for so many instructions, where it is known beforehand how many the function will have.
    pub fn reserve(&mut self, insts: usize) {
        let func = self.func_mut();
        func.dfg.reserve(insts);
        func.layout.reserve(func.dfg.num_insts() + insts);
    }

    /// Makes an instruction at the end of the current block.
    #[inline]
    pub fn ins(&mut self) -> FuncIns<'_, 'm> {
        FuncIns { builder: self }
    }

    /// Calls a function of the module.
    pub fn call(&mut self, callee: FuncId, args: &[Value]) -> Results {
        let Some(func) = self.module().functions.get(callee) else {
            self.misuse("I0035", format!("the module has no function {callee}"));
            return self.ins().call(callee, &[Type::INVALID], args);
        };
        let returns: SmallVec<[Type; 1]> = SmallVec::from_slice(&func.ret);
        self.ins().call(callee, &returns, args)
    }

    /// The part of an aggregate that a path of fields leads to.
    pub fn extract_value(&mut self, aggregate: Value, path: &[u32]) -> Value {
        let whole = self.func().dfg.ty(aggregate);
        // A path that leads nowhere gives a value without a type, which the verifier reports with the path.
        let ty = self.module().types.at_path(whole, path).map_or(Type::INVALID, |place| place.ty);
        self.ins().extract_value(ty, aggregate, path)
    }

    /// Ends the function: seals what is not sealed, turns variables into block parameters where they are needed.
    ///
    /// The error is a wrong use of the builder. Everything else that may be wrong with the function is the verifier's to say.
    pub fn finalize(self) -> Result<(), Diagnostics> {
        self.finalize_checked().map(drop)
    }

    /// [`FunctionBuilder::finalize`], returning the variables that are read before they are set, each once, for the front end's warnings.
    pub fn finalize_checked(mut self) -> Result<Vec<ReadBeforeSet>, Diagnostics> {
        self.complete();
        if self.errors.is_empty() { Ok(self.unset) } else { Err(self.home.module().diagnostics(self.errors)) }
    }

    /// [`FunctionBuilder::finalize_checked`] for a [detached](FunctionBuilder::detached) builder: the function is returned too, to be put in the
    /// place of its declaration. A builder that is not detached leaves its function in the module and returns a copy.
    pub fn finish(mut self) -> Result<(Function, Vec<ReadBeforeSet>), Diagnostics> {
        self.complete();
        if !self.errors.is_empty() {
            return Err(self.home.module().diagnostics(self.errors));
        }
        Ok((self.home.into_func(), self.unset))
    }

    fn complete(&mut self) {
        self.seal_all_blocks();
        self.remove_redundant_phis();
        self.place_phis();
        self.func_mut().dfg.resolve_aliases();
    }

    /// Reports a block that the function does not have.
    fn has_block(&mut self, block: Block) -> bool {
        let exists = self.func().dfg.has_block(block);
        if !exists {
            self.misuse("I0035", format!("the function has no {block}"));
        }
        exists
    }

    /// The type of a variable. One that does not exist is reported.
    fn variable(&mut self, variable: Variable) -> Option<Type> {
        let ty = self.variables.get(variable).copied();
        if ty.is_none() {
            self.misuse("I0035", format!("unknown variable {variable}"));
        }
        ty
    }

    #[cold]
    pub(crate) fn misuse(&mut self, code: &'static str, message: String) {
        let message = format!("@{}: {message}", self.func().name);
        let mut origin = Origin::of(&self.func().name);
        let at = self.loc.expand().and_then(|loc| self.func().locs.get(loc));
        if let Some(LocData { file, line, column, .. }) = at.copied()
            && let Some(file) = self.module().files.get(file)
        {
            origin = origin.place(Place { file: file.clone(), line, column });
        }
        let mut error = Diagnostic::error(code, Span::NONE, message);
        if let Some(place) = &origin.place {
            error = error.note(format!("made for {place}"));
        }
        self.errors.push(error.origin(origin));
    }

    // Instructions.

    /// The block that takes the next instruction. One without a block, or with operands or targets of another function, goes where it is
    /// never seen.
    #[inline]
    fn open_block(&mut self, data: &InstData) -> Block {
        let func = self.home.func();
        if self.open.is_none() {
            self.open = self.block.filter(|block| !func.is_terminated(*block));
        }
        match self.open {
            Some(block) if func.dfg.has_operands(data) => block,
            Some(_) | None => self.refuse(data),
        }
    }

    /// Reports an instruction that cannot be made where the builder is, and makes the block where it goes.
    #[cold]
    fn refuse(&mut self, data: &InstData) -> Block {
        if let Some(missing) = self.missing(data) {
            self.misuse(
                "I0035",
                format!("`{}` names {missing}, which the function does not have", data.opcode()),
            );
            return self.create_block();
        }
        if let Some(block) = self.block {
            self.misuse("I0031", format!("`{}` behind the terminator of {block}", data.opcode()));
        } else {
            self.misuse("I0032", format!("`{}` before any block was switched to", data.opcode()));
        }
        self.create_block()
    }

    /// The first value or block of an instruction that the function does not have.
    fn missing(&self, data: &InstData) -> Option<String> {
        let dfg = &self.func().dfg;
        let (head, cases) = data.targets(&dfg.jump_tables);
        let calls = || head.iter().chain(cases.iter().map(|(_, call)| call));
        let in_calls = calls().flat_map(|call| call.args(&dfg.pool));
        let mut values = data.args(&dfg.pool).iter().chain(in_calls);
        let value = values.find(|value| !dfg.has_value(**value)).map(Value::to_string);
        value.or_else(|| calls().find(|call| !dfg.has_block(call.block)).map(|call| call.block.to_string()))
    }

    fn branches_to(&mut self, from: Block, inst: Inst) {
        let dfg = &self.func().dfg;
        let targets: SmallVec<[Block; 4]> =
            dfg.targets(inst).map(|call| call.block).filter(|block| dfg.has_block(*block)).collect();
        for target in targets {
            let state = &mut self.blocks[target];
            // A block has one terminator, so that what it branches to several times has it for its last predecessor.
            if state.predecessors.last() != Some(&from) {
                state.predecessors.push(from);
                if state.sealed {
                    self.misuse("I0033", format!("{from} branches to {target}, which is sealed"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
