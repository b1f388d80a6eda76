//! NVIDIA's intrinsics, `llvm.nvvm.*`: instructions of PTX under other names.
//!
//! [`plain`] gives the mnemonic of those whose operands are the instruction's own; a test looks every one of them up in the instruction tables.
//! The others order their operands in another way, and have an arm each.

use super::function::{Builder, Values};
use crate::error::{Error, Result};
use crate::module::body::{Call, Inst};
use warpsmith_ir::{self as ir, InstBuilder, PtxArg, Type, Value};

/// Names that stand for one mnemonic, with the operands of the instruction.
const PLAIN: &[(&str, &str)] = &[
    ("fabs.f", "abs.f32"),
    ("fabs.f32", "abs.f32"),
    ("fabs.ftz.f", "abs.ftz.f32"),
    ("fabs.ftz.f32", "abs.ftz.f32"),
    ("fabs.d", "abs.f64"),
    ("fabs.f64", "abs.f64"),
    ("fmin.f", "min.f32"),
    ("fmin.ftz.f", "min.ftz.f32"),
    ("fmin.d", "min.f64"),
    ("fmax.f", "max.f32"),
    ("fmax.ftz.f", "max.ftz.f32"),
    ("fmax.d", "max.f64"),
    ("fmin.nan.f", "min.NaN.f32"),
    ("fmax.nan.f", "max.NaN.f32"),
    ("fmin.f16", "min.f16"),
    ("fmax.f16", "max.f16"),
    ("saturate.f", "cvt.sat.f32.f32"),
    ("saturate.ftz.f", "cvt.sat.ftz.f32.f32"),
    ("saturate.d", "cvt.sat.f64.f64"),
    ("sin.approx.f", "sin.approx.f32"),
    ("sin.approx.ftz.f", "sin.approx.ftz.f32"),
    ("cos.approx.f", "cos.approx.f32"),
    ("cos.approx.ftz.f", "cos.approx.ftz.f32"),
    ("lg2.approx.f", "lg2.approx.f32"),
    ("lg2.approx.ftz.f", "lg2.approx.ftz.f32"),
    ("lg2.approx.d", "lg2.approx.ftz.f32"),
    ("ex2.approx.f", "ex2.approx.f32"),
    ("ex2.approx.f32", "ex2.approx.f32"),
    ("ex2.approx.ftz.f", "ex2.approx.ftz.f32"),
    ("ex2.approx.ftz.f32", "ex2.approx.ftz.f32"),
    ("tanh.approx.f32", "tanh.approx.f32"),
    ("rsqrt.approx.f", "rsqrt.approx.f32"),
    ("rsqrt.approx.ftz.f", "rsqrt.approx.ftz.f32"),
    ("rsqrt.approx.d", "rsqrt.approx.f64"),
    ("rsqrt.approx.ftz.d", "rsqrt.approx.ftz.f64"),
    ("rcp.approx.ftz.f", "rcp.approx.ftz.f32"),
    ("rcp.approx.ftz.d", "rcp.approx.ftz.f64"),
    ("sqrt.approx.f", "sqrt.approx.f32"),
    ("sqrt.approx.ftz.f", "sqrt.approx.ftz.f32"),
    ("sqrt.f", "sqrt.rn.f32"),
    ("div.approx.f", "div.approx.f32"),
    ("div.approx.ftz.f", "div.approx.ftz.f32"),
    ("div.full", "div.full.f32"),
    ("div.full.ftz", "div.full.ftz.f32"),
    ("mulhi.i", "mul.hi.s32"),
    ("mulhi.ui", "mul.hi.u32"),
    ("mulhi.ll", "mul.hi.s64"),
    ("mulhi.ull", "mul.hi.u64"),
    ("mulhi.s", "mul.hi.s16"),
    ("mulhi.us", "mul.hi.u16"),
    ("mul24.i", "mul24.lo.s32"),
    ("mul24.ui", "mul24.lo.u32"),
    ("sad.i", "sad.s32"),
    ("sad.ui", "sad.u32"),
    ("sad.ll", "sad.s64"),
    ("sad.ull", "sad.u64"),
    ("sad.s", "sad.s16"),
    ("sad.us", "sad.u16"),
    ("abs.i", "abs.s32"),
    ("abs.ll", "abs.s64"),
    ("min.i", "min.s32"),
    ("min.ui", "min.u32"),
    ("min.ll", "min.s64"),
    ("min.ull", "min.u64"),
    ("max.i", "max.s32"),
    ("max.ui", "max.u32"),
    ("max.ll", "max.s64"),
    ("max.ull", "max.u64"),
    ("brev32", "brev.b32"),
    ("brev64", "brev.b64"),
    ("clz.i", "clz.b32"),
    ("clz.ll", "clz.b64"),
    ("popc.i", "popc.b32"),
    ("popc.ll", "popc.b64"),
    ("prmt", "prmt.b32"),
    ("prmt.f4e", "prmt.b32.f4e"),
    ("prmt.b4e", "prmt.b32.b4e"),
    ("activemask", "activemask.b32"),
    ("nanosleep", "nanosleep.u32"),
    ("membar.cta", "membar.cta"),
    ("membar.gl", "membar.gl"),
    ("membar.sys", "membar.sys"),
    ("bar.warp.sync", "bar.warp.sync"),
    ("barrier.cta.sync.aligned.all", "bar.sync"),
    ("barrier.cta.sync.aligned.count", "bar.sync"),
    ("barrier.cta.arrive.aligned.count", "bar.arrive"),
    ("barrier.cta.sync.all", "barrier.sync"),
    ("barrier.cta.sync.count", "barrier.sync"),
    ("barrier.cta.arrive.count", "barrier.arrive"),
    ("barrier.cta.red.and.aligned.all", "bar.red.and.pred"),
    ("barrier.cta.red.or.aligned.all", "bar.red.or.pred"),
    ("barrier.cta.red.popc.aligned.all", "bar.red.popc.u32"),
    ("barrier.cta.red.and.aligned.count", "bar.red.and.pred"),
    ("barrier.cta.red.or.aligned.count", "bar.red.or.pred"),
    ("barrier.cta.red.popc.aligned.count", "bar.red.popc.u32"),
    ("barrier.cluster.arrive", "barrier.cluster.arrive"),
    ("barrier.cluster.arrive.aligned", "barrier.cluster.arrive.aligned"),
    ("barrier.cluster.arrive.relaxed", "barrier.cluster.arrive.relaxed"),
    ("barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.arrive.relaxed.aligned"),
    ("barrier.cluster.wait", "barrier.cluster.wait"),
    ("barrier.cluster.wait.aligned", "barrier.cluster.wait.aligned"),
    ("redux.sync.add", "redux.sync.add.s32"),
    ("redux.sync.min", "redux.sync.min.s32"),
    ("redux.sync.max", "redux.sync.max.s32"),
    ("redux.sync.umin", "redux.sync.min.u32"),
    ("redux.sync.umax", "redux.sync.max.u32"),
    ("redux.sync.and", "redux.sync.and.b32"),
    ("redux.sync.or", "redux.sync.or.b32"),
    ("redux.sync.xor", "redux.sync.xor.b32"),
    ("cp.async.commit.group", "cp.async.commit_group"),
    ("cp.async.wait.group", "cp.async.wait_group"),
    ("cp.async.wait.all", "cp.async.wait_all"),
    ("f2h.rn", "cvt.rn.f16.f32"),
    ("f2h.rn.ftz", "cvt.rn.ftz.f16.f32"),
    ("h2f", "cvt.f32.f16"),
    ("f2bf16.rn", "cvt.rn.bf16.f32"),
    ("f2bf16.rz", "cvt.rz.bf16.f32"),
    ("f2tf32.rna", "cvt.rna.tf32.f32"),
    ("fma.rn.f16", "fma.rn.f16"),
    ("fma.rn.f16x2", "fma.rn.f16x2"),
    ("fma.rn.bf16", "fma.rn.bf16"),
    ("dot4.s.s", "dp4a.s32.s32"),
    ("dot4.u.u", "dp4a.u32.u32"),
    ("fence.sc.cluster", "fence.sc.cluster"),
    ("fns", "fns.b32"),
];

