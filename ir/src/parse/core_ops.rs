//! Instructions of the core table.

use super::body::{BodyReader, Operand, ResultName, TypeSource};
use crate::attr::{Attr, AttrKind, Promise};
use crate::effects::{AtomicOp, MemoryMode, MemoryOrder, MemoryScope, ShuffleKind, VoteKind};
use crate::entities::Value;
use crate::float_mode::FloatMode;
use crate::ins::bools;
use crate::inst::{InstData, ValueList};
use crate::lexer::{Tok, Token};
use crate::ops::{FloatCC, IntCC, Opcode, ResultRule, Shape};
use crate::printf;
use crate::ptx::ResultTypes;
use crate::types::Type;
use smallvec::SmallVec;
use std::borrow::Cow;
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
                self.s.promised = op.promise().is_some_and(|promise| self.promise(promise));
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
                    let message = format!("unknown stack slot {}", self.p.describe(token));
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
                let flags = self.align(flags)?;
                let source = if op == Opcode::Memset { flags } else { self.source_align(flags)? };
                InstData::MemBlock { op, flags, source, args }
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

    /// `nsw` or `nz` before the operands of an operation on integers.
    fn promise(&mut self, promise: Promise) -> bool {
        let token = self.p.tok;
        let found = token.kind == Tok::Word
            && !token.first_of_line
            && self.p.bytes(token) == promise.name().as_bytes();
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

    /// Values, numbers of the types that the format says, and texts.
    fn printf_arguments(&mut self, format: &[u8]) -> Option<ValueList> {
        // Of a format that is none the verifier says why.
        let wanted = printf::arguments(format).unwrap_or_default();
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        while self.p.accept(b',') {
            let wanted = wanted.get(values.len()).copied();
            if self.p.tok.kind == Tok::String {
                let token = self.p.bump();
                if wanted != Some(printf::Argument::Text) {
                    self.misplaced_literal("a text", token.span(), values.len(), wanted);
                    return None;
                }
                values.push(self.text_address(token)?);
                continue;
            }
            let operand = self.operand()?;
            let source = match (operand, wanted.and_then(printf::Argument::literal_type)) {
                (Operand::Literal(_, span), None) => {
                    self.misplaced_literal("a number", span, values.len(), wanted);
                    return None;
                }
                (_, ty) => TypeSource::Known(ty.unwrap_or(Type::INVALID)),
            };
            values.push(self.materialise(operand, source));
        }
        Some(ValueList::from_slice(&values, &mut self.func.dfg.pool))
    }

    #[cold]
    fn misplaced_literal(&mut self, what: &str, span: Span, n: usize, wanted: Option<printf::Argument>) {
        let message = match wanted {
            Some(wanted) => {
                format!("argument {} of `printf` is {what}; the format takes {}", n + 1, wanted.describe())
            }
            None => format!("argument {} of `printf` is {what}; the format takes none there", n + 1),
        };
        self.p.error("I0434", span, message);
    }

    /// The generic address of a text in quotes.
    fn text_address(&mut self, token: Token) -> Option<Value> {
        let text = self.p.string(token)?;
        // A variable that is new is not made in a module of which only this body is read here.
        let global = match &mut self.p.module {
            Cow::Owned(module) => module.intern_string(&text),
            Cow::Borrowed(module) => module.find_string(&text).ok()?,
        };
        let address =
            self.insert(InstData::GlobalAddr { global, offset: 0 }, &[Type::PTR_GLOBAL], token.span());
        let address = self.func.dfg.results(address).first();
        let cast = InstData::Unary { op: Opcode::Addrspacecast, arg: address };
        let cast = self.insert(cast, &[Type::PTR], token.span());
        Some(self.func.dfg.results(cast).first())
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
                let message = format!("unknown reduction {}", self.p.describe(token));
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
                let text = self.p.string(token)?;
                let args = if op == Opcode::Printf { Some(self.printf_arguments(&text)?) } else { None };
                attr = Attr::Text(text.into());
                if let Some(args) = args {
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
}
