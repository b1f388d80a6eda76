//! Regions of a program that machine code executes.
//!
//! A *region* is a stretch of operations of one function that compute, access memory or branch, or several such stretches that a loop joins; what
//! is between them waits or calls and belongs to none of its blocks. It consists of *blocks*, which only their ends leave. Whoever compiles regions ([`Tier`]) gives back code for one ([`RegionCode`]), and the loop hands it a
//! group of lanes that comes to one of its blocks. The code works on the registers as they lie in memory, and has the engine execute what it does not
//! compile, accesses among it; it goes on from block to block as long as the lanes stay together, and comes back where the loop has to decide:
//! at the region's end, where lanes part for long, where others wait, and where a turn is over.

use super::Program;
use super::live::Registers as LiveRegisters;
use super::region_state::RegionCode;
use super::uniform::Varying;
use crate::engine::op::{Guard, Inst, Op, Order};
use crate::engine::reg::{Reg, Width};
use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_isa::{Instruction, StateSpace};

/// One operation that computes.
#[derive(Clone, Copy, Debug)]
pub struct RunStep<'a> {
    /// The instruction as the validator found it, whose only destination and whose sources are the registers.
    pub instruction: &'a Instruction,
    /// Where the result goes.
    pub dst: Reg,
    /// The sources, in the instruction's order; the rest repeats one of them or is [`Reg::ZERO`].
    pub src: [Reg; 4],
    /// How many sources there are.
    pub sources: usize,
    /// The guard, if it has one.
    pub guard: Option<Guard>,
}

/// A load that may be executed with others of its kind as one, before the arithmetic about it.
#[derive(Clone, Copy, Debug)]
pub struct PlainLoad<'a> {
    /// The register of the address.
    pub base: Reg,
    /// The loads with an equal number here, and the same base, may be one batch.
    pub kind: (StateSpace, u8, bool),
    /// What is added to the address, which in a batch differs by multiples of the bytes that a lane loads.
    pub offset: i64,
    /// Bytes that a lane loads.
    pub bytes: u32,
    /// Bytes of an element, and whether it is sign-extended.
    pub element: (u32, bool),
    /// Where the elements go.
    pub dst: &'a [Reg],
}

/// A store to local memory, which only its own lane sees, or to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct PlainStore<'a> {
    /// Which of them.
    pub space: StateSpace,
    /// The register of the address.
    pub base: Reg,
    /// What is added to the address.
    pub offset: i64,
    /// The address is relative to the function's part of local memory.
    pub on_stack: bool,
    /// Bytes of an element.
    pub element: u32,
    /// The elements.
    pub src: &'a [Reg],
}

/// An operation of a block.
#[derive(Clone, Copy, Debug)]
pub enum RegionOp<'a> {
    /// Arithmetic.
    Lanes(RunStep<'a>),
    /// A load that can be moved up.
    Load(PlainLoad<'a>),
    /// A store: to local memory it may be executed lane by lane.
    Store(PlainStore<'a>),
    /// What only the engine executes.
    Engine,
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockEnd {
    /// In what comes after it.
    Fall,
    /// In a branch, the block's last operation, with its guard.
    Branch(u32, Option<Guard>),
}

/// Operations that are executed one after the other.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Where in the program, a branch at its end included.
    pub range: Range<u32>,
    /// Its operations but for that branch.
    pub ops: Vec<RegionOp<'a>>,
    /// The statements that are counted in it.
    pub count: u32,
    /// How many of those statements are the branch at its end.
    pub branch_count: u32,
    /// How it ends.
    pub end: BlockEnd,
    /// The registers that are read after it.
    pub live: LiveRegisters,
    /// The registers that may differ from lane to lane before it even if the lanes of a warp have executed everything together.
    pub varying: Varying,
    /// The registers that are read after its beginning and are equal in such lanes; none if that is not known.
    pub alike: Option<Box<[Reg]>>,
    /// The registers that may be written after its beginning, by lanes that come here. What is not in it stays as it is until the warp ends.
    pub written: LiveRegisters,
}

/// A stretch of blocks, or those of a loop with other operations between them.
#[derive(Clone, Debug)]
pub struct Region<'a> {
    /// Where in the program.
    pub range: Range<u32>,
    /// Its blocks. One that goes on where no block begins leaves the region.
    pub blocks: Vec<Block<'a>>,
}

/// A load of a batch: its place in the region, and the row of scratch memory that its first element goes to. An element of 64 bits takes two rows.
pub type BatchLoad = (u32, u32);

/// Batches that code asks for together, [`RegionState::SCRATCH`](super::region_state::RegionState::SCRATCH) loads at most.
pub type BatchGroup = Vec<Vec<BatchLoad>>;

/// Operations of a region on one side of a branch, and the statements that are counted there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Side {
    /// The first of them.
    pub from: u32,
    /// Behind the last of them.
    pub to: u32,
    /// The statements, those of a jump behind them included.
    pub count: u32,
}

