//! A function that calls itself: last, with something done to what that gives, or twice. Some hand the address of memory of their own on. It ends,
//! whatever it is called with.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{FuncId, InstBuilder, InstData, IntCC, MemFlags, Opcode, Type, Value};

/// What may be done to numbers on the way there and back; most of it may be grouped at will.
const OPERATIONS: [Opcode; 7] =
    [Opcode::Iadd, Opcode::Imul, Opcode::Band, Opcode::Bor, Opcode::Bxor, Opcode::Isub, Opcode::Umin];

/// What becomes of what a call gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Returned,
    Changed,
    /// By what another call gives.
    ChangedByAnother,
}

impl Generator<'_, '_, '_> {
    /// The body of a function of a number of calls, of which the lowest bits count, another number, and maybe an address of four bytes.
    pub(super) fn recursive(&mut self, own: FuncId) -> Result<()> {
        let entry = self.b.entry_block();
        let params = self.b.block_params(entry).to_vec();
        let (calls, x, of_caller) = (params[0], params[1], params.get(2).copied());
        let then = *self.u.choose(&[Then::Returned, Then::Changed, Then::Changed, Then::ChangedByAnother])?;
        let most = self.number(Type::I32, if then == Then::ChangedByAnother { 3 } else { 7 });
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let (last, more, out) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(out, Type::I32);
        // Memory that each call has for itself, written before that of the caller is read.
        let (mut handed, mut seen) = (None, x);
        if let Some(of_caller) = of_caller {
            let slot = self.b.create_stack_slot(4, 4);
            let at = self.b.ins().stack_addr(slot, 0);
            self.b.ins().store(MemFlags::PLAIN, x, at, 0);
            handed = Some(self.b.ins().addrspacecast(Type::PTR, at));
            seen = self.b.ins().load(Type::I32, MemFlags::PLAIN, of_caller, 0);
        }
        let left = self.b.ins().band(calls, most);
        let ends = self.b.ins().icmp(IntCC::Eq, left, zero);
        self.b.ins().brif(ends, last, &[], more, &[]);

        self.b.switch_to_block(last);
        let value = self.any_of(calls, x)?;
        self.b.ins().jump(out, &[value]);

        self.b.switch_to_block(more);
        let less = self.b.ins().isub(left, one);
        let next = self.any_of(seen, left)?;
        let other = match then {
            Then::ChangedByAnother => self.again(own, less, x, handed),
            Then::Returned | Then::Changed => self.any_of(left, x)?,
        };
        let mut given = self.again(own, less, next, handed);
        if then != Then::Returned {
            given = if self.u.ratio(1, 2)? { self.any_of(given, other)? } else { self.any_of(other, given)? };
        }
        match self.u.ratio(1, 2)? {
            true => self.b.ins().jump(out, &[given]),
            false => self.b.ins().ret(&[given]),
        };

        self.b.switch_to_block(out);
        self.b.ins().ret(&[result]);
        Ok(())
    }

    /// One of the operations on two numbers.
    fn any_of(&mut self, a: Value, b: Value) -> Result<Value> {
        let op = *self.u.choose(&OPERATIONS)?;
        let (_, made) = self.b.ins().build(InstData::Binary { op, args: [a, b] }, &[Type::I32]);
        Ok(made.get(0).expect("made with one result"))
    }

    fn again(&mut self, own: FuncId, calls: Value, x: Value, handed: Option<Value>) -> Value {
        let args: Vec<Value> = [calls, x].into_iter().chain(handed).collect();
        self.b.call(own, &args).get(0).expect("it returns a number")
    }
}
