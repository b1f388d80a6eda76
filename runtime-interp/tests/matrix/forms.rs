//! A kernel for every sample of every form: it loads, runs, and gives the same again whatever the host's features.

use super::{levels, load};
use std::fmt::Write;
use warpsmith_interp::engine::Level;
use warpsmith_interp::{Device, Launch};
use warpsmith_isa::sample::{Arg, Sample, of_form};
use warpsmith_isa::{FORMS, Operation, ScalarType, StateSpace, Target};

/// Metadata and scales: every nibble keeps the upper two of four elements, in order, and of tf32 the second of two.
const METADATA: u32 = 0xeeee_eeee;

#[derive(Default)]
struct Text {
    declared: String,
    before: String,
    count: usize,
    /// Registers of 64 bits are descriptors, not numbers.
    descriptors: bool,
    results: Vec<(String, ScalarType)>,
}

impl Text {
    /// A register with a value of its own in each lane.
    fn register(&mut self, ty: ScalarType, in_vector: bool) -> String {
        let name = format!("%x{}", self.count);
        self.count += 1;
        writeln!(self.declared, ".reg .{ty} {name};").unwrap();
        let number = self.count as u32;
        let bits = ty.bits();
        let before = &mut self.before;
        match (bits, in_vector) {
            (16, _) => writeln!(before, "mov.b16 {name}, 0;").unwrap(),
            (1, _) => writeln!(before, "setp.eq.u32 {name}, 0, 0;").unwrap(),
            (32, false) => writeln!(before, "mov.b32 {name}, {METADATA};").unwrap(),
            (64, _) if self.descriptors => writeln!(before, "mov.b64 {name}, %descriptor;").unwrap(),
            (64, _) => writeln!(
                before,
                "mad.lo.u32 %t, %lane, 1664525, {number}; cvt.rn.f64.s32 %d, %t; mov.b64 {name}, %d;"
            )
            .unwrap(),
            // Halves are small normal numbers of each format of 16 and 8 bits.
            _ => writeln!(
                before,
                "mad.lo.u32 %t, %lane, 74565, {}; and.b32 %t, %t, 0x0f0f0f0f; or.b32 %t, %t, 0x30303030; mov.b32 {name}, %t;",
                number.wrapping_mul(0x9e37_79b9)
            )
            .unwrap(),
        }
        name
    }

