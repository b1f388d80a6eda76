//! Multicast addresses: what is done there is done in all buffers.

use super::*;

/// Runs with a multicast address of buffers with these words, and gives `out` and the buffers after.
fn run(target: &str, body: &str, replicas: &[Vec<u32>]) -> Result<(Vec<u32>, Vec<Vec<u32>>), Fault> {
    let program = kernel_for(target, ", .param .u64 all", &format!("ld.param.u64 %rd50, [all];\n{body}"));
    let mut device = levels::device();
    let out = buffer(&mut device, &[0; 8]);
    let buffers: Vec<Buffer> = replicas.iter().map(|words| buffer(&mut device, words)).collect();
    let all = device.multicast(&buffers)?;
    device.launch(&program, &Launch::new("k").arg(out).arg(all))?;
    let after = buffers.iter().map(|b| device.download(*b).unwrap()).collect();
    Ok((device.download(out).unwrap(), after))
}

fn reduced(target: &str, body: &str, replicas: &[&[u32]]) -> Vec<u32> {
    let replicas: Vec<Vec<u32>> = replicas.iter().map(|r| r.to_vec()).collect();
    let (out, after) = run(target, body, &replicas).unwrap();
    assert_eq!(after, replicas);
    out
}

#[test]
fn loads_reduce_over_the_replicas() {
    let one = |op: &str, replicas: [u32; 3]| {
        reduced(
            "sm_90",
            &format!("multimem.ld_reduce.{op} %r1, [%rd50]; st.global.u32 [%out], %r1;"),
            &replicas.each_ref().map(std::slice::from_ref),
        )[0]
    };
    assert_eq!(one("global.add.u32", [1, 2, u32::MAX]), 2);
    assert_eq!(one("relaxed.gpu.global.min.s32", [1, -5i32 as u32, 7]), -5i32 as u32);
    assert_eq!(one("acquire.sys.global.max.u32", [1, -5i32 as u32, 7]), -5i32 as u32);
    assert_eq!(one("weak.global.xor.b32", [1, 3, 12]), 14);
    assert_eq!(one("add.f16x2", [0x3c00_3c00, 0x4000_0000, 0x3c00_3800]), 0x4400_3e00);
    // 2048 + 1 + 1: halves have no 2049; f32 has.
    assert_eq!(one("global.add.f16x2", [0x6800, 0x3c00, 0x3c00]), 0x6800);
    assert_eq!(one("global.add.acc::f32.f16x2", [0x6800, 0x3c00, 0x3c00]), 0x6801);
    assert_eq!(one("global.max.bf16x2", [0x3f80_bf80, 0x4000_0000, 0x0000_3f80]), 0x4000_3f80);
    let wide = reduced(
        "sm_90",
        "multimem.ld_reduce.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd50+16]; st.global.v4.f32 [%out], {%f1, %f2, %f3, %f4};",
        &[
            &[0, 0, 0, 0, 1f32.to_bits(), 2f32.to_bits(), 3f32.to_bits(), 4f32.to_bits()],
            &[0, 0, 0, 0, 10f32.to_bits(), 0, 0.5f32.to_bits(), (-4f32).to_bits()],
        ],
    );
    assert_eq!(wide[..4], [11f32, 2.0, 3.5, 0.0].map(f32::to_bits));
    let double = |v: f64| [v.to_bits() as u32, (v.to_bits() >> 32) as u32];
    let sum = reduced(
        "sm_90",
        "multimem.ld_reduce.global.add.f64 %fd1, [%rd50]; st.global.f64 [%out], %fd1;",
        &[&double(1e300), &double(-1e300), &double(0.25)],
    );
    assert_eq!(sum[..2], double(0.25));
    // e4m3: 1 + 1.5 is 2.5; 16 + 1 + 1 is 16 + 1 rounded to 16 twice, or 18 in f16.
    let small = |op: &str, replicas: [u32; 3]| {
        reduced(
            "sm_100a",
            &format!("multimem.ld_reduce.global.{op} %r1, [%rd50]; st.global.u32 [%out], %r1;"),
            &replicas.each_ref().map(std::slice::from_ref),
        )[0]
    };
    assert_eq!(small("add.e4m3x4", [0x38_38_58_00, 0x3c_00_38_00, 0x00_00_38_7e]), 0x42_38_58_7e);
    assert_eq!(small("add.acc::f16.e4m3x4", [0x58, 0x38, 0x38]), 0x59);
    assert_eq!(small("min.e5m2x4", [0x3c, 0xbc, 0x40]), 0xbc);
}

#[test]
fn stores_and_reductions_go_to_all() {
    let replicas = vec![vec![1, 2, 3, 4], vec![10, 20, 30, 40], vec![5, 5, 5, 5]];
    let (_, after) = run("sm_90", "mov.u32 %r1, 9; multimem.st.release.gpu.global.u32 [%rd50+4], %r1; multimem.red.relaxed.gpu.global.add.u32 [%rd50], %r1;
        multimem.red.global.min.u32 [%rd50+8], %r1; mov.b64 %rd1, 0x100000001;", &replicas).unwrap();
    assert_eq!(after, [vec![10, 9, 3, 4], vec![19, 9, 9, 40], vec![14, 9, 5, 5]]);
    let halves = vec![vec![0x3c00_3c00, 0x3c00_0000], vec![0x4000_4000, 0]];
    let (_, after) = run(
        "sm_90",
        "mov.b32 %r1, 0x3c003c00; multimem.red.global.add.v2.f16x2 [%rd50], {%r1, %r1};",
        &halves,
    )
    .unwrap();
    assert_eq!(after, [vec![0x4000_4000, 0x4000_3c00], vec![0x4200_4200, 0x3c00_3c00]]);
}

#[test]
fn multicast_addresses_are_for_multimem_alone() {
    let code =
        |body: &str| run("sm_90", body, &[vec![0; 4], vec![0; 4]]).map(|_| ()).unwrap_err().code.name();
    assert_eq!(code("ld.global.u32 %r1, [%rd50];"), "out_of_bounds");
    assert_eq!(code("multimem.ld_reduce.global.add.u32 %r1, [%out];"), "out_of_bounds");
    assert_eq!(code("multimem.ld_reduce.global.add.u32 %r1, [%rd50+16];"), "out_of_bounds");
    assert_eq!(code("multimem.ld_reduce.global.add.u32 %r1, [%rd50+2];"), "misaligned");
    let mut device = levels::device();
    let (a, b) = (buffer(&mut device, &[0]), buffer(&mut device, &[0; 2]));
    assert!(device.multicast(&[a, b]).is_err());
    assert!(device.multicast(&[]).is_err());
    let all = device.multicast(&[b]).unwrap();
    assert!(device.read(all).is_err() && device.free(all).is_err());
    device.free(b).unwrap();
    let program = kernel("", "multimem.st.global.u32 [%out], 1;");
    let fault = device.launch(&program, &Launch::new("k").arg(all)).unwrap_err();
    assert_eq!(fault.code.name(), "out_of_bounds");
}
