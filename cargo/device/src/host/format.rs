//! Text by the format of C, for `printf!` on the host.

use std::ffi::CStr;

/// The largest width and precision, which is that of the standard library's own formatting.
const MOST: usize = u16::MAX as usize;

/// A conversion: what stands between `%` and its letter.
#[derive(Default)]
struct Spec {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    width: usize,
    precision: Option<usize>,
    /// `l` or `ll`: 64 bits.
    wide: bool,
}

/// The arguments that are left.
struct Arguments<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Arguments<'_> {
    /// The next one, of 4 or 8 bytes at a multiple of its size; 0 where there is none.
    fn take(&mut self, bytes: usize) -> u64 {
        let start = self.at.next_multiple_of(bytes);
        self.at = start + bytes;
        let mut word = [0; 8];
        if let Some(taken) = self.bytes.get(start..self.at) {
            word[..bytes].copy_from_slice(taken);
        }
        u64::from_le_bytes(word)
    }

    fn word(&mut self, wide: bool) -> u64 {
        self.take(if wide { 8 } else { 4 })
    }
}

/// The text that a format and its arguments are. A conversion that C does not have stays as it is.
pub(super) fn text(format: &str, arguments: &[u8]) -> String {
    let (mut out, mut rest) = (String::new(), format);
    let mut arguments = Arguments { bytes: arguments, at: 0 };
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let (spec, letter, next) = spec(after, &mut arguments);
        match letter.and_then(|letter| converted(&spec, letter, &mut arguments)) {
            Some(shown) => {
                out.push_str(&shown);
                rest = next;
            }
            None => {
                out.push('%');
                rest = after;
            }
        }
    }
    out + rest
}

/// Reads flags, width, precision and length, and the letter that follows; with what is behind it.
fn spec<'a>(text: &'a str, arguments: &mut Arguments<'_>) -> (Spec, Option<char>, &'a str) {
    let mut spec = Spec::default();
    let mut rest = text;
    // A number, and whether it is negative, which only an argument can be.
    let mut number = |rest: &mut &'a str| {
        if let Some(after) = rest.strip_prefix('*') {
            *rest = after;
            let argument = arguments.take(4) as u32 as i32;
            return (argument < 0, MOST.min(argument.unsigned_abs() as usize));
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        *rest = after;
        // Only a number of too many digits is none.
        (false, if number.is_empty() { 0 } else { MOST.min(number.parse().unwrap_or(MOST)) })
    };
    while let Some(flag) = rest.chars().next().filter(|c| "-0+ #".contains(*c)) {
        match flag {
            '-' => spec.left = true,
            '0' => spec.zeros = true,
            '+' => spec.plus = true,
            ' ' => spec.space = true,
            _ => spec.alternative = true,
        }
        rest = &rest[1..];
    }
    let (is_left, width) = number(&mut rest);
    (spec.left, spec.width) = (spec.left || is_left, width);
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        let (is_none, precision) = number(&mut rest);
        spec.precision = (!is_none).then_some(precision);
    }
    let bare = rest.trim_start_matches(['l', 'h', 'z', 'j', 't']);
    spec.wide = rest[..rest.len() - bare.len()].contains(['l', 'z', 'j', 't']);
    let mut letters = bare.chars();
    let letter = letters.next();
    (spec, letter, letters.as_str())
}

/// One conversion, padded; nothing if C does not have it.
fn converted(spec: &Spec, letter: char, arguments: &mut Arguments<'_>) -> Option<String> {
    // A prefix, which zeros follow, and what they precede.
    let (prefix, body, may_have_zeros) = match letter {
        '%' => return Some("%".to_owned()),
        'd' | 'i' => {
            let bits = arguments.word(spec.wide);
            let value = if spec.wide { bits as i64 } else { i64::from(bits as i32) };
            (sign(spec, value < 0), digits(spec, value.unsigned_abs().to_string()), spec.precision.is_none())
        }
        'u' | 'x' | 'X' | 'o' => {
            let value = arguments.word(spec.wide);
            let (prefix, body) = match letter {
                'u' => ("", value.to_string()),
                'x' => ("0x", format!("{value:x}")),
                'X' => ("0X", format!("{value:X}")),
                _ => ("0", format!("{value:o}")),
            };
            let prefix = if spec.alternative && value != 0 { prefix } else { "" };
            (prefix, digits(spec, body), spec.precision.is_none())
        }
        'c' => ("", char::from_u32(arguments.take(4) as u32).unwrap_or('\u{fffd}').to_string(), false),
        'p' => ("0x", format!("{:x}", arguments.take(8)), false),
        's' => {
            let start = arguments.take(8) as *const std::ffi::c_char;
            let text = if start.is_null() {
                "(null)".into()
            } else {
                // SAFETY: `%s` is for the address of bytes that end with a zero, as in C.
                unsafe { CStr::from_ptr(start) }.to_string_lossy()
            };
            ("", text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect(), false)
        }
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' => {
            let value = f64::from_bits(arguments.take(8));
            let body = float(spec, letter.to_ascii_lowercase(), value.abs());
            let body = if letter.is_ascii_uppercase() { body.to_uppercase() } else { body };
            (sign(spec, value.is_sign_negative() && !value.is_nan()), body, value.is_finite())
        }
        _ => return None,
    };
    let missing = spec.width.saturating_sub(prefix.len() + body.chars().count());
    Some(if spec.left {
        format!("{prefix}{body}{}", " ".repeat(missing))
    } else if spec.zeros && may_have_zeros {
        format!("{prefix}{}{body}", "0".repeat(missing))
    } else {
        format!("{}{prefix}{body}", " ".repeat(missing))
    })
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// At least as many digits as the precision asks for.
fn digits(spec: &Spec, digits: String) -> String {
    let missing = spec.precision.unwrap_or(1).saturating_sub(digits.len());
    format!("{}{digits}", "0".repeat(missing))
}

