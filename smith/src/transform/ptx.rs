//! The steps on PTX.

use super::rewrite::new;
use super::statement::{Nature, Statement};
use super::text::{Text, is_name, names, once_in, one};
use super::{Kind, Known, control, donor, rewrite};
use crate::Random;

/// Applies a step at a line. `None` if it has nothing to do there.
pub(super) fn step(text: &mut Text, kind: Kind, at: usize, random: &mut Random, known: &Known) -> Option<()> {
    // All are about what is in functions.
    let function = text.function(at)?;
    match kind {
        Kind::CopySource => copy_source(text, at, random),
        Kind::CopyResult => copy_result(text, at, random),
        Kind::Rewrite => rewritten(text, at, random),
        Kind::Address => address(text, at, random),
        Kind::TrueGuard => true_guard(text, at, function, random, known),
        Kind::FalseGuard => false_guard(text, at, function, random, known),
        Kind::Around => around(text, at, function, random, known),
        Kind::Donor => donor::call(text, at, random),
        Kind::Outline => donor::outline(text, at),
        Kind::SplitBlock => control::split_block(text, at),
        Kind::InvertBranch => control::invert_branch(text, at),
        Kind::Peel => control::peel(text, at),
        Kind::Scope => control::scope(text, at, random),
        Kind::Swap => control::swap(text, at),
        Kind::OneRound => control::one_round(text, at, random),
    }
}

/// An instruction on registers, at a place: what most steps are about.
pub(super) fn plain(text: &Text, at: usize) -> Option<Statement> {
    let statement = Statement::read(text.at(at))?;
    (statement.nature().is_alone() && !statement.is_of_parameters()).then_some(statement)
}

/// Replaces a line by lines in a scope with registers of their own.
pub(super) fn in_scope(text: &mut Text, at: usize, declared: Vec<String>, lines: Vec<String>, last: String) {
    let before = std::iter::once("    {".to_owned()).chain(declared).chain(lines);
    let at = text.insert_all(at, before);
    text.lines[at].text = last;
    text.insert(at + 1, "    }".to_owned());
}

/// Puts a scope before a place.
pub(super) fn before(text: &mut Text, at: usize, lines: Vec<String>) {
    let open = std::iter::once("    {".to_owned());
    text.insert_all(at, open.chain(lines).chain(["    }".to_owned()]));
}

fn copy_source(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let mut statement = Statement::read(text.at(at))?;
    let nature = statement.nature();
    // What lanes do together reads registers, too.
    let opcode = statement.mnemonic.split('.').next().unwrap_or_default();
    let known =
        nature.is_alone() || matches!(opcode, "shfl" | "vote" | "match" | "redux" | "bar" | "barrier");
    if !known || (statement.is_of_parameters() && nature == Nature::Load) {
        return None;
    }
    let first = usize::from(statement.writes_first());
    let mut places = Vec::new();
    for (n, operand) in statement.operands.iter().enumerate().skip(first) {
        for (start, name) in names(operand) {
            let component = operand[start + name.len()..].starts_with('.');
            if !component && let Some(bits) = text.register(at, name) {
                places.push((n, start, name.to_owned(), bits));
            }
        }
    }
    let (n, start, register, bits) = one(random, &places)?.clone();
    let mut declared = Vec::new();
    let copy = new(text, &mut declared, bits);
    let guard = statement.guard.clone();
    let lines = rewrite::copy(text, [&copy, &register], bits, &guard, &mut declared, random);
    statement.operands[n].replace_range(start..start + register.len(), &copy);
    in_scope(text, at, declared, lines, statement.print());
    Some(())
}

fn copy_result(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let mut statement = Statement::read(text.at(at))?;
    if !matches!(statement.nature(), Nature::Pure | Nature::Load | Nature::Atomic)
        || !statement.writes_first()
    {
        return None;
    }
    let result = statement.operands.first()?.clone();
    let bits = text.register(at, &result).filter(|_| result.chars().all(is_name))?;
    let mut declared = Vec::new();
    let fresh = new(text, &mut declared, bits);
    let guard = statement.guard.clone();
    let mut after = rewrite::copy(text, [&result, &fresh], bits, &guard, &mut declared, random);
    // The last of them writes the result, and so maybe the guard.
    statement.operands[0] = fresh;
    let last = after.pop()?;
    let lines = std::iter::once(statement.print()).chain(after).collect();
    in_scope(text, at, declared, lines, last);
    Some(())
}

fn rewritten(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let statement = plain(text, at)?;
    let mut declared = Vec::new();
    let mut lines = rewrite::integer(text, &statement, &mut declared, random)?;
    let last = lines.pop()?;
    in_scope(text, at, declared, lines, last);
    Some(())
}

/// `[%r+8]` as `[%f+4]` of a register that is computed.
fn address(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let mut statement = plain(text, at)?;
    let place = statement.operands.iter().position(|operand| operand.starts_with('['))?;
    let inside = statement.operands[place].strip_prefix('[')?.strip_suffix(']')?;
    let (base, offset) = inside.split_once('+').unwrap_or((inside, "0"));
    let offset: i64 = offset.parse().ok()?;
    let bits = text.register(at, base).filter(|bits| matches!(bits, 32 | 64))?;
    let mut declared = Vec::new();
    let fresh = new(text, &mut declared, bits);
    let moved = random.below(4096) as i64 - 2048;
    let guard = statement.guard.clone();
    let mut lines = vec![format!("    {guard}mov.b{bits} {fresh}, {base};")];
    if once_in(random, 2) {
        lines.push(format!("    {guard}add.s{bits} {fresh}, {fresh}, {moved};"));
    } else {
        lines.push(format!("    {guard}sub.s{bits} {fresh}, {fresh}, {};", -moved));
    }
    statement.operands[place] = format!("[{fresh}+{}]", offset - moved);
    in_scope(text, at, declared, lines, statement.print());
    Some(())
}

