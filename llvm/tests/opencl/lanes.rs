//! What those work items of a sub-group that make a call exchange, and functions of small extensions (`corpus/opencl4.cl`).

use super::{BLOCKS, numbers, programs_of};
use warpsmith_interp::{Device, Launch};

const FILES: [&[u8]; 2] =
    [include_bytes!("../corpus/opencl4.O0.bc"), include_bytes!("../corpus/opencl4.O3.bc")];

/// Bits of the lanes that a condition holds for.
fn mask(lanes: impl Iterator<Item = usize>) -> i32 {
    lanes.fold(0u32, |mask, lane| mask | 1 << lane).cast_signed()
}

#[test]
fn exchanges() {
    for (how, program) in programs_of(FILES) {
        for block in BLOCKS {
            let items = block.iter().product::<u32>() as usize;
            let x = numbers(items);
            let mut device = Device::new();
            let data = device.upload(&x).unwrap();
            let out = device.upload(&vec![0i32; items * 32]).unwrap();
            let launch = Launch::new("exchanges").block(block).arg(data).arg(out);
            device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
            let out = device.download::<i32>(out).unwrap();
            for i in 0..items {
                let first = i / 32 * 32;
                let all = &x[first..items.min(first + 32)];
                let (lane, size) = (i - first, all.len());
                // What lanes that are not there have is nobody's business.
                let at = |lane: usize| all.get(lane).copied();
                let mut expected: [Option<i32>; 32] = [Some(0); 32];
                expected[0] = at((3 * i) & 7);
                expected[1] = at(lane ^ 5);
                expected[2] = Some(if lane < 2 { all[1] } else { -1 });
                expected[3] = Some(lane.checked_sub(2).map_or(0, |from| all[from]));
                expected[4] = Some(at(lane + 3).unwrap_or(0));
                expected[5] = at((lane + 1) % 32);
                expected[6] = at(lane / 4 * 4 + (lane + 3) % 4);
                expected[7] = Some(all[0]);
                expected[8] = at(6);
                expected[9] = at(lane ^ 1).map(|x| 4 * x);
                if i % 2 == 1 {
                    let active = || (1..size).step_by(2);
                    let who = mask(active().filter(|lane| all[*lane] > 0)).cast_unsigned();
                    let below = who & ((1u32 << lane) - 1);
                    let own = who >> lane & 1;
                    expected[10] = Some((lane == 1).into());
                    expected[11] = Some(active().all(|lane| all[lane] > -60).into());
                    expected[12] = Some(active().any(|lane| all[lane] == x[1]).into());
                    expected[13] = Some(2 * i32::from(size <= 2) + 1);
                    expected[14] = Some(who.cast_signed());
                    expected[15] = Some((own + 2 * (who >> 3 & 1)) as i32);
                    let counts =
                        who.count_ones() + 100 * (below.count_ones() + own) + 10000 * below.count_ones();
                    expected[16] = Some(counts as i32);
                    let ends = if who == 0 { 0 } else { who.trailing_zeros() + 100 * who.ilog2() };
                    expected[17] = Some(ends as i32);
                }
                if i % 3 == 0 {
                    let active = || (0..size).filter(|lane| (first + lane) % 3 == 0);
                    let (before, up_to) =
                        (|| active().filter(|n| *n < lane), || active().filter(|n| *n <= lane));
                    expected[19] = Some(active().map(|n| all[n]).sum());
                    expected[20] = up_to().map(|n| all[n]).max();
                    expected[21] = Some(before().fold(1i32, |product, n| product.wrapping_mul(all[n] | 1)));
                    expected[22] = active().map(|n| all[n]).min();
                    let xor = active().fold(0, |xor, n| xor ^ all[n]);
                    let and = before().fold(u8::MAX, |and, n| and & all[n] as u8);
                    expected[23] = Some(xor + i32::from(and));
                    let odd = |n: usize| all[n] & 1 != 0;
                    let logical = i32::from(active().all(odd))
                        + 2 * i32::from(before().all(|n| all[n] & 2 != 0))
                        + 4 * i32::from(active().filter(|n| odd(*n)).count() % 2 == 1);
                    expected[24] = Some(logical);
                    let cluster = |size: usize| active().filter(move |n| n / size == lane / size);
                    expected[25] = Some(cluster(8).map(|n| all[n]).sum());
                    let or = cluster(4).fold(0, |or, n| or | all[n]);
                    expected[26] = cluster(16).map(|n| all[n]).max().map(|max| or + max);
                }
                expected[27] = Some(mask(0..=lane));
                expected[28] = Some(mask([lane].into_iter()));
                expected[29] = Some(mask(0..=lane));
                expected[30] = at(2).map(|x| x - 3 * x + 5 * (x + 1) + 7);
                for (n, (found, expected)) in out[i * 32..][..32].iter().zip(expected).enumerate() {
                    let expected = expected.unwrap_or(*found);
                    assert_eq!(*found, expected, "{how}, {block:?}: word {n} of item {i}");
                }
            }
        }
    }
}

#[test]
fn exchanges_of_two_values() {
    for (how, program) in programs_of(FILES) {
        let x = numbers(32);
        let mut device = Device::new();
        let (data, out) = (device.upload(&x).unwrap(), device.upload(&[0i32; 128]).unwrap());
        let launch = Launch::new("pairs").block([32, 1, 1]).arg(data).arg(out);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let out = device.download::<i32>(out).unwrap();
        for i in 0usize..32 {
            let expected = [
                // From the values before, -i, or from those of this sub-group.
                i.checked_sub(5).map_or_else(|| -(i as i32 + 27), |from| x[from]),
                x.get(i + 5).copied().unwrap_or(-(i as i32 - 27)),
                x[i ^ 3] * 1000 + (i ^ 3) as i32,
                x[31 - i],
            ];
            assert_eq!(out[i * 4..][..4], expected, "{how}: item {i}");
        }
    }
}

