//! What must hold for any bytes at all. The fuzz targets search for counterexamples; `tests/hostile.rs` replays `fuzz/corpus/`.

use std::time::{Duration, Instant};
use warpsmith::diag::Diagnostic;
use warpsmith::interp::{Device, Launch, Program};
use warpsmith::watch::trace::{Filter, Trace};
use warpsmith::watch::{Checkers, Counts, Coverage, Page, Profile, Selection, Sources};
use warpsmith::{emit, ir, ptx};

/// The longest time that an answer may take: a constant for start and noise, and so much per byte of text.
fn bound(text: &[u8]) -> Duration {
    Duration::from_secs(5) + Duration::from_micros(20) * u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Findings have places in the text and a message.
fn sound(findings: &[Diagnostic], text: &[u8]) {
    for finding in findings {
        let labels = finding.labels.iter().map(|(span, _)| *span);
        for span in labels.chain([finding.span]).filter(|span| !span.is_none()) {
            assert!(span.start <= span.end && span.end as usize <= text.len(), "{finding:?}");
        }
        assert!(!finding.message.is_empty() && !finding.code.is_empty());
    }
}

/// Any bytes give a tree and findings; the validator answers for any tree; what is printed of a sound text is the same tree,
/// with everything where the printer says.
pub fn ptx(text: &[u8]) {
    let start = Instant::now();
    let parsed = ptx::parse(text);
    sound(&parsed.diagnostics, text);
    sound(&ptx::validate(&parsed.module), text);
    if parsed.diagnostics.is_empty() {
        let printed = ptx::print(&parsed.module);
        assert_eq!(ptx::check_printed(&parsed.module, &printed), Ok(()), "{printed}");
    }
    assert!(start.elapsed() < bound(text), "{:?}", start.elapsed());
}

/// For IR text: the parser answers, and what the verifier takes is compiled to valid PTX, or refused by name.
pub fn wir(text: &[u8]) {
    let start = Instant::now();
    let parsed = ir::parse(text);
    sound(&parsed.diagnostics, text);
    if !parsed.diagnostics.is_empty() {
        return;
    }
    let printed = parsed.module.to_string();
    let again = ir::parse(&printed);
    assert!(again.diagnostics.is_empty(), "{printed}\n{:?}", again.diagnostics);
    assert_eq!(again.module.to_string(), printed);
    match ir::verify(&parsed.module) {
        Err(findings) => sound(&findings, text),
        Ok(()) => {
            let target = parsed.module.target.unwrap_or(warpsmith::isa::Target::sm(90));
            for level in [emit::OptLevel::O0, emit::OptLevel::O2] {
                let compiled = emit::Compiler::new(target).with_opt_level(level).compile(&parsed.module);
                for finding in compiled.err().into_iter().flatten() {
                    assert!(finding.code != warpsmith::codes::INVALID_OUTPUT, "{finding:?}\n{printed}");
                }
            }
        }
    }
    assert!(start.elapsed() < bound(text), "{:?}", start.elapsed());
}

/// Whatever valid PTX does when it runs, it ends, and harms nothing: in a fault or well.
pub fn run(text: &[u8]) {
    let Ok(module) = ptx::ValidatedModule::parse(text) else { return };
    let text = String::from_utf8_lossy(text).into_owned();
    let Ok(program) = Program::load(&module) else { return };
    let kernels: Vec<String> = program.kernels().map(str::to_owned).collect();
    for name in kernels.into_iter().take(4) {
        let mut device = Device::new();
        let mut launch = Launch::new(name.as_str()).grid([2, 1, 1]).block([40, 1, 1]).seed(1);
        launch.limits.steps = 20_000;
        launch.limits.block_steps = 20_000;
        let params = program.kernel(&name).unwrap_or_default();
        for param in params {
            launch = match (param.bytes, device.alloc(256)) {
                (8, Ok(buffer)) => launch.arg(buffer),
                (size, _) => launch.arg(warpsmith::interp::Arg::bytes(vec![1; size as usize])),
            };
        }
        let start = Instant::now();
        // A fault is an answer.
        let (Ok(_) | Err(_)) = device.launch(&program, &launch);
        watch(&mut device, &program, &launch, &Sources::new("k.ptx", &text, &module));
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
    }
}

/// All checkers and counters watch a launch, and report.
fn watch(device: &mut Device, program: &Program, launch: &Launch, sources: &Sources) {
    let (mut checkers, mut counts) = (Checkers::new(Selection::all()), Counts::profile());
    let mut trace = Trace::new(std::io::sink(), Filter::default());
    let (Ok(_) | Err(_)) =
        device.launch_observed(program, launch, &mut (checkers.observer(), (&mut counts, &mut trace)));
    let report = checkers.into_report();
    let (coverage, profile) =
        (Coverage::new(program, &counts, sources), Profile::new(program, &counts, sources));
    let texts = Default::default();
    let page = Page { title: "k", coverage: &coverage, profile: Some(&profile), texts: &texts };
    let messages = [
        coverage.text(&texts),
        coverage.lcov(),
        profile.text(),
        page.render(),
        report.json(sources).to_string(),
        report.text(sources),
    ];
    assert!(messages.iter().all(|text| !text.is_empty()));
}
