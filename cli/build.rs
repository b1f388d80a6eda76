//! How the command is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // The tables are full of pointers: where the program may lie anywhere, each start writes 60,000 addresses into two megabytes, which costs as
    // much as compiling a small kernel.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
