//! The resolved instruction: a form, the modifier in each of its slots, and which of its operands are written.

use crate::form::*;
use crate::gate::{Clause, Gate};
use crate::modifier::SpaceModifier;
use crate::tables::MAX_SLOTS;
use crate::{Class, Mnemonic, Mod, Opcode, Operation, ScalarType, StateSpace, Traits};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The modifier in each slot of a form.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Filled {
    mods: [Option<Mod>; MAX_SLOTS],
    len: u8,
}

impl Filled {
    /// The slots of a form, none of them filled.
    pub fn empty(form: &Form) -> Self {
        Filled { mods: [None; MAX_SLOTS], len: form.slots.len() as u8 }
    }
}

impl Deref for Filled {
    type Target = [Option<Mod>];
    fn deref(&self) -> &[Option<Mod>] {
        &self.mods[..self.len.into()]
    }
}

impl DerefMut for Filled {
    fn deref_mut(&mut self) -> &mut [Option<Mod>] {
        &mut self.mods[..self.len.into()]
    }
}

/// An instruction as the tables know it: its form, what fills the form's slots, and which of the form's operands are written.
///
/// What it means is asked for by type, never by text: [`operation`](Instruction::operation), [`traits`](Instruction::traits),
/// the kinds of modifiers ([`rounding`](Instruction::rounding), [`scope`](Instruction::scope), ...) and, for what denotes itself,
/// [`has`](Instruction::has).
///
/// ```
/// use warpsmith_isa::*;
/// let resolved = Resolved::new(&mnemonic!("atom.shared.add.u32"), Context::new(Version::new(7, 0), Target::sm(80)));
/// let operands = [Operand::Reg(ScalarType::U32), Operand::Address(Base::Reg(ScalarType::U64)), Operand::Int(1)];
/// let atom = resolved.check(&operands).unwrap();
/// assert_eq!((atom.operation(), atom.ty(), atom.space()), (Operation::Atom, Some(ScalarType::U32), StateSpace::Shared));
/// assert_eq!((atom.order(), atom.scope()), (Some(Order::Relaxed), Some(Scope::Gpu)));
/// assert_eq!(atom.places().map(|place| place.name).collect::<Vec<_>>(), ["d", "a", "b"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    form: FormId,
    /// A bit for each of the form's operands.
    present: u16,
    pub(crate) filled: Filled,
}

impl Instruction {
    /// A form with its slots filled and only the operands that must be written.
    pub(crate) fn new(form: &'static Form, filled: Filled) -> Self {
        let mut instruction = Instruction { form: form.id(), present: 0, filled };
        for (place, spec) in form.operands.iter().enumerate() {
            let written = match spec.presence {
                Presence::Always => true,
                Presence::Optional => false,
                Presence::With(modifier) => instruction.has(modifier),
                Presence::WithSlot(slot) => instruction.modifier(slot.into()).is_some(),
            };
            instruction.present |= u16::from(written) << place;
        }
        instruction
    }

    /// The instruction with other operands written: a bit for each of the form's.
    pub fn with_places(self, present: u16) -> Self {
        Instruction { present, ..self }
    }

    /// This instruction with so many operands written: those that must be, and of the others the first. `None` if the form never has as many.
    pub fn with_operand_count(self, count: usize) -> Option<Self> {
        let required = self.present.count_ones() as usize;
        let mut spare = count.checked_sub(required)?;
        let mut present = self.present;
        for (place, spec) in self.form().operands.iter().enumerate() {
            if spare > 0 && present >> place & 1 == 0 && matches!(spec.presence, Presence::Optional) {
                present |= 1 << place;
                spare -= 1;
            }
        }
        (spare == 0).then(|| self.with_places(present))
    }

    /// The number of the form.
    pub fn id(&self) -> FormId {
        self.form
    }

