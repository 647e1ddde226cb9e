//! Corrected points and their derivatives with respect to the unknowns.

use super::unknowns::{DepthUnknowns, PoseFreedom};
use crate::depth::map::DepthMap;
use nalgebra::{Isometry3, Matrix3, Vector3};
use rayon::prelude::*;

/// Quantities of a corrected measurement in the lidar frame.
pub(in crate::depth) struct PointFrame {
    /// Position in the lidar frame, m.
    body: Vector3<f64>,
    /// Unit normal in the lidar frame.
    pub normal: Vector3<f64>,
    /// Index of the pose.
    pub pose: usize,
}

/// Corrected points of all measurements.
pub(in crate::depth) struct CorrectedPoints {
    /// Positions in the world, $\hat T_k (v + \hat d r)$, m.
    pub positions: Vec<Vector3<f64>>,
    /// Directions of the beams in the world: derivatives of the positions with respect to the depths.
    pub beams: Vec<Vector3<f64>>,
    pub points: Vec<PointFrame>,
    /// Derivatives of the corrected depths with respect to the weights, by point.
    slopes: Vec<f64>,
    /// Number of weights.
    pub weights: usize,
    /// Rotation of each pose, world from lidar.
    pub rotations: Vec<Matrix3<f64>>,
    /// First column of the correction of each pose.
    columns: Vec<Option<usize>>,
    /// Whether all poses are fixed.
    fixed_poses: bool,
}

impl CorrectedPoints {
    pub fn new(map: &DepthMap, unknowns: &DepthUnknowns, freedom: &PoseFreedom) -> Self {
        // Corrected poses
        let weights = unknowns.model.weight_count();
        let poses = corrected_poses(map, unknowns, freedom);
        let rotations: Vec<_> = poses
            .iter()
            .map(|p| p.rotation.to_rotation_matrix().into_inner())
            .collect();

        // Corrected points; at least one slope per point keeps the parallel chunks aligned
        let count = map.measurements.len();
        let mut slopes = vec![0.0; weights.max(1) * count];
        let mut positions = vec![Vector3::zeros(); count];
        let mut beams = positions.clone();
        let points = (&map.measurements, &mut positions, &mut beams)
            .into_par_iter()
            .zip(slopes.par_chunks_mut(weights.max(1)))
            .map(|((m, position, beam), slopes)| {
                let depth = unknowns
                    .model
                    .correct_with_slopes(m.depth, m.incidence, slopes);
                let body = m.origin + m.direction * depth;
                *position = rotations[m.pose] * body + poses[m.pose].translation.vector;
                *beam = rotations[m.pose] * m.direction;
                PointFrame {
                    body,
                    normal: m.normal,
                    pose: m.pose,
                }
            })
            .collect();
        let column = |pose| freedom.correction(pose).map(|c| weights + 6 * c);
        Self {
            positions,
            beams,
            points,
            slopes,
            weights,
            rotations,
            columns: (0..poses.len()).map(column).collect(),
            fixed_poses: *freedom == PoseFreedom::Fixed,
        }
    }

    /// First column of the correction of the pose of a point; `None` for a fixed pose.
    pub fn column(&self, point: usize) -> Option<usize> {
        if self.fixed_poses {
            return None;
        }
        self.columns[self.points[point].pose]
    }

    /// Adds the gradient contribution of a point to a row: the transposed Jacobian of the point times the
    /// derivative with respect to its position (`force`, world frame) and its rotation (`torque`, lidar
    /// frame). The columns of its pose start at `column`.
    pub fn accumulate(
        &self,
        point: usize,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
        row: &mut [f64],
        column: Option<usize>,
    ) {
        let along = force.dot(&self.beams[point]);
        let slopes = &self.slopes[point * self.weights..][..self.weights];
        for (sum, slope) in row.iter_mut().zip(slopes) {
            *sum += along * slope;
        }
        if let Some(column) = column {
            let at = &self.points[point];
            let force = self.rotations[at.pose].tr_mul(force);
            let torque = at.body.cross(&force) + torque;
            for axis in 0..3 {
                row[column + axis] += force[axis];
                row[column + 3 + axis] += torque[axis];
            }
        }
    }
}

/// Poses with their corrections, world from lidar.
pub(in crate::depth) fn corrected_poses(
    map: &DepthMap,
    unknowns: &DepthUnknowns,
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
