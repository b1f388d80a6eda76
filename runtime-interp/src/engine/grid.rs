//! A grid of blocks: host threads take block after block.

use super::block::{Block, Done};
use super::context::Context;
use super::lanes::Level;
use super::observe::Observer;
use super::random::Random;
use super::run::{Fallible, Runner};
use crate::fault::Fault;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks that one host thread keeps alive together, when one that is older than its time slice may be waiting for another.
const RESIDENT: usize = 16;

/// Runs all blocks on this thread.
pub(crate) fn run_here<O: Observer>(cx: &Context<'_>, observer: &mut O) -> Result<(u64, u64), Fault> {
    let total = blocks(cx);
    let done = work(cx, observer, &AtomicU64::new(0), total).map_err(|f| *f)?;
    Ok((done.warp_instructions, done.thread_instructions))
}

/// Runs the blocks on `workers` threads. Of several faults, the one of the lowest block is given.
pub(crate) fn run_parallel(cx: &Context<'_>, workers: usize) -> Result<(u64, u64), Fault> {
    let total = blocks(cx);
    let next = AtomicU64::new(0);
    let outcome: Mutex<(Done, Option<Box<Fault>>)> = Mutex::new((Done::default(), None));
    rayon::scope(|scope| {
        for _ in 0..workers.min(usize::try_from(total).unwrap_or(usize::MAX)) {
            scope.spawn(|_| {
                let result = work(cx, &mut (), &next, total);
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                match result {
                    Ok(done) => {
                        outcome.0.warp_instructions += done.warp_instructions;
                        outcome.0.thread_instructions += done.thread_instructions;
                    }
                    Err(fault) => {
                        cx.stop.store(true, Ordering::Relaxed);
                        let key = |f: &Fault| f.block.map(|[x, y, z]| [z, y, x]);
                        if outcome.1.as_ref().is_none_or(|other| key(&fault) < key(other)) {
                            outcome.1 = Some(fault);
                        }
                    }
                }
            });
        }
    });
    match outcome.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, Some(fault)) => Err(*fault),
        (done, None) => Ok((done.warp_instructions, done.thread_instructions)),
    }
}

pub(crate) fn blocks(cx: &Context<'_>) -> u64 {
    cx.grid.iter().map(|n| u64::from(*n)).product()
}

/// Takes blocks until none is left.
fn work<O: Observer>(cx: &Context<'_>, observer: &mut O, next: &AtomicU64, total: u64) -> Fallible<Done> {
    let random = cx.seed.map(Random::new);
    let mut runner = Runner { cx, observer, random, last_hit: [0; 16], level: Level::detect() };
    let mut resident: VecDeque<Block> = VecDeque::new();
    let mut spare: Vec<Block> = Vec::new();
    let mut sum = Done::default();
    while !cx.stop.load(Ordering::Relaxed) {
        // A new block runs first; blocks whose slice is over wait in line.
        let take = resident.is_empty() || (resident.len() < RESIDENT && next.load(Ordering::Relaxed) < total);
        let number = if take { next.fetch_add(1, Ordering::Relaxed) } else { total };
        let mut block = if number < total {
            let mut block = spare.pop().map_or_else(|| Block::new(cx), Ok)?;
            block.start(cx, number)?;
            block
        } else {
            match resident.pop_front() {
                Some(block) => block,
                None => break,
            }
        };
        match block.run(&mut runner)? {
            Some(done) => {
                sum.warp_instructions += done.warp_instructions;
                sum.thread_instructions += done.thread_instructions;
                spare.push(block);
            }
            None => resident.push_back(block),
        }
    }
    Ok(sum)
}
