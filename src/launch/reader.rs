//! JSON to launches: every mistake is recorded with its path, and reading goes on.

mod values;

use super::texture::HANDLE_BYTES;
use super::{Arg, Global, LaunchError, LaunchSpec, MAX_BUFFER_BYTES, literal};
use serde_json::{Map, Value};
use warpsmith_interp::{Arithmetic, Launch, Schedule};
use warpsmith_isa::{ScalarType, limits};

/// Reads the parts of a description and collects all errors, each with the path of its value. What cannot be read gets a value that
/// no later check complains about.
#[derive(Default)]
pub struct Reader {
    errors: Vec<LaunchError>,
    buffer_bytes: u64,
}

impl Reader {
    /// What was read, or everything that is wrong with it.
    pub fn finish<T>(self, read: T) -> Result<T, Vec<LaunchError>> {
        if self.errors.is_empty() { Ok(read) } else { Err(self.errors) }
    }

    /// True without an error so far.
    pub fn is_sound(&self) -> bool {
        self.errors.is_empty()
    }

    /// Records a mistake.
    pub fn error(&mut self, path: &str, message: impl Into<String>) {
        self.errors.push(LaunchError { path: path.to_owned(), message: message.into() });
    }

    pub(super) fn launch(&mut self, value: &Value) -> LaunchSpec {
        let empty = Map::new();
        let object = value.as_object().unwrap_or_else(|| {
            self.error(
                "$",
                format!("expected an object such as {{\"entry\": ...}}, found {}", describe(value)),
            );
            &empty
        });
        if value.is_object() {
            const KNOWN: &[&str] = &[
                "entry",
                "grid",
                "block",
                "cluster",
                "cooperative",
                "dynamic_shared",
                "limits",
                "schedule",
                "seed",
                "args",
                "globals",
                "memory",
                "bindings",
                "handles",
                "poison",
                "arithmetic",
            ];
            self.known_keys("$", object, KNOWN);
            // A module with one kernel needs no `entry`, and one block no `grid`.
            for key in ["block", "args"].into_iter().filter(|key| !object.contains_key(*key)) {
                self.error("$", format!("`{key}` is missing"));
            }
        }
        let mut steps = None;
        match object.get("limits") {
            Some(Value::Object(limits)) => {
                self.known_keys("$.limits", limits, &["steps"]);
                steps = limits.get("steps").map(|v| self.integer("$.limits.steps", v, 1, u64::MAX));
            }
            Some(other) => self.error("$.limits", format!("expected an object, found {}", describe(other))),
            None => {}
        }
        let mut spec = LaunchSpec {
            entry: object.get("entry").map_or_else(String::new, |v| self.string("$.entry", v).to_owned()),
            grid: object.get("grid").map_or([1; 3], |v| self.dim("$.grid", v, limits::GRID)),
            block: object.get("block").map_or([1; 3], |v| self.dim("$.block", v, limits::BLOCK)),
            cluster: object.get("cluster").map(|v| self.dim("$.cluster", v, [limits::CLUSTER_BLOCKS; 3])),
            cooperative: object.get("cooperative").is_some_and(|v| self.boolean("$.cooperative", v)),
            dynamic_shared: object
                .get("dynamic_shared")
                .map_or(0, |v| self.integer("$.dynamic_shared", v, 0, limits::BLOCK_SHARED_BYTES) as u32),
            steps,
            schedule: object.get("schedule").and_then(|v| self.schedule(v)),
            seed: object.get("seed").map(|v| self.integer("$.seed", v, 0, u64::MAX)),
            globals: Vec::new(),
            memory: Vec::new(),
            bindings: Vec::new(),
            handles: Vec::new(),
            poison: object.get("poison").and_then(|v| self.poison(v)),
            arithmetic: object.get("arithmetic").and_then(|v| self.arithmetic(v)),
            args: object.get("args").map_or_else(Vec::new, |v| self.args(v)),
        };
        // A variable may hold the address of an argument's buffer.
        if let Some(globals) = object.get("globals") {
            spec.globals = self.globals(globals, &spec.args);
        }
        if let Some(memory) = object.get("memory") {
            spec.memory = self.memory(memory);
        }
        if let Some(bindings) = object.get("bindings") {
            spec.bindings = self.bindings(bindings);
        }
        if let Some(handles) = object.get("handles") {
            spec.handles = self.handles(handles, &spec.args);
        }
        self.tensor_memory(&spec.args, &spec.memory);
        self.texel_memory(&spec.args, &spec.bindings, &spec.handles);
        let threads: u32 = spec.block.iter().product();
        if threads > limits::BLOCK_THREADS {
            self.error(
                "$.block",
                format!("{threads} threads in a block, and at most {} can be", limits::BLOCK_THREADS),
            );
        }
        if let Some(cluster) = spec.cluster {
            for (axis, ((blocks, cluster), name)) in
                spec.grid.iter().zip(cluster).zip(["x", "y", "z"]).enumerate()
            {
                if blocks % cluster.max(1) != 0 {
                    let message =
                        format!("{blocks} blocks in {name} are not a multiple of the cluster's {cluster}");
                    self.error(&format!("$.grid[{axis}]"), message);
                }
            }
        }
        spec
    }

