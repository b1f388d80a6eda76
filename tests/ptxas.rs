//! ptxas takes everything that is emitted: all examples and runnable file tests, at every level, for every target of the tables
//! that an installed release of ptxas knows. One trial a target.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use warpsmith::diag::{Diagnostic, Language};
use warpsmith::emit::{Compiler, Debug, OptLevel};
use warpsmith::ir;
use warpsmith::isa::Target;
use warpsmith_harness::ptxas::Toolbox;

#[path = "abi/sizes.rs"]
mod sizes;
#[path = "../examples/tma_wgmma.rs"]
mod tma_wgmma;

/// What `cargo xtask test` sets: a missing ptxas is then a failure.
const REQUIRED: &str = "WARPSMITH_REQUIRE_TOOLS";

/// The oldest target that some ptxas in use knows, and on which everything in the examples exists.
const OLDEST_JUDGED: Target = Target::sm(50);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let toolbox = Arc::new(Toolbox::from_environment());
    let modules = Arc::new(modules());
    let required = std::env::var_os(REQUIRED).is_some();
    let mut trials: Vec<Trial> = Target::all()
        .map(|target| {
            let known = toolbox.for_target(target).is_some();
            let (toolbox, modules) = (toolbox.clone(), modules.clone());
            let trial = Trial::test(target.to_string(), move || judge(target, &toolbox, &modules));
            // Without an assembler the test is ignored; older targets are only compiled.
            trial.with_ignored_flag(!known && !required && target >= OLDEST_JUDGED)
        })
        .collect();
    for target in [50, 60, 75, 80, 90, 100, 120, 121].map(Target::sm) {
        let known = toolbox.for_target(target).is_some();
        let toolbox = toolbox.clone();
        let trial = Trial::test(format!("debug information for {target}"), move || {
            debug_information(target, &toolbox)
        });
        trials.push(trial.with_ignored_flag(!known && !required));
    }
    let known = toolbox.for_target(tma_wgmma::TARGET).is_some();
    let own = toolbox.clone();
    let built = Trial::test("examples/tma_wgmma.rs", move || tensor_cores(&own));
    trials.push(built.with_ignored_flag(!known && !required));
    let linker = nvlink(&toolbox);
    let known = linker.is_some();
    let linked = Trial::test("abi/nvlink", move || linked_by_nvlink(&toolbox, linker.as_deref()));
    trials.push(linked.with_ignored_flag(!known && !required));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// NVIDIA's linker, which `cargo xtask tools` installs beside ptxas.
fn nvlink(toolbox: &Toolbox) -> Option<PathBuf> {
    let mut folders = toolbox.ptxas.iter().filter_map(|ptxas| ptxas.path.parent());
    folders.find_map(|folder| Some(folder.join("nvlink-13.0")).filter(|path| path.is_file()))
}

