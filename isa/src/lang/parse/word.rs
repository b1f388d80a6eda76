//! The words of a line.

use crate::lang::cursor::{Cursor, Result};
use crate::lang::model::Behaviour;
use crate::{Class, ScalarType};

pub(super) fn end(c: &mut Cursor) -> Result<()> {
    if c.at_end() { Ok(()) } else { c.expected("the end of the line") }
}

pub(super) fn scalar(c: &mut Cursor) -> Result<ScalarType> {
    let name = c.word("a type")?;
    match ScalarType::from_name(name) {
        Some(ty) => Ok(ty),
        None => c.error(format!("unknown type `{name}`")),
    }
}

pub(super) fn class_name(c: &mut Cursor) -> Result<Class> {
    let name = c.word("a class of instructions")?;
    name.parse().or_else(|_| c.error(format!("unknown instruction class `{name}`")))
}

/// `reads writes default .relaxed .gpu`
pub(super) fn behaviour(c: &mut Cursor) -> Result<Behaviour> {
    let mut all = Behaviour::default();
    while !c.at_end() && !c.peek().starts_with('@') {
        if c.eat_word("default") {
            while c.peek().starts_with('.') {
                all.defaults.push(modifier(c)?);
            }
        } else {
            all.traits.push(c.word("a trait")?.to_string());
        }
    }
    Ok(all)
}

pub(super) fn section(c: &mut Cursor) -> Result<String> {
    Ok(c.run("a section number", |ch| ch.is_ascii_digit() || ch == '.' || ch == ':')?.to_string())
}

/// `.shared::cta`, `.m64n<8..256:8>k16`; gives the text after the dot.
pub fn modifier(c: &mut Cursor) -> Result<String> {
    c.expect(".")?;
    let accept = |ch: char| ch.is_ascii_alphanumeric() || "_:".contains(ch);
    let mut text = c.run("a modifier", accept)?.to_string();
    if c.adjacent() && c.peek().starts_with('<') {
        text += c.run("a range", |ch| ch != '>')?;
        c.expect(">")?;
        text.push('>');
        if c.adjacent() && c.peek().starts_with(accept) {
            text += c.run("a modifier", accept)?;
        }
    }
    Ok(text)
}

/// `name = .a .b .c`
pub(super) fn modifier_list(c: &mut Cursor) -> Result<(String, Vec<String>)> {
    let name = c.word("a name")?.to_string();
    c.expect("=")?;
    let mut all = Vec::new();
    while !c.at_end() {
        all.push(modifier(c)?);
    }
    Ok((name, all))
}
