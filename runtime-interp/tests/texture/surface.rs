//! `suld sust sured`: every geometry, width and clamp mode.

use crate::{Random, inputs, kernel, registers, run};
use warpsmith_interp::texture::{ChannelType, Format, Image};
use warpsmith_interp::{Buffer, Device, FaultCode, Handle};

fn surface(
    device: &mut Device,
    format: Format,
    size: &[u32],
    layers: Option<u32>,
) -> (Handle, Buffer, Vec<u8>) {
    let image = Image::new(format, size, layers).unwrap();
    let mut random = Random(73);
    let bytes: Vec<u8> = (0..image.bytes()).map(|_| random.next() as u8).collect();
    let texels = device.upload(&bytes).unwrap();
    (device.create_surface(texels, &image).unwrap(), texels, bytes)
}

const SHAPES: [(&str, &[u32], Option<u32>); 5] = [
    ("1d", &[8], None),
    ("2d", &[8, 3], None),
    ("3d", &[8, 3, 2], None),
    ("a1d", &[8], Some(3)),
    ("a2d", &[8, 3], Some(2)),
];

/// The offset of a place after clamping, and whether it was inside.
fn place(
    size: &[u32],
    layers: Option<u32>,
    texel: i64,
    at: [i64; 3],
    layer: i64,
    bytes: i64,
    unit: i64,
) -> (i64, bool) {
    let whole: [i64; 3] = std::array::from_fn(|d| size.get(d).copied().unwrap_or(1).into());
    let last = [(whole[0] * texel - bytes) / unit, whole[1] - 1, whole[2] - 1];
    let clamped: [i64; 3] = std::array::from_fn(|d| if d < size.len() { at[d].clamp(0, last[d]) } else { 0 });
    let of = layers.map_or(0, |n| layer.clamp(0, i64::from(n) - 1));
    let inside = (0..size.len()).all(|d| clamped[d] == at[d]) && layers.is_none_or(|_| of == layer);
    let [x, y, z] = clamped;
    (((of * whole[2] + z) * whole[1] + y) * whole[0] * texel + x * unit, inside)
}

/// Coordinates in registers of words 1 to 3, behind the layer in word 0.
fn coordinates(name: &str) -> &'static str {
    match name {
        "1d" => "{%r1}",
        "2d" => "{%r1, %r2}",
        "3d" => "{%r1, %r2, %r3, %r3}",
        "a1d" => "{%r0, %r1}",
        _ => "{%r0, %r1, %r2, %r2}",
    }
}

fn cases(bytes: i64) -> Vec<[u32; 16]> {
    let mut random = Random(79);
    let mut all = Vec::new();
    for _ in 0..200 {
        let mut words = [0; 16];
        words[0] = (random.next() % 6) as i32 as u32;
        words[1] =
            ((random.next() % (8 * 4 / bytes as u32 + 6)) as i32 * bytes as i32 - 3 * bytes as i32) as u32;
        words[2] = (random.next() as i32 % 6 - 1) as u32;
        words[3] = (random.next() as i32 % 5 - 1) as u32;
        all.push(words);
    }
    all
}

