//! What C++ says of types while a program runs (Itanium C++ ABI, 2.9.5): what describes the types of the language itself and the exceptions of the
//! standard library, and `dynamic_cast`, which walks over it.

use super::maker::Maker;
use super::{Gives, Row};
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type, Value, Variable as Var};

const P: Type = Type::PTR;
const WORD: Type = Type::I64;

pub(super) const ROWS: &[Row] =
    &[Row { name: "__dynamic_cast", params: &[P, P, P, WORD], gives: Gives::One(P), build: dynamic_cast }];

/// A class of the standard library.
pub(in crate::import) struct Class {
    /// Its mangled name.
    pub name: &'static str,
    base: Option<&'static str>,
    /// What `what` gives; `None` for what was constructed from a text.
    pub says: Option<&'static str>,
}

const fn class(name: &'static str, base: &'static str, says: &'static str) -> Class {
    Class { name, base: Some(base), says: Some(says) }
}

const fn with_text(name: &'static str, base: &'static str) -> Class {
    Class { name, base: Some(base), says: None }
}

const EXCEPTION: &str = "St9exception";
const LOGIC: &str = "St11logic_error";
const RUN_TIME: &str = "St13runtime_error";

pub(super) const CLASSES: &[Class] = &[
    Class { name: EXCEPTION, base: None, says: Some("std::exception") },
    class("St9bad_alloc", EXCEPTION, "std::bad_alloc"),
    class("St20bad_array_new_length", "St9bad_alloc", "std::bad_array_new_length"),
    class("St8bad_cast", EXCEPTION, "std::bad_cast"),
    class("St10bad_typeid", EXCEPTION, "std::bad_typeid"),
    class("St13bad_exception", EXCEPTION, "std::bad_exception"),
    class("St17bad_function_call", EXCEPTION, "bad_function_call"),
    with_text(LOGIC, EXCEPTION),
    with_text("St12domain_error", LOGIC),
    with_text("St16invalid_argument", LOGIC),
    with_text("St12length_error", LOGIC),
    with_text("St12out_of_range", LOGIC),
    with_text(RUN_TIME, EXCEPTION),
    with_text("St11range_error", RUN_TIME),
    with_text("St14overflow_error", RUN_TIME),
    with_text("St15underflow_error", RUN_TIME),
];

impl Class {
    /// True for a class that others inherit `what` from.
    pub fn is_first_with_text(&self) -> bool {
        self.says.is_none() && self.base == Some(EXCEPTION)
    }
}

/// What describes types: the classes of `std::type_info`, by the first virtual function of which [`Maker::bases`] recognises them.
const KINDS: [(&str, i64); 9] = [
    ("_ZTVN10__cxxabiv117__class_type_infoE", ALONE),
    ("_ZTVN10__cxxabiv120__si_class_type_infoE", ONE_BASE),
    ("_ZTVN10__cxxabiv121__vmi_class_type_infoE", BASES),
    ("_ZTVN10__cxxabiv123__fundamental_type_infoE", ALONE),
    ("_ZTVN10__cxxabiv119__pointer_type_infoE", ALONE),
    ("_ZTVN10__cxxabiv129__pointer_to_member_type_infoE", ALONE),
    ("_ZTVN10__cxxabiv120__function_type_infoE", ALONE),
    ("_ZTVN10__cxxabiv117__array_type_infoE", ALONE),
    ("_ZTVN10__cxxabiv116__enum_type_infoE", ALONE),
];

const ALONE: i64 = 0;
const ONE_BASE: i64 = 1;
const BASES: i64 = 2;

/// The types of the language, mangled.
const FUNDAMENTAL: [&str; 26] = [
    "v", "w", "b", "c", "a", "h", "s", "t", "i", "j", "l", "m", "x", "y", "n", "o", "f", "d", "e", "g", "Dh",
    "Di", "Ds", "Du", "Dn", "DF16_",
];

/// A variable of C++'s run-time library.
pub(in crate::import) enum Variable {
    Words(Vec<Word>),
    /// A text, which a zero ends.
    Text(String),
}

/// 8 bytes of it.
pub(in crate::import) enum Word {
    Number(i64),
    /// The address of another symbol, moved by bytes.
    Address(String, i64),
}

