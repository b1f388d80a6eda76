//! Operations element by element, those of a list of operands, special registers, and what is evaluated by the definitions that the interpreter
//! has too.

use super::{Fallible, Kind, PLAIN, Translator};
use crate::context::Context;
use crate::fault::FaultKind;
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::sync::Arc;
use warpsmith_ir::{
    self as ir, Attr, Class, Inst, InstData, ListOp, Opcode, PtxData, PtxOperand, Scalar, Sreg, Ternary,
    Traits, Type, meaning,
};
use warpsmith_semantics::{Plan, Width, Written, plan};

impl Translator<'_, '_, '_> {
    /// An operation on scalars, for each element.
    pub(super) fn elementwise(&mut self, inst: Inst) -> Fallible<()> {
        let func = self.func;
        let Some(result) = func.dfg.first_result(inst) else {
            return self.refuse("an operation without result");
        };
        let to = self.ty(result);
        let args: Vec<ir::Value> = func.dfg.args(inst).to_vec();
        let operands = args.iter().map(|arg| self.parts(*arg)).collect::<Fallible<Vec<_>>>()?;
        let elements: Vec<Scalar> = args.iter().map(|arg| self.ty(*arg).element()).collect();
        let lanes = self.scalars(to).len();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for lane in 0..lanes {
            let values: Vec<Value> =
                operands.iter().map(|parts| if parts.len() == 1 { parts[0] } else { parts[lane] }).collect();
            let mut found = self.element(&func.dfg[inst], &elements, &values, to.element())?.into_iter();
            first.extend(found.next());
            second.extend(found.next());
        }
        first.extend(second);
        self.define(inst, first);
        Ok(())
    }

    fn element(&mut self, data: &InstData, of: &[Scalar], x: &[Value], to: Scalar) -> Fallible<Vec<Value>> {
        let kind = of.first().map_or(Kind::Single, |scalar| Kind::of(*scalar));
        let narrow = of.iter().chain([&to]).any(|scalar| scalar.is_narrow_float());
        if narrow || data.opcode() == Opcode::Frem {
            let name = format!("{} of {}", data.opcode(), of.first().unwrap_or(&to));
            return self.shared(data, &name, of, x, to);
        }
        Ok(match (data, kind, x) {
            (InstData::IntCompare { cond, .. }, Kind::Int(int), [a, b]) => {
                vec![self.compare(*cond, int, *a, *b)]
            }
            (InstData::FloatCompare { cond, .. }, _, [a, b]) => {
                vec![self.float_compare(*cond, kind, *a, *b)?]
            }
            (InstData::List { attr: Attr::Float(mode), op, .. }, ..) if !mode.computes_plainly() => {
                return self.shared(data, &format!("{op} {mode}"), of, x, to);
            }
            (
                InstData::Unary { op, .. }
                | InstData::Binary { op, .. }
                | InstData::Ternary { op, .. }
                | InstData::List { op, .. },
                ..,
            ) => self.operation(*op, kind, x, to)?,
            _ => return self.refuse("an operation on these types"),
        })
    }

    fn operation(&mut self, op: Opcode, kind: Kind, x: &[Value], to: Scalar) -> Fallible<Vec<Value>> {
        Ok(vec![match (op.class(), kind, x) {
            (Class::IntUnary(op), Kind::Int(int), [a]) => self.int_unary(op, int, *a)?,
            (Class::IntBinary(op), Kind::Int(int), [a, b]) => self.int_binary(op, int, *a, *b)?,
            (Class::FloatUnary(op), _, [a]) => self.float_unary(op, kind, *a)?,
            (Class::FloatBinary(op), _, [a, b]) => self.float_binary(op, kind, *a, *b)?,
            (Class::Conversion(op), _, [a]) => self.convert(op, kind, *a, Kind::of(to))?,
            (Class::Ternary(Ternary::Fma), _, [a, b, c]) => self.fma(kind, [*a, *b, *c])?,
            (Class::Ternary(Ternary::Fshl), Kind::Int(int), [a, b, c]) => {
                self.funnel(true, int, [*a, *b, *c])
            }
            (Class::Ternary(Ternary::Fshr), Kind::Int(int), [a, b, c]) => {
                self.funnel(false, int, [*a, *b, *c])
            }
            (Class::Ternary(Ternary::Ubfx), Kind::Int(int), [a, b, c]) => {
                self.bit_field(false, int, [*a, *b, *c])
            }
            (Class::Ternary(Ternary::Sbfx), Kind::Int(int), [a, b, c]) => {
                self.bit_field(true, int, [*a, *b, *c])
            }
            (Class::List(ListOp::Bfi), Kind::Int(int), [a, b, c, d]) => {
                self.bit_field_insert(int, [*a, *b, *c, *d])
            }
            (Class::Overflow(op), Kind::Int(int), [a, b]) => {
                let (result, over) = self.overflowing(op, int, *a, *b)?;
                return Ok(vec![result, over]);
            }
            _ => return self.refuse(format_args!("`{op}`")),
        }])
    }

    /// Operations whose operands are a list.
    pub(super) fn listed(&mut self, inst: Inst, op: Opcode, attr: &Attr, args: &[ir::Value]) -> Fallible<()> {
        let parts = match (op, attr, args) {
            (
                Opcode::Bfi
                | Opcode::UaddOverflow
                | Opcode::SaddOverflow
                | Opcode::UsubOverflow
                | Opcode::SsubOverflow
                | Opcode::UmulOverflow
                | Opcode::SmulOverflow,
                ..,
            ) => return self.elementwise(inst),
            (Opcode::ExtractAt, _, [vector, at]) => {
                let (parts, at, kind) =
                    (self.parts(*vector)?, self.one(*at)?, Kind::of(self.ty(*vector).element()));
                let mut found = self.constant(kind, 0);
                for (n, part) in parts.into_iter().enumerate() {
                    let hit = self.b.ins().icmp_imm_s(Cc::Equal, at, n as i64);
                    found = self.pick(hit, part, found);
                }
                vec![found]
            }
            (Opcode::InsertAt, _, [vector, x, at]) => {
                let (mut parts, x, at) = (self.parts(*vector)?, self.one(*x)?, self.one(*at)?);
                for (n, part) in parts.iter_mut().enumerate() {
                    let hit = self.b.ins().icmp_imm_s(Cc::Equal, at, n as i64);
                    *part = self.pick(hit, x, *part);
                }
                parts
            }
            (Opcode::Shuffle, Attr::Lanes(lanes), [a, b]) => {
                let mut all = self.parts(*a)?;
                all.extend(self.parts(*b)?);
                lanes.iter().map(|lane| all[usize::from(*lane)]).collect()
            }
            (Opcode::Reduce, Attr::With(with), [vector]) => {
                let (parts, scalar) = (self.parts(*vector)?, self.ty(*vector).element());
                let mut parts = parts.into_iter();
                let Some(mut sum) = parts.next() else { return self.refuse("a vector without elements") };
                let data = InstData::Binary { op: *with, args: [*vector; 2] };
                for part in parts {
                    sum = self.element(&data, &[scalar; 2], &[sum, part], scalar)?[0];
                }
                vec![sum]
            }
            (Opcode::Expect, _, [x, _]) => self.parts(*x)?,
            (Opcode::AtomicLoad, _, [ptr]) => {
                let ty = self.func.dfg.first_result(inst).map_or(Type::INVALID, |result| self.ty(result));
                self.atomic_load(ty, *ptr)?
            }
            (Opcode::AtomicStore, _, [x, ptr]) => {
                self.store(*x, ir::MemFlags::PLAIN, *ptr, 0)?;
                Vec::new()
            }
            (Opcode::AtomicRmw, Attr::Memory(mode), [ptr, x]) => self.read_modify_write(*mode, *ptr, *x)?,
            (Opcode::Cmpxchg, _, [ptr, old, new]) => self.compare_exchange([*ptr, *old, *new])?,
            (Opcode::Assert, _, [holds]) => {
                let holds = self.one(*holds)?;
                let fails = self.b.ins().bxor_imm_s(holds, 1);
                let span = self.span();
                self.fail_if(fails, FaultKind::Assert, span);
                Vec::new()
            }
            // Threads run one after another, and none waits for another.
            (Opcode::Fence | Opcode::Assume | Opcode::Nanosleep, ..) => Vec::new(),
            (Opcode::Unreachable, ..) => {
                self.fail(FaultKind::Trap);
                Vec::new()
            }
            _ => return self.refuse(format_args!("`{op}`")),
        };
        self.define(inst, parts);
        Ok(())
    }

    /// A special register of which every thread knows its own.
    pub(super) fn special(&mut self, reg: Sreg) -> Fallible<Value> {
        const KNOWN: [Sreg; 14] = [
            Sreg::TID_X,
            Sreg::TID_Y,
            Sreg::TID_Z,
            Sreg::NTID_X,
            Sreg::NTID_Y,
            Sreg::NTID_Z,
            Sreg::CTAID_X,
            Sreg::CTAID_Y,
            Sreg::CTAID_Z,
            Sreg::NCTAID_X,
            Sreg::NCTAID_Y,
            Sreg::NCTAID_Z,
            Sreg::LANEID,
            Sreg::WARPID,
        ];
        match KNOWN.iter().position(|known| *known == reg) {
            Some(n) => Ok(self.field(types::I32, Context::REGISTERS + 4 * n as i32)),
            None => self.refuse(format_args!("`sreg.{reg}`")),
        }
    }

    /// Calls the definition of an operation that this crate has none of.
    fn shared(
        &mut self,
        data: &InstData,
        name: &str,
        of: &[Scalar],
        x: &[Value],
        to: Scalar,
    ) -> Fallible<Vec<Value>> {
        let operands: Vec<Type> = of.iter().map(|scalar| Type::scalar(*scalar)).collect();
        let Some(plan) = meaning::plan(data, &operands, Type::scalar(to)) else {
            return self.refuse(format_args!("`{}`", name.trim()));
        };
        let values: Vec<(Kind, Value)> =
            of.iter().map(|scalar| Kind::of(*scalar)).zip(x.iter().copied()).collect();
        self.evaluate(plan, name, &values, &[Kind::of(to)])
    }

    fn evaluate(
        &mut self,
        plan: Plan,
        name: &str,
        values: &[(Kind, Value)],
        to: &[Kind],
    ) -> Fallible<Vec<Value>> {
        let (sources, destinations) = (plan.sources().len(), plan.destinations().len());
        if sources != values.len() || destinations != to.len() || sources > 8 || plan.uses_carry() {
            return self.refuse(format_args!("`{name}`"));
        }
        let (args, results) = (self.cells(sources), self.cells(destinations));
        let zero = self.b.ins().iconst(types::I64, 0);
        for (n, (kind, value)) in values.iter().enumerate() {
            let bits = self.bits(*kind, *value);
            let ty = self.b.func.dfg.value_type(bits);
            let at = 16 * n as i32;
            if ty != types::I128 {
                let whole = self.resized(ty, bits, types::I64);
                self.b.ins().store(PLAIN, zero, args, at + 8);
                self.b.ins().store(PLAIN, whole, args, at);
            } else {
                self.b.ins().store(PLAIN, bits, args, at);
            }
        }
        let plan = Arc::new(plan);
        let address = self.b.ins().iconst(types::I64, std::ptr::from_ref(&*plan) as i64);
        self.shop.plans.push(plan);
        self.shop.shared.push(name.trim().to_owned());
        let failed = self.helped("evaluate", &[address, args, results], types::I32)?;
        let span = self.span();
        self.fail_if(failed, FaultKind::Trap, span);
        let mut found = Vec::new();
        for (n, kind) in to.iter().enumerate() {
            let ty = match kind {
                Kind::Int(int) => int.ty,
                Kind::Half(_) | Kind::Single => types::I32,
                Kind::Double => types::I64,
            };
            let bits = self.b.ins().load(ty, PLAIN, results, 16 * n as i32);
            let bits = match kind {
                Kind::Int(int) => self.cut(*int, bits),
                Kind::Half(_) => self.b.ins().band_imm_s(bits, 0xffff),
                Kind::Single | Kind::Double => bits,
            };
            found.push(self.of_bits(*kind, bits));
        }
        Ok(found)
    }

    /// An instruction of PTX that computes its results from its operands.
    pub(super) fn table_derived(
        &mut self,
        inst: Inst,
        data: &PtxData,
        args: &[ir::Value],
    ) -> Fallible<Vec<Value>> {
        let name = format!("ptx.{}", data.mnemonic());
        let results: Vec<Type> = self.func.dfg.results(inst).into_iter().map(|v| self.ty(v)).collect();
        let simple = data.traits() == Traits::NONE
            && results.iter().chain(&self.types_of(args)).all(|ty| !ty.is_vector());
        let (Some(instruction), Some(first), true) = (data.instruction(), results.first(), simple) else {
            return self.refuse(format_args!("`{name}`"));
        };
        let written = Written { destination_bits: first.bits(), ..Written::default() };
        let Some(plan) = plan(instruction, &written) else { return self.refuse(format_args!("`{name}`")) };
        let (mut values, mut args) = (Vec::new(), args.iter());
        for (operand, width) in data.operands.iter().zip(plan.sources()) {
            values.push(match (operand, args.len()) {
                (PtxOperand::Value, 1..) => {
                    let Some(arg) = args.next() else { return self.refuse(format_args!("`{name}`")) };
                    (Kind::of(self.ty(*arg).element()), self.one(*arg)?)
                }
                (PtxOperand::Int(value), _) => {
                    let kind = Kind::Int(super::Int::of_bits(if *width == Width::W64 { 64 } else { 32 }));
                    (kind, self.constant(kind, *value as u128))
                }
                _ => return self.refuse(format_args!("`{name}` with such operands")),
            });
        }
        if data.operands.len() != values.len() {
            return self.refuse(format_args!("`{name}` with such operands"));
        }
        let kinds: Vec<Kind> = results.iter().map(|ty| Kind::of(ty.element())).collect();
        self.evaluate(plan, &name, &values, &kinds)
    }

    fn types_of(&self, args: &[ir::Value]) -> Vec<Type> {
        args.iter().map(|arg| self.ty(*arg)).collect()
    }
}
