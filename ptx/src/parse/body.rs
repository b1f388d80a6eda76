//! Bodies of functions: statements, instructions and operands.

use super::lexer::Kind;
use super::{Parse, Parser};
use crate::codes;
use crate::tree::*;
use warpsmith_diag::Span;

impl Parser<'_> {
    /// `{ statements }`. Scopes within are statements themselves, so nothing recurses; mistakes are told and skipped.
    pub(super) fn body(&mut self) -> List<Stmt> {
        let open = self.span();
        self.bump();
        let first = self.module.stmts.len();
        let mut depth = 0u32;
        loop {
            match self.token.kind {
                Kind::Punct(b'{') => {
                    let span = self.span();
                    self.bump();
                    self.push_stmt(Stmt::Open, span);
                    depth += 1;
                }
                Kind::Punct(b'}') if depth > 0 => {
                    let span = self.span();
                    self.bump();
                    self.push_stmt(Stmt::Close, span);
                    depth -= 1;
                }
                Kind::Punct(b'}') => {
                    self.bump();
                    break;
                }
                Kind::End => {
                    if !self.gave_up {
                        let error = super::Diagnostic::error(
                            codes::UNBALANCED,
                            self.span(),
                            "this body has no closing `}`",
                        );
                        self.report(error.label(open, "opened here"));
                    }
                    let end = self.span();
                    // The tree stays well nested.
                    for _ in 0..depth {
                        self.push_stmt(Stmt::Close, end);
                    }
                    break;
                }
                _ => {
                    let start = self.token.start;
                    if self.statement().is_err() {
                        self.operands.clear();
                        self.depth = 0;
                        self.resume_at_statement(start);
                    }
                }
            }
        }
        List::new(first, self.module.stmts.len())
    }

    /// Skips past the `;` that ends the statement at `start`, or to a brace that is not of the statement.
    fn resume_at_statement(&mut self, start: u32) {
        // Read again from the start, to know which braces are those of vectors.
        let failed_at = self.token.start;
        self.lexer.pos = start as usize;
        self.token.end = start;
        self.bump();
        let mut vectors = 0u32;
        let mut after_comma = false;
        let declares = self.token.kind == Kind::Dot;
        loop {
            if declares {
                self.lose_name();
            }
            let past = self.token.start >= failed_at;
            match self.token.kind {
                Kind::End => return,
                Kind::Punct(b';') => {
                    self.bump();
                    return;
                }
                Kind::Punct(b'{') if !past || after_comma || vectors > 0 => vectors += 1,
                Kind::Punct(b'}') if vectors > 0 => vectors -= 1,
                Kind::Punct(b'{' | b'}') => return,
                Kind::Dot if past && matches!(self.text(), b".entry" | b".func" | b".visible") => return,
                _ => {}
            }
            after_comma = self.at(b',');
            self.bump();
        }
    }

    #[inline]
    fn push_stmt(&mut self, stmt: Stmt, span: Span) {
        self.module.stmts.push(stmt);
        self.module.stmt_spans.push(span);
    }

    fn statement(&mut self) -> Parse<()> {
        let mut start = self.token.start;
        let stmt = match self.token.kind {
            Kind::Name => {
                if self.label_follows() {
                    return self.label();
                }
                Stmt::Inst(self.instruction(None)?)
            }
            Kind::Punct(b'@') => {
                self.bump();
                let negated = self.eat(b'!');
                let (predicate, at) = self.name("a predicate register")?;
                self.module.marks.guards.push(at.start);
                // The span of an instruction begins at its opcode, so that messages can point there.
                start = self.token.start;
                Stmt::Inst(self.instruction(Some(Guard::new(predicate, negated)))?)
            }
            Kind::Dot => match self.text() {
                b".loc" => Stmt::Loc(self.loc()?),
                b".loc_intermediate" => {
                    self.bump();
                    Stmt::LocIntermediate(self.place()?)
                }
                b".pragma" => Stmt::Pragma(self.pragma()?),
                b".target" => Stmt::Target(self.target()?),
                b".branchtargets" | b".calltargets" | b".callprototype" => {
                    return Err(self.expected("a label before this directive"));
                }
                b".entry" | b".func" | b".visible" | b".section" | b".file" => {
                    let message = "`}` that ends the body";
                    return Err(self.expected(message));
                }
                _ => {
                    let mut decl = self.decl("a statement")?;
                    decl.names = self.declarators()?;
                    self.semicolon("the declaration")?;
                    Stmt::Decl(self.module.push_decl(decl))
                }
            },
            Kind::Punct(b'[') => return Err(self.expected("an instruction, which begins with its opcode")),
            _ => return Err(self.expected("a statement")),
        };
        let span = self.since(start);
        self.push_stmt(stmt, span);
        Ok(())
    }

    /// True if the name at hand is a label: `:` follows, and not as a part of `::`.
    #[inline]
    fn label_follows(&mut self) -> bool {
        let text = self.lexer.text;
        let mut at = self.token.end as usize;
        if matches!(text.get(at), Some(b'.' | b';')) {
            return false;
        }
        if text.get(at) != Some(&b':') {
            // Rare: blanks or comments in between.
            match text.get(at..).unwrap_or(&[]).iter().find(|b| !b.is_ascii_whitespace()) {
                Some(b':' | b'/' | b'#') => {
                    let here = self.lexer.pos;
                    let closed = self.lexer.skip_blanks();
                    at = self.lexer.pos;
                    self.lexer.pos = here;
                    if !closed {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        text.get(at) == Some(&b':') && text.get(at + 1) != Some(&b':')
    }

    fn label(&mut self) -> Parse<()> {
        let start = self.token.start;
        let (name, span) = self.name("a label")?;
        self.bump();
        let stmt = match (self.token.kind, self.text()) {
            (Kind::Dot, b".branchtargets") => Stmt::BranchTargets { name, targets: self.targets("a label")? },
            (Kind::Dot, b".calltargets") => Stmt::CallTargets { name, targets: self.targets("a function")? },
            (Kind::Dot, b".callprototype") => {
                self.bump();
                let returns = if self.at(b'(') { self.params()? } else { List::EMPTY };
                if !(self.token.kind == Kind::Name && self.text() == b"_") {
                    return Err(self.expected("`_` in place of the name of the function"));
                }
                self.bump();
                let params = if self.at(b'(') { self.params()? } else { List::EMPTY };
                let directives = self.directives(true)?;
                self.semicolon("the prototype")?;
                Stmt::CallPrototype(self.module.push_prototype(Prototype {
                    name,
                    returns,
                    params,
                    directives,
                }))
            }
            _ => {
                self.push_stmt(Stmt::Label(name), span);
                return Ok(());
            }
        };
        let span = self.since(start);
        self.push_stmt(stmt, span);
        Ok(())
    }

    /// `L1, L<4>;` after `.branchtargets` or `.calltargets`.
    fn targets(&mut self, what: &str) -> Parse<List<Declarator>> {
        self.bump();
        let mut targets = Vec::new();
        loop {
            let (name, span) = self.name(what)?;
            let mut target = Declarator { name, count: None, dims: List::EMPTY, init: None, span };
            if self.eat(b'<') {
                target.count = Some(self.count("how many there are")?);
                self.expect(b'>', "`>`")?;
                target.span = self.since(span.start);
            }
            targets.push(target);
            if !self.eat(b',') {
                break;
            }
        }
        self.semicolon("the list")?;
        Ok(self.module.declarator_list(&targets))
    }

    fn loc(&mut self) -> Parse<Loc> {
        self.bump();
        let at = self.place()?;
        if !self.eat(b',') {
            return Ok(Loc { at, inlined: None });
        }
        self.keyword("function_name")?;
        let function_name = if self.token.kind == Kind::Dot {
            let span = self.span();
            self.bump();
            self.intern(span)
        } else {
            self.name("a label of `.debug_str`")?.0
        };
        let offset = if self.eat(b'+') { u64::from(self.count("an offset")?) } else { 0 };
        self.expect(b',', "`, inlined_at` and the place of the call")?;
        self.keyword("inlined_at")?;
        let inlined = Inlined { function_name, offset, at: self.place()? };
        Ok(Loc { at, inlined: Some(self.module.push_inlined(inlined)) })
    }

    fn place(&mut self) -> Parse<Place> {
        let file = self.count("the index of a file")?;
        let line = self.count("a line")?;
        Ok(Place { file, line, column: self.count("a column")? })
    }

    fn keyword(&mut self, word: &str) -> Parse<()> {
        if self.token.kind == Kind::Name && self.text() == word.as_bytes() {
            self.bump();
            Ok(())
        } else {
            Err(self.expected(&format!("`{word}`")))
        }
    }

    fn instruction(&mut self, guard: Option<Guard>) -> Parse<Inst> {
        if self.token.kind != Kind::Name {
            return Err(self.expected("an instruction"));
        }
        let start = self.token.start as usize;
        let end = self.lexer.modifiers(self.token.end as usize);
        let text = self.lexer.text;
        let opcode = &text[start..self.token.end as usize];
        let called = opcode == b"call";
        self.lexer.pos = end;
        self.token.end = end as u32;
        self.bump();
        let mnemonic = if self.token.kind == Kind::Dot {
            // Blanks or comments stand between the modifiers.
            let mut spelling = text[start..end].to_vec();
            let dots = |from: usize, to: usize| {
                let bytes = text[from..to].iter().enumerate();
                bytes.filter(|(_, byte)| **byte == b'.').map(move |(i, _)| (from + i) as u32)
            };
            let mut words = vec![start as u32];
            words.extend(dots(start, end));
            while self.token.kind == Kind::Dot {
                words.push(self.token.start);
                spelling.extend_from_slice(self.text());
                let end = self.lexer.modifiers(self.token.end as usize);
                words.extend(dots(self.token.end as usize, end));
                spelling.extend_from_slice(&text[self.token.end as usize..end]);
                self.lexer.pos = end;
                self.token.end = end as u32;
                self.bump();
            }
            self.module.marks.spread.push((start as u32, words.into()));
            self.module.mnemonics.intern(&spelling)
        } else {
            self.module.mnemonics.intern(&text[start..end])
        };
        let mnemonic = MnemonicId(mnemonic as u32);
        if self.eat(b';') || (self.at(b'}') && self.semicolon("the instruction").is_ok()) {
            return Ok(Inst { guard, mnemonic, operands: List::EMPTY });
        }
        let base = self.operands.len();
        loop {
            let first = self.operands.len() == base;
            self.operand(called, first)?;
            if !self.eat(b',') && !self.comma_missing() {
                break;
            }
        }
        self.semicolon("the instruction")?;
        Ok(Inst { guard, mnemonic, operands: self.take_operands(base) })
    }

    /// Tells that a comma is missing where another operand follows on the same line, and takes it as read.
    fn comma_missing(&mut self) -> bool {
        let gap = &self.lexer.text[self.last_end as usize..self.token.start as usize];
        let follows = matches!(self.token.kind, Kind::Name | Kind::Punct(b'[' | b'{')) || self.at_constant();
        if !follows || gap.contains(&b'\n') || gap.is_empty() {
            return false;
        }
        let at = Span::new(self.last_end, self.last_end);
        let message = format!("expected `,` between operands, found {}", self.found());
        let error = super::Diagnostic::error(codes::SYNTAX, at, message);
        self.report(error.fix("separate them", at, ","));
        true
    }

    /// Moves the operands gathered since `base` to the arena.
    #[inline]
    fn take_operands(&mut self, base: usize) -> List<Operand> {
        let start = self.module.operands.len();
        for (operand, span) in self.operands.drain(base..) {
            self.module.operands.push(operand);
            self.module.operand_spans.push(span);
        }
        List::new(start, self.module.operands.len())
    }

    /// Reads an operand onto the stack. `grouped`: parentheses are lists, as in `call`. `first`: `a|b` may follow.
    #[inline]
    fn operand(&mut self, grouped: bool, first: bool) -> Parse<()> {
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
        if self.at_dot("unified") {
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
    fn name_follows(&self) -> bool {
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
    fn names_in_parentheses(&self) -> bool {
        let rest = &self.lexer.text[self.token.end as usize..];
        let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"_$%, ".contains(b)));
        self.name_follows() && end.is_some_and(|end| rest[end] == b')')
    }

    /// `-a`, `-a.b0`, `!p`, after the sign.
    fn negated(&mut self, sign: u8) -> Parse<Operand> {
        let start = self.token.start;
        let (name, _) = self.name("a register")?;
        let operand = if self.token.kind == Kind::Dot { self.component(name) } else { Operand::Name(name) };
        let span = self.since(start);
        let inner = self.module.push_operand(operand, span);
        Ok(if sign == b'-' { Operand::Neg(inner) } else { Operand::Not(inner) })
    }

    /// `.x` after a name.
    fn component(&mut self, name: Symbol) -> Operand {
        let selector = self.intern(Span::new(self.token.start + 1, self.token.end));
        self.bump();
        Operand::Component { name, selector }
    }

    /// A name and what may be attached to it.
    #[inline]
    fn named(&mut self) -> Parse<Operand> {
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
    fn address(&mut self) -> Parse<Operand> {
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
    fn list(&mut self, close: u8, make: fn(List<Operand>) -> Operand) -> Parse<Operand> {
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
