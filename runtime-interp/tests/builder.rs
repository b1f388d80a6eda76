//! What the helpers of `FunctionBuilder` build does what their names say, on the IR's own meaning.

use warpsmith_interp::{Device, Launch, Program};
use warpsmith_ir::{
    FuncKind, Function, FunctionBuilder, InstBuilder, IntCC, MemFlags, Module, Param, Sreg, Type, Value,
    Variable,
};

/// Runs a kernel that computes an `i32` of the thread's number, for as many threads.
fn run(threads: u32, build: impl FnOnce(&mut FunctionBuilder<'_>, Value) -> Value) -> Vec<u32> {
    let mut module = Module::new();
    let id =
        module.add_function(Function::new("k", FuncKind::Kernel, vec![Param::new(Type::PTR_GLOBAL)], vec![]));
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let out = b.block_params(entry)[0];
    let i = b.ins().sreg(Sreg::TID_X);
    let result = build(&mut b, i);
    let place = b.ins().index(out, i, 4);
    b.ins().store(MemFlags::PLAIN, result, place, 0);
    b.ins().ret(&[]);
    b.finalize().unwrap_or_else(|errors| panic!("{errors}"));
    let program = Program::from_ir(&module).unwrap_or_else(|errors| panic!("{errors}\n{module}"));
    let mut device = Device::new();
    let out = device.upload(&vec![0u32; threads as usize]).unwrap();
    device.launch(&program, &Launch::new("k").block([threads, 1, 1]).arg(out)).unwrap();
    device.download(out).unwrap()
}

fn set(b: &mut FunctionBuilder<'_>, variable: Variable, value: i64) {
    let value = b.ins().iconst(Type::I32, value);
    b.def_var(variable, value);
}

fn add(b: &mut FunctionBuilder<'_>, variable: Variable, by: Value) {
    let old = b.use_var(variable);
    let new = b.ins().iadd(old, by);
    b.def_var(variable, new);
}

#[test]
fn loops_leave_and_go_on_where_they_should() {
    // The sum of the numbers below i that 3 does not divide, up to the first one that is 20 or more.
    let found = run(40, |b, i| {
        let (sum, n) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
        set(b, sum, 0);
        set(b, n, -1);
        let one = b.ins().iconst(Type::I32, 1);
        b.loop_(|b, head, end| {
            add(b, n, one);
            let at = b.use_var(n);
            let done = b.ins().icmp(IntCC::Sge, at, i);
            let large = b.ins().icmp_imm(IntCC::Sge, at, 20);
            let leave = b.ins().bor(done, large);
            b.if_(leave, |b| _ = b.ins().jump(end, &[]));
            let rest = b.ins().urem_imm(at, 3);
            let divides = b.ins().icmp_imm(IntCC::Eq, rest, 0);
            b.if_(divides, |b| _ = b.ins().jump(head, &[]));
            add(b, sum, at);
        });
        b.use_var(sum)
    });
    let meant: Vec<u32> = (0..40).map(|i| (0..i.min(20)).filter(|n| n % 3 != 0).sum()).collect();
    assert_eq!(found, meant);
}

#[test]
fn ranges_have_their_ends_and_steps() {
    let found = run(12, |b, i| {
        let (sum, n) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
        set(b, sum, 0);
        let from = b.ins().iconst(Type::I32, -3);
        b.for_range(n, from, i, 4, |b, at| {
            let odd = b.ins().band_imm(at, 1);
            let odd = b.ins().icmp_imm(IntCC::Ne, odd, 0);
            b.if_else(odd, |b| add(b, sum, at), |b| set(b, sum, 1000));
        });
        let last = b.use_var(n);
        add(b, sum, last);
        b.use_var(sum)
    });
    let meant: Vec<u32> = (0..12)
        .map(|i: i32| {
            let (mut n, mut sum) = (-3, 0);
            while n < i {
                sum = if n & 1 != 0 { sum + n } else { 1000 };
                n += 4;
            }
            (sum + n) as u32
        })
        .collect();
    assert_eq!(found, meant);
}

#[test]
fn a_switch_hands_on_arguments() {
    let found = run(6, |b, i| {
        let end = b.create_block();
        let result = b.append_block_param(end, Type::I32);
        let (ten, twenty) = (b.ins().iconst(Type::I32, 10), b.ins().iconst(Type::I32, 20));
        let four = b.create_block();
        b.switch(i, (end, &[i]), &[(1, end, &[ten]), (3, end, &[twenty]), (4, four, &[])]);
        b.seal_block(four);
        b.switch_to_block(four);
        let forty = b.ins().iconst(Type::I32, 40);
        b.ins().jump(end, &[forty]);
        b.seal_block(end);
        b.switch_to_block(end);
        result
    });
    assert_eq!(found, [0, 10, 2, 20, 40, 5]);
}

#[test]
fn variables_hold_structs() {
    // (a, b) = (b, a + b), i times: Fibonacci's numbers.
    let found = run(10, |b, i| {
        let pair = b.types().expect("the module can be added to").structure(&[Type::I32, Type::I32]);
        let (both, n) = (b.declare_var(pair), b.declare_var(Type::I32));
        let (zero, one) = (b.ins().iconst(Type::I32, 0), b.ins().iconst(Type::I32, 1));
        let first = b.ins().aggregate(pair, &[zero, one]);
        b.def_var(both, first);
        b.for_range(n, zero, i, 1, |b, _| {
            let old = b.use_var(both);
            let (x, y) = (b.extract_value(old, &[0]), b.extract_value(old, &[1]));
            let sum = b.ins().iadd(x, y);
            let new = b.ins().aggregate(pair, &[y, sum]);
            b.def_var(both, new);
        });
        let last = b.use_var(both);
        b.extract_value(last, &[0])
    });
    assert_eq!(found, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]);
}
