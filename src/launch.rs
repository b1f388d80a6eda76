//! The launch description: which kernel to start, on which grid, with which arguments.
//!
//! One JSON object, used by `warpsmith run --launch`, by the `run:` directives of examples and tests, and by programs:
//!
//! ```json
//! {"entry": "saxpy", "grid": [4, 1, 1], "block": [256, 1, 1],
//!  "args": [{"type": "u32", "value": 1000}, {"type": "f32", "value": 2.5},
//!           {"buffer_type": "f32", "iota": 1000}, {"buffer_zero": 4000}]}
//! ```
//!
//! Every mistake is reported, each with the path of the value it is about (`$.args[2].values[7]`).

use crate::literal;
use serde_json::{Map, Value};
use std::fmt;
use warpsmith_interp::Schedule;
use warpsmith_isa::ScalarType;

/// The most memory the buffers of one launch may take together.
pub const MAX_BUFFER_BYTES: u64 = 1 << 31;

/// The most bytes of parameters a kernel can have (manual section 7.1: 32,764 from PTX ISA 8.1 on).
pub const MAX_PARAM_BYTES: u64 = 32764;

/// A checked launch description.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchSpec {
    /// The name of the kernel.
    pub entry: String,
    /// Blocks (with clusters: still blocks) in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// Bytes behind the `extern` shared array.
    pub dynamic_shared: u32,
    /// The most instructions all threads together may execute before the run is stopped.
    pub steps: Option<u64>,
    /// Runs on one host thread, with the threads in this order.
    pub schedule: Option<Schedule>,
    /// Runs on one host thread, with an interleaving of the threads that the seed decides.
    pub seed: Option<u64>,
    /// One entry per kernel parameter.
    pub args: Vec<Arg>,
}

/// The value of one kernel parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// The bytes of the parameter itself: a scalar or an aggregate passed by value.
    Value(Vec<u8>),
    /// A buffer of global memory; the parameter is its address.
    Buffer {
        /// The content before the launch.
        bytes: Vec<u8>,
        /// The type of its elements, where the description names one.
        element: Option<ScalarType>,
    },
    /// The address of the buffer that an earlier argument made.
    SameAs(usize),
    /// A multicast address (manual section 9.7.9.14) of several buffers of one size: each is made here or by an earlier argument.
    Multicast(Vec<Arg>),
}

/// One mistake of a launch description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchError {
    /// Where: a JSON path such as `$.args[3].value`, or `line:column` for text that is not JSON.
    pub path: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for LaunchError {}

impl LaunchSpec {
    /// A launch without clusters, dynamic shared memory and limits.
    pub fn new(entry: impl Into<String>, grid: [u32; 3], block: [u32; 3], args: Vec<Arg>) -> LaunchSpec {
        let entry = entry.into();
        let (cluster, steps, schedule, seed) = (None, None, None, None);
        LaunchSpec { entry, grid, block, cluster, dynamic_shared: 0, steps, schedule, seed, args }
    }

    /// Reads and checks the JSON text of a description.
    pub fn parse(text: &str) -> Result<LaunchSpec, Vec<LaunchError>> {
        let value: Value = serde_json::from_str(text).map_err(|e| vec![not_json(&e)])?;
        LaunchSpec::from_json(&value)
    }

    /// Checks a description that is JSON already.
    pub fn from_json(value: &Value) -> Result<LaunchSpec, Vec<LaunchError>> {
        let mut reader = Reader::default();
        let spec = reader.launch(value);
        if reader.errors.is_empty() { Ok(spec) } else { Err(reader.errors) }
    }

    /// The number of threads of the whole grid.
    pub fn threads(&self) -> u64 {
        self.grid.iter().chain(&self.block).fold(1, |n: u64, &d| n.saturating_mul(d.into()))
    }
}

/// The error for text that is not JSON at all.
pub(crate) fn not_json(error: &serde_json::Error) -> LaunchError {
    // serde_json's own text ends with the position, which `path` already gives.
    let text = error.to_string();
    let reason = text.rsplit_once(" at line").map_or(text.as_str(), |(reason, _)| reason);
    LaunchError {
        path: format!("{}:{}", error.line(), error.column()),
        message: format!("not JSON: {reason}"),
    }
}

