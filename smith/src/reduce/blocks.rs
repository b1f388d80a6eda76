//! Simpler graphs of blocks: parameters go with the arguments of all ways that lead there, blocks become part of others, switches have fewer cases. No line
//! could go alone.

use super::candidates::{Candidate, braces, constant, edit, split, substitute, words};
use warpsmith_diag::Language;
use warpsmith_ir::Type;

/// A block of a function of the IR.
struct Block<'t> {
    name: &'t str,
    /// The line of its label, and the one behind its last.
    start: usize,
    end: usize,
    /// Names and types.
    params: Vec<(&'t str, &'t str)>,
}

/// The blocks of each function, and between which lines they stand.
fn functions<'t>(lines: &[&'t str]) -> Vec<((usize, usize), Vec<Block<'t>>)> {
    let is_label = |line: &str| line.ends_with(':') && !line.starts_with(char::is_whitespace);
    let of = |(open, close): (usize, usize)| {
        let starts: Vec<usize> = (open..close).filter(|n| is_label(lines[*n])).collect();
        let ends = starts.iter().skip(1).copied().chain([close - 1]);
        let blocks = starts.iter().zip(ends).map(|(&start, end)| {
            let label = lines[start];
            let inner =
                label.find('(').zip(label.rfind(')')).map_or("", |(open, close)| &label[open + 1..close]);
            let params = parts(inner).into_iter().filter_map(|param| param.split_once(": "));
            let name = label.split(['(', ':']).next().unwrap_or_default();
            Block { name, start, end, params: params.collect() }
        });
        ((open + 1, close - 1), blocks.collect())
    };
    braces(lines).into_iter().map(of).collect()
}

/// What stands between commas, without the blanks around it.
fn parts(list: &str) -> Vec<&str> {
    let mut from = 0;
    split(list)
        .into_iter()
        .map(|part| {
            let whole = &list[from..from + part.len()];
            from += part.len() + 1;
            whole.trim()
        })
        .filter(|part| !part.is_empty())
        .collect()
}

/// Where a line leads to a block: the place of its name with what is in brackets behind it, and the arguments.
fn ways<'t>(line: &'t str, name: &str) -> Vec<((usize, usize), Vec<&'t str>)> {
    let mut found = Vec::new();
    for (start, end) in words(line).into_iter().filter(|&(start, end)| &line[start..end] == name) {
        let inner = line[end..].strip_prefix('(').and_then(|rest| Some(&rest[..closing(rest)?]));
        match inner {
            Some(inner) => found.push(((start, end + inner.len() + 2), parts(inner))),
            None => found.push(((start, end), Vec::new())),
        }
    }
    found
}

/// Where the bracket is closed that a text is the inside of.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return Some(at),
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn call(name: &str, args: &[&str]) -> String {
    if args.is_empty() { name.to_owned() } else { format!("{name}({})", args.join(", ")) }
}

/// A line in which all ways to a block are others.
fn redirected(line: &str, name: &str, to: impl Fn(&[&str]) -> String) -> String {
    let mut text = String::new();
    let mut from = 0;
    for ((start, end), args) in ways(line, name) {
        text.push_str(&line[from..start]);
        text.push_str(&to(&args));
        from = end;
    }
    text + &line[from..]
}

fn replaced(from: usize, to: usize, lines: &[String]) -> Candidate {
    edit(from, to, Some(lines.join("\n")))
}

/// The lines of blocks that no way leads to.
pub(super) fn unreachable(lines: &[&str]) -> Vec<bool> {
    let mut gone = vec![false; lines.len()];
    for (_, blocks) in functions(lines) {
        let mut reached = vec![false; blocks.len()];
        let mut work: Vec<usize> = (0..blocks.len().min(1)).collect();
        while let Some(n) = work.pop() {
            if std::mem::replace(&mut reached[n], true) {
                continue;
            }
            for line in &lines[blocks[n].start + 1..blocks[n].end] {
                for (start, end) in words(line) {
                    work.extend(blocks.iter().position(|block| block.name == &line[start..end]));
                }
            }
        }
        for (block, _) in blocks.iter().zip(reached).filter(|(_, reached)| !reached) {
            gone[block.start..block.end].iter_mut().for_each(|gone| *gone = true);
        }
    }
    gone
}

