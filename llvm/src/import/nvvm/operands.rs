//! The arguments of a call as the operands of an instruction: the form says which are addresses, which are in braces and which registers hold them.

use super::rules::{Found, Source};
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::import::shape::container;
use crate::module::body::{Call, Inst};
use crate::module::types::{Type as Llvm, TypeId};
use warpsmith_ir::{self as ir, InstBuilder, IntCC, PtxArg, PtxData, Type, Value};
use warpsmith_isa::{
    Accepts, Instruction, Mnemonic, ScalarType, SigKind, SigOperand, SigPresence, SigSpace, SigValue,
    Signature, StateSpace, TypeClass, TypeSet, forms,
};

/// What denotes one register: a value, or a number that has been given as such.
#[derive(Clone, Copy, Debug)]
pub(super) enum Register {
    Value(Value),
    Number(i64),
}

impl Builder<'_, '_, '_> {
    /// The registers of an argument: elements of fewer bits than a register has share one.
    fn registers(&mut self, ty: TypeId, values: &[Value]) -> Vec<Register> {
        let (_, lanes) = self.lanes(ty);
        let narrow = values.first().is_some_and(|value| {
            let ty = self.type_of(*value);
            !ty.is_ptr() && (8..=16).contains(&ty.bits())
        });
        if narrow && lanes > 1 && values.len() == lanes {
            let bits = self.type_of(values[0]).bits() as usize;
            return values
                .chunks((32 / bits).min(lanes))
                .map(|chunk| Register::Value(self.pack_elements(chunk)))
                .collect();
        }
        values.iter().map(|value| Register::Value(*value)).collect()
    }

    /// Elements of a vector in one register.
    fn pack_elements(&mut self, elements: &[Value]) -> Value {
        match elements {
            [one] => *one,
            many => self.b.ins().vec(many),
        }
    }

    /// The call as the instruction that its name denotes.
    pub(super) fn instruction(&mut self, inst: &Inst, call: &Call, found: &Found) -> Result<()> {
        let mut args = Vec::new();
        for (arg, ty) in self.body.args(call).iter().zip(self.body.arg_types(call)) {
            let (values, parts) = (self.value(*arg)?, self.parts(*ty)?);
            // An address in a register is of the space that LLVM's type says, whatever is known of it.
            let values = self.as_parts(values, &parts);
            args.push(self.registers(*ty, &values));
        }
        let registers: Vec<Register> = match &found.order {
            None => args.concat(),
            Some(order) => {
                let mut all = Vec::new();
                for source in order {
                    match source {
                        Source::Number(number) => all.push(Register::Number(*number)),
                        Source::Argument(n) => all.extend(args.get(*n).cloned().ok_or_else(|| {
                            Error::unsupported(format!(
                                "`{}` of a call with {} arguments",
                                found.mnemonic,
                                args.len()
                            ))
                        })?),
                    }
                }
                all
            }
        };
        let results = self.issue(&found.mnemonic, &registers, self.result_registers(inst.ty)?)?;
        let values = self.results_as(inst.ty, &results)?;
        self.result(inst, &values)
    }

    /// How many registers the results of a type are.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a struct is one result")]
    pub(super) fn result_registers(&self, ty: TypeId) -> Result<usize> {
        let fields = match self.ty(ty) {
            Llvm::Struct { fields, .. } => fields.clone(),
            Llvm::Void => Vec::new(),
            _ => vec![ty],
        };
        fields.iter().map(|field| Ok(self.packing(*field)?.len())).sum()
    }

    /// How many elements each register of a value holds.
    fn packing(&self, ty: TypeId) -> Result<Vec<usize>> {
        let parts = self.parts(ty)?;
        let narrow = parts.first().is_some_and(|part| !part.ty.is_ptr() && (8..=16).contains(&part.bits));
        let lanes = self.lanes(ty).1;
        if !narrow || lanes < 2 {
            return Ok(vec![1; parts.len()]);
        }
        let each = (32 / parts[0].bits as usize).min(lanes);
        Ok((0..lanes.div_ceil(each)).map(|n| each.min(lanes - n * each)).collect())
    }

    /// Registers as the scalars of a result.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a struct is one result")]
    pub(super) fn results_as(&mut self, ty: TypeId, registers: &[Value]) -> Result<Values> {
        let fields = match self.ty(ty) {
            Llvm::Struct { fields, .. } => fields.clone(),
            Llvm::Void => Vec::new(),
            _ => vec![ty],
        };
        let mut out = Values::new();
        let mut registers = registers.iter().copied();
        for field in fields {
            let parts = self.parts(field)?;
            let mut parts = parts.iter();
            for elements in self.packing(field)? {
                let (Some(register), Some(part)) = (registers.next(), parts.next()) else { break };
                if elements == 1 {
                    out.push(self.register_as(register, part.ty));
                    continue;
                }
                parts.by_ref().take(elements - 1).for_each(drop);
                let vector = Type::vector(part.ty.element(), elements as u32)
                    .ok_or_else(|| Error::unsupported(format!("a register of {elements} elements")))?;
                let register = self.register_as(register, vector);
                out.extend((0..elements).map(|lane| self.b.ins().extract(register, lane as u8)));
            }
        }
        Ok(out)
    }

    /// The bits of a register as a value of a type.
    fn register_as(&mut self, register: Value, ty: Type) -> Value {
        let of = self.type_of(register);
        if of == ty {
            return register;
        }
        if of.is_ptr() && ty.is_ptr() {
            return self.pointer_as(register, ty);
        }
        let bits = self.integer_of(register);
        let bits = self.resize(bits, container(ty.bits()));
        self.scalar_of(bits, ty)
    }

    /// An instruction with its operands one register after the other, and its results.
    pub(super) fn issue(
        &mut self,
        mnemonic: &Mnemonic,
        registers: &[Register],
        results: usize,
    ) -> Result<Vec<Value>> {
        let fits = |form: Instruction| {
            let signature = form.signature();
            let written = written(&signature, results)?;
            let groups = groups(&signature, written, registers.len())?;
            Some((signature, groups))
        };
        // Of the forms with so many operands, one that takes the registers as they are.
        let held =
            |(signature, groups): &(Signature, Vec<usize>)| self.are_held(signature, groups, registers);
        let mut all = forms(mnemonic).filter_map(fits);
        let first = all.next();
        let fitting = match first {
            Some(first) if !held(&first) => all.find(held).or(Some(first)),
            first => first,
        };
        let Some((signature, groups)) = fitting else {
            return Err(Error::unsupported(if forms(mnemonic).next().is_none() {
                format!("`{mnemonic}`, which PTX does not have")
            } else {
                format!("`{mnemonic}` with {} operands and {results} results", registers.len())
            }));
        };
        let mut rest = registers;
        let mut operands: Vec<PtxArg> = Vec::new();
        for index in groups {
            let operand = self.operand(&signature.operands[index], &mut rest, mnemonic)?;
            operands.push(operand);
        }
        let types = PtxData::new(*mnemonic, Vec::new()).usual_types(results);
        // `mbarrier.arrive` in another block's memory has no state to give.
        if results == 0 && needs_sink(&signature) {
            operands.insert(0, PtxArg::sink());
        }
        Ok(self.b.ins().ptx_typed(*mnemonic, operands, &types).into_iter().collect())
    }

    /// Whether the operands that are one register each take those that are given.
    fn are_held(&self, signature: &Signature, groups: &[usize], registers: &[Register]) -> bool {
        let mut rest = registers;
        groups.iter().all(|index| {
            let operand = &signature.operands[*index];
            let (of_operand, others) = rest.split_at(size(operand).min(rest.len()));
            rest = others;
            match (&operand.kind, of_operand) {
                (SigKind::Value(wanted), [Register::Value(value)]) => {
                    let is_constant = self.b.func().dfg.int_const(*value).is_some();
                    is_constant || wanted.registers.contains(register_of(self.type_of(*value)))
                }
                _ => true,
            }
        })
    }

    fn operand(
        &mut self,
        operand: &SigOperand,
        rest: &mut &[Register],
        mnemonic: &Mnemonic,
    ) -> Result<PtxArg> {
        let missing = || Error::unsupported(format!("`{mnemonic}` with too few operands"));
        let mut next = || {
            let (first, others) = rest.split_first().ok_or_else(missing)?;
            *rest = others;
            Ok(*first)
        };
        match &operand.kind {
            SigKind::Value(value) | SigKind::Pair { first: value, .. } => match value.count {
                None => {
                    let register = next()?;
                    self.fit(register, value, mnemonic)
                }
                Some(count) => {
                    let all = (0..count).map(|_| next()).collect::<Result<Vec<_>>>()?;
                    let all = all
                        .into_iter()
                        .map(|register| self.fit(register, value, mnemonic))
                        .collect::<Result<Vec<_>>>()?;
                    Ok(ir::braces(all))
                }
            },
            SigKind::Address(space) => {
                let register = next()?;
                self.address_operand(register, space, mnemonic)
            }
            SigKind::Bracket(inner) | SigKind::Tuple(inner) => {
                let is_bracket = matches!(operand.kind, SigKind::Bracket(_));
                let mut parts = Vec::new();
                for part in inner.iter().filter(|part| is_there(part)) {
                    let value = match &part.kind {
                        // The object that the bracket begins with is a register, not memory.
                        SigKind::Address(_) => {
                            let (first, others) = rest.split_first().ok_or_else(missing)?;
                            *rest = others;
                            self.handle(*first)
                        }
                        SigKind::Value(_)
                        | SigKind::Pair { .. }
                        | SigKind::Bracket(_)
                        | SigKind::Tuple(_)
                        | SigKind::Label
                        | SigKind::Callee
                        | SigKind::Arguments
                        | SigKind::Results
                        | SigKind::List => self.operand(part, rest, mnemonic)?,
                    };
                    parts.push(value);
                }
                Ok(if is_bracket { ir::bracket(parts) } else { ir::braces(parts) })
            }
            SigKind::Label | SigKind::Callee | SigKind::Arguments | SigKind::Results | SigKind::List => {
                Err(Error::unsupported(format!("`{mnemonic}`, which is control flow")))
            }
        }
    }

    /// A texture, surface or tensor map: the register that has its handle or address.
    fn handle(&mut self, register: Register) -> PtxArg {
        match register {
            Register::Number(number) => number.into(),
            Register::Value(value) => self.generic(value).into(),
        }
    }

    fn address_operand(
        &mut self,
        register: Register,
        space: &SigSpace,
        mnemonic: &Mnemonic,
    ) -> Result<PtxArg> {
        let Register::Value(value) = register else {
            return Err(Error::unsupported(format!("`{mnemonic}` at a constant address")));
        };
        if space.handle != TypeSet::EMPTY {
            return Ok(ir::at(value));
        }
        let ty = match space.space() {
            StateSpace::Global => Type::PTR_GLOBAL,
            StateSpace::Shared => Type::PTR_SHARED,
            StateSpace::Local => Type::PTR_LOCAL,
            StateSpace::Const => Type::PTR_CONST,
            StateSpace::Param => Type::PTR_PARAM,
            StateSpace::Generic | StateSpace::Reg | StateSpace::Sreg | StateSpace::Tex => Type::PTR,
        };
        // In tensor memory, of which addresses are numbers.
        if self.type_of(value) == Type::I32 {
            return Ok(ir::at(value));
        }
        let value =
            if self.type_of(value).is_ptr() { value } else { self.b.ins().inttoptr(Type::PTR, value) };
        Ok(ir::at(self.pointer_as(value, ty)))
    }

    /// A register as one that the operand takes.
    fn fit(&mut self, register: Register, wanted: &SigValue, mnemonic: &Mnemonic) -> Result<PtxArg> {
        let takes_numbers =
            wanted.accepts.contains(Accepts::IMMEDIATE) || wanted.accepts.contains(Accepts::ANY_IMMEDIATE);
        let is_integer = match wanted.ty.class() {
            TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed => true,
            TypeClass::Pred | TypeClass::Float | TypeClass::Packed | TypeClass::Opaque => false,
        };
        let value = match register {
            Register::Number(number) => return Ok(number.into()),
            Register::Value(value) => value,
        };
        let constant =
            self.b.func().dfg.int_const(value).filter(|_| self.type_of(value) != Type::I1 && is_integer);
        match constant {
            Some(number) if takes_numbers => return Ok(number.into()),
            _ if !wanted.accepts.contains(Accepts::REGISTER) => {
                return Err(Error::unsupported(format!(
                    "`{mnemonic}` with a value where only a constant may stand"
                )));
            }
            _ => {}
        }
        let holds = |ty: ScalarType| wanted.registers.contains(ty) || wanted.tolerated.contains(ty);
        let of = self.type_of(value);
        if holds(register_of(of)) {
            return Ok(value.into());
        }
        if holds(ScalarType::Pred) {
            let int = self.integer_of(value);
            let ty = self.type_of(int);
            let zero = self.b.ins().iconst(ty, 0);
            return Ok(self.b.ins().icmp(IntCC::Ne, int, zero).into());
        }
        let int = self.integer_of(value);
        let bits = wanted.ty.bits();
        let bits = if holds(ScalarType::B8) && bits == 8 { 8 } else { bits.max(16) };
        let int = self.resize(int, container(bits));
        if holds(register_of(self.type_of(int))) {
            return Ok(int.into());
        }
        let float = match bits {
            16 => Type::F16,
            32 => Type::F32,
            64 => Type::F64,
            _ => return Ok(int.into()),
        };
        Ok(self.b.ins().bitcast(float, int).into())
    }
}

