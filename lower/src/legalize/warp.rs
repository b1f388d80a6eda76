//! Warp-level operations on values of any type, word by word.

use super::arithmetic::I32X2;
use super::*;
use warpsmith_ir::{BlockCall, Mnemonic, ShuffleKind, VoteKind, mnemonic};

impl Legalizer<'_> {
    /// A value's bits as 32-bit words, zeros above them.
    fn words(&mut self, ty: Type, x: Value) -> Values {
        let held = held(ty);
        let int = match (held.is_vector(), held.bits()) {
            (true, bits) if bits >= 32 => {
                let words = Type::vector(Scalar::I32, bits / 32).unwrap_or(Type::I32);
                let whole = self.raw_convert(Opcode::Bitcast, words, x);
                if words == Type::I32 {
                    return Values::from_elem(whole, 1);
                }
                return (0..words.lanes()).map(|lane| self.ins().extract(whole, lane as u8)).collect();
            }
            _ if ty == Type::I1 => self.raw_convert(Opcode::Zext, Type::I32, x),
            _ if held.is_ptr() => self.raw1(Opcode::Ptrtoint, x),
            _ if held.is_int() => x,
            (_, bits) => self.raw_convert(Opcode::Bitcast, Type::int(bits).unwrap_or(Type::I32), x),
        };
        match self.func.dfg.ty(int) {
            Type::I32 => Values::from_elem(int, 1),
            Type::I64 => self.halves_of_64(int),
            Type::I128 => {
                let [low, high] = self.halves(int);
                let mut words = self.halves_of_64(low);
                words.extend(self.halves_of_64(high));
                words
            }
            _ => Values::from_elem(self.raw_convert(Opcode::Zext, Type::I32, int), 1),
        }
    }

    fn halves_of_64(&mut self, x: Value) -> Values {
        let pair = self.raw_convert(Opcode::Bitcast, I32X2, x);
        let (low, high) = (self.ins().extract(pair, 0), self.ins().extract(pair, 1));
        Values::from_slice(&[low, high])
    }

    /// The inverse of [`Legalizer::words`].
    fn of_words(&mut self, ty: Type, words: &[Value]) -> Value {
        let held = held(ty);
        let made = if held.is_vector() && held.bits() >= 32 {
            let whole = if words.len() == 1 { words[0] } else { self.ins().vec(words) };
            self.raw_convert(Opcode::Bitcast, held, whole)
        } else if ty == Type::I1 {
            return self.raw_convert(Opcode::Trunc, Type::I1, words[0]);
        } else {
            let int = match words {
                &[word] if held.bits() < 32 => {
                    self.raw_convert(Opcode::Trunc, Type::int(held.bits()).unwrap_or(Type::I8), word)
                }
                &[word] => word,
                &[low, high] => {
                    let pair = self.ins().vec(&[low, high]);
                    self.raw_convert(Opcode::Bitcast, Type::I64, pair)
                }
                words => {
                    let halves: Values = words
                        .chunks(2)
                        .map(|pair| {
                            let pair = self.ins().vec(pair);
                            self.raw_convert(Opcode::Bitcast, Type::I64, pair)
                        })
                        .collect();
                    self.join(halves[0], halves[1])
                }
            };
            if held.is_ptr() {
                self.raw_convert(Opcode::Inttoptr, held, int)
            } else if self.func.dfg.ty(int) == held {
                int
            } else {
                self.raw_convert(Opcode::Bitcast, held, int)
            }
        };
        if held != ty {
            self.types[made] = Some(ty);
        }
        made
    }

    fn shuffle_word(&mut self, kind: ShuffleKind, word: Value, lane: Value, mask: Value) -> Value {
        let (mnemonic, clamp) = match kind {
            ShuffleKind::Idx => (mnemonic!("shfl.sync.idx.b32"), 31),
            ShuffleKind::Up => (mnemonic!("shfl.sync.up.b32"), 0),
            ShuffleKind::Down => (mnemonic!("shfl.sync.down.b32"), 31),
            ShuffleKind::Bfly => (mnemonic!("shfl.sync.bfly.b32"), 31),
        };
        self.ins().ptx_typed(mnemonic, (word, lane, clamp, mask), &[Type::I32]).first()
    }

    fn shuffle(&mut self, kind: ShuffleKind, ty: Type, x: Value, lane: Value, mask: Value) -> Value {
        let words = self.words(ty, x);
        let read: Values = words.into_iter().map(|word| self.shuffle_word(kind, word, lane, mask)).collect();
        self.of_words(ty, &read)
    }

    pub(super) fn shuffle_lanes(&mut self, kind: ShuffleKind, ty: Type, args: &[Value]) -> Value {
        self.shuffle(kind, ty, args[0], args[1], args[2])
    }

    pub(super) fn vote(&mut self, kind: VoteKind, args: &[Value]) -> Value {
        let mnemonic: Mnemonic = match kind {
            VoteKind::All => mnemonic!("vote.sync.all.pred"),
            VoteKind::Any => mnemonic!("vote.sync.any.pred"),
            VoteKind::Uni => mnemonic!("vote.sync.uni.pred"),
        };
        self.ins().ptx(mnemonic, (args[0], args[1])).first()
    }

    pub(super) fn match_lanes(&mut self, inst: Inst, all_alike: bool, ty: Type, args: &[Value]) {
        if !self.has_sm(70) {
            let op = if all_alike { Opcode::MatchAll } else { Opcode::MatchAny };
            return self.unsupported(inst, format!("`{op}` needs sm_70"), "older targets have no `match`");
        }
        let mask = args[1];
        let (mut alike, mut all) = (None, None);
        for word in self.words(ty, args[0]) {
            let (found, equal) = if !all_alike {
                (self.ins().ptx(mnemonic!("match.any.sync.b32"), (word, mask)).first(), None)
            } else {
                let types = [Type::I32, Type::I1];
                let results = self.ins().ptx_typed(mnemonic!("match.all.sync.b32"), (word, mask), &types);
                (results.first(), results.get(1))
            };
            alike = Some(alike.map_or(found, |before| self.raw2(Opcode::Band, before, found)));
            all = match (all, equal) {
                (Some(before), Some(equal)) => Some(self.raw2(Opcode::Band, before, equal)),
                (before, equal) => before.or(equal),
            };
        }
        let made: Values = alike.into_iter().chain(all).collect();
        self.replace_all(inst, &made);
    }

    /// The value of all lanes of the mask: by `redux` where the target has it, else a loop over the lanes, from the lowest.
    pub(super) fn warp_reduce(&mut self, inst: Inst, with: Opcode, ty: Type, args: &[Value]) -> Value {
        let (x, mask) = (args[0], args[1]);
        if ty == Type::I32 && self.has_sm(80) {
            #[expect(
                clippy::wildcard_enum_match_arm,
                reason = "what it has none for is put together step by step"
            )]
            let redux = match with {
                Opcode::Iadd => Some(mnemonic!("redux.sync.add.u32")),
                Opcode::Smin => Some(mnemonic!("redux.sync.min.s32")),
                Opcode::Smax => Some(mnemonic!("redux.sync.max.s32")),
                Opcode::Umin => Some(mnemonic!("redux.sync.min.u32")),
                Opcode::Umax => Some(mnemonic!("redux.sync.max.u32")),
                Opcode::Band => Some(mnemonic!("redux.sync.and.b32")),
                Opcode::Bor => Some(mnemonic!("redux.sync.or.b32")),
                Opcode::Bxor => Some(mnemonic!("redux.sync.xor.b32")),
                _ => None,
            };
            if let Some(redux) = redux {
                return self.ins().ptx(redux, (x, mask)).first();
            }
        }
        // Of integers every order gives the same.
        if ty.is_int() && self.func.dfg.int_const(mask) == Some(-1) {
            let mut sum = x;
            for distance in [16, 8, 4, 2, 1] {
                let lane = self.int(Type::I32, distance);
                let other = self.shuffle(ShuffleKind::Bfly, ty, sum, lane, mask);
                sum = self.binary(with, ty, sum, other);
            }
            return sum;
        }
        let lowest = self.raw1(Opcode::Ctz, mask);
        let first = self.shuffle(ShuffleKind::Idx, ty, x, lowest, mask);
        let rest = self.without_lowest(mask);
        let Some(here) = self.func.layout.block_of(inst) else { return first };
        let (head, next) = (self.func.dfg.make_block(), self.func.dfg.make_block());
        let body = self.func.dfg.make_block();
        self.func.layout.split_block(next, inst);
        self.func.layout.insert_block_after(head, here);
        self.func.layout.insert_block_after(body, head);
        let left = self.func.dfg.append_block_param(head, Type::I32);
        let sum = self.func.dfg.append_block_param(head, held(ty));
        if held(ty) != ty {
            self.types[sum] = Some(ty);
        }
        self.func.at_end(here).jump(head, &[rest, first]);
        let zero = self.func.at_end(head).iconst(Type::I32, 0);
        let more = self.func.at_end(head).icmp(IntCC::Ne, left, zero);
        self.func.at_end(head).brif(more, body, &[], next, &[]);
        let end = self.func.at_end(body).trap();
        let at = std::mem::replace(&mut self.at, end);
        let lane = self.raw1(Opcode::Ctz, left);
        let other = self.shuffle(ShuffleKind::Idx, ty, x, lane, mask);
        let both = self.binary(with, ty, sum, other);
        let fewer = self.without_lowest(left);
        self.at = at;
        let dest = BlockCall::new(head, &[fewer, both], &mut self.func.dfg.pool);
        self.func.dfg.replace_inst(end, InstData::Jump { dest });
        sum
    }

    /// A mask without its lowest one.
    fn without_lowest(&mut self, mask: Value) -> Value {
        let one = self.int(Type::I32, 1);
        let less = self.raw2(Opcode::Isub, mask, one);
        self.raw2(Opcode::Band, mask, less)
    }
}
