//! `warpsmith dump`

use crate::contents::Contents;
use crate::{Failure, Outcome, report, write_output};
use clap::Args;
use std::path::PathBuf;
use warpsmith::Diagnostics;
use warpsmith::diag::{Language, Source};
use warpsmith::watch::Sources;
use warpsmith::watch::dwarf::Places;
use warpsmith::{llvm, ptx};

#[derive(Args)]
pub struct Options {
    /// A `.bc` file; or a `.ptx` file, of whose variables of the source it is said where they live, at every line.
    file: PathBuf,
    /// Where the text goes; the default is standard output.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options) -> Outcome {
    let name = options.file.display().to_string();
    if Language::of_path(&options.file) == Some(Language::Ptx) {
        let text =
            std::fs::read(&options.file).map_err(|e| Failure::Usage(format!("cannot read {name}: {e}")))?;
        let text = String::from_utf8_lossy(&text);
        let parsed = ptx::parse(text.as_ref());
        let findings = Diagnostics::new(Source::new(name.as_str(), text.as_ref()), parsed.diagnostics);
        if findings.has_errors() {
            report(&findings);
            return Err(Failure::Rejected);
        }
        let places = Places::new(&parsed.module, &Sources::new(name, &text, &parsed.module));
        return write_output(options.output.as_deref(), &places.to_string());
    }
    let bytes =
        std::fs::read(&options.file).map_err(|e| Failure::Usage(format!("cannot read {name}: {e}")))?;
    if !llvm::module::is_bitcode(&bytes) {
        let is = Contents::of(&String::from_utf8_lossy(&bytes))
            .map(|contents| format!(" (it seems to be {contents})"));
        let is = is.unwrap_or_default();
        return Err(Failure::Usage(format!(
            "{name} is no LLVM bitcode{is}, and this command takes that or a `.ptx` file"
        )));
    }
    let text = llvm::Module::read(&bytes).and_then(|mut module| llvm::dump::module(&mut module));
    match text {
        Ok(text) => write_output(options.output.as_deref(), &text),
        Err(error) => {
            report(&error.into_diagnostics(&name));
            Err(Failure::Rejected)
        }
    }
}
