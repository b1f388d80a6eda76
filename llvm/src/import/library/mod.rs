//! Functions that producers call and leave to the libraries of their languages: compiler-rt's for complex numbers and for atomic accesses of any
//! size, C's for texts, mathematics and the system, C++'s for memory, exceptions and variables that are set up once.
//!
//! What no module defines, has one of these names and is declared as it is here gets a body. [`super::libdevice`] has CUDA's functions, and
//! [`super::opencl`] OpenCL's.

mod atomic;
mod complex;
mod cplusplus;
mod maker;
mod mathematics;
mod system;
mod text;

use crate::error::{Error, Result};
use maker::Maker;
use warpsmith_ir::{self as ir, Type};

/// The functions that CUDA's driver provides to every program (PTX writer's guide to interoperability, chapter 7).
pub(super) const SYSTEM: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// All functions, with the one of [`SYSTEM`] that their bodies call.
const TABLES: [(&[Row], Option<&str>); 11] = [
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
    (cplusplus::ASSERTING, Some("__assertfail")),
];

/// How a body is made.
type Build = fn(&mut Maker<'_, '_>);

/// What a function gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    Nothing,
    One(Type),
    /// A struct of two.
    Pair(Type),
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
}

impl Known {
    /// The function of [`SYSTEM`] that its body calls.
    pub(super) fn calls(self) -> Option<&'static str> {
        match self {
            Known::Row(_, calls) => calls,
            Known::Math(_) => None,
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
        ([found], Gives::Pair(ty)) => types.get(*found).is_some_and(|pair| pair.holds() == [ty, ty]),
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
}

/// Makes the body of a function that is declared.
pub(super) fn define(known: Known, id: ir::FuncId, out: &mut ir::Module) -> Result<()> {
    let function = &mut out.functions[id];
    function.linkage = ir::Linkage::Local;
    let result = function.ret.first().copied();
    let name = function.name.clone();
    let mut b = ir::FunctionBuilder::new(out, id);
    let entry = b.entry_block();
    let params = b.block_params(entry).to_vec();
    let mut maker = Maker::new(&mut b, params, result);
    match known {
        Known::Row(row, _) => (row.build)(&mut maker),
        Known::Math(wrapper) => wrapper.build(&mut maker),
    }
    b.finalize().map_err(|errors| Error::unsupported(format!("`{name}`: {errors}")))
}

#[cfg(test)]
mod tests {
    use super::{COMPLEX, Gives, Known, Row, SYSTEM, TABLES, define, find, mathematics};
    use warpsmith_ir::{self as ir, Param, Type};

    fn declared(module: &mut ir::Module, name: &str, params: &[Type], gives: Gives) -> ir::FuncId {
        let ret = match gives {
            Gives::Nothing => vec![],
            Gives::One(ty) => vec![ty],
            Gives::Pair(ty) => vec![module.types.structure(&[ty, ty])],
        };
        let words = match gives {
            Gives::One(part) => Type::int(part.bits()).expect("a word"),
            Gives::Nothing | Gives::Pair(_) => Type::I64,
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
        ]);
        for (n, (name, params, gives)) in all.iter().enumerate() {
            let again = all[..n].iter().any(|(other, of_other, _)| other == name && of_other == params);
            assert!(!again, "{name} stands twice");
            let mut module = ir::Module::new();
            let id = declared(&mut module, name, params, *gives);
            let known: Option<Known> = find(&module.functions[id], &module.types);
            let known = known.unwrap_or_else(|| panic!("{name} is not found"));
            define(known, id, &mut module).unwrap_or_else(|error| panic!("{error}"));
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
