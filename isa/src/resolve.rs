//! From a mnemonic to the forms it can mean, and from a form to the types of its operands.

use crate::form::*;
use crate::gate::Clause;
use crate::instruction::{Filled, Instruction};
use crate::limits::WARP_THREADS;
use crate::{Mnemonic, Mod, ScalarType, StateSpace, TypeClass};
use smallvec::SmallVec;

/// Why a mnemonic's modifiers do not fit a form.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Mismatch {
    /// Indices of modifiers with no place, or whose place is taken.
    pub extra: SmallVec<[usize; 4]>,
    /// Indices of slots that must be filled and are not.
    pub missing: SmallVec<[usize; 4]>,
}

/// Puts every modifier in a slot; `None` where they do not fit. Most forms of an operation end at the first modifier.
///
/// Modifiers may come in any order, except that those of one kind (types, state spaces, `.row`/`.col`...) fill their slots from left to
/// right; some may be written twice.
pub(crate) fn fill(form: &Form, mods: &[Mod]) -> Option<Filled> {
    // What no slot may hold is not put anywhere, unless ptxas passes over it.
    if !mods.iter().all(|&modifier| form.modifiers.may_have(modifier) || modifier.overlooked()) {
        return None;
    }
    let mut filled = Filled::empty(form);
    let all = mods.iter().all(|&modifier| put(form, &mut filled, modifier))
        && missing(form, &filled).next().is_none();
    all.then_some(filled)
}

/// Like [`fill`], for modifiers that do not fit: the slots that could be filled, and the rest.
pub(crate) fn fill_all(form: &Form, mods: &[Mod]) -> (Filled, Mismatch) {
    let mut filled = Filled::empty(form);
    let mut mismatch = Mismatch::default();
    for (index, &modifier) in mods.iter().enumerate() {
        if !put(form, &mut filled, modifier) {
            mismatch.extra.push(index);
        }
    }
    mismatch.missing.extend(missing(form, &filled));
    (filled, mismatch)
}

/// The slots that must be filled and are not.
fn missing(form: &Form, filled: &Filled) -> impl Iterator<Item = usize> {
    (0..form.slots.len()).filter(|&i| filled[i].is_none() && !form.slots[i].optional)
}

/// Puts a modifier in its slot; false if there is none for it.
fn put(form: &Form, filled: &mut Filled, modifier: Mod) -> bool {
    // After the last slot filled by a modifier of the same kind.
    let first =
        filled.iter().rposition(|f| f.is_some_and(|other| modifier.ordered_with(other))).map_or(0, |i| i + 1);
    let mut open = (first..form.slots.len()).filter(|&i| filled[i].is_none());
    match open.find(|&i| form.slots[i].find(modifier).is_some()) {
        Some(slot) => {
            filled[slot] = Some(modifier);
            true
        }
        None if modifier.repeatable() && filled.contains(&Some(modifier)) => true,
        // The manual has no such instruction: what is left over makes the match a lenient one. An operation that has the modifier counts it.
        None => {
            let of_opcode = || form.opcode.forms().iter().flat_map(|form| form.slots);
            modifier.overlooked()
                && !form.slots.iter().any(|slot| slot.alternatives.iter().any(|a| a.modifier.overlooked()))
                && !of_opcode().any(|slot| slot.find(modifier).is_some())
        }
    }
}

impl Instruction {
    /// The operands with their types.
    pub fn signature(&self) -> Signature {
        Signature {
            form: self.form(),
            operands: self.form().operands.iter().map(|spec| self.operand(spec)).collect(),
        }
    }

    fn operand(&self, spec: &'static OperandSpec) -> SigOperand {
        let kind = match &spec.shape {
            Shape::Value(value) => SigKind::Value(self.value(value)),
            Shape::Address(AddressSpec { space, reach, align }) => {
                SigKind::Address(SigSpace { reach: *reach, align: *align, ..self.address_space(space) })
            }
            Shape::Pair { first, second, second_optional } => SigKind::Pair {
                first: self.value(first),
                second: self.value(second),
                second_optional: *second_optional,
            },
            Shape::Bracket(inner) => SigKind::Bracket(inner.iter().map(|spec| self.operand(spec)).collect()),
            Shape::Tuple(inner) => SigKind::Tuple(inner.iter().map(|spec| self.operand(spec)).collect()),
            Shape::Label => SigKind::Label,
            Shape::Callee => SigKind::Callee,
            Shape::Arguments => SigKind::Arguments,
            Shape::Results => SigKind::Results,
            Shape::List => SigKind::List,
        };
        let presence = match spec.presence {
            Presence::Always => SigPresence::Required,
            Presence::Optional => SigPresence::Optional,
            Presence::With(modifier) if self.has(modifier) => SigPresence::Required,
            Presence::With(modifier) => SigPresence::OnlyWith(modifier.text()),
            Presence::WithSlot(slot) if self.modifier(slot.into()).is_some() => SigPresence::Required,
            Presence::WithSlot(slot) => SigPresence::OnlyWith(self.form().slots[usize::from(slot)].name),
        };
        SigOperand { name: spec.name, presence, kind, gates: spec.gates.all() }
    }

