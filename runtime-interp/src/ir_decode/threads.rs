//! What threads do together, and what the system does for them: atomic accesses, fences, warp-level operations, barriers, printing.

use super::function::Body;
use super::values;
use crate::engine::lanes::portable as vector;
use crate::engine::{
    Access, Address, AtomicFn, Barrier, BarrierKind, Collective, CollectiveKind, Fence, Guard, Order, Reg,
    Scope, ShuffleMode, SystemCall, Variable, Width,
};
use smallvec::SmallVec;
use warpsmith_ir::{
    AtomicOp, Attr, Inst, InstData, MemoryMode, MemoryOrder, MemoryScope, Opcode, Scalar, ShuffleKind, Type,
    Value, VoteKind, meaning, printf,
};
use warpsmith_isa::StateSpace;
use warpsmith_semantics::Plan;
use warpsmith_semantics::value::half::{self, After, BF16, F16};
use warpsmith_semantics::value::{Rounding, double, single};

fn order(order: MemoryOrder) -> Order {
    match order {
        MemoryOrder::Relaxed => Order::Relaxed,
        MemoryOrder::Acquire => Order::Acquire,
        MemoryOrder::Release => Order::Release,
        MemoryOrder::AcqRel => Order::AcqRel,
        MemoryOrder::SeqCst => Order::SeqCst,
    }
}

fn scope(scope: MemoryScope) -> Scope {
    match scope {
        MemoryScope::Thread | MemoryScope::Cta => Scope::Cta,
        MemoryScope::Cluster => Scope::Cluster,
        MemoryScope::Gpu => Scope::Gpu,
        MemoryScope::Sys => Scope::Sys,
    }
}

/// The function of an atomic on values of a type.
fn function(op: AtomicOp, ty: Type) -> Option<AtomicFn> {
    if ty.bits() == 128 {
        return (op == AtomicOp::Xchg).then_some(AtomicFn::Wide(|_, b, _| b));
    }
    macro_rules! ints {
        (|$a:ident: $kind:ident, $b:ident| $body:expr) => {
            ints!(@ $kind, |$a, $b| $body)
        };
        (@ unsigned, |$a:ident, $b:ident| $body:expr) => {
            match ty.bits() {
                8 => |$a, $b, _| { let ($a, $b) = ($a as u8, $b as u8); u64::from($body) },
                16 => |$a, $b, _| { let ($a, $b) = ($a as u16, $b as u16); u64::from($body) },
                32 => |$a, $b, _| { let ($a, $b) = ($a as u32, $b as u32); u64::from($body) },
                _ => |$a, $b, _| $body,
            }
        };
        (@ signed, |$a:ident, $b:ident| $body:expr) => {
            match ty.bits() {
                8 => |$a, $b, _| { let ($a, $b) = ($a as i8, $b as i8); u64::from($body as u8) },
                16 => |$a, $b, _| { let ($a, $b) = ($a as i16, $b as i16); u64::from($body as u16) },
                32 => |$a, $b, _| { let ($a, $b) = ($a as i32, $b as i32); u64::from($body as u32) },
                _ => |$a, $b, _| { let ($a, $b) = ($a as i64, $b as i64); $body as u64 },
            }
        };
    }
    macro_rules! floats {
        (|$a:ident, $b:ident| $single:expr, $double:expr, $half:ident) => {
            match ty.element() {
                Scalar::F32 => |$a, $b, _| {
                    let ($a, $b) = ($a as u32, $b as u32);
                    u64::from($single)
                },
                Scalar::F64 => |$a, $b, _| $double,
                Scalar::F16 => |a, b, _| u64::from($half::<F16>(a as u16, b as u16)),
                Scalar::BF16 => |a, b, _| u64::from($half::<BF16>(a as u16, b as u16)),
                _ => return None,
            }
        };
    }
    const RN: Rounding = Rounding::Nearest;
    fn half_add<H: half::Half>(a: u16, b: u16) -> u16 {
        half::add::<H>(After::default(), a, b)
    }
    fn half_sub<H: half::Half>(a: u16, b: u16) -> u16 {
        half::sub::<H>(After::default(), a, b)
    }
    fn half_min<H: half::Half>(a: u16, b: u16) -> u16 {
        half::min::<H>(false, false, a, b)
    }
    fn half_max<H: half::Half>(a: u16, b: u16) -> u16 {
        half::max::<H>(false, false, a, b)
    }
    let function: fn(u64, u64, u64) -> u64 = match op {
        AtomicOp::Xchg => |_, b, _| b,
        AtomicOp::Iadd => ints!(|a: unsigned, b| a.wrapping_add(b)),
        AtomicOp::Isub => ints!(|a: unsigned, b| a.wrapping_sub(b)),
        AtomicOp::Band => |a, b, _| a & b,
        AtomicOp::Bor => |a, b, _| a | b,
        AtomicOp::Bxor => |a, b, _| a ^ b,
        AtomicOp::Nand => ints!(|a: unsigned, b| !(a & b)),
        AtomicOp::Smin => ints!(|a: signed, b| a.min(b)),
        AtomicOp::Smax => ints!(|a: signed, b| a.max(b)),
        AtomicOp::Umin => |a, b, _| a.min(b),
        AtomicOp::Umax => |a, b, _| a.max(b),
        AtomicOp::Inc => |a, b, _| if a >= b { 0 } else { a + 1 },
        AtomicOp::Dec => |a, b, _| if a == 0 || a > b { b } else { a - 1 },
        AtomicOp::Fadd if ty == Type::F32 => {
            return Some(AtomicFn::BySpace {
                global: |a, b, _| u64::from(single::add::<true>(RN, a as u32, b as u32)),
                shared: |a, b, _| u64::from(single::add::<false>(RN, a as u32, b as u32)),
            });
        }
        AtomicOp::Fadd => floats!(|a, b| single::add::<false>(RN, a, b), double::add(RN, a, b), half_add),
        AtomicOp::Fsub if ty == Type::F32 => {
            return Some(AtomicFn::BySpace {
                global: |a, b, _| u64::from(single::sub::<true>(RN, a as u32, b as u32)),
                shared: |a, b, _| u64::from(single::sub::<false>(RN, a as u32, b as u32)),
            });
        }
        AtomicOp::Fsub => floats!(|a, b| single::sub::<false>(RN, a, b), double::sub(RN, a, b), half_sub),
        AtomicOp::Fmin => floats!(|a, b| single::min::<false>(false, a, b), double::min(a, b), half_min),
        AtomicOp::Fmax => floats!(|a, b| single::max::<false>(false, a, b), double::max(a, b), half_max),
    };
    Some(AtomicFn::Word(function))
}

