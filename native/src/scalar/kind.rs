//! What values are in Cranelift.

use super::integer::Int;
use cranelift_codegen::ir as clif;
use cranelift_codegen::ir::types;
use warpsmith_ir::{Scalar, Type};

/// What computes on a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An integer, a pointer, or bits that are only moved.
    Int(Int),
    /// `f16` or `bf16`, by the code of the helpers.
    Half(u32),
    Single,
    Double,
}

impl Kind {
    pub fn of(scalar: Scalar) -> Kind {
        match scalar {
            Scalar::F32 => Kind::Single,
            Scalar::F64 => Kind::Double,
            Scalar::F16 => Kind::Half(0),
            Scalar::BF16 => Kind::Half(1),
            Scalar::Invalid
            | Scalar::I1
            | Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::I128
            | Scalar::Odd(_)
            | Scalar::TF32
            | Scalar::E4M3
            | Scalar::E5M2
            | Scalar::E2M3
            | Scalar::E3M2
            | Scalar::E2M1
            | Scalar::UE8M0
            | Scalar::Ptr
            | Scalar::PtrGlobal
            | Scalar::PtrShared
            | Scalar::PtrLocal
            | Scalar::PtrConst
            | Scalar::PtrParam => Kind::Int(Int::of_bits(Type::scalar(scalar).bits().max(1))),
        }
    }

    /// The type that holds it.
    pub fn ty(self) -> clif::Type {
        match self {
            Kind::Int(int) => int.ty,
            Kind::Half(_) => types::I32,
            Kind::Single => types::F32,
            Kind::Double => types::F64,
        }
    }
}
