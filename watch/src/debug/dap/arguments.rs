//! What an editor's configuration says of a launch.

use crate::report::Checker;
use crate::{Selection, debug::symbols::base};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Threads that are sent to an editor at once, unless it asks for more.
const THREADS: usize = 200;

/// How a session is conducted.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file that holds the PTX; `None` where there is none, because it was compiled.
    pub ptx: Option<PathBuf>,
    /// Where files of the source are looked for.
    pub folder: PathBuf,
    /// Starts of the paths that debug information names, and what denotes them here.
    pub source_map: Vec<(String, String)>,
    /// The checkers that watch the run.
    pub check: Selection,
    /// Stop before the first instruction.
    pub stop_on_entry: bool,
    /// Run without breakpoints.
    pub no_debug: bool,
    /// The most threads that are listed at once.
    pub max_threads: usize,
    /// A step ends when any lane of the warp has taken it.
    pub by_warp: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            ptx: None,
            folder: PathBuf::new(),
            source_map: Vec::new(),
            check: Selection::empty(),
            stop_on_entry: false,
            no_debug: false,
            max_threads: THREADS,
            by_warp: false,
        }
    }
}

impl Settings {
    /// The file of the source that a path of the debug information means, if it can be found.
    pub(super) fn resolve(&self, path: &str) -> Option<PathBuf> {
        let mapped = self.source_map.iter().find_map(|(from, to)| {
            let rest = path.strip_prefix(from.as_str())?;
            Some(Path::new(to).join(rest.trim_start_matches(['/', '\\'])))
        });
        let places = [
            mapped,
            Some(PathBuf::from(path)),
            Some(self.folder.join(path)),
            Some(self.folder.join(base(path))),
        ];
        let found = places.into_iter().flatten().find(|place| place.is_file())?;
        // Editors know files by whole paths.
        Some(std::path::absolute(&found).unwrap_or(found))
    }
}

/// The arguments of a `launch` request.
#[derive(Clone, Debug)]
pub struct LaunchArguments {
    /// The file with the kernel.
    pub program: Option<PathBuf>,
    /// The launch description: a path, or the description itself.
    pub launch: Option<Value>,
    /// The target that IR is compiled for.
    pub target: Option<String>,
    /// The level that IR is compiled at.
    pub level: Option<u64>,
    /// In which order threads take turns.
    pub schedule: Option<String>,
    /// Chooses the interleaving.
    pub seed: Option<u64>,
    /// The rest.
    pub settings: Settings,
    /// Keys that look like misspelt ones.
    pub warnings: Vec<String>,
}

const KEYS: &[&str] = &[
    "program",
    "launch",
    "target",
    "optLevel",
    "schedule",
    "seed",
    "check",
    "stopOnEntry",
    "maxThreads",
    "stepBy",
    "sourceMap",
    "cwd",
    "noDebug",
];

