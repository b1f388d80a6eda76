//! The language of the rule files (`lower/rules/*.rules`), described in `docs/lowering.md`: text to numbered rules.
//!
//! The build script writes what this makes as static data; tests make rules of it that no file has.

use std::collections::HashMap;

/// What is wrong with a rule file, and in which line.
#[derive(Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, counted from 1.
    pub line: usize,
    /// What was expected, and what was found.
    pub message: String,
}

/// A rule as read, its values and types numbered.
#[derive(Debug)]
pub struct Parsed {
    pub name: String,
    pub line: usize,
    /// The rule without its name, one space wherever the file has several.
    pub text: String,
    pub pattern: Tree,
    pub replacement: Tree,
    pub conditions: Vec<Tree>,
}

/// A term.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Any value, or that of the same number again.
    Value(u8, Option<Kind>),
    /// A value that is known to be a constant.
    Constant(u8, Option<Kind>),
    Int(i64),
    Float(f64),
    Op(Op),
    /// What is known of a value.
    Fact(String, Option<u8>),
}

/// An operation on terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// The operation's name in the IR.
    pub name: String,
    /// The condition of a comparison.
    pub condition: Option<String>,
    /// Flags that a float operation must have.
    pub flags: Vec<String>,
    pub args: Vec<Tree>,
    pub kind: Option<Kind>,
    /// The number of the value that it is.
    pub bound: Option<u8>,
}

/// The type of a term: a numbered one, or that of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Variable(u8),
    Fixed(String),
}

/// The most values and the most types that a rule can name.
pub const MAX_VALUES: usize = 12;
pub const MAX_TYPES: usize = 6;

/// What stands in a condition in place of an operation, and whether it is of a value.
pub const FACTS: &[(&str, bool)] = &[
    ("bits", true),
    ("sign-bit", true),
    ("zeros", true),
    ("ones", true),
    ("once", true),
    ("wraps", true),
    ("keeps", true),
    ("divides", true),
    ("log2", true),
    ("reciprocal", true),
    ("demanded", false),
];

const FIXED: &[&str] = &["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"];

