//! Table-derived instructions: `%d = ptx.mnemonic operands`.

use super::body::{BodyReader, ResultNames};
use crate::Value;
use crate::inst::{InstData, ValueList};
use crate::lexer::{Tok, Token};
use crate::literal::Number;
use crate::module::Symbol;
use crate::ptx::{
    Candidate, Part, PtxData, PtxOperand, PtxSpans, ResultTypes, candidates, group_len, register_type,
    usual_types, word_span,
};
use smallvec::SmallVec;
use warpsmith_diag::{Span, Suggestion};
use warpsmith_isa::{Context, Fix, Mnemonic, Operand, Place, Remedy, Target, Version, codes, of_text};

/// After so many errors no spelling is suggested any more, since that takes time.
const EXPLAINED: usize = 1000;

/// The operands read so far, each with its place.
#[derive(Default)]
struct Written {
    operands: Vec<PtxOperand>,
    spans: Vec<Span>,
    args: SmallVec<[Value; 8]>,
}

impl Written {
    fn push(&mut self, operand: PtxOperand, span: Span) {
        self.operands.push(operand);
        self.spans.push(span);
    }
}

/// An operation of the tables, with what each of its instructions needs.
pub(super) struct Operation {
    prototype: PtxData,
    candidates: Vec<Candidate>,
}

impl Operation {
    fn new(mnemonic: Mnemonic) -> Self {
        Operation { prototype: PtxData::new(mnemonic, Vec::new()), candidates: candidates(&mnemonic) }
    }

    fn data(&self, operands: Vec<PtxOperand>, results: usize) -> PtxData {
        let mut data = self.prototype.clone();
        data.operands = operands;
        data.resolved(&self.candidates, results)
    }

    fn result_types(&self, results: usize) -> ResultTypes {
        usual_types(&self.candidates, results)
    }
}

