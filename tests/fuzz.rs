//! Generated programs are right by construction: no oracle objects. And the net holds: what is wrong is found, and made small.

use warpsmith::fuzz::smith::transform::{Kind, Known, Program, shrink};
use warpsmith::fuzz::{
    Case, NoCode, NoRemains, NoTools, Oracle, Remains, Subject, Tools, check, ir_config, is_defined,
    round_trip, smith,
};
use warpsmith::launch::{LaunchSpec, execute};
use warpsmith::ptx::ValidatedModule;
use warpsmith::{Language, OptLevel, Target};

const IN_PROCESS: [Oracle; 8] = [
    Oracle::Accept,
    Oracle::Text,
    Oracle::Levels,
    Oracle::Passes,
    Oracle::Schedules,
    Oracle::Reference,
    Oracle::Native,
    Oracle::Checkers,
];

fn objections(cases: impl Iterator<Item = Option<Case>>) -> Vec<String> {
    cases
        .enumerate()
        .filter_map(|(seed, case)| {
            Some(format!("seed {seed}: {}", check(&case?, &IN_PROCESS, &NoTools).err()?))
        })
        .collect()
}

#[test]
fn no_oracle_objects_to_generated_ir() {
    let config = ir_config();
    let found = objections((0..40).map(|seed| Case::ir(seed, 2048, &config)));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_oracle_objects_to_generated_ptx() {
    let config = smith::ptx::Config::default();
    let found = objections((0..120).map(|seed| Case::ptx(seed, 2048, &config)));
    assert!(found.is_empty(), "{found:#?}");
}

/// Quotients of 128 bits at `-O0` take ten times the steps that the IR takes, and more than a limit for most programs: they end all the same.
#[test]
fn long_programs_end() {
    let text = include_str!("filetests/run/long_divisions.wir");
    let launch = text.lines().find_map(|line| line.strip_prefix(";; run: ")).expect("a launch");
    let program = text.lines().filter(|line| !line.starts_with(";;")).collect::<Vec<_>>().join("\n");
    let case = Case::new(program, launch.to_owned()).expect("a launch that is right");
    let verdict = check(&case, &[Oracle::Levels], &NoTools).expect("the PTX ends");
    assert_eq!(verdict.runs, 1 + OptLevel::ALL.len() as u32);
}

/// A GPU that is the engine, and makes a mistake if it is to.
struct Simulated {
    wrong: bool,
}

impl Tools for Simulated {
    fn ptxas(&self, _: &str, _: Target) -> Option<Result<Vec<u8>, NoCode>> {
        None
    }

    fn llvm(&self, _: &str, _: Target) -> Option<Result<String, String>> {
        None
    }

    fn gpu(&self, text: &str, _: Target, launch: &LaunchSpec) -> Result<Remains, NoRemains> {
        assert_eq!((launch.schedule, launch.seed), (None, None));
        let module = ValidatedModule::parse(text).map_err(|e| NoRemains::NotRun(e.to_string()))?;
        let program = warpsmith::Program::load(&module).map_err(|e| NoRemains::NotRun(format!("{e:?}")))?;
        let left = execute(&program, launch).map_err(|fault| NoRemains::Fault(fault.to_string()))?;
        let (mut buffers, globals, memory) = (left.buffers, left.globals, left.memory);
        if self.wrong {
            buffers[0].as_mut().expect("the first argument is a buffer")[5] ^= 1;
        }
        Ok(Remains { buffers, globals, memory })
    }
}

#[test]
fn a_gpu_is_compared_with_the_engine() {
    for case in
        [Case::ir(2, 2048, &smith::ir::Config::default()), Case::ptx(2, 2048, &smith::ptx::Config::default())]
    {
        let case = case.expect("every seed gives a program");
        let by = |tools: &dyn Tools| check(&case, &[Oracle::Gpu], tools);
        assert_eq!(by(&Simulated { wrong: false }).expect("they agree").not_gpu, None);
        let failure = by(&Simulated { wrong: true }).expect_err("a bit differs");
        assert_eq!(failure.oracle, Oracle::Gpu);
        assert!(failure.what.starts_with("buffer 0, byte 5: the engine gives "), "{failure}");
        let verdict = by(&NoTools).expect("nobody was asked");
        assert_eq!(verdict.not_gpu.as_deref(), Some("there is no GPU"));
    }
}

#[test]
fn programs_leave_what_is_defined() {
    let mut config = smith::ptx::Config::default();
    config.reference = true;
    for seed in 0..200 {
        let case = Case::ptx(seed, 2048, &config).expect("every seed gives a program");
        assert!(is_defined(&case), "seed {seed}");
    }
}

/// Registers redeclared in an inner scope were once executed as the outer ones; the reference binds names by a walk of its own.
#[test]
fn the_reference_binds_names_by_scopes() {
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b32 %r<2>;\n.reg .b64 %p;\n\
                ld.param.u64 %p, [out];\nmov.u32 %r0, 1;\nmov.u32 %r1, 2;\n{\n.reg .b32 %r<1>;\nmov.u32 %r0, 7;\nadd.u32 %r1, %r1, %r0;\n}\n\
                st.global.v2.u32 [%p], {%r0, %r1};\nret;\n}\n";
    let launch = r#"{"entry": "k", "block": [1], "args": [{"buffer_zero": 8}]}"#;
    assert_eq!(by_the_reference(text, launch), [1, 0, 0, 0, 9, 0, 0, 0]);
}

/// What the reference leaves in the first buffer, once the engine agrees at every level.
fn by_the_reference(text: &str, launch: &str) -> Vec<u8> {
    let launch = LaunchSpec::parse(launch).expect("a launch");
    let module = warpsmith::ptx::ValidatedModule::parse(text).expect("valid PTX");
    let reference = warpsmith::fuzz::reference_launch(&launch).expect("plain arguments");
    let outcome = smith::reference::run(&module, &reference).expect("known instructions");
    round_trip(text, &launch, &OptLevel::ALL).expect("the engine agrees");
    outcome.buffers[0].clone().expect("a buffer")
}

