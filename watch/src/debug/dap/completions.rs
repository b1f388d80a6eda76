//! `completions`: how what is typed into the editor's console can go on, commands and expressions alike.

use super::session::Session;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use warpsmith_interp::observe::View;

impl Session<'_, '_> {
    pub(super) fn completions(
        &mut self,
        arguments: &Value,
        view: Option<&mut View<'_>>,
    ) -> Result<Value, String> {
        let text = arguments.get("text").and_then(Value::as_str).ok_or("`text` is missing.")?;
        let column = arguments.get("column").and_then(Value::as_u64).ok_or("`column` is missing.")?;
        let typed = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
        let line: String = text.chars().take(typed).collect();
        let of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '.' | ':');
        let from =
            line.len() - line.chars().rev().take_while(|c| of_word(*c)).map(char::len_utf8).sum::<usize>();
        let (before, word) = line.split_at(from);
        let mut found: BTreeSet<String> = BTreeSet::new();
        let mut view = view;
        let frame = arguments.get("frameId").and(self.frame_of(arguments).ok());
        let mut complete = |line: &str, view: Option<&mut View<'_>>| match frame {
            Some(frame) => self.in_frame(frame, |session| session.debugger.completions(line, view)),
            None => self.debugger.completions(line, view),
        };
        found.extend(complete(&line, view.as_deref_mut()));
        // An expression may stand alone.
        let alone = complete(&format!("print {line}"), view);
        found.extend(alone.into_iter().filter_map(|line| line.strip_prefix("print ").map(str::to_owned)));
        let targets = found.iter().map(|line| {
            let label = line.strip_prefix(before.trim_start()).unwrap_or(line.as_str());
            json!({"label": label, "start": before.chars().count(), "length": word.chars().count()})
        });
        Ok(json!({"targets": targets.collect::<Vec<_>>()}))
    }
}
