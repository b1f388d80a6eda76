//! The steps on IR.

use super::Kind;
use super::text::{Text, names_of, once_in, one, renamed};
use crate::Random;
use arbitrary::Unstructured;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Module, Opcode, Type, ValueDef};
use warpsmith_isa::StateSpace;

/// True for what a name of IR consists of; one of PTX ends in front of a dot.
fn is_name(c: char) -> bool {
    super::text::is_name(c) || c == '.'
}

fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    names_of(text, is_name)
}

/// What is known of the function that a line is in.
struct Function {
    /// Its first line and its last, which are not its body.
    open: usize,
    close: usize,
    /// The types of its values by their names, and what makes them.
    types: FxHashMap<String, (Type, Option<Opcode>)>,
    module: Module,
}

impl Function {
    fn of(text: &Text, at: usize) -> Option<Function> {
        let open = (0..at).rev().find(|n| {
            let line = &text.lines[*n].text;
            line.ends_with('{') && !line.starts_with(' ')
        })?;
        let close =
            (open..text.lines.len()).find(|n| text.lines[*n].text == "}").filter(|close| at < *close)?;
        let name = text.lines[open].text.split_once('@')?.1;
        let name = &name[..name.find(|c: char| !is_name(c)).unwrap_or(name.len())];
        let module = warpsmith_ir::parse_module(text.print()).ok()?;
        let func = module.functions.values().find(|func| func.name == name)?;
        let types = func.dfg.values().map(|value| {
            let name = func.names.get(value).map_or_else(|| value.to_string(), |name| format!("%{name}"));
            let made = match func.dfg.def(value) {
                ValueDef::Result(inst, _) => Some(func.dfg.opcode(inst)),
                ValueDef::Param(..) | ValueDef::Alias(_) | ValueDef::Detached => None,
            };
            (name, (func.dfg.ty(value), made))
        });
        let types = types.collect();
        Some(Function { open, close, types, module })
    }

    fn ty(&self, name: &str) -> Option<Type> {
        Some(self.types.get(name)?.0)
    }

    /// A type as the text writes it.
    fn written(&self, ty: Type) -> String {
        self.module.types.display(ty).to_string()
    }
}

/// `%d = op rest`
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let (result, operation) = line.split_once(" = ")?;
    let (op, rest) = operation.split_once(' ').unwrap_or((operation, ""));
    (result.starts_with('%') && !result.contains([',', ':'])).then_some((result, op, rest))
}

/// True for a line of a block: not a label, and not the last of a block.
fn is_inside(line: &str) -> bool {
    line.starts_with("  ") && !line.starts_with("  stack ") && !is_hint(line) && !is_end(line.trim())
}

/// True for what is said of the loop whose block begins there: it stays the first line of the block.
fn is_hint(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("unroll" | "nounroll"))
}

/// True for what ends a block.
fn is_end(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    matches!(word, "jump" | "brif" | "switch" | "ret" | "trap" | "unreachable") || line.starts_with("tail")
}

/// Applies a step at a line. `None` if it has nothing to do there.
pub(super) fn step(text: &mut Text, kind: Kind, at: usize, random: &mut Random) -> Option<()> {
    let line = text.lines[at].text.clone();
    if !line.starts_with("  ") || line.starts_with("  stack ") || is_hint(&line) || line.ends_with("; ") {
        return None;
    }
    match kind {
        Kind::Rewrite => rewrite(text, at),
        Kind::CopySource => copy_source(text, at, random),
        Kind::CopyResult => copy_result(text, at),
        Kind::Address => address(text, at, random),
        Kind::Around | Kind::FalseGuard => around(text, at, random),
        Kind::Donor => donor(text, at, random),
        Kind::Outline => outline(text, at),
        Kind::SplitBlock => split_block(text, at),
        Kind::InvertBranch => invert_branch(text, at),
        Kind::Peel => peel(text, at, random),
        Kind::Swap => swap(text, at),
        Kind::OneRound | Kind::TrueGuard => one_round(text, at, random),
        // There are no scopes.
        Kind::Scope => None,
    }
}

