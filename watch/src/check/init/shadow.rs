//! What is undefined: of registers and local memory, lanes by byte; of other memory, bytes.

use super::flow::Slot;
use crate::lanes::lanes_of;
use warpsmith_base::FxHashMap;
use warpsmith_interp::observe::{ALLOCA, Addresses};

/// The most bytes that one thread accesses with one instruction.
pub(super) const MOST_BYTES: usize = 128;
/// No thread has more local memory than this: addresses beyond are mistakes, which are no matter of this checker.
const MOST_LOCAL: u64 = 1 << 20;

/// For each byte of an access, the lanes in which it is undefined.
pub(super) type Masks = [u32; MOST_BYTES];

/// The registers and the local memory of a warp. What was never looked at is undefined.
#[derive(Default)]
pub(super) struct Warp {
    registers: Vec<u32>,
    /// Where the undefined value of a register comes from, beside its first mask. Empty as long as none is known.
    origins: Vec<u32>,
    local: Vec<u32>,
    allocated: Vec<u32>,
}

fn fill(masks: &mut Vec<u32>, len: usize) {
    if masks.len() < len {
        masks.resize(len, u32::MAX);
    }
}

impl Warp {
    /// Makes room for the registers of a frame.
    #[inline]
    pub fn reserve(&mut self, words: usize) {
        if self.registers.len() < words {
            self.registers.resize(words, u32::MAX);
        }
    }

    /// The masks of a register; none for a constant.
    #[inline]
    pub fn masks(&self, base: usize, slot: Slot) -> &[u32] {
        let start = base + slot.word as usize;
        self.registers.get(start..start + slot.masks as usize).unwrap_or_default()
    }

    #[inline]
    pub fn masks_mut(&mut self, base: usize, slot: Slot) -> &mut [u32] {
        let start = base + slot.word as usize;
        self.registers.get_mut(start..start + slot.masks as usize).unwrap_or_default()
    }

    /// The lanes in which any byte of a register is undefined.
    #[inline]
    pub fn any(&self, base: usize, slot: Slot) -> u32 {
        self.masks(base, slot).iter().fold(0, |any, m| any | m)
    }

    #[inline]
    pub fn define(&mut self, base: usize, slot: Slot, lanes: u32) {
        self.masks_mut(base, slot).iter_mut().for_each(|m| *m &= !lanes);
    }

    pub fn origin(&self, base: usize, slot: Slot) -> u32 {
        self.origins.get(base + slot.word as usize).copied().unwrap_or(0)
    }

    pub fn set_origin(&mut self, base: usize, slot: Slot, origin: u32) {
        if self.origins.len() < self.registers.len() {
            self.origins.resize(self.registers.len(), 0);
        }
        if let Some(place) = self.origins.get_mut(base + slot.word as usize) {
            *place = origin;
        }
    }

    /// Makes the registers of a frame undefined, and its local memory.
    pub fn enter(&mut self, words: std::ops::Range<usize>, stack: std::ops::Range<usize>, lanes: u32) {
        self.reserve(words.end);
        self.registers[words.clone()].iter_mut().for_each(|m| *m |= lanes);
        let known = words.start.min(self.origins.len())..words.end.min(self.origins.len());
        self.origins[known].fill(0);
        let known = stack.start.min(self.local.len())..stack.end.min(self.local.len());
        self.local[known].iter_mut().for_each(|m| *m |= lanes);
    }

    /// The masks of a stretch of local memory; `None` for addresses that no thread has.
    pub fn local_mut(&mut self, address: u64, bytes: usize) -> Option<&mut [u32]> {
        let (masks, address) = match address.checked_sub(ALLOCA) {
            Some(address) => (&mut self.allocated, address),
            None => (&mut self.local, address),
        };
        if address > MOST_LOCAL {
            return None;
        }
        let start = address as usize;
        fill(masks, start + bytes);
        Some(&mut masks[start..start + bytes])
    }
}

