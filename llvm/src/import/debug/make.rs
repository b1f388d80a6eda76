//! Units, types and subprograms.

use super::*;

impl<'n> Maker<'n, '_, '_> {
    pub(super) fn key(&self, id: u64) -> Key {
        self.made.key(self.index, self.nodes.module, id)
    }

    pub(super) fn file(&mut self, id: u64) -> Option<FileId> {
        if let Some(known) = self.made.files.get(&self.key(id)) {
            return Some(*known);
        }
        let name = self.nodes.text(self.nodes.node(id, code::FILE)?, 1)?;
        let file = self.debug.file(name);
        self.made.files.insert(self.key(id), file);
        Some(file)
    }

    pub(super) fn unit(&mut self, id: Option<u64>) -> Option<UnitId> {
        let nodes = self.nodes;
        let first = || nodes.module.metadata.named.get("llvm.dbg.cu")?.first()?.checked_sub(1);
        let id = id.filter(|id| nodes.node(*id, code::COMPILE_UNIT).is_some()).or_else(first)?;
        if let Some(known) = self.made.units.get(&self.key(id)) {
            return Some(*known);
        }
        let ops = nodes.node(id, code::COMPILE_UNIT)?;
        let of_file = field(ops, 2)?;
        let file = self.file(of_file)?;
        let directory = nodes.node(of_file, code::FILE).and_then(|ops| nodes.text(ops, 2)).unwrap_or("");
        let language = ops.get(1).and_then(|n| u16::try_from(*n).ok()).unwrap_or(0x8001);
        let unit = self.debug.unit(file, nodes.text(ops, 3).unwrap_or(""), language, directory);
        self.made.units.insert(self.key(id), unit);
        Some(unit)
    }

    pub(super) fn subprogram(&mut self, id: u64) -> Option<SubprogramId> {
        if let Some(known) = self.made.subprograms.get(&self.key(id)) {
            return Some(*known);
        }
        let nodes = self.nodes;
        let ops = nodes.node(id, code::SUBPROGRAM)?;
        // Since LLVM 8 the flags of a subprogram are one field.
        let unit = if ops.first()? & 4 != 0 { 12 } else { 15 };
        let unit = self.unit(field(ops, unit))?;
        let declared = Declared { file: self.file(field(ops, 4)?)?, line: small(ops, 5) };
        let ty = field(ops, 6).filter(|ty| nodes.node(*ty, code::SUBROUTINE_TYPE).is_some());
        let ty = ty.and_then(|ty| self.ty(ty, 0));
        let linkage = nodes.text(ops, 3);
        let name = nodes.text(ops, 2).or(linkage).unwrap_or("");
        let subprogram = self.debug.subprogram(unit, name, declared, ty);
        if let Some(linkage) = linkage {
            self.debug.set_linkage_name(subprogram, linkage);
        }
        self.made.subprograms.insert(self.key(id), subprogram);
        Some(subprogram)
    }

