//! `{"texture": {..}}`, `{"surface": {..}}` and `{"sampler": {..}}`: as arguments of a launch, bound to references of the module by name, and as
//! handles in buffers.

mod sampling;

use super::{Arg, Reader, describe};
use serde_json::{Map, Value};
use warpsmith_interp::texture::{
    AddressMode, ChannelType, Comparison, Filter, Format, Image, ImageError, ImageField, Initial, LevelRange,
    ReadMode, Sampler,
};

/// A texture, surface or sampler, to be made when the launch is.
#[derive(Clone, PartialEq, Debug)]
pub enum Resource {
    /// Texels, and how they are read.
    Texture(Texels, Reading),
    /// Texels.
    Surface(Texels),
    /// How texels are read.
    Sampler(Reading),
}

/// The texels of a texture or surface.
#[derive(Clone, PartialEq, Debug)]
pub struct Texels {
    /// How they lie in memory.
    pub image: Image,
    /// The memory.
    pub memory: TexelMemory,
}

/// The memory of texels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TexelMemory {
    /// Its own, with this content.
    Bytes(Vec<u8>),
    /// Its own, of zeros that the host did not write.
    Unwritten,
    /// The buffer, or the texels, of an argument.
    OfArgument(usize),
    /// The texels of what is bound to a name.
    OfBinding(String),
}

/// How texels are read, as far as a description says.
#[derive(Clone, PartialEq, Debug, Default)]
#[allow(missing_docs)]
pub struct Reading {
    pub normalized: Option<bool>,
    pub force_unnormalized: Option<bool>,
    pub filter: Option<Filter>,
    pub mip_filter: Option<Filter>,
    pub address: Vec<AddressMode>,
    pub read: Option<ReadMode>,
    pub border: Option<[f64; 4]>,
    pub srgb: Option<bool>,
    pub compare: Option<Comparison>,
    pub lod: Option<LevelRange>,
}

impl Reading {
    /// The sampler; what is not said, the initial value of the module's variable says, if it has one.
    pub fn sampler(&self, initial: Option<&Initial>) -> Sampler {
        let default = initial.map_or_else(Sampler::default, Initial::sampler);
        Sampler {
            normalized: self.normalized.unwrap_or(default.normalized),
            force_unnormalized: self.force_unnormalized.unwrap_or(default.force_unnormalized),
            filter: self.filter.unwrap_or(default.filter),
            mip_filter: self.mip_filter.unwrap_or(default.mip_filter),
            address: std::array::from_fn(|i| self.address.get(i).copied().unwrap_or(default.address[i])),
            read: self.read.unwrap_or(default.read),
            border: self.border.unwrap_or(default.border),
            srgb: self.srgb.unwrap_or(default.srgb),
            compare: self.compare.unwrap_or(default.compare),
            lod: self.lod.unwrap_or(default.lod),
        }
    }
}

impl Resource {
    /// Its texels, if it has some.
    pub fn texels(&self) -> Option<&Texels> {
        match self {
            Resource::Texture(texels, _) | Resource::Surface(texels) => Some(texels),
            Resource::Sampler(_) => None,
        }
    }
}

/// A handle that is put somewhere in the bytes of an argument.
#[derive(Clone, PartialEq, Debug)]
pub struct HandleSpec {
    /// The argument: a buffer, or a parameter by value.
    pub arg: usize,
    /// Where in its bytes.
    pub at: u64,
    /// What the handle denotes.
    pub resource: Resource,
}

/// What a launch names one of.
pub(super) const RESOURCES: [&str; 3] = ["texture", "surface", "sampler"];

/// Bytes of a handle.
pub(super) const HANDLE_BYTES: u64 = 8;

const IMAGE_KEYS: [&str; 6] = ["type", "channels", "size", "layers", "cube", "data"];
const LEVEL_KEYS: [&str; 2] = ["levels", "samples"];
const SAMPLER_KEYS: [&str; 6] = ["filter", "mip_filter", "address", "border", "lod", "compare"];

impl Reader {
    /// What `texture`, `surface` or `sampler` describes; `None` after an error.
    pub(super) fn resource(&mut self, path: &str, kind: &str, value: &Value) -> Option<Resource> {
        let Some(object) = value.as_object() else {
            self.error(path, format!("expected an object, found {}", describe(value)));
            return None;
        };
        let errors = self.errors();
        let mut known: Vec<&str> = Vec::new();
        if kind != "sampler" {
            known.extend(IMAGE_KEYS);
        }
        if kind == "texture" {
            known.extend(LEVEL_KEYS);
            known.extend(["normalized", "read", "srgb"]);
        }
        if kind == "sampler" {
            known.push("force_unnormalized");
        }
        if kind != "surface" {
            known.extend(SAMPLER_KEYS);
        }
        self.known_keys(path, object, &known);
        let resource = match kind {
            "texture" => {
                let texels = self.texels(path, object);
                let reading = self.reading(path, object, texels.as_ref().map(|t| &t.image));
                let texels = texels?;
                if let Err((field, message)) = reading.sampler(None).check(texels.image.format()) {
                    self.error(&format!("{path}.{field}"), message);
                }
                Resource::Texture(texels, reading)
            }
            "surface" => Resource::Surface(self.texels(path, object)?),
            _ => Resource::Sampler(self.reading(path, object, None)),
        };
        (self.errors() == errors).then_some(resource)
    }

