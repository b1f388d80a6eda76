//! Bodies of functions: statements and instructions.

use super::lexer::Kind;
use super::{Parse, Parser};
use crate::codes;
use crate::tree::*;
use warpsmith_diag::Span;

impl Parser<'_> {
    /// `{ statements }`. Scopes within are statements themselves, so nothing recurses; mistakes are reported and skipped.
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

    /// Reports a missing comma where another operand follows on the same line, and assumes it.
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
}
