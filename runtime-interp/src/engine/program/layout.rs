//! Where variables are: addresses in the spaces of a program, and constants that hold them.

use super::function::{Function, SharedLayout};
use super::variable::{PatchTarget, Variable};
use super::{Program, STACK_ALIGN};
use crate::engine::file::Cell;
use crate::engine::op::{Callee, CandidatesId, FuncId, Op, SymbolId};
use crate::engine::reg::Width;
use crate::memory::bytes::Bytes;
use crate::memory::window;
use warpsmith_base::FxHashSet;
use warpsmith_isa::StateSpace;

/// What a function calls.
#[derive(Default)]
struct Calls {
    direct: Vec<FuncId>,
    indirect: Vec<CandidatesId>,
}

impl Program {
    pub(in crate::engine) fn lay_out(&mut self) -> Result<(), String> {
        for placed in self.variables.iter_mut().filter(|p| p.variable.space != StateSpace::Shared) {
            let constant = placed.variable.space == StateSpace::Const;
            let end = if constant { &mut self.const_bytes } else { &mut self.global_bytes };
            placed.offset = append(end, &placed.variable)?;
        }
        self.lay_out_shared()?;
        for f in &mut self.functions {
            f.stack = f.stack.next_multiple_of(STACK_ALIGN);
        }
        Ok(())
    }

    /// Gives each kernel's shared variables their places. Those whose addresses are in initial values come first, so that the
    /// values hold for all kernels.
    fn lay_out_shared(&mut self) -> Result<(), String> {
        let relocations = self.variables.iter().flat_map(|p| &p.variable.relocations);
        let mut pinned: Vec<SymbolId> = relocations
            .filter_map(|r| match r.target {
                PatchTarget::Variable(v) if self.is_shared(v) => Some(v),
                PatchTarget::Variable(_) | PatchTarget::Function(_) => None,
            })
            .collect();
        pinned.sort_unstable();
        pinned.dedup();
        if pinned.is_empty() && self.functions.iter().all(|f| f.shared.is_empty()) {
            return Ok(());
        }
        let calls: Vec<Calls> = self.functions.iter().map(|f| self.calls(f)).collect();
        for kernel in 0..self.functions.len() {
            if self.functions[kernel].kernel.is_none() {
                continue;
            }
            let (mut reached, mut pending) = (FxHashSet::default(), vec![FuncId(kernel as u32)]);
            let (mut variables, mut sets) = (Vec::new(), FxHashSet::default());
            while let Some(f) = pending.pop() {
                if reached.insert(f) {
                    variables.extend_from_slice(&self.functions[f.0 as usize].shared);
                    let Calls { direct, indirect } = &calls[f.0 as usize];
                    pending.extend_from_slice(direct);
                    let new = indirect.iter().filter(|set| sets.insert(**set));
                    pending.extend(new.flat_map(|set| self.candidates(*set)));
                }
            }
            variables.sort_unstable();
            variables.dedup();
            variables.retain(|v| pinned.binary_search(v).is_err());
            let variables = pinned.iter().copied().chain(variables);
            let (dynamic, fixed): (Vec<_>, Vec<_>) =
                variables.partition(|v| self.variables[v.0 as usize].variable.dynamic);
            let mut layout = SharedLayout::default();
            for v in fixed {
                layout.offsets.push((v, append(&mut layout.bytes, &self.variables[v.0 as usize].variable)?));
            }
            let align =
                dynamic.iter().map(|v| self.variables[v.0 as usize].variable.align).max().unwrap_or(1);
            layout.bytes = layout.bytes.next_multiple_of(align.clamp(1, 1024));
            layout.offsets.extend(dynamic.into_iter().map(|v| (v, layout.bytes)));
            layout.offsets.sort_unstable();
            for &v in &pinned {
                self.variables[v.0 as usize].offset = layout.offset(v).unwrap_or(0);
            }
            if let Some(kernel) = &mut self.functions[kernel].kernel {
                kernel.shared = layout;
            }
        }
        Ok(())
    }

    /// What a function calls: each function, and each set of candidates, once.
    fn calls(&self, function: &Function) -> Calls {
        let code = self.code.get(function.entry as usize..function.end as usize).unwrap_or(&[]);
        let mut calls = Calls::default();
        for inst in code {
            let Op::Call(call) = &inst.op else { continue };
            match call.callee {
                Callee::Direct(f) => calls.direct.push(f),
                Callee::Indirect(_, candidates) => calls.indirect.push(candidates),
            }
        }
        calls.direct.sort_unstable();
        calls.direct.dedup();
        calls.indirect.sort_unstable();
        calls.indirect.dedup();
        calls
    }

