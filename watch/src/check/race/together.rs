//! Lanes that write the same bytes with one instruction: nothing to tell if they write the same.

use super::accesses::Target;
use super::shadow::{Conflict, LINE, Record};
use super::{Race, lanes_of};
use warpsmith_interp::observe::{Addresses, At, OperationKind, Registers};
use warpsmith_isa::StateSpace;

/// What lanes of a store have in common, until their values are known.
#[derive(Default)]
pub(super) struct Together {
    found: Vec<(Target, Conflict, u32)>,
    /// The space of the store, and each lane's address in it.
    place: Option<(StateSpace, [u64; 32])>,
}

impl Together {
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn clear(&mut self) {
        self.found.clear();
        self.place = None;
    }
}

impl Race {
    /// Lanes of one instruction write the same bytes.
    #[cold]
    pub(super) fn overlap(&mut self, at: &At<'_>, target: Target, record: Record) {
        let (byte, first) = (record.bytes.trailing_zeros(), record.lanes.trailing_zeros());
        let second = (record.lanes & (record.lanes - 1)).trailing_zeros();
        let conflict =
            Conflict { old: record, new: record, byte, old_lane: first, new_lane: second, unfenced: false };
        self.together(at, target, conflict, record.lanes);
    }

    /// Told when the values are known, or at once where they never are.
    pub(super) fn together(&mut self, at: &At<'_>, target: Target, conflict: Conflict, lanes: u32) {
        match at.program.operation(at.pc).map(|o| o.kind) {
            Some(OperationKind::Store(_)) => self.together.found.push((target, conflict, lanes)),
            _ => self.tell_together(at, target, conflict),
        }
    }

    /// The store was seen, and what it had in common is known; its values come next.
    #[inline]
    pub(super) fn await_values(&mut self, space: StateSpace, addresses: &Addresses<'_>) {
        if !self.together.found.is_empty() {
            self.together.place = Some((space, addresses.all()));
        }
    }

    /// Tells what was found of a store whose lanes write different values.
    #[cold]
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
        for (target, conflict, lanes) in together.found {
            let bytes = conflict.old.bytes & conflict.new.bytes;
            let agreed = (0..LINE).filter(|byte| bytes >> byte & 1 != 0).all(|byte| {
                // Not all lanes write all bytes that any two of them have in common.
                let mut written = lanes_of(lanes).filter_map(|lane| {
                    let address = addresses.get(lane).filter(|_| at.mask >> lane & 1 != 0)?;
                    let (memory, offset) = self.place(space, *address)?;
                    let from = (target.line * LINE + byte).checked_sub(offset)?;
                    let element = values.get((from / u64::from(access.bytes)) as usize)?;
                    let value = registers.get(*element, lane) >> (8 * (from % u64::from(access.bytes)));
                    (memory == target.memory).then_some(value as u8)
                });
                let first = written.next();
                written.all(|value| Some(value) == first)
            });
            if !agreed {
                self.tell_together(at, target, conflict);
            }
        }
    }
}
