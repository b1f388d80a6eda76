//! The operands of instructions on textures and surfaces, one by one.

use super::body::Body;
use super::operand::Named;
use crate::effects::texture::{Elements, Operands};
use crate::effects::{self, Source};
use crate::engine::Reg;
use smallvec::{SmallVec, smallvec};
use warpsmith_isa::Instruction;
use warpsmith_ptx::{Module, Operand};
use warpsmith_semantics::TextureAction;

impl<'m> Body<'_, 'm> {
    /// Decodes an instruction whose destinations are read already; `operands` are its sources.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no elements is one source")]
    pub(super) fn texture(
        &mut self,
        i: &Instruction,
        action: TextureAction,
        dst: &[Option<Reg>],
        operands: &[Operand],
    ) -> Option<()> {
        let mut sources = Operands::default();
        let (&first, rest) = operands.split_first()?;
        let module: &'m Module = self.decoder.module;
        match first {
            Operand::Bracket(list) => {
                let (&object, parts) = module[list].split_first()?;
                // What stands before a comma in a bracket is a name or a register, not an address.
                sources.bracket.push(smallvec![self.source(object, None)?]);
                for part in parts {
                    let elements = self.texture_elements(*part)?;
                    sources.bracket.push(elements);
                }
            }
            object => sources.bracket.push(smallvec![self.source(object, None)?]),
        }
        for operand in rest {
            let elements = self.texture_elements(*operand)?;
            sources.rest.push(elements);
        }
        effects::texture::emit(&mut self.f, i, action, dst, &sources)
    }

    /// The elements of a vector, in braces or a register; of all else, the one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no elements is one source")]
    fn texture_elements(&mut self, operand: Operand) -> Option<Elements> {
        let module: &'m Module = self.decoder.module;
        match operand {
            Operand::Vector(list) => {
                let mut all = SmallVec::new();
                for &element in &module[list] {
                    all.push(self.source(element, None)?);
                }
                Some(all)
            }
            Operand::Name(name) => match self.named(name) {
                Named::Vector(regs, n, _) => {
                    Some(regs[..usize::from(n)].iter().map(|r| Source::Reg(*r)).collect())
                }
                Named::Reg(..)
                | Named::Variable(_)
                | Named::Function(_)
                | Named::Special(_)
                | Named::Other => Some(smallvec![self.source(operand, None)?]),
            },
            _ => Some(smallvec![self.source(operand, None)?]),
        }
    }
}
