//! Bodies of functions.

use super::{Body, Parser};
use crate::attr::Attr;
use crate::entities::{Block, Inst, Loc, StackSlot, Value};
use crate::function::{Function, LocData, LoopHint, StackSlotData};
use crate::inst::InstData;
use crate::lexer::{Tok, Token};
use crate::literal::Number;
use crate::ops::{Opcode, OperandRule, ResultRule, Shape};
use crate::parallel;
use crate::ptx::Sreg;
use crate::types::Type;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::OnceLock;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::Span;
use warpsmith_diag::nearest;
use warpsmith_isa::Mnemonic;

/// An operand as written.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Value(Value),
    Literal(Number, Span),
}

/// Where a type comes from that is not known yet.
#[derive(Clone, Copy)]
pub(super) enum TypeSource {
    Known(Type),
    /// The type of a value, when it has one.
    Of(Value),
    /// The type of a parameter, when the block's label has been read.
    Param(Block, u32),
}

/// How the type of a result follows from the type of an operand.
#[derive(Clone, Copy)]
pub(super) enum Derive {
    Same,
    Element,
    VectorOf(u32),
    Bools,
}

/// A constant whose type comes later.
pub(super) struct LateConstant {
    pub(super) inst: Inst,
    pub(super) number: Number,
    pub(super) span: Span,
    pub(super) source: TypeSource,
}

/// A name that an instruction gives to a result.
#[derive(Clone, Copy)]
pub(super) struct ResultName {
    pub(super) token: Token,
    pub(super) ty: Option<Type>,
}

pub(super) type ResultNames = SmallVec<[ResultName; 2]>;
pub(super) type ResultTokens = SmallVec<[Token; 2]>;

/// The bytes of an instruction in a body, the least that is usual.
const USUAL_LINE: usize = 24;

/// What is known of the body being read. The maps are kept from one function to the next for their memory.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) values: FxHashMap<&'a [u8], Value>,
    pub(super) slots: FxHashMap<&'a [u8], StackSlot>,
    pub(super) blocks: FxHashMap<&'a [u8], Block>,
    /// Values used before their definition was read, each with its first use.
    pub(super) forward_values: Vec<(Value, Token)>,
    /// Blocks used before their label was read, each with its first use.
    pub(super) forward_blocks: Vec<(Block, Token)>,
    pub(super) constants: Vec<LateConstant>,
    /// Results whose type comes later: from which value, and how.
    pub(super) results: FxHashMap<Value, (Value, Derive, Span)>,
    /// Cases of a switch on a value whose type comes later.
    pub(super) switches: Vec<(Inst, Vec<(Number, Span)>)>,
    pub(super) block: Option<Block>,
    /// Whether the instruction being read is promised not to wrap.
    pub(super) promised: bool,
    /// The names of the function's parameters, until the entry block takes them.
    pub(super) params: Vec<Token>,
    pub(super) locs: FxHashMap<LocData, Loc>,
    /// What the statement that is being read defines.
    pub(super) naming: ResultTokens,
    /// What lines define that could not be read: their uses are not reported as well.
    pub(super) unread: FxHashSet<&'a [u8]>,
    /// True if a line could not be read.
    pub(super) is_part: bool,
}

impl Scope<'_> {
    fn clear(&mut self) {
        self.values.clear();
        self.slots.clear();
        self.blocks.clear();
        self.forward_values.clear();
        self.forward_blocks.clear();
        self.constants.clear();
        self.results.clear();
        self.switches.clear();
        self.block = None;
        self.locs.clear();
        self.unread.clear();
        self.is_part = false;
    }
}

fn opcode(name: &[u8]) -> Option<Opcode> {
    static NAMES: OnceLock<FxHashMap<&'static [u8], Opcode>> = OnceLock::new();
    let names = NAMES.get_or_init(|| Opcode::ALL.iter().map(|op| (op.name().as_bytes(), *op)).collect());
    names.get(name).copied()
}

