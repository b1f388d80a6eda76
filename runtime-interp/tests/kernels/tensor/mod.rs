//! Copies by tensor map against a reference that goes element by element, and misuse.

mod misuse;
mod pixels;
mod reference;

use super::*;
use reference::{Case, SHARED};
use warpsmith_interp::{Arg, ElementType, Fill, Interleave, SplitMix64, Swizzle, Tensor, TensorMap};

/// A byte that no test data have, where nothing was written.
const POISON: u8 = 0xee;

fn coordinates(case: &Case) -> String {
    (0..case.coordinates.len()).map(|i| format!("%r{}", i + 1)).collect::<Vec<_>>().join(", ")
}

/// Parameters and prologue: the map, five coordinates, bytes, an offset in shared memory, two numbers more.
const PARAMS: &str = ", .param .align 64 .b8 map[128], .param .align 4 .b8 c[20], .param .align 4 .b8 n[16]";

fn prologue() -> String {
    let mut text = format!(
        ".shared .align 1024 .b8 s[{SHARED}]; .shared .align 8 .b64 bar; .reg .b16 %o<4>; mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.u32 %r20, %tid.x;
        setp.eq.u32 %p1, %r20, 0; mov.u32 %r10, s; ld.param.u32 %r12, [n]; ld.param.u32 %r13, [n+4]; add.u32 %r11, %r10, %r13; ld.param.u16 %o0, [n+8]; ld.param.u16 %o1, [n+10]; ld.param.u16 %o2, [n+12];\n"
    );
    for i in 0..5 {
        text += &format!("ld.param.u32 %r{}, [c+{}];\n", i + 1, 4 * i);
    }
    text
}

/// Copies a tile to shared memory, and all of that to `out`.
fn load_kernel(case: &Case, mode: &str, info: &str) -> Program {
    let dims = if mode.contains("gather") { 2 } else { case.coordinates.len() };
    let coordinates = coordinates(case);
    let body = format!(
        "{} @%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 fence.proxy.async.shared::cta; bar.sync 0;
        @!%p1 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r12;
        cp.async.bulk.tensor.{dims}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes [%r11], [%rd1, {{{coordinates}}}], [bar]{info};
        W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W; mad.lo.u32 %r21, %r20, 16, %r10; mad.wide.u32 %rd2, %r20, 16, %out; mov.u32 %r22, 0;
        L: ld.shared.v4.b32 {{%r30, %r31, %r32, %r33}}, [%r21]; st.global.v4.b32 [%rd2], {{%r30, %r31, %r32, %r33}}; add.u32 %r21, %r21, 2048; add.u64 %rd2, %rd2, 2048;
        add.u32 %r22, %r22, 2048; setp.lt.u32 %p3, %r22, {SHARED}; @%p3 bra L;",
        prologue()
    );
    kernel_for("sm_100a", PARAMS, &body)
}

/// Fills shared memory from `out` and copies a tile from there.
fn store_kernel(case: &Case, instruction: &str, mode: &str) -> Program {
    let dims = if mode.contains("scatter") { 2 } else { case.coordinates.len() };
    let coordinates = coordinates(case);
    let body = format!(
        "{} mad.lo.u32 %r21, %r20, 16, %r10; mad.wide.u32 %rd2, %r20, 16, %out; mov.u32 %r22, 0;
        L: ld.global.v4.b32 {{%r30, %r31, %r32, %r33}}, [%rd2]; st.shared.v4.b32 [%r21], {{%r30, %r31, %r32, %r33}}; add.u32 %r21, %r21, 2048; add.u64 %rd2, %rd2, 2048;
        add.u32 %r22, %r22, 2048; setp.lt.u32 %p3, %r22, {SHARED}; @%p3 bra L; fence.proxy.async.shared::cta; bar.sync 0;
        @%p1 {instruction}{mode}.bulk_group [%rd1, {{{coordinates}}}], [%r11]; @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;",
        prologue().replacen("{dims}", "", 1)
    );
    kernel_for("sm_100a", PARAMS, &body.replace("{dims}", &dims.to_string()))
}

