//! Trees of operations that a compiler looks for. Random operations seldom stand as a rewrite rule wants them; whoever has the rules hands their left
//! sides to the generator, which draws some as they are. What is drawn is valid whether or not the rule is right.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{
    FloatCC, InstBuilder, InstData, IntCC, Opcode, OperandRule, ResultRule, Shape, Type, Value,
};

/// A tree of operations.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Any value: the same one wherever the number stands.
    Value(u8, Kind),
    /// Any constant: the same one wherever the number stands.
    Constant(u8, Kind),
    /// An integer of the type that its place asks for.
    Int(i64),
    /// A float of the type that its place asks for.
    Float(f64),
    /// An operation.
    Operation {
        /// Which one.
        op: Opcode,
        /// How it compares integers.
        integers: Option<IntCC>,
        /// How it compares floats.
        floats: Option<FloatCC>,
        /// Its operands.
        args: Vec<Pattern>,
        /// The type of its result.
        kind: Kind,
    },
    /// One of some, such as the members of a family of rules.
    OneOf(Vec<Pattern>),
}

/// The type of a part of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Whatever its place allows.
    Any,
    /// A type that is the same wherever the number stands.
    Numbered(u8),
    /// This one.
    Fixed(Type),
}

/// So many are drawn at once, at most: there are hundreds of them.
const MOST: usize = 4;

/// What the numbers of a pattern denote, as far as it was drawn.
#[derive(Default)]
struct Drawn {
    values: Vec<(u8, Value)>,
    kinds: Vec<(u8, Type)>,
    /// Its integer constants: what conditions of rules relate to each other.
    constants: Vec<i64>,
    /// The bits of floats are seen, so that these are never NaN.
    settled: bool,
}

/// What a place of a pattern asks for.
#[derive(Clone, Copy)]
struct Place {
    ty: Option<Type>,
    /// Zero is not for division.
    divides: bool,
    /// The width of what is shifted by it.
    shifts: Option<u32>,
    /// Something must be left of what is shifted by it.
    leaves_some: bool,
}

impl Place {
    fn of(ty: Option<Type>) -> Place {
        Place { ty, divides: false, shifts: None, leaves_some: false }
    }
}

impl Drawn {
    fn value(&self, number: u8) -> Option<Value> {
        self.values.iter().find(|(known, _)| *known == number).map(|(_, value)| *value)
    }

    /// The type that a kind is known to be.
    fn kind(&self, kind: Kind) -> Option<Type> {
        match kind {
            Kind::Any => None,
            Kind::Fixed(ty) => Some(ty),
            Kind::Numbered(number) => {
                self.kinds.iter().find(|(known, _)| *known == number).map(|(_, ty)| *ty)
            }
        }
    }

    /// Whether a type can be of the kind, which it is from now on.
    fn is_of(&mut self, kind: Kind, ty: Type) -> bool {
        if let (Kind::Numbered(number), None) = (kind, self.kind(kind)) {
            self.kinds.push((number, ty));
        }
        self.kind(kind).is_none_or(|known| known == ty)
    }
}

impl Pattern {
    /// Whether it has such an operation.
    fn has(&self, wanted: &dyn Fn(Opcode) -> bool) -> bool {
        match self {
            Pattern::Operation { op, args, .. } => wanted(*op) || args.iter().any(|arg| arg.has(wanted)),
            Pattern::OneOf(choices) => choices.iter().any(|choice| choice.has(wanted)),
            Pattern::Value(..) | Pattern::Constant(..) | Pattern::Int(_) | Pattern::Float(_) => false,
        }
    }
}

/// Whether it only moves the bits of a float, or changes its sign.
fn moves_bits(op: Opcode) -> bool {
    matches!(op, Opcode::Bitcast | Opcode::Fneg | Opcode::Fabs | Opcode::Fcopysign)
}

