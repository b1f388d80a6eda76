//! The parser of the text form. It always yields a module and reports every error; an error inside a function costs the rest
//! of its line, one outside the rest of its item.
//!
//! Two passes: the first reads items and skips bodies, the second reads bodies, when every symbol and signature is known. A
//! body is read in one scan. What its first use does not know yet (a value of a block further down, the type of a literal that
//! goes to such a block) is noted and settled at its end.

mod body;
#[deny(clippy::wildcard_enum_match_arm)]
mod core_ops;
mod debug;
mod globals;
mod ptx;
mod settle;
mod types;

use crate::entities::FuncId;
use crate::function::{Attrs, FuncKind, Function, Inline, Linkage, Param};
use crate::lexer::{Lexer, Tok, Token, read_number};
use crate::literal::{Number, NumberError, float_bits, int_bits, wide_bits};
use crate::module::{FileStamp, Module, Symbol};
use crate::types::{Scalar, Type};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::rc::Rc;
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

/// Reads a module. Any bytes will do: what is no module is diagnosed.
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
    let items = parser.errors.len();
    let readable = parser.bodies(bodies);
    // Errors inside of some bodies do not hide what is wrong with the others. Errors of items do: what a name or type stands for is not known.
    if items == 0 && !parser.errors.is_empty() {
        parser.errors.extend(crate::verify::readable(&parser.module, &readable));
    }
    parser.errors.sort_by_key(|error| error.span.start);
    Parsed { module: parser.module, diagnostics: parser.errors }
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

