//! C's conversions, as `vprintf` formats them (C17, 7.21.6.1).
//!
//! What the device passes is an array of promoted arguments: integers of 4 or 8 bytes, floats of 8, each at a multiple of
//! its size. Which size an integer has follows from the conversion, so the format is all there is, as it is for
//! CUDA's driver, which formats on the host too.

use warpsmith_ir::printf::{Amount, Conversion, Kind, MOST_ARGUMENTS, Notation, Piece, Radix, pieces};

/// Where the arguments come from.
pub(crate) trait Arguments {
    /// What stops the formatting.
    type Error;

    /// The next argument of 4 or 8 bytes.
    fn next(&mut self, bytes: u64) -> Result<u64, Self::Error>;

    /// The bytes at an address up to a zero, or up to a number of them.
    fn string(&mut self, address: u64, most: Option<usize>) -> Result<Vec<u8>, Self::Error>;
}

/// The widest a field can be asked to be: what is larger is cut to this.
const WIDEST: usize = 1 << 16;

/// The most fraction digits any double has.
const DIGITS: usize = 1100;

/// A conversion with its width and precision as numbers.
#[derive(Clone, Copy)]
struct Field {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// The text, and how many arguments it took. What is not a conversion is printed as it is written, and so are conversions whose arguments would be
/// more than a device prints.
pub(crate) fn format<A: Arguments>(format: &[u8], args: &mut A) -> Result<(Vec<u8>, u32), A::Error> {
    let (mut text, mut taken) = (Vec::with_capacity(format.len()), 0);
    for piece in pieces(format) {
        match piece {
            Piece::Text(bytes) => text.extend_from_slice(bytes),
            Piece::Malformed(_) => text.push(b'%'),
            Piece::Conversion { conversion, written } => {
                let wanted = conversion.arguments().count();
                if taken + wanted > MOST_ARGUMENTS {
                    text.extend_from_slice(written);
                } else {
                    taken += wanted;
                    convert(conversion, &mut text, args)?;
                }
            }
        }
    }
    Ok((text, taken as u32))
}

fn convert<A: Arguments>(c: Conversion, text: &mut Vec<u8>, args: &mut A) -> Result<(), A::Error> {
    let mut argument = |amount: Option<Amount>| match amount {
        None => Ok(None),
        Some(Amount::Number(number)) => Ok(Some(i64::try_from(number).unwrap_or(i64::MAX))),
        Some(Amount::Argument) => args.next(4).map(|word| Some(i64::from(word as u32 as i32))),
    };
    let cut = |number: i64| (number.unsigned_abs() as usize).min(WIDEST);
    let width = argument(c.width)?.unwrap_or(0);
    let precision = argument(c.precision)?;
    let Conversion { plus, space, alternate, zero, length, kind, upper, .. } = c;
    let field = Field {
        left: c.left || width < 0,
        plus,
        space,
        alternate,
        zero,
        width: cut(width),
        // A negative one is none.
        precision: precision.filter(|number| *number >= 0).map(cut),
    };
    let bits = length.bits();
    match kind {
        Kind::Signed => {
            let value = args.next(u64::from(bits / 8).max(4))?;
            let value = ((value << (64 - bits)) as i64) >> (64 - bits);
            field.integer(text, field.sign(value < 0), "", value.unsigned_abs().to_string());
        }
        Kind::Unsigned(radix) => {
            let value = args.next(u64::from(bits / 8).max(4))? & (u64::MAX >> (64 - bits));
            field.unsigned(text, radix, upper, value);
        }
        Kind::Character => {
            let value = [args.next(4)? as u8];
            field.pad(text, "", "", &value, false);
        }
        Kind::Pointer => {
            let value = args.next(8)?;
            if value == 0 {
                field.pad(text, "", "", b"(nil)", false);
            } else {
                field.integer(text, field.sign(false), "0x", format!("{value:x}"));
            }
        }
        Kind::Text => {
            let address = args.next(8)?;
            let bytes = if address == 0 {
                let most = field.precision.unwrap_or(6);
                b"(null)"[..if most < 6 { 0 } else { 6 }].to_vec()
            } else {
                args.string(address, field.precision)?
            };
            field.pad(text, "", "", &bytes, false);
        }
        Kind::Float(notation) => {
            let value = f64::from_bits(args.next(8)?);
            field.float(text, notation, upper, value);
        }
    }
    Ok(())
}

impl Field {
    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// Writes sign, prefix and body in a field; zeros between prefix and body if they are wanted.
    fn pad(&self, text: &mut Vec<u8>, sign: &str, prefix: &str, body: &[u8], zeros: bool) {
        let fill = self.width.saturating_sub(sign.len() + prefix.len() + body.len());
        let fill_with = |text: &mut Vec<u8>, byte: u8| text.resize(text.len() + fill, byte);
        if !self.left && !zeros {
            fill_with(text, b' ');
        }
        text.extend_from_slice(sign.as_bytes());
        text.extend_from_slice(prefix.as_bytes());
        if !self.left && zeros {
            fill_with(text, b'0');
        }
        text.extend_from_slice(body);
        if self.left {
            fill_with(text, b' ');
        }
    }

