//! Bytes of one or two words in a new order: what shifts, masks and ors put together is one `prmt` (PTX ISA 9.0, 9.7.9.7), and up to three for the
//! bytes of three or four words. ptxas makes an instruction of each of them, but for masks and ors in a row.

use super::{insert_before, join_halves, replace_with};
use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use crate::sparse::Sparse;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Function, Inst, InstBuilder, InstData, Opcode, Scalar, Type, Value, ValueList, mnemonic};

/// Where a byte comes from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Byte {
    #[default]
    Zero,
    /// A byte of a word, counted from the lowest.
    Of(Value, u8),
}

/// The bytes of a value of up to 64 bits, those above it zero.
type Bytes = [Byte; 8];
/// The bytes of a word.
type Word = [Byte; 4];

const TWO_WORDS: Type = match Type::vector(Scalar::I32, 2) {
    Some(ty) => ty,
    None => Type::INVALID,
};

/// Instructions of one value that are looked at.
const MOST: usize = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let order: Vec<Inst> = {
        let cfg = cx.analyses.get::<Cfg>(func);
        cfg.reverse_postorder().iter().flat_map(|&block| func.layout.insts(block)).collect()
    };
    let mut found = Found { bytes: Sparse::new(func.dfg.num_values()), uses: SecondaryMap::new() };
    found.uses.resize(func.dfg.num_values());
    for &inst in &order {
        func.dfg.for_each_use(inst, |value| found.uses[value] += 1);
        if let Some(result) = func.dfg.first_result(inst).filter(|result| is_word_or_two(func, *result))
            && let Some(bytes) = found.moved(func, inst)
        {
            found.bytes.set(result, bytes);
        }
    }
    let mut changes = 0;
    let mut gone: EntitySet<Inst> = EntitySet::new();
    // What a value is made of is behind it: the largest trees are found first.
    for &inst in order.iter().rev() {
        let Some(result) = func.dfg.first_result(inst) else { continue };
        let Some(&bytes) = found.bytes.get(result).filter(|_| !gone.contains(inst)) else { continue };
        let plan = match func.dfg.ty(result) {
            Type::I32 => Plan::of(func, &low(bytes)),
            Type::I64 if uses_of_words(func, &bytes) => Plan::of_two(func, inst, &bytes),
            _ => None,
        };
        let Some(plan) = plan.filter(|plan| !plan.is_of(result)) else { continue };
        let (cost, tree) = found.tree(func, inst, &plan);
        if cost <= plan.cost() {
            continue;
        }
        tree.into_iter().for_each(|inst| {
            gone.insert(inst);
        });
        let by = plan.build(func, inst);
        replace_with(func, inst, by);
        changes += 1;
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// The lowest of them.
fn low([a, b, c, d, ..]: Bytes) -> Word {
    [a, b, c, d]
}

/// Whether bytes of 64 bits are of shorter values, and more than two of them: else there are shorter ways.
fn uses_of_words(func: &Function, bytes: &Bytes) -> bool {
    let mut sources: SmallVec<[Value; 8]> = SmallVec::new();
    for byte in bytes {
        if let Byte::Of(value, _) = byte
            && !sources.contains(value)
        {
            sources.push(*value);
        }
    }
    sources.len() > 2
        && sources.iter().all(|&value| is_word(func, value) && func.dfg.int_const(value).is_none())
}

/// Whether a value is an integer of 8 to 64 bits.
fn is_word_or_two(func: &Function, value: Value) -> bool {
    is_word(func, value) || func.dfg.ty(value) == Type::I64
}

/// Whether a value is an integer of 8, 16 or 32 bits.
fn is_word(func: &Function, value: Value) -> bool {
    matches!(func.dfg.ty(value), Type::I8 | Type::I16 | Type::I32)
}

fn width(func: &Function, value: Value) -> usize {
    (func.dfg.ty(value).bits() / 8) as usize
}

struct Found {
    /// The bytes of results that move bytes only.
    bytes: Sparse<Value, Bytes>,
    uses: SecondaryMap<Value, u32>,
}

impl Found {
    /// The bytes of an operand: those of what it moves, or its own.
    fn of(&self, func: &Function, value: Value) -> Bytes {
        let value = func.dfg.resolve(value);
        if let Some(&bytes) = self.bytes.get(value) {
            return bytes;
        }
        let constant = func.dfg.int_const(value).map(i64::to_le_bytes);
        let own = |n: usize| match constant {
            Some(bytes) if bytes[n] == 0 => Byte::Zero,
            _ if n < width(func, value) => Byte::Of(value, n as u8),
            _ => Byte::Zero,
        };
        std::array::from_fn(own)
    }

    /// The bytes of a result, if the instruction does nothing but move bytes.
    fn moved(&self, func: &Function, inst: Inst) -> Option<Bytes> {
        let bytes = |value: Value| self.of(func, value);
        let result = func.dfg.first_result(inst)?;
        let width = width(func, result);
        let amount = |value: Value| whole_bytes(func, value, width);
        let made: Bytes = match func.dfg[inst] {
            InstData::Unary { op: Opcode::Zext, arg } if width == 8 && is_word(func, arg) => bytes(arg),
            InstData::Unary { op: Opcode::Zext, arg } if is_word(func, arg) => {
                let inner = bytes(arg);
                let words = inner.iter().all(|byte| match byte {
                    Byte::Zero => true,
                    Byte::Of(word, _) => func.dfg.ty(*word) == Type::I32,
                });
                // A value of fewer bits is in no register of 32 by itself, but its extension is.
                let own = self::width(func, arg);
                let extended = |n: usize| if n < own { Byte::Of(result, n as u8) } else { Byte::Zero };
                if words { inner } else { std::array::from_fn(extended) }
            }
            InstData::Unary { op: Opcode::Trunc, arg } if is_word(func, arg) => bytes(arg),
            InstData::Unary { op: Opcode::Trunc, arg } if width == 4 && is_word_or_two(func, arg) => {
                let bytes = bytes(arg);
                let of_word = |byte: &Byte| match byte {
                    Byte::Zero => true,
                    Byte::Of(word, _) => func.dfg.ty(*word) == Type::I32,
                };
                low(bytes).iter().all(of_word).then_some(bytes)?
            }
            InstData::Unary { op: Opcode::Bswap, arg } if width < 8 => {
                let bytes = bytes(arg);
                std::array::from_fn(|n| if n < width { bytes[width - 1 - n] } else { Byte::Zero })
            }
            InstData::Binary { op: Opcode::Bor | Opcode::Bxor | Opcode::Iadd, args: [a, b] } => {
                let (a, b) = (bytes(a), bytes(b));
                let mut all = a;
                for (byte, other) in all.iter_mut().zip(b) {
                    *byte = match (*byte, other) {
                        (Byte::Zero, byte) | (byte, Byte::Zero) => byte,
                        (Byte::Of(..), Byte::Of(..)) => return None,
                    };
                }
                all
            }
            InstData::Binary { op: Opcode::Band, args: [x, mask] } => {
                let (mut all, mask) = (bytes(x), func.dfg.int_const(func.dfg.resolve(mask))?.to_le_bytes());
                for (byte, mask) in all.iter_mut().zip(mask) {
                    match mask {
                        0 => *byte = Byte::Zero,
                        0xff => {}
                        _ => return None,
                    }
                }
                all
            }
            InstData::Binary { op: Opcode::Shl, args: [x, by] } => {
                let (all, by) = (bytes(x), amount(by)?);
                std::array::from_fn(|n| if n < by { Byte::Zero } else { all[n - by] })
            }
            InstData::Binary { op: Opcode::Lshr, args: [x, by] } => {
                let (all, by) = (bytes(x), amount(by)?);
                std::array::from_fn(|n| all.get(n + by).copied().unwrap_or_default())
            }
            InstData::Ternary { op: Opcode::Fshl, args: [high, low, by] } if width == 4 => {
                shifted(bytes(high), bytes(low), 4 - amount(by)?)
            }
            InstData::Ternary { op: Opcode::Fshr, args: [high, low, by] } if width == 4 => {
                shifted(bytes(high), bytes(low), amount(by)?)
            }
            InstData::Binary { op: Opcode::Rotl, args: [x, by] } if width == 4 => {
                shifted(bytes(x), bytes(x), 4 - amount(by)?)
            }
            InstData::Binary { op: Opcode::Rotr, args: [x, by] } if width == 4 => {
                shifted(bytes(x), bytes(x), amount(by)?)
            }
            _ => return None,
        };
        Some(std::array::from_fn(|n| if n < width { made[n] } else { Byte::Zero }))
    }

    /// The instructions that are not needed if this one's result is made of words, and how many of them cost anything.
    fn tree(&self, func: &Function, root: Inst, plan: &Plan) -> (u32, SmallVec<[Inst; MOST]>) {
        let mut tree = SmallVec::from_slice(&[root]);
        let (mut next, mut cost) = (0, 0);
        while let Some(&inst) = tree.get(next) {
            next += 1;
            // A part of a register is that register.
            cost += u32::from(func.dfg.opcode(inst) != Opcode::Trunc);
            for arg in func.dfg.args(inst).iter().map(|&arg| func.dfg.resolve(arg)) {
                let only_here = self.bytes.get(arg).is_some() && self.uses[arg] == 1 && !plan.is_of(arg);
                let def = func.dfg.def_inst(arg).filter(|_| only_here && tree.len() < MOST);
                tree.extend(def);
            }
        }
        (cost, tree)
    }
}

/// Four bytes of two words, from a byte of the lower one on.
fn shifted(high: Bytes, low: Bytes, from: usize) -> Bytes {
    std::array::from_fn(|n| match n + from {
        _ if n >= 4 => Byte::Zero,
        at @ ..4 => low[at],
        at => high[at - 4],
    })
}

/// A constant amount of bits as whole bytes, fewer than the value has.
fn whole_bytes(func: &Function, amount: Value, width: usize) -> Option<usize> {
    let bits = usize::try_from(func.dfg.int_const(func.dfg.resolve(amount))?).ok()?;
    (bits.is_multiple_of(8) && bits / 8 < width).then_some(bits / 8)
}

/// How bytes are put together.
enum Plan {
    One(Order),
    /// The bytes of the lower and the upper half, and the selector of both.
    Halves([Half; 2], u32),
    /// The lower and the upper word.
    Two(Box<[Plan; 2]>),
}

impl Plan {
    /// Two words, of which the bytes are made words of their own in front of an instruction.
    fn of_two(func: &mut Function, before: Inst, bytes: &Bytes) -> Option<Plan> {
        let mut words: SmallVec<[(Value, Value); 8]> = SmallVec::new();
        let mut extended = *bytes;
        for byte in &mut extended {
            let Byte::Of(value, _) = byte else { continue };
            if func.dfg.ty(*value) == Type::I32 {
                continue;
            }
            let known = words.iter().find(|(narrow, _)| narrow == value).map(|(_, word)| *word);
            let word = known.unwrap_or_else(|| {
                let data = InstData::Unary { op: Opcode::Zext, arg: *value };
                insert_before(func, before, data, Type::I32)
            });
            words.push((*value, word));
            *value = word;
        }
        let [a, b, c, d, upper @ ..] = extended;
        Some(Plan::Two(Box::new([Plan::of(func, &[a, b, c, d])?, Plan::of(func, &upper)?])))
    }

    fn of(func: &Function, bytes: &Word) -> Option<Plan> {
        Order::of(func, bytes).map(Plan::One).or_else(|| {
            let [a, b, c, d] = *bytes;
            let ((low, [a, b]), (high, [c, d])) = (Half::of(func, a, b)?, Half::of(func, c, d)?);
            Some(Plan::Halves([low, high], a | b << 4 | (c + 4) << 8 | (d + 4) << 12))
        })
    }

    fn is_of(&self, value: Value) -> bool {
        match self {
            Plan::One(order) => order.is_of(value),
            Plan::Halves(halves, _) => halves.iter().any(|half| match half {
                Half::Word(word) => *word == value,
                Half::Made(order) => order.is_of(value),
            }),
            Plan::Two(words) => words.iter().any(|word| word.is_of(value)),
        }
    }

    /// How many instructions it may take the place of without a gain: those that it takes, and of many one that ptxas would do together with another.
    fn cost(&self) -> u32 {
        match self {
            Plan::One(_) => 1,
            Plan::Halves(halves, _) => {
                2 + halves.iter().map(|half| u32::from(matches!(half, Half::Made(_)))).sum::<u32>()
            }
            // Of 64 bits each operation is two.
            Plan::Two(words) => words.iter().map(Plan::cost).sum::<u32>().div_ceil(2),
        }
    }

    fn build(&self, func: &mut Function, before: Inst) -> Value {
        match self {
            Plan::One(order) => order.build(func, before),
            Plan::Halves(halves, selector) => {
                let [low, high] = halves.each_ref().map(|half| match half {
                    Half::Word(word) => *word,
                    Half::Made(order) => order.build(func, before),
                });
                func.before(before).ptx(mnemonic!("prmt.b32"), (low, high, *selector as i32)).first()
            }
            Plan::Two(words) => {
                let words = words.each_ref().map(|word| word.build(func, before));
                let args = ValueList::from_slice(&words, &mut func.dfg.pool);
                let pair = insert_before(func, before, InstData::Vec { args }, TWO_WORDS);
                insert_before(func, before, InstData::Unary { op: Opcode::Bitcast, arg: pair }, Type::I64)
            }
        }
    }
}

/// Two bytes that are put together before two others are added.
enum Half {
    /// Both are in this word.
    Word(Value),
    /// They become the lowest of a word.
    Made(Order),
}

impl Half {
    /// The half, and where in its word the two bytes are.
    fn of(func: &Function, low: Byte, high: Byte) -> Option<(Half, [u32; 2])> {
        match (low, high) {
            (Byte::Of(word, a), Byte::Of(other, b)) if word == other => {
                let is_word = func.dfg.ty(word) == Type::I32 && func.dfg.int_const(word).is_none();
                is_word.then_some((Half::Word(word), [a.into(), b.into()]))
            }
            // What is above them is not read.
            _ => Some((Half::Made(Order::of(func, &[low, high, low, high])?), [0, 1])),
        }
    }
}

/// Bytes of one or two words, as `prmt` takes them.
struct Order {
    first: Value,
    second: Option<Value>,
    selector: u32,
}

/// The selector of the bytes of the first word as they are.
const SAME: u32 = 0x3210;
/// The selector of the lower half of each word. The first word is that of the lowest byte.
const LOW_HALVES: u32 = 0x5410;

impl Order {
    /// `None` if the bytes are not of one or two words of 32 bits, or if none of two has a zero that is needed.
    fn of(func: &Function, bytes: &Word) -> Option<Order> {
        let mut words: SmallVec<[Value; 2]> = SmallVec::new();
        for byte in bytes {
            if let Byte::Of(word, _) = *byte
                && !words.contains(&word)
            {
                if words.len() == 2 || func.dfg.ty(word) != Type::I32 {
                    return None;
                }
                words.push(word);
            }
        }
        // A constant can be the second operand only.
        words.sort_by_key(|word| func.dfg.int_const(*word).is_some());
        let (first, second) = (*words.first()?, words.get(1).copied());
        if func.dfg.int_const(first).is_some() {
            return None;
        }
        let zero = match second {
            None => Some(4),
            Some(second) => zero_byte(func, first).or_else(|| Some(4 + zero_byte(func, second)?)),
        };
        let mut selector = 0;
        for (n, byte) in bytes.iter().enumerate() {
            let digit = match byte {
                Byte::Zero => zero?,
                Byte::Of(word, byte) => u32::from(*byte) + if *word == first { 0 } else { 4 },
            };
            selector |= digit << (4 * n);
        }
        Some(Order { first, second, selector })
    }

    fn is_of(&self, value: Value) -> bool {
        value == self.first || Some(value) == self.second
    }

    fn build(&self, func: &mut Function, before: Inst) -> Value {
        let selector = self.selector as i32;
        let Some(second) = self.second else {
            if self.selector == SAME {
                return self.first;
            }
            return func.before(before).ptx(mnemonic!("prmt.b32"), (self.first, 0, selector)).first();
        };
        if self.selector == LOW_HALVES
            && let [Some(low), Some(high)] = [self.first, second].map(|word| extended_half(func, word))
        {
            let word = join_halves(func, before, [low, high]);
            return insert_before(func, before, word, Type::I32);
        }
        let second = match func.dfg.int_const(second) {
            // Where it is made may be further down.
            Some(value) => insert_before(func, before, InstData::IntConst { value }, Type::I32),
            None => second,
        };
        func.before(before).ptx(mnemonic!("prmt.b32"), (self.first, second, selector)).first()
    }
}

/// The value of 16 bits that a word is an extension of: `mov` joins two of them as they are.
fn extended_half(func: &Function, word: Value) -> Option<Value> {
    match func.dfg.def_data(word) {
        Some(&InstData::Unary { op: Opcode::Zext, arg }) if func.dfg.ty(arg) == Type::I16 => {
            Some(func.dfg.resolve(arg))
        }
        _ => None,
    }
}

/// A byte of a word that is zero.
fn zero_byte(func: &Function, word: Value) -> Option<u32> {
    if let Some(value) = func.dfg.int_const(word) {
        return value.to_le_bytes()[..4].iter().position(|byte| *byte == 0).map(|n| n as u32);
    }
    match func.dfg.def_data(word) {
        Some(&InstData::Unary { op: Opcode::Zext, arg }) if is_word(func, arg) => {
            Some(width(func, arg) as u32)
        }
        _ => None,
    }
}