/// The mnemonic of a name whose operands are the instruction's own.
fn plain(name: &str) -> Option<String> {
    if let Some((_, mnemonic)) = PLAIN.iter().find(|(known, _)| *known == name) {
        return Some((*mnemonic).to_owned());
    }
    rounded(name).or_else(|| converted(name))
}

/// `fma.rn.ftz.f` and its like: an operation, how it rounds, a type.
fn rounded(name: &str) -> Option<String> {
    let mut words = name.split('.');
    let (op, rounding) = (words.next()?, words.next()?);
    if !matches!(op, "fma" | "add" | "mul" | "div" | "rcp" | "sqrt")
        || !matches!(rounding, "rn" | "rz" | "rm" | "rp")
    {
        return None;
    }
    let rest: Vec<&str> = words.collect();
    match rest.as_slice() {
        ["f"] => Some(format!("{op}.{rounding}.f32")),
        ["ftz", "f"] => Some(format!("{op}.{rounding}.ftz.f32")),
        ["d"] => Some(format!("{op}.{rounding}.f64")),
        _ => None,
    }
}

/// `f2ll.rz.ftz` and its like: two types and how to round, and `ceil.ftz.f` and its like.
fn converted(name: &str) -> Option<String> {
    let of_type = |letters: &str| {
        Some(match letters {
            "f" => "f32",
            "d" => "f64",
            "i" => "s32",
            "ui" => "u32",
            "ll" => "s64",
            "ull" => "u64",
            _ => return None,
        })
    };
    let mut words = name.split('.');
    let (op, second, third) = (words.next()?, words.next()?, words.next());
    if words.next().is_some() {
        return None;
    }
    if let Some(rounding) = match op {
        "ceil" => Some("rpi"),
        "floor" => Some("rmi"),
        "trunc" => Some("rzi"),
        "round" => Some("rni"),
        _ => None,
    } {
        return match (second, third) {
            ("f", None) => Some(format!("cvt.{rounding}.f32.f32")),
            ("ftz", Some("f")) => Some(format!("cvt.{rounding}.ftz.f32.f32")),
            ("d", None) => Some(format!("cvt.{rounding}.f64.f64")),
            _ => None,
        };
    }
    let (from, to) = op.split_once('2')?;
    let (from, to) = (of_type(from)?, of_type(to)?);
    if !matches!(second, "rn" | "rz" | "rm" | "rp") {
        return None;
    }
    let flush = match third {
        None => "",
        Some("ftz") => ".ftz",
        Some(_) => return None,
    };
    let rounding = if to.starts_with('f') { second.to_owned() } else { format!("{second}i") };
    Some(format!("cvt.{rounding}{flush}.{to}.{from}"))
}

