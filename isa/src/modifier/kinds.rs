//! The macro that a table of kinds is made with.

macro_rules! kinds {
    ($(
        $(#[$doc:meta])* $name:ident $accessor:ident {
            $($(#[$of:meta])* $variant:ident = $first:ident $(| $other:ident)*,)*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub enum $name {
                $($(#[$of])* $variant,)*
            }

            impl $name {
                /// Every value, in the order of the table.
                pub const ALL: &'static [$name] = &[$($name::$variant,)*];

                /// What a modifier denotes, if it is of this kind.
                pub const fn of(modifier: crate::Mod) -> Option<Self> {
                    match modifier {
                        $(crate::Mod::$first $(| crate::Mod::$other)* => Some($name::$variant),)*
                        _ => None,
                    }
                }

                /// The modifier; where several denote it, the first.
                pub const fn modifier(self) -> crate::Mod {
                    match self {
                        $($name::$variant => crate::Mod::$first,)*
                    }
                }
            }
        )*

        impl crate::Instruction {
            $(
                #[doc = concat!("The first [`", stringify!($name), "`] that is written, else the one that holds by default.")]
                pub fn $accessor(&self) -> Option<$name> {
                    self.effective().find_map($name::of)
                }
            )*
        }

        /// Maps each kind of this file to its modifiers.
        #[cfg(test)]
        pub(super) const KINDS: &[fn(crate::Mod) -> bool] = &[$(|modifier| $name::of(modifier).is_some(),)*];
    };
}

pub(super) use kinds;
