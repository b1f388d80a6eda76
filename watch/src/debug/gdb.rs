//! What else users of gdb and cuda-gdb type: `printf`, `info scope`, `info address`, `info symbol`, `backtrace full`.

use super::expr::Names;
use super::value::{Location, Texts, Type, Value};
use super::{Debugger, Flow};
use crate::dwarf::{Place, Variable};
use warpsmith_interp::observe::View;
use warpsmith_isa::StateSpace;

/// Settings of gdb that scripts begin with: nothing here waits for an answer, is folded or written in another way.
const SETTINGS: &[&str] = &[
    "breakpoint",
    "confirm",
    "cuda",
    "disassemble-next-line",
    "height",
    "history",
    "language",
    "listsize",
    "logging",
    "pagination",
    "print",
    "step-mode",
    "trace-commands",
    "verbose",
    "width",
];

/// True if `set NAME` is a setting.
pub(super) fn is_setting(name: &str) -> bool {
    SETTINGS.contains(&name)
}

/// The parts of a `printf`: its format without quotation marks, and its expressions.
fn arguments(text: &str) -> Result<(String, Vec<&str>), String> {
    let rest = text.strip_prefix('"').ok_or("Bad format string")?;
    let (mut format, mut end) = (String::new(), None);
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                end = Some(at);
                break;
            }
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => format.push('\n'),
                Some('t') => format.push('\t'),
                Some('a') => format.push('\x07'),
                Some(c @ ('\\' | '"')) => format.push(c),
                _ => return Err("Unrecognized escape character in format string.".into()),
            },
            c => format.push(c),
        }
    }
    let rest =
        rest.get(end.ok_or("Bad format string, non-terminated '\"'")? + 1..).unwrap_or_default().trim();
    if rest.is_empty() {
        return Ok((format, Vec::new()));
    }
    let list = rest.strip_prefix(',').ok_or("Invalid argument syntax")?;
    let (mut depth, mut start, mut found) = (0i32, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(list[start..].trim());
    Ok((format, found))
}

/// A value as a conversion of C's `printf` writes it: flags, width and precision, without the `%`.
fn converted(spec: &str, letter: char, value: &Value, texts: Texts<'_>) -> Result<String, String> {
    let spec = spec.trim_end_matches(['h', 'l', 'z', 'j']);
    let (left, zeros) = (spec.contains('-'), spec.starts_with('0'));
    let spec = spec.trim_start_matches(['-', '0', '+', ' ', '#']);
    let (width, precision) = spec.split_once('.').map_or((spec, None), |(width, rest)| (width, Some(rest)));
    let number = |text: &str| text.parse::<usize>().unwrap_or(0).min(1 << 10);
    let real = || {
        let text = value.show(None);
        text.parse::<f64>().map_err(|_| format!("Value can't be converted to a number: {text}"))
    };
    let text = match letter {
        'd' | 'i' => value.as_int()?.to_string(),
        'u' => (value.as_int()? as u64).to_string(),
        'x' | 'p' => format!("{}{:x}", if letter == 'p' { "0x" } else { "" }, value.bits()),
        'X' => format!("{:X}", value.bits()),
        'o' => format!("{:o}", value.bits()),
        'c' => char::from(value.bits() as u8).to_string(),
        'f' | 'F' => format!("{:.*}", precision.map_or(6, number), real()?),
        'e' | 'E' => format!("{:.*e}", precision.map_or(6, number), real()?),
        'g' | 'G' => real()?.to_string(),
        's' => {
            let text = value.show_with(Some('s'), texts);
            text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text).to_owned()
        }
        letter => return Err(format!("Unrecognized format specifier '{letter}' in printf")),
    };
    let width = number(width);
    Ok(match (left, zeros) {
        (true, _) => format!("{text:<width$}"),
        (false, true) => match text.strip_prefix('-') {
            Some(digits) => format!("-{digits:0>width$}", width = width.saturating_sub(1)),
            None => format!("{text:0>width$}"),
        },
        (false, false) => format!("{text:>width$}"),
    })
}

