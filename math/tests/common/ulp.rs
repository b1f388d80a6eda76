//! Distances in units of the last place.

use warpsmith_ir::Type;

/// How many floats lie between two, by their bits: 0 for equal ones and for two NaN. Zeros of different sign are one apart.
pub fn distance(ty: Type, a: u64, b: u64) -> u64 {
    let (bits, infinity) = match ty {
        Type::F32 => (32, 0x7f80_0000),
        Type::F64 => (64, 0x7ff0_0000_0000_0000u64),
        Type::F16 => (16, 0x7c00),
        other => panic!("no format {other}"),
    };
    let mask = u64::MAX >> (65 - bits);
    let nan = |v: u64| v & mask > infinity;
    if nan(a) || nan(b) {
        return if nan(a) && nan(b) { 0 } else { u64::MAX };
    }
    let ordered = |v: u64| {
        let magnitude = i128::from(v & mask);
        if v >> (bits - 1) & 1 == 1 { -magnitude - 1 } else { magnitude }
    };
    (ordered(a) - ordered(b)).unsigned_abs() as u64
}
