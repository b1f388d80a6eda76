//! What C++ leaves to its run-time library: `new` and `delete` (C++20, 17.6.3), and the functions by which templates throw. Those functions
//! print what they would throw and trap, as a throw itself does ([`super::exceptions`]).

use super::maker::Maker;
use super::{Gives, Row};
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type};

const P: Type = Type::PTR;
const SIZE: Type = Type::I64;
const NEW: Gives = Gives::One(P);

const fn new(name: &'static str, params: &'static [Type]) -> Row {
    Row { name, params, gives: NEW, build: allocate }
}

const fn delete(name: &'static str, params: &'static [Type]) -> Row {
    Row { name, params, gives: Gives::Nothing, build: release }
}

const fn new_aligned(name: &'static str, params: &'static [Type]) -> Row {
    Row { name, params, gives: NEW, build: allocate_aligned }
}

const fn delete_aligned(name: &'static str, params: &'static [Type]) -> Row {
    Row { name, params, gives: Gives::Nothing, build: release_aligned }
}

const fn nothing(name: &'static str, params: &'static [Type]) -> Row {
    Row { name, params, gives: Gives::Nothing, build: |m| m.ret(&[]) }
}

/// A function that throws what its name says.
const fn throws(name: &'static str, build: super::Build) -> Row {
    Row { name, params: &[], gives: Gives::Nothing, build }
}

/// A function that throws with a text.
const fn throws_text(name: &'static str) -> Row {
    Row { name, params: &[P], gives: Gives::Nothing, build: |m| m.thrown(None) }
}

pub(super) const ALLOCATING: &[Row] = &[
    new("_Znwm", &[SIZE]),
    new("_Znam", &[SIZE]),
    new("_ZnwmRKSt9nothrow_t", &[SIZE, P]),
    new("_ZnamRKSt9nothrow_t", &[SIZE, P]),
    new_aligned("_ZnwmSt11align_val_t", &[SIZE, SIZE]),
    new_aligned("_ZnamSt11align_val_t", &[SIZE, SIZE]),
    new_aligned("_ZnwmSt11align_val_tRKSt9nothrow_t", &[SIZE, SIZE, P]),
    new_aligned("_ZnamSt11align_val_tRKSt9nothrow_t", &[SIZE, SIZE, P]),
];

pub(super) const RELEASING: &[Row] = &[
    delete("_ZdlPv", &[P]),
    delete("_ZdaPv", &[P]),
    delete("_ZdlPvm", &[P, SIZE]),
    delete("_ZdaPvm", &[P, SIZE]),
    delete("_ZdlPvRKSt9nothrow_t", &[P, P]),
    delete("_ZdaPvRKSt9nothrow_t", &[P, P]),
    delete_aligned("_ZdlPvSt11align_val_t", &[P, SIZE]),
    delete_aligned("_ZdaPvSt11align_val_t", &[P, SIZE]),
    delete_aligned("_ZdlPvmSt11align_val_t", &[P, SIZE, SIZE]),
    delete_aligned("_ZdaPvmSt11align_val_t", &[P, SIZE, SIZE]),
    delete_aligned("_ZdlPvSt11align_val_tRKSt9nothrow_t", &[P, SIZE, P]),
    delete_aligned("_ZdaPvSt11align_val_tRKSt9nothrow_t", &[P, SIZE, P]),
];

pub(super) const THROWING: &[Row] = &[
    throws("_ZSt17__throw_bad_allocv", |m| m.thrown(Some("std::bad_alloc"))),
    throws("_ZSt28__throw_bad_array_new_lengthv", |m| m.thrown(Some("std::bad_array_new_length"))),
    throws("__cxa_throw_bad_array_new_length", |m| m.thrown(Some("std::bad_array_new_length"))),
    throws("__cxa_bad_cast", |m| m.thrown(Some("std::bad_cast"))),
    throws("__cxa_bad_typeid", |m| m.thrown(Some("std::bad_typeid"))),
    throws("_ZSt21__throw_bad_exceptionv", |m| m.thrown(Some("std::bad_exception"))),
    throws("_ZSt16__throw_bad_castv", |m| m.thrown(Some("std::bad_cast"))),
    throws("_ZSt18__throw_bad_typeidv", |m| m.thrown(Some("std::bad_typeid"))),
    throws("_ZSt25__throw_bad_function_callv", |m| m.thrown(Some("std::bad_function_call"))),
    throws_text("_ZSt19__throw_logic_errorPKc"),
    throws_text("_ZSt20__throw_domain_errorPKc"),
    throws_text("_ZSt24__throw_invalid_argumentPKc"),
    throws_text("_ZSt20__throw_length_errorPKc"),
    throws_text("_ZSt20__throw_out_of_rangePKc"),
    throws_text("_ZSt21__throw_runtime_errorPKc"),
    throws_text("_ZSt19__throw_range_errorPKc"),
    throws_text("_ZSt22__throw_overflow_errorPKc"),
    throws_text("_ZSt23__throw_underflow_errorPKc"),
    Row {
        name: "_ZSt24__throw_out_of_range_fmtPKcz",
        params: &[P, P],
        gives: Gives::Nothing,
        build: |m| m.thrown(None),
    },
];

