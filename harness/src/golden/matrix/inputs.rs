//! What a statement's operands are given, as PTX in front of it.

use super::{LAYOUTS, POOL, Part, TILE_B, class, registers};
use crate::runs::digest;
use warpsmith::isa::ScalarType;

/// The inputs of a statement, and what it writes.
pub(super) struct Inputs<'a> {
    /// The name of its row.
    pub id: &'a str,
    pub family: &'a str,
    /// Its mnemonic.
    pub name: String,
    pub decls: &'a str,
    /// It is one of a warpgroup.
    pub wide: bool,
    /// How matrices in memory are laid out.
    pub layout: usize,
    /// Which places of the pools come next.
    pub seed: u64,
    /// The next matrix in memory is the second one.
    pub at_b: bool,
    /// The PTX.
    pub body: String,
    /// The registers that it writes.
    pub results: Vec<(String, ScalarType)>,
    /// It writes memory.
    pub stored: bool,
}

impl Inputs<'_> {
    /// The statement accesses the module's variable in shared memory, or its kernel's own.
    pub fn is_shared(&self) -> bool {
        self.name.contains(".shared")
    }

    pub fn is_global(&self) -> bool {
        self.name.contains(".global")
    }

    fn next_index(&mut self) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 40) as usize % POOL
    }

    /// Each register comes from a place of the pool of its part that depends on the thread.
    fn load(&mut self, register: &str, part: Part) -> Option<()> {
        let ty = class(self.decls, register)?;
        let at = self.next_index();
        let pool = match part {
            Part::Addend | Part::Result => "%w_pool_c",
            Part::Metadata => "%w_pool_m",
            _ => "%w_pool_a",
        };
        let step = if ty.bits() == 64 { 8 } else { 4 };
        let mask = POOL * 4 - step;
        line!(
            self.body,
            "mad.lo.u32 %w_at, %w_tid, 148, {};\nand.b32 %w_at, %w_at, {mask};\ncvt.u64.u32 %w_off, %w_at;\nadd.u64 %w_off, %w_off, {pool};",
            at * step
        );
        line!(self.body, "ld.global.b{} {register}, [%w_off];", ty.bits());
        Some(())
    }

    /// Gives an operand what it needs; `None` if the statement is not a case.
    pub fn operand(&mut self, part: Part, operand: &str, first: &str) -> Option<()> {
        let registers = registers(operand, self.decls);
        // A declared vector: its components are not loaded.
        if registers.is_empty()
            && matches!(part, Part::Result | Part::Element | Part::Addend | Part::Metadata)
        {
            return None;
        }
        match part {
            Part::Result => {
                for register in &registers {
                    self.results.push((register.clone(), class(self.decls, register)?));
                }
                // Accumulators of a warpgroup are read, too.
                if self.wide {
                    registers.iter().try_for_each(|register| self.load(register, part))?;
                }
            }
            Part::Element | Part::Addend | Part::Metadata => {
                registers.iter().try_for_each(|register| self.load(register, part))?;
                self.note_store();
            }
            Part::Stride => self.stride(operand, &registers, first)?,
            Part::Address => self.address(&registers)?,
            Part::Descriptor => self.descriptor(registers.first()?),
            Part::Flag => {
                for register in &registers {
                    let odd = digest(self.id.as_bytes()) & 1;
                    line!(self.body, "setp.ne.u32 {register}, {odd}, 0;");
                }
            }
            Part::Immediate => {}
        }
        Some(())
    }

    fn note_store(&mut self) {
        self.stored |= self.family.contains("store") || self.family.starts_with("stmatrix");
    }

    fn stride(&mut self, operand: &str, registers: &[String], first: &str) -> Option<()> {
        let name = &self.name;
        let of_32 = name.contains(".m8n32") && name.contains(".row")
            || name.contains(".m32n8") && name.contains(".col");
        let stride = match () {
            () if name.contains(".b1") => 128,
            () if name.contains(".s4") || name.contains(".u4") || of_32 => 32,
            () => 16,
        };
        // Lines that overlap are written in an order that nobody says, and a register has one value.
        let literal: Option<u64> = operand.parse().ok();
        let overlaps = literal.is_some_and(|literal| !(stride..=32).contains(&literal));
        let is_address = |register: &String| first.contains(register.as_str());
        if self.family == "wmma.store" && overlaps || registers.iter().any(is_address) {
            return None;
        }
        if let Some(register) = registers.first() {
            let bits = class(self.decls, register)?.bits();
            line!(self.body, "mov.b{bits} {register}, {stride};");
        }
        Some(())
    }

    fn address(&mut self, registers: &[String]) -> Option<()> {
        // All lanes would store their lines to one place.
        if registers.is_empty() && self.family == "stmatrix" {
            return None;
        }
        self.note_store();
        for register in registers {
            let bits = class(self.decls, register)?.bits();
            // Each lane of `ldmatrix` and `stmatrix` names a row.
            let lane = if self.family.ends_with("matrix") { 16 } else { 0 };
            line!(self.body, "mov.u64 %w_off, w_mem;");
            if bits == 64 && !self.is_shared() && !self.is_global() {
                self.body.push_str("cvta.shared.u64 %w_off, %w_off;\n");
            }
            if self.is_global() {
                self.body.push_str("ld.param.u64 %w_off, [scratch];\n");
            }
            self.body.push_str("and.b32 %w_at, %w_tid, 31;\n");
            line!(self.body, "mad.wide.u32 %w_off, %w_at, {lane}, %w_off;");
            match bits {
                64 => line!(self.body, "mov.u64 {register}, %w_off;"),
                _ => line!(self.body, "cvt.u32.u64 {register}, %w_off;"),
            };
        }
        Some(())
    }

    fn descriptor(&mut self, register: &str) {
        let start = if self.at_b { TILE_B } else { 0 };
        self.at_b = true;
        let [leading, stride, further] = LAYOUTS[self.layout / 4 % LAYOUTS.len()];
        let start = start + further as usize;
        // Offsets and the swizzle; the address joins them at run time.
        let fixed = (leading >> 4) << 16 | (stride >> 4) << 32 | (self.layout as u64 & 3) << 62;
        line!(
            self.body,
            "mov.u64 %w_off, w_mem;\nadd.u64 %w_off, %w_off, {start};\nbfe.u64 %w_off, %w_off, 4, 14;\nor.b64 {register}, %w_off, 0x{fixed:x};"
        );
    }
}
