//! Likelihood of scans whose beams have jitter in their directions.
//!
//! Near an edge, a beam with jitter measures the range of one surface or of the other. The distribution of its
//! range is a mixture, which a variance describes poorly. With the weights $w_k$ and the nodes of the
//! quadrature over the direction, the predictions $f_{ik}$ of the beams turned to the nodes, and the standard
//! deviation $\sigma_i$ by the receiver's noise and rounding, the beams near an edge have
//!
//! $$\ln L = \sum_i \ln \sum_k w_k \exp\Bigl(-\frac{1}{2 s^2}\rho\Bigl(\frac{(f_{ik} - y_i)^2}{\sigma_i^2}\Bigr)\Bigr).$$
//!
//! The other beams have their part of the cost.

use super::problem::FitProblem;
use crate::manifold::Variable;
use crate::model::{BeamMeasurement, Model, QUANTITIES};
use crate::solve::Loss;

/// Number of nodes on each side of zero.
const NODES_PER_SIDE: i32 = 12;

/// Distance between the nodes, in standard deviations of the jitter.
const NODE_SPACING: f64 = 0.3;

/// Beams near an edge, turned to the nodes of the quadrature over their jitter.
#[derive(Clone, Debug)]
pub(super) struct PointingLikelihood {
    /// Weight of each node, and the model of the beams turned to it.
    nodes: Vec<(f64, Model)>,
    /// Index in all scans of each beam near an edge, in the order of the models.
    beams: Vec<usize>,
    /// Standard deviations of range and intensity of these beams by the noise of the receiver and rounding.
    deviations: Vec<[f64; QUANTITIES]>,
}

/// Loss of the residuals of a beam.
#[derive(Clone, Copy)]
pub(super) struct BeamLoss {
    /// Loss function.
    pub loss: Loss,
    /// Residual of a range that is measured but not predicted.
    pub gate: f64,
    /// Mean square of the residuals.
    pub mean_square: f64,
}

impl PointingLikelihood {
    /// Likelihood for a model without edges; `None` for a lidar without jitter.
    ///
    /// `is_near_edge` has the beams of all scans, `deviations` their standard deviations by the noise of the
    /// receiver and rounding. A beam that is near an edge in one of the scans counts as near an edge in all.
    pub(super) fn new(
        model: &Model,
        is_near_edge: &[bool],
        deviations: &[[f64; QUANTITIES]],
    ) -> Option<Self> {
        let jitter = model.sensor().lidar().beam.azimuth_jitter;
        if jitter <= 0.0 {
            return None;
        }
        // Select the beams.
        let count = model.beams();
        let is_selected = |beam: usize| is_near_edge.iter().skip(beam).step_by(count).any(|is| *is);
        let all = 0..is_near_edge.len();
        let beams: Vec<usize> = all.filter(|beam| is_selected(beam % count)).collect();
        // Turn them to the nodes.
        let selected = model.selected(is_selected);
        let node = |(node, weight)| (weight, selected.turned(node * jitter));
        let nodes = (-NODES_PER_SIDE..=NODES_PER_SIDE).map(|i| {
            let node = f64::from(i) * NODE_SPACING;
            (node, (-0.5 * node * node).exp())
        });
        let sum: f64 = nodes.clone().map(|(_, weight)| weight).sum();
        Some(Self {
            nodes: nodes.map(|(at, weight)| node((at, weight / sum))).collect(),
            deviations: beams.iter().map(|beam| deviations[*beam]).collect(),
            beams,
        })
    }

    /// Logarithm of the likelihood of the scans of a problem without edges, at a state.
    pub(super) fn logarithm(
        &self,
        problem: &FitProblem,
        state: &[Variable],
        loss: BeamLoss,
    ) -> f64 {
        // Sum the likelihoods of the beams near an edge over the nodes.
        let mut likelihoods = vec![0.0; self.beams.len()];
        for (weight, model) in &self.nodes {
            let scans = model.predict(state);
            let predicted = scans.iter().flatten().map(BeamMeasurement::quantities);
            let beams = self.beams.iter().zip(&self.deviations);
            for (likelihood, (predicted, (beam, sd))) in
                likelihoods.iter_mut().zip(predicted.zip(beams))
            {
                let log = loss.log_likelihood(problem.measured_by_beam(*beam), predicted, *sd);
                *likelihood += weight * log.exp();
            }
        }
        let logarithm = |likelihood: f64| likelihood.max(f64::MIN_POSITIVE).ln();
        let near: f64 = likelihoods.into_iter().map(logarithm).sum();
        // Add the logarithms of the others.
        let scans = problem.model.predict(state);
        let mut near_beams = self.beams.iter().copied().peekable();
        let mut other = 0.0;
        for (beam, predicted) in scans.iter().flatten().enumerate() {
            if near_beams.next_if_eq(&beam).is_none() {
                let measured = problem.measured_by_beam(beam);
                let deviations = problem.deviations_of_beam(beam);
                other += loss.log_likelihood(measured, predicted.quantities(), deviations);
            }
        }
        near + other
    }
}

impl BeamLoss {
    /// Logarithm of the likelihood of a beam.
    fn log_likelihood(
        &self,
        measured: [Option<f64>; QUANTITIES],
        predicted: [Option<f64>; QUANTITIES],
        deviations: [f64; QUANTITIES],
    ) -> f64 {
        let cost = |quantity: usize| match (measured[quantity], predicted[quantity]) {
            (Some(measured), Some(predicted)) => {
                let residual = (predicted - measured) / deviations[quantity];
                self.loss.cost(residual * residual)
            }
            (Some(_), None) if quantity == 0 => self.loss.cost(self.gate * self.gate),
            _ => 0.0,
        };
        let costs: f64 = (0..QUANTITIES).map(cost).sum();
        -0.5 * costs / self.mean_square
    }
}