impl Builder<'_, '_, '_> {
    /// The value of a special register.
    pub fn special_register(&mut self, name: &str) -> Result<Value> {
        let reg = ir::Sreg::from_name(name)
            .ok_or_else(|| Error::unsupported(format!("the special register `%{name}`")))?;
        Ok(self.b.ins().sreg(reg))
    }

    pub fn nvvm(&mut self, inst: &Inst, call: &Call, name: &str) -> Result<()> {
        if let Some(reg) = name.strip_prefix("read.ptx.sreg.") {
            let reg = if reg == "warpsize" { "WARP_SZ" } else { reg };
            if reg == "WARP_SZ" {
                let size = self.b.ins().iconst(Type::I32, 32);
                return self.result(inst, &[size]);
            }
            let value = self.special_register(reg)?;
            let part = self.parts(inst.ty)?;
            let value = match part.first() {
                Some(part) => self.resize(value, part.ty),
                None => value,
            };
            return self.result(inst, &[value]);
        }
        let mut args: Vec<Values> = Vec::new();
        for arg in &call.args {
            args.push(self.value(*arg)?);
        }
        let flat: Vec<Value> = args.iter().flatten().copied().collect();
        let types: Vec<Type> = self.parts(inst.ty)?.iter().map(|part| part.ty).collect();
        if let Some(values) = self.special(name, &flat, &types)? {
            return self.result(inst, &values);
        }
        let Some(mnemonic) = plain(name) else {
            return Err(Error::unsupported(format!("`llvm.nvvm.{name}`")));
        };
        let operands: Vec<PtxArg> = flat.iter().map(|value| self.operand(*value)).collect();
        let mnemonic = Self::mnemonic(&mnemonic)?;
        let results: Values = self.b.ins().ptx_typed(mnemonic, operands, &types).into_iter().collect();
        self.result(inst, &results)
    }

    /// A constant stays one: some operands must be.
    fn operand(&self, value: Value) -> PtxArg {
        match self.b.func().dfg.int_const(value) {
            Some(number) if self.type_of(value) != Type::I1 => number.into(),
            _ => value.into(),
        }
    }

    /// Those whose operands are in another order, or that are no instruction.
    fn special(&mut self, name: &str, args: &[Value], types: &[Type]) -> Result<Option<Values>> {
        let words: Vec<&str> = name.split('.').collect();
        let get = |n: usize| {
            args.get(n)
                .copied()
                .ok_or_else(|| Error::unsupported(format!("`llvm.nvvm.{name}` with {} operands", args.len())))
        };
        let one = |value: Value| Ok(Some(Values::from_slice(&[value])));
        match words.as_slice() {
            ["barrier0"] => {
                self.ptx_none("bar.sync", vec![0i32.into()])?;
                Ok(Some(Values::new()))
            }
            ["barrier0", op @ ("popc" | "and" | "or")] => {
                let zero = self.b.ins().iconst(Type::I32, 0);
                let set = self.b.ins().icmp(ir::IntCC::Ne, get(0)?, zero);
                let mnemonic =
                    if *op == "popc" { "bar.red.popc.u32".to_owned() } else { format!("bar.red.{op}.pred") };
                let ty = if *op == "popc" { Type::I32 } else { Type::I1 };
                let value = self.ptx_one(&mnemonic, vec![0i32.into(), set.into()], ty)?;
                let value = self.resize(value, Type::I32);
                one(value)
            }
            [
                "shfl",
                "sync",
                mode @ ("up" | "down" | "bfly" | "idx"),
                ty @ ("i32" | "f32" | "i32p" | "f32p"),
            ] => {
                let mnemonic = Self::mnemonic(&format!("shfl.sync.{mode}.b32"))?;
                let of = if ty.starts_with('f') { Type::F32 } else { Type::I32 };
                let operands =
                    [get(1)?, get(2)?, get(3)?, get(0)?].map(|value| self.operand_of(value)).to_vec();
                let results: &[Type] = if ty.ends_with('p') { &[of, Type::I1] } else { &[of] };
                Ok(Some(self.b.ins().ptx_typed(mnemonic, operands, results).into_iter().collect()))
            }
            ["vote", mode @ ("all" | "any" | "uni" | "ballot"), "sync"] => {
                let ballot = *mode == "ballot";
                let mnemonic = format!("vote.sync.{mode}.{}", if ballot { "b32" } else { "pred" });
                let operands = vec![get(1)?.into(), self.operand(get(0)?)];
                one(self.ptx_one(&mnemonic, operands, if ballot { Type::I32 } else { Type::I1 })?)
            }
            ["match", "any", "sync", ty @ ("i32" | "i64")] => {
                let mnemonic = format!("match.any.sync.b{}", &ty[1..]);
                let operands = vec![get(1)?.into(), self.operand(get(0)?)];
                one(self.ptx_one(&mnemonic, operands, Type::I32)?)
            }
            ["match", "all", "sync", ty @ ("i32p" | "i64p")] => {
                let mnemonic = Self::mnemonic(&format!("match.all.sync.b{}", &ty[1..3]))?;
                let operands = vec![get(1)?.into(), self.operand(get(0)?)];
                Ok(Some(
                    self.b.ins().ptx_typed(mnemonic, operands, &[Type::I32, Type::I1]).into_iter().collect(),
                ))
            }
            ["d2i", half @ ("lo" | "hi")] => {
                let mut bits = self.b.ins().bitcast(Type::I64, get(0)?);
                if *half == "hi" {
                    let amount = self.b.ins().iconst(Type::I32, 32);
                    bits = self.b.ins().lshr(bits, amount);
                }
                one(self.b.ins().trunc(Type::I32, bits))
            }
            ["lohi", "i2d"] => {
                let (low, high) =
                    (self.b.ins().zext(Type::I64, get(0)?), self.b.ins().zext(Type::I64, get(1)?));
                let amount = self.b.ins().iconst(Type::I32, 32);
                let high = self.b.ins().shl(high, amount);
                let bits = self.b.ins().bor(low, high);
                one(self.b.ins().bitcast(Type::F64, bits))
            }
            ["bitcast", ..] => {
                let int = self.integer_of(get(0)?);
                one(self.scalar_of(int, types.first().copied().unwrap_or(Type::I32)))
            }
            ["isspacep", space @ ("shared" | "global" | "const" | "local")] => {
                let pointer = self.generic(get(0)?);
                one(self.ptx_one(&format!("isspacep.{space}"), vec![pointer.into()], Type::I1)?)
            }
            ["cp", "async", cache @ ("ca" | "cg"), "shared", "global", size] => {
                let size: i64 =
                    size.parse().map_err(|_| Error::unsupported(format!("`llvm.nvvm.{name}`")))?;
                let (to, from) = (get(0)?, get(1)?);
                let (to, from) =
                    (self.pointer_as(to, Type::PTR_SHARED), self.pointer_as(from, Type::PTR_GLOBAL));
                self.ptx_none(
                    &format!("cp.async.{cache}.shared.global"),
                    vec![ir::at(to), ir::at(from), size.into()],
                )?;
                Ok(Some(Values::new()))
            }
            ["ldg" | "ldu", "global", ..] => {
                let pointer = self.pointer_as(get(0)?, Type::PTR_GLOBAL);
                let ty = types.first().copied().unwrap_or(Type::I32);
                let flags = super::memory::access_flags(false, true);
                one(self.b.ins().load(ty, flags, pointer, 0))
            }
            ["exit"] => {
                self.ptx_none("exit", Vec::new())?;
                Ok(Some(Values::new()))
            }
            ["mma", shape, "row", "col", rest @ ..] if shape.starts_with('m') => {
                self.mma(name, shape, rest, args, types)
            }
            ["atomic", "load", op @ ("inc" | "dec"), ..] => {
                let pointer = get(0)?;
                let mnemonic = format!("atom{}.{op}.u32", super::atomic::space(self.type_of(pointer)));
                one(self.ptx_one(&mnemonic, vec![ir::at(pointer), get(1)?.into()], Type::I32)?)
            }
            ["atomic", op, "gen", ty, scope @ ("cta" | "sys"), ..] => self.scoped_atomic(op, ty, scope, args),
            _ => Ok(None),
        }
    }

    fn operand_of(&self, value: Value) -> PtxArg {
        self.operand(value)
    }

    /// A product of matrices of a warp: registers of A, B and C one after the other.
    fn mma(
        &mut self,
        name: &str,
        shape: &str,
        rest: &[&str],
        args: &[Value],
        types: &[Type],
    ) -> Result<Option<Values>> {
        let unknown = || Error::unsupported(format!("`llvm.nvvm.{name}`"));
        // D, A, B, C; those that D and C have no say in are left out of the name.
        let (formats, a_regs, b_regs) = match (shape, rest) {
            ("m16n8k8", ["tf32"]) => (["f32", "tf32", "tf32", "f32"], 4, 2),
            ("m16n8k4", ["tf32"]) => (["f32", "tf32", "tf32", "f32"], 2, 1),
            ("m16n8k16", ["bf16"]) => (["f32", "bf16", "bf16", "f32"], 4, 2),
            ("m16n8k8", ["bf16"]) => (["f32", "bf16", "bf16", "f32"], 2, 1),
            ("m16n8k16", ["f32", "f32"]) => (["f32", "f16", "f16", "f32"], 4, 2),
            ("m16n8k8", ["f32", "f32"]) => (["f32", "f16", "f16", "f32"], 2, 1),
            ("m16n8k16", ["s8"]) => (["s32", "s8", "s8", "s32"], 2, 1),
            ("m16n8k32", ["s8"]) => (["s32", "s8", "s8", "s32"], 4, 2),
            ("m8n8k16", ["s8"]) => (["s32", "s8", "s8", "s32"], 1, 1),
            ("m8n8k4", ["f64"]) => (["f64", "f64", "f64", "f64"], 1, 1),
            _ => return Err(unknown()),
        };
        // Pairs of halves are one register each.
        let packed: Vec<Value> = if formats[1] == "f16" {
            let pairs = args.get(..(a_regs + b_regs) * 2).ok_or_else(unknown)?;
            let joined: Vec<Value> = pairs.chunks(2).map(|pair| self.b.ins().vec(pair)).collect();
            let joined: Vec<Value> = joined.into_iter().map(|v| self.b.ins().bitcast(Type::I32, v)).collect();
            joined.into_iter().chain(args[(a_regs + b_regs) * 2..].iter().copied()).collect()
        } else {
            args.to_vec()
        };
        let (a, rest) = packed.split_at_checked(a_regs).ok_or_else(unknown)?;
        let (b, c) = rest.split_at_checked(b_regs).ok_or_else(unknown)?;
        let mnemonic = format!("mma.sync.aligned.{shape}.row.col.{}", formats.join("."));
        let mnemonic = Self::mnemonic(&mnemonic)?;
        let operands: Vec<PtxArg> = [a, b, c].map(|list| ir::braces(list.iter().copied())).to_vec();
        Ok(Some(self.b.ins().ptx_typed(mnemonic, operands, types).into_iter().collect()))
    }

    fn scoped_atomic(&mut self, op: &str, ty: &str, scope: &str, args: &[Value]) -> Result<Option<Values>> {
        let unknown = || Error::unsupported(format!("`llvm.nvvm.atomic.{op}.gen.{ty}.{scope}`"));
        let (Some(&pointer), Some(&value)) = (args.first(), args.get(1)) else { return Err(unknown()) };
        let bits = self.type_of(value).bits();
        let suffix = match (op, ty) {
            ("add", "f") => format!("f{bits}"),
            ("add" | "inc" | "dec", "i") => format!("u{bits}"),
            ("max" | "min", "i") => format!("s{bits}"),
            ("exch" | "and" | "or" | "xor" | "cas", "i") => format!("b{bits}"),
            _ => return Err(unknown()),
        };
        let mnemonic = format!("atom{}.{scope}.{op}.{suffix}", super::atomic::space(self.type_of(pointer)));
        let operands: Vec<PtxArg> =
            [ir::at(pointer)].into_iter().chain(args[1..].iter().map(|v| (*v).into())).collect();
        let of = self.type_of(value);
        Ok(Some(Values::from_slice(&[self.ptx_one(&mnemonic, operands, of)?])))
    }
}