/// Shorter texts are not worth a thread.
const WORTH: usize = 128 << 10;

/// More would wait for memory.
const MOST_THREADS: usize = 8;

impl<'a> Parser<'a> {
    /// Reads the bodies. Where they are long they are first read beside each other, as far as they say nothing new of the module and have no
    /// errors; the others are read one after the other, so that what is new gets its number in the order of the text.
    pub(super) fn bodies(&mut self, bodies: Vec<Body>) {
        let long = bodies.iter().map(|body| body.len).sum::<usize>() >= WORTH;
        let shares = parallel::shares(bodies, if long { MOST_THREADS } else { 1 }, |body| body.len);
        let beside = shares.len() > 1;
        let (text, valid, module) = (self.lexer.text, self.valid, &*self.module);
        let (symbols, types) = (&self.unread_symbols, &self.unread_types);
        let read = parallel::map(shares, beside, |bodies| {
            if !beside {
                return bodies.into_iter().map(|body| (body, None)).collect::<Vec<_>>();
            }
            let mut parser = Parser::of(text, valid, Cow::Borrowed(module));
            parser.unread_symbols.clone_from(symbols);
            parser.unread_types.clone_from(types);
            let mut scope = Scope::default();
            let read = bodies.into_iter().map(|body| {
                let (func, whole) = parser.body(&mut scope, &body);
                parser.errors.clear();
                (body, whole.then_some(func))
            });
            read.collect()
        });
        let mut scope = Scope::default();
        for (body, known) in read.into_iter().flatten() {
            let (func, whole) = known.map_or_else(|| self.body(&mut scope, &body), |func| (func, true));
            self.module.to_mut().functions[body.function] = func;
            let read = if whole { &mut self.read.functions } else { &mut self.read.parts };
            read.push(body.function);
        }
    }

    /// The function with its body, and whether all of it was read.
    fn body(&mut self, scope: &mut Scope<'a>, body: &Body) -> (Function, bool) {
        let errors = self.errors.len();
        scope.clear();
        scope.params.clone_from(&body.params);
        self.lexer.position = body.start;
        self.bump();
        let func = self.module.functions[body.function].clone();
        let mut reader = BodyReader { p: self, s: scope, func };
        reader.reserve(body.len / USUAL_LINE);
        reader.body();
        reader.settle();
        let func = reader.func;
        (func, self.errors.len() == errors && !scope.is_part)
    }
}

pub(super) struct BodyReader<'p, 'a> {
    pub(super) p: &'p mut Parser<'a>,
    pub(super) s: &'p mut Scope<'a>,
    pub(super) func: Function,
}

