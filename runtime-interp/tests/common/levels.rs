//! The tests of a file, again at the instruction sets that this machine would not choose.

use std::process::Command;

/// Answers that are right at every level are equal at all of them.
#[test]
fn every_level_gives_the_same_answers() {
    let tests = std::env::current_exe().unwrap();
    for level in ["baseline", "avx2"] {
        let again = Command::new(&tests)
            .args(["--skip", "every_level_gives_the_same_answers"])
            .env("WARPSMITH_LEVEL", level)
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success(), "at level {level}:\n{out}");
    }
}