    fn integer(&self, text: &mut Vec<u8>, sign: &str, prefix: &str, digits: String) {
        // Zero with precision zero has no digits.
        let digits = if self.precision == Some(0) && digits == "0" { String::new() } else { digits };
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        let body = "0".repeat(missing) + &digits;
        self.pad(text, sign, prefix, body.as_bytes(), self.zero && self.precision.is_none());
    }

    fn unsigned(&self, text: &mut Vec<u8>, radix: Radix, upper: bool, value: u64) {
        let (prefix, digits) = match (radix, upper) {
            (Radix::Octal, _) => return self.octal(text, value),
            (Radix::Hexadecimal, true) => ("0X", format!("{value:X}")),
            (Radix::Hexadecimal, false) => ("0x", format!("{value:x}")),
            (Radix::Decimal, _) => ("", value.to_string()),
        };
        self.integer(text, "", if self.alternate && value != 0 { prefix } else { "" }, digits);
    }

    /// `%o`: `#` makes the first digit a zero, by raising the precision if need be.
    fn octal(&self, text: &mut Vec<u8>, value: u64) {
        let digits = format!("{value:o}");
        if !self.alternate || value == 0 && self.precision != Some(0) {
            return self.integer(text, "", "", digits);
        }
        let least = if value == 0 { 1 } else { digits.len() + 1 };
        let wanted = self.precision.unwrap_or(0).max(least);
        let body = "0".repeat(wanted - digits.len()) + &digits;
        self.pad(text, "", "", body.as_bytes(), self.zero && self.precision.is_none());
    }

    fn float(&self, text: &mut Vec<u8>, notation: Notation, upper: bool, value: f64) {
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        if !value.is_finite() {
            let name = if value.is_nan() { "nan" } else { "inf" };
            let name = if upper { name.to_uppercase() } else { name.to_string() };
            return self.pad(text, sign, "", name.as_bytes(), false);
        }
        let (prefix, body) = match notation {
            Notation::Fixed => ("", self.fixed(magnitude, self.precision.unwrap_or(6))),
            Notation::Scientific => ("", self.scientific(magnitude, self.precision.unwrap_or(6))),
            Notation::Shortest => ("", self.shortest(magnitude)),
            Notation::Hexadecimal => ("0x", self.hexadecimal(magnitude)),
        };
        let (prefix, body) =
            if upper { (prefix.to_uppercase(), body.to_uppercase()) } else { (prefix.to_string(), body) };
        self.pad(text, sign, &prefix, body.as_bytes(), self.zero);
    }

    /// `%f`
    fn fixed(&self, value: f64, precision: usize) -> String {
        let digits = precision.min(DIGITS);
        let mut body = format!("{value:.digits$}");
        body.extend(std::iter::repeat_n('0', precision - digits));
        if precision == 0 && self.alternate {
            body.push('.');
        }
        body
    }

    /// `%e`
    fn scientific(&self, value: f64, precision: usize) -> String {
        let (mantissa, exponent) = scientific(value, precision);
        let point = if precision == 0 && self.alternate { "." } else { "" };
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}{point}e{sign}{:02}", exponent.unsigned_abs())
    }

    /// `%g`: as many significant digits as the precision says, in the shorter style, without zeros at the end.
    fn shortest(&self, value: f64) -> String {
        let significant = self.precision.unwrap_or(6).max(1);
        // The exponent that `%e` would show, after rounding.
        let (_, exponent) = scientific(value, significant - 1);
        let is_fixed = exponent >= -4 && i64::from(exponent) < significant as i64;
        let plain = Field { alternate: false, ..*self };
        let mut body = if is_fixed {
            plain.fixed(value, (significant as i64 - 1 - i64::from(exponent)) as usize)
        } else {
            plain.scientific(value, significant - 1)
        };
        if self.alternate {
            if !body.contains('.') {
                let end = body.find('e').unwrap_or(body.len());
                body.insert(end, '.');
            }
            return body;
        }
        let end = body.find('e').unwrap_or(body.len());
        if body[..end].contains('.') {
            let kept = body[..end].trim_end_matches('0').trim_end_matches('.').len();
            body.replace_range(kept..end, "");
        }
        body
    }

