//! `#[kernel]`: the function stays, and an entry beside it, for the device only, takes slices apart and calls it.

use crate::Wrong;
use crate::function::{Function, Param, Tokens, head};
use proc_macro::{Delimiter, TokenStream, TokenTree};

pub fn expand(item: TokenStream) -> Result<TokenStream, Wrong> {
    let mut tokens = Tokens::new(item.clone());
    let function = head(&mut tokens)?;
    if !function.returned.is_empty() {
        return Err(Wrong {
            message: "a kernel returns nothing: what it computes goes to memory".to_owned(),
            at: function.name.span(),
        });
    }
    if !tokens.is_group(Delimiter::Brace) {
        return Err(tokens.wrong("expected the body of the kernel"));
    }
    let entry = entry(&function)?;
    let entry: TokenStream = entry
        .parse()
        .map_err(|error| Wrong { message: format!("{error} in `{entry}`"), at: function.name.span() })?;
    Ok(item.into_iter().chain(entry).collect())
}

/// The parameters of the entry, and what the function is called with. Names are made up: the function may be called as one of its parameters is, and `x_len` may be
/// a parameter beside the slice `x`.
fn entry(function: &Function) -> Result<String, Wrong> {
    let (mut params, mut arguments) = (Vec::new(), Vec::new());
    for (n, param) in function.params.iter().enumerate() {
        let (name, len) = (format!("__parameter_{n}"), format!("__len_{n}"));
        match slice(param)? {
            None => {
                params.push(format!("{name}: {}", param.ty_text()));
                arguments.push(name);
            }
            Some(Slice::Shared(of)) => {
                params.push(format!("{name}: *const {of}, {len}: usize"));
                arguments.push(format!("unsafe {{ ::core::slice::from_raw_parts({name}, {len}) }}"));
            }
            Some(Slice::Global(of)) => {
                params.push(format!("{name}: *mut {of}, {len}: usize"));
                arguments.push(format!(
                    "unsafe {{ ::warpsmith_device::SliceMut::from_raw_parts({name}, {len}) }}"
                ));
            }
        }
    }
    let name = function.name.to_string();
    let name = name.trim_start_matches("r#");
    let call = format!("{}({})", function.name, arguments.join(", "));
    let call = if function.is_unsafe { format!("unsafe {{ {call} }}") } else { call };
    Ok(format!(
        "#[cfg(target_arch = \"nvptx64\")] const _: () = {{ \
            #[unsafe(export_name = \"__warpsmith_kernel_{name}\")] \
            #[allow(unused_unsafe)] \
            pub unsafe extern \"C\" fn __warpsmith_entry({}) {{ {call} }} \
        }};",
        params.join(", ")
    ))
}

/// A parameter that is memory with its length.
enum Slice {
    /// `&[T]`
    Shared(String),
    /// `SliceMut<T>`
    Global(String),
}

fn slice(param: &Param) -> Result<Option<Slice>, Wrong> {
    let text = |tokens: &[TokenTree]| tokens.iter().cloned().collect::<TokenStream>().to_string();
    let mut ty = param.ty.as_slice();
    let wrong = |message: &str| Wrong { message: message.to_owned(), at: param.name.span() };
    if matches!(ty.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == '&') {
        ty = &ty[1..];
        // A lifetime is a quote and a name.
        if matches!(ty.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == '\'') {
            ty = ty.get(2..).unwrap_or_default();
        }
        let mutable = matches!(ty.first(), Some(TokenTree::Ident(word)) if word.to_string() == "mut");
        if mutable {
            return Err(wrong(
                "a kernel takes no `&mut`: each of its threads would have the only reference. Take `SliceMut<T>`, which threads share",
            ));
        }
        return Ok(match ty {
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_array =
                    inner.iter().any(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ';'));
                (!is_array).then(|| Slice::Shared(text(&inner)))
            }
            _ => None,
        });
    }
    // `SliceMut<T>`, `warpsmith_device::SliceMut<'_, T>`
    let open = ty.iter().position(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == '<'));
    let Some(open) = open else { return Ok(None) };
    let is_slice = matches!(&ty[..open], [.., TokenTree::Ident(word)] if word.to_string() == "SliceMut");
    let mut inner = ty[open + 1..].split_last().map(|(_, inner)| inner).unwrap_or_default();
    // A lifetime is a quote, a name and a comma.
    if matches!(inner.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == '\'') {
        inner = inner.get(3..).unwrap_or_default();
    }
    Ok(is_slice.then(|| Slice::Global(text(inner))))
}