/// ptxas puts zeros above a constant of which 128 bits are stored, whatever its sign. The reference once had its sign there.
#[test]
fn the_reference_widens_constants_by_zeros() {
    let text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b64 %p;\n\
                ld.param.u64 %p, [out];\nst.relaxed.sys.b128 [%p], -2;\nret;\n}\n";
    let launch = r#"{"entry": "k", "block": [1], "args": [{"buffer_zero": 16}]}"#;
    let expected = [(-2i64).to_le_bytes(), [0; 8]].concat();
    assert_eq!(by_the_reference(text, launch), expected);
}

/// A sum that rounds to the least normal number, but would round to less if exponents had no bound, is flushed. The reference once did so for f32 only.
#[test]
fn the_reference_flushes_what_is_tiny_after_rounding() {
    let text = ".version 8.3\n.target sm_70\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %p;\n.reg .b16 %x, %y, %z;\n\
                ld.param.u64 %p, [out];\nmov.b16 %x, 0x0404;\nmov.b16 %y, 0x9c4c;\n\
                fma.rn.ftz.f16 %z, %x, %y, %x;\nst.u16 [%p], %z;\n\
                fma.rn.f16 %z, %x, %y, %x;\nst.u16 [%p+2], %z;\nret;\n}";
    let launch = r#"{"entry": "k", "block": [1], "args": [{"buffer_zero": 4}]}"#;
    assert_eq!(by_the_reference(text, launch), [0, 0, 0, 4]);
}

#[test]
fn long_programs_become_short_ones() {
    let config = smith::ptx::Config::default();
    let case =
        (0..40).filter_map(|seed| Case::ptx(seed, 4096, &config)).find(|case| case.text.contains("prmt.b32"));
    let case = case.expect("some program permutes bytes");
    let options = smith::reduce::Options::default();
    let reduced =
        smith::reduce::reduce(&case.text, Language::Ptx, &options, |text| text.contains("prmt.b32"));
    assert!(reduced.finished && reduced.text.contains("prmt.b32"));
    assert!(smith::reduce::is_valid(&reduced.text, Language::Ptx));
    let count = reduced.text.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(count < 20, "{count} lines are left:\n{}", reduced.text);

    let config = smith::ir::Config::default();
    let case =
        (0..40).filter_map(|seed| Case::ir(seed, 4096, &config)).find(|case| case.text.contains(" sdiv "));
    let case = case.expect("some module divides");
    let reduced = smith::reduce::reduce(&case.text, Language::Wir, &options, |text| text.contains(" sdiv "));
    let count = reduced.text.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(count < 20, "{count} lines are left:\n{}", reduced.text);
}

/// What transformations make of a program leaves the same, and all of them are found something to do.
#[test]
fn transformations_keep_what_programs_mean() {
    let (ptx, ir) = (smith::ptx::Config::default(), smith::ir::Config::default());
    let mut made = std::collections::BTreeMap::new();
    let mut differences = Vec::new();
    for seed in 0..180 {
        let case = if seed % 3 == 0 { Case::ir(seed, 1024, &ir) } else { Case::ptx(seed, 1024, &ptx) };
        let Some(case) = case else { continue };
        let subject = Subject::new(&case).expect("generated programs do not depend on the order of threads");
        let program = Program::new(&case.text, case.language, Known::default()).expect("a valid text");
        let (steps, text) = program.sequence(seed, 16);
        assert_eq!(program.apply(&steps), text, "seed {seed}");
        for step in steps {
            *made.entry((case.language == Language::Ptx, step.kind)).or_insert(0) += 1;
        }
        if seed >= 60 {
            continue;
        }
        if let Err(changed) = subject.vary(seed, 16, &[Oracle::Accept, Oracle::Text], &NoTools) {
            let steps: Vec<String> = changed.steps.iter().map(ToString::to_string).collect();
            differences.push(format!("seed {seed}: {} after {}", changed.failure, steps.join("; ")));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    let missing: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| !made.contains_key(&(true, *kind))).collect();
    // Heads of generated PTX begin with a scope, which is not copied.
    assert!(missing.iter().all(|kind| *kind == Kind::Peel), "{missing:?}");
    let missing: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| !made.contains_key(&(false, *kind))).collect();
    // IR has no scopes, and generated IR branches seldom on a comparison of its own.
    assert!(missing.iter().all(|kind| matches!(kind, Kind::Scope | Kind::InvertBranch)), "{missing:?}");
}

/// A sequence that fails is made small by leaving steps out: those that are left are all needed.
#[test]
fn failing_sequences_become_short_ones() {
    let case = Case::ptx(1, 2048, &smith::ptx::Config::default()).expect("every seed gives a program");
    let program = Program::new(&case.text, Language::Ptx, Known::default()).expect("a valid text");
    let (steps, text) = (0..)
        .map(|seed| program.sequence(seed, 40))
        .find(|(steps, _)| {
            let has = |kind| steps.iter().any(|step| step.kind == kind);
            has(Kind::Outline) && has(Kind::Donor)
        })
        .expect("some sequence has both");
    let functions = |text: &str| text.matches(".func ").count();
    let most = functions(&text);
    let left = shrink(&steps, |steps| functions(&program.apply(steps)) == most);
    assert!(left.len() < steps.len());
    for at in 0..left.len() {
        let mut fewer = left.clone();
        fewer.remove(at);
        assert!(functions(&program.apply(&fewer)) < most, "step {at} is not needed: {left:?}");
    }
}
