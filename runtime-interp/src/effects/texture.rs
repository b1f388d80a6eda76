//! `tex tld4 txq istypep suld sust sured suq` (PTX ISA 9.0, 9.7.10 and 9.7.11).
//!
//! Vectors may be longer than the geometry needs, so a decoder gives the operands one by one and not their elements in a row.

use super::{Source, value};
use crate::engine::{
    Address, DetailOp, FetchOp, FetchResult, FunctionBuilder, ReduceFn, Reg, SurfaceAction, SurfaceOp,
    TextureOp, Width, lanes, texture_shape,
};
use crate::texture::ReferenceKind;
use smallvec::SmallVec;
use warpsmith_isa::{
    Component, Instruction, Mod, Operation, OutOfRange, Reduction, ScalarType, Shape, TextureQuery, TypeRef,
};
use warpsmith_semantics::TextureAction;

/// The elements of an operand.
pub(crate) type Elements = SmallVec<[Source; 4]>;

/// The sources of an instruction on textures.
#[derive(Default)]
pub(crate) struct Operands {
    /// The parts of the bracket: the object, a sampler, coordinates. Of `istypep`, the pointer.
    pub bracket: SmallVec<[Elements; 3]>,
    /// What follows.
    pub rest: SmallVec<[Elements; 4]>,
}

/// Emits the instruction; `None` if it has no meaning.
#[expect(clippy::wildcard_enum_match_arm, reason = "only `txq.level` has a level")]
pub(crate) fn emit(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    action: TextureAction,
    dst: &[Option<Reg>],
    operands: &Operands,
) -> Option<()> {
    let object = handle(body, operands.bracket.first()?.first())?;
    let op = match action {
        TextureAction::Fetch | TextureAction::Gather => {
            TextureOp::Fetch(fetch(body, i, object, dst, operands)?)
        }
        TextureAction::Query => {
            let query = i.texture_query()?;
            let level = match i.operation() {
                Operation::TxqLevel => Some(value(body, operands.rest.first()?.first(), Width::W32)?),
                _ => None,
            };
            let kind = match (i.operation(), query) {
                (Operation::Suq, _) => ReferenceKind::Surface,
                (_, TextureQuery::ForceUnnormalizedCoords) => ReferenceKind::Sampler,
                _ => ReferenceKind::Texture,
            };
            TextureOp::Query { object, kind, query, level, dst: dst.first().copied().flatten() }
        }
        TextureAction::IsOfType => {
            let kind = ReferenceKind::of_type(i.ty()?)?;
            TextureOp::IsOfType { object, kind, dst: dst.first().copied().flatten() }
        }
        TextureAction::Load | TextureAction::Store | TextureAction::Reduce => {
            TextureOp::Surface(surface(body, i, action, object, dst, operands)?)
        }
    };
    body.texture(op);
    Some(())
}

/// The register that names an object.
fn handle(body: &mut FunctionBuilder<'_>, source: Option<&Source>) -> Option<Reg> {
    let r = match *source? {
        Source::Address(Address::Reg(r, 0)) | Source::Reg(r) => r,
        Source::Address(Address::Symbol(symbol, 0)) => body.program().address(symbol, 0, false),
        Source::Address(Address::Absolute(bits)) | Source::Bits(bits) => {
            body.constant(bits.into(), Width::W64)
        }
        Source::Address(_) | Source::Not(_) | Source::Sink => return None,
    };
    match r.width() {
        Width::W64 => Some(r),
        Width::W32 => {
            let wide = body.reg(Width::W64);
            body.lanes(lanes::vector(|a: u32| u64::from(a)), &[wide], &[r]);
            Some(wide)
        }
        Width::Pred | Width::W128 => None,
    }
}

/// The first elements of an operand, as words; zeros where it has fewer.
fn words<const N: usize>(
    body: &mut FunctionBuilder<'_>,
    elements: Option<&Elements>,
    count: usize,
) -> Option<SmallVec<[Reg; N]>>
where
    [Reg; N]: smallvec::Array<Item = Reg>,
{
    let elements = elements?;
    let word = |n: usize| match elements.get(n) {
        Some(source) => word(body, source),
        None => Some(body.constant(0, Width::W32)),
    };
    (0..count).map(word).collect()
}

