//! What the lanes of a warp do together. `mask` names the lanes that take part: all of them call the same function.

use crate::ptx;

/// All lanes.
pub const ALL: u32 = u32::MAX;

ptx! {
    /// The value of lane `from`.
    pub fn shuffle(mask: u32, value: u32, from: u32) -> u32 = "shfl.sync.idx.b32 {}, {value}, {from}, 31, {mask};" else {
        crate::host::exchange(mask, value).values[(from & 31) as usize]
    };

    /// The value of the lane `by` further; of the lane itself where there is none.
    pub fn shuffle_down(mask: u32, value: u32, by: u32) -> u32 = "shfl.sync.down.b32 {}, {value}, {by}, 31, {mask};" else {
        let from = thread_lane() + (by & 31);
        crate::host::exchange(mask, value).values.get(from as usize).copied().unwrap_or(value)
    };

    /// The value of the lane `by` before; of the lane itself where there is none.
    pub fn shuffle_up(mask: u32, value: u32, by: u32) -> u32 = "shfl.sync.up.b32 {}, {value}, {by}, 0, {mask};" else {
        let values = crate::host::exchange(mask, value).values;
        thread_lane().checked_sub(by & 31).map_or(value, |from| values[from as usize])
    };

    /// The value of the lane whose number differs in the bits of `bits`.
    pub fn shuffle_xor(mask: u32, value: u32, bits: u32) -> u32 = "shfl.sync.bfly.b32 {}, {value}, {bits}, 31, {mask};" else {
        crate::host::exchange(mask, value).values[((thread_lane() ^ bits) & 31) as usize]
    };

    /// A bit for each lane whose value is not 0.
    pub fn ballot(mask: u32, value: u32) -> u32 = "{ .reg .pred %p; setp.ne.u32 %p, {value}, 0; vote.sync.ballot.b32 {}, %p, {mask}; }" else {
        let all = crate::host::exchange(mask, value);
        (0..32).filter(|lane| all.lanes >> lane & 1 == 1 && all.values[*lane as usize] != 0).fold(0, |bits, lane| bits | 1 << lane)
    };

    /// The lanes that are here.
    pub fn active() -> u32 = "activemask.b32 {};" else { 1 << thread_lane() };
}

/// True if `condition` is in every lane of `mask`.
#[inline(always)]
pub fn all(mask: u32, condition: bool) -> bool {
    ballot(mask, u32::from(!condition)) == 0
}

/// True if `condition` is in some lane of `mask`.
#[inline(always)]
pub fn any(mask: u32, condition: bool) -> bool {
    ballot(mask, u32::from(condition)) != 0
}

/// [`shuffle_down`] of a float.
#[inline(always)]
pub fn shuffle_down_f32(mask: u32, value: f32, by: u32) -> f32 {
    f32::from_bits(shuffle_down(mask, value.to_bits(), by))
}

/// [`shuffle_xor`] of a float.
#[inline(always)]
pub fn shuffle_xor_f32(mask: u32, value: f32, bits: u32) -> f32 {
    f32::from_bits(shuffle_xor(mask, value.to_bits(), bits))
}

#[cfg(not(target_arch = "nvptx64"))]
fn thread_lane() -> u32 {
    crate::thread::lane()
}
