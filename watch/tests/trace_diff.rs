//! Traces of one launch under several schedules, compared.

use warpsmith_interp::observe::{At, Observer, Registers};
use warpsmith_interp::{Device, Launch, Program, Schedule};
use warpsmith_ptx::ValidatedModule;
use warpsmith_watch::trace::{Difference, Filter, Trace, diff};

fn load(body: &str) -> Program {
    let text = format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n.entry k(.param .u64 out) {{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n\
         .reg .b64 %rd<8>;\n.shared .align 8 .b64 object;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n{body}\n}}\n"
    );
    let module = ValidatedModule::parse(&text).unwrap_or_else(|e| panic!("{e:#?}"));
    Program::load(&module).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn launched(
    program: &Program,
    (schedule, seed): (Schedule, u64),
    threads: u32,
    observer: &mut impl Observer,
) {
    let mut device = Device::new();
    let out = device.upload(&[0u32; 64]).unwrap();
    let launch = Launch::new("k").block([threads, 1, 1]).arg(out).schedule(schedule).seed(seed);
    device.launch_observed(program, &launch, observer).unwrap();
}

fn traced(program: &Program, order: (Schedule, u64), threads: u32) -> Vec<u8> {
    let mut trace = Trace::new(Vec::new(), Filter::default());
    launched(program, order, threads, &mut trace);
    trace.finish().unwrap()
}

fn orders() -> impl Iterator<Item = (Schedule, u64)> {
    let seeded = (0..12).flat_map(|seed| [(Schedule::Random, seed), (Schedule::Adversarial, seed)]);
    [(Schedule::RoundRobin, 0), (Schedule::LowestPc, 0)].into_iter().chain(seeded)
}

/// The first difference between the first order and any other.
fn difference(program: &Program, threads: u32) -> Option<Difference> {
    let mut traces = orders().map(|order| traced(program, order, threads));
    let first = traces.next().unwrap();
    traces.find_map(|other| diff(&first[..], &other[..]).unwrap())
}

/// Counts executions of operations that were reported as tried again.
#[derive(Default)]
struct Retries(u32);

impl Observer for Retries {
    fn instruction(&mut self, at: &At<'_>, _: &Registers<'_>) {
        self.0 += u32::from(at.retried != 0);
    }
}

/// Every warp-level instruction, met by lanes that come in parts, in an order that the schedule decides.
const MEETINGS: [&str; 8] = [
    "bar.warp.sync 0xffffffff;",
    "shfl.sync.bfly.b32 %r3|%p1, %r1, 16, 31, 0xffffffff;",
    "vote.sync.ballot.b32 %r3, %p0, 0xffffffff;",
    "vote.sync.any.pred %p1, %p0, 0xffffffff;",
    "match.any.sync.b32 %r3, %r2, 0xffffffff;",
    "match.all.sync.b32 %r3|%p1, %r2, 0xffffffff;",
    "redux.sync.add.s32 %r3, %r1, 0xffffffff;",
    "elect.sync %r3|%p1, 0xffffffff;",
];

#[test]
fn lanes_that_wait_for_others_are_no_difference() {
    let mut retried = false;
    for meeting in MEETINGS {
        // The lower lanes come at once; the middle ones after a loop; the upper ones never, because they exit.
        let program = load(&format!(
            "setp.lt.u32 %p0, %r1, 8;\nand.b32 %r2, %r1, 1;\nsetp.ge.u32 %p2, %r1, 24;\n@%p0 bra meet;\n@%p2 bra late;\n\
             mov.u32 %r4, 0;\nloop: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, %r1;\n@%p3 bra loop;\nmeet: {meeting}\nadd.u32 %r5, %r1, 1;\nret;\n\
             late: mov.u32 %r6, 0;\nagain: add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 40;\n@%p3 bra again;\nret;\n"
        ));
        if let Some(found) = difference(&program, 64) {
            panic!("{meeting}: {found}");
        }
        for order in orders() {
            let mut retries = Retries::default();
            launched(&program, order, 64, &mut retries);
            retried |= retries.0 > 0;
        }
    }
    assert!(retried, "no schedule lets lanes try again: the test tests nothing");
}

