//! Declarations and statements.

use super::scope::Class;
use super::{Generator, Place, line};
use arbitrary::Result;
use warpsmith_isa::Version;

/// The names that scopes take, again and again.
const NAMES: [&str; 4] = ["%r", "%a", "%b", "%val"];

impl Generator<'_, '_, '_> {
    /// Registers of a scope, each written at once.
    pub(super) fn declare(&mut self) -> Result<()> {
        let wide = self.catalog_has_b128();
        let classes = [Class::B32, Class::B64, Class::Pred, Class::B16];
        for (n, class) in classes.into_iter().enumerate() {
            let name = if self.config.scopes { *self.u.choose(&NAMES)? } else { NAMES[n] };
            let count = self.u.int_in_range(1..=4)?;
            self.family(name, n, class, count)?;
        }
        if self.config.scopes && self.u.ratio(1, 4)? {
            let name = "%vec";
            if !self.scopes.here("%vec.x") {
                line!(self, ".reg .v4 .b32 {name};");
                let parts: Vec<String> = ["x", "y", "z", "w"].map(|part| format!("{name}.{part}")).to_vec();
                for part in &parts {
                    self.fill(part, Class::B32, &parts)?;
                }
                self.scopes.add(parts, Class::B32);
            }
        }
        if wide && self.u.ratio(1, 8)? && !self.scopes.here("%wide0") {
            self.needs(Version::new(8, 3));
            line!(self, ".reg .b128 %wide<2>;");
            for n in 0..2 {
                self.fill(&format!("%wide{n}"), Class::B128, &[])?;
            }
            self.scopes.add((0..2).map(|n| format!("%wide{n}")), Class::B128);
        }
        Ok(())
    }

    fn catalog_has_b128(&self) -> bool {
        self.catalog.loads.iter().any(|t| t.text.ends_with(".b128"))
    }

    /// `.reg .b32 %r<3>;` or the names one by one.
    fn family(&mut self, prefix: &str, n: usize, class: Class, count: usize) -> Result<()> {
        // A scope may not declare a name twice; the number distinguishes its families where they have one prefix.
        let taken = self.scopes.here(&format!("{prefix}0"));
        let prefix = if taken { format!("{prefix}{}_", ["w", "d", "p", "h"][n]) } else { prefix.to_owned() };
        if self.scopes.here(&format!("{prefix}0")) {
            return Ok(());
        }
        let names: Vec<String> = (0..count).map(|n| format!("{prefix}{n}")).collect();
        if self.u.ratio(1, 2)? {
            line!(self, ".reg {} {prefix}<{count}>;", class.directive());
        } else {
            line!(self, ".reg {} {};", class.directive(), names.join(", "));
        }
        for name in &names {
            self.fill(name, class, &names)?;
        }
        self.scopes.add(names, class);
        Ok(())
    }

    /// Gives a new register its first value, not from one that was declared with it: those hide what had their names.
    fn fill(&mut self, name: &str, class: Class, with: &[String]) -> Result<()> {
        match class {
            Class::Pred => {
                let (a, b) = (self.constant(32)?, self.constant(32)?);
                line!(self, "setp.lt.u32 {name}, {a}, {b};");
            }
            Class::B128 => line!(self, "mov.b128 {name}, {{%h0, %h1}};"),
            Class::B16 | Class::B32 | Class::B64 => {
                let bits = class.bits();
                match self.u.int_in_range(0..=3)? {
                    0 if self.place == Place::Kernel => {
                        let at = self.u.int_in_range(0..=crate::INPUT_BYTES / 8 - 1)? * 8;
                        line!(self, "ld.global.b{bits} {name}, [%input+{at}];");
                    }
                    1 if self.place == Place::Kernel && class == Class::B32 => {
                        let from = self.u.choose(&["%thread", "%own_tid", "%laneid", "%ctaid.x"])?;
                        line!(self, "mov.u32 {name}, {from};");
                    }
                    1 if self.place == Place::Kernel && class == Class::B64 => {
                        let from = *self.u.choose(&["x", "d"])?;
                        line!(self, "ld.param.b64 {name}, [{from}];");
                    }
                    2 => {
                        let from = self.scopes.of(class).filter(|from| !with.iter().any(|w| w == from));
                        let from: Vec<String> = from.map(str::to_owned).collect();
                        match from.as_slice() {
                            [] => line!(self, "mov.b{bits} {name}, 1;"),
                            all => {
                                let from = self.u.choose(all)?;
                                line!(self, "mov.b{bits} {name}, {from};");
                            }
                        }
                    }
                    _ => {
                        let value = self.constant(bits)?;
                        line!(self, "mov.b{bits} {name}, {value};");
                    }
                }
            }
        }
        Ok(())
    }

    /// One statement, which may contain others.
    pub(super) fn statement(&mut self, depth: usize) -> Result<()> {
        self.budget = self.budget.saturating_sub(1);
        let nest = depth < self.config.depth && self.budget > 2;
        if self.together && depth == 0 && self.u.ratio(1, 6)? {
            return self.jointly();
        }
        match self.u.int_in_range(0..=31)? {
            0..=13 => self.operation(None),
            14..=16 => {
                let guard = self.guard()?;
                self.operation(Some(&guard))
            }
            17..=20 if self.config.memory => self.access(),
            21 if self.config.atomics => self.atomic(),
            22 => self.movement(),
            23 | 24 if nest => self.branch(depth),
            25 if nest => self.counted_loop(depth),
            26 if nest => self.switch(depth),
            27 if nest => self.irreducible(depth),
            28 if nest && self.config.scopes => self.block(depth),
            29 if !self.functions.is_empty() => self.call(),
            30 | 31 if self.together && depth == 0 => self.jointly(),
            31 if self.u.ratio(1, 2)? => self.never(),
            30 if self.may_leave && depth > 0 && self.place == Place::Kernel => self.leave(),
            _ => self.operation(None),
        }
    }

    /// `{ ... }` with registers of its own.
    pub(super) fn block(&mut self, depth: usize) -> Result<()> {
        self.line("{");
        self.indent += 1;
        self.scopes.open();
        self.declare()?;
        self.some_statements(depth + 1)?;
        self.scopes.close();
        self.indent -= 1;
        self.line("}");
        Ok(())
    }

    pub(super) fn some_statements(&mut self, depth: usize) -> Result<()> {
        for _ in 0..self.u.int_in_range(1..=5)? {
            if self.budget > 0 {
                self.statement(depth)?;
            }
        }
        Ok(())
    }

    /// `@%p ` or `@!%p `, or nothing where there is no predicate.
    pub(super) fn guard(&mut self) -> Result<String> {
        let not = if self.u.ratio(1, 2)? { "!" } else { "" };
        Ok(self.register(Class::Pred)?.map_or_else(String::new, |name| format!("@{not}{name} ")))
    }

    /// A register of a class that can be named here.
    pub(super) fn register(&mut self, class: Class) -> Result<Option<String>> {
        let count = self.scopes.of(class).count();
        if count == 0 {
            return Ok(None);
        }
        let n = self.u.int_in_range(0..=count - 1)?;
        Ok(self.scopes.of(class).nth(n).map(str::to_owned))
    }

    /// An integer that fits so many bits.
    pub(super) fn constant(&mut self, bits: u32) -> Result<String> {
        match self.u.ratio(2, 3)? {
            true => self.edge(bits),
            false => {
                let value = self.u.arbitrary()?;
                Ok(number(value, bits))
            }
        }
    }

    /// One at an edge of its type or of a narrower one, or a small one.
    pub(super) fn edge(&mut self, bits: u32) -> Result<String> {
        let special =
            [0, 1, 2, 31, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, u64::MAX];
        let value = match self.u.ratio(1, 2)? {
            true => *self.u.choose(&special)?,
            false => self.u.int_in_range(0..=64)?,
        };
        Ok(number(value, bits))
    }
}

/// The low bits of a number as a literal.
fn number(value: u64, bits: u32) -> String {
    let value = value & (u64::MAX >> (64 - bits.clamp(1, 64)));
    if value > 64 { format!("{value:#x}") } else { value.to_string() }
}
