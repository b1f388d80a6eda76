//! One function: blocks in an order in which definitions come before their uses, block parameters in place of phis.

use super::Importer;
use super::contract::Uses;
use super::debug::Scopes;
use super::shape::{self, Part, Parts};
use super::signature::{Incoming, Signature};
use super::space::{self, Space};
use super::symbols::Site;
use crate::error::{Error, Result};
use crate::module::attributes::known;
use crate::module::body::{Body, Inst, InstKind};
use crate::module::types::{Type, TypeId, Types};
use crate::module::{GlobalValue, Module, ValueId};
use smallvec::SmallVec;
use std::cell::OnceCell;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{self as ir, FunctionBuilder, InstBuilder, MemFlags, Value};

/// The scalars of a value.
pub(super) type Values = SmallVec<[Value; 4]>;

/// A function that is being imported.
pub(super) struct Builder<'i, 'a, 'm> {
    pub importer: &'i mut Importer<'a>,
    pub site: Site,
    pub body: &'i Body,
    /// The instruction that is imported, by its number.
    pub here: u32,
    pub b: FunctionBuilder<'m>,
    /// The scalars of each value of the function, as a range of `scalars`.
    values: Vec<(u32, u32)>,
    scalars: Vec<Value>,
    /// The block of the IR that each block begins with; none for those that nothing reaches.
    pub(super) blocks: Vec<Option<ir::Block>>,
    /// Which pointers point to one space for certain.
    pub spaces: Vec<Space>,
    /// How values of the function are used, once somebody has asked.
    pub(super) uses: OnceCell<Uses>,
    /// Pointers to what nothing writes while the kernel runs.
    invariant: FxHashSet<ValueId>,
    /// Loads that `!invariant.load` is attached to, by instruction.
    pub invariant_loads: FxHashSet<u32>,
    /// What is attached to say how large values are.
    pub(super) ranges: FxHashMap<u32, super::ranges::Range>,
    /// What is asked of loops, by the instruction that goes back.
    pub loop_hints: FxHashMap<u32, ir::LoopHint>,
    /// The module is CUDA: atomic operations are as that language means them.
    pub cuda: bool,
    /// The address of what follows the parameters.
    pub variadic: Option<Value>,
    /// Subnormals are flushed to zero in operations on `float`.
    pub ftz: bool,
    /// Scopes and variables of the source, where the file says something of them.
    pub scopes: Option<Scopes>,
}

impl<'a> Importer<'a> {
    /// Imports the body of a function.
    pub(super) fn function(&mut self, site: Site, id: ir::FuncId, out: &mut ir::Module) -> Result<()> {
        let GlobalValue::Function(n) = site.value else { return Ok(()) };
        let kernel = self.is_kernel(site);
        let module = &mut self.modules[site.module].1;
        let Some(body) = module.read_body_in(n, std::mem::take(&mut self.spare))? else { return Ok(()) };
        let function = &module.functions[n];
        let (ty, attributes) = (function.ty, function.attributes);
        let signature = self.signature(site.module, ty, attributes, kernel, &mut out.types)?;
        let subprogram = self.debug(site, &body, out);
        let module = self.module(site);
        let spaces = space::infer(module, &body, &signature, kernel);
        let invariant_loads = body.attached("invariant.load", module).map(|(inst, _)| inst).collect();
        let loop_hints = super::loops::hints(module, &body);
        let ranges = super::ranges::attached(module, &body);
        let cuda = module.is_cuda();
        let set = module.attributes.set(attributes);
        let function_index = crate::module::attributes::AttributeSet::FUNCTION;
        let ftz =
            ["denormal-fp-math-f32", "denormal-fp-math"].iter().find_map(|key| set.text(function_index, key));
        let ftz = ftz.is_some_and(|value| value.starts_with("preserve-sign"));
        let mut builder = Builder {
            values: vec![(u32::MAX, 0); body.types.len()],
            scalars: Vec::with_capacity(body.types.len()),
            blocks: vec![None; body.blocks.len()],
            spaces,
            uses: OnceCell::new(),
            invariant: FxHashSet::default(),
            invariant_loads,
            ranges,
            loop_hints,
            cuda,
            variadic: None,
            ftz,
            scopes: None,
            importer: self,
            site,
            body: &body,
            here: 0,
            b: FunctionBuilder::new(out, id),
        };
        if let Some(subprogram) = subprogram {
            let root = builder.b.set_subprogram(subprogram);
            builder.scopes = Some(Scopes::new(root));
        }
        builder.b.reserve(body.insts.len() * 2);
        builder.run(&signature, kernel, attributes)?;
        builder
            .b
            .finalize()
            .map_err(|errors| Error::unsupported(format!("a body that is not built: {errors}")))?;
        super::debug::drop_early_bindings(&mut out.functions[id]);
        self.spare = body;
        Ok(())
    }
}

