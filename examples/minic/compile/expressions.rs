//! Expressions: values, and places that can be assigned.

use super::{BOOL, Body, FLOAT, INT, Result, Ty, VOID};
use Operator::{Arithmetic, Compare, Logic};
use warpsmith::ir::{FloatCC, FuncId, InstBuilder, IntCC, MemFlags, Opcode, Sreg, Type, Value};
use warpsmith::math;

/// A value, or what is so many bytes behind an address.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Value(Value),
    Memory(Value, i32),
}

pub(super) type Operand = (Ty, Kind);

/// What an operator does to two `int`, and to two `float`.
#[derive(Clone, Copy)]
enum Operator {
    /// The right side is computed if the left one is this.
    Logic(bool),
    Compare(IntCC, FloatCC),
    Arithmetic(Opcode, Option<Opcode>),
}

/// The operators between two operands, and how tightly they bind.
const OPERATORS: [(&str, u8, Operator); 18] = [
    ("||", 1, Logic(false)),
    ("&&", 2, Logic(true)),
    ("|", 3, Arithmetic(Opcode::Bor, None)),
    ("^", 4, Arithmetic(Opcode::Bxor, None)),
    ("&", 5, Arithmetic(Opcode::Band, None)),
    ("==", 6, Compare(IntCC::Eq, FloatCC::Eq)),
    ("!=", 6, Compare(IntCC::Ne, FloatCC::Neu)),
    ("<", 7, Compare(IntCC::Slt, FloatCC::Lt)),
    ("<=", 7, Compare(IntCC::Sle, FloatCC::Le)),
    (">", 7, Compare(IntCC::Sgt, FloatCC::Gt)),
    (">=", 7, Compare(IntCC::Sge, FloatCC::Ge)),
    ("<<", 8, Arithmetic(Opcode::Shl, None)),
    (">>", 8, Arithmetic(Opcode::Ashr, None)),
    ("+", 9, Arithmetic(Opcode::Iadd, Some(Opcode::Fadd))),
    ("-", 9, Arithmetic(Opcode::Isub, Some(Opcode::Fsub))),
    ("*", 10, Arithmetic(Opcode::Imul, Some(Opcode::Fmul))),
    ("/", 10, Arithmetic(Opcode::Sdiv, Some(Opcode::Fdiv))),
    ("%", 10, Arithmetic(Opcode::Srem, None)),
];

/// Names that nobody declares.
const REGISTERS: [(&str, Sreg); 3] =
    [("threadIdx", Sreg::TID_X), ("blockIdx", Sreg::CTAID_X), ("blockDim", Sreg::NTID_X)];

/// Casts, and what stands in front of an operand, bind more tightly.
const PREFIX: u8 = 11;

impl Body<'_, '_> {
    pub(super) fn value(&mut self, (ty, kind): Operand) -> Value {
        match kind {
            Kind::Value(value) => value,
            Kind::Memory(ptr, offset) => self.b.ins().load(self.front.ir(ty), MemFlags::PLAIN, ptr, offset),
        }
    }

    /// The value as one of a type: an `int` becomes a `float` by itself, a `float` an `int` by a cast.
    pub(super) fn converted(&mut self, at: usize, operand: Operand, to: Ty, cast: bool) -> Result<Value> {
        let value = self.value(operand);
        Ok(match (operand.0, to) {
            (from, to) if from == to && to != VOID => value,
            (BOOL, INT) => self.b.ins().zext(Type::I32, value),
            (INT, BOOL) => self.b.ins().icmp_imm(IntCC::Ne, value, 0),
            (INT, FLOAT) => self.b.ins().sitofp(Type::F32, value),
            (BOOL, FLOAT) => self.b.ins().uitofp(Type::F32, value),
            (FLOAT, INT) if cast => self.b.ins().fptosi(Type::I32, value),
            (Ty(_, 1..), Ty(_, 1..)) if cast => value,
            (from, to) => {
                let (from, to) = (self.front.spelled(from), self.front.spelled(to));
                return Err(self.front.error(at, format!("this is of type {from}, not {to}")));
            }
        })
    }

    /// An expression of a type.
    pub(super) fn expr_of(&mut self, ty: Ty) -> Result<Value> {
        let at = self.front.next;
        let operand = self.expr(0)?;
        self.converted(at, operand, ty, false)
    }