#[test]
fn other_operations_of_groups() {
    for (how, program) in programs_of(FILES) {
        let x = numbers(80);
        let mut device = Device::new();
        let (data, out) = (device.upload(&x).unwrap(), device.upload(&[0i32; 320]).unwrap());
        let launch = Launch::new("more_of_groups").block([80, 1, 1]).arg(data).arg(out);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let out = device.download::<i32>(out).unwrap();
        let product = x.iter().fold(1i32, |product, x| product.wrapping_mul(x | 1));
        for i in 0..80 {
            let xor = x[..=i].iter().fold(0, |xor, x| xor ^ x);
            assert_eq!(out[i * 4..][..3], [product, xor, 1], "{how}: item {i}");
        }
    }
}

#[test]
fn bytes_bits_and_rounding() {
    let (a, b) = (0x89ab_cdefu32, 0x1234_5678u32);
    let (signed, unsigned) =
        (|x: u32| x.to_le_bytes().map(|x| i32::from(x as i8)), |x: u32| x.to_le_bytes().map(i32::from));
    let dot = |x: [i32; 4], y: [i32; 4]| x.iter().zip(y).map(|(x, y)| x * y).sum::<i32>();
    let field = |x: u32, at: u32, count: u32| x >> at & ((1 << count) - 1);
    let words = [
        255 + 255 * 255 + 6 + 1800,
        u32::MAX,
        dot(unsigned(a), unsigned(b)).cast_unsigned(),
        a.reverse_bits(),
        a & !(0x1ff << 5) | (b & 0x1ff) << 5,
        field(a, 7, 13),
        // The upper halves of two words of 64 bits, in whose bits 60 to 62 stand 5 and 0.
        5 << 28,
        !(7 << 28),
    ];
    let numbers = [
        -1 + 128 * 128 + 6 - 900,
        -20000 + 6,
        i32::MAX,
        dot(signed(a), signed(b)),
        dot(signed(a), unsigned(b)),
        dot(unsigned(a), signed(b)) - 5,
        (field(a, 4, 12) as i32) << 20 >> 20,
        b.cast_signed() >> 3,
        // Without bits, what was there; with all, the other.
        a.cast_signed() ^ (-20000 + 6),
        i32::from((a as u8).reverse_bits()),
        1,
    ];
    let floats = [33_554_430.0, 16_777_218.0, -16_777_218.0, 0.333_333_3, -7.0, 16_777_216.0, 2048.0f32];
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        let u = device.upload(&[a, b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let (s, f) = (device.upload(&[0i32; 11]).unwrap(), device.upload(&[0f32; 7]).unwrap());
        let (h, d) = (device.upload(&[0u16; 8]).unwrap(), device.upload(&[0f64; 2]).unwrap());
        let launch = Launch::new("small").block([1, 1, 1]).arg(u).arg(s).arg(f).arg(h).arg(d);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(device.download::<u32>(u).unwrap()[4..], words, "{how}");
        assert_eq!(device.download::<i32>(s).unwrap(), numbers, "{how}");
        assert_eq!(device.download::<f32>(f).unwrap(), floats, "{how}");
        // One, minus one, the greatest half and zero; then the next one up, the next one down, the least half, and up again to nearest.
        let halves = [0x3c00u16, 0xbc00, 0x7bff, 0, 0x3c01, 0xbc01, 1, 0x3c01];
        assert_eq!(device.download::<u16>(h).unwrap(), halves, "{how}");
        let below = f64::from_bits((i64::MAX as f64).to_bits() - 1);
        assert_eq!(device.download::<f64>(d).unwrap(), [below, 3.0], "{how}");
    }
}

#[test]
fn constant_memory_is_a_buffer_or_a_variable() {
    let (weights, taps) = ([2.0f32, -1.0, 0.5, 8.0], [0.25f32, 0.5, 0.25]);
    let x: Vec<f32> = (0..12).map(|i| (i * i) as f32).collect();
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        let (w, n) = (device.upload(&weights).unwrap(), device.upload(&[4i32]).unwrap());
        let (data, y) = (device.upload(&x).unwrap(), device.upload(&[0f32; 8]).unwrap());
        let launch = Launch::new("filters").block([8, 1, 1]).arg(w).arg(n).arg(data).arg(y);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let expected: Vec<f32> = (0..8)
            .map(|i| {
                let by = if i % 2 == 1 {
                    &weights[..]
                } else if i % 4 == 0 {
                    &taps
                } else {
                    &taps[1..]
                };
                by.iter().zip(&x[i..]).map(|(w, x)| w * x).sum()
            })
            .collect();
        assert_eq!(device.download::<f32>(y).unwrap(), expected, "{how}");
    }
}

#[test]
fn vectors_are_printed() {
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        let f = device.upload(&[1f32, -2.5, 3.25, 4.0]).unwrap();
        let launch = Launch::new("prints").block([1, 1, 1]).arg(f);
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        let expected = "1.0,-2.5,3.2,4.0|-1,2|1,250,3|5 s ff,10|1,1099511627776|0.500000,-2.000000\n";
        assert_eq!(String::from_utf8_lossy(&device.take_output()), expected, "{how}");
    }
}
