//! Losses of the sample covariance of a neighbourhood.

use super::corrected_points::CorrectedPoints;
use super::loss_kind::DepthLoss;
use super::robust::RobustLoss;
use super::sums::{Influence, ProjectedFunctions, Sums};
use etendue_estimate::geometry::Eigen;
use nalgebra::{Matrix3, Vector3};

type Members<'a> = &'a [u32];

/// The covariance of a neighbourhood.
struct MemberCovariance {
    mean: Vector3<f64>,
    covariance: Matrix3<f64>,
    /// Where the members are from their mean, m.
    offs: Vec<Vector3<f64>>,
    /// $2/(n-1)$.
    factor: f64,
}

impl MemberCovariance {
    fn new(corrected: &CorrectedPoints, members: Members) -> Self {
        let anchor = corrected.positions[members[0] as usize];
        let from_anchor = members
            .iter()
            .map(|&i| corrected.positions[i as usize] - anchor);
        let mut offs: Vec<Vector3<f64>> = from_anchor.collect();
        let middle = offs.iter().sum::<Vector3<f64>>() / members.len() as f64;
        let divisor = (members.len() - 1) as f64;
        let [mut xx, mut xy, mut xz, mut yy, mut yz, mut zz] = [0.0; 6];
        for off in &mut offs {
            *off -= middle;
            xx += off.x * off.x;
            xy += off.x * off.y;
            xz += off.x * off.z;
            yy += off.y * off.y;
            yz += off.y * off.z;
            zz += off.z * off.z;
        }
        Self {
            mean: anchor + middle,
            covariance: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) / divisor,
            offs,
            factor: 2.0 / divisor,
        }
    }
}

/// $\rho(\ell)$; its forces times `share` go to `sink`.
pub(super) fn loss(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    share: f64,
    sink: &mut impl FnMut(usize, &Vector3<f64>, &Vector3<f64>),
) -> f64 {
    let spread = MemberCovariance::new(corrected, members);
    let trace = spread.covariance.trace();
    let (raw, along, everywhere, normal) = match loss {
        DepthLoss::MinimumEigenvalue => {
            let eigen = Eigen::of(&spread.covariance);
            (eigen.values[0], 1.0, 0.0, eigen.vectors[0])
        }
        DepthLoss::NormalisedEigenvalue => {
            let eigen = Eigen::of(&spread.covariance);
            let ratio = eigen.values[0] / trace;
            (ratio, 1.0 / trace, -ratio / trace, eigen.vectors[0])
        }
        _ => (trace, 0.0, 1.0, Vector3::zeros()),
    };
    let (value, weight) = robust.of(raw);
    let factor = share * weight * spread.factor;
    for (&member, off) in members.iter().zip(&spread.offs) {
        let force = normal * (along * normal.dot(off)) + off * everywhere;
        sink(member as usize, &(force * factor), &Vector3::zeros());
    }
    value
}

/// Adds the Gauss-Newton curvature.
pub(super) fn curvature(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    share: f64,
    sums: &mut Sums,
) {
    let (factor, directions) = directions(corrected, members, loss, robust, share);
    for projected in &directions {
        sums.add(corrected, members, projected, factor);
    }
}

/// Adds what errors of the depths do.
pub(super) fn influence(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    share: f64,
    influence: &mut Influence<'_>,
) {
    let (factor, directions) = directions(corrected, members, loss, robust, share);
    for projected in &directions {
        influence.add(corrected, members, projected, factor);
    }
}

/// The directions in which displacements count, and how much.
///
/// For $\lambda_1$ the plane through the neighbourhood (its height and two tilts) is eliminated
/// from the residuals $u_1^\top(x_i - \bar x)$: the variable projection of Kaufman 1975,
/// doi:10.1007/BF01932995.
fn directions(
    corrected: &CorrectedPoints,
    members: Members,
    loss: DepthLoss,
    robust: RobustLoss,
    share: f64,
) -> (f64, Vec<ProjectedFunctions>) {
    let spread = MemberCovariance::new(corrected, members);
    let trace = spread.covariance.trace();
    let projected = |direction, tilts| ProjectedFunctions {
        direction,
        mean: spread.mean,
        constant: 1.0 / (members.len() as f64).sqrt(),
        tilts,
    };
    if loss == DepthLoss::Trace {
        let factor = share * robust.of(trace).1 * spread.factor;
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let all = axes.map(|axis| projected(axis, [Vector3::zeros(); 2]));
        return (factor, all.into());
    }
    let eigen = Eigen::of(&spread.covariance);
    let scale = match loss {
        DepthLoss::NormalisedEigenvalue => 1.0 / trace,
        _ => 1.0,
    };
    let factor = share * robust.of(eigen.values[0] * scale).1 * spread.factor * scale;
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

/// What unit variance of every depth adds to the loss, times the divisor that the loss has.
pub(super) fn noise_response(corrected: &CorrectedPoints, members: Members, loss: DepthLoss) -> f64 {
    let spread = MemberCovariance::new(corrected, members);
    let normal = Eigen::of(&spread.covariance).vectors[0];
    let beams = members.iter().map(|&i| corrected.beams[i as usize]);
    let count = members.len() as f64;
    // Height and two tilts of the plane are taken from the points themselves.
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
