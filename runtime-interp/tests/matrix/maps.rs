//! Every form of the copies by tensor map (PTX ISA 9.0, 9.7.9.25.5) and of what changes and asks maps (9.7.9.26, 9.7.13.16), in a kernel round it.

use super::operands::{Failures, Registers, samples};
use super::{levels, try_load};
use std::fmt::Write;
use warpsmith_interp::{ElementType, Im2colWide, Launch, Swizzle, Tensor, TensorMap};
use warpsmith_isa::sample::{Arg, Sample};
use warpsmith_isa::{Mod, Operation, ScalarType, StateSpace};

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// To or from shared memory.
    Copies,
    Hints,
    Replaces,
    Asks,
    /// Copies a map from shared memory.
    Publishes,
}

fn role(operation: Operation) -> Option<Role> {
    const ROLES: &[(Operation, Role)] = &[
        (Operation::CpAsyncBulkTensor, Role::Copies),
        (Operation::CpReduceAsyncBulkTensor, Role::Copies),
        (Operation::CpAsyncBulkPrefetchTensor, Role::Hints),
        (Operation::ApplypriorityAsyncBulkTensor, Role::Hints),
        (Operation::TensormapReplace, Role::Replaces),
        (Operation::TensormapQueryAllocClassLarge, Role::Asks),
        (Operation::TensormapCpFenceproxy, Role::Publishes),
    ];
    ROLES.iter().find(|(one, _)| *one == operation).map(|(_, role)| *role)
}

pub fn is_run(operation: Operation) -> bool {
    role(operation).is_some()
}

/// Elements in each dimension of the tensor, of 4 bytes each; pixels have four of them.
const SIZE: u64 = 8;
/// Elements in each dimension of a box, and bytes of a row of it.
const BOX: u32 = 4;
const ROW: u32 = 16;
/// The word of the output with the answer of a query.
const ANSWER: usize = 1088;

fn has(sample: &Sample, modifier: Mod) -> bool {
    sample.filled.contains(&Some(modifier))
}

fn has_any(sample: &Sample, all: &[Mod]) -> bool {
    all.iter().any(|modifier| has(sample, *modifier))
}

fn is_load(sample: &Sample) -> bool {
    sample.form.operation == Operation::CpAsyncBulkTensor
        && sample.filled.iter().flatten().any(|m| m.to_string() == ".mbarrier::complete_tx::bytes")
}

fn rank(sample: &Sample) -> usize {
    const RANKS: [Mod; 5] = [Mod::N1d, Mod::N2d, Mod::N3d, Mod::N4d, Mod::N5d];
    RANKS.iter().position(|one| has(sample, *one)).map_or(2, |at| at + 1)
}

/// A map that the instruction can use, and the bytes of what it copies.
fn map(sample: &Sample, address: u64) -> (TensorMap, u32) {
    let rank = rank(sample);
    let strides: Vec<u64> = (1..rank as u32).map(|i| 4 * SIZE.pow(i)).collect();
    let tensor = Tensor::new(ElementType::U32, address, &vec![SIZE; rank], &strides);
    let pixels = 8;
    if has_any(sample, &[Mod::Im2col, Mod::Im2colNoOffs]) {
        let corner = vec![0; rank - 2];
        return (tensor.encode_im2col(&corner, &corner, BOX, pixels).unwrap(), pixels * ROW);
    }
    let wide = |mode, pixels: u32| {
        let tensor = Tensor { swizzle: Swizzle::B64, ..tensor.clone() };
        (tensor.encode_im2col_wide(mode, -1, -1, BOX, pixels).unwrap(), pixels * ROW)
    };
    if has_any(sample, &[Mod::Im2colW, Mod::Im2colNoOffsW]) {
        return wide(Im2colWide::W, pixels);
    }
    if has(sample, Mod::Im2colW128) {
        return wide(Im2colWide::W128, 128);
    }
    if has_any(sample, &[Mod::TileGather4, Mod::TileScatter4]) {
        return (tensor.encode_tiled(&[BOX, 1]).unwrap(), 4 * ROW);
    }
    (tensor.encode_tiled(&vec![BOX; rank]).unwrap(), ROW * BOX.pow(rank as u32 - 1))
}

/// An address in a register of 64 bits.
fn address(text: &mut Registers, of: &str) -> String {
    text.set(ScalarType::B64, of)
}

