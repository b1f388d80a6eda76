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

/// A kernel with the parameters `(a, b, out, n)`.
pub struct Kernel {
    pub name: String,
    pub grid: u32,
    pub block: [u32; 3],
    pub n: u32,
    pub fill: Fill,
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
    /// Reads `NAME grid=4 block=16,16 n=32 fill=f32`.
    fn parse(line: &str) -> Option<Kernel> {
        let mut words = line.split_whitespace();
        let mut kernel =
            Kernel { name: words.next()?.to_owned(), grid: 1, block: [1; 3], n: 0, fill: Fill::Bits };
        for word in words {
            match word.split_once('=')? {
                ("grid", value) => kernel.grid = value.parse().ok()?,
                ("n", value) => kernel.n = value.parse().ok()?,
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
