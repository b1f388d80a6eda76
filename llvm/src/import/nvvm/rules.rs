//! The names of NVIDIA's intrinsics and the instructions they are.
//!
//! A rule is a pattern of names and the mnemonic that they have, so that a family is a line. In a pattern, `{a|b=c|}` is one of these words or
//! nothing; in a mnemonic, `$1` is what the first of the braces is, or what stands behind its `=`. Behind a `;` is the order of the operands, where it
//! is not that of the arguments; `#4` is the number. Everything else the instruction tables say: which operands there are, how they are grouped,
//! which registers hold them ([`super::operands`]).
//!
//! A test looks all names of LLVM 22 up here and in the tables.

use warpsmith_isa::Mnemonic;

/// An operand: an argument of the call, or a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Argument(usize),
    Number(i64),
}

/// What a name denotes.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub mnemonic: Mnemonic,
    /// The operands, in the order of the instruction; `None`: the arguments as they are.
    pub order: Option<Vec<Source>>,
}

const INTS: &str = "i=s32|ui=u32|ll=s64|ull=u64";
/// Types of the matrices of `mma`: those of D, A, B and C.
const MMA: &str = "bf16=f32.bf16.bf16.f32|tf32=f32.tf32.tf32.f32|f64=f64.f64.f64.f64|f16.f16=f16.f16.f16.f16|f32.f32=f32.f16.f16.f32|\
                   f32.f16=f32.f16.f16.f16|f16.f32=f16.f16.f16.f32|b1=s32.b1.b1.s32|s8=s32.s8.s8.s32|u8=s32.u8.u8.s32|s8.u8=s32.s8.u8.s32|u8.s8=s32.u8.s8.s32|\
                   s4=s32.s4.s4.s32|u4=s32.u4.u4.s32|s4.u4=s32.s4.u4.s32|u4.s4=s32.u4.s4.s32";
const SHAPE: &str = "m8n8k4|m8n8k16|m8n8k32|m8n8k128|m8n32k16|m16n8k4|m16n8k8|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256|\
                     m16n16k8|m16n16k16|m32n8k16";
const BYTE: &str = "e4m3|e5m2|e2m1|e2m3|e3m2";

/// The sets that patterns name: `{@ints}`.
const SETS: &[(&str, &str)] = &[
    ("@ints", INTS),
    ("@mma", MMA),
    ("@shape", SHAPE),
    ("@byte", BYTE),
    ("@rnd", "rn|rz|rm|rp"),
    ("@widened", ".b4x16_p64=.b8x16.b4x16_p64|.b6x16_p32=.b8x16.b6x16_p32|"),
    ("@ftz", ".ftz|"),
    ("@scale", ".scale.1x=.scale_vec::1X|.scale.2x=.scale_vec::2X|.scale.4x=.scale_vec::4X|"),
];

