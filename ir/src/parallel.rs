//! Work on the functions of a module, on several threads where they are many.

use crate::{Function, Module};
use rayon::prelude::*;
use warpsmith_base::even_parts;

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

/// True if something is true of a function of a module.
pub fn any(module: &Module, f: impl Fn(&Function) -> bool + Sync + Send) -> bool {
    let functions = module.functions.values().as_slice();
    if pays(functions.iter()) { functions.par_iter().any(f) } else { functions.iter().any(f) }
}

/// Applies `f` to each item, with `threads` at the same time; the results are in the order of the items.
pub fn map<T: Send, R: Send>(items: Vec<T>, threads: bool, f: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if threads { items.into_par_iter().map(f).collect() } else { items.into_iter().map(f).collect() }
}

/// Items in as many shares as there are threads, one at least and `most` at most, in their order, all of about the same size.
pub fn shares<T>(mut items: Vec<T>, most: usize, size: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    // Asking starts the pool.
    let shares = if most < 2 { 1 } else { most.min(rayon::current_num_threads()) };
    let parts = even_parts(items.iter().map(size).collect::<Vec<_>>(), shares);
    let mut shares: Vec<Vec<T>> =
        parts.iter().skip(1).rev().map(|part| items.split_off(part.start)).collect();
    shares.push(items);
    shares.reverse();
    shares
}

/// Frees a module, of which a large one has many lists.
pub fn free(mut module: Module) {
    let threads = pays(module.functions.values());
    let functions: Vec<Function> =
        std::mem::take(&mut module.functions).into_iter().map(|(_, f)| f).collect();
    map(functions, threads, drop);
}
