//! `memcpy`, `memmove` and `memset` become loads and stores: side by side for a few, in loops for the rest.
//!
//! A piece is as large as the alignment of both addresses allows, up to 16 bytes; where the size is not known, what is left over is moved byte
//! by byte. `memmove` finds out which of its addresses is lower and goes up or down accordingly.

use super::memory::flags_for;
use crate::analysis::{align_at, alignment_of};
use crate::rules::known::KnownBits;
use cranelift_entity::PrimaryMap;
use warpsmith_ir::{
    Block, Function, Global, GlobalId, Inst, InstBuilder, InstData, IntCC, MemFlags, Opcode, Scalar, Type,
    Value,
};
use warpsmith_isa::StateSpace;

/// The most pieces that are moved without a loop.
const UNROLLED: u64 = 16;

/// The most pieces of a variable of the module: mostly constants, which [`tables`](super::super::tables) wants to see.
const UNROLLED_FROM_VARIABLE: u64 = 64;

/// The largest piece.
const WIDEST: u32 = 16;

/// Expands every block operation of a function. Returns how many there were.
pub(super) fn expand(func: &mut Function, globals: &PrimaryMap<GlobalId, Global>) -> u32 {
    let mut known = None;
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let insts = blocks.into_iter().flat_map(|block| func.layout.insts(block)).collect::<Vec<Inst>>();
    let mut count = 0;
    for inst in insts {
        if let InstData::MemBlock { op, flags, source, args } = func.dfg[inst] {
            let align = alignment(func, globals, &mut known, [flags, source], args);
            Expansion { op, flags, align, args, at: inst, func }.expand();
            count += 1;
        }
    }
    count
}

/// The alignment of what is copied and of where to: as the operation says, or as the addresses show.
fn alignment(
    func: &Function,
    globals: &PrimaryMap<GlobalId, Global>,
    known: &mut Option<KnownBits>,
    flags: [MemFlags; 2],
    [to, from, _]: [Value; 3],
) -> [u32; 2] {
    let said = flags.map(|flags| flags.explicit_align().unwrap_or(1).min(WIDEST));
    let mut of = |said: u32, ptr: Value| {
        if said == WIDEST || !func.dfg.ty(ptr).is_ptr() {
            return said;
        }
        let known = known.get_or_insert_with(|| KnownBits::of_function(func, []));
        said.max(alignment_of(&func.dfg, globals, known, ptr).min(WIDEST))
    };
    let to = of(said[0], to);
    // A byte that is put everywhere has no address.
    [to, if func.dfg.ty(from).is_ptr() { of(said[1], from) } else { to }]
}

struct Expansion<'a> {
    func: &'a mut Function,
    /// In front of which everything goes.
    at: Inst,
    op: Opcode,
    flags: MemFlags,
    /// The alignment of what is written and of what is read.
    align: [u32; 2],
    args: [Value; 3],
}

