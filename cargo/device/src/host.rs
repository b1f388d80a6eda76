//! Kernels on the host, for unit tests: a thread of the host for each thread of the device, block after block.
//!
//! What a function of this crate does here is written in Rust beside its PTX; one of [`instructions!`](crate::instructions) computes what the tables of
//! Warpsmith's engine say. The other way to test a kernel without a GPU is to run its PTX on
//! Warpsmith's engine, with checkers: `docs/cargo.md`.

mod format;
#[cfg(feature = "instructions")]
mod instruction;

#[cfg(feature = "instructions")]
pub use instruction::Instruction;

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub thread: [u32; 3],
    pub block: [u32; 3],
    pub block_size: [u32; 3],
    pub grid_size: [u32; 3],
}

impl Place {
    /// The thread's number in its block.
    fn number(&self) -> u32 {
        (self.thread[2] * self.block_size[1] + self.thread[1]) * self.block_size[0] + self.thread[0]
    }

    pub fn lane(&self) -> u32 {
        self.number() % 32
    }
}

/// What the threads of a block share.
struct Block {
    state: Mutex<State>,
    changed: Condvar,
    dynamic: Mutex<Vec<u128>>,
}

#[derive(Default)]
struct State {
    /// A bit for each thread that has not ended, by warp.
    running: Vec<u32>,
    barrier: Meeting,
    /// By warp and mask.
    warps: HashMap<(u32, u32), Meeting>,
    /// A thread panicked: the others end as well.
    failed: bool,
}

/// Threads that wait for each other.
#[derive(Clone, Default)]
struct Meeting {
    round: u64,
    arrived: u32,
    values: [u32; 32],
    lanes: u32,
    /// What the last round came to.
    result: Exchange,
}

/// What the lanes of a warp have given each other.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Exchange {
    pub values: [u32; 32],
    /// The lanes that took part.
    pub lanes: u32,
}

thread_local! {
    static CURRENT: RefCell<Option<(Place, Arc<Block>)>> = const { RefCell::new(None) };
}

/// Shared variables are statics of the program: one launch at a time.
static LAUNCH: Mutex<()> = Mutex::new(());

fn current() -> (Place, Arc<Block>) {
    CURRENT
        .with(|current| current.borrow().clone())
        .expect("only a kernel that `warpsmith_device::host::launch` runs has a place in a grid")
}

pub(crate) fn place() -> Place {
    current().0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked is reported by the launch.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a kernel: `kernel` is called by each thread.
///
/// ```
/// use warpsmith_device::{SliceMut, host, kernel, sync, thread};
///
/// warpsmith_device::shared! { static LINE: [u32; 64]; }
///
/// #[kernel]
/// fn reverse(data: SliceMut<u32>) {
///     let i = thread::index_x() as usize;
///     LINE.set(i, data.get(i));
///     sync::barrier();
///     data.set(i, LINE.get(data.len() - 1 - i));
/// }
///
/// let mut data: Vec<u32> = (0..64).collect();
/// let slice = SliceMut::new(&mut data);
/// host::launch([1, 1, 1], [64, 1, 1], || reverse(slice));
/// assert!(data.iter().rev().copied().eq(0..64));
/// ```
///
/// # Panics
/// A thread panicked, or the block has no threads or more than 1,024.
pub fn launch(grid: [u32; 3], block: [u32; 3], kernel: impl Fn() + Sync) {
    launch_with_shared(grid, block, 0, kernel);
}

/// [`launch`] with so many bytes of dynamic shared memory.
///
/// # Panics
/// As [`launch`].
pub fn launch_with_shared(grid: [u32; 3], block: [u32; 3], bytes: usize, kernel: impl Fn() + Sync) {
    let threads: u64 = block.iter().map(|size| u64::from(*size)).product();
    assert!((1..=1024).contains(&threads), "a block of {threads} threads: it has 1 to 1024");
    let _one_at_a_time = lock(&LAUNCH);
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                run_block([x, y, z], block, grid, bytes, &kernel);
            }
        }
    }
}

fn run_block(at: [u32; 3], size: [u32; 3], grid: [u32; 3], bytes: usize, kernel: &(impl Fn() + Sync)) {
    let threads = size[0] * size[1] * size[2];
    let running: Vec<u32> = (0..threads.div_ceil(32)).map(|warp| mask_of(threads - warp * 32)).collect();
    let block = Arc::new(Block {
        state: Mutex::new(State { running, ..State::default() }),
        changed: Condvar::new(),
        dynamic: Mutex::new(vec![0; bytes.div_ceil(16)]),
    });
    let mut panics = Vec::new();
    std::thread::scope(|scope| {
        let mut all = Vec::new();
        for number in 0..threads {
            let thread = [number % size[0], number / size[0] % size[1], number / (size[0] * size[1])];
            let place = Place { thread, block: at, block_size: size, grid_size: grid };
            let block = &block;
            all.push(scope.spawn(move || {
                CURRENT.with(|current| *current.borrow_mut() = Some((place, Arc::clone(block))));
                let result = catch_unwind(AssertUnwindSafe(kernel));
                block.end(number, result.is_err());
                result
            }));
        }
        for thread in all {
            if let Ok(Err(panic)) = thread.join() {
                panics.push(panic);
            }
        }
    });
    // Of those that ended because another did, none is the first.
    panics.sort_by_key(|panic| panic.is::<Ended>());
    if let Some(first) = panics.into_iter().next() {
        resume_unwind(first);
    }
}

