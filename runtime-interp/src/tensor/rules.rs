//! What holds for every tensor map: the requirements of `cuTensorMapEncodeTiled` and its like, and of the manual (5.5, 9.7.9.25.5.1).

use super::object::{Descriptor, Field, TensorMapError, Traversal};
use super::{ElementType, Fill, Im2colWide, Interleave, Swizzle};

type Checked = Result<(), TensorMapError>;

/// The first rule that a description breaks.
pub(super) fn check(d: &Descriptor) -> Checked {
    rank(d)?;
    place(d)?;
    for i in 0..d.rank {
        let step = d.steps[i];
        // Without interleaving the innermost dimension has no step, whatever is written.
        if (i > 0 || d.interleave != Interleave::None) && !(1..=8).contains(&step) {
            let rule = format!("is {step}; it must be from 1 to 8");
            return Err(TensorMapError::at(Field::ElementStride, i, rule));
        }
    }
    let (inner, field, ordinal) = match &d.traversal {
        Traversal::Tile(sizes) => {
            if let Some(i) = sizes[..d.rank].iter().position(|n| !(1..=256).contains(n)) {
                let rule = format!("is {}; it must be from 1 to 256", sizes[i]);
                return Err(TensorMapError::at(Field::BoxDim, i, rule));
            }
            (sizes[0], Field::BoxDim, Some(0))
        }
        Traversal::Im2col { channels, .. } => {
            column(d)?;
            (*channels, Field::ChannelsPerPixel, None)
        }
    };
    let inner_error = |rule: String| Err(TensorMapError { field, ordinal, rule });
    if d.element.is_padded() && inner != 128 {
        return inner_error(format!("is {inner}; of {} it must be 128", d.element.name()));
    }
    if d.interleave == Interleave::None {
        let bits = inner * d.element.shared_bits();
        if !bits.is_multiple_of(128) {
            let size =
                if bits.is_multiple_of(8) { format!("{} bytes", bits / 8) } else { format!("{bits} bits") };
            return inner_error(format!("is {inner} elements, {size}; it must be a multiple of 16 bytes"));
        }
        let most = d.swizzle.most_inner_bytes();
        if most.is_some_and(|most| bits / 8 > most) {
            let (name, most) = (d.swizzle.name(), most.unwrap_or_default());
            let rule = format!(
                "is {inner} elements, {} bytes; with swizzle {name} it must be at most {most} bytes",
                bits / 8
            );
            return inner_error(rule);
        }
    }
    combinations(d)
}

fn rank(d: &Descriptor) -> Checked {
    let (low, why) = match &d.traversal {
        Traversal::Im2col { .. } => (3, " in im2col mode"),
        Traversal::Tile(_) if d.interleave != Interleave::None => (3, " with interleaved channels"),
        Traversal::Tile(_) => (1, ""),
    };
    if !(low..=5).contains(&d.rank) {
        let rule = format!("is {}; it must be from {low} to 5{why}", d.rank);
        return Err(TensorMapError::of(Field::Rank, rule));
    }
    Ok(())
}

/// Address, sizes and strides.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not packed stands alone")]
fn place(d: &Descriptor) -> Checked {
    let (unit, why) = match (d.interleave, d.element.is_padded()) {
        (Interleave::B32, _) => (32, " with interleave 32B".into()),
        (_, true) => (32, format!(" of {}", d.element.name())),
        _ => (16, String::new()),
    };
    if !d.address.is_multiple_of(unit) {
        let rule = format!("is {:#x}; it must be a multiple of {unit}{why}", d.address);
        return Err(TensorMapError::of(Field::GlobalAddress, rule));
    }
    for (i, n) in d.dims[..d.rank].iter().enumerate() {
        if !(1..=1 << 32).contains(n) {
            return Err(TensorMapError::at(
                Field::GlobalDim,
                i,
                format!("is {n}; it must be from 1 to 2^32"),
            ));
        }
    }
    let group = match d.element {
        ElementType::B4x16P64 | ElementType::B6x16P32 => 128,
        ElementType::B4x16 => 2,
        _ => 1,
    };
    if !d.dims[0].is_multiple_of(group) {
        let rule = format!("is {}; of {} it must be a multiple of {group}", d.dims[0], d.element.name());
        return Err(TensorMapError::at(Field::GlobalDim, 0, rule));
    }
    for (i, n) in d.strides[..d.rank - 1].iter().enumerate() {
        if !n.is_multiple_of(unit) {
            let rule = format!("is {n} bytes; it must be a multiple of {unit}{why}");
            return Err(TensorMapError::at(Field::GlobalStride, i, rule));
        }
        if *n >= 1 << 40 {
            let rule = format!("is {n} bytes; it must be less than 2^40");
            return Err(TensorMapError::at(Field::GlobalStride, i, rule));
        }
    }
    Ok(())
}

