//! Lane operations: a pure per-value function applied to the 32 lanes of a warp.
//!
//! A register is 32 lanes side by side in memory, so applying a function to a register is one loop of fixed trip count over
//! contiguous memory, which the compiler vectorises. The loop is compiled once per instruction set of the host CPU
//! ([`Level`]), and a launch runs the instances of its machine, so one binary is fast on every machine.
//!
//! Any capture-free function over the lane types `u8 u16 u32 u64 u128`, their signed counterparts, `f32 f64` and `bool` (a
//! predicate) is a lane operation:
//!
//! ```
//! use warpsmith_semantics::lanes;
//! let add = lanes::vector(|a: u32, b: u32| a.wrapping_add(b));
//! let less = lanes::vector(|a: f32, b: f32| a < b); // defines a predicate
//! let select = lanes::vector(|a: u64, b: u64, p: bool| if p { a } else { b });
//! let add_with_carry = lanes::vector(|a: u32, b: u32, c: bool| -> (u32, bool) {
//!     let sum = u64::from(a) + u64::from(b) + u64::from(c);
//!     (sum as u32, sum >> 32 != 0)
//! });
//! # let _ = (add, less, select, add_with_carry);
//! ```
//!
//! [`vector`] is for functions that are a few machine instructions and total: it evaluates all lanes and discards what the
//! mask does not name. [`scalar`] is for expensive ones: it evaluates only the lanes of the mask.

use crate::frame::{Frame, Row};
use crate::register::{Reg, Width};

/// The instruction sets of the host that lane operations are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// What the compilation target guarantees.
    Baseline,
    /// AVX2 with FMA and BMI.
    Avx2,
    /// AVX-512 F, BW, DQ and VL on top of that.
    Avx512,
}

impl Level {
    /// All of them, the lowest first.
    pub const ALL: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

    /// The highest level of this machine.
    pub fn of_host() -> Level {
        Level::ALL.into_iter().rev().find(|level| level.is_available()).unwrap_or(Level::Baseline)
    }

    /// True if this machine has the features that functions are compiled for at this level.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        macro_rules! has { ($($f:tt)*) => { $(std::is_x86_feature_detected!($f))&&* } }
        match self {
            Level::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => has!("avx2" "fma" "bmi1" "bmi2" "lzcnt" "popcnt"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Level::Avx2.is_available() && has!("avx512f" "avx512bw" "avx512dq" "avx512vl"),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }
}

/// The registers a lane operation works on; unused positions repeat a used one or are [`Reg::ZERO`].
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// Destinations: the second one is for functions that return a pair.
    pub dst: [Reg; 2],
    /// Sources, in the order of the function's arguments.
    pub src: [Reg; 4],
}

type Exec = unsafe fn(Frame, &Operands, u32);

/// A function over lanes, compiled for each [`Level`]. Copy; one word.
#[derive(Clone, Copy)]
pub struct LaneFn(&'static Instances);

/// The instances of a lane function.
#[derive(Clone, Copy)]
struct Instances {
    /// By level.
    exec: [Exec; Level::ALL.len()],
    signature: &'static Signature,
}

/// The widths of a lane function's results and arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Signature {
    /// Widths of the results (one or two).
    pub dst: &'static [Width],
    /// Widths of the arguments.
    pub src: &'static [Width],
}

impl LaneFn {
    /// What widths of registers the function takes.
    pub fn signature(&self) -> &'static Signature {
        self.0.signature
    }

    /// Applies the function to the lanes in `mask`; other lanes of the destination keep their values.
    ///
    /// # Safety
    /// The operands' registers lie within the frame and have the widths of the signature, and this machine has `level`.
    #[inline(always)]
    pub unsafe fn run(&self, level: Level, frame: Frame, operands: &Operands, mask: u32) {
        // SAFETY: the caller guarantees the registers and the level.
        unsafe { (self.0.exec[level as usize])(frame, operands, mask) }
    }
}

