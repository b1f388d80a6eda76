//! The `warpsmith` command.
fn main() {}
