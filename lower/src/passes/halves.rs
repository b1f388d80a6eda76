//! Integers of 64 bits of which only the words are used, and which a condition chooses from others that were put together of words: each word is chosen
//! by itself. Structs of two words that are copied as one number leave such selections (`bigger = a.m > b.m ? a : b`).

use super::{insert_before, replace_with};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value};

/// How many operations in a row are looked at.
const MAX_DEPTH: u32 = 16;

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let insts: Vec<Inst> = blocks.into_iter().flat_map(|block| func.layout.insts(block)).collect();
    if !insts.iter().any(|&inst| is_choice(func, inst)) {
        return Changes::to_instructions(0);
    }
    let mut users: SecondaryMap<Value, SmallVec<[Inst; 4]>> = SecondaryMap::new();
    for &inst in &insts {
        func.dfg.for_each_use(inst, |value| users[func.dfg.resolve(value)].push(inst));
    }
    let mut words = Words { users, only_words: FxHashMap::default(), split: FxHashMap::default() };
    let mut changes = 0;
    for inst in insts {
        let Some((whole, n)) = word_of(func, inst) else { continue };
        if !reaches_choice(func, whole, 0) {
            continue;
        }
        let Some(split) = words.of(func, whole, 0) else { continue };
        let word = split[n].value(func, inst);
        let word = func.dfg.resolve(word);
        replace_with(func, inst, word);
        changes += 1;
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

fn is_choice(func: &Function, inst: Inst) -> bool {
    matches!(func.dfg[inst], InstData::Ternary { op: Opcode::Select, .. })
        && func.dfg.first_result(inst).is_some_and(|value| func.dfg.ty(value) == Type::I64)
}

/// The integer of 64 bits that an instruction takes a word of, and which.
fn word_of(func: &Function, inst: Inst) -> Option<(Value, usize)> {
    let InstData::Unary { op: Opcode::Trunc, arg } = func.dfg[inst] else { return None };
    if func.dfg.ty(func.dfg.first_result(inst)?) != Type::I32 || func.dfg.ty(arg) != Type::I64 {
        return None;
    }
    match func.dfg.def_data(func.dfg.resolve(arg)) {
        Some(&InstData::Binary { op: Opcode::Lshr, args: [whole, by] })
            if func.dfg.int_const(by) == Some(32) =>
        {
            Some((func.dfg.resolve(whole), 1))
        }
        _ => Some((func.dfg.resolve(arg), 0)),
    }
}

/// Whether a value is chosen by a condition, or put together from what is: of others, rules find the words.
fn reaches_choice(func: &Function, value: Value, depth: u32) -> bool {
    let Some(inst) = func.dfg.def_inst(func.dfg.resolve(value)) else { return false };
    if depth > MAX_DEPTH / 4 {
        return false;
    }
    match func.dfg[inst] {
        InstData::Binary { op: Opcode::Bor | Opcode::Band | Opcode::Shl | Opcode::Lshr, args } => {
            args.iter().any(|&arg| reaches_choice(func, arg, depth + 1))
        }
        _ => is_choice(func, inst),
    }
}

/// A word of a value.
#[derive(Clone, Copy)]
enum Word {
    Constant(u32),
    Value(Value),
}

impl Word {
    fn value(self, func: &mut Function, before: Inst) -> Value {
        match self {
            Word::Constant(value) => {
                let value = Type::I32.normalize(value.into());
                insert_before(func, before, InstData::IntConst { value }, Type::I32)
            }
            Word::Value(value) => value,
        }
    }

    /// The word that has the bits of both, if no instruction is needed for it.
    fn or(self, other: Word) -> Option<Word> {
        match (self, other) {
            (Word::Constant(a), Word::Constant(b)) => Some(Word::Constant(a | b)),
            (Word::Constant(0), word) | (word, Word::Constant(0)) => Some(word),
            (Word::Constant(_) | Word::Value(_), Word::Value(_)) | (Word::Value(_), Word::Constant(_)) => {
                None
            }
        }
    }
}

struct Words {
    users: SecondaryMap<Value, SmallVec<[Inst; 4]>>,
    only_words: FxHashMap<Value, bool>,
    split: FxHashMap<Value, Option<[Word; 2]>>,
}

impl Words {
    /// The words of a value, the lower first, if they are at hand or chosen from such that are.
    fn of(&mut self, func: &mut Function, value: Value, depth: u32) -> Option<[Word; 2]> {
        let value = func.dfg.resolve(value);
        if let Some(&known) = self.split.get(&value) {
            return known;
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let found = self.find(func, value, depth + 1);
        self.split.insert(value, found);
        found
    }

    fn find(&mut self, func: &mut Function, value: Value, depth: u32) -> Option<[Word; 2]> {
        let zero = Word::Constant(0);
        let inst = func.dfg.def_inst(value)?;
        match func.dfg[inst] {
            InstData::IntConst { value } => {
                Some([Word::Constant(value as u32), Word::Constant((value >> 32) as u32)])
            }
            InstData::Unary { op: Opcode::Zext, arg } if func.dfg.ty(arg) == Type::I32 => {
                Some([Word::Value(func.dfg.resolve(arg)), zero])
            }
            InstData::Binary { op: Opcode::Bor, args: [a, b] } => {
                let ([a, upper_a], [b, upper_b]) = (self.of(func, a, depth)?, self.of(func, b, depth)?);
                Some([a.or(b)?, upper_a.or(upper_b)?])
            }
            InstData::Binary { op: Opcode::Band, args: [a, mask] } => {
                let [low, high] = self.of(func, a, depth)?;
                match func.dfg.int_const(mask)? {
                    0xffff_ffff => Some([low, zero]),
                    LOW_CLEAR => Some([zero, high]),
                    _ => None,
                }
            }
            InstData::Binary { op: Opcode::Shl, args: [a, by] } if func.dfg.int_const(by) == Some(32) => {
                Some([zero, self.of(func, a, depth)?[0]])
            }
            InstData::Binary { op: Opcode::Lshr, args: [a, by] } if func.dfg.int_const(by) == Some(32) => {
                Some([self.of(func, a, depth)?[1], zero])
            }
            InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] } => {
                if !self.has_only_words(func, value, 0) {
                    return None;
                }
                let (yes, no) = (self.of(func, yes, depth)?, self.of(func, no, depth)?);
                let [low, high] = [0, 1].map(|n: usize| {
                    let args = [cond, yes[n].value(func, inst), no[n].value(func, inst)];
                    let select = InstData::Ternary { op: Opcode::Select, args };
                    Word::Value(insert_before(func, inst, select, Type::I32))
                });
                Some([low, high])
            }
            _ => None,
        }
    }

    /// Whether all that is made of a value are its words, by way of values that are split as well.
    fn has_only_words(&mut self, func: &Function, value: Value, depth: u32) -> bool {
        if let Some(&known) = self.only_words.get(&value) {
            return known;
        }
        if depth > MAX_DEPTH {
            return false;
        }
        let users = self.users[value].clone();
        let found = users.iter().all(|&user| {
            if word_of(func, user).is_some() {
                return true;
            }
            let Some(result) = func.dfg.first_result(user) else { return false };
            let moved = match func.dfg[user] {
                InstData::Binary { op: Opcode::Bor, .. } => true,
                InstData::Binary { op: Opcode::Band, args: [_, mask] } => {
                    matches!(func.dfg.int_const(mask), Some(0xffff_ffff | LOW_CLEAR))
                }
                InstData::Binary { op: Opcode::Shl | Opcode::Lshr, args: [_, by] } => {
                    func.dfg.int_const(by) == Some(32)
                }
                _ => is_choice(func, user),
            };
            moved && self.has_only_words(func, result, depth + 1)
        });
        self.only_words.insert(value, found);
        found
    }
}

/// The mask of the upper word.
const LOW_CLEAR: i64 = -1 << 32;