impl Expansion<'_> {
    fn expand(mut self) {
        let [to, from, size] = self.args;
        let dfg = &self.func.dfg;
        let constant = dfg.int_const(dfg.resolve(size)).map(|value| match dfg.ty(size) {
            Type::I32 => u64::from(value as u32),
            _ => value as u64,
        });
        let align = self.align[0].min(self.align[1]);
        let wide = self.align[0].max(self.align[1]);
        match constant {
            // What the other address is aligned to may be seen when the function is optimised; if not, selection takes the pieces apart.
            Some(size) if wide > align && size.div_ceil(wide.into()) <= UNROLLED && !self.is_local() => {
                self.side_by_side(size, wide)
            }
            Some(size) if size.div_ceil(align.into()) <= self.most_side_by_side() => {
                self.side_by_side(size, align)
            }
            _ => {
                let size = match dfg.ty(size) {
                    Type::I32 => self.func.before(self.at).zext(Type::I64, size),
                    _ => size,
                };
                if self.op == Opcode::Memmove && self.may_overlap(to, from) {
                    self.either_way(size, constant, align);
                } else {
                    self.upward(size, constant, align);
                }
            }
        }
        self.func.layout.remove_inst(self.at);
    }

    fn most_side_by_side(&self) -> u64 {
        let dfg = &self.func.dfg;
        let mut from = dfg.resolve(self.args[1]);
        while let Some(&InstData::Unary { op: Opcode::Addrspacecast, arg }) = dfg.def_data(from) {
            from = dfg.resolve(arg);
        }
        match (self.op, dfg.def_data(from)) {
            (Opcode::Memcpy, Some(InstData::GlobalAddr { .. })) => UNROLLED_FROM_VARIABLE,
            _ => UNROLLED,
        }
    }

    /// Whether one of the addresses is in a stack slot, whose fields become values.
    fn is_local(&self) -> bool {
        let dfg = &self.func.dfg;
        self.args[..2].iter().any(|&ptr| {
            let mut at = dfg.resolve(ptr);
            while let Some(
                &InstData::Unary { op: Opcode::Addrspacecast, arg: base }
                | &InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
                | &InstData::Index { args: [base, _], .. },
            ) = dfg.def_data(at)
            {
                at = dfg.resolve(base);
            }
            matches!(dfg.def_data(at), Some(InstData::StackAddr { .. }))
        })
    }

    /// Loads and stores without a loop; all loads come first, so that overlapping does no harm.
    fn side_by_side(&mut self, size: u64, align: u32) {
        let [to, from, _] = self.args;
        let mut pieces = Vec::new();
        let mut offset = 0;
        while offset < size {
            let piece = u64::from(align).min(1 << (size - offset).ilog2());
            pieces.push((offset as i32, piece as u32));
            offset += piece;
        }
        let is_set = self.op == Opcode::Memset;
        let values: Vec<Value> = pieces
            .iter()
            .map(|&(offset, piece)| {
                if is_set {
                    self.filled(piece)
                } else {
                    self.load(from, offset, piece, self.align_at(1, offset, piece))
                }
            })
            .collect();
        for (&(offset, piece), value) in pieces.iter().zip(values) {
            self.store(value, to, offset, piece, self.align_at(0, offset, piece));
        }
    }

    /// Pieces from the first to the last, then what is left over byte by byte.
    fn upward(&mut self, size: Value, constant: Option<u64>, align: u32) {
        let zero = self.int(0);
        let wide = match constant {
            Some(constant) => self.int(constant & !u64::from(align - 1)),
            None if align == 1 => size,
            None => {
                let mask = self.int(!u64::from(align - 1));
                self.func.before(self.at).band(size, mask)
            }
        };
        self.go(zero, wide, align, true);
        if align > 1 && constant.is_none_or(|size| !size.is_multiple_of(align.into())) {
            self.go(wide, size, 1, true);
        }
    }

    /// From the first byte on if the target lies before the source, else from the last one back.
    fn either_way(&mut self, size: Value, constant: Option<u64>, align: u32) {
        let [to, from, _] = self.args;
        let piece = if constant.is_some_and(|size| size.is_multiple_of(align.into())) { align } else { 1 };
        let [to, from] = [to, from].map(|ptr| match self.func.dfg.ty(ptr).space() {
            Some(StateSpace::Generic) => ptr,
            _ => self.func.before(self.at).addrspacecast(Type::PTR, ptr),
        });
        let behind = self.func.before(self.at).icmp(IntCC::Ugt, to, from);
        let zero = self.int(0);
        let [before, up, down, after] = self.split();
        self.func.at_end(before).brif(behind, down, &[], up, &[]);
        let end = self.func.at_end(up).jump(after, &[]);
        let other = self.func.at_end(down).jump(after, &[]);
        let at = std::mem::replace(&mut self.at, end);
        self.go(zero, size, piece, true);
        self.at = other;
        self.go(zero, size, piece, false);
        self.at = at;
    }

    /// A loop over the pieces between two offsets, upward or downward.
    fn go(&mut self, first: Value, end: Value, piece: u32, upward: bool) {
        let [to, from, _] = self.args;
        let filled = (self.op == Opcode::Memset).then(|| self.filled(piece));
        let step = self.int(piece.into());
        let [before, head, body, after] = self.split();
        let start = if upward { first } else { end };
        self.func.at_end(before).jump(head, &[start]);
        let index = self.func.dfg.append_block_param(head, Type::I64);
        let more = match upward {
            true => self.func.at_end(head).icmp(IntCC::Ult, index, end),
            false => self.func.at_end(head).icmp(IntCC::Ugt, index, first),
        };
        self.func.at_end(head).brif(more, body, &[], after, &[]);
        let next = match upward {
            true => self.func.at_end(body).iadd(index, step),
            false => self.func.at_end(body).isub(index, step),
        };
        let back = self.func.at_end(body).jump(head, &[next]);
        let at = std::mem::replace(&mut self.at, back);
        let offset = if upward { index } else { next };
        let value = filled.unwrap_or_else(|| {
            let from = self.func.before(back).ptradd(from, offset);
            self.load(from, 0, piece, piece)
        });
        let to = self.func.before(back).ptradd(to, offset);
        self.store(value, to, 0, piece, piece);
        self.at = at;
    }

    /// Cuts the block in front of the operation: the part before, two new blocks, and the part that begins with the operation.
    fn split(&mut self) -> [Block; 4] {
        let before = self.func.layout.block_of(self.at).expect("the operation is in the layout");
        let [first, second, after] = [(); 3].map(|()| self.func.dfg.make_block());
        self.func.layout.split_block(after, self.at);
        self.func.layout.insert_block_after(first, before);
        self.func.layout.insert_block_after(second, first);
        [before, first, second, after]
    }

    /// True unless the pointers are to different spaces, of which neither is the generic one.
    fn may_overlap(&self, to: Value, from: Value) -> bool {
        let [to, from] = [to, from].map(|ptr| self.func.dfg.ty(ptr).space());
        to == from || [to, from].contains(&Some(StateSpace::Generic))
    }

    fn int(&mut self, value: u64) -> Value {
        self.func.before(self.at).iconst(Type::I64, value as i64)
    }

    /// A piece whose bytes are all the one that `memset` writes.
    fn filled(&mut self, piece: u32) -> Value {
        let byte = self.args[1];
        let whole = match (self.func.dfg.int_const(self.func.dfg.resolve(byte)), piece) {
            (_, 1) => return byte,
            (Some(byte), _) => {
                let ty = Type::int(8 * piece.min(8)).unwrap_or(Type::I64);
                self.func.before(self.at).iconst(ty, i64::from_le_bytes([byte as u8; 8]))
            }
            (None, _) => {
                let ty = Type::int(8 * piece.min(8)).unwrap_or(Type::I64);
                let wide = self.func.before(self.at).zext(ty, byte);
                let ones = self.func.before(self.at).iconst(ty, 0x0101_0101_0101_0101);
                self.func.before(self.at).imul(wide, ones)
            }
        };
        if piece == WIDEST { self.func.before(self.at).vec(&[whole, whole]) } else { whole }
    }

    /// Loads a piece from an address that is so aligned.
    fn load(&mut self, from: Value, offset: i32, piece: u32, align: u32) -> Value {
        let flags = flags_for(self.flags, align, piece);
        // What is less aligned on one side may be taken apart.
        let ty = if piece > self.align[0].min(self.align[1]) { words(piece) } else { piece_type(piece) };
        self.func.before(self.at).load(ty, flags, from, offset)
    }

    fn store(&mut self, value: Value, to: Value, offset: i32, piece: u32, align: u32) {
        let flags = flags_for(self.flags, align, piece);
        self.func.before(self.at).store(flags, value, to, offset);
    }

    /// The alignment of a piece of what is written or read.
    fn align_at(&self, of: usize, offset: i32, piece: u32) -> u32 {
        align_at(self.align[of].min(piece), offset)
    }
}

/// The type that moves a piece which may be taken apart.
fn words(piece: u32) -> Type {
    Type::vector(Scalar::I32, piece / 4).unwrap_or_else(|| piece_type(piece))
}

/// The type that moves a piece.
fn piece_type(piece: u32) -> Type {
    Type::int(8 * piece).filter(|ty| *ty != Type::I128).or(Type::vector(Scalar::I64, 2)).unwrap_or(Type::I64)
}
