//! Loops over elements of the input, as front ends write `for (i = 0; i < n; i++)`: counters that are promised not to wrap, indices that are a counter
//! times a stride, rows behind each other, and products with what does not change. A random graph of blocks has none of it, and random addresses are
//! masked, so that nothing is known of how they grow.
//!
//! Counters and strides are below 8, and an element has 8 bytes at most: with what is added to an index, accesses stay in the first half of the input.

use super::{Generator, Pointers};
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, LoopHint, MemFlags, Opcode, Type, Value};

/// What factors that do not change are: products of two with a third number wrap seldom, but may where none is asked for.
const FACTORS: [i64; 10] = [-1, -1, i64::MIN >> 32, 0x7fff_ffff, 0x8000, 0x10000, 0x4000_0000, 2, -3, 1];

/// How far the structs of an array lie from each other.
const STRUCT_BYTES: u32 = 64;

/// What does not change in a loop.
struct Fixed {
    /// How many rounds there are.
    rounds: Value,
    /// By how much an index grows with the counter.
    stride: Value,
    /// What is added to it.
    more: Value,
    factors: [Value; 2],
}

impl Generator<'_, '_, '_> {
    /// One or two loops, one in the other; what they compute may be needed by nobody.
    pub(super) fn array(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let known = self.values.len();
        let start = self.value(Type::I64)?;
        let sum = match pointers.slot {
            Some(_) if self.u.ratio(1, 8)? => self.slot_loop(&pointers, start)?,
            _ if self.u.ratio(1, 6)? => self.recurrence(&pointers, start)?,
            _ => self.rounds(&pointers, start, None)?,
        };
        self.values.truncate(known);
        if self.u.ratio(7, 8)? {
            self.values.push(sum);
        }
        Ok(())
    }

    /// A loop, in a round of the one that counts by `outer` if there is such, which adds to a sum.
    fn rounds(&mut self, pointers: &Pointers, start: Value, outer: Option<Value>) -> Result<Value> {
        let fixed = Fixed {
            rounds: self.below_eight()?,
            stride: self.below_eight()?,
            more: match outer {
                Some(outer) => outer,
                None => self.below_eight()?,
            },
            factors: [self.factor()?, self.factor()?],
        };
        let known = self.values.len();
        let first = self.u.int_in_range(-2i64..=1)?;
        let step = self.u.int_in_range(1..=2)?;
        let first = if self.u.ratio(1, 2)? { 0 } else { first };
        let first = self.number(Type::I32, first);
        let (head, body, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, Type::I64);
        let result = self.b.append_block_param(done, Type::I64);
        let at_end = self.u.ratio(1, 2)?;
        match at_end {
            true => {
                let any = self.b.ins().icmp(IntCC::Slt, first, fixed.rounds);
                self.b.ins().brif(any, head, &[first, start], done, &[start]);
            }
            false => drop(self.b.ins().jump(head, &[first, start])),
        }
        match self.u.int_in_range(0..=7)? {
            0 => self.b.set_loop_hint(head, LoopHint::NoUnroll),
            1 => self.b.set_loop_hint(head, LoopHint::Unroll(2)),
            2 => self.b.set_loop_hint(head, LoopHint::UnrollEnable),
            _ => {}
        }
        self.b.switch_to_block(head);
        match at_end {
            true => drop(self.b.ins().jump(body, &[])),
            false => {
                let more = self.b.ins().icmp(IntCC::Slt, count, fixed.rounds);
                self.b.ins().brif(more, body, &[], done, &[sum]);
            }
        }
        self.b.switch_to_block(body);
        self.values.push(sum);
        let mut added = sum;
        for _ in 0..self.u.int_in_range(1..=3)? {
            added = self.part_of_round(pointers, &fixed, count, added, outer.is_some())?;
        }
        if self.u.ratio(1, 6)? {
            let on = self.b.create_block();
            let leave = self.condition()?;
            self.b.ins().brif(leave, done, &[added], on, &[]);
            self.b.switch_to_block(on);
        }
        let step = self.number(Type::I32, step);
        let next = self.promise(Opcode::Iadd, count, step);
        match at_end {
            true => {
                let more = self.b.ins().icmp(IntCC::Slt, next, fixed.rounds);
                self.b.ins().brif(more, head, &[next, added], done, &[added]);
            }
            false => drop(self.b.ins().jump(head, &[next, added])),
        }
        self.b.switch_to_block(done);
        self.values.truncate(known);
        Ok(result)
    }

    /// Something that a round adds to the sum.
    fn part_of_round(
        &mut self,
        pointers: &Pointers,
        fixed: &Fixed,
        count: Value,
        sum: Value,
        is_inner: bool,
    ) -> Result<Value> {
        match self.u.int_in_range(0..=8)? {
            0 if !is_inner => {
                // The counter of the loop around is added to the index within, and may be negative no more than twice.
                let zero = self.number(Type::I32, 0);
                let row = self.b.ins().smax(count, zero);
                self.rounds(pointers, sum, Some(row))
            }
            1 => self.product_that_fits(count, sum, fixed.factors),
            2 => {
                let known = self.values.len();
                self.dot()?;
                let dot = self.values.get(known).copied();
                self.values.truncate(known);
                let dot = dot.unwrap_or(count);
                let wide = self.b.ins().sext(Type::I64, dot);
                Ok(self.b.ins().iadd(sum, wide))
            }
            3 => {
                self.short_circuit()?;
                let met = self.value(Type::I64)?;
                Ok(self.b.ins().bxor(sum, met))
            }
            8 => {
                // Of what is copied with the loop, some is more than an operation of its operands.
                let fields = match self.u.int_in_range(0..=3)? {
                    0 if !self.helpers.is_empty() => self.call().map(|()| None)?,
                    1 if self.config.aggregates => self.aggregate().map(|()| None)?,
                    _ => self.struct_fields(count)?,
                };
                let more = match fields {
                    Some(fields) => fields,
                    None => self.value(Type::I64)?,
                };
                Ok(self.b.ins().bxor(sum, more))
            }
            4 => {
                // What is fixed is found in the middle.
                let [a, b] = fixed.factors;
                let (x, y) = (self.b.ins().imul(count, a), self.b.ins().iadd(count, b));
                let x = self.b.ins().imul(x, b);
                let both = self.b.ins().iadd(x, y);
                let both = self.b.ins().iadd(both, a);
                let wide = self.b.ins().zext(Type::I64, both);
                Ok(self.b.ins().iadd(sum, wide))
            }
            _ => {
                let ty = *self.u.choose(&[Type::I32, Type::I32, Type::I8, Type::I64, Type::I16])?;
                let place = self.element(pointers, fixed, count, ty)?;
                let value = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
                let value = match ty == Type::I64 {
                    true => value,
                    false if self.u.ratio(1, 2)? => self.b.ins().sext(Type::I64, value),
                    false => self.b.ins().zext(Type::I64, value),
                };
                self.values.push(value);
                match self.u.int_in_range(0..=3)? {
                    0 => Ok(self.b.ins().bxor(sum, value)),
                    1 => Ok(self.b.ins().umax(sum, value)),
                    _ => Ok(self.b.ins().iadd(sum, value)),
                }
            }
        }
    }

    /// The address of an element that a round reads. The counter is at least -2, so that indices begin 16 elements behind the start of the input.
    fn element(&mut self, pointers: &Pointers, fixed: &Fixed, count: Value, ty: Type) -> Result<Value> {
        let size = ty.bytes().unwrap_or(1);
        let scale = size as i32;
        let input = self.b.ins().ptradd_imm(pointers.input, i64::from(16 * size));
        Ok(match self.u.int_in_range(0..=10)? {
            10 => {
                let sum = self.b.ins().iadd(count, fixed.more);
                self.by_row_and_column(input, sum, scale)?
            }
            0 => {
                let product = self.promise(Opcode::Imul, count, fixed.stride);
                let wide = self.b.ins().sext(Type::I64, product);
                let bytes = self.b.ins().imul_imm(wide, size.into());
                self.b.ins().ptradd(input, bytes)
            }
            1 => {
                let product = self.promise(Opcode::Imul, count, fixed.stride);
                self.b.ins().index(input, product, scale)
            }
            2 | 3 => {
                // Rows behind each other.
                let product = self.promise(Opcode::Imul, count, fixed.stride);
                let flat = self.promise(Opcode::Iadd, product, fixed.more);
                self.b.ins().index(input, flat, scale)
            }
            4 => {
                let product = self.promise(Opcode::Imul, count, fixed.stride);
                let row = self.b.ins().index(input, product, scale);
                self.b.ins().index(row, fixed.more, scale)
            }
            5 => {
                // A column of a matrix.
                let product = self.promise(Opcode::Imul, fixed.more, fixed.stride);
                let flat = self.promise(Opcode::Iadd, count, product);
                self.b.ins().index(input, flat, scale)
            }
            6 => {
                let (by, more) = (self.u.int_in_range(2..=7)?, self.u.int_in_range(0..=3)?);
                let [by, more] = [by, more].map(|number| self.number(Type::I32, number));
                let multiple = self.promise(Opcode::Imul, count, by);
                let index = self.promise(Opcode::Iadd, multiple, more);
                self.b.ins().index(input, index, scale)
            }
            7 => {
                let wide = self.b.ins().sext(Type::I64, count);
                let bytes = self.b.ins().imul_imm(wide, size.into());
                self.b.ins().ptradd(input, bytes)
            }
            8 => {
                let index = self.promise(Opcode::Isub, count, fixed.more);
                self.b.ins().index(input, index, scale)
            }
            _ => self.b.ins().index(input, count, scale),
        })
    }

    /// The address of an element, below 64, that is found by row and column of one number; the rows are mostly as long as columns are many.
    fn by_row_and_column(&mut self, base: Value, x: Value, scale: i32) -> Result<Value> {
        let most = self.number(Type::I32, 63);
        // A mask would be taken into those of row and column.
        let x = if self.u.ratio(1, 4)? { self.b.ins().band(x, most) } else { self.b.ins().umin(x, most) };
        let by = self.u.int_in_range(1..=3)?;
        let bits = if self.u.ratio(1, 2)? { by } else { self.u.int_in_range(1..=3)? };
        let row = self.b.ins().lshr_imm(x, by);
        let column = self.b.ins().band_imm(x, (1 << bits) - 1);
        let place = self.b.ins().index(base, row, scale << by);
        Ok(self.b.ins().index(place, column, scale))
    }

    /// An element of the input that is found by row and column, `tile[t / 8][t % 8]`.
    pub(super) fn tile(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let ty = *self.u.choose(&[Type::I32, Type::I8, Type::I64])?;
        let x = self.value(Type::I32)?;
        let place = self.by_row_and_column(pointers.input, x, ty.bytes().unwrap_or(1) as i32)?;
        let value = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
        self.values.push(value);
        Ok(())
    }

    /// The sum of fields of the structs of an array, whose elements are found by a number of which the last three bits count. All fields are pushed. `None`
    /// if none is an integer.
    pub(super) fn struct_fields(&mut self, count: Value) -> Result<Option<Value>> {
        let Some(pointers) = self.pointers else { return Ok(None) };
        let types = self.flavour.types.iter().copied().filter(|ty| ty.is_aggregate());
        let types: Vec<Type> =
            types.filter(|ty| self.b.module().types.size(*ty) <= u64::from(STRUCT_BYTES)).collect();
        if types.is_empty() {
            return Ok(None);
        }
        let ty = *self.u.choose(&types)?;
        let element = self.b.ins().band_imm(count, 7);
        let place = self.b.ins().index(pointers.input, element, STRUCT_BYTES as i32);
        let whole = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
        let mut sum: Option<Value> = None;
        for _ in 0..self.u.int_in_range(1..=3)? {
            let (path, part) = self.path(ty)?;
            let field = self.b.ins().extract_value(part, whole, &path);
            self.values.push(field);
            sum = self.plus(sum, field);
        }
        Ok(sum)
    }

    /// A product of a number that changes and two that do not, computed where it does not wrap: whether it would is asked of one of 64 bits. Their own product
    /// may wrap even so, where the third factor is 0 or -1.
    fn product_that_fits(&mut self, count: Value, sum: Value, [a, b]: [Value; 2]) -> Result<Value> {
        let (then, next) = (self.b.create_block(), self.b.create_block());
        let met = self.b.append_block_param(next, Type::I64);
        let [wide, wide_a, wide_b] = [count, a, b].map(|value| self.b.ins().sext(Type::I64, value));
        let once = self.b.ins().imul(wide, wide_a);
        let twice = self.b.ins().imul(once, wide_b);
        let fits = [once, twice].map(|product| {
            let word = self.b.ins().trunc(Type::I32, product);
            let back = self.b.ins().sext(Type::I64, word);
            self.b.ins().icmp(IntCC::Eq, back, product)
        });
        let both = self.b.ins().band(fits[0], fits[1]);
        self.b.ins().brif(both, then, &[], next, &[sum]);
        self.b.switch_to_block(then);
        let (first, last) = if self.u.ratio(1, 4)? { (a, count) } else { (count, a) };
        let product = self.promise(Opcode::Imul, first, last);
        let product = self.promise(Opcode::Imul, product, b);
        let product = self.b.ins().sext(Type::I64, product);
        let by = self.b.ins().iconst(Type::I64, *self.u.choose(&[1, 4, 8])?);
        let product = self.b.ins().imul(product, by);
        let added = self.b.ins().iadd(sum, product);
        self.b.ins().jump(next, &[added]);
        self.b.switch_to_block(next);
        Ok(met)
    }

    /// A loop that stays one, over the words of a stack slot: its counter may be an address.
    fn slot_loop(&mut self, pointers: &Pointers, start: Value) -> Result<Value> {
        let Some(slot) = pointers.slot else { return Ok(start) };
        let rounds = self.u.int_in_range(2i64..=8)?;
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, Type::I64);
        let base = self.b.ins().stack_addr(slot, 0);
        let (zero, more) = (self.number(Type::I32, 0), self.value(Type::I64)?);
        self.b.set_loop_hint(head, LoopHint::NoUnroll);
        self.b.ins().jump(head, &[zero, start]);
        self.b.switch_to_block(head);
        let place = self.b.ins().index(base, count, 8);
        let value = self.b.ins().load(Type::I64, MemFlags::PLAIN, place, 0);
        let added = self.b.ins().iadd(sum, value);
        if self.u.ratio(1, 2)? {
            let changed = self.b.ins().bxor(value, more);
            self.b.ins().store(MemFlags::PLAIN, changed, place, 0);
        }
        let one = self.number(Type::I32, 1);
        let next = self.promise(Opcode::Iadd, count, one);
        let end = self.number(Type::I32, rounds);
        let goes_on = self.b.ins().icmp(if self.u.ratio(1, 2)? { IntCC::Ne } else { IntCC::Slt }, next, end);
        self.b.ins().brif(goes_on, head, &[next, added], done, &[]);
        self.b.switch_to_block(done);
        Ok(added)
    }

    /// A loop over the thread's part of the output that reads what an earlier round wrote: the last, the one before it, or at one place all of them. Another store
    /// may be to the same bytes.
    fn recurrence(&mut self, pointers: &Pointers, start: Value) -> Result<Value> {
        if self.u.ratio(1, 2)? {
            return self.mirrored(pointers, start);
        }
        let rounds = self.below_eight()?;
        let distance = self.u.int_in_range(0i64..=2)?;
        let stays = distance == 0;
        let stride = if self.u.ratio(1, 2)? { self.number(Type::I32, 1) } else { self.one_or_two()? };
        let (first, one) = (self.number(Type::I32, distance), self.number(Type::I32, 1));
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, Type::I64);
        let result = self.b.append_block_param(done, Type::I64);
        let any = self.b.ins().icmp(IntCC::Slt, first, rounds);
        self.b.ins().brif(any, head, &[first, start], done, &[start]);
        self.b.switch_to_block(head);
        let back = self.number(Type::I32, -distance);
        let before = self.promise(Opcode::Iadd, count, back);
        let index = |generator: &mut Self, count: Value| match stays {
            true => one,
            false => generator.promise(Opcode::Imul, count, stride),
        };
        let (from, to) = (index(self, before), index(self, count));
        let from = self.b.ins().index(pointers.own, from, 4);
        let old = self.b.ins().load(Type::I32, MemFlags::PLAIN, from, 0);
        let at = self.b.ins().index(pointers.input, count, 4);
        let more = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
        let turned = self.b.ins().rotl(old, one);
        let new = self.b.ins().bxor(turned, more);
        let to = self.b.ins().index(pointers.own, to, 4);
        self.b.ins().store(MemFlags::PLAIN, new, to, 0);
        if self.u.ratio(1, 4)? {
            // Between this round's store and the load of the next.
            let place = self.random_place(pointers.own, 4, 32)?;
            self.b.ins().store(MemFlags::PLAIN, more, place, 0);
        }
        let wide = self.b.ins().zext(Type::I64, old);
        let added = self.b.ins().iadd(sum, wide);
        let next = self.promise(Opcode::Iadd, count, one);
        let goes_on = self.b.ins().icmp(IntCC::Slt, next, rounds);
        self.b.ins().brif(goes_on, head, &[next, added], done, &[added]);
        self.b.switch_to_block(done);
        Ok(result)
    }

    /// A loop over the thread's part of the output that reads as far before or behind a place that moves on as it writes.
    fn mirrored(&mut self, pointers: &Pointers, start: Value) -> Result<Value> {
        let (rounds, distance) = (self.below_eight()?, self.below_eight()?);
        let (zero, one, middle) =
            (self.number(Type::I32, 0), self.number(Type::I32, 1), self.number(Type::I32, 8));
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, Type::I64);
        self.b.ins().jump(head, &[zero, start]);
        self.b.switch_to_block(head);
        let place = self.promise(Opcode::Iadd, count, middle);
        let ops = if self.u.ratio(2, 3)? {
            [Opcode::Isub, Opcode::Iadd]
        } else {
            [*self.u.choose(&[Opcode::Isub, Opcode::Iadd])?; 2]
        };
        let [from, to] = ops.map(|op| {
            let index = self.promise(op, place, distance);
            self.b.ins().index(pointers.own, index, 4)
        });
        let old = self.b.ins().load(Type::I32, MemFlags::PLAIN, from, 0);
        let added = self.b.ins().sext(Type::I64, old);
        let added = self.b.ins().iadd(sum, added);
        let new = self.b.ins().trunc(Type::I32, added);
        let new = self.b.ins().iadd(new, place);
        self.b.ins().store(MemFlags::PLAIN, new, to, *self.u.choose(&[4, 4, 0, -4])?);
        let next = self.promise(Opcode::Iadd, count, one);
        let goes_on = self.b.ins().icmp(IntCC::Slt, next, rounds);
        self.b.ins().brif(goes_on, head, &[next, added], done, &[]);
        self.b.switch_to_block(done);
        Ok(added)
    }

    /// One or two, which no compiler knows.
    fn one_or_two(&mut self) -> Result<Value> {
        let value = self.value(Type::I32)?;
        let one = self.number(Type::I32, 1);
        let low = self.b.ins().band(value, one);
        Ok(self.b.ins().iadd(low, one))
    }

    /// A number from 0 to 7, mostly one that no compiler knows.
    pub(super) fn below_eight(&mut self) -> Result<Value> {
        if self.u.ratio(1, 8)? {
            let number = self.u.int_in_range(0..=7)?;
            return Ok(self.number(Type::I32, number));
        }
        let value = self.value(Type::I32)?;
        let seven = self.number(Type::I32, 7);
        Ok(self.b.ins().band(value, seven))
    }

    /// One of two numbers, by a truth.
    fn factor(&mut self) -> Result<Value> {
        let (x, y) = (*self.u.choose(&FACTORS)?, *self.u.choose(&FACTORS)?);
        let (x, y) = (self.number(Type::I32, x), self.number(Type::I32, y));
        let which = self.value(Type::I1)?;
        Ok(self.b.ins().select(which, x, y))
    }
}
