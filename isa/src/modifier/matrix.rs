//! Matrices and tensor memory.

use super::kinds;

kinds! {
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
