//! Importing what clang wrote: `cargo bench -p warpsmith-llvm --bench import`. Items are bytes of the files.

use divan::Bencher;
use divan::counter::BytesCount;
use std::path::Path;
use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

fn main() {
    divan::main();
}

/// The files of the tests whose names end so.
fn files(ending: &str) -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths = Vec::new();
    for folder in [corpus.clone(), corpus.join("c"), corpus.join("csmith")] {
        let entries = std::fs::read_dir(&folder).expect("the corpus");
        paths.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    paths.retain(|path| path.to_string_lossy().ends_with(".bc") && path.to_string_lossy().contains(ending));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a file of the corpus")).collect()
}

fn ir(bytes: &[u8]) -> warpsmith_ir::Module {
    let module = Module::read(bytes).expect("the corpus is read");
    let options = Options::new().with_target(Target::sm(80));
    import(vec![(String::new(), module)], &options).expect("the corpus is imported")
}

/// All records of all blocks but the bodies of functions.
#[divan::bench(args = ["O0", "O3"])]
fn read(bencher: Bencher<'_, '_>, level: &str) {
    let files = files(level);
    let bytes: usize = files.iter().map(Vec::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for file in &files {
            divan::black_box(Module::read(file).expect("the corpus is read"));
        }
    });
}

/// To the IR.
#[divan::bench(args = ["O0", "O3"])]
fn imported(bencher: Bencher<'_, '_>, level: &str) {
    let files = files(level);
    let bytes: usize = files.iter().map(Vec::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for file in &files {
            divan::black_box(ir(file));
        }
    });
}

/// To PTX.
#[divan::bench(args = ["O0", "O3"])]
fn compiled(bencher: Bencher<'_, '_>, level: &str) {
    let files = files(level);
    let bytes: usize = files.iter().map(Vec::len).sum();
    let compiler = Compiler::new(Target::sm(80)).with_opt_level(OptLevel::O2);
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for file in &files {
            divan::black_box(compiler.compile(ir(file)).expect("the corpus is compiled").text);
        }
    });
}