fn numbers(case: &Case, bytes: usize, info: [u16; 3]) -> [Arg; 2] {
    let mut c = [0u8; 20];
    for (i, x) in case.coordinates.iter().enumerate() {
        c[4 * i..4 * i + 4].copy_from_slice(&x.to_le_bytes());
    }
    let mut n = [0u8; 16];
    n[..4].copy_from_slice(&(bytes as u32).to_le_bytes());
    n[4..8].copy_from_slice(&case.offset.to_le_bytes());
    for (i, x) in info.iter().enumerate() {
        n[8 + 2 * i..10 + 2 * i].copy_from_slice(&x.to_le_bytes());
    }
    [Arg::bytes(c.to_vec()), Arg::bytes(n.to_vec())]
}

/// What shared memory holds after a load, of 32 KiB full of poison. The map is made by a function of the tensor's address.
fn load_tile(
    program: &Program,
    case: &Case,
    data: &[u8],
    (bytes, info): (usize, [u16; 3]),
    map: impl Fn(u64) -> TensorMap,
) -> Result<Vec<u8>, Fault> {
    let mut device = levels::device();
    let out = device.upload(&vec![0u8; SHARED])?;
    let tensor = device.upload(data)?;
    let [c, n] = numbers(case, bytes, info);
    let launch = Launch::new("k").block([128, 1, 1]).poison(POISON);
    device.launch(program, &launch.arg(out).arg(map(tensor.address())).arg(c).arg(n))?;
    device.download(out)
}

/// What the tensor holds after a store of a tile from shared memory.
fn store_tile(
    program: &Program,
    case: &Case,
    data: &[u8],
    shared: &[u8],
    map: impl Fn(u64) -> TensorMap,
) -> Result<Vec<u8>, Fault> {
    let mut device = levels::device();
    let out = device.upload(shared)?;
    let tensor = device.upload(data)?;
    let [c, n] = numbers(case, 0, [0; 3]);
    let launch = Launch::new("k").block([128, 1, 1]);
    device.launch(program, &launch.arg(out).arg(map(tensor.address())).arg(c).arg(n))?;
    device.download(tensor)
}

const STORE_TENSOR: &str = "cp.async.bulk.tensor.{dims}d.global.shared::cta";

#[test]
fn boxes_of_all_kinds_in_both_directions() {
    let mut random = SplitMix64::new(18);
    let mut programs: [Option<[Program; 2]>; 6] = Default::default();
    let (mut partly, mut whole) = (0, 0);
    for n in 0..240 {
        let case = Case::random(&mut random, n);
        let rank = case.dims.len();
        let [load, store] = programs[rank]
            .get_or_insert_with(|| [load_kernel(&case, "", ""), store_kernel(&case, STORE_TENSOR, "")]);
        let data = case.data(&mut random);
        let map = |address| {
            case.tensor(address).encode_tiled(&case.box_dim).unwrap_or_else(|e| panic!("{e}: {case:?}"))
        };
        let (tile, outside) = case.tile(&data);
        if outside {
            partly += 1
        } else {
            whole += 1
        }
        let found = load_tile(load, &case, &data, (tile.len(), [0; 3]), map)
            .unwrap_or_else(|f| panic!("{f}: {case:?}"));
        assert_eq!(found, case.shared(&tile), "case {n}: {case:?}");
        // Towards the tensor no coordinate is negative.
        let coordinates = case.coordinates.iter().map(|c| (*c).max(0)).collect();
        let case = &Case { coordinates, ..case.clone() };
        let shared: Vec<u8> = (0..SHARED).map(|_| random.next() as u8).collect();
        let found = store_tile(store, case, &data, &shared, map).unwrap_or_else(|f| panic!("{f}: {case:?}"));
        assert_eq!(found, case.stored(&data, &shared), "case {n}: {case:?}");
    }
    assert!(partly > 40 && whole > 20, "{partly} tiles end outside of their tensors, {whole} do not");
}

