//! The instructions of PTX that do more than compute: memory, atomics, synchronisation, warp-level operations.
//!
//! [`emit`] puts one into a function, from its resolved form and its operands: the table of all operations says what it does
//! ([`Meaning`]). Both decoders go through here, so that a form means the same in PTX and in the IR's table-derived operations. What a
//! decoder must know more than operands for (branches, calls, special registers and names) is its own.

mod atomic;
mod cluster;
mod matrix;
mod mbarrier;
mod memory;
mod multimem;
mod tensor;
mod tensor_memory;
pub(crate) mod texture;
mod transfer;
mod warp;

use crate::engine::{Address, Fence, FunctionBuilder, Guard, Order, Reg, Scope, Width, lanes};
use warpsmith_isa::{self as isa, Instruction, Mod, SpaceModifier, StateSpace};
use warpsmith_semantics::{Effect, FenceKind, Meaning};

/// A source operand.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A register or constant.
    Reg(Reg),
    /// A literal, as the bits of the type it is used as.
    Bits(u64),
    /// `!p`
    Not(Reg),
    /// `[a]`
    Address(Address),
    /// `_`, an element of a vector that a store leaves alone.
    Sink,
}

impl From<isa::Scope> for Scope {
    fn from(scope: isa::Scope) -> Scope {
        match scope {
            isa::Scope::Cta => Scope::Cta,
            isa::Scope::Cluster => Scope::Cluster,
            isa::Scope::Gpu => Scope::Gpu,
            isa::Scope::Sys => Scope::Sys,
        }
    }
}

/// The scope that is written or holds by default, else that of the device.
fn scope(i: &Instruction) -> Scope {
    i.scope().map_or_else(Scope::default, Scope::from)
}

/// The order that is written or holds by default.
fn order(i: &Instruction) -> Option<Order> {
    if i.has(Mod::Mmio) && i.order() != Some(isa::Order::Acquire) {
        return Some(Order::Mmio);
    }
    Some(match i.order()? {
        isa::Order::Weak => Order::Weak,
        isa::Order::Volatile => Order::Volatile,
        isa::Order::Relaxed => Order::Relaxed,
        isa::Order::Acquire => Order::Acquire,
        isa::Order::Release => Order::Release,
        isa::Order::AcqRel => Order::AcqRel,
        isa::Order::Sc => Order::SeqCst,
    })
}

/// True if the shared memory that is named is that of the cluster.
fn names_cluster(i: &Instruction) -> bool {
    i.spaces().any(|space| space == SpaceModifier::SharedCluster)
}

/// The spaces of global and shared memory in order, and whether shared memory is that of the cluster.
fn spaces(i: &Instruction) -> impl Iterator<Item = (StateSpace, bool)> + '_ {
    i.spaces().filter_map(|space| match space {
        SpaceModifier::Global => Some((StateSpace::Global, false)),
        SpaceModifier::Shared | SpaceModifier::SharedCta => Some((StateSpace::Shared, false)),
        SpaceModifier::SharedCluster => Some((StateSpace::Shared, true)),
        SpaceModifier::Const
        | SpaceModifier::Local
        | SpaceModifier::Param
        | SpaceModifier::ParamEntry
        | SpaceModifier::ParamFunc
        | SpaceModifier::Tex => None,
    })
}

/// The elements of the vector that the instruction moves.
fn elements(i: &Instruction) -> usize {
    i.vector_len() as usize
}

