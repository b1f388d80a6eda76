//! LLVM's programs, where they are installed: a second compiler for the same modules.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use warpsmith::Target;

/// The release whose text is written.
const RELEASE: &str = "22";

/// `opt` and `llc` of one release.
#[derive(Clone, Debug)]
pub struct Llvm {
    opt: PathBuf,
    llc: PathBuf,
}

impl Llvm {
    /// `opt-22` and `llc-22` in one of the folders.
    pub fn find(folders: &[PathBuf]) -> Option<Llvm> {
        let program = |name: &str| {
            let mut places = folders.iter().map(|folder| folder.join(format!("{name}-{RELEASE}")));
            places.find(|place| place.is_file())
        };
        Some(Llvm { opt: program("opt")?, llc: program("llc")? })
    }

    /// The PTX of a module, at `-O2`; the error is what the programs say.
    pub fn compile(&self, text: &str, target: Target) -> Result<String, String> {
        let cpu = format!("-mcpu={target}");
        let optimised = run(Command::new(&self.opt).args(["-O2", "-S", &cpu]), text)?;
        run(Command::new(&self.llc).args(["-O2", &cpu]), &optimised)
    }
}

/// What a filter makes of a text.
fn run(command: &mut Command, text: &str) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot = |error: std::io::Error| format!("cannot run {name}: {error}");
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    let mut input = child.stdin.take();
    // The texts are longer than a pipe holds: they are written while the output is read.
    let output = std::thread::scope(|scope| {
        let writer =
            scope.spawn(move || input.as_mut().map_or(Ok(()), |input| input.write_all(text.as_bytes())));
        let output = child.wait_with_output();
        // A program that stops reading says why on its own.
        drop(writer.join());
        output
    })
    .map_err(cannot)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // Behind that comes a trace of LLVM's own functions.
    Err(said.split("PLEASE submit").next().unwrap_or_default().trim().to_owned())
}
