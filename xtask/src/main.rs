//! What maintains this repository.
fn main() {}
