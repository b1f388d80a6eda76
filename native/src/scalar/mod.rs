//! One function of the IR as Cranelift's: control flow, calls, and what values look like.
//!
//! A value is one Cranelift value for each scalar in it. Integers are in `i8` (`i1`), `i32`, `i64` or `i128`, with zeros above their bits; pointers
//! in `i64`; `f32` and `f64` as themselves; formats of 16 bits and less as their bits in `i32`.

mod convert;
mod float;
mod integer;
mod memory;
mod together;

use crate::codes;
use crate::context::{CELLS, Context, FUNCTIONS, LOCAL_REGION, address};
use crate::fault::{FaultKind, Site};
use crate::unit::{Workshop, internal};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{
    self as clif, AbiParam, Block, BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value,
    types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{Linkage, Module as _};
use integer::Int;
use std::collections::HashMap;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_ir::{self as ir, Attr, BlockCall, FuncId, Inst, InstData, Opcode, Scalar, StackSlot, Type};

type Fallible<T> = Result<T, Box<Diagnostic>>;

/// What computes on a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// An integer, a pointer, or bits that are only moved.
    Int(Int),
    /// `f16` or `bf16`, by the code of the helpers.
    Half(u32),
    Single,
    Double,
}

impl Kind {
    fn of(scalar: Scalar) -> Kind {
        match scalar {
            Scalar::F32 => Kind::Single,
            Scalar::F64 => Kind::Double,
            Scalar::F16 => Kind::Half(0),
            Scalar::BF16 => Kind::Half(1),
            Scalar::Invalid
            | Scalar::I1
            | Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::I128
            | Scalar::Odd(_)
            | Scalar::TF32
            | Scalar::E4M3
            | Scalar::E5M2
            | Scalar::E2M3
            | Scalar::E3M2
            | Scalar::E2M1
            | Scalar::UE8M0
            | Scalar::Ptr
            | Scalar::PtrGlobal
            | Scalar::PtrShared
            | Scalar::PtrLocal
            | Scalar::PtrConst
            | Scalar::PtrParam => Kind::Int(Int::of_bits(Type::scalar(scalar).bits().max(1))),
        }
    }

    /// The type that holds it.
    fn ty(self) -> clif::Type {
        match self {
            Kind::Int(int) => int.ty,
            Kind::Half(_) => types::I32,
            Kind::Single => types::F32,
            Kind::Double => types::F64,
        }
    }
}

/// Compiles a function into an empty one of Cranelift's.
pub(crate) fn function(
    shop: &mut Workshop,
    id: FuncId,
    into: &mut clif::Function,
    context: &mut FunctionBuilderContext,
) -> Fallible<()> {
    let module = shop.module;
    let func = &module.functions[id];
    let mut t = Translator {
        b: FunctionBuilder::new(into, context),
        module,
        func,
        values: HashMap::new(),
        blocks: HashMap::new(),
        imported: HashMap::new(),
        slots: HashMap::new(),
        local_size: 0,
        inst: None,
        context: Value::from_u32(0),
        results: Value::from_u32(0),
        frame: Value::from_u32(0),
        saved_local: None,
        fault: Block::from_u32(0),
        shop,
    };
    t.body()?;
    t.b.seal_all_blocks();
    let config = t.shop.code.target_config();
    t.b.finalize(config);
    Ok(())
}

struct Translator<'a, 'b, 'm> {
    shop: &'a mut Workshop<'m>,
    b: FunctionBuilder<'b>,
    module: &'m ir::Module,
    func: &'m ir::Function,
    values: HashMap<ir::Value, Vec<Value>>,
    blocks: HashMap<ir::Block, Block>,
    imported: HashMap<cranelift_module::FuncId, clif::FuncRef>,
    slots: HashMap<StackSlot, u64>,
    /// Bytes of the stack slots, a multiple of the largest alignment.
    local_size: u64,
    /// The instruction that is being compiled.
    inst: Option<Inst>,
    context: Value,
    results: Value,
    /// The guest's address of the stack slots.
    frame: Value,
    /// What was in use of local memory when the function was called, if it takes some.
    saved_local: Option<Value>,
    /// Leaves the function with the status that is its parameter.
    fault: Block,
}

