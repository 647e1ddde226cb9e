//! Where the corrected points are, and how they move with the unknowns.

use super::{PoseFreedom, Unknowns};
use crate::depth::{DepthMap, Measurement};
use nalgebra::{Isometry3, Matrix3, Vector3};
use rayon::prelude::*;

/// A corrected measurement in the world.
pub(in crate::depth) struct Point {
    /// $\hat T_k (v + \hat d r)$, m.
    pub position: Vector3<f64>,
    /// Direction of the beam in the world: the derivative over the depth.
    pub beam: Vector3<f64>,
    /// In the lidar's frame, m.
    body: Vector3<f64>,
    /// Normal in the lidar's frame.
    pub normal: Vector3<f64>,
    pub pose: usize,
}

/// All measurements corrected.
pub(in crate::depth) struct Placed {
    pub points: Vec<Point>,
    /// Derivatives of the corrected depths over the weights, point by point.
    slopes: Vec<f64>,
    pub weights: usize,
    pub rotations: Vec<Matrix3<f64>>,
    /// First column of the correction that moves a pose.
    columns: Vec<Option<usize>>,
}

impl Placed {
    pub fn new(map: &DepthMap, unknowns: &Unknowns, freedom: &PoseFreedom) -> Self {
        let weights = unknowns.model.weight_count();
        let poses = corrected_poses(map, unknowns, freedom);
        let rotations: Vec<_> = poses
            .iter()
            .map(|p| p.rotation.to_rotation_matrix().into_inner())
            .collect();
        let mut slopes = vec![0.0; weights * map.measurements.len()];
        let points = map
            .measurements
            .par_iter()
            .zip(slopes.par_chunks_mut(weights.max(1)))
            .map(|(m, slopes)| {
                let depth = unknowns
                    .model
                    .correct_with_slopes(m.depth, m.incidence, slopes);
                placed(m, depth, &poses[m.pose], &rotations[m.pose])
            })
            .collect();
        let column = |pose| freedom.correction(pose).map(|c| weights + 6 * c);
        Self {
            points,
            slopes,
            weights,
            rotations,
            columns: (0..poses.len()).map(column).collect(),
        }
    }

    /// The first column of the correction that moves a point.
    pub fn column(&self, point: usize) -> Option<usize> {
        self.columns[self.points[point].pose]
    }

    /// Adds what a `force` on a point (world) and a `torque` on its normal (lidar's frame) do to
    /// the unknowns: the transposed Jacobian of the point times the two. The columns of its pose
    /// start at `column` of the row.
    pub fn pull(
        &self,
        point: usize,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
        row: &mut [f64],
        column: Option<usize>,
    ) {
        let at = &self.points[point];
        let along = force.dot(&at.beam);
        let slopes = &self.slopes[point * self.weights..][..self.weights];
        for (sum, slope) in row.iter_mut().zip(slopes) {
            *sum += along * slope;
        }
        if let Some(column) = column {
            let force = self.rotations[at.pose].tr_mul(force);
            let torque = at.body.cross(&force) + torque;
            for axis in 0..3 {
                row[column + axis] += force[axis];
                row[column + 3 + axis] += torque[axis];
            }
        }
    }
}

pub(in crate::depth) fn corrected_poses(
    map: &DepthMap,
    unknowns: &Unknowns,
    freedom: &PoseFreedom,
) -> Vec<Isometry3<f64>> {
    let numbered = map.world_from_lidar.iter().enumerate();
    numbered
        .map(|(k, pose)| match freedom.correction(k) {
            Some(c) => pose * unknowns.corrections[c],
            None => *pose,
        })
        .collect()
}

fn placed(m: &Measurement, depth: f64, pose: &Isometry3<f64>, rotation: &Matrix3<f64>) -> Point {
    let body = m.origin + m.direction * depth;
    Point {
        position: rotation * body + pose.translation.vector,
        beam: rotation * m.direction,
        body,
        normal: m.normal,
        pose: m.pose,
    }
}
