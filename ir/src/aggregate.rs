//! Structs and arrays: the types that a module makes of others, and how they lie in memory.
//!
//! A [`Type`] names an entry of the module's [`TypeTable`]. Types without a name are equal if they have the same shape; those with a name are
//! what the name says, whatever they hold. An entry holds only types that were there before it, so that none contains itself; the
//! layout of each is computed once, when it is added.

use crate::entities::AggregateId;
use crate::types::Type;
use cranelift_entity::{EntityRef, PrimaryMap};
use std::fmt;
use warpsmith_base::FxHashMap;
use warpsmith_diag::Span;

/// How deep types may hold each other.
pub const MAX_DEPTH: u32 = 64;

/// How many bytes a value may take, padding included.
pub const MAX_VALUE_BYTES: u64 = 1 << 16;

/// How many scalars and vectors a value may consist of. What is larger stays in memory and is moved by `memcpy`.
pub const MAX_VALUE_PARTS: u64 = 4096;

/// What an aggregate consists of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Fields one behind the other, as C lays them out.
    Struct {
        /// The fields' types, in order.
        fields: Box<[Type]>,
        /// No padding: each field follows the one before, and the alignment is 1.
        packed: bool,
        /// An alignment beyond that of the fields.
        align: Option<u32>,
    },
    /// So many elements of one type.
    Array {
        /// The type of an element.
        element: Type,
        /// How many.
        len: u64,
    },
}

/// An entry of the table.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// The name, for types that have one.
    pub name: Option<String>,
    /// What it consists of.
    pub shape: Shape,
    /// Where in the text it was written.
    pub span: Span,
    /// Where each field of a struct begins.
    offsets: Box<[u64]>,
    size: u64,
    align: u32,
    parts: u64,
    depth: u32,
}

/// Why a path leads nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathError {
    /// The step with this position goes into a type that has no fields.
    NotAnAggregate(usize),
    /// The step with this position asks for a field that is not among so many.
    NoField(usize, u64),
}

/// The aggregates of a module.
#[derive(Clone, Default, Debug)]
pub struct TypeTable {
    entries: PrimaryMap<AggregateId, Aggregate>,
    unnamed: FxHashMap<Shape, AggregateId>,
    named: FxHashMap<String, AggregateId>,
}

impl TypeTable {
    /// A struct without a name, laid out as C does.
    pub fn structure(&mut self, fields: &[Type]) -> Type {
        self.intern(Shape::Struct { fields: fields.into(), packed: false, align: None })
    }

    /// An array without a name.
    pub fn array(&mut self, element: Type, len: u64) -> Type {
        self.intern(Shape::Array { element, len })
    }

    /// The type of a shape without a name, if there is one.
    pub fn find(&self, shape: &Shape) -> Option<Type> {
        self.unnamed.get(shape).copied().map(Type::aggregate)
    }

    /// The type of a shape without a name: the one that is there, or a new one.
    pub fn intern(&mut self, shape: Shape) -> Type {
        if let Some(known) = self.find(&shape) {
            return known;
        }
        let id = self.push(None, shape.clone(), Span::NONE);
        self.unnamed.insert(shape, id);
        Type::aggregate(id)
    }

