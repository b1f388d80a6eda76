//! Rules as Rust source, for the build script.

use super::language::{Kind, Op, Parsed, Tree};
use std::fmt::Write as _;

/// The table of all rules, and what is looked at first of each, sorted by the operation that they match.
pub fn generate(files: &[(String, Vec<Parsed>)]) -> String {
    let mut rules: Vec<(&str, &Parsed, &Op)> = Vec::new();
    for (file, parsed) in files {
        rules.extend(parsed.iter().filter_map(|rule| match &rule.pattern {
            Tree::Op(root) => Some((&**file, rule, root)),
            Tree::Value(..) | Tree::Constant(..) | Tree::Int(_) | Tree::Float(_) | Tree::Fact(..) => None,
        }));
    }
    let mut out = String::from("#[allow(unused_parens, unused_variables)]\npub static RULES: &[Rule] = &[\n");
    for (file, rule, root) in rules {
        // What asks for known bits takes the longest to find out.
        let mut conditions: Vec<&Tree> = rule.conditions.iter().collect();
        conditions.sort_by_key(|condition| any(condition, &asks_for_bits));
        let tests: Vec<String> = conditions.iter().map(|condition| test(condition)).collect();
        let conditions: Vec<String> = conditions.into_iter().map(term).collect();
        writeln!(
            out,
            "Rule {{ name: {:?}, file: {file:?}, line: {}, text: {:?}, root: Opcode::{}, pattern: {}, \
             replacement: {}, conditions: &[{}], tests: &[{}] }},",
            rule.name,
            rule.line,
            rule.text,
            camel(&root.name),
            term(&rule.pattern),
            term(&rule.replacement),
            conditions.join(", "),
            tests.join(", "),
        )
        .expect("writing to a string cannot fail");
    }
    out.push_str("];\n");
    let plain = entries(files, |rule| !is_demanded(rule) && !has_flags(&rule.pattern));
    let demanded = entries(files, is_demanded);
    let fast = entries(files, |rule| !is_demanded(rule) && has_flags(&rule.pattern));
    writeln!(out, "const ENTRIES: [&[Entry]; 3] = [&[{plain}], &[{demanded}], &[{fast}]];")
        .expect("writing to a string cannot fail");
    out
}

/// The entries of the rules that are kept, sorted by the operation that they match.
fn entries(files: &[(String, Vec<Parsed>)], keep: impl Fn(&Parsed) -> bool) -> String {
    let all = files.iter().flat_map(|(_, rules)| rules).enumerate();
    let mut kept: Vec<(&Op, String)> = all
        .filter(|(_, rule)| keep(rule))
        .filter_map(|(n, rule)| match &rule.pattern {
            Tree::Op(root) => Some((root, entry(n, root, &rule.conditions))),
            Tree::Value(..) | Tree::Constant(..) | Tree::Int(_) | Tree::Float(_) | Tree::Fact(..) => None,
        })
        .collect();
    // In the order of the files where the operation and how it compares are the same.
    kept.sort_by(|(a, _), (b, _)| (&a.name, &a.condition).cmp(&(&b.name, &b.condition)));
    kept.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>().join(", ")
}

fn entry(number: usize, root: &Op, conditions: &[Tree]) -> String {
    let mut heads = Vec::new();
    let mut mask = 0u32;
    for (place, arg) in root.args.iter().enumerate() {
        let head = match arg {
            Tree::Value(..) | Tree::Fact(..) => continue,
            Tree::Constant(..) | Tree::Int(_) | Tree::Float(_) => "CONSTANT".to_owned(),
            Tree::Op(inner) => format!("(Opcode::{} as u32 + 1)", camel(&inner.name)),
        };
        heads.push(if place == 0 { head } else { format!("{head} << {}", 8 * place) });
        mask |= 0xff << (8 * place);
    }
    if let Some(comparison) = comparison(root) {
        heads.push(format!("({} as u32) << 24", condition(comparison)));
        mask |= 0xff << 24;
    }
    let heads = if heads.is_empty() { "0".to_owned() } else { heads.join(" | ") };
    let (compared, needs) = (condition(root), needs(root, conditions));
    format!(
        "Entry {{ root: Opcode::{}, compared: {compared}, rule: {number}, heads: {heads}, mask: {mask}, needs: {needs} }}",
        camel(&root.name)
    )
}

/// What decides how an instruction of a pattern compares: itself, or else its first operand if that is not one of two, which may change places.
fn comparison(root: &Op) -> Option<&Op> {
    let first = match root.args.first() {
        Some(Tree::Op(first)) if root.args.len() != 2 => Some(first),
        _ => None,
    };
    [Some(root), first].into_iter().flatten().find(|op| op.condition.is_some())
}

