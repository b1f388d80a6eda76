//! Table files to [`Tables`]: the grammar is in `docs/isa-tables.md`.

mod operand;
mod reference;
mod word;

pub use reference::{ADDRESS_FLAGS, is_shape_slot, is_type_slot, shape_of};
pub use word::modifier;

use super::cursor::{Cursor, Result};
use super::gates::gates;
use super::model::*;
use crate::{Class, ScalarType};
use reference::check_references;
use std::collections::{HashMap, HashSet};
use word::{behaviour, class_name, end, modifier_list, scalar, section};

type Slots = HashMap<String, Vec<Alternative>>;

/// The state of reading one set of files.
pub struct Reader {
    pub tables: Tables,
    /// The register types of a class, and those that only ptxas counts among them.
    classes: HashMap<String, (Vec<ScalarType>, Vec<ScalarType>)>,
    /// The names of all slots of all scopes.
    defined: HashSet<String>,
    globals: Slots,
    area: Area,
    in_file: Slots,
    /// Definitions, gates and behaviour of the family being read.
    locals: Slots,
    family: Option<(Vec<Clause>, Behaviour)>,
}

/// A heading of the coverage page, and what it gives the families below it.
struct Area {
    name: String,
    word: String,
    class: Class,
}

/// The pieces between a form's name and its operands.
enum Item {
    Slot(Slot),
    /// One of several sequences.
    Choice(Vec<Vec<Item>>),
    /// What the sequence needs.
    Gate(Vec<Clause>),
}

impl Reader {
    pub fn new() -> Self {
        Reader {
            tables: Tables::default(),
            classes: HashMap::new(),
            defined: HashSet::new(),
            globals: Slots::new(),
            area: Area { name: String::new(), word: String::new(), class: Class::Other },
            in_file: Slots::new(),
            locals: Slots::new(),
            family: None,
        }
    }

    /// Reads one file; every faulty line is one error. Slots may be defined below the forms that use them, as the manual does,
    /// so a family's forms are read when the family ends.
    pub fn file(&mut self, file: usize, text: &str) -> Vec<Error> {
        let mut errors = Vec::new();
        let mut pending = Vec::new();
        self.family = None;
        self.area.name.clear();
        self.in_file.clear();
        for (line, text) in logical_lines(text) {
            let at = Position { file, line };
            let mut cursor = Cursor::new(&text, at);
            if text.starts_with("family ") || text.starts_with("area ") {
                errors.extend(self.flush(&mut pending));
            }
            let done = match () {
                _ if cursor.eat_word("area") => self.area(&mut cursor),
                _ if cursor.eat_word("family") => self.begin_family(&mut cursor),
                _ if cursor.eat_word("kind") => modifier_list(&mut cursor)
                    .map(|(name, modifiers)| self.tables.kinds.push(Kind { name, modifiers })),
                _ if cursor.eat_word("overlooked") => {
                    modifier_list(&mut cursor).map(|(_, m)| self.tables.overlooked.extend(m))
                }
                _ if cursor.eat_word("repeatable") => {
                    modifier_list(&mut cursor).map(|(_, m)| self.tables.repeatable.extend(m))
                }
                _ if cursor.eat_word("class") => self.class(&mut cursor),
                _ if cursor.eat_word("sreg") => self.sreg(&mut cursor),
                _ if cursor.eat_word("handle") => {
                    gates(&mut cursor).map(|gates| self.tables.handle.extend(gates))
                }
                _ if cursor.eat_word("sampler") => {
                    gates(&mut cursor).map(|gates| self.tables.sampler.extend(gates))
                }
                _ if cursor.eat_word("directive") => self.directive(&mut cursor),
                _ if text.starts_with('.') => self.definition(&mut cursor),
                _ => {
                    pending.push((at, text.clone()));
                    Ok(())
                }
            };
            errors.extend(done.err());
        }
        errors.extend(self.flush(&mut pending));
        errors
    }

