//! The compiler of the instruction tables (`tables/*.isa`); the language is described in `docs/isa-tables.md`.
//!
//! The build script runs it and writes the static data that the crate is built from; the crate itself has it in tests only.

mod cursor;
mod gates;
mod generate;
mod model;
mod parse;
#[cfg(test)]
mod tests;

pub use generate::generate;
pub use model::{Error, Position, Tables};

/// Compiles table files, given as names and texts. Slots, kinds and classes defined in one file are visible in those after it.
pub fn compile(files: &[(String, String)]) -> Result<Tables, Vec<Error>> {
    let mut reader = parse::Reader::new();
    let mut errors: Vec<_> =
        files.iter().enumerate().flat_map(|(index, (_, text))| reader.file(index, text)).collect();
    errors.extend(reader.stray_slots());
    if errors.is_empty() { Ok(reader.tables) } else { Err(errors) }
}
