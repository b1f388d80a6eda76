//! Debug information: the items of a module.

use super::Parser;
use crate::debug::*;
use crate::entities::{DebugTypeId, FileId, GlobalId, SubprogramId, UnitId};
use crate::lexer::Tok;
use crate::module::Symbol;
use cranelift_entity::packed_option::ReservedValue;
use warpsmith_diag::{Span, nearest};
use warpsmith_isa::StateSpace;

/// What the names of items begin with.
const ITEMS: [&str; 4] = ["unit", "type", "fn", "variable"];

/// True if a line begins with `!unit0` and the like.
pub(super) fn begins_item(line: &[u8]) -> bool {
    line.strip_prefix(b"!").is_some_and(|rest| ITEMS.iter().any(|item| rest.starts_with(item.as_bytes())))
}

impl<'a> Parser<'a> {
    /// The number of `!type3`, and its place.
    pub(super) fn debug_ref(&mut self, prefix: &str) -> Option<(u32, Span)> {
        let start = self.tok.start;
        self.expect(b'!')?;
        let what = format!("`!{prefix}` and a number");
        let token = self.expect_kind(Tok::Word, &what)?;
        let span = Span::new(start, token.end);
        let number = self.text(token).strip_prefix(prefix).and_then(|digits| digits.parse().ok());
        // The last number denotes none in packed options.
        match number.filter(|number| *number != u32::MAX) {
            Some(number) => Some((number, span)),
            None => {
                let message = format!("expected {what}, found `!{}`", self.text(token));
                self.error("I0001", span, message);
                None
            }
        }
    }

    pub(super) fn debug_string(&mut self, what: &str) -> Option<String> {
        let token = self.expect_kind(Tok::String, what)?;
        Some(String::from_utf8_lossy(&self.string(token)?).into_owned())
    }

    pub(super) fn keyword(&mut self, word: &str) -> Option<()> {
        if self.accept_word(word) {
            return Some(());
        }
        self.expected(&format!("`{word}`"));
        None
    }

    fn debug_file(&mut self) -> Option<FileId> {
        let span = self.tok.span();
        let number: u32 = self.int("file number")?;
        if number as usize >= self.module.files.len() {
            let note = "files are listed at the top, as in `file 0 \"kernel.dsl\"`";
            self.error("I0011", span, format!("unknown file number {number}")).notes.push(note.into());
            return None;
        }
        Some(FileId::from_u32(number))
    }

    /// `0:3`
    pub(super) fn declared(&mut self) -> Option<Declared> {
        let file = self.debug_file()?;
        self.expect(b':')?;
        Some(Declared { file, line: self.int("line number")? })
    }

    pub(super) fn debug_type_ref(&mut self) -> Option<DebugTypeId> {
        Some(DebugTypeId::from_u32(self.debug_ref("type")?.0))
    }

    fn unit_ref(&mut self) -> Option<UnitId> {
        Some(UnitId::from_u32(self.debug_ref("unit")?.0))
    }

    /// The debug information of a function: what its subprogram says, if that is known by now.
    pub(super) fn function_debug(&mut self, subprogram: u32) -> FunctionDebug {
        let id = SubprogramId::from_u32(subprogram);
        let known = self.module.debug.as_ref().and_then(|debug| debug.subprograms.get(id));
        let at = known.map_or(Declared { file: FileId::from_u32(0), line: 0 }, |known| known.declared);
        FunctionDebug::new(id, at)
    }

    /// Reports an entity that does not come where its number says.
    pub(super) fn in_order(&mut self, prefix: &str, number: u32, next: usize, span: Span) {
        if number as usize != next {
            let message = format!("this is !{prefix}{next}, not !{prefix}{number}");
            self.error("I0016", span, message).notes.push("they are numbered from 0 in order".into());
        }
    }

