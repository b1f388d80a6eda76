//! Cubes: faces, arrays of them, and filtering across edges and corners.

use crate::reference::Texture;
use crate::{Random, inputs, kernel, registers, run};
use warpsmith_interp::Device;
use warpsmith_interp::texture::{ChannelType, Filter, Format, Image, Sampler};

/// Texels along an edge of the cubes without levels.
const SIZE: i64 = 4;

/// The guide's table: for each face the axis it faces with its sign, and the directions of s and t.
fn point(face: usize, s: f64, t: f64) -> [f64; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

fn centre(i: i64, size: i64) -> f64 {
    (2 * i + 1) as f64 / size as f64 - 1.0
}

/// Where a direction goes through the plane of a face.
fn on_face(face: usize, [x, y, z]: [f64; 3]) -> [f64; 2] {
    match face {
        0 => [-z / x, -y / x],
        1 => [-z / x, y / x],
        2 => [x / y, z / y],
        3 => [-x / y, z / y],
        4 => [x / z, -y / z],
        _ => [x / z, y / z],
    }
}

/// The texel of any face whose middle is nearest to that of a texel beyond an edge.
fn across(face: usize, x: i64, y: i64, size: i64) -> (usize, i64, i64) {
    let p = point(face, centre(x, size), centre(y, size));
    let mut best = (f64::MAX, (0, 0, 0));
    for other in 0..6 {
        for v in 0..size {
            for u in 0..size {
                let q = point(other, centre(u, size), centre(v, size));
                let distance: f64 = p.iter().zip(q).map(|(a, b)| (a - b) * (a - b)).sum();
                if other != face && distance < best.0 {
                    best = (distance, (other, u, v));
                }
            }
        }
    }
    best.1
}

/// The four texels around a place of a face, each `None` beyond a corner: (low, low), (high, low), (low, high), (high, high), and the weights of the
/// high ones.
fn around(
    texture: &Texture,
    level: u32,
    cube: u32,
    face: usize,
    s: f64,
    t: f64,
) -> ([Option<[f64; 4]>; 4], [f64; 2]) {
    let size = i64::from((texture.image.size()[0] >> level).max(1));
    let (u, v) = ((s + 1.0) / 2.0 * size as f64, (t + 1.0) / 2.0 * size as f64);
    let inside = |c: i64| (0..size).contains(&c);
    let (i, j) = ((u - 0.5).floor() as i64, (v - 0.5).floor() as i64);
    let texel = |face: usize, x: i64, y: i64| texture.texel(level, cube * 6 + face as u32, [x, y, 0]);
    let found = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(x, y)| match (inside(x), inside(y)) {
        (true, true) => Some(texel(face, x, y)),
        (false, false) => None,
        _ => {
            let (face, x, y) = across(face, x, y, size);
            Some(texel(face, x, y))
        }
    });
    (found, [u - 0.5 - i as f64, v - 0.5 - j as f64])
}

fn expected(texture: &Texture, level: u32, cube: u32, face: usize, s: f64, t: f64) -> f64 {
    if texture.sampler.filter == Filter::Nearest {
        let size = f64::from((texture.image.size()[0] >> level).max(1));
        let index = |c: f64| ((c + 1.0) / 2.0 * size).floor() as i64;
        return texture.texel(level, cube * 6 + face as u32, [index(s), index(t), 0])[0];
    }
    let (texels, [a, b]) = around(texture, level, cube, face, s, t);
    let weights = [(1.0 - a) * (1.0 - b), a * (1.0 - b), (1.0 - a) * b, a * b];
    let there: Vec<f64> = texels.iter().flatten().map(|texel| texel[0]).collect();
    let mean = there.iter().sum::<f64>() / there.len() as f64;
    texels.iter().zip(weights).map(|(texel, weight)| texel.map_or(mean, |texel| texel[0]) * weight).sum()
}

/// Places on faces: cube, face, s and t, and how long the direction is. Odd multiples of 1/64 are on no border.
fn places(random: &mut Random, cubes: u32) -> Vec<(u32, usize, f64, f64, f64)> {
    let mut places = Vec::new();
    for face in 0..6 {
        for _ in 0..200 {
            let mut any = || ((random.next() % 64) * 2 + 1) as f64 / 64.0 - 1.0;
            let (s, t) = (any(), any());
            places.push((random.next() % cubes, face, s, t, 1.0 + (random.next() % 3) as f64));
        }
    }
    places
}

