//! How much of the variables a debugger will be able to show, as `llvm-dwarfdump --statistics` counts.

use super::Storage;
use crate::entities::ScopeId;
use crate::function::Function;

/// Counts over functions with debug information.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DebugStatistics {
    /// Variables, parameters included.
    pub variables: u64,
    /// Those that are somewhere at some point.
    pub located: u64,
    /// Instructions in the scopes of variables, once for each variable.
    pub scope_instructions: u64,
    /// Those where the variable is somewhere.
    pub covered_instructions: u64,
    /// Instructions.
    pub instructions: u64,
    /// Those with a line.
    pub with_line: u64,
}

impl std::ops::AddAssign for DebugStatistics {
    fn add_assign(&mut self, other: Self) {
        self.variables += other.variables;
        self.located += other.located;
        self.scope_instructions += other.scope_instructions;
        self.covered_instructions += other.covered_instructions;
        self.instructions += other.instructions;
        self.with_line += other.with_line;
    }
}

impl std::fmt::Display for DebugStatistics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share =
            |part: u64, whole: u64| if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 };
        writeln!(
            f,
            "{:>7} variables, {} with a location ({:.0} %)",
            self.variables,
            self.located,
            share(self.located, self.variables)
        )?;
        writeln!(
            f,
            "{:>7} instructions in scopes of variables, {} covered by locations ({:.0} %)",
            self.scope_instructions,
            self.covered_instructions,
            share(self.covered_instructions, self.scope_instructions)
        )?;
        writeln!(
            f,
            "{:>7} instructions, {} with a source line ({:.0} %)",
            self.instructions,
            self.with_line,
            share(self.with_line, self.instructions)
        )
    }
}

impl DebugStatistics {
    /// Adds a variable: how many instructions its scope has, and at how many of them it is somewhere.
    pub fn variable(&mut self, scope: u64, covered: u64) {
        self.variables += 1;
        self.located += u64::from(covered > 0);
        self.scope_instructions += scope;
        self.covered_instructions += covered.min(scope);
    }
}

impl Function {
    /// What a binding names now: a value that no instruction computes any more, and none of whose pieces is known otherwise, is
    /// optimised out; a constant is one.
    pub fn storage(&self, storage: Storage) -> Storage {
        let Some(value) = storage.value() else { return storage };
        let value = self.dfg.resolve(value);
        let constant =
            self.dfg.int_const(value).or_else(|| self.dfg.float_const(value).map(|bits| bits as i64));
        let alive = match self.dfg.def(value) {
            crate::ValueDef::Result(inst, _) => self.layout.block_of(inst).is_some(),
            crate::ValueDef::Param(block, _) => self.layout.is_block_inserted(block),
            crate::ValueDef::Alias(_) | crate::ValueDef::Detached => false,
        };
        match (storage, constant) {
            (Storage::Value(_), Some(bits)) => Storage::Constant(bits),
            _ if !alive => Storage::OptimizedOut,
            (Storage::Memory(_, offset), _) => match self.dfg.def_data(value) {
                // An address that is known by name needs no register.
                Some(&crate::InstData::StackAddr { slot, offset: by }) => match offset.checked_add(by) {
                    Some(sum) => Storage::Slot(slot, sum),
                    None => Storage::Memory(value, offset),
                },
                Some(&crate::InstData::GlobalAddr { global, offset: by }) => match offset.checked_add(by) {
                    Some(sum) => Storage::Global(global, sum),
                    None => Storage::Memory(value, offset),
                },
                _ => Storage::Memory(value, offset),
            },
            _ => Storage::Value(value),
        }
    }

    /// The scope of an instruction's source location, if it has one.
    pub fn scope_of(&self, inst: crate::Inst) -> Option<ScopeId> {
        let loc = self.inst_locs[inst].expand()?;
        self.locs.get(loc)?.scope
    }
}