#[test]
fn rows_are_gathered_and_scattered() {
    let mut random = SplitMix64::new(4);
    let mut programs: Option<[Program; 2]> = None;
    for n in 0..24 {
        let mut case = Case::random(&mut random, 8 * n + 1);
        case.box_dim[1] = 1;
        case.steps = vec![1, 1];
        let data = case.data(&mut random);
        let rows: [i32; 4] = std::array::from_fn(|_| (random.next() % (case.dims[1] + 2)) as i32);
        let column = case.coordinates[0];
        let map = |address| case.tensor(address).encode_tiled(&case.box_dim).unwrap();
        // Four tiles of a row each, one after the other.
        let tile: Vec<u8> = rows
            .iter()
            .flat_map(|row| Case { coordinates: vec![column, *row], ..case.clone() }.tile(&data).0)
            .collect();
        let four = Case { coordinates: vec![column, rows[0], rows[1], rows[2], rows[3]], ..case.clone() };
        let [load, store] = programs.get_or_insert_with(|| {
            [load_kernel(&four, ".tile::gather4", ""), store_kernel(&four, STORE_TENSOR, ".tile::scatter4")]
        });
        let found = load_tile(load, &four, &data, (tile.len(), [0; 3]), map).unwrap();
        assert_eq!(found, four.shared(&tile), "{four:?}");
        let mut four = four;
        four.coordinates[0] = column.max(0);
        let shared: Vec<u8> = (0..SHARED).map(|_| random.next() as u8).collect();
        let dense = four.dense(&shared, tile.len());
        let mut expected = data.clone();
        for (row, part) in rows.iter().zip(dense.chunks_exact(tile.len() / 4)) {
            expected =
                Case { coordinates: vec![four.coordinates[0], *row], ..case.clone() }.put(&expected, part);
        }
        assert_eq!(store_tile(store, &four, &data, &shared, map).unwrap(), expected, "{four:?}");
    }
}

