//! The digest of a thread: what nothing looks at is not computed by who optimises, so that a fault in it would not show.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, MemFlags, Type, Value};

/// Where it is written, behind what else a thread writes.
const PLACE: i32 = 240;

/// How many results of one idiom are needed.
const KEPT: usize = 4;

impl Generator<'_, '_, '_> {
    /// Adds to the digest some of the values that the block has computed, all behind position `known`.
    pub(super) fn show_some(&mut self, known: usize) -> Result<()> {
        let new: Vec<Value> = self.values.get(known..).unwrap_or_default().to_vec();
        for value in new {
            if self.flavour.shown > 0 && self.u.ratio(self.flavour.shown, 16)? {
                self.show(value);
            }
        }
        Ok(())
    }

    /// Makes sure that the last values behind position `known` are needed, whatever the module shows of others.
    pub(super) fn keep(&mut self, known: usize) -> Result<()> {
        let new = self.values.get(known..).unwrap_or_default();
        let new: Vec<Value> = new.iter().rev().take(KEPT).copied().collect();
        for value in new {
            match self.digest {
                Some(_) => self.show(value),
                None if self.b.func().dfg.ty(value).bits() <= 128 => {
                    let place = self.u.int_in_range(8..=14)?;
                    self.write_own(value, 16 * place)?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Adds all parts of a value to the digest.
    pub(super) fn show(&mut self, value: Value) {
        let Some(digest) = self.digest else { return };
        for part in self.leaves(value) {
            let part = self.settled(part);
            let ty = self.b.func().dfg.ty(part);
            let Some(int) = Type::int(ty.bits()).filter(|_| !ty.is_ptr()) else { continue };
            let bits = if ty == int { part } else { self.b.ins().bitcast(int, part) };
            let bits = match int.bits() {
                64 => bits,
                0..64 => self.b.ins().zext(Type::I64, bits),
                _ => {
                    let high = self.b.ins().lshr_imm(bits, int.bits() - 64);
                    let mixed = self.b.ins().bxor(bits, high);
                    self.b.ins().trunc(Type::I64, mixed)
                }
            };
            let old = self.b.use_var(digest);
            let five = self.b.ins().iconst(Type::I32, 5);
            let moved = self.b.ins().rotl(old, five);
            let new = self.b.ins().iadd(moved, bits);
            self.b.def_var(digest, new);
        }
    }

    pub(super) fn write_digest(&mut self) {
        if let (Some(digest), Some(pointers)) = (self.digest, self.pointers) {
            let value = self.b.use_var(digest);
            self.b.ins().store(MemFlags::PLAIN, value, pointers.own, PLACE);
        }
    }
}
