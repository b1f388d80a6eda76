//! Instructions of the core table.

use super::Parser;
use super::body::{BodyReader, Operand, ResultName, TypeSource};
use crate::attr::{Attr, AttrKind};
use crate::effects::{AtomicOp, MemoryMode, MemoryOrder, MemoryScope, ShuffleKind, VoteKind};
use crate::entities::{FuncId, GlobalId, Inst, Path, Value};
use crate::float_mode::FloatMode;
use crate::ins::bools;
use crate::inst::{BlockCall, InstData, JumpTableData, MemFlags, ValueList};
use crate::lexer::{Tok, Token};
use crate::literal::Number;
use crate::module::Symbol;
use crate::ops::{FloatCC, IntCC, Opcode, OperandRule, ResultRule, Shape};
use crate::ptx::ResultTypes;
use crate::types::Type;
use smallvec::SmallVec;
use warpsmith_diag::Span;

impl BodyReader<'_, '_> {
    /// An operation of the core table: its data, and the result's type where the suffix or a symbol gives it.
    pub(super) fn core(
        &mut self,
        op: Opcode,
        word: Token,
        suffix: Option<Type>,
        names: &[ResultName],
    ) -> Option<(InstData, Option<ResultTypes>)> {
        let info = op.info();
        let ascribed = names.first().and_then(|name| name.ty);
        let suffix = suffix.or(ascribed.filter(|_| info.result.takes_suffix()));
        if suffix.is_none() && info.result.takes_suffix() {
            let message = format!("`{op}` needs the type of its result");
            let example = if matches!(info.shape, Shape::FloatConst) { "f32" } else { "i32" };
            self.p
                .error("I0015", word.span(), message)
                .notes
                .push(format!("write it as in `{op}.{example}`"));
            return None;
        }
        let one = |ty: Type| Some(SmallVec::from_elem(ty, 1));
        let of_operands = matches!(info.result, ResultRule::T | ResultRule::VectorOf);
        let result = suffix.and_then(|ty| {
            let rule = info.result;
            if rule == ResultRule::Element {
                return one(ty.element_type());
            }
            if rule == ResultRule::Bools {
                return bools(ty).and_then(one);
            }
            if rule == ResultRule::TAndBools {
                return bools(ty).map(|bools| SmallVec::from_slice(&[ty, bools]));
            }
            // `None`, `I32` and others that are the same whatever the suffix says take none.
            one(ty).filter(|_| of_operands || info.result.takes_suffix())
        });
        if op.takes_float_mode()
            && let Some(mode) = self.float_mode(op)?
        {
            let of_operands = suffix.filter(|_| !info.result.takes_suffix());
            let values = self.operand_list(op, word, of_operands, info.operands.len())?;
            let args = ValueList::from_slice(&values, &mut self.func.dfg.pool);
            return Some((InstData::List { op, attr: Attr::Float(mode), args }, result));
        }
        let data = match info.shape {
            Shape::IntConst => {
                let (number, span) = self.p.number()?;
                let ty = suffix?;
                match ty.is_int() {
                    true => self.constant(number, ty, span),
                    // The verifier says what the type should be.
                    false => InstData::IntConst { value: 0 },
                }
            }
            Shape::FloatConst => {
                let (number, span) = self.p.number()?;
                let ty = suffix?;
                match ty.is_float() {
                    true => InstData::FloatConst { bits: self.p.float_constant(number, ty, span) },
                    false => InstData::FloatConst { bits: 0 },
                }
            }
            Shape::Unary => InstData::Unary { op, arg: self.operands::<1>(op, word, suffix)?[0] },
            // The suffix is the result's type, so a literal operand would have none.
            Shape::Convert => InstData::Unary { op, arg: self.operands::<1>(op, word, None)?[0] },
            Shape::Binary => {
                self.s.no_signed_wrap = op.takes_no_wrap() && self.no_wrap();
                InstData::Binary { op, args: self.operands(op, word, suffix)? }
            }
            Shape::Ternary => InstData::Ternary { op, args: self.operands(op, word, suffix)? },
            Shape::IntCompare => {
                let cond = self.condition(IntCC::from_name, IntCC::ALL.iter().map(|cc| cc.name()))?;
                InstData::IntCompare { cond, args: self.operands(op, word, suffix)? }
            }
            Shape::FloatCompare => {
                let cond = self.condition(FloatCC::from_name, FloatCC::ALL.iter().map(|cc| cc.name()))?;
                InstData::FloatCompare { cond, args: self.operands(op, word, suffix)? }
            }
            Shape::Load => {
                let flags = self.flags();
                let ptr = self.value()?;
                let offset = self.offset()?;
                InstData::Load { flags: self.align(flags)?, offset, ptr }
            }
            Shape::Store => {
                let flags = self.flags();
                let args = self.operands(op, word, suffix)?;
                let offset = self.offset()?;
                InstData::Store { flags: self.align(flags)?, offset, args }
            }
            Shape::Index => {
                let args = self.operands(op, word, suffix)?;
                self.p.expect(b',')?;
                InstData::Index { scale: self.p.int("scale in bytes (it must fit i32)")?, args }
            }
            Shape::StackAddr => {
                let token = self.p.expect_kind(Tok::Local, "a stack slot such as `%buffer`")?;
                let Some(&slot) = self.s.slots.get(&self.p.bytes(token)[1..]) else {
                    let message = format!("no stack slot {}", self.p.describe(token));
                    let note = "stack slots are declared before their use, as in `stack %buffer: 64 align 8`";
                    self.p.error("I0007", token.span(), message).notes.push(note.into());
                    return None;
                };
                InstData::StackAddr { slot, offset: self.offset()? }
            }
            Shape::GlobalAddr => {
                let token = self.p.tok;
                let global = self.global(token)?;
                let ty = self.p.module.globals[global].ptr_type();
                return Some((InstData::GlobalAddr { global, offset: self.offset()? }, one(ty)));
            }
            Shape::FuncAddr => InstData::FuncAddr { func: self.function()? },
            Shape::Vec => InstData::Vec { args: self.elements(word, suffix)? },
            Shape::Extract => {
                let [arg] = self.operands(op, word, suffix)?;
                self.p.expect(b',')?;
                InstData::Extract { lane: self.p.int("lane (0 to 31)")?, arg }
            }
            Shape::Insert => {
                let args = self.operands(op, word, suffix)?;
                self.p.expect(b',')?;
                InstData::Insert { lane: self.p.int("lane (0 to 31)")?, args }
            }
            Shape::Zero => InstData::Zero,
            Shape::Aggregate => InstData::Aggregate { args: self.fields(suffix?)? },
            Shape::ExtractValue => {
                let arg = self.value()?;
                InstData::ExtractValue { path: self.path()?, arg }
            }
            Shape::InsertValue => {
                let whole = self.value()?;
                self.p.expect(b',')?;
                let part = self.operand()?;
                let path = self.path()?;
                let ty = suffix.unwrap_or_else(|| self.func.dfg.ty(whole));
                let place = self.p.module.types.at_path(ty, &self.func.dfg.paths[path]);
                let part = match (part, place) {
                    (Operand::Literal(number, span), Err(_)) => {
                        self.untyped_literal(op, word, number, span);
                        return None;
                    }
                    (part, Ok(place)) => self.materialise(part, TypeSource::Known(place.ty)),
                    (Operand::Value(value), Err(_)) => value,
                };
                InstData::InsertValue { path, args: [whole, part] }
            }
            Shape::MemBlock => {
                let flags = self.flags();
                let args = self.operands(op, word, suffix)?;
                InstData::MemBlock { op, flags: self.align(flags)?, args }
            }
            Shape::Call => return self.call(),
            Shape::CallIndirect => {
                let mut values: SmallVec<[Value; 8]> = SmallVec::from_elem(self.value()?, 1);
                self.p.expect(b'(')?;
                while !self.p.accept(b')') {
                    // The callee takes what it is given: nothing would say which type a literal has.
                    values.push(self.value()?);
                    if !self.p.accept(b',') {
                        self.p.expect(b')')?;
                        break;
                    }
                }
                let args = ValueList::from_slice(&values, &mut self.func.dfg.pool);
                let types = match suffix {
                    Some(ty) => SmallVec::from_elem(ty, 1),
                    None => self.ascribed(names)?,
                };
                return Some((InstData::CallIndirect { args }, Some(types)));
            }
            Shape::Jump => InstData::Jump { dest: self.target()? },
            Shape::Brif => {
                let cond = self.operand()?;
                let cond = self.materialise(cond, TypeSource::Known(Type::I1));
                self.p.expect(b',')?;
                let then = self.target()?;
                self.p.expect(b',')?;
                InstData::Brif { cond, dests: [then, self.target()?] }
            }
            Shape::Switch => self.switch()?,
            Shape::Return => self.ret()?,
            Shape::Trap => InstData::Trap,
            Shape::List => return self.list(op, word, suffix, result),
            Shape::Sreg | Shape::Ptx => return None,
        };
        Some((data, result))
    }

