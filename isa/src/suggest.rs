//! "Did you mean" for types: the type behind a name that is none, and the integer type of a width.

use crate::{ScalarType, TypeClass};
use warpsmith_diag::nearest;

/// The type that someone meant by a name that is none: `i32`, `float`, `u23`.
pub fn type_name(wrong: &str) -> Option<ScalarType> {
    let lower = wrong.to_ascii_lowercase();
    let foreign = crate::spelling::foreign_modifier(&lower);
    foreign
        .or_else(|| nearest(&lower, ScalarType::ALL.iter().map(|ty| ty.name())))
        .and_then(ScalarType::from_name)
}

/// The integer type of a width.
pub(crate) fn integer(bits: u32, signed: bool) -> Option<ScalarType> {
    let fits = |ty: &&ScalarType| ty.bits() == bits && ty.is_signed() == signed && ty.is_integer();
    ScalarType::ALL
        .iter()
        .filter(|ty| matches!(ty.class(), TypeClass::Signed | TypeClass::Unsigned))
        .find(fits)
        .copied()
}