/// Memory of which each byte is defined or not.
pub(super) trait ByteMap {
    /// The undefined ones of at most 64 bytes, a bit for each.
    fn get(&self, address: u64, bytes: u32) -> u64;
    /// Sets which of at most 64 bytes are undefined.
    fn put(&mut self, address: u64, bytes: u32, undefined: u64);
    /// True if nothing is undefined anywhere.
    fn is_clear(&self) -> bool;
}

fn ones(bytes: u32) -> u64 {
    if bytes >= 64 { u64::MAX } else { (1 << bytes) - 1 }
}

/// Bits of bytes, in words.
pub(super) fn get_bits(words: &[u64], address: usize, bytes: u32) -> u64 {
    let (word, shift) = (address / 64, address as u32 % 64);
    let of = |i: usize| words.get(i).copied().unwrap_or(0);
    let high = if shift == 0 { 0 } else { of(word + 1) << (64 - shift) };
    (of(word) >> shift | high) & ones(bytes)
}

/// Gives by how much the number of set bits changes.
pub(super) fn put_bits(words: &mut [u64], address: usize, bytes: u32, bits: u64) -> i64 {
    let (word, shift) = (address / 64, address as u32 % 64);
    let (wide, named) = (u128::from(bits) << shift, u128::from(ones(bytes)) << shift);
    let mut change = 0;
    for i in 0..2 {
        let (bits, named) = ((wide >> (64 * i)) as u64, (named >> (64 * i)) as u64);
        if let Some(word) = words.get_mut(word + i).filter(|_| named != 0) {
            let new = *word & !named | bits & named;
            change += i64::from(new.count_ones()) - i64::from(word.count_ones());
            *word = new;
        }
    }
    change
}

/// The shared memory of a block.
#[derive(Default)]
pub(super) struct Shared {
    words: Vec<u64>,
    bytes: u64,
    undefined: i64,
}

impl Shared {
    pub fn new(bytes: u64) -> Shared {
        let mut shared = Shared { words: vec![0; bytes.div_ceil(64) as usize], bytes, undefined: 0 };
        for start in (0..bytes).step_by(64) {
            shared.put(start, (bytes - start).min(64) as u32, u64::MAX);
        }
        shared
    }
}

impl ByteMap for Shared {
    fn get(&self, address: u64, bytes: u32) -> u64 {
        if address < self.bytes { get_bits(&self.words, address as usize, bytes) } else { 0 }
    }

    fn put(&mut self, address: u64, bytes: u32, undefined: u64) {
        if let Some(room) = self.bytes.checked_sub(address) {
            let bytes = u64::from(bytes).min(room) as u32;
            self.undefined += put_bits(&mut self.words, address as usize, bytes, undefined & ones(bytes));
        }
    }

    fn is_clear(&self) -> bool {
        self.undefined == 0
    }
}

/// Bytes of a page of global memory, and the words for its bits.
const PAGE: u64 = 4096;
const WORDS: usize = PAGE as usize / 64;

/// A stretch of global memory that is looked after.
struct Region {
    bytes: u64,
    /// What was never stored to is undefined.
    fresh: bool,
    /// The host reads it: what is stored there has to be defined.
    host: bool,
    pages: FxHashMap<u64, Box<[u64; WORDS]>>,
}

/// Global memory. Everything outside the regions is the host's, and defined.
#[derive(Default)]
pub(super) struct Global {
    regions: std::collections::BTreeMap<u64, Region>,
    /// The first address of a region, and the first past all.
    extent: (u64, u64),
}

impl Global {
    /// Looks after a stretch. `fresh` memory is undefined until it is stored to; what is stored to the `host`'s is reported rather than followed.
    pub fn add(&mut self, start: u64, bytes: u64, fresh: bool, host: bool) {
        let stale: Vec<u64> =
            self.regions.range(start..start.saturating_add(bytes.max(1))).map(|(s, _)| *s).collect();
        stale.iter().for_each(|s| _ = self.regions.remove(s));
        self.regions.insert(start, Region { bytes, fresh, host, pages: FxHashMap::default() });
        self.bound();
    }

