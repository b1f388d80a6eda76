//! Allocations: whose they are, of what kind, and how much there is.

use crate::error::{Code, Error};
use crate::graph_memory::GraphMemory;
use crate::settings::Settings;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// What an allocation is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Memory of a device.
    Device,
    /// Memory of the host that devices reach, which the library allocated.
    Host,
    /// Memory that host and devices share.
    Managed,
    /// Memory of the client that devices reach.
    Registered,
    /// Memory of another process.
    Foreign,
    /// Pages that the client has put at addresses which it had reserved.
    Virtual,
}

/// An allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Its size.
    pub bytes: u64,
    /// What it is for.
    pub kind: Kind,
    /// The context that it belongs to; none for that of a pool.
    pub context: Option<u64>,
    /// The number of the device.
    pub device: usize,
    /// How it was made.
    pub flags: u32,
    /// The pool that it is from.
    pub pool: Option<u64>,
    /// A number that no other allocation of the process has had.
    pub number: u64,
    /// The graph's own, if a graph allocates it.
    pub graph: Option<Weak<GraphMemory>>,
}

/// All allocations, by address.
#[derive(Debug)]
pub struct Memory {
    allocations: BTreeMap<u64, Allocation>,
    /// Bytes used and bytes there are, by device.
    devices: Vec<[u64; 2]>,
    /// Bytes of pages that clients have made for addresses of their own, by device.
    pub pages: Vec<Arc<AtomicU64>>,
    last: u64,
}

impl Memory {
    /// No allocations.
    pub fn new(settings: &Settings) -> Memory {
        let devices = settings.devices.iter().map(|device| [0, device.memory]).collect();
        let pages = settings.devices.iter().map(|_| Arc::default()).collect();
        Memory { allocations: BTreeMap::new(), devices, pages, last: 0 }
    }

    /// Bytes that are free on a device, and all.
    pub fn free_and_total(&self, device: usize) -> [u64; 2] {
        let pages = self.pages.get(device).map_or(0, |bytes| bytes.load(Ordering::Relaxed));
        self.devices.get(device).map_or([0; 2], |[used, total]| [total.saturating_sub(*used + pages), *total])
    }

    /// An error if a device has no room.
    pub fn check(&self, device: usize, bytes: u64) -> Result<(), Error> {
        let [free, total] = self.free_and_total(device);
        if bytes > free {
            let message = format!("no room for {bytes} bytes on device {device}: {free} of {total} are free");
            return Err(Error::new(Code::OUT_OF_MEMORY, message));
        }
        Ok(())
    }

    /// An allocation more.
    pub fn add(&mut self, address: u64, mut allocation: Allocation) {
        self.last += 1;
        allocation.number = self.last;
        if matches!(allocation.kind, Kind::Device | Kind::Managed) {
            self.devices[allocation.device][0] += allocation.bytes;
        }
        self.allocations.insert(address, allocation);
    }

    /// Says that an allocation is one of a graph.
    pub fn belongs(&mut self, address: u64, memory: &Arc<GraphMemory>) {
        if let Some(allocation) = self.allocations.get_mut(&address) {
            allocation.graph = Some(Arc::downgrade(memory));
        }
    }

    /// An allocation less.
    pub fn remove(&mut self, address: u64) -> Result<Allocation, Error> {
        let found = self.allocations.remove(&address);
        let found =
            found.ok_or_else(|| Error::value(format!("{address:#x} is not the address of an allocation")))?;
        if matches!(found.kind, Kind::Device | Kind::Managed) {
            self.devices[found.device][0] -= found.bytes;
        }
        Ok(found)
    }

    /// The allocation that starts at an address.
    pub fn at(&self, address: u64) -> Option<&Allocation> {
        self.allocations.get(&address)
    }

    /// The allocation that an address lies in, and where that starts.
    pub fn containing(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (start, allocation) = self.allocations.range(..=address).next_back()?;
        (address - start < allocation.bytes.max(1)).then_some((*start, allocation))
    }

    /// The allocations of a context.
    pub fn of_context(&self, context: u64) -> Vec<u64> {
        let own = self.allocations.iter().filter(|(_, a)| a.context == Some(context));
        own.map(|(address, _)| *address).collect()
    }
}

impl crate::state::State {
    /// Allocates memory, whose addresses are those of the host.
    pub fn allocate(
        &mut self,
        bytes: u64,
        kind: Kind,
        context: Option<u64>,
        device: usize,
        flags: u32,
        pool: Option<u64>,
    ) -> Result<u64, Error> {
        if bytes == 0 {
            return Err(Error::value("an allocation of no bytes"));
        }
        if kind != Kind::Host {
            self.memory.check(device, bytes)?;
        }
        let address = self.device.alloc(bytes)?.address();
        self.memory
            .add(address, Allocation { bytes, kind, context, device, flags, pool, number: 0, graph: None });
        Ok(address)
    }
}
