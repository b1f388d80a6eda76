//! How many threads large texts are worth.

/// More would wait for memory.
const MOST: usize = 8;

/// The number of threads for so many portions of work; no more than the pool has.
pub(crate) fn threads(portions: usize) -> usize {
    // Asking starts the pool.
    if portions < 2 { 1 } else { portions.min(rayon::current_num_threads()).min(MOST) }
}
