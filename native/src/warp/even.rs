//! Addresses that grow evenly from lane to lane in each half of a warp: computed before the loop as where they begin and how far they are apart, and
//! checked once for each half.
//!
//! They come from registers that do not change any more (`lines`), whose lanes the engine has looked at, and from uniform values, by sums and products with uniform
//! values. Where a value that is widened wraps on the way, or is not as far apart as the bytes of a lane, the part is executed in the other way.
//!
//! **Invariant.** Where `check_even` goes on, all accesses of the lines, by all lanes of the warp, are aligned and within one memory of the guest, and so are
//! the windows that are read at them: in memory that machine code may read past (shared memory) the elements themselves are.

use super::chunk::{Chunks, PLAIN};
use super::pattern::{Asked, ask};
use super::plan::Plan;
use super::recipe::{Lines, Source, Step, Where};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{
    Block as Label, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use std::mem::{offset_of, size_of};
use warpsmith_interp::engine::{LanePattern, RegionState, SpacePlace, Width, Window};

/// The values of half a warp: that of its first lane, and from one lane to the next; none where all lanes of the warp have one value.
#[derive(Clone, Copy)]
pub(super) struct Half {
    start: Value,
    step: Option<Value>,
}

/// The addresses of half a warp, and what is asked of them.
#[derive(Clone, Copy)]
struct Aligned {
    start: Value,
    step: Option<Value>,
    /// Bytes from the start to the end of the last access.
    extent: Value,
    /// All lanes have one address; none where that is known.
    one: Option<Value>,
    /// They are aligned, and all at one address or in a row; none where they always are.
    fits: Option<Value>,
}

/// Steps from the first lane of a half to its last.
const LAST: i64 = 15;
/// Lanes of a chunk, and chunks of a half.
const CHUNK: i64 = 4;

/// The places of lines on the stack: of each chunk, and for each half where the control is and the bytes from lane to lane.
const CONTROL: i32 = 64;
const STEP: i32 = 80;
const SIZE: u32 = 96;

impl Chunks<'_, '_, '_> {
    /// The halves of a source.
    fn halves(&mut self, asked: Asked, source: Source, otherwise: Label) -> [Half; 2] {
        let Source::Reg(r) = source else { return self.same_halves(source) };
        if let Some(halves) = self.evens.get(&r) {
            return *halves;
        }
        let Some((_, number)) = self.roots.iter().find(|(root, _)| *root == r) else {
            return self.same_halves(source);
        };
        let (pattern, found) = ask(self.b, asked, *number);
        let good = self.b.ins().icmp_imm_u(Cc::NotEqual, found, i64::from(LanePattern::NONE));
        let on = self.b.create_block();
        self.b.ins().brif(good, on, &[], otherwise, &[]);
        self.b.switch_to_block(on);
        let halves = [0, 1].map(|half| {
            let past = offset_of!(LanePattern, past) + 32 * half;
            let step = offset_of!(LanePattern, step) + 8 * half;
            let [start, step] =
                [past, step].map(|at| self.b.ins().load(types::I64, PLAIN, pattern, at as i32));
            match r.width() {
                Width::W64 | Width::W128 => Half { start, step: Some(step) },
                Width::Pred | Width::W32 => {
                    let [start, step] = [start, step].map(|x| self.b.ins().ireduce(types::I32, x));
                    Half { start, step: Some(step) }
                }
            }
        });
        self.evens.insert(r, halves);
        halves
    }

    fn same_halves(&mut self, source: Source) -> [Half; 2] {
        [Half { start: self.uniform_source(source), step: None }; 2]
    }

    /// Computes a step for addresses, in each half.
    pub fn compute_even(&mut self, asked: Asked, plan: Plan, step: &Step, otherwise: Label) {
        let sources: Vec<[Half; 2]> =
            step.src.iter().map(|source| self.halves(asked, *source, otherwise)).collect();
        let mut wraps = None;
        let mut half = |half: usize| {
            let x: Vec<Half> = sources.iter().map(|halves| halves[half]).collect();
            self.half(plan, &x, &mut wraps)
        };
        let first = half(0);
        // Without steps both halves are one.
        let halves = [first, if first.step.is_some() { half(1) } else { first }];
        if let Some(wraps) = wraps {
            let on = self.b.create_block();
            self.b.ins().brif(wraps, otherwise, &[], on, &[]);
            self.b.switch_to_block(on);
        }
        self.evens.insert(step.dst, halves);
    }

    fn half(&mut self, plan: Plan, x: &[Half], wraps: &mut Option<Value>) -> Half {
        match (plan, x) {
            (Plan::Add, [x, y]) => self.add(*x, *y),
            (Plan::Sub, [x, y]) => {
                let start = self.b.ins().isub(x.start, y.start);
                let step = match (x.step, y.step) {
                    (Some(x), Some(y)) => Some(self.b.ins().isub(x, y)),
                    (None, Some(y)) => Some(self.b.ins().ineg(y)),
                    (x, None) => x,
                };
                Half { start, step }
            }
            (Plan::Multiply, [x, y]) => self.times(*x, *y),
            (Plan::MultiplyAdd, [x, y, z]) => {
                let product = self.times(*x, *y);
                self.add(product, *z)
            }
            (Plan::Widen { signed, .. }, [x, y, rest @ ..]) => {
                let [x, y] = [*x, *y].map(|x| self.widened(x, signed, wraps));
                let product = self.times(x, y);
                match rest {
                    [z] => self.add(product, *z),
                    _ => product,
                }
            }
            (Plan::ShiftLeft(by), [x, ..]) => {
                let bits = self.b.func.dfg.value_type(x.start).bits();
                let mut shift = |x: Value| match by < bits {
                    true => self.b.ins().ishl_imm_u(x, i64::from(by)),
                    false => self.b.ins().bxor(x, x),
                };
                Half { start: shift(x.start), step: x.step.map(shift) }
            }
            (Plan::Extend { signed }, [x]) => self.widened(*x, signed, wraps),
            (Plan::Cut, [x]) => {
                let mut cut = |x: Value| self.b.ins().ireduce(types::I32, x);
                Half { start: cut(x.start), step: x.step.map(cut) }
            }
            (Plan::Move, [x]) => *x,
            _ => unreachable!("`lines` says what is computed so"),
        }
    }

    fn add(&mut self, x: Half, y: Half) -> Half {
        let start = self.b.ins().iadd(x.start, y.start);
        let step = match (x.step, y.step) {
            (Some(x), Some(y)) => Some(self.b.ins().iadd(x, y)),
            (x, y) => x.or(y),
        };
        Half { start, step }
    }

    /// A product, one of whose factors all lanes have.
    fn times(&mut self, x: Half, y: Half) -> Half {
        let start = self.b.ins().imul(x.start, y.start);
        let mut product =
            |step: Option<Value>, factor: Value| step.map(|step| self.b.ins().imul(step, factor));
        let steps = [product(x.step, y.start), product(y.step, x.start)];
        let step = match steps {
            [Some(one), Some(other)] => Some(self.b.ins().iadd(one, other)),
            [one, other] => one.or(other),
        };
        Half { start, step }
    }

    /// 32 bits as 64, and whether a lane wraps on the way from the first to the last.
    fn widened(&mut self, x: Half, signed: bool, wraps: &mut Option<Value>) -> Half {
        let start = match signed {
            true => self.b.ins().sextend(types::I64, x.start),
            false => self.b.ins().uextend(types::I64, x.start),
        };
        let Some(step) = x.step else { return Half { start, step: None } };
        let step = self.b.ins().sextend(types::I64, step);
        let past = self.b.ins().imul_imm_s(step, LAST);
        let last = self.b.ins().iadd(start, past);
        let low = self.b.ins().ireduce(types::I32, last);
        let low = match signed {
            true => self.b.ins().sextend(types::I64, low),
            false => self.b.ins().uextend(types::I64, low),
        };
        let wrapped = self.b.ins().icmp(Cc::NotEqual, last, low);
        *wraps = Some(wraps.map_or(wrapped, |before| self.b.ins().bor(before, wrapped)));
        Half { start, step: Some(step) }
    }

    /// Checks lines before the loop, and writes where their data are to the stack.
    pub fn check_even(&mut self, asked: Asked, lines: &Lines, otherwise: Label) -> StackSlot {
        let halves = self.halves(asked, Source::Reg(lines.base), otherwise);
        let bytes = i64::from(lines.bytes);
        let narrow = lines.base.width() == Width::W32;
        let lowest = if narrow { i64::from(lines.lowest as i32) } else { lines.lowest };
        let mut aligned = |Half { start, step }: Half| {
            let mut start = self.b.ins().iadd_imm_s(start, lowest);
            let mut step = step;
            if narrow {
                start = self.b.ins().uextend(types::I64, start);
                step = step.map(|step| self.b.ins().sextend(types::I64, step));
            }
            let mut fits = (bytes > 1).then(|| {
                let off = self.b.ins().band_imm_s(start, bytes - 1);
                self.b.ins().icmp_imm_s(Cc::Equal, off, 0)
            });
            // A window at one element reaches past it.
            let window = if lines.at == Where::Shared { bytes } else { bytes.max((CHUNK * bytes).min(16)) };
            let of_one = self.b.ins().iconst(types::I64, window + lines.more as i64);
            let Some(step) = step else { return Aligned { start, step, extent: of_one, one: None, fits } };
            let one = self.b.ins().icmp_imm_s(Cc::Equal, step, 0);
            let row = self.b.ins().icmp_imm_s(Cc::Equal, step, bytes);
            let rule = self.b.ins().bor(one, row);
            fits = Some(fits.map_or(rule, |fits| self.b.ins().band(fits, rule)));
            let of_row = self.b.ins().iconst(types::I64, (LAST + 1) * bytes + lines.more as i64);
            let extent = self.b.ins().select(row, of_row, of_one);
            Aligned { start, step: Some(step), extent, one: Some(one), fits }
        };
        let first = aligned(halves[0]);
        let found = [first, if first.step.is_some() { aligned(halves[1]) } else { first }];
        let good = match found.map(|half| half.fits) {
            [Some(one), Some(other)] if one != other => Some(self.b.ins().band(one, other)),
            [one, other] => one.or(other),
        };
        if let Some(good) = good {
            let on = self.b.create_block();
            self.b.ins().brif(good, on, &[], otherwise, &[]);
            self.b.switch_to_block(on);
        }
        let host = self.inside(asked, lines, &found, otherwise);
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, SIZE, 4));
        let places = self.b.ins().stack_addr(types::I64, slot, 0);
        let shift = lines.bytes.trailing_zeros() & 3;
        let controls = offset_of!(RegionState, controls) as i32;
        let controls = self.b.ins().load(types::I64, PLAIN, asked.state, controls);
        for (half, Aligned { start, step, one, .. }) in found.into_iter().enumerate() {
            let mut at = self.b.ins().iadd(host, start);
            let chunk = step.map(|step| self.b.ins().imul_imm_s(step, CHUNK));
            for n in 0..4 {
                if let Some(chunk) = chunk.filter(|_| n > 0) {
                    at = self.b.ins().iadd(at, chunk);
                }
                self.b.ins().store(PLAIN, at, places, 32 * half as i32 + 8 * n);
            }
            // Rows of 16 bytes: for each size the one of elements in a row, and that of a single element.
            let control =
                |b: &mut FunctionBuilder<'_>, n: i64| b.ins().iadd_imm_s(controls, i64::from(48 * shift) + n);
            let mut rule = control(self.b, 16);
            if let Some(one) = one {
                let in_a_row = control(self.b, 0);
                rule = self.b.ins().select(one, rule, in_a_row);
            }
            self.b.ins().store(PLAIN, rule, places, CONTROL + 8 * half as i32);
            let step = step.unwrap_or_else(|| self.b.ins().iconst(types::I64, 0));
            self.b.ins().store(PLAIN, step, places, STEP + 8 * half as i32);
        }
        slot
    }

    /// Goes on where accesses of so many bytes are inside of the memory, with what is to be added to an address of the guest for that of the host.
    fn inside(&mut self, asked: Asked, lines: &Lines, halves: &[Aligned; 2], otherwise: Label) -> Value {
        let state = asked.state;
        // Where the memory is described; its start for the guest, but for offsets in a space, its length and its place for the host.
        let (memory, start, len, host) = match lines.at {
            Where::Shared => {
                let shared = offset_of!(RegionState, shared) as i64;
                let place = self.b.ins().iadd_imm_s(state, shared);
                (place, None, offset_of!(SpacePlace, len), offset_of!(SpacePlace, start))
            }
            Where::Global(number) => {
                let windows = offset_of!(RegionState, windows) as i32;
                let windows = self.b.ins().load(types::I64, PLAIN, state, windows);
                let past = number as usize * size_of::<Window>();
                let place = self.b.ins().iadd_imm_s(windows, past as i64);
                (place, Some(offset_of!(Window, start)), offset_of!(Window, len), offset_of!(Window, host))
            }
        };
        let [check, out, on] = [(); 3].map(|()| self.b.create_block());
        let asked_before = self.b.append_block_param(check, types::I32);
        let no = self.b.ins().iconst(types::I32, 0);
        self.b.ins().jump(check, &[no.into()]);
        self.b.switch_to_block(check);
        let mut field = |at: usize| self.b.ins().load(types::I64, PLAIN, memory, at as i32);
        let (start, len, host) = (start.map(&mut field), field(len), field(host));
        let mut is_inside = |half: &Aligned| {
            let offset = start.map_or(half.start, |start| self.b.ins().isub(half.start, start));
            let enough = self.b.ins().icmp(Cc::UnsignedGreaterThanOrEqual, len, half.extent);
            let last = self.b.ins().isub(len, half.extent);
            let inside = self.b.ins().icmp(Cc::UnsignedLessThanOrEqual, offset, last);
            self.b.ins().band(enough, inside)
        };
        let mut good = is_inside(&halves[0]);
        if halves[1].start != halves[0].start {
            let other = is_inside(&halves[1]);
            good = self.b.ins().band(good, other);
        }
        self.b.ins().brif(good, on, &[], out, &[]);
        self.b.switch_to_block(out);
        match lines.at {
            Where::Shared => _ = self.b.ins().jump(otherwise, &[]),
            Where::Global(number) => {
                self.b.set_cold_block(out);
                let look = self.b.create_block();
                self.b.ins().brif(asked_before, otherwise, &[], look, &[]);
                self.b.switch_to_block(look);
                self.b.set_cold_block(look);
                let function = offset_of!(RegionState, window) as i32;
                let function = self.b.ins().load(types::I64, PLAIN, state, function);
                let number = self.b.ins().iconst(types::I32, i64::from(number));
                let args = [state, number, halves[0].start];
                let call = self.b.ins().call_indirect(asked.window, function, &args);
                let found = self.b.inst_results(call)[0];
                let yes = self.b.ins().iconst(types::I32, 1);
                self.b.ins().brif(found, check, &[yes.into()], otherwise, &[]);
            }
        }
        self.b.switch_to_block(on);
        start.map_or(host, |start| self.b.ins().isub(host, start))
    }

    /// Where the chunk's data are of lines, which of a window's bytes are whose, and the bytes from lane to lane.
    pub fn even_places(&mut self, slot: StackSlot) -> [Value; 3] {
        let slot = self.b.ins().stack_addr(types::I64, slot, 0);
        let past = self.b.ins().ushr_imm_u(self.chunk, 1);
        let place = self.b.ins().iadd(slot, past);
        let at = self.b.ins().load(types::I64, PLAIN, place, 0);
        let of_half = self.of_half(slot, 8);
        let control = self.b.ins().load(types::I64, PLAIN, of_half, CONTROL);
        let control = self.b.ins().load(types::I8X16, PLAIN, control, 0);
        let step = self.b.ins().load(types::I64, PLAIN, of_half, STEP);
        [at, control, step]
    }
}
