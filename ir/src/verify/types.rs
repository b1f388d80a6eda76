//! Structs and arrays.

use super::Verifier;
use crate::aggregate::{MAX_DEPTH, MAX_VALUE_BYTES, MAX_VALUE_PARTS, Shape};
use crate::entities::{Inst, Value};
use crate::module::Module;
use crate::types::Type;
use warpsmith_diag::Diagnostic;

/// The code of what is wrong with a type itself.
pub(super) const BROKEN: &str = "I0303";

/// The entries of the table of types.
pub(super) fn table(module: &Module, errors: &mut Vec<Diagnostic>) {
    for (ty, entry) in module.types.iter() {
        let name = module.types.display(ty);
        let mut error = |message: String, note: &str| {
            errors.push(Diagnostic::error(BROKEN, entry.span, message).note(note.to_owned()));
        };
        for &held in entry.holds() {
            let broken = "a type holds types that were made before it; `ptr` points to one that is not";
            if held.is_invalid() {
                error(
                    format!("a field of {name} has no type"),
                    "fields are scalars, vectors, structs and arrays",
                );
            } else if held.as_aggregate().is_some_and(|held| Some(held) >= ty.as_aggregate()) {
                error(format!("{name} holds {held}, which is itself or made after it"), broken);
            }
        }
        if let Shape::Struct { align: Some(align), .. } = entry.shape
            && !align.is_power_of_two()
        {
            let note = format!("the next one is {}", align.checked_next_power_of_two().unwrap_or(1 << 31));
            error(format!("the alignment {align} of {name} is not a power of two"), &note);
        }
        if entry.size() > i64::MAX as u64 {
            error(format!("{name} is larger than any memory"), "a type takes less than 2^63 bytes");
        }
        if module.types.depth(ty) > MAX_DEPTH {
            let note = format!("structs and arrays hold each other at most {MAX_DEPTH} deep");
            error(format!("{name} is nested {} deep", module.types.depth(ty)), &note);
        }
    }
}

impl Verifier<'_> {
    /// True if a value of this type is too large to be one.
    pub(super) fn too_large(&self, ty: Type) -> bool {
        let types = &self.module.types;
        ty.is_aggregate() && (types.parts(ty) > MAX_VALUE_PARTS || types.size(ty) > MAX_VALUE_BYTES)
    }

    /// A struct or array as a parameter or result.
    pub(super) fn passed_aggregate(&mut self, what: &str, ty: Type) {
        let types = &self.module.types;
        let name = types.display(ty).to_string();
        if types.get(ty).is_none() {
            let message = format!("{what} is of type {name}, which the module does not have");
            self.error("I0424", message).notes.push("a struct or array is of the module that made it".into());
        } else if self.too_large(ty) {
            let message = format!(
                "{what} is of type {name}, which has {} parts and {} bytes",
                types.parts(ty),
                types.size(ty)
            );
            let note = format!(
                "a value has at most {MAX_VALUE_PARTS} parts and {MAX_VALUE_BYTES} bytes: pass a pointer, or `byval({}, align {})`",
                types.size(ty),
                types.align(ty)
            );
            self.error("I0318", message).notes.push(note);
        } else if types.size(ty) == 0 {
            let note = "leave it out; an empty struct of C++ has one byte, `{i8}`";
            self.error("I0321", format!("{what} is of type {name}, which has no bytes"))
                .notes
                .push(note.into());
        }
    }

    /// The results of an instruction, which must not be too large for a value.
    pub(super) fn value_sizes(&mut self, inst: Inst) {
        let func = self.func;
        let large = |value: &Value| self.too_large(func.dfg.ty(*value));
        let Some(value) = func.dfg.results(inst).into_iter().find(large) else { return };
        let ty = func.dfg.ty(value);
        let types = &self.module.types;
        let message = format!(
            "{} is of type {}, which has {} parts and {} bytes",
            self.name(value),
            types.display(ty),
            types.parts(ty),
            types.size(ty)
        );
        let note = format!(
            "a value has at most {MAX_VALUE_PARTS} parts and {MAX_VALUE_BYTES} bytes; `memcpy` moves {} bytes of memory",
            types.size(ty)
        );
        self.inst_error(inst, "I0318", message).notes.push(note);
    }
}
