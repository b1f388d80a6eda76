//! Atomics with scopes, of integers of 32 and 64 bits and of floats. Those of `core::sync::atomic` work too: they are for all threads of the system.
//!
//! The functions are relaxed, and take pointers to memory of any space, such as those of [`SliceMut::at`](crate::SliceMut::at) and
//! [`Shared::at`](crate::Shared::at); [`crate::sync`] has fences.

use crate::ptx;

#[cfg(not(target_arch = "nvptx64"))]
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Numbers that can be added to atomically: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`.
pub trait Number<Scope>: Copy {
    /// Adds.
    #[doc(hidden)]
    unsafe fn add(at: *mut Self, value: Self) -> Self;
}

/// Integers with all atomic operations: `u32`, `i32`, `u64`, `i64`.
pub trait Integer<Scope>: Number<Scope> {
    /// The minimum.
    #[doc(hidden)]
    unsafe fn min(at: *mut Self, value: Self) -> Self;
    /// The maximum.
    #[doc(hidden)]
    unsafe fn max(at: *mut Self, value: Self) -> Self;
    /// Bitwise and.
    #[doc(hidden)]
    unsafe fn and(at: *mut Self, value: Self) -> Self;
    /// Bitwise or.
    #[doc(hidden)]
    unsafe fn or(at: *mut Self, value: Self) -> Self;
    /// Bitwise exclusive or.
    #[doc(hidden)]
    unsafe fn xor(at: *mut Self, value: Self) -> Self;
    /// Replaces.
    #[doc(hidden)]
    unsafe fn exchange(at: *mut Self, value: Self) -> Self;
    /// Replaces if equal.
    #[doc(hidden)]
    unsafe fn compare_exchange(at: *mut Self, expected: Self, value: Self) -> Self;
}

macro_rules! scopes {
    ($($scope:ident $name:ident $text:literal $doc:literal;)*) => {
        $(
            #[doc = $doc]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            #[doc = $doc]
            pub mod $scope {
                use super::{Integer, Number, $name};

                scopes! { @functions $name
                    /// Adds `value`, and gives what was there; integers wrap.
                    Number add(value);
                    /// Keeps the lesser of what is there and `value`, and gives what was there.
                    Integer min(value);
                    /// Keeps the greater of what is there and `value`, and gives what was there.
                    Integer max(value);
                    /// Keeps the bits that `value` has too, and gives what was there.
                    Integer and(value);
                    /// Sets the bits of `value`, and gives what was there.
                    Integer or(value);
                    /// Inverts the bits of `value`, and gives what was there.
                    Integer xor(value);
                    /// Stores `value`, and gives what was there.
                    Integer exchange(value);
                    /// Stores `value` if what is there equals `expected`, and gives what was there.
                    Integer compare_exchange(expected, value);
                }
            }

            integer! { $name $text u32 AtomicU32 ".u32" ".u32" ".b32" }
            integer! { $name $text i32 AtomicI32 ".s32" ".s32" ".b32" }
            integer! { $name $text u64 AtomicU64 ".u64" ".u64" ".b64" }
            integer! { $name $text i64 AtomicI64 ".u64" ".s64" ".b64" }
            float! { $name $text f32 AtomicU32 ".f32" }
            float! { $name $text f64 AtomicU64 ".f64" }
        )*
    };
    (@functions $scope:ident $($(#[$doc:meta])* $bound:ident $name:ident($($argument:ident),+);)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// `at` is aligned and accessed by atomics only.
            #[inline(always)]
            pub unsafe fn $name<T: $bound<$scope>>(at: *mut T, $($argument: T),+) -> T {
                // SAFETY: the caller's.
                unsafe { T::$name(at, $($argument),+) }
            }
        )*
    };
}

macro_rules! integer {
    ($scope:ident $text:literal $ty:ident $atomic:ident $add:literal $order:literal $bits:literal) => {
        integer! { @impl Number $scope $text $ty $atomic add ".add" $add fetch_add; }
        integer! { @impl Integer $scope $text $ty $atomic
            min ".min" $order fetch_min;
            max ".max" $order fetch_max;
            and ".and" $bits fetch_and;
            or ".or" $bits fetch_or;
            xor ".xor" $bits fetch_xor;
            exchange ".exch" $bits swap;
            @compare ".cas" $bits
        }
    };
    (@impl $trait:ident $scope:ident $text:literal $ty:ident $atomic:ident
        $($name:ident $op:literal $of:literal $host:ident;)* $(@compare $cas:literal $word:literal)?) => {
        impl $trait<$scope> for $ty {
            $(
                #[inline(always)]
                unsafe fn $name(at: *mut $ty, value: $ty) -> $ty {
                    ptx! {
                        unsafe fn device(at: *mut $ty, value: $ty) -> $ty = "atom.relaxed" $text $op $of " {}, [{at}], {value};" else {
                            unsafe { $atomic::from_ptr(at) }.$host(value, Relaxed)
                        };
                    }
                    // SAFETY: the caller's.
                    unsafe { device(at, value) }
                }
            )*
            $(
                #[inline(always)]
                unsafe fn compare_exchange(at: *mut $ty, expected: $ty, value: $ty) -> $ty {
                    ptx! {
                        unsafe fn device(at: *mut $ty, expected: $ty, value: $ty) -> $ty =
                            "atom.relaxed" $text $cas $word " {}, [{at}], {expected}, {value};" else {
                            unsafe { $atomic::from_ptr(at) }
                                .compare_exchange(expected, value, Relaxed, Relaxed)
                                .unwrap_or_else(|found| found)
                        };
                    }
                    // SAFETY: the caller's.
                    unsafe { device(at, expected, value) }
                }
            )?
        }
    };
}

macro_rules! float {
    ($scope:ident $text:literal $ty:ident $atomic:ident $suffix:literal) => {
        impl Number<$scope> for $ty {
            #[inline(always)]
            unsafe fn add(at: *mut $ty, value: $ty) -> $ty {
                ptx! {
                    unsafe fn device(at: *mut $ty, value: $ty) -> $ty = "atom.relaxed" $text ".add" $suffix " {}, [{at}], {value};" else {
                        let word = unsafe { $atomic::from_ptr(at.cast()) };
                        let add = |old| Some(($ty::from_bits(old) + value).to_bits());
                        $ty::from_bits(word.fetch_update(Relaxed, Relaxed, add).unwrap_or_else(|old| old))
                    };
                }
                // SAFETY: the caller's.
                unsafe { device(at, value) }
            }
        }
    };
}

scopes! {
    block Block ".cta" "For the threads of a block.";
    device Device ".gpu" "For the threads of a GPU.";
    system System ".sys" "For the threads of all GPUs and of the host.";
}

#[cfg(test)]
mod tests {
    use super::{block, device, system};

    #[test]
    fn every_type_and_scope() {
        let (mut a, mut b, mut c, mut d) = (7u32, -7i64, 1.5f32, i32::MIN);
        // SAFETY: the variables are this thread's.
        unsafe {
            assert_eq!((block::add(&mut a, u32::MAX), device::max(&mut b, -3)), (7, -7));
            assert_eq!((system::add(&mut c, 2.0), block::min(&mut d, 4)), (1.5, i32::MIN));
            assert_eq!(device::compare_exchange(&mut a, 6, 40), 6);
            assert_eq!(device::compare_exchange(&mut a, 6, 50), 40);
            assert_eq!(system::xor(&mut b, 1), -3);
        }
        assert_eq!((a, b, c, d), (40, -4, 3.5, i32::MIN));
    }
}
