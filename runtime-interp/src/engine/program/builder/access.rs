//! Accesses to memory as decoders describe them, and the operations that the semantics crate emits.

use super::*;

impl Access {
    /// A weak access of one element of `bytes` bytes that extends with zeros.
    pub const fn unsigned(space: StateSpace, bytes: u8) -> Access {
        Access {
            space,
            bytes,
            signed: false,
            order: Order::Weak,
            scope: Scope::Gpu,
            count: 1,
            cluster: matches!(space, StateSpace::Generic),
            skipped: 0,
            unused: 0,
            on_stack: false,
            base: Reg::ZERO,
            offset: 0,
        }
    }

    /// True if the program uses a byte, counted from the address on.
    pub const fn uses(&self, byte: u32) -> bool {
        byte >= u32::BITS || self.unused >> byte & 1 == 0
    }

    /// An access of one element, whose sign is extended.
    pub const fn signed(space: StateSpace, bytes: u8) -> Access {
        Access { signed: true, ..Access::unsigned(space, bytes) }
    }

    /// The same access, to the shared memory of any block of the cluster or of the executing block only.
    pub const fn reaching(self, cluster: bool) -> Access {
        Access { cluster, ..self }
    }

    /// The same access in another state space.
    pub const fn in_space(self, space: StateSpace) -> Access {
        Access { space, ..self }
    }

    /// The same access with an ordering.
    pub const fn ordered(self, order: Order, scope: Scope) -> Access {
        Access { order, scope, ..self }
    }
}

impl Emitter for FunctionBuilder<'_> {
    type Reg = Reg;

    fn width(&self, r: Reg) -> Width {
        r.width()
    }

    fn new_reg(&mut self, width: Width) -> Reg {
        self.reg(width)
    }

    fn constant_reg(&mut self, value: u64, width: Width) -> Reg {
        self.constant(value.into(), width)
    }

    fn step(&mut self, function: LaneFn, dst: &[Reg], src: &[Reg]) {
        self.lanes(function, dst, src);
    }

    fn mismatch(&mut self, message: String) {
        self.error(message);
    }
}