#[test]
fn reductions_combine_the_elements_within_the_tensor() {
    let case = |element: ElementType| {
        let bytes = u64::from(element.bits() / 8);
        Case {
            element,
            dims: vec![20, 6],
            strides: vec![20 * bytes + (16 - 20 * bytes % 16) % 16],
            box_dim: vec![16, 4],
            steps: vec![1, 1],
            swizzle: Swizzle::B128,
            fill: Fill::Zero,
            coordinates: vec![12, 3],
            offset: 0,
        }
    };
    let f32s = |f: fn(f32, f32) -> f32| {
        move |a: u64, b: u64| u64::from(f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
    };
    type Function = Box<dyn Fn(u64, u64) -> u64>;
    let cases: Vec<(&str, ElementType, Function)> = vec![
        ("add", ElementType::U32, Box::new(|a, b| u64::from((a as u32).wrapping_add(b as u32)))),
        ("add", ElementType::U64, Box::new(u64::wrapping_add)),
        ("add", ElementType::F32, Box::new(f32s(|a, b| a + b))),
        ("min", ElementType::S32, Box::new(|a, b| u64::from((a as i32).min(b as i32) as u32))),
        ("max", ElementType::U32, Box::new(|a, b| u64::from((a as u32).max(b as u32)))),
        ("max", ElementType::S64, Box::new(|a, b| (a as i64).max(b as i64) as u64)),
        ("inc", ElementType::U32, Box::new(|a, b| if a >= b { 0 } else { a + 1 })),
        ("dec", ElementType::U32, Box::new(|a, b| if a == 0 || a > b { b } else { a - 1 })),
        ("and", ElementType::U64, Box::new(|a, b| a & b)),
        ("or", ElementType::U32, Box::new(|a, b| a | b)),
        ("xor", ElementType::S32, Box::new(|a, b| a ^ b)),
    ];
    let mut random = SplitMix64::new(7);
    for (name, element, f) in cases {
        let case = case(element);
        let size = element.bits() as usize / 8;
        // Numbers of moderate size, whatever the type is.
        let mut numbers = |bytes: usize| -> Vec<u8> {
            (0..bytes / size)
                .flat_map(|_| {
                    let n = random.next() % 2000;
                    let bits = if element == ElementType::F32 {
                        u64::from((n as f32 - 1000.0).to_bits())
                    } else {
                        n
                    };
                    bits.to_le_bytes()[..size].to_vec()
                })
                .collect()
        };
        let (data, shared) = (numbers(case.bytes() + 64), numbers(SHARED));
        let word = |b: &[u8]| b.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        let mut expected = case.stored(&data, &shared);
        for ((new, old), sum) in data
            .chunks_exact(size)
            .zip(expected.clone().chunks_exact(size))
            .map(|(a, b)| (b, a))
            .zip(expected.chunks_exact_mut(size))
        {
            if new != old {
                sum.copy_from_slice(&f(word(old), word(new)).to_le_bytes()[..size]);
            }
        }
        let program = store_kernel(
            &case,
            &format!("cp.reduce.async.bulk.tensor.{{dims}}d.global.shared::cta.{name}"),
            "",
        );
        let map = |address| case.tensor(address).encode_tiled(&case.box_dim).unwrap();
        let found = store_tile(&program, &case, &data, &shared, map).unwrap();
        assert_eq!(found, expected, "{name} of {element:?}");
    }
}

#[test]
fn interleaved_channels_are_slices() {
    // 20 channels of 16 bits in slices of 8 (the last one padded), 5 columns, 4 rows, 2 images: slice, image and row have strides, columns
    // lie next to each other.
    let (slices, width, height, images) = (3usize, 5usize, 4usize, 2usize);
    let (row, slice) = (width * 16, width * height * 16);
    let image = slices * slice;
    let data: Vec<u8> = (0..images * image).map(|i| (i / 2 * 7 % 251) as u8 ^ (i % 2) as u8).collect();
    let case = Case {
        element: ElementType::U16,
        dims: vec![24, 5, 4, 2],
        strides: vec![slice as u64, row as u64, image as u64],
        box_dim: vec![16, 3, 2, 2],
        steps: vec![1; 4],
        swizzle: Swizzle::None,
        fill: Fill::Zero,
        coordinates: vec![8, 3, -1, 1],
        offset: 0,
    };
    let mut tile = Vec::new();
    for n in 1..3 {
        for c in 1..3 {
            for y in -1..1 {
                for x in 3..6 {
                    let inside = n < images as i32 && (0..4).contains(&y) && x < 5;
                    let at = n as usize * image + c * slice + y.max(0) as usize * row + x as usize * 16;
                    tile.extend_from_slice(if inside { &data[at..at + 16] } else { &[0; 16] });
                }
            }
        }
    }
    let tensor = |address| Tensor { interleave: Interleave::B16, ..case.tensor(address) };
    let program = load_kernel(&case, "", "");
    let map = |address| tensor(address).encode_tiled(&case.box_dim).unwrap();
    let found = load_tile(&program, &case, &data, (tile.len(), [0; 3]), map).unwrap();
    assert_eq!(found, case.shared(&tile));
}

#[test]
fn packed_elements_have_padding_in_shared_memory() {
    let mut random = SplitMix64::new(9);
    for (element, packed) in [(ElementType::B4x16P64, 8), (ElementType::B6x16P32, 12)] {
        let row = 256 / 16 * packed;
        let case = Case {
            element,
            dims: vec![256, 8],
            strides: vec![row as u64],
            box_dim: vec![128, 4],
            steps: vec![1, 1],
            swizzle: Swizzle::B128,
            fill: Fill::Zero,
            coordinates: vec![128, 6],
            offset: 0,
        };
        let data: Vec<u8> = (0..8 * row).map(|_| random.next() as u8 | 1).collect();
        let mut expected = vec![POISON; SHARED];
        for y in 0..4 {
            for group in 0..8 {
                let to = y * 128 + (group ^ y) * 16;
                let from = (6 + y) * row + row / 2 + group * packed;
                let inside = data.get(from..from + packed).map_or(vec![0; packed], <[u8]>::to_vec);
                expected[to..to + packed].copy_from_slice(&inside);
            }
        }
        let map = |address| case.tensor(address).encode_tiled(&case.box_dim).unwrap();
        let program = load_kernel(&case, "", "");
        assert_eq!(load_tile(&program, &case, &data, (512, [0; 3]), map).unwrap(), expected, "{element:?}");
        let shared: Vec<u8> = (0..SHARED).map(|_| random.next() as u8).collect();
        let stored = store_tile(&store_kernel(&case, STORE_TENSOR, ""), &case, &data, &shared, map);
        if element == ElementType::B4x16P64 {
            assert!(stored.unwrap_err().message.contains("not copied to global memory"));
            continue;
        }
        // Of every byte in shared memory six bits are left.
        let mut expected = data.clone();
        for y in 0..2 {
            for i in 0..128 {
                let at = y * 128 + ((i / 16) ^ y) * 16 + i % 16;
                for bit in 0..6 {
                    let to = ((6 + y) * row + row / 2) * 8 + i * 6 + bit;
                    let one = shared[at] >> bit & 1;
                    expected[to / 8] = expected[to / 8] & !(1 << (to % 8)) | one << (to % 8);
                }
            }
        }
        assert_eq!(stored.unwrap(), expected);
    }
}

#[test]
fn types_round_and_flush_on_the_way() {
    let case = Case {
        element: ElementType::TF32,
        dims: vec![8],
        strides: vec![],
        box_dim: vec![8],
        steps: vec![1],
        swizzle: Swizzle::None,
        fill: Fill::Zero,
        coordinates: vec![0],
        offset: 0,
    };
    let words = [
        0x3f80_1000u32,
        0x3f80_3000,
        0x3f80_2fff,
        0x7f80_0001,
        0x8000_0001,
        0xff80_0000,
        0x007f_ffff,
        0x7f7f_ffff,
    ];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let program = load_kernel(&case, "", "");
    for (element, expected) in [
        (ElementType::U32, words),
        (
            ElementType::TF32,
            [
                0x3f80_0000,
                0x3f80_4000,
                0x3f80_2000,
                0x7f80_0001,
                0x8000_0000,
                0xff80_0000,
                0x0080_0000,
                0x7f80_0000,
            ],
        ),
        (
            ElementType::F32Ftz,
            [0x3f80_1000, 0x3f80_3000, 0x3f80_2fff, 0x7f80_0001, 0x8000_0000, 0xff80_0000, 0, 0x7f7f_ffff],
        ),
        (
            ElementType::TF32Ftz,
            [0x3f80_0000, 0x3f80_4000, 0x3f80_2000, 0x7f80_0001, 0x8000_0000, 0xff80_0000, 0, 0x7f80_0000],
        ),
    ] {
        let case = Case { element, ..case.clone() };
        let map = |address| case.tensor(address).encode_tiled(&case.box_dim).unwrap();
        let found = load_tile(&program, &case, &bytes, (32, [0; 3]), map).unwrap();
        let expected: Vec<u8> = expected.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(found[..32], expected, "{element:?}");
    }
}

#[test]
fn a_kernel_makes_its_own_map() {
    // As Triton does: from zeros in shared memory, field by field, then to global memory, then used from there.
    let program = load_for("sm_90a", "
        .visible .entry k(.param .u64 out, .param .u64 tensor, .param .u64 workspace) { .reg .b32 %r<64>; .reg .b64 %rd<64>; .reg .pred %p<8>;
        .shared .align 128 .b8 map[128]; .shared .align 1024 .b8 s[1024]; .shared .align 8 .b64 bar;
        ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [tensor]; ld.param.u64 %rd3, [workspace]; mov.u32 %r1, %tid.x; mov.u32 %r2, map; mad.lo.u32 %r3, %r1, 4, %r2; setp.eq.u32 %p1, %r1, 0; cvt.u64.u32 %rd4, %r2;
        st.shared.b32 [%r3], 0; bar.warp.sync -1;
        @%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd4], %rd2; @%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd4], 1;
        @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd4], 0, 32; @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd4], 1, 8;
        @%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd4], 0, 64; @%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd4], 1, 16;
        @%p1 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd4], 0, 256; @%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd4], 0, 1;
        @%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd4], 1, 1; @%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%rd4], 2;
        @%p1 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%rd4], 0; @%p1 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%rd4], 3; @%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%rd4], 0;
        bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd3], [%rd4], 128; fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
        @%p1 mbarrier.init.shared.b64 [bar], 1; @!%p1 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd3, {32, 4}], [bar];
        W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;
        mov.u32 %r4, s; mad.lo.u32 %r4, %r1, 32, %r4; mad.wide.u32 %rd5, %r1, 32, %rd1; ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r4]; ld.shared.v4.b32 {%r14, %r15, %r16, %r17}, [%r4+16];
        st.global.v4.b32 [%rd5], {%r10, %r11, %r12, %r13}; st.global.v4.b32 [%rd5+16], {%r14, %r15, %r16, %r17}; ret; }");
    let mut device = levels::device();
    let tensor: Vec<u32> = (0..16 * 64).collect();
    let (out, tensor, workspace) = (
        device.upload(&[0u32; 256]).unwrap(),
        device.upload(&tensor).unwrap(),
        device.upload(&[0u8; 128]).unwrap(),
    );
    device.launch(&program, &Launch::new("k").block([32, 1, 1]).arg(out).arg(tensor).arg(workspace)).unwrap();
    let expected: Vec<u32> =
        (0..256).map(|i| (4 + i / 32) * 64 + 32 + ((i % 32 / 4) ^ (i / 32)) * 4 + i % 4).collect();
    assert_eq!(device.download::<u32>(out).unwrap(), expected);
}

