//! `cargo xtask test`: what a change must pass, in the order in which failures are cheapest.

use crate::{root, tools};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Tells the tests that a missing ptxas is a failure, not a reason to skip.
const REQUIRE_TOOLS: &str = "WARPSMITH_REQUIRE_TOOLS";

/// Runs everything; other arguments filter the tests as `cargo test` does.
pub fn test(args: &[&str]) -> Result<(), String> {
    let with_tools = !args.contains(&"--no-tools");
    let filters: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--no-tools").collect();
    if let Some(option) = filters.iter().find(|arg| arg.starts_with('-')) {
        return Err(format!("unknown option {option}"));
    }
    if with_tools {
        tools::install()?;
    }
    step("format", cargo(&["fmt", "--all", "--check"]))?;
    step("clippy", cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    let mut doc = cargo(&["doc", "--quiet", "--workspace", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    step("documentation", doc)?;
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    if with_tools {
        tests.env(REQUIRE_TOOLS, "1");
    }
    tests.args(&filters);
    let (counts, success) = run_tests(tests)?;
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.ignored);
    if success && counts.failed == 0 { Ok(()) } else { Err("tests failed".into()) }
}

/// Rewrites the expected output of the file tests.
pub fn bless() -> Result<(), String> {
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    tests.env("BLESS", "1").env("UPDATE_EXPECT", "1");
    let (counts, success) = run_tests(tests)?;
    println!(
        "{} passed, {} failed after blessing; read `git diff` before you commit",
        counts.passed, counts.failed
    );
    if success { Ok(()) } else { Err("some tests fail still".into()) }
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

fn step(name: &str, mut command: Command) -> Result<(), String> {
    eprintln!("{name} ...");
    let start = Instant::now();
    let status = command.status().map_err(|e| format!("cannot start {:?}: {e}", command.get_program()))?;
    eprintln!("{name} took {:.1} s", start.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("{name} failed; the command was {command:?}")) }
}

#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs `cargo test`, passing its output on, and adds up the closing lines of the test programs.
fn run_tests(mut command: Command) -> Result<(Counts, bool), String> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot start {:?}: {e}", command.get_program()))?;
    let mut counts = Counts::default();
    let stdout = child.stdout.take().ok_or("cargo's output cannot be read")?;
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(|e| format!("cargo's output cannot be read: {e}"))?;
        println!("{line}");
        counts.add(&line);
    }
    let status = child.wait().map_err(|e| format!("cargo did not end: {e}"))?;
    Ok((counts, status.success()))
}

impl Counts {
    /// Adds `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
    fn add(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else { return };
        let rest = rest.split_once(". ").map_or(rest, |(_, rest)| rest);
        for part in rest.split(';') {
            match part.trim().split_once(' ') {
                Some((n, "passed")) => self.passed += n.parse().unwrap_or(0),
                Some((n, "failed")) => self.failed += n.parse().unwrap_or(0),
                Some((n, "ignored")) => self.ignored += n.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up() {
        let mut counts = Counts::default();
        counts.add(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        );
        counts.add("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        counts.add("test something ... ok");
        assert_eq!((counts.passed, counts.failed, counts.ignored), (5, 4, 1));
    }
}
