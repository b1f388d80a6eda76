//! Functions of the loop that stand apart from it, compiled for each instruction set as it is.

/// Defines methods of the runner by the body that they have at every level: `name body baseline avx2 avx512 (parameters)`. `name::<LEVEL>` calls the
/// one of a level, which nothing is inlined from, so that a body that many places use is compiled once a level.
macro_rules! by_level {
    ($($(#[doc = $doc:literal])* $vis:vis $name:ident $here:ident $baseline:ident $avx2:ident $avx512:ident ($($arg:ident: $t:ty),*);)*) => {
        impl<const WATCHED: bool> crate::engine::run::Runner<'_, WATCHED> {$(
            $(#[doc = $doc])*
            #[inline(always)]
            $vis fn $name<const LEVEL: usize>(&mut self, $($arg: $t),*) -> crate::engine::run::Fallible<()> {
                match LEVEL {
                    // SAFETY: the loop of a level calls this only where the host has it.
                    #[cfg(target_arch = "x86_64")]
                    crate::engine::run::AVX512 => unsafe { self.$avx512($($arg),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    crate::engine::run::AVX2 => unsafe { self.$avx2($($arg),*) },
                    _ => self.$baseline($($arg),*),
                }
            }

            #[inline(never)]
            fn $baseline(&mut self, $($arg: $t),*) -> crate::engine::run::Fallible<()> {
                self.$here::<{ crate::engine::run::BASELINE }>($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            #[inline(never)]
            fn $avx2(&mut self, $($arg: $t),*) -> crate::engine::run::Fallible<()> {
                self.$here::<{ crate::engine::run::AVX2 }>($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            #[inline(never)]
            fn $avx512(&mut self, $($arg: $t),*) -> crate::engine::run::Fallible<()> {
                self.$here::<{ crate::engine::run::AVX512 }>($($arg),*)
            }
        )*}
    };
}
pub(in crate::engine) use by_level;