/// What lanes execute that part at a branch, until they meet. Places are relative to the region's start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BranchSides {
    /// Where they meet.
    pub meet: u32,
    /// What those execute that do not take the branch.
    pub rest: Option<Side>,
    /// What the others execute.
    pub taken: Option<Side>,
}

/// What a [`Tier`] makes of a region.
#[derive(Clone)]
pub struct CompiledRegion {
    /// The code.
    pub code: RegionCode,
    /// The loads that it asks for.
    pub groups: Vec<BatchGroup>,
    /// Registers whose [`LanePattern`](super::region_state::LanePattern) it asks for, with the bytes of a lane's access, a power of two up to 16, or zero. None of them is written
    /// where a block is in which it is used, nor after that.
    pub patterns: Vec<(Reg, u32)>,
    /// How many windows of global memory it has.
    pub windows: u32,
    /// The branches at which lanes part that soon meet again, by the numbers that it asks for them with.
    pub sides: Vec<BranchSides>,
    /// The operations that it computes itself.
    pub operations: usize,
    /// What the code belongs to.
    pub owner: Arc<dyn Any + Send + Sync>,
}

/// A region that is interpreted because the compiler has refused it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedRegion {
    /// The function that it is in.
    pub function: String,
    /// The line of the source where it begins, 0 if unknown.
    pub line: u32,
    /// Why, in a sentence.
    pub reason: String,
}

/// Makes machine code of regions.
///
/// # Safety
/// Code that it gives does to registers what the operations of the region do, accesses nothing else, and stays where it is as long as its owner lives.
pub unsafe trait Tier: Send + Sync + std::fmt::Debug {
    /// Code of a region; `None` where it is not worth it, and an error, in a sentence, where the compiler should have made some and has not.
    fn compile(&self, program: &Program, region: &Region<'_>) -> Result<Option<CompiledRegion>, String>;
}

/// So many operations at most are in a region, and in a block.
const MOST: usize = 1024;
const MOST_OF_A_BLOCK: usize = 256;

/// The regions of a program, and what was found about its functions so far.
pub(in crate::engine) struct Regions<'a> {
    program: &'a Program,
    leaders: Vec<bool>,
    /// Blocks, and what is live behind them, by the functions' numbers.
    functions: FxHashMap<usize, Found>,
}

/// A function's blocks with what is live behind them, what may differ before them and what may be written from there on, and the registers that it writes.
type Found = (Vec<(Range<u32>, LiveRegisters, Varying, LiveRegisters)>, Vec<Reg>);

impl<'a> Regions<'a> {
    pub fn new(program: &'a Program) -> Regions<'a> {
        Regions { program, leaders: program.leaders(), functions: FxHashMap::default() }
    }

    /// The region at a place, which is one of those that the program has.
    pub fn at(&mut self, range: Range<u32>) -> Region<'a> {
        let program = self.program;
        let holds = |f: &super::Function| f.defined && f.entry <= range.start && range.end <= f.end;
        let Some(number) = program.functions.iter().position(holds) else {
            return Region { range, blocks: Vec::new() };
        };
        let leaders = &self.leaders;
        let (blocks, written) = self.functions.entry(number).or_insert_with(|| {
            let function = &program.functions[number];
            let (mut ranges, mut from) = (Vec::new(), function.entry);
            for pc in function.entry..function.end {
                if pc + 1 == function.end || leaders[pc as usize + 1] {
                    ranges.push(from..pc + 1);
                    from = pc + 1;
                }
            }
            let live = program.live_out(function, &ranges);
            let varying = program.varying_before(function, &ranges);
            let later = program.written_from(function, &ranges);
            let blocks = ranges.into_iter().zip(live).zip(varying).zip(later);
            let blocks = blocks.map(|(((range, live), varying), later)| (range, live, varying, later));
            (blocks.collect(), program.written_registers(function))
        });
        let first = blocks.partition_point(|(block, ..)| block.start < range.start);
        let own = blocks[first..].iter().take_while(|(block, ..)| block.end <= range.end);
        // An operation between the stretches is a block of its own.
        let own = own.filter(|(block, ..)| is_for_regions(&program.code[block.start as usize].op));
        let blocks = own.map(|(range, live, varying, later)| {
            let block = Block {
                written: later.clone(),
                ..program.block(range.clone(), live.clone(), varying.clone())
            };
            // Of other functions than kernels nothing is known, nor of those that have called them.
            let alike = (!varying.is_all()).then(|| program.alike(&block, written));
            Block { alike, ..block }
        });
        Region { blocks: blocks.collect(), range }
    }
}

