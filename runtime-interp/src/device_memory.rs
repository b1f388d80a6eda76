//! Memory of a device as the host works with it: by address, and as its own.

use crate::device::{Buffer, Device};
use crate::engine::Program;
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use std::ptr::NonNull;

/// What lies at an address of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holder {
    /// A buffer that the host has allocated.
    Buffer,
    /// Memory of the host that was passed to [`Device::adopt`].
    Adopted,
    /// The variables of a program, or the heap of kernels.
    Internal,
}

/// A part of a device's memory as the host has it. The memory stays while this lives, even if the device frees it meanwhile.
#[derive(Clone, Debug)]
pub struct Span {
    bytes: Bytes,
    offset: usize,
    len: usize,
}

impl Span {
    /// The first byte. Kernels that run may access the bytes at the same time.
    pub fn as_ptr(&self) -> *mut u8 {
        self.bytes.start().wrapping_add(self.offset)
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a span of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Device {
    /// Lets kernels use memory of the host at its own address, as `cuMemHostRegister` does, until [`Device::free`].
    ///
    /// # Safety
    /// Until the buffer is freed, and all launches that were prepared before have ended, the bytes can be read and written, and no Rust reference to
    /// any of them exists while a kernel runs.
    pub unsafe fn adopt(&mut self, start: NonNull<u8>, bytes: u64) -> Result<Buffer, Fault> {
        let len = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the caller's promise.
        let block = unsafe { Bytes::at(start, len, None) };
        let address = start.as_ptr().expose_provenance() as u64;
        if self.memory().adopt(block) {
            return Ok(Buffer::new(address, bytes));
        }
        let message = format!("{bytes} bytes at {address:#x} overlap memory of the device");
        Err(Fault::new(FaultCode::BadOperand, message))
    }

    /// The buffer that an address lies in, and whose it is; `None` if there is none. Past the end of a buffer is outside.
    pub fn containing(&self, address: u64) -> Option<(Buffer, Holder)> {
        let found = self.global().containing(address)?;
        let holder = match found {
            a if a.heap || a.variables => Holder::Internal,
            a if a.adopted => Holder::Adopted,
            _ => Holder::Buffer,
        };
        Some((Buffer::new(found.start, found.len), holder))
    }

    /// The memory of a buffer, or of a part of one.
    pub fn span(&self, buffer: Buffer) -> Result<Span, Fault> {
        let (bytes, offset) = self.find(buffer)?;
        let len = usize::try_from(buffer.len()).unwrap_or(usize::MAX);
        Ok(Span { bytes: bytes.clone(), offset, len })
    }

    /// Places the variables of a program, which the first launch does otherwise.
    pub fn place(&mut self, program: &Program) -> Result<(), Fault> {
        self.instance(program).map(|_| ())
    }
}
