//! Bytes of PTX per second through the parser, the validator and the printer, and the memory they take.
//!
//! The text looks like what compilers emit: functions of a few hundred instructions on parameterised registers, calls in
//! scopes of their own, tables of bytes, `.loc` lines.

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher};
use std::fmt::Write;
use std::sync::LazyLock;
use warpsmith_ptx::{parse, print, validate};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

const BYTES: usize = 30_000_000;

static TEXT: LazyLock<String> = LazyLock::new(|| synthetic(BYTES));

fn main() {
    let text = &*TEXT;
    let findings = validate(&parse(text).module);
    assert!(parse(text).diagnostics.is_empty() && findings.is_empty(), "{:?}", findings.first());
    divan::main();
}

fn synthetic(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100_000);
    text.push_str(".version 8.0\n.target sm_80\n.address_size 64\n\n.file 1 \"kernel.cu\"\n");
    text.push_str(".visible .func (.param .b32 result) helper(.param .b64 pointer, .param .b32 count);\n");
    let mut function = 0;
    while text.len() < bytes {
        let done = write_function(&mut text, function);
        done.expect("a string takes everything");
        function += 1;
    }
    text
}

fn write_function(text: &mut String, n: usize) -> std::fmt::Result {
    write!(text, ".global .align 4 .b8 table_{n}[256] = {{")?;
    for i in 0..256 {
        write!(text, "{}{}", if i == 0 { "" } else { ", " }, (i * 7 + n) % 256)?;
    }
    writeln!(text, "}};\n.visible .entry kernel_{n}(")?;
    writeln!(text, "\t.param .u64 kernel_{n}_param_0,\n\t.param .u32 kernel_{n}_param_1\n)\n{{")?;
    writeln!(
        text,
        "\t.reg .pred \t%p<40>;\n\t.reg .b32 \t%r<400>;\n\t.reg .f32 \t%f<400>;\n\t.reg .b64 \t%rd<400>;\n"
    )?;
    writeln!(
        text,
        "\tld.param.u64 \t%rd1, [kernel_{n}_param_0];\n\tld.param.u32 \t%r1, [kernel_{n}_param_1];"
    )?;
    writeln!(text, "\tcvta.to.global.u64 \t%rd2, %rd1;\n\tmov.u32 \t%r2, %tid.x;")?;
    for i in 0..30 {
        let (a, b, c) = (i * 11 + 3, i * 11 + 4, i * 11 + 5);
        writeln!(text, "$L__BB{n}_{i}:\n\t.loc 1 {} 9", i + 10)?;
        writeln!(text, "\tsetp.ge.s32 \t%p{i}, %r{a}, %r1;\n\t@%p{i} bra \t$L__BB{n}_30;")?;
        writeln!(text, "\tmul.wide.s32 \t%rd{a}, %r2, 4;\n\tadd.s64 \t%rd{b}, %rd2, %rd{a};")?;
        writeln!(text, "\tld.global.f32 \t%f{a}, [%rd{b}+{}];\n\tld.global.f32 \t%f{b}, [%rd{b}];", i * 4)?;
        writeln!(text, "\tfma.rn.f32 \t%f{c}, %f{a}, %f{b}, 0f3F800000;\n\tadd.f32 \t%f{a}, %f{c}, %f{b};")?;
        writeln!(
            text,
            "\tst.global.f32 \t[%rd{b}], %f{c};\n\tadd.s32 \t%r{b}, %r{a}, 1;\n\tshl.b32 \t%r{c}, %r{b}, 2;"
        )?;
        writeln!(text, "\tand.b32 \t%r{a}, %r{c}, -4;\n\txor.b32 \t%r{b}, %r{a}, %r{c};")?;
        if i % 10 == 0 {
            writeln!(
                text,
                "\t{{\n\t.reg .b32 temp_param_reg;\n\t.param .b64 param0;\n\tst.param.b64 \t[param0+0], %rd{b};"
            )?;
            writeln!(
                text,
                "\t.param .b32 param1;\n\tst.param.b32 \t[param1+0], %r{a};\n\t.param .b32 retval0;"
            )?;
            writeln!(text, "\tcall.uni (retval0), \n\thelper, \n\t(\n\tparam0, \n\tparam1\n\t);")?;
            writeln!(text, "\tld.param.b32 \t%r{a}, [retval0+0];\n\t}}")?;
        }
        writeln!(text, "\tbra.uni \t$L__BB{n}_{};", i + 1)?;
    }
    writeln!(text, "$L__BB{n}_30:\n\tret;\n}}\n")
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn parsing(bencher: Bencher) {
    bencher.counter(BytesCount::of_str(&*TEXT)).bench(|| parse(&*TEXT));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn parsing_and_validating(bencher: Bencher) {
    bencher.counter(BytesCount::of_str(&*TEXT)).bench(|| validate(&parse(&*TEXT).module));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn printing(bencher: Bencher) {
    let module = parse(&*TEXT).module;
    bencher.counter(BytesCount::of_str(&*TEXT)).bench(|| print(&module));
}
