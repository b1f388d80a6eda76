//! Where operands come from: values that are there, conversions of them, constants.

use super::menu::Menus;
use super::{Config, Generator};
use arbitrary::{Result, Unstructured};
use warpsmith_ir::aggregate::Shape;
use warpsmith_ir::{FloatCC, InstBuilder, InstData, MemFlags, Opcode, Type, TypeTable, Value};

use crate::INPUT_BYTES;

/// What one module is made of, drawn once: a few types, so that values meet, and how often an operand is a constant. With all types at once most
/// operands would be constants, and what is left of the program after folding them very little.
#[derive(Clone)]
pub(super) struct Flavour {
    pub(super) types: Vec<Type>,
    /// A few operations, so that what rules match comes together; none denotes all.
    pub(super) ops: Vec<Opcode>,
    /// Of sixteen operands so many are constants.
    constants: u8,
    /// How often it has what.
    pub(super) menus: Menus,
    /// Of sixteen values so many go into the digest that a thread writes at its end.
    pub(super) shown: u8,
}

impl Flavour {
    pub(super) fn new(u: &mut Unstructured, config: &Config, table: &mut TypeTable) -> Result<Flavour> {
        let all = config.types();
        let mut types = all.clone();
        if u.ratio(7, 8)? {
            types = vec![Type::I1, Type::I32];
            for _ in 0..u.int_in_range(1..=4)? {
                let ty = *u.choose(&all)?;
                if !types.contains(&ty) {
                    types.push(ty);
                }
            }
        }
        for ty in config.vector_types() {
            if types.contains(&ty.element_type()) && u.ratio(1, 2)? {
                types.push(ty);
            }
        }
        if config.aggregates {
            for _ in 0..u.int_in_range(0..=2)? {
                let held: Vec<Type> =
                    types.iter().copied().filter(|ty| ty.is_aggregate() || ty.bytes().is_some()).collect();
                let ty = match u.ratio(1, 3)? {
                    true => table.array(*u.choose(&held)?, u.int_in_range(1..=3)?),
                    false => {
                        let fields = (0..u.int_in_range(1..=4)?).map(|_| u.choose(&held).copied());
                        let mut fields = fields.collect::<Result<Vec<_>>>()?;
                        match u.ratio(1, 3)? {
                            // Its parts lie off their alignment, behind a byte mostly, and are passed in pieces.
                            true => {
                                if u.ratio(2, 3)? {
                                    fields.insert(0, Type::I8);
                                }
                                table.intern(Shape::Struct {
                                    fields: fields.into(),
                                    packed: true,
                                    align: None,
                                })
                            }
                            false => table.structure(&fields),
                        }
                    }
                };
                if !types.contains(&ty) && table.parts(ty) <= 12 {
                    types.push(ty);
                }
            }
        }
        let mut ops = Vec::new();
        if u.ratio(1, 2)? {
            let all = super::regular_ops(config.special);
            let fits = |op: &Opcode| types.iter().any(|ty| op.info().types.contains(*ty));
            for _ in 0..u.int_in_range(4..=24)? {
                ops.extend(Some(*u.choose(all)?).filter(fits));
            }
        }
        let (menus, constants) = (Menus::new(u)?, u.int_in_range(1..=6)?);
        Ok(Flavour { types, ops, menus, constants, shown: *u.choose(&[0, 2, 6, 16])? })
    }
}

