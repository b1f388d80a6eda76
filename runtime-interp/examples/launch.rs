//! Loads a kernel, gives it memory, launches it, and reads back what it computed and printed.
//!
//! `cargo run -p warpsmith-interp --example launch`

use warpsmith_interp::{Device, Launch, Machine, Program};
use warpsmith_ptx::ValidatedModule;

const SCALE: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 count)
{
    .reg .pred %p;
    .reg .f32 %f<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u32 %r3, [count];
    setp.ge.u32 %p, %r0, %r3;
    @%p ret;
    ld.param.u64 %rd0, [data];
    mad.wide.u32 %rd1, %r0, 4, %rd0;
    ld.global.f32 %f0, [%rd1];
    ld.param.f32 %f1, [factor];
    mul.f32 %f2, %f0, %f1;
    st.global.f32 [%rd1], %f2;
    ret;
}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let module = ValidatedModule::parse(SCALE)?;
    let program = Program::load_entry(&module, "scale")?;

    let mut machine = Machine::default();
    machine.sms = 8;
    let mut device = Device::with_machine(machine);
    device.set_output(std::io::stdout());
    let data = device.upload(&(0..1000).map(|i| i as f32).collect::<Vec<f32>>())?;

    let launch = Launch::new("scale").grid([4, 1, 1]).block([256, 1, 1]).arg(data).arg(0.5f32);
    let stats = device.launch(&program, &launch.clone().arg(1000u32))?;
    println!("{:?} ..", &device.download::<f32>(data)?[..8]);
    println!(
        "{} blocks, {} threads, {} thread instructions in {:.3} ms",
        stats.blocks,
        stats.threads,
        stats.thread_instructions,
        stats.seconds * 1e3
    );

    // A count that is larger than the buffer ends in a fault that says where.
    match device.launch(&program, &launch.arg(1024u32)) {
        Ok(_) => Err("an overrun was not seen".into()),
        Err(fault) => {
            println!("as it should: {fault}");
            Ok(())
        }
    }
}
