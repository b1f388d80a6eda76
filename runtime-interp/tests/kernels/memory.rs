//! State spaces, widths, addresses, initial values, atomics.

use super::*;

#[test]
fn every_width_extends_as_its_type_says() {
    let program = kernel("", "
         mov.u32 %r1, 0x8182f384; st.global.u32 [%out], %r1;
         ld.global.u8 %r2, [%out]; ld.global.s8 %r3, [%out]; ld.global.u16 %r4, [%out]; ld.global.s16 %r5, [%out];
         ld.global.s8 %rd1, [%out]; ld.global.u32 %rd2, [%out]; ld.global.s32 %rd3, [%out];
         st.global.u32 [%out+4], %r2; st.global.u32 [%out+8], %r3; st.global.u32 [%out+12], %r4; st.global.u32 [%out+16], %r5;
         st.global.u64 [%out+24], %rd1; st.global.u64 [%out+32], %rd2; st.global.u64 [%out+40], %rd3;
         st.global.u16 [%out+50], %r1; st.global.u8 [%out+53], %r1;");
    let expected = [
        0x8182_f384,
        0x84,
        0xffff_ff84,
        0xf384,
        0xffff_f384,
        0,
        0xffff_ff84,
        0xffff_ffff,
        0x8182_f384,
        0,
        0x8182_f384,
        0xffff_ffff,
        0xf384_0000,
        0x0000_8400,
    ];
    assert_eq!(words(&program, 1, 14).unwrap(), expected);
}

#[test]
fn vectors_move_whole() {
    let program = kernel(
        "",
        "
         .reg .v4 .b32 %v; .reg .b128 %q; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 16, %out;
         add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r1, 3;
         st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4}; ld.global.v4.b32 %v, [%rd1];
         add.u32 %r5, %v.x, 100; mov.b32 %v.w, %r5;
         ld.global.v2.b64 {%rd2, %rd3}, [%rd1]; add.u64 %rd3, %rd3, %rd2; mov.b64 {%r6, %r7}, %rd3;
         st.global.v4.b32 [%rd1], {%r6, %r7, 9, %v.w}; ld.global.b128 %q, [%rd1]; mov.b128 {%rd4, %rd5}, %q;
         mov.b128 %q, {%rd5, %rd4}; st.global.b128 [%rd1], %q;",
    );
    let expected: Vec<u32> = (0..40).flat_map(|t| [9, t + 100, 2 * t + 2, 2 * t + 4]).collect();
    assert_eq!(words(&program, 40, 160).unwrap(), expected);
}

