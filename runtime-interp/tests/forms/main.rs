//! Every form of the integer and float arithmetic, from its mnemonic through the lookup and the engine, against independent
//! arithmetic: `i128` and `u128`, and `rustc_apfloat`. (`float_oracle` tests the functions behind the float forms more densely.)

mod aliased;
mod float;
mod integer;
#[path = "../common/levels.rs"]
mod levels;

use warpsmith_interp::Launch;
use warpsmith_interp::engine::{Access, Address, FunctionKind, ProgramBuilder, Special, Width, lanes};
use warpsmith_isa::{Mnemonic, StateSpace, forms};
use warpsmith_semantics::{Plan, Written, plan};

/// What an instruction means: from its operands, as the bits of their registers.
pub type Meaning = Box<dyn Fn(&[u64]) -> u64>;

/// The plan of the first form of a mnemonic that takes so many sources, the elements of vectors one by one.
pub fn planned(mnemonic: &Mnemonic, sources: usize, destination_bits: u32) -> Option<Plan> {
    let written = Written { destination_bits, ..Written::default() };
    let all = forms(mnemonic).flat_map(|form| (1..8).filter_map(move |count| form.with_operand_count(count)));
    all.filter_map(|instruction| plan(&instruction, &written)).find(|plan| plan.sources().len() == sources)
}

/// Runs the instruction on all tuples and compares.
pub fn check(
    text: &str,
    sources: usize,
    result_bits: u32,
    tuples: &[Vec<u64>],
    meaning: &dyn Fn(&[u64]) -> u64,
) {
    let mnemonic = Mnemonic::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let plan = planned(&mnemonic, sources, result_bits).unwrap_or_else(|| panic!("{text} has no plan"));
    let mut program = ProgramBuilder::new();
    let kernel = program.declare("k", FunctionKind::kernel([("from", 8, 8), ("to", 8, 8), ("count", 4, 4)]));
    let mut body = program.body(kernel);
    let param = |at| (Access::unsigned(StateSpace::Param, 8), Address::Absolute(at));
    let (from, to, i) = (body.reg(Width::W64), body.reg(Width::W64), body.reg(Width::W32));
    let (tid, cta, count) = (body.reg(Width::W32), body.reg(Width::W32), body.reg(Width::W32));
    for (r, at) in [(from, 0), (to, 8)] {
        let (access, address) = param(at);
        body.load(access, &[r], address);
    }
    body.load(Access::unsigned(StateSpace::Param, 4), &[count], Address::Absolute(16));
    body.special(tid, Special::TidX);
    body.special(cta, Special::CtaIdX);
    body.lanes(
        lanes::vector(|tid: u32, cta: u32, n: u32| (cta * 256 + tid).min(n - 1)),
        &[i],
        &[tid, cta, count],
    );
    let stride = body.constant(8 * sources as u128, Width::W32);
    let step = lanes::vector(|base: u64, i: u32, stride: u32| base + u64::from(i) * u64::from(stride));
    let (a, d) = (body.reg(Width::W64), body.reg(Width::W64));
    body.lanes(step, &[a], &[from, i, stride]);
    let eight = body.constant(8, Width::W32);
    body.lanes(step, &[d], &[to, i, eight]);
    let src: Vec<_> = (plan.sources().iter().enumerate())
        .map(|(n, width)| {
            let r = body.reg(*width);
            let bytes = (width.bits() / 8) as u8;
            body.load(Access::unsigned(StateSpace::Global, bytes), &[r], Address::Reg(a, 8 * n as i64));
            r
        })
        .collect();
    let result = body.reg(Width::for_bits(result_bits));
    body.compute(&plan, &[Some(result)], &src, None);
    let bytes = (result.width().bits() / 8) as u8;
    body.store(Access::unsigned(StateSpace::Global, bytes), &[result], Address::Reg(d, 0));
    body.finish();
    let program = program.finish().unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let mut device = levels::device();
    let flat: Vec<u64> = tuples.iter().flatten().copied().collect();
    let input = device.upload(&flat).unwrap();
    let output = device.upload(&vec![0u64; tuples.len()]).unwrap();
    let launch = Launch::new("k").grid([tuples.len().div_ceil(256) as u32, 1, 1]).block([256, 1, 1]);
    device.launch(&program, &launch.arg(input).arg(output).arg(tuples.len() as u32)).unwrap();
    let mask = u64::MAX >> (64 - result_bits);
    for (operands, found) in tuples.iter().zip(device.download::<u64>(output).unwrap()) {
        let expected = meaning(operands) & mask;
        assert_eq!(found & mask, expected, "{text} {operands:x?} gives {found:#x}, not {expected:#x}");
    }
}
