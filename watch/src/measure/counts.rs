//! What every operation of a program does, counted: the ground of coverage and profile.

use crate::check::map::MemoryMap;
use crate::measure::profile::memory::AccessCount;
use warpsmith_base::FxHashMap;
use warpsmith_interp::Program;
use warpsmith_interp::engine::{FuncId, Statement};
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, Executions, Interest, LaunchView, Observer, Stage,
};
use warpsmith_isa::{Class, Operation, StateSpace};

/// Outcomes of a conditional branch.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Outcomes {
    /// Threads that jumped.
    pub taken: u64,
    /// Threads that did not.
    pub not_taken: u64,
    /// Executions after which threads that were together were at different places.
    pub divergent: u64,
}

/// Outcomes of a jump through a table.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TableOutcomes {
    /// How many threads took each entry.
    pub entries: Vec<u64>,
    /// Executions in which threads that were together took different entries.
    pub divergent: u64,
}

/// What is counted of an operation: its executions, its outcomes as a branch, and one more than the place of its accesses among all.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    executions: Executions,
    outcomes: Outcomes,
    accesses: u32,
}

/// The parameters of a launch that was counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchShape {
    /// The kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
}

/// Counts launches of one program, and their accesses to memory if asked to.
///
/// ```
/// use warpsmith_interp::{Device, Launch, Program};
/// use warpsmith_ptx::ValidatedModule;
/// use warpsmith_watch::{Counts, Coverage, Sources};
/// let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .pred %p;\n.reg .b32 %r;
/// mov.u32 %r, %tid.x;\nsetp.lt.u32 %p, %r, 8;\n@%p bra low;\nmov.u32 %r, 1;\nlow: ret;\n}\n";
/// let module = ValidatedModule::parse(text).unwrap();
/// let program = Program::load(&module).unwrap();
/// let mut counts = Counts::coverage();
/// Device::new().launch_observed(&program, &Launch::new("k").block([32, 1, 1]), &mut counts).unwrap();
/// let sources = Sources::new("k.ptx", text, &module);
/// let coverage = Coverage::new(&program, &counts, &sources);
/// assert_eq!(coverage.line(10).unwrap().executions.threads, 24);
/// assert_eq!(coverage.line(9).unwrap().branch.unwrap().divergent, 1);
/// ```
#[derive(Clone, Default, Debug)]
pub struct Counts {
    operations: Vec<Tally>,
    /// Jumps of threads through a table, by the operation and the number of the entry.
    entries: FxHashMap<(u32, u32), u64>,
    memory: Option<Vec<AccessCount>>,
    last_sector: (u64, u64),
    launches: Vec<LaunchShape>,
    /// The memory of the last launch, where accesses are counted.
    map: Option<MemoryMap>,
}

impl Counts {
    /// Counts executions and branches.
    pub fn coverage() -> Counts {
        Counts::default()
    }

    /// Counts what accesses to memory do as well.
    pub fn profile() -> Counts {
        Counts { memory: Some(Vec::new()), ..Counts::default() }
    }

    /// The launches.
    pub fn launches(&self) -> &[LaunchShape] {
        &self.launches
    }

    /// Executions of an operation.
    pub fn executions(&self, pc: u32) -> Executions {
        self.operations.get(pc as usize).map_or_else(Executions::default, |tally| tally.executions)
    }

    /// True if accesses to memory are counted.
    pub fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// The accesses to memory of an operation, if it has made any and they were counted.
    pub fn accesses(&self, pc: u32) -> Option<&AccessCount> {
        let place = self.operations.get(pc as usize)?.accesses.checked_sub(1)?;
        self.memory.as_ref()?.get(place as usize)
    }

    fn accesses_mut(&mut self, pc: u32, space: StateSpace) -> Option<&mut AccessCount> {
        let (operation, memory) = (self.operations.get_mut(pc as usize)?, self.memory.as_mut()?);
        if operation.accesses == 0 {
            memory.push(AccessCount::new(space));
            operation.accesses = memory.len() as u32;
        }
        memory.get_mut(operation.accesses as usize - 1)
    }

    /// The counts of the statements of a program, in the order of its code.
    pub fn statements<'p>(&self, program: &'p Program) -> Vec<StatementCount<'p>> {
        let known = program.statements().iter().filter(|s| s.head < s.end);
        known.map(|statement| self.statement(program, statement)).collect()
    }

    fn statement<'p>(&self, program: &'p Program, statement: &'p Statement) -> StatementCount<'p> {
        let head = statement.head;
        let mut executions = self.executions(head);
        let mnemonic = program.mnemonic(head);
        let guarded = program.operation(head).is_some_and(|o| o.guard.is_some());
        let operation = program.instruction(head).map(|i| i.operation());
        let is_branch = operation == Some(Operation::Bra);
        if is_branch {
            // All that come to a branch execute it: its guard only says who jumps.
            executions.threads = executions.lanes;
        }
        let outcomes =
            self.operations.get(statement.end as usize - 1).map_or_else(Outcomes::default, |o| o.outcomes);
        let switches = operation == Some(Operation::BrxIdx);
        let table = switches.then(|| self.table(program, statement)).flatten();
        StatementCount {
            statement,
            class: program.instruction(head).map_or(Class::Other, |i| i.class()),
            mnemonic,
            executions,
            branch: (is_branch && guarded).then_some(outcomes),
            table,
        }
    }

    fn table(&self, program: &Program, statement: &Statement) -> Option<TableOutcomes> {
        use warpsmith_interp::observe::OperationKind;
        let pc = statement.end - 1;
        let OperationKind::Switch { targets } = program.operation(pc)?.kind else { return None };
        let entry = |i: usize| self.entries.get(&(pc, i as u32)).copied().unwrap_or(0);
        let divergent = self.operations.get(pc as usize).map_or(0, |o| o.outcomes.divergent);
        Some(TableOutcomes { entries: (0..targets.len()).map(entry).collect(), divergent })
    }
}

