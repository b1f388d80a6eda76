//! The special registers that describe the machine (PTX ISA 9.0, chapter 10).

use super::*;
use warpsmith_interp::{Machine, Placement};

/// The value of a special register in thread 0 of each block.
fn read(machine: Machine, name: &str, ty: &str, launch: &Launch) -> Vec<u64> {
    let unsigned = ty.replace('b', "u");
    let program = load(&format!(
        ".visible .entry k(.param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .{ty} %v; .shared .b8 s[100]; ld.param.u64 %rd0, [out]; mov.{ty} %v, {name}; cvt.u64.{unsigned} %rd2, %v;
         mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd1, %r1, 8, %rd0; mov.u32 %r2, %tid.x; setp.ne.u32 %p, %r2, 0; @!%p st.global.u64 [%rd1], %rd2; ret; .reg .pred %p; }}"
    )
    .replace("ret; .reg .pred %p;", "ret;").replace(".reg .b32 %r<4>;", ".reg .b32 %r<4>; .reg .pred %p;"));
    let mut device = Device::with_machine(machine);
    let out = device.upload(&vec![0u64; launch.grid[0] as usize]).unwrap();
    device.launch(&program, &launch.clone().arg(out)).unwrap();
    device.download(out).unwrap()
}

#[test]
fn the_machine_is_as_configured() {
    let mut machine = levels::machine();
    (machine.sms, machine.warps_per_sm) = (4, 48);
    machine.environment[3] = 77;
    machine.environment[31] = 0xffff_ffff;
    let launch = Launch::new("k").grid([12, 1, 1]).block([512, 1, 1]).dynamic_shared(300);
    let first = |name, ty| read(machine.clone(), name, ty, &launch)[0];
    assert_eq!((first("%nsmid", "u32"), first("%nwarpid", "u32")), (4, 48));
    assert_eq!(
        (first("%envreg3", "b32").min(77), first("%envreg31", "b32"), first("%envreg0", "b32")),
        (77, 0xffff_ffff, 0)
    );
    assert_eq!((first("%pm0", "u32"), first("%pm7_64", "u64")), (0, 0));
    // 400 bytes in units of 128.
    assert_eq!((first("%total_smem_size", "u32"), first("%dynamic_smem_size", "u32")), (512, 300));
    assert_eq!(
        (
            first("%aggr_smem_size", "u32"),
            first("%reserved_smem_offset_cap", "b32"),
            first("%reserved_smem_offset_1", "b32")
        ),
        (512, 0, 0)
    );
    assert_eq!(first("%current_graph_exec", "u64"), 0);
    assert_eq!(read(machine.clone(), "%smid", "u32", &launch), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    // 48 warps are three blocks of 16.
    machine.placement = Placement::Packed;
    assert_eq!(read(machine, "%smid", "u32", &launch), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
}

#[test]
fn time_passes_at_the_machines_rate() {
    let text = "mov.u64 %rd1, %clock64; mov.u64 %rd2, %globaltimer; mov.u32 %r1, 0; loop: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 10000; @%p0 bra loop; mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer;
        sub.u64 %rd3, %rd3, %rd1; sub.u64 %rd4, %rd4, %rd2; st.global.v2.u64 [%out], {%rd3, %rd4};";
    let mut machine = levels::machine();
    machine.clock_mhz = 250;
    let mut device = Device::with_machine(machine);
    let out = device.upload(&[0u64; 2]).unwrap();
    device.launch(&kernel("", text), &Launch::new("k").arg(out)).unwrap();
    let [ticks, nanoseconds] = device.download::<u64>(out).unwrap()[..] else { unreachable!() };
    assert!((30_000..30_100).contains(&ticks), "{ticks}");
    assert!(nanoseconds.abs_diff(4 * ticks) <= 8, "{nanoseconds}");
}