    /// Looks after a stretch that is not looked after already.
    pub fn add_once(&mut self, start: u64, bytes: u64, fresh: bool, host: bool) {
        if !self.regions.contains_key(&start) {
            self.add(start, bytes, fresh, host);
        }
    }

    /// Looks after bytes of the host that are not looked after already.
    pub fn follow(&mut self, start: u64, bytes: u64) {
        if self.find(start).is_none() {
            self.add(start, bytes, false, true);
        }
    }

    pub fn remove(&mut self, start: u64) {
        self.regions.remove(&start);
        self.bound();
    }

    fn bound(&mut self) {
        let low = self.regions.keys().next().copied().unwrap_or(u64::MAX);
        let high = self.regions.iter().next_back().map_or(0, |(start, r)| start.saturating_add(r.bytes));
        self.extent = (low, high);
    }

    fn find(&self, address: u64) -> Option<(u64, &Region)> {
        if !(self.extent.0..self.extent.1).contains(&address) {
            return None;
        }
        let (start, region) = self.regions.range(..=address).next_back()?;
        (address - start < region.bytes).then_some((*start, region))
    }

    /// True if what is stored at an address must be defined.
    pub fn is_host(&self, address: u64) -> bool {
        self.find(address).is_none_or(|(_, region)| region.host)
    }

    /// True if no address of a stretch needs a look.
    pub fn is_defined(&self, low: u64, bytes: u64) -> bool {
        low >= self.extent.1 || low.saturating_add(bytes) <= self.extent.0
    }
}

impl ByteMap for Global {
    fn get(&self, address: u64, bytes: u32) -> u64 {
        let Some((start, region)) = self.find(address) else { return 0 };
        let fresh = if region.fresh { u64::MAX } else { 0 };
        let mut undefined = 0;
        let mut done = 0;
        while done < bytes {
            let offset = address - start + u64::from(done);
            let part = (bytes - done).min((PAGE - offset % PAGE) as u32);
            let page = region.pages.get(&(offset / PAGE));
            let bits = page.map_or(fresh, |p| get_bits(&p[..], (offset % PAGE) as usize, part));
            undefined |= (bits & ones(part)) << done;
            done += part;
        }
        undefined
    }

    fn put(&mut self, address: u64, bytes: u32, undefined: u64) {
        let Some((start, Region { fresh, .. })) = self.find(address) else { return };
        let fresh = if *fresh { u64::MAX } else { 0 };
        let Some(region) = self.regions.get_mut(&start) else { return };
        let mut done = 0;
        while done < bytes {
            let offset = address - start + u64::from(done);
            let part = (bytes - done).min((PAGE - offset % PAGE) as u32);
            let bits = undefined >> done & ones(part);
            let page = region.pages.entry(offset / PAGE).or_insert_with(|| Box::new([fresh; WORDS]));
            put_bits(&mut page[..], (offset % PAGE) as usize, part, bits);
            done += part;
        }
    }

    fn is_clear(&self) -> bool {
        self.regions.is_empty()
    }
}

/// The stretches that full halves of the warp access in a row, if the addresses follow a rule: start, and bytes.
fn rows(addresses: &Addresses<'_>, size: u32, mask: u32) -> Option<[(u64, u32); 2]> {
    let Addresses::Lines(lines) = addresses else { return None };
    let row = |h: usize| match (lines[h].step, mask >> (16 * h) & 0xffff) {
        (0, _) => Some((lines[h].start, size)),
        (_, 0xffff) => Some((lines[h].start, 16 * size)),
        _ => None,
    };
    Some([row(0)?, row(1)?])
}

