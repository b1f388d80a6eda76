//! Rules as Rust source, for the build script.

use super::language::{Kind, Op, Parsed, Tree};
use std::fmt::Write as _;

/// The table of all rules, sorted by the operation that they match.
pub fn generate(files: &[(String, Vec<Parsed>)]) -> String {
    let mut rules: Vec<(&str, &Parsed, &Op)> = Vec::new();
    for (file, parsed) in files {
        rules.extend(parsed.iter().filter_map(|rule| match &rule.pattern {
            Tree::Op(root) => Some((&**file, rule, root)),
            Tree::Value(..) | Tree::Constant(..) | Tree::Int(_) | Tree::Float(_) | Tree::Fact(..) => None,
        }));
    }
    let mut out = String::from("pub static RULES: &[Rule] = &[\n");
    for (file, rule, root) in rules {
        let conditions: Vec<String> = rule.conditions.iter().map(term).collect();
        writeln!(
            out,
            "Rule {{ name: {:?}, file: {file:?}, line: {}, text: {:?}, root: Opcode::{}, pattern: {}, \
             replacement: {}, conditions: &[{}] }},",
            rule.name,
            rule.line,
            rule.text,
            camel(&root.name),
            term(&rule.pattern),
            term(&rule.replacement),
            conditions.join(", "),
        )
        .expect("writing to a string cannot fail");
    }
    out.push_str("];\n");
    out
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
        flags = format!("{flags}.with(FastMath::{})", flag.to_uppercase());
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
