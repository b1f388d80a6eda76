//! Launches as they were before CUDA 4: a function holds its block shape and parameters, set one by one.

use crate::context::{current, stream};
use crate::error::Error;
use crate::ffi::{Pointer, api, memory};
use crate::kernel::Legacy;
use crate::launch::{KernelLaunch, Shape};
use crate::op::Op;
use crate::state::driver;
use std::sync::{Arc, PoisonError};
use warpsmith::isa::limits;

fn change(function: u64, change: impl FnOnce(&mut Legacy) -> Result<(), Error>) -> Result<(), Error> {
    let (_, _, attributes) = driver()?.lock().described(function)?;
    change(&mut attributes.legacy.lock().unwrap_or_else(PoisonError::into_inner))
}

fn place(function: u64, offset: i32, bytes: &[u8]) -> Result<(), Error> {
    change(function, |legacy| {
        let start =
            usize::try_from(offset).map_err(|_| Error::value(format!("a parameter at byte {offset}")))?;
        let end = start.saturating_add(bytes.len());
        if end as u64 > limits::KERNEL_PARAM_BYTES {
            return Err(Error::value(format!("{} bytes of parameters at byte {start}", bytes.len())));
        }
        if legacy.params.len() < end {
            legacy.params.resize(end, 0);
        }
        legacy.params[start..end].copy_from_slice(bytes);
        Ok(())
    })
}

fn launch(function: u64, grid: [i32; 2], handle: u64, wait: bool) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    let callable = driver()?.lock().callable(function, &context)?;
    let legacy = callable.attributes.legacy.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let [width, height] = grid.map(|n| u32::try_from(n).unwrap_or(0));
    let grid = [width, height, 1];
    let shape = Shape { grid, block: legacy.block, shared: legacy.shared, cluster: None, cooperative: false };
    let wanted = KernelLaunch::param_bytes(&callable);
    if legacy.size < wanted {
        return Err(Error::value(format!("{} bytes of parameters of {wanted}", legacy.size)));
    }
    let mut bytes = legacy.params;
    bytes.resize(wanted, 0);
    stream.submit(&context, Op::Kernel(Arc::new(KernelLaunch::packed(callable, shape, bytes)?)))?;
    if wait { stream.synchronize(&context) } else { Ok(()) }
}

api! {
    fn cuFuncSetBlockShape(function: u64, x: i32, y: i32, z: i32) {
        current()?;
        let block = [x, y, z].map(|n| u32::try_from(n).unwrap_or(0));
        if (0..3).any(|i| block[i] == 0 || block[i] > limits::BLOCK[i]) {
            return Err(Error::value(format!("a block of {x} x {y} x {z} threads")));
        }
        change(function, |legacy| {
            legacy.block = block;
            Ok(())
        })
    }

    fn cuFuncSetSharedSize(function: u64, bytes: u32) {
        change(function, |legacy| {
            legacy.shared = bytes;
            Ok(())
        })
    }

    fn cuParamSetSize(function: u64, bytes: u32) {
        change(function, |legacy| {
            if u64::from(bytes) > limits::KERNEL_PARAM_BYTES {
                return Err(Error::value(format!("{bytes} bytes of parameters")));
            }
            legacy.size = bytes as usize;
            Ok(())
        })
    }

    fn cuParamSeti(function: u64, offset: i32, value: u32) {
        place(function, offset, &value.to_le_bytes())
    }

    fn cuParamSetf(function: u64, offset: i32, value: f32) {
        place(function, offset, &value.to_le_bytes())
    }

    fn cuParamSetv(function: u64, offset: i32, value: Pointer, bytes: u32) {
        if value.is_null() || u64::from(bytes) > limits::KERNEL_PARAM_BYTES {
            return Err(Error::value(format!("{bytes} bytes of a parameter")));
        }
        place(function, offset, &memory::bytes(value, bytes as usize))
    }

    fn cuLaunch(function: u64) {
        launch(function, [1, 1], 0, false)
    }

    fn cuLaunchGrid(function: u64, width: i32, height: i32) {
        launch(function, [width, height], 0, false)
    }

    fn cuLaunchGridAsync(function: u64, width: i32, height: i32, stream: u64) {
        launch(function, [width, height], stream, false)
    }
}
