//! Initialisation, versions, errors, look-up of entry points, and the profiler.

use crate::entries::find;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Pointer, Text, api};
use crate::state::{VERSION, driver, initialise};
use std::ffi::c_char;

/// `CU_GET_PROC_ADDRESS_SUCCESS`, `.._SYMBOL_NOT_FOUND`, `.._VERSION_NOT_SUFFICIENT`
const STATUS: [u32; 3] = [0, 1, 2];

fn look_up(name: Text, answer: Out<Pointer>, version: i32, status: Out<u32>) -> Result<(), Error> {
    let name = name.get()?;
    answer.check()?;
    if name.is_empty() {
        return Err(Error::value("a function without a name"));
    }
    if let Some(entry) = find(&name, version) {
        status.offer(STATUS[0]);
        return answer.set(Pointer(entry.address.pointer()));
    }
    answer.set(Pointer(std::ptr::null_mut()))?;
    let known = find(&name, i32::MAX).is_some();
    status.offer(STATUS[if known { 2 } else { 1 }]);
    if !status.is_null() {
        // The status says it.
        return Ok(());
    }
    Err(Error::new(Code::NOT_FOUND, format!("unknown function `{name}` in version {version}")))
}

api! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(Error::value(format!("flags {flags}")));
        }
        initialise()
    }

    fn cuDriverGetVersion(version: Out<i32>) {
        version.set(VERSION)
    }

    fn cuGetErrorName(error: u32, text: Out<*const c_char>) {
        let found = Code(error).describe();
        text.set(found.map_or(std::ptr::null(), |(name, _)| name.as_ptr()))?;
        found.map(|_| ()).ok_or_else(|| Error::value(format!("{error} is not a result")))
    }

    fn cuGetErrorString(error: u32, text: Out<*const c_char>) {
        let found = Code(error).describe();
        text.set(found.map_or(std::ptr::null(), |(_, meaning)| meaning.as_ptr()))?;
        found.map(|_| ()).ok_or_else(|| Error::value(format!("{error} is not a result")))
    }

    fn cuGetProcAddress(name: Text, answer: Out<Pointer>, version: i32, _flags: u64) {
        look_up(name, answer, version, Out::none())
    }

    fn cuGetProcAddress_v2(name: Text, answer: Out<Pointer>, version: i32, _flags: u64, status: Out<u32>) {
        look_up(name, answer, version, status)
    }

    fn cuGetExportTable(table: Out<Pointer>, id: In<[u8; 16]>) {
        let id = id.get()?;
        table.set(Pointer(std::ptr::null_mut()))?;
        // What is behind these tables is NVIDIA's own affair; the compilers take this answer, the runtime has one of its own.
        Err(Error::new(Code::NOT_FOUND, format!("no table {id:02x?}")))
    }

    fn cuProfilerInitialize(_config: Text, _output: Text, _mode: u32) {
        Err(Error::new(Code::PROFILER_DISABLED, "a profile is asked for by WARPSMITH_PROFILE"))
    }

    fn cuProfilerStart() {
        driver().map(|_| ())
    }

    fn cuProfilerStop() {
        driver().map(|_| ())
    }
}
