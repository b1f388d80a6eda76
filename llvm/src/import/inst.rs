//! One instruction of LLVM.

use super::function::{Builder, Values};
use super::shape::{MAX_BITS, TENSOR_MEMORY};
use super::{float, integer};
use crate::error::{Error, Result};
use crate::module::body::{Inst, InstKind};
use crate::module::ops::{BinaryOp, FastMath, Ordering, Predicate};
use crate::module::types::{Type as Llvm, TypeId};
use crate::module::{GlobalValue, ValueId};
use warpsmith_ir::{BlockCall, InstBuilder, Type, Value};

impl Builder<'_, '_, '_> {
    /// Imports instruction `n` of a block.
    pub fn inst(&mut self, block: u32, n: u32, inst: &Inst) -> Result<()> {
        if let InstKind::Gep { base: ptr, .. }
        | InstKind::Load { ptr, .. }
        | InstKind::Store { ptr, .. }
        | InstKind::CmpXchg { ptr, .. }
        | InstKind::AtomicRmw { ptr, .. } = inst.kind
            && let Some(Llvm::Pointer { space: TENSOR_MEMORY, .. }) =
                self.llvm_type(ptr).map(|ty| self.ty(ty))
        {
            return Err(Error::unsupported(
                "an access to `addrspace(6)`, tensor memory, other than by instructions of its own",
            ));
        }
        match &inst.kind {
            InstKind::Phi { .. } => Ok(()),
            InstKind::Fneg { x, .. } => {
                let values = self.value(*x)?;
                let out: Values = values.into_iter().map(|value| self.b.ins().fneg(value)).collect();
                self.result(inst, &out)
            }
            InstKind::Binary { op, flags, x, y } => self.binary(inst, *op, *flags, *x, *y),
            InstKind::Cast { op, flags, x } => self.cast(inst, *op, *flags, *x),
            InstKind::Gep { source, base, indices, .. } => {
                self.gep(inst, *source, *base, self.body.indices(*indices))
            }
            InstKind::Select { cond, x, y, .. } => self.select(inst, *cond, *x, *y),
            InstKind::Compare { predicate, x, y, .. } => self.comparison(inst, *predicate, *x, *y),
            InstKind::Freeze(x) => {
                let values = self.value(*x)?;
                self.result(inst, &values)
            }
            InstKind::Return(value) => {
                let values = value.map(|value| self.value(value)).transpose()?.unwrap_or_default();
                self.check_returned(*value)?;
                let result = match self.b.func().ret.first() {
                    Some(&ty) => Some(self.put_together(ty, &mut values.into_iter())?),
                    None => None,
                };
                self.b.ins().ret(result.as_slice());
                Ok(())
            }
            InstKind::Br(to) => {
                let (to, args) = self.target(block, *to)?;
                self.b.ins().jump(to, &args);
                Ok(())
            }
            InstKind::CondBr { cond, then, otherwise } => {
                let cond = self.scalar(*cond)?;
                let (then, then_args) = self.target(block, *then)?;
                let (otherwise, else_args) = self.target(block, *otherwise)?;
                self.b.ins().brif(cond, then, &then_args, otherwise, &else_args);
                Ok(())
            }
            InstKind::Switch { value, default, cases } => {
                self.switch(block, *value, *default, self.body.edges(*cases))
            }
            InstKind::Unreachable => {
                self.b.ins().unreachable();
                Ok(())
            }
            InstKind::IndirectBr { address, targets } => {
                self.indirect_branch(block, *address, self.body.edges(*targets))
            }
            InstKind::Alloca { ty, count, align } => self.alloca(block, inst, *ty, *count, *align),
            InstKind::Load { ptr, access } if access.ordering == Ordering::NotAtomic => {
                self.load(n, inst, *ptr, access)
            }
            InstKind::Load { ptr, access } => self.atomic_load(inst, *ptr, access),
            InstKind::Store { ptr, value, access } if access.ordering == Ordering::NotAtomic => {
                self.store(*ptr, *value, access)
            }
            InstKind::Store { ptr, value, access } => self.atomic_store(*ptr, *value, access),
            InstKind::Fence { ordering, scope } => self.fence(*ordering, *scope),
            InstKind::CmpXchg { ptr, expected, new, access, failure, .. } => {
                self.compare_exchange(inst, *ptr, *expected, *new, access, *failure)
            }
            InstKind::AtomicRmw { op, ptr, value, access } => {
                self.atomic_rmw(inst, *op, *ptr, *value, access)
            }
            InstKind::ExtractValue { aggregate, indices } => {
                let ty = self.value_type(*aggregate)?;
                let range = super::shape::range(self.types(), ty, self.body.path(*indices))?;
                let all = self.value(*aggregate)?;
                let mut part = Values::from_slice(all.get(range).unwrap_or_default());
                if let ([value], Some(result)) = (part.as_mut_slice(), inst.value) {
                    let ty = self.known_type(result, self.type_of(*value));
                    *value = self.pointer_as(*value, ty);
                }
                self.result(inst, &part)
            }
            InstKind::InsertValue { aggregate, value, indices } => {
                let range = super::shape::range(self.types(), inst.ty, self.body.path(*indices))?;
                let mut all = self.value(*aggregate)?;
                let value = self.value(*value)?;
                for (slot, value) in all.get_mut(range).unwrap_or_default().iter_mut().zip(value) {
                    *slot = value;
                }
                self.result(inst, &all)
            }
            InstKind::ExtractElement { vector, index } => {
                let elements = self.value(*vector)?;
                let step = self.parts(inst.ty)?.len().max(1);
                let lanes: Vec<&[Value]> = elements.chunks(step).collect();
                if let Some(n) = self.constant_integer(*index) {
                    let element = usize::try_from(n).ok().and_then(|n| lanes.get(n)).or(lanes.first());
                    let element = Values::from_slice(element.copied().unwrap_or_default());
                    return self.result(inst, &element);
                }
                let index = self.scalar(*index)?;
                let lanes = lanes.into_iter().map(Values::from_slice).collect();
                let element = self.picked(lanes, index);
                self.result(inst, &element)
            }
            InstKind::InsertElement { vector, element, index } => {
                let mut elements = self.value(*vector)?;
                let element = self.value(*element)?;
                let step = element.len().max(1);
                if let Some(n) = self.constant_integer(*index) {
                    let at = usize::try_from(n).unwrap_or(0).saturating_mul(step);
                    for (slot, value) in elements.iter_mut().skip(at).zip(&element) {
                        *slot = *value;
                    }
                    return self.result(inst, &elements);
                }
                let index = self.scalar(*index)?;
                for n in 0..elements.len() / step {
                    let is = self.is_index(index, n);
                    for (k, value) in element.iter().enumerate() {
                        let slot = n * step + k;
                        elements[slot] = self.choose(is, *value, elements[slot]);
                    }
                }
                self.result(inst, &elements)
            }
            InstKind::ShuffleVector { x, y, mask } => {
                let all: Values = self.value(*x)?.into_iter().chain(self.value(*y)?).collect();
                let of = self.value_type(*x)?;
                let lanes = self.lanes(of).1 * 2;
                let step = all.len().checked_div(lanes).unwrap_or(1);
                let mask = self.value(*mask)?;
                let mut out = Values::new();
                for lane in mask {
                    // An undefined lane is any: the first.
                    let n =
                        self.b.func().dfg.int_const(lane).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
                    out.extend_from_slice(all.get(n * step..(n + 1) * step).unwrap_or_default());
                }
                self.result(inst, &out)
            }
            InstKind::Call(call) => self.call(inst, call),
            InstKind::Invoke { call, normal, .. } => {
                self.call(inst, call)?;
                // A callee that never returns has ended the block.
                if !self.b.is_filled() {
                    let (to, args) = self.target(block, *normal)?;
                    self.b.ins().jump(to, &args);
                }
                Ok(())
            }
            InstKind::LandingPad { .. } | InstKind::Resume(_) => {
                Err(Error::invalid("what handles an exception is reached without one"))
            }
            InstKind::VaArg { list } => self.next_variadic(inst, *list),
        }
    }

    /// What is returned is what the function gives.
    fn check_returned(&mut self, value: Option<ValueId>) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        let found = self.value_type(value)?;
        let GlobalValue::Function(n) = self.site.value else { return Ok(()) };
        let module = self.module();
        let signature = module.functions.get(n).and_then(|function| module.signature(function.ty));
        let Some(ret) = signature.map(|(_, ret, _)| ret) else { return Ok(()) };
        // The type of a symbol is made for the question, so that equal types may have two numbers.
        if ret == found
            || self.parts(ret)?.iter().map(|part| part.ty).eq(self.parts(found)?.iter().map(|part| part.ty))
        {
            return Ok(());
        }
        let types = self.types();
        let (found, ret) = (types.display(found), types.display(ret));
        Err(Error::invalid(format!("`ret` of `{found}` in a function that gives `{ret}`")))
    }

    /// The element at an index that is not a constant; any, where there is none. Of few elements each is compared with the index; of more the
    /// bits of the index halve what is left, from the lowest on, which takes one comparison per bit.
    fn picked(&mut self, mut lanes: Vec<Values>, index: Value) -> Values {
        const FEW: usize = 4;
        let mut bit = 0;
        while lanes.len() > FEW || (bit > 0 && lanes.len() > 1) {
            let ty = self.type_of(index);
            let mask = self.b.ins().iconst(ty, 1 << bit);
            let masked = self.b.ins().band(index, mask);
            let zero = self.b.ins().iconst(ty, 0);
            let odd = self.b.ins().icmp(warpsmith_ir::IntCC::Ne, masked, zero);
            lanes = lanes
                .chunks(2)
                .map(|pair| match pair {
                    [even, above] => self.choose_all(odd, above, even),
                    rest => rest.first().cloned().unwrap_or_default(),
                })
                .collect();
            bit += 1;
        }
        let mut lanes = lanes.into_iter();
        let first = lanes.next().unwrap_or_default();
        lanes.enumerate().fold(first, |others, (n, lane)| {
            let is = self.is_index(index, n + 1);
            self.choose_all(is, &lane, &others)
        })
    }

    fn choose_all(&mut self, cond: Value, x: &Values, y: &Values) -> Values {
        x.iter().zip(y).map(|(x, y)| self.choose(cond, *x, *y)).collect()
    }

    fn is_index(&mut self, index: Value, n: usize) -> Value {
        let ty = self.type_of(index);
        let number = self.b.ins().iconst(ty, n as i64);
        self.b.ins().icmp(warpsmith_ir::IntCC::Eq, index, number)
    }

    /// One of two values of a type; pointers into two spaces become generic.
    pub fn choose(&mut self, cond: Value, x: Value, y: Value) -> Value {
        let (x, y) =
            if self.type_of(x) == self.type_of(y) { (x, y) } else { (self.generic(x), self.generic(y)) };
        self.b.ins().select(cond, x, y)
    }

    fn binary(&mut self, inst: &Inst, op: BinaryOp, flags: u64, x: ValueId, y: ValueId) -> Result<()> {
        if let Some(values) = self.fused(op, flags, x, y)? {
            return self.result(inst, &values);
        }
        if let Llvm::Integer(bits @ ..=MAX_BITS) = *self.ty(inst.ty) {
            let (x, y) = (self.scalar(x)?, self.scalar(y)?);
            let value = self.narrow(op, bits, x, y)?;
            self.promise(op, flags, bits, value);
            return self.result(inst, &[value]);
        }
        let (x, y) = (self.value(x)?, self.value(y)?);
        let out = self.combine_values(op, flags, inst.ty, &x, &y)?;
        self.result(inst, &out)
    }

    /// An operation on scalars, or on each element of vectors.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not an integer is a float")]
    pub fn combine_values(
        &mut self,
        op: BinaryOp,
        flags: u64,
        ty: TypeId,
        x: &[Value],
        y: &[Value],
    ) -> Result<Values> {
        let (element, lanes) = self.lanes(ty);
        let step = x.len().checked_div(lanes).unwrap_or(1).max(1);
        let mut out = Values::new();
        let arithmetic = matches!(op, BinaryOp::Fadd | BinaryOp::Fsub | BinaryOp::Fmul);
        if arithmetic && lanes > 1 && lanes.is_multiple_of(2) && self.pairs_floats(element) {
            for (x, y) in x.chunks(2).zip(y.chunks(2)) {
                let [x, y] = [x, y].map(|pair| self.b.ins().vec(pair));
                let both = self.fast_float(op, FastMath::of(flags), x, y)?;
                out.extend([0, 1].map(|lane| self.b.ins().extract(both, lane)));
            }
            return Ok(out);
        }
        for (x, y) in x.chunks(step).zip(y.chunks(step)) {
            match self.ty(element) {
                Llvm::Integer(bits) => {
                    let bits = *bits;
                    let made = self.integer(op, bits, x, y)?;
                    if let &[value] = &made[..] {
                        self.promise(op, flags, bits, value);
                    }
                    out.extend(made);
                }
                _ => out.push(self.fast_float(op, FastMath::of(flags), x[0], y[0])?),
            }
        }
        Ok(out)
    }

    /// Whether the target computes with two floats of a type of LLVM at once that are not halves of a word: `.f32x2` (PTX ISA 9.0, 9.7.3).
    fn pairs_floats(&self, element: TypeId) -> bool {
        !self.ftz
            && matches!(self.ty(element), Llvm::Float)
            && self.b.module().target.is_some_and(|target| target.sm >= 100)
    }

    /// Keeps the promise that a result does not wrap, where something comes of it, and that a divisor is not 0, which LLVM asks of all.
    fn promise(&mut self, op: BinaryOp, flags: u64, bits: u32, value: Value) {
        let sum = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        let division = matches!(op, BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem);
        let fits = sum && flags & super::integer::NO_SIGNED_WRAP != 0;
        if (division || fits) && matches!(bits, 32 | 64) {
            self.b.promise(value);
        }
    }

    fn select(&mut self, inst: &Inst, cond: ValueId, x: ValueId, y: ValueId) -> Result<()> {
        let conds = self.value(cond)?;
        let (x, y) = (self.value(x)?, self.value(y)?);
        let step = x.len().checked_div(conds.len()).unwrap_or(1).max(1);
        let mut out = Values::new();
        for (n, (x, y)) in x.into_iter().zip(y).enumerate() {
            let Some(cond) = conds.get(n / step).copied() else { break };
            let (mut x, mut y) = (x, y);
            if self.type_of(cond) != Type::I1 {
                return Err(Error::invalid("a `select` by what is not a condition"));
            }
            if let Some(result) = inst.value.filter(|_| self.type_of(x).is_ptr()) {
                let ty = self.known_type(result, Type::PTR);
                (x, y) = (self.pointer_as(x, ty), self.pointer_as(y, ty));
            }
            out.push(self.choose(cond, x, y));
        }
        self.result(inst, &out)
    }

    fn comparison(&mut self, inst: &Inst, predicate: Predicate, x: ValueId, y: ValueId) -> Result<()> {
        let ty = self.value_type(x)?;
        if let (Some(cond), Llvm::Integer(bits @ ..=MAX_BITS)) = (integer::condition(predicate), self.ty(ty))
        {
            let bits = *bits;
            let (x, y) = (self.scalar(x)?, self.scalar(y)?);
            let value = self.compare(cond, bits, &[x], &[y])?;
            return self.result(inst, &[value]);
        }
        let (x, y) = (self.value(x)?, self.value(y)?);
        let out = self.compare_values(predicate, ty, &x, &y)?;
        self.result(inst, &out)
    }

    /// A comparison of scalars, or of each element of vectors.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not compared is refused by name")]
    pub fn compare_values(
        &mut self,
        predicate: Predicate,
        ty: TypeId,
        x: &[Value],
        y: &[Value],
    ) -> Result<Values> {
        let (element, lanes) = self.lanes(ty);
        let step = x.len().checked_div(lanes).unwrap_or(1).max(1);
        let wrong = || Error::unsupported(format!("`{}` between such values", predicate.name()));
        let mut out = Values::new();
        for (x, y) in x.chunks(step).zip(y.chunks(step)) {
            let value = match (integer::condition(predicate), float::condition(predicate)) {
                (Some(cond), _) => match self.ty(element) {
                    Llvm::Integer(bits) => {
                        let bits = *bits;
                        self.compare(cond, bits, x, y)?
                    }
                    Llvm::Pointer { .. } => self.compare_pointers(cond, x[0], y[0]),
                    _ => return Err(wrong()),
                },
                (None, Some(Ok(cond))) => {
                    let (of_x, of_y) = (self.type_of(x[0]), self.type_of(y[0]));
                    if of_x != of_y || !of_x.is_float() {
                        return Err(Error::invalid(format!("a comparison of `{of_x}` and `{of_y}`")));
                    }
                    self.b.ins().fcmp(cond, x[0], y[0])
                }
                (None, Some(Err(always))) => self.b.ins().iconst(Type::I1, i64::from(always)),
                (None, None) => return Err(wrong()),
            };
            out.push(value);
        }
        Ok(out)
    }

    fn switch(&mut self, block: u32, value: ValueId, default: u32, cases: &[(ValueId, u32)]) -> Result<()> {
        let ty = self.value_type(value)?;
        let bits = self.width(ty)?;
        if bits > 64 {
            let value = self.value(value)?;
            return self.wide_switch(block, bits, &value, default, cases);
        }
        let mut value = self.scalar(value)?;
        if bits == 1 {
            value = self.b.ins().zext(Type::I8, value);
        }
        let (to, args) = self.target(block, default)?;
        let default = BlockCall::new(to, &args, &mut self.b.func_mut().dfg.pool);
        let mut all = Vec::new();
        let mut seen = warpsmith_base::FxHashSet::default();
        for (case, to) in cases {
            let Some(number) = self.constant_integer(*case) else {
                return Err(Error::unsupported("a case that is not an integer"));
            };
            let number = if bits < 64 { number & integer::low_bits(bits) } else { number };
            if !seen.insert(number) {
                return Err(Error::invalid(format!("case {number} of a `switch` stands there twice")));
            }
            let (to, args) = self.target(block, *to)?;
            all.push((number, BlockCall::new(to, &args, &mut self.b.func_mut().dfg.pool)));
        }
        self.b.ins().switch(value, default, all);
        Ok(())
    }

    /// A switch whose cases may have more than 64 bits: one comparison after the other.
    fn wide_switch(
        &mut self,
        block: u32,
        bits: u32,
        value: &[Value],
        default: u32,
        cases: &[(ValueId, u32)],
    ) -> Result<()> {
        for (case, to) in cases {
            let case = self.value(*case)?;
            let same = self.compare(warpsmith_ir::IntCC::Eq, bits, value, &case)?;
            let (to, args) = self.target(block, *to)?;
            let next = self.b.create_block();
            self.b.ins().brif(same, to, &args, next, &[]);
            self.b.switch_to_block(next);
        }
        let (to, args) = self.target(block, default)?;
        self.b.ins().jump(to, &args);
        Ok(())
    }

    /// A branch to the block of an address: a switch over the numbers that addresses of blocks are ([`super::constant`]).
    fn indirect_branch(&mut self, block: u32, address: ValueId, targets: &[(ValueId, u32)]) -> Result<()> {
        let address = self.scalar(address)?;
        let number = self.b.ins().ptrtoint(address);
        let mut all = Vec::new();
        let mut seen = warpsmith_base::FxHashSet::default();
        for (_, target) in targets.iter().filter(|(_, target)| seen.insert(*target)) {
            let (to, args) = self.target(block, *target)?;
            all.push((super::constant::address_of_block(*target), to, args));
        }
        let Some((_, to, args)) = all.pop() else {
            self.b.ins().unreachable();
            return Ok(());
        };
        let pool = &mut self.b.func_mut().dfg.pool;
        let default = BlockCall::new(to, &args, pool);
        let cases = all.into_iter().map(|(n, to, args)| (n, BlockCall::new(to, &args, pool))).collect();
        self.b.ins().switch(number, default, cases);
        Ok(())
    }
}
