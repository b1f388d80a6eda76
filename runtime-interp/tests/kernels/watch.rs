//! Observers see what happens between threads, and when asynchronous operations do what they do.

use super::*;
use warpsmith_interp::engine::observe::{At, MbarrierEvent, Observer, Place, Stage, Sync};

#[derive(Default)]
struct Log {
    transfers: Vec<(u64, u32, Stage)>,
    syncs: Vec<Sync>,
}

impl Observer for Log {
    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        assert!(at.mnemonic.starts_with("cp.async"), "{at:?}");
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
    let mut device = Device::new();
    let out = buffer(&mut device, &[1; 8]);
    let mut log = Log::default();
    device.launch_observed(&program, &Launch::new("k").block([3, 1, 1]).arg(out), &mut log).unwrap();
    let global = |offset: u64, bytes: u64| Place { rank: None, address: out.address() + offset, bytes };
    let shared = |bytes: u64| Place { rank: Some(0), address: 0, bytes };
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
    let expected = [Init, Arrive(1), Test { complete: false }, CompleteTx(32), Test { complete: true }];
    assert_eq!(events, expected);
    let last = &log.syncs[log.syncs.len() - 3..];
    assert_eq!(last, [Sync::ClusterArrive, Sync::ClusterComplete, Sync::ClusterLeave]);
}
