//! How threads work together: barriers, mbarrier objects, votes and shuffles, clusters, and the end of asynchronous operations.

use super::kinds;

kinds! {
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
}