    fn value(&self, spec: &ValueSpec) -> SigValue {
        let count = match spec.count {
            CountRef::Scalar => None,
            CountRef::Fixed(n) => Some(n),
            CountRef::OneOf(counts) => counts.first().copied().filter(|&n| n != 0),
            CountRef::Slot { slot, times, over, minus } => {
                let count = |m: Mod| (m.number() * u32::from(times)).div_ceil(u32::from(over));
                self.modifier(slot.into()).map(|m| count(m).saturating_sub(minus.into()) as u16)
            }
            CountRef::Fragment { shape, extent, ty, over } => {
                let elements =
                    self.modifier(shape.into()).and_then(Mod::shape).map_or(0, |s| extent.elements(s));
                let bits = self.scalar(ty).bits();
                Some((elements * bits / (WARP_THREADS * bits.max(32)) / u32::from(over)).max(1) as u16)
            }
        };
        let ty = self.scalar(spec.ty);
        // Types that have no registers of their own may stand in braces.
        let braces = matches!(ty, ScalarType::BF16 | ScalarType::BF16x2)
            && spec.accepts.contains(Accepts::BRACED_BF16);
        let mut accepts = if braces { spec.accepts.union(Accepts::BRACED) } else { spec.accepts };
        if matches!(spec.count, CountRef::Slot { .. }) {
            accepts = accepts.union(Accepts::COUNTED);
        }
        SigValue {
            destination: spec.destination,
            ty,
            count,
            counts: if let CountRef::OneOf(counts) = spec.count { counts.all() } else { &[] },
            named: matches!(spec.ty, TypeRef::Slot { .. }),
            registers: registers(spec.rule, ty),
            tolerated: tolerated(spec, ty),
            accepts,
            space: spec.space.as_ref().map(|space| self.address_space(space)),
            range: spec.range.map(|range| self.range(range)),
            tolerated_range: match spec.range {
                Some(Range::Stride(_)) => spec.range,
                _ => spec.tolerated,
            },
        }
    }

    fn range(&self, range: Range) -> Range {
        let Range::Stride(extent) = range else { return range };
        let shape = self.shape().unwrap_or_default();
        let by_columns = self.has(Mod::Col);
        Range::Between { min: extent.line(shape, by_columns).into(), max: i64::MAX, multiple: 1 }
    }

    fn scalar(&self, ty: TypeRef) -> ScalarType {
        match ty {
            TypeRef::Fixed(ty) => ty,
            TypeRef::Slot { slot, times, over } => {
                let named = self.modifier(slot.into()).and_then(Mod::scalar).unwrap_or(ScalarType::B32);
                scaled(named, times, over)
            }
        }
    }

    fn address_space(&self, space: &SpaceRef) -> SigSpace {
        let mods: SmallVec<[Mod; 2]> = match space {
            SpaceRef::Slot(slot) => self.modifier((*slot).into()).into_iter().collect(),
            SpaceRef::Fixed(mods) => mods.iter().copied().collect(),
            SpaceRef::Handle(types) => return SigSpace { handle: *types, ..SigSpace::NONE },
            SpaceRef::Tensor(types) => return SigSpace { tensor: true, handle: *types, ..SigSpace::NONE },
            SpaceRef::TensorMap => {
                let spaces = 1 << StateSpace::Global as u8;
                return SigSpace { spaces, any_register: true, ..SigSpace::NONE };
            }
        };
        let spaces: u16 =
            mods.iter().filter_map(|m| m.space()).fold(0, |bits, space| bits | 1 << space as u8);
        SigSpace {
            spaces: if spaces == 0 { GENERIC } else { spaces },
            named: mods.first().copied(),
            ..SigSpace::NONE
        }
    }
}

/// The spaces whose variables a generic address may name.
const GENERIC: u16 = 1 << StateSpace::Generic as u8
    | 1 << StateSpace::Global as u8
    | 1 << StateSpace::Shared as u8
    | 1 << StateSpace::Local as u8;

