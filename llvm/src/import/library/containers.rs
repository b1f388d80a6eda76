//! What libstdc++ has compiled once for all programs of its containers: hashes of bytes (MurmurHash64A), the numbers of buckets of
//! `std::unordered_map`, the links of `std::list`, and the trees of `std::map` and `std::set`.

mod trees;

pub(super) use trees::ROWS as TREES;

use super::maker::Maker;
use super::{Gives, Row};
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type, Value, Variable};

const P: Type = Type::PTR;
const WORD: Type = Type::I64;
const POINTER: Gives = Gives::One(P);

const fn link(name: &'static str, params: &'static [Type], build: super::Build) -> Row {
    Row { name, params, gives: Gives::Nothing, build }
}

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "_ZSt11_Hash_bytesPKvmm",
        params: &[P, WORD, WORD],
        gives: Gives::One(WORD),
        build: hash_bytes,
    },
    Row {
        name: "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
        params: &[P, WORD, WORD, WORD],
        gives: Gives::Pair(Type::I8, WORD),
        build: need_rehash,
    },
    Row {
        name: "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm",
        params: &[P, WORD],
        gives: Gives::One(WORD),
        build: |m| {
            let least = m.param(1);
            let count = m.buckets(least);
            m.ret(&[count]);
        },
    },
    link("_ZNSt8__detail15_List_node_base7_M_hookEPS0_", &[P, P], hook),
    link("_ZNSt8__detail15_List_node_base9_M_unhookEv", &[P], unhook),
    link("_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_", &[P, P, P], transfer),
    link("_ZNSt8__detail15_List_node_base10_M_reverseEv", &[P], reverse),
    link("_ZNSt8__detail15_List_node_base4swapERS0_S1_", &[P, P], swap_lists),
];

// A node of a list is the addresses of the next and of the one before.
const NEXT: i32 = 0;
const BEFORE: i32 = 8;
impl Maker<'_, '_> {
    fn field(&mut self, node: Value, at: i32) -> Value {
        self.b.ins().load(P, MemFlags::PLAIN, node, at)
    }

    fn put(&mut self, node: Value, at: i32, value: Value) {
        self.b.ins().store(MemFlags::PLAIN, value, node, at);
    }

    fn same(&mut self, x: Value, y: Value) -> Value {
        self.is(IntCC::Eq, x, y)
    }

    fn is_null(&mut self, node: Value) -> Value {
        let address = self.b.ins().ptrtoint(node);
        self.is_imm(IntCC::Eq, address, 0)
    }

    /// `if (cond) { then } else { otherwise }`.
    fn either(&mut self, cond: Value, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        let (yes, no, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(cond, yes, &[], no, &[]);
        self.b.enter_block(yes);
        then(self);
        self.b.ins().jump(end, &[]);
        self.b.enter_block(no);
        otherwise(self);
        self.b.ins().jump(end, &[]);
        self.b.enter_block(end);
    }
}

fn hash_bytes(m: &mut Maker<'_, '_>) {
    const FACTOR: i64 = 0xc6a4_a793_5bd1_e995_u64.cast_signed();
    fn mixed(m: &mut Maker<'_, '_>, value: Value) -> Value {
        let high = m.b.ins().lshr_imm(value, 47);
        m.b.ins().bxor(value, high)
    }
    fn stirred(m: &mut Maker<'_, '_>, hash: Variable, data: Value) {
        let old = m.get(hash);
        let new = m.b.ins().bxor(old, data);
        let new = m.b.ins().imul_imm(new, FACTOR);
        m.set(hash, new);
    }
    let (bytes, size, seed) = (m.param(0), m.param(1), m.param(2));
    let start = m.b.ins().imul_imm(size, FACTOR);
    let start = m.b.ins().bxor(seed, start);
    let hash = m.var(start);
    let whole = m.b.ins().band_imm(size, -8);
    let zero = m.int(WORD, 0);
    let data = m.var(zero);
    m.for_each_below(size, |m, n| {
        // Bytes are put together to words, since they may start anywhere.
        let byte = m.byte(bytes, n);
        let byte = m.b.ins().zext(WORD, byte);
        let low = m.b.ins().band_imm(n, 7);
        let shift = m.b.ins().shl_imm(low, 3);
        let shift = m.b.ins().trunc(Type::I32, shift);
        let byte = m.b.ins().shl(byte, shift);
        m.or_into(data, byte);
        let full = m.is_imm(IntCC::Eq, low, 7);
        m.if_(full, |m| {
            let word = m.get(data);
            let word = m.b.ins().imul_imm(word, FACTOR);
            let word = mixed(m, word);
            let word = m.b.ins().imul_imm(word, FACTOR);
            stirred(m, hash, word);
            m.set(data, zero);
        });
    });
    let left = m.is(IntCC::Ne, whole, size);
    m.if_(left, |m| {
        let word = m.get(data);
        stirred(m, hash, word);
    });
    let value = m.get(hash);
    let value = mixed(m, value);
    let value = m.b.ins().imul_imm(value, FACTOR);
    let value = mixed(m, value);
    m.ret(&[value]);
}

impl Maker<'_, '_> {
    /// How many elements fit into so many buckets, by the policy that is the first parameter: its load factor, a `float`, and that number.
    fn set_capacity(&mut self, buckets: Value) {
        let policy = self.param(0);
        let load = self.load_factor();
        let buckets = self.b.ins().uitofp(Type::F64, buckets);
        let capacity = self.mul(buckets, load);
        let capacity = self.b.ins().fptoui(WORD, capacity);
        self.b.ins().store(MemFlags::PLAIN, capacity, policy, 8);
    }

