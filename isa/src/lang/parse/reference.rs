//! What a form may refer to: its slots, and the words of operands.

use crate::ScalarType;
use crate::lang::cursor::{Cursor, Result};
use crate::lang::model::*;

/// True when every alternative is a scalar type.
pub fn is_type_slot(slot: &Slot) -> bool {
    slot.alternatives.iter().all(|a| ScalarType::from_name(&a.modifier).is_some())
}

/// True when every alternative is a matrix shape such as `.m16n8k16`.
pub fn is_shape_slot(slot: &Slot) -> bool {
    slot.alternatives.iter().all(|a| shape_of(&a.modifier).is_some())
}

/// The sides of a matrix shape: M, N and K, which is 0 where it is not named.
pub fn shape_of(modifier: &str) -> Option<[u16; 3]> {
    let (m, rest) = modifier.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k').unwrap_or((rest, "0"));
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// Operands may name only slots that the form has, and may lean on "the" type only where there is one.
pub(super) fn check_references(form: &Form, c: &Cursor) -> Result<()> {
    let has = |name: &str| form.slots.iter().any(|slot| slot.name == name);
    let types = form.slots.iter().filter(|slot| is_type_slot(slot)).count();
    let value = |value: &Value| {
        match &value.ty {
            Ty::Slot { slot, .. } if !has(slot) => {
                return c.error(format!("unknown slot `.{slot}` for an operand's type"));
            }
            Ty::Instruction if types != 1 => {
                return c.error(format!("an operand without type in a form of {types} type slots"));
            }
            Ty::Instruction | Ty::Fixed(_) | Ty::Slot { .. } => {}
        }
        match &value.count {
            Count::Fragment { .. } if !form.slots.iter().any(is_shape_slot) => {
                return c.error("a fragment in a form without a matrix shape");
            }
            Count::Fragment { ty: Ty::Slot { slot, .. }, .. } if !has(slot) => {
                return c.error(format!("unknown slot `.{slot}` for a fragment's elements"));
            }
            Count::Scalar
            | Count::Fixed(_)
            | Count::OneOf(_)
            | Count::Slot { .. }
            | Count::Fragment { .. } => {}
        }
        match value.flags.iter().find(|(_, f)| !FLAGS.contains(&f.as_str())) {
            Some((_, flag)) => c.error(format!("unknown flag `{flag}`")),
            None => Ok(()),
        }
    };
    fn walk(operands: &[Operand], value: &impl Fn(&Value) -> Result<()>) -> Result<()> {
        operands.iter().try_for_each(|operand| match &operand.shape {
            Shape::Value(v) => value(v),
            Shape::Pair { first, second, .. } => value(first).and_then(|()| value(second)),
            Shape::Bracket(inner) | Shape::Tuple(inner) => walk(inner, value),
            Shape::Address(_)
            | Shape::Label
            | Shape::Callee
            | Shape::Arguments
            | Shape::Results
            | Shape::List => Ok(()),
        })
    }
    walk(&form.operands, &value)
}

/// The words that may follow `+` on an address.
pub const ADDRESS_FLAGS: &[&str] = &["bare", "wide", "word", "index", "any", "far", "still", "cta", "reg"];

/// The words that may follow `+` and `-` on a value.
const FLAGS: &[&str] = &[
    "imm", "reg", "sink", "sreg", "var", "func", "neg", "not", "part", "sinks", "lanes2", "mask2", "lanes4",
    "mask4", "wrap", "braces", "vector", "sloppy", "lone", "spelt", "alone", "specials", "sums", "array",
    "inout",
];
