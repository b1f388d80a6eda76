//! Expressions: values, and places that can be assigned.

use super::{Builder, FLOAT, Front, INT, Kind, Operand, Result, Ty, VOID};
use warpsmith::ir::{FloatCC, InstBuilder, IntCC, MemFlags, Sreg, Type, Value};
use warpsmith::math;

/// Operators from the loosest to the tightest.
const LEVELS: [&str; 10] = ["||", "&&", "|", "^", "&", "== !=", "<= >= < >", "<< >>", "+ -", "* / %"];

impl<'a> Front<'a> {
    pub(super) fn value(&self, b: &mut Builder, (ty, kind): Operand) -> Value {
        match kind {
            Kind::Value(value) => value,
            Kind::Memory(ptr, offset) => b.ins().load(self.ir(ty), MemFlags::PLAIN, ptr, offset),
        }
    }

    /// The value as one of a type: an `int` becomes a `float` by itself, a `float` an `int` by a cast.
    pub(super) fn converted(
        &self,
        b: &mut Builder,
        at: usize,
        operand: Operand,
        to: Ty,
        cast: bool,
    ) -> Result<Value> {
        let value = self.value(b, operand);
        match (operand.0, to) {
            (from, to) if from == to && to != VOID => Ok(value),
            (INT, FLOAT) => Ok(b.ins().sitofp(Type::F32, value)),
            (FLOAT, INT) if cast => Ok(b.ins().fptosi(Type::I32, value)),
            (Ty(_, 1..), Ty(_, 1..)) if cast => Ok(value),
            (from, to) => {
                self.fail(at, format!("this is of type {}, not {}", self.spelled(from), self.spelled(to)))
            }
        }
    }

    /// An expression as an `i1`.
    pub(super) fn condition(&mut self, b: &mut Builder) -> Result<Value> {
        let at = self.next;
        let operand = self.expr(b)?;
        self.truth(b, at, operand)
    }

    pub(super) fn truth(&self, b: &mut Builder, at: usize, operand: Operand) -> Result<Value> {
        let value = self.converted(b, at, operand, INT, false)?;
        Ok(b.ins().icmp_imm(IntCC::Ne, value, 0))
    }

    /// An expression of a type.
    pub(super) fn expr_of(&mut self, b: &mut Builder, ty: Ty) -> Result<Value> {
        let at = self.next;
        let operand = self.expr(b)?;
        self.converted(b, at, operand, ty, false)
    }

    pub(super) fn expr(&mut self, b: &mut Builder) -> Result<Operand> {
        self.nested(|front| front.binary(b, 0))
    }

    pub(super) fn binary(&mut self, b: &mut Builder, level: usize) -> Result<Operand> {
        let Some(operators) = LEVELS.get(level) else { return self.prefix(b) };
        let mut left = self.binary(b, level + 1)?;
        loop {
            let at = self.next;
            let Some(op) = operators.split(' ').find(|op| self.accept(op)) else { return Ok(left) };
            self.here(b, at);
            left = if level < 2 {
                let (left, result) = (self.truth(b, at, left)?, b.declare_var(Type::I1));
                let [more, end] = [(); 2].map(|()| b.create_block());
                b.def_var(result, left);
                let [yes, no] = if op == "&&" { [more, end] } else { [end, more] };
                b.ins().brif(left, yes, &[], no, &[]);
                self.enter(b, more);
                let right = self.binary(b, level + 1)?;
                let right = self.truth(b, at, right)?;
                b.def_var(result, right);
                b.ins().jump(end, &[]);
                self.enter(b, end);
                let truth = b.use_var(result);
                truth_value(b, truth)
            } else {
                // What is on the left is read before what is on the right does anything.
                let first = (left.0, Kind::Value(self.value(b, left)));
                let right = self.binary(b, level + 1)?;
                self.here(b, at);
                self.arithmetic(b, at, op, first, right)?
            }
        }
    }