fn rewrite(text: &mut Text, at: usize) -> Option<()> {
    let line = text.at(at).to_owned();
    let (d, op, rest) = assignment(&line)?;
    let args = super::text::parts(rest);
    let fresh = |text: &mut Text| format!("%{}", text.name());
    let (x, y) = (fresh(text), fresh(text));
    let value = |arg: &str| arg.starts_with('%') && arg[1..].chars().all(is_name);
    let lines: Vec<String> = match (op, args.as_slice()) {
        ("iadd", [a, b]) if value(a) && value(b) => {
            vec![format!("{x} = ineg {b}"), format!("{d} = isub {a}, {x}")]
        }
        ("isub", [a, b]) if value(a) && value(b) => {
            vec![format!("{x} = ineg {b}"), format!("{d} = iadd {x}, {a}")]
        }
        ("imul", [a, b]) if value(a) && value(b) => {
            vec![format!("{x} = ineg {a}"), format!("{y} = imul {b}, {x}"), format!("{d} = ineg {y}")]
        }
        ("bxor", [a, b]) if value(a) && value(b) => {
            vec![
                format!("{x} = bor {a}, {b}"),
                format!("{y} = band {a}, {b}"),
                format!("{d} = bxor {x}, {y}"),
            ]
        }
        ("band", [a, b]) if value(a) && value(b) => {
            vec![
                format!("{x} = bor {a}, {b}"),
                format!("{y} = bxor {a}, {b}"),
                format!("{d} = bxor {x}, {y}"),
            ]
        }
        ("bor", [a, b]) if value(a) && value(b) => {
            vec![
                format!("{x} = bxor {a}, {b}"),
                format!("{y} = band {a}, {b}"),
                format!("{d} = bxor {x}, {y}"),
            ]
        }
        ("select", [c, a, b]) if value(c) => {
            vec![format!("{x} = bnot {c}"), format!("{d} = select {x}, {b}, {a}")]
        }
        ("icmp", [first, b]) => {
            let (condition, a) = first.split_once(' ')?;
            if !value(a) || !value(b) {
                return None;
            }
            let opposite = match condition {
                "eq" => "ne",
                "ne" => "eq",
                "slt" => "sge",
                "sge" => "slt",
                "sgt" => "sle",
                "sle" => "sgt",
                "ult" => "uge",
                "uge" => "ult",
                "ugt" => "ule",
                "ule" => "ugt",
                _ => return None,
            };
            vec![format!("{x} = icmp {opposite} {a}, {b}"), format!("{d} = bnot {x}")]
        }
        _ => return None,
    };
    replace(text, at, lines);
    Some(())
}

/// Replaces a line, which keeps its number as the last of them.
fn replace(text: &mut Text, at: usize, mut lines: Vec<String>) {
    let last = lines.pop().unwrap_or_default();
    let at = text.insert_all(at, lines.into_iter().map(|line| format!("  {line}")));
    text.lines[at].text = format!("  {last}");
}

/// Lines that make a copy of a value.
fn copy(
    text: &mut Text,
    function: &Function,
    value: &str,
    random: &mut Random,
) -> Option<(String, Vec<String>)> {
    let ty = function.ty(value)?;
    let [to, x] = [0; 2].map(|_| format!("%{}", text.name()));
    let integer = ty.element_type().is_int();
    let lines = match random.below(4) {
        0 if integer => vec![format!("{x} = bnot {value}"), format!("{to} = bnot {x}")],
        1 if integer && ty.element_type().bits() > 1 => {
            vec![format!("{x} = ineg {value}"), format!("{to} = ineg {x}")]
        }
        2 if ty.bytes().is_some() && !ty.is_aggregate() => {
            let slot = format!("%{}", text.name());
            let size = ty.bytes()?.next_multiple_of(16);
            text.insert(function.open + 1, format!("  stack {slot}: {size} align 16"));
            vec![
                format!("{x} = stack_addr {slot}"),
                format!("store {value}, {x}"),
                format!("{to} = load.{ty} {x}"),
            ]
        }
        _ => {
            let label = text.name();
            vec![format!("jump {label}({value})"), format!("{label}({to}: {}):", function.written(ty))]
        }
    };
    Some((to, lines))
}

