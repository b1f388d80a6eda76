//! Methods of [`InstBuilder`](super::InstBuilder) for what threads do to each other and to the system.

/// Atomic accesses, operations of a warp or block, system calls, and what is said of values and places.
macro_rules! effect_methods {
    () => {
        /// Reads memory in an atomic access.
        fn atomic_load(mut self, ty: Type, order: MemoryOrder, scope: MemoryScope, ptr: Value) -> Value {
            let args = ValueList::from_slice(&[ptr], &mut self.func().dfg.pool);
            let attr = Attr::Memory(MemoryMode::new(order, scope));
            self.regular(InstData::List { op: Opcode::AtomicLoad, attr, args }, Some(ty))
        }

        /// Writes memory in an atomic access.
        fn atomic_store(self, order: MemoryOrder, scope: MemoryScope, value: Value, ptr: Value) {
            self.list(Opcode::AtomicStore, Attr::Memory(MemoryMode::new(order, scope)), &[value, ptr]);
        }

        /// Changes memory in an atomic access, and gives what it held.
        fn atomic_rmw(
            self,
            op: AtomicOp,
            order: MemoryOrder,
            scope: MemoryScope,
            ptr: Value,
            x: Value,
        ) -> Value {
            let mode = MemoryMode { op: Some(op), ..MemoryMode::new(order, scope) };
            self.list(Opcode::AtomicRmw, Attr::Memory(mode), &[ptr, x]).first()
        }

        /// Writes `new` to memory that holds `expected`; gives what it held, and whether it was that.
        fn cmpxchg(
            self,
            orders: [MemoryOrder; 2],
            scope: MemoryScope,
            ptr: Value,
            expected: Value,
            new: Value,
        ) -> Results {
            let mode = MemoryMode { failure: Some(orders[1]), ..MemoryMode::new(orders[0], scope) };
            self.list(Opcode::Cmpxchg, Attr::Memory(mode), &[ptr, expected, new])
        }

        /// Orders the accesses before it and behind it.
        fn fence(self, order: MemoryOrder, scope: MemoryScope) {
            self.list(Opcode::Fence, Attr::Memory(MemoryMode::new(order, scope)), &[]);
        }

        /// A value of another lane of the warp; all lanes of the mask must take part.
        fn shfl(self, kind: ShuffleKind, x: Value, lane: Value, mask: Value) -> Value {
            self.list(Opcode::Shfl, Attr::Shuffle(kind), &[x, lane, mask]).first()
        }

        /// What is said of an `i1` of all lanes of the mask.
        fn vote(self, kind: VoteKind, x: Value, mask: Value) -> Value {
            self.list(Opcode::Vote, Attr::Vote(kind), &[x, mask]).first()
        }

        /// The values of the lanes of the mask put together by one of [`Opcode::REDUCTIONS`].
        fn warp_reduce(self, op: Opcode, x: Value, mask: Value) -> Value {
            self.list(Opcode::WarpReduce, Attr::With(op), &[x, mask]).first()
        }

        /// Prints by a format of C's `printf`; gives how many arguments there were.
        fn printf(self, format: &str, args: &[Value]) -> Value {
            self.list(Opcode::Printf, Attr::Text(format.as_bytes().into()), args).first()
        }

        /// Ends the launch with a message if a condition is false.
        fn assert(self, cond: Value, message: &str) {
            self.list(Opcode::Assert, Attr::Text(message.as_bytes().into()), &[cond]);
        }

        /// Waits for all threads of the block.
        fn barrier(self) {
            self.list(Opcode::Barrier, Attr::None, &[]);
        }

        /// Waits for the lanes of a mask.
        fn warp_sync(self, mask: Value) {
            self.list(Opcode::WarpSync, Attr::None, &[mask]);
        }

        /// The lanes that are here, as a mask.
        fn activemask(self) -> Value {
            self.list(Opcode::Activemask, Attr::None, &[]).first()
        }

        /// The lanes of the mask where an `i1` is true, as a mask.
        fn ballot(self, x: Value, mask: Value) -> Value {
            self.list(Opcode::Ballot, Attr::None, &[x, mask]).first()
        }

        /// The lanes of the mask with the same bits, as a mask.
        fn match_any(self, x: Value, mask: Value) -> Value {
            self.list(Opcode::MatchAny, Attr::None, &[x, mask]).first()
        }

        /// The mask and true if all its lanes have the same bits, else 0 and false.
        fn match_all(self, x: Value, mask: Value) -> (Value, Value) {
            let results = self.list(Opcode::MatchAll, Attr::None, &[x, mask]);
            (results.first(), results.get(1).unwrap_or(results.first()))
        }

        /// The address of so many (`i64`) new bytes, or null.
        fn malloc(self, bytes: Value) -> Value {
            self.list(Opcode::Malloc, Attr::None, &[bytes]).first()
        }

        /// Gives back what `malloc` gave.
        fn free(self, ptr: Value) {
            self.list(Opcode::Free, Attr::None, &[ptr]);
        }

        /// Lets other threads run for about so many (`i32`) nanoseconds.
        fn nanosleep(self, nanoseconds: Value) {
            self.list(Opcode::Nanosleep, Attr::None, &[nanoseconds]);
        }

        /// Says that an `i1` is true.
        fn assume(self, cond: Value) {
            self.list(Opcode::Assume, Attr::None, &[cond]);
        }

        /// The first operand, which mostly is the second.
        fn expect(self, x: Value, mostly: Value) -> Value {
            self.list(Opcode::Expect, Attr::None, &[x, mostly]).first()
        }

        /// Ends a block that nothing reaches the end of.
        fn unreachable(mut self) -> Inst {
            let args = ValueList::from_slice(&[], &mut self.func().dfg.pool);
            self.build(InstData::List { op: Opcode::Unreachable, attr: Attr::None, args }, &[]).0
        }
    };
}
pub(super) use effect_methods;
