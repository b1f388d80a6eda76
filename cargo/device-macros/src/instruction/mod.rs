//! `instructions!`: instructions of PTX as functions, typed by the tables.

mod generate;
mod render;

use crate::Wrong;
use crate::function::{Tokens, prefix};
use crate::ptx::string;
use generate::{Choices, Function, function};
use proc_macro::{Delimiter, TokenStream, TokenTree};

pub fn expand(items: TokenStream) -> Result<TokenStream, Wrong> {
    let mut tokens = Tokens::new(items);
    let mut out = TokenStream::new();
    while !tokens.is_at_end() {
        let head = prefix(&mut tokens)?;
        if !tokens.is_punct('=') {
            return Err(tokens.wrong("expected `= \"an instruction\"`"));
        }
        tokens.next();
        let (mnemonic, at) = match tokens.next() {
            Some(TokenTree::Literal(literal)) => match string(&literal.to_string()) {
                Some(text) => (text, literal.span()),
                None => {
                    return Err(Wrong {
                        message: "expected an instruction as a string".to_owned(),
                        at: literal.span(),
                    });
                }
            },
            _ => return Err(tokens.wrong("expected an instruction as a string")),
        };
        let choices =
            if tokens.is_group(Delimiter::Brace) { choices(&mut tokens)? } else { Choices::default() };
        if !tokens.is_punct(';') {
            return Err(tokens.wrong("expected `;`"));
        }
        tokens.next();
        let wrong = |message| Wrong { message, at };
        let function = function(&mnemonic, &choices).map_err(wrong)?;
        if function.is_unsafe != head.is_unsafe {
            return Err(wrong(if function.is_unsafe {
                format!("`{mnemonic}` accesses memory by an address that nothing checks: `unsafe fn`")
            } else {
                format!("`{mnemonic}` takes no address, so it is safe: `fn`")
            }));
        }
        let text = item(&head.visibility.to_string(), &head.name.to_string(), &function);
        let parsed: TokenStream = text.parse().map_err(|error| wrong(format!("{error} in `{text}`")))?;
        out.extend(head.attributes);
        out.extend(parsed);
    }
    Ok(out)
}

/// `{ name, name: 3 }`: operands that are wanted, and those that are constants.
fn choices(tokens: &mut Tokens) -> Result<Choices, Wrong> {
    let Some(TokenTree::Group(group)) = tokens.next() else { return Ok(Choices::default()) };
    let mut tokens = Tokens::new(group.stream());
    let mut choices = Choices::default();
    while !tokens.is_at_end() {
        let Some(TokenTree::Ident(name)) = tokens.next() else {
            return Err(tokens.wrong("expected the name of an operand"));
        };
        let name = name.to_string();
        if tokens.is_punct(':') {
            tokens.next();
            let negative = tokens.is_punct('-');
            if negative {
                tokens.next();
            }
            let number = match tokens.next() {
                Some(TokenTree::Literal(literal)) => number(&literal.to_string()),
                _ => None,
            };
            let Some(number) = number else { return Err(tokens.wrong("expected a number")) };
            choices.constants.push((name, if negative { number.wrapping_neg() } else { number }));
        } else {
            choices.wanted.push(name);
        }
        if tokens.is_punct(',') {
            tokens.next();
        }
    }
    Ok(choices)
}

/// The value of an integer literal.
fn number(text: &str) -> Option<i64> {
    let text = text.replace('_', "");
    let parsed = match text.get(..2) {
        Some("0x") => u64::from_str_radix(&text[2..], 16),
        Some("0b") => u64::from_str_radix(&text[2..], 2),
        Some("0o") => u64::from_str_radix(&text[2..], 8),
        Some(_) | None => text.parse(),
    };
    parsed.ok().map(|value| value as i64)
}

/// The function's text.
fn item(visibility: &str, name: &str, function: &Function) -> String {
    format!(
        "#[doc = \"`{}`\"] #[inline(always)] \
        #[allow(unused_unsafe, unused_parens, improper_ctypes, clippy::too_many_arguments, clippy::type_complexity, \
            clippy::missing_safety_doc, clippy::unnecessary_cast, clippy::cast_lossless, clippy::not_unsafe_ptr_arg_deref)] \
        {visibility} {} fn {name}({}) -> {} {{ \
            #[cfg(target_arch = \"nvptx64\")] {{ {} }} \
            #[cfg(not(target_arch = \"nvptx64\"))] {{ {} }} \
        }}",
        function.mnemonic,
        if function.is_unsafe { "unsafe" } else { "" },
        function.parameters(),
        function.returned(),
        function.device(),
        function.host(),
    )
}
