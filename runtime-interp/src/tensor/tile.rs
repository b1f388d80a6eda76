//! Which bytes of global memory a tensor copy moves (PTX ISA 9.0, 5.5.3 to 5.5.6), as rows: bytes that are together in both memories.
//!
//! A copy takes a box, or pixels, as if the tensor had no end; what is outside of it is in no row. All arithmetic is wide enough for any
//! coordinates, sizes and strides.

use super::object::{Descriptor, Traversal};
use super::{ElementType, Fill, Im2colWide};
use warpsmith_isa::TensorMode;
use warpsmith_semantics::value::half::OOB_NAN;

/// What an instruction asks of a tensor map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub mode: TensorMode,
    /// As many as the tensor has dimensions; of `.tile::gather4` and `.tile::scatter4`, a column and four rows.
    pub coordinates: &'a [i32],
    /// Offsets of `.im2col`, halo and offset of `.im2col::w`.
    pub info: &'a [u16],
    /// To shared memory.
    pub load: bool,
}

/// Bytes that lie together in global memory and in the dense tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub address: u64,
    /// The offset in the dense tile.
    pub at: u32,
    /// In global memory.
    pub bytes: u32,
}

/// A copy of elements between a tensor and a dense tile.
#[derive(Debug)]
pub(crate) struct Tile {
    /// The size of the dense tile, what is outside of the tensor included.
    pub bytes: u64,
    plan: Plan,
}

/// The loops over the dimensions, and what a row of the tile is.
#[derive(Debug)]
struct Plan {
    /// Where the walk begins, in each dimension.
    start: [i64; 5],
    walk: Walk,
    /// Elements of a row of the tile, its bytes there, and how many slices of channels there are.
    row: u32,
    row_bytes: u32,
    slices: u32,
}

#[derive(Debug)]
enum Walk {
    /// So many steps in each dimension but the first.
    Box([u32; 5]),
    /// These rows.
    Rows([i32; 4]),
    /// So many pixels, within bounds that the walk goes back to.
    Pixels { low: [i64; 5], high: [i64; 5], count: u32 },
    /// So many pixels of rows, and after every `every` of them `halo` that follow.
    Wide { low: i64, high: i64, count: u32, every: u32, halo: u32 },
}

const fn mode_name(mode: TensorMode) -> &'static str {
    match mode {
        TensorMode::Tile => ".tile",
        TensorMode::TileGather4 => ".tile::gather4",
        TensorMode::TileScatter4 => ".tile::scatter4",
        TensorMode::Im2col => ".im2col",
        TensorMode::Im2colNoOffsets => ".im2col_no_offs",
        TensorMode::Im2colNoOffsetsW => ".im2col_no_offs::w",
        TensorMode::Im2colW => ".im2col::w",
        TensorMode::Im2colW128 => ".im2col::w::128",
    }
}