/// Lines that make a predicate true for every thread of every launch, or of this one.
fn truth(
    text: &mut Text,
    (open, _): (usize, usize),
    random: &mut Random,
    known: &Known,
    declared: &mut Vec<String>,
) -> (String, Vec<String>) {
    let [p, a, b] = [0, 32, 32].map(|bits| new(text, declared, bits));
    let header = text.header(open);
    let of_launch: Vec<String> = known
        .scalars
        .iter()
        .filter(|(kernel, ..)| header.contains(&format!(".entry {kernel}(")))
        .filter_map(|(_, place, bytes)| {
            let word = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
            let list = header.split_once('(')?.1.rsplit_once(')')?.0;
            let name = super::text::parts(list).get(*place)?.split(' ').next_back()?.to_owned();
            let scalar = name.chars().all(is_name);
            scalar.then(|| format!("    ld.param.u32 {a}, [{name}];\n    setp.eq.u32 {p}, {a}, {word};"))
        })
        .collect();
    let given = if once_in(random, 2) { one(random, &of_launch) } else { None };
    let lines = match (given, random.below(4)) {
        (Some(lines), _) => lines.clone(),
        (None, 0) => format!(
            "    mov.u32 {a}, %tid.x;\n    mad.lo.u32 {a}, {a}, {a}, {a};\n    and.b32 {a}, {a}, 1;\n    setp.eq.u32 {p}, {a}, 0;"
        ),
        (None, 1) => format!("    mov.u32 {a}, %ntid.x;\n    setp.ne.u32 {p}, {a}, 0;"),
        (None, 2) => {
            format!("    mov.u32 {a}, %tid.y;\n    mov.u32 {b}, %ntid.y;\n    setp.lt.u32 {p}, {a}, {b};")
        }
        (None, _) => {
            format!("    mov.u32 {a}, %laneid;\n    popc.b32 {b}, {a};\n    setp.le.u32 {p}, {b}, 5;")
        }
    };
    (p, lines.lines().map(str::to_owned).collect())
}

fn true_guard(
    text: &mut Text,
    at: usize,
    function: (usize, usize),
    random: &mut Random,
    known: &Known,
) -> Option<()> {
    let mut statement = plain(text, at)?;
    if !statement.guard.is_empty() {
        return None;
    }
    let mut declared = Vec::new();
    let (p, mut lines) = truth(text, function, random, known, &mut declared);
    statement.guard = if once_in(random, 2) {
        format!("@{p} ")
    } else {
        lines.push(format!("    not.pred {p}, {p};"));
        format!("@!{p} ")
    };
    in_scope(text, at, declared, lines, statement.print());
    Some(())
}

/// Instructions that would harm if somebody executed them, at a place.
fn harm(text: &Text, at: usize, (open, close): (usize, usize), random: &mut Random) -> Option<String> {
    let mut offered = Vec::new();
    if let Some(statement) = Statement::read(text.at(at)) {
        let whole = format!("{}{}", statement.guard, statement.operands.join(", "));
        for (name, bits) in text.registers(at, &whole) {
            offered.push(match bits {
                0 => format!("not.pred {name}, {name};"),
                bits => format!("mov.b{bits} {name}, {};", random.below(1 << 15)),
            });
            if text.holds_addresses(at, &name) {
                offered.push(format!("st.b32 [{name}+4], 1;"));
            }
        }
        if plain(text, at).is_some() && statement.guard.is_empty() {
            offered.push(statement.print().trim().to_owned());
        }
    }
    if !text.is_joint((open, close)) {
        offered.push("trap;".to_owned());
        offered.push("exit;".to_owned());
        // Labels of the outermost scope can be named everywhere.
        let mut depth = 0;
        for line in &text.lines[open..close] {
            match line.text.trim() {
                "{" => depth += 1,
                "}" => depth -= 1,
                label if depth == 1 && label.ends_with(':') => {
                    offered.push(format!("bra {};", label.trim_end_matches(':')));
                }
                _ => {}
            }
        }
    }
    one(random, &offered).cloned()
}

fn false_guard(
    text: &mut Text,
    at: usize,
    function: (usize, usize),
    random: &mut Random,
    known: &Known,
) -> Option<()> {
    control::may_begin(text, at).then_some(())?;
    let harm = harm(text, at, function, random)?;
    let mut declared = Vec::new();
    let (p, mut lines) = truth(text, function, random, known, &mut declared);
    lines.push(format!("    @!{p} {harm}"));
    declared.extend(lines);
    before(text, at, declared);
    Some(())
}

fn around(
    text: &mut Text,
    at: usize,
    function: (usize, usize),
    random: &mut Random,
    known: &Known,
) -> Option<()> {
    control::may_begin(text, at).then_some(())?;
    let harms: Vec<String> = (0..=random.below(3)).filter_map(|_| harm(text, at, function, random)).collect();
    let mut declared = Vec::new();
    let (p, mut lines) = truth(text, function, random, known, &mut declared);
    let label = format!("${}", text.name());
    lines.push(format!("    @{p} bra {label};"));
    lines.extend(harms.into_iter().map(|harm| format!("    {harm}")));
    lines.push(format!("{label}:"));
    declared.extend(lines);
    before(text, at, declared);
    Some(())
}
