//! The macros of `warpsmith-device` and of `warpsmith`, which document them. They work on plain tokens: the only dependency is, with the
//! feature `instructions`, the instruction tables.

#![forbid(unsafe_code)]

mod function;
#[cfg(feature = "instructions")]
mod instruction;
mod kernel;
mod ptx;
mod test;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Makes a function a kernel. See `warpsmith_device::kernel`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = if arguments.is_empty() {
        kernel::expand(item)
    } else {
        Err(Wrong { message: "`#[kernel]` takes no arguments".to_owned(), at: Span::call_site() })
    };
    expanded.unwrap_or_else(Wrong::into_tokens)
}

/// Functions implemented in PTX. See `warpsmith_device::ptx`.
#[proc_macro]
pub fn ptx(items: TokenStream) -> TokenStream {
    ptx::expand(items).unwrap_or_else(Wrong::into_tokens)
}

/// Instructions of PTX as functions. See `warpsmith_device::instructions`.
#[cfg(feature = "instructions")]
#[proc_macro]
pub fn instructions(items: TokenStream) -> TokenStream {
    instruction::expand(items).unwrap_or_else(Wrong::into_tokens)
}

/// A unit test on Warpsmith's engine. See `warpsmith::test`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(arguments, item).unwrap_or_else(Wrong::into_tokens)
}

/// What is wrong with the input, and where.
struct Wrong {
    message: String,
    at: Span,
}

impl Wrong {
    /// `compile_error!("..")` at the place.
    fn into_tokens(self) -> TokenStream {
        let spanned = |mut token: TokenTree| {
            token.set_span(self.at);
            token
        };
        let message = TokenStream::from(TokenTree::from(Literal::string(&self.message)));
        [
            spanned(Ident::new("compile_error", self.at).into()),
            spanned(Punct::new('!', Spacing::Alone).into()),
            spanned(Group::new(Delimiter::Parenthesis, message).into()),
            spanned(Punct::new(';', Spacing::Alone).into()),
        ]
        .into_iter()
        .collect()
    }
}
