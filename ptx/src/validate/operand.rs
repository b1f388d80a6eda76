//! Operands as the tables validate them, with names resolved.

use super::Validator;
use crate::codes;
use crate::scope::Binding;
use crate::tree::*;
use smallvec::SmallVec;
use std::cell::OnceCell;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa as isa;
use warpsmith_isa::{Base, FloatKind, StateSpace, Variable};

impl<'m> Validator<'m> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are refused by name, or as they are")]
    pub(super) fn convert<'a>(&mut self, id: Id<Operand>, cells: &mut Cells<'a>) -> isa::Operand<'a>
    where
        'm: 'a,
    {
        let m = self.m;
        let span = m.operand_span(id);
        match m[id] {
            Operand::Name(name) => self.named(name, span),
            Operand::Const(Const::Int { bits, .. }) => isa::Operand::Int(bits as i64),
            Operand::Const(Const::F32(bits)) => {
                isa::Operand::Float(FloatKind::Bits32, f32::from_bits(bits).into())
            }
            Operand::Const(Const::F64(bits)) => isa::Operand::Float(FloatKind::Bits64, f64::from_bits(bits)),
            Operand::Component { name, selector } => self.component(name, &m[selector], id, cells),
            Operand::Offset { name, .. } => match self.named(name, m.operand_name_span(id)) {
                isa::Operand::Reg(ty) => isa::Operand::RegPlus(ty),
                isa::Operand::Var(variable) => isa::Operand::VarPlus(variable),
                isa::Operand::Func => isa::Operand::FuncPlus,
                isa::Operand::Special { lanes: 1, reg } => isa::Operand::SpecialPlus(reg),
                known @ (isa::Operand::Special { .. } | isa::Operand::Unknown) => known,
                other => {
                    let message = format!("a constant cannot be added to {}", other.describe());
                    self.error(codes::OPERAND, span, message);
                    isa::Operand::Unknown
                }
            },
            Operand::AddressName(name) | Operand::Address { name, .. } => {
                isa::Operand::Address(self.base(name, m.operand_name_span(id)))
            }
            Operand::AddressConst(_) => isa::Operand::Address(Base::Int),
            Operand::Bracket(list) => {
                let mut elements: SmallVec<[isa::Operand<'a>; 4]> = SmallVec::new();
                for (index, element) in list.ids().enumerate() {
                    let converted = match m[element] {
                        Operand::Name(name) | Operand::Offset { name, .. } if index == 0 => {
                            isa::Operand::Address(self.base(name, m.operand_name_span(element)))
                        }
                        _ => self.convert(element, cells),
                    };
                    elements.push(converted);
                }
                isa::Operand::Bracket(cells.keep(&elements))
            }
            Operand::Index(list) => self.index(list, span),
            Operand::Vector(list) => isa::Operand::Vector(self.convert_list(list, cells)),
            Operand::Group(_) => isa::Operand::Arguments,
            Operand::Pair(list) => match self.convert_list(list, cells).try_into() {
                Ok(pair) => isa::Operand::Pair(pair),
                Err(_) => isa::Operand::Unknown,
            },
            Operand::Not(inner) => {
                let inner = self.convert(inner, cells);
                isa::Operand::Not(&cells.keep(&[inner])[0])
            }
            Operand::Neg(inner) => {
                let inner = self.convert(inner, cells);
                isa::Operand::Neg(&cells.keep(&[inner])[0])
            }
            Operand::Unified(inner) => self.convert(inner, cells),
        }
    }

    pub(super) fn convert_list<'a>(
        &mut self,
        list: List<Operand>,
        cells: &mut Cells<'a>,
    ) -> &'a [isa::Operand<'a>]
    where
        'm: 'a,
    {
        let mut elements: SmallVec<[isa::Operand<'a>; 8]> = SmallVec::new();
        for element in list.ids() {
            let converted = self.convert(element, cells);
            elements.push(converted);
        }
        cells.keep(&elements)
    }

    #[inline]
    pub(super) fn named(&mut self, name: Symbol, span: Span) -> isa::Operand<'static> {
        if name == Symbol::SINK {
            return isa::Operand::Sink;
        }
        let bound = self.scopes.lookup(name);
        match bound.map(|bound| bound.binding) {
            Some(Binding::Variable(decl, declarator)) => {
                let decl = &self.m[decl];
                match (decl.space, decl.vector) {
                    (StateSpace::Reg, 1) => isa::Operand::Reg(decl.ty),
                    (StateSpace::Reg, n) => isa::Operand::VectorReg(decl.ty, n),
                    (StateSpace::Shared, _) => {
                        if bound.is_some_and(|bound| bound.depth == 0) {
                            self.use_shared(decl, declarator, span);
                        }
                        isa::Operand::Var(Variable { space: StateSpace::Shared, ty: decl.ty })
                    }
                    (space, _) => isa::Operand::Var(Variable { space, ty: decl.ty }),
                }
            }
            Some(Binding::Label(_)) => isa::Operand::Label,
            Some(Binding::Function(_)) => isa::Operand::Func,
            Some(Binding::List(_)) => isa::Operand::List,
            Some(Binding::Special(reg)) => {
                self.needs_memory(reg, span);
                isa::Operand::Special { reg, lanes: reg.lanes() }
            }
            None => {
                self.unknown_name(name, span);
                isa::Operand::Unknown
            }
        }
    }

    /// A kernel reads where its memory is only if it asks for some (PTX ISA 9.4, 11.4.10).
    pub(super) fn needs_memory(&mut self, reg: isa::SpecialReg, span: Span) {
        if !reg.name().starts_with("%perctamemory") {
            return;
        }
        let Some(function) = self.in_function.map(|function| self.m[function]) else { return };
        let asks = |directive: &Directive| matches!(directive, Directive::MinPerCtaMemory(_));
        if function.kind == FunctionKind::Entry && !self.m[function.directives].iter().any(asks) {
            let message = format!("`{reg}` in a kernel without `.minperctamemory`");
            let note = "the directive says how many bytes each block needs at least";
            self.report(Diagnostic::error(codes::DIRECTIVE, span, message).note(note));
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not an address is refused by name")]
    pub(super) fn base(&mut self, name: Symbol, span: Span) -> Base {
        match self.named(name, span) {
            isa::Operand::Reg(ty) => Base::Reg(ty),
            isa::Operand::Var(variable) => Base::Var(variable),
            isa::Operand::Func => Base::Func,
            isa::Operand::Special { reg, lanes: 1 } => Base::Special(reg),
            isa::Operand::Unknown => Base::Unknown,
            other => {
                let message =
                    format!("`{}` is {}, which is not an address", self.name(name), other.describe());
                self.error(codes::OPERAND, span, message);
                Base::Unknown
            }
        }
    }

    /// `v.x`, `%tid.y`, `%r1.b0`
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no parts is refused by name")]
    pub(super) fn component<'a>(
        &mut self,
        name: Symbol,
        selector: &'m str,
        id: Id<Operand>,
        cells: &mut Cells<'a>,
    ) -> isa::Operand<'a>
    where
        'm: 'a,
    {
        let span = self.m.operand_span(id);
        let whole = self.named(name, self.m.operand_name_span(id));
        let lanes = match whole {
            isa::Operand::VectorReg(_, lanes) | isa::Operand::Special { lanes, .. } if lanes > 1 => lanes,
            isa::Operand::Reg(_) => return isa::Operand::Select(&cells.keep(&[whole])[0], selector),
            isa::Operand::Unknown => return whole,
            other => {
                let message = format!("`{}` is {}, which has no parts", self.name(name), other.describe());
                self.error(codes::OPERAND, span, message);
                return isa::Operand::Unknown;
            }
        };
        let lane = ["x", "y", "z", "w"].iter().position(|lane| *lane == selector);
        let lane = lane.or_else(|| ["r", "g", "b", "a"].iter().position(|lane| *lane == selector));
        match (lane, whole) {
            (Some(lane), isa::Operand::VectorReg(ty, _)) if lane < usize::from(lanes) => {
                isa::Operand::Reg(ty)
            }
            (Some(_), isa::Operand::Special { reg, .. }) => isa::Operand::Special { reg, lanes: 1 },
            _ => {
                let message = format!("`{}` has no component `.{selector}`", self.name(name));
                let known = &"`.x`, `.y`, `.z`, `.w`"[..if lanes == 2 { 10 } else { 22 }];
                self.report(Diagnostic::error(codes::OPERAND, span, message).note(format!("it has {known}")));
                isa::Operand::Unknown
            }
        }
    }

    /// `x[4]`, `x[%r1]`, `x[%r1+4]`
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not an index is refused by name")]
    pub(super) fn index(&mut self, list: List<Operand>, span: Span) -> isa::Operand<'static> {
        let m = self.m;
        let [Operand::Name(array), index] = m[list] else { return isa::Operand::Unknown };
        if let (Operand::Name(register) | Operand::Offset { name: register, .. }, Some(at)) =
            (index, list.get(1))
        {
            let at = m.operand_span(at);
            match self.named(register, at) {
                isa::Operand::Reg(ty) if Self::is_integer(ty) && ty.bits() <= 64 => {}
                isa::Operand::Special { lanes: 1, .. } | isa::Operand::Unknown => {}
                other => {
                    let message =
                        format!("an index is an integer register or constant, not {}", other.describe());
                    self.error(codes::OPERAND, at, message);
                }
            }
        }
        let bound = self.scopes.lookup(array);
        match bound.map(|bound| bound.binding) {
            Some(Binding::Variable(decl, declarator)) if !m[m[declarator].dims].is_empty() => {
                let decl = &m[decl];
                isa::Operand::Element(Variable { space: decl.space, ty: decl.ty })
            }
            Some(_) => {
                let message = format!("`{}` is not an array", self.name(array));
                self.error(codes::OPERAND, span, message);
                isa::Operand::Unknown
            }
            None => {
                self.unknown_name(array, span);
                isa::Operand::Unknown
            }
        }
    }
}