/// The variable of a mangled name.
pub(in crate::import) fn variable(name: &str) -> Option<Variable> {
    if let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) {
        return Some(Variable::Words(vec![Word::Number(0), Word::Number(0), Word::Number(*kind)]));
    }
    // `std::placeholders::_1` and so on, which have no contents.
    let placeholder = name.strip_prefix("_ZNSt12placeholders2_").and_then(|rest| rest.strip_suffix('E'));
    if placeholder.is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit())) {
        return Some(Variable::Words(vec![Word::Number(0)]));
    }
    if let Some(ty) = name.strip_prefix("_ZTS") {
        return description(ty).map(|_| Variable::Text(ty.to_owned()));
    }
    if let Some(ty) = name.strip_prefix("_ZTI") {
        return description(ty).map(Variable::Words);
    }
    let class = name.strip_prefix("_ZTV").and_then(find)?;
    let mut says = class;
    while let (None, Some(base)) = (says.says, says.base.filter(|_| !says.is_first_with_text())) {
        says = find(base)?;
    }
    let of = |prefix: &str, class: &str, end: &str| Word::Address(format!("{prefix}{class}{end}"), 0);
    Some(Variable::Words(vec![
        Word::Number(0),
        of("_ZTI", class.name, ""),
        of("_ZN", class.name, "D1Ev"),
        of("_ZN", class.name, "D0Ev"),
        of("_ZNK", says.name, "4whatEv"),
    ]))
}

fn find(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

/// What describes a type that no module of the program does.
fn description(ty: &str) -> Option<Vec<Word>> {
    let start = |kind: &str| {
        let kind = format!("_ZTVN10__cxxabiv1{kind}E");
        vec![Word::Address(kind, 16), Word::Address(format!("_ZTS{ty}"), 0)]
    };
    if let Some(class) = find(ty) {
        let Some(base) = class.base else { return Some(start("17__class_type_info")) };
        let mut words = start("20__si_class_type_info");
        words.push(Word::Address(format!("_ZTI{base}"), 0));
        return Some(words);
    }
    if FUNDAMENTAL.contains(&ty) {
        return Some(start("23__fundamental_type_info"));
    }
    const CONST: i64 = 1;
    let (flags, pointee) = match ty.strip_prefix("PK") {
        Some(pointee) => (CONST, pointee),
        None => (0, ty.strip_prefix('P')?),
    };
    FUNDAMENTAL.contains(&pointee).then(|| {
        let mut words = start("19__pointer_type_info");
        words.extend([Word::Number(flags), Word::Address(format!("_ZTI{pointee}"), 0)]);
        words
    })
}

/// How many bases may be left to visit at once.
const MOST_BASES: i64 = 64;
const ENTRY: i64 = 24;

impl<'m> Maker<'_, 'm> {
    /// Visits an object and what it consists of: the address of each base, what describes its class, and whether it is public.
    pub(super) fn bases(
        &mut self,
        object: Value,
        class: Value,
        visit: impl FnOnce(&mut Maker<'_, 'm>, Value, Value, Value),
    ) {
        let slot = self.b.create_stack_slot((MOST_BASES * ENTRY) as u32, 8);
        let entries = self.b.ins().stack_addr(slot, 0);
        let zero = self.int(WORD, 0);
        let left = self.var(zero);
        let public = self.int(WORD, 1);
        self.put_base(entries, left, [object, class, public]);
        self.while_(
            |m| {
                let left = m.get(left);
                m.is_imm(IntCC::Ne, left, 0)
            },
            |m| {
                m.step(left, -1);
                let entry = m.entry(entries, left);
                let [object, class] = [0, 8].map(|at| m.b.ins().load(P, MemFlags::PLAIN, entry, at));
                let public = m.b.ins().load(WORD, MemFlags::PLAIN, entry, 16);
                visit(m, object, class, public);
                let kind = m.b.ins().load(P, MemFlags::PLAIN, class, 0);
                let kind = m.b.ins().load(WORD, MemFlags::PLAIN, kind, 0);
                let one = m.is_imm(IntCC::Eq, kind, ONE_BASE);
                m.if_(one, |m| {
                    let base = m.b.ins().load(P, MemFlags::PLAIN, class, 16);
                    m.put_base(entries, left, [object, base, public]);
                });
                let many = m.is_imm(IntCC::Eq, kind, BASES);
                m.if_(many, |m| m.put_bases(entries, left, [object, class, public]));
            },
        );
    }

    fn entry(&mut self, entries: Value, at: Var) -> Value {
        let at = self.get(at);
        let bytes = self.b.ins().imul_imm(at, ENTRY);
        self.b.ins().ptradd(entries, bytes)
    }

    fn put_base(&mut self, entries: Value, left: Var, [object, class, public]: [Value; 3]) {
        let count = self.get(left);
        let full = self.is_imm(IntCC::Uge, count, MOST_BASES);
        self.if_(full, |m| _ = m.b.ins().trap());
        let entry = self.entry(entries, left);
        self.b.ins().store(MemFlags::PLAIN, object, entry, 0);
        self.b.ins().store(MemFlags::PLAIN, class, entry, 8);
        self.b.ins().store(MemFlags::PLAIN, public, entry, 16);
        self.step(left, 1);
    }

    /// The bases of a class that has several, or virtual ones, or ones that are not public.
    fn put_bases(&mut self, entries: Value, left: Var, [object, class, public]: [Value; 3]) {
        let count = self.b.ins().load(Type::I32, MemFlags::PLAIN, class, 20);
        let count = self.b.ins().zext(WORD, count);
        self.for_each_below(count, |m, n| {
            let at = m.b.ins().shl_imm(n, 4);
            let of_base = m.b.ins().ptradd(class, at);
            let base = m.b.ins().load(P, MemFlags::PLAIN, of_base, 24);
            let flags = m.b.ins().load(WORD, MemFlags::PLAIN, of_base, 32);
            let by = m.b.ins().ashr_imm(flags, 8);
            let offset = m.var(by);
            let is_virtual = m.b.ins().band_imm(flags, 1);
            let is_virtual = m.is_imm(IntCC::Ne, is_virtual, 0);
            // Where a virtual base is stands in the table of virtual functions.
            m.if_(is_virtual, |m| {
                let table = m.b.ins().load(P, MemFlags::PLAIN, object, 0);
                let place = m.b.ins().ptradd(table, by);
                let by = m.b.ins().load(WORD, MemFlags::PLAIN, place, 0);
                m.set(offset, by);
            });
            let offset = m.get(offset);
            let object = m.b.ins().ptradd(object, offset);
            let own = m.b.ins().lshr_imm(flags, 1);
            let public = m.and(own, public);
            m.put_base(entries, left, [object, base, public]);
        });
    }

    pub(super) fn or_into(&mut self, variable: Var, value: Value) {
        let old = self.get(variable);
        let new = self.or(old, value);
        self.set(variable, new);
    }
}

