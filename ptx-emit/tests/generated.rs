//! Random modules compile: at every level, for targets old and new, with both ways to assign registers, to text that the
//! validator takes; what the passes leave is verified after each of them, and every register assignment is checked.

use arbitrary::Unstructured;
use warpsmith_diag::Diagnostics;
use warpsmith_emit::regs::{Registers, assign, check};
use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_ir as ir;
use warpsmith_isa::Target;
use warpsmith_smith::ir::{self as generate, Config};

fn render(errors: Diagnostics) -> String {
    errors.iter().map(|error| format!("{error} {:?}\n", error.notes)).collect()
}

fn compiles(module: &ir::Module, target: Target) {
    for level in OptLevel::ALL {
        for registers in [Registers::Virtual, Registers::Allocated, Registers::Local, Registers::Joined] {
            let compiler = Compiler::new(target)
                .with_opt_level(level)
                .with_registers(registers)
                .with_verify_each(registers == Registers::Virtual);
            if let Err(errors) = compiler.compile(module) {
                panic!("{target} {level} {registers:?}:\n{}\n{module}", render(errors));
            }
        }
    }
}

fn property(targets: &'static [u16], config: &Config) {
    arbtest::arbtest(|u: &mut Unstructured| {
        let target = Target::sm(*u.choose(targets)?);
        // A module may name an older target than it is compiled for; without one, what the oldest lacks would be made.
        let named = if u.ratio(1, 2)? { target } else { Target::sm(targets[0]) };
        let mut config = config.clone();
        config.target = Some(named);
        compiles(&generate::module(u, &config)?, target);
        Ok(())
    });
}

#[test]
fn modules_compile_for_every_generation() {
    // Without the table-derived operations, which not every target has, and bf16, whose fma begins at sm_80.
    let mut config = Config::default();
    (config.ptx, config.halves) = (false, false);
    property(&[30, 50, 61, 70, 75, 80, 86, 90, 100, 120], &config);
}

#[test]
fn modules_with_everything_compile_for_new_targets() {
    property(&[80, 89, 90, 100, 120], &Config::default());
}

#[test]
fn assignments_never_lose_a_value() {
    arbtest::arbtest(|u: &mut Unstructured| {
        let module = generate::module(u, &Config::default())?;
        let module = warpsmith_lower::legalize(std::borrow::Cow::Borrowed(&module), Target::sm(90))
            .map_err(render)
            .expect("valid modules are legalised");
        let code = warpsmith_lower::select(&module, Target::sm(90))
            .map_err(render)
            .expect("valid modules are selected");
        for function in &code.functions {
            for registers in [Registers::Virtual, Registers::Allocated, Registers::Local, Registers::Joined] {
                let assignment = assign(function, registers)
                    .unwrap_or_else(|unwritten| panic!("{registers:?}: {unwritten}\n{function}"));
                if let Err(conflict) = check(function, &assignment) {
                    panic!("{registers:?}: {conflict}\n{function}");
                }
            }
        }
        Ok(())
    });
}
