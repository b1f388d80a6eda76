//! What maintains this repository: `cargo xtask test | tools | bless | pages | coverage | gallery | oracle | toolkit | mutants | clients | csmith | hardware | sweep`.

#![forbid(unsafe_code)]

mod check;
mod clients;
mod coverage;
mod csmith;
mod gallery;
mod hardware;
mod mutants;
mod oracle;
mod strings;
mod sweep;
mod toolkit;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--no-tools] [FILTER..]   install NVIDIA's tools, then format check, clippy, and all tests
  tools                          install the pinned ptxas, nvlink and nvdisasm into target/warpsmith-tools
  bless                          rewrite the expected output of the file tests and the generated pages
  pages                          write the generated pages of docs/ again, from the tables and the tests as they stand
  coverage                       write docs/coverage.md from the instruction tables
  gallery                        ask the real ptxas about the gallery of mistakes again, and write docs/diagnostics.md
  oracle ROW|FAMILY..            ask the real ptxas about recorded rows of tests/oracle again
  toolkit RELEASE [AGAINST]      what a newer ptxas (13.6, say) does otherwise than the newest of ours, and which words are new in it
  mutants [SECONDS [ROWS [JOBS]]]  plant faults in a copy of the repository and have `warpsmith fuzz` find each (of `all`, of `10,82-128`), in 120 seconds of processor time per thread
  csmith COUNT [FIRST]           compile so many programs of csmith with clang-22 at three levels, and compare what they leave with gcc's build
  clients [--check] [SUITE..]    install programs that use CUDA into target/clients, and run their suites with our libcuda; under all checkers
  hardware                       run the golden cases on the GPU at hand and record them in tests/golden; exit status 3 without one
  sweep [INSTRUCTION..]          compare every operand of the approximate instructions with the GPU at hand
";

/// The exit status of `hardware` where there is no GPU.
const NO_GPU: u8 = 3;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test", rest @ ..] => check::test(rest),
        ["tools"] => tools::install().map(|bin| println!("{}", bin.display())),
        // The gallery's page shows the output of its tests, so it is written again when that is blessed.
        ["bless"] => {
            let pages = || coverage::write().and_then(|()| gallery::write());
            pages().and_then(|()| check::bless()).and_then(|()| pages())
        }
        ["pages"] => coverage::write().and_then(|()| gallery::write()),
        ["gallery"] => gallery::record(),
        ["coverage"] => coverage::write(),
        ["oracle", names @ ..] => oracle::ask(names),
        ["toolkit", release] => toolkit::compare(release, None),
        ["toolkit", release, against] => toolkit::compare(release, Some(against)),
        ["mutants", rest @ ..] => {
            let number = |at: usize, usual: u32| rest.get(at).map_or(Some(usual), |text| text.parse().ok());
            match (number(0, 120), number(2, 2)) {
                (Some(seconds), Some(jobs)) => {
                    mutants::run(seconds.into(), rest.get(1).unwrap_or(&"all"), jobs)
                }
                _ => Err("mutants takes seconds, rows and a number of threads".to_owned()),
            }
        }
        ["csmith", rest @ ..] => {
            match rest.iter().map(|text| text.parse().ok()).collect::<Vec<_>>().as_slice() {
                [Some(count)] => csmith::run(*count, None),
                [Some(count), Some(first)] => csmith::run(*count, Some(*first)),
                _ => Err("csmith takes one or two numbers: how many programs, and the first seed".to_owned()),
            }
        }
        ["clients", names @ ..] => clients::run(names),
        ["hardware"] => match hardware::record() {
            Ok(hardware::Outcome::Recorded) => Ok(()),
            Ok(hardware::Outcome::NoGpu(reason)) => {
                eprintln!("xtask: nothing recorded: {reason}");
                return ExitCode::from(NO_GPU);
            }
            Err(message) => Err(message),
        },
        [hardware::WORKER] => hardware::work(),
        ["sweep", names @ ..] => sweep::run(names),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace's `Cargo.toml`.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ lies in the workspace's folder")
}

/// A path below the workspace's folder.
fn in_root(path: &str) -> PathBuf {
    root().join(path)
}
