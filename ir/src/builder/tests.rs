//! Functions that are built: what becomes of variables, of long chains, of wrong use.

use super::*;
use crate::function::{FuncKind, Param};
use crate::ops::IntCC;
use crate::verify::verify;
use expect_test::expect;

fn function(params: &[Type], ret: &[Type]) -> (Module, FuncId) {
    let mut module = Module::new();
    let params = params.iter().map(|ty| Param::new(*ty)).collect();
    let id = module.add_function(Function::new("f", FuncKind::Func, params, ret.to_vec()));
    (module, id)
}

#[test]
fn a_loop_gets_parameters_for_what_changes_only() {
    let (mut module, id) = function(&[Type::I32, Type::I32], &[Type::I32]);
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let (head, body, done) = (b.create_block(), b.create_block(), b.create_block());
    let (n, step) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    let (i, fixed) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
    let zero = b.ins().iconst(Type::I32, 0);
    b.def_var(i, zero);
    b.def_var(fixed, step);
    b.ins().jump(head, &[]);
    b.switch_to_block(head);
    let at = b.use_var(i);
    let more = b.ins().icmp(IntCC::Slt, at, n);
    b.ins().brif(more, body, &[], done, &[]);
    b.switch_to_block(body);
    let (at, by) = (b.use_var(i), b.use_var(fixed));
    let next = b.ins().iadd(at, by);
    b.def_var(i, next);
    b.ins().jump(head, &[]);
    b.switch_to_block(done);
    let (last, by) = (b.use_var(i), b.use_var(fixed));
    let result = b.ins().imul(last, by);
    b.ins().ret(&[result]);
    b.finalize().unwrap();
    verify(&module).unwrap();
    expect![[r#"
        func @f(%v0: i32, %v1: i32) -> i32 {
        block0:
          %v2 = iconst.i32 0
          jump block1(%v2)
        block1(%v3: i32):
          %v4 = icmp slt %v3, %v0
          brif %v4, block2, block3
        block2:
          %v7 = iadd %v3, %v1
          jump block1(%v7)
        block3:
          %v10 = imul %v3, %v1
          ret %v10
        }
    "#]]
    .assert_eq(&module.to_string());
}

#[test]
fn undefined_variables_are_zero() {
    let (mut module, id) = function(&[Type::I1], &[Type::PTR_GLOBAL]);
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let cond = b.block_params(entry)[0];
    let (x, p) = (b.declare_var(Type::F32), b.declare_var(Type::PTR_GLOBAL));
    let (then, join) = (b.create_block(), b.create_block());
    b.ins().brif(cond, then, &[], join, &[]);
    b.seal_block(then);
    b.switch_to_block(then);
    let one = b.ins().f32const(1.0);
    b.def_var(x, one);
    b.ins().jump(join, &[]);
    b.seal_block(join);
    b.switch_to_block(join);
    let x = b.use_var(x);
    b.set_name(x, "x");
    let p = b.use_var(p);
    b.ins().ret(&[p]);
    b.finalize().unwrap();
    verify(&module).unwrap();
    expect![[r#"
        func @f(%v0: i1) -> ptr<global> {
        block0:
          %v5 = iconst.i64 0
          %v6 = inttoptr.ptr<global> %v5
          %v3 = fconst.f32 0.0
          brif %v0, block1, block2(%v3)
        block1:
          %v1 = fconst.f32 1.0
          jump block2(%v1)
        block2(%x: f32):
          ret %v6
        }
    "#]]
    .assert_eq(&module.to_string());
}

#[test]
fn long_chains_and_unreachable_loops_do_not_recurse() {
    let (mut module, id) = function(&[], &[Type::I32]);
    let mut b = FunctionBuilder::new(&mut module, id);
    b.entry_block();
    let x = b.declare_var(Type::I32);
    let value = b.ins().iconst(Type::I32, 7);
    b.def_var(x, value);
    for _ in 0..100_000 {
        let next = b.create_block();
        b.ins().jump(next, &[]);
        b.seal_block(next);
        b.switch_to_block(next);
    }
    let found = b.use_var(x);
    assert_eq!(found, value);
    b.ins().ret(&[found]);
    let lonely = b.create_block();
    b.switch_to_block(lonely);
    b.ins().jump(lonely, &[]);
    b.seal_block(lonely);
    b.finalize().unwrap();
    verify(&module).unwrap();
}

/// One variable, set in some arms of many `if`s, nothing sealed before the end: the worst order for what is redundant.
fn ifs(count: usize, set: impl Fn(usize) -> bool) -> (Module, std::time::Duration) {
    let (mut module, id) = function(&[Type::I1], &[Type::I32]);
    let start = std::time::Instant::now();
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let cond = b.block_params(entry)[0];
    let x = b.declare_var(Type::I32);
    let first = b.ins().iconst(Type::I32, 7);
    b.def_var(x, first);
    for n in 0..count {
        let (then, join) = (b.create_block(), b.create_block());
        b.ins().brif(cond, then, &[], join, &[]);
        b.switch_to_block(then);
        if set(n) {
            let at = b.use_var(x);
            let next = b.ins().iadd_imm(at, 1);
            b.def_var(x, next);
        }
        b.ins().jump(join, &[]);
        b.switch_to_block(join);
    }
    let x = b.use_var(x);
    b.ins().ret(&[x]);
    b.finalize().unwrap();
    (module, start.elapsed())
}

#[test]
fn time_is_linear_in_the_blocks() {
    for set in [|_| false, |_| true, |n| n % 3 == 0, |n| n == 0] {
        let (module, time) = ifs(50_000, set);
        verify(&module).unwrap();
        // A quadratic builder takes minutes, a cubic one days.
        assert!(time.as_secs() < 20, "{time:?}");
        let func = &module.functions[FuncId::from_u32(0)];
        let params: usize =
            func.layout.blocks().skip(1).map(|block| func.dfg.block_params(block).len()).sum();
        assert_eq!(params, (0..50_000).filter(|n| set(*n)).count());
    }
}

#[test]
fn a_variable_read_before_it_is_set_is_known_with_its_place() {
    let (mut module, id) = function(&[Type::I1], &[Type::I32]);
    let file = module.files.push("k.dsl".into());
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let cond = b.block_params(entry)[0];
    let (x, y) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
    b.if_(cond, |b| {
        let one = b.ins().iconst(Type::I32, 1);
        b.def_var(x, one);
        b.def_var(y, one);
        b.use_var(y);
    });
    let loc = LocData { file, line: 4, column: 2, scope: None };
    b.set_loc(Some(loc));
    let x_here = b.use_var(x);
    b.set_loc(Some(LocData { line: 5, ..loc }));
    b.use_var(x);
    b.ins().ret(&[x_here]);
    let unset = b.finalize_checked().unwrap();
    assert_eq!(unset, [ReadBeforeSet { variable: x, loc: Some(loc) }]);
}

#[test]
fn misuse_is_reported() {
    let (mut module, id) = function(&[Type::I32], &[]);
    let mut b = FunctionBuilder::new(&mut module, id);
    let x = b.declare_var(Type::F32);
    b.use_var(x);
    let entry = b.entry_block();
    let n = b.block_params(entry)[0];
    b.def_var(x, n);
    let next = b.create_block();
    b.seal_block(next);
    b.ins().jump(next, &[]);
    b.ins().trap();
    let errors: Vec<String> = b.finalize().unwrap_err().iter().map(|e| e.to_string()).collect();
    expect![[r#"
        error[I0032]: @f: var0 is used before any block was switched to
        error[I0034]: @f: var0 is of type f32 and cannot take v1 of type i32
        error[I0033]: @f: block0 branches to block1, which is sealed
        error[I0031]: @f: `trap` behind the terminator of block0"#]]
    .assert_eq(&errors.join("\n"));
}
