//! Runs that the directives of a file describe: launches, and what must come of them.
//!
//! ```text
//! ;; run: {"entry": "k", "grid": [1,1,1], "block": [32,1,1],
//! ;;       "args": [{"buffer_type": "u32", "iota": 32}]}
//! ;; expect: {"arg": 0, "type": "u32", "values": [0, 2, 4]}
//! ;; fault: step_limit
//! ```
//!
//! `expect:` and `fault:` belong to the `run:` before them. `docs/testing.md` is the reference.

use serde_json::{Map, Value};
use std::fmt;
use warpsmith::isa::ScalarType;
use warpsmith::launch::{Execution, Global, LaunchError, LaunchSpec, Reader, describe, literal};
use warpsmith_filetests::{Directive, DirectiveError};

/// One `run:` with what must come of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// The line of the directive.
    pub line: usize,
    /// The directive's text: the launch as JSON.
    pub text: String,
    /// What to start.
    pub launch: LaunchSpec,
    /// What the buffers must hold afterwards.
    pub expects: Vec<Expect>,
    /// The code of the fault that the run must end in.
    pub fault: Option<String>,
}

/// What one buffer must hold after a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Expect {
    /// The line of the directive.
    pub line: usize,
    /// Whose bytes are meant.
    pub subject: ResultOf,
    content: Content,
}

/// What a run leaves behind that an expectation can be about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResultOf {
    /// The buffer of the argument with this index.
    Buffer(usize),
    /// The variable of the module with this name.
    Global(String),
    /// The buffer of the launch's `memory` with this name.
    Memory(String),
    /// The surface that is bound to the reference with this name.
    Binding(String),
}

impl fmt::Display for ResultOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResultOf::Buffer(index) => write!(f, "buffer {index}"),
            ResultOf::Global(name) => write!(f, "global `{name}`"),
            ResultOf::Memory(name) => write!(f, "memory `{name}`"),
            ResultOf::Binding(name) => write!(f, "surface `{name}`"),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Content {
    /// `bytes` from element `at` on; the whole buffer if `at` is `None`.
    Values {
        ty: ScalarType,
        bytes: Vec<u8>,
        at: Option<usize>,
        within: Option<f64>,
    },
    Digest(u64),
}

/// The runs that a file's directives describe, in order.
pub fn runs(directives: &[Directive]) -> Result<Vec<Run>, Vec<DirectiveError>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut errors = Vec::new();
    // After a broken `run:` its expectations would only repeat that something is wrong.
    let mut broken = false;
    for directive in directives {
        let line = directive.line;
        let mut fail = |found: Vec<LaunchError>| {
            errors.extend(found.into_iter().map(|e| relocate(e, line, directive.name)))
        };
        match directive.name {
            "run" => match LaunchSpec::parse(&directive.text) {
                Ok(launch) => {
                    broken = false;
                    let text = directive.text.clone();
                    runs.push(Run { line, text, launch, expects: Vec::new(), fault: None });
                }
                Err(found) => {
                    broken = true;
                    fail(found);
                }
            },
            "expect" | "fault" if broken => {}
            "expect" | "fault" => match runs.last_mut() {
                None => {
                    let message = format!("`{}:` before any `run:`", directive.name);
                    errors.push(DirectiveError { line, message });
                }
                Some(run) if directive.name == "fault" => run.fault = Some(directive.text.clone()),
                Some(run) => match expect(directive, run.launch.args.len()) {
                    Ok(expect) => {
                        // What is expected of a variable, the launch has to read back.
                        if let ResultOf::Global(name) = &expect.subject
                            && run.launch.globals.iter().all(|global| global.name != *name)
                        {
                            run.launch.globals.push(Global { name: name.clone(), content: None });
                        }
                        run.expects.push(expect);
                    }
                    Err(found) => fail(found),
                },
            },
            _ => {}
        }
    }
    if errors.is_empty() { Ok(runs) } else { Err(errors) }
}

/// Makes positions inside a directive's JSON positions of the file.
fn relocate(error: LaunchError, line: usize, name: &str) -> DirectiveError {
    match error.path.split_once(':').and_then(|(l, c)| Some((l.parse::<usize>().ok()?, c))) {
        Some((inner, _)) => DirectiveError { line: line + inner - 1, message: error.message },
        None => DirectiveError { line, message: format!("{name} {error}") },
    }
}

fn expect(directive: &Directive, args: usize) -> Result<Expect, Vec<LaunchError>> {
    let value: Value = serde_json::from_str(&directive.text).map_err(|e| vec![LaunchError::not_json(&e)])?;
    let mut reader = Reader::default();
    let expect = value.as_object().and_then(|object| read_expect(&mut reader, object, directive.line, args));
    if expect.is_none() && reader.is_sound() {
        let message = "expected {\"arg\": N, ...} , {\"global\": NAME, ...} or {\"memory\": NAME, ...} , {\"binding\": NAME, ...} with one of {type, values | iota | random | zero}, {hex}, {digest}";
        reader.error("$", format!("{message}, found {}", describe(&value)));
    }
    reader.finish(expect)?.ok_or_else(Vec::new)
}

