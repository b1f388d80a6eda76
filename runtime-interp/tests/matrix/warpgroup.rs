//! Products of warpgroups: where elements lie in shared memory, and when they are read and written.

use super::products::{halves, matrices, run};
use warpsmith_interp::Launch;

const M: usize = 64;
const N: usize = 128;
const K: usize = 16;

/// How a matrix lies in shared memory.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Lies {
    /// Tiles of 8 lines of 16 bytes, two of them side by side.
    Tiles,
    /// Lines of 128, 64 or 32 bytes along k, swizzled.
    AlongK(usize),
    /// Lines of 128 bytes of 64 rows each, swizzled.
    AlongMn,
}

impl Lies {
    /// Where the two bytes of an element are: drawn as the manual's figures have it, apart from the engine's formula.
    fn place(self, mn: usize, k: usize, sides: usize) -> usize {
        match self {
            Lies::Tiles => mn / 8 * 256 + k / 8 * 128 + mn % 8 * 16 + k % 8 * 2,
            Lies::AlongK(span) => {
                let (line, unit) = (mn * span, k * 2 / 16);
                // Lines of fewer than 128 bytes share a line of banks.
                let phase = line / 128 % (span / 16);
                line + (unit ^ phase) * 16 + k * 2 % 16
            }
            Lies::AlongMn => {
                let (tile, unit) = (mn / 64 + k / 8 * (sides / 64), mn % 64 / 8);
                tile * 1024 + k % 8 * 128 + (unit ^ (k % 8)) * 16 + mn % 8 * 2
            }
        }
    }

    /// The descriptor's fields but for the address.
    fn descriptor(self, sides: usize) -> u64 {
        let (leading, stride, swizzle) = match self {
            Lies::Tiles => (128, 256, 0),
            Lies::AlongK(128) => (16, 1024, 1),
            Lies::AlongK(64) => (16, 512, 2),
            Lies::AlongK(_) => (16, 256, 3),
            Lies::AlongMn => (1024, 1024 * (sides / 64) as u64, 1),
        };
        leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62
    }
}

/// Copies images of A and B to shared memory, at 0 and 16 KiB, multiplies, and stores D.
fn kernel(a: Lies, b: Lies, in_registers: bool, between: &str, after: &str) -> String {
    let d: Vec<String> = (0..N / 2).map(|i| format!("%f{i}")).collect();
    let d = d.join(",");
    let turned = |lies: Lies| u8::from(lies == Lies::AlongMn);
    let of_a = if in_registers { "{%r0,%r1,%r2,%r3}".into() } else { "%da".to_string() };
    let of_turned = if in_registers { String::new() } else { format!("{}, ", turned(a)) };
    let mut stores = String::new();
    for i in 0..N / 2 {
        let offset = (i / 2 % 2 * 8 * N + i / 4 * 8 + i % 2) * 4;
        stores += &format!("st.global.f32 [%p+{offset}], %f{i};\n");
    }
    let zeros: String = (0..N / 2).map(|i| format!("mov.f32 %f{i}, 0f00000000;")).collect();
    format!(
        ".version 8.3 .target sm_90a .address_size 64
.shared .align 1024 .b8 tiles[32768];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out) {{
.reg .b64 %a, %b, %out, %p, %q, %da, %db; .reg .b32 %i, %j, %g, %t, %s, %r<8>; .reg .f32 %f<128>; .reg .pred %c;
ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %out, [out];
mov.u32 %i, %tid.x; shl.b32 %i, %i, 2; mov.u32 %s, tiles;
L: cvt.u64.u32 %q, %i; add.u64 %p, %q, %a; ld.global.b32 %r0, [%p]; add.u32 %j, %s, %i; st.shared.b32 [%j], %r0;
add.u64 %p, %q, %b; ld.global.b32 %r0, [%p]; st.shared.b32 [%j+16384], %r0;
add.u32 %i, %i, 512; setp.lt.u32 %c, %i, 16384; @%c bra L;
fence.proxy.async.shared::cta; bar.sync 0;
mov.u32 %i, %tid.x; shr.u32 %g, %i, 2; and.b32 %g, %g, 7; and.b32 %t, %i, 3; shr.u32 %j, %i, 5; shl.b32 %j, %j, 4; add.u32 %g, %g, %j;
// Fragments of A, which lies in tiles.
shr.u32 %j, %g, 3; shl.b32 %j, %j, 8; and.b32 %i, %g, 7; shl.b32 %i, %i, 4; add.u32 %j, %j, %i; shl.b32 %i, %t, 2; add.u32 %j, %j, %i; add.u32 %j, %j, %s;
ld.shared.b32 %r0, [%j]; ld.shared.b32 %r1, [%j+256]; ld.shared.b32 %r2, [%j+128]; ld.shared.b32 %r3, [%j+384];
shr.u32 %i, %s, 4; cvt.u64.u32 %q, %i; or.b64 %da, %q, {}; add.u64 %q, %q, 1024; or.b64 %db, %q, {};
{zeros}
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 {{{d}}}, {of_a}, %db, 1, 1, 1, {of_turned}{};
wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 {{{d}}}, {of_a}, %db, 1, -1, 1, {of_turned}{};
wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 {{{d}}}, {of_a}, %db, 1, 1, 1, {of_turned}{};
wgmma.commit_group.sync.aligned;
{between}
mul.wide.u32 %p, %g, {}; add.u64 %p, %p, %out; mul.wide.u32 %q, %t, 8; add.u64 %p, %p, %q;
{stores}
{after}
ret; }}",
        a.descriptor(M),
        b.descriptor(N),
        turned(b),
        turned(b),
        turned(b),
        4 * N
    )
}

