//! Barriers that are made of several operations of PTX: those of clusters, and `mbarrier` objects in shared memory.

use super::FunctionBuilder;
use crate::arg::at;
use crate::entities::Value;
use crate::ins::InstBuilder;
use warpsmith_isa::mnemonic;

impl FunctionBuilder<'_> {
    /// Waits for all threads of the cluster; what they have written before is seen behind it (sm_90).
    pub fn cluster_barrier(&mut self) {
        self.ins().ptx(mnemonic!("barrier.cluster.arrive.release.aligned"), ());
        self.ins().ptx(mnemonic!("barrier.cluster.wait.acquire.aligned"), ());
    }

    /// Makes the 8 bytes of shared memory at an address a barrier whose phases end when so many (`i32`) threads have arrived. One thread does
    /// it, before a barrier of the block (sm_80).
    pub fn mbarrier_init(&mut self, barrier: Value, count: Value) {
        self.ins().ptx(mnemonic!("mbarrier.init.shared.b64"), (at(barrier), count));
    }

    /// Arrives; gives the state (`i64`) that denotes the phase, to wait for.
    pub fn mbarrier_arrive(&mut self, barrier: Value) -> Value {
        self.ins().ptx(mnemonic!("mbarrier.arrive.shared.b64"), (at(barrier),)).first()
    }

    /// Arrives, and says that so many (`i32`) bytes of copies belong to the phase too (sm_90).
    pub fn mbarrier_arrive_expect_tx(&mut self, barrier: Value, bytes: Value) -> Value {
        self.ins().ptx(mnemonic!("mbarrier.arrive.expect_tx.shared.b64"), (at(barrier), bytes)).first()
    }

    /// Waits until the phase of a state has ended. Goes on in a new block.
    ///
    /// ```
    /// use warpsmith_ir::*;
    /// let mut module = Module::new();
    /// let barrier = Global::new("barrier", warpsmith_isa::StateSpace::Shared, Type::I64, Extent::One);
    /// let barrier = module.add_global(barrier);
    /// let id = module.add_function(Function::new("k", FuncKind::Kernel, vec![], vec![]));
    /// let mut b = FunctionBuilder::new(&mut module, id);
    /// b.entry_block();
    /// let barrier = b.global_addr(barrier);
    /// let thread = b.ins().sreg(Sreg::TID_X);
    /// let first = b.ins().icmp_imm(IntCC::Eq, thread, 0);
    /// b.if_(first, |b| {
    ///     let count = b.ins().sreg(Sreg::NTID_X);
    ///     b.mbarrier_init(barrier, count);
    /// });
    /// b.ins().barrier();
    /// let phase = b.mbarrier_arrive(barrier);
    /// b.mbarrier_wait(barrier, phase);
    /// b.ins().ret(&[]);
    /// b.finalize().unwrap();
    /// verify(&module).unwrap();
    /// ```
    pub fn mbarrier_wait(&mut self, barrier: Value, state: Value) {
        self.loop_(|b, _, end| {
            let done = b.ins().ptx(mnemonic!("mbarrier.test_wait.shared.b64"), (at(barrier), state)).first();
            let again = b.create_block();
            b.ins().brif(done, end, &[], again, &[]);
            b.seal_block(again);
            b.switch_to_block(again);
        });
    }

    /// Waits until the phase of a parity (`i32`: 0 for the first) has ended, as consumers of copies do (sm_80). Goes on in a new block.
    pub fn mbarrier_wait_parity(&mut self, barrier: Value, parity: Value) {
        self.loop_(|b, _, end| {
            let operands = (at(barrier), parity);
            let done = b.ins().ptx(mnemonic!("mbarrier.test_wait.parity.shared.b64"), operands).first();
            let again = b.create_block();
            b.ins().brif(done, end, &[], again, &[]);
            b.seal_block(again);
            b.switch_to_block(again);
        });
    }

    /// Says what is wanted of the loop that a block is the head of.
    pub fn set_loop_hint(&mut self, head: crate::Block, hint: crate::LoopHint) {
        if self.has_block(head) {
            self.func_mut().loop_hints[head] = Some(hint);
        }
    }
}
