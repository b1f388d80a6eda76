//! Operands of forms, as Rust.

use super::{Output, modifiers_of, variant};
use crate::lang::model::*;
use crate::lang::parse::{ADDRESS_FLAGS, is_shape_slot, is_type_slot};
use crate::{ScalarType, TypeClass};

impl Output {
    pub(super) fn operands(&mut self, form: &Form, operands: &[Operand]) -> Result<String, String> {
        let mut rows = Vec::new();
        for operand in operands {
            let shape = match &operand.shape {
                Shape::Value(value) => format!("Shape::Value({})", self.value(form, value)?),
                Shape::Address(address) => self.address(form, address)?,
                Shape::Pair { first, second, second_optional } => {
                    let (first, second) = (self.value(form, first)?, self.value(form, second)?);
                    format!(
                        "Shape::Pair {{ first: {first}, second: {second}, second_optional: {second_optional} }}"
                    )
                }
                Shape::Bracket(inner) => format!("Shape::Bracket({})", self.operands(form, inner)?),
                Shape::Tuple(inner) => format!("Shape::Tuple({})", self.operands(form, inner)?),
                Shape::Label => "Shape::Label".into(),
                Shape::Callee => "Shape::Callee".into(),
                Shape::Arguments => "Shape::Arguments".into(),
                Shape::Results => "Shape::Results".into(),
                Shape::List => "Shape::List".into(),
            };
            let gates = self.clauses(&operand.gates);
            let presence = match &operand.presence {
                Presence::Always => "Presence::Always".into(),
                Presence::Optional => "Presence::Optional".into(),
                Presence::With(name) => match form.slots.iter().position(|slot| slot.name == *name) {
                    Some(slot) => format!("Presence::WithSlot({slot})"),
                    None if form.slots.iter().flat_map(|s| &s.alternatives).any(|a| a.modifier == *name) => {
                        format!("Presence::With(Mod::{})", variant(name))
                    }
                    // This alternative of the form lacks the slot, hence the operand.
                    None if self.slot_names.contains(name) => continue,
                    None => format!("Presence::With(Mod::{})", variant(name)),
                },
            };
            let row = format!(
                "OperandSpec {{ name: {:?}, shape: {shape}, presence: {presence}, gates: {gates} }}",
                operand.name
            );
            rows.push(self.id("OperandSpec", row));
        }
        Ok(self.list("OperandId", &rows))
    }

    pub(super) fn address(&mut self, form: &Form, address: &Address) -> Result<String, String> {
        let Address { space, flags, align } = address;
        let space = self.space(form, space)?;
        let bit = |flag: &String| 1u16 << ADDRESS_FLAGS.iter().position(|known| known == flag).unwrap_or(0);
        let reach = flags.iter().fold(0, |bits, flag| bits | bit(flag));
        Ok(format!(
            "Shape::Address(AddressSpec {{ space: {space}, reach: Reach::from_bits_retain({reach}), align: {align} }})"
        ))
    }

    pub(super) fn space(&mut self, form: &Form, space: &Space) -> Result<String, String> {
        match space {
            // Without a slot of that name, the first that holds state spaces.
            Space::Slot(name) => Ok(
                match form.slots.iter().position(|slot| slot.name == *name).or_else(|| {
                    form.slots.iter().position(|slot| modifiers_of(slot).all(|m| self.spaces.contains(m)))
                }) {
                    Some(slot) => format!("SpaceRef::Slot({slot})"),
                    None => format!("SpaceRef::Fixed({})", self.list("Mod", &[])),
                },
            ),
            Space::Tensor(types) => {
                let types: Vec<_> = types.iter().map(|ty| format!("ScalarType::{ty:?}")).collect();
                Ok(format!("SpaceRef::Tensor(TypeSet::of(&[{}]))", types.join(", ")))
            }
            Space::TensorMap => Ok("SpaceRef::TensorMap".into()),
            Space::Handle(types) => {
                let types: Vec<_> = types.iter().map(|ty| format!("ScalarType::{ty:?}")).collect();
                Ok(format!("SpaceRef::Handle(TypeSet::of(&[{}]))", types.join(", ")))
            }
            Space::Fixed(names) => {
                let names = names.iter().filter(|name| *name != "generic");
                let mods: Vec<_> = names.map(|name| format!("Mod::{}", variant(name))).collect();
                Ok(format!("SpaceRef::Fixed({})", self.list("Mod", &mods)))
            }
        }
    }

