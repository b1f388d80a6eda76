//! [`Tables`] to the Rust source of the static data.

use super::model::*;
use super::parse::{ADDRESS_FLAGS, is_shape_slot, is_type_slot, shape_of};
use crate::hash::hash;
use crate::{Release, ReleaseRange, ScalarType, Target, TypeClass, Variant, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The source text; errors are those that only the whole set of tables can show.
pub fn generate(tables: &Tables) -> Result<String, Vec<Error>> {
    let mut opcodes: BTreeMap<&str, Vec<&Form>> = BTreeMap::new();
    for form in &tables.forms {
        for opcode in &form.opcodes {
            opcodes.entry(opcode).or_default().push(form);
        }
    }
    let mut mods: Vec<&str> = Vec::new();
    // Scalar types first, in their own order, so that the modifier of a type is found by its index.
    mods.extend(ScalarType::ALL.iter().map(|ty| ty.name()));
    let mut named: Vec<&str> = tables.forms.iter().flat_map(|f| &f.slots).flat_map(modifiers_of).collect();
    named.extend(
        tables
            .kinds
            .iter()
            .flat_map(|kind| &kind.modifiers)
            .chain(&tables.repeatable)
            .chain(&tables.overlooked)
            .map(String::as_str),
    );
    let slot_names: BTreeSet<&str> =
        tables.forms.iter().flat_map(|f| &f.slots).map(|s| s.name.as_str()).collect();
    named.extend(tables.forms.iter().flat_map(|f| &f.behaviour.defaults).map(String::as_str));
    let in_operands = tables.forms.iter().flat_map(|f| &f.operands).flat_map(modifiers_in_operand);
    named.extend(in_operands.filter(|name| !slot_names.contains(name)));
    named.sort();
    named.dedup();
    mods.extend(named.into_iter().filter(|text| ScalarType::from_name(text).is_none()));

    let slot_names = slot_names.into_iter().map(String::from).collect();
    let spaces = tables.kinds.iter().find(|kind| kind.name == "space").map(|kind| &kind.modifiers);
    let spaces = spaces.into_iter().flatten().cloned().collect();
    let mut out = Output { slot_names, spaces, ..Output::default() };
    let opcode_names: Vec<&str> = opcodes.keys().copied().collect();
    out.names("Opcode", "What an instruction does: the fixed first part of its name.", &opcode_names);
    out.names("Mod", "A modifier of an instruction: what follows the opcode, each after a dot.", &mods);
    let sreg_names: Vec<&str> = tables.sregs.iter().map(|row| row.name.as_str()).collect();
    out.names("SpecialReg", "A special register (manual chapter 10).", &sreg_names);

    out.line(&format!("pub(crate) static MOD_INFO: [crate::mnemonic::ModInfo; {}] = [", mods.len()));
    for text in &mods {
        let kind = match ScalarType::from_name(text) {
            Some(_) => 1,
            None => tables
                .kinds
                .iter()
                .position(|kind| kind.modifiers.iter().any(|m| m == text))
                .map_or(0, |k| k + 2),
        };
        let repeatable = tables.repeatable.iter().any(|m| m == text);
        let overlooked = tables.overlooked.iter().any(|m| m == text);
        let number = number_of(text);
        let shape = shape_of(text).unwrap_or_default();
        out.line(&format!(
            "crate::mnemonic::ModInfo {{ kind: {kind}, repeatable: {repeatable}, overlooked: {overlooked}, number: {number}, shape: {shape:?} }},"
        ));
    }
    out.line("];");

    out.line("/// Every family of instructions, in the order of the tables.");
    out.line(&format!("pub static FAMILIES: [Family; {}] = [", tables.families.len()));
    for family in &tables.families {
        let Family { name, section, area, class, .. } = family;
        out.line(&format!(
            "Family {{ name: {name:?}, section: {section:?}, area: {area:?}, class: Class::{class:?} }},"
        ));
    }
    out.line("];");

    let mut errors = Vec::new();
    let operations = operations(tables, &mut errors);
    out.operations(tables, &operations);
    let mut rows = String::new();
    let mut ranges = String::new();
    let mut count = 0usize;
    for (opcode, forms) in &opcodes {
        let start = count;
        for form in forms {
            match out.form(opcode, form, count, &operations) {
                Ok(row) => rows.push_str(&row),
                Err(message) => errors.push(Error { at: form.at, message }),
            }
            count += 1;
        }
        writeln!(ranges, "({start}, {count}),").expect("writing to a string");
    }
    out.line("/// Every form of every instruction, grouped by opcode.");
    out.line(&format!("pub static FORMS: [Form; {count}] = [\n{rows}];"));
    let slots = tables.forms.iter().map(|form| form.slots.len()).max().unwrap_or(0);
    out.line(&format!("pub(crate) const MAX_SLOTS: usize = {slots};"));
    out.line(&format!("pub(crate) static OPCODE_FORMS: [(u16, u16); {}] = [\n{ranges}];", opcodes.len()));

    let handle = out.clauses(&tables.handle);
    out.line(&format!("pub(crate) static HANDLE: &[Clause] = {handle};"));
    let sampler = out.clauses(&tables.sampler);
    out.line(&format!("pub(crate) static SAMPLER: &[Clause] = {sampler};"));
    out.line(&format!("pub(crate) static SREG_INFO: [crate::sreg::SregInfo; {}] = [", tables.sregs.len()));
    for row in &tables.sregs {
        let gates = out.clauses(&row.gates);
        let Sreg { lanes, ty, section, .. } = row;
        let types: Vec<_> =
            [ty].into_iter().chain(&row.also).map(|ty| format!("ScalarType::{ty:?}")).collect();
        let types = format!("TypeSet::of(&[{}])", types.join(", "));
        out.line(&format!(
            "crate::sreg::SregInfo {{ lanes: {lanes}, ty: ScalarType::{ty:?}, types: {types}, section: {section:?}, gates: {gates} }},"
        ));
    }
    out.line("];");
    out.line("/// Every directive the tables know (manual chapter 11), with what it needs.");
    out.line(&format!("pub static DIRECTIVES: [crate::sreg::Directive; {}] = [", tables.directives.len()));
    for row in &tables.directives {
        let gates = out.clauses(&row.gates);
        let Directive { name, section, .. } = row;
        out.line(&format!(
            "crate::sreg::Directive {{ name: {name:?}, section: {section:?}, gates: {gates} }},"
        ));
    }
    out.line("];");
    if errors.is_empty() { Ok(out.finish()) } else { Err(errors) }
}

fn modifiers_of(slot: &Slot) -> impl Iterator<Item = &str> {
    slot.alternatives.iter().map(|a| a.modifier.as_str())
}

fn modifiers_in_operand(operand: &Operand) -> Vec<&str> {
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
        _ => {}
    }
    all
}

