//! Triangulation of polygons.

use nalgebra::{Point3, Vector3};

/// Triangulates a simple, approximately planar polygon and preserves the winding.
///
/// Ear clipping (Meisters 1975) handles concave polygons. A self-intersecting polygon without an
/// ear becomes a triangle fan.
pub(super) fn triangulate(polygon: &[u32], vertices: &[Point3<f64>]) -> Vec<[u32; 3]> {
    let mut left = polygon.to_vec();
    let at = |index: u32| vertices[index as usize].coords;
    let normal = newell(&left.iter().map(|index| at(*index)).collect::<Vec<_>>());
    let mut triangles = Vec::new();
    while left.len() > 3 {
        let n = left.len();
        let corners = |i: usize| [left[(i + n - 1) % n], left[i], left[(i + 1) % n]];
        let is_ear = |i: &usize| {
            let ear = corners(*i);
            let inside =
                |index: &u32| !ear.contains(index) && contains(ear.map(at), at(*index), normal);
            turn(ear.map(at), normal) > 0.0 && !left.iter().any(inside)
        };
        let Some(ear) = (1..n).chain([0]).find(is_ear) else {
            break;
        };
        triangles.push(corners(ear));
        left.remove(ear);
    }
    if let [first, rest @ ..] = &left[..] {
        triangles.extend(rest.windows(2).map(|two| [*first, two[0], two[1]]));
    }
    triangles
}

/// Twice the vector area of a polygon (Newell).
fn newell(corners: &[Vector3<f64>]) -> Vector3<f64> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(a, b)| a.cross(b)).sum()
}

fn turn([a, b, c]: [Vector3<f64>; 3], normal: Vector3<f64>) -> f64 {
    (b - a).cross(&(c - b)).dot(&normal)
}

fn contains([a, b, c]: [Vector3<f64>; 3], point: Vector3<f64>, normal: Vector3<f64>) -> bool {
    [(a, b), (b, c), (c, a)]
        .into_iter()
        .all(|(from, to)| turn([from, to, point], normal) >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(triangles: &[[u32; 3]], vertices: &[Point3<f64>]) -> f64 {
        let twice = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| vertices[i as usize]);
            (b - a).cross(&(c - a)).z
        };
        triangles.iter().map(twice).sum::<f64>() / 2.0
    }

    #[test]
    fn a_concave_polygon_keeps_its_area_whatever_corner_is_first() {
        // An arrow head: 4 corners, one of them reflex; area 4 - 2.
        let corners = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 1.0]];
        let vertices: Vec<Point3<f64>> = corners
            .iter()
            .map(|c| Point3::new(c[0], c[1], 0.0))
            .collect();
        for first in 0..4_u32 {
            let polygon: Vec<u32> = (0..4).map(|i| (i + first) % 4).collect();
            let triangles = triangulate(&polygon, &vertices);
            assert_eq!(triangles.len(), 2);
            assert!((area(&triangles, &vertices) - 1.0).abs() < 1e-12);
            for triangle in &triangles {
                assert!(area(&[*triangle], &vertices) > 0.0);
            }
        }
    }

    #[test]
    fn fewer_than_three_corners_give_no_triangle() {
        assert!(triangulate(&[], &[]).is_empty());
        assert!(triangulate(&[0, 1], &[Point3::origin(); 2]).is_empty());
    }
}
