//! A program with its launch, made of a seed or given.

use crate::Language;
use crate::launch::LaunchSpec;
use arbitrary::Unstructured;
use warpsmith_smith::{BLOCK, BYTES_PER_THREAD, GRID, INPUT_BYTES, Random, THREADS, ir, ptx};

/// What is checked.
#[derive(Clone, Debug)]
pub struct Case {
    /// The language of the text.
    pub language: Language,
    /// The module.
    pub text: String,
    /// How it is launched.
    pub launch: LaunchSpec,
    /// The launch as JSON, for a file test; empty where the launch was not made of a text.
    pub description: String,
}

/// The launch that generated kernels are made for. The input buffer follows from the seed; much of it is at the edges of integers, where a compiler that
/// does not know it cannot fold it.
fn launch(seed: u64, variables: &str) -> String {
    // Mostly on one host thread, which is quicker where many cases are checked at once.
    let schedule = if seed.is_multiple_of(4) { "" } else { "\"schedule\": \"round-robin\", " };
    format!(
        "{{{schedule}\"entry\": \"k\", \"grid\": [{GRID}, 1, 1], \"block\": [{BLOCK}, 1, 1], \"limits\": {{\"steps\": 50000000}}, \"args\": \
         [{{\"buffer_zero\": {}}}, {{\"type\": \"u32\", \"value\": {THREADS}}}, \
         {{\"buffer_type\": \"u64\", \"random\": {}, \"seed\": {}, \"edges\": true}}, {{\"type\": \"u64\", \"value\": \"0x0123456789abcdef\"}}, \
         {{\"type\": \"f32\", \"value\": 1.25}}, {{\"type\": \"f64\", \"value\": -3.5}}]{variables}}}",
        GRID * BLOCK * BYTES_PER_THREAD,
        INPUT_BYTES / 8,
        seed & 0xffff_ffff,
    )
}

impl Case {
    /// A text with a launch as JSON; the error says what is wrong with the launch.
    pub fn new(text: String, description: String) -> Result<Case, String> {
        let launch = LaunchSpec::parse(&description)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        Ok(Case { language: super::language_of(&text), text, launch, description })
    }

    /// A text that a generator of [`warpsmith_smith`] made, with the launch that its kernels are made for and an input that follows from the seed.
    pub fn generated(text: String, seed: u64) -> Option<Case> {
        let variables = match super::language_of(&text) {
            Language::Ptx => ", \"globals\": {\"totals\": {}}",
            Language::Wir => "",
        };
        Case::new(text, launch(seed, variables)).ok()
    }

    /// The module of IR that a seed gives. `None` if the generator has no use for what the seed begins with.
    pub fn ir(seed: u64, size: usize, config: &ir::Config) -> Option<Case> {
        let bytes = Random::new(seed).bytes(size);
        let module = ir::module(&mut Unstructured::new(&bytes), config).ok()?;
        Case::generated(module.to_string(), seed)
    }

    /// The PTX that a seed gives.
    pub fn ptx(seed: u64, size: usize, config: &ptx::Config) -> Option<Case> {
        let bytes = Random::new(seed).bytes(size);
        let program = ptx::program(&mut Unstructured::new(&bytes), config).ok()?;
        Case::generated(program.text, seed)
    }

    /// The file test that fails as long as the case does.
    pub fn file_test(&self) -> String {
        let marker = match self.language {
            Language::Ptx => "//;",
            Language::Wir => ";;",
        };
        match self.description.as_str() {
            "" => format!("{marker} test check\n\n{}", self.text),
            launch => format!("{marker} test run\n{marker} run: {launch}\n\n{}", self.text),
        }
    }
}