    /// Modifiers that are the name of a slot defined somewhere: the form that has them meant the slot, out of its scope.
    pub fn stray_slots(&self) -> Vec<Error> {
        let stray = |form: &Form| {
            let mut modifiers = form.slots.iter().flat_map(|slot| &slot.alternatives).map(|a| &a.modifier);
            let name = modifiers.find(|m| self.defined.contains(*m))?;
            Some(Error { at: form.at, message: format!("slot `.{name}` is not defined in this family") })
        };
        self.tables.forms.iter().filter_map(stray).collect()
    }

    fn flush(&mut self, pending: &mut Vec<(Position, String)>) -> Vec<Error> {
        let errors = pending.drain(..).filter_map(|(at, text)| self.form(at, &text).err()).collect();
        self.locals.clear();
        errors
    }

    /// `area integer arithmetic as Integer class integer`
    fn area(&mut self, c: &mut Cursor) -> Result<()> {
        let (mut name, mut word, mut class) = (Vec::new(), String::new(), Class::Other);
        while !c.at_end() {
            if c.eat_word("as") {
                word = c.word("a word for operations")?.to_string();
            } else if c.eat_word("class") {
                class = class_name(c)?;
            } else {
                name.push(c.run("a topic", |ch| !ch.is_whitespace())?);
            }
        }
        self.area = Area { name: name.join(" "), word, class };
        self.family = None;
        Ok(())
    }

    /// `family ld.global.nc 9.7.9.9 as Noncoherent class load : reads traps default .weak @sm 32`
    fn begin_family(&mut self, c: &mut Cursor) -> Result<()> {
        let name = c.run("a family name", |ch| !ch.is_whitespace())?.to_string();
        let section = section(c)?;
        let word = match c.eat_word("as") {
            true => c.word("a word for operations")?.to_string(),
            false => self.area.word.clone(),
        };
        let class = if c.eat_word("class") { class_name(c)? } else { self.area.class };
        let behaviour = if c.eat(":") { behaviour(c)? } else { Behaviour::default() };
        let gates = gates(c)?;
        self.tables.families.push(Family { name, section, area: self.area.name.clone(), word, class });
        self.family = Some((gates, behaviour));
        end(c)
    }

    /// `class word = b32 u32 s32 but pred`
    fn class(&mut self, c: &mut Cursor) -> Result<()> {
        let name = c.word("a class name")?.to_string();
        c.expect("=")?;
        let (mut types, mut tolerated, mut but) = (Vec::new(), Vec::new(), false);
        while !c.at_end() {
            but |= c.eat_word("but");
            let class = if but { &mut tolerated } else { &mut types };
            class.push(scalar(c)?);
        }
        self.classes.insert(name, (types, tolerated));
        Ok(())
    }

    /// `sreg %tid .v4.u32 10.1 also u16`; `%envreg<32>` denotes 32 names.
    fn sreg(&mut self, c: &mut Cursor) -> Result<()> {
        let stem = c.run("a special register", |ch| ch == '%' || ch == '_' || ch.is_ascii_alphanumeric())?;
        let names = if c.adjacent() && c.eat("<") {
            let count: u16 = c.number("a count")?;
            c.expect(">")?;
            let rest = if c.adjacent() { c.peek().split(' ').next().unwrap_or("") } else { "" };
            c.eat(rest);
            (0..count).map(|i| format!("{stem}{i}{rest}")).collect()
        } else {
            vec![stem.to_string()]
        };
        let lanes = if c.eat(".v4") { 4 } else { 1 };
        c.expect(".")?;
        let ty = scalar(c)?;
        let section = section(c)?;
        let mut also = Vec::new();
        if c.eat_word("also") {
            while !c.at_end() && !c.peek().starts_with('@') {
                also.push(scalar(c)?);
            }
        }
        let gates = gates(c)?;
        let row = |name| Sreg {
            name,
            lanes,
            ty,
            also: also.clone(),
            section: section.clone(),
            gates: gates.clone(),
        };
        self.tables.sregs.extend(names.into_iter().map(row));
        end(c)
    }

    /// `directive .maxntid 11.4.2 @ptx 1.3`
    fn directive(&mut self, c: &mut Cursor) -> Result<()> {
        let name =
            c.run("a directive", |ch| ch == '.' || ch == '@' || ch == '_' || ch.is_ascii_alphanumeric())?;
        let row = Directive { name: name.to_string(), section: section(c)?, gates: gates(c)? };
        self.tables.directives.push(row);
        end(c)
    }