    /// The types of several results, each written with its name.
    fn ascribed(&mut self, names: &[ResultName]) -> Option<ResultTypes> {
        if let [_, _, ..] = names
            && let Some(untyped) = names.iter().find(|name| name.ty.is_none())
        {
            let message = format!("nothing says which type {} has", self.p.describe(untyped.token));
            let note = "the types of several results are written with their names: `%x: i32, %y: f32 = call_indirect %p()`";
            self.p.error("I0006", untyped.token.span(), message).notes.push(note.into());
            return None;
        }
        Some(names.iter().filter_map(|name| name.ty).collect())
    }

    /// One of a few words.
    fn word_of<T: Copy>(&mut self, what: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
        let token = self.p.expect_kind(Tok::Word, what)?;
        let text = self.p.text(token);
        let found = all.iter().copied().find(|known| name(*known) == text);
        if found.is_none() {
            let message = format!("{} is not {what}", self.p.describe(token));
            let known: Vec<&str> = all.iter().map(|known| name(*known)).collect();
            let note = format!("what can stand here is {}", known.join(" "));
            self.p.error("I0016", token.span(), message).notes.push(note);
        }
        found
    }

    /// `iadd acq_rel gpu`, `acq_rel relaxed gpu`, `acquire gpu`
    fn memory_mode(&mut self, op: Opcode) -> Option<MemoryMode> {
        let rmw = match op == Opcode::AtomicRmw {
            true => Some(self.word_of("what `atomic_rmw` does", AtomicOp::ALL, AtomicOp::name)?),
            false => None,
        };
        let order = self.word_of("an order of memory", MemoryOrder::ALL, MemoryOrder::name)?;
        let failure = match op == Opcode::Cmpxchg {
            true => Some(self.word_of("an order of memory", MemoryOrder::ALL, MemoryOrder::name)?),
            false => None,
        };
        let scope = self.word_of("a scope", MemoryScope::ALL, MemoryScope::name)?;
        Some(MemoryMode { op: rmw, order, failure, scope })
    }

