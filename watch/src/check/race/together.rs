//! Stores to bytes that other threads write, too: lanes of one instruction, or, in shared memory, threads before with nothing to order the two.
//! Nothing is reported if all of them write the same value: where a value is spread over threads, compilers have each of them store it.

use super::accesses::Target;
use super::shadow::{Conflict, LINE, Record};
use super::{Race, lanes_of};
use warpsmith_interp::observe::{Addresses, At, OperationKind, Overwritten, Registers};
use warpsmith_isa::StateSpace;

/// The bytes of a lane that a store overwrites.
type Old = [Option<u8>; 32];

/// What lanes of a store have in common with each other and with earlier stores, until their values are known.
#[derive(Default)]
pub(super) struct Together {
    found: Vec<(Target, Conflict, u32)>,
    /// Conflicts with stores that came earlier.
    earlier: Vec<(Target, Conflict)>,
    /// What each lane finds in memory.
    old: Option<Box<[Old; 32]>>,
    /// The space of the store, and each lane's address in it.
    place: Option<(StateSpace, [u64; 32])>,
}

impl Together {
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.earlier.is_empty()
    }
}

impl Race {
    /// Another access comes; the values of the last store never came if something is left of it.
    #[inline]
    pub(super) fn forget_values(&mut self, at: &At<'_>) {
        if !self.together.is_empty() {
            for (target, conflict) in std::mem::take(&mut self.together).earlier {
                self.tell_of(at, target, conflict);
            }
        }
    }

    /// A store that is not ordered with an earlier one: reported when the values are known, or at once where they never are.
    pub(super) fn after_store(&mut self, at: &At<'_>, target: Target, conflict: Conflict) {
        match at.program.operation(at.pc).map(|o| o.kind) {
            Some(OperationKind::Store(_)) => self.together.earlier.push((target, conflict)),
            _ => self.tell_of(at, target, conflict),
        }
    }

    #[cold]
    pub(super) fn keep_overwritten(&mut self, at: &At<'_>, bytes: &Overwritten<'_>) {
        let mut old = Box::new([[None; 32]; 32]);
        for lane in lanes_of(at.mask) {
            old[lane] = std::array::from_fn(|number| bytes.byte(lane, number));
        }
        self.together.old = Some(old);
    }

    /// Lanes of one instruction write the same bytes.
    #[cold]
    pub(super) fn overlap(&mut self, at: &At<'_>, target: Target, record: Record) {
        let (byte, first) = (record.bytes.trailing_zeros(), record.lanes.trailing_zeros());
        let second = (record.lanes & (record.lanes - 1)).trailing_zeros();
        let conflict =
            Conflict { old: record, new: record, byte, old_lane: first, new_lane: second, unfenced: false };
        self.together(at, target, conflict, record.lanes);
    }

    /// Reported when the values are known, or at once where they never are.
    pub(super) fn together(&mut self, at: &At<'_>, target: Target, conflict: Conflict, lanes: u32) {
        match at.program.operation(at.pc).map(|o| o.kind) {
            Some(OperationKind::Store(_)) => self.together.found.push((target, conflict, lanes)),
            _ => self.tell_together(at, target, conflict),
        }
    }

    /// The store was seen, and what it had in common is known; its values come next.
    #[inline]
    pub(super) fn await_values(&mut self, space: StateSpace, addresses: &Addresses<'_>) {
        if !self.together.is_empty() {
            self.together.place = Some((space, addresses.all()));
        }
    }

    /// Reports what was found of a store whose lanes write different values.
    #[cold]
    #[expect(clippy::wildcard_enum_match_arm, reason = "only stores are compared")]
    pub(super) fn compare_values(&mut self, at: &At<'_>, registers: &Registers<'_>) {
        let together = std::mem::take(&mut self.together);
        let operation = at.program.operation(at.pc);
        let Some((operation, access)) = operation.as_ref().and_then(|o| match &o.kind {
            OperationKind::Store(access) => Some((o, access)),
            _ => None,
        }) else {
            return;
        };
        let Some((space, addresses)) = together.place else { return };
        let values = operation.reads.get(1..).unwrap_or_default();
        // Where a byte of a line is among those that a lane stores.
        let number = |race: &Race, target: Target, byte: u64, lane: usize| {
            let address = addresses.get(lane).filter(|_| at.mask >> lane & 1 != 0)?;
            let (memory, offset) = race.place(space, *address)?;
            let number = (target.line * LINE + byte).checked_sub(offset)?;
            (memory == target.memory).then_some(number)
        };
        let value = |number: u64, lane: usize| {
            let element = values.get((number / u64::from(access.bytes)) as usize)?;
            Some((registers.get(*element, lane) >> (8 * (number % u64::from(access.bytes)))) as u8)
        };
        let bytes_of = |bytes: u64| (0..LINE).filter(move |byte| bytes >> byte & 1 != 0);
        for (target, conflict, lanes) in together.found {
            let agreed = bytes_of(conflict.old.bytes & conflict.new.bytes).all(|byte| {
                // Not all lanes write all bytes that any two of them have in common.
                let mut written = lanes_of(lanes).filter_map(|lane| {
                    number(self, target, byte, lane).and_then(|number| value(number, lane))
                });
                let first = written.next();
                written.all(|value| Some(value) == first)
            });
            if !agreed {
                self.tell_together(at, target, conflict);
            }
        }
        for (target, conflict) in together.earlier {
            let agreed = bytes_of(conflict.old.bytes & conflict.new.bytes).all(|byte| {
                lanes_of(conflict.new.lanes).all(|lane| {
                    let Some(number) = number(self, target, byte, lane) else { return true };
                    let old = together.old.as_ref().and_then(|old| *old.get(lane)?.get(number as usize)?);
                    // Bytes that this lane does not store are none of its own.
                    value(number, lane).is_none_or(|value| Some(value) == old)
                })
            });
            if !agreed {
                self.tell_of(at, target, conflict);
            }
        }
    }
}
