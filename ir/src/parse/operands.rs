//! The operands of the core operations.

use super::Parser;
use super::body::{BodyReader, Operand, TypeSource};
use crate::entities::{FuncId, GlobalId, Inst, Path, Value};
use crate::inst::{BlockCall, InstData, JumpTableData, MemFlags, ValueList};
use crate::lexer::{Tok, Token};
use crate::literal::Number;
use crate::module::Symbol;
use crate::ops::{Opcode, OperandRule};
use crate::ptx::ResultTypes;
use crate::types::Type;
use smallvec::SmallVec;
use warpsmith_diag::Span;

impl BodyReader<'_, '_> {
    /// The operands of an operation of regular shape. Literals get the type of the other operands or of the suffix.
    pub(super) fn operands<const N: usize>(
        &mut self,
        op: Opcode,
        word: Token,
        suffix: Option<Type>,
    ) -> Option<[Value; N]> {
        let values = self.operand_list(op, word, suffix, N)?;
        values[..].try_into().ok()
    }

    pub(super) fn operand_list(
        &mut self,
        op: Opcode,
        word: Token,
        suffix: Option<Type>,
        count: usize,
    ) -> Option<SmallVec<[Value; 4]>> {
        let mut values = SmallVec::with_capacity(count);
        let mut literals: SmallVec<[(usize, Number, Span); 2]> = SmallVec::new();
        let rules = op.info().operands;
        // What T is: the suffix, else the type of the first operand that has one, else of the first that will have one.
        let mut t = suffix.map(TypeSource::Known);
        for (n, &rule) in rules.iter().enumerate().take(count) {
            if n > 0 {
                self.p.expect(b',')?;
            }
            match self.operand()? {
                Operand::Value(value) => {
                    let better = match t {
                        None => true,
                        Some(TypeSource::Of(known)) => self.func.dfg.ty(known).is_invalid(),
                        Some(_) => false,
                    };
                    if better && rule == OperandRule::T {
                        t = Some(TypeSource::Of(value));
                    }
                    values.push(value);
                }
                Operand::Literal(number, span) => {
                    literals.push((n, number, span));
                    values.push(Value::from_u32(0));
                }
            }
        }
        for (n, number, span) in literals {
            let source = match rules[n] {
                OperandRule::I1 | OperandRule::Bools => TypeSource::Known(Type::I1),
                OperandRule::I8 => TypeSource::Known(Type::I8),
                OperandRule::I32 | OperandRule::Amount => TypeSource::Known(Type::I32),
                OperandRule::I64 | OperandRule::Offset => TypeSource::Known(Type::I64),
                OperandRule::Element => match t {
                    Some(TypeSource::Known(ty)) => TypeSource::Known(ty.element_type()),
                    Some(TypeSource::Of(value)) if !self.func.dfg.ty(value).is_invalid() => {
                        TypeSource::Known(self.func.dfg.ty(value).element_type())
                    }
                    _ => {
                        self.untyped_literal(op, word, number, span);
                        return None;
                    }
                },
                OperandRule::T if t.is_some() => t?,
                // Nothing says what type it would have.
                OperandRule::T
                | OperandRule::Ptr
                | OperandRule::Elements
                | OperandRule::Aggregate
                | OperandRule::Fields
                | OperandRule::Arguments
                | OperandRule::OfTable
                | OperandRule::ReturnValue => {
                    self.untyped_literal(op, word, number, span);
                    return None;
                }
            };
            values[n] = self.materialise(Operand::Literal(number, span), source);
        }
        Some(values)
    }

    #[cold]
    pub(super) fn untyped_literal(&mut self, op: Opcode, word: Token, number: Number, span: Span) {
        let is_int = matches!(number, Number::Int { .. });
        let constant = if is_int { "%c = iconst.i32 1" } else { "%c = fconst.f32 1.0" };
        let suffix = if is_int { "i32" } else { "f32" };
        let convert = op.info().result.takes_suffix();
        let note = match convert {
            true => format!("name the constant: `{constant}`"),
            false => format!("give the type as in `{op}.{suffix}`, or name the constant: `{constant}`"),
        };
        let message = format!("no operand of `{}` says of which type this literal is", self.p.text(word));
        self.p.error("I0006", span, message).notes.push(note);
    }

