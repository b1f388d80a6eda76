//! `.target` architectures (manual section 11.1.2): which exist, from which version, and who inherits from whom.

use crate::Version;
use std::fmt;
use std::str::FromStr;

/// The suffix of a target name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variant {
    /// `sm_100`: every later architecture runs it.
    Base,
    /// `sm_100f`: family-specific features, run by later members of the family.
    Family,
    /// `sm_100a`: architecture-specific features, run by this architecture alone.
    Arch,
}

/// A target architecture such as `sm_90a`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The number: 90 in `sm_90a`.
    pub sm: u16,
    /// The suffix.
    pub variant: Variant,
}

/// One row of the table of targets.
#[derive(Clone, Copy, Debug)]
pub struct TargetInfo {
    /// The target.
    pub target: Target,
    /// The first `.version` that names it.
    pub since: Version,
}

macro_rules! targets {
    ($($sm:literal $variant:ident $major:literal . $minor:literal,)*) => {
        /// Every target of PTX ISA 9.5 with the first version ptxas accepts it in, lowest first.
        pub const TARGETS: &[TargetInfo] = &[$(TargetInfo {
            target: Target { sm: $sm, variant: Variant::$variant },
            since: Version::new($major, $minor),
        },)*];
    };
}
targets! {
    10 Base 2 . 3,
    11 Base 2 . 3,
    12 Base 2 . 3,
    13 Base 2 . 3,
    20 Base 2 . 3,
    21 Base 2 . 3,
    30 Base 3 . 0,
    32 Base 4 . 0,
    35 Base 3 . 1,
    37 Base 4 . 1,
    50 Base 4 . 0,
    52 Base 4 . 1,
    53 Base 4 . 2,
    60 Base 5 . 0,
    61 Base 5 . 0,
    62 Base 5 . 0,
    70 Base 5 . 1,
    72 Base 6 . 1,
    75 Base 6 . 3,
    80 Base 7 . 0,
    86 Base 7 . 1,
    87 Base 7 . 4,
    88 Base 7 . 3,
    89 Base 7 . 8,
    90 Base 7 . 8,
    90 Arch 8 . 0,
    100 Base 8 . 6,
    100 Arch 8 . 6,
    100 Family 8 . 8,
    101 Base 8 . 6,
    101 Arch 8 . 6,
    101 Family 8 . 8,
    103 Base 8 . 8,
    103 Arch 8 . 8,
    103 Family 8 . 8,
    107 Base 9 . 4,
    107 Arch 9 . 4,
    107 Family 9 . 4,
    110 Base 9 . 0,
    110 Arch 9 . 0,
    110 Family 9 . 0,
    120 Base 8 . 7,
    120 Arch 8 . 7,
    120 Family 8 . 8,
    121 Base 8 . 8,
    121 Arch 8 . 8,
    121 Family 8 . 8,
}

impl Target {
    /// `sm_N` without a suffix.
    pub const fn sm(sm: u16) -> Self {
        Target { sm, variant: Variant::Base }
    }

    /// Every known target, lowest first.
    pub fn all() -> impl ExactSizeIterator<Item = Target> + Clone {
        TARGETS.iter().map(|row| row.target)
    }

    /// The position in [`TARGETS`], or `None` for a target that PTX does not have.
    pub fn index(self) -> Option<usize> {
        TARGETS.iter().position(|row| row.target == self)
    }

    /// The known target that one of a later chip is validated as: the newest of its family that is not above it, with its suffix. `None` for a name of
    /// no known family: families are those that have an `f` target.
    pub fn stand_in(self) -> Option<Target> {
        // A known number without this suffix is a mistake.
        if Target::sm(self.sm).index().is_some() {
            return None;
        }
        let has_features = |t: &Target| Target { variant: Variant::Family, ..*t }.index().is_some();
        TARGETS.iter().map(|row| row.target).rfind(|t| {
            t.variant == self.variant && t.sm < self.sm && has_features(t) && t.family() == self.family()
        })
    }

    /// What the members of a family share: their tens. `sm_101` was renamed to `sm_110`.
    pub(crate) fn family(self) -> u16 {
        if self.sm == 101 { 110 } else { self.sm / 10 * 10 }
    }

    /// The first `.version` that names the target.
    pub fn since(self) -> Option<Version> {
        self.index().map(|i| TARGETS[i].since)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.variant {
            Variant::Base => "",
            Variant::Family => "f",
            Variant::Arch => "a",
        };
        write!(f, "sm_{}{suffix}", self.sm)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Target {
    type Err = ();

    /// Accepts the names of [`TARGETS`] and no others.
    fn from_str(s: &str) -> Result<Self, ()> {
        TARGETS.iter().map(|row| row.target).find(|t| t.to_string() == s).ok_or(())
    }
}
