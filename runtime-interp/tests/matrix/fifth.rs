//! Every form of `tcgen05` (PTX ISA 9.0, 9.7.16) in a kernel round it: tensor memory is allocated and filled, matrices lie in it and in shared memory,
//! and its effect is compared in all of tensor memory that it can have changed.

use super::operands::{Failures, Registers, samples};
use super::{levels, try_load};
use std::fmt::Write;
use warpsmith_interp::Launch;
use warpsmith_isa::sample::{Arg, Sample};
use warpsmith_isa::{MmaKind, Mod, Operation, ScalarType, StateSpace};

/// What an instruction is about, which says what is put round it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Allocates,
    Frees,
    Relinquishes,
    Loads,
    Stores,
    Copies,
    Multiplies,
    Commits,
    Waits,
}

fn role(operation: Operation) -> Option<Role> {
    const ROLES: &[(Operation, Role)] = &[
        (Operation::Tcgen05Alloc, Role::Allocates),
        (Operation::Tcgen05Dealloc, Role::Frees),
        (Operation::Tcgen05RelinquishAllocPermit, Role::Relinquishes),
        (Operation::Tcgen05Ld, Role::Loads),
        (Operation::Tcgen05LdRed, Role::Loads),
        (Operation::Tcgen05LdSpcompress, Role::Loads),
        (Operation::Tcgen05LdRedSpcompress, Role::Loads),
        (Operation::Tcgen05St, Role::Stores),
        (Operation::Tcgen05Cp, Role::Copies),
        (Operation::Tcgen05Shift, Role::Copies),
        (Operation::Tcgen05Mma, Role::Multiplies),
        (Operation::Tcgen05MmaSparse, Role::Multiplies),
        (Operation::Tcgen05MmaWs, Role::Multiplies),
        (Operation::Tcgen05MmaWsSparse, Role::Multiplies),
        (Operation::Tcgen05Commit, Role::Commits),
        (Operation::Tcgen05WaitLd, Role::Waits),
        (Operation::Tcgen05WaitSt, Role::Waits),
        (Operation::Tcgen05FenceBeforeThreadSync, Role::Waits),
        (Operation::Tcgen05FenceAfterThreadSync, Role::Waits),
    ];
    ROLES.iter().find(|(one, _)| *one == operation).map(|(_, role)| *role)
}

pub fn is_run(operation: Operation) -> bool {
    role(operation).is_some()
}

/// Columns of tensor memory: D and what is loaded and stored are in those before them.
const OF_A: u32 = 256;
const OF_METADATA: u32 = 288;
const OF_SCALES: u32 = 304;
/// B in shared memory, behind A.
const OF_B: u64 = 8192;

fn has(sample: &Sample, modifier: Mod) -> bool {
    sample.filled.contains(&Some(modifier))
}

fn is_pair(sample: &Sample) -> bool {
    has(sample, Mod::CtaGroup2)
}

/// An instruction descriptor: 128 rows, or 256 of two blocks, and 64 columns.
fn instruction(sample: &Sample) -> u32 {
    let sparse = matches!(sample.form.operation, Operation::Tcgen05MmaSparse | Operation::Tcgen05MmaWsSparse);
    let kind = sample.filled.iter().flatten().find_map(|m| MmaKind::of(*m)).unwrap();
    // The type of D, or of the scales; and those of A and B.
    let types = match kind {
        MmaKind::F16 | MmaKind::F8f6f4 => 1 << 4,
        MmaKind::Tf32 => 1 << 4 | 2 << 7 | 2 << 10,
        MmaKind::I8 => 2 << 4 | 1 << 7 | 1 << 10,
        MmaKind::Mxf8f6f4 => 1 << 23,
        MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => 1 << 23 | 1 << 7 | 1 << 10,
        MmaKind::Ti16 => panic!("not executed"),
    };
    let rows = if is_pair(sample) { 256 } else { 128 };
    u32::from(sparse) << 2 | types | (64 / 8) << 17 | (rows / 16) << 24
}

