//! Values: numbers, texts, types and buffers.

use super::*;

impl Reader {
    /// The content that `buffer_type` with `values`, `iota`, `random` or `zero` describes.
    pub fn typed_buffer(&mut self, path: &str, object: &Map<String, Value>) -> Vec<u8> {
        let at = |key: &str| format!("{path}.{key}");
        let ty = object.get("buffer_type").and_then(|v| self.scalar_type(&at("buffer_type"), v));
        let mut kinds =
            ["values", "iota", "random", "zero"].into_iter().filter(|key| object.contains_key(*key));
        let (Some(kind), None) = (kinds.next(), kinds.next()) else {
            let message = format!(
                "expected exactly one of values, iota, random, zero; found the keys {}",
                keys(object)
            );
            self.error(path, message);
            return Vec::new();
        };
        let parameters: &[&str] = match kind {
            "iota" => &["start", "step"],
            "random" if object.contains_key("edges") => &["seed", "edges"],
            "random" => &["seed", "range"],
            _ => &[],
        };
        self.known_keys(path, object, &[&["buffer_type", kind], parameters].concat());
        let Some(ty) = ty else { return Vec::new() };
        let size = ty.bytes().unwrap_or(1) as u64;
        let content = &object[kind];
        if kind == "values" {
            let Some(values) = content.as_array() else {
                self.error(&at(kind), format!("expected an array, found {}", describe(content)));
                return Vec::new();
            };
            if !self.reserve(&at(kind), size.saturating_mul(values.len() as u64)) {
                return Vec::new();
            }
            let mut bytes = Vec::with_capacity(values.len() * size as usize);
            for (i, value) in values.iter().enumerate() {
                match literal::encode(ty, value) {
                    Ok(scalar) => bytes.extend_from_slice(&scalar),
                    Err(message) => self.error(&format!("{path}.values[{i}]"), message),
                }
            }
            return bytes;
        }
        let count = self.integer(&at(kind), content, 0, u64::MAX);
        if !self.reserve(&at(kind), size.saturating_mul(count)) {
            return Vec::new();
        }
        let bytes = match kind {
            "zero" => Ok(vec![0; (count * size) as usize]),
            "iota" => {
                let number = |key| object.get(key).cloned();
                literal::iota(ty, count, number("start").as_ref(), number("step").as_ref())
            }
            _ => {
                let seed = object.get("seed").map_or(0, |v| self.integer(&at("seed"), v, 0, u64::MAX));
                match object.get("edges") {
                    None | Some(Value::Bool(false)) => literal::random(ty, count, seed, object.get("range")),
                    Some(Value::Bool(true)) => literal::edges(ty, count, seed),
                    Some(other) => {
                        Err(("edges", format!("expected true or false, found {}", describe(other))))
                    }
                }
            }
        };
        bytes.unwrap_or_else(|(key, message)| {
            self.error(&at(key), message);
            Vec::new()
        })
    }

    pub(in crate::launch) fn reserve(&mut self, path: &str, bytes: u64) -> bool {
        let fits = bytes <= MAX_BUFFER_BYTES - self.buffer_bytes;
        if fits {
            self.buffer_bytes += bytes;
        } else {
            self.error(path, format!("the buffers take more than {MAX_BUFFER_BYTES} bytes together"));
        }
        fits
    }

    pub(super) fn scalar(&mut self, path: &str, ty: ScalarType, value: &Value) -> Vec<u8> {
        literal::encode(ty, value).unwrap_or_else(|message| {
            self.error(path, message);
            Vec::new()
        })
    }

    /// The type that a value names, if values of that type can be stored.
    pub fn scalar_type(&mut self, path: &str, value: &Value) -> Option<ScalarType> {
        let name = value.as_str().unwrap_or_default();
        let name_in_ptx = name.trim_start_matches('.');
        // The IR's `i32` is `s32`.
        let ty = scalar_type(name_in_ptx);
        let ty = ty.filter(|ty| literal::has_values(*ty));
        if ty.is_none() {
            let found = if name.is_empty() { describe(value) } else { format!("`{name}`") };
            self.error(
                path,
                format!("expected a type with values in memory, such as u32 or f32; found {found}"),
            );
        }
        ty
    }

    /// Reads a string.
    pub fn string<'v>(&mut self, path: &str, value: &'v Value) -> &'v str {
        value.as_str().unwrap_or_else(|| {
            self.error(path, format!("expected a string, found {}", describe(value)));
            ""
        })
    }

    /// The bytes of a string of hexadecimal digits.
    pub fn hex(&mut self, path: &str, value: &Value) -> Vec<u8> {
        literal::bytes_from_hex(self.string(path, value)).unwrap_or_else(|message| {
            self.error(path, message);
            Vec::new()
        })
    }

    /// A whole number from `low` to `high`.
    pub fn integer(&mut self, path: &str, value: &Value, low: u64, high: u64) -> u64 {
        match value.as_u64() {
            Some(n) if (low..=high).contains(&n) => n,
            _ => {
                let range =
                    if high == u64::MAX { format!("from {low} up") } else { format!("{low} to {high}") };
                self.error(path, format!("expected a whole number {range}, found {}", describe(value)));
                low
            }
        }
    }

    pub(super) fn dim(&mut self, path: &str, value: &Value, limits: [u32; 3]) -> [u32; 3] {
        let Some(items) = value.as_array().filter(|items| (1..=3).contains(&items.len())) else {
            self.error(path, format!("expected [x, y, z], found {}", describe(value)));
            return [1; 3];
        };
        let mut dim = [1; 3];
        for (axis, (item, limit)) in items.iter().zip(limits).enumerate() {
            dim[axis] = self.integer(&format!("{path}[{axis}]"), item, 1, limit.into()) as u32;
        }
        dim
    }
}
