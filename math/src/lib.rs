//! The math library, written in Warpsmith's IR: no libdevice, and the same bits on the CPU and on every GPU, since all but the `fast_` functions use
//! correctly rounded operations only.
//!
//! The symbol of a function is `ws_`, its name and its format. [`define`] adds the bodies of all functions that a module declares `extern` under such
//! names; the compiler and the IR's decoder do this through [`complete`].
//!
//! ```
//! let mut module = warpsmith_ir::Module::parse("
//!     func extern @ws_exp_f32(%x: f32) -> f32
//!     func export @sigmoid(%x: f32) -> f32 {
//!     entry:
//!       %n = fneg %x
//!       %e = call @ws_exp_f32(%n)
//!       %d = fadd %e, 1.0
//!       %r = fdiv 1.0, %d
//!       ret %r
//!     }")?;
//! warpsmith_math::define(&mut module)?;
//! assert!(!module.functions[module.function("ws_exp_f32").unwrap()].is_declaration());
//! warpsmith_ir::verify(&module)?;
//! # Ok::<(), warpsmith_diag::Diagnostics>(())
//! ```
//!
//! `docs/math.md` lists the functions and their errors, beside those of CUDA.

#![forbid(unsafe_code)]

pub mod codes;
mod coefficients;
mod expr;
mod functions;
mod table;

use crate::expr::{E, V};
use crate::table::{Build, Formats, ROWS, Row};
use std::borrow::Cow;
use warpsmith_diag::{Diagnostic, Diagnostics};
use warpsmith_ir::{
    EntityRef, Extent, FuncId, FuncKind, Function as Body, Global, GlobalId, Linkage, Module, Param, Type,
};
use warpsmith_isa::StateSpace;

/// The global that large angles are reduced with.
const TWO_OVER_PI: &str = "ws_two_over_pi";

/// A function of the library in one format.
#[derive(Clone, Copy)]
pub struct Function {
    row: &'static Row,
    ty: Type,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.row.name == other.row.name && self.ty == other.ty
    }
}

impl Eq for Function {}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.symbol())
    }
}

impl Function {
    /// Every function in every format that it has.
    pub fn all() -> impl Iterator<Item = Function> {
        ROWS.iter().flat_map(|row| {
            let formats: &[Type] = match row.formats {
                Formats::Each | Formats::Wide => &[Type::F32, Type::F64, Type::F16, Type::BF16],
                Formats::Single => &[Type::F32],
            };
            formats.iter().map(move |ty| Function { row, ty: *ty })
        })
    }

    /// The function of a name, as `sin`, and a format: `f32`, `f64`, `f16` or `bf16`.
    pub fn new(name: &str, ty: Type) -> Option<Function> {
        Function::all().find(|f| f.row.name == name && f.ty == ty)
    }

    /// The function of a symbol, as `ws_sin_f32`.
    pub fn from_symbol(symbol: &str) -> Option<Function> {
        let (name, ty) = symbol.strip_prefix("ws_")?.rsplit_once('_')?;
        let ty = [Type::F32, Type::F64, Type::F16, Type::BF16].into_iter().find(|t| t.to_string() == ty)?;
        Function::new(name, ty)
    }

    /// The function that does what one of CUDA's libdevice does: `__nv_sinf` is `sin` of `f32`, `__nv_sin` of `f64`, `__nv_fast_sinf` is `fast_sin`.
    pub fn from_libdevice(symbol: &str) -> Option<Function> {
        let name = symbol.strip_prefix("__nv_")?;
        let name = match name {
            "fast_fdividef" => "fast_divf",
            name => name,
        };
        Function::new(name, Type::F64)
            .or_else(|| Function::new(name.strip_suffix('f')?, Type::F32))
            .filter(|f| !f.row.name.ends_with("_ftz"))
    }