    /// `nsw` before the operands of an operation on integers.
    fn no_wrap(&mut self) -> bool {
        let found =
            self.p.tok.kind == Tok::Word && !self.p.tok.first_of_line && self.p.bytes(self.p.tok) == b"nsw";
        if found {
            self.p.bump();
        }
        found
    }

    /// `rz ftz contract` before the operands of an operation on floats.
    fn float_mode(&mut self, op: Opcode) -> Option<Option<FloatMode>> {
        let mut mode = FloatMode::default();
        while self.p.tok.kind == Tok::Word && !self.p.tok.first_of_line {
            let token = self.p.bump();
            let Some(more) = mode.with_word(self.p.text(token)) else {
                let message = format!("{} is not a way to compute `{op}`", self.p.describe(token));
                let words: Vec<&str> = FloatMode::words().collect();
                let note = format!("operations on floats take {}", words.join(" "));
                self.p.error("I0016", token.span(), message).notes.push(note);
                return None;
            };
            mode = more;
        }
        Some((mode != FloatMode::default()).then_some(mode))
    }

    /// An operation of [`Shape::List`].
    fn list(
        &mut self,
        op: Opcode,
        word: Token,
        suffix: Option<Type>,
        result: Option<ResultTypes>,
    ) -> Option<(InstData, Option<ResultTypes>)> {
        let mut attr = Attr::None;
        if op.attr_kind() == AttrKind::With {
            let token = self.p.expect_kind(Tok::Word, "an operation such as `iadd`")?;
            let name = self.p.text(token);
            let Some(with) = Opcode::REDUCTIONS.into_iter().find(|op| op.name() == name) else {
                let message = format!("no reduction {}", self.p.describe(token));
                let known: Vec<&str> = Opcode::REDUCTIONS.iter().map(|op| op.name()).collect();
                let note = format!("reductions are {}", known.join(" "));
                self.p.error("I0016", token.span(), message).notes.push(note);
                return None;
            };
            attr = Attr::With(with);
        }
        match op.attr_kind() {
            AttrKind::Memory => attr = Attr::Memory(self.memory_mode(op)?),
            AttrKind::Shuffle => {
                attr = Attr::Shuffle(self.word_of("a way to shuffle", ShuffleKind::ALL, ShuffleKind::name)?)
            }
            AttrKind::Vote => attr = Attr::Vote(self.word_of("a vote", VoteKind::ALL, VoteKind::name)?),
            AttrKind::Text => {
                let token = self.p.expect_kind(Tok::String, "a text in quotes")?;
                attr = Attr::Text(self.p.string(token)?.into());
                if op == Opcode::Printf {
                    let mut values: SmallVec<[Value; 8]> = SmallVec::new();
                    while self.p.accept(b',') {
                        // The format does not say which type a literal has.
                        values.push(self.value()?);
                    }
                    let args = ValueList::from_slice(&values, &mut self.func.dfg.pool);
                    return Some((InstData::List { op, attr, args }, result));
                }
                self.p.expect(b',')?;
            }
            AttrKind::None | AttrKind::With | AttrKind::Lanes | AttrKind::Wide | AttrKind::Float => {}
        }
        let rules = op.info().operands;
        // The suffix of what is named by its result's type says nothing of the operands.
        let of_operands = suffix.filter(|_| !op.info().result.takes_suffix());
        let values: SmallVec<[Value; 4]> = self.operand_list(op, word, of_operands, rules.len())?;
        if op.attr_kind() == AttrKind::Lanes {
            self.p.expect(b',')?;
            self.p.expect(b'[')?;
            let mut lanes = Vec::new();
            while !self.p.accept(b']') {
                lanes.push(self.p.int("lane (0 to 127)")?);
                if !self.p.accept(b',') {
                    self.p.expect(b']')?;
                    break;
                }
            }
            attr = Attr::Lanes(lanes.into());
        }
        let args = ValueList::from_slice(&values, &mut self.func.dfg.pool);
        Some((InstData::List { op, attr, args }, result))
    }

