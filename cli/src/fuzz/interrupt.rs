//! Ctrl-C ends a search in good order: what runs is finished, and the summary is written.

use std::sync::atomic::{AtomicBool, Ordering};

static PRESSED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed since [`watch`].
pub fn is_pressed() -> bool {
    PRESSED.load(Ordering::Relaxed)
}

/// From now on the first Ctrl-C is noted; the second ends the process.
#[cfg(feature = "terminal")]
pub fn watch() {
    // Where there can be no handler, Ctrl-C ends the process at once.
    ctrlc::set_handler(|| {
        if PRESSED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .unwrap_or_default();
}

#[cfg(not(feature = "terminal"))]
pub fn watch() {}
