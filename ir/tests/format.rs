//! The formatter on all IR text of the repository.

use std::path::{Path, PathBuf};
use warpsmith_ir::{format, parse_module};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "wir") {
            found.push(path);
        }
    }
}

#[test]
fn formatting_keeps_the_module_and_is_done_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    files(&root.join("examples"), &mut paths);
    files(&root.join("tests/filetests"), &mut paths);
    let mut formatted = 0;
    for path in paths {
        let name = path.display();
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(module) = parse_module(&text) else { continue };
        let once = format(&text).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
        assert_eq!(parse_module(&once).unwrap().to_string(), module.to_string(), "{name}");
        // Nothing but blanks changes: code and comments stay, character by character.
        let solid = |text: &str| text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>();
        assert_eq!(solid(&once), solid(&text), "{name}");
        assert_eq!(format(&once).unwrap(), once, "{name}");
        formatted += 1;
    }
    assert!(formatted > 20, "{formatted} files");
}