    /// A new type with a name. A name that is taken, or that the text form cannot have, is changed.
    pub fn named(&mut self, name: &str, shape: Shape) -> Type {
        let mut name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$') { c } else { '_' })
            .collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$')) {
            name.insert(0, '_');
        }
        if name.ends_with('.') {
            name.push('_');
        }
        if self.named.contains_key(&name) || !is_free(&name) {
            // The number of the entry makes the second choice unique but for names that someone gave.
            name = format!("{name}.{}", self.entries.len());
            while self.named.contains_key(&name) || !is_free(&name) {
                name.push('_');
            }
        }
        let id = self.push(Some(name.clone()), shape, Span::NONE);
        self.named.insert(name, id);
        Type::aggregate(id)
    }

    pub(crate) fn set_span(&mut self, ty: Type, span: Span) {
        if let Some(entry) = ty.as_aggregate().and_then(|id| self.entries.get_mut(id)) {
            entry.span = span;
        }
    }

    fn push(&mut self, name: Option<String>, shape: Shape, span: Span) -> AggregateId {
        let (mut offsets, mut size, mut align, mut parts, mut depth) = (Vec::new(), 0u64, 1u32, 0u64, 0);
        match &shape {
            Shape::Struct { fields, packed, align: least } => {
                for &field in fields {
                    let of_field = if *packed { 1 } else { self.align(field) };
                    let at = size.checked_next_multiple_of(of_field.into()).unwrap_or(u64::MAX);
                    offsets.push(at);
                    size = at.saturating_add(self.size(field));
                    align = align.max(of_field);
                    parts = parts.saturating_add(self.parts(field));
                    depth = depth.max(self.depth(field));
                }
                align = align.max(least.filter(|align| align.is_power_of_two()).unwrap_or(1));
                size = size.checked_next_multiple_of(align.into()).unwrap_or(u64::MAX);
            }
            Shape::Array { element, len } => {
                size = self.size(*element).saturating_mul(*len);
                align = self.align(*element);
                parts = self.parts(*element).saturating_mul(*len);
                depth = self.depth(*element);
            }
        }
        let offsets = offsets.into();
        self.entries.push(Aggregate { name, shape, span, offsets, size, align, parts, depth: depth + 1 })
    }

    /// The entry of a type. `None` for other types, and for those of another module.
    pub fn get(&self, ty: Type) -> Option<&Aggregate> {
        self.entries.get(ty.as_aggregate()?)
    }

    /// Every entry, in the order of addition.
    pub fn iter(&self) -> impl Iterator<Item = (Type, &Aggregate)> {
        self.entries.iter().map(|(id, entry)| (Type::aggregate(id), entry))
    }

    /// True without aggregates.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The type of a name: one of the table's, or a scalar or vector.
    pub fn by_name(&self, name: &str) -> Option<Type> {
        self.named.get(name).map(|&id| Type::aggregate(id)).or_else(|| {
            let number = number_of(name)?;
            self.entries.is_valid(AggregateId::new(number)).then(|| Type::aggregate(AggregateId::new(number)))
        })
    }

    /// The bytes that a type takes in memory, padding at its end included; in an aggregate, an `i1` takes one. Saturates where no memory
    /// could hold them.
    pub fn size(&self, ty: Type) -> u64 {
        match ty.as_aggregate() {
            Some(id) => self.entries.get(id).map_or(0, |entry| entry.size),
            // What is not a power of two of bytes takes the next one, so that elements of arrays are aligned.
            None if ty.is_invalid() => 0,
            None => ty.bits().div_ceil(8).next_power_of_two().into(),
        }
    }

    /// The alignment of a type in memory.
    pub fn align(&self, ty: Type) -> u32 {
        match ty.as_aggregate() {
            Some(id) => self.entries.get(id).map_or(1, |entry| entry.align),
            None => ty.bits().div_ceil(8).next_power_of_two(),
        }
    }

    /// How many scalars and vectors a value of the type consists of: 1 for one that is not an aggregate.
    pub fn parts(&self, ty: Type) -> u64 {
        match ty.as_aggregate() {
            Some(id) => self.entries.get(id).map_or(0, |entry| entry.parts),
            None => 1,
        }
    }

    /// How deep the type holds others: 0 for one that is not an aggregate.
    pub fn depth(&self, ty: Type) -> u32 {
        self.get(ty).map_or(0, |entry| entry.depth)
    }

    /// The type and the offset of a field or element.
    pub fn field(&self, ty: Type, n: u64) -> Option<(Type, u64)> {
        let entry = self.get(ty)?;
        match &entry.shape {
            Shape::Struct { fields, .. } => {
                let n = usize::try_from(n).ok()?;
                Some((*fields.get(n)?, *entry.offsets.get(n)?))
            }
            Shape::Array { element, len } => {
                (n < *len).then(|| (*element, self.size(*element).saturating_mul(n)))
            }
        }
    }

    /// How many fields or elements a type has; 0 for one that is not an aggregate.
    pub fn fields(&self, ty: Type) -> u64 {
        self.get(ty).map_or(0, |entry| match &entry.shape {
            Shape::Struct { fields, .. } => fields.len() as u64,
            Shape::Array { len, .. } => *len,
        })
    }

    /// What a path of fields leads to: its type, its offset, and the position of its first part among [`TypeTable::parts_of`] the whole.
    pub fn at_path(&self, mut ty: Type, path: &[u32]) -> Result<Place, PathError> {
        let (mut offset, mut part) = (0u64, 0u64);
        for (step, &n) in path.iter().enumerate() {
            let entry = self.get(ty).ok_or(PathError::NotAnAggregate(step))?;
            let missing = PathError::NoField(step, self.fields(ty));
            let (inner, at) = self.field(ty, n.into()).ok_or(missing)?;
            part = part.saturating_add(match &entry.shape {
                Shape::Struct { fields, .. } => fields
                    .iter()
                    .take(n as usize)
                    .map(|&before| self.parts(before))
                    .fold(0, u64::saturating_add),
                Shape::Array { element, .. } => self.parts(*element).saturating_mul(n.into()),
            });
            offset = offset.saturating_add(at);
            ty = inner;
        }
        Ok(Place { ty, offset, part })
    }

    /// The scalars and vectors that a value consists of, in order, each with its offset. At most [`MAX_VALUE_PARTS`].
    pub fn parts_of(&self, ty: Type) -> Vec<(Type, u64)> {
        let mut parts = Vec::new();
        self.collect(ty, 0, 0, &mut parts);
        parts
    }

    fn collect(&self, ty: Type, offset: u64, depth: u32, parts: &mut Vec<(Type, u64)>) {
        if !ty.is_aggregate() {
            if !ty.is_invalid() {
                parts.push((ty, offset));
            }
            return;
        }
        // What has no parts is not walked: it may have any number of elements.
        if self.parts(ty) == 0 || depth > MAX_DEPTH {
            return;
        }
        for n in 0..self.fields(ty) {
            if parts.len() as u64 >= MAX_VALUE_PARTS {
                return;
            }
            if let Some((inner, at)) = self.field(ty, n) {
                self.collect(inner, offset.saturating_add(at), depth + 1, parts);
            }
        }
    }

    /// The type as the text form writes it.
    pub fn display(&self, ty: Type) -> DisplayType<'_> {
        DisplayType { types: self, ty }
    }
}