/// A descriptor of rows of at most 64 bytes, eight of them 512 bytes from the next eight. The tile is at the beginning of shared memory.
fn descriptor(at: u64) -> u64 {
    at >> 4 | 128 >> 4 << 16 | 512 >> 4 << 32 | 1 << 46
}

/// The operands of a product.
fn of_product(sample: &Sample, text: &mut Registers) -> Vec<String> {
    let sparse = matches!(sample.form.operation, Operation::Tcgen05MmaSparse | Operation::Tcgen05MmaWsSparse);
    let first_after_b = if sparse { 4 } else { 3 };
    let one = |(place, arg): (usize, &Arg)| {
        let cells = |text: &mut Registers, column: u32| {
            text.before += &format!("add.u32 %t, %taddr, {column};\n");
            format!("[{}]", text.set(ScalarType::B32, "%t"))
        };
        let number = |text: &mut Registers, value: String| match arg {
            Arg::Int(_) => value,
            register => text.operand(register, &|_| value.clone()),
        };
        match (place, arg) {
            (0, Arg::TensorAddress) => cells(text, 0),
            (1, Arg::TensorAddress) => cells(text, OF_A),
            (3, Arg::TensorAddress) if sparse => cells(text, OF_METADATA),
            (_, Arg::TensorAddress) => cells(text, OF_SCALES),
            (1, _) => number(text, descriptor(0).to_string()),
            (2, _) => number(text, descriptor(OF_B).to_string()),
            _ if place == first_after_b => number(text, instruction(sample).to_string()),
            // No lanes are left alone, and no column of B is zero.
            (_, Arg::Vector(_) | Arg::Reg(ScalarType::B64)) => text.operand(arg, &|_| "0".into()),
            _ => text.operand(arg, &|_| "1".into()),
        }
    };
    sample.operands.iter().enumerate().map(one).collect()
}

fn operands(sample: &Sample, role: Role, text: &mut Registers) -> Vec<String> {
    if role == Role::Multiplies {
        return of_product(sample, text);
    }
    let one = |(place, arg): (usize, &Arg)| match arg {
        _ if place < sample.destinations => text.destination(arg),
        // Loads and stores are of the lanes of a warp.
        Arg::TensorAddress if matches!(role, Role::Loads | Role::Stores) => "[%quarter]".into(),
        Arg::TensorAddress => "[%taddr]".into(),
        Arg::Address(space) => {
            let object = if role == Role::Commits { "bar" } else { "slot" };
            text.before += &format!("mov.u64 %address, {object};\n");
            if *space == StateSpace::Generic {
                text.before += "cvta.shared.u64 %address, %address;\n";
            }
            format!("[{}]", text.set(ScalarType::B64, "%address"))
        }
        Arg::Int(_) if role == Role::Copies => descriptor(0).to_string(),
        // The first allocation is at the beginning.
        Arg::Int(_) if role == Role::Frees && place == 0 => "0".into(),
        arg => text.operand(arg, &|nth| match role {
            Role::Allocates => "32".into(),
            Role::Frees => ["%taddr", "32"][place.min(1)].into(),
            Role::Copies => descriptor(0).to_string(),
            // The first block.
            Role::Commits => "1".into(),
            Role::Stores => (0x1234_5678 + nth).to_string(),
            Role::Relinquishes | Role::Loads | Role::Multiplies | Role::Waits => "0".into(),
        }),
    };
    sample.operands.iter().enumerate().map(one).collect()
}

