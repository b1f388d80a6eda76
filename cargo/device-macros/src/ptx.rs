//! `ptx!`: functions whose body on the device is PTX, in a name that the linker reads.

use crate::Wrong;
use crate::function::{Function, Tokens, head};
use proc_macro::{Delimiter, TokenStream, TokenTree};
use std::fmt::Write;

pub fn expand(items: TokenStream) -> Result<TokenStream, Wrong> {
    let mut tokens = Tokens::new(items);
    let mut out = TokenStream::new();
    while !tokens.is_at_end() {
        let function = head(&mut tokens)?;
        if !tokens.is_punct('=') {
            return Err(tokens.wrong("expected `= \"PTX\"`"));
        }
        tokens.next();
        let text = text(&mut tokens)?;
        let host = if tokens.eat("else") {
            match tokens.next() {
                Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
                    body.stream().to_string()
                }
                _ => return Err(tokens.wrong("expected what the host does, in braces")),
            }
        } else {
            format!(
                "::core::panic!(\"`{}` runs on the device only: add `else {{{{ .. }}}}` for the host\")",
                function.name
            )
        };
        if !tokens.is_punct(';') {
            return Err(tokens.wrong("expected `;`"));
        }
        tokens.next();
        let text = item(&function, &text, &host)?;
        let parsed: TokenStream = text
            .parse()
            .map_err(|error| Wrong { message: format!("{error} in `{text}`"), at: function.name.span() })?;
        out.extend(function.attributes);
        out.extend(parsed);
    }
    Ok(out)
}

/// One string or several in a row, which are one: macros put instructions together.
fn text(tokens: &mut Tokens) -> Result<String, Wrong> {
    let mut text = String::new();
    let mut found = false;
    while let Some(TokenTree::Literal(literal)) = tokens.peek().cloned() {
        text += &string(&literal.to_string()).ok_or_else(|| Wrong {
            message: "expected PTX as a string without escapes".to_owned(),
            at: literal.span(),
        })?;
        tokens.next();
        found = true;
    }
    if found { Ok(text) } else { Err(tokens.wrong("expected PTX as a string")) }
}

/// What stands between the quotes.
pub fn string(literal: &str) -> Option<String> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then(|| inner.to_owned())
}

fn item(function: &Function, text: &str, host: &str) -> Result<String, Wrong> {
    let mut constraints = Vec::new();
    let returned = function.returned.to_string();
    if !returned.is_empty() {
        constraints.push(format!("={}", constraint(&returned, function)?));
    }
    let mut body = text.to_owned();
    if !returned.is_empty() {
        body = body.replace("{}", "$0");
    }
    for param in &function.params {
        body = body.replace(&format!("{{{}}}", param.name), &format!("${}", constraints.len()));
        constraints.push(constraint(&param.ty_text(), function)?.to_owned());
    }
    let names: Vec<String> = function.params.iter().map(|param| param.name.to_string()).collect();
    let arrow = if returned.is_empty() { String::new() } else { format!("-> {returned}") };
    let (visibility, params) = (&function.visibility, &function.param_tokens);
    let (is_unsafe, name) = (if function.is_unsafe { "unsafe" } else { "" }, &function.name);
    let mut out = String::new();
    write!(
        out,
        "#[inline(always)] #[allow(unused_variables, unused_unsafe)] {visibility} {is_unsafe} fn {name}({params}) {arrow} {{ \
            #[cfg(target_arch = \"nvptx64\")] {{ \
                unsafe extern \"C\" {{ #[link_name = {:?}] fn instructions({params}) {arrow}; }} \
                unsafe {{ instructions({}) }} \
            }} \
            #[cfg(not(target_arch = \"nvptx64\"))] {{ {host} }} \
        }}",
        format!("ptx:{}|{body}", constraints.join(",")),
        names.join(", "),
    )
    .unwrap_or_default();
    Ok(out)
}

/// The kind of register that holds a type.
fn constraint(ty: &str, function: &Function) -> Result<&'static str, Wrong> {
    Ok(match ty {
        "u16" | "i16" => "h",
        "u32" | "i32" => "r",
        "u64" | "i64" | "usize" | "isize" => "l",
        "f32" => "f",
        "f64" => "d",
        _ if ty.starts_with('*') => "l",
        _ => {
            return Err(Wrong {
                message: format!(
                    "PTX has no register for `{ty}`: numbers of 16 to 64 bits and pointers have one"
                ),
                at: function.name.span(),
            });
        }
    })
}