/// Emits the instruction; `None` if it has no effect of its own, or no semantics.
///
/// `dst` are the destinations in the instruction's order, elements of a vector and the two of `d|p` one by one, `None` for a
/// sink or one that is not written; `src` the sources in the same way. An address in `.param` space is [`Address::Absolute`] for a
/// parameter of the kernel and [`Address::Stack`] for one of a function.
pub fn emit(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let effect = match Meaning::of_instruction(i) {
        Meaning::Does(effect) => effect,
        Meaning::Computes(_) | Meaning::Refused(_) => return None,
    };
    match effect {
        Effect::StoreAsync => transfer::store(body, i, src, false),
        Effect::ReduceAsync => transfer::store(body, i, src, true),
        Effect::Fill => transfer::fill(body, i, src),
        Effect::Load => memory::load(body, i, dst, src),
        Effect::Store => memory::store(body, i, src),
        Effect::Copy => transfer::plain_copy(body, i, src),
        Effect::BulkCopy => transfer::bulk_copy(body, i, src),
        Effect::CommitGroup(group) => {
            transfer::commit(body, group);
            Some(())
        }
        Effect::WaitGroup(group) => transfer::wait_group(body, i, src, group),
        Effect::WaitAll => {
            transfer::wait_all(body);
            Some(())
        }
        Effect::ArriveOnCopies => mbarrier::arrive_on_copies(body, i, src),
        Effect::Mbarrier(action) => mbarrier::emit(body, i, action, dst, src),
        Effect::PendingCount => mbarrier::pending(body, dst, src),
        Effect::MulticastLoad | Effect::MulticastStore | Effect::MulticastReduce => {
            multimem::emit(body, i, effect, dst, src)
        }
        Effect::MapAddress => cluster::map_address(body, i, dst, src),
        Effect::RankOfAddress => cluster::rank_of_address(body, i, dst, src),
        Effect::ClusterArrive => {
            body.asynchronous(crate::engine::AsyncOp::ClusterArrive);
            Some(())
        }
        Effect::ClusterWait => {
            body.asynchronous(crate::engine::AsyncOp::ClusterWait);
            Some(())
        }
        Effect::TryCancel => transfer::try_cancel(body, i, src),
        Effect::QueryCancel => cluster::query_cancel(body, i, dst, src),
        Effect::Atomic => atomic::emit(body, i, dst, src),
        Effect::Reduce => atomic::emit(body, i, &[], src),
        Effect::ToGeneric => memory::convert_address(body, i, false, dst, src),
        Effect::ToSpace => memory::convert_address(body, i, true, dst, src),
        Effect::IsInSpace => memory::is_in_space(body, i, dst, src),
        Effect::CachePolicy => {
            // What a policy looks like is up to the implementation, and none does anything here.
            if let Some(d) = dst.first().copied()? {
                let none = body.constant(0, Width::W64);
                body.copy(d, none);
            }
            Some(())
        }
        Effect::Shuffle | Effect::Vote | Effect::Match | Effect::ReduceLanes | Effect::Elect => {
            warp::collective(body, i, effect, dst, src)
        }
        Effect::ActiveMask => {
            if let Some(d) = dst.first().copied()? {
                body.active_mask(d);
            }
            Some(())
        }
        Effect::WarpBarrier => warp::barrier(body, src),
        Effect::BlockBarrier { reduces } => warp::block_barrier(body, i, reduces, dst, src),
        Effect::Multiply => matrix::multiply(body, i, dst, src),
        Effect::MultiplyAsync => matrix::start_warpgroup(body, i, dst, src),
        Effect::ProductFence => {
            body.matrix(crate::engine::MatrixOp::WarpgroupFence);
            Some(())
        }
        Effect::ProductCommit => {
            body.matrix(crate::engine::MatrixOp::WarpgroupCommit);
            Some(())
        }
        Effect::ProductWait => matrix::wait_for_warpgroup(body, src),
        Effect::LoadFragment => matrix::load(body, i, dst, src),
        Effect::StoreFragment => matrix::store(body, i, src),
        Effect::LoadLines => matrix::load_lines(body, i, dst, src),
        Effect::StoreLines => matrix::store_lines(body, i, src),
        Effect::TransposeLanes => matrix::transpose(body, i, dst, src),
        Effect::CopyTensorMap => memory::copy_tensor_map(body, i, src),
        Effect::TensorCopy => tensor::copy(body, i, src, false),
        Effect::TensorPrefetch => tensor::copy(body, i, src, true),
        Effect::ReplaceTensorMapField => tensor::replace(body, i, src),
        Effect::QueryTensorMap => tensor::query(body, i, dst, src),
        Effect::TensorMemory(action) => tensor_memory::emit(body, i, action, dst, src),
        Effect::Fence(FenceKind::Membar) => memory::fence(body, i, Order::SeqCst),
        Effect::Fence(FenceKind::Fence | FenceKind::Proxy) => memory::fence(body, i, Order::AcqRel),
        Effect::Yield => {
            body.yield_turn();
            Some(())
        }
        Effect::Trap => {
            body.trap();
            Some(())
        }
        Effect::Exit => {
            body.exit();
            Some(())
        }
        // The grids that a grid could wait for are complete before it is launched.
        Effect::GridDependency => {
            body.fence(Fence { order: Order::AcqRel, scope: Scope::Gpu });
            Some(())
        }
        Effect::StackAllocate | Effect::StackSave | Effect::StackRestore => {
            memory::stack(body, i, effect, dst, src)
        }
        Effect::RegisterCount { increases } => {
            let &Source::Bits(count) = src.first()? else { return None };
            let count = u32::try_from(count).ok()?;
            body.matrix(crate::engine::MatrixOp::RegisterCount { count, increases });
            Some(())
        }
        Effect::Mark => transfer::mark(body, src),
        Effect::Discard => transfer::discard(body, i, src),
        Effect::Hint => Some(()),
        // A decoder's own: what names mean, and where vectors end.
        Effect::Move
        | Effect::Branch
        | Effect::BranchIndirect
        | Effect::Call
        | Effect::Return
        | Effect::Texture(_) => None,
    }
}

/// A source as a register; a literal as a constant of the width.
fn value(body: &mut FunctionBuilder<'_>, source: Option<&Source>, width: Width) -> Option<Reg> {
    Some(match *source? {
        Source::Reg(r) => r,
        Source::Bits(bits) => body.constant(bits.into(), width),
        Source::Not(p) => {
            let d = body.reg(Width::Pred);
            body.lanes(lanes::vector(|p: bool| !p), &[d], &[p]);
            d
        }
        Source::Address(_) | Source::Sink => return None,
    })
}

/// A predicate source with its negation.
fn predicate(body: &mut FunctionBuilder<'_>, source: Option<&Source>) -> Option<Guard> {
    Some(match *source? {
        Source::Reg(pred) => Guard { pred, negated: false },
        Source::Not(pred) => Guard { pred, negated: true },
        Source::Bits(bits) => Guard { pred: body.constant(bits.into(), Width::Pred), negated: false },
        Source::Address(_) | Source::Sink => return None,
    })
}

fn address(source: Option<&Source>) -> Option<Address> {
    match source? {
        Source::Address(address) => Some(*address),
        Source::Reg(_) | Source::Bits(_) | Source::Not(_) | Source::Sink => None,
    }
}
