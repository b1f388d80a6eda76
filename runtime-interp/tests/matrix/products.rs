//! Products whose values are known: small integers, whose sums every format holds exactly.

use super::{levels, load};
use warpsmith_interp::{Architecture, Arithmetic, Fault, Launch};

/// A kernel for one warp with three pointers, `%a %b %out`, `%lane` and `%g`, `%t` of the manual's figures.
fn kernel(target: &str, registers: &str, body: &str) -> String {
    format!(
        ".version 9.0 .target {target} .address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out) {{
.reg .b64 %a, %b, %out, %p; .reg .b32 %lane, %g, %t, %i, %j; .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .pred %q; {registers}
ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %out, [out];
mov.u32 %lane, %tid.x; shr.u32 %g, %lane, 2; and.b32 %t, %lane, 3;
{body}
ret; }}"
    )
}

fn half(value: i32) -> u16 {
    // Small integers: the exponent is that of their highest bit.
    if value == 0 {
        return 0;
    }
    let (sign, magnitude) = (u16::from(value < 0) << 15, value.unsigned_abs());
    let top = 31 - magnitude.leading_zeros();
    sign | ((top + 15) << 10) as u16 | ((magnitude << (10 - top)) & 0x3ff) as u16
}

/// Row-major matrices of small integers.
pub fn matrices(m: usize, n: usize, k: usize) -> (Vec<i32>, Vec<i32>, Vec<i32>) {
    let number = |i: usize, factor: usize| (i * factor % 13) as i32 - 6;
    let a: Vec<i32> = (0..m * k).map(|i| number(i, 5)).collect();
    let b: Vec<i32> = (0..k * n).map(|i| number(i, 7)).collect();
    let sum = |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
    let d = (0..m * n).map(|at| sum(at / n, at % n)).collect();
    (a, b, d)
}

pub fn run(source: &str, a: &[u8], b: &[u8], out: usize, launch: Launch) -> Result<Vec<u32>, Fault> {
    let program = load(source);
    let mut device = levels::device();
    let (a, b) = (device.upload(a)?, device.upload(b)?);
    let result = device.upload(&vec![0u32; out])?;
    device.launch(&program, &launch.arg(a).arg(b).arg(result))?;
    device.download(result)
}

fn warp() -> Launch {
    Launch::new("k").block([32, 1, 1])
}

pub fn halves(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| half(*v).to_le_bytes()).collect()
}

/// `mma.m16n8k16` with fragments loaded as the figures of 9.7.14.5.8 draw them, element by element.
fn m16n8k16(target: &str) -> String {
    let mut body = String::new();
    // A row by row, 16 halves each; a0 to a7 in pairs.
    for (register, (row, column)) in [(0, 0), (8, 0), (0, 8), (8, 8)].into_iter().enumerate() {
        body += &format!(
            "add.u32 %i, %g, {row}; mul.lo.u32 %i, %i, 32; shl.b32 %j, %t, 2; add.u32 %i, %i, %j; cvt.u64.u32 %p, %i;
             add.u64 %p, %p, %a; ld.global.b32 %r{register}, [%p+{}];\n",
            2 * column
        );
    }
    // B row by row, 8 halves each: pairs are of one column.
    for (register, row) in [(4, 0), (5, 8)] {
        body += &format!(
            "shl.b32 %i, %t, 1; add.u32 %i, %i, {row}; mul.lo.u32 %i, %i, 16; shl.b32 %j, %g, 1; add.u32 %i, %i, %j;
             cvt.u64.u32 %p, %i; add.u64 %p, %p, %b; .reg .b16 %h{register}, %k{register};
             ld.global.b16 %h{register}, [%p]; ld.global.b16 %k{register}, [%p+16]; mov.b32 %r{register}, {{%h{register}, %k{register}}};\n"
        );
    }
    body += "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f4,%f5,%f6,%f7};
             mul.lo.u32 %i, %g, 32; shl.b32 %j, %t, 3; add.u32 %i, %i, %j; cvt.u64.u32 %p, %i; add.u64 %p, %p, %out;
             st.global.v2.f32 [%p], {%f0, %f1}; st.global.v2.f32 [%p+256], {%f2, %f3};\n";
    kernel(
        target,
        "",
        &format!("mov.f32 %f4, 0f3F000000; mov.f32 %f5, %f4; mov.f32 %f6, %f4; mov.f32 %f7, %f4;\n{body}"),
    )
}

