//! Atomics with scopes, and of floats. Those of `core::sync::atomic` work too: they are for all threads of the system.
//!
//! The functions are relaxed, and take pointers to memory of any space; [`crate::sync`] has fences.

use crate::ptx;

#[cfg(not(target_arch = "nvptx64"))]
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

macro_rules! scoped {
    ($($scope:ident $doc:literal { $($name:ident $text:literal $host:ident;)* })*) => {
        $(
            #[doc = $doc]
            pub mod $scope {
                use crate::ptx;
                #[cfg(not(target_arch = "nvptx64"))]
                use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

                $(ptx! {
                    /// Combines the word with `value`, and gives what it was.
                    ///
                    /// # Safety
                    /// `at` is an aligned word that is accessed by atomics only.
                    pub unsafe fn $name(at: *mut u32, value: u32) -> u32 = $text else {
                        unsafe { AtomicU32::from_ptr(at) }.$host(value, Relaxed)
                    };
                })*
            }
        )*
    };
}

scoped! {
    block "For the threads of a block." {
        add "atom.relaxed.cta.add.u32 {}, [{at}], {value};" fetch_add;
        min "atom.relaxed.cta.min.u32 {}, [{at}], {value};" fetch_min;
        max "atom.relaxed.cta.max.u32 {}, [{at}], {value};" fetch_max;
        and "atom.relaxed.cta.and.b32 {}, [{at}], {value};" fetch_and;
        or "atom.relaxed.cta.or.b32 {}, [{at}], {value};" fetch_or;
        xor "atom.relaxed.cta.xor.b32 {}, [{at}], {value};" fetch_xor;
        exchange "atom.relaxed.cta.exch.b32 {}, [{at}], {value};" swap;
    }
    device "For the threads of a GPU." {
        add "atom.relaxed.gpu.add.u32 {}, [{at}], {value};" fetch_add;
        min "atom.relaxed.gpu.min.u32 {}, [{at}], {value};" fetch_min;
        max "atom.relaxed.gpu.max.u32 {}, [{at}], {value};" fetch_max;
        and "atom.relaxed.gpu.and.b32 {}, [{at}], {value};" fetch_and;
        or "atom.relaxed.gpu.or.b32 {}, [{at}], {value};" fetch_or;
        xor "atom.relaxed.gpu.xor.b32 {}, [{at}], {value};" fetch_xor;
        exchange "atom.relaxed.gpu.exch.b32 {}, [{at}], {value};" swap;
    }
}

ptx! {
    /// Adds, for the threads of a GPU, and gives what it was.
    ///
    /// # Safety
    /// `at` is aligned and accessed by atomics only.
    pub unsafe fn add_f32(at: *mut f32, value: f32) -> f32 = "atom.relaxed.gpu.add.f32 {}, [{at}], {value};" else {
        let word = unsafe { AtomicU32::from_ptr(at.cast()) };
        let add = |old: u32| Some((f32::from_bits(old) + value).to_bits());
        f32::from_bits(word.fetch_update(Relaxed, Relaxed, add).unwrap_or_else(|old| old))
    };

    /// Adds, for the threads of a GPU, and gives what it was.
    ///
    /// # Safety
    /// `at` is aligned and accessed by atomics only.
    pub unsafe fn add_f64(at: *mut f64, value: f64) -> f64 = "atom.relaxed.gpu.add.f64 {}, [{at}], {value};" else {
        let word = unsafe { AtomicU64::from_ptr(at.cast()) };
        let add = |old: u64| Some((f64::from_bits(old) + value).to_bits());
        f64::from_bits(word.fetch_update(Relaxed, Relaxed, add).unwrap_or_else(|old| old))
    };
}
