use super::*;
use warpsmith_interp::{Device, Fault, Launch, Program};
use warpsmith_ptx::ValidatedModule;

fn load(body: &str) -> Program {
    let source = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {{\n.reg .pred %p<4>;\n\
         .reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n{body}\nret;\n}}"
    );
    let module = ValidatedModule::parse(&source).unwrap();
    Program::load(&module).unwrap()
}

/// The codes of what is found in launches of one warp, one after the other.
fn codes_of(bodies: &[&str], unwritten: &[usize]) -> Result<Vec<&'static str>, Fault> {
    let mut device = Device::new();
    let (input, out) = (device.upload(&[0u32; 64])?, device.upload(&[0u32; 64])?);
    let mut init = Init::new().with_unwritten_arguments(unwritten.iter().copied());
    for body in bodies {
        let launch = Launch::new("k").block([32, 1, 1]).arg(input).arg(out);
        device.launch_observed(&load(body), &launch, &mut init)?;
    }
    Ok(init.report().findings().iter().map(|f| f.code).collect())
}

#[test]
fn buffers_that_the_host_has_not_written() {
    let copy = "ld.global.u32 %r1, [%rd1+8]; st.global.u32 [%rd2], %r1;";
    assert_eq!(codes_of(&[copy], &[]).unwrap(), [""; 0]);
    assert_eq!(codes_of(&[copy], &[0]).unwrap(), ["W0203"]);
    // An earlier launch may write them.
    let fill = "mov.u32 %r1, 7; st.global.u32 [%rd1+8], %r1;";
    assert_eq!(codes_of(&[fill, copy], &[0]).unwrap(), [""; 0]);
    let other = "ld.global.u32 %r1, [%rd1+12]; st.global.u32 [%rd2], %r1;";
    assert_eq!(codes_of(&[fill, other], &[0]).unwrap(), ["W0203"]);
}

#[test]
fn bytes_are_followed_through_moves() {
    let silent = [
        // The undefined half is shifted out, masked, permuted away, cut off, multiplied away.
        "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; shl.b64 %rd3, %rd3, 32; st.global.u64 [%rd2], %rd3;",
        "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; and.b64 %rd3, %rd3, 0xffffffff; st.global.u64 [%rd2], %rd3;",
        "mov.u32 %r1, %tid.x; prmt.b32 %r2, %r1, %r0, 0x0123; st.global.u32 [%rd2], %r2;",
        "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; cvt.u32.u64 %r2, %rd3; st.global.u32 [%rd2], %r2;",
        "mul.lo.u32 %r1, %r0, 0; or.b32 %r1, %r0, -1; st.global.u32 [%rd2], %r1;",
        "mov.u32 %r1, %tid.x; bfi.b32 %r2, %r1, %r0, 0, 32; st.global.u32 [%rd2], %r2;",
        "mov.u32 %r1, 5; setp.eq.u32 %p1, %r1, 5; or.pred %p2, %p0, %p1; @%p2 st.global.u32 [%rd2], %r1;",
        "mov.u32 %r1, %tid.x; cvt.u16.u32 %h1, %r1; mov.b32 %r2, {%h1, %h0}; mov.b32 {%h2, %h3}, %r2; st.global.u16 [%rd2], %h2;",
    ];
    for body in silent {
        assert_eq!(codes_of(&[body], &[]).unwrap(), [""; 0], "{body}");
    }
    let found = [
        (
            "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; shl.b64 %rd3, %rd3, 31; st.global.u64 [%rd2], %rd3;",
            "W0203",
        ),
        ("mov.u32 %r1, %tid.x; prmt.b32 %r2, %r1, %r0, 0x4123; st.global.u32 [%rd2], %r2;", "W0203"),
        ("setp.eq.u32 %p1, %r0, 12345; @%p1 st.global.u32 [%rd2], 1;", "W0201"),
        ("add.f32 %r1, %r0, 0f00000000; setp.eq.f32 %p1, %r1, 0f3f800000; @%p1 trap;", "W0201"),
        ("mov.u32 %r1, %tid.x; min.u32 %r2, %r1, %r0; st.global.u32 [%rd2], %r2;", "W0203"),
    ];
    for (body, code) in found {
        let body = body.replace("], 1;", "], %r4;").replace("setp.eq.u32", "mov.u32 %r4, 1; setp.eq.u32");
        assert_eq!(codes_of(&[&body], &[]).unwrap(), [code], "{body}");
    }
}
