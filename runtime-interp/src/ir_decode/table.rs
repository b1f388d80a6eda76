//! Table-derived operations: what their forms mean is in `warpsmith-semantics` and [`effects`].

use super::function::Body;
use super::values;
use crate::effects::texture::{Elements, Operands};
use crate::effects::{self, Source};
use crate::engine::lanes::portable as vector;
use crate::engine::{Address, Reg, Width};
use smallvec::SmallVec;
use warpsmith_ir::{Inst, PtxData, PtxOperand, Type, Value};
use warpsmith_isa::{Class, ScalarType};
use warpsmith_semantics::{Effect, Meaning, Selection, Selector, Written, plan};

impl Body<'_, '_> {
    /// `ptx.*`
    pub(super) fn table_operation(&mut self, inst: Inst, data: &PtxData, args: &[Value]) {
        let mnemonic = data.mnemonic();
        let results: SmallVec<[Value; 4]> = self.function.dfg.results(inst).into_iter().collect();
        let targets: SmallVec<[Reg; 4]> = results.iter().map(|v| self.whole_result(*v)).collect();
        let dst: SmallVec<[Option<Reg>; 4]> = targets.iter().map(|r| Some(*r)).collect();
        let Some(sources) = self.sources(data, args) else {
            return self.body.error(format!("ptx.{mnemonic} has an operand without meaning here"));
        };
        let Some(instruction) = data.instruction() else {
            return self.body.error(format!("ptx.{mnemonic} is of no form"));
        };
        if let Meaning::Does(Effect::Texture(action)) = Meaning::of_instruction(instruction) {
            let operands = grouped(data, &sources);
            if effects::texture::emit(&mut self.body, instruction, action, &dst, &operands).is_none() {
                self.body.error(format!("ptx.{mnemonic} has no meaning"));
            }
            for (value, whole) in results.iter().zip(targets) {
                self.scatter(*value, whole);
            }
            return;
        }
        let bits = results.first().map_or(32, |v| self.ty(*v).bits());
        let Some(selection) = selection(data) else {
            return self.body.error(format!("ptx.{mnemonic} selects a part that it does not have"));
        };
        let written = Written { destination_bits: bits, selection, ..Written::default() };
        let done = match plan(instruction, &written) {
            Some(plan) => {
                if plan.uses_carry() && self.carry.is_none() {
                    self.carry = Some(self.body.reg(Width::Pred));
                }
                let widths: SmallVec<[Width; 5]> = plan.sources().iter().copied().collect();
                let src: Option<SmallVec<[Reg; 5]>> = (sources.iter().enumerate())
                    .map(|(i, s)| self.register(*s, widths.get(i).copied().unwrap_or(Width::W32)))
                    .collect();
                src.map(|src| self.body.compute(&plan, &dst, &src, self.carry))
            }
            None => {
                let ty = instruction.ty();
                let src: SmallVec<[Source; 8]> = sources.into_iter().map(|s| s.settled(ty)).collect();
                effects::emit(&mut self.body, instruction, &dst, &src)
            }
        };
        if done.is_none() {
            return self.body.error(format!("ptx.{mnemonic} has no meaning"));
        }
        for (value, whole) in results.iter().zip(targets) {
            self.scatter(*value, whole);
        }
    }

    /// The one register that PTX writes a result to: the value's own, or one to be taken apart after.
    fn whole_result(&mut self, value: Value) -> Reg {
        let regs = self.regs(value);
        if regs.len() == 1 { regs[0] } else { self.body.reg(Width::for_bits(self.ty(value).bits())) }
    }

    /// Takes a result apart and brings it into the form that values have: nothing above a small type's bits.
    fn scatter(&mut self, value: Value, whole: Reg) {
        let (ty, regs) = (self.ty(value), self.regs(value));
        if regs.len() > 1 {
            let words = values::to_words(&mut self.body, &[whole]);
            values::from_words(&mut self.body, &regs, &words);
        } else if ty.bits() < 32 && ty != Type::I1 {
            let mask = self.body.constant(u128::from(u32::MAX >> (32 - ty.bits())), Width::W32);
            self.body.lanes(vector(|a: u32, mask: u32| a & mask), &[regs[0]], &[regs[0], mask]);
        }
    }

    /// The value of an argument in one register, as PTX wants it.
    fn whole(&mut self, value: Value) -> Option<Reg> {
        let (ty, regs) = (self.ty(value), self.regs(value));
        if regs.len() == 1 {
            return Some(regs[0]);
        }
        if ty.bits() > 128 {
            return None;
        }
        let words = values::to_words(&mut self.body, &regs);
        let joined = self.body.reg(Width::for_bits(ty.bits()));
        values::from_words(&mut self.body, &[joined], &words);
        Some(joined)
    }

