//! LLVM's own functions, `llvm.*`, but for those of NVIDIA's.

use super::function::{Builder, Values};
use super::memory::access_flags;
use super::shape::container;
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::{Call, Inst};
use crate::module::ops::{BinaryOp, FastMath};
use crate::module::types::{Type as Llvm, TypeId};
use warpsmith_ir::{FloatCC, InstBuilder, IntCC, MemFlags, Type, Value};

/// The name without the types that it is overloaded for: `umax` of `umax.v4i32`.
fn base(name: &str) -> &str {
    let mut base = name;
    while let Some((head, last)) = base.rsplit_once('.') {
        let scalar = match last.strip_prefix('v') {
            Some(vector) => vector.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => last,
        };
        let digits = scalar.strip_prefix("bf").or(scalar.strip_prefix(['i', 'f', 'p']));
        if !digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())) {
            break;
        }
        base = head;
    }
    base
}

impl Builder<'_, '_, '_> {
    fn arg(&self, call: &Call, n: usize) -> Result<ValueId> {
        call.args.get(n).copied().ok_or_else(|| Error::unsupported("an intrinsic with too few arguments"))
    }

    pub fn intrinsic(&mut self, inst: &Inst, call: &Call, full: &str) -> Result<()> {
        let name = base(full);
        match name {
            // What only tells LLVM something.
            "lifetime.start"
            | "lifetime.end"
            | "assume"
            | "experimental.noalias.scope.decl"
            | "donothing"
            | "sideeffect"
            | "dbg.value"
            | "dbg.declare"
            | "dbg.label"
            | "dbg.assign"
            | "invariant.end"
            | "pseudoprobe"
            | "prefetch"
            | "fake.use" => Ok(()),
            "expect"
            | "expect.with.probability"
            | "annotation"
            | "ptr.annotation"
            | "launder.invariant.group"
            | "strip.invariant.group"
            | "ssa.copy"
            | "arithmetic.fence"
            | "threadlocal.address"
            | "invariant.start" => {
                let values = self.value(self.arg(call, 0)?)?;
                self.result(inst, &values)
            }
            "is.constant" => {
                let no = self.b.ins().iconst(Type::I1, 0);
                self.result(inst, &[no])
            }
            "objectsize" => {
                let least =
                    self.arg(call, 1).ok().and_then(|arg| self.constant_integer(arg)).unwrap_or(0) != 0;
                let part = self.parts(inst.ty)?;
                let bits = part.first().map_or(64, |part| part.bits);
                let value = self.int(bits, if least { 0 } else { -1 });
                self.result(inst, &[value])
            }
            "trap" | "ubsantrap" => {
                self.b.ins().trap();
                let next = self.b.create_block();
                self.b.switch_to_block(next);
                Ok(())
            }
            "debugtrap" => self.ptx_none("brkpt", Vec::new()),
            "memcpy" | "memcpy.inline" | "memmove" | "memset" | "memset.inline" => {
                self.memory_intrinsic(call, name)
            }
            "va_start" => {
                let list = self.scalar(self.arg(call, 0)?)?;
                let Some(first) = self.variadic else {
                    return Err(Error::unsupported("`va_start` in a function without `...`"));
                };
                self.b.ins().store(MemFlags::PLAIN, first, list, 0);
                Ok(())
            }
            "va_copy" => {
                let (to, from) = (self.scalar(self.arg(call, 0)?)?, self.scalar(self.arg(call, 1)?)?);
                let at = self.b.ins().load(Type::PTR, MemFlags::PLAIN, from, 0);
                self.b.ins().store(MemFlags::PLAIN, at, to, 0);
                Ok(())
            }
            "va_end" => Ok(()),
            "ptrmask" => {
                let pointer = self.scalar(self.arg(call, 0)?)?;
                let mask = self.scalar(self.arg(call, 1)?)?;
                let pointer = self.generic(pointer);
                let address = self.b.ins().ptrtoint(pointer);
                let mask = self.resize(mask, Type::I64);
                let address = self.b.ins().band(address, mask);
                let pointer = self.b.ins().inttoptr(Type::PTR, address);
                self.result(inst, &[pointer])
            }
            "stacksave" | "stackrestore" => Err(Error::unsupported(format!("`llvm.{full}`"))),
            "readcyclecounter" | "readsteadycounter" => {
                let reg = if name == "readcyclecounter" { "clock64" } else { "globaltimer" };
                let value = self.special_register(reg)?;
                self.result(inst, &[value])
            }
            _ if name.starts_with("vector.reduce.") => {
                self.reduce(inst, call, &name["vector.reduce.".len()..])
            }
            _ => self.elementwise(inst, call, name, full),
        }
    }

    fn memory_intrinsic(&mut self, call: &Call, name: &str) -> Result<()> {
        let (to, size) = (self.scalar(self.arg(call, 0)?)?, self.value(self.arg(call, 2)?)?);
        let volatile = self.arg(call, 3).ok().and_then(|arg| self.constant_integer(arg)).unwrap_or(0) != 0;
        let set = self.module().attributes.set(call.attributes);
        let align_of = |index: u32| {
            set.number(index, crate::module::attributes::known::ALIGN).unwrap_or(1).clamp(1, 16) as u32
        };
        let is_set = name.starts_with("memset");
        let align = if is_set { align_of(1) } else { align_of(1).min(align_of(2)) };
        let flags = access_flags(volatile, false);
        let flags = flags.with_align(align).unwrap_or(flags);
        let Some(&size) = size.first() else { return Err(Error::unsupported("a copy of no size")) };
        let size = if self.type_of(size).bits() < 32 { self.resize(size, Type::I32) } else { size };
        if is_set {
            let byte = self.scalar(self.arg(call, 1)?)?;
            self.fill(flags, to, byte, size);
            return Ok(());
        }
        let from = self.scalar(self.arg(call, 1)?)?;
        if name == "memmove" {
            // Pointers into two spaces do not say whether they overlap: both as generic ones do.
            let (to, from) = if self.type_of(to) == self.type_of(from) {
                (to, from)
            } else {
                (self.generic(to), self.generic(from))
            };
            self.copy_overlapping(flags, to, from, size);
        } else {
            self.copy(flags, to, from, size);
        }
        Ok(())
    }

    /// All elements of a vector put together.
    fn reduce(&mut self, inst: &Inst, call: &Call, name: &str) -> Result<()> {
        let ordered = matches!(name, "fadd" | "fmul");
        let vector = self.arg(call, usize::from(ordered))?;
        let ty = self.value_type(vector)?;
        let (element, lanes) = self.lanes(ty);
        let values = self.value(vector)?;
        let step = values.len().checked_div(lanes).unwrap_or(1).max(1);
        let mut chunks = values.chunks(step).map(Values::from_slice).collect::<Vec<_>>().into_iter();
        let mut sum =
            if ordered { self.value(self.arg(call, 0)?)? } else { chunks.next().unwrap_or_default() };
        let bits = self.width(element).unwrap_or(0);
        for chunk in chunks {
            let op = match name {
                "add" => Some(BinaryOp::Add),
                "mul" => Some(BinaryOp::Mul),
                "and" => Some(BinaryOp::And),
                "or" => Some(BinaryOp::Or),
                "xor" => Some(BinaryOp::Xor),
                _ => None,
            };
            sum = match (op, name) {
                (Some(op), _) => self.integer(op, bits, &sum, &chunk)?,
                (None, "fadd") => Values::from_slice(&[self.float(BinaryOp::Fadd, sum[0], chunk[0])?]),
                (None, "fmul") => Values::from_slice(&[self.float(BinaryOp::Fmul, sum[0], chunk[0])?]),
                (None, "smax" | "smin" | "umax" | "umin" | "fmax" | "fmin" | "fmaximum" | "fminimum") => {
                    let name = match name {
                        "fmax" => "maxnum",
                        "fmin" => "minnum",
                        "fmaximum" => "maximum",
                        "fminimum" => "minimum",
                        other => other,
                    };
                    self.element(name, element, &[sum, chunk], call)?
                }
                _ => return Err(Error::unsupported(format!("`llvm.vector.reduce.{name}`"))),
            };
        }
        self.result(inst, &sum)
    }

    /// An intrinsic on each element of its operands.
    fn elementwise(&mut self, inst: &Inst, call: &Call, name: &str, full: &str) -> Result<()> {
        let of = self.value_type(self.arg(call, 0)?)?;
        let (element, lanes) = self.lanes(of);
        let mut args = Vec::new();
        for (arg, ty) in call.args.iter().zip(&call.arg_types) {
            if matches!(self.ty(*ty), Llvm::Metadata) {
                break;
            }
            args.push((self.lanes(*ty).1, self.value(*arg)?));
        }
        let mut out: Vec<Values> = Vec::new();
        for lane in 0..lanes {
            let of_lane: Vec<Values> = args
                .iter()
                .map(|(count, values)| {
                    if *count != lanes {
                        return values.clone();
                    }
                    let step = values.len() / lanes;
                    Values::from_slice(values.get(lane * step..(lane + 1) * step).unwrap_or_default())
                })
                .collect();
            let result = match name {
                "fptosi.sat" | "fptoui.sat" => {
                    let bits = self.width(self.lanes(inst.ty).0)?;
                    self.float_to_integer(of_lane[0][0], bits, name == "fptosi.sat")?
                }
                "ucmp" | "scmp" => {
                    let bits = self.width(self.lanes(inst.ty).0)?;
                    self.three_way(name == "scmp", self.width(element)?, &of_lane[0], &of_lane[1], bits)?
                }
                "convert.from.fp16" => {
                    let to = self.parts(inst.ty)?[0].ty;
                    let half = self.b.ins().bitcast(Type::F16, of_lane[0][0]);
                    Values::from_slice(&[self.b.ins().fpext(to, half)])
                }
                "convert.to.fp16" => {
                    let half = self.b.ins().fptrunc(Type::F16, of_lane[0][0]);
                    Values::from_slice(&[self.b.ins().bitcast(Type::I16, half)])
                }
                _ => self.element(name, element, &of_lane, call).map_err(|error| {
                    match error.message.as_str() {
                        "" => Error::unsupported(format!("`llvm.{full}`")),
                        _ => error,
                    }
                })?,
            };
            out.push(result);
        }
        // Several results are one vector each.
        let fields = match self.ty(inst.ty) {
            Llvm::Struct { fields, .. } => fields.len(),
            _ => 1,
        };
        let mut flat = Values::new();
        for field in 0..fields {
            for lane in &out {
                let step = if fields == 1 { lane.len() } else { lane.len() - 1 };
                let range = if field == 0 { 0..step } else { step..lane.len() };
                flat.extend_from_slice(&lane[range]);
            }
        }
        self.result(inst, &flat)
    }

    fn three_way(
        &mut self,
        signed: bool,
        bits: u32,
        x: &[Value],
        y: &[Value],
        result: u32,
    ) -> Result<Values> {
        let (less, greater) = if signed { (IntCC::Slt, IntCC::Sgt) } else { (IntCC::Ult, IntCC::Ugt) };
        let less = self.compare(less, bits, x, y)?;
        let greater = self.compare(greater, bits, x, y)?;
        let (minus, zero, one) = (self.int(result, -1), self.int(result, 0), self.int(result, 1));
        let above = self.b.ins().select(greater, one, zero);
        Ok(Values::from_slice(&[self.b.ins().select(less, minus, above)]))
    }

    /// An intrinsic on scalars. An error without a message: there is no such one.
    fn element(&mut self, name: &str, ty: TypeId, args: &[Values], call: &Call) -> Result<Values> {
        let unknown = || Error::unsupported("");
        let x = args.first().ok_or_else(unknown)?;
        let y = args.get(1);
        let is_float = !matches!(self.ty(ty), Llvm::Integer(_) | Llvm::Pointer { .. });
        if is_float {
            return self.float_element(name, args, call).map(|value| Values::from_slice(&[value]));
        }
        let bits = self.width(ty)?;
        let with = |b: &mut Self, op: BinaryOp, x: &[Value], y: &[Value]| b.integer(op, bits, x, y);
        Ok(match (name, y) {
            ("umax", Some(y)) => self.pick(IntCC::Ugt, bits, x, y)?,
            ("umin", Some(y)) => self.pick(IntCC::Ult, bits, x, y)?,
            ("smax", Some(y)) => self.pick(IntCC::Sgt, bits, x, y)?,
            ("smin", Some(y)) => self.pick(IntCC::Slt, bits, x, y)?,
            ("abs", _) => {
                let zero = self.zeros(x);
                let minus = with(self, BinaryOp::Sub, &zero, x)?;
                let negative = self.compare(IntCC::Slt, bits, x, &zero)?;
                x.iter().zip(minus).map(|(x, m)| self.b.ins().select(negative, m, *x)).collect()
            }
            ("fshl" | "fshr", Some(y)) => {
                self.funnel(name == "fshl", bits, x, y, args.get(2).ok_or_else(unknown)?)?
            }
            ("bswap", _) => self.swap_bytes(bits, x)?,
            ("bitreverse", _) => self.reverse_bits(bits, x),
            ("ctpop", _) => {
                let mut sum: Option<Value> = None;
                for limb in x {
                    let count = if bits == 1 { *limb } else { self.b.ins().popcnt(*limb) };
                    sum = Some(sum.map_or(count, |sum| self.b.ins().iadd(sum, count)));
                }
                self.count(sum, x.len())
            }
            ("ctlz", _) => self.leading_zeros(bits, x),
            ("cttz", _) => self.trailing_zeros(bits, x),
            (
                "uadd.with.overflow" | "sadd.with.overflow" | "usub.with.overflow" | "ssub.with.overflow"
                | "umul.with.overflow" | "smul.with.overflow",
                Some(y),
            ) => {
                let (mut values, over) = self.overflow(&name[..4], bits, x, y)?;
                values.push(over);
                values
            }
            ("uadd.sat" | "sadd.sat" | "usub.sat" | "ssub.sat", Some(y)) => {
                self.saturate(&name[..4], bits, x, y)?
            }
            ("ushl.sat" | "sshl.sat", Some(y)) => {
                let signed = name == "sshl.sat";
                let shifted = with(self, BinaryOp::Shl, x, y)?;
                let back = with(self, if signed { BinaryOp::Ashr } else { BinaryOp::Lshr }, &shifted, y)?;
                let lost = self.compare(IntCC::Ne, bits, &back, x)?;
                let limit = self.limit(signed, false, bits, x)?;
                shifted.iter().zip(limit).map(|(v, l)| self.b.ins().select(lost, l, *v)).collect()
            }
            _ => return Err(unknown()),
        })
    }

    /// Zero with as many limbs as a number.
    fn zeros(&mut self, like: &[Value]) -> Values {
        self.number_like(like, 0)
    }

    /// A number that fits the lowest limb, with as many limbs as another.
    fn number_like(&mut self, like: &[Value], value: i64) -> Values {
        let mut out = Values::new();
        for (n, limb) in like.iter().enumerate() {
            let ty = self.type_of(*limb);
            out.push(self.b.ins().iconst(ty, if n == 0 { value } else { 0 }));
        }
        out
    }

    /// The operand that compares so with the other.
    fn pick(&mut self, cond: IntCC, bits: u32, x: &[Value], y: &[Value]) -> Result<Values> {
        if let ([x], [y]) = (x, y)
            && bits == self.type_of(*x).bits()
            && bits > 1
        {
            let value = match cond {
                IntCC::Ugt => self.b.ins().umax(*x, *y),
                IntCC::Ult => self.b.ins().umin(*x, *y),
                IntCC::Sgt => self.b.ins().smax(*x, *y),
                _ => self.b.ins().smin(*x, *y),
            };
            return Ok(Values::from_slice(&[value]));
        }
        let first = self.compare(cond, bits, x, y)?;
        Ok(x.iter().zip(y).map(|(x, y)| self.b.ins().select(first, *x, *y)).collect())
    }

    /// A count of bits as a number of so many limbs.
    fn count(&mut self, value: Option<Value>, limbs: usize) -> Values {
        let value = value.unwrap_or_else(|| self.limb(0));
        let mut out = Values::from_slice(&[value]);
        while out.len() < limbs {
            let zero = self.limb(0);
            out.push(zero);
        }
        out
    }

    fn leading_zeros(&mut self, bits: u32, x: &[Value]) -> Values {
        if let [x] = x {
            if bits == 1 {
                return Values::from_slice(&[self.b.ins().bnot(*x)]);
            }
            let ty = self.type_of(*x);
            let count = self.b.ins().clz(*x);
            let above = self.b.ins().iconst(ty, i64::from(ty.bits() - bits));
            return Values::from_slice(&[self.b.ins().isub(count, above)]);
        }
        let mut sum: Option<Value> = None;
        for (n, limb) in x.iter().enumerate() {
            let mut count = self.b.ins().clz(*limb);
            let above = x.len() as u32 * 64 - bits;
            if n + 1 == x.len() && above > 0 {
                let above = self.limb(i64::from(above));
                count = self.b.ins().isub(count, above);
            }
            sum = Some(match sum {
                None => count,
                Some(below) => {
                    let zero = self.limb(0);
                    let empty = self.b.ins().icmp(IntCC::Eq, *limb, zero);
                    let both = self.b.ins().iadd(count, below);
                    self.b.ins().select(empty, both, count)
                }
            });
        }
        self.count(sum, x.len())
    }

    fn trailing_zeros(&mut self, bits: u32, x: &[Value]) -> Values {
        if let [x] = x {
            if bits == 1 {
                return Values::from_slice(&[self.b.ins().bnot(*x)]);
            }
            let ty = self.type_of(*x);
            // A one bit above the number stops the count at its width.
            let value = if bits < ty.bits() {
                let stop = self.b.ins().iconst(ty, 1i64 << bits);
                self.b.ins().bor(*x, stop)
            } else {
                *x
            };
            return Values::from_slice(&[self.b.ins().ctz(value)]);
        }
        let mut sum: Option<Value> = None;
        for (n, limb) in x.iter().enumerate().rev() {
            let mut limb = *limb;
            let rest = bits % 64;
            if n + 1 == x.len() && rest > 0 {
                let stop = self.limb(1i64 << rest);
                limb = self.b.ins().bor(limb, stop);
            }
            let count = self.b.ins().ctz(limb);
            sum = Some(match sum {
                None => count,
                Some(above) => {
                    let zero = self.limb(0);
                    let empty = self.b.ins().icmp(IntCC::Eq, limb, zero);
                    let both = self.b.ins().iadd(count, above);
                    self.b.ins().select(empty, both, count)
                }
            });
        }
        self.count(sum, x.len())
    }

    fn reverse_bits(&mut self, bits: u32, x: &[Value]) -> Values {
        if bits == 1 {
            return Values::from_slice(x);
        }
        let reversed: Values = x.iter().rev().map(|limb| self.b.ins().bitrev(*limb)).collect();
        let above = x.first().map_or(0, |v| self.type_of(*v).bits()) * x.len() as u32 - bits;
        if above == 0 {
            return reversed;
        }
        let amount = self.b.ins().iconst(Type::I32, i64::from(above));
        match reversed.as_slice() {
            [one] => Values::from_slice(&[self.b.ins().lshr(*one, amount)]),
            many => self.shift_limbs(many, amount, false, false),
        }
    }

    fn swap_bytes(&mut self, bits: u32, x: &[Value]) -> Result<Values> {
        if !bits.is_multiple_of(16) {
            return Err(Error::unsupported(format!("`llvm.bswap.i{bits}`")));
        }
        let swapped: Result<Values> = x.iter().rev().map(|limb| self.swap_limb(*limb)).collect();
        let swapped = swapped?;
        let above = x.first().map_or(0, |v| self.type_of(*v).bits()) * x.len() as u32 - bits;
        if above == 0 {
            return Ok(swapped);
        }
        let amount = self.b.ins().iconst(Type::I32, i64::from(above));
        Ok(match swapped.as_slice() {
            [one] => Values::from_slice(&[self.b.ins().lshr(*one, amount)]),
            many => self.shift_limbs(many, amount, false, false),
        })
    }

    fn swap_limb(&mut self, x: Value) -> Result<Value> {
        let ty = self.type_of(x);
        match ty.bits() {
            16 => {
                let eight = self.b.ins().iconst(Type::I32, 8);
                Ok(self.b.ins().rotl(x, eight))
            }
            32 => self.ptx_one("prmt.b32", vec![x.into(), 0i32.into(), 0x0123i32.into()], Type::I32),
            64 => {
                let shift = self.b.ins().iconst(Type::I32, 32);
                let high = self.b.ins().lshr(x, shift);
                let (low, high) = (self.b.ins().trunc(Type::I32, x), self.b.ins().trunc(Type::I32, high));
                let (low, high) = (self.swap_limb(low)?, self.swap_limb(high)?);
                let (low, high) = (self.b.ins().zext(Type::I64, low), self.b.ins().zext(Type::I64, high));
                let shift = self.b.ins().iconst(Type::I32, 32);
                let low = self.b.ins().shl(low, shift);
                Ok(self.b.ins().bor(low, high))
            }
            bits => Err(Error::unsupported(format!("`llvm.bswap.i{bits}`"))),
        }
    }

    /// Shifts two numbers as one of twice the width.
    fn funnel(
        &mut self,
        left: bool,
        bits: u32,
        x: &[Value],
        y: &[Value],
        amount: &[Value],
    ) -> Result<Values> {
        if bits == 1 {
            // The amount is taken modulo 1.
            return Ok(Values::from_slice(if left { x } else { y }));
        }
        let width = self.number_like(amount, i64::from(bits));
        let amount = if bits.is_power_of_two() {
            let one = self.number_like(amount, i64::from(bits) - 1);
            self.integer(BinaryOp::And, bits, amount, &one)?
        } else {
            self.integer(BinaryOp::Urem, bits, amount, &width)?
        };
        if let ([a], [b], [n]) = (x, y, amount.as_slice())
            && a == b
            && bits == self.type_of(*a).bits()
        {
            let n = self.resize(*n, Type::I32);
            return Ok(Values::from_slice(&[if left {
                self.b.ins().rotl(*a, n)
            } else {
                self.b.ins().rotr(*a, n)
            }]));
        }
        let rest = self.integer(BinaryOp::Sub, bits, &width, &amount)?;
        let (near, far) = if left {
            (self.integer(BinaryOp::Shl, bits, x, &amount)?, self.integer(BinaryOp::Lshr, bits, y, &rest)?)
        } else {
            (self.integer(BinaryOp::Lshr, bits, y, &amount)?, self.integer(BinaryOp::Shl, bits, x, &rest)?)
        };
        let both = self.integer(BinaryOp::Or, bits, &near, &far)?;
        // By nothing: the other half would be shifted by all of the width, which limbs do not do.
        let zero = self.zeros(&amount);
        let none = self.compare(IntCC::Eq, bits, &amount, &zero)?;
        let same = if left { x } else { y };
        Ok(both.iter().zip(same).map(|(b, s)| self.b.ins().select(none, *s, *b)).collect())
    }

    /// The result modulo the width, and whether it is not the true one. `what` is `uadd`, `smul`, ...
    fn overflow(&mut self, what: &str, bits: u32, x: &[Value], y: &[Value]) -> Result<(Values, Value)> {
        let signed = what.starts_with('s');
        let op = match &what[1..] {
            "add" => BinaryOp::Add,
            "sub" => BinaryOp::Sub,
            _ => BinaryOp::Mul,
        };
        let result = self.integer(op, bits, x, y)?;
        if !signed && op == BinaryOp::Add {
            let over = self.compare(IntCC::Ult, bits, &result, x)?;
            return Ok((result, over));
        }
        if !signed && op == BinaryOp::Sub {
            let over = self.compare(IntCC::Ult, bits, x, y)?;
            return Ok((result, over));
        }
        if op != BinaryOp::Mul {
            // Signs: a sum overflows where both operands have another sign than it, a difference where they differ.
            let a = self.integer(BinaryOp::Xor, bits, x, &result)?;
            let b = self.integer(
                BinaryOp::Xor,
                bits,
                if op == BinaryOp::Add { y } else { x },
                if op == BinaryOp::Add { &result } else { y },
            )?;
            let both = self.integer(BinaryOp::And, bits, &a, &b)?;
            let zero = self.zeros(&both);
            let over = self.compare(IntCC::Slt, bits, &both, &zero)?;
            return Ok((result, over));
        }
        let double = bits * 2;
        let (wide_x, wide_y) = (self.extend(x, bits, double, signed), self.extend(y, bits, double, signed));
        let product = self.integer(BinaryOp::Mul, double, &wide_x, &wide_y)?;
        let back = self.extend(&result, bits, double, signed);
        let over = self.compare(IntCC::Ne, double, &product, &back)?;
        Ok((result, over))
    }

    /// The least or greatest number, by the sign of `x` if it is signed; unsigned, 0 if `low`.
    fn limit(&mut self, signed: bool, low: bool, bits: u32, x: &[Value]) -> Result<Values> {
        let count = x.len();
        let number = |b: &mut Self, highest: bool, rest: i64| -> Values {
            (0..count)
                .map(|n| {
                    let width = if count == 1 { bits } else { (bits - n as u32 * 64).min(64) };
                    let top = n + 1 == count;
                    let value = if top && highest {
                        let sign = 1i64.checked_shl(width - 1).unwrap_or(0);
                        if rest == 0 { sign } else { !sign }
                    } else {
                        rest
                    };
                    b.int(width, value)
                })
                .collect()
        };
        if !signed {
            return Ok(number(self, false, if low { 0 } else { -1 }));
        }
        let (least, most) = (number(self, true, 0), number(self, true, -1));
        let zero = self.zeros(x);
        let negative = self.compare(IntCC::Slt, bits, x, &zero)?;
        Ok(least.into_iter().zip(most).map(|(l, m)| self.b.ins().select(negative, l, m)).collect())
    }

    fn saturate(&mut self, what: &str, bits: u32, x: &[Value], y: &[Value]) -> Result<Values> {
        let (result, over) = self.overflow(what, bits, x, y)?;
        let limit = self.limit(what.starts_with('s'), what == "usub", bits, x)?;
        Ok(result.into_iter().zip(limit).map(|(r, l)| self.b.ins().select(over, l, r)).collect())
    }

    fn float_element(&mut self, name: &str, args: &[Values], call: &Call) -> Result<Value> {
        let unknown = || Error::unsupported("");
        let get = |n: usize| args.get(n).and_then(|values| values.first()).copied().ok_or_else(unknown);
        let x = get(0)?;
        let ty = self.type_of(x);
        Ok(match name {
            "fabs" => self.b.ins().fabs(x),
            "sqrt" => self.b.ins().fsqrt(x),
            "floor" => self.b.ins().ffloor(x),
            "ceil" => self.b.ins().fceil(x),
            "trunc" => self.b.ins().ftrunc(x),
            "rint" | "nearbyint" | "roundeven" => self.b.ins().fnearest(x),
            "round" => {
                // Half away from zero: one more where the part that was cut off is a half or more.
                let whole = self.b.ins().ftrunc(x);
                let rest = self.b.ins().fsub(x, whole);
                let rest = self.b.ins().fabs(rest);
                let half = self.float_const(ty, 0.5);
                let one = self.float_const(ty, 1.0);
                let zero = self.float_const(ty, 0.0);
                let up = self.b.ins().fcmp(FloatCC::Ge, rest, half);
                let step = self.b.ins().select(up, one, zero);
                let step = self.b.ins().fcopysign(step, x);
                let sum = self.b.ins().fadd(whole, step);
                self.b.ins().fcopysign(sum, x)
            }
            "copysign" => self.b.ins().fcopysign(x, get(1)?),
            "minnum" | "minimumnum" => self.b.ins().fmin(x, get(1)?),
            "maxnum" | "maximumnum" => self.b.ins().fmax(x, get(1)?),
            "minimum" | "maximum" => {
                let y = get(1)?;
                let value = if name == "minimum" { self.b.ins().fmin(x, y) } else { self.b.ins().fmax(x, y) };
                let nan = self.b.ins().fcmp(FloatCC::Nan, x, y);
                let sum = self.b.ins().fadd(x, y);
                self.b.ins().select(nan, sum, value)
            }
            "fma" | "fmuladd" => self.multiply_add(x, get(1)?, get(2)?)?,
            "canonicalize" => {
                let one = self.float_const(ty, 1.0);
                self.b.ins().fmul(x, one)
            }
            "is.fpclass" => {
                let mask =
                    call.args.get(1).and_then(|arg| self.constant_integer(*arg)).ok_or_else(unknown)?;
                self.class(x, mask)
            }
            "sin" | "cos" | "exp2" | "log2" | "tanh" if ty == Type::F32 && call.flags.has(FastMath::AFN) => {
                let mnemonic = match name {
                    "sin" => "sin.approx.f32",
                    "cos" => "cos.approx.f32",
                    "exp2" => "ex2.approx.f32",
                    "log2" => "lg2.approx.f32",
                    _ => "tanh.approx.f32",
                };
                self.ptx_one(mnemonic, vec![x.into()], Type::F32)?
            }
            _ => return Err(unknown()),
        })
    }

    /// A constant of a float type.
    pub fn float_const(&mut self, ty: Type, value: f64) -> Value {
        let single = self.b.ins().f64const(value);
        if ty == Type::F64 {
            return single;
        }
        if ty == Type::F32 {
            return self.b.ins().f32const(value as f32);
        }
        self.b.ins().fptrunc(ty, single)
    }

    /// Whether a float is of one of the classes of a mask (LLVM's `FPClassTest`).
    fn class(&mut self, x: Value, mask: i64) -> Value {
        let ty = self.type_of(x);
        let int = container(ty.bits());
        // Bits of the fraction.
        let fraction = match ty {
            Type::F64 => 52,
            Type::F32 => 23,
            Type::BF16 => 7,
            _ => 10,
        };
        let all = self.b.ins().bitcast(int, x);
        let sign_bit = self.b.ins().iconst(int, 1i64.wrapping_shl(ty.bits() - 1));
        let zero = self.b.ins().iconst(int, 0);
        let sign = self.b.ins().band(all, sign_bit);
        let negative = self.b.ins().icmp(IntCC::Ne, sign, zero);
        let positive = self.b.ins().bnot(negative);
        let magnitude = self.b.ins().bxor(all, sign);
        let infinity = ((1i64 << (ty.bits() - 1 - fraction)) - 1) << fraction;
        let inf = self.b.ins().iconst(int, infinity);
        let quiet = self.b.ins().iconst(int, infinity | 1i64 << (fraction - 1));
        let least = self.b.ins().iconst(int, 1i64 << fraction);
        let is_nan = self.b.ins().icmp(IntCC::Ugt, magnitude, inf);
        let is_quiet = self.b.ins().icmp(IntCC::Uge, magnitude, quiet);
        let is_inf = self.b.ins().icmp(IntCC::Eq, magnitude, inf);
        let is_zero = self.b.ins().icmp(IntCC::Eq, magnitude, zero);
        let below = self.b.ins().icmp(IntCC::Ult, magnitude, least);
        let not_zero = self.b.ins().bnot(is_zero);
        let is_subnormal = self.b.ins().band(below, not_zero);
        let finite = self.b.ins().icmp(IntCC::Ult, magnitude, inf);
        let not_below = self.b.ins().bnot(below);
        let is_normal = self.b.ins().band(finite, not_below);
        let not_quiet = self.b.ins().bnot(is_quiet);
        let is_signaling = self.b.ins().band(is_nan, not_quiet);
        let classes: [(Value, Option<Value>); 10] = [
            (is_signaling, None),
            (is_quiet, None),
            (is_inf, Some(negative)),
            (is_normal, Some(negative)),
            (is_subnormal, Some(negative)),
            (is_zero, Some(negative)),
            (is_zero, Some(positive)),
            (is_subnormal, Some(positive)),
            (is_normal, Some(positive)),
            (is_inf, Some(positive)),
        ];
        let mut any = self.b.ins().iconst(Type::I1, 0);
        for (n, (class, sign)) in classes.into_iter().enumerate() {
            if mask >> n & 1 == 0 {
                continue;
            }
            let is = match sign {
                Some(sign) => self.b.ins().band(class, sign),
                None => class,
            };
            any = self.b.ins().bor(any, is);
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn types_are_taken_off_names() {
        for (full, expected) in [
            ("umax.v4i32", "umax"),
            ("memcpy.p0.p3.i64", "memcpy"),
            ("vector.reduce.add.v4i32", "vector.reduce.add"),
            ("fptosi.sat.i32.f64", "fptosi.sat"),
            ("fma.bf16", "fma"),
            ("convert.from.fp16.f32", "convert.from.fp16"),
            ("va_start.p0", "va_start"),
            ("trap", "trap"),
        ] {
            assert_eq!(base(full), expected);
        }
    }
}
