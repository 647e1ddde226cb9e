//! Points with normals, thinned, and a tree over them.

use crate::depth::features::{CellOptions, Neighbourhood, Neighbours, surface_views_by_cells};
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::BTreeSet;

/// A map that grows: one point a cube, each with its normal, with a k-d tree that is built anew
/// after every scan.
pub struct SurfaceMap {
    cube: f64,
    taken: BTreeSet<[i64; 3]>,
    points: Vec<Vector3<f64>>,
    normals: Vec<Vector3<f64>>,
    tree: Neighbours,
}

/// A scan as it is registered: some of its points, and normals for all of them.
pub struct Scan {
    pub points: Vec<Vector3<f64>>,
    pub normals: Vec<Vector3<f64>>,
}

impl Scan {
    /// The first point in every cube of side `cube` (m) that has a plane, with its normal turned to
    /// the sensor.
    pub fn thinned(points: &[Point3<f64>], cube: f64, cells: &CellOptions) -> Self {
        let places: Vec<Vector3<f64>> = points.iter().map(|p| p.coords).collect();
        let views = surface_views_by_cells(&places, cells);
        let mut taken = BTreeSet::new();
        let mut scan = Self {
            points: Vec::new(),
            normals: Vec::new(),
        };
        for (place, view) in places.iter().zip(views) {
            let Some(view) = view else { continue };
            if taken.insert(key(place, cube)) {
                scan.points.push(*place);
                scan.normals.push(view.normal);
            }
        }
        scan
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a saturated cell is a cell"
)]
fn key(p: &Vector3<f64>, cube: f64) -> [i64; 3] {
    [0, 1, 2].map(|i| (p[i] / cube).floor() as i64)
}

impl SurfaceMap {
    /// Without points; one a cube of side `cube`, m.
    pub fn new(cube: f64) -> Self {
        Self {
            cube,
            taken: BTreeSet::new(),
            points: Vec::new(),
            normals: Vec::new(),
            tree: Neighbours::new(&[]),
        }
    }

    /// Points in the world, m.
    pub fn points(&self) -> &[Vector3<f64>] {
        &self.points
    }

    /// A unit normal for every point.
    pub fn normals(&self) -> &[Vector3<f64>] {
        &self.normals
    }

    /// Numbers of the nearest so many points within a distance, m.
    pub fn near(&self, place: &Vector3<f64>, count: usize, within: f64) -> Vec<u32> {
        self.tree
            .near(place, Neighbourhood::NearestWithin(count, within))
    }

    pub(super) fn add(&mut self, scan: &Scan, world_from_lidar: &Isometry3<f64>) {
        for (point, normal) in scan.points.iter().zip(&scan.normals) {
            let place = (world_from_lidar * Point3::from(*point)).coords;
            if self.taken.insert(key(&place, self.cube)) {
                self.points.push(place);
                self.normals.push(world_from_lidar.rotation * normal);
            }
        }
        self.tree = Neighbours::new(&self.points);
    }
}