    pub(in crate::engine) fn is_shared(&self, variable: SymbolId) -> bool {
        self.variables[variable.0 as usize].variable.space == StateSpace::Shared
    }

    /// The address of a patch target, given where the program's global variables lie.
    pub(crate) fn address_of(&self, target: PatchTarget, addend: i64, generic: bool, globals: u64) -> u64 {
        let address = match target {
            PatchTarget::Function(f) => window::code_address(f.0),
            PatchTarget::Variable(v) => {
                let placed = &self.variables[v.0 as usize];
                let space = placed.variable.space;
                placed.offset
                    + match space {
                        StateSpace::Global => globals,
                        _ if generic => window::base(space).unwrap_or(0),
                        StateSpace::Generic
                        | StateSpace::Reg
                        | StateSpace::Sreg
                        | StateSpace::Const
                        | StateSpace::Local
                        | StateSpace::Param
                        | StateSpace::Shared
                        | StateSpace::Tex => 0,
                    }
            }
        };
        address.wrapping_add_signed(addend)
    }

    /// The constants with all addresses in place but those of shared variables.
    pub(crate) fn resolve_constants(&self, globals: u64) -> Vec<Cell> {
        let mut constants = self.constants.clone();
        for patch in &self.patches {
            let address = self.address_of(patch.target, patch.addend, patch.generic, globals);
            set_constant(&mut constants[patch.row as usize..], u128::from(address), Width::W64);
        }
        constants
    }

    /// Puts a kernel's addresses of shared variables among the constants.
    pub(crate) fn place_shared(&self, kernel: u32, constants: &mut [Cell]) {
        let Some(kernel) = &self.functions[kernel as usize].kernel else { return };
        for patch in &self.patches {
            if let PatchTarget::Variable(v) = patch.target
                && let Some(offset) = kernel.shared.offset(v)
            {
                let base = if patch.generic { window::base(StateSpace::Shared).unwrap_or(0) } else { 0 };
                let address = (base + offset).wrapping_add_signed(patch.addend);
                set_constant(&mut constants[patch.row as usize..], u128::from(address), Width::W64);
            }
        }
    }

    /// Writes the initial bytes of the variables of a space into its memory, which is zero.
    pub(crate) fn initialise(&self, space: StateSpace, globals: u64, memory: &Bytes) {
        for placed in self.variables.iter().filter(|p| p.variable.space == space) {
            let v = &placed.variable;
            let size = usize::try_from(v.bytes).unwrap_or(usize::MAX);
            let place = placed.offset as usize;
            memory.write(place, &v.init[..v.init.len().min(size)]);
            for r in &v.relocations {
                let address = self.address_of(r.target, r.addend, r.generic, globals);
                let bytes = (address >> (r.shift & 63)).to_le_bytes();
                let source = &bytes[..usize::from(r.bytes).min(8)];
                if r.offset.checked_add(source.len() as u64).is_some_and(|end| end <= v.bytes) {
                    memory.write(place + r.offset as usize, source);
                }
            }
        }
    }
}

/// Places a variable behind those that end at `end`.
fn append(end: &mut u64, v: &Variable) -> Result<u64, String> {
    let offset = end.checked_next_multiple_of(v.align.max(1));
    let next = offset.and_then(|o| o.checked_add(v.bytes)).filter(|e| *e <= window::SIZE);
    let (Some(offset), Some(next)) = (offset, next) else {
        let message = format!("variable `{}` does not fit the memory of its space", v.name);
        return Err(message);
    };
    *end = next;
    Ok(offset)
}

/// Writes a value to all lanes of a constant.
pub(super) fn set_constant(rows: &mut [Cell], bits: u128, width: Width) {
    let words = rows.iter_mut().flat_map(|row| row.0.iter_mut());
    match width {
        Width::Pred => rows[0].0[0] = if bits != 0 { u32::MAX } else { 0 },
        Width::W32 => rows[0].0 = [bits as u32; 32],
        Width::W64 | Width::W128 => {
            let per_lane = width.bits() as usize / 32;
            for (i, word) in words.take(width.words() as usize).enumerate() {
                *word = (bits >> (32 * (i % per_lane))) as u32;
            }
        }
    }
}
