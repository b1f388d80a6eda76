//! C++'s exceptions (Itanium C++ ABI, volume 2; the classes of C++20's 17.9 and 19.2 as libstdc++ lays them out): nothing on a GPU unwinds, so that a
//! throw prints what is thrown and traps. What would handle it is reached by nothing, and is not imported.

use super::maker::Maker;
use super::rtti::{CLASSES, Class};
use super::{Gives, Row, is_declared_as};
use warpsmith_ir::{self as ir, InstBuilder, MemFlags, Type, Value};

const P: Type = Type::PTR;
const SIZE: Type = Type::I64;

pub(super) const ALLOCATING: &[Row] = &[Row {
    name: "__cxa_allocate_exception",
    params: &[SIZE],
    gives: Gives::One(P),
    build: |m| {
        let size = m.param(0);
        let new = m.system("malloc", Some(P), &[size]).first();
        m.ret(&[new]);
    },
}];

pub(super) const RELEASING: &[Row] =
    &[Row { name: "__cxa_free_exception", params: &[P], gives: Gives::Nothing, build: release }];

pub(super) const THROWING: &[Row] =
    &[Row { name: "__cxa_throw", params: &[P, P, P], gives: Gives::Nothing, build: throw }];

/// What ends the program, and what asks for exceptions, of which none is ever on its way.
pub(super) const ROWS: &[Row] = &[
    Row { name: "__cxa_rethrow", params: &[], gives: Gives::Nothing, build: trap },
    Row { name: "__cxa_call_unexpected", params: &[P], gives: Gives::Nothing, build: trap },
    Row { name: "_Unwind_Resume", params: &[P], gives: Gives::Nothing, build: trap },
    Row { name: "_ZSt10unexpectedv", params: &[], gives: Gives::Nothing, build: trap },
    Row { name: "_ZSt18uncaught_exceptionv", params: &[], gives: Gives::One(Type::I1), build: none },
    Row { name: "_ZSt19uncaught_exceptionsv", params: &[], gives: Gives::One(Type::I32), build: none },
];

fn trap(m: &mut Maker<'_, '_>) {
    m.b.ins().trap();
}

fn none(m: &mut Maker<'_, '_>) {
    let ty = m.result_type();
    let none = m.int(ty, 0);
    m.ret(&[none]);
}

fn release(m: &mut Maker<'_, '_>) {
    let exception = m.param(0);
    m.system("free", None, &[exception]);
    m.ret(&[]);
}

/// Prints what an exception says of itself, if its class is derived from `std::exception`, or else the name of its type as `typeid` gives it.
fn throw(m: &mut Maker<'_, '_>) {
    let (object, class) = (m.param(0), m.param(1));
    let name = m.b.ins().load(P, MemFlags::PLAIN, class, 8);
    let text = m.var(name);
    m.bases(object, class, |m, base, class, _| {
        let name = m.b.ins().load(P, MemFlags::PLAIN, class, 8);
        let exception = m.b.string("St9exception");
        let is_exception = m.same_text(name, exception);
        m.if_(is_exception, |m| {
            let table = m.b.ins().load(P, MemFlags::PLAIN, base, 0);
            let what = m.b.ins().load(P, MemFlags::PLAIN, table, 16);
            let says = m.b.ins().call_indirect(what, &[P], &[base]).first();
            m.set(text, says);
        });
    });
    let text = m.get(text);
    m.print("terminate called after throwing: %s\n", text);
    m.b.ins().trap();
}

/// A member function of one of the standard library's exceptions.
#[derive(Clone, Copy)]
pub(in crate::import) struct Member {
    pub class: &'static Class,
    does: Does,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// A constructor, from a text.
    TakeText,
    /// A constructor, from a `std::string`.
    TakeString,
    /// A constructor, from another exception.
    Copy,
    Destroy,
    /// Destroys and frees.
    Delete,
    /// `what`.
    Say,
}

/// How the names of members end, and what they do.
const MEMBERS: [(&str, Does); 12] = [
    ("C1EPKc", Does::TakeText),
    ("C2EPKc", Does::TakeText),
    ("C1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", Does::TakeString),
    ("C2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", Does::TakeString),
    ("C1ERKS_", Does::Copy),
    ("C2ERKS_", Does::Copy),
    ("C1EOS_", Does::Copy),
    ("C2EOS_", Does::Copy),
    ("D1Ev", Does::Destroy),
    ("D2Ev", Does::Destroy),
    ("D0Ev", Does::Delete),
    ("4whatEv", Does::Say),
];

/// The member function of a mangled name.
pub(in crate::import) fn named(name: &str) -> Option<Member> {
    let (constant, rest) = match name.strip_prefix("_ZNK") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("_ZN")?),
    };
    let (class, end) = CLASSES.iter().find_map(|class| Some((class, rest.strip_prefix(class.name)?)))?;
    let (_, does) = MEMBERS.iter().copied().find(|(ending, _)| *ending == end)?;
    let is_said = match does {
        Does::TakeText | Does::TakeString | Does::Copy => class.says.is_none(),
        Does::Destroy | Does::Delete => true,
        // What a base says is inherited.
        Does::Say => class.says.is_some() || class.is_first_with_text(),
    };
    (is_said && constant == (does == Does::Say)).then_some(Member { class, does })
}