/// Where a path leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The type there.
    pub ty: Type,
    /// Bytes from the beginning of the whole.
    pub offset: u64,
    /// Its first part among those of the whole.
    pub part: u64,
}

impl Aggregate {
    /// The bytes it takes in memory.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Its alignment.
    pub fn align(&self) -> u32 {
        self.align
    }

    /// The types it is made of, each once for a struct's field.
    pub fn holds(&self) -> &[Type] {
        match &self.shape {
            Shape::Struct { fields, .. } => fields,
            Shape::Array { element, .. } => std::slice::from_ref(element),
        }
    }
}

/// A type with the name that it has in a module: [`TypeTable::display`].
#[derive(Clone, Copy)]
pub struct DisplayType<'a> {
    types: &'a TypeTable,
    ty: Type,
}

impl fmt::Display for DisplayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.types.get(self.ty).and_then(|entry| entry.name.as_ref()) {
            Some(name) => f.write_str(name),
            None => self.ty.fmt(f),
        }
    }
}

/// What a type consists of, as the text form writes it behind `type NAME =`.
pub(crate) struct DisplayShape<'a>(pub(crate) &'a TypeTable, pub(crate) &'a Shape);

impl fmt::Display for DisplayShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DisplayShape(types, shape) = self;
        match shape {
            Shape::Struct { fields, packed, align } => {
                if let Some(align) = align {
                    write!(f, "align({align}) ")?;
                }
                f.write_str(if *packed { "packed {" } else { "{" })?;
                for (n, field) in fields.iter().enumerate() {
                    write!(f, "{}{}", if n == 0 { "" } else { ", " }, types.display(*field))?;
                }
                f.write_str("}")
            }
            Shape::Array { element, len } => write!(f, "[{}; {len}]", types.display(*element)),
        }
    }
}

