//! The launch description: which kernel to start, on which grid, with which arguments.
//!
//! One JSON object, used by `warpsmith run --launch`, by the `run:` directives of examples and tests, and by programs:
//!
//! ```json
//! {"entry": "saxpy", "grid": [4, 1, 1], "block": [256, 1, 1],
//!  "args": [{"type": "u32", "value": 1000}, {"type": "f32", "value": 2.5},
//!           {"buffer_type": "f32", "iota": 1000}, {"buffer_zero": 4000}],
//!  "memory": {"table": {"buffer_zero": 4096}},
//!  "globals": {"bias": {"type": "f32", "value": 1}, "counter": {}}}
//! ```
//!
//! Every mistake is reported, each with the path of the value it is about (`$.args[2].values[7]`).

mod execute;
#[cfg(feature = "gpu")]
mod gpu;
pub mod literal;
#[cfg(feature = "native")]
mod native;
mod reader;
mod resources;
mod tensor_map;
mod texture;

pub use execute::{Execution, execute, execute_observed, execute_with_output};
#[cfg(feature = "gpu")]
pub use gpu::{GpuError, OnGpu, execute_on_gpu};
#[cfg(feature = "native")]
pub use native::{NotRun, RegisterAllocation, accelerated, execute_native};
pub use reader::{Reader, describe};
pub use tensor_map::{TensorMapSpec, TensorMemory, Traversal};
pub use texture::{HandleSpec, Reading, Resource, TexelMemory, Texels};

use serde_json::{Map, Value};
use std::fmt;
use warpsmith_interp::{Arithmetic, Schedule};
use warpsmith_isa::ScalarType;

/// The most memory the buffers of one launch may take together.
pub const MAX_BUFFER_BYTES: u64 = 1 << 31;

/// A checked launch description.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LaunchSpec {
    /// The name of the kernel; empty for the only one of the module.
    pub entry: String,
    /// Blocks (with clusters: still blocks) in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// All blocks are resident together, so that they may wait for each other.
    pub cooperative: bool,
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
    /// Variables of the module that are set before the launch, or read back after it.
    pub globals: Vec<Global>,
    /// Buffers that no parameter points to: memory of tensor maps, by name. Their content is there to be read after the launch.
    pub memory: Vec<(String, Arg)>,
    /// Textures, surfaces and samplers that references of the module are bound to, by name. The texels of surfaces are there to be read after the
    /// launch.
    pub bindings: Vec<(String, Resource)>,
    /// Handles that are put into the bytes of arguments.
    pub handles: Vec<HandleSpec>,
    /// What every byte of shared memory, local memory and memory from `malloc` is before the kernel writes it; zero if absent.
    pub poison: Option<u8>,
    /// The arithmetic of matrix instructions; that of the module's target if absent.
    pub arithmetic: Option<Arithmetic>,
}

/// A `.global` or `.const` variable of the module that a launch names: its content is there to be read after the launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// What it holds before the launch: the bytes of a value or buffer, or the address of an argument's buffer. `None` leaves what the module
    /// says.
    pub content: Option<Arg>,
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
    /// A tensor map (manual section 5.5.8) of the memory of an argument, or of the launch's `memory`: 128 bytes by value.
    TensorMap(TensorMapSpec),
    /// The handle of a texture, surface or sampler (manual section 5.3): for a parameter of 64 bits, or an opaque one.
    Resource(Resource),
}

