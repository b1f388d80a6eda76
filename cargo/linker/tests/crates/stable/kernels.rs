//! What `warpsmith-device` offers: kernels with parameters of awkward names, mathematics, atomics, shuffles, text, `alloc`.

use alloc::{boxed::Box, vec::Vec};
use core::ops::{Add, Mul};
use warpsmith_device::math::{self, Float};
use warpsmith_device::{SliceMut, atomic, kernel, printf, shared, sync, thread, warp};

/// The parameter is called as the kernel is.
#[kernel]
pub fn scale(scale: f32, data: SliceMut<'_, f32>) {
    let i = thread::index();
    if i < data.len() {
        data.set(i, data.get(i) * scale);
    }
}

/// What the entry beside a kernel could have been called, and a parameter called as the length of another could be.
#[kernel]
pub fn entry(x: &[u32], x_len: u32, out: SliceMut<u32>) {
    let i = thread::index();
    out.set(i, x[i] + x_len);
}

fn norm<T: Float + Add<Output = T> + Mul<Output = T>>(a: T, b: T) -> T {
    math::sqrt(a * a + b * b)
}

#[kernel]
pub fn mathematics(x: &[f32], y: &[f64], out: SliceMut<f64>) {
    let i = thread::index();
    let (x, y) = (x[i], y[i]);
    let single = [
        math::sin(x),
        math::cos(x),
        math::tan(x),
        math::exp(x),
        math::ln(x),
        math::log2(x),
        math::log10(x),
        math::pow(x, 2.5),
        math::atan2(x, 2.0),
        math::cbrt(x),
        math::erf(x),
        math::gamma(x),
        math::floor(x),
        math::ceil(x),
        math::round(x),
        math::hypot(x, 3.0),
        norm(x, 4.0),
        math::exp_m1(x),
        math::tanh(x),
        math::ln_gamma(x),
        math::fma(x, x, 1.0),
    ];
    let double = [
        math::sin(y),
        math::cos(y),
        math::exp2(y),
        math::ln_1p(y),
        math::pow(y, 0.3),
        math::asinh(y),
        math::erfc(y),
        norm(y, 1.0),
        math::trunc(y),
        math::round_ties_even(y),
        math::acos(y / 10.0),
        math::asin(y / 10.0),
        math::atan(y),
        math::sinh(y),
        math::cosh(y),
        math::acosh(y + 1.0),
        math::atanh(y / 10.0),
    ];
    let all = single.iter().map(|x| f64::from(*x)).chain(double);
    for (k, value) in all.enumerate() {
        out.set(i * 38 + k, value);
    }
}

shared! {
    static TOTAL: [u64; 2];
    static GRID: [[i16; 5]; 4];
}

#[kernel]
pub fn atomics(a: SliceMut<i64>, b: SliceMut<f64>, c: SliceMut<i32>, data: SliceMut<u32>) {
    let t = thread::index_x();
    if t == 0 {
        TOTAL.set(0, 0);
        TOTAL.set(1, u64::MAX);
    }
    if t < 20 {
        GRID.set_2d(t as usize / 5, t as usize % 5, t as i16 * 3);
    }
    sync::barrier();
    // SAFETY: other accesses are on the other side of a barrier.
    unsafe {
        atomic::block::add(TOTAL.at(0), u64::from(t) << 33);
        atomic::block::min(TOTAL.at(1), u64::from(t ^ 5) + 7);
        atomic::device::max(a.at(0), i64::from(t) * 5 - 100);
        atomic::system::min(a.at(1), -i64::from(t));
        atomic::device::add(b.at(0), f64::from(t) * 0.5);
        atomic::system::add(c.at(0), -3);
        atomic::device::min(c.at(1), 10 - t as i32);
        atomic::device::and(data.at(0), !(1 << (t % 32)));
        let mut old = 0;
        loop {
            let found = atomic::device::compare_exchange(data.at(1), old, old.wrapping_mul(3) + 1);
            if found == old {
                break;
            }
            old = found;
        }
    }
    sync::barrier();
    if t == 0 {
        a.set(2, TOTAL.get(0) as i64);
        a.set(3, TOTAL.get(1) as i64);
        c.set(2, GRID.get_2d(3, 4).into());
    }
}

#[kernel]
pub fn lanes(out: SliceMut<f64>) {
    let lane = thread::lane();
    let mut sum = f64::from(lane) + 0.125;
    for by in [16, 8, 4, 2, 1] {
        sum += warp::shuffle_xor(warp::ALL, sum, by);
    }
    let wide = warp::shuffle_down(warp::ALL, -i64::from(lane) << 35, 3);
    let truth = warp::shuffle(warp::ALL, lane == 9, 9);
    let byte = warp::shuffle_up(warp::ALL, lane as u8, 1);
    out.set(lane as usize, sum + wide as f64 + f64::from(u8::from(truth)) * 0.5 + f64::from(byte));
}

#[repr(align(128))]
struct Aligned([u8; 200]);

#[kernel]
pub fn heap(out: SliceMut<u64>) {
    let i = thread::index();
    let all: Vec<Box<Aligned>> = (0..3).map(|k| Box::new(Aligned([k; 200]))).collect();
    let low: usize = all.iter().map(|one| (&raw const **one).addr() % 128).sum();
    out.set(i, low as u64 * 1000 + all.iter().map(|one| u64::from(one.0[199])).sum::<u64>());
}

#[kernel]
pub fn text() {
    printf!(
        "%s|%d|%d|%u|%lld|%d|%c|%5.2f|%-6x|\n",
        c"text",
        -3i8,
        true,
        u16::MAX,
        -1isize,
        i16::MIN,
        'x',
        1.234f32,
        0xbeefu32
    );
    // More than thirty-two bytes of words, and of halves.
    printf!(
        "%llu %llu %llu %llu %llu %llu %llu %llu %llu ",
        1u64,
        2u64,
        3u64,
        4u64,
        5u64,
        6u64,
        7u64,
        8u64,
        9u64
    );
    printf!(
        "%llu %llu %llu %llu %llu %llu %llu %llu %llu %d %llu\n",
        10u64,
        11u64,
        12u64,
        13u64,
        14u64,
        15u64,
        16u64,
        17u64,
        18u64,
        19u32,
        20u64
    );
}
