//! Handles: numbers that clients hold in place of objects, looked up whenever they come back. None is used twice, so that what was destroyed is known to be.

use crate::error::{Code, Error};
use std::sync::Arc;
use warpsmith_base::FxHashMap;

/// Handles lie so far apart, and above what C takes for small numbers.
const STEP: u64 = 16;

/// The objects of a kind.
#[derive(Debug)]
pub struct Table<T> {
    objects: FxHashMap<u64, Arc<T>>,
    next: u64,
    kind: &'static str,
    code: Code,
}

impl<T> Table<T> {
    /// A table whose handles start at a number of their own; a wrong one is answered with `code`.
    pub fn new(number: u64, kind: &'static str, code: Code) -> Table<T> {
        Table { objects: FxHashMap::default(), next: (0x5750 + number) << 32 | STEP, kind, code }
    }

    /// A handle that nothing has yet.
    pub fn reserve(&mut self) -> u64 {
        let handle = self.next;
        self.next += STEP;
        handle
    }

    /// Gives an object a reserved handle.
    pub fn put(&mut self, handle: u64, object: Arc<T>) {
        self.objects.insert(handle, object);
    }

    /// Gives an object a handle.
    pub fn add(&mut self, object: T) -> u64 {
        let handle = self.reserve();
        self.put(handle, Arc::new(object));
        handle
    }

    /// The object of a handle.
    pub fn get(&self, handle: u64) -> Result<Arc<T>, Error> {
        self.objects.get(&handle).cloned().ok_or_else(|| self.wrong(handle))
    }

    /// Takes an object out.
    pub fn remove(&mut self, handle: u64) -> Result<Arc<T>, Error> {
        self.objects.remove(&handle).ok_or_else(|| self.wrong(handle))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Arc<T>)> {
        self.objects.iter().map(|(handle, object)| (*handle, object))
    }

    /// Takes out those that a condition names.
    pub fn take(&mut self, is: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let handles: Vec<u64> =
            self.iter().filter(|(_, object)| is(object)).map(|(handle, _)| handle).collect();
        handles.iter().filter_map(|handle| self.objects.remove(handle)).collect()
    }

    fn wrong(&self, handle: u64) -> Error {
        let kind = self.kind;
        let message = match handle {
            0 => format!("a null handle where a {kind} is expected"),
            _ if self.objects.contains_key(&handle) => String::new(),
            _ if handle >> 32 == self.next >> 32 && handle < self.next => {
                format!("a {kind} that was destroyed")
            }
            _ => format!("{handle:#x} is not the handle of a {kind}"),
        };
        Error::new(self.code, message)
    }
}
