//! Large modules on several threads.
//!
//! Each thread walks the whole module, but of the function bodies only through its share of them. What one body says has no bearing on another,
//! with few exceptions ([`Validator::bodies_interact`]); what is *told* of them has: repeats are counted, and after many errors there is
//! silence. So several threads only find out that there is nothing to tell, which is so for nearly every large module.

use super::Validator;
use crate::parallel::threads;
use crate::tree::*;
use std::thread;
use warpsmith_isa::{Context, Mnemonic};

/// Fewer statements are not worth a thread.
const STATEMENTS: usize = 50_000;

/// A range of statements: the bodies that begin in it are looked at.
#[derive(Clone, Copy)]
pub(super) struct Share {
    start: usize,
    end: usize,
}

impl Share {
    /// All bodies.
    pub(super) const ALL: Share = Share { start: 0, end: usize::MAX };

    pub(super) fn holds(self, body: Option<List<Stmt>>) -> bool {
        body.is_none_or(|body| (self.start..self.end).contains(&body.range().start))
    }
}

/// What is known of a large module without errors or warnings. `None`: it is small, or there may be something to tell.
pub(super) fn finds_nothing(module: &Module) -> Option<(Context, Vec<Option<Mnemonic>>)> {
    let statements = module.stmts.len();
    let threads = threads(statements / STATEMENTS);
    if threads < 2 {
        return None;
    }
    let share = |i: usize| Share { start: statements * i / threads, end: statements * (i + 1) / threads };
    let look = |share| {
        let mut validator = Validator::new(module);
        validator.share = share;
        validator.module();
        let silent = validator.diagnostics.is_empty() && !validator.bodies_interact;
        silent.then(|| {
            let mnemonics = validator.mnemonics.iter().map(|known| known.mnemonic());
            (validator.context, mnemonics.collect::<Vec<_>>())
        })
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|i| scope.spawn(move || look(share(i)))).collect();
        let mut found = look(share(0));
        for other in others {
            // A thread that failed has said nothing: the single pass will meet what it met.
            let other = other.join().ok().flatten();
            found = found.zip(other).map(|((context, mut all), (_, known))| {
                all.iter_mut().zip(known).for_each(|(all, known)| *all = all.or(known));
                (context, all)
            });
        }
        found
    })
}