    fn texels(&mut self, path: &str, object: &Map<String, Value>) -> Option<Texels> {
        let errors = self.errors();
        for needed in ["type", "size"].into_iter().filter(|needed| !object.contains_key(*needed)) {
            self.error(path, format!("`{needed}` is missing"));
        }
        let at = |key: &str| format!("{path}.{key}");
        let ty = self.named_value(
            path,
            object,
            "type",
            ChannelType::from_name,
            ChannelType::ALL,
            ChannelType::name,
        );
        let most = u32::MAX.into();
        let mut number = |key: &str| object.get(key).map(|v| self.integer(&at(key), v, 0, most) as u32);
        let (channels, layers) = (number("channels").unwrap_or(1), number("layers"));
        let (levels, samples) = (number("levels"), number("samples"));
        let cube = object.get("cube").is_some_and(|v| self.boolean(&at("cube"), v));
        let size = match object.get("size").map(|v| (v.as_array(), v)) {
            Some((Some(items), _)) if items.len() <= 3 => {
                let size =
                    |(i, v): (usize, &Value)| self.integer(&format!("{path}.size[{i}]"), v, 0, most) as u32;
                items.iter().enumerate().map(size).collect()
            }
            Some((_, value)) => {
                self.error(&at("size"), format!("expected one to three sizes, found {}", describe(value)));
                Vec::new()
            }
            None => Vec::new(),
        };
        if self.errors() > errors {
            return None;
        }
        let format = Format { ty: ty?, channels };
        let image = match Image::with(format, &size, layers, cube, levels, samples) {
            Ok(image) => image,
            Err(error) => {
                self.error(&format!("{path}.{}", key(&error)), error.rule);
                return None;
            }
        };
        let memory = match object.get("data") {
            None => self.reserve(&at("data"), image.bytes().into()).then_some(TexelMemory::Unwritten)?,
            Some(data) => self.texel_data(&at("data"), data, format.ty)?,
        };
        if let TexelMemory::Bytes(bytes) = &memory
            && bytes.len() as u64 != u64::from(image.bytes())
        {
            let (found, wanted) = (bytes.len(), image.bytes());
            let (texel, what) = (format.bytes(), image.describe());
            let message = format!("{found} bytes, and the texels take {wanted}: {texel} bytes each, {what}");
            self.error(&at("data"), message);
        }
        let linear = matches!(memory, TexelMemory::OfArgument(_));
        let image = if linear { image.in_linear_memory() } else { image };
        Some(Texels { image, memory })
    }

    /// Hexadecimal digits, or what buffers are made of; values without a type have that of the channels.
    fn texel_data(&mut self, path: &str, data: &Value, ty: ChannelType) -> Option<TexelMemory> {
        let errors = self.errors();
        let memory = match data {
            Value::String(_) => {
                let bytes = self.hex(path, data);
                self.reserve(path, bytes.len() as u64);
                TexelMemory::Bytes(bytes)
            }
            Value::Array(_) => {
                let object = Map::from_iter([
                    ("buffer_type".to_owned(), Value::from(ty.name())),
                    ("values".to_owned(), data.clone()),
                ]);
                TexelMemory::Bytes(self.typed_buffer(path, &object))
            }
            Value::Object(object) if object.contains_key("same_as") => {
                self.known_keys(path, object, &["same_as"]);
                match &object["same_as"] {
                    Value::String(name) => TexelMemory::OfBinding(name.clone()),
                    index => {
                        let index = self.integer(&format!("{path}.same_as"), index, 0, u64::MAX);
                        TexelMemory::OfArgument(index as usize)
                    }
                }
            }
            Value::Object(object) => {
                let mut object = object.clone();
                if ["values", "iota", "random", "zero"].iter().any(|key| object.contains_key(*key)) {
                    object.entry("buffer_type").or_insert_with(|| ty.name().into());
                }
                match self.arg(path, &Value::Object(object), &[]) {
                    Arg::Buffer { bytes, .. } => TexelMemory::Bytes(bytes),
                    _ if self.errors() > errors => return None,
                    _ => {
                        self.error(path, "expected the content of a buffer");
                        return None;
                    }
                }
            }
            other => {
                let found = describe(other);
                self.error(
                    path,
                    format!("expected hexadecimal digits or the content of a buffer, found {found}"),
                );
                return None;
            }
        };
        (self.errors() == errors).then_some(memory)
    }

