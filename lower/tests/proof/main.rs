//! Every rule of `lower/rules`, executed at every type it matches: at 4 bits on all values, at 8 on all where they are few enough, else and at
//! wider types on edge cases and random ones; floats with NaNs, signed zeros, infinities and subnormals. What the operations compute is
//! `warpsmith_ir::meaning`, which runs programs; what conditions ask of values is any true answer.
//!
//! `WARPSMITH_PROOF=16` takes all values of pairs of 8 bits, `WARPSMITH_PROOF=24` of triples, and more samples of others;
//! `WARPSMITH_RULE=name` the rules whose names begin so.

mod engine;
mod facts;
mod instance;
mod points;

use instance::{Instance, Refused, Variable, float_value, is_nan};
use points::Points;
use std::collections::HashMap;
use warpsmith_ir::{FastMath, FloatCC, IntCC, Opcode, Type};
use warpsmith_lower::rules::language::{self, Op, Parsed, Tree};
use warpsmith_lower::rules::{Condition, Fact, Kind, Operation, RULES, Rule, Term};

/// Casts between state spaces have no meaning without memory: `tests/differential.rs` runs them.
const WITHOUT_MEANING: &[&str] = &["space-and-back"];

/// What was found of a rule.
struct Proof {
    instances: usize,
    /// Points at which it applies.
    points: u64,
    counterexample: Option<String>,
    without_meaning: bool,
}

/// The types that values of a rule are tried at.
fn types_of(rule: &Rule, number: u8, conversions: usize) -> Vec<Type> {
    let mut fixed = None;
    rule.pattern.walk(&mut |term| {
        if let Term::Value(n, Some(Kind::Fixed(ty))) | Term::Constant(n, Some(Kind::Fixed(ty))) = term
            && *n == number
        {
            fixed = Some(*ty);
        }
    });
    if let Some(ty) = fixed {
        return vec![ty];
    }
    let mut types = result_types(conversions);
    types.push(Type::PTR_GLOBAL);
    types
}

/// Few operations take formats of less than 16 bits, and conversions do.
const FLOATS: [Type; 11] = [
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
    Type::TF32,
    Type::E5M2,
    Type::E4M3,
    Type::E3M2,
    Type::E2M3,
    Type::E2M1,
    Type::UE8M0,
];

/// The types of results of conversions.
fn result_types(conversions: usize) -> Vec<Type> {
    // Conversions of conversions need widths between.
    let widths: &[u32] = if conversions > 0 { &[1, 3, 4, 6, 8, 16, 32, 64] } else { &[1, 4, 8, 16, 32, 64] };
    let ints = widths.iter().filter_map(|bits| Type::int(*bits));
    ints.chain(FLOATS).collect()
}

/// Calls `visit` with each choice of one of several lists.
fn product(lists: &[Vec<Type>], visit: &mut dyn FnMut(&[Type])) {
    let mut at = vec![0; lists.len()];
    if lists.iter().any(Vec::is_empty) {
        return;
    }
    loop {
        let choice: Vec<Type> = at.iter().zip(lists).map(|(&n, list)| list[n]).collect();
        visit(&choice);
        let mut place = 0;
        loop {
            let Some(n) = at.get_mut(place) else { return };
            *n += 1;
            if *n < lists[place].len() {
                break;
            }
            *n = 0;
            place += 1;
        }
    }
}

