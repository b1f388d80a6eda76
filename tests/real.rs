//! Modules that nvcc, NVRTC, clang, Triton and the CuTe DSL wrote are accepted, and what is printed of them is the same program: the tree of the printed
//! text is the same, and ptxas makes the same code, constants, launch properties and line tables of it. One trial a module.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use warpsmith::diag::{Diagnostic, LineIndex};
use warpsmith::interp::Program;
use warpsmith::isa::{Opcode, Target};
use warpsmith::ptx::{self, ValidatedModule};
use warpsmith_harness::ptxas::{Ptxas, Toolbox};

/// What `cargo xtask test` sets: a missing ptxas is then a failure.
const REQUIRED: &str = "WARPSMITH_REQUIRE_TOOLS";

/// The first of the targets that an installed ptxas generates code for.
const OLDEST_WITH_CODE: u16 = 50;

/// The folder of what the compilers of today write where no older version is asked for. What is there is executed too.
const RECENT: &str = "recent";

/// Modules of that folder that are not loaded, and the reason.
const NOT_LOADED: &[(&str, &str)] = &[("nvcc.linked.sm_107.rdc-lineinfo", "defined nowhere")];

/// Fewer modules than this and the folder is damaged.
const AT_LEAST: usize = 100;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let toolbox = Arc::new(Toolbox::from_environment());
    let required = std::env::var_os(REQUIRED).is_some();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real");
    let mut trials = Vec::new();
    for producer in ["nvcc", "clang", "triton", "old", RECENT] {
        let folder = std::fs::read_dir(root.join(producer)).expect("the folder is part of the repository");
        for path in folder.flatten().map(|entry| entry.path()) {
            let stem = path.file_stem().expect("a listed file has a name").to_string_lossy().into_owned();
            let awaited = awaited(&path);
            let (accepted, toolbox) = (path.clone(), toolbox.clone());
            let accepts = move || accepts(&accepted).map(drop);
            trials.push(Trial::test(format!("{producer}/{stem}"), accepts).with_ignored_flag(awaited));
            if producer == RECENT {
                let path = path.clone();
                trials.push(Trial::test(format!("{producer}/{stem} (loads)"), move || loads(&path)));
            }
            let ignored = awaited || toolbox.ptxas.is_empty() && !required;
            let same = move || same_code(&path, &toolbox);
            trials.push(Trial::test(format!("{producer}/{stem} (code)"), same).with_ignored_flag(ignored));
        }
    }
    trials.push(Trial::test("enough modules", {
        let modules = trials.iter().filter(|trial| trial.name().ends_with("(code)")).count();
        move || if modules >= AT_LEAST { Ok(()) } else { Err(format!("only {modules} modules").into()) }
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// True if the module uses a family of instructions that the tables do not hold yet; with the first of its forms the module counts.
fn awaited(path: &Path) -> bool {
    let source = std::fs::read_to_string(path).expect("a listed file is readable");
    ["wgmma.", "tcgen05."].into_iter().any(|family| {
        source.contains(family) && !Opcode::all().any(|opcode| opcode.text().starts_with(family))
    })
}

/// Parses and validates, prints, and compares the tree of the print. Gives the source, the print and the module.
fn accepts(path: &Path) -> Result<(String, String, ValidatedModule), Failed> {
    let source = std::fs::read_to_string(path)?;
    let parsed = ptx::parse(&source);
    explain(&source, &parsed.diagnostics)?;
    let printed = ptx::print(&parsed.module);
    let again = ptx::parse(&printed);
    explain(&printed, &again.diagnostics)?;
    if again.module != parsed.module {
        return Err("the printed text has another tree than the original".into());
    }
    if ptx::print(&again.module) != printed {
        return Err("printing twice gives two texts".into());
    }
    let module = ValidatedModule::new(parsed.module)
        .map_err(|findings| explain(&source, &findings).expect_err("a rejection has an error"))?;
    Ok((source, printed, module))
}

/// The engine takes it, or refuses it for the reason that is listed.
fn loads(path: &Path) -> Result<(), Failed> {
    let (source, _, module) = accepts(path)?;
    let name = path.file_stem().expect("a listed file has a name").to_string_lossy();
    let listed = NOT_LOADED.iter().find(|(module, _)| name == *module).map(|(_, reason)| *reason);
    match (Program::load(&module), listed) {
        (Ok(_), None) => Ok(()),
        (Ok(_), Some(_)) => Err("is loaded, and listed as one that is not".into()),
        (Err(errors), Some(reason)) if errors.iter().any(|error| format!("{error:?}").contains(reason)) => {
            Ok(())
        }
        (Err(errors), _) => explain(&source, &errors),
    }
}

/// The errors among the findings, with their lines.
fn explain(source: &str, findings: &[Diagnostic]) -> Result<(), Failed> {
    let lines = LineIndex::new(source);
    let errors: Vec<_> = findings
        .iter()
        .filter(|finding| finding.is_error())
        .map(|finding| {
            let line = lines.position(finding.span.start).line as usize;
            let text = source.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            format!("line {line}: {} {}\n    {}", finding.code, finding.message, text.trim())
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n").into()) }
}

fn same_code(path: &Path, toolbox: &Toolbox) -> Result<(), Failed> {
    let (source, printed, module) = accepts(path)?;
    let target = module.target();
    if target.sm < OLDEST_WITH_CODE {
        return [&source, &printed].into_iter().try_for_each(|text| checks(text, toolbox));
    }
    let version = module.version();
    let ptxas = toolbox
        .for_module(version, target)
        .ok_or_else(|| format!("no installed ptxas knows {target} in {version}"))?;
    let name = path.file_stem().expect("a listed file has a name").to_string_lossy().into_owned();
    let relocatable = name.contains(".rdc");
    let original =
        assemble(ptxas, target, &source, relocatable).map_err(|said| format!("the original: {said}"))?;
    let reprinted =
        assemble(ptxas, target, &printed, relocatable).map_err(|said| format!("the print: {said}"))?;
    if !original.keys().any(|name| name.starts_with(".text.")) {
        return Err("the original holds no code".into());
    }
    let differing: Vec<_> = original
        .keys()
        .chain(reprinted.keys())
        .filter(|&name| original.get(name) != reprinted.get(name))
        .map(String::as_str)
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(format!("these sections differ: {}", differing.join(", ")).into())
}

/// Whether ptxas takes the text for a target that it no longer generates code for.
fn checks(text: &str, toolbox: &Toolbox) -> Result<(), Failed> {
    let newest = Target::sm(OLDEST_WITH_CODE);
    let ptxas = toolbox.for_target(newest).ok_or("no installed ptxas knows the old targets")?;
    let source = temporary().with_extension("ptx");
    std::fs::write(&source, text)?;
    // A virtual architecture: parsed and checked only.
    let output = Command::new(&ptxas.path)
        .args([&format!("-arch=compute_{OLDEST_WITH_CODE}"), "-o", "/dev/null"])
        .arg(&source)
        .output();
    std::fs::remove_file(&source)?;
    let output = output?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned().into())
}

/// The sections of the object that ptxas makes: all but the tables of names and the notes on how it was made. `.debug_line` and its
/// fellows are among them, so lines and user sections are compared as well.
fn assemble(
    ptxas: &Ptxas,
    target: Target,
    text: &str,
    relocatable: bool,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    // The name of the file reaches nothing that is compared, but both runs must not share one.
    let stem = temporary();
    let (source, object) = (stem.with_extension("ptx"), stem.with_extension("cubin"));
    std::fs::write(&source, text).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
    let mut command = Command::new(&ptxas.path);
    command.arg(format!("-arch={target}")).arg(&source).arg("-o").arg(&object);
    if relocatable {
        command.arg("-c");
    }
    let output = command.output();
    let bytes = std::fs::read(&object);
    // Leftovers in the temporary folder are no reason to fail.
    for file in [&source, &object] {
        std::fs::remove_file(file).unwrap_or_default();
    }
    let output = output.map_err(|e| format!("cannot start {}: {e}", ptxas.path.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned());
    }
    let bytes = bytes.map_err(|e| format!("cannot read the object: {e}"))?;
    let mut sections = sections(&bytes).ok_or("the object is not an ELF file of 64 bits")?;
    // `.nv_debug_ptx_txt.HASH` is the text itself, `.nv_debug_line_sass` its line numbers; the symbols are places in a table that holds
    // the hash.
    // Prototypes and the graph of calls are too.
    let of_the_text = |name: &str| {
        let places = ["tab", ".nv.callgraph", ".nv.prototype"];
        let of_names = places.iter().any(|end| name.ends_with(end));
        name.starts_with(".note") || name.contains(".nv_debug_") || of_names
    };
    sections.retain(|name, _| !of_the_text(name));
    Ok(sections)
}

fn temporary() -> PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("warpsmith-real-{}-{serial}", std::process::id()))
}

/// The sections of a little-endian 64-bit ELF file: their names and contents (System V ABI, "Sections").
fn sections(elf: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(bytes.get(at..at.checked_add(width)?)?);
        usize::try_from(u64::from_le_bytes(wide)).ok()
    }
    const SHT_NOBITS: usize = 8;
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count, names) =
        (number(elf, 0x28, 8)?, number(elf, 0x3a, 2)?, number(elf, 0x3c, 2)?, number(elf, 0x3e, 2)?);
    // sh_name, sh_type, sh_offset, sh_size.
    let header = |index: usize| {
        let at = table.checked_add(index.checked_mul(size)?)?;
        Some((
            number(elf, at, 4)?,
            number(elf, at + 4, 4)?,
            number(elf, at + 24, 8)?,
            number(elf, at + 32, 8)?,
        ))
    };
    let contents = |offset: usize, length: usize| elf.get(offset..offset.checked_add(length)?);
    let (_, _, offset, length) = header(names)?;
    let names = contents(offset, length)?;
    let mut sections = BTreeMap::new();
    for index in 0..count {
        let (name, kind, offset, length) = header(index)?;
        let name = names.get(name..)?.split(|&byte| byte == 0).next()?;
        let bytes = if kind == SHT_NOBITS {
            length.to_le_bytes().to_vec()
        } else {
            contents(offset, length)?.to_vec()
        };
        // Sections of one name, if any, are compared as one, in their order.
        sections.entry(String::from_utf8_lossy(name).into_owned()).or_insert_with(Vec::new).extend(bytes);
    }
    Some(sections)
}
