//! What names and operands of assembly denote.

use super::*;

impl Builder<'_, '_, '_> {
    pub(super) fn variable_type(&mut self, variable: Variable) -> Type {
        let value = self.b.use_var(variable);
        self.type_of(value)
    }

    pub(super) fn register(&self, t: &Translation<'_>, symbol: ptx::Symbol) -> Result<Variable> {
        let name = &t.module[symbol];
        t.registers
            .get(name)
            .copied()
            .ok_or_else(|| Error::unsupported(format!("`{name}`, which is not a register of its")))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only registers are negated")]
    pub(super) fn asm_operand(&mut self, t: &Translation<'_>, operand: ptx::Operand) -> Result<PtxArg> {
        Ok(match operand {
            ptx::Operand::Name(ptx::Symbol::SINK) => PtxArg::sink(),
            ptx::Operand::Name(symbol) => {
                let name = &t.module[symbol];
                match t.registers.get(name) {
                    Some(variable) => self.b.use_var(*variable).into(),
                    None => self.named_operand(name)?,
                }
            }
            ptx::Operand::Component { name, selector } => {
                let (name, selector) = (&t.module[name], &t.module[selector]);
                match (t.registers.get(name), ir::Part::from_name(selector)) {
                    (Some(variable), Some(part)) => ir::part(self.b.use_var(*variable), part),
                    _ => self.named_operand(&format!("{name}.{selector}"))?,
                }
            }
            ptx::Operand::Const(ptx::Const::Int { bits, .. }) => (bits as i64).into(),
            ptx::Operand::Const(ptx::Const::F32(bits)) => f32::from_bits(bits).into(),
            ptx::Operand::Const(ptx::Const::F64(bits)) => f64::from_bits(bits).into(),
            ptx::Operand::AddressName(symbol) => ir::at(self.asm_base(t, symbol)?),
            ptx::Operand::Address { name, offset } => ir::at_offset(self.asm_base(t, name)?, offset),
            ptx::Operand::AddressConst(bits) => {
                let address = self.limb(bits as i64);
                ir::at(address)
            }
            ptx::Operand::Vector(list) => {
                let mut parts = Vec::new();
                for part in &t.module[list] {
                    parts.push(self.asm_operand(t, *part)?);
                }
                ir::braces(parts)
            }
            ptx::Operand::Not(inner) => match t.module[inner] {
                ptx::Operand::Name(symbol) => ir::not(self.b_use(t, symbol)?),
                _ => return Err(Error::unsupported("a negated operand")),
            },
            ptx::Operand::Neg(inner) => match t.module[inner] {
                ptx::Operand::Name(symbol) => ir::negative(self.b_use(t, symbol)?),
                _ => return Err(Error::unsupported("a negated operand")),
            },
            ptx::Operand::Bracket(list) => {
                let mut parts = Vec::new();
                for part in &t.module[list] {
                    parts.push(self.asm_operand(t, *part)?);
                }
                ir::bracket(parts)
            }
            ptx::Operand::Offset { name, offset } => {
                let base = self.asm_base(t, name)?;
                let base = self.integer_of(base);
                self.b.ins().iadd_imm(base, offset).into()
            }
            ptx::Operand::Index(_)
            | ptx::Operand::Group(_)
            | ptx::Operand::Pair(_)
            | ptx::Operand::Unified(_) => return Err(Error::unsupported("such an operand")),
        })
    }

    pub(super) fn b_use(&mut self, t: &Translation<'_>, symbol: ptx::Symbol) -> Result<Value> {
        let variable = self.register(t, symbol)?;
        Ok(self.b.use_var(variable))
    }

    /// What an address starts from: a register or a variable of the program.
    pub(super) fn asm_base(&mut self, t: &Translation<'_>, symbol: ptx::Symbol) -> Result<Value> {
        let name = &t.module[symbol];
        match t.registers.get(name) {
            Some(variable) => Ok(self.b.use_var(*variable)),
            None => self.named_address(name),
        }
    }

    /// The address of a function or variable that the text names as PTX does.
    pub(super) fn named_address(&mut self, name: &str) -> Result<Value> {
        if let Some(id) = self.importer.assembled.get(name).copied() {
            return Ok(self.b.global_addr(id));
        }
        let site = self.importer.symbols.named(&self.importer.modules, self.site.module, name);
        let site = site.ok_or_else(|| {
            Error::unsupported(format!("`{name}`, which is neither a register of its nor a symbol"))
        })?;
        match site.value {
            GlobalValue::Function(_) => {
                let id = self.function_at(site)?;
                Ok(self.b.ins().func_addr(id))
            }
            GlobalValue::Global(_) | GlobalValue::Alias(_) => {
                let id = self.global_at(site)?;
                Ok(self.b.global_addr(id))
            }
        }
    }

    /// A special register, or the address of a symbol in its own space.
    pub(super) fn named_value(&mut self, name: &str) -> Result<Value> {
        if name.starts_with('%') || name == "WARP_SZ" {
            return self.named_register(name);
        }
        let address = self.named_address(name)?;
        Ok(self.b.ins().ptrtoint(address))
    }

    /// A special register.
    pub(super) fn named_register(&mut self, name: &str) -> Result<Value> {
        if name == "WARP_SZ" {
            return Ok(self.b.ins().iconst(Type::I32, 32));
        }
        let reg = name.strip_prefix('%').ok_or_else(|| Error::unsupported(format!("`{name}`")))?;
        self.special_register(reg)
    }

    pub(super) fn named_operand(&mut self, name: &str) -> Result<PtxArg> {
        Ok(self.named_value(name)?.into())
    }
}
