//! Variables and their initialisers.

use super::space::{self, Space};
use super::symbols::Site;
use super::{Importer, Out, Work};
use crate::error::{Error, Result};
use crate::module::constants::ConstantKind;
use crate::module::ops::{CastOp, Linkage};
use crate::module::types::{Type as Llvm, TypeId};
use crate::module::{GlobalValue, Module, ValueId};
use warpsmith_ir as ir;
use warpsmith_isa::StateSpace;

/// The largest initialiser that is made.
const MAX_SIZE: u64 = 1 << 28;
/// Constants that hold each other deeper than this are refused.
const MAX_DEPTH: u32 = 64;

/// An initialiser: bytes, and where in them addresses go.
struct Image {
    bytes: Vec<u8>,
    addresses: Vec<(u64, Address)>,
}

/// The address of a symbol, moved by bytes.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub symbol: GlobalValue,
    pub addend: i64,
    /// It is the generic address, not the one in the symbol's own space.
    generic: bool,
}

impl<'a> Importer<'a> {
    /// The variable of a symbol, declared where it is not yet.
    pub(super) fn global_id(&mut self, site: Site, out: &mut impl Out) -> Result<ir::GlobalId> {
        let site = self.resolve(site)?;
        if let Some(id) = self.globals.get(&site) {
            return Ok(*id);
        }
        let GlobalValue::Global(n) = site.value else {
            return Err(Error::link("a variable in one module is a function in another"));
        };
        let module = self.module(site);
        let global = &module.globals[n];
        let name = global.name.clone();
        if let Some(id) = self.assembled.get(&name).filter(|_| global.init.is_none()) {
            self.globals.insert(site, *id);
            return Ok(*id);
        }
        if global.init.is_none()
            && global.linkage != Linkage::ExternWeak
            && let Some(id) = self.run_time_variable(site, &name, out)?
        {
            self.globals.insert(site, id);
            return Ok(id);
        }
        let module = self.module(site);
        let global = &module.globals[n];
        let fail = |error: Error| error.in_function(&name);
        if global.thread_local {
            return Err(fail(Error::unsupported("a `thread_local` variable").at(global.offset)));
        }
        let size = module.types.alloc_size(global.ty).map_err(fail)?;
        let align = global.align.unwrap_or_else(|| module.types.align(global.ty)).clamp(1, 1 << 16);
        let space = match space::of_global(global.space, global.section.as_deref()) {
            Space::Shared => StateSpace::Shared,
            Space::Const => StateSpace::Const,
            Space::Global => StateSpace::Global,
            Space::Local | Space::Param | Space::Generic | Space::Unknown | Space::Null => {
                return Err(Error::unsupported(format!("a variable in `addrspace({})`", global.space))
                    .in_function(&name));
            }
        };
        let is_declaration = global.init.is_none();
        let (linkage, initialised, host_writes) =
            (global.linkage, global.init, global.externally_initialized);
        let dynamic = is_declaration && space == StateSpace::Shared;
        let legal = self.symbols.legal(&name, !linkage.is_local());
        let module = &self.modules[site.module].1;
        let (ty, extent) = contents(module, module.globals[n].ty, size, out.types()?);
        let extent = if dynamic { ir::Extent::Dynamic } else { extent };
        let ty = if dynamic { ir::Type::I8 } else { ty };
        let mut made = ir::Global::new(legal, space, ty, extent);
        made.align = Some(align as u32);
        let is_local = !self.is_exported(site, linkage);
        made.linkage = match (is_declaration, is_local) {
            (true, _) => ir::Linkage::Extern,
            // The host may write it before a launch, so nobody may take it for what it begins with.
            (false, true) if host_writes && linkage.is_weak() => ir::Linkage::Weak,
            (false, true) if host_writes => ir::Linkage::Export,
            (false, true) => ir::Linkage::Local,
            (false, false) => ir::Linkage::Export,
        };
        // Shared memory belongs to a block of threads: there is no symbol that another module could see.
        if space == StateSpace::Shared && !is_declaration {
            made.linkage = ir::Linkage::Local;
        }
        let id = out.global(made);
        self.globals.insert(site, id);
        if initialised.is_some() && space != StateSpace::Shared {
            self.queue.push(Work::Global(site, id));
        }
        Ok(id)
    }