fn floats(values: &[i32], plus: f32) -> Vec<u32> {
    values.iter().map(|v| (*v as f32 + plus).to_bits()).collect()
}

#[test]
fn fragments_lie_where_the_manual_draws_them() {
    let (a, b, d) = matrices(16, 8, 16);
    for target in ["sm_80", "sm_89", "sm_90", "sm_120"] {
        let found = run(&m16n8k16(target), &halves(&a), &halves(&b), 128, warp()).unwrap();
        assert_eq!(found, floats(&d, 0.5), "{target}");
    }
}

#[test]
fn wmma_multiplies_what_it_loads_and_stores_it() {
    for (shape, m, n) in [("m16n16k16", 16, 16), ("m8n32k16", 8, 32), ("m32n8k16", 32, 8)] {
        let (a, b, d) = matrices(m, n, 16);
        for (of_a, of_b, of_d) in
            [("row", "row", "row"), ("col", "col", "col"), ("row", "col", "row"), ("col", "row", "col")]
        {
            // What is given in columns is the transposed matrix.
            let turned = |values: &[i32], rows: usize, layout: &str| -> Vec<i32> {
                let columns = values.len() / rows;
                let element = |at: usize| match layout {
                    "row" => values[at],
                    _ => values[at % rows * columns + at / rows],
                };
                (0..values.len()).map(element).collect()
            };
            let regs =
                |first: usize| (first..first + 8).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(",");
            let floats8 = (0..8).map(|i| format!("%f{i}")).collect::<Vec<_>>().join(",");
            let zeros: String = (0..8).map(|i| format!("mov.f32 %f{i}, 0f00000000;")).collect();
            let lda = if of_a == "row" { 16 } else { m };
            let ldd = if of_d == "row" { n } else { m };
            // One stride as a constant, one in a register, one left out.
            let body = format!(
                "{zeros} mov.u32 %i, {ldd};
                 wmma.load.a.sync.aligned.{of_a}.{shape}.global.f16 {{{}}}, [%a], {lda};
                 wmma.load.b.sync.aligned.{of_b}.{shape}.f16 {{{}}}, [%b];
                 wmma.mma.sync.aligned.{of_a}.{of_b}.{shape}.f32.f32 {{{floats8}}}, {{{}}}, {{{}}}, {{{floats8}}};
                 wmma.store.d.sync.aligned.{of_d}.{shape}.global.f32 [%out], {{{floats8}}}, %i;",
                regs(0), regs(8), regs(0), regs(8)
            );
            let source = kernel("sm_75", "", &body);
            let (a, b) = (turned(&a, m, of_a), turned(&b, 16, of_b));
            let found = run(&source, &halves(&a), &halves(&b), m * n, warp()).unwrap();
            assert_eq!(found, floats(&turned(&d, m, of_d), 0.0), "{shape} {of_a} {of_b} {of_d}");
        }
    }
}

