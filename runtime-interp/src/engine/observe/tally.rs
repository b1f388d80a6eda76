//! Counting executions inside the engine: an increment where a call of the observer would take ten times as long.

use super::Executions;

/// Executions of each operation of a program.
#[derive(Debug)]
pub(in crate::engine) struct Tally(Vec<Count>);

/// Nearly every execution is one of a whole warp: counted apart, that is one addition.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    whole: u64,
    others: Executions,
}

impl Tally {
    pub fn new(operations: usize) -> Self {
        Tally(vec![Count::default(); operations])
    }

    /// The lanes of `group` come to an operation, those of `active` execute it, and those of `retried` were counted when they came to it.
    #[inline(always)]
    pub fn count(&mut self, pc: u32, active: u32, group: u32, retried: u32) {
        let Some(count) = self.0.get_mut(pc as usize) else { return };
        let new = !retried;
        if active & group & new == u32::MAX {
            count.whole += 1;
            return;
        }
        count.others += Executions {
            warps: u64::from(group & new != 0),
            threads: u64::from((active & new).count_ones()),
            lanes: u64::from((group & new).count_ones()),
        };
    }

    pub fn executions(&self) -> Vec<Executions> {
        let whole = |n: u64| Executions { warps: n, threads: 32 * n, lanes: 32 * n };
        let sum = |count: &Count| {
            let mut all = whole(count.whole);
            all += count.others;
            all
        };
        self.0.iter().map(sum).collect()
    }
}
