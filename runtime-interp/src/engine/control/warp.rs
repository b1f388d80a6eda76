//! The state of a warp: groups of lanes with their own program counters, call frames and registers.

use crate::engine::file::{Cell, Frame, RegisterFile};
use crate::engine::local::LocalMemory;
use crate::engine::matrix::Products;
use crate::engine::observe::FrameView;
use crate::engine::op::Inst;
use crate::engine::program::Function;
use crate::engine::region_state::LanePattern;
use crate::engine::schedule::Turns;
use crate::engine::standstill::Patience;
use smallvec::SmallVec;

/// Why a group of lanes is not running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) enum State {
    /// It can run.
    Ready,
    /// It waits at a warp-level instruction for the other lanes of this mask.
    Collective(u32),
    /// It waits at a block barrier: for the rest of its warp, or (`arrived`) for the other warps.
    Barrier { id: u8, arrived: bool },
    /// It waits at an mbarrier object, and asks again when something happens. At time `until` the answer is no.
    Mbarrier { until: u64 },
    /// It waits at the barrier of the cluster, and asks again when that is complete.
    Cluster,
}

/// Lanes that execute together: they have the same program counter and call stack.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Group {
    pub mask: u32,
    pub pc: u32,
    pub frame: u32,
    pub state: State,
    /// When it last ran, to choose fairly.
    pub stamp: u64,
    /// Lanes that have come to the instruction at `pc` before, had to wait in it, and come to it again.
    pub waited: u32,
}

impl Group {
    /// Waits in the instruction at `pc`, to come to it again.
    pub fn wait(&mut self, state: State) {
        (self.state, self.waited) = (state, self.mask);
    }

    /// Goes on behind the instruction that it has waited in.
    pub fn pass(&mut self) {
        (self.state, self.waited, self.pc) = (State::Ready, 0, self.pc + 1);
    }
}

/// An activation of a function. Lanes with the same stack of calls share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) struct Activation {
    pub parent: u32,
    pub function: u32,
    /// The call that made it.
    pub call: u32,
    pub depth: u32,
    /// Where its registers start in the file, and how many rows they are.
    pub row: u32,
    pub rows: u32,
    /// The rows of it and of its callers.
    pub all_rows: u32,
    /// Where its part of local memory starts, and where it ends.
    pub stack: u32,
    pub stack_end: u32,
    /// How many groups are in it or in functions called from it.
    pub users: u32,
}

impl Activation {
    /// Where it lies.
    #[inline(always)]
    pub fn place(&self) -> FrameView {
        FrameView { row: self.row, rows: self.rows, stack: self.stack, stack_end: self.stack_end }
    }
}

/// How many backward jumps a group takes while others of its warp wait before one of them gets a turn.
pub(in crate::engine) const SPIN_LIMIT: u32 = 1024;
/// What such a jump counts where atomics are about, which ask for something that a waiting lane may have to give.
pub(in crate::engine) const HASTE: u32 = 32;
/// How many instructions such a turn lasts at least.
const TURN: u64 = 256;

pub(in crate::engine) struct Warp {
    /// Number in the block.
    pub index: u32,
    /// Lanes that have not exited.
    pub alive: u32,
    pub groups: SmallVec<[Group; 2]>,
    /// The group that is chosen next goes on: it was chosen at this time already.
    pub chosen_before: Option<u64>,
    /// No lanes have parted in the kernel: what its code computes alike for all lanes is equal in them.
    pub uniform: bool,
    /// Regions to be executed before it is asked again whether all is equal, and how many that were the last time.
    pub uniform_pause: (u32, u32),
    /// What is known of the kernel's registers that do not change any more, by the numbers that regions have for them.
    pub patterns: Vec<LanePattern>,
    activations: Vec<Activation>,
    free: Vec<u32>,
    pub file: RegisterFile,
    pub local: LocalMemory,
    /// What lanes have allocated with `alloca`, at local addresses from [`DYNAMIC`](crate::engine::local::DYNAMIC) on, and how much each has.
    pub dynamic: LocalMemory,
    pub tops: [u32; 32],
    /// Statements executed by the warp, and by its threads.
    pub executed: u64,
    pub thread_instructions: u64,
    /// Backward jumps since the last choice that was made for fairness.
    pub spin: u32,
    /// What a backward jump counts: 1 or [`HASTE`].
    pub haste: u32,
    /// Lanes have spun for long while others waited, and do so still.
    pub spins: bool,
    /// Lanes that have arrived at the barrier of the cluster, and lanes whose arrival is complete and that have not waited yet.
    pub cluster_arrived: u32,
    pub cluster_open: u32,
    /// What it did beside instructions, in instructions: limits and the clock count it.
    pub extra: u64,
    pub patience: Patience,
    /// Where the turn started that is not charged yet.
    pub turn: Progressed,
    /// Its products that go on.
    pub products: Products,
}

