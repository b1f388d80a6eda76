//! `ld` and `st` that say no more than a type and a state space: loads and stores of the IR, which the optimiser knows.

use super::*;
use warpsmith_ir::MemFlags;
use warpsmith_isa::{Mod, StateSpace};

/// What a plain access moves.
struct Plain {
    space: StateSpace,
    element: ScalarType,
    /// How many elements, in one access.
    lanes: u32,
    flags: MemFlags,
}

impl Plain {
    /// The access that a mnemonic names; `None` for what orders others, goes past a cache or is a hint to one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other modifier makes it more than plain")]
    fn of(mnemonic: &ir::Mnemonic) -> Option<Plain> {
        let mut flags = MemFlags::PLAIN;
        let (mut space, mut lanes) = (StateSpace::Generic, 1);
        for &modifier in mnemonic.mods() {
            match modifier {
                Mod::Weak => {}
                Mod::Nc => flags.invariant = true,
                Mod::V2 | Mod::V4 => lanes = modifier.number(),
                Mod::SharedCta => space = StateSpace::Shared,
                Mod::Global | Mod::Shared | Mod::Local => space = modifier.space()?,
                _ if modifier.scalar().is_some() => {}
                _ => return None,
            }
        }
        let mut types = mnemonic.types();
        let (element, None) = (types.next()?, types.next()) else { return None };
        Some(Plain { space, element, lanes, flags })
    }

    /// The type of the IR for the whole access, of elements that are integers.
    fn ty(&self) -> Option<Type> {
        let element = container(self.element.bits());
        if element.bits() != self.element.bits() || element.bits() > 64 {
            return None;
        }
        if self.lanes == 1 { Some(element) } else { Type::vector(element.element(), self.lanes) }
    }
}

impl Builder<'_, '_, '_> {
    /// Makes a load or store of the IR of a plain one; `false`, with nothing made, for all else.
    pub(super) fn translate_access(
        &mut self,
        t: &Translation<'_>,
        mnemonic: &ir::Mnemonic,
        operands: &[ptx::Operand],
    ) -> Result<bool> {
        use warpsmith_isa::Opcode;
        let opcode = mnemonic.opcode();
        let (value, address) = match (opcode, operands) {
            (Opcode::Ld, [value, address]) | (Opcode::St, [address, value]) => (*value, *address),
            _ => return Ok(false),
        };
        let Some((plain, ty)) = Plain::of(mnemonic).and_then(|plain| plain.ty().map(|ty| (plain, ty))) else {
            return Ok(false);
        };
        let Some(names) = registers(t, value).filter(|names| names.len() as u32 == plain.lanes) else {
            return Ok(false);
        };
        let types: Vec<Type> = names.iter().map(|variable| self.variable_type(*variable)).collect();
        let signed = plain.element.is_signed();
        // Floats are not widened by an access.
        let widens = |ty: &Type| ty.bits() > plain.element.bits() && ty.is_int() && !plain.element.is_float();
        if !types.iter().all(|ty| ty.bits() == plain.element.bits() || widens(ty)) {
            return Ok(false);
        }
        let Some((pointer, offset)) = self.asm_pointer(t, address, plain.space) else { return Ok(false) };
        let element = container(plain.element.bits());
        if opcode == Opcode::Ld {
            let loaded = self.b.ins().load(ty, plain.flags, pointer, offset);
            for (n, (variable, ty)) in names.iter().zip(&types).enumerate() {
                let part = if plain.lanes == 1 { loaded } else { self.b.ins().extract(loaded, n as u8) };
                let whole = container(ty.bits());
                let part = if signed { self.resize_signed(part, whole) } else { self.resize(part, whole) };
                let part = self.scalar_of(part, *ty);
                self.b.def_var(*variable, part);
            }
            return Ok(true);
        }
        let mut parts = Values::new();
        for variable in names {
            let value = self.b.use_var(variable);
            let value = self.integer_of(value);
            parts.push(self.resize(value, element));
        }
        let whole = match parts[..] {
            [only] => only,
            _ => self.b.ins().vec(&parts),
        };
        self.b.ins().store(plain.flags, whole, pointer, offset);
        Ok(true)
    }

    /// The pointer that a bracket starts from, and the bytes behind it. Of a register of 32 bits only a pointer that came in is known.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other operand is the address of a plain access")]
    fn asm_pointer(
        &mut self,
        t: &Translation<'_>,
        address: ptx::Operand,
        space: StateSpace,
    ) -> Option<(Value, i32)> {
        let (name, offset) = match address {
            ptx::Operand::AddressName(name) => (name, 0),
            ptx::Operand::Address { name, offset } => (name, offset),
            _ => return None,
        };
        let name = &t.module[name];
        let variable = *t.registers.get(name)?;
        let ty = Type::ptr(space)?;
        let offset = i32::try_from(offset).ok()?;
        if let Some(&pointer) = t.pointers.get(name)
            && self.type_of(pointer).space() == Some(space)
        {
            return Some((pointer, offset));
        }
        (self.variable_type(variable) == Type::I64).then(|| {
            let number = self.b.use_var(variable);
            (self.b.ins().inttoptr(ty, number), offset)
        })
    }
}

/// The registers that an operand names, if it names no more than registers.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a register is left to the general way")]
fn registers(t: &Translation<'_>, operand: ptx::Operand) -> Option<Vec<Variable>> {
    let register = |operand: &ptx::Operand| match *operand {
        ptx::Operand::Name(name) => t.registers.get(&t.module[name]).copied(),
        _ => None,
    };
    match operand {
        ptx::Operand::Vector(list) => t.module[list].iter().map(register).collect(),
        single => Some(vec![register(&single)?]),
    }
}
