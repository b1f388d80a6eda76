//! One function of the IR as Cranelift's: control flow, calls, and what values look like.
//!
//! A value is one Cranelift value for each scalar in it. Integers are in `i8` (`i1`), `i32`, `i64` or `i128`, with zeros above their bits; pointers
//! in `i64`; `f32` and `f64` as themselves; formats of 16 bits and less as their bits in `i32`.

mod call;
mod convert;
mod float;
mod flow;
mod integer;
mod kind;
mod memory;
mod together;

use crate::codes;
use crate::context::{CELLS, FUNCTIONS};
use crate::fault::{FaultKind, Site};
use crate::unit::Workshop;
use cranelift_codegen::ir as clif;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::Module as _;
use integer::Int;
use kind::Kind;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_ir as ir;
use warpsmith_ir::{Attr, FuncId, Inst, InstData, Opcode, Scalar, StackSlot, Type};

type Fallible<T> = Result<T, Box<Diagnostic>>;

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
        values: FxHashMap::default(),
        blocks: FxHashMap::default(),
        imported: FxHashMap::default(),
        slots: FxHashMap::default(),
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
    values: FxHashMap<ir::Value, Vec<Value>>,
    blocks: FxHashMap<ir::Block, Block>,
    imported: FxHashMap<cranelift_module::FuncId, clif::FuncRef>,
    slots: FxHashMap<StackSlot, u64>,
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

    fn number(&mut self, value: u32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(value))
    }
}
