//! Addresses in instructions: what no table of instructions can know of parameters, of variables whose address is taken, and of offsets.

use super::Validator;
use super::inst::{Kind, LENIENCE};
use crate::codes;
use crate::scope::{Binding, Bound};
use crate::tree::*;
use warpsmith_diag::Diagnostic;
use warpsmith_isa as isa;
use warpsmith_isa::{Change, Instruction, Shape, SpaceRef, StateSpace};

impl Validator<'_> {
    /// The rules about parameters that no table of instructions can know (manual 5.1.6).
    pub(super) fn parameter_use(&mut self, kind: Kind, inst: Inst) {
        let m = self.m;
        for operand in inst.operands.ids() {
            let name = match (kind, m[operand]) {
                (Kind::Load | Kind::Store, Operand::AddressName(name) | Operand::Address { name, .. }) => {
                    name
                }
                (Kind::Move, Operand::Name(name) | Operand::Offset { name, .. }) => name,
                (
                    Kind::Address,
                    Operand::Name(name) | Operand::AddressName(name) | Operand::Address { name, .. },
                ) => name,
                _ => continue,
            };
            let Some(Bound { binding, depth }) = self.scopes.lookup(name) else { continue };
            if let Binding::Function(function) = binding
                && m[function].kind == FunctionKind::Entry
            {
                self.gate(".entry.address", "the address of a kernel", m.operand_span(operand));
            }
            let Binding::Variable(id, _) = binding else { continue };
            if m[id].space != StateSpace::Param || depth == 0 {
                continue;
            }
            let Some(function) = self.in_function.map(|function| &m[function]) else { continue };
            let within = |list: List<Decl>| list.range().contains(&id.index());
            let span = m.operand_span(operand);
            let spelling = &m[name];
            let local = !within(function.params) && !within(function.returns);
            match kind {
                Kind::Move | Kind::Address if local => {
                    let message = format!("the parameter `{spelling}` of a call has no address");
                    self.error(codes::PARAM_USE, span, message);
                }
                Kind::Move if within(function.returns) => {
                    self.gate(".param.address", "the address of a return parameter", span);
                }
                Kind::Move | Kind::Address => {}
                _ if local && inst.guard.is_some() => {
                    let message =
                        format!("an access to `{spelling}`, a parameter of a call, cannot be guarded");
                    let note = "branch around the whole call instead";
                    self.report(Diagnostic::error(codes::PARAM_USE, span, message).note(note));
                }
                Kind::Store if within(function.params) => {
                    self.error(
                        codes::PARAM_USE,
                        span,
                        format!("the parameter `{spelling}` cannot be written"),
                    );
                }
                Kind::Load
                    if function.kind == FunctionKind::Entry
                        && self.mnemonic(inst).is_some_and(|mnemonic| mnemonic.has(isa::Mod::ParamFunc)) =>
                {
                    self.changed(
                        Change::KernelParamAsFunc,
                        span,
                        "`.param::func` of a parameter of a kernel",
                    );
                }
                Kind::Load if within(function.returns) => {
                    self.error(
                        codes::PARAM_USE,
                        span,
                        format!("the return parameter `{spelling}` cannot be read"),
                    );
                }
                Kind::Plain | Kind::Call | Kind::Load | Kind::Store | Kind::BranchIndexed => {}
            }
        }
    }

    /// `mov` takes no labels, and the addresses of textures, samplers and surfaces as 64 bits only.
    pub(super) fn moved_address(&mut self, inst: Inst) {
        let m = self.m;
        let Some(source) = inst.operands.get(1) else { return };
        let Operand::Name(name) = m[source] else { return };
        let span = m.operand_span(source);
        match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::Label(_)) => {
                self.error(codes::OPERAND, span, format!("the label `{}` has no address", &m[name]));
            }
            Some(Binding::Variable(decl, _)) if m[decl].ty.class() == isa::TypeClass::Opaque => {
                let ty = self.mnemonic(inst).and_then(|mnemonic| mnemonic.types().last());
                if ty.is_some_and(|ty| ty.bits() != 64) {
                    let message = format!("the address of a `.{}` has 64 bits", m[decl].ty);
                    self.error(codes::OPERAND, span, message);
                }
            }
            _ => {}
        }
    }

    /// True if an address has a constant added, which the kinds of operands do not show.
    pub(super) fn has_offset(&self, inst: Inst) -> bool {
        self.m[inst.operands].iter().any(|operand| matches!(operand, Operand::Address { .. }))
    }

    /// Validates constant offsets. ptxas checks neither truncated ones nor those that cannot give an aligned address.
    pub(super) fn misaligned(&mut self, inst: Inst, instruction: &Instruction) {
        let section = instruction.form().section();
        for (spec, operand) in instruction.places().zip(inst.operands.ids()) {
            let Shape::Address(address) = &spec.shape else { continue };
            let Operand::Address { offset, .. } = self.m[operand] else { continue };
            let span = self.m.operand_span(operand);
            if offset != 0 && matches!(address.space, SpaceRef::Handle(_)) {
                let message = "a texture, sampler or surface has no bytes to count";
                let error = Diagnostic::error(codes::OPERAND, span, message).section(section);
                self.report(error.note("leave the offset out"));
                continue;
            }
            let message = match offset {
                _ if i32::try_from(offset).is_err() && u32::try_from(offset).is_err() => {
                    format!("the offset {offset} does not fit 32 bits")
                }
                _ if offset.rem_euclid(i64::from(address.align)) != 0 => {
                    format!(
                        "the offset {offset} is not a multiple of {}, as the address must be",
                        address.align
                    )
                }
                _ => continue,
            };
            let warning = Diagnostic::warning(codes::LENIENT, span, message).note(LENIENCE);
            self.report(warning.section(section));
        }
    }
}
