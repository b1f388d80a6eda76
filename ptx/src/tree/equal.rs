//! Equality of modules: the same text, whatever the spans, the layout of the arenas and the order of interning.

use super::*;

/// Compares two things, each with the module it lives in.
trait Same {
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool;
}

/// What means the same in every module.
macro_rules! plain {
    ($($ty:ty)*) => {$(
        impl Same for $ty {
            fn same(&self, _: &Module, other: &Self, _: &Module) -> bool {
                self == other
            }
        }
    )*};
}
plain! { u8 u32 u64 i64 bool Version ScalarType StateSpace Linkage FunctionKind Unified Ptr Const Dims Place Languages }

/// Destructures both sides, so that a field that is added must be compared or dismissed here.
macro_rules! records {
    ($($ty:ident { $($field:ident),* } $(except $($skip:ident),*)?;)*) => {$(
        impl Same for $ty {
            fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
                let $ty { $($field,)* $($($skip: _,)*)? } = self;
                $($field.same(here, &other.$field, there))&&*
            }
        }
    )*};
}
records! {
    File { index, name, timestamp, size };
    Section { name, data };
    CodeBlock { ir_name, file, text };
    Function { kind, linkage, unified, name, returns, params, directives, body } except span, name_span;
    Decl { linkage, space, bank, align, managed, unified, vector, ty, ptr, late_align, names } except span;
    Declarator { name, count, dims, init } except span;
    Mask { mask, of };
    Prototype { name, returns, params, directives };
    Loc { at, inlined };
    Inlined { function_name, offset, at };
    Inst { guard, mnemonic, operands };
}

/// Variant by variant; the first match is what makes a missing variant an error of the compiler.
macro_rules! choices {
    ($($ty:ident { $($variant:ident $(($($item:ident $other_item:ident),*))? $({$($field:ident $other_field:ident),*})?),* })*) => {$(
        impl Same for $ty {
            fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
                match self {
                    $($ty::$variant { .. })|* => {}
                }
                match (self, other) {
                    $(($ty::$variant $(($($item),*))? $({$($field,)* ..})?, $ty::$variant $(($($other_item),*))? $({$($field: $other_field,)* ..})?) => {
                        true $($(&& $item.same(here, $other_item, there))*)? $($(&& $field.same(here, $other_field, there))*)?
                    })*
                    _ => false,
                }
            }
        }
    )*};
}
choices! {
    Item {
        Version(a b), Target(a b), AddressSize(a b), File(a b), Pragma(a b), Section(a b), IntermediateSource(a b), Variable(a b), Function(a b),
        Alias { alias b, aliasee d }
    }
    Data { Label(a b), Bytes(a b), Values { bits b, values d } }
    DataValue { Int(a b), Address { name b, offset d }, Difference { end b, start d } }
    Directive {
        MaxNReg(a b), MaxNTid(a b), ReqNTid(a b), MinNCtaPerSm(a b), MaxNCtaPerSm(a b), ReqNCtaPerCluster(a b),
        ExplicitCluster, MaxClusterRank(a b), BlocksAreClusters, NoReturn, AbiPreserve(a b), AbiPreserveControl(a b),
        Pragma(a b), Language(a b), MinPerCtaMemory(a b)
    }
    Init {
        Const(a b), Address { name b, generic d, offset f }, Mask(a b), List(a b), Bytes(a b), Ints(a b),
        Field { name b, value d }
    }
    FieldValue { Name(a b), Const(a b) }
    MaskOf { Int(a b), Address { name b, generic d, offset f } }
    Stmt {
        Open, Close, Decl(a b), Label(a b), Inst(a b), Loc(a b), LocIntermediate(a b), Pragma(a b), BranchTargets { name b, targets d },
        CallTargets { name b, targets d }, CallPrototype(a b), Target(a b)
    }
    Operand {
        Name(a b), Const(a b), Component { name b, selector d }, Offset { name b, offset d },
        AddressName(a b), Address { name b, offset d }, AddressConst(a b), Bracket(a b), Index(a b), Vector(a b), Group(a b), Pair(a b),
        Not(a b), Neg(a b), Unified(a b)
    }
}

impl Same for Symbol {
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
        here[*self] == there[*other]
    }
}

impl Same for MnemonicId {
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
        here[*self] == there[*other]
    }
}

impl Same for Guard {
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
        self.negated() == other.negated() && self.predicate().same(here, &other.predicate(), there)
    }
}

impl<T: Same> Same for Option<T> {
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
        match (self, other) {
            (Some(a), Some(b)) => a.same(here, b, there),
            (None, None) => true,
            _ => false,
        }
    }
}

impl<T: Same> Same for [T] {
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(a, b)| a.same(here, b, there))
    }
}

impl<T: Same> Same for Id<T>
where
    Module: std::ops::Index<Id<T>, Output = T>,
{
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
        here[*self].same(here, &there[*other], there)
    }
}

impl<T: Same> Same for List<T>
where
    Module: std::ops::Index<List<T>, Output = [T]>,
{
    fn same(&self, here: &Module, other: &Self, there: &Module) -> bool {
        here[*self].same(here, &there[*other], there)
    }
}

impl PartialEq for Module {
    fn eq(&self, other: &Self) -> bool {
        self.items[..].same(self, &other.items[..], other)
    }
}

impl Module {
    /// True if everything has the place in the text that it has in `other`, a copy of this module.
    pub(crate) fn has_places_of(&self, other: &Module) -> bool {
        let Marks { version, target, guards, spread, loose, lost: _ } = &self.marks;
        let marks = &other.marks;
        self.item_spans == other.item_spans
            && self.directive_spans == other.directive_spans
            && self.init_spans == other.init_spans
            && self.stmt_spans == other.stmt_spans
            && self.operand_spans == other.operand_spans
            && self.data_spans == other.data_spans
            && self.functions == other.functions
            && self.decls == other.decls
            && self.declarators == other.declarators
            && (version, target, guards, spread, loose)
                == (&marks.version, &marks.target, &marks.guards, &marks.spread, &marks.loose)
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::print(self))
    }
}
