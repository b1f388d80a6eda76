//! Memory and instructions: `x` and `disassemble`.

use super::*;

impl Debugger<'_> {
    /// `x/NFU ADDRESS`
    #[expect(clippy::wildcard_enum_match_arm, reason = "any number may be an address")]
    pub(in crate::debug) fn examine(
        &mut self,
        args: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let (format, text) = Format::take(args)?;
        let (old_letter, old_unit) = self.listing.last.unwrap_or(('x', 4));
        let letter = format.letter.unwrap_or(old_letter);
        let count = format.count.unwrap_or(1);
        if count > MOST_UNITS {
            return Err(format!("At most {MOST_UNITS} units are shown at once."));
        }
        if letter == 'i' {
            return self.instructions(count, text, view);
        }
        let view = view.ok_or("The program is not being run.")?;
        let (space, mut address, natural) = match text {
            "" => {
                let (space, address) =
                    self.listing.examined.ok_or("Argument required (starting display address).")?;
                (space, address, None)
            }
            text => {
                let value = decay(&self.evaluate(text, Some(view))?);
                match value.ty.plain() {
                    Type::Pointer(space, to) => {
                        let of = to.scalar().filter(|ty| ty.bits() >= 8);
                        (*space, value.bits() as u64, of)
                    }
                    _ => (StateSpace::Generic, value.as_int()? as u64, None),
                }
            }
        };
        if letter == 's' {
            return self.strings(count, space, address, view);
        }
        let unit = format.unit.or(natural.filter(|_| letter == 'f').map(|ty| u64::from(ty.bits() / 8)));
        let unit = unit.unwrap_or(if letter == 'c' {
            1
        } else if letter == 'a' {
            8
        } else {
            old_unit
        });
        let ty = match (letter, unit, natural) {
            ('f', _, Some(ty)) if ty.is_float() && u64::from(ty.bits() / 8) == unit => ty,
            ('f', 2, _) => ScalarType::F16,
            ('f', 4, _) => ScalarType::F32,
            ('f', 8, _) => ScalarType::F64,
            (_, 1, _) => ScalarType::B8,
            (_, 2, _) => ScalarType::B16,
            (_, 4, _) => ScalarType::B32,
            _ => ScalarType::B64,
        };
        // As gdb does it, numbers in hexadecimal have leading zeros here.
        let shown = if letter == 'x' { 'z' } else { letter };
        let per_line = match (letter, unit) {
            ('c', _) | (_, 1) => 8,
            ('t', _) | (_, 8) => 2,
            (_, 2) => 8,
            _ => 4,
        };
        let ty = Type::Scalar(ty);
        let mut out = String::new();
        for i in 0..count {
            if i % per_line == 0 {
                put!(out, "{}{}:", if i > 0 { "\n" } else { "" }, self.address(space, address, view));
            }
            let value = self.scope(Some(view)).memory(space, address, &ty);
            match value {
                Ok(value) => _ = write!(out, "\t{}", value.show(Some(shown))),
                Err(message) => {
                    self.say(&format!("{out}\n"));
                    return Err(message);
                }
            }
            address = address.wrapping_add(unit);
        }
        self.listing.last = Some((letter, unit));
        self.listing.examined = Some((space, address));
        self.say(&format!("{out}\n"));
        Ok(Flow::Stay)
    }

    pub(super) fn strings(
        &mut self,
        count: u64,
        space: StateSpace,
        mut address: u64,
        view: &mut View<'_>,
    ) -> Result<Flow, String> {
        for _ in 0..count {
            let at = self.address(space, address, view);
            let (text, bytes) = self.scope(Some(view)).text(space, address)?;
            address = address.wrapping_add(bytes);
            self.say(&format!("{at}:\t{text}\n"));
        }
        self.listing.examined = Some((space, address));
        Ok(Flow::Stay)
    }

    /// `@shared 0x40 <tile+64>`
    pub(super) fn address(&self, space: StateSpace, address: u64, view: &View<'_>) -> String {
        let of = if space == StateSpace::Generic { String::new() } else { format!("@{} ", space.name()) };
        let (real, offset) = warpsmith_interp::observe::locate(space, address);
        let within = view
            .launch()
            .variables()
            .find(|v| v.space == real && offset >= v.address && offset - v.address < v.bytes.max(1));
        let name = within.map_or_else(String::new, |v| match offset - v.address {
            0 => format!(" <{}>", v.name),
            n => format!(" <{}+{n}>", v.name),
        });
        format!("{of}{address:#x}{name}")
    }

    /// `x/i`: statements from a place on; `$pc` without one.
    pub(super) fn instructions(
        &mut self,
        count: u64,
        text: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let here = view.as_ref().and_then(|v| {
            let frames = self.frames(v);
            frames.get(self.frame).map(|f| f.pc)
        });
        let pc = match text {
            "" | "$pc" => here.ok_or("No registers.")?,
            text => match self.symbols.locate(text, here) {
                Ok(pcs) => pcs[0],
                Err(_) => {
                    let line = self.evaluate(text, view)?.as_int()?;
                    let line = u32::try_from(line).map_err(|_| format!("There is no line {line}."))?;
                    self.symbols.locate(&line.to_string(), here)?[0]
                }
            },
        };
        let current = here.map(|pc| self.symbols.start_of(pc));
        let pcs: Vec<u32> = self.symbols.statements_from(pc).iter().copied().take(count as usize).collect();
        self.say(&self.disassembly(&pcs, current));
        Ok(Flow::Stay)
    }

    pub(super) fn disassembly(&self, pcs: &[u32], current: Option<u32>) -> String {
        let mut text = String::new();
        for pc in pcs {
            let mark = if current == Some(*pc) { "=>" } else { "  " };
            let line = self.symbols.program.line(*pc);
            let place = self.symbols.place(*pc);
            putln!(text, "{mark} {line} <{place}>:\t{}", self.symbols.sources.text(line));
        }
        text
    }

    /// `disassemble`: the statements of the function of the selected frame, or of a named one.
    pub(in crate::debug) fn disassemble(
        &mut self,
        args: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let here = view.as_ref().and_then(|v| self.frames(v).get(self.frame).map(|f| f.pc));
        let pc = match args {
            "" => here.ok_or("No frame selected.")?,
            args => self.symbols.locate(args, here)?[0],
        };
        let Some(function) = self.symbols.program.function_at(pc) else {
            return Err("No function there.".into());
        };
        let name = self.symbols.program.function_name(function).to_owned();
        let body = self.symbols.body(function).to_vec();
        let text = self.disassembly(&body, here.map(|pc| self.symbols.start_of(pc)));
        self.say(&format!("Dump of PTX code for function {name}:\n{text}End of dump.\n"));
        Ok(Flow::Stay)
    }
}
