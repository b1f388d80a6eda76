//! Textures and surfaces: fetches against formulas written down a second time, accesses to surfaces, queries, references, and misuse.

mod cube;
mod fetch;
mod gather;
mod ir;
mod layout;
mod misuse;
mod plain;
mod query;
mod reference;
mod references;
mod samples;
mod surface;
mod versions;

use warpsmith_interp::observe::Observer;
use warpsmith_interp::{Device, Fault, Handle, Launch, Program, Stats};
use warpsmith_ptx::ValidatedModule;

/// Loads a module whose header is left out. The header is one line, so that line 2 is the text's first.
fn load(text: &str) -> Program {
    load_for("sm_90", text)
}

fn load_for(target: &str, text: &str) -> Program {
    let source = format!(".version 8.0 .target {target} .address_size 64\n{text}");
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"))
}

/// A kernel `k(handle, in, out)`: each thread has 16 words of input at `%in`, 4 words of output at `%out`, the handle in `%h`, its number in
/// `%me`, and the registers `%r %rd %f %p %rs`.
fn kernel(body: &str) -> Program {
    load(&entry(body))
}

fn entry(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 h, .param .u64 i, .param .u64 o) {{ .reg .b32 %r<32>, %me; .reg .b64 %rd<8>, %in, %out, %h; \
         .reg .f32 %f<32>; .reg .pred %p<4>; .reg .b16 %rs<8>; mov.u32 %me, %ctaid.x; mad.lo.u32 %me, %me, 128, 0; \
         mov.u32 %r0, %tid.x; add.u32 %me, %me, %r0; ld.param.u64 %h, [h]; ld.param.u64 %in, [i]; ld.param.u64 %out, [o]; \
         mad.wide.u32 %in, %me, 64, %in; mad.wide.u32 %out, %me, 16, %out;\n{body}\nret; }}"
    )
}

/// Loads of a thread's input: `count` words from word `first` on into `%f0..` or `%r0..`.
fn inputs(kind: &str, first: usize, count: usize) -> String {
    let one = |i: usize| format!("ld.global.b32 %{kind}{}, [%in+{}];", first + i, 4 * (first + i));
    (0..count).map(one).collect()
}

/// A list of registers.
fn registers(kind: &str, first: usize, count: usize) -> String {
    let all: Vec<String> = (first..first + count).map(|i| format!("%{kind}{i}")).collect();
    format!("{{{}}}", all.join(", "))
}

/// Runs a kernel of [`kernel`] for so many threads as there is input.
fn run(
    device: &mut Device,
    program: &Program,
    handle: Handle,
    input: &[[u32; 16]],
) -> Result<Vec<[u32; 4]>, Fault> {
    run_by(device, handle, input, |device, launch| device.launch(program, launch))
}

/// As [`run`], observed.
fn run_observed(
    device: &mut Device,
    program: &Program,
    handle: Handle,
    input: &[[u32; 16]],
    observer: &mut dyn Observer,
) -> Result<Vec<[u32; 4]>, Fault> {
    run_by(device, handle, input, |device, launch| device.launch_observed(program, launch, observer))
}

fn run_by(
    device: &mut Device,
    handle: Handle,
    input: &[[u32; 16]],
    launches: impl FnOnce(&mut Device, &Launch) -> Result<Stats, Fault>,
) -> Result<Vec<[u32; 4]>, Fault> {
    let flat: Vec<u32> = input.iter().flatten().copied().collect();
    let blocks = input.len().div_ceil(128);
    let into = device.upload(&flat)?;
    // Threads past the last read zeros of their own.
    let padded = device.alloc(blocks as u64 * 128 * 64)?;
    let bytes = device.read(into)?;
    device.write(padded, &bytes)?;
    let out = device.alloc(blocks as u64 * 128 * 16)?;
    let launch =
        Launch::new("k").grid([blocks as u32, 1, 1]).block([128, 1, 1]).arg(handle).arg(padded).arg(out);
    launches(device, &launch)?;
    let words = device.download::<u32>(out)?;
    Ok(words.chunks_exact(4).take(input.len()).map(|c| [c[0], c[1], c[2], c[3]]).collect())
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }
}
