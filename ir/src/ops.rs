//! The core operations, as one table. The opcode enum, the parser, the printer, the builder's methods, the verifier's typing
//! rules and the traits that passes ask for are all made from it; `docs/ir.md` says the same in prose.

use crate::types::{Scalar, Type};
use crate::words::words;
use std::fmt;

/// Calls `$then! { rows }` with the table. A row is: documentation, variant, name, shape, operand rules, result rule, the
/// types that `T` stands for, traits.
macro_rules! for_each_op {
    ($then:ident) => {
        $then! {
            /// An integer constant.
            Iconst iconst IntConst () Suffix AnyInt [];
            /// A floating-point constant.
            Fconst fconst FloatConst () Suffix AnyFloat [];

            /// The sum, modulo 2^width.
            Iadd iadd Binary (T T) T Int [COMMUTATIVE];
            /// The difference, modulo 2^width.
            Isub isub Binary (T T) T Int [];
            /// The low half of the product.
            Imul imul Binary (T T) T Int [COMMUTATIVE];
            /// The high half of the unsigned product.
            Umulhi umulhi Binary (T T) T Int [COMMUTATIVE];
            /// The high half of the signed product.
            Smulhi smulhi Binary (T T) T Int [COMMUTATIVE];
            /// The signed quotient, toward zero; all ones for a zero divisor; MIN / -1 is MIN.
            Sdiv sdiv Binary (T T) T Int [];
            /// The unsigned quotient; all ones for a zero divisor.
            Udiv udiv Binary (T T) T Int [];
            /// The signed remainder, with the dividend's sign; all ones for a zero divisor; MIN % -1 is 0.
            Srem srem Binary (T T) T Int [];
            /// The unsigned remainder; all ones for a zero divisor.
            Urem urem Binary (T T) T Int [];
            /// The negation, modulo 2^width.
            Ineg ineg Unary (T) T Int [];
            /// The absolute value; MIN for MIN.
            Iabs iabs Unary (T) T Int [];
            /// The lesser of two signed integers.
            Smin smin Binary (T T) T Int [COMMUTATIVE];
            /// The greater of two signed integers.
            Smax smax Binary (T T) T Int [COMMUTATIVE];
            /// The lesser of two unsigned integers.
            Umin umin Binary (T T) T Int [COMMUTATIVE];
            /// The greater of two unsigned integers.
            Umax umax Binary (T T) T Int [COMMUTATIVE];

            /// Bitwise and.
            Band band Binary (T T) T BoolInt [COMMUTATIVE];
            /// Bitwise or.
            Bor bor Binary (T T) T BoolInt [COMMUTATIVE];
            /// Bitwise exclusive or.
            Bxor bxor Binary (T T) T BoolInt [COMMUTATIVE];
            /// Bitwise complement.
            Bnot bnot Unary (T) T BoolInt [];
            /// Shift left by an unsigned amount; 0 if the amount is the width or more.
            Shl shl Binary (T Amount) T Int [];
            /// Shift right by an unsigned amount, zeros coming in; 0 if the amount is the width or more.
            Lshr lshr Binary (T Amount) T Int [];
            /// Shift right by an unsigned amount, sign bits coming in; all sign bits if the amount is the width or more.
            Ashr ashr Binary (T Amount) T Int [];
            /// Rotate left by an amount modulo the width.
            Rotl rotl Binary (T Amount) T Int [];
            /// Rotate right by an amount modulo the width.
            Rotr rotr Binary (T Amount) T Int [];
            /// The number of one bits.
            Popcnt popcnt Unary (T) T Int [];
            /// The number of zero bits above the highest one bit; the width for 0.
            Clz clz Unary (T) T Int [];
            /// The number of zero bits below the lowest one bit; the width for 0.
            Ctz ctz Unary (T) T Int [];
            /// The bits in reverse order.
            Bitrev bitrev Unary (T) T Int [];
            /// The bytes in reverse order; the width is a multiple of 8.
            Bswap bswap Unary (T) T Int [];
            /// The unsigned sum; the greatest number if it does not fit.
            UaddSat uadd_sat Binary (T T) T Int [COMMUTATIVE];
            /// The signed sum; the nearest number if it does not fit.
            SaddSat sadd_sat Binary (T T) T Int [COMMUTATIVE];
            /// The unsigned difference; 0 if it is negative.
            UsubSat usub_sat Binary (T T) T Int [];
            /// The signed difference; the nearest number if it does not fit.
            SsubSat ssub_sat Binary (T T) T Int [];
            /// Shift left of an unsigned number; the greatest number if a one bit is lost.
            UshlSat ushl_sat Binary (T Amount) T Int [];
            /// Shift left of a signed number; the nearest number if it does not fit.
            SshlSat sshl_sat Binary (T Amount) T Int [];
            /// The upper half of the first operand followed by the second, shifted left by the third modulo the width.
            Fshl fshl Ternary (T T Amount) T Int [];
            /// The lower half of the first operand followed by the second, shifted right by the third modulo the width.
            Fshr fshr Ternary (T T Amount) T Int [];
            /// So many bits from a position on, zeros above them; position and length modulo 256, bits beyond the width are 0.
            Ubfx ubfx Ternary (T Amount Amount) T Int [];
            /// So many bits from a position on, copies of the last one above them; beyond the width are copies of the sign.
            Sbfx sbfx Ternary (T Amount Amount) T Int [];
            /// The first operand with so many bits from a position on replaced by the low bits of the second.
            Bfi bfi List (T T Amount Amount) T Int [];
            /// The sum, and whether it is not the unsigned sum.
            UaddOverflow uadd_overflow List (T T) TAndBools Int [COMMUTATIVE];
            /// The sum, and whether it is not the signed sum.
            SaddOverflow sadd_overflow List (T T) TAndBools Int [COMMUTATIVE];
            /// The difference, and whether it is not the unsigned difference.
            UsubOverflow usub_overflow List (T T) TAndBools Int [];
            /// The difference, and whether it is not the signed difference.
            SsubOverflow ssub_overflow List (T T) TAndBools Int [];
            /// The low half of the product, and whether it is not the unsigned product.
            UmulOverflow umul_overflow List (T T) TAndBools Int [COMMUTATIVE];
            /// The low half of the product, and whether it is not the signed product.
            SmulOverflow smul_overflow List (T T) TAndBools Int [COMMUTATIVE];

            /// Compares integers or pointers.
            Icmp icmp IntCompare (T T) Bools BoolIntPtr [];
            /// Compares floats.
            Fcmp fcmp FloatCompare (T T) Bools Float [];
            /// The second operand if the first is true, else the third.
            Select select Ternary (Bools T T) T Any [];

            /// The sum, rounded to nearest even.
            Fadd fadd Binary (T T) T Float [COMMUTATIVE];
            /// The difference, rounded to nearest even.
            Fsub fsub Binary (T T) T Float [];
            /// The product, rounded to nearest even.
            Fmul fmul Binary (T T) T Float [COMMUTATIVE];
            /// The quotient, rounded to nearest even.
            Fdiv fdiv Binary (T T) T Float [];
            /// What is left of the first operand after as many times the second as fit, with the first one's sign: C's `fmod`, exact.
            Frem frem Binary (T T) T Float [];
            /// The first operand times the second plus the third, rounded once, to nearest even.
            Fma fma Ternary (T T T) T Float [];
            /// The lesser operand; NaN if one is NaN; -0 is less than +0.
            Fminimum fminimum Binary (T T) T Float [COMMUTATIVE];
            /// The greater operand; NaN if one is NaN; -0 is less than +0.
            Fmaximum fmaximum Binary (T T) T Float [COMMUTATIVE];
            /// The reciprocal of the square root, approximately.
            Frsqrt frsqrt Unary (T) T Float [];
            /// The reciprocal, approximately.
            Frcp frcp Unary (T) T Float [];
            /// The sine, approximately.
            Fsin fsin Unary (T) T Float [];
            /// The cosine, approximately.
            Fcos fcos Unary (T) T Float [];
            /// Two to the power of the operand, approximately.
            Fexp2 fexp2 Unary (T) T Float [];
            /// The logarithm to base two, approximately.
            Flog2 flog2 Unary (T) T Float [];
            /// The hyperbolic tangent, approximately.
            Ftanh ftanh Unary (T) T Float [];
            /// The operand with its sign bit flipped.
            Fneg fneg Unary (T) T Float [];
            /// The operand with its sign bit cleared.
            Fabs fabs Unary (T) T Float [];
            /// The square root, rounded to nearest even.
            Fsqrt fsqrt Unary (T) T Float [];
            /// The lesser operand; the other one if one is NaN; -0 is less than +0.
            Fmin fmin Binary (T T) T Float [COMMUTATIVE];
            /// The greater operand; the other one if one is NaN; -0 is less than +0.
            Fmax fmax Binary (T T) T Float [COMMUTATIVE];
            /// The first operand with the sign bit of the second.
            Fcopysign fcopysign Binary (T T) T Float [];
            /// Rounds to an integral value, toward negative infinity.
            Ffloor ffloor Unary (T) T Float [];
            /// Rounds to an integral value, toward positive infinity.
            Fceil fceil Unary (T) T Float [];
            /// Rounds to an integral value, toward zero.
            Ftrunc ftrunc Unary (T) T Float [];
            /// Rounds to the nearest integral value, ties to even.
            Fnearest fnearest Unary (T) T Float [];
            /// Rounds to the nearest integral value, ties away from zero.
            Fround fround Unary (T) T Float [];

            /// The low bits of an integer.
            Trunc trunc Convert (T) NarrowerInt Int [];
            /// A wider integer with zeros above.
            Zext zext Convert (T) WiderInt BoolInt [];
            /// A wider integer with sign bits above; an `i1` gives 0 or -1.
            Sext sext Convert (T) WiderInt BoolInt [];
            /// A float in a narrower format, rounded to nearest even.
            Fptrunc fptrunc Convert (T) NarrowerFloat Float [];
            /// A float in a wider format, exactly.
            Fpext fpext Convert (T) WiderFloat Float [];
            /// The float nearest to a signed integer, ties to even.
            Sitofp sitofp Convert (T) ToFloat Int [];
            /// The float nearest to an unsigned integer, ties to even.
            Uitofp uitofp Convert (T) ToFloat BoolInt [];
            /// A signed integer, rounded toward zero and clamped to its range; 0 for NaN.
            Fptosi fptosi Convert (T) ToInt Float [];
            /// An unsigned integer, rounded toward zero and clamped to its range; 0 for NaN.
            Fptoui fptoui Convert (T) ToInt Float [];
            /// The same bits as another type; element 0 of a vector holds the lowest bits.
            Bitcast bitcast Convert (T) SameBits Bits [];
            /// The address as an integer, in the pointer's own space.
            Ptrtoint ptrtoint Unary (T) I64 Ptr [];
            /// The pointer with this address in the result's space.
            Inttoptr inttoptr Convert (I64) ToPtr Any [];
            /// The same memory seen from another space: one of the two is generic.
            Addrspacecast addrspacecast Convert (T) ToPtr Ptr [];

            /// Reads memory.
            Load load Load (Ptr) Suffix Memory [READS];
            /// Writes the first operand to the memory that the second points to.
            Store store Store (T Ptr) None Memory [WRITES];
            /// The pointer moved by a signed number of bytes.
            Ptradd ptradd Binary (T Offset) T Ptr [];
            /// The pointer moved by a signed index times a constant.
            Index index Index (T Offset) T Ptr [];
            /// The address of a stack slot.
            StackAddr stack_addr StackAddr () PtrLocal Any [];
            /// The address of a global.
            GlobalAddr global_addr GlobalAddr () PtrOfGlobal Any [];

            /// The address of a function, for calls through it.
            FuncAddr func_addr FuncAddr () Ptr Any [];

            /// A vector of the operands.
            Vec vec Vec (Elements) VectorOf VectorElement [];
            /// One element of a vector.
            Extract extract Extract (T) Element Vector [];
            /// The first operand with one element replaced by the second.
            Insert insert Insert (T Element) T Vector [];
            /// The element that an unsigned number names; zero for one that is not there.
            ExtractAt extract_at List (T I32) Element Vector [];
            /// The first operand with the element that an unsigned number names replaced by the second; none for one that is not there.
            InsertAt insert_at List (T Element I32) T Vector [];
            /// A vector of equal elements.
            Splat splat Convert (T) VectorOfT VectorElement [];
            /// The elements of two vectors, one behind the other, that are listed.
            Shuffle shuffle List (T T) Shuffled Vector [];
            /// All elements of a vector put together by an operation, from the first to the last.
            Reduce reduce List (T) Element Vector [];

            /// The value whose bits are all zero, of any type.
            Zero zero Zero () Suffix Any [];
            /// A struct or array of the operands, one for each field.
            Aggregate aggregate Aggregate (Fields) Suffix Aggregate [];
            /// The part of a struct or array that a path of fields leads to.
            ExtractValue extract_value ExtractValue (Aggregate) Suffix Any [];
            /// The first operand with the part that a path of fields leads to replaced by the second.
            InsertValue insert_value InsertValue (T Fields) T Aggregate [];
            /// Copies bytes between memory that does not overlap: to the first operand, from the second, as many as the third says.
            Memcpy memcpy MemBlock (Ptr Ptr Offset) None Any [READS WRITES];
            /// Copies bytes between memory that may overlap: to the first operand, from the second, as many as the third says.
            Memmove memmove MemBlock (Ptr Ptr Offset) None Any [READS WRITES];
            /// Fills memory at the first operand with the byte that is the second, as many times as the third says.
            Memset memset MemBlock (Ptr I8 Offset) None Any [WRITES];

            /// A special register.
            Sreg sreg Sreg () OfSreg Any [];
            /// Calls a function of the module.
            Call call Call (Arguments) OfCallee Any [READS WRITES CONVERGENT SIDE_EFFECT];
            /// Calls the function at an address, which takes and returns what is written.
            CallIndirect call_indirect CallIndirect (Ptr Arguments) OfCall Any [READS WRITES CONVERGENT SIDE_EFFECT];
            /// An operation of the PTX tables.
            Ptx ptx Ptx (OfTable) OfTable Any [];

            /// Reads memory in one access that threads may make at the same time.
            AtomicLoad atomic_load List (Ptr) Suffix Atomic [READS WRITES SIDE_EFFECT];
            /// Writes memory in one access that threads may make at the same time.
            AtomicStore atomic_store List (T Ptr) None Atomic [READS WRITES SIDE_EFFECT];
            /// Changes memory in one access, and gives what it held.
            AtomicRmw atomic_rmw List (Ptr T) T Atomic [READS WRITES SIDE_EFFECT];
            /// Writes the third operand to memory that holds the second, in one access; gives what it held, and whether it was that.
            Cmpxchg cmpxchg List (Ptr T T) TAndBools Atomic [READS WRITES SIDE_EFFECT];
            /// Orders the accesses before it and behind it.
            Fence fence List () None Any [READS WRITES SIDE_EFFECT];

            /// The first operand of another lane of the warp; the third is the mask of the lanes that take part.
            Shfl shfl List (T I32 I32) T Any [CONVERGENT];
            /// What is said of the operand of all lanes that the mask names.
            Vote vote List (T I32) T Bool [CONVERGENT];
            /// The lanes that the mask names whose operand is true, as a mask.
            Ballot ballot List (T I32) I32 Bool [CONVERGENT];
            /// The lanes that the mask names whose operand has the same bits as this one's, as a mask.
            MatchAny match_any List (T I32) I32 Any [CONVERGENT];
            /// The mask and true if all lanes that it names have the same bits, else 0 and false.
            MatchAll match_all List (T I32) I32AndI1 Any [CONVERGENT];
            /// The operands of the lanes that the mask names put together by an operation, from the lowest lane to the highest.
            WarpReduce warp_reduce List (T I32) T Any [CONVERGENT];
            /// Waits for the lanes that the mask names.
            WarpSync warp_sync List (I32) None Any [READS WRITES CONVERGENT SIDE_EFFECT];
            /// The lanes that are executing this together, as a mask.
            Activemask activemask List () I32 Any [CONVERGENT SIDE_EFFECT];
            /// Waits for all threads of the block.
            Barrier barrier List () None Any [READS WRITES CONVERGENT SIDE_EFFECT];

            /// Prints arguments by a format, as C's does; gives how many there were.
            Printf printf List (Arguments) I32 Any [READS WRITES SIDE_EFFECT];
            /// Ends the launch with a message if the operand is false.
            Assert assert List (T) None Bool [READS WRITES SIDE_EFFECT];
            /// The address of so many new bytes of global memory; null if there are none.
            Malloc malloc List (I64) Ptr Any [READS WRITES SIDE_EFFECT];
            /// Gives back what `malloc` gave.
            Free free List (Ptr) None Any [READS WRITES SIDE_EFFECT];
            /// Lets other threads run for about so many nanoseconds.
            Nanosleep nanosleep List (I32) None Any [SIDE_EFFECT];
            /// Says that the operand is true.
            Assume assume List (T) None Bool [SIDE_EFFECT];
            /// The first operand, which mostly is the second.
            Expect expect List (T T) T BoolInt [];

            /// Is never reached.
            Unreachable unreachable List () None Any [TERMINATOR SIDE_EFFECT];
            /// Goes to a block.
            Jump jump Jump () None Any [TERMINATOR];
            /// Goes to the first block if the operand is true, else to the second.
            Brif brif Brif (I1) None Any [TERMINATOR];
            /// Goes to the block listed for the operand's value, else to the default.
            Switch switch Switch (T) None ScalarInt [TERMINATOR];
            /// Returns to the caller, or ends the thread of a kernel.
            Ret ret Return (ReturnValue) None Any [TERMINATOR];
            /// Ends the launch with an error.
            Trap trap Trap () None Any [TERMINATOR SIDE_EFFECT];
        }
    };
}
pub(crate) use for_each_op;

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
            TypeSet::Float => element.is_float() && !matches!(ty.element(), UE8M0),
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

