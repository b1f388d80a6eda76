//! Sums of products of bytes become `dp4a` (PTX ISA 9.0, 9.7.1.23): four products of the bytes of two words, and the sum, in one instruction.
//!
//! A term is the product of two bytes that stand at the same place of two words, each extended with its sign or with zeros. Terms of the same two words,
//! extended in the same way, are one `dp4a`; bytes that no term has are cleared in one of the words.

use super::{insert_before, replace_with};
use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Function, Inst, InstBuilder, InstData, Opcode, Type, Value, mnemonic};

/// The first target that has `dp4a`.
const SINCE: u16 = 61;
/// Products of two words that one instruction is worth.
const LEAST: usize = 2;
/// Terms of one sum that are looked at.
const MOST: usize = 64;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    if cx.target.is_none_or(|target| target.sm < SINCE) {
        return Changes::NONE;
    }
    let cfg = cx.analyses.get::<Cfg>(func);
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    let mut sums: Vec<Inst> = Vec::new();
    for inst in cfg.reverse_postorder().iter().flat_map(|&block| func.layout.insts(block)) {
        func.dfg.uses(inst).for_each(|value| uses[func.dfg.resolve(value)] += 1);
        if is_sum(func, inst) {
            sums.push(inst);
        }
    }
    let mut changes = 0;
    let mut taken: EntitySet<Inst> = EntitySet::new();
    // The last sum of a row is found first.
    for inst in sums.into_iter().rev() {
        if taken.contains(inst) {
            continue;
        }
        let sum = Sum::of(func, &uses, inst);
        taken.extend(sum.sums.iter().copied());
        changes += sum.carry_out(func, inst);
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

fn is_sum(func: &Function, inst: Inst) -> bool {
    matches!(func.dfg[inst], InstData::Binary { op: Opcode::Iadd, .. })
        && func.dfg.first_result(inst).is_some_and(|result| func.dfg.ty(result) == Type::I32)
}

/// A byte of a word, and whether it is extended with its sign.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Byte {
    word: Value,
    at: u8,
    signed: bool,
}

/// Products of the bytes of two words.
struct Dot {
    words: [Value; 2],
    signed: [bool; 2],
    /// The bytes that are multiplied, a bit each.
    bytes: u8,
}

/// What is added up in a block.
struct Sum {
    sums: Vec<Inst>,
    dots: Vec<Dot>,
    /// The other terms.
    rest: SmallVec<[Value; 4]>,
}

impl Sum {
    fn of(func: &Function, uses: &SecondaryMap<Value, u32>, root: Inst) -> Sum {
        let block = func.layout.block_of(root);
        let mut sum = Sum { sums: vec![root], dots: Vec::new(), rest: SmallVec::new() };
        let mut products: Vec<(Value, [Byte; 2])> = Vec::new();
        let mut next = 0;
        while let Some(&inst) = sum.sums.get(next) {
            next += 1;
            for arg in func.dfg.args(inst).iter().map(|&arg| func.dfg.resolve(arg)) {
                let def = func
                    .dfg
                    .def_inst(arg)
                    .filter(|&def| uses[arg] == 1 && func.layout.block_of(def) == block && next < MOST);
                match def {
                    Some(def) if is_sum(func, def) => sum.sums.push(def),
                    Some(def) => match product(func, def) {
                        Some(bytes) => products.push((arg, bytes)),
                        None => sum.rest.push(arg),
                    },
                    None => sum.rest.push(arg),
                }
            }
        }
        sum.collect(products);
        sum
    }

    /// Puts products of the same words together; those that are too few are terms like others.
    fn collect(&mut self, products: Vec<(Value, [Byte; 2])>) {
        let mut groups: Vec<(Dot, SmallVec<[Value; 4]>)> = Vec::new();
        for (product, [a, b]) in products {
            let (words, signed, bit) = ([a.word, b.word], [a.signed, b.signed], 1 << a.at);
            let group = groups.iter_mut().find(|(dot, _)| {
                dot.bytes & bit == 0
                    && (dot.words == words && dot.signed == signed
                        || dot.words == [b.word, a.word] && dot.signed == [b.signed, a.signed])
            });
            match group {
                Some((dot, values)) => {
                    dot.bytes |= bit;
                    values.push(product);
                }
                None => groups.push((Dot { words, signed, bytes: bit }, SmallVec::from_slice(&[product]))),
            }
        }
        for (dot, values) in groups {
            if values.len() >= LEAST {
                self.dots.push(dot);
            } else {
                self.rest.extend(values);
            }
        }
    }

