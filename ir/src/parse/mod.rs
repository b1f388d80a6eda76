//! The parser of the text form. It always yields a module and reports every error; an error inside a function costs the rest
//! of its line, one outside the rest of its item.
//!
//! Two passes: the first reads items and skips bodies, the second reads bodies, when every symbol and signature is known. A
//! body is read in one scan. What its first use does not know yet (a value of a block further down, the type of a literal that
//! goes to such a block) is noted and settled at its end.

mod binding;
mod body;
mod core_ops;
mod cursor;
mod debug;
mod globals;
mod names;
mod operands;
mod ptx;
mod settle;
mod signature;
mod types;

use crate::entities::{FuncId, GlobalId};
use crate::function::{FuncKind, Linkage};
use crate::lexer::{Lexer, Tok, Token, end_of_line, end_of_quoted};
use crate::module::{FileStamp, Module, Symbol};
use std::borrow::Cow;
use std::rc::Rc;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::nearest;
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};
use warpsmith_isa::{StateSpace, Target};

/// What the parser made of a text.
#[derive(Debug)]
pub struct Parsed {
    /// The module, as far as it could be read.
    pub module: Module,
    /// Every error, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a module. Any bytes will do: what is not a module is diagnosed.
pub fn parse(text: impl AsRef<[u8]>) -> Parsed {
    let text = text.as_ref();
    // Spans are 32 bits wide.
    let (text, too_large) = if text.len() < u32::MAX as usize { (text, false) } else { (&text[..0], true) };
    let mut parser = Parser::new(text);
    if too_large {
        parser.error("I0019", Span::new(0, 0), "the text is larger than 4 GiB".into());
    }
    let bodies = parser.items();
    parser.addresses();
    parser.aliases();
    parser.bodies(bodies);
    // What could not be read does not hide what is wrong with the rest.
    if !parser.errors.is_empty() {
        parser.errors.extend(crate::verify::readable(&parser.module, &parser.read));
    }
    parser.errors.sort_by_key(|error| error.span.start);
    Parsed { module: parser.module.into_owned(), diagnostics: parser.errors }
}

/// Reads a module, or reports all that is wrong with it.
pub fn parse_module(source: impl Into<Source>) -> Result<Module, Diagnostics> {
    let source = source.into();
    let Parsed { mut module, diagnostics } = parse(source.text());
    module.source = source;
    if diagnostics.is_empty() { Ok(module) } else { Err(module.diagnostics(diagnostics)) }
}

/// The words that begin items.
const ITEMS: [&str; 8] = ["target", "file", "type", "global", "const", "shared", "kernel", "func"];

/// What of a module with errors could be read, which is verified nevertheless.
#[derive(Default)]
pub(crate) struct Read {
    /// Globals that were read to their end.
    pub(crate) globals: Vec<GlobalId>,
    /// Functions of which all was read, declarations included.
    pub(crate) functions: Vec<FuncId>,
    /// Functions with lines that were not read, and with what those define.
    pub(crate) parts: Vec<FuncId>,
}

/// What an item defines: where it cannot be read, its uses are not reported as well.
enum Defines<'a> {
    Symbol(String),
    Type(&'a str),
}

/// What is to be read when all signatures are known.
struct Body {
    function: FuncId,
    /// The names of the parameters.
    params: Vec<Token>,
    /// Where the text behind `{` begins, and how long it is.
    start: usize,
    len: usize,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The text up to the first byte that is not UTF-8: nearly always all of it.
    valid: &'a str,
    tok: Token,
    /// Where the token before `tok` ends.
    last_end: u32,
    /// What is read. Bodies that are read beside each other see one module, to which they can add nothing.
    module: Cow<'a, Module>,
    errors: Vec<Diagnostic>,
    /// Addresses in initialisers, whose symbols may be defined further down.
    addresses: Vec<globals::Address>,
    /// Table-derived operations met so far, by their text.
    operations: FxHashMap<&'a str, Rc<ptx::Operation>>,
    /// The symbols of `!variable` items, whose globals may come later.
    debug_globals: Vec<Token>,
    /// The name of the type whose definition is being read.
    defining: Option<&'a str>,
    /// What the item that is being read defines.
    item_defines: Option<Defines<'a>>,
    /// Symbols and types whose items could not be read.
    unread_symbols: FxHashSet<String>,
    unread_types: FxHashSet<&'a str>,
    read: Read,
    /// Functions that are other names of functions, which may be defined further down.
    aliases: Vec<(FuncId, Token)>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Self {
        let valid = std::str::from_utf8(text)
            .or_else(|error| std::str::from_utf8(&text[..error.valid_up_to()]))
            .unwrap_or("");
        Self::of(text, valid, Cow::Owned(Module::new()))
    }