impl Tile {
    /// Checks a request against the map; the error is a sentence.
    pub fn new(d: &Descriptor, request: &Request<'_>) -> Result<Tile, String> {
        let four = matches!(request.mode, TensorMode::TileGather4 | TensorMode::TileScatter4);
        let rank = if four { 2 } else { request.coordinates.len() };
        if rank != d.rank {
            let is = d.rank;
            return Err(format!("the instruction is for {rank} dimensions; the tensor map's `rank` is {is}"));
        }
        let fits = match (&d.traversal, request.mode) {
            (Traversal::Tile(_), TensorMode::Tile | TensorMode::TileGather4 | TensorMode::TileScatter4) => {
                true
            }
            (Traversal::Im2col { wide, .. }, mode) => match wide {
                None => matches!(mode, TensorMode::Im2col | TensorMode::Im2colNoOffsets),
                Some(Im2colWide::W) => matches!(mode, TensorMode::Im2colW | TensorMode::Im2colNoOffsetsW),
                Some(Im2colWide::W128) => mode == TensorMode::Im2colW128,
            },
            (Traversal::Tile(_), _) => false,
        };
        if !fits {
            let made = match &d.traversal {
                Traversal::Tile(_) => ".tile",
                Traversal::Im2col { wide: None, .. } => ".im2col",
                Traversal::Im2col { wide: Some(Im2colWide::W), .. } => ".im2col::w",
                Traversal::Im2col { wide: Some(Im2colWide::W128), .. } => ".im2col::w::128",
            };
            let name = mode_name(request.mode);
            return Err(format!("the instruction is `{name}`; the tensor map was made for `{made}`"));
        }
        let mut start = [0; 5];
        for (s, c) in start.iter_mut().zip(request.coordinates) {
            *s = i64::from(*c);
        }
        check_coordinates(d, request)?;
        let (walk, inner) = match &d.traversal {
            Traversal::Tile(sizes) if four => {
                if sizes[1] != 1 {
                    let name = mode_name(request.mode);
                    return Err(format!(
                        "`box_dim[1]` of the tensor map is {}; for `{name}` it must be 1",
                        sizes[1]
                    ));
                }
                if d.interleave.slice().is_some() {
                    return Err(format!("`{}` with interleaved channels", mode_name(request.mode)));
                }
                let rows = std::array::from_fn(|i| request.coordinates.get(i + 1).copied().unwrap_or(0));
                (Walk::Rows(rows), sizes[0])
            }
            Traversal::Tile(sizes) => {
                (Walk::Box(std::array::from_fn(|i| sizes[i].div_ceil(d.steps[i].max(1)))), sizes[0])
            }
            Traversal::Im2col { channels, .. } => (pixels(d, request, &mut start)?, *channels),
        };
        let (row, slices) = match d.interleave.slice() {
            None => (inner, 1),
            Some(slice) => {
                let row = slice * 8 / d.element.bits();
                if !start[0].rem_euclid(i64::from(row)).eq(&0) {
                    let rule = format!(
                        "coordinate 0 is {}; it must be a multiple of the {row} channels of a slice",
                        start[0]
                    );
                    return Err(rule);
                }
                (row, inner.div_ceil(row).div_ceil(d.steps[0].max(1)))
            }
        };
        let row_bytes = row * d.element.shared_bits() / 8;
        let rows: u64 = match &walk {
            Walk::Box(counts) => counts[1..d.rank].iter().map(|n| u64::from(*n)).product(),
            Walk::Rows(_) => 4,
            Walk::Pixels { count, .. } => u64::from(*count),
            Walk::Wide { count, every, halo, .. } => u64::from(*count) + u64::from(count / every * halo),
        };
        let bytes = rows * u64::from(slices) * u64::from(row_bytes);
        Ok(Tile { bytes, plan: Plan { start, walk, row, row_bytes, slices } })
    }

    /// The rows, in the order of the dense tile. The error is the coordinates of one that no address has.
    pub fn rows(&self, d: &Descriptor) -> Result<Vec<Row>, String> {
        let mut found = Found { d, plan: &self.plan, rows: Vec::new(), at: 0 };
        let plan = &self.plan;
        let mut x = plan.start;
        match &plan.walk {
            Walk::Rows(rows) => {
                for row in rows {
                    x[1] = i64::from(*row);
                    found.row(&x, 0)?;
                }
            }
            Walk::Box(counts) => {
                // Slices lie between the images and the pixels of each.
                let (last, images) = match d.interleave.slice() {
                    None => (d.rank, 1),
                    Some(_) => (d.rank - 1, counts[d.rank - 1]),
                };
                for image in 0..images {
                    for slice in 0..plan.slices {
                        let mut n = [0; 5];
                        'rows: loop {
                            for i in 1..last {
                                x[i] = plan.start[i] + i64::from(n[i]) * i64::from(d.steps[i]);
                            }
                            if last < d.rank {
                                x[last] = plan.start[last] + i64::from(image) * i64::from(d.steps[last]);
                            }
                            found.row(&x, slice)?;
                            for i in 1..last {
                                n[i] += 1;
                                if n[i] < counts[i] {
                                    continue 'rows;
                                }
                                n[i] = 0;
                            }
                            break;
                        }
                    }
                }
            }
            Walk::Pixels { low, high, count } => {
                for slice in 0..plan.slices {
                    x = plan.start;
                    for _ in 0..*count {
                        found.row(&x, slice)?;
                        let images = d.rank - 1;
                        let next = (1..images).find(|&i| {
                            x[i] += i64::from(d.steps[i]);
                            let within = x[i] <= high[i];
                            if !within {
                                x[i] = low[i];
                            }
                            within
                        });
                        if next.is_none() {
                            x[images] += 1;
                        }
                    }
                }
            }
            Walk::Wide { low, high, count, every, halo } => {
                let step = i64::from(d.steps[1]);
                for pixel in 0..*count {
                    found.row(&x, 0)?;
                    if (pixel + 1).is_multiple_of(*every) {
                        let mut beyond = x;
                        for _ in 0..*halo {
                            beyond[1] += step;
                            found.row(&beyond, 0)?;
                        }
                    }
                    x[1] += step;
                    if x[1] > *high {
                        x[1] = *low;
                        x[d.rank - 1] += 1;
                    }
                }
            }
        }
        Ok(found.rows)
    }
}

