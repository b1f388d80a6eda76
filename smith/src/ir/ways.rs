//! Ways that do something besides computing: which of them a thread goes is seen in memory, so that a branch stays one.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{Block, InstBuilder, InstData, IntCC, MemFlags, Opcode, Type, Value};

/// Where a first condition leads if it does not lead to the second, and where that leads: 0 is where all meet, 1 a store, and 2 a store of what takes longer.
/// What stands here twice is drawn twice as often.
const ENDS: [[usize; 3]; 7] = [[0, 1, 2], [1, 1, 0], [0, 1, 2], [0, 2, 1], [0, 2, 1], [1, 0, 1], [1, 1, 0]];

/// The words of the thread's memory that nothing else of the program writes so often.
const FIRST_WORD: i32 = 48;

impl Generator<'_, '_, '_> {
    /// Two conditions, the second of which one way from the first leads to; maybe two more behind them.
    pub(super) fn nested_ways(&mut self) -> Result<()> {
        for _ in 0..self.u.int_in_range(1..=2)? {
            self.two_conditions()?;
        }
        Ok(())
    }

    fn two_conditions(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let stored = [self.value(Type::I32)?, self.value(Type::I32)?];
        let place = 4 * (FIRST_WORD + self.u.int_in_range(0..=10)?);
        let a = self.condition()?;
        let [second, short, long, join] = [(); 4].map(|()| self.b.create_block());
        let ends = self.u.choose(&ENDS)?.map(|end| [join, short, long][end]);
        self.either_way(a, second, ends[0])?;

        self.b.switch_to_block(second);
        let b = match self.u.ratio(1, 3)? {
            true => {
                // What waits for memory is not asked together with the first.
                let place = 4 * self.u.int_in_range(0..=63)?;
                let word = self.b.ins().load(Type::I32, MemFlags::PLAIN, pointers.input, place);
                let zero = self.number(Type::I32, 0);
                self.b.ins().icmp(*self.u.choose(&[IntCC::Slt, IntCC::Eq])?, word, zero)
            }
            false => self.condition()?,
        };
        self.either_way(b, ends[1], ends[2])?;

        self.b.switch_to_block(short);
        self.b.ins().store(MemFlags::PLAIN, stored[0], pointers.own, place);
        self.b.ins().jump(join, &[]);

        self.b.switch_to_block(long);
        let mut made = stored[1];
        for n in 0..self.u.int_in_range(4..=9)? {
            let op = if n % 2 == 0 { Opcode::Imul } else { Opcode::Bxor };
            made = self.b.ins().regular(InstData::Binary { op, args: [made, stored[n % 2]] }, None);
        }
        self.b.ins().store(MemFlags::PLAIN, made, pointers.own, place + 4);
        self.b.ins().jump(join, &[]);

        self.b.switch_to_block(join);
        for place in [place, place + 4] {
            let value = self.b.ins().load(Type::I32, MemFlags::PLAIN, pointers.own, place);
            self.values.push(value);
        }
        Ok(())
    }

    fn either_way(&mut self, condition: Value, one: Block, other: Block) -> Result<()> {
        let (yes, no) = if self.u.ratio(1, 2)? { (one, other) } else { (other, one) };
        self.b.ins().brif(condition, yes, &[], no, &[]);
        Ok(())
    }

    /// A branch on two comparisons with constants at once, and behind it, on both ways, what depends on how one of them came out.
    pub(super) fn known_behind(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let ty = *self.u.choose(&[Type::I32, Type::I32, Type::I64, Type::I16])?;
        let (x, y) = (self.value(ty)?, self.value(Type::I32)?);
        let limit = self.u.int_in_range(-2i64..=9)?;
        let first = self.compared_with(ty, x, limit)?;
        let second = match self.u.ratio(1, 2)? {
            true => self.condition()?,
            false => self.compared_with(Type::I32, y, 0)?,
        };
        let mut both = match self.u.ratio(1, 2)? {
            true => self.b.ins().band(first, second),
            false => self.b.ins().bor(first, second),
        };
        if self.u.ratio(1, 4)? {
            both = self.b.ins().bnot(both);
        }
        let [yes, no, join] = [(); 3].map(|()| self.b.create_block());
        let met = self.b.append_block_param(join, ty);
        let said = self.b.append_block_param(join, Type::I1);
        self.b.ins().brif(both, yes, &[], no, &[]);
        for (n, way) in [yes, no].into_iter().enumerate() {
            self.b.switch_to_block(way);
            let place = 4 * (FIRST_WORD + n as i32);
            self.b.ins().store(MemFlags::PLAIN, y, pointers.own, place);
            let by = self.u.int_in_range(1..=ty.bits() - 2)?;
            let made = match self.u.int_in_range(0..=2)? {
                0 => self.b.ins().ashr_imm(x, by),
                1 => {
                    let by = self.number(ty, 1 << by.min(5));
                    self.b.ins().sdiv(x, by)
                }
                _ => {
                    let by = self.number(ty, 7);
                    self.b.ins().srem(x, by)
                }
            };
            let near = limit + self.u.int_in_range(-1i64..=1)?;
            let asked = self.compared_with(ty, x, near)?;
            self.b.ins().jump(join, &[made, asked]);
        }
        self.b.switch_to_block(join);
        self.values.extend([met, said]);
        Ok(())
    }

    fn compared_with(&mut self, ty: Type, x: Value, number: i64) -> Result<Value> {
        let number = self.number(ty, number);
        let conds = [IntCC::Slt, IntCC::Sge, IntCC::Sgt, IntCC::Sle, IntCC::Eq, IntCC::Ult];
        Ok(self.b.ins().icmp(*self.u.choose(&conds)?, x, number))
    }
}
