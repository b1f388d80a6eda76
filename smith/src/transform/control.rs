//! Other ways through the same code: blocks, branches, loops, scopes, order.

use super::ptx::plain;
use super::statement::{Nature, Statement};
use super::text::{Text, is_name, names};
use crate::Random;

/// True for a line of a call: nothing may come between its parameters and it.
fn in_call(text: &Text, at: usize) -> bool {
    let mut depth = 0i32;
    let mut before = text.lines[..at].iter().rev().take_while(|line| {
        depth += i32::from(line.text.trim() == "}") - i32::from(line.text.trim() == "{");
        depth >= 0
    });
    let before = before.any(|line| line.text.trim().starts_with(".param "));
    before || text.at(at).starts_with(".param ")
}

/// True for a line before which a block may begin.
pub(super) fn may_begin(text: &Text, at: usize) -> bool {
    Statement::read(text.at(at)).is_some_and(|s| !s.is_of_parameters()) && !in_call(text, at)
}

pub(super) fn split_block(text: &mut Text, at: usize) -> Option<()> {
    may_begin(text, at).then_some(())?;
    let label = format!("${}", text.name());
    text.insert_all(at, [format!("    bra {label};"), format!("{label}:")]);
    Some(())
}

/// `@p bra L` as `@!p bra next; bra L; next:`.
pub(super) fn invert_branch(text: &mut Text, at: usize) -> Option<()> {
    let statement = Statement::read(text.at(at)).filter(|s| s.mnemonic == "bra" && !s.guard.is_empty())?;
    let label = format!("${}", text.name());
    let opposite = match statement.guard.strip_prefix("@!") {
        Some(condition) => format!("@{condition}"),
        None => statement.guard.replacen('@', "@!", 1),
    };
    text.insert(at, format!("    {opposite}bra {label};"));
    text.lines[at + 1].text = format!("    bra {};", statement.operands.first()?);
    text.insert(at + 2, format!("{label}:"));
    Some(())
}

/// A branch goes to a copy of the block that it goes to, from which it goes on as the block does.
pub(super) fn peel(text: &mut Text, at: usize) -> Option<()> {
    let statement = Statement::read(text.at(at)).filter(|s| s.mnemonic == "bra")?;
    let target = statement.operands.first()?.clone();
    let branch = text.lines[at].id;
    let (open, close) = text.function(at)?;
    let mark = format!("{target}:");
    let head = (open..close).find(|n| text.at(*n) == mark)?;
    let mut copied = Vec::new();
    let mut next = None;
    for n in head + 1..close {
        let line = text.at(n);
        if let Some(label) = line.strip_suffix(':') {
            next = Some(label.to_owned());
            break;
        }
        let inside = Statement::read(line);
        let ends = inside.as_ref().is_some_and(|inside| {
            inside.guard.is_empty() && matches!(inside.mnemonic.as_str(), "ret" | "exit" | "bra" | "trap")
        });
        let copies = inside.is_some_and(|inside| {
            (ends || inside.mnemonic == "bra" || inside.nature().is_alone()) && !inside.is_of_parameters()
        });
        if !copies {
            // A declaration, a scope, or what is not done twice; what is before it is copied, and gone on from there.
            if copied.is_empty() {
                return None;
            }
            let label = format!("${}", text.name());
            text.insert(n, format!("{label}:"));
            next = Some(label);
            break;
        }
        copied.push(line.to_owned());
        if ends {
            break;
        }
    }
    let label = format!("${}", text.name());
    let mut lines = vec![format!("    bra {target};"), format!("{label}:")];
    lines.extend(copied.into_iter().map(|line| format!("    {line}")));
    if let Some(next) = next {
        lines.push(format!("    bra {next};"));
    }
    let branch = text.place(branch)?;
    text.lines[branch].text = format!("    {}bra {label};", statement.guard);
    text.insert_all(head, lines);
    Some(())
}

/// The statements from a place that belong to no others: no labels, declarations or scopes.
fn run(text: &Text, at: usize, most: usize) -> usize {
    let plain = |line: &super::text::Line| Statement::read(&line.text).is_some_and(|s| !s.is_of_parameters());
    text.lines[at..].iter().take(most).take_while(|line| plain(line)).count()
}

