//! How many threads large texts are worth.

use std::num::NonZero;
use std::thread::available_parallelism;

/// More would wait for memory.
const MOST: usize = 8;

/// The number of threads for so many portions of work; no more than the machine runs at a time.
pub(crate) fn threads(portions: usize) -> usize {
    // Asking takes system calls.
    if portions < 2 { 1 } else { portions.min(available_parallelism().map_or(1, NonZero::get)).min(MOST) }
}
