//! Simpler texts: what each step offers. Most are not valid; who asks finds out.

use super::blocks::{branches, merged, parameters, unreachable};
use warpsmith_base::FxHashMap;
use warpsmith_diag::Language;
use warpsmith_ir::Type;

/// A simpler text: what it changes, as long as nobody has asked for it. There are thousands for each that is gone on from.
pub(super) enum Candidate {
    Whole(String),
    /// Other lines, or none, instead of some.
    Lines {
        from: usize,
        to: usize,
        by: Option<String>,
    },
}

impl Candidate {
    /// The text, made of the lines that it was offered for.
    pub fn text(&self, lines: &[&str]) -> String {
        match self {
            Candidate::Whole(text) => text.clone(),
            Candidate::Lines { from, to, by } => with(lines, *from, *to, by.as_deref()),
        }
    }
}

pub(super) fn edit(from: usize, to: usize, by: Option<String>) -> Candidate {
    Candidate::Lines { from, to, by }
}

/// A step: all texts that are one change simpler.
pub(super) type Step = fn(&str, Language) -> Vec<Candidate>;

/// From the coarse to the fine.
pub(super) const STEPS: &[Step] = &[
    regions, unused, scopes, pairs, branches, merged, parameters, results, forwards, guards, lists, operands,
    modifiers, numbers,
];

/// The text with the lines from `from` to `to` replaced.
fn with(lines: &[&str], from: usize, to: usize, by: Option<&str>) -> String {
    let mut text = String::new();
    for line in lines[..from].iter().copied().chain(by).chain(lines[to..].iter().copied()) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Where each brace that opens a region is closed.
pub(super) fn braces(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        if line.ends_with('{') {
            open.push(n);
        } else if line.trim() == "}"
            && let Some(start) = open.pop()
        {
            found.push((start, n + 1));
        }
    }
    found.sort_by_key(|(start, end)| std::cmp::Reverse(end - start));
    found
}

/// Without a function or a scope, or with less before its brace (a header of several lines).
fn regions(text: &str, _: Language) -> Vec<Candidate> {
    let lines: Vec<&str> = text.lines().collect();
    let header = |start: usize| {
        let before = lines[..start].iter().rev();
        let more =
            before.take_while(|line| !line.trim().is_empty() && !line.trim_end().ends_with([';', '}', ':']));
        start - more.count()
    };
    let whole = braces(&lines).into_iter().map(|(start, end)| edit(header(start), end, None));
    whole.collect()
}

/// Without what nothing needs, much at once: the blocks of the IR that no way leads to; all operations that nothing needs, by their results; all but
/// one of them and what it needs, for each whose result nothing names, since that one may be what is looked for. They stand between others, so that
/// runs of lines do not get them.
pub(super) fn unused(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let kept = |gone: &[bool]| {
        let kept = lines.iter().zip(gone).filter(|(_, gone)| !**gone);
        kept.fold(String::with_capacity(text.len()), |text, (line, _)| text + line + "\n")
    };
    let mut found = vec![kept(&unreachable(&lines))];
    let uses = Uses::new(&lines);
    let free: Vec<usize> = (0..lines.len()).filter(|n| uses.is_free(&uses.counts, *n)).collect();
    let but = [None].into_iter().chain(free.iter().copied().map(Some));
    found.extend(but.map(|but| kept(&uses.unneeded(&free, but))));
    found.retain(|candidate| candidate.len() < text.len());
    found.into_iter().map(Candidate::Whole).collect()
}

