//! Structs and arrays: where they are defined, and where they are written out.

use super::Parser;
use crate::aggregate::{MAX_DEPTH, Shape, is_free};
use crate::lexer::{Tok, Token};
use crate::types::{Scalar, Type};
use std::borrow::Cow;
use warpsmith_diag::{Span, nearest};
use warpsmith_isa::StateSpace;

impl Parser<'_> {
    /// A scalar, vector or pointer, a name, `{T, ..}`, `packed {T, ..}`, `align(n) {T, ..}` or `[T; n]`.
    pub(super) fn ty(&mut self) -> Option<Type> {
        self.nested_type(0)
    }

    fn nested_type(&mut self, depth: u32) -> Option<Type> {
        match self.shape(depth)? {
            Ok(shape) => self.written_out(shape),
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
                b"align" => align = Some(self.number_in_parentheses("alignment")?),
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
        self.fields(depth, packed, align).map(Ok)
    }

    /// The rest of a type in the name of an operation, `load.packed {i8, i64}`, whose first word is read.
    pub(super) fn suffix_shape(&mut self, word: &str) -> Option<Type> {
        let (mut packed, mut align) = (word == "packed", None);
        if word == "align" {
            align = Some(self.number_in_parentheses("alignment")?);
        }
        packed |= self.accept_word("packed");
        if align.is_none() && self.accept_word("align") {
            align = Some(self.number_in_parentheses("alignment")?);
        }
        let shape = self.fields(0, packed, align)?;
        self.written_out(shape)
    }

    /// The type of a shape without a name. One that is new is not made in a module of which only this body is read here.
    fn written_out(&mut self, shape: Shape) -> Option<Type> {
        match &mut self.module {
            Cow::Owned(module) => Some(module.types.intern(shape)),
            Cow::Borrowed(module) => module.types.find(&shape),
        }
    }

    /// `{T, ..}`
    fn fields(&mut self, depth: u32, packed: bool, align: Option<u32>) -> Option<Shape> {
        self.expect(b'{')?;
        let mut fields = Vec::new();
        while !self.accept(b'}') {
            fields.push(self.nested_type(depth + 1)?);
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        Some(Shape::Struct { fields: fields.into(), packed, align })
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
        if self.module.types.by_name(name).is_none() {
            self.item_defines = Some(super::Defines::Type(name));
        }
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
        let types = &mut self.module.to_mut().types;
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
        self.module.to_mut().types.set_span(ty, token.span());
        Some(())
    }

    pub(super) fn type_name(&mut self, token: Token, name: &str) -> Option<Type> {
        // A pointer's space stands between angle brackets, which are tokens of their own.
        if name == "ptr" && self.is(b'<') && self.tok.start == token.end {
            self.bump();
            let space = self.expect_kind(Tok::Word, "a state space")?;
            let ty = StateSpace::from_name(self.text(space)).and_then(Type::ptr);
            if ty.is_none() || ty == Some(Type::PTR) {
                let message = format!("expected a state space of pointers, found {}", self.describe(space));
                self.error("I0003", space.span(), message).notes.push(
                    "the spaces are global, shared, local, const and param; a generic pointer is `ptr`"
                        .into(),
                );
            }
            let end = self.expect(b'>').map(|()| self.last_end)?;
            if self.tok.kind == Tok::Word && self.tok.start == end {
                let lanes = self.bump();
                let count = self.text(lanes).strip_prefix('x').filter(|n| !n.starts_with(['0', '+']));
                let count = count.and_then(|n| n.parse().ok());
                let vector = ty.zip(count).and_then(|(ty, count)| Type::vector(ty.element(), count));
                if vector.is_none() {
                    let message = format!("invalid vector {}", self.describe(lanes));
                    let note = "a vector of pointers is written `ptr<global>x4`, with 2 to 64 elements";
                    self.error("I0003", lanes.span(), message).notes.push(note.into());
                }
                return vector;
            }
            return ty;
        }
        let common = match name {
            "i32" => Type::I32,
            "f32" => Type::F32,
            "i64" => Type::I64,
            "i1" => Type::I1,
            "i8" => Type::I8,
            "f64" => Type::F64,
            _ => return self.rare_type_name(token, name),
        };
        Some(common)
    }

    pub(super) fn rare_type_name(&mut self, token: Token, name: &str) -> Option<Type> {
        let ty = Type::from_name(name).or_else(|| self.module.types.by_name(name));
        if ty.is_none() && !self.unread_types.contains(name) {
            // In `load.f33`, the type is the end of the token.
            let span = Span::new(token.end - name.len() as u32, token.end);
            let known: Vec<String> = Scalar::ALL.iter().map(Scalar::to_string).collect();
            let near =
                nearest(name, known.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| {
                "types are i1 to i128, f16 bf16 tf32 f32 f64, e4m3 e5m2 e2m3 e3m2 e2m1 ue8m0, \
                 vectors as in f32x4, ptr and ptr<global>; structs and arrays that are defined further up"
                    .into()
            });
            let shown = if name.len() > 40 { "..." } else { name };
            if self.defining == Some(name) {
                let note = "a `ptr` can point to it".to_owned();
                self.error("I0303", span, format!("`{shown}` holds itself")).notes.push(note);
                return None;
            }
            self.error("I0003", span, format!("unknown type `{shown}`")).notes.push(help);
        }
        ty
    }
}
