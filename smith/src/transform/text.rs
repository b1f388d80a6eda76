//! A program as lines that keep who they are: what a step is anchored to stays the same when an earlier step is left out.

use crate::Random;

/// A line, and the number that it has whatever happens around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub id: u64,
    pub text: String,
}

/// The lines of a program.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub lines: Vec<Line>,
    /// What names made here begin with: nothing in the program has it.
    stem: String,
    /// The number of the step that is applied, from 1.
    step: u64,
    /// Lines that the step has made.
    made: u64,
    /// Names that the step has made.
    names: u64,
}

impl Text {
    pub fn new(text: &str) -> Text {
        let lines = (0..).zip(text.lines()).map(|(id, line)| Line { id, text: line.to_owned() }).collect();
        let mut stem = "m".to_owned();
        while ["%", "$", "@", "\n"].iter().any(|before| text.contains(&format!("{before}{stem}"))) {
            stem.push('m');
        }
        Text { lines, stem, step: 0, made: 0, names: 0 }
    }

    /// What is made from here on belongs to a step.
    pub fn begin(&mut self, step: u64) {
        (self.step, self.made, self.names) = (step, 0, 0);
    }

    /// Where a line is now.
    pub fn place(&self, id: u64) -> Option<usize> {
        self.lines.iter().position(|line| line.id == id)
    }

    /// Makes a line before the one at a place.
    pub fn insert(&mut self, at: usize, text: String) {
        self.made += 1;
        self.lines.insert(at, Line { id: (self.step << 24) + self.made, text });
    }

    /// Makes lines before the one at a place; the place of that one afterwards.
    pub fn insert_all(&mut self, at: usize, lines: impl IntoIterator<Item = String>) -> usize {
        let mut at = at;
        for line in lines {
            self.insert(at, line);
            at += 1;
        }
        at
    }

    /// A name that nothing else has.
    pub fn name(&mut self) -> String {
        self.names += 1;
        format!("{}{}_{}", self.stem, self.step, self.names)
    }

    /// The line at a place without the space around it.
    pub fn at(&self, place: usize) -> &str {
        self.lines[place].text.trim()
    }

    pub fn print(&self) -> String {
        let mut text = String::with_capacity(self.lines.len() * 32);
        for line in &self.lines {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

/// True for what a name consists of.
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// The names in a piece of text: maximal runs of what names consist of, with their places.
pub(super) fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    names_of(text, is_name)
}

/// The names in a piece of text that consist of such characters.
pub(super) fn names_of(text: &str, is_part: fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(is_part)?;
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |n| start + n);
        from = end;
        Some((start, &text[start..end]))
    })
}

/// The text with each name, of such characters, for which there is another replaced by that.
pub(super) fn renamed(
    text: &str,
    is_part: fn(char) -> bool,
    mut with: impl FnMut(&str) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (start, name) in names_of(text, is_part) {
        out.push_str(&text[end..start]);
        end = start + name.len();
        match with(name) {
            Some(other) => out.push_str(&other),
            None => out.push_str(name),
        }
    }
    out.push_str(&text[end..]);
    out
}

/// The parts of a list: between commas that are in no brackets.
pub(super) fn parts(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    for (n, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(list[from..n].trim());
                from = n + 1;
            }
            _ => {}
        }
    }
    let last = list[from..].trim();
    if !last.is_empty() {
        found.push(last);
    }
    found
}

/// One of some things.
pub(super) fn one<'a, T>(random: &mut Random, of: &'a [T]) -> Option<&'a T> {
    of.get(random.below(of.len() as u64) as usize)
}

/// True once in so many.
pub(super) fn once_in(random: &mut Random, times: u64) -> bool {
    random.below(times) == 0
}