/// One mistake of a launch description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchError {
    /// Where: a JSON path such as `$.args[3].value`, or `line:column` for text that is not JSON.
    pub path: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl LaunchError {
    /// The error for text that is not JSON at all.
    pub fn not_json(error: &serde_json::Error) -> LaunchError {
        // serde_json's own text ends with the position, which `path` already gives.
        let text = error.to_string();
        let reason = text.rsplit_once(" at line").map_or(text.as_str(), |(reason, _)| reason);
        LaunchError {
            path: format!("{}:{}", error.line(), error.column()),
            message: format!("not JSON: {reason}"),
        }
    }
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
        LaunchSpec {
            entry,
            grid,
            block,
            cluster: None,
            cooperative: false,
            dynamic_shared: 0,
            steps: None,
            schedule: None,
            seed: None,
            args,
            globals: Vec::new(),
            memory: Vec::new(),
            bindings: Vec::new(),
            handles: Vec::new(),
            poison: None,
            arithmetic: None,
        }
    }

    /// Reads and checks the JSON text of a description.
    pub fn parse(text: &str) -> Result<LaunchSpec, Vec<LaunchError>> {
        let value: Value = serde_json::from_str(text).map_err(|e| vec![LaunchError::not_json(&e)])?;
        LaunchSpec::from_json(&value)
    }

    /// Checks a description that is JSON already.
    pub fn from_json(value: &Value) -> Result<LaunchSpec, Vec<LaunchError>> {
        let mut reader = Reader::default();
        let spec = reader.launch(value);
        reader.finish(spec)
    }

    /// The number of threads of the whole grid.
    pub fn threads(&self) -> u64 {
        self.grid.iter().chain(&self.block).fold(1, |n: u64, &d| n.saturating_mul(d.into()))
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
    fn what_has_one_answer_need_not_be_said() {
        let spec = LaunchSpec::parse(
            r#"{"block":[32],"args":[{"type":"i32","value":-1},{"buffer_type":"i64","values":[-2]}]}"#,
        );
        let spec = spec.unwrap();
        assert_eq!((spec.entry.as_str(), spec.grid), ("", [1, 1, 1]));
        assert_eq!(spec.args[0], Arg::Value(vec![255; 4]));
        let bytes = (-2i64).to_le_bytes().to_vec();
        assert_eq!(spec.args[1], Arg::Buffer { bytes, element: Some(ScalarType::S64) });
        assert!(errors(r#"{"block":[32],"args":[{"type":"i33","value":1}]}"#)[0].contains("`i33`"));
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
    fn tensor_maps_are_of_arguments_and_named_memory() {
        let launch = |maps: &str| {
            format!(
                r#"{{"entry":"k","grid":[1],"block":[1],"memory":{{"m":{{"buffer_type":"f32","iota":64}}}},"args":[{{"buffer_zero":4096}},{maps}]}}"#
            )
        };
        let spec = LaunchSpec::parse(&launch(
            r#"{"tensor_map":{"of":0,"offset":512,"type":"f16","sizes":[64,16],"strides":[128],"box":[32,8],"swizzle":"64B","fill":"nan"}},
               {"tensor_map":{"of":"m","type":"f32","sizes":[4,4,4],"strides":[16,64],"im2col":{"lower":[-1],"upper":[0],"channels":4,"pixels":8}}}"#,
        ))
        .unwrap();
        let Arg::TensorMap(first) = &spec.args[1] else { panic!("{:?}", spec.args[1]) };
        assert_eq!((&first.of, first.tensor.global_address), (&TensorMemory::Argument(0), 512));
        assert_eq!(first.traversal, Traversal::Box(vec![32, 8]));
        let Arg::TensorMap(second) = &spec.args[2] else { panic!("{:?}", spec.args[2]) };
        assert_eq!(second.of, TensorMemory::Named("m".into()));
        assert_eq!((spec.memory.len(), spec.memory[0].0.as_str()), (1, "m"));
        let found = errors(&launch(
            r#"{"tensor_map":{"of":3,"type":"f16","sizes":[64],"box":[8]}},
               {"tensor_map":{"of":"n","type":"f16","sizes":[64],"box":[8]}},
               {"tensor_map":{"of":0,"type":"f16","sizes":[64,16],"strides":[100],"box":[8,8]}},
               {"tensor_map":{"of":0,"type":"f15","sizes":[64],"box":[8],"colour":1}},
               {"tensor_map":{"of":0,"offset":8,"type":"f16","sizes":[64],"box":[8]}},
               {"tensor_map":{"of":0,"type":"f16","sizes":[64],"box":[8],"im2col":{}}},
               {"tensor_map":{"of":0,"type":"f16","sizes":[64,8,8],"strides":[128,1024],"im2col":{"lower":[0],"upper":[-9],"channels":8,"pixels":1}}},
               {"tensor_map":{"of":0,"type":"f16","sizes":[64],"box":[300]}}"#,
        ));
        let paths: Vec<_> = found.iter().map(|e| e.split_once(": ").unwrap().0).collect();
        assert_eq!(
            paths,
            [
                "$.args[3].tensor_map.strides[0]",
                "$.args[4].tensor_map.colour",
                "$.args[4].tensor_map.type",
                "$.args[5].tensor_map.offset",
                "$.args[6].tensor_map",
                "$.args[7].tensor_map.im2col.upper[0]",
                "$.args[8].tensor_map.box[0]",
                "$.args[1].tensor_map.of",
                "$.args[2].tensor_map.of",
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
