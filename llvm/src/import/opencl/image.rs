//! Images and samplers (OpenCL C specification, 6.15.15; for the texels that a coordinate denotes, the OpenCL specification, 8.2).
//!
//! An image that is read is the 64-bit handle of a texture, and one that is written that of a surface. A sampler is a number, the flags of its
//! initialiser: what it asks for is computed, so that the texture's own settings of coordinates, addresses and filters do not matter.

use super::mangled::Element;
use super::{Operands, missing};
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::module::body::{Call, Inst};
use warpsmith_ir::{self as ir, InstBuilder, IntCC, PtxArg, Type, Value};

/// What a texel consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Texel {
    Float,
    Signed,
    Unsigned,
}

impl Texel {
    fn ty(self) -> Type {
        match self {
            Texel::Float => Type::F32,
            Texel::Signed | Texel::Unsigned => Type::I32,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Texel::Float => "f32",
            Texel::Signed => "s32",
            Texel::Unsigned => "u32",
        }
    }
}

/// What a function does with an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Read(Texel),
    Write(Texel),
    /// A number that `txq` and `suq` give.
    Query(&'static str),
    /// Width, height, and of three dimensions depth, as a vector.
    Dimensions,
}

const FUNCTIONS: &[(&str, Access)] = &[
    ("read_imagef", Access::Read(Texel::Float)),
    ("read_imagei", Access::Read(Texel::Signed)),
    ("read_imageui", Access::Read(Texel::Unsigned)),
    ("write_imagef", Access::Write(Texel::Float)),
    ("write_imagei", Access::Write(Texel::Signed)),
    ("write_imageui", Access::Write(Texel::Unsigned)),
    ("get_image_width", Access::Query("width")),
    ("get_image_height", Access::Query("height")),
    ("get_image_depth", Access::Query("depth")),
    ("get_image_array_size", Access::Query("array_size")),
    ("get_image_channel_data_type", Access::Query("channel_data_type")),
    ("get_image_channel_order", Access::Query("channel_order")),
    ("get_image_dim", Access::Dimensions),
];

/// A type of images.
#[derive(Debug)]
struct Geometry {
    name: &'static str,
    /// As the instructions call it.
    ptx: &'static str,
    dimensions: usize,
    is_array: bool,
}

const GEOMETRIES: &[Geometry] = &[
    Geometry { name: "image1d", ptx: "1d", dimensions: 1, is_array: false },
    Geometry { name: "image1d_buffer", ptx: "1d", dimensions: 1, is_array: false },
    Geometry { name: "image1d_array", ptx: "a1d", dimensions: 1, is_array: true },
    Geometry { name: "image2d", ptx: "2d", dimensions: 2, is_array: false },
    Geometry { name: "image2d_array", ptx: "a2d", dimensions: 2, is_array: true },
    Geometry { name: "image3d", ptx: "3d", dimensions: 3, is_array: false },
];

/// The sizes that `txq` and `suq` give, by dimension.
const SIZES: [&str; 3] = ["width", "height", "depth"];

/// A function of images, as its symbol has it.
pub(super) struct Function {
    name: &'static str,
    access: Access,
    /// `image2d`, as the program calls it.
    image: String,
    /// `ro`, `wo` or `rw`.
    qualifier: String,
}

impl Function {
    pub fn of(name: &str, symbol: &str) -> Option<Function> {
        let (name, access) = *FUNCTIONS.iter().find(|(known, _)| *known == name)?;
        let (_, image) = symbol.split_once("ocl_image")?;
        // The name of the type ends with its qualifier; parameters follow.
        let at = ["_ro", "_wo", "_rw"].into_iter().filter_map(|end| image.find(end)).min()?;
        let (image, qualifier) =
            (format!("image{}", image.get(..at)?), image.get(at + 1..at + 3)?.to_owned());
        Some(Function { name, access, image, qualifier })
    }

    fn is_written(&self) -> bool {
        self.qualifier != "ro"
    }
}

/// The flags of a sampler, as `opencl-c-base.h` numbers them.
mod flags {
    pub const NORMALIZED: i64 = 1;
    pub const ADDRESS: i64 = 0xe;
    pub const CLAMP: i64 = 4;
    pub const REPEAT: i64 = 6;
    pub const MIRRORED_REPEAT: i64 = 8;
    pub const LINEAR: i64 = 0x20;
}