impl LaunchArguments {
    /// Reads them; what is wrong with each.
    pub fn read(arguments: &Value) -> Result<LaunchArguments, String> {
        let mut wrong = Vec::new();
        let mut bad = |key: &str, expected: &str, found: &Value| {
            wrong.push(format!("`{key}` of the launch configuration: expected {expected}, found {found}"));
        };
        let get = |key: &str| arguments.get(key).filter(|value| !value.is_null());
        let text = |key: &str, bad: &mut dyn FnMut(&str, &str, &Value)| {
            let value = get(key)?;
            value.as_str().map(str::to_owned).or_else(|| {
                bad(key, "a string", value);
                None
            })
        };
        let number = |key: &str, bad: &mut dyn FnMut(&str, &str, &Value)| {
            let value = get(key)?;
            value.as_u64().or_else(|| {
                bad(key, "a number that is not negative", value);
                None
            })
        };
        let flag = |key: &str, bad: &mut dyn FnMut(&str, &str, &Value)| {
            let Some(value) = get(key) else { return false };
            value.as_bool().unwrap_or_else(|| {
                bad(key, "true or false", value);
                false
            })
        };
        let folder = text("cwd", &mut bad).map(PathBuf::from).unwrap_or_default();
        let program = text("program", &mut bad).map(|path| folder.join(path));
        let launch = get("launch").filter(|value| {
            let known = value.is_string() || value.is_object();
            if !known {
                bad("launch", "the path of a launch description, or one", value);
            }
            known
        });
        let check = match text("check", &mut bad).map(|check| check.parse::<Selection>()) {
            None => Selection::empty(),
            Some(Ok(selection)) => selection,
            Some(Err(_)) => {
                let names = Checker::ALL.map(Checker::name).join(", ");
                bad("check", &format!("some of {names} with commas between, or all"), &arguments["check"]);
                Selection::empty()
            }
        };
        let step_by = text("stepBy", &mut bad);
        if !matches!(step_by.as_deref(), None | Some("thread" | "warp")) {
            bad("stepBy", "\"thread\" or \"warp\"", &arguments["stepBy"]);
        }
        let mut source_map = Vec::new();
        match get("sourceMap") {
            None => {}
            Some(Value::Object(pairs)) if pairs.values().all(Value::is_string) => {
                source_map.extend(
                    pairs.iter().filter_map(|(from, to)| Some((from.clone(), to.as_str()?.to_owned()))),
                );
            }
            Some(other) => bad("sourceMap", "an object from starts of paths to starts of paths", other),
        }
        let settings = Settings {
            ptx: None,
            folder: program.as_deref().and_then(Path::parent).unwrap_or(&folder).to_owned(),
            source_map,
            check,
            stop_on_entry: flag("stopOnEntry", &mut bad),
            no_debug: flag("noDebug", &mut bad),
            max_threads: number("maxThreads", &mut bad).map_or(THREADS, |n| n.clamp(1, 1 << 20) as usize),
            by_warp: step_by.as_deref() == Some("warp"),
        };
        let launch = match launch.cloned() {
            Some(Value::String(path)) => {
                Some(Value::String(folder.join(path).to_string_lossy().into_owned()))
            }
            other => other,
        };
        let (target, schedule) = (text("target", &mut bad), text("schedule", &mut bad));
        let (level, seed) = (number("optLevel", &mut bad), number("seed", &mut bad));
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        // Editors put keys of their own beside.
        let misspelt = |key: &&String| {
            !KEYS.contains(&key.as_str()) && !matches!(key.as_str(), "type" | "name" | "request")
        };
        let warnings = arguments.as_object().into_iter().flat_map(|object| object.keys()).filter(misspelt);
        let warnings = warnings.filter_map(|key| {
            let near = warpsmith_diag::nearest(key, KEYS.iter().copied())?;
            Some(format!("`{key}` of the launch configuration is not known. Did you mean `{near}`?"))
        });
        let warnings = warnings.collect();
        Ok(LaunchArguments { program, launch, target, level, schedule, seed, settings, warnings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_mistake_is_named() {
        let wrong = json!({"program": 1, "optLevel": -1, "check": "memroy", "stopOnEntry": "yes", "stepBy": "grid", "sourceMap": [1]});
        let message = LaunchArguments::read(&wrong).unwrap_err();
        for key in ["program", "optLevel", "check", "stopOnEntry", "stepBy", "sourceMap"] {
            assert!(message.contains(&format!("`{key}` of")), "{message}");
        }
        let read = LaunchArguments::read(
            &json!({"cwd": "/k", "program": "a.ptx", "launch": "l.json", "stoponEntry": true, "type": "x"}),
        );
        let read = read.unwrap();
        assert_eq!(read.program.as_deref(), Some(Path::new("/k/a.ptx")));
        assert_eq!(read.launch, Some(json!("/k/l.json")));
        assert_eq!(
            read.warnings,
            ["`stoponEntry` of the launch configuration is not known. Did you mean `stopOnEntry`?"]
        );
    }
}