    fn load_factor(&mut self) -> Value {
        let policy = self.param(0);
        let load = self.b.ins().load(Type::F32, MemFlags::PLAIN, policy, 0);
        self.b.ins().fpext(Type::F64, load)
    }

    /// At least so many buckets. libstdc++ takes the next prime number of a table, here it is an odd number: no order of elements is promised.
    fn buckets(&mut self, least: Value) -> Value {
        let count = self.b.ins().bor_imm(least, 1);
        self.set_capacity(count);
        count
    }
}

/// Whether a number of buckets is too small for the elements that there are and some more, and how many are to be made.
fn need_rehash(m: &mut Maker<'_, '_>) {
    /// What an empty table begins with.
    const FIRST: i64 = 11;
    let [policy, buckets, elements, more] = [0, 1, 2, 3].map(|n| m.param(n));
    let capacity = m.b.ins().load(WORD, MemFlags::PLAIN, policy, 8);
    let total = m.b.ins().iadd(elements, more);
    let (no, zero) = (m.int(Type::I8, 0), m.int(WORD, 0));
    let (needs, count) = (m.var(no), m.var(zero));
    let over = m.is(IntCC::Ugt, total, capacity);
    m.if_(over, |m| {
        let empty = m.is_imm(IntCC::Eq, capacity, 0);
        let first = m.b.ins().umax_imm(total, FIRST);
        let total = m.choose(empty, first, total);
        let (load, total) = (m.load_factor(), m.b.ins().uitofp(Type::F64, total));
        let least = m.div(total, load);
        let least = m.b.ins().fptoui(WORD, least);
        let too_few = m.is(IntCC::Uge, least, buckets);
        m.either(
            too_few,
            |m| {
                let least = m.b.ins().iadd_imm(least, 1);
                let twice = m.b.ins().shl_imm(buckets, 1);
                let least = m.b.ins().umax(least, twice);
                let new = m.buckets(least);
                let yes = m.int(Type::I8, 1);
                m.set(needs, yes);
                m.set(count, new);
            },
            |m| m.set_capacity(buckets),
        );
    });
    let pair = [m.get(needs), m.get(count)];
    m.ret_pair(pair);
}

/// Puts the node in front of another.
fn hook(m: &mut Maker<'_, '_>) {
    let (node, other) = (m.param(0), m.param(1));
    let before = m.field(other, BEFORE);
    m.put(node, NEXT, other);
    m.put(node, BEFORE, before);
    m.put(before, NEXT, node);
    m.put(other, BEFORE, node);
    m.ret(&[]);
}

fn unhook(m: &mut Maker<'_, '_>) {
    let node = m.param(0);
    let (next, before) = (m.field(node, NEXT), m.field(node, BEFORE));
    m.put(before, NEXT, next);
    m.put(next, BEFORE, before);
    m.ret(&[]);
}

/// Moves the nodes from one to another, which stays, in front of the node.
fn transfer(m: &mut Maker<'_, '_>) {
    let (node, first, last) = (m.param(0), m.param(1), m.param(2));
    let same = m.same(node, last);
    let differ = m.b.ins().bnot(same);
    m.if_(differ, |m| {
        let [of_last, of_first, of_node] = [last, first, node].map(|node| m.field(node, BEFORE));
        m.put(of_last, NEXT, node);
        m.put(of_first, NEXT, last);
        m.put(of_node, NEXT, first);
        m.put(node, BEFORE, of_last);
        m.put(last, BEFORE, of_first);
        m.put(first, BEFORE, of_node);
    });
    m.ret(&[]);
}

fn reverse(m: &mut Maker<'_, '_>) {
    let header = m.param(0);
    let at = m.var(header);
    let no = m.int(Type::I1, 0);
    let done = m.var(no);
    m.while_(
        |m| {
            let done = m.get(done);
            m.b.ins().bnot(done)
        },
        |m| {
            let node = m.get(at);
            let (next, before) = (m.field(node, NEXT), m.field(node, BEFORE));
            m.put(node, NEXT, before);
            m.put(node, BEFORE, next);
            m.set(at, next);
            let round = m.same(next, header);
            m.set(done, round);
        },
    );
    m.ret(&[]);
}

/// Exchanges the nodes of two headers.
fn swap_lists(m: &mut Maker<'_, '_>) {
    let headers = [m.param(0), m.param(1)];
    let links = headers.map(|header| [m.field(header, NEXT), m.field(header, BEFORE)]);
    for (header, other, [next, before]) in
        [(headers[0], headers[1], links[1]), (headers[1], headers[0], links[0])]
    {
        let empty = m.same(next, other);
        m.either(
            empty,
            |m| {
                m.put(header, NEXT, header);
                m.put(header, BEFORE, header);
            },
            |m| {
                m.put(header, NEXT, next);
                m.put(header, BEFORE, before);
                m.put(next, BEFORE, header);
                m.put(before, NEXT, header);
            },
        );
    }
    m.ret(&[]);
}
