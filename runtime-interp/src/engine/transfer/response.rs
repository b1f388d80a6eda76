//! The answer to `clusterlaunchcontrol.try_cancel`, whose 16 bytes the manual leaves open (PTX ISA 9.0, 9.7.13.18): from the lowest on, 32 bits for each
//! coordinate of the first block of the cluster that was cancelled; the highest says that there is one.

const IS_CANCELLED: u128 = 1 << 127;

/// That a cluster was cancelled, with this first block.
pub(crate) fn cancelled([x, y, z]: [u32; 3]) -> u128 {
    IS_CANCELLED | u128::from(z) << 64 | u128::from(y) << 32 | u128::from(x)
}

/// That there was none left.
pub(crate) const NOT_CANCELLED: u128 = 0;

/// Whether a response says that a cluster was cancelled.
pub fn is_cancelled(response: u128) -> bool {
    response & IS_CANCELLED != 0
}

/// The first block of the cluster that was cancelled.
pub(crate) fn first_block(response: u128) -> [u32; 3] {
    [response as u32, (response >> 32) as u32, (response >> 64) as u32]
}
