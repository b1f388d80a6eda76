//! Sizes, layers, levels and samples, and where a texel lies.

use super::Format;
use smallvec::SmallVec;
use std::fmt;
use std::ops::RangeInclusive;

/// Images start at multiples of this (PTX ISA 9.0, 9.7.10.3).
pub const TEXEL_ALIGN: u64 = 16;
/// The most texels in each dimension, by the number of dimensions: those of sm_90, and of linear memory in one dimension.
const MOST: [[u32; 3]; 3] = [[1 << 28, 1, 1], [131_072, 65_536, 1], [16_384, 16_384, 16_384]];
/// The most layers.
const MOST_LAYERS: u32 = 2048;
/// The most samples of a texel.
const MOST_SAMPLES: u32 = 32;
/// The most bytes.
const MOST_BYTES: u64 = 1 << 31;

/// How the texels of a texture or surface lie in memory: level after level, in a level layer after layer, in a layer z, y, x, sample, channel,
/// tightly packed unless it is [pitched](Image::pitched) or a [view](Image::view). The layers of a cube are its faces +x -x +y -y +z -z.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    format: Format,
    dims: u32,
    size: [u32; 3],
    layers: Option<u32>,
    cube: bool,
    mipmap: Option<u32>,
    samples: Option<u32>,
    linear: bool,
    levels: SmallVec<[Level; 1]>,
    bytes: u32,
}

/// A level of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Level {
    pub size: [u32; 3],
    /// Where its first layer is.
    pub offset: u32,
    /// Bytes from row to row.
    pub row_bytes: u32,
    /// Bytes from layer to layer.
    pub layer_bytes: u32,
}

/// What a rule about images is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageField {
    /// The number of channels.
    Channels,
    /// The bytes from row to row.
    Pitch,
    /// All sizes, or that of one dimension.
    Size(Option<usize>),
    /// The layers.
    Layers,
    /// The levels.
    Levels,
    /// The samples.
    Samples,
}

/// A rule that an image breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageError {
    /// What it is about.
    pub field: ImageField,
    /// What must be, and what is.
    pub rule: String,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = match self.field {
            ImageField::Channels => "channels",
            ImageField::Pitch => "pitch",
            ImageField::Size(_) => "size",
            ImageField::Layers => "layers",
            ImageField::Levels => "levels",
            ImageField::Samples => "samples",
        };
        write!(f, "{field}: {}", self.rule)
    }
}

impl std::error::Error for ImageError {}

fn too_large() -> ImageError {
    let rule = format!("an image has at most {MOST_BYTES} bytes, and this one more");
    ImageError { field: ImageField::Size(None), rule }
}

impl Image {
    /// An image of one, two or three sizes, with `layers` if it is an array.
    pub fn new(format: Format, size: &[u32], layers: Option<u32>) -> Result<Image, ImageError> {
        Image::with(format, size, layers, false, None, None)
    }

    /// A cube, or an array of cubes: of 6 faces for each.
    pub fn cube(format: Format, size: u32, layers: u32) -> Result<Image, ImageError> {
        Image::with(format, &[size, size], Some(layers), true, None, None)
    }

    /// An image with all that it can have: levels if it is a mipmap, samples if its texels have several.
    pub fn with(
        format: Format,
        size: &[u32],
        layers: Option<u32>,
        cube: bool,
        levels: Option<u32>,
        samples: Option<u32>,
    ) -> Result<Image, ImageError> {
        let error = |field: ImageField, rule: String| Err(ImageError { field, rule });
        if !matches!(format.channels, 1 | 2 | 4) {
            return error(ImageField::Channels, format!("1, 2 or 4 are possible, not {}", format.channels));
        }
        let dims = size.len();
        let Some(most) = dims.checked_sub(1).and_then(|i| MOST.get(i)) else {
            return error(ImageField::Size(None), format!("one to three sizes are possible, not {dims}"));
        };
        for (i, (&n, &most)) in size.iter().zip(most).enumerate() {
            if n == 0 || n > most {
                let rule = format!("must be from 1 to {most} in an image of {dims} dimensions, and is {n}");
                return error(ImageField::Size(Some(i)), rule);
            }
        }
        let whole: [u32; 3] = std::array::from_fn(|i| size.get(i).copied().unwrap_or(1));
        if cube && (dims != 2 || whole[0] != whole[1]) {
            return error(ImageField::Size(None), "the faces of a cube are squares: two equal sizes".into());
        }
        if let Some(n) = layers {
            if dims == 3 {
                return error(ImageField::Layers, "an image of three dimensions has none".into());
            }
            if n == 0 || n > MOST_LAYERS {
                return error(ImageField::Layers, format!("must be from 1 to {MOST_LAYERS}, and is {n}"));
            }
        }
        let layers = if cube { layers.or(Some(6)) } else { layers };
        if cube && !layers.is_some_and(|n| n.is_multiple_of(6)) {
            let n = layers.unwrap_or(0);
            return error(
                ImageField::Layers,
                format!("a cube has 6 for each cube, which {n} is not a multiple of"),
            );
        }
        let largest = whole.into_iter().max().unwrap_or(1);
        let most_levels = largest.ilog2() + 1;
        if let Some(n) = levels
            && (n == 0 || n > most_levels)
        {
            let rule = format!("must be from 1 to {most_levels} for a size of {largest}, and is {n}");
            return error(ImageField::Levels, rule);
        }
        if let Some(n) = samples {
            if dims != 2 || cube || levels.is_some_and(|n| n > 1) {
                let rule = "are for images of two dimensions that are neither cubes nor mipmaps";
                return error(ImageField::Samples, rule.into());
            }
            if !n.is_power_of_two() || n > MOST_SAMPLES {
                let rule = format!("must be a power of two up to {MOST_SAMPLES}, and is {n}");
                return error(ImageField::Samples, rule);
            }
        }
        let mut image = Image {
            format,
            dims: dims as u32,
            size: whole,
            layers,
            cube,
            mipmap: levels,
            samples,
            linear: false,
            levels: SmallVec::new(),
            bytes: 0,
        };
        let mut end = 0u64;
        for i in 0..levels.unwrap_or(1) {
            let size = whole.map(|n| (n >> i).max(1));
            let texels =
                size.iter().fold(u64::from(samples.unwrap_or(1)), |n, d| n.saturating_mul((*d).into()));
            let layer = texels.saturating_mul(format.bytes().into());
            let next = layer.saturating_mul(layers.unwrap_or(1).into()).saturating_add(end);
            if next > MOST_BYTES {
                return Err(too_large());
            }
            let row_bytes = size[0] * samples.unwrap_or(1) * format.bytes();
            image.levels.push(Level { size, offset: end as u32, row_bytes, layer_bytes: layer as u32 });
            end = next;
        }
        image.bytes = end as u32;
        Ok(image)
    }