impl LaneFn {
    /// Applies the function to one value for each argument, and puts the results into `results`.
    pub(crate) fn evaluate_into(&self, values: &[u128], results: &mut [u128]) {
        // Rows of the widest register.
        const ROWS: usize = 4;
        let signature = self.signature();
        let (mut src, mut dst) = ([Row([0u32; 32]); 4 * ROWS], [Row([0u32; 32]); 2 * ROWS]);
        assert!(signature.src.len() <= 4 && signature.dst.len() <= 2, "as many as `Operands` has");
        // Sources are read as constants are, so that both lists are in reach of one frame.
        let constants = src.as_mut_ptr();
        // SAFETY: used below only, with registers that have `ROWS` rows of their own in the two arrays.
        let frame = unsafe { Frame::new(dst.as_mut_ptr(), constants) };
        let place = |n: usize| (n * ROWS * 32) as u32;
        let mut operands = Operands { dst: [Reg::ZERO; 2], src: [Reg::ZERO; 4] };
        // SAFETY: as above.
        let fill = unsafe { Frame::new(constants, constants) };
        for (n, (width, value)) in signature.src.iter().zip(values).enumerate() {
            operands.src[n] = Reg::constant(place(n), *width);
            let r = Reg::frame(place(n), *width);
            // SAFETY: every register has `ROWS` rows of its own in `src`.
            unsafe {
                match width {
                    Width::Pred => bool::set(fill, r, 1, &[*value & 1 != 0; 32]),
                    Width::W32 => u32::set(fill, r, 1, &[*value as u32; 32]),
                    Width::W64 => u64::set(fill, r, 1, &[*value as u64; 32]),
                    Width::W128 => u128::set(fill, r, 1, &[*value; 32]),
                }
            }
        }
        for (n, width) in signature.dst.iter().enumerate() {
            operands.dst[n] = Reg::frame(place(n), *width);
        }
        // SAFETY: every register has `ROWS` rows of its own, and all hosts have the baseline.
        unsafe { self.run(Level::Baseline, frame, &operands, 1) };
        for ((width, r), result) in signature.dst.iter().zip(operands.dst).zip(results) {
            // SAFETY: as above.
            *result = unsafe {
                match width {
                    Width::Pred => bool::get(frame, r, 0).into(),
                    Width::W32 => u32::get(frame, r, 0).into(),
                    Width::W64 => u64::get(frame, r, 0).into(),
                    Width::W128 => u128::get(frame, r, 0),
                }
            };
        }
    }
}

impl std::fmt::Debug for LaneFn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LaneFn({:?} -> {:?})", self.signature().src, self.signature().dst)
    }
}

/// A lane operation that evaluates every lane, for cheap total functions. See the module documentation.
///
/// Machines of the highest level run the instance of the level below: what AVX-512 gains is little, and each instance is compiled
/// code. [`wide`] is for the operations where it counts.
pub fn vector<Args, F: LaneFunction<Args>>(_: F) -> LaneFn {
    const { captures_nothing::<F>() };
    LaneFn(const { &instances::<Args, F>(Level::Avx2) })
}

/// A [`vector`] operation with an instance for every level: for those that the time of most kernels goes to.
pub fn wide<Args, F: LaneFunction<Args>>(_: F) -> LaneFn {
    const { captures_nothing::<F>() };
    LaneFn(const { &instances::<Args, F>(Level::Avx512) })
}

/// A [`vector`] operation with a single instance for all levels: for those that no kernel spends its time in.
pub fn portable<Args, F: LaneFunction<Args>>(_: F) -> LaneFn {
    const { captures_nothing::<F>() };
    LaneFn(const { &instances::<Args, F>(Level::Baseline) })
}

/// A lane operation that evaluates only the lanes of the mask, for expensive functions. See the module documentation.
pub fn scalar<Args, F: LaneFunction<Args>>(_: F) -> LaneFn {
    const { captures_nothing::<F>() };
    // A loop over lanes one by one gains nothing from vector instructions, so one instance does for all levels.
    LaneFn(const { &Instances { exec: [run_sparse::<Args, F>; 3], signature: F::SIGNATURE } })
}

/// A [`vector`] operation of two functions that give the same: the first where the host has a fused multiply-add, the second elsewhere.
pub fn fused<Args, F: LaneFunction<Args>, G: LaneFunction<Args>>(_: F, _: G) -> LaneFn {
    const { captures_nothing::<F>() };
    const { captures_nothing::<G>() };
    LaneFn(const { &fused_instances::<Args, F, G>() })
}

const fn fused_instances<Args, F: LaneFunction<Args>, G: LaneFunction<Args>>() -> Instances {
    let fused = instances::<Args, F>(Level::Avx512);
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        return fused;
    }
    let [_, avx2, avx512] = fused.exec;
    Instances { exec: [run_baseline::<Args, G>, avx2, avx512], signature: fused.signature }
}

