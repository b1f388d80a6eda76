//! Runs of arithmetic of the engine's programs as code for whole warps.
//!
//! A run is compiled to a loop over four lanes at a time: what it reads is loaded, what it computes stays in the host's vector registers, and what
//! it has written is stored at the end. Loads, stores, branches and all else stay with the interpreter, which finds every register where its own
//! operations would have left it.

use crate::codes;
use crate::host::Code;
use crate::unit::internal;
use cranelift_codegen::ir::condcodes::{FloatCC as Fc, IntCC as Cc};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, ConstantData, InstBuilder, MemFlagsData, Type, Value, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{Linkage, Module as _};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use warpsmith_diag::Diagnostic;
use warpsmith_interp::engine::{Program, Reg, Run, RunCode, RunStep, Width};
use warpsmith_isa::{Comparison, Instruction, Mod, Operation, Rounding, ScalarType};

/// The fewest operations that a run is compiled for: fewer cost as much to call as to interpret.
const LEAST: usize = 3;

/// What code a program was given.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Accelerated {
    /// Runs that are compiled.
    pub runs: usize,
    /// Operations in them.
    pub operations: usize,
}

/// Compiles the runs of arithmetic in a program, and has the engine execute them so.
///
/// Results, statistics and faults are those of the interpreter. On hosts without machine code nothing is compiled, and the answer is the error
/// `N0001`.
pub fn accelerate(program: &mut Program) -> Result<Accelerated, Box<Diagnostic>> {
    let mut code = Code::new(&[])?;
    let fused_multiply = has_fused_multiply();
    let mut accelerated = Accelerated::default();
    let mut made = Vec::new();
    let runs = program.runs(LEAST, &|step| plan(program, step, fused_multiply).is_some());
    let (mut builder, mut context) = (FunctionBuilderContext::new(), code.make_context());
    for (n, run) in runs.iter().enumerate() {
        let mut signature = code.make_signature();
        signature.params.extend([types::I64, types::I64, types::I32].map(AbiParam::new));
        let name = format!("run{n}");
        let id = code.declare_function(&name, Linkage::Local, &signature).map_err(|e| internal(&name, e))?;
        context.func.signature = signature;
        let b = FunctionBuilder::new(&mut context.func, &mut builder);
        compile(b, program, run, fused_multiply, code.target_config())?;
        code.define_function(id, &mut context).map_err(|e| internal(&name, format!("{e:?}")))?;
        code.clear_context(&mut context);
        made.push((run.range.clone(), id));
        accelerated.runs += 1;
        accelerated.operations += run.steps.len();
    }
    if made.is_empty() {
        return Ok(accelerated);
    }
    code.finalize_definitions().map_err(|e| internal("a run", e))?;
    let entries = made.into_iter().map(|(range, id)| {
        // SAFETY: the function was compiled with the signature of `RunCode`.
        (range, unsafe { std::mem::transmute::<*const u8, RunCode>(code.get_finalized_function(id)) })
    });
    let entries: Vec<_> = entries.collect();
    // SAFETY: the code of a run does what `step` says of each of its operations, with the registers that the program's builder has checked, and
    // `code` owns it.
    unsafe { program.fuse(entries, Arc::new(Finished(code))) };
    Ok(accelerated)
}

/// Code that is only executed any more.
struct Finished(#[expect(dead_code, reason = "code lives as long as its owner")] Code);

// SAFETY: finished code does not change.
unsafe impl Send for Finished {}
// SAFETY: as above.
unsafe impl Sync for Finished {}

fn has_fused_multiply() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// What is computed, as far as the types of registers and the modifiers do not say.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Plan {
    Move,
    Add,
    Sub,
    Multiply,
    MultiplyAdd,
    /// The product of 32 bits in 64, with an addend or without, of signed numbers or not.
    Widen {
        signed: bool,
        add: bool,
    },
    And,
    Or,
    Xor,
    Not,
    ShiftLeft(u32),
    ShiftRight {
        by: u32,
        signed: bool,
    },
    FunnelLeft(u32),
    FunnelRight(u32),
    Logic(u8),
    Permute(u32),
    Least {
        signed: bool,
    },
    Greatest {
        signed: bool,
    },
    Compare(Cc),
    CompareFloat(Fc),
    Choose,
    /// 32 bits to 64.
    Extend {
        signed: bool,
    },
    /// 64 bits to 32.
    Cut,
    AddFloat,
    SubFloat,
    MultiplyFloat,
    Fused,
}

