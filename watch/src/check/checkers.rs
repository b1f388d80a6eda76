//! The checkers together.

use crate::check::{Init, Memory, Race, Sync};
use crate::report::{Checker, Findings, Report};
use bitflags::bitflags;
use std::str::FromStr;
use warpsmith_interp::observe::Observer;

bitflags! {
    /// Which checkers run.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Selection: u8 {
        /// Accesses to memory.
        const MEMORY = 1;
        /// Uses of values that were never written.
        const INIT = 1 << 1;
        /// Data races.
        const RACE = 1 << 2;
        /// Barriers, masks, and other means of synchronisation.
        const SYNC = 1 << 3;
    }
}

impl From<Checker> for Selection {
    fn from(checker: Checker) -> Selection {
        match checker {
            Checker::Memory => Selection::MEMORY,
            Checker::Init => Selection::INIT,
            Checker::Race => Selection::RACE,
            Checker::Sync => Selection::SYNC,
        }
    }
}

impl FromStr for Selection {
    type Err = String;

    /// `memory,init` or `all`.
    fn from_str(text: &str) -> Result<Selection, String> {
        let names = || Checker::ALL.map(Checker::name).join(", ");
        let mut selection = Selection::empty();
        for word in text.split(',').map(str::trim) {
            let one = |c: &Checker| c.name() == word;
            match (word, Checker::ALL.into_iter().find(one)) {
                ("all", _) => selection = Selection::all(),
                (_, Some(checker)) => selection |= Selection::from(checker),
                _ => return Err(format!("`{word}` is not a checker: {}, or all", names())),
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
            memory: selection.contains(Selection::MEMORY).then(Memory::new),
            init: selection.contains(Selection::INIT).then(Init::new),
            race: selection.contains(Selection::RACE).then(Race::new),
            sync: selection.contains(Selection::SYNC).then(Sync::new),
        }
    }

    /// For the init checker: the buffers that these arguments of the kernel point to have not been written by the host.
    pub fn with_unwritten_arguments(mut self, arguments: &[usize]) -> Checkers {
        self.init = self.init.map(|init| init.with_unwritten_arguments(arguments.iter().copied()));
        self
    }

    /// Sends findings to `to` as they are made.
    pub fn sending_to(self, to: &Findings) -> Checkers {
        Checkers {
            memory: self.memory.map(|checker| checker.sending_to(to)),
            init: self.init.map(|checker| checker.sending_to(to)),
            race: self.race.map(|checker| checker.sending_to(to)),
            sync: self.sync.map(|checker| checker.sending_to(to)),
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
