//! Instructions whose operands are values.

use super::*;

impl Builder<'_, '_, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what cannot be written is refused by name")]
    pub(super) fn translate_plain(
        &mut self,
        t: &Translation<'_>,
        text: &str,
        mnemonic: ir::Mnemonic,
        operands: &[ptx::Operand],
    ) -> Result<()> {
        if !t.ordered && self.translate_access(t, &mnemonic, operands)? {
            return Ok(());
        }
        let writes = !ir::PtxData::new(mnemonic, Vec::new()).required_types().is_empty();
        let (destination, operands) = match operands.split_first() {
            Some((first, rest)) if writes => (Some(first), rest),
            _ => (None, operands),
        };
        let names: Vec<ptx::Operand> = match destination {
            None => Vec::new(),
            Some(ptx::Operand::Vector(list) | ptx::Operand::Pair(list)) => t.module[*list].to_vec(),
            Some(single) => vec![*single],
        };
        let mut variables = Vec::new();
        let mut args = Vec::new();
        for name in names {
            match name {
                // What is not wanted: the whole destination, or one of a pair or of a vector.
                ptx::Operand::Name(ptx::Symbol::SINK)
                    if matches!(destination, Some(ptx::Operand::Name(_))) =>
                {
                    args.push(PtxArg::sink());
                }
                ptx::Operand::Name(ptx::Symbol::SINK) => {
                    let ty = ir::PtxData::new(mnemonic, Vec::new()).required_types();
                    let ty = ty.get(variables.len()).copied().unwrap_or(Type::I1);
                    let unwanted = self.b.declare_var(ty);
                    let zero = self.zero_of(ty);
                    self.b.def_var(unwanted, zero);
                    variables.push(unwanted);
                }
                ptx::Operand::Name(symbol) => variables.push(self.register(t, symbol)?),
                _ => return Err(Error::unsupported(format!("the destination of `{text}`"))),
            }
        }
        let types: Vec<Type> = variables.iter().map(|variable| self.variable_type(*variable)).collect();
        if mnemonic.opcode() == warpsmith_isa::Opcode::Mov
            && let [source] = operands
        {
            return self.translate_move(t, *source, &variables, &types);
        }
        if let ([ptx::Operand::Name(source)], [result], [Type::I64]) = (operands, &variables[..], &types[..])
            && let Some((from, to)) = conversion(&mnemonic)
        {
            let name = &t.module[*source];
            let source = match t.registers.get(name) {
                Some(variable) => self.b.use_var(*variable),
                None => self.named_value(name)?,
            };
            let source = self.as_register(source, Type::I64);
            return self.translate_conversion(source, *result, from, to);
        }
        // An accumulator is read before it is written.
        let accumulates =
            warpsmith_isa::forms(&mnemonic).any(|form| ir::accumulators(&form.signature()).is_some());
        if accumulates && !variables.is_empty() {
            let before: Vec<Value> = variables.iter().map(|variable| self.b.use_var(*variable)).collect();
            args.push(ir::braces(before));
        }
        for operand in operands {
            args.push(self.asm_operand(t, *operand)?);
        }
        let results = self.b.ins().ptx_typed(mnemonic, args, &types);
        for (variable, value) in variables.into_iter().zip(results) {
            self.b.def_var(variable, value);
        }
        Ok(())
    }

    /// `cvta`: a conversion of the IR, which the optimiser knows the inverse of.
    pub(super) fn translate_conversion(
        &mut self,
        source: Value,
        result: Variable,
        from: Type,
        to: Type,
    ) -> Result<()> {
        let pointer = self.b.ins().inttoptr(from, source);
        let converted = self.b.ins().addrspacecast(to, pointer);
        let bits = self.b.ins().ptrtoint(converted);
        self.b.def_var(result, bits);
        Ok(())
    }

    /// `mov`: the bits of one or several registers in others, which needs no instruction.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not a vector is one source, or refused by name"
    )]
    pub(super) fn translate_move(
        &mut self,
        t: &Translation<'_>,
        source: ptx::Operand,
        variables: &[Variable],
        types: &[Type],
    ) -> Result<()> {
        let sources: Vec<ptx::Operand> = match source {
            ptx::Operand::Vector(list) => t.module[list].to_vec(),
            single => vec![single],
        };
        let total: u32 = types.iter().map(|ty| ty.bits()).sum();
        let mut values = Vec::new();
        for source in &sources {
            values.push(match *source {
                ptx::Operand::Name(symbol) => match t.registers.get(&t.module[symbol]) {
                    Some(variable) => self.b.use_var(*variable),
                    None => self.named_value(&t.module[symbol])?,
                },
                ptx::Operand::Offset { name, offset } if !t.registers.contains_key(&t.module[name]) => {
                    let address = self.named_value(&t.module[name])?;
                    self.b.ins().iadd_imm(address, offset)
                }
                ptx::Operand::Component { name, selector } => {
                    let name = format!("{}.{}", &t.module[name], &t.module[selector]);
                    self.named_register(&name)?
                }
                ptx::Operand::Const(ptx::Const::Int { bits, .. }) => self.int(total, bits as i64),
                ptx::Operand::Const(ptx::Const::F32(bits)) => self.int(total, i64::from(bits)),
                ptx::Operand::Const(ptx::Const::F64(bits)) => self.int(total, bits as i64),
                _ => return Err(Error::unsupported("such an operand of `mov`")),
            });
        }
        let from: Vec<Part> = values.iter().map(|value| whole(self.type_of(*value))).collect();
        let to: Vec<Part> = types.iter().map(|ty| whole(*ty)).collect();
        let moved = self.regroup(&values, &from, &to)?;
        for (variable, value) in variables.iter().zip(moved) {
            self.b.def_var(*variable, value);
        }
        Ok(())
    }
}