/// Blocks with fewer parameters, which are zero, or one of the arguments.
pub(super) fn parameters(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for ((open, close), blocks) in functions(&lines) {
        for block in &blocks {
            let count = block.params.len();
            let without = |gone: &dyn Fn(usize) -> bool, by: Option<&str>| -> Vec<String> {
                let kept = |all: &[&str]| -> String {
                    let kept: Vec<&str> =
                        all.iter().enumerate().filter(|(n, _)| !gone(*n)).map(|(_, part)| *part).collect();
                    call(block.name, &kept)
                };
                let mut made = Vec::new();
                for (n, line) in lines.iter().enumerate().take(close).skip(open) {
                    if n != block.start {
                        made.push(redirected(line, block.name, kept));
                        continue;
                    }
                    let params: Vec<String> =
                        block.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
                    let params: Vec<&str> = params.iter().map(String::as_str).collect();
                    made.push(format!("{}:", kept(&params)));
                    if by.is_none() {
                        let params = block.params.iter().enumerate().filter(|(n, _)| gone(*n));
                        made.extend(params.map(|(_, (name, ty))| {
                            format!("  {name} = {}", constant(Type::from_name(ty), ty))
                        }));
                    }
                }
                if let (Some(by), Some(n)) = (by, (0..count).find(|n| gone(*n))) {
                    made.iter_mut().for_each(|line| *line = substitute(line, block.params[n].0, by));
                }
                made
            };
            // An address that is zero may be that of something.
            let is_address = |n: usize| block.params[n].1.starts_with("ptr");
            let numbers = (0..count).filter(|&n| !is_address(n)).count();
            if numbers > 1 {
                found.push(replaced(open, close, &without(&|n| !is_address(n), None)));
            }
            for n in 0..count {
                if !is_address(n) {
                    found.push(replaced(open, close, &without(&|place| place == n, None)));
                }
                let mut tried: Vec<&str> = vec![block.params[n].0];
                for line in &lines[open..close] {
                    for arg in ways(line, block.name).iter().filter_map(|(_, args)| args.get(n)) {
                        if arg.starts_with('%') && !tried.contains(arg) {
                            tried.push(arg);
                            found.push(replaced(open, close, &without(&|place| place == n, Some(arg))));
                        }
                    }
                }
            }
        }
    }
    found
}

/// Blocks that one jump leads to stand in its place; what leads to a block that only jumps leads on.
pub(super) fn merged(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for ((open, close), blocks) in functions(&lines) {
        for block in blocks.iter().skip(1) {
            let named =
                (open..close).filter(|n| *n != block.start && !ways(lines[*n], block.name).is_empty());
            let named: Vec<usize> = named.collect();
            if let [from] = named[..]
                && lines[from].trim_start().starts_with("jump ")
                && !(block.start..block.end).contains(&from)
            {
                let args = ways(lines[from], block.name).into_iter().flat_map(|(_, args)| args);
                let denoted: Vec<(&str, &str)> =
                    block.params.iter().zip(args).map(|((name, _), arg)| (*name, arg)).collect();
                let mut made = Vec::new();
                for (n, line) in lines.iter().enumerate().take(close).skip(open) {
                    match n {
                        _ if n == from => made.extend(&lines[block.start + 1..block.end]),
                        _ if (block.start..block.end).contains(&n) => {}
                        _ => made.push(*line),
                    }
                }
                let made: Vec<String> = made
                    .into_iter()
                    .map(|line| {
                        denoted.iter().fold(line.to_owned(), |line, (name, arg)| substitute(&line, name, arg))
                    })
                    .collect();
                found.push(replaced(open, close, &made));
            }
            if let [only] = lines[block.start + 1..block.end]
                && let Some(target) = only.trim_start().strip_prefix("jump ")
            {
                let onward = |args: &[&str]| {
                    let both = block.params.iter().zip(args);
                    both.fold(target.to_owned(), |target, ((name, _), arg)| substitute(&target, name, arg))
                };
                let made: Vec<String> = (open..close)
                    .filter(|n| !(block.start..block.end).contains(n))
                    .map(|n| redirected(lines[n], block.name, onward))
                    .collect();
                found.push(replaced(open, close, &made));
            }
        }
    }
    found
}

