//! CUDA's mathematics, `__nv_*`: where no module defines a function, it is an instruction, a few operations, or one of the math library.
//!
//! Who links libdevice as another input gets NVIDIA's own.

use super::function::{Builder, Values};
use super::nvvm::{fill, matches};
use crate::error::{Error, Result};
use crate::module::body::{Call, Inst};
use warpsmith_ir::{self as ir, InstBuilder, IntCC, Mnemonic, Type, Value};

/// Names behind `__nv_` and the instructions that they are, in the language of [`super::nvvm`]. `%` is `.ftz` in functions that flush subnormals.
const INSTRUCTIONS: &[(&str, &str)] = &[
    ("{clz|popc}", "$1.b32"),
    ("{clz|popc}ll", "$1.b64"),
    ("byte_perm", "prmt.b32"),
    ("{min|max}", "$1.s32"),
    ("u{min|max}", "$1.u32"),
    ("ll{min|max}", "$1.s64"),
    ("ull{min|max}", "$1.u64"),
    ("mulhi", "mul.hi.s32"),
    ("umulhi", "mul.hi.u32"),
    ("mul64hi", "mul.hi.s64"),
    ("umul64hi", "mul.hi.u64"),
    ("mul24", "mul24.lo.s32"),
    ("umul24", "mul24.lo.u32"),
    ("brev", "brev.b32"),
    ("brevll", "brev.b64"),
    ("sad", "sad.s32"),
    ("usad", "sad.u32"),
    ("abs", "abs.s32"),
    ("llabs", "abs.s64"),
    ("fabsf", "abs%.f32"),
    ("fabs", "abs.f64"),
    ("f{min|max}f", "$1%.f32"),
    ("f{min|max}", "$1.f64"),
    ("{floor=rmi|ceil=rpi|trunc=rzi|rint=rni|nearbyint=rni}f", "cvt.$1%.f32.f32"),
    ("{floor=rmi|ceil=rpi|trunc=rzi|rint=rni|nearbyint=rni}", "cvt.$1.f64.f64"),
    ("llrintf", "cvt.rni%.s64.f32"),
    ("llrint", "cvt.rni.s64.f64"),
    ("saturatef", "cvt.sat%.f32.f32"),
    ("rcp64h", "rcp.approx.ftz.f64"),
    ("sqrtf", "sqrt.rn%.f32"),
    ("sqrt", "sqrt.rn.f64"),
    ("fmaf", "fma.rn%.f32"),
    ("fma", "fma.rn.f64"),
    ("fmaf_ieee_r{n|z|d=m|u=p}", "fma.r$1.f32"),
    ("fmaf_r{n|z|d=m|u=p}", "fma.r$1%.f32"),
    ("fma_r{n|z|d=m|u=p}", "fma.r$1.f64"),
    ("f{add|sub|mul|div|sqrt|rcp}_r{n|z|d=m|u=p}", "$1.r$2%.f32"),
    ("d{add|sub|mul|div|sqrt|rcp}_r{n|z|d=m|u=p}", "$1.r$2.f64"),
    ("float2{int=s32|uint=u32|ll=s64|ull=u64}_r{n|z|d=m|u=p}", "cvt.r$2i%.$1.f32"),
    ("double2{int=s32|uint=u32|ll=s64|ull=u64}_r{n|z|d=m|u=p}", "cvt.r$2i.$1.f64"),
    ("{int=s32|uint=u32|ll=s64|ull=u64}2{float=f32|double=f64}_r{n|z|d=m|u=p}", "cvt.r$3.$2.$1"),
    ("double2float_r{n|z|d=m|u=p}", "cvt.r$1%.f32.f64"),
    ("float2half_rn", "cvt.rn%.f16.f32"),
    ("half2float", "cvt.f32.f16"),
];

/// The function of C on a block of memory that a function of clang's headers for CUDA is. There the size is an argument of which nothing is known, and
/// neither are the alignments; here they are what they are where it is called.
pub(super) fn block_function(symbol: &str) -> Option<&'static str> {
    match symbol {
        "_ZL6memcpyPvPKvm" => Some("memcpy"),
        "_ZL6memsetPvim" => Some("memset"),
        _ => None,
    }
}

/// The instruction of a name, where it is one.
fn instruction(name: &str, ftz: bool) -> Option<Mnemonic> {
    let mut captures = Vec::new();
    let (_, target) = INSTRUCTIONS.iter().find(|(pattern, _)| {
        captures.clear();
        matches(pattern, name, &mut captures)
    })?;
    let text = fill(target, &captures).replace('%', if ftz { ".ftz" } else { "" });
    Mnemonic::parse(&text).ok()
}

