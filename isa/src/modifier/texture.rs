//! Textures, surfaces and tensor maps.

use super::kinds;

kinds! {
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
}
