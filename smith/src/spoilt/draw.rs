//! Which statement, and what is changed of it.

use super::{Change, Marks, NAMES, Operand, REGISTER_TYPES, Statement, register};
use arbitrary::{Result, Unstructured};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use warpsmith_isa::sample::{Sample, of_form};
use warpsmith_isa::{FORMS, Mod, Opcode, SpecialReg, TARGETS, Target, Version};

/// Integers at the edges of what instructions want of them, and others.
const INTEGERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "128",
    "255",
    "256",
    "4096",
    "65535",
    "65536",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x100000000",
    "-2147483649",
    "0xffffffffffffffff",
    "3U",
    "1 << 3",
    "(1 < 2)",
    "WARP_SZ",
];

const FLOATS: &[&str] = &["0f3F800000", "0f00000000", "0d3FF8000000000000", "1.5", "-0.0", "1e300"];

/// What is written around an operand.
const AROUND: &[&str] = &[
    "!{}",
    "-{}",
    "~{}",
    "{}+4",
    "{}+-4",
    "{}-4",
    "{}.x",
    "{}.y",
    "{}.b0",
    "{}.b3",
    "{}.h1",
    "{}.b10",
    "[{}]",
    "[{}+8]",
    "[{}+r_b64_2]",
    "{{}}",
    "{{}, {}}",
    "{{}, {}, {}, {}}",
    "{}|r_pred_1",
    "{}|_",
    "({})",
    "(-{})",
    "{}[0]",
    "{}.unified",
];

/// Samples of every form, by opcode.
fn samples() -> &'static [(Opcode, Vec<Sample>)] {
    static ALL: OnceLock<Vec<(Opcode, Vec<Sample>)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: BTreeMap<&str, (Opcode, Vec<Sample>)> = BTreeMap::new();
        for form in FORMS.iter() {
            let (_, of) = all.entry(form.opcode.text()).or_insert_with(|| (form.opcode, Vec::new()));
            of.extend(of_form(form, Target::sm(50)));
        }
        all.into_values().filter(|(_, of)| !of.is_empty()).collect()
    })
}

/// A statement that is valid, and changes to be made of it.
pub fn draw(u: &mut Unstructured) -> Result<(Statement, Vec<Change>)> {
    let (_, of_opcode) = u.choose(samples())?;
    let mut statement = Statement::of(u.choose(of_opcode)?);
    if u.ratio(1, 2)? {
        // The versions and targets that are new: much that is old is changed with them.
        if let Some(later) = u.choose(TARGETS).ok().filter(|row| row.target.sm >= 75) {
            let version = Version::known().filter(|version| *version >= later.since).last();
            statement = later_than(&statement, later.target, version);
        }
    }
    let count = *u.choose(&[1usize, 1, 1, 1, 2, 2, 2, 3])?;
    let mut changed = statement.clone();
    let mut changes = Vec::new();
    for _ in 0..count {
        let change = change(u, &changed)?;
        changed.change(&change);
        changes.push(change);
    }
    Ok((statement, changes))
}

/// The statement for a later target and version, if that has it.
fn later_than(statement: &Statement, target: Target, version: Option<Version>) -> Statement {
    let mut later = statement.clone();
    (later.target, later.version) = (target, version.unwrap_or(statement.version));
    match warpsmith_ptx::ValidatedModule::parse(later.module()) {
        Ok(_) => later,
        Err(_) => statement.clone(),
    }
}

