//! What the tables hold, family by family and line by line, for a page that people read.

use crate::{FAMILIES, FORMS, Family, Form, Gate, Target, Version};

/// A family with its forms.
#[derive(Debug)]
pub struct Entry {
    /// The family.
    pub family: &'static Family,
    /// Its forms as the tables write them.
    pub lines: Vec<Line>,
}

/// A form as the tables write it: alternation groups multiply one line into several forms.
#[derive(Debug)]
pub struct Line {
    /// The forms, at least one.
    pub forms: Vec<&'static Form>,
}

impl Entry {
    /// The lowest version that has any of the forms, and the lowest target.
    pub fn since(&self) -> Option<(Version, Target)> {
        self.lines.iter().filter_map(Line::since).min()
    }
}

impl Line {
    /// The line.
    pub fn syntax(&self) -> &'static str {
        self.forms[0].syntax
    }

    /// The lowest version that has any of the forms with some modifiers, and the lowest target.
    pub fn since(&self) -> Option<(Version, Target)> {
        let lowest = |form: &&'static Form| {
            let gate = Gate { clauses: form.gates.to_vec() };
            Target::all().filter_map(|t| gate.lowest_version(t).map(|v| (v, t))).min()
        };
        self.forms.iter().filter_map(lowest).min()
    }
}

/// Every family with its forms, in the order of the tables.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = FAMILIES.iter().map(|family| Entry { family, lines: Vec::new() }).collect();
    for form in &FORMS {
        let lines = &mut entries[usize::from(form.family)].lines;
        match lines
            .last_mut()
            .filter(|line| line.syntax() == form.syntax && line.forms[0].opcode == form.opcode)
        {
            Some(line) => line.forms.push(form),
            None => lines.push(Line { forms: vec![form] }),
        }
    }
    entries
}
