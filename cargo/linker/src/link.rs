//! Objects and rlibs to one file of PTX.

use crate::arguments::Arguments;
use warpsmith_emit::Compiler;
use warpsmith_llvm::{Module, Options, archive, import, module};

/// Links what the command line names.
///
/// # Errors
/// Everything that is wrong, as text for people.
pub fn link(arguments: &Arguments) -> Result<(), String> {
    let mut files = Vec::new();
    for path in &arguments.inputs {
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
            // What rustc keeps for itself, `lib.rmeta`, is no bitcode.
            if module::is_bitcode(member.data) {
                let name = format!("{name}({})", member.name);
                let module = Module::read(member.data).map_err(|error| format!("error: {name}: {error}"))?;
                modules.push((name, module));
            }
        }
    }
    let options = Options::new()
        .with_target(arguments.target)
        .with_exports(arguments.exports.clone())
        .with_closed(true);
    let module = import(modules, &options).map_err(|errors| {
        let errors: Vec<String> =
            errors.iter().map(|error| format!("error[{}]: {error}", error.code)).collect();
        errors.join("\n")
    })?;
    let compiler = Compiler::new(arguments.target).with_opt_level(arguments.level);
    let compiled = compiler.compile(&module).map_err(|errors| errors.to_string())?;
    let output = arguments.output.display();
    std::fs::write(&arguments.output, compiled.text)
        .map_err(|error| format!("error: cannot write {output}: {error}"))
}
