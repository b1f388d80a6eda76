//! The slot that `regalloc2` gives to each value where it has no registers to give, found as it finds it but without what that leaves nothing to do: it
//! queues, splits and evicts nothing, and its moves between slots are not looked at.
//!
//! A value has a list of live ranges. Where an edge gives a value to a parameter, and no range of one meets a range of the other, both become one bundle; then
//! each bundle, from its first range to its last, takes a slot in which no other meets it.

use std::collections::BTreeMap;

/// Steps over the ranges of two bundles after which they are left apart.
const MAX_STEPS: u32 = 200;
/// Slots that are looked at before there is another one.
const MAX_ATTEMPTS: usize = 10;
/// Classes of values that never share a slot.
const CLASSES: usize = 3;
/// No number.
const NONE: u32 = u32::MAX;

/// A function whose blocks, instructions and values are numbered through.
pub trait Code {
    /// How many values there are.
    fn values(&self) -> usize;
    /// How many blocks there are; the first is the entry.
    fn blocks(&self) -> usize;
    /// The numbers of the first instruction of a block and of the one behind its last.
    fn insts(&self, block: u32) -> (u32, u32);
    /// What an instruction reads and then writes, in any order.
    fn operands(&self, inst: u32) -> &[Operand];
    /// The blocks that a block leads to.
    fn successors(&self, block: u32) -> &[u32];
    /// The blocks that lead to a block.
    fn predecessors(&self, block: u32) -> &[u32];
    /// The parameters of a block.
    fn params(&self, block: u32) -> &[u32];
    /// What a block gives to the parameters of the only other that it leads to.
    fn given(&self, block: u32) -> &[u32];
    /// Which of three classes a value has.
    fn class(&self, value: u32) -> usize;
}

/// A value that an instruction reads or writes.
#[derive(Clone, Copy)]
pub struct Operand {
    pub value: u32,
    pub is_written: bool,
}

/// A slot for each value, and the number of slots; `None` for code that reads what is not written.
pub fn assign(code: &impl Code) -> Option<(Vec<u32>, usize)> {
    let mut ranges = Ranges::new(code.values());
    let outgoing = Outgoing::of(code)?;
    let mut edges = ranges.find(code, &outgoing);
    edges.sort_unstable();
    for [from, _, _, to] in edges {
        ranges.merge(code, from, to);
    }
    Some(ranges.slots(code))
}

/// Lists of numbers, one for each key, in one allocation: from the last that was added, whose place is noted plus one.
struct Lists {
    last: Vec<u32>,
    entries: Vec<(u32, u32)>,
}

impl Lists {
    fn new(keys: usize) -> Lists {
        Lists { last: vec![0; keys], entries: Vec::with_capacity(2 * keys) }
    }

    fn add(&mut self, key: u32, entry: u32) {
        if let Some(last) = self.last.get_mut(key as usize) {
            self.entries.push((entry, *last));
            *last = self.entries.len() as u32;
        }
    }

    fn of(&self, key: u32) -> impl Iterator<Item = u32> + '_ {
        let entry = |place: u32| self.entries.get(place.checked_sub(1)? as usize);
        let first = self.last.get(key as usize).and_then(|last| entry(*last));
        std::iter::successors(first, move |(_, before)| entry(*before)).map(|(entry, _)| *entry)
    }
}

/// The values that other blocks read behind each block.
struct Outgoing(Lists);

impl Outgoing {
    /// Walks from the blocks that read a value to the one that writes it.
    fn of(code: &impl Code) -> Option<Outgoing> {
        let blocks = code.blocks() as u32;
        // The blocks that read values which they have not written before, and the block that writes each.
        let mut read = Lists::new(code.values());
        let mut written = vec![NONE; code.values()];
        let mut noted = vec![NONE; code.values()];
        let mut reads = |written: &[u32], value: u32, block: u32| {
            let place = value as usize;
            if written[place] != block && std::mem::replace(&mut noted[place], block) != block {
                read.add(value, block);
            }
        };
        for block in 0..blocks {
            code.params(block).iter().for_each(|&param| written[param as usize] = block);
            let (first, end) = code.insts(block);
            for inst in first..end {
                let used = code.operands(inst).iter().filter(|operand| !operand.is_written);
                used.for_each(|operand| reads(&written, operand.value, block));
                let made = code.operands(inst).iter().filter(|operand| operand.is_written);
                made.for_each(|operand| written[operand.value as usize] = block);
            }
            code.given(block).iter().for_each(|&value| reads(&written, value, block));
        }
        let mut outgoing = Lists::new(code.blocks());
        let (mut into, mut out_of) = (vec![NONE; code.blocks()], vec![NONE; code.blocks()]);
        let mut pending = Vec::new();
        for value in 0..code.values() as u32 {
            let home = written[value as usize];
            pending.extend(read.of(value));
            while let Some(block) = pending.pop() {
                if std::mem::replace(&mut into[block as usize], value) == value {
                    continue;
                }
                if block == 0 {
                    return None;
                }
                for &before in code.predecessors(block) {
                    if std::mem::replace(&mut out_of[before as usize], value) != value {
                        outgoing.add(before, value);
                        pending.extend(Some(before).filter(|&before| before != home));
                    }
                }
            }
        }
        Some(Outgoing(outgoing))
    }
}

