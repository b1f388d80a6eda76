//! A run that stands still between two instructions, with everything that is resident in the hands of an observer.

use super::super::block::Block;
use super::super::cluster::Cluster;
use super::super::context::Context;
use super::super::lanes::Lane;
use super::super::local::DYNAMIC;
use super::super::op::FuncId;
use super::super::reg::{Reg, Width};
use super::super::run::{Fallible, Runner};
use super::super::special::Special;
use super::super::values::put;
use super::super::warp::{State, Warp};
use super::{FrameView, LaunchView, Registers};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use crate::memory::window;
use std::collections::VecDeque;
use warpsmith_isa::StateSpace;

/// A resident warp.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WarpId {
    /// `%ctaid`
    pub block: [u32; 3],
    /// Its number in the block.
    pub warp: u32,
}

/// How a run goes on that stood still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// As it would have without the stop.
    Run,
    /// With a turn of one warp alone, as long as it can run, and then as it would have.
    Turn(WarpId),
    /// Not at all: the launch ends with [`FaultCode::Interrupted`].
    End,
}

/// What lanes wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Waits {
    /// Nothing: they can run.
    Nothing,
    /// The other lanes of this mask, at a warp-level instruction.
    Lanes(u32),
    /// A barrier of the block: the rest of their warp, or (`arrived`) the other warps.
    Barrier {
        /// Which.
        id: u8,
        /// The warp has arrived.
        arrived: bool,
    },
    /// A phase of an mbarrier object.
    Mbarrier,
    /// The barrier of the cluster.
    Cluster,
}

/// Lanes of a warp that are at the same instruction, with the same calls behind them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Which.
    pub mask: u32,
    /// The operation that they execute next; while they wait, the one that they wait in.
    pub pc: u32,
    /// What they wait for.
    pub waits: Waits,
}

/// An activation of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Of which function.
    pub function: FuncId,
    /// What it executes next, or the call that it has made.
    pub pc: u32,
    /// Where it lies.
    pub place: FrameView,
}

/// Everything that is resident: the cluster that runs, and those that have started and wait for their turn.
pub struct View<'v> {
    cx: &'v Context<'v>,
    clusters: Vec<&'v mut Cluster>,
    running: Option<WarpId>,
    /// Something was changed.
    changed: bool,
}

