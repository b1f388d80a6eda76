//! References to the parts of a module: small indices whose `Display` is how the text form prints what has no name.

use cranelift_entity::entity_impl;

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident $prefix:literal,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    )*};
}

entities! {
    /// A value: the result of an instruction or the parameter of a block.
    Value "v",
    /// A basic block.
    Block "block",
    /// An instruction.
    Inst "inst",
    /// A kernel or function of the module.
    FuncId "func",
    /// A variable in memory that outlives functions: `global`, `const` or `shared`.
    GlobalId "global",
    /// Memory of one thread for the time of one call.
    StackSlot "slot",
    /// The targets of a `switch`.
    JumpTable "table",
    /// The mnemonic and operand list of a table-derived instruction.
    PtxRef "ptx",
    /// A place in a user's source file.
    Loc "loc",
    /// A source file.
    FileId "file",
    /// A struct or array type of the module.
    AggregateId "t",
    /// The fields that lead to a part of an aggregate.
    Path "path",
    /// A compile unit of the debug information.
    UnitId "unit",
    /// A type of the source.
    DebugTypeId "type",
    /// A function of the source.
    SubprogramId "fn",
    /// A scope of a function's debug information.
    ScopeId "scope",
    /// A variable of the source, of a function's debug information.
    DebugVar "var",
    /// Where a variable of the source is from a point on.
    BindingId "binding",
    /// A variable of the front end, turned into SSA values by [`FunctionBuilder`](crate::FunctionBuilder).
    Variable "var",
}