/// A source in 32 bits.
fn word(body: &mut FunctionBuilder<'_>, source: &Source) -> Option<Reg> {
    let r = value(body, Some(source), Width::W32)?;
    let cut = match r.width() {
        Width::W32 => return Some(r),
        Width::W64 => lanes::vector(|a: u64| a as u32),
        Width::W128 => lanes::scalar(|a: u128| a as u32),
        Width::Pred => lanes::vector(|a: bool| u32::from(a)),
    };
    let d = body.reg(Width::W32);
    body.lanes(cut, &[d], &[r]);
    Some(d)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what reads no texture is refused by name")]
fn fetch(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    texture: Reg,
    dst: &[Option<Reg>],
    operands: &Operands,
) -> Option<Box<FetchOp>> {
    let geometry = i.geometry()?;
    let (dims, layer, sample) = texture_shape(geometry)?;
    let [_, sampler @ .., at] = operands.bracket.as_slice() else { return None };
    let sampler = match sampler {
        [] => None,
        [sampler, ..] => Some(handle(body, sampler.first())?),
    };
    let coordinates = words(body, Some(at), dims + usize::from(layer) + usize::from(sample))?;
    let mut rest = operands.rest.iter();
    let detail = match i.operation() {
        Operation::TexLevel => DetailOp::Level(words::<3>(body, rest.next(), 1)?.first().copied()?),
        Operation::TexGrad => {
            DetailOp::Gradient([words(body, rest.next(), dims)?, words(body, rest.next(), dims)?])
        }
        Operation::Tex | Operation::TexBase | Operation::Tld4 => DetailOp::Base,
        _ => return None,
    };
    // Offsets and depths are both optional: the places that the validator found show which is there.
    let places = i.places().skip(1).filter(|place| matches!(place.shape, Shape::Value(_)));
    let (mut offset, mut compare) = (SmallVec::new(), None);
    let skipped = operands.rest.len() - rest.len();
    for (place, elements) in places.skip(skipped).zip(rest) {
        let Shape::Value(spec) = &place.shape else { continue };
        if spec.ty == TypeRef::Fixed(ScalarType::F32) {
            compare = Some(words::<3>(body, Some(elements), 1)?.first().copied()?);
        } else {
            offset = words(body, Some(elements), dims)?;
        }
    }
    let mut types = i.types();
    let (result, integers) = (types.next()?, types.next()? == ScalarType::S32);
    let (result, count) = match result {
        ScalarType::F16 => (FetchResult::Halves, 4),
        ScalarType::F16x2 => (FetchResult::Pairs, 2),
        ScalarType::U32 | ScalarType::S32 | ScalarType::F32 => (FetchResult::Words, 4),
        _ => return None,
    };
    let gather = i.component().map(|component| match component {
        Component::R => 0,
        Component::G => 1,
        Component::B => 2,
        Component::A => 3,
    });
    let (dst, resident) = dst.split_at_checked(count)?;
    let op = FetchOp {
        texture,
        sampler,
        geometry,
        integers,
        coordinates,
        detail,
        offset,
        compare,
        gather,
        result,
        dst: dst.iter().copied().collect(),
        resident: resident.first().copied().flatten(),
        plain: false,
    };
    Some(Box::new(op.with_plain()))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only `sured.p` has types without sign")]
fn surface(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    action: TextureAction,
    surface: Reg,
    dst: &[Option<Reg>],
    operands: &Operands,
) -> Option<Box<SurfaceOp>> {
    let geometry = i.geometry()?;
    let (dims, layer, _) = texture_shape(geometry)?;
    let coordinates = words(body, operands.bracket.get(1), dims + usize::from(layer))?;
    let formatted = matches!(i.operation(), Operation::SustP | Operation::SuredP);
    let ty = i.ty()?;
    let bytes = u8::try_from(ty.bytes()?).ok()?;
    let width = Width::for_bits(ty.bits());
    let count = i.vector_len() as usize;
    let values = |body: &mut FunctionBuilder<'_>| -> Option<SmallVec<[Reg; 4]>> {
        let elements = operands.rest.first()?;
        (0..count)
            .map(|n| match elements.get(n) {
                Some(Source::Sink) | None => Some(body.constant(0, width)),
                source => value(body, source, width),
            })
            .collect()
    };
    let action = match action {
        TextureAction::Load => SurfaceAction::Load(dst.iter().copied().collect()),
        TextureAction::Store => SurfaceAction::Store(values(body)?),
        TextureAction::Reduce => SurfaceAction::Reduce {
            value: values(body)?.first().copied()?,
            functions: reduction(i.reduction()?, bytes)?,
            signed: match i.operation() {
                Operation::SuredP if matches!(i.reduction(), Some(Reduction::Min | Reduction::Max)) => None,
                _ => Some(ty.is_signed()),
            },
        },
        TextureAction::Fetch | TextureAction::Gather | TextureAction::Query | TextureAction::IsOfType => {
            return None;
        }
    };
    let outside = i.out_of_range()?;
    debug_assert!(!i.has(Mod::Wrap) && outside != OutOfRange::Wrap);
    Some(Box::new(SurfaceOp { surface, geometry, coordinates, formatted, outside, bytes, action }))
}

/// The functions of a reduction, for unsigned numbers and for signed ones.
fn reduction(op: Reduction, bytes: u8) -> Option<[ReduceFn; 2]> {
    Some(match (op, bytes) {
        (Reduction::Add, 4) => [|a, b| u64::from((a as u32).wrapping_add(b as u32)); 2],
        (Reduction::Add, 8) => [u64::wrapping_add; 2],
        (Reduction::And, _) => [|a, b| a & b; 2],
        (Reduction::Or, _) => [|a, b| a | b; 2],
        (Reduction::Min, 4) => {
            [|a, b| u64::from((a as u32).min(b as u32)), |a, b| u64::from((a as i32).min(b as i32) as u32)]
        }
        (Reduction::Max, 4) => {
            [|a, b| u64::from((a as u32).max(b as u32)), |a, b| u64::from((a as i32).max(b as i32) as u32)]
        }
        (Reduction::Min, 8) => [|a, b| a.min(b), |a, b| (a as i64).min(b as i64) as u64],
        (Reduction::Max, 8) => [|a, b| a.max(b), |a, b| (a as i64).max(b as i64) as u64],
        _ => return None,
    })
}