/// What of an access is undefined in memory; `None` if nothing is.
pub(super) fn load(map: &impl ByteMap, addresses: &Addresses<'_>, size: u32, mask: u32) -> Option<Masks> {
    if map.is_clear() {
        return None;
    }
    if let Some(rows) = rows(addresses, size, mask) {
        let clear = |(start, bytes): (u64, u32)| {
            (0..bytes).step_by(64).all(|at| map.get(start + u64::from(at), (bytes - at).min(64)) == 0)
        };
        if rows.into_iter().all(clear) {
            return None;
        }
    }
    let mut masks = [0; MOST_BYTES];
    let mut any = false;
    for lane in lanes_of(mask) {
        let address = addresses.of(lane);
        for start in (0..size).step_by(64) {
            let mut bits = map.get(address.wrapping_add(start.into()), (size - start).min(64));
            any |= bits != 0;
            while bits != 0 {
                masks[(start + bits.trailing_zeros()) as usize % MOST_BYTES] |= 1 << lane;
                bits &= bits - 1;
            }
        }
    }
    any.then_some(masks)
}

/// Records what an access stores: the bytes in which `skipped` has a bit stay as they are.
pub(super) fn store(
    map: &mut impl ByteMap,
    addresses: &Addresses<'_>,
    (size, element, skipped): (u32, u32, u8),
    mask: u32,
    masks: Option<&Masks>,
) {
    if map.is_clear() && masks.is_none() {
        return;
    }
    if let (None, 0, Some(rows)) = (masks, skipped, rows(addresses, size, mask)) {
        for (start, bytes) in rows {
            for at in (0..bytes).step_by(64) {
                map.put(start.wrapping_add(at.into()), (bytes - at).min(64), 0);
            }
        }
        return;
    }
    for lane in lanes_of(mask) {
        let address = addresses.of(lane);
        for (i, start) in (0..size).step_by(element.max(1) as usize).enumerate() {
            if skipped >> (i % 8) & 1 != 0 {
                continue;
            }
            let bits = masks.map_or(0, |masks| {
                let bytes = masks.iter().skip(start as usize).take(element as usize).enumerate();
                bytes.fold(0, |bits, (b, m)| bits | u64::from(m >> lane & 1) << b)
            });
            map.put(address.wrapping_add(start.into()), element, bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_interp::observe::Line;

    #[test]
    fn bytes_of_shared_memory_are_defined_one_by_one() {
        let mut shared = Shared::new(200);
        assert_eq!((shared.undefined, shared.get(190, 20)), (200, (1 << 10) - 1));
        shared.put(60, 8, 0b101);
        assert_eq!((shared.undefined, shared.get(59, 10)), (194, 0b10_0000_1011 & 0b11_1111_1111 | 1 << 9));
        let addresses = Addresses::Lines([Line { start: 0, step: 4 }, Line { start: 64, step: 4 }]);
        store(&mut shared, &addresses, (4, 4, 0), u32::MAX, None);
        assert_eq!((shared.undefined, shared.get(0, 64), shared.get(64, 64)), (72, 0, 0));
        assert!(load(&shared, &addresses, 4, u32::MAX).is_none());
        let beyond = Addresses::Each(&[126; 32]);
        let masks = load(&shared, &beyond, 4, 0xf0).unwrap();
        assert_eq!(masks[..5], [0, 0, 0xf0, 0xf0, 0]);
    }

    #[test]
    fn pages_come_with_the_first_store() {
        let mut global = Global::default();
        global.add(1 << 20, 3 * PAGE, true, false);
        assert_eq!(global.get((1 << 20) + PAGE - 2, 4), 0b1111);
        global.put((1 << 20) + PAGE - 1, 2, 0);
        assert_eq!(global.get((1 << 20) + PAGE - 2, 4), 0b1001);
        assert_eq!((global.get((1 << 20) - 4, 4), global.get((1 << 20) + 3 * PAGE, 4)), (0, 0));
        assert!(global.is_host(8) && !global.is_host(1 << 20));
        global.remove(1 << 20);
        assert!(global.is_clear() && global.get(1 << 20, 8) == 0);
    }
}
