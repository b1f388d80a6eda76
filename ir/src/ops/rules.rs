//! What a row says of the types of operands and results.

use crate::types::{Scalar, Type};

/// How an instruction is written, and which variant of [`InstData`](crate::InstData) holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Shape {
    IntConst,
    FloatConst,
    Unary,
    /// Stored like [`Shape::Unary`]; the result type is written as a suffix.
    Convert,
    Binary,
    Ternary,
    IntCompare,
    FloatCompare,
    Load,
    Store,
    Index,
    StackAddr,
    GlobalAddr,
    FuncAddr,
    Vec,
    Extract,
    Insert,
    Zero,
    Aggregate,
    ExtractValue,
    InsertValue,
    MemBlock,
    Sreg,
    Call,
    CallIndirect,
    Ptx,
    Jump,
    Brif,
    Switch,
    Return,
    Trap,
    /// Operands in a list, with an [`Attr`](crate::Attr) that says what the operands do not.
    List,
}

/// What an operand's type must be. Block arguments are apart: they follow the block's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandRule {
    /// The type `T` of the instruction.
    T,
    /// `i1`.
    I1,
    /// `i8`.
    I8,
    /// `i1`; where `T` is a vector, that or as many `i1`.
    Bools,
    /// `i32`.
    I32,
    /// `i32`; where `T` is a vector, that or as many `i32`.
    Amount,
    /// `i64`.
    I64,
    /// `i32` or `i64`: an offset is read as signed, a size as unsigned.
    Offset,
    /// Any pointer.
    Ptr,
    /// The element of `T`.
    Element,
    /// As many of the element as the vector has.
    Elements,
    /// A struct or array.
    Aggregate,
    /// The fields of a struct or array, or what a path leads to.
    Fields,
    /// The parameters of the callee.
    Arguments,
    /// What the PTX tables say.
    OfTable,
    /// What the function returns.
    ReturnValue,
}

/// What the result's type is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultRule {
    /// There is no result.
    None,
    /// The type `T` of the operands.
    T,
    /// `i1`; where `T` is a vector, as many `i1`.
    Bools,
    /// The type `T` of the operands, and what [`ResultRule::Bools`] is.
    TAndBools,
    /// `i32`.
    I32,
    /// `i32` and `i1`.
    I32AndI1,
    /// `i64`.
    I64,
    /// The suffix, which is in the row's set.
    Suffix,
    /// The suffix: an integer of more bits than `T`.
    WiderInt,
    /// The suffix: an integer of fewer bits than `T`.
    NarrowerInt,
    /// The suffix: a float that holds every `T`.
    WiderFloat,
    /// The suffix: a float of fewer bits than `T`, or `tf32` of `f32`.
    NarrowerFloat,
    /// The suffix: an integer.
    ToInt,
    /// The suffix: a float.
    ToFloat,
    /// The suffix: any type of the same size.
    SameBits,
    /// The suffix: a pointer.
    ToPtr,
    /// `ptr`.
    Ptr,
    /// `ptr<local>`.
    PtrLocal,
    /// The pointer to the global's space.
    PtrOfGlobal,
    /// The vector of the operands.
    VectorOf,
    /// The suffix: a vector of `T`.
    VectorOfT,
    /// As many elements of `T` as are listed.
    Shuffled,
    /// The element of `T`.
    Element,
    /// What the special register holds.
    OfSreg,
    /// What the callee returns.
    OfCallee,
    /// The suffix; without one there is no result.
    OfCall,
    /// What the PTX tables say.
    OfTable,
}

impl ResultRule {
    /// How many results there are, where the operation alone says so.
    #[allow(clippy::wildcard_enum_match_arm, reason = "the others have one result")]
    pub(crate) fn count(self) -> usize {
        match self {
            ResultRule::None => 0,
            ResultRule::TAndBools | ResultRule::I32AndI1 => 2,
            _ => 1,
        }
    }

    /// True if the result's type stands in the name of the operation: `load.f32`.
    pub const fn takes_suffix(self) -> bool {
        use ResultRule::*;
        matches!(
            self,
            Suffix
                | WiderInt
                | NarrowerInt
                | WiderFloat
                | NarrowerFloat
                | ToInt
                | ToFloat
                | SameBits
                | ToPtr
                | VectorOfT
        )
    }

