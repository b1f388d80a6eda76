//! The forms of `tcgen05.mma` beyond the plain one: scales of blocks, a sparse A, `.ws`, pairs of blocks, `.ashift`. Matrices, metadata and scales are
//! laid out by formulas of the test's own (PTX ISA 9.0, 9.7.16.10.5 to 9.7.16.10.8).

mod case;

use super::tensor_product::{BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, S8, TF32, Type, U8};
use super::{levels, load_for};
use case::Case;
use warpsmith_interp::{FaultCode, Launch};

/// A case of each kind: the plain ones and those with scales.
fn kinds() -> Vec<Case> {
    let scaled = |kind, types, k, scales, ids| Case {
        scales: Some(scales),
        ids,
        ..Case::new(kind, types, 1, [128, 64, k])
    };
    const NIBBLE: Type = Type(1, E2M1.1, E2M1.2);
    vec![
        Case::new("f16", [F16; 2], 1, [128, 64, 16]),
        Case::new("f16", [F16; 2], 0, [128, 64, 16]),
        Case::new("f16", [BF16; 2], 1, [128, 64, 16]),
        Case::new("tf32", [TF32; 2], 1, [128, 64, 8]),
        Case::new("f8f6f4", [E4M3, E5M2], 1, [128, 64, 32]),
        Case::new("f8f6f4", [E2M1, E3M2], 1, [128, 64, 32]),
        Case::new("i8", [S8, U8], 2, [128, 64, 32]),
        scaled("mxf8f6f4.block_scale", [E4M3, E5M2], 32, (1, 1), [0, 0]),
        scaled("mxf8f6f4.block_scale.scale_vec::1X", [E2M3, E2M1], 32, (1, 1), [3, 1]),
        scaled("mxf4.block_scale.block32", [NIBBLE; 2], 64, (2, 1), [2, 0]),
        scaled("mxf4nvf4.block_scale.scale_vec::2X", [NIBBLE; 2], 64, (2, 1), [0, 2]),
        scaled("mxf4nvf4.block_scale.block16", [NIBBLE; 2], 64, (4, 0), [0, 0]),
        scaled("mxf4nvf4.block_scale.scale_vec::4X", [NIBBLE; 2], 64, (4, 1), [0, 0]),
    ]
}

#[test]
fn scales_multiply_their_blocks() {
    for case in kinds().into_iter().filter(|case| case.scales.is_some()) {
        case.check();
        Case { in_cells: true, shape: [128, 40, case.shape[2]], ..case }.check();
        Case { accumulates: false, shape: [128, 256, case.shape[2]], ..case }.check();
    }
    // Three and six scales a row.
    const NIBBLE: Type = Type(1, E2M1.1, E2M1.2);
    let long = |kind, scales, ids| Case {
        scales: Some(scales),
        ids,
        ..Case::new(kind, [NIBBLE; 2], 1, [128, 64, 96])
    };
    for id in 0..4 {
        long("mxf4.block_scale.block32", (3, 1), [id, 3 - id]).check();
    }
    long("mxf4nvf4.block_scale.block16", (6, 0), [0, 2]).check();
    Case { in_cells: true, ..long("mxf4nvf4.block_scale.block16", (6, 1), [2, 0]) }.check();
}

#[test]
fn sparse_matrices_meet_the_rows_that_their_metadata_names() {
    for case in kinds() {
        let case = Case { sparse: true, ..case };
        case.check();
        Case { in_cells: true, ..case }.check();
        if case.scales.is_none() {
            Case { shape: [64, 24, case.shape[2]], ..case }.check();
        }
        if case.types[0].1 >= 16 {
            Case { selector: 3, ..case }.check();
        }
    }
}

#[test]
fn b_stays_and_columns_of_it_count_as_zero() {
    let mask = 2 << 40 | 4 << 48 | 1 << 39;
    for case in kinds().into_iter().filter(|case| case.scales.is_none()) {
        for m in [32, 64, 128] {
            let k = case.shape[2];
            let case = Case { stationary: true, shape: [m, 64, k], ..case };
            case.check();
            Case { in_cells: true, shape: [m, 128, k], ..case }.check();
            Case { sparse: true, ..case }.check();
            Case { sparse: true, in_cells: true, ..case }.check();
            Case { zero: Some(mask | 5 << 32 | 0x0201_0003), ..case }.check();
            Case { zero: Some(mask | 2 << 56 | 2 << 32), ..case }.check();
            Case { zero: Some(1 << 56), ..case }.check();
        }
    }
}

