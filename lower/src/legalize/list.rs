//! Operations whose operands are a list: what each of them becomes, or where that is said.

use super::*;
use warpsmith_ir::mnemonic;

impl Legalizer<'_> {
    /// An operation of a list of operands, with what its attribute says.
    pub(super) fn list(
        &mut self,
        inst: Inst,
        op: ListOp,
        attr: &Attr,
        types: &[Type],
        to: Type,
        args: &[Value],
    ) {
        let made = match (op, attr) {
            (ListOp::Bfi, _) => Some(self.bit_field_insert_lanes(to, [args[0], args[1], args[2], args[3]])),
            (ListOp::Shuffle, Attr::Lanes(lanes)) => {
                let mut all = self.elements(args[0]);
                all.extend(self.elements(args[1]));
                let picked: Values = lanes.iter().map(|lane| all[usize::from(*lane)]).collect();
                Some(self.build(to, &picked))
            }
            (ListOp::Reduce, Attr::With(with)) => {
                let elements = self.elements(args[0]);
                let mut sum = elements[0];
                for &element in &elements[1..] {
                    sum = self.binary(*with, to, sum, element);
                }
                Some(sum)
            }
            (ListOp::ExtractAt, _) => Some(self.extract_at(to, args[0], args[1])),
            (ListOp::InsertAt, _) => Some(self.insert_at(to, args[0], args[1], args[2])),
            (
                ListOp::AtomicLoad
                | ListOp::AtomicStore
                | ListOp::AtomicRmw
                | ListOp::Cmpxchg
                | ListOp::Fence,
                Attr::Memory(mode),
            ) => return self.atomic(inst, op, *mode, types, to, args),
            (ListOp::Shfl, Attr::Shuffle(kind)) => Some(self.shuffle_lanes(*kind, types[0], args)),
            (ListOp::Vote, Attr::Vote(kind)) => Some(self.vote(*kind, args)),
            (ListOp::Ballot, _) => {
                Some(self.ins().ptx(mnemonic!("vote.sync.ballot.b32"), (args[0], args[1])).first())
            }
            (ListOp::MatchAny | ListOp::MatchAll, _) => {
                return self.match_lanes(inst, op == ListOp::MatchAll, types[0], args);
            }
            (ListOp::WarpReduce, Attr::With(with)) => Some(self.warp_reduce(inst, *with, types[0], args)),
            (ListOp::WarpSync, _) => {
                self.ins().ptx(mnemonic!("bar.warp.sync"), (args[0],));
                None
            }
            (ListOp::Activemask, _) => Some(self.ins().ptx(mnemonic!("activemask.b32"), ()).first()),
            (ListOp::Barrier, _) => {
                self.ins().ptx(mnemonic!("bar.sync"), (0,));
                None
            }
            (ListOp::Printf, Attr::Text(format)) => Some(self.printf(inst, format, args)),
            (ListOp::Assert, Attr::Text(message)) => return self.assert(inst, message, args[0]),
            (ListOp::Malloc, _) => self.system(inst, "malloc", &[Type::I64], Some(Type::PTR), &[args[0]]),
            (ListOp::Free, _) => {
                let generic = self.generic(args[0]);
                self.system(inst, "free", &[Type::PTR], None, &[generic])
            }
            (ListOp::Nanosleep, _) => {
                if self.has_sm(70) {
                    self.ins().ptx(mnemonic!("nanosleep.u32"), (args[0],));
                }
                None
            }
            (ListOp::Unreachable, _) => return self.func.dfg.replace_inst(inst, InstData::Trap),
            (ListOp::Assume, _) => None,
            (ListOp::Expect, _) => {
                // A value of its own, which keeps the type it has in the source.
                let ty = self.func.dfg.ty(args[0]);
                Some(match ty == Type::I1 {
                    true => args[0],
                    false => self.raw_convert(Opcode::Bitcast, ty, args[0]),
                })
            }
            (
                ListOp::Shuffle
                | ListOp::Reduce
                | ListOp::AtomicLoad
                | ListOp::AtomicStore
                | ListOp::AtomicRmw
                | ListOp::Cmpxchg
                | ListOp::Fence
                | ListOp::Shfl
                | ListOp::Vote
                | ListOp::WarpReduce
                | ListOp::Printf
                | ListOp::Assert,
                _,
            ) => return self.no_rule(inst, op.into()),
        };
        match made {
            Some(made) => self.replace_all(inst, &[made]),
            None => self.func.layout.remove_inst(inst),
        }
    }

    /// `extract_at`: zero, or the one element whose number it is.
    fn extract_at(&mut self, to: Type, vector: Value, at: Value) -> Value {
        let mut found = self.zero(to);
        for (lane, element) in self.elements(vector).into_iter().enumerate() {
            let here = self.is_lane(at, lane);
            found = self.select(to, [here, element, found]);
        }
        found
    }

    fn insert_at(&mut self, to: Type, vector: Value, new: Value, at: Value) -> Value {
        let element_type = to.element_type();
        let mut changed = Values::new();
        for (lane, element) in self.elements(vector).into_iter().enumerate() {
            let here = self.is_lane(at, lane);
            changed.push(self.select(element_type, [here, new, element]));
        }
        self.build(to, &changed)
    }

    fn is_lane(&mut self, at: Value, lane: usize) -> Value {
        let number = self.int(Type::I32, lane as i64);
        self.raw_icmp(IntCC::Eq, at, number)
    }
}
