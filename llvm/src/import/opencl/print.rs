//! `printf` with vectors (OpenCL C specification, 6.15.14.2): CUDA's takes no vectors, so that `%v4f` becomes `%f,%f,%f,%f` and the vector its elements.

use super::missing;
use crate::error::Result;
use crate::import::function::Builder;
use crate::module::body::{Call, Inst};
use warpsmith_ir::{self as ir, InstBuilder, MemFlags, Type, Value};

/// What a conversion takes of the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Takes {
    /// An argument as it is: also a width or a precision, `*`.
    One,
    /// A vector of so many elements, of signed integers or of others.
    Vector { lanes: usize, signed: bool },
}

/// A format without vectors, and what its conversions take; `None` where it has no vectors, or more in it than is known here.
fn without_vectors(format: &str) -> Option<(String, Vec<Takes>)> {
    let (mut out, mut takes, mut has_vectors) = (String::new(), Vec::new(), false);
    let mut rest = format;
    while let Some((text, conversion)) = rest.split_once('%') {
        out.push_str(text);
        if let Some(after) = conversion.strip_prefix('%') {
            out.push_str("%%");
            rest = after;
            continue;
        }
        let is_flag = |c: char| "-+ #0123456789.*".contains(c);
        let flags = conversion.len() - conversion.trim_start_matches(is_flag).len();
        let (flags, after) = conversion.split_at(flags);
        takes.extend(flags.chars().filter(|c| *c == '*').map(|_| Takes::One));
        let (lanes, after) = match after.strip_prefix('v') {
            Some(after) => {
                let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let (lanes, after) = after.split_at(digits);
                let lanes = lanes.parse().ok().filter(|lanes| [2, 3, 4, 8, 16].contains(lanes))?;
                (Some(lanes), after)
            }
            None => (None, after),
        };
        let length = after.len() - after.trim_start_matches(['h', 'l']).len();
        let (length, after) = after.split_at(length);
        let mut letters = after.chars();
        let letter = letters.next().filter(|letter| "diouxXaAeEfFgGcsp".contains(*letter))?;
        rest = letters.as_str();
        match lanes {
            None => {
                out.extend(["%", flags, length]);
                out.push(letter);
                takes.push(Takes::One);
            }
            Some(lanes) => {
                has_vectors = true;
                // A width that is an argument would be one of each element, and texts have no vectors.
                if flags.contains('*') || "csp".contains(letter) {
                    return None;
                }
                // Elements are passed in words, in two where they have 64 bits.
                let length = if length == "l" && !"aAeEfFgG".contains(letter) { "l" } else { "" };
                let element = format!("%{flags}{length}{letter}");
                out.push_str(&vec![element; lanes].join(","));
                takes.push(Takes::Vector { lanes, signed: "di".contains(letter) });
            }
        }
    }
    out.push_str(rest);
    has_vectors.then_some((out, takes))
}

impl Builder<'_, '_, '_> {
    /// The call of `printf`, if its format is known and has vectors in it; false if it is a call like others.
    pub(super) fn print_vectors(&mut self, inst: &Inst, call: &Call) -> Result<bool> {
        let [format, arguments @ ..] = self.body.args(call) else { return Ok(false) };
        let Some(format) = self.text(*format) else { return Ok(false) };
        let Some((format, takes)) = without_vectors(format.trim_end_matches('\0')) else { return Ok(false) };
        let arguments = arguments.to_vec();
        let mut words: Vec<Value> = Vec::new();
        for (n, argument) in arguments.into_iter().enumerate() {
            let values = self.value(argument)?;
            // What no conversion takes is passed all the same.
            let takes = takes.get(n).copied().unwrap_or(Takes::One);
            let signed = match takes {
                Takes::One if values.len() == 1 => true,
                Takes::Vector { lanes, signed } if values.len() == lanes => signed,
                Takes::One | Takes::Vector { .. } => return Err(missing()),
            };
            for value in values {
                words.push(self.promoted(value, signed)?);
            }
        }
        let mut places = Vec::new();
        let mut size = 0u32;
        for word in &words {
            let bytes = self.type_of(*word).bytes().ok_or_else(missing)?;
            size = size.next_multiple_of(bytes);
            places.push(size);
            size += bytes;
        }
        let slot = self.b.create_stack_slot(size.max(1), 8);
        for (word, at) in words.into_iter().zip(places) {
            let address = self.b.ins().stack_addr(slot, at as i32);
            self.b.ins().store(MemFlags::PLAIN, word, address, 0);
        }
        let address = self.b.ins().stack_addr(slot, 0);
        let address = self.generic(address);
        let format = self.b.string(&format);
        let id = match self.importer.symbols.seen("vprintf") {
            Some(site) => self.function_at(site)?,
            None => {
                let params = vec![ir::Param::new(Type::PTR); 2];
                let mut print = ir::Function::new("vprintf", ir::FuncKind::Func, params, vec![Type::I32]);
                print.linkage = ir::Linkage::Extern;
                self.b.declare_function(print)
            }
        };
        let count = self.b.call(id, &[format, address]).first();
        self.result(inst, &[count])?;
        Ok(true)
    }

    /// An argument as functions with any number of them are given it.
    fn promoted(&mut self, value: Value, signed: bool) -> Result<Value> {
        let ty = self.type_of(value);
        Ok(if ty.is_ptr() {
            self.generic(value)
        } else if ty.is_float() {
            if ty == Type::F64 { value } else { self.b.ins().fpext(Type::F64, value) }
        } else if ty.is_int() && ty.bits() <= 64 {
            let wide = if ty.bits() <= 32 { Type::I32 } else { Type::I64 };
            if signed { self.resize_signed(value, wide) } else { self.resize(value, wide) }
        } else {
            return Err(missing());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Takes, without_vectors};

    #[test]
    fn formats() {
        let vector = |lanes, signed| Takes::Vector { lanes, signed };
        let is = |format, out: &str, takes| {
            assert_eq!(without_vectors(format), Some((out.to_owned(), takes)), "{format}");
        };
        is("%v4f", "%f,%f,%f,%f", vec![vector(4, false)]);
        is("a%%%d %v2hhd|%s", "a%%%d %d,%d|%s", vec![Takes::One, vector(2, true), Takes::One]);
        is("%*d%-5.2v3hlx\n", "%*d%-5.2x,%-5.2x,%-5.2x\n", vec![Takes::One, Takes::One, vector(3, false)]);
        is("%v2lu %v2lf", "%lu,%lu %f,%f", vec![vector(2, false), vector(2, false)]);
        for format in ["", "%d", "100%", "%v5d", "%v", "%*v2d", "%%v4f", "%v4.1f", "%v2s"] {
            assert_eq!(without_vectors(format), None, "{format}");
        }
    }
}