    pub(super) fn arithmetic(
        &self,
        b: &mut Builder,
        at: usize,
        op: &str,
        x: Operand,
        y: Operand,
    ) -> Result<Operand> {
        if let (Ty(_, 1..), "+") = (x.0, op) {
            let index = self.converted(b, at, y, INT, false)?;
            let Kind::Memory(address, _) = self.element(b, at, x, index)?.1 else { return Ok(x) };
            return Ok((x.0, Kind::Value(address)));
        }
        let ty = if [x.0, y.0].contains(&FLOAT) { FLOAT } else { INT };
        let (x, y) = (self.converted(b, at, x, ty, false)?, self.converted(b, at, y, ty, false)?);
        let (int, float) = match op {
            "==" => (IntCC::Eq, FloatCC::Eq),
            "!=" => (IntCC::Ne, FloatCC::Neu),
            "<" => (IntCC::Slt, FloatCC::Lt),
            "<=" => (IntCC::Sle, FloatCC::Le),
            ">" => (IntCC::Sgt, FloatCC::Gt),
            ">=" => (IntCC::Sge, FloatCC::Ge),
            _ => {
                let ins = b.ins();
                let value = match (op, ty) {
                    ("+", INT) => ins.iadd(x, y),
                    ("-", INT) => ins.isub(x, y),
                    ("*", INT) => ins.imul(x, y),
                    ("/", INT) => ins.sdiv(x, y),
                    ("%", INT) => ins.srem(x, y),
                    ("&", INT) => ins.band(x, y),
                    ("|", INT) => ins.bor(x, y),
                    ("^", INT) => ins.bxor(x, y),
                    ("<<", INT) => ins.shl(x, y),
                    (">>", INT) => ins.ashr(x, y),
                    ("+", _) => ins.fadd(x, y),
                    ("-", _) => ins.fsub(x, y),
                    ("*", _) => ins.fmul(x, y),
                    ("/", _) => ins.fdiv(x, y),
                    _ => return self.fail(at, format!("`{op}` is not for a `float`")),
                };
                return Ok((ty, Kind::Value(value)));
            }
        };
        let ins = b.ins();
        let truth = if ty == INT { ins.icmp(int, x, y) } else { ins.fcmp(float, x, y) };
        Ok(truth_value(b, truth))
    }

    /// What a pointer points to, so many elements on.
    pub(super) fn element(
        &self,
        b: &mut Builder,
        at: usize,
        pointer: Operand,
        index: Value,
    ) -> Result<Operand> {
        let Ty(base, stars @ 1..) = pointer.0 else {
            return self.fail(at, format!("{} is no pointer", self.spelled(pointer.0)));
        };
        let (ty, ptr) = (Ty(base, stars - 1), self.value(b, pointer));
        let size = b.module().types.size(self.ir(ty));
        Ok((ty, Kind::Memory(b.ins().index(ptr, index, size as i32), 0)))
    }

    pub(super) fn prefix(&mut self, b: &mut Builder) -> Result<Operand> {
        let (op, at) = (self.peek(), self.next);
        if !["-", "!", "~"].contains(&op) {
            return self.postfix(b);
        }
        self.bump();
        let operand = self.nested(|front| front.prefix(b))?;
        self.here(b, at);
        let value = self.value(b, operand);
        let value = match (op, operand) {
            ("-", (FLOAT, _)) => b.ins().fneg(value),
            ("-", (INT, _)) => b.ins().ineg(value),
            ("~", (INT, _)) => b.ins().bnot(value),
            ("!", _) => {
                let truth = self.truth(b, at, operand)?;
                let not = b.ins().bnot(truth);
                return Ok(truth_value(b, not));
            }
            _ => return self.fail(at, format!("`{op}` is not for {}", self.spelled(operand.0))),
        };
        Ok((operand.0, Kind::Value(value)))
    }

    pub(super) fn postfix(&mut self, b: &mut Builder) -> Result<Operand> {
        let mut operand = self.primary(b)?;
        loop {
            let at = self.next;
            if self.accept("[") {
                let index = self.expr_of(b, INT)?;
                self.expect("]")?;
                self.here(b, at);
                operand = self.element(b, at, operand, index)?;
            } else if self.accept(".") {
                operand = self.field(b, operand)?;
            } else {
                return Ok(operand);
            }
        }
    }

    pub(super) fn field(&mut self, b: &mut Builder, (ty, whole): Operand) -> Result<Operand> {
        let (at, name) = (self.next, self.name()?);
        let fields = if ty.1 == 0 { &self.types[ty.0].2[..] } else { &[] };
        let Some(n) = fields.iter().position(|(_, known)| *known == name) else {
            return self.fail(at, format!("{} has no field `{name}`", self.spelled(ty)));
        };
        let kind = match whole {
            Kind::Value(value) => Kind::Value(b.extract_value(value, &[n as u32])),
            Kind::Memory(ptr, offset) => {
                let field = b.module().types.field(self.ir(ty), n as u64);
                Kind::Memory(ptr, offset + field.map_or(0, |(_, behind)| behind as i32))
            }
        };
        Ok((fields[n].0, kind))
    }

