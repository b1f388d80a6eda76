//! Every form of the instruction tables as a typed operation of the IR: built, verified, printed and read again, compiled, and
//! given to ptxas. Two trials a family, one of them with ptxas.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Arc;
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::ir::{self, sample::module};
use warpsmith::isa::sample::{Sample, Standing, of_form, pairs_of_form, standing};
use warpsmith::isa::{FAMILIES, FORMS, Form, Mod, Target, Traits, Version};
use warpsmith_harness::ptxas::Toolbox;

/// What `cargo xtask test` sets: a missing ptxas is then a failure.
const REQUIRED: &str = "WARPSMITH_REQUIRE_TOOLS";

/// What `WARPSMITH_FORMS` may be set to: samples have every two alternatives of different slots together, not only every one.
const PAIRS: &str = "pairs";

/// The oldest target that an installed ptxas knows.
const OLDEST: Target = Target::sm(50);

/// Kernels in one module.
const BATCH: usize = 400;

/// What has no sample, by opcode: alternatives of slots, and whole forms as `form`; and why.
const UNSAMPLED: &[(&str, Standing, &str)] = &[
    ("atom", Standing::OnlyPtxas, "form"),
    (
        "cp.async.bulk.tensor",
        Standing::OnlyPtxas,
        ".mbarrier::report::disabled .mbarrier::report::validity::per_element::ff",
    ),
    (
        "cp.async.bulk.tensor",
        Standing::OnlyPtxas,
        ".mbarrier::report::validity::per_16bytes::8 .mbarrier::report::validity::per_16bytes::80",
    ),
    (
        "cp.async.bulk.tensor",
        Standing::OnlyPtxas,
        ".mbarrier::report::validity::per_16bytes::8000 .mbarrier::report::validity::per_16bytes::80000000",
    ),
    ("fabric.try_pullred.async", Standing::Never, ".acc::f16 .acc::f32"),
    ("fabric.try_get.async", Standing::OnlyPtxas, "form"),
    ("fabric.try_get.async.tensor", Standing::OnlyPtxas, "form"),
    ("fabric.try_pullred.async", Standing::OnlyPtxas, "form"),
    ("fabric.try_put.async", Standing::OnlyPtxas, "form"),
    ("fabric.try_put.async.tensor", Standing::OnlyPtxas, "form"),
    ("fabric.try_red.async", Standing::OnlyPtxas, "form"),
    ("fabric.try_red.async.tensor", Standing::OnlyPtxas, "form"),
    ("fabric.wait", Standing::OnlyPtxas, "form"),
    ("mbarrier.test_wait", Standing::OnlyPtxas, "form"),
    ("mbarrier.test_wait.parity", Standing::OnlyPtxas, "form"),
    ("mbarrier.try_wait", Standing::OnlyPtxas, "form"),
    ("mbarrier.try_wait.parity", Standing::OnlyPtxas, "form"),
    ("membar.proxy", Standing::OnlyPtxas, "form"),
    ("prefetch", Standing::OnlyPtxas, "form"),
    ("fence", Standing::OnlyPtxas, "form"),
    ("fence.proxy", Standing::OnlyPtxas, "form"),
    ("fence.proxy", Standing::OnlyPtxas, ".global .shared::cta .shared::cluster"),
    ("fence.proxy", Standing::OnlyPtxas, ".sync_restrict::shared::cta .sync_restrict::shared::cluster"),
    ("ldmatrix", Standing::OnlyPtxas, "form"),
    // It went with sm_13; `mad.rn.f32` took its place.
    ("mad", Standing::Older, "form"),
    ("mma", Standing::OnlyPtxas, "form .m16n8k16"),
    ("st.async", Standing::OnlyPtxas, "form .cluster"),
    // Another form has it.
    ("st.async", Standing::Never, ".shared::cluster"),
    ("stmatrix", Standing::OnlyPtxas, "form"),
    // Spaces of clusters came after `.aligned` had become obligatory.
    ("wmma.load.a", Standing::Never, ".shared::cta"),
    ("wmma.load.b", Standing::Never, ".shared::cta"),
    ("wmma.load.c", Standing::Never, ".shared::cta"),
    ("wmma.store.d", Standing::Never, ".shared::cta"),
    ("wmma.load.a", Standing::OnlyPtxas, ".v8"),
    ("wmma.load.b", Standing::OnlyPtxas, ".v8"),
    ("wmma.load.c", Standing::OnlyPtxas, ".v2 .v4 .v8"),
    ("wmma.store.d", Standing::OnlyPtxas, ".v2 .v4 .v8"),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let toolbox = Arc::new(Toolbox::from_environment());
    let required = std::env::var_os(REQUIRED).is_some();
    let pairs = std::env::var_os("WARPSMITH_FORMS").is_some_and(|value| value == PAIRS);
    let mut trials = vec![Trial::test("everything of the tables is sampled", everything_is_sampled)];
    for (index, family) in FAMILIES.iter().enumerate() {
        let forms = FORMS.iter().filter(move |form| std::ptr::eq(form.family(), &FAMILIES[index]));
        let name = format!("{} ({})", family.name, family.section);
        for toolbox in [None, Some(toolbox.clone())] {
            let forms = forms.clone();
            let ignored = toolbox.as_ref().is_some_and(|toolbox| toolbox.ptxas.is_empty() && !required);
            let kind = if toolbox.is_some() { "ptxas" } else { "ir" };
            let run = move || check_forms(forms, pairs, toolbox.as_deref());
            trials.push(Trial::test(name.clone(), run).with_kind(kind).with_ignored_flag(ignored));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Control flow is operations of the IR's own.
fn is_operation(form: &&'static Form) -> bool {
    !form.traits.intersects(Traits::TERMINATOR | Traits::CALL)
}

fn everything_is_sampled() -> Result<(), Failed> {
    let mut found = BTreeSet::new();
    for form in FORMS.iter().filter(is_operation) {
        let samples = of_form(form, OLDEST);
        let mut lacks = |what: String, fixed: &[(usize, Mod)]| {
            found.insert((form.opcode.text(), format!("{:?}", standing(form, fixed, OLDEST)), what));
        };
        if samples.is_empty() {
            lacks("form".into(), &[]);
            continue;
        }
        for (slot, data) in form.slots.iter().enumerate() {
            for modifier in data.alternatives.iter().map(|a| a.modifier) {
                if !samples.iter().any(|sample| sample.filled[slot] == Some(modifier)) {
                    lacks(modifier.to_string(), &[(slot, modifier)]);
                }
            }
        }
    }
    let listed = UNSAMPLED.iter().flat_map(|(opcode, why, what)| {
        what.split(' ').map(move |what| (*opcode, format!("{why:?}"), what.to_string()))
    });
    let listed = BTreeSet::from_iter(listed);
    let unlisted: Vec<_> = found.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&found).collect();
    match unlisted.is_empty() && stale.is_empty() {
        true => Ok(()),
        false => Err(format!("not sampled and not listed: {unlisted:?}\nlisted, not so: {stale:?}").into()),
    }
}

/// What is wrong with a module, and whose fault it is.
fn check(
    samples: &[&Sample],
    target: Target,
    version: Version,
    toolbox: Option<&Toolbox>,
) -> Result<(), String> {
    let module = module(samples, target);
    let text = module.to_string();
    match ir::parse_module(&text) {
        Ok(again) if again.to_string() == text => {}
        Ok(_) => return Err(format!("is not printed as it is read:\n{text}")),
        Err(errors) => return Err(format!("is not read again: {}\n{text}", errors[0])),
    }
    let compiler = Compiler::new(target).with_opt_level(OptLevel::O0).with_ptx_version(version);
    let compiled = compiler.compile(&module).map_err(|errors| {
        let notes = errors[0].notes.join("; ");
        format!("is not compiled: {} ({notes})\n{text}", errors[0])
    })?;
    let Some(toolbox) = toolbox else {
        // Without a version asked for, one that has everything is found, and none that is higher than needed.
        let found = compiler.with_ptx_version(None).compile(&module).map_err(|errors| {
            let notes = errors[0].notes.join("; ");
            format!("has no version: {} ({notes})\n{text}", errors[0])
        })?;
        let wanted = found.stats.version;
        return match wanted <= version {
            true => Ok(()),
            false => Err(format!("is in {version}, but {wanted} was chosen\n{text}")),
        };
    };
    let ptxas = toolbox
        .for_module(version, target)
        .ok_or_else(|| format!("no installed ptxas knows {target} in {version}"))?;
    ptxas.check(&compiled.text, target).map_err(|said| format!("ptxas: {said}\n{}", compiled.text))
}

/// Halves what fails until single samples are left.
fn bisect(
    samples: &[&Sample],
    target: Target,
    version: Version,
    toolbox: Option<&Toolbox>,
    wrong: &mut Vec<String>,
) {
    let Err(message) = check(samples, target, version, toolbox) else { return };
    if let [one] = samples {
        let head: String = message.lines().take(40).collect::<Vec<_>>().join("\n");
        let (mnemonic, syntax) = (one.mnemonic, one.form.syntax);
        return wrong.push(format!("`{mnemonic}` for {target}, {version} (form `{syntax}`): {head}"));
    }
    let (left, right) = samples.split_at(samples.len() / 2);
    bisect(left, target, version, toolbox, wrong);
    bisect(right, target, version, toolbox, wrong);
}

fn check_forms(
    forms: impl Iterator<Item = &'static Form>,
    pairs: bool,
    toolbox: Option<&Toolbox>,
) -> Result<(), Failed> {
    let mut batches: BTreeMap<(Target, Version), Vec<Sample>> = BTreeMap::new();
    let samples = |form| if pairs { pairs_of_form(form, OLDEST) } else { of_form(form, OLDEST) };
    for sample in forms.filter(is_operation).flat_map(samples) {
        batches.entry((sample.target, sample.version)).or_default().push(sample);
    }
    let mut wrong = Vec::new();
    for ((target, version), samples) in &batches {
        let samples: Vec<&Sample> = samples.iter().collect();
        samples.chunks(BATCH).for_each(|chunk| bisect(chunk, *target, *version, toolbox, &mut wrong));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n").into()) }
}
