//! Vectors: element by element, or packed where PTX has instructions for several.

use super::*;
use warpsmith_ir::{FloatCC, Mnemonic, mnemonic};

impl Legalizer<'_> {
    /// The elements of a vector, each of the element's type.
    pub(super) fn elements(&mut self, x: Value) -> Values {
        if let Some(parts) = self.parts.get(&x) {
            return parts.clone();
        }
        let ty = self.ty(x);
        let held = self.func.dfg.ty(x);
        let elements: Values = self.behind(x, |this| {
            if super::narrow::is_small(ty) {
                return this.small_elements(ty, x);
            }
            (0..ty.lanes())
                .map(|lane| {
                    if ty.element() == Scalar::I1 {
                        let place = this.int(Type::I32, lane.into());
                        let moved = this.raw2(Opcode::Lshr, x, place);
                        return this.raw_convert(Opcode::Trunc, Type::I1, moved);
                    }
                    let element = this.ins().extract(x, lane as u8);
                    match held.element() != ty.element() {
                        true => this.raw_convert(Opcode::Inttoptr, ty.element_type(), element),
                        false => element,
                    }
                })
                .collect()
        });
        self.parts.insert(x, elements.clone());
        elements
    }

    /// The elements of an operand of an operation on vectors of a type, which may be one value for all.
    pub(super) fn spread(&mut self, ty: Type, x: Value) -> Values {
        match self.ty(x).is_vector() {
            true => self.elements(x),
            false => SmallVec::from_elem(x, ty.lanes() as usize),
        }
    }

    /// The vector of a type of these elements.
    pub(super) fn build(&mut self, ty: Type, elements: &[Value]) -> Value {
        let held = held(ty);
        let made = if ty.element() == Scalar::I1 {
            let mut all = self.int(held, 0);
            for (lane, &element) in elements.iter().enumerate() {
                let bit = self.raw_convert(Opcode::Zext, held, element);
                let place = self.int(Type::I32, lane as i64);
                let moved = if lane == 0 { bit } else { self.raw2(Opcode::Shl, bit, place) };
                all = if lane == 0 { moved } else { self.raw2(Opcode::Bor, all, moved) };
            }
            all
        } else if super::narrow::is_small(ty) {
            self.small_bytes(ty, elements)
        } else {
            let mut list: Values = Values::from_slice(elements);
            list.resize(held.lanes() as usize, elements[0]);
            if ty.element_type().is_ptr() {
                list = list.into_iter().map(|element| self.raw1(Opcode::Ptrtoint, element)).collect();
            }
            self.ins().vec(&list)
        };
        if held != ty {
            self.types[made] = Some(ty);
        }
        self.parts.insert(made, Values::from_slice(elements));
        made
    }

    pub(super) fn unary_lanes(&mut self, op: Opcode, ty: Type, x: Value) -> Value {
        if op == Opcode::Bnot && self.fills_words(ty) {
            return self.by_words(ty, &[x], |this, _, words| this.raw1(Opcode::Bnot, words[0]));
        }
        let of_halves = matches!(ty.element(), Scalar::F16 | Scalar::BF16) && self.fills_words(ty);
        if let Some((op, mask)) = sign_of_halves(op).filter(|_| of_halves) {
            return self.by_words(ty, &[x], |this, _, words| {
                let mask = this.int(Type::I32, mask);
                this.raw2(op, words[0], mask)
            });
        }
        let made: Values =
            self.elements(x).into_iter().map(|element| self.unary(op, ty.element_type(), element)).collect();
        self.build(ty, &made)
    }

    pub(super) fn binary_lanes(&mut self, op: Opcode, ty: Type, x: Value, y: Value) -> Value {
        if matches!(op, Opcode::Band | Opcode::Bor | Opcode::Bxor) && self.fills_words(ty) {
            return self.by_words(ty, &[x, y], |this, _, words| this.raw2(op, words[0], words[1]));
        }
        if matches!(op, Opcode::Iadd | Opcode::Isub) && ty.element() == Scalar::I8 && self.fills_words(ty) {
            return self.by_words(ty, &[x, y], |this, _, words| this.add_bytes(op, words[0], words[1]));
        }
        if let Some(mnemonic) = packed(op, ty, self.target.sm) {
            return self.by_pairs(ty, &[x, y], mnemonic);
        }
        let (x, y) = (self.spread(ty, x), self.spread(ty, y));
        let made: Values =
            x.iter().zip(&y).map(|(x, y)| self.binary(op, ty.element_type(), *x, *y)).collect();
        self.build(ty, &made)
    }

    /// The sum or difference of four bytes: of their low seven bits, which cannot reach the next one, and the highest apart.
    fn add_bytes(&mut self, op: Opcode, x: Value, y: Value) -> Value {
        let high = self.int(Type::I32, 0x8080_8080u32 as i32 as i64);
        let low = self.int(Type::I32, 0x7f7f_7f7f);
        let difference = op == Opcode::Isub;
        // A difference borrows from a high bit that is set, a sum carries into one that is clear.
        let a = match difference {
            true => self.raw2(Opcode::Bor, x, high),
            false => self.raw2(Opcode::Band, x, low),
        };
        let b = self.raw2(Opcode::Band, y, low);
        let sum = self.raw2(op, a, b);
        let mut highest = self.raw2(Opcode::Bxor, x, y);
        if difference {
            highest = self.raw1(Opcode::Bnot, highest);
        }
        let highest = self.raw2(Opcode::Band, highest, high);
        self.raw2(Opcode::Bxor, sum, highest)
    }

    pub(super) fn fma(&mut self, ty: Type, args: [Value; 3]) -> Value {
        if !ty.is_vector() {
            return match ty.element().is_narrow_float() {
                true => self.narrow(Opcode::Fma, ty, &args),
                false => self.raw3(Opcode::Fma, args),
            };
        }
        if let Some(mnemonic) = packed(Opcode::Fma, ty, self.target.sm) {
            return self.by_pairs(ty, &args, mnemonic);
        }
        let [x, y, z] = args.map(|arg| self.elements(arg));
        let made: Values =
            (0..ty.lanes() as usize).map(|n| self.fma(ty.element_type(), [x[n], y[n], z[n]])).collect();
        self.build(ty, &made)
    }

    pub(super) fn icmp_lanes(&mut self, cond: IntCC, ty: Type, x: Value, y: Value) -> Value {
        let (x, y) = (self.elements(x), self.elements(y));
        let made: Values =
            x.iter().zip(&y).map(|(x, y)| self.icmp(cond, ty.element_type(), *x, *y)).collect();
        self.build_bools(&made)
    }

    pub(super) fn fcmp(&mut self, cond: FloatCC, ty: Type, x: Value, y: Value) -> Value {
        if !ty.is_vector() {
            return match ty.element().is_narrow_float() {
                true => self.narrow_fcmp(cond, ty, x, y),
                false => self.ins().fcmp(cond, x, y),
            };
        }
        let (x, y) = (self.elements(x), self.elements(y));
        let made: Values =
            x.iter().zip(&y).map(|(x, y)| self.fcmp(cond, ty.element_type(), *x, *y)).collect();
        self.build_bools(&made)
    }

    fn build_bools(&mut self, bools: &[Value]) -> Value {
        let ty = Type::vector(Scalar::I1, bools.len() as u32).unwrap_or(Type::I1);
        self.build(ty, bools)
    }

    // Packed forms.

    /// True if a vector as it is held is whole words of elements below 32 bits.
    fn fills_words(&self, ty: Type) -> bool {
        let held = held(ty);
        held.is_vector() && (8..32).contains(&held.element_type().bits()) && held.bits().is_multiple_of(32)
    }

    /// An operation on vectors as one on their words.
    fn by_words(
        &mut self,
        ty: Type,
        args: &[Value],
        mut make: impl FnMut(&mut Self, usize, &[Value]) -> Value,
    ) -> Value {
        let held = held(ty);
        let count = held.bits() / 32;
        let words = Type::vector(Scalar::I32, count).unwrap_or(Type::I32);
        let wide: Values = args.iter().map(|arg| self.raw_convert(Opcode::Bitcast, words, *arg)).collect();
        let made: Values = (0..count as usize)
            .map(|n| {
                let of_args: Values = wide
                    .iter()
                    .map(|wide| if count == 1 { *wide } else { self.ins().extract(*wide, n as u8) })
                    .collect();
                make(self, n, &of_args)
            })
            .collect();
        let whole = if count == 1 { made[0] } else { self.ins().vec(&made) };
        let result = self.raw_convert(Opcode::Bitcast, held, whole);
        if held != ty {
            self.types[result] = Some(ty);
        }
        result
    }

    /// An operation on vectors by an instruction on pairs of elements.
    fn by_pairs(&mut self, ty: Type, args: &[Value], mnemonic: Mnemonic) -> Value {
        let pair = Type::vector(ty.element(), 2).unwrap_or(ty);
        if ty.element_type().bits() < 32 {
            return self.by_words(ty, args, |this, _, words| {
                let pairs: Vec<warpsmith_ir::PtxArg> =
                    words.iter().map(|word| this.raw_convert(Opcode::Bitcast, pair, *word).into()).collect();
                let made = this.ins().ptx_typed(mnemonic, pairs, &[pair]).first();
                this.raw_convert(Opcode::Bitcast, Type::I32, made)
            });
        }
        let elements: SmallVec<[Values; 3]> = args.iter().map(|arg| self.elements(*arg)).collect();
        let mut all = Values::new();
        for n in (0..ty.lanes() as usize).step_by(2) {
            // The last element of an odd number denotes both.
            let other = (n + 1).min(ty.lanes() as usize - 1);
            let pairs: Vec<warpsmith_ir::PtxArg> =
                elements.iter().map(|of_arg| self.ins().vec(&[of_arg[n], of_arg[other]]).into()).collect();
            let made = self.ins().ptx_typed(mnemonic, pairs, &[pair]).first();
            all.extend([self.ins().extract(made, 0), self.ins().extract(made, 1)]);
        }
        all.truncate(ty.lanes() as usize);
        self.build(ty, &all)
    }

    /// What wraps and whether it did, of numbers or of vectors of them.
    pub(super) fn overflowing_lanes(&mut self, inst: Inst, op: Overflow, to: Type, [x, y]: [Value; 2]) {
        if !to.is_vector() {
            let both = self.overflowing(op, to, x, y);
            return self.replace_all(inst, &both);
        }
        let (x, y) = (self.elements(x), self.elements(y));
        let (mut values, mut wrapped) = (Values::new(), Values::new());
        for (x, y) in x.into_iter().zip(y) {
            let [value, over] = self.overflowing(op, to.element_type(), x, y);
            values.push(value);
            wrapped.push(over);
        }
        let both = [self.build(to, &values), self.build_bools(&wrapped)];
        self.replace_all(inst, &both);
    }

    pub(super) fn bit_field_insert_lanes(&mut self, ty: Type, args: [Value; 4]) -> Value {
        if !ty.is_vector() {
            return self.bit_field_insert(ty, args);
        }
        let lists = args.map(|arg| self.spread(ty, arg));
        let made: Values = (0..ty.lanes() as usize)
            .map(|n| self.bit_field_insert(ty.element_type(), [0, 1, 2, 3].map(|arg: usize| lists[arg][n])))
            .collect();
        self.build(ty, &made)
    }

    /// Zero of any scalar type.
    pub(super) fn zero(&mut self, ty: Type) -> Value {
        if super::narrow::is_small(ty) {
            let zero = self.int(Type::I8, 0);
            self.types[zero] = Some(ty);
            return zero;
        }
        if ty.is_float() {
            return self.ins().fconst(ty, 0);
        }
        if ty.is_ptr() {
            let zero = self.int(Type::I64, 0);
            return self.raw_convert(Opcode::Inttoptr, ty, zero);
        }
        self.bits(ty, 0)
    }
}

