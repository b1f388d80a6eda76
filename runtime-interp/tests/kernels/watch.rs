//! Observers see what happens between threads, and when asynchronous operations do what they do.

use super::*;
use warpsmith_interp::engine::Access;
use warpsmith_interp::engine::observe::{
    AccessKind, Addresses, At, Line, MbarrierEvent, MemoryRange, Observer, Registers, Stage, Sync,
};
use warpsmith_isa::StateSpace;

#[derive(Default)]
struct Log {
    transfers: Vec<(u64, u32, Stage)>,
    syncs: Vec<Sync>,
}

impl Observer for Log {
    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        assert!(at.mnemonic().starts_with("cp.async"), "{at:?}");
        self.transfers.push((number, at.mask, stage));
    }

    fn synchronise(&mut self, _: &At<'_>, sync: Sync) {
        self.syncs.push(sync);
    }
}

#[test]
fn transfers_are_seen_when_they_happen() {
    let program = kernel("", "
        .shared .align 16 .b32 s[8]; .shared .align 8 .b64 b; mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, 0; @!%p0 exit; mbarrier.init.shared.b64 [b], 1;
        mbarrier.arrive.expect_tx.shared.b64 _, [b], 32; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%out], 32, [b];
        w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w;
        cp.async.bulk.global.shared::cta.bulk_group [%out+16], [s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
        barrier.cluster.arrive; barrier.cluster.wait;");
    let mut device = levels::device();
    let out = buffer(&mut device, &[1; 8]);
    let mut log = Log::default();
    device.launch_observed(&program, &Launch::new("k").block([3, 1, 1]).arg(out), &mut log).unwrap();
    let global =
        |offset: u64, bytes: u64| MemoryRange { rank: None, address: out.address() + offset, bytes, at: 0 };
    let shared = |bytes: u64| MemoryRange { rank: Some(0), address: 0, bytes, at: 0 };
    let stages: Vec<(u64, u32, Stage)> = vec![
        (0, 1, Stage::Issued),
        (0, 1, Stage::Read(global(0, 32))),
        (0, 1, Stage::Written(shared(32))),
        (0, 1, Stage::Complete),
        (1, 1, Stage::Issued),
        (1, 1, Stage::Read(shared(16))),
        (1, 1, Stage::Written(global(16, 16))),
        (1, 1, Stage::Complete),
    ];
    assert_eq!(log.transfers, stages);
    let mut events: Vec<MbarrierEvent> = (log.syncs.iter())
        .filter_map(|s| {
            if let Sync::Mbarrier { event, offset: 32, rank: 0, .. } = s { Some(*event) } else { None }
        })
        .collect();
    // How often the thread asks is the scheduler's business.
    events.dedup();
    use MbarrierEvent::*;
    let expected =
        [Init, ExpectTx(32), Arrive(1), Test { complete: false }, CompleteTx(32), Test { complete: true }];
    assert_eq!(events, expected);
    let last = &log.syncs[log.syncs.len() - 3..];
    assert_eq!(last, [Sync::ClusterArrive, Sync::ClusterComplete, Sync::ClusterLeave]);
}

/// An access as an observer gets it: mnemonic, mask, the addresses by their rule if they have one, and all of them.
type Seen = (String, u32, Option<[Line; 2]>, [u64; 32]);

#[derive(Default)]
struct Accesses(Vec<Seen>);

impl Observer for Accesses {
    fn access(&mut self, at: &At<'_>, _: AccessKind, _: &Access, _: StateSpace, addresses: Addresses<'_>) {
        let lines = if let Addresses::Lines(lines) = addresses { Some(lines) } else { None };
        self.0.push((at.mnemonic().into(), at.mask, lines, addresses.all()));
    }
}

#[test]
fn addresses_that_follow_a_rule_are_told_as_one() {
    let program = kernel("", "
        .shared .align 16 .b32 s[64]; mov.u32 %r1, %laneid; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
        st.shared.u32 [%r3], %r1; ld.global.u32 %r4, [%out+4]; setp.lt.u32 %p0, %r1, 20; @%p0 ld.shared.u32 %r4, [%r3+8];
        xor.b32 %r3, %r2, 4; ld.shared.u32 %r4, [%r3];");
    let mut device = levels::device();
    let out = buffer(&mut device, &[1; 8]);
    let mut log = Accesses::default();
    device.launch_observed(&program, &Launch::new("k").block([32, 1, 1]).arg(out), &mut log).unwrap();
    let row = |start: u64| std::array::from_fn(|i| start + 4 * i as u64);
    let rows = |start: u64| Some([start, start + 64].map(|start| Line { start, step: 4 }));
    let one = Line { start: out.address() + 4, step: 0 };
    let seen: Vec<_> = log.0.into_iter().filter(|(name, ..)| !name.starts_with("ld.param")).collect();
    let expected = [
        ("st.shared.u32".to_string(), u32::MAX, rows(0), row(0)),
        ("ld.global.u32".to_string(), u32::MAX, Some([one; 2]), [one.start; 32]),
        ("ld.shared.u32".to_string(), 0xf_ffff, rows(8), row(8)),
        ("ld.shared.u32".to_string(), u32::MAX, None, row(0).map(|a: u64| a ^ 4)),
    ];
    assert_eq!(seen, expected);
}

/// What instructions give: mnemonic, name of the register, and the values of the lanes that it is given to.
#[derive(Default)]
struct Results(Vec<(String, String, Vec<u128>)>);

impl Observer for Results {
    fn results(&mut self, at: &At<'_>, registers: &Registers<'_>) {
        let operation = at.program.operation(at.pc).unwrap();
        let names = at.program.registers(registers.function());
        for r in operation.writes {
            let Some(named) = names.iter().find(|n| n.reg == r) else { continue };
            let lanes = (0..32).filter(|lane| at.mask >> lane & 1 != 0);
            let values = lanes.map(|lane| registers.get(r, lane)).collect();
            self.0.push((at.mnemonic().into(), named.name.to_string(), values));
        }
    }
}

#[test]
fn results_are_told_when_they_are_there() {
    let program = kernel(
        "",
        "
        mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 2; @%p1 bra low;
        shfl.sync.idx.b32 %r2, %r1, 0, 31, 15; bra join;
        low: mul.lo.u32 %r1, %r1, 10; shfl.sync.idx.b32 %r3, %r1, 1, 31, 15;
        join: @%p1 ld.global.v2.u32 {%r4, %r5}, [%out+4]; bar.red.popc.u32 %r6, 0, %p1; activemask.b32 %r7;",
    );
    let mut device = levels::device();
    let out = buffer(&mut device, &[5, 6, 7, 8]);
    let mut log = Results::default();
    let fault =
        device.launch_observed(&program, &Launch::new("k").block([4, 1, 1]).arg(out), &mut log).unwrap_err();
    assert_eq!(fault.code.name(), "misaligned");
    let expected = |rest: &[(&str, &str, &[u128])]| -> Vec<(String, String, Vec<u128>)> {
        rest.iter().map(|(m, r, v)| (m.to_string(), r.to_string(), v.to_vec())).collect()
    };
    let before = [
        ("mov.u32", "%r1", &[0, 1, 2, 3][..]),
        ("setp.lt.u32", "%p1", &[1, 1, 0, 0]),
        // The upper lanes wait, and get what the lower have made.
        ("mul.lo.u32", "%r1", &[0, 10]),
        ("shfl.sync.idx.b32", "%r3", &[10, 10]),
        ("shfl.sync.idx.b32", "%r2", &[0, 0]),
    ];
    assert_eq!(log.0[1..], expected(&before));

    let program = kernel(
        "",
        "mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 2;
        @%p1 ld.global.v2.u32 {%r4, %r5}, [%out+8]; bar.red.popc.u32 %r6, 0, %p1; @!%p1 activemask.b32 %r7;",
    );
    let mut log = Results::default();
    device.launch_observed(&program, &Launch::new("k").block([4, 1, 1]).arg(out), &mut log).unwrap();
    let after = [
        ("ld.global.v2.u32", "%r4", &[7, 7][..]),
        ("ld.global.v2.u32", "%r5", &[8, 8]),
        ("bar.red.popc.u32", "%r6", &[2, 2, 2, 2]),
        ("activemask.b32", "%r7", &[12, 12]),
    ];
    assert_eq!(log.0[3..], expected(&after));
}
