//! Unit tests of kernels on the engine, in `cargo test` (feature `watch`): checkers watch every launch, and what they find fails the test.
//!
//! ```
//! use warpsmith::testing::TestDevice;
//! use warpsmith::{Launch, Module, Program};
//!
//! #[warpsmith::test]
//! fn doubles(device: &mut TestDevice) {
//!     let module = Module::parse("
//!         kernel @double(%data: ptr<global>) {
//!         entry:
//!           %i = sreg.tid.x
//!           %p = index %data, %i, 4
//!           %x = load.i32 %p
//!           %y = iadd %x, %x
//!           store %y, %p
//!           ret
//!         }").unwrap();
//!     let program = Program::from_ir(&module).unwrap();
//!     let data = device.upload(&[1u32, 2, 3]).unwrap();
//!     device.launch(&program, &Launch::new("double").block([3, 1, 1]).arg(data)).unwrap();
//!     assert_eq!(device.download::<u32>(data).unwrap(), [2, 4, 6]);
//! }
//! ```
//!
//! A fourth thread would end the test with the checker's report in rustc's look. What `warpsmith-build` generates takes a [`TestDevice`] in place of a
//! [`Device`]: `kernels.double(device, config, data)`.

use crate::watch::{Checkers, Selection, Sources};
use crate::{Device, Fault, Launch, Program, Stats};
use std::ops::{Deref, DerefMut};

/// What runs kernels: a [`Device`], and in tests a [`TestDevice`].
pub use crate::Launcher;

/// A device whose launches are watched by checkers.
pub struct TestDevice {
    device: Device,
    checkers: Selection,
}

impl TestDevice {
    /// A new device; its launches are watched by these checkers.
    pub fn new(checkers: Selection) -> TestDevice {
        TestDevice { device: Device::new(), checkers }
    }

    /// Runs a kernel.
    ///
    /// # Errors
    /// What happened, at which line, in which thread.
    ///
    /// # Panics
    /// A checker found something: with its report.
    pub fn launch(&mut self, program: &Program, launch: &Launch) -> Result<Stats, Fault> {
        let mut checkers = Checkers::new(self.checkers);
        let result = self.device.launch_observed(program, launch, &mut checkers.observer());
        let report = checkers.into_report();
        if report.is_empty() {
            return result;
        }
        let source = program.source();
        let parsed = crate::ptx::parse(source.text());
        let sources = Sources::new(source.name(), source.text(), &parsed.module);
        let fault = match &result {
            Ok(_) => String::new(),
            Err(fault) => format!("\n{}", sources.diagnostics(fault)),
        };
        panic!("the checkers found something in `{}`:\n\n{}{fault}", launch.entry, report.text(&sources));
    }
}

impl Deref for TestDevice {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

impl DerefMut for TestDevice {
    fn deref_mut(&mut self) -> &mut Device {
        &mut self.device
    }
}

impl Launcher for TestDevice {
    fn launch(&mut self, program: &Program, launch: &Launch) -> Result<Stats, Fault> {
        TestDevice::launch(self, program, launch)
    }
}

/// Runs a test: what [`warpsmith::test`](macro@crate::test) calls.
///
/// # Panics
/// There are no such checkers.
pub fn run<R>(checkers: &str, test: impl FnOnce(&mut TestDevice) -> R) -> R {
    match checkers.parse() {
        Ok(checkers) => test(&mut TestDevice::new(checkers)),
        Err(why) => panic!("{why}"),
    }
}