impl Body<'_, '_> {
    /// The operations of this module. False for others.
    pub(super) fn threads(&mut self, inst: Inst, op: Opcode, attr: &Attr, args: &[Value]) -> bool {
        match (op, attr) {
            (
                Opcode::AtomicLoad | Opcode::AtomicStore | Opcode::AtomicRmw | Opcode::Cmpxchg,
                Attr::Memory(mode),
            ) => {
                self.atomic(inst, op, *mode, args);
            }
            (Opcode::Fence, Attr::Memory(mode)) => {
                if mode.scope != MemoryScope::Thread {
                    self.body.fence(Fence { order: order(mode.order), scope: scope(mode.scope) });
                }
            }
            (Opcode::Shfl, Attr::Shuffle(kind)) => {
                let (_, dst) = self.result(inst);
                let (lane, mask) = (self.one(args[1]), self.one(args[2]));
                let words = self.words(args[0]);
                let read: Vec<Reg> =
                    words.iter().map(|word| self.shuffled(*kind, *word, lane, mask)).collect();
                self.of_words(&dst, &read);
            }
            (Opcode::Vote, Attr::Vote(kind)) => {
                let kind = match kind {
                    VoteKind::All => CollectiveKind::All,
                    VoteKind::Any => CollectiveKind::Any,
                    VoteKind::Uni => CollectiveKind::Uni,
                };
                self.voted(inst, kind, args);
            }
            (Opcode::Ballot, _) => self.voted(inst, CollectiveKind::Ballot, args),
            (Opcode::MatchAny | Opcode::MatchAll, _) => self.matched(inst, op, args),
            (Opcode::WarpReduce, Attr::With(with)) => self.warp_reduce(inst, *with, args),
            (Opcode::WarpSync, _) => {
                let mask = Some(self.one(args[0]));
                let kind = CollectiveKind::Sync;
                self.body.collective(Collective { kind, mask, src: Vec::new(), dst: [None; 2] });
            }
            (Opcode::Activemask, _) => {
                let (_, dst) = self.result(inst);
                self.body.active_mask(dst[0]);
            }
            (Opcode::Barrier, _) => {
                let id = self.body.constant(0, Width::W32);
                self.body.barrier(Barrier { kind: BarrierKind::Sync, id, count: None, src: None, dst: None });
            }
            (Opcode::Printf, Attr::Text(format)) => self.printf(inst, format, args),
            (Opcode::Assert, Attr::Text(message)) => self.assert(inst, message, args),
            (Opcode::Malloc, _) => {
                let (_, dst) = self.result(inst);
                let size = self.one(args[0]);
                self.body.system(SystemCall::Malloc, &[size], Some(dst[0]));
            }
            (Opcode::Free, _) => {
                let address = self.one(args[0]);
                self.body.system(SystemCall::Free, &[address], None);
            }
            (Opcode::Nanosleep, _) => self.body.yield_turn(),
            (Opcode::Unreachable, _) => self.body.trap(),
            (Opcode::Assume, _) => {}
            (Opcode::Expect, _) => {
                let (_, dst) = self.result(inst);
                let src = self.regs(args[0]);
                dst.iter().zip(&src).for_each(|(d, s)| self.body.copy(*d, *s));
            }
            _ => return false,
        }
        true
    }

