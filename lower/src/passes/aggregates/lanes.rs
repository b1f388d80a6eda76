//! Structs and arrays between the lanes of a warp: part by part.

use super::memory::Form;
use super::split::Splitter;
use warpsmith_ir::{Attr, Inst, InstBuilder, Opcode, ShuffleKind, Type, Value};

impl Splitter<'_> {
    /// An operation whose first operand is a struct or array, if it is one that takes any type.
    pub(super) fn lanes(&mut self, inst: Inst, op: Opcode, attr: &Attr, args: &[Value]) {
        match (op, attr, args) {
            (Opcode::Shfl, Attr::Shuffle(kind), &[whole, lane, mask]) => {
                let form = self.shuffle(inst, *kind, whole, [lane, mask]);
                self.become_form(inst, form);
            }
            (Opcode::MatchAny, _, &[whole, mask]) => {
                let mut alike = mask;
                for part in self.all_parts(inst, whole) {
                    let found = self.func.before(inst).match_any(part, mask);
                    alike = self.func.before(inst).band(alike, found);
                }
                self.become_values(inst, &[alike]);
            }
            (Opcode::MatchAll, _, &[whole, mask]) => {
                let mut all = self.func.before(inst).iconst(Type::I1, 1);
                for part in self.all_parts(inst, whole) {
                    let (_, equal) = self.func.before(inst).match_all(part, mask);
                    all = self.func.before(inst).band(all, equal);
                }
                let none = self.func.before(inst).iconst(Type::I32, 0);
                let alike = self.func.before(inst).select(all, mask, none);
                self.become_values(inst, &[alike, all]);
            }
            _ => {}
        }
    }

    fn shuffle(&mut self, inst: Inst, kind: ShuffleKind, whole: Value, [lane, mask]: [Value; 2]) -> Form {
        let ty = self.func.dfg.ty(whole);
        let parts = self.all_parts(inst, whole);
        let read =
            parts.into_iter().map(|part| self.func.before(inst).shfl(kind, part, lane, mask)).collect();
        self.of_parts(inst, ty, read)
    }

    fn become_values(&mut self, inst: Inst, values: &[Value]) {
        for (result, value) in self.func.dfg.results(inst).into_iter().zip(values) {
            self.func.dfg.replace_value(result, *value);
        }
        self.changes += 1;
        self.func.layout.remove_inst(inst);
    }
}
