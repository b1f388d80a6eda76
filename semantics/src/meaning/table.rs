//! The table of all operations: what each of them means.

use super::{
    Computation, CopyGroup, Effect, FenceKind, MbarrierAction, Meaning, Refusal, TensorMemoryAction,
    TextureAction,
};
use crate::plan::{Planner, compare, convert, float, half, integer, logic, mixed, sparse, video};
use warpsmith_isa::Operation;

const fn computes(planner: Planner) -> Meaning {
    Meaning::Computes(Computation(planner))
}

const fn mbarrier(action: MbarrierAction) -> Meaning {
    Meaning::Does(Effect::Mbarrier(action))
}

const fn arrive(drop: bool, expect_tx: bool, no_complete: bool) -> Meaning {
    mbarrier(MbarrierAction::Arrive { drop, expect_tx, no_complete })
}

const fn test(parity: bool, blocking: bool) -> Meaning {
    mbarrier(MbarrierAction::Test { parity, blocking })
}

impl Meaning {
    /// What an operation means. The table is total: an operation without a row does not compile.
    pub const fn of(operation: Operation) -> Meaning {
        use Effect::*;
        use Meaning::{Does, Refused};
        use Operation as Op;
        match operation {
            // Integer arithmetic (9.7.1).
            Op::AddInteger => computes(integer::add),
            Op::SubInteger => computes(integer::sub),
            Op::MulLo => computes(integer::mul_lo),
            Op::MulHi => computes(integer::mul_hi),
            Op::MulWide => computes(integer::mul_wide),
            Op::MadLoInteger => computes(integer::mad_lo),
            Op::MadHiInteger => computes(integer::mad_hi),
            Op::MadWide => computes(integer::mad_wide),
            Op::Mul24Lo => computes(integer::mul24_lo),
            Op::Mul24Hi => computes(integer::mul24_hi),
            Op::ClmadLo => computes(integer::clmad_lo),
            Op::ClmadHi => computes(integer::clmad_hi),
            Op::Mad24Lo => computes(integer::mad24_lo),
            Op::Mad24Hi => computes(integer::mad24_hi),
            Op::Sad => computes(integer::sad),
            Op::DivInteger => computes(integer::div),
            Op::Rem => computes(integer::rem),
            Op::AbsInteger => computes(integer::abs),
            Op::NegInteger => computes(integer::neg),
            Op::MinInteger => computes(integer::min),
            Op::MaxInteger => computes(integer::max),
            Op::Popc => computes(integer::popc),
            Op::Clz => computes(integer::clz),
            Op::Bfind => computes(integer::bfind),
            Op::Fns => computes(integer::fns),
            Op::Brev => computes(integer::brev),
            Op::Bfe => computes(integer::bfe),
            Op::Bfi => computes(integer::bfi),
            Op::Szext => computes(integer::szext),
            Op::Bmsk => computes(integer::bmsk),
            Op::Dp4a => computes(integer::dp4a),
            Op::Dp2aLo => computes(integer::dp2a_lo),
            Op::Dp2aHi => computes(integer::dp2a_hi),

            // Extended precision (9.7.2).
            Op::AddCarry => computes(integer::add_cc),
            Op::Addc => computes(integer::addc),
            Op::SubCarry => computes(integer::sub_cc),
            Op::Subc => computes(integer::subc),
            Op::MadLoCarry => computes(integer::mad_lo_cc),
            Op::MadHiCarry => computes(integer::mad_hi_cc),
            Op::MadcLo => computes(integer::madc_lo),
            Op::MadcHi => computes(integer::madc_hi),

            // Floating point (9.7.3).
            Op::Testp => computes(compare::testp),
            Op::Copysign => computes(float::copysign),
            Op::AddFloat => computes(float::add),
            Op::SubFloat => computes(float::sub),
            Op::MulFloat => computes(float::mul),
            Op::FmaFloat => computes(float::fma),
            Op::Mad => computes(float::fma),
            Op::DivFloat => computes(float::div),
            Op::DivFull => computes(float::div_full),
            Op::AbsFloat => computes(float::abs),
            Op::NegFloat => computes(float::neg),
            Op::MinFloat => computes(float::min),
            Op::MaxFloat => computes(float::max),
            Op::RcpFloat => computes(float::rcp),
            Op::RcpApproxF64 => computes(float::rcp_approx_f64),
            Op::Sqrt => computes(float::sqrt),
            Op::RsqrtFloat => computes(float::rsqrt),
            Op::RsqrtApproxF64 => computes(float::rsqrt_approx_f64),
            Op::Sin => computes(float::sin),
            Op::Cos => computes(float::cos),
            Op::Lg2 => computes(float::lg2),
            Op::Ex2Float => computes(float::ex2),
            Op::TanhFloat => computes(float::tanh),

            // Half precision (9.7.4) and mixed precision (9.7.5).
            Op::AddHalf => computes(half::add),
            Op::SubHalf => computes(half::sub),
            Op::MulHalf => computes(half::mul),
            Op::FmaHalf => computes(half::fma),
            Op::NegHalf => computes(half::neg),
            Op::AbsHalf => computes(half::abs),
            Op::MinHalf => computes(half::min),
            Op::MaxHalf => computes(half::max),
            Op::TanhHalf => computes(half::tanh),
            Op::Ex2Half => computes(half::ex2),
            Op::AddMixed => computes(float::add_mixed),
            Op::SubMixed => computes(float::sub_mixed),
            Op::FmaMixed => computes(float::fma_mixed),
            Op::MulMixed => computes(mixed::mul),
            Op::AddByte => computes(mixed::add_bytes),
            Op::SubByte => computes(mixed::sub_bytes),
            Op::MulByte => computes(mixed::mul_bytes),
            Op::FmaByte => computes(mixed::fma_bytes),

            // Comparison and selection (9.7.6, 9.7.7).
            Op::Set | Op::SetHalf => computes(compare::set),
            Op::Setp | Op::SetpHalf => computes(compare::setp),
            Op::Selp => computes(compare::selp),
            Op::Slct => computes(compare::slct),

            // Logic and shifts (9.7.8), and bytes (9.7.9.7).
            Op::And => computes(logic::and),
            Op::Or => computes(logic::or),
            Op::Xor => computes(logic::xor),
            Op::Not => computes(logic::not),
            Op::Cnot => computes(logic::cnot),
            Op::Lop3 => computes(logic::lop3),
            Op::ShfL => computes(logic::shf_l),
            Op::ShfR => computes(logic::shf_r),
            Op::Shl => computes(logic::shl),
            Op::Shr => computes(logic::shr),
            Op::Prmt => computes(logic::prmt),

            // Conversions (9.7.9.21, 9.7.9.22).
            Op::Cvt => computes(convert::cvt),
            Op::CvtPack => computes(convert::pack),

            // Video (9.7.18).
            Op::Vadd => computes(video::vadd),
            Op::Vsub => computes(video::vsub),
            Op::Vabsdiff => computes(video::vabsdiff),
            Op::Vmin => computes(video::vmin),
            Op::Vmax => computes(video::vmax),
            Op::Vshl => computes(video::vshl),
            Op::Vshr => computes(video::vshr),
            Op::Vmad => computes(video::vmad),
            Op::Vset => computes(video::vset),
            Op::Vadd2 => computes(video::vadd2),
            Op::Vsub2 => computes(video::vsub2),
            Op::Vabsdiff2 => computes(video::vabsdiff2),
            Op::Vavrg2 => computes(video::vavrg2),
            Op::Vmin2 => computes(video::vmin2),
            Op::Vmax2 => computes(video::vmax2),
            Op::Vset2 => computes(video::vset2),
            Op::Vadd4 => computes(video::vadd4),
            Op::Vsub4 => computes(video::vsub4),
            Op::Vabsdiff4 => computes(video::vabsdiff4),
            Op::Vavrg4 => computes(video::vavrg4),
            Op::Vmin4 => computes(video::vmin4),
            Op::Vmax4 => computes(video::vmax4),
            Op::Vset4 => computes(video::vset4),

            // Data movement (9.7.9).
            Op::Mov => Does(Move),
            Op::Ld | Op::LdNoncoherent | Op::Ldu => Does(Load),
            Op::St => Does(Store),
            Op::StAsync => Does(StoreAsync),
            Op::StBulk => Does(Fill),
            Op::Prefetch | Op::Prefetchu | Op::Applypriority => Does(Hint),
            Op::Discard => Does(Discard),
            Op::CreatepolicyCvt | Op::CreatepolicyFractional | Op::CreatepolicyRange => Does(CachePolicy),
            Op::Isspacep => Does(IsInSpace),
            Op::Cvta => Does(ToGeneric),
            Op::CvtaTo => Does(ToSpace),
            Op::Mapa => Does(MapAddress),
            Op::Getctarank => Does(RankOfAddress),
            Op::Shfl | Op::ShflSync => Does(Shuffle),
            Op::MultimemLdReduce => Does(MulticastLoad),
            Op::MultimemSt => Does(MulticastStore),
            Op::MultimemRed => Does(MulticastReduce),
            Op::MultimemStAsync => Does(StoreAsync),
            Op::MultimemRedAsync => Does(ReduceAsync),
            Op::MultimemCpAsyncBulk | Op::MultimemCpReduceAsyncBulk => Does(BulkCopy),
            Op::CpAsync => Does(Copy),
            Op::CpAsyncCommitGroup => Does(CommitGroup(CopyGroup::Plain)),
            Op::CpAsyncWaitGroup => Does(WaitGroup(CopyGroup::Plain)),
            Op::CpAsyncWaitAll => Does(WaitAll),
            Op::CpAsyncBulk | Op::CpReduceAsyncBulk => Does(BulkCopy),
            Op::CpAsyncBulkPrefetch => Does(Hint),
            Op::CpAsyncBulkCommitGroup => Does(CommitGroup(CopyGroup::Bulk)),
            Op::CpAsyncBulkWaitGroup => Does(WaitGroup(CopyGroup::Bulk)),
            Op::CpAsyncBulkTensor | Op::CpReduceAsyncBulkTensor => Does(TensorCopy),
            Op::CpAsyncBulkPrefetchTensor => Does(TensorPrefetch),
            Op::TensormapReplace => Does(ReplaceTensorMapField),
            Op::TensormapQueryAllocClassLarge => Does(QueryTensorMap),
            Op::ApplypriorityAsyncBulk | Op::ApplypriorityAsyncBulkTensor => Does(Hint),

            // Textures and surfaces (9.7.10, 9.7.11).
            Op::Tex | Op::TexBase | Op::TexGrad | Op::TexLevel => Does(Texture(TextureAction::Fetch)),
            Op::Tld4 => Does(Texture(TextureAction::Gather)),
            Op::Txq | Op::TxqLevel | Op::Suq => Does(Texture(TextureAction::Query)),
            Op::Istypep => Does(Texture(TextureAction::IsOfType)),
            Op::SuldB => Does(Texture(TextureAction::Load)),
            Op::SustB | Op::SustP => Does(Texture(TextureAction::Store)),
            Op::SuredB | Op::SuredP => Does(Texture(TextureAction::Reduce)),

            // Control flow (9.7.12).
            Op::Bra => Does(Branch),
            Op::BrxIdx => Does(BranchIndirect),
            Op::Call => Does(Call),
            Op::Ret => Does(Return),
            Op::Exit => Does(Exit),

            // Synchronisation and communication (9.7.13).
            Op::Bar | Op::BarCta | Op::Barrier | Op::BarrierCta => Does(BlockBarrier { reduces: false }),
            Op::BarRed | Op::BarCtaRed | Op::BarrierRed | Op::BarrierCtaRed => {
                Does(BlockBarrier { reduces: true })
            }
            Op::BarWarp => Does(WarpBarrier),
            Op::BarrierClusterArrive => Does(ClusterArrive),
            Op::BarrierClusterWait => Does(ClusterWait),
            Op::Membar => Does(Fence(FenceKind::Membar)),
            Op::Fence => Does(Fence(FenceKind::Fence)),
            Op::MembarProxy | Op::FenceProxy | Op::FenceAlias => Does(Fence(FenceKind::Proxy)),
            Op::Atom => Does(Atomic),
            Op::Red => Does(Reduce),
            Op::RedAsync => Does(ReduceAsync),
            Op::Vote | Op::VoteSync => Does(Vote),
            Op::Match => Does(Match),
            Op::Activemask => Does(ActiveMask),
            Op::Redux => Does(ReduceLanes),
            Op::Elect => Does(Elect),
            Op::Griddepcontrol => Does(GridDependency),
            Op::TensormapCpFenceproxy => Does(CopyTensorMap),
            Op::ClusterlaunchcontrolTryCancelAsync => Does(TryCancel),
            Op::ClusterlaunchcontrolQueryCancel => Does(QueryCancel),

            // mbarrier objects (9.7.13.15).
            Op::MbarrierInit => mbarrier(MbarrierAction::Init),
            Op::MbarrierCheckLayout => mbarrier(MbarrierAction::CheckLayout),
            Op::MbarrierInval => mbarrier(MbarrierAction::Invalidate),
            Op::MbarrierExpectTx => mbarrier(MbarrierAction::ExpectTx),
            Op::MbarrierCompleteTx => mbarrier(MbarrierAction::CompleteTx),
            Op::MbarrierArrive => arrive(false, false, false),
            Op::MbarrierArriveExpectTx => arrive(false, true, false),
            Op::MbarrierArriveNoComplete => arrive(false, false, true),
            Op::MbarrierArriveDrop => arrive(true, false, false),
            Op::MbarrierArriveDropExpectTx => arrive(true, true, false),
            Op::MbarrierArriveDropNoComplete => arrive(true, false, true),
            Op::MbarrierTestWait => test(false, false),
            Op::MbarrierTestWaitParity => test(true, false),
            Op::MbarrierTryWait => test(false, true),
            Op::MbarrierTryWaitParity => test(true, true),
            Op::MbarrierPendingCount => Does(PendingCount),
            Op::CpAsyncMbarrierArrive => Does(ArriveOnCopies),

            // Matrices (9.7.14, 9.7.15).
            Op::Mma | Op::MmaSparse | Op::WmmaMma => Does(Multiply),
            Op::WmmaLoadA | Op::WmmaLoadB | Op::WmmaLoadC => Does(LoadFragment),
            Op::WmmaStoreD => Does(StoreFragment),
            Op::Ldmatrix => Does(LoadLines),
            Op::Stmatrix => Does(StoreLines),
            Op::Movmatrix => Does(TransposeLanes),
            Op::WgmmaMmaAsync | Op::WgmmaMmaAsyncSparse => Does(MultiplyAsync),
            Op::WgmmaFence => Does(ProductFence),
            Op::WgmmaCommitGroup => Does(ProductCommit),
            Op::WgmmaWaitGroup => Does(ProductWait),

            // Tensor memory (9.7.16).
            Op::Tcgen05Alloc => Does(TensorMemory(TensorMemoryAction::Allocate)),
            Op::Tcgen05Dealloc => Does(TensorMemory(TensorMemoryAction::Deallocate)),
            Op::Tcgen05RelinquishAllocPermit => Does(TensorMemory(TensorMemoryAction::Relinquish)),
            Op::Tcgen05Ld => Does(TensorMemory(TensorMemoryAction::Load { reduces: false })),
            Op::Tcgen05LdRed => Does(TensorMemory(TensorMemoryAction::Load { reduces: true })),
            Op::Tcgen05St => Does(TensorMemory(TensorMemoryAction::Store)),
            Op::Tcgen05WaitLd => Does(TensorMemory(TensorMemoryAction::WaitLoads)),
            Op::Tcgen05WaitSt => Does(TensorMemory(TensorMemoryAction::WaitStores)),
            Op::Tcgen05FenceAfterThreadSync | Op::Tcgen05FenceBeforeThreadSync => {
                Does(TensorMemory(TensorMemoryAction::Fence))
            }
            Op::Tcgen05Cp => Does(TensorMemory(TensorMemoryAction::Copy)),
            Op::Tcgen05Shift => Does(TensorMemory(TensorMemoryAction::Shift)),
            Op::Tcgen05Mma | Op::Tcgen05MmaSparse | Op::Tcgen05MmaWs | Op::Tcgen05MmaWsSparse => {
                Does(TensorMemory(TensorMemoryAction::Multiply))
            }
            Op::Tcgen05Commit => Does(TensorMemory(TensorMemoryAction::Commit)),
            Op::Tcgen05LdSpcompress | Op::Tcgen05LdRedSpcompress => Refused(Refusal::Later),

            // The stack (9.7.17) and the rest (9.7.19).
            Op::Spcompress => computes(sparse::compress),
            Op::Spdecompress => computes(sparse::decompress),
            Op::FabricTryGetAsync
            | Op::FabricTryPutAsync
            | Op::FabricTryRedAsync
            | Op::FabricTryPullredAsync
            | Op::FabricTryAtomAsync
            | Op::FabricTryGetAsyncTensor
            | Op::FabricTryPutAsyncTensor
            | Op::FabricTryRedAsyncTensor
            | Op::FabricSubmit
            | Op::FabricWait => Refused(Refusal::Fabric),
            Op::Stacksave => Does(StackSave),
            Op::Stackrestore => Does(StackRestore),
            Op::Alloca => Does(StackAllocate),
            Op::TraceMark | Op::TraceMarkCond => Does(Mark),
            Op::Brkpt | Op::Trap => Does(Trap),
            Op::Nanosleep => Does(Yield),
            Op::SetmaxnregDec => Does(RegisterCount { increases: false }),
            Op::SetmaxnregInc => Does(RegisterCount { increases: true }),
            Op::Pmevent => Does(Hint),
        }
    }
}
