//! Instructions: `mov` and control flow are decoded here; the semantics of all others follow from their operation.

use super::body::Body;
use super::operand::{Named, literal, width};
use crate::effects::{self, Source};
use crate::engine::{Guard, LaneFn, Reg, Width, lanes};
use smallvec::SmallVec;
use warpsmith_isa::{Class, Instruction, Operation, Shape};
use warpsmith_ptx::scope::Binding;
use warpsmith_ptx::{Id, Inst, Module, Operand, Stmt, Symbol};
use warpsmith_semantics::{Effect, Meaning, Selection, Selector, Written};

impl<'m> Body<'_, 'm> {
    pub(super) fn instruction(&mut self, id: Id<Stmt>, inst: &Inst) {
        let module: &'m Module = self.decoder.module;
        self.mnemonic = &module[inst.mnemonic];
        let line = self.decoder.line(self.span);
        self.f.at(line, self.mnemonic);
        if !self.span.is_none() {
            self.f.span(self.span.start..self.span.end);
        }
        let validated = self.decoder.module;
        let Some(instruction) = validated.instruction(id).copied() else {
            return self.refuse(format!("`{}` was not resolved by the validator", self.mnemonic));
        };
        self.f.instruction(instruction);
        let operands = &module[inst.operands];
        let guard = match inst.guard {
            Some(guard) => match self.source(Operand::Name(guard.predicate()), Some(Width::Pred)) {
                Some(Source::Reg(pred)) => {
                    Some(Guard { pred: self.kept(pred, operands), negated: guard.negated() })
                }
                Some(Source::Bits(_) | Source::Not(_) | Source::Address(_) | Source::Sink) | None => {
                    return self.refuse(format!("`{}`: its guard is not a predicate", self.mnemonic));
                }
            },
            None => None,
        };
        // The mask is about the next instruction, if that is a load.
        let load =
            matches!(instruction.operation(), Operation::Ld | Operation::LdNoncoherent | Operation::Ldu);
        let used = self.used_bytes.take().filter(|_| load);
        self.f.used_bytes(used.unwrap_or(u32::MAX));
        self.f.guard(guard);
        self.f.head();
        self.literal_width = instruction.ty().map_or(Width::W32, width);
        self.refused = false;
        if self.decode(&instruction, operands).is_none() && !self.refused {
            self.refuse(format!("`{}`: this form has no semantics here yet", self.mnemonic));
        }
        self.f.idle();
        self.f.guard(None);
        self.f.used_bytes(u32::MAX);
    }

    /// The guard for an instruction that may overwrite it: what is emitted as several operations must see one guard.
    fn kept(&mut self, pred: Reg, operands: &[Operand]) -> Reg {
        let Some(written) = operands.first().and_then(|d| self.destinations(*d)) else { return pred };
        if !written.iter().flatten().any(|(r, _)| *r == pred) {
            return pred;
        }
        let copy = self.f.reg(Width::Pred);
        self.f.copy(copy, pred);
        copy
    }

    /// `None` if the instruction has no semantics.
    fn decode(&mut self, i: &Instruction, operands: &[Operand]) -> Option<()> {
        let effect = match Meaning::of_instruction(i) {
            Meaning::Computes(_) => return self.compute(i, operands),
            Meaning::Does(effect) => effect,
            Meaning::Refused(reason) => {
                self.refuse(format!("`{}`: {reason}", self.mnemonic));
                return None;
            }
        };
        match (effect, operands) {
            (Effect::Move, [d, a]) => self.mov(i, *d, *a),
            (Effect::Branch, [Operand::Name(label)]) => {
                let label = self.label_named(*label)?;
                self.f.branch(label);
                Some(())
            }
            (Effect::BranchIndirect, [index, Operand::Name(list)]) => self.brx(*index, *list),
            (Effect::Call, _) => self.call(operands),
            (Effect::Return, _) => {
                self.f.ret();
                Some(())
            }
            _ => self.effect(i, operands),
        }
    }

    /// The operands of a video instruction without the parts of registers that they name.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no sign and no selector is left as it is")]
    fn selected(&mut self, operands: &[Operand]) -> Option<(SmallVec<[Operand; 6]>, Selection)> {
        let module: &'m Module = self.decoder.module;
        let mut names = SmallVec::new();
        let mut selectors = [None; 4];
        let mut negated = [false; 4];
        for (n, &operand) in operands.iter().enumerate() {
            let operand = match operand {
                Operand::Neg(inner) => {
                    *negated.get_mut(n)? = true;
                    module[inner]
                }
                other => other,
            };
            names.push(match operand {
                Operand::Component { name, selector } if matches!(self.named(name), Named::Reg(..)) => {
                    *selectors.get_mut(n)? = Some(Selector::from_name(&module[selector])?);
                    Operand::Name(name)
                }
                other => other,
            });
        }
        let ([d, a, b, _], [_, negated @ ..]) = (selectors, negated);
        Some((names, Selection { d, a, b, negated }))
    }

    /// Sources as registers of the widths they are read with.
    fn registers(
        &mut self,
        operands: impl Iterator<Item = Operand>,
        widths: &[Width],
    ) -> Option<SmallVec<[Reg; 6]>> {
        let mut registers = SmallVec::new();
        for (operand, w) in operands.zip(widths) {
            let source = self.source(operand, Some(*w))?;
            registers.push(self.value(Part::Of(source), *w)?);
        }
        Some(registers)
    }

    /// An instruction whose results depend on its sources alone.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not a vector is an element; only video instructions select parts"
    )]
    fn compute(&mut self, i: &Instruction, operands: &[Operand]) -> Option<()> {
        let (operands, selection) = match i.class() {
            Class::Video => self.selected(operands)?,
            _ => (operands.iter().copied().collect(), Selection::default()),
        };
        let (written, rest) = operands.split_at_checked(destinations(i).max(1))?;
        let targets = self.all_destinations(written)?;
        let destination_bits = match targets.first()? {
            Some((_, ty)) => ty.bits(),
            None => 32,
        };
        let approximations = self.decoder.approximations;
        let plan = warpsmith_semantics::plan(i, &Written { destination_bits, selection, approximations })?;
        let dst: SmallVec<[Option<Reg>; 4]> = targets.iter().map(|d| d.map(|(r, _)| r)).collect();
        let flat: SmallVec<[Operand; 6]> = rest
            .iter()
            .flat_map(|o| match o {
                Operand::Vector(list) => self.decoder.module[*list].to_vec(),
                other => vec![*other],
            })
            .collect();
        let src = self.registers(flat.into_iter(), plan.sources())?;
        if plan.uses_carry() && self.carry.is_none() {
            self.carry = Some(self.f.reg(Width::Pred));
        }
        self.f.compute(&plan, &dst, &src, self.carry);
        Some(())
    }

    fn effect(&mut self, i: &Instruction, operands: &[Operand]) -> Option<()> {
        let count = destinations(i);
        let (written, rest) = operands.split_at_checked(count)?;
        let dst: SmallVec<[Option<Reg>; 4]> =
            self.all_destinations(written)?.iter().map(|d| d.map(|(r, _)| r)).collect();
        if let Meaning::Does(Effect::Texture(action)) = Meaning::of_instruction(i) {
            return self.texture(i, action, &dst, rest);
        }
        let places = i.places().skip(count).map(|place| &place.shape);
        let src = self.sources(rest, places)?;
        effects::emit(&mut self.f, i, &dst, &src)
    }

    fn brx(&mut self, index: Operand, list: Symbol) -> Option<()> {
        let index = self.source(index, Some(Width::W32))?;
        let index = self.value(Part::Of(index), Width::W32)?;
        let Binding::List(stmt) = self.decoder.scopes.lookup(list)?.binding else { return None };
        let module: &'m Module = self.decoder.module;
        let Stmt::BranchTargets { targets, .. } = module[stmt] else { return None };
        let mut labels = Vec::with_capacity(targets.len());
        for target in &module[targets] {
            match target.count {
                None => labels.push(self.label_named(target.name)?),
                Some(count) => {
                    for i in 0..count {
                        let name = format!("{}{i}", &module[target.name]);
                        labels.push(self.label_named(module.names().find(&name)?)?);
                    }
                }
            }
        }
        self.f.switch(index, &labels);
        Some(())
    }

    /// `mov`: of one value, of a vector, and between a register and its parts (PTX ISA 9.0, 9.7.9.3 and 9.7.9.4).
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not a vector is a register, and what is not an element of an array a value"
    )]
    fn mov(&mut self, i: &Instruction, d: Operand, a: Operand) -> Option<()> {
        let ty = i.ty()?;
        let is_vector = |this: &mut Self, o: Operand| match o {
            Operand::Vector(_) => true,
            Operand::Name(name) => match this.named(name) {
                Named::Vector(..) => true,
                Named::Special(special) => special.lanes() > 1,
                Named::Reg(..) | Named::Variable(_) | Named::Function(_) | Named::Other => false,
            },
            _ => false,
        };
        let (to_vector, from_vector) = (is_vector(self, d), is_vector(self, a));
        match (to_vector, from_vector) {
            (true, true) => {
                let (dst, src) = (self.destinations(d)?, self.elements(a)?);
                // All are read before any is written: the two may overlap.
                let values: Vec<Reg> =
                    src.iter().map(|s| self.value(*s, width(ty))).collect::<Option<_>>()?;
                let kept: Vec<Reg> = values.iter().map(|v| self.copied(*v)).collect();
                for (d, v) in dst.iter().zip(kept) {
                    if let Some((d, _)) = d {
                        self.move_to(*d, v)?;
                    }
                }
            }
            (false, true) => {
                let [Some((d, _))] = self.destinations(d)?[..] else { return None };
                let elements = self.elements(a)?;
                let part = ty.bits() / elements.len() as u32;
                let values: Vec<Option<Reg>> = (elements.iter())
                    .map(|s| {
                        if matches!(s, Part::Sink) {
                            Some(None)
                        } else {
                            self.value(*s, Width::for_bits(part)).map(Some)
                        }
                    })
                    .collect::<Option<_>>()?;
                self.pack(d, &values, part)?;
            }
            (true, false) => {
                let dst = self.destinations(d)?;
                let a = self.source(a, Some(width(ty)))?;
                let a = self.value(Part::Of(a), width(ty))?;
                // A destination may be the source.
                let a = self.copied(a);
                let part = ty.bits() / dst.len() as u32;
                for (i, d) in dst.iter().enumerate() {
                    if let Some((d, _)) = d {
                        self.extract(*d, a, part, i as u32)?;
                    }
                }
            }
            (false, false) => {
                let [Some((d, _))] = self.destinations(d)?[..] else { return None };
                let a = match a {
                    Operand::Index(_) => self.address_operand(a)?,
                    a => {
                        let a = self.source(a, Some(width(ty)))?;
                        self.value(Part::Of(a), width(ty))?
                    }
                };
                self.move_to(d, a)?;
            }
        }
        Some(())
    }

    /// The elements of a vector source.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no elements is refused by name")]
    fn elements(&mut self, operand: Operand) -> Option<Vec<Part>> {
        let module: &'m Module = self.decoder.module;
        match operand {
            Operand::Vector(list) => module[list]
                .iter()
                .map(|o| match *o {
                    Operand::Name(Symbol::SINK) => Some(Part::Sink),
                    Operand::Const(c) => Some(Part::Literal(c)),
                    o => self.source(o, None).map(Part::Of),
                })
                .collect(),
            Operand::Name(name) => match self.named(name) {
                Named::Vector(regs, n, _) => {
                    Some(regs[..usize::from(n)].iter().map(|r| Part::Of(Source::Reg(*r))).collect())
                }
                Named::Special(special) => ["x", "y", "z", "w"][..usize::from(special.lanes())]
                    .iter()
                    .map(|c| self.special(special, Some(c)).map(|r| Part::Of(Source::Reg(r))))
                    .collect(),
                Named::Reg(..) | Named::Variable(_) | Named::Function(_) | Named::Other => None,
            },
            _ => None,
        }
    }

    fn value(&mut self, part: Part, w: Width) -> Option<Reg> {
        match part {
            Part::Of(Source::Reg(r)) => Some(r),
            Part::Of(Source::Bits(bits)) => Some(self.f.constant(bits.into(), w)),
            Part::Literal(c) => Some(self.f.constant(literal(c, w).into(), w)),
            Part::Of(Source::Not(p)) => {
                let d = self.f.reg(Width::Pred);
                self.f.lanes(lanes::vector(|p: bool| !p), &[d], &[p]);
                Some(d)
            }
            Part::Of(Source::Address(_) | Source::Sink) | Part::Sink => None,
        }
    }

    fn copied(&mut self, r: Reg) -> Reg {
        if r.is_constant() {
            return r;
        }
        let copy = self.f.reg(r.width());
        self.f.copy(copy, r);
        copy
    }

    /// Copies the low bits of one register to another; special registers may be wider or narrower than their destination.
    fn move_to(&mut self, d: Reg, a: Reg) -> Option<()> {
        let f = match (d.width(), a.width()) {
            (to, from) if to == from => {
                self.f.copy(d, a);
                return Some(());
            }
            (Width::W64, Width::W32) => lanes::vector(|a: u32| u64::from(a)),
            (Width::W32, Width::W64) => lanes::vector(|a: u64| a as u32),
            _ => return None,
        };
        self.f.lanes(f, &[d], &[a]);
        Some(())
    }

    /// `mov.b64 d, {a, b}`; a sink among the elements leaves zero.
    fn pack(&mut self, d: Reg, elements: &[Option<Reg>], bits: u32) -> Option<()> {
        if let [Some(one)] = *elements {
            return self.move_to(d, one);
        }
        let zero = self.f.constant(0, Width::for_bits(bits));
        let e: SmallVec<[Reg; 4]> = elements.iter().map(|e| e.unwrap_or(zero)).collect();
        let f: LaneFn = match (d.width(), bits, e.len()) {
            (Width::W32, 8, 2) => lanes::vector(|a: u8, b: u8| u16::from_le_bytes([a, b])),
            (Width::W32, 8, 4) => {
                lanes::vector(|a: u8, b: u8, c: u8, d: u8| u32::from_le_bytes([a, b, c, d]))
            }
            (Width::W32, 16, 2) => lanes::vector(|a: u16, b: u16| u32::from(a) | u32::from(b) << 16),
            (Width::W64, 32, 2) => lanes::vector(|a: u32, b: u32| u64::from(a) | u64::from(b) << 32),
            (Width::W64, 16, 4) => lanes::vector(|a: u16, b: u16, c: u16, d: u16| {
                u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48
            }),
            (Width::W128, 64, 2) => lanes::scalar(|a: u64, b: u64| u128::from(a) | u128::from(b) << 64),
            (Width::W128, 32, 4) => lanes::scalar(|a: u32, b: u32, c: u32, d: u32| {
                u128::from(a) | u128::from(b) << 32 | u128::from(c) << 64 | u128::from(d) << 96
            }),
            _ => return None,
        };
        self.f.lanes(f, &[d], &e);
        Some(())
    }

    /// Part `i` of `bits` bits of a register.
    fn extract(&mut self, d: Reg, a: Reg, bits: u32, i: u32) -> Option<()> {
        let shift = self.f.constant(u128::from(bits * i), Width::W32);
        let f: LaneFn = match (a.width(), bits, d.width()) {
            (Width::W32, 8, Width::W32) => lanes::vector(|a: u32, s: u32| (a >> (s & 31)) as u8),
            (Width::W32, 16, Width::W32) => lanes::vector(|a: u32, s: u32| (a >> (s & 31)) as u16),
            (Width::W64, 16, Width::W32) => lanes::vector(|a: u64, s: u32| (a >> (s & 63)) as u16),
            (Width::W64, 32, Width::W32) => lanes::vector(|a: u64, s: u32| (a >> (s & 63)) as u32),
            (Width::W128, 32, Width::W32) => lanes::scalar(|a: u128, s: u32| (a >> (s & 127)) as u32),
            (Width::W128, 64, Width::W64) => lanes::scalar(|a: u128, s: u32| (a >> (s & 127)) as u64),
            _ => return None,
        };
        self.f.lanes(f, &[d], &[a, shift]);
        Some(())
    }
}

/// How many operands are written: they come first.
fn destinations(i: &Instruction) -> usize {
    i.places().take_while(|place| is_destination(&place.shape)).count()
}

/// True for an operand that is written.
fn is_destination(shape: &Shape) -> bool {
    match shape {
        Shape::Value(value) => value.destination,
        Shape::Pair { first, .. } => first.destination,
        Shape::Address(_)
        | Shape::Bracket(_)
        | Shape::Tuple(_)
        | Shape::Label
        | Shape::Callee
        | Shape::Arguments
        | Shape::Results
        | Shape::List => false,
    }
}

/// An element of a vector source of `mov`.
#[derive(Clone, Copy)]
enum Part {
    Of(Source),
    Literal(warpsmith_ptx::Const),
    Sink,
}