/// The cube in word 0 and the direction in words 1 to 3.
fn words(&(cube, face, s, t, length): &(u32, usize, f64, f64, f64)) -> [u32; 16] {
    let mut words = [0; 16];
    words[0] = cube;
    for (word, p) in words[1..].iter_mut().zip(point(face, s, t)) {
        *word = ((p * length) as f32).to_bits();
    }
    words
}

#[test]
fn faces_edges_and_corners() {
    let format = Format { ty: ChannelType::F32, channels: 1 };
    for (geometry, cubes) in [("cube", 1), ("acube", 2)] {
        let index = if cubes > 1 { "%r0, " } else { "" };
        let pad = if cubes > 1 { "" } else { ", %f0" };
        let program = kernel(&format!(
            "{} {} tex.{geometry}.v4.f32.f32 {}, [%h, {{{index}%f1, %f2, %f3{pad}}}]; st.global.v4.f32 [%out], {};",
            inputs("r", 0, 1),
            inputs("f", 0, 4),
            registers("f", 8, 4),
            registers("f", 8, 4)
        ));
        for filter in [Filter::Nearest, Filter::Linear] {
            let image = Image::cube(format, SIZE as u32, 6 * cubes).unwrap();
            let texture = Texture::new(image, Sampler { filter, ..Sampler::default() }, 61);
            let mut device = Device::new();
            let handle = texture.create(&mut device);
            let mut random = Random(67);
            let places = places(&mut random, cubes);
            let input: Vec<[u32; 16]> = places.iter().map(words).collect();
            let found = run(&mut device, &program, handle, &input).unwrap();
            for ((cube, face, s, t, _), found) in places.iter().zip(found) {
                let expected = expected(&texture, 0, *cube, *face, *s, *t);
                let exact = filter == Filter::Nearest;
                assert!(
                    texture.close(found[0], expected, exact),
                    "{geometry} {filter:?} cube {cube} face {face} at {s} {t}: {} {expected}",
                    f32::from_bits(found[0])
                );
            }
        }
    }
}

/// The bracket and its registers for cubes and arrays of cubes, of inputs as [`words`] has them.
fn bracket(geometry: &str) -> &'static str {
    if geometry == "cube" { "[%h, {%f1, %f2, %f3, %f0}]" } else { "[%h, {%r0, %f1, %f2, %f3}]" }
}