fn is_for_regions(op: &Op) -> bool {
    match op {
        Op::Lanes(..)
        | Op::Load(..)
        | Op::LoadVector(..)
        | Op::Store(..)
        | Op::StoreVector(..)
        | Op::Branch(_)
        | Op::StackAddress { .. }
        | Op::Nop => true,
        Op::Special(_, special) => !special.is_clock(),
        Op::Region(_)
        | Op::Atomic(_)
        | Op::ActiveMask(_)
        | Op::Collective(_)
        | Op::Barrier(_)
        | Op::Switch { .. }
        | Op::Call(_)
        | Op::Ret
        | Op::Exit
        | Op::Trap
        | Op::Fence(_)
        | Op::System(_)
        | Op::Stack(_)
        | Op::Yield
        | Op::Async(_)
        | Op::Matrix(_)
        | Op::Texture(_) => false,
    }
}

fn guard_of(inst: &Inst) -> Option<Guard> {
    (inst.guard != Reg::ZERO || inst.flip == 0).then_some(Guard { pred: inst.guard, negated: inst.flip != 0 })
}

impl Program {
    /// Where its regions are.
    pub(in crate::engine) fn region_ranges(&self) -> Vec<Range<u32>> {
        let leaders = self.leaders();
        let functions: FxHashSet<u32> = self.functions.iter().map(|f| f.entry).collect();
        let (mut ranges, mut start) = (Vec::new(), 0);
        for (pc, &leads) in leaders.iter().enumerate() {
            let inside = self.code.get(pc).is_some_and(|inst| is_for_regions(&inst.op));
            let full = pc - start >= MOST && leads;
            if !inside || full || functions.contains(&(pc as u32)) {
                if pc - start > 1 {
                    ranges.push(start as u32..pc as u32);
                }
                start = if inside { pc } else { pc + 1 };
            }
        }
        self.join_loops(ranges)
    }

    /// Joins what a loop goes through: a jump back to an earlier stretch then stays in one region.
    fn join_loops(&self, ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
        // Ends by starts, from which stretches can be taken without moving the others.
        let mut joined: BTreeMap<u32, u32> =
            ranges.into_iter().map(|range| (range.start, range.end)).collect();
        let jump = |(pc, inst): (usize, &Inst)| {
            let Op::Branch(to) = inst.op else { return None };
            Some(((pc as u32).checked_sub(to)?, to, pc as u32))
        };
        let mut jumps: Vec<(u32, u32, u32)> = self.code.iter().enumerate().filter_map(jump).collect();
        // Inner loops first: they are joined even if the outer one is too long.
        jumps.sort_unstable();
        for (_, to, pc) in jumps {
            let around = |pc: u32| {
                let (&start, &end) = joined.range(..=pc).next_back()?;
                (pc < end).then_some((start, end))
            };
            let (Some((start, _)), Some((latch, end))) = (around(to), around(pc)) else { continue };
            if start < latch && (end - start) as usize <= MOST {
                let inner: Vec<u32> = joined.range(start + 1..=latch).map(|(&start, _)| start).collect();
                for start in inner {
                    joined.remove(&start);
                }
                joined.insert(start, end);
            }
        }
        joined.into_iter().map(|(start, end)| start..end).collect()
    }

    /// The places where blocks begin.
    fn leaders(&self) -> Vec<bool> {
        let mut leaders = vec![false; self.code.len() + 1];
        for function in &self.functions {
            leaders[function.entry as usize] = true;
        }
        for (pc, inst) in self.code.iter().enumerate() {
            if let Op::Branch(to) = inst.op {
                leaders[to as usize] = true;
            }
            let inside = is_for_regions(&inst.op);
            leaders[pc] |= !inside;
            leaders[pc + 1] |= !inside || matches!(inst.op, Op::Branch(_));
        }
        for to in &self.targets {
            leaders[*to as usize] = true;
        }
        let mut since = 0;
        for leader in &mut leaders {
            since = if *leader { 0 } else { since + 1 };
            if since >= MOST_OF_A_BLOCK {
                (*leader, since) = (true, 0);
            }
        }
        leaders
    }