#[cfg(test)]
mod tests {
    use super::{PLAIN, plain};
    use warpsmith_isa::{Mnemonic, forms};

    #[test]
    fn every_name_is_an_instruction_of_the_tables() {
        let made = [
            "fma.rn.f",
            "fma.rm.ftz.f",
            "fma.rp.d",
            "add.rz.ftz.f",
            "mul.rm.d",
            "div.rn.ftz.f",
            "rcp.rn.d",
            "sqrt.rp.f",
            "d2i.rn",
            "f2ll.rz.ftz",
            "ull2d.rm",
            "d2f.rz.ftz",
            "ui2f.rp",
            "ceil.ftz.f",
            "floor.d",
            "trunc.f",
            "round.f",
        ];
        for name in PLAIN.iter().map(|(name, _)| *name).chain(made) {
            let text = plain(name).unwrap_or_else(|| panic!("{name} has no mnemonic"));
            let mnemonic = Mnemonic::parse(&text).unwrap_or_else(|error| panic!("{name}: {text}: {error:?}"));
            assert!(forms(&mnemonic).next().is_some(), "{name}: `{text}` is in no table");
        }
        assert_eq!(plain("f2ll.rz.ftz").as_deref(), Some("cvt.rzi.ftz.s64.f32"));
        for unknown in ["", "fma", "fma.rx.f", "f2x.rn", "ceil.x", "tex.unified"] {
            assert_eq!(plain(unknown), None, "{unknown}");
        }
    }
}