impl Builder<'_, '_, '_> {
    /// The call of a function that no module defines; false if it is none that is known here.
    pub fn provided(&mut self, inst: &Inst, call: &Call, symbol: &str) -> Result<bool> {
        if matches!(symbol, "memcpy" | "memmove" | "memset") && self.body.args(call).len() == 3 {
            self.block_function(inst, call, symbol)?;
            return Ok(true);
        }
        let Some(name) = symbol.strip_prefix("__nv_") else { return self.opencl(inst, call, symbol) };
        // These have loops, and so a body of their own.
        if matches!(name, "norm" | "normf" | "rnorm" | "rnormf") {
            return Ok(false);
        }
        if let Some(mnemonic) = instruction(name, self.ftz) {
            self.instruction_of(inst, call, &mnemonic)?;
            return Ok(true);
        }
        let mut args: Vec<Value> = Vec::new();
        for arg in self.body.args(call) {
            args.extend(self.value(*arg)?);
        }
        if let Some(values) = self.few_operations(name, &args)? {
            self.result(inst, &values)?;
            return Ok(true);
        }
        if name == "fast_sincosf" {
            self.sine_and_cosine(&args)?;
            return Ok(true);
        }
        let function = warpsmith_math::Function::from_libdevice(symbol).ok_or_else(|| {
            Error::unsupported(format!(
                "`{symbol}`, which the math library does not have (with libdevice as another input it is linked from there)"
            ))
        })?;
        let flushing = || {
            let symbol = function.symbol();
            let (name, ty) = symbol.rsplit_once('_')?;
            warpsmith_math::Function::from_symbol(&format!("{name}_ftz_{ty}"))
        };
        let function = if self.ftz { flushing().unwrap_or(function) } else { function };
        let args: Vec<Value> = args.into_iter().map(|arg| self.generic(arg)).collect();
        let known = self.b.module().function(&function.symbol());
        let id = known.unwrap_or_else(|| self.b.add_function(function.declaration()));
        let results: Values = self.b.call(id, &args).into_iter().collect();
        self.result(inst, &results)?;
        Ok(true)
    }

    /// Approximations of both, where two pointers lead.
    fn sine_and_cosine(&mut self, args: &[Value]) -> Result<()> {
        let &[x, sine, cosine] = args else {
            return Err(Error::unsupported("`__nv_fast_sincosf` with other than three operands"));
        };
        let names = if self.ftz { ["fast_sin_ftz", "fast_cos_ftz"] } else { ["fast_sin", "fast_cos"] };
        for (name, to) in names.into_iter().zip([sine, cosine]) {
            let value = self.math(name, Type::F32, &[x])?;
            self.b.ins().store(ir::MemFlags::PLAIN, value, to, 0);
        }
        Ok(())
    }

    /// C's functions on blocks of memory, which give their first operand.
    pub fn block_function(&mut self, inst: &Inst, call: &Call, name: &str) -> Result<()> {
        let &[to, from, size] = self.body.args(call) else {
            return Err(Error::unsupported(format!("`{name}` with other than three operands")));
        };
        let (to, from, size) = (self.scalar(to)?, self.scalar(from)?, self.scalar(size)?);
        let flags = ir::MemFlags::PLAIN.with_align(1).unwrap_or(ir::MemFlags::PLAIN);
        let width = if self.type_of(size).bits() <= 32 { Type::I32 } else { Type::I64 };
        let size = self.resize(size, width);
        match name {
            "memcpy" => self.b.ins().memcpy(flags, to, from, size),
            "memmove" => self.b.ins().memmove(flags, to, from, size),
            _ => {
                let byte = self.resize(from, Type::I8);
                self.b.ins().memset(flags, to, byte, size)
            }
        };
        let to = self.generic(to);
        self.result(inst, &[to])
    }

    /// The functions that are a few operations.
    fn few_operations(&mut self, name: &str, args: &[Value]) -> Result<Option<Values>> {
        let get = |n: usize| {
            args.get(n)
                .copied()
                .ok_or_else(|| Error::unsupported(format!("`__nv_{name}` with {} operands", args.len())))
        };
        let class = |mask: i64| Some(mask);
        // LLVM's classes: signaling and quiet NaN, then the negative from infinity to zero and the positive from zero to infinity.
        let mask = match name {
            "isnanf" | "isnand" => class(0b11),
            "isinff" | "isinfd" => class(0b10_0000_0100),
            "finitef" | "isfinited" => class(0b01_1111_1000),
            _ => None,
        };
        if let Some(mask) = mask {
            let is = self.class(get(0)?, mask);
            return Ok(Some(Values::from_slice(&[self.b.ins().zext(Type::I32, is)])));
        }
        let value = match name {
            "remquo" | "remquof" => {
                let (remainder, quotient) = self.remainder_and_quotient(get(0)?, get(1)?)?;
                self.b.ins().store(ir::MemFlags::PLAIN, quotient, get(2)?, 0);
                remainder
            }
            // In `double` the root is so close that rounding it gives the nearest `float` to the true one, for every `float`.
            "frsqrt_rn" => {
                let x = self.b.ins().fpext(Type::F64, get(0)?);
                let root = self.b.ins().fsqrt(x);
                let one = self.float_const(Type::F64, 1.0);
                let value = self.b.ins().fdiv(one, root);
                self.b.ins().fptrunc(Type::F32, value)
            }
            "int_as_float" | "uint_as_float" => self.b.ins().bitcast(Type::F32, get(0)?),
            "float_as_int" | "float_as_uint" => self.b.ins().bitcast(Type::I32, get(0)?),
            "longlong_as_double" => self.b.ins().bitcast(Type::F64, get(0)?),
            "double_as_longlong" => self.b.ins().bitcast(Type::I64, get(0)?),
            "double2loint" | "double2hiint" => {
                let mut bits = self.b.ins().bitcast(Type::I64, get(0)?);
                if name == "double2hiint" {
                    let amount = self.b.ins().iconst(Type::I32, 32);
                    bits = self.b.ins().lshr(bits, amount);
                }
                self.b.ins().trunc(Type::I32, bits)
            }
            "hiloint2double" => {
                let (high, low) =
                    (self.b.ins().zext(Type::I64, get(0)?), self.b.ins().zext(Type::I64, get(1)?));
                let amount = self.b.ins().iconst(Type::I32, 32);
                let high = self.b.ins().shl(high, amount);
                let bits = self.b.ins().bor(low, high);
                self.b.ins().bitcast(Type::F64, bits)
            }
            "signbitf" | "signbitd" => {
                let bits = self.integer_of(get(0)?);
                let ty = self.type_of(bits);
                let zero = self.b.ins().iconst(ty, 0);
                let negative = self.b.ins().icmp(IntCC::Slt, bits, zero);
                self.b.ins().zext(Type::I32, negative)
            }
            "ffs" | "ffsll" => {
                // The lowest bit alone, counted from the top.
                let x = get(0)?;
                let ty = self.type_of(x);
                let bits = i64::from(ty.bits());
                let negative = self.b.ins().ineg(x);
                let lowest = self.b.ins().band(x, negative);
                let zeros = self.b.ins().clz(lowest);
                let zeros = self.resize(zeros, Type::I32);
                let bits = self.b.ins().iconst(Type::I32, bits);
                self.b.ins().isub(bits, zeros)
            }
            "hadd" | "rhadd" | "uhadd" | "urhadd" => {
                // Half the sum, without a bit more than the operands have.
                let (x, y) = (get(0)?, get(1)?);
                let one = self.b.ins().iconst(Type::I32, 1);
                let differ = self.b.ins().bxor(x, y);
                let half = if name.starts_with('u') {
                    self.b.ins().lshr(differ, one)
                } else {
                    self.b.ins().ashr(differ, one)
                };
                if name.contains("rh") {
                    let either = self.b.ins().bor(x, y);
                    self.b.ins().isub(either, half)
                } else {
                    let both = self.b.ins().band(x, y);
                    self.b.ins().iadd(both, half)
                }
            }
            "nanf" => {
                let bits = self.b.ins().iconst(Type::I32, 0x7fff_ffff);
                self.b.ins().bitcast(Type::F32, bits)
            }
            "nan" => {
                let bits = self.b.ins().iconst(Type::I64, 0xfff8_0000_0000_0000_u64.cast_signed());
                self.b.ins().bitcast(Type::F64, bits)
            }
            "llroundf" | "llround" => {
                let x = get(0)?;
                let ty = self.type_of(x);
                let whole = self.math("round", ty, &[x])?;
                self.b.ins().fptosi(Type::I64, whole)
            }
            _ => return Ok(None),
        };
        Ok(Some(Values::from_slice(&[value])))
    }
}