/// Makes the JSON of one argument from its short form on the command line.
///
/// `u32:7` and `f32:0.5` are values; `f32[]:1,2,3` is a buffer of values; `f32[1000]:iota`, `f32[1000]:random` and
/// `f32[1000]:zero` are buffers made up; `bytes:HEX`, `hex:HEX`, `zero:N` and `same:I` are the remaining forms.
pub fn arg_from_flag(text: &str) -> Result<Value, LaunchError> {
    let error = |message: String| LaunchError { path: format!("--arg {text}"), message };
    let (kind, rest) = text.split_once(':').ok_or_else(|| {
        error("expected TYPE:VALUE, TYPE[]:V,V.., TYPE[N]:iota|random|zero, bytes:HEX, hex:HEX, zero:N or same:I".into())
    })?;
    let number = |t: &str| t.parse::<u64>().map_err(|_| error(format!("`{t}` is not a whole number")));
    let mut object = Map::new();
    let mut set = |key: &str, value: Value| object.insert(key.to_owned(), value);
    match kind {
        "bytes" => _ = set("bytes", rest.into()),
        "hex" => _ = set("buffer", rest.into()),
        "zero" => _ = set("buffer_zero", number(rest)?.into()),
        "same" => _ = set("same_as", number(rest)?.into()),
        _ => match kind.split_once('[') {
            None => {
                set("type", kind.into());
                set("value", number_or_text(rest));
            }
            Some((ty, count)) => {
                let count = count.strip_suffix(']').ok_or_else(|| error("`[` without `]`".into()))?;
                set("buffer_type", ty.into());
                match (count, rest) {
                    ("", values) => {
                        let values = values.split(',').filter(|v| !v.is_empty());
                        set("values", values.map(|v| number_or_text(v.trim())).collect())
                    }
                    (n, "iota" | "random" | "zero") => set(rest, number(n)?.into()),
                    (_, other) => return Err(error(format!("`{other}` is not one of iota, random, zero"))),
                };
            }
        },
    }
    Ok(Value::Object(object))
}

/// A JSON number where `text` is one, else a string: `0x3f800000`, `nan`.
fn number_or_text(text: &str) -> Value {
    serde_json::from_str::<serde_json::Number>(text).map_or_else(|_| text.into(), Value::Number)
}

/// Collects errors while it reads.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) errors: Vec<LaunchError>,
    buffer_bytes: u64,
}

impl Reader {
    pub(crate) fn error(&mut self, path: &str, message: impl Into<String>) {
        self.errors.push(LaunchError { path: path.to_owned(), message: message.into() });
    }

    fn launch(&mut self, value: &Value) -> LaunchSpec {
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
                "dynamic_shared",
                "limits",
                "schedule",
                "seed",
                "args",
            ];
            self.known_keys("$", object, KNOWN);
            for key in ["entry", "grid", "block", "args"].into_iter().filter(|key| !object.contains_key(*key))
            {
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
        let spec = LaunchSpec {
            entry: object.get("entry").map_or_else(String::new, |v| self.string("$.entry", v).to_owned()),
            grid: object.get("grid").map_or([1; 3], |v| self.dim("$.grid", v, [0x7fff_ffff, 65535, 65535])),
            block: object.get("block").map_or([1; 3], |v| self.dim("$.block", v, [1024, 1024, 64])),
            cluster: object.get("cluster").map(|v| self.dim("$.cluster", v, [16, 16, 16])),
            dynamic_shared: object
                .get("dynamic_shared")
                .map_or(0, |v| self.integer("$.dynamic_shared", v, 0, 227 * 1024) as u32),
            steps,
            schedule: object.get("schedule").and_then(|v| self.schedule(v)),
            seed: object.get("seed").map(|v| self.integer("$.seed", v, 0, u64::MAX)),
            args: object.get("args").map_or_else(Vec::new, |v| self.args(v)),
        };
        let threads: u32 = spec.block.iter().product();
        if threads > 1024 {
            self.error("$.block", format!("{threads} threads in a block, and at most 1024 can be"));
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
            parameter_bytes += if let Arg::Value(bytes) = &arg { bytes.len() as u64 } else { 8 };
            args.push(arg);
        }
        if parameter_bytes > MAX_PARAM_BYTES {
            let message = format!(
                "the arguments take {parameter_bytes} bytes, and a kernel has at most {MAX_PARAM_BYTES}"
            );
            self.error("$.args", message);
        }
        args
    }

