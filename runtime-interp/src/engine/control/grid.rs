//! A grid of clusters of blocks: host threads take cluster after cluster.

use crate::engine::block::Done;
use crate::engine::cluster::{Cluster, SLICE};
use crate::engine::context::Context;
use crate::engine::lanes::Level;
use crate::engine::native::PERIOD;
use crate::engine::observe::{Observer, Tally};
use crate::engine::run::{Fallible, Runner};
use crate::engine::schedule::Turns;
use crate::engine::standstill::Worker;
use crate::fault::{Fault, FaultCode};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Instructions of a slice of a cluster that seems to wait.
const SHORT_SLICE: u64 = SLICE >> 3;

/// Runs all blocks on this thread.
pub(crate) fn run_here(cx: &Context<'_>) -> Result<(u64, u64), Fault> {
    let done = work::<false>(cx, &mut (), true).map_err(|f| *f)?;
    Ok((done.warp_instructions, done.thread_instructions))
}

/// Runs all blocks on this thread, watched.
pub(crate) fn run_watched(cx: &Context<'_>, observer: &mut dyn Observer) -> Result<(u64, u64), Fault> {
    let done = work::<true>(cx, observer, true).map_err(|f| *f)?;
    Ok((done.warp_instructions, done.thread_instructions))
}

/// Runs the blocks on `workers` threads. Of several faults, the one of the lowest block is given.
pub(crate) fn run_parallel(cx: &Context<'_>, workers: usize) -> Result<(u64, u64), Fault> {
    let outcome: Mutex<(Done, Option<Box<Fault>>)> = Mutex::new((Done::default(), None));
    let workers = workers.min(usize::try_from(cx.clusters()).unwrap_or(usize::MAX));
    rayon::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| {
                let result = work::<false>(cx, &mut (), workers == 1);
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

/// Takes clusters until none is left, alone or beside other host threads.
fn work<const WATCHED: bool>(cx: &Context<'_>, observer: &mut dyn Observer, alone: bool) -> Fallible<Done> {
    let turns = Turns::new(cx.schedule, cx.seed);
    let interest = observer.interest();
    let native = cx.program.native.as_ref();
    let mut runner = Runner::<WATCHED> {
        cx,
        observer,
        interest,
        tally: Tally::new(if interest.counts { cx.program.code.len() } else { 0 }),
        turns,
        last_hit: [0; 16],
        level: cx.machine.level.min(Level::of_host()),
        changes: 0,
        looks: 0,
        asks: false,
        asked: false,
        worker: Worker::new(cx),
        held: None,
        sink: [0; 16],
        parts: Vec::new(),
        room: None,
        fast: None,
        fast_version: 0,
        trial: None,
        newest: 0,
        alone,
        cool: native.map_or(PERIOD, |native| native.cool.swap(PERIOD, Ordering::Relaxed)),
        loads: None,
        windows: Vec::new(),
    };
    let outcome = run_clusters(&mut runner);
    if let Some(native) = native {
        native.cool.store(runner.cool, Ordering::Relaxed);
        if let Some(trial) = runner.trial.take() {
            native.put_back(trial);
        }
    }
    if WATCHED && interest.counts {
        runner.observer.counted(&runner.tally.executions());
    }
    outcome
}

fn run_clusters<const WATCHED: bool>(runner: &mut Runner<'_, WATCHED>) -> Fallible<Done> {
    let cx = runner.cx;
    let mut resident: VecDeque<Cluster> = VecDeque::new();
    let mut spare: Vec<Cluster> = Vec::new();
    let mut sum = Done::default();
    // Slices since the oldest cluster had its own, and their instructions.
    let (mut slices, mut spent) = (0, 0);
    while !cx.stop.load(Ordering::Relaxed) {
        // A new cluster runs first; those whose slice is over wait in line. Under a schedule all that have room start together.
        let now = runner.progress();
        let still = |c: &Cluster| c.still == Some(now);
        let all_wait = resident.iter().all(|c| c.waits() || still(c));
        let new = cx.start_cluster(resident.len(), all_wait);
        if let Some(number) = new {
            let mut cluster = spare.pop().map_or_else(|| Cluster::new(cx), Ok)?;
            cluster.start(cx, number)?;
            cluster.announce(runner, number);
            cluster.suspect = all_wait && !resident.is_empty();
            resident.push_front(cluster);
            if runner.turns.preempts() {
                continue;
            }
        } else if !resident.is_empty() && resident.iter().all(still) {
            if runner.worker.stands_still(now.others) {
                return Err(standstill(cx, resident.make_contiguous()));
            }
            std::thread::yield_now();
            continue;
        }
        // When all have had a slice, the oldest has another as long as those together: so what bounds a block bounds a grid.
        let turn_of_the_oldest = new.is_none() && slices >= resident.len() && !runner.turns.preempts();
        let next = if turn_of_the_oldest {
            (0..resident.len()).min_by_key(|i| resident[*i].number).unwrap_or(0)
        } else {
            runner.turns.cluster(resident.len())
        };
        let awake = (next..resident.len()).chain(0..next).find(|i| !still(&resident[*i]));
        let Some(mut cluster) = resident.remove(awake.unwrap_or(next)) else { break };
        let slice = match cluster.suspect {
            _ if turn_of_the_oldest => spent.max(SHORT_SLICE),
            true => SHORT_SLICE,
            false => SLICE,
        };
        let clock = cluster.state.clock.get();
        if turn_of_the_oldest {
            (slices, spent) = (0, 0);
        }
        let outcome = cluster.run(runner, &mut resident, slice)?;
        if !turn_of_the_oldest {
            (slices, spent) = (slices + 1, spent + cluster.state.clock.get() - clock);
        }
        match outcome {
            Some(done) => {
                sum = sum + done;
                spare.push(cluster);
                cx.resident.fetch_sub(1, Ordering::SeqCst);
            }
            None => resident.push_back(cluster),
        }
        runner.worker.announce(runner.changes);
    }
    Ok(sum)
}

/// The fault of a grid in which no thread gets on, and nothing can be started.
fn standstill(cx: &Context<'_>, resident: &mut [Cluster]) -> Box<Fault> {
    resident.sort_by_key(|c| c.number);
    let found: Vec<(Fault, bool)> = resident.iter().map(|c| c.describe_standstill(cx)).collect();
    let asks = found.iter().any(|(_, asks)| *asks);
    let Some((mut fault, _)) = found.into_iter().next() else {
        return Box::new(Fault::new(FaultCode::Deadlock, "no thread can go on"));
    };
    let blocks = resident.len() as u64 * u64::from(cx.cluster_blocks());
    let place = std::mem::take(&mut fault.message);
    let of = if blocks == 1 { "a block".to_owned() } else { format!("{blocks} blocks") };
    fault.message = if asks {
        format!("no thread can go on: {of} ask for something that nobody changes: {place}")
    } else {
        fault.code = FaultCode::StepLimit;
        format!("an endless loop: {of} repeat the same instructions and change nothing: {place}")
    };
    let to_come = cx.clusters().saturating_sub(cx.next.load(Ordering::Relaxed));
    if to_come > 0 {
        let [to_come, room] = [to_come, cx.room].map(|clusters| clusters * u64::from(cx.cluster_blocks()));
        fault.message += &format!("; {to_come} blocks have not started, for the machine has room for {room}");
    }
    Box::new(fault)
}
