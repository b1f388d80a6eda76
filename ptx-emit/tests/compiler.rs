//! What the compiler promises beside the code: versions, targets, errors at their places, line tables, watching the passes.

use warpsmith_diag::{Diagnostics, LineIndex};
use warpsmith_emit::{Compiler, OptLevel, Pipeline};
use warpsmith_ir::{self as ir, InstBuilder, LocData, MemFlags};
use warpsmith_isa::{Target, Variant, Version};

fn parse(source: &str) -> ir::Module {
    ir::parse_module(source).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The errors of compiling a source, one a line, as a user sees them.
fn errors(source: &str, compiler: &Compiler) -> String {
    let errors = compiler.compile(parse(source)).expect_err("it must be refused");
    let lines = LineIndex::new(source);
    errors
        .iter()
        .map(|error| error.render(&lines).lines().next().unwrap_or_default().to_string() + "\n")
        .collect()
}

const CLUSTER: &str = "kernel @k(%p: ptr<global>) {
entry:
  %r = sreg.cluster_ctarank
  store %r, %p
  ret
}
";

#[test]
fn the_version_is_the_lowest_that_will_do() {
    let version = |source: &str, sm| {
        let compiled = Compiler::new(Target::sm(sm)).compile(parse(source));
        compiled.unwrap_or_else(|errors: Diagnostics| panic!("{errors:?}")).stats.version
    };
    let plain = "kernel @k() {\nentry:\n  ret\n}\n";
    assert_eq!(version(plain, 50), Version::new(4, 0));
    assert_eq!(version(plain, 80), Version::new(7, 0));
    assert_eq!(version(plain, 90), Version::new(7, 8));
    assert_eq!(version(CLUSTER, 90), Version::new(7, 8));
    // `min.f16` came with PTX 7.0 and sm_80; before, it is done in f32, for which nothing newer is needed.
    let min = "kernel @k(%p: ptr<global>, %x: f16) {\nentry:\n  %m = fmin %x, %x\n  store %m, %p\n  ret\n}\n";
    assert_eq!(version(min, 53), Version::new(4, 2));
    assert_eq!(version(min, 80), Version::new(7, 0));
}

/// What mnemonics do not show: operands, directives and declarations ask for a version, too.
#[test]
fn operands_directives_and_declarations_ask_for_a_version() {
    let version = |source: &str, sm| {
        let compiled = Compiler::new(Target::sm(sm)).compile(parse(source));
        compiled.unwrap_or_else(|errors| panic!("{errors:?}")).stats.version
    };
    let parameters = |bytes| format!("kernel @k(%p: byval({bytes}, align 4)) {{\nentry:\n  ret\n}}\n");
    assert_eq!(version(&parameters(4000), 70), Version::new(5, 1));
    assert_eq!(version(&parameters(8000), 70), Version::new(8, 1));
    // The barrier's hint of time, and the count of arrivals, are operands of newer versions.
    let arrive = |count| {
        format!(
            "kernel @k(%b: ptr<shared>) {{\nentry:\n  %s = ptx.mbarrier.arrive.shared.b64 [%b]{count}\n  ret\n}}\n"
        )
    };
    assert_eq!(version(&arrive(""), 90), Version::new(7, 8));
    let resident = |pair| {
        format!(
            "global extern @t: texref\nkernel @k(%p: ptr<global>, %x: f32) {{\nentry:\n  \
             %a, %b, %c, %d{pair} = ptx.tex.1d.v4.f32.f32 [@t, {{%x}}]\n  store %a, %p\n  ret\n}}\n"
        )
    };
    assert_eq!(version(&resident(""), 60), Version::new(5, 0));
    assert_eq!(version(&resident(", %r"), 60), Version::new(7, 1));
    // Asked for less, the error is at the operation.
    let capped = Compiler::new(Target::sm(60)).with_ptx_version(Version::new(5, 0));
    let found = errors(&resident(", %r"), &capped);
    assert!(
        found.starts_with("4:") && found.contains("error[E0003]") && found.contains(".version 7.1 is needed"),
        "{found}"
    );
}

