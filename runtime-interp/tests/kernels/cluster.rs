//! Clusters: places in them, each other's shared memory, their barrier.

use super::*;

fn fault(body: &str, description: Launch) -> Fault {
    launch(&kernel("", body), description, 64).unwrap_err()
}

fn pair() -> Launch {
    Launch::new("k").grid([2, 1, 1]).block([32, 1, 1]).cluster([2, 1, 1])
}

#[test]
fn blocks_know_their_place_in_the_cluster() {
    // Ten numbers of each block, at its %ctaid in row-major order.
    let registers = [
        "clusterid.x",
        "clusterid.y",
        "clusterid.z",
        "cluster_ctaid.x",
        "cluster_ctaid.y",
        "cluster_ctaid.z",
        "cluster_ctarank",
        "cluster_nctarank",
        "nclusterid.y",
        "cluster_nctaid.x",
    ];
    let stores: String = (registers.iter().enumerate())
        .map(|(i, r)| format!("mov.u32 %r9, %{r}; st.global.u32 [%rd1+{}], %r9;\n", 4 * i))
        .collect();
    let program = kernel("", &format!(
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
         mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1; mad.wide.u32 %rd1, %r6, 40, %out; {stores}"
    ));
    let (grid, cluster) = ([4u32, 6, 3], [2u32, 3, 1]);
    let words = under_seeds(&program, Launch::new("k").grid(grid).cluster(cluster), 720);
    for (n, row) in words.chunks(10).enumerate() {
        let n = n as u32;
        let id = [n % 4, n / 4 % 6, n / 24];
        let outer: [u32; 3] = std::array::from_fn(|i| id[i] / cluster[i]);
        let inner: [u32; 3] = std::array::from_fn(|i| id[i] % cluster[i]);
        let rank = inner[0] + 2 * inner[1];
        assert_eq!(row, [&outer[..], &inner, &[rank, 6, 2, 2]].concat(), "{id:?}");
    }
    let explicit =
        kernel("", "mov.pred %p0, %is_explicit_cluster; selp.u32 %r0, 1, 2, %p0; st.global.u32 [%out], %r0;");
    assert_eq!(launch(&explicit, Launch::new("k"), 1).unwrap().0, [2]);
    assert_eq!(launch(&explicit, Launch::new("k").cluster([1, 1, 1]), 1).unwrap().0, [1]);
}

/// Every block leaves a value for its right neighbour, in that block's memory.
const RING: &str = "
    .shared .u32 box[32]; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %ctaid.x;
    add.u32 %r5, %r2, 1; rem.u32 %r5, %r5, %r3; mov.u32 %r6, box; mad.lo.u32 %r6, %r1, 4, %r6;";
const RING_END: &str = "
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ld.shared.u32 %r0, [%r6];
    mad.lo.u32 %r8, %r4, 32, %r1; mad.wide.u32 %rd9, %r8, 4, %out; st.global.u32 [%rd9], %r0;
    barrier.cluster.arrive; barrier.cluster.wait;";

fn ring(send: &str) {
    let program = kernel("", &format!("{RING} mad.lo.u32 %r7, %r4, 100, %r1; {send} {RING_END}"));
    let launch = Launch::new("k").grid([12, 1, 1]).block([32, 1, 1]).cluster([4, 1, 1]);
    let expected: Vec<u32> = (0..12u32)
        .flat_map(|b| {
            let left = b / 4 * 4 + (b + 3) % 4;
            (0..32).map(move |t| left * 100 + t)
        })
        .collect();
    assert_eq!(under_seeds(&program, launch, 384), expected);
}

#[test]
fn blocks_write_to_their_neighbours() {
    ring("mapa.shared::cluster.u32 %r9, %r6, %r5; st.shared::cluster.u32 [%r9], %r7;");
    ring("cvt.u64.u32 %rd1, %r6; cvta.shared.u64 %rd2, %rd1; mapa.u64 %rd3, %rd2, %r5; st.u32 [%rd3], %r7;");
    ring(
        "mapa.shared::cluster.u32 %r9, %r6, %r5; cvt.u64.u32 %rd1, %r9; cvta.shared::cluster.u64 %rd2, %rd1; atom.add.u32 %r10, [%rd2], %r7;",
    );
    ring("mapa.shared::cluster.u32 %r9, %r6, %r5; red.shared::cluster.or.b32 [%r9], %r7;");
}

