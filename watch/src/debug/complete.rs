//! How a command that is being written can go on.

use super::Debugger;
use super::commands;
use super::info::{SYSTEM, topics};
use std::collections::BTreeSet;
use warpsmith_interp::observe::View;

/// No more are given.
const MOST: usize = 200;

impl Debugger<'_> {
    /// The whole lines that a line can become, in order.
    pub(super) fn completions(&mut self, line: &str, view: Option<&mut View<'_>>) -> Vec<String> {
        let line = line.trim_start();
        let Some((command, rest)) = line.split_once(char::is_whitespace) else {
            return commands::names(line).into_iter().map(str::to_owned).collect();
        };
        let from =
            rest.len() - rest.chars().rev().take_while(|c| is_name(*c)).map(char::len_utf8).sum::<usize>();
        // A register's or variable's sign belongs to its name; `%` after a value is a remainder.
        let (before, word) = rest.split_at(from);
        let known: BTreeSet<String> = match command {
            "info" | "i" if before.is_empty() => topics().map(str::to_owned).collect(),
            "help" | "h" if before.is_empty() => commands::names("").into_iter().map(str::to_owned).collect(),
            "break" | "b" | "tbreak" | "tb" | "advance" | "until" | "list" | "l" | "clear"
            | "disassemble"
                if before.is_empty() =>
            {
                self.places()
            }
            _ => self.names(view),
        };
        let found = known.into_iter().filter(|name| name.starts_with(word)).take(MOST);
        found.map(|name| format!("{command} {before}{name}")).collect()
    }

    /// What an expression can name where the kernel stands: the variables of the source or the PTX, registers, what CUDA calls the thread.
    fn names(&mut self, view: Option<&mut View<'_>>) -> BTreeSet<String> {
        let cuda = ["threadIdx", "blockIdx", "blockDim", "gridDim", "$pc"].map(str::to_owned);
        let mut names: BTreeSet<String> = cuda.into();
        names.extend(SYSTEM.iter().map(|name| format!("%{name}")));
        if let Some(view) = view {
            let frames = self.frames(view);
            if let Some(frame) = frames.get(self.frame) {
                names.extend([true, false].into_iter().flat_map(|args| self.names_in(frame, args)));
                names.extend(self.register_names(frame).unwrap_or_default());
            }
            names.extend(view.launch().variables().map(|variable| variable.name.to_owned()));
        }
        let globals = self.symbols.sources.dwarf().variables.iter().filter(|v| v.scope.is_none());
        names.extend(globals.map(|variable| variable.name.clone()));
        names
    }

    /// Where breakpoints can be: functions of the PTX and of the source, and files.
    fn places(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self.symbols.functions().map(str::to_owned).collect();
        names.extend(self.symbols.sources.dwarf().functions.iter().map(|function| function.name.clone()));
        names.extend(self.symbols.files().iter().map(|file| format!("{}:", super::symbols::base(file))));
        names
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '.' | ':')
}
