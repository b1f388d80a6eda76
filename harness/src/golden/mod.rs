//! What GPUs computed: cases to run, files of recorded results, and the comparison of the engine with them.
//!
//! `cargo xtask hardware` runs the cases on a GPU and writes a file of `tests/golden/`, which records what ran where, with text, arguments
//! and results of every case. So a file stays a fact about that GPU, whatever becomes of the cases' source.

mod atomics;
mod cases;
mod matrix;
mod tensor;
mod vectors;

pub use cases::cases;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fmt;
use std::io::{Read, Write};
use warpsmith::interp::{Approximations, Loading};
use warpsmith::isa::{ScalarType, Target};
use warpsmith::launch::{LaunchSpec, execute, literal};
use warpsmith::{Program, ptx};
use warpsmith_semantics::matrix::Architecture;

/// A kernel and a launch of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// A name of its own.
    pub name: String,
    /// The PTX text.
    pub ptx: String,
    /// The launch description, as [`LaunchSpec`] reads it.
    pub launch: Value,
    /// How closely results have to agree.
    pub check: Check,
}

/// How closely results have to agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// In every bit.
    Bits,
    /// In every bit, apart from the payloads of NaN, which the manual leaves open for f64.
    Double,
    /// In every bit, apart from the payloads of NaN, of values of this type.
    Number(ScalarType),
    /// An approximation of values of this type, whose error the manual bounds: both within the bound of the true value.
    Approximate(ScalarType),
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Check::Bits => f.write_str("bits"),
            Check::Double => f.write_str("double"),
            Check::Number(ty) => write!(f, "number {ty}"),
            Check::Approximate(ty) => write!(f, "approximate {ty}"),
        }
    }
}

impl Check {
    fn parse(text: &str) -> Option<Check> {
        let of_type = |name: &str| ScalarType::from_name(name.trim_start_matches('.'));
        Some(match (text, text.split_once(' ')) {
            ("bits", _) => Check::Bits,
            ("double", _) => Check::Double,
            (_, Some(("number", ty))) => Check::Number(of_type(ty)?),
            (_, Some(("approximate", ty))) => Check::Approximate(of_type(ty)?),
            _ => return None,
        })
    }

    /// Where two results differ, if they do.
    fn difference(self, engine: &[u8], gpu: &[u8]) -> Option<String> {
        let (ty, size) = match self {
            Check::Bits => (ScalarType::B8, 1),
            Check::Double => (ScalarType::F64, 8),
            Check::Number(ty) | Check::Approximate(ty) => (ty, ty.bits() as usize / 8),
        };
        if engine.len() != gpu.len() {
            return Some(format!("{} bytes, the GPU gave {}", engine.len(), gpu.len()));
        }
        let differs = |(a, b): (&[u8], &[u8])| a != b && !self.alike(ty, a, b);
        let at = engine.chunks(size).zip(gpu.chunks(size)).position(differs)?;
        let show = |bytes: &[u8]| literal::hex(bytes.chunks(size).nth(at).unwrap_or_default());
        Some(format!("byte {}: {} here, {} on the GPU", at * size, show(engine), show(gpu)))
    }

    fn alike(self, ty: ScalarType, a: &[u8], b: &[u8]) -> bool {
        // Two approximations within a bound each may be twice that apart.
        let relative = match (self, ty) {
            (Check::Bits, _) => return false,
            (Check::Double | Check::Number(_), _) => 0.0,
            (_, ScalarType::F16 | ScalarType::F16x2) => 2f64.powi(-9),
            (_, ScalarType::BF16 | ScalarType::BF16x2) => 2f64.powi(-6),
            // Of f32 it is `tanh`: others are compared in every bit.
            (_, ScalarType::F32) => 2f64.powi(-10),
            _ => 2f64.powi(-19),
        };
        let absolute = if relative == 0.0 { 0.0 } else { relative / 2.0 };
        values(ty, a).into_iter().zip(values(ty, b)).all(|(a, b)| {
            let equal = if relative == 0.0 { a.to_bits() == b.to_bits() } else { a == b };
            equal
                || (a.is_nan() && b.is_nan())
                || (relative > 0.0 && (a - b).abs() <= absolute.max(relative * b.abs()))
        })
    }
}

/// The numbers in the bytes of a register.
fn values(ty: ScalarType, bytes: &[u8]) -> Vec<f64> {
    let element = match ty {
        ScalarType::F16x2 => ScalarType::F16,
        ScalarType::BF16x2 => ScalarType::BF16,
        other => other,
    };
    bytes.chunks_exact(element.bits() as usize / 8).map(|bytes| number(element, bytes)).collect()
}

