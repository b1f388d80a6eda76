//! NVIDIA's assembler, where it is installed, to check emitted text.

use crate::llvm::Llvm;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use warpsmith::Target;
use warpsmith::fuzz::NoCode;
use warpsmith::isa::{Release, Version};

/// The release whose verdicts the repository's records and expectations are. Releases differ in what they take, whatever `.version`
/// says, so this one is asked about all that it knows, and others about the rest.
pub const REFERENCE: &str = "13.0";

/// One installed `ptxas`.
#[derive(Clone, Debug)]
pub struct Ptxas {
    /// The program.
    pub path: PathBuf,
    /// Its release, such as `13.0`.
    pub release: String,
    /// The newest `.version` that it reads.
    pub newest: Version,
    targets: BTreeSet<Target>,
    /// The names of targets that are none of ours.
    pub unknown_targets: Vec<String>,
}

impl Ptxas {
    /// Asks a program whether it is a `ptxas`, which release, and which targets it knows.
    pub fn probe(path: &Path) -> Option<Ptxas> {
        let output = |flag| {
            let output =
                Command::new(path).arg(flag).output().ok().filter(|output| output.status.success())?;
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let version = output("--version")?;
        let release = version.split_once("release ")?.1.split(',').next()?.trim().to_owned();
        let help = output("--help")?;
        // The help names targets in its prose too; those that it takes stand in quotes, in lists.
        let (mut targets, mut unknown_targets) = (BTreeSet::new(), BTreeSet::new());
        for word in help.split('\'').skip(1).step_by(2).filter(|word| word.starts_with("sm_")) {
            match word.parse::<Target>() {
                Ok(target) => _ = targets.insert(target),
                Err(()) => _ = unknown_targets.insert(word.to_owned()),
            }
        }
        let target = *targets.last()?;
        let unknown_targets = unknown_targets.into_iter().collect();
        let mut found =
            Ptxas { path: path.to_owned(), release, newest: Version::OLDEST, targets, unknown_targets };
        // No option asks for it, but it is named to whoever goes beyond it.
        let beyond = format!(".version 99.9\n.target {target}\n.address_size 64\n");
        let said = found.check(&beyond, target).err()?;
        found.newest = said.split_once("current version is '")?.1.split('\'').next()?.parse().ok()?;
        Some(found)
    }

    /// True if this release assembles for the target.
    pub fn knows(&self, target: Target) -> bool {
        self.targets.contains(&target)
    }

    /// The release as numbers.
    fn number(&self) -> (u32, u32) {
        release_number(&self.release)
    }

    /// Checks `text` without making code, which is much faster; the error is the output of ptxas.
    pub fn check(&self, text: &str, target: Target) -> Result<(), String> {
        self.checked(text, target).map_err(|unaccepted| unaccepted.said)
    }

    fn checked(&self, text: &str, target: Target) -> Result<(), Unaccepted> {
        self.run(text, &format!("-arch=compute_{}", target.to_string().trim_start_matches("sm_"))).map(drop)
    }

    /// Assembles `text` to a cubin; the error is the output of ptxas.
    pub fn assemble(&self, text: &str, target: Target) -> Result<Vec<u8>, String> {
        self.assembled(text, target).map_err(|unaccepted| unaccepted.said)
    }

    fn assembled(&self, text: &str, target: Target) -> Result<Vec<u8>, Unaccepted> {
        let cubin = self.run(text, &format!("-arch={target}"))?;
        cubin.map_err(|e| Unaccepted::said(format!("ptxas has written no code: {e}")))
    }

    /// An answer as oracles take it: a crash says nothing about the text, but which release crashed.
    fn answer<T>(&self, answer: Result<T, Unaccepted>) -> Result<T, NoCode> {
        answer.map_err(|Unaccepted { said, crashed }| match crashed {
            true => NoCode::Crashed(format!("ptxas {}: {said}", self.release)),
            false => NoCode::Rejected(said),
        })
    }

    /// The cubin is there where code is generated.
    fn run(&self, text: &str, arch: &str) -> Result<std::io::Result<Vec<u8>>, Unaccepted> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let stem = std::env::temp_dir().join(format!("warpsmith-{}-{serial}", std::process::id()));
        let (source, object) = (stem.with_extension("ptx"), stem.with_extension("cubin"));
        std::fs::write(&source, text)
            .map_err(|e| Unaccepted::said(format!("cannot write {}: {e}", source.display())))?;
        let output = Command::new(&self.path).arg(arch).arg(&source).arg("-o").arg(&object).output();
        let cubin = std::fs::read(&object);
        // Leftovers in the temporary folder are no reason to fail.
        for file in [&source, &object] {
            std::fs::remove_file(file).unwrap_or_default();
        }
        let output =
            output.map_err(|e| Unaccepted::said(format!("cannot start {}: {e}", self.path.display())))?;
        if output.status.success() {
            return Ok(cubin);
        }
        if output.status.code().is_none() {
            return Err(Unaccepted { said: format!("it ends by {}", output.status), crashed: true });
        }
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).replace(&*source.to_string_lossy(), "emitted");
        Err(Unaccepted::said(said.trim().to_owned()))
    }
}

