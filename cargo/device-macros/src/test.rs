//! `#[warpsmith::test]`: a unit test whose body gets a device of the engine.

use crate::Wrong;
use crate::function::{Tokens, head};
use proc_macro::{Delimiter, TokenStream, TokenTree};

pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream, Wrong> {
    let checkers = checkers(arguments)?;
    let mut tokens = Tokens::new(item);
    let function = head(&mut tokens)?;
    if function.params.len() != 1 {
        return Err(Wrong {
            message: "a test takes the device: `fn name(device: &mut warpsmith::testing::TestDevice)`"
                .to_owned(),
            at: function.name.span(),
        });
    }
    let Some(TokenTree::Group(body)) = tokens.next() else {
        return Err(tokens.wrong("expected the body of the test"));
    };
    if body.delimiter() != Delimiter::Brace {
        return Err(Wrong { message: "expected the body of the test".to_owned(), at: body.span() });
    }
    let (name, params, returned) = (&function.name, &function.param_tokens, &function.returned);
    let returned = if returned.is_empty() { String::new() } else { format!("-> {returned}") };
    let head = format!(
        "#[::core::prelude::v1::test] {} fn {name}() {returned} {{ \
            fn test({params}) {returned} PLACE \
            ::warpsmith::testing::run({checkers:?}, test) \
        }}",
        function.visibility
    );
    let parsed: TokenStream = head
        .parse()
        .map_err(|error| Wrong { message: format!("{error} in `{head}`"), at: function.name.span() })?;
    // The body keeps its places in the source.
    let mut out = function.attributes;
    out.extend(with_body(parsed, &TokenTree::Group(body)));
    Ok(out)
}

/// The tokens with the body in its place.
fn with_body(tokens: TokenStream, body: &TokenTree) -> TokenStream {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Ident(word) if word.to_string() == "PLACE" => body.clone(),
            TokenTree::Group(group) => {
                let mut inner = proc_macro::Group::new(group.delimiter(), with_body(group.stream(), body));
                inner.set_span(group.span());
                inner.into()
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => token,
        })
        .collect()
}

/// `checkers = "memory,race"`; all of them without it.
fn checkers(arguments: TokenStream) -> Result<String, Wrong> {
    let mut tokens = Tokens::new(arguments);
    if tokens.is_at_end() {
        return Ok("all".to_owned());
    }
    let expected = "expected `checkers = \"memory,race\"`";
    if !tokens.eat("checkers") || !tokens.is_punct('=') {
        return Err(tokens.wrong(expected));
    }
    tokens.next();
    match tokens.next() {
        Some(TokenTree::Literal(literal)) => crate::ptx::string(&literal.to_string())
            .ok_or_else(|| Wrong { message: expected.to_owned(), at: literal.span() }),
        _ => Err(tokens.wrong(expected)),
    }
}
