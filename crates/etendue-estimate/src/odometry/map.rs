//! Incremental map of points with normals.

use crate::geometry::{CellOptions, Neighbourhood, Neighbours, local_surfaces_by_cells, voxel_of};
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::BTreeSet;

/// Map with at most one point per voxel, each with its normal, and a k-d tree that is rebuilt after
/// every scan.
pub struct SurfaceMap {
    /// Side of the voxels, m.
    voxel: f64,
    occupied: BTreeSet<[i64; 3]>,
    points: Vec<Vector3<f64>>,
    normals: Vec<Vector3<f64>>,
    tree: Neighbours,
}

/// Sampled points of a scan with their normals, in the lidar frame.
pub(super) struct SampledScan {
    pub points: Vec<Vector3<f64>>,
    pub normals: Vec<Vector3<f64>>,
}

impl SampledScan {
    /// Sample of the first point with a plane in every voxel of side `voxel` (m), with normals oriented
    /// towards the sensor.
    pub fn new(points: &[Point3<f64>], voxel: f64, cells: &CellOptions) -> Self {
        let positions: Vec<Vector3<f64>> = points.iter().map(|p| p.coords).collect();
        let surfaces = local_surfaces_by_cells(&positions, cells);
        let mut occupied = BTreeSet::new();
        let mut scan = Self {
            points: Vec::new(),
            normals: Vec::new(),
        };
        for (position, surface) in positions.iter().zip(surfaces) {
            let Some(surface) = surface else { continue };
            if occupied.insert(voxel_of(position, voxel)) {
                scan.points.push(*position);
                scan.normals.push(surface.normal);
            }
        }
        scan
    }
}

impl SurfaceMap {
    /// Empty map with voxels of side `voxel`, m.
    pub fn new(voxel: f64) -> Self {
        Self {
            voxel,
            occupied: BTreeSet::new(),
            points: Vec::new(),
            normals: Vec::new(),
            tree: Neighbours::new(&[]),
        }
    }

    /// Points in the world frame, m.
    pub fn points(&self) -> &[Vector3<f64>] {
        &self.points
    }

    /// Unit normal of every point.
    pub fn normals(&self) -> &[Vector3<f64>] {
        &self.normals
    }

    /// Indices of the `count` nearest points within a distance (m) of a position.
    pub fn near(&self, position: &Vector3<f64>, count: usize, max_distance: f64) -> Vec<u32> {
        let which = Neighbourhood::NearestWithin(count, max_distance);
        self.tree.near(position, which)
    }

    /// Inserts a scan at a pose; occupied voxels keep their point.
    pub(super) fn insert(&mut self, scan: &SampledScan, world_from_lidar: &Isometry3<f64>) {
        for (point, normal) in scan.points.iter().zip(&scan.normals) {
            let position = (world_from_lidar * Point3::from(*point)).coords;
            if self.occupied.insert(voxel_of(&position, self.voxel)) {
                self.points.push(position);
                self.normals.push(world_from_lidar.rotation * normal);
            }
        }
        self.tree = Neighbours::new(&self.points);
    }
}