#[test]
fn tiles_are_multicast_to_a_cluster() {
    // Block 0 sends halves of a tile to both blocks; each waits for its own object.
    let program = kernel_for("sm_90", ", .param .align 64 .b8 map[128]", "
        .shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar; mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; setp.ne.u32 %p2, %r1, 0;
        @%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 fence.mbarrier_init.release.cluster; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024; barrier.cluster.arrive; barrier.cluster.wait;
        @!%p1 bra W; @%p2 bra W; mov.b16 %rs1, 3;
        cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%rd1, {0}], [bar], %rs1;
        cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s+512], [%rd1, {128}], [bar], %rs1;
        W: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra W;
        mov.u32 %r3, s; mad.lo.u32 %r3, %r2, 16, %r3; mad.lo.u32 %r4, %r1, 64, %r2; mad.wide.u32 %rd2, %r4, 16, %out; ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r3]; st.global.v4.b32 [%rd2], {%r10, %r11, %r12, %r13};
        barrier.cluster.arrive; barrier.cluster.wait;");
    let mut device = levels::device();
    let numbers: Vec<u32> = (0..256).map(|i| i * 3).collect();
    let (out, tensor) = (device.upload(&[0u32; 512]).unwrap(), device.upload(&numbers).unwrap());
    let map = Tensor::new(ElementType::U32, tensor.address(), &[256], &[]).encode_tiled(&[128]).unwrap();
    let launch = Launch::new("k").block([64, 1, 1]).grid([2, 1, 1]).cluster([2, 1, 1]).arg(out).arg(map);
    for seed in [None, Some(1), Some(2)] {
        let mut launch = launch.clone();
        launch.seed = seed;
        device.launch(&program, &launch).unwrap();
        assert_eq!(device.download::<u32>(out).unwrap(), [numbers.clone(), numbers.clone()].concat());
    }
}
