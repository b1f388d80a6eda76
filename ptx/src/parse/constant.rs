//! Constant expressions (manual 4.5), evaluated while they are read.
//!
//! Integers are `.s64` or `.u64`; a literal is `.u64` if it ends in `U` or does not fit `.s64`. `+ - * / & | ^` and
//! comparisons convert to `.u64` if either side is. Measured against ptxas where the manual is silent or wrong:
//! `~` and `%` give `.u64`, shifts count modulo 64 and keep the type of their left side, `?:` takes the type of
//! the side that is chosen, both of whose sides are evaluated, and `0f` literals take no sign.

use super::lexer::{Kind, integer};
use super::{Parse, Parser};
use crate::codes;
use crate::tree::Const;
use std::cmp::Ordering;
use warpsmith_diag::Span;

/// Binary operators from the loosest to the tightest.
fn precedence(kind: Kind) -> Option<u8> {
    Some(match kind {
        Kind::OrOr => 1,
        Kind::AndAnd => 2,
        Kind::Punct(b'|') => 3,
        Kind::Punct(b'^') => 4,
        Kind::Punct(b'&') => 5,
        Kind::EqEq | Kind::Ne => 6,
        Kind::Punct(b'<' | b'>') | Kind::Le | Kind::Ge => 7,
        Kind::Shl | Kind::Shr => 8,
        Kind::Punct(b'+' | b'-') => 9,
        Kind::Punct(b'*' | b'/' | b'%') => 10,
        _ => return None,
    })
}