/// The rule at all types it matches, and an operation that has no meaning, if that is why it matches none.
fn instances(rule: &'static Rule) -> (Vec<Instance>, Option<Opcode>) {
    let mut numbers: Vec<u8> = Vec::new();
    let mut bound: Vec<u8> = Vec::new();
    rule.pattern.walk(&mut |term| match *term {
        Term::Value(n, _) | Term::Constant(n, _) if !numbers.contains(&n) => numbers.push(n),
        Term::Op(operation) => bound.extend(operation.bound),
        _ => {}
    });
    let conversions = instance::conversions(&rule.pattern);
    let mut lists: Vec<Vec<Type>> = numbers.iter().map(|&n| types_of(rule, n, conversions)).collect();
    let mut results = result_types(conversions);
    results.push(Type::PTR_GLOBAL);
    lists.extend(vec![results; conversions]);
    let (mut found, mut meaningless) = (Vec::new(), None);
    // Values of one rule are of few types: most are of the same.
    let mut seen: HashMap<String, ()> = HashMap::new();
    product(&lists, &mut |types| {
        let mut values = [None; 12];
        numbers.iter().zip(types).for_each(|(&n, &ty)| values[usize::from(n)] = Some(ty));
        match Instance::new(rule, &values, &types[numbers.len()..]) {
            Ok(instance) => {
                let key = format!("{:?} {:?}", instance.variables, &types[numbers.len()..]);
                if seen.insert(key, ()).is_none() {
                    found.push(instance);
                }
            }
            Err(Refused::Types) => {}
            Err(Refused::Meaning(op)) => meaningless = Some(op),
        }
    });
    (found, meaningless)
}

/// True if the two results of a rule are as good as equal at a point, by what its flags allow.
fn agree(instance: &Instance, point: &[u128], values: &[u128], flags: FastMath) -> bool {
    let (left, right) = instance.sides(values);
    let demanded = instance.variables.iter().position(|(variable, _)| *variable == Variable::Demanded);
    if let Some(n) = demanded {
        return (left ^ right) & point[n] == 0;
    }
    if left == right || flags == FastMath::NONE {
        return left == right;
    }
    let (a, b) = (float_value(instance.root, left), float_value(instance.root, right));
    let excluded = instance.floats(values).any(|(ty, bits)| {
        let value = float_value(ty, bits);
        flags.contains(FastMath::NNAN) && is_nan(ty, bits)
            || flags.contains(FastMath::NINF) && value.is_infinite()
    });
    if excluded || flags.contains(FastMath::NSZ) && a == 0.0 && b == 0.0 {
        return true;
    }
    if !flags.contains(FastMath::REASSOC) && !flags.contains(FastMath::ARCP) {
        return false;
    }
    // What is put together in another order is rounded elsewhere; it is compared where nothing is lost by that.
    let magnitudes: Vec<f64> =
        instance.floats(values).map(|(ty, bits)| float_value(ty, bits).abs()).filter(|v| *v != 0.0).collect();
    let largest = magnitudes.iter().copied().fold(0.0, f64::max);
    let least = magnitudes.iter().copied().fold(f64::INFINITY, f64::min);
    let (limit, precision) = match instance.root {
        Type::F16 => (16.0, 10),
        Type::BF16 => (1e6, 7),
        Type::F32 => (1e6, 23),
        _ => (1e6, 52),
    };
    let ordinary = largest.max(a.abs()) < limit && least > 1.0 / limit && b.is_finite();
    !ordinary
        || (a - b).abs()
            <= largest.max(a.abs()) * largest.max(1.0) / least.min(1.0) * 2f64.powi(5 - precision)
}

fn prove(rule: &'static Rule, limit: u32) -> Proof {
    let (instances, meaningless) = instances(rule);
    let flags = rule.flags();
    let mut proof = Proof {
        instances: instances.len(),
        points: 0,
        counterexample: None,
        without_meaning: instances.is_empty() && meaningless.is_some(),
    };
    for instance in &instances {
        let mut points = Points::new(instance, limit);
        let mut values = Vec::new();
        while let Some(point) = points.next() {
            if instance.evaluate(point, &mut values).is_none() {
                continue;
            }
            proof.points += 1;
            if !agree(instance, point, &values, flags) {
                proof.counterexample = Some(describe(instance, point, &values));
                return proof;
            }
        }
    }
    proof
}

fn describe(instance: &Instance, point: &[u128], values: &[u128]) -> String {
    let (left, right) = instance.sides(values);
    let at: Vec<String> = instance
        .variables
        .iter()
        .zip(point)
        .map(|((variable, ty), value)| format!("{variable:?}: {ty} = {value:#x}"))
        .collect();
    let Rule { name, file, line, text, .. } = instance.rule;
    let root = instance.root;
    format!(
        "{file}:{line}: {name}: {text}\n  at {}\n  gives {right:#x}, not {left:#x} ({root})",
        at.join(", ")
    )
}