/// The type of the same class and another width.
fn scaled(ty: ScalarType, times: u8, over: u8) -> ScalarType {
    if times == over {
        return ty;
    }
    let bits = ty.bits() * u32::from(times) / u32::from(over);
    ScalarType::ALL.iter().copied().find(|t| t.class() == ty.class() && t.bits() == bits).unwrap_or(ty)
}

/// The register types that ptxas takes besides: it does not distinguish `.f16x2` from `.pred` where a modifier says `.pred`.
fn tolerated(spec: &ValueSpec, ty: ScalarType) -> TypeSet {
    match spec.rule {
        RegRule::Listed { tolerated, .. } => tolerated,
        _ if ty == ScalarType::Pred && matches!(spec.ty, TypeRef::Slot { .. }) => {
            TypeSet::of(&[ScalarType::F16x2])
        }
        RegRule::Matching | RegRule::Plain | RegRule::Relaxed | RegRule::Exact | RegRule::Texel => {
            TypeSet::EMPTY
        }
    }
}

/// The register types that may hold a value of a type.
fn registers(rule: RegRule, ty: ScalarType) -> TypeSet {
    match rule {
        RegRule::Listed { types, .. } => types,
        RegRule::Exact => REGISTERS.exact[ty as usize],
        RegRule::Texel => {
            TypeSet::filter(|r| matching(ty, r) || (ty.is_float() && r.is_integer() && r.bits() == ty.bits()))
        }
        RegRule::Plain => REGISTERS.matching[ty as usize].without(ScalarType::F16x2),
        RegRule::Matching => REGISTERS.matching[ty as usize],
        RegRule::Relaxed => REGISTERS.relaxed[ty as usize],
    }
}

const TYPES: usize = ScalarType::ALL.len();

/// The register types of the rules that operands have nearly always, for every type of a value: a signature asks once an operand.
struct Registers {
    exact: [TypeSet; TYPES],
    matching: [TypeSet; TYPES],
    relaxed: [TypeSet; TYPES],
}

static REGISTERS: Registers = {
    let none = [TypeSet::EMPTY; TYPES];
    let mut sets = Registers { exact: none, matching: none, relaxed: none };
    let mut pair = 0;
    while pair < TYPES * TYPES {
        let (n, ty, reg) = (pair / TYPES, ScalarType::ALL[pair / TYPES], ScalarType::ALL[pair % TYPES]);
        if exact(ty, reg) {
            sets.exact[n] = sets.exact[n].with(reg);
        }
        if matching(ty, reg) {
            sets.matching[n] = sets.matching[n].with(reg);
        }
        if relaxed(ty, reg) {
            sets.relaxed[n] = sets.relaxed[n].with(reg);
        }
        pair += 1;
    }
    sets
};

/// The type itself, or bits of its size.
const fn exact(ty: ScalarType, reg: ScalarType) -> bool {
    reg as u8 == ty as u8 || (is_bits(reg) && reg.bits() == ty.bits())
}

const fn is_bits(ty: ScalarType) -> bool {
    matches!(ty.class(), TypeClass::Bits)
}

/// The rule of arithmetic operands: the same size, and integer types with each other, float types with themselves, bits with
/// anything. An `.f16x2` register is also one of 32 bits without a type.
pub(crate) const fn matching(ty: ScalarType, reg: ScalarType) -> bool {
    let bits_reg = is_bits(reg) || matches!(reg, ScalarType::F16x2);
    if reg as u8 == ty as u8 {
        return true;
    }
    if reg.bits() != ty.bits() {
        return false;
    }
    match ty.class() {
        TypeClass::Pred => false,
        TypeClass::Unsigned | TypeClass::Signed => bits_reg || reg.is_integer(),
        TypeClass::Bits => bits_reg || reg.is_integer() || reg.is_float(),
        TypeClass::Packed
            if matches!(ty, ScalarType::U16x2 | ScalarType::S16x2 | ScalarType::U8x4 | ScalarType::S8x4) =>
        {
            bits_reg
        }
        TypeClass::Float | TypeClass::Packed => is_bits(reg),
        TypeClass::Opaque => reg.bits() == 64 && !reg.is_float(),
    }
}

/// The rule of `ld`, `st` and `cvt` (manual tables 27 and 28): a register may be wider than the integer or bits it holds; floats
/// need their own size, or bits.
const fn relaxed(ty: ScalarType, reg: ScalarType) -> bool {
    let wide_enough = reg.bits() >= ty.bits();
    let bits_reg = is_bits(reg);
    let is_half_pair = matches!(reg, ScalarType::F16x2);
    match ty.class() {
        _ if reg as u8 == ty as u8 => true,
        TypeClass::Unsigned | TypeClass::Signed => {
            wide_enough && (bits_reg || reg.is_integer() || is_half_pair)
        }
        TypeClass::Bits => wide_enough && (bits_reg || reg.is_integer() || reg.is_float() || is_half_pair),
        TypeClass::Float => wide_enough && bits_reg,
        TypeClass::Pred | TypeClass::Packed | TypeClass::Opaque => {
            matching(ty, reg) || (wide_enough && bits_reg)
        }
    }
}

