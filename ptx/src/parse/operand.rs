//! Operands of instructions.

use super::lexer::Kind;
use super::{Parse, Parser};
use crate::codes;
use crate::tree::*;
use warpsmith_diag::Span;

impl Parser<'_> {
    /// Moves the operands gathered since `base` to the arena.
    #[inline]
    pub(super) fn take_operands(&mut self, base: usize) -> List<Operand> {
        let start = self.module.operands.len();
        for (operand, span) in self.operands.drain(base..) {
            self.module.operands.push(operand);
            self.module.operand_spans.push(span);
        }
        List::new(start, self.module.operands.len())
    }

    /// Reads an operand onto the stack. `grouped`: parentheses are lists, as in `call`. `first`: `a|b` may follow.
    #[inline]
    pub(super) fn operand(&mut self, grouped: bool, first: bool) -> Parse<()> {
        let start = self.token.start;
        let operand = match self.token.kind {
            Kind::Name if self.text() != b"WARP_SZ" => self.named()?,
            Kind::Punct(b'[') => self.address()?,
            Kind::Punct(b'{') => self.list(b'}', Operand::Vector)?,
            Kind::Punct(b'(') if grouped => self.list(b')', Operand::Group)?,
            Kind::Punct(b'(') if self.names_in_parentheses() => {
                let message = "a vector is written in braces, as `{%r1, %r2}`";
                self.error(codes::SYNTAX, self.span(), message);
                self.list(b')', Operand::Vector)?
            }
            Kind::Punct(sign @ (b'-' | b'!')) if self.name_follows() => {
                self.bump();
                self.negated(sign)?
            }
            _ if self.at_constant() => Operand::Const(self.constant()?),
            _ => return Err(self.expected("an operand")),
        };
        let mut span = self.since(start);
        let mut operand = operand;
        let address =
            matches!(operand, Operand::AddressName(_) | Operand::Address { .. } | Operand::AddressConst(_));
        if address && self.at_dot("unified") {
            self.bump();
            operand = Operand::Unified(self.module.push_operand(operand, span));
            span = self.since(start);
        }
        self.operands.push((operand, span));
        if self.at(b'|') && first {
            self.bump();
            let start = self.token.start;
            let half = match self.token.kind {
                Kind::Name if self.text() != b"WARP_SZ" => self.named()?,
                _ => return Err(self.expected("a register or `_` after `|`")),
            };
            let half_span = self.since(start);
            self.operands.push((half, half_span));
            let pair = self.take_operands(self.operands.len() - 2);
            self.operands.push((Operand::Pair(pair), span.to(half_span)));
        }
        Ok(())
    }

    /// True if the token after a sign is a name, past which no constant can begin.
    pub(super) fn name_follows(&self) -> bool {
        let rest = &self.lexer.text[self.token.end as usize..];
        match rest.iter().position(|b| !b.is_ascii_whitespace()) {
            Some(at) => {
                let first = rest[at];
                let named = first.is_ascii_alphabetic() || matches!(first, b'_' | b'$' | b'%');
                named && !rest[at..].starts_with(b"WARP_SZ")
            }
            None => false,
        }
    }

    /// True at `(%r1, %r2)`, which someone wrote for a vector.
    pub(super) fn names_in_parentheses(&self) -> bool {
        let rest = &self.lexer.text[self.token.end as usize..];
        let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"_$%, ".contains(b)));
        self.name_follows() && end.is_some_and(|end| rest[end] == b')')
    }

    /// `-a`, `-a.b0`, `!p`, after the sign.
    pub(super) fn negated(&mut self, sign: u8) -> Parse<Operand> {
        let start = self.token.start;
        let (name, _) = self.name("a register")?;
        let operand = if self.token.kind == Kind::Dot { self.component(name) } else { Operand::Name(name) };
        let span = self.since(start);
        let inner = self.module.push_operand(operand, span);
        Ok(if sign == b'-' { Operand::Neg(inner) } else { Operand::Not(inner) })
    }

    /// `.x` after a name.
    pub(super) fn component(&mut self, name: Symbol) -> Operand {
        let selector = self.intern(Span::new(self.token.start + 1, self.token.end));
        self.bump();
        Operand::Component { name, selector }
    }

    /// A name and what may be attached to it.
    #[inline]
    pub(super) fn named(&mut self) -> Parse<Operand> {
        let span = self.span();
        let text = self.text();
        let name = self.module.names.intern_bytes(text);
        if name != Symbol::SINK && matches!(text, b"function_name" | b"inlined_at") {
            return Err(self.expected("an operand"));
        }
        self.bump();
        match self.token.kind {
            Kind::Punct(b',' | b';') => Ok(Operand::Name(name)),
            _ if name == Symbol::SINK => Ok(Operand::Name(name)),
            Kind::Dot => Ok(self.component(name)),
            Kind::Punct(b'+') => {
                self.bump();
                let offset = self.integer_constant()? as i64;
                Ok(Operand::Offset { name, offset })
            }
            Kind::Punct(b'[') => {
                self.bump();
                let base = self.operands.len();
                self.operands.push((Operand::Name(name), span));
                let start = self.token.start;
                let index = if self.token.kind == Kind::Name && self.text() != b"WARP_SZ" {
                    let (register, _) = self.name("a register or a constant")?;
                    if self.eat(b'+') {
                        Operand::Offset { name: register, offset: self.integer_constant()? as i64 }
                    } else {
                        Operand::Name(register)
                    }
                } else {
                    Operand::Const(Const::int(self.integer_constant()? as i64))
                };
                let index_span = self.since(start);
                self.operands.push((index, index_span));
                self.expect(b']', "`]`")?;
                Ok(Operand::Index(self.take_operands(base)))
            }
            _ => Ok(Operand::Name(name)),
        }
    }

    /// `[...]`
    pub(super) fn address(&mut self) -> Parse<Operand> {
        let bracket = self.token.start;
        self.bump();
        let start = self.token.start;
        if start != bracket + 1 {
            self.module.marks.loose.push((bracket, start));
        }
        if !(self.token.kind == Kind::Name && self.text() != b"WARP_SZ") {
            let address = self.integer_constant()?;
            self.expect(b']', "`]`")?;
            return Ok(Operand::AddressConst(address));
        }
        let (name, _) = self.name("a register or a variable")?;
        let offset = if self.eat(b'+') { Some(self.integer_constant()? as i64) } else { None };
        if self.eat(b']') {
            return Ok(match offset {
                Some(offset) => Operand::Address { name, offset },
                None => Operand::AddressName(name),
            });
        }
        if offset.is_some() {
            return Err(self.expected("`]`: of several parts in brackets the first has no offset"));
        }
        if self.at(b'-') {
            let at = self.span();
            let message = "a negative offset is written `[name+-4]`";
            let error = super::Diagnostic::error(codes::SYNTAX, at, message);
            self.report(error.fix("add the negative number", at, "+-"));
            let offset = self.integer_constant()? as i64;
            self.expect(b']', "`]`")?;
            return Ok(Operand::Address { name, offset });
        }
        let base = self.operands.len();
        let span = self.since(start);
        self.operands.push((Operand::Name(name), span));
        while self.eat(b',') {
            if self.at(b'[') {
                return Err(self.expected("a register, a constant or a vector"));
            }
            self.operand(false, false)?;
        }
        self.expect(b']', "`+`, `,` or `]`")?;
        Ok(Operand::Bracket(self.take_operands(base)))
    }

    /// `{a, b}` or `(a, b)`: no vectors and no addresses within.
    pub(super) fn list(&mut self, close: u8, make: fn(List<Operand>) -> Operand) -> Parse<Operand> {
        self.bump();
        let base = self.operands.len();
        // `()` is an empty argument list; a vector has elements.
        if close == b')' && self.eat(close) {
            return Ok(make(List::EMPTY));
        }
        loop {
            if matches!(self.token.kind, Kind::Punct(b'{' | b'[')) {
                return Err(self.expected("a register or a constant"));
            }
            self.operand(false, false)?;
            let sum = matches!(self.operands.last(), Some((Operand::Offset { .. } | Operand::Index(_), _)));
            if sum && close == b'}' {
                return Err(
                    self.expected("`,` or `}`: an element of braces is a register or a constant, no sum")
                );
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(close, if close == b'}' { "`,` or `}`" } else { "`,` or `)`" })?;
        Ok(make(self.take_operands(base)))
    }
}