/// What an instruction does beyond computing its results: a set of the constants below.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits(u8);

impl Traits {
    /// No effect: may be removed, repeated, merged and moved.
    pub const NONE: Traits = Traits(0);
    /// Reads memory.
    pub const READS: Traits = Traits(1);
    /// Writes memory.
    pub const WRITES: Traits = Traits(2);
    /// Communicates with other threads of the warp or block: must not be made to depend on more control flow.
    pub const CONVERGENT: Traits = Traits(4);
    /// Has an effect that is not in its results or in memory: must be kept, in order, executed as often as written.
    pub const SIDE_EFFECT: Traits = Traits(8);
    /// Ends a block.
    pub const TERMINATOR: Traits = Traits(16);
    /// The first two operands may be swapped.
    pub const COMMUTATIVE: Traits = Traits(32);

    const NAMES: [(Traits, &'static str); 6] = [
        (Traits::READS, "reads"),
        (Traits::WRITES, "writes"),
        (Traits::CONVERGENT, "convergent"),
        (Traits::SIDE_EFFECT, "side effect"),
        (Traits::TERMINATOR, "terminator"),
        (Traits::COMMUTATIVE, "commutative"),
    ];

    /// All of both.
    pub const fn with(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// True if all of `other` are in the set.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if any of `other` is in the set.
    pub const fn any(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    /// True if an unused instruction may be removed.
    pub const fn is_removable(self) -> bool {
        !self.any(Traits(
            Traits::WRITES.0 | Traits::CONVERGENT.0 | Traits::SIDE_EFFECT.0 | Traits::TERMINATOR.0,
        ))
    }

    /// True if the results depend on the operands alone.
    pub const fn is_pure(self) -> bool {
        self.is_removable() && !self.has(Traits::READS)
    }
}

impl fmt::Debug for Traits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(Traits::NAMES.iter().filter(|(one, _)| self.has(*one)).map(|(_, name)| name))
            .finish()
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The name in the text form.
    pub name: &'static str,
    /// How it is written.
    pub shape: Shape,
    /// The operands' types.
    pub operands: &'static [OperandRule],
    /// The result's type.
    pub result: ResultRule,
    /// What `T` may be.
    pub types: TypeSet,
    /// What it does.
    pub traits: Traits,
    /// What it means, in one line.
    pub doc: &'static str,
}

macro_rules! define_opcodes {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:ident $shape:ident ($($operand:ident)*) $result:ident $types:ident [$($flag:ident)*];)*) => {
        /// A core operation.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Opcode { $($(#[doc = $doc])+ $variant,)* }

        /// The table, in the order of [`Opcode`].
        static OPS: &[OpInfo] = &[$(OpInfo {
            name: stringify!($name),
            shape: Shape::$shape,
            operands: &[$(OperandRule::$operand,)*],
            result: ResultRule::$result,
            types: TypeSet::$types,
            traits: Traits::NONE$(.with(Traits::$flag))*,
            doc: concat!($($doc,)+),
        },)*];

        impl Opcode {
            /// Every core operation, in the table's order.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant,)*];
        }
    };
}
for_each_op!(define_opcodes);