impl Generator<'_, '_, '_> {
    /// Some of the patterns.
    pub(super) fn patterns(&mut self) -> Result<()> {
        if self.config.patterns.is_empty() {
            return self.regular();
        }
        for _ in 0..self.u.int_in_range(1..=MOST)? {
            self.pattern()?;
        }
        Ok(())
    }

    /// One of the patterns; nothing if it cannot be of the types that are drawn for it.
    fn pattern(&mut self) -> Result<()> {
        let config = self.config;
        let mut pattern = self.u.choose(&config.patterns)?;
        while let Pattern::OneOf(choices) = pattern {
            pattern = self.u.choose(choices)?;
        }
        let shows_bits = pattern.has(&|op| matches!(op, Opcode::Bitcast | Opcode::Fcopysign));
        let computes = |op: Opcode| op.takes_float_mode() && !moves_bits(op);
        if shows_bits && pattern.has(&computes) {
            return Ok(());
        }
        let mut drawn = Drawn { settled: shows_bits, ..Drawn::default() };
        let value = self.term(pattern, Place::of(None), &mut drawn)?;
        self.values.extend(value);
        Ok(())
    }

    fn term(&mut self, pattern: &Pattern, place: Place, drawn: &mut Drawn) -> Result<Option<Value>> {
        let is_number = |ty: &Type| !ty.is_aggregate() && !ty.is_ptr();
        match *pattern {
            Pattern::Value(number, kind) | Pattern::Constant(number, kind) => {
                if let Some(value) = drawn.value(number) {
                    let ty = self.b.func().dfg.ty(value);
                    let fits = place.ty.is_none_or(|wanted| wanted == ty);
                    let fits = fits && !place.divides && !place.leaves_some;
                    return Ok(Some(value).filter(|_| fits && drawn.is_of(kind, ty)));
                }
                let ty = match drawn.kind(kind).or(place.ty) {
                    Some(ty) => ty,
                    None => *self.u.choose(&self.flavour.types)?,
                };
                if place.ty.is_some_and(|wanted| wanted != ty) || !is_number(&ty) || !drawn.is_of(kind, ty) {
                    return Ok(None);
                }
                let value = if matches!(pattern, Pattern::Constant(..)) {
                    self.constant_of_pattern(ty, place, drawn)?
                } else {
                    self.leaf(ty, place, drawn)?
                };
                drawn.values.push((number, value));
                Ok(Some(value))
            }
            Pattern::OneOf(ref choices) => {
                let choice = self.u.choose(choices)?;
                self.term(choice, place, drawn)
            }
            Pattern::Int(number) => {
                let ty = place.ty.filter(|ty| ty.element_type().is_int());
                let ty = ty.filter(|_| !(place.divides && number == 0));
                Ok(ty.map(|ty| self.number(ty, number)))
            }
            Pattern::Float(number) => {
                let bits = match place.ty.map(Type::element_type) {
                    Some(Type::F64) => number.to_bits(),
                    Some(Type::F32) => u64::from((number as f32).to_bits()),
                    _ => return Ok(None),
                };
                Ok(place.ty.map(|ty| {
                    let value = self.b.ins().fconst(ty.element_type(), bits);
                    if ty.is_vector() { self.b.ins().splat(ty, value) } else { value }
                }))
            }
            Pattern::Operation { op, integers, floats, ref args, kind } => {
                let divides =
                    place.divides && !matches!((op, args.first()), (Opcode::Shl, Some(Pattern::Int(1))));
                if divides || args.len() != op.info().operands.len() {
                    return Ok(None);
                }
                let wanted = drawn.kind(kind).or(place.ty);
                if place.ty.is_some_and(|ty| Some(ty) != wanted) {
                    return Ok(None);
                }
                let Some((t, result)) = self.types(op, args, wanted, drawn)? else { return Ok(None) };
                let has_bytes = op != Opcode::Bswap || t.element_type().bits().is_multiple_of(8);
                if !is_number(&t) || !has_bytes || !drawn.is_of(kind, result) {
                    return Ok(None);
                }
                let mut operands = Vec::new();
                for (n, (rule, arg)) in op.info().operands.iter().zip(args).enumerate() {
                    let one = |element: Type| t.with_element(element.element()).unwrap_or(element);
                    let mut of = Place::of(match rule {
                        OperandRule::T => Some(t),
                        OperandRule::I1 => Some(Type::I1),
                        OperandRule::Bools => Some(one(Type::I1)),
                        OperandRule::I32 => Some(Type::I32),
                        OperandRule::Amount => Some(one(Type::I32)),
                        OperandRule::I8
                        | OperandRule::I64
                        | OperandRule::Offset
                        | OperandRule::Ptr
                        | OperandRule::Element
                        | OperandRule::Elements
                        | OperandRule::Aggregate
                        | OperandRule::Fields
                        | OperandRule::Arguments
                        | OperandRule::OfTable
                        | OperandRule::ReturnValue => return Ok(None),
                    });
                    of.divides =
                        n == 1 && matches!(op, Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem);
                    of.shifts = (*rule == OperandRule::Amount).then(|| t.element_type().bits());
                    of.leaves_some = of.shifts.is_some() && place.divides;
                    if of.leaves_some && matches!(arg, Pattern::Operation { .. }) {
                        return Ok(None);
                    }
                    let Some(value) = self.term(arg, of, drawn)? else { return Ok(None) };
                    operands.push(value);
                }
                let data = match (op.info().shape, operands.as_slice()) {
                    (Shape::Unary | Shape::Convert, &[arg]) => InstData::Unary { op, arg },
                    (Shape::Binary, &[x, y]) => InstData::Binary { op, args: [x, y] },
                    (Shape::Ternary, &[x, y, z]) => InstData::Ternary { op, args: [x, y, z] },
                    (Shape::IntCompare, &[x, y]) => match integers {
                        Some(cond) => InstData::IntCompare { cond, args: [x, y] },
                        None => return Ok(None),
                    },
                    (Shape::FloatCompare, &[x, y]) => match floats {
                        Some(cond) => InstData::FloatCompare { cond, args: [x, y] },
                        None => return Ok(None),
                    },
                    _ => return Ok(None),
                };
                let suffix = (op.info().shape == Shape::Convert).then_some(result);
                Ok(Some(self.b.ins().regular(data, suffix)))
            }
        }
    }

    /// The type of an operation's operands and that of its result, which is `wanted` if that is known.
    fn types(
        &mut self,
        op: Opcode,
        args: &[Pattern],
        wanted: Option<Type>,
        drawn: &Drawn,
    ) -> Result<Option<(Type, Type)>> {
        let info = op.info();
        let known = info.operands.iter().zip(args).filter(|(rule, _)| **rule == OperandRule::T);
        let known = known.filter_map(|(_, arg)| self.known_type(arg, drawn)).next();
        let types: Vec<Type> = match known {
            Some(ty) => vec![ty],
            None if info.result == ResultRule::T && wanted.is_some() => wanted.into_iter().collect(),
            // Mostly the types that the module has, so that values meet.
            None if self.u.ratio(3, 4)? => self.flavour.types.clone(),
            None => self.config.types(),
        };
        let of_bools = |t: Type| t.with_element(Type::I1.element()).unwrap_or(Type::I1);
        let pairs = types.into_iter().filter(|ty| info.types.contains(*ty)).flat_map(|t| {
            let results: Vec<Type> = if info.shape == Shape::Convert {
                let all = wanted.map_or_else(|| self.config.types(), |ty| vec![ty]);
                all.into_iter().filter(|ty| info.result.allows(info.types, t, *ty)).collect()
            } else {
                let known =
                    [(ResultRule::T, t), (ResultRule::Bools, of_bools(t)), (ResultRule::I32, Type::I32)];
                known.into_iter().filter(|(rule, _)| *rule == info.result).map(|(_, ty)| ty).collect()
            };
            results.into_iter().map(move |result| (t, result))
        });
        let pairs: Vec<(Type, Type)> =
            pairs.filter(|(_, result)| wanted.is_none_or(|wanted| wanted == *result)).collect();
        if pairs.is_empty() { Ok(None) } else { self.u.choose(&pairs).copied().map(Some) }
    }

    /// The type that a part of a pattern must have.
    fn known_type(&self, pattern: &Pattern, drawn: &Drawn) -> Option<Type> {
        match *pattern {
            Pattern::Value(number, kind) | Pattern::Constant(number, kind) => {
                drawn.value(number).map(|value| self.b.func().dfg.ty(value)).or(drawn.kind(kind))
            }
            Pattern::Int(_) | Pattern::Float(_) | Pattern::OneOf(_) => None,
            Pattern::Operation { op, ref args, kind, .. } => drawn.kind(kind).or_else(|| {
                let operands = op.info().operands.iter().zip(args);
                let mut same = operands
                    .filter(|(rule, _)| op.info().result == ResultRule::T && **rule == OperandRule::T);
                same.find_map(|(_, arg)| self.known_type(arg, drawn))
            }),
        }
    }

    /// A value, of which some bits may be known.
    fn leaf(&mut self, ty: Type, place: Place, drawn: &Drawn) -> Result<Value> {
        let value = self.value(ty)?;
        if place.divides {
            return Ok(self.divisor(value, ty));
        }
        if drawn.settled {
            return Ok(self.settled(value));
        }
        let bits = ty.element_type().bits();
        if !ty.element_type().is_int() || bits < 8 {
            return Ok(value);
        }
        if let (Some(width), true) = (place.shifts, place.leaves_some || self.u.ratio(1, 2)?) {
            // As many as have only bits of amounts below the width.
            let mask = self.number(ty, i64::from((width + 1).next_power_of_two() / 2) - 1);
            return Ok(self.b.ins().band(value, mask));
        }
        let what = self.u.int_in_range(0..=11)?;
        let by = if what < 4 { self.u.int_in_range(1..=bits.min(64) - 1)? } else { 1 };
        Ok(match what {
            0 => {
                let by = self.b.ins().iconst(Type::I32, by.into());
                self.b.ins().lshr(value, by)
            }
            1 => {
                let mask = self.number(ty, !(-1 << by));
                self.b.ins().band(value, mask)
            }
            2 => {
                let top = self.number(ty, i64::MIN >> (64 - bits.min(64)));
                self.b.ins().bor(value, top)
            }
            3 => {
                let mask = self.number(ty, -1 << by);
                self.b.ins().band(value, mask)
            }
            _ => value,
        })
    }

    /// A constant: one that rules often ask for, or one that follows from another one of the pattern.
    fn constant_of_pattern(&mut self, ty: Type, place: Place, drawn: &mut Drawn) -> Result<Value> {
        let element = ty.element_type();
        if !element.is_int() {
            let number = *self.u.choose(&[0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0])?;
            let pattern = Pattern::Float(number);
            return match self.term(&pattern, Place::of(Some(ty)), drawn)? {
                Some(value) => Ok(value),
                None => self.constant(ty),
            };
        }
        let bits = place.shifts.unwrap_or_else(|| element.bits()).min(64);
        let sign = i64::MIN >> (64 - bits);
        let power = 1i64 << self.u.int_in_range(0..=bits - 1)?;
        let number = match (self.u.int_in_range(0..=9)?, drawn.constants.last()) {
            (0..=4, Some(&other)) => match self.u.int_in_range(0..=5)? {
                0 => other,
                1 => !other,
                2 => other.wrapping_neg(),
                3 => i64::from(bits).wrapping_sub(other),
                4 => other.wrapping_add(1),
                _ => other.wrapping_sub(1),
            },
            _ if place.shifts.is_some() => self.u.int_in_range(0..=i64::from(bits))?,
            (5, _) => *self.u.choose(&[0, 1, -1, sign, !sign])?,
            (6, _) => power.wrapping_sub(1),
            (7, _) => power.wrapping_neg(),
            (8, _) => self.u.int_in_range(-8..=20)?,
            (9, _) => self.u.arbitrary()?,
            _ => power,
        };
        let number = element.normalize(number);
        let number = if place.divides && number == 0 { 1 } else { number };
        let number = if place.leaves_some && !(0..i64::from(bits)).contains(&number) { 1 } else { number };
        drawn.constants.push(number);
        Ok(self.number(ty, number))
    }
}