/// The instruction of PTX that does an operation on two elements at once, where the target has one.
#[expect(clippy::wildcard_enum_match_arm, reason = "what has none is done element by element")]
pub(crate) fn packed(op: Opcode, ty: Type, sm: u16) -> Option<Mnemonic> {
    let (half, since) = match ty.element() {
        Scalar::F16 => (true, 53),
        Scalar::BF16 => (false, 90),
        Scalar::F32 if sm >= 100 && ty.lanes() >= 2 => {
            return match op {
                Opcode::Fadd => Some(mnemonic!("add.rn.f32x2")),
                Opcode::Fsub => Some(mnemonic!("sub.rn.f32x2")),
                Opcode::Fmul => Some(mnemonic!("mul.rn.f32x2")),
                Opcode::Fma => Some(mnemonic!("fma.rn.f32x2")),
                _ => None,
            };
        }
        Scalar::I16 if sm >= 90 => {
            return match op {
                Opcode::Iadd => Some(mnemonic!("add.u16x2")),
                Opcode::Smin => Some(mnemonic!("min.s16x2")),
                Opcode::Smax => Some(mnemonic!("max.s16x2")),
                Opcode::Umin => Some(mnemonic!("min.u16x2")),
                Opcode::Umax => Some(mnemonic!("max.u16x2")),
                _ => None,
            };
        }
        _ => return None,
    };
    let (mnemonic, since) = match (op, half) {
        (Opcode::Fadd, true) => (mnemonic!("add.rn.f16x2"), since),
        (Opcode::Fsub, true) => (mnemonic!("sub.rn.f16x2"), since),
        (Opcode::Fmul, true) => (mnemonic!("mul.rn.f16x2"), since),
        (Opcode::Fma, true) => (mnemonic!("fma.rn.f16x2"), since),
        (Opcode::Fmin, true) => (mnemonic!("min.f16x2"), 80),
        (Opcode::Fmax, true) => (mnemonic!("max.f16x2"), 80),
        (Opcode::Fadd, false) => (mnemonic!("add.rn.bf16x2"), since),
        (Opcode::Fsub, false) => (mnemonic!("sub.rn.bf16x2"), since),
        (Opcode::Fmul, false) => (mnemonic!("mul.rn.bf16x2"), since),
        (Opcode::Fma, false) => (mnemonic!("fma.rn.bf16x2"), 80),
        (Opcode::Fmin, false) => (mnemonic!("min.bf16x2"), 80),
        (Opcode::Fmax, false) => (mnemonic!("max.bf16x2"), 80),
        _ => return None,
    };
    (sm >= since).then_some(mnemonic)
}

/// The operation with a mask of 32 bits that one on the signs of two floats of 16 bits is.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other operation is one on signs alone")]
pub(crate) fn sign_of_halves(op: Opcode) -> Option<(Opcode, i64)> {
    let (op, mask) = match op {
        Opcode::Fneg => (Opcode::Bxor, 0x8000_8000u32),
        Opcode::Fabs => (Opcode::Band, 0x7fff_7fff),
        _ => return None,
    };
    Some((op, Type::I32.normalize(mask.into())))
}
