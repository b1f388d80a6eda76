//! Functions that producers call and leave to the libraries of their languages: compiler-rt's for complex numbers and for atomic accesses of any
//! size, C's for texts, mathematics and the system, C++'s for memory, exceptions and variables that are set up once.
//!
//! What no module defines, has one of these names and is declared as it is here gets a body. [`super::libdevice`] has CUDA's functions, and
//! [`super::opencl`] OpenCL's.

mod atomic;
mod complex;
mod containers;
mod cplusplus;
pub(super) mod exceptions;
mod maker;
mod mathematics;
mod norm;
pub(super) mod rtti;
mod system;
mod text;

use crate::error::{Error, Result};
use maker::Maker;
use std::cell::Cell;
use warpsmith_ir::{self as ir, Type};

pub(super) use warpsmith_ir::SYSTEM_FUNCTIONS as SYSTEM;

/// All functions, with the one of [`SYSTEM`] that their bodies call.
const TABLES: [(&[Row], Option<&str>); 20] = [
    (atomic::ROWS, None),
    (complex::ROWS, None),
    (text::ROWS, None),
    (system::ROWS, None),
    (system::ALLOCATING, Some("malloc")),
    (system::PRINTING, Some("vprintf")),
    (system::ASSERTING, Some("__assertfail")),
    (cplusplus::ALLOCATING, Some("malloc")),
    (cplusplus::RELEASING, Some("free")),
    (cplusplus::THROWING, Some("vprintf")),
    (cplusplus::ALLOCATORS, None),
    (cplusplus::ASSERTING, Some("__assertfail")),
    (exceptions::ROWS, None),
    (exceptions::ALLOCATING, Some("malloc")),
    (exceptions::RELEASING, Some("free")),
    (exceptions::THROWING, Some("vprintf")),
    (containers::ROWS, None),
    (containers::TREES, None),
    (norm::ROWS, None),
    (rtti::ROWS, None),
];

/// How a body is made.
type Build = fn(&mut Maker<'_, '_>);

/// What a function gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    Nothing,
    One(Type),
    /// A struct of two.
    Pair(Type, Type),
}

/// A complex number of the result's format: clang passes it by value in memory, which is imported as a struct of integers.
const COMPLEX: Type = Type::PTR_PARAM;

/// A function of a library.
pub(super) struct Row {
    name: &'static str,
    params: &'static [Type],
    gives: Gives,
    build: Build,
}

/// A function that a declaration means.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// One that is written here, with what it calls of [`SYSTEM`].
    Row(&'static Row, Option<&'static str>),
    /// One of the math library.
    Math(mathematics::Wrapper),
    /// One of an exception of C++'s library.
    Member(exceptions::Member),
}

