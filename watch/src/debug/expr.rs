//! Expressions in the language of C, with registers, special registers and state spaces.

mod operand;

use super::convert::{decay, float_type, integer_type};
use super::lex::{Token, lex, shown};
use super::value::{Location, Type, Value};
use warpsmith_isa::{ScalarType, StateSpace};

/// Expressions nest no deeper than this.
const MOST_DEPTH: usize = 64;
/// `x@N` shows no more elements than this.
const MOST_ELEMENTS: i128 = 1 << 16;

/// What an expression can refer to.
pub trait Names {
    /// `%r3`, `%tid.x`
    fn register(&mut self, name: &str) -> Result<Value, String>;
    /// `tile`, `n`, `threadIdx`
    fn variable(&mut self, name: &str) -> Result<Value, String>;
    /// `$1`, `$pc`, `$n`
    fn convenience(&mut self, name: &str) -> Result<Value, String>;
    /// The value of a type in memory.
    fn memory(&mut self, space: StateSpace, address: u64, ty: &Type) -> Result<Value, String>;
    /// Changes what is at a place.
    fn assign(&mut self, at: Location, value: &Value) -> Result<(), String>;
    /// A type of the source by its name.
    fn type_named(&self, name: &str) -> Option<Type>;
    /// Sets `$n`.
    fn set_convenience(&mut self, name: &str, value: Value);
}

/// Binary operators by how strongly they bind.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["@"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Evaluates an expression.
pub fn evaluate(text: &str, names: &mut dyn Names) -> Result<Value, String> {
    evaluate_tokens(&lex(text)?, names).0
}

/// The type of an expression: of what names a reference, that of the reference.
pub fn type_of(text: &str, names: &mut dyn Names) -> Result<Type, String> {
    let tokens = lex(text)?;
    let mut parser = Parser::new(&tokens, names);
    let value = parser.whole()?;
    Ok(parser.reference.unwrap_or(value.ty))
}

/// The value of an expression, and whether it can be read at all, which does not depend on its names.
fn evaluate_tokens(tokens: &[Token], names: &mut dyn Names) -> (Result<Value, String>, bool) {
    let mut parser = Parser::new(tokens, names);
    let value = parser.whole();
    (value, !parser.malformed)
}

/// Whether an expression can be read, whatever its names mean.
pub fn check(text: &str) -> Result<(), String> {
    struct Any;
    impl Names for Any {
        fn register(&mut self, _: &str) -> Result<Value, String> {
            Ok(Value::int(1))
        }
        fn variable(&mut self, _: &str) -> Result<Value, String> {
            self.memory(StateSpace::Global, 0, &Type::Array(Box::new(Type::INT), 1))
        }
        fn convenience(&mut self, _: &str) -> Result<Value, String> {
            Ok(Value::int(1))
        }
        fn memory(&mut self, space: StateSpace, address: u64, ty: &Type) -> Result<Value, String> {
            Ok(Value { ty: ty.clone(), bytes: vec![1; 16], at: Some(Location::Memory(space, address)) })
        }
        fn assign(&mut self, _: Location, _: &Value) -> Result<(), String> {
            Ok(())
        }
        fn type_named(&self, _: &str) -> Option<Type> {
            None
        }
        fn set_convenience(&mut self, _: &str, _: Value) {}
    }
    match evaluate_tokens(&lex(text)?, &mut Any) {
        (Err(message), false) => Err(message),
        (_, _) => Ok(()),
    }
}

/// The registers that an expression names.
pub fn registers(text: &str) -> Result<Vec<String>, String> {
    let names = lex(text)?.into_iter().filter_map(|token| match token {
        Token::Register(name) => Some(name),
        Token::Number(_) | Token::Word(_) | Token::Dollar(_) | Token::Space(_) | Token::Op(_) => None,
    });
    Ok(names.collect())
}

struct Parser<'t, 'n> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    names: &'n mut dyn Names,
    /// False in the part of `&&` and `||` that does not count.
    live: bool,
    /// The expression cannot be read, whatever its names mean.
    malformed: bool,
    /// The type of the reference that the value read last is behind, if it is what the reference names and nothing was done to it.
    reference: Option<Type>,
}

impl<'t, 'n> Parser<'t, 'n> {
    fn new(tokens: &'t [Token], names: &'n mut dyn Names) -> Self {
        Parser { tokens, at: 0, depth: 0, names, live: true, malformed: false, reference: None }
    }

