//! What each value denotes, and the registers that it is in.

use super::Selector;
use crate::abi::{self, Repr};
use crate::mach::{Operand, RegClass, VReg};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::ops::Range;
use warpsmith_ir::{self as ir, Block, InstData, Opcode as IrOp, Type, Value};

/// Registers that follow each other.
#[derive(Clone, Copy, Default)]
pub(super) struct Regs {
    pub(super) first: PackedOption<VReg>,
    pub(super) count: u32,
}

impl<'a> Selector<'a> {
    /// In reverse post-order a value's definition comes before all its uses, so that one look finds what a value denotes.
    pub(super) fn find_aliases_and_uses(&mut self) {
        let func = self.func;
        for block in self.cfg.reverse_postorder().to_vec() {
            if let Some(args) = self.single_way_in(block) {
                for (&param, &arg) in func.dfg.block_params(block).iter().zip(args) {
                    self.alias[param] = self.resolve(arg).into();
                }
            }
            for inst in func.layout.insts(block) {
                if let (Some(source), Some(result)) = (self.unchanged(inst), func.dfg.first_result(inst)) {
                    self.alias[result] = self.resolve(source).into();
                    continue;
                }
                let (alias, uses) = (&self.alias, &mut self.uses);
                func.dfg.for_each_use(inst, |value| uses[denoted(alias, value)] += 1);
                self.share_registers(inst);
            }
        }
    }

