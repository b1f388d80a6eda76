//! The codes of what is wrong with one instruction, the same whether it comes from PTX or from the IR. A code never changes its meaning.

warpsmith_diag::codes! {
    /// No instruction, or no modifier of any instruction, has this name.
    ///
    /// A mnemonic is an opcode and modifiers, each of a fixed set. The nearest spelling is looked for among what fits at that place: first by
    /// the structure of the instruction (`add.i32` is `add.s32`, `fadd.f32` is `add.f32`), then by the fewest edits.
    UNKNOWN_WORD = "I0100";
    /// A modifier that does not go with this instruction.
    ///
    /// The modifier exists, but no form of the opcode has it together with the others: `add.rn.u32` rounds an integer, `and.f32` takes the
    /// bits of a float. The message names the nearest form; a wrong type is answered with the types that the form has.
    MODIFIER = "I0101";
    /// A modifier that is written twice.
    ///
    /// A few modifiers may be repeated, as ptxas takes them; all others say something once.
    MODIFIER_TWICE = "I0102";
    /// A modifier that is out of order, or one too many of its kind.
    ///
    /// Modifiers may come in any order, but those of one kind are distinguished by it: in `cvt.f32.u16` the first type is the result's.
    MODIFIER_ORDER = "I0103";
    /// A modifier is missing.
    ///
    /// The form needs one of those listed: a rounding for `fma.f32`, `.lo`, `.hi` or `.wide` for an integer `mul`, the mask's `.sync` for
    /// `shfl`, a type nearly everywhere.
    MODIFIER_MISSING = "I0104";
    /// The instruction exists, but not in this version of PTX or not for this target.
    ///
    /// Every form and every modifier has a first version, a lowest target, and a few have a last one. The message names the lowest `.version`
    /// and `.target` that would do. Features of one architecture need its `a` target (`sm_90a`), those of a family an `f` target.
    GATE = "I0110";

    /// The wrong number of operands.
    ///
    /// Operands in braces count as one, as do `[a+4]` and `d|p`.
    COUNT = "I0201";
    /// Braces or a bracket with the wrong number of parts.
    PARTS = "I0202";
    /// An operand of the wrong kind: a label where a register is due, a bracket where a value is.
    KIND = "I0203";
    /// A register of the wrong type.
    ///
    /// A register fits an operand of its own size, if both are integers or both are floats of the same type, or if one of them is untyped
    /// (`.b32`). Only `ld`, `st` and `cvt` take wider registers. Nothing is converted silently: write `cvt` to change the value, `mov.b32` to
    /// keep the bits.
    REGISTER_TYPE = "I0204";
    /// A constant where only a register will do.
    ///
    /// Copy it to a register with `mov` first.
    CONSTANT = "I0205";
    /// A register where only a constant will do.
    ///
    /// The value is a part of the instruction's encoding, so it must be known when the text is assembled.
    REGISTER = "I0206";
    /// A constant of the wrong kind: an integer for a float or a float for an integer.
    ///
    /// Integers are not converted: `1` is not a `.f32`. Write `1.0`, or the bits as `0f3F800000`.
    CONSTANT_KIND = "I0207";
    /// A constant out of the range that the operand has.
    RANGE = "I0208";
    /// A scalar where a vector in braces is due.
    VECTOR_NEEDED = "I0209";
    /// A vector of the wrong length.
    ///
    /// `.v2` and `.v4` say how many elements there are; matrix fragments have as many registers as one thread's share of the matrix takes.
    VECTOR_LENGTH = "I0210";
    /// A vector where a scalar is due.
    ///
    /// Special registers such as `%tid` are vectors of four: name a component, `%tid.x`.
    VECTOR = "I0211";
    /// The sink `_` where a register is due.
    SINK = "I0212";
    /// Only sinks: an instruction must keep at least one result.
    ALL_SINKS = "I0213";
    /// A special register where it cannot be read.
    ///
    /// Most instructions read ordinary registers only; `mov` copies a special register to one.
    SPECIAL = "I0214";
    /// A special register that this version or this target does not have.
    SPECIAL_GATE = "I0215";
    /// The name of a variable or function where a value is due.
    ///
    /// `mov` takes the address of a variable; `[name]` is what is stored there, for `ld`, `st` and the like.
    VARIABLE = "I0216";
    /// A negation where none is possible.
    NEGATION = "I0217";
    /// A complement `!p` where none is possible.
    COMPLEMENT = "I0218";
    /// A part of a register (`.b0`, `.h1`) that the operand does not have.
    SELECT = "I0219";
    /// A single operand where a pair `a|b` is due.
    PAIR_NEEDED = "I0220";
    /// A pair `a|b` where a single operand is due.
    PAIR = "I0221";
    /// An operand that must be an address in brackets.
    ADDRESS = "I0222";
    /// A register that cannot hold an address.
    ///
    /// Addresses are integers: 64 bits for global and generic ones, 32 bits will do for `.shared`, and tensor memory has 32.
    ADDRESS_REGISTER = "I0223";
    /// A variable of another state space than the instruction accesses.
    ///
    /// `ld.shared` reads a `.shared` variable; one of another space needs its own instruction, or a generic address made with `cvta`.
    SPACE = "I0224";
    /// A constant address outside of `.local`.
    CONSTANT_ADDRESS = "I0225";
    /// Elements of a vector that differ in size, or mix integers with floats.
    MIXED_VECTOR = "I0226";
    /// An operand that this version or this target does not have.
    ///
    /// The instruction exists without it.
    OPERAND_GATE = "I0227";
    /// An operand that must be negated here.
    NEGATION_NEEDED = "I0228";
    /// A vector of constants only.
    ///
    /// One of its elements must be a register.
    ALL_CONSTANTS = "I0229";
    /// A constant that does not fit the type of its operand.
    ///
    /// ptxas keeps the low bits without a word: `4294967296` as a `.u32` is 0.
    CONSTANT_WRAPS = "I0230";
}