/// What the start of a box in global memory is a multiple of.
const BOX_ALIGN_BITS: i64 = 8 * 16;

/// What the manual asks of coordinates (5.5.3.1, 9.7.9.25.5.1).
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not packed stands alone")]
fn check_coordinates(d: &Descriptor, request: &Request<'_>) -> Result<(), String> {
    let name = d.element.name();
    if !request.load {
        if let Some(i) = request.coordinates.iter().position(|c| *c < 0) {
            let c = request.coordinates[i];
            return Err(format!("coordinate {i} is {c}; towards global memory none may be negative"));
        }
        if d.element == ElementType::B4x16P64 {
            return Err(format!(
                "`elemtype` of the tensor map is {name}, which is not copied to global memory"
            ));
        }
    }
    let unit = match d.element {
        ElementType::B4x16P64 | ElementType::B6x16P32 => 128,
        ElementType::B4x16 => 2,
        _ => 1,
    };
    if request.coordinates[0].rem_euclid(unit) != 0 {
        let c = request.coordinates[0];
        return Err(format!("coordinate 0 is {c}; of {name} it must be a multiple of {unit}"));
    }
    // The address of a bounding box is a multiple of 16 (5.5.3.1); rows are where strides and the tensor's address are. An H100 stops at others in
    // `.tile`, and what it does in other modes is not known.
    let bit = i64::from(request.coordinates[0]) * i64::from(d.element.bits());
    if request.mode == TensorMode::Tile
        && d.interleave.slice().is_none()
        && bit.rem_euclid(BOX_ALIGN_BITS) != 0
    {
        let (c, unit) = (request.coordinates[0], BOX_ALIGN_BITS / i64::from(d.element.bits()));
        return Err(format!(
            "coordinate 0 is {c}; of {name} it must be a multiple of {unit}, for a box to start at a multiple of 16 bytes, and hardware stops at others as at an illegal instruction"
        ));
    }
    Ok(())
}

/// The walk over pixels, and where it starts.
fn pixels(d: &Descriptor, request: &Request<'_>, start: &mut [i64; 5]) -> Result<Walk, String> {
    let Traversal::Im2col { lower, upper, pixels, wide, .. } = &d.traversal else {
        return Err("the tensor map is not in im2col mode".into());
    };
    if let Some(wide) = wide {
        let [halo, offset] = [0, 1].map(|i| request.info.get(i).copied().unwrap_or(0));
        let most_halo = if *wide == Im2colWide::W128 { 32 } else { 512 };
        if halo >= most_halo {
            return Err(format!("the halo is {halo}; it must be less than {most_halo}"));
        }
        if offset >= 32 {
            return Err(format!("the offset is {offset}; it must be less than 32"));
        }
        start[1] += i64::from(offset);
        let low = i64::from(lower[0]) + i64::from(offset);
        let high = d.dims[1] as i64 - 1 + i64::from(upper[0]) + i64::from(offset);
        if start[1] > high {
            let (c, high) = (request.coordinates[1], high - i64::from(offset));
            return Err(format!("coordinate 1 is {c}, beyond the end of the box at {high}"));
        }
        let (count, every) = match wide {
            Im2colWide::W => (*pixels, *pixels),
            Im2colWide::W128 => (128, 32),
        };
        return Ok(Walk::Wide { low, high, count, every, halo: halo.into() });
    }
    let most = match d.rank {
        3 => u16::MAX,
        4 => 0xff,
        _ => 0x1f,
    };
    let (mut low, mut high) = ([0; 5], [0; 5]);
    for i in 1..d.rank - 1 {
        let offset = request.info.get(i - 1).copied().unwrap_or(0);
        if offset > most {
            let dims = d.rank;
            return Err(format!(
                "im2col offset {} is {offset}; in {dims} dimensions it must be at most {most}",
                i - 1
            ));
        }
        (low[i], high[i]) = (i64::from(lower[i - 1]), d.dims[i] as i64 - 1 + i64::from(upper[i - 1]));
        if !(low[i]..=high[i]).contains(&start[i]) {
            let (c, low, high) = (start[i], low[i], high[i]);
            return Err(format!("coordinate {i} is {c}, outside of the box from {low} to {high}"));
        }
        if !request.load && (lower[i - 1] < 0 || upper[i - 1] > 0) {
            let (l, u) = (lower[i - 1], upper[i - 1]);
            return Err(format!(
                "the corners of the tensor map in dimension {i} are {l} and {u}; towards global memory the box must stay within the tensor"
            ));
        }
        for bound in [&mut low[i], &mut high[i], &mut start[i]] {
            *bound += i64::from(offset);
        }
    }
    Ok(Walk::Pixels { low, high, count: *pixels })
}