/// Pixels and corners.
fn column(d: &Descriptor) -> Checked {
    let Traversal::Im2col { lower, upper, channels, pixels, wide } = &d.traversal else { return Ok(()) };
    if !(1..=256).contains(channels) {
        let rule = format!("is {channels}; it must be from 1 to 256");
        return Err(TensorMapError::of(Field::ChannelsPerPixel, rule));
    }
    if !(1..=1024).contains(pixels) && *wide != Some(Im2colWide::W128) {
        let rule = format!("is {pixels}; it must be from 1 to 1024");
        return Err(TensorMapError::of(Field::PixelsPerColumn, rule));
    }
    let spatial = if wide.is_some() { 1 } else { d.rank - 2 };
    let bits = match spatial {
        1 => 15,
        2 => 7,
        _ => 4,
    };
    let range = -(1 << bits)..1 << bits;
    for i in 0..spatial {
        for (field, corner) in [(Field::LowerCorner, lower[i]), (Field::UpperCorner, upper[i])] {
            if !range.contains(&corner) {
                let rule = format!("is {corner}; it must be from {} to {}", range.start, range.end - 1);
                return Err(TensorMapError::at(field, i, rule));
            }
        }
        let last = d.dims[i + 1] as i64 - 1 + i64::from(upper[i]);
        if last < i64::from(lower[i]) {
            let rule = format!("is {}: the box ends at {last}, before it begins at {}", upper[i], lower[i]);
            return Err(TensorMapError::at(Field::UpperCorner, i, rule));
        }
    }
    Ok(())
}

/// What does not go together.
fn combinations(d: &Descriptor) -> Checked {
    let (name, swizzle) = (d.element.name(), d.swizzle.name());
    let of = |field: Field, rule: String| Err(TensorMapError::of(field, rule));
    if d.interleave == Interleave::B32 && d.swizzle != Swizzle::B32 {
        return of(Field::SwizzleMode, format!("is {swizzle}; with interleave 32B it must be 32B"));
    }
    if d.interleave != Interleave::None && (d.element.is_padded() || d.swizzle == Swizzle::B96) {
        let what = if d.element.is_padded() { name } else { "swizzle 96B" };
        return of(
            Field::InterleaveLayout,
            format!("is {}; with {what} it must be none", d.interleave.name()),
        );
    }
    let plain =
        matches!(d.swizzle, Swizzle::None | Swizzle::B128 | Swizzle::B128Atom32 | Swizzle::B128Atom64);
    if d.element.is_padded() && !plain {
        let rule = format!("is {swizzle}; of {name} it must be none, 128B, 128B_atom_32B or 128B_atom_64B");
        return of(Field::SwizzleMode, rule);
    }
    if d.fill == Fill::Nan && !d.element.is_float() {
        return of(Field::FillMode, format!("is nan; of {name}, which has no NaN, it must be zero"));
    }
    if let Traversal::Im2col { wide: Some(_), .. } = d.traversal {
        if d.interleave != Interleave::None {
            let rule = format!("is {}; for `.im2col::w` it must be none", d.interleave.name());
            return of(Field::InterleaveLayout, rule);
        }
        if !matches!(d.swizzle, Swizzle::B64 | Swizzle::B128 | Swizzle::B128Atom32) {
            let rule = format!("is {swizzle}; for `.im2col::w` it must be 64B, 128B or 128B_atom_32B");
            return of(Field::SwizzleMode, rule);
        }
    }
    Ok(())
}
