//! `y = 2 x + y` by a kernel in CUDA C++, on the CPU.

use std::error::Error;

mod kernels {
    #![allow(dead_code)]
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

use kernels::cpu::{Config, Kernels};

fn saxpy(a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let kernels = Kernels::load()?;
    let mut device = warpsmith::Device::new();
    let (dx, dy) = (device.upload(x)?, device.upload(y)?);
    let n = y.len() as u32;
    kernels.saxpy(&mut device, Config::for_num_elems(n), n, a, dx, dy)?;
    Ok(device.download(dy)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let y = saxpy(2.0, &x, &[1.0; 1000])?;
    println!("y[999] = {}", y[999]);
    Ok(())
}

#[test]
fn values() {
    assert_eq!(saxpy(2.0, &[1.0, 2.0, 3.0], &[10.0; 3]).unwrap(), [12.0, 14.0, 16.0]);
}
