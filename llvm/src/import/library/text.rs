//! C's functions on bytes and texts (C17, 7.24), byte by byte.

use super::maker::Maker;
use super::{Gives, Row};
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

const P: Type = Type::PTR;
const INT: Gives = Gives::One(Type::I32);
const SIZE: Gives = Gives::One(Type::I64);
const POINTER: Gives = Gives::One(P);

pub(super) const ROWS: &[Row] = &[
    Row { name: "strlen", params: &[P], gives: SIZE, build: strlen },
    Row { name: "strnlen", params: &[P, Type::I64], gives: SIZE, build: strnlen },
    Row { name: "strcmp", params: &[P, P], gives: INT, build: strcmp },
    Row { name: "strncmp", params: &[P, P, Type::I64], gives: INT, build: strncmp },
    Row { name: "memcmp", params: &[P, P, Type::I64], gives: INT, build: memcmp },
    Row { name: "bcmp", params: &[P, P, Type::I64], gives: INT, build: memcmp },
    Row { name: "strcpy", params: &[P, P], gives: POINTER, build: strcpy },
    Row { name: "stpcpy", params: &[P, P], gives: POINTER, build: stpcpy },
    Row { name: "strncpy", params: &[P, P, Type::I64], gives: POINTER, build: strncpy },
    Row { name: "strcat", params: &[P, P], gives: POINTER, build: strcat },
    Row { name: "strncat", params: &[P, P, Type::I64], gives: POINTER, build: strncat },
    Row { name: "mempcpy", params: &[P, P, Type::I64], gives: POINTER, build: mempcpy },
    Row { name: "memchr", params: &[P, Type::I32, Type::I64], gives: POINTER, build: memchr },
    Row { name: "strchr", params: &[P, Type::I32], gives: POINTER, build: strchr },
    Row { name: "strrchr", params: &[P, Type::I32], gives: POINTER, build: strrchr },
    Row { name: "strstr", params: &[P, P], gives: POINTER, build: strstr },
    Row { name: "strspn", params: &[P, P], gives: SIZE, build: |m| span(m, true) },
    Row { name: "strcspn", params: &[P, P], gives: SIZE, build: |m| span(m, false) },
];

impl<'m> Maker<'_, 'm> {
    fn size(&mut self, value: i64) -> Value {
        self.int(Type::I64, value)
    }

    /// The first index that stops a search, or else the size that indices are below, if there is one; and whether the search was stopped.
    fn search(
        &mut self,
        size: Option<Value>,
        stops: impl FnOnce(&mut Maker<'_, 'm>, Value) -> Value,
    ) -> (Value, Value) {
        let (zero, no) = (self.size(0), self.int(Type::I1, 0));
        let (index, stopped) = (self.var(zero), self.var(no));
        self.while_(
            |m| {
                let (at, stopped) = (m.get(index), m.get(stopped));
                let (inside, open) = (m.is_inside(at, size), m.b.ins().bnot(stopped));
                m.and(inside, open)
            },
            |m| {
                let at = m.get(index);
                let stops = stops(m, at);
                m.set(stopped, stops);
                let next = m.b.ins().iadd_imm(at, 1);
                let at = m.choose(stops, at, next);
                m.set(index, at);
            },
        );
        (self.get(index), self.get(stopped))
    }

    /// The bytes before the zero that ends a text, and at most so many.
    fn length(&mut self, text: Value, most: Option<Value>) -> Value {
        let (length, _) = self.search(most, |m, at| {
            let byte = m.byte(text, at);
            m.is_imm(IntCC::Eq, byte, 0)
        });
        length
    }

    /// Whether an index is below a size, if there is one.
    fn is_inside(&mut self, at: Value, size: Option<Value>) -> Value {
        match size {
            Some(size) => self.is(IntCC::Ult, at, size),
            None => self.int(Type::I1, 1),
        }
    }

    /// Copies a text with its end behind `to`, and gives the length that it has.
    fn copy_text(&mut self, to: Value, from: Value) -> Value {
        let length = self.length(from, None);
        let bytes = self.b.ins().iadd_imm(length, 1);
        self.copy_bytes(to, from, bytes);
        length
    }

    fn null(&mut self) -> Value {
        let zero = self.size(0);
        self.b.ins().inttoptr(P, zero)
    }

    /// An address that is looked for: in the beginning that of nothing.
    fn found(&mut self, found: Value, text: Value, index: Value) -> Value {
        let at = self.b.ins().ptradd(text, index);
        let null = self.null();
        self.choose(found, at, null)
    }
}

