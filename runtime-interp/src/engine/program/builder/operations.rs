//! What a body computes, loads and stores, and what its threads do together.

use super::*;

impl FunctionBuilder<'_> {
    /// Applies a lane function.
    pub fn lanes(&mut self, f: LaneFn, dst: &[Reg], src: &[Reg]) {
        let signature = f.signature();
        if signature.dst.len() != dst.len() || signature.src.len() != src.len() {
            let (d, s) = (signature.dst.len(), signature.src.len());
            return self.error(format!(
                "a lane function of {s} operands and {d} results is given {} and {}",
                src.len(),
                dst.len()
            ));
        }
        let mut operands = Operands { dst: [Reg::ZERO; 2], src: [Reg::ZERO; 4] };
        for (i, (&r, &w)) in dst.iter().zip(signature.dst).enumerate() {
            self.check(r, Some(w), true);
            operands.dst[i] = r;
        }
        for (i, (&r, &w)) in src.iter().zip(signature.src).enumerate() {
            self.check(r, Some(w), false);
            operands.src[i] = r;
        }
        self.emit(Op::Lanes(f, operands));
    }

    /// Emits an instruction that computes. `dst` may leave destinations out, at the end or as `None`; `src` are registers or constants,
    /// cut or extended to what the plan reads; `carry` is the carry flag, for a plan that uses it.
    pub fn compute(&mut self, plan: &Plan, dst: &[Option<Reg>], src: &[Reg], carry: Option<Reg>) {
        plan.emit(self, dst, src, carry);
    }

    /// Copies a register or constant to a register of the same width.
    pub fn copy(&mut self, dst: Reg, src: Reg) {
        use crate::engine::lanes::vector;
        let f = match dst.width() {
            Width::Pred => vector(|a: bool| a),
            Width::W32 => vector(|a: u32| a),
            Width::W64 => vector(|a: u64| a),
            Width::W128 => vector(|a: u128| a),
        };
        self.lanes(f, &[dst], &[src]);
    }

    /// Reads a special register. The destination may be wider or narrower than the register.
    pub fn special(&mut self, dst: Reg, special: Special) {
        if special.bits() == 1 {
            self.check(dst, Some(Width::Pred), true);
        } else {
            self.check_value(dst, true);
        }
        self.emit(Op::Special(dst, special));
    }

    fn resolve(&mut self, access: Access, address: Address) -> Access {
        if !matches!((access.bytes, access.count), (1 | 2 | 4 | 8 | 16, 1 | 2 | 4 | 8)) {
            self.error(format!("an access of {} elements of {} bytes", access.count, access.bytes));
        }
        self.locate(access, address)
    }

    fn locate(&mut self, mut access: Access, address: Address) -> Access {
        (access.base, access.offset) = match address {
            Address::Reg(r, offset) => {
                self.check_value(r, false);
                if r.width() == Width::W128 {
                    self.error("an address register of 128 bits");
                }
                (r, offset)
            }
            Address::Symbol(symbol, offset) => {
                let generic = access.space == StateSpace::Generic;
                (self.builder.address(symbol, offset, generic), 0)
            }
            Address::Stack(offset) => {
                access.on_stack = true;
                (self.constant(0, Width::W64), offset)
            }
            Address::Absolute(address) => (self.constant(u128::from(address), Width::W64), 0),
        };
        access
    }

    /// Loads consecutive elements into registers, zero- or sign-extended to their widths. `None`-like sinks are not needed:
    /// load into a register that nobody reads.
    pub fn load(&mut self, access: Access, dst: &[Reg], address: Address) {
        let access = Access { count: dst.len() as u8, unused: !self.used_bytes, ..access };
        let access = self.resolve(access, address);
        for &r in dst {
            self.check_value(r, true);
        }
        match *dst {
            [r] => self.emit(Op::Load(access, r)),
            _ => {
                let list = self.list(dst);
                self.emit(Op::LoadVector(access, list));
            }
        }
    }

    /// Stores the low bytes of registers or constants to consecutive elements.
    pub fn store(&mut self, access: Access, src: &[Reg], address: Address) {
        let access = self.resolve(Access { count: src.len() as u8, ..access }, address);
        self.emit_store(access, src);
    }

    /// Stores the low bytes of registers to consecutive elements, and leaves elements as they are where there is no register.
    pub fn store_some(&mut self, access: Access, src: &[Option<Reg>], address: Address) {
        let mut access = self.resolve(Access { count: src.len() as u8, ..access }, address);
        access.skipped =
            src.iter().enumerate().fold(0, |skipped, (i, r)| skipped | u8::from(r.is_none()) << (i & 7));
        let zero = self.constant(0, Width::W128);
        let values: Vec<Reg> = src.iter().map(|r| r.unwrap_or(zero)).collect();
        self.emit_store(access, &values);
    }

    fn emit_store(&mut self, access: Access, src: &[Reg]) {
        for &r in src {
            self.check_value(r, false);
        }
        if access.space == StateSpace::Param || access.space == StateSpace::Const {
            self.error(format!("a store to {} space", access.space));
        }
        match *src {
            [r] => self.emit(Op::Store(access, r)),
            _ => {
                let list = self.list(src);
                self.emit(Op::StoreVector(access, list));
            }
        }
    }

    /// An atomic operation; `dst` is empty for `red`.
    pub fn atomic(
        &mut self,
        access: Access,
        function: AtomicFn,
        dst: &[Reg],
        address: Address,
        b: &[Reg],
        c: Option<Reg>,
    ) {
        let count = b.len().max(dst.len()).max(1);
        let access = self.resolve(Access { count: count as u8, ..access }, address);
        for &r in dst {
            self.check_value(r, true);
        }
        for &r in b.iter().chain(&c) {
            self.check_value(r, false);
        }
        if matches!(function, AtomicFn::Wide(_)) != (access.bytes == 16) {
            self.error("an atomic whose function is of another width than its access");
        }
        if !matches!(access.space, StateSpace::Generic | StateSpace::Global | StateSpace::Shared) {
            self.error(format!("an atomic in {} space", access.space));
        }
        self.emit(Op::Atomic(Box::new(Atomic { access, function, dst: dst.to_vec(), b: b.to_vec(), c })));
    }

    /// The address of a place in the stack frame: in local space, or generic.
    pub fn stack_address(&mut self, dst: Reg, offset: i64, generic: bool) {
        self.check_value(dst, true);
        self.emit(Op::StackAddress { dst, offset, generic });
    }

    /// `activemask`
    pub fn active_mask(&mut self, dst: Reg) {
        self.check(dst, Some(Width::W32), true);
        self.emit(Op::ActiveMask(dst));
    }

    /// A warp-level operation.
    pub fn collective(&mut self, collective: Collective) {
        use CollectiveKind::*;
        let p = Width::Pred;
        let (dst, src): ([Option<Width>; 2], &[Option<Width>]) = match collective.kind {
            Sync => ([None, None], &[]),
            Shuffle(_) => ([Some(Width::W32), Some(p)], &[Some(Width::W32); 3]),
            All | Any | Uni => ([Some(p), None], &[Some(p)]),
            Ballot => ([Some(Width::W32), None], &[Some(p)]),
            MatchAny => ([Some(Width::W32), None], &[None]),
            MatchAll => ([Some(Width::W32), Some(p)], &[None]),
            Reduce(_) => ([Some(Width::W32), None], &[Some(Width::W32)]),
            Elect => ([Some(Width::W32), Some(p)], &[]),
        };
        if collective.src.len() != src.len() {
            return self.error(format!("{:?} takes {} sources", collective.kind, src.len()));
        }
        for (&r, &w) in collective.src.iter().zip(src) {
            self.check(r, w, false);
        }
        for (r, w) in collective.dst.iter().zip(dst) {
            match (r, w) {
                (Some(r), Some(w)) => self.check(*r, Some(w), true),
                (Some(_), None) => self.error(format!("{:?} has fewer results", collective.kind)),
                (None, _) => {}
            }
        }
        if let Some(mask) = collective.mask {
            self.check(mask, Some(Width::W32), false);
        }
        self.emit(Op::Collective(Box::new(collective)));
    }

    /// A block barrier.
    pub fn barrier(&mut self, barrier: Barrier) {
        self.check(barrier.id, Some(Width::W32), false);
        if let Some(count) = barrier.count {
            self.check(count, Some(Width::W32), false);
        }
        if let Some(src) = barrier.src {
            self.check(src.pred, Some(Width::Pred), false);
        }
        let width = if barrier.kind == BarrierKind::Popc { Width::W32 } else { Width::Pred };
        if let Some(dst) = barrier.dst {
            self.check(dst, Some(width), true);
        }
        self.emit(Op::Barrier(Box::new(barrier)));
    }

    /// `fence` and `membar`
    pub fn fence(&mut self, fence: Fence) {
        self.emit(Op::Fence(fence));
    }

    /// An address operand of an asynchronous operation. Of `access` count the space, the alignment (as `bytes`), the ordering, and
    /// whether it may lie in another block of the cluster.
    pub fn operand(&mut self, access: Access, address: Address) -> Access {
        if !access.bytes.is_power_of_two() {
            self.error(format!("an operand at multiples of {} bytes", access.bytes));
        }
        self.locate(Access { count: 1, ..access }, address)
    }

    /// An asynchronous or cluster-wide operation, whose addresses are [`FunctionBuilder::operand`]s of this function.
    pub fn asynchronous(&mut self, op: AsyncOp) {
        for (r, width, dst) in op.registers() {
            match width {
                Some(width) => self.check(r, Some(width), dst),
                None => self.check_value(r, dst),
            }
        }
        self.emit(Op::Async(Box::new(op)));
    }

    /// An operation of all lanes of a warp on matrices.
    pub fn matrix(&mut self, op: MatrixOp) {
        for (r, width, dst) in op.registers() {
            self.check(r, width, dst);
        }
        self.emit(Op::Matrix(Box::new(op)));
    }

    /// An operation on a texture, sampler or surface.
    pub fn texture(&mut self, op: TextureOp) {
        for (r, width, dst) in op.registers() {
            match width {
                Some(width) => self.check(r, Some(width), dst),
                None => self.check_value(r, dst),
            }
        }
        self.emit(Op::Texture(op));
    }

    /// Emits for the lanes of a predicate, of those that the guard at hand names. The predicate need not have a value in others.
    pub fn within(&mut self, pred: Reg, emit: impl FnOnce(&mut Self)) {
        use crate::engine::lanes::vector;
        let saved = self.guard;
        let (guard, flip) = saved;
        let mut both = pred;
        if guard != Reg::ZERO {
            self.guard = (Reg::ZERO, u32::MAX);
            both = self.reg(Width::Pred);
            let function = match flip {
                0 => vector(|a: bool, guard: bool| a & guard),
                _ => vector(|a: bool, guard: bool| a & !guard),
            };
            self.lanes(function, &[both], &[pred, guard]);
        }
        self.guard = (both, 0);
        emit(self);
        self.guard = saved;
    }

    /// A call into the system.
    pub fn system(&mut self, call: SystemCall, args: &[Reg], dst: Option<Reg>) {
        self.builder.program.uses_heap |= call == SystemCall::Malloc;
        for (&r, &w) in args.iter().zip(call.params()) {
            self.check(r, Some(w), false);
        }
        if let Some(dst) = dst {
            self.check(dst, call.result(), true);
        }
        self.emit(Op::System(Box::new(System { call, args: args.to_vec(), dst })));
    }

    /// `stacksave`, `stackrestore` and `alloca`. What a function allocates is freed when it returns.
    pub fn stack(&mut self, op: StackOp) {
        match op {
            StackOp::Save(dst) => self.check_value(dst, true),
            StackOp::Restore(src) => self.check_value(src, false),
            StackOp::Allocate { dst, size, align } => {
                self.check_value(dst, true);
                self.check_value(size, false);
                if !align.is_power_of_two() {
                    self.error(format!("`alloca` at a multiple of {align}, which is not a power of two"));
                }
                if !self.is_kernel() && self.function().saved_top.is_none() {
                    let top = self.reg(Width::W32);
                    self.function().saved_top = Some(top);
                }
            }
        }
        self.emit(Op::Stack(Box::new(op)));
    }

    /// Lets other threads run: `nanosleep`.
    pub fn yield_turn(&mut self) {
        self.emit(Op::Yield);
    }
}
