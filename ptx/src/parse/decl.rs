//! Declarations of variables, registers and parameters, with their initial values (manual 5.4).

use super::lexer::Kind;
use super::{Parse, Parser};
use crate::codes;
use crate::tree::*;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{ScalarType, StateSpace, suggest};

impl Parser<'_> {
    /// The directives of a declaration up to its type, and `.ptr`.
    pub(super) fn decl(&mut self, what: &str) -> Parse<Decl> {
        let meant = match begins_declaration(self.text()) || self.token.kind != Kind::Dot {
            true => None,
            false => self.misspelt("directive", DECL_STARTS).and_then(|word| space(word.as_bytes())),
        };
        self.decl_after(what, meant)
    }

    /// The directives of a declaration up to its type, where the first may be misspelt: `space_meant` is what it is taken for.
    pub(super) fn decl_after(&mut self, what: &str, space_meant: Option<StateSpace>) -> Parse<Decl> {
        let start = self.token.start;
        let mut decl = Decl {
            linkage: Linkage::Local,
            space: StateSpace::Generic,
            bank: None,
            align: None,
            managed: false,
            unified: None,
            vector: 1,
            ty: ScalarType::B32,
            ptr: None,
            late_align: None,
            names: List::EMPTY,
            span: Span::NONE,
        };
        if let Some(space) = space_meant {
            decl.space = space;
            self.bump();
        }
        loop {
            if self.token.kind != Kind::Dot {
                return Err(self.expected(if self.token.start == start { what } else { "the type" }));
            }
            match &self.text()[1..] {
                b"align" => {
                    self.bump();
                    decl.align = Some(self.alignment()?);
                }
                b"attribute" => {
                    let (managed, unified) = self.attribute()?;
                    decl.managed |= managed;
                    decl.unified = unified.or(decl.unified);
                }
                word => match space(word) {
                    Some(space) => {
                        if decl.space != StateSpace::Generic {
                            return Err(self.expected("the type: the state space is named already"));
                        }
                        decl.space = space;
                        self.bump();
                        if space == StateSpace::Const && self.eat(b'[') {
                            decl.bank = Some(self.count("a bank of constant memory")?);
                            self.expect(b']', "`]`")?;
                        }
                    }
                    None => break,
                },
            }
        }
        match &self.text()[1..] {
            b"v2" => decl.vector = 2,
            b"v4" => decl.vector = 4,
            _ => {}
        }
        if decl.vector != 1 {
            self.bump();
        }
        let ty = std::str::from_utf8(self.text()).ok().and_then(|text| ScalarType::from_name(text.get(1..)?));
        match ty {
            Some(ty) if self.token.kind == Kind::Dot => decl.ty = ty,
            _ if self.token.start == start => return Err(self.expected(what)),
            _ => {
                decl.ty = match self.misspelt_type() {
                    Some(meant) => meant,
                    None => return Err(self.expected("a type such as `.b32`")),
                }
            }
        }
        self.bump();
        decl.span = self.since(start);
        if self.at_dot("ptr") {
            self.bump();
            decl.ptr = Some(self.pointer()?);
            decl.span = self.since(start);
        } else if self.at_dot("align") {
            // Only parameters of kernels take it, and there it is what `.ptr` has.
            self.bump();
            decl.late_align = Some(self.alignment()?);
            decl.span = self.since(start);
        }
        Ok(decl)
    }

    /// Reports that there is no such type, if it is a misspelling of one or the name that it has elsewhere.
    fn misspelt_type(&mut self) -> Option<ScalarType> {
        let text =
            std::str::from_utf8(self.text().get(1..)?).ok().filter(|_| self.token.kind == Kind::Dot)?;
        let meant = suggest::type_name(text)?;
        let span = self.span();
        let error = Diagnostic::error(codes::SYNTAX, span, format!("unknown type `.{text}`"));
        self.report(error.fix("did you mean", span, format!(".{meant}")));
        Some(meant)
    }

    /// What follows `.ptr`.
    fn pointer(&mut self) -> Parse<Ptr> {
        let mut ptr = Ptr { to: PtrTo::Space(StateSpace::Generic), align: None };
        if self.token.kind == Kind::Dot {
            let to = match &self.text()[1..] {
                b"const" => Some(PtrTo::Space(StateSpace::Const)),
                b"global" => Some(PtrTo::Space(StateSpace::Global)),
                b"local" => Some(PtrTo::Space(StateSpace::Local)),
                b"shared" => Some(PtrTo::Space(StateSpace::Shared)),
                b"texref" => Some(PtrTo::Opaque(ScalarType::Texref)),
                b"samplerref" => Some(PtrTo::Opaque(ScalarType::Samplerref)),
                b"surfref" => Some(PtrTo::Opaque(ScalarType::Surfref)),
                _ => None,
            };
            if let Some(to) = to {
                self.bump();
                ptr.to = to;
            }
        }
        if self.at_dot("align") {
            self.bump();
            ptr.align = Some(self.alignment()?);
        }
        Ok(ptr)
    }

    fn alignment(&mut self) -> Parse<u32> {
        self.count("an alignment in bytes")
    }

    /// `.attribute(.managed, .unified(1, 2))`
    pub(super) fn attribute(&mut self) -> Parse<(bool, Option<Unified>)> {
        self.bump();
        self.expect(b'(', "`(` and the attributes")?;
        let (mut managed, mut unified) = (false, None);
        loop {
            if self.at_dot("managed") {
                self.bump();
                managed = true;
            } else if self.at_dot("unified") {
                self.bump();
                self.expect(b'(', "`(` and the two identifiers of the symbol")?;
                let first = self.wide_count("an integer")?;
                self.expect(b',', "`,` and the second identifier")?;
                unified = Some(Unified(first, self.wide_count("an integer")?));
                self.expect(b')', "`)`")?;
            } else {
                return Err(self.expected("`.managed` or `.unified`"));
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')', "`,` or `)`")?;
        Ok((managed, unified))
    }

    /// The names of a declaration, up to its `;`.
    pub(super) fn declarators(&mut self) -> Parse<List<Declarator>> {
        if self.at(b';') {
            return Ok(List::EMPTY);
        }
        let (name, span) = self.name("a name")?;
        let mut declarator = self.declarator_tail(name, span, true)?;
        self.initialiser(&mut declarator)?;
        if !self.at(b',') {
            return Ok(self.module.declarator_list(&[declarator]));
        }
        let mut declarators = vec![declarator];
        while self.eat(b',') {
            let (name, span) = self.name("a name")?;
            let mut declarator = self.declarator_tail(name, span, true)?;
            self.initialiser(&mut declarator)?;
            declarators.push(declarator);
        }
        Ok(self.module.declarator_list(&declarators))
    }

    /// `<n>`, or array sizes.
    pub(super) fn declarator_tail(&mut self, name: Symbol, span: Span, counts: bool) -> Parse<Declarator> {
        let mut declarator = Declarator { name, count: None, dims: List::EMPTY, init: None, span };
        if counts && self.eat(b'<') {
            declarator.count = Some(self.count("how many there are")?);
            self.expect(b'>', "`>`")?;
        } else if self.at(b'[') {
            let start = self.module.dims.len();
            while self.eat(b'[') {
                let first = self.module.dims.len() == start;
                let size = if first && self.at(b']') { None } else { Some(self.wide_count("a size")?) };
                self.module.dims.push(size);
                self.expect(b']', "`]`")?;
            }
            declarator.dims = List::new(start, self.module.dims.len());
        }
        declarator.span = self.since(span.start);
        Ok(declarator)
    }

    fn initialiser(&mut self, declarator: &mut Declarator) -> Parse<()> {
        if self.eat(b'=') {
            let start = self.token.start;
            let init = self.init()?;
            let span = self.since(start);
            declarator.init = Some(self.module.push_init(init, span));
        }
        Ok(())
    }

    fn init(&mut self) -> Parse<Init> {
        match self.token.kind {
            Kind::Punct(b'{') => self.nested(Self::init_list),
            Kind::Name if self.text() != b"WARP_SZ" => {
                let (name, generic, offset) = self.init_address()?;
                Ok(Init::Address { name, generic, offset })
            }
            Kind::Int => {
                let mask = super::lexer::integer(self.text());
                let value = self.constant()?;
                match (mask, self.at(b'(')) {
                    (Some((mask, _)), true) => self.mask(mask),
                    _ => Ok(Init::Const(value)),
                }
            }
            _ => Ok(Init::Const(self.constant()?)),
        }
    }

    /// `(name+4)` or `(constant)` after a mask.
    fn mask(&mut self, mask: u64) -> Parse<Init> {
        self.bump();
        let of = if self.token.kind == Kind::Name && self.text() != b"WARP_SZ" {
            let (name, generic, offset) = self.init_address()?;
            MaskOf::Address { name, generic, offset }
        } else {
            MaskOf::Int(self.integer_constant()?)
        };
        self.expect(b')', "`)`")?;
        Ok(self.module.mask(Mask { mask, of }))
    }

    /// `name`, `name+4` or `generic(name)+4`
    fn init_address(&mut self) -> Parse<(Symbol, bool, i64)> {
        let (mut name, span) = self.name("a name")?;
        let generic = &self.lexer.text[span.range(self.lexer.text.len())] == b"generic" && self.eat(b'(');
        if generic {
            name = self.name("a variable")?.0;
            self.expect(b')', "`)`")?;
        }
        let offset = if self.eat(b'+') { self.integer_constant()? as i64 } else { 0 };
        Ok((name, generic, offset))
    }

    /// `{ a, b }`. Integers, of which tables can have millions, are gathered without a record for each.
    fn init_list(&mut self) -> Parse<Init> {
        self.bump();
        let mut ints: Vec<u64> = Vec::new();
        let mut elements: Vec<Init> = Vec::new();
        let mut spans: Vec<Span> = Vec::new();
        if self.eat(b'}') {
            return Ok(self.module.init_list_at(&[], &[]));
        }
        loop {
            let start = self.token.start;
            let element = match self.token.kind {
                Kind::Name if self.field_follows() => self.field()?,
                _ => self.init()?,
            };
            match element {
                Init::Const(Const::Int { bits, .. }) if elements.is_empty() => ints.push(bits),
                element => {
                    if elements.is_empty() {
                        elements.extend(ints.drain(..).map(|bits| Init::Const(Const::int(bits as i64))));
                        spans.resize(elements.len(), Span::NONE);
                    }
                    elements.push(element);
                    spans.push(self.since(start));
                }
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b'}', "`,` or `}`")?;
        Ok(match elements.is_empty() {
            true => self.module.ints_init(&ints),
            false => self.module.init_list_at(&elements, &spans),
        })
    }

    /// True at `name =`, which only the lists of textures, samplers and surfaces have.
    fn field_follows(&self) -> bool {
        let rest = &self.lexer.text[self.token.end as usize..];
        rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'=')
    }

    fn field(&mut self) -> Parse<Init> {
        let (name, _) = self.name("a property")?;
        self.expect(b'=', "`=`")?;
        let value = match self.token.kind {
            Kind::Name if self.text() != b"WARP_SZ" => FieldValue::Name(self.name("a value")?.0),
            _ => FieldValue::Const(self.constant()?),
        };
        Ok(Init::Field { name, value })
    }
}

/// What a declaration in a body can begin with.
const DECL_STARTS: &[&str] = &["reg", "global", "const", "local", "param", "shared"];

/// True for a directive that a declaration, of which the linkage is read, can begin with.
pub(super) fn begins_declaration(text: &[u8]) -> bool {
    let Some(word) = text.get(1..) else { return false };
    let ty = || std::str::from_utf8(word).is_ok_and(|word| ScalarType::from_name(word).is_some());
    space(word).is_some()
        || matches!(word, b"align" | b"attribute" | b"v2" | b"v4" | b"entry" | b"func")
        || ty()
}

/// The space that a declaration can name.
pub(super) fn space(word: &[u8]) -> Option<StateSpace> {
    Some(match word {
        b"reg" => StateSpace::Reg,
        b"sreg" => StateSpace::Sreg,
        b"const" => StateSpace::Const,
        b"global" => StateSpace::Global,
        b"local" => StateSpace::Local,
        b"param" => StateSpace::Param,
        b"shared" => StateSpace::Shared,
        b"tex" => StateSpace::Tex,
        _ => return None,
    })
}