/// How an operation compares, as a number; 0 if it does not.
fn condition(op: &Op) -> String {
    match (&*op.name, &op.condition) {
        (_, None) => "0".to_owned(),
        ("fcmp", Some(name)) => format!("(FloatCC::{} as u8 + 1)", camel(name)),
        (_, Some(name)) => format!("(IntCC::{} as u8 + 1)", camel(name)),
    }
}

/// What a pattern needs of operands beyond what they are computed by, as bits of `needs` of the module that includes this.
fn needs(root: &Op, conditions: &[Tree]) -> String {
    let mut all = Vec::new();
    // Operands of commutative operations are matched in either order, unless one is a constant.
    let constant = |arg: &Tree| matches!(arg, Tree::Constant(..) | Tree::Int(_) | Tree::Float(_));
    let in_place = root.args.len() == 1 || root.condition.is_some() || root.args.iter().take(2).any(constant);
    for (place, arg) in root.args.iter().enumerate() {
        match arg {
            Tree::Int(literal @ -1..=1) => all.push(format!("needs::literal({place}, {literal})")),
            Tree::Value(n, ty) => {
                let behind = root.args.iter().enumerate().skip(place + 1);
                let same = behind.filter(|(_, other)| matches!(other, Tree::Value(m, _) if m == n));
                all.extend(same.map(|(other, _)| format!("needs::same({place}, {other})")));
                if *ty == Some(Kind::Fixed("i1".to_owned())) {
                    all.push(format!("needs::bool({place})"));
                }
            }
            Tree::Op(inner) if in_place && inner.bound.is_some() => {
                let once = |tree: &Tree| matches!(tree, Tree::Fact(name, of) if name == "once" && *of == inner.bound);
                if conditions.iter().any(once) {
                    all.push(format!("needs::once({place})"));
                }
            }
            Tree::Int(_) | Tree::Constant(..) | Tree::Float(_) | Tree::Op(_) | Tree::Fact(..) => {}
        }
    }
    if all.is_empty() { "0".to_owned() } else { all.join(" | ") }
}

fn asks_for_bits(tree: &Tree) -> bool {
    matches!(tree, Tree::Fact(name, _) if matches!(&**name, "zeros" | "ones"))
}

fn is_demanded(rule: &Parsed) -> bool {
    rule.conditions
        .iter()
        .any(|term| any(term, &|tree| matches!(tree, Tree::Fact(name, _) if name == "demanded")))
}

fn has_flags(tree: &Tree) -> bool {
    any(tree, &|tree| matches!(tree, Tree::Op(op) if !op.flags.is_empty()))
}

fn any(tree: &Tree, holds: &dyn Fn(&Tree) -> bool) -> bool {
    holds(tree) || matches!(tree, Tree::Op(op) if op.args.iter().any(|arg| any(arg, holds)))
}

fn camel(name: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split(['_', '-']).filter(|part| !part.is_empty()).map(capital).collect()
}

fn kind(kind: &Option<Kind>) -> String {
    match kind {
        None => "None".into(),
        Some(Kind::Variable(n)) => format!("Some(Kind::Variable({n}))"),
        Some(Kind::Fixed(name)) => format!("Some(Kind::Fixed(Type::{}))", name.to_uppercase()),
    }
}

fn term(tree: &Tree) -> String {
    match tree {
        Tree::Value(n, ty) => format!("Term::Value({n}, {})", kind(ty)),
        Tree::Constant(n, ty) => format!("Term::Constant({n}, {})", kind(ty)),
        Tree::Int(value) => format!("Term::Int({value})"),
        Tree::Float(value) if value.is_infinite() => {
            format!("Term::Float(f64::{}INFINITY)", if *value < 0.0 { "NEG_" } else { "" })
        }
        Tree::Float(value) => format!("Term::Float({value:?}f64)"),
        Tree::Fact(name, of) => format!("Term::Fact(Fact::{}, {})", camel(name), of.unwrap_or(0)),
        Tree::Op(op) => operation(op),
    }
}

fn operation(op: &Op) -> String {
    let condition = match (&*op.name, &op.condition) {
        (_, None) => "Condition::None".to_owned(),
        ("fcmp", Some(name)) => format!("Condition::Float(FloatCC::{})", camel(name)),
        (_, Some(name)) => format!("Condition::Int(IntCC::{})", camel(name)),
    };
    let mut flags = "FastMath::NONE".to_owned();
    for flag in &op.flags {
        flags = format!("{flags}.union(FastMath::{})", flag.to_uppercase());
    }
    let args: Vec<String> = op.args.iter().map(term).collect();
    format!(
        "Term::Op(&Operation {{ op: Opcode::{}, condition: {condition}, flags: {flags}, args: &[{}], ty: {}, bound: {:?} }})",
        camel(&op.name),
        args.join(", "),
        kind(&op.kind),
        op.bound,
    )
}