#[test]
fn a_sparse_product_meets_the_kept_rows() {
    // A' has 16 x 8 kept elements, and the metadata say that chunk after chunk keeps columns 1 and 3 of four.
    let (kept, b, _) = matrices(16, 8, 16);
    let kept: Vec<i32> = (0..128).map(|at| kept[at / 8 * 16 + at % 8]).collect();
    let mut d = vec![0; 128];
    for (at, d) in d.iter_mut().enumerate() {
        let (row, column) = (at / 8, at % 8);
        *d = (0..8).map(|i| kept[row * 8 + i] * b[(i / 2 * 4 + [1, 3][i % 2]) * 8 + column]).sum();
    }
    let text = m16n8k16("sm_80")
        .replace("mul.lo.u32 %i, %i, 32; shl.b32 %j, %t, 2", "mul.lo.u32 %i, %i, 16; shl.b32 %j, %t, 2")
        .replace(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f4,%f5,%f6,%f7};",
            "mov.u32 %r9, 0xdddddddd;
             mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r4,%r5}, {%f4,%f5,%f6,%f7}, %r9, 0x0;",
        );
    let found = run(&text, &[halves(&kept), vec![0; 256]].concat(), &halves(&b), 128, warp()).unwrap();
    assert_eq!(found, floats(&d, 0.5));
    let fault =
        run(&text.replace("0xdddddddd", "0xdddd5ddd"), &[0; 512], &halves(&b), 128, warp()).unwrap_err();
    assert!(fault.message.contains("bits 15:12 of the sparsity metadata are 0b0101"), "{fault}");
}

#[test]
fn architectures_differ_in_what_they_drop() {
    // Sixteen products of 1 on top of 2^24, whose last place is 2.
    let one: Vec<u8> = halves(&[1; 256]);
    let text = |target: &str| m16n8k16(target).replace("0f3F000000", "0f4B800000");
    let first = |launch: Launch, target: &str| {
        f32::from_bits(run(&text(target), &one, &one[..256], 128, launch).unwrap()[0]) as u32
    };
    let base = 1 << 24;
    assert_eq!(first(warp(), "sm_80"), base + 16);
    assert_eq!(first(warp(), "sm_90"), base + 16);
    // Halves stand at bit -25 of 2^24: Hopper keeps them, Ampere does not. Quarters are lost on both.
    let part = |bits: u16, launch: Launch| {
        let a = bits.to_le_bytes().repeat(256);
        f32::from_bits(run(&text("sm_90"), &a, &one[..256], 128, launch).unwrap()[0]) as u32
    };
    let (half, quarter) = (0x3800, 0x3400);
    let ampere = || warp().arithmetic(Arithmetic::Hardware(Architecture::Ampere));
    assert_eq!([part(half, warp()), part(half, ampere())], [base + 8, base]);
    let quarter = |launch: Launch| part(quarter, launch);
    assert_eq!(quarter(warp()), base);
    assert_eq!(quarter(ampere()), base);
    assert_eq!(quarter(warp().arithmetic(Arithmetic::Ideal)), base + 4);
}

#[test]
fn lanes_come_together_or_it_is_a_fault() {
    let (a, b, d) = matrices(16, 8, 16);
    let text = m16n8k16("sm_80");
    // Lanes that took different ways meet again.
    let split = text.replace("mma.sync", "setp.lt.u32 %q, %lane, 7; @%q bra L; mov.u32 %r20, 1; L: mma.sync");
    let found = run(&split, &halves(&a), &halves(&b), 128, warp()).unwrap();
    assert_eq!(found, floats(&d, 0.5));
    let gone = text.replace("mma.sync", "setp.eq.u32 %q, %lane, 7; @%q exit; mma.sync");
    let fault = run(&gone, &halves(&a), &halves(&b), 128, warp()).unwrap_err();
    assert!(fault.message.contains("lane 7 has exited"), "{fault}");
    let guarded = text.replace("mma.sync", "setp.ne.u32 %q, %lane, 3; @%q mma.sync");
    let fault = run(&guarded, &halves(&a), &halves(&b), 128, warp()).unwrap_err();
    assert!(fault.message.contains("lane 3 does not, by its predicate"), "{fault}");
    let fault = run(&text, &halves(&a), &halves(&b), 128, Launch::new("k").block([20, 1, 1])).unwrap_err();
    assert!(fault.message.contains("no such thread"), "{fault}");
}
