//! Formulas that build IR: `x * x + 1.0` makes a multiplication and an addition where the function is at.
//!
//! A [`V`] is a value of the function that is built. Its operators depend on its type: `+` is `fadd` or `iadd`, `<` is written [`V::lt`] and compares floats
//! (false for NaN) or signed integers. Numbers take the type of the other operand. Control flow is [`V::if_else`] and [`E::repeat`]; what is
//! cheap on both sides is a [`V::select`].

use std::cell::{Cell, RefCell};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, FloatCC, Function, GlobalId, InstBuilder, IntCC, MemFlags, Mnemonic, Type, Value};

/// A function that is built.
pub struct E {
    func: RefCell<Function>,
    block: Cell<Block>,
    entry: Block,
    /// Constants, each made once at the start of the function.
    constants: RefCell<FxHashMap<(Type, u64), Value>>,
    /// The table of the bits of 2/pi.
    two_over_pi: GlobalId,
    reads_two_over_pi: Cell<bool>,
}

/// A value of the function that is built.
#[derive(Clone, Copy)]
pub struct V<'e> {
    e: &'e E,
    value: Value,
}

/// An operand: a value, or a number of the type of the other operand.
pub trait Arg<'e> {
    /// The operand as a value of this type.
    fn of(self, e: &'e E, ty: Type) -> V<'e>;
}

impl<'e> Arg<'e> for V<'e> {
    fn of(self, _: &'e E, _: Type) -> V<'e> {
        self
    }
}

impl<'e> Arg<'e> for f64 {
    fn of(self, e: &'e E, ty: Type) -> V<'e> {
        e.float(ty, self)
    }
}

impl<'e> Arg<'e> for i64 {
    fn of(self, e: &'e E, ty: Type) -> V<'e> {
        e.int(ty, self)
    }
}

impl E {
    /// Begins the body of a declared function. `two_over_pi` is the table that is read for large angles.
    pub fn new(mut func: Function, two_over_pi: GlobalId) -> Self {
        let entry = func.make_entry();
        let (block, constants) = (Cell::new(entry), RefCell::default());
        E {
            func: RefCell::new(func),
            block,
            entry,
            constants,
            two_over_pi,
            reads_two_over_pi: Cell::new(false),
        }
    }

    /// The function, and whether it reads the table.
    pub fn finish(self) -> (Function, bool) {
        (self.func.into_inner(), self.reads_two_over_pi.get())
    }

    fn v(&self, value: Value) -> V<'_> {
        V { e: self, value }
    }

    fn ins<T>(&self, make: impl FnOnce(warpsmith_ir::Ins<'_>) -> T) -> T {
        make(self.func.borrow_mut().at_end(self.block.get()))
    }

    /// The n-th parameter.
    pub fn param(&self, n: usize) -> V<'_> {
        let value = self.func.borrow().param_values()[n];
        self.v(value)
    }

    /// Returns a value.
    pub fn ret(&self, value: V<'_>) {
        self.ins(|i| i.ret(&[value.value]));
    }

    /// Returns nothing.
    pub fn ret_nothing(&self) {
        self.ins(|i| i.ret(&[]));
    }

    fn constant(&self, ty: Type, bits: u64) -> V<'_> {
        let value = *self.constants.borrow_mut().entry((ty, bits)).or_insert_with(|| {
            let mut func = self.func.borrow_mut();
            let at = func.at_start(self.entry);
            if ty.is_float() { at.fconst(ty, bits) } else { at.iconst(ty, bits.cast_signed()) }
        });
        self.v(value)
    }

