//! Which PTX register each virtual register lives in, and the moves that replace block parameters.
//!
//! A virtual register has one home for its whole life, so the only code that allocation adds is moves on control-flow edges.
//! Two strategies give the homes ([`Registers`]); the same checker (`check`) checks both.

mod allocated;
mod check;
mod cycles;
mod liveness;
mod local;
mod moves;
#[cfg(debug_assertions)]
mod oracle;
mod slots;
mod unset;
mod unwritten;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use warpsmith_lower::mach::{Edge, Function, RegClass, VReg};

pub use check::{Conflict, check};
pub use liveness::Liveness;
pub use moves::sequentialize;
pub use unwritten::Unwritten;

/// How virtual registers become PTX registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registers {
    /// Each virtual register is a PTX register; every edge moves every block parameter.
    Virtual,
    /// Values across blocks that are never live together share registers as `regalloc2` has them do, and moves are coalesced away; values within a block
    /// are done as by `Local`, and so are functions of many blocks.
    Allocated,
    /// Values that are used in their own block only share registers, in time linear in the function.
    Local,
    /// As by `Allocated`, but only values that a move would join share a register: for debuggers, to whom a variable is gone when another
    /// value is put into its register.
    Joined,
}

/// A PTX register: the `index`th of its class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg {
    /// Its class.
    pub class: RegClass,
    /// Its number in the class.
    pub index: u32,
}

/// A register for each virtual register of a function.
#[derive(Clone, Debug)]
pub struct Assignment {
    index: SecondaryMap<VReg, u32>,
    /// Registers in use, by class, in the order of [`RegClass::ALL`].
    pub counts: [u32; RegClass::COUNT],
}

/// Not yet given a register.
const UNASSIGNED: u32 = u32::MAX;

impl Assignment {
    fn empty(func: &Function) -> Self {
        let mut index = SecondaryMap::with_default(UNASSIGNED);
        index.resize(func.vregs.len());
        Assignment { index, counts: [0; RegClass::COUNT] }
    }

    /// The home of a virtual register.
    pub fn reg(&self, func: &Function, vreg: VReg) -> Reg {
        Reg { class: func.vregs[vreg], index: self.index[vreg] }
    }

    /// A register of the class that no value has.
    pub fn fresh(&mut self, class: RegClass) -> Reg {
        let count = &mut self.counts[class as usize];
        *count += 1;
        Reg { class, index: *count - 1 }
    }

    /// The moves of an edge as a parallel assignment (destination, source), without those that coalescing removed.
    pub fn edge_moves(&self, func: &Function, edge: Edge, moves: &mut Vec<(Reg, Reg)>) {
        moves.clear();
        let params = func.params(edge.target).iter();
        moves.extend(
            params
                .zip(func.edge_args(edge))
                .map(|(&to, &from)| (self.reg(func, to), self.reg(func, from)))
                .filter(|(to, from)| to != from),
        );
    }
}

/// Beyond so many blocks values share no registers across them: of `regalloc2`, which builds with assertions ask too, the time is quadratic in them.
const MAX_BLOCKS: usize = 4_000;

/// Gives every virtual register a home. A function that reads what it has not written may have none that is read, or else any.
pub fn assign(func: &Function, registers: Registers) -> Result<Assignment, Unwritten> {
    let registers = match registers {
        // Accumulators go round loops in one register.
        Registers::Virtual | Registers::Local if func.background => Registers::Joined,
        Registers::Virtual | Registers::Local | Registers::Allocated | Registers::Joined => registers,
    };
    let mut assignment = match registers {
        Registers::Virtual => virtual_registers(func),
        Registers::Allocated if func.layout.len() > MAX_BLOCKS => local::allocate(func),
        Registers::Local => local::allocate(func),
        Registers::Joined => joined(func, &assign(func, Registers::Allocated)?),
        Registers::Allocated => match allocated::allocate(func) {
            Some(assignment) => assignment,
            // The allocator takes no function that reads what is not written, and every other that is known.
            None => unwritten::find(func).map_or_else(|| Ok(virtual_registers(func)), Err)?,
        },
    };
    cycles::open(func, &mut assignment);
    for &vreg in &func.apart {
        if assignment.index[vreg] != UNASSIGNED {
            assignment.index[vreg] = assignment.fresh(func.vregs[vreg]).index;
        }
    }
    unset::keep_apart(func, &mut assignment);
    unwritten::check_homes(func, &assignment)?;
    Ok(assignment)
}

/// Numbers follow the order of definitions in the text.
fn virtual_registers(func: &Function) -> Assignment {
    let mut assignment = Assignment::empty(func);
    for &block in &func.layout {
        let defined = func.block_insts(block).iter().flat_map(|inst| func.inst_operands(inst));
        let params = func.params(block).iter().copied();
        params.chain(defined.filter_map(|operand| operand.defined())).for_each(|vreg| {
            assignment.index[vreg] = assignment.fresh(func.vregs[vreg]).index;
        });
    }
    assignment
}

/// The assignment in which values share a register only if they do in `shared` and edges lead from one to the other.
///
/// A move that `shared` does not need is not needed here either, so the code is the same but for the numbers of its registers.
fn joined(func: &Function, shared: &Assignment) -> Assignment {
    let mut sets = Sets::of_edges(func, shared);
    let separate = virtual_registers(func);
    let mut assignment = Assignment::empty(func);
    let mut order: Vec<VReg> = func.vregs.keys().filter(|&vreg| separate.index[vreg] != UNASSIGNED).collect();
    order.sort_by_key(|&vreg| (separate.index[vreg], vreg));
    for vreg in order {
        let first = sets.find(vreg);
        if assignment.index[first] == UNASSIGNED {
            assignment.index[first] = assignment.fresh(func.vregs[first]).index;
        }
        assignment.index[vreg] = assignment.index[first];
    }
    assignment
}

/// Sets of virtual registers; each is named by one of its members.
struct Sets {
    parent: PrimaryMap<VReg, VReg>,
}

impl Sets {
    /// Those that share a register and that edges lead from one to the other.
    fn of_edges(func: &Function, shared: &Assignment) -> Sets {
        let mut sets = Sets { parent: func.vregs.keys().collect() };
        for edge in func.layout.iter().flat_map(|&block| func.successors(block)) {
            for (&to, &from) in func.params(edge.target).iter().zip(func.edge_args(edge)) {
                if shared.reg(func, to) == shared.reg(func, from) {
                    sets.join(to, from);
                }
            }
        }
        sets
    }

    fn find(&mut self, mut vreg: VReg) -> VReg {
        while self.parent[vreg] != vreg {
            self.parent[vreg] = self.parent[self.parent[vreg]];
            vreg = self.parent[vreg];
        }
        vreg
    }

    fn join(&mut self, a: VReg, b: VReg) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a] = b;
    }
}
