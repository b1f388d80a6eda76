//! The memory of a launch is that of the blocks which are resident, however large the grid. A process of its own, because the
//! measure is the most memory that the process ever had.
#![cfg(target_os = "linux")]

use warpsmith_interp::{Device, Launch, Program};
use warpsmith_ptx::ValidatedModule;

/// The most resident memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_launch_takes_the_memory_of_its_resident_blocks() {
    // Each block touches all pages of 32 KiB of shared and 16 KiB of local memory: 20,000 of them would take 1 GB.
    let source = "
        .version 7.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 out) {
            .shared .align 16 .b8 shared[32768];
            .local .align 16 .b8 local[512];
            .reg .b32 %r<4>;
            .reg .b64 %rd<2>;
            .reg .pred %p;
            mov.u32 %r0, %tid.x;
            shl.b32 %r0, %r0, 2;
            mov.u32 %r1, shared;
            add.u32 %r1, %r1, %r0;
            mov.u32 %r2, local;
            mov.u32 %r3, 0;
        fill:
            st.shared.u32 [%r1], %r3;
            add.u32 %r1, %r1, 4096;
            add.u32 %r3, %r3, 1;
            setp.lt.u32 %p, %r3, 8;
            @%p bra fill;
            st.local.u32 [%r2+508], %r3;
            ld.param.u64 %rd0, [out];
            red.global.add.u32 [%rd0], 1;
            ret;
        }";
    let module = ValidatedModule::parse(source).unwrap();
    let program = Program::load(&module).unwrap();
    let mut device = Device::new();
    let out = device.upload(&[0u32]).unwrap();
    let mut launch = |blocks: u32| {
        let launch = Launch::new("k").grid([blocks, 1, 1]).block([32, 1, 1]).arg(out);
        device.launch(&program, &launch).unwrap();
        peak()
    };
    let few = launch(64);
    let many = launch(20_000);
    assert_eq!(device.download::<u32>(out).unwrap(), [32 * 20_064]);
    assert!(many - few < 8 << 10, "64 blocks: {few} KiB, 20,000 blocks: {many} KiB");
    println!("64 blocks: {few} KiB, 20,000 blocks: {many} KiB");
}