/// Allocates all columns, fills them, runs the instruction where `%go` is true, and stores what is found in a word of each thread.
fn kernel(sample: &Sample, role: Role) -> String {
    let mut text = Registers::default();
    let operands = operands(sample, role, &mut text);
    let call = format!("{} {};", sample.mnemonic, operands.join(", "));
    let group = if is_pair(sample) { 2 } else { 1 };
    let list = |name: &str, count: usize| vec![name.to_owned(); count].join(", ");
    let cells: Vec<String> = (0..64).map(|i| format!("%v{i}")).collect();
    let pattern: String = (0..64).map(|i| format!("mad.lo.u32 %v{i}, %tx, 97, {i};\n")).collect();
    let fold: String = cells.iter().map(|v| format!("mad.lo.u32 %sum, %sum, 31, {v};\n")).collect();
    let cells = cells.join(", ");
    let mut results = String::new();
    for (name, _) in &text.results {
        writeln!(results, "mad.lo.u32 %sum, %sum, 31, {name};").unwrap();
    }
    let commit = format!(
        "@%leader tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster.b64 [%bar];"
    );
    let wait = "@%second bra past; W: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra W; past: tcgen05.fence::after_thread_sync;";
    let issued = match role {
        Role::Multiplies | Role::Copies => format!("@%issue {call}\n{commit} {wait}"),
        Role::Commits => format!("@%leader {call}\n{wait}"),
        Role::Loads => format!("@%go {call}\ntcgen05.wait::ld.sync.aligned;"),
        Role::Stores => format!("@%go {call}\ntcgen05.wait::st.sync.aligned;"),
        Role::Waits | Role::Allocates | Role::Frees | Role::Relinquishes => call,
    };
    let Registers { declared, before, .. } = text;
    format!(
        ".version {version} .target {target} .address_size 64
.visible .entry k(.param .u64 out, .param .u32 go) {{
.shared .align 1024 .b8 tile[16384]; .shared .b32 slot; .shared .align 8 .b64 bar;
.reg .b32 %tx, %warp, %taddr, %quarter, %t, %column, %sum, %a, %meta, %scale, %block, %bar, %v<64>; .reg .b64 %out, %address, %rd<4>;
.reg .pred %go, %first, %leader, %issue, %second, %p;
{declared}
ld.param.u64 %out, [out]; ld.param.u32 %t, [go]; setp.ne.u32 %go, %t, 0; mov.u32 %tx, %tid.x; shr.u32 %warp, %tx, 5; mov.u32 %block, %ctaid.x;
setp.eq.u32 %first, %warp, 0; setp.ne.u32 %second, %block, 0; setp.eq.u32 %leader, %tx, 0; and.pred %issue, %leader, %go;
@%second setp.ne.u32 %leader, 0, 0; and.pred %issue, %leader, %go; mov.u32 %bar, bar;
setp.eq.u32 %p, %tx, 0; @%p mbarrier.init.shared.b64 [bar], 1;
// Small normal numbers of all formats.
mov.u32 %column, %tx; mul.wide.u32 %rd0, %tx, 4; mov.u64 %rd1, tile; add.u64 %rd1, %rd1, %rd0;
fill: mad.lo.u32 %t, %column, 74565, 305419896; and.b32 %t, %t, 0x0f0f0f0f; or.b32 %t, %t, 0x30303030; st.shared.u32 [%rd1], %t; add.u64 %rd1, %rd1, 512;
add.u32 %column, %column, 128; setp.lt.u32 %p, %column, 4096; @%p bra fill; fence.proxy.async.shared::cta;
mov.u32 %sum, 1; mad.lo.u32 %a, %tx, 65793, 808464432; and.b32 %a, %a, 0x3f3f3f3f; mov.u32 %meta, 0xeeeeeeee; mov.u32 %scale, 0x7f7f7f7f;
{pattern}
{body}
mad.lo.u32 %t, %block, 128, %tx; mad.wide.u32 %out, %t, 4, %out; st.global.u32 [%out], %sum; ret; }}",
        version = sample.version,
        target = sample.target,
        body = match role {
            Role::Allocates | Role::Frees | Role::Relinquishes =>
                of_allocation(sample, role, group, &before, &issued),
            _ => format!(
                "@%first tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [slot], 512; bar.sync 0; ld.shared.u32 %taddr, [slot];
shl.b32 %quarter, %warp, 21; add.u32 %quarter, %quarter, %taddr;
tcgen05.st.sync.aligned.32x32b.x64.b32 [%quarter], {{{cells}}}; tcgen05.st.sync.aligned.32x32b.x64.b32 [%quarter+64], {{{cells}}};
tcgen05.st.sync.aligned.32x32b.x64.b32 [%quarter+128], {{{cells}}}; tcgen05.st.sync.aligned.32x32b.x64.b32 [%quarter+192], {{{cells}}};
tcgen05.st.sync.aligned.32x32b.x32.b32 [%quarter+{OF_A}], {{{a}}}; tcgen05.st.sync.aligned.32x32b.x16.b32 [%quarter+{OF_METADATA}], {{{meta}}};
tcgen05.st.sync.aligned.32x32b.x32.b32 [%quarter+{OF_SCALES}], {{{scale}}};
tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; tcgen05.fence::after_thread_sync;
{before}
{issued}
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; tcgen05.fence::after_thread_sync;
{results}
mov.u32 %column, 0;
read: add.u32 %t, %quarter, %column; tcgen05.ld.sync.aligned.32x32b.x64.b32 {{{cells}}}, [%t]; tcgen05.wait::ld.sync.aligned;
{fold}
add.u32 %column, %column, 64; setp.lt.u32 %p, %column, 256; @%p bra read;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
@%first tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %taddr, 512;",
                a = list("%a", 32),
                meta = list("%meta", 16),
                scale = list("%scale", 32),
            ),
        }
    )
}

