//! What PTX has since 9.0, and who executes it.
//!
//! A later version extends old instructions: an operation that is executed may have forms and modifiers that nothing here knows. They are refused
//! as a whole, and an operation is put on the list when all of its later forms are executed too.

use warpsmith_isa::{Clause, Instruction, Operation, Version};

/// The last version all of whose computing instructions are executed.
const COMPLETE: Version = Version::new(9, 0);

/// The operations whose later forms are executed, as far as their planners and decoders know them.
const EXECUTED: &[Operation] = &[
    Operation::AddInteger,
    Operation::SubInteger,
    Operation::NegInteger,
    Operation::MinInteger,
    Operation::MaxInteger,
    Operation::ClmadLo,
    Operation::ClmadHi,
    Operation::Sin,
    Operation::Cos,
    Operation::Set,
    Operation::AddMixed,
    Operation::SubMixed,
    Operation::MulMixed,
    Operation::FmaMixed,
    Operation::AddByte,
    Operation::SubByte,
    Operation::MulByte,
    Operation::FmaByte,
    Operation::Cvt,
    Operation::Ld,
    Operation::LdNoncoherent,
    Operation::St,
    Operation::StAsync,
    Operation::Prefetch,
    Operation::Atom,
    Operation::Red,
    Operation::RedAsync,
    Operation::MultimemStAsync,
    Operation::MultimemRedAsync,
    Operation::CpAsyncBulk,
    Operation::CpReduceAsyncBulk,
    Operation::CpAsyncBulkPrefetch,
    Operation::CpAsyncBulkWaitGroup,
    Operation::MultimemCpAsyncBulk,
    Operation::MultimemCpReduceAsyncBulk,
    Operation::ApplypriorityAsyncBulk,
    Operation::MembarProxy,
    Operation::FenceProxy,
    Operation::FenceAlias,
    Operation::MbarrierInit,
    Operation::MbarrierCheckLayout,
    Operation::MbarrierExpectTx,
    Operation::MbarrierCompleteTx,
    Operation::MbarrierArrive,
    Operation::MbarrierArriveExpectTx,
    Operation::MbarrierArriveDrop,
    Operation::MbarrierArriveDropExpectTx,
    Operation::MbarrierTestWait,
    Operation::MbarrierTestWaitParity,
    Operation::MbarrierTryWait,
    Operation::MbarrierTryWaitParity,
    Operation::MbarrierPendingCount,
    Operation::ApplypriorityAsyncBulkTensor,
    Operation::CpAsyncBulkTensor,
    Operation::CpReduceAsyncBulkTensor,
    Operation::CpAsyncBulkPrefetchTensor,
    Operation::TensormapReplace,
    Operation::TensormapQueryAllocClassLarge,
    Operation::Ldmatrix,
    Operation::Mma,
    Operation::MmaSparse,
    Operation::Tcgen05Alloc,
    Operation::Tcgen05Dealloc,
    Operation::Tcgen05Commit,
    Operation::Tcgen05Mma,
    Operation::Tcgen05MmaSparse,
    Operation::Tcgen05MmaWs,
    Operation::Tcgen05MmaWsSparse,
    Operation::Spcompress,
    Operation::Spdecompress,
    Operation::TraceMark,
    Operation::TraceMarkCond,
];

/// True for a form, or a modifier, of a later version that has no semantics here.
pub(crate) fn is_refused(instruction: &Instruction) -> bool {
    !EXECUTED.contains(&instruction.operation()) && instruction.clauses().any(|(_, clause)| is_later(clause))
}

fn is_later(clause: &Clause) -> bool {
    let later = |since: Option<Version>| since.is_some_and(|since| since > COMPLETE);
    clause.releases.is_none() && !clause.any.is_empty() && clause.any.iter().all(|any| later(any.since))
}
