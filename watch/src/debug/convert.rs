//! What values become in expressions: addresses, elements of slices, numbers of a common type.

use super::types::Kind;
use super::value::{Location, Type, Value};
use warpsmith_isa::{ScalarType, StateSpace};

impl Value {
    /// Of a slice, as rustc describes them: the address of its first element, and how many there are.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other type is shown as text")]
    pub fn slice(&self) -> Option<(Value, u64)> {
        let Type::Struct(of) = self.ty.plain() else { return None };
        let [data, length] = of.members() else { return None };
        if (data.name.as_str(), length.name.as_str()) != ("data_ptr", "length") {
            return None;
        }
        let count = u64::try_from(self.part(length)?.as_int().ok()?).ok()?;
        let mut data = self.part(data)?;
        let Type::Pointer(space, to) = data.ty.plain() else { return None };
        // The bytes of a string are characters.
        let element = match to.plain() {
            Type::Base(name, ty, _) if of.tag() == "&str" => Type::Base(name.clone(), *ty, Kind::Character),
            other => other.clone(),
        };
        data.ty = Type::Pointer(*space, Box::new(element));
        Some((data, count))
    }

    /// A cast that someone writes: addresses keep their bits, and numbers change as in C.
    pub fn pipe_cast(&self, ty: &Type) -> Result<Value, String> {
        let plain = decay(self);
        match (ty.plain(), plain.ty.plain()) {
            (Type::Pointer(StateSpace::Generic, to), Type::Pointer(space, _)) => {
                Ok(Value::new(Type::Pointer(*space, to.clone()), plain.bits()))
            }
            _ => plain.cast(ty),
        }
    }
}

/// An array as the address of its first element.
pub fn decay(value: &Value) -> Value {
    match (value.ty.plain(), value.at) {
        (Type::Array(of, _), Some(Location::Memory(space, address))) => {
            Value::new(Type::Pointer(space, of.clone()), address.into())
        }
        _ => value.clone(),
    }
}

/// The type that floats are computed in, if one of two values is a float.
pub fn float_type(a: &Value, b: &Value) -> Option<ScalarType> {
    let of = |v: &Value| v.ty.scalar().filter(|ty| ty.is_float());
    match (of(a), of(b)) {
        (None, None) => None,
        (Some(ScalarType::F64), Some(ScalarType::F64)) => Some(ScalarType::F64),
        // A literal takes the type of the other.
        (Some(ScalarType::F64), Some(ty)) | (Some(ty), Some(ScalarType::F64) | None) | (None, Some(ty)) => {
            Some(ty)
        }
        (Some(a), Some(_)) => Some(a),
    }
}

/// The type that integers are computed in.
pub fn integer_type(a: &Value, b: &Value) -> ScalarType {
    let of = |v: &Value| match (v.ty.scalar(), v.ty.plain()) {
        (Some(ty), _) => (ty.bits(), ty.class() == warpsmith_isa::TypeClass::Unsigned),
        (None, Type::Enum(..)) => (32, false),
        (None, _) => (64, true),
    };
    let ((wa, ua), (wb, ub)) = (of(a), of(b));
    match (wa.max(wb) > 32, (ua && wa >= 32.max(wb.min(64))) || (ub && wb >= 32.max(wa.min(64)))) {
        (false, false) => ScalarType::S32,
        (false, true) => ScalarType::U32,
        (true, false) => ScalarType::S64,
        (true, true) => ScalarType::U64,
    }
}
