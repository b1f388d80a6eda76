//! Instructions that compute: any of the tables', with registers and constants as their operands.

use super::catalog::Template;
use super::scope::Class;
use super::{Generator, line};
use arbitrary::Result;
use warpsmith_isa::sample::Arg;
use warpsmith_isa::{Opcode, Operation, ScalarType, TypeClass};

impl Generator<'_, '_, '_> {
    /// An instruction that computes, or nothing where there are no registers for it.
    pub(super) fn operation(&mut self, guard: Option<&str>) -> Result<()> {
        let families = &self.catalog.pure;
        let family = &families[self.u.int_in_range(0..=families.len() - 1)?];
        let template = &family[self.u.int_in_range(0..=family.len() - 1)?];
        if (self.config.reference && !template.reference)
            || (!self.config.approximate && template.approximate)
        {
            return Ok(());
        }
        let mut operands = Vec::with_capacity(template.sample.operands.len());
        let mut written = Vec::new();
        for (n, arg) in template.sample.operands.iter().enumerate() {
            let destination = n < template.sample.destinations;
            let Some(mut text) = self.operand(arg, template, n)? else { return Ok(()) };
            if !destination {
                text = self.coloured(text)?;
            }
            if destination {
                written.push((text.clone(), template.types.get(n).copied().flatten()));
            }
            operands.push(text);
        }
        if is_division(template.operation)
            && let (Some(divisor), Some(ty)) =
                (operands.get(2).cloned(), template.types.get(2).copied().flatten())
        {
            // Neither zero nor minus one.
            let bits = ty.bits();
            let scratch = if bits == 16 {
                "%q0"
            } else if bits == 32 {
                "%s0"
            } else {
                "%t0"
            };
            line!(self, "and.b{bits} {scratch}, {divisor}, 0x3f;");
            line!(self, "or.b{bits} {scratch}, {scratch}, 1;");
            operands[2] = scratch.to_owned();
        }
        if template.operation == Operation::Fns && self.u.ratio(3, 4)? {
            // A search from a bit that is there, for one that may be.
            line!(self, "and.b32 %s0, {}, 31;", operands[2]);
            line!(self, "mov.b32 %s1, {};", self.u.int_in_range(-33..=33)?);
            operands[2] = "%s0".to_owned();
            operands[3] = "%s1".to_owned();
        }
        if self.u.ratio(1, 4)? {
            self.put_edge(template, &operands)?;
        }
        self.needs(template.sample.version);
        if template.reads_carry {
            let (a, b) = (self.register(Class::B32)?, self.constant(32)?);
            let a = a.unwrap_or_else(|| "7".to_owned());
            line!(self, "add.cc.u32 %s1, {a}, {b};");
        }
        // ptxas loses the guard of `testp` (`docs/findings.md`).
        let guarded = template.sample.mnemonic.opcode() != Opcode::Testp;
        let guard = guard.filter(|_| guarded).unwrap_or_default();
        line!(self, "{guard}{} {};", template.text, operands.join(", "));
        for (text, ty) in written {
            if let Some(ty) = ty {
                self.settle(&text, ty);
            }
            self.account(&text);
        }
        Ok(())
    }

    /// Puts a number at an edge, or a small one, into one of the integer registers that an instruction reads: a position behind the last bit, a search
    /// in zero, which random data do not have.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only registers of integers are shifted")]
    fn put_edge(&mut self, template: &Template, operands: &[String]) -> Result<()> {
        let sources = template.sample.operands.iter().zip(operands).skip(template.sample.destinations);
        let integers = sources.filter_map(|(arg, name)| match arg {
            Arg::Reg(ty) if !ty.is_float() => match self.scopes.class(name)? {
                class @ (Class::B16 | Class::B32 | Class::B64) => Some((name, class.bits())),
                Class::Pred | Class::B128 => None,
            },
            _ => None,
        });
        let integers: Vec<(&String, u32)> = integers.collect();
        if let [_, ..] = integers.as_slice() {
            let (name, bits) = *self.u.choose(&integers)?;
            let value = self.edge(bits)?;
            line!(self, "mov.b{bits} {name}, {value};");
        }
        Ok(())
    }

    /// Adds what was written to the thread's account, so that it shows even if nothing reads it.
    pub(super) fn account(&mut self, written: &str) {
        let names = written.split(|c: char| "{}|, ".contains(c)).filter(|name| !name.is_empty());
        for name in names {
            match self.scopes.class(name) {
                Some(Class::Pred) => line!(self, "@{name} add.s64 %acc, %acc, 0x3779;"),
                Some(Class::B16) => {
                    line!(self, "cvt.u32.u16 %s2, {name};");
                    line!(self, "mad.wide.u32 %acc, %s2, 0x3779b1, %acc;");
                }
                Some(Class::B32) => line!(self, "mad.wide.u32 %acc, {name}, 0x9e3779b1, %acc;"),
                Some(Class::B64) => line!(self, "mad.lo.u64 %acc, %acc, 31, {name};"),
                // It is read through its halves, which have accounts of their own.
                Some(Class::B128) | None => {}
            }
        }
    }

    /// The text of an operand: registers that can be named, constants as the form has them.
    pub(super) fn operand(&mut self, arg: &Arg, template: &Template, place: usize) -> Result<Option<String>> {
        let destination = place < template.sample.destinations;
        Ok(match arg {
            Arg::Reg(ty) => match Class::of_bits(ty.bits()) {
                Some(class) => self.register_for(class, template)?,
                None => None,
            },
            Arg::Int(value) => Some(self.sample_constant(*value, template, place)?),
            Arg::F32(bits) => Some(format!("0f{bits:08X}")),
            Arg::F64(bits) => Some(format!("0d{bits:016X}")),
            Arg::Not(_) if template.truths.get(place) == Some(&true) && self.u.ratio(1, 2)? => {
                Some(format!("!{}", self.u.int_in_range(0..=1)?))
            }
            Arg::Not(_) => self.register(Class::Pred)?.map(|name| format!("!{name}")),
            Arg::Neg(ty) => match Class::of_bits(ty.bits()) {
                Some(class) => self.register_for(class, template)?.map(|name| format!("-{name}")),
                None => None,
            },
            Arg::Part(ty, part) => match Class::of_bits(ty.bits()) {
                Some(class) => self.plain_register(class)?.map(|name| format!("{name}.{part}")),
                None => None,
            },
            Arg::Sink => Some("_".to_owned()),
            Arg::Vector(all) => {
                let mut parts = Vec::new();
                for arg in all {
                    let Some(part) = self.distinct(arg, template, place, &parts, destination)? else {
                        return Ok(None);
                    };
                    parts.push(part);
                }
                Some(format!("{{{}}}", parts.join(", ")))
            }
            Arg::Pair(both) => {
                let first = self.operand(&both[0], template, place)?;
                // ptxas reads no component before `|`.
                let Some(first) = first.filter(|name| !name.contains('.')) else { return Ok(None) };
                let Some(second) =
                    self.distinct(&both[1], template, place, std::slice::from_ref(&first), destination)?
                else {
                    return Ok(None);
                };
                Some(format!("{first}|{second}"))
            }
            Arg::Address(_) | Arg::TensorAddress | Arg::Handle | Arg::Bracket(_) => None,
        })
    }

    /// An operand that, if it is written, is none of those before it: which of two results a register has is nobody's promise.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only registers have classes")]
    fn distinct(
        &mut self,
        arg: &Arg,
        template: &Template,
        place: usize,
        before: &[String],
        destination: bool,
    ) -> Result<Option<String>> {
        for _ in 0..4 {
            let found = self.operand(arg, template, place)?;
            match found {
                Some(name) if destination && name != "_" && before.contains(&name) => {}
                found => return Ok(found),
            }
        }
        let class = match arg {
            Arg::Reg(ty) => Class::of_bits(ty.bits()),
            _ => None,
        };
        let free = class.and_then(|class| self.scopes.of(class).find(|n| !before.iter().any(|b| b == n)));
        Ok(free.map(str::to_owned))
    }

    /// A component by its other name: `.r` for `.x`, and so on.
    fn coloured(&mut self, text: String) -> Result<String> {
        let other = text.strip_prefix("%vec.").and_then(|part| match part {
            "x" => Some("r"),
            "y" => Some("g"),
            "z" => Some("b"),
            "w" => Some("a"),
            _ => None,
        });
        Ok(match other {
            Some(part) if self.u.ratio(1, 2)? => format!("%vec.{part}"),
            _ => text,
        })
    }

    /// A register that an operand of the template can be: where a component reads as a selector, none.
    fn register_for(&mut self, class: Class, template: &Template) -> Result<Option<String>> {
        if template.selects { self.plain_register(class) } else { self.register(class) }
    }

    /// A register without a component of its own.
    pub(super) fn plain_register(&mut self, class: Class) -> Result<Option<String>> {
        Ok(self.register(class)?.filter(|name| !name.contains('.')))
    }

    /// The constant of the sample, or another where the form has no range for it.
    fn sample_constant(&mut self, value: i64, template: &Template, place: usize) -> Result<String> {
        let ty = template.types.get(place).copied().flatten();
        let free = ty.is_some_and(|ty| {
            value == 3 && matches!(ty.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed)
        });
        match ty.filter(|_| free && !is_division(template.operation)) {
            // Whatever a constant means, this many bits fit every type and every range of shifts and fields.
            Some(ty) => self.constant(ty.bits().min(if ty.is_signed() { ty.bits() - 1 } else { ty.bits() })),
            None => Ok(value.to_string()),
        }
    }

    /// Puts two instead of NaN: its bits are nobody's promise, and zero is what much is wrongly made of.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other type has a NaN that is not settled already")]
    pub(super) fn settle(&mut self, name: &str, ty: ScalarType) {
        let name = name.split_once('|').map_or(name, |(first, _)| first);
        if name == "_" || name.starts_with('{') {
            return;
        }
        match ty {
            ScalarType::F64 => {
                line!(self, "testp.number.f64 %c1, {name};");
                line!(self, "@!%c1 mov.b64 {name}, 0x4000000000000000;");
            }
            ScalarType::F32 | ScalarType::TF32 => {
                line!(self, "testp.number.f32 %c1, {name};");
                line!(self, "@!%c1 mov.b32 {name}, 0x40000000;");
            }
            ScalarType::F16 | ScalarType::BF16 => self.settle_half(name, ty, "%s2"),
            ScalarType::F16x2 | ScalarType::BF16x2 => {
                line!(self, "mov.b32 {{%q0, %q1}}, {name};");
                let each = if ty == ScalarType::F16x2 { ScalarType::F16 } else { ScalarType::BF16 };
                self.settle_half("%q0", each, "%s2");
                self.settle_half("%q1", each, "%s2");
                line!(self, "mov.b32 {name}, {{%q0, %q1}};");
            }
            ScalarType::F32x2 => {
                line!(self, "mov.b64 {{%s0, %s1}}, {name};");
                self.settle("%s0", ScalarType::F32);
                self.settle("%s1", ScalarType::F32);
                line!(self, "mov.b64 {name}, {{%s0, %s1}};");
            }
            _ => {}
        }
    }

    /// By its bits, which every target can compare: a NaN is above infinity.
    fn settle_half(&mut self, name: &str, ty: ScalarType, scratch: &str) {
        let infinity = if ty == ScalarType::F16 { 0x7c00 } else { 0x7f80 };
        line!(self, "cvt.u32.u16 {scratch}, {name};");
        line!(self, "and.b32 {scratch}, {scratch}, 0x7fff;");
        line!(self, "setp.gt.u32 %c1, {scratch}, {infinity:#x};");
        line!(self, "@%c1 mov.b16 {name}, 0x4000;");
    }

    /// Between registers: whole, in parts, through vectors.
    pub(super) fn movement(&mut self) -> Result<()> {
        let narrow = |g: &mut Self| -> Result<Option<[String; 2]>> {
            let (a, b) = (g.register(Class::B16)?, g.register(Class::B16)?);
            Ok(a.zip(b).map(|(a, b)| [a, b]))
        };
        match self.u.int_in_range(0..=7)? {
            6 | 7 => self.vector_movement()?,
            0 => {
                if let (Some(d), Some([a, b])) = (self.register(Class::B32)?, narrow(self)?) {
                    line!(self, "mov.b32 {d}, {{{a}, {b}}};");
                }
            }
            1 => {
                if let (Some(d), Some([a, b])) = (self.register(Class::B32)?, narrow(self)?)
                    && a != b
                {
                    line!(self, "mov.b32 {{{a}, {b}}}, {d};");
                }
            }
            2 => {
                let all =
                    (self.register(Class::B64)?, self.register(Class::B32)?, self.register(Class::B32)?);
                if let (Some(d), Some(a), Some(b)) = all {
                    line!(self, "mov.b64 {d}, {{{a}, {b}}};");
                }
            }
            3 => {
                let all =
                    (self.register(Class::B64)?, self.register(Class::B32)?, self.register(Class::B32)?);
                if let (Some(d), Some(a), Some(b)) = all
                    && a != b
                {
                    line!(self, "mov.b64 {{{a}, {b}}}, {d};");
                }
            }
            4 => {
                let both = (self.register(Class::B64)?, self.register(Class::B64)?);
                if let (Some(a), Some(b)) = both {
                    line!(self, "mov.u64 {a}, {b};");
                }
            }
            _ => {
                let both = (self.register(Class::Pred)?, self.register(Class::Pred)?);
                if let (Some(a), Some(b)) = both {
                    line!(self, "mov.pred {a}, {b};");
                }
            }
        }
        Ok(())
    }
}

impl Generator<'_, '_, '_> {
    /// Of vectors of four or two, to registers that are among those that are read: all are read before any is written.
    fn vector_movement(&mut self) -> Result<()> {
        let class = *self.u.choose(&[Class::B16, Class::B32, Class::B64])?;
        let bits = class.bits();
        let mut all: Vec<String> = self.scopes.of(class).map(str::to_owned).collect();
        let lanes = if class != Class::B64 && all.len() >= 4 && self.u.ratio(1, 2)? { 4 } else { 2 };
        if all.len() < lanes {
            return Ok(());
        }
        for n in 0..lanes {
            let other = self.u.int_in_range(n..=all.len() - 1)?;
            all.swap(n, other);
        }
        let to = &all[..lanes];
        let from = (0..lanes).map(|_| self.u.choose(&all)).collect::<Result<Vec<_>>>()?;
        let from: Vec<&str> = from.into_iter().map(String::as_str).collect();
        line!(self, "mov.v{lanes}.b{bits} {{{}}}, {{{}}};", to.join(", "), from.join(", "));
        Ok(())
    }
}

fn is_division(operation: Operation) -> bool {
    matches!(operation, Operation::DivInteger | Operation::Rem)
}
