//! Building functions: `cargo bench -p warpsmith-ir --bench builder`.

use divan::Bencher;
use warpsmith_ir::{FuncKind, Function, FunctionBuilder, InstBuilder, Module, Param, Type};

fn main() {
    divan::main();
}

/// `count` `if`s with one variable, each of two blocks; `set`: whether the arm sets it.
fn ifs(count: usize, set: bool) -> Module {
    let mut module = Module::new();
    let params = vec![Param::new(Type::I1)];
    let id = module.add_function(Function::new("f", FuncKind::Func, params, vec![Type::I32]));
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let cond = b.block_params(entry)[0];
    let x = b.declare_var(Type::I32);
    let first = b.ins().iconst(Type::I32, 7);
    b.def_var(x, first);
    for _ in 0..count {
        let (then, join) = (b.create_block(), b.create_block());
        b.ins().brif(cond, then, &[], join, &[]);
        b.switch_to_block(then);
        if set {
            let at = b.use_var(x);
            let next = b.ins().iadd_imm(at, 1);
            b.def_var(x, next);
        }
        b.ins().jump(join, &[]);
        b.switch_to_block(join);
    }
    let x = b.use_var(x);
    b.ins().ret(&[x]);
    b.finalize().expect("the builder is used as it should be");
    module
}

/// 100,001 blocks, sealed at the end only.
#[divan::bench(args = [false, true])]
fn blocks(bencher: Bencher, set: bool) {
    bencher.bench(|| ifs(50_000, set));
}

/// A million instructions in one block.
#[divan::bench]
fn instructions() -> Module {
    let mut module = Module::new();
    let params = vec![Param::new(Type::I32)];
    let id = module.add_function(Function::new("f", FuncKind::Func, params, vec![Type::I32]));
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let (mut x, n) = (b.block_params(entry)[0], b.block_params(entry)[0]);
    for _ in 0..1_000_000 {
        x = b.ins().iadd(x, n);
    }
    b.ins().ret(&[x]);
    b.finalize().expect("the builder is used as it should be");
    module
}
