//! Types as C writes them: what a value is declared as.

use super::{Qualifier, Signature, Type};
use std::borrow::Cow;
use warpsmith_isa::StateSpace;

/// Parts of a type that are written at most; what is behind them is `...`.
const MOST_PARTS: usize = 256;

/// A type, as what is written of it and around what.
pub(crate) trait Declared: Sized {
    fn layer(&self) -> Layer<'_, Self>;
}

/// The outermost part of a type.
pub(crate) enum Layer<'a, T> {
    /// A type with a name.
    Name(Cow<'a, str>),
    /// `*`, `&` or `&&` of something in a space; `None` for `void`.
    Pointer(&'static str, StateSpace, Option<&'a T>),
    Array(&'a T, u64),
    Qualified(Qualifier, &'a T),
    Function(&'a Signature),
}

/// `@shared float (*p)[4]`: a name, or none, as a value of a type. Spaces that are not generic stand in front, as in the debugger's casts.
pub(crate) fn declaration<T: Declared>(ty: &T, name: &str) -> String {
    let mut left = MOST_PARTS;
    write(ty, name.to_owned(), &mut left)
}

fn write<T: Declared>(ty: &T, mut declarator: String, left: &mut usize) -> String {
    let (mut ty, mut front) = (ty, String::new());
    let end = |front: String, base: &str, declarator: &str| match declarator {
        "" => front + base,
        declarator => format!("{front}{base} {declarator}"),
    };
    loop {
        if *left == 0 {
            return end(front, "...", &declarator);
        }
        *left -= 1;
        match ty.layer() {
            Layer::Name(base) => return end(front, &base, &declarator),
            Layer::Pointer(mark, space, to) => {
                if space != StateSpace::Generic {
                    front = format!("{front}@{} ", space.name());
                }
                declarator.insert_str(0, mark);
                let Some(to) = to else { return end(front, "void", &declarator) };
                if matches!(to.layer(), Layer::Array(..) | Layer::Function(_)) {
                    declarator = format!("({declarator})");
                }
                ty = to;
            }
            Layer::Array(of, count) => {
                declarator += &format!("[{count}]");
                ty = of;
            }
            Layer::Qualified(qualifier, of) => {
                match of.layer() {
                    Layer::Pointer(..) if declarator.is_empty() => {
                        declarator = format!(" {}", qualifier.name())
                    }
                    Layer::Pointer(..) => {
                        declarator = format!(" {} {}", qualifier.name(), declarator.trim_start())
                    }
                    Layer::Name(_) | Layer::Array(..) | Layer::Qualified(..) | Layer::Function(_) => {
                        front = format!("{front}{} ", qualifier.name());
                    }
                }
                ty = of;
            }
            Layer::Function(signature) => {
                declarator += &parameters(signature, left);
                return match &signature.result {
                    Some(result) => front + &write(result, declarator, left),
                    None => end(front, "void", &declarator),
                };
            }
        }
    }
}

/// `(int, float *)`
fn parameters(signature: &Signature, left: &mut usize) -> String {
    let mut text = String::from("(");
    for (i, parameter) in signature.parameters.iter().enumerate() {
        text += if i > 0 { ", " } else { "" };
        if *left == 0 {
            text += "...";
            break;
        }
        text += &write(parameter, String::new(), left);
    }
    if signature.parameters.is_empty() {
        text += "void";
    }
    text + ")"
}

impl Declared for Type {
    fn layer(&self) -> Layer<'_, Type> {
        let unknown = || Layer::Name(Cow::Borrowed("?"));
        match self {
            Type::Base(name, ..) | Type::Typedef(name, _) => Layer::Name(Cow::Borrowed(name)),
            Type::Pointer(space, to) => Layer::Pointer("*", *space, to.as_deref()),
            Type::Reference(binds, space, to) => Layer::Pointer(binds.mark(), *space, Some(to)),
            Type::Composite(of) => Layer::Name(Cow::Borrowed(&of.name)),
            Type::Around(of) => {
                of.composite().map_or_else(unknown, |of| Layer::Name(Cow::Owned(of.name.clone())))
            }
            Type::Array(of, count) => Layer::Array(of, *count),
            Type::Enum(name, ..) => Layer::Name(Cow::Owned(format!("enum {name}"))),
            Type::Function(signature) => Layer::Function(signature),
            Type::Qualified(qualifier, of) => Layer::Qualified(*qualifier, of),
            Type::Unknown => unknown(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dwarf::Binds;
    use std::sync::Arc;

    #[test]
    fn declarations_are_those_of_c() {
        let float = || Type::Base("float".into(), 4, 4);
        let pointer = |to| Type::Pointer(StateSpace::Generic, Some(Box::new(to)));
        let constant = |of| Type::Qualified(Qualifier::Const, Box::new(of));
        let function = |result, parameters| Type::Function(Arc::new(Signature { result, parameters }));
        let array = |of, count| Type::Array(Box::new(of), count);
        let shared = |to| Type::Pointer(StateSpace::Shared, Some(Box::new(to)));
        for (ty, expected) in [
            (float(), "float x"),
            (pointer(pointer(float())), "float **x"),
            (pointer(constant(float())), "const float *x"),
            (constant(pointer(float())), "float * const x"),
            (Type::Qualified(Qualifier::Volatile, Box::new(constant(float()))), "volatile const float x"),
            (array(array(float(), 3), 2), "float x[2][3]"),
            (pointer(array(float(), 3)), "float (*x)[3]"),
            (array(pointer(float()), 3), "float *x[3]"),
            (shared(float()), "@shared float *x"),
            (Type::Reference(Binds::Lvalue, StateSpace::Generic, Box::new(float())), "float &x"),
            (Type::Reference(Binds::Rvalue, StateSpace::Generic, Box::new(float())), "float &&x"),
            (function(None, Vec::new()), "void x(void)"),
            (pointer(function(Some(float()), vec![float(), pointer(float())])), "float (*x)(float, float *)"),
            (
                pointer(function(Some(pointer(function(None, Vec::new()))), vec![])),
                "void (*(*x)(void))(void)",
            ),
            (Type::Typedef("real".into(), Box::new(float())), "real x"),
        ] {
            assert_eq!(declaration(&ty, "x"), expected);
        }
        // Each takes two of the one before: as many as 2 to the power of 64, if all were written.
        let mut ty = float();
        for _ in 0..64 {
            ty = pointer(function(None, vec![ty.clone(), ty]));
        }
        assert!(declaration(&ty, "").len() < 64 * MOST_PARTS);
    }
}
