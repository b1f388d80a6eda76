//! Constants made where they are used.

use super::function::{Builder, Values, local};
use super::shape::{self, Part};
use super::space;
use crate::error::{Error, Result};
use crate::module::constants::{Constant, ConstantKind};
use crate::module::types::{Type as Llvm, TypeId};
use crate::module::{GlobalValue, ValueId};
use smallvec::SmallVec;
use warpsmith_ir::{InstBuilder, Type, Value};

/// Constants that hold each other deeper than this are refused.
const MAX_DEPTH: u32 = 64;

/// What the address of a block is: a number, since PTX has no such address. None is null, and it means something in its function only.
pub(super) fn address_of_block(block: u32) -> i64 {
    i64::from(block) + 1
}

impl Builder<'_, '_, '_> {
    /// The scalars of a constant or of the address of a symbol.
    pub fn constant(&mut self, value: ValueId) -> Result<Values> {
        self.nested(value, 0)
    }

    /// The constant of a number.
    pub fn find_constant(&self, value: ValueId) -> Option<&Constant> {
        space::find_constant(self.module(), Some(self.body), value)
    }

    /// The value of an integer constant.
    pub fn constant_integer(&self, value: ValueId) -> Option<i64> {
        let constant = self.find_constant(value)?;
        match (&constant.kind, self.ty(constant.ty)) {
            (ConstantKind::Integer(n), _) => Some(*n),
            (ConstantKind::Null | ConstantKind::Undef | ConstantKind::Poison, Llvm::Integer(_)) => Some(0),
            (ConstantKind::Wide(words), _) if words.iter().skip(1).all(|word| *word == 0) => {
                words.first().and_then(|word| i64::try_from(*word).ok())
            }
            _ => None,
        }
    }

    fn nested(&mut self, value: ValueId, depth: u32) -> Result<Values> {
        if depth > MAX_DEPTH {
            return Err(Error::unsupported("constants that hold each other too deep"));
        }
        if let Some(global) = self.module().global_value(value) {
            return Ok(Values::from_slice(&[self.symbol(global)?]));
        }
        if local(self.body, value)
            .is_some_and(|n| n >= self.body.num_params as usize + self.body.constants.len())
        {
            return Err(Error::unsupported("a constant made of what is computed"));
        }
        let Some(constant) = self.find_constant(value) else {
            return Err(Error::unsupported(format!("value {} as a constant", value.0)));
        };
        if let (Some(part), &ConstantKind::Integer(n)) =
            (shape::single(self.types(), constant.ty), &constant.kind)
        {
            return Ok(Values::from_slice(&[self.limb_of(&part, n)]));
        }
        let (ty, kind) = (constant.ty, constant.kind.clone());
        let parts = self.parts(ty)?;
        match kind {
            // What is undefined is 0 everywhere, so that a program has one meaning.
            ConstantKind::Null | ConstantKind::Undef | ConstantKind::Poison => {
                Ok(parts.iter().map(|part| self.zero_of(part.ty)).collect())
            }
            ConstantKind::Wide(words) if parts.len() == 1 => {
                let word = |n: usize| u128::from(words.get(n).copied().unwrap_or(0));
                let bits = word(0) | word(1) << 64;
                Ok(parts.iter().map(|part| self.b.ins().iconst_bits(part.ty, bits)).collect())
            }
            ConstantKind::Integer(n) => Ok(parts
                .iter()
                .enumerate()
                .map(|(limb, part)| self.limb_of(part, if limb == 0 { n } else { n >> 63 }))
                .collect()),
            ConstantKind::Wide(words) => {
                let word = |n: usize| words.get(n).copied().unwrap_or(0) as i64;
                Ok(parts.iter().enumerate().map(|(n, part)| self.limb_of(part, word(n))).collect())
            }
            ConstantKind::Float(bits) => match parts.as_slice() {
                [part] => Ok(Values::from_slice(&[self
                    .b
                    .ins()
                    .fconst(part.ty, bits.first().copied().unwrap_or(0))])),
                many => Ok(many
                    .iter()
                    .map(|part| self.b.ins().fconst(part.ty, bits.first().copied().unwrap_or(0)))
                    .collect()),
            },
            ConstantKind::Aggregate(elements) => {
                let splat = elements.len() == 1 && self.types().parts(ty).is_some_and(|count| count > 1);
                if splat {
                    let one = self.nested(elements[0], depth + 1)?;
                    return Ok(one.iter().copied().cycle().take(parts.len()).collect());
                }
                let mut all = Values::new();
                for element in elements {
                    all.extend(self.nested(element, depth + 1)?);
                }
                if all.len() != parts.len() {
                    return Err(Error::unsupported(format!(
                        "a constant of type `{}` with other elements than that has",
                        self.types().display(ty)
                    )));
                }
                Ok(self.as_parts(all, &parts))
            }
            ConstantKind::String(bytes) => Ok(parts
                .iter()
                .enumerate()
                .map(|(n, part)| self.int(part.bits, i64::from(bytes.get(n).copied().unwrap_or(0))))
                .collect()),
            ConstantKind::Data(elements) => {
                let splat = elements.len() == 1;
                let mut all = Values::new();
                for (n, part) in parts.iter().enumerate() {
                    let bits = elements.get(if splat { 0 } else { n }).copied().unwrap_or(0);
                    all.push(if part.ty.is_ptr() {
                        return Err(Error::invalid("numbers in a constant of pointers"));
                    } else if part.ty.is_float() {
                        self.b.ins().fconst(part.ty, bits)
                    } else {
                        self.int(part.bits, bits as i64)
                    });
                }
                Ok(all)
            }
            ConstantKind::Cast { op, arg } => {
                let values = self.nested(arg, depth + 1)?;
                let from = self.value_type(arg)?;
                self.cast_values(op, values, from, ty, None)
            }
            ConstantKind::Gep { source, base, indices } => {
                let bases = self.nested(base, depth + 1)?;
                let mut all: Vec<(TypeId, Values)> = Vec::new();
                for index in indices {
                    let Some(of) = self.llvm_type(index) else {
                        return Err(Error::unsupported("an index that is a symbol"));
                    };
                    all.push((of, self.nested(index, depth + 1)?));
                }
                let Some(&base) = bases.first() else {
                    return Err(Error::unsupported("an address of nothing"));
                };
                let indices: SmallVec<[(TypeId, Value); 4]> =
                    all.iter().filter_map(|(ty, v)| Some((*ty, *v.first()?))).collect();
                Ok(Values::from_slice(&[self.address(source, base, &indices)?]))
            }
            ConstantKind::Binary { op, args } => {
                let [x, y] = [self.nested(args[0], depth + 1)?, self.nested(args[1], depth + 1)?];
                self.combine_values(op, 0, ty, &x, &y)
            }
            ConstantKind::Compare { predicate, args } => {
                let [x, y] = [self.nested(args[0], depth + 1)?, self.nested(args[1], depth + 1)?];
                let of = self.value_type(args[0])?;
                self.compare_values(predicate, of, &x, &y)
            }
            ConstantKind::Select([cond, x, y]) => {
                let conds = self.nested(cond, depth + 1)?;
                let (x, y) = (self.nested(x, depth + 1)?, self.nested(y, depth + 1)?);
                let step = x.len().checked_div(conds.len()).unwrap_or(1).max(1);
                let each = x.into_iter().zip(y).enumerate();
                Ok(each.filter_map(|(n, (x, y))| Some(self.choose(*conds.get(n / step)?, x, y))).collect())
            }
            ConstantKind::BlockAddress { block, .. } => {
                let number = self.limb(address_of_block(block));
                Ok(Values::from_slice(&[self.b.ins().inttoptr(Type::PTR, number)]))
            }
            ConstantKind::InlineAsm(_) => Err(Error::unsupported("inline assembly that is not called")),
            ConstantKind::Other(what) => Err(Error::unsupported(what)),
        }
    }

    /// A number, or the limb of one: zeros lie above its bits.
    fn limb_of(&mut self, part: &Part, value: i64) -> Value {
        let value =
            if part.bits < part.ty.bits() { value & super::integer::low_bits(part.bits) } else { value };
        self.b.ins().iconst(part.ty, value)
    }

    /// Zero.
    pub fn zero_of(&mut self, ty: Type) -> Value {
        if ty.is_ptr() {
            let zero = self.b.ins().iconst(Type::I64, 0);
            return self.b.ins().inttoptr(ty, zero);
        }
        if ty.is_float() { self.b.ins().fconst(ty, 0) } else { self.b.ins().iconst(ty, 0) }
    }

    /// The address of a symbol.
    fn symbol(&mut self, value: GlobalValue) -> Result<Value> {
        let site = super::symbols::Site { module: self.site.module, value };
        let site = self.importer.resolve(site)?;
        if self.importer.is_absent(site) {
            return Ok(self.zero_of(Type::PTR));
        }
        match site.value {
            GlobalValue::Function(_) if self.importer.is_kernel(site) => {
                Err(super::signature::address_of_kernel(self.importer.module(site).name_of(site.value)))
            }
            GlobalValue::Function(_) => {
                let id = self.function_at(site)?;
                Ok(self.b.ins().func_addr(id))
            }
            GlobalValue::Global(_) => {
                let id = self.global_at(site)?;
                Ok(self.b.global_addr(id))
            }
            GlobalValue::Alias(_) => Err(Error::unsupported("an alias of an alias")),
        }
    }
}