/// How an operation is compiled. `None` if it is not.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not here stays with the interpreter")]
fn plan(program: &Program, step: &RunStep<'_>, fused_multiply: bool) -> Option<Plan> {
    use Width::{Pred, W32, W64};
    let i = step.instruction;
    let ty = i.ty()?;
    let widths: Vec<Width> = step.src[..step.sources].iter().map(|r| r.width()).collect();
    let to = step.dst.width();
    let same = |count: usize| widths == vec![to; count] && matches!(to, W32 | W64) && ty.bits() == to.bits();
    let constant = |n: usize| program.small_constant(step.src[n]);
    let integer = matches!(
        ty,
        ScalarType::U32
            | ScalarType::S32
            | ScalarType::U64
            | ScalarType::S64
            | ScalarType::B32
            | ScalarType::B64
    );
    let signed = matches!(ty, ScalarType::S32 | ScalarType::S64);
    let float = matches!(ty, ScalarType::F32 | ScalarType::F64);
    let plain = !i.has(Mod::Sat) && !i.has(Mod::Ftz);
    let nearest = matches!(i.rounding(), None | Some(Rounding::Nearest));
    Some(match i.operation() {
        Operation::Mov if same(1) => Plan::Move,
        Operation::AddInteger if integer && plain && same(2) => Plan::Add,
        Operation::SubInteger if integer && plain && same(2) => Plan::Sub,
        Operation::MulLo if integer && plain && same(2) => Plan::Multiply,
        Operation::MadLoInteger if integer && plain && same(3) => Plan::MultiplyAdd,
        Operation::MulWide if integer && ty.bits() == 32 && to == W64 && widths == [W32, W32] => {
            Plan::Widen { signed, add: false }
        }
        Operation::MadWide if integer && ty.bits() == 32 && to == W64 && widths == [W32, W32, W64] => {
            Plan::Widen { signed, add: true }
        }
        Operation::And if same(2) => Plan::And,
        Operation::Or if same(2) => Plan::Or,
        Operation::Xor if same(2) => Plan::Xor,
        Operation::Not if same(1) => Plan::Not,
        Operation::Shl if widths == [to, W32] && ty.bits() == to.bits() => Plan::ShiftLeft(constant(1)?),
        Operation::Shr if widths == [to, W32] && ty.bits() == to.bits() => {
            Plan::ShiftRight { by: constant(1)?, signed }
        }
        Operation::ShfL if same(3) && i.out_of_range() != Some(warpsmith_isa::OutOfRange::Clamp) => {
            Plan::FunnelLeft(constant(2)? & 31)
        }
        Operation::ShfR if same(3) && i.out_of_range() != Some(warpsmith_isa::OutOfRange::Clamp) => {
            Plan::FunnelRight(constant(2)? & 31)
        }
        Operation::Lop3 if same(4) && i.bool_op().is_none() => Plan::Logic(constant(3)? as u8),
        Operation::Prmt if same(3) && i.permute_mode().is_none() => {
            let selectors = constant(2)?;
            if selectors & 0x8888 != 0 {
                return None;
            }
            Plan::Permute(selectors)
        }
        Operation::MinInteger if integer && plain && same(2) && to == W32 => Plan::Least { signed },
        Operation::MaxInteger if integer && plain && same(2) && to == W32 => Plan::Greatest { signed },
        Operation::Setp if to == Pred && (widths == [W32, W32] || widths == [W64, W64]) => {
            if ty.bits() != widths[0].bits() || i.bool_op().is_some() || !plain {
                return None;
            }
            let comparison = i.comparison()?;
            if float {
                Plan::CompareFloat(float_condition(comparison)?)
            } else {
                Plan::Compare(condition(comparison, ty)?)
            }
        }
        Operation::Selp if widths == [to, to, Pred] && ty.bits() == to.bits() => Plan::Choose,
        Operation::Cvt => {
            let types: Vec<ScalarType> = i.types().collect();
            match types[..] {
                [ScalarType::U64 | ScalarType::S64, from @ (ScalarType::U32 | ScalarType::S32)]
                    if to == W64 && widths == [W32] && plain =>
                {
                    Plan::Extend { signed: from == ScalarType::S32 }
                }
                [ScalarType::U32 | ScalarType::S32, ScalarType::U64 | ScalarType::S64]
                    if to == W32 && widths == [W64] && plain =>
                {
                    Plan::Cut
                }
                _ => return None,
            }
        }
        Operation::AddFloat if float && plain && nearest && same(2) => Plan::AddFloat,
        Operation::SubFloat if float && plain && nearest && same(2) => Plan::SubFloat,
        Operation::MulFloat if float && plain && nearest && same(2) => Plan::MultiplyFloat,
        Operation::FmaFloat if float && plain && nearest && same(3) && fused_multiply => Plan::Fused,
        _ => return None,
    })
}

