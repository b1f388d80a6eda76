//! Building a function front to back: blocks, instructions, and variables that become SSA values.
//!
//! Variables follow Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013): a use looks for
//! the definition in its block, then in the predecessors; where several meet, or where predecessors may still be added (the
//! block is not *sealed*), it makes a block parameter. Parameters that turn out to be one value in every predecessor are
//! removed at the end (`redundant.rs`). Look-ups are loops, not recursion, so that long chains of blocks do not exhaust the stack.

mod control;
mod home;
mod member;
mod redundant;
mod sync;

pub use control::Cases;
use home::Home;

use crate::aggregate::TypeTable;
use crate::dfg::Results;
use crate::entities::{Block, FuncId, GlobalId, Inst, Loc, StackSlot, Value, Variable};
use crate::function::{Function, LocData, StackSlotData};
use crate::ins::{Ins, InstBuilder};
use crate::inst::InstData;
use crate::module::{Global, Module};
use crate::names::Named;
use crate::ops::Traits;
use crate::types::Type;
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
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
    pub fn func(&self) -> &Function {
        self.home.func()
    }

    /// The function, to be changed past the builder. Branches added this way are not seen by variables.
    pub fn func_mut(&mut self) -> &mut Function {
        self.home.func_mut()
    }

    /// The module.
    pub fn module(&self) -> &Module {
        self.home.module()
    }

    /// Adds a function to the module, to be called from the one that is built. A detached builder cannot: that is reported, and the id is of no
    /// function.
    pub fn add_function(&mut self, function: Function) -> FuncId {
        match self.home.module_mut() {
            Some(module) => module.add_function(function),
            None => {
                self.misuse("I0036", format!("`@{}` cannot be added by a detached builder", function.name));
                FuncId::reserved_value()
            }
        }
    }

    /// Adds a global to the module. A detached builder cannot: that is reported, and the id is of no global.
    pub fn add_global(&mut self, global: Global) -> GlobalId {
        match self.home.module_mut() {
            Some(module) => module.add_global(global),
            None => {
                self.misuse("I0036", format!("`@{}` cannot be added by a detached builder", global.name));
                GlobalId::reserved_value()
            }
        }
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
        self.func_mut().dfg.make_block()
    }

    /// Goes on at the end of a block.
    pub fn switch_to_block(&mut self, block: Block) {
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
    pub fn is_filled(&self) -> bool {
        self.block.is_none_or(|block| self.func().is_terminated(block))
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
        self.func_mut().stack_slots.push(StackSlotData { size, align })
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
                let loc = self.func_mut().locs.push(place);
                self.locs.insert(place, loc);
                loc
            }
        });
        self.loc = loc.into();
    }

    /// Makes an instruction at the end of the current block.
    pub fn ins(&mut self) -> FuncIns<'_, 'm> {
        FuncIns { builder: self }
    }

    /// Calls a function of the module.
    pub fn call(&mut self, callee: FuncId, args: &[Value]) -> Results {
        let Some(func) = self.module().functions.get(callee) else {
            self.misuse("I0035", format!("there is no function {callee} in the module"));
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

    /// The structs and arrays of the module, to add to. A detached builder has none to add to: its types are made before it.
    pub fn types(&mut self) -> Option<&mut TypeTable> {
        self.home.module_mut().map(|module| &mut module.types)
    }

    /// The address of a global.
    pub fn global_addr(&mut self, global: GlobalId) -> Value {
        let ty = match self.module().globals.get(global) {
            Some(global) => global.ptr_type(),
            None => {
                self.misuse("I0035", format!("there is no global {global} in the module"));
                Type::PTR
            }
        };
        self.ins().global_addr(ty, global, 0)
    }

    /// Declares a variable.
    pub fn declare_var(&mut self, ty: Type) -> Variable {
        self.variables.push(ty)
    }

    /// Gives a variable a value from here on.
    pub fn def_var(&mut self, variable: Variable, value: Value) {
        let Some(ty) = self.variable(variable) else { return };
        if !self.func().dfg.has_value(value) {
            return self
                .misuse("I0035", format!("{variable} is given {value}, which the function does not have"));
        }
        let given = self.func().dfg.ty(value);
        if ty != given {
            self.misuse(
                "I0034",
                format!("{variable} is of type {ty} and cannot take {value} of type {given}"),
            );
        }
        match self.block {
            Some(block) => drop(self.definitions.insert((variable, block), value)),
            None => self.misuse("I0032", format!("{variable} is defined before any block was switched to")),
        }
    }

    /// The value that a variable has here. One that was never defined is zero.
    pub fn use_var(&mut self, variable: Variable) -> Value {
        let Some(ty) = self.variable(variable) else {
            return self.func_mut().dfg.make_detached_param(Type::INVALID);
        };
        let Some(block) = self.block else {
            self.misuse("I0032", format!("{variable} is used before any block was switched to"));
            return self.func_mut().dfg.make_detached_param(ty);
        };
        let mut unfilled = Vec::new();
        let value = self.look_up(variable, block, self.loc, &mut unfilled);
        self.fill(unfilled);
        value
    }

    /// Declares that no more branches to a block will be made.
    pub fn seal_block(&mut self, block: Block) {
        if !self.has_block(block) {
            return;
        }
        let state = &mut self.blocks[block];
        state.sealed = true;
        let waiting = std::mem::take(&mut state.waiting);
        self.fill(waiting);
    }

    /// Seals every block.
    pub fn seal_all_blocks(&mut self) {
        for index in 0..self.func().dfg.num_blocks() {
            self.seal_block(Block::from_u32(index as u32));
        }
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
            self.misuse("I0035", format!("there is no {block} in the function"));
        }
        exists
    }

    /// The type of a variable. One that does not exist is reported.
    fn variable(&mut self, variable: Variable) -> Option<Type> {
        let ty = self.variables.get(variable).copied();
        if ty.is_none() {
            self.misuse("I0035", format!("there is no variable {variable}"));
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
    fn open_block(&mut self, data: &InstData) -> Block {
        if let Some(missing) = self.missing(data) {
            self.misuse(
                "I0035",
                format!("`{}` names {missing}, which the function does not have", data.opcode()),
            );
            return self.create_block();
        }
        if let Some(block) = self.block {
            if !self.func().is_terminated(block) {
                return block;
            }
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

    // Variables.

    /// The value of a variable at the end of a block. Parameters that are made on the way go to `unfilled`.
    fn look_up(
        &mut self,
        variable: Variable,
        block: Block,
        loc: PackedOption<Loc>,
        unfilled: &mut Vec<usize>,
    ) -> Value {
        let mut path: SmallVec<[Block; 8]> = SmallVec::new();
        let mut current = block;
        let value = loop {
            if let Some(value) = self.definitions.get(&(variable, current)) {
                break *value;
            }
            let state = &self.blocks[current];
            let limit = self.func().dfg.num_blocks();
            match state.predecessors.as_slice() {
                _ if !state.sealed => {
                    let phi = self.make_phi(variable, current, loc);
                    self.blocks[current].waiting.push(phi);
                    break self.phis[phi].value;
                }
                // A path longer than the function goes around an unreachable loop.
                [] => break self.unset(variable, current, loc),
                [_] if path.len() > limit => break self.zero(variable, current),
                [only] => {
                    path.push(current);
                    current = *only;
                }
                _ => {
                    let phi = self.make_phi(variable, current, loc);
                    unfilled.push(phi);
                    break self.phis[phi].value;
                }
            }
        };
        for block in path {
            self.definitions.insert((variable, block), value);
        }
        self.definitions.entry((variable, current)).or_insert(value);
        value
    }

    fn make_phi(&mut self, variable: Variable, block: Block, loc: PackedOption<Loc>) -> usize {
        let ty = self.variables[variable];
        let value = self.func_mut().dfg.make_detached_param(ty);
        self.definitions.insert((variable, block), value);
        self.phis.push(Phi { block, variable, value, incoming: SmallVec::new(), loc });
        self.phis.len() - 1
    }

    /// Looks up the incoming values of parameters, and of those that this makes necessary.
    fn fill(&mut self, mut unfilled: Vec<usize>) {
        while let Some(phi) = unfilled.pop() {
            let Phi { block, variable, loc, .. } = self.phis[phi];
            for n in 0..self.blocks[block].predecessors.len() {
                let from = self.blocks[block].predecessors[n];
                let value = self.look_up(variable, from, loc, &mut unfilled);
                self.phis[phi].incoming.push(value);
            }
        }
    }

    /// The value of a variable in a block that no path sets it before. Blocks that nothing branches to are not worth a warning.
    fn unset(&mut self, variable: Variable, block: Block, loc: PackedOption<Loc>) -> Value {
        let func = self.func();
        if func.layout.entry() == Some(block) {
            let loc = loc.expand().and_then(|loc| func.locs.get(loc).copied());
            self.unset.push(ReadBeforeSet { variable, loc });
        }
        self.zero(variable, block)
    }

    /// The value of a variable that has none: zero, made at the start of a block.
    fn zero(&mut self, variable: Variable, block: Block) -> Value {
        let ty = self.variables[variable];
        let func = self.func_mut();
        if ty.is_aggregate() {
            return func.at_start(block).zero(ty);
        }
        let element = ty.element_type();
        let value = if element.is_float() {
            func.at_start(block).fconst(element, 0)
        } else if element.is_ptr() {
            let address = func.at_start(block).iconst(Type::I64, 0);
            func.after(address, block).inttoptr(element, address)
        } else {
            func.at_start(block).iconst(element, 0)
        };
        if !ty.is_vector() {
            return value;
        }
        let elements = vec![value; ty.lanes() as usize];
        func.after(value, block).vec(&elements)
    }

    /// Makes the remaining ones parameters of their blocks and arguments of the branches there.
    fn place_phis(&mut self) {
        let mut of_block: FxHashMap<Block, Vec<usize>> = FxHashMap::default();
        for (n, phi) in self.phis.iter().enumerate() {
            let dfg = &mut self.home.func_mut().dfg;
            if dfg.resolve(phi.value) == phi.value {
                dfg.attach_block_param(phi.block, phi.value);
                of_block.entry(phi.block).or_default().push(n);
            }
        }
        if of_block.is_empty() {
            return;
        }
        let func = self.home.func_mut();
        let blocks: Vec<Block> = func.layout.blocks().collect();
        for from in blocks {
            let Some(inst) = func.terminator(from) else { continue };
            func.dfg.for_each_target_mut(inst, |call, pool| {
                for n in of_block.get(&call.block).into_iter().flatten() {
                    // Filling looked the variable up in every predecessor, which noted it there. A branch to a sealed block
                    // was reported: the parameter stands in for what it lacks.
                    let phi = &self.phis[*n];
                    let value = self.definitions.get(&(phi.variable, from)).copied().unwrap_or(phi.value);
                    call.args.push(value, pool);
                }
            });
        }
    }
}

/// Makes an instruction at the end of the builder's current block.
pub struct FuncIns<'b, 'm> {
    builder: &'b mut FunctionBuilder<'m>,
}

impl InstBuilder for FuncIns<'_, '_> {
    fn func(&mut self) -> &mut Function {
        self.builder.func_mut()
    }

    fn operand(&mut self, data: InstData, ty: Type) -> Value {
        self.builder.ins().build(data, &[ty]).1.first()
    }

    fn build(self, data: InstData, results: &[Type]) -> (Inst, Results) {
        let builder = self.builder;
        let block = builder.open_block(&data);
        let loc = builder.loc;
        let is_terminator = data.opcode().traits().has(Traits::TERMINATOR);
        let ins: Ins = builder.func_mut().at_end(block).with_loc(loc);
        let (inst, results) = ins.build(data, results);
        if is_terminator && Some(block) == builder.block {
            builder.branches_to(block, inst);
        }
        (inst, results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{FuncKind, Param};
    use crate::ops::IntCC;
    use crate::verify::verify;
    use expect_test::expect;

    fn function(params: &[Type], ret: &[Type]) -> (Module, FuncId) {
        let mut module = Module::new();
        let params = params.iter().map(|ty| Param::new(*ty)).collect();
        let id = module.add_function(Function::new("f", FuncKind::Func, params, ret.to_vec()));
        (module, id)
    }

    #[test]
    fn a_loop_gets_parameters_for_what_changes_only() {
        let (mut module, id) = function(&[Type::I32, Type::I32], &[Type::I32]);
        let mut b = FunctionBuilder::new(&mut module, id);
        let entry = b.entry_block();
        let (head, body, done) = (b.create_block(), b.create_block(), b.create_block());
        let (n, step) = (b.block_params(entry)[0], b.block_params(entry)[1]);
        let (i, fixed) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
        let zero = b.ins().iconst(Type::I32, 0);
        b.def_var(i, zero);
        b.def_var(fixed, step);
        b.ins().jump(head, &[]);
        b.switch_to_block(head);
        let at = b.use_var(i);
        let more = b.ins().icmp(IntCC::Slt, at, n);
        b.ins().brif(more, body, &[], done, &[]);
        b.switch_to_block(body);
        let (at, by) = (b.use_var(i), b.use_var(fixed));
        let next = b.ins().iadd(at, by);
        b.def_var(i, next);
        b.ins().jump(head, &[]);
        b.switch_to_block(done);
        let (last, by) = (b.use_var(i), b.use_var(fixed));
        let result = b.ins().imul(last, by);
        b.ins().ret(&[result]);
        b.finalize().unwrap();
        verify(&module).unwrap();
        expect![[r#"
            func @f(%v0: i32, %v1: i32) -> i32 {
            block0:
              %v2 = iconst.i32 0
              jump block1(%v2)
            block1(%v3: i32):
              %v4 = icmp slt %v3, %v0
              brif %v4, block2, block3
            block2:
              %v7 = iadd %v3, %v1
              jump block1(%v7)
            block3:
              %v10 = imul %v3, %v1
              ret %v10
            }
        "#]]
        .assert_eq(&module.to_string());
    }

    #[test]
    fn undefined_variables_are_zero() {
        let (mut module, id) = function(&[Type::I1], &[Type::PTR_GLOBAL]);
        let mut b = FunctionBuilder::new(&mut module, id);
        let entry = b.entry_block();
        let cond = b.block_params(entry)[0];
        let (x, p) = (b.declare_var(Type::F32), b.declare_var(Type::PTR_GLOBAL));
        let (then, join) = (b.create_block(), b.create_block());
        b.ins().brif(cond, then, &[], join, &[]);
        b.seal_block(then);
        b.switch_to_block(then);
        let one = b.ins().f32const(1.0);
        b.def_var(x, one);
        b.ins().jump(join, &[]);
        b.seal_block(join);
        b.switch_to_block(join);
        let x = b.use_var(x);
        b.set_name(x, "x");
        let p = b.use_var(p);
        b.ins().ret(&[p]);
        b.finalize().unwrap();
        verify(&module).unwrap();
        expect![[r#"
            func @f(%v0: i1) -> ptr<global> {
            block0:
              %v5 = iconst.i64 0
              %v6 = inttoptr.ptr<global> %v5
              %v3 = fconst.f32 0.0
              brif %v0, block1, block2(%v3)
            block1:
              %v1 = fconst.f32 1.0
              jump block2(%v1)
            block2(%x: f32):
              ret %v6
            }
        "#]]
        .assert_eq(&module.to_string());
    }

    #[test]
    fn long_chains_and_unreachable_loops_do_not_recurse() {
        let (mut module, id) = function(&[], &[Type::I32]);
        let mut b = FunctionBuilder::new(&mut module, id);
        b.entry_block();
        let x = b.declare_var(Type::I32);
        let value = b.ins().iconst(Type::I32, 7);
        b.def_var(x, value);
        for _ in 0..100_000 {
            let next = b.create_block();
            b.ins().jump(next, &[]);
            b.seal_block(next);
            b.switch_to_block(next);
        }
        let found = b.use_var(x);
        assert_eq!(found, value);
        b.ins().ret(&[found]);
        let lonely = b.create_block();
        b.switch_to_block(lonely);
        b.ins().jump(lonely, &[]);
        b.seal_block(lonely);
        b.finalize().unwrap();
        verify(&module).unwrap();
    }

    /// One variable, set in some arms of many `if`s, nothing sealed before the end: the worst order for what is redundant.
    fn ifs(count: usize, set: impl Fn(usize) -> bool) -> (Module, std::time::Duration) {
        let (mut module, id) = function(&[Type::I1], &[Type::I32]);
        let start = std::time::Instant::now();
        let mut b = FunctionBuilder::new(&mut module, id);
        let entry = b.entry_block();
        let cond = b.block_params(entry)[0];
        let x = b.declare_var(Type::I32);
        let first = b.ins().iconst(Type::I32, 7);
        b.def_var(x, first);
        for n in 0..count {
            let (then, join) = (b.create_block(), b.create_block());
            b.ins().brif(cond, then, &[], join, &[]);
            b.switch_to_block(then);
            if set(n) {
                let at = b.use_var(x);
                let next = b.ins().iadd_imm(at, 1);
                b.def_var(x, next);
            }
            b.ins().jump(join, &[]);
            b.switch_to_block(join);
        }
        let x = b.use_var(x);
        b.ins().ret(&[x]);
        b.finalize().unwrap();
        (module, start.elapsed())
    }

    #[test]
    fn time_is_linear_in_the_blocks() {
        for set in [|_| false, |_| true, |n| n % 3 == 0, |n| n == 0] {
            let (module, time) = ifs(50_000, set);
            verify(&module).unwrap();
            // A quadratic builder takes minutes, a cubic one days.
            assert!(time.as_secs() < 20, "{time:?}");
            let func = &module.functions[FuncId::from_u32(0)];
            let params: usize =
                func.layout.blocks().skip(1).map(|block| func.dfg.block_params(block).len()).sum();
            assert_eq!(params, (0..50_000).filter(|n| set(*n)).count());
        }
    }

    #[test]
    fn a_variable_read_before_it_is_set_is_known_with_its_place() {
        let (mut module, id) = function(&[Type::I1], &[Type::I32]);
        let file = module.files.push("k.dsl".into());
        let mut b = FunctionBuilder::new(&mut module, id);
        let entry = b.entry_block();
        let cond = b.block_params(entry)[0];
        let (x, y) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
        b.if_(cond, |b| {
            let one = b.ins().iconst(Type::I32, 1);
            b.def_var(x, one);
            b.def_var(y, one);
            b.use_var(y);
        });
        let loc = LocData { file, line: 4, column: 2, scope: None };
        b.set_loc(Some(loc));
        let x_here = b.use_var(x);
        b.set_loc(Some(LocData { line: 5, ..loc }));
        b.use_var(x);
        b.ins().ret(&[x_here]);
        let unset = b.finalize_checked().unwrap();
        assert_eq!(unset, [ReadBeforeSet { variable: x, loc: Some(loc) }]);
    }

    #[test]
    fn misuse_is_reported() {
        let (mut module, id) = function(&[Type::I32], &[]);
        let mut b = FunctionBuilder::new(&mut module, id);
        let x = b.declare_var(Type::F32);
        b.use_var(x);
        let entry = b.entry_block();
        let n = b.block_params(entry)[0];
        b.def_var(x, n);
        let next = b.create_block();
        b.seal_block(next);
        b.ins().jump(next, &[]);
        b.ins().trap();
        let errors: Vec<String> = b.finalize().unwrap_err().iter().map(|e| e.to_string()).collect();
        expect![[r#"
            error[I0032]: @f: var0 is used before any block was switched to
            error[I0034]: @f: var0 is of type f32 and cannot take v1 of type i32
            error[I0033]: @f: block0 branches to block1, which is sealed
            error[I0031]: @f: `trap` behind the terminator of block0"#]]
        .assert_eq(&errors.join("\n"));
    }
}