#[test]
fn loads_of_every_width() {
    let format = Format { ty: ChannelType::U8, channels: 4 };
    for (name, size, layers) in SHAPES {
        for (width, count) in [(8, 1), (8, 4), (16, 1), (16, 2), (32, 1), (32, 2), (32, 4), (64, 1), (64, 2)]
        {
            for clamp in ["zero", "clamp"] {
                let vector = if count == 1 { String::new() } else { format!(".v{count}") };
                let kind = match width {
                    64 => "rd",
                    32 => "r",
                    _ => "rs",
                };
                let first = 4;
                let all = registers(kind, first, count);
                // Words of what was read, one by one.
                let words: String = match width {
                    64 => (0..count)
                        .map(|i| format!("mov.b64 {{%r{}, %r{}}}, %rd{};", 16 + 2 * i, 17 + 2 * i, first + i))
                        .collect(),
                    32 => (0..count).map(|i| format!("mov.b32 %r{}, %r{};", 16 + i, first + i)).collect(),
                    _ => (0..count).map(|i| format!("cvt.u32.u16 %r{}, %rs{};", 16 + i, first + i)).collect(),
                };
                let program = kernel(&format!(
                    "{} mov.u32 %r16, 0; mov.u32 %r17, 0; mov.u32 %r18, 0; mov.u32 %r19, 0; suld.b.{name}{vector}.b{width}.{clamp} {all}, [%h, {}]; {words} st.global.v4.u32 [%out], {};",
                    inputs("r", 0, 4),
                    coordinates(name),
                    registers("r", 16, 4)
                ));
                let mut device = Device::new();
                let (handle, _, bytes) = surface(&mut device, format, size, layers);
                let total = i64::from(width) / 8 * count as i64;
                let input = cases(total);
                let found = run(&mut device, &program, handle, &input).unwrap();
                for (words, found) in input.iter().zip(found) {
                    let at = [1, 2, 3].map(|i| i64::from(words[i] as i32));
                    let (offset, inside) = place(size, layers, 4, at, i64::from(words[0] as i32), total, 1);
                    let mut expected = [0u32; 4];
                    if inside || clamp == "clamp" {
                        let data = &bytes[offset as usize..][..total as usize];
                        let step = (width as usize / 8).min(4);
                        for (i, chunk) in data.chunks(step).enumerate() {
                            expected[i] = chunk.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b));
                        }
                    }
                    assert_eq!(found, expected, "{name} b{width} x{count} {clamp} {words:?}");
                }
            }
        }
    }
}

#[test]
fn stores_and_reductions() {
    let format = Format { ty: ChannelType::U32, channels: 1 };
    for (name, size, layers) in SHAPES {
        for clamp in ["zero", "clamp"] {
            let mut ops = vec![("sust.b", "b32", "")];
            if layers.is_none() {
                ops.extend([
                    ("sured.b.add", "u32", ""),
                    ("sured.b.min", "s32", ""),
                    ("sured.b.or", "b32", ""),
                    ("sured.p.max", "b32", "p"),
                ]);
            }
            for (op, ty, formatted) in ops {
                let program = kernel(&format!(
                    "{} {op}.{name}.{ty}.{clamp} [%h, {}], %r4;",
                    inputs("r", 0, 5),
                    coordinates(name)
                ));
                let mut device = Device::new();
                let (handle, texels, bytes) = surface(&mut device, format, size, layers);
                let unit = if formatted.is_empty() { 1 } else { 4 };
                let mut input = cases(4 / unit);
                // Without two stores to one place.
                let mut seen = std::collections::HashSet::new();
                let at = |w: &[u32; 16]| {
                    place(
                        size,
                        layers,
                        4,
                        [1, 2, 3].map(|i| i64::from(w[i] as i32)),
                        i64::from(w[0] as i32),
                        4,
                        if formatted.is_empty() { 1 } else { 4 },
                    )
                };
                if op == "sust.b" {
                    input.retain(|w| seen.insert(at(w).0));
                }
                for (i, words) in input.iter_mut().enumerate() {
                    words[4] = (i as u32).wrapping_mul(0x9e37_79b9);
                }
                run(&mut device, &program, handle, &input).unwrap();
                let mut expected = bytes;
                // Threads past the input are at coordinate zero of a value zero, which changes nothing but by a store, a minimum, and a maximum.
                let padding = input.len().next_multiple_of(128) - input.len();
                input.extend(vec![[0; 16]; padding]);
                for words in &input {
                    let (offset, inside) = at(words);
                    if !inside && clamp == "zero" {
                        continue;
                    }
                    let place = &mut expected[offset as usize..][..4];
                    let old = u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
                    let new = match op {
                        "sust.b" => words[4],
                        "sured.b.add" => old.wrapping_add(words[4]),
                        "sured.b.min" => (old as i32).min(words[4] as i32) as u32,
                        "sured.b.or" => old | words[4],
                        _ => old.max(words[4]),
                    };
                    place.copy_from_slice(&new.to_le_bytes());
                }
                let found = device.read(texels).unwrap();
                if op == "sust.b" {
                    // What the padding stores at the origin, another thread may have stored too.
                    assert_eq!(found[4..], expected[4..], "{op} {name} {clamp}");
                } else {
                    assert_eq!(found, expected, "{op} {name} {clamp}");
                }
            }
        }
    }
}

