//! Arithmetic and conversion of `tf32` and the formats of 8, 6 and 4 bits, by way of `f32`; to and from it by PTX's conversions where the
//! target has them, else on the bits. Values of 8 bits and fewer are held as `i8` with zeros above them, vectors of them as vectors of `i8`
//! without gaps between the elements.

use super::*;
use warpsmith_ir::{FloatBinary, FloatCC, FloatUnary, Mnemonic, mnemonic};
use warpsmith_isa::{Mod, forms};

/// What the bits of a format of 8 bits or fewer are.
#[derive(Clone, Copy)]
pub(super) struct Small {
    /// The type of two of them in a conversion.
    pair: Mod,
    /// The type that two of them become in a conversion.
    wide: Mod,
    /// How numbers of `f32` are rounded to it.
    pub(super) rounding: Mod,
    /// The bits of the fraction.
    fraction: i64,
    /// What is added to an exponent.
    bias: i64,
    /// The greatest number, as bits.
    pub(super) max: i64,
    /// What NaN becomes.
    pub(super) nan: i64,
}

impl Small {
    pub(super) fn of(scalar: Scalar) -> Option<Small> {
        let row = |pair, fraction, bias, max, nan| {
            Some(Small { pair, wide: Mod::F16x2, rounding: Mod::Rn, fraction, bias, max, nan })
        };
        #[expect(clippy::wildcard_enum_match_arm, reason = "the formats of 8 bits and fewer are six")]
        match scalar {
            Scalar::E4M3 => row(Mod::E4m3x2, 3, 7, 0x7e, 0x7f),
            Scalar::E5M2 => row(Mod::E5m2x2, 2, 15, 0x7b, 0x7f),
            Scalar::E2M3 => row(Mod::E2m3x2, 3, 1, 0x1f, 0x1f),
            Scalar::E3M2 => row(Mod::E3m2x2, 2, 3, 0x1f, 0x1f),
            Scalar::E2M1 => row(Mod::E2m1x2, 1, 1, 0x7, 0x7),
            Scalar::UE8M0 => row(Mod::Ue8m0x2, 0, 127, 0xfe, 0xff).map(|small| Small {
                wide: Mod::Bf16x2,
                rounding: Mod::Rz,
                ..small
            }),
            _ => None,
        }
    }

    /// True for `ue8m0`: powers of two without zero and without sign.
    fn is_power(self) -> bool {
        self.fraction == 0
    }

    /// The format with numbers rounded up to it.
    pub(super) fn rounded_up(self) -> Small {
        Small { rounding: Mod::Rp, ..self }
    }

    /// The place of the sign: behind the greatest number.
    fn sign(self) -> i64 {
        i64::from(64 - self.max.leading_zeros())
    }
}

/// True for a scalar or vector of a format that is held as bytes.
pub(super) fn is_small(ty: Type) -> bool {
    ty.element().is_narrow_float() && ty.element() != Scalar::TF32
}

/// The bytes that a type of [`is_small`] is held in.
pub(super) fn held_as_bytes(ty: Type) -> Type {
    let bytes = ty.bits().div_ceil(8).next_power_of_two();
    Type::vector(Scalar::I8, bytes).unwrap_or(Type::I8)
}

const BYTES: Type = match Type::vector(Scalar::I8, 2) {
    Some(ty) => ty,
    None => Type::INVALID,
};

const HALVES: Type = match Type::vector(Scalar::F16, 2) {
    Some(ty) => ty,
    None => Type::INVALID,
};

const UPPER_HALVES: Type = match Type::vector(Scalar::BF16, 2) {
    Some(ty) => ty,
    None => Type::INVALID,
};

