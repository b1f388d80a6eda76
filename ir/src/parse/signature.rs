//! Functions and kernels up to their bodies.

use super::{Body, ITEMS, Parser};
use crate::function::{Attrs, FuncKind, Function, Inline, Linkage, Param};
use crate::lexer::Tok;
use crate::module::Symbol;
use warpsmith_diag::nearest;

impl Parser<'_> {
    pub(super) fn function(&mut self, kind: FuncKind, bodies: &mut Vec<Body>) -> Option<()> {
        let linkage = self.linkage();
        let name = self.new_symbol()?;
        self.expect(b'(')?;
        let (mut params, mut names) = (Vec::new(), Vec::new());
        while !self.accept(b')') {
            names.push(self.expect_kind(Tok::Local, "a parameter such as `%x: i32`")?);
            self.expect(b':')?;
            params.push(self.param()?);
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        let mut returns = Vec::new();
        if self.is(b'-') {
            self.bump();
            self.expect(b'>')?;
            returns.push(self.ty()?);
            while self.accept(b',') {
                returns.push(self.ty()?);
            }
        }
        let mut function = Function::new(self.symbol_name(name), kind, params, returns);
        if linkage != Linkage::Local {
            function.linkage = linkage;
        }
        function.span = name.span();
        function.attrs = self.attributes()?;
        if self.is(b'!') {
            let (subprogram, _) = self.debug_ref("fn")?;
            function.debug = Some(Box::new(self.function_debug(subprogram)));
        }
        // `{` is the current token, so the lexer stands behind it.
        let start = self.lexer.position;
        let has_body = self.is(b'{');
        if self.accept(b'=') {
            let target = self.expect_kind(Tok::Global, "the function that this is another name of")?;
            let function = self.module.to_mut().add_function(function);
            self.aliases.push((function, target));
            return Some(());
        }
        if !has_body && linkage != Linkage::Extern {
            self.expected("`{` and a body");
            if let Some(error) = self.errors.last_mut() {
                error
                    .notes
                    .push("a function of another module is declared as `func extern @name(...)`, another name of one as `func @name(...) = @other`".into());
            }
        }
        let function = self.module.to_mut().add_function(function);
        if has_body {
            self.skip_body();
            let len = self.lexer.position.saturating_sub(start);
            bodies.push(Body { function, params: names, start, len });
        } else if linkage == Linkage::Extern {
            self.read.functions.push(function);
        }
        Some(())
    }

    /// Finds the functions of other names, when all are known.
    pub(super) fn aliases(&mut self) {
        for (alias, target) in std::mem::take(&mut self.aliases) {
            match self.module.symbol(&self.symbol_name(target)) {
                Some(Symbol::Func(id)) => {
                    self.module.to_mut().functions[alias].alias = Some(id);
                    self.read.functions.push(alias);
                }
                Some(Symbol::Global(_)) => {
                    let message =
                        format!("{} is a variable; only functions have other names", self.describe(target));
                    self.error("I0011", target.span(), message);
                }
                None if self.unread_symbols.contains(&*self.symbol_name(target)) => {}
                None => {
                    let message = format!("{} is not defined", self.describe(target));
                    let names = self.module.functions.values().map(|func| func.name.as_str()).take(1000);
                    let near = nearest(&self.symbol_name(target), names);
                    let note = near.map(|near| format!("did you mean `@{near}`?"));
                    self.error("I0011", target.span(), message).notes.extend(note);
                }
            }
        }
    }

    pub(super) fn param(&mut self) -> Option<Param> {
        let mut param = self.passed()?;
        let attrs = &mut param.attrs;
        while self.tok.kind == Tok::Word {
            let token = self.bump();
            match self.bytes(token) {
                b"noalias" => attrs.noalias = true,
                b"readonly" => attrs.readonly = true,
                b"nonnull" => attrs.nonnull = true,
                b"signext" => attrs.signext = true,
                b"align" => attrs.align = Some(self.number_in_parentheses("alignment")?),
                b"dereferenceable" => attrs.dereferenceable = Some(self.number_in_parentheses("size")?),
                _ => {
                    let message = format!("unknown parameter attribute {}", self.describe(token));
                    let note = "a parameter can be noalias, readonly, nonnull, signext, align(n) and dereferenceable(n)";
                    self.error("I0016", token.span(), message).notes.push(note.into());
                    return None;
                }
            }
        }
        Some(param)
    }

    /// `(n)`
    pub(super) fn number_in_parentheses<T: TryFrom<i128>>(&mut self, what: &str) -> Option<T> {
        self.expect(b'(')?;
        let number = self.int(what)?;
        self.expect(b')')?;
        Some(number)
    }

    /// A type, `byval(size, align n)`, or `varargs`.
    pub(super) fn passed(&mut self) -> Option<Param> {
        if self.accept_word("varargs") {
            return Some(Param::varargs());
        }
        if !self.accept_word("byval") {
            return self.ty().map(Param::new);
        }
        self.expect(b'(')?;
        let size = self.int("size")?;
        self.expect(b',')?;
        if !self.accept_word("align") {
            self.expected("`align`");
            return None;
        }
        let align = self.int("alignment")?;
        self.expect(b')')?;
        Some(Param::byval(size, align))
    }

    pub(super) fn attributes(&mut self) -> Option<Attrs> {
        let mut attrs = Attrs::default();
        while self.tok.kind == Tok::Word && !ITEMS.contains(&self.text(self.tok)) {
            let token = self.bump();
            match self.text(token) {
                "reqntid" => attrs.reqntid = Some(self.sizes()?),
                "maxntid" => attrs.maxntid = Some(self.sizes()?),
                "reqnctapercluster" => attrs.reqnctapercluster = Some(self.sizes()?),
                "minnctapersm" => attrs.minnctapersm = Some(self.sizes()?[0]),
                "maxnreg" => attrs.maxnreg = Some(self.sizes()?[0]),
                "maxclusterrank" => attrs.maxclusterrank = Some(self.sizes()?[0]),
                "explicitcluster" => attrs.explicitcluster = true,
                "inline" => attrs.inline = Inline::Wanted,
                "noinline" => attrs.inline = Inline::Never,
                "cold" => attrs.cold = true,
                "noreturn" => attrs.noreturn = true,
                "pure" => attrs.pure_function = true,
                "convergent" => attrs.convergent = true,
                "signext" => attrs.signext = true,
                "abi_preserve" => {
                    attrs.abi_preserve = Some(self.number_in_parentheses("number of registers")?)
                }
                "abi_preserve_control" => {
                    attrs.abi_preserve_control = Some(self.number_in_parentheses("number of registers")?);
                }
                _ => {
                    let message = format!("unknown attribute {}", self.describe(token));
                    let note = "attributes of kernels are reqntid, maxntid, reqnctapercluster, minnctapersm, maxnreg, maxclusterrank and \
                                explicitcluster; of functions inline, noinline, cold, noreturn, pure, convergent, signext, abi_preserve and \
                                abi_preserve_control";
                    self.error("I0016", token.span(), message).notes.push(note.into());
                    return None;
                }
            }
        }
        Some(attrs)
    }

    /// `(x)`, `(x, y)` or `(x, y, z)`; what is not written is 1.
    pub(super) fn sizes(&mut self) -> Option<[u32; 3]> {
        let mut sizes = [1; 3];
        self.expect(b'(')?;
        for (n, size) in sizes.iter_mut().enumerate() {
            if n > 0 && !self.accept(b',') {
                break;
            }
            *size = self.int("size")?;
        }
        self.expect(b')')?;
        Some(sizes)
    }
}
