//! What is not an instruction, and what depends on more than its name.

use super::operands::Register;
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::module::body::{Call, Inst};
use warpsmith_ir::{self as ir, InstBuilder, Mnemonic, Type, Value, mnemonic};

/// The register of a name: `cluster.ctaid.x` is `%cluster_ctaid.x`, `lanemask.eq` is `%lanemask_eq`.
pub(super) fn register(name: &str) -> Option<ir::Sreg> {
    let joined = name.replace('.', "_");
    let component = name.rsplit_once('.').map(|(head, last)| format!("{}.{last}", head.replace('.', "_")));
    ir::Sreg::from_name(name)
        .or_else(|| component.and_then(|name| ir::Sreg::from_name(&name)))
        .or_else(|| ir::Sreg::from_name(&joined))
}

/// The modes of `llvm.nvvm.shfl.sync.i32`, and of `llvm.nvvm.vote.sync`, by the numbers of NVVM IR.
const SHUFFLES: [Mnemonic; 4] = [
    mnemonic!("shfl.sync.idx.b32"),
    mnemonic!("shfl.sync.up.b32"),
    mnemonic!("shfl.sync.down.b32"),
    mnemonic!("shfl.sync.bfly.b32"),
];
const VOTES: [Mnemonic; 4] = [
    mnemonic!("vote.sync.all.pred"),
    mnemonic!("vote.sync.any.pred"),
    mnemonic!("vote.sync.uni.pred"),
    mnemonic!("vote.sync.ballot.b32"),
];

