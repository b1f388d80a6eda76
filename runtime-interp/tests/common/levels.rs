//! The tests of a file, again at the instruction sets that this machine would not choose.

use std::process::Command;
use warpsmith_interp::engine::Level;
use warpsmith_interp::{Device, Machine};

/// Names the level at which the tests run, in the environment of the test program.
const VARIABLE: &str = "WARPSMITH_LEVEL";

/// The default machine, at the level at which the tests run.
pub fn machine() -> Machine {
    let mut machine = Machine::default();
    machine.level = match std::env::var(VARIABLE).as_deref() {
        Ok("baseline") => Level::Baseline,
        Ok("avx2") => Level::Avx2,
        _ => Level::Avx512,
    };
    machine
}

/// A device with that machine.
pub fn device() -> Device {
    Device::with_machine(machine())
}

/// Answers that are right at every level are equal at all of them.
#[test]
fn every_level_gives_the_same_answers() {
    let tests = std::env::current_exe().unwrap();
    for level in ["baseline", "avx2"] {
        let again = Command::new(&tests)
            .args(["--skip", "every_level_gives_the_same_answers"])
            .env(VARIABLE, level)
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success(), "at level {level}:\n{out}");
    }
}
