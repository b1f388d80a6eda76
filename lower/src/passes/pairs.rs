//! Two floats of 16 bits that become the halves of a word are computed at once (PTX ISA 9.0, 9.7.4: `add.f16x2` and others; 9.7.9.21: `cvt.rn.f16x2.f32`).
//!
//! From where two halves are put together, in a vector or by shifting one behind the other, the operations that computed them are followed as long as
//! both are the same and nothing else uses them. They are done in pairs if that takes fewer instructions than what it takes to put operands together
//! that are not halves of one word yet.

use super::{cast, half, insert_before, replace_with};
use crate::legalize::{packed, sign_of_halves};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use std::cell::Cell;
use warpsmith_ir::{
    Block, Function, Inst, InstBuilder, InstData, Mnemonic, Opcode, PtxArg, Scalar, Type, Value, ValueList,
    mnemonic,
};

/// Operations in a row that are followed.
const MAX_DEPTH: u32 = 12;
/// Pairs that are looked at from one place.
const MAX_STEPS: u32 = 512;
/// The first target that converts two floats at once.
const CONVERTS_SINCE: u16 = 80;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let Some(target) = cx.target else { return Changes::NONE };
    let mut seeds: Vec<Inst> = Vec::new();
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for inst in blocks.into_iter().flat_map(|block| func.layout.insts(block)) {
        func.dfg.for_each_use(inst, |value| uses[func.dfg.resolve(value)] += 1);
        if Seed::of(func, inst).is_some() {
            seeds.push(inst);
        }
    }
    let mut changes = 0;
    for inst in seeds {
        let Some(seed) = Seed::of(func, inst) else { continue };
        let finder = Finder { func, uses: &uses, sm: target.sm, steps: Cell::new(MAX_STEPS) };
        let trees: SmallVec<[(Tree, i32); 4]> =
            seed.pairs.iter().map(|&[low, high]| finder.tree(low, high, 0)).collect();
        // What is put together anyway is put together by these.
        let gain: i32 = trees.iter().map(|(_, gain)| gain + 1).sum();
        if gain > 0 {
            seed.replace(func, inst, &trees);
            changes += 1;
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// Where halves are put together.
struct Seed {
    /// Lower ones first.
    pairs: SmallVec<[[Value; 2]; 4]>,
}

impl Seed {
    fn of(func: &Function, inst: Inst) -> Option<Seed> {
        let dfg = &func.dfg;
        match &dfg[inst] {
            InstData::Vec { args } => {
                let args = args.as_slice(&dfg.pool);
                let (&first, even) = (args.first()?, args.len().is_multiple_of(2));
                let pairs = args.chunks_exact(2).map(|pair| [0, 1].map(|n: usize| dfg.resolve(pair[n])));
                (even && is_half(dfg.ty(first))).then(|| Seed { pairs: pairs.collect() })
            }
            &InstData::Binary { op: Opcode::Bor | Opcode::Iadd, args } => {
                let [low, high] = args.map(|arg| dfg.resolve(arg));
                let pair = |low, high| Some([half_of(func, low)?, shifted_half(func, high)?]);
                let pair = pair(low, high).or_else(|| pair(high, low))?;
                (dfg.ty(pair[0]) == dfg.ty(pair[1])).then(|| Seed { pairs: SmallVec::from_slice(&[pair]) })
            }
            _ => None,
        }
    }

    fn replace(&self, func: &mut Function, inst: Inst, trees: &[(Tree, i32)]) {
        let Some(result) = func.dfg.first_result(inst) else { return };
        let ty = func.dfg.ty(result);
        let words: SmallVec<[Value; 4]> = trees.iter().map(|(tree, _)| tree.build(func, inst)).collect();
        let whole = match words[..] {
            [word] => cast(func, inst, word, ty),
            _ => {
                let words: SmallVec<[Value; 4]> =
                    words.iter().map(|&word| cast(func, inst, word, Type::I32)).collect();
                let args = ValueList::from_slice(&words, &mut func.dfg.pool);
                let Some(held) = Type::vector(Scalar::I32, words.len() as u32) else { return };
                let vector = insert_before(func, inst, InstData::Vec { args }, held);
                cast(func, inst, vector, ty)
            }
        };
        replace_with(func, inst, whole);
    }
}

fn is_half(ty: Type) -> bool {
    matches!(ty.element(), Scalar::F16 | Scalar::BF16) && !ty.is_vector()
}

/// The float whose bits are the lower half of a word, with zeros above.
fn half_of(func: &Function, word: Value) -> Option<Value> {
    let dfg = &func.dfg;
    let &InstData::Unary { op: Opcode::Zext, arg } = dfg.def_data(word)? else { return None };
    let &InstData::Unary { op: Opcode::Bitcast, arg: half } = dfg.def_data(dfg.resolve(arg))? else {
        return None;
    };
    let half = dfg.resolve(half);
    (dfg.ty(word) == Type::I32 && is_half(dfg.ty(half))).then_some(half)
}

/// The float whose bits are the upper half of a word, with zeros below.
fn shifted_half(func: &Function, word: Value) -> Option<Value> {
    let dfg = &func.dfg;
    let &InstData::Binary { op: Opcode::Shl, args: [half, by] } = dfg.def_data(word)? else { return None };
    (dfg.int_const(by) == Some(16)).then(|| half_of(func, dfg.resolve(half)))?
}

/// How two halves of a word are computed.
enum Tree {
    /// They are those of a vector, or of an integer.
    Whole(Value, Type),
    Constant(u32, Type),
    /// They are put together.
    Apart([Value; 2]),
    /// By an operation on pairs.
    Operation(Pairwise, Vec<Tree>, Type),
    /// From two floats of 32 bits.
    Converted(Mnemonic, [Value; 2], Type),
}

/// An operation on both halves of a word.
#[derive(Clone, Copy)]
enum Pairwise {
    Packed(Mnemonic),
    /// A mask of the signs.
    Masked(Opcode, i64),
}

struct Finder<'f> {
    func: &'f Function,
    uses: &'f SecondaryMap<Value, u32>,
    sm: u16,
    /// Pairs that may still be looked at: both orders of operands are tried.
    steps: Cell<u32>,
}

impl Finder<'_> {
    /// How to compute two halves, and how many instructions fewer that takes than computing each.
    fn tree(&self, low: Value, high: Value, depth: u32) -> (Tree, i32) {
        let [low, high] = [low, high].map(|value| self.func.dfg.resolve(value));
        let Some(left) = self.steps.get().checked_sub(1) else { return (Tree::Apart([low, high]), -1) };
        self.steps.set(left);
        if let Some(tree) = self.at_hand(low, high) {
            return (tree, 0);
        }
        self.operation(low, high, depth)
            .filter(|(_, gain)| *gain > -1)
            .unwrap_or((Tree::Apart([low, high]), -1))
    }

    fn at_hand(&self, low: Value, high: Value) -> Option<Tree> {
        let dfg = &self.func.dfg;
        let ty = dfg.ty(low);
        if let (Some(low), Some(high)) = (dfg.float_const(low), dfg.float_const(high)) {
            return Some(Tree::Constant((high as u32) << 16 | low as u32 & 0xffff, ty));
        }
        let ((whole, false), (other, true)) = (half::of(self.func, low)?, half::of(self.func, high)?) else {
            return None;
        };
        (whole == other).then_some(Tree::Whole(whole, ty))
    }

    fn operation(&self, low: Value, high: Value, depth: u32) -> Option<(Tree, i32)> {
        let dfg = &self.func.dfg;
        let (first, second) = (dfg.def_inst(low)?, dfg.def_inst(high)?);
        let ty = dfg.ty(low);
        let alone = first != second && [low, high].iter().all(|&value| self.uses[value] == 1);
        if !alone || depth > MAX_DEPTH || dfg.ty(high) != ty {
            return None;
        }
        let op = dfg.opcode(first);
        let same = op == dfg.opcode(second)
            && matches!(
                (&dfg[first], &dfg[second]),
                (InstData::Unary { .. }, InstData::Unary { .. })
                    | (InstData::Binary { .. }, InstData::Binary { .. })
                    | (InstData::Ternary { .. }, InstData::Ternary { .. })
            );
        if !same {
            return None;
        }
        let (a, b) = (dfg.args(first), dfg.args(second));
        if let (Opcode::Fptrunc, &[a], &[b]) = (op, a, b) {
            let from = [a, b].map(|arg| dfg.ty(arg));
            if self.sm < CONVERTS_SINCE || from != [Type::F32; 2] {
                return None;
            }
            let convert = match ty.element() {
                Scalar::BF16 => mnemonic!("cvt.rn.bf16x2.f32"),
                _ => mnemonic!("cvt.rn.f16x2.f32"),
            };
            return Some((Tree::Converted(convert, [a, b], ty), 1));
        }
        let vector = Type::vector(ty.element(), 2)?;
        let by_sign = sign_of_halves(op).map(|(op, mask)| Pairwise::Masked(op, mask));
        let pairwise = by_sign.or_else(|| packed(op, vector, self.sm).map(Pairwise::Packed))?;
        let both = |a: &[Value], b: &[Value]| {
            let all = a.iter().zip(b).map(|(&a, &b)| self.tree(a, b, depth + 1));
            let mut gain = 1;
            let trees = all.map(|(tree, of_tree)| {
                gain += of_tree;
                tree
            });
            let trees: Vec<Tree> = trees.collect();
            (trees, gain)
        };
        let (mut trees, mut gain) = both(a, b);
        if let (Opcode::Fadd | Opcode::Fmul | Opcode::Fma, [x, y, rest @ ..]) = (op, b) {
            let turned: SmallVec<[Value; 3]> = [y, x].into_iter().chain(rest).copied().collect();
            let (others, more) = both(a, &turned);
            if more > gain {
                (trees, gain) = (others, more);
            }
        }
        Some((Tree::Operation(pairwise, trees, ty), gain))
    }
}

