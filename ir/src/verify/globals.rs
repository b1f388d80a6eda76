//! Globals: where they are, what they hold, what they start with.

use crate::aggregate::TypeTable;
use crate::function::{FuncKind, Linkage};
use crate::module::{Extent, Global, Module, Symbol};
use crate::ops::TypeSet;
use warpsmith_diag::Diagnostic;
use warpsmith_isa::{ScalarType, StateSpace};

/// Checks one global.
pub(super) fn verify(module: &Module, global: &Global, errors: &mut Vec<Diagnostic>) {
    let types = &module.types;
    let Global { name, space, ty, extent, linkage, span, .. } = global;
    let size = global.size(types);
    let mut error = |code, message: String| errors.push(Diagnostic::error(code, *span, message));
    match global.handle {
        None => {}
        Some(ScalarType::Texref | ScalarType::Surfref) => return,
        Some(kind) => {
            return error(
                "I0390",
                format!(
                    "`@{name}` is a global of {kind}, which is not supported yet: it needs `texmode_independent`"
                ),
            );
        }
    }
    if !matches!(space, StateSpace::Global | StateSpace::Const | StateSpace::Shared) {
        error("I0310", format!("`@{name}` cannot be in {space} memory"));
    }
    if ty.is_aggregate() && types.get(*ty).is_none() {
        error("I0424", format!("`@{name}` is of type {ty}, which the module does not have"));
    } else if !TypeSet::Memory.contains(*ty) {
        error("I0311", format!("`@{name}` cannot hold {ty}, which has no memory form"));
    }
    if let Some(align) = global.align.filter(|align| !align.is_power_of_two()) {
        error("I0312", format!("the alignment {align} of `@{name}` is not a power of two"));
    }
    match extent {
        Extent::Array(0) => error("I0313", format!("`@{name}` has no elements")),
        Extent::Dynamic if *space != StateSpace::Shared || *linkage != Linkage::Extern => {
            error(
                "I0314",
                format!("`@{name}` needs a length: only `shared extern` memory gets it at launch"),
            );
        }
        Extent::One | Extent::Array(_) if size > i64::MAX as u64 => {
            error("I0313", format!("`@{name}` is larger than any memory"))
        }
        Extent::One | Extent::Array(_) | Extent::Dynamic => {}
    }
    match &global.init {
        Some(_) if *space == StateSpace::Shared => {
            error("I0315", format!("`@{name}` is in shared memory, which has no initial contents"));
        }
        Some(_) if *linkage == Linkage::Extern => {
            error("I0315", format!("`@{name}` is defined in another module, which initialises it"));
        }
        Some(init) if init.len() as u64 > size => {
            let message = format!("`@{name}` has {} bytes, its initialiser {}", size, init.len());
            error("I0315", message);
        }
        _ => {}
    }
    if *linkage == Linkage::Common && (*space != StateSpace::Global || global.init.is_some()) {
        error("I0315", format!("`@{name}` is common, which is for `global` memory without contents"));
    }
    if global.managed && (*space != StateSpace::Global || *linkage == Linkage::Common) {
        error("I0310", format!("`@{name}` is managed, which only `global` memory can be"));
    }
    relocs(module, types, global, errors);
}

/// Initialisers that hold each other's addresses in a circle: PTX has no declaration that denotes a variable of this module only.
pub(super) fn circles(module: &Module, errors: &mut Vec<Diagnostic>) {
    let (_, ahead) = module.initialiser_order();
    for id in ahead.into_iter().filter(|id| module.globals[*id].linkage == Linkage::Local) {
        let Global { name, span, .. } = &module.globals[id];
        let message = format!("`@{name}` starts with addresses that lead back to it");
        let note = "make it `export`, so that it can be declared before it is defined, or store one address at run time";
        errors.push(Diagnostic::error("I0319", *span, message).note(note));
    }
}

/// The addresses in an initialiser.
fn relocs(module: &Module, types: &TypeTable, global: &Global, errors: &mut Vec<Diagnostic>) {
    let Global { name, span, relocs, .. } = global;
    let mut error = |code, message: String, note: &str| {
        let error = Diagnostic::error(code, *span, message);
        errors.push(if note.is_empty() { error } else { error.note(note.to_owned()) });
    };
    if !relocs.is_empty() && global.init.is_none() {
        let note = "`init` holds the bytes that the addresses stand among";
        error("I0315", format!("`@{name}` has addresses and no initialiser"), note);
    }
    let mut offsets: Vec<u64> = relocs.iter().map(|reloc| reloc.offset).collect();
    offsets.sort_unstable();
    if let Some(pair) = offsets.windows(2).find(|pair| pair[1] - pair[0] < 8) {
        let message = format!("the addresses at {} and {} of `@{name}` overlap", pair[0], pair[1]);
        error("I0315", message, "an address takes 8 bytes");
    }
    for reloc in relocs {
        if reloc.offset.checked_add(8).is_none_or(|end| end > global.size(types)) {
            let message = format!(
                "the address at {} of `@{name}` goes beyond its {} bytes",
                reloc.offset,
                global.size(types)
            );
            error("I0315", message, "");
        }
        match reloc.target {
            Symbol::Func(id) => match module.functions.get(id) {
                None => {
                    error("I0424", format!("`@{name}` holds the address of {id}, which does not exist"), "")
                }
                Some(func) if func.kind == FuncKind::Kernel => {
                    let message = format!("`@{name}` holds the address of the kernel `@{}`", func.name);
                    error("I0430", message, "only functions are called through addresses");
                }
                Some(func) if reloc.addend != 0 => {
                    let message = format!("`@{name}` holds an address within the function `@{}`", func.name);
                    error("I0315", message, "only the address of its beginning is known");
                }
                Some(_) => {}
            },
            Symbol::Global(id) => match module.globals.get(id) {
                None => {
                    error("I0424", format!("`@{name}` holds the address of {id}, which does not exist"), "")
                }
                Some(target) if target.space == StateSpace::Shared => {
                    let message = format!(
                        "`@{name}` holds the address of `@{}`, which each block has its own of",
                        target.name
                    );
                    error("I0315", message, "take the address of shared memory in the kernel: `global_addr`");
                }
                Some(target) if target.handle.is_some() => {
                    error(
                        "I0427",
                        format!("`@{name}` holds the address of `@{}`, which is not memory", target.name),
                        "",
                    );
                }
                Some(_) => {}
            },
        }
    }
}
