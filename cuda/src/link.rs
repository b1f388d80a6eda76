//! Links: several modules become one, whose "cubin" is PTX.

use crate::error::{Code, Error};
use crate::jit::Options;
use crate::profile::Profile;
use crate::registers::bounded;
use std::sync::{Mutex, PoisonError};
use warpsmith::ptx::{ValidatedModule, link};
use warpsmith::{Diagnostics, Source};

/// `CUjitInputType`
pub const CUBIN: u32 = 0;
/// PTX.
pub const PTX: u32 = 1;
/// A fat binary.
pub const FATBINARY: u32 = 2;
/// An object file of the host, with code for devices in it.
pub const OBJECT: u32 = 3;
/// An archive of object files.
pub const LIBRARY: u32 = 4;
/// Bitcode for link-time optimisation.
pub const NVVM: u32 = 5;

/// What programs with cooperative groups want of `libcudadevrt`: its own code has parts that only a driver knows.
const DEVICE_RUNTIME: &str = include_str!("device_runtime.ptx");

/// A link that goes on.
#[derive(Debug)]
pub struct LinkState {
    /// The kind of device that it is for.
    pub profile: Profile,
    /// What was said when it began: where its logs go.
    pub options: Options,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    modules: Vec<ValidatedModule>,
    runtime: bool,
    /// What it has made: kept, for the client has its address.
    output: Vec<u8>,
}

impl LinkState {
    /// A link without inputs.
    pub fn new(profile: Profile, options: Options) -> LinkState {
        LinkState { profile, options, inner: Mutex::default() }
    }

    /// Adds an input.
    pub fn add(&self, kind: u32, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match kind {
            CUBIN | PTX | FATBINARY => crate::image::of(bytes)?.ptx(self.profile.target.sm)?,
            LIBRARY if name.contains("cudadevrt") => {
                inner.runtime = true;
                return Ok(());
            }
            OBJECT | LIBRARY => {
                return Err(Error::unsupported(format!(
                    "link of {name}: only PTX and fat binaries with PTX are linked"
                )));
            }
            NVVM => return Err(Error::unsupported("link-time optimisation: have the compiler write PTX")),
            _ => return Err(Error::value(format!("{kind} is not a kind of input"))),
        };
        let module =
            ValidatedModule::parse(Source::new(name, text)).map_err(|found| self.refused(&[found]))?;
        inner.modules.push(module);
        Ok(())
    }

    fn refused(&self, found: &[Diagnostics]) -> Error {
        let text: Vec<String> = found.iter().map(Diagnostics::to_string).collect();
        self.options.error(&text.join("\n"));
        crate::log::always(&format!("link: {}", text.join("\n")));
        let first = found.iter().flat_map(|list| list.iter()).find(|d| d.is_error());
        Error::new(Code::INVALID_PTX, first.map_or_else(String::new, |d| d.message.clone()))
    }

    /// Links, and gives the place and size of the result.
    pub fn complete(&self) -> Result<(crate::ffi::Pointer, usize), Error> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.modules.is_empty() {
            return Err(Error::new(Code::INVALID_VALUE, "a link without inputs"));
        }
        let mut modules = inner.modules.clone();
        if inner.runtime {
            let runtime = ValidatedModule::parse(Source::new("libcudadevrt", DEVICE_RUNTIME));
            modules.push(runtime.map_err(|found| self.refused(&[found]))?);
        }
        let linked = match modules.pop() {
            Some(only) if modules.is_empty() => only,
            last => {
                modules.extend(last);
                let options = link::Options { allow_missing_results: true, ..link::Options::default() };
                link::link(&modules, &options).map_err(|found| self.refused(&found))?
            }
        };
        let text = match self.options.max_registers {
            Some(bound) => bounded(&linked, bound),
            None => linked.source().text().to_owned(),
        };
        inner.output = text.into_bytes();
        inner.output.push(0);
        let size = inner.output.len();
        Ok((crate::ffi::Pointer(inner.output.as_mut_ptr().cast()), size))
    }
}
