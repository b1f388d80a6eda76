//! What forms and modifiers need: `@ptx 8.6 sm 100f`.

use super::cursor::{Cursor, Result};
use super::model::{Clause, Condition, TargetRange};
use super::parse::modifier;
use crate::{Release, ReleaseRange, Target, Version};

/// `@ptx 8.6 sm 100a,100f or ptx 9.0 sm 110f @never if .a .b`: every `@` must hold, where its `if` applies.
pub fn gates(c: &mut Cursor) -> Result<Vec<Clause>> {
    let mut clauses = Vec::new();
    while c.eat("@") {
        let advisory = c.eat_word("manual");
        let releases = if c.eat_word("ptxas") { Some(releases(c)?) } else { None };
        let mut any = Vec::new();
        if !c.eat_word("never") {
            any.push(condition(c)?);
            while c.eat_word("or") {
                any.push(condition(c)?);
            }
        }
        let mut when = Vec::new();
        if c.eat_word("if") {
            while c.peek().starts_with('.') {
                when.push(modifier(c)?);
            }
        }
        clauses.push(Clause { any, when, advisory, releases });
    }
    Ok(clauses)
}

/// `13.1`, `..13.3`: releases of ptxas that ask for what follows.
fn releases(c: &mut Cursor) -> Result<ReleaseRange> {
    let text = c.run("a release of ptxas", |ch| ch.is_ascii_digit() || ch == '.')?;
    let (since, until) = text.split_once("..").unwrap_or((text, ""));
    let release = |text: &str| match text {
        "" => Ok(None),
        _ => text.parse::<Release>().map(Some),
    };
    match (release(since), release(until)) {
        (Ok(since), Ok(until)) => Ok(ReleaseRange { since, until }),
        _ => c.error(format!("`{text}` is not a release of ptxas")),
    }
}

fn condition(c: &mut Cursor) -> Result<Condition> {
    let mut condition = Condition { since: None, until: None, targets: Vec::new() };
    let mut any = false;
    if c.eat_word("ptx") {
        any = true;
        let text = c.run("a version", |ch| ch.is_ascii_digit() || ch == '.')?;
        let (since, until) = text.split_once("..").unwrap_or((text, ""));
        let version = |text: &str| match text {
            "" => Ok(None),
            _ => text.parse::<Version>().map(Some),
        };
        match (version(since), version(until)) {
            (Ok(since), Ok(until)) => (condition.since, condition.until) = (since, until),
            _ => return c.error(format!("`{text}` is not a version")),
        }
    }
    if c.eat_word("sm") {
        any = true;
        loop {
            let text = c.run("a target", |ch| ch.is_ascii_alphanumeric() || ch == '.')?;
            match target_range(text) {
                Some(range) => condition.targets.push(range),
                None => return c.error(format!("`{text}` is not a target")),
            }
            if !c.eat(",") {
                break;
            }
        }
    }
    if any { Ok(condition) } else { c.expected("`ptx` or `sm`") }
}

fn target_range(text: &str) -> Option<TargetRange> {
    let known = |number: &str| number.parse::<u16>().ok().filter(|&sm| Target::sm(sm).index().is_some());
    match text.split_once("..") {
        None => format!("sm_{text}").parse().ok().map(TargetRange::From),
        Some(("", last)) => Some(TargetRange::UpTo(known(last)?)),
        Some((first, last)) => Some(TargetRange::Between(known(first)?, known(last)?)),
    }
}