#[test]
fn packing_and_unpacking() {
    let program = kernel("", "
         .reg .b8 %b<4>; mov.b32 {%rs1, %rs2}, 0x11223344; mov.b32 %r1, {%rs2, %rs1}; mov.b64 %rd1, {%rs1, %rs2, %rs1, 7};
         mov.b64 {_, %r2}, %rd1; mov.b64 %rd2, {%r1, %r2}; mov.b32 {%b0, %b1, %b2, %b3}, %r1; mov.b32 %r3, {%b3, %b2, %b1, %b0};
         st.global.u32 [%out], %r1; st.global.u64 [%out+8], %rd2; st.global.u32 [%out+16], %r3;");
    let expected = [0x3344_1122, 0, 0x3344_1122, 0x0007_3344, 0x2211_4433];
    assert_eq!(words(&program, 1, 5).unwrap(), expected);
}

#[test]
fn variables_have_their_initial_values_and_keep_new_ones() {
    let program = load("
        .global .align 8 .b8 bytes[8] = {1, 2, 3};
        .global .f32 floats[] = {1.5, 0f40200000, -2.0};
        .const .u32 grid[2][3] = {{1, 2}, {4, 5, 6}};
        .global .u32 counter = 5;
        .global .u64 pointers[2] = {counter, generic(floats)+4};
        .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f;
          ld.param.u64 %rd0, [out]; ld.global.u64 %rd1, [bytes]; st.global.u64 [%rd0], %rd1;
          mov.u64 %rd2, pointers; ld.global.u64 %rd3, [%rd2]; ld.global.u32 %r1, [%rd3]; add.u32 %r1, %r1, 1; st.global.u32 [%rd3], %r1;
          st.global.u32 [%rd0+8], %r1; ld.global.u64 %rd4, [pointers+8]; ld.f32 %f, [%rd4]; st.global.f32 [%rd0+12], %f;
          ld.const.u32 %r2, [grid+8]; st.global.u32 [%rd0+16], %r2; ld.const.u32 %r3, [grid+20]; st.global.u32 [%rd0+20], %r3; ret; }");
    let mut device = levels::device();
    let out = buffer(&mut device, &[0; 6]);
    for round in 1..=3 {
        device.launch(&program, &Launch::new("k").arg(out)).unwrap();
        let expected = [0x0003_0201, 0, 5 + round, 2.5f32.to_bits(), 0, 6];
        assert_eq!(device.download::<u32>(out).unwrap(), expected);
    }
    let counter = device.variable(&program, "counter").unwrap().unwrap();
    assert_eq!(device.download::<u32>(counter).unwrap(), [8]);
    let used = device.used_memory();
    device.unload(&program);
    assert!(device.used_memory() < used);
}

#[test]
fn generic_addresses_reach_every_space() {
    let program = load("
        .const .u32 c = 3; .global .u32 g = 4;
        .visible .entry k(.param .u64 out, .param .u32 p) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
          .local .u32 l; .shared .u32 s; ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd0, %r1, 28, %rd0;
          st.local.u32 [l], %r1; st.shared.u32 [s], 2;
          cvta.const.u64 %rd1, c; cvta.global.u64 %rd2, g; cvta.local.u64 %rd3, l; cvta.shared.u64 %rd4, s; cvta.param.u64 %rd5, p;
          ld.u32 %r2, [%rd1]; st.global.u32 [%rd0], %r2; ld.u32 %r2, [%rd2]; st.global.u32 [%rd0+4], %r2;
          ld.u32 %r2, [%rd3]; st.global.u32 [%rd0+8], %r2; ld.u32 %r2, [%rd4]; st.global.u32 [%rd0+12], %r2;
          ld.u32 %r2, [%rd5]; st.global.u32 [%rd0+16], %r2;
          cvta.to.shared.u64 %rd6, %rd4; ld.shared.u32 %r2, [%rd6]; isspacep.shared %p1, %rd4; @%p1 add.u32 %r2, %r2, 10;
          isspacep.local %p2, %rd4; @%p2 add.u32 %r2, %r2, 100; isspacep.global %p3, %rd2; @%p3 add.u32 %r2, %r2, 1000;
          isspacep.global %p4, %rd3; @%p4 add.u32 %r2, %r2, 5000; isspacep.const %p5, %rd1; @%p5 add.u32 %r2, %r2, 10000;
          st.global.u32 [%rd0+20], %r2;
          // Lanes of one instruction in different spaces.
          and.b32 %r3, %r1, 1; setp.eq.u32 %p6, %r3, 0; selp.b64 %rd7, %rd3, %rd2, %p6; ld.u32 %r4, [%rd7]; st.global.u32 [%rd0+24], %r4; ret; }");
    let (words, _) = launch(&program, Launch::new("k").block([32, 1, 1]).arg(77u32), 32 * 7).unwrap();
    let expected: Vec<u32> =
        (0..32).flat_map(|t| [3, 4, t, 2, 77, 11012, if t % 2 == 0 { t } else { 4 }]).collect();
    assert_eq!(words, expected);
}

#[test]
fn local_memory_is_each_threads_own() {
    let program = kernel(
        "",
        &format!(
            ".local .align 4 .b8 a[400]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u64 %rd1, a;
         fill: mad.lo.u32 %r3, %r2, 5, %r1; mad.wide.u32 %rd2, %r2, 4, %rd1; st.local.u32 [%rd2], %r3;
         add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 100; @%p0 bra fill;
         mad.wide.u32 %rd2, %r1, 4, %rd1; ld.local.u32 %r0, [%rd2]; {STORE}"
        ),
    );
    let expected: Vec<u32> = (0..64).map(|t| 6 * t).collect();
    assert_eq!(words(&program, 64, 64).unwrap(), expected);
}

#[test]
fn shared_memory_static_and_dynamic() {
    let program = load("
        .extern .shared .align 4 .b8 dynamic[]; .shared .u32 unused[300];
        .visible .entry k(.param .u64 out) { .shared .u32 fixed[3]; .reg .b32 %r<9>; .reg .b64 %rd<9>;
          ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, dynamic; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1;
          bar.sync 0; mov.u32 %r4, 63; sub.u32 %r4, %r4, %r1; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r5, [%r3];
          mov.u32 %r6, %dynamic_smem_size; mov.u32 %r7, %total_smem_size; sub.u32 %r7, %r7, %r6; mad.lo.u32 %r5, %r7, 1000, %r5;
          mad.wide.u32 %rd1, %r1, 4, %rd0; st.global.u32 [%rd1], %r5; ret; }");
    let description = Launch::new("k").block([64, 1, 1]).dynamic_shared(256);
    // The kernel has what its body declares and what it names; the 12 and 256 bytes are counted in units of 128 (10.30).
    let expected: Vec<u32> = (0..64).map(|t| (384 - 256) * 1000 + 63 - t).collect();
    assert_eq!(under_seeds(&program, description, 64), expected);
    let fault = launch(&program, Launch::new("k").block([64, 1, 1]).dynamic_shared(252), 64).unwrap_err();
    assert_eq!((fault.code.name(), fault.thread), ("out_of_bounds", Some([63, 0, 0])));
}

#[test]
fn atomics_of_many_blocks_add_up() {
    let program = kernel("", "
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 64, %r1;
         red.global.add.u32 [%out], %r1; red.global.max.s32 [%out+4], %r1; red.global.or.b32 [%out+8], %r1;
         atom.global.inc.u32 %r3, [%out+12], 99; red.global.min.u32 [%out+16], %r1; cvt.u64.u32 %rd1, %r1; red.global.add.u64 [%out+24], %rd1;
         cvt.rn.f32.u32 %f1, %r2; red.global.add.f32 [%out+32], %f1; cvt.rn.f64.u32 %fd1, %r1; red.global.add.f64 [%out+40], %fd1;
         atom.global.dec.u32 %r3, [%out+48], 7; red.add.u32 [%out+52], 1;");
    let n: u64 = 64 * 50;
    let sum = n * (n - 1) / 2;
    let f = (64.0 * (50.0 * 49.0 / 2.0) as f32).to_bits();
    let d = (sum as f64).to_bits();
    let expected = [
        sum as u32,
        n as u32 - 1,
        4095,
        (n % 100) as u32,
        0,
        0,
        sum as u32,
        (sum >> 32) as u32,
        f,
        0,
        d as u32,
        (d >> 32) as u32,
        // From zero, down and around at 7.
        ((8 - n % 8) % 8) as u32,
        n as u32,
    ];
    for workers in [1, 2] {
        let description = Launch::new("k").grid([50, 1, 1]).block([64, 1, 1]).workers(workers);
        assert_eq!(launch(&program, description, 14).unwrap().0, expected);
    }
}

#[test]
fn atomics_return_the_old_value() {
    let program = kernel("", &format!(
        ".shared .u64 s; .shared .b32 t; mov.u32 %r1, %tid.x; atom.shared.add.u64 %rd1, [s], 3; cvt.u32.u64 %r0, %rd1;
         setp.eq.u32 %p0, %r1, 5; @%p0 atom.shared.exch.b32 %r2, [t], 17; bar.sync 0;
         @%p0 atom.shared.cas.b32 %r3, [t], 17, 18; @%p0 add.u32 %r0, %r0, %r3; atom.shared.xor.b32 %r4, [t], 0;
         mad.lo.u32 %r0, %r4, 1000, %r0; {STORE}"
    ));
    let expected: Vec<u32> = (0..32).map(|t| 18000 + 3 * t + if t == 5 { 17 } else { 0 }).collect();
    assert_eq!(words(&program, 32, 32).unwrap(), expected);
}

#[test]
fn float_atomics_flush_in_global_memory_alone() {
    let tiny = 0x0000_0001;
    let program = kernel("", "
         .shared .f32 s; mov.b32 %f1, 0x00000001; mov.b32 %f2, 0; st.shared.f32 [s], %f2;
         atom.shared.add.f32 %f3, [s], %f1; atom.global.add.f32 %f3, [%out], %f1; ld.shared.f32 %f4, [s]; st.global.f32 [%out+4], %f4;
         cvta.shared.u64 %rd1, s; atom.add.f32 %f3, [%rd1], %f1; ld.shared.f32 %f4, [s]; st.global.f32 [%out+8], %f4; red.add.f32 [%out+12], %f1;");
    assert_eq!(words(&program, 1, 4).unwrap(), [0, tiny, 2 * tiny, 0]);
}

#[test]
fn wide_and_half_atomics() {
    let program = kernel("", "
         .reg .b128 %q<4>; mov.u64 %rd1, 7; mov.u64 %rd2, 8; mov.b128 %q1, {%rd1, %rd2}; atom.global.exch.b128 %q2, [%out], %q1;
         mov.u64 %rd3, 9; mov.b128 %q3, {%rd3, %rd3}; atom.global.cas.b128 %q2, [%out], %q1, %q3; mov.b128 {%rd4, %rd5}, %q2;
         st.global.u64 [%out+16], %rd5; mov.b32 %r1, 0x3c004000; atom.global.add.noftz.f16x2 %r2, [%out+24], %r1; atom.global.add.noftz.f16x2 %r2, [%out+24], %r1;
         mov.b16 %rs1, 0x3c00; atom.global.add.noftz.f16 %rs2, [%out+30], %rs1;");
    assert_eq!(words(&program, 1, 8).unwrap(), [9, 0, 9, 0, 8, 0, 0x4000_4400, 0x3c00_0000]);
}

/// `var[i]` counts scalars of the variable's type, as the code shows that ptxas makes of it; with a register, all is computed in 32 bits.
#[test]
fn indices_count_elements() {
    let program = load(
        ".global .u32 a[8] = {10, 11, 12, 13, 14, 15, 16, 17}; .global .align 8 .v2 .u32 v[2] = {{1, 2}, {3, 4}}; .global .u32 m[2][3] = {{1, 2, 3}, {4, 5, 6}};
         .const .u16 c[4] = {5, 6, 7, 8}; .global .u8 b[4] = {21, 22, 23, 24};
         .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %out, %rd<9>; .reg .s16 h; .reg .u8 n; .reg .s32 i; .reg .u64 j; .shared .u32 s[4]; .local .u64 l[4];
           ld.param.u64 %out, [out];
           ld.global.u32 %r1, a[2]; st.global.u32 [%out], %r1; mov.u64 %rd1, a[3]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%out+4], %r1;
           ld.global.u32 %r1, v[1]; st.global.u32 [%out+8], %r1; ld.global.u32 %r1, m[4]; st.global.u32 [%out+12], %r1;
           ld.const.u16 %r1, c[3]; st.global.u32 [%out+16], %r1; cvta.global.u64 %rd1, a[5]; ld.u32 %r1, [%rd1]; st.global.u32 [%out+20], %r1;
           mov.s32 i, 3; ld.global.u32 %r1, a[i]; st.global.u32 [%out+24], %r1; ld.global.u32 %r1, a[i+2]; st.global.u32 [%out+28], %r1;
           mov.u64 j, 0x700000004; ld.global.u32 %r1, a[j]; st.global.u32 [%out+32], %r1; ld.global.u8 %r1, b[i]; st.global.u32 [%out+36], %r1;
           mov.s16 h, -1; ld.global.u32 %r1, a[h+2]; st.global.u32 [%out+40], %r1; cvt.u8.u32 n, 0x106; ld.global.u32 %r1, a[n]; st.global.u32 [%out+44], %r1;
           st.shared.u32 s[1], 77; st.shared.u32 s[i], 78; ld.shared.u32 %r1, [s+4]; st.global.u32 [%out+48], %r1; ld.shared.u32 %r1, [s+12]; st.global.u32 [%out+52], %r1;
           st.local.u64 l[2], 79; mov.s32 i, -1; ld.local.u32 %r1, [l+16]; st.global.u32 [%out+56], %r1; mov.u32 %r2, s[3]; mov.u32 %r3, s; sub.u32 %r1, %r2, %r3; st.global.u32 [%out+60], %r1;
           ld.local.u32 %r1, l[i+3]; st.global.u32 [%out+64], %r1; ret; }",
    );
    let expected = [12, 13, 2, 5, 8, 15, 13, 15, 14, 24, 11, 16, 77, 78, 79, 12, 79];
    assert_eq!(words(&program, 1, 17).unwrap(), expected);
    // A negative distance in global memory is added without a sign.
    let program = load(
        ".global .u32 g[4]; .visible .entry k(.param .u64 out) { .reg .b64 %out, %rd<9>; .reg .s32 i; ld.param.u64 %out, [out]; mov.u64 %rd2, g;
           mov.s32 i, -1; mov.u64 %rd1, g[i]; sub.u64 %rd1, %rd1, %rd2; st.global.u64 [%out], %rd1;
           mov.u64 %rd1, g[-1]; sub.u64 %rd1, %rd1, %rd2; st.global.u64 [%out+8], %rd1; ret; }",
    );
    assert_eq!(words(&program, 1, 4).unwrap(), [0xffff_fffc, 0, 0xffff_fffc, 0]);
}

/// nvcc reads seven floats as a float4, a float2 and a float, or as two float4, the last byte of which lies past the buffer.
#[test]
fn bytes_that_a_load_does_not_use_need_not_exist() {
    let load_of = |pragma: &str| {
        kernel(
            ", .param .u64 in",
            &format!(
                "ld.param.u64 %rd1, [in]; ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd1];
                 {pragma} .loc 1 1 1 ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%rd1+16];
                 st.global.u32 [%out], %r4; st.global.v2.u32 [%out+8], {{%r5, %r6}}; st.global.u32 [%out+16], %r7;"
            ),
        )
    };
    let run = |pragma: &str| {
        let mut device = Device::new();
        let (out, input) = (buffer(&mut device, &[0; 5]), buffer(&mut device, &[1, 2, 3, 4, 5, 6, 7]));
        device.launch(&load_of(pragma), &Launch::new("k").arg(out).arg(input))?;
        device.download::<u32>(out)
    };
    assert_eq!(run(".pragma \"used_bytes_mask 0xfff\";").unwrap(), [4, 0, 5, 6, 7]);
    assert_eq!(run("").unwrap_err().code.name(), "out_of_bounds");
    // A byte past the end is used, and a mask is about one load only.
    assert_eq!(run(".pragma \"used_bytes_mask 0x1fff\";").unwrap_err().code.name(), "out_of_bounds");
    let other = ".pragma \"used_bytes_mask 0xfff\"; ld.global.u32 %r9, [%rd1];";
    assert_eq!(run(other).unwrap_err().code.name(), "out_of_bounds");
    // Of what is not a load, the mask says nothing.
    let other = ".pragma \"used_bytes_mask 0xfff\"; add.u32 %r9, %r9, 1;";
    assert_eq!(run(other).unwrap_err().code.name(), "out_of_bounds");
}

#[test]
fn poisoned_memory_is_full_of_it_wherever_a_kernel_can_get_new_memory() {
    let program = load(
        ".extern .func (.param .b64 p) malloc(.param .b64 n); .extern .func free(.param .b64 p); .extern .shared .b32 dynamic[];
         .func (.param .b32 r) fresh(.param .b32 a) { .local .b32 l[2]; .reg .b32 x; ld.local.b32 x, [l+4]; st.local.b32 [l+4], 5; st.param.b32 [r], x; ret; }
         .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .b32 s[4]; .local .b32 l[4]; .param .b64 n; .param .b64 p; .param .b32 a; .param .b32 b;
           ld.param.u64 %rd0, [out]; ld.shared.u32 %r1, [s+8]; st.global.u32 [%rd0], %r1; st.shared.u32 [s+8], 1; ld.shared.u32 %r1, [dynamic]; st.global.u32 [%rd0+4], %r1;
           ld.local.u32 %r1, [l+12]; st.global.u32 [%rd0+8], %r1; st.local.u32 [l+12], 1;
           st.param.b64 [n], 16; call (p), malloc, (n); ld.param.b64 %rd1, [p]; ld.u32 %r1, [%rd1+12]; st.global.u32 [%rd0+12], %r1; st.u32 [%rd1+12], 1; st.param.b64 [p], %rd1; call free, (p);
           st.param.b32 [a], 0; call (b), fresh, (a); ld.param.b32 %r1, [b]; st.global.u32 [%rd0+16], %r1; call (b), fresh, (a); ld.param.b32 %r1, [b]; st.global.u32 [%rd0+20], %r1;
           alloca.u64 %rd2, 64, 8; cvta.local.u64 %rd2, %rd2; ld.u32 %r1, [%rd2+60]; st.global.u32 [%rd0+24], %r1; ret; }",
    );
    let mut device = Device::new();
    let out = buffer(&mut device, &[0; 7]);
    let launch = Launch::new("k").dynamic_shared(16).arg(out);
    for poison in [None, Some(Launch::POISON), Some(0xa5), None] {
        let launch = poison.map_or(launch.clone(), |byte| launch.clone().poison(byte));
        // Twice: what the first launch wrote is gone.
        for _ in 0..2 {
            device.launch(&program, &launch).unwrap();
        }
        let found = device.download::<u32>(out).unwrap();
        match poison {
            Some(byte) => assert_eq!(found, [u32::from_le_bytes([byte; 4]); 7]),
            // Frames of calls and freed blocks hold what was there before.
            None => assert_eq!(found[..3], [0; 3]),
        }
    }
}