/// The callers and callees of `tests/abi`, nvcc's and ours, as object files that go together in every combination.
fn linked_by_nvlink(toolbox: &Toolbox, linker: Option<&Path>) -> Result<(), Failed> {
    let target = Target::sm(80);
    let linker = linker.ok_or("nvlink is not installed")?;
    let ptxas = toolbox.for_target(target).ok_or_else(|| format!("no installed ptxas knows {target}"))?;
    let folder = std::env::temp_dir().join(format!("warpsmith-abi-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let run = |program: &Path, args: &[&std::ffi::OsStr]| -> Result<(), Failed> {
        let output = Command::new(program).args(args).output()?;
        if output.status.success() && output.stderr.is_empty() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        Err(format!("{}: {said}", program.display()).into())
    };
    let arch = format!("-arch={target}");
    let mut objects = Vec::new();
    for side in ["caller", "callee", "sizes_caller", "sizes_callee", "varargs_caller", "varargs_callee"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abi").join(side);
        let text = match side {
            "sizes_caller" => sizes::caller(),
            "sizes_callee" => sizes::callee(),
            _ => std::fs::read_to_string(path.with_extension("wir"))?,
        };
        let module = ir::parse_module(text).map_err(|errors| errors.to_string())?;
        let ours = Compiler::new(target).compile(&module).map_err(|errors| errors.to_string())?.text;
        let theirs = std::fs::read_to_string(path.with_extension("ptx"))?;
        let mut of_side = Vec::new();
        for (maker, text) in [("ours", ours), ("nvcc", theirs)] {
            let (source, object) =
                (folder.join(format!("{side}-{maker}.ptx")), folder.join(format!("{side}-{maker}.o")));
            std::fs::write(&source, text)?;
            run(
                &ptxas.path,
                &["-c".as_ref(), arch.as_ref(), source.as_ref(), "-o".as_ref(), object.as_ref()],
            )?;
            of_side.push(object);
        }
        objects.push(of_side);
    }
    for sides in objects.chunks(2) {
        for (caller, callee) in
            sides[0].iter().flat_map(|caller| sides[1].iter().map(move |callee| (caller, callee)))
        {
            let whole = folder.join("whole.cubin");
            run(linker, &[arch.as_ref(), caller.as_ref(), callee.as_ref(), "-o".as_ref(), whole.as_ref()])?;
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// The kernel that an example builds of table-derived operations: read again from its text, compiled at every level, and assembled.
fn tensor_cores(toolbox: &Toolbox) -> Result<(), Failed> {
    let target = tma_wgmma::TARGET;
    let mut module = ir::Module::new();
    tma_wgmma::gemm(&mut module).map_err(|errors| errors[0].to_string())?;
    let read = ir::parse_module(module.to_string()).map_err(|errors| errors[0].to_string())?;
    let ptxas = toolbox.for_target(target).ok_or_else(|| format!("no installed ptxas knows {target}"))?;
    for level in OptLevel::ALL {
        let compile = |module| Compiler::new(target).with_opt_level(level).compile(module);
        let text = compile(&module).map_err(|errors| errors[0].to_string())?.text;
        if compile(&read).map_err(|errors| errors[0].to_string())?.text != text {
            return Err("the module that was read from text is compiled to another program".into());
        }
        ptxas.assemble(&text, target).map_err(|said| format!("at {level}: {said}\n{text}"))?;
    }
    Ok(())
}

/// Debug information in every form: ptxas walks it only where it generates code. At the version that the module needs, and at
/// the first one that has the target, which may be older than `inlined_at`.
fn debug_information(target: Target, toolbox: &Toolbox) -> Result<(), Failed> {
    let source = include_str!("../ptx-emit/tests/debug.wir");
    let module = ir::parse_module(source).map_err(|errors| errors[0].to_string())?;
    let ptxas = toolbox.for_target(target).ok_or_else(|| format!("no installed ptxas knows {target}"))?;
    for (debug, level) in
        [Debug::Lines, Debug::Full].into_iter().flat_map(|debug| OptLevel::ALL.map(|level| (debug, level)))
    {
        let compiler = Compiler::new(target).with_opt_level(level).with_debug(debug);
        for version in [None, target.since()] {
            let compiled = compiler.clone().with_ptx_version(version).compile(&module);
            let text = compiled.map_err(|errors| errors[0].to_string())?.text;
            let assembled = ptxas.assemble(&text, target);
            assembled
                .map_err(|said| format!("{debug:?} at {level}: ptxas {}: {said}\n{text}", ptxas.release))?;
        }
    }
    Ok(())
}

fn modules() -> Vec<(PathBuf, ir::Module)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut modules = Vec::new();
    for folder in ["examples", "tests/filetests/run"] {
        for entry in
            std::fs::read_dir(root.join(folder)).expect("the folder is part of the repository").flatten()
        {
            if Language::of_path(&entry.path()) == Some(Language::Wir) {
                let source = std::fs::read_to_string(entry.path()).expect("the file is readable");
                let module = ir::parse_module(&source)
                    .unwrap_or_else(|errors| panic!("{:?}: {errors:?}", entry.path()));
                modules.push((entry.path(), module));
            }
        }
    }
    modules
}

fn judge(target: Target, toolbox: &Toolbox, modules: &[(PathBuf, ir::Module)]) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for (path, module) in modules {
        let mut texts = BTreeSet::new();
        for level in OptLevel::ALL {
            match Compiler::new(target).with_opt_level(level).compile(module) {
                Ok(compiled) => _ = texts.insert(compiled.text),
                // What an old target lacks is an error of the compilation that names it.
                Err(errors) if target < OLDEST_JUDGED && !errors.is_empty() => {}
                Err(errors) if errors.iter().all(|error| names_a_later_target(error, target)) => {}
                Err(errors) => wrong.push(format!("{} at {level}: {}", path.display(), errors[0])),
            }
        }
        match toolbox.for_target(target) {
            Some(ptxas) => wrong.extend(texts.iter().filter_map(|text| {
                let said = ptxas.assemble(text, target).err()?;
                Some(format!("{}: ptxas {} rejects this: {said}\n{text}", path.display(), ptxas.release))
            })),
            None if target >= OLDEST_JUDGED => {
                return Err(format!("no installed ptxas knows {target}").into());
            }
            None => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// True for an error that says which later target has what this one lacks.
fn names_a_later_target(error: &Diagnostic, target: Target) -> bool {
    let needed = error.message.rsplit_once(" needs ").and_then(|(_, needed)| needed.parse::<Target>().ok());
    error.code == "L0002" && needed.is_some_and(|needed| needed > target)
}
