//! Structs and arrays that cross the boundaries of functions: their parts are held as values of the parts' types are.

use super::held;
use warpsmith_base::FxHashMap;
use warpsmith_ir::aggregate::Shape;
use warpsmith_ir::{Type, TypeTable};

/// The aggregates whose parts are held in other types, each with the aggregate of those.
pub(super) fn changed(types: &mut TypeTable) -> FxHashMap<Type, Type> {
    let all: Vec<Type> = types.iter().map(|(ty, _)| ty).collect();
    all.into_iter().map(|ty| (ty, parts_held(types, ty))).filter(|(ty, held)| ty != held).collect()
}

fn parts_held(types: &mut TypeTable, ty: Type) -> Type {
    if !ty.is_aggregate() {
        return held(ty);
    }
    let Some(entry) = types.get(ty) else { return ty };
    let shape = match entry.shape.clone() {
        Shape::Struct { fields, packed, align } => {
            let held: Box<[Type]> = fields.iter().map(|&field| parts_held(types, field)).collect();
            if held == fields {
                return ty;
            }
            Shape::Struct { fields: held, packed, align }
        }
        Shape::Array { element, len } => match parts_held(types, element) {
            same if same == element => return ty,
            element => Shape::Array { element, len },
        },
    };
    types.intern(shape)
}