    pub(super) fn value(&mut self, form: &Form, value: &Value) -> Result<String, String> {
        let slot = |name: &str| match form.slots.iter().position(|slot| slot.name == name) {
            Some(index) => Ok(index),
            None => Err(format!("unknown slot `.{name}`")),
        };
        let type_of = |ty: &Ty| {
            Ok::<_, String>(match ty {
                Ty::Fixed(ty) => format!("TypeRef::Fixed(ScalarType::{ty:?})"),
                Ty::Slot { slot: name, times, over } => {
                    format!("TypeRef::Slot {{ slot: {}, times: {times}, over: {over} }}", slot(name)?)
                }
                Ty::Instruction => {
                    let slot = form.slots.iter().position(is_type_slot).ok_or("no type slot")?;
                    format!("TypeRef::Slot {{ slot: {slot}, times: 1, over: 1 }}")
                }
            })
        };
        let count = match &value.count {
            Count::Scalar => "CountRef::Scalar".into(),
            Count::Fixed(n) => format!("CountRef::Fixed({n})"),
            Count::OneOf(counts) => {
                let counts: Vec<_> = counts.iter().map(u16::to_string).collect();
                format!("CountRef::OneOf({})", self.list("u16", &counts))
            }
            // A slot that this alternative of the form does not have counts as empty.
            Count::Slot { slot: name, times, over, minus } => match slot(name) {
                Ok(slot) => {
                    format!("CountRef::Slot {{ slot: {slot}, times: {times}, over: {over}, minus: {minus} }}")
                }
                Err(_) => "CountRef::Scalar".into(),
            },
            Count::Fragment { extent, ty, over } => {
                let shape = form.slots.iter().position(is_shape_slot).ok_or("no shape slot")?;
                let ty = type_of(ty)?;
                format!(
                    "CountRef::Fragment {{ shape: {shape}, extent: Extent::{extent:?}, ty: {ty}, over: {over} }}"
                )
            }
        };
        let ty = type_of(&value.ty)?;
        let rule = match &value.rule {
            Rule::Matching if matches!(value.ty, Ty::Fixed(ScalarType::U32 | ScalarType::S32)) => {
                "RegRule::Plain".into()
            }
            Rule::Matching => "RegRule::Matching".into(),
            Rule::Relaxed => "RegRule::Relaxed".into(),
            Rule::Exact => "RegRule::Exact".into(),
            Rule::Texel => "RegRule::Texel".into(),
            Rule::Listed(types, tolerated) => {
                let set = |types: &[ScalarType]| {
                    let types: Vec<_> = types.iter().map(|ty| format!("ScalarType::{ty:?}")).collect();
                    format!("TypeSet::of(&[{}])", types.join(", "))
                };
                format!("RegRule::Listed {{ types: {}, tolerated: {} }}", set(types), set(tolerated))
            }
        };
        let accepts = accepts(value);
        let space = match &value.space {
            Some(space) => format!("Some({})", self.space(form, space)?),
            None => "None".into(),
        };
        // Only where nothing before it may be absent is its index known.
        let always = || form.operands.iter().take_while(|o| o.presence == Presence::Always);
        let earlier =
            |name: &str| always().position(|o| o.name == name).ok_or(format!("no operand `{name}` before"));
        let mut range = |range: &Option<Range>| {
            Ok::<_, String>(match range {
                None => "None".to_string(),
                Some(Range::Between { min, max, multiple }) => {
                    format!("Some(Range::Between {{ min: {min}, max: {max}, multiple: {multiple} }})")
                }
                Some(Range::PowerOfTwo { min, max }) => {
                    format!("Some(Range::PowerOfTwo {{ min: {min}, max: {max} }})")
                }
                Some(Range::Stride(extent)) => format!("Some(Range::Stride(Extent::{extent:?}))"),
                Some(Range::OneOf(values)) => {
                    let values: Vec<_> = values.iter().map(i64::to_string).collect();
                    format!("Some(Range::OneOf({}))", self.list("i64", &values))
                }
                Some(Range::From(name)) => format!("Some(Range::From({}))", earlier(name)?),
                Some(Range::Fraction) => "Some(Range::Fraction)".into(),
            })
        };
        let (range, tolerated) = (range(&value.range)?, range(&value.tolerated)?);
        Ok(format!(
            "ValueSpec {{ destination: {}, count: {count}, ty: {ty}, rule: {rule}, accepts: Accepts::from_bits_retain({accepts}), space: {space}, range: {range}, tolerated: {tolerated} }}",
            value.destination
        ))
    }
}

