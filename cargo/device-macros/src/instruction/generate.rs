//! From an instruction of the tables to a function: its parameters and results, PTX for the device, and what the host is called with.
//!
//! A register is one parameter, braces are an array, `[a]` is a pointer, which is converted to the state space that the instruction names. Results are what
//! the instruction writes; an accumulator, which it reads too, is a parameter as well. Where registers have no type of Rust the next that holds the bits stands
//! for them: 16-bit floats are `u16`, packed values integers.

use std::fmt::Write;
use warpsmith_isa::{
    Accepts, Instruction, Mod, ScalarType, SigKind, SigOperand, SigPresence, SigSpace, SigValue, StateSpace,
    Traits, TypeClass, TypeSet, forms,
};

/// What the user says besides the mnemonic.
#[derive(Clone, Default, Debug)]
pub struct Choices {
    /// Optional operands that are wanted.
    pub wanted: Vec<String>,
    /// Operands that are constants.
    pub constants: Vec<(String, i64)>,
}

impl Choices {
    fn constant(&self, name: &str) -> Option<i64> {
        self.constants.iter().find(|(of, _)| of == name).map(|(_, value)| *value)
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.wanted.iter().chain(self.constants.iter().map(|(name, _)| name))
    }
}

/// A value that the function takes or gives: one register, or several in an array.
#[derive(Clone, Debug)]
pub struct Item {
    /// The name of the operand.
    pub name: String,
    /// The type of (each) register.
    pub ty: String,
    /// The number of registers of an array.
    pub count: Option<usize>,
}

impl Item {
    /// The type of the whole.
    pub fn whole(&self) -> String {
        self.count.map_or(self.ty.clone(), |count| format!("[{}; {count}]", self.ty))
    }

    /// Its registers as expressions.
    fn registers(&self) -> Vec<String> {
        match self.count {
            None => vec![self.name.clone()],
            Some(count) => (0..count).map(|n| format!("{}[{n}]", self.name)).collect(),
        }
    }
}

/// A source of the instruction, as the host gives it.
#[derive(Clone, Debug)]
pub enum Source {
    /// A parameter's register, and its type.
    Register(String, String),
    /// A number.
    Constant(i64),
}

/// An instruction as a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// What it takes.
    pub params: Vec<Item>,
    /// What it gives.
    pub results: Vec<Item>,
    /// It accesses memory by an address.
    pub is_unsafe: bool,
    /// The constraints of `text`.
    pub constraints: String,
    /// Statements of PTX.
    pub text: String,
    /// The type that all results are carried by, if there are several.
    pub carrier: Option<&'static str>,
    /// What the instruction reads.
    pub sources: Vec<Source>,
    /// The number of its form.
    pub form: usize,
    /// A bit for each operand of the form that is written.
    pub present: u16,
    /// The size of the first result's register.
    pub destination_bits: u32,
    /// The instruction, as its manual writes it.
    pub mnemonic: String,
}