/// Puts lines before one; a label among them is not indented.
fn put(text: &mut Text, id: u64, lines: Vec<String>) -> Option<usize> {
    let at = text.place(id)?;
    Some(text.insert_all(
        at,
        lines.into_iter().map(|line| if line.ends_with(':') { line } else { format!("  {line}") }),
    ))
}

fn copy_source(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let (id, line) = (text.lines[at].id, text.lines[at].text.clone());
    let function = Function::of(text, at)?;
    let from = line.find(" = ").map_or(0, |n| n + 3);
    let used: Vec<(usize, String)> = names(&line[from..])
        .filter(|(_, name)| function.types.contains_key(*name))
        .map(|(start, name)| (from + start, name.to_owned()))
        .collect();
    let (start, value) = one(random, &used)?.clone();
    let (to, lines) = copy(text, &function, &value, random)?;
    let at = put(text, id, lines)?;
    text.lines[at].text.replace_range(start..start + value.len(), &to);
    Some(())
}

/// The result has another name, and is handed to a block under its own.
fn copy_result(text: &mut Text, at: usize) -> Option<()> {
    let line = text.at(at).to_owned();
    let (result, ..) = assignment(&line)?;
    let function = Function::of(text, at)?;
    let ty = function.written(function.ty(result)?);
    let (fresh, label) = (format!("%{}", text.name()), text.name());
    text.lines[at].text = format!("  {}", line.replacen(result, &fresh, 1));
    text.insert_all(at + 1, [format!("  jump {label}({fresh})"), format!("{label}({result}: {ty}):")]);
    Some(())
}

/// `%p + 8` as `%q + 3` of a pointer that is computed.
fn address(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let (id, line) = (text.lines[at].id, text.lines[at].text.clone());
    let (before, after) = line.split_once(" + ")?;
    let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let offset: u64 = after[..digits].parse().ok()?;
    let pointer = before.rsplit(' ').next().filter(|p| p.starts_with('%'))?.to_owned();
    if !(before.contains(" = load") || before.trim().starts_with("store")) || offset == 0 {
        return None;
    }
    let moved = 1 + random.below(offset);
    let fresh = format!("%{}", text.name());
    let at = put(text, id, vec![format!("{fresh} = ptradd {pointer}, {moved}")])?;
    let stem = &before[..before.len() - pointer.len()];
    let rest = if offset == moved { String::new() } else { format!(" + {}", offset - moved) };
    text.lines[at].text = format!("{stem}{fresh}{rest}{}", &after[digits..]);
    Some(())
}

/// Before a line: a branch that all take, around code that would harm.
fn around(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let id = text.lines[at].id;
    let function = Function::of(text, at)?;
    let [a, b, c, d, p] = [0; 5].map(|_| format!("%{}", text.name()));
    let (next, harm) = (text.name(), text.name());
    let mut lines = match random.below(2) {
        0 => vec![
            format!("{a} = sreg.tid.x"),
            format!("{b} = imul {a}, {a}"),
            format!("{c} = iadd {a}, {b}"),
            format!("{d} = band {c}, 1"),
            format!("{p} = icmp eq {d}, 0"),
        ],
        _ => vec![
            format!("{a} = sreg.tid.y"),
            format!("{b} = sreg.ntid.y"),
            format!("{p} = icmp ult {a}, {b}"),
        ],
    };
    lines.push(format!("brif {p}, {next}, {harm}"));
    lines.push(format!("{harm}:"));
    // Lanes that wait for each other must meet where they did.
    let body = &text.lines[function.open..function.close];
    let joint = ["ptx.", "shfl", "vote", "ballot", "match_", "warp_", "barrier", "call"];
    let joint = body.iter().any(|line| joint.iter().any(|word| line.text.contains(word)));
    let pointer = names(&text.lines[at].text).find_map(|(_, name)| {
        let ty = function.ty(name)?;
        [Type::PTR_GLOBAL, Type::PTR_SHARED, Type::PTR_LOCAL].contains(&ty).then(|| name.to_owned())
    });
    let defined = assignment(text.at(at)).map(|(result, ..)| result.to_owned());
    if let Some(pointer) = pointer.filter(|pointer| defined.as_ref() != Some(pointer)) {
        let seven = format!("%{}", text.name());
        lines.push(format!("{seven} = iconst.i32 7"));
        lines.push(format!("store {seven}, {pointer}"));
    }
    lines.push(if joint || once_in(random, 2) { format!("jump {next}") } else { "trap".to_owned() });
    lines.push(format!("{next}:"));
    put(text, id, lines)?;
    Some(())
}