/// Why there is no code.
struct Unaccepted {
    /// What ptxas wrote, or why it could not.
    said: String,
    /// It was ended by a signal, which says nothing of the text.
    crashed: bool,
}

impl Unaccepted {
    fn said(said: String) -> Unaccepted {
        Unaccepted { said, crashed: false }
    }
}

/// The installed releases of `ptxas`.
#[derive(Clone, Default, Debug)]
pub struct Toolbox {
    /// What was found; of two of one release the first is asked.
    pub ptxas: Vec<Ptxas>,
    /// LLVM's optimiser and its compiler to PTX.
    pub llvm: Option<Llvm>,
}

impl Toolbox {
    /// Looks at each program and each folder (for files whose names start with `ptxas`).
    pub fn search<'a>(places: impl IntoIterator<Item = &'a Path>) -> Toolbox {
        let mut programs: Vec<PathBuf> = Vec::new();
        for place in places {
            if place.is_file() {
                programs.push(place.to_owned());
            } else if let Ok(entries) = std::fs::read_dir(place) {
                let mut named: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
                named.retain(|path| {
                    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ptxas"))
                });
                // The order of a folder is not order.
                named.sort();
                programs.extend(named);
            }
        }
        Toolbox { ptxas: programs.iter().filter_map(|path| Ptxas::probe(path)).collect(), llvm: None }
    }

    /// Looks where the command and the tests look: the programs that `WARPSMITH_PTXAS` lists, the folder that `cargo xtask tools`
    /// fills (above the working directory or this program), and `PATH`.
    pub fn from_environment() -> Toolbox {
        let list =
            |variable| std::env::var_os(variable).map(|v| std::env::split_paths(&v).collect::<Vec<_>>());
        let starts = [std::env::current_dir().ok(), std::env::current_exe().ok()];
        let private = starts.iter().flatten().flat_map(|start| start.ancestors()).find_map(|folder| {
            let bin = folder.join("target/warpsmith-tools/bin");
            bin.is_dir().then_some(bin)
        });
        let on_path = list("PATH").unwrap_or_default().into_iter().map(|folder| folder.join("ptxas"));
        let places: Vec<PathBuf> =
            list("WARPSMITH_PTXAS").unwrap_or_default().into_iter().chain(private).chain(on_path).collect();
        let llvm = Llvm::find(&list("PATH").unwrap_or_default());
        Toolbox { llvm, ..Toolbox::search(places.iter().map(PathBuf::as_path)) }
    }

    /// The release to ask about a module of this `.version` for this target: of those that know both, the newest up to
    /// [`REFERENCE`], else the oldest after it.
    pub fn for_module(&self, version: Version, target: Target) -> Option<&Ptxas> {
        self.suitable(|ptxas| ptxas.knows(target) && version <= ptxas.newest)
    }

    /// The release called `13.5`, say.
    pub fn release(&self, release: &str) -> Option<&Ptxas> {
        self.ptxas.iter().find(|ptxas| ptxas.release == release)
    }

    /// The newest release.
    pub fn newest(&self) -> Option<&Ptxas> {
        self.ptxas.iter().max_by_key(|ptxas| ptxas.number())
    }

    /// The release to ask about modules for the target whose `.version` is no higher than the target needs.
    pub fn for_target(&self, target: Target) -> Option<&Ptxas> {
        self.suitable(|ptxas| ptxas.knows(target))
    }

    fn suitable(&self, knows: impl Fn(&Ptxas) -> bool) -> Option<&Ptxas> {
        let distance = |ptxas: &&Ptxas| {
            let (found, reference) = (ptxas.number(), release_number(REFERENCE));
            let newest_first = (u32::MAX - found.0, u32::MAX - found.1);
            if found <= reference { (false, newest_first) } else { (true, found) }
        };
        self.ptxas.iter().filter(|ptxas| knows(ptxas)).min_by_key(distance)
    }
}