fn change(u: &mut Unstructured, of: &Statement) -> Result<Change> {
    let places = of.places();
    let kind = u.int_in_range(0..=31)?;
    let modifier = |u: &mut Unstructured| u.choose_index(of.mods.len());
    Ok(match kind {
        0..=6 if !of.mods.is_empty() => Change::Modifier(modifier(u)?, any_modifier(u, of.opcode)?),
        7..=9 if !of.mods.is_empty() => Change::FewerModifiers(modifier(u)?),
        10 if of.mods.len() > 1 => Change::OtherOrder(u.choose_index(of.mods.len() - 1)?),
        11..=12 => Change::Target(u.choose(TARGETS)?.target),
        13..=14 => Change::Version(any_version(u)?),
        15..=23 if !places.is_empty() => {
            let place = u.choose(&places)?.clone();
            let number = place.last().copied().unwrap_or(0);
            // Elements must agree with each other, with special registers in ways of their own.
            let operand = match place.len() > 1 && u.ratio(1, 4)? {
                true => Operand::Leaf(any_special(u)?),
                false => any_operand(u, number)?,
            };
            Change::Operand(place, operand)
        }
        24..=25 if !places.is_empty() => Change::Around(u.choose(&places)?.clone(), u.choose(AROUND)?),
        26 if !places.is_empty() => Change::MoreOperands(u.choose(&places)?.clone()),
        27 if !places.is_empty() => Change::FewerOperands(u.choose(&places)?.clone()),
        28 if of.operands.len() > 1 => Change::SwappedOperands(u.choose_index(of.operands.len() - 1)?),
        _ => Change::MoreModifiers(u.int_in_range(0..=of.mods.len())?, any_modifier(u, of.opcode)?),
    })
}

/// Mostly one that some form of the opcode has, sometimes a type, sometimes anything.
fn any_modifier(u: &mut Unstructured, opcode: Opcode) -> Result<Mod> {
    let own: Vec<Mod> = opcode
        .forms()
        .iter()
        .flat_map(|form| form.slots.iter().flat_map(|slot| slot.alternatives.iter().map(|a| a.modifier)))
        .collect();
    match u.int_in_range(0..=7)? {
        0 | 1 => Ok(Mod::of_scalar(*u.choose(warpsmith_isa::ScalarType::ALL)?)),
        2 => {
            let all: Vec<Mod> = Mod::all().collect();
            Ok(*u.choose(&all)?)
        }
        _ if own.is_empty() => Ok(Mod::of_scalar(*u.choose(warpsmith_isa::ScalarType::ALL)?)),
        _ => Ok(*u.choose(&own)?),
    }
}

fn any_version(u: &mut Unstructured) -> Result<Version> {
    let known: Vec<Version> = Version::known().collect();
    Ok(*u.choose(&known)?)
}

fn any_operand(u: &mut Unstructured, place: usize) -> Result<Operand> {
    Ok(match u.int_in_range(0..=15)? {
        0..=13 => Operand::Leaf(any_leaf(u, place)?),
        // Alike, or some of them something else.
        14 => {
            let (ty, alike) = (*u.choose(REGISTER_TYPES)?, u.ratio(1, 2)?);
            let count = *u.choose(&[1usize, 2, 3, 4, 8])?;
            let one = |u: &mut Unstructured, n| match alike || u.ratio(1, 2)? {
                true => Ok(register(ty, place + n)),
                false => any_leaf(u, place + n),
            };
            Operand::Group(
                Marks::Braces,
                (0..count).map(|n| one(u, n).map(Operand::Leaf)).collect::<Result<_>>()?,
            )
        }
        _ => {
            let inner = match u.int_in_range(0..=3)? {
                0 => register(*u.choose(REGISTER_TYPES)?, place),
                1 => u.choose(NAMES)?.0.to_owned(),
                2 => (*u.choose(INTEGERS)?).to_owned(),
                _ => format!("{}+{}", u.choose(NAMES)?.0, u.choose(INTEGERS)?),
            };
            Operand::Group(Marks::Brackets, vec![Operand::Leaf(inner)])
        }
    })
}

/// A register, a number, `_`, a special register or a name.
fn any_leaf(u: &mut Unstructured, place: usize) -> Result<String> {
    Ok(match u.int_in_range(0..=13)? {
        0..=6 => register(*u.choose(REGISTER_TYPES)?, place),
        7..=9 => (*u.choose(INTEGERS)?).to_owned(),
        10 => (*u.choose(FLOATS)?).to_owned(),
        11 => "_".to_owned(),
        12 => any_special(u)?,
        _ => u.choose(NAMES)?.0.to_owned(),
    })
}

fn any_special(u: &mut Unstructured) -> Result<String> {
    let all: Vec<SpecialReg> = SpecialReg::all().collect();
    let special = u.choose(&all)?;
    let part = if special.lanes() > 1 && u.ratio(3, 4)? { ".x" } else { "" };
    Ok(format!("{}{part}", special.name()))
}
