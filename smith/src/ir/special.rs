//! What is not arithmetic of two operands: vectors, modes, operations with lists, and those of the tables.

use super::Generator;
use crate::BYTES_PER_THREAD;
use arbitrary::Result;
use std::sync::OnceLock;
use warpsmith_ir::{
    Attr, AttrKind, FastMath, FloatMode, FloatRounding, InstBuilder, MemFlags, Opcode, OperandRule, PtxData,
    PtxOperand, Shape, Type, Value,
};
use warpsmith_isa::Mnemonic;

impl Generator<'_, '_, '_> {
    pub(super) fn vector(&mut self) -> Result<()> {
        if self.u.ratio(1, 2)? {
            return self.listed();
        }
        let element = loop {
            let ty = self.memory_type()?;
            if Type::vector(ty.element(), 4).is_some() && !ty.is_vector() {
                break ty;
            }
            if self.u.is_empty() {
                return Ok(());
            }
        };
        let lanes = *self.u.choose(&[2u32, 3, 4, 7])?;
        let elements = (0..lanes).map(|_| self.value(element)).collect::<Result<Vec<_>>>()?;
        let elements: Vec<Value> = elements.into_iter().map(|value| self.settled(value)).collect();
        let mut vector = self.b.ins().vec(&elements);
        if self.u.ratio(1, 3)? {
            let value = self.value(element)?;
            let value = self.settled(value);
            let lane = self.u.int_in_range(0..=lanes as u8 - 1)?;
            vector = self.b.ins().insert(vector, value, lane);
        }
        if let (true, Some(pointers)) = (self.u.ratio(1, 3)?, self.pointers) {
            let ty = self.b.func().dfg.ty(vector);
            let size = ty.bytes().unwrap_or(1).next_power_of_two();
            let place = self.random_place(pointers.own, size, BYTES_PER_THREAD)?;
            self.b.ins().store(MemFlags::PLAIN, vector, place, 0);
            vector = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
        }
        let bits = lanes * element.bits();
        if let (true, Some(int)) = (self.u.ratio(1, 4)? && bits <= 64, Type::int(bits)) {
            let whole = self.b.ins().bitcast(int, vector);
            self.values.push(whole);
        }
        let lane = self.u.int_in_range(0..=lanes as u8 - 1)?;
        let value = self.b.ins().extract(vector, lane);
        self.values.push(value);
        Ok(())
    }

    /// An operation on floats with a mode, where there is such.
    pub(super) fn moded(&mut self, op: Opcode, t: Type, args: &[Value]) -> Result<()> {
        // Made of others before sm_75, which approximates in another way.
        if op == Opcode::Ftanh && self.b.module().target.is_some_and(|target| target.sm < 75) {
            return Ok(());
        }
        let info = op.info();
        let mut mode = FloatMode::default();
        if self.u.ratio(1, 2)? {
            mode.rounding = Some(*self.u.choose(&FloatRounding::ALL)?);
        }
        (mode.ftz, mode.sat) = (self.u.ratio(1, 3)?, self.u.ratio(1, 4)?);
        // To exact operations `nsz` would give leave to change the sign of a zero, which the digest shows.
        if op.is_approximate() {
            mode.fast = FastMath::AFN.union(FastMath::NSZ);
        } else if self.u.ratio(1, 4)? {
            mode.fast = FastMath::AFN;
        }
        let fits = |ty: &Type| info.result.allows(info.types, t, *ty);
        let convert = info.shape == Shape::Convert;
        let to = match convert {
            true => {
                let types: Vec<Type> = self.flavour.types.iter().copied().filter(fits).collect();
                if types.is_empty() {
                    return Ok(());
                }
                *self.u.choose(&types)?
            }
            false => t,
        };
        for simpler in [
            mode,
            FloatMode { rounding: None, ..mode },
            FloatMode { ftz: false, sat: false, rounding: None, ..mode },
        ] {
            if simpler.refusal(op, t, to).is_none() {
                let result = match convert {
                    true => self.b.ins().float_convert(op, simpler, to, args[0]),
                    false => self.b.ins().float(op, simpler, args),
                };
                self.values.push(result);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Operations of a list of operands, on scalars and vectors.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other operands have the type of the operation")]
    pub(super) fn listed(&mut self) -> Result<()> {
        let listed = |op: &Opcode| op.info().shape == Shape::List && op.traits().is_pure();
        static OPS: OnceLock<Vec<Opcode>> = OnceLock::new();
        let ops = OPS.get_or_init(|| Opcode::ALL.iter().copied().filter(listed).collect());
        let op = *self.u.choose(ops)?;
        let info = op.info();
        let types: Vec<Type> =
            self.flavour.types.iter().copied().filter(|ty| info.types.contains(*ty)).collect();
        if types.is_empty() {
            return Ok(());
        }
        let t = *self.u.choose(&types)?;
        let attr = match op.attr_kind() {
            AttrKind::With => {
                let fits = |op: &Opcode| op.info().types.contains(t.element_type());
                let all: Vec<Opcode> = Opcode::REDUCTIONS.into_iter().filter(fits).collect();
                Attr::With(*self.u.choose(&all)?)
            }
            AttrKind::Lanes => {
                let count = self.u.int_in_range(2..=4)?;
                let lanes = (0..count).map(|_| self.u.int_in_range(0..=2 * t.lanes() as u8 - 1));
                Attr::Lanes(lanes.collect::<Result<Vec<u8>>>()?.into())
            }
            AttrKind::None
            | AttrKind::Wide
            | AttrKind::Float
            | AttrKind::Memory
            | AttrKind::Shuffle
            | AttrKind::Vote
            | AttrKind::Text => Attr::None,
        };
        let mut args = Vec::new();
        for rule in info.operands {
            args.push(match rule {
                OperandRule::Element => self.value(t.element_type())?,
                OperandRule::I32 if self.u.ratio(3, 4)? => {
                    let lane = self.u.int_in_range(0..=4)?;
                    self.b.ins().iconst(Type::I32, lane)
                }
                OperandRule::Amount | OperandRule::I32 => self.value(Type::I32)?,
                _ => self.value(t)?,
            });
        }
        let results = self.b.ins().list(op, attr, &args);
        self.values.extend(results);
        Ok(())
    }

    /// Operations of the tables on floats that the core set has a name for, too.
    fn table_float(&mut self) -> Result<()> {
        let (ty, named) = *self.u.choose(&[
            (Type::F32, ["max.f32", "min.f32", "add.f32", "sub.rn.f32", "mul.f32"]),
            (Type::F64, ["max.f64", "min.f64", "add.f64", "sub.rn.f64", "mul.f64"]),
        ])?;
        let mnemonic = Mnemonic::parse(self.u.choose(&named)?).expect("in the tables");
        let args = [self.value(ty)?, self.value(ty)?].map(|value| self.settled(value));
        let list = vec![PtxOperand::Value; 2];
        let results = self.b.ins().ptx_data(PtxData::new(mnemonic, list), &args, &[ty]);
        self.values.extend(results);
        Ok(())
    }

    /// Pure operations that the core set has no name for.
    pub(super) fn table_derived(&mut self) -> Result<()> {
        if self.config.floats && self.u.ratio(1, 4)? {
            return self.table_float();
        }
        let int = |value| Some(PtxOperand::Int(value));
        // The mnemonic, the type of all operands but immediates, and the operands: `None` for a value.
        let (mnemonic, operands): (&str, &[Option<PtxOperand>]) = match self.u.int_in_range(0..=5)? {
            0 => ("mad.lo.s32", &[None, None, None]),
            1 => ("lop3.b32", &[None, None, None, int(0x96)]),
            2 => ("prmt.b32", &[None, None, int(0x6420)]),
            3 => ("bfe.u32", &[None, int(3), int(9)]),
            4 => ("sad.u32", &[None, None, None]),
            _ => ("shf.l.wrap.b32", &[None, None, int(7)]),
        };
        let mnemonic = Mnemonic::parse(mnemonic).expect("in the tables");
        let mut args = Vec::new();
        let mut list = Vec::new();
        for operand in operands {
            if operand.is_none() {
                args.push(self.value(Type::I32)?);
            }
            list.push(operand.unwrap_or(PtxOperand::Value));
        }
        let results = self.b.ins().ptx_data(PtxData::new(mnemonic, list), &args, &[Type::I32]);
        self.values.extend(results);
        Ok(())
    }
}
