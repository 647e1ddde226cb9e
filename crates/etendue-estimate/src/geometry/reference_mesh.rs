//! Distances of points from a triangle mesh.

use super::voxel_of;
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Triangle mesh with a voxel grid for nearest-triangle queries.
pub struct ReferenceMesh {
    /// Greatest distance that is computed, and side of the voxels, m.
    reach: f64,
    triangles: Vec<[Point3<f64>; 3]>,
    /// Indices of the triangles within reach of each voxel.
    cells: BTreeMap<[i64; 3], Vec<u32>>,
}

impl ReferenceMesh {
    /// Indexes triangles (m) for queries up to the distance `reach`, m.
    pub fn new(triangles: Vec<[Point3<f64>; 3]>, reach: f64) -> Self {
        let mut cells: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
        for (number, corners) in (0..).zip(&triangles) {
            for cell in voxels_near(corners, reach, reach) {
                cells.entry(cell).or_default().push(number);
            }
        }
        Self {
            reach,
            triangles,
            cells,
        }
    }

    /// Distance of each point from the nearest triangle, m; `None` beyond [`ReferenceMesh::new`]'s
    /// `reach`.
    ///
    /// ```
    /// use etendue_estimate::geometry::ReferenceMesh;
    /// use nalgebra::Point3;
    /// let corner = |x, y| Point3::new(x, y, 0.0);
    /// let mesh = ReferenceMesh::new(vec![[corner(0.0, 0.0), corner(2.0, 0.0), corner(0.0, 2.0)]], 0.3);
    /// let points = [[0.5, 0.5, 0.1], [-0.2, 0.5, 0.0], [0.5, 0.5, 0.4]].map(Point3::from);
    /// let distances = mesh.distances(&points);
    /// assert!((distances[0].unwrap() - 0.1).abs() < 1e-12);
    /// assert!((distances[1].unwrap() - 0.2).abs() < 1e-12);
    /// assert_eq!(distances[2], None);
    /// ```
    pub fn distances(&self, points: &[Point3<f64>]) -> Vec<Option<f64>> {
        points
            .par_iter()
            .map(|point| self.distance(point))
            .collect()
    }

    /// Distance of a point from the nearest triangle, m.
    fn distance(&self, point: &Point3<f64>) -> Option<f64> {
        let near = self.cells.get(&voxel_of(&point.coords, self.reach))?;
        let to = |&i: &u32| (nearest_on(&self.triangles[i as usize], point) - point).norm();
        let least = near.iter().map(to).fold(f64::INFINITY, f64::min);
        (least <= self.reach).then_some(least)
    }
}

/// Voxels within `reach` of a triangle, m, by a conservative test of their bounding spheres.
fn voxels_near(corners: &[Point3<f64>; 3], voxel: f64, reach: f64) -> Vec<[i64; 3]> {
    let [a, b, c] = corners.map(|p| p.coords);
    let margin = Vector3::from_element(reach);
    let low = voxel_of(&(a.inf(&b).inf(&c) - margin), voxel);
    let high = voxel_of(&(a.sup(&b).sup(&c) + margin), voxel);
    let limit = reach + voxel * 0.5 * 3_f64.sqrt();
    let mut cells = Vec::new();
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                let centre = Point3::from([x, y, z].map(|k| (k as f64 + 0.5) * voxel));
                if (nearest_on(corners, &centre) - centre).norm() <= limit {
                    cells.push([x, y, z]);
                }
            }
        }
    }
    cells
}

/// Point of a triangle nearest to `p` (Ericson 2005, "Real-Time Collision Detection", section 5.1.5).
fn nearest_on([a, b, c]: &[Point3<f64>; 3], p: &Point3<f64>) -> Point3<f64> {
    // Voronoi regions of the corner a, of b, and of the side between them.
    let ab = b - a;
    let ac = c - a;
    let ap = p - a;
    let d1 = ab.dot(&ap);
    let d2 = ac.dot(&ap);
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let d3 = ab.dot(&bp);
    let d4 = ac.dot(&bp);
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    // Voronoi regions of the corner c, and of the other two sides.
    let cp = p - c;
    let d5 = ab.dot(&cp);
    let d6 = ac.dot(&cp);
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    // Interior: barycentric coordinates; a degenerate triangle is its corner a.
    let sum = va + vb + vc;
    if sum == 0.0 {
        return *a;
    }
    a + ab * (vb / sum) + ac * (vc / sum)
}
