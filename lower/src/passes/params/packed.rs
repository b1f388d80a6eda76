//! Two parameters of 16 bits that every edge gives the halves of a value of 32 bits, or the elements of an `f16x2`, or constants: the value is given
//! instead, and taken apart behind the edge. What a loop leaves as halves of registers, the results of tensor cores, is then not taken apart in every round.

use super::replace;
use crate::analysis::Cfg;
use crate::passes::{half, insert_before};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, InstData, Opcode, Type, Value, ValueList};

/// Merges such parameters, and says how many pairs.
pub(super) fn run(func: &mut Function, cfg: &Cfg) -> u32 {
    let mut changes = 0;
    for &block in cfg.reverse_postorder().iter().skip(1) {
        while let Some((pair, wholes)) = find(func, cfg, block) {
            merge(func, cfg, block, pair, &wholes);
            changes += 1;
        }
    }
    changes
}

/// What an edge gives for both.
#[derive(Clone, Copy)]
enum Whole {
    Value(Value),
    Constants([Value; 2]),
}

type Wholes = SmallVec<[(Block, usize, Whole); 4]>;

/// Two parameters of a block, the low half first, and what each edge gives for both.
fn find(func: &Function, cfg: &Cfg, block: Block) -> Option<([usize; 2], Wholes)> {
    let params = func.dfg.block_params(block);
    let halves: SmallVec<[usize; 8]> =
        (0..params.len()).filter(|&n| half::may_be(func.dfg.ty(params[n]))).collect();
    if halves.len() < 2 {
        return None;
    }
    for (pred, side) in cfg.edges(block) {
        let args = func.dfg.target(func.terminator(pred)?, side)?.args(&func.dfg.pool);
        let of = |n: usize| Some((n, half::of(func, *args.get(n)?)?));
        let lows: FxHashMap<Value, usize> = halves
            .iter()
            .filter_map(|&n| of(n))
            .filter(|(_, (_, high))| !high)
            .map(|(n, (whole, _))| (whole, n))
            .collect();
        if lows.is_empty() {
            continue;
        }
        let highs = halves.iter().filter_map(|&n| of(n)).filter(|(_, (_, high))| *high);
        let mut pairs = highs.filter_map(|(high, (whole, _))| Some([*lows.get(&whole)?, high]));
        let found = pairs.find_map(|pair| Some((pair, wholes(func, cfg, block, pair)?)));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// What each edge gives for two parameters together: values of one type, and constants.
fn wholes(func: &Function, cfg: &Cfg, block: Block, pair: [usize; 2]) -> Option<Wholes> {
    let mut of = None;
    let edges = cfg.edges(block).map(|(pred, side)| {
        let args = func.dfg.target(func.terminator(pred)?, side)?.args(&func.dfg.pool);
        let [low, high] = [*args.get(pair[0])?, *args.get(pair[1])?];
        if bits(func, low).is_some() && bits(func, high).is_some() {
            return Some((pred, side, Whole::Constants([low, high])));
        }
        let ((whole, false), (other, true)) = (half::of(func, low)?, half::of(func, high)?) else {
            return None;
        };
        let ty = func.dfg.ty(whole);
        (whole == other && *of.get_or_insert(ty) == ty).then_some((pred, side, Whole::Value(whole)))
    });
    edges.collect()
}

/// The bits of a constant.
fn bits(func: &Function, value: Value) -> Option<u64> {
    func.dfg.int_const(value).map(|bits| bits as u64).or_else(|| func.dfg.float_const(value))
}

fn merge(func: &mut Function, cfg: &Cfg, block: Block, [low, high]: [usize; 2], wholes: &Wholes) {
    let Some(first) = func.layout.first_inst(block) else { return };
    let given = wholes.iter().find_map(|(_, _, whole)| match whole {
        Whole::Value(value) => Some(func.dfg.ty(*value)),
        Whole::Constants(_) => None,
    });
    let Some(ty) = given else { return };
    let param = func.dfg.append_block_param(block, ty);
    for &(pred, side, whole) in wholes {
        let Some(branch) = func.terminator(pred) else { continue };
        let value = match whole {
            Whole::Value(value) => value,
            Whole::Constants(both) if ty.is_vector() => {
                let args = ValueList::from_slice(&both, &mut func.dfg.pool);
                insert_before(func, branch, InstData::Vec { args }, ty)
            }
            Whole::Constants(both) => {
                let [low, high] = both.map(|half| bits(func, half).unwrap_or_default() & 0xffff);
                let value = Type::I32.normalize((high << 16 | low) as i64);
                insert_before(func, branch, InstData::IntConst { value }, Type::I32)
            }
        };
        func.dfg.change_target(branch, side, |call, pool| {
            call.args.push(value, pool);
        });
    }
    let types = [low, high].map(|n| func.dfg.ty(func.dfg.block_params(block)[n]));
    let halves = if ty.is_vector() {
        [0, 1].map(|lane| {
            insert_before(func, first, InstData::Extract { lane, arg: param }, types[usize::from(lane)])
        })
    } else {
        let by = insert_before(func, first, InstData::IntConst { value: 16 }, Type::I32);
        let shifted = InstData::Binary { op: Opcode::Lshr, args: [param, by] };
        let shifted = insert_before(func, first, shifted, Type::I32);
        [(param, types[0]), (shifted, types[1])].map(|(arg, ty)| {
            let half = insert_before(func, first, InstData::Unary { op: Opcode::Trunc, arg }, Type::I16);
            match ty.is_float() {
                true => insert_before(func, first, InstData::Unary { op: Opcode::Bitcast, arg: half }, ty),
                false => half,
            }
        })
    };
    let mut taken = [(low, halves[0]), (high, halves[1])];
    // From behind, so that the numbers stay right.
    taken.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    for (n, value) in taken {
        replace(func, cfg, block, n, value, false);
    }
}