    /// The operands, vectors element by element. `None` if one cannot be given to an instruction here.
    fn sources(&mut self, data: &PtxData, args: &[Value]) -> Option<SmallVec<[Operand; 8]>> {
        let is_video = data.instruction().is_some_and(|instruction| instruction.class() == Class::Video);
        let mut args = args.iter().copied();
        let mut sources = SmallVec::new();
        for (i, operand) in data.operands.iter().enumerate() {
            sources.push(match *operand {
                PtxOperand::Value => Operand::Settled(Source::Reg(self.whole(args.next()?)?)),
                PtxOperand::Not => Operand::Settled(Source::Not(self.one(args.next()?))),
                PtxOperand::Address(offset) => {
                    Operand::Settled(Source::Address(Address::Reg(self.one(args.next()?), offset)))
                }
                PtxOperand::GlobalAddress(global, offset) => {
                    Operand::Settled(Source::Address(Address::Symbol(self.globals[global]?, offset)))
                }
                PtxOperand::Global(global) => {
                    let symbol = self.globals[global]?;
                    Operand::Settled(Source::Reg(self.body.program().address(symbol, 0, false)))
                }
                PtxOperand::Int(value) => Operand::Settled(Source::Bits(value as u64)),
                PtxOperand::F32(bits) => Operand::Settled(Source::Bits(bits.into())),
                PtxOperand::F64(bits) => Operand::Double(f64::from_bits(bits)),
                PtxOperand::Decimal(value) => Operand::Double(value),
                // The elements follow.
                PtxOperand::Vector(_) | PtxOperand::Bracket(_) => continue,
                // A destination that is not wanted is not a source; what is stored may be left out.
                PtxOperand::Sink if i == 0 => continue,
                PtxOperand::Sink => Operand::Settled(Source::Sink),
                PtxOperand::Func(func) => Operand::Settled(Source::Reg(self.function_address(func)?)),
                // What these select, or negate, is part of the plan.
                PtxOperand::Neg | PtxOperand::Part(_) if is_video => {
                    Operand::Settled(Source::Reg(self.whole(args.next()?)?))
                }
                PtxOperand::Destination(_) if is_video => continue,
                PtxOperand::Neg | PtxOperand::Part(_) | PtxOperand::Destination(_) => return None,
            });
        }
        Some(sources)
    }

    /// An operand of a pure instruction as a register of the width it reads; wider ones it cuts itself.
    fn register(&mut self, operand: Operand, width: Width) -> Option<Reg> {
        let ty = if width == Width::W64 { ScalarType::F64 } else { ScalarType::F32 };
        Some(match operand.settled(Some(ty)) {
            Source::Reg(r) => r,
            Source::Bits(bits) => self.body.constant(bits.into(), width),
            Source::Not(p) => {
                let d = self.body.reg(Width::Pred);
                self.body.lanes(vector(|p: bool| !p), &[d], &[p]);
                d
            }
            Source::Address(_) | Source::Sink => return None,
        })
    }
}

/// The parts of registers that the operands of a video instruction select, and which are negated. `None` if it has no such part.
#[expect(clippy::wildcard_enum_match_arm, reason = "what has no sign and no selector selects nothing")]
fn selection(data: &PtxData) -> Option<Selection> {
    let has_destination =
        matches!(data.operands.first(), Some(PtxOperand::Destination(_) | PtxOperand::Sink));
    let mut selectors = [None; 4];
    let mut negated = [false; 4];
    for (n, operand) in (usize::from(!has_destination)..).zip(&data.operands) {
        match operand {
            PtxOperand::Part(part) | PtxOperand::Destination(part) => {
                *selectors.get_mut(n)? = Some(Selector::from_name(part.name())?);
            }
            PtxOperand::Neg => *negated.get_mut(n)? = true,
            _ => {}
        }
    }
    let ([d, a, b, _], [_, negated @ ..]) = (selectors, negated);
    Some(Selection { d, a, b, negated })
}

/// The operands of an instruction on textures one by one: `sources` are their elements.
fn grouped(data: &PtxData, sources: &[Operand]) -> Operands {
    let mut grouped = Operands::default();
    let mut sources = sources.iter().map(|source| source.settled(Some(ScalarType::F32)));
    let mut operands = data.operands.iter();
    let mut take = |operands: &mut std::slice::Iter<'_, PtxOperand>| -> Option<Elements> {
        Some(match operands.next()? {
            PtxOperand::Vector(len) => {
                operands.by_ref().take(*len as usize).for_each(drop);
                sources.by_ref().take(*len as usize).collect()
            }
            PtxOperand::Value
            | PtxOperand::Not
            | PtxOperand::Neg
            | PtxOperand::Part(_)
            | PtxOperand::Destination(_)
            | PtxOperand::Address(_)
            | PtxOperand::GlobalAddress(..)
            | PtxOperand::Global(_)
            | PtxOperand::Func(_)
            | PtxOperand::Int(_)
            | PtxOperand::F32(_)
            | PtxOperand::F64(_)
            | PtxOperand::Decimal(_)
            | PtxOperand::Bracket(_)
            | PtxOperand::Sink => sources.next().into_iter().collect(),
        })
    };
    while let Some(operand) = operands.clone().next() {
        if let PtxOperand::Bracket(parts) = operand {
            operands.next();
            grouped.bracket.extend((0..*parts).filter_map(|_| take(&mut operands)));
        } else if grouped.bracket.is_empty() {
            grouped.bracket.extend(take(&mut operands));
        } else {
            grouped.rest.extend(take(&mut operands));
        }
    }
    grouped
}

/// An operand whose bits may still depend on the type it is used as.
#[derive(Clone, Copy)]
enum Operand {
    Settled(Source),
    /// A decimal or `0d` literal: rounded to nearest where an f32 is wanted.
    Double(f64),
}

impl Operand {
    fn settled(self, ty: Option<ScalarType>) -> Source {
        match self {
            Operand::Settled(source) => source,
            Operand::Double(value) if ty == Some(ScalarType::F32) => {
                Source::Bits((value as f32).to_bits().into())
            }
            Operand::Double(value) => Source::Bits(value.to_bits()),
        }
    }
}