impl<'a> BodyReader<'_, 'a> {
    /// Makes room for so many instructions.
    fn reserve(&mut self, insts: usize) {
        self.func.dfg.reserve(insts);
        self.func.layout.reserve(insts);
        self.func.names.reserve(insts);
        self.func.spans.resize(insts);
    }

    fn body(&mut self) {
        while !self.p.accept(b'}') {
            if self.p.tok.kind == Tok::End {
                self.p.expected("`}`");
                break;
            }
            // An item where a statement should be: the body's end is missing.
            if self.p.tok.first_of_line
                && self.p.tok.kind == Tok::Word
                && super::begins_item(&self.p.lexer.text[self.p.tok.start as usize..])
            {
                self.p.expected("`}`");
                break;
            }
            let start = self.p.tok.start;
            self.s.naming.clear();
            if self.statement().is_none() {
                self.s.is_part = true;
                for token in std::mem::take(&mut self.s.naming) {
                    self.s.unread.insert(&self.p.bytes(token)[1..]);
                }
                // What no statement begins with must not be looked at forever.
                if self.p.tok.start == start {
                    self.p.bump();
                }
                self.skip_line();
            }
        }
    }

    fn skip_line(&mut self) {
        while self.p.tok.kind != Tok::End && !self.p.tok.first_of_line && !self.p.is(b'}') {
            self.p.bump();
        }
    }

    fn statement(&mut self) -> Option<()> {
        let start = self.p.tok;
        if start.kind == Tok::Local {
            let mut names = ResultNames::new();
            loop {
                let token = self.p.expect_kind(Tok::Local, "a result's name")?;
                self.s.naming.push(token);
                let ty = if self.p.accept(b':') { Some(self.p.ty()?) } else { None };
                names.push(ResultName { token, ty });
                if !self.p.accept(b',') {
                    break;
                }
            }
            self.p.expect(b'=')?;
            let op = self.p.expect_kind(Tok::Word, "an operation")?;
            return self.instruction(op, names);
        }
        if self.p.is(b'!') {
            return self.debug_statement();
        }
        let word = self.p.expect_kind(Tok::Word, "a label, an instruction or `}`")?;
        if self.p.is(b':') || self.p.is(b'(') {
            return self.label(word);
        }
        if self.p.bytes(word) == b"stack" {
            return self.stack_slot();
        }
        let hint = match self.p.bytes(word) {
            b"nounroll" => LoopHint::NoUnroll,
            b"unroll" if self.p.accept_word("full") => LoopHint::UnrollFull,
            b"unroll" if self.p.accept_word("enable") => LoopHint::UnrollEnable,
            b"unroll" => LoopHint::Unroll(self.p.int("the number of rounds, `full` or `enable`")?),
            _ => return self.instruction(word, ResultNames::new()),
        };
        match self.s.block {
            Some(block) if self.func.layout.first_inst(block).is_none() => {
                self.func.loop_hints[block] = Some(hint);
            }
            _ => {
                let message = format!("{} does not stand at the head of a loop", self.p.describe(word));
                let note = "it follows the label of the block that the loop begins with";
                self.p.error("I0016", word.span(), message).notes.push(note.into());
            }
        }
        Some(())
    }

    fn stack_slot(&mut self) -> Option<()> {
        let name = self.p.expect_kind(Tok::Local, "the slot's name, such as `%buffer`")?;
        self.p.expect(b':')?;
        let size = self.p.int("size in bytes")?;
        let align = if self.p.accept_word("align") { self.p.int("alignment")? } else { 1 };
        let slot = self.func.stack_slots.push(StackSlotData { size, align });
        let bytes = &self.p.bytes(name)[1..];
        if self.s.slots.insert(bytes, slot).is_some() || self.s.values.contains_key(bytes) {
            let message = format!("{} is defined twice", self.p.describe(name));
            self.p.error("I0008", name.span(), message);
        }
        self.func.names.set_checked(slot, self.p.name(name));
        Some(())
    }

    fn label(&mut self, name: Token) -> Option<()> {
        let is_entry = self.func.layout.entry().is_none();
        let block = self.define_block(name, is_entry);
        if is_entry {
            self.define_entry(block);
        }
        if self.p.accept(b'(') {
            if is_entry {
                let message = format!("the first block, {}, cannot have parameters", self.p.describe(name));
                let note = "the parameters of the first block are those of the function";
                self.p.error("I0016", name.span(), message).notes.push(note.into());
            }
            while !self.p.accept(b')') {
                let name = self.p.expect_kind(Tok::Local, "a parameter such as `%i: i32`")?;
                self.s.naming.push(name);
                self.p.expect(b':')?;
                let ty = self.p.ty()?;
                let value = match is_entry {
                    true => self.func.dfg.make_detached_param(ty),
                    false => self.func.dfg.append_block_param(block, ty),
                };
                self.define_value(name, value);
                if !self.p.accept(b',') {
                    self.p.expect(b')')?;
                    break;
                }
            }
        }
        self.p.expect(b':')
    }

    /// An instruction whose operation was just read.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other operations are written as their shape says"
    )]
    fn instruction(&mut self, word: Token, names: ResultNames) -> Option<()> {
        if self.s.block.is_none() {
            let note = "write a label such as `entry:` before the first instruction";
            self.p
                .error("I0014", word.span(), "an instruction outside of a block".into())
                .notes
                .push(note.into());
            // What follows is read as the entry block would be.
            let block = self.func.dfg.make_block();
            self.func.layout.append_block(block);
            self.s.block = Some(block);
            self.define_entry(block);
        }
        let bytes = self.p.bytes(word);
        let dot = bytes.iter().position(|b| *b == b'.');
        let Some(op) = opcode(&bytes[..dot.unwrap_or(bytes.len())]) else {
            self.unknown_operation(word);
            return None;
        };
        let rest = dot.map(|dot| &self.p.text(word)[dot + 1..]);
        let start = names.first().map_or(word.start, |first| first.token.start);
        self.s.promised = false;
        let (data, types) = match op.info().shape {
            Shape::Sreg => (self.sreg(word, rest)?, None),
            Shape::Ptx => {
                let (data, types) = self.ptx(word, rest, &names)?;
                (data, Some(types))
            }
            _ => {
                let suffix = match rest {
                    Some("") if self.p.at_shape() => Some(self.p.ty()?),
                    Some(word @ ("packed" | "align")) if !self.p.tok.first_of_line => {
                        Some(self.p.suffix_shape(word)?)
                    }
                    Some(name) => Some(self.p.type_name(word, name)?),
                    None => None,
                };
                self.core(op, word, suffix, &names)?
            }
        };
        let types = match types {
            Some(types) => types,
            // A type that does not follow yet may when the whole body has been read.
            None => self.func.result_types(&data, None),
        };
        let span = Span::new(start, self.p.last_end);
        let count = types.len();
        if names.len() > count || (names.len() < count && !names.is_empty()) {
            let results = if count == 1 { "1 result".to_string() } else { format!("{count} results") };
            let message = format!("`{}` gives {results}, {} named here", self.p.text(word), names.len());
            self.p.error("I0013", names[0].token.span(), message);
        }
        let inst = self.insert(data, &types, span);
        if self.s.promised {
            self.func.dfg.set_promised(inst, true);
        }
        let results = self.func.dfg.results(inst);
        for (n, result) in results.into_iter().enumerate() {
            let known = self.func.dfg.ty(result);
            let name = names.get(n);
            match name.and_then(|name| name.ty) {
                Some(ty) if known.is_invalid() => self.func.dfg.set_ty(result, ty),
                Some(ty) if known != ty => {
                    let message = format!("the result of `{op}` is {known}, not {ty}");
                    self.p.error("I0022", names[n].token.span(), message);
                }
                None if known.is_invalid() => self.type_comes_later(inst, n, result, span),
                _ => {}
            }
            if let Some(name) = name {
                self.define_value(name.token, result);
            }
        }
        // Names that no result takes are defined all the same, so that their uses are not reported too.
        for name in names.iter().skip(count) {
            let value = self.func.dfg.make_detached_param(name.ty.unwrap_or(Type::INVALID));
            self.define_value(name.token, value);
        }
        self.location(inst)
    }

    /// Notes from which operand a result will get its type.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the types of other results are written, or follow from their rule"
    )]
    fn type_comes_later(&mut self, inst: Inst, n: usize, result: Value, span: Span) {
        let info = self.func.dfg.opcode(inst).info();
        let args = self.func.dfg.args(inst);
        let derive = match info.result {
            ResultRule::Element => Derive::Element,
            ResultRule::Bools => Derive::Bools,
            ResultRule::TAndBools if n > 0 => Derive::Bools,
            ResultRule::TAndBools => Derive::Same,
            ResultRule::Shuffled => match &self.func.dfg[inst] {
                InstData::List { attr: Attr::Lanes(lanes), .. } => Derive::VectorOf(lanes.len() as u32),
                _ => return,
            },
            ResultRule::VectorOf => Derive::VectorOf(args.len() as u32),
            ResultRule::T => Derive::Same,
            _ => return,
        };
        let source = args.iter().zip(info.operands.iter().chain(std::iter::repeat(&OperandRule::Elements)));
        // A constant among the operands waits for its type as well: look past it.
        let mut candidates =
            source.filter(|(_, rule)| matches!(rule, OperandRule::T | OperandRule::Elements));
        let is_constant =
            |value: &Value| matches!(self.func.dfg.def_data(*value), Some(InstData::IntConst { .. }));
        if let Some((&value, _)) = candidates.find(|(value, _)| !is_constant(value)) {
            self.s.results.insert(result, (value, derive, span));
        }
    }

    /// `!file:line:column` or `!file:line:column:scope`
    fn location(&mut self, inst: Inst) -> Option<()> {
        // On a line of its own, `!` begins a binding.
        if !self.p.is(b'!') || self.p.tok.first_of_line {
            return Some(());
        }
        let start = self.p.bump().start;
        let file: u32 = self.p.int("file number")?;
        self.p.expect(b':')?;
        let line = self.p.int("line number")?;
        self.p.expect(b':')?;
        let column = self.p.int("column number")?;
        if file as usize >= self.p.module.files.len() {
            let span = Span::new(start, self.p.last_end);
            let note = "files are listed at the top, as in `file 0 \"kernel.dsl\"`";
            self.p.error("I0011", span, format!("unknown file number {file}")).notes.push(note.into());
            return Some(());
        }
        let mut data = LocData::new(crate::FileId::from_u32(file), line, column);
        if self.p.accept(b':') {
            data.scope = Some(crate::ScopeId::from_u32(self.p.int("scope number")?));
        } else if self.func.debug.is_some() {
            data.scope = Some(crate::ScopeId::from_u32(0));
        }
        let func = &mut self.func;
        let loc = *self.s.locs.entry(data).or_insert_with(|| func.locs.push(data));
        func.inst_locs[inst] = loc.into();
        Some(())
    }

    #[cold]
    fn unknown_operation(&mut self, word: Token) {
        let text = self.p.text(word);
        let name = text.split('.').next().unwrap_or(text);
        let near = nearest(name, Opcode::ALL.iter().map(|op| op.name()));
        let note = match near {
            _ if text.contains('.') && Mnemonic::parse(text).is_ok() => {
                Some(format!("the PTX instruction is written `ptx.{text}`"))
            }
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => Opcode::ALL
                .iter()
                .find(|op| {
                    !name.is_empty()
                        && (op.name().ends_with(name) || name == "const" && op.name() == "iconst")
                })
                .map(|op| format!("did you mean `{op}`?")),
        };
        let message = format!("unknown operation `{}`", if name.len() > 40 { "..." } else { name });
        self.p.error("I0002", Span::new(word.start, word.start + name.len() as u32), message).notes.push(
            note.unwrap_or_else(|| {
                "PTX instructions are written with `ptx.` in front, as in `ptx.bar.sync 0`".into()
            }),
        );
    }

    fn sreg(&mut self, word: Token, name: Option<&str>) -> Option<InstData> {
        let name = name.unwrap_or("");
        if let Some(reg) = Sreg::from_name(name) {
            return Some(InstData::Sreg { reg });
        }
        let near = Sreg::all().map(|reg| reg.to_string()).collect::<Vec<_>>();
        let near =
            nearest(name, near.iter().map(String::as_str)).map(|near| format!("did you mean `sreg.{near}`?"));
        let shown = if name.len() > 40 { "..." } else { name };
        let error = self.p.error("I0017", word.span(), format!("unknown special register `{shown}`"));
        error.notes.push(near.unwrap_or_else(|| "special registers are PTX's, as in `sreg.tid.x`".into()));
        None
    }
}