/// `13.0` as numbers, to compare.
fn release_number(release: &str) -> (u32, u32) {
    let number = |text: &str| text.parse().unwrap_or(0);
    release.split_once('.').map_or((number(release), 0), |(major, minor)| (number(major), number(minor)))
}

impl warpsmith::fuzz::Tools for Toolbox {
    fn ptxas(&self, text: &str, target: Target) -> Option<Result<Vec<u8>, NoCode>> {
        let version =
            text.lines().find_map(|line| line.trim().strip_prefix(".version ")?.trim().parse().ok())?;
        let ptxas = self.for_module(version, target)?;
        Some(ptxas.answer(ptxas.assembled(text, target)))
    }

    fn check(&self, text: &str, version: Version, target: Target) -> Option<(Release, Result<(), NoCode>)> {
        let ptxas = self.for_module(version, target)?;
        Some((ptxas.release.parse().ok()?, ptxas.answer(ptxas.checked(text, target))))
    }

    fn llvm(&self, text: &str, target: Target) -> Option<Result<String, String>> {
        Some(self.llvm.as_ref()?.compile(text, target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ptxas(release: &str, newest: Version, targets: &[u16]) -> Ptxas {
        let targets = targets.iter().map(|sm| Target::sm(*sm)).collect();
        Ptxas {
            path: PathBuf::new(),
            release: release.to_owned(),
            newest,
            targets,
            unknown_targets: Vec::new(),
        }
    }

    /// A ptxas that refuses has a verdict, one that crashes has none.
    #[cfg(unix)]
    #[test]
    fn a_crash_is_no_verdict() {
        use std::os::unix::fs::PermissionsExt;
        use warpsmith::fuzz::Tools;
        let folder = std::env::temp_dir().join(format!("warpsmith-crash-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let verdict = |name: &str, script: &str| {
            let path = folder.join(name);
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            let known = Ptxas { path, ..ptxas("13.0", Version::new(9, 0), &[90]) };
            let toolbox = Toolbox { llvm: None, ptxas: vec![known] };
            let text = ".version 8.0\n.target sm_90\n";
            let checked = toolbox.check(text, Version::new(8, 0), Target::sm(90)).map(|(_, verdict)| verdict);
            assert_eq!(toolbox.ptxas(text, Target::sm(90)).map(|verdict| verdict.map(drop)), checked);
            checked
        };
        let refuses = verdict("refuses", "#!/bin/sh\necho no\nexit 255\n");
        assert_eq!(refuses, Some(Err(NoCode::Rejected("no".to_owned()))));
        let crashes = verdict("crashes", "#!/bin/sh\nkill -SEGV $$\n");
        let Some(Err(NoCode::Crashed(how))) = crashes else { panic!("{crashes:?}") };
        assert!(how.starts_with("ptxas 13.0: it ends by signal: 11"), "{how}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_reference_is_asked_about_what_it_knows_and_others_about_the_rest() {
        let toolbox = Toolbox {
            llvm: None,
            ptxas: vec![
                ptxas("13.10", Version::new(9, 10), &[75, 90, 120]),
                ptxas("13.5", Version::new(9, 5), &[75, 90, 120]),
                ptxas("13.0", Version::new(9, 0), &[75, 90, 120]),
                ptxas("12.9", Version::new(8, 8), &[50, 75, 90]),
                ptxas("12.8", Version::new(8, 7), &[50, 75, 90]),
            ],
        };
        let asked = |major, minor, sm| {
            let found = toolbox.for_module(Version::new(major, minor), Target::sm(sm));
            found.map(|ptxas| ptxas.release.as_str())
        };
        assert_eq!(asked(8, 0, 90), Some("13.0"));
        assert_eq!(asked(9, 0, 90), Some("13.0"));
        assert_eq!(asked(8, 0, 50), Some("12.9"));
        assert_eq!(asked(9, 0, 50), None);
        assert_eq!(asked(9, 1, 90), Some("13.5"));
        assert_eq!(asked(9, 6, 90), Some("13.10"));
        assert_eq!(asked(9, 11, 90), None);
        assert_eq!(toolbox.for_target(Target::sm(75)).map(|ptxas| ptxas.release.as_str()), Some("13.0"));
    }
}