    /// The name, without the format.
    pub fn name(self) -> &'static str {
        self.row.name
    }

    /// The format.
    pub fn ty(self) -> Type {
        self.ty
    }

    /// The symbol that it is called by.
    pub fn symbol(self) -> String {
        format!("ws_{}_{}", self.row.name, self.ty)
    }

    /// The greatest error that CUDA's programming guide states for its function, in units of the last place; `None` for formats and
    /// functions that it does not state one for.
    pub fn cuda_ulp(self) -> Option<u32> {
        self.row.cuda[self.column()?]
    }

    /// The greatest error that the tests of this library allow, in units of the last place from the correctly rounded result. `None` for
    /// `f16` and `bf16`, which round the result of `f32`, for the approximate functions, and for those whose absolute error is bounded instead (`jn`, `yn`).
    pub fn ulp(self) -> Option<u32> {
        if self.row.formats == Formats::Single { None } else { self.row.ours[self.column()?] }
    }

    fn column(self) -> Option<usize> {
        [Type::F32, Type::F64].into_iter().position(|ty| ty == self.ty)
    }

    /// The types of its parameters and of its result, if it has one. Second results go where a pointer points.
    pub fn signature(self) -> (Vec<Type>, Option<Type>) {
        let t = self.ty;
        match self.row.build {
            Build::Unary(_) => (vec![t], Some(t)),
            Build::Binary(_) => (vec![t, t], Some(t)),
            Build::Ternary(_) => (vec![t, t, t], Some(t)),
            Build::Quaternary(_) => (vec![t; 4], Some(t)),
            Build::IntWith(_) => (vec![Type::I32, t], Some(t)),
            Build::WithInt(_) => (vec![t, Type::I32], Some(t)),
            Build::ToInt(_) => (vec![t], Some(Type::I32)),
            Build::Second(_) => (vec![t, Type::PTR], Some(t)),
            Build::Both(_) => (vec![t, Type::PTR, Type::PTR], None),
        }
    }

    /// The function's declaration.
    pub fn declaration(self) -> Body {
        let (params, ret) = self.signature();
        let params = params.into_iter().map(Param::new).collect();
        let mut body = Body::new(self.symbol(), FuncKind::Func, params, ret.into_iter().collect());
        body.linkage = Linkage::Extern;
        body
    }

    /// Writes the body behind a declaration; true if it reads the table of 2/pi.
    fn build(self, mut declaration: Body, two_over_pi: GlobalId) -> (Body, bool) {
        declaration.linkage = Linkage::Local;
        let e = E::new(declaration, two_over_pi);
        // The format that is computed in.
        let compute = match (self.row.formats, self.ty) {
            (Formats::Wide, _) | (_, Type::F64) => Type::F64,
            (Formats::Each | Formats::Single, _) => Type::F32,
        };
        let p = |n: usize| e.param(n).convert(compute);
        let out = |v: V<'_>| e.ret(v.convert(self.ty));
        let put = |n: usize, v: V<'_>| {
            e.param(n).store(if v.ty().is_float() { v.convert(self.ty) } else { v });
        };
        match self.row.build {
            Build::Unary(f) => out(f(p(0))),
            Build::Binary(f) => out(f(p(0), p(1))),
            Build::Ternary(f) => out(f(p(0), p(1), p(2))),
            Build::Quaternary(f) => out(f([p(0), p(1), p(2), p(3)])),
            Build::IntWith(f) => out(f(e.param(0), p(1))),
            Build::WithInt(f) => out(f(p(0), e.param(1))),
            Build::ToInt(f) => e.ret(f(p(0))),
            Build::Second(f) => {
                let [first, second] = f(p(0));
                put(1, second);
                out(first);
            }
            Build::Both(f) => {
                let [first, second] = f(p(0));
                put(1, first);
                put(2, second);
                e.ret_nothing();
            }
        }
        e.finish()
    }
}

/// Declares a function of the library in a module, or finds its declaration.
///
/// ```
/// use warpsmith_ir::{Module, Type};
/// let mut module = Module::new();
/// let sin = warpsmith_math::Function::new("sin", Type::F32).unwrap();
/// let id = warpsmith_math::declare(&mut module, sin);
/// assert_eq!(module.functions[id].name, "ws_sin_f32");
/// assert_eq!(warpsmith_math::declare(&mut module, sin), id);
/// ```
pub fn declare(module: &mut Module, function: Function) -> FuncId {
    match module.function(&function.symbol()) {
        Some(id) => id,
        None => module.add_function(function.declaration()),
    }
}

/// The module with bodies for the functions of the library that it declares. Errors as of [`define`].
pub fn complete(mut module: Cow<'_, Module>) -> Result<Cow<'_, Module>, Diagnostics> {
    if !is_complete(&module) {
        define(module.to_mut())?;
    }
    Ok(module)
}

/// Whether a module has bodies for all functions of the library that it declares.
pub fn is_complete(module: &Module) -> bool {
    let wanted = |f: &warpsmith_ir::Function| f.is_declaration() && Function::from_symbol(&f.name).is_some();
    !module.functions.values().any(wanted)
}

/// Gives bodies to the functions of the library that a module declares. The error names declarations whose types are not those of the function.
pub fn define(module: &mut Module) -> Result<(), Diagnostics> {
    let mut errors = Vec::new();
    let wanted: Vec<(FuncId, Function)> = (module.functions.iter())
        .filter(|(_, f)| f.is_declaration())
        .filter_map(|(id, f)| Some((id, Function::from_symbol(&f.name)?)))
        .collect();
    for (id, function) in wanted {
        let declared = &module.functions[id];
        let (params, ret) = function.signature();
        let same = declared.params.iter().map(|p| (p.ty, p.byval)).eq(params.iter().map(|ty| (*ty, None)))
            && declared.ret.iter().eq(ret.iter());
        if !same {
            let list: Vec<String> = params.iter().map(Type::to_string).collect();
            let ret = ret.map_or(String::new(), |ty| format!(" -> {ty}"));
            errors.push(
                Diagnostic::error(
                    codes::DECLARATION,
                    declared.span,
                    format!("`@{}` is declared with other types than the math library's", declared.name),
                )
                .note(format!("it is `@{}({}){ret}`", declared.name, list.join(", "))),
            );
            continue;
        }
        let table = match module.symbol(TWO_OVER_PI) {
            Some(warpsmith_ir::Symbol::Global(table)) => table,
            _ => GlobalId::new(module.globals.len()),
        };
        let (body, reads_table) = function.build(module.functions[id].clone(), table);
        module.functions[id] = body;
        if reads_table && table.index() == module.globals.len() {
            module.add_global(two_over_pi());
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(module.diagnostics(errors)) }
}

fn two_over_pi() -> Global {
    let words = coefficients::TWO_OVER_PI;
    let extent = Extent::Array(words.len() as u64);
    let init = Some(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    Global { init, ..Global::new(TWO_OVER_PI, StateSpace::Const, Type::I64, extent) }
}