    /// A type; `None` for `void` and what is not understood.
    pub(super) fn ty(&mut self, id: u64, depth: u32) -> Option<DebugTypeId> {
        if let Some(known) = self.made.types.get(&self.key(id)) {
            return *known;
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let (kind, ops) = self.nodes.kind(id)?;
        let made = match kind {
            code::BASIC_TYPE => self.base(ops),
            code::DERIVED_TYPE => self.derived(ops, depth),
            code::COMPOSITE_TYPE => self.composite(id, ops, depth),
            code::SUBROUTINE_TYPE => {
                let types = self.nodes.tuple(ops, 2);
                let ret = field(types, 0).and_then(|ty| self.ty(ty, depth + 1));
                let params = (1..types.len())
                    .filter_map(|n| field(types, n))
                    .filter_map(|ty| self.ty(ty, depth + 1))
                    .collect();
                Some(self.debug.ty(DebugType::Function { params, ret }))
            }
            _ => None,
        };
        self.made.types.insert(self.key(id), made);
        made
    }

    pub(super) fn base(&mut self, ops: &[u64]) -> Option<DebugTypeId> {
        let encoding = match ops.get(5)? {
            1 => Encoding::Address,
            2 => Encoding::Boolean,
            4 => Encoding::Float,
            5 => Encoding::Signed,
            6 => Encoding::SignedChar,
            8 => Encoding::UnsignedChar,
            _ => Encoding::Unsigned,
        };
        let size = self.nodes.bits(ops, 3, ops.first()? & 2 != 0).div_ceil(8);
        let size = u32::try_from(size).ok().filter(|size| *size > 0)?;
        Some(self.debug.base(self.nodes.text(ops, 2).unwrap_or(""), size, encoding))
    }

    pub(super) fn derived(&mut self, ops: &[u64], depth: u32) -> Option<DebugTypeId> {
        let of = field(ops, 6).and_then(|ty| self.ty(ty, depth + 1));
        // A pointer to a member function: its address, or where a table has it, and what is added to the object's.
        let to_function =
            field(ops, 6).is_some_and(|ty| self.nodes.node(ty, code::SUBROUTINE_TYPE).is_some());
        // `DW_TAG_*`.
        match ops.get(1)? {
            0x1f if to_function => {
                let word = self.debug.base("long", 8, Encoding::Signed);
                Some(self.debug.array(word, &[2]))
            }
            0x0f | 0x1f => Some(self.debug.pointer(of, StateSpace::Generic)),
            0x10 | 0x42 => Some(self.debug.ty(DebugType::Reference { to: of? })),
            0x16 => {
                let name = self.nodes.text(ops, 2).unwrap_or("").to_owned();
                Some(self.debug.ty(DebugType::Typedef { name, of: of? }))
            }
            0x26 => Some(self.debug.ty(DebugType::Const(of?))),
            0x35 => Some(self.debug.ty(DebugType::Volatile(of?))),
            // `restrict`, `_Atomic`.
            0x37 | 0x47 => of,
            _ => None,
        }
    }

    pub(super) fn composite(&mut self, id: u64, ops: &[u64], depth: u32) -> Option<DebugTypeId> {
        let name = self.nodes.text(ops, 2).unwrap_or("").to_owned();
        let bytes = self.nodes.bits(ops, 7, ops.first()? & 4 != 0) / 8;
        let elements = self.nodes.tuple(ops, 11);
        let kind = match ops.get(1)? {
            0x13 => Composite::Struct,
            0x17 => Composite::Union,
            0x02 => Composite::Class,
            0x01 => {
                let element = self.ty(field(ops, 6)?, depth + 1)?;
                let dimensions: Vec<u64> = (0..elements.len())
                    .filter_map(|n| self.nodes.node(field(elements, n)?, code::SUBRANGE))
                    .map(|range| {
                        let count = self.nodes.constant(range, 1);
                        count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
                    })
                    .collect();
                const VECTOR: u64 = 1 << 11;
                if let ([lanes], true) =
                    (dimensions.as_slice(), ops.get(10).is_some_and(|flags| flags & VECTOR != 0))
                {
                    let lanes = u32::try_from(*lanes).ok()?;
                    return Some(self.debug.ty(DebugType::Vector { element, lanes }));
                }
                return Some(self.debug.array(element, &dimensions));
            }
            0x04 => {
                let base = field(ops, 6).and_then(|base| self.ty(base, depth + 1));
                let size = u32::try_from(bytes).ok().filter(|size| *size > 0).unwrap_or(4);
                let base = base.unwrap_or_else(|| self.debug.base("unsigned int", size, Encoding::Unsigned));
                let enumerators =
                    (0..elements.len()).filter_map(|n| self.enumerator(field(elements, n)?)).collect();
                return Some(self.debug.ty(DebugType::Enum { name, base, enumerators }));
            }
            _ => return None,
        };
        let ty = self.debug.composite(kind, &name, bytes, Vec::new());
        self.pending.push((id, ty));
        Some(ty)
    }

    pub(super) fn enumerator(&self, id: u64) -> Option<Enumerator> {
        let ops = self.nodes.node(id, code::ENUMERATOR)?;
        // Since LLVM 12 a number may have any width, which stands before it.
        let (name, value) = if ops.first()? & 4 != 0 { (2, 3) } else { (2, 1) };
        let value = crate::module::constants::signed(*ops.get(value)?);
        Some(Enumerator { name: self.nodes.text(ops, name)?.to_owned(), value })
    }

    /// Gives composite types their members, which may be of types that have members.
    pub(super) fn finish(&mut self) -> Vec<DebugTypeId> {
        let mut composites = Vec::new();
        while let Some((id, ty)) = self.pending.pop() {
            let Some(ops) = self.nodes.node(id, code::COMPOSITE_TYPE) else { continue };
            let elements = self.nodes.tuple(ops, 11);
            let members = (0..elements.len()).filter_map(|n| self.member(field(elements, n)?)).collect();
            self.debug.set_members(ty, members);
            composites.push(ty);
        }
        composites
    }

    pub(super) fn member(&mut self, id: u64) -> Option<Member> {
        const MEMBER: u64 = 0x0d;
        const INHERITANCE: u64 = 0x1c;
        const STATIC: u64 = 1 << 12;
        const BIT_FIELD: u64 = 1 << 19;
        let ops = self.nodes.node(id, code::DERIVED_TYPE)?;
        let flags = ops.get(10).copied().unwrap_or(0);
        if !matches!(ops.get(1)?, &MEMBER | &INHERITANCE) || flags & STATIC != 0 {
            return None;
        }
        let ty = self.ty(field(ops, 6)?, 0)?;
        let is_node = ops.first()? & 2 != 0;
        let (size, at) = (self.nodes.bits(ops, 7, is_node), self.nodes.bits(ops, 9, is_node));
        let name = self.nodes.text(ops, 2).unwrap_or("").to_owned();
        let (offset, bits) = if flags & BIT_FIELD != 0 {
            let storage = self.nodes.constant(ops, 11).and_then(|bits| u64::try_from(bits).ok()).unwrap_or(0);
            let from = u32::try_from(at.checked_sub(storage)?).ok()?;
            (storage / 8, Some((u32::try_from(size).ok()?, from)))
        } else {
            (at / 8, None)
        };
        Some(Member { name, ty, offset, bits })
    }
}
