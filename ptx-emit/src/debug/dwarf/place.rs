//! Where variables are: `DW_AT_location`, lists of places, and the operations of each.

use super::Writer;
use crate::debug::{Class, Place};
use gimli::constants::*;
use gimli::write::{AttributeValue, Expression, Location, LocationList, UnitEntryId};
use warpsmith_ptx::Symbol;

impl Writer<'_> {
    pub(super) fn location<'p>(
        &mut self,
        entry: UnitEntryId,
        places: impl ExactSizeIterator<Item = (Option<(Symbol, Symbol)>, &'p Place)> + Clone,
    ) {
        let Some((range, first)) = places.clone().next() else { return };
        let class = if places.clone().all(|(_, place)| place.class() == first.class()) {
            first.class()
        } else {
            Class::Register
        };
        // A constant has no address.
        if !matches!((range, first), (None, Place::Constant(_))) {
            self.set(entry, DW_AT_address_class, AttributeValue::Data1(class as u8));
        }
        match (range, first) {
            (None, Place::Constant(bits)) if places.len() == 1 => {
                self.set(entry, DW_AT_const_value, AttributeValue::Sdata(*bits));
            }
            (None, place) if places.len() == 1 => {
                let place = self.expression(place);
                self.set(entry, DW_AT_location, AttributeValue::Exprloc(place));
            }
            _ => {
                let mut list = Vec::with_capacity(places.len());
                for (range, place) in places {
                    let Some((begin, end)) = range else { continue };
                    let (begin, end) = (self.symbol(begin), self.symbol(end));
                    list.push(Location::StartEnd { begin, end, data: self.expression(place) });
                }
                let made = self.dwarf.units.get_mut(self.unit);
                let list = made.locations.add(LocationList(list));
                made.get_mut(entry).set(DW_AT_location, AttributeValue::LocationListRef(list));
            }
        }
    }

    fn expression(&mut self, place: &Place) -> Expression {
        /// Bytes that most expressions have no more of.
        const BYTES: usize = 16;
        let mut encoded = Encoded { bytes: Vec::with_capacity(BYTES), symbols: Vec::new() };
        encoded.place(place);
        if encoded.symbols.is_empty() {
            return Expression::raw(encoded.bytes);
        }
        // Each byte stands as an operation without operands.
        let mut out = Expression::new();
        let mut from = 0;
        for (at, symbol) in encoded.symbols {
            encoded.bytes[from..at].iter().for_each(|byte| out.op(gimli::DwOp(*byte)));
            out.op_addr(self.symbol(symbol));
            from = at;
        }
        encoded.bytes[from..].iter().for_each(|byte| out.op(gimli::DwOp(*byte)));
        out
    }
}

/// The operations of a place: the numbers of registers are longer than `gimli` writes them.
struct Encoded {
    bytes: Vec<u8>,
    /// The addresses of symbols, in front of which bytes.
    symbols: Vec<(usize, Symbol)>,
}

impl Encoded {
    fn op(&mut self, op: gimli::DwOp) -> &mut Vec<u8> {
        self.bytes.push(op.0);
        &mut self.bytes
    }

    fn place(&mut self, place: &Place) {
        match place {
            Place::Registers(registers) => {
                for (name, size) in registers {
                    unsigned(self.op(DW_OP_regx), *name);
                    if registers.len() > 1 {
                        unsigned(self.op(DW_OP_piece), (*size).into());
                    }
                }
            }
            Place::Memory(name, offset) => {
                let bytes = self.op(DW_OP_bregx);
                unsigned(bytes, *name);
                signed(bytes, (*offset).into());
            }
            Place::Constant(bits) => {
                match u8::try_from(*bits) {
                    Ok(small @ 0..32) => _ = self.op(gimli::DwOp(DW_OP_lit0.0 + small)),
                    _ => signed(self.op(DW_OP_consts), *bits),
                }
                self.op(DW_OP_stack_value);
            }
            Place::Symbol(symbol, offset, _) => {
                self.symbols.push((self.bytes.len(), *symbol));
                match u64::try_from(*offset) {
                    Ok(0) => {}
                    Ok(offset) => unsigned(self.op(DW_OP_plus_uconst), offset),
                    Err(_) => {
                        signed(self.op(DW_OP_consts), (*offset).into());
                        self.op(DW_OP_plus);
                    }
                }
            }
            Place::Pieces(pieces) => {
                for (place, size) in pieces {
                    if let Some(place) = place {
                        self.place(place);
                    }
                    // What is in several places says how much of the value each has.
                    let several = match place {
                        Some(Place::Registers(registers)) => registers.len() > 1,
                        Some(Place::Pieces(_)) => true,
                        Some(Place::Memory(..) | Place::Symbol(..) | Place::Constant(_)) | None => false,
                    };
                    if !several {
                        unsigned(self.op(DW_OP_piece), (*size).into());
                    }
                }
            }
        }
    }
}

/// The number by which DWARF names a register: the bytes of its name, the first one highest (PTX interoperability guide, 5.3).
pub(in crate::debug) fn register_number(name: &str) -> Option<u64> {
    (name.len() <= 8).then(|| name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte)))
}

/// LEB128.
fn unsigned(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        out.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return;
        }
    }
}

fn signed(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        let done = (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0);
        out.push(if done { low } else { low | 0x80 });
        if done {
            return;
        }
    }
}
