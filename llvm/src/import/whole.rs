//! Values that are passed, returned or loaded at once, and the scalars that they are made of.

use super::function::{Builder, Values};
use crate::error::{Error, Result};
use warpsmith_ir::{self as ir, InstBuilder, Value};

impl Builder<'_, '_, '_> {
    /// The scalars of a value that was passed, returned or loaded at once.
    pub fn take_apart(&mut self, whole: Value, out: &mut Values) {
        let ty = self.type_of(whole);
        if ty.is_vector() {
            out.extend((0..ty.lanes()).map(|lane| self.b.ins().extract(whole, lane as u8)));
        } else if ty.is_aggregate() {
            for field in 0..self.b.module().types.fields(ty) as u32 {
                let part = self.b.extract_value(whole, &[field]);
                self.take_apart(part, out);
            }
        } else {
            out.push(whole);
        }
    }

    /// A value of a type made of scalars, which are taken from the list.
    pub fn put_together(&mut self, ty: ir::Type, scalars: &mut impl Iterator<Item = Value>) -> Result<Value> {
        if ty.is_vector() || ty.is_aggregate() {
            let types = &self.b.module().types;
            let parts: Vec<ir::Type> = if ty.is_vector() {
                vec![ty.element_type(); ty.lanes() as usize]
            } else {
                (0..types.fields(ty)).filter_map(|n| Some(types.field(ty, n)?.0)).collect()
            };
            let parts =
                parts.into_iter().map(|part| self.put_together(part, scalars)).collect::<Result<Vec<_>>>()?;
            return Ok(if ty.is_vector() {
                self.b.ins().vec(&parts)
            } else {
                self.b.ins().aggregate(ty, &parts)
            });
        }
        let scalar = scalars.next().ok_or_else(|| Error::unsupported("a value that lacks a part"))?;
        Ok(self.pointer_as(scalar, ty))
    }
}
