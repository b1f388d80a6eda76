//! Classes of instructions, as a profile and the filter of a trace name them. The tables say which family is of which class.

use std::fmt;
use std::str::FromStr;

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal)*) => {
        /// A class of instructions.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Class {
            $($(#[$doc])* $variant,)*
        }

        impl Class {
            /// Every class.
            pub const ALL: &[Class] = &[$(Class::$variant,)*];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Class::$variant => $name,)*
                }
            }
        }
    };
}

classes! {
    /// Integer arithmetic.
    Integer = "integer"
    /// Floating-point arithmetic of 32 and 64 bits.
    Float = "float"
    /// Floating-point arithmetic of 16 bits, and of mixed precision.
    Half = "half"
    /// Comparison and selection.
    Compare = "compare"
    /// Logic and shifts.
    Logic = "logic"
    /// Moves between registers.
    Move = "move"
    /// Conversions.
    Convert = "convert"
    /// Loads.
    Load = "load"
    /// Stores.
    Store = "store"
    /// `atom` and `red`
    Atomic = "atomic"
    /// Asynchronous copies and reductions.
    Async = "async"
    /// Hints to caches, and other instructions on memory that move nothing.
    Hint = "hint"
    /// Textures and surfaces.
    Texture = "texture"
    /// Control flow.
    Control = "control"
    /// Barriers, fences and mbarrier objects.
    Sync = "sync"
    /// Exchange within a warp: shuffles, votes and the like.
    Warp = "warp"
    /// Matrix instructions.
    Matrix = "matrix"
    /// The stack of a thread.
    Stack = "stack"
    /// Video instructions.
    Video = "video"
    /// All else.
    Other = "other"
}

impl Class {
    /// True if it moves data between memory and registers, or memory and memory.
    pub const fn is_memory(self) -> bool {
        matches!(self, Class::Load | Class::Store | Class::Atomic | Class::Async)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Class {
    type Err = String;

    fn from_str(text: &str) -> Result<Class, String> {
        let found = Class::ALL.iter().copied().find(|c| c.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Class::ALL.iter().map(|c| c.name()).collect();
            format!("`{text}` is not one of memory, {}", names.join(", "))
        })
    }
}
