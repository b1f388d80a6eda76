//! Releases of ptxas, where the verdict depends on which one is asked.
//!
//! What a `.version` has is the same for all releases that know it, with few exceptions: a later release takes, or refuses, what an earlier one did
//! not, whatever the `.version`. Such a rule is a clause of the tables (`@ptxas 13.1 never if .x`), or of [`Change`] where it is about operands in
//! general. A module is validated either for one release, or for all that support its `.version`: then only what every one of them rejects is an error,
//! and what some refuse is a warning.

use crate::Version;
use std::fmt;
use std::str::FromStr;

/// A release of ptxas such as 13.0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The part before the dot.
    pub major: u8,
    /// The part after the dot.
    pub minor: u8,
}

/// The releases whose verdicts are known, lowest first, with the newest `.version` that each takes.
pub const RELEASES: &[(Release, Version)] = &[
    (Release::new(12, 9), Version::new(8, 8)),
    (Release::new(13, 0), Version::new(9, 0)),
    (Release::new(13, 1), Version::new(9, 1)),
    (Release::new(13, 2), Version::new(9, 2)),
    (Release::new(13, 3), Version::new(9, 3)),
    (Release::new(13, 4), Version::new(9, 4)),
    (Release::new(13, 5), Version::new(9, 5)),
];

impl Release {
    /// The newest one.
    pub const LATEST: Release = Release::new(13, 5);

    /// `Release::new(13, 5)` is that of CUDA 13.5.
    pub const fn new(major: u8, minor: u8) -> Self {
        Release { major, minor }
    }

    /// Every release whose verdicts are known, lowest first.
    pub fn known() -> impl ExactSizeIterator<Item = Release> + Clone {
        RELEASES.iter().map(|&(release, _)| release)
    }

    /// The newest `.version` that it takes; `None` for a release that is not known.
    pub fn version(self) -> Option<Version> {
        RELEASES.iter().find(|(release, _)| *release == self).map(|&(_, version)| version)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Release {
    type Err = ();

    /// Accepts the releases of [`RELEASES`] and no others.
    fn from_str(s: &str) -> Result<Self, ()> {
        Release::known().find(|release| release.to_string() == s).ok_or(())
    }
}

/// Releases from `since` to `until`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReleaseRange {
    /// The first.
    pub since: Option<Release>,
    /// The last.
    pub until: Option<Release>,
}

impl ReleaseRange {
    /// True for a release of the range.
    pub fn contains(self, release: Release) -> bool {
        self.since.is_none_or(|since| release >= since) && self.until.is_none_or(|until| release <= until)
    }
}

impl fmt::Display for ReleaseRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.since, self.until) {
            (Some(since), None) => write!(f, "ptxas {since} and later"),
            (None, Some(until)) => write!(f, "ptxas {until} and earlier"),
            (Some(since), Some(until)) => write!(f, "ptxas {since} to {until}"),
            (None, None) => f.write_str("ptxas"),
        }
    }
}

/// Who holds to a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Demand {
    /// None of the releases in question.
    None,
    /// Some of them: violations are warnings.
    Some,
    /// All of them.
    All,
}

impl Demand {
    /// Who of the releases in question holds to what a range does: `asked` alone, or all that know `version`.
    pub fn of(range: ReleaseRange, version: Version, asked: Option<Release>) -> Demand {
        if let Some(release) = asked {
            return if range.contains(release) { Demand::All } else { Demand::None };
        }
        // What is newer than all of them is read as the newest.
        let version = version.min(Version::LATEST);
        let mut knowing = RELEASES.iter().filter(|(_, newest)| *newest >= version).map(|&(r, _)| r);
        match (knowing.clone().any(|r| range.contains(r)), knowing.all(|r| range.contains(r))) {
            (_, true) => Demand::All,
            (true, false) => Demand::Some,
            (false, false) => Demand::None,
        }
    }
}

/// What later releases of ptxas refuse among operands, and no form of the tables can say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// `{x}` as a scalar `.bf16` or `.bf16x2`: "Vector operand is not allowed".
    BracesOfBf16,
    /// `ld.param::func` of a parameter of a kernel.
    KernelParamAsFunc,
    /// `.target sm_88` below `.version 9.0`.
    Sm88,
}

impl Change {
    /// The releases that refuse it.
    pub const fn refused(self) -> ReleaseRange {
        let since = match self {
            Change::BracesOfBf16 | Change::KernelParamAsFunc | Change::Sm88 => Release::new(13, 1),
        };
        ReleaseRange { since: Some(since), until: None }
    }
}