impl Maker<'_, '_> {
    /// Whether two texts are the same.
    pub(super) fn same_text(&mut self, x: Value, y: Value) -> Value {
        let (at, _) = self.search(None, |m, at| {
            let (of_x, of_y) = (m.byte(x, at), m.byte(y, at));
            let differ = m.is(IntCC::Ne, of_x, of_y);
            let end = m.is_imm(IntCC::Eq, of_x, 0);
            m.or(differ, end)
        });
        let (of_x, of_y) = (self.byte(x, at), self.byte(y, at));
        self.is(IntCC::Eq, of_x, of_y)
    }
}

fn strlen(m: &mut Maker<'_, '_>) {
    let text = m.param(0);
    let length = m.length(text, None);
    m.ret(&[length]);
}

fn strnlen(m: &mut Maker<'_, '_>) {
    let (text, most) = (m.param(0), m.param(1));
    let length = m.length(text, Some(most));
    m.ret(&[length]);
}

fn strcmp(m: &mut Maker<'_, '_>) {
    compare(m, None, true);
}

fn strncmp(m: &mut Maker<'_, '_>) {
    let size = m.param(2);
    compare(m, Some(size), true);
}

fn memcmp(m: &mut Maker<'_, '_>) {
    let size = m.param(2);
    compare(m, Some(size), false);
}

/// The difference of the first bytes that differ, up to a size and, of texts, up to their end.
fn compare(m: &mut Maker<'_, '_>, size: Option<Value>, are_texts: bool) {
    let (x, y) = (m.param(0), m.param(1));
    let none = m.int(Type::I32, 0);
    let difference = m.var(none);
    m.search(size, |m, at| {
        let (of_x, of_y) = (m.byte(x, at), m.byte(y, at));
        let value = m.b.ins().isub(of_x, of_y);
        m.set(difference, value);
        let differ = m.is(IntCC::Ne, of_x, of_y);
        if !are_texts {
            return differ;
        }
        let end = m.is_imm(IntCC::Eq, of_x, 0);
        m.or(differ, end)
    });
    let difference = m.get(difference);
    m.ret(&[difference]);
}

fn strcpy(m: &mut Maker<'_, '_>) {
    let (to, from) = (m.param(0), m.param(1));
    m.copy_text(to, from);
    m.ret(&[to]);
}

fn stpcpy(m: &mut Maker<'_, '_>) {
    let (to, from) = (m.param(0), m.param(1));
    let length = m.copy_text(to, from);
    let end = m.b.ins().ptradd(to, length);
    m.ret(&[end]);
}

fn strncpy(m: &mut Maker<'_, '_>) {
    let (to, from, size) = (m.param(0), m.param(1), m.param(2));
    let length = m.length(from, Some(size));
    m.copy_bytes(to, from, length);
    let rest = m.b.ins().ptradd(to, length);
    let left = m.b.ins().isub(size, length);
    let zero = m.int(Type::I8, 0);
    m.fill_bytes(rest, zero, left);
    m.ret(&[to]);
}

fn strcat(m: &mut Maker<'_, '_>) {
    let (to, from) = (m.param(0), m.param(1));
    let length = m.length(to, None);
    let end = m.b.ins().ptradd(to, length);
    m.copy_text(end, from);
    m.ret(&[to]);
}

fn strncat(m: &mut Maker<'_, '_>) {
    let (to, from, size) = (m.param(0), m.param(1), m.param(2));
    let length = m.length(to, None);
    let end = m.b.ins().ptradd(to, length);
    let added = m.length(from, Some(size));
    m.copy_bytes(end, from, added);
    let zero = m.int(Type::I32, 0);
    m.put_byte(zero, end, added);
    m.ret(&[to]);
}