/// How far a warp has got.
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::engine) struct Progressed {
    pub executed: u64,
    pub extra: u64,
    pub thread_instructions: u64,
    pub spin: u32,
}

impl Warp {
    pub fn new() -> Self {
        Warp {
            index: 0,
            alive: 0,
            groups: SmallVec::new(),
            chosen_before: None,
            uniform: false,
            uniform_pause: (0, 1),
            patterns: Vec::new(),
            activations: Vec::new(),
            free: Vec::new(),
            file: RegisterFile::new(),
            local: LocalMemory::default(),
            dynamic: LocalMemory::default(),
            tops: [0; 32],
            executed: 0,
            thread_instructions: 0,
            spin: 0,
            haste: 1,
            spins: false,
            cluster_arrived: 0,
            cluster_open: 0,
            extra: 0,
            patience: Patience::default(),
            turn: Progressed::default(),
            products: Products::default(),
        }
    }

    /// Starts the warp in a kernel, with local memory all of whose bytes are `fresh`. False if the host has no memory for it.
    #[must_use]
    pub fn start(&mut self, index: u32, lanes: u32, kernel: (u32, &Function), fresh: u8) -> bool {
        let (function, Function { entry: pc, rows, stack, .. }) = kernel;
        let (pc, rows, stack) = (*pc, *rows, *stack);
        (self.index, self.uniform, self.uniform_pause) = (index, true, (0, 1));
        self.alive = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
        self.groups.clear();
        self.chosen_before = None;
        self.groups.push(Group { mask: self.alive, pc, frame: 0, state: State::Ready, stamp: 0, waited: 0 });
        self.products = Products::default();
        self.patterns.clear();
        self.activations.clear();
        self.free.clear();
        let (parent, call, depth) = (u32::MAX, u32::MAX, 0);
        self.activations.push(Activation {
            parent,
            function,
            call,
            depth,
            row: 0,
            rows,
            all_rows: rows,
            stack: 0,
            stack_end: stack,
            users: 1,
        });
        self.file.restart(rows);
        self.local.clear(fresh);
        self.dynamic.clear(fresh);
        self.tops = [0; 32];
        (self.executed, self.thread_instructions, self.extra) = (0, 0, 0);
        self.patience.restart();
        self.turn = Progressed::default();
        (self.spin, self.haste, self.spins) = (0, 1, false);
        (self.cluster_arrived, self.cluster_open) = (0, 0);
        self.local.reserve(stack)
    }

    /// How far it has got.
    pub fn progressed(&self) -> Progressed {
        let &Warp { executed, extra, thread_instructions, spin, .. } = self;
        Progressed { executed, extra, thread_instructions, spin }
    }

    /// The registers of an activation; panics if there are none at that place.
    #[inline(always)]
    pub fn frame(&mut self, place: FrameView, constants: &[Cell]) -> Frame {
        // SAFETY: an activation has as many rows as its function, and only operations of that function, which were checked against
        // them and the constants of the program, execute in it.
        unsafe { self.file.frame(place.row, place.rows, constants) }
    }

    pub fn activations(&self) -> &[Activation] {
        &self.activations
    }

    pub fn activation(&self, id: u32) -> &Activation {
        &self.activations[id as usize]
    }