/// Lanes of a warp of which so many threads are left.
fn mask_of(threads: u32) -> u32 {
    if threads >= 32 { u32::MAX } else { (1 << threads) - 1 }
}

/// Why a thread ends whose block has failed.
struct Ended;

impl Block {
    fn end(&self, number: u32, failed: bool) {
        let mut state = lock(&self.state);
        state.running[number as usize / 32] &= !(1 << (number % 32));
        state.failed |= failed;
        state.settle();
        self.changed.notify_all();
    }

    /// Waits with others for the round to be over.
    fn meet(&self, of: impl Fn(&mut State) -> &mut Meeting, lane: u32, value: u32) -> Exchange {
        let mut state = lock(&self.state);
        let meeting = of(&mut state);
        let round = meeting.round;
        meeting.arrived += 1;
        meeting.lanes |= 1 << lane;
        meeting.values[lane as usize] = value;
        state.settle();
        self.changed.notify_all();
        while of(&mut state).round == round {
            if state.failed {
                drop(state);
                resume_unwind(Box::new(Ended));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        of(&mut state).result
    }
}

impl State {
    /// Ends the rounds that wait for nobody any more.
    fn settle(&mut self) {
        let all: u32 = self.running.iter().map(|lanes| lanes.count_ones()).sum();
        self.barrier.settle(all);
        for ((warp, mask), meeting) in &mut self.warps {
            meeting.settle((self.running[*warp as usize] & mask).count_ones());
        }
    }
}

impl Meeting {
    fn settle(&mut self, awaited: u32) {
        if self.arrived > 0 && self.arrived >= awaited {
            self.result = Exchange { values: self.values, lanes: self.lanes };
            (self.arrived, self.lanes) = (0, 0);
            self.round += 1;
        }
    }
}

pub(crate) fn barrier() {
    let (place, block) = current();
    block.meet(|state| &mut state.barrier, place.lane(), 0);
}

/// Gives a value to the lanes of a mask, and takes theirs.
pub(crate) fn exchange(mask: u32, value: u32) -> Exchange {
    let (place, block) = current();
    let warp = place.number() / 32;
    assert!(mask >> place.lane() & 1 == 1, "lane {} calls with a mask that leaves it out", place.lane());
    block.meet(|state| state.warps.entry((warp, mask)).or_default(), place.lane(), value)
}

pub(crate) fn dynamic_shared() -> *mut u8 {
    lock(&current().1.dynamic).as_mut_ptr().cast()
}

/// Prints by the format of C.
pub(crate) fn print(format: &str, arguments: &[u8]) {
    print!("{}", format::text(format, arguments));
}

#[cfg(test)]
mod tests {
    use super::launch;
    use crate::{SliceMut, sync, thread, warp};

    #[test]
    fn lanes_and_threads_meet() {
        let mut sums = [0u32; 70];
        let out = SliceMut::new(&mut sums);
        launch([1, 1, 1], [70, 1, 1], || {
            let i = thread::index();
            // The last warp has six lanes.
            let mask = if i < 64 { warp::ALL } else { 0x3f };
            let mut sum = i as u32;
            for bits in [1, 2, 4, 8, 16] {
                if i < 64 {
                    sum += warp::shuffle_xor(mask, sum, bits);
                }
            }
            out.set(i, sum);
            if i == 3 {
                // A thread that has ended is not waited for.
                return;
            }
            sync::barrier();
            let even = warp::ballot(if i < 32 { mask & !8 } else { mask }, u32::from(i.is_multiple_of(2)));
            if i >= 64 {
                out.set(i, even);
            }
        });
        assert_eq!((sums[0], sums[3], sums[40], sums[69]), (496, 496, 1520, 0b010101));
    }

    #[test]
    fn a_panic_ends_the_launch() {
        let run = std::panic::catch_unwind(|| {
            launch([1, 1, 1], [8, 1, 1], || {
                assert!(thread::index_x() != 5, "five");
                sync::barrier();
            });
        });
        assert_eq!(run.unwrap_err().downcast_ref::<&str>(), Some(&"five"));
    }
}