    /// `!unit0 = ..`, `!type0 = ..`, `!fn0 = ..`, `!variable @name = ..`
    pub(super) fn debug_item(&mut self) -> Option<()> {
        let start = self.bump().start;
        let token = self.expect_kind(Tok::Word, "`unit0`, `type0`, `fn0` or `variable`")?;
        let name = self.text(token);
        let span = Span::new(start, token.end);
        if name == "variable" {
            return self.debug_global();
        }
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let kind = &name[..name.len() - digits.len()];
        let (Ok(number), true) = (digits.parse::<u32>(), ITEMS.contains(&kind)) else {
            let near = nearest(kind, ITEMS.into_iter()).map(|near| format!("did you mean `!{near}`?"));
            let note = near.unwrap_or_else(|| "these are `!unit0`, `!type0`, `!fn0` and `!variable`".into());
            self.error("I0001", span, format!("`!{name}` is not debug information")).notes.push(note);
            return None;
        };
        self.expect(b'=')?;
        match kind {
            "unit" => {
                let unit = self.debug_unit()?;
                let units = &mut self.module.to_mut().debug.get_or_insert_default().units;
                let next = units.len();
                units.push(unit);
                self.in_order(kind, number, next, span);
            }
            "type" => {
                let ty = self.debug_type()?;
                let types = &mut self.module.to_mut().debug.get_or_insert_default().types;
                let next = types.len();
                types.push(ty);
                self.in_order(kind, number, next, span);
            }
            _ => {
                let subprogram = self.subprogram()?;
                let subprograms = &mut self.module.to_mut().debug.get_or_insert_default().subprograms;
                let next = subprograms.len();
                subprograms.push(subprogram);
                self.in_order(kind, number, next, span);
            }
        }
        Some(())
    }

    fn debug_unit(&mut self) -> Option<Unit> {
        self.keyword("file")?;
        let file = self.debug_file()?;
        let (mut producer, mut language, mut directory) = (String::new(), 0x8001, String::new());
        if self.accept_word("producer") {
            producer = self.debug_string("the compiler in quotes")?;
        }
        if self.accept_word("language") {
            language = self.int("language")?;
        }
        if self.accept_word("directory") {
            directory = self.debug_string("the folder in quotes")?;
        }
        Some(Unit { file, producer, language, directory })
    }

    fn subprogram(&mut self) -> Option<Subprogram> {
        let name = self.debug_string("the function's name in quotes")?;
        let linkage_name =
            if self.accept_word("linkage") { Some(self.debug_string("the symbol in quotes")?) } else { None };
        self.keyword("in")?;
        let unit = self.unit_ref()?;
        self.keyword("at")?;
        let declared = self.declared()?;
        let ty = if self.accept_word("type") { Some(self.debug_type_ref()?) } else { None };
        Some(Subprogram { name, linkage_name, unit, declared, ty })
    }

    fn debug_global(&mut self) -> Option<()> {
        let symbol = self.expect_kind(Tok::Global, "the global, such as `@tile`")?;
        self.expect(b'=')?;
        let name = self.debug_string("the variable's name in quotes")?;
        let ty = self.debug_type_ref()?;
        self.keyword("in")?;
        let unit = self.unit_ref()?;
        self.keyword("at")?;
        let declared = self.declared()?;
        let global = GlobalId::reserved_value();
        let variable = GlobalVariable { name, global, ty, unit, declared };
        self.module.to_mut().debug.get_or_insert_default().globals.push(variable);
        self.debug_globals.push(symbol);
        Some(())
    }

    /// Finds the globals of `!variable` items, when all are known.
    pub(super) fn settle_debug_globals(&mut self) {
        for (n, token) in std::mem::take(&mut self.debug_globals).into_iter().enumerate() {
            match self.module.symbol(self.name(token)) {
                Some(Symbol::Global(id)) => {
                    let variables = self.module.to_mut().debug.as_mut().map(|debug| &mut debug.globals);
                    if let Some(variable) = variables.and_then(|all| all.get_mut(n)) {
                        variable.global = id;
                    }
                }
                None if self.unread_symbols.contains(self.name(token)) => {}
                Some(Symbol::Func(_)) | None => {
                    let message = format!("{} is not a global", self.describe(token));
                    self.error("I0011", token.span(), message);
                }
            }
        }
    }