fn images(a: Lies, b: Lies) -> (Vec<u8>, Vec<u8>, Vec<u32>) {
    let (of_a, of_b, d) = matrices(M, N, K);
    let image = |values: &[i32], lies: Lies, sides: usize, at: &dyn Fn(usize, usize) -> usize| {
        let mut image = vec![0; 16384];
        for mn in 0..sides {
            for k in 0..K {
                let place = lies.place(mn, k, sides);
                image[place..place + 2].copy_from_slice(&halves(&values[at(mn, k)..][..1]));
            }
        }
        image
    };
    let a = image(&of_a, a, M, &|row, k| row * K + k);
    let b = image(&of_b, b, N, &|column, k| k * N + column);
    (a, b, d.iter().map(|v| (*v as f32).to_bits()).collect())
}

fn group() -> Launch {
    Launch::new("k").block([128, 1, 1])
}

const WAIT: &str = "wgmma.wait_group.sync.aligned 0;";

#[test]
fn descriptors_reach_what_was_stored() {
    let all = [Lies::Tiles, Lies::AlongK(128), Lies::AlongK(64), Lies::AlongK(32), Lies::AlongMn];
    for of_a in all {
        for of_b in all {
            let (a, b, d) = images(of_a, of_b);
            let source = kernel(of_a, of_b, false, WAIT, "");
            for seed in [None, Some(1), Some(2)] {
                let mut launch = group();
                launch.seed = seed;
                let found = run(&source, &a, &b, M * N, launch).unwrap();
                assert_eq!(found, d, "{of_a:?} {of_b:?}");
            }
        }
    }
    let (a, b, d) = images(Lies::Tiles, Lies::AlongK(64));
    let found = run(&kernel(Lies::Tiles, Lies::AlongK(64), true, WAIT, ""), &a, &b, M * N, group()).unwrap();
    assert_eq!(found, d, "A in registers");
}

#[test]
fn nothing_happens_before_it_is_waited_for() {
    let (a, b, d) = images(Lies::Tiles, Lies::Tiles);
    let early = kernel(Lies::Tiles, Lies::Tiles, false, "", WAIT);
    assert_eq!(run(&early, &a, &b, M * N, group()).unwrap(), vec![0; M * N]);
    // Who overwrites what is being multiplied gets what was written last.
    let zero = "bar.sync 0; mov.u32 %j, %tid.x; shl.b32 %j, %j, 2; add.u32 %j, %j, %s; mov.u32 %r7, 0;
        st.shared.b32 [%j], %r7; st.shared.b32 [%j+512], %r7; st.shared.b32 [%j+1024], %r7; st.shared.b32 [%j+1536], %r7; bar.sync 0;";
    let overwritten = kernel(Lies::Tiles, Lies::Tiles, false, &format!("{zero}{WAIT}"), "");
    assert_eq!(run(&overwritten, &a, &b, M * N, group()).unwrap(), vec![0; M * N]);
    let in_order = kernel(Lies::Tiles, Lies::Tiles, false, &format!("{WAIT}{zero}"), "");
    assert_eq!(run(&in_order, &a, &b, M * N, group()).unwrap(), d);
}

#[test]
fn descriptors_without_a_meaning_are_faults() {
    let (a, b, _) = images(Lies::Tiles, Lies::Tiles);
    let source = kernel(Lies::Tiles, Lies::Tiles, false, WAIT, "");
    let message = |from: &str, to: &str, launch: Launch| {
        let text = source.replace(from, to);
        assert_ne!(text, source);
        run(&text, &a, &b, M * N, launch).unwrap_err().to_string()
    };
    let bits = |what: &str| message("wgmma.fence", &format!("or.b64 %db, %db, {what}; wgmma.fence"), group());
    let found = bits("0x4000");
    assert!(found.contains("of b: reserved field (bits 15:14) is 0x1; it must be zero"), "{found}");
    let found = bits("0x2000000000000");
    assert!(
        found.contains("of b: base offset (bits 51:49) is 1; with this swizzle it is at most 0"),
        "{found}"
    );
    let found = message("wgmma.fence", "add.u64 %da, %da, 0x3000; wgmma.fence", group());
    assert!(found.contains("the matrix a of the descriptor reaches shared address"), "{found}");
    let found = message("wgmma.fence", "cvt.u64.u32 %q, %t; add.u64 %da, %da, %q; wgmma.fence", group());
    assert!(found.contains("the descriptor of a is not the same in all lanes"), "{found}");
    let launch = Launch::new("k").block([96, 1, 1]);
    let found = message("%tid.x", "%tid.x ", launch);
    assert!(found.contains("a warpgroup is four warps"), "{found}");
}
