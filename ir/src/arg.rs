//! Operands of table-derived instructions as a front end writes them: `b.ins().ptx(mnemonic!(".."), (at(p), x, 4))`.

use crate::entities::{FuncId, GlobalId, Value};
use crate::ptx::{Part, PtxData, PtxOperand};
use smallvec::SmallVec;
use warpsmith_isa::Mnemonic;

/// One operand. Values, integers and floats convert to it; functions make the rest: [`at`] an address, [`braces`] a vector,
/// [`tensor`] and [`bracket`] what tensor and texture instructions take, [`not`], [`negative`] and [`part`] what their names say.
#[derive(Clone, PartialEq, Debug)]
pub struct PtxArg {
    operands: SmallVec<[PtxOperand; 2]>,
    values: SmallVec<[Value; 2]>,
}

impl PtxArg {
    /// `_`: a destination that is not wanted.
    pub fn sink() -> PtxArg {
        PtxArg::constant(PtxOperand::Sink)
    }

    /// The address of a function.
    pub fn func(func: FuncId) -> PtxArg {
        PtxArg::constant(PtxOperand::Func(func))
    }

    /// `d.h0`, before all others: the part of the destination that a video instruction writes.
    pub fn destination(part: Part) -> PtxArg {
        PtxArg::constant(PtxOperand::Destination(part))
    }

    fn constant(operand: PtxOperand) -> PtxArg {
        PtxArg { operands: SmallVec::from_slice(&[operand]), values: SmallVec::new() }
    }

    fn of(operand: PtxOperand, value: Value) -> PtxArg {
        PtxArg { operands: SmallVec::from_slice(&[operand]), values: SmallVec::from_slice(&[value]) }
    }

    fn group(make: fn(u32) -> PtxOperand, parts: impl IntoIterator<Item = impl Into<PtxArg>>) -> PtxArg {
        let mut all = PtxArg::constant(make(0));
        let mut count = 0;
        for part in parts {
            let part = part.into();
            all.operands.extend(part.operands);
            all.values.extend(part.values);
            count += 1;
        }
        all.operands[0] = make(count);
        all
    }
}

/// What an address can start from.
pub trait AddressBase {
    /// `[base + offset]`
    fn address(self, offset: i64) -> PtxArg;
}

impl AddressBase for Value {
    fn address(self, offset: i64) -> PtxArg {
        PtxArg::of(PtxOperand::Address(offset), self)
    }
}

impl AddressBase for GlobalId {
    fn address(self, offset: i64) -> PtxArg {
        PtxArg::constant(PtxOperand::GlobalAddress(self, offset))
    }
}

/// `[base]`: memory at a pointer or a global.
pub fn at(base: impl AddressBase) -> PtxArg {
    base.address(0)
}

/// `[base + offset]`
pub fn at_offset(base: impl AddressBase, offset: i64) -> PtxArg {
    base.address(offset)
}

/// `{a, b, ...}`
pub fn braces(elements: impl IntoIterator<Item = impl Into<PtxArg>>) -> PtxArg {
    PtxArg::group(PtxOperand::Vector, elements)
}

/// `[a, b, ...]`
pub fn bracket(parts: impl IntoIterator<Item = impl Into<PtxArg>>) -> PtxArg {
    PtxArg::group(PtxOperand::Bracket, parts)
}

/// `[map, {x, y, ...}]`: a tensor map with coordinates, a texture or surface with the texel's place.
pub fn tensor(map: impl Into<PtxArg>, coordinates: impl IntoIterator<Item = impl Into<PtxArg>>) -> PtxArg {
    bracket([map.into(), braces(coordinates)])
}

/// `!p`
pub fn not(predicate: Value) -> PtxArg {
    PtxArg::of(PtxOperand::Not, predicate)
}

/// `-a`
pub fn negative(value: Value) -> PtxArg {
    PtxArg::of(PtxOperand::Neg, value)
}

/// `a.h1`
pub fn part(value: Value, part: Part) -> PtxArg {
    PtxArg::of(PtxOperand::Part(part), value)
}

impl From<Value> for PtxArg {
    fn from(value: Value) -> PtxArg {
        PtxArg::of(PtxOperand::Value, value)
    }
}

/// The address of a global, as a value.
impl From<GlobalId> for PtxArg {
    fn from(global: GlobalId) -> PtxArg {
        PtxArg::constant(PtxOperand::Global(global))
    }
}

macro_rules! constants {
    ($($ty:ty => $make:expr;)*) => {$(
        impl From<$ty> for PtxArg {
            fn from(value: $ty) -> PtxArg {
                PtxArg::constant($make(value))
            }
        }
    )*};
}
constants! {
    i32 => |value: i32| PtxOperand::Int(value.into());
    u32 => |value: u32| PtxOperand::Int(value.into());
    i64 => |value: i64| PtxOperand::Int(value.into());
    u64 => |value: u64| PtxOperand::Int(value.into());
    f32 => |value: f32| PtxOperand::F32(value.to_bits());
    f64 => |value: f64| PtxOperand::F64(value.to_bits());
}

/// The operands of an instruction: a tuple of up to ten things that convert to [`PtxArg`], a single value or operand, a list of
/// operands, or `()`.
pub trait PtxArgs {
    /// Adds the operands to a list.
    fn append(self, operands: &mut Vec<PtxOperand>, values: &mut SmallVec<[Value; 8]>);

    /// The constant part of the instruction, and the values among its operands.
    fn list(self, mnemonic: Mnemonic) -> (PtxData, SmallVec<[Value; 8]>)
    where
        Self: Sized,
    {
        let (mut operands, mut values) = (Vec::new(), SmallVec::new());
        self.append(&mut operands, &mut values);
        (PtxData::new(mnemonic, operands), values)
    }
}

impl PtxArgs for PtxArg {
    fn append(self, operands: &mut Vec<PtxOperand>, values: &mut SmallVec<[Value; 8]>) {
        operands.extend(self.operands);
        values.extend(self.values);
    }
}

impl PtxArgs for Value {
    fn append(self, operands: &mut Vec<PtxOperand>, values: &mut SmallVec<[Value; 8]>) {
        PtxArg::from(self).append(operands, values);
    }
}

impl PtxArgs for Vec<PtxArg> {
    fn append(self, operands: &mut Vec<PtxOperand>, values: &mut SmallVec<[Value; 8]>) {
        self.into_iter().for_each(|arg| arg.append(operands, values));
    }
}

impl PtxArgs for () {
    fn append(self, _: &mut Vec<PtxOperand>, _: &mut SmallVec<[Value; 8]>) {}
}

macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        #[allow(non_snake_case)]
        impl<$first: Into<PtxArg>, $($rest: Into<PtxArg>),*> PtxArgs for ($first, $($rest,)*) {
            fn append(self, operands: &mut Vec<PtxOperand>, values: &mut SmallVec<[Value; 8]>) {
                let ($first, $($rest,)*) = self;
                $first.into().append(operands, values);
                $($rest.into().append(operands, values);)*
            }
        }
        tuples!($($rest)*);
    };
    () => {};
}
tuples!(A B C D E F G H I J);
