//! C's mathematics (C17, 7.12) by the names that C has for it: calls of the math library.

use super::maker::Maker;
use super::{Gives, is_declared_as};
use warpsmith_ir::{self as ir, InstBuilder, Type};
use warpsmith_math::Function;

/// C's functions that the math library has under the same name, of `double`; with an `f` behind they are of `float`.
pub(super) const NAMES: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "modf",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "rsqrt",
    "scalbn",
    "sin",
    "sincos",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
    "yn",
];

/// A function of C and what it is.
#[derive(Clone, Copy)]
pub(in crate::import) struct Wrapper {
    function: Function,
    /// The result is rounded to an integer of 64 bits.
    to_integer: bool,
}

/// The function that a declaration means.
pub(super) fn find(function: &ir::Function, types: &ir::TypeTable) -> Option<Wrapper> {
    let name = function.name.as_str();
    of_format(name, Type::F64, function, types)
        .or_else(|| of_format(name.strip_suffix('f')?, Type::F32, function, types))
}

fn of_format(name: &str, ty: Type, declared: &ir::Function, types: &ir::TypeTable) -> Option<Wrapper> {
    let (name, to_integer) = match name {
        "lrint" | "llrint" => ("rint", true),
        "lround" | "llround" => ("round", true),
        "nearbyint" | "roundeven" => ("rint", false),
        name => (name, false),
    };
    NAMES.binary_search(&name).ok()?;
    let function = Function::new(name, ty)?;
    let (params, ret) = function.signature();
    let gives = match ret {
        Some(_) if to_integer => Gives::One(Type::I64),
        Some(ty) => Gives::One(ty),
        None => Gives::Nothing,
    };
    is_declared_as(declared, types, &params, gives).then_some(Wrapper { function, to_integer })
}

impl Wrapper {
    pub(super) fn build(self, m: &mut Maker<'_, '_>) {
        let params = m.params();
        let mut results: Vec<ir::Value> = m.math(self.function, &params).into_iter().collect();
        if self.to_integer {
            results = results.into_iter().map(|x| m.b.ins().fptosi(Type::I64, x)).collect();
        }
        m.ret(&results);
    }
}