/// Rows as they are found.
struct Found<'a> {
    d: &'a Descriptor,
    plan: &'a Plan,
    rows: Vec<Row>,
    at: u32,
}

impl Found<'_> {
    /// The next row of the tile, at coordinates.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not packed stands alone")]
    fn row(&mut self, x: &[i64; 5], slice: u32) -> Result<(), String> {
        let (d, plan) = (self.d, self.plan);
        let at = self.at;
        self.at += plan.row_bytes;
        let beyond = |i: usize| !u64::try_from(x[i]).is_ok_and(|x| x < d.dims[i]);
        if (1..d.rank).any(beyond) {
            return Ok(());
        }
        let first = x[0] + i64::from(slice) * i64::from(plan.row) * i64::from(d.steps[0].max(1));
        let end = (first + i64::from(plan.row)).min(d.dims[0] as i64);
        let from = first.max(0);
        if from >= end {
            return Ok(());
        }
        let bits = d.element.bits();
        // Products of 2^32 elements and strides below 2^40 fit with room.
        let bytes_of = |elements: i64| elements as u128 * u128::from(bits) / 8;
        let mut address = u128::from(d.address);
        let mut strided = 1;
        match d.interleave.slice() {
            None => address += bytes_of(from),
            Some(bytes) => {
                let row = i64::from(plan.row);
                address += (from / row) as u128 * u128::from(d.strides[0]) + bytes_of(from % row);
                address += x[1] as u128 * u128::from(bytes);
                strided = 2;
            }
        }
        for (x, stride) in x.iter().zip(std::iter::once(&0).chain(&d.strides)).take(d.rank).skip(strided) {
            address += *x as u128 * u128::from(*stride);
        }
        let bytes = bytes_of(end - from) as u32;
        let Some(address) = u64::try_from(address).ok().filter(|a| a.checked_add(bytes.into()).is_some())
        else {
            return Err(format!("{:?} is at address {address:#x}, beyond 64 bits", &x[..d.rank]));
        };
        let skipped = (from - first) as u32 * d.element.shared_bits() / 8;
        // Padding comes between every sixteen elements.
        let group = match d.element {
            ElementType::B4x16P64 => 8,
            ElementType::B6x16P32 => 12,
            _ => bytes,
        };
        for i in 0..bytes.div_ceil(group) {
            let row = Row {
                address: address + u64::from(i * group),
                at: at + skipped + 16 * i,
                bytes: group.min(bytes - i * group),
            };
            match self.rows.last_mut() {
                Some(last)
                    if !d.element.is_padded()
                        && last.address + u64::from(last.bytes) == row.address
                        && last.at + last.bytes == row.at =>
                {
                    last.bytes += row.bytes;
                }
                _ => self.rows.push(row),
            }
        }
        Ok(())
    }
}

/// The content of a dense tile before its rows are copied into it.
pub(crate) fn filled(d: &Descriptor, bytes: u32) -> Vec<u8> {
    match d.fill {
        Fill::Zero => vec![0; bytes as usize],
        Fill::Nan => OOB_NAN.to_le_bytes().into_iter().cycle().take(bytes as usize).collect(),
    }
}

/// What an element type does to elements on their way: subnormals, and bits that tf32 does not have.
#[expect(clippy::wildcard_enum_match_arm, reason = "only these two change what is read")]
pub(crate) fn convert(element: ElementType, data: &mut [u8]) {
    let (ftz, tf32) = match element {
        ElementType::F32Ftz => (true, false),
        ElementType::TF32 => (false, true),
        ElementType::TF32Ftz => (true, true),
        _ => return,
    };
    for word in data.as_chunks_mut::<4>().0 {
        let mut bits = u32::from_le_bytes(*word);
        if ftz && bits & 0x7f80_0000 == 0 {
            bits &= 0x8000_0000;
        }
        if tf32 && bits & 0x7fff_ffff <= 0x7f80_0000 {
            bits = bits.wrapping_add(0xfff + (bits >> 13 & 1)) & !0x1fff;
        }
        *word = bits.to_le_bytes();
    }
}

/// `.b6p2x16`: the low six bits of each of sixteen bytes, one after the other.
pub(crate) fn pack_six(bytes: &[u8]) -> [u8; 12] {
    let bits =
        bytes.iter().take(16).enumerate().fold(0u128, |bits, (i, b)| bits | u128::from(b & 0x3f) << (6 * i));
    let mut packed = [0; 12];
    packed.copy_from_slice(&bits.to_le_bytes()[..12]);
    packed
}