/// The register that holds a value of a type.
fn register_of(ty: Type) -> ScalarType {
    match ty {
        Type::I1 => ScalarType::Pred,
        Type::F16 => ScalarType::F16,
        Type::F32 => ScalarType::F32,
        Type::F64 => ScalarType::F64,
        _ => match ty.bits() {
            0..=8 => ScalarType::B8,
            9..=16 => ScalarType::B16,
            17..=32 => ScalarType::B32,
            33..=64 => ScalarType::B64,
            _ => ScalarType::B128,
        },
    }
}

fn is_there(operand: &SigOperand) -> bool {
    match operand.presence {
        SigPresence::Required => true,
        SigPresence::Optional | SigPresence::OnlyWith(_) => false,
    }
}

/// How many operands of a signature so many results are; `None` where they do not fit.
fn written(signature: &Signature, results: usize) -> Option<usize> {
    match ir::destinations(signature, results) {
        Some(list) => Some(list.len()),
        None if results == 0 && needs_sink(signature) => Some(1),
        None => None,
    }
}

/// True for a destination that may be left out, `_`.
fn needs_sink(signature: &Signature) -> bool {
    match signature.operands.first().map(|operand| &operand.kind) {
        Some(SigKind::Value(value)) => value.destination && value.accepts.contains(Accepts::SINK),
        _ => false,
    }
}

