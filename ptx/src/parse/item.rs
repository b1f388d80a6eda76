//! Module-level directives, declarations and functions (manual chapters 5 and 11).

use super::decl::{begins_declaration, space};
use super::lexer::Kind;
use super::{Failed, Parse, Parser};
use crate::codes;
use crate::tree::*;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{StateSpace, Version};

/// The words that begin an item: after an error, reading resumes at one of them.
const ITEM_STARTS: &[&str] = &[
    "version",
    "target",
    "address_size",
    "file",
    "section",
    "nv_intermediate_source_section",
    "pragma",
    "alias",
    "visible",
    "extern",
    "weak",
    "common",
    "entry",
    "func",
    "global",
    "const",
    "shared",
    "local",
];

impl Parser<'_> {
    /// The whole module.
    pub(super) fn items(&mut self) {
        while self.token.kind != Kind::End {
            let start = self.token.start;
            if self.item().is_err() {
                self.operands.clear();
                self.depth = 0;
                self.resume_at_item(start);
            }
        }
    }

    /// Skips to the next token that begins an item, past the one at `start`.
    fn resume_at_item(&mut self, start: u32) {
        // What was declared before the mistake is not known, but that it was.
        let here = (self.token, self.lexer.pos, self.last_end);
        self.lexer.pos = start as usize;
        self.bump();
        if self.token.kind == Kind::Dot {
            while self.token.start < here.0.start && self.token.kind != Kind::End {
                self.lose_name();
                self.bump();
            }
        }
        (self.token, self.lexer.pos, self.last_end) = here;
        if self.token.start == start && self.token.kind != Kind::End {
            self.bump();
        }
        let mut depth = 0u32;
        loop {
            match self.token.kind {
                Kind::End => return,
                Kind::Name if depth == 0 => self.lose_name(),
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') if depth > 0 => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(b';');
                        return;
                    }
                }
                Kind::Punct(b';') if depth == 0 => {
                    self.bump();
                    return;
                }
                Kind::Dot if depth == 0 && ITEM_STARTS.iter().any(|word| self.at_dot(word)) => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn item(&mut self) -> Parse<()> {
        let start = self.token.start;
        let item = match (self.token.kind, self.text()) {
            (Kind::Dot, b".version") => self.version()?,
            (Kind::Dot, b".target") => Item::Target(self.target()?),
            (Kind::Dot, b".address_size") => {
                self.bump();
                Item::AddressSize(self.count("the address size, 32 or 64")?)
            }
            (Kind::Dot, b".file") => Item::File(self.file()?),
            (Kind::Dot, b".pragma") => Item::Pragma(self.pragma()?),
            (Kind::Dot, b".section") => self.section()?,
            (Kind::Dot, b".nv_intermediate_source_section") => self.intermediate_source()?,
            (Kind::Dot, b".alias") => self.alias()?,
            (Kind::Dot, b".visible" | b".extern" | b".weak" | b".common") => {
                let linkage = self.linkage();
                self.declaration(linkage, start)?
            }
            (Kind::Dot, b".entry" | b".func") => self.declaration(Linkage::Local, start)?,
            (Kind::Dot, text) if !begins_declaration(text) => {
                match self.misspelt("directive", ITEM_STARTS) {
                    // What follows reads by itself.
                    Some("visible" | "extern" | "weak" | "common") => {
                        self.bump();
                        return Ok(());
                    }
                    Some("entry") => {
                        Item::Function(self.function(FunctionKind::Entry, Linkage::Local, start)?)
                    }
                    Some("func") => {
                        Item::Function(self.function(FunctionKind::Func, Linkage::Local, start)?)
                    }
                    Some("version") => self.version()?,
                    Some("target") => Item::Target(self.target()?),
                    Some("address_size") => {
                        self.bump();
                        Item::AddressSize(self.count("the address size, 32 or 64")?)
                    }
                    Some(word) if let Some(space) = space(word.as_bytes()) => {
                        self.variable(Linkage::Local, Some(space), start)?
                    }
                    Some(_) => return Err(Failed),
                    None => return Err(self.expected("a directive")),
                }
            }
            (Kind::Dot, _) => self.declaration(Linkage::Local, start)?,
            (Kind::AtAt, _) => {
                let message = "`@@DWARF` is not PTX since version 2.0";
                let fix = "write `.section .debug_info { ... }` (PTX ISA 9.0, 11.5.2)";
                let span = self.span();
                self.report(Diagnostic::error(codes::DEPRECATED, span, message).note(fix));
                return Err(Failed);
            }
            (Kind::Punct(b'}'), _) => {
                let span = self.span();
                self.bump();
                self.error(codes::UNBALANCED, span, "this `}` closes nothing");
                return Ok(());
            }
            _ => return Err(self.expected("a directive")),
        };
        let span = self.since(start);
        self.module.push_item_at(item, span);
        Ok(())
    }

    fn linkage(&mut self) -> Linkage {
        let linkage = match self.text() {
            b".visible" => Linkage::Visible,
            b".extern" => Linkage::Extern,
            b".weak" => Linkage::Weak,
            _ => Linkage::Common,
        };
        self.bump();
        linkage
    }

    /// A function or a variable, after its linkage.
    fn declaration(&mut self, linkage: Linkage, start: u32) -> Parse<Item> {
        match self.text() {
            b".entry" | b".func" if linkage != Linkage::Common => {
                let kind = if self.at_dot("entry") { FunctionKind::Entry } else { FunctionKind::Func };
                Ok(Item::Function(self.function(kind, linkage, start)?))
            }
            text if !begins_declaration(text) => match self
                .misspelt("directive", &["entry", "func", "global"])
            {
                Some("entry") => Ok(Item::Function(self.function(FunctionKind::Entry, linkage, start)?)),
                Some("func") => Ok(Item::Function(self.function(FunctionKind::Func, linkage, start)?)),
                Some(_) => self.variable(linkage, Some(StateSpace::Global), start),
                None => Err(self.expected("a directive")),
            },
            _ => self.variable(linkage, None, start),
        }
    }

    /// A variable at module level. `space`: what the misspelt directive at hand is taken for.
    fn variable(&mut self, linkage: Linkage, space: Option<StateSpace>, start: u32) -> Parse<Item> {
        let mut decl = self.decl_after("a directive", space)?;
        decl.linkage = linkage;
        decl.span = Span::new(start, decl.span.end);
        decl.names = self.declarators()?;
        self.semicolon("the declaration")?;
        Ok(Item::Variable(self.module.push_decl(decl)))
    }

    fn version(&mut self) -> Parse<Item> {
        self.bump();
        let found = std::str::from_utf8(self.text()).ok().filter(|_| self.token.kind == Kind::Decimal);
        match found.and_then(|text| text.parse::<Version>().ok()) {
            Some(version) => {
                if self.module.marks.version.is_none() {
                    self.module.marks.version = self.span();
                }
                self.bump();
                Ok(Item::Version(version))
            }
            None => Err(self.expected("a version such as `8.0`")),
        }
    }

    /// `.target a, b`
    pub(super) fn target(&mut self) -> Parse<List<Symbol>> {
        self.bump();
        let (first, span) = self.name("a target such as `sm_80`")?;
        if self.module.marks.target.is_none() {
            self.module.marks.target = span;
        }
        let mut names = vec![first];
        while self.eat(b',') {
            names.push(self.name("a target option")?.0);
        }
        Ok(self.module.symbol_list(&names))
    }

    fn file(&mut self) -> Parse<File> {
        self.bump();
        let index = self.count("the index of the file")?;
        let name = self.string("the name of the file in quotes")?;
        let number = |p: &mut Self, what| if p.eat(b',') { p.wide_count(what).map(Some) } else { Ok(None) };
        let timestamp = number(self, "the time of last modification")?;
        let size = if timestamp.is_some() { number(self, "the size of the file")? } else { None };
        Ok(File { index, name, timestamp, size })
    }

    /// `.pragma "a", "b";`
    pub(super) fn pragma(&mut self) -> Parse<List<Symbol>> {
        self.bump();
        let mut strings = vec![self.string("a pragma in quotes")?];
        while self.eat(b',') {
            strings.push(self.string("a pragma in quotes")?);
        }
        self.semicolon("the pragma")?;
        Ok(self.module.symbol_list(&strings))
    }

    fn alias(&mut self) -> Parse<Item> {
        self.bump();
        let (alias, _) = self.name("the name of the alias")?;
        self.expect(b',', "`,` and the function that is aliased")?;
        let (aliasee, _) = self.name("the function that is aliased")?;
        self.semicolon("the alias")?;
        Ok(Item::Alias { alias, aliasee })
    }

    /// One integer token of 32 bits, or `WARP_SZ`: what array sizes and the arguments of directives are.
    pub(super) fn count(&mut self, what: &str) -> Parse<u32> {
        let span = self.span();
        let value = self.wide_count(what)?;
        u32::try_from(value)
            .map_err(|_| self.error(codes::OVERFLOW, span, format!("{value} does not fit 32 bits")))
    }

    pub(super) fn wide_count(&mut self, what: &str) -> Parse<u64> {
        let span = self.span();
        match self.token.kind {
            Kind::Int => {
                let value = super::lexer::integer(self.text());
                self.bump();
                let message = "this integer does not fit 64 bits";
                value.map(|(value, _)| value).ok_or_else(|| self.error(codes::OVERFLOW, span, message))
            }
            Kind::Name if self.text() == b"WARP_SZ" => {
                self.bump();
                Ok(32)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// `.func` or `.entry` with all that belongs to it.
    fn function(&mut self, kind: FunctionKind, linkage: Linkage, start: u32) -> Parse<Id<Function>> {
        self.bump();
        let mut unified = None;
        if kind == FunctionKind::Func && self.at_dot("attribute") {
            let (managed, found) = self.attribute()?;
            unified = found;
            if managed {
                let span = self.since(start);
                return Err(self.error(
                    codes::SYNTAX,
                    span,
                    "`.managed` is an attribute of variables, not of functions",
                ));
            }
        }
        let returns = match kind {
            FunctionKind::Func if self.at(b'(') => self.params()?,
            _ => List::EMPTY,
        };
        let (name, name_span) = self.name("the name of the function")?;
        let params = if self.at(b'(') { self.params()? } else { List::EMPTY };
        let directives = self.directives(kind == FunctionKind::Func)?;
        let span = self.since(start);
        let body = if self.eat(b';') {
            None
        } else if self.at(b'{') {
            Some(self.body())
        } else if kind == FunctionKind::Func && self.at_item_or_end() {
            None
        } else {
            return Err(self.expected("a directive of the function, `{` or `;`"));
        };
        let function =
            Function { kind, linkage, unified, name, returns, params, directives, body, span, name_span };
        Ok(self.module.push_function(function))
    }

    /// True where the next item begins, or none: there ptxas ends the prototype of a device function that lacks its `;`.
    fn at_item_or_end(&self) -> bool {
        self.token.kind == Kind::End
            || self.token.kind == Kind::Dot && ITEM_STARTS.iter().any(|word| self.at_dot(word))
    }

    /// What stands between a header and a body.
    pub(super) fn directives(&mut self, device: bool) -> Parse<List<Directive>> {
        let mut directives = Vec::new();
        let mut spans = Vec::new();
        while self.token.kind == Kind::Dot {
            let (start, span) = (self.token.start, self.span());
            let word = &self.text()[1..];
            let of_device = match word {
                b"noreturn" | b"abi_preserve" | b"abi_preserve_control" => true,
                b"maxnreg" | b"maxntid" | b"reqntid" | b"minnctapersm" | b"maxnctapersm"
                | b"reqnctapercluster" | b"explicitcluster" | b"maxclusterrank" | b"blocksareclusters"
                | b"minperctamemory" | b"pragma" => false,
                b"language" => device,
                _ => break,
            };
            // Behind the prototype of a device function, an item of the module.
            if device && word == b"pragma" {
                break;
            }
            if of_device != device {
                let of = if device { "an `.entry`" } else { "a `.func`" };
                let message = format!("`.{}` is a directive of {of}", String::from_utf8_lossy(word));
                return Err(self.error(codes::SYNTAX, span, message));
            }
            if word == b"pragma" {
                directives.push(Directive::Pragma(self.pragma()?));
                spans.push(self.since(start));
                continue;
            }
            self.bump();
            let directive = match word {
                b"noreturn" => Directive::NoReturn,
                b"language" => Directive::Language(self.languages()?),
                b"minperctamemory" => Directive::MinPerCtaMemory(self.count("a number of bytes")?),
                b"explicitcluster" => Directive::ExplicitCluster,
                b"blocksareclusters" => Directive::BlocksAreClusters,
                b"abi_preserve" => Directive::AbiPreserve(self.count("a number of registers")?),
                b"abi_preserve_control" => {
                    Directive::AbiPreserveControl(self.count("a number of registers")?)
                }
                b"maxnreg" => Directive::MaxNReg(self.count("a number of registers")?),
                b"minnctapersm" => Directive::MinNCtaPerSm(self.count("a number of blocks")?),
                b"maxnctapersm" => Directive::MaxNCtaPerSm(self.count("a number of blocks")?),
                b"maxclusterrank" => Directive::MaxClusterRank(self.count("a number of blocks")?),
                b"maxntid" => Directive::MaxNTid(self.sizes("a number of threads")?),
                b"reqntid" => Directive::ReqNTid(self.sizes("a number of threads")?),
                _ => Directive::ReqNCtaPerCluster(self.sizes("a number of blocks")?),
            };
            directives.push(directive);
            spans.push(self.since(start));
        }
        let list = self.module.directive_list(&directives);
        self.module.directive_spans[list.range()].copy_from_slice(&spans);
        Ok(list)
    }

    /// `x {, y {, z}}`
    fn sizes(&mut self, what: &str) -> Parse<Dims> {
        let mut sizes = vec![self.count(what)?];
        while sizes.len() < 3 && self.eat(b',') {
            sizes.push(self.count(what)?);
        }
        Ok(Dims::new(&sizes))
    }

    /// `( .param .b32 a, .reg .b64 b )`
    pub(super) fn params(&mut self) -> Parse<List<Decl>> {
        self.expect(b'(', "`(`")?;
        let mut params = Vec::new();
        if !self.at(b')') {
            loop {
                let mut decl = self.decl("a parameter")?;
                let declarator = match self.token.kind {
                    // Parameters alone may be called `_`: they then have no name.
                    Kind::Name if self.text() == b"_" => {
                        let span = self.span();
                        self.bump();
                        self.declarator_tail(Symbol::SINK, span, false)?
                    }
                    _ => {
                        let (name, span) = self.name("the name of the parameter")?;
                        self.declarator_tail(name, span, false)?
                    }
                };
                decl.names = self.module.declarator_list(&[declarator]);
                params.push(decl);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        self.expect(b')', "`,` or `)`")?;
        Ok(self.module.decl_list(&params))
    }
}