    pub(super) fn condition<C>(
        &mut self,
        from_name: impl Fn(&str) -> Option<C>,
        all: impl Iterator<Item = &'static str>,
    ) -> Option<C> {
        let token = self.p.expect_kind(Tok::Word, "a condition")?;
        let name = self.p.text(token);
        let cond = from_name(name);
        if cond.is_none() {
            let message = format!("unknown condition {}", self.p.describe(token));
            let note = format!("conditions are {}", all.collect::<Vec<_>>().join(" "));
            self.p.error("I0016", token.span(), message).notes.push(note);
        }
        cond
    }

    pub(super) fn flags(&mut self) -> MemFlags {
        let mut flags = MemFlags::PLAIN;
        while self.p.tok.kind == Tok::Word {
            match self.p.bytes(self.p.tok) {
                b"volatile" => flags.volatile = true,
                b"invariant" => flags.invariant = true,
                _ => break,
            }
            self.p.bump();
        }
        flags
    }

    /// ` + 16`, ` - 16`, or nothing.
    pub(super) fn offset(&mut self) -> Option<i32> {
        let negative = self.p.is(b'-');
        if !negative && !self.p.is(b'+') {
            return Some(0);
        }
        if !negative {
            self.p.bump();
        }
        self.p.int("offset (it must fit i32)")
    }

    pub(super) fn align(&mut self, flags: MemFlags) -> Option<MemFlags> {
        self.align_after(b"align", flags)
    }

    /// The alignment of what a block of memory is copied from, where it is another one.
    pub(super) fn source_align(&mut self, flags: MemFlags) -> Option<MemFlags> {
        self.align_after(b"from", flags)
    }

    fn align_after(&mut self, word: &[u8], flags: MemFlags) -> Option<MemFlags> {
        if !(self.p.tok.kind == Tok::Word && self.p.bytes(self.p.tok) == word) {
            return Some(flags);
        }
        self.p.bump();
        let span = self.p.tok.span();
        let flags = flags.with_align(self.p.int("alignment")?);
        if flags.is_none() {
            self.p.error("I0005", span, "an alignment is a power of two".into());
        }
        flags
    }

    pub(super) fn global(&mut self, token: Token) -> Option<GlobalId> {
        match self.symbol()? {
            Symbol::Global(id) => Some(id),
            Symbol::Func(_) => {
                let message = format!("{} is a function, not a global", self.p.describe(token));
                self.p.error("I0011", token.span(), message);
                None
            }
        }
    }

    /// The elements of `vec`: as many as the vector has.
    pub(super) fn elements(&mut self, word: Token, suffix: Option<Type>) -> Option<ValueList> {
        let mut operands: SmallVec<[Operand; 8]> = SmallVec::new();
        loop {
            operands.push(self.operand()?);
            if !self.p.accept(b',') {
                break;
            }
        }
        let first = operands.iter().find_map(|operand| match operand {
            Operand::Value(value) => Some(TypeSource::Of(*value)),
            Operand::Literal(..) => None,
        });
        let source = suffix.map(|ty| TypeSource::Known(ty.element_type())).or(first);
        let mut values = SmallVec::<[Value; 8]>::new();
        for operand in operands {
            match (operand, source) {
                (Operand::Value(value), _) => values.push(value),
                (_, Some(source)) => values.push(self.materialise(operand, source)),
                (Operand::Literal(_, span), None) => {
                    let message = "no element says of which type this literal is".to_string();
                    let note = format!("give the type as in `{}.i32x2`", self.p.text(word));
                    self.p.error("I0006", span, message).notes.push(note);
                    return None;
                }
            }
        }
        Some(ValueList::from_slice(&values, &mut self.func.dfg.pool))
    }

    /// The operands of `aggregate`, one for each field.
    pub(super) fn fields(&mut self, ty: Type) -> Option<ValueList> {
        let mut values = SmallVec::<[Value; 8]>::new();
        let more = |p: &Parser| {
            !p.tok.first_of_line && matches!(p.tok.kind, Tok::Local | Tok::Number | Tok::Punct(b'-'))
        };
        while more(self.p) {
            let operand = self.operand()?;
            // The verifier says how many fields there are.
            let field = self.p.module.types.field(ty, values.len() as u64);
            let field = field.map_or(Type::I32, |(field, _)| field);
            values.push(self.materialise(operand, TypeSource::Known(field)));
            if !self.p.accept(b',') {
                break;
            }
        }
        Some(ValueList::from_slice(&values, &mut self.func.dfg.pool))
    }