    fn atomic(&mut self, inst: Inst, op: Opcode, mode: MemoryMode, args: &[Value]) {
        let ptr = args[usize::from(op == Opcode::AtomicStore)];
        let (space, base, _) = self.place(ptr, 0);
        let results: SmallVec<[Value; 2]> = self.function.dfg.results(inst).into_iter().collect();
        let ty = match op {
            Opcode::AtomicStore => self.ty(args[0]),
            _ => results.first().map_or(Type::INVALID, |value| self.ty(*value)),
        };
        let at = Address::Reg(base, 0);
        let access = Access::unsigned(space, ty.bytes().unwrap_or(4) as u8);
        let access = match mode.scope {
            MemoryScope::Thread => access,
            of => access.ordered(order(mode.strongest()), scope(of)),
        };
        let first = results.first().map(|value| self.one(*value));
        match (op, first) {
            (Opcode::AtomicLoad, Some(dst)) => self.body.load(access, &[dst], at),
            (Opcode::AtomicStore, _) => {
                let value = self.one(args[0]);
                self.body.store(access, &[value], at);
            }
            (Opcode::AtomicRmw, Some(dst)) => {
                let value = self.one(args[1]);
                match mode.op.and_then(|op| function(op, ty)) {
                    Some(function) => self.body.atomic(access, function, &[dst], at, &[value], None),
                    None => self.body.error(format!("an atomic of {ty} has no meaning")),
                }
            }
            (Opcode::Cmpxchg, Some(dst)) => {
                let (expected, new) = (self.one(args[1]), self.one(args[2]));
                let function = match ty.bits() {
                    128 => AtomicFn::Wide(|old, b, c| if old == b { c } else { old }),
                    _ => AtomicFn::Word(|old, b, c| if old == b { c } else { old }),
                };
                // What is compared with may lie in the register that receives the old value.
                let old = self.body.reg(dst.width());
                self.body.atomic(access, function, &[old], at, &[expected], Some(new));
                if let Some(equal) = results.get(1).map(|value| self.one(*value)) {
                    let compare = match dst.width() {
                        Width::W64 => vector(|a: u64, b: u64| a == b),
                        Width::W128 => vector(|a: u128, b: u128| a == b),
                        Width::W32 | Width::Pred => vector(|a: u32, b: u32| a == b),
                    };
                    self.body.lanes(compare, &[equal], &[old, expected]);
                }
                self.body.copy(dst, old);
            }
            _ => self.body.error(format!("{op} has no meaning")),
        }
    }

    /// A value's bits as 32-bit words.
    fn words(&mut self, value: Value) -> Vec<Reg> {
        let regs = self.regs(value);
        self.words_of(&regs)
    }

    fn words_of(&mut self, regs: &[Reg]) -> Vec<Reg> {
        if regs.iter().all(|r| r.width() == Width::Pred) {
            let whole = self.pack_bools(regs, Width::for_bits(regs.len() as u32));
            return values::to_words(&mut self.body, &[whole]);
        }
        values::to_words(&mut self.body, regs)
    }

