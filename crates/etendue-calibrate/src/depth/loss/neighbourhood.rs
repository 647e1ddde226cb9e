//! Losses of the sample covariance of a neighbourhood.

use super::corrected_points::CorrectedPoints;
use super::loss_kind::DepthLoss;
use super::robust::RobustLoss;
use super::sums::{Influence, ProjectedFunctions, Sums};
use etendue_estimate::geometry::EigenDecomposition;
use nalgebra::{Matrix3, Vector3};

/// Indices of the measurements of a neighbourhood.
type Members<'a> = &'a [u32];

/// Sample covariance of a neighbourhood.
struct MemberCovariance {
    /// Mean position, m.
    mean: Vector3<f64>,
    /// Sample covariance, m².
    covariance: Matrix3<f64>,
    /// Positions relative to the mean, m.
    offsets: Vec<Vector3<f64>>,
    /// $2/(n-1)$.
    factor: f64,
}

impl MemberCovariance {
    fn new(corrected: &CorrectedPoints, members: Members) -> Self {
        let anchor = corrected.positions[members[0] as usize];
        let from_anchor = members
            .iter()
            .map(|&i| corrected.positions[i as usize] - anchor);
        let mut offsets: Vec<Vector3<f64>> = from_anchor.collect();
        let middle = offsets.iter().sum::<Vector3<f64>>() / members.len() as f64;
        let divisor = (members.len() - 1) as f64;
        let [mut xx, mut xy, mut xz, mut yy, mut yz, mut zz] = [0.0; 6];
        for offset in &mut offsets {
            *offset -= middle;
            xx += offset.x * offset.x;
            xy += offset.x * offset.y;
            xz += offset.x * offset.z;
            yy += offset.y * offset.y;
            yz += offset.y * offset.z;
            zz += offset.z * offset.z;
        }
        Self {
            mean: anchor + middle,
            covariance: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) / divisor,
            offsets,
            factor: 2.0 / divisor,
        }
    }
}

/// Robust loss $\rho(\ell)$ of a neighbourhood. Its derivatives with respect to the positions of the members,
/// times `term_weight`, are passed to `sink`.
pub(super) fn loss(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    term_weight: f64,
    sink: &mut impl FnMut(usize, &Vector3<f64>, &Vector3<f64>),
) -> f64 {
    let spread = MemberCovariance::new(corrected, members);
    let trace = spread.covariance.trace();
    // Loss, its derivative by the eigenvalue and by the trace, and the normal
    let (raw, by_eigenvalue, by_trace, normal) = match loss {
        DepthLoss::MinimumEigenvalue => {
            let eigen = EigenDecomposition::of(&spread.covariance);
            (eigen.values[0], 1.0, 0.0, eigen.vectors[0])
        }
        DepthLoss::NormalisedEigenvalue => {
            let eigen = EigenDecomposition::of(&spread.covariance);
            let ratio = eigen.values[0] / trace;
            (ratio, 1.0 / trace, -ratio / trace, eigen.vectors[0])
        }
        _ => (trace, 0.0, 1.0, Vector3::zeros()),
    };

    // Chain rule
    let (value, weight) = robust.of(raw);
    let factor = term_weight * weight * spread.factor;
    for (&member, offset) in members.iter().zip(&spread.offsets) {
        let force = normal * (by_eigenvalue * normal.dot(offset)) + offset * by_trace;
        sink(member as usize, &(force * factor), &Vector3::zeros());
    }
    value
}

/// Adds the Gauss-Newton curvature of a neighbourhood.
pub(super) fn curvature(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    term_weight: f64,
    sums: &mut Sums,
) {
    let (factor, directions) = directions(corrected, members, loss, robust, term_weight);
    for projected in &directions {
        sums.add(corrected, members, projected, factor);
    }
}

/// Adds the influence of errors of the depths of a neighbourhood.
pub(super) fn influence(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    term_weight: f64,
    influence: &mut Influence<'_>,
) {
    let (factor, directions) = directions(corrected, members, loss, robust, term_weight);
    for projected in &directions {
        influence.add(corrected, members, projected, factor);
    }
}

/// Directions of the displacements that change the loss, with the functions projected out of them, and the
/// factor of their squares.
///
/// For $\lambda_1$ the plane through the neighbourhood (its height and two tilts) is eliminated from the
/// residuals $u_1^\top(x_i - \bar x)$ by variable projection (Kaufman 1975, doi:10.1007/BF01932995).
fn directions(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    term_weight: f64,
) -> (f64, Vec<ProjectedFunctions>) {
    // Covariance of the neighbourhood.
    let spread = MemberCovariance::new(corrected, members);
    let trace = spread.covariance.trace();
    let projected = |direction, tilts| ProjectedFunctions {
        direction,
        mean: spread.mean,
        constant: 1.0 / (members.len() as f64).sqrt(),
        tilts,
    };
    // Trace: all three axes, nothing eliminated.
    if loss == DepthLoss::Trace {
        let factor = term_weight * robust.of(trace).1 * spread.factor;
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let all = axes.map(|axis| projected(axis, [Vector3::zeros(); 2]));
        return (factor, all.into());
    }
    // Least eigenvalue: the normal, with the loss's derivative as the factor.
    let eigen = EigenDecomposition::of(&spread.covariance);
    let scale = match loss {
        DepthLoss::NormalisedEigenvalue => 1.0 / trace,
        _ => 1.0,
    };
    let factor = term_weight * robust.of(eigen.values[0] * scale).1 * spread.factor * scale;
    // Tilts of the plane to eliminate.
    let tilts = [1, 2].map(|k| {
        let squares = eigen.values[k] * (members.len() - 1) as f64;
        let scale = if squares > 0.0 {
            squares.sqrt().recip()
        } else {
            0.0
        };
        eigen.vectors[k] * scale
    });
    (factor, vec![projected(eigen.vectors[0], tilts)])
}

/// Expected increase of the loss per variance of all depths.
pub(super) fn noise_response(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
) -> f64 {
    let spread = MemberCovariance::new(corrected, members);
    let normal = EigenDecomposition::of(&spread.covariance).vectors[0];
    let beams = members.iter().map(|&i| corrected.beams[i as usize]);
    let count = members.len() as f64;
    // Height and two tilts of the plane are estimated from the same points
    let across = |sum: f64| sum / count * (count - 3.0) / (count - 1.0);
    match loss {
        DepthLoss::MinimumEigenvalue => across(beams.map(|b| normal.dot(&b).powi(2)).sum()),
        DepthLoss::NormalisedEigenvalue => {
            let sum = beams.map(|b| normal.dot(&b).powi(2)).sum();
            across(sum) / spread.covariance.trace()
        }
        _ => 1.0,
    }
}