    fn operand(&mut self, arg: &Arg, in_vector: bool) -> String {
        match arg {
            Arg::Reg(ty) => self.register(*ty, in_vector),
            Arg::Int(value) => value.to_string(),
            Arg::F32(bits) => format!("0f{bits:08X}"),
            Arg::F64(bits) => format!("0d{bits:016X}"),
            Arg::Address(StateSpace::Shared) => "[%shared]".into(),
            Arg::Address(_) => "[%memory]".into(),
            Arg::Vector(list) => {
                let parts: Vec<String> = list.iter().map(|a| self.operand(a, true)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Arg::Sink => "_".into(),
            Arg::Not(ty) => format!("!{}", self.register(*ty, in_vector)),
            other => panic!("an operand that matrix instructions do not have: {other:?}"),
        }
    }
}

fn kernel(sample: &Sample) -> String {
    let warpgroup = is_of_warpgroups(sample.form.operation);
    let mut text = Text { descriptors: warpgroup, ..Text::default() };
    let mut operands = Vec::new();
    for (index, arg) in sample.operands.iter().enumerate() {
        let operand = text.operand(arg, false);
        if index < sample.destinations {
            let named = operand.trim_matches(['{', '}']).split(", ").filter(|name| *name != "_");
            let types: Vec<ScalarType> = match arg {
                Arg::Vector(list) => {
                    list.iter().filter_map(|a| if let Arg::Reg(ty) = a { Some(*ty) } else { None }).collect()
                }
                Arg::Reg(ty) => vec![*ty],
                other => panic!("{other:?}"),
            };
            let named: Vec<String> = named.map(str::to_owned).collect();
            text.results = named.into_iter().zip(types).collect();
        }
        operands.push(operand);
    }
    let mut after = String::new();
    for (index, (name, ty)) in text.results.iter().enumerate() {
        let offset = 8 * 128 * index;
        writeln!(after, "st.global.b{} [%own+{offset}], {name};", ty.bits()).unwrap();
    }
    let Text { declared, before, .. } = text;
    format!(
        ".version {} .target {} .address_size 64
.shared .align 16 .b8 tile[16384];
.visible .entry k(.param .u64 out) {{
.reg .b32 %lane, %t, %s; .reg .b64 %own, %memory, %shared, %offset, %descriptor; .reg .f64 %d;
{declared}
ld.param.u64 %memory, [out]; mov.u32 %lane, %tid.x;
mad.wide.u32 %own, %lane, 8, %memory;
// A line for each lane, full of small normal numbers.
mul.wide.u32 %offset, %lane, 16; mov.u64 %shared, tile; add.u64 %shared, %shared, %offset;
mad.lo.u32 %t, %lane, 74565, 305419896; and.b32 %t, %t, 0x0f0f0f0f; or.b32 %t, %t, 0x30303030;
st.shared.b32 [%shared], %t; st.shared.b32 [%shared+4], %t; st.shared.b32 [%shared+8], %t; st.shared.b32 [%shared+12], %t;
st.shared.b32 [%shared+512], %t; st.shared.b32 [%shared+1024], %t;
{}
// Tiles of 8 lines of 16 bytes, 128 and 256 bytes apart.
mov.u64 %descriptor, tile; shr.u64 %descriptor, %descriptor, 4; or.b64 %descriptor, %descriptor, 0x1000080000;
{before}
{} {};
{}
{after}
// What was stored to shared memory.
mov.u64 %shared, tile; add.u64 %shared, %shared, %offset;
ld.shared.b64 %offset, [%shared]; st.global.b64 [%own+163840], %offset;
ret; }}",
        sample.version,
        sample.target,
        if of_lines(sample) {
            "cvta.shared.u64 %memory, %shared;"
        } else {
            "mov.u64 %shared, tile; add.u64 %memory, %memory, 180224;"
        },
        sample.mnemonic,
        operands.join(", "),
        if warpgroup { "wgmma.commit_group.sync; wgmma.wait_group.sync 0;" } else { "" }
    )
}

/// Each lane has an address of its own.
fn of_lines(sample: &Sample) -> bool {
    matches!(sample.form.operation, Operation::Ldmatrix | Operation::Stmatrix)
}

pub fn is_of_warpgroups(operation: Operation) -> bool {
    use Operation::*;
    matches!(operation, WgmmaMmaAsync | WgmmaMmaAsyncSparse | WgmmaFence | WgmmaCommitGroup | WgmmaWaitGroup)
}

pub fn is_of_matrices(operation: Operation) -> bool {
    use Operation::*;
    matches!(
        operation,
        Mma | MmaSparse
            | Ldmatrix
            | Stmatrix
            | Movmatrix
            | WmmaLoadA
            | WmmaLoadB
            | WmmaLoadC
            | WmmaStoreD
            | WmmaMma
    )
}

fn run(device: &mut Device, sample: &Sample) -> Vec<u32> {
    let source = kernel(sample);
    let program = load(&source);
    let words: Vec<u32> =
        (0..65536u32).map(|i| 0x3030_3030 | i.wrapping_mul(0x9e37_79b9) & 0x0f0f_0f0f).collect();
    let buffer = device.upload(&words).unwrap();
    let threads = if is_of_warpgroups(sample.form.operation) { 128 } else { 32 };
    let launch = Launch::new("k").block([threads, 1, 1]).arg(buffer);
    device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{source}\n{fault}"));
    let all: Vec<u32> = device.download(buffer).unwrap();
    all
}

/// There are many sizes of N: a few of each form denote them.
#[test]
fn every_form_of_warpgroups_runs() {
    let mut count = 0;
    for form in FORMS.iter().filter(|form| is_of_warpgroups(form.operation)) {
        let samples = of_form(form, Target::sm(50));
        let step = samples.len().div_ceil(3).max(1);
        for sample in samples.iter().step_by(step) {
            let found = run(&mut levels::device(), sample);
            assert_eq!(found, run(&mut levels::device(), sample), "{}", sample.mnemonic);
            count += 1;
        }
    }
    assert!(count > 40, "{count} samples");
}

#[test]
fn every_form_runs_and_is_deterministic() {
    let mut count = 0;
    for form in FORMS.iter().filter(|form| is_of_matrices(form.operation)) {
        for sample in of_form(form, Target::sm(50)) {
            let mut first: Option<Vec<u32>> = None;
            for level in [Level::Baseline, Level::Avx2, Level::Avx512] {
                let mut machine = warpsmith_interp::Machine::default();
                machine.level = level;
                let found = run(&mut Device::with_machine(machine), &sample);
                let expected = first.get_or_insert_with(|| found.clone());
                assert!(*expected == found, "{} differs at {level:?}", sample.mnemonic);
            }
            let again = run(&mut levels::device(), &sample);
            assert_eq!(first.as_ref(), Some(&again), "{}", sample.mnemonic);
            count += 1;
        }
    }
    assert!(count > 150, "{count} samples");
}
