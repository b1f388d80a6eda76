//! Cubes: faces, arrays of them, and filtering across edges and corners.

use crate::reference::Texture;
use crate::{Random, inputs, kernel, registers, run};
use warpsmith_interp::Device;
use warpsmith_interp::texture::{ChannelType, Filter, Format, Image, Sampler};

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

fn centre(i: i64) -> f64 {
    (2 * i + 1) as f64 / SIZE as f64 - 1.0
}

/// The texel of any face whose middle is nearest to that of a texel beyond an edge.
fn across(face: usize, x: i64, y: i64) -> (usize, i64, i64) {
    let p = point(face, centre(x), centre(y));
    let mut best = (f64::MAX, (0, 0, 0));
    for other in 0..6 {
        for v in 0..SIZE {
            for u in 0..SIZE {
                let q = point(other, centre(u), centre(v));
                let distance: f64 = p.iter().zip(q).map(|(a, b)| (a - b) * (a - b)).sum();
                if other != face && distance < best.0 {
                    best = (distance, (other, u, v));
                }
            }
        }
    }
    best.1
}

fn expected(texture: &Texture, cube: u32, face: usize, s: f64, t: f64) -> f64 {
    let texel = |face: usize, x: i64, y: i64| texture.texel(0, cube * 6 + face as u32, [x, y, 0])[0];
    let (u, v) = ((s + 1.0) / 2.0 * SIZE as f64, (t + 1.0) / 2.0 * SIZE as f64);
    let inside = |c: i64| (0..SIZE).contains(&c);
    if texture.sampler.filter == Filter::Nearest {
        return texel(face, u.floor() as i64, v.floor() as i64);
    }
    let (i, j) = ((u - 0.5).floor() as i64, (v - 0.5).floor() as i64);
    let (a, b) = (u - 0.5 - i as f64, v - 0.5 - j as f64);
    let corners = [
        (i, j, (1.0 - a) * (1.0 - b)),
        (i + 1, j, a * (1.0 - b)),
        (i, j + 1, (1.0 - a) * b),
        (i + 1, j + 1, a * b),
    ];
    let value = |(x, y, _): &(i64, i64, f64)| match (inside(*x), inside(*y)) {
        (true, true) => Some(texel(face, *x, *y)),
        (false, false) => None,
        _ => {
            let (face, x, y) = across(face, *x, *y);
            Some(texel(face, x, y))
        }
    };
    let there: Vec<f64> = corners.iter().filter_map(value).collect();
    let mean = there.iter().sum::<f64>() / there.len() as f64;
    corners.iter().map(|c| value(c).unwrap_or(mean) * c.2).sum()
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
            let mut places = Vec::new();
            for face in 0..6 {
                for _ in 0..200 {
                    // Odd multiples of 1/64 are on no border.
                    let mut any = || ((random.next() % 64) * 2 + 1) as f64 / 64.0 - 1.0;
                    let (s, t) = (any(), any());
                    places.push((random.next() % cubes, face, s, t, 1.0 + (random.next() % 3) as f64));
                }
            }
            let input: Vec<[u32; 16]> = places
                .iter()
                .map(|(cube, face, s, t, scale)| {
                    let mut words = [0; 16];
                    words[0] = *cube;
                    for (word, p) in words[1..].iter_mut().zip(point(*face, *s, *t)) {
                        *word = ((p * scale) as f32).to_bits();
                    }
                    words
                })
                .collect();
            let found = run(&mut device, &program, handle, &input).unwrap();
            for ((cube, face, s, t, _), found) in places.iter().zip(found) {
                let expected = expected(&texture, *cube, *face, *s, *t);
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
