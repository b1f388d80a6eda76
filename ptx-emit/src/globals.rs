//! Globals as variables of PTX, with their initialisers (PTX ISA 9.0, 5.4.4).
//!
//! Scalars are declared as what they are, everything else as bytes. One that holds addresses is an array of 64-bit words if all of them
//! stand at multiples of 8; else it is bytes, each of an address being taken out of it with a mask.

use crate::module::decl;
use crate::names::Names;
use warpsmith_ir::{self as ir, Extent, GlobalId, Reloc, Symbol};
use warpsmith_isa::ScalarType;
use warpsmith_lower::abi::bits_type;
use warpsmith_ptx::{Const, Decl, Init, Item, Linkage, Mask, MaskOf, Module};

/// The linkage of PTX.
pub fn linkage(linkage: ir::Linkage) -> Linkage {
    match linkage {
        ir::Linkage::Local => Linkage::Local,
        ir::Linkage::Export => Linkage::Visible,
        ir::Linkage::Extern => Linkage::Extern,
        ir::Linkage::Weak => Linkage::Weak,
        ir::Linkage::Common => Linkage::Common,
    }
}

/// The globals in the order of their declarations, with a declaration first for what initialisers name in front of it.
pub fn declare_all(tree: &mut Module, names: &Names, module: &ir::Module) {
    let (order, ahead) = module.initialiser_order();
    for id in ahead {
        let mut decl = variable(tree, names, module, id);
        decl.linkage = Linkage::Extern;
        let mut declarator = tree[decl.names][0];
        declarator.init = None;
        decl.names = tree.declarator_list(&[declarator]);
        let decl = tree.push_decl(decl);
        tree.push_item(Item::Variable(decl));
    }
    for id in order {
        let decl = variable(tree, names, module, id);
        let decl = tree.push_decl(decl);
        tree.push_item(Item::Variable(decl));
    }
}

/// The declaration of a global.
fn variable(tree: &mut Module, names: &Names, module: &ir::Module, id: GlobalId) -> Decl {
    let global = &module.globals[id];
    let types = &module.types;
    let element = global.ty.bits();
    let (size, align) = (global.size(types), global.alignment(types));
    let scalar = !global.ty.is_vector() && matches!(element, 8 | 16 | 32 | 64) && global.relocs.is_empty();
    let in_words = !global.relocs.is_empty()
        && size.is_multiple_of(8)
        && align >= 8
        && global.relocs.iter().all(|reloc| reloc.offset.is_multiple_of(8));
    let (ty, width) = match (scalar, in_words) {
        (true, _) => (bits_type(element), u64::from(element / 8)),
        (false, true) => (ScalarType::U64, 8),
        (false, false) if global.relocs.is_empty() => (ScalarType::B8, 1),
        (false, false) => (ScalarType::U8, 1),
    };
    let dim = match global.extent {
        Extent::Dynamic => Some(None),
        Extent::One if scalar => None,
        Extent::One | Extent::Array(_) => Some(Some((size / width).max(1))),
    };
    let ty = global.handle.unwrap_or(ty);
    let mut decl = decl(tree, global.space, ty, names.globals[id], dim);
    decl.align = Some(align).filter(|_| global.handle.is_none());
    decl.linkage = linkage(global.linkage);
    decl.managed = global.managed;
    let Some(bytes) = &global.init else { return decl };
    let values = elements(tree, names, bytes, &global.relocs, width as usize);
    let init = match (dim, &values[..]) {
        (_, []) => return decl,
        (None, [value, ..]) => *value,
        _ => tree.init_list(&values),
    };
    let init = tree.init(init);
    let mut declarator = tree[decl.names][0];
    declarator.init = Some(init);
    decl.names = tree.declarator_list(&[declarator]);
    decl
}

/// The elements of an initialiser up to the last that is not zero.
fn elements(tree: &mut Module, names: &Names, bytes: &[u8], relocs: &[Reloc], width: usize) -> Vec<Init> {
    let value = |chunk: &[u8]| {
        let bits = chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        Init::Const(Const::Int { bits, unsigned: false })
    };
    let used = bytes.len() - bytes.iter().rev().take_while(|&&byte| byte == 0).count();
    let mut values: Vec<Init> = bytes[..used].chunks(width).map(value).collect();
    let zero = Init::Const(Const::Int { bits: 0, unsigned: false });
    for reloc in relocs {
        let (name, generic) = match reloc.target {
            Symbol::Func(id) => (names.functions[id], false),
            Symbol::Global(id) => (names.globals[id], reloc.generic),
        };
        let offset = reloc.addend;
        let (first, count) = (reloc.offset as usize / width, 8 / width);
        if values.len() < first + count {
            values.resize(first + count, zero);
        }
        for n in 0..count {
            values[first + n] = match width {
                8 => Init::Address { name, generic, offset },
                _ => tree.mask(Mask { mask: 0xff << (8 * n), of: MaskOf::Address { name, generic, offset } }),
            };
        }
    }
    values
}
