//! The operations on textures and surfaces: what a decoder says and the engine executes.

use crate::engine::reg::{Reg, Width};
use crate::texture::ReferenceKind;
use smallvec::SmallVec;
use warpsmith_isa::{Geometry, OutOfRange, TextureQuery};

/// An operation on a texture, sampler or surface, which a 64-bit register names: by a handle, or by the address of an opaque variable.
#[derive(Clone, Debug)]
pub enum TextureOp {
    /// `tex tld4`
    Fetch(Box<FetchOp>),
    /// `txq suq`
    Query {
        /// The object.
        object: Reg,
        /// What kind of object is asked, of two where the query is one of both.
        kind: ReferenceKind,
        /// What.
        query: TextureQuery,
        /// Of which level.
        level: Option<Reg>,
        /// Receives the answer.
        dst: Option<Reg>,
    },
    /// `istypep`
    IsOfType {
        /// The pointer.
        object: Reg,
        /// The kind.
        kind: ReferenceKind,
        /// Receives whether it is one.
        dst: Option<Reg>,
    },
    /// `suld sust sured`
    Surface(Box<SurfaceOp>),
}

/// A fetch.
#[derive(Clone, Debug)]
pub struct FetchOp {
    /// The texture.
    pub texture: Reg,
    /// The sampler, if it is named apart.
    pub sampler: Option<Reg>,
    /// What the instruction takes the texture for.
    pub geometry: Geometry,
    /// Coordinates are integers.
    pub integers: bool,
    /// Layer and sample, then coordinates, as the geometry has them.
    pub coordinates: SmallVec<[Reg; 4]>,
    /// The level.
    pub detail: DetailOp,
    /// Distances in texels; none, or one for each dimension.
    pub offset: SmallVec<[Reg; 3]>,
    /// What depths are compared with.
    pub compare: Option<Reg>,
    /// The component that `tld4` gathers.
    pub gather: Option<u8>,
    /// What becomes of the four values.
    pub result: FetchResult,
    /// Receive them.
    pub dst: SmallVec<[Option<Reg>; 4]>,
    /// Receives whether the texels are resident, which they always are.
    pub resident: Option<Reg>,
    /// It asks for no more than a texture of the common kind gives without looking further.
    pub plain: bool,
}

impl FetchOp {
    /// Finds out whether it is plain.
    pub fn with_plain(self) -> FetchOp {
        let plain = matches!(self.geometry, Geometry::N1d | Geometry::N2d)
            && matches!(self.detail, DetailOp::Base)
            && self.result == FetchResult::Words
            && self.sampler.is_none()
            && self.offset.is_empty()
            && self.compare.is_none()
            && self.gather.is_none()
            && self.resident.is_none();
        FetchOp { plain, ..self }
    }
}

/// How a fetch says its level.
#[derive(Clone, Debug)]
pub enum DetailOp {
    /// The base.
    Base,
    /// By number.
    Level(Reg),
    /// By how coordinates change in x and in y.
    Gradient([SmallVec<[Reg; 3]>; 2]),
}

/// What becomes of the values of a fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FetchResult {
    /// 32 bits each.
    Words,
    /// Halves, one in a register.
    Halves,
    /// Halves, two in a register.
    Pairs,
}

/// An access to the memory of a surface.
#[derive(Clone, Debug)]
pub struct SurfaceOp {
    /// The surface.
    pub surface: Reg,
    /// What the instruction takes it for.
    pub geometry: Geometry,
    /// The layer, then coordinates.
    pub coordinates: SmallVec<[Reg; 4]>,
    /// The first coordinate counts texels, and texels are converted; else it counts bytes.
    pub formatted: bool,
    /// What becomes of coordinates outside.
    pub outside: OutOfRange,
    /// Bytes of an element.
    pub bytes: u8,
    /// What is done.
    pub action: SurfaceAction,
}

/// The new value of old value and operand.
pub type ReduceFn = fn(u64, u64) -> u64;

/// What is done to the memory of a surface.
#[derive(Clone, Debug)]
pub enum SurfaceAction {
    /// Elements are read.
    Load(SmallVec<[Option<Reg>; 4]>),
    /// Elements are written.
    Store(SmallVec<[Reg; 4]>),
    /// An element is updated by a function of old value and operand, one for signed numbers and one for unsigned.
    Reduce {
        /// The operand.
        value: Reg,
        /// For unsigned numbers, and for signed ones.
        functions: [ReduceFn; 2],
        /// The numbers have a sign, if the instruction says so and not the surface.
        signed: Option<bool>,
    },
}

impl TextureOp {
    /// All registers, with the width each must have if that is fixed, and whether it is written.
    pub(in crate::engine) fn registers(&self) -> SmallVec<[(Reg, Option<Width>, bool); 12]> {
        let mut all: SmallVec<[(Reg, Option<Width>, bool); 12]> = SmallVec::new();
        let read = |r: &Reg| (*r, Some(Width::W32), false);
        let written = |r: &Reg| (*r, Some(Width::W32), true);
        match self {
            TextureOp::Fetch(op) => {
                all.push((op.texture, Some(Width::W64), false));
                all.extend(op.sampler.map(|r| (r, Some(Width::W64), false)));
                all.extend(op.coordinates.iter().map(read));
                match &op.detail {
                    DetailOp::Base => {}
                    DetailOp::Level(r) => all.push(read(r)),
                    DetailOp::Gradient(gradients) => all.extend(gradients.iter().flatten().map(read)),
                }
                all.extend(op.offset.iter().chain(&op.compare).map(read));
                all.extend(op.dst.iter().flatten().map(written));
                all.extend(op.resident.map(|r| (r, Some(Width::Pred), true)));
            }
            TextureOp::Query { object, level, dst, .. } => {
                all.push((*object, Some(Width::W64), false));
                all.extend(level.iter().map(read));
                all.extend(dst.iter().map(written));
            }
            TextureOp::IsOfType { object, dst, .. } => {
                all.push((*object, Some(Width::W64), false));
                all.extend(dst.map(|r| (r, Some(Width::Pred), true)));
            }
            TextureOp::Surface(op) => {
                all.push((op.surface, Some(Width::W64), false));
                all.extend(op.coordinates.iter().map(read));
                match &op.action {
                    SurfaceAction::Load(dst) => all.extend(dst.iter().flatten().map(|r| (*r, None, true))),
                    SurfaceAction::Store(src) => all.extend(src.iter().map(|r| (*r, None, false))),
                    SurfaceAction::Reduce { value, .. } => all.push((*value, None, false)),
                }
            }
        }
        all
    }
}

/// The dimensions of what a geometry addresses, and whether it has a layer and a sample before its coordinates.
pub(crate) const fn shape(geometry: Geometry) -> Option<(usize, bool, bool)> {
    Some(match geometry {
        Geometry::N1d => (1, false, false),
        Geometry::N2d => (2, false, false),
        Geometry::N3d | Geometry::Cube => (3, false, false),
        Geometry::A1d => (1, true, false),
        Geometry::A2d => (2, true, false),
        Geometry::Acube => (3, true, false),
        Geometry::N2dms => (2, false, true),
        Geometry::A2dms => (2, true, true),
        Geometry::N4d | Geometry::N5d => return None,
    })
}
