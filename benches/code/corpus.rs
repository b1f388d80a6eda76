//! The kernels of `benches/corpus`, and how each is launched.

use std::path::{Path, PathBuf};
use warpsmith::{ir, llvm};

/// A file of kernels.
pub struct Source {
    /// The CUDA source.
    pub cuda: PathBuf,
    /// What clang hands to its optimiser.
    pub bitcode: PathBuf,
    pub module: ir::Module,
    pub kernels: Vec<Kernel>,
}

/// A kernel and its launch.
pub struct Kernel {
    pub name: String,
    pub grid: u32,
    pub block: [u32; 3],
    pub args: Vec<Argument>,
    pub fill: Fill,
}

/// What a kernel is passed. Each buffer is one of its own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Argument {
    /// A buffer of input, filled from this seed: `a`, `b` and so on.
    Input(u32),
    /// A buffer that holds zeros and is compared afterwards: `out`.
    Output,
    /// `1024`, an `int`.
    Int(i32),
    /// `1024l`, a `long` or a `size_t`.
    Long(i64),
    /// `2.5`, a `float`.
    Float(f32),
    /// `2.5d`, a `double`.
    Double(f64),
}

impl Argument {
    fn parse(text: &str) -> Option<Argument> {
        Some(match text {
            "out" => Argument::Output,
            "a" | "b" | "c" | "d" | "e" | "f" => Argument::Input(u32::from(text.as_bytes()[0] - b'a') + 1),
            _ => match (text.strip_suffix('l'), text.strip_suffix('d')) {
                (Some(long), _) => Argument::Long(long.parse().ok()?),
                (None, Some(double)) => Argument::Double(double.parse().ok()?),
                (None, None) if text.contains('.') => Argument::Float(text.parse().ok()?),
                (None, None) => Argument::Int(text.parse().ok()?),
            },
        })
    }
}

/// What the inputs hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    F32,
    F16,
    Bits,
    Ascending,
}

impl Kernel {
    /// Reads `NAME grid=4 block=16,16 args=a,out,32,2.5 fill=f32`; `n=32` denotes `args=a,b,out,32`.
    fn parse(line: &str) -> Option<Kernel> {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let mut kernel = Kernel { name, grid: 1, block: [1; 3], args: Vec::new(), fill: Fill::Bits };
        for word in words {
            match word.split_once('=')? {
                ("grid", value) => kernel.grid = value.parse().ok()?,
                ("n", value) => {
                    let n = Argument::Int(value.parse().ok()?);
                    kernel.args = vec![Argument::Input(1), Argument::Input(2), Argument::Output, n];
                }
                ("args", values) => {
                    kernel.args = values.split(',').map(Argument::parse).collect::<Option<_>>()?;
                }
                ("block", value) => {
                    for (at, size) in kernel.block.iter_mut().zip(value.split(',')) {
                        *at = size.parse().ok()?;
                    }
                }
                ("fill", "f32") => kernel.fill = Fill::F32,
                ("fill", "f16") => kernel.fill = Fill::F16,
                ("fill", "u32") => kernel.fill = Fill::Bits,
                ("fill", "iota") => kernel.fill = Fill::Ascending,
                _ => return None,
            }
        }
        Some(kernel)
    }

    /// Whether two results are equal but for how floats round.
    pub fn agrees(&self, a: &[u8], b: &[u8]) -> bool {
        if self.fill != Fill::F32 {
            return self.fill == Fill::F16 || a == b;
        }
        let floats = |bytes: &[u8]| -> Vec<f32> {
            let words = bytes.chunks_exact(4).filter_map(|word| word.try_into().ok());
            words.map(f32::from_le_bytes).collect()
        };
        floats(a).iter().zip(floats(b)).all(|(&a, b)| {
            let far = (a - b).abs() > 1e-3 * a.abs().max(b.abs()).max(1e-2);
            // Bytes and integers instead of floats may be anything.
            !far || a.to_bits() == b.to_bits() || !a.is_normal() || !b.is_normal() || a.abs() > 1e9
        })
    }
}

/// The folder of the kernels that are part of the repository.
pub fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/corpus")
}

/// The files of a folder with the kernels that are wanted, or with all; of loops that stay loops or not.
pub fn read(folder: &Path, wanted: &[String], rolled: bool) -> Vec<Source> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    files.sort();
    let sources = files.into_iter().map(|cuda| {
        let text = std::fs::read_to_string(&cuda).expect("a source of the corpus");
        let lines = text.lines().filter_map(|line| line.strip_prefix("// launch: "));
        let parse = |line| Kernel::parse(line).unwrap_or_else(|| panic!("{}: {line}", cuda.display()));
        let mut kernels: Vec<Kernel> = lines.map(parse).collect();
        kernels.retain(|kernel| wanted.is_empty() || wanted.contains(&kernel.name));
        let bitcode = cuda.with_extension("bc");
        let name = bitcode.file_name().unwrap_or_default();
        let bitcode = if rolled { bitcode } else { folder.join("unrolled").join(name) };
        let bytes = std::fs::read(&bitcode).expect("make.sh makes it");
        let module = llvm::Module::read(&bytes).unwrap_or_else(|error| panic!("{error}"));
        let options = llvm::Options::new().with_target(super::TARGET);
        let module = llvm::import(vec![(bitcode.display().to_string(), module)], &options)
            .unwrap_or_else(|errors| panic!("{}: {errors:?}", bitcode.display()));
        Source { cuda, bitcode, module, kernels }
    });
    sources.filter(|source| !source.kernels.is_empty()).collect()
}