#[test]
fn what_exceeds_target_or_version_is_named_at_its_place() {
    let old = Compiler::new(Target::sm(80));
    assert_eq!(errors(CLUSTER, &old), "3:3: error[E0002]: `%cluster_ctarank` is not in PTX 7.0 for sm_80\n");
    let capped = Compiler::new(Target::sm(80)).with_ptx_version(Version::new(6, 5));
    assert_eq!(
        errors(CLUSTER, &capped),
        "error[E0001]: target sm_80 needs .version 7.0, but 6.5 is asked for\n"
    );
    let tanh = "kernel @k(%p: ptr<global>, %x: f32) {
entry:
  %t = ptx.tanh.approx.f32 %x
  store %t, %p
  ret
}
";
    let turing = Compiler::new(Target::sm(75));
    let wanted =
        "`tanh.approx.f32` is not in PTX 6.5 for sm_75: .version 7.0 is needed, but 6.5 is asked for";
    let capped = turing.clone().with_ptx_version(Version::new(6, 5));
    assert_eq!(errors(tanh, &capped), format!("3:12: error[E0003]: {wanted}\n"));
    assert!(turing.compile(parse(tanh)).is_ok());
    let bf16 = "kernel @k(%p: ptr<global>, %x: bf16) {
entry:
  %y = fma %x, %x, %x
  store %y, %p
  ret
}
";
    let volta = Compiler::new(Target::sm(70));
    assert_eq!(errors(bf16, &volta), "3:3: error[L0002]: `fma` of bf16 is not compiled for sm_70\n");
    let tesla = Compiler::new(Target::sm(13));
    let text = errors(bf16, &tesla);
    assert!(text.starts_with("1:8: error[L0001]: code generation starts at sm_20"), "{text}");
}

/// Releases of ptxas from 13.1 on refuse this conversion below PTX 9.1; earlier ones accept it from 8.6 on.
#[test]
fn a_version_in_which_only_some_releases_of_ptxas_have_an_instruction_will_do() {
    let source = "kernel @k(%p: ptr<global>, %x: i32) {
entry:
  %b = ptx.cvt.rn.satfinite.e2m1x2.f16x2 %x
  store %b, %p
  ret
}
";
    let blackwell = Compiler::new(Target { sm: 100, variant: Variant::Arch });
    let version = |asked: Option<Version>| {
        let compiled = blackwell.clone().with_ptx_version(asked).compile(parse(source)).unwrap();
        (compiled.stats.version, compiled.module.warnings().len())
    };
    assert_eq!(version(Some(Version::new(8, 6))), (Version::new(8, 6), 1));
    assert_eq!(version(None), (Version::new(8, 6), 1));
    assert_eq!(version(Some(Version::new(9, 1))), (Version::new(9, 1), 0));
}

#[test]
fn a_target_comes_from_the_caller_or_the_module() {
    let with_target = "target \"sm_75\"\nkernel @k() {\nentry:\n  ret\n}\n";
    let target = |compiler: Compiler, source: &str| compiler.compile(parse(source)).map(|c| c.stats.target);
    assert_eq!(target(Compiler::new(None), with_target), Ok(Target::sm(75)));
    assert_eq!(target(Compiler::new(Target::sm(90)), with_target), Ok(Target::sm(90)));
    assert!(target(Compiler::new(None), CLUSTER).is_err());
}

/// What legalisation and the passes write may need the target compiled for, which the module's own may not have.
#[test]
fn a_module_for_an_older_target_is_verified_for_the_one_compiled_for() {
    let narrow =
        "target \"sm_80\"\nfunc @f(%x: tf32, %y: tf32) -> tf32 {\nentry:\n  %s = fadd %x, %y\n  ret %s\n}\n";
    for level in OptLevel::ALL {
        let compiler = Compiler::new(Target::sm(100)).with_opt_level(level).with_verify_each(true);
        let compiled = compiler.compile(parse(narrow)).expect("the target compiled for has the conversion");
        assert!(compiled.text.contains("cvt.rn.tf32.f32"), "{level}: {}", compiled.text);
    }
}