    /// `, 1, 0`: the fields that lead to a part.
    pub(super) fn path(&mut self) -> Option<Path> {
        let mut path = SmallVec::new();
        while self.p.accept(b',') {
            path.push(self.p.int("field, counted from 0")?);
        }
        Some(self.func.dfg.paths.push(path))
    }

    /// `(a, b)`, each literal typed by `source` of its position.
    pub(super) fn arguments(&mut self, source: impl Fn(&Self, u32) -> TypeSource) -> Option<ValueList> {
        let mut values = SmallVec::<[Value; 8]>::new();
        while !self.p.accept(b')') {
            let operand = self.operand()?;
            let from = source(self, values.len() as u32);
            values.push(self.materialise(operand, from));
            if !self.p.accept(b',') {
                self.p.expect(b')')?;
                break;
            }
        }
        Some(ValueList::from_slice(&values, &mut self.func.dfg.pool))
    }

    pub(super) fn target(&mut self) -> Option<BlockCall> {
        let block = self.block_ref()?;
        let args = match self.p.accept(b'(') {
            true => self.arguments(|_, n| TypeSource::Param(block, n))?,
            false => ValueList::new(),
        };
        Some(BlockCall { block, args })
    }

    pub(super) fn function(&mut self) -> Option<FuncId> {
        let token = self.p.tok;
        match self.symbol()? {
            Symbol::Func(func) => Some(func),
            Symbol::Global(_) => {
                let message = format!("{} is a global, not a function", self.p.describe(token));
                self.p.error("I0011", token.span(), message);
                None
            }
        }
    }

    pub(super) fn call(&mut self) -> Option<(InstData, Option<ResultTypes>)> {
        let callee = self.function()?;
        self.p.expect(b'(')?;
        let args = self.arguments(|this, n| {
            let params = &this.p.module.functions[callee].params;
            TypeSource::Known(params.get(n as usize).map_or(Type::I32, |param| param.ty))
        })?;
        let types = SmallVec::from_slice(&self.p.module.functions[callee].ret);
        Some((InstData::Call { callee, args }, Some(types)))
    }

    pub(super) fn switch(&mut self) -> Option<InstData> {
        let arg = self.value()?;
        self.p.expect(b',')?;
        let default = self.target()?;
        self.p.expect(b',')?;
        self.p.expect(b'[')?;
        let ty = self.known_type(TypeSource::Of(arg)).filter(|ty| ty.is_int());
        let mut cases = Vec::new();
        let mut late = Vec::new();
        while !self.p.accept(b']') {
            let (number, span) = self.p.number()?;
            let value = match ty {
                Some(ty) => self.p.int_constant(number, ty, span),
                None => {
                    late.push((number, span));
                    0
                }
            };
            self.p.expect(b':')?;
            cases.push((value, self.target()?));
            if !self.p.accept(b',') {
                self.p.expect(b']')?;
                break;
            }
        }
        let table = self.func.dfg.jump_tables.push(JumpTableData { default, cases });
        if !late.is_empty() {
            // The instruction is made next.
            self.s.switches.push((Inst::from_u32(self.func.dfg.num_insts() as u32), late));
        }
        Some(InstData::Switch { arg, table })
    }

    pub(super) fn ret(&mut self) -> Option<InstData> {
        let mut values = SmallVec::<[Value; 2]>::new();
        // What is returned stands on the same line: the next line may begin with a value's name too.
        let has_value = |p: &Parser| {
            !p.tok.first_of_line && matches!(p.tok.kind, Tok::Local | Tok::Number | Tok::Punct(b'-'))
        };
        while has_value(self.p) {
            let operand = self.operand()?;
            let ty = self.func.ret.get(values.len()).copied().unwrap_or(Type::I32);
            values.push(self.materialise(operand, TypeSource::Known(ty)));
            if !self.p.accept(b',') {
                break;
            }
        }
        Some(InstData::Return { args: ValueList::from_slice(&values, &mut self.func.dfg.pool) })
    }
}
