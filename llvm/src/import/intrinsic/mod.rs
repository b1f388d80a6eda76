//! LLVM's own functions, `llvm.*`, but for those of NVIDIA's: [`table`] says what each is.

mod fixed;
mod float;
mod integer;
mod lanes;
mod table;
mod vector;

use super::function::{Builder, Values};
use super::memory::access_flags;
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::{Call, DebugRecord, Inst, Location};
use crate::module::types::{Type as Llvm, TypeId};
use table::{Block, Intrinsic};
pub(super) use table::{Fixed, Integer};
use warpsmith_ir::{self as ir, InstBuilder, MemFlags, Type};

/// A name without the last type that it is overloaded for; `None` where it does not end with one.
pub(in crate::import) fn without_type(name: &str) -> Option<&str> {
    // The name of a struct that a pointer of LLVM before 15 leads to may have dots of its own: `p0s_struct.pairs`.
    let to_struct = |at: usize| {
        let pointer = name[..at].rfind('.')?;
        let (head, last) = (&name[..pointer], &name[pointer + 1..]);
        is_type(last).then_some(head)
    };
    if let Some(head) = name.find("s_").and_then(to_struct) {
        return Some(head);
    }
    let (head, last) = name.rsplit_once('.')?;
    is_type(last).then_some(head)
}

/// True for a type as it stands in the names of intrinsics: `i32`, `bf16`, `v4f32`, `p1`, and before LLVM 15 `p0v4f32`, `p0a8i32`, `p0s_struct.pairs`.
fn is_type(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some(kind) = rest.chars().next() else { return false };
        if matches!(kind, 's' | 'f') && rest.get(1..2) == Some("_") {
            return rest.len() > 3 && rest.ends_with(kind);
        }
        let Some(tail) = rest.strip_prefix("bf").or_else(|| rest.strip_prefix(['i', 'f', 'p', 'v', 'a']))
        else {
            return false;
        };
        let behind = tail.trim_start_matches(|c: char| c.is_ascii_digit());
        if behind.len() == tail.len() {
            return false;
        }
        match kind {
            'p' if behind.is_empty() => return true,
            'p' | 'v' | 'a' => rest = behind,
            _ => return behind.is_empty(),
        }
    }
}

/// The name without the types that it is overloaded for: `umax` of `umax.v4i32`.
fn base(name: &str) -> &str {
    let mut base = name;
    while let Some(head) = without_type(base) {
        base = head;
    }
    base
}