    fn of_words(&mut self, regs: &[Reg], words: &[Reg]) {
        if regs.iter().all(|r| r.width() == Width::Pred) {
            let whole = self.body.reg(Width::for_bits(regs.len() as u32));
            values::from_words(&mut self.body, &[whole], words);
            return self.unpack_bools(regs, whole);
        }
        values::from_words(&mut self.body, regs, words);
    }

    fn shuffled(&mut self, kind: ShuffleKind, word: Reg, lane: Reg, mask: Reg) -> Reg {
        let mode = match kind {
            ShuffleKind::Idx => ShuffleMode::Idx,
            ShuffleKind::Up => ShuffleMode::Up,
            ShuffleKind::Down => ShuffleMode::Down,
            ShuffleKind::Bfly => ShuffleMode::Bfly,
        };
        let clamp = self.body.constant(if kind == ShuffleKind::Up { 0 } else { 31 }, Width::W32);
        let dst = self.body.reg(Width::W32);
        self.body.collective(Collective {
            kind: CollectiveKind::Shuffle(mode),
            mask: Some(mask),
            src: vec![word, lane, clamp],
            dst: [Some(dst), None],
        });
        dst
    }

    fn voted(&mut self, inst: Inst, kind: CollectiveKind, args: &[Value]) {
        let (_, dst) = self.result(inst);
        let (src, mask) = (vec![self.one(args[0])], Some(self.one(args[1])));
        self.body.collective(Collective { kind, mask, src, dst: [Some(dst[0]), None] });
    }

    /// Word by word: lanes are alike where all words are.
    fn matched(&mut self, inst: Inst, op: Opcode, args: &[Value]) {
        let results: SmallVec<[Value; 2]> = self.function.dfg.results(inst).into_iter().collect();
        let mask = self.one(args[1]);
        let any = op == Opcode::MatchAny;
        let kind = if any { CollectiveKind::MatchAny } else { CollectiveKind::MatchAll };
        let mut alike = mask;
        let mut all = None;
        for word in self.words(args[0]) {
            let (found, equal) = (self.body.reg(Width::W32), self.body.reg(Width::Pred));
            let dst = [Some(found), (!any).then_some(equal)];
            self.body.collective(Collective { kind, mask: Some(mask), src: vec![word], dst });
            let next = self.body.reg(Width::W32);
            self.body.lanes(vector(|a: u32, b: u32| a & b), &[next], &[alike, found]);
            alike = next;
            all = Some(match all {
                None => equal,
                Some(before) => {
                    let both = self.body.reg(Width::Pred);
                    self.body.lanes(vector(|a: bool, b: bool| a & b), &[both], &[before, equal]);
                    both
                }
            });
        }
        let dst = self.one(results[0]);
        self.body.copy(dst, alike);
        if let Some(result) = results.get(1) {
            // Structs without fields are alike.
            let (result, all) =
                (self.one(*result), all.unwrap_or_else(|| self.body.constant(1, Width::Pred)));
            self.body.copy(result, all);
        }
    }

    /// Vectors element by element.
    fn warp_reduce(&mut self, inst: Inst, with: Opcode, args: &[Value]) {
        let (ty, dst) = self.result(inst);
        let (element, operands) = (ty.element_type(), [args[0], args[0]]);
        let data = InstData::Binary { op: with, args: operands };
        let Some(plan) = meaning::plan(&data, &[element, element], element) else {
            return self.body.error(format!("{with} of {ty} has no meaning"));
        };
        let mask = self.one(args[1]);
        let mut elements = self.elements(args[0], ty.lanes());
        for element in &mut elements {
            *element = self.reduced(&plan, *element, mask);
        }
        match ty.is_vector() {
            true => self.join(ty, &dst, &elements),
            false => self.body.copy(dst[0], elements[0]),
        }
    }

