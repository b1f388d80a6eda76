//! The head of a function, token by token.

use crate::Wrong;
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

/// `#[..] pub unsafe fn name(a: A) -> R`, and what follows.
pub struct Function {
    /// Attributes, documentation among them.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: TokenStream,
    /// It is `unsafe`.
    pub is_unsafe: bool,
    /// The name.
    pub name: Ident,
    /// The parameters.
    pub params: Vec<Param>,
    /// The tokens in the parentheses.
    pub param_tokens: TokenStream,
    /// What follows `->`, if anything does.
    pub returned: TokenStream,
}

/// `name: Type`
pub struct Param {
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: Vec<TokenTree>,
}

impl Param {
    /// The type as text.
    pub fn ty_text(&self) -> String {
        self.ty.iter().cloned().collect::<TokenStream>().to_string()
    }
}

/// A place in tokens.
pub struct Tokens {
    all: Vec<TokenTree>,
    at: usize,
}

impl Tokens {
    pub fn new(tokens: TokenStream) -> Tokens {
        let mut all = Vec::new();
        flatten(tokens, &mut all);
        Tokens { all, at: 0 }
    }

    pub fn peek(&self) -> Option<&TokenTree> {
        self.all.get(self.at)
    }

    pub fn next(&mut self) -> Option<TokenTree> {
        let token = self.all.get(self.at).cloned();
        self.at += 1;
        token
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(TokenTree::Ident(ident)) if ident.to_string() == word)
    }

    pub fn is_punct(&self, c: char) -> bool {
        matches!(self.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == c)
    }

    pub fn is_group(&self, delimiter: Delimiter) -> bool {
        matches!(self.peek(), Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.all.len()
    }

    /// Takes a word if it comes next.
    pub fn eat(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// What is wrong here.
    pub fn wrong(&self, message: &str) -> Wrong {
        let at = self.peek().or(self.all.last()).map_or_else(Span::call_site, TokenTree::span);
        Wrong { message: message.to_owned(), at }
    }
}

/// The tokens, out of the groups without delimiters that fragments of `macro_rules!` come in.
fn flatten(tokens: TokenStream, all: &mut Vec<TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flatten(group.stream(), all),
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                all.push(token)
            }
        }
    }
}

/// What stands before the parameters of a function.
pub struct Prefix {
    /// Attributes, documentation among them.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: TokenStream,
    /// It is `unsafe`.
    pub is_unsafe: bool,
    /// The name.
    pub name: Ident,
}

/// Reads `#[..] pub unsafe fn name`.
pub fn prefix(tokens: &mut Tokens) -> Result<Prefix, Wrong> {
    let mut attributes = Vec::new();
    while tokens.is_punct('#') {
        attributes.extend(tokens.next());
        attributes.extend(tokens.next());
    }
    let mut visibility = Vec::new();
    if tokens.is_word("pub") {
        visibility.extend(tokens.next());
        if tokens.is_group(Delimiter::Parenthesis) {
            visibility.extend(tokens.next());
        }
    }
    let is_unsafe = tokens.eat("unsafe");
    if !tokens.eat("fn") {
        return Err(tokens.wrong("expected a function: `fn name(..)`, perhaps with `pub` and `unsafe`"));
    }
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return Err(tokens.wrong("expected the name of the function"));
    };
    let (attributes, visibility) = (attributes.into_iter().collect(), visibility.into_iter().collect());
    Ok(Prefix { attributes, visibility, is_unsafe, name })
}

/// Reads a head up to the body, `where`, `=` or the end.
pub fn head(tokens: &mut Tokens) -> Result<Function, Wrong> {
    let Prefix { attributes, visibility, is_unsafe, name } = prefix(tokens)?;
    if tokens.is_punct('<') {
        return Err(tokens.wrong(
            "a kernel has no generic parameters: each use would be another kernel, and none has a name",
        ));
    }
    let param_tokens = match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group.stream(),
        _ => return Err(tokens.wrong("expected the parameters of the function")),
    };
    let params = params(param_tokens.clone())?;
    let mut returned = Vec::new();
    if tokens.is_punct('-') {
        tokens.next();
        tokens.next();
        while !tokens.is_at_end()
            && !tokens.is_group(Delimiter::Brace)
            && !tokens.is_punct('=')
            && !tokens.is_word("where")
        {
            returned.extend(tokens.next());
        }
    }
    Ok(Function {
        attributes,
        visibility,
        is_unsafe,
        name,
        params,
        param_tokens,
        returned: returned.into_iter().collect(),
    })
}

fn params(tokens: TokenStream) -> Result<Vec<Param>, Wrong> {
    let mut tokens = Tokens::new(tokens);
    let mut all = Vec::new();
    while !tokens.is_at_end() {
        tokens.eat("mut");
        let name = match tokens.next() {
            Some(TokenTree::Ident(name)) if tokens.is_punct(':') => name,
            _ => return Err(tokens.wrong("expected a parameter: `name: Type`")),
        };
        tokens.next();
        let (mut ty, mut depth) = (Vec::new(), 0i32);
        while let Some(token) = tokens.peek() {
            if let TokenTree::Punct(punct) = token {
                match punct.as_char() {
                    ',' if depth == 0 => break,
                    '<' => depth += 1,
                    '>' => depth -= 1,
                    _ => {}
                }
            }
            ty.extend(tokens.next());
        }
        tokens.next();
        all.push(Param { name, ty });
    }
    Ok(all)
}
