//! Every function of CUDA's driver API: its symbol, the name and version that `cuGetProcAddress` knows it by, and where it is.

use std::ffi::c_void;

/// Where a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address(pub *const ());

// SAFETY: the address of a function, which never changes.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Address {
    /// As C has it.
    pub fn pointer(self) -> *mut c_void {
        self.0.cast_mut().cast()
    }
}

/// A function of the API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The name of the symbol: `cuMemAlloc_v2`.
    pub symbol: &'static str,
    /// The name without its version: `cuMemAlloc`.
    pub name: &'static str,
    /// The first version of CUDA whose programs mean this symbol by the name: 3020.
    pub version: i32,
    /// Where it is.
    pub address: Address,
    /// False for what says that it is not supported.
    pub here: bool,
}

include!(concat!(env!("OUT_DIR"), "/entries.rs"));

/// The function that a program written for a version of CUDA means by a name: the newest that is not newer.
pub fn find(name: &str, version: i32) -> Option<&'static Entry> {
    let named = ENTRIES.iter().filter(|entry| entry.name == name || entry.symbol == name);
    named
        .filter(|entry| entry.version <= version || entry.symbol == name && entry.name != name)
        .max_by_key(|entry| entry.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_newest_symbol_that_a_version_knows() {
        let symbol = |name, version| find(name, version).map(|entry| entry.symbol);
        assert_eq!(symbol("cuCtxCreate", 3020), Some("cuCtxCreate_v2"));
        assert_eq!(symbol("cuCtxCreate", 11040), Some("cuCtxCreate_v3"));
        assert_eq!(symbol("cuCtxCreate", 13000), Some("cuCtxCreate_v4"));
        assert_eq!(symbol("cuEventElapsedTime", 12000), Some("cuEventElapsedTime"));
        assert_eq!(symbol("cuEventElapsedTime", 12080), Some("cuEventElapsedTime_v2"));
        assert_eq!(symbol("cuStreamGetCaptureInfo", 12020), Some("cuStreamGetCaptureInfo_v2"));
        assert_eq!(symbol("cuGetProcAddress", 12000), Some("cuGetProcAddress_v2"));
        assert_eq!(symbol("cuMemPrefetchAsync", 8000), Some("cuMemPrefetchAsync"));
        assert_eq!((symbol("cuCtxCreate", 1000), symbol("cuNothing", 13000)), (None, None));
    }

    #[test]
    fn every_function_that_is_here_is_in_the_table() {
        assert!(ENTRIES.iter().filter(|entry| entry.here).count() > 200);
        assert!(ENTRIES.iter().all(|entry| !entry.address.0.is_null()));
    }
}
