//! Classes of instructions, as a profile and the filter of a trace name them. They follow the sections of chapter 9.7 of the manual.

use std::fmt;
use std::str::FromStr;
use warpsmith_isa::{Mnemonic, Traits};

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal)*) => {
        /// A class of instructions.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Class {
            $($(#[$doc])* $variant,)*
        }

        impl Class {
            /// All of them.
            pub const ALL: &[Class] = &[$(Class::$variant,)*];

            /// Its name.
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
    /// The class of an instruction.
    ///
    /// ```
    /// use warpsmith_watch::Class;
    /// assert_eq!(Class::of("add.f32"), Class::Float);
    /// assert_eq!(Class::of("add.u32"), Class::Integer);
    /// assert_eq!(Class::of("ld.global.nc.v4.f32"), Class::Load);
    /// assert_eq!(Class::of("shfl.sync.bfly.b32"), Class::Warp);
    /// ```
    pub fn of(mnemonic: &str) -> Class {
        let Ok(mnemonic) = Mnemonic::parse(mnemonic) else { return Class::Other };
        let opcode = mnemonic.opcode();
        let word = opcode.text().split('.').next().unwrap_or_default();
        // The form says which arithmetic it is; an opcode alone stands for its first.
        let matching = warpsmith_isa::forms(&mnemonic).next().map(|m| m.form);
        let Some(form) = matching.or(opcode.forms().first()) else { return Class::Other };
        let mut section = form.section().trim_start_matches("9.7.").split('.');
        match (section.next().and_then(|s| s.parse::<u32>().ok()), word) {
            (_, "shfl" | "vote" | "match" | "redux" | "activemask" | "elect") => Class::Warp,
            (_, "atom" | "red") => Class::Atomic,
            (_, "multimem") if form.traits.contains(Traits::WRITES) => Class::Atomic,
            (Some(1 | 2), _) => Class::Integer,
            (Some(3), _) => Class::Float,
            (Some(4 | 5), _) => Class::Half,
            (Some(6 | 7), _) => Class::Compare,
            (Some(8), _) => Class::Logic,
            (Some(9), "cp") => Class::Async,
            (Some(9), "cvt") => Class::Convert,
            (Some(9), "ld" | "ldu") => Class::Load,
            (Some(9), "st") => Class::Store,
            (Some(9), "prefetch" | "prefetchu" | "applypriority" | "discard" | "createpolicy") => Class::Hint,
            (Some(9), _) if form.traits.contains(Traits::READS) => Class::Load,
            (Some(9), _) => Class::Move,
            (Some(10 | 11), _) => Class::Texture,
            (Some(12), _) => Class::Control,
            (Some(13), _) => Class::Sync,
            (Some(14..=16), _) => Class::Matrix,
            (Some(17), _) => Class::Stack,
            (Some(18), _) => Class::Video,
            _ => Class::Other,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_has_a_class() {
        for opcode in warpsmith_isa::Opcode::all() {
            let known = Class::of(opcode.text());
            let misc = opcode.forms().iter().all(|f| f.section().starts_with("9.7.19"));
            assert!(known != Class::Other || misc, "{}", opcode.text());
        }
    }
}
