//! The command line of the stock linker.

use std::path::PathBuf;
use warpsmith_emit::OptLevel;
use warpsmith_isa::Target;

/// What is to be linked.
#[derive(Clone, PartialEq, Debug)]
pub struct Arguments {
    /// The symbols that stay visible: kernels, functions and statics.
    pub exports: Vec<String>,
    /// Objects and archives, in order.
    pub inputs: Vec<PathBuf>,
    /// Where the PTX goes.
    pub output: PathBuf,
    /// The target.
    pub target: Target,
    /// How much to optimise.
    pub level: OptLevel,
    /// CUDA's library of functions, in place of the math library's.
    pub libdevice: Option<PathBuf>,
}

/// The first target that ptxas 13 assembles for.
const FIRST_SM: u16 = 75;

/// Reads the command line.
///
/// # Errors
/// What is missing, unknown, or names a target that ptxas no longer knows.
pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Arguments, String> {
    let mut args = args.into_iter();
    let (mut exports, mut inputs, mut output, mut target) = (Vec::new(), Vec::new(), None, None);
    let mut level = OptLevel::default();
    let (mut old_targets, mut libdevice) = (false, None);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("error: `{arg}` needs a value"));
        match arg.as_str() {
            "--libdevice" => libdevice = Some(PathBuf::from(value()?)),
            "--export-symbol" => exports.push(value()?),
            "-o" => output = Some(PathBuf::from(value()?)),
            "--target-cpu" => target = Some(value()?),
            "--target" => {
                let triple = value()?;
                if !triple.starts_with("nvptx64") {
                    return Err(format!(
                        "error: the target `{triple}`: this linker is for nvptx64-nvidia-cuda"
                    ));
                }
            }
            // Where libraries of native code would be looked for: rlibs are given by path.
            "-L" => drop(value()?),
            // rustc always asks for debug information; the modules say whether there is any.
            "--debug" => {}
            "-O0" => level = OptLevel::O0,
            "-O1" => level = OptLevel::O1,
            "-O2" => level = OptLevel::O2,
            "-Os" | "-Oz" => level = OptLevel::Os,
            "-O3" => level = OptLevel::O3,
            "--allow-old-targets" => old_targets = true,
            // The `.version` follows from what the program needs.
            _ if arg.starts_with("--target-feature=") => {}
            _ if arg.starts_with('-') => return Err(format!("error: unknown option `{arg}`")),
            _ => inputs.push(PathBuf::from(arg)),
        }
    }
    let cpu = target.ok_or("error: no `--target-cpu`")?;
    let target: Target = cpu.parse().map_err(|_| format!("error: unknown target `{cpu}`"))?;
    if target.sm < FIRST_SM && !old_targets {
        return Err(format!(
            "error: `{cpu}`: ptxas 13 begins at sm_{FIRST_SM}\n  help: name the GPU with `-C target-cpu=sm_80`, or pass `-C link-arg=--allow-old-targets` for an \
             older ptxas"
        ));
    }
    let output = output.ok_or("error: no output file, `-o`")?;
    if inputs.is_empty() {
        return Err("error: no input files".to_owned());
    }
    Ok(Arguments { exports, inputs, output, target, level, libdevice })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Arguments, String> {
        parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_line_that_rustc_writes() {
        let line = "--export-symbol chunks --export-symbol COUNT a.rcgu.o libcore-1.rlib libcompiler_builtins-1.rlib -L /tmp/raw-dylibs \
                    --target nvptx64-nvidia-cuda --target-cpu sm_80 --target-feature=+ptx70,+ptx83 -L /self-contained -o k.ptx -O3 --debug";
        let arguments = of(line).unwrap();
        assert_eq!(arguments.exports, ["chunks", "COUNT"]);
        assert_eq!(arguments.inputs.len(), 3);
        assert_eq!((arguments.target, arguments.level), (Target::sm(80), OptLevel::O3));
        let with = of(&format!("{line} --libdevice libdevice.10.bc")).unwrap();
        assert_eq!(with.libdevice.as_deref(), Some(std::path::Path::new("libdevice.10.bc")));
        assert_eq!(of(&line.replace("-O3", "-Oz")).unwrap().level, OptLevel::Os);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        for (line, expected) in [
            ("a.o -o k.ptx --target-cpu sm_30", "ptxas 13 begins at sm_75"),
            ("a.o -o k.ptx --target-cpu sm_1", "unknown target `sm_1`"),
            ("a.o --target-cpu sm_80", "no output file"),
            ("-o k.ptx --target-cpu sm_80", "no input files"),
            ("a.o -o k.ptx --target-cpu sm_80 --gc", "unknown option `--gc`"),
            ("a.o -o", "needs a value"),
            ("a.o -o k.ptx --target x86_64-unknown-linux-gnu", "this linker is for"),
        ] {
            let error = of(line).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
        assert!(of("a.o -o k.ptx --target-cpu sm_50 --allow-old-targets").is_ok());
    }
}
