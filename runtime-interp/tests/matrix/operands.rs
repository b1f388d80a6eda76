//! Samples as text: registers that hold what an instruction can run with.

use std::fmt::Write;
use warpsmith_isa::sample::{Arg, Sample, of_form};
use warpsmith_isa::{FORMS, Operation, ScalarType, Target, forms};
use warpsmith_semantics::Meaning;

/// Registers, their declarations and the instructions that fill them.
#[derive(Default)]
pub struct Registers {
    pub declared: String,
    pub before: String,
    /// The destinations: 32-bit registers and predicates.
    pub results: Vec<(String, ScalarType)>,
    count: usize,
}

impl Registers {
    /// A register that holds a value: a constant, or another register of that width.
    pub fn set(&mut self, ty: ScalarType, value: &str) -> String {
        let name = format!("%x{}", self.count);
        self.count += 1;
        writeln!(self.declared, ".reg .{ty} {name};").unwrap();
        match ty {
            ScalarType::Pred => writeln!(self.before, "setp.ne.u32 {name}, {value}, 0;").unwrap(),
            _ => writeln!(self.before, "mov.b{} {name}, {value};", ty.bits()).unwrap(),
        }
        name
    }

    /// An operand that is not an address. Its registers hold what is given for their places in a list; constants are the sample's.
    pub fn operand(&mut self, arg: &Arg, value: &dyn Fn(usize) -> String) -> String {
        self.nth(arg, value, 0)
    }

    fn nth(&mut self, arg: &Arg, value: &dyn Fn(usize) -> String, place: usize) -> String {
        match arg {
            Arg::Reg(ty) => self.set(*ty, &value(place)),
            Arg::Not(ty) => format!("!{}", self.set(*ty, "0")),
            Arg::Int(value) => value.to_string(),
            Arg::Sink => "_".into(),
            Arg::Vector(list) => {
                let list = list.iter().enumerate().map(|(place, arg)| self.nth(arg, value, place));
                format!("{{{}}}", list.collect::<Vec<_>>().join(", "))
            }
            Arg::F32(_)
            | Arg::F64(_)
            | Arg::Address(_)
            | Arg::TensorAddress
            | Arg::Handle
            | Arg::Bracket(_)
            | Arg::Pair(_)
            | Arg::Neg(_)
            | Arg::Part(..) => panic!("no number in a register: {arg:?}"),
        }
    }

    /// A destination, whose registers are results.
    pub fn destination(&mut self, arg: &Arg) -> String {
        let list = match arg {
            Arg::Vector(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let text = self.operand(arg, &|_| "0".into());
        let names = text.trim_matches(['{', '}']).split(", ").map(str::to_owned);
        let types = list.iter().map(|arg| if let Arg::Reg(ty) = arg { *ty } else { panic!("{arg:?}") });
        self.results.extend(names.zip(types));
        text
    }
}

/// True for what is executed: forms of the version that the engine has whole, and later ones that it has as well.
pub fn is_executed(sample: &Sample) -> bool {
    let instruction = forms(&sample.mnemonic).find(|i| std::ptr::eq(i.form(), sample.form));
    let instruction = instruction.and_then(|i| i.with_operand_count(sample.operands.len())).unwrap();
    !matches!(Meaning::of_instruction(&instruction), Meaning::Refused(_))
}

/// The samples that are executed of all forms of some operations.
pub fn samples(of: impl Fn(Operation) -> bool) -> impl Iterator<Item = Sample> {
    let forms = FORMS.iter().filter(move |form| of(form.operation));
    forms.flat_map(|form| of_form(form, Target::sm(50))).filter(is_executed)
}

/// Samples that did not run as they must.
#[derive(Default)]
pub struct Failures {
    said: Vec<String>,
    first: String,
}

impl Failures {
    pub fn note(&mut self, sample: &Sample, source: &str, result: Result<(), String>) {
        let Err(why) = result else { return };
        if self.said.is_empty() {
            self.first = source.to_owned();
        }
        self.said.push(format!("{}: {why}", sample.mnemonic));
    }

    /// Fails if there is one, and shows the kernel of the first.
    #[track_caller]
    pub fn report(&self) {
        let Failures { said, first } = self;
        assert!(said.is_empty(), "{} samples:\n{}\n{first}", said.len(), said.join("\n"));
    }
}
