//! Operations on the atomic types of OpenCL 2 (OpenCL C specification, 6.15.12).

use super::kinds::AtomicObject;
use super::mangled::Element;
use super::{Operands, missing};
use crate::error::Result;
use crate::import::function::{Builder, Values};
use crate::module::body::Call;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, MemoryOrder, MemoryScope, Type, Value};

/// The order that a number means: OpenCL's are those of C.
fn order(number: Option<i64>) -> MemoryOrder {
    match number {
        Some(0) => MemoryOrder::Relaxed,
        Some(2) => MemoryOrder::Acquire,
        Some(3) => MemoryOrder::Release,
        Some(4) => MemoryOrder::AcqRel,
        // The strongest serves where the number is computed.
        Some(_) | None => MemoryOrder::SeqCst,
    }
}

/// The scope that a number means, the widest where it is computed.
fn scope(number: Option<i64>) -> MemoryScope {
    match number {
        // A single work item, a group, a sub-group.
        Some(0 | 1 | 4) => MemoryScope::Cta,
        Some(2) => MemoryScope::Gpu,
        Some(_) | None => MemoryScope::Sys,
    }
}

/// The order of a load of an operation with this order.
fn when_loading(order: MemoryOrder) -> MemoryOrder {
    match order {
        MemoryOrder::Release => MemoryOrder::Relaxed,
        MemoryOrder::AcqRel => MemoryOrder::Acquire,
        MemoryOrder::Relaxed | MemoryOrder::Acquire | MemoryOrder::SeqCst => order,
    }
}

/// The order of a store of an operation with this order.
fn when_storing(order: MemoryOrder) -> MemoryOrder {
    match order {
        MemoryOrder::Acquire => MemoryOrder::Relaxed,
        MemoryOrder::AcqRel => MemoryOrder::Release,
        MemoryOrder::Relaxed | MemoryOrder::Release | MemoryOrder::SeqCst => order,
    }
}

/// How an operation is ordered. Without operands that say so, it is sequentially consistent on the device.
#[derive(Clone, Copy)]
struct Ordered {
    order: MemoryOrder,
    /// Of a comparison that fails.
    on_failure: MemoryOrder,
    scope: MemoryScope,
}

impl Builder<'_, '_, '_> {
    /// Reads the operands behind the first `from`: an order, for comparisons a second one, and a scope.
    fn ordered(&self, call: &Call, from: usize, orders: usize) -> Ordered {
        let args = self.body.args(call);
        let number = |n: usize| args.get(n).map(|arg| self.constant_integer(*arg));
        let strongest = MemoryOrder::SeqCst;
        Ordered {
            order: number(from).map_or(strongest, order),
            on_failure: number(from + 1).filter(|_| orders == 2).map_or(strongest, order),
            scope: number(from + orders).map_or(MemoryScope::Gpu, scope),
        }
    }

    pub(super) fn atomic_object(
        &mut self,
        op: AtomicObject,
        call: &Call,
        operands: &Operands,
    ) -> Result<Values> {
        let none = Values::new();
        let one = |value: Value| Values::from_slice(&[value]);
        let pointer = || operands.scalar(0);
        match op {
            AtomicObject::Init => {
                let value = operands.scalar(1)?;
                self.b.ins().store(MemFlags::PLAIN, value, pointer()?, 0);
                Ok(none)
            }
            AtomicObject::Load => {
                let how = self.ordered(call, 1, 1);
                let ty = operands.result()?;
                Ok(one(self.b.ins().atomic_load(ty, when_loading(how.order), how.scope, pointer()?)))
            }
            AtomicObject::Store => {
                let (value, how) = (operands.scalar(1)?, self.ordered(call, 2, 1));
                self.b.ins().atomic_store(when_storing(how.order), how.scope, value, pointer()?);
                Ok(none)
            }
            AtomicObject::Exchange => {
                let (value, how) = (operands.scalar(1)?, self.ordered(call, 2, 1));
                let xchg = warpsmith_ir::AtomicOp::Xchg;
                Ok(one(self.b.ins().atomic_rmw(xchg, how.order, how.scope, pointer()?, value)))
            }
            AtomicObject::Fetch(signed, unsigned, float) => {
                let (value, how) = (operands.scalar(1)?, self.ordered(call, 2, 1));
                let op = match operands.vector(0)?.element {
                    Element::Signed => signed,
                    Element::Unsigned => unsigned,
                    Element::Float => float.ok_or_else(missing)?,
                    Element::Other => return Err(missing()),
                };
                Ok(one(self.b.ins().atomic_rmw(op, how.order, how.scope, pointer()?, value)))
            }
            AtomicObject::TestAndSet => {
                let how = self.ordered(call, 1, 1);
                let set = self.b.ins().iconst(Type::I32, 1);
                let xchg = warpsmith_ir::AtomicOp::Xchg;
                let old = self.b.ins().atomic_rmw(xchg, how.order, how.scope, pointer()?, set);
                Ok(one(self.b.ins().icmp_imm(IntCC::Ne, old, 0)))
            }
            AtomicObject::Clear => {
                let how = self.ordered(call, 1, 1);
                let clear = self.b.ins().iconst(Type::I32, 0);
                self.b.ins().atomic_store(when_storing(how.order), how.scope, clear, pointer()?);
                Ok(none)
            }
            AtomicObject::ExchangeIf => {
                let how = self.ordered(call, 3, 2);
                Ok(one(self.exchange_object_if(pointer()?, how, operands)?))
            }
            AtomicObject::Fence => {
                // The first operand says which memory; PTX's fences are for all of it.
                let Ordered { order, scope, .. } = self.ordered(call, 1, 1);
                if order != MemoryOrder::Relaxed {
                    self.b.ins().fence(order, scope);
                }
                Ok(none)
            }
        }
    }

    /// Whether the object held what is expected; where it did not, what it held is stored in place of that.
    fn exchange_object_if(&mut self, pointer: Value, how: Ordered, operands: &Operands) -> Result<Value> {
        let (expected_at, new) = (operands.scalar(1)?, operands.scalar(2)?);
        let new = self.integer_of(new);
        let ty = self.type_of(new);
        let expected = self.b.ins().load(ty, MemFlags::PLAIN, expected_at, 0);
        let orders = [how.order, when_loading(how.on_failure)];
        let old = self.b.ins().cmpxchg(orders, how.scope, pointer, expected, new).first();
        let differs = self.b.ins().icmp(IntCC::Ne, old, expected);
        self.store_if(differs, old, expected_at);
        let same = self.b.ins().icmp(IntCC::Eq, old, expected);
        Ok(same)
    }
}
