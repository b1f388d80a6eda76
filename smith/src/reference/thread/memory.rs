//! What a thread does with memory.

use super::{Place, Thread, unknown};
use crate::reference::compute::{low, signed};
use crate::reference::load::{Inst, Op};
use crate::reference::memory::{View, number};
use crate::reference::{Stop, bits_of};
use warpsmith_isa::{Mnemonic, Mod, Opcode, ScalarType, StateSpace};

/// The space, the type and the number of elements of an access, if it is a known one.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a type is not described here")]
pub(in crate::reference) fn access(mnemonic: &Mnemonic) -> Option<(StateSpace, ScalarType, usize)> {
    let mut space = StateSpace::Generic;
    let (mut ty, mut count) = (None, 1);
    for m in mnemonic.mods() {
        match m {
            Mod::Global => space = StateSpace::Global,
            Mod::Shared | Mod::SharedCta => space = StateSpace::Shared,
            Mod::Local => space = StateSpace::Local,
            Mod::Const => space = StateSpace::Const,
            Mod::Param => space = StateSpace::Param,
            Mod::V2 => count = 2,
            Mod::V4 => count = 4,
            Mod::V8 => count = 8,
            // These say when others see it, or what caches do: nothing to one thread at a time.
            Mod::Weak
            | Mod::Volatile
            | Mod::Relaxed
            | Mod::Acquire
            | Mod::Release
            | Mod::AcqRel
            | Mod::Mmio => {}
            Mod::Cta
            | Mod::Gpu
            | Mod::Sys
            | Mod::Ca
            | Mod::Cg
            | Mod::Cs
            | Mod::Lu
            | Mod::Cv
            | Mod::Wb
            | Mod::Wt => {}
            Mod::Nc | Mod::L2_64B | Mod::L2_128B | Mod::L2_256B => {}
            Mod::L1EvictNormal
            | Mod::L1EvictUnchanged
            | Mod::L1EvictFirst
            | Mod::L1EvictLast
            | Mod::L1NoAllocate => {}
            Mod::L2EvictLast | Mod::L2EvictNormal | Mod::L2EvictFirst => {}
            Mod::Add
            | Mod::Min
            | Mod::Max
            | Mod::Inc
            | Mod::Dec
            | Mod::And
            | Mod::Or
            | Mod::Xor
            | Mod::Exch
            | Mod::Cas => {}
            m => ty = Some(m.scalar()?),
        }
    }
    let ty = ty?;
    Some((space, ty, count)).filter(|_| ty.bits().is_multiple_of(8))
}

/// True for an atomic operation on integers.
pub(in crate::reference) fn is_known_atomic(mnemonic: &Mnemonic) -> bool {
    access(mnemonic).is_some_and(|(_, ty, count)| {
        count == 1
            && !ty.is_float()
            && (ty.is_integer() || matches!(ty, ScalarType::B16 | ScalarType::B32 | ScalarType::B64))
    })
}

/// What an atomic operation leaves in memory.
fn updated(mnemonic: &Mnemonic, ty: ScalarType, old: u128, args: &[u128]) -> Option<u128> {
    let bits = ty.bits();
    let value = |v: u128| if ty.is_signed() { signed(v, bits) } else { low(v, bits) as i128 };
    let b = low(*args.first()?, bits);
    Some(low(
        match () {
            () if mnemonic.has(Mod::Add) => old.wrapping_add(b),
            () if mnemonic.has(Mod::Min) => value(old).min(value(b)) as u128,
            () if mnemonic.has(Mod::Max) => value(old).max(value(b)) as u128,
            () if mnemonic.has(Mod::Inc) => {
                if old >= b {
                    0
                } else {
                    old + 1
                }
            }
            () if mnemonic.has(Mod::Dec) => {
                if old == 0 || old > b {
                    b
                } else {
                    old - 1
                }
            }
            () if mnemonic.has(Mod::And) => old & b,
            () if mnemonic.has(Mod::Or) => old | b,
            () if mnemonic.has(Mod::Xor) => old ^ b,
            () if mnemonic.has(Mod::Exch) => b,
            () if mnemonic.has(Mod::Cas) => {
                if old == b {
                    low(*args.get(1)?, bits)
                } else {
                    old
                }
            }
            () => return None,
        },
        bits,
    ))
}

