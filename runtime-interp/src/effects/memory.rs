//! `ld ldu st`, addresses and fences (PTX ISA 9.0, 9.7.9.8-9.7.9.20 and 9.7.13.4).

use super::{Source, Words, address as address_of, cluster, value};
use crate::engine::lanes::{LaneFn, vector};
use crate::engine::{Access, Address, Fence, FunctionBuilder, Order, Reg, StackOp, Width};
use crate::memory::window;
use smallvec::SmallVec;
use warpsmith_isa::StateSpace;

/// The access that a mnemonic describes, apart from its address.
pub(super) fn describe(words: &Words, address: Address, body: &FunctionBuilder<'_>) -> Option<Access> {
    let ty = words.ty()?;
    let space = match (words.space.unwrap_or(StateSpace::Generic), address) {
        (_, Address::Stack(_)) => StateSpace::Local,
        // In a function, parameters lie on the stack: an address of one is an address in local memory.
        (StateSpace::Param, Address::Reg(..)) if !body.is_kernel() && !words.has("param::entry") => {
            StateSpace::Local
        }
        (space, _) => space,
    };
    let bytes = u8::try_from(ty.bytes()?).ok()?;
    let access = if ty.is_signed() { Access::signed(space, bytes) } else { Access::unsigned(space, bytes) };
    let access = access.reaching(access.cluster || words.has("shared::cluster"));
    Some(access.ordered(words.order().unwrap_or_default(), words.scope()))
}

pub(super) fn access(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let address = address_of(src.first())?;
    let access = describe(words, address, body)?;
    let (count, width) = (words.elements(), Width::for_bits(words.ty()?.bits()));
    if words.head == "st" {
        let element = |body: &mut FunctionBuilder<'_>, s: &Source| match s {
            Source::Sink => Some(None),
            s => value(body, Some(s), width).map(Some),
        };
        let values: SmallVec<[Option<Reg>; 8]> =
            src.get(1..=count)?.iter().map(|s| element(body, s)).collect::<Option<_>>()?;
        body.store_some(access, &values, address);
    } else {
        let targets: SmallVec<[Reg; 8]> =
            (0..count).map(|i| dst.get(i).copied().flatten().unwrap_or_else(|| body.reg(width))).collect();
        body.load(access, &targets, address);
    }
    Some(())
}

/// `cvta isspacep createpolicy`
pub(super) fn address(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let Some(d) = dst.first().copied()? else { return Some(()) };
    if words.head == "createpolicy" {
        // What a policy looks like is up to the implementation, and none does anything here.
        let none = body.constant(0, Width::W64);
        body.copy(d, none);
        return Some(());
    }
    let space = match words.space? {
        StateSpace::Param if !body.is_kernel() && !words.has("param::entry") => StateSpace::Local,
        space => space,
    };
    let base = window::base(space)?;
    let mut a = value(body, src.first(), Width::W64)?;
    if words.head == "isspacep" {
        if a.width() == Width::W32 {
            // An address of 32 bits is a generic one whose upper half is zero.
            let wide = body.reg(Width::W64);
            body.lanes(vector(|a: u32| u64::from(a)), &[wide], &[a]);
            a = wide;
        }
        if space == StateSpace::Shared && !words.has("shared::cluster") {
            let base = body.constant(base.into(), Width::W64);
            cluster::is_own(body, d, a, base);
            return Some(());
        }
        let f: LaneFn = match space {
            StateSpace::Global => vector(|a: u64| window::is_global(a)),
            _ => vector(|a: u64, base: u64| a & !(window::SIZE - 1) == base),
        };
        let base = body.constant(base.into(), Width::W64);
        let sources = if space == StateSpace::Global { &[a][..] } else { &[a, base] };
        body.lanes(f, &[d], sources);
        return Some(());
    }
    // Addresses of 32 bits cannot be generic: ptxas has no code for them either.
    if d.width() != Width::W64 || a.width() != Width::W64 {
        return None;
    }
    if base == 0 {
        body.copy(d, a);
        return Some(());
    }
    let base = body.constant(base.into(), Width::W64);
    let f = if words.has("to") {
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
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    const LEAST_ALIGN: u32 = 8;
    let width = Width::for_bits(words.ty()?.bits());
    let d = dst.first().copied().flatten();
    let op = match words.head {
        "stacksave" => StackOp::Save(d?),
        "stackrestore" => StackOp::Restore(value(body, src.first(), width)?),
        _ => {
            let align = match src.get(1) {
                None => LEAST_ALIGN,
                Some(Source::Bits(align)) => u32::try_from(*align).ok()?.max(LEAST_ALIGN),
                Some(_) => return None,
            };
            StackOp::Allocate { dst: d?, size: value(body, src.first(), width)?, align }
        }
    };
    body.stack(op);
    Some(())
}

/// `membar` and `fence`. Proxies and mbarrier initialisation are fences too; the engine has one view of memory.
pub(super) fn fence(body: &mut FunctionBuilder<'_>, words: &Words) -> Option<()> {
    let order = words.order().unwrap_or(if words.head == "membar" { Order::SeqCst } else { Order::AcqRel });
    body.fence(Fence { order, scope: words.scope() });
    Some(())
}

/// `tensormap.cp_fenceproxy`: copies a tensor map of 128 bytes, and is a fence (PTX ISA 9.0, 9.7.13.16).
pub(super) fn copy_tensor_map(body: &mut FunctionBuilder<'_>, words: &Words, src: &[Source]) -> Option<()> {
    let [(to, _), (from, _)] = words.spaces().collect::<SmallVec<[_; 2]>>()[..] else { return None };
    let (to_address, from_address) = (address_of(src.first())?, address_of(src.get(1))?);
    let half: SmallVec<[Reg; 8]> = (0..4).map(|_| body.reg(Width::W128)).collect();
    for offset in [0, 64] {
        body.load(Access::unsigned(from, 16), &half, from_address.plus(offset));
        body.store(Access::unsigned(to, 16), &half, to_address.plus(offset));
    }
    body.fence(Fence { order: Order::Release, scope: words.scope() });
    Some(())
}
