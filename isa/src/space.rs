//! State spaces (manual chapter 5.1).

use std::fmt;

/// Where a variable or an address lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum StateSpace {
    /// No space named: the 64-bit window that covers `.global`, `.shared`, `.local`, `.const` and kernel `.param`.
    Generic,
    /// Registers.
    Reg,
    /// Special registers.
    Sreg,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Per-thread memory.
    Local,
    /// Parameters of a kernel, or of a function.
    Param,
    /// Memory of one block, or (`.shared::cluster`) of the blocks of its cluster.
    Shared,
    /// The deprecated texture space.
    Tex,
}

impl StateSpace {
    /// The directive that declares a variable of the space, without the dot: `global`.
    pub const fn name(self) -> &'static str {
        match self {
            StateSpace::Generic => "generic",
            StateSpace::Reg => "reg",
            StateSpace::Sreg => "sreg",
            StateSpace::Const => "const",
            StateSpace::Global => "global",
            StateSpace::Local => "local",
            StateSpace::Param => "param",
            StateSpace::Shared => "shared",
            StateSpace::Tex => "tex",
        }
    }

    /// The inverse of [`StateSpace::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        use StateSpace::*;
        [Generic, Reg, Sreg, Const, Global, Local, Param, Shared, Tex].into_iter().find(|s| s.name() == name)
    }
}

impl fmt::Display for StateSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
