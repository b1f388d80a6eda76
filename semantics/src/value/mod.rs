//! What each scalar operation of PTX computes, as pure functions on raw bit patterns.
//!
//! Every function here maps operand bits to result bits and nothing else: no machine state, no lanes, no types at run time.
//! [`lanes`](crate::lanes) applies them to the lanes of a warp; the engine and the folding of constants end in these same functions.
//!
//! | module | what it holds | PTX ISA 9.0 |
//! |---|---|---|
//! | [`integer`] | arithmetic at any width, saturation, carries, division, dot products | 9.7.1, 9.7.2 |
//! | [`bits`] | shifts, bit fields, counts, `lop3`, `prmt`, `shf`, `fns` | 9.7.1, 9.7.8, 9.7.9.7 |
//! | [`single`], [`double`] | f32 and f64 with every rounding, `.ftz`, `.sat` | 9.7.3, 9.7.5 |
//! | [`half`] | f16 and bf16 | 9.7.4 |
//! | [`packed`] | two or four small values in one register | 9.7.1, 9.7.3, 9.7.4 |
//! | [`eight`] | arithmetic on four values of 8 bits | 9.4: 9.7.6 |
//! | [`mixed`] | pairs of different formats | 9.4: 9.7.5 |
//! | [`compare`] | `setp set slct testp` and their operators | 9.7.6, 9.7.7 |
//! | [`convert`] | `cvt`, `cvt.pack`, the 4-, 6- and 8-bit floats | 9.7.9.21, 9.7.9.22 |
//! | [`approx`] | `sin cos lg2 ex2 tanh` and the approximate forms of division and root | 9.7.3, 9.7.4 |
//! | [`video`] | scalar and packed video instructions | 9.7.18 |
//! | [`sparse`] | two of four elements, and back | 9.4: 9.7.10 |
//! | [`soft`] | exact arithmetic in integers for any binary format and rounding | |
//!
//! # NaN
//! The manual leaves most NaN results open; this is the rule here, which agrees with every value that ptxas folds.
//! - f32 arithmetic gives `0x7fffffff`, f16 and bf16 give `0x7fff`.
//! - f64 arithmetic returns the first NaN operand (in the order written) made quiet, and `0xfff8000000000000` for an invalid
//!   operation.
//! - `abs` and `neg` change the sign bit alone and make f32 quiet; f16 and bf16 give the canonical NaN.
//! - `cvt` between f32 and f64 keeps the payload's upper bits and makes it quiet; all other conversions give the canonical NaN.
//!
//! # Flushing to zero
//! `.ftz` flushes an operand that is subnormal, and a result that is tiny *after rounding as if the exponent were unbounded*:
//! a product just below the smallest normal number that rounds to it survives, exactly as ptxas folds it.

pub mod approx;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod double;
pub mod eight;
pub mod half;
pub mod integer;
pub mod mixed;
pub mod packed;
pub mod single;
pub mod soft;
pub mod sparse;
pub mod special;
pub mod video;

/// Where a result that is not representable goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rounding {
    /// `.rn`, `.rni`: to nearest, ties to even.
    #[default]
    Nearest,
    /// `.rz`, `.rzi`: toward zero.
    Zero,
    /// `.rm`, `.rmi`: toward negative infinity.
    Down,
    /// `.rp`, `.rpi`: toward positive infinity.
    Up,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
}
