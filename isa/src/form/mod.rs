//! The static data that the tables compile to.

mod operand;
mod rows;
mod sets;

pub use operand::{
    AddressSpec, CountRef, Extent, OperandSpec, Presence, Range, RegRule, Shape, SpaceRef, TypeRef, ValueSpec,
};
pub use rows::{OperandId, Row, RowId, Rows, SlotId};
pub use sets::{Accepts, Reach, TypeSet};

use crate::gate::Clause;
use crate::tables::{ALTERNATIVE_ROWS, FORMS, OPERATION_ALL, OPERATION_INFO, SLOT_ROWS, SLOTID_ROWS};
use crate::{Class, Mod, Opcode, Operation, Traits};

/// One line of the manual's syntax blocks: an opcode, places for modifiers, operands, and what they need.
#[derive(Debug)]
pub struct Form {
    pub(crate) id: FormId,
    /// The opcode.
    pub opcode: Opcode,
    /// What it means: the opcode in the form's family.
    pub operation: Operation,
    /// Places for modifiers, in the order of the manual.
    pub slots: Rows<SlotId>,
    /// The modifiers of the slots, by one bit of a word each: that suffices to find the form of most mnemonics.
    pub(crate) modifiers: ModWord,
    /// The operands in order.
    pub operands: Rows<OperandId>,
    /// What the form needs, whatever its modifiers.
    pub gates: Rows<Clause>,
    /// What the instruction does besides computing.
    pub traits: Traits,
    /// The modifiers that hold where none of their kind is written: `.relaxed` and `.gpu` of `atom`.
    pub defaults: Rows<Mod>,
    pub(crate) family: u16,
    /// The form as the tables write it.
    pub syntax: &'static str,
}

/// The number of a form: its place in [`FORMS`](crate::FORMS).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormId(pub(crate) u16);

impl FormId {
    /// The form.
    pub fn form(self) -> &'static Form {
        &FORMS[usize::from(self.0)]
    }

    /// The place in [`FORMS`](crate::FORMS).
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl std::fmt::Debug for FormId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "form{}", self.0)
    }
}

impl Operation {
    /// Every operation, in the order of the tables.
    pub fn all() -> impl ExactSizeIterator<Item = Operation> + Clone {
        OPERATION_ALL.iter().copied()
    }

    /// The opcode.
    pub fn opcode(self) -> Opcode {
        OPERATION_INFO[self as usize].0
    }

    /// The family.
    pub fn family(self) -> &'static Family {
        &crate::FAMILIES[usize::from(OPERATION_INFO[self as usize].1)]
    }

    /// The name: `AddInteger`.
    pub fn name(self) -> &'static str {
        OPERATION_INFO[self as usize].2
    }

    /// Its forms.
    pub fn forms(self) -> impl Iterator<Item = &'static Form> {
        self.opcode().forms().iter().filter(move |form| form.operation == self)
    }
}

impl Form {
    /// Its number.
    pub fn id(&self) -> FormId {
        self.id
    }

    /// The family the form belongs to.
    pub fn family(&self) -> &'static Family {
        &crate::FAMILIES[self.family as usize]
    }

    /// The manual's section.
    pub fn section(&self) -> &'static str {
        self.family().section
    }

    /// The form as a message shows it: `add {.rnd} {.ftz} .f32 d, a, b`.
    pub fn usage(&self) -> String {
        let mut text = self.opcode.text().to_owned();
        for slot in self.slots {
            let choices: Vec<String> = slot.alternatives.iter().map(|a| a.modifier.to_string()).collect();
            let shown = if choices.len() <= 4 { choices.join("|") } else { format!(".{}", slot.name) };
            text += &if slot.optional { format!(" {{{shown}}}") } else { format!(" {shown}") };
        }
        for (index, operand) in self.operands.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            text += &match operand.presence {
                Presence::Always if index == 0 => format!(" {}", operand.usage()),
                Presence::Always => format!("{comma}{}", operand.usage()),
                Presence::Optional | Presence::With(_) | Presence::WithSlot(_) => {
                    format!(" {{{comma}{}}}", operand.usage())
                }
            };
        }
        text
    }
}

/// An instruction as the manual's chapters count them: `add` for integers is one, `add` for floats another.
#[derive(Debug)]
pub struct Family {
    /// The name: `cp.async.bulk`.
    pub name: &'static str,
    /// The manual's section: `9.7.1.1`.
    pub section: &'static str,
    /// The chapter's topic: `integer arithmetic`.
    pub area: &'static str,
    /// The class that a profile counts it in.
    pub class: Class,
}

/// A place for one modifier.
#[derive(Debug)]
pub struct Slot {
    /// What the tables call it: `rnd`; for a place with a single modifier, that modifier.
    pub name: &'static str,
    /// False for a modifier that must be written.
    pub optional: bool,
    /// True where only ptxas lets it be left out, not the manual.
    pub expected: bool,
    /// What may be written.
    pub alternatives: Rows<Alternative>,
}

/// A set of modifiers in a word, where several share a bit: what it lacks is not in the set, what it has may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModWord(u64);

impl ModWord {
    /// All that may be written in slots.
    pub(crate) const fn of(slots: Rows<SlotId>) -> Self {
        let (mut word, mut n) = (0, 0);
        while n < slots.len {
            let slot = SLOTID_ROWS[(slots.start + n) as usize].index;
            let alternatives = SLOT_ROWS[slot as usize].alternatives;
            let mut k = 0;
            while k < alternatives.len {
                let modifier = ALTERNATIVE_ROWS[(alternatives.start + k) as usize].modifier;
                word |= 1 << (modifier as u16 % u64::BITS as u16);
                k += 1;
            }
            n += 1;
        }
        ModWord(word)
    }

    /// False only for what is not in the set.
    pub(crate) const fn may_have(self, modifier: Mod) -> bool {
        self.0 >> (modifier as u16 % u64::BITS as u16) & 1 != 0
    }
}

impl Slot {
    /// The alternative that is this modifier.
    pub fn find(&self, modifier: Mod) -> Option<&'static Alternative> {
        self.alternatives.into_iter().find(|a| a.modifier == modifier)
    }
}

/// One modifier that fits a slot, and what it needs.
#[derive(Debug)]
pub struct Alternative {
    /// The modifier.
    pub modifier: Mod,
    /// What it needs.
    pub gates: Rows<Clause>,
}
