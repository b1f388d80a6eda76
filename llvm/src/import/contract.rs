//! Products and sums that are rounded once, where both say that they may be.
//!
//! This is decided when a function is imported, so that every level of optimisation computes the same. A product that is kept in a variable in
//! between is seen where the same block has stored it there last: `float p = a * b; s += p;`. A product with several uses is fused with each sum,
//! as by nvcc and LLVM for NVIDIA's targets; if nothing else needs it, it is dead then. What functions return and other memory keeps is left to the
//! pass `contract`, which the levels differ in.

use super::function::{Builder, Values, local};
use crate::error::Result;
use crate::module::body::{Access, Body, Inst, InstKind};
use crate::module::ops::{BinaryOp, FastMath, Ordering};
use crate::module::{GlobalValue, Module, ValueId};
use warpsmith_base::FxHashMap;
use warpsmith_ir::InstBuilder;

/// Loads of loads that are followed to what was stored.
const MAX_VARIABLES: u32 = 8;

/// How the values of a function are used.
pub(super) struct Uses {
    /// How often each is an operand.
    counts: Vec<u32>,
    /// What loads of variables give, where the same block has stored it.
    stored: FxHashMap<ValueId, ValueId>,
    /// How many loads there are of the variables that each value is stored in.
    loads: FxHashMap<ValueId, u32>,
}

impl Uses {
    pub fn of(body: &Body, module: &Module<'_>) -> Uses {
        let mut counts = vec![0u32; body.types.len()];
        for inst in &body.insts {
            body.operands(inst, |value| {
                if let Some(count) = local(body, value).and_then(|n| counts.get_mut(n)) {
                    *count += 1;
                }
            });
        }
        let mut uses = Uses { counts, stored: FxHashMap::default(), loads: FxHashMap::default() };
        uses.follow(body, &variables(body, module));
        uses
    }

    /// Notes what each load of a variable gives.
    fn follow(&mut self, body: &Body, variables: &[bool]) {
        let is_variable = |ptr: ValueId| local(body, ptr).and_then(|n| variables.get(n)) == Some(&true);
        let type_of = |value: ValueId| local(body, value).and_then(|n| body.types.get(n));
        let mut loads: FxHashMap<ValueId, u32> = FxHashMap::default();
        for inst in &body.insts {
            if let InstKind::Load { ptr, .. } = inst.kind
                && is_variable(ptr)
            {
                *loads.entry(ptr).or_default() += 1;
            }
        }
        let mut held: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        for block in &body.blocks {
            held.clear();
            for inst in body.insts.get(block.start as usize..block.end as usize).unwrap_or_default() {
                if let InstKind::Store { ptr, value, .. } = inst.kind
                    && is_variable(ptr)
                {
                    held.insert(ptr, value);
                    *self.loads.entry(value).or_default() += loads.get(&ptr).copied().unwrap_or(0);
                }
                if let (InstKind::Load { ptr, .. }, Some(result)) = (&inst.kind, inst.value)
                    && let Some(&value) = held.get(ptr)
                    && type_of(value) == Some(&inst.ty)
                {
                    self.stored.insert(result, value);
                }
            }
        }
    }

    /// What a value is, seen through variables.
    fn origin(&self, mut value: ValueId) -> ValueId {
        for _ in 0..MAX_VARIABLES {
            let Some(&stored) = self.stored.get(&value) else { break };
            value = stored;
        }
        value
    }
}