    pub(super) fn boolean(&mut self, path: &str, value: &Value) -> bool {
        value.as_bool().unwrap_or_else(|| {
            self.error(path, format!("expected true or false, found {}", describe(value)));
            false
        })
    }

    fn schedule(&mut self, value: &Value) -> Option<Schedule> {
        let schedule = self.string("$.schedule", value).parse();
        schedule.map_err(|message: String| self.error("$.schedule", message)).ok()
    }

    fn args(&mut self, value: &Value) -> Vec<Arg> {
        let Some(items) = value.as_array() else {
            self.error("$.args", format!("expected an array, found {}", describe(value)));
            return Vec::new();
        };
        let mut args = Vec::with_capacity(items.len());
        let mut parameter_bytes = 0;
        for (index, item) in items.iter().enumerate() {
            let arg = self.arg(&format!("$.args[{index}]"), item, &args);
            parameter_bytes += match &arg {
                Arg::Value(bytes) => bytes.len() as u64,
                Arg::TensorMap(_) => 128,
                Arg::Buffer { .. } | Arg::SameAs(_) | Arg::Multicast(_) | Arg::Resource(_) => 8,
            };
            args.push(arg);
        }
        if parameter_bytes > limits::KERNEL_PARAM_BYTES {
            let message = format!(
                "the arguments take {parameter_bytes} bytes, and a kernel has at most {}",
                limits::KERNEL_PARAM_BYTES
            );
            self.error("$.args", message);
        }
        args
    }

    fn globals(&mut self, value: &Value, args: &[Arg]) -> Vec<Global> {
        let Some(object) = value.as_object() else {
            self.error("$.globals", format!("expected an object, found {}", describe(value)));
            return Vec::new();
        };
        let global = |(name, value): (&String, &Value)| {
            let path = format!("$.globals.{name}");
            let read_only = value.as_object().is_some_and(Map::is_empty);
            let content = (!read_only).then(|| self.arg(&path, value, args));
            match content {
                Some(Arg::Multicast(_)) => self.error(&path, "a variable is not a multicast address"),
                Some(Arg::TensorMap(_)) => {
                    self.error(&path, "a tensor map is an argument; a variable does not hold one")
                }
                Some(Arg::Resource(_)) => {
                    self.error(&path, "a texture, surface or sampler is an argument, or bound by `bindings`")
                }
                Some(Arg::Value(_) | Arg::Buffer { .. } | Arg::SameAs(_)) | None => {}
            }
            Global { name: name.clone(), content }
        };
        object.iter().map(global).collect()
    }

    /// Buffers by name.
    fn memory(&mut self, value: &Value) -> Vec<(String, Arg)> {
        let Some(object) = value.as_object() else {
            self.error("$.memory", format!("expected an object, found {}", describe(value)));
            return Vec::new();
        };
        let mut memory = Vec::with_capacity(object.len());
        for (name, value) in object {
            let path = format!("$.memory.{name}");
            let errors = self.errors.len();
            let arg = self.arg(&path, value, &[]);
            if errors == self.errors.len() && !matches!(arg, Arg::Buffer { .. }) {
                self.error(&path, "expected a buffer");
            }
            memory.push((name.clone(), arg));
        }
        memory
    }

    /// How many mistakes there are so far.
    pub(super) fn errors(&self) -> usize {
        self.errors.len()
    }

    pub(super) fn push(&mut self, error: LaunchError) {
        self.errors.push(error);
    }

    /// The name of an architecture, or `ideal`.
    fn arithmetic(&mut self, value: &Value) -> Option<Arithmetic> {
        let found = value.as_str().and_then(Arithmetic::from_name);
        if found.is_none() {
            let names: Vec<&str> = Arithmetic::names().collect();
            let found =
                value.as_str().map_or_else(|| describe(value).to_string(), |name| format!("`{name}`"));
            self.error("$.arithmetic", format!("expected one of {}, found {found}", names.join(", ")));
        }
        found
    }

    /// `true`, or the byte itself.
    fn poison(&mut self, value: &Value) -> Option<u8> {
        match (value.as_bool(), value.as_u64().and_then(|n| u8::try_from(n).ok())) {
            (Some(wanted), _) => wanted.then_some(Launch::POISON),
            (None, Some(byte)) => Some(byte),
            (None, None) => {
                let found = describe(value);
                self.error(
                    "$.poison",
                    format!("expected true, false or a byte from 0 to 255, found {found}"),
                );
                None
            }
        }
    }

