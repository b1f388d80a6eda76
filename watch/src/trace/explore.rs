//! Many schedules of one launch: whether what it leaves behind depends on the order in which its threads run.

use warpsmith_interp::{Fault, Schedule};

/// How the threads of a run were ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// The schedule.
    pub schedule: Schedule,
    /// The seed.
    pub seed: u64,
}

impl Order {
    /// The flags of `warpsmith run` for it.
    pub fn flags(self) -> String {
        match self.schedule.is_seeded() {
            true => format!("--schedule={} --seed={}", self.schedule, self.seed),
            false => format!("--schedule={}", self.schedule),
        }
    }
}

/// The orders that are tried, of which the first two are not a matter of chance; then random and adversarial ones take turns.
pub fn orders(count: u64, seed: u64) -> impl Iterator<Item = Order> {
    (0..count).map(move |i| {
        let schedule = match i {
            0 => Schedule::RoundRobin,
            1 => Schedule::LowestPc,
            i if i % 2 == 0 => Schedule::Adversarial,
            _ => Schedule::Random,
        };
        Order { schedule, seed: seed.wrapping_add(i / 2) }
    })
}

/// What a run left behind: the content of each argument's buffer, or the fault that ended it.
pub type Outcome = Result<Vec<Content>, Fault>;

/// The bytes of the buffer of an argument, if it has one.
pub type Content = Option<Vec<u8>>;

/// Runs that ended alike.
#[derive(Clone, Debug)]
pub struct Class {
    /// How they ended.
    pub outcome: Outcome,
    /// Their orders.
    pub orders: Vec<Order>,
}

/// What many runs have shown.
#[derive(Clone, Default, Debug)]
pub struct Exploration {
    /// The different ends, in the order in which they were found.
    pub classes: Vec<Class>,
}

/// Where buffers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes {
    /// The argument whose buffer it is.
    pub argument: usize,
    /// The first byte that differs.
    pub first: usize,
    /// How many differ.
    pub count: usize,
    /// Of so many.
    pub all: usize,
}

/// Runs a launch in `count` orders. The seeds of the random ones count from `seed`.
///
/// ```
/// use warpsmith_interp::{Device, Launch, Program};
/// use warpsmith_ptx::ValidatedModule;
/// use warpsmith_watch::explore::explore;
/// let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out) {\n.reg .b32 %r<2>;\n.reg .b64 %p;
/// ld.param.u64 %p, [out];\nld.global.u32 %r0, [%p];\nadd.u32 %r1, %r0, 1;\nst.global.u32 [%p], %r1;\nret;\n}\n";
/// let module = ValidatedModule::parse(text).unwrap();
/// let program = Program::load(&module).unwrap();
/// let found = explore(20, 0, |order| {
///     let mut device = Device::new();
///     let out = device.upload(&[0u32])?;
///     let launch = Launch::new("k").block([64, 1, 1]).arg(out).schedule(order.schedule).seed(order.seed);
///     device.launch(&program, &launch)?;
///     Ok(vec![Some(device.read(out)?)])
/// });
/// // Two warps may both read the counter before either writes it.
/// assert_eq!(found.classes.len(), 2);
/// ```
pub fn explore(count: u64, seed: u64, mut run: impl FnMut(Order) -> Outcome) -> Exploration {
    let mut exploration = Exploration::default();
    for order in orders(count, seed) {
        let outcome = run(order);
        match exploration.classes.iter_mut().find(|c| alike(&c.outcome, &outcome)) {
            Some(class) => class.orders.push(order),
            None => exploration.classes.push(Class { outcome, orders: vec![order] }),
        }
    }
    exploration
}

/// Faults of one kind at one line are the same, whichever thread came to it first.
fn alike(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a == b,
        (Err(a), Err(b)) => (a.code, a.ptx_line) == (b.code, b.ptx_line),
        _ => false,
    }
}

impl Exploration {
    /// True if all runs ended alike.
    pub fn agrees(&self) -> bool {
        self.classes.len() <= 1
    }

    /// Where the buffers of two kinds of runs differ; nothing if one of them ended with a fault.
    pub fn differences(&self, a: usize, b: usize) -> Vec<Bytes> {
        let outcome = |i: usize| self.classes.get(i).and_then(|c| c.outcome.as_ref().ok());
        let (Some(a), Some(b)) = (outcome(a), outcome(b)) else { return Vec::new() };
        let differing = |(argument, (a, b)): (usize, (&Content, &Content))| {
            let (a, b) = (a.as_ref()?, b.as_ref()?);
            let mut places = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).map(|(i, _)| i);
            let first = places.next()?;
            Some(Bytes { argument, first, count: 1 + places.count(), all: a.len() })
        };
        a.iter().zip(b).enumerate().filter_map(differing).collect()
    }
}
