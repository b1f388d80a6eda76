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
fn validate(
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
        let ours = validate("9.0", target, ".func f() { ret; }", &declarations, &statement);
        if ours.is_ok() != (verdict == "ok") {
            wrong.push(format!("{kind}: {tried} {operands}: {verdict} {message}; ours: {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn lenient_statements_are_accepted_with_a_warning() {
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
                vec![validate(version, target, &text(module), &text(declarations), &statement)]
            }
            None => ["sm_90a", "sm_100a", "sm_103a", "sm_120a"]
                .map(|target| validate("9.0", target, "", NAMES, &statement))
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

/// Rows of `lenient.tsv` that are not lenient: 4294967296 as a matrix descriptor, which has 64 bits.
const WIDE: &[&str] = &[
    "matrix.tcgen05.cp.0222",
    "matrix.tcgen05.mma.0722",
    "matrix.tcgen05.mma.ws.0209",
    "matrix.tcgen05.mma.ws.0287",
    "matrix.tcgen05.mma.sp.0717",
    "matrix.tcgen05.mma.ws.sp.0207",
    "matrix.tcgen05.mma.ws.sp.0312",
];

/// The forms of `regclasses.tsv`: name, target and statement, where `<1 4>` denotes operand 1, four registers in braces.
const FRAGMENTS: &[(&str, &str, &str)] = &[
    ("mma f16/f32", "sm_90", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 <0 4>, <1 4>, <2 2>, <3 4>"),
    ("mma f16/f16", "sm_90", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 <0 2>, <1 4>, <2 2>, <3 2>"),
    ("mma bf16", "sm_90", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 <0 4>, <1 4>, <2 2>, <3 4>"),
    ("mma tf32", "sm_90", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 <0 4>, <1 4>, <2 2>, <3 4>"),
    (
        "mma fp8/f32",
        "sm_90",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 <0 4>, <1 4>, <2 2>, <3 4>",
    ),
    (
        "mma fp8/f16",
        "sm_90",
        "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 <0 2>, <1 4>, <2 2>, <3 2>",
    ),
    ("mma s8", "sm_90", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 <0 4>, <1 4>, <2 2>, <3 4>"),
    ("mma u4", "sm_90", "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 <0 4>, <1 4>, <2 2>, <3 4>"),
    (
        "mma b1",
        "sm_90",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc <0 4>, <1 4>, <2 2>, <3 4>",
    ),
    (
        "mma kind::f8f6f4",
        "sm_120a",
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 <0 4>, <1 4>, <2 2>, <3 4>",
    ),
    ("mma m8n8k4 f32", "sm_90", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 <0 8>, <1 2>, <2 2>, <3 8>"),
    ("mma f64", "sm_90", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 <0 2>, <1 1>, <2 1>, <3 2>"),
    (
        "mma.sp f16",
        "sm_90",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 <0 4>, <1 4>, <2 4>, <3 4>, %e, 0",
    ),
    (
        "mma.sp tf32",
        "sm_90",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 <0 4>, <1 4>, <2 4>, <3 4>, %e, 0",
    ),
    (
        "mma.sp s8",
        "sm_90",
        "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 <0 4>, <1 4>, <2 4>, <3 4>, %e, 0",
    ),
    ("wmma.load a f16", "sm_90", "wmma.load.a.sync.aligned.row.m16n16k16.f16 <0 8>, [%a]"),
    ("wmma.load a bf16", "sm_90", "wmma.load.a.sync.aligned.row.m16n16k16.bf16 <0 4>, [%a]"),
    ("wmma.load a tf32", "sm_90", "wmma.load.a.sync.aligned.row.m16n16k8.tf32 <0 4>, [%a]"),
    ("wmma.load a s8", "sm_90", "wmma.load.a.sync.aligned.row.m16n16k16.s8 <0 2>, [%a]"),
    ("wmma.load a s4", "sm_90", "wmma.load.a.sync.aligned.row.m8n8k32.s4 <0 1>, [%a]"),
    ("wmma.load a b1", "sm_90", "wmma.load.a.sync.aligned.row.m8n8k128.b1 <0 1>, [%a]"),
    ("wmma.load a f64", "sm_90", "wmma.load.a.sync.aligned.row.m8n8k4.f64 <0 1>, [%a]"),
    ("wmma.load c f16", "sm_90", "wmma.load.c.sync.aligned.row.m16n16k16.f16 <0 4>, [%a]"),
    ("wmma.load c f32", "sm_90", "wmma.load.c.sync.aligned.row.m16n16k16.f32 <0 8>, [%a]"),
    ("wmma.load c s32", "sm_90", "wmma.load.c.sync.aligned.row.m16n16k16.s32 <0 8>, [%a]"),
    ("wmma.load c f64", "sm_90", "wmma.load.c.sync.aligned.row.m8n8k4.f64 <0 2>, [%a]"),
    ("wmma.store d f16", "sm_90", "wmma.store.d.sync.aligned.row.m16n16k16.f16 [%a], <1 4>"),
    ("wmma.store d f32", "sm_90", "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%a], <1 8>"),
    ("wmma.store d s32", "sm_90", "wmma.store.d.sync.aligned.row.m16n16k16.s32 [%a], <1 8>"),
    ("wmma.store d f64", "sm_90", "wmma.store.d.sync.aligned.row.m8n8k4.f64 [%a], <1 2>"),
    (
        "wmma.mma f16->f32",
        "sm_90",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 <0 8>, <1 8>, <2 8>, <3 8>",
    ),
    (
        "wmma.mma f16->f16",
        "sm_90",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 <0 4>, <1 8>, <2 8>, <3 4>",
    ),
    (
        "wmma.mma bf16",
        "sm_90",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 <0 8>, <1 4>, <2 4>, <3 8>",
    ),
    (
        "wmma.mma tf32",
        "sm_90",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 <0 8>, <1 4>, <2 4>, <3 8>",
    ),
    (
        "wmma.mma s8",
        "sm_90",
        "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 <0 8>, <1 2>, <2 2>, <3 8>",
    ),
    (
        "wmma.mma f64",
        "sm_90",
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn <0 2>, <1 1>, <2 1>, <3 2>",
    ),
    (
        "wgmma f16->f32",
        "sm_90a",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 <0 4>, <1 4>, %a, 1, 1, 1, 0",
    ),
    (
        "wgmma f16->f16",
        "sm_90a",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 <0 2>, <1 4>, %a, 1, 1, 1, 0",
    ),
    (
        "wgmma bf16",
        "sm_90a",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 <0 4>, <1 4>, %a, 1, 1, 1, 0",
    ),
    ("wgmma tf32", "sm_90a", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 <0 4>, <1 4>, %a, 1, 1, 1"),
    ("wgmma fp8", "sm_90a", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 <0 4>, <1 4>, %a, 1, 1, 1"),
    ("wgmma s8", "sm_90a", "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 <0 4>, <1 4>, %a, 1"),
    ("wgmma b1", "sm_90a", "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc <0 4>, <1 4>, %a, 1"),
    ("tcgen05.ld", "sm_100a", "tcgen05.ld.sync.aligned.32x32b.x2.b32 <0 2>, [%e]"),
    ("tcgen05.st", "sm_100a", "tcgen05.st.sync.aligned.32x32b.x2.b32 [%e], <1 2>"),
    ("ldmatrix", "sm_90", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 <0 2>, [%a]"),
    ("stmatrix", "sm_90", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%a], <1 2>"),
];

/// A statement of [`FRAGMENTS`] with registers of a type for one operand, and of `.b32` (`.b64` where the elements are `f64`) for the others.
fn with_registers(template: &str, operand: usize, ty: &str) -> (String, String) {
    let (mut statement, mut declarations) = (String::new(), String::from(".reg .b32 %e; .reg .b64 %a;"));
    let plain = if template.contains(".f64") { "b64" } else { "b32" };
    let mut rest = template;
    while let Some((before, (place, after))) =
        rest.split_once('<').and_then(|(before, after)| Some((before, after.split_once('>')?)))
    {
        let (index, count) = place.split_once(' ').unwrap();
        let ty = if index.parse() == Ok(operand) { ty } else { plain };
        declarations.push_str(&format!(".reg .{ty} %v{index}_<{count}>;"));
        let registers: Vec<_> =
            (0..count.parse().unwrap()).map(|i: usize| format!("%v{index}_{i}")).collect();
        statement.push_str(&format!("{before}{{{}}}", registers.join(", ")));
        rest = after;
    }
    statement.push_str(&format!("{rest};"));
    (declarations, statement)
}

#[test]
fn fragments_are_held_by_the_registers_that_ptxas_takes() {
    const TYPES: [&str; 18] = [
        "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2", "b64", "u64",
        "s64", "f64", "b128", "pred",
    ];
    let forms: BTreeMap<_, _> =
        FRAGMENTS.iter().map(|&(name, target, text)| (name, (target, text))).collect();
    let mut wrong = Vec::new();
    for [form, operand, _, accepted] in rows("regclasses.tsv") {
        let &(target, template) =
            forms.get(form.as_str()).unwrap_or_else(|| panic!("no statement for {form}"));
        let accepted: BTreeSet<_> =
            accepted.split_whitespace().map(|ty| ty.trim_start_matches('.')).collect();
        let ours: BTreeSet<_> = TYPES
            .into_iter()
            .filter(|ty| {
                let (declarations, statement) = with_registers(template, operand.parse().unwrap(), ty);
                validate("9.0", target, "", &declarations, &statement).is_ok()
            })
            .collect();
        if ours != accepted {
            wrong.push(format!("{form}, operand {operand}: {ours:?}, ptxas {accepted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