    /// `%a` without its `0x`: one digit before the point, and as many after it as are needed.
    fn hexadecimal(&self, value: f64) -> String {
        const FRACTION: u32 = 52;
        let bits = value.to_bits();
        let (mut lead, mut fraction) = (1, bits & ((1 << FRACTION) - 1));
        let mut exponent = (bits >> FRACTION) as i32 - 1023;
        if bits >> FRACTION == 0 {
            (lead, exponent) = (0, if fraction == 0 { 0 } else { -1022 });
        }
        let digits = match self.precision {
            Some(precision) if precision < 13 => {
                // Round to nearest, ties to even, which may carry into the leading digit.
                let drop = FRACTION - 4 * precision as u32;
                let whole = u128::from(lead) << FRACTION | u128::from(fraction);
                let (kept, rest, half) = (whole >> drop, whole & ((1 << drop) - 1), 1u128 << (drop - 1));
                let rounded = kept + u128::from(rest > half || rest == half && kept & 1 == 1);
                lead = (rounded >> (4 * precision)) as u64;
                fraction = (rounded & ((1 << (4 * precision)) - 1)) as u64;
                if precision == 0 { String::new() } else { format!("{fraction:0precision$x}") }
            }
            Some(precision) => format!("{fraction:013x}") + &"0".repeat(precision - 13),
            None => format!("{fraction:013x}").trim_end_matches('0').to_string(),
        };
        let point = if digits.is_empty() && !self.alternate { "" } else { "." };
        format!("{lead:x}{point}{digits}p{exponent:+}")
    }
}