/// The operands of an instruction, with their types.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The form.
    pub form: &'static Form,
    /// The operands in order.
    pub operands: SmallVec<[SigOperand; 6]>,
}

/// An operand of a [`Signature`].
#[derive(Clone, Debug)]
pub struct SigOperand {
    /// The name in the manual's syntax.
    pub name: &'static str,
    /// Whether it must be written.
    pub presence: SigPresence,
    /// What it is.
    pub kind: SigKind,
    /// What it needs where it is written; for an optional second half of a pair, what that half needs.
    pub gates: &'static [Clause],
}

/// Whether an operand must be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SigPresence {
    /// It must.
    Required,
    /// It may.
    Optional,
    /// It must not, because this modifier, or any of the slot of this name, is not there.
    OnlyWith(&'static str),
}

/// What an operand of a [`Signature`] is.
#[derive(Clone, Debug)]
pub enum SigKind {
    /// A register or constant, or several in braces.
    Value(SigValue),
    /// `[a]`
    Address(SigSpace),
    /// `d|p`
    Pair {
        /// `d`
        first: SigValue,
        /// `p`
        second: SigValue,
        /// True where `d` alone will do.
        second_optional: bool,
    },
    /// `[a, b]`
    Bracket(Vec<SigOperand>),
    /// `{a, b}` where each element has rules of its own.
    Tuple(Vec<SigOperand>),
    /// A label of the function.
    Label,
    /// A function, or a register that holds one.
    Callee,
    /// The parenthesised arguments of a call.
    Arguments,
    /// The parenthesised results of a call.
    Results,
    /// The name of a `.branchtargets`, `.calltargets` or `.callprototype`.
    List,
}

/// A register or constant, or several in braces.
#[derive(Clone, Copy, Debug)]
pub struct SigValue {
    /// True for what the instruction writes.
    pub destination: bool,
    /// The type of (each element of) the value.
    pub ty: ScalarType,
    /// How many in braces; `None` for a scalar.
    pub count: Option<u16>,
    /// Other numbers that will do; 0 denotes a scalar.
    pub counts: &'static [u16],
    /// True where a modifier names the type.
    pub named: bool,
    /// The register types that may hold it.
    pub registers: TypeSet,
    /// Those that ptxas takes besides.
    pub tolerated: TypeSet,
    /// What may stand there.
    pub accepts: Accepts,
    /// Where a variable that denotes its address must live; `None` for anywhere.
    pub space: Option<SigSpace>,
    /// Which immediates.
    pub range: Option<Range>,
    /// Which of the others ptxas takes besides.
    pub tolerated_range: Option<Range>,
}

/// Which addresses an operand takes.
#[derive(Clone, Copy, Debug)]
pub struct SigSpace {
    spaces: u16,
    /// Not empty for a texture, sampler or surface instead of an address; for tensor memory, the registers that may hold the address.
    pub handle: TypeSet,
    /// The modifier that names the space; `None` for generic.
    pub named: Option<Mod>,
    /// True for an address in tensor memory, which is a 32-bit register.
    pub tensor: bool,
    /// True where a register of any type may hold the address.
    pub any_register: bool,
    /// How it may be written.
    pub reach: Reach,
    /// What it must be a multiple of.
    pub align: u16,
}

impl SigSpace {
    const NONE: SigSpace = SigSpace {
        spaces: 0,
        handle: TypeSet::EMPTY,
        named: None,
        tensor: false,
        any_register: false,
        reach: Reach::empty(),
        align: 1,
    };

    /// The space, generic where none is named.
    pub fn space(&self) -> StateSpace {
        self.named.and_then(Mod::space).unwrap_or(StateSpace::Generic)
    }

    /// True when a variable of the space may be named.
    pub fn allows(&self, space: StateSpace) -> bool {
        self.spaces >> space as u8 & 1 == 1
    }
}

/// Every form whose slots the modifiers fill, as instructions whose operands are not known.
pub fn forms(mnemonic: &Mnemonic) -> impl Iterator<Item = Instruction> + '_ {
    mnemonic
        .opcode()
        .forms()
        .iter()
        .filter_map(|form| Some(Instruction::new(form, fill(form, mnemonic.mods())?)))
}
