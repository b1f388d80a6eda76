//! The contents of an mbarrier object: 64 bits of shared memory that count arrivals and bytes, phase after phase.
//!
//! The bits are ours; the manual leaves them open. From the top an object of layout v0 has the parity of the phase (1 bit), pending
//! arrivals (20), expected arrivals (20), bytes outstanding plus 2^20 (21), and two bits that distinguish an object from memory that holds
//! none, and the layouts apart. One of layout v1 (PTX ISA 9.4, 9.7.15.16) has the parities of the phase and of the conditional phase (1
//! each), the report of the current phase and that of the last one (a predicate and 8 bits each), pending and expected arrivals (9 each),
//! three zeros, and the rest as v0.

use crate::memory::bytes::Bytes;
use warpsmith_isa::BarrierLayout;

/// The greatest count of arrivals, and of bytes outstanding.
const MOST: u32 = (1 << 20) - 1;
/// The greatest count of arrivals of layout v1.
const MOST_V1: u32 = (1 << 9) - 1;
/// The low bits of an object of layout v0, and of layout v1.
const TAG: u64 = 0b10;
const TAG_V1: u64 = 0b11;

/// What was reported in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::engine) struct Report {
    /// Something was.
    pub predicate: bool,
    /// What; nothing that the engine executes reports more than that something happened.
    pub value: u8,
}

impl Report {
    fn unpack(bits: u64) -> Report {
        Report { predicate: bits >> 8 & 1 != 0, value: bits as u8 }
    }

    fn pack(self) -> u64 {
        u64::from(self.predicate) << 8 | u64::from(self.value)
    }
}

/// What an object of layout v1 has besides counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::engine) struct Reports {
    /// The parity of the conditional phase.
    pub conditional: bool,
    /// What the current phase has reported.
    pub current: Report,
    /// What the phase before it had reported.
    pub last: Report,
}

/// The contents of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) struct Object {
    /// The parity of the current phase.
    pub phase: bool,
    /// Arrivals that the current phase still needs.
    pub pending: u32,
    /// Arrivals that the next phase needs.
    pub expected: u32,
    /// Bytes that the current phase still needs; negative if they came before they were expected.
    pub bytes: i32,
    /// Of layout v1.
    pub reports: Option<Reports>,
}

impl Object {
    /// A new object, if the count is possible.
    pub fn new(layout: BarrierLayout, count: u32) -> Result<Object, String> {
        let (reports, most) = match layout {
            BarrierLayout::V0 => (None, MOST),
            BarrierLayout::V1 => (Some(Reports::default()), MOST_V1),
        };
        if !(1..=most).contains(&count) {
            return Err(format!("an mbarrier object for {count} arrivals; from 1 to {most} are possible"));
        }
        Ok(Object { phase: false, pending: count, expected: count, bytes: 0, reports })
    }

    pub fn unpack(word: u64) -> Option<Object> {
        let field = |shift: u32, most: u32| (word >> shift) as u32 & most;
        let (phase, bytes) = (word >> 63 != 0, (word >> 2 & 0x1f_ffff) as i32 - (1 << 20));
        match word & 3 {
            TAG => Some(Object {
                phase,
                pending: field(43, MOST),
                expected: field(23, MOST),
                bytes,
                reports: None,
            }),
            TAG_V1 if word >> 23 & 7 == 0 => {
                let reports = Reports {
                    conditional: word >> 62 & 1 != 0,
                    current: Report::unpack(word >> 53),
                    last: Report::unpack(word >> 44),
                };
                let (pending, expected) = (field(35, MOST_V1), field(26, MOST_V1));
                Some(Object { phase, pending, expected, bytes, reports: Some(reports) })
            }
            _ => None,
        }
    }

    pub fn pack(self) -> u64 {
        let (pending, expected) = (u64::from(self.pending), u64::from(self.expected));
        let low = u64::from(self.phase) << 63 | ((self.bytes + (1 << 20)) as u64) << 2;
        match self.reports {
            None => low | pending << 43 | expected << 23 | TAG,
            Some(reports) => {
                let Reports { conditional, current, last } = reports;
                let of_phases = u64::from(conditional) << 62 | current.pack() << 53 | last.pack() << 44;
                low | of_phases | pending << 35 | expected << 26 | TAG_V1
            }
        }
    }

    /// The parity of the conditional phase, which is the phase itself where nothing holds it back.
    pub fn conditional(self) -> bool {
        self.reports.map_or(self.phase, |reports| reports.conditional)
    }

    /// What was reported in the phase before this one.
    pub fn last_report(self) -> Report {
        self.reports.map_or_else(Report::default, |reports| reports.last)
    }

    /// Notes that something is to be reported.
    pub fn report(mut self) -> Result<Object, String> {
        match &mut self.reports {
            Some(reports) => reports.current.predicate = true,
            None => {
                return Err("a report to an mbarrier object of layout v0, which has no place for one".into());
            }
        }
        Ok(self)
    }