/// The mantissa with so many digits after the point, correctly rounded, and the exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let digits = precision.min(DIGITS);
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let zeros = "0".repeat(precision - digits);
    (mantissa.to_string() + &zeros, exponent.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments as 64-bit words; a string is its index in the list of strings plus one.
    struct Words<'a>(std::slice::Iter<'a, u64>, &'a [&'a str]);

    impl Arguments for Words<'_> {
        type Error = &'static str;

        fn next(&mut self, bytes: u64) -> Result<u64, Self::Error> {
            let word = *self.0.next().ok_or("no more arguments")?;
            Ok(if bytes == 4 { word & 0xffff_ffff } else { word })
        }

        fn string(&mut self, address: u64, most: Option<usize>) -> Result<Vec<u8>, Self::Error> {
            let text = self.1.get(address as usize - 1).ok_or("no such string")?;
            Ok(text.bytes().take(most.unwrap_or(usize::MAX)).collect())
        }
    }

    fn printed(text: &str, words: &[u64]) -> String {
        let mut args = Words(words.iter(), &["hello", ""]);
        let (text, taken) = format(text.as_bytes(), &mut args).unwrap();
        assert_eq!(taken as usize, words.len(), "arguments of {text:?}");
        String::from_utf8(text).unwrap()
    }

    fn float(text: &str, value: f64) -> String {
        printed(text, &[value.to_bits()])
    }

    #[test]
    fn integers() {
        for (text, value, expected) in [
            ("%d", -5i64 as u64, "-5"),
            ("%5d|", 42, "   42|"),
            ("%-5d|", 42, "42   |"),
            ("%05d|", -42i64 as u64, "-0042|"),
            ("%+d", 42, "+42"),
            ("% d", 42, " 42"),
            ("%.3d", 7, "007"),
            ("%05.3d|", 7, "  007|"),
            ("%.0d|", 0, "|"),
            ("%hhd", 0x1ff, "-1"),
            ("%hd", 0x18000, "-32768"),
            ("%ld", i64::MIN as u64, "-9223372036854775808"),
            ("%lld", u64::MAX, "-1"),
            ("%zu", u64::MAX, "18446744073709551615"),
            ("%i", 0x8000_0000, "-2147483648"),
            ("%u", 0xffff_ffff, "4294967295"),
            ("%x", 0xdead_beef, "deadbeef"),
            ("%#X", 0xdead, "0XDEAD"),
            ("%#x", 0, "0"),
            ("%#010x", 0xab, "0x000000ab"),
            ("%o", 8, "10"),
            ("%#o", 8, "010"),
            ("%#o", 0, "0"),
            ("%#.0o", 0, "0"),
            ("%#.4o", 8, "0010"),
            ("%c", 65, "A"),
            ("%3c|", 65, "  A|"),
            ("%p", 0x7000_0000_1000, "0x700000001000"),
            ("%p", 0, "(nil)"),
        ] {
            assert_eq!(printed(text, &[value]), expected, "{text}");
        }
    }

    #[test]
    fn floats() {
        for (text, value, expected) in [
            ("%f", 1.5, "1.500000"),
            ("%.2f", 2.675, "2.67"),
            ("%.0f", 0.5, "0"),
            ("%.0f", 1.5, "2"),
            ("%.0f", 2.5, "2"),
            ("%#.0f", 3.0, "3."),
            ("%8.3f|", -3.25, "  -3.250|"),
            ("%-8.3f|", -3.25, "-3.250  |"),
            ("%08.3f|", -3.25, "-003.250|"),
            ("%+f", 0.0, "+0.000000"),
            ("%f", -0.0, "-0.000000"),
            ("%f", f64::INFINITY, "inf"),
            ("%05F|", f64::NEG_INFINITY, " -INF|"),
            ("%f", f64::NAN, "nan"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 15.0, "2e+01"),
            ("%.0e", 25.0, "2e+01"),
            ("%E", 1e-300, "1.000000E-300"),
            ("%#.0e", 1.0, "1.e+00"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 100000.0, "100000"),
            ("%g", 1000000.0, "1e+06"),
            ("%g", 999999.5, "1e+06"),
            ("%g", 1234567.0, "1.23457e+06"),
            ("%.3g", 0.00012345, "0.000123"),
            ("%#g", 1.0, "1.00000"),
            ("%#.0g", 1e10, "1.e+10"),
            ("%G", 1e-10, "1E-10"),
            ("%g", 0.0, "0"),
            ("%.10g", 0.1, "0.1"),
            ("%.20g", 0.1, "0.10000000000000000555"),
            ("%a", 1.0, "0x1p+0"),
            ("%a", -0.75, "-0x1.8p-1"),
            ("%A", 255.5, "0X1.FFP+7"),
            ("%.2a", 1.999, "0x2.00p+0"),
            ("%.1a", 1.03125, "0x1.0p+0"),
            ("%.1a", 1.09375, "0x1.2p+0"),
            ("%a", 5e-324, "0x0.0000000000001p-1022"),
            ("%a", 0.0, "0x0p+0"),
            ("%.15a", 1.0, "0x1.000000000000000p+0"),
            ("%010a|", 1.0, "0x00001p+0|"),
        ] {
            assert_eq!(float(text, value), expected, "{text} of {value:?}");
        }
        let exact = float("%.1100f", 5e-324);
        assert!(exact.len() == 1102 && exact.trim_end_matches('0').len() == 1076);
        assert_eq!(float("%.2000f", 1.0).len(), 2002);
    }

    #[test]
    fn strings_widths_and_what_is_no_conversion() {
        assert_eq!(printed("%s, %.3s!", &[1, 1]), "hello, hel!");
        assert_eq!(printed("[%8s][%-8s][%s]", &[1, 1, 2]), "[   hello][hello   ][]");
        assert_eq!(printed("%s|%.3s", &[0, 0]), "(null)|");
        assert_eq!(printed("%*d|%-*d|%.*f", &[5, 1, 5, 2, 1, 1.25f64.to_bits()]), "    1|2    |1.2");
        assert_eq!(printed("%*d|%.*d|", &[-4i64 as u64, 1, -1i64 as u64, 7]), "1   |7|");
        assert_eq!(printed("100%% %", &[]), "100% %");
        assert_eq!(printed("%q %-", &[]), "%q %-");
        assert_eq!(printed("", &[]), "");
        assert_eq!(format(b"%d", &mut Words([].iter(), &[])), Err("no more arguments"));
    }

    #[test]
    fn the_thirty_third_argument_is_not_formatted() {
        let text = "%d".repeat(33);
        assert_eq!(printed(&text, &[7; 32]), "7".repeat(32) + "%d");
    }

    #[test]
    fn huge_widths_are_cut() {
        assert_eq!(printed("%999999999999d", &[1]).len(), WIDEST);
        assert_eq!(printed("%*d", &[0x7fff_ffff, 1]).len(), WIDEST);
        assert_eq!(printed("%99999999999999999999d", &[1]).len(), WIDEST);
        assert_eq!(printed("%.99999999d", &[1]).len(), WIDEST);
        assert_eq!(float("%.99999999e", 1.0).len(), WIDEST + 6);
    }
}
