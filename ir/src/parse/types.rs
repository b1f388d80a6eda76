//! Structs and arrays: where they are defined, and where they are written out.

use super::Parser;
use crate::aggregate::{MAX_DEPTH, Shape, is_free};
use crate::lexer::{Tok, Token};
use crate::types::Type;

impl Parser<'_> {
    /// A scalar, vector or pointer, a name, `{T, ..}`, `packed {T, ..}`, `align(n) {T, ..}` or `[T; n]`.
    pub(super) fn ty(&mut self) -> Option<Type> {
        self.nested_type(0)
    }

    fn nested_type(&mut self, depth: u32) -> Option<Type> {
        match self.shape(depth)? {
            Ok(shape) => Some(self.module.types.intern(shape)),
            Err(token) => self.type_name(token, self.text(token)),
        }
    }

    /// True where a struct or array is written out.
    pub(super) fn at_shape(&self) -> bool {
        self.is(b'{') || self.is(b'[')
    }

    /// What a struct or array consists of, or the word that names a type.
    fn shape(&mut self, depth: u32) -> Option<Result<Shape, Token>> {
        if depth > MAX_DEPTH {
            let message = format!("structs and arrays hold each other at most {MAX_DEPTH} deep");
            self.error("I0303", self.tok.span(), message);
            return None;
        }
        if self.is(b'[') {
            return self.array(depth).map(Ok);
        }
        let (mut packed, mut align) = (false, None);
        while self.tok.kind == Tok::Word {
            let token = self.bump();
            match self.bytes(token) {
                b"packed" => packed = true,
                b"align" => {
                    self.expect(b'(')?;
                    align = Some(self.int("alignment")?);
                    self.expect(b')')?;
                }
                _ if packed || align.is_some() => {
                    let message =
                        format!("expected `{{` and the fields of a struct, found {}", self.describe(token));
                    self.error("I0001", token.span(), message);
                    return None;
                }
                _ => return Some(Err(token)),
            }
        }
        if !self.is(b'{') {
            self.expected("a type");
            return None;
        }
        self.bump();
        let mut fields = Vec::new();
        while !self.accept(b'}') {
            fields.push(self.nested_type(depth + 1)?);
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        Some(Ok(Shape::Struct { fields: fields.into(), packed, align }))
    }

    /// `[T; n]`
    fn array(&mut self, depth: u32) -> Option<Shape> {
        let outer = std::mem::replace(&mut self.lexer.in_array, true);
        self.bump();
        let shape = self.array_parts(depth);
        self.lexer.in_array = outer;
        shape.and_then(|shape| self.expect(b']').map(|()| shape))
    }

    fn array_parts(&mut self, depth: u32) -> Option<Shape> {
        let element = self.nested_type(depth + 1)?;
        self.expect(b';')?;
        Some(Shape::Array { element, len: self.int("array length")? })
    }

    /// `type Name = {T, ..}`
    pub(super) fn type_definition(&mut self) -> Option<()> {
        self.bump();
        let token = self.expect_kind(Tok::Word, "the type's name")?;
        let name = self.text(token);
        self.expect(b'=')?;
        let start = self.tok;
        self.defining = Some(name);
        let shape = self.shape(0);
        self.defining = None;
        let shape = match shape? {
            Ok(shape) => shape,
            Err(word) => {
                let message = format!("expected a struct or array, found {}", self.describe(word));
                let note = "a type is `{i32, f32}`, `packed {i8, i32}`, `align(16) {f32}` or `[i32; 4]`; others have names already";
                self.error("I0001", start.span(), message).notes.push(note.into());
                return None;
            }
        };
        let types = &mut self.module.types;
        let next = format!("t{}", types.iter().count());
        let ty = match name == next {
            true => types.intern(shape),
            false if is_free(name) && types.by_name(name).is_none() => types.named(name, shape),
            false => {
                let message = match types.by_name(name) {
                    Some(_) => format!("{} is defined twice", self.describe(token)),
                    None => format!("{} cannot be the name of a type", self.describe(token)),
                };
                let note = "`t` and a number is what types without a name are called, in their order";
                self.error("I0012", token.span(), message).notes.push(note.into());
                return Some(());
            }
        };
        self.module.types.set_span(ty, token.span());
        Some(())
    }
}