/// Braces around statements, with registers whose names they do not use.
pub(super) fn scope(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    may_begin(text, at).then_some(())?;
    let count = run(text, at, 1 + random.below(8) as usize);
    let used: Vec<String> = text.lines[at..at + count]
        .iter()
        .flat_map(|line| names(&line.text).map(|(_, name)| name.to_owned()).collect::<Vec<_>>())
        .collect();
    let (open, _) = text.function(at)?;
    let mut hidden: Vec<String> = Vec::new();
    for line in &text.lines[open..at] {
        let Some(list) = line.text.trim().strip_prefix(".reg .") else { continue };
        let Some((ty, list)) = list.trim_end_matches(';').split_once(' ') else { continue };
        if ty.starts_with('v') {
            continue;
        }
        for item in list.split(", ") {
            let name = match item.split_once('<') {
                Some((stem, count)) => {
                    let count = count.trim_end_matches('>').parse().unwrap_or(1);
                    format!("{stem}{}", random.below(count))
                }
                None => item.to_owned(),
            };
            if name.chars().all(is_name) && !used.contains(&name) && !hidden.contains(&name) {
                hidden.push(name);
            }
        }
    }
    let types = [".b64", ".b32", ".pred", ".f32", ".b16", ".f64"];
    let mut lines = vec!["    {".to_owned()];
    let mut stems: Vec<String> = Vec::new();
    for name in hidden {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        if random.below(3) != 0 || stems.contains(&stem) || stems.len() == 4 {
            continue;
        }
        stems.push(stem.clone());
        let ty = types[random.below(types.len() as u64) as usize];
        let family = random.below(4) == 0 && stem != name && !used.iter().any(|used| used.starts_with(&stem));
        let zero = if ty == ".pred" { "setp.ne.u32 NAME, 1, 1;" } else { "mov.TYPE NAME, 0;" };
        if family {
            lines.push(format!("    .reg {ty} {stem}<99999>;"));
        } else {
            lines.push(format!("    .reg {ty} {name};"));
            let bits = ty.trim_start_matches(['.', 'b', 'f']);
            let zero = zero.replace("TYPE", &format!("b{bits}")).replace("NAME", &name);
            lines.push(format!("    {zero}"));
        }
    }
    let from = text.insert_all(at, lines);
    text.insert(from + count, "    }".to_owned());
    Some(())
}

/// Two neighbours that have nothing to do with each other.
pub(super) fn swap(text: &mut Text, at: usize) -> Option<()> {
    let (a, b) = (plain(text, at)?, plain(text, at + 1)?);
    let both = [a.nature(), b.nature()];
    let memory = |nature: Nature| nature != Nature::Pure;
    if (memory(both[0]) && memory(both[1]) && both != [Nature::Load; 2])
        || !a.writes_first()
        || !b.writes_first()
    {
        return None;
    }
    let base = |name: &str| name.to_owned();
    let used = |s: &Statement, from: usize| -> Vec<String> {
        let operands =
            s.operands.iter().skip(from).flat_map(|o| names(o).map(|(_, n)| base(n)).collect::<Vec<_>>());
        operands.chain(names(&s.guard).map(|(_, n)| base(n))).collect()
    };
    let written = |s: &Statement| -> Vec<String> {
        s.operands.first().map(|o| names(o).map(|(_, n)| base(n)).collect()).unwrap_or_default()
    };
    let clash = |w: &[String], others: &[String]| w.iter().any(|name| others.contains(name));
    if clash(&written(&a), &used(&b, 0)) || clash(&written(&b), &used(&a, 0)) {
        return None;
    }
    let (first, second) = (text.lines[at].text.clone(), text.lines[at + 1].text.clone());
    (text.lines[at].text, text.lines[at + 1].text) = (second, first);
    Some(())
}

/// A loop that goes round once.
pub(super) fn one_round(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    may_begin(text, at).then_some(())?;
    let alone = |line: &super::text::Line| {
        Statement::read(&line.text).is_some_and(|s| s.nature().is_alone() && !s.is_of_parameters())
    };
    let most = 1 + random.below(6) as usize;
    let count = text.lines[at..].iter().take(most).take_while(|line| alone(line)).count();
    if count == 0 {
        return None;
    }
    let (counter, p, label) =
        (format!("%{}", text.name()), format!("%{}", text.name()), format!("${}", text.name()));
    let from = text.insert_all(
        at,
        [
            "    {".to_owned(),
            format!("    .reg .b32 {counter};"),
            format!("    .reg .pred {p};"),
            format!("    mov.u32 {counter}, %tid.x;"),
            format!("    and.b32 {counter}, {counter}, 0;"),
            format!("{label}:"),
        ],
    );
    text.insert_all(
        from + count,
        [
            format!("    add.s32 {counter}, {counter}, 1;"),
            format!("    setp.lt.s32 {p}, {counter}, 1;"),
            format!("    @{p} bra {label};"),
            "    }".to_owned(),
        ],
    );
    Some(())
}