    /// The same image in memory that is a buffer: for the query of its layout.
    pub fn in_linear_memory(mut self) -> Image {
        self.linear = true;
        self
    }

    /// The same image of one level, one layer and two dimensions with `pitch` bytes from row to row.
    pub fn pitched(mut self, pitch: u32) -> Result<Image, ImageError> {
        let error = |rule: String| Err(ImageError { field: ImageField::Pitch, rule });
        let ([_, rows, _], [level]) = (self.size, self.levels.as_mut_slice()) else {
            return error("is for images of one level".into());
        };
        if self.dims != 2 || self.layers.is_some() {
            return error("is for images of two dimensions that have no layers".into());
        }
        if pitch < level.row_bytes || !pitch.is_multiple_of(self.format.bytes()) {
            let (row, texel) = (level.row_bytes, self.format.bytes());
            return error(format!("must be a multiple of {texel} that is {row} or more, and is {pitch}"));
        }
        // The last row ends where its texels do.
        let bytes = u64::from(pitch) * u64::from(rows - 1) + u64::from(level.row_bytes);
        if bytes > MOST_BYTES {
            return Err(too_large());
        }
        (level.row_bytes, level.layer_bytes, self.bytes) = (pitch, bytes as u32, bytes as u32);
        Ok(self)
    }

    /// The same memory with some of the levels, some of the layers, and texels of another format as large.
    pub fn view(
        &self,
        format: Format,
        levels: RangeInclusive<u32>,
        layers: RangeInclusive<u32>,
    ) -> Result<Image, ImageError> {
        let error = |field: ImageField, rule: String| Err(ImageError { field, rule });
        if format.bytes() != self.format.bytes() {
            let (new, old) = (format.bytes(), self.format.bytes());
            return error(ImageField::Channels, format!("a view has texels of {old} bytes, not of {new}"));
        }
        let all = self.levels.len() as u32;
        if levels.is_empty() || *levels.end() >= all {
            let (first, last) = (levels.start(), levels.end());
            return error(
                ImageField::Levels,
                format!("{first} to {last} are not among the {all} of the image"),
            );
        }
        let all = self.layers.unwrap_or(1);
        if layers.is_empty() || *layers.end() >= all {
            let (first, last) = (layers.start(), layers.end());
            return error(
                ImageField::Layers,
                format!("{first} to {last} are not among the {all} of the image"),
            );
        }
        let count = layers.end() - layers.start() + 1;
        if self.cube && !(layers.start().is_multiple_of(6) && count.is_multiple_of(6)) {
            return error(ImageField::Layers, "a view of cubes has whole cubes, of 6 layers each".into());
        }
        let mut view = self.clone();
        view.format = format;
        view.layers = self.layers.map(|_| count);
        view.levels = self.levels[*levels.start() as usize..=*levels.end() as usize].into();
        for level in &mut view.levels {
            level.offset += level.layer_bytes * layers.start();
        }
        view.mipmap = self.mipmap.map(|_| view.levels.len() as u32);
        view.size = view.levels[0].size;
        Ok(view)
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its number of dimensions.
    pub fn dims(&self) -> u32 {
        self.dims
    }

    /// Its sizes: width, height and depth, 1 where it has none.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// The number of layers of an array or cube.
    pub fn layers(&self) -> Option<u32> {
        self.layers
    }

    /// True for a cube and an array of cubes.
    pub fn is_cube(&self) -> bool {
        self.cube
    }

    /// The number of levels of a mipmap.
    pub fn mipmap(&self) -> Option<u32> {
        self.mipmap
    }

    /// The number of samples of a texel, if that can be several.
    pub fn samples(&self) -> Option<u32> {
        self.samples
    }

    /// True if its memory is a buffer.
    pub fn is_linear(&self) -> bool {
        self.linear
    }

    /// Bytes of all levels and layers; of a view, those of the image that it is of.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// What it is, in a few words.
    pub fn describe(&self) -> String {
        let [w, h, d] = self.size;
        let size = match self.dims {
            1 => format!("{w}"),
            2 => format!("{w}x{h}"),
            _ => format!("{w}x{h}x{d}"),
        };
        let kind = match (self.cube, self.layers) {
            (true, Some(n)) => format!(" cube of {n} faces"),
            (_, Some(n)) => format!(" array of {n} layers"),
            (_, None) => String::new(),
        };
        let samples = self.samples.map_or(String::new(), |n| format!(" with {n} samples"));
        format!("{}-dimensional{kind} of {size} texels{samples}", self.dims)
    }
}
