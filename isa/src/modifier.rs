//! What modifiers mean, kind by kind: each kind an enum, each enum a table from [`Mod`].
//!
//! A modifier may be of several kinds (`.and` is a [`BoolOp`] of `setp` and a [`Reduction`] of `atom`): which one counts, the operation says.
//! Types, matrix shapes and numbers have their own places ([`Mod::scalar`], [`Mod::shape`], [`Mod::number`]); what stands for itself is
//! one of [`FLAGS`].

use crate::{Instruction, Mod};

macro_rules! kinds {
    ($(
        $(#[$doc:meta])* $name:ident $accessor:ident {
            $($(#[$of:meta])* $variant:ident = $first:ident $(| $other:ident)*,)*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub enum $name {
                $($(#[$of])* $variant,)*
            }

            impl $name {
                /// Every value, in the order of the table.
                pub const ALL: &'static [$name] = &[$($name::$variant,)*];

                /// What a modifier stands for, if it is of this kind.
                pub const fn of(modifier: Mod) -> Option<Self> {
                    match modifier {
                        $(Mod::$first $(| Mod::$other)* => Some($name::$variant),)*
                        _ => None,
                    }
                }

                /// The modifier; where several stand for it, the first.
                pub const fn modifier(self) -> Mod {
                    match self {
                        $($name::$variant => Mod::$first,)*
                    }
                }
            }
        )*

        impl Instruction {
            $(
                #[doc = concat!("The first [`", stringify!($name), "`] that is written, else the one that holds by default.")]
                pub fn $accessor(&self) -> Option<$name> {
                    self.effective().find_map($name::of)
                }
            )*
        }

        #[cfg(test)]
        const KINDS: &[fn(Mod) -> bool] = &[$(|modifier| $name::of(modifier).is_some(),)*];
    };
}

kinds! {
    /// How a result is rounded. The modifiers with an `i` at their end round to an integer ([`Instruction::rounds_to_integer`]).
    Rounding rounding {
        /// `.rn`, `.rni`
        Nearest = Rn | Rni,
        /// `.rz`, `.rzi`
        Zero = Rz | Rzi,
        /// `.rm`, `.rmi`
        Down = Rm | Rmi,
        /// `.rp`, `.rpi`
        Up = Rp | Rpi,
        /// `.rna`
        NearestAway = Rna,
        /// `.rs`
        Stochastic = Rs,
    }

    /// The threads that a memory operation is ordered for, from the narrowest.
    Scope scope {
        /// `.cta`
        Cta = Cta,
        /// `.cluster`
        Cluster = Cluster,
        /// `.gpu`, `.gl`
        Gpu = Gpu | Gl,
        /// `.sys`
        Sys = Sys,
    }

    /// The semantics of a memory operation (manual 8.6). `.mmio` stands beside one of these.
    Order order {
        /// `.weak`
        Weak = Weak,
        /// `.volatile`
        Volatile = Volatile,
        /// `.relaxed`
        Relaxed = Relaxed,
        /// `.acquire`
        Acquire = Acquire,
        /// `.release`
        Release = Release,
        /// `.acq_rel`
        AcqRel = AcqRel,
        /// `.sc`
        Sc = Sc,
    }

    /// A comparison; those of unordered floats and of unsigned integers have names of their own.
    Comparison comparison {
        /// `.eq`
        Eq = Eq,
        /// `.ne`
        Ne = Ne,
        /// `.lt`
        Lt = Lt,
        /// `.le`
        Le = Le,
        /// `.gt`
        Gt = Gt,
        /// `.ge`
        Ge = Ge,
        /// `.lo`
        Lo = Lo,
        /// `.ls`
        Ls = Ls,
        /// `.hi`
        Hi = Hi,
        /// `.hs`
        Hs = Hs,
        /// `.equ`
        Equ = Equ,
        /// `.neu`
        Neu = Neu,
        /// `.ltu`
        Ltu = Ltu,
        /// `.leu`
        Leu = Leu,
        /// `.gtu`
        Gtu = Gtu,
        /// `.geu`
        Geu = Geu,
        /// `.num`
        Num = Num,
        /// `.nan`
        Nan = Nan,
    }

    /// What a comparison is combined with its third operand by.
    BoolOp bool_op {
        /// `.and`
        And = And,
        /// `.or`
        Or = Or,
        /// `.xor`
        Xor = Xor,
    }

    /// What an atomic operation, a reduction, a barrier or the second step of a video instruction does.
    Reduction reduction {
        /// `.add`
        Add = Add,
        /// `.min`
        Min = Min,
        /// `.max`
        Max = Max,
        /// `.inc`
        Inc = Inc,
        /// `.dec`
        Dec = Dec,
        /// `.and`
        And = And,
        /// `.or`
        Or = Or,
        /// `.xor`
        Xor = Xor,
        /// `.exch`
        Exchange = Exch,
        /// `.cas`
        CompareAndSwap = Cas,
        /// `.popc`
        PopCount = Popc,
    }

    /// A cache operator (manual 9.7.9.1).
    CacheOperator cache_operator {
        /// `.ca`
        Ca = Ca,
        /// `.cg`
        Cg = Cg,
        /// `.cs`
        Cs = Cs,
        /// `.lu`
        Lu = Lu,
        /// `.cv`
        Cv = Cv,
        /// `.wb`
        Wb = Wb,
        /// `.wt`
        Wt = Wt,
    }

    /// What the first-level cache evicts (manual 9.7.9.2).
    L1Eviction l1_eviction {
        /// `.L1::evict_normal`
        EvictNormal = L1EvictNormal,
        /// `.L1::evict_unchanged`
        EvictUnchanged = L1EvictUnchanged,
        /// `.L1::evict_first`
        EvictFirst = L1EvictFirst,
        /// `.L1::evict_last`
        EvictLast = L1EvictLast,
        /// `.L1::no_allocate`
        NoAllocate = L1NoAllocate,
    }

    /// What the second-level cache evicts (manual 9.7.9.2).
    L2Eviction l2_eviction {
        /// `.L2::evict_normal`
        EvictNormal = L2EvictNormal,
        /// `.L2::evict_unchanged`
        EvictUnchanged = L2EvictUnchanged,
        /// `.L2::evict_first`
        EvictFirst = L2EvictFirst,
        /// `.L2::evict_last`
        EvictLast = L2EvictLast,
    }

    /// How much an access prefetches.
    L2Prefetch l2_prefetch {
        /// `.L2::64B`
        Bytes64 = L2_64B,
        /// `.L2::128B`
        Bytes128 = L2_128B,
        /// `.L2::256B`
        Bytes256 = L2_256B,
    }

    /// A level of cache.
    CacheLevel cache_level {
        /// `.L1`
        L1 = L1,
        /// `.L2`
        L2 = L2,
    }

    /// The proxies that a fence orders accesses between (manual 8.7).
    Proxy proxy {
        /// `.alias`
        Alias = Alias,
        /// `.async`
        Async = Async,
        /// `.async::generic`
        AsyncToGeneric = AsyncGeneric,
        /// `.tensormap::generic`
        TensormapToGeneric = TensormapGeneric,
        /// `.generic::fabric`
        GenericToFabric = GenericFabric,
        /// `.fabric::generic`
        FabricToGeneric = FabricGeneric,
        /// `.fabric::fabric`
        FabricToFabric = FabricFabric,
    }

    /// A state space as a modifier names it, the block's shared memory told from the cluster's.
    SpaceModifier space_modifier {
        /// `.const`
        Const = Const,
        /// `.global`
        Global = Global,
        /// `.local`
        Local = Local,
        /// `.param`
        Param = Param,
        /// `.param::entry`
        ParamEntry = ParamEntry,
        /// `.param::func`
        ParamFunc = ParamFunc,
        /// `.shared`
        Shared = Shared,
        /// `.shared::cta`
        SharedCta = SharedCta,
        /// `.shared::cluster`
        SharedCluster = SharedCluster,
        /// `.tex`
        Tex = Tex,
    }

    /// The memory that a fence is restricted to.
    SyncRestrict sync_restrict {
        /// `.sync_restrict::shared::cta`
        SharedCta = SyncRestrictSharedCta,
        /// `.sync_restrict::shared::cluster`
        SharedCluster = SyncRestrictSharedCluster,
        /// `.sync_restrict::shared::cluster::read`
        SharedClusterRead = SyncRestrictSharedClusterRead,
        /// `.sync_restrict::reads`: the older name of `.sync_restrict::read`
        Reads = SyncRestrictReads,
        /// `.sync_restrict::shared::read::mma::a`
        MmaA = SyncRestrictSharedReadMmaA,
        /// `.sync_restrict::read`
        Read = SyncRestrictRead,
        /// `.sync_restrict::proxy::async`
        ProxyAsync = SyncRestrictProxyAsync,
    }

    /// How many of how many values are kept.
    SparsePattern sparse_pattern {
        /// `.sp::1:2`
        N1Of2 = Sp1_2,
        /// `.sp::1:4`
        N1Of4 = Sp1_4,
        /// `.sp::1:8`
        N1Of8 = Sp1_8,
        /// `.sp::1:16`
        N1Of16 = Sp1_16,
        /// `.sp::2:4`
        N2Of4 = Sp2_4,
        /// `.sp::2:8`
        N2Of8 = Sp2_8,
        /// `.sp::2:16`
        N2Of16 = Sp2_16,
        /// `.sp::4:8`
        N4Of8 = Sp4_8,
        /// `.sp::4:16`
        N4Of16 = Sp4_16,
    }

    /// How an mbarrier object is laid out (PTX ISA 9.4, 9.7.15.16.2).
    BarrierLayout barrier_layout {
        /// `.layout::v0`
        V0 = LayoutV0,
        /// `.layout::v1`: with a report and a conditional phase.
        V1 = LayoutV1,
    }

    /// Which phase of an mbarrier object is waited for.
    PhaseType phase_type {
        /// `.phase_type::primary`
        Primary = PhaseTypePrimary,
        /// `.phase_type::conditional`: only phases without a report count.
        Conditional = PhaseTypeConditional,
    }

    /// Which copied data is reported to the mbarrier object as invalid.
    ValidityReport validity_report {
        /// `.mbarrier::report::disabled`
        Disabled = MbarrierReportDisabled,
        /// `.mbarrier::report::validity::per_16bytes::80000000`
        Words = MbarrierReportValidityPer16bytes80000000,
        /// `.mbarrier::report::validity::per_16bytes::8000`
        Halves = MbarrierReportValidityPer16bytes8000,
        /// `.mbarrier::report::validity::per_16bytes::80`
        Bytes = MbarrierReportValidityPer16bytes80,
        /// `.mbarrier::report::validity::per_16bytes::8`
        Nibbles = MbarrierReportValidityPer16bytes8,
        /// `.mbarrier::report::validity::per_element::ff`
        Ones = MbarrierReportValidityPerElementFf,
    }

    /// The class of memory that a tensor map's address is in.
    AllocationClass allocation_class {
        /// `.alloc_large`
        Large = AllocLarge,
        /// `.alloc_small`
        Small = AllocSmall,
        /// `.alloc_same`: as before.
        Same = AllocSame,
    }

    /// What a thread does at a barrier.
    BarrierAction barrier_action {
        /// `.sync`
        Sync = Sync,
        /// `.arrive`
        Arrive = Arrive,
    }

    /// What `griddepcontrol` does.
    GridDependency grid_dependency {
        /// `.launch_dependents`
        LaunchDependents = LaunchDependents,
        /// `.wait`
        Wait = Wait,
    }

    /// How the end of an asynchronous operation is known.
    Completion completion {
        /// `.mbarrier::complete_tx::bytes`
        Mbarrier = MbarrierCompleteTxBytes,
        /// `.mbarrier::complete_tx::16B`
        MbarrierUnits = MbarrierCompleteTx16B,
        /// `.mbarrier::arrive::one`
        MbarrierArriveOne = MbarrierArriveOne,
        /// `.bulk_group`
        BulkGroup = BulkGroup,
    }

    /// The blocks of a cluster that a copy or a signal goes to.
    Multicast multicast {
        /// `.multicast::cluster`
        /// and `.multicast::cluster::16b`, with a mask of 16 bits
        Cluster = MulticastCluster | MulticastCluster16b,
        /// `.multicast::cluster::32b`, with a mask of 32 bits
        Cluster32 = MulticastCluster32b,
        /// `.multicast::cluster::all`
        All = MulticastClusterAll,
    }

    /// What `clusterlaunchcontrol.query_cancel` asks.
    CancelQuery cancel_query {
        /// `.is_canceled`
        IsCanceled = IsCanceled,
        /// `.get_first_ctaid`
        FirstBlock = GetFirstCtaid,
        /// `.get_first_ctaid::x`
        FirstBlockX = GetFirstCtaidX,
        /// `.get_first_ctaid::y`
        FirstBlockY = GetFirstCtaidY,
        /// `.get_first_ctaid::z`
        FirstBlockZ = GetFirstCtaidZ,
    }

    /// Which lane a shuffle reads.
    ShuffleMode shuffle_mode {
        /// `.up`
        Up = Up,
        /// `.down`
        Down = Down,
        /// `.bfly`
        Bfly = Bfly,
        /// `.idx`
        Idx = Idx,
    }

    /// What a vote asks of the lanes.
    VoteMode vote_mode {
        /// `.all`
        All = All,
        /// `.any`
        Any = Any,
        /// `.uni`
        Uni = Uni,
        /// `.ballot`
        Ballot = Ballot,
    }

    /// How `prmt` reads its selector.
    PermuteMode permute_mode {
        /// `.f4e`
        F4e = F4e,
        /// `.b4e`
        B4e = B4e,
        /// `.rc8`
        Rc8 = Rc8,
        /// `.ecl`
        Ecl = Ecl,
        /// `.ecr`
        Ecr = Ecr,
        /// `.rc16`
        Rc16 = Rc16,
    }

    /// What becomes of a shift amount or a coordinate that is out of range.
    OutOfRange out_of_range {
        /// `.clamp`
        Clamp = Clamp,
        /// `.wrap`
        Wrap = Wrap,
        /// `.trap`
        Trap = Trap,
        /// `.zero`
        Zero = Zero,
    }

    /// What `testp` asks of a number.
    NumberClass number_class {
        /// `.finite`
        Finite = Finite,
        /// `.infinite`
        Infinite = Infinite,
        /// `.number`
        Number = Number,
        /// `.notanumber`
        NotANumber = Notanumber,
        /// `.normal`
        Normal = Normal,
        /// `.subnormal`
        Subnormal = Subnormal,
    }

    /// The type that sums are kept in.
    Accumulator accumulator {
        /// `.acc::f16`
        F16 = AccF16,
        /// `.acc::f32`
        F32 = AccF32,
    }

    /// How far `vmad` shifts its result.
    VideoScale video_scale {
        /// `.shr7`
        Right7 = Shr7,
        /// `.shr15`
        Right15 = Shr15,
    }

    /// The geometry of a texture or surface; of a tensor, its dimensions.
    Geometry geometry {
        /// `.1d`
        N1d = N1d,
        /// `.2d`
        N2d = N2d,
        /// `.3d`
        N3d = N3d,
        /// `.4d`
        N4d = N4d,
        /// `.5d`
        N5d = N5d,
        /// `.a1d`
        A1d = A1d,
        /// `.a2d`
        A2d = A2d,
        /// `.cube`
        Cube = Cube,
        /// `.acube`
        Acube = Acube,
        /// `.2dms`
        N2dms = N2dms,
        /// `.a2dms`
        A2dms = A2dms,
    }

    /// The component of a texel that is gathered.
    Component component {
        /// `.r`
        R = R,
        /// `.g`
        G = G,
        /// `.b`
        B = B,
        /// `.a`
        A = A,
    }

    /// What is asked of a texture, sampler or surface.
    TextureQuery texture_query {
        /// `.width`
        Width = Width,
        /// `.height`
        Height = Height,
        /// `.depth`
        Depth = Depth,
        /// `.channel_data_type`
        ChannelDataType = ChannelDataType,
        /// `.channel_order`
        ChannelOrder = ChannelOrder,
        /// `.normalized_coords`
        NormalizedCoords = NormalizedCoords,
        /// `.force_unnormalized_coords`
        ForceUnnormalizedCoords = ForceUnnormalizedCoords,
        /// `.filter_mode`
        FilterMode = FilterMode,
        /// `.addr_mode_0`
        AddressMode0 = AddrMode0,
        /// `.addr_mode_1`
        AddressMode1 = AddrMode1,
        /// `.addr_mode_2`
        AddressMode2 = AddrMode2,
        /// `.array_size`
        ArraySize = ArraySize,
        /// `.num_mipmap_levels`
        NumMipmapLevels = NumMipmapLevels,
        /// `.num_samples`
        NumSamples = NumSamples,
        /// `.memory_layout`
        MemoryLayout = MemoryLayout,
    }

    /// How the elements of a tensor are reached.
    TensorMode tensor_mode {
        /// `.tile`
        Tile = Tile,
        /// `.tile::gather4`
        TileGather4 = TileGather4,
        /// `.tile::scatter4`
        TileScatter4 = TileScatter4,
        /// `.im2col`
        Im2col = Im2col,
        /// `.im2col_no_offs`
        Im2colNoOffsets = Im2colNoOffs,
        /// `.im2col_no_offs::w`
        Im2colNoOffsetsW = Im2colNoOffsW,
        /// `.im2col::w`
        Im2colW = Im2colW,
        /// `.im2col::w::128`
        Im2colW128 = Im2colW128,
    }

    /// A field of a tensor map.
    TensormapField tensormap_field {
        /// `.global_address`
        GlobalAddress = GlobalAddress,
        /// `.rank`
        Rank = Rank,
        /// `.box_dim`
        BoxDim = BoxDim,
        /// `.global_dim`
        GlobalDim = GlobalDim,
        /// `.global_stride`
        GlobalStride = GlobalStride,
        /// `.element_stride`
        ElementStride = ElementStride,
        /// `.elemtype`
        ElementType = Elemtype,
        /// `.interleave_layout`
        InterleaveLayout = InterleaveLayout,
        /// `.swizzle_mode`
        SwizzleMode = SwizzleMode,
        /// `.fill_mode`
        FillMode = FillMode,
        /// `.swizzle_atomicity`
        SwizzleAtomicity = SwizzleAtomicity,
    }

    /// The order of a matrix's elements; an instruction may name that of A and that of B.
    Layout layout {
        /// `.row`
        Row = Row,
        /// `.col`
        Col = Col,
    }

    /// How narrow elements lie in memory.
    PackedElements packed_elements {
        /// `.b8x16`
        B8x16 = B8x16,
        /// `.b6x16_p32`
        B6x16P32 = B6x16P32,
        /// `.b4x16_p64`
        B4x16P64 = B4x16P64,
    }

    /// The blocks whose tensor memory an instruction uses.
    CtaGroup cta_group {
        /// `.cta_group::1`
        One = CtaGroup1,
        /// `.cta_group::2`
        Two = CtaGroup2,
    }

    /// The types that a tensor core multiplies.
    MmaKind mma_kind {
        /// `.kind::f16`
        F16 = KindF16,
        /// `.kind::tf32`
        Tf32 = KindTf32,
        /// `.kind::f8f6f4`
        F8f6f4 = KindF8f6f4,
        /// `.kind::i8`
        I8 = KindI8,
        /// `.kind::ti16`
        Ti16 = KindTi16,
        /// `.kind::mxf8f6f4`
        Mxf8f6f4 = KindMxf8f6f4,
        /// `.kind::mxf4`
        Mxf4 = KindMxf4,
        /// `.kind::mxf4nvf4`
        Mxf4nvf4 = KindMxf4nvf4,
    }

    /// Which elements of a conversion share a factor.
    ConversionScale conversion_scale {
        /// `.scaled::n1::ue8m0`: both are divided by one.
        One = ScaledN1Ue8m0,
        /// `.scaled::n2::ue8m0`: each has its own.
        Two = ScaledN2Ue8m0,
    }

    /// How many scales a row of a matrix has.
    ScaleVector scale_vector {
        /// `.scale_vec::1X`
        X1 = ScaleVec1X,
        /// `.scale_vec::2X`
        X2 = ScaleVec2X,
        /// `.scale_vec::4X`
        X4 = ScaleVec4X,
        /// `.block16`
        Block16 = Block16,
        /// `.block32`
        Block32 = Block32,
    }

    /// The shape of a piece of tensor memory.
    TensorShape tensor_shape {
        /// `.128x128b`
        N128x128b = N128x128b,
        /// `.128x256b`
        N128x256b = N128x256b,
        /// `.16x128b`
        N16x128b = N16x128b,
        /// `.16x256b`
        N16x256b = N16x256b,
        /// `.16x32bx2`
        N16x32bx2 = N16x32bx2,
        /// `.16x64b`
        N16x64b = N16x64b,
        /// `.32x128b`
        N32x128b = N32x128b,
        /// `.32x32b`
        N32x32b = N32x32b,
        /// `.4x256b`
        N4x256b = N4x256b,
        /// `.64x128b`
        N64x128b = N64x128b,
    }

    /// The warps that a copy to tensor memory goes to.
    WarpMulticast warp_multicast {
        /// `.warpx2::01_23`
        Pairs0123 = Warpx2_01_23,
        /// `.warpx2::02_13`
        Pairs0213 = Warpx2_02_13,
        /// `.warpx4`
        Four = Warpx4,
    }

    /// How the metadata of a sparse matrix lies.
    Sparsity sparsity {
        /// `.sp`
        Plain = Sp,
        /// `.sp::ordered_metadata`
        OrderedMetadata = SpOrderedMetadata,
    }

    /// The buffer that an instruction collects a matrix in.
    CollectorBuffer collector_buffer {
        /// `.collector::a::fill`, `.collector::a::use`, `.collector::a::lastuse`, `.collector::a::discard`
        A = CollectorAFill | CollectorAUse | CollectorALastuse | CollectorADiscard,
        /// `.collector::b0::fill`, `.collector::b0::use`, `.collector::b0::lastuse`, `.collector::b0::discard`
        B0 = CollectorB0Fill | CollectorB0Use | CollectorB0Lastuse | CollectorB0Discard,
        /// `.collector::b1::fill`, `.collector::b1::use`, `.collector::b1::lastuse`, `.collector::b1::discard`
        B1 = CollectorB1Fill | CollectorB1Use | CollectorB1Lastuse | CollectorB1Discard,
        /// `.collector::b2::fill`, `.collector::b2::use`, `.collector::b2::lastuse`, `.collector::b2::discard`
        B2 = CollectorB2Fill | CollectorB2Use | CollectorB2Lastuse | CollectorB2Discard,
        /// How the collector keeps matrix B, where A has one too: `.collector::b::fill`, `.collector::b::use`, `.collector::b::lastuse`, `.collector::b::discard`
        B = CollectorBFill | CollectorBUse | CollectorBLastuse | CollectorBDiscard,
        /// `.collector::b3::fill`, `.collector::b3::use`, `.collector::b3::lastuse`, `.collector::b3::discard`
        B3 = CollectorB3Fill | CollectorB3Use | CollectorB3Lastuse | CollectorB3Discard,
    }

    /// What becomes of a collector buffer.
    CollectorUse collector_use {
        /// `.collector::a::fill`, `.collector::b0::fill`, `.collector::b1::fill`, `.collector::b2::fill`, `.collector::b3::fill`
        Fill = CollectorAFill | CollectorB0Fill | CollectorB1Fill | CollectorB2Fill | CollectorB3Fill | CollectorBFill,
        /// `.collector::a::use`, `.collector::b0::use`, `.collector::b1::use`, `.collector::b2::use`, `.collector::b3::use`
        Use = CollectorAUse | CollectorB0Use | CollectorB1Use | CollectorB2Use | CollectorB3Use | CollectorBUse,
        /// `.collector::a::lastuse`, `.collector::b0::lastuse`, `.collector::b1::lastuse`, `.collector::b2::lastuse`, `.collector::b3::lastuse`
        LastUse = CollectorALastuse | CollectorB0Lastuse | CollectorB1Lastuse | CollectorB2Lastuse | CollectorB3Lastuse | CollectorBLastuse,
        /// `.collector::a::discard`, `.collector::b0::discard`, `.collector::b1::discard`, `.collector::b2::discard`, `.collector::b3::discard`
        Discard = CollectorADiscard | CollectorB0Discard | CollectorB1Discard | CollectorB2Discard | CollectorB3Discard | CollectorBDiscard,
    }
}

/// Modifiers that stand for themselves and for numbers: [`Instruction::has`] asks for them.
pub const FLAGS: &[Mod] = &[
    Mod::Approx,
    Mod::Full,
    Mod::Ftz,
    Mod::Noftz,
    Mod::Sat,
    Mod::Satfinite,
    Mod::Relu,
    Mod::Abs,
    Mod::NaN,
    Mod::Xorsign,
    Mod::Cc,
    Mod::Po,
    Mod::Fabric,
    Mod::CommitGroup,
    Mod::OpRestrictFetching,
    Mod::CountedBytes,
    Mod::Multimem,
    Mod::MbarrierReportFabric,
    Mod::OverrideGlobalAddress,
    Mod::OverrideGlobalDim,
    Mod::OverrideGlobalDimStride,
    Mod::Exclusive,
    Mod::DecompressLutB,
    Mod::B2,
    Mod::B4,
    Mod::ProxyReadonly,
    Mod::ValidAddr,
    Mod::IgnoreOob,
    Mod::L1_32B,
    Mod::Pzo,
    Mod::N2pi,
    Mod::Shiftamt,
    Mod::Nc,
    Mod::Noinc,
    Mod::Read,
    Mod::Trans,
    Mod::Aligned,
    Mod::Sync,
    Mod::Mmio,
    Mod::MbarrierInit,
    Mod::CpMask,
    Mod::Oob,
    Mod::BlockScale,
    Mod::Ashift,
    Mod::L2CacheHint,
    Mod::Pack16b,
    Mod::Unpack16b,
    Mod::Mask,
    Mod::Tensormap,
    Mod::B1024,
    Mod::V2,
    Mod::V4,
    Mod::V8,
    Mod::X1,
    Mod::X2,
    Mod::X4,
    Mod::X8,
    Mod::X16,
    Mod::X32,
    Mod::X64,
    Mod::X128,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_modifier_of_the_tables_is_of_a_kind() {
        let known = |m: Mod| {
            m.scalar().is_some()
                || m.shape().is_some()
                || FLAGS.contains(&m)
                || KINDS.iter().any(|kind| kind(m))
        };
        let unknown: Vec<Mod> = Mod::all().filter(|m| !known(*m)).collect();
        assert!(unknown.is_empty(), "in no table of kinds: {unknown:?}");
    }

    #[test]
    fn every_flag_stands_for_nothing_else() {
        let of_a_kind: Vec<_> = FLAGS.iter().filter(|m| KINDS.iter().any(|kind| kind(**m))).collect();
        assert_eq!(of_a_kind, [&Mod::Sync], "told by a kind already");
    }
}
