//! Expressions as words, numbers and operators.

use super::value::{Type, Value};
use warpsmith_isa::{ScalarType, StateSpace};

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Number(Value),
    Register(String),
    Word(String),
    Dollar(String),
    Space(StateSpace),
    Op(&'static str),
}

const OPERATORS: &[&str] = &[
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "+", "-", "*", "/", "%", "<", ">", "=", "&", "|",
    "^", "!", "~", "(", ")", "[", "]", ",", "@", ".", "?", ":",
];

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

pub(super) fn lex(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = |from: usize, test: &dyn Fn(char) -> bool| {
            rest[from..].find(|c| !test(c)).map_or(rest.len(), |i| i + from)
        };
        // Right after a value, a percent sign is a remainder.
        let after_value = matches!(
            tokens.last(),
            Some(
                Token::Number(_)
                    | Token::Register(_)
                    | Token::Word(_)
                    | Token::Dollar(_)
                    | Token::Op(")" | "]")
            )
        );
        let apart = text[..text.len() - rest.len()].ends_with(char::is_whitespace);
        let second = rest[first.len_utf8()..].chars().next();
        let names = second.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let used;
        if first.is_ascii_digit() || first == '.' && second.is_some_and(|c| c.is_ascii_digit()) {
            let hex = rest.starts_with("0x") || rest.starts_with("0X");
            let mut len = end(0, &|c| c.is_ascii_alphanumeric() || c == '.');
            if !hex && rest[..len].ends_with(['e', 'E']) && rest[len..].starts_with(['+', '-']) {
                len = end(len + 1, &|c| c.is_ascii_digit());
            }
            tokens.push(Token::Number(number(&rest[..len])?));
            used = len;
        } else if first == '%' && names && (apart || !after_value) {
            used = end(1, &|c| is_word(c) || c == '.');
            tokens.push(Token::Register(rest[..used].to_owned()));
        } else if first == '$' {
            used = end(1, &is_word);
            tokens.push(Token::Dollar(rest[1..used].to_owned()));
        } else if first == '@' && names && !after_value {
            used = end(1, &is_word);
            let name = &rest[1..used];
            let space = match name {
                "generic" => Some(StateSpace::Generic),
                "parameter" => Some(StateSpace::Param),
                name => {
                    StateSpace::from_name(name).filter(|s| !matches!(s, StateSpace::Reg | StateSpace::Sreg))
                }
            };
            let unknown = || {
                format!(
                    "Unknown state space \"@{name}\": @shared, @local, @global, @const, @param and @generic are known."
                )
            };
            tokens.push(Token::Space(space.ok_or_else(unknown)?));
        } else if first.is_ascii_alphabetic() || first == '_' {
            // `Mode::On`
            let mut len = end(0, &is_word);
            while rest[len..].strip_prefix("::").is_some_and(|rest| rest.starts_with(is_word)) {
                len = end(len + 2, &is_word);
            }
            used = len;
            tokens.push(Token::Word(rest[..used].to_owned()));
        } else if first == '\'' {
            let byte = rest.as_bytes().get(1).copied().filter(|_| rest.as_bytes().get(2) == Some(&b'\''));
            tokens.push(Token::Number(Value::int(byte.ok_or("Unmatched single quote.")?.into())));
            used = 3;
        } else {
            let op = OPERATORS.iter().find(|op| rest.starts_with(**op));
            let op = op.ok_or_else(|| format!("Invalid character '{first}' in expression."))?;
            tokens.push(Token::Op(op));
            used = op.len();
        }
        rest = rest[used..].trim_start();
    }
    Ok(tokens)
}

fn number(text: &str) -> Result<Value, String> {
    let lower = text.to_ascii_lowercase();
    let invalid = || format!("Invalid number \"{text}\".");
    if let Some(bits) = lower.strip_prefix("0f").filter(|b| b.len() == 8) {
        let bits = u32::from_str_radix(bits, 16).map_err(|_| invalid())?;
        return Ok(Value::new(Type::Scalar(ScalarType::F32), bits.into()));
    }
    if let Some(bits) = lower.strip_prefix("0d").filter(|b| b.len() == 16) {
        let bits = u64::from_str_radix(bits, 16).map_err(|_| invalid())?;
        return Ok(Value::new(Type::Scalar(ScalarType::F64), bits.into()));
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let value = match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
        (Some(hex), _) => u64::from_str_radix(hex, 16).ok(),
        (_, Some(bits)) => u64::from_str_radix(bits, 2).ok(),
        _ if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()) => {
            u64::from_str_radix(digits, 8).ok()
        }
        _ => digits.parse().ok(),
    };
    match value {
        Some(value) if value > i64::MAX as u64 => Ok(Value::new(Type::Scalar(ScalarType::U64), value.into())),
        Some(value) => Ok(Value::int(value.into())),
        None => lower.trim_end_matches('f').parse().map(Value::double).map_err(|_| invalid()),
    }
}

/// A word as it was written.
pub(super) fn shown(token: &Token) -> String {
    match token {
        Token::Number(value) => value.show(None),
        Token::Register(name) | Token::Word(name) => name.clone(),
        Token::Dollar(name) => format!("${name}"),
        Token::Space(space) => format!("@{}", space.name()),
        Token::Op(op) => (*op).to_owned(),
    }
}