#[test]
fn formatted_stores_convert() {
    let cases: [(ChannelType, u32, [u32; 4], &[u8]); 8] = [
        (ChannelType::U8, 4, [1, 255, 256, u32::MAX], &[1, 255, 255, 255]),
        (ChannelType::S8, 2, [(-200i32) as u32, 100, 9, 9], &[0x80, 100]),
        (ChannelType::U16, 1, [70_000, 1, 2, 3], &[0xff, 0xff]),
        (ChannelType::S16, 2, [(-40_000i32) as u32, 40_000, 0, 0], &[0, 0x80, 0xff, 0x7f]),
        (ChannelType::U32, 1, [0xdead_beef, 0, 0, 0], &[0xef, 0xbe, 0xad, 0xde]),
        (ChannelType::S32, 2, [5, 6, 7, 8], &[5, 0, 0, 0, 6, 0, 0, 0]),
        (ChannelType::F16, 1, [0x3f80_0000, 0, 0, 0], &[0, 0x3c]),
        (ChannelType::F32, 1, [0x3f80_0001, 0, 0, 0], &[1, 0, 0x80, 0x3f]),
    ];
    for (ty, channels, values, expected) in cases {
        let program = kernel(&format!(
            "{} setp.ne.u32 %p0, %me, 0; @%p0 ret; sust.p.2d.v4.b32.trap [%h, {{1, 1}}], {};",
            inputs("r", 0, 4),
            registers("r", 0, 4)
        ));
        let mut device = Device::new();
        let (handle, texels, _) = surface(&mut device, Format { ty, channels }, &[2, 2], None);
        let mut words = [0; 16];
        words[..4].copy_from_slice(&values);
        run(&mut device, &program, handle, &[words]).unwrap();
        let bytes = device.read(texels).unwrap();
        assert_eq!(&bytes[3 * expected.len()..], expected, "{ty:?}");
    }
}

#[test]
fn accesses_that_are_larger_than_a_row() {
    let format = Format { ty: ChannelType::U8, channels: 1 };
    for clamp in ["zero", "clamp"] {
        let program = kernel(&format!(
            "suld.b.1d.v4.b32.{clamp} {{%r4, %r5, %r6, %r7}}, [%h, {{0}}]; st.global.v4.u32 [%out], {{%r4, %r5, %r6, %r7}};"
        ));
        let mut device = Device::new();
        let (handle, ..) = surface(&mut device, format, &[1], None);
        let found = run(&mut device, &program, handle, &[[0; 16]]);
        match clamp {
            "zero" => assert_eq!(found.unwrap(), [[0; 4]]),
            _ => assert_eq!(found.unwrap_err().code, FaultCode::OutOfBounds),
        }
    }
}

#[test]
fn traps_name_the_place() {
    let format = Format { ty: ChannelType::U32, channels: 1 };
    let program = kernel("shl.b32 %r1, %me, 2;\nsuld.b.2d.b32.trap %r2, [%h, {%r1, 1}];");
    let mut device = Device::new();
    let (handle, ..) = surface(&mut device, format, &[100, 2], None);
    let fault = run(&mut device, &program, handle, &[[0; 16]]).unwrap_err();
    assert_eq!(
        (fault.code, fault.ptx_line, fault.thread),
        (FaultCode::OutOfBounds, Some(4), Some([100, 0, 0]))
    );
    assert!(fault.message.contains("x = 400 bytes, y = 1"), "{fault}");
    let program = kernel("suld.b.1d.b32.trap %r2, [%h, {2}];");
    let (handle, ..) = surface(&mut device, format, &[8], None);
    let fault = run(&mut device, &program, handle, &[[0; 16]]).unwrap_err();
    assert_eq!(fault.code, FaultCode::Misaligned, "{fault}");
}
