//! Operands: what names, literals and addresses denote.

use super::Place;
use super::body::Body;
use crate::effects::Source;
use crate::engine::{Access, Address, LaneFn, OwnVariable, Reg, Special, Width, lanes};
use smallvec::SmallVec;
use warpsmith_isa::{ScalarType, Shape, SpecialReg, StateSpace};
use warpsmith_ptx::scope::Binding;
use warpsmith_ptx::{Const, List, Module, Operand, Symbol};

/// The width of the register that holds a value of a type.
pub(super) fn width(ty: ScalarType) -> Width {
    if ty == ScalarType::Pred { Width::Pred } else { Width::for_bits(ty.bits()) }
}

/// What a name denotes where a value may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Reg(Reg, ScalarType),
    /// A vector register: one register per element.
    Vector([Reg; 4], u8, ScalarType),
    Variable(Place),
    Function(Symbol),
    Special(SpecialReg),
    Other,
}

/// A destination and its declared type; `None` for a sink.
pub(super) type Target = Option<(Reg, ScalarType)>;

/// A literal as the bits of a register of a width. A float of 64 bits is rounded for one of 32 (PTX ISA 9.0, 4.5.2).
pub(super) fn literal(c: Const, width: Width) -> u64 {
    match (c, width) {
        (Const::Int { bits, .. }, _) => bits,
        (Const::F32(bits), _) => bits.into(),
        (Const::F64(bits), Width::W32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Const::F64(bits), _) => bits,
    }
}

