//! [`Tables`] to the Rust source of the static data.

mod operand;

use super::model::*;
use super::parse::shape_of;
use crate::hash;
use crate::{Release, ReleaseRange, ScalarType, Target, Variant, Version};
use operand::modifiers_in_operand;
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
            // The kind `type` has what stands in order with scalar types and is none.
            None => tables
                .kinds
                .iter()
                .position(|kind| kind.modifiers.iter().any(|m| m == text))
                .map_or(0, |k| if tables.kinds[k].name == "type" { 1 } else { k + 2 }),
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
    out.line(&format!("pub(crate) static HANDLE: Rows<Clause> = {handle};"));
    let sampler = out.clauses(&tables.sampler);
    out.line(&format!("pub(crate) static SAMPLER: Rows<Clause> = {sampler};"));
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

/// The text under construction, and the rows it refers to.
#[derive(Default)]
struct Output {
    text: String,
    /// By type.
    pools: BTreeMap<&'static str, Pool>,
    slot_names: BTreeSet<String>,
    /// The modifiers of the kind `space`.
    spaces: BTreeSet<String>,
}

impl Output {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn finish(mut self) -> String {
        for (ty, Pool { rows, .. }) in std::mem::take(&mut self.pools) {
            let (name, n, rows) = (ty.to_ascii_uppercase(), rows.len(), rows.join(",\n"));
            self.line(&format!(
                "pub(crate) static {name}_ROWS: [{ty}; {n}] = [\n{rows}];\nimpl Row for {ty} {{\nfn table() -> &'static [Self] {{\n&{name}_ROWS\n}}\n}}"
            ));
        }
        self.text
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
            let mut slot = hash::slot(name, slots);
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

    /// The `Rows` of these elements.
    fn list(&mut self, ty: &'static str, elements: &[String]) -> String {
        let start = self.pools.entry(ty).or_default().run(elements);
        format!("Rows::new({start}, {})", elements.len())
    }

    /// The `RowId` of this element.
    fn id(&mut self, ty: &'static str, element: String) -> String {
        let index = self.pools.entry(ty).or_default().run(&[element]);
        format!("RowId::new({index})")
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
        let slots = self.list("SlotId", &slots);
        let operands = self.operands(form, &form.operands)?;
        let gates = self.clauses(&form.gates);
        let mut traits = crate::Traits::empty();
        for name in &form.behaviour.traits {
            match crate::Traits::NAMES.iter().find(|(text, _)| text == name) {
                Some((_, one)) => traits |= *one,
                None => return Err(format!("unknown trait `{name}`")),
            }
        }
        let defaults: Vec<_> =
            form.behaviour.defaults.iter().map(|m| format!("Mod::{}", variant(m))).collect();
        let defaults = self.list("Mod", &defaults);
        let operation = &operations[&(form.family, opcode)];
        let traits = traits.bits();
        Ok(format!(
            "Form {{ id: FormId({id}), opcode: Opcode::{}, operation: Operation::{operation}, slots: {slots}, modifiers: ModWord::of({slots}), operands: {operands}, gates: {gates}, traits: Traits::from_bits_retain({traits}), defaults: {defaults}, family: {}, syntax: {:?} }},\n",
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
        let row = format!(
            "Slot {{ name: {name:?}, optional: {optional}, expected: {expected}, alternatives: {alternatives} }}"
        );
        self.id("Slot", row)
    }
}

/// The rows of one type. Equal runs of them are stored once, also where one is a part of another.
#[derive(Default)]
struct Pool {
    rows: Vec<String>,
    runs: BTreeMap<Vec<String>, usize>,
}

impl Pool {
    /// The number of the first row of a run.
    fn run(&mut self, run: &[String]) -> usize {
        if run.is_empty() {
            return 0;
        }
        if let Some(start) = self.runs.get(run) {
            return *start;
        }
        let start = self.rows.windows(run.len()).position(|rows| rows == run).unwrap_or_else(|| {
            self.rows.extend_from_slice(run);
            self.rows.len() - run.len()
        });
        self.runs.insert(run.to_vec(), start);
        start
    }
}
