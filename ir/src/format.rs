//! The formatter of the text form: one canonical layout, comments kept.
//!
//! Lines stay the author's: one that was broken stays broken. Indentation follows the structure (blocks' labels stand out), blanks within a
//! line are one or none, runs of blank lines are one, and comments behind neighbouring lines stand in one column. Comments that begin with
//! `;;` are directives of tests and stay as they are.

use crate::{Module, parse_module};
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};
use warpsmith_isa::layout::align_comments;

/// The text in canonical layout. A text that does not parse is answered with its errors.
///
/// ```
/// let text = "func @f(%x:i32)->i32{ ; twice\nentry:\n%y   = iadd  %x ,%x\n\n\n ret %y\n}";
/// let formatted = warpsmith_ir::format(text).unwrap();
/// assert_eq!(formatted, "func @f(%x: i32) -> i32 { ; twice\nentry:\n  %y = iadd %x, %x\n\n  ret %y\n}\n");
/// ```
pub fn format(source: impl Into<Source>) -> Result<String, Diagnostics> {
    let source = &source.into();
    let module = parse_module(source)?;
    let (file, source) = (source, source.text());
    let text = layout(source);
    let comments =
        |text: &str| text.lines().filter_map(|line| split(line).1.map(str::to_owned)).collect::<Vec<_>>();
    // What comes out must be the same program: better no layout than another meaning.
    let same = |other: Module| other.to_string() == module.to_string();
    if parse_module(&text).is_ok_and(same) && comments(source) == comments(&text) {
        return Ok(text);
    }
    let message = "this text cannot be formatted without changing its meaning; it is left alone";
    Err(Diagnostics::new(file.clone(), vec![Diagnostic::error("I0023", Span::NONE, message)]))
}

fn layout(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut behind = Vec::new();
    let (mut braces, mut brackets) = (0usize, 0usize);
    let mut blank = false;
    let lines: Vec<&str> = source.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let (code, comment) = split(line);
        let code = spaced(code);
        if code.is_empty() && comment.is_none() {
            blank = true;
            continue;
        }
        // A comment is indented as the code below it.
        let next = lines[number..].iter().map(|line| spaced(split(line).0)).find(|code| !code.is_empty());
        let shown = if code.is_empty() { next.as_deref().unwrap_or("") } else { code.as_str() };
        let outdented = is_label(shown) || shown.starts_with('}');
        let indent = if outdented { braces.saturating_sub(1) } else { braces }
            + usize::from(brackets > usize::from(code.starts_with(']')));
        let opens_block = out.ends_with("{\n") || out.is_empty();
        if blank && !opens_block && !code.starts_with('}') {
            out.push('\n');
        }
        blank = false;
        let directive = comment.is_some_and(|comment| comment.starts_with(";;"));
        let begin = out.len();
        if !(code.is_empty() && directive) {
            out.extend(std::iter::repeat_n("  ", indent));
        }
        out += &code;
        if let Some(comment) = comment {
            if !code.is_empty() {
                behind.push((begin, out.len()));
                out.push(' ');
            }
            out += comment;
        }
        out.push('\n');
        for byte in strings_out(&code).bytes() {
            match byte {
                b'{' => braces += 1,
                b'}' => braces = braces.saturating_sub(1),
                b'[' => brackets += 1,
                b']' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
        }
    }
    align_comments(&out, &behind)
}

/// True for the line that begins a block.
fn is_label(code: &str) -> bool {
    let name = code.find(|c: char| !(c.is_ascii_alphanumeric() || "_.$".contains(c))).unwrap_or(0);
    name > 0 && (code[name..].starts_with(':') || (code[name..].starts_with('(') && code.contains("):")))
}

/// A line's code, and its comment without blanks around.
fn split(line: &str) -> (&str, Option<&str>) {
    let mut quoted = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted && !in_array_type(line, at) => {
                return (line[..at].trim(), Some(line[at..].trim_end()));
            }
            _ => {}
        }
    }
    (line.trim(), None)
}

