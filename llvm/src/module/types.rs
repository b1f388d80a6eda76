//! The types of a module, and how large they are in memory.

use crate::error::{Error, Result};
use std::sync::OnceLock;
use warpsmith_base::FxHashMap;

/// A type of a module, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(pub u32);

/// A type of LLVM.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Type {
    Void,
    Half,
    BFloat,
    Float,
    Double,
    X86Fp80,
    Fp128,
    PpcFp128,
    Label,
    Metadata,
    Token,
    /// So many bits, 1 to 2^23.
    Integer(u32),
    /// A pointer into an address space; what it points to only in old modules.
    Pointer {
        space: u32,
        pointee: Option<TypeId>,
    },
    Array {
        len: u64,
        element: TypeId,
    },
    Vector {
        len: u32,
        element: TypeId,
    },
    Struct {
        packed: bool,
        fields: Vec<TypeId>,
        name: Option<String>,
    },
    /// A named struct without a body.
    Opaque(String),
    Function {
        varargs: bool,
        ret: TypeId,
        params: Vec<TypeId>,
    },
    /// One that is named and not supported: `x86_mmx`, `x86_amx`, scalable vectors, target types.
    Other(&'static str),
}

/// The types of a module.
#[derive(Clone, Default, Debug)]
pub struct Types {
    types: Vec<Type>,
    /// Numbers by type, of the first so many: filled when a type is asked for.
    known: FxHashMap<Type, TypeId>,
    listed: usize,
    /// Log2 of the depth of nesting is no use: the depth itself, so that walks over types end.
    depths: Vec<u32>,
    layout: DataLayout,
    /// How structs lie in memory, by the number of their type, as they are asked for: once each, since one may be part of many.
    structs: OnceLock<Vec<OnceLock<StructLayout>>>,
    /// Those that are asked for at every other instruction, once they are there.
    frequent: Frequent,
}

/// How a struct lies in memory.
#[derive(Clone, Debug)]
struct StructLayout {
    /// The bytes up to the end of the last field.
    size: u64,
    align: u64,
    /// Where each field starts.
    offsets: Box<[u64]>,
}

/// The numbers of types that instructions have without naming them.
#[derive(Clone, Default, Debug)]
struct Frequent {
    void: Option<TypeId>,
    bit: Option<TypeId>,
    /// By address space, of those that are seen often.
    pointers: [Option<TypeId>; 8],
}

/// What of a data layout says how integers lie in memory.
#[derive(Clone, Debug)]
struct DataLayout {
    /// Bits, and bytes of alignment, by bits.
    integers: Vec<(u32, u64)>,
    vectors: Vec<(u64, u64)>,
    /// The alignments of integers of 0 to 64 bits, which is what `integers` says of them.
    usual_integers: [u64; 65],
}

impl Default for DataLayout {
    fn default() -> Self {
        let mut layout = DataLayout {
            integers: vec![(1, 1), (8, 1), (16, 2), (32, 4), (64, 8), (128, 16)],
            vectors: vec![(16, 2), (32, 4), (64, 8), (128, 16)],
            usual_integers: [0; 65],
        };
        layout.note_usual();
        layout
    }
}

impl DataLayout {
    /// The alignment of an integer: that of the next wider one that is listed.
    fn integer(&self, bits: u32) -> u64 {
        let fitting = self.integers.iter().find(|(width, _)| *width >= bits).or(self.integers.last());
        fitting.map_or(8, |(_, align)| *align)
    }

    fn note_usual(&mut self) {
        self.usual_integers = std::array::from_fn(|bits| self.integer(bits as u32));
    }
}

/// More nesting than this is not a program.
const MAX_DEPTH: u32 = 64;
/// Bytes of the text of a type after which its parts are left out: what is shared is written for each that holds it.
const LONGEST: usize = 4096;
/// More scalars than this in a value are refused.
pub const MAX_SCALARS: u64 = 1 << 16;

impl Types {
    /// The type of a number.
    #[inline]
    pub fn get(&self, id: TypeId) -> &Type {
        self.types.get(id.0 as usize).unwrap_or(&Type::Void)
    }