/// Who names what: values by the function that they are in.
struct Uses<'t> {
    results: Vec<Vec<(usize, &'t str)>>,
    operands: Vec<Vec<(usize, &'t str)>>,
    made: FxHashMap<(usize, &'t str), usize>,
    counts: FxHashMap<(usize, &'t str), usize>,
}

impl<'t> Uses<'t> {
    fn new(lines: &[&'t str]) -> Self {
        let mut function = 0;
        let (mut results, mut operands) = (Vec::new(), Vec::new());
        for line in lines {
            let names = |part: &'t str| -> Vec<(usize, &'t str)> {
                let words = words(part).into_iter().map(|(start, end)| (function, &part[start..end]));
                words.filter(|(_, word)| word.starts_with('%')).collect()
            };
            let (to, from) = match line.split_once(" = ") {
                Some((to, from)) => (names(to), names(from)),
                None => (Vec::new(), names(line)),
            };
            results.push(to);
            operands.push(from);
            function += usize::from(*line == "}");
        }
        let made = results.iter().enumerate().flat_map(|(n, all)| all.iter().map(move |name| (*name, n)));
        let made = made.collect();
        let mut counts = FxHashMap::default();
        for name in operands.iter().flatten() {
            *counts.entry(*name).or_default() += 1;
        }
        Uses { results, operands, made, counts }
    }

    /// True for an operation with results none of which is named.
    fn is_free(&self, counts: &FxHashMap<(usize, &'t str), usize>, line: usize) -> bool {
        let results = &self.results[line];
        !results.is_empty() && results.iter().all(|name| counts.get(name).is_none_or(|count| *count == 0))
    }

    /// The lines that are free, but one, and those that become so without them.
    fn unneeded(&self, free: &[usize], but: Option<usize>) -> Vec<bool> {
        let mut counts = self.counts.clone();
        let mut gone = vec![false; self.results.len()];
        let mut work: Vec<usize> = free.iter().copied().filter(|n| Some(*n) != but).collect();
        while let Some(n) = work.pop() {
            if std::mem::replace(&mut gone[n], true) {
                continue;
            }
            for name in &self.operands[n] {
                if let Some(count) = counts.get_mut(name) {
                    *count -= 1;
                }
                work.extend(self.made.get(name).filter(|made| self.is_free(&counts, **made)));
            }
        }
        gone
    }
}

/// Without the braces of a scope, which has no declaration that clashes.
fn scopes(text: &str, _: Language) -> Vec<Candidate> {
    let lines: Vec<&str> = text.lines().collect();
    let bare = braces(&lines).into_iter().filter(|(start, _)| lines[*start].trim() == "{");
    bare.map(|(start, end)| {
        let inner = with(&lines, end - 1, end, None);
        let inner: Vec<&str> = inner.lines().collect();
        Candidate::Whole(with(&inner, start, start + 1, None))
    })
    .collect()
}

/// Without two lines of which neither can go alone: a declaration and its use, a label and its branch.
fn pairs(text: &str, _: Language) -> Vec<Candidate> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > 80 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for a in 0..lines.len() {
        let Some(name) = lines[a]
            .split(|c: char| c.is_whitespace() || ",;:()".contains(c))
            .find(|w| w.starts_with(['%', '$', '@']) || lines[a].trim_end().ends_with(':'))
        else {
            continue;
        };
        for b in a + 1..lines.len() {
            if !name.is_empty() && lines[b].contains(name) {
                let one = with(&lines, b, b + 1, None);
                let one: Vec<&str> = one.lines().collect();
                found.push(Candidate::Whole(with(&one, a, a + 1, None)));
            }
        }
    }
    found
}

/// The types of results by the lines that make them, as the text writes them.
fn result_types(text: &str) -> FxHashMap<usize, (Type, String)> {
    let Ok(module) = warpsmith_ir::parse_module(text) else { return FxHashMap::default() };
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut found = FxHashMap::default();
    for func in module.functions.values() {
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            if let Some(result) = func.dfg.first_result(inst) {
                let at = func.spans[inst].range(text.len()).start;
                let line = starts.partition_point(|start| *start <= at) - 1;
                let ty = func.dfg.ty(result);
                found.insert(line, (ty, module.types.display(ty).to_string()));
            }
        }
    }
    found
}

/// A result of the IR that is zero.
fn results(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let types = result_types(text);
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let (Some((result, operation)), Some((ty, written))) = (line.trim().split_once(" = "), types.get(&n))
        else {
            continue;
        };
        if operation.starts_with("iconst") || operation.starts_with("fconst") || result.contains(',') {
            continue;
        }
        // An address that is zero may be that of something.
        if !operation.starts_with("zero") && !ty.is_ptr() {
            found.push(edit(n, n + 1, Some(format!("  {result} = {}", constant(Some(*ty), written)))));
        }
    }
    found
}

/// The zero of a type that is written so.
pub(super) fn constant(ty: Option<Type>, written: &str) -> String {
    match ty {
        Some(ty) if ty.is_int() => format!("iconst.{written} 0"),
        Some(ty) if ty.is_float() => format!("fconst.{written} 0.0"),
        Some(_) | None => format!("zero.{written}"),
    }
}

/// A line with a name instead of another.
pub(super) fn substitute(line: &str, name: &str, by: &str) -> String {
    let mut text = String::new();
    let mut from = 0;
    for (start, end) in words(line).into_iter().filter(|&(start, end)| &line[start..end] == name) {
        text.push_str(&line[from..start]);
        text.push_str(by);
        from = end;
    }
    text + &line[from..]
}

/// Without an instruction of the IR, one of its operands denoting its result.
fn forwards(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let Some((result, operation)) = line.trim().split_once(" = ") else { continue };
        let result = result.split(':').next().unwrap_or_default();
        let mut tried: Vec<&str> = Vec::new();
        for (start, end) in words(operation) {
            let operand = &operation[start..end];
            if !operand.starts_with('%') || tried.contains(&operand) {
                continue;
            }
            tried.push(operand);
            let close = lines[n..].iter().position(|line| *line == "}").map_or(lines.len(), |at| n + at);
            let mut rest = String::new();
            for line in &lines[n + 1..close] {
                rest.push_str(&substitute(line, result, operand));
                rest.push('\n');
            }
            found.push(edit(n, close, Some(rest.trim_end_matches('\n').to_owned())));
        }
    }
    found
}

