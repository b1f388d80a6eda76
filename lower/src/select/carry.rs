//! Sums and differences of several words: `add.cc` and `addc`, `sub.cc` and `subc` (PTX ISA 9.0, 9.7.2), where the IR compares to find the carry.
//!
//! The carry is a flag that every such instruction writes, so that those of a sum stand next to each other, where the last word was added. Nobody may want
//! the lower words before, and where the program has instructions with the flag itself nothing is done.

use super::*;
use smallvec::{SmallVec, smallvec};
use warpsmith_ir::IntCC;

/// How many instructions lie between two words of a sum at most.
const MOST_BETWEEN: usize = 64;
const MOST_WORDS: usize = 64;

/// One word of a sum or difference.
#[derive(Clone, Copy)]
struct Word {
    inst: ir::Inst,
    result: Value,
    a: Value,
    /// `None`: the carry is added to `a` alone.
    b: Option<Value>,
    /// Where both are added first: what that gives, and what is to be made of the carry out of the word before.
    inner: Option<(Value, Value)>,
}

/// The words of a sum or difference from the lowest on.
#[derive(Clone)]
pub(super) struct Chain {
    subtracts: bool,
    words: SmallVec<[Word; 4]>,
}

/// The chains of a block, while its instructions are looked at.
#[derive(Default)]
struct Chains {
    /// By the result of their last word.
    by_end: FxHashMap<Value, Chain>,
    /// That, by what the carry is added to or subtracted from in it.
    by_inner: FxHashMap<Value, Value>,
    /// What was subtracted from what.
    differences: FxHashMap<[Value; 2], ir::Inst>,
    /// The instructions of all chains.
    taken: FxHashSet<ir::Inst>,
    /// Where instructions stand.
    at: FxHashMap<ir::Inst, usize>,
    insts: Vec<ir::Inst>,
}

