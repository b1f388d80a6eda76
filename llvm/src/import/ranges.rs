//! Ranges of integers, `!range` and the attribute `range`: an `assume` behind the value, where it says that upper bits are zero.

use super::function::Builder;
use crate::module::body::{Body, Inst, InstKind};
use crate::module::constants::ConstantKind;
use crate::module::metadata::Metadata;
use crate::module::{GlobalValue, Module, ValueId};
use warpsmith_base::FxHashMap;
use warpsmith_ir::{InstBuilder, IntCC, Value};

/// From the first number up to the second, which is not in it.
pub(super) type Range = [i64; 2];

/// The ranges that are attached to instructions, by instruction: those of one piece.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a number is none")]
pub(super) fn attached(module: &Module<'_>, body: &Body) -> FxHashMap<u32, Range> {
    let metadata = |number: u64| {
        let number = usize::try_from(number).ok()?;
        match number.checked_sub(module.metadata.all.len()) {
            Some(own) => body.metadata.get(own),
            None => module.metadata.all.get(number),
        }
    };
    let bound = |field: u64| match metadata(field.checked_sub(1)?)? {
        Metadata::Value(_, value) => match super::space::find_constant(module, Some(body), *value)?.kind {
            ConstantKind::Integer(number) => Some(number),
            ConstantKind::Null => Some(0),
            _ => None,
        },
        Metadata::String(_) | Metadata::Tuple(_) | Metadata::Node(..) => None,
    };
    let range = |node: u64| match metadata(node)? {
        Metadata::Tuple(fields) => match *fields.as_slice() {
            [low, high] => Some([bound(low)?, bound(high)?]),
            _ => None,
        },
        Metadata::String(_) | Metadata::Value(..) | Metadata::Node(..) => None,
    };
    body.attached("range", module).filter_map(|(inst, node)| Some((inst, range(node)?))).collect()
}

impl Builder<'_, '_, '_> {
    /// Says of an instruction's value what is attached to it. Of intrinsics the passes know it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only calls have ranges")]
    pub(super) fn hint_range(&mut self, n: u32, inst: &Inst) {
        let called = match &inst.kind {
            InstKind::Call(call) => match self.module().global_value(call.callee) {
                Some(GlobalValue::Function(f)) if self.module().functions[f].name.starts_with("llvm.") => {
                    return;
                }
                _ => self.module().attributes.set(call.attributes).range(0),
            },
            _ => None,
        };
        if let Some((range, value)) = self.ranges.get(&n).copied().or(called).zip(inst.value) {
            self.within(value, range);
        }
    }

    /// Says of a value that it is in a range.
    pub(super) fn within(&mut self, value: ValueId, [low, high]: Range) {
        let Ok(&[value]) = self.value(value).as_deref() else { return };
        let ty = self.type_of(value);
        // A bound below zero says nothing of the bits, and neither does half of all numbers.
        let says = ty.is_int() && (8..=64).contains(&ty.bits()) && low >= 0 && high > low;
        if !says || ty.bits() - (high - 1).checked_ilog2().map_or(0, |bit| bit + 1) == 0 {
            return;
        }
        self.assume_below(value, high);
    }

    fn assume_below(&mut self, value: Value, high: i64) {
        let ty = self.type_of(value);
        let high = self.b.ins().iconst(ty, high);
        let below = self.b.ins().icmp(IntCC::Ult, value, high);
        self.b.ins().assume(below);
    }
}
