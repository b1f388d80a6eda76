//! A grid of clusters of blocks: host threads take cluster after cluster.

use super::block::Done;
use super::cluster::Cluster;
use super::context::Context;
use super::lanes::Level;
use super::observe::Observer;
use super::run::{Fallible, Runner};
use super::schedule::Turns;
use crate::fault::Fault;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Clusters that one host thread keeps alive together, when one that is older than its time slice may be waiting for another.
const RESIDENT: usize = 16;

/// Runs all blocks on this thread.
pub(crate) fn run_here(cx: &Context<'_>) -> Result<(u64, u64), Fault> {
    let done = work::<false>(cx, &mut ()).map_err(|f| *f)?;
    Ok((done.warp_instructions, done.thread_instructions))
}

/// Runs all blocks on this thread, watched.
pub(crate) fn run_watched(cx: &Context<'_>, observer: &mut dyn Observer) -> Result<(u64, u64), Fault> {
    let done = work::<true>(cx, observer).map_err(|f| *f)?;
    Ok((done.warp_instructions, done.thread_instructions))
}

/// Runs the blocks on `workers` threads. Of several faults, the one of the lowest block is given.
pub(crate) fn run_parallel(cx: &Context<'_>, workers: usize) -> Result<(u64, u64), Fault> {
    let outcome: Mutex<(Done, Option<Box<Fault>>)> = Mutex::new((Done::default(), None));
    rayon::scope(|scope| {
        for _ in 0..workers.min(usize::try_from(cx.clusters()).unwrap_or(usize::MAX)) {
            scope.spawn(|_| {
                let result = work::<false>(cx, &mut ());
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                match result {
                    Ok(done) => outcome.0 = outcome.0 + done,
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

/// Takes clusters until none is left.
fn work<const WATCHED: bool>(cx: &Context<'_>, observer: &mut dyn Observer) -> Fallible<Done> {
    let turns = Turns::new(cx.schedule, cx.seed);
    let interest = observer.interest();
    let mut runner = Runner::<WATCHED> {
        cx,
        observer,
        interest,
        turns,
        last_hit: [0; 16],
        level: cx.machine.level.min(Level::of_host()),
        held: None,
        sink: [0; 16],
        parts: Vec::new(),
    };
    let mut resident: VecDeque<Cluster> = VecDeque::new();
    let mut spare: Vec<Cluster> = Vec::new();
    let mut sum = Done::default();
    while !cx.stop.load(Ordering::Relaxed) {
        // A new cluster runs first; those whose slice is over wait in line. Under a schedule all that have room start together.
        let new = if resident.len() < RESIDENT { cx.take_cluster() } else { None };
        if let Some(number) = new {
            let mut cluster = spare.pop().map_or_else(|| Cluster::new(cx), Ok)?;
            cluster.start(cx, number)?;
            cluster.announce(&mut runner, number);
            resident.push_front(cluster);
            if runner.turns.preempts() {
                continue;
            }
        }
        let next = runner.turns.cluster(resident.len());
        let Some(mut cluster) = resident.remove(next) else { break };
        match cluster.run(&mut runner, &mut resident)? {
            Some(done) => {
                sum = sum + done;
                spare.push(cluster);
            }
            None => resident.push_back(cluster),
        }
    }
    Ok(sum)
}