/// True at the `;` of `[i32; 16]`.
fn in_array_type(line: &str, at: usize) -> bool {
    let before = &line.as_bytes()[..at];
    let count_of = |byte: u8| before.iter().filter(|b| **b == byte).count();
    let open = count_of(b'[') > count_of(b']') && !line[..at].trim_end().ends_with(['[', ',']);
    let count = line[at + 1..].trim_start();
    let digits = count.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim_start();
    open && count.starts_with(|c: char| c.is_ascii_digit()) && digits.starts_with(']')
}

/// The code with what is quoted left out.
fn strings_out(code: &str) -> String {
    code.split('"').step_by(2).collect()
}

/// The code with one blank where blanks belong, and none elsewhere. Strings stay as they are.
fn spaced(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for (index, part) in code.split('"').enumerate() {
        if index % 2 == 1 {
            out.push('"');
            out += part;
            out.push('"');
            continue;
        }
        let mut chars = part.chars().peekable();
        while let Some(c) = chars.next() {
            let last = out.chars().next_back();
            match c {
                c if c.is_ascii_whitespace() => {
                    if !matches!(last, None | Some(' ' | '(' | '[')) {
                        out.push(' ');
                    }
                }
                ',' | ')' | ']' => {
                    out.truncate(out.trim_end_matches(' ').len());
                    out.push(c);
                    if c == ',' {
                        out.push(' ');
                    }
                }
                '=' | '{' if !matches!(last, None | Some(' ' | '(' | '[' | '=')) => {
                    out.push(' ');
                    out.push(c);
                    if c == '=' {
                        out.push(' ');
                    }
                }
                '=' => out.push_str("= "),
                '-' if chars.peek() == Some(&'>') => {
                    chars.next();
                    if !matches!(last, None | Some(' ')) {
                        out.push(' ');
                    }
                    out.push_str("-> ");
                }
                // A type follows a parameter's name; nothing follows a label.
                ':' if chars.peek() == Some(&':') || last == Some(':') => out.push(':'),
                ':' => {
                    out.truncate(out.trim_end_matches(' ').len());
                    out.push_str(": ");
                }
                // Of an array type: elsewhere it begins a comment.
                ';' => out.push_str("; "),
                c => {
                    if matches!(last, Some(')' | ']')) && (c.is_ascii_alphanumeric() || "%@".contains(c)) {
                        out.push(' ');
                    }
                    out.push(c);
                }
            }
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn formatted(text: &str, expected: Expect) {
        let once = format(text).unwrap();
        expected.assert_eq(&once);
        assert_eq!(format(&once).unwrap(), once);
    }

    #[test]
    fn lines_are_indented_by_their_place() {
        formatted(
            ";; run: {}\n;;   more\n\n\nshared @tile:[f32;256]align 16 ; memory\nconst @t: [i32; 4]=[1,2 ; two\n, 3,4]\nkernel @k(%n:i32,%p: ptr<global>)reqntid(1,1,1){\n ; begins\nentry:\n%c=icmp ult %n,16;; error: none\n brif %c,loop(%n),done   ; on\n; the loop\n   loop(%i :i32):\njump done\n\n\ndone:\n; ends\nret\n\n}",
            expect![[r#"
                ;; run: {}
                ;;   more

                shared @tile: [f32; 256] align 16 ; memory
                const @t: [i32; 4] = [1, 2        ; two
                  , 3, 4]
                kernel @k(%n: i32, %p: ptr<global>) reqntid(1, 1, 1) {
                ; begins
                entry:
                  %c = icmp ult %n, 16    ;; error: none
                  brif %c, loop(%n), done ; on
                ; the loop
                loop(%i: i32):
                  jump done

                done:
                  ; ends
                  ret
                }
            "#]],
        );
    }
}