/// Where a value is live: from one point to another, which is not part of it, and the next range of its list. An instruction has two points, at the first of
/// which it reads and at the second of which it writes.
#[derive(Clone, Copy)]
struct Range {
    from: u32,
    to: u32,
    next: u32,
}

/// The live ranges of values, and the bundles that these have become.
struct Ranges {
    all: Vec<Range>,
    bundles: Vec<Bundle>,
}

#[derive(Clone, Copy)]
struct Bundle {
    /// Its first range.
    first: u32,
    /// From its first range to its last.
    span: (u32, u32),
    /// The bundle that it has become part of.
    part_of: u32,
}

/// A place that a value is given to another at: the value, the blocks that the edge leads from and to, and the parameter.
type Given = [u32; 4];

impl Ranges {
    fn new(values: usize) -> Ranges {
        let bundles = (0..values as u32).map(|n| Bundle { first: NONE, span: (0, 0), part_of: n }).collect();
        Ranges { all: Vec::with_capacity(2 * values), bundles }
    }

    /// Finds them from the end of the code to its start, and what edges give.
    fn find(&mut self, code: &impl Code, outgoing: &Outgoing) -> Vec<Given> {
        let mut edges = Vec::new();
        // The block in which each value is found to be live at the point that is looked at.
        let mut live = vec![NONE; code.values()];
        for block in (0..code.blocks() as u32).rev() {
            let (first, end) = code.insts(block);
            let (start, end_point) = (2 * first, 2 * end);
            for &to in code.successors(block) {
                let given = code.given(block).iter().zip(code.params(to));
                edges.extend(given.map(|(&value, &param)| [value, block, to, param]));
            }
            for value in outgoing.0.of(block).chain(code.given(block).iter().copied()) {
                if std::mem::replace(&mut live[value as usize], block) != block {
                    self.add(value, start, end_point);
                }
            }
            for inst in (first..end).rev() {
                let (reads, writes) = (2 * inst, 2 * inst + 1);
                for &Operand { value, .. } in code.operands(inst).iter().filter(|operand| operand.is_written)
                {
                    if std::mem::replace(&mut live[value as usize], NONE) != block {
                        self.add(value, writes, writes + 1);
                    } else {
                        self.begin(value, start, writes);
                    }
                }
                for &Operand { value, .. } in code.operands(inst).iter().filter(|operand| !operand.is_written)
                {
                    if std::mem::replace(&mut live[value as usize], block) != block {
                        self.add(value, start, reads + 1);
                    }
                }
            }
            for &param in code.params(block) {
                if std::mem::replace(&mut live[param as usize], NONE) != block {
                    self.add(param, start, start + 1);
                }
            }
        }
        for bundle in &mut self.bundles {
            bundle.span.0 = self.all.get(bundle.first as usize).map_or(0, |range| range.from);
        }
        edges
    }

    /// Adds a range in front of all others of a value, to the first of them where that follows at once.
    fn add(&mut self, value: u32, from: u32, to: u32) {
        let bundle = &mut self.bundles[value as usize];
        match self.all.get_mut(bundle.first as usize) {
            Some(range) if to >= range.from => range.from = from,
            Some(_) | None => {
                if bundle.first == NONE {
                    bundle.span.1 = to;
                }
                self.all.push(Range { from, to, next: bundle.first });
                bundle.first = self.all.len() as u32 - 1;
            }
        }
    }

