//! Products of 64 bits of bytes and halves (`(long long)a[i] * b[i]` of `short`): these are extended to words first, by their loads, of which the product of
//! 64 bits is one instruction (`mul.wide`, `mad.wide`). One of numbers of 64 bits is three.

use super::super::insert_before;
use warpsmith_ir::{Function, Inst, InstData, Opcode, Type, Value};

/// A factor that was extended to 64 bits: by what, from what, and how.
#[derive(Clone, Copy)]
struct Factor {
    by: Inst,
    narrow: Value,
    signed: bool,
    is_short: bool,
}

impl Factor {
    fn of(func: &Function, value: Value) -> Option<Factor> {
        let by = func.dfg.def_inst(func.dfg.resolve(value))?;
        let (narrow, signed) = match func.dfg[by] {
            InstData::Unary { op: Opcode::Sext, arg } => (func.dfg.resolve(arg), true),
            InstData::Unary { op: Opcode::Zext, arg } => (func.dfg.resolve(arg), false),
            _ => return None,
        };
        let ty = func.dfg.ty(narrow);
        let is_short = matches!(ty, Type::I8 | Type::I16);
        (is_short || ty == Type::I32).then_some(Factor { by, narrow, signed, is_short })
    }

    /// Whether a word that has the factor's value has it as a number with a sign, or as one without.
    fn may_be(self, signed: bool) -> bool {
        self.signed == signed || !self.signed && self.is_short
    }
}

/// Returns how many factors are extended in two steps now.
pub(super) fn run(func: &mut Function) -> u32 {
    let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    let is_product = |&inst: &Inst| matches!(func.dfg[inst], InstData::Binary { op: Opcode::Imul, args: [a, _] } if func.dfg.ty(a) == Type::I64);
    let products: Vec<Inst> = insts.filter(is_product).collect();
    let mut changes = 0;
    for product in products {
        let args: [Value; 2] = std::array::from_fn(|n| func.dfg.args(product)[n]);
        let constant = func.dfg.int_const(args[1]).is_some_and(|c| i32::try_from(c).is_ok());
        let (first, second) = match args.map(|arg| Factor::of(func, arg)) {
            [Some(a), Some(b)] => (a, Some(b)),
            [Some(a), None] if constant && a.may_be(true) => (a, None),
            [Some(_), None] | [None, _] => continue,
        };
        // Of a square one is enough.
        let second = second.filter(|second| second.by != first.by);
        let both = || [first].into_iter().chain(second);
        let Some(signed) =
            [true, false].into_iter().find(|&signed| both().all(|factor| factor.may_be(signed)))
        else {
            continue;
        };
        for factor in both().filter(|factor| factor.is_short) {
            let op = |signed| if signed { Opcode::Sext } else { Opcode::Zext };
            let word = InstData::Unary { op: op(factor.signed), arg: factor.narrow };
            let word = insert_before(func, factor.by, word, Type::I32);
            func.dfg.replace_inst(factor.by, InstData::Unary { op: op(signed), arg: word });
            changes += 1;
        }
    }
    changes
}
