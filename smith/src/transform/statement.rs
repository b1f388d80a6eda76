//! What a line of PTX says: its guard, instruction and operands, and which registers it names.

use super::text::{Text, names, parts};
use warpsmith_isa::{Instruction, Mnemonic, Mod, Opcode, SigKind, StateSpace, Traits, forms};
use warpsmith_semantics::{Effect, Meaning};

/// An instruction of the text.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// `@%p `, `@!%p `, or nothing.
    pub guard: String,
    pub mnemonic: String,
    pub operands: Vec<String>,
}

impl Statement {
    /// The instruction on a line. `None` if there is none.
    pub fn read(line: &str) -> Option<Statement> {
        let line = line.trim().strip_suffix(';')?;
        let (guard, rest) = match line.strip_prefix('@') {
            Some(rest) => {
                let (guard, rest) = rest.split_once(' ')?;
                (format!("@{guard} "), rest.trim())
            }
            None => (String::new(), line),
        };
        if !rest.starts_with(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        let (mnemonic, list) = rest.split_once(' ').unwrap_or((rest, ""));
        if mnemonic.ends_with(':') {
            return None;
        }
        let operands = parts(list).into_iter().map(str::to_owned).collect();
        Some(Statement { guard, mnemonic: mnemonic.to_owned(), operands })
    }

    pub fn print(&self) -> String {
        let Statement { guard, mnemonic, operands } = self;
        match operands.as_slice() {
            [] => format!("    {guard}{mnemonic};"),
            all => format!("    {guard}{mnemonic} {};", all.join(", ")),
        }
    }

    fn instruction(&self) -> Option<Instruction> {
        let mnemonic = Mnemonic::parse(&self.mnemonic).ok()?;
        forms(&mnemonic).find(|form| form.signature().operands.len() >= self.operands.len())
    }

    /// What the instruction is to who moves it and what it reads.
    pub fn nature(&self) -> Nature {
        let Some(instruction) = self.instruction() else { return Nature::Other };
        if instruction.traits().intersects(Traits::CARRY) {
            return Nature::Other;
        }
        let plain_move = || {
            // What is not a register or a number is the name of something, or a special register that may change.
            let named = |operand: &String| {
                names(operand).any(|(_, name)| {
                    !name.starts_with(|c: char| c.is_ascii_digit()) && !name.starts_with('%')
                })
            };
            matches!(instruction.opcode(), Opcode::Mov) && !self.operands.iter().skip(1).any(named)
        };
        match Meaning::of_instruction(&instruction) {
            Meaning::Computes(_) => Nature::Pure,
            Meaning::Does(Effect::Move) if plain_move() => Nature::Pure,
            Meaning::Does(Effect::Load) => Nature::Load,
            Meaning::Does(Effect::Store) => Nature::Store,
            Meaning::Does(Effect::Atomic | Effect::Reduce) => Nature::Atomic,
            Meaning::Does(_) | Meaning::Refused(_) => Nature::Other,
        }
    }

    /// True where the first operand is written, and no other is.
    pub fn writes_first(&self) -> bool {
        let Some(instruction) = self.instruction() else { return false };
        let signature = instruction.signature();
        let mut writes = signature.operands.iter().map(|operand| match &operand.kind {
            SigKind::Value(value) => value.destination,
            SigKind::Pair { first, .. } => first.destination,
            SigKind::Address(_)
            | SigKind::Bracket(_)
            | SigKind::Tuple(_)
            | SigKind::Label
            | SigKind::Callee
            | SigKind::Arguments
            | SigKind::Results
            | SigKind::List => false,
        });
        writes.next() == Some(true) && !writes.any(|writes| writes)
    }

    /// True for an access of the variables of a call, or of memory that only parameters have.
    pub fn is_of_parameters(&self) -> bool {
        let mnemonic = Mnemonic::parse(&self.mnemonic).ok();
        mnemonic.is_some_and(|mnemonic| {
            mnemonic.mods().iter().any(|m| {
                matches!(m, Mod::ParamEntry | Mod::ParamFunc) || m.space() == Some(StateSpace::Param)
            })
        })
    }
}

/// What an instruction is to who moves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nature {
    /// Its result depends on its operands alone.
    Pure,
    Load,
    Store,
    Atomic,
    /// Anything else: a branch, a barrier, what lanes do together.
    Other,
}

impl Nature {
    /// True where it does not matter which other threads execute it too.
    pub fn is_alone(self) -> bool {
        self != Nature::Other
    }
}

