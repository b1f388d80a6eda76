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
    /// The same count, in nanoseconds at the machine's clock rate.
    GlobalTimer "globaltimer" 64,
    GlobalTimerLo "globaltimer_lo" 32,
    GlobalTimerHi "globaltimer_hi" 32,
    TotalSmemSize "total_smem_size" 32,
    AggrSmemSize "aggr_smem_size" 32,
    DynamicSmemSize "dynamic_smem_size" 32,
    ReservedSmemOffsetBegin "reserved_smem_offset_begin" 32,
    ReservedSmemOffsetEnd "reserved_smem_offset_end" 32,
    ReservedSmemOffsetCap "reserved_smem_offset_cap" 32,
    ReservedSmemOffset0 "reserved_smem_offset_0" 32,
    ReservedSmemOffset1 "reserved_smem_offset_1" 32,
    CurrentGraphExec "current_graph_exec" 64,
    /// Memory that a driver sets aside for each block (PTX ISA 9.4, 11.4.10). A size of zero says that it does not: so it is here.
    PerCtaMemorySize "perctamemorysize" 32,
    PerCtaMemoryOffset "perctamemoryoffset" 64,
    /// Performance counters, whose behaviour the manual leaves undefined (10.25): always zero.
    Pm0 "pm0" 32, Pm1 "pm1" 32, Pm2 "pm2" 32, Pm3 "pm3" 32,
    Pm4 "pm4" 32, Pm5 "pm5" 32, Pm6 "pm6" 32, Pm7 "pm7" 32,
    /// The same in 64 bits (10.26).
    Pm0Wide "pm0_64" 64, Pm1Wide "pm1_64" 64, Pm2Wide "pm2_64" 64, Pm3Wide "pm3_64" 64,
    Pm4Wide "pm4_64" 64, Pm5Wide "pm5_64" 64, Pm6Wide "pm6_64" 64, Pm7Wide "pm7_64" 64,
    /// What the driver passes to a kernel (10.27): here, what the machine is configured with.
    EnvReg0 "envreg0" 32, EnvReg1 "envreg1" 32, EnvReg2 "envreg2" 32, EnvReg3 "envreg3" 32,
    EnvReg4 "envreg4" 32, EnvReg5 "envreg5" 32, EnvReg6 "envreg6" 32, EnvReg7 "envreg7" 32,
    EnvReg8 "envreg8" 32, EnvReg9 "envreg9" 32, EnvReg10 "envreg10" 32, EnvReg11 "envreg11" 32,
    EnvReg12 "envreg12" 32, EnvReg13 "envreg13" 32, EnvReg14 "envreg14" 32, EnvReg15 "envreg15" 32,
    EnvReg16 "envreg16" 32, EnvReg17 "envreg17" 32, EnvReg18 "envreg18" 32, EnvReg19 "envreg19" 32,
    EnvReg20 "envreg20" 32, EnvReg21 "envreg21" 32, EnvReg22 "envreg22" 32, EnvReg23 "envreg23" 32,
    EnvReg24 "envreg24" 32, EnvReg25 "envreg25" 32, EnvReg26 "envreg26" 32, EnvReg27 "envreg27" 32,
    EnvReg28 "envreg28" 32, EnvReg29 "envreg29" 32, EnvReg30 "envreg30" 32, EnvReg31 "envreg31" 32,
}

impl Special {
    /// Its value changes as time passes.
    pub const fn is_clock(self) -> bool {
        use Special::*;
        matches!(self, Clock | Clock64 | ClockHi | GlobalTimer | GlobalTimerLo | GlobalTimerHi)
    }

    /// The register of a name such as `tid.x` or `%tid.x`.
    pub fn from_name(name: &str) -> Option<Special> {
        let name = name.strip_prefix('%').unwrap_or(name);
        Special::ALL.iter().copied().find(|s| s.name() == name)
    }
}
