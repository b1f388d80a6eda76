//! Kernels on a real GPU.
//!
//! [`Gpu::open`] opens NVIDIA's driver at run time, and nothing of CUDA is linked: a program that can use a GPU builds and runs without one.
//!
//! - [`Gpu`], [`Memory`]: a GPU, and its memory;
//! - [`Module`], [`Launch`], [`Optimization`]: PTX that the driver assembles, and launches of its kernels;
//! - [`Array`], [`Texture`]: images, and objects that read or write them;
//! - [`TensorMap`]: descriptions of tensors for tensor copies.
//!
//! ```no_run
//! use warpsmith_gpu::{Gpu, Launch, Optimization};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let ptx = "";
//! let gpu = Gpu::open()?;
//! let out = gpu.upload(&[0; 128])?;
//! let module = gpu.load(ptx, Optimization::Full)?;
//! let mut launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
//! launch.params = vec![out.address().to_le_bytes().to_vec()];
//! module.launch(&launch)?;
//! println!("{:?}", out.read()?);
//! # Ok(())
//! # }
//! ```

mod driver;
mod error;
mod gpu;
mod image;
mod module;
mod tensor_map;

pub use error::{Absent, Error};
pub use gpu::{Description, Gpu, Memory};
pub use image::{Array, Linear, Reading, Shape, Texture};
pub use module::{Launch, Module, Optimization};
pub use tensor_map::{TensorMap, Traversal};