    fn arg(&mut self, path: &str, value: &Value, before: &[Arg]) -> Arg {
        const FORMS: &str = "one of {type, value}, {bytes}, {buffer}, {buffer_zero}, {buffer_type, values | iota | random | zero}, {same_as}, {multicast}";
        let nothing = Arg::Value(Vec::new());
        let Some(object) = value.as_object() else {
            self.error(path, format!("expected {FORMS}, found {}", describe(value)));
            return nothing;
        };
        let at = |key: &str| format!("{path}.{key}");
        const KINDS: [&str; 7] =
            ["type", "bytes", "buffer", "buffer_zero", "buffer_type", "same_as", "multicast"];
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
                let element = value.as_str().and_then(ScalarType::from_name);
                Arg::Buffer { bytes: self.typed_buffer(path, object), element }
            }
            "multicast" => {
                self.known_keys(path, object, &[kind]);
                self.multicast(&at(kind), value, before)
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

    /// The content that `buffer_type` with `values`, `iota`, `random` or `zero` describes.
    pub(crate) fn typed_buffer(&mut self, path: &str, object: &Map<String, Value>) -> Vec<u8> {
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
                literal::random(ty, count, seed, object.get("range"))
            }
        };
        bytes.unwrap_or_else(|(key, message)| {
            self.error(&at(key), message);
            Vec::new()
        })
    }

    fn reserve(&mut self, path: &str, bytes: u64) -> bool {
        let fits = bytes <= MAX_BUFFER_BYTES - self.buffer_bytes;
        if fits {
            self.buffer_bytes += bytes;
        } else {
            self.error(path, format!("the buffers take more than {MAX_BUFFER_BYTES} bytes together"));
        }
        fits
    }

    fn scalar(&mut self, path: &str, ty: ScalarType, value: &Value) -> Vec<u8> {
        literal::encode(ty, value).unwrap_or_else(|message| {
            self.error(path, message);
            Vec::new()
        })
    }

    pub(crate) fn scalar_type(&mut self, path: &str, value: &Value) -> Option<ScalarType> {
        let name = value.as_str().unwrap_or_default();
        let ty = ScalarType::from_name(name.trim_start_matches('.')).filter(|ty| literal::has_values(*ty));
        if ty.is_none() {
            let found = if name.is_empty() { describe(value) } else { format!("`{name}`") };
            self.error(
                path,
                format!("expected a type with values in memory, such as u32 or f32; found {found}"),
            );
        }
        ty
    }

    fn string<'v>(&mut self, path: &str, value: &'v Value) -> &'v str {
        value.as_str().unwrap_or_else(|| {
            self.error(path, format!("expected a string, found {}", describe(value)));
            ""
        })
    }

    pub(crate) fn hex(&mut self, path: &str, value: &Value) -> Vec<u8> {
        literal::bytes_from_hex(self.string(path, value)).unwrap_or_else(|message| {
            self.error(path, message);
            Vec::new()
        })
    }

    pub(crate) fn integer(&mut self, path: &str, value: &Value, low: u64, high: u64) -> u64 {
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

    fn dim(&mut self, path: &str, value: &Value, limits: [u64; 3]) -> [u32; 3] {
        let Some(items) = value.as_array().filter(|items| (1..=3).contains(&items.len())) else {
            self.error(path, format!("expected [x, y, z], found {}", describe(value)));
            return [1; 3];
        };
        let mut dim = [1; 3];
        for (axis, (item, limit)) in items.iter().zip(limits).enumerate() {
            dim[axis] = self.integer(&format!("{path}[{axis}]"), item, 1, limit) as u32;
        }
        dim
    }

    pub(crate) fn known_keys(&mut self, path: &str, object: &Map<String, Value>, known: &[&str]) {
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
pub(crate) fn describe(value: &Value) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        LaunchSpec::parse(text).expect_err("must be rejected").iter().map(LaunchError::to_string).collect()
    }

    #[test]
    fn every_argument_form() {
        let spec = LaunchSpec::parse(
            r#"{"entry":"k","grid":[2,1,1],"block":[32],"dynamic_shared":16,"limits":{"steps":5},"args":[
                {"type":"u32","value":7},{"type":"f32","value":1.5},{"type":"f32","value":"0x3f800000"},{"bytes":"0a0b"},
                {"buffer":"ff00"},{"buffer_zero":3},{"buffer_type":"s16","values":[-1,2]},{"same_as":4},
                {"buffer_type":"u32","iota":3,"start":5,"step":2},{"buffer_type":"f64","zero":1},
                {"multicast":[{"same_as":5},{"buffer":"010203"}]}]}"#,
        )
        .unwrap();
        let value = |bytes: &[u8]| Arg::Value(bytes.to_vec());
        let typed = |element, bytes: &[u8]| Arg::Buffer { bytes: bytes.to_vec(), element };
        let buffer = |bytes: &[u8]| typed(None, bytes);
        assert_eq!(
            spec.args,
            [
                value(&[7, 0, 0, 0]),
                value(&1.5f32.to_le_bytes()),
                value(&1f32.to_le_bytes()),
                value(&[10, 11]),
                buffer(&[255, 0]),
                buffer(&[0; 3]),
                typed(Some(ScalarType::S16), &[255, 255, 2, 0]),
                Arg::SameAs(4),
                typed(Some(ScalarType::U32), &[5, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0]),
                typed(Some(ScalarType::F64), &[0; 8]),
                Arg::Multicast(vec![Arg::SameAs(5), buffer(&[1, 2, 3])]),
            ]
        );
        assert_eq!((spec.grid, spec.block, spec.steps, spec.threads()), ([2, 1, 1], [32, 1, 1], Some(5), 64));
    }

    #[test]
    fn all_mistakes_are_listed_with_their_paths() {
        let found = errors(
            r#"{"entry":3,"grid":[0,1,1],"block":[1024,2,1],"colour":1,"args":[
                {"type":"u8","value":256},{"type":"pred","value":1},{"buffer":"0g"},{"same_as":9},{"buffer_zero":99999999999},
                {"buffer_type":"f32","values":[1,"x"]},7,{"type":"u32"},{"buffer":"00","bytes":"00"},{"multicast":[]},
                {"multicast":[{"buffer":"00"},{"buffer":"0011"},{"multicast":[]},{"type":"u8","value":1},{"same_as":77}]}]}"#,
        );
        let paths: Vec<_> = found.iter().map(|e| e.split_once(": ").unwrap().0).collect();
        assert_eq!(
            paths,
            [
                "$.colour",
                "$.entry",
                "$.grid[0]",
                "$.args[0].value",
                "$.args[1].type",
                "$.args[2].buffer",
                "$.args[3].same_as",
                "$.args[4].buffer_zero",
                "$.args[5].values[1]",
                "$.args[6]",
                "$.args[7]",
                "$.args[8]",
                "$.args[9].multicast",
                "$.args[10].multicast[1]",
                "$.args[10].multicast[2]",
                "$.args[10].multicast[3]",
                "$.args[10].multicast[4].same_as",
                "$.block",
            ],
            "{found:#?}"
        );
    }

    #[test]
    fn text_that_is_not_json_has_a_position() {
        assert_eq!(errors("{\n  \"entry\" 3}"), ["2:11: not JSON: expected `:`"]);
        assert!(errors(&"[".repeat(100_000))[0].contains("recursion limit"));
        assert_eq!(errors("[]").len(), 1);
    }

    #[test]
    fn flags_say_the_same_as_json() {
        let json = |flag| arg_from_flag(flag).unwrap().to_string();
        assert_eq!(json("u32:7"), r#"{"type":"u32","value":7}"#);
        assert_eq!(json("f32:0x3f800000"), r#"{"type":"f32","value":"0x3f800000"}"#);
        assert_eq!(json("f32[]:1,2.5"), r#"{"buffer_type":"f32","values":[1,2.5]}"#);
        assert_eq!(json("f32[100]:random"), r#"{"buffer_type":"f32","random":100}"#);
        assert_eq!(json("zero:64"), r#"{"buffer_zero":64}"#);
        assert!(arg_from_flag("nonsense").is_err());
        assert!(arg_from_flag("f32[3]:what").is_err());
    }
}
