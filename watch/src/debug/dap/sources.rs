//! Files: those of the source, and the PTX, which may be none.

use super::session::Session;
use crate::debug::symbols::{base, same_file};
use serde_json::{Value, json};

/// The number of the PTX where it is not a file.
const PTX: u64 = 1;

/// What a source of a request is.
pub(super) enum Named {
    Ptx,
    /// A file of the source, as the debug information names it.
    File(String),
}

impl Session<'_, '_> {
    /// A file of the source, for the editor.
    pub(super) fn file(&self, file: &str) -> Value {
        match self.settings.resolve(file) {
            Some(path) => json!({"name": base(file), "path": path.to_string_lossy()}),
            None => json!({"name": base(file), "path": file, "presentationHint": "deemphasize"}),
        }
    }

    /// The PTX, for the editor.
    pub(super) fn ptx(&self) -> Value {
        let name = self.debugger.symbols.file();
        match self.settings.ptx.as_ref().and_then(|path| std::path::absolute(path).ok()) {
            Some(path) => json!({"name": name, "path": path.to_string_lossy()}),
            None => json!({"name": name, "sourceReference": PTX, "origin": "compiled"}),
        }
    }

    /// Which of its sources the editor means.
    pub(super) fn named(&self, source: &Value) -> Result<Named, String> {
        if source.get("sourceReference").and_then(Value::as_u64) == Some(PTX) {
            return Ok(Named::Ptx);
        }
        let path = source.get("path").or(source.get("name")).and_then(Value::as_str);
        let path = path.ok_or("`source` has neither a path nor a number.")?;
        let ptx = self.ptx();
        if ptx.get("path").and_then(Value::as_str) == Some(path) {
            return Ok(Named::Ptx);
        }
        let files = self.debugger.symbols.files();
        let is_path = |file: &&String| {
            let found = self.settings.resolve(file);
            found.is_some_and(|found| found.as_os_str() == path || same_path(&found, path))
        };
        let ends_so = |file: &&String| same_file(file, path) || same_file(path, file);
        let known = files.iter().find(is_path).or_else(|| files.iter().find(ends_so));
        if let Some(file) = known {
            return Ok(Named::File(file.clone()));
        }
        if base(path) == self.debugger.symbols.file() {
            return Ok(Named::Ptx);
        }
        Err(format!("No code of this kernel comes from {}.", base(path)))
    }

    pub(super) fn loaded_sources(&self) -> Value {
        let files = self.debugger.symbols.files();
        let files: Vec<Value> = files.iter().map(|file| self.file(file)).chain([self.ptx()]).collect();
        json!({"sources": files})
    }

    /// The text of a source that is not a file.
    pub(super) fn source_text(&self, arguments: &Value) -> Result<Value, String> {
        let number = arguments.get("sourceReference").or(arguments.pointer("/source/sourceReference"));
        match number.and_then(Value::as_u64) {
            Some(PTX) => {
                let text = self.debugger.symbols.sources.source().text();
                Ok(json!({"content": text, "mimeType": "text/x-ptx"}))
            }
            _ => Err("Unknown source.".into()),
        }
    }
}

/// The same file, by way of links.
fn same_path(found: &std::path::Path, path: &str) -> bool {
    match (found.canonicalize(), std::path::Path::new(path).canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
