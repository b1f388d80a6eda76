//! Control flow of structured languages: `if`, `while`, `for`, `switch`. What the parts share are variables.

use super::FunctionBuilder;
use crate::entities::{Block, Inst, Value, Variable};
use crate::ins::InstBuilder;
use crate::inst::BlockCall;
use crate::ops::IntCC;
use smallvec::SmallVec;

/// The cases of a switch: a value, the block that it leads to, the arguments for its parameters.
pub type Cases<'a> = [(i64, Block, &'a [Value])];

impl FunctionBuilder<'_> {
    /// `if (cond) { then }`. Goes on behind it; a body that ends in a terminator does not get there.
    ///
    /// ```
    /// use warpsmith_ir::*;
    /// let mut module = Module::new();
    /// let params = vec![Param::new(Type::I32)];
    /// let id = module.add_function(Function::new("collatz", FuncKind::Func, params, vec![Type::I32]));
    /// let mut b = FunctionBuilder::new(&mut module, id);
    /// let entry = b.entry_block();
    /// let (n, steps) = (b.declare_var(Type::I32), b.declare_var(Type::I32));
    /// let (given, zero) = (b.block_params(entry)[0], b.ins().iconst(Type::I32, 0));
    /// b.def_var(n, given);
    /// b.def_var(steps, zero);
    /// b.while_(
    ///     |b| {
    ///         let n = b.use_var(n);
    ///         b.ins().icmp_imm(IntCC::Ugt, n, 1)
    ///     },
    ///     |b| {
    ///         let at = b.use_var(n);
    ///         let low = b.ins().band_imm(at, 1);
    ///         let odd = b.ins().icmp_imm(IntCC::Ne, low, 0);
    ///         b.if_else(
    ///             odd,
    ///             |b| {
    ///                 let tripled = b.ins().imul_imm(at, 3);
    ///                 let next = b.ins().iadd_imm(tripled, 1);
    ///                 b.def_var(n, next);
    ///             },
    ///             |b| {
    ///                 let next = b.ins().lshr_imm(at, 1);
    ///                 b.def_var(n, next);
    ///             },
    ///         );
    ///         let count = b.use_var(steps);
    ///         let count = b.ins().iadd_imm(count, 1);
    ///         b.def_var(steps, count);
    ///     },
    /// );
    /// let steps = b.use_var(steps);
    /// b.ins().ret(&[steps]);
    /// b.finalize().unwrap();
    /// verify(&module).unwrap();
    /// ```
    pub fn if_(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        let (body, end) = (self.create_block(), self.create_block());
        self.ins().brif(cond, body, &[], end, &[]);
        self.arm(body, end, then);
        self.enter_block(end);
    }

    /// `if (cond) { then } else { otherwise }`. Goes on behind both.
    pub fn if_else(&mut self, cond: Value, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        let (yes, no, end) = (self.create_block(), self.create_block(), self.create_block());
        self.ins().brif(cond, yes, &[], no, &[]);
        self.arm(yes, end, then);
        self.arm(no, end, otherwise);
        self.enter_block(end);
    }

    /// `while (cond()) { body }`. `cond` makes the condition at the loop's head.
    pub fn while_(&mut self, cond: impl FnOnce(&mut Self) -> Value, body: impl FnOnce(&mut Self)) {
        self.loop_(|b, _, end| {
            let go_on = cond(b);
            let inside = b.create_block();
            b.ins().brif(go_on, inside, &[], end, &[]);
            b.enter_block(inside);
            body(b);
        });
    }

    /// `for (index = from; index < to; index += step) { body }`, of signed integers. `body` gets the value that the index has in it;
    /// to continue with the next one, it ends where it is to go on (the step is made behind it).
    pub fn for_range(
        &mut self,
        index: Variable,
        from: Value,
        to: Value,
        step: i64,
        body: impl FnOnce(&mut Self, Value),
    ) {
        self.def_var(index, from);
        self.while_(
            |b| {
                let at = b.use_var(index);
                b.ins().icmp(IntCC::Slt, at, to)
            },
            |b| {
                let at = b.use_var(index);
                body(b, at);
                if !b.is_filled() {
                    let at = b.use_var(index);
                    let next = b.ins().iadd_imm(at, step);
                    b.def_var(index, next);
                }
            },
        );
    }

    /// `loop { body }`. `body` gets the blocks that `continue` and `break` jump to.
    pub fn loop_(&mut self, body: impl FnOnce(&mut Self, Block, Block)) {
        let (head, end) = (self.create_block(), self.create_block());
        self.ins().jump(head, &[]);
        self.switch_to_block(head);
        body(self, head, end);
        if !self.is_filled() {
            self.ins().jump(head, &[]);
        }
        self.seal_block(head);
        self.enter_block(end);
    }

    /// Goes on at the end of a block that all branches to are made of: seals it and switches to it.
    ///
    /// A front end that builds as it reads, and so has its own state and errors between the parts of a statement, makes the blocks of a
    /// statement itself:
    ///
    /// ```
    /// use warpsmith_ir::*;
    /// # let mut module = Module::new();
    /// # let id = module.add_function(Function::new("f", FuncKind::Func, vec![Param::new(Type::I1)], vec![]));
    /// # let mut b = FunctionBuilder::new(&mut module, id);
    /// # let entry = b.entry_block();
    /// # let cond = b.block_params(entry)[0];
    /// let (then, end) = (b.create_block(), b.create_block());
    /// b.ins().brif(cond, then, &[], end, &[]);
    /// b.enter_block(then);
    /// // ..
    /// b.ins().jump(end, &[]);
    /// b.enter_block(end);
    /// # b.ins().ret(&[]);
    /// # b.finalize().unwrap();
    /// # verify(&module).unwrap();
    /// ```
    pub fn enter_block(&mut self, block: Block) {
        self.seal_block(block);
        self.switch_to_block(block);
    }

    /// Goes to the block of the operand's value, else to the default, each with arguments for its parameters.
    pub fn switch(&mut self, value: Value, default: (Block, &[Value]), cases: &Cases<'_>) -> Inst {
        let pool = &mut self.func_mut().dfg.pool;
        let default = BlockCall::new(default.0, default.1, pool);
        let cases: SmallVec<[(i64, BlockCall); 8]> =
            cases.iter().map(|(case, block, args)| (*case, BlockCall::new(*block, args, pool))).collect();
        self.ins().switch(value, default, cases.into_vec())
    }

    fn arm(&mut self, block: Block, end: Block, body: impl FnOnce(&mut Self)) {
        self.enter_block(block);
        body(self);
        if !self.is_filled() {
            self.ins().jump(end, &[]);
        }
    }
}
