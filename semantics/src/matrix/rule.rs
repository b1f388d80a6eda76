//! The arithmetic of each architecture's tensor cores, as published measurements have found it, in one table.

use super::element::Element;
use warpsmith_isa::Target;

/// An architecture with tensor cores of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Architecture {
    /// sm_70, sm_72
    Volta,
    /// sm_75
    Turing,
    /// sm_80, sm_86, sm_87, sm_88
    Ampere,
    /// sm_89
    Ada,
    /// sm_90
    Hopper,
    /// sm_100, sm_101, sm_103, sm_110
    Blackwell,
    /// sm_120, sm_121
    RtxBlackwell,
}

impl Architecture {
    /// All of them, with the names that launch descriptions use.
    pub const ALL: [(Architecture, &str); 7] = [
        (Architecture::Volta, "volta"),
        (Architecture::Turing, "turing"),
        (Architecture::Ampere, "ampere"),
        (Architecture::Ada, "ada"),
        (Architecture::Hopper, "hopper"),
        (Architecture::Blackwell, "blackwell"),
        (Architecture::RtxBlackwell, "rtx-blackwell"),
    ];

    /// The architecture of a target; of one older than tensor cores, the oldest.
    pub const fn of(target: Target) -> Architecture {
        match target.sm {
            0..75 => Architecture::Volta,
            75..80 => Architecture::Turing,
            80..89 => Architecture::Ampere,
            89 => Architecture::Ada,
            90..100 => Architecture::Hopper,
            100..120 => Architecture::Blackwell,
            120.. => Architecture::RtxBlackwell,
        }
    }
}

/// The arithmetic that matrix instructions compute with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arithmetic {
    /// Bit for bit as an architecture does.
    Hardware(Architecture),
    /// The exact sum, rounded once to nearest even: what no hardware does, to see what it loses.
    Ideal,
}

impl Arithmetic {
    /// The arithmetic of a name in a launch description: `ideal`, or an architecture's.
    pub fn from_name(name: &str) -> Option<Arithmetic> {
        if name == "ideal" {
            return Some(Arithmetic::Ideal);
        }
        let found = Architecture::ALL.iter().find(|(_, known)| *known == name)?;
        Some(Arithmetic::Hardware(found.0))
    }

    /// The names that [`Arithmetic::from_name`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Architecture::ALL.iter().map(|(_, name)| *name).chain(["ideal"])
    }
}

/// Which circuit multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// `mma`
    Warp,
    /// `mma.m8n8k4` with f16: Volta's own shape, of which later architectures make other operations.
    Quad,
    /// `wmma`
    Fragments,
    /// `wgmma`
    Warpgroup,
    /// `tcgen05.mma`
    Tcgen05,
}

/// The types of the scales of a block-scaled product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScaleType {
    /// A power of two.
    Ue8m0,
    /// e4m3 whose sign is ignored.
    Ue4m3,
}

/// How a block of products is added up, together with C.
///
/// `m` is the largest exponent of the terms, C's included, a product's being the sum of its operands'. Every term is cut toward zero to a multiple of
/// `2^(m - fraction)`; then they are added exactly, and the sum is rounded once: to f32 toward zero, to f16 to nearest even.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The bits below the largest exponent that a term keeps.
    pub fraction: u32,
    /// How many products are added at once; the next block adds to the rounded result.
    pub block: usize,
    /// The bits of fraction of an f32 result.
    pub kept: u32,
    /// Products that are added exactly before they are cut, as one term with the exponent of their scales. 1: none.
    pub group: usize,
    /// What an instruction becomes that the circuit does not have.
    pub by_way: ByWay,
}

/// How an instruction is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ByWay {
    /// By the circuit, as it is.
    Direct,
    /// Floats of eight bits become f16, the two in the lower half of each group of four first: their products are one block, added to zero, the
    /// others the next. C is added last, rounded to nearest even.
    Halves,
    /// f32 operations, each rounded to nearest even: an f32 result is a chain of fused ones from zero to which C is added; for one of
    /// f16 two sums of two products are added to C one after the other.
    Fused,
}

/// All products of an instruction in one block.
const ALL: usize = usize::MAX;

impl Rule {
    const fn new(fraction: u32, block: usize) -> Rule {
        Rule { fraction, block, kept: 23, group: 1, by_way: ByWay::Direct }
    }

    /// The rule of an architecture for a circuit, the elements of A and, if the products are scaled, four-bit elements in groups.
    ///
    /// Elements that an architecture does not have are computed as on the first one that has them.
    pub const fn of(architecture: Architecture, unit: Unit, element: Element, grouped: bool) -> Rule {
        use Architecture::*;
        if grouped {
            return Rule { group: 16, ..Rule::new(35, ALL) };
        }
        let bytes = match element {
            Element::E4m3 | Element::E5m2 | Element::E3m2 | Element::E2m3 | Element::E2m1 => true,
            Element::F16 | Element::Bf16 | Element::Tf32 => false,
            // Exact, or rounded at every step.
            Element::F64 | Element::S8 | Element::U8 | Element::S4 | Element::U4 | Element::B1 => false,
        };
        let old = match element {
            Element::F16 => true,
            Element::Bf16
            | Element::Tf32
            | Element::E4m3
            | Element::E5m2
            | Element::E3m2
            | Element::E2m3
            | Element::E2m1
            | Element::F64
            | Element::S8
            | Element::U8
            | Element::S4
            | Element::U4
            | Element::B1 => false,
        };
        match (unit, architecture) {
            (Unit::Quad, Ampere | Ada | Hopper | Blackwell | RtxBlackwell) => {
                Rule { by_way: ByWay::Fused, ..Rule::new(25, ALL) }
            }
            (Unit::Warp | Unit::Quad | Unit::Fragments, Volta) if old => Rule::new(23, 4),
            (Unit::Warp | Unit::Quad | Unit::Fragments, Turing) if old => Rule::new(24, 8),
            (Unit::Warp | Unit::Quad | Unit::Fragments, Volta | Turing | Ampere | Ada) if bytes => {
                Rule { kept: 13, ..Rule::new(13, 16) }
            }
            (Unit::Warp | Unit::Quad | Unit::Fragments, Volta | Turing | Ampere | Ada) => {
                Rule::new(24, if matches!(element, Element::Tf32) { 4 } else { 8 })
            }
            // Tensor cores of warps have no such floats here; those of a warpgroup and of tensor memory do.
            (Unit::Warp, Hopper | Blackwell) if matches!(element, Element::E4m3 | Element::E5m2) => {
                Rule { by_way: ByWay::Halves, ..Rule::new(25, ALL) }
            }
            // A step of `.m16n8k4` follows another.
            (Unit::Fragments, Hopper | Blackwell | RtxBlackwell) if matches!(element, Element::Tf32) => {
                Rule::new(25, 4)
            }
            (Unit::Warp | Unit::Fragments, Hopper | Blackwell | RtxBlackwell) | (Unit::Tcgen05, _) => {
                Rule::new(25, ALL)
            }
            (Unit::Warpgroup, _) if bytes => Rule { kept: 13, ..Rule::new(13, ALL) },
            (Unit::Warpgroup, _) => Rule::new(25, ALL),
        }
    }
}