fn read_expect(reader: &mut Reader, object: &Map<String, Value>, line: usize, args: usize) -> Option<Expect> {
    let subjects =
        ["arg", "global", "memory", "binding"].iter().filter(|key| object.contains_key(**key)).count();
    if subjects > 1 {
        reader.error("$", "`arg`, `global`, `memory` and `binding` exclude each other");
        return None;
    }
    let subject = match (object.get("global"), object.get("memory")) {
        _ if object.contains_key("binding") => {
            ResultOf::Binding(reader.string("$.binding", &object["binding"]).to_owned())
        }
        (Some(name), _) => ResultOf::Global(reader.string("$.global", name).to_owned()),
        (None, Some(name)) => ResultOf::Memory(reader.string("$.memory", name).to_owned()),
        (None, None) if args == 0 => {
            reader.error("$.arg", "the run has no arguments");
            return None;
        }
        (None, None) => {
            let (last, arg) = (args as u64 - 1, object.get("arg"));
            ResultOf::Buffer(reader.integer("$.arg", arg.unwrap_or(&Value::Null), 0, last) as usize)
        }
    };
    let content = if let Some(digest) = object.get("digest") {
        reader.known_keys("$", object, &["arg", "global", "memory", "binding", "digest"]);
        let text = digest.as_str().unwrap_or_default();
        match u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16) {
            Ok(digest) => Content::Digest(digest),
            Err(_) => {
                reader
                    .error("$.digest", format!("expected 16 hexadecimal digits, found {}", describe(digest)));
                return None;
            }
        }
    } else if let Some(hex) = object.get("hex") {
        reader.known_keys("$", object, &["arg", "global", "memory", "binding", "hex", "at"]);
        let at = object.get("at").map(|at| reader.integer("$.at", at, 0, u64::MAX) as usize);
        Content::Values { ty: ScalarType::B8, bytes: reader.hex("$.hex", hex), at, within: None }
    } else if let Some(name) = object.get("type") {
        let ty = reader.scalar_type("$.type", name)?;
        let at = object.get("at").map(|at| reader.integer("$.at", at, 0, u64::MAX) as usize);
        let within = object.get("within").map(|value| match value.as_f64() {
            Some(within) if literal::number(ty, 0).is_some() => within,
            _ => {
                reader.error(
                    "$.within",
                    format!("a tolerance is a number, for floats; found {}", describe(value)),
                );
                0.0
            }
        });
        // The rest reads as a typed buffer does.
        const OWN: [&str; 7] = ["arg", "global", "memory", "binding", "type", "at", "within"];
        let data = object.iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
        let mut data: Map<String, Value> = data.map(|(key, value)| (key.clone(), value.clone())).collect();
        data.insert("buffer_type".into(), name.clone());
        Content::Values { ty, bytes: reader.typed_buffer("$", &data), at, within }
    } else {
        return None;
    };
    Some(Expect { line, subject, content })
}

impl Expect {
    /// Compares with what a run has left behind; `Err` says what differs.
    pub fn check(&self, execution: &Execution) -> Result<(), String> {
        let subject = &self.subject;
        let found = match subject {
            ResultOf::Buffer(index) => {
                let buffer = execution.buffers.get(*index).and_then(Option::as_ref);
                buffer.ok_or_else(|| format!("argument {index} is not a buffer"))?
            }
            ResultOf::Global(name) => {
                let global = execution.globals.iter().find(|(global, _)| global == name);
                &global.ok_or_else(|| format!("the run has not read {subject} back"))?.1
            }
            ResultOf::Memory(name) => {
                let memory = execution.memory.iter().find(|(memory, _)| memory == name);
                &memory.ok_or_else(|| format!("the launch has no {subject}"))?.1
            }
            ResultOf::Binding(name) => {
                let binding = execution.bindings.iter().find(|(binding, _)| binding == name);
                &binding.ok_or_else(|| format!("the launch binds no {subject}"))?.1
            }
        };
        match &self.content {
            Content::Digest(expected) => match digest(found) {
                found if found == *expected => Ok(()),
                found => Err(format!("{subject}: expected digest {expected:016x}, found {found:016x}")),
            },
            Content::Values { ty, bytes, at, within } => {
                let size = literal::encode(*ty, &"0x0".into()).map_or(1, |zero| zero.len());
                let start = at.unwrap_or(0).saturating_mul(size);
                let end = start.saturating_add(bytes.len());
                if end > found.len() || (at.is_none() && end != found.len()) {
                    let (expected, found) = (end / size, found.len() / size);
                    return Err(format!("{subject}: expected {expected} elements of {ty}, found {found}"));
                }
                match first_difference(*ty, size, bytes, &found[start..end], *within) {
                    Some(i) => {
                        let element = |bytes: &[u8]| literal::decode(*ty, &bytes[i * size..(i + 1) * size]);
                        let (expected, found) = (element(bytes), element(&found[start..]));
                        let index = i + at.unwrap_or(0);
                        Err(format!("{subject}, element {index}: expected {expected}, found {found}"))
                    }
                    None => Ok(()),
                }
            }
        }
    }
}