#[test]
fn levels_by_number_and_by_gradients() {
    let format = Format { ty: ChannelType::F32, channels: 1 };
    for (geometry, cubes) in [("cube", 1), ("acube", 2)] {
        let image = Image::with(format, &[8, 8], Some(6 * cubes), true, Some(4), None).unwrap();
        let program = |op: &str, detail: &str| {
            kernel(&format!(
                "{} {} {op}.{geometry}.v4.f32.f32 {}, {}, {detail}; st.global.v4.f32 [%out], {};",
                inputs("r", 0, 1),
                inputs("f", 0, 10),
                registers("f", 12, 4),
                bracket(geometry),
                registers("f", 12, 4)
            ))
        };
        let by_number = program("tex.level", "%f4");
        let by_gradients = program("tex.grad", "{%f4, %f5, %f6, %f6}, {%f7, %f8, %f9, %f9}");
        for (filter, mip_filter) in [
            (Filter::Nearest, Filter::Nearest),
            (Filter::Nearest, Filter::Linear),
            (Filter::Linear, Filter::Nearest),
            (Filter::Linear, Filter::Linear),
        ] {
            let sampler = Sampler { filter, mip_filter, ..Sampler::default() };
            let texture = Texture::new(image.clone(), sampler, 89);
            let mut device = Device::new();
            let handle = texture.create(&mut device);
            let mut random = Random(97);
            for gradients in [false, true] {
                let (mut input, mut wanted) = (Vec::new(), Vec::new());
                for place in places(&mut random, cubes) {
                    let mut words = words(&place);
                    let (cube, face, s, t, _) = place;
                    let detail = if gradients {
                        let direction = [1, 2, 3].map(|i| f64::from(f32::from_bits(words[i])));
                        let mut longest: f64 = 0.0;
                        for first in [4, 7] {
                            let change: [f64; 3] = std::array::from_fn(|i| {
                                let c = (random.next() % 255) as f32 / 127.0 - 1.0;
                                let c = c * 2f32.powi(random.next() as i32 % 4 - 3);
                                words[first + i] = c.to_bits();
                                c.into()
                            });
                            // The derivative as a difference of what the face's plane is met at.
                            const STEP: f64 = 1e-6;
                            let at = |sign: f64| {
                                on_face(face, std::array::from_fn(|i| direction[i] + sign * STEP * change[i]))
                            };
                            let (ahead, behind) = (at(1.0), at(-1.0));
                            let [a, b] = [0, 1].map(|i| (ahead[i] - behind[i]) / (2.0 * STEP));
                            // A face is two units and eight texels wide.
                            longest = longest.max(a.hypot(b) * 4.0);
                        }
                        longest.log2()
                    } else {
                        let level = (random.next() % 40) as f32 / 8.0 - 0.75;
                        words[4] = level.to_bits();
                        level.into()
                    };
                    let detail = detail.clamp(0.0, 3.0);
                    // Not where the last bit decides which level is nearer.
                    let fraction = detail - detail.floor();
                    if mip_filter == Filter::Nearest && (fraction - 0.5).abs() < 1e-3 {
                        continue;
                    }
                    let at = |level: f64| expected(&texture, (level as u32).min(3), cube, face, s, t);
                    wanted.push(match mip_filter {
                        Filter::Nearest => at((detail + 0.5).floor()),
                        Filter::Linear => {
                            at(detail.floor()) * (1.0 - fraction) + at(detail.floor() + 1.0) * fraction
                        }
                    });
                    input.push(words);
                }
                assert!(input.len() > 800);
                let program = if gradients { &by_gradients } else { &by_number };
                let found = run(&mut device, program, handle, &input).unwrap();
                let exact = filter == Filter::Nearest && mip_filter == Filter::Nearest;
                for ((words, found), wanted) in input.iter().zip(found).zip(wanted) {
                    assert!(
                        texture.close(found[0], wanted, exact),
                        "{geometry} {filter:?} {mip_filter:?}, gradients {gradients}: {:?}: {} {wanted}",
                        words.map(f32::from_bits),
                        f32::from_bits(found[0])
                    );
                }
            }
        }
    }
}

#[test]
fn gathered_texels() {
    let format = Format { ty: ChannelType::S32, channels: 2 };
    for (geometry, cubes) in [("cube", 1), ("acube", 3)] {
        let image = Image::cube(format, SIZE as u32, 6 * cubes).unwrap();
        let texture = Texture::new(image, Sampler::default(), 101);
        let mut device = Device::new();
        let handle = texture.create(&mut device);
        for (component, name) in ["r", "g", "b", "a"].into_iter().enumerate() {
            let program = kernel(&format!(
                "{} {} tld4.{name}.{geometry}.v4.s32.f32 {}, {}; st.global.v4.u32 [%out], {};",
                inputs("r", 0, 1),
                inputs("f", 0, 4),
                registers("r", 8, 4),
                bracket(geometry),
                registers("r", 8, 4)
            ));
            let places = places(&mut Random(103), cubes);
            let input: Vec<[u32; 16]> = places.iter().map(words).collect();
            let found = run(&mut device, &program, handle, &input).unwrap();
            for ((cube, face, s, t, _), found) in places.iter().zip(found) {
                let (texels, _) = around(&texture, 0, *cube, *face, *s, *t);
                for (found, texel) in found.iter().zip([2, 3, 1, 0].map(|k| texels[k])) {
                    // Beyond a corner there is none: nobody says what is gathered.
                    let Some(texel) = texel else { continue };
                    assert_eq!(*found, texel[component] as i64 as u32, "{geometry} {name} {face} {s} {t}");
                }
            }
        }
    }
}