impl Builder<'_, '_, '_> {
    pub(super) fn arg(&self, call: &Call, n: usize) -> Result<ValueId> {
        self.body
            .args(call)
            .get(n)
            .copied()
            .ok_or_else(|| Error::unsupported("an intrinsic with too few arguments"))
    }

    pub fn intrinsic(&mut self, inst: &Inst, call: &Call, full: &str) -> Result<()> {
        let Some(intrinsic) = table::find(full).or_else(|| table::find(base(full))) else {
            return Err(Error::unsupported(format!("`llvm.{full}`")));
        };
        match intrinsic {
            Intrinsic::Bind { is_address } => {
                self.old_debug_record(inst, call, is_address);
                Ok(())
            }
            Intrinsic::Nothing if inst.value.is_some() => {
                let zeros = self.parts(inst.ty)?.iter().map(|part| self.zero_of(part.ty)).collect::<Values>();
                self.result(inst, &zeros)
            }
            Intrinsic::Nothing => Ok(()),
            Intrinsic::First => {
                let values = self.value(self.arg(call, 0)?)?;
                self.result(inst, &values)
            }
            Intrinsic::Known(answer) => {
                let answer = self.b.ins().iconst(Type::I1, i64::from(answer));
                self.result(inst, &[answer])
            }
            Intrinsic::Rounding => {
                let nearest = self.b.ins().iconst(Type::I32, 1);
                self.result(inst, &[nearest])
            }
            Intrinsic::LoadRelative => {
                let (base, offset) = (self.scalar(self.arg(call, 0)?)?, self.scalar(self.arg(call, 1)?)?);
                let offset = self.resize_signed(offset, Type::I64);
                let at = self.b.ins().ptradd(base, offset);
                let distance = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
                let distance = self.b.ins().sext(Type::I64, distance);
                let found = self.b.ins().ptradd(base, distance);
                self.result(inst, &[found])
            }
            Intrinsic::ObjectSize => {
                let least =
                    self.arg(call, 1).ok().and_then(|arg| self.constant_integer(arg)).unwrap_or(0) != 0;
                let part = self.parts(inst.ty)?;
                let bits = part.first().map_or(64, |part| part.bits);
                let value = self.int(bits, if least { 0 } else { -1 });
                self.result(inst, &[value])
            }
            Intrinsic::Trap => {
                self.b.ins().trap();
                let next = self.b.create_block();
                self.b.switch_to_block(next);
                Ok(())
            }
            Intrinsic::Breakpoint => self.ptx_none("brkpt", Vec::new()),
            Intrinsic::Block(what) => self.block_of_memory(call, what),
            Intrinsic::VaStart => {
                let list = self.scalar(self.arg(call, 0)?)?;
                let Some(first) = self.variadic else {
                    return Err(Error::unsupported("`va_start` in a function without `...`"));
                };
                self.b.ins().store(MemFlags::PLAIN, first, list, 0);
                Ok(())
            }
            Intrinsic::VaCopy => {
                let (to, from) = (self.scalar(self.arg(call, 0)?)?, self.scalar(self.arg(call, 1)?)?);
                let at = self.b.ins().load(Type::PTR, MemFlags::PLAIN, from, 0);
                self.b.ins().store(MemFlags::PLAIN, at, to, 0);
                Ok(())
            }
            Intrinsic::PtrMask => self.mask_pointers(inst, call),
            Intrinsic::StackSave => {
                let top = self.ptx_one("stacksave.u64", Vec::new(), Type::I64)?;
                let top = self.b.ins().inttoptr(Type::PTR, top);
                self.result(inst, &[top])
            }
            Intrinsic::StackRestore => {
                let top = self.scalar(self.arg(call, 0)?)?;
                let top = self.b.ins().ptrtoint(top);
                self.ptx_none("stackrestore.u64", vec![top.into()])
            }
            Intrinsic::Counter(register) => {
                let value = self.special_register(register)?;
                self.result(inst, &[value])
            }
            Intrinsic::Reduce(reduce) => self.reduce(inst, call, reduce),
            Intrinsic::Masked(masked) => self.masked(inst, call, masked),
            Intrinsic::Interleave(_)
            | Intrinsic::Deinterleave(_)
            | Intrinsic::ReverseVector
            | Intrinsic::StepVector
            | Intrinsic::InsertVector
            | Intrinsic::ExtractVector
            | Intrinsic::Splice(_) => self.rearrange(inst, call, intrinsic),
            Intrinsic::Lanes(lanes) => self.lanes_intrinsic(inst, call, lanes),
            Intrinsic::Refused => Err(Error::unsupported(format!("`llvm.{full}`"))),
            Intrinsic::Integer(_)
            | Intrinsic::Float(_)
            | Intrinsic::FloatToInteger { .. }
            | Intrinsic::ThreeWay { .. }
            | Intrinsic::FromHalf
            | Intrinsic::ToHalf => self.elementwise(inst, call, intrinsic, full),
        }
    }

    /// What LLVM before 19 wrote for a debug record: the arguments are numbers of metadata.
    fn old_debug_record(&mut self, inst: &Inst, call: &Call, is_address: bool) {
        let &[location, variable, expression, ..] = self.body.args(call) else { return };
        let Some([_, _, _, inlined]) = inst.loc.filter(|_| self.scopes.is_some()) else { return };
        _ = self.bind(
            &DebugRecord {
                inst: 0,
                loc: 0,
                variable: variable.0.into(),
                expression: expression.0.into(),
                location: Location::Metadata(location.0.into()),
                is_address,
            },
            inlined,
        );
    }

    fn mask_pointers(&mut self, inst: &Inst, call: &Call) -> Result<()> {
        let pointers = self.value(self.arg(call, 0)?)?;
        let masks = self.value(self.arg(call, 1)?)?;
        let mut out = Values::new();
        for (pointer, mask) in pointers.into_iter().zip(masks) {
            let pointer = self.generic(pointer);
            let address = self.b.ins().ptrtoint(pointer);
            let mask = self.resize(mask, Type::I64);
            let address = self.b.ins().band(address, mask);
            out.push(self.b.ins().inttoptr(Type::PTR, address));
        }
        self.result(inst, &out)
    }

    fn block_of_memory(&mut self, call: &Call, what: Block) -> Result<()> {
        let (to, size) = (self.scalar(self.arg(call, 0)?)?, self.scalar(self.arg(call, 2)?)?);
        let volatile = self.arg(call, 3).ok().and_then(|arg| self.constant_integer(arg)).unwrap_or(0) != 0;
        let set = self.module().attributes.set(call.attributes);
        // LLVM 3.8 has the alignment of both as an operand.
        let old = self
            .body
            .args(call)
            .get(4)
            .and(self.body.args(call).get(3))
            .and_then(|arg| self.constant_integer(*arg));
        let align_of = |index: u32| {
            let align = set.number(index, crate::module::attributes::known::ALIGN);
            align.or(old.and_then(|n| u64::try_from(n).ok())).unwrap_or(1).clamp(1, 16) as u32
        };
        let volatile = if old.is_some() {
            self.body.args(call).get(4).and_then(|arg| self.constant_integer(*arg)) == Some(1)
        } else {
            volatile
        };
        let flags = access_flags(volatile, false);
        let aligned = |index| flags.with_align(align_of(index)).unwrap_or(flags);
        let (flags, source) = (aligned(1), aligned(if what == Block::Fill { 1 } else { 2 }));
        let width = if self.type_of(size).bits() <= 32 { Type::I32 } else { Type::I64 };
        let size = self.resize(size, width);
        let from = self.scalar(self.arg(call, 1)?)?;
        let op = match what {
            Block::Copy => ir::Opcode::Memcpy,
            Block::Move => ir::Opcode::Memmove,
            Block::Fill => ir::Opcode::Memset,
        };
        self.b.ins().mem_block_from(op, flags, source, [to, from, size]);
        Ok(())
    }

    /// An intrinsic on each element of its operands.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a struct is one result")]
    fn elementwise(&mut self, inst: &Inst, call: &Call, intrinsic: Intrinsic, full: &str) -> Result<()> {
        let of = self.value_type(self.arg(call, 0)?)?;
        let (element, lanes) = self.lanes(of);
        let mut args = Vec::new();
        for (arg, ty) in self.body.args(call).iter().zip(self.body.arg_types(call)) {
            if matches!(self.ty(*ty), Llvm::Metadata) {
                break;
            }
            args.push((self.lanes(*ty).1, self.value(*arg)?));
        }
        let first_result = self.first_result(inst.ty);
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
            out.push(self.of_lane(intrinsic, element, first_result, &of_lane, call).map_err(
                |mut error| {
                    error.message = format!("{} (`llvm.{full}`)", error.message);
                    error
                },
            )?);
        }
        // Several results are one vector each.
        let fields = match self.ty(inst.ty) {
            Llvm::Struct { fields, .. } => fields.clone(),
            _ => vec![inst.ty],
        };
        let mut flat = Values::new();
        let mut at = 0;
        for field in fields {
            let step = super::shape::count(self.types(), self.lanes(field).0)?;
            for lane in &out {
                flat.extend_from_slice(lane.get(at..at + step).unwrap_or_default());
            }
            at += step;
        }
        self.result(inst, &flat)
    }

    /// The type of an element of the first result.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a struct is one result")]
    fn first_result(&self, ty: TypeId) -> TypeId {
        match self.ty(ty) {
            Llvm::Struct { fields, .. } => fields.first().map_or(ty, |field| self.lanes(*field).0),
            _ => self.lanes(ty).0,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not an integer, or not done lane by lane, is refused by name"
    )]
    fn of_lane(
        &mut self,
        intrinsic: Intrinsic,
        element: TypeId,
        result: TypeId,
        args: &[Values],
        call: &Call,
    ) -> Result<Values> {
        let missing = || Error::unsupported("an intrinsic with too few operands");
        let x = args.first().ok_or_else(missing)?;
        let scalar = *x.first().ok_or_else(missing)?;
        match intrinsic {
            Intrinsic::Integer(op) => {
                let bits = self.width(element)?;
                if op == Integer::SwapBytes && !bits.is_multiple_of(16) {
                    return Err(Error::unsupported(format!("the bytes of `i{bits}` swapped")));
                }
                if let Integer::Fixed(op) = op {
                    return self.fixed_point(op, bits, args, self.constant_integer(self.arg(call, 2)?));
                }
                self.integer_intrinsic(op, bits, args)
            }
            Intrinsic::Float(op) => {
                let to = self.parts(result)?.first().map_or(Type::I32, |part| part.ty);
                self.float_intrinsic(op, args, call, to)
            }
            Intrinsic::FloatToInteger { signed } => {
                let bits = self.width(result)?;
                self.float_to_integer(scalar, bits, signed)
            }
            Intrinsic::ThreeWay { signed } => {
                let bits = self.width(result)?;
                let y = args.get(1).ok_or_else(missing)?;
                let of = match self.ty(element) {
                    Llvm::Integer(bits) => *bits,
                    _ => return Err(missing()),
                };
                self.three_way(signed, of, x, y, bits)
            }
            Intrinsic::FromHalf => {
                let to = self.parts(result)?.first().map_or(Type::F32, |part| part.ty);
                let half = self.b.ins().bitcast(Type::F16, scalar);
                Ok(Values::from_slice(&[self.b.ins().fpext(to, half)]))
            }
            Intrinsic::ToHalf => {
                let half = self.b.ins().fptrunc(Type::F16, scalar);
                Ok(Values::from_slice(&[self.b.ins().bitcast(ir::Type::I16, half)]))
            }
            _ => Err(Error::unsupported("an intrinsic on lanes of vectors")),
        }
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
            ("fma.bf16", "fma"),
            ("convert.from.fp16.f32", "convert.from.fp16"),
            ("va_start.p0", "va_start"),
            ("memcpy.p0i8.p0i8.i64", "memcpy"),
            ("masked.load.v4f32.p0v4f32", "masked.load"),
            ("masked.gather.v2p0i8.v2p0p0i8", "masked.gather"),
            ("ssa.copy.p0s_struct.pairs", "ssa.copy"),
            ("ssa.copy.p0p1a4s_class.of.classs", "ssa.copy"),
            ("launder.invariant.group.p0f_isVoidi32f", "launder.invariant.group"),
            ("fptosi.sat.i32.f64", "fptosi.sat"),
            ("trap", "trap"),
        ] {
            assert_eq!(base(full), expected);
        }
    }
}