impl Debugger<'_> {
    /// `printf "FORMAT", EXPRESSION, ..`
    pub(super) fn printf(&mut self, args: &str, mut view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let (format, expressions) = arguments(args)?;
        let (mut text, mut rest, mut next) = (String::new(), format.as_str(), expressions.into_iter());
        while let Some((before, after)) = rest.split_once('%') {
            text += before;
            let end = after.find(|c: char| !c.is_ascii_digit() && !"-+ #.hlzj".contains(c));
            let Some((at, letter)) = end.and_then(|at| Some((at, after[at..].chars().next()?))) else {
                return Err("Incomplete format specifier at end of format string".into());
            };
            rest = &after[at + letter.len_utf8()..];
            if letter == '%' {
                text.push('%');
                continue;
            }
            let expression = next.next().ok_or("Bad format string, missing argument")?;
            let value = self.evaluate(expression, view.as_deref_mut())?;
            let mut scope = self.scope(view.as_deref_mut());
            let texts = &mut |space, address| scope.text(space, address).ok().map(|(text, _)| text);
            text += &converted(&after[..at], letter, &value, texts)?;
        }
        if next.next().is_some() {
            return Err("Wrong number of arguments for specified format-string".into());
        }
        self.say(&(text + rest));
        Ok(Flow::Stay)
    }

    /// `info scope PLACE`: what can be named there, and where it is.
    pub(super) fn info_scope(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        if args.is_empty() {
            return Err("requires an argument (an expression or variable): a linespec".into());
        }
        let here = view.and_then(|view| self.current(view));
        let pc = self.symbols.locate(args, here)?.first().copied().ok_or("No symbols.")?;
        let level = self.symbols.frames(pc).len().saturating_sub(1) as u32;
        let at = self.symbols.text_at(pc);
        let mut text = String::new();
        for variable in self.symbols.source_variables(pc, level) {
            let place = variable.place(at).map_or_else(|| "optimized out".into(), ToString::to_string);
            putln!(text, "Symbol {} is {place}, length {}.", variable.name, variable.ty.bytes());
        }
        if text.is_empty() {
            putln!(text, "Symbol table for \"{args}\" contains no locals.");
        }
        self.say(&text);
        Ok(Flow::Stay)
    }

    /// `info address NAME`: where a variable or function is, whatever it holds.
    pub(super) fn info_address(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        if args.is_empty() {
            return Err("Argument required.".into());
        }
        let frame = view.as_ref().and_then(|view| self.frames(view).into_iter().nth(self.frame));
        let variable = match &frame {
            Some(frame) => self.symbols.source_variable(frame.pc, frame.level, args),
            None => self.symbols.source_global(args),
        };
        let text = match variable {
            Some(variable) => match variable.places.as_slice() {
                [] => "optimized out.".to_owned(),
                [(None, place)] => format!("{}.", whereabouts(variable, place)),
                places => {
                    let mut text = String::from("multi-location:");
                    for (range, place) in places {
                        let inside = |line: &u64| range.as_ref().is_none_or(|range| range.contains(line));
                        let own = frame.as_ref().and_then(|frame| self.symbols.program.function_at(frame.pc));
                        let body = own.map_or(&[][..], |own| self.symbols.body(own)).iter();
                        let mut held = body.filter(|pc| inside(&self.symbols.text_at(**pc)));
                        let Some(first) = held.next() else { continue };
                        let [first, last] = [first, held.next_back().unwrap_or(first)];
                        let [first, last] = [first, last].map(|pc| self.symbols.program.line(*pc));
                        put!(text, "\n  PTX lines {first}-{last}: {}", whereabouts(variable, place));
                    }
                    text + "."
                }
            },
            None => match self.scope(view).variable(args)? {
                Value { ty: Type::Function(..), bytes, .. } => {
                    let line = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                    format!("a function at line {line} of {}.", self.symbols.file())
                }
                Value { at: Some(Location::Memory(space, address)), .. } => {
                    format!("static storage at address @{} {address:#x}.", space.name())
                }
                _ => return Err(format!("No symbol \"{args}\" in current context.")),
            },
        };
        self.say(&format!("Symbol \"{args}\" is {text}\n"));
        Ok(Flow::Stay)
    }

    /// `info symbol EXPRESSION`: the variable that an address is in. `$pc` is a line of the PTX.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only pointers are of a space")]
    pub(super) fn info_symbol(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let view = view.ok_or("The program is not being run.")?;
        if args == "$pc" {
            let pc = self.current(view).ok_or("No registers.")?;
            let place = self.symbols.place(pc);
            self.say(&format!("{place} in section .text\n"));
            return Ok(Flow::Stay);
        }
        let value = self.evaluate(args, Some(view))?;
        let address = value.bits() as u64;
        let wanted = match value.ty.plain() {
            Type::Pointer(space, _) => Some(*space),
            _ => None,
        };
        let mut found = None;
        for variable in view.launch().variables() {
            let offset = address.checked_sub(variable.address).filter(|offset| *offset < variable.bytes);
            let Some(offset) = offset.filter(|_| wanted.is_none_or(|space| space == variable.space)) else {
                continue;
            };
            let offset = if offset > 0 { format!(" + {offset}") } else { String::new() };
            found = Some(format!("{}{offset} in @{}\n", variable.name, variable.space.name()));
            break;
        }
        self.say(&found.unwrap_or_else(|| format!("No symbol matches {args}.\n")));
        Ok(Flow::Stay)
    }

    /// Of `backtrace full`: the variables of a frame, indented.
    pub(super) fn frame_locals(&mut self, number: usize, view: &mut View<'_>) {
        let before = std::mem::replace(&mut self.frame, number);
        let frame = self.frames(view).into_iter().nth(number);
        let names = frame.map(|frame| self.names_in(&frame, false)).unwrap_or_default();
        let mut text = String::new();
        for name in &names {
            match self.value_of(name, view) {
                Ok(value) => putln!(text, "        {name} = {}", self.shown(&value, None, Some(view))),
                Err(why) => putln!(text, "        {name} = {why}"),
            }
        }
        if names.is_empty() {
            text += "No locals.\n";
        }
        self.frame = before;
        self.say(&text);
    }
}