/// How wide a declared register is: 0 for a predicate.
pub(super) type Bits = u32;

/// The line that declares a register.
pub(super) fn register(name: &str, bits: Bits) -> String {
    match bits {
        0 => format!("    .reg .pred {name};"),
        bits => format!("    .reg .b{bits} {name};"),
    }
}

fn width(ty: &str) -> Option<Bits> {
    match ty {
        ".pred" => Some(0),
        ".f16x2" | ".bf16x2" => Some(32),
        ".f16" | ".bf16" => Some(16),
        ty => {
            let digits = ty.strip_prefix('.')?.strip_prefix(['b', 'u', 's', 'f'])?;
            digits.parse().ok().filter(|bits| matches!(bits, 16 | 32 | 64))
        }
    }
}

/// The type that the declaration on a line gives a name: `None` if it does not declare it.
fn declares<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(".reg ")?.strip_suffix(';')?;
    let (ty, list) = rest.trim().split_once(' ')?;
    let (ty, list) = if ty.starts_with(".v") { (".vector", list.split_once(' ')?.1) } else { (ty, list) };
    let declared = list.split(',').map(str::trim).any(|item| match item.split_once('<') {
        Some((stem, count)) => {
            let number = name.strip_prefix(stem).filter(|n| *n == "0" || !n.starts_with('0'));
            let count = count.strip_suffix('>').and_then(|count| count.parse::<u64>().ok());
            matches!((number.and_then(|n| n.parse::<u64>().ok()), count), (Some(n), Some(count)) if n < count)
        }
        None => item == name,
    });
    declared.then_some(ty)
}

impl Text {
    /// How wide the register is that a name means at a place; `None` for what is not a scalar register.
    pub fn register(&self, place: usize, name: &str) -> Option<Bits> {
        width(self.declared(place, name)?)
    }

    /// True where the register that a name means at a place may be an address: floats are none.
    pub fn holds_addresses(&self, place: usize, name: &str) -> bool {
        self.declared(place, name).is_some_and(|ty| width(ty) == Some(64) && !ty.starts_with(".f"))
    }

    /// The type with which the register is declared that a name means at a place.
    fn declared(&self, place: usize, name: &str) -> Option<&str> {
        let mut depth = 0u32;
        for line in self.lines[..place].iter().rev() {
            let line = line.text.trim();
            if line == "}" {
                depth += 1;
            } else if line == "{" {
                // Before the brace of the function only other functions are left, which are closed.
                depth = depth.saturating_sub(1);
            } else if depth == 0
                && let Some(found) = declares(line, name)
            {
                return Some(found);
            }
        }
        None
    }

    /// The registers that an instruction names, each once, with their widths.
    pub fn registers(&self, place: usize, text: &str) -> Vec<(String, Bits)> {
        let mut found: Vec<(String, Bits)> = Vec::new();
        for (_, name) in names(text) {
            if !found.iter().any(|(known, _)| known == name)
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && let Some(bits) = self.register(place, name)
            {
                found.push((name.to_owned(), bits));
            }
        }
        found
    }

    /// The lines of the function that a place is in: its first brace and its last.
    pub fn function(&self, place: usize) -> Option<(usize, usize)> {
        let open = (0..place).rev().find(|n| self.lines[*n].text == "{")?;
        let close = (open..self.lines.len()).find(|n| self.lines[*n].text == "}")?;
        (open < place && place < close).then_some((open, close))
    }

    /// The header of a function whose brace is there.
    pub fn header(&self, open: usize) -> String {
        let from = (0..open).rev().find(|n| {
            let line = &self.lines[*n].text;
            line.contains(".entry ") || line.contains(".func ")
        });
        let lines = &self.lines[from.unwrap_or(open)..open];
        lines.iter().map(|line| line.text.trim()).collect::<Vec<_>>().join(" ")
    }

    /// True for a function in which threads do something together: who goes which way must stay as it is.
    pub fn is_joint(&self, (open, close): (usize, usize)) -> bool {
        self.lines[open..close].iter().any(|line| {
            let Some(statement) = Statement::read(&line.text) else { return false };
            let alone = ["bra", "ret", "exit", "brx", "call", "mov", "cvta", "fence", "membar", "isspacep"];
            let opcode = statement.mnemonic.split('.').next().unwrap_or_default();
            !statement.nature().is_alone() && !alone.contains(&opcode)
        })
    }
}