/// Accesses of the host that cannot fail: the context, arguments and results, and memory whose bounds were checked.
const PLAIN: MemFlagsData = MemFlagsData::new().with_notrap();

impl<'m> Translator<'_, '_, 'm> {
    fn body(&mut self) -> Fallible<()> {
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        let [context, args, results] = self.b.block_params(entry) else {
            return Err(internal(&self.func.name, "not the signature of compiled functions"));
        };
        let args = *args;
        (self.context, self.results) = (*context, *results);
        self.fault = self.b.create_block();
        self.b.append_block_param(self.fault, types::I32);
        self.b.set_cold_block(self.fault);
        self.enter()?;

        let order = self.reverse_postorder();
        let position: HashMap<ir::Block, usize> = order.iter().enumerate().map(|(n, b)| (*b, n)).collect();
        let mut heads = vec![false; order.len()];
        for (n, block) in order.iter().enumerate() {
            let made = self.b.create_block();
            self.blocks.insert(*block, made);
            for target in self.func.successors(*block) {
                if let Some(&to) = position.get(&target)
                    && to <= n
                {
                    heads[to] = true;
                }
            }
        }
        // The entry's parameters are the arguments.
        let mut cell = 0;
        for (n, block) in order.iter().enumerate() {
            for &param in self.func.dfg.block_params(*block) {
                let mut parts = Vec::new();
                for kind in self.kinds(self.func.dfg.ty(param)) {
                    if n == 0 {
                        parts.push(self.load_cell(args, cell, kind));
                        cell += 1;
                    } else {
                        parts.push(self.b.append_block_param(self.blocks[block], kind.ty()));
                    }
                }
                self.values.insert(param, parts);
            }
        }
        if let Some(first) = order.first() {
            let first = self.blocks[first];
            self.b.ins().jump(first, &[]);
        }
        for (n, block) in order.iter().enumerate() {
            self.b.switch_to_block(self.blocks[block]);
            if heads[n] {
                self.spend(Span::NONE);
            }
            for inst in self.func.layout.insts(*block) {
                self.inst = Some(inst);
                self.instruction(inst)?;
            }
            self.inst = None;
        }
        self.b.switch_to_block(self.fault);
        let status = self.b.block_params(self.fault)[0];
        self.b.ins().return_(&[status]);
        Ok(())
    }