fn condition(comparison: Comparison, ty: ScalarType) -> Option<Cc> {
    let signed = matches!(ty, ScalarType::S32 | ScalarType::S64);
    let pick = |of_signed, of_unsigned| if signed { of_signed } else { of_unsigned };
    Some(match comparison {
        Comparison::Eq => Cc::Equal,
        Comparison::Ne => Cc::NotEqual,
        Comparison::Lt | Comparison::Lo => pick(Cc::SignedLessThan, Cc::UnsignedLessThan),
        Comparison::Le | Comparison::Ls => pick(Cc::SignedLessThanOrEqual, Cc::UnsignedLessThanOrEqual),
        Comparison::Gt | Comparison::Hi => pick(Cc::SignedGreaterThan, Cc::UnsignedGreaterThan),
        Comparison::Ge | Comparison::Hs => pick(Cc::SignedGreaterThanOrEqual, Cc::UnsignedGreaterThanOrEqual),
        Comparison::Equ
        | Comparison::Neu
        | Comparison::Ltu
        | Comparison::Leu
        | Comparison::Gtu
        | Comparison::Geu
        | Comparison::Num
        | Comparison::Nan => return None,
    })
}

fn float_condition(comparison: Comparison) -> Option<Fc> {
    Some(match comparison {
        Comparison::Eq => Fc::Equal,
        Comparison::Lt => Fc::LessThan,
        Comparison::Le => Fc::LessThanOrEqual,
        Comparison::Gt => Fc::GreaterThan,
        Comparison::Ge => Fc::GreaterThanOrEqual,
        Comparison::Neu => Fc::NotEqual,
        Comparison::Num => Fc::Ordered,
        Comparison::Nan => Fc::Unordered,
        Comparison::Ne
        | Comparison::Equ
        | Comparison::Ltu
        | Comparison::Leu
        | Comparison::Gtu
        | Comparison::Geu
        | Comparison::Lo
        | Comparison::Ls
        | Comparison::Hi
        | Comparison::Hs => return None,
    })
}

/// Four lanes of a register: one vector of 32 bits, two of 64, or of a predicate one of all ones and zeros.
#[derive(Clone, Copy)]
enum Lanes {
    One(Value),
    Two([Value; 2]),
}

/// Registers are read and written within what the builder of programs has checked.
const PLAIN: MemFlagsData = MemFlagsData::trusted();

/// Chunks of four lanes in a warp.
const CHUNKS: i64 = 8;

struct Chunk<'f, 'p> {
    b: FunctionBuilder<'f>,
    program: &'p Program,
    registers: Value,
    constants: Value,
    /// The number of the chunk.
    chunk: Value,
    /// Words of predicates and constants of 64 bits, read before the loop.
    words: HashMap<Reg, Value>,
    now: HashMap<Reg, Lanes>,
    written: BTreeMap<u32, Reg>,
}