    /// What is bound to references of the module, by name.
    pub(super) fn bindings(&mut self, value: &Value) -> Vec<(String, Resource)> {
        let Some(object) = value.as_object() else {
            self.error("$.bindings", format!("expected an object, found {}", describe(value)));
            return Vec::new();
        };
        let mut bindings = Vec::with_capacity(object.len());
        for (name, value) in object {
            if let Some(resource) = self.one_resource(&format!("$.bindings.{name}"), value, &[]) {
                bindings.push((name.clone(), resource));
            }
        }
        bindings
    }

    /// Handles in the bytes of arguments.
    pub(super) fn handles(&mut self, value: &Value, args: &[Arg]) -> Vec<HandleSpec> {
        let Some(items) = value.as_array() else {
            self.error("$.handles", format!("expected an array, found {}", describe(value)));
            return Vec::new();
        };
        let mut handles = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let path = format!("$.handles[{i}]");
            let mut number = |key: &str| match item.get(key) {
                Some(value) => self.integer(&format!("{path}.{key}"), value, 0, u64::MAX),
                None => {
                    self.error(&path, format!("`{key}` is missing"));
                    0
                }
            };
            let (arg, at) = (number("arg") as usize, number("at"));
            let target = match args.get(arg) {
                Some(Arg::SameAs(index)) => args.get(*index),
                found => found,
            };
            match target {
                Some(Arg::Value(bytes) | Arg::Buffer { bytes, .. }) => {
                    let len = bytes.len() as u64;
                    if at.checked_add(HANDLE_BYTES).is_none_or(|end| end > len) {
                        let message =
                            format!("a handle takes {HANDLE_BYTES} bytes, and argument {arg} has {len}");
                        self.error(&format!("{path}.at"), message);
                    }
                }
                Some(_) => {
                    self.error(&format!("{path}.arg"), format!("argument {arg} is neither buffer nor value"))
                }
                None => self.error(&format!("{path}.arg"), format!("{arg} is not the index of an argument")),
            }
            if let Some(resource) = self.one_resource(&path, item, &["arg", "at"]) {
                handles.push(HandleSpec { arg, at, resource });
            }
        }
        handles
    }

    /// An object with exactly one of `texture`, `surface` and `sampler`, and these other keys.
    fn one_resource(&mut self, path: &str, value: &Value, others: &[&str]) -> Option<Resource> {
        let Some(object) = value.as_object() else {
            self.error(
                path,
                format!(
                    "expected {{\"texture\" | \"surface\" | \"sampler\": {{..}}}}, found {}",
                    describe(value)
                ),
            );
            return None;
        };
        self.known_keys(path, object, &[&RESOURCES, others].concat());
        let mut kinds = RESOURCES.into_iter().filter_map(|kind| Some((kind, object.get(kind)?)));
        let (Some((kind, value)), None) = (kinds.next(), kinds.next()) else {
            self.error(path, "expected exactly one of texture, surface, sampler");
            return None;
        };
        self.resource(&format!("{path}.{kind}"), kind, value)
    }

    /// Checks whose memory texels are in, when all is read.
    pub(super) fn texel_memory(
        &mut self,
        args: &[Arg],
        bindings: &[(String, Resource)],
        handles: &[HandleSpec],
    ) {
        let of_args = args.iter().enumerate().filter_map(|(i, arg)| match arg {
            Arg::Resource(resource) => Some((format!("$.args[{i}]"), resource, Some(i))),
            _ => None,
        });
        let of_bindings = bindings.iter().map(|(name, r)| (format!("$.bindings.{name}"), r, None));
        let of_handles =
            handles.iter().enumerate().map(|(i, h)| (format!("$.handles[{i}]"), &h.resource, None));
        for (path, resource, own) in of_args.chain(of_bindings).chain(of_handles) {
            let kind = match resource {
                Resource::Texture(..) => "texture",
                Resource::Surface(_) => "surface",
                Resource::Sampler(_) => continue,
            };
            let Some(texels) = resource.texels() else { continue };
            let path = format!("{path}.{kind}.data.same_as");
            let found = match &texels.memory {
                TexelMemory::Bytes(_) | TexelMemory::Unwritten => continue,
                // Each is made when those before it are.
                TexelMemory::OfArgument(index) if own.is_some_and(|own| *index >= own) => None,
                TexelMemory::OfArgument(index) => match args.get(*index) {
                    Some(Arg::Buffer { bytes, .. }) => Some(bytes.len() as u64),
                    Some(Arg::Resource(resource)) => own_bytes(resource),
                    _ => None,
                },
                TexelMemory::OfBinding(name) => {
                    bindings.iter().find(|(known, _)| known == name).and_then(|(_, r)| own_bytes(r))
                }
            };
            match found {
                Some(bytes) if bytes < u64::from(texels.image.bytes()) => {
                    let wanted = texels.image.bytes();
                    self.error(&path, format!("{bytes} bytes are there, and the texels take {wanted}"));
                }
                Some(_) => {}
                None => self.error(&path, "expected an earlier argument with a buffer or texels of its own, or the name of a binding"),
            }
        }
    }
}

