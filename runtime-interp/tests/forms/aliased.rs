//! All sources of an instruction are read before any of its destinations is written: every form that computes gives the same
//! results when a destination is the register of one of its sources.

use std::fmt::Write;
use warpsmith_interp::Launch;
use warpsmith_interp::engine::{
    Access, Address, FunctionBuilder, FunctionKind, ProgramBuilder, Reg, Special, Width, lanes,
};
use warpsmith_isa::sample::{Sample, pairs_of_form};
use warpsmith_isa::{Opcode, StateSpace, Target, forms};
use warpsmith_semantics::{Plan, Written, plan};

/// How many aliases of one instruction are tried.
const MOST_ALIASES: usize = 80;

/// Registers with values that differ from lane to lane and from source to source.
fn varied(body: &mut FunctionBuilder<'_>, widths: &[Width]) -> Vec<Reg> {
    let thread = body.reg(Width::W32);
    body.special(thread, Special::TidX);
    let one = |i: usize, width: Width, body: &mut FunctionBuilder<'_>| {
        let salt = body.constant(i as u128 + 1, Width::W32);
        let (r, wide) = (body.reg(width), body.reg(Width::W64));
        let mix = |thread: u32, salt: u32| {
            let x = (u64::from(thread) << 32 | u64::from(salt)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ x >> 7
        };
        body.lanes(lanes::vector(mix), &[wide], &[thread, salt]);
        let cut = match width {
            Width::Pred => lanes::vector(|x: u64| x & 4 != 0),
            Width::W32 => lanes::vector(|x: u64| x as u32),
            Width::W64 => lanes::vector(|x: u64| x),
            Width::W128 => lanes::vector(|x: u64| u128::from(x) << 64 | u128::from(!x)),
        };
        body.lanes(cut, &[r], &[wide]);
        r
    };
    widths.iter().enumerate().map(|(i, width)| one(i, *width, body)).collect()
}

/// Stores registers of all lanes, 16 bytes each, from `at` on, and gives the end.
fn keep(body: &mut FunctionBuilder<'_>, out: Reg, registers: &[Reg], mut at: i64) -> i64 {
    for r in registers {
        let number = if r.width() == Width::Pred {
            let number = body.reg(Width::W32);
            body.lanes(lanes::vector(|p: bool| u32::from(p)), &[number], &[*r]);
            number
        } else {
            *r
        };
        let bytes = (number.width().bits() / 8) as u8;
        body.store(Access::unsigned(StateSpace::Global, bytes), &[number], Address::Reg(out, at));
        at += 16 * 32;
    }
    at
}

/// Runs all aliases of a sample's operands; what is wrong with the results, if anything.
fn run(sample: &Sample, plan: &Plan) -> Option<String> {
    let mut program = ProgramBuilder::new();
    let kernel = program.declare("k", FunctionKind::kernel([("out", 8, 8)]));
    let mut body = program.body(kernel);
    let (base, out, lane) = (body.reg(Width::W64), body.reg(Width::W64), body.reg(Width::W32));
    body.load(Access::unsigned(StateSpace::Param, 8), &[base], Address::Absolute(0));
    body.special(lane, Special::TidX);
    body.lanes(lanes::vector(|base: u64, lane: u32| base + 16 * u64::from(lane)), &[out], &[base, lane]);
    let flag = body.reg(Width::Pred);
    let mut end = 0;
    let mut aliases = vec![None];
    for (d, to) in plan.destinations().iter().enumerate() {
        aliases.extend((0..plan.sources().len()).filter(|s| plan.sources()[*s] == *to).map(|s| Some((d, s))));
    }
    // Of an instruction of many registers some will do, spread over all.
    let step = aliases.len().div_ceil(MOST_ALIASES);
    let aliases: Vec<_> = aliases.into_iter().step_by(step).collect();
    for alias in &aliases {
        let src = varied(&mut body, plan.sources());
        let dst: Vec<Reg> = (plan.destinations().iter().enumerate())
            .map(|(d, width)| match alias {
                Some((one, source)) if *one == d => src[*source],
                _ => body.reg(*width),
            })
            .collect();
        let carry = plan.uses_carry().then(|| varied(&mut body, &[Width::Pred])[0]);
        if let Some(carry) = carry {
            body.copy(flag, carry);
        }
        let targets: Vec<_> = dst.iter().copied().map(Some).collect();
        body.compute(plan, &targets, &src, carry.map(|_| flag));
        end = keep(&mut body, out, &dst, end);
    }
    body.finish();
    let program = program.finish().unwrap_or_else(|e| panic!("{}: {e:?}", sample.mnemonic));
    let mut device = super::levels::device();
    let buffer = device.upload(&vec![0u8; end as usize]).unwrap();
    device.launch(&program, &Launch::new("k").block([32, 1, 1]).arg(buffer)).unwrap();
    let found: Vec<u8> = device.download(buffer).unwrap();
    let results: Vec<&[u8]> = found.chunks(end as usize / aliases.len()).collect();
    let mut wrong = String::new();
    for (alias, result) in aliases.iter().zip(&results).filter(|(_, result)| **result != results[0]) {
        writeln!(wrong, "{}: {alias:?} gives another result: {result:x?}", sample.mnemonic).unwrap();
    }
    (!wrong.is_empty()).then_some(wrong)
}

#[test]
fn a_destination_may_be_the_register_of_a_source() {
    let (mut wrong, mut tried) = (String::new(), 0);
    for form in Opcode::all().flat_map(Opcode::forms) {
        let mut seen = std::collections::HashSet::new();
        for sample in pairs_of_form(form, Target::sm(50)) {
            if !seen.insert((sample.mnemonic, sample.operands.len())) {
                continue;
            }
            let resolved = forms(&sample.mnemonic).find(|i| std::ptr::eq(i.form(), sample.form));
            let resolved = resolved.and_then(|i| i.with_operand_count(sample.operands.len())).unwrap();
            let Some(plan) = plan(&resolved, &Written::default()) else { continue };
            // Sources of equal widths as the destination's are what there is to try.
            if plan.destinations().iter().any(|d| plan.sources().contains(d)) {
                tried += 1;
                wrong.extend(run(&sample, &plan));
            }
        }
    }
    assert!(tried > 1000, "only {tried} instructions were tried");
    assert!(wrong.is_empty(), "{wrong}");
}
