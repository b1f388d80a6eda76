//! The launch of what is reduced: as few threads and parameters as still show the failure, written back as JSON.

use super::Options;
use crate::Failure;
use serde_json::{Map, Value, json};
use warpsmith::Language;
use warpsmith::launch::{Arg, LaunchSpec};
use warpsmith_harness::runs::runs;

/// A launch, with the JSON that describes it; a shell command needs none.
#[derive(Clone)]
pub(super) struct Launch {
    pub spec: LaunchSpec,
    json: Option<Value>,
}

impl Launch {
    /// The launch of the option `--launch`, or of the first `run:` directive.
    pub fn of(options: &Options, text: &str, language: Language) -> Result<Launch, Failure> {
        let described = |json: &str, spec: LaunchSpec| Launch { spec, json: serde_json::from_str(json).ok() };
        if let Some(json) = &options.launch {
            let spec = LaunchSpec::parse(json).map_err(|errors| Failure::Usage(errors[0].to_string()))?;
            return Ok(described(json, spec));
        }
        let found = warpsmith_filetests::scan(text, language).and_then(|found| runs(&found));
        match found.map(|runs| runs.into_iter().next()) {
            Ok(Some(run)) => Ok(described(&run.text, run.launch)),
            Ok(None) if options.shell.is_some() => {
                Ok(Launch { spec: LaunchSpec::new("", [1; 3], [1; 3], Vec::new()), json: None })
            }
            Ok(None) => Err(Failure::Usage(
                "the file has no `run:` directive: --launch says how it is run".to_owned(),
            )),
            Err(errors) => Err(Failure::Usage(errors[0].to_string())),
        }
    }

    /// The launch with its description changed.
    fn with(&self, change: impl FnOnce(&mut Map<String, Value>)) -> Option<Launch> {
        let mut json = self.json.clone()?;
        change(json.as_object_mut()?);
        let spec = LaunchSpec::parse(&json.to_string()).ok()?;
        Some(Launch { spec, json: Some(json) })
    }

    /// The launch with as few blocks and threads as are still interesting.
    pub fn with_fewer_threads(mut self, holds: impl Fn(&Launch) -> bool) -> Launch {
        loop {
            let mut found = None;
            for axis in 0..3 {
                for (key, sizes) in [("grid", self.spec.grid), ("block", self.spec.block)] {
                    let size = sizes[axis];
                    for smaller in
                        [1, size / 2, size - 1].into_iter().filter(|smaller| (1..size).contains(smaller))
                    {
                        let mut sizes = sizes;
                        sizes[axis] = smaller;
                        let candidate = || self.with(|json| drop(json.insert(key.to_owned(), json!(sizes))));
                        if found.is_none() {
                            found = candidate().filter(&holds);
                        }
                    }
                }
            }
            match found {
                Some(smaller) => self = smaller,
                None => return self,
            }
        }
    }

    /// The launch and the text without parameters of the kernel that are not needed.
    pub fn with_fewer_parameters(
        mut self,
        mut text: String,
        language: Language,
        holds: impl Fn(&Launch, &str) -> bool,
    ) -> (Launch, String) {
        // Such an argument names another one by its number.
        if self.spec.args.iter().any(|arg| matches!(arg, Arg::SameAs(_))) {
            return (self, text);
        }
        for n in (0..self.spec.args.len()).rev() {
            let shorter = without_parameter(&text, language, &self.spec.entry, n);
            let fewer = self.with(|json| {
                if let Some(args) = json.get_mut("args").and_then(Value::as_array_mut) {
                    args.remove(n);
                }
            });
            if let (Some(launch), Some(shorter)) = (fewer, shorter)
                && holds(&launch, &shorter)
            {
                (self, text) = (launch, shorter);
            }
        }
        (self, text)
    }

    /// A text as a file test that is launched so.
    pub fn file_test(&self, text: &str, language: Language) -> String {
        let marker = match language {
            Language::Ptx => "//;",
            Language::Wir => ";;",
        };
        match &self.json {
            Some(json) => format!("{marker} test run\n{marker} run: {json}\n\n{text}"),
            None => text.to_owned(),
        }
    }
}

/// The text without a parameter of a kernel, by its place; the first kernel if the name is empty.
fn without_parameter(text: &str, language: Language, entry: &str, place: usize) -> Option<String> {
    let head = match language {
        Language::Ptx => format!(".entry {entry}"),
        Language::Wir => format!("kernel @{entry}"),
    };
    let is_whole = |at: &usize| {
        let next = text[at + head.len()..].trim_start().chars().next();
        entry.is_empty() || next == Some('(')
    };
    let at = text.match_indices(&head).map(|(at, _)| at).find(is_whole)?;
    let open = at + text[at..].find('(')? + 1;
    let (mut depth, mut from, mut close) = (0u32, open, None);
    let mut parameters = Vec::new();
    for (n, c) in text[open..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                close = Some(open + n);
                break;
            }
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parameters.push(&text[from..open + n]);
                from = open + n + 1;
            }
            _ => {}
        }
    }
    let close = close?;
    parameters.push(&text[from..close]);
    if place >= parameters.len() {
        return None;
    }
    parameters.remove(place);
    Some(format!("{}{}{}", &text[..open], parameters.join(","), &text[close..]))
}

#[cfg(test)]
mod tests {
    use super::without_parameter;
    use warpsmith::Language;

    #[test]
    fn parameters_go_by_their_place() {
        let text = "kernel @k.1(%a: i32) {\n}\nkernel @k(%a: {i32, i8}, %b: ptr<global>, %c: i32) {\n}\n";
        let without = |n| without_parameter(text, Language::Wir, "k", n);
        let first = "kernel @k.1(%a: i32) {\n}\nkernel @k( %b: ptr<global>, %c: i32) {\n}\n";
        assert_eq!(without(0).as_deref(), Some(first));
        let last = "kernel @k.1(%a: i32) {\n}\nkernel @k(%a: {i32, i8}, %b: ptr<global>) {\n}\n";
        assert_eq!(without(2).as_deref(), Some(last));
        assert_eq!(without(3), None);
        let text = ".visible .entry k(\n\t.param .u64 a\n)\n{\n}\n";
        let none = ".visible .entry k()\n{\n}\n";
        assert_eq!(without_parameter(text, Language::Ptx, "", 0).as_deref(), Some(none));
    }
}
