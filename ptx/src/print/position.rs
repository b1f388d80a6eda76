//! Where the printer wrote the parts of a module: the positions that the parser finds them at.

use crate::tree::*;
use warpsmith_diag::Span;

/// The positions of what was printed, counted from the beginning of the text that it is in.
#[derive(Default)]
pub(super) struct Positions {
    items: Vec<Span>,
    functions: Vec<(Id<Function>, Header)>,
    directives: Vec<(Id<Directive>, Span)>,
    decls: Vec<(Id<Decl>, Span)>,
    declarators: Vec<(Id<Declarator>, Span)>,
    inits: Vec<(Id<Init>, Span)>,
    stmts: Vec<(Id<Stmt>, Span)>,
    operands: Vec<(Id<Operand>, Span)>,
    data: Vec<(Id<Data>, Span)>,
    guards: Vec<u32>,
    version: Option<Span>,
    target: Option<Span>,
}

/// Where the header of a function stands, and its name.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) whole: Span,
    pub(super) name: Span,
}

/// What has a place in the text of its own.
pub(super) trait Positioned: Sized {
    fn positions(of: &mut Positions) -> &mut Vec<(Id<Self>, Span)>;
}

macro_rules! positioned {
    ($($ty:ty, $field:ident;)*) => {$(
        impl Positioned for $ty {
            fn positions(of: &mut Positions) -> &mut Vec<(Id<Self>, Span)> {
                &mut of.$field
            }
        }
    )*};
}
positioned! {
    Directive, directives;
    Decl, decls;
    Declarator, declarators;
    Init, inits;
    Stmt, stmts;
    Operand, operands;
    Data, data;
}

impl Positions {
    /// With room for a share of a module's statements.
    pub(super) fn with_room(module: &Module, shares: usize) -> Self {
        Positions {
            stmts: Vec::with_capacity(module.stmts.len() / shares),
            operands: Vec::with_capacity(module.operands.len() / shares),
            ..Positions::default()
        }
    }

    pub(super) fn item(&mut self, span: Span) {
        self.items.push(span);
    }

    pub(super) fn function(&mut self, id: Id<Function>, header: Header) {
        self.functions.push((id, header));
    }

    pub(super) fn guard(&mut self, predicate: u32) {
        self.guards.push(predicate);
    }

    /// The number of a `.version`; the first counts.
    pub(super) fn version(&mut self, span: Span) {
        self.version.get_or_insert(span);
    }

    /// The first name of a `.target`; the first counts.
    pub(super) fn target(&mut self, span: Span) {
        self.target.get_or_insert(span);
    }

    /// Gives the parts of a module, of which `first_item` is the first item among these, the positions in the whole text, in which this part begins
    /// at `base`.
    pub(super) fn apply(self, module: &mut Module, first_item: usize, base: u32) {
        let at = |span: Span| Span::new(span.start + base, span.end + base);
        let placed = |span: Span| if span.is_none() { span } else { at(span) };
        for (item, span) in module.item_spans[first_item..].iter_mut().zip(self.items) {
            *item = at(span);
        }
        for (id, Header { whole, name }) in self.functions {
            let function = &mut module.functions[id.index()];
            (function.span, function.name_span) = (at(whole), at(name));
        }
        for (id, span) in self.directives {
            module.directive_spans[id.index()] = at(span);
        }
        for (id, span) in self.decls {
            module.decls[id.index()].span = at(span);
        }
        for (id, span) in self.declarators {
            module.declarators[id.index()].span = at(span);
        }
        for (id, span) in self.inits {
            module.init_spans[id.index()] = placed(span);
        }
        for (id, span) in self.stmts {
            module.stmt_spans[id.index()] = at(span);
        }
        for (id, span) in self.operands {
            module.operand_spans[id.index()] = at(span);
        }
        for (id, span) in self.data {
            module.data_spans[id.index()] = at(span);
        }
        let marks = &mut module.marks;
        marks.guards.extend(self.guards.into_iter().map(|start| start + base));
        for (mark, found) in [(&mut marks.version, self.version), (&mut marks.target, self.target)] {
            if let (true, Some(span)) = (mark.is_none(), found) {
                *mark = at(span);
            }
        }
    }
}