    /// The operands of an operation of regular shape. Literals get the type of the other operands or of the suffix.
    fn operands<const N: usize>(
        &mut self,
        op: Opcode,
        word: Token,
        suffix: Option<Type>,
    ) -> Option<[Value; N]> {
        let values = self.operand_list(op, word, suffix, N)?;
        values[..].try_into().ok()
    }

    fn operand_list(
        &mut self,
        op: Opcode,
        word: Token,
        suffix: Option<Type>,
        count: usize,
    ) -> Option<SmallVec<[Value; 4]>> {
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        for n in 0..count {
            if n > 0 {
                self.p.expect(b',')?;
            }
            operands.push(self.operand()?);
        }
        let mut values = SmallVec::from_elem(Value::from_u32(0), count);
        let rules = op.info().operands;
        let needs_t = |n: usize| matches!(rules[n], OperandRule::T | OperandRule::Ptr);
        // What T is: the suffix, else the type of the first operand that has one, else of the first that will have one.
        let mut t = suffix.map(TypeSource::Known);
        let mut any_literal = false;
        for (n, operand) in operands.iter().enumerate() {
            match *operand {
                Operand::Value(value) => {
                    values[n] = value;
                    let better = match t {
                        None => true,
                        Some(TypeSource::Of(known)) => self.func.dfg.ty(known).is_invalid(),
                        Some(_) => false,
                    };
                    if rules[n] == OperandRule::T && better {
                        t = Some(TypeSource::Of(value));
                    }
                }
                Operand::Literal(..) => any_literal = true,
            }
        }
        if !any_literal {
            return Some(values);
        }
        for (n, operand) in operands.into_iter().enumerate() {
            let Operand::Literal(number, span) = operand else { continue };
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
                OperandRule::T if needs_t(n) && t.is_some() => t?,
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
            values[n] = self.materialise(operand, source);
        }
        Some(values)
    }

