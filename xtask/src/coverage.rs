//! `docs/coverage.md`: what the tables hold, family by family.

use crate::in_root;
use warpsmith::isa::coverage;

const PAGE: &str = "docs/coverage.md";

/// Writes the page.
pub fn write() -> Result<(), String> {
    std::fs::write(in_root(PAGE), page()).map_err(|e| format!("cannot write {PAGE}: {e}"))
}

fn page() -> String {
    coverage::markdown(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_current() {
        let stored = std::fs::read_to_string(in_root(PAGE)).unwrap_or_default();
        assert!(stored == page(), "{PAGE} is not what the tables say; run `cargo xtask coverage`");
    }
}
