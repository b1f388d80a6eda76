//! Objects and rlibs to one file of PTX.

use crate::arguments::Arguments;
use warpsmith_emit::{Compiler, Debug};
use warpsmith_llvm::{Module, Options, archive, import, module};

/// Links what the command line names.
///
/// # Errors
/// Everything that is wrong, as text for people.
pub fn link(arguments: &Arguments) -> Result<(), String> {
    let mut files = Vec::new();
    for path in arguments.inputs.iter().chain(&arguments.libdevice) {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| format!("error: cannot read {name}: {error}"))?;
        files.push((name, bytes));
    }
    let mut modules = Vec::new();
    for (name, bytes) in &files {
        let said = |error| format!("error: {name}: {error}");
        if module::is_bitcode(bytes) {
            modules.push((name.clone(), Module::read(bytes).map_err(said)?));
            continue;
        }
        if !archive::is_archive(bytes) {
            return Err(format!("error: {name}: neither LLVM bitcode nor an archive"));
        }
        for member in archive::members(bytes).map_err(said)? {
            // What rustc keeps for itself, `lib.rmeta`, is not bitcode.
            if module::is_bitcode(member.data) {
                let name = format!("{name}({})", member.name);
                let module = Module::read(member.data).map_err(|error| format!("error: {name}: {error}"))?;
                modules.push((name, module));
            }
        }
    }
    let mut options = Options::new()
        .with_target(arguments.target)
        .with_exports(arguments.exports.clone())
        .with_closed(true);
    if let Some(library) = &arguments.libdevice {
        options = options.with_library(library.display().to_string());
    }
    let module = import(modules, &options).map_err(|errors| {
        // rustc calls the linker where it was called itself, so that paths of sources are good.
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let reports: Vec<String> = errors.iter().map(|error| error.report("", read).to_string()).collect();
        reports.join("\n\n")
    })?;
    // rustc asks for debug information always: whether there is to be any, the modules say. Lines, so that ptxas optimises all the same.
    let debug = if module.debug.is_some() { Debug::Lines } else { Debug::None };
    let compiler = Compiler::new(arguments.target).with_opt_level(arguments.level).with_debug(debug);
    let compiled = compiler.compile(module).map_err(|errors| errors.to_string())?;
    let output = arguments.output.display();
    std::fs::write(&arguments.output, compiled.text)
        .map_err(|error| format!("error: cannot write {output}: {error}"))
}
