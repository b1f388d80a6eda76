//! Blocks, branches and parameters of the function itself.

use super::convert::int_mod;
use super::memory::Access;
use super::*;
use crate::abi::{Held, Passing, held};
use crate::mach::{Base, Edge, Terminator};
use cranelift_entity::EntitySet;
use std::ops::Range;
use warpsmith_ir::{BlockCall, IntCC, JumpTable, LoopHint};

/// A `switch` of at least this many cases in a row goes through a table of labels.
const TABLE_MIN: usize = 4;

/// A table has at most this many targets: ptxas takes time that grows with their square, and memory until it crashes.
const TABLE_MAX: u64 = 1024;

impl Selector<'_> {
    /// Makes the blocks in layout order, with the parameters that are not aliases.
    pub(super) fn make_blocks(&mut self) {
        let func = self.func;
        if func.layout.entry().is_some_and(|entry| !self.cfg.predecessors(entry).is_empty()) {
            self.unsupported(
                "a branch to the entry block is not compiled",
                "give the loop a block of its own",
            );
        }
        let mut reachable = EntitySet::with_capacity(func.dfg.num_blocks());
        reachable.extend(self.cfg.reverse_postorder().iter().copied());
        for block in func.layout.blocks().filter(|&block| reachable.contains(block)) {
            let entry = self.is_entry(block);
            let params: Few<VReg> = if entry || self.single_way_in(block).is_some() {
                Few::new()
            } else {
                func.dfg.block_params(block).iter().flat_map(|&param| self.regs_of(param)).collect()
            };
            let made = self.out.add_block(&params);
            self.out.blocks[made].nounroll = func.loop_hints[block] == Some(LoopHint::NoUnroll);
            self.out.layout.push(made);
            self.blocks[block] = made.into();
        }
    }

    /// The value and ABI of each parameter that someone asked for is loaded where the function begins.
    pub(super) fn load_params(&mut self) {
        let func = self.func;
        for (i, (param, &value)) in func.params.iter().zip(func.param_values()).enumerate() {
            if self.regs[value].count == 0 {
                continue;
            }
            let base = Base::Param(i as u32);
            if let Some((size, align)) = param.byval {
                let result = Operand::Def(self.reg(value));
                // Nobody knows how much there is to be copied of variable arguments.
                if !self.is_kernel() && !param.attrs.varargs {
                    self.copy_param(i as u32, size, align);
                    self.emit(ptx!(Mov.B64), &[result, Operand::Symbol(Base::Copy(i as u32), 0)]);
                    continue;
                }
                self.emit(ptx!(Mov.B64), &[result, Operand::Symbol(base, 0)]);
                continue;
            }
            let passing = Passing::of_param(&self.module.types, param, func.kind);
            let regs: Few<VReg> = self.regs_of(value).collect();
            for (&reg, &(at, ty)) in regs.iter().zip(&passing.accesses) {
                let load = Mnemonic::new(Opcode::Ld).with(Mod::Param).with(Mod::of_scalar(ty));
                let from = Operand::Addr(base, at.into());
                match passing.converted {
                    Some(class) => {
                        let loaded = self.emit_new(class, load, &[from]);
                        self.unpass(loaded, reg);
                    }
                    None => self.emit(load, &[Operand::Def(reg), from]),
                }
            }
        }
    }

    /// A value as it was passed, in the register of its own type.
    pub(super) fn unpass(&mut self, passed: Operand, reg: VReg) {
        let wide = passed.used().is_some_and(|passed| self.out.vregs[passed] == RegClass::B32);
        match self.out.vregs[reg] {
            RegClass::Pred if wide => {
                self.emit(ptx!(Setp.Ne.S32), &[Operand::Def(reg), passed, Operand::Int(0)]);
            }
            RegClass::Pred => self.emit(ptx!(Setp.Ne.S16), &[Operand::Def(reg), passed, Operand::Int(0)]),
            RegClass::B8 | RegClass::B16 | RegClass::B32 | RegClass::B64 | RegClass::B128 => {
                self.emit(ptx!(Cvt.U16.U32), &[Operand::Def(reg), passed])
            }
        }
    }

    /// Moves the blocks of each `switch` behind the block that it ends.
    pub(super) fn place_switches(&mut self) {
        let mut behind: SecondaryMap<mach::Block, Vec<mach::Block>> = SecondaryMap::new();
        for (block, made) in std::mem::take(&mut self.switches) {
            if let Some(block) = self.blocks[block].expand() {
                behind[block] = made;
            }
        }
        let layout = std::mem::take(&mut self.out.layout);
        for block in layout {
            self.out.layout.push(block);
            self.out.layout.append(&mut behind[block]);
        }
    }

    /// Drops blocks that nothing leads to: a `switch` may have ways that no value takes.
    pub(super) fn drop_unreachable(&mut self) {
        let mut reached: EntitySet<mach::Block> = EntitySet::with_capacity(self.out.blocks.len());
        let mut next: Vec<mach::Block> = self.out.layout.first().copied().into_iter().collect();
        while let Some(block) = next.pop() {
            if reached.insert(block) {
                next.extend(self.out.successors(block).map(|edge| edge.target));
            }
        }
        self.out.layout.retain(|&block| reached.contains(block));
    }

    pub(super) fn select_terminator(&mut self, inst: ir::Inst) {
        let func = self.func;
        let Some(block) = self.blocks[self.block].expand() else { return };
        let terminator = match &func.dfg[inst] {
            InstData::Jump { dest } => Terminator::Jump(self.jump(dest, inst, 0)),
            InstData::Brif { cond, dests } => self.branch(*cond, dests, inst),
            InstData::Switch { arg, table } => self.switch(*arg, *table, inst),
            InstData::Return { args } => {
                self.return_value(args.as_slice(&func.dfg.pool));
                Terminator::Return
            }
            InstData::Trap => Terminator::Trap,
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::List { .. }
            | InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::Index { .. }
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Vec { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::Zero
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::Sreg { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Ptx { .. } => return self.no_rule(func.dfg.opcode(inst), Type::INVALID),
        };
        self.out.blocks[block].terminator = terminator;
        self.out.blocks[block].origin = Some(inst);
    }

    /// The edge of a jump. Constants are made here, in registers of their own, which become those of the parameters.
    fn jump(&mut self, call: &BlockCall, branch: ir::Inst, target: usize) -> Edge {
        let func = self.func;
        let Some(block) = self.blocks[call.block].expand() else { return self.edge(call, branch, target) };
        if self.single_way_in(call.block).is_some() {
            return self.edge(call, branch, target);
        }
        // What the branch to this block gives to its other way too is in a register that may do for both.
        let into = match self.cfg.predecessors(self.block) {
            &[only] => func.terminator(only),
            _ => None,
        };
        let shared = |value: Value| into.is_some_and(|inst| func.dfg.uses(inst).any(|other| other == value));
        let mut regs: Few<VReg> = Few::new();
        for (n, (param, arg)) in func.dfg.given(call).enumerate() {
            if self.unread.contains(branch, target, n) {
                regs.extend(self.unset(param));
                continue;
            }
            let ty = self.ty(arg);
            let own = Repr::of(ty).count == 1 && !is_i1(ty);
            match self.def(arg) {
                Some(InstData::IntConst { .. } | InstData::FloatConst { .. }) if own && !shared(arg) => {
                    let reg = self.temp(Repr::of(ty).class);
                    let float = matches!(ty, Type::F32 | Type::F64);
                    let value = if float { self.operand(arg) } else { self.bits_operand(arg) };
                    self.emit(mov(self.out.vregs[reg]), &[Operand::Def(reg), value]);
                    regs.push(reg);
                }
                _ => regs.extend(self.argument(param, arg)),
            }
        }
        self.out.edge(block, &regs)
    }

    /// Registers for a parameter that may hold anything.
    fn unset(&mut self, param: Value) -> Few<VReg> {
        let repr = Repr::of(self.ty(param));
        let (class, count) = if self.narrow[param] { (RegClass::B32, 1) } else { (repr.class, repr.count) };
        let regs: Few<VReg> = (0..count).map(|_| self.temp(class)).collect();
        regs.iter().for_each(|&reg| self.emit_op(Op::Unset, &[Operand::Def(reg)]));
        regs
    }

    fn edge(&mut self, call: &BlockCall, branch: ir::Inst, target: usize) -> Edge {
        let func = self.func;
        let Some(block) = self.blocks[call.block].expand() else {
            self.broken(&format!("the target `{}` is not in the function", call.block));
            return self.out.edge(mach::Block::new(0), &[]);
        };
        if self.single_way_in(call.block).is_some() {
            return self.out.edge(block, &[]);
        }
        let (params, args) = (func.dfg.block_params(call.block), call.args(&func.dfg.pool));
        if params.len() != args.len() {
            self.broken(&format!("`{}` takes {} arguments, not {}", call.block, params.len(), args.len()));
        }
        let mut args: Few<VReg> = Few::new();
        for (n, (param, arg)) in func.dfg.given(call).enumerate() {
            match self.unread.contains(branch, target, n) {
                true => args.extend(self.unset(param)),
                false => args.extend(self.argument(param, arg)),
            }
        }
        self.out.edge(block, &args)
    }

    fn branch(&mut self, cond: Value, dests: &[BlockCall; 2], inst: ir::Inst) -> Terminator {
        let [yes, no] = dests;
        if let Some(constant) = self.int_const(cond) {
            // The other block may be reachable by this edge only: keep both edges, decided by a constant.
            let condition = self.temp(RegClass::Pred);
            self.emit(ptx!(Mov.Pred), &[Operand::Def(condition), Operand::Int(constant & 1)]);
            let (taken, otherwise) = (self.edge(yes, inst, 0), self.edge(no, inst, 1));
            return Terminator::Branch { condition, negated: false, taken, otherwise, uniform: true };
        }
        let uniform = self.is_uniform(cond);
        let (cond, negated) = match self.def(cond) {
            Some(&InstData::Unary { op: IrOp::Bnot, arg }) => (arg, true),
            _ => (cond, false),
        };
        let (condition, negated) = match self.absorbable(cond) {
            // What is equal is not different.
            Some(&InstData::IntCompare { cond: IntCC::Eq, args: [a, b] })
                if is_i1(self.ty(a)) && self.int_const(a).is_none() && self.int_const(b).is_none() =>
            {
                let condition = self.temp(RegClass::Pred);
                let (a, b) = (Operand::Use(self.reg(a)), Operand::Use(self.reg(b)));
                self.emit(ptx!(Xor.Pred), &[Operand::Def(condition), a, b]);
                (condition, !negated)
            }
            _ => (self.reg(cond), negated),
        };
        // On the way around a block constants are made in front of the branch, in registers that become those of the parameters.
        let (around_yes, around_no) = (self.leads_on(no, yes), self.leads_on(yes, no));
        let taken = if around_yes { self.jump(yes, inst, 0) } else { self.edge(yes, inst, 0) };
        let otherwise = if around_no { self.jump(no, inst, 1) } else { self.edge(no, inst, 1) };
        Terminator::Branch { condition, negated, taken, otherwise, uniform }
    }

    /// Whether threads that come to the end of this block together are known to have the same value.
    fn is_uniform(&self, value: Value) -> bool {
        self.uniformity.as_ref().is_some_and(|known| known.is_uniform(self.func, value, self.block))
    }

    /// Whether a block that nothing else leads to only goes on to another.
    fn leads_on(&self, from: &BlockCall, to: &BlockCall) -> bool {
        let end = self.func.terminator(from.block).map(|inst| &self.func.dfg[inst]);
        self.cfg.predecessors(from.block).len() == 1
            && matches!(end, Some(InstData::Jump { dest }) if dest.block == to.block)
    }

    fn return_value(&mut self, args: &[Value]) {
        for &value in args {
            let ty = self.ty(value);
            if ty.is_aggregate() {
                let mut regs = Vec::new();
                self.part_regs(value, &mut regs);
                for (reg, Held { offset, bytes, width }) in regs.into_iter().zip(held(&self.module.types, ty))
                {
                    let opcode = Mnemonic::new(Opcode::St).with(Mod::Param);
                    let at = Access { base: Base::Return, offset: offset.into(), align: width, opcode };
                    self.store_register(at, bytes, Type::I8, reg);
                }
                continue;
            }
            let signed = self.func.attrs.signext;
            let passing = Passing { signed, ..Passing::in_call(&self.module.types, ty) };
            let regs = self.pass(value, &passing);
            for (reg, (at, ty)) in regs.into_iter().zip(passing.accesses) {
                let store = Mnemonic::new(Opcode::St).with(Mod::Param).with(Mod::of_scalar(ty));
                self.emit(store, &[Operand::Addr(Base::Return, at.into()), reg]);
            }
        }
    }

    // Switches.

    fn switch(&mut self, arg: Value, table: JumpTable, inst: ir::Inst) -> Terminator {
        let func = self.func;
        let table = &func.dfg.jump_tables[table];
        let default = self.edge(&table.default, inst, 0);
        let mut cases: Vec<(i64, Edge)> = Vec::with_capacity(table.cases.len());
        for (n, (value, call)) in table.cases.iter().enumerate() {
            let edge = self.edge(call, inst, n + 1);
            cases.push((*value, edge));
        }
        cases.sort_by_key(|case| case.0);
        let (value, bits) = match self.ty(arg).bits() {
            // Constants are sign-extended as they are.
            8 if self.int_const(arg).is_none() => {
                let (value, source) = (self.temp(RegClass::B16), self.reg(arg));
                self.emit(ptx!(Cvt.S16.S8), &[Operand::Def(value), Operand::Use(source)]);
                (value, 16)
            }
            8 => (self.reg(arg), 16),
            bits => (self.reg(arg), bits),
        };
        let made = self.out.layout.len();
        let uniform = self.is_uniform(arg);
        let most = self.most(arg);
        let root = Switch { selector: self, value, bits, default, cases, uniform }.root(most);
        // Each block was added behind those it decides between; the other way round, what a comparison does not branch to
        // follows it.
        let mut behind = self.out.layout.split_off(made);
        behind.reverse();
        self.switches.push((self.block, behind));
        root
    }

    /// The most that an integer can be, if it is known not to be negative.
    fn most(&mut self, value: Value) -> Option<i64> {
        let bits = self.ty(value).bits();
        let most = self.known.of(&self.func.dfg, value)?.max(bits);
        if most >> (bits - 1) == 0 { i64::try_from(most).ok() } else { None }
    }
}

/// A `switch` on the way to branches: a search tree whose leaves are short chains of comparisons or tables of labels.
struct Switch<'s, 'a> {
    selector: &'s mut Selector<'a>,
    value: VReg,
    bits: u32,
    default: Edge,
    /// In ascending order.
    cases: Vec<(i64, Edge)>,
    uniform: bool,
}

impl Switch<'_, '_> {
    /// The whole, of a value that is not negative and at most so much, if that is known: a table of all that it can be needs no comparison.
    fn root(&mut self, most: Option<i64>) -> Terminator {
        if let Some(most) = most {
            self.cases.retain(|case| (0..=most).contains(&case.0));
        }
        let all = 0..self.cases.len();
        match most.and_then(|most| self.dense(all.len(), 0, most)) {
            Some(span) => self.lookup(self.value, all, 0, span),
            None => self.decide(all),
        }
    }

    /// The code that decides between some of the cases, as the end of a block whose instructions are in the current group.
    fn decide(&mut self, range: Range<usize>) -> Terminator {
        let cases = &self.cases[range.clone()];
        let Some(&(value, edge)) = cases.first() else { return Terminator::Jump(self.default) };
        if let Some(&(last, _)) = cases.last()
            && let Some(span) = self.dense(range.len(), value, last)
        {
            return self.table(range, span);
        }
        if range.len() > 3 {
            let middle = range.start + range.len() / 2;
            let condition = self.compare(Mod::Lt, self.cases[middle].0);
            let taken = self.block(range.start..middle);
            let otherwise = self.block(middle..range.end);
            return Terminator::Branch { condition, negated: false, taken, otherwise, uniform: self.uniform };
        }
        let condition = self.compare(Mod::Eq, value);
        let otherwise = if range.len() == 1 { self.default } else { self.block(range.start + 1..range.end) };
        Terminator::Branch { condition, negated: false, taken: edge, otherwise, uniform: self.uniform }
    }

    /// A new block that decides between some of the cases.
    fn block(&mut self, range: Range<usize>) -> Edge {
        self.made(|switch| switch.decide(range))
    }

    /// A new block of what this adds to the current group, and with the end that it gives.
    fn made(&mut self, decide: impl FnOnce(&mut Self) -> Terminator) -> Edge {
        let group = std::mem::take(&mut self.selector.group);
        let terminator = decide(self);
        let out = &mut self.selector.out;
        let start = out.insts.len() as u32;
        out.insts.append(&mut self.selector.group);
        self.selector.group = group;
        let block = out.add_block(&[]);
        out.blocks[block].insts = start..out.insts.len() as u32;
        out.blocks[block].terminator = terminator;
        out.blocks[block].origin = self.selector.origin;
        out.layout.push(block);
        out.edge(block, &[])
    }

    fn compare(&mut self, how: Mod, with: i64) -> VReg {
        let ty = [Mod::S16, Mod::S32, Mod::S64][(self.bits / 32) as usize];
        let mnemonic = Mnemonic::new(Opcode::Setp).with(how).with(ty);
        let condition = self.selector.temp(RegClass::Pred);
        self.selector
            .emit(mnemonic, &[Operand::Def(condition), Operand::Use(self.value), Operand::Int(with)]);
        condition
    }

    /// How many values there are from one to another, if a table of them is at least half full with so many cases.
    fn dense(&self, cases: usize, first: i64, last: i64) -> Option<u64> {
        let span = last.wrapping_sub(first) as u64;
        let fits = cases >= TABLE_MIN && span < TABLE_MAX.min(2 * cases as u64) && self.selector.has_sm(30);
        fits.then_some(span + 1)
    }

    /// A table of some cases, behind a comparison that keeps other values from it.
    fn table(&mut self, range: Range<usize>, span: u64) -> Terminator {
        let first = self.cases[range.start].0;
        let (value, uniform, selector) = (self.value, self.uniform, &mut *self.selector);
        let sub = ptx!(Sub).with(int_mod(self.bits, true));
        let compare = ptx!(Setp.Lt).with(int_mod(self.bits, false));
        let mut offset = value;
        if first != 0 {
            offset = selector.temp(RegClass::for_bits(self.bits));
            selector.emit(sub, &[Operand::Def(offset), Operand::Use(value), Operand::Int(first)]);
        }
        let condition = selector.temp(RegClass::Pred);
        let number = Operand::Int(span as i64);
        selector.emit(compare, &[Operand::Def(condition), Operand::Use(offset), number]);
        let taken = self.made(|switch| switch.lookup(offset, range, first, span));
        Terminator::Branch { condition, negated: false, taken, otherwise: self.default, uniform }
    }

    /// A table of some cases that begins with this number, and an offset that is in it.
    fn lookup(&mut self, offset: VReg, cases: Range<usize>, number: i64, span: u64) -> Terminator {
        let selector = &mut *self.selector;
        let mut index = offset;
        if self.bits != 32 {
            // In range it fits 32 bits.
            index = selector.temp(RegClass::B32);
            let convert = ptx!(Cvt.U32).with(int_mod(self.bits, false));
            selector.emit(convert, &[Operand::Def(index), Operand::Use(offset)]);
        }
        let mut targets = vec![self.default; span as usize];
        for &(value, edge) in &self.cases[cases] {
            targets[value.wrapping_sub(number) as usize] = edge;
        }
        let first = selector.out.tables.len() as u32;
        selector.out.tables.extend(targets);
        Terminator::Table { index, first, len: span as u32, uniform: self.uniform }
    }
}
