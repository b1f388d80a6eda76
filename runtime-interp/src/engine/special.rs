//! Special registers (PTX ISA 9.0, chapter 10).

macro_rules! specials {
    ($($(#[$doc:meta])* $variant:ident $name:literal $bits:literal,)*) => {
        /// A special register that the engine supplies.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Special { $($(#[$doc])* $variant,)* }

        impl Special {
            /// Every special register the engine knows.
            pub const ALL: &'static [Special] = &[$(Special::$variant,)*];

            /// The name without the percent sign: `tid.x`.
            pub const fn name(self) -> &'static str {
                match self { $(Special::$variant => $name,)* }
            }

            /// Bits of its value: 1 for a predicate, 32 or 64.
            pub const fn bits(self) -> u32 {
                match self { $(Special::$variant => $bits,)* }
            }
        }
    };
}

specials! {
    TidX "tid.x" 32,
    TidY "tid.y" 32,
    TidZ "tid.z" 32,
    NtidX "ntid.x" 32,
    NtidY "ntid.y" 32,
    NtidZ "ntid.z" 32,
    LaneId "laneid" 32,
    WarpId "warpid" 32,
    NWarpId "nwarpid" 32,
    CtaIdX "ctaid.x" 32,
    CtaIdY "ctaid.y" 32,
    CtaIdZ "ctaid.z" 32,
    NCtaIdX "nctaid.x" 32,
    NCtaIdY "nctaid.y" 32,
    NCtaIdZ "nctaid.z" 32,
    SmId "smid" 32,
    NSmId "nsmid" 32,
    GridId "gridid" 64,
    IsExplicitCluster "is_explicit_cluster" 1,
    ClusterIdX "clusterid.x" 32,
    ClusterIdY "clusterid.y" 32,
    ClusterIdZ "clusterid.z" 32,
    NClusterIdX "nclusterid.x" 32,
    NClusterIdY "nclusterid.y" 32,
    NClusterIdZ "nclusterid.z" 32,
    ClusterCtaIdX "cluster_ctaid.x" 32,
    ClusterCtaIdY "cluster_ctaid.y" 32,
    ClusterCtaIdZ "cluster_ctaid.z" 32,
    ClusterNCtaIdX "cluster_nctaid.x" 32,
    ClusterNCtaIdY "cluster_nctaid.y" 32,
    ClusterNCtaIdZ "cluster_nctaid.z" 32,
    ClusterCtaRank "cluster_ctarank" 32,
    ClusterNCtaRank "cluster_nctarank" 32,
    LaneMaskEq "lanemask_eq" 32,
    LaneMaskLe "lanemask_le" 32,
    LaneMaskLt "lanemask_lt" 32,
    LaneMaskGe "lanemask_ge" 32,
    LaneMaskGt "lanemask_gt" 32,
    /// The number of warp instructions the warp has executed, so that a run is repeatable.
    Clock "clock" 32,
    ClockHi "clock_hi" 32,
    Clock64 "clock64" 64,
    /// The same count, as nanoseconds.
    GlobalTimer "globaltimer" 64,
    GlobalTimerLo "globaltimer_lo" 32,
    GlobalTimerHi "globaltimer_hi" 32,
    TotalSmemSize "total_smem_size" 32,
    AggrSmemSize "aggr_smem_size" 32,
    DynamicSmemSize "dynamic_smem_size" 32,
    ReservedSmemOffsetBegin "reserved_smem_offset_begin" 32,
    ReservedSmemOffsetEnd "reserved_smem_offset_end" 32,
    ReservedSmemOffsetCap "reserved_smem_offset_cap" 32,
    CurrentGraphExec "current_graph_exec" 64,
}

impl Special {
    /// The register of a name such as `tid.x` or `%tid.x`. `%pmN` and `%envregN` have no meaning outside a real driver and
    /// are unknown.
    pub fn from_name(name: &str) -> Option<Special> {
        let name = name.strip_prefix('%').unwrap_or(name);
        Special::ALL.iter().copied().find(|s| s.name() == name)
    }
}