    /// The value of all tokens.
    fn whole(&mut self) -> Result<Value, String> {
        if self.tokens.is_empty() {
            return Err("The history is empty.".into());
        }
        let value = self.assignment()?;
        match self.peek() {
            None => Ok(value),
            Some(token) => Err(self.malformed_near(token)),
        }
    }

    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, op: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Op(o)) if *o == op);
        self.at += usize::from(found);
        found
    }

    /// The error of an expression that cannot be read.
    fn malformed(&mut self, message: impl Into<String>) -> String {
        self.malformed = true;
        message.into()
    }

    fn malformed_near(&mut self, token: &Token) -> String {
        self.malformed(format!("A syntax error in expression, near `{}'.", shown(token)))
    }

    fn expect(&mut self, op: &str) -> Result<(), String> {
        if self.take(op) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(token) => self.malformed_near(token),
            None => self.malformed(format!("A `{op}' is missing at the end of the expression.")),
        })
    }

    fn assignment(&mut self) -> Result<Value, String> {
        if let [Token::Dollar(name), Token::Op("="), ..] = &self.tokens[self.at..] {
            self.at += 2;
            let value = self.assignment()?;
            self.names.set_convenience(name, value.clone());
            return Ok(value);
        }
        let target = self.conditional()?;
        if !self.take("=") {
            return Ok(target);
        }
        let at = target.at.ok_or("Left operand of assignment is not an lvalue.")?;
        let value = self.assignment()?.cast(&target.ty)?;
        if self.live {
            self.names.assign(at, &value)?;
        }
        Ok(Value { at: Some(at), ..value })
    }

    /// `a ? b : c`
    fn conditional(&mut self) -> Result<Value, String> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let (live, holds) = (self.live, condition.is_true()?);
        self.live = live && holds;
        let then = self.deeper(Self::conditional)?;
        self.expect(":")?;
        self.live = live && !holds;
        let otherwise = self.deeper(Self::conditional)?;
        self.live = live;
        Ok(if holds { then } else { otherwise })
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.malformed("The expression is nested too deep."));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn binary(&mut self, level: usize) -> Result<Value, String> {
        let Some(ops) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let Some(Token::Op(op)) = self.peek() else { return Ok(left) };
            if !ops.contains(op) {
                return Ok(left);
            }
            self.at += 1;
            let live = self.live;
            if matches!(*op, "&&" | "||") {
                let decided = left.is_true()? == (*op == "||");
                self.live &= !decided;
                let right = self.binary(level + 1)?;
                self.reference = None;
                self.live = live;
                let truth = if decided { *op == "||" } else { right.is_true()? };
                left = Value::boolean(truth);
                continue;
            }
            let right = self.binary(level + 1)?;
            self.reference = None;
            left = if *op == "@" { self.repeat(&left, &right)? } else { self.apply(op, &left, &right)? };
        }
    }

    fn repeat(&mut self, first: &Value, count: &Value) -> Result<Value, String> {
        let Some(Location::Memory(space, address)) = first.at else {
            return Err("Only values in memory can be extended with '@'.".into());
        };
        let count = count.as_int()?;
        if !(1..=MOST_ELEMENTS).contains(&count) {
            return Err(format!("Invalid number {count} of repetitions."));
        }
        self.load(space, address, &Type::Array(Box::new(first.ty.clone()), count as u64))
    }

    /// In a part of the expression that does not count, memory reads as zero.
    fn load(&mut self, space: StateSpace, address: u64, ty: &Type) -> Result<Value, String> {
        if !self.live {
            return Ok(Value {
                ty: ty.clone(),
                bytes: vec![0; 16],
                at: Some(Location::Memory(space, address)),
            });
        }
        self.names.memory(space, address, ty)
    }

    fn apply(&mut self, op: &str, a: &Value, b: &Value) -> Result<Value, String> {
        let (a, b) = (&decay(a), &decay(b));
        if let (Type::Pointer(_, to), "+" | "-", Some(ty)) = (a.ty.plain(), op, b.ty.scalar())
            && !ty.is_float()
        {
            let step = b.as_int()?.wrapping_mul(to.bytes().into());
            let address = a.bits() as i128;
            let address = if op == "+" { address.wrapping_add(step) } else { address.wrapping_sub(step) };
            return Ok(Value::new(a.ty.clone(), u128::from(address as u64)));
        }
        if let Some(ty) = float_type(a, b) {
            let [x, y] = [a, b].map(|v| v.as_float().map_or_else(|| v.as_int().map(|i| i as f64), Ok));
            let (x, y) = (x?, y?);
            let value = match op {
                "+" => x + y,
                "-" => x - y,
                "*" => x * y,
                "/" => x / y,
                "<" => return Ok(Value::boolean(x < y)),
                ">" => return Ok(Value::boolean(x > y)),
                "<=" => return Ok(Value::boolean(x <= y)),
                ">=" => return Ok(Value::boolean(x >= y)),
                "==" => return Ok(Value::boolean(x == y)),
                "!=" => return Ok(Value::boolean(x != y)),
                _ => return Err(format!("Argument to operation `{op}' is not an integer.")),
            };
            return Value::double(value).cast(&Type::Scalar(ty));
        }
        let (x, y) = (a.as_int()?, b.as_int()?);
        let value = match op {
            "+" => x.wrapping_add(y),
            "-" => x.wrapping_sub(y),
            "*" => x.wrapping_mul(y),
            "/" | "%" if y == 0 && !self.live => 0,
            "/" | "%" if y == 0 => return Err("Division by zero".into()),
            "/" => x.wrapping_div(y),
            "%" => x.wrapping_rem(y),
            "&" => x & y,
            "|" => x | y,
            "^" => x ^ y,
            "<<" => u32::try_from(y).ok().and_then(|y| x.checked_shl(y)).unwrap_or(0),
            ">>" => x >> y.clamp(0, 127),
            "<" => return Ok(Value::boolean(x < y)),
            ">" => return Ok(Value::boolean(x > y)),
            "<=" => return Ok(Value::boolean(x <= y)),
            ">=" => return Ok(Value::boolean(x >= y)),
            "==" => return Ok(Value::boolean(x == y)),
            "!=" => return Ok(Value::boolean(x != y)),
            _ => return Err(format!("A syntax error in expression, near `{op}'.")),
        };
        let ty = Type::Scalar(integer_type(a, b));
        Ok(Value::new(ty.clone(), super::value::mask(value as u128, &ty)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct None_;

    impl Names for None_ {
        fn register(&mut self, name: &str) -> Result<Value, String> {
            match name {
                "%r1" => Ok(Value::new(Type::Scalar(ScalarType::U32), 7)),
                "%f1" => Ok(Value::new(Type::Scalar(ScalarType::F32), 1.5f32.to_bits().into())),
                "%tid.x" => Ok(Value::int(5)),
                _ => Err(format!("no {name}")),
            }
        }
        fn variable(&mut self, name: &str) -> Result<Value, String> {
            let ty = Type::Array(Box::new(Type::Scalar(ScalarType::U32)), 4);
            match name {
                "a" => self.memory(StateSpace::Shared, 0x10, &ty),
                _ => Err(format!("no {name}")),
            }
        }
        fn convenience(&mut self, name: &str) -> Result<Value, String> {
            Err(format!("no ${name}"))
        }
        fn memory(&mut self, space: StateSpace, address: u64, ty: &Type) -> Result<Value, String> {
            let bytes = (0..ty.bytes()).map(|i| (address + i) as u8).collect();
            Ok(Value { ty: ty.clone(), bytes, at: Some(Location::Memory(space, address)) })
        }
        fn assign(&mut self, at: Location, value: &Value) -> Result<(), String> {
            Err(format!("{at:?} = {}", value.show(None)))
        }
        fn type_named(&self, name: &str) -> Option<Type> {
            (name == "index").then_some(Type::Scalar(ScalarType::U16))
        }
        fn set_convenience(&mut self, _: &str, _: Value) {}
    }

    fn eval(text: &str) -> String {
        evaluate(text, &mut None_).map_or_else(|e| format!("! {e}"), |v| v.show(None))
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3 % 5", "4"),
            ("-5 / 2", "-2"),
            ("%r1 - 8", "4294967295"),
            ("%r1 % 4", "3"),
            ("%tid.x == 5 && %r1 > 6", "1"),
            ("0 && %none", "! no %none"),
            ("%f1 * 2", "3"),
            ("%f1 + 0.25 > 1.7", "1"),
            ("0x10 | 010", "24"),
            ("1e-3 * 1e3", "1"),
            ("~0", "-1"),
            ("!3", "0"),
            ("'A'", "65"),
            ("a[1]", "387323156"),
            ("&a[1]", "(@shared u32 *) 0x14"),
            ("*(a + 1) == a[1]", "1"),
            ("*(@shared unsigned char *)3", r"3 '\003'"),
            ("(float) 3 / 2", "1.5"),
            ("(int) 2.7", "2"),
            ("sizeof(int) + sizeof (index)", "6"),
            ("sizeof a", "16"),
            ("sizeof(a[0]) * 2", "8"),
            ("(index) 65537", "1"),
            ("(unsigned char) 300", "44 ','"),
            ("1 ? 2 : 3", "2"),
            ("0 ? 1 / 0 : 2 ? 3 : 4", "3"),
            ("1 ? 2", "! A `:' is missing at the end of the expression."),
            ("(float) %r1 / 2", "3.5"),
            ("%r1%4", "3"),
            ("@global 16", "(@global s32 *) 0x10"),
            ("a[0]@2", "{319951120, 387323156}"),
            ("a[0] = 3", "! Memory(Shared, 16) = 3"),
            ("3 = 4", "! Left operand of assignment is not an lvalue."),
            ("1 / 0", "! Division by zero"),
            ("1 +", "! A value is missing at the end of the expression."),
            ("(1", "! A `)' is missing at the end of the expression."),
            ("1 2", "! A syntax error in expression, near `2'."),
            (
                "@foo 3",
                "! Unknown state space \"@foo\": @shared, @local, @global, @const, @param and @generic are known.",
            ),
            ("1 # 2", "! Invalid character '#' in expression."),
            ("1 << 4000", "0"),
            ("0x1ffffffffffffffff", "! Invalid number \"0x1ffffffffffffffff\"."),
        ] {
            assert_eq!(eval(text), expected, "{text}");
        }
        assert!(eval(&"(".repeat(100_000)).contains("nested too deep"));
        assert!(eval(&"-".repeat(100_000)).contains("nested too deep"));
    }
}