fn split_block(text: &mut Text, at: usize) -> Option<()> {
    let label = text.name();
    text.insert_all(at, [format!("  jump {label}"), format!("{label}:")]);
    Some(())
}

fn invert_branch(text: &mut Text, at: usize) -> Option<()> {
    let line = text.at(at).to_owned();
    let args = super::text::parts(line.strip_prefix("brif ")?);
    let &[condition, yes, no] = args.as_slice() else { return None };
    let fresh = format!("%{}", text.name());
    replace(text, at, vec![format!("{fresh} = bnot {condition}"), format!("brif {fresh}, {no}, {yes}")]);
    Some(())
}

/// A branch goes to a copy of a block none of whose values is used elsewhere.
fn peel(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let line = text.lines[at].text.clone();
    let function = Function::of(text, at)?;
    let labels: Vec<(usize, String)> = (function.open..function.close)
        .filter_map(|n| {
            let label = text.lines[n].text.strip_suffix(':')?;
            Some((n, label.split('(').next()?.to_owned()))
        })
        .collect();
    if !is_end(line.trim()) {
        return None;
    }
    let targets: Vec<(usize, String)> = names(&line)
        .filter(|(_, name)| labels.iter().any(|(_, label)| label == name))
        .map(|(start, name)| (start, name.to_owned()))
        .collect();
    let (start, target) = one(random, &targets)?.clone();
    let head = labels.iter().find(|(_, label)| *label == target)?.0;
    let end = (head + 1..function.close).find(|n| is_end(text.at(*n)))?;
    let block = head..end + 1;
    let of_head = names(&text.lines[head].text).map(|(_, name)| name.to_owned());
    let mut made: Vec<String> = of_head.filter(|name| name.starts_with('%')).collect();
    for n in head + 1..=end {
        if let Some((results, _)) = text.at(n).split_once(" = ") {
            let name = |result: &str| result.split(':').next().unwrap_or_default().to_owned();
            made.extend(results.split(", ").map(name));
        }
        let joint = ["ptx.", "shfl", "vote", "ballot", "match_", "warp_", "barrier"];
        if joint.iter().any(|word| text.at(n).contains(word)) {
            return None;
        }
    }
    let outside = (function.open..function.close).filter(|n| !block.contains(n));
    let escapes = |n: usize| names(&text.lines[n].text).any(|(_, name)| made.iter().any(|m| m == name));
    if outside.into_iter().any(escapes) {
        return None;
    }
    let label = text.name();
    let suffix = text.name();
    let name = |name: &str| made.iter().any(|m| m == name).then(|| format!("{name}_{suffix}"));
    let mut copied: Vec<String> = block.map(|n| renamed(&text.lines[n].text, is_name, name)).collect();
    copied[0] = copied[0].replacen(&target, &label, 1);
    text.lines[at].text.replace_range(start..start + target.len(), &label);
    text.insert_all(end + 1, copied);
    Some(())
}

fn swap(text: &mut Text, at: usize) -> Option<()> {
    let function = Function::of(text, at)?;
    let (a, b) = (text.lines[at].text.clone(), text.lines[at + 1].text.clone());
    let ((of_a, ..), (of_b, ..)) = (assignment(a.trim())?, assignment(b.trim())?);
    let pure = |name: &str| function.types.get(name)?.1.map(|op| op.traits().is_pure());
    let independent = names(&b).all(|(_, name)| name != of_a);
    (pure(of_a)? && pure(of_b)? && independent).then(|| {
        (text.lines[at].text, text.lines[at + 1].text) = (b, a);
    })
}