/// Compiles a run: once for all lanes, once for some.
fn compile(
    b: FunctionBuilder<'_>,
    program: &Program,
    run: &Run<'_>,
    fused_multiply: bool,
    config: cranelift_codegen::isa::TargetFrontendConfig,
) -> Result<(), Box<Diagnostic>> {
    let none = Value::from_u32(0);
    let (words, now, written) = (HashMap::new(), HashMap::new(), BTreeMap::new());
    let mut c = Chunk { b, program, registers: none, constants: none, chunk: none, words, now, written };
    let entry = c.b.create_block();
    c.b.append_block_params_for_function_params(entry);
    c.b.switch_to_block(entry);
    let [registers, constants, lanes] = c.b.block_params(entry) else {
        return Err(Box::new(Diagnostic::error(
            codes::SIZE,
            warpsmith_diag::Span::NONE,
            "not the signature of a run",
        )));
    };
    let lanes = *lanes;
    (c.registers, c.constants) = (*registers, *constants);
    for step in &run.steps {
        for r in step.src[..step.sources]
            .iter()
            .chain(step.guard.as_ref().map(|guard| &guard.pred))
            .chain([&step.dst])
        {
            c.word(*r);
        }
    }
    let (all, some) = (c.b.create_block(), c.b.create_block());
    let every = c.b.ins().icmp_imm_s(Cc::Equal, lanes, -1);
    c.b.ins().brif(every, all, &[], some, &[]);
    for (block, masked) in [(all, false), (some, true)] {
        c.b.switch_to_block(block);
        c.chunks(run, fused_multiply, masked.then_some(lanes))?;
        c.b.ins().return_(&[]);
    }
    c.b.seal_all_blocks();
    c.b.finalize(config);
    Ok(())
}

impl Chunk<'_, '_> {
    fn base(&self, r: Reg) -> Value {
        if r.is_constant() { self.constants } else { self.registers }
    }

    /// Reads what a whole warp has one word of.
    fn word(&mut self, r: Reg) {
        let ty = match r.width() {
            Width::Pred => types::I32,
            Width::W64 if r.is_constant() => types::I64,
            Width::W32 | Width::W64 | Width::W128 => return,
        };
        if !self.words.contains_key(&r) {
            let base = self.base(r);
            let word = self.b.ins().load(ty, PLAIN, base, (4 * r.offset()) as i32);
            self.words.insert(r, word);
        }
    }

    /// The loop over the chunks, for all lanes or for some.
    fn chunks(
        &mut self,
        run: &Run<'_>,
        fused_multiply: bool,
        lanes: Option<Value>,
    ) -> Result<(), Box<Diagnostic>> {
        let mut predicates: Vec<Reg> = run.steps.iter().map(|step| step.dst).collect();
        predicates.retain(|r| r.width() == Width::Pred);
        predicates.sort_by_key(|r| r.offset());
        predicates.dedup();
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let zero = self.b.ins().iconst(types::I32, 0);
        let first = self.b.ins().iconst(types::I64, 0);
        self.chunk = self.b.append_block_param(head, types::I64);
        let sums: Vec<Value> =
            predicates.iter().map(|_| self.b.append_block_param(head, types::I32)).collect();
        let begin: Vec<BlockArg> =
            [first].into_iter().chain(predicates.iter().map(|_| zero)).map(BlockArg::Value).collect();
        self.b.ins().jump(head, &begin);
        self.b.switch_to_block(head);
        self.now.clear();
        self.written.clear();
        for step in &run.steps {
            self.step(step, fused_multiply);
        }
        let mask = lanes.map(|lanes| self.spread(lanes));
        for r in std::mem::take(&mut self.written).into_values() {
            self.store(r, mask);
        }
        let mut next = Vec::new();
        for (r, sum) in predicates.iter().zip(&sums) {
            let Lanes::One(value) = self.read(*r) else { continue };
            let bits = self.b.ins().vhigh_bits(types::I32, value);
            let by = self.b.ins().ishl_imm_s(self.chunk, 2);
            let up = self.b.ins().ishl(bits, by);
            next.push(self.b.ins().bor(*sum, up));
        }
        let chunk = self.b.ins().iadd_imm_s(self.chunk, 1);
        let more = self.b.ins().icmp_imm_s(Cc::UnsignedLessThan, chunk, CHUNKS);
        let again: Vec<BlockArg> =
            [chunk].into_iter().chain(next.iter().copied()).map(BlockArg::Value).collect();
        self.b.ins().brif(more, head, &again, done, &[]);
        self.b.switch_to_block(done);
        for (r, value) in predicates.iter().zip(next) {
            let value = match lanes {
                None => value,
                Some(lanes) => {
                    let old = self.words[r];
                    let others = self.b.ins().bnot(lanes);
                    let (new, kept) = (self.b.ins().band(value, lanes), self.b.ins().band(old, others));
                    self.b.ins().bor(new, kept)
                }
            };
            self.b.ins().store(PLAIN, value, self.registers, (4 * r.offset()) as i32);
        }
        Ok(())
    }

