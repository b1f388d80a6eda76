//! Products and sums that may be rounded once are: `fadd contract (fmul contract a, b), c` is `fma a, b, c`.
//!
//! Legalisation and the importer of bitcode do so within a function as it is written, so that every level computes the same. This is for what they
//! see apart: a product that a function returned (`o + d * t` with operators of a class), or that memory kept. A product with several uses is
//! fused with each sum, as by other compilers for these targets; a product in front of a loop is not computed anew in it.
//!
//! Nor is what is rounded to 53 bits and then to 24 rounded twice (`x - 0.5` of a `float x`, where C++ computes in `double`): 53 is more than twice 24, so that the
//! number is the same (Figueroa, 1995), and a NaN another one.

use super::insert_before;
use crate::analysis::{Loops, Nest};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{
    Attr, Block, FastMath, FloatMode, Function, Inst, InstData, Opcode, Promise, Scalar, Type, Value,
};

/// The name of the pass.
pub(crate) const NAME: &str = "contract";

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let narrowed = narrow(func, cx);
    let blocks = || func.layout.blocks();
    let sums: Vec<Inst> =
        blocks().flat_map(|block| func.layout.insts(block)).filter(|&i| is_sum(func, i)).collect();
    if sums.is_empty() {
        return Changes::to_instructions(narrowed);
    }
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    for inst in blocks().flat_map(|block| func.layout.insts(block)) {
        func.dfg.uses(inst).for_each(|value| uses[func.dfg.resolve(value)] += 1);
    }
    let innermost = Nest::compute(&cx.analyses.get::<Loops>(func)).innermost;
    let mut changes = narrowed;
    for sum in sums {
        if let Some(fused) = fused(func, &innermost, &uses, sum) {
            if !cx.log.allows() {
                break;
            }
            cx.log.applied("fma");
            fused.put(func, sum);
            changes += 1;
        }
    }
    Changes::to_instructions(changes)
}

/// Computes in 32 bits what is computed of 32 in 64 and rounded to 32. Says how many sums, differences and products these are.
fn narrow(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    let mut changes = 0;
    for block in func.layout.blocks().collect::<Vec<Block>>() {
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            let Some((op, args)) = computed_wide(func, inst) else { continue };
            if !cx.log.allows() {
                return changes;
            }
            cx.log.applied("narrow");
            let args = args.map(|arg| match arg {
                Narrow::Value(value) => value,
                Narrow::Constant(bits) => {
                    insert_before(func, inst, InstData::FloatConst { bits: bits.into() }, Type::F32)
                }
            });
            func.dfg.replace_inst(inst, InstData::Binary { op, args });
            func.dfg.set_promised(inst, true);
            changes += 1;
        }
    }
    changes
}

/// An operand of 64 bits that has 32.
enum Narrow {
    Value(Value),
    /// The bits of a number.
    Constant(u32),
}

/// What an instruction rounds to 32 bits, if that may be rounded at once, and what is computed with.
fn computed_wide(func: &Function, inst: Inst) -> Option<(Opcode, [Narrow; 2])> {
    let InstData::Unary { op: Opcode::Fptrunc, arg } = func.dfg[inst] else { return None };
    let is_single = func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) == Some(Type::F32);
    let (op, args) = contracting(func, func.dfg.def_inst(func.dfg.resolve(arg))?)?;
    if !is_single || func.dfg.ty(arg) != Type::F64 {
        return None;
    }
    let narrow = |value: Value| match *func.dfg.def_data(value)? {
        InstData::Unary { op: Opcode::Fpext, arg } if func.dfg.ty(arg) == Type::F32 => {
            Some(Narrow::Value(func.dfg.resolve(arg)))
        }
        InstData::FloatConst { bits } => {
            let wide = f64::from_bits(bits);
            let single = wide as f32;
            (f64::from(single) == wide).then_some(Narrow::Constant(single.to_bits()))
        }
        _ => None,
    };
    match args.map(|arg| narrow(func.dfg.resolve(arg))) {
        [Some(a), Some(b)] => Some((op, [a, b])),
        [None | Some(_), None | Some(_)] => None,
    }
}

/// Whether an instruction is a sum or difference that may be rounded together with a product.
fn is_sum(func: &Function, inst: Inst) -> bool {
    matches!(contracting(func, inst), Some((Opcode::Fadd | Opcode::Fsub, _)))
}

/// A sum, difference or product that may be rounded together with another, before legalisation and after it.
fn contracting(func: &Function, inst: Inst) -> Option<(Opcode, [Value; 2])> {
    match func.dfg[inst] {
        InstData::Binary { op, args } if func.dfg.contracts(inst) => Some((op, args)),
        InstData::List { op, attr: Attr::Float(mode), args }
            if mode == FloatMode::fast(FastMath::CONTRACT) =>
        {
            let args = args.as_slice(&func.dfg.pool).try_into().ok()?;
            (op.promise() == Some(Promise::Contract)).then_some((op, args))
        }
        _ => None,
    }
}

/// What a sum with a product is as one operation.
struct Fused {
    factors: [Value; 2],
    rest: Value,
    /// Whether the first factor is negated, and what is added.
    negated: [bool; 2],
}

/// How a sum is fused with one of its operands.
fn fused(
    func: &Function,
    innermost: &SecondaryMap<Block, u32>,
    uses: &SecondaryMap<Value, u32>,
    sum: Inst,
) -> Option<Fused> {
    let (op, args) = contracting(func, sum)?;
    let [x, y] = args.map(|arg| func.dfg.resolve(arg));
    let ty = func.dfg.ty(x);
    if !matches!(ty.element(), Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64) {
        return None;
    }
    let nearest = |inst: Inst| func.layout.block_of(inst).map(|block| innermost[block]);
    let product = |value: Value| {
        let inst = func.dfg.def_inst(value)?;
        let (Opcode::Fmul, args) = contracting(func, inst)? else { return None };
        let pays = op == Opcode::Fadd || uses[value] == 1;
        (pays && nearest(inst) == nearest(sum)).then(|| args.map(|arg| func.dfg.resolve(arg)))
    };
    let subtracts = op == Opcode::Fsub;
    let first = |factors| Fused { factors, rest: y, negated: [false, subtracts] };
    let second = |factors| Fused { factors, rest: x, negated: [subtracts, false] };
    match (product(x), product(y)) {
        // Of two products the one with fewer uses, of which less is left.
        (Some(_), Some(factors)) if uses[y] < uses[x] => Some(second(factors)),
        (Some(factors), _) => Some(first(factors)),
        (None, Some(factors)) => Some(second(factors)),
        (None, None) => None,
    }
}

impl Fused {
    fn put(self, func: &mut Function, sum: Inst) {
        let Fused { factors: [a, b], rest, negated } = self;
        let mut negate = |value: Value, negated: bool| match negated {
            true => {
                let ty = func.dfg.ty(value);
                insert_before(func, sum, InstData::Unary { op: Opcode::Fneg, arg: value }, ty)
            }
            false => value,
        };
        let (a, rest) = (negate(a, negated[0]), negate(rest, negated[1]));
        func.dfg.replace_inst(sum, InstData::Ternary { op: Opcode::Fma, args: [a, b, rest] });
    }
}
