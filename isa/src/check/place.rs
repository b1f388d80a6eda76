//! Does an operand stand where one of its kind may? Brackets of textures and tensors part by part.

use super::address::address;
use super::value::value;
use super::{Fit, Rules, What};
use crate::ScalarType;
use crate::form::Reach;
use crate::operand::{Base, Operand};
use crate::resolve::{SigKind, SigOperand, SigPresence};

pub(super) fn fits(kind: &SigKind, operand: &Operand, cx: &Rules) -> Fit {
    let whole = |what| Err((None, what));
    match (kind, operand) {
        (_, Operand::Unknown) => Ok(()),
        // To ptxas the first operand of anything may be a pair without its second half, but not a part of a register, or braces.
        (SigKind::Value(v), Operand::Pair([first, Operand::Sink]))
            if cx.lenient && !matches!(first, Operand::Select(..) | Operand::Vector(_)) =>
        {
            value(v, first, cx)
        }
        (SigKind::Value(v), _) => value(v, operand, cx),
        (SigKind::Address(space), Operand::Address(base)) => {
            address(space, *base, cx).map_err(|what| (None, what))
        }
        (SigKind::Address(space), Operand::Element(v)) if space.reach.contains(Reach::INDEX) => {
            address(space, Base::Var(*v), cx).map_err(|what| (None, what))
        }
        (SigKind::Address(space), Operand::Reg(ty) | Operand::RegPlus(ty))
            if space.reach.contains(Reach::BARE) =>
        {
            address(space, Base::Reg(*ty), cx).map_err(|what| (None, what))
        }
        (SigKind::Address(space), Operand::Var(v) | Operand::VarPlus(v) | Operand::Element(v))
            if space.reach.contains(Reach::BARE) =>
        {
            address(space, Base::Var(*v), cx).map_err(|what| (None, what))
        }
        (SigKind::Pair { first, second, .. }, Operand::Pair([a, b])) => {
            if matches!((a, b), (Operand::Sink, Operand::Sink)) {
                return whole(What::AllSinks);
            }
            value(first, a, cx).map_err(|(_, what)| (Some(0), what))?;
            value(second, b, cx).map_err(|(_, what)| (Some(1), what))
        }
        (SigKind::Pair { first, second_optional: true, .. }, _) => value(first, operand, cx),
        (SigKind::Pair { .. }, _) => whole(What::PairNeeded),
        (SigKind::Bracket(places), Operand::Bracket(elements))
        | (SigKind::Tuple(places), Operand::Vector(elements)) => bracket(places, elements, cx),
        // `[a]` where everything after the first element may be left out.
        (SigKind::Bracket(places), Operand::Address(_)) => bracket(places, std::slice::from_ref(operand), cx),
        (SigKind::Address(_) | SigKind::Bracket(_), _) => whole(What::AddressNeeded),
        (SigKind::Tuple(_), _) => whole(What::VectorNeeded),
        (SigKind::Label, Operand::Label)
        | (SigKind::Callee, Operand::Func | Operand::Reg(_))
        | (SigKind::Arguments | SigKind::Results, Operand::Arguments)
        | (SigKind::List, Operand::List) => Ok(()),
        _ => whole(What::Kind),
    }
}

fn bracket(places: &[SigOperand], elements: &[Operand], cx: &Rules) -> Fit {
    let is_sampler = |p: &SigOperand| matches!(&p.kind, SigKind::Value(v) if v.ty == ScalarType::Samplerref);
    let presence = |p: &SigOperand| match p.presence {
        SigPresence::Optional if cx.independent && is_sampler(p) => SigPresence::Required,
        written @ (SigPresence::Required | SigPresence::Optional | SigPresence::OnlyWith(_)) => written,
    };
    let required = places.iter().filter(|p| presence(p) == SigPresence::Required).count();
    let Some(mut spare) = elements.len().checked_sub(required) else {
        let sampler = cx.independent && places.iter().any(is_sampler);
        return Err((None, if sampler { What::SamplerNeeded } else { What::Count }));
    };
    if let Some(sampler) = places.iter().position(is_sampler)
        && (spare > 0 || presence(&places[sampler]) == SigPresence::Required)
    {
        through_sampler(elements, cx)?;
    }
    // A map or an endpoint in a register is not read as the address of a texture.
    let textured = matches!(places, [SigOperand { kind: SigKind::Address(space), .. }, ..] if !space.tensor && !space.any_register);
    let addressed = textured && matches!(elements, [Operand::Address(_), ..]);
    let mut elements = elements.iter().enumerate();
    for place in places {
        match presence(place) {
            SigPresence::Required => {}
            SigPresence::OnlyWith(_) => continue,
            SigPresence::Optional if spare == 0 => continue,
            SigPresence::Optional => spare -= 1,
        }
        if let Some((index, element)) = elements.next() {
            // Behind an address stands neither a constant nor, in the third place, a register without braces.
            let constant = matches!(element, Operand::Int(_) | Operand::Float(..));
            let scalar = index > 1 && !matches!(element, Operand::Vector(_) | Operand::Unknown);
            if addressed && (constant || scalar) {
                return Err((Some(index), What::VectorNeeded));
            }
            if let (SigKind::Value(v), &Operand::Reg(ty)) = (&place.kind, element)
                && v.ty.is_float()
                && ty.is_integer()
            {
                return Err((Some(index), What::RegisterType));
            }
            fits(&place.kind, element, cx).map_err(|(_, what)| (Some(index), what))?;
        }
    }
    if spare > 0 { Err((None, What::Count)) } else { Ok(()) }
}

/// Validates a texture and its sampler against the texture mode.
fn through_sampler(elements: &[Operand], cx: &Rules) -> Fit {
    if !cx.independent && !cx.lenient {
        return Err((Some(1), What::SamplerNotAllowed));
    }
    let in_register =
        elements.iter().take(2).any(|e| matches!(e, Operand::Address(Base::Reg(_)) | Operand::Reg(_)));
    let gated = in_register || !cx.independent;
    if gated && !crate::tables::SAMPLER.iter().all(|clause| cx.allows(clause)) {
        return Err((Some(1), What::SamplerGate));
    }
    Ok(())
}
