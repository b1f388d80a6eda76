//! What C and C++ ask of the system: memory, output, the end, variables that are set up once (Itanium C++ ABI, 3.3.3).

use super::maker::Maker;
use super::{Gives, Row};
use warpsmith_ir::{self as ir, InstBuilder, IntCC, MemFlags, MemoryOrder, MemoryScope, Type, Value};

const P: Type = Type::PTR;
const INT: Gives = Gives::One(Type::I32);

pub(super) const ALLOCATING: &[Row] =
    &[Row { name: "calloc", params: &[Type::I64, Type::I64], gives: Gives::One(P), build: calloc }];

pub(super) const PRINTING: &[Row] = &[
    Row { name: "puts", params: &[P], gives: INT, build: puts },
    Row { name: "putchar", params: &[Type::I32], gives: INT, build: putchar },
    // OpenCL's formats are in constant memory, which is imported as global.
    Row { name: "printf", params: &[Type::PTR_GLOBAL, P], gives: INT, build: printf },
    Row { name: "printf", params: &[P, P], gives: INT, build: printf },
];

pub(super) const ASSERTING: &[Row] = &[Row {
    name: "__assert_fail",
    params: &[P, P, Type::I32, P],
    gives: Gives::Nothing,
    build: assert_fail,
}];

pub(super) const ROWS: &[Row] = &[
    Row { name: "abort", params: &[], gives: Gives::Nothing, build: trap },
    Row { name: "_ZSt9terminatev", params: &[], gives: Gives::Nothing, build: trap },
    // A program on a GPU does not end: nothing is ever called.
    Row { name: "__cxa_atexit", params: &[P, P, P], gives: INT, build: zero },
    Row { name: "atexit", params: &[P], gives: INT, build: zero },
    Row { name: "__cxa_guard_acquire", params: &[P], gives: INT, build: guard_acquire },
    Row { name: "__cxa_guard_release", params: &[P], gives: Gives::Nothing, build: |m| guard_set(m, DONE) },
    Row { name: "__cxa_guard_abort", params: &[P], gives: Gives::Nothing, build: |m| guard_set(m, 0) },
];

/// The first byte of a guard says that the variable is set up; the second one here that a thread is at it.
const DONE: i64 = 1;
const BUSY: i64 = 0x100;

impl Maker<'_, '_> {
    /// Calls what CUDA's system provides: [`SYSTEM`](super::SYSTEM) has its name.
    pub(super) fn system(&mut self, name: &str, returns: Option<Type>, args: &[Value]) -> ir::Results {
        let params = args.iter().map(|arg| ir::Param::new(self.ty(*arg))).collect();
        let mut declared = ir::Function::new(name, ir::FuncKind::Func, params, returns.into_iter().collect());
        declared.linkage = ir::Linkage::Extern;
        let id = self.b.declare_function(declared);
        self.b.call(id, args)
    }

    /// Prints one argument of 8 bytes by a format.
    pub(super) fn print(&mut self, format: &str, argument: Value) -> Value {
        let slot = self.b.create_stack_slot(8, 8);
        let address = self.b.ins().stack_addr(slot, 0);
        self.b.ins().store(MemFlags::PLAIN, argument, address, 0);
        let format = self.b.string(format);
        let address = self.b.ins().addrspacecast(P, address);
        self.system("vprintf", Some(Type::I32), &[format, address]).first()
    }
}

fn calloc(m: &mut Maker<'_, '_>) {
    let (count, size) = (m.param(0), m.param(1));
    let (bytes, over) = m.b.ins().umul_overflow(count, size);
    let null = {
        let zero = m.int(Type::I64, 0);
        m.b.ins().inttoptr(P, zero)
    };
    let made = m.var(null);
    let fits = m.b.ins().bnot(over);
    m.if_(fits, |m| {
        let new = m.system("malloc", Some(P), &[bytes]).first();
        m.set(made, new);
        let address = m.b.ins().ptrtoint(new);
        let any = m.is_imm(IntCC::Ne, address, 0);
        m.if_(any, |m| {
            let zero = m.int(Type::I8, 0);
            m.fill_bytes(new, zero, bytes);
        });
    });
    let made = m.get(made);
    m.ret(&[made]);
}

fn puts(m: &mut Maker<'_, '_>) {
    let text = m.param(0);
    m.print("%s\n", text);
    zero(m);
}

fn putchar(m: &mut Maker<'_, '_>) {
    let byte = m.param(0);
    let wide = m.b.ins().zext(Type::I64, byte);
    m.print("%c", wide);
    let byte = m.b.ins().band_imm(byte, 0xff);
    m.ret(&[byte]);
}

fn printf(m: &mut Maker<'_, '_>) {
    let (format, arguments) = (m.param(0), m.param(1));
    let format = if m.ty(format) == P { format } else { m.b.ins().addrspacecast(P, format) };
    let count = m.system("vprintf", Some(Type::I32), &[format, arguments]).first();
    m.ret(&[count]);
}

fn trap(m: &mut Maker<'_, '_>) {
    m.b.ins().trap();
}

fn assert_fail(m: &mut Maker<'_, '_>) {
    let mut args = m.params();
    args.push(m.int(Type::I64, 1));
    m.system("__assertfail", None, &args);
    m.ret(&[]);
}

fn zero(m: &mut Maker<'_, '_>) {
    let zero = m.int(Type::I32, 0);
    m.ret(&[zero]);
}

/// 1 for the thread that is to set up the variable; the others wait until it has.
fn guard_acquire(m: &mut Maker<'_, '_>) {
    let guard = m.param(0);
    let busy = m.int(Type::I32, BUSY);
    let seen = m.var(busy);
    m.while_(
        |m| {
            let seen = m.get(seen);
            m.is_imm(IntCC::Eq, seen, BUSY)
        },
        |m| {
            let (open, busy) = (m.int(Type::I32, 0), m.int(Type::I32, BUSY));
            let orders = [MemoryOrder::Acquire, MemoryOrder::Acquire];
            let found = m.b.ins().cmpxchg(orders, MemoryScope::Sys, guard, open, busy).first();
            m.set(seen, found);
        },
    );
    let seen = m.get(seen);
    let first = m.is_imm(IntCC::Eq, seen, 0);
    let first = m.b.ins().zext(Type::I32, first);
    m.ret(&[first]);
}

fn guard_set(m: &mut Maker<'_, '_>, value: i64) {
    let guard = m.param(0);
    let value = m.int(Type::I32, value);
    m.b.ins().atomic_store(MemoryOrder::Release, MemoryScope::Sys, value, guard);
    m.ret(&[]);
}
