//! Names in a body, and the literals between them.

use super::body::{BodyReader, LateConstant, Operand, TypeSource};
use crate::dfg::ValueDef;
use crate::entities::{Block, Inst, Value};
use crate::inst::InstData;
use crate::layout::grow_for;
use crate::lexer::{Tok, Token};
use crate::literal::Number;
use crate::module::Symbol;
use crate::types::Type;
use warpsmith_diag::{Span, nearest};

impl BodyReader<'_, '_> {
    pub(super) fn define_block(&mut self, name: Token, is_entry: bool) -> Block {
        let bytes = self.p.bytes(name);
        let known = self.s.blocks.get(bytes).copied();
        let block = match known {
            Some(block) if self.func.layout.is_block_inserted(block) => {
                let message = format!("block {} is defined twice", self.p.describe(name));
                let first = self.func.block_spans[block];
                self.p.error("I0010", name.span(), message).labels.push((first, "first defined here".into()));
                // What follows is read into a block of its own, so that it is checked.
                self.func.dfg.make_block()
            }
            Some(block) => block,
            None => {
                let block = self.func.dfg.make_block();
                self.s.blocks.insert(bytes, block);
                block
            }
        };
        debug_assert!(!is_entry || self.func.layout.entry().is_none());
        self.func.names.set_checked(block, self.p.text(name));
        grow_for(&mut self.func.block_spans, block);
        self.func.block_spans[block] = name.span();
        self.func.layout.append_block(block);
        self.s.block = Some(block);
        block
    }

    pub(super) fn define_entry(&mut self, block: Block) {
        for (n, name) in std::mem::take(&mut self.s.params).into_iter().enumerate() {
            let ty = self.func.params[n].ty;
            let value = self.func.dfg.append_block_param(block, ty);
            self.define_value(name, value);
        }
    }

    pub(super) fn block_ref(&mut self) -> Option<Block> {
        let token = self.p.expect_kind(Tok::Word, "a block")?;
        let bytes = self.p.bytes(token);
        if let Some(block) = self.s.blocks.get(bytes) {
            return Some(*block);
        }
        let block = self.func.dfg.make_block();
        self.s.blocks.insert(bytes, block);
        self.s.forward_blocks.push((block, token));
        Some(block)
    }

    pub(super) fn define_value(&mut self, name: Token, value: Value) {
        let bytes = &self.p.bytes(name)[1..];
        match self.s.values.insert(bytes, value) {
            None if self.s.slots.is_empty() || !self.s.slots.contains_key(bytes) => {}
            Some(first) if self.func.dfg.def(first) == ValueDef::Detached => {
                self.func.dfg.replace_value(first, value)
            }
            first => {
                let span = first.map_or(Span::NONE, |first| self.span_of(first));
                let message = format!("{} is defined twice", self.p.describe(name));
                let error = self.p.error("I0008", name.span(), message);
                if !span.is_none() {
                    error.labels.push((span, "first defined here".into()));
                }
            }
        }
        // A name that equals what the value is called anyway need not be kept.
        let canonical = bytes.first() == Some(&b'v') && value.to_string().as_bytes() == bytes;
        if !canonical {
            self.func.names.set_checked(value, self.p.name(name));
        }
    }

    pub(super) fn span_of(&self, value: Value) -> Span {
        match self.func.dfg.def(value) {
            ValueDef::Result(inst, _) => self.func.spans[inst],
            ValueDef::Param(block, _) if Some(block) != self.func.layout.entry() => {
                self.func.block_spans[block]
            }
            ValueDef::Param(..) => self.func.span,
            ValueDef::Alias(_) | ValueDef::Detached => Span::NONE,
        }
    }

    pub(super) fn value(&mut self) -> Option<Value> {
        let token = self.p.expect_kind(Tok::Local, "a value such as `%x`")?;
        Some(self.value_of(token))
    }

    pub(super) fn value_of(&mut self, token: Token) -> Value {
        let bytes = &self.p.bytes(token)[1..];
        if let Some(value) = self.s.values.get(bytes) {
            return *value;
        }
        let value = self.func.dfg.make_detached_param(Type::INVALID);
        self.s.values.insert(bytes, value);
        self.s.forward_values.push((value, token));
        value
    }

    pub(super) fn symbol(&mut self) -> Option<Symbol> {
        let token = self.p.expect_kind(Tok::Global, "a name such as `@name`")?;
        let name = self.p.symbol_name(token);
        let symbol = self.p.module.symbol(&name);
        if symbol.is_none() && !self.p.unread_symbols.contains(&*name) {
            let message = format!("{} is not defined", self.p.describe(token));
            let functions = self.p.module.functions.values().map(|f| f.name.as_str());
            let globals = self.p.module.globals.values().map(|g| g.name.as_str());
            // Comparing with every name for every error would take their product.
            let names = functions.chain(globals).take(1000);
            let note = nearest(&name, names).map(|near| format!("did you mean `@{near}`?"));
            self.p.error("I0011", token.span(), message).notes.extend(note);
        }
        symbol
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a token that nothing expects is an error where it stands"
    )]
    pub(super) fn operand(&mut self) -> Option<Operand> {
        match self.p.tok.kind {
            Tok::Local => self.value().map(Operand::Value),
            Tok::Number | Tok::Punct(b'-') => {
                let (number, span) = self.p.number()?;
                Some(Operand::Literal(number, span))
            }
            _ => {
                self.p.expected("a value such as `%x`, or a number");
                None
            }
        }
    }

    /// The value of an operand: for a literal, that of a constant instruction made before this one.
    pub(super) fn materialise(&mut self, operand: Operand, source: TypeSource) -> Value {
        let (number, span) = match operand {
            Operand::Value(value) => return value,
            Operand::Literal(number, span) => (number, span),
        };
        let ty = self.known_type(source);
        let data = match ty {
            Some(ty) => self.constant(number, ty, span),
            None => InstData::IntConst { value: 0 },
        };
        let inst = self.insert(data, &[ty.unwrap_or(Type::INVALID)], span);
        if ty.is_none() {
            self.s.constants.push(LateConstant { inst, number, span, source });
        }
        self.func.dfg.results(inst).first()
    }

    pub(super) fn known_type(&self, source: TypeSource) -> Option<Type> {
        let ty = match source {
            TypeSource::Known(ty) => ty,
            TypeSource::Of(value) => self.func.dfg.ty(value),
            // The parameters of a block are known when its label has been read.
            TypeSource::Param(block, n) if self.func.layout.is_block_inserted(block) => {
                let param = *self.func.dfg.block_params(block).get(n as usize)?;
                self.func.dfg.ty(param)
            }
            TypeSource::Param(..) => return None,
        };
        (!ty.is_invalid()).then_some(ty)
    }

    pub(super) fn constant(&mut self, number: Number, ty: Type, span: Span) -> InstData {
        if ty.is_float() {
            InstData::FloatConst { bits: self.p.float_constant(number, ty, span) }
        } else {
            InstData::int_const(ty, self.p.wide_constant(number, ty, span))
        }
    }

    /// Makes an instruction at the end of the current block.
    pub(super) fn insert(&mut self, data: InstData, results: &[Type], span: Span) -> Inst {
        let inst = self.func.dfg.make_inst(data, results);
        if let Some(block) = self.s.block {
            self.func.layout.append_inst(inst, block);
        }
        grow_for(&mut self.func.spans, inst);
        self.func.spans[inst] = span;
        inst
    }
}