    /// True if `ty` may stand in the name of an operation on `t`. `types` is the row's set.
    pub fn allows(self, types: TypeSet, t: Type, ty: Type) -> bool {
        let wider = ty.element_type().bits() > t.element_type().bits();
        let narrower = ty.element_type().bits() < t.element_type().bits();
        let same_lanes = ty.lanes() == t.lanes();
        match self {
            ResultRule::Suffix => types.contains(ty),
            ResultRule::WiderInt => TypeSet::Int.contains(ty) && wider && same_lanes,
            ResultRule::NarrowerInt => TypeSet::BoolInt.contains(ty) && narrower && same_lanes,
            ResultRule::WiderFloat => {
                TypeSet::Float.contains(ty) && ty.element().holds(t.element()) && same_lanes
            }
            ResultRule::NarrowerFloat => {
                // `tf32` has fewer bits than the `f32` that it is kept in.
                let narrower = narrower || matches!((t.element(), ty.element()), (Scalar::F32, Scalar::TF32));
                TypeSet::Float.contains(ty) && narrower && same_lanes
            }
            ResultRule::ToInt => TypeSet::Int.contains(ty) && same_lanes,
            ResultRule::ToFloat => TypeSet::Float.contains(ty) && same_lanes,
            ResultRule::SameBits => TypeSet::Bits.contains(ty) && ty.bits() == t.bits(),
            ResultRule::ToPtr => ty.is_ptr(),
            ResultRule::VectorOfT => ty.is_vector() && ty.element_type() == t,
            ResultRule::None
            | ResultRule::T
            | ResultRule::Bools
            | ResultRule::TAndBools
            | ResultRule::I32
            | ResultRule::I32AndI1
            | ResultRule::I64
            | ResultRule::Ptr
            | ResultRule::PtrLocal
            | ResultRule::PtrOfGlobal
            | ResultRule::VectorOf
            | ResultRule::Shuffled
            | ResultRule::Element
            | ResultRule::OfSreg
            | ResultRule::OfCallee
            | ResultRule::OfCall
            | ResultRule::OfTable => false,
        }
    }
}

/// A set of types that a row of the table allows for `T`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeSet {
    /// Integers but `i1`, and vectors of them.
    Int,
    /// Integers but `i1`.
    ScalarInt,
    /// Integers, and vectors of them.
    BoolInt,
    /// Integers and pointers, and vectors of them.
    BoolIntPtr,
    /// Integers.
    AnyInt,
    /// Every float format that has a sign, and vectors of them.
    Float,
    /// Every float format.
    AnyFloat,
    /// Pointers.
    Ptr,
    /// Scalars and vectors with a memory form, structs and arrays.
    Memory,
    /// Structs and arrays.
    Aggregate,
    /// What `bitcast` may look through: everything but `i1` and pointers.
    Bits,
    /// What a vector may hold.
    VectorElement,
    /// Vectors.
    Vector,
    /// `i1`.
    Bool,
    /// What atomic accesses are of.
    Atomic,
    /// Every type.
    Any,
}

impl TypeSet {
    /// True if the type is in the set.
    pub const fn contains(self, ty: Type) -> bool {
        use Scalar::*;
        if ty.is_invalid() {
            return false;
        }
        let element = ty.element_type();
        match self {
            TypeSet::Int => element.is_int() && !matches!(ty.element(), I1),
            TypeSet::ScalarInt => ty.is_int() && !matches!(ty.element(), I1),
            TypeSet::BoolInt => element.is_int(),
            TypeSet::BoolIntPtr => element.is_int() || element.is_ptr(),
            TypeSet::AnyInt => ty.is_int(),
            TypeSet::Float => element.is_float(),
            TypeSet::AnyFloat => ty.is_float(),
            TypeSet::Ptr => ty.is_ptr(),
            TypeSet::Memory => ty.bytes().is_some() || ty.is_aggregate(),
            TypeSet::Aggregate => ty.is_aggregate(),
            TypeSet::Bits => !element.is_ptr() && ty.bits() > 1,
            TypeSet::VectorElement => Type::vector(ty.element(), 2).is_some() && !ty.is_vector(),
            TypeSet::Vector => ty.is_vector(),
            TypeSet::Bool => matches!(ty.element(), I1) && !ty.is_vector(),
            TypeSet::Atomic => {
                ty.is_ptr()
                    || ty.is_int() && !ty.is_odd() && !matches!(ty.element(), I1)
                    || !ty.is_vector() && matches!(ty.element(), F16 | BF16 | F32 | F64)
            }
            TypeSet::Any => true,
        }
    }

    /// The set in words, for messages.
    pub const fn describe(self) -> &'static str {
        match self {
            TypeSet::Int => "an integer of at least 2 bits or a vector of such",
            TypeSet::ScalarInt => "an integer of at least 2 bits",
            TypeSet::BoolInt => "an integer or a vector of integers",
            TypeSet::BoolIntPtr => "an integer, a pointer, or a vector of such",
            TypeSet::AnyInt => "an integer type",
            TypeSet::Float => "a float or a vector of floats",
            TypeSet::AnyFloat => "a float type",
            TypeSet::Ptr => "a pointer",
            TypeSet::Memory => "a type of whole bytes",
            TypeSet::Aggregate => "a struct or array",
            TypeSet::Bits => "a type other than i1 and pointers",
            TypeSet::VectorElement => "an i1, i8, i16, i32, i64, i128, a float or a pointer",
            TypeSet::Vector => "a vector",
            TypeSet::Bool => "an i1",
            TypeSet::Atomic => "an i8, i16, i32, i64, i128, f16, bf16, f32, f64 or a pointer",
            TypeSet::Any => "any type",
        }
    }
}