    /// A float, rounded to the type.
    pub fn float(&self, ty: Type, value: f64) -> V<'_> {
        let bits = if ty == Type::F32 { (value as f32).to_bits().into() } else { value.to_bits() };
        self.constant(ty, bits)
    }

    /// An integer.
    pub fn int(&self, ty: Type, value: i64) -> V<'_> {
        self.constant(ty, ty.normalize(value).cast_unsigned())
    }

    /// Repeats a step while the condition that it returns is true; `state` is what it starts with, what each step makes, and the result.
    /// The condition is asked before each step, of the state.
    pub fn repeat<'e, const N: usize>(
        &'e self,
        state: [V<'e>; N],
        go_on: impl FnOnce([V<'e>; N]) -> V<'e>,
        step: impl FnOnce([V<'e>; N]) -> [V<'e>; N],
    ) -> [V<'e>; N] {
        let types = state.map(V::ty);
        let (head, params) = self.block(&types);
        let (body, _) = self.block(&[]);
        let (end, results) = self.block(&types);
        let args = state.map(|v| v.value);
        self.ins(|i| i.jump(head, &args));
        self.go(head);
        let at: [V<'e>; N] = std::array::from_fn(|n| self.v(params[n]));
        let more = go_on(at).value;
        self.ins(|i| i.brif(more, body, &[], end, &at.map(|v| v.value)));
        self.go(body);
        let next = step(at).map(|v| v.value);
        self.ins(|i| i.jump(head, &next));
        self.go(end);
        std::array::from_fn(|n| self.v(results[n]))
    }

    fn block(&self, types: &[Type]) -> (Block, Vec<Value>) {
        let mut func = self.func.borrow_mut();
        let block = func.dfg.make_block();
        (block, types.iter().map(|ty| func.dfg.append_block_param(block, *ty)).collect())
    }

    fn go(&self, block: Block) {
        self.func.borrow_mut().layout.append_block(block);
        self.block.set(block);
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $float:ident $int:ident;)*) => {$(
        impl<'e, A: Arg<'e>> $trait<A> for V<'e> {
            type Output = V<'e>;

            fn $method(self, other: A) -> V<'e> {
                let y = other.of(self.e, self.ty()).value;
                let float = self.is_float();
                self.make(|i| if float { i.$float(self.value, y) } else { i.$int(self.value, y) })
            }
        }

        impl<'e> $trait<V<'e>> for f64 {
            type Output = V<'e>;

            fn $method(self, other: V<'e>) -> V<'e> {
                self.of(other.e, other.ty()).$method(other)
            }
        }

        impl<'e> $trait<V<'e>> for i64 {
            type Output = V<'e>;

            fn $method(self, other: V<'e>) -> V<'e> {
                self.of(other.e, other.ty()).$method(other)
            }
        }
    )*};
}
operators! {
    Add add fadd iadd;
    Sub sub fsub isub;
    Mul mul fmul imul;
    Div div fdiv udiv;
}

macro_rules! bitwise {
    ($($trait:ident $method:ident $name:ident;)*) => {$(
        impl<'e, A: Arg<'e>> $trait<A> for V<'e> {
            type Output = V<'e>;

            fn $method(self, other: A) -> V<'e> {
                let y = other.of(self.e, self.ty()).value;
                self.make(|i| i.$name(self.value, y))
            }
        }
    )*};
}
bitwise! {
    BitAnd bitand band;
    BitOr bitor bor;
    BitXor bitxor bxor;
}

impl<'e> Neg for V<'e> {
    type Output = V<'e>;

    fn neg(self) -> V<'e> {
        let float = self.is_float();
        self.make(|i| if float { i.fneg(self.value) } else { i.ineg(self.value) })
    }
}

impl<'e> Not for V<'e> {
    type Output = V<'e>;

    fn not(self) -> V<'e> {
        self.make(|i| i.bnot(self.value))
    }
}