/// The number of a name that the text form gives to types without one: `t7`.
fn number_of(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('t')?;
    let plain = !digits.starts_with('0') || digits == "0";
    let number: u32 = digits.parse().ok().filter(|_| plain && digits.bytes().all(|b| b.is_ascii_digit()))?;
    (number != u32::MAX).then_some(number as usize)
}

/// Words that begin a type, and cannot be the name of one.
pub(crate) const TYPE_WORDS: [&str; 4] = ["packed", "align", "byval", "invalid"];

/// True for a name that a type can have: of no other type, and not of the form that types without a name have.
pub(crate) fn is_free(name: &str) -> bool {
    Type::from_name(name).is_none() && number_of(name).is_none() && !TYPE_WORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_layout() {
        let mut types = TypeTable::default();
        let pair = types.structure(&[Type::I8, Type::I32]);
        assert_eq!((types.size(pair), types.align(pair)), (8, 4));
        assert_eq!(types.structure(&[Type::I8, Type::I32]), pair);
        let packed =
            types.intern(Shape::Struct { fields: [Type::I8, Type::I32].into(), packed: true, align: None });
        assert_eq!((types.size(packed), types.align(packed)), (5, 1));
        let wide = types.intern(Shape::Struct { fields: [Type::I8].into(), packed: false, align: Some(16) });
        assert_eq!((types.size(wide), types.align(wide)), (16, 16));
        let array = types.array(pair, 3);
        let whole = types.structure(&[Type::I16, array, Type::F64]);
        assert_eq!((types.size(whole), types.align(whole), types.parts(whole)), (40, 8, 8));
        assert_eq!(types.at_path(whole, &[1, 2, 1]), Ok(Place { ty: Type::I32, offset: 24, part: 6 }));
        assert_eq!(types.at_path(whole, &[1, 3]), Err(PathError::NoField(1, 3)));
        assert_eq!(types.at_path(whole, &[0, 0]), Err(PathError::NotAnAggregate(1)));
        let offsets: Vec<u64> = types.parts_of(whole).into_iter().map(|(_, at)| at).collect();
        assert_eq!(offsets, [0, 4, 8, 12, 16, 20, 24, 32]);
    }

    #[test]
    fn sizes_saturate_and_what_is_empty_is_not_walked() {
        let mut types = TypeTable::default();
        let mut ty = types.array(Type::I8, 1 << 40);
        for _ in 0..70 {
            ty = types.array(ty, 1 << 40);
        }
        assert_eq!((types.size(ty), types.parts(ty), types.depth(ty)), (u64::MAX, u64::MAX, 71));
        let empty = types.structure(&[]);
        let many = types.array(empty, u64::MAX);
        assert_eq!((types.size(many), types.parts_of(many).len()), (0, 0));
    }

    #[test]
    fn names_are_unique_and_can_be_written() {
        let mut types = TypeTable::default();
        let shape = Shape::Array { element: Type::I8, len: 2 };
        let named: Vec<Type> = ["a", "a", "i32", "t7", "class std::x", "3d", ""]
            .map(|name| types.named(name, shape.clone()))
            .into();
        let names: Vec<String> = named.into_iter().map(|ty| types.display(ty).to_string()).collect();
        assert_eq!(names, ["a", "a.1", "i32.2", "t7.3", "class_std__x", "_3d", "_"]);
        assert_eq!(types.by_name("a.1").and_then(|ty| types.get(ty)).map(Aggregate::size), Some(2));
    }
}
