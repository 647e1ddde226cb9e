//! Adam (Kingma and Ba 2015, arXiv:1412.6980).

use crate::depth::loss::{DepthObjective, DepthUnknowns};

/// Decay rate $\beta_1$ of the first moment.
const BETA_1: f64 = 0.9;
/// Decay rate $\beta_2$ of the second moment.
const BETA_2: f64 = 0.999;
/// Regularisation $\epsilon$ of the denominator.
const EPSILON: f64 = 1e-8;

/// Minimises an objective with a number of Adam steps of the learning rate `rate`.
pub(super) fn descend(
    objective: &DepthObjective<'_>,
    start: DepthUnknowns,
    rate: f64,
    iterations: usize,
    observe: &mut dyn FnMut(&DepthUnknowns, f64),
) -> DepthUnknowns {
    // First and second moments of the gradient.
    let mut reached = start;
    let mut moments = vec![[0.0; 2]; reached.dimension()];
    let mut powers = [1.0; 2];
    for _ in 0..iterations {
        let (_, gradient) = objective.gradient(&reached);
        // Step along the bias-corrected mean gradient, scaled by its root mean square.
        powers = [powers[0] * BETA_1, powers[1] * BETA_2];
        let step: Vec<f64> = moments
            .iter_mut()
            .zip(&gradient)
            .map(|([mean, square], g)| {
                *mean += (g - *mean) * (1.0 - BETA_1);
                *square += (g * g - *square) * (1.0 - BETA_2);
                let size = (*square / (1.0 - powers[1])).sqrt() + EPSILON;
                -rate * *mean / (1.0 - powers[0]) / size
            })
            .collect();
        reached = reached.moved(&step);
        observe(&reached, objective.value(&reached));
    }
    reached
}
