//! What a part computes once for all lanes: arithmetic on uniform values, addresses and what is loaded from them.
//!
//! This is done before the loop over lanes, and only where all lanes of the warp have executed everything together. Until the loop begins nothing is
//! written, so that where an address is not in bounds, or not aligned, the part is executed in the other way from its beginning, and finds the fault.
//!
//! **Invariant.** An address that `address` has computed is aligned, and as many bytes of its space as the access has are there, of local memory for each lane.

use super::chunk::{Chunks, Lanes, PLAIN, Place};
use super::fetch::GUEST;
use super::pattern::Asked;
use super::plan::Plan;
use super::recipe::{Known, Source, Space, Step, What};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{Block as Label, InstBuilder, Type, Value, types};
use std::mem::offset_of;
use warpsmith_interp::engine::{Reg, RegionState, SpacePlace, Width};

/// Lanes of a chunk.
const LANES: usize = 4;

impl Plan {
    /// It can be computed once for all lanes.
    pub fn is_for_uniform(self) -> bool {
        match self {
            Plan::Move
            | Plan::Add
            | Plan::Sub
            | Plan::Multiply
            | Plan::MultiplyAdd
            | Plan::Widen { .. }
            | Plan::And
            | Plan::Or
            | Plan::Xor
            | Plan::Not
            | Plan::ShiftLeft(_)
            | Plan::ShiftRight { .. }
            | Plan::Compare(_)
            | Plan::Choose
            | Plan::Extend { .. }
            | Plan::Cut => true,
            Plan::FunnelLeft(_)
            | Plan::FunnelRight(_)
            | Plan::Logic(_)
            | Plan::Permute(_)
            | Plan::FromInteger { .. }
            | Plan::Least { .. }
            | Plan::Greatest { .. }
            | Plan::CompareFloat(_)
            | Plan::AddFloat
            | Plan::SubFloat
            | Plan::MultiplyFloat
            | Plan::Fused => false,
        }
    }
}

fn type_of(width: Width) -> Type {
    match width {
        Width::Pred | Width::W32 => types::I32,
        Width::W64 | Width::W128 => types::I64,
    }
}

