//! Generated programs are right by construction: no oracle objects. And the net holds: what is wrong is found, and made small.

use warpsmith::fuzz::{Case, NoTools, Oracle, is_defined, judge, round_trip, smith};
use warpsmith::launch::LaunchSpec;
use warpsmith::{Language, OptLevel};

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
            Some(format!("seed {seed}: {}", judge(&case?, &IN_PROCESS, &NoTools).err()?))
        })
        .collect()
}

#[test]
fn no_oracle_objects_to_generated_ir() {
    let config = smith::ir::Config::default();
    let found = objections((0..40).map(|seed| Case::ir(seed, 2048, &config)));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_oracle_objects_to_generated_ptx() {
    let config = smith::ptx::Config::default();
    let found = objections((0..120).map(|seed| Case::ptx(seed, 2048, &config)));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn programs_leave_what_is_defined() {
    let mut config = smith::ptx::Config::default();
    config.judged = true;
    for seed in 0..60 {
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
