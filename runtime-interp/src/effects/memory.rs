//! `ld ldu st`, addresses and fences (PTX ISA 9.0, 9.7.9.8-9.7.9.20 and 9.7.13.4).

use super::{Source, address as address_of, cluster, elements, names_cluster, order, scope, spaces, value};
use crate::engine::lanes::vector;
use crate::engine::{Access, Address, Fence, FunctionBuilder, Order, Reg, StackOp, Width};
use crate::memory::window;
use smallvec::SmallVec;
use warpsmith_isa::{Instruction, SpaceModifier, StateSpace};
use warpsmith_semantics::Effect;

/// The space that an address is in: in a function, parameters lie on the stack, so an address of one is an address in local memory.
fn space_of(i: &Instruction, body: &FunctionBuilder<'_>) -> StateSpace {
    let of_kernel = body.is_kernel() || i.spaces().any(|space| space == SpaceModifier::ParamEntry);
    match i.space() == StateSpace::Param && !of_kernel {
        true => StateSpace::Local,
        false => i.space(),
    }
}

/// The access that an instruction describes, apart from its address.
pub(super) fn describe(i: &Instruction, address: Address, body: &FunctionBuilder<'_>) -> Option<Access> {
    let ty = i.ty()?;
    let space = match address {
        Address::Stack(_) => StateSpace::Local,
        Address::Reg(..) => space_of(i, body),
        Address::Symbol(..) | Address::Absolute(_) => i.space(),
    };
    let bytes = u8::try_from(ty.bytes()?).ok()?;
    let access = if ty.is_signed() { Access::signed(space, bytes) } else { Access::unsigned(space, bytes) };
    let access = access.reaching(access.cluster || names_cluster(i));
    Some(access.ordered(order(i).unwrap_or_default(), scope(i)))
}

pub(super) fn load(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let address = address_of(src.first())?;
    let access = describe(i, address, body)?;
    let width = Width::for_bits(i.ty()?.bits());
    let target = |n: usize| dst.get(n).copied().flatten();
    let targets: SmallVec<[Reg; 8]> =
        (0..elements(i)).map(|n| target(n).unwrap_or_else(|| body.reg(width))).collect();
    body.load(access, &targets, address);
    Some(())
}

pub(super) fn store(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let address = address_of(src.first())?;
    let access = describe(i, address, body)?;
    let width = Width::for_bits(i.ty()?.bits());
    let element = |body: &mut FunctionBuilder<'_>, s: &Source| match s {
        Source::Sink => Some(None),
        s @ (Source::Reg(_) | Source::Bits(_) | Source::Not(_) | Source::Address(_)) => {
            value(body, Some(s), width).map(Some)
        }
    };
    let values: SmallVec<[Option<Reg>; 8]> =
        src.get(1..=elements(i))?.iter().map(|s| element(body, s)).collect::<Option<_>>()?;
    body.store_some(access, &values, address);
    Some(())
}

/// `isspacep`
pub(super) fn is_in_space(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let Some(d) = dst.first().copied()? else { return Some(()) };
    let space = space_of(i, body);
    let base = window::base(space)?;
    let mut a = value(body, src.first(), Width::W64)?;
    if a.width() == Width::W32 {
        // An address of 32 bits is a generic one whose upper half is zero.
        let wide = body.reg(Width::W64);
        body.lanes(vector(|a: u32| u64::from(a)), &[wide], &[a]);
        a = wide;
    }
    let base = body.constant(base.into(), Width::W64);
    if space == StateSpace::Shared && !names_cluster(i) {
        cluster::is_own(body, d, a, base);
    } else if space == StateSpace::Global {
        body.lanes(vector(|a: u64| window::is_global(a)), &[d], &[a]);
    } else {
        body.lanes(vector(|a: u64, base: u64| a & !(window::SIZE - 1) == base), &[d], &[a, base]);
    }
    Some(())
}

/// `cvta` and `cvta.to`
pub(super) fn convert_address(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    to_space: bool,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let Some(d) = dst.first().copied()? else { return Some(()) };
    let base = window::base(space_of(i, body))?;
    let a = value(body, src.first(), Width::W64)?;
    // Addresses of 32 bits cannot be generic: ptxas has no code for them either.
    if d.width() != Width::W64 || a.width() != Width::W64 {
        return None;
    }
    if base == 0 {
        body.copy(d, a);
        return Some(());
    }
    let base = body.constant(base.into(), Width::W64);
    let f = if to_space {
        vector(|a: u64, base: u64| a.wrapping_sub(base))
    } else {
        vector(|a: u64, base: u64| a.wrapping_add(base))
    };
    body.lanes(f, &[d], &[a, base]);
    Some(())
}

/// `alloca`, `stacksave` and `stackrestore` (PTX ISA 9.0, 9.7.17).
pub(super) fn stack(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    effect: Effect,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    const LEAST_ALIGN: u32 = 8;
    let width = Width::for_bits(i.ty()?.bits());
    let d = dst.first().copied().flatten();
    let op = if effect == Effect::StackSave {
        StackOp::Save(d?)
    } else if effect == Effect::StackRestore {
        StackOp::Restore(value(body, src.first(), width)?)
    } else {
        let align = match src.get(1) {
            None => LEAST_ALIGN,
            Some(Source::Bits(align)) => u32::try_from(*align).ok()?.max(LEAST_ALIGN),
            Some(Source::Reg(_) | Source::Not(_) | Source::Address(_) | Source::Sink) => return None,
        };
        StackOp::Allocate { dst: d?, size: value(body, src.first(), width)?, align }
    };
    body.stack(op);
    Some(())
}

/// `membar` and `fence`. Proxies and mbarrier initialisation are fences too; the engine has one view of memory.
pub(super) fn fence(body: &mut FunctionBuilder<'_>, i: &Instruction, default: Order) -> Option<()> {
    body.fence(Fence { order: order(i).unwrap_or(default), scope: scope(i) });
    Some(())
}

/// `tensormap.cp_fenceproxy`: copies a tensor map of 128 bytes, and is a fence (PTX ISA 9.0, 9.7.13.16).
pub(super) fn copy_tensor_map(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let [(to, _), (from, _)] = spaces(i).collect::<SmallVec<[_; 2]>>()[..] else { return None };
    let (to_address, from_address) = (address_of(src.first())?, address_of(src.get(1))?);
    let half: SmallVec<[Reg; 8]> = (0..4).map(|_| body.reg(Width::W128)).collect();
    super::tensor_memory::meet(body);
    for offset in [0, 64] {
        body.load(Access::unsigned(from, 16), &half, from_address.plus(offset));
        body.store(Access::unsigned(to, 16), &half, to_address.plus(offset));
    }
    body.fence(Fence { order: Order::Release, scope: scope(i) });
    Some(())
}
