//! Samples of the instruction tables as kernels: for tests that every form is an operation, and for whoever asks what follows.

use crate::{
    FuncKind, Function, FunctionBuilder, InstBuilder, IntCC, MemFlags, Module, Param, Part, PtxArg, Type,
    Value, accumulators, at, at_offset, braces, bracket, mnemonic, negative, not, part,
};
use warpsmith_isa::sample::{Arg, Sample};
use warpsmith_isa::{ScalarType, StateSpace, Target, forms};

#[expect(clippy::wildcard_enum_match_arm, reason = "registers of all other types hold bits")]
fn ir_type(ty: ScalarType) -> Type {
    match ty {
        ScalarType::Pred => Type::I1,
        ScalarType::F32 => Type::F32,
        ScalarType::F64 => Type::F64,
        _ => Type::int(ty.bits()).expect("registers have 8 to 128 bits"),
    }
}

/// Gives operands their values, out of the memory that the kernel's parameter points to.
struct Values<'b, 'm> {
    b: &'b mut FunctionBuilder<'m>,
    memory: Value,
}

impl Values<'_, '_> {
    fn of(&mut self, ty: ScalarType) -> Value {
        let ty = ir_type(ty);
        match ty.bits() {
            1 => {
                let (word, zero) = (self.b.ins().load(Type::I32, MemFlags::PLAIN, self.memory, 0), 0);
                let zero = self.b.ins().iconst(Type::I32, zero);
                self.b.ins().icmp(IntCC::Ne, word, zero)
            }
            128 => {
                self.b.ins().ptx_typed(mnemonic!("ld.global.b128"), at(self.memory), &[Type::I128]).first()
            }
            _ => self.b.ins().load(ty, MemFlags::PLAIN, self.memory, 0),
        }
    }

    fn pointer(&mut self, space: StateSpace) -> PtxArg {
        let wanted = Type::ptr(space).unwrap_or(Type::PTR);
        let address = self.of(ScalarType::B64);
        at_offset(self.b.ins().inttoptr(wanted, address), 0)
    }

    fn arg(&mut self, arg: &Arg) -> PtxArg {
        match arg {
            Arg::Reg(ty) => self.of(*ty).into(),
            Arg::Int(value) => (*value).into(),
            Arg::F32(bits) => f32::from_bits(*bits).into(),
            Arg::F64(bits) => f64::from_bits(*bits).into(),
            Arg::Address(space) => self.pointer(*space),
            Arg::TensorAddress => at(self.of(ScalarType::B32)),
            Arg::Handle => at(self.of(ScalarType::B64)),
            Arg::Vector(all) => braces(all.iter().map(|a| self.arg(a)).collect::<Vec<_>>()),
            Arg::Bracket(all) => bracket(
                all.iter()
                    .enumerate()
                    .map(|(n, a)| match a {
                        // What a bracket begins with needs no brackets of its own.
                        Arg::Handle | Arg::Address(_) if n == 0 => self.of(ScalarType::B64).into(),
                        Arg::TensorAddress if n == 0 => self.of(ScalarType::B32).into(),
                        Arg::Reg(_)
                        | Arg::Int(_)
                        | Arg::F32(_)
                        | Arg::F64(_)
                        | Arg::Address(_)
                        | Arg::TensorAddress
                        | Arg::Handle
                        | Arg::Vector(_)
                        | Arg::Bracket(_)
                        | Arg::Pair(_)
                        | Arg::Not(_)
                        | Arg::Neg(_)
                        | Arg::Part(..)
                        | Arg::Sink => self.arg(a),
                    })
                    .collect::<Vec<_>>(),
            ),
            Arg::Not(ty) => not(self.of(*ty)),
            Arg::Neg(ty) => negative(self.of(*ty)),
            Arg::Part(ty, name) => part(self.of(*ty), Part::from_name(name).expect("a part")),
            Arg::Sink | Arg::Pair(_) => PtxArg::sink(),
        }
    }
}

/// The results that a destination becomes, and the part of it that is written.
fn results(arg: &Arg, types: &mut Vec<Type>, operands: &mut Vec<PtxArg>) {
    match arg {
        Arg::Reg(ty) => types.push(ir_type(*ty)),
        Arg::Vector(all) => all.iter().for_each(|a| results(a, types, operands)),
        Arg::Pair(both) => both.iter().for_each(|a| results(a, types, operands)),
        Arg::Part(ty, name) => {
            types.push(ir_type(*ty));
            operands.push(PtxArg::destination(Part::from_name(name).expect("a part")));
        }
        Arg::Int(_)
        | Arg::F32(_)
        | Arg::F64(_)
        | Arg::Address(_)
        | Arg::TensorAddress
        | Arg::Handle
        | Arg::Bracket(_)
        | Arg::Not(_)
        | Arg::Neg(_)
        | Arg::Sink => operands.push(PtxArg::sink()),
    }
}

/// A module for the target with a kernel for each sample, which takes its operands out of memory and stores its results.
pub fn module(samples: &[&Sample], target: Target) -> Module {
    let mut module = Module::new();
    module.target = Some(target);
    for (n, sample) in samples.iter().enumerate() {
        let params = vec![Param::new(Type::ptr(StateSpace::Global).expect("a space of pointers"))];
        let id = module.add_function(Function::new(format!("k{n}"), FuncKind::Kernel, params, vec![]));
        let mut b = FunctionBuilder::new(&mut module, id);
        let entry = b.entry_block();
        let memory = b.block_params(entry)[0];
        let (mut types, mut operands) = (Vec::new(), Vec::new());
        let (written, read) = sample.operands.split_at(sample.destinations);
        written.iter().for_each(|arg| results(arg, &mut types, &mut operands));
        let mut values = Values { b: &mut b, memory };
        let accumulates = forms(&sample.mnemonic).any(|form| accumulators(&form.signature()).is_some());
        if accumulates {
            operands.extend(written.iter().map(|arg| values.arg(arg)));
        }
        operands.extend(read.iter().map(|arg| values.arg(arg)));
        let found = b.ins().ptx_typed(sample.mnemonic, operands, &types);
        // Every result is used, lest it be left out.
        for result in found {
            match b.func().dfg.ty(result).bits() {
                1 => {
                    let word = b.ins().zext(Type::I32, result);
                    b.ins().store(MemFlags::PLAIN, word, memory, 0);
                }
                128 => _ = b.ins().ptx(mnemonic!("st.global.b128"), (at(memory), result)),
                _ => _ = b.ins().store(MemFlags::PLAIN, result, memory, 0),
            }
        }
        b.ins().ret(&[]);
        b.finalize().expect("the body is complete");
    }
    module
}
