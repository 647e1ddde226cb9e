//! Uncertainty of the given poses, estimated from the map.
//!
//! The corrections $\xi_k$ of the poses have a normal prior of unknown variances $\tau^2$ of position and
//! rotation. Expectation maximisation (Dempster, Laird, Rubin 1977,
//! doi:10.1111/j.2517-6161.1977.tb01600.x) alternates the corrections and
//! $$\tau^2 = \frac{1}{n} \sum_k \left(\xi_k^2 + C_{kk}\right)$$
//! with the variances $C_{kk}$ of the corrections given the scans and the prior. Directions that the map does
//! not determine, such as the axis of a corridor, have $C_{kk} = \tau^2$ and do not change the estimate.

use crate::depth::loss::{DepthObjective, DepthUnknowns, PosePrior};

/// First estimate: standard deviations of a good odometry or SLAM, m and rad.
pub(super) const FIRST: PosePrior = PosePrior {
    position: 0.01,
    rotation: 0.003,
};
/// Bounds of the estimate of the position, m: greater errors invalidate the neighbourhoods.
const POSITION: [f64; 2] = [2e-4, 0.05];
/// Bounds of the estimate of the rotation, rad.
const ROTATION: [f64; 2] = [2e-5, 0.02];
/// Number of updates.
pub(super) const UPDATES: usize = 4;
/// Number of iterations of the minimisation before each update.
pub(super) const ITERATIONS: usize = 3;

/// Updated standard deviations of the poses after a minimisation with the current ones; `None` if the
/// curvature is singular.
pub(super) fn updated(objective: &DepthObjective<'_>, at: &DepthUnknowns) -> Option<PosePrior> {
    // Variances of the corrections given the scans: the objective is the negative log-posterior times
    // twice the penalty factor
    let factor = objective.penalty_factor()?;
    let inverse = objective.curvature(at).matrix.cholesky()?.inverse();
    let variances = inverse.diagonal() * (2.0 * factor);

    // Mean squares of the components
    let first = at.model.weight_count();
    let mut sums = [0.0; 2];
    for (number, correction) in at.corrections.iter().enumerate() {
        let position = correction.translation.vector.norm_squared();
        let rotation = correction.rotation.scaled_axis().norm_squared();
        let block = first + 6 * number;
        sums[0] += position + variances.rows(block, 3).sum();
        sums[1] += rotation + variances.rows(block + 3, 3).sum();
    }
    let components = 3.0 * at.corrections.len().max(1) as f64;
    let sd = sums.map(|sum: f64| (sum / components).sqrt());
    Some(PosePrior {
        position: sd[0].clamp(POSITION[0], POSITION[1]),
        rotation: sd[1].clamp(ROTATION[0], ROTATION[1]),
    })
}
