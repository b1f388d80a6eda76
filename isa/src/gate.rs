//! Which `.version` and `.target` something needs.

use crate::form::Rows;
use crate::{Demand, Mod, Release, ReleaseRange, Target, Variant, Version};
use std::fmt;

/// A set of targets, as gates write them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetRange {
    /// For `sm_80` it and everything later; for `sm_100f` it and the later members of its family, also as `a` targets; for `sm_90a`
    /// it alone.
    From(Target),
    /// Every base number up to this one.
    UpTo(u16),
    /// Every number between, both included.
    Between(u16, u16),
}

impl TargetRange {
    /// True when the target is in the set.
    pub fn contains(self, target: Target) -> bool {
        match self {
            TargetRange::From(Target { sm, variant: Variant::Base }) => target.sm >= sm,
            TargetRange::From(from) => from.features_reach(target),
            TargetRange::UpTo(last) => target.sm <= last,
            TargetRange::Between(first, last) => (first..=last).contains(&target.sm),
        }
    }
}

impl Target {
    /// True when code for `self` runs on `other`: everything later for a base target, the later members of the family for an `f`
    /// target, itself alone for an `a` target (PTX ISA 9.0, 11.1.2).
    pub fn features_reach(self, other: Target) -> bool {
        match self.variant {
            Variant::Base => other.sm >= self.sm,
            Variant::Arch => self == other,
            Variant::Family => {
                other.variant != Variant::Base && self.family() == other.family() && other.sm >= self.sm
            }
        }
    }
}

/// Versions from `since` to `until`, both included, on any of the targets (none listed: all of them).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The first version.
    pub since: Option<Version>,
    /// The last version.
    pub until: Option<Version>,
    /// The targets.
    pub targets: Rows<TargetRange>,
}

impl Condition {
    /// True when it holds.
    pub fn allows(&self, version: Version, target: Target) -> bool {
        self.since.is_none_or(|since| version >= since)
            && self.until.is_none_or(|until| version <= until)
            && (self.targets.is_empty() || self.targets.iter().any(|range| range.contains(target)))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(since) = self.since {
            write!(f, ".version {since} or later")?;
            separator = " and ";
        }
        if let Some(until) = self.until {
            write!(f, "{separator}.version {until} or earlier")?;
            separator = " and ";
        }
        if !self.targets.is_empty() {
            write!(f, "{separator}.target ")?;
        }
        for (i, range) in self.targets.iter().enumerate() {
            let or = if i == 0 { "" } else { ", " };
            match range {
                TargetRange::From(t @ Target { variant: Variant::Base, .. }) => {
                    write!(f, "{or}{t} or higher")?
                }
                TargetRange::From(t @ Target { variant: Variant::Family, .. }) => {
                    write!(f, "{or}{t} or higher in its family")?
                }
                TargetRange::From(t) => write!(f, "{or}{t}")?,
                TargetRange::UpTo(last) => write!(f, "{or}sm_{last} or lower")?,
                TargetRange::Between(first, last) => write!(f, "{or}sm_{first} to sm_{last}")?,
            }
        }
        Ok(())
    }
}

/// One of the conditions must hold, where certain modifiers are present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clause {
    /// The conditions; none means that there is no such instruction.
    pub any: Rows<Condition>,
    /// The modifiers that must all be there for the clause to count.
    pub when: Rows<Mod>,
    /// True for what the manual asks and ptxas does not.
    pub advisory: bool,
    /// The releases of ptxas that ask for it; `None`: all.
    pub releases: Option<ReleaseRange>,
}

impl Clause {
    /// True when one of the conditions holds.
    pub fn allows(&self, version: Version, target: Target) -> bool {
        self.any.iter().any(|condition| condition.allows(version, target))
    }

    /// Which of the releases of ptxas that a module of this version is validated for enforce it: one of them, or all that know the version.
    pub fn demand(&self, version: Version, asked: Option<Release>) -> Demand {
        match self.releases {
            _ if self.advisory => Demand::None,
            Some(range) => Demand::of(range, version, asked),
            None => Demand::All,
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(releases) = self.releases {
            write!(f, "for {releases} ")?;
        }
        if self.any.is_empty() {
            f.write_str("no version")?;
        }
        for (i, condition) in self.any.iter().enumerate() {
            if i > 0 {
                f.write_str(", or ")?;
            }
            write!(f, "{condition}")?;
        }
        Ok(())
    }
}

/// What an instruction needs as a whole: every clause must hold.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Gate {
    pub(crate) clauses: Vec<Clause>,
}

impl Gate {
    /// True when version and target meet every clause.
    pub fn allows(&self, version: Version, target: Target) -> bool {
        let met = |clause: &Clause| {
            clause.allows(version, target)
                || (clause.releases.is_some() && clause.demand(version, None) != Demand::All)
        };
        self.clauses.iter().all(met)
    }

    /// A gate of these clauses.
    pub fn of(clauses: &[Clause]) -> Gate {
        Gate { clauses: clauses.to_vec() }
    }

    /// The clauses.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// The lowest version in which the instruction exists on the target, if it ever does. Counts the version that introduced the target.
    pub fn lowest_version(&self, target: Target) -> Option<Version> {
        let since = target.since()?;
        Version::known().filter(|&v| v >= since).find(|&v| self.allows(v, target))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, clause) in self.clauses.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{clause}")?;
        }
        Ok(())
    }
}
