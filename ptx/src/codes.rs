//! The codes of the diagnostics of this crate. A code never changes its meaning; the hundreds group them by topic.

/// The section of the PTX manual that has the rule behind a code, where a finding names none more precisely.
pub(crate) fn section(code: &str) -> Option<&'static str> {
    Some(match code {
        NON_ASCII | BAD_BYTE => "4.1",
        OPEN_COMMENT => "4.2",
        SYNTAX | UNBALANCED => "4.3",
        UNKNOWN_NAME | DUPLICATE => "4.4",
        OVERFLOW => "4.5.1",
        CONST_TYPE | CONST_DIV | CONST_CAST => "4.5.4",
        SPACE => "5.1",
        TYPE => "5.2",
        ARRAY => "5.4.3",
        INIT => "5.4.4",
        ALIGN => "5.4.5",
        ATTRIBUTE => "5.4.8",
        PARAM | PARAM_USE => "7.1",
        MNEMONIC => "9.7",
        CALL => "9.7.12.5",
        PROLOGUE => "11.1",
        VERSION | NEWER => "11.1.1",
        TARGET => "11.1.2",
        ADDRESS_SIZE => "11.1.3",
        LIST => "11.3",
        DIRECTIVE => "11.4",
        PRAGMA => "11.4.7",
        DATA_RANGE => "11.5.2",
        FILE => "11.5.3",
        LOC => "11.5.4",
        ALIAS => "11.2.3",
        GUARD => "9.3",
        EXTERN_BODY => "11.6.1",
        _ => return None,
    })
}

