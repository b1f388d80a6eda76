//! Textures and surfaces: coordinates in braces, filled up to the one, two or four that a geometry has.

use super::operands::Register;
use super::rules::{fill, matches};
use warpsmith_isa::Mnemonic;

/// A fetch, a load or a store, as the counts of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    pub mnemonic: Mnemonic,
    /// The texture or surface, and perhaps its sampler.
    handles: usize,
    coordinates: usize,
    /// What stands behind the bracket, each in braces but for a level.
    behind: Behind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Behind {
    Nothing,
    Level,
    /// Two gradients of so many parts.
    Gradients(usize),
    /// All the rest: what is stored.
    Data,
}

/// The geometries: as a name has them, as PTX does, how many coordinates there are, and how many parts a gradient has.
const GEOMETRIES: &[(&str, &str, usize, usize)] = &[
    ("1d.array", "a1d", 2, 1),
    ("1d", "1d", 1, 1),
    ("2d.array", "a2d", 3, 2),
    ("2d", "2d", 2, 2),
    ("3d", "3d", 3, 3),
    ("cube.array", "acube", 4, 3),
    ("cube", "cube", 3, 3),
];

/// Patterns around a geometry, which is the `@` of both sides.
const ACCESSES: &[(&str, &str)] = &[
    ("tex{.unified|}.@{.level|.grad|}.v4{f32|s32|u32}.{s32|f32}", "tex$2.@.v4.$3.$4"),
    ("tld4{.unified|}.{r|g|b|a}.@.v4{f32|s32|u32}.f32", "tld4.$2.@.v4.$3.f32"),
    ("suld.@.{v2i=v2.b|v4i=v4.b|i=b}{8|16|32|64}.{clamp|trap|zero}", "suld.b.@.$1$2.$3"),
    ("sust.{b|p}.@.{v2i=v2.b|v4i=v4.b|i=b}{8|16|32|64}.{clamp|trap|zero}", "sust.$1.@.$2$3.$4"),
];

pub(super) fn find(name: &str) -> Option<Access> {
    for (pattern, target) in ACCESSES {
        for (word, geometry, coordinates, parts) in GEOMETRIES {
            let mut captures = Vec::new();
            let pattern = pattern.replace('@', word);
            if !matches(&pattern, name, &mut captures) {
                continue;
            }
            let fetches = name.starts_with('t');
            let behind = if name.contains(".level.") {
                Behind::Level
            } else if name.contains(".grad.") {
                Behind::Gradients(*parts)
            } else if name.starts_with("sust.") {
                Behind::Data
            } else {
                Behind::Nothing
            };
            let handles = if fetches && !name.contains(".unified.") { 2 } else { 1 };
            let mnemonic = Mnemonic::parse(&fill(&target.replace('@', geometry), &captures)).ok()?;
            return Some(Access { mnemonic, handles, coordinates: *coordinates, behind });
        }
    }
    None
}

/// Registers as PTX groups them.
pub(super) enum Group {
    One(Register),
    Braces(Vec<Register>),
}

impl Access {
    /// The operands: what stands in the bracket, and what behind it. `None` where the arguments are too few.
    pub fn groups(&self, args: &[Register]) -> Option<(Vec<Group>, Vec<Group>)> {
        let (handles, rest) = args.split_at_checked(self.handles)?;
        let (coordinates, rest) = rest.split_at_checked(self.coordinates)?;
        let mut bracket: Vec<Group> = handles.iter().map(|handle| Group::One(*handle)).collect();
        bracket.push(braces(coordinates));
        let behind = match self.behind {
            Behind::Nothing => Vec::new(),
            Behind::Level => vec![Group::One(*rest.first()?)],
            Behind::Gradients(parts) => {
                let (first, rest) = rest.split_at_checked(parts)?;
                vec![braces(first), braces(rest.get(..parts)?)]
            }
            Behind::Data => vec![Group::Braces(rest.to_vec())],
        };
        Some((bracket, behind))
    }
}

/// Three become four: the last stands twice.
fn braces(list: &[Register]) -> Group {
    let mut list = list.to_vec();
    if list.len() == 3 {
        list.extend(list.last().copied());
    }
    Group::Braces(list)
}