impl Builder<'_, '_, '_> {
    /// True if the name is one of these.
    pub(super) fn special(&mut self, inst: &Inst, call: &Call, name: &str) -> Result<bool> {
        let words: Vec<&str> = name.split('.').collect();
        if matches!(words.as_slice(), ["reflect"]) {
            self.reflect(inst, call)?;
            return Ok(true);
        }
        if matches!(words.as_slice(), ["texsurf", ..]) {
            return Err(Error::unsupported(format!(
                "`llvm.nvvm.{name}`: textures and surfaces are passed to kernels as numbers of 64 bits"
            )));
        }
        if matches!(words.as_slice(), ["ldg" | "ldu", "global", ..]) {
            return self.load_invariant(inst, call).map(|()| true);
        }
        let mut args: Vec<Value> = Vec::new();
        for arg in self.body.args(call) {
            args.extend(self.value(*arg)?);
        }
        let types: Vec<Type> = self.parts(inst.ty)?.iter().map(|part| part.ty).collect();
        match self.special_values(name, &words, &args, &types)? {
            Some(values) => self.result(inst, &values).map(|()| true),
            None => Ok(false),
        }
    }

    /// A load of what nothing writes, of scalars and vectors: an address and its alignment.
    fn load_invariant(&mut self, inst: &Inst, call: &Call) -> Result<()> {
        let pointer = self.scalar(self.arg(call, 0)?)?;
        let pointer = self.pointer_as(pointer, Type::PTR_GLOBAL);
        let known = self.arg(call, 1).ok().and_then(|arg| self.constant_integer(arg));
        let align = known.and_then(|align| u64::try_from(align).ok()).filter(|align| align.is_power_of_two());
        let align = align.unwrap_or_else(|| self.types().align(inst.ty));
        let flags = crate::import::memory::access_flags(false, true);
        let mut values = self.load_parts(inst.ty, pointer, align, flags)?;
        if let ([value], Some(result)) = (values.as_mut_slice(), inst.value) {
            let ty = self.known_type(result, self.type_of(*value));
            *value = self.pointer_as(*value, ty);
        }
        self.result(inst, &values)
    }

    /// The instruction of a mode that is passed as a number.
    fn mode(&self, name: &str, number: Value, modes: &[Mnemonic; 4]) -> Result<Mnemonic> {
        let known = self.b.func().dfg.int_const(number).and_then(|n| usize::try_from(n).ok());
        known.and_then(|n| modes.get(n).copied()).ok_or_else(|| {
            Error::unsupported(format!("`llvm.nvvm.{name}` with a mode that is not a constant from 0 to 3"))
        })
    }

    fn special_values(
        &mut self,
        name: &str,
        words: &[&str],
        args: &[Value],
        types: &[Type],
    ) -> Result<Option<Values>> {
        let get = |n: usize| {
            args.get(n)
                .copied()
                .ok_or_else(|| Error::unsupported(format!("`llvm.nvvm.{name}` with {} operands", args.len())))
        };
        let one = |value: Value| Ok(Some(Values::from_slice(&[value])));
        match words {
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
            ["swap", "lo", "hi", "b64"] => {
                let amount = self.b.ins().iconst(Type::I32, 32);
                one(self.b.ins().rotl(get(0)?, amount))
            }
            ["rotate", "b32" | "b64"] => one(self.b.ins().rotl(get(0)?, get(1)?)),
            ["rotate", "right", "b64"] => one(self.b.ins().rotr(get(0)?, get(1)?)),
            // NVVM IR names no mode, but passes its number.
            ["shfl", "sync", "i32"] => {
                let mode = self.mode(name, get(1)?, &SHUFFLES)?;
                let operands = [get(2)?, get(3)?, get(4)?, get(0)?].map(ir::PtxArg::from);
                let results = self.b.ins().ptx_typed(mode, operands.to_vec(), &[Type::I32, Type::I1]);
                Ok(Some(results.into_iter().collect()))
            }
            ["vote", "sync"] => {
                let mode = self.mode(name, get(1)?, &VOTES)?;
                let result = self.b.ins().ptx(mode, (get(2)?, get(0)?)).first();
                let [word, holds] = [Type::I32, Type::I1].map(|ty| match self.type_of(result) == ty {
                    true => result,
                    false => self.b.ins().iconst(ty, 0),
                });
                Ok(Some(Values::from_slice(&[word, holds])))
            }
            ["move", "ptr"] | ["internal", "addrspace", "wrap"] => one(get(0)?),
            // Casts between spaces, as LLVM before 20 wrote them.
            ["ptr", "gen", "to", ..] | ["ptr", _, "to", "gen"] => {
                let pointer = self.generic(get(0)?);
                let ty = types.first().copied().unwrap_or(Type::PTR);
                one(self.pointer_as(pointer, ty))
            }
            // Hints for compilers, and no code.
            // A kernel returns; from a function, the thread cannot end.
            ["exit"] if self.b.func().kind == ir::FuncKind::Kernel => {
                self.b.ins().ret(&[]);
                let next = self.b.create_block();
                self.b.switch_to_block(next);
                Ok(Some(Values::new()))
            }
            ["exit"] => Err(Error::unsupported("`llvm.nvvm.exit` in a function that is not a kernel")),
            ["compiler", "error" | "warn"] => Ok(Some(Values::new())),
            ["is_explicit_cluster"] => {
                let value = self.special_register("is_explicit_cluster")?;
                one(self.resize(value, Type::I1))
            }
            ["flo", sign @ ("s" | "u")] => {
                let amount = if self.number(get(1)?) == Some(1) { ".shiftamt" } else { "" };
                self.operation(&format!("bfind{amount}.{sign}32"), &args[..1])
            }
            ["idp2a", a @ ("s" | "u"), b @ ("s" | "u")] => {
                let half = if self.number(get(2)?) == Some(1) { "hi" } else { "lo" };
                let operands = [get(0)?, get(1)?, get(3)?];
                self.operation(&format!("dp2a.{half}.{a}32.{b}32"), &operands)
            }
            ["atomic", "load", op @ ("inc" | "dec"), ..] => self.atomic("", op, "i", args, name),
            ["atomic", op, "gen", ty @ ("i" | "f"), scope @ ("cta" | "sys"), ..] => {
                self.atomic(&format!(".{scope}"), op, ty, args, name)
            }
            _ => Ok(None),
        }
    }

    fn number(&self, value: Value) -> Option<i64> {
        self.b.func().dfg.int_const(value).map(|number| number & 1)
    }

    fn operation(&mut self, mnemonic: &str, args: &[Value]) -> Result<Option<Values>> {
        let registers: Vec<Register> = args.iter().map(|arg| Register::Value(*arg)).collect();
        let mnemonic: Mnemonic = Self::mnemonic(mnemonic)?;
        Ok(Some(self.issue(&mnemonic, &registers, 1)?.into_iter().collect()))
    }

    /// An atomic operation whose type has the width of what it works on.
    fn atomic(
        &mut self,
        scope: &str,
        op: &str,
        ty: &str,
        args: &[Value],
        name: &str,
    ) -> Result<Option<Values>> {
        let unknown = || Error::unsupported(format!("`llvm.nvvm.{name}`"));
        let (Some(&pointer), Some(&value)) = (args.first(), args.get(1)) else { return Err(unknown()) };
        let bits = self.type_of(value).bits();
        let suffix = match (op, ty) {
            ("add", "f") => format!("f{bits}"),
            ("add" | "inc" | "dec", "i") => format!("u{bits}"),
            ("max" | "min", "i") => format!("s{bits}"),
            ("exch" | "and" | "or" | "xor" | "cas", "i") => format!("b{bits}"),
            _ => return Err(unknown()),
        };
        let space = crate::import::atomic::space(self.type_of(pointer));
        let mnemonic = format!("atom{space}{scope}.{op}.{suffix}");
        let operands: Vec<ir::PtxArg> =
            [ir::at(pointer)].into_iter().chain(args[1..].iter().map(|v| (*v).into())).collect();
        let of = self.type_of(value);
        Ok(Some(Values::from_slice(&[self.ptx_one(&mnemonic, operands, of)?])))
    }
}
