//! The devices that a program is shown: a product of each architecture, with the limits of its multiprocessors.

use crate::error::{Code, Error};
use warpsmith::Target;
use warpsmith::interp::Machine;
use warpsmith::isa::Variant;
use warpsmith::isa::limits::Multiprocessor;

/// A kind of device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Its compute capability, as a target.
    pub target: Target,
    /// Multiprocessors.
    pub sms: u32,
    /// What each of them has room for.
    pub sm: Multiprocessor,
    /// Clock rate in MHz.
    pub clock_mhz: u32,
    /// Bytes of its second-level cache.
    pub l2: u32,
    /// Width of its memory bus in bits, and the rate of that in MHz.
    pub bus: [u32; 2],
    /// Bytes of its memory.
    pub memory: u64,
}

/// Compute capability, multiprocessors, MHz, MiB of cache, bits and MHz of the bus, GiB (NVIDIA's data sheets of T4, A100, A10, Orin, L4, H100, B200, B300,
/// RTX 5090 and GB10).
const PRODUCTS: &[(u16, [u32; 6])] = &[
    (75, [40, 1590, 4, 256, 5001, 16]),
    (80, [108, 1410, 40, 5120, 1215, 40]),
    (86, [72, 1695, 6, 384, 6251, 24]),
    (87, [16, 1300, 4, 256, 3200, 32]),
    (89, [58, 2040, 48, 192, 6251, 24]),
    (90, [132, 1980, 50, 5120, 2619, 80]),
    (100, [148, 1965, 126, 8192, 3996, 180]),
    (103, [160, 1965, 126, 8192, 3996, 270]),
    (120, [170, 2407, 96, 512, 14001, 32]),
    (121, [48, 2418, 24, 256, 4266, 120]),
];

impl Profile {
    /// The profile of a target.
    pub fn of(target: Target) -> Result<Profile, Error> {
        let row = PRODUCTS.iter().find(|(sm, _)| *sm == target.sm);
        let Some(((_, row), sm)) = row.zip(Multiprocessor::of(target.sm)) else {
            let known: Vec<String> = PRODUCTS.iter().map(|(sm, _)| format!("sm_{sm}")).collect();
            let message = format!("unknown device `{target}`, expected one of: {}", known.join(", "));
            return Err(Error::new(Code::INVALID_DEVICE, message));
        };
        let [sms, clock, l2, width, rate, memory] = *row;
        Ok(Profile {
            target: Target::sm(target.sm),
            sms,
            sm,
            clock_mhz: clock,
            l2: l2 << 20,
            bus: [width, rate],
            memory: u64::from(memory) << 30,
        })
    }

    /// Major and minor number of the compute capability.
    pub fn capability(&self) -> [u32; 2] {
        [u32::from(self.target.sm / 10), u32::from(self.target.sm % 10)]
    }

    /// Its name.
    pub fn name(&self) -> String {
        format!("Warpsmith {} (simulated)", self.target)
    }

    /// The engine's description of it; memory is counted by the driver.
    pub fn machine(&self) -> Machine {
        let mut machine = Machine::default();
        machine.sms = self.sms;
        machine.warps_per_sm = self.sm.warps();
        machine.blocks_per_sm = self.sm.blocks;
        machine.clock_mhz = self.clock_mhz;
        machine.shared_memory = self.sm.block_shared_bytes.into();
        machine.global_memory = u64::MAX >> 1;
        machine
    }

    /// True if the device runs code for a target: of the same or an older architecture, or for features that it has.
    pub fn runs(&self, target: Target) -> bool {
        target.features_reach(Target { variant: Variant::Arch, ..self.target })
    }
}
