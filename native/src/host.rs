//! The host's instruction set, and the memory that holds code.
//!
//! Code is written to pages that are not executable, which then become executable and are never writable again.

use crate::codes;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use warpsmith_diag::{Diagnostic, Span};

/// True if modules can be compiled to machine code of this host.
pub const fn is_supported() -> bool {
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}

/// The error `N0001` where it is not so.
pub(crate) fn check_supported() -> Result<(), Box<Diagnostic>> {
    if is_supported() { Ok(()) } else { Err(refused(std::env::consts::ARCH)) }
}

fn refused(why: impl std::fmt::Display) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(codes::HOST, Span::NONE, format!("no machine code for this host: {why}")))
}

/// The instruction set of the host, with the features of its processor. Detecting them takes longer than compiling a small region.
pub(crate) fn isa(options: &[(&str, &str)]) -> Result<OwnedTargetIsa, Box<Diagnostic>> {
    check_supported()?;
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ]
    .iter()
    .chain(options)
    {
        flags.set(name, value).map_err(refused)?;
    }
    let builder = cranelift_native::builder().map_err(refused)?;
    builder.finish(settings::Flags::new(flags)).map_err(refused)
}

/// Code in the making and, once finished, in executable memory; given back when dropped.
pub(crate) struct Code(ManuallyDrop<JITModule>);

impl Code {
    /// An empty module that knows these functions of the host.
    pub fn new(symbols: &[(&str, *const u8)]) -> Result<Code, Box<Diagnostic>> {
        let mut builder = JITBuilder::with_isa(isa(&[])?, cranelift_module::default_libcall_names());
        builder.symbols(symbols.iter().copied());
        Ok(Code(ManuallyDrop::new(JITModule::new(builder))))
    }

    /// An empty module for regions of programs.
    pub fn of_regions(isa: OwnedTargetIsa) -> Code {
        let builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        Code(ManuallyDrop::new(JITModule::new(builder)))
    }
}

impl Deref for Code {
    type Target = JITModule;

    fn deref(&self) -> &JITModule {
        &self.0
    }
}

impl DerefMut for Code {
    fn deref_mut(&mut self) -> &mut JITModule {
        &mut self.0
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: `self.0` is taken once, here. Whoever calls the code borrows its owner, so none of it runs any more.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() }
    }
}