    /// The regions of the program.
    pub fn regions(&self) -> Vec<Region<'_>> {
        let mut regions = Regions::new(self);
        self.region_ranges().into_iter().map(|range| regions.at(range)).collect()
    }

    fn block(&self, range: Range<u32>, live: LiveRegisters, varying: Varying) -> Block<'_> {
        let code = &self.code[range.start as usize..range.end as usize];
        let count = code.iter().map(|inst| inst.count).sum();
        let branch = |inst: &Inst| {
            let Op::Branch(to) = inst.op else { return None };
            Some(BlockEnd::Branch(to, guard_of(inst)))
        };
        let last = code.last().and_then(branch);
        let body = range.start..range.end - u32::from(last.is_some());
        let ops = body.map(|pc| self.region_op(pc as usize)).collect();
        let branch_count = code.last().filter(|_| last.is_some()).map_or(0, |inst| inst.count);
        Block {
            range,
            ops,
            count,
            branch_count,
            end: last.unwrap_or(BlockEnd::Fall),
            live,
            varying,
            alike: None,
            written: LiveRegisters::all(),
        }
    }

    /// The registers, of those that the function writes, that are read after a block's beginning and are uniform there.
    fn alike(&self, block: &Block<'_>, written: &[Reg]) -> Box<[Reg]> {
        let mut live = block.live.clone();
        block.range.clone().rev().for_each(|pc| self.live_before(pc, &mut live));
        written.iter().copied().filter(|r| live.contains(*r) && !block.varying.contains(*r)).collect()
    }

    fn region_op(&self, pc: usize) -> RegionOp<'_> {
        if let Some(step) = self.run_step(pc) {
            return RegionOp::Lanes(step);
        }
        let load = self.plain_load(pc).map(RegionOp::Load);
        load.or_else(|| self.plain_store(pc).map(RegionOp::Store)).unwrap_or(RegionOp::Engine)
    }

    /// The operation at a place, if it is arithmetic and all of its statement.
    fn run_step(&self, pc: usize) -> Option<RunStep<'_>> {
        let inst = self.code.get(pc)?;
        let number = |pc: usize| self.sites.get(pc).map(|site| site.statement);
        let alone = number(pc) != number(pc + 1) && (pc == 0 || number(pc) != number(pc - 1));
        let (Op::Lanes(function, operands), true, 1) = (&inst.op, alone, inst.count) else { return None };
        let signature = function.signature();
        if signature.dst.len() != 1 {
            return None;
        }
        Some(RunStep {
            instruction: self.instruction(pc as u32)?,
            dst: operands.dst[0],
            src: operands.src,
            sources: signature.src.len(),
            guard: guard_of(inst),
        })
    }

    fn plain_load(&self, pc: usize) -> Option<PlainLoad<'_>> {
        let inst = self.code.get(pc)?;
        let (access, dst) = inst.op.as_load(&self.lists)?;
        let bytes = u32::from(access.bytes) * u32::from(access.count);
        let widths = dst.iter().all(|r| matches!(r.width(), Width::W32 | Width::W64));
        let plain = access.order == Order::Weak && access.unused == 0 && !access.cluster && widths;
        (plain && guard_of(inst).is_none() && bytes.is_power_of_two()).then_some(PlainLoad {
            base: access.base,
            kind: (access.space, bytes as u8, access.on_stack),
            offset: access.offset,
            bytes,
            element: (u32::from(access.bytes), access.signed),
            dst,
        })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else stores")]
    fn plain_store(&self, pc: usize) -> Option<PlainStore<'_>> {
        let inst = self.code.get(pc)?;
        let (access, src) = match &inst.op {
            Op::Store(access, src) => (access, std::slice::from_ref(src)),
            Op::StoreVector(access, list) => (access, list.of(&self.lists)),
            _ => return None,
        };
        let bytes = u32::from(access.bytes) * u32::from(access.count);
        let widths = src.iter().all(|r| match r.width() {
            Width::W32 => access.bytes <= 4,
            Width::W64 => true,
            Width::Pred | Width::W128 => false,
        });
        let plain = access.order == Order::Weak && access.skipped == 0 && access.unused == 0 && widths;
        let plain =
            plain && matches!(access.space, StateSpace::Local | StateSpace::Shared) && !access.cluster;
        (plain && guard_of(inst).is_none() && bytes.is_power_of_two()).then_some(PlainStore {
            space: access.space,
            base: access.base,
            offset: access.offset,
            on_stack: access.on_stack,
            element: access.bytes.into(),
            src,
        })
    }

    /// The number that a constant of up to 32 bits is, which no device changes.
    pub fn small_constant(&self, r: Reg) -> Option<u32> {
        let word = r.offset() as usize;
        let changes = || {
            self.patches
                .iter()
                .any(|patch| (patch.row as usize..=patch.row as usize + 1).contains(&(word / 32)))
        };
        if !r.is_constant() || r.width() != Width::W32 || changes() {
            return None;
        }
        self.constants.get(word / 32).map(|row| row.0[word % 32])
    }
}
