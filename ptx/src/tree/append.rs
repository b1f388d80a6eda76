//! One module behind another: what is read in parts becomes one tree.

use super::*;
use std::mem::take;

/// What the ids of an appended module become.
struct Moves {
    symbols: Vec<Symbol>,
    mnemonics: Vec<u32>,
    starts: Starts,
}

/// Something that points into a module.
trait Moved {
    fn moved(&mut self, by: &Moves);
}

/// The arenas, with the spans that run beside them.
macro_rules! arenas {
    ($($ty:ty, $field:ident $(/ $spans:ident)?;)*) => {
        /// Where the appended elements begin in each arena.
        struct Starts {
            $($field: u32,)*
        }

        $(
            impl Moved for Id<$ty> {
                fn moved(&mut self, by: &Moves) {
                    *self = Id::new(self.index() as u32 + by.starts.$field);
                }
            }
            impl Moved for List<$ty> {
                fn moved(&mut self, by: &Moves) {
                    if !self.is_empty() {
                        let start = self.range().start + by.starts.$field as usize;
                        *self = List::new(start, start + self.len());
                    }
                }
            }
        )*

        impl Module {
            /// Appends a module: a [`Module::part`] of this one, or what was read from the text behind this one's. Its names become names of
            /// this one.
            pub fn append(&mut self, other: Module) {
                let symbols = (0..other.names.len())
                    .map(|index| self.names.intern(other.names.get(Symbol::from_index(index))))
                    .collect();
                self.append_with(other, symbols);
            }

            /// Appends a module whose symbols become these of this one. Spans stay: they are of the other module's text.
            pub(crate) fn append_with(&mut self, mut other: Module, symbols: Vec<Symbol>) {
                let by = Moves {
                    symbols,
                    mnemonics: (0..other.mnemonics.len())
                        .map(|index| self.mnemonics.intern(other.mnemonics.get(index).as_bytes()) as u32)
                        .collect(),
                    starts: Starts { $($field: self.$field.len() as u32,)* },
                };
                // Arena by arena, so that little is in memory twice.
                $(
                    self.$field.extend(take(&mut other.$field).into_iter().map(|mut element| {
                        element.moved(&by);
                        element
                    }));
                    $(self.$spans.append(&mut take(&mut other.$spans));)?
                )*
                self.items.extend(other.items.into_iter().map(|mut item| {
                    item.moved(&by);
                    item
                }));
                self.item_spans.append(&mut other.item_spans);
                self.marks.append(other.marks, &by);
            }
        }
    };
}
arenas! {
    Function, functions;
    Directive, directives / directive_spans;
    Decl, decls;
    Declarator, declarators;
    Option<u64>, dims;
    Init, inits / init_spans;
    Mask, masks;
    u8, bytes;
    u64, ints;
    Stmt, stmts / stmt_spans;
    Operand, operands / operand_spans;
    Prototype, prototypes;
    Inlined, inlined;
    Symbol, symbols;
    Data, data / data_spans;
    DataValue, values;
    CodeBlock, blocks;
}

impl module::Marks {
    fn append(&mut self, other: module::Marks, by: &Moves) {
        let module::Marks { version, target, guards, spread, loose, lost } = other;
        for (first, second) in [(&mut self.version, version), (&mut self.target, target)] {
            if first.is_none() {
                *first = second;
            }
        }
        self.guards.extend(guards);
        self.spread.extend(spread);
        self.loose.extend(loose);
        self.lost.extend(lost.into_iter().map(|name| by.symbols[name.index()]));
    }
}

/// What points nowhere.
macro_rules! plain {
    ($($ty:ty)*) => {$(
        impl Moved for $ty {
            fn moved(&mut self, _: &Moves) {}
        }
    )*};
}
plain! { u8 u32 u64 i64 bool Version ScalarType StateSpace Linkage FunctionKind Unified Ptr Const Dims Place Span Languages }

/// All fields by name, so that one that is added must be moved or dismissed here.
macro_rules! records {
    ($($ty:ident { $($field:ident),* };)*) => {$(
        impl Moved for $ty {
            fn moved(&mut self, by: &Moves) {
                let $ty { $($field,)* } = self;
                $($field.moved(by);)*
            }
        }
    )*};
}
records! {
    File { index, name, timestamp, size };
    Section { name, data };
    CodeBlock { ir_name, file, text };
    Function { kind, linkage, unified, name, returns, params, directives, body, span, name_span };
    Decl { linkage, space, bank, align, managed, unified, vector, ty, ptr, late_align, names, span };
    Declarator { name, count, dims, init, span };
    Mask { mask, of };
    Prototype { name, returns, params, directives };
    Loc { at, inlined };
    Inlined { function_name, offset, at };
    Inst { guard, mnemonic, operands };
}

macro_rules! choices {
    ($($ty:ident { $($variant:ident $(($item:ident))? $({$($field:ident),*})?),* })*) => {$(
        impl Moved for $ty {
            fn moved(&mut self, by: &Moves) {
                match self {
                    $($ty::$variant $(($item))? $({$($field),*})? => {
                        $($item.moved(by);)?
                        $($($field.moved(by);)*)?
                    })*
                }
            }
        }
    )*};
}
choices! {
    Item {
        Version(a), Target(a), AddressSize(a), File(a), Pragma(a), Section(a), IntermediateSource(a), Variable(a), Function(a),
        Alias { alias, aliasee }
    }
    Data { Label(a), Bytes(a), Values { bits, values } }
    DataValue { Int(a), Address { name, offset }, Difference { end, start } }
    Directive {
        MaxNReg(a), MaxNTid(a), ReqNTid(a), MinNCtaPerSm(a), MaxNCtaPerSm(a), ReqNCtaPerCluster(a),
        ExplicitCluster, MaxClusterRank(a), BlocksAreClusters, NoReturn, AbiPreserve(a), AbiPreserveControl(a),
        Pragma(a), Language(a), MinPerCtaMemory(a)
    }
    Init { Const(a), Address { name, generic, offset }, Mask(a), List(a), Bytes(a), Ints(a), Field { name, value } }
    FieldValue { Name(a), Const(a) }
    MaskOf { Int(a), Address { name, generic, offset } }
    Stmt {
        Open, Close, Decl(a), Label(a), Inst(a), Loc(a), LocIntermediate(a), Pragma(a), BranchTargets { name, targets },
        CallTargets { name, targets }, CallPrototype(a), Target(a)
    }
    Operand {
        Name(a), Const(a), Component { name, selector }, Offset { name, offset }, AddressName(a),
        Address { name, offset }, AddressConst(a), Bracket(a), Index(a), Vector(a), Group(a), Pair(a), Not(a), Neg(a),
        Unified(a)
    }
}

impl Moved for Symbol {
    fn moved(&mut self, by: &Moves) {
        *self = by.symbols[self.index()];
    }
}

impl Moved for MnemonicId {
    fn moved(&mut self, by: &Moves) {
        *self = MnemonicId(by.mnemonics[self.index()]);
    }
}

impl Moved for Guard {
    fn moved(&mut self, by: &Moves) {
        *self = Guard::new(by.symbols[self.predicate().index()], self.negated());
    }
}

impl<T: Moved> Moved for Option<T> {
    fn moved(&mut self, by: &Moves) {
        if let Some(inner) = self {
            inner.moved(by);
        }
    }
}