const RULES: &[(&str, &str)] = &[
    // Arithmetic.
    ("{add|mul|div|rcp|sqrt|fma}.{@rnd}{@ftz}{.sat|}.{f=f32|d=f64}", "$1.$2$3$4.$5"),
    ("{add|mul|div|rcp|sqrt|fma}.{@rnd}{@ftz}{.sat|}{.relu|}.{f16|f16x2|bf16|bf16x2}", "$1.$2$3$4$5.$6"),
    ("{add|sub|mul}.{rn|rz|rm|rp}{@ftz}.sat.{f16|f16x2|bf16|bf16x2}", "$1.$2$3.sat.$4"),
    ("fma.rn{.oob}{.relu|}.{f16|f16x2|bf16|bf16x2}", "fma.rn$1$2.$3"),
    ("fabs{@ftz}.{f=f32|f32|d=f64|f64|f16|f16x2|bf16|bf16x2}", "abs$1.$2"),
    ("fabs{@ftz}", "abs$1.f32"),
    ("neg.{bf16|bf16x2|f16|f16x2}", "neg.$1"),
    (
        "{fmin=min|fmax=max}{@ftz}{.nan=.NaN|}{.xorsign.abs|}.{f=f32|d=f64|f16|f16x2|bf16|bf16x2}",
        "$1$2$3$4.$5",
    ),
    ("saturate{@ftz}.{f=f32|d=f64}", "cvt.sat$1.$2.$2"),
    ("{sin|cos|lg2|ex2|tanh|rsqrt|sqrt}.approx{@ftz}.{f=f32|f32|f16|f16x2|bf16|bf16x2}", "$1.approx$2.$3"),
    ("{ex2|tanh}.approx{@ftz}", "$1.approx$2.f32"),
    // PTX has no such instruction; LLVM has the name.
    ("{lg2|ex2}.approx.d", "$1.approx.f64"),
    ("rsqrt.approx{@ftz}.d", "rsqrt.approx$1.f64"),
    ("rcp.approx.ftz.{f=f32|d=f64}", "rcp.approx.ftz.$1"),
    ("div.approx{@ftz}.f", "div.approx$1.f32"),
    ("div.full{@ftz}", "div.full$1.f32"),
    ("sqrt.f", "sqrt.rn.f32"),
    ("mulhi.{@ints|s=s16|us=u16}", "mul.hi.$1"),
    ("mul24.{i=s32|ui=u32}", "mul24.lo.$1"),
    ("sad.{@ints|s=s16|us=u16}", "sad.$1"),
    ("abs.{i=s32|ll=s64}", "abs.$1"),
    ("{min|max}.{@ints|s=s16|us=u16}", "$1.$2"),
    ("brev{32|64}", "brev.b$1"),
    ("{clz|popc}.{i=b32|ll=b64}", "$1.$2"),
    ("prmt", "prmt.b32"),
    ("prmt.{f4e|b4e}", "prmt.b32.$1"),
    ("prmt.{rc8|ecl|ecr|rc16}", "prmt.b32.$1; 0 #0 1"),
    ("bmsk.{clamp|wrap}", "bmsk.$1.b32"),
    ("{sext=s32|zext=u32}.{clamp|wrap}", "szext.$2.$1"),
    ("fsh{l|r}.clamp", "shf.$1.clamp.b32; 1 0 2"),
    ("fns", "fns.b32"),
    ("idp4a.{s=s32|u=u32}.{s=s32|u=u32}", "dp4a.$1.$2"),
    ("dot4.{s=s32|u=u32}.{s=s32|u=u32}", "dp4a.$1.$2"),
    // Conversions.
    ("{f=f32|d=f64}2{@ints}.{@rnd}{@ftz}", "cvt.$3i$4.$2.$1"),
    ("{@ints}2{f=f32|d=f64}.{@rnd}", "cvt.$3.$2.$1"),
    ("d2f.{@rnd}{@ftz}", "cvt.$1$2.f32.f64"),
    ("{ceil=rpi|floor=rmi|trunc=rzi|round=rni}{@ftz}.{f=f32|d=f64}", "cvt.$1$2.$3.$3"),
    ("f2h.rn{@ftz}", "cvt.rn$1.f16.f32"),
    ("h2f", "cvt.f32.f16"),
    ("bf2h.rn{@ftz}", "cvt.rn$1.f16.bf16"),
    ("f2{f16|bf16}.{rn|rz}{.relu|}{.satfinite|}", "cvt.$2$3$4.$1.f32"),
    ("f2tf32.{rna|rn|rz}{.relu|}{.satfinite|}", "cvt.$1$2$3.tf32.f32"),
    ("ff2{f16x2|bf16x2}.{rn|rz|rs}{.relu|}{.satfinite|}", "cvt.$2$3$4.$1.f32"),
    ("ff.to.{e4m3x2|e5m2x2}.rn{.relu|}", "cvt.rn.satfinite$2.$1.f32"),
    ("ff.to.{e2m1x2|e2m3x2|e3m2x2}.rn{.relu|}.satfinite", "cvt.rn.satfinite$2.$1.f32"),
    ("ff.to.ue8m0x2.{rz|rp}{.satfinite|}", "cvt.$1$2.ue8m0x2.f32"),
    ("bf16x2.to.ue8m0x2.{rz|rp}{.satfinite|}", "cvt.$1$2.ue8m0x2.bf16x2"),
    ("ue8m0x2.to.bf16x2", "cvt.rn.bf16x2.ue8m0x2"),
    ("f16x2.to.{e4m3x2|e5m2x2}.rn{.relu|}", "cvt.rn.satfinite$2.$1.f16x2"),
    ("{e4m3|e5m2|e2m1|e2m3|e3m2}x2.to.f16x2.rn{.relu|}", "cvt.rn$2.f16x2.$1x2"),
    ("f32x4.to.{e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4}.rs{.relu|}.satfinite", "cvt.rs$2.satfinite.$1.f32"),
    ("move.{i16=b16|i32=b32|i64=b64|float=f32|double=f64}", "mov.$1"),
    // Threads.
    ("activemask", "activemask.b32"),
    ("nanosleep", "nanosleep.u32"),
    ("pm.event.mask", "pmevent.mask"),
    ("elect.sync", "elect.sync"),
    ("setmaxnreg.{inc|dec}.sync.aligned.u32", "setmaxnreg.$1.sync.aligned.u32"),
    ("griddepcontrol.{launch.dependents=launch_dependents|wait}", "griddepcontrol.$1"),
    ("shfl.sync.{up|down|bfly|idx}.{i32|f32}{p|}", "shfl.sync.$1.b32; 1 2 3 0"),
    ("shfl.{up|down|bfly|idx}.{i32|f32}{p|}", "shfl.$1.b32"),
    ("vote.{all|any|uni}.sync", "vote.sync.$1.pred; 1 0"),
    ("vote.ballot.sync", "vote.sync.ballot.b32; 1 0"),
    ("vote.{all|any|uni}", "vote.$1.pred"),
    ("vote.ballot", "vote.ballot.b32"),
    ("match.any.sync.i{32|64}", "match.any.sync.b$1; 1 0"),
    ("match.all.sync.i{32|64}{p|}", "match.all.sync.b$1; 1 0"),
    (
        "redux.sync.{umin=min.u32|umax=max.u32|add=add.s32|min=min.s32|max=max.s32|and=and.b32|or=or.b32|xor=xor.b32}",
        "redux.sync.$1",
    ),
    ("redux.sync.{fmin=min|fmax=max}{.abs|}{.NaN|}", "redux.sync.$1$2$3.f32"),
    ("isspacep.{const|global|local|shared.cluster=shared::cluster|shared}", "isspacep.$1"),
    ("istypep.{sampler=samplerref|surface=surfref|texture=texref}", "istypep.$1"),
    ("getctarank", "getctarank.u64"),
    ("getctarank.shared.cluster", "getctarank.shared::cluster.u64"),
    ("mapa", "mapa.u64"),
    ("mapa.shared.cluster", "mapa.shared::cluster.u64"),
    // Barriers and fences.
    ("membar.{cta|gl|sys}", "membar.$1"),
    ("bar.warp.sync", "bar.warp.sync"),
    ("barrier0", "bar.sync; #0"),
    ("barrier.n", "bar.sync"),
    ("barrier", "bar.sync"),
    ("barrier.sync{.cnt|}", "barrier.sync"),
    ("barrier0.popc", "bar.red.popc.u32; #0 0"),
    ("barrier0.{and|or}", "bar.red.$1.pred; #0 0"),
    ("barrier.cta.{sync|arrive}.aligned.{all|count}", "bar.$1"),
    ("barrier.cta.{sync|arrive}.{all|count}", "barrier.$1"),
    ("barrier.cta.red.{and|or}.aligned.{all|count}", "bar.red.$1.pred"),
    ("barrier.cta.red.{and|or}.{all|count}", "barrier.red.$1.pred"),
    ("barrier.cta.red.popc.aligned.{all|count}", "bar.red.popc.u32"),
    ("barrier.cta.red.popc.{all|count}", "barrier.red.popc.u32"),
    ("barrier.cluster.{arrive|wait}{.relaxed|}{.aligned|}", "barrier.cluster.$1$2$3"),
    ("fence.sc.cluster", "fence.sc.cluster"),
    ("fence.mbarrier_init.release.cluster", "fence.mbarrier_init.release.cluster"),
    ("fence.proxy.{alias|async}", "fence.proxy.$1"),
    (
        "fence.proxy.async.{global|shared_cluster=shared::cluster|shared_cta=shared::cta}",
        "fence.proxy.async.$1",
    ),
    (
        "fence.acquire.sync_restrict.space.cluster.scope.cluster",
        "fence.acquire.sync_restrict::shared::cluster.cluster",
    ),
    (
        "fence.release.sync_restrict.space.cta.scope.cluster",
        "fence.release.sync_restrict::shared::cta.cluster",
    ),
    (
        "fence.proxy.async_generic.acquire.sync_restrict.space.cluster.scope.cluster",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    ),
    (
        "fence.proxy.async_generic.release.sync_restrict.space.cta.scope.cluster",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
    ),
    (
        "fence.proxy.tensormap_generic.{acquire|release}.{cta|cluster|gpu|sys}",
        "fence.proxy.tensormap::generic.$1.$2",
    ),
    // Objects that count arrivals.
    ("mbarrier.{init|inval}{.shared|}", "mbarrier.$1$2.b64"),
    ("mbarrier.arrive{.drop=_drop|}{.noComplete|}{.shared|}", "mbarrier.arrive$1$2$3.b64"),
    ("mbarrier.test.wait{.shared|}", "mbarrier.test_wait$1.b64"),
    ("mbarrier.pending.count", "mbarrier.pending_count.b64"),
    (
        "mbarrier.arrive{.drop=_drop|}{.expect.tx=.expect_tx|}{.relaxed|=.release}.scope{.cta|.cluster}.space.{cta=shared|cluster=shared::cluster}",
        "mbarrier.arrive$1$2$3$4.$5.b64",
    ),
    (
        "mbarrier.{expect.tx=expect_tx|complete.tx=complete_tx}.scope{.cta|.cluster}.space.{cta=shared|cluster=shared::cluster}",
        "mbarrier.$1.relaxed$2.$3.b64",
    ),
    (
        "mbarrier.{test.wait=test_wait|try.wait=try_wait}{.parity|}{.tl=|}{.relaxed|=.acquire}.scope{.cta|.cluster}.space.cta",
        "mbarrier.$1$2$4$5.shared.b64",
    ),
    // Tensor memory.
    ("tcgen05.alloc{.shared=.shared::cta|}.cg{1|2}", "tcgen05.alloc.cta_group::$2.sync.aligned$1.b32"),
    ("tcgen05.dealloc.cg{1|2}", "tcgen05.dealloc.cta_group::$1.sync.aligned.b32"),
    ("tcgen05.shift.down.cg{1|2}", "tcgen05.shift.cta_group::$1.down"),
    ("tcgen05.cp.{4x256b|128x256b|128x128b}{@widened}.cg{1|2}", "tcgen05.cp.cta_group::$3.$1$2"),
    (
        "tcgen05.cp.64x128b_warpx2{_02_13=::02_13|_01_23=::01_23}{@widened}.cg{1|2}",
        "tcgen05.cp.cta_group::$3.64x128b.warpx2$1$2",
    ),
    ("tcgen05.cp.32x128b_warpx4{@widened}.cg{1|2}", "tcgen05.cp.cta_group::$2.32x128b.warpx4$1"),
    ("tcgen05.relinq.alloc.permit.cg{1|2}", "tcgen05.relinquish_alloc_permit.cta_group::$1.sync.aligned"),
    ("tcgen05.fence.{before|after}.thread.sync", "tcgen05.fence::$1_thread_sync"),
    ("tcgen05.wait.{ld|st}", "tcgen05.wait::$1.sync.aligned"),
    (
        "tcgen05.commit{.shared=.shared::cluster|}.cg{1|2}",
        "tcgen05.commit.cta_group::$2.mbarrier::arrive::one$1.b64",
    ),
    (
        "tcgen05.commit.mc{.shared=.shared::cluster|}.cg{1|2}",
        "tcgen05.commit.cta_group::$2.mbarrier::arrive::one$1.multicast::cluster.b64",
    ),
    // Copies.
    ("cp.async.{ca|cg}.shared.global.{4|8|16}", "cp.async.$1.shared.global; 0 1 #$2"),
    ("cp.async.{ca|cg}.shared.global.{4|8|16}.s", "cp.async.$1.shared.global; 0 1 #$2 2"),
    ("cp.async{.bulk|}.commit.group", "cp.async$1.commit_group"),
    ("cp.async{.bulk|}.wait.group{.read|}", "cp.async$1.wait_group$2"),
    ("cp.async.wait.all", "cp.async.wait_all"),
    ("cp.async.mbarrier.arrive{.noinc|}{.shared|}", "cp.async.mbarrier.arrive$1$2.b64"),
    (
        "cp.async.bulk.shared.cta.to.cluster",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes; 0 2 3 1",
    ),
    (
        "clusterlaunchcontrol.try_cancel.async{.multicast=.multicast::cluster::all|}.shared",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes$1.b128",
    ),
    (
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.{x|y|z}",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::$1.b32.b128",
    ),
    (
        "clusterlaunchcontrol.query_cancel.is_canceled",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128",
    ),
    ("st.bulk{.shared.cta=.shared::cta|}", "st.bulk.weak$1"),
    ("discard{.global|}.L2", "discard$1.L2"),
    ("applypriority{.global|}.L2.evict.normal", "applypriority$1.L2::evict_normal"),
    ("prefetch{.global|.local|}.{L1|L2}", "prefetch$1.$2"),
    ("prefetch.global.L2.evict.{last|normal}", "prefetch.global.L2::evict_$1"),
    ("prefetch.tensormap", "prefetch.tensormap"),
    ("prefetchu.L1", "prefetchu.L1"),
    (
        "tensormap.replace.{global.address=global_address|global.stride=global_stride}",
        "tensormap.replace.tile.$1.b1024.b64",
    ),
    (
        "tensormap.replace.{rank|box.dim=box_dim|global.dim=global_dim|element.stride=element_stride|elemtype|\
         interleave.layout=interleave_layout|swizzle.mode=swizzle_mode|swizzle.atomicity=swizzle_atomicity|fill.mode=fill_mode}",
        "tensormap.replace.tile.$1.b1024.b32",
    ),
    // Matrices.
    (
        "ldmatrix.sync.aligned.{m8n8|m16n16|m8n16}.{x1|x2|x4}{.trans|}.{b16|b8x16.b6x16_p32|b8x16.b4x16_p64|b8}",
        "ldmatrix.sync.aligned.$1.$2$3.$4",
    ),
    ("stmatrix.sync.aligned.{m8n8|m16n8}.{x1|x2|x4}{.trans|}.{b16|b8}", "stmatrix.sync.aligned.$1.$2$3.$4"),
    ("mma.{@shape}.{row|col}.{row|col}{.satfinite|}.{@mma}", "mma.sync.aligned.$1.$2.$3$4.$5"),
    ("mma.{and|xor}.popc.{@shape}.row.col.b1", "mma.sync.aligned.$2.row.col.s32.b1.b1.s32.$1.popc"),
    (
        "mma.{@shape}.row.col{.kind.f8f6f4=.kind::f8f6f4|}.{f16|f32}.{@byte}.{@byte}.{f16|f32}",
        "mma.sync.aligned.$1.row.col$2.$3.$4.$5.$6",
    ),
    (
        "mma.sp{.ordered.metadata=::ordered_metadata|}.{@shape}.row.col{.satfinite|}.{@mma}",
        "mma.sp$1.sync.aligned.$2.row.col$3.$4",
    ),
    (
        "mma.sp{.ordered.metadata=::ordered_metadata|}.{@shape}.row.col{.kind.f8f6f4=.kind::f8f6f4|}.{f16|f32}.{@byte}.{@byte}.{f16|f32}",
        "mma.sp$1.sync.aligned.$2.row.col$3.$4.$5.$6.$7",
    ),
    (
        "mma.block.scale.{@shape}.row.col.{mxf4nvf4|mxf4|mxf8f6f4}{@scale}.f32.{@byte}.{@byte}.f32.{ue8m0|ue4m3}",
        "mma.sync.aligned.$1.row.col.kind::$2.block_scale$3.f32.$4.$5.f32.$6",
    ),
    (
        "mma.sp.ordered.metadata.block.scale.{@shape}.row.col.{mxf4nvf4|mxf4|mxf8f6f4}{@scale}.f32.{@byte}.{@byte}.f32.{ue8m0|ue4m3}",
        "mma.sp::ordered_metadata.sync.aligned.$1.row.col.kind::$2.block_scale$3.f32.$4.$5.f32.$6",
    ),
    (
        "wmma.{@shape}.load.{a|b|c}.{row|col}{.stride=|}.{f16|f32|bf16|tf32|f64|s32|s8|u8|s4|u4|b1}",
        "wmma.load.$2.sync.aligned.$3.$1.$5",
    ),
    ("wmma.{@shape}.store.d.{row|col}{.stride=|}.{f16|f32|f64|s32}", "wmma.store.d.sync.aligned.$2.$1.$4"),
    (
        "wmma.{@shape}.mma.{row|col}.{row|col}.{f16.f16|f16.f32|f32.f16|f32.f32}{.satfinite|}",
        "wmma.mma.sync.aligned.$2.$3.$1.$4$5",
    ),
    (
        "wmma.{@shape}.mma.{row|col}.{row|col}{.rn|.rz|.rm|.rp|}.{@mma}{.satfinite|}",
        "wmma.mma.sync.aligned.$2.$3.$1$4.$5$6",
    ),
    ("wmma.{@shape}.mma.{and|xor}.popc.row.col.b1", "wmma.mma.$2.popc.sync.aligned.row.col.$1.s32.b1.b1.s32"),
    ("wgmma.{fence|commit_group|wait_group}.sync.aligned", "wgmma.$1.sync.aligned"),
    // Textures and surfaces.
    (
        "{txq|suq}.{width|height|depth|channel.data.type=channel_data_type|channel.order=channel_order|array.size=array_size}",
        "$1.$2.b32",
    ),
    ("txq.{num.samples=num_samples|num.mipmap.levels=num_mipmap_levels}", "txq.$1.b32"),
];