/// The position of a value among those of a function.
pub(super) fn local(body: &Body, value: ValueId) -> Option<usize> {
    value.0.checked_sub(body.first_value).map(|n| n as usize)
}

/// The blocks that are reached, those that dominate others first.
fn reverse_postorder(body: &Body) -> Vec<u32> {
    let successors = |block: u32| -> SmallVec<[u32; 2]> {
        let range = body.blocks.get(block as usize);
        let last = range.and_then(|range| body.insts.get(range.end.checked_sub(1)? as usize));
        last.map_or(SmallVec::new(), |inst| body.successors(inst))
    };
    let mut seen = vec![false; body.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0u32, successors(0), 0usize)];
    seen[0] = true;
    while let Some((block, next, at)) = stack.last_mut() {
        if let Some(&successor) = next.get(*at) {
            *at += 1;
            if !std::mem::replace(&mut seen[successor as usize], true) {
                stack.push((successor, successors(successor), 0));
            }
        } else {
            order.push(*block);
            stack.pop();
        }
    }
    order.reverse();
    order
}

impl<'a> Builder<'_, 'a, '_> {
    fn run(&mut self, signature: &Signature, kernel: bool, attributes: u32) -> Result<()> {
        let entry = self.b.entry_block();
        self.params(entry, signature, kernel, attributes)?;
        let order = reverse_postorder(self.body);
        for &block in &order {
            let of_ir = if block == 0 { entry } else { self.b.create_block() };
            self.blocks[block as usize] = Some(of_ir);
        }
        let mut positions = vec![u32::MAX; self.body.blocks.len()];
        for (position, &block) in (0..).zip(&order) {
            positions[block as usize] = position;
            self.phis(block)?;
        }
        for &block in &order {
            let Some(of_ir) = self.blocks[block as usize] else { continue };
            self.b.switch_to_block(of_ir);
            let range = self.body.blocks[block as usize].clone();
            self.begin_records(range.start);
            for n in range {
                let body = self.body;
                let inst = &body.insts[n as usize];
                self.here = n;
                self.locate(inst);
                self.bind_before(n);
                self.inst(block, n, inst).map_err(|error| {
                    error.at(inst.offset).in_source(|| super::debug::places(self.module(), body, inst))
                })?;
                self.hint_loop(block, n, inst, &positions);
                // Behind what never returns nothing is left to do.
                if self.b.is_filled() {
                    break;
                }
                self.hint_range(n, inst);
            }
        }
        Ok(())
    }

    fn params(
        &mut self,
        entry: ir::Block,
        signature: &Signature,
        kernel: bool,
        attributes: u32,
    ) -> Result<()> {
        let values: Vec<Value> = self.b.block_params(entry).to_vec();
        let mut values = values.into_iter();
        let mut next = || values.next().ok_or_else(|| Error::unsupported("a parameter without a value"));
        for (n, param) in signature.params.iter().enumerate() {
            let value = ValueId(self.body.first_value + n as u32);
            match param {
                Incoming::Value(ty) => {
                    let set = self.module().attributes.set(attributes);
                    let index = n as u32 + 1;
                    let read_only = set.has(index, known::READ_ONLY) || set.has(index, known::READ_NONE);
                    if kernel && read_only && set.has(index, known::NO_ALIAS) {
                        self.invariant.insert(value);
                    }
                    let mut all = Values::new();
                    if ty.is_some() {
                        let whole = next()?;
                        self.take_apart(whole, &mut all);
                    }
                    self.define(value, &all);
                    let range = self.module().attributes.set(attributes).range(index);
                    if let Some(range) = range {
                        self.within(value, range);
                    }
                }
                Incoming::Bytes(any) => {
                    if !any {
                        self.define(value, &[]);
                        continue;
                    }
                    let address = next()?;
                    let ty = self.body.types[n];
                    let align = self.types().align(ty);
                    let mut all = self.load_parts(ty, address, align, MemFlags::PLAIN)?;
                    for scalar in &mut all {
                        if kernel && self.type_of(*scalar) == ir::Type::PTR {
                            *scalar = self.b.ins().addrspacecast(ir::Type::PTR_GLOBAL, *scalar);
                        }
                    }
                    self.define(value, &all);
                }
                Incoming::ByValue { size, align } => {
                    let source = if *size > 0 { Some(next()?) } else { None };
                    if let Some(source) = source
                        && self.spaces.get(n) == Some(&Space::Param)
                    {
                        self.define(value, &[source]);
                        continue;
                    }
                    let slot = self.b.create_stack_slot((*size).max(1), *align);
                    let copy = self.b.ins().stack_addr(slot, 0);
                    if let Some(source) = source {
                        let flags = MemFlags::PLAIN.with_align(*align).unwrap_or(MemFlags::PLAIN);
                        if self.type_of(source).is_aggregate() {
                            self.b.ins().store(flags, source, copy, 0);
                        } else {
                            let bytes = self.b.ins().iconst(ir::Type::I64, i64::from(*size));
                            self.b.ins().memcpy(flags, copy, source, bytes);
                        }
                    }
                    self.define(value, &[copy]);
                }
                Incoming::Variadic => self.variadic = Some(next()?),
            }
        }
        Ok(())
    }