    /// A part of what a call returned is in registers of that, and so is an element of a vector that has registers of its own.
    pub(super) fn share_registers(&mut self, inst: ir::Inst) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        if let &InstData::Extract { lane, arg } = &self.func.dfg[inst]
            && has_own_registers(self.ty(arg))
        {
            let count = usize::from(Repr::of(self.ty(result)).count);
            let first = self.regs_of(arg).nth(usize::from(lane) * count);
            self.regs[result] = Regs { first: first.into(), count: count as u32 };
            return;
        }
        let InstData::ExtractValue { path, arg } = &self.func.dfg[inst] else { return };
        let types = &self.module.types;
        let whole = self.ty(*arg);
        let Ok(place) = types.at_path(whole, &self.func.dfg.paths[*path]) else { return };
        let before = types.parts_of(whole).into_iter().take(place.part as usize);
        let before: usize = before.map(|(part, _)| usize::from(Repr::of(part).count)).sum();
        let count = abi::classes(types, place.ty).len() as u32;
        let first = self.regs_of(*arg).nth(before);
        self.regs[result] = Regs { first: first.into(), count };
    }

    /// The arguments of the only edge into a block.
    pub(super) fn single_way_in(&self, block: Block) -> Option<&'a [Value]> {
        let mut edges = self.cfg.edges(block);
        let (Some((pred, side)), None) = (edges.next(), edges.next()) else { return None };
        let func = self.func;
        if func.layout.entry() == Some(block) {
            return None;
        }
        func.dfg.target(func.terminator(pred)?, side).map(|call| call.args(&func.dfg.pool))
    }

    /// The operand that an instruction passes through unchanged.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not known to be a copy is computed")]
    pub(super) fn unchanged(&self, inst: ir::Inst) -> Option<Value> {
        let dfg = &self.func.dfg;
        match dfg[inst] {
            InstData::Unary { op: IrOp::Ptrtoint | IrOp::Inttoptr, arg } => Some(arg),
            InstData::Unary { op: IrOp::Bitcast, arg } => {
                let to = dfg.ty(dfg.first_result(inst)?);
                (Repr::of(dfg.ty(arg)) == Repr::of(to)).then_some(arg)
            }
            InstData::Unary { op: IrOp::Addrspacecast, arg } => {
                (dfg.ty(arg) == dfg.ty(dfg.first_result(inst)?)).then_some(arg)
            }
            InstData::Binary { op: IrOp::Ptradd, args: [ptr, offset] } => {
                (dfg.int_const(offset) == Some(0)).then_some(ptr)
            }
            _ => None,
        }
    }

    /// What a value denotes.
    pub(super) fn resolve(&self, value: Value) -> Value {
        denoted(&self.alias, value)
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.func.dfg.ty(value)
    }

    /// The instruction that a value comes from and its data, seen through casts.
    pub(super) fn def(&self, value: Value) -> Option<&'a InstData> {
        self.func.dfg.def_data(self.resolve(value))
    }

    /// So many steps lead from a value to what it is computed from, and on: more, and a pass has left one that is computed from itself.
    pub(super) fn definitions(&self) -> Range<usize> {
        0..self.func.dfg.num_insts()
    }

    /// The constant that a value is, of any type of up to 64 bits.
    pub(super) fn int_const(&self, value: Value) -> Option<i64> {
        match self.def(value) {
            Some(&InstData::IntConst { value: constant }) if self.ty(value).bits() <= 64 => Some(constant),
            _ => None,
        }
    }

    /// An instruction whose only user may absorb it: defined in the current block and used once.
    pub(super) fn absorbable(&self, value: Value) -> Option<&'a InstData> {
        let value = self.resolve(value);
        let inst = self.func.dfg.def_inst(value)?;
        let here = self.uses[value] == 1 && self.func.layout.block_of(inst) == Some(self.block);
        here.then(|| &self.func.dfg[inst])
    }

    pub(super) fn temp(&mut self, class: RegClass) -> VReg {
        self.out.vregs.push(class)
    }

    /// The registers of a value, which is thereby asked for.
    pub(super) fn regs_of(&mut self, value: Value) -> impl ExactSizeIterator<Item = VReg> + Clone + use<> {
        let value = self.resolve(value);
        if self.regs[value].count == 0 {
            let ty = self.func.dfg.ty(value);
            let first = VReg::new(self.out.vregs.len());
            let count = if ty.is_aggregate() {
                let classes = abi::classes(&self.module.types, ty);
                classes.iter().for_each(|&class| _ = self.out.vregs.push(class));
                classes.len() as u32
            } else {
                let Repr { class, count } = Repr::of(ty);
                let class = if self.narrow[value] { RegClass::B32 } else { class };
                (0..count).for_each(|_| _ = self.out.vregs.push(class));
                count.into()
            };
            self.regs[value] = Regs { first: first.into(), count };
        }
        let Regs { first, count } = self.regs[value];
        let first = first.expand().map_or(0, |v| v.index());
        (first..first + count as usize).map(VReg::new)
    }

    /// The register of a value that has one, whether used or defined.
    pub(super) fn reg(&mut self, value: Value) -> VReg {
        self.regs_of(value).next().unwrap_or_else(|| VReg::new(0))
    }

    /// The result of an instruction as the destination of the last instruction of its group.
    pub(super) fn result(&mut self, inst: ir::Inst) -> Operand {
        match self.func.dfg.first_result(inst) {
            Some(value) => Operand::Def(self.reg(value)),
            None => Operand::Sink,
        }
    }

    /// A value to be read: a literal where the type has literals, else its register. PTX has none for 16-bit floats.
    pub(super) fn operand(&mut self, value: Value) -> Operand {
        let ty = self.ty(value);
        match self.def(value) {
            // A bitcast may have made a float of it, which takes no integer literal.
            Some(&InstData::IntConst { value: constant })
                if (8..=64).contains(&ty.bits()) && !ty.is_float() =>
            {
                Operand::Int(constant)
            }
            Some(&InstData::FloatConst { bits }) if ty == Type::F32 => Operand::F32(bits as u32),
            Some(&InstData::FloatConst { bits }) if ty == Type::F64 => Operand::F64(bits),
            _ => Operand::Use(self.reg(value)),
        }
    }

    /// A value to be read as bits: every constant is an integer literal.
    pub(super) fn bits_operand(&mut self, value: Value) -> Operand {
        match self.def(value) {
            Some(&InstData::FloatConst { bits }) => Operand::Int(bits as i64),
            _ => self.operand(value),
        }
    }
}

/// What a value denotes.
fn denoted(alias: &SecondaryMap<Value, PackedOption<Value>>, value: Value) -> Value {
    alias[value].expand().unwrap_or(value)
}

/// Whether each element of a vector has registers of its own.
pub(super) fn has_own_registers(ty: Type) -> bool {
    ty.element_type().bits() >= 32
}