    fn constant_vector(&mut self, words: [u32; 4]) -> Value {
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let data = self.b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
        self.b.ins().vconst(types::I32X4, data)
    }

    /// The chunk's part of a word of lanes, as all ones and zeros.
    fn spread(&mut self, word: Value) -> Value {
        let by = self.b.ins().ishl_imm_s(self.chunk, 2);
        let low = self.b.ins().ushr(word, by);
        let all = self.b.ins().splat(types::I32X4, low);
        let each = self.constant_vector([1, 2, 4, 8]);
        let bit = self.b.ins().band(all, each);
        self.b.ins().icmp(Cc::Equal, bit, each)
    }

    fn place(&mut self, r: Reg) -> Value {
        let shift = if r.width() == Width::W64 { 5 } else { 4 };
        let by = self.b.ins().ishl_imm_s(self.chunk, shift);
        self.b.ins().iadd(self.registers, by)
    }

    fn read(&mut self, r: Reg) -> Lanes {
        if let Some(known) = self.now.get(&r) {
            return *known;
        }
        let at = (4 * r.offset()) as i32;
        let lanes = match (r.width(), r.is_constant()) {
            (Width::Pred, _) => {
                let word = self.words[&r];
                Lanes::One(self.spread(word))
            }
            (Width::W64, true) => {
                let word = self.words[&r];
                Lanes::Two([self.b.ins().splat(types::I64X2, word); 2])
            }
            (_, true) => {
                let number = self.program.small_constant(r).unwrap_or(0);
                Lanes::One(self.constant_vector([number; 4]))
            }
            (Width::W64, false) => {
                let place = self.place(r);
                Lanes::Two([0, 16].map(|half| self.b.ins().load(types::I64X2, PLAIN, place, at + half)))
            }
            (_, false) => {
                let place = self.place(r);
                Lanes::One(self.b.ins().load(types::I32X4, PLAIN, place, at))
            }
        };
        self.now.insert(r, lanes);
        lanes
    }

    /// What is all ones or zeros for 32 bits, for the two halves of 64.
    fn mask_of_64(&mut self, mask: Value) -> [Value; 2] {
        [self.b.ins().swiden_low(mask), self.b.ins().swiden_high(mask)]
    }

    fn blend(&mut self, mask: Value, yes: Lanes, no: Lanes) -> Lanes {
        match (yes, no) {
            (Lanes::One(yes), Lanes::One(no)) => Lanes::One(self.b.ins().bitselect(mask, yes, no)),
            (Lanes::Two(yes), Lanes::Two(no)) => {
                let masks = self.mask_of_64(mask);
                Lanes::Two([0, 1].map(|n| self.b.ins().bitselect(masks[n], yes[n], no[n])))
            }
            (yes, _) => yes,
        }
    }

