//! Triton's kernels.

use super::*;

/// Runs a kernel of Triton, which has two more parameters that nothing reads, as compiled for every target.
fn triton<T: Plain>(
    targets: &[u32],
    entry: &str,
    grid: u32,
    mut given: Vec<Given>,
    out: usize,
    check: impl Fn(&[T]),
) {
    given.extend([Given::Zeros(16), Given::Zeros(16)]);
    for target in targets {
        let module = format!("triton/{entry}.sm_{target}");
        run(&module, shape(entry, grid, 128).dynamic_shared(4096), &given, out, &check);
    }
}

const ALL: &[u32] = &[75, 80, 90, 100, 120];

#[test]
fn kernels_of_triton() {
    let (n, single) = (1500, |v: Vec<f64>| v.into_iter().map(|v| v as f32).collect::<Vec<f32>>());
    let (x, y) = (single(fractions(n, 9.0)), single(fractions(2 * n, 5.0).split_off(n as usize)));
    let sums: Vec<f32> = x.iter().zip(&y).map(|(a, b)| a + b).collect();
    let count = || Given::Value((n as i32).into());
    let given = vec![buffer(&x), buffer(&y), Given::Zeros(u64::from(n) * 4), count()];
    triton(ALL, "add", 2, given, 2, |out: &[f32]| assert_eq!(out, sums));

    let (rows, width) = (5, 300);
    let size = || Given::Value((width as i32).into());
    let softmax: Vec<f64> = x
        .chunks(width)
        .flat_map(|row| {
            let most = row.iter().copied().fold(f32::MIN, f32::max);
            let powers: Vec<f64> = row.iter().map(|v| f64::from(v - most).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(move |v| v / sum)
        })
        .collect();
    let given = vec![Given::Zeros(u64::from(n) * 4), buffer(&x), size(), size()];
    triton(ALL, "softmax", rows, given, 0, |out: &[f32]| {
        for (found, expected) in out.iter().zip(&softmax) {
            assert!((f64::from(*found) - expected).abs() < 4e-6 * expected, "{found}, not {expected}");
        }
    });

    let keys: Vec<i32> = noise(600).map(|v| v & 0xf_ffff).collect();
    let mut counts = vec![0; 64];
    keys.iter().for_each(|key| counts[(key & 63) as usize] += 1);
    // The largest index of each remainder; the kernel counts past the end of the keys there.
    counts.extend(760..768);
    let given = vec![buffer(&keys), Given::Zeros(72 * 4), Given::Value(600i32.into())];
    triton(ALL, "histogram", 3, given, 1, |out: &[i32]| assert_eq!(out, counts));

    // Each sorted running sum plus a random number from 0 to 1.
    let mut sums: Vec<f64> = x[..128]
        .iter()
        .scan(0.0, |sum, v| {
            *sum += f64::from(*v);
            Some(*sum)
        })
        .collect();
    sums.sort_by(f64::total_cmp);
    triton(ALL, "scan", 1, vec![buffer(&x[..128]), Given::Zeros(512)], 1, |out: &[f32]| {
        for (found, sum) in out.iter().zip(&sums) {
            assert!((-1e-3..1.001).contains(&(f64::from(*found) - sum)), "{found} for {sum}");
        }
    });

    let narrow: Vec<u16> = x.iter().map(|v| (v.to_bits() >> 16) as u16).collect();
    let weights = single(fractions(width as u32, 2.0));
    let value = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
    let normal: Vec<f64> = narrow
        .chunks(200)
        .take(3)
        .flat_map(|row| {
            let mean = row.iter().map(|v| value(*v)).sum::<f64>() / 200.0;
            let variance = row.iter().map(|v| (value(*v) - mean).powi(2)).sum::<f64>() / 200.0;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            row.iter().zip(&weights).map(move |(v, w)| (value(*v) - mean) * scale * f64::from(*w))
        })
        .collect();
    let given = vec![
        buffer(&narrow),
        buffer(&weights),
        Given::Zeros(3 * 200 * 2),
        Given::Value(200i32.into()),
        Given::Value(1e-5f32.into()),
    ];
    triton(ALL, "layernorm", 3, given, 2, |out: &[u16]| {
        for (found, expected) in out.iter().zip(&normal) {
            let error = (value(*found) - expected).abs();
            assert!(error <= expected.abs() * 2f64.powi(-8) + 1e-5, "{}, not {expected}", value(*found));
        }
    });
}
