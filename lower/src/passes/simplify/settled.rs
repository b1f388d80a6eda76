//! Which instructions need no second look.
//!
//! Whether a rule applies to an instruction depends on the instruction, on what its operands are made of down to a bounded depth, and on how many
//! uses those have. Where all of that is as it was when nothing was found, nothing is found again. So a sweep marks what it changes, and the next
//! one counts how far each value lies behind a change; and the pass notes a fingerprint of each instruction that it leaves, by which its next run
//! tells what others have changed meanwhile.

use crate::analysis::Note;
use crate::rules::index::{Reach, reach};
use crate::rules::known;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use std::hash::{Hash, Hasher};
use warpsmith_base::FxHasher;
use warpsmith_ir::{Block, Compacted, Function, Inst, InstData, Opcode, Value};

/// The depth of the deepest pattern, which a test compares with the rules.
const PATTERNS: u8 = 5;

/// How far behind a change of others a rule may see it: at the bottom of its pattern it may ask for known bits.
const REACH: u8 = PATTERNS + known::DEPTH as u8;

/// The distance of what lies behind no change, or far behind.
const FAR: u8 = REACH + 1;

/// How far the rewrites look that are not in the rules: to a constant offset of an address.
const CANONICAL: u8 = 2;

/// How many uses each value has, counted up to 255.
pub(super) type Uses = SecondaryMap<Value, u8>;

/// Fingerprints of instructions that are as simple as the rules make them; 0 for those that are not known to be.
type Prints = SecondaryMap<Inst, u32>;

/// A function as the pass left it.
#[derive(Default)]
pub(super) struct Settled {
    prints: Prints,
    uses: Uses,
    /// The values that there were, and the instructions in blocks.
    values: usize,
    insts: usize,
}

impl Note for Settled {
    fn before_new_numbers(&mut self, func: &Function) {
        for (inst, print) in self.prints.iter_mut() {
            let is_kept = func.layout.block_of(inst).is_some();
            if !is_kept || *print != fingerprint(func, inst) {
                *print = 0;
            }
        }
    }

    fn new_numbers(&mut self, func: &Function, old: &Compacted) {
        let mut prints = Prints::new();
        prints.resize(old.insts.len());
        for (inst, was) in old.insts.iter() {
            if self.prints[*was] != 0 {
                prints[inst] = fingerprint(func, inst);
            }
        }
        let mut uses = Uses::new();
        uses.resize(old.values.len());
        uses.values_mut().zip(old.values.values()).for_each(|(uses, was)| *uses = self.uses[*was]);
        self.values = old.values.values().take_while(|was| was.index() < self.values).count();
        (self.prints, self.uses) = (prints, uses);
    }
}

/// What has changed since an instruction was looked at last.
pub(super) struct Changed {
    /// How many uses values have.
    pub uses: Uses,
    /// The `assume`s of the function.
    pub assumes: Vec<Inst>,
    /// What the last run of the pass has left, for the first sweep of this one.
    settled: Option<Settled>,
    /// What was changed before this sweep, and by it.
    before: EntitySet<Value>,
    now: EntitySet<Value>,
    /// Values from this number on were not there when the sweep before this one began.
    new: usize,
    distance: SecondaryMap<Value, u8>,
    /// Instructions that this sweep met, and those that lie within [`REACH`] of a change.
    met: usize,
    looked_at: usize,
}

impl Changed {
    /// Since the last run of the pass.
    pub fn since(mut settled: Settled) -> Changed {
        Changed {
            uses: std::mem::take(&mut settled.uses),
            assumes: Vec::new(),
            new: settled.values,
            settled: Some(settled),
            before: EntitySet::new(),
            now: EntitySet::new(),
            distance: SecondaryMap::new(),
            met: 0,
            looked_at: 0,
        }
    }

    /// Finds the `assume`s, and counts the uses of values, which ends what was known of the sweep before: a rule may ask whether there is one only.
    pub fn begin_sweep(&mut self, func: &Function, order: &[Block]) {
        let mut uses = Uses::new();
        uses.resize(func.dfg.num_values());
        self.assumes.clear();
        for &block in order {
            let mut next = func.layout.first_inst(block);
            while let Some(inst) = next {
                next = func.layout.next_inst(inst);
                if func.dfg.opcode(inst) == Opcode::Assume {
                    self.assumes.push(inst);
                }
                func.dfg.for_each_use(inst, |value| {
                    let uses = &mut uses[func.dfg.resolve(value)];
                    *uses = uses.saturating_add(1);
                });
            }
        }
        self.uses.resize(self.new);
        for ((value, uses), before) in uses.iter().zip(self.uses.values()) {
            if (*uses <= 1) != (*before <= 1) {
                self.before.insert(value);
            }
        }
        self.uses = uses;
        self.distance.resize(func.dfg.num_values());
        (self.met, self.looked_at) = (0, 0);
    }