impl<'m> Body<'_, 'm> {
    pub(super) fn named(&mut self, name: Symbol) -> Named {
        let Some(bound) = self.decoder.scopes.lookup(name) else { return Named::Other };
        match bound.binding {
            Binding::Variable(decl, declarator) => {
                if self.decoder.module[decl].space == StateSpace::Reg {
                    return self.register(name, decl, declarator);
                }
                self.variable(decl, declarator, name)
            }
            Binding::Function(_) => Named::Function(name),
            Binding::Special(special) => Named::Special(special),
            Binding::Label(_) | Binding::List(_) => Named::Other,
        }
    }

    /// A new register that holds the value of a special one; `None` if the machine has no such.
    pub(super) fn special(&mut self, special: SpecialReg, component: Option<&str>) -> Option<Reg> {
        let name = special.name();
        let full = match (special.lanes(), component) {
            (1, None) => name.to_string(),
            (_, Some("w" | "a")) => {
                // The fourth component of every vector of chapter 10 is zero.
                return Some(self.f.constant(0, Width::W32));
            }
            (_, Some(c)) => format!("{name}.{}", canonical_component(c)),
            (_, None) => format!("{name}.x"),
        };
        let Some(known) = Special::from_name(&full) else {
            self.refuse(format!("the special register `{full}` has no value here"));
            return None;
        };
        let d = self.f.reg(if known.bits() == 1 { Width::Pred } else { Width::for_bits(known.bits()) });
        self.f.special(d, known);
        Some(d)
    }

    /// A register plus a constant; `None` for a predicate, which has no sum.
    fn plus(&mut self, r: Reg, offset: i64) -> Option<Reg> {
        if offset == 0 {
            return Some(r);
        }
        if !matches!(r.width(), Width::W32 | Width::W64) {
            return None;
        }
        let (d, c) = (self.f.reg(r.width()), self.f.constant(offset as u64 as u128, r.width()));
        let f = match r.width() {
            Width::W64 => lanes::vector(|a: u64, b: u64| a.wrapping_add(b)),
            Width::Pred | Width::W32 | Width::W128 => lanes::vector(|a: u32, b: u32| a.wrapping_add(b)),
        };
        self.f.lanes(f, &[d], &[r, c]);
        Some(d)
    }

    /// Marks the next operation as one about a variable of the function; for one of the module, the constant with its address does.
    fn name_variable(&mut self, place: Place) {
        let own = match place {
            Place::Stack { offset, .. } => u32::try_from(offset).ok().map(OwnVariable::Local),
            Place::KernelParam(offset) | Place::OpaqueParam(offset) => Some(OwnVariable::Param(offset)),
            Place::Symbol(_) => None,
        };
        if let Some(own) = own {
            self.f.name_variable(own);
        }
    }

    /// The address of a variable within its own space, as a value.
    pub(super) fn address_value(&mut self, place: Place, offset: i64) -> Reg {
        match place {
            Place::Symbol(symbol) => self.f.program().address(symbol, offset, false),
            Place::KernelParam(at) => {
                self.f.constant(u128::from((i64::from(at) + offset) as u64), Width::W64)
            }
            Place::OpaqueParam(at) => {
                let d = self.f.reg(Width::W64);
                let handle = Access::unsigned(StateSpace::Param, 8);
                self.f.load(handle, &[d], Address::Absolute(at.into()));
                d
            }
            Place::Stack { offset: at, .. } => {
                let d = self.f.reg(Width::W64);
                self.f.stack_address(d, at.wrapping_add(offset), false);
                d
            }
        }
    }

    /// A name, plus a constant, as a value.
    fn name_value(&mut self, name: Symbol, offset: i64) -> Option<Reg> {
        Some(match self.named(name) {
            Named::Reg(r, _) => self.plus(r, offset)?,
            Named::Variable(place) => {
                self.name_variable(place);
                self.address_value(place, offset)
            }
            Named::Special(special) => {
                let r = self.special(special, None)?;
                self.plus(r, offset)?
            }
            Named::Function(name) => {
                let id = self.decoder.known(name)?.id;
                let r = self.f.program().function_address(id);
                self.plus(r, offset)?
            }
            Named::Vector(..) | Named::Other => return None,
        })
    }

    /// The address that stands between brackets, as a value: `mov.u64 d, var[4]`.
    pub(super) fn address_operand(&mut self, operand: Operand) -> Option<Reg> {
        match self.address(operand)? {
            Address::Reg(r, offset) => self.plus(r, offset),
            Address::Symbol(symbol, offset) => Some(self.f.program().address(symbol, offset, false)),
            Address::Stack(offset) => Some(self.address_value(Place::Stack { offset, bytes: 0 }, 0)),
            Address::Absolute(address) => Some(self.f.constant(address.into(), Width::W64)),
        }
    }

    /// A scalar source. `None` if it is none.
    pub(super) fn source(&mut self, operand: Operand, width: Option<Width>) -> Option<Source> {
        Some(match operand {
            Operand::Name(name) if name != Symbol::SINK => Source::Reg(self.name_value(name, 0)?),
            Operand::Offset { name, offset } => Source::Reg(self.name_value(name, offset)?),
            Operand::Const(c) => Source::Bits(literal(c, width.unwrap_or(self.literal_width))),
            Operand::Component { name, selector } => {
                let selector = self.decoder.name(selector);
                match self.named(name) {
                    Named::Special(special) => Source::Reg(self.special(special, Some(selector))?),
                    Named::Vector(regs, n, _) => Source::Reg(component(&regs[..usize::from(n)], selector)?),
                    Named::Reg(..) | Named::Variable(_) | Named::Function(_) | Named::Other => return None,
                }
            }
            Operand::Not(inner) => match self.source(self.decoder.module[inner], Some(Width::Pred))? {
                Source::Reg(p) => Source::Not(p),
                Source::Bits(b) => Source::Bits(u64::from(b == 0)),
                Source::Not(_) | Source::Address(_) | Source::Sink => return None,
            },
            Operand::Name(Symbol::SINK) => Source::Sink,
            Operand::AddressName(_)
            | Operand::Address { .. }
            | Operand::AddressConst(_)
            | Operand::Index(_)
            | Operand::Bracket(_) => Source::Address(self.address(operand)?),
            Operand::Unified(inner) => self.source(self.decoder.module[inner], width)?,
            Operand::Name(_)
            | Operand::Vector(_)
            | Operand::Group(_)
            | Operand::Pair(_)
            | Operand::Neg(_) => return None,
        })
    }

    /// The sources of operands, which stand in these places of the form, the elements of vectors one by one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no elements is one source")]
    pub(super) fn sources(
        &mut self,
        operands: &[Operand],
        mut places: impl Iterator<Item = &'static Shape>,
    ) -> Option<SmallVec<[Source; 6]>> {
        let mut sources = SmallVec::new();
        for &operand in operands {
            let place = places.next();
            match operand {
                // Where a value is expected, `var[i]` is the address itself: of `cvta`.
                Operand::Index(_) if matches!(place, Some(Shape::Value(_))) => {
                    sources.push(Source::Reg(self.address_operand(operand)?));
                }
                Operand::Vector(list) => {
                    for &element in &self.decoder.module[list] {
                        sources.push(self.source(element, None)?);
                    }
                }
                // A bracket with parts: an address, and coordinates.
                Operand::Bracket(list) if self.decoder.module[list].len() > 1 => {
                    let module: &'m Module = self.decoder.module;
                    let (&first, rest) = module[list].split_first()?;
                    sources.push(Source::Address(match first {
                        Operand::Name(name) => self.address_of(name, 0)?,
                        Operand::Offset { name, offset } => self.address_of(name, offset)?,
                        Operand::Const(Const::Int { bits, .. }) => Address::Absolute(bits),
                        other => Address::Reg(self.address_operand(other)?, 0),
                    }));
                    sources.extend(self.sources(rest, std::iter::empty())?);
                }
                Operand::Name(name) if matches!(self.named(name), Named::Vector(..)) => {
                    if let Named::Vector(regs, n, _) = self.named(name) {
                        sources.extend(regs[..usize::from(n)].iter().map(|r| Source::Reg(*r)));
                    }
                }
                _ => sources.push(self.source(operand, None)?),
            }
        }
        Some(sources)
    }

    /// The destinations of an operand: vectors and pairs element by element, `None` for a sink.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no elements is one destination")]
    pub(super) fn destinations(&mut self, operand: Operand) -> Option<SmallVec<[Target; 4]>> {
        let mut all = SmallVec::new();
        match operand {
            Operand::Vector(list) => {
                for &element in &self.decoder.module[list] {
                    all.push(self.destination(element)?);
                }
            }
            // Its first part may be a vector: `{a, b, c, d}|p`.
            Operand::Pair(list) => {
                for &part in &self.decoder.module[list] {
                    all.extend(match part {
                        Operand::Pair(_) => return None,
                        part => self.destinations(part)?,
                    });
                }
            }
            Operand::Name(name) => match self.named(name) {
                Named::Vector(regs, n, ty) => {
                    all.extend(regs[..usize::from(n)].iter().map(|r| Some((*r, ty))))
                }
                Named::Reg(..)
                | Named::Variable(_)
                | Named::Function(_)
                | Named::Special(_)
                | Named::Other => all.push(self.destination(operand)?),
            },
            _ => all.push(self.destination(operand)?),
        }
        Some(all)
    }

    /// The destinations of several operands, in their order.
    pub(super) fn all_destinations(&mut self, operands: &[Operand]) -> Option<SmallVec<[Target; 4]>> {
        let mut all = SmallVec::new();
        for operand in operands {
            all.extend(self.destinations(*operand)?);
        }
        Some(all)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is written: it is refused by name")]
    fn destination(&mut self, operand: Operand) -> Option<Target> {
        match operand {
            Operand::Name(Symbol::SINK) => Some(None),
            Operand::Name(name) => match self.named(name) {
                Named::Reg(r, ty) => Some(Some((r, ty))),
                Named::Vector(..)
                | Named::Variable(_)
                | Named::Function(_)
                | Named::Special(_)
                | Named::Other => None,
            },
            Operand::Component { name, selector } => match self.named(name) {
                Named::Vector(regs, n, ty) => {
                    let selector = self.decoder.name(selector);
                    Some(Some((component(&regs[..usize::from(n)], selector)?, ty)))
                }
                Named::Reg(..)
                | Named::Variable(_)
                | Named::Function(_)
                | Named::Special(_)
                | Named::Other => None,
            },
            _ => None,
        }
    }

    /// `[a]`, `[a+4]`, `a[4]`.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not an address is refused by name")]
    pub(super) fn address(&mut self, operand: Operand) -> Option<Address> {
        match operand {
            Operand::AddressName(name) => self.address_of(name, 0),
            Operand::Address { name, offset } => self.address_of(name, offset),
            Operand::AddressConst(address) => Some(Address::Absolute(address)),
            Operand::Index(list) => self.indexed(list),
            Operand::Bracket(list) => match self.decoder.module[list] {
                [single @ Operand::Component { .. }] => match self.source(single, None)? {
                    Source::Reg(r) => Some(Address::Reg(r, 0)),
                    Source::Bits(_) | Source::Not(_) | Source::Address(_) | Source::Sink => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn address_of(&mut self, name: Symbol, offset: i64) -> Option<Address> {
        let named = self.named(name);
        if let Named::Variable(place) = named {
            self.name_variable(place);
        }
        Some(match named {
            Named::Reg(r, _) => Address::Reg(r, offset),
            Named::Variable(Place::Symbol(symbol)) => Address::Symbol(symbol, offset),
            Named::Variable(Place::Stack { offset: at, .. }) => Address::Stack(at.wrapping_add(offset)),
            Named::Variable(Place::KernelParam(at)) => {
                Address::Absolute((i64::from(at).wrapping_add(offset)) as u64)
            }
            Named::Variable(place @ Place::OpaqueParam(_)) => {
                Address::Reg(self.address_value(place, 0), offset)
            }
            Named::Special(special) => Address::Reg(self.special(special, None)?, offset),
            Named::Vector(..) | Named::Function(_) | Named::Other => return None,
        })
    }

    /// `var[imm]`, `var[reg]`, `var[reg+imm]`: the index counts scalars of the variable's type, in rows and vectors too.
    ///
    /// ptxas computes the distance in 32 bits, whatever the width of the index: in global space it is then added to the address as a
    /// number without a sign, in the others all is modulo 2^32.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not an index is refused by name")]
    fn indexed(&mut self, list: List<Operand>) -> Option<Address> {
        let module: &'m Module = self.decoder.module;
        let &[Operand::Name(base), index] = &module[list] else { return None };
        let Binding::Variable(decl, _) = self.decoder.scopes.lookup(base)?.binding else { return None };
        let Named::Variable(place) = self.named(base) else { return None };
        let wide = module[decl].space == StateSpace::Global;
        let size = module[decl].ty.bits().div_ceil(8);
        let (index, offset) = match index {
            Operand::Const(Const::Int { bits, .. }) => {
                let distance = (bits as u32).wrapping_mul(size);
                let distance = if wide { i64::from(distance) } else { i64::from(distance as i32) };
                return self.address_of(base, distance);
            }
            Operand::Name(index) => (index, 0),
            Operand::Offset { name, offset } => (name, offset),
            _ => return None,
        };
        let (index, ty) = match self.named(index) {
            Named::Reg(index, ty) => (index, ty),
            Named::Special(special) => (self.special(special, None)?, ScalarType::U32),
            Named::Vector(..) | Named::Variable(_) | Named::Function(_) | Named::Other => return None,
        };
        let index = match (index.width(), ty.bits(), ty.is_signed()) {
            (Width::W64, ..) => self.converted(index, lanes::vector(|i: u64| i as u32)),
            (Width::W32, 8, true) => self.converted(index, lanes::vector(|i: u32| i as i8 as u32)),
            (Width::W32, 8, false) => self.converted(index, lanes::vector(|i: u32| u32::from(i as u8))),
            (Width::W32, 16, true) => self.converted(index, lanes::vector(|i: u32| i as i16 as u32)),
            (Width::W32, 16, false) => self.converted(index, lanes::vector(|i: u32| u32::from(i as u16))),
            (Width::W32, ..) => index,
            (Width::Pred | Width::W128, ..) => return None,
        };
        self.name_variable(place);
        let base = self.address_value(place, 0);
        let offset = self.f.constant(u128::from(offset as u32), Width::W32);
        let size = self.f.constant(size.into(), Width::W32);
        let d = self.f.reg(Width::W64);
        let f = match wide {
            true => lanes::vector(|base: u64, index: u32, offset: u32, size: u32| {
                base.wrapping_add(u64::from(index.wrapping_add(offset).wrapping_mul(size)))
            }),
            false => lanes::vector(|base: u64, index: u32, offset: u32, size: u32| {
                u64::from((base as u32).wrapping_add(index.wrapping_add(offset).wrapping_mul(size)))
            }),
        };
        self.f.lanes(f, &[d], &[base, index, offset, size]);
        Some(Address::Reg(d, 0))
    }

    /// A new register of 32 bits with what a function makes of another.
    fn converted(&mut self, r: Reg, f: LaneFn) -> Reg {
        let d = self.f.reg(Width::W32);
        self.f.lanes(f, &[d], &[r]);
        d
    }
}

/// Components of vectors may be called by colours.
fn canonical_component(name: &str) -> &str {
    match name {
        "r" => "x",
        "g" => "y",
        "b" => "z",
        "a" => "w",
        other => other,
    }
}

fn component(regs: &[Reg], selector: &str) -> Option<Reg> {
    let index = ["x", "y", "z", "w"].iter().position(|c| *c == canonical_component(selector))?;
    regs.get(index).copied()
}
