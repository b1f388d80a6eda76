//! Which rules are tried on an instruction: by its operation, how it compares, and the operations of its first two operands.

use super::{CONSTANT, ENTRIES, Entry, RULES, Rule, Term};
use crate::rules::known;
use warpsmith_ir::Opcode;

/// One more than the ways to compare.
const WAYS: usize = 16;

/// The operations that there are.
const OPERATIONS: usize = Opcode::ALL.len();

/// One more than the greatest head.
const HEADS: usize = CONSTANT as usize + 1;

/// Rules by the operation that they match.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    entries: &'static [Entry],
    /// By operation and how it compares the number of its group, plus one.
    numbers: &'static [[u8; WAYS]; OPERATIONS],
    /// The operations that there are groups for.
    known: &'static [bool; OPERATIONS],
    groups: &'static [Group],
    sets: &'static [u128],
}

/// The rules about one operation, which compares in one way if it does.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The first of its entries.
    start: u16,
    /// The first of its sets of entries, a set for each class of operands: those that allow such an operand in the first place, then those that allow it
    /// in the second.
    sets: u16,
    /// The number of classes.
    count: u8,
    /// The class of an operand by its head. Operands that no rule of the group asks for are of class 0.
    classes: [u8; HEADS],
}

/// The parts of an index.
#[derive(Debug)]
struct Tables<const GROUPS: usize, const SETS: usize> {
    numbers: [[u8; WAYS]; OPERATIONS],
    known: [bool; OPERATIONS],
    groups: [Group; GROUPS],
    sets: [u128; SETS],
}

impl<const GROUPS: usize, const SETS: usize> Tables<GROUPS, SETS> {
    const fn index(&'static self, entries: &'static [Entry]) -> Index {
        let Tables { numbers, known, groups, sets } = self;
        Index { entries, numbers, known, groups, sets }
    }
}

const SIZES: [(usize, usize); 3] = [sizes(ENTRIES[0]), sizes(ENTRIES[1]), sizes(ENTRIES[2])];

static PLAIN: Tables<{ SIZES[0].0 }, { SIZES[0].1 }> = tables(ENTRIES[0]);
static DEMANDED: Tables<{ SIZES[1].0 }, { SIZES[1].1 }> = tables(ENTRIES[1]);
static FAST: Tables<{ SIZES[2].0 }, { SIZES[2].1 }> = tables(ENTRIES[2]);

impl Index {
    /// The rules that always hold.
    pub const PLAIN: Index = PLAIN.index(ENTRIES[0]);
    /// Those about demanded bits.
    pub const DEMANDED: Index = DEMANDED.index(ENTRIES[1]);
    /// Those that flags of operations allow.
    pub const FAST: Index = FAST.index(ENTRIES[2]);

    /// The rule of a number.
    pub fn rule(&self, number: usize) -> &'static Rule {
        &RULES[number]
    }

    /// True if there is a rule about an operation.
    pub fn has(&self, op: Opcode) -> bool {
        self.known[op as usize]
    }

    /// The rules about an operation that compares in a way, of which 0 is none, with operands of these heads in the first two places. `commutes`
    /// allows them in either order.
    pub(super) fn entries(
        &self,
        op: Opcode,
        compared: usize,
        heads: [usize; 2],
        commutes: bool,
    ) -> impl Iterator<Item = &'static Entry> + use<> {
        let entries = self.entries;
        let (mut found, mut start) = (0, 0);
        if let Some(number) = self.numbers[op as usize][compared].checked_sub(1) {
            let group = &self.groups[usize::from(number)];
            let [a, b] = heads.map(|head| usize::from(group.classes[head]));
            let (first, second) = self.sets[usize::from(group.sets)..].split_at(group.count.into());
            found = first[a] & second[b];
            if commutes {
                found |= first[b] & second[a];
            }
            start = usize::from(group.start);
        }
        std::iter::from_fn(move || {
            (found != 0).then(|| {
                let entry = &entries[start + found.trailing_zeros() as usize];
                found &= found - 1;
                entry
            })
        })
    }
}

/// What an entry asks of the head of an operand; 0 where it asks nothing.
const fn asked(entry: &Entry, place: usize) -> usize {
    (entry.heads & entry.mask) as usize >> (8 * place) & 0xff
}

const fn is_first(entries: &[Entry], n: usize) -> bool {
    n == 0
        || entries[n].root as usize != entries[n - 1].root as usize
        || entries[n].compared != entries[n - 1].compared
}

