//! The kernels under `examples/` are read without an error, and what is printed is read back as the same text.

use std::fs;
use std::path::Path;
use warpsmith_diag::LineIndex;
use warpsmith_ir::{parse, verify};

#[test]
fn examples_round_trip() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut seen = 0;
    for entry in fs::read_dir(&folder).expect("the examples are there") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "wir") {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).expect("readable");
        let lines = LineIndex::new(&text);
        let first = parse(&text);
        let errors: Vec<String> = first.diagnostics.iter().map(|d| d.render(&lines)).collect();
        assert!(errors.is_empty(), "{}:\n{}", path.display(), errors.join("\n"));
        let errors: Vec<String> =
            verify(&first.module).err().into_iter().flatten().map(|d| d.render(&lines)).collect();
        assert!(errors.is_empty(), "{}:\n{}", path.display(), errors.join("\n"));
        let printed = first.module.to_string();
        let second = parse(&printed);
        let lines = LineIndex::new(&printed);
        let errors: Vec<String> = second.diagnostics.iter().map(|d| d.render(&lines)).collect();
        assert!(errors.is_empty(), "{} printed:\n{printed}\n{}", path.display(), errors.join("\n"));
        assert_eq!(second.module.to_string(), printed, "{}", path.display());
    }
    assert!(seen >= 12, "{seen} examples");
}