#[test]
fn line_tables_follow_the_source() {
    let mut module = parse(
        "kernel @k(%p: ptr<global>, %x: i32) {\nentry:\n  %y = imul %x, %x\n  store %y, %p\n  ret\n}\n",
    );
    let file = module.files.push("dsl/square.src".into());
    let id = module.function("k").expect("it is there");
    let func = &mut module.functions[id];
    let insts: Vec<ir::Inst> = func.layout.blocks().flat_map(|block| func.layout.insts(block)).collect();
    for (inst, line) in insts.into_iter().zip([10, 11, 11]) {
        func.inst_locs[inst] = func.locs.push(LocData::new(file, line, 4)).into();
    }
    let compiler = Compiler::new(Target::sm(80)).with_opt_level(OptLevel::O1);
    let text = compiler.clone().with_line_info(true).compile(&module).map(|c| c.text).unwrap_or_default();
    let lines: Vec<&str> =
        text.lines().map(str::trim).skip_while(|line| !line.starts_with("ld.param.u32")).collect();
    assert!(text.contains(".file 1 \"dsl/square.src\""), "{text}");
    let expected = [
        "ld.param.u32 %r0, [k_param_1];",
        ".loc 1 10 4",
        "mul.lo.s32 %r0, %r0, %r0;",
        ".loc 1 11 4",
        "st.global.b32 [%rd0], %r0;",
        "ret;",
    ];
    assert_eq!(lines[..6], expected, "{text}");
    let plain = compiler.compile(&module).map(|c| c.text).unwrap_or_default();
    assert!(!plain.contains(".loc") && !plain.contains(".file"), "{plain}");
}

/// What is built has no text: its errors say which function and instruction they are about, and which place of its user's source.
#[test]
fn errors_of_built_modules_have_their_origin_as_data() {
    let mut module = ir::Module::new();
    let file = module.files.push("user.dsl".into());
    let params = vec![ir::Param::new(ir::Type::I32), ir::Param::new(ir::Type::PTR_GLOBAL)];
    let id = module.add_function(ir::Function::new("k", ir::FuncKind::Kernel, params, vec![]));
    let mut b = ir::FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let (x, p) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    b.set_loc(Some(LocData::new(file, 7, 3)));
    let y = b.ins().ptx(ir::mnemonic!("redux.sync.add.s32"), (x, -1)).first();
    b.ins().store(MemFlags::PLAIN, y, p, 0);
    b.ins().ret(&[]);
    b.finalize().unwrap_or_else(|errors| panic!("{errors}"));

    let errors = Compiler::new(Target::sm(70)).compile(&module).expect_err("sm_70 has no redux");
    let origin = errors[0].origin.as_deref().expect("it has an origin");
    let place = origin.place.as_ref().expect("and a place");
    assert_eq!((origin.function.as_str(), place.to_string().as_str()), ("k", "user.dsl:7:3"), "{errors}");
    assert!(errors.to_string().contains("user.dsl:7:3"), "{errors}");

    // What the verifier finds has the number of the instruction too, and its text.
    let func = &mut module.functions[id];
    let add = func.dfg.def_inst(y).expect("it is a result");
    func.dfg.replace_inst(add, ir::InstData::Binary { op: ir::Opcode::Fadd, args: [x, x] });
    let errors = ir::verify(&module).expect_err("fadd of i32");
    let origin = errors[0].origin.as_deref().expect("it has an origin");
    assert_eq!((origin.function.as_str(), origin.instruction), ("k", Some(add.as_u32())));
    let text = errors.to_string();
    assert!(text.contains("fadd") && text.contains("made for user.dsl:7:3"), "{text}");

    // A wrong use of the builder as well.
    let id = module.add_function(ir::Function::new("g", ir::FuncKind::Func, vec![], vec![]));
    let mut b = ir::FunctionBuilder::new(&mut module, id);
    b.entry_block();
    b.set_loc(Some(LocData::new(file, 9, 1)));
    b.ins().ret(&[]);
    b.ins().ret(&[]);
    let errors = b.finalize().expect_err("behind the terminator");
    let origin = errors[0].origin.as_deref().expect("it has an origin");
    assert_eq!(origin.function, "g");
    assert_eq!(origin.place.as_ref().map(|place| place.line), Some(9));
}