    pub(super) fn arg(&mut self, path: &str, value: &Value, before: &[Arg]) -> Arg {
        const FORMS: &str = "one of {type, value}, {bytes}, {buffer}, {buffer_zero}, {buffer_type, values | iota | random | zero}, {same_as}, {multicast}, {tensor_map}, {texture}, {surface}, {sampler}";
        let nothing = Arg::Value(Vec::new());
        let Some(object) = value.as_object() else {
            self.error(path, format!("expected {FORMS}, found {}", describe(value)));
            return nothing;
        };
        let at = |key: &str| format!("{path}.{key}");
        const KINDS: [&str; 11] = [
            "type",
            "bytes",
            "buffer",
            "buffer_zero",
            "buffer_type",
            "same_as",
            "multicast",
            "tensor_map",
            "texture",
            "surface",
            "sampler",
        ];
        let mut kinds = KINDS.into_iter().filter_map(|key| Some((key, object.get(key)?)));
        let (Some((kind, value)), None) = (kinds.next(), kinds.next()) else {
            self.error(path, format!("expected exactly {FORMS}, found the keys {}", keys(object)));
            return nothing;
        };
        match kind {
            "type" => {
                self.known_keys(path, object, &["type", "value"]);
                let ty = self.scalar_type(&at("type"), value);
                match (ty, object.get("value")) {
                    (Some(ty), Some(value)) => Arg::Value(self.scalar(&at("value"), ty, value)),
                    (_, None) => {
                        self.error(path, "`value` is missing");
                        nothing
                    }
                    (None, _) => nothing,
                }
            }
            "bytes" => {
                self.known_keys(path, object, &[kind]);
                Arg::Value(self.hex(&at(kind), value))
            }
            "buffer" => {
                self.known_keys(path, object, &[kind]);
                let bytes = self.hex(&at(kind), value);
                self.reserve(&at(kind), bytes.len() as u64);
                Arg::Buffer { bytes, element: None }
            }
            "buffer_zero" => {
                self.known_keys(path, object, &[kind]);
                let bytes = self.integer(&at(kind), value, 0, u64::MAX);
                let bytes = if self.reserve(&at(kind), bytes) { vec![0; bytes as usize] } else { Vec::new() };
                Arg::Buffer { bytes, element: None }
            }
            "buffer_type" => {
                let element = value.as_str().and_then(scalar_type);
                Arg::Buffer { bytes: self.typed_buffer(path, object), element }
            }
            "multicast" => {
                self.known_keys(path, object, &[kind]);
                self.multicast(&at(kind), value, before)
            }
            "texture" | "surface" | "sampler" => {
                self.known_keys(path, object, &[kind]);
                let nothing = Arg::Value(vec![0; HANDLE_BYTES as usize]);
                self.resource(&at(kind), kind, value).map_or(nothing, Arg::Resource)
            }
            "tensor_map" => {
                self.known_keys(path, object, &[kind]);
                self.tensor_map(&at(kind), value)
            }
            _ => {
                self.known_keys(path, object, &[kind]);
                let index = self.integer(&at(kind), value, 0, u64::MAX) as usize;
                match before.get(index) {
                    Some(Arg::Buffer { .. }) => {}
                    Some(_) => self.error(&at(kind), format!("argument {index} is not a buffer")),
                    None => self.error(&at(kind), format!("{index} is not the index of an earlier argument")),
                }
                Arg::SameAs(index)
            }
        }
    }

    fn multicast(&mut self, path: &str, value: &Value, before: &[Arg]) -> Arg {
        let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
            self.error(path, format!("expected an array of buffers, found {}", describe(value)));
            return Arg::Multicast(Vec::new());
        };
        let mut first = None;
        let buffers = items.iter().enumerate().map(|(i, item)| {
            let path = format!("{path}[{i}]");
            if item.get("multicast").is_some() {
                self.error(&path, "a multicast address is not a buffer");
                return Arg::Value(Vec::new());
            }
            let errors = self.errors.len();
            let arg = self.arg(&path, item, before);
            let buffer = if let Arg::SameAs(index) = arg { before.get(index) } else { Some(&arg) };
            match (buffer, first) {
                _ if self.errors.len() > errors => {}
                (Some(Arg::Buffer { bytes, .. }), None) => first = Some(bytes.len()),
                (Some(Arg::Buffer { bytes, .. }), Some(len)) => {
                    if bytes.len() != len {
                        let message = format!("{} bytes, and the first buffer has {len}", bytes.len());
                        self.error(&path, message);
                    }
                }
                _ => self.error(&path, "expected a buffer"),
            }
            arg
        });
        Arg::Multicast(buffers.collect())
    }

    /// Records each key of `object` that is not among `known`.
    pub fn known_keys(&mut self, path: &str, object: &Map<String, Value>, known: &[&str]) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            self.error(
                &format!("{path}.{key}"),
                format!("unknown key; expected one of {}", known.join(", ")),
            );
        }
    }
}

fn keys(object: &Map<String, Value>) -> String {
    if object.is_empty() {
        return "(none)".into();
    }
    object.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// A short name for what was found, for "expected ..., found ...".
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".into(),
        Value::String(text) => {
            let short: String = text.chars().take(24).collect();
            format!("the string {short:?}{}", if short.len() < text.len() { ".." } else { "" })
        }
        scalar => format!("{scalar}"),
    }
}

/// A type by its name in PTX; an integer of the IR, as `i32`, is one with a sign.
fn scalar_type(name: &str) -> Option<ScalarType> {
    let integer = name.strip_prefix('i').map(|bits| format!("s{bits}"));
    ScalarType::from_name(integer.as_deref().unwrap_or(name))
}