/// The bytes of texels that are in memory of their own.
fn own_bytes(resource: &Resource) -> Option<u64> {
    let texels = resource.texels()?;
    match texels.memory {
        TexelMemory::Bytes(_) | TexelMemory::Unwritten => Some(texels.image.bytes().into()),
        TexelMemory::OfArgument(_) | TexelMemory::OfBinding(_) => None,
    }
}

/// The key that a description has for the field of an image.
fn key(error: &ImageError) -> String {
    match error.field {
        ImageField::Channels => "channels".into(),
        ImageField::Pitch => "pitch".into(),
        ImageField::Size(None) => "size".into(),
        ImageField::Size(Some(i)) => format!("size[{i}]"),
        ImageField::Layers => "layers".into(),
        ImageField::Levels => "levels".into(),
        ImageField::Samples => "samples".into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::launch::{Arg, LaunchSpec, Resource};

    fn launch(args: &str, more: &str) -> String {
        format!(r#"{{"entry":"k","grid":[1],"block":[1],"args":[{args}]{more}}}"#)
    }

    fn paths(text: &str) -> Vec<String> {
        let errors = LaunchSpec::parse(text).expect_err("must be rejected");
        errors.into_iter().map(|e| e.path).collect()
    }

    #[test]
    fn defaults_and_generators() {
        let spec = LaunchSpec::parse(&launch(
            r#"{"texture":{"type":"u16","channels":2,"size":[4,2],"data":{"iota":16}}},
               {"surface":{"type":"f32","size":[2],"layers":3,"data":[1,2,3,4,5,6]}},
               {"texture":{"type":"f32","size":[2],"layers":3,"data":{"same_as":1}}}"#,
            r#","bindings":{"how":{"sampler":{"filter":"linear","lod":[0,1]}}}"#,
        ))
        .unwrap();
        let Arg::Resource(Resource::Texture(texels, reading)) = &spec.args[0] else { panic!("{spec:?}") };
        assert_eq!((texels.image.bytes(), texels.image.dims()), (32, 2));
        assert_eq!(reading.sampler(None), warpsmith_interp::texture::Sampler::default());
        assert_eq!(spec.bindings.len(), 1);
    }

    #[test]
    fn every_mistake_has_its_path() {
        let found = paths(&launch(
            r#"{"texture":{"type":"u8","channels":3,"size":[4]}}, {"texture":{"type":"u8","size":[2147483648]}},
               {"texture":{"type":"u8","size":[4],"data":"000102"}}, {"texture":{"type":"u8","size":[4],"filter":"linear"}},
               {"texture":{"type":"u7","size":[4]}}, {"surface":{"type":"u8","size":[4],"filter":"nearest"}},
               {"texture":{"type":"f32","size":[4,4],"address":["wrap","warp"]}}, {"texture":{"size":[4]}},
               {"texture":{"type":"f32","size":[4],"border":[1,2]}}, {"texture":{"type":"f32","size":[4,5],"cube":true,"layers":6}},
               {"texture":{"type":"u8","size":[4],"data":{"same_as":0}}}"#,
            r#","handles":[{"arg":99,"at":0,"texture":{"type":"u8","size":[4]}},{"arg":0,"surface":{"type":"u8","size":[4]}}],
                "bindings":{"b":{"texture":{},"surface":{}}}"#,
        ));
        let expected = [
            "$.args[0].texture.channels",
            "$.args[1].texture.size[0]",
            "$.args[2].texture.data",
            "$.args[3].texture.filter",
            "$.args[4].texture.type",
            "$.args[5].surface.filter",
            "$.args[6].texture.address[1]",
            "$.args[7].texture",
            "$.args[8].texture.border",
            "$.args[9].texture.size",
            "$.bindings.b",
            "$.handles[0].arg",
            "$.handles[1]",
            "$.args[10].texture.data.same_as",
        ];
        assert_eq!(found, expected);
    }
}
