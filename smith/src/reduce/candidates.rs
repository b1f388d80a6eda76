//! Simpler texts: what each step offers. Most are not valid; who asks finds out.

use std::collections::HashMap;
use warpsmith_diag::Language;
use warpsmith_ir::Type;

/// A step: all texts that are one change simpler.
pub(super) type Step = fn(&str, Language) -> Vec<String>;

/// From the coarse to the fine.
pub(super) const STEPS: &[Step] = &[
    regions, unused, scopes, pairs, branches, results, forwards, guards, lists, operands, modifiers, numbers,
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
fn braces(lines: &[&str]) -> Vec<(usize, usize)> {
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
fn regions(text: &str, _: Language) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let header = |start: usize| {
        let before = lines[..start].iter().rev();
        let more =
            before.take_while(|line| !line.trim().is_empty() && !line.trim_end().ends_with([';', '}', ':']));
        start - more.count()
    };
    let whole = braces(&lines).into_iter().map(|(start, end)| with(&lines, header(start), end, None));
    whole.collect()
}

/// Without operations of the IR whose results nothing names, many at once: all of them, each half, each quarter, and so on. They stand between
/// others, so that runs of lines do not get them.
pub(super) fn unused(text: &str, language: Language) -> Vec<String> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut names: HashMap<&str, usize> = HashMap::new();
    for line in &lines {
        for (start, end) in words(line) {
            *names.entry(&line[start..end]).or_default() += 1;
        }
    }
    let is_unused = |line: &str| {
        line.trim().split_once(" = ").is_some_and(|(results, _)| {
            words(results).into_iter().all(|(start, end)| {
                !results[start..end].starts_with('%') || names.get(&results[start..end]) == Some(&1)
            })
        })
    };
    let all: Vec<usize> = (0..lines.len()).filter(|n| is_unused(lines[*n])).collect();
    let mut found = Vec::new();
    let mut size = all.len();
    while size > 0 {
        for part in all.chunks(size) {
            let kept = (0..lines.len()).filter(|n| part.binary_search(n).is_err());
            found.push(kept.fold(String::with_capacity(text.len()), |text, n| text + lines[n] + "\n"));
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    found
}

/// Without the braces of a scope, which has no declaration that clashes.
fn scopes(text: &str, _: Language) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let bare = braces(&lines).into_iter().filter(|(start, _)| lines[*start].trim() == "{");
    bare.map(|(start, end)| {
        let inner = with(&lines, end - 1, end, None);
        let inner: Vec<&str> = inner.lines().collect();
        with(&inner, start, start + 1, None)
    })
    .collect()
}

/// Without two lines of which neither can go alone: a declaration and its use, a label and its branch.
fn pairs(text: &str, _: Language) -> Vec<String> {
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
                found.push(with(&one, a, a + 1, None));
            }
        }
    }
    found
}

/// A branch of two ways that goes one of them.
fn branches(text: &str, language: Language) -> Vec<String> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        if !trimmed.starts_with("brif") && !trimmed.starts_with("switch") {
            continue;
        }
        found.push(with(&lines, n, n + 1, Some("  ret")));
        for target in split(trimmed).into_iter().skip(1) {
            let target = target.rsplit_once("=>").map_or(target.as_str(), |(_, target)| target).trim();
            let target = target.trim_matches(|c| c == '[' || c == ']' || c == '{' || c == '}').trim();
            found.push(with(&lines, n, n + 1, Some(&format!("  jump {target}"))));
        }
    }
    found
}

/// The types of results by the lines that make them, as the text writes them.
fn result_types(text: &str) -> HashMap<usize, (Type, String)> {
    let Ok(module) = warpsmith_ir::parse_module(text) else { return HashMap::new() };
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut found = HashMap::new();
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
fn results(text: &str, language: Language) -> Vec<String> {
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
        let constant = match (ty.is_int(), ty.is_float()) {
            (true, _) => format!("iconst.{written} 0"),
            (_, true) => format!("fconst.{written} 0.0"),
            _ if operation.starts_with("zero") => continue,
            _ => format!("zero.{written}"),
        };
        found.push(with(&lines, n, n + 1, Some(&format!("  {result} = {constant}"))));
    }
    found
}

/// Without an instruction of the IR, one of its operands standing for its result.
fn forwards(text: &str, language: Language) -> Vec<String> {
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
                let mut from = 0;
                for (start, end) in words(line).into_iter().filter(|(s, e)| &line[*s..*e] == result) {
                    rest.push_str(&line[from..start]);
                    rest.push_str(operand);
                    from = end;
                }
                rest.push_str(&line[from..]);
                rest.push('\n');
            }
            found.push(with(&lines, n, close, Some(rest.trim_end_matches('\n'))));
        }
    }
    found
}

/// An instruction of PTX that every thread executes.
fn guards(text: &str, language: Language) -> Vec<String> {
    if language == Language::Wir {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        if let Some((_, rest)) =
            line.trim().strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace))
        {
            found.push(with(&lines, n, n + 1, Some(&format!("\t{}", rest.trim()))));
        }
    }
    found
}

/// The parts of a line between commas that are in no brackets.
fn split(line: &str) -> Vec<String> {
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
fn lists(text: &str, _: Language) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        if !line.contains(',') {
            continue;
        }
        for (at, _) in line.match_indices(',') {
            // The element before the comma, and the one behind it.
            let end = line[at + 1..].find([',', ')', ']', '}', ';']).map_or(line.len(), |e| at + 1 + e);
            found.push(with(&lines, n, n + 1, Some(&format!("{}{}", &line[..at], &line[end..]))));
            let start = line[..at].rfind([',', '(', '[', '{', ' ']).map_or(0, |s| s + 1);
            found.push(with(
                &lines,
                n,
                n + 1,
                Some(&format!("{}{}", &line[..start], line[at + 1..].trim_start())),
            ));
        }
    }
    found
}

/// Words of a line that are names of values, with their places.
fn words(line: &str) -> Vec<(usize, usize)> {
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
fn operands(text: &str, language: Language) -> Vec<String> {
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
                found.push(with(&lines, n, n + 1, Some(&format!("{}{by}{}", &line[..start], &line[end..]))));
            };
            if language == Language::Ptx {
                put("0");
                put("1");
            }
            for &(s, e) in &names[..place] {
                if line[s..e] != line[start..end] {
                    put(&line[s..e]);
                }
            }
        }
    }
    found
}

/// Mnemonics with a modifier less.
fn modifiers(text: &str, language: Language) -> Vec<String> {
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
            found.push(with(
                &lines,
                n,
                n + 1,
                Some(&format!("{}{}{}", &line[..start], kept.join("."), &line[end..])),
            ));
        }
    }
    found
}

/// Numbers that are smaller.
fn numbers(text: &str, _: Language) -> Vec<String> {
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
                found.push(with(
                    &lines,
                    n,
                    n + 1,
                    Some(&format!("{}{simpler}{}", &line[..start], &line[end..])),
                ));
            }
        }
    }
    found
}