fn first_difference(
    ty: ScalarType,
    size: usize,
    expected: &[u8],
    found: &[u8],
    within: Option<f64>,
) -> Option<usize> {
    let value = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        literal::number(ty, u64::from_le_bytes(wide))
    };
    expected.chunks_exact(size).zip(found.chunks_exact(size)).position(|(expected, found)| {
        expected != found
            && !within.zip(value(expected).zip(value(found))).is_some_and(|(within, (expected, found))| {
                (expected - found).abs() <= within * expected.abs().max(1.0)
            })
    })
}

/// The hash that `digest` expectations hold.
pub use warpsmith::isa::stable_hash as digest;

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith::diag::Language;
    use warpsmith_filetests::scan;

    const FILE: &str = r#";; test run
; A comment of its own.
;; run: {"entry": "k", "grid": [1], "block": [1],
;;       "args": [{"buffer_type": "f32", "values": [1, 2, 3]}, {"type": "u32", "value": 1}]}
;; expect: {"arg": 0, "type": "f32", "values": [1, 2, 3.0001], "within": 1e-3}
;; expect: {"arg": 0, "type": "f32", "values": [2], "at": 1}
kernel @k() { }
"#;

    fn read(source: &str) -> Result<Vec<Run>, Vec<DirectiveError>> {
        scan(source, Language::Wir).and_then(|directives| runs(&directives))
    }

    fn buffers(values: &[f32]) -> Execution {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let globals = vec![("g".to_owned(), bytes.clone())];
        let (memory, buffers) = (Vec::new(), vec![Some(bytes), None]);
        let (bindings, handles) = (Vec::new(), Vec::new());
        Execution { buffers, globals, memory, bindings, handles, thread_instructions: 0, seconds: 0.0 }
    }

    #[test]
    fn expectations_of_variables_have_them_read_back() {
        let file = FILE.replace(
            r#"{"arg": 0, "type": "f32", "values": [2], "at": 1}"#,
            r#"{"global": "g", "hex": "00", "at": 3}"#,
        );
        let runs = read(&file).unwrap();
        assert_eq!(runs[0].launch.globals, [Global { name: "g".into(), content: None }]);
        let expect = &runs[0].expects[1];
        assert_eq!(
            expect.check(&buffers(&[2.0])).unwrap_err(),
            "global `g`, element 3: expected \"0x00\", found \"0x40\""
        );
        let both = FILE
            .replace(r#""arg": 0, "type": "f32", "values": [2]"#, r#""arg": 0, "global": "g", "hex": """#);
        assert_eq!(
            read(&both).unwrap_err()[0].message,
            "expect $: `arg`, `global`, `memory` and `binding` exclude each other"
        );
    }

    #[test]
    fn runs_and_expectations() {
        let runs = read(FILE).unwrap();
        let [run] = runs.as_slice() else { panic!("one run, not {}", runs.len()) };
        assert_eq!((run.line, run.expects.len()), (3, 2));
        for expect in &run.expects {
            expect.check(&buffers(&[1.0, 2.0, 3.0])).unwrap();
        }
        let differs = run.expects[0].check(&buffers(&[1.0, 2.5, 3.0])).unwrap_err();
        assert_eq!(differs, "buffer 0, element 1: expected 2.0, found 2.5");
        let short = run.expects[0].check(&buffers(&[1.0])).unwrap_err();
        assert_eq!(short, "buffer 0: expected 3 elements of f32, found 1");
    }

    #[test]
    fn mistakes_have_the_line_of_the_file() {
        let lines = |source: &str| read(source).unwrap_err().iter().map(|e| e.line).collect::<Vec<_>>();
        assert_eq!(lines(&FILE.replace("\"args\": [", "\"args\": [,")), [4]);
        assert_eq!(lines(&FILE.replace("[1, 2, 3.0001]", "[1, \"x\"]")), [5]);
        assert_eq!(lines(&FILE.replace(";; run", ";; runs")), [3, 4]);
        assert_eq!(lines(";; expect: {}\n;;    more\nx\n;;    of nothing"), [4]);
        assert_eq!(lines(";; expect: {}"), [1]);
    }

    #[test]
    fn digests_are_fnv1a() {
        assert_eq!(digest(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