    /// The activation of a call from `parent`: the one that other lanes in the same situation are in, or a new one.
    /// The caller's use of `parent` passes to it.
    pub fn enter(&mut self, new: Activation) -> u32 {
        if self.groups.len() > 1 {
            let same = |a: &Activation| {
                a.users > 0 && a.parent == new.parent && a.call == new.call && a.function == new.function
            };
            if let Some(id) = self.activations.iter().position(same) {
                self.activations[id].users += 1;
                self.release(new.parent);
                return id as u32;
            }
        }
        match self.free.pop() {
            Some(id) => {
                self.activations[id as usize] = new;
                id
            }
            None => {
                self.activations.push(new);
                self.activations.len() as u32 - 1
            }
        }
    }

    /// The first place in the file, past the caller's registers, for those of a function.
    ///
    /// What other lanes' activations have there is not free: a lane of a 64-bit register lies where other lanes of 32-bit registers do. Only
    /// activations of one function have their lanes side by side.
    pub fn free_row(&self, caller: &Activation, function: u32, rows: u32) -> u32 {
        let mut row = caller.row + caller.rows;
        if self.groups.len() == 1 {
            return row;
        }
        let mut taken: SmallVec<[(u32, u32, u32); 8]> = SmallVec::new();
        for group in &self.groups {
            let mut id = group.frame;
            while let Some(a) = self.activations.get(id as usize).filter(|a| a.row + a.rows > row) {
                taken.push((a.row, a.row + a.rows, a.function));
                id = a.parent;
            }
        }
        taken.sort_unstable();
        for (start, end, other) in taken {
            if start < row + rows && end > row && (start, other) != (row, function) {
                row = end;
            }
        }
        row
    }

    /// One use less of an activation.
    pub fn release(&mut self, mut id: u32) {
        while id != u32::MAX {
            let a = &mut self.activations[id as usize];
            a.users -= 1;
            if a.users > 0 {
                return;
            }
            self.free.push(id);
            id = a.parent;
        }
    }

    /// One use more of an activation.
    pub fn retain(&mut self, id: u32) {
        self.activations[id as usize].users += 1;
    }

    /// Moves some lanes of group `g` to a group of their own.
    pub fn split(&mut self, g: usize, mask: u32, pc: u32, state: State) {
        self.uniform = false;
        let group = &mut self.groups[g];
        let waited = if pc == group.pc { group.waited & mask } else { 0 };
        group.mask &= !mask;
        group.waited &= !mask;
        let new = Group { mask, pc, state, waited, ..*group };
        self.retain(new.frame);
        self.groups.push(new);
    }

    /// Moves some lanes of group `g` to a group of their own that waits in the instruction at `pc`.
    pub fn split_waiting(&mut self, g: usize, mask: u32, pc: u32, state: State) {
        self.split(g, mask, pc, state);
        if let Some(group) = self.groups.last_mut() {
            group.wait(state);
        }
    }

    /// Removes a group whose lanes are gone.
    pub fn remove(&mut self, g: usize) {
        let group = self.groups.swap_remove(g);
        self.release(group.frame);
    }

    /// Ends lanes of group `g`; lanes that wait for them must look again.
    pub fn exit(&mut self, g: usize, mask: u32) {
        self.alive &= !mask;
        self.groups[g].mask &= !mask;
        self.groups[g].waited &= !mask;
        if self.groups[g].mask == 0 {
            self.remove(g);
        }
        for group in &mut self.groups {
            if matches!(group.state, State::Collective(_)) {
                group.state = State::Ready;
            }
        }
    }

    /// Reunites group `g` with groups that have come to, or wait at, the same instruction.
    pub fn reconverge(&mut self, g: usize) -> usize {
        let (mut g, Group { pc, frame, .. }) = (g, self.groups[g]);
        let mut other = 0;
        while other < self.groups.len() {
            let o = self.groups[other];
            let meets =
                other != g && o.pc == pc && o.frame == frame && !matches!(o.state, State::Barrier { .. });
            if meets {
                self.groups[g].mask |= o.mask;
                self.groups[g].waited |= o.waited;
                self.groups[g].state = State::Ready;
                self.remove(other);
                if g == self.groups.len() {
                    g = other;
                }
            } else {
                other += 1;
            }
        }
        g
    }

