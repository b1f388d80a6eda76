//! The kernels: stable Rust. `cargo test` here runs them on the host, thread by thread.

#![cfg_attr(target_arch = "nvptx64", no_std)]

use warpsmith_device::{SliceMut, atomic, dynamic_shared, instructions, kernel, printf, shared, sync, thread, warp};

/// `y = a * x + y`
#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: SliceMut<f32>) {
    let i = thread::index();
    if i < y.len() {
        y.set(i, a * x[i] + y.get(i));
    }
}

shared! {
    /// A sum of each warp.
    static SUMS: [f32; 32];
}

/// Adds the sum of `data` to `total`: shuffles in a warp, shared memory in a block, an atomic in the grid.
#[kernel]
pub fn sum(data: &[f32], total: SliceMut<f32>) {
    let mut sum = 0.0;
    let mut i = thread::index();
    while i < data.len() {
        sum += data[i];
        i += thread::grid_stride();
    }
    for bits in [16, 8, 4, 2, 1] {
        sum += warp::shuffle_xor(warp::ALL, sum, bits);
    }
    let (lane, number) = (thread::lane(), thread::index_x() / 32);
    if lane == 0 {
        SUMS.set(number as usize, sum);
    }
    sync::barrier();
    if thread::index_x() == 0 {
        let warps = thread::block_size_x() / 32;
        let block = (0..warps as usize).map(|n| SUMS.get(n)).sum::<f32>();
        // The one element is accessed by atomics only.
        unsafe { atomic::device::add(total.at(0), block) };
    }
}

/// Reverses each block's part of `data`, through shared memory of the size that the launch says.
#[kernel]
pub fn reverse(data: SliceMut<u32>) {
    let (i, n) = (thread::index_x() as usize, thread::block_size_x() as usize);
    let line: *mut u32 = dynamic_shared();
    // The launch gives four bytes for each thread.
    unsafe { line.add(i).write(data.get(thread::index())) };
    sync::barrier();
    data.set(thread::index(), unsafe { line.add(n - 1 - i).read() });
}

/// Counts bytes; shows the first that is not a letter.
#[kernel]
pub fn count(text: &[u8], bins: SliceMut<u32>) {
    let i = thread::index();
    if i >= text.len() {
        return;
    }
    match text[i] {
        // The elements are accessed by atomics only.
        letter @ b'a'..=b'z' => unsafe {
            atomic::device::add(bins.at((letter - b'a') as usize), 1);
        },
        other => printf!("%d is not a letter: at %llu\n", i32::from(other), i),
    }
}

instructions! {
    /// The majority of three, bit by bit.
    fn majority = "lop3.b32" { lut: 0xe8 };
    /// A word of a lane further on, and whether there is one.
    fn further = "shfl.sync.down.b32" { p };
    /// Four words at once.
    unsafe fn load = "ld.global.v4.u32";
}

/// The majority of each four words, their last being the first of the next lane's; 0 where there is no next lane.
#[kernel]
pub fn vote(data: &[[u32; 4]], out: SliceMut<u32>) {
    let i = thread::index();
    // SAFETY: the launch has a thread for each element, and each element's address is a multiple of 16.
    let [a, b, c, _] = unsafe { load((&raw const data[i]).cast_mut().cast()) };
    let (next, inside) = further(a, 1, 31, warp::ALL);
    out.set(i, if inside { majority(majority(a, b, c), b, next) } else { 0 });
}

#[cfg(test)]
mod tests {
    use warpsmith_device::{SliceMut, host};

    #[test]
    fn sum() {
        let data: Vec<f32> = (0..500).map(|i| i as f32).collect();
        let mut total = [0.0];
        let out = SliceMut::new(&mut total);
        host::launch([2, 1, 1], [64, 1, 1], || super::sum(&data, out));
        assert_eq!(total, [124_750.0]);
    }

    #[test]
    fn vote() {
        #[repr(align(16))]
        struct Aligned([[u32; 4]; 32]);
        let data = Aligned(std::array::from_fn(|i| [i as u32, 0xff, 0x0f, 0]));
        let mut votes = [1; 32];
        let out = SliceMut::new(&mut votes);
        host::launch([1, 1, 1], [32, 1, 1], || super::vote(&data.0, out));
        assert_eq!((votes[5], votes[15], votes[31]), (0x0f, 0x1f, 0));
    }

    #[test]
    fn reverse() {
        let mut data: Vec<u32> = (0..64).collect();
        let out = SliceMut::new(&mut data);
        host::launch_with_shared([2, 1, 1], [32, 1, 1], 128, || super::reverse(out));
        assert_eq!(data[..3], [31, 30, 29]);
        assert_eq!(data[32..35], [63, 62, 61]);
    }

    #[test]
    fn count() {
        let mut bins = [0; 26];
        let out = SliceMut::new(&mut bins);
        host::launch([1, 1, 1], [32, 1, 1], || super::count(b"abracadabra!", out));
        assert_eq!(bins[..5], [5, 2, 1, 1, 0]);
    }
}
