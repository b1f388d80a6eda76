//! Floats.

use super::function::Builder;
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::InstKind;
use crate::module::ops::{BinaryOp, FastMath, Predicate};
use warpsmith_ir::{FloatCC, InstBuilder, Type, Value};

/// The comparison of the IR; `Err` for those that are always the same.
pub(super) fn condition(predicate: Predicate) -> Option<std::result::Result<FloatCC, bool>> {
    Some(match predicate {
        Predicate::FFalse => Err(false),
        Predicate::FTrue => Err(true),
        Predicate::FOeq => Ok(FloatCC::Eq),
        Predicate::FOgt => Ok(FloatCC::Gt),
        Predicate::FOge => Ok(FloatCC::Ge),
        Predicate::FOlt => Ok(FloatCC::Lt),
        Predicate::FOle => Ok(FloatCC::Le),
        Predicate::FOne => Ok(FloatCC::Ne),
        Predicate::FOrd => Ok(FloatCC::Num),
        Predicate::FUno => Ok(FloatCC::Nan),
        Predicate::FUeq => Ok(FloatCC::Equ),
        Predicate::FUgt => Ok(FloatCC::Gtu),
        Predicate::FUge => Ok(FloatCC::Geu),
        Predicate::FUlt => Ok(FloatCC::Ltu),
        Predicate::FUle => Ok(FloatCC::Leu),
        Predicate::FUne => Ok(FloatCC::Neu),
        Predicate::Eq
        | Predicate::Ne
        | Predicate::Ugt
        | Predicate::Uge
        | Predicate::Ult
        | Predicate::Ule
        | Predicate::Sgt
        | Predicate::Sge
        | Predicate::Slt
        | Predicate::Sle => return None,
    })
}

impl Builder<'_, '_, '_> {
    /// An operation on floats.
    pub fn float(&mut self, op: BinaryOp, x: Value, y: Value) -> Result<Value> {
        if self.ftz && self.type_of(x) == Type::F32 {
            let name = match op {
                BinaryOp::Fadd => "add.rn.ftz.f32",
                BinaryOp::Fsub => "sub.rn.ftz.f32",
                BinaryOp::Fmul => "mul.rn.ftz.f32",
                BinaryOp::Fdiv => "div.rn.ftz.f32",
                _ => "",
            };
            if !name.is_empty() {
                return self.ptx_one(name, vec![x.into(), y.into()], Type::F32);
            }
        }
        Ok(match op {
            BinaryOp::Fadd => self.b.ins().fadd(x, y),
            BinaryOp::Fsub => self.b.ins().fsub(x, y),
            BinaryOp::Fmul => self.b.ins().fmul(x, y),
            BinaryOp::Fdiv => self.b.ins().fdiv(x, y),
            BinaryOp::Frem => return self.remainder(x, y),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Udiv
            | BinaryOp::Sdiv
            | BinaryOp::Urem
            | BinaryOp::Srem
            | BinaryOp::Shl
            | BinaryOp::Lshr
            | BinaryOp::Ashr
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor => return Err(Error::unsupported("an operation on integers between floats")),
        })
    }

    /// `x - y * trunc(x / y)` without rounding, by long division of the bits.
    fn remainder(&mut self, x: Value, y: Value) -> Result<Value> {
        let ty = self.type_of(x);
        let (x, y) = (self.float_to_float(x, ty, Type::F64), self.float_to_float(y, ty, Type::F64));
        let function = self.helper("fmod", FMOD)?;
        let result = self.b.call(function, &[x, y]).first();
        Ok(self.float_to_float(result, Type::F64, ty))
    }

    /// The factors of a product that may be fused with a sum: it has the flag, and nothing else uses it.
    pub fn contracted(&self, value: ValueId, flags: FastMath) -> Option<(ValueId, ValueId)> {
        if !flags.has(FastMath::CONTRACT) {
            return None;
        }
        let n = super::function::local(self.body, value)?;
        let inst = self.body.insts.get((*self.definitions.get(n)?)? as usize)?;
        match inst.kind {
            InstKind::Binary { op: BinaryOp::Fmul, flags, x, y }
                if FastMath::of(flags).has(FastMath::CONTRACT) && self.uses.get(n) == Some(&1) =>
            {
                Some((x, y))
            }
            _ => None,
        }
    }
}

/// The remainder of `double`, exact: the dividend's significand is shifted up a bit at a time and reduced. Smaller formats go through it, since
/// their remainder is a number of theirs.
const FMOD: &str = "
func @fmod(%x: f64, %y: f64) -> f64 {
entry:
  %bx = bitcast.i64 %x
  %sign = band %bx, -9223372036854775808
  %ax = fabs %x
  %ay = fabs %y
  %nan0 = fcmp nan %ax, %ay
  %inf = fcmp eq %ax, 0d7ff0000000000000
  %zero = fcmp eq %ay, 0.0
  %bad0 = bor %nan0, %inf
  %bad = bor %bad0, %zero
  brif %bad, none, compare
none:
  ret 0d7ff8000000000000
compare:
  %less = fcmp lt %ax, %ay
  brif %less, same, start
same:
  ret %x
start:
  %ix = bitcast.i64 %ax
  %iy = bitcast.i64 %ay
  %ex0 = lshr %ix, 52
  %ey0 = lshr %iy, 52
  %ex = umax %ex0, 1
  %ey = umax %ey0, 1
  %mx0 = band %ix, 4503599627370495
  %my0 = band %iy, 4503599627370495
  %nx = icmp ne %ex0, 0
  %ny = icmp ne %ey0, 0
  %hx0 = zext.i64 %nx
  %hy0 = zext.i64 %ny
  %hx = shl %hx0, 52
  %hy = shl %hy0, 52
  %mx = bor %mx0, %hx
  %my = bor %my0, %hy
  jump step(%mx, %ex)
step(%m: i64, %e: i64):
  %fits = icmp uge %m, %my
  %less1 = isub %m, %my
  %m1 = select %fits, %less1, %m
  %more = icmp ugt %e, %ey
  brif %more, again, done
again:
  %m2 = shl %m1, 1
  %e2 = isub %e, 1
  jump step(%m2, %e2)
done:
  %none1 = icmp eq %m1, 0
  brif %none1, empty, pack
empty:
  %z = bitcast.f64 %sign
  ret %z
pack:
  %lead = clz %m1
  %up0 = isub %lead, 11
  %room = isub %ey, 1
  %up = umin %up0, %room
  %up32 = trunc.i32 %up
  %m3 = shl %m1, %up32
  %e3 = isub %ey, %up
  %normal = lshr %m3, 52
  %isnormal = icmp ne %normal, 0
  %e4 = select %isnormal, %e3, 0
  %frac = band %m3, 4503599627370495
  %e5 = shl %e4, 52
  %r0 = bor %e5, %frac
  %r1 = bor %r0, %sign
  %r = bitcast.f64 %r1
  ret %r
}
";
