//! Attributes of functions.

use crate::context;
use crate::driver::cu;
use crate::error::{Error, rt};
use crate::ffi::{Out, Plain};
use crate::register::kernel;

/// `cudaFuncAttributes`
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Attributes {
    shared: usize,
    constant: usize,
    local: usize,
    threads: i32,
    registers: i32,
    ptx: i32,
    binary: i32,
    cache: i32,
    dynamic: i32,
    carveout: i32,
    cluster_must_be_set: i32,
    cluster: [i32; 3],
    policy: i32,
    non_portable: i32,
    reserved: [i32; 16],
}
// SAFETY: numbers.
unsafe impl Plain for Attributes {}

const _: () = assert!(size_of::<Attributes>() == 144);

rt! {
    fn cudaFuncGetAttributes(answer: Out<Attributes>, function: usize) {
        context::ready()?;
        answer.check()?;
        let kernel = kernel(function)?;
        // `CUfunction_attribute`
        let get = |attribute: u32| -> Result<i32, Error> {
            let mut value = 0i32;
            cu!(cuFuncGetAttribute(&mut value, attribute, kernel))?;
            Ok(value)
        };
        answer.set(Attributes {
            threads: get(0)?,
            shared: get(1)? as usize,
            constant: get(2)? as usize,
            local: get(3)? as usize,
            registers: get(4)?,
            ptx: get(5)?,
            binary: get(6)?,
            cache: get(7)?,
            dynamic: get(8)?,
            carveout: get(9)?,
            cluster_must_be_set: get(10)?,
            cluster: [get(11)?, get(12)?, get(13)?],
            non_portable: get(14)?,
            policy: get(15)?,
            reserved: [0; 16],
        })
    }
}