    /// True if the module has a type of this number.
    #[inline]
    pub fn has(&self, id: TypeId) -> bool {
        (id.0 as usize) < self.types.len()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Takes the alignments of integers and vectors from a data layout string.
    pub fn set_layout(&mut self, text: &str) {
        for part in text.split('-') {
            let (kind, rest) = match (part.strip_prefix('i'), part.strip_prefix('v')) {
                (Some(rest), _) => ('i', rest),
                (_, Some(rest)) => ('v', rest),
                _ => continue,
            };
            let mut numbers = rest.split(':').map(str::parse::<u64>);
            let (Some(Ok(bits)), Some(Ok(align))) = (numbers.next(), numbers.next()) else { continue };
            let (Ok(width), true) = (u32::try_from(bits), (align / 8).is_power_of_two()) else { continue };
            if kind == 'i' {
                self.layout.integers.retain(|(known, _)| *known != width);
                self.layout.integers.push((width, align / 8));
                self.layout.integers.sort_unstable();
            } else {
                self.layout.vectors.retain(|(known, _)| *known != bits);
                self.layout.vectors.push((bits, align / 8));
            }
        }
        self.layout.note_usual();
        self.structs.take();
    }

    fn add(&mut self, ty: Type, depth: u32) {
        self.depths.push(depth);
        self.types.push(ty);
        if let Some(structs) = self.structs.get_mut() {
            structs.push(OnceLock::new());
        }
    }

    /// Appends a type, as the file numbers it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no parts names none")]
    pub(super) fn push(&mut self, ty: Type, offset: u64) -> Result<()> {
        let id = TypeId(self.types.len() as u32);
        let depth_of = |id: &TypeId| self.depths.get(id.0 as usize).copied();
        let parts: Vec<TypeId> = match &ty {
            Type::Array { element, .. } | Type::Vector { element, .. } => vec![*element],
            Type::Struct { fields, .. } => fields.clone(),
            _ => Vec::new(),
        };
        let mut depth = 0;
        for part in &parts {
            // Sized types are made of those before them, so that none contains itself.
            let Some(of_part) = depth_of(part) else {
                return Err(Error::record(
                    offset,
                    format!("type {} is made of type {}, which follows it", id.0, part.0),
                ));
            };
            depth = depth.max(of_part + 1);
        }
        if depth > MAX_DEPTH {
            return Err(Error::unsupported(format!("a type of more than {MAX_DEPTH} levels")).at(offset));
        }
        self.add(ty, depth);
        Ok(())
    }

    /// The number of a type, which is added if the file has no such type.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        for (n, ty) in self.types.iter().enumerate().skip(self.listed) {
            self.known.entry(ty.clone()).or_insert(TypeId(n as u32));
        }
        self.listed = self.types.len();
        if let Some(id) = self.known.get(&ty) {
            return *id;
        }
        let id = TypeId(self.types.len() as u32);
        self.add(ty, 1);
        id
    }

    /// The pointer into an address space.
    pub fn pointer(&mut self, space: u32) -> TypeId {
        if let Some(Some(id)) = self.frequent.pointers.get(space as usize) {
            return *id;
        }
        let id = self.intern(Type::Pointer { space, pointee: None });
        if let Some(known) = self.frequent.pointers.get_mut(space as usize) {
            *known = Some(id);
        }
        id
    }

    /// Makes the pointers into one address space pointers into another.
    pub fn move_pointers(&mut self, from: u32, to: u32) {
        for ty in &mut self.types {
            if let Type::Pointer { space, .. } = ty
                && *space == from
            {
                *space = to;
            }
        }
    }

    /// The type of what has no result.
    pub fn void(&mut self) -> TypeId {
        if let Some(id) = self.frequent.void {
            return id;
        }
        let id = self.intern(Type::Void);
        *self.frequent.void.insert(id)
    }

    /// `i1`
    pub fn bit(&mut self) -> TypeId {
        if let Some(id) = self.frequent.bit {
            return id;
        }
        let id = self.integer(1);
        *self.frequent.bit.insert(id)
    }

    /// The integer of so many bits.
    pub fn integer(&mut self, bits: u32) -> TypeId {
        self.intern(Type::Integer(bits))
    }

    /// True if a value of one type may stand where the other is asked for. What old pointers point to is not part of it.
    #[inline]
    pub fn same(&self, a: TypeId, b: TypeId) -> bool {
        a == b || self.alike(a, b)
    }

    fn alike(&self, a: TypeId, b: TypeId) -> bool {
        match (self.get(a), self.get(b)) {
            (Type::Pointer { space: a, .. }, Type::Pointer { space: b, .. }) => a == b,
            (Type::Vector { len, element }, Type::Vector { len: other, element: of_other }) => {
                len == other && self.same(*element, *of_other)
            }
            (Type::Array { len, element }, Type::Array { len: other, element: of_other }) => {
                len == other && self.same(*element, *of_other)
            }
            (a, b) => a == b,
        }
    }

    /// The size of a value in memory, with what follows it up to its alignment.
    pub fn alloc_size(&self, id: TypeId) -> Result<u64> {
        let size = self.store_size(id)?;
        Ok(size.next_multiple_of(self.align(id)))
    }

    /// The bytes that a value is stored in.
    pub fn store_size(&self, id: TypeId) -> Result<u64> {
        let too_large = || self.too_large(id);
        Ok(match self.get(id) {
            Type::Half | Type::BFloat => 2,
            Type::Float => 4,
            Type::Double => 8,
            Type::X86Fp80 => 10,
            Type::Fp128 | Type::PpcFp128 => 16,
            Type::Integer(bits) => u64::from(bits.div_ceil(8)),
            Type::Pointer { .. } => 8,
            Type::Array { len, element } => {
                let size = self.alloc_size(*element)?;
                size.checked_mul(*len).filter(|n| *n < 1 << 62).ok_or_else(too_large)?
            }
            Type::Vector { len, element } => {
                let bits = self.bits(*element)?.checked_mul(u64::from(*len)).ok_or_else(too_large)?;
                bits.div_ceil(8)
            }
            Type::Struct { .. } => self.struct_layout(id)?.size,
            Type::Void
            | Type::Label
            | Type::Metadata
            | Type::Token
            | Type::Opaque(_)
            | Type::Function { .. }
            | Type::Other(_) => {
                return Err(Error::unsupported(format!("a value of type {} in memory", self.display(id))));
            }
        })
    }

    /// The bits of a value that is not an aggregate.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not counted in bits is stored in bytes")]
    pub fn bits(&self, id: TypeId) -> Result<u64> {
        match self.get(id) {
            Type::Integer(bits) => Ok(u64::from(*bits)),
            Type::Vector { len, element } => Ok(self.bits(*element)?.saturating_mul(u64::from(*len))),
            _ => Ok(self.store_size(id)? * 8),
        }
    }

    /// The alignment of a value in memory that nothing else is said about.
    pub fn align(&self, id: TypeId) -> u64 {
        match self.get(id) {
            Type::Integer(bits) => {
                let usual = self.layout.usual_integers.get(*bits as usize);
                usual.copied().unwrap_or_else(|| self.layout.integer(*bits))
            }
            Type::Vector { len, element } => {
                let bits = self.bits(*element).unwrap_or(8).saturating_mul(u64::from(*len));
                let listed = self.layout.vectors.iter().find(|(width, _)| *width == bits);
                listed.map_or_else(|| bits.div_ceil(8).min(1 << 32).next_power_of_two(), |(_, align)| *align)
            }
            Type::Array { element, .. } => self.align(*element),
            // One that is too large has no size, which is asked for too.
            Type::Struct { .. } => self.struct_layout(id).map_or(1, |layout| layout.align),
            Type::Half | Type::BFloat => 2,
            Type::Float => 4,
            Type::Fp128 | Type::PpcFp128 | Type::X86Fp80 => 16,
            Type::Double | Type::Pointer { .. } => 8,
            Type::Void
            | Type::Label
            | Type::Metadata
            | Type::Token
            | Type::Opaque(_)
            | Type::Function { .. }
            | Type::Other(_) => 1,
        }
    }

    fn struct_layout(&self, id: TypeId) -> Result<&StructLayout> {
        let Type::Struct { packed, fields, .. } = self.get(id) else {
            return Err(Error::unsupported(format!("a field of {}", self.display(id))));
        };
        let structs = self.structs.get_or_init(|| vec![OnceLock::new(); self.types.len()]);
        let known = &structs[id.0 as usize];
        if let Some(layout) = known.get() {
            return Ok(layout);
        }
        let mut layout = StructLayout { size: 0, align: 1, offsets: Box::default() };
        let mut offsets = Vec::with_capacity(fields.len());
        for field in fields {
            // The size first: what is too large has no alignment.
            let size = self.alloc_size(*field)?;
            if !*packed {
                let align = self.align(*field);
                layout.align = layout.align.max(align);
                layout.size = layout.size.next_multiple_of(align);
            }
            offsets.push(layout.size);
            let end = layout.size.checked_add(size).filter(|n| *n < 1 << 62);
            layout.size = end.ok_or_else(|| self.too_large(id))?;
        }
        layout.offsets = offsets.into();
        Ok(known.get_or_init(|| layout))
    }

    fn too_large(&self, id: TypeId) -> Error {
        Error::unsupported(format!("a type of more than 2^62 bytes: {}", self.display(id)))
    }

    /// Where a field of a struct starts.
    pub fn field_offset(&self, id: TypeId, index: usize) -> Result<u64> {
        let layout = self.struct_layout(id)?;
        layout.offsets.get(index).copied().ok_or_else(|| {
            let fields = layout.offsets.len();
            Error::unsupported(format!("field {index} of {}, which has {fields}", self.display(id)))
        })
    }

    /// The type of a part of an aggregate.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no parts has none")]
    pub fn part(&self, id: TypeId, index: u64) -> Option<TypeId> {
        match self.get(id) {
            Type::Struct { fields, .. } => fields.get(usize::try_from(index).ok()?).copied(),
            Type::Array { len, element } => (index < *len).then_some(*element),
            Type::Vector { len, element } => (index < u64::from(*len)).then_some(*element),
            _ => None,
        }
    }

    /// How many parts an aggregate or vector has.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no parts has none")]
    pub fn parts(&self, id: TypeId) -> Option<u64> {
        match self.get(id) {
            Type::Struct { fields, .. } => Some(fields.len() as u64),
            Type::Array { len, .. } => Some(*len),
            Type::Vector { len, .. } => Some(u64::from(*len)),
            _ => None,
        }
    }

    /// The type as `.ll` files write it.
    pub fn display(&self, id: TypeId) -> String {
        let mut text = String::new();
        self.write(id, &mut text);
        text
    }

    pub(crate) fn write(&self, id: TypeId, out: &mut String) {
        self.write_part(id, out, 0, out.len() + LONGEST);
    }

    fn write_part(&self, id: TypeId, out: &mut String, depth: u32, limit: usize) {
        use std::fmt::Write;
        // Writing to a string cannot fail.
        let list = |out: &mut String, ids: &[TypeId]| {
            for (n, id) in ids.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { ", " });
                self.write_part(*id, out, depth + 1, limit);
            }
        };
        if depth > MAX_DEPTH || out.len() > limit {
            return out.push_str("...");
        }
        match self.get(id) {
            Type::Void => out.push_str("void"),
            Type::Half => out.push_str("half"),
            Type::BFloat => out.push_str("bfloat"),
            Type::Float => out.push_str("float"),
            Type::Double => out.push_str("double"),
            Type::X86Fp80 => out.push_str("x86_fp80"),
            Type::Fp128 => out.push_str("fp128"),
            Type::PpcFp128 => out.push_str("ppc_fp128"),
            Type::Label => out.push_str("label"),
            Type::Metadata => out.push_str("metadata"),
            Type::Token => out.push_str("token"),
            Type::Integer(bits) => write!(out, "i{bits}").unwrap_or_default(),
            Type::Pointer { space: 0, .. } => out.push_str("ptr"),
            Type::Pointer { space, .. } => write!(out, "ptr addrspace({space})").unwrap_or_default(),
            Type::Array { len, element } => {
                write!(out, "[{len} x ").unwrap_or_default();
                self.write_part(*element, out, depth + 1, limit);
                out.push(']');
            }
            Type::Vector { len, element } => {
                write!(out, "<{len} x ").unwrap_or_default();
                self.write_part(*element, out, depth + 1, limit);
                out.push('>');
            }
            Type::Struct { name: Some(name), .. } | Type::Opaque(name) => {
                out.push('%');
                crate::dump::name(name, out);
            }
            Type::Struct { packed, fields, name: None } => {
                out.push_str(if *packed { "<{ " } else { "{ " });
                list(out, fields);
                out.push_str(if *packed { " }>" } else { " }" });
            }
            Type::Function { varargs, ret, params } => {
                self.write_part(*ret, out, depth + 1, limit);
                out.push_str(" (");
                list(out, params);
                match (varargs, params.is_empty()) {
                    (true, true) => out.push_str("..."),
                    (true, false) => out.push_str(", ..."),
                    (false, _) => {}
                }
                out.push(')');
            }
            Type::Other(name) => out.push_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Type, TypeId, Types};

    /// Each twice in the next: walks that visit every part would not end.
    #[test]
    fn structs_in_structs_are_measured_once() {
        let mut types = Types::default();
        types.push(Type::Integer(16), 0).unwrap();
        types.push(Type::Integer(8), 0).unwrap();
        let fields = vec![TypeId(0), TypeId(1)];
        types.push(Type::Struct { packed: false, fields, name: None }, 0).unwrap();
        for n in 2..60 {
            let fields = vec![TypeId(n); 2];
            types.push(Type::Struct { packed: false, fields, name: None }, 0).unwrap();
        }
        let last = |n: u32| TypeId(2 + n);
        assert_eq!((types.store_size(last(0)).unwrap(), types.alloc_size(last(0)).unwrap()), (3, 4));
        assert_eq!(types.store_size(last(50)).unwrap(), 4 << 50);
        assert_eq!(types.field_offset(last(50), 1).unwrap(), 2 << 50);
        assert_eq!(types.align(last(50)), 2);
        assert!(types.field_offset(last(50), 2).is_err());
        // i16 with another alignment.
        types.set_layout("e-i16:64");
        assert_eq!((types.store_size(last(0)).unwrap(), types.alloc_size(last(0)).unwrap()), (9, 16));
        let too_large = types.store_size(last(58)).unwrap_err();
        assert!(too_large.message.contains("2^62"), "{}", too_large.message);
    }
}