/// The operands of a copy or a hint: the map and what stands with it in its brackets, places in shared memory, and numbers.
fn of_copy(sample: &Sample, text: &mut Registers) -> Vec<String> {
    let load = is_load(sample);
    let sizes = has_any(sample, &[Mod::OverrideGlobalDim, Mod::OverrideGlobalDimStride]);
    let mut places = 0;
    let one = |arg: &Arg| match arg {
        Arg::Bracket(list) => {
            let inner = list.iter().enumerate().map(|(place, arg)| match (place, arg) {
                (0, _) => address(text, "%map"),
                (1, Arg::Reg(ScalarType::B64)) => address(text, "%tensor"),
                // Sizes, sixteenths of strides, and the upper bits of those; then coordinates.
                (2, list) if sizes => text.operand(list, &|_| SIZE.to_string()),
                (3, list) if has(sample, Mod::OverrideGlobalDimStride) => {
                    text.operand(list, &|i| (4 * SIZE.pow(i as u32 + 1) / 16).to_string())
                }
                (_, list) => text.operand(list, &|_| "0".into()),
            });
            format!("[{}]", inner.collect::<Vec<_>>().join(", "))
        }
        Arg::Address(_) => {
            places += 1;
            let of = if load && places == 2 { "%bar" } else { "%tile" };
            format!("[{}]", address(text, of))
        }
        // Offsets of pixels.
        Arg::Vector(_) => text.operand(arg, &|_| "0".into()),
        Arg::Reg(ScalarType::B64) => text.operand(arg, &|_| "%policy".into()),
        // To the first block.
        Arg::Int(_) => "1".into(),
        arg => text.operand(arg, &|_| "1".into()),
    };
    sample.operands.iter().map(one).collect()
}

fn operands(sample: &Sample, role: Role, text: &mut Registers) -> Vec<String> {
    if matches!(role, Role::Copies | Role::Hints) {
        return of_copy(sample, text);
    }
    let one = |(place, arg): (usize, &Arg)| match arg {
        _ if place < sample.destinations => text.destination(arg),
        Arg::Address(StateSpace::Shared) => format!("[{}]", address(text, "%object")),
        Arg::Address(_) => format!("[{}]", address(text, "%changed")),
        // Of every field: not what it was, and legal.
        arg => text.operand(arg, &|_| "3".into()),
    };
    sample.operands.iter().enumerate().map(one).collect()
}