impl<'a> BodyReader<'_, 'a> {
    /// The operation and its operands, and the types of its results.
    pub(super) fn ptx(
        &mut self,
        word: Token,
        name: Option<&'a str>,
        names: &ResultNames,
    ) -> Option<(InstData, ResultTypes)> {
        let mut written = Written::default();
        // Operands begin on the line of their instruction: the next line may begin with a value's name.
        let begins = |tok: Token| {
            matches!(tok.kind, Tok::Local | Tok::Global | Tok::Number | Tok::Punct(b'-' | b'[' | b'{' | b'!'))
        };
        let sink = |this: &Self| {
            let text = this.p.bytes(this.p.tok);
            // A label may begin like a part of the destination.
            this.p.tok.kind == Tok::Word && (text == b"_" || destination(text).is_some())
        };
        if !self.p.tok.first_of_line && (begins(self.p.tok) && !self.at_location() || sink(self)) {
            loop {
                self.ptx_operand(&mut written, true)?;
                if !self.p.accept(b',') {
                    break;
                }
            }
        }
        let known = self.ptx_operation(word, name.unwrap_or(""), &written, names.len())?;
        let mut types = known.result_types(names.len());
        for (ty, name) in types.iter_mut().zip(names) {
            *ty = name.ty.unwrap_or(*ty);
        }
        let Written { operands, spans, args } = written;
        let data = self.func.dfg.ptx.push(known.data(operands, names.len()));
        self.func.ptx_spans[data] = PtxSpans {
            mnemonic: Span::new(word.end - name.map_or(0, str::len) as u32, word.end),
            operands: spans.into(),
            results: names.iter().map(|name| name.token.span()).collect(),
        };
        Some((InstData::Ptx { data, args: ValueList::from_slice(&args, &mut self.func.dfg.pool) }, types))
    }

    /// Looks an operation up, once for each spelling.
    fn ptx_operation(
        &mut self,
        word: Token,
        name: &'a str,
        written: &Written,
        results: usize,
    ) -> Option<std::rc::Rc<Operation>> {
        if let Some(known) = self.p.operations.get(name) {
            return Some(known.clone());
        }
        let Ok(mnemonic) = Mnemonic::parse(name) else {
            self.no_instruction(word, name, written, results);
            return None;
        };
        let known = std::rc::Rc::new(Operation::new(mnemonic));
        self.p.operations.insert(name, known.clone());
        Some(known)
    }

    /// A name that no instruction has. The operands may show which was meant.
    #[cold]
    fn no_instruction(&mut self, word: Token, name: &str, written: &Written, results: usize) {
        let target = self.p.module.target.or_else(|| Target::all().last()).unwrap_or(Target::sm(120));
        let mut operands: Vec<Operand> = vec![Operand::Unknown; results];
        let mut args = written.args.iter();
        let mut n = 0;
        while let Some(&operand) = written.operands.get(n) {
            let len = group_len(&written.operands[n..]);
            let values = written.operands[n..n + len].iter().filter(|operand| operand.takes_value());
            let value = args.by_ref().take(values.count()).next();
            let ty = value.map(|value| self.func.dfg.ty(*value)).filter(|ty| !ty.is_invalid());
            operands.push(match (operand, ty) {
                (PtxOperand::Value, Some(ty)) => Operand::Reg(register_type(ty, false)),
                (PtxOperand::Int(value), _) => Operand::Int(value as i64),
                _ => Operand::Unknown,
            });
            n += len;
        }
        let start = word.end - name.len() as u32;
        let whole = Span::new(start, word.end);
        if self.p.errors.len() >= EXPLAINED {
            self.p.error("I0018", whole, "no PTX instruction has this name".into());
            return;
        }
        for violation in of_text(name, &operands, &Context::new(Version::LATEST, target)) {
            let code = if violation.code == codes::UNKNOWN_WORD { "I0018" } else { violation.code };
            let span = match violation.place {
                Place::Word(word) => word_span(start, name, word),
                Place::Instruction | Place::Operand(..) => whole,
            };
            let error = self.p.error(code, span, violation.message);
            error.section = Some(violation.section);
            error.labels.extend(violation.expected.map(|expected| (span, format!("expected {expected}"))));
            error.notes.extend(violation.help);
            if let Some(Fix { remedy: Remedy::Mnemonic(meant), certain }) = violation.fix {
                let message = if certain { "did you mean" } else { "perhaps this was meant" };
                error.suggestions.push(Suggestion::new(message, whole, meant, certain));
            }
        }
    }

    /// True at `!0:1:2`.
    fn at_location(&self) -> bool {
        let text = self.p.lexer.text;
        self.p.is(b'!') && text.get(self.p.lexer.position).is_some_and(u8::is_ascii_digit)
    }

    /// Reads one operand. A vector or bracket holds plain operands and, in a bracket, vectors: two levels and no more.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a token that nothing expects is an error where it stands"
    )]
    fn ptx_operand(&mut self, written: &mut Written, outermost: bool) -> Option<()> {
        let token = self.p.tok;
        let operand = match token.kind {
            Tok::Local => {
                written.args.push(self.value()?);
                if self.p.accept(b':') { PtxOperand::Part(self.ptx_part()?) } else { PtxOperand::Value }
            }
            Tok::Global => match self.symbol()? {
                Symbol::Global(id) => PtxOperand::Global(id),
                Symbol::Func(id) => PtxOperand::Func(id),
            },
            Tok::Punct(b'-') if self.p.lexer.text.get(self.p.lexer.position) == Some(&b'%') => {
                self.p.bump();
                written.args.push(self.value()?);
                PtxOperand::Neg
            }
            Tok::Number | Tok::Punct(b'-') => {
                let (number, span) = self.p.number()?;
                self.ptx_number(number, span)?
            }
            Tok::Punct(b'!') => {
                self.p.bump();
                written.args.push(self.value()?);
                PtxOperand::Not
            }
            Tok::Punct(b'[') if outermost => return self.ptx_bracket(written),
            Tok::Punct(b'{') => return self.ptx_vector(written),
            Tok::Word if self.p.bytes(token) == b"_" => {
                self.p.bump();
                PtxOperand::Sink
            }
            Tok::Word
                if written.operands.is_empty()
                    && let Some(part) = destination(self.p.bytes(token)) =>
            {
                self.p.bump();
                PtxOperand::Destination(part)
            }
            _ => {
                self.p.expected(
                    "an operand: a value, a number, an address in brackets, a vector in braces, or `@name`",
                );
                return None;
            }
        };
        written.push(operand, Span::new(token.start, self.p.last_end));
        Some(())
    }

    fn ptx_part(&mut self) -> Option<Part> {
        let token = self.p.tok;
        let part = std::str::from_utf8(self.p.bytes(token)).ok().and_then(Part::from_name);
        let Some(part) = part.filter(|_| token.kind == Tok::Word) else {
            self.p.expected("a part of the register: `b0` to `b3`, `h0`, `h1`, `h10`, `b3210`");
            return None;
        };
        self.p.bump();
        Some(part)
    }

    fn ptx_number(&mut self, number: Number, span: Span) -> Option<PtxOperand> {
        let operand = match number {
            Number::Int { negative, magnitude, .. } => {
                let value = i128::try_from(magnitude).ok().map(|m| if negative { -m } else { m });
                value.filter(|v| (i64::MIN as i128..=u64::MAX as i128).contains(v)).map(PtxOperand::Int)
            }
            Number::Decimal { as_f64, .. } => Some(PtxOperand::Decimal(as_f64)),
            Number::F32Bits(bits) => Some(PtxOperand::F32(bits)),
            Number::F64Bits(bits) => Some(PtxOperand::F64(bits)),
        };
        if operand.is_none() {
            self.p.error("I0005", span, "the number does not fit 64 bits".into());
        }
        operand
    }

    /// At `[`: an address, or the list of a bracket.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only values and globals make addresses")]
    fn ptx_bracket(&mut self, written: &mut Written) -> Option<()> {
        let start = self.p.bump().start;
        let at = written.operands.len();
        self.ptx_operand(written, false)?;
        let offset = match (self.p.is(b'-'), self.p.accept(b'+')) {
            (false, false) => 0,
            _ => self.p.int("offset")?,
        };
        if !self.p.is(b',') {
            written.operands[at] = match written.operands[at] {
                PtxOperand::Value => PtxOperand::Address(offset),
                PtxOperand::Global(global) => PtxOperand::GlobalAddress(global, offset),
                _ => {
                    self.p.expected("`,`: only a value or a global makes an address");
                    return None;
                }
            };
            self.p.expect(b']')?;
            written.spans[at] = Span::new(start, self.p.last_end);
            return Some(());
        }
        self.p.bump();
        written.operands.insert(at, PtxOperand::Bracket(0));
        written.spans.insert(at, Span::NONE);
        let count = 1 + self.ptx_elements(written, b']')?;
        written.operands[at] = PtxOperand::Bracket(count);
        written.spans[at] = Span::new(start, self.p.last_end);
        Some(())
    }

    /// At `{`.
    fn ptx_vector(&mut self, written: &mut Written) -> Option<()> {
        let start = self.p.bump().start;
        let at = written.operands.len();
        written.push(PtxOperand::Vector(0), Span::NONE);
        let count = self.ptx_elements(written, b'}')?;
        written.operands[at] = PtxOperand::Vector(count);
        written.spans[at] = Span::new(start, self.p.last_end);
        Some(())
    }

    /// The elements up to `close`, and how many they are.
    fn ptx_elements(&mut self, written: &mut Written, close: u8) -> Option<u32> {
        let mut count = 0;
        loop {
            if close == b'}' && self.p.is(b'{') {
                self.p.expected("an element: vectors do not nest");
                return None;
            }
            self.ptx_operand(written, false)?;
            count += 1;
            if !self.p.accept(b',') {
                break;
            }
        }
        self.p.expect(close)?;
        Some(count)
    }
}

/// `d.h0`
fn destination(text: &[u8]) -> Option<Part> {
    std::str::from_utf8(text).ok()?.strip_prefix("d.").and_then(Part::from_name)
}