/// `std::allocator<char>`, which libstdc++ has compiled once for all programs, and which is nothing.
pub(super) const ALLOCATORS: &[Row] = &[
    nothing("_ZNSaIcEC1Ev", &[P]),
    nothing("_ZNSaIcEC2Ev", &[P]),
    nothing("_ZNSaIcEC1ERKS_", &[P, P]),
    nothing("_ZNSaIcEC2ERKS_", &[P, P]),
    nothing("_ZNSaIcED1Ev", &[P]),
    nothing("_ZNSaIcED2Ev", &[P]),
];

pub(super) const ASSERTING: &[Row] = &[Row {
    name: "_ZSt21__glibcxx_assert_failPKciS0_S0_",
    params: &[P, Type::I32, P, P],
    gives: Gives::Nothing,
    build: assertion,
}];

impl Maker<'_, '_> {
    /// Prints a text, or the first parameter, which is one, and traps.
    fn thrown(&mut self, text: Option<&str>) {
        let text = match text {
            Some(text) => self.b.string(text),
            None => self.param(0),
        };
        self.print("terminate called after throwing: %s\n", text);
        self.b.ins().trap();
    }
}

fn allocate(m: &mut Maker<'_, '_>) {
    let size = m.param(0);
    let new = m.system("malloc", Some(P), &[size]).first();
    m.ret(&[new]);
}

fn release(m: &mut Maker<'_, '_>) {
    let pointer = m.param(0);
    m.system("free", None, &[pointer]);
    m.ret(&[]);
}

/// Before what it gives stands where the memory began.
fn allocate_aligned(m: &mut Maker<'_, '_>) {
    let (size, align) = (m.param(0), m.param(1));
    let more = m.b.ins().iadd(size, align);
    let more = m.b.ins().iadd_imm(more, 8);
    let new = m.system("malloc", Some(P), &[more]).first();
    let address = m.b.ins().ptrtoint(new);
    let null = m.is_imm(IntCC::Eq, address, 0);
    let made = m.var(new);
    let there = m.b.ins().bnot(null);
    m.if_(there, |m| {
        let up = m.b.ins().iadd(address, align);
        let up = m.b.ins().iadd_imm(up, 7);
        let zero = m.int(SIZE, 0);
        let mask = m.b.ins().isub(zero, align);
        let aligned = m.b.ins().band(up, mask);
        let aligned = m.b.ins().inttoptr(P, aligned);
        m.b.ins().store(MemFlags::PLAIN, new, aligned, -8);
        m.set(made, aligned);
    });
    let made = m.get(made);
    m.ret(&[made]);
}

fn release_aligned(m: &mut Maker<'_, '_>) {
    let pointer = m.param(0);
    let address = m.b.ins().ptrtoint(pointer);
    let there = m.is_imm(IntCC::Ne, address, 0);
    m.if_(there, |m| {
        let made = m.b.ins().load(P, MemFlags::PLAIN, pointer, -8);
        m.system("free", None, &[made]);
    });
    m.ret(&[]);
}

/// CUDA's function takes the same in another order.
fn assertion(m: &mut Maker<'_, '_>) {
    let [file, line, function, condition] = [0, 1, 2, 3].map(|n| m.param(n));
    let one = m.int(SIZE, 1);
    m.system("__assertfail", None, &[condition, file, line, function, one]);
    m.ret(&[]);
}