impl Known {
    /// The function of [`SYSTEM`] that its body calls.
    pub(super) fn calls(self) -> Option<&'static str> {
        match self {
            Known::Row(_, calls) => calls,
            Known::Math(_) => None,
            Known::Member(member) => member.calls(),
        }
    }

    /// The variable of [`rtti`] that its body refers to.
    pub(super) fn refers_to(self) -> Option<String> {
        match self {
            Known::Row(..) | Known::Math(_) => None,
            Known::Member(member) => member.table(),
        }
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// True if a declaration takes and gives just this.
fn is_declared_as(function: &ir::Function, types: &ir::TypeTable, params: &[Type], gives: Gives) -> bool {
    let is_right = |(param, ty): (&ir::Param, &Type)| match (*ty, gives) {
        (COMPLEX, Gives::One(part)) => {
            let words = [Type::int(part.bits()); 2];
            param.ty.is_aggregate() && types.parts_of(param.ty).into_iter().map(|(ty, _)| Some(ty)).eq(words)
        }
        (ty, _) => param.ty == ty && param.byval.is_none(),
    };
    let takes = function.params.len() == params.len() && function.params.iter().zip(params).all(is_right);
    let gives_it = match (function.ret.as_slice(), gives) {
        ([], Gives::Nothing) => true,
        ([found], Gives::One(ty)) => *found == ty,
        ([found], Gives::Pair(first, second)) => {
            types.get(*found).is_some_and(|pair| pair.holds() == [first, second])
        }
        _ => false,
    };
    takes && gives_it
}

/// The function of a library that a declaration means.
pub(super) fn find(function: &ir::Function, types: &ir::TypeTable) -> Option<Known> {
    let rows = TABLES.into_iter().flat_map(|(rows, calls)| rows.iter().map(move |row| (row, calls)));
    let mut rows = rows.filter(|(row, _)| row.name == function.name);
    let row = rows.find(|(row, _)| is_declared_as(function, types, row.params, row.gives));
    row.map(|(row, calls)| Known::Row(row, calls))
        .or_else(|| mathematics::find(function, types).map(Known::Math))
        .or_else(|| exceptions::find(function, types).map(Known::Member))
}

/// The variables that bodies share.
pub(super) struct Shared {
    /// The lock of [`atomic`] and its name, once a body needs it.
    lock: Cell<Option<ir::GlobalId>>,
    lock_name: String,
}

impl Shared {
    /// Variables under names that nothing else has.
    pub(super) fn new(names: &mut super::symbols::Symbols) -> Shared {
        Shared { lock: Cell::new(None), lock_name: names.legal("ws_atomic_lock", false) }
    }
}

/// Makes the body of a function that is declared. `variable`: what it [refers to](Known::refers_to).
pub(super) fn define(
    known: Known,
    id: ir::FuncId,
    variable: Option<ir::GlobalId>,
    shared: &Shared,
    out: &mut ir::Module,
) -> Result<()> {
    let function = &mut out.functions[id];
    function.linkage = ir::Linkage::Local;
    let result = function.ret.first().copied();
    let name = function.name.clone();
    let mut b = ir::FunctionBuilder::new(out, id);
    let entry = b.entry_block();
    let params = b.block_params(entry).to_vec();
    let mut maker = Maker::new(&mut b, params, result, shared);
    match known {
        Known::Row(row, _) => (row.build)(&mut maker),
        Known::Math(wrapper) => wrapper.build(&mut maker),
        Known::Member(member) => member.build(&mut maker, variable),
    }
    b.finalize().map_err(|errors| Error::unsupported(format!("`{name}`: {errors}")))
}

#[cfg(test)]
mod tests {
    use super::{COMPLEX, Cell, Gives, Known, Row, SYSTEM, Shared, TABLES, define, find, mathematics};
    use warpsmith_ir::{self as ir, Param, Type};

    fn declared(module: &mut ir::Module, name: &str, params: &[Type], gives: Gives) -> ir::FuncId {
        let ret = match gives {
            Gives::Nothing => vec![],
            Gives::One(ty) => vec![ty],
            Gives::Pair(first, second) => vec![module.types.structure(&[first, second])],
        };
        let words = match gives {
            Gives::One(part) => Type::int(part.bits()).expect("a word"),
            Gives::Nothing | Gives::Pair(..) => Type::I64,
        };
        let complex = module.types.array(words, 2);
        let complex = module.types.structure(&[complex]);
        let param = |ty: &Type| Param::new(if *ty == COMPLEX { complex } else { *ty });
        let params = params.iter().map(param).collect();
        let mut function = ir::Function::new(name, ir::FuncKind::Func, params, ret);
        function.linkage = ir::Linkage::Extern;
        module.add_function(function)
    }

    /// All rows, and a wrapper of each kind.
    #[test]
    fn every_body_is_valid() {
        let rows = TABLES.into_iter().flat_map(|(rows, _)| rows);
        let mut all: Vec<(&str, &[Type], Gives)> =
            rows.map(|Row { name, params, gives, .. }| (*name, *params, *gives)).collect();
        let double = Gives::One(Type::F64);
        all.extend([
            ("sin", &[Type::F64][..], double),
            ("powf", &[Type::F32, Type::F32], Gives::One(Type::F32)),
            ("ldexp", &[Type::F64, Type::I32], double),
            ("frexp", &[Type::F64, Type::PTR], double),
            ("sincosf", &[Type::F32, Type::PTR, Type::PTR], Gives::Nothing),
            ("ilogb", &[Type::F64], Gives::One(Type::I32)),
            ("lround", &[Type::F64], Gives::One(Type::I64)),
            ("_ZNSt13runtime_errorC1EPKc", &[Type::PTR; 2], Gives::Nothing),
            (
                "_ZNSt11logic_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                &[Type::PTR; 2],
                Gives::Nothing,
            ),
            ("_ZNSt12out_of_rangeC1ERKS_", &[Type::PTR; 2], Gives::Nothing),
            ("_ZNSt9exceptionD2Ev", &[Type::PTR], Gives::Nothing),
            ("_ZNSt9bad_allocD0Ev", &[Type::PTR], Gives::Nothing),
            ("_ZNKSt8bad_cast4whatEv", &[Type::PTR], Gives::One(Type::PTR)),
            ("_ZNKSt11logic_error4whatEv", &[Type::PTR], Gives::One(Type::PTR)),
        ]);
        for (n, (name, params, gives)) in all.iter().enumerate() {
            let again = all[..n].iter().any(|(other, of_other, _)| other == name && of_other == params);
            assert!(!again, "{name} stands twice");
            let mut module = ir::Module::new();
            let id = declared(&mut module, name, params, *gives);
            let known: Option<Known> = find(&module.functions[id], &module.types);
            let known = known.unwrap_or_else(|| panic!("{name} is not found"));
            let table =
                ir::Global::new("table", warpsmith_isa::StateSpace::Global, Type::I64, ir::Extent::Array(5));
            let table = known.refers_to().map(|_| module.add_global(table));
            let shared = Shared { lock: Cell::new(None), lock_name: "lock".to_owned() };
            define(known, id, table, &shared, &mut module).unwrap_or_else(|error| panic!("{error}"));
            warpsmith_ir::verify(&module).unwrap_or_else(|errors| panic!("{name}: {errors}"));
            let called = SYSTEM.into_iter().filter(|system| module.function(system).is_some());
            assert!(called.eq(known.calls()), "{name} calls another function of the system than it says");
        }
    }

    #[test]
    fn what_is_declared_otherwise_is_another_function() {
        let mut module = ir::Module::new();
        for (name, params, gives) in [
            ("strlen", &[Type::I64][..], Gives::One(Type::I64)),
            ("sin", &[Type::F32], Gives::One(Type::F32)),
            ("cabs", &[Type::F64, Type::F64], Gives::One(Type::F64)),
            ("cabs", &[COMPLEX], Gives::One(Type::F32)),
            ("__muldc3", &[Type::F64; 4], Gives::One(Type::F64)),
            ("fast_sinf", &[Type::F32], Gives::One(Type::F32)),
            ("ws_sin_f32", &[Type::F32], Gives::One(Type::F32)),
        ] {
            let id = declared(&mut module, name, params, gives);
            assert!(find(&module.functions[id], &module.types).is_none(), "{name}");
        }
        assert!(mathematics::NAMES.is_sorted());
    }
}