    /// Lets the other groups go first when the warp has its next turn.
    pub fn pause(&mut self, g: usize) {
        let alone = self.groups.len() == 1;
        self.reconverge(g);
        self.spin = if alone { 0 } else { SPIN_LIMIT };
    }

    /// Reunites groups after some have been let go on together.
    pub fn reunite(&mut self, released: usize) {
        let mut g = 0;
        while released > 1 && g < self.groups.len() {
            if self.groups[g].state == State::Ready {
                g = self.reconverge(g);
            }
            g += 1;
        }
    }

    /// Chooses the group to run: the deepest in calls and then the lowest in the program, because the others are likely to
    /// meet it where they wait; for fairness sometimes the one that has waited longest. Also gives the number of executed instructions
    /// after which to choose again.
    #[inline]
    pub fn choose(&mut self, turns: &mut Turns) -> Option<(usize, u64)> {
        match self.groups.as_slice() {
            [group] => (group.state == State::Ready).then_some((0, u64::MAX)),
            _ => self.choose_among(turns),
        }
    }

    fn choose_among(&mut self, turns: &mut Turns) -> Option<(usize, u64)> {
        let ready = |g: &Group| g.state == State::Ready;
        let unfair = self.spin >= SPIN_LIMIT;
        let candidates = self.groups.iter().enumerate().filter(|(_, g)| ready(g));
        let (chosen, until) = match turns.group(self) {
            Some((chosen, turn)) if !unfair => (chosen, self.executed + turn),
            _ if unfair => {
                (self.spin, self.haste, self.spins) = (0, 1, true);
                (candidates.min_by_key(|(_, g)| (g.stamp, g.pc))?.0, self.executed + TURN)
            }
            _ => {
                let key = |g: &Group| (u32::MAX - self.activations[g.frame as usize].depth, g.pc);
                (candidates.min_by_key(|(_, g)| key(g))?.0, u64::MAX)
            }
        };
        self.groups[chosen].stamp = self.executed;
        Some((chosen, until))
    }

    /// True for the group that runs first by its place, the deepest in calls and then the lowest in the program, with no other where it is: who comes back there
    /// would meet that one.
    pub fn is_lowest(&self, g: usize) -> bool {
        let depth = |g: &Group| self.activations[g.frame as usize].depth;
        let own = &self.groups[g];
        self.groups.iter().enumerate().all(|(n, other)| {
            let behind = other.pc > own.pc || matches!(other.state, State::Barrier { .. });
            n == g || depth(other) < depth(own) || (other.frame == own.frame && behind)
        })
    }

    /// Where the group is that is furthest behind: the deepest in calls and then the lowest in the program.
    pub fn furthest_behind(&self) -> Option<(u32, u32)> {
        let ready = self.groups.iter().filter(|g| g.state == State::Ready);
        ready.map(|g| (u32::MAX - self.activations[g.frame as usize].depth, g.pc)).min()
    }

    /// The lowest program counter past that of group `g` where another group of the same activation is: there they may meet.
    pub fn meeting_point(&self, g: usize) -> u32 {
        let Group { pc, frame, .. } = self.groups[g];
        let others = self.groups.iter().filter(|o| o.frame == frame && o.pc > pc);
        others.filter(|o| !matches!(o.state, State::Barrier { .. })).map(|o| o.pc).min().unwrap_or(u32::MAX)
    }

    /// Lanes execute an instruction again that they have been counted for.
    pub fn uncount(&mut self, inst: &Inst, lanes: u32) {
        let counted = u64::from(inst.count) * u64::from(lanes.count_ones());
        self.thread_instructions = self.thread_instructions.saturating_sub(counted);
    }

    pub fn finished(&self) -> bool {
        self.alive == 0
    }

    pub fn runnable(&self) -> bool {
        self.groups.iter().any(|g| g.state == State::Ready)
    }
}
