//! Launches of kernels.

use crate::context::stream;
use crate::error::Error;
use crate::ffi::{In, Plain, Pointer, api};
use crate::launch::{AttributeValue, KernelLaunch, Shape};
use crate::op::Op;
use crate::state::driver;
use std::sync::Arc;

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: u64,
    attributes: In<Attribute>,
    count: u32,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for Config {}

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    number: u32,
    padding: u32,
    value: AttributeValue,
}
// SAFETY: numbers.
unsafe impl Plain for Attribute {}

const _: () = assert!(size_of::<Config>() == 56 && size_of::<Attribute>() == 72);

impl Config {
    /// The shape of the launch.
    pub fn shape(&self) -> Result<Shape, Error> {
        let mut shape = Shape {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            cluster: None,
            cooperative: false,
        };
        for attribute in self.attributes.list(self.count as usize)? {
            shape.set(attribute.number, &attribute.value)?;
        }
        Ok(shape)
    }
}

fn launch(
    function: u64,
    shape: Shape,
    handle: u64,
    params: In<Pointer>,
    extra: In<Pointer>,
) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    let function = driver()?.lock().callable(function, &context)?;
    let launch = KernelLaunch::new(function, shape, params, extra)?;
    stream.submit(&context, Op::Kernel(Arc::new(launch)))
}

api! {
    fn cuLaunchKernel(
        function: u64,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: u64,
        params: In<Pointer>,
        extra: In<Pointer>,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { grid, block, shared, cluster: None, cooperative: false };
        launch(function, shape, stream, params, extra)
    }

    fn cuLaunchCooperativeKernel(
        function: u64,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: u64,
        params: In<Pointer>,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { grid, block, shared, cluster: None, cooperative: true };
        launch(function, shape, stream, params, In::none())
    }

    fn cuLaunchKernelEx(config: In<Config>, function: u64, params: In<Pointer>, extra: In<Pointer>) {
        let config = config.get()?;
        launch(function, config.shape()?, config.stream, params, extra)
    }
}
