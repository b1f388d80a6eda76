//! Prints a file of bitcode as text: `cargo run -p warpsmith-llvm --example dump -- k.bc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let mut module = warpsmith_llvm::Module::read(&bytes)?;
        print!("{}", warpsmith_llvm::dump::module(&mut module)?);
    }
    Ok(())
}
