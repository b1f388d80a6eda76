//! What an operation of a program is: for observers that follow values, and for those that count kinds of instructions.

use super::super::async_op::AsyncOp;
use super::super::matrix_op::MatrixOp;
use super::super::op::{
    Access, Atomic, Barrier, Call, Callee, Collective, Fence, FuncId, Guard, Inst, Op, StackOp, System,
};
use super::super::program::Program;
use super::super::reg::Reg;
use super::super::special::Special;
use super::super::texture_op::TextureOp;
use smallvec::SmallVec;
use std::ops::Range;

/// An operation: one instruction of PTX is one of them, or a few in a row.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// What it does.
    pub kind: OperationKind<'a>,
    /// The predicate that it is executed under.
    pub guard: Option<Guard>,
    /// The registers it reads, addresses included, constants too, in the order of its operands.
    pub reads: SmallVec<[Reg; 6]>,
    /// The registers it writes.
    pub writes: SmallVec<[Reg; 4]>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
pub enum OperationKind<'a> {
    /// A function of the values of the lane's own registers.
    Compute,
    /// Reads a special register.
    Special(Special),
    /// `activemask`
    ActiveMask,
    /// The address of a place in the running function's frame.
    StackAddress,
    /// Writes the elements of `writes`.
    Load(&'a Access),
    /// Stores the elements, which are the last of `reads`, after the address.
    Store(&'a Access),
    /// `atom` and `red`
    Atomic(&'a Atomic),
    /// Warp-level operations.
    Collective(&'a Collective),
    /// `bar` and `barrier`
    Barrier(&'a Barrier),
    /// A jump.
    Branch {
        /// The operation that is jumped to.
        target: u32,
    },
    /// `brx.idx`
    Switch {
        /// The operations that are jumped to.
        targets: &'a [u32],
    },
    /// A call; its arguments and results go to [`Observer::crossed`](super::Observer::crossed).
    Call(&'a Call),
    /// The end of a function.
    Return,
    /// The end of a thread.
    Exit,
    /// `trap`
    Trap,
    /// `fence` and `membar`
    Fence(Fence),
    /// What denotes a function of the system, behind a call.
    System(&'a System),
    /// `alloca stacksave stackrestore`
    Stack(&'a StackOp),
    /// `nanosleep` and the like.
    Yield,
    /// Nothing.
    Nothing,
    /// What a warp does with matrices.
    Matrix(&'a MatrixOp),
    /// Fetches from textures, queries, and accesses to surfaces.
    Texture(&'a TextureOp),
    /// Asynchronous operations and those on clusters and mbarrier objects.
    Async(&'a AsyncOp),
}

impl Program {
    /// The number of operations.
    pub fn operations(&self) -> u32 {
        self.code.len() as u32
    }

    /// The operations of a function, of none if it is only declared.
    pub fn code(&self, function: FuncId) -> Range<u32> {
        let f = &self.functions[function.0 as usize];
        f.entry..f.end
    }

    /// True for a kernel.
    pub fn is_kernel(&self, function: FuncId) -> bool {
        self.functions[function.0 as usize].kernel.is_some()
    }

    /// What the operation with this index is; a program has [`Program::operations`] of them.
    pub fn operation(&self, pc: u32) -> Option<Operation<'_>> {
        let inst = self.code.get(pc as usize)?;
        let Inst { guard, flip, .. } = *inst;
        let mut reads = SmallVec::new();
        let mut writes = SmallVec::new();
        let kind = match &inst.op {
            Op::Lanes(f, operands) => {
                let signature = f.signature();
                reads.extend(operands.src.into_iter().take(signature.src.len()));
                writes.extend(operands.dst.into_iter().take(signature.dst.len()));
                OperationKind::Compute
            }
            Op::Special(dst, special) => {
                writes.push(*dst);
                OperationKind::Special(*special)
            }
            Op::ActiveMask(dst) => {
                writes.push(*dst);
                OperationKind::ActiveMask
            }
            Op::StackAddress { dst, .. } => {
                writes.push(*dst);
                OperationKind::StackAddress
            }
            Op::Load(access, dst) => {
                reads.push(access.base);
                writes.push(*dst);
                OperationKind::Load(access)
            }
            Op::LoadVector(access, list) => {
                reads.push(access.base);
                writes.extend_from_slice(list.of(&self.lists));
                OperationKind::Load(access)
            }
            Op::Store(access, src) => {
                reads.extend([access.base, *src]);
                OperationKind::Store(access)
            }
            Op::StoreVector(access, list) => {
                reads.push(access.base);
                reads.extend_from_slice(list.of(&self.lists));
                OperationKind::Store(access)
            }
            Op::Atomic(atomic) => {
                reads.push(atomic.access.base);
                reads.extend(atomic.b.iter().copied().chain(atomic.c));
                writes.extend(atomic.dst.iter().copied());
                OperationKind::Atomic(atomic)
            }
            Op::Collective(c) => {
                reads.extend(c.mask.into_iter().chain(c.src.iter().copied()));
                writes.extend(c.dst.into_iter().flatten());
                OperationKind::Collective(c)
            }
            Op::Barrier(b) => {
                reads.push(b.id);
                reads.extend(b.count.into_iter().chain(b.src.map(|g| g.pred)));
                writes.extend(b.dst);
                OperationKind::Barrier(b)
            }
            Op::Branch(target) => OperationKind::Branch { target: *target },
            Op::Switch { index, targets } => {
                reads.push(*index);
                OperationKind::Switch { targets: targets.of(&self.targets) }
            }
            Op::Call(call) => {
                if let Callee::Indirect(r, _) = call.callee {
                    reads.push(r);
                }
                OperationKind::Call(call)
            }
            Op::Ret => OperationKind::Return,
            Op::Exit => OperationKind::Exit,
            Op::Trap => OperationKind::Trap,
            Op::Fence(f) => OperationKind::Fence(*f),
            Op::System(s) => {
                reads.extend(s.args.iter().copied());
                writes.extend(s.dst);
                OperationKind::System(s)
            }
            Op::Stack(op) => {
                match **op {
                    StackOp::Save(dst) => writes.push(dst),
                    StackOp::Restore(src) => reads.push(src),
                    StackOp::Allocate { dst, size, .. } => {
                        reads.push(size);
                        writes.push(dst);
                    }
                }
                OperationKind::Stack(op)
            }
            Op::Yield => OperationKind::Yield,
            // The code that runs are in is not the one that is shown.
            Op::Nop | Op::Region(_) => OperationKind::Nothing,
            Op::Matrix(op) => {
                for (r, _, written) in op.registers() {
                    if written { writes.push(r) } else { reads.push(r) }
                }
                OperationKind::Matrix(op)
            }
            Op::Texture(op) => {
                for (r, _, written) in op.registers() {
                    if written { writes.push(r) } else { reads.push(r) }
                }
                OperationKind::Texture(op)
            }
            Op::Async(op) => {
                for (r, _, written) in op.registers() {
                    if written { writes.push(r) } else { reads.push(r) }
                }
                OperationKind::Async(op)
            }
        };
        // No guard is one that is always true: a negated zero.
        let guard = (guard != Reg::ZERO).then_some(Guard { pred: guard, negated: flip != 0 });
        Some(Operation { kind, guard, reads, writes })
    }
}

impl OperationKind<'_> {
    /// The access to memory that it makes, if it makes one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else accesses memory at a place of its own")]
    pub fn access(&self) -> Option<&Access> {
        match self {
            OperationKind::Load(access) | OperationKind::Store(access) => Some(access),
            OperationKind::Atomic(atomic) => Some(&atomic.access),
            OperationKind::Async(AsyncOp::Multimem(op)) => Some(&op.at),
            OperationKind::Async(AsyncOp::Mbarrier(op)) => Some(&op.at),
            _ => None,
        }
    }
}

impl Access {
    /// The register that the address is computed from; a constant where all lanes have the same address.
    pub fn base(&self) -> Reg {
        self.base
    }

    /// What is added to the register.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The address is relative to the running function's part of local memory.
    pub fn is_on_stack(&self) -> bool {
        self.on_stack
    }
}
