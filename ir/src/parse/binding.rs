//! Debug information: the statements of a body.

use super::body::BodyReader;
use crate::debug::*;
use crate::entities::{DebugVar, GlobalId, ScopeId, SubprogramId};
use crate::function::LocData;
use crate::lexer::{Tok, Token};
use crate::literal::Number;
use crate::module::Symbol;
use warpsmith_diag::Span;

impl<'a> BodyReader<'_, 'a> {
    fn debug(&mut self, span: Span) -> Option<&mut FunctionDebug> {
        if self.func.debug.is_none() {
            let message = "debug information in a function that has none".to_string();
            let note = "name its subprogram before the body, as in `kernel @k() !fn0 {`";
            self.p.error("I0016", span, message).notes.push(note.into());
        }
        self.func.debug.as_deref_mut()
    }

    /// `!scope1 = ..`, `!var0 = param ..`, `!var0 = local ..`, `!var0 = %x`
    pub(super) fn debug_statement(&mut self) -> Option<()> {
        let start = self.p.bump().start;
        let token = self.p.expect_kind(Tok::Word, "`scope1` or `var0`")?;
        let name = self.p.text(token);
        let span = Span::new(start, token.end);
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = digits.parse::<u32>().ok().filter(|number| *number != u32::MAX);
        self.p.expect(b'=')?;
        match (&name[..name.len() - digits.len()], number) {
            ("scope", Some(number)) => {
                let scope = self.scope()?;
                let scopes = &mut self.debug(span)?.scopes;
                let next = scopes.len();
                scopes.push(scope);
                self.p.in_order("scope", number, next, span);
            }
            ("var", Some(number)) => {
                let kind = if self.p.accept_word("param") {
                    VariableKind::Parameter(self.p.int("parameter number")?)
                } else if self.p.accept_word("local") {
                    VariableKind::Local
                } else {
                    return self.binding(DebugVar::from_u32(number), span);
                };
                let name = self.p.debug_string("the variable's name in quotes")?;
                let ty = self.p.debug_type_ref()?;
                self.p.keyword("at")?;
                let declared = self.p.declared()?;
                self.p.keyword("in")?;
                let scope = ScopeId::from_u32(self.p.debug_ref("scope")?.0);
                let variables = &mut self.debug(span)?.variables;
                let next = variables.len();
                variables.push(DebugVariable { name, kind, ty, scope, declared });
                self.p.in_order("var", number, next, span);
            }
            _ => {
                let message = format!("expected `!scope` or `!var` and a number, found `!{name}`");
                self.p.error("I0001", span, message);
                return None;
            }
        }
        Some(())
    }

    fn scope(&mut self) -> Option<Scope> {
        let kind = if self.p.accept_word("inlined") {
            ScopeKind::Inlined(SubprogramId::from_u32(self.p.debug_ref("fn")?.0))
        } else {
            self.p.keyword("block")?;
            ScopeKind::Block
        };
        self.p.keyword("at")?;
        let Declared { file, line } = self.p.declared()?;
        self.p.expect(b':')?;
        let column = self.p.int("column number")?;
        self.p.keyword("in")?;
        let parent = ScopeId::from_u32(self.p.debug_ref("scope")?.0);
        let at = LocData { scope: Some(parent), ..LocData::new(file, line, column) };
        Some(Scope { kind, parent: Some(parent), at })
    }

    fn binding(&mut self, variable: DebugVar, span: Span) -> Option<()> {
        let storage = self.storage()?;
        let mut piece = None;
        if self.p.accept_word("piece") {
            self.p.expect(b'(')?;
            let offset = self.p.int("offset in bytes")?;
            self.p.expect(b',')?;
            piece = Some(Piece { offset, size: self.p.int("size in bytes")? });
            self.p.expect(b')')?;
        }
        let Some(block) = self.s.block else {
            let note = "write a label such as `entry:` before the first binding";
            self.p.error("I0014", span, "a binding outside of a block".into()).notes.push(note.into());
            return None;
        };
        let id = self.debug(span)?.bindings.push(Binding { variable, piece, storage });
        self.func.layout.bind_at_end(block, id);
        Some(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a token that nothing expects is an error where it stands"
    )]
    fn storage(&mut self) -> Option<Storage> {
        if self.p.accept_word("optimized_out") {
            return Some(Storage::OptimizedOut);
        }
        if self.p.tok.kind == Tok::Local {
            let token = self.p.bump();
            if let Some(slot) = self.s.slots.get(&self.p.bytes(token)[1..]) {
                return Some(Storage::Slot(*slot, 0));
            }
            return Some(Storage::Value(self.value_of(token)));
        }
        if !self.p.accept(b'[') {
            let (number, span) = self.p.number()?;
            return match number {
                Number::Int { negative, magnitude, .. } if magnitude <= u64::MAX.into() => {
                    let bits = magnitude as u64 as i64;
                    Some(Storage::Constant(if negative { bits.wrapping_neg() } else { bits }))
                }
                Number::F32Bits(bits) => Some(Storage::Constant(bits.into())),
                Number::F64Bits(bits) => Some(Storage::Constant(bits as i64)),
                Number::Int { .. } | Number::Decimal { .. } => {
                    let note = "write the bits of a float: 0f3f800000 or 0d3ff0000000000000";
                    let message = "a constant is an integer of 64 bits or the bits of a float".to_string();
                    self.p.error("I0005", span, message).notes.push(note.into());
                    None
                }
            };
        }
        let token = self.p.tok;
        let storage: Base = match token.kind {
            Tok::Global => match self.symbol()? {
                Symbol::Global(global) => Base::Global(global),
                Symbol::Func(_) => {
                    let message = format!("{} is a function", self.p.describe(token));
                    self.p.error("I0011", token.span(), message);
                    return None;
                }
            },
            _ => {
                let token: Token = self.p.expect_kind(Tok::Local, "a value, stack slot or global")?;
                match self.s.slots.get(&self.p.bytes(token)[1..]) {
                    Some(slot) => Base::Slot(*slot),
                    None => Base::Value(self.value_of(token)),
                }
            }
        };
        let mut offset = 0;
        if self.p.accept(b'+') || self.p.is(b'-') {
            offset = self.p.int("offset of 32 bits")?;
        }
        self.p.expect(b']')?;
        Some(match storage {
            Base::Value(value) => Storage::Memory(value, offset),
            Base::Slot(slot) => Storage::Slot(slot, offset),
            Base::Global(global) => Storage::Global(global, offset),
        })
    }
}

enum Base {
    Value(crate::Value),
    Slot(crate::StackSlot),
    Global(GlobalId),
}
