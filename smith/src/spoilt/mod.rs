//! Statements with something wrong in them, or right in an unusual way: a validator and an assembler must agree on them.
//!
//! A [`Statement`] begins as an instance of a form of the tables, which is valid; each [`Change`] of a few spoils, or does not spoil, one thing of it: a
//! modifier, a type, an operand, its kind, the version, the target. The module around it is as small as can be, so what two validators
//! differ on needs no reducing but to leave out the changes that do not matter.

mod draw;

use std::fmt;
use warpsmith_isa::sample::{Arg, Sample};
use warpsmith_isa::{Mod, Opcode, ScalarType, StateSpace, Target, Version};

pub use draw::draw;

/// An operand, as its text and what is inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A name or a number, with what stands around it.
    Leaf(String),
    /// Several between two marks: `{a, b}`, `[a, b]`, `a|b`.
    Group(Marks, Vec<Operand>),
}

/// What a group of operands is written with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// `{a, b}`
    Braces,
    /// `[a, b]`
    Brackets,
    /// `a|b`
    Pair,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (marks, list) = match self {
            Operand::Leaf(text) => return f.write_str(text),
            Operand::Group(marks, list) => (*marks, list),
        };
        let (open, between, close) = match marks {
            Marks::Braces => ("{", ", ", "}"),
            Marks::Brackets => ("[", ", ", "]"),
            Marks::Pair => ("", "|", ""),
        };
        f.write_str(open)?;
        for (n, operand) in list.iter().enumerate() {
            write!(f, "{}{operand}", if n == 0 { "" } else { between })?;
        }
        f.write_str(close)
    }
}

/// One statement, with the module that it needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// What it does.
    pub opcode: Opcode,
    /// How, in the order that it is written in.
    pub mods: Vec<Mod>,
    /// With what.
    pub operands: Vec<Operand>,
    /// For which target.
    pub target: Target,
    /// In which version of PTX.
    pub version: Version,
}

/// Something else about a statement. Places that it does not have leave it as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Another modifier in a place.
    Modifier(usize, Mod),
    /// One more modifier before a place.
    MoreModifiers(usize, Mod),
    /// A modifier is left out.
    FewerModifiers(usize),
    /// A modifier and the one behind it change places.
    OtherOrder(usize),
    /// Another operand in a place: the number of an operand, and of the parts in parts.
    Operand(Vec<usize>, Operand),
    /// Something around an operand, or a mark before it: `{}` denotes it.
    Around(Vec<usize>, &'static str),
    /// An operand is there twice.
    MoreOperands(Vec<usize>),
    /// An operand is left out.
    FewerOperands(Vec<usize>),
    /// An operand and the one behind it change places.
    SwappedOperands(usize),
    /// Another target.
    Target(Target),
    /// Another version.
    Version(Version),
}

/// Registers of a type are called `NAME_1` to `NAME_5`; an operand takes the one of its place.
fn register(ty: ScalarType, place: usize) -> String {
    format!("r_{}_{}", ty.name(), place % REGISTERS)
}

/// Registers of each type.
const REGISTERS: usize = 6;

/// The types that a register can be declared with.
const REGISTER_TYPES: &[ScalarType] = {
    use ScalarType::*;
    &[Pred, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16x2, F32, F64]
};

/// Other names that operands may have: what they are declared as in the kernel, and in the module.
const NAMES: &[(&str, &str, &str)] = &[
    ("v_shared", "", ".shared .align 128 .b8 v_shared[4096];"),
    ("v_global", "", ".global .align 128 .b8 v_global[4096];"),
    ("v_const", "", ".const .align 128 .b8 v_const[4096];"),
    ("v_unified", "", ".global .attribute(.unified(1, 2)) .align 128 .b8 v_unified[64];"),
    ("v_local", ".local .align 128 .b8 v_local[4096];", ""),
    ("v_param", ".param .align 16 .b8 v_param[64];", ""),
    ("v_tex", "", ".global .texref v_tex;"),
    ("v_sampler", "", ".global .samplerref v_sampler;"),
    ("v_surf", "", ".global .surfref v_surf;"),
    ("v_lanes", ".reg .v4 .b32 v_lanes;", ""),
    ("v_label", "v_label:", ""),
    ("v_func", "", ".func v_func();"),
];

impl Statement {
    /// An instance of a form.
    pub fn of(sample: &Sample) -> Statement {
        // A parameter of a call can be read and written, but has no address: of the kernel's, it can be taken.
        let wants_address = sample.mnemonic.opcode() == Opcode::Prefetch;
        let operands = sample.operands.iter().enumerate().map(|(place, arg)| {
            if wants_address && matches!(arg, Arg::Address(StateSpace::Param)) {
                Operand::Group(Marks::Brackets, vec![Operand::Leaf("p0".to_owned())])
            } else {
                operand(arg, place)
            }
        });
        let operands = operands.collect();
        let mods = sample.mnemonic.mods().to_vec();
        let opcode = sample.mnemonic.opcode();
        Statement { opcode, mods, operands, target: sample.target, version: sample.version }
    }

