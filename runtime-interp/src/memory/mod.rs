//! memory
pub(crate) mod window;
