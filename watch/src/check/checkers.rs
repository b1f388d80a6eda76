//! The checkers together.

use crate::check::{Init, Memory, Race, Sync};
use crate::report::{Checker, Findings, Report};
use std::str::FromStr;
use warpsmith_interp::observe::Observer;

/// Which checkers run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Selection {
    bits: u8,
}

impl Selection {
    /// None.
    pub const NONE: Selection = Selection { bits: 0 };

    /// All.
    pub const ALL: Selection = Selection { bits: (1 << Checker::ALL.len()) - 1 };

    /// This one too.
    pub fn with(self, checker: Checker) -> Selection {
        Selection { bits: self.bits | 1 << checker as u8 }
    }

    /// Whether it runs.
    pub fn has(self, checker: Checker) -> bool {
        self.bits >> checker as u8 & 1 != 0
    }
}

impl FromStr for Selection {
    type Err = String;

    /// `memory,init` or `all`.
    fn from_str(text: &str) -> Result<Selection, String> {
        let names = || Checker::ALL.map(Checker::name).join(", ");
        let mut selection = Selection::NONE;
        for word in text.split(',').map(str::trim) {
            let one = |c: &Checker| c.name() == word;
            match (word, Checker::ALL.into_iter().find(one)) {
                ("all", _) => selection = Selection::ALL,
                (_, Some(checker)) => selection = selection.with(checker),
                _ => return Err(format!("`{word}` is no checker: {}, or all", names())),
            }
        }
        Ok(selection)
    }
}

/// The checkers of a selection.
///
/// ```
/// # use warpsmith_interp::{Device, Launch, Program};
/// use warpsmith_watch::{Checkers, Selection};
/// # fn example(device: &mut Device, program: &Program, launch: &Launch) -> Result<(), Box<dyn std::error::Error>> {
/// let mut checkers = Checkers::new("memory".parse::<Selection>()?);
/// let outcome = device.launch_observed(program, launch, &mut checkers.observer());
/// print!("{}", checkers.into_report().summary());
/// # outcome?;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Checkers {
    memory: Option<Memory>,
    init: Option<Init>,
    race: Option<Race>,
    sync: Option<Sync>,
}

impl Checkers {
    /// With their defaults.
    pub fn new(selection: Selection) -> Checkers {
        Checkers {
            memory: selection.has(Checker::Memory).then(Memory::new),
            init: selection.has(Checker::Init).then(Init::new),
            race: selection.has(Checker::Race).then(Race::new),
            sync: selection.has(Checker::Sync).then(Sync::new),
        }
    }

    /// For the init checker: the buffers that these arguments of the kernel point to have not been written by the host.
    pub fn with_unwritten_arguments(mut self, arguments: &[usize]) -> Checkers {
        self.init = self.init.map(|init| init.with_unwritten_arguments(arguments.iter().copied()));
        self
    }

    /// Has `to` told of findings as they are made.
    pub fn telling(self, to: &Findings) -> Checkers {
        Checkers {
            memory: self.memory.map(|checker| checker.telling(to)),
            init: self.init.map(|checker| checker.telling(to)),
            race: self.race.map(|checker| checker.telling(to)),
            sync: self.sync.map(|checker| checker.telling(to)),
        }
    }

    /// What a launch is to be observed with.
    pub fn observer(&mut self) -> impl Observer + '_ {
        ((self.memory.as_mut(), self.init.as_mut()), (self.race.as_mut(), self.sync.as_mut()))
    }

    /// What they have found, checker by checker.
    pub fn into_report(self) -> Report {
        let mut report = Report::new();
        let Checkers { memory, init, race, sync } = self;
        let found = [
            memory.map(Memory::into_report),
            init.map(Init::into_report),
            race.map(Race::into_report),
            sync.map(Sync::into_report),
        ];
        found.into_iter().flatten().for_each(|found| report.append(found));
        report
    }
}
