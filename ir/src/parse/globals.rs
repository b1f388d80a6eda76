//! Globals and their initialisers.

use super::Parser;
use crate::aggregate::Shape;
use crate::entities::GlobalId;
use crate::function::Linkage;
use crate::lexer::{Tok, Token};
use crate::module::{Extent, Global, Reloc, Symbol};
use crate::types::Type;
use warpsmith_diag::nearest;
use warpsmith_isa::{ScalarType, StateSpace, TypeClass};

/// The most bytes that an initialiser writes out.
const LARGEST: u64 = 1 << 30;

/// An address in an initialiser.
pub(super) struct Address {
    global: GlobalId,
    offset: u64,
    name: Token,
    addend: i64,
    generic: bool,
}

/// An initialiser as far as it is read.
struct Contents {
    global: GlobalId,
    bytes: Vec<u8>,
}

impl Parser<'_> {
    pub(super) fn global(&mut self, space: StateSpace) -> Option<()> {
        let linkage = self.linkage();
        let name = self.new_symbol()?;
        self.expect(b':')?;
        let kind = std::str::from_utf8(self.bytes(self.tok)).ok().and_then(ScalarType::from_name);
        if let Some(kind) =
            kind.filter(|kind| kind.class() == TypeClass::Opaque && space == StateSpace::Global)
        {
            self.bump();
            let handle = Global::handle(self.symbol_name(name), kind);
            let id = self.module.to_mut().add_global(Global { linkage, span: name.span(), ..handle });
            self.read.globals.push(id);
            return Some(());
        }
        let (ty, extent) = if self.is(b'[') { self.array_of_global()? } else { (self.ty()?, Extent::One) };
        let mut global = Global::new(self.symbol_name(name), space, ty, extent);
        if linkage != Linkage::Local {
            global.linkage = linkage;
        }
        global.span = name.span();
        loop {
            if self.accept_word("align") {
                global.align = Some(self.int("alignment")?);
            } else if self.accept_word("managed") {
                global.managed = true;
            } else {
                break;
            }
        }
        let has_init = self.accept(b'=');
        let id = self.module.to_mut().add_global(global);
        if has_init {
            let init = self.initialiser(id)?;
            self.module.to_mut().globals[id].init = Some(init);
        }
        self.read.globals.push(id);
        Some(())
    }

    /// `[T]` or `[T; n]`
    fn array_of_global(&mut self) -> Option<(Type, Extent)> {
        self.lexer.in_array = true;
        self.bump();
        let ty = self.ty();
        let length = ty.is_some() && self.accept(b';');
        self.lexer.in_array = false;
        let extent = if length { Extent::Array(self.int("array length")?) } else { Extent::Dynamic };
        self.expect(b']')?;
        Some((ty?, extent))
    }

    /// The bytes of a constant, `[constant, ...]` or `"text"`. Values of vectors are listed one after the other.
    fn initialiser(&mut self, global: GlobalId) -> Option<Vec<u8>> {
        let (ty, extent) = (self.module.globals[global].ty, self.module.globals[global].extent);
        let mut contents = Contents { global, bytes: Vec::new() };
        if self.tok.kind == Tok::String {
            self.string_bytes(ty, &mut contents, 0)?;
            return Some(contents.bytes);
        }
        if !self.is(b'[') || (ty.is_aggregate() && extent == Extent::One) {
            let element = if ty.is_vector() { ty.element_type() } else { ty };
            self.initial_value(element, 0, &mut contents)?;
            return Some(contents.bytes);
        }
        self.bump();
        let element = if ty.is_vector() { ty.element_type() } else { ty };
        self.elements_until(b']', &mut contents, 0, |this, _| {
            let size = this.module.types.size(element);
            Some((element, size))
        })?;
        Some(contents.bytes)
    }

    /// Constants up to a bracket. `next` gives the type of the n-th and how far the one behind it is.
    fn elements_until(
        &mut self,
        close: u8,
        contents: &mut Contents,
        start: u64,
        next: impl Fn(&Self, u64) -> Option<(Type, u64)>,
    ) -> Option<()> {
        let (mut n, mut at) = (0, start);
        while !self.accept(close) {
            let Some((ty, step)) = next(self, n) else {
                self.expected(&format!("`{}`: there is nothing more to initialise", close as char));
                return None;
            };
            self.initial_value(ty, at, contents)?;
            (n, at) = (n + 1, at.saturating_add(step));
            if !self.accept(b',') {
                self.expect(close)?;
                break;
            }
        }
        Some(())
    }

    /// `"text"` for `i8`s.
    fn string_bytes(&mut self, ty: Type, contents: &mut Contents, at: u64) -> Option<()> {
        let token = self.bump();
        if ty != Type::I8 {
            let shown = self.module.types.display(ty).to_string();
            self.error("I0020", token.span(), format!("a string initialises i8, not {shown}"));
        }
        let text = self.string(token)?;
        self.put(contents, at, &text)
    }

    fn put(&mut self, contents: &mut Contents, at: u64, bytes: &[u8]) -> Option<()> {
        let end = at.saturating_add(bytes.len() as u64);
        if end > LARGEST {
            let message = format!("an initialiser writes out {LARGEST} bytes at most");
            self.error("I0020", self.tok.span(), message);
            return None;
        }
        if contents.bytes.len() < end as usize {
            contents.bytes.resize(end as usize, 0);
        }
        contents.bytes[at as usize..end as usize].copy_from_slice(bytes);
        Some(())
    }

    fn initial_value(&mut self, ty: Type, at: u64, contents: &mut Contents) -> Option<()> {
        if let Some(entry) = self.module.types.get(ty) {
            let shape = entry.shape.clone();
            return match shape {
                Shape::Struct { .. } => {
                    self.expect(b'{')?;
                    self.fields_of(ty, at, contents)
                }
                Shape::Array { element, .. } if self.tok.kind == Tok::String => {
                    self.string_bytes(element, contents, at)
                }
                Shape::Array { element, len } => {
                    self.expect(b'[')?;
                    self.elements_until(b']', contents, at, |this, n| {
                        (n < len).then(|| (element, this.module.types.size(element)))
                    })
                }
            };
        }
        if ty.is_vector() {
            self.expect(b'[')?;
            let element = ty.element_type();
            return self.elements_until(b']', contents, at, |this, n| {
                (n < ty.lanes().into()).then(|| (element, this.module.types.size(element)))
            });
        }
        if self.tok.kind == Tok::Global || (self.tok.kind == Tok::Word && ty.bits() == 64) {
            return self.initial_address(ty, at, contents);
        }
        let (number, span) = self.number()?;
        let size = self.module.types.size(ty) as usize;
        if ty.is_float() {
            let bits = self.float_constant(number, ty, span);
            return self.put(contents, at, &bits.to_le_bytes()[..size.min(8)]);
        }
        // A pointer without a symbol is a number.
        let ty = if ty.is_ptr() { Type::I64 } else { ty };
        let value = self.wide_constant(number, ty, span);
        // The one bit of an `i1` stands in a byte.
        self.put(contents, at, &value.to_le_bytes()[..size])
    }

    fn fields_of(&mut self, ty: Type, at: u64, contents: &mut Contents) -> Option<()> {
        let mut n = 0;
        while !self.accept(b'}') {
            let Some((field, offset)) = self.module.types.field(ty, n) else {
                self.expected("`}`: there are no more fields");
                return None;
            };
            self.initial_value(field, at.saturating_add(offset), contents)?;
            n += 1;
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        Some(())
    }

    /// `@name + n`: a generic address for a `ptr`, else one in the symbol's own space, unless `generic` or `own` stands in front.
    fn initial_address(&mut self, ty: Type, at: u64, contents: &mut Contents) -> Option<()> {
        let generic = if self.accept_word("generic") {
            true
        } else if self.accept_word("own") {
            false
        } else {
            ty == Type::PTR
        };
        let name = self.expect_kind(Tok::Global, "a number, or an address such as `@name + 8`")?;
        if ty.bits() != 64 || ty.is_float() {
            let shown = ty.to_string();
            let message = format!("an address does not fit {shown}");
            self.error("I0020", name.span(), message).notes.push("it takes a pointer or i64".into());
        }
        let negative = self.is(b'-');
        let addend = if negative || self.accept(b'+') { self.int("offset")? } else { 0 };
        self.put(contents, at, &[0; 8])?;
        self.addresses.push(Address { global: contents.global, offset: at, name, addend, generic });
        Some(())
    }

    /// Finds the symbols of initialisers, when all are known.
    pub(super) fn addresses(&mut self) {
        for Address { global, offset, name, addend, generic } in std::mem::take(&mut self.addresses) {
            let Some(target) = self.module.symbol(&self.symbol_name(name)) else {
                if self.unread_symbols.contains(&*self.symbol_name(name)) {
                    continue;
                }
                let message = format!("{} is not defined", self.describe(name));
                let names = self.module.globals.values().map(|global| global.name.as_str()).take(1000);
                let note =
                    nearest(&self.symbol_name(name), names).map(|near| format!("did you mean `@{near}`?"));
                self.error("I0011", name.span(), message).notes.extend(note);
                continue;
            };
            // Functions have one address, which is generic.
            let generic = generic || matches!(target, Symbol::Func(_));
            self.module.to_mut().globals[global].relocs.push(Reloc { offset, target, addend, generic });
        }
    }
}
