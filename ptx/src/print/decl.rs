//! Declarations of variables, registers and parameters, with their initial values.

use super::Printer;
use super::position::Positioned;
use super::value::{Commas, decimal, signed};
use crate::tree::*;
use std::fmt::{self, Write};
use warpsmith_diag::Span;
use warpsmith_isa::StateSpace;

impl Printer<'_> {
    pub(super) fn linkage(&mut self, linkage: Linkage) {
        if let Some(name) = linkage.name() {
            self.word(name);
        }
    }

    /// `.name `
    fn word(&mut self, name: &str) {
        self.out.push('.');
        self.out.push_str(name);
        self.out.push(' ');
    }

    fn align(&mut self, align: Option<u32>) -> fmt::Result {
        let Some(align) = align else { return Ok(()) };
        self.word("align");
        decimal(&mut self.out, align.into())?;
        self.out.push(' ');
        Ok(())
    }

    pub(super) fn decl(&mut self, id: Id<Decl>) -> fmt::Result {
        let decl = &self.module[id];
        let start = self.out.len();
        self.linkage(decl.linkage);
        if decl.space != StateSpace::Generic {
            self.word(decl.space.name());
            if let Some(bank) = decl.bank {
                self.out.pop();
                write!(self.out, "[{bank}] ")?;
            }
        }
        self.align(decl.align)?;
        if decl.managed {
            self.out.push_str(".attribute(.managed) ");
        }
        if let Some(Unified(a, b)) = decl.unified {
            write!(self.out, ".attribute(.unified({a}, {b})) ")?;
        }
        if decl.vector != 1 {
            write!(self.out, ".v{} ", decl.vector)?;
        }
        self.word(decl.ty.name());
        if let Some(Ptr { to, align }) = decl.ptr {
            self.out.push_str(".ptr ");
            match to {
                PtrTo::Space(StateSpace::Generic) => {}
                PtrTo::Space(space) => self.word(space.name()),
                PtrTo::Opaque(ty) => self.word(ty.name()),
            }
            self.align(align)?;
        }
        self.align(decl.late_align)?;
        // What is printed so far ends with a blank.
        let span = Span::new(start as u32, self.out.len() as u32 - 1);
        if let Some(positions) = &mut self.positions {
            Decl::positions(positions).push((id, span));
        }
        self.declarators(decl.names)
    }

    pub(super) fn declarators(&mut self, names: List<Declarator>) -> fmt::Result {
        let m = self.module;
        for (i, id) in names.ids().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            let (declarator, start) = (&m[id], self.out.len());
            self.out.push_str(&m[declarator.name]);
            if let Some(count) = declarator.count {
                self.out.push('<');
                decimal(&mut self.out, count.into())?;
                self.out.push('>');
            }
            for dim in &m[declarator.dims] {
                self.out.push('[');
                dim.map_or(Ok(()), |size| decimal(&mut self.out, size))?;
                self.out.push(']');
            }
            self.place(id, start);
            if let Some(init) = declarator.init {
                self.out.push_str(" = ");
                let start = self.out.len();
                self.init(m[init])?;
                self.place(init, start);
            }
        }
        Ok(())
    }

    fn init(&mut self, init: Init) -> fmt::Result {
        let m = self.module;
        match init {
            Init::Const(value) => write!(self.out, "{value}"),
            Init::Address { name, generic, offset } => self.init_address(name, generic, offset),
            Init::Mask(mask) => {
                let Mask { mask, of } = m[mask];
                write!(self.out, "{mask:#x}(")?;
                match of {
                    MaskOf::Int(value) => write!(self.out, "{value}")?,
                    MaskOf::Address { name, generic, offset } => self.init_address(name, generic, offset)?,
                }
                self.out.push(')');
                Ok(())
            }
            Init::List(list) => {
                self.out.push('{');
                // The parser has no place for integers in front of what is none.
                let mut integers = true;
                for (i, id) in list.ids().enumerate() {
                    self.out.push_str(if i == 0 { "" } else { ", " });
                    let (element, start) = (m[id], self.out.len());
                    self.init(element)?;
                    integers &= matches!(element, Init::Const(Const::Int { .. }));
                    if !integers {
                        self.place(id, start);
                    }
                }
                self.out.push('}');
                Ok(())
            }
            Init::Bytes(bytes) => write!(self.out, "{{{}}}", Commas(&m[bytes])),
            Init::Ints(ints) => write!(self.out, "{{{}}}", Commas(&m[ints])),
            Init::Field { name, value } => match value {
                FieldValue::Name(value) => write!(self.out, "{} = {}", &m[name], &m[value]),
                FieldValue::Const(value) => write!(self.out, "{} = {value}", &m[name]),
            },
        }
    }

    fn init_address(&mut self, name: Symbol, generic: bool, offset: i64) -> fmt::Result {
        let name = &self.module[name];
        if generic {
            write!(self.out, "generic({name})")?
        } else {
            self.out.push_str(name)
        }
        self.offset(offset)
    }

    /// `+4`, or nothing for zero. A negative offset keeps its `+`: `name-4` is not PTX.
    pub(super) fn offset(&mut self, offset: i64) -> fmt::Result {
        if offset == 0 {
            return Ok(());
        }
        self.out.push('+');
        signed(&mut self.out, offset)
    }
}