    /// Makes the parameters of a block that its phis are.
    fn phis(&mut self, block: u32) -> Result<()> {
        let Some(of_ir) = self.blocks[block as usize] else { return Ok(()) };
        for n in self.body.blocks[block as usize].clone() {
            let body = self.body;
            let inst = &body.insts[n as usize];
            let InstKind::Phi { .. } = inst.kind else { continue };
            let Some(value) = inst.value else { continue };
            let mut all = Values::new();
            for part in shape::parts(self.types(), inst.ty).map_err(|error| error.at(inst.offset))? {
                let ty = self.known_type(value, part.ty);
                all.push(self.b.append_block_param(of_ir, ty));
            }
            self.define(value, &all);
        }
        Ok(())
    }

    /// The arguments for the phis of a block, from the block that branches to it.
    fn arguments(&mut self, from: u32, to: u32) -> Result<Vec<Value>> {
        let mut args = Vec::new();
        let body = self.body;
        for n in body.blocks[to as usize].clone() {
            let inst = &body.insts[n as usize];
            let InstKind::Phi { incoming, .. } = &inst.kind else { continue };
            let Some((value, _)) = self.body.edges(*incoming).iter().find(|(_, block)| *block == from) else {
                return Err(Error::record(inst.offset, format!("a phi has no value for block {from}")));
            };
            let of_phi = inst.value.map(|value| self.get(value)).transpose()?.unwrap_or_default();
            for (value, param) in self.value(*value)?.into_iter().zip(of_phi) {
                let ty = self.type_of(param);
                args.push(self.pointer_as(value, ty));
            }
        }
        Ok(args)
    }

    /// The block of the IR and the arguments for a branch.
    pub fn target(&mut self, from: u32, to: u32) -> Result<(ir::Block, Vec<Value>)> {
        let args = self.arguments(from, to)?;
        let block = self.blocks.get(to as usize).copied().flatten();
        let block = block.ok_or_else(|| Error::unsupported("a branch to a block that is not reached"))?;
        Ok((block, args))
    }

    // Values.

