//! `.file`, `.loc`, `.section` and `.pragma` (manual 11.4.7 and 11.5).

use super::Validator;
use crate::codes;
use crate::pragma::{Pragma, PragmaError};
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
                            DataValue::Int(_) | DataValue::Address { .. } => {}
                        }
                    }
                }
                Data::Bytes(_) => {}
            }
        }
    }

    pub(super) fn intermediate_source(&mut self, blocks: List<CodeBlock>, span: Span) {
        let name = ".nv_intermediate_source_section";
        self.gate(name, &format!("`{name}`"), span);
        for CodeBlock { file, .. } in &self.m[blocks] {
            if !self.files.contains(file) {
                self.error(codes::LOC, span, format!("file {file} is not declared"));
            }
        }
    }

    pub(super) fn pragmas(&mut self, strings: List<Symbol>, span: Span, place: Place) {
        for string in &self.m[strings] {
            self.pragma(&self.m[*string], span, place);
        }
    }

    /// ptxas knows a handful; in functions it ignores those that it does not know.
    fn pragma(&mut self, text: &str, span: Span, place: Place) {
        let name = Pragma::name_of(text);
        let local = |name: &str| {
            matches!(name, "used_bytes_mask" | "frequency" | "enable_smem_spilling" | "mma_throughput")
        };
        if let Some(name) = name.filter(|name| local(name) && place != Place::Body) {
            let message = format!("the pragma `{name}` stands in bodies only");
            return self.error(codes::PRAGMA, span, message);
        }
        if let Some(name) = name.filter(|name| local(name)) {
            self.gate(&format!(".pragma.{name}"), &format!("the pragma `{name}`"), span);
        }
        match Pragma::parse(text) {
            Ok(
                Pragma::NoUnroll
                | Pragma::EnableSmemSpilling
                | Pragma::MmaThroughput
                | Pragma::UsedBytesMask(_)
                | Pragma::Frequency(_),
            ) => {}
            Err(error @ PragmaError::Unknown(_)) if place != Place::Module => {
                let message = format!("{error}, which has no effect");
                self.report(Diagnostic::warning(codes::PRAGMA, span, message));
            }
            Err(error) => self.error(codes::PRAGMA, span, error.to_string()),
        }
    }
}
