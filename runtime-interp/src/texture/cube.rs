//! Faces of a cube, and what is beyond their edges.

use super::Lanes;

/// A place on a face: the face, and two coordinates from 0 to 1.
#[derive(Clone, Copy)]
pub(super) struct OnFace {
    pub face: Lanes<u32>,
    pub s: Lanes<f32>,
    pub t: Lanes<f32>,
}

/// The signed axes of a face: the one it faces, and those along which its two coordinates grow. An axis is its number and its sign.
type Frame = [(usize, f32); 3];

/// The faces +x -x +y -y +z -z, by the table of the guide's section on cubemaps.
const FACES: [Frame; 6] = [
    [(0, 1.0), (2, -1.0), (1, -1.0)],
    [(0, -1.0), (2, 1.0), (1, -1.0)],
    [(1, 1.0), (0, 1.0), (2, 1.0)],
    [(1, -1.0), (0, 1.0), (2, -1.0)],
    [(2, 1.0), (0, 1.0), (1, -1.0)],
    [(2, -1.0), (0, -1.0), (1, -1.0)],
];

/// The face that a direction goes through: of the longest coordinate, of equal ones that of z, then y.
fn face_of(direction: [f32; 3]) -> usize {
    let [x, y, z] = direction.map(f32::abs);
    let axis = if z >= x && z >= y {
        2
    } else if y >= x {
        1
    } else {
        0
    };
    2 * axis + usize::from(direction[axis] < 0.0)
}

/// The coordinates of a direction on its face, from -1 to 1.
fn on_face(direction: [f32; 3], face: usize) -> [f32; 2] {
    let [(m, sign), (s, s_sign), (t, t_sign)] = FACES[face];
    let major = direction[m] * sign;
    [direction[s] * s_sign / major, direction[t] * t_sign / major]
}

/// Where directions go through the cube.
pub(super) fn project(directions: &[Lanes<f32>; 3]) -> OnFace {
    let mut found = OnFace { face: [0; 32], s: [0.0; 32], t: [0.0; 32] };
    for i in 0..32 {
        let direction = direction_of(directions, i);
        let face = face_of(direction);
        let [s, t] = on_face(direction, face);
        found.face[i] = face as u32;
        // No direction at all is the middle of its face.
        let unit = |c: f32| if c.is_nan() { 0.5 } else { (c + 1.0) * 0.5 };
        (found.s[i], found.t[i]) = (unit(s), unit(t));
    }
    found
}

/// A direction, in numbers that can be divided.
fn direction_of(directions: &[Lanes<f32>; 3], lane: usize) -> [f32; 3] {
    let direction = directions.map(|d| if d[lane].is_nan() { 0.0 } else { d[lane] });
    if direction.iter().any(|d| d.is_infinite()) {
        return direction.map(|d| if d.is_infinite() { d.signum() } else { 0.0 });
    }
    direction
}

/// How the coordinates on the face change with the direction.
pub(super) fn gradient(directions: &[Lanes<f32>; 3], change: &[Lanes<f32>; 3]) -> [Lanes<f32>; 3] {
    let mut found = [[0.0; 32]; 3];
    for i in 0..32 {
        let direction = direction_of(directions, i);
        let [(m, sign), (s, s_sign), (t, t_sign)] = FACES[face_of(direction)];
        let (major, by_major) = (f64::from(direction[m] * sign), f64::from(change[m][i] * sign));
        for (found, (axis, sign)) in found.iter_mut().zip([(s, s_sign), (t, t_sign)]) {
            let (minor, by_minor) = (f64::from(direction[axis] * sign), f64::from(change[axis][i] * sign));
            found[i] = (0.5 * (by_minor * major - minor * by_major) / (major * major)) as f32;
        }
    }
    found
}

/// The texel of a face, or beyond one of its edges that of the face there: face, x and y. `None` beyond a corner, where three faces meet and
/// there is none.
pub(super) fn texel(face: u32, x: i32, y: i32, size: i32) -> Option<(u32, i32, i32)> {
    let inside = |c: i32| (0..size).contains(&c);
    match (inside(x), inside(y)) {
        (true, true) => return Some((face, x, y)),
        (false, false) => return None,
        _ => {}
    }
    let [(m, sign), (s, s_sign), (t, t_sign)] = FACES[face as usize % 6];
    let at = |c: i32| (2 * c + 1) as f32 / size as f32 - 1.0;
    let mut direction = [0.0; 3];
    direction[m] = sign;
    direction[s] = at(x) * s_sign;
    direction[t] = at(y) * t_sign;
    let face = face_of(direction);
    let index = |c: f32| (((c + 1.0) * 0.5 * size as f32).floor() as i32).clamp(0, size - 1);
    let [s, t] = on_face(direction, face);
    Some((face as u32, index(s), index(t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The middle of a texel, as a point of the cube from -1 to 1.
    fn point(face: u32, x: i32, y: i32, size: i32) -> [f32; 3] {
        let [(m, sign), (s, s_sign), (t, t_sign)] = FACES[face as usize];
        let at = |c: i32| (2 * c + 1) as f32 / size as f32 - 1.0;
        let mut p = [0.0; 3];
        (p[m], p[s], p[t]) = (sign, at(x) * s_sign, at(y) * t_sign);
        p
    }

    #[test]
    fn beyond_an_edge_is_the_neighbour_across_it() {
        for size in [1, 2, 3, 5, 16] {
            for face in 0..6 {
                for along in 0..size {
                    for (x, y, back) in [
                        (-1, along, (0, along)),
                        (size, along, (size - 1, along)),
                        (along, -1, (along, 0)),
                        (along, size, (along, size - 1)),
                    ] {
                        let (other, u, v) = texel(face, x, y, size).unwrap();
                        assert_ne!(other, face);
                        let (a, b) = (point(other, u, v, size), point(face, back.0, back.1, size));
                        let distance: f32 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                        // Each is half a texel from the edge.
                        assert!(
                            (distance - 2.0 / (size * size) as f32).abs() < 1e-4,
                            "{face} {x} {y}: {other} {u} {v}"
                        );
                    }
                }
                assert_eq!(texel(face, -1, size, size), None);
            }
        }
    }
}