impl<'v> View<'v> {
    pub(in crate::engine) fn new(
        cx: &'v Context<'v>,
        cluster: &'v mut Cluster,
        others: &'v mut VecDeque<Cluster>,
        running: Option<WarpId>,
    ) -> View<'v> {
        View { cx, clusters: std::iter::once(cluster).chain(others).collect(), running, changed: false }
    }

    /// The launch and its memory.
    pub fn launch(&self) -> LaunchView<'_> {
        LaunchView::new(self.cx)
    }

    /// The warp that was about to execute an instruction, unless the run has come to an end.
    pub fn running(&self) -> Option<WarpId> {
        self.running
    }

    /// Clusters that have not started.
    pub fn clusters_to_come(&self) -> u64 {
        self.cx.clusters().saturating_sub(self.cx.next.load(std::sync::atomic::Ordering::Relaxed))
    }

    /// The number of the cluster that a resident block belongs to, in the grid, and the block's number in it.
    pub fn cluster_of(&self, block: [u32; 3]) -> Option<(u64, usize)> {
        self.find(block).map(|(c, rank)| (self.clusters[c].number, rank))
    }

    /// The resident blocks, those of the running cluster first, and by their place in the grid.
    pub fn blocks(&self) -> Vec<[u32; 3]> {
        let members = self.clusters.iter().flat_map(|c| &c.state.members);
        let mut blocks: Vec<[u32; 3]> = members.filter(|m| !m.gone.get()).map(|m| m.id).collect();
        blocks.sort_by_key(|[x, y, z]| [*z, *y, *x]);
        blocks
    }

    /// The resident warps, block by block; among them those whose threads have exited.
    pub fn warps(&self) -> Vec<WarpId> {
        let warps = self.cx.warps();
        self.blocks()
            .into_iter()
            .flat_map(|block| (0..warps).map(move |warp| WarpId { block, warp }))
            .collect()
    }

    /// The lanes of a warp that have not exited.
    pub fn alive(&self, id: WarpId) -> u32 {
        self.warp(id).map_or(0, |w| w.alive)
    }

    /// The lanes of a warp by where they are.
    pub fn lanes(&self, id: WarpId) -> Vec<Lanes> {
        let groups = self.warp(id).map(|w| w.groups.as_slice()).unwrap_or_default();
        let groups = groups.iter().map(|g| {
            let waits = match g.state {
                State::Ready => Waits::Nothing,
                State::Collective(mask) => Waits::Lanes(mask),
                State::Barrier { id, arrived } => Waits::Barrier { id, arrived },
                State::Mbarrier { .. } => Waits::Mbarrier,
                State::Cluster => Waits::Cluster,
            };
            Lanes { mask: g.mask, pc: g.pc, waits }
        });
        groups.collect()
    }

    /// Instructions that a warp has executed.
    pub fn executed(&self, id: WarpId) -> u64 {
        self.warp(id).map_or(0, |w| w.executed)
    }

    /// A warp can execute an instruction.
    pub fn can_run(&self, id: WarpId) -> bool {
        self.warp(id).is_some_and(Warp::runnable)
    }

    /// The activations that a lane is in, the innermost first; none if it has exited.
    pub fn frames(&self, id: WarpId, lane: u32) -> Vec<Frame> {
        let Some((warp, group)) = self.warp(id).and_then(|w| {
            let group = w.groups.iter().find(|g| g.mask.checked_shr(lane).is_some_and(|m| m & 1 != 0))?;
            Some((w, group))
        }) else {
            return Vec::new();
        };
        let (mut at, mut pc, mut frames) = (group.frame, group.pc, Vec::new());
        while at != u32::MAX {
            let activation = warp.activation(at);
            frames.push(Frame { function: FuncId(activation.function), pc, place: activation.place() });
            (at, pc) = (activation.parent, activation.call);
        }
        frames
    }

    /// The bits of a register of a frame of a lane; `None` if the lane has no such frame, zero if the function has no such register.
    pub fn register(&mut self, id: WarpId, lane: u32, frame: usize, r: Reg) -> Option<u128> {
        let Frame { function, place, .. } = *self.frames(id, lane).get(frame)?;
        let constants = self.cx.constants;
        let warp = self.warp_mut(id)?;
        let file = warp.frame(place, constants);
        Some(Registers::new(file, constants, place, function).get(r, lane as usize))
    }

    /// Changes a register of a frame of a lane; false if there is none. What the register has no room for is cut off.
    #[must_use]
    pub fn set_register(&mut self, id: WarpId, lane: u32, frame: usize, r: Reg, bits: u128) -> bool {
        let Some(Frame { place, .. }) = self.frames(id, lane).get(frame).copied() else { return false };
        let end = u64::from(r.offset()) + u64::from(r.width().words());
        if r.is_constant() || end > u64::from(place.rows) * 32 {
            return false;
        }
        let constants = self.cx.constants;
        let Some(warp) = self.warp_mut(id) else { return false };
        let file = warp.frame(place, constants);
        if r.width() == Width::W128 {
            // SAFETY: the register lies within the frame, as was just checked, and is of this width.
            unsafe { u128::set(file, r, 1 << lane, &[bits; 32]) }
        } else {
            put(file, r, 1 << lane, &[bits as u64; 32]);
        }
        self.changed = true;
        true
    }

    /// The value of a special register in a lane, as an instruction would read it now.
    pub fn special(&self, id: WarpId, lane: u32, special: Special) -> Option<u64> {
        let (c, rank) = self.find(id.block)?;
        let clock = self.clusters[c].blocks[rank].executed();
        self.cx.special(id.block, id.warp, clock, special).get(lane as usize).copied()
    }

    /// Reads memory as a lane would, at an address of a space; what is wrong if it cannot be read.
    pub fn read(
        &self,
        id: WarpId,
        lane: u32,
        space: StateSpace,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), String> {
        match self.memory(id, space, address, into.len() as u64)? {
            Stretch::Global(bytes, at) => bytes.load_relaxed(at, into),
            Stretch::Plain(bytes, at) => bytes.read(at, into),
            Stretch::Lane { warp, dynamic, at } => {
                let memory = if dynamic { &warp.dynamic } else { &warp.local };
                memory.read(lane as usize & 31, at, into);
            }
        }
        Ok(())
    }

    /// Writes memory as a lane would, and constants and parameters too, which a kernel cannot.
    pub fn write(
        &mut self,
        id: WarpId,
        lane: u32,
        space: StateSpace,
        address: u64,
        from: &[u8],
    ) -> Result<(), String> {
        match self.memory(id, space, address, from.len() as u64)? {
            Stretch::Global(bytes, at) => bytes.store_relaxed(at, from),
            Stretch::Plain(bytes, at) => bytes.write(at, from),
            Stretch::Lane { warp, dynamic, at } => {
                let memory = if dynamic { &warp.dynamic } else { &warp.local };
                memory.write(lane as usize & 31, at, from);
            }
        }
        self.changed = true;
        Ok(())
    }

    fn memory(&self, id: WarpId, space: StateSpace, address: u64, len: u64) -> Result<Stretch<'_>, String> {
        let (space, address) = window::locate(space, address);
        let plain = |bytes: &'_ Bytes| {
            let end = address.checked_add(len).filter(|end| *end <= bytes.len() as u64);
            end.map(|_| address as usize)
                .ok_or_else(|| format!("the .{space} memory of the launch is {} bytes", bytes.len()))
        };
        match space {
            StateSpace::Global => match self.cx.global_at(address) {
                Some((bytes, at, rest)) if len <= rest => Ok(Stretch::Global(bytes, at)),
                _ => Err(self.cx.describe_global(address, len)),
            },
            StateSpace::Shared => {
                let gone = || format!("block {:?} is not resident", id.block);
                let (c, rank) = self.find(id.block).ok_or_else(gone)?;
                let state = &self.clusters[c].state;
                let (owner, at) = state.locate(rank, address, len, true)?;
                Ok(Stretch::Plain(&state.members[owner].memory, at))
            }
            StateSpace::Const => Ok(Stretch::Plain(self.cx.constant, plain(self.cx.constant)?)),
            StateSpace::Param => Ok(Stretch::Plain(self.cx.params, plain(self.cx.params)?)),
            StateSpace::Local => {
                let warp = self.warp(id).ok_or("the warp is not resident")?;
                let dynamic = address >= DYNAMIC;
                let (memory, at) =
                    if dynamic { (&warp.dynamic, address - DYNAMIC) } else { (&warp.local, address) };
                match at.checked_add(len) {
                    Some(end) if end <= memory.len() as u64 => {
                        Ok(Stretch::Lane { warp, dynamic, at: at as usize })
                    }
                    _ => Err(format!("a thread has {} bytes of local memory", memory.len())),
                }
            }
            StateSpace::Generic | StateSpace::Reg | StateSpace::Sreg | StateSpace::Tex => {
                Err(format!("a run has no memory of space .{space}"))
            }
        }
    }

    fn find(&self, block: [u32; 3]) -> Option<(usize, usize)> {
        self.clusters.iter().enumerate().find_map(|(c, cluster)| {
            let members = &cluster.state.members;
            Some((c, members.iter().position(|m| m.id == block && !m.gone.get())?))
        })
    }

    fn warp(&self, id: WarpId) -> Option<&Warp> {
        let (c, rank) = self.find(id.block)?;
        self.clusters[c].blocks[rank].warps().get(id.warp as usize)
    }

    fn warp_mut(&mut self, id: WarpId) -> Option<&mut Warp> {
        let (c, rank) = self.find(id.block)?;
        self.clusters[c].blocks[rank].warps_mut().get_mut(id.warp as usize)
    }
}

