//! What rustc wrote, linked by the command and run: the link inputs of small crates are recorded in `crates/` (make.sh), so that no nightly and
//! no source of core is needed. Values are compared with the same Rust on the host.

extern crate alloc;

#[path = "crates/stable/kernels.rs"]
mod stable;

use std::path::{Path, PathBuf};
use std::process::Command;
use warpsmith_device::{SliceMut, host};
use warpsmith_interp::{Arg, Buffer, Device, FaultCode, Launch, Program};
use warpsmith_ptx::ValidatedModule;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crates")
}

/// The recordings of a crate, linked at each level that rustc passes.
fn programs(name: &str, exports: &[&str]) -> Vec<(String, Program)> {
    let recordings: Vec<PathBuf> = std::fs::read_dir(crates())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let file = path.file_name().unwrap().to_str().unwrap();
            file.starts_with(&format!("{name}.")) && file.ends_with(".a")
        })
        .collect();
    assert!(!recordings.is_empty(), "{name}: no recording");
    let mut all = Vec::new();
    for recording in recordings {
        for level in ["-O0", "-O1", "-O3", "-Oz"] {
            let how = format!("{} {level}", recording.file_stem().unwrap().display());
            // Tests that run beside each other link the same recordings.
            let test = std::thread::current().name().unwrap_or_default().replace("::", "-");
            let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test} {how}.ptx"));
            let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith-linker"));
            for export in exports {
                command.args(["--export-symbol", export]);
            }
            command.arg(&recording).args(["--target", "nvptx64-nvidia-cuda", "--target-cpu", "sm_80"]);
            let run = command.arg("-o").arg(&output).args([level, "--debug"]).output().unwrap();
            assert!(run.status.success(), "{how}: {}", String::from_utf8_lossy(&run.stderr));
            let text = std::fs::read_to_string(&output).unwrap();
            let module = ValidatedModule::parse(text).unwrap_or_else(|errors| panic!("{how}: {errors}"));
            all.push((
                how.clone(),
                Program::load(&module).unwrap_or_else(|errors| panic!("{how}: {errors}")),
            ));
        }
    }
    all
}

/// A slice, as rustc passes it: address and length.
fn slice(buffer: Buffer, len: usize) -> Arg {
    Arg::bytes([buffer.address().to_le_bytes(), (len as u64).to_le_bytes()].concat())
}

fn launch(how: &str, device: &mut Device, program: &Program, launch: Launch) {
    device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
}

