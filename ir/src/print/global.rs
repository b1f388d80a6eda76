//! Globals and their initialisers.

use super::{At, print_linkage};
use crate::aggregate::{Shape, TypeTable};
use crate::literal::write_float;
use crate::module::{Extent, Global, Module, Reloc, Symbol};
use crate::types::Type;
use std::fmt::{self, Write};

/// Writes a global, with all that its initialiser says.
pub(super) fn print(out: &mut String, module: &Module, global: &Global) -> fmt::Result {
    let types = &module.types;
    out.push_str(global.space.name());
    print_linkage(out, global.linkage);
    if let Some(kind) = global.handle {
        return writeln!(out, " {}: {kind}", At(&global.name));
    }
    let ty = types.display(global.ty);
    match global.extent {
        Extent::One => write!(out, " {}: {ty}", At(&global.name))?,
        Extent::Array(len) => write!(out, " {}: [{ty}; {len}]", At(&global.name))?,
        Extent::Dynamic => write!(out, " {}: [{ty}]", At(&global.name))?,
    }
    if let Some(align) = global.align {
        write!(out, " align {align}")?;
    }
    if global.managed {
        out.push_str(" managed");
    }
    if let Some(bytes) = &global.init {
        out.push_str(" = ");
        let last = global.relocs.iter().map(|reloc| reloc.offset.saturating_add(8)).max().unwrap_or(0);
        let init = Init { out, module, bytes, relocs: &global.relocs, end: last.max(bytes.len() as u64) };
        init.whole(global)?;
    }
    out.push('\n');
    Ok(())
}

struct Init<'a> {
    out: &'a mut String,
    module: &'a Module,
    bytes: &'a [u8],
    relocs: &'a [Reloc],
    /// What is written of it: zeros follow.
    end: u64,
}

impl Init<'_> {
    fn types(&self) -> &TypeTable {
        &self.module.types
    }

    fn whole(mut self, global: &Global) -> fmt::Result {
        let (ty, size) = (global.ty, self.types().size(global.ty));
        if global.extent == Extent::One && !ty.is_vector() && (ty.is_aggregate() || self.end == size) {
            return self.value(ty, 0);
        }
        // The elements of vectors are listed one behind the other.
        let element = if ty.is_vector() { ty.element_type() } else { ty };
        let step = self.types().size(element).max(1);
        self.out.push('[');
        let mut at = 0;
        while at < self.end {
            self.out.push_str(if at == 0 { "" } else { ", " });
            self.value(element, at)?;
            at += step;
        }
        self.out.push(']');
        Ok(())
    }

    fn value(&mut self, ty: Type, at: u64) -> fmt::Result {
        if let Some(entry) = self.types().get(ty) {
            let (open, close) = match entry.shape {
                Shape::Struct { .. } => ('{', '}'),
                Shape::Array { .. } => ('[', ']'),
            };
            self.out.push(open);
            for n in 0..self.types().fields(ty) {
                let Some((field, offset)) = self.types().field(ty, n) else { break };
                let at = at.saturating_add(offset);
                // What takes no bytes may be there any number of times.
                if at >= self.end || self.types().size(ty) == 0 {
                    break;
                }
                self.out.push_str(if n == 0 { "" } else { ", " });
                self.value(field, at)?;
            }
            self.out.push(close);
            return Ok(());
        }
        if ty.is_vector() {
            let step = self.types().size(ty.element_type());
            self.out.push('[');
            for n in 0..u64::from(ty.lanes()) {
                self.out.push_str(if n == 0 { "" } else { ", " });
                self.value(ty.element_type(), at + n * step)?;
            }
            self.out.push(']');
            return Ok(());
        }
        match self.relocs.iter().find(|reloc| reloc.offset == at) {
            Some(reloc) => self.address(reloc, ty),
            None => self.number(ty, at),
        }
    }

    /// `@name + 8`, or `generic @name + 8` where the type does not say so.
    fn address(&mut self, reloc: &Reloc, ty: Type) -> fmt::Result {
        if reloc.generic != (ty == Type::PTR) && matches!(reloc.target, Symbol::Global(_)) {
            self.out.push_str(if reloc.generic { "generic " } else { "own " });
        }
        let name = match reloc.target {
            Symbol::Func(id) => self.module.functions.get(id).map(|func| &func.name),
            Symbol::Global(id) => self.module.globals.get(id).map(|global| &global.name),
        };
        match name {
            Some(name) => write!(self.out, "{}", At(name))?,
            None => write!(self.out, "@{:?}", reloc.target)?,
        }
        match reloc.addend {
            0 => Ok(()),
            1.. => write!(self.out, " + {}", reloc.addend),
            _ => write!(self.out, " - {}", reloc.addend.unsigned_abs()),
        }
    }

    fn number(&mut self, ty: Type, at: u64) -> fmt::Result {
        let size = self.types().size(ty).min(16);
        let mut wide = [0; 16];
        for (byte, at) in wide.iter_mut().zip(at..at.saturating_add(size)) {
            *byte = usize::try_from(at).ok().and_then(|at| self.bytes.get(at)).copied().unwrap_or(0);
        }
        let bits = u128::from_le_bytes(wide);
        match ty.is_float() {
            true => write_float(self.out, ty, bits as u64),
            false if ty.bits() > 64 => write!(self.out, "{}", bits as i128)?,
            false => write!(self.out, "{}", ty.normalize(bits as u64 as i64))?,
        }
        Ok(())
    }
}