    /// The statement after a change.
    pub fn change(&mut self, change: &Change) {
        let mods = &mut self.mods;
        match change {
            Change::Modifier(at, to) => mods.iter_mut().skip(*at).take(1).for_each(|m| *m = *to),
            Change::MoreModifiers(at, more) => mods.insert((*at).min(mods.len()), *more),
            Change::FewerModifiers(at) if *at < mods.len() => drop(mods.remove(*at)),
            Change::OtherOrder(at) if at + 1 < mods.len() => mods.swap(*at, at + 1),
            Change::SwappedOperands(at) if at + 1 < self.operands.len() => self.operands.swap(*at, at + 1),
            Change::FewerModifiers(_) | Change::OtherOrder(_) | Change::SwappedOperands(_) => {}
            Change::Operand(at, to) => {
                self.at(at, |list, n| list[n] = to.clone());
            }
            Change::Around(at, around) => {
                self.at(at, |list, n| list[n] = Operand::Leaf(around.replace("{}", &list[n].to_string())));
            }
            Change::MoreOperands(at) => {
                self.at(at, |list, n| list.insert(n, list[n].clone()));
            }
            Change::FewerOperands(at) => {
                self.at(at, |list, n| drop(list.remove(n)));
            }
            Change::Target(target) => self.target = *target,
            Change::Version(version) => self.version = *version,
        }
    }

    /// Does something to the list that has the operand at a place.
    fn at(&mut self, place: &[usize], change: impl FnOnce(&mut Vec<Operand>, usize)) {
        let Some((&last, path)) = place.split_last() else { return };
        let mut list = &mut self.operands;
        for &n in path {
            match list.get_mut(n) {
                Some(Operand::Group(_, inner)) => list = inner,
                Some(Operand::Leaf(_)) | None => return,
            }
        }
        if last < list.len() {
            change(list, last);
        }
    }

    /// The places of its operands, those in others too.
    fn places(&self) -> Vec<Vec<usize>> {
        fn walk(list: &[Operand], path: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
            for (n, operand) in list.iter().enumerate() {
                path.push(n);
                all.push(path.clone());
                if let Operand::Group(_, inner) = operand {
                    walk(inner, path, all);
                }
                path.pop();
            }
        }
        let mut all = Vec::new();
        walk(&self.operands, &mut Vec::new(), &mut all);
        all
    }

    /// The module: the statement in a kernel, with the declarations that it needs.
    pub fn module(&self) -> String {
        let statement = self.to_string();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: Vec<&str> = statement.split(|c| !is_word(c)).collect();
        let (mut inner, mut outer) = (String::new(), String::new());
        for ty in REGISTER_TYPES {
            let prefix = format!("r_{}_", ty.name());
            if words.iter().any(|word| word.starts_with(&prefix)) {
                inner += &format!(".reg .{} {prefix}<{REGISTERS}>;\n", ty.name());
            }
        }
        for (name, in_kernel, in_module) in NAMES.iter().filter(|(name, ..)| words.contains(name)) {
            debug_assert!(in_kernel.is_empty() || in_module.is_empty(), "{name} has two declarations");
            for (text, to) in [(in_kernel, &mut inner), (in_module, &mut outer)] {
                if !text.is_empty() {
                    to.push_str(text);
                    to.push('\n');
                }
            }
        }
        let Statement { version, target, .. } = self;
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n{outer}.visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n\
             {inner}{statement}\nret;\n}}\n"
        )
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.opcode.text())?;
        for modifier in &self.mods {
            write!(f, ".{}", modifier.text())?;
        }
        for (n, operand) in self.operands.iter().enumerate() {
            write!(f, "{} {operand}", if n == 0 { "" } else { "," })?;
        }
        f.write_str(";")
    }
}

fn operand(arg: &Arg, place: usize) -> Operand {
    let leaf = Operand::Leaf;
    let all = |marks, list: &[Arg]| {
        Operand::Group(marks, list.iter().enumerate().map(|(n, arg)| operand(arg, place + n)).collect())
    };
    let bracketed = |register| Operand::Group(Marks::Brackets, vec![leaf(register)]);
    match arg {
        Arg::Reg(ty) => leaf(register(*ty, place)),
        Arg::Int(value) => leaf(value.to_string()),
        Arg::F32(bits) => leaf(format!("0f{bits:08X}")),
        Arg::F64(bits) => leaf(format!("0d{bits:016X}")),
        Arg::Address(StateSpace::Param) => bracketed("v_param".to_owned()),
        Arg::Address(_) | Arg::Handle => bracketed(register(ScalarType::B64, place)),
        Arg::TensorAddress => bracketed(register(ScalarType::B32, place)),
        Arg::Vector(list) => all(Marks::Braces, list),
        Arg::Bracket(list) => {
            let parts = list.iter().enumerate().map(|(n, arg)| match operand(arg, place + n) {
                // One address between the brackets.
                Operand::Group(Marks::Brackets, mut inner) if inner.len() == 1 => inner.remove(0),
                other @ (Operand::Leaf(_) | Operand::Group(..)) => other,
            });
            Operand::Group(Marks::Brackets, parts.collect())
        }
        Arg::Pair(both) => all(Marks::Pair, &both[..]),
        Arg::Not(ty) => leaf(format!("!{}", register(*ty, place))),
        Arg::Neg(ty) => leaf(format!("-{}", register(*ty, place))),
        Arg::Part(ty, part) => leaf(format!("{}.{part}", register(*ty, place))),
        Arg::Sink => leaf("_".to_owned()),
    }
}
