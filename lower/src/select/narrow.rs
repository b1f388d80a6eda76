//! Addresses in shared, local and constant memory that are computed in 32 bits.
//!
//! These end far below 2^32, and PTX takes a register of 32 bits for an address in them. An address is held in one if
//! - it is that of a variable or a stack slot plus offsets, through selections and parameters of blocks, and the low words of the offsets cost nothing
//!   (what was extended from 32 bits, times a constant); and
//! - nobody sees more of it than what it leads to: it is the address of loads, stores and operations of the tables that name `.shared`, or
//!   its low word is taken as a number, as `__cvta_generic_to_shared` is used, or another such address is computed from it.
//!
//! The low word of a sum is the sum of the low words, whatever wraps on the way, so that both ways lead to the same byte. What is compared, cast
//! to a generic pointer, stored, or passed to a function keeps 64 bits, and so does what it is computed from; only the address of the variable
//! itself is made in both widths if it is wanted in both.

use super::*;
use smallvec::SmallVec;
use warpsmith_ir::{PtxData, PtxOperand};
use warpsmith_isa::StateSpace;

/// Sweeps over a function until nothing changes; in one that needs more, all addresses keep 64 bits.
const MAX_SWEEPS: u32 = 32;

/// Bytes of an address in 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LowWord {
    Constant(i32),
    /// A value of 32 bits times a constant.
    Product(Value, i32),
}

/// A sum or selection of addresses.
fn computes_address(func: &ir::Function, inst: ir::Inst) -> bool {
    matches!(
        func.dfg[inst],
        InstData::Binary { op: IrOp::Ptradd, .. }
            | InstData::Index { .. }
            | InstData::Ternary { op: IrOp::Select, .. }
    )
}