/// By which power of two the points are more where no point met a rule's conditions.
const MORE: u32 = 4;

#[test]
fn every_rule_is_sound() {
    let limit = std::env::var("WARPSMITH_PROOF").ok();
    let limit = limit.map_or(points::EXHAUSTIVE, |limit| limit.parse().expect("WARPSMITH_PROOF is a number"));
    let only = std::env::var("WARPSMITH_RULE").ok();
    let mut wrong = Vec::new();
    let (mut instances, mut points) = (0, 0);
    let kept = |rule: &&Rule| only.as_ref().is_none_or(|only| rule.name.starts_with(&**only));
    for rule in RULES.iter().filter(kept) {
        let mut proof = prove(rule, limit);
        if proof.points == 0 && !proof.without_meaning && proof.counterexample.is_none() {
            // Few points meet its conditions: it is tried with more.
            proof = prove(rule, limit + MORE);
        }
        instances += proof.instances;
        points += proof.points;
        if let Some(counterexample) = proof.counterexample {
            wrong.push(counterexample);
        } else if proof.without_meaning != WITHOUT_MEANING.contains(&rule.name) {
            wrong.push(format!("{}:{}: {}: no meaning to execute", rule.file, rule.line, rule.name));
        } else if proof.points == 0 && !proof.without_meaning {
            wrong.push(format!(
                "{}:{}: {}: at {} instances and applies at no point",
                rule.file, rule.line, rule.name, proof.instances
            ));
        }
    }
    println!("{} rules, {instances} instances, {points} points", RULES.len());
    assert!(wrong.is_empty(), "{} rules are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_unsound_rule_is_caught() {
    let planted = [
        // True but for the least number.
        ("planted: (sdiv x c) => (ineg (sdiv x (ineg c))) if (icmp.slt c 0)", false),
        ("planted: (icmp.slt (iadd x c) (iadd y c)) => (icmp.slt x y)", false),
        ("planted: (shl (lshr x c) c) => x", false),
        ("planted: (fadd x 0.0) => x", false),
        ("planted: (fmul x 1.0) => x", false),
        ("planted: (fadd[nnan] x 0.0) => x", false),
        ("planted: (udiv x y) => (lshr x y)", false),
        ("planted: (band x c) => x if (icmp.eq (bor (zeros x) c) c)", false),
        ("planted: (iadd x c) => x if (icmp.eq (band c demanded) 0)", false),
        // And sound ones pass.
        ("planted: (isub (iadd x y) y) => x", true),
        ("planted: (fadd[nsz] x -0.0) => x", false),
        ("planted: (fadd[nnan] x -0.0) => x", true),
    ];
    for (text, sound) in planted {
        let proof = prove(rule(text), 16);
        assert!(proof.points > 0, "{text}");
        match (&proof.counterexample, sound) {
            (None, true) => {}
            (Some(example), false) => {
                assert!(example.contains("gives 0x") && example.contains(" = 0x"), "{example}")
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }
}

#[test]
fn names_are_unique_and_demands_stand_alone() {
    let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    assert!(twice.is_empty(), "{twice:?}");
    for rule in RULES.iter().filter(|rule| rule.is_of_demanded_bits()) {
        let asks = |term: &Term| matches!(term, Term::Fact(Fact::Zeros | Fact::Ones, _));
        assert!(!rule.conditions.iter().any(|term| term.any(&asks)), "{}", rule.name);
    }
}

#[test]
fn mistakes_in_rules_have_a_line() {
    let cases = [
        ("x", "expected a name and `: ` in front of the rule"),
        ("a b: (iadd x 0) => x", "a rule's name is of letters, digits and `-`, found `a b`"),
        ("a: x => x", "the pattern is an operation"),
        ("a: (iadd x 0) = x", "expected `=>`, found `=`"),
        ("a: (iadd x 0) => y", "`y` is not in the pattern"),
        ("a: (zext x) => (zext x):t", "the type `t` is not in the pattern"),
        ("a: (iadd x", "the rule ends early"),
        ("a: (iadd x 0) => x if", "the rule ends early"),
        ("a: (iadd x 0) => x, 1", "expected the end of the line, found `,`"),
        ("[op: a b", "`[` without `]`"),
        ("[op] a: (op x) => x", "expected `:` behind the words in brackets"),
        ("[a b: x y, z] r: (a x) => x", "expected 2 words for each choice, found 1"),
        ("a: (iadd x 1y) => x", "`1y` is not a number"),
        ("a: (iadd) => x", "`iadd` has one to three operands, found 0"),
    ];
    for (text, message) in cases {
        let errors = language::parse(&format!("; a comment\n{text}\n")).expect_err(text);
        assert_eq!(errors, [language::Error { line: 2, message: message.into() }], "{text}");
    }
}

/// A rule that is in no file.
pub fn rule(text: &str) -> &'static Rule {
    let parsed = language::parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let [Parsed { name, line, text, pattern, replacement, conditions }] = &parsed[..] else {
        panic!("one rule: {text}")
    };
    let pattern = term(pattern);
    let Term::Op(root) = pattern else { panic!("an operation: {text}") };
    let conditions: Vec<Term> = conditions.iter().map(term).collect();
    Box::leak(Box::new(Rule {
        name: name.clone().leak(),
        file: "planted",
        line: *line as u32,
        text: text.clone().leak(),
        root: root.op,
        pattern,
        replacement: term(replacement),
        conditions: conditions.leak(),
        tests: &[],
    }))
}

fn term(tree: &Tree) -> Term {
    match tree {
        Tree::Value(n, ty) => Term::Value(*n, kind(ty)),
        Tree::Constant(n, ty) => Term::Constant(*n, kind(ty)),
        Tree::Int(value) => Term::Int(*value),
        Tree::Float(value) => Term::Float(*value),
        Tree::Fact(name, n) => {
            let fact = match &**name {
                "bits" => Fact::Bits,
                "sign-bit" => Fact::SignBit,
                "zeros" => Fact::Zeros,
                "ones" => Fact::Ones,
                "once" => Fact::Once,
                "wraps" => Fact::Wraps,
                "keeps" => Fact::Keeps,
                "divides" => Fact::Divides,
                "log2" => Fact::Log2,
                "reciprocal" => Fact::Reciprocal,
                _ => Fact::Demanded,
            };
            Term::Fact(fact, n.unwrap_or(0))
        }
        Tree::Op(Op { name, condition, flags, args, kind: ty, bound }) => {
            let condition = condition.as_deref().map_or(Condition::None, |name| {
                IntCC::from_name(name).map_or_else(
                    || Condition::Float(FloatCC::from_name(name).expect("a condition")),
                    Condition::Int,
                )
            });
            let flag = |name: &String| match &**name {
                "nnan" => FastMath::NNAN,
                "ninf" => FastMath::NINF,
                "nsz" => FastMath::NSZ,
                "reassoc" => FastMath::REASSOC,
                "arcp" => FastMath::ARCP,
                _ => panic!("a flag: {name}"),
            };
            let flags = flags.iter().map(flag).fold(FastMath::NONE, FastMath::union);
            let args: Vec<Term> = args.iter().map(term).collect();
            Term::Op(Box::leak(Box::new(Operation {
                op: Opcode::from_name(name).expect("an operation"),
                condition,
                flags,
                args: args.leak(),
                ty: kind(ty),
                bound: *bound,
            })))
        }
    }
}

fn kind(kind: &Option<language::Kind>) -> Option<Kind> {
    Some(match kind.as_ref()? {
        language::Kind::Variable(n) => Kind::Variable(*n),
        language::Kind::Fixed(name) => Kind::Fixed(Type::from_name(name).expect("a type")),
    })
}