/// The instruction of a name.
pub(super) fn find(name: &str) -> Option<Found> {
    let mut captures = Vec::new();
    let (_, target) = RULES.iter().find(|(pattern, _)| {
        captures.clear();
        matches(pattern, name, &mut captures)
    })?;
    instruction(&fill(target, &captures))
}

/// The instruction of a line: a mnemonic, and the order of its operands.
fn instruction(line: &str) -> Option<Found> {
    let (mnemonic, order) = match line.split_once(';') {
        Some((mnemonic, order)) => (mnemonic, Some(order)),
        None => (line, None),
    };
    let source = |word: &str| match word.strip_prefix('#') {
        Some(number) => number.parse().ok().map(Source::Number),
        None => word.parse().ok().map(Source::Argument),
    };
    let order = match order {
        Some(order) => Some(order.split_whitespace().map(source).collect::<Option<Vec<_>>>()?),
        None => None,
    };
    Some(Found { mnemonic: Mnemonic::parse(mnemonic).ok()?, order })
}

/// A target with what braces have matched.
pub(in crate::import) fn fill(target: &str, captures: &[&str]) -> String {
    let mut parts = target.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = part[..digits].parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        out.push_str(number.and_then(|n| captures.get(n)).copied().unwrap_or_default());
        out.push_str(&part[digits..]);
    }
    out
}

/// Whether a name is one of a pattern's, and what its braces are.
pub(in crate::import) fn matches<'p>(pattern: &'p str, name: &str, captures: &mut Vec<&'p str>) -> bool {
    // Of hundreds of patterns most end here within a few letters.
    let equal = |(pattern, name): &(u8, u8)| pattern == name && *pattern != b'{';
    let literal = pattern.bytes().zip(name.bytes()).take_while(equal).count();
    match pattern.as_bytes().get(literal) {
        None => return name.len() == literal,
        Some(b'{') => {}
        Some(_) => return false,
    }
    let (Some(rest), Some(name)) = (pattern.get(literal + 1..), name.get(literal..)) else { return false };
    let Some((choices, rest)) = rest.split_once('}') else { return false };
    let depth = captures.len();
    choices.split('|').any(|choice| {
        let set: &'p str = SETS.iter().find(|(name, _)| *name == choice).map_or(choice, |(_, set)| set);
        set.split('|').any(|choice| {
            let (word, value) = choice.split_once('=').unwrap_or((choice, choice));
            let Some(name) = name.strip_prefix(word) else { return false };
            captures.truncate(depth);
            captures.push(value);
            matches(rest, name, captures)
        })
    })
}
