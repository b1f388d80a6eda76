//! `.version` numbers of PTX (manual section 11.1.1).

use std::fmt;
use std::str::FromStr;

/// A PTX ISA version such as `8.6`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The part before the dot.
    pub major: u8,
    /// The part after the dot.
    pub minor: u8,
}

impl Version {
    /// The newest version the tables describe.
    pub const LATEST: Version = Version::new(9, 5);
    /// The first version with `.address_size`, and therefore the oldest that this crate supports.
    pub const OLDEST: Version = Version::new(2, 3);

    /// Every version from [`Version::OLDEST`] to [`Version::LATEST`], lowest first.
    pub fn known() -> impl Iterator<Item = Version> + Clone {
        // The last minor version of each major one (manual chapter 12).
        [(2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8), (9, 5)]
            .into_iter()
            .flat_map(|(major, last)| (0..=last).map(move |minor| Version { major, minor }))
            .filter(|&version| version >= Version::OLDEST)
    }

    /// `Version::new(8, 6)` is PTX ISA 8.6.
    pub const fn new(major: u8, minor: u8) -> Self {
        Version { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Version {
    type Err = ();

    fn from_str(s: &str) -> Result<Self, ()> {
        let (major, minor) = s.split_once('.').ok_or(())?;
        let number =
            |t: &str| if t.bytes().all(|b| b.is_ascii_digit()) { t.parse().map_err(drop) } else { Err(()) };
        Ok(Version { major: number(major)?, minor: number(minor)? })
    }
}