/// The number a modifier carries: 4 in `v4`, 3 in `3d`, and for a matrix shape its N: 128 in `m64n128k16`.
fn number_of(text: &str) -> u32 {
    let digits = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse().unwrap_or(0)
    };
    match shape_of(text) {
        Some([_, n, _]) => n.into(),
        None => text.find(|c: char| c.is_ascii_digit()).map_or(0, |start| digits(&text[start..])),
    }
}

/// `cp.async.bulk` is `CpAsyncBulk`, `shared::cta` is `SharedCta`, `L2::128B` is `L2_128B`, `1d` is `N1d`.
fn variant(text: &str) -> String {
    let mut name = String::new();
    for part in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let digit_first = part.starts_with(|c: char| c.is_ascii_digit());
        if digit_first && name.is_empty() {
            name.push('N');
        } else if digit_first && name.ends_with(|c: char| c.is_ascii_digit()) {
            name.push('_');
        }
        let mut chars = part.chars();
        name.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(chars.as_str());
    }
    name
}

/// The name of the operation of each family and opcode.
type Operations<'t> = BTreeMap<(usize, &'t str), String>;

/// An operation is an opcode in a family. It has the name of the opcode; where the opcode has forms in several families, with the family's
/// word behind.
fn operations<'t>(tables: &'t Tables, errors: &mut Vec<Error>) -> Operations<'t> {
    let mut families: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for form in &tables.forms {
        form.opcodes.iter().for_each(|opcode| {
            families.entry(opcode).or_default().insert(form.family);
        });
    }
    let mut operations = Operations::new();
    let mut owners: BTreeMap<String, (usize, &str)> = BTreeMap::new();
    for form in &tables.forms {
        for opcode in &form.opcodes {
            let word = match families[opcode.as_str()].len() {
                1 => "",
                _ => &tables.families[form.family].word,
            };
            let name = variant(opcode) + word;
            let owner = *owners.entry(name.clone()).or_insert((form.family, opcode));
            if owner != (form.family, opcode) && !operations.contains_key(&(form.family, opcode.as_str())) {
                let other = &tables.families[owner.0].name;
                let message = format!(
                    "`{opcode}` has forms in family `{other}` too: give one of the families a word with `as`"
                );
                errors.push(Error { at: form.at, message });
            }
            operations.insert((form.family, opcode), name);
        }
    }
    operations
}