    fn debug_type(&mut self) -> Option<DebugType> {
        let token = self.expect_kind(Tok::Word, "a kind of type")?;
        let word = self.text(token);
        if let Some(kind) = Composite::ALL.into_iter().find(|kind| kind.name() == word) {
            return self.composite(kind);
        }
        Some(match word {
            "base" => {
                let name = self.debug_string("the type's name in quotes")?;
                self.keyword("size")?;
                let size = self.int("size in bytes")?;
                let token = self.expect_kind(Tok::Word, "an encoding such as `signed`")?;
                let word = self.text(token);
                let encoding = Encoding::ALL.into_iter().find(|encoding| encoding.name() == word);
                let Some(encoding) = encoding else {
                    let names = Encoding::ALL.map(Encoding::name);
                    let note = format!("encodings are {}", names.join(", "));
                    self.error("I0016", token.span(), format!("unknown encoding `{word}`")).notes.push(note);
                    return None;
                };
                DebugType::Base { name, size, encoding }
            }
            "pointer" => {
                let to = if self.accept_word("void") { None } else { Some(self.debug_type_ref()?) };
                let mut space = StateSpace::Generic;
                if self.accept_word("space") {
                    let token = self.expect_kind(Tok::Word, "a state space")?;
                    let found = StateSpace::from_name(self.text(token));
                    let Some(found) = found else {
                        let message = format!("unknown state space {}", self.describe(token));
                        self.error("I0003", token.span(), message);
                        return None;
                    };
                    space = found;
                }
                DebugType::Pointer { to, space }
            }
            "reference" => DebugType::Reference { to: self.debug_type_ref()? },
            "array" => {
                let element = self.debug_type_ref()?;
                self.expect(b'[')?;
                let mut dimensions = Vec::new();
                while !self.accept(b']') {
                    dimensions.push(self.int("length")?);
                    if !self.accept(b',') {
                        self.expect(b']')?;
                        break;
                    }
                }
                DebugType::Array { element, dimensions }
            }
            "vector" => {
                let element = self.debug_type_ref()?;
                self.expect(b'[')?;
                let lanes = self.int("number of lanes")?;
                self.expect(b']')?;
                DebugType::Vector { element, lanes }
            }
            "enum" => self.enumeration()?,
            "typedef" => {
                let name = self.debug_string("the name in quotes")?;
                DebugType::Typedef { name, of: self.debug_type_ref()? }
            }
            "const" => DebugType::Const(self.debug_type_ref()?),
            "volatile" => DebugType::Volatile(self.debug_type_ref()?),
            "function" => {
                self.expect(b'(')?;
                let mut params = Vec::new();
                while !self.accept(b')') {
                    params.push(self.debug_type_ref()?);
                    if !self.accept(b',') {
                        self.expect(b')')?;
                        break;
                    }
                }
                let mut ret = None;
                if self.accept(b'-') {
                    self.expect(b'>')?;
                    ret = Some(self.debug_type_ref()?);
                }
                DebugType::Function { params, ret }
            }
            _ => {
                let kinds = [
                    "base",
                    "pointer",
                    "reference",
                    "struct",
                    "union",
                    "class",
                    "array",
                    "vector",
                    "enum",
                    "typedef",
                    "const",
                    "volatile",
                    "function",
                ];
                let near = nearest(word, kinds.into_iter()).map(|near| format!("did you mean `{near}`?"));
                let note = near.unwrap_or_else(|| format!("kinds of types are {}", kinds.join(", ")));
                let message = format!("unknown kind of type {}", self.describe(token));
                self.error("I0003", token.span(), message).notes.push(note);
                return None;
            }
        })
    }

    fn composite(&mut self, kind: Composite) -> Option<DebugType> {
        let name = self.debug_string("the type's name in quotes")?;
        self.keyword("size")?;
        let size = self.int("size in bytes")?;
        let declared = if self.accept_word("at") { Some(self.declared()?) } else { None };
        self.expect(b'{')?;
        let mut members = Vec::new();
        while !self.accept(b'}') {
            let name = self.debug_string("a member's name in quotes")?;
            self.expect(b':')?;
            let ty = self.debug_type_ref()?;
            self.keyword("at")?;
            let offset = self.int("offset in bytes")?;
            let mut bits = None;
            if self.accept_word("bits") {
                let width = self.int("width in bits")?;
                self.keyword("from")?;
                bits = Some((width, self.int("distance in bits")?));
            }
            members.push(Member { name, ty, offset, bits });
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        Some(DebugType::Composite { kind, name, size, declared, members })
    }

    fn enumeration(&mut self) -> Option<DebugType> {
        let name = self.debug_string("the type's name in quotes")?;
        let base = self.debug_type_ref()?;
        self.expect(b'{')?;
        let mut enumerators = Vec::new();
        while !self.accept(b'}') {
            let name = self.debug_string("a name in quotes")?;
            self.expect(b'=')?;
            enumerators.push(Enumerator { name, value: self.int("64-bit value")? });
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        Some(DebugType::Enum { name, base, enumerators })
    }
}
