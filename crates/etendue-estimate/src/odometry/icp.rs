//! Point-to-plane registration of a scan onto a map.

use super::map::{SampledScan, SurfaceMap};
use nalgebra::{Isometry3, Matrix6, Point3, Translation3, UnitQuaternion, Vector3, Vector6};
use rayon::prelude::*;

/// Settings of the point-to-plane registration of a scan onto a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IcpOptions {
    /// Number of map points paired with each scan point.
    pub neighbours: usize,
    /// Greatest distance between the points of a pair, m.
    pub max_distance: f64,
    /// Fraction of the pairs that is used, the nearest first (Chetverikov et al. 2002,
    /// doi:10.1109/ICPR.2002.1047997).
    pub inlier_fraction: f64,
    /// Greatest angle between the normals of a pair, rad.
    pub max_normal_angle: f64,
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Length of a step (m and rad together) below which the registration has converged.
    pub step: f64,
}

impl Default for IcpOptions {
    /// Three neighbours within 1 m, the nearest 80 %, normals within 45 degrees, 40 iterations.
    fn default() -> Self {
        Self {
            neighbours: 3,
            max_distance: 1.0,
            inlier_fraction: 0.8,
            max_normal_angle: 45_f64.to_radians(),
            iterations: 40,
            step: 1e-5,
        }
    }
}

/// Registration of a scan onto a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IcpResult {
    /// Registered pose of the lidar.
    pub world_from_lidar: Isometry3<f64>,
    /// Number of pairs of the last iteration.
    pub pairs: usize,
    /// Root mean square of the point-to-plane distances, m.
    pub rms: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the last step was shorter than [`IcpOptions::step`].
    pub converged: bool,
    /// Least eigenvalue of the normal matrix divided by the number of pairs, with rotations scaled by
    /// the radius of the scan: 0 where a motion is unobservable, such as along a bare corridor.
    pub least_eigenvalue: f64,
}

/// Correspondence of a scan point and a tangent plane of the map.
struct PlanePair {
    /// Scan point in the world frame, m.
    position: Vector3<f64>,
    /// Unit normal of the plane in the world frame.
    normal: Vector3<f64>,
    /// Signed distance to the plane, m.
    distance: f64,
    /// Squared distance to the map point, m².
    squared_distance: f64,
}

/// Registers a scan onto a map from the pose `start`; `None` where fewer than six pairs are found.
pub(super) fn register(
    scan: &SampledScan,
    map: &SurfaceMap,
    start: Isometry3<f64>,
    options: &IcpOptions,
) -> Option<IcpResult> {
    let mut result = IcpResult {
        world_from_lidar: start,
        pairs: 0,
        rms: f64::INFINITY,
        iterations: 0,
        converged: false,
        least_eigenvalue: 0.0,
    };
    while result.iterations < options.iterations && !result.converged {
        // Find correspondences.
        let pairs = find_pairs(scan, map, &result.world_from_lidar, options);
        if pairs.len() < 6 {
            return None;
        }
        // Solve the normal equations for a Gauss-Newton step.
        let centre = result.world_from_lidar.translation.vector;
        let (matrix, gradient, squares) = normal_equations(&pairs, &centre);
        let step = matrix.pseudo_inverse(1e-9 * matrix.trace()).ok()? * -gradient;
        // Update the pose.
        result.world_from_lidar = retract(&result.world_from_lidar, &step);
        result.pairs = pairs.len();
        result.rms = (squares / pairs.len() as f64).sqrt();
        result.least_eigenvalue = least_eigenvalue(&matrix, &pairs, &centre);
        result.converged = step.norm() < options.step;
        result.iterations += 1;
    }
    Some(result)
}

/// Pairs of every scan point with its nearest planes, trimmed to the inlier fraction.
fn find_pairs(
    scan: &SampledScan,
    map: &SurfaceMap,
    world_from_lidar: &Isometry3<f64>,
    options: &IcpOptions,
) -> Vec<PlanePair> {
    // Pair every point with its neighbours in the map.
    let cosine = options.max_normal_angle.cos();
    let pairs_of = |(point, normal): (&Vector3<f64>, &Vector3<f64>)| {
        let position = (world_from_lidar * Point3::from(*point)).coords;
        let scan_normal = world_from_lidar.rotation * normal;
        let near = map.near(&position, options.neighbours, options.max_distance);
        near.into_iter()
            .filter_map(|i| {
                let normal = map.normals()[i as usize];
                let offset = position - map.points()[i as usize];
                (normal.dot(&scan_normal) >= cosine).then(|| PlanePair {
                    distance: normal.dot(&offset),
                    squared_distance: offset.norm_squared(),
                    position,
                    normal,
                })
            })
            .collect::<Vec<_>>()
    };
    let points = scan.points.par_iter().zip(&scan.normals);
    let mut pairs: Vec<PlanePair> = points.flat_map_iter(pairs_of).collect();
    // Keep the nearest.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction of a length"
    )]
    let kept = (options.inlier_fraction.clamp(0.0, 1.0) * pairs.len() as f64).ceil() as usize;
    if kept < pairs.len() {
        pairs.select_nth_unstable_by(kept, |a, b| {
            a.squared_distance.total_cmp(&b.squared_distance)
        });
        pairs.truncate(kept);
    }
    pairs
}

/// $J^\top J$, $J^\top r$ and $r^\top r$ of the point-to-plane distances over a translation and a
/// rotation about `centre`.
fn normal_equations(
    pairs: &[PlanePair],
    centre: &Vector3<f64>,
) -> (Matrix6<f64>, Vector6<f64>, f64) {
    let mut matrix = Matrix6::zeros();
    let mut gradient = Vector6::zeros();
    let mut squares = 0.0;
    for pair in pairs {
        let row = jacobian_row(pair, centre);
        matrix.ger(1.0, &row, &row, 1.0);
        gradient += row * pair.distance;
        squares += pair.distance * pair.distance;
    }
    (matrix, gradient, squares)
}

/// Derivative of a point-to-plane distance by translation and rotation.
fn jacobian_row(pair: &PlanePair, centre: &Vector3<f64>) -> Vector6<f64> {
    let rotation = (pair.position - centre).cross(&pair.normal);
    let translation = pair.normal;
    Vector6::new(
        translation.x,
        translation.y,
        translation.z,
        rotation.x,
        rotation.y,
        rotation.z,
    )
}

/// Pose after a translation and a rotation about the lidar, both in the world frame.
fn retract(pose: &Isometry3<f64>, step: &Vector6<f64>) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_scaled_axis(Vector3::new(step[3], step[4], step[5]));
    let translation = Vector3::new(step[0], step[1], step[2]);
    Isometry3::from_parts(
        Translation3::from(pose.translation.vector + translation),
        rotation * pose.rotation,
    )
}

/// Least eigenvalue of the normal matrix per pair, with rotations scaled by the radius of gyration.
fn least_eigenvalue(matrix: &Matrix6<f64>, pairs: &[PlanePair], centre: &Vector3<f64>) -> f64 {
    let squares = pairs.iter().map(|p| (p.position - centre).norm_squared());
    let radius = (squares.sum::<f64>() / pairs.len() as f64).sqrt().max(1e-9);
    let scale = Matrix6::from_diagonal(&Vector6::new(
        1.0,
        1.0,
        1.0,
        1.0 / radius,
        1.0 / radius,
        1.0 / radius,
    ));
    (scale * matrix * scale).symmetric_eigenvalues().min() / pairs.len() as f64
}