/// Which values are the addresses of variables that are only loaded and stored as a whole: nothing else can change these.
#[expect(clippy::wildcard_enum_match_arm, reason = "whatever else sees an address may keep it")]
fn variables(body: &Body, module: &Module<'_>) -> Vec<bool> {
    let mut variables = vec![false; body.types.len()];
    for inst in &body.insts {
        if let (InstKind::Alloca { .. }, Some(n)) = (&inst.kind, inst.value.and_then(|v| local(body, v)))
            && let Some(variable) = variables.get_mut(n)
        {
            *variable = true;
        }
    }
    let mut give_up = |value: ValueId| {
        if let Some(variable) = local(body, value).and_then(|n| variables.get_mut(n)) {
            *variable = false;
        }
    };
    let is_plain = |access: &Access| !access.volatile && access.ordering == Ordering::NotAtomic;
    for inst in &body.insts {
        match inst.kind {
            InstKind::Load { ref access, .. } if is_plain(access) => {}
            InstKind::Store { value, ref access, .. } if is_plain(access) => give_up(value),
            InstKind::Call(ref call) if is_lifetime(module, call.callee) => {}
            _ => body.operands(inst, &mut give_up),
        }
    }
    variables
}

/// `llvm.lifetime.start` and `llvm.lifetime.end` neither read nor write.
fn is_lifetime(module: &Module<'_>, callee: ValueId) -> bool {
    let Some(GlobalValue::Function(n)) = module.global_value(callee) else { return false };
    module.functions.get(n).is_some_and(|function| function.name.starts_with("llvm.lifetime."))
}

/// A product that may be fused.
struct Product {
    factors: [ValueId; 2],
    /// How often it is used.
    uses: u32,
}

impl Builder<'_, '_, '_> {
    /// True for a value of the function that is used once.
    pub fn is_used_once(&self, value: ValueId) -> bool {
        local(self.body, value).and_then(|n| self.uses().counts.get(n)) == Some(&1)
    }

    fn uses(&self) -> &Uses {
        self.uses.get_or_init(|| Uses::of(self.body, self.module()))
    }

    /// A sum or difference with a product, where the flags of both let them be rounded once.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only sums are contracted")]
    pub fn fused(&mut self, op: BinaryOp, flags: u64, x: ValueId, y: ValueId) -> Result<Option<Values>> {
        let negated = match op {
            BinaryOp::Fadd => false,
            BinaryOp::Fsub => true,
            _ => return Ok(None),
        };
        if !FastMath::of(flags).has(FastMath::CONTRACT) {
            return Ok(None);
        }
        // A difference takes a negation, which pays only if nothing is left of the product.
        let product = |value| self.product(value).filter(|product| !negated || product.uses == 1);
        // Of two products the one with fewer uses, of which less is left.
        let (product, other, product_first) = match (product(x), product(y)) {
            (Some(first), Some(second)) if second.uses < first.uses => (second, x, false),
            (Some(first), _) => (first, y, true),
            (None, Some(second)) => (second, x, false),
            (None, None) => return Ok(None),
        };
        let [a, b] = product.factors;
        let (a, b, c) = (self.value(a)?, self.value(b)?, self.value(other)?);
        let mut out = Values::new();
        for ((a, b), c) in a.into_iter().zip(b).zip(c) {
            let (mut a, mut c) = (a, c);
            match (negated, product_first) {
                (true, true) => c = self.b.ins().fneg(c),
                (true, false) => a = self.b.ins().fneg(a),
                (false, _) => {}
            }
            out.push(self.multiply_add(a, b, c));
        }
        Ok(Some(out))
    }

    /// The product with the flag that a value is.
    fn product(&self, value: ValueId) -> Option<Product> {
        let uses = self.uses();
        let origin = uses.origin(value);
        let Inst { kind: InstKind::Binary { op: BinaryOp::Fmul, flags, x, y }, .. } =
            *self.body.definition(origin)?
        else {
            return None;
        };
        if !FastMath::of(flags).has(FastMath::CONTRACT) {
            return None;
        }
        let direct = local(self.body, origin).and_then(|n| uses.counts.get(n)).copied().unwrap_or(0);
        // The store into a variable is no use of its own.
        let uses = match uses.loads.get(&origin) {
            Some(&loads) => direct.saturating_add(loads).saturating_sub(1),
            None => direct,
        };
        Some(Product { factors: [x, y], uses })
    }
}
