//! Losses of pairs of points from two scans, as in registration.

use super::corrected_points::CorrectedPoints;
use super::loss_kind::DepthLoss;
use super::robust::RobustLoss;
use super::sums::{Influence, Sums};
use nalgebra::Vector3;

/// One residual $s = a^\top (x_i - x_j)$; its square times `factor` is part of the loss.
struct PairResidual {
    direction: Vector3<f64>,
    value: f64,
    factor: f64,
    /// Derivatives with respect to the rotations of the two poses, in their frames.
    torques: [Vector3<f64>; 2],
}

/// Robust loss $\rho(\ell)$ of a pair. Its derivatives with respect to the two points, times `term_weight`, are
/// passed to `sink`.
pub(super) fn loss(
    corrected: &CorrectedPoints,
    pair: [u32; 2],
    loss: DepthLoss,
    robust: RobustLoss,
    term_weight: f64,
    sink: &mut impl FnMut(usize, &Vector3<f64>, &Vector3<f64>),
) -> f64 {
    let residuals = residuals(corrected, pair, loss);
    let (value, weight) = robust.of(total(&residuals));
    for residual in &residuals {
        let pull = 2.0 * term_weight * weight * residual.factor * residual.value;
        for ((end, sign), torque) in pair.iter().zip([1.0, -1.0]).zip(&residual.torques) {
            let force = residual.direction * (sign * pull);
            sink(*end as usize, &force, &(torque * pull));
        }
    }
    value
}

/// Adds the Gauss-Newton curvature of a pair.
pub(super) fn curvature(
    corrected: &CorrectedPoints,
    pair: [u32; 2],
    loss: DepthLoss,
    robust: RobustLoss,
    term_weight: f64,
    sums: &mut Sums,
) {
    let residuals = residuals(corrected, pair, loss);
    let weight = robust.of(total(&residuals)).1;
    for residual in &residuals {
        let factor = 2.0 * term_weight * weight * residual.factor;
        sums.add_row(corrected, &residual.ends(pair), factor);
    }
}

/// Adds the influence of errors of the depths of a pair.
pub(super) fn influence(
    corrected: &CorrectedPoints,
    pair: [u32; 2],
    loss: DepthLoss,
    robust: RobustLoss,
    term_weight: f64,
    influence: &mut Influence<'_>,
) {
    let residuals = residuals(corrected, pair, loss);
    let weight = robust.of(total(&residuals)).1;
    for residual in &residuals {
        let factor = 2.0 * term_weight * weight * residual.factor;
        influence.add_row(corrected, &residual.ends(pair), residual.value, factor);
    }
}

impl PairResidual {
    /// Each point with the derivatives of the residual with respect to its position and its rotation.
    fn ends(&self, pair: [u32; 2]) -> [(usize, Vector3<f64>, Vector3<f64>); 2] {
        [(0, 1.0), (1, -1.0)]
            .map(|(end, sign)| (pair[end] as usize, self.direction * sign, self.torques[end]))
    }
}

/// Expected increase of the loss per variance of both depths.
pub(super) fn noise_response(corrected: &CorrectedPoints, pair: [u32; 2], loss: DepthLoss) -> f64 {
    let ends = pair.map(|i| corrected.beams[i as usize]);
    let along = |r: &PairResidual| {
        ends.map(|beam| r.direction.dot(&beam).powi(2))
            .iter()
            .sum::<f64>()
    };
    let residuals = residuals(corrected, pair, loss);
    residuals.iter().map(|r| r.factor * along(r)).sum()
}

/// Loss of all residuals.
fn total(residuals: &[PairResidual]) -> f64 {
    residuals.iter().map(|r| r.factor * r.value * r.value).sum()
}

/// Residuals of a pair.
fn residuals(corrected: &CorrectedPoints, pair: [u32; 2], loss: DepthLoss) -> Vec<PairResidual> {
    let [first, second] = pair.map(|i| &corrected.points[i as usize]);
    let apart = corrected.positions[pair[0] as usize] - corrected.positions[pair[1] as usize];
    if loss == DepthLoss::PointToPoint {
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        return axes.map(|axis| along(axis, &apart)).into();
    }
    let ends = [first, second].into_iter().enumerate();
    ends.map(|(end, point)| {
        let rotation = &corrected.rotations[point.pose];
        let mut torques = [Vector3::zeros(); 2];
        torques[end] = point.normal.cross(&rotation.tr_mul(&apart));
        PairResidual {
            factor: 0.5,
            torques,
            ..along(rotation * point.normal, &apart)
        }
    })
    .collect()
}

/// Residual along a fixed direction.
fn along(direction: Vector3<f64>, apart: &Vector3<f64>) -> PairResidual {
    PairResidual {
        direction,
        value: direction.dot(apart),
        factor: 1.0,
        torques: [Vector3::zeros(); 2],
    }
}
