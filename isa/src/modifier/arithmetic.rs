//! How numbers are computed: rounding, comparison, selection and range.

use super::kinds;

kinds! {
    /// How a result is rounded. The modifiers with an `i` at their end round to an integer ([`Instruction::rounds_to_integer`](crate::Instruction::rounds_to_integer)).
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

    /// Which elements of a conversion share a factor.
    ConversionScale conversion_scale {
        /// `.scaled::n1::ue8m0`: both are divided by one.
        One = ScaledN1Ue8m0,
        /// `.scaled::n2::ue8m0`: each has its own.
        Two = ScaledN2Ue8m0,
    }
}