/// An instruction of PTX that every thread executes.
fn guards(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Wir {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        if let Some((_, rest)) =
            line.trim().strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace))
        {
            found.push(edit(n, n + 1, Some(format!("\t{}", rest.trim()))));
        }
    }
    found
}

/// The parts of a line between commas that are in no brackets.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in line.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth <= 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

/// Lists with an element less: of declared names, of parameters, of arguments.
fn lists(text: &str, _: Language) -> Vec<Candidate> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        if !line.contains(',') {
            continue;
        }
        for (at, _) in line.match_indices(',') {
            // The element before the comma, and the one behind it.
            let end = line[at + 1..].find([',', ')', ']', '}', ';']).map_or(line.len(), |e| at + 1 + e);
            found.push(edit(n, n + 1, Some(format!("{}{}", &line[..at], &line[end..]))));
            let start = line[..at].rfind([',', '(', '[', '{', ' ']).map_or(0, |s| s + 1);
            found.push(edit(n, n + 1, Some(format!("{}{}", &line[..start], line[at + 1..].trim_start()))));
        }
    }
    found
}

/// Words of a line that are names of values, with their places.
pub(super) fn words(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        let inside = c.is_alphanumeric() || "%$_.".contains(c);
        match (from, inside) {
            (None, true) => from = Some(at),
            (Some(start), false) => {
                found.push((start, at));
                from = None;
            }
            _ => {}
        }
    }
    found
}

/// Sources that are zero, one, or a value that was there before.
fn operands(text: &str, language: Language) -> Vec<Candidate> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with(['.', '/', '}', '{']) {
            continue;
        }
        let names: Vec<(usize, usize)> =
            words(line).into_iter().filter(|(s, _)| line[*s..].starts_with('%')).collect();
        for (place, &(start, end)) in names.iter().enumerate().skip(1) {
            let mut put = |by: &str| {
                found.push(edit(n, n + 1, Some(format!("{}{by}{}", &line[..start], &line[end..]))));
            };
            if language == Language::Ptx {
                put("0");
                put("1");
            }
            // Only by what the line names before it names this one, so that no two denote each other in turn without end.
            let first = names.iter().position(|&(s, e)| line[s..e] == line[start..end]).unwrap_or(place);
            for &(s, e) in &names[..first] {
                put(&line[s..e]);
            }
        }
    }
    found
}

/// Mnemonics with a modifier less.
fn modifiers(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Wir {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let mut parts = words(line).into_iter();
        let Some((start, end)) = parts.find(|(s, _)| !line[*s..].starts_with(['%', '$', '.'])) else {
            continue;
        };
        let mnemonic: Vec<&str> = line[start..end].split('.').collect();
        for without in 1..mnemonic.len() {
            let kept: Vec<&str> =
                mnemonic.iter().enumerate().filter(|(n, _)| *n != without).map(|(_, m)| *m).collect();
            found.push(edit(n, n + 1, Some(format!("{}{}{}", &line[..start], kept.join("."), &line[end..]))));
        }
    }
    found
}

/// Numbers that are smaller.
fn numbers(text: &str, _: Language) -> Vec<Candidate> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with(".version") || line.trim_start().starts_with(".address_size") {
            continue;
        }
        for (start, end) in words(line) {
            let word = &line[start..end];
            let value = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => word.parse::<u64>().ok(),
            };
            for simpler in value.into_iter().flat_map(|value| [0, 1, value / 2]).filter(|v| Some(*v) < value)
            {
                found.push(edit(n, n + 1, Some(format!("{}{simpler}{}", &line[..start], &line[end..]))));
            }
        }
    }
    found
}