impl Generator<'_, '_, '_> {
    /// A value of a type: one that the block can use, one made of another, or a constant.
    pub(super) fn value(&mut self, ty: Type) -> Result<Value> {
        let fitting: Vec<Value> =
            self.values.iter().copied().filter(|v| self.b.func().dfg.ty(*v) == ty).collect();
        if self.u.ratio(self.flavour.constants, 16)? {
            return self.constant(ty);
        }
        // An extension or a cut right in front of its use is what wide products, addresses and comparisons look for.
        if fitting.is_empty() || self.u.ratio(1, 8)? {
            return match self.converted(ty)? {
                Some(value) => Ok(value),
                None => self.constant(ty),
            };
        }
        // The last ones are the deepest.
        if fitting.len() > 4 && self.u.ratio(1, 2)? {
            return Ok(*self.u.choose(&fitting[fitting.len() - 4..])?);
        }
        Ok(*self.u.choose(&fitting)?)
    }

    /// A value of a scalar type made of an integer that is there. `None` if there is none, or no way.
    fn converted(&mut self, ty: Type) -> Result<Option<Value>> {
        let int = if ty.is_float() { Type::int(ty.bits()) } else { Some(ty).filter(|ty| ty.is_int()) };
        let dfg = &self.b.func().dfg;
        let integers: Vec<Value> = self.values.iter().copied().filter(|v| dfg.ty(*v).is_int()).collect();
        let (Some(int), false) = (int, integers.is_empty()) else { return Ok(None) };
        let arg = *self.u.choose(&integers)?;
        let from = self.b.func().dfg.ty(arg);
        let extend = if self.u.ratio(1, 2)? { Opcode::Zext } else { Opcode::Sext };
        let op = match from.bits().cmp(&int.bits()) {
            std::cmp::Ordering::Less => Some(extend),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater if int == Type::I1 => {
                let zero = self.b.ins().iconst(from, 0);
                return Ok(Some(self.b.ins().icmp(warpsmith_ir::IntCC::Slt, arg, zero)));
            }
            std::cmp::Ordering::Greater => Some(Opcode::Trunc),
        };
        let value = match op {
            Some(op) => self.b.ins().regular(InstData::Unary { op, arg }, Some(int)),
            None => arg,
        };
        Ok(Some(if ty.is_float() { self.b.ins().bitcast(ty, value) } else { value }))
    }

    pub(super) fn constant(&mut self, ty: Type) -> Result<Value> {
        if ty.is_aggregate() {
            return self.built(ty);
        }
        if ty.is_vector() {
            if self.u.ratio(1, 2)? {
                let element = self.value(ty.element_type())?;
                return Ok(self.b.ins().splat(ty, element));
            }
            let elements =
                (0..ty.lanes()).map(|_| self.value(ty.element_type())).collect::<Result<Vec<_>>>()?;
            return Ok(self.b.ins().vec(&elements));
        }
        if ty.is_float() {
            let bits = ty.bits();
            let special = [0, 1, 1 << (bits - 1), (1 << (bits - 2)) - 1, 1 << (bits - 2)];
            let bits = match self.u.ratio(1, 2)? {
                true => *self.u.choose(&special)?,
                false => self.u.arbitrary::<u64>()? & (u64::MAX >> (64 - bits)),
            };
            return Ok(self.b.ins().fconst(ty, bits));
        }
        if ty.bits() > 64 && self.u.ratio(1, 4)? {
            let bits = self.u.arbitrary()?;
            return Ok(self.b.ins().iconst_bits(ty, bits));
        }
        let special = [0, 1, -1, 2, i64::MAX, i64::MIN, i32::MIN as i64, 0x80];
        let value = match self.u.int_in_range(0..=3)? {
            0 => *self.u.choose(&special)?,
            // Powers of two, and what is next to them: what rules for shifts, masks and bit fields look for.
            1 => (1i64 << self.u.int_in_range(0..=63)?).wrapping_add(self.u.int_in_range(-1..=1)?),
            2 => self.u.int_in_range(-16..=64)?,
            _ => self.u.arbitrary()?,
        };
        Ok(self.b.ins().iconst(ty, value))
    }

    /// A number as a value of an integer type, or of each element.
    pub(super) fn number(&mut self, ty: Type, value: i64) -> Value {
        let number = self.b.ins().iconst(ty.element_type(), value);
        if ty.is_vector() { self.b.ins().splat(ty, number) } else { number }
    }

    /// The value, with two for NaN: the bits of a NaN are nobody's promise, and zero is what much is wrongly folded to.
    pub(super) fn settled(&mut self, value: Value) -> Value {
        let ty = self.b.func().dfg.ty(value);
        if ty.is_aggregate() || !ty.element_type().is_float() {
            return value;
        }
        // The least exponent of at least one: two, in every format.
        let two = self.b.ins().fconst(ty.element_type(), 1 << (ty.element_type().bits() - 2));
        let two = if ty.is_vector() { self.b.ins().splat(ty, two) } else { two };
        let is_number = self.b.ins().fcmp(FloatCC::Num, value, value);
        self.b.ins().select(is_number, value, two)
    }

    /// A small positive number from any number: no division by zero, and none that overflows.
    pub(super) fn divisor(&mut self, value: Value, ty: Type) -> Value {
        let (mask, one) = (self.number(ty, 0x3f), self.number(ty, 1));
        let low = self.b.ins().band(value, mask);
        self.b.ins().bor(low, one)
    }

    /// A value of each type that memory holds, read from the input: what no compiler knows.
    pub(super) fn read_input(&mut self, input: Value) -> Result<()> {
        for ty in self.flavour.types.clone() {
            let Some(size) =
                ty.bytes().map(u32::next_power_of_two).filter(|_| self.u.ratio(3, 4) == Ok(true))
            else {
                continue;
            };
            let place = self.random_place(input, size, INPUT_BYTES)?;
            let value = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
            self.values.push(value);
        }
        Ok(())
    }
}
