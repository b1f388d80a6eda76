//! Conversions.

use super::integer::Int;
use super::{Fallible, Kind, PLAIN, Translator};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use warpsmith_ir::{Conversion, Type};

impl Translator<'_, '_, '_> {
    pub(super) fn convert(&mut self, op: Conversion, from: Kind, x: Value, to: Kind) -> Fallible<Value> {
        if matches!(op, Conversion::Fptrunc | Conversion::Fpext | Conversion::Fptosi | Conversion::Fptoui) {
            self.is_computed(from)?;
        }
        if matches!(op, Conversion::Fptrunc | Conversion::Fpext | Conversion::Sitofp | Conversion::Uitofp) {
            self.is_computed(to)?;
        }
        Ok(match (op, from, to) {
            (Conversion::Trunc | Conversion::Zext, Kind::Int(from), Kind::Int(to)) => {
                let resized = self.resized(from.ty, x, to.ty);
                self.cut(to, resized)
            }
            (Conversion::Sext, Kind::Int(from), Kind::Int(to)) => {
                let signed = self.signed(from, x);
                let resized = self.resized_signed(from.ty, signed, to.ty);
                self.cut(to, resized)
            }
            (Conversion::Fptrunc | Conversion::Fpext, from, to) => self.float_to_float(from, x, to)?,
            (Conversion::Sitofp | Conversion::Uitofp, Kind::Int(from), to) => {
                self.integer_to_float(op == Conversion::Sitofp, from, x, to)?
            }
            (Conversion::Fptosi | Conversion::Fptoui, from, Kind::Int(to)) => {
                self.float_to_integer(op == Conversion::Fptosi, from, x, to)?
            }
            _ => return self.refuse("a conversion of these types"),
        })
    }

    fn float_to_float(&mut self, from: Kind, x: Value, to: Kind) -> Fallible<Value> {
        let wide = match from {
            Kind::Half(code) => self.widened(code, x)?,
            Kind::Single => self.b.ins().fpromote(types::F64, x),
            Kind::Double | Kind::Int(_) => x,
        };
        Ok(match to {
            Kind::Half(code) => self.narrowed(code, wide)?,
            Kind::Single => self.b.ins().fdemote(types::F32, wide),
            Kind::Double | Kind::Int(_) => wide,
        })
    }

    fn integer_to_float(&mut self, signed: bool, from: Int, x: Value, to: Kind) -> Fallible<Value> {
        let x = if signed { self.signed(from, x) } else { x };
        let code = match to {
            Kind::Half(code) => code,
            Kind::Single => 2,
            Kind::Double | Kind::Int(_) => 3,
        };
        if from.bits <= 64 && code >= 2 {
            let ty = to.ty();
            let x = match signed {
                true => self.resized_signed(from.ty, x, types::I64),
                false => self.resized(from.ty, x, types::I64),
            };
            return Ok(match signed {
                true => self.b.ins().fcvt_from_sint(ty, x),
                false => self.b.ins().fcvt_from_uint(ty, x),
            });
        }
        let wide = match signed {
            true => self.resized_signed(from.ty, x, types::I128),
            false => self.resized(from.ty, x, types::I128),
        };
        let (low, high) = self.b.ins().isplit(wide);
        let (sign, number) = (self.number(signed.into()), self.number(code));
        let bits = self.helped("wide_to_float", &[sign, low, high, number], types::I64)?;
        Ok(match to {
            Kind::Double | Kind::Int(_) => self.b.ins().bitcast(types::F64, MemFlagsData::new(), bits),
            Kind::Single => {
                let bits = self.b.ins().ireduce(types::I32, bits);
                self.b.ins().bitcast(types::F32, MemFlagsData::new(), bits)
            }
            Kind::Half(_) => self.b.ins().ireduce(types::I32, bits),
        })
    }

    fn float_to_integer(&mut self, signed: bool, from: Kind, x: Value, to: Int) -> Fallible<Value> {
        let x = match from {
            Kind::Half(code) => self.widened(code, x)?,
            Kind::Single | Kind::Double | Kind::Int(_) => x,
        };
        if to.bits > 64 {
            let x = if from == Kind::Single { self.b.ins().fpromote(types::F64, x) } else { x };
            let (at, sign, bits) = (self.cells(1), self.number(signed.into()), self.number(to.bits));
            self.helper("float_to_wide", &[sign, x, bits, at], None)?;
            return Ok(self.b.ins().load(types::I128, PLAIN, at, 0));
        }
        // To 64 bits, then to the range of the type.
        let whole = Int::of_bits(64);
        let result = if signed {
            let all = self.b.ins().fcvt_to_sint_sat(types::I64, x);
            let most = (1i128 << (to.bits - 1)) - 1;
            let (least, most) = (self.int(whole, !most as u128), self.int(whole, most as u128));
            let up = self.b.ins().smax(all, least);
            self.b.ins().smin(up, most)
        } else {
            let all = self.b.ins().fcvt_to_uint_sat(types::I64, x);
            let most = self.int(whole, (1u128 << to.bits) - 1);
            self.b.ins().umin(all, most)
        };
        let result = self.resized(types::I64, result, to.ty);
        Ok(self.cut(to, result))
    }

    /// The bits of a scalar as an integer.
    pub(super) fn bits(&mut self, kind: Kind, x: Value) -> Value {
        match kind {
            Kind::Int(_) | Kind::Half(_) => x,
            Kind::Single => self.b.ins().bitcast(types::I32, MemFlagsData::new(), x),
            Kind::Double => self.b.ins().bitcast(types::I64, MemFlagsData::new(), x),
        }
    }

    /// The scalar of some bits, which are in the type that [`Translator::bits`] gives.
    pub(super) fn of_bits(&mut self, kind: Kind, x: Value) -> Value {
        match kind {
            Kind::Int(_) | Kind::Half(_) => x,
            Kind::Single => self.b.ins().bitcast(types::F32, MemFlagsData::new(), x),
            Kind::Double => self.b.ins().bitcast(types::F64, MemFlagsData::new(), x),
        }
    }

    /// The same bits as another type, by way of words of 64 bits.
    pub(super) fn bitcast(&mut self, from: Type, parts: &[Value], to: Type) -> Vec<Value> {
        let width = from.element_type().bits();
        let kind = Kind::of(from.element());
        let zero = self.b.ins().iconst(types::I64, 0);
        let mut words = vec![zero; from.bits().div_ceil(64) as usize];
        for (n, part) in parts.iter().enumerate() {
            let bits = self.bits(kind, *part);
            let at = n as u32 * width;
            let ty = self.b.func.dfg.value_type(bits);
            let pieces = match ty.bits() {
                128 => {
                    let (low, high) = self.b.ins().isplit(bits);
                    vec![low, high]
                }
                _ => vec![self.resized(ty, bits, types::I64)],
            };
            for (m, piece) in pieces.into_iter().enumerate() {
                let at = at + 64 * m as u32;
                let (word, shift) = ((at / 64) as usize, at % 64);
                if word >= words.len() {
                    continue;
                }
                let by = self.number(shift);
                let up = self.b.ins().ishl(piece, by);
                words[word] = self.b.ins().bor(words[word], up);
                if shift != 0 && word + 1 < words.len() {
                    let by = self.number(64 - shift);
                    let rest = self.b.ins().ushr(piece, by);
                    words[word + 1] = self.b.ins().bor(words[word + 1], rest);
                }
            }
        }
        let (width, kind) = (to.element_type().bits(), Kind::of(to.element()));
        let int = Int::of_bits(width);
        let word_from = |t: &mut Self, at: u32| {
            let (word, shift) = ((at / 64) as usize, at % 64);
            let Some(&low) = words.get(word) else { return zero };
            let by = t.number(shift);
            let low = t.b.ins().ushr(low, by);
            match words.get(word + 1) {
                Some(&high) if shift != 0 => {
                    let by = t.number(64 - shift);
                    let high = t.b.ins().ishl(high, by);
                    t.b.ins().bor(low, high)
                }
                _ => low,
            }
        };
        let mut result = Vec::new();
        for n in 0..to.lanes() {
            let at = n * width;
            let low = word_from(self, at);
            let bits = if int.ty == types::I128 {
                let high = word_from(self, at + 64);
                self.b.ins().iconcat(low, high)
            } else {
                self.resized(types::I64, low, int.ty)
            };
            let bits = self.cut(int, bits);
            result.push(self.of_bits(kind, bits));
        }
        result
    }
}
