//! Every form of the instruction tables as a typed operation of the IR: built, verified, printed and read again, compiled, and
//! given to ptxas, every alternative of every modifier at least once.

use std::collections::BTreeMap;
use std::fmt::Write;
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::ir::{
    self, FuncKind, Function, FunctionBuilder, InstBuilder, IntCC, MemFlags, Module, Param, Part, PtxArg,
    Type, Value, at, at_offset, braces, bracket, negative, not, part,
};
use warpsmith::isa::sample::{Arg, Sample, of_form};
use warpsmith::isa::{FORMS, ScalarType, StateSpace, Target, Traits, Version};
use warpsmith::ptxas::Toolbox;

/// The oldest target that an installed ptxas knows.
const OLDEST: Target = Target::sm(50);

/// Kernels in one module.
const BATCH: usize = 400;

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
            128 => self
                .b
                .ins()
                .ptx_typed(ir::mnemonic!("ld.global.b128"), at(self.memory), &[Type::I128])
                .first(),
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
                        _ => self.arg(a),
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
        _ => operands.push(PtxArg::sink()),
    }
}

fn module(samples: &[&Sample], target: Target) -> Module {
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
        let accumulates =
            warpsmith::isa::forms(&sample.mnemonic).any(|f| ir::accumulators(&f.signature()).is_some());
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
                128 => _ = b.ins().ptx(ir::mnemonic!("st.global.b128"), (at(memory), result)),
                _ => _ = b.ins().store(MemFlags::PLAIN, result, memory, 0),
            }
        }
        b.ins().ret(&[]);
        b.finalize().expect("the body is complete");
    }
    module
}

/// What is wrong with a module, and whose fault it is.
fn judge(samples: &[&Sample], target: Target, version: Version, toolbox: &Toolbox) -> Result<(), String> {
    let module = module(samples, target);
    let text = module.to_string();
    match ir::parse_module(&text) {
        Ok(again) if again.to_string() == text => {}
        Ok(_) => return Err(format!("is not printed as it is read:\n{text}")),
        Err(errors) => return Err(format!("is not read again: {}\n{text}", errors[0])),
    }
    let compiler = Compiler::new(target).with_opt_level(OptLevel::O0).with_ptx_version(version);
    let compiled = compiler.compile(&module).map_err(|errors| {
        let notes = errors[0].notes.join("; ");
        format!("is not compiled: {} ({notes})\n{text}", errors[0])
    })?;
    let Some(ptxas) = toolbox.for_target(target) else { return Ok(()) };
    ptxas.check(&compiled.text, target).map_err(|said| format!("ptxas: {said}\n{}", compiled.text))
}

/// Halves what fails until single samples are left.
fn bisect(samples: &[&Sample], target: Target, version: Version, toolbox: &Toolbox, wrong: &mut Vec<String>) {
    let Err(message) = judge(samples, target, version, toolbox) else { return };
    if let [one] = samples {
        let head: String = message.lines().take(40).collect::<Vec<_>>().join("\n");
        let mut text = String::new();
        write!(text, "`{}` for {target}, {version} (form `{}`): {head}", one.mnemonic, one.form.syntax)
            .expect("writing to a string");
        wrong.push(text);
        return;
    }
    let (left, right) = samples.split_at(samples.len() / 2);
    bisect(left, target, version, toolbox, wrong);
    bisect(right, target, version, toolbox, wrong);
}

fn has_bytes(arg: &Arg) -> bool {
    match arg {
        Arg::Reg(ty) => ty.bits() == 8,
        Arg::Vector(all) | Arg::Bracket(all) => all.iter().any(has_bytes),
        Arg::Pair(both) => both.iter().any(has_bytes),
        _ => false,
    }
}

#[test]
fn every_form_is_an_operation() {
    let toolbox = Toolbox::from_environment();
    let mut batches: BTreeMap<(Target, Version), Vec<Sample>> = BTreeMap::new();
    let mut unreached = Vec::new();
    for form in &FORMS {
        if form.traits.intersects(Traits::TERMINATOR | Traits::CALL) {
            continue;
        }
        let mut samples = of_form(form, OLDEST);
        if samples.is_empty() {
            unreached.push(format!("{}: {}", form.opcode, form.syntax));
        }
        // The IR's registers begin at 16 bits.
        let bytes = samples.len();
        samples.retain(|sample| !sample.operands.iter().any(has_bytes));
        if samples.len() < bytes {
            unreached.push(format!("{} needs .b8 registers: {}", form.opcode, form.syntax));
        }
        for sample in samples {
            batches.entry((sample.target, sample.version)).or_default().push(sample);
        }
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    for ((target, version), samples) in &batches {
        let samples: Vec<&Sample> = samples.iter().collect();
        count += samples.len();
        samples.chunks(BATCH).for_each(|chunk| bisect(chunk, *target, *version, &toolbox, &mut wrong));
    }
    println!("{count} samples of {} forms; {} forms without any", FORMS.len(), unreached.len());
    unreached.iter().for_each(|form| println!("not reached: {form}"));
    assert!(wrong.is_empty(), "{} samples fail\n{}", wrong.len(), wrong.join("\n\n"));
}
