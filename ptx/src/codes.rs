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
        VERSION => "11.1.1",
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

warpsmith_isa::codes! {
    /// A character outside of ASCII; PTX has none, not even in comments.
    NON_ASCII = "P0001";
    /// A character that begins no token.
    BAD_BYTE = "P0002";
    /// A string without its closing quote.
    OPEN_STRING = "P0003";
    /// A comment without its end.
    OPEN_COMMENT = "P0004";
    /// An integer or decimal literal that does not fit.
    OVERFLOW = "P0005";
    /// A text of four gigabytes or more.
    TOO_LARGE = "P0006";
    /// So many errors that the rest of the text is not read.
    TOO_MANY = "P0007";

    /// Something else was expected here.
    SYNTAX = "P0101";
    /// A brace without its partner.
    UNBALANCED = "P0102";
    /// Expressions, lists or scopes nested too deeply.
    TOO_DEEP = "P0103";
    /// A directive that ptxas no longer takes.
    DEPRECATED = "P0104";
    /// A value out of the range of its data directive.
    DATA_RANGE = "P0105";

    /// Operands of a constant expression whose types do not go together.
    CONST_TYPE = "P0201";
    /// A constant expression that divides by zero.
    CONST_DIV = "P0202";
    /// A cast other than to `.s64` and `.u64`.
    CONST_CAST = "P0203";

    /// The module does not begin with `.version`, `.target` and `.address_size`.
    PROLOGUE = "P0301";
    /// A version that is not known.
    VERSION = "P0302";
    /// A target that is not known, or not in the version.
    TARGET = "P0303";
    /// Addresses of a size that is not supported.
    ADDRESS_SIZE = "P0304";
    /// A feature that the version or the target does not have.
    GATE = "P0305";
    /// More memory than there is.
    LIMIT = "P0306";

    /// A name that is declared twice, or again in another way.
    DUPLICATE = "P0401";
    /// A name that is not declared.
    UNKNOWN_NAME = "P0402";
    /// A state space that cannot be declared there.
    SPACE = "P0403";
    /// A type that cannot be declared there.
    TYPE = "P0404";
    /// An alignment that is not possible.
    ALIGN = "P0405";
    /// Array sizes that are not possible.
    ARRAY = "P0406";
    /// An attribute that does not belong there.
    ATTRIBUTE = "P0407";
    /// An initial value that does not fit.
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
    CALL = "P0505";
    /// A list of targets with a wrong member.
    LIST = "P0506";

    /// An instruction or a modifier that PTX does not have.
    MNEMONIC = "P0601";
    /// A guard that is no predicate.
    GUARD = "P0602";
    /// An operand that names something of the wrong kind.
    OPERAND = "P0603";
    /// An access to a parameter that is not allowed.
    PARAM_USE = "P0604";

    /// A `.file` that is there twice.
    FILE = "P0701";
    /// A `.loc` that refers to a place without one.
    LOC = "P0702";
    /// A pragma that is not known, or not there.
    PRAGMA = "P0703";
}