/// The function of an instruction.
///
/// # Errors
/// There is none, and why.
pub fn function(mnemonic: &str, choices: &Choices) -> Result<Function, String> {
    let name = warpsmith_isa::Mnemonic::parse(mnemonic).map_err(|error| error.to_string())?;
    let mut refused = None;
    for instruction in forms(&name) {
        match of_instruction(&instruction, choices) {
            Ok(function) => return Ok(function),
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    Err(refused.unwrap_or_else(|| format!("unknown instruction `{mnemonic}`")))
}

/// The function of an instruction of a form.
pub fn of_instruction(instruction: &Instruction, choices: &Choices) -> Result<Function, String> {
    if instruction.traits().contains(Traits::CARRY) {
        return Err(format!(
            "`{}` has the carry flag for an operand, which no function can pass",
            instruction.mnemonic()
        ));
    }
    if instruction.traits().intersects(Traits::TERMINATOR | Traits::CALL) {
        return Err(format!(
            "`{}` changes where a function goes on, which no call can do",
            instruction.mnemonic()
        ));
    }
    // The numbers of the inputs begin after the results.
    let first = Writer::run(instruction, choices, 0)?;
    let outputs = first.outputs.len();
    Writer::run(instruction, choices, outputs)?.finish(instruction, choices)
}

/// A register that the function gives.
struct Output {
    /// The register in the text that holds it.
    register: String,
    ty: ScalarType,
    rust: String,
}

struct Writer<'a> {
    choices: &'a Choices,
    /// The type that an address points to.
    pointee: &'static str,
    params: Vec<Item>,
    results: Vec<Item>,
    inputs: Vec<&'static str>,
    outputs: Vec<Output>,
    /// The number of the first input.
    first: usize,
    sources: Vec<Source>,
    before: String,
    is_unsafe: bool,
    used: Vec<String>,
    temporaries: usize,
    destination_bits: Option<u32>,
}

impl<'a> Writer<'a> {
    fn run(instruction: &Instruction, choices: &'a Choices, first: usize) -> Result<Finished<'a>, String> {
        let pointee = instruction.ty().map_or("u8", |ty| rust(ty, ty.bits().next_power_of_two().max(8)));
        let mut writer = Writer {
            choices,
            pointee: if pointee == "bool" { "u8" } else { pointee },
            params: Vec::new(),
            results: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            first,
            sources: Vec::new(),
            before: String::new(),
            is_unsafe: false,
            used: Vec::new(),
            temporaries: 0,
            destination_bits: None,
        };
        let (mut operands, mut present) = (Vec::new(), 0u16);
        for (place, operand) in instruction.signature().operands.iter().enumerate() {
            let name = identifier(operand.name);
            let written = match operand.presence {
                SigPresence::Required => true,
                SigPresence::Optional => choices.names().any(|wanted| *wanted == name),
                SigPresence::OnlyWith(_) => false,
            };
            if written {
                present |= 1 << place;
                operands.push(writer.operand(operand, &name)?);
            }
        }
        if let Some(unknown) = choices.names().find(|name| !writer.used.contains(name)) {
            return Err(format!("`{}` has no operand `{unknown}` to choose", instruction.mnemonic()));
        }
        Ok(Finished { outputs: std::mem::take(&mut writer.outputs), writer, operands, present })
    }

    fn operand(&mut self, operand: &SigOperand, name: &str) -> Result<String, String> {
        match &operand.kind {
            SigKind::Value(value) => self.value(value, name),
            SigKind::Address(space) => self.address(space, name),
            SigKind::Pair { first, second, second_optional } => {
                // The manual's `p|q` and `d|p`.
                let one = name;
                let other = (if name == "p" { "q" } else { "p" }).to_owned();
                let wanted = !second_optional || self.choices.wanted.contains(&other);
                let text = self.value(first, one)?;
                if !wanted {
                    return Ok(text);
                }
                Ok(format!("{text}|{}", self.value(second, &other)?))
            }
            SigKind::Bracket(places) => Ok(format!("[{}]", self.all(places)?)),
            SigKind::Tuple(places) => Ok(format!("{{{}}}", self.all(places)?)),
            SigKind::Label | SigKind::Callee | SigKind::Arguments | SigKind::Results | SigKind::List => {
                Err(format!("`{name}` names a part of the program, which no parameter can"))
            }
        }
    }

    fn all(&mut self, places: &[SigOperand]) -> Result<String, String> {
        let mut texts = Vec::new();
        for place in places {
            let name = identifier(place.name);
            let wanted = self.choices.names().any(|wanted| *wanted == name);
            if place.presence == SigPresence::Required || (place.presence == SigPresence::Optional && wanted)
            {
                let text = self.operand(place, &name)?;
                // An address that stands in brackets with others has none of its own.
                let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                texts.push(inner.unwrap_or(&text).to_owned());
            }
        }
        Ok(texts.join(", "))
    }

    /// A name that no other parameter has.
    fn unique(&mut self, name: &str) -> String {
        self.used.push(name.to_owned());
        let taken = |name: &str| self.params.iter().any(|param| param.name == name);
        if !taken(name) {
            return name.to_owned();
        }
        (2..).map(|n| format!("{name}{n}")).find(|name| !taken(name)).unwrap_or_default()
    }

    fn temporary(&mut self, ty: ScalarType) -> String {
        self.temporaries += 1;
        let register = format!("%warpsmith{}", self.temporaries);
        self.before.push_str(&format!(".reg .{} {register}; ", ty.name()));
        register
    }

    fn value(&mut self, value: &SigValue, name: &str) -> Result<String, String> {
        if let Some(number) = self.choices.constant(name) {
            if value.destination || value.count.is_some() {
                return Err(format!("`{name}` is not a constant"));
            }
            self.used.push(name.to_owned());
            self.sources.push(Source::Constant(number));
            return Ok(number.to_string());
        }
        if !value.accepts.contains(Accepts::REGISTER) && !value.destination {
            return Err(format!(
                "`{name}` is a constant: write `{{ {name}: 0 }}` with its value after the instruction"
            ));
        }
        if value.destination && !value.accepts.contains(Accepts::REGISTER) {
            // What would be written is elsewhere, and has no name here.
            return Ok("_".to_owned());
        }
        let register = register(value).ok_or_else(|| format!("`{name}` is in no register"))?;
        let name = self.unique(name);
        let count = value.count.map(usize::from);
        let ty = rust(value.ty, register.bits());
        if value.destination {
            let item = Item { name: name.clone(), ty: ty.to_owned(), count };
            let reads = value.accepts.contains(Accepts::IN_OUT);
            let mut registers = Vec::new();
            for n in 0..count.unwrap_or(1) {
                let temporary = self.temporary(register);
                if reads {
                    let from = if count.is_some() { format!("{name}[{n}]") } else { name.clone() };
                    self.read(register, ty, &from, Some(&temporary));
                }
                self.outputs.push(Output { register: temporary.clone(), ty: register, rust: ty.to_owned() });
                registers.push(temporary);
            }
            self.destination_bits.get_or_insert(register.bits());
            if reads {
                self.params.push(item.clone());
            }
            self.results.push(item);
            return Ok(braced(&registers, count));
        }
        let mut registers = Vec::new();
        let is_array = value.accepts.contains(Accepts::ARRAY) && count.is_some();
        let skipped = usize::from(is_array);
        if is_array {
            // The layer of a texture stands before its coordinates, in the same braces.
            let layer = self.unique("layer");
            registers.push(self.read(ScalarType::B32, "u32", &layer, None));
            self.params.push(Item { name: layer, ty: "u32".to_owned(), count: None });
        }
        let count = count.map(|count| count - skipped);
        let item = Item { name, ty: ty.to_owned(), count };
        for from in item.registers() {
            registers.push(self.read(register, ty, &from, None));
        }
        self.params.push(item);
        Ok(braced(&registers, count))
    }

    /// A register that holds a parameter's, which the instruction reads: that of the input where it will do, else one into which it is moved.
    fn read(&mut self, ty: ScalarType, rust: &str, from: &str, into: Option<&str>) -> String {
        let input = format!("${}", self.first + self.inputs.len());
        self.inputs.push(constraint(rust));
        self.sources.push(Source::Register(from.to_owned(), rust.to_owned()));
        // Eight bits are passed in sixteen.
        if into.is_none() && ty.class() == TypeClass::Bits && ty.bits() > 8 {
            return input;
        }
        let register = into.map_or_else(|| self.temporary(ty), str::to_owned);
        match ty {
            ScalarType::Pred => write!(self.before, "setp.ne.u32 {register}, {input}, 0; "),
            _ if ty.bits() == 8 => write!(self.before, "cvt.u8.u16 {register}, {input}; "),
            _ => write!(self.before, "mov.b{} {register}, {input}; ", ty.bits()),
        }
        .unwrap_or_default();
        register
    }

    fn address(&mut self, space: &SigSpace, name: &str) -> Result<String, String> {
        self.is_unsafe = true;
        let name = self.unique(name);
        if space.tensor && !space.handle.contains(ScalarType::B64) {
            let register = self.read(ScalarType::B32, "u32", &name, None);
            self.params.push(Item { name, ty: "u32".to_owned(), count: None });
            return Ok(format!("[{register}]"));
        }
        if space.tensor || space.handle != TypeSet::EMPTY {
            let register = self.read(ScalarType::B64, "u64", &name, None);
            self.params.push(Item { name, ty: "u64".to_owned(), count: None });
            return Ok(format!("[{register}]"));
        }
        let ty = format!("*mut {}", self.pointee);
        let input = self.read(ScalarType::B64, &ty, &name, None);
        self.params.push(Item { name, ty, count: None });
        let named = space.named.filter(|_| space.space() != StateSpace::Generic && !space.any_register);
        let Some(named) = named else { return Ok(format!("[{input}]")) };
        // A pointer of Rust is generic.
        let to = match named {
            Mod::Param | Mod::ParamEntry | Mod::ParamFunc => {
                return Err("memory of parameters has no pointers".to_owned());
            }
            // Shared memory of the own block, which older versions know without the window.
            Mod::SharedCta => "shared",
            _ => named.text(),
        };
        let register = self.temporary(ScalarType::B64);
        write!(self.before, "cvta.to.{to}.u64 {register}, {input}; ").unwrap_or_default();
        Ok(format!("[{register}]"))
    }
}

/// An instruction with all its operands.
struct Finished<'a> {
    writer: Writer<'a>,
    outputs: Vec<Output>,
    operands: Vec<String>,
    present: u16,
}

impl Finished<'_> {
    fn finish(self, instruction: &Instruction, choices: &Choices) -> Result<Function, String> {
        let Finished { writer, outputs, operands, present } = self;
        let mnemonic = instruction.mnemonic().to_string();
        if let Some(twice) =
            choices.names().find(|name| choices.names().filter(|other| other == name).count() > 1)
        {
            return Err(format!("`{twice}` is chosen twice"));
        }
        let widest = outputs.iter().map(|output| output.ty.bits().max(32)).max().unwrap_or(32);
        let carrier = (outputs.len() > 1).then_some(match widest {
            32 => "u32",
            64 => "u64",
            _ => "u128",
        });
        let mut constraints: Vec<String> = Vec::new();
        let mut after = String::new();
        for (n, Output { register, ty, rust }) in outputs.iter().enumerate() {
            constraints.push(format!("={}", constraint(carrier.unwrap_or(rust))));
            let bits = carrier.map_or(ty.bits().max(16), |_| widest);
            match ty {
                ScalarType::Pred if bits == 128 => {
                    return Err(format!("`{mnemonic}` gives a predicate and 128 bits"));
                }
                ScalarType::Pred => write!(after, " selp.b{} ${n}, 1, 0, {register};", bits.max(32)),
                _ if ty.bits() == bits => write!(after, " mov.b{bits} ${n}, {register};"),
                _ if bits == 128 => return Err(format!("`{mnemonic}` gives results of several widths")),
                _ => write!(after, " cvt.u{bits}.u{} ${n}, {register};", ty.bits()),
            }
            .unwrap_or_default();
        }
        constraints.extend(writer.inputs.iter().map(|&input| input.to_owned()));
        let before = &writer.before;
        let text = format!("{{ {before}{mnemonic} {};{after} }}", operands.join(", ")).replace(" ;", ";");
        Ok(Function {
            params: writer.params,
            results: writer.results,
            is_unsafe: writer.is_unsafe,
            constraints: constraints.join(","),
            text,
            carrier,
            sources: writer.sources,
            form: instruction.id().index(),
            present,
            destination_bits: writer.destination_bits.unwrap_or(32),
            mnemonic,
        })
    }
}