    fn carry_out(self, func: &mut Function, root: Inst) -> u32 {
        let Sum { dots, rest, .. } = self;
        let made = dots.len() as u32;
        if made == 0 {
            return 0;
        }
        let mut sum = None;
        for term in rest {
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    let data = InstData::Binary { op: Opcode::Iadd, args: [sum, term] };
                    insert_before(func, root, data, Type::I32)
                }
            });
        }
        let constant =
            |func: &mut Function, value| insert_before(func, root, InstData::IntConst { value }, Type::I32);
        let mut sum = match sum {
            Some(sum) => sum,
            None => constant(func, 0),
        };
        for Dot { words: [a, b], signed, bytes } in dots {
            let mask =
                (0..4).filter(|at| bytes & 1 << at != 0).fold(0u32, |mask, at| mask | 0xff << (8 * at));
            let a = word(func, root, a);
            let a = if mask == u32::MAX {
                a
            } else {
                let mask = constant(func, i64::from(mask as i32));
                insert_before(func, root, InstData::Binary { op: Opcode::Band, args: [a, mask] }, Type::I32)
            };
            let args = (a, word(func, root, b), sum);
            let ins = func.before(root);
            let dot = match signed {
                [true, true] => ins.ptx(mnemonic!("dp4a.s32.s32"), args),
                [true, false] => ins.ptx(mnemonic!("dp4a.s32.u32"), args),
                [false, true] => ins.ptx(mnemonic!("dp4a.u32.s32"), args),
                [false, false] => ins.ptx(mnemonic!("dp4a.u32.u32"), args),
            };
            sum = dot.first();
        }
        replace_with(func, root, sum);
        made
    }
}

/// A word that bytes are of, as an integer.
fn word(func: &mut Function, before: Inst, value: Value) -> Value {
    if func.dfg.ty(value) == Type::I32 {
        return value;
    }
    insert_before(func, before, InstData::Unary { op: Opcode::Bitcast, arg: value }, Type::I32)
}

/// The bytes that an instruction multiplies, if they stand at the same place of two words.
fn product(func: &Function, inst: Inst) -> Option<[Byte; 2]> {
    let InstData::Binary { op: Opcode::Imul, args } = func.dfg[inst] else { return None };
    let [a, b] = [byte(func, args[0])?, byte(func, args[1])?];
    (a.at == b.at && func.dfg.ty(args[0]) == Type::I32).then_some([a, b])
}

/// The byte that a value of 32 bits is the extension of.
fn byte(func: &Function, value: Value) -> Option<Byte> {
    let constant = |value: Value| func.dfg.int_const(func.dfg.resolve(value));
    // A byte of a word that is at the bottom of a value of 32 bits.
    let shifted = |value: Value| {
        let value = func.dfg.resolve(value);
        match func.dfg.def_data(value) {
            Some(&InstData::Binary { op: Opcode::Lshr | Opcode::Ashr, args: [word, by] }) => {
                match constant(by) {
                    Some(by @ (8 | 16 | 24)) => (func.dfg.resolve(word), (by / 8) as u8),
                    Some(_) | None => (value, 0),
                }
            }
            _ => (value, 0),
        }
    };
    match *func.dfg.def_data(func.dfg.resolve(value))? {
        InstData::Unary { op: op @ (Opcode::Sext | Opcode::Zext), arg } => {
            let arg = func.dfg.resolve(arg);
            let signed = op == Opcode::Sext;
            if func.dfg.ty(arg) != Type::I8 {
                return None;
            }
            match *func.dfg.def_data(arg)? {
                InstData::Unary { op: Opcode::Trunc, arg } if func.dfg.ty(arg) == Type::I32 => {
                    let (word, at) = shifted(arg);
                    Some(Byte { word, at, signed })
                }
                InstData::Extract { lane, arg: word } if func.dfg.ty(word).bits() == 32 => {
                    Some(Byte { word: func.dfg.resolve(word), at: lane, signed })
                }
                _ => None,
            }
        }
        InstData::Binary { op: Opcode::Band, args: [arg, mask] } if constant(mask) == Some(0xff) => {
            let (word, at) = shifted(arg);
            Some(Byte { word, at, signed: false })
        }
        InstData::Binary { op: op @ (Opcode::Lshr | Opcode::Ashr), args: [arg, by] } => {
            let signed = op == Opcode::Ashr;
            if constant(by) != Some(24) {
                return None;
            }
            let arg = func.dfg.resolve(arg);
            // The byte was moved up first.
            match func.dfg.def_data(arg) {
                Some(&InstData::Binary { op: Opcode::Shl, args: [word, by] }) => match constant(by) {
                    Some(by @ (0 | 8 | 16 | 24)) => {
                        Some(Byte { word: func.dfg.resolve(word), at: 3 - (by / 8) as u8, signed })
                    }
                    Some(_) | None => Some(Byte { word: arg, at: 3, signed }),
                },
                _ => Some(Byte { word: arg, at: 3, signed }),
            }
        }
        _ => None,
    }
}