    /// Before the instructions of a block: its parameters are made of nothing that a rule sees.
    pub fn enter(&mut self, func: &Function, block: Block) {
        for &param in func.dfg.block_params(block) {
            self.distance[param] = if self.is_changed(param) { 0 } else { FAR };
        }
    }

    /// True if a rule about its operation could see a change from an instruction.
    pub fn is_near(&mut self, func: &Function, inst: Inst) -> bool {
        let dfg = &func.dfg;
        let results = dfg.results(inst);
        let is_other = |settled: &Settled| {
            let print = settled.prints[inst];
            print == 0 || print != fingerprint(func, inst)
        };
        let is_changed = results.into_iter().any(|value| self.is_changed(value))
            || self.settled.as_ref().is_some_and(is_other);
        let behind = |&arg: &Value| match dfg.resolve(arg) == arg {
            true => self.distance[arg].saturating_add(1),
            false => 1,
        };
        let distance = match is_changed {
            true => 0,
            false => dfg.args(inst).iter().map(behind).min().unwrap_or(FAR).min(FAR),
        };
        results.into_iter().for_each(|value| self.distance[value] = distance);
        self.met += 1;
        self.looked_at += usize::from(distance <= REACH);
        let Reach { patterns, bits } = reach(dfg.opcode(inst));
        // In one run of the pass what is known of bits is found out once.
        distance <= CANONICAL.max(if self.settled.is_some() { patterns.max(bits) } else { patterns })
    }

    fn is_changed(&self, value: Value) -> bool {
        value.index() >= self.new || self.before.contains(value)
    }

    /// Notes that this sweep has changed an instruction.
    pub fn mark(&mut self, func: &Function, inst: Inst) {
        for value in func.dfg.results(inst) {
            self.distance[value] = 0;
            self.now.insert(value);
        }
    }

    /// True if the function is as the last run of the pass has left it.
    pub fn is_nothing(&self) -> bool {
        self.looked_at == 0 && self.settled.as_ref().is_some_and(|settled| settled.insts == self.met)
    }

    /// Goes on to the next sweep, which looks at what this one has changed. `values` is how many there were before it.
    pub fn end_sweep(&mut self, values: usize) {
        self.settled = None;
        self.new = values;
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
    }

    /// The function as it is now, where nothing is left to be done but about what was changed last.
    pub fn settled(self, func: &Function, order: &[Block]) -> Settled {
        let mut prints = Prints::new();
        prints.resize(func.dfg.num_insts());
        let mut insts = 0;
        for &block in order {
            for inst in func.layout.insts(block) {
                insts += 1;
                let mut results = func.dfg.results(inst).into_iter();
                if !results.any(|value| value.index() >= self.new || self.now.contains(value)) {
                    prints[inst] = fingerprint(func, inst);
                }
            }
        }
        Settled { prints, uses: self.uses, values: self.new, insts }
    }

    /// What the last run has left, if [`Changed::is_nothing`].
    pub fn unchanged(self) -> Settled {
        Settled { uses: self.uses, ..self.settled.unwrap_or_default() }
    }
}