    pub fn module(&self) -> &Module<'a> {
        self.importer.module(self.site)
    }

    pub fn types(&self) -> &Types {
        &self.module().types
    }

    pub fn ty(&self, ty: TypeId) -> &Type {
        self.types().get(ty)
    }

    /// The type of a scalar.
    pub fn type_of(&self, value: Value) -> ir::Type {
        self.b.func().dfg.ty(value)
    }

    /// The LLVM type of a value.
    pub fn llvm_type(&self, value: ValueId) -> Option<TypeId> {
        match local(self.body, value) {
            Some(n) => self.body.types.get(n).copied(),
            None => self.module().constant(value).map(|constant| constant.ty),
        }
    }

    /// The scalars that a type has.
    pub fn parts(&self, ty: TypeId) -> Result<Parts> {
        shape::parts(self.types(), ty)
    }

    /// The type of a scalar of a value whose space is known.
    pub fn known_type(&self, value: ValueId, ty: ir::Type) -> ir::Type {
        let space = local(self.body, value).and_then(|n| self.spaces.get(n));
        match space {
            Some(space) if ty == ir::Type::PTR => space.pointer(),
            _ => ty,
        }
    }

    pub fn define(&mut self, value: ValueId, scalars: &[Value]) {
        let Some(slot) = local(self.body, value).and_then(|n| self.values.get_mut(n)) else { return };
        *slot = (self.scalars.len() as u32, scalars.len() as u32);
        self.scalars.extend_from_slice(scalars);
    }

    /// The scalars of a value that has been defined.
    fn get(&self, value: ValueId) -> Result<Values> {
        let range =
            local(self.body, value).and_then(|n| self.values.get(n)).filter(|(start, _)| *start != u32::MAX);
        let Some((start, len)) = range else {
            return Err(Error::unsupported(format!("value {} is used before it is defined", value.0)));
        };
        let all = self.scalars.get(*start as usize..(*start + *len) as usize).unwrap_or_default();
        Ok(Values::from_slice(all))
    }

    /// The scalars of a value; constants are made here.
    pub fn value(&mut self, value: ValueId) -> Result<Values> {
        if let Some(n) = local(self.body, value) {
            let constants =
                self.body.num_params as usize..self.body.num_params as usize + self.body.constants.len();
            if !constants.contains(&n) {
                return self.get(value);
            }
        }
        self.constant(value)
    }

    /// The only scalar of a value.
    pub fn scalar(&mut self, value: ValueId) -> Result<Value> {
        // Of what is a constant nothing has been noted.
        let noted = local(self.body, value).and_then(|n| self.values.get(n));
        if let Some(&(start, 1)) = noted
            && let Some(&scalar) = self.scalars.get(start as usize)
        {
            return Ok(scalar);
        }
        match self.value(value)?.as_slice() {
            [only] => Ok(*only),
            many => {
                Err(Error::unsupported(format!("a value of {} scalars where one is expected", many.len())))
            }
        }
    }

    /// Says what an instruction computes.
    pub fn result(&mut self, inst: &Inst, scalars: &[Value]) -> Result<()> {
        if let (&[scalar], Some(value)) = (scalars, inst.value)
            && shape::single(self.types(), inst.ty).is_some()
            && let Some(slot) = local(self.body, value).and_then(|n| self.values.get_mut(n))
        {
            *slot = (self.scalars.len() as u32, 1);
            self.scalars.push(scalar);
            return Ok(());
        }
        let expected = shape::count(self.types(), inst.ty)?;
        if scalars.len() != expected {
            let message = format!(
                "a result of {} scalars, and `{}` has {expected}",
                scalars.len(),
                self.types().display(inst.ty)
            );
            return Err(Error::unsupported(message));
        }
        if let Some(value) = inst.value {
            self.define(value, scalars);
        }
        Ok(())
    }

    /// A pointer as another type; other values as they are.
    pub fn pointer_as(&mut self, value: Value, ty: ir::Type) -> Value {
        let of = self.type_of(value);
        if of == ty || !of.is_ptr() || !ty.is_ptr() {
            return value;
        }
        if self.is_null(value) {
            let zero = self.b.ins().iconst(ir::Type::I64, 0);
            return self.b.ins().inttoptr(ty, zero);
        }
        let generic = if of == ir::Type::PTR || ty == ir::Type::PTR {
            value
        } else {
            self.b.ins().addrspacecast(ir::Type::PTR, value)
        };
        if ty == self.type_of(generic) { generic } else { self.b.ins().addrspacecast(ty, generic) }
    }

    /// True for a pointer that is made of the constant 0.
    fn is_null(&self, value: Value) -> bool {
        let dfg = &self.b.func().dfg;
        match dfg.def_data(value) {
            Some(ir::InstData::Unary { op: ir::Opcode::Inttoptr, arg }) => dfg.int_const(*arg) == Some(0),
            _ => false,
        }
    }

    /// A pointer as LLVM sees it: generic unless its type names a space.
    pub fn generic(&mut self, value: Value) -> Value {
        if self.type_of(value).is_ptr() { self.pointer_as(value, ir::Type::PTR) } else { value }
    }

    /// Scalars as a type of LLVM asks for them: pointers in its spaces.
    pub fn as_parts(&mut self, scalars: Values, parts: &[Part]) -> Values {
        scalars.into_iter().zip(parts).map(|(value, part)| self.pointer_as(value, part.ty)).collect()
    }

    /// The function of a symbol, which is used here.
    pub fn function_at(&mut self, site: Site) -> Result<ir::FuncId> {
        let id = self.importer.func_id(site, &mut self.b)?;
        self.note_use(ir::Symbol::Func(id));
        Ok(id)
    }

    /// The variable of a symbol, which is used here.
    pub fn global_at(&mut self, site: Site) -> Result<ir::GlobalId> {
        let id = self.importer.global_id(site, &mut self.b)?;
        self.note_use(ir::Symbol::Global(id));
        Ok(id)
    }

    /// Notes that a pointer points to what nothing writes, if one it is made of does.
    pub fn inherit_invariant(&mut self, from: ValueId, to: Option<ValueId>) {
        if let Some(to) = to.filter(|_| self.invariant.contains(&from)) {
            self.invariant.insert(to);
        }
    }

    pub fn is_invariant(&self, pointer: ValueId) -> bool {
        let constant =
            |ty| matches!(self.types().get(ty), Type::Pointer { space: space::OPENCL_CONSTANT, .. });
        self.invariant.contains(&pointer) || self.llvm_type(pointer).is_some_and(constant)
    }
}