/// Where a variable is, as `info address` says it.
fn whereabouts(variable: &Variable, place: &Place) -> String {
    let what = if variable.parameter { "an argument" } else { "a variable" };
    let space = match variable.space {
        Some(StateSpace::Generic) | None => String::new(),
        Some(space) => format!("@{} ", space.name()),
    };
    match place {
        Place::Register(name) => format!("{what} in {name}"),
        Place::Behind(..) => format!("{what} at address {place}"),
        Place::Symbol(..) if variable.scope.is_none() => format!("static storage at address {space}{place}"),
        Place::Symbol(..) => format!("{what} at address {space}{place}"),
        Place::Constant(bits) => format!("constant {bits}"),
        Place::Pieces(_) => format!("{what} in pieces: {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_isa::ScalarType;

    #[test]
    fn formats_are_those_of_c() {
        let (format, list) = arguments("\"i=%d\\n\", f(1, 2), x[3]").expect("it is right");
        assert_eq!((format.as_str(), list.as_slice()), ("i=%d\n", ["f(1, 2)", "x[3]"].as_slice()));
        assert!(arguments("i").is_err() && arguments("\"i").is_err() && arguments("\"i\" j").is_err());
        let value = Value::new(Type::Scalar(ScalarType::S32), 42);
        for (spec, letter, expected) in [
            ("", 'd', "42"),
            ("5", 'd', "   42"),
            ("-5", 'd', "42   "),
            ("05", 'd', "00042"),
            ("l", 'x', "2a"),
            ("", 'c', "*"),
        ] {
            assert_eq!(
                converted(spec, letter, &value, &mut |_, _| None).as_deref(),
                Ok(expected),
                "%{spec}{letter}"
            );
        }
        assert_eq!(
            converted(".2", 'f', &Value::new(Type::Scalar(ScalarType::F32), 0x3fc0_0000), &mut |_, _| None)
                .as_deref(),
            Ok("1.50")
        );
        assert!(converted("", 'q', &value, &mut |_, _| None).is_err());
    }
}