/// The objects of a class that have been found: where the last is, whether there are several, and whether one may be seen.
#[derive(Clone, Copy)]
struct Found {
    address: Var,
    many: Var,
    public: Var,
}

impl Found {
    fn none(m: &mut Maker<'_, '_>) -> Found {
        let (null, no) = (m.int(WORD, 0), m.int(WORD, 0));
        let many = m.int(Type::I1, 0);
        Found { address: m.var(null), many: m.var(many), public: m.var(no) }
    }

    fn add(self, m: &mut Maker<'_, '_>, address: Value, public: Value) {
        let known = m.get(self.address);
        let any = m.is_imm(IntCC::Ne, known, 0);
        let other = m.is(IntCC::Ne, known, address);
        let more = m.and(any, other);
        m.or_into(self.many, more);
        m.set(self.address, address);
        m.or_into(self.public, public);
    }

    /// True if just one was found and may be seen.
    fn is_one(self, m: &mut Maker<'_, '_>) -> Value {
        let (address, public, many) = (m.get(self.address), m.get(self.public), m.get(self.many));
        let any = m.is_imm(IntCC::Ne, address, 0);
        let public = m.is_imm(IntCC::Ne, public, 0);
        let one = m.b.ins().bnot(many);
        let seen = m.and(any, public);
        m.and(seen, one)
    }
}

/// C++20, 7.6.1.7, 8: the only object of the class that the operand is a public base of; or else, if the operand is a public base of the whole object, the
/// only public base of that of the class; or else null.
fn dynamic_cast(m: &mut Maker<'_, '_>) {
    let [operand, from, to] = [0, 1, 2].map(|n| m.param(n));
    let table = m.b.ins().load(P, MemFlags::PLAIN, operand, 0);
    let top = m.b.ins().load(WORD, MemFlags::PLAIN, table, -16);
    let class = m.b.ins().load(P, MemFlags::PLAIN, table, -8);
    let whole = m.b.ins().ptradd(operand, top);
    let (down, across) = (Found::none(m), Found::none(m));
    let zero = m.int(WORD, 0);
    let is_public = m.var(zero);
    m.bases(whole, class, |m, object, class, public| {
        let is_operand = m.is_object(object, class, operand, from);
        let seen = m.choose(is_operand, public, zero);
        m.or_into(is_public, seen);
        let fits = m.is(IntCC::Eq, class, to);
        m.if_(fits, |m| {
            let address = m.b.ins().ptrtoint(object);
            across.add(m, address, public);
            m.bases(object, class, |m, base, class, public| {
                let is_operand = m.is_object(base, class, operand, from);
                m.if_(is_operand, |m| down.add(m, address, public));
            });
        });
    });
    let is_public = m.get(is_public);
    let is_public = m.is_imm(IntCC::Ne, is_public, 0);
    let (derived, one) = (down.is_one(m), across.is_one(m));
    let crosses = m.and(is_public, one);
    let across = m.get(across.address);
    let across = m.choose(crosses, across, zero);
    let down = m.get(down.address);
    let result = m.choose(derived, down, across);
    let result = m.b.ins().inttoptr(P, result);
    m.ret(&[result]);
}

impl Maker<'_, '_> {
    fn is_object(&mut self, object: Value, class: Value, other: Value, of: Value) -> Value {
        let same = self.is(IntCC::Eq, object, other);
        let of_class = self.is(IntCC::Eq, class, of);
        self.and(same, of_class)
    }
}