impl Legalizer<'_> {
    /// True if the target has an instruction.
    fn exists(&self, mnemonic: Mnemonic) -> bool {
        forms(&mnemonic).any(|form| form.gate().lowest_version(self.target).is_some())
    }

    pub(super) fn i32_op(&mut self, op: Opcode, x: Value, y: i64) -> Value {
        let y = self.int(Type::I32, y);
        self.raw2(op, x, y)
    }

    /// A value of any float format as `f32`.
    pub(super) fn as_single(&mut self, from: Type, x: Value) -> Value {
        if let Some(small) = Small::of(from.element()) {
            return self.small_to_singles(from, small, &[x])[0];
        }
        if from == Type::TF32 {
            let bits = self.raw_convert(Opcode::Bitcast, Type::I32, x);
            let bits = self.i32_op(Opcode::Band, bits, !0x1fff);
            return self.raw_convert(Opcode::Bitcast, Type::F32, bits);
        }
        match from {
            Type::F32 => x,
            Type::F64 => self.raw_convert(Opcode::Fptrunc, Type::F32, x),
            _ => self.raw_convert(Opcode::Fpext, Type::F32, x),
        }
    }

    /// An `f32` in any float format.
    fn of_single(&mut self, to: Type, x: Value) -> Value {
        if let Some(small) = Small::of(to.element()) {
            return self.singles_to_small(to, small, &[x])[0];
        }
        match to {
            Type::TF32 => self.single_to_tf32(x),
            Type::F32 => x,
            Type::F64 => self.raw_convert(Opcode::Fpext, to, x),
            _ => self.raw_convert(Opcode::Fptrunc, to, x),
        }
    }

    fn single_to_tf32(&mut self, x: Value) -> Value {
        let convert = mnemonic!("cvt.rn.tf32.f32");
        if self.exists(convert) {
            return self.ins().ptx_typed(convert, x, &[Type::TF32]).first();
        }
        let bits = self.raw_convert(Opcode::Bitcast, Type::I32, x);
        let rounded = self.rounded_off(bits, 13);
        let rounded = self.i32_op(Opcode::Band, rounded, !0x1fff);
        let is_nan = self.ins().fcmp(FloatCC::Nan, x, x);
        let nan = self.int(Type::I32, 0x7fff_e000);
        let bits = self.raw3(Opcode::Select, [is_nan, nan, rounded]);
        self.raw_convert(Opcode::Bitcast, Type::TF32, bits)
    }

    /// Bits to which is added what makes cutting off so many of them round to nearest, ties to even.
    fn rounded_off(&mut self, bits: Value, cut: i64) -> Value {
        let odd = self.i32_op(Opcode::Lshr, bits, cut);
        let odd = self.i32_op(Opcode::Band, odd, 1);
        let half = self.i32_op(Opcode::Iadd, odd, (1 << (cut - 1)) - 1);
        self.raw2(Opcode::Iadd, bits, half)
    }

    /// The conversion of two numbers of a format to halves, if the target has it.
    fn widening(&self, small: Small) -> Option<Mnemonic> {
        let convert =
            Mnemonic::new(warpsmith_isa::Opcode::Cvt).with(Mod::Rn).with(small.wide).with(small.pair);
        self.exists(convert).then_some(convert)
    }

    /// The conversion of two `f32` to a format, if the target has it.
    fn narrowing(&self, small: Small) -> Option<Mnemonic> {
        let convert = Mnemonic::new(warpsmith_isa::Opcode::Cvt)
            .with(small.rounding)
            .with(Mod::Satfinite)
            .with(small.pair)
            .with(Mod::F32);
        self.exists(convert).then_some(convert)
    }

    /// Numbers of 8 bits or fewer as `f32`, in pairs where the target converts those.
    fn small_to_singles(&mut self, from: Type, small: Small, all: &[Value]) -> Values {
        let Some(convert) = self.widening(small) else {
            return all.iter().map(|x| self.small_to_single(small, *x)).collect();
        };
        let mut made = Values::new();
        for pair in all.chunks(2) {
            let operand = match (from.element(), pair) {
                (Scalar::E2M1, &[low, high]) => {
                    let four = self.int(Type::I32, 4);
                    let high = self.raw2(Opcode::Shl, high, four);
                    self.raw2(Opcode::Bor, low, high)
                }
                (Scalar::E2M1, _) => pair[0],
                (_, &[low, high]) => self.ins().vec(&[low, high]),
                _ => self.raw_convert(Opcode::Zext, Type::I16, pair[0]),
            };
            self.pair_to_singles(small, convert, operand, pair.len(), &mut made);
        }
        made
    }

    /// One or two numbers of a pair as `f32`.
    fn pair_to_singles(
        &mut self,
        small: Small,
        convert: Mnemonic,
        pair: Value,
        count: usize,
        made: &mut Values,
    ) {
        let halves = if small.wide == Mod::Bf16x2 { UPPER_HALVES } else { HALVES };
        let halves = self.ins().ptx_typed(convert, pair, &[halves]).first();
        for lane in 0..count as u8 {
            let half = self.ins().extract(halves, lane);
            made.push(self.raw_convert(Opcode::Fpext, Type::F32, half));
        }
    }

    /// The exponent and fraction where those of `f32` are, times the power of two between the biases, which is exact.
    fn small_to_single(&mut self, small: Small, x: Value) -> Value {
        let bits = self.raw_convert(Opcode::Zext, Type::I32, x);
        if small.is_power() {
            return self.power_to_single(bits);
        }
        let magnitude = self.i32_op(Opcode::Band, bits, (1 << small.sign()) - 1);
        let moved = self.i32_op(Opcode::Shl, magnitude, 23 - small.fraction);
        let float = self.raw_convert(Opcode::Bitcast, Type::F32, moved);
        let scale = self.ins().f32const(2f32.powi((127 - small.bias) as i32));
        let float = self.raw2(Opcode::Fmul, float, scale);
        let mut made = self.raw_convert(Opcode::Bitcast, Type::I32, float);
        if small.nan != small.max {
            // What is above the greatest number is infinite or NaN: of e4m3 one pattern, of e5m2 as f32 has it.
            let above = self.int(Type::I32, small.max);
            let above = self.raw_icmp(IntCC::Ugt, magnitude, above);
            let one_nan = small.max + 1 == small.nan;
            let special = if one_nan { 0x7fff_ffff } else { 0x7f80_0000 };
            let special = self.i32_op(Opcode::Bor, moved, special);
            made = self.raw3(Opcode::Select, [above, special, made]);
        }
        let sign = self.i32_op(Opcode::Lshr, bits, small.sign());
        let sign = self.i32_op(Opcode::Shl, sign, 31);
        let made = self.raw2(Opcode::Bor, made, sign);
        self.raw_convert(Opcode::Bitcast, Type::F32, made)
    }

    /// Numbers of `f32` in a format of 8 bits or fewer, in pairs where the target converts those.
    pub(super) fn singles_to_small(&mut self, to: Type, small: Small, all: &[Value]) -> Values {
        let mut made = Values::new();
        match self.narrowing(small) {
            None => made.extend(all.iter().map(|x| self.single_to_small(small, *x))),
            Some(convert) => {
                let of_pair = if to.element() == Scalar::E2M1 { Type::I8 } else { BYTES };
                for pair in all.chunks(2) {
                    let both = self.singles_to_pair(convert, of_pair, pair);
                    for lane in 0..pair.len() {
                        made.push(match of_pair == Type::I8 {
                            true => {
                                let place = self.int(Type::I32, 4 * lane as i64);
                                let moved = self.raw2(Opcode::Lshr, both, place);
                                self.masked(Type::I8, 4, moved)
                            }
                            false => self.ins().extract(both, lane as u8),
                        });
                    }
                }
            }
        }
        for value in &made {
            self.types[*value] = Some(to.element_type());
        }
        made
    }

    /// One or two `f32` as a pair, whose upper number is else 0.
    fn singles_to_pair(&mut self, convert: Mnemonic, of_pair: Type, singles: &[Value]) -> Value {
        let high = match singles {
            &[_, high] => high,
            _ => self.ins().f32const(0.0),
        };
        self.ins().ptx_typed(convert, (high, singles[0]), &[of_pair]).first()
    }

    /// Normal numbers by rounding away bits of the fraction; what is below them by a sum whose last place is that of the format.
    fn single_to_small(&mut self, small: Small, x: Value) -> Value {
        let bits = self.raw_convert(Opcode::Bitcast, Type::I32, x);
        let magnitude = self.i32_op(Opcode::Band, bits, 0x7fff_ffff);
        if small.is_power() {
            return self.single_to_power(small, x, magnitude);
        }
        let cut = 23 - small.fraction;
        let rounded = self.rounded_off(magnitude, cut);
        let rounded = self.i32_op(Opcode::Lshr, rounded, cut);
        let normal = self.i32_op(Opcode::Isub, rounded, (127 - small.bias) << small.fraction);

        let place = 2f32.powi((cut + 1 - small.bias) as i32);
        let absolute = self.raw_convert(Opcode::Bitcast, Type::F32, magnitude);
        let at = self.ins().f32const(place);
        let sum = self.raw2(Opcode::Fadd, absolute, at);
        let sum = self.raw_convert(Opcode::Bitcast, Type::I32, sum);
        let tiny = self.i32_op(Opcode::Isub, sum, i64::from(place.to_bits()));

        let least = self.int(Type::I32, (128 - small.bias) << 23);
        let is_tiny = self.raw_icmp(IntCC::Ult, magnitude, least);
        let number = self.raw3(Opcode::Select, [is_tiny, tiny, normal]);
        let number = self.i32_op(Opcode::Umin, number, small.max);
        let sign = self.i32_op(Opcode::Lshr, bits, 31);
        let sign = self.i32_op(Opcode::Shl, sign, small.sign());
        let number = self.raw2(Opcode::Bor, number, sign);
        let is_nan = self.ins().fcmp(FloatCC::Nan, x, x);
        let nan = self.int(Type::I32, small.nan);
        let number = self.raw3(Opcode::Select, [is_nan, nan, number]);
        self.raw_convert(Opcode::Trunc, Type::I8, number)
    }

    /// An operation on numbers of a narrow format. Signs are bits; all else is done in `f32`.
    pub(super) fn narrow(&mut self, op: Opcode, ty: Type, args: &[Value]) -> Value {
        let of_signs = matches!(
            op.class(),
            Class::FloatUnary(FloatUnary::Fneg | FloatUnary::Fabs)
                | Class::FloatBinary(FloatBinary::Fcopysign)
        );
        let made = if of_signs {
            self.narrow_sign(op, ty, args)
        } else {
            let wide: Values = args.iter().map(|arg| self.as_single(ty, *arg)).collect();
            let made = match *wide {
                [x] => self.unary(op, Type::F32, x),
                [x, y] => self.binary(op, Type::F32, x, y),
                [x, y, z, ..] => self.fma(Type::F32, [x, y, z]),
                [] => return Value::from_u32(0),
            };
            self.of_single(ty, made)
        };
        if held(ty) != ty {
            self.types[made] = Some(ty);
        }
        made
    }

    fn narrow_sign(&mut self, op: Opcode, ty: Type, args: &[Value]) -> Value {
        if Small::of(ty.element()).is_some_and(Small::is_power) {
            return self.copied(args[0]);
        }
        let int = if ty == Type::TF32 { Type::I32 } else { Type::I8 };
        let sign = Small::of(ty.element()).map_or(1 << 31, |small| 1i64 << small.sign());
        let bits: Values = (args.iter())
            .map(|arg| if ty == Type::TF32 { self.raw_convert(Opcode::Bitcast, int, *arg) } else { *arg })
            .collect();
        let (sign, below) = (self.int(int, sign), self.int(int, sign - 1));
        let made = match *bits {
            [x] if op == Opcode::Fneg => self.raw2(Opcode::Bxor, x, sign),
            [x] => self.raw2(Opcode::Band, x, below),
            [x, y, ..] => {
                let (x, y) = (self.raw2(Opcode::Band, x, below), self.raw2(Opcode::Band, y, sign));
                self.raw2(Opcode::Bor, x, y)
            }
            [] => return Value::from_u32(0),
        };
        if ty == Type::TF32 { self.raw_convert(Opcode::Bitcast, ty, made) } else { made }
    }

    pub(super) fn narrow_fcmp(&mut self, cond: FloatCC, ty: Type, x: Value, y: Value) -> Value {
        let (x, y) = (self.as_single(ty, x), self.as_single(ty, y));
        self.ins().fcmp(cond, x, y)
    }

    /// A conversion from or to a narrow format. `None` if it is none.
    pub(super) fn narrow_conversion(
        &mut self,
        op: Conversion,
        from: Type,
        to: Type,
        x: Value,
    ) -> Option<Value> {
        if !from.element().is_narrow_float() && !to.element().is_narrow_float() {
            return None;
        }
        Some(match op {
            Conversion::Fptrunc | Conversion::Fpext if to.is_vector() => {
                self.narrow_lanes(from, to, Small::of(to.element()), x)
            }
            Conversion::Fptrunc | Conversion::Fpext => {
                let wide = self.as_single(from, x);
                self.of_single(to, wide)
            }
            Conversion::Sitofp | Conversion::Uitofp if !to.is_vector() => {
                let wide = self.convert_scalar(op, from, Type::F32, x);
                self.of_single(to, wide)
            }
            Conversion::Fptosi | Conversion::Fptoui if !to.is_vector() => {
                let wide = self.as_single(from, x);
                self.convert_scalar(op, Type::F32, to, wide)
            }
            // Vectors follow their elements; the others look at bits only.
            Conversion::Sitofp
            | Conversion::Uitofp
            | Conversion::Fptosi
            | Conversion::Fptoui
            | Conversion::Trunc
            | Conversion::Zext
            | Conversion::Sext
            | Conversion::Bitcast
            | Conversion::Inttoptr
            | Conversion::Addrspacecast
            | Conversion::Splat => return None,
        })
    }

    /// A conversion between vectors of floats, to those of 8 bits or fewer as `narrow` says. Pairs of bytes are converted as they lie in the vector.
    pub(super) fn narrow_lanes(&mut self, from: Type, to: Type, narrow: Option<Small>, x: Value) -> Value {
        let lanes = to.lanes() as usize;
        let whole_pairs = |ty: Type| {
            ty.element_type().bits() == 8 && lanes.is_power_of_two() && held(ty).lanes() == ty.lanes()
        };
        let pairs = Type::vector(Scalar::I16, lanes as u32 / 2).unwrap_or(Type::I16);
        let small = Small::of(from.element());
        let wide = match (small, small.and_then(|small| self.widening(small))) {
            (Some(small), Some(convert)) if whole_pairs(from) => {
                let whole = self.raw_convert(Opcode::Bitcast, pairs, x);
                let mut made = Values::new();
                for n in 0..lanes / 2 {
                    let pair = if lanes == 2 { whole } else { self.ins().extract(whole, n as u8) };
                    self.pair_to_singles(small, convert, pair, 2, &mut made);
                }
                made
            }
            (Some(small), _) => {
                let elements = self.elements(x);
                self.small_to_singles(from, small, &elements)
            }
            (None, _) => {
                let elements = self.elements(x);
                elements.iter().map(|x| self.as_single(from.element_type(), *x)).collect()
            }
        };
        let small = narrow;
        let made = match (small, small.and_then(|small| self.narrowing(small))) {
            (Some(_), Some(convert)) if whole_pairs(to) => {
                let all: Values =
                    wide.chunks(2).map(|pair| self.singles_to_pair(convert, Type::I16, pair)).collect();
                let whole = if lanes == 2 { all[0] } else { self.ins().vec(&all) };
                let made = self.raw_convert(Opcode::Bitcast, held(to), whole);
                self.types[made] = Some(to);
                return made;
            }
            (Some(small), _) => self.singles_to_small(to, small, &wide),
            (None, _) => wide.iter().map(|x| self.of_single(to.element_type(), *x)).collect(),
        };
        self.build(to, &made)
    }

    /// The elements of a vector that is held as bytes.
    pub(super) fn small_elements(&mut self, ty: Type, x: Value) -> Values {
        let (bits, held) = (ty.element_type().bits(), held(ty));
        (0..ty.lanes())
            .map(|lane| {
                let (byte, place) = (lane * bits / 8, lane * bits % 8);
                let at = |this: &mut Self, byte: u32| match held.is_vector() {
                    true => this.ins().extract(x, byte as u8),
                    false => x,
                };
                let low = at(self, byte);
                let shift = self.int(Type::I32, place.into());
                let mut element = match (bits, place) {
                    // A value of its own, whose type in the source is another.
                    (8, _) | (_, 0) => low,
                    _ => self.raw2(Opcode::Lshr, low, shift),
                };
                if place + bits > 8 {
                    let up = self.int(Type::I32, i64::from(8 - place));
                    let high = at(self, byte + 1);
                    let high = self.raw2(Opcode::Shl, high, up);
                    element = self.raw2(Opcode::Bor, element, high);
                }
                let element = if bits == 8 { element } else { self.masked(Type::I8, bits, element) };
                self.types[element] = Some(ty.element_type());
                element
            })
            .collect()
    }

    /// The bytes that hold a vector of these elements, which are themselves bytes.
    pub(super) fn small_bytes(&mut self, ty: Type, elements: &[Value]) -> Value {
        let (bits, held) = (ty.element_type().bits(), held(ty));
        let mut bytes: SmallVec<[Option<Value>; 8]> = SmallVec::from_elem(None, held.lanes() as usize);
        for (lane, &element) in elements.iter().enumerate() {
            let (byte, place) = (lane * bits as usize / 8, lane as u32 * bits % 8);
            let up = self.int(Type::I32, place.into());
            let low = if place == 0 { element } else { self.raw2(Opcode::Shl, element, up) };
            let mut put = |this: &mut Self, byte: usize, part: Value| {
                let Some(place) = bytes.get_mut(byte) else { return };
                *place = Some(place.map_or(part, |all| this.raw2(Opcode::Bor, all, part)));
            };
            put(self, byte, low);
            if place + bits > 8 {
                let down = self.int(Type::I32, i64::from(8 - place));
                let high = self.raw2(Opcode::Lshr, element, down);
                put(self, byte + 1, high);
            }
        }
        let zero = self.int(Type::I8, 0);
        let bytes: Values = bytes.into_iter().map(|byte| byte.unwrap_or(zero)).collect();
        if held.is_vector() { self.ins().vec(&bytes) } else { self.copied(bytes[0]) }
    }
}
