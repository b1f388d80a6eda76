//! `y = 2 x + y` on a GPU if there is one (`--features cudarc`), else on the CPU.

use std::error::Error;

#[cfg(feature = "cudarc")]
fn saxpy(a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    use cudarc::driver::{CudaContext, LaunchConfig};

    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernels = host::kernels::cuda::Kernels::load(&context)?;
    let (x_len, y_len) = (x.len() as u64, y.len() as u64);
    let (x, mut y) = (stream.clone_htod(x)?, stream.clone_htod(y)?);
    let config = LaunchConfig::for_num_elems(y_len as u32);
    // SAFETY: the lengths are those of the memory.
    unsafe { kernels.saxpy(&stream, config, a, &x, x_len, &mut y, y_len)? };
    Ok(stream.clone_dtoh(&y)?)
}

#[cfg(not(feature = "cudarc"))]
fn saxpy(a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    use host::kernels::cpu::{Config, Kernels};

    let kernels = Kernels::load()?;
    let mut device = warpsmith::Device::new();
    let (dx, dy) = (device.upload(x)?, device.upload(y)?);
    let config = Config::for_num_elems(y.len() as u32);
    kernels.saxpy(&mut device, config, a, dx, x.len() as u64, dy, y.len() as u64)?;
    Ok(device.download(dy)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let y = saxpy(2.0, &x, &[1.0; 1000])?;
    assert!(y.iter().zip(&x).all(|(y, x)| *y == 2.0 * x + 1.0));
    println!("y[999] = {}", y[999]);
    Ok(())
}