#[test]
fn reductions_over_barriers_are_no_difference() {
    for barrier in
        ["bar.sync 0;", "bar.red.popc.u32 %r3, 0, %p0;", "barrier.cluster.arrive; barrier.cluster.wait;"]
    {
        let program = load(&format!(
            "setp.lt.u32 %p0, %r1, 40;\nmov.u32 %r4, 0;\nloop: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, %r1;\n@%p3 bra loop;\n\
             {barrier}\nadd.u32 %r5, %r1, 1;\nret;\n"
        ));
        if let Some(found) = difference(&program, 64) {
            panic!("{barrier}: {found}");
        }
    }
}

#[test]
fn rounds_of_polling_an_object_are_no_difference() {
    for wait in ["mbarrier.try_wait", "mbarrier.test_wait"] {
        // The second warp arrives after a loop, and the first one asks until it has.
        let program = load(&format!(
            "setp.eq.u32 %p0, %r1, 0;\n@%p0 mbarrier.init.shared::cta.b64 [object], 32;\nbar.sync 0;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra poll;\n\
             mov.u32 %r4, 0;\nloop: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 100;\n@%p3 bra loop;\n\
             mbarrier.arrive.shared::cta.b64 _, [object];\nret;\n\
             poll: {wait}.parity.shared::cta.b64 %p4, [object], 0;\n@!%p4 bra poll;\nadd.u32 %r5, %r1, 1;\nret;\n"
        ));
        if let Some(found) = difference(&program, 64) {
            panic!("{wait}: {found}");
        }
        let mut polls = orders().map(|order| {
            let trace = String::from_utf8(traced(&program, order, 64)).unwrap();
            trace.lines().filter(|line| line.contains(wait)).count()
        });
        let first = polls.next().unwrap();
        assert!(polls.any(|n| n != first), "all schedules poll as often: the test tests nothing");
    }
}

#[test]
fn what_lanes_give_is_still_compared() {
    // What the last warp that comes finds in memory, it hands to its other lanes.
    let program = load(
        "ld.global.u32 %r2, [%rd1];\nadd.u32 %r3, %r2, 1;\nst.global.u32 [%rd1], %r3;\n\
         shfl.sync.idx.b32 %r4, %r2, 0, 31, 0xffffffff;\nret;\n",
    );
    let found = difference(&program, 64).expect("two warps race");
    assert!(found.what.contains("`ld.global.u32`"), "{found}");
}

#[test]
fn where_two_warps_race() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out) {\n.reg .b32 %r<2>;\n.reg .b64 %p;\n\
                ld.param.u64 %p, [out];\nld.global.u32 %r0, [%p];\nadd.u32 %r1, %r0, 1;\nst.global.u32 [%p], %r1;\nret;\n}\n";
    let module = ValidatedModule::parse(text).unwrap();
    let program = Program::load(&module).unwrap();
    let run = |schedule| {
        let mut trace = Trace::new(Vec::new(), Filter::default());
        let mut device = Device::new();
        let out = device.upload(&[0u32]).unwrap();
        let launch = Launch::new("k").block([64, 1, 1]).arg(out).schedule(schedule);
        device.launch_observed(&program, &launch, &mut trace).unwrap();
        trace.finish().unwrap()
    };
    let (a, b) = (run(Schedule::RoundRobin), run(Schedule::LowestPc));
    assert!(diff(&a[..], &a[..]).unwrap().is_none());
    let found = diff(&a[..], &b[..]).unwrap().expect("the runs differ");
    assert_eq!(
        (found.block, found.thread, found.lines, found.threads),
        ([0; 3], [32, 0, 0], [Some(8); 2], 32)
    );
    assert!(
        found.what.contains("`ld.global.u32` of line 8 gives %r0 (b32) 0x1 in A and 0x0 in B"),
        "{found}"
    );
    assert!(
        found.why[0].contains(
            "last written by block [0, 0, 0] thread [31, 0, 0] in `st.global.u32` of line 10 with 0x1"
        ),
        "{found}"
    );
    assert!(found.why[1].contains("in B, nothing that is traced has written"), "{found}");
    let (which, error) = diff(&a[..], &b"nonsense\n"[..]).unwrap_err();
    assert_eq!((which, error.to_string().starts_with("line 1: not JSON")), (1, true));
}
