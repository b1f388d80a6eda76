//! ptxas takes everything that is emitted: all examples and runnable file tests, at every level, for every target of the tables
//! that an installed release of ptxas knows. One trial a target.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use warpsmith::diag::{Diagnostic, Language};
use warpsmith::emit::{Compiler, Debug, OptLevel};
use warpsmith::fuzz::{Case, Oracle, check as check_case, smith};
use warpsmith::ir;
use warpsmith::isa::{Target, Version};
use warpsmith_harness::ptxas::{Ptxas, Toolbox};

#[path = "operations/kernels.rs"]
mod kernels;
#[path = "abi/sizes.rs"]
mod sizes;
#[path = "../examples/tma_wgmma.rs"]
mod tma_wgmma;

/// What `cargo xtask test` sets: a missing ptxas is then a failure.
const REQUIRED: &str = "WARPSMITH_REQUIRE_TOOLS";

/// The oldest target that some ptxas in use knows, and on which everything in the examples exists.
const OLDEST_ASSEMBLED: Target = Target::sm(50);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let toolbox = Arc::new(Toolbox::from_environment());
    let modules = Arc::new(modules());
    let required = std::env::var_os(REQUIRED).is_some();
    let mut trials: Vec<Trial> = Target::all()
        .map(|target| {
            let known = toolbox.for_target(target).is_some();
            let (toolbox, modules) = (toolbox.clone(), modules.clone());
            let trial = Trial::test(target.to_string(), move || accepted(target, &toolbox, &modules));
            // Without an assembler the test is ignored; older targets are only compiled.
            trial.with_ignored_flag(!known && !required && target >= OLDEST_ASSEMBLED)
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
    let releases = toolbox.clone();
    let trial = Trial::test("debug information by every release", move || every_release(&releases));
    trials.push(trial.with_ignored_flag(toolbox.ptxas.is_empty() && !required));
    let own = toolbox.clone();
    let units = Trial::test("debug information of several units", move || several_units(&own));
    trials.push(units.with_ignored_flag(toolbox.ptxas.is_empty() && !required));
    let (dwarfdump, verifying) = (dwarfdump(), toolbox.clone());
    let known = dwarfdump.is_some() && toolbox.for_target(Target::sm(80)).is_some();
    let trial = Trial::test("debug information by llvm-dwarfdump", move || {
        verified(&verifying, &dwarfdump.ok_or("no llvm-dwarfdump: WARPSMITH_DWARFDUMP names one")?)
    });
    trials.push(trial.with_ignored_flag(!known));
    let known = toolbox.for_target(tma_wgmma::TARGET).is_some();
    let own = toolbox.clone();
    let built = Trial::test("examples/tma_wgmma.rs", move || tensor_cores(&own));
    trials.push(built.with_ignored_flag(!known && !required));
    for target in ["sm_90", "sm_100a"] {
        let target: Target = target.parse().expect("a target of the tables");
        let (known, own) = (toolbox.for_target(target).is_some(), toolbox.clone());
        let trial = Trial::test(format!("every operation for {target}"), move || operations(target, &own));
        trials.push(trial.with_ignored_flag(!known && !required));
    }
    let linker = nvlink(&toolbox);
    let known = linker.is_some();
    let own = toolbox.clone();
    let linked = Trial::test("abi/nvlink", move || linked_by_nvlink(&own, linker.as_deref()));
    trials.push(linked.with_ignored_flag(!known && !required));
    // LLVM comes from the system, or not at all.
    let known = toolbox.llvm.is_some();
    let own = toolbox.clone();
    let compared = Trial::test("generated programs by LLVM", move || by_llvm(&own));
    trials.push(compared.with_ignored_flag(!known));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// LLVM's reader of debug information: that of `WARPSMITH_DWARFDUMP`, or of version 22 in `PATH`.
fn dwarfdump() -> Option<PathBuf> {
    let named = std::env::var_os("WARPSMITH_DWARFDUMP").map(PathBuf::from);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&folders).map(|folder| folder.join("llvm-dwarfdump-22"));
    named.into_iter().chain(in_path).find(|program| program.is_file())
}

/// Random programs mean the same by another compiler.
fn by_llvm(toolbox: &Toolbox) -> Result<(), Failed> {
    let mut config = smith::ir::Config::default();
    (config.ptx, config.special, config.vectors, config.narrow) = (false, false, false, false);
    (config.aggregates, config.together) = (false, false);
    // So many must have been compared; not all programs can be said in LLVM's text.
    let (enough, most) = (8, 48);
    let mut checked = 0;
    for seed in 0..most {
        if checked == enough {
            return Ok(());
        }
        let Some(case) = Case::ir(seed, 1024, &config) else { continue };
        let verdict = check_case(&case, &[Oracle::Llvm], toolbox)
            .map_err(|failure| format!("seed {seed}: {failure}"))?;
        checked += u32::from(verdict.not_llvm.is_none());
    }
    match checked < enough {
        true => Err(format!("only {checked} of {most} programs were written as LLVM's text").into()),
        false => Ok(()),
    }
}

/// Every operation on every type, optimised or not. Only what ptxas says of the text is asked: code for all of it takes minutes.
fn operations(target: Target, toolbox: &Toolbox) -> Result<(), Failed> {
    let ptxas = toolbox.for_target(target).ok_or_else(|| format!("no installed ptxas knows {target}"))?;
    let units = kernels::types().into_iter().map(kernels::operations);
    let units = units.chain(kernels::ATOMIC.into_iter().map(kernels::atomics));
    let mut wrong = Vec::new();
    for unit in units.chain(kernels::exchanges()) {
        let module = ir::parse_module(unit.text.as_str()).map_err(|errors| errors.to_string())?;
        for level in [OptLevel::O0, OptLevel::O2] {
            let compiled = Compiler::new(target).with_opt_level(level).compile(&module);
            let text = compiled.map_err(|errors| errors.to_string())?.text;
            if let Err(said) = ptxas.check(&text, target) {
                wrong.push(format!("{} kernels on {} at {level}: {said}", unit.names.len(), unit.ty));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
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

/// Debug information in every form: ptxas walks it only where it generates code. At the version that the module needs, at the first one that
/// has the target, which may be older than `inlined_at`, and at others up to the newest that ptxas reads.
fn debug_information(target: Target, toolbox: &Toolbox) -> Result<(), Failed> {
    let ptxas = toolbox.for_target(target).ok_or_else(|| format!("no installed ptxas knows {target}"))?;
    let since = target.since();
    let between = [(4, 0), (5, 0), (6, 0), (7, 1), (7, 2), (7, 5), (8, 0), (8, 8), (9, 0)];
    let between = between.map(|(major, minor)| Version::new(major, minor)).into_iter();
    let between =
        between.filter(|version| *version <= ptxas.newest && since.is_some_and(|since| since < *version));
    for level in OptLevel::ALL {
        for debug in [Debug::Lines, Debug::Full] {
            assembled(ptxas, target, level, debug, None)?;
            assembled(ptxas, target, level, debug, since)?;
        }
    }
    for version in between {
        for level in [OptLevel::O0, OptLevel::O2] {
            assembled(ptxas, target, level, Debug::Full, Some(version))?;
        }
    }
    Ok(())
}

/// What a ptxas makes of the module with debug information.
fn assembled(
    ptxas: &Ptxas,
    target: Target,
    level: OptLevel,
    debug: Debug,
    version: Option<Version>,
) -> Result<Vec<u8>, Failed> {
    let source = include_str!("../ptx-emit/tests/debug.wir");
    let module = ir::parse_module(source).map_err(|errors| errors[0].to_string())?;
    let compiler = Compiler::new(target).with_opt_level(level).with_debug(debug).with_ptx_version(version);
    let text = compiler.compile(&module).map_err(|errors| errors[0].to_string())?.text;
    let said = |said| format!("{debug:?} at {level}, {version:?}: ptxas {}: {said}\n{text}", ptxas.release);
    Ok(ptxas.assemble(&text, target).map_err(said)?)
}

/// Each release walks the debug information of the newest target that it knows.
fn every_release(toolbox: &Toolbox) -> Result<(), Failed> {
    for ptxas in &toolbox.ptxas {
        let target = Target::all().filter(|target| ptxas.knows(*target)).last();
        let target = target.ok_or_else(|| format!("ptxas {} knows no target", ptxas.release))?;
        for level in OptLevel::ALL {
            assembled(ptxas, target, level, Debug::Full, None)?;
        }
    }
    Ok(())
}

/// Linked modules of bitcode have a compile unit each.
fn several_units(toolbox: &Toolbox) -> Result<(), Failed> {
    use warpsmith::llvm;
    let files: [(&str, &[u8]); 2] = [
        ("source.bc", include_bytes!("../llvm/tests/corpus/debug/source.O0.bc")),
        ("types.bc", include_bytes!("../llvm/tests/corpus/debug/types.O0.bc")),
    ];
    let mut modules = Vec::new();
    for (name, bytes) in files {
        modules.push((name.to_owned(), llvm::Module::read(bytes).map_err(|error| error.to_string())?));
    }
    for ptxas in &toolbox.ptxas {
        let target = Target::all().filter(|target| ptxas.knows(*target)).last();
        let target = target.ok_or_else(|| format!("ptxas {} knows no target", ptxas.release))?;
        let options = llvm::Options::new().with_target(target);
        let module = llvm::import(modules.clone(), &options).map_err(|errors| errors[0].to_string())?;
        let units = module.debug.as_ref().map_or(0, |debug| debug.units.len());
        if units != 2 {
            return Err(format!("{units} units are imported").into());
        }
        for level in [OptLevel::O0, OptLevel::O2] {
            let compiler = Compiler::new(target).with_opt_level(level).with_debug(Debug::Full);
            let text = compiler.compile(&module).map_err(|errors| errors[0].to_string())?.text;
            let said = |said| format!("at {level}: ptxas {}: {said}\n{text}", ptxas.release);
            ptxas.assemble(&text, target).map_err(said)?;
        }
    }
    Ok(())
}

/// What LLVM finds wrong with debug information once ptxas has put in addresses: nothing that it does not find in nvcc's.
fn verified(toolbox: &Toolbox, dwarfdump: &Path) -> Result<(), Failed> {
    let target = Target::sm(80);
    let ptxas = toolbox.for_target(target).ok_or_else(|| format!("no installed ptxas knows {target}"))?;
    let mut usual = BTreeSet::new();
    for text in [include_str!("places/shape.ptx"), include_str!("real/nvcc/calls.sm_80.debug.ptx")] {
        usual.extend(wrong_in(dwarfdump, ptxas.assemble(text, target)?)?);
    }
    for level in OptLevel::ALL {
        let ours = wrong_in(dwarfdump, assembled(ptxas, target, level, Debug::Full, None)?)?;
        let new: Vec<&String> = ours.difference(&usual).collect();
        if !new.is_empty() {
            return Err(format!("at {level}: {new:?}; of nvcc's: {usual:?}").into());
        }
    }
    // A unit that says that it is longer than it is: what is wrong is found.
    let text = include_str!("places/shape.ptx");
    let mut cubin = ptxas.assemble(text, target)?;
    let info = section(&cubin, ".debug_info").ok_or("no .debug_info")?;
    cubin[info.start] ^= 0x40;
    if wrong_in(dwarfdump, cubin)?.is_subset(&usual) {
        return Err("a wrong length is not found".into());
    }
    Ok(())
}

/// The kinds of errors that `llvm-dwarfdump --verify` finds in a cubin.
fn wrong_in(dwarfdump: &Path, mut cubin: Vec<u8>) -> Result<BTreeSet<String>, Failed> {
    relocate(&mut cubin).ok_or("the cubin cannot be read")?;
    let file = std::env::temp_dir().join(format!("warpsmith-dwarf-{}.cubin", std::process::id()));
    std::fs::write(&file, cubin)?;
    let output = Command::new(dwarfdump).arg("--verify").arg(&file).output()?;
    std::fs::remove_file(&file)?;
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if !said.contains("Verifying .debug_info") && !said.contains("Verifying unit") {
        return Err(format!("llvm-dwarfdump has verified nothing: {said}").into());
    }
    let errors = said.lines().filter_map(|line| line.trim().strip_prefix("error: "));
    let errors = errors.filter(|line| !line.starts_with("Aggregated") && !line.contains(" occurred "));
    Ok(errors.map(|line| line.split(['0', ':']).next().unwrap_or(line).to_owned()).collect())
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    usize::try_from(bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))).ok()
}

/// The sections of an ELF file of 64 bits: name, type, bytes.
fn sections(elf: &[u8]) -> Option<Vec<(String, usize, std::ops::Range<usize>)>> {
    let (table, size, count) = (number(elf, 40, 8)?, number(elf, 58, 2)?, number(elf, 60, 2)?);
    let field = |n: usize, at, size_of| number(elf, table + n * size + at, size_of);
    let names = field(number(elf, 62, 2)?, 24, 8)?;
    let one = |n| {
        let name = elf.get(names + field(n, 0, 4)?..)?.split(|byte| *byte == 0).next()?;
        let from = field(n, 24, 8)?;
        Some((String::from_utf8_lossy(name).into_owned(), field(n, 4, 4)?, from..from + field(n, 32, 8)?))
    };
    (0..count).map(one).collect()
}

fn section(elf: &[u8], name: &str) -> Option<std::ops::Range<usize>> {
    sections(elf)?.into_iter().find(|(known, ..)| known == name).map(|(.., range)| range)
}

/// Puts the addresses of a cubin's debug sections where they belong: the bytes that ptxas leaves there are guesses, and LLVM does not know the
/// relocations of this machine. Addresses count from the start of a function.
fn relocate(elf: &mut [u8]) -> Option<()> {
    const WITH_ADDENDS: usize = 4;
    for (name, kind, range) in sections(elf)? {
        let Some(of) = name.strip_prefix(".rela").filter(|of| kind == WITH_ADDENDS && of.contains("debug"))
        else {
            continue;
        };
        let target = section(elf, of)?;
        for entry in range.step_by(24) {
            let (at, kind) = (target.start + number(elf, entry, 8)?, number(elf, entry + 8, 4)?);
            let size = match kind {
                1 => 4,
                2 => 8,
                _ => continue,
            };
            elf.copy_within(entry + 16..entry + 16 + size, at);
        }
    }
    Some(())
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

fn accepted(target: Target, toolbox: &Toolbox, modules: &[(PathBuf, ir::Module)]) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for (path, module) in modules {
        let mut texts = BTreeSet::new();
        for level in OptLevel::ALL {
            match Compiler::new(target).with_opt_level(level).compile(module) {
                Ok(compiled) => _ = texts.insert(compiled.text),
                // What an old target lacks is an error of the compilation that names it.
                Err(errors) if target < OLDEST_ASSEMBLED && !errors.is_empty() => {}
                Err(errors) if errors.iter().all(|error| names_a_later_target(error, target)) => {}
                Err(errors) => wrong.push(format!("{} at {level}: {}", path.display(), errors[0])),
            }
        }
        match toolbox.for_target(target) {
            Some(ptxas) => wrong.extend(texts.iter().filter_map(|text| {
                let said = ptxas.assemble(text, target).err()?;
                Some(format!("{}: ptxas {} rejects this: {said}\n{text}", path.display(), ptxas.release))
            })),
            None if target >= OLDEST_ASSEMBLED => {
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