    #[cold]
    fn untyped_literal(&mut self, op: Opcode, word: Token, number: Number, span: Span) {
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

    fn condition<C>(
        &mut self,
        from_name: impl Fn(&str) -> Option<C>,
        all: impl Iterator<Item = &'static str>,
    ) -> Option<C> {
        let token = self.p.expect_kind(Tok::Word, "a condition")?;
        let name = self.p.text(token);
        let cond = from_name(name);
        if cond.is_none() {
            let message = format!("no condition {}", self.p.describe(token));
            let note = format!("conditions are {}", all.collect::<Vec<_>>().join(" "));
            self.p.error("I0016", token.span(), message).notes.push(note);
        }
        cond
    }

    fn flags(&mut self) -> MemFlags {
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
    fn offset(&mut self) -> Option<i32> {
        let negative = self.p.is(b'-');
        if !negative && !self.p.is(b'+') {
            return Some(0);
        }
        if !negative {
            self.p.bump();
        }
        self.p.int("offset (it must fit i32)")
    }

    fn align(&mut self, flags: MemFlags) -> Option<MemFlags> {
        if !(self.p.tok.kind == Tok::Word && self.p.bytes(self.p.tok) == b"align") {
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
    fn elements(&mut self, word: Token, suffix: Option<Type>) -> Option<ValueList> {
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
    fn fields(&mut self, ty: Type) -> Option<ValueList> {
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
    fn path(&mut self) -> Option<Path> {
        let mut path = SmallVec::new();
        while self.p.accept(b',') {
            path.push(self.p.int("field, counted from 0")?);
        }
        Some(self.func.dfg.paths.push(path))
    }

    /// `(a, b)`, each literal typed by `source` of its position.
    fn arguments(&mut self, source: impl Fn(&Self, u32) -> TypeSource) -> Option<ValueList> {
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

    fn target(&mut self) -> Option<BlockCall> {
        let block = self.block_ref()?;
        let args = match self.p.accept(b'(') {
            true => self.arguments(|_, n| TypeSource::Param(block, n))?,
            false => ValueList::new(),
        };
        Some(BlockCall { block, args })
    }

    fn function(&mut self) -> Option<FuncId> {
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

    fn call(&mut self) -> Option<(InstData, Option<ResultTypes>)> {
        let callee = self.function()?;
        self.p.expect(b'(')?;
        let args = self.arguments(|this, n| {
            let params = &this.p.module.functions[callee].params;
            TypeSource::Known(params.get(n as usize).map_or(Type::I32, |param| param.ty))
        })?;
        let types = SmallVec::from_slice(&self.p.module.functions[callee].ret);
        Some((InstData::Call { callee, args }, Some(types)))
    }

    fn switch(&mut self) -> Option<InstData> {
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

    fn ret(&mut self) -> Option<InstData> {
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