    /// `.rnd = .rn | .rz @sm 20 | .other`
    fn definition(&mut self, c: &mut Cursor) -> Result<()> {
        let name = modifier(c)?;
        c.expect("=")?;
        let mut all = Vec::new();
        loop {
            let text = modifier(c)?;
            let gates = gates(c)?;
            for mut alternative in self.resolve(&text, c)? {
                alternative.gates.extend(gates.iter().cloned());
                all.push(alternative);
            }
            if !c.eat("|") {
                break;
            }
        }
        end(c)?;
        // A slot may have the name of its only modifier: `.weak = .weak @sm 70`.
        if all.iter().all(|a| a.modifier != name) {
            self.defined.insert(name.clone());
        }
        let scope = match (&self.family, self.area.name.is_empty()) {
            (Some(_), _) => &mut self.locals,
            (None, false) => &mut self.in_file,
            (None, true) => &mut self.globals,
        };
        match scope.insert(name.clone(), all) {
            None => Ok(()),
            Some(_) => c.error(format!("`.{name}` is defined twice")),
        }
    }

    /// A slot's alternatives, or the modifier itself when no slot has that name.
    fn resolve(&self, name: &str, c: &Cursor) -> Result<Vec<Alternative>> {
        if let Some(found) =
            [&self.locals, &self.in_file, &self.globals].iter().find_map(|scope| scope.get(name))
        {
            return Ok(found.clone());
        }
        let plain = |modifier| Alternative { modifier, gates: Vec::new() };
        let Some((head, rest)) = name.split_once('<') else { return Ok(vec![plain(name.to_string())]) };
        let numbers = rest.split_once('>').and_then(|(range, tail)| {
            let (range, step) = range.split_once(':').unwrap_or((range, "1"));
            let (first, last) = range.split_once("..")?;
            Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?, step.parse().ok()?, tail))
        });
        match numbers {
            Some((first, last, step, tail)) if step > 0 => {
                Ok((first..=last).step_by(step).map(|n| plain(format!("{head}{n}{tail}"))).collect())
            }
            _ => c.error(format!("`.{name}`: expected `<first..last:step>`")),
        }
    }

    fn form(&mut self, at: Position, text: &str) -> Result<()> {
        let mut c = Cursor::new(text, at);
        let Some((family_gates, mut all)) = self.family.clone() else {
            return c.error("a form outside of a `family`");
        };
        let mut opcodes = Vec::new();
        loop {
            opcodes
                .push(c.run("an opcode", |ch| ch.is_ascii_alphanumeric() || "._:".contains(ch))?.to_string());
            if !(c.adjacent() && c.eat("|")) {
                break;
            }
        }
        let items = self.sequence(&mut c)?;
        let mut operands = Vec::new();
        let mut does = c.eat_word("does");
        if !does && !c.at_end() && !c.peek().starts_with('@') {
            self.operands(&mut c, &mut operands)?;
            does = c.eat_word("does");
        }
        let before = text.len() - c.peek().len() - if does { "does".len() + 1 } else { 0 };
        let syntax = text[..before].split_whitespace().collect::<Vec<_>>().join(" ");
        if does {
            let own = behaviour(&mut c)?;
            all.traits.extend(own.traits);
            // The first of a kind counts.
            all.defaults.splice(0..0, own.defaults);
        }
        let mut gates = gates(&mut c)?;
        end(&mut c)?;
        gates.extend(family_gates);
        for (slots, needs) in expand(&items) {
            let form = Form {
                family: self.tables.families.len() - 1,
                opcodes: opcodes.clone(),
                slots,
                operands: operands.clone(),
                gates: [&needs[..], &gates].concat(),
                behaviour: all.clone(),
                at,
                syntax: syntax.clone(),
            };
            check_references(&form, &c)?;
            self.tables.forms.push(form);
        }
        Ok(())
    }

    /// Modifiers up to the operands or a closing bracket.
    fn sequence(&self, c: &mut Cursor) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            let rest = c.peek();
            if rest.starts_with('.') {
                let mut slot = self.slot(c)?;
                if c.adjacent() && c.eat("=") {
                    // `.vec=.v2|.v4`: a name for a slot written in place.
                    let name = slot.name;
                    slot = Slot { name, ..self.slot(c)? };
                }
                while c.adjacent() && c.eat("|") {
                    slot.alternatives.extend(self.slot(c)?.alternatives);
                }
                items.push(Item::Slot(slot));
            } else if rest.starts_with("{.") || rest.starts_with("{(") {
                c.expect("{")?;
                let mut group = self.group(c, "}", true)?;
                if let Item::Slot(slot) = &mut group {
                    slot.expected = c.adjacent() && c.eat("!");
                }
                items.push(group);
            } else if rest.starts_with("(.") || rest.starts_with("({") || rest.starts_with("((") {
                c.expect("(")?;
                items.push(self.group(c, ")", false)?);
            } else {
                return Ok(items);
            }
        }
    }

    fn slot(&self, c: &mut Cursor) -> Result<Slot> {
        let name = modifier(c)?;
        let alternatives = self.resolve(&name, c)?;
        Ok(Slot { name, optional: false, expected: false, alternatives })
    }

    /// The inside of `{...}` or `(...)`: one slot where every alternative is a single modifier, else a choice to multiply out.
    fn group(&self, c: &mut Cursor, close: &str, optional: bool) -> Result<Item> {
        let mut choices = Vec::new();
        loop {
            let mut choice = self.sequence(c)?;
            let gates = gates(c)?;
            if !gates.is_empty() {
                choice.push(Item::Gate(gates));
            }
            choices.push(choice);
            if !c.eat("|") {
                break;
            }
        }
        c.expect(close)?;
        let single = choices.iter().all(|s| matches!(s.as_slice(), [Item::Slot(slot)] if !slot.optional));
        if single {
            let mut merged: Option<Slot> = None;
            for item in choices.into_iter().flatten() {
                match (item, &mut merged) {
                    (Item::Slot(slot), None) => merged = Some(Slot { optional, ..slot }),
                    (Item::Slot(slot), Some(merged)) => merged.alternatives.extend(slot.alternatives),
                    (Item::Choice(_) | Item::Gate(_), _) => {}
                }
            }
            return match merged {
                Some(slot) => Ok(Item::Slot(slot)),
                None => c.error("an empty group"),
            };
        }
        if optional {
            choices.push(Vec::new());
        }
        Ok(Item::Choice(choices))
    }
}