impl Parser<'_> {
    /// True if a constant expression can begin with the current token.
    pub(super) fn at_constant(&self) -> bool {
        match self.token.kind {
            Kind::Int | Kind::Decimal | Kind::F32 | Kind::F64 => true,
            Kind::Punct(b'-' | b'+' | b'~' | b'!' | b'(') => true,
            Kind::Name => self.text() == b"WARP_SZ",
            _ => false,
        }
    }

    /// A constant expression.
    #[inline]
    pub(super) fn constant(&mut self) -> Parse<Const> {
        // Most are one small literal.
        if self.token.kind == Kind::Int
            && let &[digit @ b'0'..=b'9'] = self.text()
        {
            self.bump();
            let value = Const::int(i64::from(digit - b'0'));
            return if matches!(self.token.kind, Kind::Punct(b',' | b';' | b'}' | b']')) {
                Ok(value)
            } else {
                self.continued(value, self.last_end)
            };
        }
        let start = self.token.start;
        let bare = self.token.kind == Kind::F32;
        let value = self.unary()?;
        // ptxas computes with a `0f` literal in parentheses only.
        if bare { Ok(value) } else { self.continued(value, start) }
    }

    /// The rest of an expression of which the first operand is read.
    fn continued(&mut self, first: Const, start: u32) -> Parse<Const> {
        let value = self.binary(first, start, 1)?;
        if !self.at(b'?') {
            return Ok(value);
        }
        let condition = self.integer_only(value, start)?;
        self.bump();
        self.nested(|p| {
            let start = p.token.start;
            let then = p.constant()?;
            p.integer_only(then, start)?;
            p.expect(b':', "`:` of `?:`")?;
            let start = p.token.start;
            let other = p.constant()?;
            p.integer_only(other, start)?;
            Ok(if condition.0 != 0 { then } else { other })
        })
    }

    fn binary(&mut self, mut left: Const, start: u32, least: u8) -> Parse<Const> {
        while let Some(tightness) = precedence(self.token.kind)
            && tightness >= least
        {
            let (operator, at) = (self.token.kind, self.span());
            self.bump();
            let right_start = self.token.start;
            let mut right = self.nested(Self::unary)?;
            while precedence(self.token.kind).is_some_and(|next| next > tightness) {
                right = self.nested(|p| p.binary(right, right_start, tightness + 1))?;
            }
            left = self.apply(operator, at, left, right, start)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<Const> {
        let start = self.token.start;
        match self.token.kind {
            Kind::Int | Kind::Decimal | Kind::F64 | Kind::F32 => self.literal(),
            Kind::Name if self.text() == b"WARP_SZ" => {
                self.bump();
                Ok(Const::int(32))
            }
            Kind::Punct(b'(') => self.nested(|p| {
                p.bump();
                if p.token.kind == Kind::Dot {
                    return p.cast(start);
                }
                let value = p.constant()?;
                p.expect(b')', "`)`")?;
                Ok(value)
            }),
            Kind::Punct(operator @ (b'-' | b'+' | b'~' | b'!')) => {
                self.bump();
                if self.token.kind == Kind::F32 && matches!(operator, b'-' | b'+') {
                    let message = format!("`{}` cannot stand before a `0f` literal", operator as char);
                    let span = self.span();
                    let fix = "write the sign into the bits: bit 31 of a `0f` literal is the sign";
                    self.report(super::Diagnostic::error(codes::SYNTAX, span, message).note(fix));
                    return Err(super::Failed);
                }
                let operand_start = self.token.start;
                let value = self.nested(Self::unary)?;
                match (operator, value) {
                    (b'+', value) => Ok(value),
                    (b'-', Const::Int { bits, unsigned }) => {
                        Ok(Const::Int { bits: bits.wrapping_neg(), unsigned })
                    }
                    (b'-', value) => Ok(Const::F64((-as_f64(value)).to_bits())),
                    (b'~', value) => {
                        let (bits, _) = self.integer_only(value, operand_start)?;
                        Ok(Const::Int { bits: !bits, unsigned: true })
                    }
                    (_, value) => {
                        let (bits, _) = self.integer_only(value, operand_start)?;
                        Ok(Const::int(i64::from(bits == 0)))
                    }
                }
            }
            _ => Err(self.expected("a constant")),
        }
    }

    /// `.s64)operand`, after the `(`.
    fn cast(&mut self, start: u32) -> Parse<Const> {
        let unsigned = match &self.text()[1..] {
            b"s64" => Some(false),
            b"u64" => Some(true),
            _ => None,
        };
        self.bump();
        self.expect(b')', "`)` of the cast")?;
        let cast = self.since(start);
        let operand_start = self.token.start;
        let value = self.nested(Self::unary)?;
        let Some(unsigned) = unsigned else {
            return Err(self.error(codes::CONST_CAST, cast, "a constant is cast to `.s64` or `.u64` only"));
        };
        let (bits, _) = self.integer_only(value, operand_start)?;
        Ok(Const::Int { bits, unsigned })
    }

    fn literal(&mut self) -> Parse<Const> {
        let (text, span) = (self.text(), self.span());
        let kind = self.token.kind;
        self.bump();
        match kind {
            Kind::Int => match integer(text) {
                Some((bits, unsigned)) => {
                    Ok(Const::Int { bits, unsigned: unsigned || bits > i64::MAX as u64 })
                }
                None => Err(self.error(codes::OVERFLOW, span, "this integer does not fit 64 bits")),
            },
            Kind::F32 => Ok(Const::F32(hex(&text[2..]) as u32)),
            Kind::F64 => Ok(Const::F64(hex(&text[2..]))),
            _ => self.decimal(text, span),
        }
    }

    fn decimal(&mut self, text: &[u8], span: Span) -> Parse<Const> {
        let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        let mantissa = text.split(|b| matches!(b, b'e' | b'E')).next().unwrap_or(text);
        let zero = mantissa.iter().all(|b| matches!(b, b'0' | b'.'));
        match value {
            Some(value) if value.is_normal() || zero => Ok(Const::F64(value.to_bits())),
            _ => Err(self.error(codes::OVERFLOW, span, "this decimal is out of the normal range of `.f64`")),
        }
    }

    /// The bits and the signedness of an integer.
    fn integer_only(&mut self, value: Const, start: u32) -> Parse<(u64, bool)> {
        match value {
            Const::Int { bits, unsigned } => Ok((bits, unsigned)),
            Const::F32(_) | Const::F64(_) => {
                let span = self.since(start);
                Err(self.error(
                    codes::CONST_TYPE,
                    span,
                    "expected an integer, found a floating-point constant",
                ))
            }
        }
    }

    /// An integer constant expression.
    pub(super) fn integer_constant(&mut self) -> Parse<u64> {
        let start = self.token.start;
        let value = self.constant()?;
        Ok(self.integer_only(value, start)?.0)
    }

    fn apply(&mut self, operator: Kind, at: Span, left: Const, right: Const, start: u32) -> Parse<Const> {
        let by_zero =
            |p: &mut Self| Err(p.error(codes::CONST_DIV, at, "this constant expression divides by zero"));
        match (left, right) {
            (Const::Int { bits: a, unsigned: left }, Const::Int { bits: b, unsigned: right }) => {
                if matches!(operator, Kind::Punct(b'/' | b'%')) && b == 0 {
                    return by_zero(self);
                }
                Ok(integers(operator, (a, left), (b, right)))
            }
            (Const::Int { .. }, _) | (_, Const::Int { .. }) => {
                let span = self.since(start);
                let message = "one side is an integer, the other a floating-point constant";
                Err(self.error(codes::CONST_TYPE, span, message))
            }
            _ => {
                let (a, b) = (as_f64(left), as_f64(right));
                if operator == Kind::Punct(b'/') && b == 0.0 {
                    return by_zero(self);
                }
                match floats(operator, a, b) {
                    Some(value) => Ok(value),
                    None => {
                        let message = "this operator takes integers, found floating-point constants";
                        Err(self.error(codes::CONST_TYPE, at, message))
                    }
                }
            }
        }
    }
}

fn integers(operator: Kind, (a, left): (u64, bool), (b, right): (u64, bool)) -> Const {
    let unsigned = left || right;
    let order = if unsigned { a.cmp(&b) } else { (a as i64).cmp(&(b as i64)) };
    let int = |bits| Const::Int { bits, unsigned };
    match operator {
        Kind::Punct(b'*') => int(a.wrapping_mul(b)),
        Kind::Punct(b'+') => int(a.wrapping_add(b)),
        Kind::Punct(b'-') => int(a.wrapping_sub(b)),
        Kind::Punct(b'/') if unsigned => int(a / b),
        Kind::Punct(b'/') => int((a as i64).wrapping_div(b as i64) as u64),
        Kind::Punct(b'%') => Const::Int { bits: a % b, unsigned: true },
        Kind::Punct(b'&') => int(a & b),
        Kind::Punct(b'|') => int(a | b),
        Kind::Punct(b'^') => int(a ^ b),
        Kind::Shl => Const::Int { bits: a << (b % 64), unsigned: left },
        Kind::Shr if left => Const::Int { bits: a >> (b % 64), unsigned: true },
        Kind::Shr => Const::int(a as i64 >> (b % 64)),
        Kind::AndAnd => Const::int(i64::from(a != 0 && b != 0)),
        Kind::OrOr => Const::int(i64::from(a != 0 || b != 0)),
        _ => Const::int(i64::from(holds(operator, Some(order)))),
    }
}

fn floats(operator: Kind, a: f64, b: f64) -> Option<Const> {
    let float = |value: f64| Some(Const::F64(value.to_bits()));
    match operator {
        Kind::Punct(b'*') => float(a * b),
        Kind::Punct(b'/') => float(a / b),
        Kind::Punct(b'+') => float(a + b),
        Kind::Punct(b'-') => float(a - b),
        Kind::Punct(b'<' | b'>') | Kind::Le | Kind::Ge | Kind::EqEq | Kind::Ne => {
            Some(Const::int(i64::from(holds(operator, a.partial_cmp(&b)))))
        }
        _ => None,
    }
}

/// Whether a comparison operator holds for two values of this order.
fn holds(operator: Kind, order: Option<Ordering>) -> bool {
    match operator {
        Kind::Punct(b'<') => order == Some(Ordering::Less),
        Kind::Punct(b'>') => order == Some(Ordering::Greater),
        Kind::Le => order.is_some_and(Ordering::is_le),
        Kind::Ge => order.is_some_and(Ordering::is_ge),
        Kind::EqEq => order == Some(Ordering::Equal),
        _ => order != Some(Ordering::Equal),
    }
}

/// A float as expressions see it: the bits of a `0f` literal are not widened but taken as the low half of a double.
fn as_f64(value: Const) -> f64 {
    match value {
        Const::F32(bits) => f64::from_bits(u64::from(bits)),
        Const::F64(bits) => f64::from_bits(bits),
        Const::Int { bits, .. } => bits as f64,
    }
}

fn hex(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |value, digit| value << 4 | u64::from((*digit as char).to_digit(16).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use crate::{Const, Init, Item, parse};

    /// The value of an expression, or the code of the error.
    fn value(expression: &str) -> Result<Const, &'static str> {
        let parsed = parse(&format!(".global .u64 x = {expression};"));
        if let Some(error) = parsed.diagnostics.first() {
            return Err(error.code);
        }
        let module = &parsed.module;
        let Item::Variable(decl) = module.items()[0] else { panic!("not a variable") };
        match module[module[decl].names][0].init.map(|init| module[init]) {
            Some(Init::Const(value)) => Ok(value),
            other => panic!("not a constant: {other:?}"),
        }
    }

    #[test]
    fn integers_are_signed_until_something_unsigned_comes() {
        let signed = |bits: i64| Ok(Const::int(bits));
        let unsigned = |bits: u64| Ok(Const::Int { bits, unsigned: true });
        assert_eq!(value("-7/2"), signed(-3));
        assert_eq!(value("-7U/2"), unsigned(0x7fff_ffff_ffff_fffc));
        assert_eq!(value("5-7U"), unsigned(u64::MAX - 1));
        assert_eq!([value("-1<1"), value("-1<1U"), value("2>1>0")], [signed(1), signed(0), signed(1)]);
        assert_eq!([value("~0>>1"), value("-1>>1")], [unsigned(u64::MAX >> 1), signed(-1)]);
        assert_eq!([value("-7 % 3"), value("7 % -3")], [unsigned(0), unsigned(7)]);
        assert_eq!([value("1<<64"), value("1<<-1")], [signed(1), signed(i64::MIN)]);
        assert_eq!(
            [value("(.s64)0xffffffffffffffff>>1"), value("(.u64)-1>>1")],
            [signed(-1), unsigned(u64::MAX >> 1)]
        );
        assert_eq!([value("1?-1:2U"), value("(0?-1:2U)>-1")], [signed(-1), signed(0)]);
        assert_eq!(value("0x8000000000000000/-1"), unsigned(0));
    }

    #[test]
    fn operators_bind_as_in_c() {
        let all = [
            "1+2*3",
            "(1+2)*3",
            "1<<2+1",
            "1|2^3&4",
            "1<2==1",
            "10-3-2",
            "0?1:0?2:3",
            "!1+1",
            "1 - - 2",
            "2*WARP_SZ",
            "--1",
        ];
        let values = [7, 9, 8, 3, 1, 5, 3, 1, 3, 64, 1];
        for (expression, wanted) in all.into_iter().zip(values) {
            assert_eq!(value(expression), Ok(Const::int(wanted)), "{expression}");
        }
    }

    #[test]
    fn floats_do_not_mix_with_integers() {
        let float = |value: f64| Ok(Const::F64(value.to_bits()));
        assert_eq!(
            [value("1.5*2.0+3.0"), value("-0.0"), value("1.e5")],
            [float(6.0), float(-0.0), float(1e5)]
        );
        assert_eq!(
            [value("1.0<2.0"), value("(0f3F800000)")],
            [Ok(Const::int(1)), Ok(Const::F32(0x3f80_0000))]
        );
        for expression in ["1+1.5", "1.5&1", "~1.5", "1?2.0:3.0", "1.0?2:3", "1.5 % 2.0", "(.s64)1.5"] {
            assert_eq!(value(expression), Err("P0201"), "{expression}");
        }
    }

    #[test]
    fn what_ptxas_refuses_is_refused() {
        let refused = [
            ("1/(2-2)", "P0202"),
            ("0 && 1/0", "P0202"),
            ("1.0/0.0", "P0202"),
            ("(.u32)1", "P0203"),
            ("99999999999999999999", "P0005"),
            ("1e309", "P0005"),
            ("1e-320", "P0005"),
            ("7%3", "P0101"),
            ("-0f3F800000", "P0101"),
            ("0f3F800000+1.0", "P0101"),
            ("08", "P0101"),
            ("1u", "P0101"),
            ("1**2", "P0101"),
            ("()", "P0101"),
        ];
        for (expression, code) in refused {
            assert_eq!(value(expression), Err(code), "{expression}");
        }
    }
}