/// Reads a file of rules.
pub fn parse(text: &str) -> Result<Vec<Parsed>, Vec<Error>> {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for (n, line) in text.lines().enumerate() {
        let code = line.split(';').next().unwrap_or("").trim();
        if code.is_empty() {
            continue;
        }
        match family(code, n + 1) {
            Ok(made) => rules.extend(made),
            Err(message) => errors.push(Error { line: n + 1, message }),
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

/// The rules of a line: one, or one for each choice of the words in brackets in front of its name.
fn family(code: &str, line: usize) -> Result<Vec<Parsed>, String> {
    let mut rest = code;
    let mut choices: Vec<Vec<(String, String)>> = vec![Vec::new()];
    while let Some(inner) = rest.strip_prefix('[') {
        let (inside, after) = inner.split_once(']').ok_or("`[` without `]`")?;
        rest = after.trim_start();
        let (names, alternatives) =
            inside.split_once(':').ok_or("expected `:` behind the words in brackets")?;
        let names: Vec<&str> = names.split_whitespace().collect();
        let tuples: Vec<Vec<&str>> = if names.len() == 1 {
            alternatives.split_whitespace().map(|word| vec![word]).collect()
        } else {
            alternatives.split(',').map(|tuple| tuple.split_whitespace().collect()).collect()
        };
        if let Some(wrong) = tuples.iter().find(|tuple| tuple.len() != names.len()) {
            return Err(format!("expected {} words for each choice, found {}", names.len(), wrong.len()));
        }
        choices = choices
            .iter()
            .flat_map(|chosen| {
                tuples.iter().map(|tuple| {
                    let new =
                        names.iter().zip(tuple).map(|(name, word)| (name.to_string(), word.to_string()));
                    chosen.iter().cloned().chain(new).collect()
                })
            })
            .collect();
    }
    let (name, body) = rest.split_once(": ").ok_or("expected a name and `: ` in front of the rule")?;
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Err(format!("a rule's name is of letters, digits and `-`, found `{name}`"));
    }
    choices.iter().map(|chosen| rule(name, body, line, chosen)).collect()
}

fn rule(name: &str, body: &str, line: usize, chosen: &[(String, String)]) -> Result<Parsed, String> {
    let words: HashMap<&str, &str> = chosen.iter().map(|(name, word)| (&**name, &**word)).collect();
    let mut reader = Reader { tokens: tokens(body, &words)?, at: 0, values: Vec::new(), types: Vec::new() };
    let pattern = reader.term()?;
    if !matches!(pattern, Tree::Op(_)) {
        return Err("the pattern is an operation".into());
    }
    reader.expect("=>")?;
    let bound = reader.values.len();
    let kinds = reader.types.len();
    let replacement = reader.term()?;
    let mut conditions = Vec::new();
    if reader.eat("if") {
        conditions.push(reader.term()?);
        while reader.eat(",") {
            conditions.push(reader.term()?);
        }
    }
    if let Some(token) = reader.tokens.get(reader.at) {
        return Err(format!("expected the end of the line, found `{token}`"));
    }
    if let Some(unbound) = reader.values.get(bound) {
        return Err(format!("`{unbound}` is not in the pattern"));
    }
    if let Some(unbound) = reader.types.get(kinds) {
        return Err(format!("the type `{unbound}` is not in the pattern"));
    }
    if reader.values.len() > MAX_VALUES || reader.types.len() > MAX_TYPES {
        return Err(format!("a rule names at most {MAX_VALUES} values and {MAX_TYPES} types"));
    }
    let suffix: Vec<&str> = chosen.iter().map(|(_, word)| &**word).collect();
    let name = if suffix.is_empty() { name.to_owned() } else { format!("{name}/{}", suffix.join("/")) };
    Ok(Parsed { name, line, text: reader.tokens_as_text(), pattern, replacement, conditions })
}

/// Splits a rule into parentheses, commas and words, and puts the chosen words in.
fn tokens(text: &str, words: &HashMap<&str, &str>) -> Result<Vec<String>, String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let end = |word: &mut String, tokens: &mut Vec<String>| {
        if !word.is_empty() {
            let chosen: Vec<&str> =
                word.split('.').map(|part| words.get(part).copied().unwrap_or(part)).collect();
            tokens.push(chosen.join("."));
            word.clear();
        }
    };
    for c in text.chars() {
        match c {
            '(' | ',' => {
                // A name in front of `(`, as in `m@(..)`, stays with it.
                end(&mut word, &mut tokens);
                tokens.push(c.into());
            }
            ')' => {
                end(&mut word, &mut tokens);
                tokens.push(c.into());
            }
            c if c.is_whitespace() => end(&mut word, &mut tokens),
            c => word.push(c),
        }
    }
    end(&mut word, &mut tokens);
    if tokens.len() > 200 { Err("a rule of more than 200 words".into()) } else { Ok(tokens) }
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
    values: Vec<String>,
    types: Vec<String>,
}

impl Reader {
    fn tokens_as_text(&self) -> String {
        let mut text = String::new();
        for token in &self.tokens {
            let tight = token.starts_with([')', ',', ':']) || text.ends_with(['(', '@']) || text.is_empty();
            if !tight {
                text.push(' ');
            }
            text.push_str(token);
        }
        text
    }

    fn next(&mut self) -> Result<String, String> {
        let token = self.tokens.get(self.at).cloned().ok_or("the rule ends early")?;
        self.at += 1;
        Ok(token)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| token == expected);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        let found = self.tokens.get(self.at).map_or("the end of the line", |token| token);
        let message = format!("expected `{expected}`, found `{found}`");
        if self.eat(expected) { Ok(()) } else { Err(message) }
    }

    fn value(&mut self, name: &str) -> Result<u8, String> {
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(format!("expected the name of a value, found `{name}`"));
        }
        Ok(number(&mut self.values, name))
    }

    fn kind(&mut self, name: &str) -> Kind {
        match FIXED.contains(&name) {
            true => Kind::Fixed(name.to_owned()),
            false => Kind::Variable(number(&mut self.types, name)),
        }
    }

    /// `: type` behind `)`.
    fn suffix(&mut self) -> Option<Kind> {
        let name = self.tokens.get(self.at)?.strip_prefix(':')?.to_owned();
        self.at += 1;
        Some(self.kind(&name))
    }

    fn term(&mut self) -> Result<Tree, String> {
        let token = self.next()?;
        if token == "(" {
            return self.operation(None);
        }
        if let Some(name) = token.strip_suffix('@') {
            let bound = self.value(name)?;
            self.expect("(")?;
            return self.operation(Some(bound));
        }
        let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if is_number || token == "inf" {
            return literal(&token).ok_or(format!("`{token}` is not a number"));
        }
        if FACTS.contains(&(&*token, false)) {
            return Ok(Tree::Fact(token, None));
        }
        let (name, kind) = match token.split_once(':') {
            Some((name, kind)) => (name, Some(self.kind(kind))),
            None => (&*token, None),
        };
        let is_constant = name.strip_prefix('c').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        let number = self.value(name)?;
        Ok(if is_constant { Tree::Constant(number, kind) } else { Tree::Value(number, kind) })
    }

    /// What stands behind `(`.
    fn operation(&mut self, bound: Option<u8>) -> Result<Tree, String> {
        let head = self.next()?;
        if FACTS.contains(&(&*head, true)) {
            let name = self.next()?;
            let value = self.value(&name)?;
            self.expect(")")?;
            return Ok(Tree::Fact(head, Some(value)));
        }
        let (name, mut flags) = match head.strip_suffix(']').and_then(|head| head.split_once('[')) {
            Some((name, flags)) => (name, flags.split('+').map(str::to_owned).collect()),
            None => (&*head, Vec::new()),
        };
        flags.sort();
        let (name, condition) = match name.split_once('.') {
            Some((name, condition)) => (name, Some(condition.to_owned())),
            None => (name, None),
        };
        let mut args = Vec::new();
        while !self.eat(")") {
            args.push(self.term()?);
        }
        if args.is_empty() || args.len() > 3 {
            return Err(format!("`{name}` has one to three operands, found {}", args.len()));
        }
        let kind = self.suffix();
        Ok(Tree::Op(Op { name: name.to_owned(), condition, flags, args, kind, bound }))
    }
}

fn number(names: &mut Vec<String>, name: &str) -> u8 {
    let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    at.min(255) as u8
}

fn literal(token: &str) -> Option<Tree> {
    if token == "inf" || token == "-inf" || token.contains('.') {
        return token.parse().ok().map(Tree::Float);
    }
    let (negative, digits) = match token.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as i64,
        None => digits.parse().ok()?,
    };
    Some(Tree::Int(if negative { -magnitude } else { magnitude }))
}