#[test]
fn slices_iterators_closures_generics() {
    for (how, program) in programs("slices", &["saxpy", "rows", "powers", "sort"]) {
        let mut device = Device::new();
        let x: Vec<f32> = (0..70).map(|i| i as f32).collect();
        let (dx, dy) = (device.upload(&x).unwrap(), device.upload(&[1.0f32; 70]).unwrap());
        let grid = Launch::new("saxpy").grid([3, 1, 1]).block([32, 1, 1]);
        launch(&how, &mut device, &program, grid.arg(2.5f32).arg(slice(dx, 70)).arg(dy));
        let expected: Vec<f32> = x.iter().map(|x| 2.5 * x + 1.0).collect();
        assert_eq!(device.download::<f32>(dy).unwrap(), expected, "{how}");

        let data: Vec<i32> = (0..50).map(|i| (i * 37) % 23 - 7).collect();
        let (input, out) = (device.upload(&data).unwrap(), device.upload(&[0i32; 40]).unwrap());
        let rows = Launch::new("rows").block([32, 1, 1]).arg(slice(input, 50)).arg(6u64).arg(9i32).arg(out);
        launch(&how, &mut device, &program, rows);
        let expected: Vec<i32> = data
            .chunks(6)
            .flat_map(|row| {
                let sum = row.iter().filter(|x| **x < 9).map(|x| x * x).sum();
                let rises = row.windows(2).filter(|pair| pair[0] < pair[1]).count() as i32;
                let last =
                    row.iter().rev().zip(row).map(|(a, b)| a.wrapping_mul(*b)).fold(1, i32::wrapping_add);
                [sum, rises, last, row.iter().copied().max_by_key(|x| (x % 10, -x)).unwrap()]
            })
            .collect();
        assert_eq!(device.download::<i32>(out).unwrap()[..36], expected, "{how}");

        let (f, b) = (device.upload(&[1.5f64; 8]).unwrap(), device.upload(&[3u8; 8]).unwrap());
        launch(&how, &mut device, &program, Launch::new("powers").block([8, 1, 1]).arg(f).arg(b));
        let floats: Vec<f64> = (0..8).map(|i| 1.5f64.powi(i)).collect();
        let bytes: Vec<u8> = (0..8).map(|i| 3u8.wrapping_pow(i)).collect();
        assert_eq!(device.download::<f64>(f).unwrap(), floats, "{how}");
        assert_eq!(device.download::<u8>(b).unwrap(), bytes, "{how}");

        let mut data: Vec<u32> = (0..100u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
        let buffer = device.upload(&data).unwrap();
        launch(&how, &mut device, &program, Launch::new("sort").arg(buffer).arg(100u64));
        data.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(device.download::<u32>(buffer).unwrap(), data, "{how}");
    }
}

#[test]
fn trait_objects_enums_function_pointers() {
    for (how, program) in programs("dynamic", &["areas", "machine"]) {
        let mut device = Device::new();
        let kinds: Vec<u32> = (0..8).collect();
        let sizes: Vec<f32> = (0..8).map(|i| i as f32 + 0.5).collect();
        let (dk, ds) = (device.upload(&kinds).unwrap(), device.upload(&sizes).unwrap());
        let (out, names) = (device.upload(&[0f32; 8]).unwrap(), device.upload(&[0u32; 8]).unwrap());
        let areas = Launch::new("areas").block([8, 1, 1]).arg(dk).arg(ds).arg(out).arg(names);
        launch(&how, &mut device, &program, areas);
        let areas: Vec<f32> = (0..8)
            .map(|i| {
                let size = sizes[i];
                [size * size, 3.0 * size * size, size * 2.0, 1.0][i % 4]
            })
            .collect();
        assert_eq!(device.download::<f32>(out).unwrap(), areas, "{how}");
        assert_eq!(device.download::<u32>(names).unwrap(), [6, 5, 9, 6, 6, 5, 9, 6], "{how}");

        let code: Vec<u8> = (0..60u32).map(|i| (i * i * 7 + i * 13) as u8).collect();
        let (input, out) = (device.upload(&code).unwrap(), device.upload(&[0i64; 4]).unwrap());
        let machine = Launch::new("machine").block([4, 1, 1]).arg(slice(input, code.len())).arg(out);
        launch(&how, &mut device, &program, machine);
        let expected: Vec<i64> = (0..4).map(|thread| machine_of(&code, thread)).collect();
        assert_eq!(device.download::<i64>(out).unwrap(), expected, "{how}");
    }
}

/// The machine of `crates/dynamic.rs`, without what it is there to try.
fn machine_of(code: &[u8], thread: i64) -> i64 {
    let (mut stack, mut top) = ([0i64; 8], 0usize);
    for (at, byte) in code.iter().enumerate() {
        let (a, b) = (stack[(top + 7) & 7], stack[(top + 6) & 7]);
        match byte >> 5 {
            0 | 1 => {
                stack[top & 7] = i64::from(*byte) * (thread + 1);
                top += 1;
            }
            2 => stack[top & 7] = a.wrapping_add(b),
            3 => stack[top & 7] = a.wrapping_mul(b),
            4 => stack.swap(usize::from(byte & 7), usize::from((byte >> 2) & 7)),
            _ => stack[0] ^= at as i64 - if at < 3 { at as i64 + 1 } else { 3 },
        }
    }
    stack.iter().fold(17, |hash: i64, x| hash.wrapping_mul(31).wrapping_add(*x))
}

#[test]
fn wide_and_checked_arithmetic() {
    let a = [
        0,
        1,
        u128::MAX,
        1 << 127,
        0x0123_4567_89ab_cdef_0011_2233_4455_6677,
        u128::from(u64::MAX),
        10u128.pow(30),
        7,
    ];
    let b = [3, 0, u128::MAX, u128::MAX, 0xffff_ffff_ffff, 1 << 64, 10u128.pow(15) + 1, 200];
    let small_a = [0, i32::MAX, i32::MIN, -5, 123_456_789, 17, -1, 40_000];
    let small_b = [1, 1, -1, 3, 987, -17, i32::MIN, 0];
    for (how, program) in programs("wide", &["wide", "narrow"]) {
        let mut device = Device::new();
        let (da, db) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let out = device.upload(&[0u128; 64]).unwrap();
        launch(&how, &mut device, &program, Launch::new("wide").block([8, 1, 1]).arg(da).arg(db).arg(out));
        for (n, got) in device.download::<u128>(out).unwrap().chunks(8).enumerate() {
            let (a, b) = (a[n], b[n]);
            let (shift, signed) = ((b & 127) as u32, a as i128);
            let expected = [
                a.wrapping_mul(b),
                a.checked_div(b).unwrap_or(1),
                a.checked_rem(b).unwrap_or(2),
                signed.checked_div(b as i128).unwrap_or(3) as u128,
                a.checked_mul(b).unwrap_or(4),
                a.saturating_sub(b) ^ (a << shift) ^ ((signed >> shift) as u128),
                (a as f64 + f64::from(b as f32)) as u128,
                ((signed as f32) * 0.5) as i128 as u128
                    ^ u128::from(a.leading_zeros())
                    ^ u128::from(b.count_ones()) << 64,
            ];
            assert_eq!(got, expected, "{how}, {a:#x} and {b:#x}");
        }
        let (da, db) = (device.upload(&small_a).unwrap(), device.upload(&small_b).unwrap());
        let out = device.upload(&[0i32; 64]).unwrap();
        launch(&how, &mut device, &program, Launch::new("narrow").block([8, 1, 1]).arg(da).arg(db).arg(out));
        for (n, got) in device.download::<i32>(out).unwrap().chunks(8).enumerate() {
            let (a, b) = (small_a[n], small_b[n]);
            let x = f64::from(b).abs();
            let root = (0..6).fold(x / 2.0 + 0.5, |y, _| 0.5 * (y + x / y));
            let expected = [
                a.checked_add(b).unwrap_or(-1),
                a.saturating_mul(b),
                i32::from(a.overflowing_sub(b).1),
                i32::from((a as i8).wrapping_mul(b as i8)) + i32::from((a as u16).rotate_left(b as u32 & 15)),
                a.abs_diff(b) as i32 ^ a.swap_bytes() ^ b.reverse_bits(),
                a.checked_rem_euclid(b).unwrap_or(-5),
                i32::from((a as f32 * 1.5e3) as i16),
                ((root % 1000.0).to_bits() >> 32) as i32,
            ];
            assert_eq!(got, expected, "{how}, {a} and {b}");
        }
    }
}

#[test]
fn atomics_of_every_width() {
    for (how, program) in programs("atomics", &["count", "COUNT"]) {
        let mut device = Device::new();
        let (bins, least) = (device.upload(&[0u32; 4]).unwrap(), device.upload(&[0i64]).unwrap());
        let out = device.upload(&[0u32; 4]).unwrap();
        let count = Launch::new("count").block([64, 1, 1]).arg(bins).arg(least).arg(out);
        launch(&how, &mut device, &program, count);
        assert_eq!(device.download::<u32>(bins).unwrap(), [22, 21, 21 + 640, 0], "{how}");
        assert_eq!(device.download::<i64>(least).unwrap(), [-63], "{how}");
        // 64 times `!(flag & true)` of false: even, so false.
        assert_eq!(device.download::<u32>(out).unwrap(), [192 & 255, 63, 0, 5 + 128], "{how}");
        assert_eq!(device.read_variable(&program, "COUNT").unwrap(), 133u64.to_le_bytes(), "{how}");
    }
}

#[test]
fn shared_memory_by_its_section() {
    for (how, program) in programs("shared", &["block_sum"]) {
        assert_eq!(program.static_shared_bytes("block_sum"), Some(1024), "{how}");
        let mut device = Device::new();
        let data: Vec<f32> = (0..500).map(|i| (i % 17) as f32).collect();
        let (input, out) = (device.upload(&data).unwrap(), device.upload(&[0f32; 2]).unwrap());
        let sum = Launch::new("block_sum").grid([2, 1, 1]).block([256, 1, 1]);
        launch(&how, &mut device, &program, sum.arg(slice(input, 500)).arg(out));
        let expected: Vec<f32> = data.chunks(256).map(|block| block.iter().sum()).collect();
        assert_eq!(device.download::<f32>(out).unwrap(), expected, "{how}");
    }
}

#[test]
fn panics_say_what_rust_says() {
    let source = std::fs::read_to_string(crates().join("panics.rs")).unwrap();
    let place = |text: &str| {
        let (n, line) = source.lines().enumerate().find(|(_, line)| line.contains(text)).unwrap();
        format!("panicked at panics.rs:{}:{}:\n", n + 1, line.find(text).unwrap() + 1)
    };
    let exports = ["at", "divide", "write_text", "MESSAGE"];
    for (how, program) in programs("panics", &exports) {
        let said = |launch: Launch| {
            let mut device = Device::new();
            let out = device.upload(&[0u32]).unwrap();
            let data = device.upload(&[1u32, 2, 3]).unwrap();
            let launch = if launch.entry == "at" {
                Launch::new("at").arg(slice(data, 3)).arg(launch.args[0].clone()).arg(out)
            } else {
                launch.arg(out)
            };
            let end = device.launch(&program, &launch).map(|_| ()).map_err(|fault| fault.code);
            let message = device.read_variable(&program, "MESSAGE").unwrap();
            let message = message.split(|byte| *byte == 0).next().unwrap().to_vec();
            (end, String::from_utf8(message).unwrap())
        };
        let divide = |a: i32, b: i32| Launch::new("divide").arg(a).arg(b);
        assert_eq!(said(Launch::new("at").arg(2u64)), (Ok(()), String::new()), "{how}");
        let trapped = Err(FaultCode::Trap);
        let message = "index out of bounds: the len is 3 but the index is 7";
        assert_eq!(said(Launch::new("at").arg(7u64)), (trapped, place("data[i] };") + message), "{how}");
        assert_eq!(said(divide(8, 2)), (Ok(()), String::new()), "{how}");
        let message = "attempt to divide by zero";
        assert_eq!(said(divide(8, 0)), (trapped, place("a / b };") + message), "{how}");
        let message = "seven is not divided, not even by -3";
        assert_eq!(said(divide(7, -3)), (trapped, place("assert!(a != 7") + message), "{how}");
    }
}

#[derive(Debug)]
#[allow(dead_code, reason = "read by `Debug`")]
struct Point {
    x: i32,
    y: Option<f32>,
    tags: [&'static str; 2],
}

#[test]
fn formatting_as_on_the_host() {
    let (n, f) = (-1234, 0.1875f32);
    let expected = [
        format!("{n} {n:+05} {n:#x} {n:#010b}"),
        format!("{f} {f:.3} {f:e} {:?}", f64::from(f) / 3.0),
        format!("{:?}", Point { x: n, y: Some(f), tags: ["a\n", "b"] }),
        format!("{:#?}", (n, "x", 'ß', ())),
        format!("{:>8}|{:<8}|{:^8}|{:*^9}", n, f, "mid", true),
        format!("{} {:?}", u128::MAX, "42".parse::<i32>().map(|x| x + n)),
    ];
    for (how, program) in programs("panics", &["at", "divide", "write_text", "MESSAGE"]) {
        let mut device = Device::new();
        let (out, lens) = (device.upload(&[0u8; 768]).unwrap(), device.upload(&[0u64; 6]).unwrap());
        let text = Launch::new("write_text").block([6, 1, 1]).arg(n).arg(f).arg(out).arg(lens);
        launch(&how, &mut device, &program, text);
        let (bytes, lens) = (device.download::<u8>(out).unwrap(), device.download::<u64>(lens).unwrap());
        for (i, expected) in expected.iter().enumerate() {
            let text = bytes[i * 128..].get(..lens[i] as usize).map(String::from_utf8_lossy);
            assert_eq!(text.as_deref(), Some(expected.as_str()), "{how}, text {i}");
        }
    }
}

#[test]
fn vectors_strings_boxes_and_maps() {
    for (how, program) in programs("heap", &["vectors", "words"]) {
        let mut device = Device::new();
        let data: Vec<u32> = (0..40).map(|i| (i * 11) % 29).collect();
        let (input, out) = (device.upload(&data).unwrap(), device.upload(&[0u64; 4]).unwrap());
        let vectors = Launch::new("vectors").block([2, 1, 1]).arg(slice(input, 40)).arg(out);
        launch(&how, &mut device, &program, vectors);
        let expected: Vec<u64> = (0..2u64)
            .flat_map(|thread| {
                let parity = data.iter().map(|x| u64::from(*x)).filter(|x| x % 2 == thread);
                let mut all: Vec<u64> = parity.map(|x| x * 3).chain([1, 2, 3]).collect();
                all.sort();
                all.dedup();
                let text: String = all.iter().map(|x| format!("<{x}>")).collect();
                [((all.iter().sum::<u64>() + thread) * 2) ^ 0x55, text.len() as u64]
            })
            .collect();
        assert_eq!(device.download::<u64>(out).unwrap(), expected, "{how}");
        assert_eq!(device.heap_used(), 0, "{how}: everything is dropped");

        let text = "der hund und die maus und der käse";
        let (input, out) = (device.upload(text.as_bytes()).unwrap(), device.upload(&[0u32; 6]).unwrap());
        launch(&how, &mut device, &program, Launch::new("words").arg(slice(input, text.len())).arg(out));
        let expected = [203, 103, 104, 104, 104, 203];
        assert_eq!(device.download::<u32>(out).unwrap(), expected, "{how}");
    }
}

/// The crate of `examples/rust-kernels/`, in stable Rust: entries, instructions and dynamic shared memory are said in names.
#[test]
fn kernels_in_stable_rust() {
    let exports =
        ["saxpy", "sum", "reverse", "count", "vote"].map(|name| format!("__warpsmith_kernel_{name}"));
    for (how, program) in programs("kernels", &exports.each_ref().map(String::as_str)) {
        assert_eq!(program.kernels().count(), 5, "{how}");
        let mut device = Device::new();
        let data: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let (input, total) = (device.upload(&data).unwrap(), device.upload(&[0f32]).unwrap());
        let sum = Launch::new("sum").grid([2, 1, 1]).block([128, 1, 1]);
        launch(&how, &mut device, &program, sum.arg(input).arg(1000u64).arg(total).arg(1u64));
        assert_eq!(device.download::<f32>(total).unwrap(), [499_500.0], "{how}");

        let words = device.upload(&(0..64u32).collect::<Vec<_>>()).unwrap();
        let reverse = Launch::new("reverse").grid([2, 1, 1]).block([32, 1, 1]).dynamic_shared(128);
        launch(&how, &mut device, &program, reverse.arg(words).arg(64u64));
        assert_eq!(device.download::<u32>(words).unwrap()[30..34], [1, 0, 63, 62], "{how}");

        let (text, bins) = (device.upload(b"abracadabra!").unwrap(), device.upload(&[0u32; 26]).unwrap());
        let count = Launch::new("count").block([32, 1, 1]);
        launch(&how, &mut device, &program, count.arg(text).arg(12u64).arg(bins).arg(26u64));
        assert_eq!(device.download::<u32>(bins).unwrap()[..5], [5, 2, 1, 1, 0], "{how}");
        assert_eq!(device.take_output(), b"33 is not a letter: at 11\n", "{how}");

        let data: Vec<u32> = (0..32).flat_map(|i| [i, 0xff, 0x0f, 0]).collect();
        let (data, out) = (device.upload(&data).unwrap(), device.upload(&[1u32; 32]).unwrap());
        let vote = Launch::new("vote").block([32, 1, 1]).arg(data).arg(32u64).arg(out).arg(32u64);
        launch(&how, &mut device, &program, vote);
        let votes = device.download::<u32>(out).unwrap();
        assert_eq!((votes[5], votes[15], votes[31]), (0x0f, 0x1f, 0), "{how}");

        let (x, y) = (device.upload(&[1f32; 4]).unwrap(), device.upload(&[0f32; 8]).unwrap());
        let saxpy = Launch::new("saxpy").block([8, 1, 1]).arg(2f32).arg(x).arg(4u64).arg(y).arg(8u64);
        assert_eq!(device.launch(&program, &saxpy).unwrap_err().code, FaultCode::Trap, "{how}");
        let said = String::from_utf8(device.take_output()).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines, ["kernels/src/lib.rs:12:22: panicked"; 4], "{how}");
    }
}

/// The crate `stable`, as PTX and on the host.
#[test]
fn the_device_crate_on_both_sides() {
    let exports = ["scale", "entry", "mathematics", "atomics", "lanes", "heap", "text"]
        .map(|name| format!("__warpsmith_kernel_{name}"));
    let (x, y) = ([0.05f32, 0.75, 1.5, 2.25, 3.75, 5.5], [0.05f64, 0.75, 1.5, 2.25, 3.75, 5.5]);
    let mut mathematics = [0f64; 228];
    let out = SliceMut::new(&mut mathematics);
    host::launch([1, 1, 1], [6, 1, 1], || stable::mathematics(&x, &y, out));
    let (mut a, mut b, mut c, mut d) = ([1i64; 4], [0.5f64], [9i32; 3], [u32::MAX, 0]);
    let (sa, sb, sc, sd) =
        (SliceMut::new(&mut a), SliceMut::new(&mut b), SliceMut::new(&mut c), SliceMut::new(&mut d));
    host::launch([1, 1, 1], [70, 1, 1], || stable::atomics(sa, sb, sc, sd));
    let mut lanes = [0f64; 32];
    let out = SliceMut::new(&mut lanes);
    host::launch([1, 1, 1], [32, 1, 1], || stable::lanes(out));
    let (mut scaled, mut sums, mut heap) = ([1.5f32; 4], [0u32; 3], [0u64; 2]);
    let out = SliceMut::new(&mut scaled);
    host::launch([1, 1, 1], [4, 1, 1], || stable::scale(3.0, out));
    let out = SliceMut::new(&mut sums);
    host::launch([1, 1, 1], [3, 1, 1], || stable::entry(&[1, 2, 3], 40, out));
    let out = SliceMut::new(&mut heap);
    host::launch([1, 1, 1], [2, 1, 1], || stable::heap(out));
    assert_eq!((scaled, sums, heap), ([4.5; 4], [41, 42, 43], [3, 3]));
    // What it prints is compared in the tests of `warpsmith-device`.
    host::launch([1, 1, 1], [1, 1, 1], stable::text);

    for (how, program) in programs("stable", &exports.each_ref().map(String::as_str)) {
        let mut device = Device::new();
        let data = device.upload(&[1.5f32; 4]).unwrap();
        let scale = Launch::new("scale").block([4, 1, 1]).arg(3f32).arg(data).arg(4u64);
        launch(&how, &mut device, &program, scale);
        assert_eq!(device.download::<f32>(data).unwrap(), scaled, "{how}");

        let (from, to) = (device.upload(&[1u32, 2, 3]).unwrap(), device.upload(&[0u32; 3]).unwrap());
        let entry = Launch::new("entry").block([3, 1, 1]).arg(from).arg(3u64).arg(40u32).arg(to).arg(3u64);
        launch(&how, &mut device, &program, entry);
        assert_eq!(device.download::<u32>(to).unwrap(), sums, "{how}");

        let (dx, dy) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
        let out = device.upload(&[0f64; 228]).unwrap();
        let all = Launch::new("mathematics").block([6, 1, 1]).arg(dx).arg(6u64).arg(dy).arg(6u64);
        launch(&how, &mut device, &program, all.arg(out).arg(228u64));
        for (n, (got, want)) in device.download::<f64>(out).unwrap().iter().zip(&mathematics).enumerate() {
            // The host's are C's: neither is exact.
            let ulp = if n % 38 < 21 { f64::from(f32::EPSILON) } else { f64::EPSILON };
            assert!((got - want).abs() <= 8.0 * ulp * want.abs(), "{how}: {n}: {got} {want}");
        }

        let [da, db] = [device.upload(&[1i64; 4]).unwrap(), device.upload(&[0.5f64]).unwrap()];
        let [dc, dd] = [device.upload(&[9i32; 3]).unwrap(), device.upload(&[u32::MAX, 0]).unwrap()];
        let all = Launch::new("atomics").block([70, 1, 1]).arg(da).arg(4u64).arg(db).arg(1u64);
        launch(&how, &mut device, &program, all.arg(dc).arg(3u64).arg(dd).arg(2u64));
        assert_eq!(device.download::<i64>(da).unwrap(), a, "{how}");
        assert_eq!(device.download::<f64>(db).unwrap(), b, "{how}");
        assert_eq!(device.download::<i32>(dc).unwrap(), c, "{how}");
        assert_eq!(device.download::<u32>(dd).unwrap(), d, "{how}");

        let out = device.upload(&[0f64; 32]).unwrap();
        launch(&how, &mut device, &program, Launch::new("lanes").block([32, 1, 1]).arg(out).arg(32u64));
        assert_eq!(device.download::<f64>(out).unwrap(), lanes, "{how}");

        let out = device.upload(&[0u64; 2]).unwrap();
        launch(&how, &mut device, &program, Launch::new("heap").block([2, 1, 1]).arg(out).arg(2u64));
        assert_eq!(device.download::<u64>(out).unwrap(), heap, "{how}");

        launch(&how, &mut device, &program, Launch::new("text"));
        let said = String::from_utf8(device.take_output()).unwrap();
        assert_eq!(
            said,
            "text|-3|1|65535|-1|-32768|x| 1.23|beef  |\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n",
            "{how}"
        );
    }
}