fn number(ty: ScalarType, bytes: &[u8]) -> f64 {
    use warpsmith_semantics::value::half::{BF16, F16, Half};
    let word = bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    match ty {
        ScalarType::F16 => F16::widen(word as u16).into(),
        ScalarType::BF16 => BF16::widen(word as u16).into(),
        ScalarType::F32 => f32::from_bits(word as u32).into(),
        _ => f64::from_bits(word),
    }
}

/// Written in place of the content that the launch description gives a buffer.
const UNCHANGED: &str = "unchanged";

/// A file of recorded results.
#[derive(Clone, PartialEq, Debug)]
pub struct Golden {
    /// The GPU's name, as the driver reports it.
    pub gpu: String,
    /// Its compute capability: `sm_90`.
    pub compute: String,
    /// The version of CUDA that the driver supports.
    pub driver: String,
    /// When it was recorded: `2026-01-31`.
    pub date: String,
    /// The cases and what came of them.
    pub records: Vec<Record>,
}

/// A case and what its buffers held afterwards.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// What ran.
    pub case: Case,
    /// For each argument the content of its buffer; `None` for values.
    pub buffers: Vec<Option<Vec<u8>>>,
}

impl Golden {
    /// Reads a file: a line of JSON about the GPU, then one for each case.
    pub fn parse(text: &str) -> Result<Golden, String> {
        let mut lines = (1..).zip(text.lines());
        let json = |(number, line): (usize, &str)| {
            serde_json::from_str::<Value>(line).map_err(|e| format!("line {number}: {e}"))
        };
        let header = json(lines.next().ok_or("the file is empty")?)?;
        let of_header =
            |key: &str| header[key].as_str().map(str::to_owned).ok_or(format!("line 1: no `{key}`"));
        Ok(Golden {
            gpu: of_header("gpu")?,
            compute: of_header("compute")?,
            driver: of_header("driver")?,
            date: of_header("date")?,
            records: lines
                .map(|line| Record::parse(&json(line)?).ok_or_else(|| format!("line {}: not a case", line.0)))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Golden {
    /// The file: its text, compressed by gzip.
    pub fn compressed(&self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let written = encoder.write_all(self.to_string().as_bytes()).and_then(|()| encoder.finish());
        written.unwrap_or_else(|_| unreachable!("memory takes all that is written"))
    }

    /// Reads a file that [`Golden::compressed`] made.
    pub fn decompress(bytes: &[u8]) -> Result<Golden, String> {
        let mut text = String::new();
        GzDecoder::new(bytes).read_to_string(&mut text).map_err(|e| e.to_string())?;
        Golden::parse(&text)
    }
}

impl Golden {
    /// Where the engine differs from the GPU: names of cases, and how.
    pub fn differences(&self) -> Vec<(&str, String)> {
        let target = self.compute.parse::<Target>().ok();
        let gpu = target.filter(|target| target.sm >= 70).map(Architecture::of);
        self.records.iter().filter_map(|r| Some((&*r.case.name, r.difference(gpu)?))).collect()
    }
}

impl fmt::Display for Golden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Golden { gpu, compute, driver, date, .. } = self;
        writeln!(f, "{}", json!({"gpu": gpu, "compute": compute, "driver": driver, "date": date}))?;
        self.records.iter().try_for_each(|record| writeln!(f, "{}", record.to_json()))
    }
}

impl Record {
    fn parse(value: &Value) -> Option<Record> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let given = |i: usize| value["launch"]["args"][i]["buffer"].as_str();
        let buffer = |(i, value): (usize, &Value)| match value {
            Value::Null => Some(None),
            value => {
                let hex = value.as_str()?;
                Some(Some(literal::bytes_from_hex(if hex == UNCHANGED { given(i)? } else { hex }).ok()?))
            }
        };
        Some(Record {
            case: Case {
                name: text("name")?,
                ptx: text("ptx")?,
                launch: value["launch"].clone(),
                check: Check::parse(value["check"].as_str()?)?,
            },
            buffers: value["buffers"].as_array()?.iter().enumerate().map(buffer).collect::<Option<_>>()?,
        })
    }

    fn to_json(&self) -> Value {
        let Case { name, ptx, launch, check } = &self.case;
        let buffer = |(i, bytes): (usize, &Option<Vec<u8>>)| {
            let hex = bytes.as_deref().map(literal::hex)?;
            let given = launch["args"][i]["buffer"].as_str();
            Some(if given == Some(&hex) { UNCHANGED.to_owned() } else { hex })
        };
        let buffers: Vec<Value> =
            self.buffers.iter().enumerate().map(|buffer_of| buffer(buffer_of).into()).collect();
        json!({"name": name, "check": check.to_string(), "ptx": ptx, "launch": launch, "buffers": buffers})
    }

    /// How the engine differs from the GPU, if it does. Matrices are multiplied as on `gpu`, whatever target the text has.
    pub fn difference(&self, gpu: Option<Architecture>) -> Option<String> {
        let mut case = self.case.clone();
        let name = Architecture::ALL.into_iter().find(|(known, _)| Some(*known) == gpu).map(|(_, name)| name);
        if let (Some(name), Some(launch)) = (name, case.launch.as_object_mut()) {
            launch.entry("arithmetic").or_insert(name.into());
        }
        let found = match run(&case) {
            Ok(found) => found,
            Err(message) => return Some(message),
        };
        if found.len() != self.buffers.len() {
            return Some(format!("{} arguments, the file has {}", found.len(), self.buffers.len()));
        }
        found.iter().zip(&self.buffers).enumerate().find_map(|(i, pair)| match pair {
            (Some(engine), Some(gpu)) => {
                Some(format!("argument {i}: {}", self.case.check.difference(engine, gpu)?))
            }
            (None, None) => None,
            _ => Some(format!("argument {i} is a buffer on one side only")),
        })
    }
}

/// Runs a case on the engine and gives its buffers.
pub fn run(case: &Case) -> Result<Vec<Option<Vec<u8>>>, String> {
    let launch = LaunchSpec::from_json(&case.launch).map_err(|errors| errors[0].to_string())?;
    let module = ptx::ValidatedModule::parse(&case.ptx).map_err(|errors| errors[0].message.clone())?;
    let loading = Loading { entry: Some(launch.entry.clone()), approximations: Approximations::Hardware };
    let program = Program::load_with(&module, &loading).map_err(|errors| errors[0].to_string())?;
    execute(&program, &launch).map(|done| done.buffers).map_err(|fault| fault.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let ptx = ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %rd; ld.param.u64 %rd, [p]; st.global.f64 [%rd], 0d7FF8000000000000; ret; }";
        let launch = json!({"entry": "k", "grid": [1], "block": [1], "args": [{"buffer_zero": 8}]});
        let case = Case { name: "a".into(), ptx: ptx.into(), launch, check: Check::Bits };
        Record { case, buffers: vec![Some(0x7ff8_0000_0000_0000u64.to_le_bytes().to_vec())] }
    }

