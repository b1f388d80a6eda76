//! What the rewrite rules of the compiler look for, for the generator of IR to draw: random operations seldom stand so.

use crate::ir::FastMath;
use crate::lower::rules::{Condition, Kind, RULES, Term};
use std::sync::{Arc, OnceLock};
use warpsmith_smith::ir::{Config, Pattern, PatternKind};

/// The default configuration of the generator of IR, with the patterns of the compiler's own rules. Those that flags of floats allow are left out, since they
/// change results.
pub fn ir_config() -> Config {
    static PATTERNS: OnceLock<Arc<[Pattern]>> = OnceLock::new();
    let patterns = PATTERNS.get_or_init(|| {
        // A line of the rule files is one, and its choices are drawn from.
        let rules = RULES.iter().filter(|rule| rule.flags() == FastMath::NONE).collect::<Vec<_>>();
        let lines = rules.chunk_by(|a, b| (a.file, a.line) == (b.file, b.line));
        lines
            .map(|line| Pattern::OneOf(line.iter().filter_map(|rule| pattern(&rule.pattern)).collect()))
            .collect()
    });
    let mut config = Config::default();
    config.patterns = patterns.clone();
    config
}

/// A term as the generator draws it; `None` for what only conditions have.
fn pattern(term: &Term) -> Option<Pattern> {
    let of = |kind: Option<Kind>| match kind {
        None => PatternKind::Any,
        Some(Kind::Variable(number)) => PatternKind::Numbered(number),
        Some(Kind::Fixed(ty)) => PatternKind::Fixed(ty),
    };
    Some(match *term {
        Term::Value(number, kind) => Pattern::Value(number, of(kind)),
        Term::Constant(number, kind) => Pattern::Constant(number, of(kind)),
        Term::Int(number) => Pattern::Int(number),
        Term::Float(number) => Pattern::Float(number),
        Term::Fact(..) => return None,
        Term::Op(operation) => {
            let (integers, floats) = match operation.condition {
                Condition::None => (None, None),
                Condition::Int(condition) => (Some(condition), None),
                Condition::Float(condition) => (None, Some(condition)),
            };
            let args = operation.args.iter().map(pattern).collect::<Option<_>>()?;
            Pattern::Operation { op: operation.op, integers, floats, args, kind: of(operation.ty) }
        }
    })
}