/// What was counted of a statement of PTX.
#[derive(Clone, Debug)]
pub struct StatementCount<'p> {
    /// The statement.
    pub statement: &'p Statement,
    /// Its class.
    pub class: Class,
    /// Its mnemonic, to show it.
    pub mnemonic: &'p str,
    /// Its executions.
    pub executions: Executions,
    /// Of a conditional branch, its outcomes.
    pub branch: Option<Outcomes>,
    /// Of a jump through a table, its outcomes.
    pub table: Option<TableOutcomes>,
}

impl StatementCount<'_> {
    /// The function it is in.
    pub fn function(&self) -> FuncId {
        self.statement.function
    }
}

/// How many lanes a mask names. Whole warps first: hosts without an instruction that counts bits take a dozen for it.
#[inline]
fn ones(mask: u32) -> u64 {
    if mask == u32::MAX { 32 } else { u64::from(mask.count_ones()) }
}

impl Observer for Counts {
    fn interest(&self) -> Interest {
        Interest { accesses: self.memory.is_some(), branches: true, counts: true, ..Interest::RARE }
    }

    fn begin(&mut self, launch: &LaunchView<'_>) {
        let operations = launch.program().operations() as usize;
        if self.operations.len() < operations {
            self.operations.resize(operations, Tally::default());
        }
        let (kernel, grid, block) = (launch.kernel().to_owned(), launch.grid(), launch.block());
        self.launches.push(LaunchShape { kernel, grid, block });
        self.map = self.memory.is_some().then(|| MemoryMap::new(launch));
    }

    fn counted(&mut self, executions: &[Executions]) {
        for (tally, count) in self.operations.iter_mut().zip(executions) {
            tally.executions += *count;
        }
    }

    #[inline]
    fn branch(&mut self, at: &At<'_>, taken: u32) {
        let Some(Tally { outcomes, .. }) = self.operations.get_mut(at.pc as usize) else { return };
        let stay = at.mask & !taken;
        outcomes.taken += ones(taken);
        outcomes.not_taken += ones(stay);
        outcomes.divergent += u64::from(taken != 0 && stay != 0);
    }

    fn switched(&mut self, at: &At<'_>, entry: u32) {
        *self.entries.entry((at.pc, entry)).or_default() += u64::from(at.mask.count_ones());
        // Observed for each entry; counted once.
        if let Some(Tally { outcomes, .. }) = self.operations.get_mut(at.pc as usize)
            && at.mask != at.group
            && at.mask.trailing_zeros() == at.group.trailing_zeros()
        {
            outcomes.divergent += 1;
        }
    }

    #[inline]
    fn access(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &warpsmith_interp::engine::Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        if let Some(count) = self.accesses_mut(at.pc, space) {
            if count.requests == 0 {
                let address = addresses.of(at.mask.trailing_zeros().min(31) as usize);
                let target = self.map.as_ref().and_then(|map| map.target(space, address));
                let Some(count) = self.accesses_mut(at.pc, space) else { return };
                count.target = target;
                return count.add(at.mask, kind, access, space, &addresses);
            }
            count.add(at.mask, kind, access, space, &addresses);
        }
    }

    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        let (Stage::Read(place) | Stage::Written(place) | Stage::Reduced { place, .. }) = stage else {
            return;
        };
        let space = if place.rank.is_some() { StateSpace::Shared } else { StateSpace::Global };
        let mut last = self.last_sector;
        if let Some(count) = self.accesses_mut(at.pc, StateSpace::Global) {
            count.add_transfer(number, &place, space, &mut last);
        }
        self.last_sector = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_interp::{Device, Launch};
    use warpsmith_ptx::ValidatedModule;

    #[test]
    fn jumps_through_tables_diverge_once_an_execution() {
        let kernel = |index: &str| {
            format!(
                ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {{\n.reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\n{index}\n\
                 t: .branchtargets a, b, c;\nbrx.idx %r2, t;\na: bra c;\nb: bra c;\nc: ret;\n}}\n"
            )
        };
        for (index, entries, divergent) in [
            ("and.b32 %r2, %r1, 1;", [32, 32, 0], 2),
            ("shr.u32 %r2, %r1, 5;", [32, 32, 0], 0),
            ("min.u32 %r2, %r1, 2;", [1, 1, 62], 1),
        ] {
            let text = kernel(index);
            let module = ValidatedModule::parse(&text).expect("it is valid");
            let program = Program::load(&module).expect("all of it is executed");
            let mut counts = Counts::coverage();
            let launch = Launch::new("k").block([64, 1, 1]);
            Device::new().launch_observed(&program, &launch, &mut counts).expect("nothing is at fault");
            let found = counts.statements(&program).into_iter().find_map(|s| s.table);
            assert_eq!(found, Some(TableOutcomes { entries: entries.to_vec(), divergent }), "{index}");
        }
    }
}
