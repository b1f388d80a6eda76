//! What follows from a condition.

use smallvec::SmallVec;
use warpsmith_ir::{Function, InstData, Opcode, Value};

/// Conditions, and whether they hold.
pub(crate) type Conditions = SmallVec<[(Value, bool); 4]>;

/// What must hold, or not hold, where a condition does or does not: the parts of `a && b` hold where it does, and those of `a || b` do not where it
/// does not.
pub(crate) fn parts(func: &Function, cond: Value, holds: bool) -> Conditions {
    let both = |args: [Value; 2]| args.iter().map(|&arg| (func.dfg.resolve(arg), holds)).collect();
    match func.dfg.def_data(cond) {
        Some(&InstData::Binary { op: Opcode::Band, args }) if holds => both(args),
        Some(&InstData::Binary { op: Opcode::Bor, args }) if !holds => both(args),
        Some(&InstData::Unary { op: Opcode::Bnot, arg }) => {
            Conditions::from_iter([(func.dfg.resolve(arg), !holds)])
        }
        _ => Conditions::new(),
    }
}
