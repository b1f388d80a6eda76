//! The class of an instruction, by its text.

use warpsmith_isa::{Class, Mnemonic};

/// The class of an instruction; of an opcode alone, that of its first form.
pub(crate) fn class_of(mnemonic: &str) -> Class {
    let Ok(mnemonic) = Mnemonic::parse(mnemonic) else { return Class::Other };
    let resolved = warpsmith_isa::forms(&mnemonic).next().map(|instruction| instruction.class());
    let first = || mnemonic.opcode().forms().first().map(|form| form.family().class);
    resolved.or_else(first).unwrap_or(Class::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_says_which_arithmetic_it_is() {
        assert_eq!(class_of("add.f32"), Class::Float);
        assert_eq!(class_of("add.u32"), Class::Integer);
        assert_eq!(class_of("ld.global.nc.v4.f32"), Class::Load);
        assert_eq!(class_of("shfl.sync.bfly.b32"), Class::Warp);
    }

    #[test]
    fn every_opcode_has_a_class() {
        for opcode in warpsmith_isa::Opcode::all() {
            let misc = opcode.forms().iter().all(|f| f.section().starts_with("9.7.19"));
            assert!(class_of(opcode.text()) != Class::Other || misc, "{}", opcode.text());
        }
    }
}
