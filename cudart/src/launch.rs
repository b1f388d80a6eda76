//! Launches of kernels.

use crate::context;
use crate::driver::cu;
use crate::error::{Code, Error, rt, rt_stream};
use crate::ffi::{In, Out, Plain, Pointer};
use crate::register::kernel;
use std::cell::RefCell;

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Dim3 {}

/// `cudaLaunchConfig_t`, which is laid out as `CUlaunchConfig` is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
    attributes: Pointer,
    count: u32,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for Config {}

/// What `<<<..>>>` has between its brackets.
#[derive(Clone, Copy, Debug)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
}

thread_local! {
    /// Launches whose host functions have not run yet: arguments may launch kernels, too.
    static PENDING: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// The fault of the kernel itself is reported by later calls, as on a GPU, which runs it later.
fn launched(outcome: Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Err(error) if error.code.is_fault() => Ok(()),
        outcome => outcome,
    }
}

#[allow(clippy::too_many_arguments, reason = "a launch has so many")]
fn launch(
    function: usize,
    grid: Dim3,
    block: Dim3,
    arguments: Pointer,
    shared: usize,
    stream: usize,
    cooperative: bool,
) -> Result<(), Error> {
    context::ready()?;
    let kernel = kernel(function)?;
    let shared =
        u32::try_from(shared).map_err(|_| Error::value(format!("{shared} bytes of shared memory")))?;
    launched(if cooperative {
        cu!(cuLaunchCooperativeKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments
        ))
    } else {
        cu!(cuLaunchKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments, 0usize
        ))
    })
}

fn launch_config(config: In<Config>, function: usize, arguments: Pointer, own: usize) -> Result<(), Error> {
    context::ready()?;
    let mut config = config.get()?;
    let kernel = kernel(function)?;
    config.stream = crate::stream(config.stream, own);
    launched(cu!(cuLaunchKernelEx(&config, kernel, arguments, 0usize)))
}

/// `__cudaPushCallConfiguration`: 0 has the host function called.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: usize) -> u32 {
    PENDING.with_borrow_mut(|pending| pending.push(Configuration { grid, block, shared, stream }));
    0
}

rt! {
    fn __cudaPopCallConfiguration(grid: Out<Dim3>, block: Out<Dim3>, shared: Out<usize>, stream: Out<usize>) {
        let none = || Error::new(Code::MISSING_CONFIGURATION, "a kernel is called without a configuration");
        let last = PENDING.with_borrow_mut(Vec::pop).ok_or_else(none)?;
        grid.set(last.grid)?;
        block.set(last.block)?;
        shared.set(last.shared)?;
        stream.set(last.stream)
    }

    fn cudaLaunchKernelExC(config: In<Config>, function: usize, arguments: Pointer) {
        launch_config(config, function, arguments, 0)
    }

    fn cudaLaunchKernelExC_ptsz(config: In<Config>, function: usize, arguments: Pointer) {
        launch_config(config, function, arguments, 2)
    }
}

rt_stream! {
    fn cudaLaunchKernel / cudaLaunchKernel_ptsz(
        function: usize, grid: Dim3, block: Dim3, arguments: Pointer, shared: usize,; stream
    ) {
        launch(function, grid, block, arguments, shared, stream, false)
    }

    fn __cudaLaunchKernel / __cudaLaunchKernel_ptsz(
        function: usize, grid: Dim3, block: Dim3, arguments: Pointer, shared: usize,; stream
    ) {
        launch(function, grid, block, arguments, shared, stream, false)
    }

    fn cudaLaunchCooperativeKernel / cudaLaunchCooperativeKernel_ptsz(
        function: usize, grid: Dim3, block: Dim3, arguments: Pointer, shared: usize,; stream
    ) {
        launch(function, grid, block, arguments, shared, stream, true)
    }

    fn cudaGraphLaunch / cudaGraphLaunch_ptsz(exec: usize,; stream) {
        context::ready()?;
        launched(cu!(cuGraphLaunch(exec, stream)))
    }
}