/// An operand's name as Rust's.
pub fn identifier(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase()
            && !out.is_empty()
            && !out.ends_with('_')
            && !out.ends_with(|c: char| c.is_ascii_uppercase())
        {
            out.push('_');
        }
        out.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    let out = out.trim_matches('_').to_owned();
    match out.as_str() {
        "type" | "mod" | "ref" | "in" | "move" | "box" => format!("{out}_"),
        _ if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) => format!("n{out}"),
        _ => out,
    }
}

/// The register for a value: untyped where that will do, the smallest that holds it.
fn register(value: &SigValue) -> Option<ScalarType> {
    use ScalarType::{B8, B16, B32, B64, B128, Pred};
    let untyped = [Pred, B16, B32, B64, B128].into_iter();
    let all = || {
        untyped.clone().chain(value.registers.iter()).filter(|&ty| ty != B8 && value.registers.contains(ty))
    };
    let fits = all().find(|ty| ty.bits() >= value.ty.bits() || *ty == Pred);
    // Some places are of a wider type than the registers that they name; a register of 8 bits is written only where no other will do.
    fits.or_else(|| all().max_by_key(|ty| ty.bits())).or(value.registers.contains(B8).then_some(B8))
}

/// The type of Rust for a value in a register of so many bits.
fn rust(ty: ScalarType, bits: u32) -> &'static str {
    match (ty.class(), bits) {
        (TypeClass::Pred, _) | (_, 1) => "bool",
        (TypeClass::Float, 32) if ty == ScalarType::F32 => "f32",
        (TypeClass::Float, 64) => "f64",
        (TypeClass::Signed, 8) => "i8",
        (TypeClass::Signed, 16) => "i16",
        (TypeClass::Signed, 32) => "i32",
        (TypeClass::Signed, 64) => "i64",
        (_, 8) => "u8",
        (_, 16) => "u16",
        (_, 32) => "u32",
        (_, 64) => "u64",
        (_, _) => "u128",
    }
}

/// The kind of register that holds a type of Rust.
fn constraint(rust: &str) -> &'static str {
    match rust {
        "u8" | "i8" | "u16" | "i16" => "h",
        "u32" | "i32" | "bool" => "r",
        "f32" => "f",
        "f64" => "d",
        "u128" | "i128" => "q",
        _ => "l",
    }
}

fn braced(registers: &[String], count: Option<usize>) -> String {
    if count.is_some() { format!("{{{}}}", registers.join(", ")) } else { registers.concat() }
}
