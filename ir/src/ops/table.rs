//! The rows of the core operations.

/// Calls `$then! { rows }` with the table. A row is: documentation, variant, name, shape, operand rules, result rule, the
/// types that `T` denotes, traits.
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
