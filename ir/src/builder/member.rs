//! Members of C's structs and unions in memory, bit fields among them.

use super::FunctionBuilder;
use crate::c_layout::{BitPlace, Place};
use crate::entities::Value;
use crate::ins::InstBuilder;
use crate::inst::MemFlags;
use crate::types::Type;

impl FunctionBuilder<'_> {
    /// Reads a member of the record at an address, as a value of its declared type. `flags` are of the access; what they promise of the
    /// alignment is promised of the member.
    pub fn load_member(&mut self, flags: MemFlags, record: Value, member: &Place) -> Value {
        let Some(bits) = member.bits else {
            return self.ins().load(member.ty, flags, record, offset(member));
        };
        if bits.width == 0 {
            return self.ins().iconst(member.ty, 0);
        }
        let flags = unit_flags(flags, &bits, member);
        let unit = self.ins().load(bits.unit, flags, record, offset(member));
        let (low, width) = self.range(&bits);
        let value = match bits.signed {
            true => self.ins().sbfx(unit, low, width),
            false => self.ins().ubfx(unit, low, width),
        };
        self.resized(value, member.ty, bits.signed)
    }

    /// Writes a value of its declared type to a member of the record at an address. Of a bit field the bits beside it are read and written back.
    pub fn store_member(&mut self, flags: MemFlags, value: Value, record: Value, member: &Place) {
        let Some(bits) = member.bits else {
            self.ins().store(flags, value, record, offset(member));
            return;
        };
        if bits.width == 0 {
            return;
        }
        let flags = unit_flags(flags, &bits, member);
        let unit = self.ins().load(bits.unit, flags, record, offset(member));
        let value = self.resized(value, bits.unit, false);
        let (low, width) = self.range(&bits);
        let unit = self.ins().bfi(unit, value, low, width);
        self.ins().store(flags, unit, record, offset(member));
    }

    fn range(&mut self, bits: &BitPlace) -> (Value, Value) {
        let low = self.ins().iconst(Type::I32, bits.low.into());
        (low, self.ins().iconst(Type::I32, bits.width.into()))
    }

    fn resized(&mut self, value: Value, to: Type, signed: bool) -> Value {
        let from = self.func().dfg.ty(value).bits();
        match from.cmp(&to.bits()) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.ins().trunc(to, value),
            std::cmp::Ordering::Less if signed => self.ins().sext(to, value),
            std::cmp::Ordering::Less => self.ins().zext(to, value),
        }
    }
}

/// The offset of the access. What lies beyond is not an address, which the verifier or the run says.
fn offset(member: &Place) -> i32 {
    i32::try_from(member.offset()).unwrap_or(i32::MAX)
}

/// In a packed record the bytes of a bit field lie anywhere.
fn unit_flags(mut flags: MemFlags, bits: &BitPlace, member: &Place) -> MemFlags {
    flags.invariant = false;
    let natural = bits.unit == member.ty && bits.offset.is_multiple_of(u64::from(bits.unit.bits() / 8));
    if natural { flags } else { flags.with_align(1).unwrap_or(flags) }
}