fn kernel(sample: &Sample, role: Role, bytes: u32) -> String {
    let mut text = Registers::default();
    let operands = operands(sample, role, &mut text);
    let call = format!("{} {};", sample.mnemonic, operands.join(", "));
    let group = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
    let issued = match role {
        Role::Copies if is_load(sample) => {
            let layout = if call.contains(".mbarrier::report") { ".layout::v1" } else { "" };
            let phase = if layout.is_empty() { "" } else { ".phase_type::primary" };
            let flags = if layout.is_empty() { "%p" } else { "%p|%q" };
            format!(
                "@%leader mbarrier.init{layout}.shared.b64 [bar], 1; fence.proxy.async.shared::cta; bar.sync 0; @!%leader bra past;
@%go mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes}; @!%go mbarrier.arrive.shared.b64 _, [bar];
@%go {call}
W: mbarrier.try_wait.parity{phase}.shared.b64 {flags}, [bar], 0; @!%p bra W; past: bar.sync 0;"
            )
        }
        Role::Copies | Role::Hints => format!("@%issue {call}\n@%issue {group} bar.sync 0;"),
        Role::Replaces => format!("@%issue {call}\nbar.sync 0;"),
        Role::Asks => call,
        Role::Publishes => format!("@%go {call}\nbar.sync 0;"),
    };
    let mut results = String::new();
    for (name, _) in &text.results {
        writeln!(
            results,
            "@%leader selp.b32 %t, 1, 2, {name}; @%leader st.global.u32 [%out+{}], %t;",
            4 * ANSWER
        )
        .unwrap();
    }
    let Registers { declared, before, .. } = text;
    format!(
        ".version {} .target {} .address_size 64
.visible .entry k(.param .u64 out, .param .u64 tensor, .param .align 64 .b8 map[128], .param .u32 go) {{
.shared .align 1024 .b8 tile[4096]; .shared .align 128 .b8 object[128]; .shared .align 8 .b64 bar;
.reg .b32 %tx, %t, %at, %block; .reg .b64 %out, %own, %tensor, %map, %changed, %tile, %object, %bar, %policy, %rd<4>; .reg .pred %go, %leader, %issue, %p, %q;
{declared}
ld.param.u64 %out, [out]; ld.param.u64 %tensor, [tensor]; mov.b64 %map, map; cvta.param.u64 %map, %map; mov.u32 %tx, %tid.x; mov.u32 %block, %ctaid.x;
mov.u64 %tile, tile; mov.u64 %object, object; mov.u64 %bar, bar; createpolicy.fractional.L2::evict_first.b64 %policy;
ld.param.u32 %t, [go]; setp.ne.u32 %go, %t, 0; setp.eq.u32 %leader, %tx, 0; and.pred %issue, %leader, %go;
// Only the first block does something.
setp.ne.u32 %p, %block, 0; @%p bra done;
mul.wide.u32 %rd0, %tx, 4; add.u64 %own, %out, %rd0; add.u64 %changed, %out, 4096; add.u64 %rd1, %tile, %rd0; mov.u32 %at, %tx;
fill: mad.lo.u32 %t, %at, 74565, 305419896; st.shared.u32 [%rd1], %t; add.u64 %rd1, %rd1, 128; add.u32 %at, %at, 32; setp.lt.u32 %p, %at, 1024; @%p bra fill;
// The map again, in shared and in global memory.
add.u64 %rd1, %map, %rd0; ld.b32 %t, [%rd1]; add.u64 %rd1, %object, %rd0; st.shared.b32 [%rd1], %t; add.u64 %rd1, %changed, %rd0; setp.eq.u32 %p, 0, {publishes}; @%p st.global.b32 [%rd1], %t;
fence.proxy.async; bar.sync 0;
{before}
{issued}
{results}
add.u64 %rd1, %object, %rd0; ld.shared.u32 %t, [%rd1]; st.global.u32 [%own+4224], %t;
add.u64 %rd1, %tile, %rd0; mov.u32 %at, %tx;
read: ld.shared.u32 %t, [%rd1]; st.global.u32 [%own], %t; add.u64 %rd1, %rd1, 128; add.u64 %own, %own, 128; add.u32 %at, %at, 32; setp.lt.u32 %p, %at, 1024; @%p bra read;
done: barrier.cluster.arrive; barrier.cluster.wait; ret; }}",
        sample.version,
        sample.target,
        publishes = u32::from(role == Role::Publishes),
    )
}

fn run(sample: &Sample, source: &str, role: Role) -> Result<(), String> {
    let program = try_load(source)?;
    let blocks = if has(sample, Mod::CtaGroup2) { 2 } else { 1 };
    let run = |go: u32| -> Result<[Vec<u32>; 2], String> {
        let mut device = levels::device();
        let out = device.upload(&[0u32; 2048]).unwrap();
        let data = (0..SIZE.pow(rank(sample) as u32) as u32).map(|i| i.wrapping_mul(0x9e37_79b9));
        let tensor = device.upload(&data.collect::<Vec<u32>>()).unwrap();
        let launch = Launch::new("k").grid([blocks, 1, 1]).block([32, 1, 1]).cluster([blocks, 1, 1]);
        let launch = launch.arg(out).arg(tensor).arg(map(sample, tensor.address()).0).arg(go);
        device.launch(&program, &launch).map_err(|fault| fault.to_string())?;
        Ok([out, tensor].map(|buffer| device.download(buffer).unwrap()))
    };
    let (found, without) = (run(1)?, run(0)?);
    if found != run(1)? {
        return Err("gives something else again".into());
    }
    match role {
        Role::Copies | Role::Replaces | Role::Publishes if found == without => Err("does nothing".into()),
        Role::Asks if found[0][ANSWER] != 2 => Err(format!("says {}", found[0][ANSWER])),
        Role::Hints if found != without => Err("changes something".into()),
        Role::Copies | Role::Replaces | Role::Publishes | Role::Asks | Role::Hints => Ok(()),
    }
}

#[test]
fn every_form_of_tensor_maps_runs_and_is_deterministic() {
    let (mut count, mut failures) = (0, Failures::default());
    for sample in samples(is_run) {
        let role = role(sample.form.operation).unwrap();
        let source = kernel(&sample, role, map(&sample, 1 << 20).1);
        failures.note(&sample, &source, run(&sample, &source, role));
        count += 1;
    }
    failures.report();
    assert!(count > 200, "{count} samples");
}
