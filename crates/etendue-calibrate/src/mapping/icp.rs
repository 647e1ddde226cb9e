//! Point-to-plane registration of a scan onto a map.

use super::SurfaceMap;
use super::map::Scan;
use nalgebra::{Isometry3, Matrix6, Point3, Translation3, UnitQuaternion, Vector3, Vector6};
use rayon::prelude::*;

/// How a scan is moved onto a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IcpOptions {
    /// Map points that each scan point is held against.
    pub neighbours: usize,
    /// Pairs farther apart are left out, m.
    pub within: f64,
    /// Share of the pairs that is kept, the nearest first (Chetverikov et al. 2002,
    /// doi:10.1109/ICPR.2002.1047997).
    pub keep: f64,
    /// Pairs whose normals differ by more are left out, rad.
    pub normals_within: f64,
    /// Most iterations.
    pub iterations: usize,
    /// Converged where a step is shorter than this (m and rad together).
    pub step: f64,
}

impl Default for IcpOptions {
    /// Three neighbours within 1 m, the nearest 80 %, normals within 45 degrees, 40 iterations.
    fn default() -> Self {
        Self {
            neighbours: 3,
            within: 1.0,
            keep: 0.8,
            normals_within: 45_f64.to_radians(),
            iterations: 40,
            step: 1e-5,
        }
    }
}

/// A registration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Icp {
    /// World from lidar.
    pub world_from_lidar: Isometry3<f64>,
    /// Pairs at the end.
    pub pairs: usize,
    /// Root mean square of their distances to the planes, m.
    pub rms: f64,
    /// Iterations taken.
    pub iterations: usize,
    /// Whether the last step was short.
    pub converged: bool,
    /// Least eigenvalue of the normal matrix over the number of pairs (rotations by the scan's
    /// radius): 0 where a motion cannot be told, as along a bare corridor.
    pub least: f64,
}

/// A point of the scan with the plane that it should lie in.
struct Pair {
    /// In the world, m.
    place: Vector3<f64>,
    normal: Vector3<f64>,
    /// To the plane, m, with its sign.
    off: f64,
    squared_distance: f64,
}

/// Moves a scan onto a map from `start`; `None` where too few pairs are left (six).
pub(super) fn register(
    scan: &Scan,
    map: &SurfaceMap,
    start: Isometry3<f64>,
    options: &IcpOptions,
) -> Option<Icp> {
    let mut reached = Icp {
        world_from_lidar: start,
        pairs: 0,
        rms: f64::INFINITY,
        iterations: 0,
        converged: false,
        least: 0.0,
    };
    while reached.iterations < options.iterations && !reached.converged {
        let pairs = pairs(scan, map, &reached.world_from_lidar, options);
        if pairs.len() < 6 {
            return None;
        }
        let centre = reached.world_from_lidar.translation.vector;
        let (matrix, gradient, squares) = normal_equations(&pairs, &centre);
        let step = matrix.pseudo_inverse(1e-9 * matrix.trace()).ok()? * -gradient;
        reached.world_from_lidar = moved(&reached.world_from_lidar, &step);
        reached.pairs = pairs.len();
        reached.rms = (squares / pairs.len() as f64).sqrt();
        reached.least = least(&matrix, &pairs, &centre);
        reached.converged = step.norm() < options.step;
        reached.iterations += 1;
    }
    Some(reached)
}

/// Each point with its nearest planes; the trimmed share.
fn pairs(
    scan: &Scan,
    map: &SurfaceMap,
    world_from_lidar: &Isometry3<f64>,
    options: &IcpOptions,
) -> Vec<Pair> {
    let cosine = options.normals_within.cos();
    let of_point = |(point, normal): (&Vector3<f64>, &Vector3<f64>)| {
        let place = (world_from_lidar * Point3::from(*point)).coords;
        let facing = world_from_lidar.rotation * normal;
        let near = map.near(&place, options.neighbours, options.within);
        near.into_iter()
            .filter_map(|i| {
                let normal = map.normals()[i as usize];
                let apart = place - map.points()[i as usize];
                (normal.dot(&facing) >= cosine).then(|| Pair {
                    off: normal.dot(&apart),
                    squared_distance: apart.norm_squared(),
                    place,
                    normal,
                })
            })
            .collect::<Vec<_>>()
    };
    let both = scan.points.par_iter().zip(&scan.normals);
    let mut found: Vec<Pair> = both.flat_map_iter(of_point).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length"
    )]
    let kept = (options.keep.clamp(0.0, 1.0) * found.len() as f64).ceil() as usize;
    if kept < found.len() {
        found.select_nth_unstable_by(kept, |a, b| {
            a.squared_distance.total_cmp(&b.squared_distance)
        });
        found.truncate(kept);
    }
    found
}

/// $J^\top J$, $J^\top r$ and $r^\top r$ of the distances to the planes, over a shift and a turn
/// about `centre`.
fn normal_equations(pairs: &[Pair], centre: &Vector3<f64>) -> (Matrix6<f64>, Vector6<f64>, f64) {
    let mut sums = (Matrix6::zeros(), Vector6::zeros(), 0.0);
    for pair in pairs {
        let row = row(pair, centre);
        sums.0.ger(1.0, &row, &row, 1.0);
        sums.1 += row * pair.off;
        sums.2 += pair.off * pair.off;
    }
    sums
}

fn row(pair: &Pair, centre: &Vector3<f64>) -> Vector6<f64> {
    let turn = (pair.place - centre).cross(&pair.normal);
    let shift = pair.normal;
    Vector6::new(shift.x, shift.y, shift.z, turn.x, turn.y, turn.z)
}

/// After a shift and a turn about the lidar, both in the world.
fn moved(pose: &Isometry3<f64>, step: &Vector6<f64>) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(step[3], step[4], step[5]));
    let shift = Vector3::new(step[0], step[1], step[2]);
    Isometry3::from_parts(
        Translation3::from(pose.translation.vector + shift),
        turn * pose.rotation,
    )
}

fn least(matrix: &Matrix6<f64>, pairs: &[Pair], centre: &Vector3<f64>) -> f64 {
    let squares = pairs.iter().map(|p| (p.place - centre).norm_squared());
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