const fn captures_nothing<F>() {
    assert!(size_of::<F>() == 0, "a lane function captures nothing");
}

/// The instances up to a level; higher levels have the last of them.
const fn instances<Args, F: LaneFunction<Args>>(highest: Level) -> Instances {
    let baseline: Exec = run_baseline::<Args, F>;
    #[cfg(target_arch = "x86_64")]
    let exec = match highest {
        Level::Baseline => [baseline; 3],
        Level::Avx2 => [baseline, run_avx2::<Args, F>, run_avx2::<Args, F>],
        Level::Avx512 => [baseline, run_avx2::<Args, F>, run_avx512::<Args, F>],
    };
    #[cfg(not(target_arch = "x86_64"))]
    let exec = [baseline; 3];
    Instances { exec, signature: F::SIGNATURE }
}

unsafe fn run_sparse<Args, F: LaneFunction<Args>>(frame: Frame, operands: &Operands, mask: u32) {
    // SAFETY: the caller's contract is that of `apply`.
    unsafe { F::apply::<false>(frame, operands, mask) }
}

unsafe fn run_baseline<Args, F: LaneFunction<Args>>(frame: Frame, operands: &Operands, mask: u32) {
    // SAFETY: the caller's contract is that of `apply`.
    unsafe { F::apply::<true>(frame, operands, mask) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_avx2<Args, F: LaneFunction<Args>>(frame: Frame, operands: &Operands, mask: u32) {
    // SAFETY: the caller's contract is that of `apply`.
    unsafe { F::apply::<true>(frame, operands, mask) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_avx512<Args, F: LaneFunction<Args>>(frame: Frame, operands: &Operands, mask: u32) {
    // SAFETY: the caller's contract is that of `apply`.
    unsafe { F::apply::<true>(frame, operands, mask) }
}

/// A value of one lane of a register.
pub trait Lane: Copy + Default + 'static {
    /// The width of the registers that hold it.
    const WIDTH: Width;
    /// Gives lane `i` of register `r`.
    ///
    /// # Safety
    /// `r` lies in the frame and has width `WIDTH`; `i < 32`.
    unsafe fn get(frame: Frame, r: Reg, i: usize) -> Self;
    /// Sets the lanes of `r` that `mask` names.
    ///
    /// # Safety
    /// As for `get`, and no other reference into the register is alive.
    unsafe fn set(frame: Frame, r: Reg, mask: u32, values: &[Self; 32]);
}

macro_rules! lane {
    ($($t:ty as $cell:ty, $width:ident, |$v:ident| $from:expr, |$w:ident| $to:expr;)*) => {$(
        impl Lane for $t {
            const WIDTH: Width = Width::$width;

            #[inline(always)]
            unsafe fn get(frame: Frame, r: Reg, i: usize) -> Self {
                // SAFETY: the caller guarantees the register.
                let $v = unsafe { (*frame.row::<$cell>(r)).0[i] };
                $from
            }

            #[inline(always)]
            unsafe fn set(frame: Frame, r: Reg, mask: u32, values: &[Self; 32]) {
                // SAFETY: the caller guarantees the register.
                let row: &mut Row<$cell> = unsafe { &mut *frame.row_mut::<$cell>(r) };
                if mask == u32::MAX {
                    for i in 0..32 {
                        let $w = values[i];
                        row.0[i] = $to;
                    }
                } else {
                    // Blending with bit masks rather than choosing by a condition: the latter becomes 32 branches.
                    for i in 0..32 {
                        let $w = values[i];
                        let named = <$cell>::from(mask >> i & 1).wrapping_neg();
                        row.0[i] = $to & named | row.0[i] & !named;
                    }
                }
            }
        }
    )*};
}
lane! {
    u8 as u32, W32, |v| v as u8, |w| u32::from(w);
    i8 as u32, W32, |v| v as i8, |w| u32::from(w as u8);
    u16 as u32, W32, |v| v as u16, |w| u32::from(w);
    i16 as u32, W32, |v| v as i16, |w| u32::from(w as u16);
    u32 as u32, W32, |v| v, |w| w;
    i32 as u32, W32, |v| v as i32, |w| w as u32;
    f32 as u32, W32, |v| f32::from_bits(v), |w| w.to_bits();
    u64 as u64, W64, |v| v, |w| w;
    i64 as u64, W64, |v| v as i64, |w| w as u64;
    f64 as u64, W64, |v| f64::from_bits(v), |w| w.to_bits();
    u128 as u128, W128, |v| v, |w| w;
    i128 as u128, W128, |v| v as i128, |w| w as u128;
}

impl Lane for bool {
    const WIDTH: Width = Width::Pred;

    #[inline(always)]
    unsafe fn get(frame: Frame, r: Reg, i: usize) -> Self {
        // SAFETY: the caller guarantees the register.
        unsafe { frame.pred(r) >> i & 1 != 0 }
    }

    #[inline(always)]
    unsafe fn set(frame: Frame, r: Reg, mask: u32, values: &[Self; 32]) {
        let mut bits = 0;
        for (i, v) in values.iter().enumerate() {
            bits |= u32::from(*v) << i;
        }
        // SAFETY: the caller guarantees the register.
        unsafe { frame.set_pred(r, bits, mask) }
    }
}

/// What a lane function returns: one lane value, or a pair.
pub trait Results: Copy + 'static {
    /// The widths of the results.
    const WIDTHS: &'static [Width];
    /// Evaluates `f` for the lanes and stores the results.
    ///
    /// # Safety
    /// The destinations lie in the frame and have the widths `WIDTHS`.
    unsafe fn store<const DENSE: bool>(frame: Frame, dst: [Reg; 2], mask: u32, f: impl Fn(usize) -> Self);
}

#[inline(always)]
fn for_lanes<const DENSE: bool>(mask: u32, mut f: impl FnMut(usize)) {
    if DENSE {
        for i in 0..32 {
            f(i);
        }
    } else {
        let mut rest = mask;
        while rest != 0 {
            f(rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

impl<T: Lane> Results for T {
    const WIDTHS: &'static [Width] = &[T::WIDTH];

    #[inline(always)]
    unsafe fn store<const DENSE: bool>(frame: Frame, dst: [Reg; 2], mask: u32, f: impl Fn(usize) -> Self) {
        let mut values = [T::default(); 32];
        for_lanes::<DENSE>(mask, |i| values[i] = f(i));
        // SAFETY: the caller guarantees the register.
        unsafe { T::set(frame, dst[0], mask, &values) }
    }
}

impl<T: Lane, U: Lane> Results for (T, U) {
    const WIDTHS: &'static [Width] = &[T::WIDTH, U::WIDTH];

    #[inline(always)]
    unsafe fn store<const DENSE: bool>(frame: Frame, dst: [Reg; 2], mask: u32, f: impl Fn(usize) -> Self) {
        let (mut first, mut second) = ([T::default(); 32], [U::default(); 32]);
        for_lanes::<DENSE>(mask, |i| (first[i], second[i]) = f(i));
        // SAFETY: the caller guarantees the registers.
        unsafe {
            T::set(frame, dst[0], mask, &first);
            U::set(frame, dst[1], mask, &second);
        }
    }
}

/// A capture-free function of one to four lane values; implemented for closures and functions.
pub trait LaneFunction<Args>: Copy + 'static {
    /// The widths of arguments and results.
    const SIGNATURE: &'static Signature;
    /// Applies the function to the lanes of a warp.
    ///
    /// # Safety
    /// The operands lie in the frame and have the widths of the signature.
    unsafe fn apply<const DENSE: bool>(frame: Frame, operands: &Operands, mask: u32);
}

macro_rules! lane_functions {
    ($(($($arg:ident $index:literal),*);)*) => {$(
        impl<F, R, $($arg),*> LaneFunction<($($arg,)*)> for F
        where
            F: Fn($($arg),*) -> R + Copy + 'static,
            R: Results,
            $($arg: Lane),*
        {
            const SIGNATURE: &'static Signature = &Signature { dst: R::WIDTHS, src: &[$($arg::WIDTH),*] };

            #[inline(always)]
            unsafe fn apply<const DENSE: bool>(frame: Frame, operands: &Operands, mask: u32) {
                const { captures_nothing::<F>() };
                // SAFETY: `F` is a Copy type of size zero without lifetimes, and a value of it was passed to who made the `LaneFn`.
                let f = unsafe { std::ptr::NonNull::<F>::dangling().read() };
                // SAFETY: the caller guarantees the operands. `store` finishes reading before it writes.
                unsafe {
                    R::store::<DENSE>(frame, operands.dst, mask, |i| {
                        f($($arg::get(frame, operands.src[$index], i)),*)
                    })
                }
            }
        }
    )*};
}
lane_functions! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, E 3);
}