#[cfg(test)]
mod tests {
    use super::instruction;
    use warpsmith_isa::forms;

    /// The functions of libdevice in CUDA 13.
    const NAMES: &str = include_str!("libdevice.txt");

    /// Those that are a few operations, or have a body in [`super::super::library`].
    const FEW: &[&str] = &[
        "isnanf",
        "isnand",
        "isinff",
        "isinfd",
        "finitef",
        "isfinited",
        "int_as_float",
        "uint_as_float",
        "float_as_int",
        "float_as_uint",
        "longlong_as_double",
        "double_as_longlong",
        "double2loint",
        "double2hiint",
        "hiloint2double",
        "fast_sincosf",
        "signbitf",
        "signbitd",
        "ffs",
        "ffsll",
        "hadd",
        "rhadd",
        "uhadd",
        "urhadd",
        "nanf",
        "nan",
        "llroundf",
        "llround",
        "frsqrt_rn",
        "norm",
        "normf",
        "rnorm",
        "rnormf",
        "remquo",
        "remquof",
    ];

    #[test]
    fn every_name_is_an_instruction_or_a_function() {
        let mut wrong = Vec::new();
        for symbol in NAMES.lines() {
            let name = symbol.strip_prefix("__nv_").expect("a name");
            let math = warpsmith_math::Function::from_libdevice(symbol).is_some();
            for ftz in [false, true] {
                match instruction(name, ftz) {
                    Some(mnemonic) if forms(&mnemonic).next().is_none() => {
                        wrong.push(format!("{symbol}: `{mnemonic}` is in no table"));
                    }
                    Some(_) => {}
                    None if FEW.contains(&name) != math => {}
                    None => wrong.push(format!("{symbol}: nothing")),
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
