//! A launch and its memory, as an observer gets them.

use super::super::context::Context;
use super::super::local::DYNAMIC;
use super::super::op::SymbolId;
use crate::engine::{KernelParam, Program, Schedule};
use crate::memory::window;
use warpsmith_isa::StateSpace;

/// A launch, when it begins and when it ends.
#[derive(Clone, Copy)]
pub struct LaunchView<'a> {
    cx: &'a Context<'a>,
}

/// A block that becomes resident, or whose threads have exited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockView {
    /// `%ctaid`
    pub id: [u32; 3],
    /// The number of its cluster in the grid.
    pub cluster: u64,
    /// Its number in the cluster.
    pub rank: usize,
    /// Its warps.
    pub warps: u32,
    /// Bytes of its shared memory.
    pub shared_bytes: u64,
}

/// Whose a stretch of global memory is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryKind {
    /// An allocation of the host.
    Buffer,
    /// The variables of the program.
    Variables,
    /// The variables of another program.
    OtherVariables,
    /// The heap of kernels: which parts of it a kernel may touch, it has asked `malloc` for.
    Heap,
    /// An allocation that the host has freed.
    Freed,
}

/// A stretch of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Whose.
    pub kind: MemoryKind,
    /// The first address.
    pub start: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The host has not written it: [`Device::alloc_unwritten`](crate::Device::alloc_unwritten).
    pub unwritten: bool,
}

/// A variable of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VariableView<'a> {
    /// Which.
    pub id: SymbolId,
    /// Its name.
    pub name: &'a str,
    /// `Global`, `Const` or `Shared`.
    pub space: StateSpace,
    /// The address in its space.
    pub address: u64,
    /// Its size; what the launch gives for shared memory of dynamic size.
    pub bytes: u64,
    /// Where its declaration starts in the source, in bytes: which of several of its name it is.
    pub declared: Option<u32>,
}

impl<'a> LaunchView<'a> {
    pub(crate) fn new(cx: &'a Context<'a>) -> LaunchView<'a> {
        LaunchView { cx }
    }

    /// What runs.
    pub fn program(&self) -> &'a Program {
        self.cx.program
    }

    /// The name of the kernel.
    pub fn kernel(&self) -> &'a str {
        &self.cx.program.functions[self.cx.kernel as usize].name
    }

    /// Blocks of the grid.
    pub fn grid(&self) -> [u32; 3] {
        self.cx.grid
    }

    /// Threads of a block.
    pub fn block(&self) -> [u32; 3] {
        self.cx.block
    }

    /// Blocks of a cluster; all ones without clusters.
    pub fn cluster(&self) -> [u32; 3] {
        self.cx.cluster_shape()
    }

    /// `%tid` of a thread by its number in the block, which is 32 times the number of its warp plus its lane.
    pub fn thread(&self, number: u32) -> [u32; 3] {
        self.cx.thread_id(number)
    }

    /// The seed that decides the interleaving, if one does.
    pub fn seed(&self) -> Option<u64> {
        self.cx.seed
    }

    /// The schedule, if the launch has one.
    pub fn schedule(&self) -> Option<Schedule> {
        self.cx.schedule
    }

    /// Bytes of shared memory of a block, the dynamic part included.
    pub fn shared_bytes(&self) -> u64 {
        self.cx.shared_bytes()
    }

    /// The parameters of the kernel.
    pub fn params(&self) -> &'a [KernelParam] {
        self.cx.program.functions[self.cx.kernel as usize].kernel.as_ref().map_or(&[], |k| &k.params)
    }

    /// The bytes of the arguments, as they lie in parameter space.
    pub fn arguments(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.cx.params.len()];
        self.cx.params.read(0, &mut bytes);
        bytes
    }

    /// All of global memory, and what of it was freed.
    pub fn memory(&self) -> Vec<Memory> {
        let live = self.cx.global.allocations().map(|a| {
            let kind = if a.heap {
                MemoryKind::Heap
            } else if a.start == self.cx.globals {
                MemoryKind::Variables
            } else if a.variables {
                MemoryKind::OtherVariables
            } else {
                MemoryKind::Buffer
            };
            Memory { kind, start: a.start, bytes: a.len, unwritten: a.unwritten }
        });
        let freed = self.cx.global.freed().iter();
        live.chain(freed.map(|&(start, bytes)| Memory {
            kind: MemoryKind::Freed,
            start,
            bytes,
            unwritten: false,
        }))
        .collect()
    }

    /// The blocks that kernels hold from `malloc`: address and size.
    pub fn heap(&self) -> Vec<(u64, u64)> {
        self.cx.heap.map_or_else(Vec::new, |heap| heap.blocks())
    }

    /// The variables of the program, without those in shared memory that the kernel does not reach.
    pub fn variables(&self) -> impl Iterator<Item = VariableView<'a>> {
        let (globals, dynamic) = (self.cx.globals, u64::from(self.cx.dynamic_shared));
        let kernel = self.cx.program.functions[self.cx.kernel as usize].kernel.as_ref();
        self.cx.program.variables.iter().zip(0..).filter_map(move |(p, number)| {
            let space = p.variable.space;
            let address = match space {
                StateSpace::Shared => kernel?.shared.offset(SymbolId(number))?,
                StateSpace::Global => globals + p.offset,
                StateSpace::Generic
                | StateSpace::Reg
                | StateSpace::Sreg
                | StateSpace::Const
                | StateSpace::Local
                | StateSpace::Param
                | StateSpace::Tex => p.offset,
            };
            let bytes = if p.variable.dynamic { dynamic } else { p.variable.bytes };
            let declared = p.variable.declared;
            Some(VariableView {
                id: SymbolId(number),
                name: &p.variable.name,
                space,
                address,
                bytes,
                declared,
            })
        })
    }
}

/// Where the local addresses start that `alloca` gives: above every frame.
pub const ALLOCA: u64 = DYNAMIC;

/// The block of the cluster that a shared address names, if it names one and not the executing block's own memory, and the offset there.
pub const fn shared_owner(address: u64) -> (Option<usize>, u64) {
    window::member(address)
}

/// The space that a generic address is in, and the address there.
pub const fn classify(address: u64) -> (StateSpace, u64) {
    window::classify(address)
}

/// The space of an address and its offset there; a generic address says itself which space it is in.
pub fn locate(space: StateSpace, address: u64) -> (StateSpace, u64) {
    window::locate(space, address)
}

/// What is added to an address of a space to make it generic; `None` for spaces without addresses.
pub const fn window(space: StateSpace) -> Option<u64> {
    window::base(space)
}