    fn of(text: &'a [u8], valid: &'a str, module: Cow<'a, Module>) -> Self {
        let mut lexer = Lexer { text, position: 0, in_array: false };
        let tok = lexer.next();
        Parser {
            lexer,
            valid,
            tok,
            last_end: 0,
            module,
            errors: Vec::new(),
            addresses: Vec::new(),
            operations: FxHashMap::default(),
            debug_globals: Vec::new(),
            defining: None,
            item_defines: None,
            unread_symbols: FxHashSet::default(),
            unread_types: FxHashSet::default(),
            read: Read::default(),
            aliases: Vec::new(),
        }
    }

    fn items(&mut self) -> Vec<Body> {
        let mut bodies = Vec::new();
        while self.tok.kind != Tok::End {
            self.item_defines = None;
            if self.item(&mut bodies).is_none() {
                match self.item_defines.take() {
                    Some(Defines::Symbol(name)) => _ = self.unread_symbols.insert(name),
                    Some(Defines::Type(name)) => _ = self.unread_types.insert(name),
                    None => {}
                }
                self.skip_to_item();
            }
        }
        self.settle_debug_globals();
        bodies
    }

    /// Skips to a word at the start of a line that begins an item.
    fn skip_to_item(&mut self) {
        while self.tok.kind != Tok::End {
            if self.tok.first_of_line && self.tok.kind == Tok::Word && ITEMS.contains(&self.text(self.tok)) {
                return;
            }
            if self.tok.first_of_line
                && self.is(b'!')
                && debug::begins_item(&self.lexer.text[self.tok.start as usize..])
            {
                return;
            }
            self.bump();
        }
    }

    fn item(&mut self, bodies: &mut Vec<Body>) -> Option<()> {
        let token = self.tok;
        if self.is(b'!') {
            return self.debug_item();
        }
        let word = if token.kind == Tok::Word { self.text(token) } else { "" };
        match word {
            "target" => self.target(),
            "file" => self.file(),
            "type" => self.type_definition(),
            "global" | "const" | "shared" => {
                self.bump();
                self.global(StateSpace::from_name(word)?)
            }
            "kernel" | "func" => {
                self.bump();
                self.function(if word == "kernel" { FuncKind::Kernel } else { FuncKind::Func }, bodies)
            }
            _ => {
                self.expected("`kernel`, `func`, `global`, `const`, `shared`, `type`, `target` or `file`");
                if let Some(near) = nearest(word, ITEMS.into_iter()).filter(|_| !word.is_empty()) {
                    let last = self.errors.len() - 1;
                    self.errors[last].notes.push(format!("did you mean `{near}`?"));
                }
                self.bump();
                None
            }
        }
    }

    fn target(&mut self) -> Option<()> {
        self.bump();
        let token = self.expect_kind(Tok::String, "a target such as \"sm_80\"")?;
        let text = String::from_utf8_lossy(self.bytes(token)).trim_matches('"').to_string();
        match text.parse() {
            Ok(target) => self.module.to_mut().target = Some(target),
            Err(()) => {
                let known: Vec<String> = Target::all().map(|target| target.to_string()).collect();
                let near = nearest(&text, known.iter().map(String::as_str));
                let help = near
                    .map_or("targets are sm_20 to sm_121a".into(), |near| format!("did you mean `{near}`?"));
                let shown = if text.len() > 40 { "..." } else { &text };
                let message = format!("unknown target `{shown}`");
                self.error("I0021", token.span(), message).notes.push(help);
            }
        }
        Some(())
    }

    fn file(&mut self) -> Option<()> {
        self.bump();
        let span = self.tok.span();
        let number: u32 = self.int("file number")?;
        let token = self.expect_kind(Tok::String, "the file's name in quotes")?;
        let name = String::from_utf8_lossy(&self.string(token)?).into_owned();
        if number as usize != self.module.files.len() {
            let message = format!("this is file number {}, not {number}", self.module.files.len());
            self.error("I0016", span, message).notes.push("files are numbered from 0 in order".into());
        }
        let stamp = match self.accept_word("time") {
            true => {
                let time = self.int("time, in seconds")?;
                if !self.accept_word("size") {
                    self.expected("`size` and the bytes of the file");
                    return None;
                }
                Some(FileStamp { time, size: self.int("size, in bytes")? })
            }
            false => None,
        };
        let id = self.module.to_mut().files.push(name);
        if stamp.is_some() {
            self.module.to_mut().stamps[id] = stamp;
        }
        Some(())
    }