impl Chunks<'_, '_, '_> {
    /// Computes what is uniform, and checks the addresses; goes to a label if one of them is not good.
    pub fn before_loop(&mut self, asked: Asked, otherwise: Label) {
        let (state, steps) = (asked.state, self.steps);
        for (n, step) in steps.iter().enumerate() {
            match &step.what {
                What::Compute(plan) if step.uniform => {
                    let x: Vec<Value> = step.src.iter().map(|source| self.uniform_source(*source)).collect();
                    let value = self.compute_once(*plan, &x);
                    self.set_uniform(n, step.dst, value);
                }
                What::Compute(plan) if step.sum.is_some() || step.even.is_some() => {
                    if let Some(side) = step.sum {
                        self.add_up(*plan, step, side);
                    }
                    if step.even.is_some() {
                        self.compute_even(asked, *plan, step, otherwise);
                    }
                }
                What::Line(fetch) => self.check_lines(asked, fetch.batch, otherwise),
                What::Compute(_) | What::Fetch(_) | What::Part { .. } | What::Other | What::Meet => {}
                What::Known(known) => {
                    let at = self.address(state, known, otherwise);
                    if known.space != Space::Local {
                        let value = self.load_once(at, known, step.dst.width());
                        self.set_uniform(n, step.dst, value);
                    }
                }
                What::Store(known) => _ = self.address(state, known, otherwise),
            }
        }
        let asks = |step: &Step| match step.what {
            What::Known(known) => known.space != Space::Local,
            What::Line(_) => true,
            What::Compute(_)
            | What::Fetch(_)
            | What::Store(_)
            | What::Part { .. }
            | What::Other
            | What::Meet => false,
        };
        if steps.iter().any(asks) {
            let yes = self.b.ins().iconst(types::I32, 1);
            self.b.ins().store(PLAIN, yes, state, offset_of!(RegionState, asks) as i32);
        }
        if steps.iter().any(Step::is_local) {
            let step = offset_of!(RegionState, local_step) as i32;
            self.local_step = Some(self.b.ins().load(types::I64, PLAIN, state, step));
        }
    }

    fn set_uniform(&mut self, n: usize, r: Reg, value: Value) {
        let lanes = match r.width() {
            Width::Pred | Width::W32 => Lanes::One(self.b.ins().splat(types::I32X4, value)),
            Width::W64 | Width::W128 => Lanes::Two([self.b.ins().splat(types::I64X2, value); 2]),
        };
        self.uniform.insert(r, value);
        // The register may have had what grows evenly before.
        self.evens.remove(&r);
        self.splats.insert(n, lanes);
    }

    /// What of a sum a source adds to the register with the pattern.
    pub fn added_to(&self, source: Source) -> Option<Value> {
        match source {
            Source::Reg(r) => self.added.get(&r).copied(),
            Source::Number(_) => None,
        }
    }

    pub fn uniform_source(&mut self, source: Source) -> Value {
        match source {
            Source::Number(number) => self.b.ins().iconst(types::I32, i64::from(number as i32)),
            Source::Reg(r) => self.uniform_register(r),
        }
    }

    /// A register that is equal in all lanes; a predicate as all ones or zeros.
    fn uniform_register(&mut self, r: Reg) -> Value {
        if let Some(value) = self.uniform.get(&r) {
            return *value;
        }
        let base = self.base(if r.is_constant() { Place::Constants } else { Place::Registers });
        let value = self.b.ins().load(type_of(r.width()), PLAIN, base, (4 * r.offset()) as i32);
        self.uniform.insert(r, value);
        value
    }

    fn compute_once(&mut self, plan: Plan, x: &[Value]) -> Value {
        let b = &mut *self.b;
        let bits = |b: &cranelift_frontend::FunctionBuilder<'_>, x: Value| b.func.dfg.value_type(x).bits();
        let widened = |b: &mut cranelift_frontend::FunctionBuilder<'_>, signed: bool, x: Value| match signed {
            true => b.ins().sextend(types::I64, x),
            false => b.ins().uextend(types::I64, x),
        };
        match plan {
            Plan::Move => x[0],
            Plan::Add => b.ins().iadd(x[0], x[1]),
            Plan::Sub => b.ins().isub(x[0], x[1]),
            Plan::Multiply => b.ins().imul(x[0], x[1]),
            Plan::MultiplyAdd => {
                let product = b.ins().imul(x[0], x[1]);
                b.ins().iadd(product, x[2])
            }
            Plan::Widen { signed, add } => {
                let factors = [x[0], x[1]].map(|x| widened(b, signed, x));
                let product = b.ins().imul(factors[0], factors[1]);
                if add { b.ins().iadd(product, x[2]) } else { product }
            }
            Plan::And => b.ins().band(x[0], x[1]),
            Plan::Or => b.ins().bor(x[0], x[1]),
            Plan::Xor => b.ins().bxor(x[0], x[1]),
            Plan::Not => b.ins().bnot(x[0]),
            Plan::ShiftLeft(by) if by >= bits(b, x[0]) => b.ins().bxor(x[0], x[0]),
            Plan::ShiftLeft(by) => b.ins().ishl_imm_u(x[0], i64::from(by)),
            Plan::ShiftRight { by, signed: false } if by >= bits(b, x[0]) => b.ins().bxor(x[0], x[0]),
            Plan::ShiftRight { by, signed: false } => b.ins().ushr_imm_u(x[0], i64::from(by)),
            Plan::ShiftRight { by, signed: true } => {
                let by = by.min(bits(b, x[0]) - 1);
                b.ins().sshr_imm_u(x[0], i64::from(by))
            }
            Plan::Compare(cc) => {
                let found = b.ins().icmp(cc, x[0], x[1]);
                b.ins().bmask(types::I32, found)
            }
            Plan::Choose => b.ins().select(x[2], x[0], x[1]),
            Plan::Extend { signed } => widened(b, signed, x[0]),
            Plan::Cut => b.ins().ireduce(types::I32, x[0]),
            Plan::FunnelLeft(_)
            | Plan::FunnelRight(_)
            | Plan::Logic(_)
            | Plan::Permute(_)
            | Plan::FromInteger { .. }
            | Plan::Least { .. }
            | Plan::Greatest { .. }
            | Plan::CompareFloat(_)
            | Plan::AddFloat
            | Plan::SubFloat
            | Plan::MultiplyFloat
            | Plan::Fused => unreachable!("`is_for_uniform` says what is computed here"),
        }
    }

    /// The place of an access, of local memory that of the first lane.
    fn address(&mut self, state: Value, known: &Known, otherwise: Label) -> Value {
        if let Some(at) = self.places_known.get(&known.number) {
            return *at;
        }
        let base = self.uniform_register(known.base);
        let mut address = match known.base.width() {
            Width::W64 | Width::W128 => self.b.ins().iadd_imm_s(base, known.offset),
            Width::Pred | Width::W32 => {
                let sum = self.b.ins().iadd_imm_s(base, i64::from(known.offset as i32));
                self.b.ins().uextend(types::I64, sum)
            }
        };
        let field = |offset: usize| offset as i32;
        if known.on_stack {
            let stack = self.b.ins().load(types::I64, PLAIN, state, field(offset_of!(RegionState, stack)));
            address = self.b.ins().iadd(address, stack);
        }
        let space = match known.space {
            Space::Shared => offset_of!(RegionState, shared),
            Space::Constant => offset_of!(RegionState, constant),
            Space::Params => offset_of!(RegionState, params),
            Space::Local => offset_of!(RegionState, local),
        };
        let (start, len) =
            (field(space + offset_of!(SpacePlace, start)), field(space + offset_of!(SpacePlace, len)));
        let len = self.b.ins().load(types::I64, PLAIN, state, len);
        let size = i64::from(known.size);
        let enough = self.b.ins().icmp_imm_u(Cc::UnsignedGreaterThanOrEqual, len, size);
        let last = self.b.ins().iadd_imm_s(len, -size);
        let inside = self.b.ins().icmp(Cc::UnsignedLessThanOrEqual, address, last);
        let mut good = self.b.ins().band(enough, inside);
        if size > 1 {
            let off = self.b.ins().band_imm_s(address, size - 1);
            let aligned = self.b.ins().icmp_imm_s(Cc::Equal, off, 0);
            good = self.b.ins().band(good, aligned);
        }
        let on = self.b.create_block();
        self.b.ins().brif(good, on, &[], otherwise, &[]);
        self.b.switch_to_block(on);
        let start = self.b.ins().load(types::I64, PLAIN, state, start);
        let at = self.b.ins().iadd(start, address);
        self.places_known.insert(known.number, at);
        at
    }

    fn load_once(&mut self, at: Value, known: &Known, width: Width) -> Value {
        let value = self.element(at, known.before as i32, known.bytes, known.signed);
        match (width, known.bytes, known.signed) {
            (Width::W64, 1..=4, true) => self.b.ins().sextend(types::I64, value),
            (Width::W64, 1..=4, false) => self.b.ins().uextend(types::I64, value),
            _ => value,
        }
    }

    /// The places of the chunk's lanes in local memory, by the first lane's.
    fn local_places(&mut self, number: u32) -> [Value; LANES] {
        let (Some(step), Some(at)) = (self.local_step, self.places_known.get(&number).copied()) else {
            unreachable!("addresses are computed before the loop");
        };
        let past = match self.local_past {
            Some(past) => past,
            None => {
                // Chunks are counted in 16 bytes for 4 lanes.
                let first = self.b.ins().ushr_imm_u(self.chunk, 2);
                let mut past = [self.b.ins().imul(first, step); LANES];
                for lane in 1..LANES {
                    past[lane] = self.b.ins().iadd(past[lane - 1], step);
                }
                self.local_past = Some(past);
                past
            }
        };
        past.map(|past| self.b.ins().iadd(at, past))
    }

    /// An element of local memory, of each lane its own.
    pub fn load_local(&mut self, known: &Known, width: Width) -> Lanes {
        let places = self.local_places(known.number);
        let values = places.map(|at| self.element(at, known.before as i32, known.bytes, known.signed));
        let lanes = if known.bytes < 8 {
            Lanes::One(self.gathered(types::I32X4, &values))
        } else {
            Lanes::Two([&values[..2], &values[2..]].map(|pair| self.gathered(types::I64X2, pair)))
        };
        if width == Width::W64 { self.extended(lanes, known.signed) } else { lanes }
    }

    /// Stores an element to local memory, of each lane to its own.
    pub fn store_local(&mut self, known: &Known, value: Lanes) {
        let places = self.local_places(known.number);
        for (lane, at) in places.into_iter().enumerate() {
            let value = match value {
                Lanes::One(value) => self.b.ins().extractlane(value, lane as u8),
                Lanes::Two(halves) => self.b.ins().extractlane(halves[lane / 2], lane as u8 % 2),
            };
            let past = known.before as i32;
            match known.bytes {
                1 => self.b.ins().istore8(GUEST, value, at, past),
                2 => self.b.ins().istore16(GUEST, value, at, past),
                4 if self.b.func.dfg.value_type(value) == types::I64 => {
                    self.b.ins().istore32(GUEST, value, at, past)
                }
                _ => self.b.ins().store(GUEST, value, at, past),
            };
        }
    }
}