/// How many registers an operand is.
fn size(operand: &SigOperand) -> usize {
    match &operand.kind {
        SigKind::Value(value) | SigKind::Pair { first: value, .. } => value.count.map_or(1, usize::from),
        SigKind::Bracket(inner) | SigKind::Tuple(inner) => {
            inner.iter().filter(|part| is_there(part)).map(size).sum()
        }
        SigKind::Address(_)
        | SigKind::Label
        | SigKind::Callee
        | SigKind::Arguments
        | SigKind::Results
        | SigKind::List => 1,
    }
}

/// The operands that so many registers are, from left to right, behind those that are written; those that may be left out are there as long as
/// registers are.
fn groups(signature: &Signature, written: usize, registers: usize) -> Option<Vec<usize>> {
    let all: Vec<usize> = signature
        .operands
        .iter()
        .enumerate()
        .filter(|(_, operand)| !matches!(operand.presence, SigPresence::OnlyWith(_)))
        .map(|(index, _)| index)
        .skip(written)
        .collect();
    let required: usize = all
        .iter()
        .filter(|index| is_there(&signature.operands[**index]))
        .map(|index| size(&signature.operands[*index]))
        .sum();
    let mut spare = registers.checked_sub(required)?;
    let mut taken = Vec::new();
    for index in all {
        let operand = &signature.operands[index];
        if !is_there(operand) {
            if spare < size(operand) {
                continue;
            }
            spare -= size(operand);
        }
        taken.push(index);
    }
    (spare == 0).then_some(taken)
}
