//! The options that loads and links take (`CUjit_option`): where their logs go, and how many registers a thread may take.
//! What else they ask for is the assembler's business.

use crate::error::Error;
use crate::ffi::{In, Pointer, memory};

/// `CU_JIT_MAX_REGISTERS`
const MAX_REGISTERS: u32 = 0;
/// `CU_JIT_WALL_TIME`, `CU_JIT_INFO_LOG_BUFFER`, .. and the last option that there is.
const INFO: [u32; 2] = [3, 4];
const ERROR: [u32; 2] = [5, 6];
const LAST: u32 = 34;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most registers that a thread may take, in kernels that do not say so themselves.
    pub max_registers: Option<u32>,
    info: Log,
    error: Log,
}

/// A buffer of the client.
#[derive(Clone, Debug, Default)]
struct Log {
    buffer: Option<Pointer>,
    size: usize,
    /// Where the client reads how much was written.
    written: Option<Pointer>,
}

impl Options {
    /// Reads the options of a call.
    pub fn read(count: u32, names: In<u32>, values: In<Pointer>) -> Result<Options, Error> {
        let mut options = Options::default();
        let names = names.list(count as usize)?;
        if let Some(wrong) = names.iter().find(|name| **name > LAST) {
            return Err(Error::value(format!("{wrong} is not an option of a load or link")));
        }
        for (i, name) in names.iter().enumerate() {
            if *name == MAX_REGISTERS {
                // The value is stored as the pointer. None means no bound.
                options.max_registers = Some(values.at(i)?.address() as u32).filter(|bound| *bound > 0);
            }
            for (log, [buffer, size]) in [(&mut options.info, INFO), (&mut options.error, ERROR)] {
                if *name == buffer {
                    log.buffer = Some(values.at(i)?).filter(|place| !place.is_null());
                } else if *name == size {
                    log.size = values.at(i)?.address() as u32 as usize;
                    log.written = Some(values.place(i));
                }
            }
        }
        options.info.put("");
        options.error.put("");
        Ok(options)
    }

    /// Puts a text into the log of errors.
    pub fn error(&self, text: &str) {
        self.error.put(text);
    }
}

impl Log {
    fn put(&self, text: &str) {
        let (Some(buffer), 1..) = (self.buffer, self.size) else { return };
        let bytes = &text.as_bytes()[..text.len().min(self.size - 1)];
        memory::write(buffer, bytes);
        memory::write(Pointer(buffer.0.wrapping_byte_add(bytes.len())), &[0]);
        if let Some(written) = self.written {
            memory::write(written, &(bytes.len() as u64).to_le_bytes());
        }
    }
}