    /// An expression of operators that bind more tightly than a level, and what they bind.
    pub(super) fn expr(&mut self, level: u8) -> Result<Operand> {
        let mut left = self.nested(Self::operand)?;
        loop {
            let (at, text) = (self.front.next, self.front.peek());
            if let Some(&(_, level, operator)) = OPERATORS.iter().find(|op| op.0 == text && op.1 > level) {
                self.front.bump();
                self.here(at);
                left = self.binary(at, left, level, operator)?;
            } else if self.front.accept("[") {
                // What is on the left is read before what is on the right does anything.
                let pointer = (left.0, Kind::Value(self.value(left)));
                let (at, index) = (self.front.next, self.expr(0)?);
                self.front.expect("]")?;
                let (to, address) = self.moved(at, pointer, index)?;
                left = (to, Kind::Memory(address, 0));
            } else if self.front.accept(".") {
                left = self.field(left)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn binary(&mut self, at: usize, left: Operand, level: u8, operator: Operator) -> Result<Operand> {
        if let Logic(goes_on) = operator {
            let left = self.converted(at, left, BOOL, false)?;
            let [right, end] = [(); 2].map(|()| self.b.create_block());
            let result = self.b.append_block_param(end, Type::I1);
            let cond = if goes_on { left } else { self.b.ins().bnot(left) };
            self.b.ins().brif(cond, right, &[], end, &[left]);
            self.b.enter_block(right);
            let right = self.expr(level)?;
            let right = self.converted(at, right, BOOL, false)?;
            self.b.ins().jump(end, &[right]);
            self.b.enter_block(end);
            return Ok((BOOL, Kind::Value(result)));
        }
        let x = (left.0, Kind::Value(self.value(left)));
        let y = self.expr(level)?;
        self.here(at);
        if let (Ty(_, 1..), Arithmetic(Opcode::Iadd, _)) = (x.0, operator) {
            return Ok((x.0, Kind::Value(self.moved(at, x, y)?.1)));
        }
        let ty = if [x.0, y.0].contains(&FLOAT) { FLOAT } else { INT };
        let (x, y) = (self.converted(at, x, ty, false)?, self.converted(at, y, ty, false)?);
        let ins = self.b.ins();
        let (ty, value) = match (operator, ty) {
            (Compare(cond, _), INT) => (BOOL, ins.icmp(cond, x, y)),
            (Compare(_, cond), _) => (BOOL, ins.fcmp(cond, x, y)),
            (Arithmetic(op, _), INT) | (Arithmetic(_, Some(op)), _) => (ty, ins.binary(op, x, y)),
            _ => return Err(self.front.error(at, "this is not for a `float`")),
        };
        Ok((ty, Kind::Value(value)))
    }

    /// The address so many elements behind a pointer, and what is there.
    fn moved(&mut self, at: usize, pointer: Operand, index: Operand) -> Result<(Ty, Value)> {
        let Ty(base, stars @ 1..) = pointer.0 else {
            return Err(self.front.error(at, format!("{} is not a pointer", self.front.spelled(pointer.0))));
        };
        let (to, address) = (Ty(base, stars - 1), self.value(pointer));
        let index = self.converted(at, index, INT, false)?;
        let size = self.b.module().types.size(self.front.ir(to));
        Ok((to, self.b.ins().index(address, index, size as i32)))
    }

    fn field(&mut self, (ty, whole): Operand) -> Result<Operand> {
        let (at, name) = (self.front.next, self.front.name()?);
        let fields = if ty.1 == 0 { &self.front.types[ty.0].3[..] } else { &[] };
        let missing = || self.front.error(at, format!("{} has no field `{name}`", self.front.spelled(ty)));
        let n = fields.iter().position(|(_, known)| *known == name).ok_or_else(missing)?;
        let kind = match whole {
            Kind::Value(value) => Kind::Value(self.b.extract_value(value, &[n as u32])),
            Kind::Memory(ptr, offset) => {
                let field = self.b.module().types.field(self.front.ir(ty), n as u64);
                Kind::Memory(ptr, offset + field.map_or(0, |(_, behind)| behind as i32))
            }
        };
        Ok((fields[n].0, kind))
    }

    /// An operand with what stands in front of it.
    fn operand(&mut self) -> Result<Operand> {
        let (at, text) = (self.front.next, self.front.bump());
        self.here(at);
        let (ty, value) = match text {
            "(" if self.front.base().is_some() => {
                let ty = self.front.ty()?;
                self.front.expect(")")?;
                let operand = self.expr(PREFIX)?;
                (ty, self.converted(at, operand, ty, true)?)
            }
            "(" => {
                let inner = self.expr(0)?;
                return self.front.expect(")").map(|()| inner);
            }
            "-" | "~" | "!" => {
                let operand = self.expr(PREFIX)?;
                let (ty, opcode) = match (text, operand.0) {
                    ("!", _) => (BOOL, Opcode::Bnot),
                    ("-", FLOAT) => (FLOAT, Opcode::Fneg),
                    ("-", _) => (INT, Opcode::Ineg),
                    _ => (INT, Opcode::Bnot),
                };
                let value = self.converted(at, operand, ty, false)?;
                (ty, self.b.ins().unary(opcode, value))
            }
            _ if !text.starts_with(|c: char| c.is_ascii_digit()) => return self.named(at),
            _ if let Ok(int) = text.parse::<u32>() => (INT, self.b.ins().iconst(Type::I32, i64::from(int))),
            _ if let (Ok(x), Some(_)) = (text.parse(), text.find('.')) => (FLOAT, self.b.ins().f32const(x)),
            _ => return Err(self.front.error(at, "expected a number that fits 32 bits")),
        };
        Ok((ty, Kind::Value(value)))
    }

    /// A variable, a register or a call.
    fn named(&mut self, at: usize) -> Result<Operand> {
        self.front.next = at;
        let name = self.front.name()?;
        if self.front.accept("(") {
            return self.call(at, name);
        }
        if let Some((_, variable)) = self.variables.iter().rev().find(|(known, _)| *known == name) {
            return Ok(*variable);
        }
        let register = REGISTERS.iter().find(|(known, _)| *known == name);
        let missing = || self.front.error(at, format!("unknown name `{name}`"));
        Ok((INT, Kind::Value(self.b.ins().sreg(register.ok_or_else(missing)?.1))))
    }

    /// The arguments, up to the closing parenthesis, and the call.
    fn call(&mut self, at: usize, name: &str) -> Result<Operand> {
        let args = self.arguments(true)?;
        self.here(at);
        let nothing = Kind::Value(self.b.ins().iconst(Type::I32, 0));
        if name == "barrier" && args.is_empty() {
            self.b.ins().barrier();
            return Ok((VOID, nothing));
        }
        let callee = self.callee(name);
        let missing = || self.front.error(at, format!("unknown function `{name}`"));
        let (id, params, ret) = callee.ok_or_else(missing)?;
        if params.len() != args.len() {
            let message = format!("`{name}` takes {} arguments, not {}", params.len(), args.len());
            return Err(self.front.error(at, message));
        }
        let args = args.into_iter().zip(params).map(|((at, arg), ty)| self.converted(at, arg, ty, false));
        let args: Vec<Value> = args.collect::<Result<_>>()?;
        let result = self.b.call(id, &args).get(0);
        Ok((ret, result.map_or(nothing, Kind::Value)))
    }

    /// Arguments and where they are, up to the closing parenthesis.
    pub(super) fn arguments(&mut self, mut first: bool) -> Result<Vec<(usize, Operand)>> {
        let mut args = Vec::new();
        while !self.front.accept(")") {
            if !std::mem::take(&mut first) {
                self.front.expect(",")?;
            }
            let (at, operand) = (self.front.next, self.expr(0)?);
            let ty = if operand.0 == BOOL { INT } else { operand.0 };
            args.push((at, (ty, Kind::Value(self.converted(at, operand, ty, false)?))));
        }
        Ok(args)
    }

    /// A function of the program, else one of the math library from `float` to `float`.
    fn callee(&mut self, name: &str) -> Option<(FuncId, Vec<Ty>, Ty)> {
        if let Some(known) = self.front.functions.get(name) {
            return Some(known.clone());
        }
        let library = math::Function::new(name, Type::F32)?;
        let (params, ret) = library.signature();
        let floats = params.iter().chain(&ret).all(|ty| *ty == Type::F32);
        floats.then(|| (self.b.declare_function(library.declaration()), vec![FLOAT; params.len()], FLOAT))
    }

    /// Hostile input must not exhaust the stack.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == 100 {
            return Err(self.front.error(self.front.next, "this is nested too deep"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
