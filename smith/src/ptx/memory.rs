//! Accesses: every form of `ld`, `st`, `atom` and `red`, in memory that is the thread's own, or that nobody writes.

use super::catalog::{Template, access_bytes};
use super::scope::Class;
use super::{Generator, Place, line};
use arbitrary::Result;
use warpsmith_isa::sample::Arg;
use warpsmith_isa::{Mod, Opcode, ScalarType, StateSpace};

/// A piece of memory: what its addresses begin with, and how many bytes it has from there.
struct Area {
    base: &'static str,
    from: u32,
    bytes: u32,
    /// The base is the name of a variable whose elements have four bytes.
    named: bool,
}

/// How many addresses the variable of addresses starts with.
const PLACES: u32 = 4;

/// The bytes of an element of the variables that are named.
const ELEMENT: u32 = 4;

impl Generator<'_, '_, '_> {
    /// The memory that an access of a space may reach.
    fn area(&mut self, space: StateSpace, writes: bool, readonly: bool) -> Result<Option<Area>> {
        let area = |base, from, bytes, named| Some(Area { base, from, bytes, named });
        let kernel = self.place == Place::Kernel;
        Ok(match space {
            StateSpace::Const => area("table", 0, 64, true),
            _ if !kernel => None,
            // What the texture path reads must not be written by the kernel.
            StateSpace::Global if readonly => area("%input", 0, crate::INPUT_BYTES, false),
            StateSpace::Global if !writes && self.u.ratio(1, 2)? => {
                area("%input", 0, crate::INPUT_BYTES, false)
            }
            StateSpace::Global => area("%own", 64, 192, false),
            StateSpace::Generic => area("%gen", 64, 192, false),
            StateSpace::Shared => area("%shr", 0, 32, false),
            StateSpace::Local => area("stack", 0, 64, true),
            StateSpace::Reg | StateSpace::Sreg | StateSpace::Param | StateSpace::Tex => None,
        })
    }

    /// The text of an address in an area for an access of so many bytes.
    fn address(&mut self, area: &Area, bytes: u32) -> Result<Option<String>> {
        if bytes == 0 || area.bytes < bytes {
            return Ok(None);
        }
        let first = area.from.next_multiple_of(bytes);
        let places = (area.from + area.bytes - first) / bytes;
        if places == 0 {
            return Ok(None);
        }
        if self.u.ratio(1, 3)? && places.is_power_of_two() && !area.named {
            // A place that the program computes.
            if let Some(index) = self.register(Class::B32)? {
                line!(self, "and.b32 %s0, {index}, {};", places - 1);
                line!(self, "mad.wide.u32 %t0, %s0, {bytes}, {};", area.base);
                return Ok(Some(if first == 0 { "[%t0]".to_owned() } else { format!("[%t0+{first}]") }));
            }
        }
        let at = first + self.u.int_in_range(0..=places - 1)? * bytes;
        if area.named && at.is_multiple_of(ELEMENT) && self.u.ratio(1, 3)? {
            return self.element(area.base, at / ELEMENT).map(Some);
        }
        if !area.named && self.u.ratio(1, 6)? {
            // From behind the place.
            let back = self.u.int_in_range(at..=at + 256)?;
            line!(self, "add.s64 %t0, {}, {back};", area.base);
            return Ok(Some(format!("[%t0+{}]", i64::from(at) - i64::from(back))));
        }
        Ok(Some(match at {
            0 => format!("[{}]", area.base),
            at => format!("[{}+{at}]", area.base),
        }))
    }

    /// `name[3]`, `name[%r]` or `name[%r+3]`.
    fn element(&mut self, name: &str, index: u32) -> Result<String> {
        Ok(match self.u.int_in_range(0..=2)? {
            0 => format!("{name}[{index}]"),
            1 => {
                line!(self, "mov.u32 %s0, {index};");
                format!("{name}[%s0]")
            }
            _ => {
                let plus = self.u.int_in_range(0..=index)?;
                line!(self, "mov.u32 %s0, {};", index - plus);
                format!("{name}[%s0+{plus}]")
            }
        })
    }

    /// Declares a variable that starts with addresses: first of what all threads share, which are only compared, then of the table.
    pub(super) fn places(&mut self) -> Result<()> {
        let mut places = Vec::new();
        for n in 0..PLACES {
            let (name, bytes) = if n < PLACES / 2 { ("totals", 8) } else { ("table", ELEMENT) };
            let at = bytes * self.u.int_in_range(0..=7)?;
            places.push(if at == 0 { name.to_owned() } else { format!("{name}+{at}") });
        }
        let space = *self.u.choose(&["global", "const"])?;
        self.places_in = space;
        self.out.push_str(&format!(".{space} .align 8 .u64 places[{PLACES}] = {{{}}};\n", places.join(", ")));
        Ok(())
    }

    /// What an address that a variable starts with leads to, or how far it is from where its variable begins.
    fn initial_address(&mut self) -> Result<()> {
        let n = self.u.int_in_range(0..=PLACES - 1)?;
        let class = if n < PLACES / 2 { Class::B64 } else { Class::B32 };
        let Some(result) = self.register(class)? else { return Ok(()) };
        line!(self, "ld.{}.u64 %t0, [places+{}];", self.places_in, 8 * n);
        if class == Class::B64 {
            line!(self, "mov.u64 %t1, totals;");
            line!(self, "sub.s64 {result}, %t0, %t1;");
        } else {
            line!(self, "ld.const.b32 {result}, [%t0];");
        }
        self.account(&result);
        Ok(())
    }

    /// A load from one of two variables of a space, by a truth.
    fn either(&mut self) -> Result<()> {
        let kernel = self.place == Place::Kernel;
        // Two variables, and as many bytes as the lesser one has.
        let (space, one, other, bytes) = match kernel && self.u.ratio(1, 2)? {
            true => ("local", "stack", "few", 16),
            false => ("const", "table", "words", 48),
        };
        let (one, other) = if self.u.ratio(1, 2)? { (one, other) } else { (other, one) };
        let class = *self.u.choose(&[Class::B16, Class::B32, Class::B64])?;
        let (Some(result), Some(which)) = (self.register(class)?, self.register(Class::Pred)?) else {
            return Ok(());
        };
        let size = class.bits() / 8;
        let at = self.u.int_in_range(0..=bytes / size - 1)? * size;
        self.line("{");
        self.indent += 1;
        line!(self, ".reg .b64 %either, %or;");
        line!(self, "mov.u64 %either, {one};");
        match self.u.int_in_range(0..=2)? {
            0 => line!(self, "@{which} mov.u64 %either, {other};"),
            1 => {
                line!(self, "mov.u64 %or, {other};");
                line!(self, "selp.b64 %either, %either, %or, {which};");
            }
            _ => {
                let end = self.label();
                line!(self, "@{which} bra {end};");
                line!(self, "mov.u64 %either, {other};");
                self.place_label(&end);
            }
        }
        if self.u.ratio(1, 2)? {
            line!(self, "add.s64 %either, %either, {at};");
            line!(self, "ld.{space}.b{} {result}, [%either];", class.bits());
        } else {
            line!(self, "ld.{space}.b{} {result}, [%either+{at}];", class.bits());
        }
        self.indent -= 1;
        self.line("}");
        self.account(&result);
        Ok(())
    }

    /// A load or a store.
    pub(super) fn access(&mut self) -> Result<()> {
        match self.u.int_in_range(0..=15)? {
            0 => return self.initial_address(),
            1 => return self.either(),
            _ => {}
        }
        let stores = self.u.ratio(1, 2)?;
        let list = if stores { &self.catalog.stores } else { &self.catalog.loads };
        if !list.is_empty() {
            let template = &list[self.u.int_in_range(0..=list.len() - 1)?];
            self.memory_template(template, stores)?;
        }
        Ok(())
    }

    /// An atomic operation: on the thread's own memory with its result, or on what all threads share without one.
    pub(super) fn atomic(&mut self) -> Result<()> {
        if self.place != Place::Kernel {
            return Ok(());
        }
        if self.u.ratio(1, 2)? {
            // Whatever the order, the sum is the same; each word has an operation of its own.
            let operations =
                ["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "add.u64", "min.u64"];
            let word = self.u.int_in_range(0..=7)?;
            let operation = operations[word];
            let class = if operation.ends_with("64") { Class::B64 } else { Class::B32 };
            if let Some(value) = self.register(class)? {
                let guard = if self.u.ratio(1, 3)? { self.guard()? } else { String::new() };
                line!(self, "{guard}red.global.{operation} [totals+{}], {value};", 8 * word);
            }
            return Ok(());
        }
        let list = if self.u.ratio(1, 2)? { &self.catalog.atomics } else { &self.catalog.reductions };
        if !list.is_empty() {
            let template = &list[self.u.int_in_range(0..=list.len() - 1)?];
            self.memory_template(template, true)?;
        }
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only addresses are replaced")]
    fn memory_template(&mut self, template: &Template, writes: bool) -> Result<()> {
        if self.config.reference && !template.reference {
            return Ok(());
        }
        let mods = template.sample.mnemonic.mods();
        let Some(bytes) = access_bytes(&template.sample.mnemonic) else { return Ok(()) };
        let space = template.sample.operands.iter().find_map(|arg| match arg {
            Arg::Address(space) => Some(*space),
            _ => None,
        });
        let Some(space) = space else { return Ok(()) };
        let readonly = mods.contains(&Mod::Nc) || template.sample.mnemonic.opcode() == Opcode::Ldu;
        if space == StateSpace::Generic && readonly {
            return Ok(());
        }
        let Some(area) = self.area(space, writes, readonly)? else { return Ok(()) };
        // 16-byte accesses of several lanes are aligned as a whole.
        let Some(address) = self.address(&area, bytes.next_power_of_two())? else { return Ok(()) };
        let mut operands = Vec::new();
        for (place, arg) in template.sample.operands.iter().enumerate() {
            let text = match arg {
                Arg::Address(_) => Some(address.clone()),
                arg => {
                    let arg = in_registers(arg);
                    self.operand(&arg, template, place)?
                }
            };
            let Some(text) = text else { return Ok(()) };
            operands.push(text);
        }
        self.needs(template.sample.version);
        let guard = if self.u.ratio(1, 4)? { self.guard()? } else { String::new() };
        line!(self, "{guard}{} {};", template.text, operands.join(", "));
        if template.sample.destinations > 0 {
            self.account(&operands[0]);
        }
        Ok(())
    }
}

/// Bytes are kept in registers of 16 bits.
#[expect(clippy::wildcard_enum_match_arm, reason = "only registers of bytes are widened")]
fn in_registers(arg: &Arg) -> Arg {
    match arg {
        Arg::Reg(ScalarType::B8) => Arg::Reg(ScalarType::B16),
        Arg::Vector(all) => Arg::Vector(all.iter().map(in_registers).collect()),
        other => other.clone(),
    }
}
