//! What atomic accesses, fences and warp-level operations say beyond their operands.

use crate::ops::Opcode;
use crate::types::{Scalar, Type};
use crate::words::words;
use std::fmt;

words! {
    /// What an atomic access orders (PTX ISA 9.0, 8.4).
    MemoryOrder {
        /// Nothing but itself.
        Relaxed "relaxed",
        /// What follows it.
        Acquire "acquire",
        /// What is before it.
        Release "release",
        /// Both.
        AcqRel "acq_rel",
        /// Both, and all of these among each other.
        SeqCst "seq_cst",
    }
}

words! {
    /// The threads that an atomic access or fence is ordered with.
    MemoryScope {
        /// The thread itself: what follows is not moved before it by the compiler.
        Thread "thread",
        /// The block.
        Cta "cta",
        /// The cluster.
        Cluster "cluster",
        /// The device.
        Gpu "gpu",
        /// Every device and the host.
        Sys "sys",
    }
}

words! {
    /// What `atomic_rmw` makes of the old value and its operand.
    AtomicOp {
        /// The operand.
        Xchg "xchg",
        /// The sum.
        Iadd "iadd",
        /// The difference.
        Isub "isub",
        /// Bitwise and.
        Band "band",
        /// Bitwise or.
        Bor "bor",
        /// Bitwise exclusive or.
        Bxor "bxor",
        /// The complement of bitwise and.
        Nand "nand",
        /// The lesser signed integer.
        Smin "smin",
        /// The greater signed integer.
        Smax "smax",
        /// The lesser unsigned integer.
        Umin "umin",
        /// The greater unsigned integer.
        Umax "umax",
        /// One more; 0 where the old value is the operand or more.
        Inc "inc",
        /// One less; the operand where the old value is 0 or more than it.
        Dec "dec",
        /// The sum of floats; of `f32` in global memory subnormals become zero, as PTX has it.
        Fadd "fadd",
        /// The difference of floats; of `f32` in global memory subnormals become zero, as in the sum.
        Fsub "fsub",
        /// The lesser float.
        Fmin "fmin",
        /// The greater float.
        Fmax "fmax",
    }
}

impl AtomicOp {
    /// True if it is of values of a type.
    pub const fn takes(self, ty: Type) -> bool {
        use AtomicOp::*;
        match self {
            Xchg => true,
            Iadd | Isub | Band | Bor | Bxor | Nand | Smin | Smax | Umin | Umax | Inc | Dec => {
                ty.is_int() && ty.bits() <= 64
            }
            Fadd | Fsub | Fmin | Fmax => {
                matches!(ty.element(), Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64)
            }
        }
    }
}

words! {
    /// Which lane `shfl` reads.
    ShuffleKind {
        /// The one that the operand names.
        Idx "idx",
        /// The one so many below; the lane itself where there is none.
        Up "up",
        /// The one so many above; the lane itself where there is none.
        Down "down",
        /// The one whose number differs by exclusive or.
        Bfly "bfly",
    }
}

words! {
    /// What `vote` says of all lanes.
    VoteKind {
        /// All are true.
        All "all",
        /// Any is true.
        Any "any",
        /// All are alike.
        Uni "uni",
    }
}

/// An atomic access, or a fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryMode {
    /// What `atomic_rmw` does.
    pub op: Option<AtomicOp>,
    /// What it orders.
    pub order: MemoryOrder,
    /// What a `cmpxchg` orders that finds another value.
    pub failure: Option<MemoryOrder>,
    /// With whom.
    pub scope: MemoryScope,
}

impl MemoryMode {
    /// An access or fence of an order and a scope.
    pub const fn new(order: MemoryOrder, scope: MemoryScope) -> MemoryMode {
        MemoryMode { op: None, order, failure: None, scope }
    }

    /// What a `cmpxchg` orders in either case: the stronger of both.
    pub fn strongest(self) -> MemoryOrder {
        match (self.order, self.failure) {
            (order, None) => order,
            (MemoryOrder::Release, Some(MemoryOrder::Acquire)) => MemoryOrder::AcqRel,
            (order, Some(failure)) => order.max(failure),
        }
    }

    /// Why an operation on a type cannot be so. `None` if it can.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others take every order")]
    pub fn refusal(self, op: Opcode, ty: Type) -> Option<String> {
        use MemoryOrder::*;
        let wrong = match op {
            Opcode::AtomicLoad => matches!(self.order, Release | AcqRel),
            Opcode::AtomicStore => matches!(self.order, Acquire | AcqRel),
            _ => false,
        };
        if wrong {
            return Some(format!("`{op}` cannot be `{}`", self.order));
        }
        if let Some(failure) = self.failure.filter(|failure| matches!(failure, Release | AcqRel)) {
            return Some(format!("`{op}` writes nothing where it fails, which cannot be `{failure}`"));
        }
        let rmw = self.op.filter(|rmw| !rmw.takes(ty));
        rmw.map(|rmw| format!("`{op} {rmw}` is not of {ty}"))
    }
}

impl fmt::Display for MemoryMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(op) = self.op {
            write!(f, "{op} ")?;
        }
        write!(f, "{}", self.order)?;
        if let Some(failure) = self.failure {
            write!(f, " {failure}")?;
        }
        write!(f, " {}", self.scope)
    }
}
