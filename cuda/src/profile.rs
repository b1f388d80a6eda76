//! The devices that a program believes to find: sizes of products of each architecture.

use crate::error::{Code, Error};
use warpsmith::Target;
use warpsmith::interp::Machine;
use warpsmith::isa::Variant;

/// A kind of device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Its compute capability, as a target.
    pub target: Target,
    /// Multiprocessors.
    pub sms: u32,
    /// Threads of one.
    pub threads_per_sm: u32,
    /// Blocks of one.
    pub blocks_per_sm: u32,
    /// Bytes of shared memory of one.
    pub shared_per_sm: u32,
    /// The most of it that a block can ask for.
    pub shared_per_block: u32,
    /// Clock rate in MHz.
    pub clock_mhz: u32,
    /// Bytes of its second-level cache.
    pub l2: u32,
    /// Width of its memory bus in bits, and the rate of that in MHz.
    pub bus: [u32; 2],
    /// Bytes of its memory.
    pub memory: u64,
}

/// sm, multiprocessors, threads and blocks of one, KiB of shared memory of one and of a block, MHz, MiB of cache, bits and MHz of the bus, GiB
/// (CUDA C++ Programming Guide, compute capabilities; NVIDIA's data sheets of T4, A100, A10, Orin, L4, H100, B200, RTX 5090).
const PROFILES: &[(u16, [u32; 12])] = &[
    (75, [40, 1024, 16, 64, 64, 1590, 4, 256, 5001, 16, 0, 0]),
    (80, [108, 2048, 32, 164, 163, 1410, 40, 5120, 1215, 40, 0, 0]),
    (86, [72, 1536, 16, 100, 99, 1695, 6, 384, 6251, 24, 0, 0]),
    (87, [16, 1536, 16, 164, 163, 1300, 4, 256, 3200, 32, 0, 0]),
    (89, [58, 1536, 24, 100, 99, 2040, 48, 192, 6251, 24, 0, 0]),
    (90, [132, 2048, 32, 228, 227, 1980, 50, 5120, 2619, 80, 0, 0]),
    (100, [148, 2048, 32, 228, 227, 1965, 126, 8192, 3996, 180, 0, 0]),
    (103, [160, 2048, 32, 228, 227, 1965, 126, 8192, 3996, 270, 0, 0]),
    (120, [170, 1536, 24, 100, 99, 2407, 96, 512, 14001, 32, 0, 0]),
    (121, [48, 1536, 24, 100, 99, 2418, 24, 256, 4266, 120, 0, 0]),
];

/// Blocks of a cluster that every device with clusters takes.
pub const CLUSTER_BLOCKS: u32 = 8;

impl Profile {
    /// The profile of a target.
    pub fn of(target: Target) -> Result<Profile, Error> {
        let Some((_, row)) = PROFILES.iter().find(|(sm, _)| *sm == target.sm) else {
            let known: Vec<String> = PROFILES.iter().map(|(sm, _)| format!("sm_{sm}")).collect();
            let message = format!("there is no device {target}; devices are {}", known.join(", "));
            return Err(Error::new(Code::INVALID_DEVICE, message));
        };
        let [sms, threads, blocks, shared, of_block, clock, l2, width, rate, memory, _, _] = *row;
        Ok(Profile {
            target: Target { sm: target.sm, variant: Variant::Base },
            sms,
            threads_per_sm: threads,
            blocks_per_sm: blocks,
            shared_per_sm: shared << 10,
            shared_per_block: of_block << 10,
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

    /// True if it has clusters.
    pub fn clusters(&self) -> bool {
        self.target.sm >= 90
    }

    /// The engine's idea of it; memory is counted by the driver.
    pub fn machine(&self) -> Machine {
        let mut machine = Machine::default();
        machine.sms = self.sms;
        machine.warps_per_sm = self.threads_per_sm / 32;
        machine.blocks_per_sm = self.blocks_per_sm;
        machine.clock_mhz = self.clock_mhz;
        machine.shared_memory = self.shared_per_block.into();
        machine.global_memory = u64::MAX >> 1;
        machine
    }

    /// True if the device runs code for a target: of the same or an older architecture, or of its own features.
    pub fn runs(&self, target: Target) -> bool {
        match target.variant {
            Variant::Base => target.sm <= self.target.sm,
            Variant::Family => target.sm / 10 == self.target.sm / 10 && target.sm <= self.target.sm,
            Variant::Arch => target.sm == self.target.sm,
        }
    }
}