/// Numbers the heads that a group asks for, from 1 on, and counts them with those that it does not.
const fn classes(entries: &[Entry], start: usize) -> ([u8; HEADS], usize) {
    let (mut classes, mut count, mut n) = ([0; HEADS], 1, start);
    while n < entries.len() && (n == start || !is_first(entries, n)) {
        let mut place = 0;
        while place < 2 {
            let head = asked(&entries[n], place);
            if head != 0 && classes[head] == 0 {
                classes[head] = count as u8;
                count += 1;
            }
            place += 1;
        }
        n += 1;
    }
    assert!(n - start <= u128::BITS as usize, "a set has room for the entries of a group");
    (classes, count)
}

/// The numbers of groups and of their sets.
const fn sizes(entries: &[Entry]) -> (usize, usize) {
    let (mut groups, mut sets, mut n) = (0, 0, 0);
    while n < entries.len() {
        if is_first(entries, n) {
            groups += 1;
            sets += 2 * classes(entries, n).1;
        }
        n += 1;
    }
    assert!(groups < u8::MAX as usize && sets <= u16::MAX as usize);
    (groups, sets)
}

const fn tables<const GROUPS: usize, const SETS: usize>(entries: &[Entry]) -> Tables<GROUPS, SETS> {
    let none = Group { start: 0, sets: 0, count: 0, classes: [0; HEADS] };
    let mut tables = Tables {
        numbers: [[0; WAYS]; OPERATIONS],
        known: [false; OPERATIONS],
        groups: [none; GROUPS],
        sets: [0; SETS],
    };
    let (mut groups, mut sets, mut start) = (0, 0, 0);
    while start < entries.len() {
        let (classes, count) = classes(entries, start);
        tables.groups[groups] = Group { start: start as u16, sets: sets as u16, count: count as u8, classes };
        groups += 1;
        tables.numbers[entries[start].root as usize][entries[start].compared as usize] = groups as u8;
        tables.known[entries[start].root as usize] = true;
        let mut n = start;
        while n < entries.len() && (n == start || !is_first(entries, n)) {
            let mut place = 0;
            while place < 2 {
                let class = classes[asked(&entries[n], place)] as usize;
                let mut other = 0;
                while other < count {
                    if class == 0 || class == other {
                        tables.sets[sets + place * count + other] |= 1 << (n - start);
                    }
                    other += 1;
                }
                place += 1;
            }
            n += 1;
        }
        sets += 2 * count;
        start = n;
    }
    tables
}

/// How far rules look.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// How many operations deep the patterns are.
    pub patterns: u8,
    /// How far what they ask of known bits depends on; 0 where they do not ask.
    pub bits: u8,
}

static REACHES: [Reach; OPERATIONS] = reaches(RULES);

/// How far the rules about an operation look.
pub fn reach(op: Opcode) -> Reach {
    REACHES[op as usize]
}

const fn reaches(rules: &[Rule]) -> [Reach; OPERATIONS] {
    let mut reaches = [Reach { patterns: 0, bits: 0 }; OPERATIONS];
    let mut n = 0;
    while n < rules.len() {
        let rule = &rules[n];
        let reach = &mut reaches[rule.root as usize];
        let mut asks = asks_for_bits(&rule.replacement);
        let mut condition = 0;
        while condition < rule.conditions.len() {
            asks |= asks_for_bits(&rule.conditions[condition]);
            condition += 1;
        }
        let patterns = depth(&rule.pattern);
        if patterns > reach.patterns {
            reach.patterns = patterns;
        }
        // Of any value in the pattern.
        if asks && patterns + known::DEPTH as u8 > reach.bits {
            reach.bits = patterns + known::DEPTH as u8;
        }
        n += 1;
    }
    reaches
}

const fn depth(term: &Term) -> u8 {
    let Term::Op(operation) = term else { return 0 };
    let (mut deepest, mut n) = (0, 0);
    while n < operation.args.len() {
        let depth = depth(&operation.args[n]);
        if depth > deepest {
            deepest = depth;
        }
        n += 1;
    }
    deepest + 1
}

const fn asks_for_bits(term: &Term) -> bool {
    match term {
        Term::Fact(super::Fact::Zeros | super::Fact::Ones, _) => true,
        Term::Op(operation) => {
            let mut n = 0;
            while n < operation.args.len() {
                if asks_for_bits(&operation.args[n]) {
                    return true;
                }
                n += 1;
            }
            false
        }
        Term::Value(..) | Term::Constant(..) | Term::Int(_) | Term::Float(_) | Term::Fact(..) => false,
    }
}