    /// The form.
    pub fn form(&self) -> &'static Form {
        self.form.form()
    }

    /// What it means.
    pub fn operation(&self) -> Operation {
        self.form().operation
    }

    /// The opcode.
    pub fn opcode(&self) -> Opcode {
        self.form().opcode
    }

    /// What it does besides computing.
    pub fn traits(&self) -> Traits {
        self.form().traits
    }

    /// The class that a profile counts it in.
    pub fn class(&self) -> Class {
        self.form().family().class
    }

    /// The modifier in a slot of the form.
    pub fn modifier(&self, slot: usize) -> Option<Mod> {
        self.filled.get(slot).copied().flatten()
    }

    /// The modifiers that are written, in the manual's order.
    pub fn mods(&self) -> impl Iterator<Item = Mod> + '_ {
        self.filled.iter().copied().flatten()
    }

    /// The modifiers that are written, then those that hold where none of their kind is.
    pub(crate) fn effective(&self) -> impl Iterator<Item = Mod> + '_ {
        self.mods().chain(self.form().defaults.iter().copied())
    }

    /// True for a modifier that is written.
    pub fn has(&self, modifier: Mod) -> bool {
        self.filled.contains(&Some(modifier))
    }

    /// The types that are named: of the destination first, as in `cvt.f32.s32`.
    pub fn types(&self) -> impl Iterator<Item = ScalarType> + '_ {
        self.mods().filter_map(Mod::scalar)
    }

    /// The first type that is named.
    pub fn ty(&self) -> Option<ScalarType> {
        self.types().next()
    }

    /// The state spaces that are named, in order: of a copy the destination's, then the source's.
    pub fn spaces(&self) -> impl Iterator<Item = SpaceModifier> + '_ {
        self.mods().filter_map(SpaceModifier::of)
    }

    /// The first state space that is named; generic where none is.
    pub fn space(&self) -> StateSpace {
        self.spaces().next().map_or(StateSpace::Generic, SpaceModifier::space)
    }

    /// How many elements `.v2`, `.v4` or `.v8` names; 1 without one.
    pub fn vector_len(&self) -> u32 {
        self.mods().find(|m| matches!(m, Mod::V2 | Mod::V4 | Mod::V8)).map_or(1, Mod::number)
    }

    /// The number in `.x1` to `.x128`: how often a matrix or a piece of tensor memory is repeated. 1 without one.
    pub fn repeat(&self) -> u32 {
        use Mod::*;
        let repeats = |m: &Mod| matches!(m, X1 | X2 | X4 | X8 | X16 | X32 | X64 | X128);
        self.mods().find(repeats).map_or(1, Mod::number)
    }

    /// The sides M, N and K of the matrix shape that is named.
    pub fn shape(&self) -> Option<[u16; 3]> {
        self.mods().find_map(Mod::shape)
    }

    /// True for a conversion that rounds a float to an integer: `.rni` and its like.
    pub fn rounds_to_integer(&self) -> bool {
        self.mods().any(|m| matches!(m, Mod::Rni | Mod::Rzi | Mod::Rmi | Mod::Rpi))
    }

    /// True where all threads of a warp must execute it together.
    pub fn is_aligned(&self) -> bool {
        self.traits().contains(Traits::ALIGNED) || self.has(Mod::Aligned)
    }

    /// The operands of the form that are written: the first denotes the first operand of the statement, and so on. Of a mnemonic
    /// without its operands, those that must be written.
    pub fn places(&self) -> impl Iterator<Item = &'static OperandSpec> + '_ {
        let places = self.form().operands.into_iter().enumerate();
        places.filter(|(place, _)| self.present >> place & 1 == 1).map(|(_, spec)| spec.row())
    }

    /// The mnemonic, its modifiers in the manual's order.
    pub fn mnemonic(&self) -> Mnemonic {
        // A form that was resolved has no more modifiers than a mnemonic holds.
        self.mods().fold(Mnemonic::new(self.opcode()), |name, m| name.try_with(m).unwrap_or(name))
    }

    /// Every clause that version and target must meet, with the modifier it comes from.
    pub fn clauses(&self) -> impl Iterator<Item = (Option<Mod>, &'static Clause)> + '_ {
        let form = self.form();
        let modifiers = form.slots.iter().zip(self.filled.iter()).filter_map(|(slot, &m)| slot.find(m?));
        let of_form = form.gates.iter().map(|clause| (None, clause));
        let all = of_form
            .chain(modifiers.flat_map(|a| a.gates.iter().map(move |clause| (Some(a.modifier), clause))));
        all.filter(|(_, clause)| clause.when.iter().all(|&m| self.has(m)))
    }

    /// What the instruction needs, whatever its operands.
    pub fn gate(&self) -> Gate {
        Gate { clauses: self.clauses().map(|(_, clause)| *clause).collect() }
    }

    /// The slots that only ptxas lets be empty.
    pub fn unfilled(&self) -> impl Iterator<Item = usize> + '_ {
        let slots = self.form().slots.iter().zip(self.filled.iter()).enumerate();
        slots.filter(|(_, (slot, filled))| slot.expected && filled.is_none()).map(|(index, _)| index)
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}", self.form, self.mnemonic())
    }
}

impl SpaceModifier {
    /// The state space; both windows of shared memory are `shared`.
    pub const fn space(self) -> StateSpace {
        match self {
            SpaceModifier::Const => StateSpace::Const,
            SpaceModifier::Global => StateSpace::Global,
            SpaceModifier::Local => StateSpace::Local,
            SpaceModifier::Param | SpaceModifier::ParamEntry | SpaceModifier::ParamFunc => StateSpace::Param,
            SpaceModifier::Shared | SpaceModifier::SharedCta | SpaceModifier::SharedCluster => {
                StateSpace::Shared
            }
            SpaceModifier::Tex => StateSpace::Tex,
        }
    }
}
