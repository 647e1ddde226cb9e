//! L-BFGS in the tangent space at the start (Liu and Nocedal 1989, doi:10.1007/BF01589116).

use crate::depth::error::DepthError;
use crate::depth::loss::{DepthObjective, DepthUnknowns};
use etendue_estimate::solve::{DifferentiableFunction, LbfgsError, LbfgsSearch};

/// Largest component of a vanishing gradient, in the scaled unknowns and relative to the loss at the
/// start.
const MIN_GRADIENT: f64 = 1e-9;

/// Minimises an objective with [`LbfgsSearch`] and a memory of a number of steps.
pub(super) fn descend(
    objective: &DepthObjective<'_>,
    start: DepthUnknowns,
    memory: usize,
    iterations: usize,
    observe: &mut dyn FnMut(&DepthUnknowns, f64),
) -> Result<DepthUnknowns, DepthError> {
    let scaled = ScaledObjective::new(objective, start);
    let mut reached = scaled.start.clone();
    let origin = vec![0.0; scaled.scales.len()];
    let mut search = LbfgsSearch::new(&scaled, origin, memory).map_err(failed)?;
    for _ in 0..iterations {
        if search.gradient().iter().all(|g| g.abs() < MIN_GRADIENT) {
            break;
        }
        let loss = search.value();
        match search.advance() {
            Ok(()) => {}
            // At a minimum the line search fails due to rounding
            Err(_) if loss < 1.0 => break,
            Err(error) => return Err(failed(error)),
        }
        if search.value() >= loss {
            break;
        }
        reached = scaled.unknowns(search.point());
        observe(&reached, search.value() * scaled.unit);
    }
    Ok(reached)
}

fn failed(error: LbfgsError) -> DepthError {
    DepthError::Optimiser {
        reason: error.reason,
    }
}

/// Loss relative to its value at the start, over unknowns scaled to about unit curvature.
struct ScaledObjective<'a> {
    objective: &'a DepthObjective<'a>,
    start: DepthUnknowns,
    scales: Vec<f64>,
    unit: f64,
}

impl<'a> ScaledObjective<'a> {
    fn new(objective: &'a DepthObjective<'a>, start: DepthUnknowns) -> Self {
        let curvature = objective.curvature(&start);
        let unit = if curvature.value > 0.0 {
            curvature.value
        } else {
            1.0
        };
        let scale = |&h: &f64| if h > 0.0 { (unit / h).sqrt() } else { 0.0 };
        Self {
            objective,
            scales: curvature.matrix.diagonal().iter().map(scale).collect(),
            start,
            unit,
        }
    }

    /// The unknowns at a point of the scaled tangent space.
    fn unknowns(&self, point: &[f64]) -> DepthUnknowns {
        let step = point.iter().zip(&self.scales).map(|(x, s)| x * s);
        self.start.moved(&step.collect::<Vec<_>>())
    }
}

impl DifferentiableFunction for &ScaledObjective<'_> {
    fn value(&self, point: &[f64]) -> f64 {
        self.objective.value(&self.unknowns(point)) / self.unit
    }

    // Corrections are composed, so away from the start the derivative with respect to the summed twist equals
    // that of the composed one only to first order; for corrections of one degree the difference is 1 %.
    fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let (_, gradient) = self.objective.gradient(&self.unknowns(point));
        let scaled = gradient.iter().zip(&self.scales);
        scaled.map(|(g, s)| g * s / self.unit).collect()
    }
}