impl Opcode {
    /// The row of the table.
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The inverse of [`Opcode::name`].
    pub fn from_name(name: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The traits of the core operation. Those of an `sreg`, a `load` or a table-derived operation depend on more:
    /// [`Function::traits`](crate::Function::traits).
    pub fn traits(self) -> Traits {
        self.info().traits
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! conditions {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $text:literal swaps $swapped:ident inverts $inverse:ident,)* }) => {
        words! { $(#[$meta])* $name { $($(#[$doc])* $variant $text,)* } }

        impl $name {
            /// The condition that holds for `(y, x)` exactly when this one holds for `(x, y)`.
            pub const fn swapped(self) -> $name {
                match self { $($name::$variant => $name::$swapped,)* }
            }

            /// The condition that holds exactly when this one does not.
            pub const fn inverse(self) -> $name {
                match self { $($name::$variant => $name::$inverse,)* }
            }
        }
    };
}

conditions! {
    /// How `icmp` compares.
    IntCC {
        /// Equal.
        Eq "eq" swaps Eq inverts Ne,
        /// Not equal.
        Ne "ne" swaps Ne inverts Eq,
        /// Signed less.
        Slt "slt" swaps Sgt inverts Sge,
        /// Signed less or equal.
        Sle "sle" swaps Sge inverts Sgt,
        /// Signed greater.
        Sgt "sgt" swaps Slt inverts Sle,
        /// Signed greater or equal.
        Sge "sge" swaps Sle inverts Slt,
        /// Unsigned less.
        Ult "ult" swaps Ugt inverts Uge,
        /// Unsigned less or equal.
        Ule "ule" swaps Uge inverts Ugt,
        /// Unsigned greater.
        Ugt "ugt" swaps Ult inverts Ule,
        /// Unsigned greater or equal.
        Uge "uge" swaps Ule inverts Ult,
    }
}

conditions! {
    /// How `fcmp` compares. The plain conditions are false if an operand is NaN; those that end in `u` are true.
    FloatCC {
        /// Equal.
        Eq "eq" swaps Eq inverts Neu,
        /// Not equal, neither NaN.
        Ne "ne" swaps Ne inverts Equ,
        /// Less.
        Lt "lt" swaps Gt inverts Geu,
        /// Less or equal.
        Le "le" swaps Ge inverts Gtu,
        /// Greater.
        Gt "gt" swaps Lt inverts Leu,
        /// Greater or equal.
        Ge "ge" swaps Le inverts Ltu,
        /// Equal, or a NaN.
        Equ "equ" swaps Equ inverts Ne,
        /// Not equal, or a NaN.
        Neu "neu" swaps Neu inverts Eq,
        /// Less, or a NaN.
        Ltu "ltu" swaps Gtu inverts Ge,
        /// Less or equal, or a NaN.
        Leu "leu" swaps Geu inverts Gt,
        /// Greater, or a NaN.
        Gtu "gtu" swaps Ltu inverts Le,
        /// Greater or equal, or a NaN.
        Geu "geu" swaps Leu inverts Lt,
        /// Neither is NaN.
        Num "num" swaps Num inverts Nan,
        /// At least one is NaN.
        Nan "nan" swaps Nan inverts Num,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_round_trip() {
        for &op in Opcode::ALL {
            assert_eq!(Opcode::from_name(op.name()), Some(op));
        }
        for &cond in IntCC::ALL {
            assert_eq!(IntCC::from_name(cond.name()), Some(cond));
            assert_eq!((cond.swapped().swapped(), cond.inverse().inverse()), (cond, cond));
        }
        for &cond in FloatCC::ALL {
            assert_eq!(FloatCC::from_name(cond.name()), Some(cond));
            assert_eq!((cond.swapped().swapped(), cond.inverse().inverse()), (cond, cond));
        }
    }
}
