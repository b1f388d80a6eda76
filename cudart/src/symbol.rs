//! Variables of the device, by those of the host that denote them.

use crate::driver::cu;
use crate::error::{Code, Error, rt, rt_stream};
use crate::ffi::{Out, Pointer};
use crate::register::variable;

/// A part of a variable.
pub fn part(symbol: Pointer, offset: usize, bytes: usize) -> Result<Pointer, Error> {
    let (address, size) = variable(symbol)?;
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(Error::value(format!("{bytes} bytes from {offset} on of a variable of {size}")));
    }
    Ok(Pointer::at(address + offset as u64))
}

/// `cudaMemcpyKind`: what the kind says of the other side is not needed, but the direction must be possible.
pub fn direction(kind: u32, allowed: [u32; 3]) -> Result<(), Error> {
    if allowed.contains(&kind) {
        Ok(())
    } else {
        Err(Error::new(Code::INVALID_MEMCPY_DIRECTION, format!("a copy of kind {kind}")))
    }
}

/// To a device, within it, whatever it is.
const TO: [u32; 3] = [1, 3, 4];
/// From a device, within it, whatever it is.
const FROM: [u32; 3] = [2, 3, 4];

fn to(symbol: Pointer, from: Pointer, bytes: usize, offset: usize, kind: u32) -> Result<Pointer, Error> {
    direction(kind, TO)?;
    let place = part(symbol, offset, bytes)?;
    if from.is_null() && bytes > 0 { Err(Error::value("a null pointer")) } else { Ok(place) }
}

fn from(symbol: Pointer, to: Pointer, bytes: usize, offset: usize, kind: u32) -> Result<Pointer, Error> {
    direction(kind, FROM)?;
    let place = part(symbol, offset, bytes)?;
    if to.is_null() && bytes > 0 { Err(Error::value("a null pointer")) } else { Ok(place) }
}

rt! {
    fn cudaGetSymbolAddress(address: Out<u64>, symbol: Pointer) {
        address.check()?;
        address.set(variable(symbol)?.0)
    }

    fn cudaGetSymbolSize(size: Out<usize>, symbol: Pointer) {
        size.check()?;
        size.set(variable(symbol)?.1)
    }

    fn cudaMemcpyToSymbol(symbol: Pointer, source: Pointer, bytes: usize, offset: usize, kind: u32) {
        let place = to(symbol, source, bytes, offset, kind)?;
        cu!(cuMemcpy(place, source, bytes))
    }

    fn cudaMemcpyToSymbol_ptds(symbol: Pointer, source: Pointer, bytes: usize, offset: usize, kind: u32) {
        let place = to(symbol, source, bytes, offset, kind)?;
        cu!(cuMemcpy(place, source, bytes))
    }

    fn cudaMemcpyFromSymbol(target: Pointer, symbol: Pointer, bytes: usize, offset: usize, kind: u32) {
        let place = from(symbol, target, bytes, offset, kind)?;
        cu!(cuMemcpy(target, place, bytes))
    }

    fn cudaMemcpyFromSymbol_ptds(target: Pointer, symbol: Pointer, bytes: usize, offset: usize, kind: u32) {
        let place = from(symbol, target, bytes, offset, kind)?;
        cu!(cuMemcpy(target, place, bytes))
    }
}

rt_stream! {
    fn cudaMemcpyToSymbolAsync / cudaMemcpyToSymbolAsync_ptsz(
        symbol: Pointer, source: Pointer, bytes: usize, offset: usize, kind: u32,; stream
    ) {
        let place = to(symbol, source, bytes, offset, kind)?;
        cu!(cuMemcpyAsync(place, source, bytes, stream))
    }

    fn cudaMemcpyFromSymbolAsync / cudaMemcpyFromSymbolAsync_ptsz(
        target: Pointer, symbol: Pointer, bytes: usize, offset: usize, kind: u32,; stream
    ) {
        let place = from(symbol, target, bytes, offset, kind)?;
        cu!(cuMemcpyAsync(target, place, bytes, stream))
    }
}