    /// The first range of a value, which was taken to begin where its block does, begins here.
    fn begin(&mut self, value: u32, start: u32, here: u32) {
        let first = self.bundles[value as usize].first;
        if let Some(range) = self.all.get_mut(first as usize).filter(|range| range.from == start) {
            range.from = here;
        }
    }

    /// The bundle that has the ranges of a value.
    fn bundle_of(&mut self, value: u32) -> u32 {
        let mut at = value;
        while self.bundles[at as usize].part_of != at {
            let above = self.bundles[at as usize].part_of;
            self.bundles[at as usize].part_of = self.bundles[above as usize].part_of;
            at = above;
        }
        at
    }

    /// Makes the bundle of one value part of that of another, if no ranges of the two meet.
    fn merge(&mut self, code: &impl Code, from: u32, to: u32) {
        let (from, to) = (self.bundle_of(from), self.bundle_of(to));
        if from == to || code.class(from) != code.class(to) || self.meet(from, to) {
            return;
        }
        let [one, other] = [from, to].map(|bundle| self.bundles[bundle as usize]);
        let whole = &mut self.bundles[to as usize];
        whole.span = (whole.span.0.min(one.span.0), whole.span.1.max(one.span.1));
        self.bundles[from as usize].part_of = to;
        // The lists become one, in order.
        let (mut a, mut b) = (one.first, other.first);
        let mut last = NONE;
        loop {
            let (next, rest) = match (self.all.get(a as usize), self.all.get(b as usize)) {
                (Some(x), Some(y)) if x.from < y.from => (std::mem::replace(&mut a, x.next), true),
                (Some(_), Some(y)) => (std::mem::replace(&mut b, y.next), true),
                // What is left of one list is in its order.
                (Some(_), None) => (a, false),
                (None, Some(_) | None) => (b, false),
            };
            match self.all.get_mut(last as usize) {
                Some(range) => range.next = next,
                None => self.bundles[to as usize].first = next,
            }
            if !rest {
                break;
            }
            last = next;
        }
    }

    /// Whether a range of one bundle meets one of the other, or both have too many to tell.
    fn meet(&self, one: u32, other: u32) -> bool {
        let range = |number: u32| self.all.get(number as usize);
        let first = |bundle: u32| range(self.bundles[bundle as usize].first);
        let (mut a, mut b) = (first(one), first(other));
        let mut steps = 0;
        while let (Some(x), Some(y)) = (a, b) {
            steps += 1;
            if steps > MAX_STEPS {
                return true;
            }
            if x.from >= y.to {
                b = range(y.next);
            } else if y.from >= x.to {
                a = range(x.next);
            } else {
                return true;
            }
        }
        false
    }

    /// A slot for each value, that of its bundle: of the last ten that one of its class took, the first in which nothing meets it.
    fn slots(&mut self, code: &impl Code) -> (Vec<u32>, usize) {
        // What is in each slot: where it begins, and where it ends.
        let mut taken: Vec<BTreeMap<u32, u32>> = Vec::new();
        let mut of_class: [(Vec<u32>, usize); CLASSES] = Default::default();
        let mut slots = vec![NONE; self.bundles.len()];
        for (n, bundle) in (0..).zip(&self.bundles) {
            let Some((known, probe)) = of_class.get_mut(code.class(n)) else { continue };
            if bundle.first == NONE || bundle.part_of != n {
                continue;
            }
            let (from, to) = bundle.span;
            let places = (*probe..known.len()).chain(0..*probe).take(MAX_ATTEMPTS);
            let free = |slot: &u32| {
                let before = taken.get(*slot as usize).and_then(|taken| taken.range(..to).next_back());
                before.is_none_or(|(_, end)| *end <= from)
            };
            let found =
                places.filter_map(|place| Some((place, *known.get(place)?))).find(|(_, slot)| free(slot));
            let (place, slot) = found.unwrap_or_else(|| {
                taken.push(BTreeMap::new());
                known.push(taken.len() as u32 - 1);
                (known.len() - 1, taken.len() as u32 - 1)
            });
            *probe = place;
            if let Some(taken) = taken.get_mut(slot as usize) {
                taken.insert(from, to);
            }
            slots[n as usize] = slot;
        }
        for value in 0..self.bundles.len() as u32 {
            slots[value as usize] = slots[self.bundle_of(value) as usize];
        }
        (slots, taken.len())
    }
}
