//! What threads do together, where all of a block are: barriers with an exchange through shared memory, and the operations of a warp.

use super::scope::Class;
use super::{Generator, line};
use arbitrary::Result;
use warpsmith_isa::Version;

impl Generator<'_, '_, '_> {
    /// One of them.
    pub(super) fn jointly(&mut self) -> Result<()> {
        let choice = self.u.int_in_range(0..=6)?;
        let value = self.register(Class::B32)?;
        // ptxas reads no component before `|`.
        let result = self.register(Class::B32)?.filter(|name| !name.contains('.'));
        let predicate = self.register(Class::Pred)?;
        let (Some(value), Some(result), Some(predicate)) = (value, result, predicate) else { return Ok(()) };
        match choice {
            0 => self.exchange(&value, &result),
            1 => {
                let mode = *self.u.choose(&["up", "down", "bfly", "idx"])?;
                let lane = self.u.int_in_range(0..=31)?;
                let clamp = if mode == "up" { 0 } else { 31 };
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
                if self.u.ratio(1, 2)? {
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
                match self.u.int_in_range(0..=2)? {
                    0 => line!(self, "barrier.sync 0;"),
                    1 => line!(self, "bar.red.popc.u32 {result}, 0, {predicate};"),
                    _ => line!(self, "bar.red.and.pred {predicate}, 0, {predicate};"),
                }
                Ok(())
            }
        }
    }

    fn has_redux(&self) -> bool {
        // What is legal at sm_80 is what the catalog of that target has more of.
        !std::ptr::eq(self.catalog, super::catalog::of_target(super::TARGETS[0]))
    }

    /// Every thread reads what its neighbour has written.
    fn exchange(&mut self, value: &str, result: &str) -> Result<()> {
        let distance = self.u.int_in_range(1..=crate::BLOCK - 1)?;
        line!(self, "st.shared.b32 [%shr], {value};");
        line!(self, "bar.sync 0;");
        line!(self, "add.s32 %s0, %own_tid, {distance};");
        line!(self, "and.b32 %s0, %s0, {};", crate::BLOCK - 1);
        line!(self, "mov.u32 %s1, scratch;");
        line!(self, "mad.lo.u32 %s1, %s0, 32, %s1;");
        line!(self, "ld.shared.b32 {result}, [%s1];");
        line!(self, "bar.sync 0;");
        Ok(())
    }
}
