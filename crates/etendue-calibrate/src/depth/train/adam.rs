//! Adam.

use crate::depth::{DepthObjective, DepthUnknowns};

/// Memory of the mean and of the square, and what keeps the quotient finite.
const MEMORY: (f64, f64) = (0.9, 0.999);
const FLOOR: f64 = 1e-8;

pub(super) fn descend(
    objective: &DepthObjective<'_>,
    start: DepthUnknowns,
    rate: f64,
    iterations: usize,
    observe: &mut dyn FnMut(&DepthUnknowns, f64),
) -> DepthUnknowns {
    let mut reached = start;
    let mut moments = vec![[0.0; 2]; reached.dimension()];
    let mut fading = [1.0; 2];
    for _ in 0..iterations {
        let (_, gradient) = objective.gradient(&reached);
        fading = [fading[0] * MEMORY.0, fading[1] * MEMORY.1];
        let both = moments.iter_mut().zip(&gradient);
        let step: Vec<f64> = both
            .map(|([mean, square], g)| {
                *mean += (g - *mean) * (1.0 - MEMORY.0);
                *square += (g * g - *square) * (1.0 - MEMORY.1);
                let size = (*square / (1.0 - fading[1])).sqrt() + FLOOR;
                -rate * *mean / (1.0 - fading[0]) / size
            })
            .collect();
        reached = reached.moved(&step);
        observe(&reached, objective.value(&reached));
    }
    reached
}