    /// Fills in what a variable starts with.
    pub(super) fn initialise(&mut self, site: Site, id: ir::GlobalId, out: &mut ir::Module) -> Result<()> {
        let GlobalValue::Global(n) = site.value else { return Ok(()) };
        let module = self.module(site);
        let global = &module.globals[n];
        let Some(init) = global.init else { return Ok(()) };
        let (ty, offset) = (global.ty, global.offset);
        let size = module.types.alloc_size(ty)?;
        if is_zero(module, init) {
            return Ok(());
        }
        if size > MAX_SIZE {
            return Err(Error::unsupported(format!("an initialiser of {size} bytes")).at(offset));
        }
        let mut image = Image { bytes: vec![0; size as usize], addresses: Vec::new() };
        write(module, init, ty, 0, &mut image, 0).map_err(|error| error.at(offset))?;
        let name = module.name_of(site.value).to_owned();
        let mut relocs = Vec::new();
        for (at, address) in image.addresses {
            let of = Site { module: site.module, value: address.symbol };
            let of = self.symbols.resolve(&self.modules, of)?;
            if self.is_absent(of) {
                continue;
            }
            if self.is_kernel(of) {
                return Err(super::signature::address_of_kernel(self.module(of).name_of(of.value)).at(offset));
            }
            let (target, generic) = match of.value {
                GlobalValue::Function(_) => (ir::Symbol::Func(self.func_id(of, out)?), false),
                GlobalValue::Global(_) => (ir::Symbol::Global(self.global_id(of, out)?), address.generic),
                GlobalValue::Alias(_) => return Err(Error::unsupported("an alias of an alias").at(offset)),
            };
            if super::undefined::is_declared(out, target) {
                self.users.note(target, &name, Vec::new);
            }
            relocs.push(ir::Reloc { offset: at, target, addend: address.addend, generic });
        }
        relocs.sort_by_key(|reloc| reloc.offset);
        out.globals[id].relocs = relocs;
        out.globals[id].init = Some(image.bytes);
        Ok(())
    }
}

/// The functions that a list of constructors or destructors names, with their priorities.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a list has no parts")]
pub(super) fn listed(module: &Module<'_>, name: &str) -> Vec<(i64, GlobalValue)> {
    let Some(init) = module.globals.iter().find(|global| global.name == name).and_then(|global| global.init)
    else {
        return Vec::new();
    };
    let parts = |value: ValueId| match &module.constant(value)?.kind {
        ConstantKind::Aggregate(parts) => Some(parts.clone()),
        _ => None,
    };
    let entry = |value: &ValueId| {
        let parts = parts(*value)?;
        let function = super::symbols::plain(module, *parts.get(1)?)?;
        Some((integer(module, *parts.first()?)?, function))
    };
    parts(init).unwrap_or_default().iter().filter_map(entry).collect()
}

/// The type of a variable's elements, and how many there are: what LLVM says, or bytes, where the IR would lay it out in another way.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not an array is one")]
fn contents(module: &Module<'_>, ty: TypeId, size: u64, table: &mut ir::TypeTable) -> (ir::Type, ir::Extent) {
    let types = &module.types;
    let (element, extent) = match types.get(ty) {
        Llvm::Array { len, element } if *len > 0 => (*element, ir::Extent::Array(*len)),
        _ => (ty, ir::Extent::One),
    };
    // A condition in memory is a byte, and a vector of them bits.
    let bytes = (ir::Type::I8, ir::Extent::Array(size.max(1)));
    let count = if let ir::Extent::Array(len) = extent { len } else { 1 };
    match super::shape::whole(types, element, table) {
        Ok(Some(made)) if table.size(made).checked_mul(count) == Some(size) && made != ir::Type::I1 => {
            (made, extent)
        }
        _ => bytes,
    }
}

fn is_zero(module: &Module<'_>, value: ValueId) -> bool {
    module.constant(value).is_some_and(|constant| {
        matches!(constant.kind, ConstantKind::Null | ConstantKind::Undef | ConstantKind::Poison)
    })
}

