//! What was measured of ptxas beyond single rows: the order of modifiers, which register types a fragment may have, and what ptxas takes
//! against the manual, all of `tests/oracle`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use warpsmith_ptx::ValidatedModule;

/// The rows of a file, without its heading.
fn rows<const N: usize>(name: &str) -> Vec<[String; N]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracle").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let row = |line: &str| {
        let fields: Vec<_> = line.split('\t').map(str::to_owned).collect();
        fields
            .try_into()
            .unwrap_or_else(|fields| panic!("{name}: a row of other than {N} fields: {fields:?}"))
    };
    text.lines().skip(1).map(row).collect()
}

/// One kernel with a single statement; the warnings, or the errors.
fn judge(
    version: &str,
    target: &str,
    module: &str,
    declarations: &str,
    statement: &str,
) -> Result<Vec<String>, Vec<String>> {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n{module}\n.visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n{declarations}\n{statement}\nret;\n}}\n"
    );
    let words = |findings: &[_]| findings.iter().map(ToString::to_string).collect();
    match ValidatedModule::parse(&text) {
        Ok(module) => Ok(words(module.warnings())),
        Err(findings) => Err(words(&findings)),
    }
}

/// The instructions whose modifiers were permuted, doubled and left out: target and operands.
const PERMUTED: &[(&str, &str, &str)] = &[
    ("bar.cta.sync", "sm_90", "0"),
    ("bar.cta.red.and.pred", "sm_90", "%p1, 0, %p0"),
    ("barrier.cta.sync.aligned", "sm_90", "0"),
    ("barrier.cta.red.popc.aligned.u32", "sm_90", "%r2, 0, %r1, !%p0"),
    ("bar.warp.sync", "sm_90", "0xffffffff"),
    ("barrier.cluster.arrive.release.aligned", "sm_90", ""),
    ("fence.acq_rel.gpu", "sm_90", ""),
    ("fence.proxy.async.global", "sm_90", ""),
    ("fence.proxy.async.shared::cta", "sm_90", ""),
    ("fence.mbarrier_init.release.cluster", "sm_90", ""),
    ("fence.acquire.sync_restrict::shared::cluster.cluster", "sm_90", ""),
    ("fence.proxy.tensormap::generic.acquire.gpu", "sm_90", "[%rd0], 128"),
    ("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "sm_90", ""),
    ("membar.proxy.alias", "sm_90", ""),
    ("atom.relaxed.gpu.global.add.u32", "sm_90", "%r0, [%rd9], %r1"),
    ("atom.gpu.global.add.noftz.f16x2", "sm_90", "%r0, [%rd9], %r1"),
    ("atom.global.add.noftz.v2.f16", "sm_90", "{%h0, %h1}, [%rd9], {%h2, %h3}"),
    ("atom.global.add.L2::cache_hint.u32", "sm_90", "%r0, [%rd9], %r1, %rd8"),
    ("atom.shared::cta.cas.b32", "sm_90", "%r0, [%rd9], %r1, %r2"),
    ("red.release.gpu.global.add.u32", "sm_90", "[%rd9], %r1"),
    (
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
        "sm_90",
        "[%rd9], %r1, [%rd8]",
    ),
    ("red.async.mmio.release.sys.global.add.u32", "sm_100", "[%rd9], %r1"),
    ("vote.sync.all.pred", "sm_90", "%p0, %p1, -1"),
    ("vote.sync.ballot.b32", "sm_90", "%r0, %p1, -1"),
    ("match.any.sync.b32", "sm_90", "%r0, %r1, -1"),
    ("match.all.sync.b64", "sm_90", "%r0|%p0, %rd1, -1"),
    ("redux.sync.add.u32", "sm_90", "%r0, %r1, -1"),
    ("redux.sync.min.abs.NaN.f32", "sm_100a", "%f0, %f1, -1"),
    ("elect.sync", "sm_90", "%r0|%p0, -1"),
    ("activemask.b32", "sm_90", "%r0"),
    ("griddepcontrol.wait", "sm_90", ""),
    ("mbarrier.init.shared::cta.b64", "sm_90", "[%rd9], 1"),
    ("mbarrier.inval.shared.b64", "sm_90", "[%rd9]"),
    ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "sm_90", "[%rd9], 32"),
    ("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64", "sm_90", "%rd0, [%rd9], 32"),
    ("mbarrier.arrive.noComplete.release.cta.shared.b64", "sm_90", "%rd0, [%rd9], 1"),
    ("mbarrier.arrive_drop.release.cluster.shared::cta.b64", "sm_90", "%rd0, [%rd9]"),
    ("mbarrier.try_wait.parity.acquire.cta.shared.b64", "sm_90", "%p0, [%rd9], 0"),
    ("mbarrier.test_wait.acquire.cta.shared.b64", "sm_90", "%p0, [%rd9], %rd1"),
    ("mbarrier.pending_count.b64", "sm_90", "%r0, %rd1"),
    ("cp.async.mbarrier.arrive.noinc.shared.b64", "sm_90", "[%rd9]"),
    (
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned",
        "sm_90",
        "[%rd0], [%rd1], 128",
    ),
    (
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128",
        "sm_100a",
        "[%rd0], [%rd1]",
    ),
    ("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "sm_100", "%p0, %q0"),
    ("clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128", "sm_100", "%r0, %q0"),
    ("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128", "sm_100", "{%r0, %r1, %r2, %r3}, %q0"),
    ("bra.uni", "sm_90", "L1"),
    ("brx.idx.uni", "sm_90", "%r0, list"),
    ("call.uni", "sm_90", "(), f, ()"),
    ("ret.uni", "sm_90", ""),
];

const REGISTERS: &str = ".reg .b16 %h<4>; .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .b64 %rd<10>; .reg .pred %p<4>; \
     .reg .b128 %q<2>;";

#[test]
fn modifiers_stand_where_ptxas_takes_them() {
    let operands: BTreeMap<_, _> =
        PERMUTED.iter().map(|&(base, target, ops)| (base, (target, ops))).collect();
    let mut wrong = Vec::new();
    for [base, kind, tried, verdict, message] in rows("modifier_order.tsv") {
        // A word left out took its dot along.
        let tried = tried.trim_end_matches('.');
        let &(target, operands) =
            operands.get(base.as_str()).unwrap_or_else(|| panic!("no operands for {base}"));
        let declarations = format!("{REGISTERS}\nlist: .branchtargets L1;");
        let statement = format!("{tried} {operands};\nL1:");
        let ours = judge("9.0", target, ".func f() { ret; }", &declarations, &statement);
        if ours.is_ok() != (verdict == "ok") {
            wrong.push(format!("{kind}: {tried} {operands}: {verdict} {message}; ours: {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn doubtful_statements_are_accepted_with_a_warning() {
    let recorded: BTreeMap<String, [String; 10]> = rows::<10>("matrix.tsv")
        .into_iter()
        .filter(|row| row[5] == "ok")
        .map(|row| (row[8].clone(), row))
        .collect();
    let mut wrong = Vec::new();
    // One row is cut off; in some what does not fit 32 bits stands where 64 are wanted.
    let sound = |id: &str, statement: &str| !statement.ends_with(';') || WIDE.contains(&id);
    for [id, _, reason, statement] in rows("lenient.tsv") {
        if sound(&id, &statement) {
            continue;
        }
        let verdicts = match recorded.get(&statement) {
            Some([_, _, _, version, target, _, _, declarations, _, module]) => {
                let text = |field: &str| field.replace("\\n", "\n");
                vec![judge(version, target, &text(module), &text(declarations), &statement)]
            }
            None => ["sm_90a", "sm_100a", "sm_103a", "sm_120a"]
                .map(|target| judge("9.0", target, "", NAMES, &statement))
                .into(),
        };
        let taken = verdicts.iter().find_map(|verdict| verdict.as_ref().ok());
        let warned = taken.is_some_and(|warnings| warnings.iter().any(|w| w.contains("P0605")));
        if !warned {
            wrong.push(format!("{id} ({reason}): {statement}: {verdicts:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} are not accepted with a warning:\n{}", wrong.len(), wrong.join("\n"));
}

/// The names that statements of `lenient.tsv` use.
const NAMES: &str = ".shared .align 128 .b8 sv[4096]; .reg .b16 h<4>; .reg .b32 r<460>; .reg .f32 f<160>; .reg .b64 d<8>; .reg .b64 a64; .reg .pred p<104>;";

/// Rows of `lenient.tsv` that are no doubt: 4294967296 as a matrix descriptor, which has 64 bits.
const WIDE: &[&str] = &[
    "matrix.tcgen05.cp.0222",
    "matrix.tcgen05.mma.0722",
    "matrix.tcgen05.mma.ws.0209",
    "matrix.tcgen05.mma.ws.0287",
    "matrix.tcgen05.mma.sp.0717",
    "matrix.tcgen05.mma.ws.sp.0207",
    "matrix.tcgen05.mma.ws.sp.0312",
];
