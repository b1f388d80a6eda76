//! Variables, functions and aliases: the records of a module that make symbols.

use super::ops::Linkage;
use super::types::{Type, TypeId};
use super::{Module, ValueId};
use crate::bitstream::{Block, Record};
use crate::error::{Error, Result};

/// A variable.
#[derive(Clone, Debug)]
pub struct GlobalVar {
    /// The symbol.
    pub name: String,
    /// What it holds.
    pub ty: TypeId,
    /// The address space of its address.
    pub space: u32,
    /// It is never written.
    pub is_constant: bool,
    /// Its initialiser; without one it is defined elsewhere.
    pub init: Option<ValueId>,
    /// Who sees it.
    pub linkage: Linkage,
    /// The alignment in bytes, where one is given.
    pub align: Option<u64>,
    /// The section, where one is given.
    pub section: Option<String>,
    /// 1: hidden, 2: protected.
    pub visibility: u64,
    /// Each thread has its own.
    pub thread_local: bool,
    /// The initialiser may be replaced before the program starts.
    pub externally_initialized: bool,
    /// Its address is not compared: it may be merged with equal ones.
    pub unnamed_addr: u64,
    /// Its group, in [`Module::comdats`].
    pub comdat: Option<usize>,
    /// The byte of the file that its record starts in.
    pub offset: u64,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// The symbol.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// The calling convention: 71 is a kernel, 8 `fastcc`.
    pub convention: u64,
    /// It is defined elsewhere.
    pub is_declaration: bool,
    /// Who sees it.
    pub linkage: Linkage,
    /// Its attributes, in [`Module::attributes`].
    pub attributes: u32,
    /// 1: hidden, 2: protected.
    pub visibility: u64,
    /// The section, where one is given.
    pub section: Option<String>,
    /// Its address is not compared.
    pub unnamed_addr: u64,
    /// Its group, in [`Module::comdats`].
    pub comdat: Option<usize>,
    /// The address space of its address.
    pub space: u32,
    /// The byte of the file that its record starts in.
    pub offset: u64,
    pub(super) body: Option<Block<'a>>,
}

/// Another name for a variable or function.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The symbol.
    pub name: String,
    /// The type of what it names.
    pub ty: TypeId,
    /// The address space.
    pub space: u32,
    /// What it names.
    pub target: ValueId,
    /// Who sees it.
    pub linkage: Linkage,
    /// The byte of the file that its record starts in.
    pub offset: u64,
}

/// The alignment of a field: log2 plus one, 0 for none.
pub(super) fn alignment(field: u64) -> Option<Option<u64>> {
    match field {
        0 => Some(None),
        1..=33 => Some(Some(1 << (field - 1))),
        _ => None,
    }
}

fn ty(module: &Module<'_>, record: &Record<'_>, id: Option<&u64>) -> Result<TypeId> {
    let id = id.and_then(|id| u32::try_from(*id).ok()).map(TypeId).filter(|id| module.types.has(*id));
    id.ok_or_else(|| Error::record(record.offset, "a symbol of a type that does not exist"))
}

fn section(module: &Module<'_>, field: Option<&u64>) -> Option<String> {
    let n = usize::try_from(field?.checked_sub(1)?).ok()?;
    module.sections.get(n).cloned()
}

fn comdat(field: Option<&u64>) -> Option<usize> {
    usize::try_from(field?.checked_sub(1)?).ok()
}

pub(super) fn global(module: &Module<'_>, record: &Record<'_>) -> Result<GlobalVar> {
    let (name, ops) = module.symbol_name(record)?;
    let [of_type, flags, init, linkage, align, of_section, ..] = ops else {
        return Err(Error::record(record.offset, "a variable that is cut off"));
    };
    let mut of_type = ty(module, record, Some(of_type))?;
    let mut space = (flags >> 2) as u32;
    if flags & 2 == 0 {
        let Type::Pointer { space: of_pointer, pointee: Some(pointee) } = module.types.get(of_type) else {
            return Err(Error::record(record.offset, "a variable whose type is not a pointer"));
        };
        (space, of_type) = (*of_pointer, *pointee);
    }
    let init = u32::try_from(*init)
        .map_err(|_| Error::record(record.offset, "a variable with no such initialiser"))?;
    let align =
        alignment(*align).ok_or_else(|| Error::record(record.offset, "an alignment of more than 2^32"))?;
    Ok(GlobalVar {
        name,
        ty: of_type,
        space,
        is_constant: flags & 1 != 0,
        init: init.checked_sub(1).map(ValueId),
        linkage: Linkage::of(*linkage),
        align,
        section: section(module, Some(of_section)),
        visibility: ops.get(6).copied().unwrap_or(0),
        thread_local: ops.get(7).is_some_and(|field| *field != 0),
        unnamed_addr: ops.get(8).copied().unwrap_or(0),
        externally_initialized: ops.get(9).is_some_and(|field| *field != 0),
        comdat: comdat(ops.get(11)),
        offset: record.offset,
    })
}

pub(super) fn function<'a>(module: &Module<'_>, record: &Record<'_>) -> Result<Function<'a>> {
    let (name, ops) = module.symbol_name(record)?;
    let [of_type, convention, is_declaration, linkage, attributes, ..] = ops else {
        return Err(Error::record(record.offset, "a function that is cut off"));
    };
    let mut of_type = ty(module, record, Some(of_type))?;
    if let Type::Pointer { pointee: Some(pointee), .. } = module.types.get(of_type) {
        of_type = *pointee;
    }
    if module.signature(of_type).is_none() {
        return Err(Error::record(record.offset, format!("the type of @{name} is not that of a function")));
    }
    Ok(Function {
        name,
        ty: of_type,
        convention: *convention,
        is_declaration: *is_declaration != 0,
        linkage: Linkage::of(*linkage),
        attributes: u32::try_from(*attributes).unwrap_or(0),
        section: section(module, ops.get(6)),
        visibility: ops.get(7).copied().unwrap_or(0),
        unnamed_addr: ops.get(9).copied().unwrap_or(0),
        comdat: comdat(ops.get(12)),
        space: ops.get(16).and_then(|space| u32::try_from(*space).ok()).unwrap_or(0),
        offset: record.offset,
        body: None,
    })
}

pub(super) fn alias(module: &Module<'_>, record: &Record<'_>) -> Result<Alias> {
    let (name, ops) = module.symbol_name(record)?;
    let old = record.code == 9;
    let (of_type, space, target, linkage) = match ops {
        [of_type, target, linkage, ..] if old => (of_type, 0, target, linkage),
        [of_type, space, target, linkage, ..] if !old => (of_type, *space, target, linkage),
        _ => return Err(Error::record(record.offset, "an alias that is cut off")),
    };
    let target = u32::try_from(*target).map_err(|_| Error::record(record.offset, "an alias of no value"))?;
    Ok(Alias {
        name,
        ty: ty(module, record, Some(of_type))?,
        space: u32::try_from(space).unwrap_or(0),
        target: ValueId(target),
        linkage: Linkage::of(*linkage),
        offset: record.offset,
    })
}
