//! Atomic accesses of any size, which C leaves to a library (LLVM's "Atomics", libcalls): one lock for all of them.

use super::maker::Maker;
use super::{Gives, Row};
use warpsmith_ir::{self as ir, InstBuilder, IntCC, MemoryOrder, MemoryScope, Type, Value};

const P: Type = Type::PTR;
const SIZE: Type = Type::I64;
const ORDER: Type = Type::I32;
const CONDITION: Gives = Gives::One(Type::I1);

pub(super) const ROWS: &[Row] = &[
    Row { name: "__atomic_load", params: &[SIZE, P, P, ORDER], gives: Gives::Nothing, build: load },
    Row { name: "__atomic_store", params: &[SIZE, P, P, ORDER], gives: Gives::Nothing, build: store },
    Row {
        name: "__atomic_exchange",
        params: &[SIZE, P, P, P, ORDER],
        gives: Gives::Nothing,
        build: exchange,
    },
    Row {
        name: "__atomic_compare_exchange",
        params: &[SIZE, P, P, P, ORDER, ORDER],
        gives: CONDITION,
        build: compare_exchange,
    },
    Row { name: "__atomic_is_lock_free", params: &[SIZE, P], gives: CONDITION, build: is_lock_free },
];

impl Maker<'_, '_> {
    /// The variable that who holds it has set.
    fn lock(&mut self) -> Value {
        let id = self.shared.lock.get().unwrap_or_else(|| {
            let (name, space) = (self.shared.lock_name.as_str(), warpsmith_isa::StateSpace::Global);
            self.b.add_global(ir::Global::new(name, space, Type::I32, ir::Extent::One))
        });
        self.shared.lock.set(Some(id));
        self.b.global_addr(id)
    }

    /// Runs a body while no other thread runs one. Who does not get the lock tries again, in a loop that threads of one warp leave one by one: none
    /// waits for one that the same instruction keeps from going on.
    fn alone(&mut self, body: impl FnOnce(&mut Maker<'_, '_>)) {
        let lock = self.lock();
        let no = self.int(Type::I1, 0);
        let done = self.var(no);
        self.while_(
            |m| {
                let done = m.get(done);
                m.b.ins().bnot(done)
            },
            |m| {
                let (free, taken) = (m.int(Type::I32, 0), m.int(Type::I32, 1));
                let orders = [MemoryOrder::Acquire, MemoryOrder::Relaxed];
                let seen = m.b.ins().cmpxchg(orders, MemoryScope::Sys, lock, free, taken).first();
                let got = m.is_imm(IntCC::Eq, seen, 0);
                m.if_(got, |m| {
                    body(m);
                    let free = m.int(Type::I32, 0);
                    m.b.ins().atomic_store(MemoryOrder::Release, MemoryScope::Sys, free, lock);
                    let yes = m.int(Type::I1, 1);
                    m.set(done, yes);
                });
            },
        );
    }

    /// Every order is the strongest: all go through one lock, which orders them, and fences order the rest.
    fn in_order(&mut self, body: impl FnOnce(&mut Maker<'_, '_>)) {
        self.b.ins().fence(MemoryOrder::SeqCst, MemoryScope::Sys);
        self.alone(body);
        self.b.ins().fence(MemoryOrder::SeqCst, MemoryScope::Sys);
    }
}

fn load(m: &mut Maker<'_, '_>) {
    let (size, object, to) = (m.param(0), m.param(1), m.param(2));
    m.in_order(|m| m.copy_bytes(to, object, size));
    m.ret(&[]);
}

fn store(m: &mut Maker<'_, '_>) {
    let (size, object, from) = (m.param(0), m.param(1), m.param(2));
    m.in_order(|m| m.copy_bytes(object, from, size));
    m.ret(&[]);
}

fn exchange(m: &mut Maker<'_, '_>) {
    let (size, object, from, to) = (m.param(0), m.param(1), m.param(2), m.param(3));
    // `from` and `to` may be one.
    m.in_order(|m| {
        m.for_each_below(size, |m, at| {
            let (old, new) = (m.byte(object, at), m.byte(from, at));
            m.put_byte(new, object, at);
            m.put_byte(old, to, at);
        });
    });
    m.ret(&[]);
}

fn compare_exchange(m: &mut Maker<'_, '_>) {
    let (size, object, expected, desired) = (m.param(0), m.param(1), m.param(2), m.param(3));
    let no = m.int(Type::I1, 0);
    let same = m.var(no);
    m.in_order(|m| {
        let zero = m.int(Type::I64, 0);
        let index = m.var(zero);
        let yes = m.int(Type::I1, 1);
        m.set(same, yes);
        m.while_(
            |m| {
                let (at, same) = (m.get(index), m.get(same));
                let inside = m.is(IntCC::Ult, at, size);
                m.and(inside, same)
            },
            |m| {
                let at = m.get(index);
                let (is, wanted) = (m.byte(object, at), m.byte(expected, at));
                let equal = m.is(IntCC::Eq, is, wanted);
                m.set(same, equal);
                m.step(index, 1);
            },
        );
        let swaps = m.get(same);
        let (to, from) = (m.choose(swaps, object, expected), m.choose(swaps, desired, object));
        m.copy_bytes(to, from, size);
    });
    let same = m.get(same);
    m.ret(&[same]);
}

fn is_lock_free(m: &mut Maker<'_, '_>) {
    let (size, object) = (m.param(0), m.param(1));
    let small = m.is_imm(IntCC::Ule, size, 8);
    let less = m.b.ins().iadd_imm(size, -1);
    let both = m.and(size, less);
    let power = m.is_imm(IntCC::Eq, both, 0);
    let address = m.b.ins().ptrtoint(object);
    let low = m.and(address, less);
    let aligned = m.is_imm(IntCC::Eq, low, 0);
    let power = m.and(power, aligned);
    let free = m.and(small, power);
    m.ret(&[free]);
}