    /// The blocks that can be reached, each before those that it alone leads to.
    fn reverse_postorder(&self) -> Vec<ir::Block> {
        let Some(entry) = self.func.layout.entry() else { return Vec::new() };
        let mut seen = std::collections::HashSet::from([entry]);
        let (mut order, mut stack) = (Vec::new(), vec![(entry, self.func.successors(entry))]);
        while let Some((block, successors)) = stack.last_mut() {
            match successors.next() {
                Some(next) if seen.insert(next) => stack.push((next, self.func.successors(next))),
                Some(_) => {}
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Counts the call, and takes room for the stack slots.
    fn enter(&mut self) -> Fallible<()> {
        let mut size = 0u64;
        let mut most = 16u64;
        for (slot, data) in &self.func.stack_slots {
            let align = u64::from(data.align.max(1));
            most = most.max(align);
            size = size.next_multiple_of(align);
            self.slots.insert(slot, size);
            size += u64::from(data.size);
        }
        self.local_size = size.next_multiple_of(most);
        let depth = self.field(types::I64, Context::DEPTH);
        let left = self.b.ins().iadd_imm_s(depth, -1);
        self.set_field(left, Context::DEPTH);
        self.spend(self.func.span);
        let deep = self.b.ins().icmp_imm_s(Cc::SignedLessThan, left, 0);
        if self.local_size == 0 {
            self.fail_if(deep, FaultKind::StackOverflow, self.func.span);
            return Ok(());
        }
        self.shop.uses_memory = true;
        let used = self.field(types::I64, Context::LOCAL);
        // A frame begins at a multiple of its alignment; what is left over before it is given back with it.
        let align = self.b.ins().iconst(types::I64, most as i64);
        let rounded = self.b.ins().iadd_imm_s(used, most as i64 - 1);
        let mask = self.b.ins().ineg(align);
        let begin = self.b.ins().band(rounded, mask);
        let end = self.b.ins().iadd_imm_s(begin, self.local_size as i64);
        let len = self.field(types::I64, Context::LOCAL_LEN);
        let over = self.b.ins().icmp(Cc::UnsignedGreaterThan, end, len);
        self.saved_local = Some(used);
        let either = self.b.ins().bor(deep, over);
        self.fail_if(either, FaultKind::StackOverflow, self.func.span);
        self.set_field(end, Context::LOCAL);
        self.frame = self.b.ins().iadd_imm_s(begin, address(LOCAL_REGION, 0) as i64);
        Ok(())
    }

    /// Gives back what `enter` took.
    fn leave(&mut self) {
        let depth = self.field(types::I64, Context::DEPTH);
        let back = self.b.ins().iadd_imm_s(depth, 1);
        self.set_field(back, Context::DEPTH);
        if let Some(used) = self.saved_local {
            self.set_field(used, Context::LOCAL);
        }
    }

    /// Counts a round of a loop or a call.
    fn spend(&mut self, span: Span) {
        let fuel = self.field(types::I64, Context::FUEL);
        let left = self.b.ins().iadd_imm_s(fuel, -1);
        self.set_field(left, Context::FUEL);
        let spent = self.b.ins().icmp_imm_s(Cc::SignedLessThan, left, 0);
        self.fail_if(spent, FaultKind::StepLimit, span);
    }

    fn field(&mut self, ty: clif::Type, offset: i32) -> Value {
        self.b.ins().load(ty, PLAIN, self.context, offset)
    }

    fn set_field(&mut self, value: Value, offset: i32) {
        self.b.ins().store(PLAIN, value, self.context, offset);
    }

    fn span(&self) -> Span {
        self.inst.map_or(Span::NONE, |inst| self.func.spans[inst])
    }

    /// The status of a fault here.
    fn site(&mut self, kind: FaultKind, span: Span) -> Value {
        self.shop.sites.push(Site { kind, function: self.func.name.clone(), span });
        let status = self.shop.sites.len() as i64;
        self.b.ins().iconst(types::I32, status)
    }

    /// Goes on only where the condition is false.
    fn fail_if(&mut self, condition: Value, kind: FaultKind, span: Span) {
        let status = self.site(kind, span);
        let next = self.b.create_block();
        self.b.ins().brif(condition, self.fault, &[BlockArg::Value(status)], next, &[]);
        self.b.switch_to_block(next);
    }

    fn fail(&mut self, kind: FaultKind) {
        let span = self.span();
        let status = self.site(kind, span);
        self.b.ins().jump(self.fault, &[BlockArg::Value(status)]);
    }

    /// That the operation is not compiled.
    fn refuse<T>(&self, what: impl std::fmt::Display) -> Fallible<T> {
        let message = format!("{what} is not compiled to machine code of the host");
        let error = Diagnostic::error(codes::OPERATION, self.span(), message);
        Err(Box::new(error.note(format!("in the function `{}`", self.func.name))))
    }

    /// The scalars of a type.
    fn scalars(&self, ty: Type) -> Vec<Scalar> {
        let parts = if ty.is_aggregate() {
            self.module.types.parts_of(ty).into_iter().map(|(part, _)| part).collect()
        } else {
            vec![ty]
        };
        parts.into_iter().flat_map(|part| (0..part.lanes()).map(move |_| part.element())).collect()
    }

    fn kinds(&self, ty: Type) -> Vec<Kind> {
        self.scalars(ty).into_iter().map(Kind::of).collect()
    }

    fn ty(&self, value: ir::Value) -> Type {
        self.func.dfg.ty(value)
    }

    fn parts(&self, value: ir::Value) -> Fallible<Vec<Value>> {
        match self.values.get(&self.func.dfg.resolve(value)) {
            Some(parts) => Ok(parts.clone()),
            None => self.refuse(format_args!("a use of {value} before it is computed")),
        }
    }

    /// The value of a scalar.
    fn one(&self, value: ir::Value) -> Fallible<Value> {
        match self.parts(value)?[..] {
            [one] => Ok(one),
            _ => self.refuse(format_args!("an operand of type {}", self.ty(value))),
        }
    }

    fn define(&mut self, inst: Inst, parts: Vec<Value>) {
        let mut parts = parts.into_iter();
        for result in self.func.dfg.results(inst) {
            let count = self.scalars(self.ty(result)).len();
            self.values.insert(result, parts.by_ref().take(count).collect());
        }
    }

    /// Each scalar of the result is these bits.
    fn constants(&mut self, inst: Inst, bits: u128) {
        let result = self.func.dfg.first_result(inst).map_or(Type::INVALID, |result| self.ty(result));
        let parts = self.kinds(result).into_iter().map(|kind| self.constant(kind, bits)).collect();
        self.define(inst, parts);
    }

    fn instruction(&mut self, inst: Inst) -> Fallible<()> {
        let func = self.func;
        let data = &func.dfg[inst];
        let pool = &func.dfg.pool;
        match data {
            InstData::IntConst { value } => self.constants(inst, *value as i128 as u128),
            InstData::FloatConst { bits } => self.constants(inst, u128::from(*bits)),
            InstData::Zero => self.constants(inst, 0),
            InstData::List { op: Opcode::Iconst, attr: Attr::Wide(bits), .. } => self.constants(inst, **bits),
            InstData::Unary { op: Opcode::Bitcast, arg } => {
                let to = func.dfg.first_result(inst).map(|result| self.ty(result)).unwrap_or(Type::INVALID);
                let parts = self.parts(*arg)?;
                let parts = self.bitcast(self.ty(*arg), &parts, to);
                self.define(inst, parts);
            }
            InstData::Unary { op: Opcode::Splat, arg } => {
                let to = func.dfg.first_result(inst).map(|result| self.ty(result)).unwrap_or(Type::INVALID);
                let one = self.one(*arg)?;
                self.define(inst, vec![one; to.lanes() as usize]);
            }
            InstData::Unary { op: Opcode::Ptrtoint | Opcode::Inttoptr | Opcode::Addrspacecast, arg } => {
                // Every space is a part of the generic one here, and an address the same in both.
                let parts = self.parts(*arg)?;
                self.define(inst, parts);
            }
            InstData::Binary { op: Opcode::Ptradd, args: [p, x] } => {
                let parts = self.moved(*p, *x, 1)?;
                self.define(inst, vec![parts]);
            }
            InstData::Index { scale, args: [p, x] } => {
                let parts = self.moved(*p, *x, i64::from(*scale))?;
                self.define(inst, vec![parts]);
            }
            InstData::Ternary { op: Opcode::Select, args: [c, x, y] } => {
                let (c, x, y) = (self.parts(*c)?, self.parts(*x)?, self.parts(*y)?);
                let pick = |n: usize| if c.len() == 1 { c[0] } else { c[n] };
                let parts = (0..x.len()).map(|n| self.pick(pick(n), x[n], y[n])).collect();
                self.define(inst, parts);
            }
            InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::List { attr: Attr::Float(_), .. } => self.elementwise(inst)?,
            InstData::List { op, attr, args } => {
                let args = args.as_slice(pool);
                self.listed(inst, *op, attr, args)?;
            }
            InstData::Load { flags, offset, ptr } => {
                let result =
                    func.dfg.first_result(inst).map(|result| self.ty(result)).unwrap_or(Type::INVALID);
                let parts = self.load(result, *flags, *ptr, *offset)?;
                self.define(inst, parts);
            }
            InstData::Store { flags, offset, args: [value, ptr] } => {
                self.store(*value, *flags, *ptr, *offset)?
            }
            InstData::StackAddr { slot, offset } => {
                let at = self.slots.get(slot).copied().unwrap_or(0) as i64 + i64::from(*offset);
                let address = self.b.ins().iadd_imm_s(self.frame, at);
                self.define(inst, vec![address]);
            }
            InstData::GlobalAddr { global, offset } => {
                let value = self.global(*global, *offset)?;
                self.define(inst, vec![value]);
            }
            InstData::FuncAddr { func } if self.takes_memory(*func) => {
                return self.refuse("the address of a function that takes memory by value");
            }
            InstData::FuncAddr { func } => {
                let number = self.shop.addressed.iter().position(|known| known == func).unwrap_or(0);
                let address = self.b.ins().iconst(types::I64, (FUNCTIONS + 16 * number as u64) as i64);
                self.define(inst, vec![address]);
            }
            InstData::Vec { args } | InstData::Aggregate { args } => {
                let mut parts = Vec::new();
                for arg in args.as_slice(pool) {
                    parts.extend(self.parts(*arg)?);
                }
                self.define(inst, parts);
            }
            InstData::Extract { lane, arg } => {
                let part = self.parts(*arg)?[usize::from(*lane)];
                self.define(inst, vec![part]);
            }
            InstData::Insert { lane, args: [vector, x] } => {
                let mut parts = self.parts(*vector)?;
                parts[usize::from(*lane)] = self.one(*x)?;
                self.define(inst, parts);
            }
            InstData::ExtractValue { path, arg } => {
                let (first, count) = self.path(self.ty(*arg), &func.dfg.paths[*path])?;
                let parts = self.parts(*arg)?;
                self.define(inst, parts[first..first + count].to_vec());
            }
            InstData::InsertValue { path, args: [whole, x] } => {
                let (first, count) = self.path(self.ty(*whole), &func.dfg.paths[*path])?;
                let (mut parts, x) = (self.parts(*whole)?, self.parts(*x)?);
                parts.splice(first..first + count, x);
                self.define(inst, parts);
            }
            InstData::Sreg { reg } => {
                let value = self.special(*reg)?;
                self.define(inst, vec![value]);
            }
            InstData::MemBlock { op, .. } => return self.refuse(format_args!("`{op}`")),
            InstData::Ptx { data, args } => {
                let parts = self.table_derived(inst, &func.dfg.ptx[*data], args.as_slice(pool))?;
                self.define(inst, parts);
            }
            InstData::Call { callee, args } => {
                let parts = self.call(*callee, args.as_slice(pool))?;
                self.define(inst, parts);
            }
            InstData::CallIndirect { args } => {
                let args = args.as_slice(pool);
                let results: Vec<Type> = func.dfg.results(inst).into_iter().map(|v| self.ty(v)).collect();
                let parts = self.call_indirect(args[0], &args[1..], &results)?;
                self.define(inst, parts);
            }
            InstData::Jump { dest } => {
                let (block, args) = self.target(dest)?;
                self.b.ins().jump(block, &args);
            }
            InstData::Brif { cond, dests: [yes, no] } => {
                let cond = self.one(*cond)?;
                let ((yes, yes_args), (no, no_args)) = (self.target(yes)?, self.target(no)?);
                self.b.ins().brif(cond, yes, &yes_args, no, &no_args);
            }
            InstData::Switch { arg, table } => self.switch(*arg, &func.dfg.jump_tables[*table])?,
            InstData::Return { args } => {
                let mut cell = 0;
                for arg in args.as_slice(pool) {
                    let kinds = self.kinds(self.ty(*arg));
                    for (kind, part) in kinds.into_iter().zip(self.parts(*arg)?) {
                        self.store_cell(self.results, cell, kind, part);
                        cell += 1;
                    }
                }
                self.leave();
                let fine = self.b.ins().iconst(types::I32, 0);
                self.b.ins().return_(&[fine]);
            }
            InstData::Trap => self.fail(FaultKind::Trap),
        }
        Ok(())
    }

    /// The scalars that a path leads to: the first of them and how many.
    fn path(&self, ty: Type, path: &[u32]) -> Fallible<(usize, usize)> {
        let types = &self.module.types;
        let Ok(place) = types.at_path(ty, path) else { return self.refuse("a path that leads nowhere") };
        let before: usize =
            types.parts_of(ty).iter().take(place.part as usize).map(|(part, _)| part.lanes() as usize).sum();
        Ok((before, self.scalars(place.ty).len()))
    }

    fn target(&mut self, call: &BlockCall) -> Fallible<(Block, Vec<BlockArg>)> {
        let mut args = Vec::new();
        for arg in call.args(&self.func.dfg.pool) {
            args.extend(self.parts(*arg)?.into_iter().map(BlockArg::Value));
        }
        Ok((self.blocks[&call.block], args))
    }

    /// A chain of comparisons: cases are few, and may be anywhere in the type's range.
    fn switch(&mut self, arg: ir::Value, table: &ir::JumpTableData) -> Fallible<()> {
        let (value, kind) = (self.one(arg)?, Kind::of(self.ty(arg).element()));
        for (case, call) in &table.cases {
            let number = self.constant(kind, *case as i128 as u128);
            let hit = self.b.ins().icmp(Cc::Equal, value, number);
            let (block, args) = self.target(call)?;
            let next = self.b.create_block();
            self.b.ins().brif(hit, block, &args, next, &[]);
            self.b.switch_to_block(next);
        }
        let (block, args) = self.target(&table.default)?;
        self.b.ins().jump(block, &args);
        Ok(())
    }

    /// The constant of some bits, those above the type's width dropped.
    fn constant(&mut self, kind: Kind, bits: u128) -> Value {
        match kind {
            Kind::Int(int) => self.int(int, bits),
            Kind::Half(_) => self.b.ins().iconst(types::I32, (bits & 0xffff) as i64),
            Kind::Single => self.b.ins().f32const(f32::from_bits(bits as u32)),
            Kind::Double => self.b.ins().f64const(f64::from_bits(bits as u64)),
        }
    }

    /// A pointer moved by a signed number of elements.
    fn moved(&mut self, p: ir::Value, x: ir::Value, scale: i64) -> Fallible<Value> {
        let (p, mut by) = (self.one(p)?, self.one(x)?);
        if self.ty(x).bits() < 64 {
            by = self.b.ins().sextend(types::I64, by);
        }
        let by = if scale == 1 { by } else { self.b.ins().imul_imm_s(by, scale) };
        Ok(self.b.ins().iadd(p, by))
    }

    /// An element of two cells, as one of the arguments or results.
    fn load_cell(&mut self, base: Value, cell: usize, kind: Kind) -> Value {
        let ty = kind.ty();
        self.b.ins().load(ty, PLAIN, base, (8 * CELLS * cell) as i32)
    }

    fn store_cell(&mut self, base: Value, cell: usize, kind: Kind, value: Value) {
        let at = (8 * CELLS * cell) as i32;
        // Whoever reads a narrow value may read a whole cell.
        let value = match kind {
            Kind::Int(Int { ty, .. }) if ty.bits() < 64 => self.b.ins().uextend(types::I64, value),
            Kind::Half(_) => self.b.ins().uextend(types::I64, value),
            Kind::Int(_) | Kind::Single | Kind::Double => value,
        };
        self.b.ins().store(PLAIN, value, base, at);
    }

    fn cells(&mut self, count: usize) -> Value {
        let size = (8 * CELLS * count.max(1)) as u32;
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4));
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    fn import(&mut self, id: cranelift_module::FuncId) -> clif::FuncRef {
        match self.imported.get(&id) {
            Some(known) => *known,
            None => {
                let made = self.shop.code.declare_func_in_func(id, self.b.func);
                self.imported.insert(id, made);
                made
            }
        }
    }

    fn takes_memory(&self, callee: FuncId) -> bool {
        self.module.functions[callee].params.iter().any(|param| param.byval.is_some())
    }

    /// Calls a compiled function, and leaves with its fault if it has one.
    fn call(&mut self, callee: FuncId, args: &[ir::Value]) -> Fallible<Vec<Value>> {
        if self.takes_memory(callee) {
            return self.refuse("a parameter that is passed by value in memory");
        }
        let passed: Vec<(Kind, Value)> = {
            let mut passed = Vec::new();
            for arg in args {
                let kinds = self.kinds(self.ty(*arg));
                passed.extend(kinds.into_iter().zip(self.parts(*arg)?));
            }
            passed
        };
        let module = self.module;
        let kinds: Vec<Kind> = module.functions[callee].ret.iter().flat_map(|ty| self.kinds(*ty)).collect();
        let given = self.cells(passed.len());
        for (n, (kind, value)) in passed.into_iter().enumerate() {
            self.store_cell(given, n, kind, value);
        }
        let results = self.cells(kinds.len());
        let Some(&id) = self.shop.functions.get(&callee) else {
            return self.refuse("a call of an unknown function");
        };
        let function = self.import(id);
        let call = self.b.ins().call(function, &[self.context, given, results]);
        let status = self.b.inst_results(call)[0];
        let next = self.b.create_block();
        self.b.ins().brif(status, self.fault, &[BlockArg::Value(status)], next, &[]);
        self.b.switch_to_block(next);
        Ok(kinds.into_iter().enumerate().map(|(n, kind)| self.load_cell(results, n, kind)).collect())
    }

    /// A call of one of the functions whose addresses are taken and that have this signature.
    fn call_indirect(
        &mut self,
        callee: ir::Value,
        args: &[ir::Value],
        results: &[Type],
    ) -> Fallible<Vec<Value>> {
        let address = self.one(callee)?;
        let kinds: Vec<Kind> = results.iter().flat_map(|ty| self.kinds(*ty)).collect();
        let done = self.b.create_block();
        for kind in &kinds {
            self.b.append_block_param(done, kind.ty());
        }
        let types: Vec<Type> = args.iter().map(|arg| self.ty(*arg)).collect();
        for (number, id) in self.shop.addressed.clone().into_iter().enumerate() {
            let function = &self.module.functions[id];
            let fits = function.params.iter().map(|param| param.ty).eq(types.iter().copied());
            if !fits || function.ret != results {
                continue;
            }
            let hit = self.b.ins().icmp_imm_s(Cc::Equal, address, (FUNCTIONS + 16 * number as u64) as i64);
            let (here, next) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(hit, here, &[], next, &[]);
            self.b.switch_to_block(here);
            let found: Vec<BlockArg> = self.call(id, args)?.into_iter().map(BlockArg::Value).collect();
            self.b.ins().jump(done, &found);
            self.b.switch_to_block(next);
        }
        self.fail(FaultKind::BadCall);
        self.b.switch_to_block(done);
        Ok(self.b.block_params(done).to_vec())
    }

    /// Calls a helper.
    fn helper(
        &mut self,
        name: &'static str,
        args: &[Value],
        result: Option<clif::Type>,
    ) -> Fallible<Option<Value>> {
        let id = match self.shop.helpers.get(name) {
            Some(id) => *id,
            None => {
                let mut signature = self.shop.code.make_signature();
                signature
                    .params
                    .extend(args.iter().map(|arg| AbiParam::new(self.b.func.dfg.value_type(*arg))));
                signature.returns.extend(result.map(AbiParam::new));
                let declared = self.shop.code.declare_function(name, Linkage::Import, &signature);
                let id = declared.map_err(|error| internal(&self.func.name, error))?;
                self.shop.helpers.insert(name, id);
                id
            }
        };
        let function = self.import(id);
        let call = self.b.ins().call(function, args);
        Ok(self.b.inst_results(call).first().copied())
    }

    /// Calls a helper that returns a value.
    fn helped(&mut self, name: &'static str, args: &[Value], result: clif::Type) -> Fallible<Value> {
        match self.helper(name, args, Some(result))? {
            Some(value) => Ok(value),
            None => self.refuse(format_args!("`{name}`")),
        }
    }

    fn number(&mut self, value: u32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(value))
    }
}