fn mempcpy(m: &mut Maker<'_, '_>) {
    let (to, from, size) = (m.param(0), m.param(1), m.param(2));
    m.copy_bytes(to, from, size);
    let end = m.b.ins().ptradd(to, size);
    m.ret(&[end]);
}

fn memchr(m: &mut Maker<'_, '_>) {
    let (bytes, wanted, size) = (m.param(0), m.param(1), m.param(2));
    let wanted = m.b.ins().band_imm(wanted, 0xff);
    let (at, found) = m.search(Some(size), |m, at| {
        let byte = m.byte(bytes, at);
        m.is(IntCC::Eq, byte, wanted)
    });
    let address = m.found(found, bytes, at);
    m.ret(&[address]);
}

fn strchr(m: &mut Maker<'_, '_>) {
    let (text, wanted) = (m.param(0), m.param(1));
    let wanted = m.b.ins().band_imm(wanted, 0xff);
    let (at, _) = m.search(None, |m, at| {
        let byte = m.byte(text, at);
        let (is, end) = (m.is(IntCC::Eq, byte, wanted), m.is_imm(IntCC::Eq, byte, 0));
        m.or(is, end)
    });
    let byte = m.byte(text, at);
    let found = m.is(IntCC::Eq, byte, wanted);
    let address = m.found(found, text, at);
    m.ret(&[address]);
}

fn strrchr(m: &mut Maker<'_, '_>) {
    let (text, wanted) = (m.param(0), m.param(1));
    let wanted = m.b.ins().band_imm(wanted, 0xff);
    let null = m.null();
    let last = m.var(null);
    m.search(None, |m, at| {
        let byte = m.byte(text, at);
        let is = m.is(IntCC::Eq, byte, wanted);
        let (here, before) = (m.b.ins().ptradd(text, at), m.get(last));
        let value = m.choose(is, here, before);
        m.set(last, value);
        m.is_imm(IntCC::Eq, byte, 0)
    });
    let last = m.get(last);
    m.ret(&[last]);
}

/// True if a text begins with another, which ends at its zero.
fn begins_with(m: &mut Maker<'_, '_>, text: Value, with: Value) -> Value {
    let (at, _) = m.search(None, |m, at| {
        let (byte, wanted) = (m.byte(text, at), m.byte(with, at));
        let (differ, end) = (m.is(IntCC::Ne, byte, wanted), m.is_imm(IntCC::Eq, wanted, 0));
        m.or(differ, end)
    });
    let wanted = m.byte(with, at);
    m.is_imm(IntCC::Eq, wanted, 0)
}

fn strstr(m: &mut Maker<'_, '_>) {
    let (text, wanted) = (m.param(0), m.param(1));
    let no = m.int(Type::I1, 0);
    let found = m.var(no);
    let (at, _) = m.search(None, |m, at| {
        let here = m.b.ins().ptradd(text, at);
        let is = begins_with(m, here, wanted);
        m.set(found, is);
        let byte = m.byte(text, at);
        let end = m.is_imm(IntCC::Eq, byte, 0);
        m.or(is, end)
    });
    let found = m.get(found);
    let address = m.found(found, text, at);
    m.ret(&[address]);
}

/// The bytes that a text begins with and that are among those of another, or are not.
fn span(m: &mut Maker<'_, '_>, are_among: bool) {
    let (text, set) = (m.param(0), m.param(1));
    let (length, _) = m.search(None, |m, at| {
        let byte = m.byte(text, at);
        let (place, _) = m.search(None, |m, at| {
            let of_set = m.byte(set, at);
            let (is, end) = (m.is(IntCC::Eq, of_set, byte), m.is_imm(IntCC::Eq, of_set, 0));
            m.or(is, end)
        });
        let of_set = m.byte(set, place);
        let other = m.is_imm(if are_among { IntCC::Eq } else { IntCC::Ne }, of_set, 0);
        let end = m.is_imm(IntCC::Eq, byte, 0);
        m.or(other, end)
    });
    m.ret(&[length]);
}
