//! The progress bar.

use indicatif::{ProgressBar, ProgressStyle};

/// Fewer files than this are done before a bar is worth drawing.
const MANY: usize = 8;

/// A bar over `count` files on a terminal; an invisible one where there are few, or no terminal.
pub fn bar(count: usize) -> ProgressBar {
    if count < MANY {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(count as u64).with_style(style)
}
