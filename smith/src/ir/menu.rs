//! What a module is mostly made of. Half of the modules have a bit of everything; the others have much of some and none of the rest (swarm testing, after
//! Groce et al., 2012), since many a fault shows only where several things of one kind meet.

use arbitrary::{Result, Unstructured};

/// What one entry of a block can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Regular,
    Access,
    Vector,
    Aggregate,
    Block,
    Call,
    Idiom,
    Algebra,
    Promised,
    Array,
    Pattern,
    Table,
}

/// Several operations that stand together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Idiom {
    WideProduct,
    Tie,
    ConvertedNumber,
    PackedBytes,
    Rotation,
    Field,
    Extremum,
    CountedLoop,
    ExtendedCounter,
    Conditional,
    ShortCircuit,
    Dot,
    Quotient,
    Neighbours,
    Tile,
    Checked,
    Optional,
    Halves,
    Late,
    Guarded,
    Kept,
    Ways,
    Between,
    Flag,
    ShortProduct,
    Around,
    Rows,
    Count,
}

/// What an access can reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// A place of the thread's own that the program says, written.
    Own,
    /// The constant table.
    Table,
    /// The input by a generic pointer.
    Generic,
    /// The thread's own memory by a pointer made of an integer.
    Integer,
    /// A stack slot, or the thread's part of shared memory.
    Slot,
    /// One of two places, by a truth.
    Either,
    /// What a variable's address leads to.
    Place,
    /// A slot that can become registers.
    Cell,
    /// The input.
    Input,
}

/// How often each is drawn where a module has a bit of everything.
const KINDS: [(Kind, usize); 12] = [
    (Kind::Regular, 32),
    (Kind::Access, 8),
    (Kind::Vector, 4),
    (Kind::Aggregate, 4),
    (Kind::Block, 2),
    (Kind::Call, 4),
    (Kind::Idiom, 8),
    (Kind::Algebra, 2),
    (Kind::Promised, 2),
    (Kind::Array, 3),
    (Kind::Pattern, 12),
    (Kind::Table, 4),
];
const IDIOMS: [(Idiom, usize); 28] = [
    (Idiom::WideProduct, 2),
    (Idiom::Tie, 2),
    (Idiom::ConvertedNumber, 1),
    (Idiom::PackedBytes, 3),
    (Idiom::Rotation, 1),
    (Idiom::Field, 1),
    (Idiom::Extremum, 1),
    (Idiom::CountedLoop, 4),
    (Idiom::ExtendedCounter, 8),
    (Idiom::Conditional, 3),
    (Idiom::ShortCircuit, 4),
    (Idiom::Dot, 3),
    (Idiom::Quotient, 5),
    (Idiom::Neighbours, 4),
    (Idiom::Tile, 1),
    (Idiom::Checked, 2),
    (Idiom::Optional, 4),
    (Idiom::Halves, 6),
    (Idiom::Late, 4),
    (Idiom::Guarded, 6),
    (Idiom::Kept, 4),
    (Idiom::Ways, 8),
    (Idiom::Between, 4),
    (Idiom::Flag, 4),
    (Idiom::ShortProduct, 3),
    (Idiom::Around, 6),
    (Idiom::Rows, 6),
    (Idiom::Count, 2),
];
const REACHES: [(Reach, usize); 9] = [
    (Reach::Own, 4),
    (Reach::Table, 2),
    (Reach::Generic, 2),
    (Reach::Integer, 2),
    (Reach::Slot, 4),
    (Reach::Either, 1),
    (Reach::Place, 2),
    (Reach::Cell, 4),
    (Reach::Input, 3),
];

/// How often each is drawn where it is drawn at all, and how often none is.
const SWARM: [usize; 5] = [0, 0, 1, 4, 16];

/// What is drawn from.
#[derive(Clone, Debug)]
pub(super) struct Menus {
    pub(super) kinds: Vec<Kind>,
    pub(super) idioms: Vec<Idiom>,
    pub(super) reaches: Vec<Reach>,
}

impl Menus {
    pub(super) fn new(u: &mut Unstructured) -> Result<Menus> {
        Ok(Menus { kinds: menu(u, &KINDS)?, idioms: menu(u, &IDIOMS)?, reaches: menu(u, &REACHES)? })
    }
}

fn menu<T: Copy>(u: &mut Unstructured, usual: &[(T, usize)]) -> Result<Vec<T>> {
    let repeat = |counts: &[(T, usize)]| -> Vec<T> {
        counts.iter().flat_map(|&(what, count)| std::iter::repeat_n(what, count)).collect()
    };
    if u.ratio(1, 2)? {
        let counts = usual.iter().map(|&(what, _)| Ok((what, *u.choose(&SWARM)?)));
        let drawn = repeat(&counts.collect::<Result<Vec<_>>>()?);
        if !drawn.is_empty() {
            return Ok(drawn);
        }
    }
    Ok(repeat(usual))
}