#[test]
fn passes_are_watched_and_bisected() {
    let module = parse(
        "kernel @k(%p: ptr<global>, %x: i32) {\nentry:\n  %y = isub %x, %x\n  store %y, %p\n  ret\n}\n",
    );
    let pipeline = Pipeline::parse("simplify,dce").expect("both exist");
    let compiler = Compiler::new(Target::sm(80)).with_passes(pipeline).with_verify_each(true);
    let mut seen = Vec::new();
    let mut watch =
        |pass: &'static str, module: &ir::Module| seen.push((pass, module.to_string().contains("isub")));
    let compiled =
        compiler.compile_watched(&module, Some(&mut watch)).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(compiled.text.contains("st.global.b32 [%rd0], 0;"));
    assert_eq!(seen, [("simplify", false), ("dce", false)]);
    let passes = compiled.stats.passes;
    let last = passes.last_applied.clone().unwrap();
    assert_eq!(last.to_string(), "(3) dce on @k");
    assert!(passes.passes.iter().all(|pass| pass.functions == 1));
    let stopped =
        compiler.with_bisect_limit(0).compile(&module).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(stopped.text.contains("sub.s32") && stopped.stats.passes.last_applied.is_none());
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let source = include_str!("../../examples/sha256.wir");
    let compile = || Compiler::new(Target::sm(80)).compile(parse(source)).map(|c| c.text).unwrap_or_default();
    let text = compile();
    assert!(!text.is_empty());
    assert_eq!(text, compile());
}

/// Functions are compiled on several threads; what comes out is what one thread makes.
#[test]
fn a_module_that_is_given_away_compiles_to_the_same() {
    // Legalised, with a function that the math library adds, and optimised: each would change a module that is lent.
    let source = "func extern @ws_sin_f32(%x: f32) -> f32
kernel @k(%p: ptr<global>, %n: i8) {
entry:
  %x = load.f32 %p
  %y = call @ws_sin_f32(%x)
  store %y, %p
  %q = udiv %n, 7
  store %q, %p + 4
  ret
}
";
    let module = parse(source);
    let before = module.to_string();
    for level in OptLevel::ALL {
        let compiler = Compiler::new(Target::sm(80)).with_opt_level(level);
        let lent = compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(module.to_string(), before, "-{level}");
        let given = compiler.compile(module.clone()).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(given.text, lent.text, "-{level}");
    }
}

#[test]
fn threads_change_nothing() {
    let kernels = (0..600).map(|i| {
        format!(
            "kernel @k{i}(%p: ptr<global>, %n: i32) {{
entry:
  %zero = iconst.i32 {i}
  jump loop(%zero, %zero)
loop(%i: i32, %sum: i32):
  %x = imul %i, {i}
  %y = iadd %x, %sum
  %next = iadd %i, 1
  %more = icmp ult %next, %n
  brif %more, loop(%next, %y), out
out:
  store %y, %p
  ret
}}
"
        )
    });
    let module = parse(&kernels.collect::<String>());
    assert!(ir::parallel::pays(module.functions.values()));
    for level in [OptLevel::O0, OptLevel::O2] {
        let compile = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let compiler = Compiler::new(Target::sm(80)).with_opt_level(level);
            let compiled = pool.install(|| compiler.compile(&module)).unwrap_or_else(|e| panic!("{e:?}"));
            let passes = &compiled.stats.passes;
            let changes: Vec<u32> = passes.passes.iter().map(|pass| pass.changes).collect();
            (compiled.text, changes, passes.last_applied.clone(), compiled.stats.registers)
        };
        let one = compile(1);
        assert_eq!(compile(4), one);
        // Watched, the passes run one after the other over all functions.
        let compiler = Compiler::new(Target::sm(80)).with_opt_level(level);
        let watched =
            compiler.compile_watched(&module, Some(&mut |_, _| {})).unwrap_or_else(|e| panic!("{e:?}"));
        let passes = &watched.stats.passes;
        assert_eq!((&watched.text, &passes.last_applied), (&one.0, &one.2));
        assert!(passes.passes.iter().map(|pass| pass.changes).eq(one.1));
    }
    // Errors come in the order of the text.
    let wrong: String = (0..2000).map(|i| CLUSTER.replace("@k", &format!("@k{i}"))).collect();
    let found = errors(&wrong, &Compiler::new(Target::sm(13)));
    assert_eq!(found.lines().count(), 2000);
    assert!(found.lines().zip(0..).all(|(line, i)| line.starts_with(&format!("{}:", 6 * i + 1))), "{found}");
}