pub(super) fn modifiers_in_operand(operand: &Operand) -> Vec<&str> {
    let mut all = Vec::new();
    if let Presence::With(modifier) = &operand.presence {
        all.push(modifier.as_str());
    }
    match &operand.shape {
        Shape::Address(Address { space: Space::Fixed(spaces), .. }) => {
            all.extend(spaces.iter().map(String::as_str).filter(|s| *s != "generic"))
        }
        Shape::Bracket(inner) | Shape::Tuple(inner) => {
            all.extend(inner.iter().flat_map(modifiers_in_operand))
        }
        Shape::Value(_)
        | Shape::Address(_)
        | Shape::Pair { .. }
        | Shape::Label
        | Shape::Callee
        | Shape::Arguments
        | Shape::Results
        | Shape::List => {}
    }
    all
}

/// The bits of `Accepts`; sources take constants and complemented predicates unless the table says otherwise.
fn accepts(value: &Value) -> u32 {
    const REGISTER: u32 = 1;
    const IMMEDIATE: u32 = 1 << 1;
    let mut bits = match (value.immediate_only, value.destination) {
        (true, _) => IMMEDIATE,
        // A sink may stand in the braces of any destination.
        (false, true) => REGISTER | 1 << 10,
        (false, false) => REGISTER | IMMEDIATE,
    };
    if value.ty == Ty::Fixed(ScalarType::Pred) && !value.destination {
        bits |= 1 << 8;
    }
    // Where the registers are listed, they give untyped braces their type.
    let untyped = matches!(value.ty, Ty::Fixed(ty) if ty.class() == TypeClass::Bits);
    if !(untyped && matches!(value.rule, Rule::Listed(..))) {
        bits |= 1 << 17;
    }
    if matches!(value.rule, Rule::Listed(..)) {
        bits |= 1 << 23;
    }
    // `-alone`, `-specials`, `-sums` and `-braces` take them away.
    bits |= 1 << 24 | 1 << 25 | 1 << 26 | 1 << 30;
    for (on, flag) in &value.flags {
        let bit = match flag.as_str() {
            // `+imm` asks for constants even where the type has none.
            "imm" if *on => IMMEDIATE | 1 << 9,
            "imm" => IMMEDIATE,
            "reg" => REGISTER,
            "sink" => 1 << 2,
            "sreg" => 1 << 3,
            "var" => 1 << 4,
            "func" => 1 << 5,
            "neg" => 1 << 6,
            "part" => 1 << 7,
            "not" => 1 << 8,
            "lanes2" => 1 << 11,
            "mask2" => 1 << 12,
            "lanes4" => 1 << 13,
            "mask4" => 1 << 14,
            "wrap" => 1 << 15,
            // Where lists of several may stand, one of one is nothing to warn of.
            "braces" if !*on => 1 << 16 | 1 << 28 | 1 << 30,
            "braces" if matches!(value.count, Count::Slot { .. }) => 1 << 16 | 1 << 28,
            "braces" => 1 << 16,
            "vector" => 1 << 19,
            "sloppy" => 1 << 20,
            "lone" => 1 << 21,
            "spelt" => 1 << 22,
            "alone" => 1 << 17 | 1 << 24,
            "specials" => 1 << 25,
            "sums" => 1 << 26,
            "array" => 1 << 18,
            "inout" => 1 << 27,
            _ => 1 << 10,
        };
        if *on { bits |= bit } else { bits &= !bit }
    }
    bits
}
