//! `{"tensor_map": {..}}`: a tensor map as an argument of a launch.

use super::{Arg, LaunchError, Reader, describe};
use serde_json::{Map, Value};
use warpsmith_interp::{
    ElementType, Fill, Im2colWide, Interleave, Swizzle, Tensor, TensorMap, TensorMapError, TensorMapField,
};

/// Whose memory a tensor map describes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TensorMemory {
    /// The buffer of the argument with this index.
    Argument(usize),
    /// The buffer of the launch's `memory` with this name.
    Named(String),
}

/// Which elements a copy by the map takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Traversal {
    /// A box: its sizes, innermost first.
    Box(Vec<u32>),
    /// Pixels.
    Im2col {
        /// The lower corner of the box of pixels, width first.
        lower: Vec<i32>,
        /// The upper corner.
        upper: Vec<i32>,
        /// Channels per pixel.
        channels: u32,
        /// Pixels per column.
        pixels: u32,
        /// Pixels of rows alone.
        wide: Option<Im2colWide>,
    },
}

/// A tensor map to be made when the address of its memory is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorMapSpec {
    /// The memory.
    pub of: TensorMemory,
    /// The tensor; its address counts from the start of the memory.
    pub tensor: Tensor,
    /// What copies take.
    pub traversal: Traversal,
}

impl TensorMapSpec {
    /// The map of memory that starts at an address.
    pub fn encode(&self, start: u64) -> Result<TensorMap, TensorMapError> {
        let global_address = start.wrapping_add(self.tensor.global_address);
        let tensor = Tensor { global_address, ..self.tensor.clone() };
        match &self.traversal {
            Traversal::Box(sizes) => tensor.encode_tiled(sizes),
            Traversal::Im2col { lower, upper, channels, pixels, wide: None } => {
                tensor.encode_im2col(lower, upper, *channels, *pixels)
            }
            Traversal::Im2col { lower, upper, channels, pixels, wide: Some(mode) } => {
                let first = |corner: &[i32]| corner.first().copied().unwrap_or(0);
                tensor.encode_im2col_wide(*mode, first(lower), first(upper), *channels, *pixels)
            }
        }
    }
}

/// The key that a description has for a field of the map.
const fn key(field: TensorMapField) -> Option<&'static str> {
    Some(match field {
        TensorMapField::Object => return None,
        TensorMapField::Rank | TensorMapField::GlobalDim => "sizes",
        TensorMapField::GlobalAddress => "offset",
        TensorMapField::GlobalStride => "strides",
        TensorMapField::BoxDim => "box",
        TensorMapField::ElementStride => "element_strides",
        TensorMapField::ElementType => "type",
        TensorMapField::InterleaveLayout => "interleave",
        TensorMapField::SwizzleMode | TensorMapField::SwizzleAtomicity => "swizzle",
        TensorMapField::FillMode => "fill",
        TensorMapField::LowerCorner => "im2col.lower",
        TensorMapField::UpperCorner => "im2col.upper",
        TensorMapField::ChannelsPerPixel => "im2col.channels",
        TensorMapField::PixelsPerColumn => "im2col.pixels",
    })
}

impl Reader {
    /// What `tensor_map` describes; what memory it is of, is looked at when all memory is known.
    pub(super) fn tensor_map(&mut self, path: &str, value: &Value) -> Arg {
        let nothing = Arg::Value(vec![0; 128]);
        let Some(object) = value.as_object() else {
            self.error(path, format!("expected an object, found {}", describe(value)));
            return nothing;
        };
        const KNOWN: &[&str] = &[
            "of",
            "offset",
            "type",
            "sizes",
            "strides",
            "box",
            "element_strides",
            "interleave",
            "swizzle",
            "fill",
            "im2col",
        ];
        self.known_keys(path, object, KNOWN);
        let errors = self.errors();
        for needed in ["of", "type", "sizes"].into_iter().filter(|needed| !object.contains_key(*needed)) {
            self.error(path, format!("`{needed}` is missing"));
        }
        let at = |key: &str| format!("{path}.{key}");
        let of = match object.get("of") {
            Some(Value::String(name)) => TensorMemory::Named(name.clone()),
            Some(index) => TensorMemory::Argument(self.integer(&at("of"), index, 0, u64::MAX) as usize),
            None => TensorMemory::Argument(0),
        };
        let offset = object.get("offset").map_or(0, |v| self.integer(&at("offset"), v, 0, u64::MAX));
        let ty = self.named(
            path,
            object,
            "type",
            "u8",
            ElementType::from_name,
            ElementType::ALL.iter().map(|t| t.name()),
        );
        let sizes = self.numbers(path, object, "sizes", 0..=1 << 32);
        let strides = self.numbers(path, object, "strides", 0..=u64::MAX);
        let short = |all: Vec<u64>| all.into_iter().map(|n| n as u32).collect::<Vec<_>>();
        let steps = short(self.numbers(path, object, "element_strides", 0..=u32::MAX.into()));
        let interleave = self.named(
            path,
            object,
            "interleave",
            "none",
            Interleave::from_name,
            Interleave::ALL.iter().map(|t| t.name()),
        );
        let swizzle = self.named(
            path,
            object,
            "swizzle",
            "none",
            Swizzle::from_name,
            Swizzle::ALL.iter().map(|t| t.name()),
        );
        let fill =
            self.named(path, object, "fill", "zero", Fill::from_name, Fill::ALL.iter().map(|t| t.name()));
        let traversal = match (object.get("box"), object.get("im2col")) {
            (Some(_), None) => Traversal::Box(short(self.numbers(path, object, "box", 0..=u32::MAX.into()))),
            (None, Some(value)) => self.im2col(&at("im2col"), value),
            _ => {
                self.error(path, "expected one of `box` and `im2col`");
                Traversal::Box(Vec::new())
            }
        };
        let (Some(ty), Some(interleave), Some(swizzle), Some(fill)) = (ty, interleave, swizzle, fill) else {
            return nothing;
        };
        let tensor = Tensor {
            element_strides: steps,
            interleave,
            swizzle,
            oob_fill: fill,
            ..Tensor::new(ty, offset, &sizes, &strides)
        };
        let spec = TensorMapSpec { of, tensor, traversal };
        if self.errors() > errors {
            return nothing;
        }
        // Buffers start at multiples of 256, so that all rules can be looked at here.
        if let Err(error) = spec.encode(0) {
            self.push(map_error(path, &error));
        }
        Arg::TensorMap(spec)
    }