/// Lines without comments; an indented line that defines nothing continues the line before it.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut lines: Vec<(u32, String)> = Vec::new();
    for (number, raw) in (1u32..).zip(text.lines()) {
        let line = raw.split('#').next().unwrap_or("").trim_end();
        let body = line.trim_start();
        if body.is_empty() {
            continue;
        }
        let defines = body.starts_with('.') && body.split_whitespace().nth(1) == Some("=");
        match lines.last_mut() {
            Some((_, last)) if line.len() != body.len() && !defines => {
                last.push(' ');
                last.push_str(body);
            }
            _ => lines.push((number, body.to_string())),
        }
    }
    lines
}

/// Every way to choose one sequence from each choice: the slots in order, and what they need.
fn expand(items: &[Item]) -> Vec<(Vec<Slot>, Vec<Clause>)> {
    let mut ways = vec![(Vec::new(), Vec::new())];
    for item in items {
        match item {
            Item::Slot(slot) => ways.iter_mut().for_each(|(slots, _)| slots.push(slot.clone())),
            Item::Gate(gate) => ways.iter_mut().for_each(|(_, gates)| gates.extend(gate.iter().cloned())),
            Item::Choice(choices) => {
                let tails: Vec<_> = choices.iter().flat_map(|choice| expand(choice)).collect();
                let join = |(slots, gates): &(Vec<Slot>, Vec<Clause>)| -> Vec<_> {
                    tails.iter().map(|(s, g)| ([&slots[..], s].concat(), [&gates[..], g].concat())).collect()
                };
                ways = ways.iter().flat_map(join).collect();
            }
        }
    }
    ways
}