/// What is to be read when all signatures are known.
struct Body {
    function: FuncId,
    /// The names of the parameters.
    params: Vec<Token>,
    /// Where the text behind `{` begins.
    start: usize,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    tok: Token,
    /// Where the token before `tok` ends.
    last_end: u32,
    module: Module,
    errors: Vec<Diagnostic>,
    /// Addresses in initialisers, whose symbols may be defined further down.
    addresses: Vec<globals::Address>,
    /// Table-derived operations met so far, by their text.
    operations: FxHashMap<&'a str, Rc<ptx::Operation>>,
    /// The symbols of `!variable` items, whose globals may come later.
    debug_globals: Vec<Token>,
    /// The name of the type whose definition is being read.
    defining: Option<&'a str>,
    /// Functions that are other names of functions, which may be defined further down.
    aliases: Vec<(FuncId, Token)>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut lexer = Lexer { text, position: 0, in_array: false };
        let tok = lexer.next();
        Parser {
            lexer,
            tok,
            last_end: 0,
            module: Module::new(),
            errors: Vec::new(),
            addresses: Vec::new(),
            operations: FxHashMap::default(),
            debug_globals: Vec::new(),
            defining: None,
            aliases: Vec::new(),
        }
    }

    #[cold]
    fn error(&mut self, code: &'static str, span: Span, message: String) -> &mut Diagnostic {
        self.errors.push(Diagnostic::error(code, span, message));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    #[inline]
    fn bump(&mut self) -> Token {
        let token = self.tok;
        self.last_end = token.end;
        self.tok = self.lexer.next();
        token
    }

    #[inline]
    fn bytes(&self, token: Token) -> &'a [u8] {
        &self.lexer.text[token.start as usize..token.end as usize]
    }

    /// The text of a token whose bytes the lexer has found to be ASCII.
    fn text(&self, token: Token) -> &'a str {
        std::str::from_utf8(self.bytes(token)).unwrap_or("")
    }

    /// The name behind the sigil of `%name`.
    fn name(&self, token: Token) -> &'a str {
        self.text(token).get(1..).unwrap_or("")
    }

    /// The name of `@name` or `@"name"`, whose escapes are those of strings. Bytes that are no text are replaced.
    fn symbol_name(&self, token: Token) -> Cow<'a, str> {
        let bytes = &self.bytes(token)[1..];
        let Some(quoted) = bytes.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
            return String::from_utf8_lossy(bytes);
        };
        if !quoted.contains(&b'\\') {
            return String::from_utf8_lossy(quoted);
        }
        let mut name = Vec::with_capacity(quoted.len());
        let mut rest = quoted;
        while let Some((&first, tail)) = rest.split_first() {
            let digits =
                tail.get(..2).filter(|digits| first == b'\\' && digits.iter().all(u8::is_ascii_hexdigit));
            match digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()) {
                Some(byte) => (name, rest) = (with(name, byte), &tail[2..]),
                None => (name, rest) = (with(name, first), tail),
            }
        }
        Cow::Owned(String::from_utf8_lossy(&name).into_owned())
    }

    /// What a token is, for messages.
    fn describe(&self, token: Token) -> String {
        let bytes = self.bytes(token);
        match token.kind {
            Tok::End => "the end of the text".into(),
            _ if bytes.len() > 40 => format!("`{}...`", bytes[..40].escape_ascii()),
            _ => format!("`{}`", bytes.escape_ascii()),
        }
    }

    #[cold]
    fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.describe(self.tok));
        self.error("I0001", self.tok.span(), message);
    }

    #[inline]
    fn is(&self, punct: u8) -> bool {
        self.tok.kind == Tok::Punct(punct)
    }

    #[inline]
    fn accept(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.bump();
        }
        found
    }

    #[inline]
    fn expect(&mut self, punct: u8) -> Option<()> {
        if self.accept(punct) {
            return Some(());
        }
        self.expected(&format!("`{}`", punct as char));
        None
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.tok.kind == Tok::Word && self.bytes(self.tok) == word.as_bytes();
        if found {
            self.bump();
        }
        found
    }

    fn expect_kind(&mut self, kind: Tok, what: &str) -> Option<Token> {
        if self.tok.kind == kind {
            return Some(self.bump());
        }
        self.expected(what);
        None
    }

    /// A number with its sign.
    fn number(&mut self) -> Option<(Number, Span)> {
        let start = self.tok.start;
        let negative = self.accept(b'-');
        let token = self.expect_kind(Tok::Number, "a number")?;
        let span = Span::new(start, token.end);
        match read_number(self.bytes(token), negative) {
            Some(number) => Some((number, span)),
            None => {
                let message = format!("{} is not a number", self.describe(token));
                self.error("I0004", span, message).notes.push(
                    "numbers are 42, -7, 0x2a, 0b101010, 1.5, 1e-3, or bits as in 0f3f800000 and 0d3ff0000000000000".into(),
                );
                None
            }
        }
    }

    /// An integer of a range that the grammar itself sets.
    fn int<T: TryFrom<i128>>(&mut self, what: &str) -> Option<T> {
        let (number, span) = self.number()?;
        let value = match number {
            Number::Int { negative, magnitude, .. } => {
                i128::try_from(magnitude).ok().and_then(|m| T::try_from(if negative { -m } else { m }).ok())
            }
            _ => None,
        };
        if value.is_none() {
            self.error("I0005", span, format!("this is no {what}"));
        }
        value
    }

    fn type_name(&mut self, token: Token, name: &str) -> Option<Type> {
        // A pointer's space stands between angle brackets, which are tokens of their own.
        if name == "ptr" && self.is(b'<') && self.tok.start == token.end {
            self.bump();
            let space = self.expect_kind(Tok::Word, "a state space")?;
            let ty = StateSpace::from_name(self.text(space)).and_then(Type::ptr);
            if ty.is_none() || ty == Some(Type::PTR) {
                let message = format!("no pointers to {}", self.describe(space));
                self.error("I0003", space.span(), message).notes.push(
                    "the spaces are global, shared, local, const and param; a generic pointer is `ptr`"
                        .into(),
                );
            }
            let end = self.expect(b'>').map(|()| self.last_end)?;
            if self.tok.kind == Tok::Word && self.tok.start == end {
                let lanes = self.bump();
                let count = self.text(lanes).strip_prefix('x').filter(|n| !n.starts_with(['0', '+']));
                let count = count.and_then(|n| n.parse().ok());
                let vector = ty.zip(count).and_then(|(ty, count)| Type::vector(ty.element(), count));
                if vector.is_none() {
                    let message = format!("no vector {}", self.describe(lanes));
                    let note = "a vector of pointers is written `ptr<global>x4`, with 2 to 64 elements";
                    self.error("I0003", lanes.span(), message).notes.push(note.into());
                }
                return vector;
            }
            return ty;
        }
        let common = match name {
            "i32" => Type::I32,
            "f32" => Type::F32,
            "i64" => Type::I64,
            "i1" => Type::I1,
            "i8" => Type::I8,
            "f64" => Type::F64,
            _ => return self.rare_type_name(token, name),
        };
        Some(common)
    }

    fn rare_type_name(&mut self, token: Token, name: &str) -> Option<Type> {
        let ty = Type::from_name(name).or_else(|| self.module.types.by_name(name));
        if ty.is_none() {
            // In `load.f33`, the type is the end of the token.
            let span = Span::new(token.end - name.len() as u32, token.end);
            let known: Vec<String> = Scalar::ALL.iter().map(Scalar::to_string).collect();
            let near =
                nearest(name, known.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| {
                "types are i1 to i128, f16 bf16 tf32 f32 f64, e4m3 e5m2 e2m3 e3m2 e2m1 ue8m0, \
                 vectors as in f32x4, ptr and ptr<global>; structs and arrays that are defined further up"
                    .into()
            });
            let shown = if name.len() > 40 { "..." } else { name };
            if self.defining == Some(name) {
                let note = "a `ptr` can point to it".to_owned();
                self.error("I0303", span, format!("`{shown}` holds itself")).notes.push(note);
                return None;
            }
            self.error("I0003", span, format!("no type `{shown}`")).notes.push(help);
        }
        ty
    }

    // Items.

    fn items(&mut self) -> Vec<Body> {
        let mut bodies = Vec::new();
        while self.tok.kind != Tok::End {
            if self.item(&mut bodies).is_none() {
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
            Ok(target) => self.module.target = Some(target),
            Err(()) => {
                let known: Vec<String> = Target::all().map(|target| target.to_string()).collect();
                let near = nearest(&text, known.iter().map(String::as_str));
                let help = near
                    .map_or("targets are sm_20 to sm_121a".into(), |near| format!("did you mean `{near}`?"));
                let shown = if text.len() > 40 { "..." } else { &text };
                let message = format!("no target `{shown}`");
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
        let id = self.module.files.push(name);
        if stamp.is_some() {
            self.module.stamps[id] = stamp;
        }
        Some(())
    }

    /// The bytes of a string; `\` is followed by two hexadecimal digits.
    fn string(&mut self, token: Token) -> Option<Vec<u8>> {
        let bytes = self.bytes(token);
        let mut rest = &bytes[1..bytes.len() - 1];
        let mut value = Vec::with_capacity(rest.len());
        while let Some((&first, tail)) = rest.split_first() {
            if first != b'\\' {
                value.push(first);
                rest = tail;
                continue;
            }
            let digits = tail.get(..2).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
            match digits.and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok()) {
                Some(byte) => value.push(byte),
                None => {
                    let at = token.end - 1 - rest.len() as u32;
                    let message = "`\\` must be followed by two hexadecimal digits".to_string();
                    self.error("I0004", Span::new(at, at + 1), message);
                    return None;
                }
            }
            rest = &tail[2..];
        }
        Some(value)
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
        Some(token)
    }

    /// An integer constant of a type; a number that is none is reported and stands for 0.
    fn int_constant(&mut self, number: Number, ty: Type, span: Span) -> i64 {
        int_bits(number, ty).unwrap_or_else(|error| {
            self.constant_error(error, ty, span);
            0
        })
    }

    /// The bits of an integer constant of any width; a number that is none is reported and stands for 0.
    fn wide_constant(&mut self, number: Number, ty: Type, span: Span) -> u128 {
        wide_bits(number, ty).unwrap_or_else(|error| {
            self.constant_error(error, ty, span);
            0
        })
    }

    /// The bits of a float constant of a type; a number that is none is reported and stands for 0.
    fn float_constant(&mut self, number: Number, ty: Type, span: Span) -> u64 {
        float_bits(number, ty).unwrap_or_else(|error| {
            self.constant_error(error, ty, span);
            0
        })
    }

    #[cold]
    fn constant_error(&mut self, error: NumberError, ty: Type, span: Span) {
        let bits = ty.bits();
        let (message, note) = match error {
            NumberError::Range if ty.bits() == 1 => ("an i1 is 0 or 1".to_string(), None),
            NumberError::Range if ty.is_int() => {
                let (low, high) = (i128::MIN >> (128 - bits), u128::MAX >> (128 - bits));
                (format!("the number does not fit {ty}"), Some(format!("{ty} takes {low} to {high}")))
            }
            NumberError::Range => (format!("the bit pattern does not fit {ty}"), None),
            NumberError::NotAnInteger => (format!("a float literal where {ty} is needed"), None),
            NumberError::NotAFloat => (
                format!("an integer literal where {ty} is needed"),
                Some("write a float, such as 2.0".into()),
            ),
            NumberError::Width => {
                let note = match bits {
                    64 => "bits of an f64 are written 0d3ff0000000000000".to_string(),
                    32 => "bits of an f32 are written 0f3f800000".to_string(),
                    _ => format!("bits of {ty} are written in hexadecimal, 0x..."),
                };
                (format!("a bit pattern of another width than {ty}"), Some(note))
            }
            NumberError::NoLiteral if ty.is_float() => {
                let digits = (bits as usize).div_ceil(4);
                let form =
                    if ty == Type::TF32 { "0f........".into() } else { format!("0x{}", "0".repeat(digits)) };
                (format!("{ty} has no decimal literals"), Some(format!("write its bits: {form}")))
            }
            NumberError::NoLiteral => (format!("{ty} has no literals"), None),
        };
        self.error("I0005", span, message).notes.extend(note);
    }

    fn function(&mut self, kind: FuncKind, bodies: &mut Vec<Body>) -> Option<()> {
        let linkage = self.linkage();
        let name = self.new_symbol()?;
        self.expect(b'(')?;
        let (mut params, mut names) = (Vec::new(), Vec::new());
        while !self.accept(b')') {
            names.push(self.expect_kind(Tok::Local, "a parameter such as `%x: i32`")?);
            self.expect(b':')?;
            params.push(self.param()?);
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        let mut returns = Vec::new();
        if self.is(b'-') {
            self.bump();
            self.expect(b'>')?;
            returns.push(self.ty()?);
            while self.accept(b',') {
                returns.push(self.ty()?);
            }
        }
        let mut function = Function::new(self.symbol_name(name), kind, params, returns);
        if linkage != Linkage::Local {
            function.linkage = linkage;
        }
        function.span = name.span();
        function.attrs = self.attributes()?;
        if self.is(b'!') {
            let (subprogram, _) = self.debug_ref("fn")?;
            function.debug = Some(Box::new(self.function_debug(subprogram)));
        }
        // `{` is the current token, so the lexer stands behind it.
        let start = self.lexer.position;
        let has_body = self.is(b'{');
        if self.accept(b'=') {
            let target = self.expect_kind(Tok::Global, "the function that this is another name of")?;
            let function = self.module.add_function(function);
            self.aliases.push((function, target));
            return Some(());
        }
        if !has_body && linkage != Linkage::Extern {
            self.expected("`{` and a body");
            if let Some(error) = self.errors.last_mut() {
                error
                    .notes
                    .push("a function of another module is declared as `func extern @name(...)`, another name of one as `func @name(...) = @other`".into());
            }
        }
        let function = self.module.add_function(function);
        if has_body {
            bodies.push(Body { function, params: names, start });
            self.skip_body();
        }
        Some(())
    }

    /// Finds the functions of other names, when all are known.
    fn aliases(&mut self) {
        for (alias, target) in std::mem::take(&mut self.aliases) {
            match self.module.symbol(&self.symbol_name(target)) {
                Some(Symbol::Func(id)) => self.module.functions[alias].alias = Some(id),
                Some(Symbol::Global(_)) => {
                    let message =
                        format!("{} is a variable; only functions have other names", self.describe(target));
                    self.error("I0011", target.span(), message);
                }
                None => {
                    let message = format!("{} is not defined", self.describe(target));
                    let names = self.module.functions.values().map(|func| func.name.as_str()).take(1000);
                    let near = nearest(&self.symbol_name(target), names);
                    let note = near.map(|near| format!("did you mean `@{near}`?"));
                    self.error("I0011", target.span(), message).notes.extend(note);
                }
            }
        }
    }

    fn param(&mut self) -> Option<Param> {
        let mut param = self.passed()?;
        let attrs = &mut param.attrs;
        while self.tok.kind == Tok::Word {
            let token = self.bump();
            match self.bytes(token) {
                b"noalias" => attrs.noalias = true,
                b"readonly" => attrs.readonly = true,
                b"nonnull" => attrs.nonnull = true,
                b"signext" => attrs.signext = true,
                b"align" => attrs.align = Some(self.number_in_parentheses("alignment")?),
                b"dereferenceable" => attrs.dereferenceable = Some(self.number_in_parentheses("size")?),
                _ => {
                    let message = format!("no attribute {} of a parameter", self.describe(token));
                    let note = "a parameter can be noalias, readonly, nonnull, signext, align(n) and dereferenceable(n)";
                    self.error("I0016", token.span(), message).notes.push(note.into());
                    return None;
                }
            }
        }
        Some(param)
    }

    /// `(n)`
    fn number_in_parentheses<T: TryFrom<i128>>(&mut self, what: &str) -> Option<T> {
        self.expect(b'(')?;
        let number = self.int(what)?;
        self.expect(b')')?;
        Some(number)
    }

    /// A type, `byval(size, align n)`, or `varargs`.
    fn passed(&mut self) -> Option<Param> {
        if self.accept_word("varargs") {
            return Some(Param::varargs());
        }
        if !self.accept_word("byval") {
            return self.ty().map(Param::new);
        }
        self.expect(b'(')?;
        let size = self.int("size")?;
        self.expect(b',')?;
        if !self.accept_word("align") {
            self.expected("`align`");
            return None;
        }
        let align = self.int("alignment")?;
        self.expect(b')')?;
        Some(Param::byval(size, align))
    }

    fn attributes(&mut self) -> Option<Attrs> {
        let mut attrs = Attrs::default();
        while self.tok.kind == Tok::Word && !ITEMS.contains(&self.text(self.tok)) {
            let token = self.bump();
            match self.text(token) {
                "reqntid" => attrs.reqntid = Some(self.sizes()?),
                "maxntid" => attrs.maxntid = Some(self.sizes()?),
                "reqnctapercluster" => attrs.reqnctapercluster = Some(self.sizes()?),
                "minnctapersm" => attrs.minnctapersm = Some(self.sizes()?[0]),
                "maxnreg" => attrs.maxnreg = Some(self.sizes()?[0]),
                "maxclusterrank" => attrs.maxclusterrank = Some(self.sizes()?[0]),
                "explicitcluster" => attrs.explicitcluster = true,
                "inline" => attrs.inline = Inline::Wanted,
                "noinline" => attrs.inline = Inline::Never,
                "cold" => attrs.cold = true,
                "noreturn" => attrs.noreturn = true,
                "pure" => attrs.pure_function = true,
                "convergent" => attrs.convergent = true,
                "signext" => attrs.signext = true,
                "abi_preserve" => {
                    attrs.abi_preserve = Some(self.number_in_parentheses("number of registers")?)
                }
                "abi_preserve_control" => {
                    attrs.abi_preserve_control = Some(self.number_in_parentheses("number of registers")?);
                }
                _ => {
                    let message = format!("no attribute {}", self.describe(token));
                    let note = "attributes of kernels are reqntid, maxntid, reqnctapercluster, minnctapersm, maxnreg, maxclusterrank and \
                                explicitcluster; of functions inline, noinline, cold, noreturn, pure, convergent, signext, abi_preserve and \
                                abi_preserve_control";
                    self.error("I0016", token.span(), message).notes.push(note.into());
                    return None;
                }
            }
        }
        Some(attrs)
    }

    /// `(x)`, `(x, y)` or `(x, y, z)`; what is not written is 1.
    fn sizes(&mut self) -> Option<[u32; 3]> {
        let mut sizes = [1; 3];
        self.expect(b'(')?;
        for (n, size) in sizes.iter_mut().enumerate() {
            if n > 0 && !self.accept(b',') {
                break;
            }
            *size = self.int("size")?;
        }
        self.expect(b')')?;
        Some(sizes)
    }

    /// Moves behind the `}` that ends the body whose `{` is the current token; or, where it is missing, to the line that begins
    /// the next item.
    fn skip_body(&mut self) {
        let text = self.lexer.text;
        let (mut at, mut depth) = (self.lexer.position, 1u32);
        while let Some(&byte) = text.get(at) {
            at += 1;
            match byte {
                // The length of an array type, not a comment.
                b';' if is_array_length(&text[at..]) => {}
                b';' => at = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| at + n),
                // A name in quotes.
                b'"' => {
                    let line = text[at..].iter().position(|b| matches!(b, b'"' | b'\n'));
                    at = line.map_or(text.len(), |n| at + n + 1);
                }
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

fn with(mut bytes: Vec<u8>, byte: u8) -> Vec<u8> {
    bytes.push(byte);
    bytes
}

/// True for `16]`, which `;` stands in front of in an array type.
fn is_array_length(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    text.first().is_some_and(u8::is_ascii_digit) && text[digits..].trim_ascii_start().starts_with(b"]")
}

/// True if a line looks like the start of an item and like nothing that can stand in a body.
fn begins_item(line: &[u8]) -> bool {
    ITEMS.iter().any(|word| {
        let rest = line.strip_prefix(word.as_bytes());
        rest.is_some_and(|rest| matches!(rest, [b' ' | b'\t', b'@' | b'"' | b'e' | b'0'..=b'9', ..]))
    })
}