/// A branch that goes one of its ways, or has fewer, and a way that ends.
pub(super) fn branches(text: &str, language: Language) -> Vec<Candidate> {
    if language == Language::Ptx {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let (jumps, switches) = (trimmed.starts_with("jump "), trimmed.starts_with("switch "));
        if !jumps && !switches && !trimmed.starts_with("brif ") {
            continue;
        }
        let mut put = |by: String| found.push(edit(n, n + 1, Some(by)));
        put("  ret".to_owned());
        let ways = parts(trimmed);
        if jumps {
            continue;
        }
        let list =
            ways.last().and_then(|last| last.strip_prefix('[')?.strip_suffix(']')).filter(|_| switches);
        let cases = list.map(parts).unwrap_or_default();
        let targets = ways.iter().skip(1).take(ways.len() - 1 - usize::from(list.is_some())).copied();
        for target in targets.chain(cases.iter().filter_map(|case| Some(case.split_once(": ")?.1))) {
            put(format!("  jump {target}"));
        }
        let head = &ways[..ways.len() - usize::from(list.is_some())];
        for without in 0..cases.len().min(if cases.len() > 1 { cases.len() } else { 0 }) {
            let mut fewer = cases.clone();
            fewer.remove(without);
            put(format!("  {}, [{}]", head.join(", "), fewer.join(", ")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Options, reduce};
    use super::*;

    const TEXT: &str = "\
kernel @k(%p: ptr<global>, %n: i32) {
entry:
  %c = icmp slt %n, %n
  switch %n, one(%n, %n), [1: one(%n, %n), 2: two(%c)]
one(%x: i32, %y: i32):
  store.i32 %x, %p
  jump out(%y)
two(%b: i1):
  jump last
last:
  %z = select %b, %n, %n
  jump out(%z)
out(%r: i32):
  store.i32 %r, %p
  ret
}
";

    /// The candidates that are valid.
    fn valid(step: fn(&str, Language) -> Vec<Candidate>) -> Vec<String> {
        let lines: Vec<&str> = TEXT.lines().collect();
        let texts = step(TEXT, Language::Wir).into_iter().map(|candidate| candidate.text(&lines));
        texts.filter(|text| super::super::is_valid(text, Language::Wir)).collect()
    }

    #[test]
    fn parameters_go_with_their_arguments() {
        let found = valid(parameters);
        let has =
            |label: &str, call: &str| found.iter().any(|text| text.contains(label) && text.contains(call));
        assert!(has("one:\n  %x = iconst.i32 0\n  %y = iconst.i32 0\n", "one, [1: one, 2: two(%c)]"));
        assert!(has("one(%y: i32):\n  %x = iconst.i32 0\n", "one(%n), [1: one(%n), 2: two(%c)]"));
        assert!(has("one(%y: i32):\n  store.i32 %n, %p\n", "one(%n), [1: one(%n), 2: two(%c)]"));
    }

    #[test]
    fn blocks_with_one_way_in_become_part_of_it() {
        let found = valid(merged);
        assert!(found.iter().any(|text| text.contains("two(%b: i1):\n  %z = select %b")), "{found:#?}");
    }

    #[test]
    fn switches_have_fewer_cases_and_go_one_way() {
        let found = valid(branches);
        let has = |line: &str| found.iter().any(|text| text.contains(line));
        assert!(has("  switch %n, one(%n, %n), [2: two(%c)]\n") && has("  jump two(%c)\n"), "{found:#?}");
    }

    #[test]
    fn what_one_store_needs_is_all_that_is_left() {
        let reduced = reduce(TEXT, Language::Wir, &Options::default(), |text| {
            text.contains("store.i32") || text.contains("store %")
        });
        assert!(reduced.finished && reduced.text.lines().count() <= 7, "{}", reduced.text);
    }
}
