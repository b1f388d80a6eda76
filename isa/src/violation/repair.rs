//! Mnemonics that would fit the operands that are there.

use super::{Fix, Remedy};
use crate::check::Context;
use crate::{Base, Mnemonic, Mod, Operand, TypeClass};

/// The mnemonic with another type or state space that the operands fit, if there is one.
pub(crate) fn retyped(mnemonic: &Mnemonic, operands: &[Operand], cx: &Context) -> Option<Fix> {
    let wanted: Vec<Mod> = operands.iter().flat_map(types_of).collect();
    let fits = |mnemonic: &Mnemonic| crate::Resolved::new(mnemonic, *cx).legal(operands).is_some();
    let mods = mnemonic.mods();
    for &other in &wanted {
        // All modifiers of the same sort at once (`cvt` aside, they say the same), then each alone.
        for only in std::iter::once(None).chain((0..mods.len()).map(Some)) {
            let replaced = |(index, m): (usize, &Mod)| match m.ordered_with(other) {
                true if only.is_none_or(|only| only == index) => other,
                _ => *m,
            };
            let changed: Vec<Mod> = mods.iter().enumerate().map(replaced).collect();
            if changed != mods
                && let Some(meant) = Mnemonic::new(mnemonic.opcode()).with_all(&changed)
                && fits(&meant)
            {
                return Some(Fix { remedy: Remedy::Mnemonic(meant.to_string()), certain: false });
            }
        }
    }
    None
}

/// The mnemonic with another number (`.v2`, `.x4`) that a vector's length fits, if there is one.
pub(crate) fn renumbered(mnemonic: &Mnemonic, operands: &[Operand], cx: &Context) -> Option<Fix> {
    let mods = mnemonic.mods();
    (0..mods.len()).filter(|&i| mods[i].number() != 0 && mods[i].shape().is_none()).find_map(|index| {
        let prefix = mods[index].text().trim_end_matches(|c: char| c.is_ascii_digit());
        let mut alike: Vec<Mod> = Mod::all()
            .filter(|m| m.number() != 0 && m.text().trim_end_matches(|c: char| c.is_ascii_digit()) == prefix)
            .collect();
        // ptxas lets a few numbers pass that the manual does not have; what is near is in the manual.
        alike.sort_by_key(|m| m.number().abs_diff(mods[index].number()));
        alike.into_iter().find_map(|other| {
            let mut changed = mods.to_vec();
            changed[index] = other;
            let meant = Mnemonic::new(mnemonic.opcode()).with_all(&changed)?;
            crate::Resolved::new(&meant, *cx).legal(operands)?;
            Some(Fix { remedy: Remedy::Mnemonic(meant.to_string()), certain: false })
        })
    })
}

/// The modifiers that an operand suggests: its type, and signed and unsigned where it has none; the space of its variable.
#[expect(clippy::wildcard_enum_match_arm, reason = "what names no type suggests none")]
fn types_of(operand: &Operand) -> Vec<Mod> {
    match operand {
        Operand::Reg(ty) | Operand::VectorReg(ty, _) => {
            let integers = [false, true].map(|signed| crate::suggest::integer(ty.bits(), signed));
            let untyped = ty.class() == TypeClass::Bits;
            let more = integers.into_iter().flatten().filter(|_| untyped);
            std::iter::once(*ty).chain(more).map(Mod::of_scalar).collect()
        }
        Operand::Vector(elements) => elements.first().map(types_of).unwrap_or_default(),
        Operand::Address(Base::Var(v)) | Operand::Var(v) => {
            Mod::from_text(&v.space.to_string()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
