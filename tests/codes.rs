//! Every code in the sources is explained, and every explained code is in the sources.

use std::collections::BTreeSet;
use std::path::Path;
use warpsmith::codes::{all, explain};

/// The string literals that look like codes in the Rust files of a folder, without tests.
fn literals(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            literals(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let own = text.split("#[cfg(test)]").next().unwrap();

            let pieces = own.split('"');
            let is_code = |word: &&str| {
                let bytes = word.as_bytes();
                bytes.len() == 5
                    && b"PIELMXCWBN".contains(&bytes[0])
                    && bytes[1..].iter().all(u8::is_ascii_digit)
            };
            found.extend(pieces.filter(is_code).map(str::to_owned));
        }
    }
}

#[test]
fn every_code_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for folder in [
        "diag/src",
        "isa/src",
        "ir/src",
        "lower/src",
        "math/src",
        "ptx/src",
        "ptx-emit/src",
        "runtime-interp/src",
        "llvm/src",
        "native/src",
        "watch/src",
        "filetests/src",
        "harness/src",
        "cli/src",
        "src",
    ] {
        literals(&root.join(folder), &mut found);
    }
    let explained: Vec<&str> = all().map(|(code, _)| *code).collect();
    let unique: BTreeSet<String> = explained.iter().map(|code| (*code).to_owned()).collect();
    assert_eq!(unique.len(), explained.len(), "a code is explained twice");
    let unexplained: Vec<_> = found.difference(&unique).collect();
    assert!(unexplained.is_empty(), "codes without an explanation: {unexplained:?}");
    for code in explained {
        let text = explain(code).unwrap();
        assert!(text.lines().next().is_some_and(|line| line.ends_with('.')), "{code}: {text}");
    }
    assert_eq!(explain("p0402"), explain("P0402"));
    assert_eq!(explain("P9999"), None);
}
