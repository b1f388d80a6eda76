//! Objects of clients that graphs keep alive.

use crate::ffi::callback::Host;
use std::sync::atomic::{AtomicI64, Ordering};

/// An object that is destroyed by a function of the client when nothing refers to it.
#[derive(Debug)]
pub struct UserObject {
    count: AtomicI64,
    destroy: Host,
}

impl UserObject {
    /// An object with so many references.
    pub fn new(destroy: Host, count: u32) -> UserObject {
        UserObject { count: AtomicI64::new(count.into()), destroy }
    }

    /// References more.
    pub fn retain(&self, count: u32) {
        self.count.fetch_add(count.into(), Ordering::AcqRel);
    }

    /// References less; the last ones destroy it. True if so.
    pub fn release(&self, count: u32) -> bool {
        let before = self.count.fetch_sub(count.into(), Ordering::AcqRel);
        let last = before > 0 && before <= i64::from(count);
        if last {
            (self.destroy.function)(self.destroy.data);
        }
        last
    }
}