/// The text under construction; equal lists share one static.
#[derive(Default)]
struct Output {
    text: String,
    statics: String,
    interned: BTreeMap<(&'static str, String), usize>,
    slot_names: BTreeSet<String>,
    /// The modifiers of the kind `space`.
    spaces: BTreeSet<String>,
}

impl Output {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn finish(self) -> String {
        self.statics + &self.text
    }

    /// An enum of names with its two directions: an array, and an open-addressing hash table of indices plus one.
    fn names(&mut self, ty: &str, doc: &str, names: &[&str]) {
        self.line(&format!(
            "/// {doc}\n#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u16)]\n#[non_exhaustive]\n#[rustfmt::skip]\npub enum {ty} {{"
        ));
        for name in names {
            self.line(&format!("#[doc = \"`{name}`\"]\n{},", variant(name)));
        }
        self.line("}");
        let variants: Vec<_> = names.iter().map(|name| format!("{ty}::{}", variant(name))).collect();
        let slots = (names.len() * 2).next_power_of_two();
        let mut table = vec![0u16; slots];
        for (index, name) in names.iter().enumerate() {
            let mut slot = hash(name.as_bytes()) as usize & (slots - 1);
            while table[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            table[slot] = index as u16 + 1;
        }
        let upper = ty.to_ascii_uppercase();
        self.line(&format!(
            "pub(crate) static {upper}_TEXT: [&str; {n}] = {names:?};\npub(crate) static {upper}_ALL: [{ty}; {n}] = [{variants}];\n\
             pub(crate) static {upper}_HASH: [u16; {slots}] = {table:?};",
            n = names.len(),
            variants = variants.join(", "),
        ));
    }

    /// The enum of operations, in the order of the tables.
    fn operations(&mut self, tables: &Tables, operations: &Operations<'_>) {
        self.line(
            "/// What an instruction means: an opcode in a family. Finer than [`Opcode`], which `add` for integers and `add` for floats share.\n\
             ///\n/// It is exhaustive on purpose: a table over operations that lacks one does not compile.\n\
             #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]\n#[repr(u16)]\n#[rustfmt::skip]\npub enum Operation {",
        );
        for ((family, opcode), name) in operations {
            let Family { name: family, section, area, .. } = &tables.families[*family];
            let of = if family == opcode { String::new() } else { format!(" of `{family}`") };
            self.line(&format!("/// `{opcode}`{of}, {area} (manual {section}).\n{name},"));
        }
        self.line("}");
        let all: Vec<_> = operations.values().map(|name| format!("Operation::{name}")).collect();
        let n = all.len();
        self.line(&format!("pub(crate) static OPERATION_ALL: [Operation; {n}] = [{}];", all.join(", ")));
        self.line(&format!("pub(crate) static OPERATION_INFO: [(Opcode, u16, &str); {n}] = ["));
        for ((family, opcode), name) in operations {
            self.line(&format!("(Opcode::{}, {family}, {name:?}),", variant(opcode)));
        }
        self.line("];");
    }

    /// A `&'static [T]` of these elements.
    fn list(&mut self, ty: &'static str, elements: &[String]) -> String {
        if elements.is_empty() {
            return "&[]".into();
        }
        let body = elements.join(", ");
        let next = self.interned.len();
        let number = *self.interned.entry((ty, body.clone())).or_insert(next);
        if number == next {
            let n = elements.len();
            writeln!(self.statics, "static L{number}: [{ty}; {n}] = [{body}];").expect("writing to a string");
        }
        format!("&L{number}")
    }

    fn clauses(&mut self, clauses: &[Clause]) -> String {
        let mut rows: Vec<String> = Vec::new();
        for clause in clauses {
            let conditions: Vec<_> = clause.any.iter().map(|condition| self.condition(condition)).collect();
            let when: Vec<_> = clause.when.iter().map(|m| format!("Mod::{}", variant(m))).collect();
            let (any, when) = (self.list("Condition", &conditions), self.list("Mod", &when));
            let advisory = clause.advisory;
            let release = |r: Option<Release>| match r {
                Some(r) => format!("Some(Release::new({}, {}))", r.major, r.minor),
                None => "None".into(),
            };
            let releases = match clause.releases {
                Some(ReleaseRange { since, until }) => {
                    format!("Some(ReleaseRange {{ since: {}, until: {} }})", release(since), release(until))
                }
                None => "None".into(),
            };
            let row =
                format!("Clause {{ any: {any}, when: {when}, advisory: {advisory}, releases: {releases} }}");
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        self.list("Clause", &rows)
    }

    fn condition(&mut self, condition: &Condition) -> String {
        let version = |v: Option<Version>| match v {
            Some(v) => format!("Some(Version::new({}, {}))", v.major, v.minor),
            None => "None".into(),
        };
        let ranges: Vec<_> = condition
            .targets
            .iter()
            .map(|range| match range {
                TargetRange::From(Target { sm, variant }) => {
                    let variant = match variant {
                        Variant::Base => "Base",
                        Variant::Family => "Family",
                        Variant::Arch => "Arch",
                    };
                    format!("TargetRange::From(Target {{ sm: {sm}, variant: Variant::{variant} }})")
                }
                TargetRange::UpTo(last) => format!("TargetRange::UpTo({last})"),
                TargetRange::Between(first, last) => format!("TargetRange::Between({first}, {last})"),
            })
            .collect();
        let targets = self.list("TargetRange", &ranges);
        let (since, until) = (version(condition.since), version(condition.until));
        format!("Condition {{ since: {since}, until: {until}, targets: {targets} }}")
    }

    fn form(
        &mut self,
        opcode: &str,
        form: &Form,
        id: usize,
        operations: &Operations<'_>,
    ) -> Result<String, String> {
        let slots: Vec<_> = form.slots.iter().map(|slot| self.slot(slot)).collect();
        let slots = self.list("Slot", &slots);
        let operands = self.operands(form, &form.operands)?;
        let gates = self.clauses(&form.gates);
        let mut traits = 0u32;
        for name in &form.behaviour.traits {
            match crate::Traits::ALL.iter().find(|(text, _)| text == name) {
                Some((_, bits)) => traits |= bits,
                None => return Err(format!("no trait `{name}`")),
            }
        }
        let defaults: Vec<_> =
            form.behaviour.defaults.iter().map(|m| format!("Mod::{}", variant(m))).collect();
        let defaults = self.list("Mod", &defaults);
        let operation = &operations[&(form.family, opcode)];
        Ok(format!(
            "Form {{ id: FormId({id}), opcode: Opcode::{}, operation: Operation::{operation}, slots: {slots}, operands: {operands}, gates: {gates}, traits: Traits::from_bits({traits}), defaults: {defaults}, family: {}, syntax: {:?} }},\n",
            variant(opcode),
            form.family,
            form.syntax,
        ))
    }

    fn slot(&mut self, slot: &Slot) -> String {
        let mut rows: Vec<String> = Vec::new();
        for a in &slot.alternatives {
            let gates = self.clauses(&a.gates);
            rows.push(format!("Alternative {{ modifier: Mod::{}, gates: {gates} }}", variant(&a.modifier)));
        }
        let alternatives = self.list("Alternative", &rows);
        let Slot { name, optional, expected, .. } = slot;
        format!(
            "Slot {{ name: {name:?}, optional: {optional}, expected: {expected}, alternatives: {alternatives} }}"
        )
    }

    fn operands(&mut self, form: &Form, operands: &[Operand]) -> Result<String, String> {
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
            rows.push(format!(
                "OperandSpec {{ name: {:?}, shape: {shape}, presence: {presence}, gates: {gates} }}",
                operand.name
            ));
        }
        Ok(self.list("OperandSpec", &rows))
    }

    fn address(&mut self, form: &Form, address: &Address) -> Result<String, String> {
        let Address { space, flags, align } = address;
        let space = self.space(form, space)?;
        let bit = |flag: &String| 1u16 << ADDRESS_FLAGS.iter().position(|known| known == flag).unwrap_or(0);
        let reach = flags.iter().fold(0, |bits, flag| bits | bit(flag));
        Ok(format!("Shape::Address(AddressSpec {{ space: {space}, reach: Reach({reach}), align: {align} }})"))
    }

    fn space(&mut self, form: &Form, space: &Space) -> Result<String, String> {
        match space {
            // Without a slot of that name, the first that holds state spaces.
            Space::Slot(name) => Ok(
                match form.slots.iter().position(|slot| slot.name == *name).or_else(|| {
                    form.slots.iter().position(|slot| modifiers_of(slot).all(|m| self.spaces.contains(m)))
                }) {
                    Some(slot) => format!("SpaceRef::Slot({slot})"),
                    None => "SpaceRef::Fixed(&[])".into(),
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

    fn value(&mut self, form: &Form, value: &Value) -> Result<String, String> {
        let slot = |name: &str| match form.slots.iter().position(|slot| slot.name == name) {
            Some(index) => Ok(index),
            None => Err(format!("no slot `.{name}`")),
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
            Count::OneOf(counts) => format!("CountRef::OneOf(&{counts:?})"),
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
        let range = |range: &Option<Range>| {
            Ok::<_, String>(match range {
                None => "None".to_string(),
                Some(Range::Between { min, max, multiple }) => {
                    format!("Some(Range::Between {{ min: {min}, max: {max}, multiple: {multiple} }})")
                }
                Some(Range::PowerOfTwo { min, max }) => {
                    format!("Some(Range::PowerOfTwo {{ min: {min}, max: {max} }})")
                }
                Some(Range::Stride(extent)) => format!("Some(Range::Stride(Extent::{extent:?}))"),
                Some(Range::OneOf(values)) => format!("Some(Range::OneOf(&{values:?}))"),
                Some(Range::From(name)) => format!("Some(Range::From({}))", earlier(name)?),
                Some(Range::Fraction) => "Some(Range::Fraction)".into(),
            })
        };
        let (range, tolerated) = (range(&value.range)?, range(&value.tolerated)?);
        Ok(format!(
            "ValueSpec {{ destination: {}, count: {count}, ty: {ty}, rule: {rule}, accepts: Accepts({accepts}), space: {space}, range: {range}, tolerated: {tolerated} }}",
            value.destination
        ))
    }
}

/// The bits of `Accepts`; sources take constants and complemented predicates unless told otherwise.
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
    // `-alone`, `-specials` and `-sums` take them away.
    bits |= 1 << 24 | 1 << 25 | 1 << 26;
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
