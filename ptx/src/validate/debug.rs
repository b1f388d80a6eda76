//! `.file`, `.loc`, `.section` and `.pragma` (manual 11.4.7 and 11.5).

use super::Validator;
use crate::codes;
use crate::tree::*;
use warpsmith_diag::{Diagnostic, Span};

/// Where a pragma stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Module level.
    Module,
    /// Between a header and its body.
    Header,
    /// A body.
    Body,
}

impl Validator<'_> {
    pub(super) fn file(&mut self, file: File, span: Span) {
        if !self.files.insert(file.index) {
            self.error(codes::FILE, span, format!("file {} is declared already", file.index));
        }
        if file.timestamp.is_some() {
            self.gate(".file.timestamp", "a time of `.file`", span);
        }
    }

    pub(super) fn loc(&mut self, loc: Loc, span: Span) {
        if let Some(inlined) = loc.inlined {
            let Inlined { at, function_name, .. } = self.m[inlined];
            self.function_names.push((function_name, span));
            if !self.places.contains(&at) {
                let message = format!("no `.loc` before this one has the place {at}");
                let note = "the place of the call must have a `.loc` of its own before (PTX ISA 9.0, 11.5.4)";
                self.report(Diagnostic::error(codes::LOC, span, message).note(note));
            }
        }
        self.places.insert(loc.at);
    }

    /// The labels that `.loc` names may be in sections that come later.
    pub(super) fn finish_debug(&mut self) {
        for (name, span) in std::mem::take(&mut self.function_names) {
            let spelling = self.name(name);
            if !spelling.starts_with('.') && !self.data_labels.contains_key(&name) {
                let message = format!("no `.section` has the label `{spelling}`");
                let note = "`function_name` is a label of `.debug_str`, or `.debug_str+offset`";
                self.report(Diagnostic::error(codes::LOC, span, message).note(note));
            }
        }
    }

    pub(super) fn section(&mut self, section: Section) {
        let m = self.m;
        for id in section.data.ids() {
            let at = m.data_span(id);
            match m[id] {
                Data::Label(name) => {
                    self.gate(".section.label", "a label in a `.section`", at);
                    if let Some(first) = self.data_labels.insert(name, at) {
                        let message = format!("the label `{}` is there already", &m[name]);
                        self.report(
                            Diagnostic::error(codes::DUPLICATE, at, message)
                                .label(first, "first declared here"),
                        );
                    }
                }
                Data::Values { values, .. } => {
                    for value in &m[values] {
                        match value {
                            DataValue::Difference { .. } => {
                                self.gate(".section.difference", "a difference of labels", at);
                            }
                            DataValue::Address { offset, .. } if *offset != 0 => {
                                self.gate(".section.offset", "a label and an offset", at);
                            }
                            _ => {}
                        }
                    }
                }
                Data::Bytes(_) => {}
            }
        }
    }

    pub(super) fn pragmas(&mut self, strings: List<Symbol>, span: Span, place: Place) {
        for string in &self.m[strings] {
            self.pragma(&self.m[*string], span, place);
        }
    }

    /// ptxas knows a handful; in functions it passes over what it does not know.
    fn pragma(&mut self, text: &str, span: Span, place: Place) {
        let mut words = text.split_ascii_whitespace();
        let name = words.next().unwrap_or("");
        let arguments: Vec<&str> = words.collect();
        let local = matches!(name, "used_bytes_mask" | "frequency" | "enable_smem_spilling");
        if local && place != Place::Body {
            let message = format!("the pragma `{name}` stands in bodies only");
            return self.error(codes::PRAGMA, span, message);
        }
        match name {
            "nounroll" => {}
            "enable_smem_spilling" => {
                self.gate(".pragma.enable_smem_spilling", "the pragma `enable_smem_spilling`", span)
            }
            "used_bytes_mask" | "frequency" => {
                self.gate(&format!(".pragma.{name}"), &format!("the pragma `{name}`"), span);
                let message = match arguments[..] {
                    [] => Some(format!("the pragma `{name}` needs a value")),
                    [value] if pragma_value(name, value) => None,
                    _ => Some(format!("`{}` is no value of the pragma `{name}`", arguments.join(" "))),
                };
                if let Some(message) = message {
                    self.error(codes::PRAGMA, span, message);
                }
            }
            _ if place != Place::Module => {
                let message = format!("the pragma `{text}` is not known and has no effect");
                self.report(Diagnostic::warning(codes::PRAGMA, span, message));
            }
            _ => self.error(codes::PRAGMA, span, format!("the pragma `{text}` is not known")),
        }
    }
}

/// `used_bytes_mask` takes an integer, `frequency` one above zero.
fn pragma_value(name: &str, value: &str) -> bool {
    let (negative, digits) = match value.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, value),
    };
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    match name {
        "frequency" => !negative && parsed.is_ok_and(|n| n >= 1),
        _ => parsed.is_ok(),
    }
}