    #[test]
    fn a_file_reads_as_it_was_written() {
        let mut other = record();
        other.case.check = Check::Approximate(ScalarType::BF16x2);
        other.buffers.push(None);
        other.case.launch["args"]
            .as_array_mut()
            .unwrap()
            .extend([json!({"type": "u32", "value": 1}), json!({"buffer": "0a0b"})]);
        other.buffers.push(Some(vec![10, 11]));
        let golden = Golden {
            gpu: "A \"quoted\" GPU".into(),
            compute: "sm_70".into(),
            driver: "13.0".into(),
            date: "2026-01-31".into(),
            records: vec![record(), other],
        };
        assert_eq!(Golden::parse(&golden.to_string()), Ok(golden.clone()));
        assert_eq!(Golden::decompress(&golden.compressed()), Ok(golden));
        assert!(Golden::parse("").is_err() && Golden::parse("{}").is_err());
        assert!(
            Golden::parse("{\"gpu\":\"\",\"compute\":\"\",\"driver\":\"\",\"date\":\"\"}\n{\"name\":1}")
                .is_err()
        );
    }

    #[test]
    fn differences_are_found_and_told() {
        assert_eq!(record().difference(None), None);
        let mut payload = record();
        payload.buffers[0] = Some(0x7ff8_0000_0000_0001u64.to_le_bytes().to_vec());
        assert!(payload.difference(None).unwrap().contains("byte 0: 00 here, 01 on the GPU"));
        payload.case.check = Check::Double;
        assert_eq!(payload.difference(None), None);
        let mut other = record();
        other.buffers[0] = Some(1.0f64.to_le_bytes().to_vec());
        other.case.check = Check::Double;
        assert!(other.difference(None).is_some());
        let number =
            |a: f32, b: f32| Check::Number(ScalarType::F32).difference(&a.to_le_bytes(), &b.to_le_bytes());
        assert!(number(0.0, -0.0).is_some() && number(1.0, 1.000001).is_some());
        assert_eq!(number(f32::NAN, -f32::NAN), None);
        let mut broken = record();
        broken.case.ptx.push('!');
        assert!(broken.difference(None).is_some());
        let near = |check: Check, a: f32, b: f32| check.difference(&a.to_le_bytes(), &b.to_le_bytes());
        let approximate = Check::Approximate(ScalarType::F32);
        assert_eq!(near(approximate, 1.0, 1.000001), None);
        assert!(near(approximate, 1.0, 1.01).is_some() && near(Check::Bits, 1.0, 1.000001).is_some());
        assert!(
            near(approximate, f32::INFINITY, 1.0).is_some()
                && near(approximate, f32::NAN, f32::INFINITY).is_some()
        );
        assert_eq!(near(approximate, f32::INFINITY, f32::INFINITY), None);
    }
}
