//! What a run costs: instructions by class and by line, divergence, traffic to memory, conflicts of banks.

pub mod memory;
mod output;

use crate::measure::counts::{Counts, LaunchShape, Outcomes};
use crate::source::{Frame, Sources};
use memory::{AccessCount, Target};
use std::collections::BTreeMap;
use warpsmith_interp::Program;
use warpsmith_interp::observe::Executions;
use warpsmith_isa::Class;
use warpsmith_isa::StateSpace;

/// A profile of launches of a program.
pub struct Profile {
    /// The launches.
    pub launches: Vec<LaunchShape>,
    /// All instructions together.
    pub total: Executions,
    /// The outcomes of all conditional branches together.
    pub branches: Outcomes,
    /// How often warps executed a conditional branch.
    pub branch_executions: u64,
    /// Instructions by class, the most frequent first.
    pub mix: Vec<(Class, Executions)>,
    /// The lines of PTX that have code, in order.
    pub lines: Vec<LineProfile>,
    /// Accesses to memory by space.
    pub spaces: BTreeMap<Space, AccessCount>,
}

/// Kinds of memory that a profile distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Space {
    Global,
    Shared,
    Local,
    Const,
    Param,
}

impl Space {
    fn of(space: StateSpace) -> Space {
        match space {
            StateSpace::Shared => Space::Shared,
            StateSpace::Local => Space::Local,
            StateSpace::Const => Space::Const,
            StateSpace::Param => Space::Param,
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Global
            | StateSpace::Tex => Space::Global,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "const",
            Space::Param => "param",
        }
    }
}

/// A line of PTX.
#[derive(Clone, Debug)]
pub struct LineProfile {
    /// Its number.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// Where it comes from, the innermost inlined function first.
    pub frames: Vec<Frame>,
    /// The class of its first instruction.
    pub class: Class,
    /// The executions of its instructions together.
    pub executions: Executions,
    /// Of conditional branches, their outcomes; of jumps through tables, only how many diverge.
    pub branch: Option<Outcomes>,
    /// Its accesses to memory, if it makes any.
    pub memory: Option<AccessCount>,
    /// What the source, or else the PTX, calls what they go to: a variable, or the parameter that points there.
    pub variable: Option<String>,
}

impl Profile {
    /// What was counted with [`Counts::profile`].
    pub fn new(program: &Program, counts: &Counts, sources: &Sources) -> Profile {
        let mut profile = Profile {
            launches: counts.launches().to_vec(),
            total: Executions::default(),
            branches: Outcomes::default(),
            branch_executions: 0,
            mix: Vec::new(),
            lines: Vec::new(),
            spaces: BTreeMap::new(),
        };
        let mut mix: BTreeMap<Class, Executions> = BTreeMap::new();
        let mut lines: BTreeMap<u32, LineProfile> = BTreeMap::new();
        for count in counts.statements(program) {
            let (class, executions) = (count.class, count.executions);
            let number = count.statement.line;
            profile.total += executions;
            *mix.entry(class).or_default() += executions;
            let line = lines.entry(number).or_insert_with(|| LineProfile {
                line: number,
                text: sources.text(number).to_owned(),
                frames: sources.frames(number).to_vec(),
                class,
                executions: Executions::default(),
                branch: None,
                memory: None,
                variable: None,
            });
            line.executions += executions;
            if let Some(outcomes) = count.branch {
                profile.branch_executions += executions.warps;
                for sum in [&mut profile.branches, line.branch.get_or_insert_default()] {
                    sum.taken += outcomes.taken;
                    sum.not_taken += outcomes.not_taken;
                    sum.divergent += outcomes.divergent;
                }
            }
            if let Some(table) = &count.table {
                profile.branch_executions += executions.warps;
                profile.branches.divergent += table.divergent;
                line.branch.get_or_insert_default().divergent += table.divergent;
            }
            for access in (count.statement.head..count.statement.end).filter_map(|pc| counts.accesses(pc)) {
                let join = |sum: Option<AccessCount>| sum.map_or(access.clone(), |sum| sum.plus(access));
                line.memory = Some(join(line.memory.take()));
                let space = Space::of(access.space);
                let sum = join(profile.spaces.remove(&space));
                profile.spaces.insert(space, sum);
            }
        }
        mix.retain(|_, e| e.warps > 0);
        profile.mix = mix.into_iter().collect();
        profile.mix.sort_by_key(|(_, e)| std::cmp::Reverse(e.warps));
        profile.lines = lines.into_values().collect();
        for line in &mut profile.lines {
            let target = line.memory.as_ref().and_then(|memory| memory.target.as_ref());
            line.variable = target.map(|Target { name, buffer, offset }| {
                sources.variable(name, *buffer, *offset).unwrap_or(name).to_owned()
            });
        }
        profile
    }

    /// Accesses to a kind of memory, if there were any.
    pub fn space(&self, space: Space) -> Option<&AccessCount> {
        self.spaces.get(&space)
    }

    /// The line of a number, if it has code.
    pub fn line(&self, number: u32) -> Option<&LineProfile> {
        let found = self.lines.binary_search_by_key(&number, |l| l.line).ok()?;
        self.lines.get(found)
    }

    /// The lines that warps executed most, the first `most` of them.
    pub fn hottest(&self, most: usize) -> Vec<&LineProfile> {
        let mut lines: Vec<&LineProfile> = self.lines.iter().filter(|l| l.executions.warps > 0).collect();
        lines.sort_by_key(|l| std::cmp::Reverse(l.executions.warps));
        lines.truncate(most);
        lines
    }
}
