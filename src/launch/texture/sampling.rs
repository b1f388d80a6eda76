//! How a texture is read.

use super::*;

impl Reader {
    pub(super) fn reading(
        &mut self,
        path: &str,
        object: &Map<String, Value>,
        image: Option<&Image>,
    ) -> Reading {
        let at = |key: &str| format!("{path}.{key}");
        let mut flag = |key: &str| object.get(key).map(|v| self.boolean(&at(key), v));
        let (normalized, force_unnormalized, srgb) =
            (flag("normalized"), flag("force_unnormalized"), flag("srgb"));
        let mut filter =
            |key: &str| self.named_value(path, object, key, Filter::from_name, Filter::ALL, Filter::name);
        let (filter, mip_filter) = (filter("filter"), filter("mip_filter"));
        let address = match object.get("address") {
            None => Vec::new(),
            Some(Value::Array(items)) if (1..=3).contains(&items.len()) => {
                if let Some(image) = image
                    && (items.len() as u32) < image.dims()
                {
                    let (found, wanted) = (items.len(), image.dims());
                    self.error(
                        &at("address"),
                        format!("expected one for each of {wanted} dimensions, found {found}"),
                    );
                }
                let mode = |(i, item): (usize, &Value)| {
                    let object = Map::from_iter([(format!("address[{i}]"), item.clone())]);
                    let key = format!("address[{i}]");
                    self.named_value(
                        path,
                        &object,
                        &key,
                        AddressMode::from_name,
                        AddressMode::ALL,
                        AddressMode::name,
                    )
                    .unwrap_or(AddressMode::Clamp)
                };
                items.iter().enumerate().map(mode).collect()
            }
            Some(other) => {
                let found = describe(other);
                self.error(
                    &at("address"),
                    format!("expected an array with a mode for each dimension, found {found}"),
                );
                Vec::new()
            }
        };
        let read = self.named_value(path, object, "read", ReadMode::from_name, ReadMode::ALL, ReadMode::name);
        let compare = self.named_value(
            path,
            object,
            "compare",
            Comparison::from_name,
            Comparison::ALL,
            Comparison::name,
        );
        let border = self.decimals(path, object, "border", 4..=4).map(|n| [n[0], n[1], n[2], n[3]]);
        let lod = self.decimals(path, object, "lod", 2..=3).map(|n| LevelRange {
            min: n[0] as f32,
            max: n[1] as f32,
            bias: n.get(2).map_or(0.0, |bias| *bias as f32),
        });
        Reading {
            normalized,
            force_unnormalized,
            filter,
            mip_filter,
            address,
            read,
            border,
            srgb,
            compare,
            lod,
        }
    }

    /// So many numbers.
    pub(super) fn decimals(
        &mut self,
        path: &str,
        object: &Map<String, Value>,
        key: &str,
        count: std::ops::RangeInclusive<usize>,
    ) -> Option<Vec<f64>> {
        let value = object.get(key)?;
        let path = format!("{path}.{key}");
        let items = value.as_array().filter(|items| count.contains(&items.len()));
        let Some(items) = items else {
            let most = count.end();
            self.error(&path, format!("expected an array of {most} numbers, found {}", describe(value)));
            return None;
        };
        let mut number = |(i, item): (usize, &Value)| {
            item.as_f64().unwrap_or_else(|| {
                self.error(&format!("{path}[{i}]"), format!("expected a number, found {}", describe(item)));
                0.0
            })
        };
        Some(items.iter().enumerate().map(&mut number).collect())
    }

    /// One of some names.
    pub(super) fn named_value<T: Copy>(
        &mut self,
        path: &str,
        object: &Map<String, Value>,
        key: &str,
        from_name: fn(&str) -> Option<T>,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let value = object.get(key)?;
        let found = value.as_str().and_then(from_name);
        if found.is_none() {
            let known: Vec<&str> = all.iter().map(|v| name(*v)).collect();
            let message = format!("expected one of {}; found {}", known.join(", "), describe(value));
            self.error(&format!("{path}.{key}"), message);
        }
        found
    }
}
