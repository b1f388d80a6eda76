//! NVIDIA's intrinsics, `llvm.nvvm.*`: instructions of PTX under other names.
//!
//! [`rules`] says which instruction a name is, and the instruction tables what its operands are ([`operands`]). Textures and bulk copies have their
//! operands in ways of their own; [`special`] has those that are not instructions.

mod operands;
mod rules;
mod special;
mod tensor;
mod texture;

use super::function::Builder;
use crate::error::{Error, Result};
use crate::module::body::{Call, Inst};
use operands::Register;
pub(super) use rules::{fill, matches};
use texture::Group;
use warpsmith_ir::{self as ir, InstBuilder, PtxArg, PtxData, Type, Value};

impl Builder<'_, '_, '_> {
    /// A call of `llvm.nvvm.*`.
    pub fn nvvm(&mut self, inst: &Inst, call: &Call, name: &str) -> Result<()> {
        // Some are overloaded for types, which stand behind the name: as written, and without them.
        let mut short = name;
        loop {
            if self.known_nvvm(inst, call, short)? {
                return Ok(());
            }
            match super::intrinsic::without_type(short) {
                Some(shorter) => short = shorter,
                None => return Err(Error::unsupported(format!("`llvm.nvvm.{name}`"))),
            }
        }
    }

    fn known_nvvm(&mut self, inst: &Inst, call: &Call, name: &str) -> Result<bool> {
        if let Some(register) = name.strip_prefix("read.ptx.sreg.") {
            self.read_register(inst, register)?;
            return Ok(true);
        }
        if let Some(found) = rules::find(name) {
            self.instruction(inst, call, &found)?;
            return Ok(true);
        }
        let flag = |n: usize| {
            let arg = self.body.args(call).len().checked_sub(n + 1).and_then(|n| self.body.args(call).get(n));
            arg.and_then(|arg| self.constant_integer(*arg)).unwrap_or(0)
        };
        if let Some(found) = tensor::find(name, self.body.args(call).len(), &flag) {
            self.instruction(inst, call, &found)?;
            return Ok(true);
        }
        if let Some(access) = texture::find(name) {
            self.texture(inst, call, &access)?;
            return Ok(true);
        }
        self.special(inst, call, name)
    }

    /// The value of a special register.
    pub fn special_register(&mut self, name: &str) -> Result<Value> {
        let reg = special::register(name)
            .ok_or_else(|| Error::unsupported(format!("the special register `%{name}`")))?;
        Ok(self.b.ins().sreg(reg))
    }

    /// The call as an instruction, its arguments being the operands.
    pub fn instruction_of(&mut self, inst: &Inst, call: &Call, mnemonic: &ir::Mnemonic) -> Result<()> {
        self.instruction(inst, call, &rules::Found { mnemonic: *mnemonic, order: None })
    }

    fn read_register(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let value = match name {
            "warpsize" => self.b.ins().iconst(Type::I32, 32),
            // The fourth of a vector is always 0 (PTX ISA 9.0, 10.1 and following).
            _ if name.ends_with(".w") => self.b.ins().iconst(Type::I32, 0),
            _ => self.special_register(name)?,
        };
        let parts = self.parts(inst.ty)?;
        let value = match parts.first() {
            Some(part) => self.resize(value, part.ty),
            None => value,
        };
        self.result(inst, &[value])
    }

    fn texture(&mut self, inst: &Inst, call: &Call, access: &texture::Access) -> Result<()> {
        let mut registers = Vec::new();
        for arg in self.body.args(call) {
            registers.extend(self.value(*arg)?.into_iter().map(Register::Value));
        }
        let Some((bracket, behind)) = access.groups(&registers) else {
            return Err(Error::unsupported(format!(
                "`{}` with {} operands",
                access.mnemonic,
                registers.len()
            )));
        };
        let plain = |register: &Register| -> PtxArg {
            match register {
                Register::Value(value) => (*value).into(),
                Register::Number(number) => (*number).into(),
            }
        };
        let group = |group: &Group| match group {
            Group::One(register) => plain(register),
            Group::Braces(list) => ir::braces(list.iter().map(plain)),
        };
        let mut operands = vec![ir::bracket(bracket.iter().map(group))];
        operands.extend(behind.iter().map(group));
        let results = self.result_registers(inst.ty)?;
        let types = PtxData::new(access.mnemonic, Vec::new()).usual_types(results);
        let results: Vec<Value> =
            self.b.ins().ptx_typed(access.mnemonic, operands, &types).into_iter().collect();
        let values = self.results_as(inst.ty, &results)?;
        self.result(inst, &values)
    }
}

#[cfg(test)]
mod tests;
