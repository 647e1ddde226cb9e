//! Horizontal sections of scenes, from above.

use etendue::scene::{MaterialId, Object, Scene};
use etendue_plot::{Extent, Point};
use nalgebra::{Isometry3, Point3};
use std::collections::BTreeSet;

/// Segment in the world's x-y plane, m.
pub type Segment = [Point; 2];

/// Section of a scene by a plane.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Intersections of the plane with surfaces, with their material.
    pub cut: Vec<(MaterialId, Segment)>,
    /// Vertical surfaces above or below the plane.
    pub elsewhere: Vec<Segment>,
}

/// Largest vertical component of the unit normal of a surface that counts as vertical (6 degrees).
const VERTICAL: f64 = 0.1;

/// Vertical surfaces closer to each other than this are drawn once, m.
const MERGED: f64 = 0.01;

impl Section {
    /// Section of `scene` by the x-y plane of the frame `world_from_plane`.
    pub fn of(scene: &Scene, world_from_plane: &Isometry3<f64>) -> Self {
        let mut section = Self::default();
        let mut seen = BTreeSet::new();
        for object in scene.objects() {
            let plane_from_object = world_from_plane.inverse() * object.world_from_object;
            let mesh = scene.mesh(object.mesh);
            for (triangle, corners) in mesh.triangles.iter().enumerate() {
                let in_plane =
                    corners.map(|vertex| plane_from_object * mesh.vertices[vertex as usize]);
                if let Some(ends) = intersection(in_plane) {
                    let material = material(scene, object, triangle);
                    let segment = ends.map(|end| from_above(world_from_plane * end));
                    section.cut.push((material, segment));
                } else if let Some(segment) = vertical(in_plane.map(|p| world_from_plane * p))
                    && seen.insert(rounded(segment))
                {
                    section.elsewhere.push(segment);
                }
            }
        }
        section
    }

    /// Bounding rectangle of the intersections with the plane.
    pub fn extent(&self) -> Extent {
        Extent::of(self.cut.iter().flat_map(|(_, segment)| *segment))
    }
}

fn material(scene: &Scene, object: &Object, triangle: usize) -> MaterialId {
    let materials = &scene.mesh(object.mesh).materials;
    materials.get(triangle).copied().unwrap_or(object.material)
}

/// Ends of the intersection of a triangle with z = 0. A corner in the plane counts as above it.
fn intersection(corners: [Point3<f64>; 3]) -> Option<[Point3<f64>; 2]> {
    let mut ends = (0..3).filter_map(|i| {
        let from = corners[i];
        let to = corners[(i + 1) % 3];
        ((from.z < 0.0) != (to.z < 0.0)).then(|| from + (to - from) * (from.z / (from.z - to.z)))
    });
    Some([ends.next()?, ends.next()?])
}

/// Longest horizontal extent of a vertical triangle.
fn vertical(corners: [Point3<f64>; 3]) -> Option<Segment> {
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    if normal.z.abs() > VERTICAL * normal.norm() {
        return None;
    }
    let edges = (0..3).map(|i| [corners[i], corners[(i + 1) % 3]].map(from_above));
    edges.max_by(|a, b| length_squared(*a).total_cmp(&length_squared(*b)))
}

fn from_above(point: Point3<f64>) -> Point {
    [point.x, point.y]
}

fn length_squared([from, to]: Segment) -> f64 {
    (to[0] - from[0]).powi(2) + (to[1] - from[1]).powi(2)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "centimetres of a scene fit 64 bits"
)]
fn rounded(segment: Segment) -> [[i64; 2]; 2] {
    let mut ends = segment.map(|end| end.map(|v| (v / MERGED).round() as i64));
    ends.sort_unstable();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_intersects_a_triangle_that_crosses_it() {
        let corners = [[0.0, 0.0, -1.0], [2.0, 0.0, 1.0], [2.0, 4.0, 1.0]].map(Point3::from);
        let ends = intersection(corners).expect("it crosses");
        assert_eq!(
            ends,
            [Point3::new(1.0, 0.0, 0.0), Point3::new(1.0, 2.0, 0.0)]
        );
        assert_eq!(
            intersection(corners.map(|c| c + nalgebra::Vector3::z() * 5.0)),
            None
        );
    }

    #[test]
    fn a_horizontal_triangle_is_not_vertical() {
        let level = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]].map(Point3::from);
        assert_eq!(vertical(level), None);
        let standing = [[0.0, 0.0, 1.0], [3.0, 0.0, 1.0], [0.0, 0.0, 2.0]].map(Point3::from);
        let longest = vertical(standing).map(rounded);
        assert_eq!(longest, Some(rounded([[0.0, 0.0], [3.0, 0.0]])));
    }
}
