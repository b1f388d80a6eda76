//! Memory that graphs allocate.

use crate::error::{Code, Error};
use crate::memory::Kind;
use crate::state::State;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a node of a graph allocates. Its address is known, and its memory there, as long as the graph or one made of it is; it is the client's from each
/// launch of the graph until it is freed.
#[derive(Debug)]
pub struct GraphMemory {
    /// Where it is.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// The number of its device.
    pub device: usize,
    allocated: AtomicBool,
}

/// Memory of graphs that are gone. It cannot be given back where they go: the state may be locked there.
static GONE: Mutex<Vec<u64>> = Mutex::new(Vec::new());

impl GraphMemory {
    /// Has a launch allocate it; an error if the client has it from an earlier one, unless that is to be freed first.
    pub fn allocate(&self, again: bool) -> Result<(), Error> {
        if self.allocated.swap(true, Ordering::AcqRel) && !again {
            let message =
                format!("the graph's allocation at {:#x} was not freed since the last launch", self.address);
            return Err(Error::new(Code::INVALID_VALUE, message));
        }
        Ok(())
    }

    /// Ends the client's use of it; an error if it has none.
    pub fn free(&self) -> Result<(), Error> {
        if self.allocated.swap(false, Ordering::AcqRel) {
            Ok(())
        } else {
            Err(Error::value(format!("the graph's allocation at {:#x} is freed already", self.address)))
        }
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        // What the client still has outlives the graph, and is freed as any other.
        if !*self.allocated.get_mut() {
            GONE.lock().unwrap_or_else(PoisonError::into_inner).push(self.address);
        }
    }
}

impl State {
    /// Allocates memory for a node of a graph.
    pub fn allocate_for_graph(&mut self, bytes: u64, device: usize) -> Result<Arc<GraphMemory>, Error> {
        self.collect()?;
        let pool = self.device_pools[device][1];
        let owner = self.pools.get(pool)?;
        owner.take(bytes)?;
        let made = self.allocate(bytes, Kind::Device, None, device, 0, Some(pool));
        let address = made.inspect_err(|_| owner.give_back(bytes))?;
        let memory = Arc::new(GraphMemory { address, bytes, device, allocated: AtomicBool::new(false) });
        self.memory.belongs(address, &memory);
        Ok(memory)
    }

    /// Gives back the memory of graphs that are gone.
    pub fn collect(&mut self) -> Result<(), Error> {
        let gone = std::mem::take(&mut *GONE.lock().unwrap_or_else(PoisonError::into_inner));
        for address in gone {
            // A context that went has taken its own with it.
            if self.memory.at(address).is_some() {
                self.free_now(address)?;
            }
        }
        Ok(())
    }
}
