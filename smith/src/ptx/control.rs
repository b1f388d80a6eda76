//! Control flow that ends: branches, loops that count down, tables of labels, graphs that can be entered at two places, early exits.

use super::{Generator, Place, line};
use crate::ptx::scope::Class;
use arbitrary::Result;

impl Generator<'_, '_, '_> {
    /// What is written here is executed by some threads only.
    fn apart(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let together = std::mem::replace(&mut self.together, false);
        let result = body(self);
        self.together = together;
        result
    }

    /// Two ways that meet again, one of which may be empty.
    pub(super) fn branch(&mut self, depth: usize) -> Result<()> {
        let Some(condition) = self.register(Class::Pred)? else { return Ok(()) };
        let (other, end) = (self.label(), self.label());
        let not = if self.u.ratio(1, 2)? { "!" } else { "" };
        line!(self, "@{not}{condition} bra {other};");
        self.nested(depth)?;
        if self.u.ratio(1, 2)? {
            line!(self, "bra {end};");
            self.place_label(&other);
            self.nested(depth)?;
            self.place_label(&end);
        } else {
            self.place_label(&other);
        }
        Ok(())
    }

    /// A block or plain statements, which some threads only may execute.
    fn nested(&mut self, depth: usize) -> Result<()> {
        let scoped = self.config.scopes && self.u.ratio(1, 3)?;
        self.apart(|g| if scoped { g.block(depth) } else { g.some_statements(depth + 1) })
    }

    /// A loop that counts down to zero; some go round as often as the data says.
    pub(super) fn counted_loop(&mut self, depth: usize) -> Result<()> {
        let head = self.label();
        let counter = format!("%n{}", self.labels);
        let trips = self.u.int_in_range(1..=self.config.trips.max(1))?;
        self.line("{");
        self.indent += 1;
        line!(self, ".reg .b32 {counter};");
        let by_data = if self.u.ratio(1, 2)? { self.register(Class::B32)? } else { None };
        match by_data {
            Some(register) => {
                line!(self, "and.b32 {counter}, {register}, {};", trips.next_power_of_two() - 1);
                line!(self, "add.s32 {counter}, {counter}, 1;");
            }
            None => line!(self, "mov.u32 {counter}, {trips};"),
        }
        self.place_label(&head);
        self.nested(depth)?;
        line!(self, "sub.s32 {counter}, {counter}, 1;");
        line!(self, "setp.ne.s32 %c0, {counter}, 0;");
        line!(self, "@%c0 bra {head};");
        self.indent -= 1;
        self.line("}");
        Ok(())
    }

    /// A jump through a table of labels.
    pub(super) fn switch(&mut self, depth: usize) -> Result<()> {
        let Some(selector) = self.register(Class::B32)? else { return Ok(()) };
        let cases = self.u.int_in_range(2..=4)?;
        let (table, end) = (self.label(), self.label());
        let labels: Vec<String> = (0..cases).map(|_| self.label()).collect();
        line!(self, "rem.u32 %s0, {selector}, {cases};");
        self.place_table(&table, ".branchtargets", &labels);
        line!(self, "brx.idx %s0, {table};");
        for (n, label) in labels.iter().enumerate() {
            self.place_label(label);
            self.nested(depth)?;
            // Some cases fall into the next.
            if n + 1 < cases && self.u.ratio(2, 3)? {
                line!(self, "bra {end};");
            }
        }
        self.place_label(&end);
        Ok(())
    }

    pub(super) fn place_table(&mut self, name: &str, directive: &str, members: &[String]) {
        let text = format!("{name}: {directive} {};", members.join(", "));
        self.line(&text);
    }

    /// A loop with two ways in, whose rounds are paid for.
    pub(super) fn irreducible(&mut self, depth: usize) -> Result<()> {
        let Some(condition) = self.register(Class::Pred)? else { return Ok(()) };
        let (first, second, end) = (self.label(), self.label(), self.label());
        let fuel = format!("%n{}", self.labels);
        let trips = self.u.int_in_range(2..=2 * self.config.trips.max(1))?;
        self.line("{");
        self.indent += 1;
        line!(self, ".reg .b32 {fuel};");
        line!(self, "mov.u32 {fuel}, {trips};");
        line!(self, "@{condition} bra {second};");
        self.place_label(&first);
        self.nested(depth)?;
        self.pay(&fuel, &end);
        self.place_label(&second);
        self.nested(depth)?;
        self.pay(&fuel, &end);
        let again = self.register(Class::Pred)?;
        if let Some(again) = again {
            line!(self, "@{again} bra {first};");
        }
        line!(self, "bra {second};");
        self.place_label(&end);
        self.indent -= 1;
        self.line("}");
        Ok(())
    }

    fn pay(&mut self, fuel: &str, end: &str) {
        line!(self, "sub.s32 {fuel}, {fuel}, 1;");
        line!(self, "setp.le.s32 %c0, {fuel}, 0;");
        line!(self, "@%c0 bra {end};");
    }

    /// What no thread does, so that nothing may come of it: a guard that holds nowhere, since no block has a side of so many threads.
    pub(super) fn never(&mut self) -> Result<()> {
        line!(self, "mov.u32 %s0, %tid.y;");
        line!(self, "setp.ge.u32 %c0, %s0, {};", self.u.int_in_range(1024..=1033)?);
        let end = if self.place == Place::Kernel { "exit;" } else { "ret;" };
        let text = *self.u.choose(&[
            "trap;",
            "trap;",
            end,
            "st.global.b32 [%t1], %s0;",
            "ld.global.b32 %s0, [%t1];",
            "red.global.add.u32 [%t1], 1;",
        ])?;
        if text.contains("%t1") {
            line!(self, "mov.b64 %t1, {};", 4 * self.u.int_in_range(0..=9)?);
        }
        line!(self, "@%c0 {text}");
        Ok(())
    }

    /// Some threads are done here.
    pub(super) fn leave(&mut self) -> Result<()> {
        if let Some(condition) = self.register(Class::Pred)? {
            line!(self, "@{condition} bra $finish;");
        }
        Ok(())
    }
}