    fn store(&mut self, r: Reg, mask: Option<Value>) {
        if r.width() == Width::Pred {
            return;
        }
        let (at, place) = ((4 * r.offset()) as i32, self.place(r));
        let mut value = self.read(r);
        if let Some(mask) = mask {
            let old = match r.width() {
                Width::W64 => {
                    Lanes::Two([0, 16].map(|half| self.b.ins().load(types::I64X2, PLAIN, place, at + half)))
                }
                Width::Pred | Width::W32 | Width::W128 => {
                    Lanes::One(self.b.ins().load(types::I32X4, PLAIN, place, at))
                }
            };
            value = self.blend(mask, value, old);
        }
        match value {
            Lanes::One(value) => _ = self.b.ins().store(PLAIN, value, place, at),
            Lanes::Two(halves) => {
                for (half, value) in [0, 16].into_iter().zip(halves) {
                    self.b.ins().store(PLAIN, value, place, at + half);
                }
            }
        }
    }

    /// Each vector of the operands.
    fn each<const N: usize>(&mut self, x: [Lanes; N], f: impl Fn(&mut Self, [Value; N]) -> Value) -> Lanes {
        let part = |lanes: Lanes, n: usize| match lanes {
            Lanes::One(value) => value,
            Lanes::Two(values) => values[n],
        };
        if x.iter().all(|lanes| matches!(lanes, Lanes::One(_))) {
            return Lanes::One(f(self, x.map(|lanes| part(lanes, 0))));
        }
        Lanes::Two([0, 1].map(|n| f(self, x.map(|lanes| part(lanes, n)))))
    }

    fn step(&mut self, step: &RunStep<'_>, fused_multiply: bool) {
        // Every step of a run has a plan: runs consist of those that have.
        let Some(plan) = plan(self.program, step, fused_multiply) else { return };
        let x: Vec<Lanes> = step.src[..step.sources].iter().map(|r| self.read(*r)).collect();
        let mut result = self.compute(plan, step.instruction, &x);
        if let Some(guard) = step.guard {
            let (Lanes::One(mut mask), old) = (self.read(guard.pred), self.read(step.dst)) else { return };
            if guard.negated {
                mask = self.b.ins().bnot(mask);
            }
            result = self.blend(mask, result, old);
        }
        self.now.insert(step.dst, result);
        self.written.insert(step.dst.offset(), step.dst);
    }