    fn linkage(&mut self) -> Linkage {
        let word = if self.tok.kind == Tok::Word { self.text(self.tok) } else { "" };
        match Linkage::from_word(word) {
            Some(linkage) => {
                self.bump();
                linkage
            }
            None => Linkage::Local,
        }
    }

    /// `@name` of a definition; a name that is taken is reported.
    fn new_symbol(&mut self) -> Option<Token> {
        let token = self.expect_kind(Tok::Global, "a name such as `@name`")?;
        if let Some(owner) = self.module.symbol(&self.symbol_name(token)) {
            let span = match owner {
                Symbol::Func(id) => self.module.functions[id].span,
                Symbol::Global(id) => self.module.globals[id].span,
            };
            let message = format!("{} is defined twice", self.describe(token));
            self.error("I0012", token.span(), message).labels.push((span, "first defined here".into()));
        }
        self.item_defines = Some(Defines::Symbol(self.symbol_name(token).into_owned()));
        Some(token)
    }

    /// Moves behind the `}` that ends the body whose `{` is the current token; or, where it is missing, to the line that begins
    /// the next item.
    fn skip_body(&mut self) {
        let text = self.lexer.text;
        let (mut at, mut depth) = (self.lexer.position, 1u32);
        loop {
            let Some(next) = ends_or_hides(&text[at..]) else {
                at = text.len();
                break;
            };
            at += next + 1;
            match text[at - 1] {
                // The length of an array type, not a comment.
                b';' if is_array_length(&text[at..]) => {}
                b';' => at = end_of_line(text, at),
                // A name in quotes.
                b'"' => at = (end_of_quoted(text, at) + 1).min(text.len()),
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\n' if matches!(text.get(at), Some(b'a'..=b'z')) && begins_item(&text[at..]) => {
                    at -= 1;
                    break;
                }
                _ => {}
            }
        }
        self.lexer.position = at;
        self.bump();
    }
}

/// The first byte that may end a body, or begin what a bracket in it means nothing in: one of `;"{}` and the end of a line. Every byte of a
/// module comes by here, so eight are looked at together.
fn ends_or_hides(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // The high bits of bytes that are zero, and perhaps of some behind the first of these.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let equal = |word: u64, byte: u8| zeros(word ^ (ONES * u64::from(byte)));
    let (words, rest) = text.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // `;` and `{` differ in one bit.
        let found = equal(word | (ONES * u64::from(b';' ^ b'{')), b'{')
            | equal(word, b'}')
            | equal(word, b'"')
            | equal(word, b'\n');
        if found != 0 {
            return Some(8 * n + found.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(|byte| matches!(byte, b';' | b'"' | b'{' | b'}' | b'\n'));
    found.map(|n| 8 * words.len() + n)
}

/// True for `16]`, which `;` stands in front of in an array type.
fn is_array_length(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    text.first().is_some_and(u8::is_ascii_digit) && text[digits..].trim_ascii_start().starts_with(b"]")
}

/// True if a line looks like the start of an item and like nothing that can stand in a body.
fn begins_item(line: &[u8]) -> bool {
    ITEMS.iter().map(|word| word.as_bytes()).any(|word| {
        // Most lines differ in the first letter.
        let rest = line.strip_prefix(word).filter(|_| line.first() == word.first());
        rest.is_some_and(|rest| matches!(rest, [b' ' | b'\t', b'@' | b'"' | b'e' | b'0'..=b'9', ..]))
    })
}

#[cfg(test)]
mod tests {
    use super::ends_or_hides;

    #[test]
    fn ends_are_found_wherever_they_stand() {
        for end in 0..=u8::MAX {
            for (before, len) in [(0, 1), (3, 4), (7, 9), (8, 16), (13, 40)] {
                for fill in [b' ', end.wrapping_sub(1), end.wrapping_add(1), 0x80 | end] {
                    let mut text = vec![fill; len];
                    text[before] = end;
                    let expected = text.iter().position(|byte| b";\"{}\n".contains(byte));
                    assert_eq!(ends_or_hides(&text), expected, "{}", text.escape_ascii());
                }
            }
        }
    }
}
