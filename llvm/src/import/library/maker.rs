//! Operations as short names, for bodies that are written by hand.

use super::Shared;
use warpsmith_ir::{
    self as ir, FloatCC, FunctionBuilder, InstBuilder, IntCC, MemFlags, Type, Value, Variable,
};

/// A body that is being written.
pub(super) struct Maker<'b, 'm> {
    pub b: &'b mut FunctionBuilder<'m>,
    params: Vec<Value>,
    result: Option<Type>,
    pub shared: &'b Shared,
}

fn unaligned() -> MemFlags {
    MemFlags::PLAIN.with_align(1).unwrap_or(MemFlags::PLAIN)
}

impl<'b, 'm> Maker<'b, 'm> {
    pub fn new(
        b: &'b mut FunctionBuilder<'m>,
        params: Vec<Value>,
        result: Option<Type>,
        shared: &'b Shared,
    ) -> Self {
        Maker { b, params, result, shared }
    }

    /// A parameter. The declaration has been compared with what the body takes: one that is not there is 0.
    pub fn param(&mut self, n: usize) -> Value {
        match self.params.get(n) {
            Some(value) => *value,
            None => self.int(Type::I64, 0),
        }
    }

    /// The type of the result; `f64` where there is none.
    pub fn result_type(&self) -> Type {
        self.result.unwrap_or(Type::F64)
    }

    pub fn params(&self) -> Vec<Value> {
        self.params.clone()
    }

    pub fn int(&mut self, ty: Type, value: i64) -> Value {
        self.b.ins().iconst(ty, value)
    }

    pub fn float(&mut self, ty: Type, value: f64) -> Value {
        if ty == Type::F32 { self.b.ins().f32const(value as f32) } else { self.b.ins().f64const(value) }
    }

    pub fn ty(&self, value: Value) -> Type {
        self.b.func().dfg.ty(value)
    }

    /// A variable with a value.
    pub fn var(&mut self, value: Value) -> Variable {
        let ty = self.ty(value);
        let variable = self.b.declare_var(ty);
        self.b.def_var(variable, value);
        variable
    }

    pub fn get(&mut self, variable: Variable) -> Value {
        self.b.use_var(variable)
    }

    pub fn set(&mut self, variable: Variable, value: Value) {
        self.b.def_var(variable, value);
    }

    /// Adds to a variable.
    pub fn step(&mut self, variable: Variable, by: i64) {
        let value = self.b.use_var(variable);
        let value = self.b.ins().iadd_imm(value, by);
        self.b.def_var(variable, value);
    }

    /// The byte at an index, as an `i32`.
    pub fn byte(&mut self, pointer: Value, index: Value) -> Value {
        let at = self.b.ins().ptradd(pointer, index);
        let byte = self.b.ins().load(Type::I8, MemFlags::PLAIN, at, 0);
        self.b.ins().zext(Type::I32, byte)
    }

    /// Writes the low byte of an `i32`.
    pub fn put_byte(&mut self, byte: Value, pointer: Value, index: Value) {
        let at = self.b.ins().ptradd(pointer, index);
        let byte = self.b.ins().trunc(Type::I8, byte);
        self.b.ins().store(MemFlags::PLAIN, byte, at, 0);
    }

    /// Copies bytes of places that may overlap.
    pub fn copy_bytes(&mut self, to: Value, from: Value, size: Value) {
        self.b.ins().memmove(unaligned(), to, from, size);
    }

    pub fn fill_bytes(&mut self, to: Value, byte: Value, size: Value) {
        self.b.ins().memset(unaligned(), to, byte, size);
    }

    pub fn is(&mut self, cond: IntCC, x: Value, y: Value) -> Value {
        self.b.ins().icmp(cond, x, y)
    }

    pub fn is_imm(&mut self, cond: IntCC, x: Value, y: i64) -> Value {
        self.b.ins().icmp_imm(cond, x, y)
    }

    pub fn float_is(&mut self, cond: FloatCC, x: Value, y: Value) -> Value {
        self.b.ins().fcmp(cond, x, y)
    }

    pub fn and(&mut self, x: Value, y: Value) -> Value {
        self.b.ins().band(x, y)
    }

    pub fn or(&mut self, x: Value, y: Value) -> Value {
        self.b.ins().bor(x, y)
    }

    pub fn choose(&mut self, cond: Value, yes: Value, no: Value) -> Value {
        self.b.ins().select(cond, yes, no)
    }

    pub fn add(&mut self, x: Value, y: Value) -> Value {
        self.b.ins().fadd(x, y)
    }

    pub fn sub(&mut self, x: Value, y: Value) -> Value {
        self.b.ins().fsub(x, y)
    }

    pub fn mul(&mut self, x: Value, y: Value) -> Value {
        self.b.ins().fmul(x, y)
    }

    pub fn div(&mut self, x: Value, y: Value) -> Value {
        self.b.ins().fdiv(x, y)
    }

    /// `while (cond()) { body }`.
    pub fn while_(
        &mut self,
        cond: impl FnOnce(&mut Maker<'_, 'm>) -> Value,
        body: impl FnOnce(&mut Maker<'_, 'm>),
    ) {
        let (params, result, shared) = (&self.params, self.result, self.shared);
        self.b.while_(
            |b| cond(&mut Maker { b, params: params.clone(), result, shared }),
            |b| body(&mut Maker { b, params: params.clone(), result, shared }),
        );
    }

    /// `for (n = 0; n < count; n++) { body(n) }`, of unsigned numbers.
    pub fn for_each_below(&mut self, count: Value, body: impl FnOnce(&mut Maker<'_, 'm>, Value)) {
        let ty = self.ty(count);
        let zero = self.int(ty, 0);
        let n = self.var(zero);
        self.while_(
            |m| {
                let n = m.get(n);
                m.is(IntCC::Ult, n, count)
            },
            |m| {
                let number = m.get(n);
                body(m, number);
                m.step(n, 1);
            },
        );
    }

    /// `if (cond) { then }`.
    pub fn if_(&mut self, cond: Value, then: impl FnOnce(&mut Maker<'_, 'm>)) {
        let (params, result, shared) = (self.params.clone(), self.result, self.shared);
        self.b.if_(cond, |b| then(&mut Maker { b, params, result, shared }));
    }

    /// A function of the math library.
    pub fn math(&mut self, function: warpsmith_math::Function, args: &[Value]) -> ir::Results {
        let id = self.b.declare_function(function.declaration());
        self.b.call(id, args)
    }

    pub fn ret(&mut self, values: &[Value]) {
        self.b.ins().ret(values);
    }

    /// Gives a struct of two.
    pub fn ret_pair(&mut self, pair: [Value; 2]) {
        match self.result {
            Some(ty) => {
                let whole = self.b.ins().aggregate(ty, &pair);
                self.ret(&[whole]);
            }
            None => self.ret(&pair),
        }
    }
}