/// Memory that was found.
enum Stretch<'a> {
    Global(&'a Bytes, usize),
    Plain(&'a Bytes, usize),
    Lane { warp: &'a Warp, dynamic: bool, at: usize },
}

impl Cluster {
    /// Asks the observer how the held turn of block `rank` goes on, and lets it.
    pub(in crate::engine) fn stand_still<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        others: &mut VecDeque<Cluster>,
        rank: usize,
    ) -> Fallible<()> {
        let Some(mut held) = runner.held.take() else { return Ok(()) };
        let mut running = WarpId { block: self.state.members[rank].id, warp: held.warp };
        loop {
            let mut view = View::new(runner.cx, self, others, Some(running));
            let resume = runner.observer.stopped(&mut view);
            runner.changes += u64::from(view.changed);
            match resume {
                Resume::Run => break,
                Resume::End => {
                    let message = "the launch was ended by whoever watches it";
                    return Err(Box::new(Fault::new(FaultCode::Interrupted, message)));
                }
                Resume::Turn(id) => {
                    let found = view.find(id.block).filter(|_| view.can_run(id));
                    let Some((c, rank)) = found else { break };
                    let cluster = if c == 0 { &mut *self } else { &mut others[c - 1] };
                    let block: &mut Block = &mut cluster.blocks[rank];
                    // Groups of lanes may meet while others run.
                    held.group = None;
                    block.turn_of(runner, &cluster.state, id.warp as usize)?;
                    if runner.held.take().is_none() {
                        break;
                    }
                    running = id;
                }
            }
        }
        runner.held = Some(held);
        Ok(())
    }
}