    fn compute(&mut self, plan: Plan, i: &Instruction, x: &[Lanes]) -> Lanes {
        let double = i.ty().is_some_and(|ty| ty.bits() == 64);
        match plan {
            Plan::Move => x[0],
            Plan::Add => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().iadd(a, b)),
            Plan::Sub => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().isub(a, b)),
            Plan::Multiply => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().imul(a, b)),
            Plan::MultiplyAdd => self.each([x[0], x[1], x[2]], |c, [a, b, d]| {
                let product = c.b.ins().imul(a, b);
                c.b.ins().iadd(product, d)
            }),
            Plan::Widen { signed, add } => {
                let (a, b) = (self.extended(x[0], signed), self.extended(x[1], signed));
                let product = self.each([a, b], |c, [a, b]| c.b.ins().imul(a, b));
                if add { self.each([product, x[2]], |c, [a, b]| c.b.ins().iadd(a, b)) } else { product }
            }
            Plan::And => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().band(a, b)),
            Plan::Or => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().bor(a, b)),
            Plan::Xor => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().bxor(a, b)),
            Plan::Not => self.each([x[0]], |c, [a]| c.b.ins().bnot(a)),
            Plan::ShiftLeft(by) => self.each([x[0]], |c, [a]| c.shift_left(a, by)),
            Plan::ShiftRight { by, signed } => self.each([x[0]], |c, [a]| c.shift_right(a, by, signed)),
            Plan::FunnelLeft(by) => self.each([x[0], x[1]], |c, [a, b]| match by {
                0 => b,
                _ => {
                    let (up, down) = (c.shift_left(b, by), c.shift_right(a, 32 - by, false));
                    c.b.ins().bor(up, down)
                }
            }),
            Plan::FunnelRight(by) => self.each([x[0], x[1]], |c, [a, b]| match by {
                0 => a,
                _ => {
                    let (down, up) = (c.shift_right(a, by, false), c.shift_left(b, 32 - by));
                    c.b.ins().bor(up, down)
                }
            }),
            Plan::Logic(table) => self.each([x[0], x[1], x[2]], |c, abc| c.logic(table, abc)),
            Plan::Permute(selectors) => self.each([x[0], x[1]], |c, [a, b]| {
                let bytes: Vec<u8> = (0..16u32)
                    .map(|byte| {
                        let selector = selectors >> (4 * (byte % 4)) & 7;
                        let lane = byte / 4 * 4;
                        (if selector < 4 { lane + selector } else { 16 + lane + selector - 4 }) as u8
                    })
                    .collect();
                let mask = c.b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
                let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
                let (a, b) =
                    (c.b.ins().bitcast(types::I8X16, flags, a), c.b.ins().bitcast(types::I8X16, flags, b));
                let shuffled = c.b.ins().shuffle(a, b, mask);
                c.b.ins().bitcast(types::I32X4, flags, shuffled)
            }),
            Plan::Least { signed } => self.each([x[0], x[1]], |c, [a, b]| match signed {
                true => c.b.ins().smin(a, b),
                false => c.b.ins().umin(a, b),
            }),
            Plan::Greatest { signed } => self.each([x[0], x[1]], |c, [a, b]| match signed {
                true => c.b.ins().smax(a, b),
                false => c.b.ins().umax(a, b),
            }),
            Plan::Compare(cc) => {
                let found = self.each([x[0], x[1]], |c, [a, b]| c.b.ins().icmp(cc, a, b));
                self.narrow_mask(found)
            }
            Plan::CompareFloat(cc) => {
                let found = self.each([x[0], x[1]], |c, [a, b]| {
                    let (a, b) = (c.floats(a, double), c.floats(b, double));
                    c.b.ins().fcmp(cc, a, b)
                });
                self.narrow_mask(found)
            }
            Plan::Choose => match x[2] {
                Lanes::One(mask) => self.blend(mask, x[0], x[1]),
                Lanes::Two(_) => x[0],
            },
            Plan::Extend { signed } => self.extended(x[0], signed),
            Plan::Cut => self.cut(x[0]),
            Plan::AddFloat => self.arithmetic(double, [x[0], x[1]], |c, [a, b]| c.b.ins().fadd(a, b)),
            Plan::SubFloat => self.arithmetic(double, [x[0], x[1]], |c, [a, b]| c.b.ins().fsub(a, b)),
            Plan::MultiplyFloat => self.arithmetic(double, [x[0], x[1]], |c, [a, b]| c.b.ins().fmul(a, b)),
            Plan::Fused => self.arithmetic(double, [x[0], x[1], x[2]], |c, [a, b, d]| c.b.ins().fma(a, b, d)),
        }
    }

    fn lane_bits(&self, x: Value) -> u32 {
        self.b.func.dfg.value_type(x).lane_bits()
    }

    fn shift_left(&mut self, x: Value, by: u32) -> Value {
        if by >= self.lane_bits(x) {
            return self.b.ins().bxor(x, x);
        }
        let by = self.b.ins().iconst(types::I32, i64::from(by));
        self.b.ins().ishl(x, by)
    }

    fn shift_right(&mut self, x: Value, by: u32, signed: bool) -> Value {
        let bits = self.lane_bits(x);
        if by >= bits && !signed {
            return self.b.ins().bxor(x, x);
        }
        let by = self.b.ins().iconst(types::I32, i64::from(by.min(bits - 1)));
        if signed { self.b.ins().sshr(x, by) } else { self.b.ins().ushr(x, by) }
    }

    /// A function of three bits, by its table: choices by `a` between functions of `b` and `c`.
    fn logic(&mut self, table: u8, [a, b, c]: [Value; 3]) -> Value {
        if table == 0x96 {
            let ab = self.b.ins().bxor(a, b);
            return self.b.ins().bxor(ab, c);
        }
        let (low, high) = (table & 15, table >> 4);
        let f = self.logic_of_two(low, b, c);
        if low == high {
            return f;
        }
        let g = self.logic_of_two(high, b, c);
        self.b.ins().bitselect(a, g, f)
    }

    fn logic_of_two(&mut self, table: u8, b: Value, c: Value) -> Value {
        match table {
            0 => self.b.ins().bxor(b, b),
            0b1000 => self.b.ins().band(b, c),
            0b1110 => self.b.ins().bor(b, c),
            0b0110 => self.b.ins().bxor(b, c),
            0b1100 => b,
            0b1010 => c,
            0b0100 => {
                let not = self.b.ins().bnot(c);
                self.b.ins().band(b, not)
            }
            0b0010 => {
                let not = self.b.ins().bnot(b);
                self.b.ins().band(c, not)
            }
            // The others are complements of these.
            _ => {
                let other = self.logic_of_two(!table & 15, b, c);
                self.b.ins().bnot(other)
            }
        }
    }

    fn extended(&mut self, x: Lanes, signed: bool) -> Lanes {
        let Lanes::One(x) = x else { return x };
        Lanes::Two(match signed {
            true => [self.b.ins().swiden_low(x), self.b.ins().swiden_high(x)],
            false => [self.b.ins().uwiden_low(x), self.b.ins().uwiden_high(x)],
        })
    }

    /// The low halves of 64 bits.
    fn cut(&mut self, x: Lanes) -> Lanes {
        let Lanes::Two([low, high]) = x else { return x };
        let bytes: Vec<u8> = [0u8, 8, 16, 24].into_iter().flat_map(|at| at..at + 4).collect();
        let mask = self.b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
        let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
        let (low, high) =
            (self.b.ins().bitcast(types::I8X16, flags, low), self.b.ins().bitcast(types::I8X16, flags, high));
        let both = self.b.ins().shuffle(low, high, mask);
        Lanes::One(self.b.ins().bitcast(types::I32X4, flags, both))
    }

    /// What a comparison found, for lanes of 32 bits.
    fn narrow_mask(&mut self, found: Lanes) -> Lanes {
        self.cut(found)
    }

    fn cast(&mut self, x: Value, to: Type) -> Value {
        let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
        self.b.ins().bitcast(to, flags, x)
    }

    fn floats(&mut self, x: Value, double: bool) -> Value {
        self.cast(x, if double { types::F64X2 } else { types::F32X4 })
    }

    /// Arithmetic on floats, with the NaNs of the engine: of `f32` one for all, of `f64` the first operand's, made quiet.
    fn arithmetic<const N: usize>(
        &mut self,
        double: bool,
        x: [Lanes; N],
        f: impl Fn(&mut Self, [Value; N]) -> Value,
    ) -> Lanes {
        let bits = if double { types::I64X2 } else { types::I32X4 };
        self.each(x, |c, values| {
            let floats = values.map(|value| c.floats(value, double));
            let result = f(c, floats);
            let none = c.b.ins().fcmp(Fc::Unordered, result, result);
            let mut nan = match double {
                false => c.constant_vector([0x7fff_ffff; 4]),
                true => {
                    let words = c.constant_vector([0, INVALID_HIGH, 0, INVALID_HIGH]);
                    c.cast(words, bits)
                }
            };
            if double {
                let quiet = c.constant_vector([0, 0x0008_0000, 0, 0x0008_0000]);
                let quiet = c.cast(quiet, bits);
                for (value, float) in values.into_iter().zip(floats).rev() {
                    let is_nan = c.b.ins().fcmp(Fc::Unordered, float, float);
                    let quieted = c.b.ins().bor(value, quiet);
                    nan = c.b.ins().bitselect(is_nan, quieted, nan);
                }
            }
            let result = c.cast(result, bits);
            c.b.ins().bitselect(none, nan, result)
        })
    }
}

/// The upper half of the NaN that an invalid operation of `f64` gives.
const INVALID_HIGH: u32 = 0xfff8_0000;
