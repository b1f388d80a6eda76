//! What CUDA says beyond C reaches the IR and the PTX.

use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

fn imported(bytes: &[u8], kernel: &str) -> warpsmith_ir::Module {
    let module = Module::read(bytes).expect("a module");
    let options = Options::new().with_target(Target::sm(80)).with_exports(vec![kernel.to_owned()]);
    import(vec![(kernel.to_owned(), module)], &options)
        .unwrap_or_else(|errors| panic!("{}", errors.iter().map(ToString::to_string).collect::<String>()))
}

fn ptx(module: &warpsmith_ir::Module) -> String {
    let compiled = Compiler::new(Target::sm(80)).with_opt_level(OptLevel::O2).compile(module);
    compiled.unwrap_or_else(|errors| panic!("{errors}\n{module}")).text
}

#[test]
fn atomic_operations_are_relaxed_and_of_the_device() {
    for bytes in [
        include_bytes!("corpus/cuda.O0.bc").as_slice(),
        include_bytes!("corpus/cuda.O3.bc"),
        include_bytes!("corpus/cuda.raw.bc"),
    ] {
        let text = ptx(&imported(bytes, "atomics"));
        for wanted in ["relaxed.gpu", ".acq_rel.sys", ".add.f32", ".inc.u32"] {
            assert!(text.contains(wanted), "no {wanted} in\n{text}");
        }
        // That of `cas`, which may be a lock, and no other.
        assert_eq!(text.matches("fence.sc.sys").count(), 1, "{text}");
    }
}

#[test]
fn what_is_asked_of_loops_is_kept() {
    let text = imported(include_bytes!("corpus/cuda.raw.bc"), "loops").to_string();
    for wanted in ["  unroll 4\n", "  nounroll\n", "  unroll full\n", "  unroll enable\n"] {
        assert_eq!(text.matches(wanted).count(), 1, "{wanted}{text}");
    }
}

#[test]
fn constants_of_indices_become_offsets_of_accesses() {
    let text = ptx(&imported(include_bytes!("corpus/cuda.O3.bc"), "stencil"));
    assert!(text.contains("+4]") && text.contains("+-4]") || text.contains("-4]"), "{text}");
    assert_eq!(text.matches("mul.wide").count() + text.matches("cvt.s64").count(), 1, "{text}");
}

#[test]
fn conversions_in_assembly_and_back_are_none() {
    let module = imported(include_bytes!("corpus/spaces.bc"), "converted");
    for (level, converts) in [(OptLevel::O0, true), (OptLevel::O2, false)] {
        let compiled = Compiler::new(Target::sm(80)).with_opt_level(level).compile(&module).expect("PTX");
        assert_eq!(compiled.text.contains("cvta.to.shared"), converts, "{}", compiled.text);
        let program = Program::load(&compiled.module).unwrap_or_else(|errors| panic!("{errors}"));
        let mut device = Device::new();
        let out = device.upload(&[0u32; 2]).expect("memory");
        device.launch(&program, &Launch::new("converted").arg(out)).expect("a launch");
        assert_eq!(device.download::<u32>(out).expect("memory"), [7, 9]);
    }
}

#[test]
fn assembly_outside_of_functions_declares_variables() {
    let module = imported(include_bytes!("corpus/module_asm.O3.bc"), "tiles");
    let text = ptx(&module);
    assert!(text.contains(".shared .align 16 .b8 tile[256];"), "{text}");
    let compiled = Compiler::new(Target::sm(80)).compile(&module).expect("PTX");
    for program in [Program::from_ir(&module), Program::load(&compiled.module)] {
        let program = program.unwrap_or_else(|errors| panic!("{errors}"));
        let mut device = Device::new();
        let data: Vec<u32> = (0..8).map(|i| i * i).collect();
        let buffer = device.upload(&data).expect("memory");
        let launch = Launch::new("tiles").block([8, 1, 1]).arg(buffer);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{fault}"));
        let expected: Vec<u32> = (0..8u32).map(|t| (t ^ 1) * 3 + (t ^ 1) * (t ^ 1)).collect();
        assert_eq!(device.download::<u32>(buffer).expect("the buffer"), expected);
    }
}

#[test]
fn assembly_of_hopper_becomes_its_instructions() {
    let target: Target = "sm_90a".parse().expect("a target");
    let module = Module::read(include_bytes!("corpus/hopper.bc")).expect("a module");
    let options = Options::new().with_target(target);
    let module = import(vec![("hopper.bc".to_owned(), module)], &options)
        .unwrap_or_else(|errors| panic!("{}", errors.iter().map(ToString::to_string).collect::<String>()));
    for level in OptLevel::ALL {
        let compiled = Compiler::new(target).with_opt_level(level).compile(&module);
        let text = compiled.unwrap_or_else(|errors| panic!("{level:?}: {errors}")).text;
        for wanted in [
            "cp.async.bulk.tensor.2d.shared::cluster.global",
            "cp.async.bulk.tensor.2d.global.shared::cta",
            "mbarrier.arrive.expect_tx.shared::cta.b64 _,",
            "mbarrier.try_wait.parity.shared::cta.b64",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {",
            "setp.lt.and.s32",
            "addc.u32",
        ] {
            assert!(text.contains(wanted), "{level:?}: no {wanted} in\n{text}");
        }
    }
}