/// Where the parts of one instruction's operands live while it is validated: each cell is written once, so that later
/// operands can point to earlier ones.
pub(super) struct Cells<'a> {
    cells: &'a [OnceCell<Chunk<'a>>],
    next: usize,
}

/// Up to four parts in place, more on the heap.
pub(super) enum Chunk<'a> {
    Few([isa::Operand<'a>; 4], u8),
    Many(Box<[isa::Operand<'a>]>),
}

impl<'a> Cells<'a> {
    pub(super) fn new(cells: &'a [OnceCell<Chunk<'a>>]) -> Self {
        Cells { cells, next: 0 }
    }

    fn keep(&mut self, parts: &[isa::Operand<'a>]) -> &'a [isa::Operand<'a>] {
        let cell = self.cells.get(self.next).expect("`nested` counts one cell for every call of `keep`");
        self.next += 1;
        let chunk = cell.get_or_init(|| match parts.len() {
            len @ 0..=4 => {
                let mut few = [isa::Operand::Unknown; 4];
                few[..len].copy_from_slice(parts);
                Chunk::Few(few, len as u8)
            }
            _ => Chunk::Many(parts.into()),
        });
        match chunk {
            Chunk::Few(few, len) => &few[..usize::from(*len)],
            Chunk::Many(many) => many,
        }
    }
}