macro_rules! unary {
    ($($(#[doc = $doc:literal])+ $method:ident $name:ident;)*) => {$(
        $(#[doc = $doc])+
        pub fn $method(self) -> V<'e> {
            self.make(|i| i.$name(self.value))
        }
    )*};
}

macro_rules! binary {
    ($($(#[doc = $doc:literal])+ $method:ident $name:ident;)*) => {$(
        $(#[doc = $doc])+
        pub fn $method(self, other: impl Arg<'e>) -> V<'e> {
            let y = other.of(self.e, self.ty()).value;
            self.make(|i| i.$name(self.value, y))
        }
    )*};
}

macro_rules! comparisons {
    ($($(#[doc = $doc:literal])+ $method:ident $float:ident $int:ident;)*) => {$(
        $(#[doc = $doc])+
        pub fn $method(self, other: impl Arg<'e>) -> V<'e> {
            let y = other.of(self.e, self.ty()).value;
            let float = self.is_float();
            self.make(|i| {
                if float {
                    i.fcmp(FloatCC::$float, self.value, y)
                } else {
                    i.icmp(IntCC::$int, self.value, y)
                }
            })
        }
    )*};
}

impl<'e> V<'e> {
    fn make(self, make: impl FnOnce(warpsmith_ir::Ins<'_>) -> Value) -> V<'e> {
        let value = self.e.ins(make);
        self.e.v(value)
    }

    /// The function that is built.
    pub fn e(self) -> &'e E {
        self.e
    }

    /// The type.
    pub fn ty(self) -> Type {
        self.e.func.borrow().dfg.ty(self.value)
    }

    fn is_float(self) -> bool {
        self.ty().is_float()
    }

    /// True for `f32`.
    pub fn is_f32(self) -> bool {
        self.ty() == Type::F32
    }

    /// A number of the type of this value.
    pub fn k(self, value: f64) -> V<'e> {
        self.e.float(self.ty(), value)
    }

    unary! {
        /// The absolute value.
        abs fabs;
        /// The square root.
        sqrt fsqrt;
        /// The integral value below.
        floor ffloor;
        /// The integral value above.
        ceil fceil;
        /// The integral value toward zero.
        truncate ftrunc;
        /// The nearest integral value, ties to even.
        nearest fnearest;
        /// Zero bits above the highest one bit.
        clz clz;
    }

    binary! {
        /// The magnitude of this, the sign of the other.
        copysign fcopysign;
        /// The lesser; the other one if one is NaN.
        min fmin;
        /// The greater; the other one if one is NaN.
        max fmax;
        /// The high half of the unsigned product.
        umulhi umulhi;
        /// The lesser signed integer.
        smin smin;
        /// The greater signed integer.
        smax smax;
        /// The remainder of the unsigned division.
        urem urem;
    }

    comparisons! {
        /// Equal.
        eq Eq Eq;
        /// Not equal; true for NaN.
        ne Neu Ne;
        /// Less, of floats or signed integers.
        lt Lt Slt;
        /// At most.
        le Le Sle;
        /// Greater.
        gt Gt Sgt;
        /// At least.
        ge Ge Sge;
        /// Less, of unsigned integers.
        ult Lt Ult;
    }

    /// True for NaN.
    pub fn is_nan(self) -> V<'e> {
        self.make(|i| i.fcmp(FloatCC::Nan, self.value, self.value))
    }

    /// True for an infinity.
    pub fn is_inf(self) -> V<'e> {
        self.abs().eq(f64::INFINITY)
    }

    /// True for what is neither infinite nor NaN.
    pub fn is_finite(self) -> V<'e> {
        self.abs().lt(f64::INFINITY)
    }

    /// `self * y + z`, rounded once.
    pub fn fma(self, y: impl Arg<'e>, z: impl Arg<'e>) -> V<'e> {
        let ty = self.ty();
        let (y, z) = (y.of(self.e, ty).value, z.of(self.e, ty).value);
        self.make(|i| i.fma(self.value, y, z))
    }

    /// `x` if this condition is true, else `y`.
    pub fn select(self, x: V<'e>, y: impl Arg<'e>) -> V<'e> {
        let y = y.of(self.e, x.ty()).value;
        self.make(|i| i.select(self.value, x.value, y))
    }

    /// `self`, but `value` where the condition is true.
    pub fn unless(self, cond: V<'e>, value: impl Arg<'e>) -> V<'e> {
        cond.select(value.of(self.e, self.ty()), self)
    }

    /// The values of one branch or the other: only the one that is taken is executed.
    pub fn if_else<const N: usize>(
        self,
        then: impl FnOnce() -> [V<'e>; N],
        otherwise: impl FnOnce() -> [V<'e>; N],
    ) -> [V<'e>; N] {
        let e = self.e;
        let (yes, no) = (e.block(&[]).0, e.block(&[]).0);
        e.ins(|i| i.brif(self.value, yes, &[], no, &[]));
        e.go(yes);
        let results = then();
        let (end, params) = e.block(&results.map(V::ty));
        let results = results.map(|v| v.value);
        e.ins(|i| i.jump(end, &results));
        e.go(no);
        let results = otherwise().map(|v| v.value);
        e.ins(|i| i.jump(end, &results));
        e.go(end);
        std::array::from_fn(|n| e.v(params[n]))
    }

    // Integers and bits.

    /// Shifted left.
    pub fn shl(self, by: impl Arg<'e>) -> V<'e> {
        let by = by.of(self.e, Type::I32).value;
        self.make(|i| i.shl(self.value, by))
    }

    /// Shifted right, zeros coming in.
    pub fn shr(self, by: impl Arg<'e>) -> V<'e> {
        let by = by.of(self.e, Type::I32).value;
        self.make(|i| i.lshr(self.value, by))
    }

    /// Shifted right, sign bits coming in.
    pub fn sar(self, by: impl Arg<'e>) -> V<'e> {
        let by = by.of(self.e, Type::I32).value;
        self.make(|i| i.ashr(self.value, by))
    }

    /// The bits, as an integer of the same size.
    pub fn bits(self) -> V<'e> {
        let to = if self.is_f32() { Type::I32 } else { Type::I64 };
        self.make(|i| i.bitcast(to, self.value))
    }

    /// The float of these bits.
    pub fn float_of_bits(self) -> V<'e> {
        let to = if self.ty() == Type::I32 { Type::F32 } else { Type::F64 };
        self.make(|i| i.bitcast(to, self.value))
    }

    /// A wider integer, zeros above; the same one if it has the type.
    pub fn zext(self, to: Type) -> V<'e> {
        if self.ty() == to { self } else { self.make(|i| i.zext(to, self.value)) }
    }

    /// A wider integer, sign bits above; the same one if it has the type.
    pub fn sext(self, to: Type) -> V<'e> {
        if self.ty() == to { self } else { self.make(|i| i.sext(to, self.value)) }
    }

    /// The low bits; the same one if it has the type.
    pub fn low(self, to: Type) -> V<'e> {
        if self.ty() == to { self } else { self.make(|i| i.trunc(to, self.value)) }
    }

    /// The signed integer, toward zero and clamped.
    pub fn to_int(self, to: Type) -> V<'e> {
        self.make(|i| i.fptosi(to, self.value))
    }

    /// The nearest float to a signed integer.
    pub fn to_float(self, to: Type) -> V<'e> {
        self.make(|i| i.sitofp(to, self.value))
    }

    /// The nearest float to an unsigned integer.
    pub fn unsigned_to_float(self, to: Type) -> V<'e> {
        self.make(|i| i.uitofp(to, self.value))
    }

    /// The float in another format; the same one if it has it.
    pub fn convert(self, to: Type) -> V<'e> {
        let from = self.ty();
        if from == to {
            return self;
        }
        let wider = to.bytes() > from.bytes();
        self.make(|i| if wider { i.fpext(to, self.value) } else { i.fptrunc(to, self.value) })
    }

    /// The word of this number in the table of 2/pi.
    pub fn two_over_pi(self) -> V<'e> {
        self.e.reads_two_over_pi.set(true);
        let table = self.make(|i| i.global_addr(Type::PTR_CONST, self.e.two_over_pi, 0));
        let word = table.make(|i| i.index(table.value, self.value, 8));
        word.make(|i| i.load(Type::I64, MemFlags::PLAIN, word.value, 0))
    }

    /// An instruction of the PTX tables with this operand.
    pub fn ptx(self, mnemonic: Mnemonic) -> V<'e> {
        self.make(|i| i.ptx(mnemonic, self.value).first())
    }

    /// An instruction of the PTX tables with two operands.
    pub fn ptx2(self, mnemonic: Mnemonic, other: V<'e>) -> V<'e> {
        self.make(|i| i.ptx(mnemonic, (self.value, other.value)).first())
    }

    /// Stores a value where this pointer points.
    pub fn store(self, value: V<'e>) {
        self.e.ins(|i| i.store(MemFlags::PLAIN, value.value, self.value, 0));
    }
}