    pub(super) fn primary(&mut self, b: &mut Builder) -> Result<Operand> {
        let (text, at) = (self.peek(), self.next);
        if self.accept("(") {
            if self.base().is_none() {
                let inner = self.expr(b)?;
                return self.expect(")").map(|()| inner);
            }
            let ty = self.ty()?;
            self.expect(")")?;
            let operand = self.nested(|front| front.prefix(b))?;
            return Ok((ty, Kind::Value(self.converted(b, at, operand, ty, true)?)));
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let (ty, value) = match (text.parse::<u32>(), text.parse()) {
                (Ok(int), _) => (INT, b.ins().iconst(Type::I32, i64::from(int))),
                (_, Ok(float)) if text.contains('.') => (FLOAT, b.ins().f32const(float)),
                _ => return self.expected("a number"),
            };
            self.bump();
            return Ok((ty, Kind::Value(value)));
        }
        let name = self.name()?;
        if self.accept("(") {
            return self.call(b, at, name);
        }
        if let Some((_, local)) = self.scopes.iter().flatten().rev().find(|(known, _)| *known == name) {
            return Ok(*local);
        }
        let register = match name {
            "threadIdx" => Sreg::TID_X,
            "blockIdx" => Sreg::CTAID_X,
            "blockDim" => Sreg::NTID_X,
            _ => return self.fail(at, format!("there is no `{name}` here")),
        };
        Ok((INT, Kind::Value(b.ins().sreg(register))))
    }

    pub(super) fn call(&mut self, b: &mut Builder, at: usize, name: &str) -> Result<Operand> {
        let (mut args, mut format) = (Vec::new(), None);
        while !self.accept(")") {
            if !args.is_empty() || format.is_some() {
                self.expect(",")?;
            } else if let Some(text) = self.peek().strip_prefix('"') {
                format = Some(text.trim_end_matches('"').replace("\\n", "\n"));
                self.bump();
                continue;
            }
            let (at, arg) = (self.next, self.expr(b)?);
            args.push((at, (arg.0, Kind::Value(self.value(b, arg)))));
        }
        self.here(b, at);
        let values: Vec<Value> = args.iter().map(|(_, arg)| self.value(b, *arg)).collect();
        let library = math::Function::new(name, Type::F32)
            .filter(|f| f.ulp().is_some() && f.signature().0.iter().all(|ty| *ty == Type::F32));
        let value = match (name, format, &args[..]) {
            ("printf", Some(format), _) => b.ins().printf(&format, &values),
            ("barrier", None, []) => {
                b.ins().barrier();
                return Ok((VOID, Kind::Value(b.ins().iconst(Type::I32, 0))));
            }
            _ => {
                let (id, params, ret) = match (self.functions.get(name).cloned(), library) {
                    (Some(own), _) => own,
                    (None, Some(f)) => {
                        let known = b.module().function(&f.symbol());
                        let id = known.unwrap_or_else(|| b.add_function(f.declaration()));
                        (id, vec![FLOAT; f.signature().0.len()], FLOAT)
                    }
                    (None, None) => return self.fail(at, format!("there is no function `{name}` for this")),
                };
                if params.len() != args.len() {
                    let message = format!("`{name}` takes {} arguments, not {}", params.len(), args.len());
                    return self.fail(at, message);
                }
                let converted = args.iter().zip(params);
                let values: Result<Vec<Value>> =
                    converted.map(|((at, arg), ty)| self.converted(b, *at, *arg, ty, false)).collect();
                let result = b.call(id, &values?).get(0);
                return Ok((ret, Kind::Value(result.unwrap_or_else(|| b.ins().iconst(Type::I32, 0)))));
            }
        };
        Ok((INT, Kind::Value(value)))
    }
}

/// A condition as a number.
fn truth_value(b: &mut Builder, truth: Value) -> Operand {
    (INT, Kind::Value(b.ins().zext(Type::I32, truth)))
}
