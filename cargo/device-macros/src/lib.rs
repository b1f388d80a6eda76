//! The macros of `warpsmith-device`, which documents them. They read and write tokens as they are: no other package is needed.

#![forbid(unsafe_code)]

mod function;
mod kernel;
mod ptx;

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

/// Functions that are PTX. See `warpsmith_device::ptx`.
#[proc_macro]
pub fn ptx(items: TokenStream) -> TokenStream {
    ptx::expand(items).unwrap_or_else(Wrong::into_tokens)
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