impl Selector<'_> {
    /// Decides which addresses are held in 32 bits, and lets numbers share their registers.
    pub(super) fn find_narrow(&mut self) {
        self.decide_narrow();
        let func = self.func;
        for inst in self.cfg.reverse_postorder().to_vec().into_iter().flat_map(|b| func.layout.insts(b)) {
            if let (Some(address), Some(number)) = (self.shares_low_word(inst), func.dfg.first_result(inst)) {
                self.regs[number] = Regs { first: self.low_reg(address).into(), count: 1 };
            }
        }
    }

    /// All addresses that may be, less those that something forbids, until nothing does.
    fn decide_narrow(&mut self) {
        let func = self.func;
        let has_variables = self.module.globals.values().any(|global| is_low(global.space));
        if !has_variables && func.stack_slots.is_empty() {
            return;
        }
        let blocks = self.cfg.reverse_postorder().to_vec();
        let mut found = false;
        for &block in &blocks {
            let is_entry = self.is_entry(block);
            let params = func.dfg.block_params(block).iter().copied().filter(|_| !is_entry);
            let sums = func.layout.insts(block).filter(|&inst| computes_address(func, inst));
            let results = sums.filter_map(|inst| func.dfg.first_result(inst));
            for value in params.chain(results) {
                if func.dfg.ty(value).space().is_some_and(is_low) && self.alias[value].is_none() {
                    self.narrow[value] = true;
                    found = true;
                }
            }
        }
        if !found {
            return;
        }
        if self.variables == Variables::Kept {
            self.widen_bound();
        }
        for _ in 0..MAX_SWEEPS {
            let mut changed = false;
            for inst in blocks.iter().flat_map(|&block| func.layout.insts(block)) {
                for value in self.forbidden(inst) {
                    changed |= std::mem::take(&mut self.narrow[value]);
                }
            }
            if !changed {
                return;
            }
        }
        self.narrow.clear();
    }

    /// The address with a register of 32 bits of which an instruction takes the low word, which is in that register.
    pub(super) fn shares_low_word(&self, inst: ir::Inst) -> Option<Value> {
        self.low_word_of(inst).filter(|&address| self.has_low_word(address))
    }

    /// The address in low memory of which an instruction takes the low word as a number.
    fn low_word_of(&self, inst: ir::Inst) -> Option<Value> {
        let dfg = &self.func.dfg;
        let InstData::Unary { op: IrOp::Trunc, arg } = dfg[inst] else { return None };
        let address = self.resolve(arg);
        let is_word = dfg.first_result(inst).is_some_and(|number| dfg.ty(number) == Type::I32);
        (is_word && self.ty(address).space().is_some_and(is_low)).then_some(address)
    }

    /// A debugger reads the variables of code that is not optimised in registers as wide as their type.
    fn widen_bound(&mut self) {
        let Some(debug) = &self.func.debug else { return };
        for binding in debug.bindings.values() {
            if let Some(value) = self.func.storage(binding.storage).value() {
                let value = self.resolve(value);
                self.narrow[value] = false;
            }
        }
    }

    /// Of what is held in 32 bits so far, what an instruction forbids to be: its result, if it is not made of what is held so, and what it reads
    /// otherwise than as an address.
    fn forbidden(&self, inst: ir::Inst) -> SmallVec<[Value; 4]> {
        let dfg = &self.func.dfg;
        let mut forbidden: SmallVec<[Value; 4]> = SmallVec::new();
        if self.unchanged(inst).is_some() {
            return forbidden;
        }
        let result = dfg.first_result(inst).filter(|&result| self.narrow[result]);
        forbidden.extend(result.filter(|_| !self.has_low_words(inst)));
        let args = dfg.args(inst).iter().map(|&arg| self.resolve(arg)).enumerate();
        let args = args.filter(|&(n, arg)| self.narrow[arg] && !self.is_address(inst, n));
        forbidden.extend(args.map(|(_, arg)| arg));
        for call in dfg.targets(inst) {
            for (param, arg) in dfg.given(call) {
                // The parameters of a block with one way in are their arguments.
                if self.alias[param].is_none() && !(self.narrow[param] && self.has_low_word(arg)) {
                    let pair = [param, self.resolve(arg)].into_iter();
                    forbidden.extend(pair.filter(|&value| self.narrow[value]));
                }
            }
        }
        forbidden
    }

    /// Whether everything that an address is computed from is there in 32 bits.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction computes an address in 32 bits")]
    fn has_low_words(&self, inst: ir::Inst) -> bool {
        match self.func.dfg[inst] {
            InstData::Binary { op: IrOp::Ptradd, args: [base, offset] } => {
                self.has_low_word(base) && self.low_word(offset, 1).is_some()
            }
            InstData::Index { scale, args: [base, index] } => {
                self.has_low_word(base) && self.low_word(index, scale).is_some()
            }
            InstData::Ternary { op: IrOp::Select, args: [_, yes, no] } => {
                self.has_low_word(yes) && self.has_low_word(no)
            }
            _ => false,
        }
    }

    /// Whether an operand is an address in low memory of which the instruction reads what leads there and no more.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else reads an address reads all of it")]
    fn is_address(&self, inst: ir::Inst, n: usize) -> bool {
        let dfg = &self.func.dfg;
        let is_address = match dfg[inst] {
            InstData::Load { .. } => true,
            InstData::Store { .. } => n == 1,
            InstData::Binary { op: IrOp::Ptradd, .. } | InstData::Index { .. } => {
                n == 0 && self.is_narrow(inst)
            }
            InstData::Ternary { op: IrOp::Select, .. } => n > 0 && self.is_narrow(inst),
            InstData::Unary { op: IrOp::Trunc, .. } => return self.low_word_of(inst).is_some(),
            InstData::Ptx { data, .. } => is_shared_address(&dfg.ptx[data], n),
            _ => false,
        };
        is_address && self.ty(dfg.args(inst)[n]).space().is_some_and(is_low)
    }

    /// Whether an address has a register of 32 bits: it is computed in one, or is that of a variable.
    fn has_low_word(&self, address: Value) -> bool {
        let address = self.resolve(address);
        self.narrow[address] || self.is_low_variable(address)
    }

    fn is_low_variable(&self, address: Value) -> bool {
        match self.func.dfg.def_data(address) {
            Some(&InstData::GlobalAddr { global, .. }) => is_low(self.module.globals[global].space),
            Some(&InstData::StackAddr { .. }) => true,
            _ => false,
        }
    }

    /// The bytes that a number times a constant moves an address in 32 bits by, if nothing need be computed for them.
    pub(super) fn low_word(&self, mut number: Value, mut scale: i32) -> Option<LowWord> {
        for _ in self.definitions() {
            if let Some(constant) = self.int_const(number) {
                return Some(LowWord::Constant((constant as i32).wrapping_mul(scale)));
            }
            if self.ty(number) == Type::I32 {
                return Some(LowWord::Product(number, scale));
            }
            let by = |value| self.int_const(value).map(|by| by as i32);
            (number, scale) = match self.def(number) {
                Some(&InstData::Unary { op: IrOp::Sext | IrOp::Zext, arg }) if self.ty(arg) == Type::I32 => {
                    (arg, scale)
                }
                Some(&InstData::Binary { op: IrOp::Imul, args: [x, y] }) => (x, scale.wrapping_mul(by(y)?)),
                Some(&InstData::Binary { op: IrOp::Shl, args: [x, y] }) => {
                    let by = u32::try_from(by(y)?).ok().filter(|by| *by < 32)?;
                    (x, scale.wrapping_shl(by))
                }
                _ => return None,
            };
        }
        None
    }

    /// Whether the result of an instruction is an address in 32 bits.
    pub(super) fn is_narrow(&self, inst: ir::Inst) -> bool {
        self.func.dfg.first_result(inst).is_some_and(|result| self.narrow[result])
    }

    /// The register of 32 bits that an address has.
    pub(super) fn low_reg(&mut self, address: Value) -> VReg {
        let address = self.resolve(address);
        if self.narrow[address] {
            return self.reg(address);
        }
        self.low[address].expand().unwrap_or_else(|| {
            let low = self.temp(RegClass::B32);
            self.low[address] = low.into();
            low
        })
    }

    /// The registers of an argument, as the parameter that it is for has them.
    pub(super) fn argument(&mut self, param: Value, arg: Value) -> SmallVec<[VReg; 2]> {
        if self.narrow[param] {
            SmallVec::from_slice(&[self.low_reg(arg)])
        } else {
            self.regs_of(arg).collect()
        }
    }

    /// The sum of an address and some bytes in 32 bits.
    pub(super) fn narrow_sum(&mut self, inst: ir::Inst, base: Value, bytes: LowWord) {
        let (result, base) = (self.result(inst), Operand::Use(self.low_reg(base)));
        match bytes {
            LowWord::Constant(bytes) => self.emit(ptx!(Add.S32), &[result, base, Operand::Int(bytes.into())]),
            LowWord::Product(number, scale) => {
                let number = Operand::Use(self.reg(number));
                match scale {
                    1 => self.emit(ptx!(Add.S32), &[result, base, number]),
                    scale => {
                        let scale = Operand::Int(scale.into());
                        self.emit(ptx!(MadLo.S32), &[result, number, scale, base]);
                    }
                }
            }
        }
    }

    /// One of two addresses in 32 bits.
    pub(super) fn narrow_selection(&mut self, inst: ir::Inst, [cond, yes, no]: [Value; 3]) {
        let result = self.result(inst);
        let [yes, no] = [yes, no].map(|address| Operand::Use(self.low_reg(address)));
        let cond = Operand::Use(self.reg(cond));
        self.emit(ptx!(Selp.B32), &[result, yes, no, cond]);
    }

    /// The address of a variable or a stack slot, in the widths that it is wanted in.
    pub(super) fn variable_address(&mut self, inst: ir::Inst, base: Base, offset: i32) {
        let Some(value) = self.func.dfg.first_result(inst) else { return };
        if let Some(low) = self.low[value].expand() {
            self.emit(ptx!(Mov.U32), &[Operand::Def(low), Operand::Symbol(base, offset.into())]);
        }
        if self.regs[value].count > 0 {
            self.symbol_address(inst, base, offset);
        }
    }
}

/// Whether all addresses in a state space fit 32 bits.
const fn is_low(space: StateSpace) -> bool {
    match space {
        StateSpace::Shared | StateSpace::Local | StateSpace::Const => true,
        StateSpace::Generic
        | StateSpace::Global
        | StateSpace::Param
        | StateSpace::Reg
        | StateSpace::Sreg
        | StateSpace::Tex => false,
    }
}

/// Whether an operand of an operation of the tables is an address that the operation names as one in shared memory.
fn is_shared_address(data: &PtxData, n: usize) -> bool {
    let names_shared =
        [Mod::Shared, Mod::SharedCta, Mod::SharedCluster].into_iter().any(|space| data.mnemonic().has(space));
    let operand = data.operands.iter().filter(|operand| operand.takes_value()).nth(n);
    names_shared && matches!(operand, Some(PtxOperand::Address(_)))
}
