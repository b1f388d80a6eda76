//! `cargo xtask csmith [COUNT [FIRST]]`: programs of csmith at three levels of clang, each against the checksum that gcc's build of it printed.

use crate::root;
use std::process::Command;

/// Seeds from here on are none of the suite's own.
const FIRST: u32 = 1000;

/// Makes the programs of so many seeds in `target/csmith`, and runs them as the IR means them and as PTX of every level. It takes csmith, gcc and
/// clang-22.
pub fn run(count: u32, first: Option<u32>) -> Result<(), String> {
    let first = first.unwrap_or(FIRST);
    let last = first.checked_add(count).filter(|_| count > 0).ok_or("csmith takes a number of programs")? - 1;
    let folder = root().join("target/csmith");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut make = Command::new("sh");
    make.arg(root().join("llvm/tests/corpus/csmith/make.sh"));
    make.args([first.to_string(), last.to_string()]).arg(&folder);
    succeed(make)?;
    let mut test = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    test.args(["test", "-p", "warpsmith-llvm", "--test", "kernels", "random_programs", "--", "--nocapture"]);
    test.env("WARPSMITH_CSMITH", &folder).current_dir(root());
    succeed(test)
}

fn succeed(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("cannot start {:?}: {e}", command.get_program()))?;
    if status.success() { Ok(()) } else { Err(format!("failed; the command was {command:?}")) }
}
