//! `#[warpsmith::test]` and the device that it gives: what checkers find fails a test, and faults are the test's.
#![cfg(feature = "watch")]

use warpsmith::testing::TestDevice;
use warpsmith::{Launch, Launcher, Program, ptx::ValidatedModule};

const PTX: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 step) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r1, [step];
    mov.u32 %r0, %tid.x;
    mul.lo.u32 %r2, %r0, %r1;
    mul.wide.u32 %rd1, %r2, 4;
    add.u64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r0;
    ret;
}
";

fn program() -> Program {
    Program::load(&ValidatedModule::parse(PTX).unwrap()).unwrap()
}

/// 64 threads, each of which stores to its number times the step.
fn store(device: &mut impl Launcher, out: warpsmith::Buffer, step: u32) {
    device.launch(&program(), &Launch::new("store").block([64, 1, 1]).arg(out).arg(step)).unwrap();
}

#[warpsmith::test]
fn what_is_right_passes(device: &mut TestDevice) {
    let out = device.upload(&[0u32; 64]).unwrap();
    store(device, out, 1);
    assert_eq!(device.download::<u32>(out).unwrap()[63], 63);
}

#[warpsmith::test]
#[should_panic(expected = "W0301")]
fn a_race_fails_the_test(device: &mut TestDevice) {
    let out = device.upload(&[0u32; 64]).unwrap();
    store(device, out, 0);
}

#[warpsmith::test]
#[should_panic(expected = "st.global.u32 [%rd2], %r0;")]
fn the_report_shows_the_source(device: &mut TestDevice) {
    let out = device.upload(&[0u32; 64]).unwrap();
    store(device, out, 0);
}

#[warpsmith::test(checkers = "init")]
fn checkers_are_chosen(device: &mut TestDevice) {
    let out = device.upload(&[0u32; 64]).unwrap();
    store(device, out, 0);
}

#[warpsmith::test(checkers = "init")]
fn faults_are_values(device: &mut TestDevice) -> Result<(), String> {
    let out = device.upload(&[0u32; 8]).map_err(|fault| fault.to_string())?;
    let fault =
        device.launch(&program(), &Launch::new("store").block([64, 1, 1]).arg(out).arg(1u32)).unwrap_err();
    if fault.code.name() == "out_of_bounds" { Ok(()) } else { Err(fault.to_string()) }
}