/// The orders of channels without alpha, whose border is opaque (PTX ISA 9.0, table 13): R, RG, RGB, luminance.
const OPAQUE: [i64; 4] = [0x10b0, 0x10b2, 0x10b4, 0x10b9];

/// Types of channels that `write_imagef` writes fractions to, with what 1 is there and the least value (table 12): as normalised, and as the integers that a surface has.
const FRACTIONS: [(i64, f32, f32); 8] = [
    (0x10d0, 127.0, -1.0),
    (0x10d1, 32767.0, -1.0),
    (0x10d2, 255.0, 0.0),
    (0x10d3, 65535.0, 0.0),
    (0x10d7, 127.0, -1.0),
    (0x10d8, 32767.0, -1.0),
    (0x10da, 255.0, 0.0),
    (0x10db, 65535.0, 0.0),
];

/// An image in a function.
struct Image {
    geometry: &'static Geometry,
    handle: Value,
    /// `txq` or `suq`.
    query: &'static str,
}

/// A sampler, taken apart.
struct Sampler {
    normalized: Value,
    repeats: Value,
    mirrors: Value,
    /// Outside is the border.
    has_border: Value,
    linear: Value,
}

impl Builder<'_, '_, '_> {
    /// `__translate_sampler_initializer`: a sampler is its flags.
    pub(super) fn sampler_of_flags(&mut self, inst: &Inst, call: &Call) -> Result<bool> {
        let [arg] = *self.body.args(call) else { return Err(missing()) };
        let flags = self.scalar(arg)?;
        let flags = self.resize(flags, Type::I64);
        let parts = self.parts(inst.ty)?;
        let Some(part) = parts.first().filter(|part| part.ty.is_ptr()) else { return Err(missing()) };
        let sampler = self.b.ins().inttoptr(part.ty, flags);
        self.result(inst, &[sampler])?;
        Ok(true)
    }

    pub(super) fn image_access(&mut self, function: &Function, operands: &Operands) -> Result<Values> {
        let unsupported =
            |what: &str| Error::unsupported(format!("`{}` of {what} `{}_t`", function.name, function.image));
        let Some(geometry) = GEOMETRIES.iter().find(|known| known.name == function.image) else {
            return Err(unsupported("an"));
        };
        let pointer = operands.scalar(0)?;
        if !self.type_of(pointer).is_ptr() {
            return Err(missing());
        }
        let handle = self.b.ins().ptrtoint(pointer);
        let image = Image { geometry, handle, query: if function.is_written() { "suq" } else { "txq" } };
        match function.access {
            Access::Read(_) if function.is_written() => Err(unsupported("a read_write")),
            Access::Read(texel) => self.read_image(&image, texel, operands),
            Access::Write(texel) => self.write_image(&image, texel, operands),
            Access::Query(what) => {
                let value = self.image_query(&image, what)?;
                Ok(Values::from_slice(&[self.resize(value, operands.result()?)]))
            }
            Access::Dimensions => {
                let zero = self.b.ins().iconst(Type::I32, 0);
                let mut all: Values = Values::new();
                for size in SIZES.iter().take(geometry.dimensions) {
                    let size = self.image_query(&image, size)?;
                    all.push(size);
                }
                all.resize(operands.lanes, zero);
                Ok(all)
            }
        }
    }

    fn image_query(&mut self, image: &Image, what: &str) -> Result<Value> {
        let mnemonic = format!("{}.{what}.b32", image.query);
        self.ptx_one(&mnemonic, vec![ir::at(image.handle)], Type::I32)
    }

    fn read_image(&mut self, image: &Image, texel: Texel, operands: &Operands) -> Result<Values> {
        let (sampler, coordinates) = match operands.all.as_slice() {
            [_, coordinates] => (None, coordinates),
            [_, sampler, coordinates] if sampler.element == Element::Other => {
                (sampler.values.first().copied(), coordinates)
            }
            _ => return Err(missing()),
        };
        let is_float = coordinates.element == Element::Float;
        let geometry = image.geometry;
        let count = geometry.dimensions + usize::from(geometry.is_array);
        let Some(coordinates) = coordinates.values.get(..count) else { return Err(missing()) };
        let (places, layer) = coordinates.split_at(geometry.dimensions);
        let layer = match layer.first() {
            Some(layer) => Some(self.image_layer(image, *layer, is_float)?),
            None => None,
        };
        let Some(sampler) = sampler else {
            return self.fetch(image, texel, places, layer);
        };
        let flags = self.integer_of(sampler);
        let sampler = self.sampler(flags);
        let mut sizes = Values::new();
        for size in SIZES.iter().take(geometry.dimensions) {
            let size = self.image_query(image, size)?;
            sizes.push(size);
        }
        if !is_float {
            return self.addressed(image, texel, &sampler, places, &sizes, layer);
        }
        let scaled: Values =
            places.iter().zip(&sizes).map(|(place, size)| self.scaled(&sampler, *place, *size)).collect();
        if texel != Texel::Float {
            // Integers are never filtered.
            return self.nearest(image, texel, &sampler, &scaled, &sizes, layer);
        }
        let [linear, nearest, done] = [(); 3].map(|()| self.b.create_block());
        let out: Values = (0..4).map(|_| self.b.append_block_param(done, texel.ty())).collect();
        self.b.ins().brif(sampler.linear, linear, &[], nearest, &[]);
        self.b.switch_to_block(linear);
        let filtered = self.filtered(image, &sampler, &scaled, &sizes, layer)?;
        self.b.ins().jump(done, &filtered);
        self.b.switch_to_block(nearest);
        let single = self.nearest(image, texel, &sampler, &scaled, &sizes, layer)?;
        self.b.ins().jump(done, &single);
        self.b.switch_to_block(done);
        Ok(out)
    }

    fn sampler(&mut self, flags: Value) -> Sampler {
        let flags = self.resize(flags, Type::I32);
        let has = |this: &mut Self, bits: i64| {
            let masked = this.b.ins().band_imm(flags, bits);
            this.b.ins().icmp_imm(IntCC::Ne, masked, 0)
        };
        let (normalized, linear) = (has(self, flags::NORMALIZED), has(self, flags::LINEAR));
        let address = self.b.ins().band_imm(flags, flags::ADDRESS);
        let [has_border, repeats, mirrors] = [flags::CLAMP, flags::REPEAT, flags::MIRRORED_REPEAT]
            .map(|mode| self.b.ins().icmp_imm(IntCC::Eq, address, mode));
        Sampler { normalized, repeats, mirrors, has_border, linear }
    }

    /// The layer of an array: the nearest that there is.
    fn image_layer(&mut self, image: &Image, layer: Value, is_float: bool) -> Result<Value> {
        let layer = if is_float {
            let whole = self.b.ins().fnearest(layer);
            self.b.ins().fptosi(Type::I32, whole)
        } else {
            layer
        };
        let layers = self.image_query(image, "array_size")?;
        Ok(self.inside_image(layer, layers))
    }

    /// A number from 0 to one less than a size.
    fn inside_image(&mut self, x: Value, size: Value) -> Value {
        let x = self.b.ins().smax_imm(x, 0);
        let last = self.b.ins().iadd_imm(size, -1);
        self.b.ins().smin(x, last)
    }

    /// A coordinate in texels.
    fn scaled(&mut self, sampler: &Sampler, s: Value, size: Value) -> Value {
        let size = self.b.ins().sitofp(Type::F32, size);
        let whole = self.b.ins().ffloor(s);
        let repeated = self.b.ins().fsub(s, whole);
        let half = self.b.ins().f32const(0.5);
        let half = self.b.ins().fmul(s, half);
        let even = self.b.ins().fnearest(half);
        let even = self.b.ins().fadd(even, even);
        let mirrored = self.b.ins().fsub(s, even);
        let mirrored = self.b.ins().fabs(mirrored);
        let within = self.b.ins().select(sampler.mirrors, mirrored, s);
        let within = self.b.ins().select(sampler.repeats, repeated, within);
        let scaled = self.b.ins().fmul(within, size);
        self.b.ins().select(sampler.normalized, scaled, s)
    }

    /// The number of a texel, of one next to those that there are: on the other side of the image, or the one at the edge.
    fn wrapped(&mut self, sampler: &Sampler, x: Value, size: Value) -> Value {
        let more = self.b.ins().iadd(x, size);
        let below = self.b.ins().icmp_imm(IntCC::Slt, x, 0);
        let repeated = self.b.ins().select(below, more, x);
        let less = self.b.ins().isub(x, size);
        let above = self.b.ins().icmp(IntCC::Sge, x, size);
        let repeated = self.b.ins().select(above, less, repeated);
        let mirrored = self.inside_image(x, size);
        let place = self.b.ins().select(sampler.mirrors, mirrored, x);
        self.b.ins().select(sampler.repeats, repeated, place)
    }

    fn nearest(
        &mut self,
        image: &Image,
        texel: Texel,
        sampler: &Sampler,
        scaled: &[Value],
        sizes: &[Value],
        layer: Option<Value>,
    ) -> Result<Values> {
        let mut places = Values::new();
        for (u, size) in scaled.iter().zip(sizes) {
            let whole = self.b.ins().ffloor(*u);
            let place = self.b.ins().fptosi(Type::I32, whole);
            places.push(self.wrapped(sampler, place, *size));
        }
        self.addressed(image, texel, sampler, &places, sizes, layer)
    }

    /// The texels around a place, each with its weight.
    fn filtered(
        &mut self,
        image: &Image,
        sampler: &Sampler,
        scaled: &[Value],
        sizes: &[Value],
        layer: Option<Value>,
    ) -> Result<Values> {
        // For each dimension two texels and their weights.
        let mut sides: Vec<[(Value, Value); 2]> = Vec::new();
        let one = self.b.ins().f32const(1.0);
        let half = self.b.ins().f32const(0.5);
        for (u, size) in scaled.iter().zip(sizes) {
            let u = self.b.ins().fsub(*u, half);
            let whole = self.b.ins().ffloor(u);
            let second = self.b.ins().fsub(u, whole);
            let first = self.b.ins().fsub(one, second);
            let place = self.b.ins().fptosi(Type::I32, whole);
            let next = self.b.ins().iadd_imm(place, 1);
            sides.push([
                (self.wrapped(sampler, place, *size), first),
                (self.wrapped(sampler, next, *size), second),
            ]);
        }
        let mut sum: Option<Values> = None;
        for corner in 0..1usize << sides.len() {
            let (mut places, mut weight) = (Values::new(), None);
            for (n, side) in sides.iter().enumerate() {
                let (place, factor) = side[corner >> n & 1];
                places.push(place);
                weight = Some(match weight {
                    Some(weight) => self.b.ins().fmul(weight, factor),
                    None => factor,
                });
            }
            let weight = weight.ok_or_else(missing)?;
            let texel = self.addressed(image, Texel::Float, sampler, &places, sizes, layer)?;
            let part: Values = texel.iter().map(|channel| self.b.ins().fmul(weight, *channel)).collect();
            sum = Some(match sum {
                Some(sum) => sum.iter().zip(&part).map(|(x, y)| self.b.ins().fadd(*x, *y)).collect(),
                None => part,
            });
        }
        sum.ok_or_else(missing)
    }

    /// A texel, or where a sampler has one the border of an image.
    fn addressed(
        &mut self,
        image: &Image,
        texel: Texel,
        sampler: &Sampler,
        places: &[Value],
        sizes: &[Value],
        layer: Option<Value>,
    ) -> Result<Values> {
        let mut outside = self.b.ins().iconst(Type::I1, 0);
        let mut inside = Values::new();
        for (place, size) in places.iter().zip(sizes) {
            // As unsigned numbers those below zero are beyond.
            let beyond = self.b.ins().icmp(IntCC::Uge, *place, *size);
            outside = self.b.ins().bor(outside, beyond);
            inside.push(self.inside_image(*place, *size));
        }
        let found = self.fetch(image, texel, &inside, layer)?;
        let is_border = self.b.ins().band(outside, sampler.has_border);
        let [border, done] = [(); 2].map(|()| self.b.create_block());
        let out: Values = (0..4).map(|_| self.b.append_block_param(done, texel.ty())).collect();
        self.b.ins().brif(is_border, border, &[], done, &found);
        self.b.switch_to_block(border);
        let order = self.image_query(image, "channel_order")?;
        let mut is_opaque = self.b.ins().iconst(Type::I1, 0);
        for known in OPAQUE {
            let is = self.b.ins().icmp_imm(IntCC::Eq, order, known);
            is_opaque = self.b.ins().bor(is_opaque, is);
        }
        let [zero, one] = match texel {
            Texel::Float => [0.0, 1.0].map(|x| self.b.ins().f32const(x)),
            Texel::Signed | Texel::Unsigned => [0, 1].map(|x| self.b.ins().iconst(Type::I32, x)),
        };
        let alpha = self.b.ins().select(is_opaque, one, zero);
        self.b.ins().jump(done, &[zero, zero, zero, alpha]);
        self.b.switch_to_block(done);
        Ok(out)
    }

    /// The four channels of a texel.
    fn fetch(
        &mut self,
        image: &Image,
        texel: Texel,
        places: &[Value],
        layer: Option<Value>,
    ) -> Result<Values> {
        let mnemonic = Self::mnemonic(&format!("tex.{}.v4.{}.s32", image.geometry.ptx, texel.suffix()))?;
        let bracket = ir::bracket([PtxArg::from(image.handle), coordinates(places, layer)]);
        Ok(self.b.ins().ptx_typed(mnemonic, vec![bracket], &[texel.ty(); 4]).into_iter().collect())
    }

    fn write_image(&mut self, image: &Image, texel: Texel, operands: &Operands) -> Result<Values> {
        let [_, places, texels] = operands.all.as_slice() else { return Err(missing()) };
        let geometry = image.geometry;
        let count = geometry.dimensions + usize::from(geometry.is_array);
        let Some(places) = places.values.get(..count) else { return Err(missing()) };
        let (places, layer) = places.split_at(geometry.dimensions);
        let bits: Values = match texel {
            Texel::Signed | Texel::Unsigned => texels.values.clone(),
            Texel::Float => self.channels_of_floats(image, &texels.values)?,
        };
        let bracket = ir::bracket([PtxArg::from(image.handle), coordinates(places, layer.first().copied())]);
        let data = ir::braces(bits.into_iter().map(PtxArg::from));
        self.ptx_none(&format!("sust.p.{}.v4.b32.trap", geometry.ptx), vec![bracket, data])?;
        Ok(Values::new())
    }

    /// What a surface takes for floats: their bits, or integers where it has channels of 8 or 16 bits.
    fn channels_of_floats(&mut self, image: &Image, floats: &[Value]) -> Result<Values> {
        let ty = self.image_query(image, "channel_data_type")?;
        let mut is_fraction = self.b.ins().iconst(Type::I1, 0);
        let one = self.b.ins().f32const(1.0);
        let (mut scale, mut least) = (one, one);
        for (known, of_one, lowest) in FRACTIONS {
            let is = self.b.ins().icmp_imm(IntCC::Eq, ty, known);
            is_fraction = self.b.ins().bor(is_fraction, is);
            let of_one = self.b.ins().f32const(of_one);
            scale = self.b.ins().select(is, of_one, scale);
            let lowest = self.b.ins().f32const(lowest);
            least = self.b.ins().select(is, lowest, least);
        }
        let channel = |float: &Value| {
            let above = self.b.ins().fmax(*float, least);
            let within = self.b.ins().fmin(above, one);
            let scaled = self.b.ins().fmul(within, scale);
            let whole = self.b.ins().fnearest(scaled);
            let fraction = self.b.ins().fptosi(Type::I32, whole);
            let bits = self.b.ins().bitcast(Type::I32, *float);
            self.b.ins().select(is_fraction, fraction, bits)
        };
        Ok(floats.iter().map(channel).collect())
    }
}

/// Coordinates in braces: the layer first, and filled up to one, two or four.
fn coordinates(places: &[Value], layer: Option<Value>) -> PtxArg {
    let mut all: Vec<Value> = layer.into_iter().chain(places.iter().copied()).collect();
    if let (3, Some(last)) = (all.len(), all.last().copied()) {
        all.push(last);
    }
    ir::braces(all.into_iter().map(PtxArg::from))
}