/// A condition as code, if it compares integers: a closure, by the functions of `words`.
fn test(condition: &Tree) -> String {
    let code = match condition {
        Tree::Op(Op { name, condition: Some(how), args, .. }) if name == "icmp" => {
            compare(how, &args[0], &args[1])
        }
        Tree::Value(..)
        | Tree::Constant(..)
        | Tree::Int(_)
        | Tree::Float(_)
        | Tree::Op(_)
        | Tree::Fact(..) => None,
    };
    let Some(code) = code else { return "None".into() };
    let facts = if code.contains("facts") { "facts" } else { "_" };
    format!("Some(|rule, {facts}| {{ {code} }})")
}

fn compare(how: &str, a: &Tree, b: &Tree) -> Option<String> {
    let ty = leaf_type(a).or_else(|| leaf_type(b))?;
    let (a, b) = (word(a)?, word(b)?);
    let how = camel(how);
    Some(format!(
        "let ty = {ty}; let bits = words::width(ty)?; Some(words::compare(IntCC::{how}, bits, {a}, {b}))"
    ))
}

/// The type of the first of what a term is made of that has one of its own, as code.
fn leaf_type(tree: &Tree) -> Option<String> {
    match tree {
        Tree::Constant(n, _) => Some(format!("rule.type_of({n})?")),
        Tree::Fact(name, of) => match (&**name, of) {
            ("sign-bit" | "zeros" | "ones", Some(n)) => Some(format!("rule.type_of({n})?")),
            ("demanded", _) => Some("rule.root_type()".into()),
            ("bits", _) => Some("Type::I32".into()),
            _ => None,
        },
        Tree::Op(op) => match &*op.name {
            // Of any type that their place asks for.
            "zext" | "sext" | "trunc" => None,
            "shl" | "lshr" | "ashr" => leaf_type(op.args.first()?),
            _ => op.args.iter().find_map(leaf_type),
        },
        Tree::Int(_) | Tree::Value(..) | Tree::Float(_) => None,
    }
}

/// A term all parts of which are of the type `ty` of `bits` bits, as code. What is above these bits is of no account.
fn word(tree: &Tree) -> Option<String> {
    match tree {
        Tree::Int(literal) => Some(format!("{:#x}", *literal as u64)),
        Tree::Constant(n, _) => Some(format!("rule.constant_word({n}, ty)?")),
        Tree::Fact(name, of) => match (&**name, of) {
            ("zeros", Some(n)) => Some(format!("rule.zeros({n}, ty, facts)?")),
            ("ones", Some(n)) => Some(format!("rule.ones({n}, ty, facts)?")),
            ("sign-bit", Some(n)) => Some(format!("rule.sign_bit({n}, ty)?")),
            ("bits", Some(n)) => Some(format!("rule.bits_of({n}, ty)?")),
            ("demanded", _) => Some("rule.demanded(ty, facts)?".into()),
            _ => None,
        },
        Tree::Op(op) if op.kind.is_none() => match (&*op.name, &op.args[..]) {
            ("band", [a, b]) => Some(format!("({} & {})", word(a)?, word(b)?)),
            ("bor", [a, b]) => Some(format!("({} | {})", word(a)?, word(b)?)),
            ("bxor", [a, b]) => Some(format!("({} ^ {})", word(a)?, word(b)?)),
            ("bnot", [a]) => Some(format!("!{}", word(a)?)),
            ("iadd", [a, b]) => Some(format!("u64::wrapping_add({}, {})", word(a)?, word(b)?)),
            ("isub", [a, b]) => Some(format!("u64::wrapping_sub({}, {})", word(a)?, word(b)?)),
            ("ineg", [a]) => Some(format!("u64::wrapping_neg({})", word(a)?)),
            ("shl" | "lshr", [a, by]) => Some(format!(
                "words::{}(bits, {}, {{ let (ty, bits) = (Type::I32, 32); words::low(bits, {}) }})",
                op.name,
                word(a)?,
                word(by)?
            )),
            ("zext", [a]) => Some(format!(
                "{{ let (ty, wide) = ({}, bits); let bits = words::width(ty).filter(|bits| *bits < wide)?; \
                 words::low(bits, {}) }}",
                leaf_type(a)?,
                word(a)?
            )),
            _ => None,
        },
        Tree::Op(_) | Tree::Value(..) | Tree::Float(_) => None,
    }
}