/// A number, not 0, of an instruction with its operands and their types, which another instruction has as good as never: that one would not be looked at, and
/// be right as it is.
fn fingerprint(func: &Function, inst: Inst) -> u32 {
    let dfg = &func.dfg;
    let mut hasher = FxHasher::default();
    let data = &dfg[inst];
    let mut of_value = |value: Value| hasher.write_u64(value.index() as u64 | dfg.ty(value).number() << 32);
    dfg.results(inst).into_iter().for_each(&mut of_value);
    // Of most instructions that is all.
    match data {
        InstData::Unary { op, arg } => {
            of_value(*arg);
            return folded(hasher, *op);
        }
        InstData::Binary { op, args } => {
            args.iter().for_each(|arg| of_value(*arg));
            return folded(hasher, *op);
        }
        InstData::IntConst { value } => {
            hasher.write_i64(*value);
            return folded(hasher, Opcode::Iconst);
        }
        _ => dfg.for_each_use(inst, &mut of_value),
    }
    match data {
        InstData::IntConst { value } => value.hash(&mut hasher),
        InstData::FloatConst { bits } => bits.hash(&mut hasher),
        InstData::IntCompare { cond, .. } => cond.hash(&mut hasher),
        InstData::FloatCompare { cond, .. } => cond.hash(&mut hasher),
        InstData::Load { flags, offset, .. } | InstData::Store { flags, offset, .. } => {
            (flags, offset).hash(&mut hasher)
        }
        InstData::Index { scale, .. } => scale.hash(&mut hasher),
        InstData::StackAddr { slot, offset } => (slot, offset).hash(&mut hasher),
        InstData::GlobalAddr { global, offset } => (global, offset).hash(&mut hasher),
        InstData::FuncAddr { func } => func.hash(&mut hasher),
        InstData::Extract { lane, .. } | InstData::Insert { lane, .. } => lane.hash(&mut hasher),
        InstData::ExtractValue { path, .. } | InstData::InsertValue { path, .. } => {
            dfg.paths[*path].hash(&mut hasher);
        }
        InstData::MemBlock { flags, source, .. } => (flags, source).hash(&mut hasher),
        InstData::Sreg { reg } => reg.hash(&mut hasher),
        InstData::Call { callee, .. } => callee.hash(&mut hasher),
        InstData::Ptx { data, .. } => data.hash(&mut hasher),
        InstData::List { attr, .. } => attr.hash(&mut hasher),
        InstData::Unary { .. }
        | InstData::Binary { .. }
        | InstData::Ternary { .. }
        | InstData::Vec { .. }
        | InstData::Zero
        | InstData::Aggregate { .. }
        | InstData::CallIndirect { .. }
        | InstData::Jump { .. }
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return { .. }
        | InstData::Trap => {}
    }
    folded(hasher, data.opcode())
}

/// The fingerprint of an operation on what was hashed.
fn folded(mut hasher: FxHasher, op: Opcode) -> u32 {
    hasher.write_u32(op as u32);
    let hash = hasher.finish();
    (hash ^ hash >> 32) as u32 | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Fact, RULES, Rule, Term};

    fn depth(term: &Term) -> u8 {
        match term {
            Term::Op(operation) => 1 + operation.args.iter().map(depth).max().unwrap_or(0),
            Term::Value(..) | Term::Constant(..) | Term::Int(_) | Term::Float(_) | Term::Fact(..) => 0,
        }
    }

    /// How deep in a pattern the values are whose known bits a rule asks for.
    fn asked(rule: &Rule) -> Option<u8> {
        let mut asked = Vec::new();
        rule.conditions.iter().chain([&rule.replacement]).for_each(|term| {
            term.walk(&mut |term| {
                if let Term::Fact(Fact::Zeros | Fact::Ones, n) = term {
                    asked.push(*n);
                }
            });
        });
        fn places(term: &Term, depth: u8, asked: &[u8], deepest: &mut Option<u8>) {
            match term {
                Term::Value(n, _) | Term::Constant(n, _) if asked.contains(n) => {
                    *deepest = (*deepest).max(Some(depth));
                }
                Term::Op(operation) => {
                    if operation.bound.is_some_and(|n| asked.contains(&n)) {
                        *deepest = (*deepest).max(Some(depth));
                    }
                    operation.args.iter().for_each(|arg| places(arg, depth + 1, asked, deepest));
                }
                Term::Value(..) | Term::Constant(..) | Term::Int(_) | Term::Float(_) | Term::Fact(..) => {}
            }
        }
        let mut deepest = None;
        places(&rule.pattern, 0, &asked, &mut deepest);
        deepest
    }

    #[test]
    fn patterns_end_within_reach() {
        let deepest = RULES.iter().map(|rule| depth(&rule.pattern)).max();
        assert_eq!(deepest, Some(PATTERNS));
        for rule in RULES {
            let Reach { patterns, bits } = reach(rule.root);
            assert!(depth(&rule.pattern) <= patterns && patterns <= PATTERNS, "{}", rule.text);
            assert!(asked(rule).is_none_or(|depth| depth + known::DEPTH as u8 <= bits), "{}", rule.text);
            assert!(bits <= REACH, "{}", rule.text);
        }
    }
}