impl Selector<'_> {
    /// Whether an instruction of the function has the flag, which is looked for once.
    fn has_carry_flag(&mut self) -> bool {
        if let Some(known) = self.carry_flag {
            return known;
        }
        let mut insts = self.func.layout.blocks().flat_map(|block| self.func.layout.insts(block));
        let found = insts.any(|inst| {
            let InstData::Ptx { data, .. } = self.func.dfg[inst] else { return false };
            let mnemonic = self.func.dfg.ptx[data].mnemonic();
            mnemonic.has(Mod::Cc) || matches!(mnemonic.opcode(), Opcode::Addc | Opcode::Subc)
        });
        self.carry_flag = Some(found);
        found
    }

    /// Finds the sums and differences of several words in a block.
    pub(super) fn find_carries(&mut self, block: Block) {
        self.carries.clear();
        let func = self.func;
        let carries = |&inst: &ir::Inst| self.carry_into(inst).is_some();
        if !func.layout.insts(block).any(|inst| carries(&inst)) || self.has_carry_flag() {
            return;
        }
        let mut chains = Chains { insts: func.layout.insts(block).collect(), ..Chains::default() };
        for (at, &inst) in chains.insts.clone().iter().enumerate() {
            chains.at.insert(inst, at);
            if let Some(chain) = self.longer(&chains, inst) {
                for word in &chain.words {
                    chains.by_end.remove(&word.result);
                    chains.taken.insert(word.inst);
                }
                if let Some(last) = chain.words.last() {
                    chains.by_inner.extend(last.inner.map(|(inner, _)| (inner, last.result)));
                    chains.by_end.insert(last.result, chain);
                }
            }
            if let InstData::Binary { op: IrOp::Isub, args } = func.dfg[inst] {
                chains.differences.insert(args.map(|arg| self.resolve(arg)), inst);
            }
        }
        for mut chain in chains.by_end.into_values() {
            self.close(&mut chain);
            if let [_, .., last] = chain.words[..] {
                self.carries.insert(last.inst, chain);
            }
        }
    }

    /// What a carry is added to or subtracted from, the carry as a number, and as a condition.
    fn carry_into(&self, inst: ir::Inst) -> Option<(bool, Value, Value, Value)> {
        let InstData::Binary { op: op @ (IrOp::Iadd | IrOp::Isub), args: [a, b] } = self.func.dfg[inst]
        else {
            return None;
        };
        let number = |value: Value| {
            let &InstData::Unary { op: IrOp::Zext, arg } = self.local(value)? else { return None };
            is_i1(self.ty(arg)).then_some(arg)
        };
        if !matches!(self.ty(a), Type::I32 | Type::I64) {
            return None;
        }
        let (to, carry, condition) = match (number(b), number(a)) {
            (Some(condition), _) => (a, b, condition),
            (None, Some(condition)) if op == IrOp::Iadd => (b, a, condition),
            (None, _) => return None,
        };
        Some((op == IrOp::Isub, self.resolve(to), self.resolve(carry), condition))
    }

    /// What a value of this block comes from.
    fn local(&self, value: Value) -> Option<&InstData> {
        let inst = self.func.dfg.def_inst(self.resolve(value))?;
        (self.func.layout.block_of(inst) == Some(self.block)).then(|| &self.func.dfg[inst])
    }

    /// The chain that ends with an instruction, if it adds the carry out of another word.
    fn longer(&self, chains: &Chains, inst: ir::Inst) -> Option<Chain> {
        let (subtracts, to, carry, condition) = self.carry_into(inst)?;
        // The carry is nothing else, but what makes the next one.
        let uses = self.uses[carry];
        if uses > 2 || uses == 2 && !subtracts {
            return None;
        }
        let (mut chain, compared) = self.carried_out(chains, subtracts, condition)?;
        let last = chain.words.last()?.result;
        if chain.subtracts != subtracts || self.ty(last) != self.ty(to) || chain.words.len() >= MOST_WORDS {
            return None;
        }
        self.are_free_between(chains, &chain, inst, &compared)?;
        let (a, b, inner) = match self.local(to) {
            Some(&InstData::Binary { op, args: [a, b] })
                if op == if subtracts { IrOp::Isub } else { IrOp::Iadd } && self.uses[to] <= 3 =>
            {
                (self.resolve(a), Some(self.resolve(b)), Some((to, carry)))
            }
            _ => (to, None, Some((to, carry))),
        };
        let result = self.func.dfg.first_result(inst)?;
        chain.words.push(Word { inst, result, a, b, inner });
        Some(chain)
    }

    /// The chain whose carry a condition is, and the comparisons that find it.
    fn carried_out(
        &self,
        chains: &Chains,
        subtracts: bool,
        condition: Value,
    ) -> Option<(Chain, SmallVec<[ir::Inst; 2]>)> {
        let inst = self.func.dfg.def_inst(self.resolve(condition))?;
        if let &InstData::Binary { op: IrOp::Bor, args } = self.absorbable(condition)? {
            let [x, y] = args.map(|arg| self.resolve(arg));
            return self.of_both(chains, subtracts, x, y).or_else(|| self.of_both(chains, subtracts, y, x));
        }
        let (less, than) = self.less(condition)?;
        let chain = if subtracts {
            let lowest = chains.differences.get(&[less, than]).copied();
            let lowest = lowest.filter(|inst| !chains.taken.contains(inst))?;
            let result = self.func.dfg.first_result(lowest)?;
            let word = Word { inst: lowest, result, a: less, b: Some(than), inner: None };
            Chain { subtracts, words: smallvec![word] }
        } else {
            self.begun(chains, less, than)?
        };
        Some((chain, smallvec![inst]))
    }

    /// The sum that is less than one of what was added: the lowest word of a chain, or one to which only a carry was added.
    fn begun(&self, chains: &Chains, sum: Value, than: Value) -> Option<Chain> {
        if let Some(chain) = chains.by_end.get(&sum) {
            let mut chain = chain.clone();
            let last = chain.words.last_mut()?;
            if last.inner.is_some_and(|(inner, _)| inner == than) {
                (last.a, last.b) = (than, None);
            }
            return (last.b.is_none() && last.a == than).then_some(chain);
        }
        let &InstData::Binary { op: IrOp::Iadd, args } = self.local(sum)? else { return None };
        let [a, b] = args.map(|arg| self.resolve(arg));
        let inst = self.func.dfg.def_inst(sum)?;
        let word = Word { inst, result: sum, a, b: Some(b), inner: None };
        let is_free = !chains.taken.contains(&inst);
        (is_free && (than == a || than == b)).then(|| Chain { subtracts: false, words: smallvec![word] })
    }

    /// The carry out of a word to which one was added: out of either sum.
    fn of_both(
        &self,
        chains: &Chains,
        subtracts: bool,
        first: Value,
        second: Value,
    ) -> Option<(Chain, SmallVec<[ir::Inst; 2]>)> {
        let (absorbed_first, absorbed_second) = (self.absorbable(first)?, self.absorbable(second)?);
        let compares = |data: &InstData| matches!(data, InstData::IntCompare { .. });
        if !compares(absorbed_first) || !compares(absorbed_second) {
            return None;
        }
        let ((less, than), (again, of)) = (self.less(first)?, self.less(second)?);
        let (chain, inner, carry) = if subtracts {
            // Less is there than is taken away; or then, than the borrow.
            let chain = chains.by_end.get(chains.by_inner.get(&again)?)?;
            let last = chain.words.last()?;
            let (inner, carry) = last.inner?;
            let is_it = last.a == less && last.b == Some(than) && inner == again && carry == of;
            is_it.then_some((chain, inner, carry))?
        } else {
            // The sum is less than a part of it; with the carry it is less than without.
            let chain = chains.by_end.get(&again)?;
            let last = chain.words.last()?;
            let (inner, carry) = last.inner?;
            let is_part = last.a == than || last.b == Some(than);
            (last.b.is_some() && is_part && inner == less && inner == of).then_some((chain, inner, carry))?
        };
        let (of_inner, of_carry) = if subtracts { (2, 2) } else { (3, 1) };
        if self.uses[inner] != of_inner || self.uses[carry] != of_carry {
            return None;
        }
        let insts = [first, second].map(|value| self.func.dfg.def_inst(value));
        Some((chain.clone(), insts.into_iter().flatten().collect()))
    }

    /// The operands of `x < y`, unsigned.
    fn less(&self, condition: Value) -> Option<(Value, Value)> {
        let &InstData::IntCompare { cond, args: [x, y] } = self.absorbable(condition)? else { return None };
        let (x, y) = (self.resolve(x), self.resolve(y));
        match cond {
            IntCC::Ult => Some((x, y)),
            IntCC::Ugt => Some((y, x)),
            IntCC::Eq
            | IntCC::Ne
            | IntCC::Slt
            | IntCC::Sle
            | IntCC::Sgt
            | IntCC::Sge
            | IntCC::Ule
            | IntCC::Uge => None,
        }
    }

    /// Nobody uses the words of a chain between the last of them and an instruction, but for comparisons.
    fn are_free_between(
        &self,
        chains: &Chains,
        chain: &Chain,
        end: ir::Inst,
        compared: &[ir::Inst],
    ) -> Option<()> {
        let (from, to) = (*chains.at.get(&chain.words.last()?.inst)?, *chains.at.get(&end)?);
        let between = chains.insts.get(from + 1..to).filter(|between| between.len() <= MOST_BETWEEN)?;
        let mut is_used = false;
        for &inst in between.iter().filter(|inst| !compared.contains(inst)) {
            self.func.dfg.for_each_use(inst, |value| {
                let value = self.resolve(value);
                is_used |= chain.words.iter().any(|word| word.result == value);
            });
        }
        (!is_used).then_some(())
    }

    /// Takes the last word of a chain as what it is, since no other follows: the sum that the carry is added to may be used for something else.
    fn close(&self, chain: &mut Chain) {
        let Some(last) = chain.words.last_mut() else { return };
        let Some((inner, carry)) = last.inner else { return };
        if self.uses[carry] > 1 {
            _ = chain.words.pop();
        } else if self.uses[inner] > 1 {
            (last.a, last.b) = (inner, None);
        }
    }

    /// Adds or subtracts all words at the last of them, and tells whether the instruction was such a word.
    pub(super) fn carried(&mut self, inst: ir::Inst) -> bool {
        let Some(chain) = self.carries.remove(&inst) else { return self.is_carried.remove(&inst) };
        let last = chain.words.len().saturating_sub(1);
        for (n, word) in chain.words.iter().enumerate() {
            let opcode = match (chain.subtracts, n) {
                (false, 0) => Opcode::Add,
                (false, _) => Opcode::Addc,
                (true, 0) => Opcode::Sub,
                (true, _) => Opcode::Subc,
            };
            let mnemonic = Mnemonic::new(opcode);
            let mnemonic = if n < last { mnemonic.with(Mod::Cc) } else { mnemonic };
            let bits = self.ty(word.result).bits();
            let mnemonic = mnemonic.with(super::convert::int_mod(bits, true));
            let result = Operand::Def(self.reg(word.result));
            let a = self.operand(word.a);
            let b = word.b.map_or(Operand::Int(0), |b| self.operand(b));
            self.emit(mnemonic, &[result, a, b]);
            if n < last {
                self.is_carried.insert(word.inst);
            }
        }
        true
    }
}
