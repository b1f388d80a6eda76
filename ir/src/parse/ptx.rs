//! Table-derived instructions: `%d = ptx.mnemonic operands`.

use super::body::{BodyReader, ResultNames};
use crate::Value;
use crate::inst::{InstData, ValueList};
use crate::lexer::{Tok, Token};
use crate::literal::Number;
use crate::module::Symbol;
use crate::ptx::{Part, PtxData, PtxOperand, ResultTypes, usual_types};
use smallvec::SmallVec;
use warpsmith_isa::diagnostic::Span;
use warpsmith_isa::{Mnemonic, MnemonicError, Signature, forms};

/// An operation of the tables, with what each of its instructions needs.
pub(super) struct Operation {
    prototype: PtxData,
    signatures: Vec<Signature>,
}

impl Operation {
    fn new(mnemonic: Mnemonic) -> Self {
        let signatures = forms(&mnemonic).map(|form| form.signature()).collect();
        Operation { prototype: PtxData::new(mnemonic, Vec::new()), signatures }
    }

    fn data(&self, operands: Vec<PtxOperand>) -> PtxData {
        let mut data = self.prototype.clone();
        data.operands = operands;
        data
    }

    fn result_types(&self, results: usize) -> ResultTypes {
        usual_types(self.signatures.iter(), results)
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
        let mut operands = Vec::new();
        let mut args = SmallVec::<[Value; 8]>::new();
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
                self.ptx_operand(&mut operands, &mut args, true)?;
                if !self.p.accept(b',') {
                    break;
                }
            }
        }
        let known = self.ptx_operation(word, name.unwrap_or(""))?;
        let mut types = known.result_types(names.len());
        for (ty, name) in types.iter_mut().zip(names) {
            *ty = name.ty.unwrap_or(*ty);
        }
        let data = self.func.dfg.ptx.push(known.data(operands));
        Some((InstData::Ptx { data, args: ValueList::from_slice(&args, &mut self.func.dfg.pool) }, types))
    }

    /// Looks an operation up, once for each spelling.
    fn ptx_operation(&mut self, word: Token, name: &'a str) -> Option<std::rc::Rc<Operation>> {
        if let Some(known) = self.p.operations.get(name) {
            return Some(known.clone());
        }
        match Mnemonic::parse(name) {
            Ok(mnemonic) => {
                let known = std::rc::Rc::new(Operation::new(mnemonic));
                self.p.operations.insert(name, known.clone());
                Some(known)
            }
            Err(error) => {
                let at = word.end - name.len() as u32;
                let span = match &error {
                    MnemonicError::UnknownModifier { range, .. } => {
                        Span::new(at + range.start as u32, at + range.end as u32)
                    }
                    _ => Span::new(at, word.end),
                };
                let shown = if name.len() > 60 { "..." } else { name };
                self.p.error("I0018", span, format!("`{shown}` is no PTX instruction: {error}"));
                None
            }
        }
    }

    /// True at `!0:1:2`.
    fn at_location(&self) -> bool {
        let text = self.p.lexer.text;
        self.p.is(b'!') && text.get(self.p.lexer.position).is_some_and(u8::is_ascii_digit)
    }

    /// Reads one operand. A vector or bracket holds plain operands and, in a bracket, vectors: two levels and no more.
    fn ptx_operand(
        &mut self,
        operands: &mut Vec<PtxOperand>,
        args: &mut SmallVec<[Value; 8]>,
        outermost: bool,
    ) -> Option<()> {
        let token = self.p.tok;
        match token.kind {
            Tok::Local => {
                args.push(self.value()?);
                operands.push(PtxOperand::Value);
                if self.p.accept(b':') {
                    let token = self.p.tok;
                    let part = std::str::from_utf8(self.p.bytes(token)).ok().and_then(Part::from_name);
                    let Some(part) = part.filter(|_| token.kind == Tok::Word) else {
                        self.p.expected("a part of the register: `b0` to `b3`, `h0`, `h1`, `h10`, `b3210`");
                        return None;
                    };
                    self.p.bump();
                    operands.pop();
                    operands.push(PtxOperand::Part(part));
                }
            }
            Tok::Global => operands.push(match self.symbol()? {
                Symbol::Global(id) => PtxOperand::Global(id),
                Symbol::Func(id) => PtxOperand::Func(id),
            }),
            Tok::Punct(b'-') if self.p.lexer.text.get(self.p.lexer.position) == Some(&b'%') => {
                self.p.bump();
                args.push(self.value()?);
                operands.push(PtxOperand::Neg);
            }
            Tok::Number | Tok::Punct(b'-') => {
                let (number, span) = self.p.number()?;
                operands.push(self.ptx_number(number, span)?);
            }
            Tok::Punct(b'!') => {
                self.p.bump();
                args.push(self.value()?);
                operands.push(PtxOperand::Not);
            }
            Tok::Punct(b'[') if outermost => {
                self.p.bump();
                self.ptx_bracket(operands, args)?;
            }
            Tok::Punct(b'{') => {
                self.p.bump();
                self.ptx_list(operands, args, b'}', PtxOperand::Vector)?;
            }
            Tok::Word if self.p.bytes(token) == b"_" => {
                self.p.bump();
                operands.push(PtxOperand::Sink);
            }
            Tok::Word if operands.is_empty() && destination(self.p.bytes(token)).is_some() => {
                operands.extend(destination(self.p.bytes(token)).map(PtxOperand::Destination));
                self.p.bump();
            }
            _ => {
                self.p.expected(
                    "an operand: a value, a number, an address in brackets, a vector in braces, or `@name`",
                );
                return None;
            }
        }
        Some(())
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

    /// Behind `[`: an address, or the list of a bracket.
    fn ptx_bracket(&mut self, operands: &mut Vec<PtxOperand>, args: &mut SmallVec<[Value; 8]>) -> Option<()> {
        let at = operands.len();
        self.ptx_operand(operands, args, false)?;
        let offset = match (self.p.is(b'-'), self.p.accept(b'+')) {
            (false, false) => 0,
            _ => self.p.int("offset")?,
        };
        if !self.p.is(b',') {
            operands[at] = match operands[at] {
                PtxOperand::Value => PtxOperand::Address(offset),
                PtxOperand::Global(global) => PtxOperand::GlobalAddress(global, offset),
                _ => {
                    self.p.expected("`,`: only a value or a global makes an address");
                    return None;
                }
            };
            return self.p.expect(b']');
        }
        self.p.bump();
        operands.insert(at, PtxOperand::Bracket(0));
        self.ptx_elements(operands, args, b']', at, 1, PtxOperand::Bracket)
    }

    fn ptx_list(
        &mut self,
        operands: &mut Vec<PtxOperand>,
        args: &mut SmallVec<[Value; 8]>,
        close: u8,
        make: fn(u32) -> PtxOperand,
    ) -> Option<()> {
        let at = operands.len();
        operands.push(make(0));
        self.ptx_elements(operands, args, close, at, 0, make)
    }

    /// The elements up to `close`; the operand at `at` is made to hold how many there are.
    fn ptx_elements(
        &mut self,
        operands: &mut Vec<PtxOperand>,
        args: &mut SmallVec<[Value; 8]>,
        close: u8,
        at: usize,
        read: u32,
        make: fn(u32) -> PtxOperand,
    ) -> Option<()> {
        let mut count = read;
        loop {
            if close == b'}' && self.p.is(b'{') {
                self.p.expected("an element: vectors do not nest");
                return None;
            }
            self.ptx_operand(operands, args, false)?;
            count += 1;
            if !self.p.accept(b',') {
                break;
            }
        }
        operands[at] = make(count);
        self.p.expect(close)
    }
}

/// `d.h0`
fn destination(text: &[u8]) -> Option<Part> {
    std::str::from_utf8(text).ok()?.strip_prefix("d.").and_then(Part::from_name)
}