/// The member function that a declaration means.
pub(super) fn find(function: &ir::Function, types: &ir::TypeTable) -> Option<Member> {
    let member = named(&function.name)?;
    is_declared_as(function, types, member.params(), member.gives()).then_some(member)
}

impl Member {
    fn params(self) -> &'static [Type] {
        match self.does {
            Does::TakeText | Does::TakeString | Does::Copy => &[P, P],
            Does::Destroy | Does::Delete | Does::Say => &[P],
        }
    }

    fn gives(self) -> Gives {
        if self.does == Does::Say { Gives::One(P) } else { Gives::Nothing }
    }

    /// A declaration of the function.
    pub fn declaration(self, name: &str) -> ir::Function {
        let params = self.params().iter().map(|ty| ir::Param::new(*ty)).collect();
        let ret = if self.does == Does::Say { vec![P] } else { vec![] };
        let mut function = ir::Function::new(name, ir::FuncKind::Func, params, ret);
        function.linkage = ir::Linkage::Extern;
        function
    }

    /// The function of [`SYSTEM`](super::SYSTEM) that the body calls.
    pub fn calls(self) -> Option<&'static str> {
        match self.does {
            Does::TakeString => Some("malloc"),
            Does::Delete => Some("free"),
            Does::TakeText | Does::Copy | Does::Destroy | Does::Say => None,
        }
    }

    /// The variable that the body refers to: the table of virtual functions that a constructor enters.
    pub fn table(self) -> Option<String> {
        match self.does {
            Does::TakeText | Does::TakeString | Does::Copy => Some(format!("_ZTV{}", self.class.name)),
            Does::Destroy | Does::Delete | Does::Say => None,
        }
    }

    pub(super) fn build(self, m: &mut Maker<'_, '_>, table: Option<ir::GlobalId>) {
        let this = m.param(0);
        match self.does {
            Does::TakeText => {
                let text = m.param(1);
                m.construct(table, text);
            }
            Does::TakeString => {
                let text = m.copied_string();
                m.construct(table, text);
            }
            Does::Copy => {
                let other = m.param(1);
                let text = m.b.ins().load(P, MemFlags::PLAIN, other, 8);
                m.construct(table, text);
            }
            Does::Destroy => m.ret(&[]),
            Does::Delete => {
                m.system("free", None, &[this]);
                m.ret(&[]);
            }
            Does::Say => {
                let text = match self.class.says {
                    Some(text) => m.b.string(text),
                    None => m.b.ins().load(P, MemFlags::PLAIN, this, 8),
                };
                m.ret(&[text]);
            }
        }
    }
}

impl Maker<'_, '_> {
    /// An exception is the address of its virtual functions and that of its text.
    fn construct(&mut self, table: Option<ir::GlobalId>, text: Value) {
        let this = self.param(0);
        if let Some(table) = table {
            let table = self.b.global_addr(table);
            let functions = self.b.ins().ptradd_imm(table, 16);
            let functions = self.b.ins().addrspacecast(P, functions);
            self.b.ins().store(MemFlags::PLAIN, functions, this, 0);
        }
        self.b.ins().store(MemFlags::PLAIN, text, this, 8);
        self.ret(&[]);
    }

    /// The text of the second parameter, a `std::string`: the address of its bytes and their number. It may be gone when the exception is read.
    fn copied_string(&mut self) -> Value {
        let string = self.param(1);
        let bytes = self.b.ins().load(P, MemFlags::PLAIN, string, 0);
        let size = self.b.ins().load(SIZE, MemFlags::PLAIN, string, 8);
        let whole = self.b.ins().iadd_imm(size, 1);
        let copy = self.system("malloc", Some(P), &[whole]).first();
        self.copy_bytes(copy, bytes, whole);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn members_are_found_by_their_names() {
        for name in [
            "_ZNSt13runtime_errorC1EPKc",
            "_ZNSt16invalid_argumentC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
            "_ZNKSt13runtime_error4whatEv",
            "_ZNKSt9exception4whatEv",
            "_ZNSt9bad_allocD0Ev",
            "_ZNSt12out_of_rangeC1EOS_",
        ] {
            assert!(named(name).is_some(), "{name}");
        }
        for name in [
            "_ZNSt9bad_allocC1EPKc",
            "_ZNKSt12out_of_range4whatEv",
            "_ZNSt13runtime_error4whatEv",
            "_ZNKSt13runtime_errorC1EPKc",
            "_ZNSt13runtime_errorC1Ev",
            "_ZN13runtime_errorC1EPKc",
        ] {
            assert!(named(name).is_none(), "{name}");
        }
    }
}