/// Writes a constant into an image.
#[expect(clippy::wildcard_enum_match_arm, reason = "the parts of arrays are as far apart as they are large")]
fn write(
    module: &Module<'_>,
    value: ValueId,
    ty: TypeId,
    at: u64,
    image: &mut Image,
    depth: u32,
) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported("constants that hold each other too deep"));
    }
    let types = &module.types;
    let constant = module.constant(value);
    let is_expression = constant.is_none_or(|constant| {
        matches!(
            constant.kind,
            ConstantKind::Cast { .. }
                | ConstantKind::Gep { .. }
                | ConstantKind::Binary { .. }
                | ConstantKind::Select(_)
                | ConstantKind::Compare { .. }
        )
    });
    // Numbers and what is made of them, which are most, are no addresses.
    if is_expression && let Some(address) = address(module, value, 0) {
        image.addresses.push((at, address));
        return Ok(());
    }
    let Some(constant) = constant else {
        return Err(Error::unsupported("an initialiser that is computed"));
    };
    let mut put = |at: u64, bits: u64, bytes: u64| {
        let size = bytes.min(8) as usize;
        let end = (at as usize).saturating_add(size).min(image.bytes.len());
        if let Some(slots) = image.bytes.get_mut(at as usize..end) {
            slots.copy_from_slice(&bits.to_le_bytes()[..slots.len()]);
        }
    };
    if is_expression && let Some(number) = super::folded::integer(module, value) {
        put(at, mask(number as u64, types.bits(ty)?), types.store_size(ty)?.min(8));
        return Ok(());
    }
    match &constant.kind {
        ConstantKind::Null | ConstantKind::Undef | ConstantKind::Poison => {}
        ConstantKind::Integer(n) => {
            let size = types.store_size(ty)?;
            let bits = types.bits(ty)?;
            put(at, mask(*n as u64, bits), size.min(8));
        }
        ConstantKind::Wide(words) | ConstantKind::Float(words) => {
            let size = types.store_size(ty)?;
            for (n, word) in words.iter().enumerate() {
                let start = n as u64 * 8;
                let left = types.bits(ty)?.saturating_sub(start * 8);
                put(at + start, mask(*word, left), size.saturating_sub(start).min(8));
            }
        }
        ConstantKind::String(bytes) => {
            let start = at as usize;
            let end = start.saturating_add(bytes.len()).min(image.bytes.len());
            if let Some(slots) = image.bytes.get_mut(start..end) {
                slots.copy_from_slice(&bytes[..slots.len()]);
            }
        }
        ConstantKind::Data(elements) => {
            let element = types.part(ty, 0).unwrap_or(ty);
            let size = types.store_size(element)?;
            let count = types.parts(ty).unwrap_or(1);
            let splat = elements.len() == 1;
            for n in 0..count {
                let bits = elements.get(if splat { 0 } else { n as usize }).copied().unwrap_or(0);
                put(at + n * size, bits, size);
            }
        }
        ConstantKind::Aggregate(parts) => {
            let packed = matches!(types.get(ty), Llvm::Vector { element, .. } if !types.bits(*element)?.is_multiple_of(8));
            if packed {
                for (n, part) in parts.iter().enumerate() {
                    let set = module
                        .constant(*part)
                        .is_some_and(|c| matches!(c.kind, ConstantKind::Integer(n) if n & 1 != 0));
                    let element = types.part(ty, 0).unwrap_or(ty);
                    if types.bits(element)? != 1 {
                        return Err(Error::unsupported(
                            "an initialiser of a vector whose elements do not fill bytes",
                        ));
                    }
                    if let Some(slot) = image.bytes.get_mut(at as usize + n / 8).filter(|_| set) {
                        *slot |= 1 << (n % 8);
                    }
                }
                return Ok(());
            }
            for (n, part) in parts.iter().enumerate() {
                let Some(of_part) = types.part(ty, n as u64) else { break };
                let offset = match types.get(ty) {
                    Llvm::Struct { .. } => types.field_offset(ty, n)?,
                    Llvm::Vector { .. } => types.store_size(of_part)? * n as u64,
                    _ => types.alloc_size(of_part)? * n as u64,
                };
                write(module, *part, of_part, at + offset, image, depth + 1)?;
            }
        }
        ConstantKind::Cast {
            op: CastOp::IntToPtr | CastOp::PtrToInt | CastOp::BitCast | CastOp::AddrSpaceCast,
            arg,
        } => {
            write(module, *arg, ty, at, image, depth + 1)?;
        }
        ConstantKind::Cast { op, .. } => {
            return Err(Error::unsupported(format!("`{}` in an initialiser", op.name())));
        }
        ConstantKind::Gep { .. } => {
            return Err(Error::unsupported("`getelementptr` of no symbol in an initialiser"));
        }
        ConstantKind::Binary { op, .. } => {
            return Err(Error::unsupported(format!("`{}` in an initialiser", op.name())));
        }
        ConstantKind::Select(_) | ConstantKind::Compare { .. } => {
            return Err(Error::unsupported("a choice in an initialiser"));
        }
        ConstantKind::BlockAddress { block, .. } => {
            put(at, super::constant::address_of_block(*block) as u64, 8);
        }
        ConstantKind::InlineAsm(_) => return Err(Error::unsupported("inline assembly in an initialiser")),
        ConstantKind::Other(what) => return Err(Error::unsupported(format!("{what} in an initialiser"))),
    }
    Ok(())
}

