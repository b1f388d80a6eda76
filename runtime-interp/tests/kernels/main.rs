//! Kernels with known answers, as PTX text through the loader and the engine.

mod aliased;
mod calls;
mod carry;
mod cluster;
mod control;
mod faults;
mod grid;
mod hardware;
mod later;
#[path = "../common/levels.rs"]
mod levels;
mod mbarrier;
mod memory;
mod multimem;
mod reach;
mod schedule;
mod scope;
mod special;
mod stack;
mod sync;
mod system;
mod tensor;
mod tensor_forms;
mod tensor_memory;
mod tensor_product;
mod transfer;
mod video;
mod warp;
mod watch;

use warpsmith_interp::{Buffer, Device, Fault, Launch, Program, Schedule, Stats};
use warpsmith_ptx::ValidatedModule;

/// Loads a module whose header is left out. The header is one line, so that line 2 is the text's first.
fn load(text: &str) -> Program {
    load_for("sm_90", text)
}

fn load_for(target: &str, text: &str) -> Program {
    let source = format!(".version 9.0 .target {target} .address_size 64\n{text}");
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// A kernel `k(.param .u64 out, ...)` whose body may use `%r %rd %p %f %fd %rs`, `%out` being the address of the first parameter's
/// buffer and `%tid` the thread's number in its block.
fn kernel(params: &str, body: &str) -> Program {
    kernel_for("sm_90", params, body)
}

fn kernel_for(target: &str, params: &str, body: &str) -> Program {
    load_for(
        target,
        &format!(
            ".visible .entry k(.param .u64 out{params}) {{ .reg .b32 %r<64>; .reg .b64 %rd<64>, %out; .reg .pred %p<16>; \
         .reg .f32 %f<16>; .reg .f64 %fd<16>; .reg .b16 %rs<16>; ld.param.u64 %out, [out];\n{body}\nret; }}"
        ),
    )
}

/// Stores `%r0` of each thread to `out[tid]`.
const STORE: &str = "mov.u32 %r63, %tid.x; mad.wide.u32 %rd63, %r63, 4, %out; st.global.u32 [%rd63], %r0;";

/// Runs a kernel of [`kernel`] in one block and gives the words of `out`.
fn words(program: &Program, threads: u32, count: usize) -> Result<Vec<u32>, Fault> {
    launch(program, Launch::new("k").block([threads, 1, 1]), count).map(|(words, _)| words)
}

/// Launches with a buffer of `count` words as the first argument.
fn launch(program: &Program, description: Launch, count: usize) -> Result<(Vec<u32>, Stats), Fault> {
    let mut device = levels::device();
    let out = device.upload(&vec![0u32; count])?;
    let mut description = description;
    description.args.insert(0, out.into());
    let stats = device.launch(program, &description)?;
    Ok((device.download(out)?, stats))
}

/// The same under many schedules; all must agree.
fn under_seeds(program: &Program, description: Launch, count: usize) -> Vec<u32> {
    let (first, _) = launch(program, description.clone(), count).unwrap();
    for seed in 0..20 {
        let (again, _) = launch(program, description.clone().seed(seed), count).unwrap();
        assert_eq!(again, first, "seed {seed}");
    }
    for schedule in Schedule::ALL {
        for seed in 0..if schedule.is_seeded() { 10 } else { 1 } {
            let (again, _) =
                launch(program, description.clone().schedule(schedule).seed(seed), count).unwrap();
            assert_eq!(again, first, "schedule {schedule}, seed {seed}");
        }
    }
    first
}

fn buffer(device: &mut Device, words: &[u32]) -> Buffer {
    device.upload(words).unwrap()
}