#[test]
fn blocks_read_from_their_neighbours() {
    let program = kernel("", &format!(
        "{RING} mad.lo.u32 %r7, %r4, 100, %r1; st.shared.u32 [%r6], %r7; barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
         mapa.shared::cluster.u32 %r9, %r6, %r5; ld.shared::cluster.u32 %r0, [%r9];
         mad.lo.u32 %r8, %r4, 32, %r1; mad.wide.u32 %rd9, %r8, 4, %out; st.global.u32 [%rd9], %r0; barrier.cluster.arrive; barrier.cluster.wait;"
    ));
    let launch = Launch::new("k").grid([8, 1, 1]).block([32, 1, 1]).cluster([8, 1, 1]);
    let expected: Vec<u32> = (0..8u32).flat_map(|b| (0..32).map(move |t| (b + 1) % 8 * 100 + t)).collect();
    assert_eq!(under_seeds(&program, launch, 256), expected);
}

#[test]
fn addresses_tell_their_block() {
    let program = kernel("", "
        .shared .u32 s[4]; mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u64 %rd1, s; cvta.shared.u64 %rd2, %rd1;
        mapa.u64 %rd3, %rd2, %r2; mapa.u64 %rd4, %rd2, %r1; mapa.shared::cluster.u32 %r3, s, %r2;
        getctarank.u64 %r4, %rd2; getctarank.u64 %r5, %rd3; getctarank.shared::cluster.u32 %r6, %r3; getctarank.shared::cluster.u32 %r7, s;
        isspacep.shared::cta %p0, %rd2; isspacep.shared::cta %p1, %rd3; isspacep.shared::cta %p2, %rd4; isspacep.shared::cluster %p3, %rd3;
        isspacep.shared %p4, %out; isspacep.shared::cluster %p5, %out; isspacep.global %p6, %rd3;
        mov.u32 %r8, 0; @%p0 or.b32 %r8, %r8, 1; @%p1 or.b32 %r8, %r8, 2; @%p2 or.b32 %r8, %r8, 4; @%p3 or.b32 %r8, %r8, 8;
        @%p4 or.b32 %r8, %r8, 16; @%p5 or.b32 %r8, %r8, 32; @%p6 or.b32 %r8, %r8, 64;
        mad.wide.u32 %rd9, %r1, 20, %out; st.global.u32 [%rd9], %r4; st.global.u32 [%rd9+4], %r5; st.global.u32 [%rd9+8], %r6;
        st.global.u32 [%rd9+12], %r7; st.global.u32 [%rd9+16], %r8;");
    let words = under_seeds(&program, pair().block([1, 1, 1]), 10);
    assert_eq!(words, [0, 1, 1, 0, 13, 1, 0, 0, 1, 13]);
}

#[test]
fn the_barrier_is_used_again_and_again() {
    // Between arrival and wait each block does something of its own; 50 phases, blocks and warps of different speed.
    let program = kernel("", "
        .shared .u32 n; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %tid.x; mov.u32 %r9, 0; mapa.shared::cluster.u32 %r3, n, 0;
        barrier.cluster.arrive; barrier.cluster.wait;
        loop: red.shared::cluster.add.u32 [%r3], 1; barrier.cluster.arrive; shr.u32 %r4, %r2, 5; mad.lo.u32 %r4, %r4, 7, %r1;
        delay: sub.u32 %r4, %r4, 1; setp.gt.s32 %p0, %r4, 0; @%p0 bra delay;
        barrier.cluster.wait; ld.shared::cluster.u32 %r5, [%r3]; barrier.cluster.arrive.relaxed; barrier.cluster.wait;
        add.u32 %r6, %r9, 1; mul.lo.u32 %r6, %r6, 288; setp.ne.u32 %p1, %r5, %r6; @%p1 trap;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 50; @%p2 bra loop; st.global.u32 [%out], %r5; barrier.cluster.arrive; barrier.cluster.wait;");
    let launch = Launch::new("k").grid([3, 1, 1]).block([96, 1, 1]).cluster([3, 1, 1]);
    assert_eq!(under_seeds(&program, launch, 1), [50 * 288]);
}

#[test]
fn lanes_come_to_the_barrier_apart_and_some_not_at_all() {
    let program = kernel("", "
        .shared .u32 n; mov.u32 %r2, %tid.x; mapa.shared::cluster.u32 %r3, n, 1; setp.lt.u32 %p0, %r2, 5; @%p0 exit;
        and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra even;
        red.shared::cluster.add.u32 [%r3], 1; barrier.cluster.arrive; barrier.cluster.wait; bra join;
        even: red.shared::cluster.add.u32 [%r3], 100; barrier.cluster.arrive; barrier.cluster.wait;
        join: ld.shared::cluster.u32 %r5, [%r3]; barrier.cluster.arrive; barrier.cluster.wait;
        mov.u32 %r6, %ctaid.x; mad.lo.u32 %r7, %r6, 64, %r2; mad.wide.u32 %rd1, %r7, 4, %out; st.global.u32 [%rd1], %r5;");
    let words = under_seeds(&program, pair().block([64, 1, 1]), 128);
    let expected: Vec<u32> = (0..128u32).map(|i| if i % 64 < 5 { 0 } else { 2 * (30 + 29 * 100) }).collect();
    assert_eq!(words, expected);
}

#[test]
fn misuse_of_the_barrier_is_a_fault() {
    let fault_of = |body: &str| fault(body, pair());
    assert_eq!(fault_of("barrier.cluster.wait;").code.name(), "bad_barrier");
    assert_eq!(fault_of("barrier.cluster.arrive; barrier.cluster.arrive;").code.name(), "bad_barrier");
    let stuck = fault_of(
        "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p0, %r1, 0; @%p0 bra zero; barrier.sync 3, 64; zero: barrier.cluster.arrive; barrier.cluster.wait;",
    );
    assert_eq!(stuck.code.name(), "deadlock");
    for part in ["the cluster", "at the barrier of the cluster", "barrier 3"] {
        assert!(stuck.message.contains(part), "{stuck}");
    }
}

#[test]
fn what_is_not_in_the_cluster_cannot_be_reached() {
    let text = |body: &str| {
        let fault = fault(&format!(".shared .u32 s[8]; {body}"), pair());
        (fault.code.name(), fault.message)
    };
    let (code, message) = text("mapa.shared::cluster.u32 %r1, s, 2; ld.shared::cluster.u32 %r2, [%r1];");
    assert!(code == "out_of_bounds" && message.contains("no block 2 in a cluster of 2"), "{message}");
    let (code, message) = text("mapa.shared::cluster.u32 %r1, s, 1; ld.shared::cluster.u32 %r2, [%r1+32];");
    assert!(
        code == "out_of_bounds" && message.contains("ends 4 bytes past the end of shared memory (32 bytes)"),
        "{message}"
    );
    let (code, message) =
        text("mapa.shared::cluster.u32 %r1, s, 1; st.shared::cta.u32 [%r1], 5; bra end; end: ");
    assert!(code == "out_of_bounds" && message.contains("not in `.shared::cta`"), "{message}");
    let (code, _) = text("mapa.shared::cluster.u32 %r1, s, 1; ld.shared::cluster.u64 %rd1, [%r1+4];");
    assert_eq!(code, "misaligned");
    let (code, message) = text("mov.u32 %r5, %ctaid.x; setp.eq.u32 %p0, %r5, 1; @%p0 exit; mov.u32 %r6, 0;
        loop: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 40000; @%p1 bra loop; mapa.shared::cluster.u32 %r1, s, 1; ld.shared::cluster.u32 %r2, [%r1];");
    assert!(code == "out_of_bounds" && message.contains("has exited"), "{message}");
}

#[test]
fn launches_follow_the_directives() {
    let launch_of = |directives: &str, description: Launch| {
        let program = load(&format!(
            ".visible .entry k(.param .u64 out) {directives} {{ .reg .b64 %rd<2>; .reg .b32 %r<2>;
            ld.param.u64 %rd1, [out]; mov.u32 %r1, %nctaid.x; st.global.u32 [%rd1], %r1; ret; }}"
        ));
        launch(&program, description, 1).map(|(words, _)| words[0]).map_err(|f| f.message)
    };
    let plain = || Launch::new("k").grid([4, 1, 1]);
    assert!(launch_of(".explicitcluster", plain()).unwrap_err().contains(".explicitcluster"));
    assert_eq!(launch_of(".explicitcluster", plain().cluster([2, 1, 1])), Ok(4));
    assert!(
        launch_of(".maxclusterrank 2", plain().cluster([4, 1, 1])).unwrap_err().contains(".maxclusterrank 2")
    );
    assert_eq!(launch_of(".maxclusterrank 2", plain().cluster([2, 1, 1])), Ok(4));
    assert_eq!(
        launch_of(".reqntid 1 .reqnctapercluster 2 .blocksareclusters", plain().cluster([2, 1, 1])),
        Ok(8)
    );
    assert!(launch_of("", plain().cluster([3, 1, 1])).unwrap_err().contains("not whole clusters"));
    assert!(launch_of("", plain().cluster([1, 0, 1])).is_err());
}
