//! What an address may be made of.

use super::scalar::available;
use super::{Rules, What};
use crate::form::Reach;
use crate::operand::{Base, Variable};
use crate::resolve::SigSpace;
use crate::{ScalarType, StateSpace, TypeClass, TypeSet};

#[expect(clippy::wildcard_enum_match_arm, reason = "only textures and samplers are distinguished")]
pub(super) fn address(space: &SigSpace, base: Base, cx: &Rules) -> Result<(), What> {
    let integer = |ty: ScalarType| {
        matches!(ty.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed)
            && ty.bits() <= 64
            && ty.bits() >= 8
    };
    if space.tensor {
        return match base {
            Base::Unknown => Ok(()),
            Base::Reg(ty) if space.handle.contains(ty) => Ok(()),
            Base::Reg(ty) if space.handle == TypeSet::EMPTY && integer(ty) && ty.bits() == 32 => Ok(()),
            // ptxas looks at the size alone.
            Base::Reg(ScalarType::F16x2) if space.handle == TypeSet::EMPTY && cx.lenient => Ok(()),
            Base::Reg(_) | Base::Special(_) => Err(What::AddressRegister),
            Base::Var(_) | Base::Int | Base::Func => Err(What::AddressSpace),
        };
    }
    if space.handle != TypeSet::EMPTY {
        // What may be asked of textures and of samplers is asked of that which the texture mode has for it.
        let named = |ty| {
            space.handle.contains(ty)
                && match ty {
                    ScalarType::Texref => !cx.independent || !space.handle.contains(ScalarType::Samplerref),
                    ScalarType::Samplerref => cx.independent,
                    _ => true,
                }
        };
        return match base {
            Base::Var(v) if named(v.ty) => Ok(()),
            Base::Reg(ty) if integer(ty) && ty.bits() == 64 => {
                let surface = space.handle.contains(ScalarType::Surfref);
                let asked = surface || !cx.independent;
                let allowed = !asked || crate::tables::HANDLE.iter().all(|clause| cx.allows(clause));
                if allowed { Ok(()) } else { Err(What::HandleGate) }
            }
            Base::Unknown => Ok(()),
            Base::Reg(_) => Err(What::AddressRegister),
            Base::Var(_) | Base::Int | Base::Special(_) | Base::Func => Err(What::AddressSpace),
        };
    }
    let far = matches!(space.space(), StateSpace::Generic | StateSpace::Global);
    let has = |reach: Reach| space.reach.contains(reach);
    let narrow = |ty: ScalarType| match ty.bits() {
        64 => false,
        32 => far && has(Reach::WIDE),
        _ => has(Reach::WORD) || (far && has(Reach::FAR)),
    };
    let outside = |v: Variable| {
        space.reach.contains(Reach::CTA)
            && space.space() == StateSpace::Generic
            && v.space != StateSpace::Shared
    };
    match base {
        Base::Unknown => Ok(()),
        Base::Var(_) if has(Reach::REGISTER) => Err(What::AddressSpace),
        Base::Var(v) if outside(v) => Err(What::AddressSpace),
        _ if space.reach.contains(Reach::ANY) && cx.lenient => Ok(()),
        Base::Reg(_) if space.any_register => Ok(()),
        Base::Special(_) if space.any_register => Err(What::AddressRegister),
        Base::Reg(ty) if !integer(ty) || narrow(ty) => Err(What::AddressRegister),
        // Of 32 bits ptxas says only when it generates code that it cannot.
        Base::Reg(ty) if !cx.lenient && ty.bits() < if far { 64 } else { 32 } => Err(What::AddressRegister),
        Base::Reg(_) => Ok(()),
        Base::Special(_) if has(Reach::CTA) || has(Reach::STILL) => Err(What::AddressRegister),
        // What ptxas copies to a register of 64 bits first.
        Base::Special(reg) if narrow(reg.ty()) && has(Reach::FAR) => Err(What::AddressRegister),
        Base::Special(reg) if integer(reg.ty()) => available(reg, cx),
        Base::Special(_) => Err(What::AddressRegister),
        Base::Var(v) if space.allows(v.space) && v.ty.class() != TypeClass::Opaque => Ok(()),
        // Where ptxas does not load or store itself, a texture or surface is an address in any space.
        Base::Var(v)
            if cx.lenient && v.ty.class() == TypeClass::Opaque && !has(Reach::INDEX) && !has(Reach::CTA) =>
        {
            Ok(())
        }
        Base::Var(_) | Base::Func => Err(What::AddressSpace),
        Base::Int if space.space() == StateSpace::Local => Ok(()),
        Base::Int => Err(What::ImmediateAddress),
    }
}
