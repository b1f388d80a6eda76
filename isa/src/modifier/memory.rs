//! How memory is accessed: order, scope, state space, caches, and what an atomic operation does.

use super::kinds;

kinds! {
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

    /// A state space as a modifier names it, the block's shared memory distinguished from the cluster's.
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

    /// The class of memory that a tensor map's address is in.
    AllocationClass allocation_class {
        /// `.alloc_large`
        Large = AllocLarge,
        /// `.alloc_small`
        Small = AllocSmall,
        /// `.alloc_same`: as before.
        Same = AllocSame,
    }
}
