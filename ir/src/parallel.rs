//! Work on the functions of a module, on several threads where they are many.

use crate::Function;
use rayon::prelude::*;

/// Fewer instructions are not worth waking a thread.
const WORTH: usize = 4096;

/// True if there is so much to do in these functions that threads pay.
pub fn pays<'a>(functions: impl Iterator<Item = &'a Function>) -> bool {
    functions.map(|f| f.dfg.num_insts()).sum::<usize>() >= WORTH
}

/// How many of so many functions a thread takes at a time: so few that all threads are at work to the end.
pub(crate) fn share(functions: usize) -> usize {
    const SHARES: usize = 8;
    functions.div_ceil(SHARES * rayon::current_num_threads()).max(1)
}

/// Applies `f` to each item, with `threads` at the same time; the results are in the order of the items.
pub fn map<T: Send, R: Send>(items: Vec<T>, threads: bool, f: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if threads { items.into_par_iter().map(f).collect() } else { items.into_iter().map(f).collect() }
}