impl Thread {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all else is an address, or one register")]
    pub(super) fn load(&mut self, inst: &Inst, memory: &mut View, place: &Place) -> Result<(), Stop> {
        let Some((space, ty, count)) = access(&inst.mnemonic) else { return unknown(inst) };
        let [destination, Op::At(base, offset)] = inst.operands.as_slice() else { return unknown(inst) };
        let size = bits_of(ty) / 8;
        let values = match base.as_ref() {
            Op::Slot(slot) => {
                let slot = &self.frame()?.slots[*slot];
                let bytes = slot.get(*offset as usize..).and_then(|b| b.get(..size * count));
                let Some(bytes) = bytes else { return Err(Stop::Fault("past a parameter".to_owned())) };
                bytes.chunks(size).map(number).collect()
            }
            base => {
                let at = self.address(base, *offset, place)?;
                memory.read(space, at, size, count)?
            }
        };
        let values: Vec<u128> = values
            .into_iter()
            .map(|value| if ty.is_signed() { signed(value, ty.bits()) as u128 } else { value })
            .collect();
        match destination {
            Op::Vector(all) if all.len() == count => {
                all.iter().zip(values).try_for_each(|(op, value)| self.write(op, value))
            }
            op => self.write(op, values[0]),
        }
    }

    /// The sum of an address and a distance. That of a register has as many bits as the register: shared memory has addresses of 32 bits, and a compiler
    /// may subtract in front of the access what the distance adds again.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all else has 64 bits")]
    pub(super) fn address(&mut self, base: &Op, offset: i64, place: &Place) -> Result<u64, Stop> {
        let sum = (self.value(base, ScalarType::U64, place)? as u64).wrapping_add(offset as u64);
        let bits = match base {
            Op::Reg(register) => self.frame()?.widths[*register],
            _ => u64::BITS,
        };
        Ok(low(sum.into(), bits) as u64)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all else is one value")]
    pub(super) fn store(&mut self, inst: &Inst, memory: &mut View, place: &Place) -> Result<(), Stop> {
        let Some((space, ty, count)) = access(&inst.mnemonic) else { return unknown(inst) };
        let [Op::At(base, offset), source] = inst.operands.as_slice() else { return unknown(inst) };
        let size = bits_of(ty) / 8;
        let values = match source {
            Op::Vector(all) if all.len() == count => {
                all.iter().map(|op| self.value(op, ty, place)).collect::<Result<Vec<u128>, Stop>>()?
            }
            op => vec![self.value(op, ty, place)?],
        };
        if let Op::Slot(slot) = base.as_ref() {
            let slot = &mut self.frame()?.slots[*slot];
            let bytes = slot.get_mut(*offset as usize..).and_then(|b| b.get_mut(..size * count));
            let Some(bytes) = bytes else { return Err(Stop::Fault("past a parameter".to_owned())) };
            for (place, value) in bytes.chunks_mut(size).zip(values) {
                place.copy_from_slice(&value.to_le_bytes()[..size]);
            }
            return Ok(());
        }
        let at = self.address(base, *offset, place)?;
        memory.write(space, at, size, &values)
    }

    pub(super) fn atomic(&mut self, inst: &Inst, memory: &mut View, place: &Place) -> Result<(), Stop> {
        let Some((space, ty, _)) = access(&inst.mnemonic).filter(|_| is_known_atomic(&inst.mnemonic)) else {
            return unknown(inst);
        };
        let (destination, rest) = match inst.operands.split_first() {
            Some((first, rest)) if inst.mnemonic.opcode() == Opcode::Atom => (Some(first), rest),
            _ => (None, inst.operands.as_slice()),
        };
        let Some((Op::At(base, offset), sources)) = rest.split_first() else { return unknown(inst) };
        let at = self.address(base, *offset, place)?;
        let size = bits_of(ty) / 8;
        let old = memory.read(space, at, size, 1)?[0];
        let args = sources.iter().map(|op| self.value(op, ty, place)).collect::<Result<Vec<u128>, Stop>>()?;
        let Some(new) = updated(&inst.mnemonic, ty, old, &args) else { return unknown(inst) };
        memory.write(space, at, size, &[new])?;
        match destination {
            Some(op) => self.write(op, old),
            None => Ok(()),
        }
    }
}