/// `%f`, `%e` or `%g` of a value that is not negative.
fn float(spec: &Spec, letter: char, value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan" } else { "inf" }.to_owned();
    }
    let places = spec.precision.unwrap_or(6);
    match letter {
        'f' => format!("{value:.places$}"),
        'e' => scientific(value, places).0,
        // The shorter of both, without zeros at the end.
        _ => {
            let significant = places.max(1);
            let (text, exponent) = scientific(value, significant - 1);
            let is_fixed = exponent >= -4 && exponent < significant as i32;
            let text = if is_fixed {
                format!("{value:.*}", (significant as i32 - 1 - exponent) as usize)
            } else {
                text
            };
            if spec.alternative || !text.contains('.') {
                return text;
            }
            let (mantissa, power) = text.split_at(text.find('e').unwrap_or(text.len()));
            format!("{}{power}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// `d.ddde+dd`, and the exponent.
fn scientific(value: f64, places: usize) -> (String, i32) {
    let text = format!("{value:.places$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    (format!("{mantissa}e{sign}{:02}", exponent.abs()), exponent)
}

#[cfg(test)]
mod tests {
    use super::text;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn integers() {
        let bytes =
            [&7u32.to_le_bytes()[..], &[0; 4], &1.5f64.to_le_bytes(), &(-1i64).to_le_bytes()].concat();
        assert_eq!(text("a %03d %6.2f %lld%% %q", &bytes), "a 007   1.50 -1% %q");
        let bytes: Vec<u8> =
            [42u32, 42, 42, 42, 255, 255, 5, 3, 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(
            text("%5d|%-5d|%05d|%+d|%#x|%#o|%.3d|%*d", &bytes),
            "   42|42   |00042|+42|0xff|0377|005|  8"
        );
        assert_eq!(text("%c%c", &[b'a', 0, 0, 0, 0xe9, 0, 0, 0]), "a\u{e9}");
    }

    #[test]
    fn widths_from_arguments() {
        let bytes: Vec<u8> = [-4i32, 7, -1, 7].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(text("%*d|%.*d", &bytes), "7   |7");
        assert_eq!(text("%*d", &[0xff, 0xff, 0xff, 0x7f, 7, 0, 0, 0]).len(), super::MOST);
        assert_eq!(text("%99999999999999999999999d", &[7, 0, 0, 0]).len(), super::MOST);
        assert_eq!(text("%.4000000000f", &words(&[0])).len(), 2 + super::MOST);
        assert_eq!(text("%.4000000000g", &words(&[1.5f64.to_bits()])), "1.5");
    }

    #[test]
    fn floats() {
        let all = words(
            &[0.1, 1e10, 1234567.0, 100000.0, 12345.678, 0.0, f64::NEG_INFINITY, -0.00001].map(f64::to_bits),
        );
        assert_eq!(
            text("%g %g %g %g %e %g %08f %g", &all),
            "0.1 1e+10 1.23457e+06 100000 1.234568e+04 0     -inf -1e-05"
        );
        assert_eq!(
            text("%#g %.2E %08.2f", &words(&[1.5, 1e-7, -2.345].map(f64::to_bits))),
            "1.50000 1.00E-07 -0002.35"
        );
    }

    #[test]
    fn texts() {
        assert_eq!(
            text("%5s|%.2s|%s", &words(&[c"ab".as_ptr() as u64, c"xyz".as_ptr() as u64, 0])),
            "   ab|xy|(null)"
        );
        assert_eq!(text("100%", &[]), "100%");
    }
}
