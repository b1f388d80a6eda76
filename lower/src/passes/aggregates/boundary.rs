//! What crosses the boundary of a function: one value for all results, made of the parts of each and taken apart again.

use super::SMALL;
use warpsmith_ir::aggregate::Shape;
use warpsmith_ir::{Function, Inst, InstBuilder, IntCC, Type, TypeTable, Value};

/// The type that passes these results: that of the only one, or a struct of them; with many parts, an array of integers.
pub(super) fn passed(types: &mut TypeTable, results: &[Type]) -> Option<Type> {
    match *results {
        [] => None,
        [only] if !only.is_aggregate() => Some(only),
        _ => {
            let whole = whole(types, results);
            Some(passed_whole(types, whole))
        }
    }
}

/// The type that all results are together.
pub(super) fn whole(types: &mut TypeTable, results: &[Type]) -> Type {
    match *results {
        [only] => only,
        _ => types.structure(results),
    }
}

/// The type that passes an aggregate.
pub(super) fn passed_whole(types: &mut TypeTable, ty: Type) -> Type {
    if types.parts(ty) <= SMALL { bytes_for_bits(types, ty) } else { words(types, ty) }
}

/// The type with an `i8` for each `i1`.
fn bytes_for_bits(types: &mut TypeTable, ty: Type) -> Type {
    if ty == Type::I1 {
        return Type::I8;
    }
    if !types.parts_of(ty).iter().any(|(part, _)| *part == Type::I1) {
        return ty;
    }
    let Some(entry) = types.get(ty) else { return ty };
    let shape = match entry.shape.clone() {
        Shape::Struct { fields, packed, align } => {
            let fields = fields.iter().map(|&field| bytes_for_bits(types, field)).collect();
            Shape::Struct { fields, packed, align }
        }
        Shape::Array { element, len } => Shape::Array { element: bytes_for_bits(types, element), len },
    };
    types.intern(shape)
}

/// Integers as wide as the alignment allows that take the place of a type.
fn words(types: &mut TypeTable, ty: Type) -> Type {
    let (size, align) = (types.size(ty), types.align(ty));
    let width = align.min(8);
    let element = Type::int(8 * width).unwrap_or(Type::I8);
    let array = types.array(element, size / u64::from(width));
    if align == width {
        return array;
    }
    types.intern(Shape::Struct { fields: [array].into(), packed: false, align: Some(align) })
}

/// A value of a passed type from its parts, in front of an instruction.
pub(super) fn build(
    func: &mut Function,
    types: &TypeTable,
    before: Inst,
    ty: Type,
    parts: &mut impl Iterator<Item = Value>,
) -> Option<Value> {
    if !ty.is_aggregate() {
        let part = parts.next()?;
        let is_bit = func.dfg.ty(part) == Type::I1 && ty == Type::I8;
        return Some(if is_bit { func.before(before).zext(Type::I8, part) } else { part });
    }
    let fields: Option<Vec<Value>> =
        (0..types.fields(ty)).map(|n| build(func, types, before, types.field(ty, n)?.0, parts)).collect();
    Some(func.before(before).aggregate(ty, &fields?))
}

/// The parts of a passed value, of the types of the parts of `ty`.
pub(super) fn open(
    func: &mut Function,
    types: &TypeTable,
    before: Inst,
    passed: Value,
    ty: Type,
) -> Vec<Value> {
    let wanted = types.parts_of(ty);
    let mut paths = Vec::new();
    paths_of(types, func.dfg.ty(passed), &mut Vec::new(), &mut paths);
    let parts = wanted.into_iter().zip(paths);
    let parts = parts.map(|((part, _), (given, path))| {
        let value = func.before(before).extract_value(given, passed, &path);
        if part == Type::I1 && given == Type::I8 { is_set(func, before, value) } else { value }
    });
    parts.collect()
}

/// The `i1` that a byte denotes.
pub(super) fn is_set(func: &mut Function, before: Inst, byte: Value) -> Value {
    let zero = func.before(before).iconst(Type::I8, 0);
    func.before(before).icmp(IntCC::Ne, byte, zero)
}

/// The parts of a type with the path to each.
fn paths_of(types: &TypeTable, ty: Type, path: &mut Vec<u32>, all: &mut Vec<(Type, Vec<u32>)>) {
    if !ty.is_aggregate() {
        return all.push((ty, path.clone()));
    }
    if types.parts(ty) == 0 {
        return;
    }
    for n in 0..types.fields(ty) {
        if let Some((field, _)) = types.field(ty, n) {
            path.push(n as u32);
            paths_of(types, field, path, all);
            path.pop();
        }
    }
}