/// A loop that goes round once, around some lines of a block.
fn one_round(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let alone = |line: &str| {
        let joint = ["ptx.", "shfl", "vote", "ballot", "match_", "warp_", "barrier", "call"];
        is_inside(line) && !joint.iter().any(|word| line.contains(word))
    };
    let most = 1 + random.below(6) as usize;
    let count = text.lines[at..].iter().take(most).take_while(|line| alone(&line.text)).count();
    if count == 0 {
        return None;
    }
    let [zero, i, next, more] = [0; 4].map(|_| format!("%{}", text.name()));
    let (round, done) = (text.name(), text.name());
    let after = [
        format!("  {next} = iadd {i}, 1"),
        format!("  {more} = icmp slt {next}, 1"),
        format!("  brif {more}, {round}({next}), {done}"),
        format!("{done}:"),
    ];
    text.insert_all(at + count, after);
    let before = [
        format!("  {zero} = iconst.i32 0"),
        format!("  jump {round}({zero})"),
        format!("{round}({i}: i32):"),
    ];
    text.insert_all(at, before);
    Some(())
}

/// An operation that depends on its operands alone, as a function.
fn outline(text: &mut Text, at: usize) -> Option<()> {
    let (id, line) = (text.lines[at].id, text.at(at).to_owned());
    let function = Function::of(text, at)?;
    let (result, op, rest) = assignment(&line)?;
    let (ty, made) = *function.types.get(result)?;
    made.filter(|op| op.traits().is_pure() && *op != Opcode::StackAddr)?;
    let mut read: Vec<(String, Type)> = Vec::new();
    for (_, name) in names(rest).filter(|(_, name)| name.starts_with('%')) {
        if !read.iter().any(|(known, _)| known == name) {
            read.push((name.to_owned(), function.ty(name)?));
        }
    }
    // Pointers to parameters cannot be passed on.
    if read.iter().map(|(_, ty)| *ty).chain([ty]).any(|ty| ty.space() == Some(StateSpace::Param)) {
        return None;
    }
    let name = text.name();
    let parameter = |(n, (_, ty)): (usize, &(String, Type))| format!("%a{n}: {}", function.written(*ty));
    let listed: Vec<String> = read.iter().enumerate().map(parameter).collect();
    let inside = |name: &str| Some(format!("%a{}", read.iter().position(|(known, _)| known == name)?));
    let lines = [
        format!("func @{name}({}) -> {} {{", listed.join(", "), function.written(ty)),
        "entry:".to_owned(),
        format!("  %r = {op} {}", renamed(rest, is_name, inside)),
        "  ret %r".to_owned(),
        "}".to_owned(),
        String::new(),
    ];
    text.insert_all(function.open, lines);
    let arguments: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
    let at = text.place(id)?;
    text.lines[at].text = format!("  {result} = call @{name}({})", arguments.join(", "));
    Some(())
}

/// Functions of a random module are put before this one, the last of them is called, and its result kept in memory that nothing reads.
fn donor(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let (id, function) = (text.lines[at].id, Function::of(text, at)?);
    let bytes = random.bytes(800);
    let mut config = crate::ir::Config::default();
    // Types with names would have to be made others than those of the text.
    (config.memory, config.special, config.aggregates) = (false, false, false);
    let module: Module = crate::ir::module(&mut Unstructured::new(&bytes), &config).ok()?;
    let helper = module.functions.values().rfind(|func| func.name != "k")?;
    let name = text.name();
    let whole = module.to_string();
    let mut lines = Vec::new();
    let mut takes = false;
    for line in whole.lines() {
        takes |= line.starts_with("func @helper");
        if takes {
            lines.push(line.replace("@helper", &format!("@{name}_")));
        }
        takes &= line != "}";
    }
    let mut call = Vec::new();
    let mut arguments = Vec::new();
    for param in &helper.params {
        let value = format!("%{}", text.name());
        let element = param.ty.element_type();
        let constant = match element.is_float() {
            true => format!("fconst.{element} 1.0"),
            false => format!("iconst.{element} {}", random.below(2)),
        };
        if param.ty.is_vector() {
            let scalar = format!("%{}", text.name());
            call.push(format!("{scalar} = {constant}"));
            call.push(format!("{value} = splat.{} {scalar}", param.ty));
        } else {
            call.push(format!("{value} = {constant}"));
        }
        arguments.push(value);
    }
    let result = format!("%{}", text.name());
    let callee = helper.name.replace("helper", &format!("{name}_"));
    call.push(format!("{result} = call @{callee}({})", arguments.join(", ")));
    put(text, id, call)?;
    text.insert_all(function.open, lines);
    Some(())
}
