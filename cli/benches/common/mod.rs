//! What the benchmarks of the compiler measure: the examples, and modules in which they stand many times.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The examples in IR text, in the order of their names.
pub fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut examples: Vec<_> = std::fs::read_dir(folder)
        .expect("examples/ is part of the repository")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wir"))
        .collect();
    examples.sort();
    examples
}

/// True of lines of IR text that define a symbol.
pub fn defines_wir(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("kernel" | "func" | "global" | "const" | "shared"))
}

/// The module with everything it defines `count` times. `defines` is true of the lines that define a symbol (the first `@name`).
pub fn copies(source: &str, count: usize, defines: impl Fn(&str) -> bool) -> String {
    let symbol = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'));
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let mut defined = HashSet::new();
    // What is defined is repeated; the rest (declarations, attributes, metadata) stands once.
    let (mut repeated, mut once) = (String::new(), String::new());
    let mut inside = false;
    for line in source.lines() {
        if line.starts_with(';') {
            continue;
        }
        let start = defines(line);
        if start && let Some((_, rest)) = line.split_once('@') {
            defined.insert(symbol(rest));
        }
        let part = if start || inside { &mut repeated } else { &mut once };
        part.push_str(line);
        part.push('\n');
        // A definition of several lines ends with a bracket in the first column.
        let opens = start && (line.ends_with('{') || line.ends_with('['));
        inside = (inside || opens) && !matches!(line, "}" | "]");
    }
    let mut text = String::with_capacity(once.len() + repeated.len() * (count + 1));
    for copy in 0..count {
        let mut pieces = repeated.split('@');
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let name = symbol(piece);
            text.push('@');
            text.push_str(&name);
            if defined.contains(&name) {
                text.push_str(&format!("_{copy}"));
            }
            text.push_str(&piece[name.len()..]);
        }
    }
    once + &text
}
