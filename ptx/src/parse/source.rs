//! `.nv_intermediate_source_section` and `.language` (PTX ISA 9.4, 11.5.6 and 11.8.2).

use super::{Parse, Parser, lexer::Kind};
use crate::codes;
use crate::tree::*;
use memchr::memmem;
use warpsmith_diag::Span;

impl Parser<'_> {
    /// `.nv_intermediate_source_section { .code_block {..} .. }`
    pub(super) fn intermediate_source(&mut self) -> Parse<Item> {
        self.bump();
        self.expect(b'{', "`{`")?;
        let mut blocks = Vec::new();
        while self.at_dot("code_block") {
            self.bump();
            self.expect(b'{', "`{`")?;
            self.named_field("ir_name")?;
            let ir_name = self.string("the name of the language, in quotes")?;
            self.named_field("sourceFileName")?;
            let file = self.count("the number of a file")?;
            let text = self.raw_source()?;
            self.expect(b'}', "`}` that ends the block")?;
            blocks.push(CodeBlock { ir_name, file, text });
        }
        self.expect(b'}', "`.code_block` or `}`")?;
        Ok(Item::IntermediateSource(self.module.block_list(&blocks)))
    }

    /// `.name:`
    fn named_field(&mut self, name: &str) -> Parse<()> {
        if !self.at_dot(name) {
            return Err(self.expected(&format!("`.{name}:`")));
        }
        self.bump();
        self.expect(b':', "`:`")
    }

    /// `.source_begin`, whatever stands there, `.source_end`.
    fn raw_source(&mut self) -> Parse<Symbol> {
        const END: &[u8] = b".source_end";
        if !self.at_dot("source_begin") {
            return Err(self.expected("`.source_begin`"));
        }
        let begin = self.token.end as usize;
        let Some(length) = memmem::find(&self.lexer.text[begin..], END) else {
            let span = self.span();
            return Err(self.error(codes::UNBALANCED, span, "this source has no `.source_end`"));
        };
        let text = self.intern(Span::new(begin as u32, (begin + length) as u32));
        self.lexer.pos = begin + length;
        self.bump();
        self.bump();
        Ok(text)
    }

    /// `3, "ptx"`: what follows `.language`.
    pub(super) fn languages(&mut self) -> Parse<Languages> {
        let mut languages = Languages::default();
        loop {
            let span = self.span();
            let code = if self.token.kind == Kind::Str {
                let name = self.string("a language")?;
                Languages::code(&self.module[name])
            } else {
                Some(self.count("a language: its name in quotes, or its code")?)
            };
            match code.and_then(|code| languages.with(code)) {
                Some(with) => languages = with,
                None => {
                    let message = format!("no such language; codes are 0 to {}", Languages::LAST);
                    return Err(self.error(codes::SYNTAX, span, message));
                }
            }
            if !self.eat(b',') {
                return Ok(languages);
            }
        }
    }
}
