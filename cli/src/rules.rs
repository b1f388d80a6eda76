//! `warpsmith rules`

use crate::{Outcome, input, parse_level};
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use warpsmith::DEFAULT_TARGET;
use warpsmith::diag::Language;
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::{ir, llvm, lower};

#[derive(Args)]
pub struct Options {
    /// `.wir` files, folders of them, or files of LLVM bitcode. Without any, the rules are listed.
    paths: Vec<PathBuf>,
    /// The level that files are compiled at.
    #[arg(short = 'O', value_parser = parse_level, default_value_t, value_name = "LEVEL")]
    level: OptLevel,
    /// List the rules that no file makes use of, by their lines in the rule files.
    #[arg(long, requires = "paths")]
    unused: bool,
}

pub fn run(options: &Options) -> Outcome {
    let mut out = std::io::stdout().lock();
    let rules = lower::rules::RULES;
    if options.paths.is_empty() {
        for rule in rules {
            writeln!(out, "{}:{}: {}: {}", rule.file, rule.line, rule.name, rule.text)?;
        }
        return Ok(());
    }
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut compiled, mut refused) = (0, 0);
    for path in &options.paths {
        for file in input::files(path, &[Language::Wir])? {
            let module = if input::is_bitcode(&file) {
                input::linked(std::slice::from_ref(&file), &llvm::Options::new().with_target(DEFAULT_TARGET))
                    .ok()
            } else {
                parsed(&file)
            };
            let report = module.and_then(|module| {
                let target = module.target.unwrap_or(DEFAULT_TARGET);
                Compiler::new(target).with_opt_level(options.level).compile(&module).ok()
            });
            let Some(report) = report else {
                refused += 1;
                continue;
            };
            compiled += 1;
            for count in report.stats.passes.rules {
                *times.entry(count.rule).or_default() += count.times;
            }
        }
    }
    // A line is used if one of its choices is. Those that flags allow are applied before the passes, which do not count them.
    let mut lines: BTreeMap<(&str, u32), (u32, &str)> = BTreeMap::new();
    for rule in rules.iter().filter(|rule| rule.flags() == ir::FastMath::NONE) {
        let line = lines.entry((rule.file, rule.line)).or_insert((0, rule.name));
        line.0 += times.get(rule.name).copied().unwrap_or(0);
    }
    let unused = lines.values().filter(|(times, _)| *times == 0).count();
    for ((file, line), (times, name)) in &lines {
        let name = name.split('/').next().unwrap_or(name);
        match options.unused {
            true if *times == 0 => writeln!(out, "{file}:{line}: {name}")?,
            true => {}
            false => writeln!(out, "{times:>8}  {file}:{line}: {name}")?,
        }
    }
    writeln!(
        out,
        "{compiled} files compiled at {}, {refused} refused; {unused} of {} rules never applied",
        options.level,
        lines.len()
    )?;
    Ok(())
}

/// The module of a file of IR; none of one that is wrong on purpose.
fn parsed(path: &std::path::Path) -> Option<ir::Module> {
    let source = input::read(path).ok()?;
    ir::parse_module(source.source).ok()
}