    fn im2col(&mut self, path: &str, value: &Value) -> Traversal {
        let empty = Map::new();
        let object = value.as_object().unwrap_or_else(|| {
            self.error(path, format!("expected an object, found {}", describe(value)));
            &empty
        });
        self.known_keys(path, object, &["lower", "upper", "channels", "pixels", "wide"]);
        for needed in ["lower", "upper", "channels", "pixels"] {
            if value.is_object() && !object.contains_key(needed) {
                self.error(path, format!("`{needed}` is missing"));
            }
        }
        let mut corner = |key: &str| {
            let mut all = Vec::new();
            for (i, n) in object.get(key).and_then(Value::as_array).into_iter().flatten().enumerate() {
                match n.as_i64().and_then(|n| i32::try_from(n).ok()) {
                    Some(n) => all.push(n),
                    None => {
                        let message = format!("expected a whole number of 32 bits, found {}", describe(n));
                        self.error(&format!("{path}.{key}[{i}]"), message);
                    }
                }
            }
            all
        };
        let (lower, upper) = (corner("lower"), corner("upper"));
        let mut number = |key: &str| {
            object
                .get(key)
                .map_or(0, |v| self.integer(&format!("{path}.{key}"), v, 0, u32::MAX.into()) as u32)
        };
        let (channels, pixels) = (number("channels"), number("pixels"));
        let wide = match object.get("wide").map(Value::as_str) {
            None => None,
            Some(Some("w")) => Some(Im2colWide::W),
            Some(Some("w128")) => Some(Im2colWide::W128),
            Some(_) => {
                self.error(&format!("{path}.wide"), "expected \"w\" or \"w128\"");
                None
            }
        };
        Traversal::Im2col { lower, upper, channels, pixels, wide }
    }

    /// One of the names that a key may have.
    fn named<T>(
        &mut self,
        path: &str,
        object: &Map<String, Value>,
        key: &str,
        default: &str,
        from_name: fn(&str) -> Option<T>,
        mut all: impl Iterator<Item = &'static str>,
    ) -> Option<T> {
        let Some(value) = object.get(key) else { return from_name(default) };
        let found = value.as_str().and_then(from_name);
        if found.is_none() {
            let first = all.next().unwrap_or_default().to_owned();
            let known = all.fold(first, |text, name| text + ", " + name);
            self.error(
                &format!("{path}.{key}"),
                format!("expected one of {known}; found {}", describe(value)),
            );
        }
        found
    }

    fn numbers(
        &mut self,
        path: &str,
        object: &Map<String, Value>,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Vec<u64> {
        let Some(value) = object.get(key) else { return Vec::new() };
        let Some(items) = value.as_array().filter(|items| items.len() <= 5) else {
            let message = format!("expected an array of at most 5 numbers, found {}", describe(value));
            self.error(&format!("{path}.{key}"), message);
            return Vec::new();
        };
        let item =
            |(i, item)| self.integer(&format!("{path}.{key}[{i}]"), item, *range.start(), *range.end());
        items.iter().enumerate().map(item).collect()
    }

    /// Checks what memory the maps are of, when all is read.
    pub(super) fn tensor_memory(&mut self, args: &[Arg], memory: &[(String, Arg)]) {
        for (i, arg) in args.iter().enumerate() {
            let Arg::TensorMap(spec) = arg else { continue };
            let path = format!("$.args[{i}].tensor_map.of");
            match &spec.of {
                TensorMemory::Argument(index) => match args.get(*index) {
                    Some(Arg::Buffer { .. } | Arg::SameAs(_)) => {}
                    Some(_) => self.error(&path, format!("argument {index} is not a buffer")),
                    None => self.error(&path, format!("{index} is not the index of an argument")),
                },
                TensorMemory::Named(name) if memory.iter().any(|(known, _)| known == name) => {}
                TensorMemory::Named(name) => {
                    let message = format!("`memory` of the launch has no buffer `{name}`");
                    self.error(&path, message);
                }
            }
        }
    }
}

fn map_error(path: &str, error: &TensorMapError) -> LaunchError {
    let Some(key) = key(error.field) else {
        return LaunchError { path: path.to_owned(), message: error.to_string() };
    };
    let index = error.ordinal.map_or(String::new(), |i| format!("[{i}]"));
    LaunchError { path: format!("{path}.{key}{index}"), message: error.rule.clone() }
}
