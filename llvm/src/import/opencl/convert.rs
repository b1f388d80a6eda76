//! Conversions by name, `convert_int4_sat_rte` (OpenCL C specification, 6.4).

use super::mangled::Element;
use super::{Operands, missing};
use crate::error::Result;
use crate::import::function::{Builder, Values};
use warpsmith_ir::{InstBuilder, IntCC, Opcode, Type, Value};

/// What a name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conversion {
    to: Element,
    saturates: bool,
    rounding: Option<Rounding>,
}

/// The end of a name: `_rte`, `_rtz`, `_rtp`, `_rtn`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    Even,
    Zero,
    Up,
    Down,
}

impl Rounding {
    /// A name without the rounding that it ends with; `None` where it ends with another than there are.
    pub(super) fn split(name: &str) -> Option<(&str, Option<Rounding>)> {
        let Some((rest, mode)) = name.rsplit_once("_rt") else { return Some((name, None)) };
        let mode = match mode {
            "e" => Rounding::Even,
            "z" => Rounding::Zero,
            "p" => Rounding::Up,
            "n" => Rounding::Down,
            _ => return None,
        };
        Some((rest, Some(mode)))
    }
}

impl Conversion {
    /// The conversion of a name, if it is one.
    pub(super) fn of(name: &str) -> Option<Conversion> {
        let rest = name.strip_prefix("convert_")?;
        let (rest, rounding) = Rounding::split(rest)?;
        let (rest, saturates) = match rest.strip_suffix("_sat") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let to = match rest.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "char" | "short" | "int" | "long" => Element::Signed,
            "uchar" | "ushort" | "uint" | "ulong" => Element::Unsigned,
            "float" | "double" | "half" => Element::Float,
            _ => return None,
        };
        Some(Conversion { to, saturates, rounding })
    }
}

impl Builder<'_, '_, '_> {
    pub(super) fn converted(&mut self, conversion: Conversion, operands: &Operands) -> Result<Values> {
        let (operand, to) = (operands.vector(0)?, operands.result()?);
        operand.values.iter().map(|x| self.convert(conversion, *x, operand.element, to)).collect()
    }

    fn convert(&mut self, conversion: Conversion, x: Value, from: Element, to: Type) -> Result<Value> {
        let of = self.type_of(x);
        if conversion.to == Element::Float
            && let Some(mode) = conversion.rounding
        {
            return self.rounded_float(x, from, to, mode);
        }
        Ok(match (from, conversion.to) {
            (Element::Float, Element::Float) if of.bits() > to.bits() => self.b.ins().fptrunc(to, x),
            (Element::Float, Element::Float) if of.bits() < to.bits() => self.b.ins().fpext(to, x),
            (Element::Float, Element::Float) => x,
            (Element::Float, Element::Signed | Element::Unsigned) => {
                let op = match conversion.rounding {
                    None | Some(Rounding::Zero) => Opcode::Ftrunc,
                    Some(Rounding::Even) => Opcode::Fnearest,
                    Some(Rounding::Up) => Opcode::Fceil,
                    Some(Rounding::Down) => Opcode::Ffloor,
                };
                let whole = self.float_op(op, &[x], false);
                let values = self.float_to_integer(whole, to.bits(), conversion.to == Element::Signed)?;
                values.first().copied().ok_or_else(missing)?
            }
            (Element::Signed, Element::Float) => self.b.ins().sitofp(to, x),
            (Element::Unsigned, Element::Float) => self.b.ins().uitofp(to, x),
            (Element::Signed | Element::Unsigned, Element::Signed | Element::Unsigned) => {
                let x = if conversion.saturates {
                    self.saturated(x, from == Element::Signed, to.bits(), conversion.to == Element::Signed)
                } else {
                    x
                };
                if from == Element::Signed { self.resize_signed(x, to) } else { self.resize(x, to) }
            }
            (Element::Other, _) | (_, Element::Other) => return Err(missing()),
        })
    }

    /// A number as a float, rounded as the name says.
    pub(super) fn rounded_float(
        &mut self,
        x: Value,
        from: Element,
        to: Type,
        mode: Rounding,
    ) -> Result<Value> {
        let (sign, x) = match from {
            Element::Float if self.type_of(x).bits() <= to.bits() => {
                return Ok(if self.type_of(x) == to { x } else { self.b.ins().fpext(to, x) });
            }
            Element::Float => ('f', x),
            // PTX converts from words.
            Element::Signed if self.type_of(x).bits() < 32 => ('s', self.b.ins().sext(Type::I32, x)),
            Element::Unsigned if self.type_of(x).bits() < 32 => ('u', self.b.ins().zext(Type::I32, x)),
            Element::Signed => ('s', x),
            Element::Unsigned => ('u', x),
            Element::Other => return Err(missing()),
        };
        // What is exact has no rounding.
        if sign != 'f' && to == Type::F64 && self.type_of(x).bits() <= 32 {
            return Ok(if sign == 's' { self.b.ins().sitofp(to, x) } else { self.b.ins().uitofp(to, x) });
        }
        let mode = match mode {
            Rounding::Even => "rn",
            Rounding::Zero => "rz",
            Rounding::Up => "rp",
            Rounding::Down => "rm",
        };
        let (to_bits, bits) = (to.bits(), self.type_of(x).bits());
        self.ptx_one(&format!("cvt.{mode}.f{to_bits}.{sign}{bits}"), vec![x.into()], to)
    }

    /// An integer, or what is nearest to it among those of so many bits.
    fn saturated(&mut self, mut x: Value, signed: bool, bits: u32, to_signed: bool) -> Value {
        let of = self.type_of(x).bits();
        if signed && !to_signed {
            let ty = self.type_of(x);
            let zero = self.b.ins().iconst(ty, 0);
            x = self.b.ins().smax(x, zero);
        }
        // The bits that a magnitude may have.
        let (has, may) = (of - u32::from(signed), bits - u32::from(to_signed));
        if has <= may {
            return x;
        }
        let ty = self.type_of(x);
        let most = self.b.ins().iconst_bits(ty, u128::MAX >> (128 - may));
        if !signed {
            return self.b.ins().umin(x, most);
        }
        let x = self.b.ins().smin(x, most);
        if !to_signed {
            return x;
        }
        let least = self.b.ins().bnot(most);
        let below = self.b.ins().icmp(IntCC::Slt, x, least);
        self.b.ins().select(below, least, x)
    }
}

#[cfg(test)]
mod tests {
    use super::{Conversion, Element, Rounding};

    #[test]
    fn names() {
        let is = |to, saturates, rounding| Some(Conversion { to, saturates, rounding });
        assert_eq!(Conversion::of("convert_int4"), is(Element::Signed, false, None));
        assert_eq!(Conversion::of("convert_uchar_sat"), is(Element::Unsigned, true, None));
        assert_eq!(Conversion::of("convert_long16_sat_rtp"), is(Element::Signed, true, Some(Rounding::Up)));
        assert_eq!(Conversion::of("convert_half_rte"), is(Element::Float, false, Some(Rounding::Even)));
        assert_eq!(Conversion::of("convert_bool"), None);
        assert_eq!(Conversion::of("convert_int_rtx"), None);
    }
}
