// Made by Warpsmith from the kernels' PTX: changes are lost.

/// The kernels.
#[allow(dead_code)]
pub const PTX: &str = include_str!("kernels.ptx");

/// Types whose values have `BYTES` bytes: what memory holds that a kernel accesses as integers.
#[allow(dead_code)]
pub trait Bits<const BYTES: usize> {}
impl Bits<1> for u8 {}
impl Bits<1> for i8 {}
impl Bits<2> for u16 {}
impl Bits<2> for i16 {}
impl Bits<4> for u32 {}
impl Bits<4> for i32 {}
impl Bits<4> for f32 {}
impl Bits<8> for u64 {}
impl Bits<8> for i64 {}
impl Bits<8> for f64 {}
impl Bits<8> for usize {}
impl Bits<8> for isize {}
impl Bits<16> for u128 {}
impl Bits<16> for i128 {}

/// The kernels on `warpsmith::Device`, which runs them on the CPU.
#[allow(dead_code, clippy::all)]
pub mod cpu {
    use warpsmith::{Buffer, Diagnostics, Fault, Launch, Launcher, Program, Stats, ptx::ValidatedModule};

    /// The kernels, loaded.
    pub struct Kernels {
        /// The program, for launches of another kind.
        pub program: Program,
    }

    /// How many blocks of how many threads; what else a launch may say is taken from the `Launch` it becomes.
    pub struct Config {
        /// Blocks.
        pub grid: [u32; 3],
        /// Threads of a block.
        pub block: [u32; 3],
        /// Bytes of dynamic shared memory.
        pub dynamic_shared: u32,
    }

    impl Config {
        /// Blocks of 256 threads, as many as `n` threads need.
        pub fn for_num_elems(n: u32) -> Self {
            Config { grid: [n.div_ceil(256).max(1), 1, 1], block: [256, 1, 1], dynamic_shared: 0 }
        }
    }

    impl Kernels {
        /// Loads [`PTX`](super::PTX).
        ///
        /// # Errors
        /// Something in it that the engine does not execute, by name.
        pub fn load() -> Result<Self, Diagnostics> {
            Ok(Kernels { program: Program::load(&ValidatedModule::parse(super::PTX)?)? })
        }

        /// A launch of `saxpy`, to run with observers or a seed.
        pub fn saxpy_launch(&self, config: Config, arg0: u32, arg1: f32, arg2: Buffer, arg3: Buffer) -> Launch {
            let mut launch = Launch::new("saxpy").grid(config.grid).block(config.block);
            launch.dynamic_shared = config.dynamic_shared;
            launch.arg(arg0).arg(arg1).arg(arg2).arg(arg3)
        }

        /// Runs `saxpy`.
        ///
        /// # Errors
        /// What happened, at which line, in which thread.
        pub fn saxpy(&self, device: &mut impl Launcher, config: Config, arg0: u32, arg1: f32, arg2: Buffer, arg3: Buffer) -> Result<Stats, Fault> {
            device.launch(&self.program, &self.saxpy_launch(config, arg0, arg1, arg2, arg3))
        }

        /// A launch of `histogram`, to run with observers or a seed.
        pub fn histogram_launch(&self, config: Config, data: Buffer, bins: Buffer, r#type: u32, scale: [u8; 16]) -> Launch {
            let mut launch = Launch::new("histogram").grid(config.grid).block(config.block);
            launch.dynamic_shared = config.dynamic_shared;
            launch.arg(data).arg(bins).arg(r#type).arg(warpsmith::interp::Arg::bytes(scale))
        }

        /// Runs `histogram`.
        ///
        /// # Errors
        /// What happened, at which line, in which thread.
        pub fn histogram(&self, device: &mut impl Launcher, config: Config, data: Buffer, bins: Buffer, r#type: u32, scale: [u8; 16]) -> Result<Stats, Fault> {
            device.launch(&self.program, &self.histogram_launch(config, data, bins, r#type, scale))
        }
    }
}

/// The kernels on a GPU, through `cudarc`.
#[cfg(feature = "cudarc")]
#[allow(dead_code, clippy::all)]
pub mod cuda {
    use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};
    use std::sync::Arc;

    /// The kernels, loaded by the driver.
    pub struct Kernels {
        saxpy: CudaFunction,
        histogram: CudaFunction,
    }

    impl Kernels {
        /// Loads [`PTX`](super::PTX).
        ///
        /// # Errors
        /// The driver's.
        pub fn load(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
            let module = context.load_module(cudarc::nvrtc::Ptx::from_src(super::PTX))?;
            Ok(Kernels {
                saxpy: module.load_function("saxpy")?,
                histogram: module.load_function("histogram")?,
            })
        }

        /// Launches `saxpy`.
        ///
        /// # Safety
        /// The kernel must not access memory outside of what it is given: `cpu` and its checkers say whether it does.
        ///
        /// # Errors
        /// The driver's.
        pub unsafe fn saxpy(&self, stream: &Arc<CudaStream>, config: LaunchConfig, arg0: u32, arg1: f32, arg2: &CudaSlice<f32>, arg3: &mut CudaSlice<f32>) -> Result<(), DriverError> {
            let mut launch = stream.launch_builder(&self.saxpy);
            launch.arg(&arg0);
            launch.arg(&arg1);
            launch.arg(arg2);
            launch.arg(arg3);
            unsafe { launch.launch(config) }.map(drop)
        }

        /// Launches `histogram`.
        ///
        /// # Safety
        /// The kernel must not access memory outside of what it is given: `cpu` and its checkers say whether it does.
        ///
        /// # Errors
        /// The driver's.
        pub unsafe fn histogram<T1: super::Bits<4>>(&self, stream: &Arc<CudaStream>, config: LaunchConfig, data: &CudaSlice<f32>, bins: &mut CudaSlice<T1>, r#type: u32, scale: [u8; 16]) -> Result<(), DriverError> {
            let mut launch = stream.launch_builder(&self.histogram);
            launch.arg(data);
            launch.arg(bins);
            launch.arg(&r#type);
            launch.arg(&scale);
            unsafe { launch.launch(config) }.map(drop)
        }
    }
}
