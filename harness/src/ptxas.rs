//! NVIDIA's assembler, where it is installed, to check emitted text.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use warpsmith::Target;

/// One installed `ptxas`.
#[derive(Clone, Debug)]
pub struct Ptxas {
    /// The program.
    pub path: PathBuf,
    /// Its release, such as `13.0`.
    pub release: String,
    targets: BTreeSet<Target>,
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
        let targets = help.split('\'').skip(1).step_by(2).filter_map(|word| word.parse().ok()).collect();
        Some(Ptxas { path: path.to_owned(), release, targets })
    }

    /// True if this release assembles for the target.
    pub fn knows(&self, target: Target) -> bool {
        self.targets.contains(&target)
    }

    /// Checks `text` without making code, which is much faster; the error is the output of ptxas.
    pub fn check(&self, text: &str, target: Target) -> Result<(), String> {
        self.run(text, &format!("-arch=compute_{}", target.to_string().trim_start_matches("sm_")))
    }

    /// Assembles `text`; the error is the output of ptxas.
    pub fn assemble(&self, text: &str, target: Target) -> Result<(), String> {
        self.run(text, &format!("-arch={target}"))
    }

    fn run(&self, text: &str, arch: &str) -> Result<(), String> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let stem = std::env::temp_dir().join(format!("warpsmith-{}-{serial}", std::process::id()));
        let (source, object) = (stem.with_extension("ptx"), stem.with_extension("cubin"));
        std::fs::write(&source, text).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
        let output = Command::new(&self.path).arg(arch).arg(&source).arg("-o").arg(&object).output();
        // Leftovers in the temporary folder are no reason to fail.
        let _ = std::fs::remove_file(&source);
        let _ = std::fs::remove_file(&object);
        let output = output.map_err(|e| format!("cannot start {}: {e}", self.path.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(String::from_utf8_lossy(&said).replace(&*source.to_string_lossy(), "emitted").trim().to_owned())
    }
}

/// The installed releases of `ptxas`, in the order in which they are preferred.
#[derive(Clone, Default, Debug)]
pub struct Toolbox {
    /// What was found.
    pub ptxas: Vec<Ptxas>,
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
                // Newest release first.
                named.sort_by(|a, b| b.cmp(a));
                programs.extend(named);
            }
        }
        Toolbox { ptxas: programs.iter().filter_map(|path| Ptxas::probe(path)).collect() }
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
        Toolbox::search(places.iter().map(PathBuf::as_path))
    }

    /// The first release that knows the target.
    pub fn for_target(&self, target: Target) -> Option<&Ptxas> {
        self.ptxas.iter().find(|ptxas| ptxas.knows(target))
    }
}
