//! What threads do together, where all of a block are: barriers with an exchange through shared memory, and the operations of a warp.

use super::scope::Class;
use super::{Generator, line};
use arbitrary::Result;
use warpsmith_isa::Version;

impl Generator<'_, '_, '_> {
    /// One of them.
    pub(super) fn jointly(&mut self) -> Result<()> {
        let choice = self.u.int_in_range(0..=7)?;
        // ptxas reads no component before `|`, and none at all where it expands these to text of its own: below sm_90, or `.version` 7.8.
        let value = self.plain_register(Class::B32)?;
        let result = self.plain_register(Class::B32)?;
        let predicate = self.register(Class::Pred)?;
        let (Some(value), Some(result), Some(predicate)) = (value, result, predicate) else { return Ok(()) };
        self.one_of(choice, &value, &result, &predicate)?;
        self.account(&result);
        self.account(&predicate);
        Ok(())
    }

    fn one_of(&mut self, choice: u32, value: &str, result: &str, predicate: &str) -> Result<()> {
        match choice {
            0 | 7 => self.exchange(value, result),
            1 => {
                let mode = *self.u.choose(&["up", "down", "bfly", "idx"])?;
                let lane = self.u.int_in_range(0..=31)?;
                // Of the whole warp, or of each half, quarter and so on.
                let width = 32 >> self.u.int_in_range(0..=4)?;
                let clamp = (32 - width) << 8 | if mode == "up" { 0 } else { 31 };
                if self.u.ratio(1, 2)? {
                    line!(
                        self,
                        "shfl.sync.{mode}.b32 {result}|{predicate}, {value}, {lane}, {clamp}, 0xffffffff;"
                    );
                } else {
                    line!(self, "shfl.sync.{mode}.b32 {result}, {value}, {lane}, {clamp}, 0xffffffff;");
                }
                Ok(())
            }
            2 => {
                let mode = *self.u.choose(&["all", "any", "uni"])?;
                line!(self, "vote.sync.{mode}.pred {predicate}, {predicate}, 0xffffffff;");
                Ok(())
            }
            3 => {
                line!(self, "vote.sync.ballot.b32 {result}, {predicate}, 0xffffffff;");
                Ok(())
            }
            4 => {
                if self.u.ratio(1, 3)? {
                    // Of words that may all be alike, and such as are not.
                    line!(self, "and.b32 %s0, {value}, 1;");
                    line!(self, "mov.b64 %t0, {{%s0, {value}}};");
                    line!(self, "match.any.sync.b64 {result}, %t0, 0xffffffff;");
                } else if self.u.ratio(1, 2)? {
                    line!(self, "match.any.sync.b32 {result}, {value}, 0xffffffff;");
                } else {
                    line!(self, "match.all.sync.b32 {result}|{predicate}, {value}, 0xffffffff;");
                }
                Ok(())
            }
            5 if self.has_redux() => {
                let operation =
                    *self.u.choose(&["add.s32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"])?;
                self.needs(Version::new(7, 0));
                line!(self, "redux.sync.{operation} {result}, {value}, 0xffffffff;");
                Ok(())
            }
            _ => {
                match self.u.int_in_range(0..=4)? {
                    0 => self.barrier()?,
                    1 if self.has_elect() => {
                        // Which lane it is may not show; that it is one does.
                        self.needs(Version::new(8, 0));
                        line!(self, "elect.sync _|%c1, 0xffffffff;");
                        line!(self, "@%c1 red.global.add.u32 [totals], 1;");
                    }
                    2 => line!(self, "bar.red.or.pred {predicate}, 0, {predicate};"),
                    3 => line!(self, "bar.red.popc.u32 {result}, 0, {predicate};"),
                    _ => line!(self, "bar.red.and.pred {predicate}, 0, {predicate};"),
                }
                Ok(())
            }
        }
    }

    /// The last that lanes do together, when some have ended, or are about to: for those nobody waits.
    pub(super) fn last_vote(&mut self) -> Result<()> {
        let first = self.u.int_in_range(1..=31)?;
        let end = self.label();
        line!(self, "mov.u32 %s0, %laneid;");
        line!(self, "setp.ge.u32 %c0, %s0, {first};");
        line!(self, "@%c0 bra {end};");
        line!(self, "vote.sync.ballot.b32 %s1, 1, 0xffffffff;");
        line!(self, "st.global.b32 [%own+8], %s1;");
        self.place_label(&end);
        Ok(())
    }

    fn has_redux(&self) -> bool {
        self.target.sm >= 80
    }

    fn has_elect(&self) -> bool {
        self.target.sm >= 90
    }

    /// Each thread counts itself in, and the last of the launch, whichever it is, sums up what all have written: what is written before an arrival with
    /// release semantics is seen behind one that acquires. The variants order it by the access itself, or by fences around it.
    pub(super) fn last_arrival(&mut self) -> Result<()> {
        let (head, end) = (self.label(), self.label());
        match self.u.int_in_range(0..=3)? {
            0 => line!(self, "atom.acq_rel.gpu.global.add.u32 %s0, [arrived], 1;"),
            1 => line!(self, "atom.global.acq_rel.sys.inc.u32 %s0, [arrived], 0xffff;"),
            2 => {
                line!(self, "membar.gl;");
                line!(self, "atom.global.add.u32 %s0, [arrived], 1;");
                line!(self, "membar.gl;");
            }
            _ => {
                line!(self, "fence.acq_rel.gpu;");
                line!(self, "atom.relaxed.gpu.global.add.u32 %s0, [arrived], 1;");
                line!(self, "fence.acq_rel.gpu;");
            }
        }
        // Where nothing is done together, threads beyond the count have gone.
        match self.together {
            true => line!(self, "mov.u32 %s1, {};", crate::GRID * crate::BLOCK),
            false => line!(self, "mov.u32 %s1, %count;"),
        }
        line!(self, "sub.u32 %s2, %s1, 1;");
        line!(self, "setp.ne.u32 %c0, %s0, %s2;");
        line!(self, "@%c0 bra {end};");
        line!(self, "ld.param.u64 %t0, [out];");
        line!(self, "cvta.to.global.u64 %t0, %t0;");
        line!(self, "mov.b64 %h, 0;");
        self.place_label(&head);
        line!(self, "ld.global.u64 %t1, [%t0];");
        line!(self, "mad.lo.u64 %h, %h, 31, %t1;");
        line!(self, "add.s64 %t0, %t0, {};", crate::BYTES_PER_THREAD);
        line!(self, "sub.u32 %s1, %s1, 1;");
        line!(self, "setp.ne.u32 %c0, %s1, 0;");
        line!(self, "@%c0 bra {head};");
        line!(self, "red.global.add.u64 [totals+64], %h;");
        self.place_label(&end);
        Ok(())
    }

    /// All threads of the block wait for each other.
    fn barrier(&mut self) -> Result<()> {
        self.barrier_after(None)
    }

    /// All threads of the block wait for each other, each after it has done something: at one of the barriers, and some say how many they are.
    fn barrier_after(&mut self, before: Option<&str>) -> Result<()> {
        let name = *self.u.choose(&["bar.sync", "barrier.sync", "barrier.sync.aligned"])?;
        let number = *self.u.choose(&[0, 1, 15])?;
        let text = match self.u.ratio(1, 2)? {
            true => format!("{name} {number}, {};", crate::BLOCK),
            false => format!("{name} {number};"),
        };
        // Without `.aligned` the threads of a warp may come one by one, and from different places.
        match self.register(Class::Pred)? {
            Some(condition) if name == "barrier.sync" && self.u.ratio(1, 2)? => {
                let (other, end) = (self.label(), self.label());
                line!(self, "@{condition} bra {other};");
                before.into_iter().for_each(|before| self.line(before));
                self.line(&text);
                line!(self, "bra {end};");
                self.place_label(&other);
                before.into_iter().for_each(|before| self.line(before));
                self.line(&text);
                self.place_label(&end);
            }
            _ => {
                before.into_iter().for_each(|before| self.line(before));
                self.line(&text);
            }
        }
        Ok(())
    }

    /// Every thread reads what its neighbour has written.
    fn exchange(&mut self, value: &str, result: &str) -> Result<()> {
        let distance = self.u.int_in_range(1..=crate::BLOCK - 1)?;
        let store = format!("st.shared.b32 [%shr], {value};");
        self.barrier_after(Some(&store))?;
        line!(self, "add.s32 %s0, %own_tid, {distance};");
        line!(self, "and.b32 %s0, %s0, {};", crate::BLOCK - 1);
        line!(self, "mov.u32 %s1, scratch;");
        line!(self, "mad.lo.u32 %s1, %s0, 32, %s1;");
        line!(self, "ld.shared.b32 {result}, [%s1];");
        self.barrier()
    }
}
