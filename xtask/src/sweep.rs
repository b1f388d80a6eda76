//! `cargo xtask sweep`: every operand of the approximate instructions, on the GPU at hand and by the engine's functions.

use std::thread::{available_parallelism, scope};
use warpsmith::gpu::{Gpu, Launch, Optimization};
use warpsmith_semantics::value::half::{BF16, F16};
use warpsmith_semantics::value::special;

type Function = fn(u32) -> u32;

/// Instructions of one operand, with the bits of the register and what computes them.
const INSTRUCTIONS: [(&str, u32, Function); 14] = [
    ("rcp.approx.ftz.f32", 32, special::rcp::<true>),
    ("rcp.approx.f32", 32, special::rcp::<false>),
    ("sqrt.approx.ftz.f32", 32, special::sqrt::<true>),
    ("sqrt.approx.f32", 32, special::sqrt::<false>),
    ("rsqrt.approx.ftz.f32", 32, special::rsqrt::<true>),
    ("rsqrt.approx.f32", 32, special::rsqrt::<false>),
    ("lg2.approx.ftz.f32", 32, special::lg2::<true>),
    ("lg2.approx.f32", 32, special::lg2::<false>),
    ("ex2.approx.ftz.f32", 32, special::ex2::<true>),
    ("ex2.approx.f32", 32, special::ex2::<false>),
    ("sin.approx.f32", 32, special::sin),
    ("cos.approx.f32", 32, special::cos),
    ("ex2.approx.f16", 16, |a| special::ex2_half::<F16>(false, a as u16).into()),
    ("ex2.approx.ftz.bf16", 16, |a| special::ex2_half::<BF16>(true, a as u16).into()),
];

/// Operands of a launch.
const CHUNK: u64 = 1 << 24;
/// Threads of a block.
const BLOCK: u32 = 256;
/// As many differences of an instruction are shown.
const SHOWN: usize = 8;

/// Compares the instructions of these names, or all, and says for each how many operands differ; an error if any does.
pub fn run(names: &[&str]) -> Result<(), String> {
    if let Some(name) = names.iter().find(|name| !INSTRUCTIONS.iter().any(|(known, ..)| known == *name)) {
        return Err(format!("`{name}` is not one of the instructions that are compared"));
    }
    let gpu = Gpu::open().map_err(|absent| absent.to_string())?;
    println!("{}", gpu.description().name);
    let mut differing = 0;
    for (name, bits, function) in INSTRUCTIONS {
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        let (count, examples) = sweep(&gpu, name, bits, function).map_err(|e| format!("{name}: {e}"))?;
        differing += count;
        println!("{name}: {count} of 2^{bits} operands differ");
        for (a, engine, gpu) in examples {
            println!("  {a:08x}: {engine:08x} here, {gpu:08x} on the GPU");
        }
    }
    if differing == 0 { Ok(()) } else { Err(format!("{differing} results differ")) }
}

type Examples = Vec<(u32, u32, u32)>;

fn sweep(gpu: &Gpu, name: &str, bits: u32, function: Function) -> Result<(u64, Examples), String> {
    let text = |e: warpsmith::gpu::Error| e.to_string();
    let module = gpu.load(&kernel(name, bits), Optimization::Full).map_err(text)?;
    let total = 1u64 << bits;
    let chunk = CHUNK.min(total);
    let results = gpu.upload(&vec![0; chunk as usize * 4]).map_err(text)?;
    let (mut count, mut examples) = (0, Examples::new());
    for start in (0..total).step_by(chunk as usize) {
        let mut launch = Launch::new("k", [(chunk / u64::from(BLOCK)) as u32, 1, 1], [BLOCK, 1, 1]);
        launch.params = vec![results.address().to_le_bytes().to_vec(), (start as u32).to_le_bytes().to_vec()];
        module.launch(&launch).map_err(text)?;
        let found = results.read().map_err(text)?;
        let threads = available_parallelism().map_or(1, usize::from);
        let part = (chunk as usize).div_ceil(threads);
        scope(|scope| {
            let work = |(i, bytes): (usize, &[u8])| {
                let mut differences = Examples::new();
                for (j, word) in bytes.chunks_exact(4).enumerate() {
                    let a = (start as usize + i * part + j) as u32;
                    let on_gpu = word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
                    let engine = function(a);
                    if engine != on_gpu {
                        differences.push((a, engine, on_gpu));
                    }
                }
                differences
            };
            let jobs: Vec<_> =
                found.chunks(part * 4).enumerate().map(|piece| scope.spawn(move || work(piece))).collect();
            for job in jobs {
                let differences = job.join().unwrap_or_default();
                count += differences.len() as u64;
                let room = SHOWN.saturating_sub(examples.len());
                examples.extend(differences.into_iter().take(room));
            }
        });
    }
    Ok((count, examples))
}

/// Each thread computes one operand: its number, counted from the second parameter.
fn kernel(name: &str, bits: u32) -> String {
    let (first, last) = match bits {
        16 => ("cvt.u16.u32 %a, %n;", "cvt.u32.u16 %n, %d;"),
        _ => ("mov.b32 %a, %n;", "mov.b32 %n, %d;"),
    };
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 to, .param .u32 start)\n{{\n\
         .reg .b{bits} %a, %d;\n.reg .b32 %n, %i, %s;\n.reg .b64 %to;\n\
         ld.param.u64 %to, [to];\nld.param.u32 %s, [start];\n\
         mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmul.lo.u32 %i, %i, %n;\nmov.u32 %n, %tid.x;\nadd.u32 %i, %i, %n;\n\
         mad.wide.u32 %to, %i, 4, %to;\nadd.u32 %n, %i, %s;\n{first}\n{name} %d, %a;\n{last}\nst.global.b32 [%to], %n;\nret;\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_valid() {
        for (name, bits, _) in INSTRUCTIONS {
            let found = warpsmith::ptx::ValidatedModule::parse(kernel(name, bits));
            assert!(found.is_ok(), "{name}: {:?}", found.err());
        }
    }
}