fn mask(value: u64, bits: u64) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The address that a constant is, if it is one.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not an address is none")]
pub(super) fn address(module: &Module<'_>, value: ValueId, depth: u32) -> Option<Address> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Some(symbol) = module.global_value(value) {
        let own = match symbol {
            GlobalValue::Global(n) => module.globals.get(n).is_some_and(|global| global.space != 0),
            GlobalValue::Function(_) | GlobalValue::Alias(_) => false,
        };
        return Some(Address { symbol, addend: 0, generic: !own });
    }
    let constant = module.constant(value)?;
    match &constant.kind {
        ConstantKind::Cast { op: CastOp::AddrSpaceCast, arg } => {
            let inner = address(module, *arg, depth + 1)?;
            let generic = matches!(module.types.get(constant.ty), Llvm::Pointer { space: 0, .. });
            Some(Address { generic, ..inner })
        }
        ConstantKind::Cast { op: CastOp::BitCast | CastOp::IntToPtr | CastOp::PtrToInt, arg } => {
            address(module, *arg, depth + 1)
        }
        ConstantKind::Gep { source, base, indices } => {
            let inner = address(module, *base, depth + 1)?;
            let offset = offset(module, *source, indices)?;
            Some(Address { addend: inner.addend.wrapping_add(offset), ..inner })
        }
        ConstantKind::Binary { op: crate::module::ops::BinaryOp::Add, args } => {
            let inner = address(module, args[0], depth + 1)?;
            Some(Address { addend: inner.addend.wrapping_add(integer(module, args[1])?), ..inner })
        }
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a number is none")]
fn integer(module: &Module<'_>, value: ValueId) -> Option<i64> {
    match module.constant(value)?.kind {
        ConstantKind::Integer(n) => Some(n),
        ConstantKind::Null => Some(0),
        _ => None,
    }
}

/// The bytes that constant indices move an address by.
#[expect(clippy::wildcard_enum_match_arm, reason = "what has no parts has no offsets")]
fn offset(module: &Module<'_>, source: TypeId, indices: &[ValueId]) -> Option<i64> {
    let types = &module.types;
    let (mut ty, mut sum) = (source, 0i64);
    for (n, index) in indices.iter().enumerate() {
        let index = integer(module, *index)?;
        let step = match types.get(ty) {
            _ if n == 0 => types.alloc_size(ty).ok()?,
            Llvm::Struct { fields, .. } => {
                let field = usize::try_from(index).ok()?;
                sum = sum.wrapping_add(types.field_offset(ty, field).ok()? as i64);
                ty = *fields.get(field)?;
                continue;
            }
            Llvm::Array { element, .. } => {
                ty = *element;
                types.alloc_size(ty).ok()?
            }
            Llvm::Vector { element, .. } => {
                ty = *element;
                types.store_size(ty).ok()?
            }
            _ => return None,
        };
        sum = sum.wrapping_add(index.wrapping_mul(step as i64));
    }
    Some(sum)
}