/// Allocation of 32 columns and its end, by one warp, with a sample in place of one of the instructions.
fn of_allocation(sample: &Sample, role: Role, group: u32, before: &str, call: &str) -> String {
    let exclusive = if has(sample, Mod::Exclusive) { ".exclusive" } else { "" };
    let own = |of: Role, otherwise: String| {
        if of == role { format!("{before}\n{call}") } else { otherwise }
    };
    let allocate =
        format!("tcgen05.alloc{exclusive}.cta_group::{group}.sync.aligned.shared::cta.b32 [slot], 32;");
    let free = format!("tcgen05.dealloc{exclusive}.cta_group::{group}.sync.aligned.b32 %taddr, 32;");
    let relinquish = format!("tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;");
    format!(
        "@!%first bra end;
{}
ld.shared.u32 %taddr, [slot]; add.u32 %sum, %taddr, 7;
{}
{}
end: barrier.cluster.arrive; barrier.cluster.wait;",
        own(Role::Allocates, allocate),
        own(Role::Frees, free),
        own(Role::Relinquishes, relinquish),
    )
}

fn run(sample: &Sample, source: &str, role: Role) -> Result<(), String> {
    let program = try_load(source)?;
    let blocks = if is_pair(sample) { 2 } else { 1 };
    let run = |go: u32| -> Result<Vec<u32>, String> {
        let mut device = levels::device();
        let out = device.upload(&[0u32; 256]).unwrap();
        let launch = Launch::new("k").grid([blocks, 1, 1]).block([128, 1, 1]).cluster([blocks, 1, 1]);
        device.launch(&program, &launch.arg(out).arg(go)).map_err(|fault| fault.to_string())?;
        Ok(device.download(out).unwrap())
    };
    let found = run(1)?;
    if found != run(1)? {
        return Err("gives something else again".into());
    }
    let changes = matches!(role, Role::Loads | Role::Stores | Role::Copies | Role::Multiplies);
    if changes && found == run(0)? { Err("does nothing".into()) } else { Ok(()) }
}

#[test]
fn every_form_of_tensor_memory_runs_and_is_deterministic() {
    let (mut count, mut failures) = (0, Failures::default());
    for sample in samples(is_run) {
        let role = role(sample.form.operation).unwrap();
        let source = kernel(&sample, role);
        failures.note(&sample, &source, run(&sample, &source, role));
        count += 1;
    }
    failures.report();
    assert!(count > 600, "{count} samples");
}