#[test]
fn two_blocks_multiply_together() {
    for case in kinds() {
        let pair = Case { pair: true, shape: [256, 64, case.shape[2]], ..case };
        pair.check();
        Case { in_cells: true, ..pair }.check();
        Case { sparse: true, ..pair }.check();
        if !case.is_tight() {
            let small = Case { shape: [128, 64, case.shape[2]], ..pair };
            Case { sparse: true, ..small }.check();
            Case { sparse: true, in_cells: true, ..small }.check();
        }
        let small = Case { shape: [128, 64, case.shape[2]], ..pair };
        small.check();
        Case { in_cells: true, ..small }.check();
        if case.scales.is_none() {
            Case { disabled: true, ..pair }.check();
            Case { disabled: true, ..small }.check();
        }
    }
}

#[test]
fn rows_move_down_and_d_is_scaled() {
    for case in kinds().into_iter().filter(|case| case.scales.is_none()) {
        let case = Case { in_cells: true, ..case };
        Case { shifted: true, ..case }.check();
        Case { shifted: true, pair: true, shape: [256, 64, case.shape[2]], ..case }.check();
        if case.types[0].1 >= 16 {
            for halvings in [0, 1, 3, 15] {
                if case.of_d == 1 || halvings < 4 {
                    Case { halvings: Some(halvings), in_cells: false, ..case }.check();
                }
            }
        }
    }
}

/// Products are made when they are, whatever the schedule.
#[test]
fn schedules_change_nothing() {
    let sparse = Case { sparse: true, ..kinds()[0] };
    let pair = Case { pair: true, shape: [256, 64, 64], ..kinds()[9] };
    for seed in 0..6 {
        for case in [sparse, pair] {
            assert_eq!(case.run(|l| l.seed(seed)).unwrap(), case.expected(), "seed {seed}");
        }
    }
}

#[test]
fn what_is_illegal_is_a_fault_that_names_it() {
    let is = |case: Case, code: FaultCode, part: &str| {
        let fault = case.run(|l| l).unwrap_err();
        assert!(fault.code == code && fault.message.contains(part), "{part}: {fault}");
        assert!(fault.ptx_line.is_some() && fault.thread.is_some(), "{fault}");
    };
    let (cells, operand) = (FaultCode::BadTensorMemory, FaultCode::BadOperand);
    let kinds = kinds();
    let (plain, scaled) = (kinds[0], kinds[9]);
    is(Case { flip: 1 << 29, ..scaled }, cells, "A's scale ID (bits 30:29) is 3");
    is(Case { flip: 1 << 23, ..scaled }, cells, "type of the scales (bit 23)");
    is(Case { sparse: true, flip: 1 << 2, ..plain }, cells, "sparsity (bit 2) is 0");
    is(Case { pair: true, ..plain }.flipped(12 << 24), cells, "M (bits 28:24, in sixteens) is 64");
    let stationary = Case { stationary: true, ..plain };
    is(Case { shape: [128, 96, 16], ..stationary }, cells, "with `.ws` it must be one of");
    is(Case { zero: Some(1 << 36), ..stationary }, operand, "the zero-column mask descriptor");
    is(Case { zero: Some(40 << 56), ..stationary }, operand, "column shift (bits 61:56) is 40");
    // Metadata that names an element twice: every nibble is 0.
    let sparse = Case { sparse: true, ..plain };
    is(Case { selector: 1, flip: 1, ..sparse }, operand, "sparsity metadata at lane 0 and column 272");
    // A block without its peer.
    let text = Case { pair: true, shape: [256, 64, 16], ..plain }.text();
    let text = text.replace(".multicast::cluster.b64 [%r22], %rs1", ".b64 [%r22]");
    let program = load_for("sm_100a", &text);
    let mut device = levels::device();
    let buffer = device.upload(&vec![0u8; 1 << 19]).unwrap();
    let mut launch = Launch::new("k").block([128, 1, 1]);
    launch.args.extend([buffer.into(), buffer.into(), buffer.into()]);
    let fault = device.launch(&program, &launch).unwrap_err();
    assert!(fault.message.contains("needs block 1 of a cluster of 1"), "{fault}");
}