impl Tree {
    /// The vector of both halves, computed before an instruction.
    fn build(&self, func: &mut Function, before: Inst) -> Value {
        let pair = |ty: Type| Type::vector(ty.element(), 2).unwrap_or(ty);
        match self {
            &Tree::Whole(whole, ty) => cast(func, before, whole, pair(ty)),
            &Tree::Constant(bits, ty) => {
                let value = Type::I32.normalize(bits.into());
                let word = insert_before(func, before, InstData::IntConst { value }, Type::I32);
                cast(func, before, word, pair(ty))
            }
            Tree::Apart(halves) => {
                let ty = func.dfg.ty(halves[0]);
                let args = ValueList::from_slice(halves, &mut func.dfg.pool);
                insert_before(func, before, InstData::Vec { args }, pair(ty))
            }
            &Tree::Converted(convert, [low, high], ty) => {
                func.before(before).ptx_typed(convert, (high, low), &[pair(ty)]).first()
            }
            &Tree::Operation(pairwise, ref operands, ty) => {
                let operands: SmallVec<[Value; 3]> =
                    operands.iter().map(|operand| operand.build(func, before)).collect();
                match pairwise {
                    Pairwise::Packed(mnemonic) => {
                        let operands: Vec<PtxArg> = operands.into_iter().map(PtxArg::from).collect();
                        func.before(before).ptx_typed(mnemonic, operands, &[pair(ty)]).first()
                    }
                    Pairwise::Masked(op, mask) => {
                        let word = cast(func, before, operands[0], Type::I32);
                        let mask = insert_before(func, before, InstData::IntConst { value: mask }, Type::I32);
                        let data = InstData::Binary { op, args: [word, mask] };
                        let word = insert_before(func, before, data, Type::I32);
                        cast(func, before, word, pair(ty))
                    }
                }
            }
        }
    }
}