    /// Moves to the next phase if this one has all it needs.
    fn settle(mut self) -> Object {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
            if let Some(reports) = &mut self.reports {
                let last = std::mem::take(&mut reports.current);
                reports.conditional ^= last == Report::default();
                reports.last = last;
            }
        }
        self
    }

    pub fn arrive(mut self, count: u32, drop: bool) -> Result<Object, String> {
        if count == 0 || count > self.pending {
            return Err(format!(
                "{count} arrivals at an mbarrier object of which {} are pending",
                self.pending
            ));
        }
        if drop {
            let expected = self.expected.checked_sub(count);
            self.expected = expected.ok_or_else(|| {
                format!("{count} arrivals are dropped from an mbarrier object that expects {}", self.expected)
            })?;
        }
        self.pending -= count;
        Ok(self.settle())
    }

    /// Counts one more arrival as pending.
    pub fn increment(mut self) -> Result<Object, String> {
        self.pending += 1;
        let most = if self.reports.is_some() { MOST_V1 } else { MOST };
        if self.pending > most { Err(format!("more than {most} pending arrivals")) } else { Ok(self) }
    }

    pub fn expect(self, bytes: u32) -> Result<Object, String> {
        self.with_bytes(i64::from(self.bytes) + i64::from(bytes))
    }

    pub fn complete(self, bytes: u32) -> Result<Object, String> {
        self.with_bytes(i64::from(self.bytes) - i64::from(bytes)).map(Object::settle)
    }

    fn with_bytes(mut self, bytes: i64) -> Result<Object, String> {
        if bytes.unsigned_abs() > u64::from(MOST) {
            return Err(format!("the count of an mbarrier object's bytes would be {bytes}, beyond {MOST}"));
        }
        self.bytes = bytes as i32;
        Ok(self)
    }
}

/// The parity of the phase in an object's bits, or in a state that an arrival returned.
pub(in crate::engine) fn phase(word: u64) -> bool {
    word >> 63 != 0
}

/// The pending arrivals in a state that an arrival returned.
pub fn pending_count(state: u64) -> u32 {
    (state >> 43) as u32 & MOST
}

/// The bits of the object at an offset of the shared memory of a block.
pub(in crate::engine) fn word(memory: &Bytes, offset: usize) -> u64 {
    let mut bytes = [0; 8];
    memory.read(offset, &mut bytes);
    u64::from_le_bytes(bytes)
}

/// Changes an object in place. Gives the word before, or says what is wrong.
pub(in crate::engine) fn update(
    memory: &Bytes,
    offset: usize,
    f: impl FnOnce(Object) -> Result<Object, String>,
) -> Result<(u64, Object), String> {
    let before = word(memory, offset);
    let object = Object::unpack(before)
        .ok_or_else(|| format!("shared address {offset:#x} holds no initialised mbarrier object"))?;
    let after = f(object)?;
    memory.write(offset, &after.pack().to_le_bytes());
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_survive_their_bits() {
        for object in [
            Object { phase: false, pending: 1, expected: 1, bytes: 0, reports: None },
            Object { phase: true, pending: MOST, expected: 0, bytes: -(MOST as i32), reports: None },
            Object { phase: true, pending: 0, expected: MOST, bytes: MOST as i32, reports: None },
            Object {
                phase: true,
                pending: MOST_V1,
                expected: 0,
                bytes: -5,
                reports: Some(Reports::default()),
            },
            Object {
                phase: false,
                pending: 0,
                expected: MOST_V1,
                bytes: MOST as i32,
                reports: Some(Reports {
                    conditional: true,
                    current: Report { predicate: true, value: 0x5a },
                    last: Report { predicate: false, value: 0xff },
                }),
            },
        ] {
            assert_eq!(Object::unpack(object.pack()), Some(object));
        }
        assert_eq!(Object::unpack(0), None);
        assert_eq!(Object::unpack(u64::MAX), None);
    }

    #[test]
    fn a_phase_needs_arrivals_and_bytes() {
        let o = Object::new(BarrierLayout::V0, 2).unwrap().expect(16).unwrap().arrive(1, false).unwrap();
        assert_eq!(pending_count(o.pack()), 1);
        let o = o.arrive(1, false).unwrap();
        assert_eq!((o.phase, o.pending, o.bytes), (false, 0, 16));
        let o = o.complete(16).unwrap();
        assert_eq!((o.phase, o.pending, o.bytes), (true, 2, 0));
        // Bytes may come before they are expected, while arrivals are pending.
        let o = o.complete(8).unwrap();
        assert_eq!((o.phase, o.bytes), (true, -8));
        let o = o.expect(8).unwrap().arrive(2, true).unwrap();
        assert_eq!((o.phase, o.pending, o.expected), (false, 0, 0));
    }

    #[test]
    fn counts_are_kept_within_bounds() {
        use BarrierLayout::{V0, V1};
        assert!(Object::new(V0, 0).is_err());
        assert!(Object::new(V0, 1 << 20).is_err());
        assert!(Object::new(V1, 1 << 9).is_err());
        assert!(Object::new(V1, MOST_V1).unwrap().increment().is_err());
        let o = Object::new(V0, 1).unwrap();
        assert!(o.arrive(2, false).is_err());
        assert!(o.arrive(0, false).is_err());
        assert!(o.expect(1 << 20).is_err());
        assert!(o.complete(MOST).unwrap().complete(1).is_err());
        assert!(Object::new(V0, MOST).unwrap().increment().is_err());
    }

    #[test]
    fn a_report_holds_the_conditional_phase_back() {
        let o = Object::new(BarrierLayout::V1, 1).unwrap();
        let o = o.arrive(1, false).unwrap();
        assert_eq!((o.phase, o.conditional(), o.last_report()), (true, true, Report::default()));
        let o = o.report().unwrap().arrive(1, false).unwrap();
        assert_eq!((o.phase, o.conditional(), o.last_report().predicate), (false, true, true));
        let o = o.arrive(1, false).unwrap();
        assert_eq!((o.phase, o.conditional(), o.last_report()), (true, false, Report::default()));
        let v0 = Object::new(BarrierLayout::V0, 1).unwrap();
        assert!(v0.report().is_err());
        assert!(v0.arrive(1, false).unwrap().conditional());
    }
}