warpsmith_diag::codes! {
    /// A character outside of ASCII; PTX has none, not even in comments.
    ///
    /// Editors and web pages like to replace `-` and quotes by characters that look alike, and put invisible ones in between. Where the
    /// character has a likeness in ASCII, it is suggested.
    NON_ASCII = "P0001";
    /// A character that begins no token.
    ///
    /// Shell prompts, conflict marks of a version control system, or a preprocessor's directives that were not resolved are typical causes.
    BAD_BYTE = "P0002";
    /// A string without its closing quote.
    OPEN_STRING = "P0003";
    /// A comment without its end.
    ///
    /// Comments do not nest: the first end of a comment ends it.
    OPEN_COMMENT = "P0004";
    /// An integer or decimal literal that does not fit.
    ///
    /// Integers have 64 bits; the sizes of arrays and the arguments of directives have 32.
    OVERFLOW = "P0005";
    /// A text of four gigabytes or more.
    TOO_LARGE = "P0006";
    /// So many errors that the rest of the text is not read.
    ///
    /// At most 500 findings of the parser, and as many of the validator, are reported.
    TOO_MANY = "P0007";
    /// A text that cannot be formatted without changing its tokens: it is left alone.
    FORMAT = "P0008";
    /// A module that was built and printed, whose text reads back as another: a mistake of this crate or of who built it.
    ///
    /// Builders that check each output find it, as `warpsmith compile --verify-each` does.
    READ_BACK = "P0009";

    /// Something else was expected here.
    ///
    /// Each statement ends in `;`. A missing `;` at the end of a line, a missing comma between operands, or a misspelt directive is reported once and
    /// read as it was meant, so that the rest of the text is validated too.
    SYNTAX = "P0101";
    /// A brace without its partner.
    ///
    /// The message points at both ends where both are known.
    UNBALANCED = "P0102";
    /// Expressions, lists or scopes nested too deeply.
    TOO_DEEP = "P0103";
    /// A directive that ptxas no longer takes.
    DEPRECATED = "P0104";
    /// A value out of the range of its data directive.
    DATA_RANGE = "P0105";

    /// Operands of a constant expression whose types do not go together.
    ///
    /// Constants are computed in 64 bits, signed or unsigned; floats are not computed with.
    CONST_TYPE = "P0201";
    /// A constant expression that divides by zero.
    CONST_DIV = "P0202";
    /// A cast other than to `.s64` and `.u64`.
    CONST_CAST = "P0203";

    /// The module does not begin with `.version`, `.target` and `.address_size`.
    ///
    /// `.version 8.0`, `.target sm_90a` and `.address_size 64` come first, in this order, and once; the last may be left out.
    PROLOGUE = "P0301";
    /// A version that is not known.
    ///
    /// The version says which language the text is written in. A driver takes versions up to its own; `warpsmith compile` writes the lowest that
    /// the text needs.
    VERSION = "P0302";
    /// A target that is not known, or not in the version.
    ///
    /// `sm_90` is a target for all GPUs from that one on; `sm_90a` adds the features of this one architecture, and `sm_100f` those of a family.
    /// Each target has a first `.version` that names it.
    TARGET = "P0303";
    /// Addresses of a size that is not supported.
    ///
    /// Toolkits of today compile 64-bit addresses only.
    ADDRESS_SIZE = "P0304";
    /// A feature that the version or the target does not have.
    ///
    /// The message names the lowest version and target that would do. It is reported at the first use, with a count of the others.
    GATE = "P0305";
    /// More memory than there is.
    ///
    /// Kernel parameters, constant memory and static shared memory have sizes that the hardware, or the version, limits.
    LIMIT = "P0306";
    /// A version or target that is newer than those that are known.
    ///
    /// What is checked is checked by the rules of the newest known version, and of the nearest earlier target of the family: what only the newer ones
    /// have is not known, and reported as an error.
    NEWER = "P0307";
    /// Something that some releases of ptxas take and others do not, whatever the `.version`.
    ///
    /// It is an error where every release that knows the `.version` refuses it, or where the release that is asked for (`check --ptxas 13.5`) does.
    RELEASE = "P0308";

    /// A name that is declared twice, or again in another way.
    ///
    /// Registers, variables and labels of one scope share their names; so do a body and the parameters of its function.
    DUPLICATE = "P0401";
    /// A name that is not declared.
    ///
    /// Names are declared before their use, labels anywhere in their scope. `.reg .b32 %r<8>;` declares `%r0` to `%r7`. Each name is reported once
    /// for a function, with a count, and registers of one prefix together.
    UNKNOWN_NAME = "P0402";
    /// A state space that cannot be declared there.
    ///
    /// Registers and local variables belong to a function's body, parameters to its header; all others may stand at module level.
    SPACE = "P0403";
    /// A type that cannot be declared there.
    ///
    /// Variables have the fundamental types; `.bf16`, `.tf32` and the types of 8, 6 and 4 bits are held in `.b16`, `.b32` and `.b8` registers.
    TYPE = "P0404";
    /// An alignment that is not possible.
    ///
    /// An alignment is a power of two, and at most 128 for a parameter of a function.
    ALIGN = "P0405";
    /// Array sizes that are not possible.
    ///
    /// Registers are not arrays: `.reg .b32 %r<8>` declares eight. Only the first size of an array may be left open.
    ARRAY = "P0406";
    /// An attribute that does not belong there.
    ATTRIBUTE = "P0407";
    /// An initial value that does not fit.
    ///
    /// Variables in `.global` and `.const` have initial values; shared and local memory begins with anything.
    INIT = "P0408";

    /// A parameter list that is not possible.
    PARAM = "P0501";
    /// A directive of a function with a wrong value or in wrong company.
    DIRECTIVE = "P0502";
    /// An `.extern` function with a body.
    EXTERN_BODY = "P0503";
    /// An `.alias` that is not possible.
    ALIAS = "P0504";
    /// A call that does not agree with what it calls.
    ///
    /// Results and arguments stand in parentheses, as many as the function declares: `call (result), function, (argument);`. A call through a
    /// register names a prototype or a list of targets as well.
    CALL = "P0505";
    /// A list of targets with a wrong member.
    LIST = "P0506";

    /// An instruction or a modifier that PTX does not have.
    ///
    /// The nearest name is looked for by the structure of the instruction and by its spelling, and checked against the operands.
    MNEMONIC = "P0601";
    /// A guard that is not a predicate.
    ///
    /// `@%p` and `@!%p` take a register declared `.pred`, as `setp` writes it.
    GUARD = "P0602";
    /// An operand that names something of the wrong kind.
    OPERAND = "P0603";
    /// An access to a parameter that is not allowed.
    ///
    /// The parameters of a function are read with `ld.param`, its results written with `st.param`. What belongs to a call cannot be guarded.
    PARAM_USE = "P0604";
    /// Something that ptxas takes and the manual does not have.
    LENIENT = "P0605";
    /// Tensor memory of one CTA and of a pair in one function.
    CTA_GROUP = "P0606";

    /// A `.file` that is there twice.
    FILE = "P0701";
    /// A `.loc` that refers to a place without one.
    LOC = "P0702";
    /// A pragma that is not known, or not there.
    PRAGMA = "P0703";

    // Linking: P08xx.
    /// Modules whose targets or versions do not go together.
    ///
    /// Code with features of one architecture (`sm_90a`) or family (`sm_100f`) runs there only; a linked module has one target.
    LINK_TARGET = "P0801";
    /// A symbol that two modules define.
    ///
    /// A name that other modules see has one definition. `.weak` definitions give way to others, and `.common` variables become one.
    LINK_TWICE = "P0802";
    /// A symbol that no module defines.
    ///
    /// Every `.extern` symbol that is used needs a definition, except what the system defines: `vprintf`, `malloc`, `free`, `__assertfail`, and shared
    /// memory whose size the launch gives.
    LINK_UNDEFINED = "P0803";
    /// A declaration that does not fit the definition in another module.
    LINK_MISMATCH = "P0804";
    /// Variables whose initialisers need each other's addresses.
    ///
    /// In PTX a variable is declared before its address is used, which variables of different modules that point to each other cannot both be.
    LINK_CYCLE = "P0805";
}