    /// A register's values in the lanes of a mask put together, from the lowest lane to the highest.
    fn reduced(&mut self, plan: &Plan, source: Reg, mask: Reg) -> Reg {
        let (words, width) = (self.words_of(&[source]), source.width());
        let mut sum = self.body.reg(width);
        let nothing = match width {
            Width::Pred => self.body.constant(0, Width::Pred),
            width => self.body.constant(0, width),
        };
        self.body.copy(sum, nothing);
        let mut has = self.body.constant(0, Width::W32);
        for lane in 0..32 {
            let number = self.body.constant(lane, Width::W32);
            let read: Vec<Reg> =
                words.iter().map(|word| self.shuffled(ShuffleKind::Idx, *word, number, mask)).collect();
            let value = self.body.reg(width);
            self.of_words(&[value], &read);
            let both = self.body.reg(width);
            self.body.compute(plan, &[Some(both)], &[sum, value], None);
            let here = self.body.reg(Width::Pred);
            self.body.lanes(vector(|mask: u32, n: u32| mask >> n & 1 != 0), &[here], &[mask, number]);
            let later = self.body.reg(Width::Pred);
            self.body.lanes(vector(|has: u32| has != 0), &[later], &[has]);
            let (joined, next) = (self.body.reg(width), self.body.reg(width));
            self.body.lanes(meaning::select(width), &[joined], &[later, both, value]);
            self.body.lanes(meaning::select(width), &[next], &[here, joined, sum]);
            sum = next;
            let seen = self.body.reg(Width::W32);
            self.body.lanes(vector(|has: u32, here: bool| has | u32::from(here)), &[seen], &[has, here]);
            has = seen;
        }
        sum
    }

    /// The generic address of a text that ends in a zero.
    fn text(&mut self, text: &[u8]) -> Reg {
        let mut bytes = text.to_vec();
        bytes.push(0);
        let name = format!("text of @{}", self.function.name);
        let variable = Variable::zeroed(&name, StateSpace::Global, bytes.len() as u64, 1);
        let symbol = self.body.program().variable(Variable { init: bytes, ..variable });
        self.body.program().address(symbol, 0, true)
    }

    /// An argument of `printf` as C promotes it.
    fn promoted(&mut self, argument: printf::Argument, value: Value) -> Reg {
        let (ty, source) = (self.ty(value), self.one(value));
        let (op, to) = match argument {
            printf::Argument::Int { signed } if ty.bits() < 32 => {
                (if signed && ty != Type::I1 { Opcode::Sext } else { Opcode::Zext }, Type::I32)
            }
            printf::Argument::Float if ty != Type::F64 => (Opcode::Fpext, Type::F64),
            _ => return source,
        };
        let wide = self.body.reg(Width::for_bits(to.bits()));
        match meaning::plan(&InstData::Unary { op, arg: value }, &[ty], to) {
            Some(plan) => self.body.compute(&plan, &[Some(wide)], &[source], None),
            None => self.body.error(format!("{op} from {ty} to {to} has no meaning")),
        }
        wide
    }

    fn printf(&mut self, inst: Inst, format: &[u8], args: &[Value]) {
        let (_, dst) = self.result(inst);
        let Ok(wanted) = printf::arguments(format) else {
            return self.body.error("a format of printf that is none".to_string());
        };
        let (offsets, bytes) = printf::layout(&wanted);
        let frame = self.body.local(bytes.max(8).into(), 8);
        for ((argument, &value), at) in wanted.iter().zip(args).zip(offsets) {
            let promoted = self.promoted(*argument, value);
            let access = Access::unsigned(StateSpace::Local, argument.bytes() as u8);
            self.body.store(access, &[promoted], Address::Stack(frame + i64::from(at)));
        }
        let list = self.body.reg(Width::W64);
        self.body.stack_address(list, frame, true);
        let format = self.text(format);
        self.body.system(SystemCall::Printf, &[format, list], Some(dst[0]));
    }

    fn assert(&mut self, inst: Inst, message: &[u8], args: &[Value]) {
        let pred = self.one(args[0]);
        let holds = self.body.label();
        self.body.branch_if(Guard { pred, negated: false }, holds);
        let message = self.text(message);
        let place = self.module.place(self.function, inst);
        let file = self.text(place.map_or("", |(file, _)| file).as_bytes());
        let function = self.text(self.function.name.clone().as_bytes());
        let line = self.body.constant(place.map_or(0, |(_, at)| at.line).into(), Width::W32);
        let size = self.body.constant(1, Width::W64);
        self.body.system(SystemCall::AssertFail, &[message, file, line, function, size], None);
        self.body.bind(holds);
    }
}
